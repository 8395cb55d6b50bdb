// SPDX-License-Identifier: MIT
// The steps that edits consist of, shared by the edit files. Each logs its inverse.
#ifndef ESPALIER_LIB_TREE_EDIT_STEPS_H
#define ESPALIER_LIB_TREE_EDIT_STEPS_H

#include "lib/tree/edit.h"

/// Grow one of the edit's lists by `more` items, or note that memory ran out.
#define ESPL__EDIT_RESERVE(edit, list, more)                                               \
    (ESPL_ARRAY_RESERVE((edit)->forest->heap, ESPL__FOR_COMMANDS, (edit)->list, (more)) || \
     espl__edit_fail(edit))

/// Note that memory ran out. @return false
static inline bool espl__edit_fail(espl__edit *edit)
{
    edit->status = ESPL_ERR_NO_MEMORY;
    return false;
}

/// Append to the undo log. Nothing is logged where nothing can be taken back.
static inline bool espl__edit_log(espl__edit *edit, espl__undo entry)
{
    if (edit->bury != NULL) {
        return true;
    }
    if (!ESPL__EDIT_RESERVE(edit, log, 1)) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->log, entry);
    return true;
}

static inline bool espl__tree_has_order(const espl__forest *forest, uint32_t slot)
{
    return (espl__tree_of(forest, slot)->flags & ESPL__TREE_IN_ORDER) != 0;
}

/// Note that the role of a node may have changed.
bool espl__edit_touch(espl__edit *edit, uint32_t slot);
/// Note that a node has to move to another range or above its parent.
bool espl__edit_mark_moved(espl__edit *edit, uint32_t slot);
/// Note that worlds below a node are out of date.
void espl__edit_mark_stale(espl__edit *edit, uint32_t slot);
/// Recompute the worlds of the children of a node, if they are out of date; what is below them is out of
/// date then instead. Where all that is asked for comes about by this, a node is recomputed at most once
/// for each change above it. The world of the node is up to date.
void espl__edit_push_down(espl__edit *edit, uint32_t slot);
/// Bring the world of a node up to date.
void espl__edit_refresh(espl__edit *edit, uint32_t slot);
/// Tell whether a node is below a stale one: then its world follows anyway.
bool espl__edit_follows(const espl__edit *edit, uint32_t slot);
/// What children of a node see, in `room`, up to date; NULL for ESPL__NO_SLOT.
const espl__frame *espl__edit_frame(espl__edit *edit, uint32_t slot, espl__frame *room);
/// See that the tree whose range a slot is in can hold a placement. @return false: no memory.
bool espl__edit_ensure_side(espl__edit *edit, uint32_t slot, const espl__placement *placement);
/// Note placement and world of a node for the undo. @return false: no memory.
bool espl__edit_save(espl__edit *edit, uint32_t slot);
/// Give a node a placement and the world that follows from it. @return false: no memory.
bool espl__edit_put(espl__edit *edit, uint32_t slot, const espl__placement *placement,
                    const espl_pose *world);
/// Change ESPL__SLOT_BARE of a node. @return false: no memory.
bool espl__edit_set_bare(espl__edit *edit, uint32_t slot, bool is_bare);
/// Link a node below another parent, or none, at a place among its siblings.
/// @return false: no memory, nothing changed.
bool espl__edit_relink(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                       bool is_free_link);
/// Before the frame of a node changes: give it, or what is below it where it follows its parent as a
/// copy, the placement that keeps its world in the new frame.
/// @param up    the new frame; NULL: the node becomes a root.
/// @param lost  node above whose own transform goes though it lives, or ESPL__NO_SLOT. Nodes with
///              ESPL__SLOT_MARK die.
/// @return false: no memory.
bool espl__edit_keep_worlds(espl__edit *edit, uint32_t top, const espl__frame *up, uint32_t lost);

/// Tell whether a slot is a hole, or its node died in the edit.
static inline bool espl__slot_is_dead(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].entity == ESPL__NO_ENTITY;
}

#endif
