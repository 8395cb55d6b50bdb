// SPDX-License-Identifier: MIT
// The batches of tree_batch.h. The kernel for several ranges composes one slot of each tree at a
// time. Where the shortest range ends the next tree takes its place, so that trees of any shape and
// size share a batch. The kernel for one range composes what is left at the end. Both give the same
// bits.
#include "lib/tree/tree_batch.h"

#include "lib/tree/propagate.h"

// Compose as many slots of each range as the shortest one has, count the worlds that are not
// finite, and remove the ranges that end. Precondition: all elements up to the width have a range.
static void compose_shortest(espl__forest *forest, espl__context *context, espl__tree_batch *batch)
{
    const espl__kernels *const kernels = forest->kernels;
    uint32_t length = UINT32_MAX, count = 0;

    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t left = batch->ends[i] - batch->slots[i];

        length = left < length ? left : length;
    }
    ESPL_CHECK(batch->count != 0 && length != 0 && length < ESPL__BATCHED_SIZE);
    const float alarm =
        kernels->compose_ranges(forest->world, forest->local, forest->parent, batch->slots, length);

    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t next = batch->slots[i] + length, end = batch->ends[i];

        if (alarm != 0) {
            espl__count_overflowed_slots(forest, context, next - length, next);
        }
        batch->slots[count] = next;
        batch->ends[count] = end;
        count += next < end ? 1 : 0;
    }
    batch->count = count;
}

void espl__tree_batch_add(espl__forest *forest, espl__context *context, espl__tree_batch *batch,
                          uint32_t tree)
{
    const espl__tree *const t = &forest->trees[tree];

    ESPL_CHECK_FULL(!forest->is_edited && espl__tree_can_batch(forest, t));
    ESPL_CHECK(batch->count < forest->kernels->width);
    batch->slots[batch->count] = t->base + 1;
    batch->ends[batch->count++] = t->base + t->used;
    context->counts.nodes_visited += t->live - 1;
    if (t->used != t->live) {
        espl__tree_add_debt(forest, context, tree, t->used - t->live);
    }
    if (batch->count == forest->kernels->width) {
        compose_shortest(forest, context, batch);
    }
}

// A batch that is at most half full is composed tree by tree, because the kernel for several ranges
// costs as much as for a full batch.
void espl__tree_batch_finish(espl__forest *forest, espl__context *context, espl__tree_batch *batch)
{
    const espl__kernels *const kernels = forest->kernels;

    while (2 * batch->count > kernels->width) {
        for (uint32_t i = batch->count; i < kernels->width; ++i) {
            batch->slots[i] = batch->slots[0]; // composed several times to the same bits
        }
        compose_shortest(forest, context, batch);
    }
    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t begin = batch->slots[i], end = batch->ends[i];

        if (kernels->compose(forest->world, forest->local, forest->parent, begin, end) != 0) {
            espl__count_overflowed_slots(forest, context, begin, end);
        }
    }
    batch->count = 0;
}
