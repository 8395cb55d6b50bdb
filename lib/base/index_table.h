// SPDX-License-Identifier: MIT
// A hash table of indices, each with a number: open addressing in an stb array, at least half of which is free.
#ifndef ESPALIER_LIB_BASE_INDEX_TABLE_H
#define ESPALIER_LIB_BASE_INDEX_TABLE_H

#include "lib/base/array.h"

#include <string.h>

typedef struct espl__index_entry {
    uint32_t key; // index + 1; 0: free
    uint32_t number;
} espl__index_entry;

/// Make an empty table of at most so many indices. @return false: no memory.
static inline bool espl__index_table_make(espl__heap *heap, espl__purpose purpose,
                                          espl__index_entry **table, size_t count)
{
    size_t size = 16;

    while (size < 2 * count) {
        size *= 2;
    }
    if (!ESPL_ARRAY_RESERVE(heap, purpose, *table, size)) {
        return false;
    }
    espl__array_set_length(*table, size);
    memset(*table, 0, size * sizeof **table);
    return true;
}

/// Return the entry of an index, or the free one that it would have. Precondition: the table was made.
static inline espl__index_entry *espl__index_table_at(espl__index_entry *table, uint32_t index)
{
    const size_t mask = espl__array_length(table) - 1;
    size_t at = (size_t)((index * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

    while (table[at].key != 0 && table[at].key != index + 1) {
        at = (at + 1) & mask;
    }
    return &table[at];
}

#endif
