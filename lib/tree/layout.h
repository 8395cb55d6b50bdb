// SPDX-License-Identifier: MIT
// Copying a tree to another range in breadth-first order.
#ifndef ESPALIER_LIB_TREE_LAYOUT_H
#define ESPALIER_LIB_TREE_LAYOUT_H

#include "lib/tree/forest.h"

/// Copy everything below a root, wherever its nodes are, to slots [base, base + count) in breadth-first
/// order. The header of `tree` is not touched. Nodes that were in the range of another tree leave it;
/// those that were in the range of `tree` itself are left as they are, since that range goes.
/// @param side         for the new range, or NULL where no node needs it; its counts are set.
/// @param exceptional  out: nodes with ESPL__SLOT_EXCEPTIONAL.
/// @return the number of nodes.
uint32_t espl__copy_in_order(espl__forest *forest, uint32_t root, uint32_t tree, uint32_t base,
                             espl__side *side, uint32_t *exceptional, espl__moved_function moved,
                             void *context);
/// Copy what is stored of a node, links aside, from one slot to another. @param to  the tree that it
/// comes to, by its base and side arrays.
void espl__node_copy(espl__forest *forest, uint32_t slot, uint32_t from, uint32_t base,
                     espl__side *side);
/// The header of a tree that fills the begin of a range in breadth-first order.
static inline espl__tree espl__tree_in_order(uint32_t base, uint32_t capacity, uint32_t count,
                                             uint32_t exceptional, espl__side *side)
{
    return (espl__tree){.base = base,
                        .capacity = capacity,
                        .used = count,
                        .live = count,
                        .hole = ESPL__NO_SLOT,
                        .roots = 1,
                        .exceptional = exceptional,
                        .flags = ESPL__TREE_IN_ORDER,
                        .next = ESPL__NO_TREE,
                        .previous = ESPL__NO_TREE,
                        .side = side};
}

#endif
