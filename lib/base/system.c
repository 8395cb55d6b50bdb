// SPDX-License-Identifier: MIT
// POSIX systems, Windows, and any other system with the C11 library.
#include "lib/base/system.h"

#include "lib/base/trap.h"

#include <stdlib.h>
#include <time.h>

#ifdef HAVE_SYS_MMAN_H
#include <sys/mman.h>
#endif
#ifdef _WIN32
#include <malloc.h>
#include <windows.h>
#elif defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#define HAS_SCHED_YIELD 1
#endif

// A C11 alignment is a power of two. The size of espl__max_align is none on some machines.
_Static_assert((_Alignof(espl__max_align) & (_Alignof(espl__max_align) - 1)) == 0,
               "a power of two");

// Small alignments are raised to that of espl__max_align, because aligned_alloc() need not support them.
void *espl__system_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    const size_t at_least =
        alignment < _Alignof(espl__max_align) ? _Alignof(espl__max_align) : alignment;

    ESPL_CHECK(size != 0 && (alignment & (alignment - 1)) == 0);
    // No block is that large, and rounding the size up must not overflow.
    if (size > PTRDIFF_MAX) {
        return NULL;
    }
#ifdef _WIN32
    return _aligned_malloc(size, at_least);
#else
    // C11 requires a size that is a multiple of the alignment.
    return aligned_alloc(at_least, (size + at_least - 1) & ~(at_least - 1));
#endif
}

// A block of at least one huge page begins at a huge page. madvise() covers the whole huge pages
// alone, so that it never reaches past the block, and so that an unused end of the block occupies
// no memory. Its failure is ignored: the block is then in small pages. A size that no block has is
// left to espl__system_allocate(), which refuses it.
void *espl__system_allocate_huge(void *user, size_t size, size_t alignment)
{
#ifdef MADV_HUGEPAGE
    const size_t whole_pages = size & ~(size_t)(ESPL__HUGE_PAGE - 1);
    void *block = NULL;

    if (whole_pages != 0 && size <= PTRDIFF_MAX) {
        // Tests do not exhaust the memory of the machine.
        if (posix_memalign(&block, ESPL__HUGE_PAGE, size) != 0) { // GCOVR_EXCL_BR_LINE
            return NULL;
        }
        (void)madvise(block, whole_pages, MADV_HUGEPAGE);
        return block;
    }
#endif
    return espl__system_allocate(user, size, alignment);
}

void espl__system_release(void *user, void *block, size_t size, size_t alignment)
{
    (void)user;
    (void)size;
    (void)alignment;
#ifdef _WIN32
    _aligned_free(block);
#else
    free(block);
#endif
}

#ifdef _WIN32

// Whole seconds and the rest are converted apart, because their product overflows after some hours.
uint64_t espl__system_time(void)
{
    LARGE_INTEGER now, frequency;

    (void)QueryPerformanceCounter(&now);
    (void)QueryPerformanceFrequency(&frequency);
    const uint64_t ticks = (uint64_t)now.QuadPart, second = (uint64_t)frequency.QuadPart;

    return ticks / second * UINT64_C(1000000000) + ticks % second * UINT64_C(1000000000) / second;
}

void espl__system_yield(void)
{
    (void)SwitchToThread();
}

#else

uint64_t espl__system_time(void)
{
    struct timespec now = {0};

#ifdef CLOCK_MONOTONIC
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
#else
    (void)timespec_get(&now, TIME_UTC);
#endif
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void espl__system_yield(void)
{
#ifdef HAS_SCHED_YIELD
    (void)sched_yield();
#endif
}

#endif
