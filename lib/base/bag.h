// SPDX-License-Identifier: MIT
// A growable array that begins in memory of somebody else's: a slice of scratch that was cut for
// what is usual. Once it outgrows that it has a block of its own.
#ifndef ESPALIER_LIB_BASE_BAG_H
#define ESPALIER_LIB_BASE_BAG_H

#include "lib/base/heap.h"

typedef struct espl__bag {
    void *items;
    uint32_t count;
    uint32_t capacity : 31;
    uint32_t is_own : 1; // items is a block of its own
} espl__bag;

/// Make the slice that a bag begins in. What it held is forgotten; it has no block of its own.
static inline void espl__bag_begin(espl__bag *bag, void *slice, size_t capacity)
{
    *bag = (espl__bag){.items = slice, .capacity = (uint32_t)capacity & INT32_MAX};
}

/// Make room for so many items more by moving to a larger block. @return false where there is no
/// memory; nothing changed then.
bool espl__bag_grow(espl__bag *bag, espl__heap *heap, size_t item_size, size_t more);

/// Make room for so many items more; items may move.
static inline bool espl__bag_reserve(espl__bag *bag, espl__heap *heap, size_t item_size,
                                     size_t more)
{
    return more <= bag->capacity - bag->count || espl__bag_grow(bag, heap, item_size, more);
}

/// Give the block of its own back; the bag is empty and has no room.
void espl__bag_drop(espl__bag *bag, espl__heap *heap, size_t item_size);

#endif
