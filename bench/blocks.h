// SPDX-License-Identifier: MIT
// Memory of the course itself. A measurement that cannot have its memory has nothing to say, so
// running out ends the program.
#ifndef ESPALIER_BENCH_BLOCKS_H
#define ESPALIER_BENCH_BLOCKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/// End the program with a message on stderr and the exit status of an incomplete course, 3.
_Noreturn static inline void course_fail(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "course: %s: %s\n", what, why);
    exit(3);
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
    block = aligned_alloc(line, bytes > 0 ? bytes : line);
    if (block == NULL) {
        course_fail("memory", "none left");
    }
    return block;
}

#endif
