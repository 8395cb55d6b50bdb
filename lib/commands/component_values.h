// SPDX-License-Identifier: MIT
// The values that commands carry, and the component set that a node has while commands are applied.
//
// Input: payloads of commands, rows of the store. Output: sets of a part (component_sets.h), and
// the numbers of the sets that nodes have (espl__made_info.set, espl__part.node_sets). Used by the
// apply, reserve and change stages.
//
// Invariant: a node has a set of its own only if a command changed it. Else its row, or the row
// that it is a copy of, tells the components.
#ifndef ESPALIER_LIB_COMMANDS_COMPONENT_VALUES_H
#define ESPALIER_LIB_COMMANDS_COMPONENT_VALUES_H

#include "lib/commands/apply.h"

// --- Values in a payload ---

/// Steps through the values of one command.
typedef struct espl__value_cursor {
    const unsigned char *payload;
    espl__value_layout layout; // before the next value
    uint32_t left;
    espl__value_header header;  // of the current value
    const unsigned char *bytes; // aligned for its component
    bool is_taken;              // no value: the component is removed
} espl__value_cursor;

/// A cursor before the first value of a command.
espl__value_cursor espl__values_of(const espl__lane_view *lanes, const espl__entry *entry);
/// Step to the next value. @return false: there is none.
bool espl__values_next(espl__value_cursor *cursor);

// --- The components of a node ---

/// The set that a node has of its own at this moment, or ESPL__NONE.
uint32_t espl__components_set_of(const espl__part *part, uint32_t slot);
/// The archetype of the row of a node, or of the row that it is a copy of; ESPL__NONE for a node
/// made from nothing. Says what a node without a set of its own has.
uint32_t espl__components_base(const espl__part *part, uint32_t slot);
/// Count the components that a node has at this moment, besides its role and its transform.
size_t espl__components_count(const espl__part *part, uint32_t slot);
/// Tell whether a node has a component at this moment, which is no role and not the transform.
bool espl__components_have(const espl__part *part, uint32_t slot, espl_component component);
/// Tell whether a set of so many components, with a role and perhaps a transform, is within
/// ESPL_SET_LIMIT.
bool espl__components_fit(size_t count, bool has_transform);

// --- Sets ---

/// Make sure that a node has a set of its own, which no other node shares, with room for more
/// components. @param out  its number. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_open(espl__apply *a, uint32_t slot, size_t more, uint32_t *out);
/// Make a set the own set of a node. @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_give(espl__apply *a, uint32_t slot, uint32_t set);
/// The set that a copy of a node gets, or ESPL__NONE: shared, and without ESPL_PREFAB.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_share(espl__apply *a, uint32_t slot, uint32_t *out);
/// Make a shared set of the values of the command and, below them, of the set `before`; where that
/// is ESPL__NONE, of what copies of a row of the archetype `base` have (ESPL__NONE: nothing). A
/// command without values gets `before` itself. The set may have more than ESPL_SET_LIMIT
/// components.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__components_make(espl__apply *a, uint32_t before, uint32_t base, uint32_t *out);
/// Put the values of a command into a set that is not shared, and remove the components that the
/// command removes. Reserved.
/// @param values  before the first value; out: at the end.
/// @param entry   number of the command.
void espl__set_apply(espl__sets *sets, uint32_t set, espl__value_cursor *values, uint32_t entry);

/// Find or make the archetype of a node with a set (ESPL__NONE: an empty one), a role and perhaps a
/// transform.
/// @param guess  an archetype that may be the one, or ESPL__NONE.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__components_archetype(espl__store *store, const espl__part *part, uint32_t set,
                                       espl_component role, bool has_transform, uint32_t guess,
                                       uint32_t *out);

// --- Writing ---

/// Tell whether a command gave a value to some component of a set.
bool espl__values_are_given(const espl__sets *sets, uint32_t set);
/// Tell whether two sets have the same components, with the same bytes of the payloads for their values.
bool espl__values_are_same(const espl__sets *sets, uint32_t set, const espl__sets *others,
                           uint32_t other);
/// Write the values of a set that commands gave into consecutive rows, of which `first` is the
/// first.
void espl__values_fill(espl__store *store, const espl__sets *sets, uint32_t set,
                       const espl__record *first, uint32_t count);

#endif
