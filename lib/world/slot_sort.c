// SPDX-License-Identifier: MIT
// The sort of lib/world/slot_sort.h. Keys whose trees ascend are sorted by a table of the slots of one
// tree; others by a stable radix sort, least significant byte first. A byte in which all keys agree takes
// no pass. A radix sort mispredicts no branches, as a comparison sort does, and its time does not depend
// on the order of the keys.
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
static void scatter_by_byte(espl__slot_key *to, const espl__slot_key *from, uint32_t count,
                            unsigned digit)
{
    uint32_t ends[SLOT_BUCKETS] = {0}, sum = 0;

    ESPL_CHECK(to != from);
    for (uint32_t i = 0; i < count; ++i) {
        ends[byte_of(from[i], digit)] += 1;
    }
    // Prefix sums: where the next key of a bucket goes.
    for (uint32_t bucket = 0; bucket < SLOT_BUCKETS; ++bucket) {
        const uint32_t here = ends[bucket];

        ends[bucket] = sum;
        sum += here;
    }
    ESPL_CHECK(sum == count);
    for (uint32_t i = 0; i < count; ++i) {
        to[ends[byte_of(from[i], digit)]++] = from[i];
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

// Sort by the bytes of the slots in which they differ.
static void sort_by_bytes(espl__slot_key **keys, espl__slot_key **spare, size_t count)
{
    uint32_t differing = 0;

    ESPL_CHECK(count <= UINT32_MAX);
    for (size_t i = 1; i < count; ++i) {
        differing |= (*keys)[i].slot ^ (*keys)[0].slot;
    }
    for (unsigned digit = 0; digit < SLOT_DIGITS; ++digit) {
        if (byte_of((espl__slot_key){.slot = differing}, digit) == 0) {
            continue;
        }
        scatter_by_byte(*spare, *keys, (uint32_t)count, digit);
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
