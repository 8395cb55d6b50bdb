// SPDX-License-Identifier: MIT
// Whether a tree is in breadth-first order without holes: the flag ESPL__TREE_IN_ORDER of its header.
#ifndef ESPALIER_LIB_TREE_ORDER_H
#define ESPALIER_LIB_TREE_ORDER_H

#include "lib/tree/forest.h"

/// Mark the header of a tree, all of whose nodes may stay as they are: mark its first slot, by which consumers find
/// the header.
static inline void espl__tree_mark_header(const espl__forest *forest, const espl__tree *tree)
{
    espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, tree->base);
}

/// Clear ESPL__TREE_IN_ORDER of a tree and mark its header. Where the place of a node of the tree is marked anyway,
/// the flag is cleared alone. The flag is only written where it is set: it is never set in the header of the
/// nursery, which several threads read.
ESPL__INLINE void espl__tree_end_order(const espl__forest *forest, espl__tree *tree)
{
    if ((tree->flags & ESPL__TREE_IN_ORDER) != 0) {
        tree->flags &= ~(uint32_t)ESPL__TREE_IN_ORDER;
        espl__tree_mark_header(forest, tree);
    }
}

/// Tell whether the tree of a slot is in breadth-first order without holes.
static inline bool espl__is_tree_in_order(const espl__forest *forest, uint32_t slot)
{
    return (espl__tree_of(forest, slot)->flags & ESPL__TREE_IN_ORDER) != 0;
}

#endif
