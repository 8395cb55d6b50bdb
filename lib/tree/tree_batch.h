// SPDX-License-Identifier: MIT
// Batches of small trees whose worlds are recomputed together: an element of the SIMD registers for
// each tree. The levels of one small tree are too narrow to fill the registers of the wide kernel.
// Each job of a batch write has its own batch: it adds each tree whose root changed, and recomputes
// the rest at its end.
#ifndef ESPALIER_LIB_TREE_TREE_BATCH_H
#define ESPALIER_LIB_TREE_TREE_BATCH_H

#include "lib/tree/forest.h"

enum { ESPL__BATCHED_SIZE = 128 }; ///< Upper bound of the slots of a tree in a batch.

/// Ranges of slots whose worlds are to be recomputed, one for each tree. {0}: none.
typedef struct espl__tree_batch {
    uint32_t count;
    uint32_t slots[ESPL__WIDTH_LIMIT]; // [count] first slot to be recomputed
    uint32_t ends[ESPL__WIDTH_LIMIT];  // [count] above it
} espl__tree_batch;

/// Tell whether a tree can be in a batch: it is small, has one root, and no node of it is
/// exceptional.
static inline bool espl__tree_can_batch(const espl__forest *forest, const espl__tree *tree)
{
    return forest->kernels->width > 1 && tree->used > 1 && tree->used <= ESPL__BATCHED_SIZE &&
           tree->exceptional == 0 && espl__tree_is_single(forest, tree);
}

/// Add a tree whose root has its final world; precondition: espl__tree_can_batch(). The worlds
/// below the root are recomputed by this call, a later one, or espl__tree_batch_finish(). Adds
/// the layout debt and the visited nodes of the tree now, and counts overflowed worlds when they
/// are recomputed.
void espl__tree_batch_add(espl__forest *forest, espl__context *context, espl__tree_batch *batch,
                          uint32_t tree);
/// Recompute the worlds of all trees in a batch.
void espl__tree_batch_finish(espl__forest *forest, espl__context *context, espl__tree_batch *batch);

#endif
