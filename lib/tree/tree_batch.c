// SPDX-License-Identifier: MIT
// The batches of tree_batch.h. The kernel for several ranges composes one slot of each tree at a
// time. Where the shortest range ends the next tree takes its place, so that trees of any shape and
// size share a batch. The kernel for one range composes what is left at the end. Both give the same
// bits.
#include "lib/tree/tree_batch.h"

#include "lib/tree/propagate.h"
#include "lib/tree/worlds.h"

void espl__tree_batch_compose(espl__forest *forest, espl__context *context, espl__tree_batch *batch)
{
    const uint32_t length = batch->shortest;
    uint32_t count = 0, shortest = UINT32_MAX;

    ESPL_CHECK(batch->count != 0 && length != 0 && length < ESPL__BATCHED_SIZE);
    if (espl__worlds_compose_ranges(forest, batch->slots, length) != 0) {
        context->has_overflowed = true;
    }
    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t next = batch->slots[i] + length, end = batch->ends[i];
        const uint32_t rest = end - next - 1; // of an end: UINT32_MAX

        batch->slots[count] = next;
        batch->ends[count] = end;
        count += next < end ? 1 : 0;
        shortest = rest < shortest ? rest : shortest;
    }
    batch->count = count;
    batch->shortest = shortest + 1;
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
        espl__tree_batch_compose(forest, context, batch);
    }
    for (uint32_t i = 0; i < batch->count; ++i) {
        const float alarm = espl__worlds_put(forest, batch->slots[i], batch->ends[i]);

        context->has_overflowed = context->has_overflowed || alarm != 0;
    }
    batch->count = 0;
}
