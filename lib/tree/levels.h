// SPDX-License-Identifier: MIT
// Levels of a tree in breadth-first order, and their parallel propagation. A level is the nodes at
// one depth below some nodes: consecutive slots, whose children are the next level. So a job gets a
// part of a level and continues with the children of that part, level after level, without waiting
// for other jobs. propagate.c and writes.c call this for large trees. Nothing here allocates or can
// fail.
#ifndef ESPALIER_LIB_TREE_LEVELS_H
#define ESPALIER_LIB_TREE_LEVELS_H

#include "lib/tree/forest.h"

/// Tell whether the worlds of a tree may be computed by several workers: it is large, in order, and
/// has no exceptional nodes, so that the wide kernel computes each part.
static inline bool espl__tree_is_parallel(const espl__forest *forest, const espl__tree *tree)
{
    return tree->used / 2 >= forest->grain && tree->exceptional == 0 &&
           (tree->flags & ESPL__TREE_IN_ORDER) != 0;
}

/// Return the first child of all slots from `slot` on, in a tree in order: the lowest slot whose
/// parent is not below `slot`. The end of the used slots where no slot from it on has a child.
uint32_t espl__first_below(const espl__forest *forest, const espl__tree *tree, uint32_t slot);

/// Clear ESPL__SLOT_STALE of slots [begin, end), because their worlds are recomputed (propagate.c).
void espl__clear_stale(espl__forest *forest, uint32_t begin, uint32_t end);

/// Compose the worlds of slots [begin, end) of a parallel tree and of all their descendants, on the
/// workers of a context. Preconditions: no slot of [begin, end) is an ancestor of another, and the
/// worlds of their parents are final.
/// @param is_suffix  [begin, end) and its descendants are all slots from `begin` on.
/// @param visited    in and out: the number of nodes is added.
/// @return 0, or NaN where a world may not be finite. Worlds and result do not depend on the
///         workers.
float espl__compose_parallel(espl__forest *forest, const espl__workers *workers,
                             const espl__tree *tree, uint32_t begin, uint32_t end, bool is_suffix,
                             uint64_t *visited);

#endif
