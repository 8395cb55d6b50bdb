// SPDX-License-Identifier: MIT
// FNV-1a, 64 bits, over the bytes of floats: the proof that every scheme did the same work.
#ifndef ESPALIER_BENCH_CHECKSUM_H
#define ESPALIER_BENCH_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t checksum_begin(void)
{
    return 0xcbf29ce484222325u;
}

/// Take size bytes into a checksum. Machines of either byte order are told apart by their sums.
static inline uint64_t checksum_add(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *const bytes = data;

    for (size_t i = 0; i < size; ++i) {
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    }
    return sum;
}

#endif
