// SPDX-License-Identifier: MIT
// Batches of small trees of one shape, whose worlds are recomputed together: a SIMD lane for each
// tree. The levels of one small tree are too narrow to fill the lanes of the wide kernel. Trees
// have one shape when their parents are at the same distances from their roots. Each job of a batch
// write has its own batches: it adds each tree whose root changed, and recomputes the rest at its
// end.
#ifndef ESPALIER_LIB_TREE_SHAPE_BATCH_H
#define ESPALIER_LIB_TREE_SHAPE_BATCH_H

#include "lib/tree/forest.h"

enum { ESPL__SHAPE_BATCHES = 16 };

/// Trees of one shape whose worlds are to be recomputed when the batch is full.
typedef struct espl__shape_batch {
    uint32_t size, count;              // slots of each tree; number of trees
    uint32_t bases[ESPL__WIDTH_LIMIT]; // [count] slots of their roots
} espl__shape_batch;

/// Batches by a hash of the shape. {0}: no trees. Another shape with the same hash replaces the
/// batch, whose trees are recomputed then.
typedef struct espl__shape_batches {
    espl__shape_batch by_hash[ESPL__SHAPE_BATCHES];
} espl__shape_batches;

/// Tell whether a tree can be in a batch: it is small, has one root, and no node of it is
/// exceptional.
static inline bool espl__tree_can_batch(const espl__forest *forest, const espl__tree *tree)
{
    return forest->kernels->width > 1 && tree->used > 1 && tree->used <= ESPL__ALIKE_LIMIT &&
           tree->exceptional == 0 && espl__tree_is_single(forest, tree);
}

/// Add a tree whose root has its final world; precondition: espl__tree_can_batch(). The worlds
/// below the root are recomputed by this call, a later one, or espl__shape_batches_finish(). Adds
/// the layout debt and the visited nodes of the tree now, and counts overflowed worlds when they
/// are recomputed.
void espl__shape_batches_add(espl__forest *forest, espl__context *context,
                             espl__shape_batches *batches, uint32_t tree);
/// Recompute the worlds of all trees in batches.
void espl__shape_batches_finish(espl__forest *forest, espl__context *context,
                                espl__shape_batches *batches);

#endif
