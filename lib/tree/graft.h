// SPDX-License-Identifier: MIT
// The short path of structural change: one subtree goes to another place by shifting the integer
// arrays of the runs that it leaves and enters, where a sketch would lay both out anew. Costs a few
// passes over the ranks behind it, and work per node for the subtree alone.
//
// In breadth-first order each level of a subtree is one range of ranks. So a run falls into a few
// stretches, between the edges where levels leave it or come in, and in each stretch all ranks, all
// parents' ranks and all first children move by the same; mostly by nothing.
//
//     espl__graft_measure(&graft, forest, slot);
//     espl__graft_lift(&graft, memory of espl__graft_size(&graft));
//     if (!espl__graft_place(&graft, &placement, frame)) refuse: a world overflows
//     espl__graft_aim(&graft, parent, before);
//     espl__graft_reserve(&graft)
//     espl__graft_commit(&graft, moved, context);
#ifndef ESPALIER_LIB_TREE_GRAFT_H
#define ESPALIER_LIB_TREE_GRAFT_H

#include "lib/tree/forest.h"

/// Ranks [begin, end) of a run move by `by`, their parents' ranks by `parents_by`, the ranks of their
/// first children by `firsts_by`; all wrap around where they are negative.
typedef struct espl__stretch {
    uint32_t begin, end, by, parents_by, firsts_by;
} espl__stretch;

typedef struct espl__graft {
    espl__forest *forest;
    uint32_t run;      // that the subtree is in
    uint32_t rank;     // of its first node
    uint32_t size;     // nodes, ghosts included
    uint32_t levels;   // of the subtree
    uint32_t parent;   // slot that it goes to, or ESPL__NO_SLOT
    uint32_t before;   // sibling to stand before, or ESPL__NO_SLOT
    uint32_t capacity; // new one of the run it goes to; 0: what there is serves
    bool stays;        // where it is: only its placement and its link change
    bool keeps_values; // goes to another place in its run, and nothing of any node changes
    bool is_free;      // link of the first node, to be
    bool is_sided;     // `extras` tell what each node shows; else everything is the default
    bool needs_side, needs_kept;
    espl__placement placement; // of the first node, to be
    espl__side *side;          // made ahead, or NULL
    // In the memory of the caller, by position in the subtree's own breadth-first order.
    espl_pose *worlds;   // [size] to be
    espl__extra *extras; // [size] shown, to be
    uint32_t *slots;     // [size] at first where the nodes are, then where they shall be
    uint32_t *sources;   // [size] where the nodes are
    uint32_t *parents;   // [size] position of the parent; of the first node: ESPL__NO_SLOT
    uint32_t *firsts;    // [size] position of the first child
    uint32_t *starts;    // [levels + 1] position where a level begins; the last is the size
    uint32_t *places;    // [levels + 1] rank less position, for the nodes of a level where they go
    uint32_t *cuts;      // [levels + 2] edges where they are, see graft.c
    uint32_t *pastes;    // [levels + 2] edges where they go
    espl__stretch *stretches; // [2 * levels + 5] scratch of the commit
    uint32_t ghosts;          // among the nodes
} espl__graft;

/// Count the subtree of a slot. O(levels).
/// @return false where it has more nodes than the limit: it is not to be grafted.
bool espl__graft_measure(espl__graft *graft, espl__forest *forest, uint32_t slot, uint32_t limit);
/// Bytes of memory that espl__graft_lift() wants, aligned to 16.
size_t espl__graft_size(const espl__graft *graft);
/// Take the subtree down by itself. Changes nothing in the forest. O(size).
void espl__graft_lift(espl__graft *graft, void *memory);
/// Tell whether a slot is in the subtree. O(levels).
bool espl__graft_has(const espl__graft *graft, uint32_t slot);
/// Compute the worlds that follow from a placement of the first node.
/// @param up  frame that it will have, or NULL.
/// @return false where one is not finite. O(size).
bool espl__graft_place(espl__graft *graft, const espl__placement *placement, const espl__frame *up);
/// Say where the subtree goes: before a child of the parent (or of a ghost right below it), last
/// below it, or nowhere, to be a hierarchy of its own; both slots not in it.
void espl__graft_aim(espl__graft *graft, uint32_t parent, uint32_t before);
/// Take the memory for the commit. @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__graft_reserve(espl__graft *graft);
/// Carry it out. Cannot fail.
/// @param moved  called with the context, the entity and the new slot of each node that moved.
void espl__graft_commit(espl__graft *graft, void (*moved)(void *, uint32_t, uint32_t),
                        void *context);

// --- stretches.c: the nodes that stay ---

/// Rank at which the nodes of a level begin where they are; past the last level: where they would.
static inline uint32_t espl__graft_level_begin(const espl__graft *graft, uint32_t level)
{
    const uint32_t width =
        level < graft->levels ? graft->starts[level + 1] - graft->starts[level] : 0;

    return graft->cuts[level + 1] - width;
}

/// Shift the ranks that stay in a run, with its size of before: to close the gaps that the subtree
/// leaves, to open those that it fills, or both in one run.
void espl__graft_shift(espl__graft *graft, espl__run *run, bool has_cut, bool has_paste);

#endif
