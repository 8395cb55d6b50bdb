// SPDX-License-Identifier: MIT
// Numbers of keys: a key that is asked for the first time gets the next number, from 0 on.
//
// Input: keys of 64 bits. Output: numbers in the order of first appearance, so that they do not
// depend on the search. The memory is of an arena.
//
// Few keys are searched one by one, because most playbacks have few and a table would have to be
// cleared; more are found by a hash. Cost: O(1) for each key, expected.
#ifndef ESPALIER_LIB_BASE_KEY_NUMBERS_H
#define ESPALIER_LIB_BASE_KEY_NUMBERS_H

#include "lib/base/arena.h"

/// Keys that are searched one by one at most.
enum { ESPL__FEW_KEYS = 8 };

typedef struct espl__numbered_key {
    uint64_t key;
    uint32_t number; // UINT32_MAX: the entry is free
} espl__numbered_key;

typedef struct espl__key_numbers {
    uint32_t count;               // different keys
    uint32_t size;                // of the table, a power of two; 0: the keys are in `few`
    espl__numbered_key *table;    // [size]
    uint64_t few[ESPL__FEW_KEYS]; // [count] by number
} espl__key_numbers;

/// Begin without keys. The rest is not set to 0, because an immediate call pays for it.
static inline void espl__key_numbers_begin(espl__key_numbers *numbers)
{
    numbers->count = numbers->size = 0;
}

/// The slow path of espl__key_number(): there are more keys than few.
uint32_t espl__key_number_of_many(espl__key_numbers *numbers, espl__arena *arena, uint64_t key);

/// The number of a key: that of an equal one before it, or as many as there were different ones.
/// @return UINT32_MAX: no memory.
static inline uint32_t espl__key_number(espl__key_numbers *numbers, espl__arena *arena,
                                        uint64_t key)
{
    const uint32_t count = numbers->count;

    if (numbers->size != 0) {
        return espl__key_number_of_many(numbers, arena, key);
    }
    for (uint32_t number = 0; number < count; ++number) {
        if (numbers->few[number] == key) {
            return number;
        }
    }
    if (count == ESPL__FEW_KEYS) {
        return espl__key_number_of_many(numbers, arena, key);
    }
    numbers->few[count] = key;
    numbers->count = count + 1;
    return count;
}

#endif
