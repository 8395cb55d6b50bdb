// SPDX-License-Identifier: MIT
// Component sets of nodes while commands are applied: which components a node has at that moment,
// besides its role and its transform, and which values commands gave them.
//
// Each part of a playback has its own sets. Which node has which set is not known here: see
// component_values.h.
//
// Invariants: the items of a set are in ascending order of components, each component once. A set
// becomes shared when a clone of its node is made, and never changes from then on, so that the
// clone keeps what its original had at that moment. Sets and items are only added until all are
// cleared.
#ifndef ESPALIER_LIB_COMMANDS_COMPONENT_SETS_H
#define ESPALIER_LIB_COMMANDS_COMPONENT_SETS_H

#include "lib/commands/command_buffer.h"

/// One component of a set.
typedef struct espl__set_item {
    espl_component component;
    uint32_t entry;             // command that gave it; ESPL__NONE: its value is that of the row
    const unsigned char *bytes; // the value that was given; NULL: none, or a tag
} espl__set_item;

typedef struct espl__set {
    uint32_t begin, count, capacity; // in the items
    uint32_t entry;                  // command that made it
    uint32_t before;                 // the set that it was copied from, or ESPL__NONE
    uint32_t of_copies; // number of the set that copies have, where it is another one; ESPL__NONE: not made yet
    bool is_shared;
} espl__set;

/// The sets of one part of a playback. {0} is empty.
typedef struct espl__sets {
    espl__set *sets;       // stb array
    espl__set_item *items; // stb array
} espl__sets;

/// Remove all sets and keep the memory.
void espl__sets_clear(espl__sets *sets);
/// Remove all sets and free the memory.
void espl__sets_free(espl__heap *heap, espl__sets *sets);
/// Bytes of the memory that is kept, under ESPL__FOR_COMMANDS.
size_t espl__sets_bytes(const espl__sets *sets);

/// The item of a component, or NULL. Valid until a set is made or changed.
const espl__set_item *espl__set_find(const espl__sets *sets, uint32_t set,
                                     espl_component component);
/// Add a component to a set, or replace its item. Preconditions: not shared; reserved.
void espl__set_put(espl__sets *sets, uint32_t set, const espl__set_item *item);
/// Remove a component from a set; no effect without it. Precondition: not shared.
void espl__set_drop(espl__sets *sets, uint32_t set, espl_component component);
/// Make a copy of the set `before`, or an empty set for ESPL__NONE, with room for more components.
/// @param entry  number of the command that makes it.
/// @return its number, or ESPL__NONE: no memory.
uint32_t espl__set_make(espl__heap *heap, espl__sets *sets, size_t more, uint32_t before,
                        uint32_t entry);
/// Reserve room for more components in a set. Precondition: not shared. @return false: no memory.
bool espl__set_reserve(espl__heap *heap, espl__sets *sets, uint32_t set, size_t more);

#endif
