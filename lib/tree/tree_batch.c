// SPDX-License-Identifier: MIT
// The batches of tree_batch.h. The kernel for several ranges composes one slot of each tree at a
// time. Where the shortest range ends the next tree takes its place, so that trees of any shape and
// size share a batch. The kernel for one range composes what is left at the end. Both give the same
// bits.
#include "lib/tree/tree_batch.h"

#include "lib/tree/propagate.h"

// Count the worlds of a tree that are not finite, at or below nodes that its entries changed.
static ESPL__APART void count_overflowed(espl__forest *forest, espl__context *context,
                                         const espl__tree_batch *batch, uint32_t slot,
                                         uint32_t entries)
{
    const espl__tree *const t = espl__tree_of(forest, slot);
    const uint32_t first = entries & ~ESPL__HAS_NUMBERS;
    const bool has_numbers = (entries & ESPL__HAS_NUMBERS) != 0;
    espl__tree_writes writes = {.source = batch->source,
                                .slots = batch->all_slots + first,
                                .numbers = has_numbers ? batch->all_numbers + first : NULL,
                                .first = first,
                                .lowest = t->base};

    while (first + writes.count < batch->limit &&
           writes.slots[writes.count] - t->base < t->capacity) {
        writes.count += 1;
    }
    ESPL_CHECK(writes.count != 0);
    context->counts.overflowed += espl__writes_count_overflowed(forest, &writes);
}

void espl__tree_batch_compose(espl__forest *forest, espl__context *context, espl__tree_batch *batch)
{
    const espl__kernels *const kernels = forest->kernels;
    const uint32_t length = batch->shortest;
    uint32_t count = 0, shortest = UINT32_MAX;

    ESPL_CHECK(batch->count != 0 && length != 0 && length < ESPL__BATCHED_SIZE);
    if (kernels->compose_ranges(forest->world, forest->local, forest->parent, batch->slots,
                                length) != 0) {
        batch->has_alarm = true;
    }
    for (uint32_t i = 0; batch->has_alarm && i < batch->count; ++i) {
        if (batch->slots[i] + length == batch->ends[i]) {
            count_overflowed(forest, context, batch, batch->ends[i] - 1, batch->entries[i]);
        }
    }
    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t next = batch->slots[i] + length, end = batch->ends[i];
        const uint32_t entries = batch->entries[i], rest = end - next - 1; // of an end: UINT32_MAX

        batch->slots[count] = next;
        batch->ends[count] = end;
        batch->entries[count] = entries;
        count += next < end ? 1 : 0;
        shortest = rest < shortest ? rest : shortest;
    }
    batch->count = count;
    batch->shortest = shortest + 1;
    batch->has_alarm = batch->has_alarm && count != 0;
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
        const uint32_t begin = batch->slots[i], end = batch->ends[i];
        const float alarm =
            kernels->compose(forest->world, forest->local, forest->parent, begin, end);

        if (alarm != 0 || batch->has_alarm) {
            count_overflowed(forest, context, batch, end - 1, batch->entries[i]);
        }
    }
    batch->count = 0;
    batch->has_alarm = false;
}
