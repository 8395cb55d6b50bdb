// SPDX-License-Identifier: MIT
// Component sets of nodes while a group's commands are carried out: which components a node has at
// that moment beside its role and its placement, and which values they were given.
//
// A node whose set no command changed has none of these: its row, or the row that it is a copy of,
// tells. One that a clone was made of is shared from then on and never changed again, so that the
// clone keeps what its original had at that moment.
#ifndef ESPALIER_LIB_COMMANDS_SETS_H
#define ESPALIER_LIB_COMMANDS_SETS_H

#include "lib/commands/commands.h"

/// One component of a set.
typedef struct espl__set_item {
    espl_component component;
    uint32_t entry;             // that gave it; ESPL__NONE: its value is the one of the row
    const unsigned char *bytes; // the value that was given; NULL: none, or a tag
} espl__set_item;

typedef struct espl__set {
    uint32_t begin, count, capacity; // of the items, components ascending
    uint32_t entry;                  // that made it
    uint32_t before;                 // the one it was copied from, or ESPL__NONE
    uint32_t bare;                   // the same without ESPL_PREFAB, or ESPL__NONE
    bool is_shared;
} espl__set;

/// All sets of a group. Slices of scratch, or blocks of their own once they outgrew it.
typedef struct espl__sets {
    espl__set *sets;       // [set_count]
    espl__set_item *items; // [item_count]
    void *own_sets, *own_items;
    size_t set_count, set_capacity;
    size_t item_count, item_capacity;
} espl__sets;

/// Forget all sets, keep the memory.
void espl__sets_clear(espl__sets *sets);
/// Give back what outgrew the slices.
void espl__sets_drop(espl__heap *heap, espl__sets *sets);

/// The item of a component, or NULL.
const espl__set_item *espl__set_find(const espl__sets *sets, uint32_t set,
                                     espl_component component);
/// Put a component into a set that is not shared, or give it another value. There is room.
void espl__set_put(espl__sets *sets, uint32_t set, const espl__set_item *item);
/// Take a component out of a set that is not shared; it may lack it.
void espl__set_drop(espl__sets *sets, uint32_t set, espl_component component);
/// Make a copy of the set `before`, or an empty one where that is ESPL__NONE, with room for more.
/// @return its number, or ESPL__NONE where there is no memory.
uint32_t espl__set_make(espl__heap *heap, espl__sets *sets, size_t more, uint32_t before,
                        uint32_t entry);
/// Have room for more items in a set that is not shared. @return false where there is no memory.
bool espl__set_reserve(espl__heap *heap, espl__sets *sets, uint32_t set, size_t more);

#endif
