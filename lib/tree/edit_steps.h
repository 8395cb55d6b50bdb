// SPDX-License-Identifier: MIT
// The steps of an edit. edit.c defines them; edit_links.c and edit_nodes.c call them.
// Each step that changes a node appends its inverse to the undo log first, so that a failure
// between two steps is undone as well. A step that returns false found no memory, and edit->status
// says so.
#ifndef ESPALIER_LIB_TREE_EDIT_STEPS_H
#define ESPALIER_LIB_TREE_EDIT_STEPS_H

#include "lib/tree/cells.h"
#include "lib/tree/edit.h"
#include "lib/tree/motion.h"
#include "lib/tree/node_change.h"
#include "lib/tree/propagate.h"

/// Reserve room for `more` items in a list of the edit. On failure set the status of the edit.
#define ESPL__EDIT_RESERVE(edit, list, more)                                               \
    (ESPL_ARRAY_RESERVE((edit)->forest->heap, ESPL__FOR_COMMANDS, (edit)->list, (more)) || \
     espl__edit_fail(edit))

/// Set the status of the edit to ESPL_ERR_NO_MEMORY. @return false.
static inline bool espl__edit_fail(espl__edit *edit)
{
    edit->status = ESPL_ERR_NO_MEMORY;
    return false;
}

/// Tell whether the edit has an undo log and lists.
static inline bool espl__edit_has_log(const espl__edit *edit)
{
    return !edit->is_unlogged;
}

/// Tell whether a write changes the past, so that the undo log saves it: outside a tick alone.
static inline bool espl__edit_saves_past(const espl__edit *edit)
{
    return espl__forest_has_motion(edit->forest) && !edit->forest->tracks.is_ticking;
}

/// Append an entry to the undo log, if the edit has one.
static inline bool espl__edit_log(espl__edit *edit, espl__undo entry)
{
    if (!espl__edit_has_log(edit)) {
        return true;
    }
    if (!ESPL__EDIT_RESERVE(edit, log, 1)) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->log, entry);
    return true;
}

/// List a node whose role (solo, root, member) may have changed.
bool espl__edit_touch(espl__edit *edit, uint32_t slot);
/// List a node whose subtree must move to other slots, and set ESPL__SLOT_MOVED. A node is listed once,
/// however often it is linked elsewhere.
static inline bool espl__edit_mark_moved(espl__edit *edit, uint32_t slot)
{
    espl__forest *const forest = edit->forest;

    if ((forest->flags[slot] & ESPL__SLOT_MOVED) != 0) {
        return true;
    }
    if (!ESPL__EDIT_RESERVE(edit, moved, 1)) {
        return false;
    }
    ESPL_ARRAY_PUSH(edit->moved, slot);
    if (forest->tree[slot] != forest->nursery) {
        espl__tree_of(forest, slot)->moved += 1;
        ESPL_CHECK(espl__tree_of(forest, slot)->moved <= espl__tree_of(forest, slot)->used);
    }
    forest->flags[slot] |= ESPL__SLOT_MOVED;
    return true;
}
/// Set ESPL__SLOT_STALE of a node, because its world or stretch changed. Where the list cannot
/// grow, or there is none, the worlds below are recomputed at once instead, so that it cannot fail.
/// Precondition: the node has children.
void espl__edit_mark_inner_stale(espl__edit *edit, uint32_t slot);
/// Make any node stale. A leaf is never stale, because no world is below it.
static inline void espl__edit_mark_stale(espl__edit *edit, uint32_t slot)
{
    if (edit->forest->links[slot].first_child != ESPL__NO_SLOT) {
        espl__edit_mark_inner_stale(edit, slot);
    }
}
/// If a node is stale, recompute the worlds of its children and make those stale that changed. A
/// node is recomputed at most once for each change above it in this way. Precondition: the world of
/// the node is up to date.
void espl__edit_push_down(espl__edit *edit, uint32_t slot);
/// espl__edit_refresh() where the group has a stale node.
void espl__edit_refresh_stale(espl__edit *edit, uint32_t slot);
/// Bring the world of a node up to date.
static inline void espl__edit_refresh(espl__edit *edit, uint32_t slot)
{
    // Fast path: most groups have no stale node.
    if (espl__array_length(edit->stale) != edit->stale_from) {
        espl__edit_refresh_stale(edit, slot);
    }
}
/// Tell whether a node has a stale ancestor, so that its world is recomputed in any case. May make
/// another ancestor stale, to find it faster the next time.
bool espl__edit_is_below_stale(espl__edit *edit, uint32_t slot);
/// Return the frame that the children of a node see, up to date, in `room`. NULL for ESPL__NO_SLOT.
const espl__frame *espl__edit_frame(espl__edit *edit, uint32_t slot, espl__frame *room);
/// Make sure that the tree of a slot has the side arrays for a placement. @return false: no memory.
bool espl__edit_ensure_side(espl__edit *edit, uint32_t slot, const espl__placement *placement);
/// Append placement, world and past of a node to the undo log. @return false: no memory.
bool espl__edit_save(espl__edit *edit, uint32_t slot);
/// Store a placement and the world that follows from it, and mark the node stale where its children
/// see a change.
/// @param past  of the node after a change of structure: edit_past.h; NULL for a write.
/// @return false: no memory, nothing stored.
bool espl__edit_put(espl__edit *edit, uint32_t slot, const espl__placement *placement,
                    const espl_pose *world, const espl__past *past);
/// Read a node into a change, with its world and its parent's up to date.
static inline void espl__edit_read(espl__edit *edit, uint32_t slot, espl__node_change *change)
{
    const uint32_t parent = edit->forest->parent[slot];

    if (parent != ESPL__NO_SLOT) {
        espl__edit_refresh(edit, parent);
    }
    espl__edit_refresh(edit, slot);
    espl__node_change_read(edit->forest, slot, change);
}
/// Commit a change that was worked out. A refusal (`status` below ESPL_OK) stores nothing.
/// @param past  as in espl__edit_put(). @return the status, or ESPL_ERR_NO_MEMORY.
static inline espl_status espl__edit_commit(espl__edit *edit, const espl__node_change *change,
                                            const espl__past *past, espl_status status)
{
    return status < 0 ||
                   espl__edit_put(edit, change->slot, &change->placement, &change->world, past)
               ? status
               : ESPL_ERR_NO_MEMORY;
}
/// Set or clear ESPL__SLOT_BARE of a node. One that gets a transform is shown at its world until the next
/// present. @return false: no memory.
bool espl__edit_set_bare(espl__edit *edit, uint32_t slot, bool is_bare);
/// Unlink a node and link it to a parent, or to none (ESPL__NO_SLOT), before a sibling or last.
/// Placements stay as they are. Marks the node as moved where its slot is not one that it may have
/// below its new parent. @return false: no memory; the undo log restores the links.
bool espl__edit_relink(espl__edit *edit, uint32_t slot, uint32_t parent, uint32_t before,
                       bool is_free_link);
/// A new frame of nodes, now and at earlier times (edit_past.h).
typedef struct espl__frames {
    const espl__frame *now; // NULL: the nodes become roots
    bool is_same;           // it is the frame that the nodes have, and the past alone changes
    espl__frame past[ESPL__PASTS]; // where motion runs and `now` is not NULL
    espl__cell_shift shift;        // from the cell that the nodes have to that of the frame
} espl__frames;

/// Before the frame of a node changes, give it the placement that keeps its world in the new frame.
/// Where a node copies its parent, the nodes below it get such placements instead. Sets edit->is_lossy
/// where one does not keep its world.
/// @param frames  the new frame.
/// @param lost  an ancestor that loses its transform, or ESPL__NO_SLOT. Ancestors with
///              ESPL__SLOT_MARK die.
/// @return false: no memory.
bool espl__edit_keep_worlds(espl__edit *edit, uint32_t top, const espl__frames *frames,
                            uint32_t lost);

/// Return the remark of a change: whether a node that it does not name got another world. The change sets
/// edit->is_lossy to false when it begins.
static inline espl_status espl__edit_remark(const espl__edit *edit)
{
    return edit->is_lossy ? ESPL_LOSSY : ESPL_OK;
}

/// Free what was reserved for the relocations of an edit, and clear the flags of their trees, for an
/// undo.
void espl__relocations_drop(espl__edit *edit);

/// Tell whether a slot is a hole, or its node died in the edit.
static inline bool espl__slot_is_dead(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].entity == ESPL__NO_ENTITY;
}

#endif
