// SPDX-License-Identifier: MIT
// The batches of shape_batch.h: comparison of shapes, and the choice between the kernel for trees
// of one shape and the kernel for ranges of slots. Both give the same bits.
#include "lib/tree/shape_batch.h"

#include "lib/tree/propagate.h"

#include <string.h>

// --- Shapes ---

// Tell whether the trees at slots a and b have one shape: the parents of corresponding slots differ
// by the distance of the roots. Two parents are compared at a time, as the halves of one number. No
// carry passes between the halves, because a parent plus the distance is at most the end of a
// range.
static bool are_alike(const uint32_t *parents, uint32_t a, uint32_t b, uint32_t size)
{
    const uint32_t *const x = parents + a, *const y = parents + b;
    const uint64_t distance = (uint64_t)a - b, both = (distance << 32) + distance;
    uint64_t differences = x[size - 1] - distance - y[size - 1]; // of an odd last slot

    ESPL_CHECK_FULL(size > 1 && size <= ESPL__ALIKE_LIMIT);
    for (size_t k = 1; k + 1 < size; k += 2) {
        uint64_t of_x, of_y;

        memcpy(&of_x, x + k, sizeof of_x);
        memcpy(&of_y, y + k, sizeof of_y);
        differences |= (of_x - of_y) ^ both;
    }
    return differences == 0;
}

// Hash a shape by its size and two of its parents, because they distinguish most shapes.
static uint32_t hash_of(const uint32_t *parents, uint32_t base, uint32_t size)
{
    return size + 3 * (parents[base + size / 2] - base) + 5 * (parents[base + size - 1] - base);
}

// --- Worlds ---

// Recompute the worlds of all trees of a batch below their roots, count those that are not finite,
// and empty the batch. A batch that is at most half full is composed tree by tree, because the
// kernel of all lanes costs as much as for a full batch.
static void compose_same_shape(espl__forest *forest, espl__context *context,
                               espl__shape_batch *batch)
{
    const espl__kernels *const kernels = forest->kernels;
    float alarm = 0;

    ESPL_CHECK(batch->count != 0 && batch->count <= kernels->width);
    ESPL_CHECK(batch->size <= ESPL__ALIKE_LIMIT);
    if (2 * batch->count > kernels->width) {
        for (uint32_t i = batch->count; i < kernels->width; ++i) {
            batch->bases[i] = batch->bases[0]; // recomputed to the same bits
        }
        alarm = kernels->compose_alike(forest->world, forest->local, forest->parent, batch->bases,
                                       batch->size);
    } else {
        for (uint32_t i = 0; i < batch->count; ++i) {
            const uint32_t base = batch->bases[i];

            alarm += kernels->compose(forest->world, forest->local, forest->parent, base + 1,
                                      base + batch->size);
        }
    }
    for (uint32_t i = 0; alarm != 0 && i < batch->count; ++i) {
        const uint32_t base = batch->bases[i];

        espl__count_overflowed_slots(forest, context, base + 1, base + batch->size);
    }
    batch->count = 0;
}

// A batch has one shape. A tree of another shape with the same hash completes the batch first.
void espl__shape_batches_add(espl__forest *forest, espl__context *context,
                             espl__shape_batches *batches, uint32_t tree)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t *const parents = forest->parent;
    espl__shape_batch *const batch =
        &batches->by_hash[hash_of(parents, t->base, t->used) % ESPL__SHAPE_BATCHES];

    ESPL_CHECK_FULL(!forest->is_edited && espl__tree_can_batch(forest, t));
    ESPL_CHECK(batch->count < forest->kernels->width);
    if (batch->count != 0 &&
        (batch->size != t->used || !are_alike(parents, t->base, batch->bases[0], t->used))) {
        compose_same_shape(forest, context, batch);
    }
    batch->size = t->used;
    batch->bases[batch->count++] = t->base;
    context->counts.nodes_visited += t->live - 1;
    if (t->used != t->live) {
        espl__tree_add_debt(forest, context, tree, t->used - t->live);
    }
    if (batch->count == forest->kernels->width) {
        compose_same_shape(forest, context, batch);
    }
}

void espl__shape_batches_finish(espl__forest *forest, espl__context *context,
                                espl__shape_batches *batches)
{
    for (uint32_t i = 0; i < ESPL__SHAPE_BATCHES; ++i) {
        if (batches->by_hash[i].count != 0) {
            compose_same_shape(forest, context, &batches->by_hash[i]);
        }
    }
}
