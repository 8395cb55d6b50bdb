// SPDX-License-Identifier: MIT
// The sort of lib/world/slot_sort.h. Keys whose trees ascend are sorted by a table of the slots of one
// tree; others by a stable radix sort, least significant byte first. A byte in which all keys agree takes
// no pass: slots of a small world have two such bytes. It replaces a comparison
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

// Sort keys whose trees ascend already, as when a caller writes one tree after the other, each in its
// own order. A table of the slots of one tree takes a tenth of the time of a sort of all keys.
// @param numbers  [2 * count] scratch.
// @return false where the keys are not like this, or few of a tree; then they are in another order, in
//         which keys of one slot have kept theirs.
static bool sort_tree_by_tree(const espl__forest *forest, espl__slot_key *keys, size_t count,
                              uint32_t *numbers)
{
    enum { SPARSE = 16 };
    uint32_t limit = 0;

    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        const espl__tree *const t = espl__tree_of(forest, keys[begin].slot);

        while (end < count && keys[end].slot - t->base < t->used) {
            end += 1;
        }
        if (t->base < limit || t->used > 2 * count || t->used > SPARSE * (end - begin)) {
            return false;
        }
        limit = t->base + t->used;
        memset(numbers, 0xff, t->used * sizeof *numbers);
        for (size_t i = begin; i < end; ++i) {
            uint32_t *const number = &numbers[keys[i].slot - t->base];

            if (*number != UINT32_MAX) {
                return false; // two entries for one node
            }
            *number = keys[i].number;
        }
        for (uint32_t i = 0; begin < end; ++i) {
            if (numbers[i] != UINT32_MAX) {
                keys[begin++] = (espl__slot_key){t->base + i, numbers[i]};
            }
        }
    }
    return true;
}

// Sort by the bytes of the slots. One pass counts all four bytes, because a pass over the keys costs more than a few additions.
static void sort_by_bytes(espl__slot_key **keys, espl__slot_key **spare, size_t count)
{
    size_t histograms[SLOT_DIGITS][SLOT_BUCKETS];

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

void espl__slot_keys_sort(const espl__forest *forest, espl__slot_key **keys, espl__slot_key **spare,
                          size_t count)
{
    // Until the bytes are sorted, the spare keys are free.
    uint32_t *const table = (uint32_t *)(void *)*spare;

    _Static_assert(sizeof **spare == 2 * sizeof *table, "a key has two words");
    ESPL_CHECK(count != 0);
    ESPL_CHECK(*keys != NULL && *spare != NULL && *keys != *spare);
    if (!sort_tree_by_tree(forest, *keys, count, table)) {
        sort_by_bytes(keys, spare, count);
    }
}
