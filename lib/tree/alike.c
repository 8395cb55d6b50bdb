// SPDX-License-Identifier: MIT
#include "lib/tree/alike.h"

#include "lib/tree/propagate.h"

#include <string.h>

// --- Shapes ---

// Slots of trees of one shape have parents at the same distances from their roots. Two are compared at a
// time: as the halves of one number, both differ by the distance of the roots.
static bool are_alike(const uint32_t *parents, uint32_t a, uint32_t b, uint32_t size)
{
    const uint32_t *const x = parents + a, *const y = parents + b;
    const uint64_t distance = (uint64_t)a - b, both = (distance << 32) + distance;
    uint64_t differences = x[size - 1] - distance - y[size - 1]; // of the last one, if it is single

    for (size_t k = 1; k + 1 < size; k += 2) {
        uint64_t of_x, of_y;

        memcpy(&of_x, x + k, sizeof of_x);
        memcpy(&of_y, y + k, sizeof of_y);
        differences |= (of_x - of_y) ^ both;
    }
    return differences == 0;
}

// A few of the distances tell most shapes apart.
static uint32_t hash_of(const uint32_t *parents, uint32_t base, uint32_t size)
{
    return size + 3 * (parents[base + size / 2] - base) + 5 * (parents[base + size - 1] - base);
}

// --- Worlds ---

// Recompute the worlds of all trees of one shape that wait, and count those that are not finite.
static void compose_waiting(espl__forest *forest, espl__context *context, espl__alike *alike)
{
    const espl__kernels *const kernels = forest->kernels;
    float alarm = 0;

    if (2 * alike->count > kernels->width) {
        for (uint32_t i = alike->count; i < kernels->width; ++i) {
            alike->bases[i] = alike->bases[0]; // computed again, to the same bits
        }
        alarm = kernels->compose_alike(forest->world, forest->local, forest->parent, alike->bases,
                                       alike->size);
    } else {
        for (uint32_t i = 0; i < alike->count; ++i) {
            const uint32_t base = alike->bases[i];

            alarm += kernels->compose(forest->world, forest->local, forest->parent, base + 1,
                                      base + alike->size);
        }
    }
    for (uint32_t i = 0; alarm != 0 && i < alike->count; ++i) {
        const uint32_t base = alike->bases[i];

        espl__count_overflowed_slots(forest, context, base + 1, base + alike->size);
    }
    alike->count = 0;
}

void espl__waiting_add(espl__forest *forest, espl__context *context, espl__waiting *waiting,
                       uint32_t tree)
{
    const espl__tree *const t = &forest->trees[tree];
    const uint32_t *const parents = forest->parent;
    espl__alike *const alike =
        &waiting->of[hash_of(parents, t->base, t->used) % ESPL__ALIKE_SHAPES];

    ESPL_CHECK(!forest->is_edited);
    if (alike->count != 0 && (alike->size != t->used ||
                              !are_alike(parents, t->base, alike->bases[0], t->used))) {
        compose_waiting(forest, context, alike);
    }
    alike->size = t->used;
    alike->bases[alike->count++] = t->base;
    context->counts.nodes_visited += t->live - 1;
    if (t->used != t->live) {
        espl__tree_owe(forest, context, tree, t->used - t->live);
    }
    if (alike->count == forest->kernels->width) {
        compose_waiting(forest, context, alike);
    }
}

void espl__waiting_finish(espl__forest *forest, espl__context *context, espl__waiting *waiting)
{
    for (uint32_t i = 0; i < ESPL__ALIKE_SHAPES; ++i) {
        if (waiting->of[i].count != 0) {
            compose_waiting(forest, context, &waiting->of[i]);
        }
    }
}
