// SPDX-License-Identifier: MIT
// The hash table of key_numbers.h. It is replaced by one of twice the size when half of it is used.
#include "lib/base/key_numbers.h"

// Entries of the first table.
enum { FIRST_TABLE = 4 * ESPL__FEW_KEYS };

// The entry of a key, or the free one where it belongs. Precondition: an entry is free.
static espl__numbered_key *find_key(const espl__key_numbers *numbers, uint64_t key)
{
    const uint32_t mask = numbers->size - 1;
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

    ESPL_CHECK_FULL(numbers->count < numbers->size && (numbers->size & mask) == 0);
    while (numbers->table[at].number != UINT32_MAX && numbers->table[at].key != key) {
        at = (at + 1) & mask;
    }
    return &numbers->table[at];
}

// Move the keys to a larger table. @return false: no memory.
static bool grow_table(espl__key_numbers *numbers, espl__arena *arena)
{
    const espl__key_numbers old = *numbers;
    const uint32_t size = old.size == 0 ? FIRST_TABLE : 2 * old.size;
    espl__numbered_key *const table = espl__arena_take(arena, size, sizeof *table);

    if (table == NULL) {
        return false;
    }
    numbers->table = table;
    numbers->size = size;
    for (uint32_t i = 0; i < size; ++i) {
        table[i].number = UINT32_MAX;
    }
    for (uint32_t i = 0; i < ESPL__FEW_KEYS && old.size == 0; ++i) {
        *find_key(numbers, old.few[i]) = (espl__numbered_key){old.few[i], i};
    }
    for (uint32_t i = 0; i < old.size; ++i) {
        if (old.table[i].number != UINT32_MAX) {
            *find_key(numbers, old.table[i].key) = old.table[i];
        }
    }
    return true;
}

uint32_t espl__key_number_of_many(espl__key_numbers *numbers, espl__arena *arena, uint64_t key)
{
    ESPL_CHECK(numbers->count >= ESPL__FEW_KEYS);
    if (2 * numbers->count >= numbers->size && !grow_table(numbers, arena)) {
        return UINT32_MAX;
    }
    espl__numbered_key *const entry = find_key(numbers, key);

    if (entry->number == UINT32_MAX) {
        *entry = (espl__numbered_key){key, numbers->count++};
    }
    return entry->number;
}
