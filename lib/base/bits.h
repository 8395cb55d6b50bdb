// SPDX-License-Identifier: MIT
// Bits of a word, by one instruction each where the compiler offers it.
#ifndef ESPALIER_LIB_BASE_BITS_H
#define ESPALIER_LIB_BASE_BITS_H

#include "lib/base/trap.h"

#include <stdint.h>

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
#include <intrin.h>
#define ESPL__HAS_SCANS 1
#endif

/// Return the number of the lowest bit that is set. @param word  not 0.
static inline uint32_t espl__lowest_bit(uint64_t word)
{
    ESPL_CHECK_FULL(word != 0);
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(word);
#elif defined(ESPL__HAS_SCANS)
    unsigned long bit = 0;

    (void)_BitScanForward64(&bit, word);
    return (uint32_t)bit;
#else
    uint32_t bit = 0;

    for (; (word & 1) == 0; word >>= 1) {
        bit += 1;
    }
    return bit;
#endif
}

/// Return the number of the highest bit that is set. @param word  not 0.
static inline uint32_t espl__highest_bit(uint32_t word)
{
    ESPL_CHECK_FULL(word != 0);
#if defined(__GNUC__)
    return 31 - (uint32_t)__builtin_clz(word);
#elif defined(ESPL__HAS_SCANS)
    unsigned long bit = 0;

    (void)_BitScanReverse(&bit, word);
    return (uint32_t)bit;
#else
    uint32_t bit = 0;

    for (; word > 1; word >>= 1) {
        bit += 1;
    }
    return bit;
#endif
}

/// Return the number of bits that are set.
static inline uint32_t espl__count_bits(uint64_t word)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_popcountll(word);
#else
    uint32_t count = 0;

    // Each step clears the lowest bit.
    for (; word != 0; word &= word - 1) {
        count += 1;
    }
    return count;
#endif
}

#endif
