// SPDX-License-Identifier: MIT
// Small trees whose worlds are due, several of one shape at a time. The levels of a small tree fill the
// lanes of a wide kernel badly; trees of one shape fill them well, a lane for each tree.
#ifndef ESPALIER_LIB_TREE_ALIKE_H
#define ESPALIER_LIB_TREE_ALIKE_H

#include "lib/tree/forest.h"

enum { ESPL__ALIKE_SHAPES = 16 };

/// Trees of one shape that wait until they fill the lanes of the kernel.
typedef struct espl__alike {
    uint32_t size, count;              // slots of each tree, trees
    uint32_t bases[ESPL__WIDTH_LIMIT]; // [count] slots of their roots
} espl__alike;

/// Waiting trees by a hash of their shape. {0}: none.
typedef struct espl__waiting {
    espl__alike of[ESPL__ALIKE_SHAPES];
} espl__waiting;

/// Tell whether a tree can wait: it is small and one tree, and no node of it is exceptional.
static inline bool espl__tree_can_wait(const espl__forest *forest, const espl__tree *tree)
{
    return forest->kernels->width > 1 && tree->used > 1 && tree->used <= ESPL__ALIKE_LIMIT &&
           tree->exceptional == 0 && espl__tree_is_single(forest, tree);
}

/// Add a tree that can wait, whose root has its final world. The worlds below the root are recomputed by
/// this call, a later one, or espl__waiting_finish(). Adds layout debt and visited nodes of the tree;
/// overflowed worlds are counted when they are recomputed.
void espl__waiting_add(espl__forest *forest, espl__context *context, espl__waiting *waiting,
                       uint32_t tree);
/// Recompute the worlds of all trees that wait.
void espl__waiting_finish(espl__forest *forest, espl__context *context, espl__waiting *waiting);

#endif
