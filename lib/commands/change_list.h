// SPDX-License-Identifier: MIT
// What a change of components or a creation gives and removes, checked and listed as the payload of a
// command has it.
//
// Input: the values and the components of a caller. Output: one list, which a recorder appends to a lane
// and an immediate change reads. This is the only reader of espl_change_def. Checks need the component sizes
// of the world and nothing else of it.
//
// Invariant: each component is in a list once, and none is both given and removed. The roles are never in
// it. The transform is apart, because it is first in a payload and changes the hierarchy, not a column.
#ifndef ESPALIER_LIB_COMMANDS_CHANGE_LIST_H
#define ESPALIER_LIB_COMMANDS_CHANGE_LIST_H

#include "lib/commands/explain.h"

/// Values that are given, and after them components that are removed.
enum { ESPL__LISTED_LIMIT = 2 * ESPL_SET_LIMIT };

/// The bytes of the values are the caller's. About 2 KiB on the stack of the caller, so that a recording takes
/// no memory but that of its lane.
typedef struct espl__change_list {
    const espl__store *store;
    espl__placement_change placement;
    espl_transform transform; // normalised; where `placement` says that it comes
    espl__given values[ESPL__LISTED_LIMIT];
    size_t value_count;
    espl__cause cause; // of a refusal
    espl__sentence sentence;
} espl__change_list;

/// Begin an empty list. The arrays are not cleared, because most lists have one item.
void espl__change_list_begin(espl__change_list *list, const espl__store *store);
/// Say which pointer of a change is missing, or NULL.
const char *espl__change_fault(const espl_change_def *def);
/// Read a whole definition into an empty list: its pointers, its counts, the values, then the removals, so
/// that a component that is given and removed is refused at its removal.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT: a pointer is missing; a component is not registered, is a role, has
///         another size, or is given twice; ESPL_ERR_NOT_FINITE; ESPL_ERR_LIMIT: more components than an entity
///         can have. `cause` says what is refused.
espl_status espl__change_list_read(espl__change_list *list, const espl_change_def *def);
/// Add the values of a creation, in their order. @return as espl__change_list_read().
espl_status espl__change_list_values(espl__change_list *list, const espl_component_value *values,
                                     size_t count);
/// Append a command with the list as its payload. @param pending  out, for creations; else NULL.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY; nothing was appended then.
espl_status espl__change_list_append(espl_recorder *recorder, const espl__change_list *list,
                                     const espl__command *command, espl_entity *pending);

#endif
