// SPDX-License-Identifier: MIT
// Aligned blocks, by POSIX or by Windows, for the allocators of the program and of the tests.
#ifndef ESPALIER_TOOLS_ALIGNED_H
#define ESPALIER_TOOLS_ALIGNED_H

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>
#endif

/// Return a block that aligned_give() frees, or NULL. @param alignment  a power of two.
static inline void *aligned_take(size_t size, size_t alignment)
{
#ifdef _WIN32
    return _aligned_malloc(size, alignment);
#else
    const size_t step = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    void *block = NULL;

    return posix_memalign(&block, step, size) == 0 ? block : NULL;
#endif
}

/// Free a block of aligned_take(). NULL is ignored.
static inline void aligned_give(void *block)
{
#ifdef _WIN32
    _aligned_free(block);
#else
    free(block);
#endif
}

#endif
