// SPDX-License-Identifier: MIT
#include "lib/base/heap.h"

#include <stdlib.h>
#ifdef HAVE_SYS_MMAN_H
#include <sys/mman.h>
#endif

static void *default_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    const size_t at_least = alignment < sizeof(max_align_t) ? sizeof(max_align_t) : alignment;

    // C11 wants a size that is a multiple of the alignment.
    return aligned_alloc(at_least, (size + at_least - 1) & ~(at_least - 1));
}

// A block with a huge page or more in it begins with one. Only whole huge pages are asked for, so
// what is asked for is never more than the block, and the end of a block that is grown into later
// takes no memory before. A kernel without them says no, and that is all right.
static void *huge_allocate(void *user, size_t size, size_t alignment)
{
#ifdef MADV_HUGEPAGE
    const size_t whole_pages = size & ~(size_t)(ESPL__HUGE_PAGE - 1);
    void *block = NULL;

    if (whole_pages != 0) {
        // The memory of the machine, which tests do not use up.
        if (posix_memalign(&block, ESPL__HUGE_PAGE, size) != 0) { // GCOVR_EXCL_BR_LINE
            return NULL;
        }
        (void)madvise(block, whole_pages, MADV_HUGEPAGE);
        return block;
    }
#endif
    return default_allocate(user, size, alignment);
}

static void default_release(void *user, void *block, size_t size, size_t alignment)
{
    (void)user;
    (void)size;
    (void)alignment;
    free(block);
}

static void lock(espl__heap *heap)
{
    while (atomic_flag_test_and_set_explicit(&heap->busy, memory_order_acquire)) {
    }
}

static void unlock(espl__heap *heap)
{
    atomic_flag_clear_explicit(&heap->busy, memory_order_release);
}

void espl__heap_init(espl__heap *heap, const espl_allocator *allocator)
{
    *heap = (espl__heap){.allocator = *allocator};
    atomic_flag_clear(&heap->busy);
    if (allocator->allocate == NULL) {
        heap->allocator = (espl_allocator){NULL, default_allocate, default_release};
    }
}

void espl__heap_use_huge_pages(espl__heap *heap)
{
    if (heap->allocator.allocate == default_allocate) {
        heap->allocator.allocate = huge_allocate;
    }
}

size_t espl__heap_bytes_for(const espl__heap *heap, espl__purpose purpose)
{
    // The lock is no part of what the heap is: whoever reads takes it too.
    espl__heap *const locked = (espl__heap *)(uintptr_t)heap;

    lock(locked);
    const size_t bytes = heap->bytes[purpose];
    unlock(locked);
    return bytes;
}

size_t espl__heap_bytes(const espl__heap *heap)
{
    size_t sum = 0;

    for (int purpose = 0; purpose < ESPL__PURPOSE_COUNT; ++purpose) {
        sum += espl__heap_bytes_for(heap, (espl__purpose)purpose);
    }
    return sum;
}

void *espl__heap_take(espl__heap *heap, espl__purpose purpose, size_t count, size_t size,
                      size_t alignment)
{
    size_t bytes = 0;

    ESPL_CHECK(purpose == ESPL__FOR_RECORDING || !heap->is_forbidden);
    if (!espl__size_multiply(&bytes, count, size) || bytes == 0 || bytes > SIZE_MAX / 2) {
        return NULL;
    }

    lock(heap);
    void *const block = heap->allocator.allocate(heap->allocator.user, bytes, alignment);
    if (block != NULL) {
        heap->bytes[purpose] += bytes;
    }
    unlock(heap);
    return block;
}

void espl__heap_give(espl__heap *heap, espl__purpose purpose, void *block, size_t count,
                     size_t size, size_t alignment)
{
    if (block == NULL) {
        return;
    }

    lock(heap);
    ESPL_CHECK(heap->bytes[purpose] >= count * size);
    heap->bytes[purpose] -= count * size;
    heap->allocator.release(heap->allocator.user, block, count * size, alignment);
    unlock(heap);
}

bool espl__size_add(size_t *out, size_t a, size_t b)
{
    if (b > SIZE_MAX - a) {
        return false;
    }
    *out = a + b;
    return true;
}

bool espl__size_multiply(size_t *out, size_t a, size_t b)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}
