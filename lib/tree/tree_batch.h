// SPDX-License-Identifier: MIT
// Batches of small trees whose worlds are recomputed together: an element of the SIMD registers for
// each tree. The levels of one small tree are too narrow to fill the registers of the wide kernel.
// Each job of a batch write has its own batch: it adds each tree of which it stored locals, and
// recomputes the rest at its end.
#ifndef ESPALIER_LIB_TREE_TREE_BATCH_H
#define ESPALIER_LIB_TREE_TREE_BATCH_H

#include "lib/tree/writes.h"

enum { ESPL__BATCHED_SIZE = 128 }; ///< Upper bound of the slots of a tree in a batch.

/// Bit of espl__tree_batch.entries. The other bits are an index.
#define ESPL__HAS_NUMBERS UINT32_C(0x80000000)

/// Ranges of slots whose worlds are to be recomputed, one for each tree. {0}: none.
typedef struct espl__tree_batch {
    uint32_t count;
    uint32_t slots[ESPL__WIDTH_LIMIT];   // [count] first slot to be recomputed
    uint32_t ends[ESPL__WIDTH_LIMIT];    // [count] above it
    uint32_t entries[ESPL__WIDTH_LIMIT]; // [count] first entry of the tree, and ESPL__HAS_NUMBERS
    bool has_alarm;                      // a world of one of the ranges may be not finite
    // The list of all entries, up to those of the tree that was added last.
    const espl__write_source *source;
    const uint32_t *all_slots, *all_numbers;
    uint32_t limit;
} espl__tree_batch;

/// Tell whether a tree can be in a batch: it is small, has one root, and no node of it is
/// exceptional.
static inline bool espl__tree_can_batch(const espl__forest *forest, const espl__tree *tree)
{
    return forest->kernels->width > 1 && tree->used > 1 && tree->used <= ESPL__BATCHED_SIZE &&
           tree->exceptional == 0 && espl__tree_is_single(forest, tree);
}

/// Add the slots of a tree from `begin` on; preconditions: espl__tree_can_batch(), and lower slots have
/// their final worlds. The worlds from `begin` on are recomputed by this call, a later one, or
/// espl__tree_batch_finish(). Then overflowed worlds at or below changed nodes are counted as well.
/// The caller counts visited nodes and adds the layout debt.
/// @param writes  entries of the tree. Those of trees that are added one after the other follow each
///                other in one list, of which writes->first is the index.
void espl__tree_batch_add(espl__forest *forest, espl__context *context, espl__tree_batch *batch,
                          uint32_t begin, const espl__tree_writes *writes);
/// Recompute the worlds of all trees in a batch.
void espl__tree_batch_finish(espl__forest *forest, espl__context *context, espl__tree_batch *batch);

#endif
