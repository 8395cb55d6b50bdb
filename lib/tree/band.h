// SPDX-License-Identifier: MIT
// Worlds of a tree in breadth-first order, level by level, by several workers where the tree is
// large. The nodes at one depth below a node are one range of slots, and so are their children: the
// next level. A level may be cut anywhere, and a worker that has a part of it goes on with the
// children of that part, level after level, without waiting for the others.
#ifndef ESPALIER_LIB_TREE_BAND_H
#define ESPALIER_LIB_TREE_BAND_H

#include "lib/tree/forest.h"

/// Tell whether a tree is large enough for several workers and has the form that they need.
static inline bool espl__tree_is_wide(const espl__forest *forest, const espl__tree *tree)
{
    return tree->used / 2 >= forest->grain && tree->exceptional == 0 &&
           (tree->flags & ESPL__TREE_IN_ORDER) != 0;
}

/// Return the first slot of a tree in order whose parent is not below `slot`: where the children of
/// slots from it on begin. The end of the used slots where there are none.
uint32_t espl__first_below(const espl__forest *forest, const espl__tree *tree, uint32_t slot);

/// Clear ESPL__SLOT_STALE of slots [begin, end), whose worlds are recomputed (propagate.c).
void espl__clear_stale(espl__forest *forest, uint32_t begin, uint32_t end);

/// Compose the worlds of slots [begin, end) of a wide tree, none of which is below another, and of
/// all that is below them, on the workers of a context. Worlds of their parents are final.
/// @param is_suffix  these are all slots from `begin` on.
/// @param visited    nodes are added.
/// @return 0, or NaN where some world may not be finite. Neither depends on the workers.
float espl__compose_wide(espl__forest *forest, const espl__workers *workers, const espl__tree *tree,
                         uint32_t begin, uint32_t end, bool is_suffix, uint64_t *visited);

#endif
