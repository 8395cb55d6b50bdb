// SPDX-License-Identifier: MIT
// Repeatable random numbers: splitmix64, as published by Steele, Lea and Flood (2014).
#ifndef ESPALIER_TOOLS_RANDOM_H
#define ESPALIER_TOOLS_RANDOM_H

#include <stdint.h>

/// State of a stream; any value is a good seed.
typedef struct random_stream {
    uint64_t state;
} random_stream;

static inline uint64_t random_next(random_stream *stream)
{
    uint64_t z = stream->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/// Return a number in [0, limit); 0 for a limit of 0.
static inline uint32_t random_below(random_stream *stream, uint32_t limit)
{
    return (uint32_t)(((random_next(stream) >> 32) * limit) >> 32);
}

/// Return a number in [0, 1).
static inline double random_unit(random_stream *stream)
{
    return (double)(random_next(stream) >> 11) * 0x1p-53;
}

#endif
