// SPDX-License-Identifier: MIT
// The sort of lib/base/key_sort.h: a stable radix sort, least significant digit first, of the bits in
// which keys differ. A radix sort mispredicts no branches, as a comparison sort does, and its time does
// not depend on the order of the items.
#include "lib/base/key_sort.h"

#include "lib/base/trap.h"

#include <string.h>

// Bounds of the bits of a digit. More bits make fewer passes, but more buckets, which are written to side
// by side: 1,024 of them take twice as long for a hundred thousand keys.
enum { FEWEST_BITS = 4, MOST_BITS = 9 };

// Return the number of bits of a value: 0 for 0.
static unsigned bits_of(uint32_t value)
{
    unsigned bits = 0;

    for (; value != 0; value >>= 1) {
        bits += 1;
    }
    return bits;
}

// Copy the items in the order of one digit of their keys.
static void scatter_by_digit(espl__sort_key *to, const espl__sort_key *from, uint32_t count,
                             unsigned shift, unsigned bits)
{
    uint32_t ends[1u << MOST_BITS], sum = 0;
    const uint32_t mask = (UINT32_C(1) << bits) - 1;

    ESPL_CHECK(to != from && bits <= MOST_BITS);
    memset(ends, 0, (mask + 1) * sizeof *ends);
    for (uint32_t i = 0; i < count; ++i) {
        ends[(from[i].key >> shift) & mask] += 1;
    }
    // Prefix sums: where the next item of a bucket goes.
    for (uint32_t bucket = 0; bucket <= mask; ++bucket) {
        const uint32_t here = ends[bucket];

        ends[bucket] = sum;
        sum += here;
    }
    ESPL_CHECK(sum == count);
    for (uint32_t i = 0; i < count; ++i) {
        to[ends[(from[i].key >> shift) & mask]++] = from[i];
    }
}

// A digit has about as many buckets as there are items, because passes over items and over buckets cost
// alike.
void espl__sort_by_key(espl__sort_key **items, espl__sort_key **spare, size_t count)
{
    uint32_t differing = 0;

    ESPL_CHECK(count <= UINT32_MAX);
    for (size_t i = 1; i < count; ++i) {
        differing |= (*items)[i].key ^ (*items)[0].key;
    }
    const unsigned bits = bits_of(differing), wanted = bits_of((uint32_t)count);
    const unsigned most = wanted < FEWEST_BITS ? FEWEST_BITS
                          : wanted < MOST_BITS ? wanted
                                               : MOST_BITS;
    const unsigned passes = (bits + most - 1) / most;

    for (unsigned pass = 0, shift = 0; pass < passes; ++pass) {
        const unsigned digit = (bits - shift + passes - pass - 1) / (passes - pass);

        scatter_by_digit(*spare, *items, (uint32_t)count, shift, digit);
        espl__sort_key *const sorted = *spare;

        *spare = *items;
        *items = sorted;
        shift += digit;
    }
}
