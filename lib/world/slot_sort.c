// SPDX-License-Identifier: MIT
// A stable radix sort, least significant byte first (lib/world/slot_sort.h). A byte in which all
// keys agree takes no pass: slots of a small world have two such bytes. It replaces a comparison
// sort because it does not mispredict branches and its time does not depend on the order of the
// keys.
#include "lib/world/slot_sort.h"

#include "lib/base/trap.h"

#include <string.h>

enum { SLOT_DIGITS = 4, SLOT_BUCKETS = 256 };

// Byte of a slot; digit 0 is the least significant.
static uint32_t byte_of(espl__slot_key key, unsigned digit)
{
    ESPL_CHECK_FULL(digit < SLOT_DIGITS);
    return (key.slot >> (8 * digit)) & 0xffu;
}

// Copy the keys in the order of one byte.
// @param counts  [SLOT_BUCKETS] in: keys with each byte; out: the prefix sums, where each
//          bucket ends.
static void scatter_by_byte(espl__slot_key *to, const espl__slot_key *from, size_t count,
                            unsigned digit, size_t *counts)
{
    size_t sum = 0;

    for (size_t bucket = 0; bucket < SLOT_BUCKETS; ++bucket) {
        const size_t here = counts[bucket];

        counts[bucket] = sum;
        sum += here;
    }
    ESPL_CHECK(sum == count && to != from);
    for (size_t i = 0; i < count; ++i) {
        to[counts[byte_of(from[i], digit)]++] = from[i];
    }
}

// One pass counts all four bytes, because a pass over the keys costs more than a few additions.
void espl__slot_keys_sort(espl__slot_key **keys, espl__slot_key **spare, size_t count)
{
    size_t histograms[SLOT_DIGITS][SLOT_BUCKETS];

    ESPL_CHECK(count != 0);
    ESPL_CHECK(*keys != NULL && *spare != NULL && *keys != *spare);
    memset(histograms, 0, sizeof histograms);
    for (size_t i = 0; i < count; ++i) {
        for (unsigned digit = 0; digit < SLOT_DIGITS; ++digit) {
            histograms[digit][byte_of((*keys)[i], digit)] += 1;
        }
    }
    for (unsigned digit = 0; digit < SLOT_DIGITS; ++digit) {
        if (histograms[digit][byte_of((*keys)[0], digit)] == count) {
            continue;
        }
        scatter_by_byte(*spare, *keys, count, digit, histograms[digit]);
        espl__slot_key *const sorted = *spare;

        *spare = *keys;
        *keys = sorted;
    }
}
