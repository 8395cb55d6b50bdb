// SPDX-License-Identifier: MIT
// Batches of small trees whose worlds are recomputed together: an element of the SIMD registers for
// each tree. The levels of one small tree are too narrow to fill the registers of the wide kernel.
// Each job of a batch write has its own batch: it adds each tree of which it stored locals, and
// recomputes the rest at its end.
#ifndef ESPALIER_LIB_TREE_TREE_BATCH_H
#define ESPALIER_LIB_TREE_TREE_BATCH_H

#include "lib/tree/writes.h"

enum { ESPL__BATCHED_SIZE = 128 }; ///< Upper bound of the slots of a tree in a batch.

/// Ranges of slots whose worlds are to be recomputed, one for each tree. {0}: none.
typedef struct espl__tree_batch {
    uint32_t count;
    uint32_t shortest;                 // slots of the shortest one
    uint32_t slots[ESPL__WIDTH_LIMIT]; // [count] first slot to be recomputed
    uint32_t ends[ESPL__WIDTH_LIMIT];  // [count] above it
} espl__tree_batch;

/// Tell whether a tree can be in a batch: it is small, has one root, and no node of it is
/// exceptional. A remote pool has no batches: the kernel for several ranges reads a slot of each in
/// turn, which the processor does not foresee, and its trees would come in bursts between which the
/// memory is idle.
static inline bool espl__tree_can_batch(const espl__forest *forest, const espl__tree *tree)
{
    return tree->used - 2 <= ESPL__BATCHED_SIZE - 2 && tree->exceptional == 0 &&
           forest->kernels->width > 1 && !espl__forest_is_remote(forest) &&
           espl__tree_is_single(forest, tree);
}

/// Compose as many slots of each range as the shortest one has, and remove the ranges that end.
/// Precondition: all elements up to the width have a range.
void espl__tree_batch_compose(espl__forest *forest, espl__context *context,
                              espl__tree_batch *batch);

/// Add slots [begin, end) of a tree, up to its last one; preconditions: espl__tree_can_batch(), and
/// lower slots have their final worlds. These worlds are recomputed by this call, a later one, or
/// espl__tree_batch_finish(). The caller counts visited nodes, adds the layout debt and marks the worlds.
ESPL__INLINE void espl__tree_batch_add(espl__forest *forest, espl__context *context, uint32_t begin,
                                       uint32_t end)
{
    espl__tree_batch *const batch = context->batch;
    const uint32_t at = batch->count, left = end - begin;

    ESPL_CHECK_FULL(espl__tree_can_batch(forest, espl__tree_of(forest, begin)));
    ESPL_CHECK(at < forest->kernels->width && begin < end);
    batch->slots[at] = begin;
    batch->ends[at] = end;
    batch->count = at + 1;
    batch->shortest = at == 0 || left < batch->shortest ? left : batch->shortest;
    if (at + 1 == forest->kernels->width) {
        espl__tree_batch_compose(forest, context, batch);
    }
}
/// Recompute the worlds of all trees in a batch.
void espl__tree_batch_finish(espl__forest *forest, espl__context *context, espl__tree_batch *batch);

#endif
