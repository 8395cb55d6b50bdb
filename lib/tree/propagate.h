// SPDX-License-Identifier: MIT
// Propagation: worlds from locals. Writes, edits and batches call it after they changed the world
// or the stretch of a node. A tree in order is recomputed level by level, each a range of slots.
// Another tree is recomputed by its links, or in one pass over its range where the subtree is most
// of it. The wide kernel computes ranges without exceptional nodes, and each exceptional node is
// computed by itself. All ways give the same bits. Nothing here allocates or can fail.
#ifndef ESPALIER_LIB_TREE_PROPAGATE_H
#define ESPALIER_LIB_TREE_PROPAGATE_H

#include "lib/math/wide.h"
#include "lib/tree/forest.h"
#include "lib/tree/worlds.h"

/// Compute the world of a slot from its parent's world and its placement. That of a root is its
/// local.
espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot);

/// Return the world of a local without inherit flags below a parent, or that of a root. The world of
/// the parent is up to date.
ESPL__INLINE espl__wide_pose espl__world_below(const espl__forest *forest, uint32_t parent,
                                               espl__wide_pose local)
{
    if (parent == ESPL__NO_SLOT) {
        return local;
    }
    if (espl__slot_is(forest, parent, ESPL__SLOT_SIDE)) {
        const espl__extra extra = espl__slot_extra(forest, parent);

        local = espl__wide_stretched(local, extra.stretch);
    }
    return espl__wide_compose(espl__wide_load(&forest->world[parent]), local);
}

/// Recompute the world of one node, and the stretch of one that copies its parent. Precondition:
/// the world of the parent is up to date. @return true where its children see a change: the world,
/// or the stretch.
bool espl__propagate_node(espl__forest *forest, espl__context *context, uint32_t slot);
/// espl__propagate_node() of a root or of an exceptional node.
bool espl__propagate_exceptional(espl__forest *forest, espl__context *context, uint32_t slot);
/// espl__propagate_node(), inlined where one node is the most that most calls recompute.
ESPL__INLINE bool espl__propagate_single(espl__forest *forest, espl__context *context,
                                         uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    if (parent == ESPL__NO_SLOT || espl__slot_is(forest, slot, ESPL__SLOT_EXCEPTIONAL)) {
        return espl__propagate_exceptional(forest, context, slot);
    }
    const espl__wide_pose world = espl__wide_compose(espl__wide_load(&forest->world[parent]),
                                                     espl__wide_load(&forest->local[slot]));
    const bool is_changed = !espl__wide_is_same(espl__wide_load(&forest->world[slot]), world);

    espl__world_store_wide(espl__worlds_of(forest), slot, world);
    context->counts.nodes_visited += 1;
    context->has_overflowed = context->has_overflowed || !espl__wide_is_finite(world);
    return is_changed;
}

/// Recompute the worlds of all descendants of a slot. Clears ESPL__SLOT_STALE of the slot and of
/// the nodes that it visits, adds layout debt where the tree is not in order, counts visited nodes,
/// and sets `has_overflowed` where the world of a descendant that follows the slot is not finite.
/// Preconditions: world and stretch of the slot are up to date, and all descendants are in the range
/// of its tree.
void espl__propagate_below(espl__forest *forest, espl__context *context, uint32_t slot);
/// As espl__propagate_below() of the root of a single tree with more than one node, outside an edit: it
/// reads neither the links nor the flags of the root.
void espl__propagate_tree(espl__forest *forest, espl__context *context, uint32_t tree);
/// As espl__propagate_below(), by links alone, for subtrees with nodes in several ranges, as there are inside an edit.
/// Adds no debt.
void espl__propagate_by_links(espl__forest *forest, espl__context *context, uint32_t slot);
/// Tell whether some world of the forest may be not finite.
/// @param context  of the forest, or of a job that writes to it.
static inline bool espl__may_be_overflowed(const espl__forest *forest, const espl__context *context)
{
    return forest->context.has_overflowed || context->has_overflowed;
}
/// Tell whether the world of a slot, or one below that follows it, is not finite. A node that keeps its world
/// follows none. @param visited  in and out: nodes visited are added.
bool espl__finds_overflow(const espl__forest *forest, uint32_t slot, uint64_t *visited);
/// Tell what espl__finds_overflow() tells, where many slots are searched one after the other. The search sets
/// ESPL__SLOT_MARK on each node that it visits, and does not visit a marked node again, so that the time of
/// all searches is linear in the nodes at and below their slots. After the last search call
/// espl__clear_search() for each slot.
bool espl__searches_overflow(espl__forest *forest, uint32_t slot, uint64_t *visited);
/// Clear ESPL__SLOT_MARK on the nodes that espl__searches_overflow() visited from a slot.
void espl__clear_search(espl__forest *forest, uint32_t slot);
/// Note that a search found all worlds finite. Once such searches have visited as many nodes as the forest
/// has, all of its worlds are tested, so that it may be known to be finite: O(1) a visited node, amortised.
void espl__note_search(espl__forest *forest, uint64_t visited);
/// Count again, after a call that found some world not finite: tell whether any world of the forest is not
/// finite now, and set `has_overflowed` of the forest's context to that. O(slots).
bool espl__is_still_overflowed(espl__forest *forest);
/// Copy changed user data of a slot to the descendants that copy their parent. Worlds stay as they
/// are.
void espl__propagate_user_data(espl__forest *forest, uint32_t slot);

/// Recompute the worlds of slots [begin, end) of a single tree, without its root. Worlds of holes
/// may be computed too; no node reads them. Precondition: the worlds of lower slots are up to date.
void espl__sweep(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin,
                 uint32_t end);
/// Count the slots of a sweep as visited, and add its layout debt. espl__sweep() does it as well.
void espl__count_swept(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin,
                       uint32_t end);
/// Count the slots of a propagation below the root, as espl__count_swept().
static inline void espl__count_tree(espl__forest *forest, espl__context *context, uint32_t tree)
{
    const espl__tree *const t = &forest->trees[tree];

    context->counts.nodes_visited += t->live - 1;
    if (t->used != t->live) {
        espl__tree_add_debt(forest, context, tree, t->used - t->live);
    }
}

#endif
