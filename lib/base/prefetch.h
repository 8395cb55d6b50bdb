// SPDX-License-Identifier: MIT
// Prefetches: the memory loads a cache line before it is read or written, because a miss costs more
// than the work on one node. A prefetch has no other effect, so that any address is valid.
#ifndef ESPALIER_LIB_BASE_PREFETCH_H
#define ESPALIER_LIB_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

// gcc drops calls of a function that only prefetches unless it inlined the function first, because
// it regards the function as free of effects. The empty statement is an effect that gcc must keep.
// A compiler that is not known here prefetches nothing.
#if defined(__GNUC__)
#define ESPL__KEEP_PREFETCH() __asm__ volatile("")
#define ESPL__PREFETCH(at) __builtin_prefetch(at)
#define ESPL__PREFETCH_TO_WRITE(at) __builtin_prefetch((at), 1)
#else
#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#define ESPL__PREFETCH(at) _mm_prefetch((const char *)(at), _MM_HINT_T0)
#else
#define ESPL__PREFETCH(at) ((void)(at))
#endif
#define ESPL__PREFETCH_TO_WRITE(at) ESPL__PREFETCH(at)
#define ESPL__KEEP_PREFETCH() ((void)0)
#endif

/// Prefetch the line at an address that is read soon.
static inline void espl__prefetch(const void *at)
{
    ESPL__PREFETCH(at);
    ESPL__KEEP_PREFETCH();
}

/// Prefetch an element of an array that is read soon. The number may be past the end of the array.
static inline void espl__prefetch_element(const void *array, size_t number, size_t size)
{
    // An integer, because the result of pointer arithmetic must not leave the array.
    espl__prefetch((const void *)((uintptr_t)array + number * size));
}

/// Prefetch the line at an address that is written soon.
static inline void espl__prefetch_to_write(const void *at)
{
    ESPL__PREFETCH_TO_WRITE(at);
    ESPL__KEEP_PREFETCH();
}

#endif
