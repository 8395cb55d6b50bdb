// SPDX-License-Identifier: MIT
// Worlds from locals: the one implementation of "recompute what is below".
//
// A tree whose order holds is swept level range by level range; another one by its links, or in one
// pass over its range where the subtree is most of it. Exceptional nodes are computed one by one,
// the wide kernel runs between them. Nothing here takes memory or can fail.
#ifndef ESPALIER_LIB_TREE_PROPAGATE_H
#define ESPALIER_LIB_TREE_PROPAGATE_H

#include "lib/tree/forest.h"

/// World that follows for a slot from its parent's world and its own placement; a root's is its
/// local.
espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot);

/// Recompute the world of one node, whose parent's world is final; of one that copies its parent,
/// also the stretch that it shows.
/// @return true where what its children see changed: the world, or the stretch.
bool espl__propagate_node(espl__forest *forest, espl__context *context, uint32_t slot);

/// Recompute the worlds of everything below a slot, whose own world and stretch are final. Clears
/// ESPL__SLOT_STALE of every node below it that it passes and of the slot itself, and adds layout
/// debt where the tree is not in order. Counts visited nodes and worlds that are not finite.
///
/// All nodes below the slot are in the range of its tree.
void espl__propagate_below(espl__forest *forest, espl__context *context, uint32_t slot);
/// The same by links alone, one node after the other: for subtrees with nodes in several ranges, as
/// there are inside an edit. Adds no debt.
void espl__propagate_by_links(espl__forest *forest, espl__context *context, uint32_t slot);
/// The user data of a slot changed: copy it to nodes below it that copy their parent. Their worlds
/// and all other nodes stay as they are.
void espl__propagate_user_data(espl__forest *forest, uint32_t slot);

/// Add the worlds of nodes at slots [begin, end) that are not finite to the count of the context.
void espl__count_overflowed_slots(const espl__forest *forest, espl__context *context,
                                  uint32_t begin, uint32_t end);
/// Recompute the worlds of slots [begin, end) of a tree, begin > base of a single tree; slots below
/// begin are final. Holes are passed over or computed, which is harmless.
void espl__sweep(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t begin,
                 uint32_t end);

#endif
