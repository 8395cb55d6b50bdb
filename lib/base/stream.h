// SPDX-License-Identifier: MIT
// Stores past the caches, for arrays that are too long to be in a cache when they are read: a line that is stored
// as a whole is not read first. Where the processor has none they are ordinary stores.
#ifndef ESPALIER_LIB_BASE_STREAM_H
#define ESPALIER_LIB_BASE_STREAM_H

#include "lib/base/compiler.h"

#include <stddef.h>
#include <string.h>

#if ESPL__HAS_SSE2
#include <emmintrin.h>
#define ESPL__STREAM_16(to, from) _mm_stream_si128((to), _mm_loadu_si128(from))
#define ESPL__STREAM_END() _mm_sfence()
#else
#define ESPL__STREAM_16(to, from) memcpy((to), (from), 16)
#define ESPL__STREAM_END() ((void)0)
#endif

/// Copy a multiple of 16 bytes. Precondition: `to` is aligned to 16.
static inline void espl__stream(void *to, const void *from, size_t size)
{
    for (size_t at = 0; at < size; at += 16) {
        ESPL__STREAM_16((void *)((char *)to + at), (const void *)((const char *)from + at));
    }
}

/// Call after the last of these stores, before another thread may be told of them.
static inline void espl__stream_end(void)
{
    ESPL__STREAM_END();
}

#endif
