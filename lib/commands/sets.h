// SPDX-License-Identifier: MIT
// Component sets of nodes while commands are applied: which components a node has at that moment
// beside its role and its transform, and which values commands gave them.
//
// A node whose set no command changed has no entry here: its row, or the row that it is a copy of,
// tells. A set becomes shared when a clone of its node is made, and never changes from then on, so that
// the clone keeps what its original had at that moment.
#ifndef ESPALIER_LIB_COMMANDS_SETS_H
#define ESPALIER_LIB_COMMANDS_SETS_H

#include "lib/commands/commands.h"

struct espl__value_cursor;

/// One component of a set.
typedef struct espl__set_item {
    espl_component component;
    uint32_t entry;             // command that gave it; ESPL__NONE: its value is the one of the row
    const unsigned char *bytes; // the value that was given; NULL: none, or a tag
} espl__set_item;

typedef struct espl__set {
    uint32_t begin, count, capacity; // of the items, components ascending
    uint32_t entry;                  // command that made it
    uint32_t before;                 // the set it was copied from, or ESPL__NONE
    uint32_t bare;                   // the same without ESPL_PREFAB, or ESPL__NONE
    bool is_shared;
} espl__set;

/// The sets of one part of a playback. {0} is empty.
typedef struct espl__sets {
    espl__set *sets;       // stb array
    espl__set_item *items; // stb array
} espl__sets;

/// Remove all sets and keep the memory.
void espl__sets_clear(espl__sets *sets);
/// Remove all sets and give the memory back.
void espl__sets_drop(espl__heap *heap, espl__sets *sets);
/// Bytes of the memory that is kept, under ESPL__FOR_COMMANDS.
size_t espl__sets_bytes(const espl__sets *sets);

/// The item of a component, or NULL.
const espl__set_item *espl__set_find(const espl__sets *sets, uint32_t set,
                                     espl_component component);
/// Put a component into a set that is not shared, or give it another value. Reserved.
void espl__set_put(espl__sets *sets, uint32_t set, const espl__set_item *item);
/// Remove a component from a set that is not shared; no effect without the component.
void espl__set_drop(espl__sets *sets, uint32_t set, espl_component component);
/// Make a copy of the set `before`, or an empty set for ESPL__NONE, with room for more components.
/// @return its number, or ESPL__NONE: no memory.
uint32_t espl__set_make(espl__heap *heap, espl__sets *sets, size_t more, uint32_t before,
                        uint32_t entry);
/// Reserve room for more components in a set that is not shared. @return false: no memory.
bool espl__set_reserve(espl__heap *heap, espl__sets *sets, uint32_t set, size_t more);
/// Put the values that a command gives into a set that is not shared, and remove the components that it
/// takes away (values.c). Reserved.
/// @param values  before the first one; out: at the end.
void espl__set_apply(espl__sets *sets, uint32_t set, struct espl__value_cursor *values,
                     uint32_t entry);

#endif
