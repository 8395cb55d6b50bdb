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
    uint32_t shortest;                   // slots of the shortest one
    uint32_t slots[ESPL__WIDTH_LIMIT];   // [count] first slot to be recomputed
    uint32_t ends[ESPL__WIDTH_LIMIT];    // [count] above it
    uint32_t entries[ESPL__WIDTH_LIMIT]; // [count] first entry of the tree, and ESPL__HAS_NUMBERS
    bool has_alarm;                      // a world of one of the ranges may be not finite
    // The list of all entries, up to the last ones of the trees that were added.
    const espl__write_source *source;
    const uint32_t *all_slots, *all_numbers;
    uint32_t limit;
} espl__tree_batch;

/// Tell whether a tree can be in a batch: it is small, has one root, and no node of it is
/// exceptional.
static inline bool espl__tree_can_batch(const espl__forest *forest, const espl__tree *tree)
{
    return tree->used - 2 <= ESPL__BATCHED_SIZE - 2 && tree->exceptional == 0 &&
           forest->kernels->width > 1 && espl__tree_is_single(forest, tree);
}

/// Compose as many slots of each range as the shortest one has, and remove the ranges that end.
/// Precondition: all elements up to the width have a range.
void espl__tree_batch_compose(espl__forest *forest, espl__context *context,
                              espl__tree_batch *batch);

/// Add slots [begin, end) of a tree, up to its last one; preconditions: espl__tree_can_batch(), and
/// lower slots have their final worlds. These worlds are recomputed by this call, a later one, or
/// espl__tree_batch_finish(). Then overflowed worlds at or below changed nodes are counted as well.
/// The caller counts visited nodes and adds the layout debt.
/// @param writes  entries of the tree. Those of all trees that are added lie in one list, of which
///                writes->first is the index; the list may have the trees in another order.
ESPL__INLINE void espl__tree_batch_add(espl__forest *forest, espl__context *context, uint32_t begin,
                                       uint32_t end, const espl__tree_writes *writes)
{
    espl__tree_batch *const batch = context->batch;
    const uint32_t at = batch->count, left = end - begin;

    ESPL_CHECK_FULL(!forest->is_edited &&
                    espl__tree_can_batch(forest, espl__tree_of(forest, begin)));
    ESPL_CHECK(at < forest->kernels->width && begin < end);
    ESPL_CHECK(writes->count != 0 && writes->first < ESPL__HAS_NUMBERS);
    if (at == 0) {
        batch->source = writes->source;
        batch->all_slots = writes->slots - writes->first;
        batch->shortest = UINT32_MAX;
    }
    if (batch->limit < writes->first + writes->count) {
        batch->limit = writes->first + writes->count;
    }
    batch->entries[at] = writes->first;
    if (writes->numbers != NULL) {
        batch->all_numbers = writes->numbers - writes->first;
        batch->entries[at] |= ESPL__HAS_NUMBERS;
    }
    batch->slots[at] = begin;
    batch->ends[at] = end;
    batch->count = at + 1;
    batch->shortest = left < batch->shortest ? left : batch->shortest;
    if (at + 1 == forest->kernels->width) {
        espl__tree_batch_compose(forest, context, batch);
    }
}
/// Recompute the worlds of all trees in a batch.
void espl__tree_batch_finish(espl__forest *forest, espl__context *context, espl__tree_batch *batch);

#endif
