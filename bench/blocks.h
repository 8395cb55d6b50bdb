// SPDX-License-Identifier: MIT
// Memory of the course itself. A measurement that cannot have its memory has nothing to say, so
// running out ends the program.
#ifndef ESPALIER_BENCH_BLOCKS_H
#define ESPALIER_BENCH_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/// The variable of the environment that says "off" where no block shall lie in huge pages. The library
/// reads the same, so that all schemes have them or none.
#define HUGE_PAGES_SETTING "ESPALIER_HUGE_PAGES"

/// End the program with a message on stderr and the exit status of an incomplete course, 3.
_Noreturn static inline void course_fail(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "course: %s: %s\n", what, why);
    exit(3);
}

/// Lay a large block out in huge pages, as the library does.
static inline void *block_huge(size_t bytes)
{
    void *block = NULL;

#ifdef MADV_HUGEPAGE
    enum { page = 1 << 21 };
    const char *const setting = getenv(HUGE_PAGES_SETTING);

    if (bytes >= page && (setting == NULL || strcmp(setting, "off") != 0) &&
        posix_memalign(&block, page, bytes) == 0) {
        (void)madvise(block, bytes / page * page, MADV_HUGEPAGE);
    }
#else
    (void)bytes;
#endif
    return block;
}

/// Return count elements of a size, aligned to a cache line, content undefined.
static inline void *block_new(size_t count, size_t size)
{
    enum { line = 64 };
    void *block = NULL;

    if (size == 0 || count > (SIZE_MAX - line) / size) {
        course_fail("memory", "a block is too large");
    }

    // aligned_alloc wants whole lines.
    const size_t bytes = (count * size + line - 1) / line * line;
    block = block_huge(bytes);
    block = block != NULL ? block : aligned_alloc(line, bytes > 0 ? bytes : line);
    if (block == NULL) {
        course_fail("memory", "none left");
    }
    return block;
}

/// Return a block with a copy of count elements.
static inline void *block_copy(const void *elements, size_t count, size_t size)
{
    void *const block = block_new(count, size);

    memcpy(block, elements, count * size);
    return block;
}

/// Return a block with room for one element more than count: the same one, or a longer one with the
/// elements of the old, which is released. Capacities double from 64 on, so a block is full exactly
/// at those counts.
static inline void *block_grown(void *block, size_t count, size_t size)
{
    const bool is_full = count == 0 || (count >= 64 && (count & (count - 1)) == 0);

    if (!is_full) {
        return block;
    }

    void *const longer = block_new(count < 64 ? 64 : 2 * count, size);
    if (count > 0) {
        memcpy(longer, block, count * size);
    }
    free(block);
    return longer;
}

#endif
