// SPDX-License-Identifier: MIT
// A change of the placement of one node, by a write or by an edit. A change is read, worked out by a function of
// placement.h, and committed in one of two ways: espl__node_change_commit() (writes.h) stores it and propagates
// at once, espl__edit_commit() (edit_steps.h) appends the node to the undo log first and marks it stale.
#ifndef ESPALIER_LIB_TREE_NODE_CHANGE_H
#define ESPALIER_LIB_TREE_NODE_CHANGE_H

#include "lib/tree/motion.h"

/// A change of one node. The forest has the state before it until it is committed.
typedef struct espl__node_change {
    uint32_t slot;
    espl__placement placement; // after the change
    espl_pose world;           // follows from it
    const espl__frame *up;     // of the parent: in `room`, or NULL for a root
    espl__frame room;
} espl__node_change;

/// Read a node into a change that changes nothing yet. Precondition: the worlds of the node and of its parent
/// are up to date. The change is not to be copied, because `up` points into it.
static inline void espl__node_change_read(const espl__forest *forest, uint32_t slot,
                                          espl__node_change *change)
{
    const uint32_t parent = forest->parent[slot];

    change->slot = slot;
    change->placement = espl__slot_placement(forest, slot);
    change->world = forest->world[slot];
    change->up = NULL;
    if (parent != ESPL__NO_SLOT) {
        change->room = espl__slot_frame(forest, parent);
        change->up = &change->room;
    }
}

/// What differs between a node and a placement with its world. The children of the node see the world and the
/// stretch; user data takes no part in the propagation.
typedef struct espl__node_difference {
    bool is_moved, is_stretched, has_user_data;
} espl__node_difference;

static inline espl__node_difference espl__node_differs(const espl__forest *forest, uint32_t slot,
                                                       const espl__placement *placement,
                                                       const espl_pose *world)
{
    const espl__extra now = espl__slot_extra(forest, slot), *const next = &placement->extra;

    return (espl__node_difference){.is_moved = !espl__pose_is_same(&forest->world[slot], world),
                                   .is_stretched =
                                       memcmp(now.stretch, next->stretch, sizeof now.stretch) != 0,
                                   .has_user_data = now.user_data != next->user_data};
}

/// Tell whether the blend of a node ends where a write stores a placement: outside a tick, and its local or
/// its kept parts are other ones. Stretch and user data have no past.
static inline bool espl__write_ends_blend(const espl__forest *forest, uint32_t slot,
                                          const espl__placement *placement)
{
    return espl__forest_shows_writes(forest) && espl__motion_displaces(forest, slot, placement);
}

/// Mark own data after the placement of a node was stored. Precondition: espl__forest_is_tracked().
static inline void espl__mark_placement(espl__forest *forest, uint32_t slot, bool ends_blend)
{
    if (ends_blend) {
        espl__mark_written(forest, slot);
    } else {
        espl__mark_edited(forest, slot);
    }
}

/// Tell whether a node has a placement, bit for bit.
static inline bool espl__node_has(const espl__forest *forest, uint32_t slot,
                                  const espl__placement *placement)
{
    const espl__placement now = espl__slot_placement(forest, slot);

    return espl__placement_is_equal(&now, placement);
}

#endif
