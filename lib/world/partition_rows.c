// SPDX-License-Identifier: MIT
// The weights of rows, and the cutter (lib/world/partition_rows.h).
#include "lib/world/partition_rows.h"

// Up to this many rows a row weighs what a write of it may visit, which takes a few more reads for
// each.
enum { FEW_ROWS = 2 * ESPL_PARALLEL_JOB_LIMIT };
// Cost of finding and writing a row, in world transforms recomputed.
enum { ROW_COST = 4 };

// --- Weights ---

// Upper bound of the nodes that a write at a slot visits: descendants have higher slots.
static uint32_t reach_of(const espl__forest *forest, uint32_t slot)
{
    const espl__tree *const tree = espl__tree_of(forest, slot);
    ESPL_CHECK_FULL(slot >= tree->base && slot < tree->base + tree->used);
    const uint32_t behind = tree->base + tree->used - slot;

    return behind < tree->live ? behind : tree->live;
}

espl__scale espl__partition_scale(const espl__partition *p, const espl__partition_chunk *at)
{
    const espl__store *const store = &p->world->store;

    if (espl__archetype_has(store, at->archetype, ESPL_SOLO)) {
        return ESPL__SCALE_ONE;
    }
    if (p->row_count <= FEW_ROWS) {
        return ESPL__SCALE_REACH;
    }
    return espl__archetype_has(store, at->archetype, ESPL_ROOT) ? ESPL__SCALE_SIZE
                                                                : ESPL__SCALE_ONE;
}

uint32_t espl__row_weight(const espl__forest *forest, espl__scale scale, uint32_t slot,
                          uint32_t tree)
{
    return scale == ESPL__SCALE_SIZE ? forest->trees[tree].live : reach_of(forest, slot);
}

uint64_t espl__chunk_weigh(const espl__partition *p, const espl__partition_chunk *at,
                           uint32_t *weights)
{
    const espl__store *const store = &p->world->store;
    const espl__forest *const forest = &p->world->forest;
    const espl__chunk *const chunk = &store->chunks[at->chunk];
    const espl__scale scale = espl__partition_scale(p, at);
    uint64_t sum = 0;

    if (scale == ESPL__SCALE_ONE) {
        return chunk->count;
    }
    for (uint32_t row = 0; row < chunk->count; ++row) {
        const uint32_t slot = espl__row_slot(store, chunk, row);
        const uint32_t weight = espl__row_weight(forest, scale, slot, forest->tree[slot]);

        if (weights != NULL) {
            weights[row] = weight;
        }
        sum += weight;
    }
    return sum;
}

// --- Cutting ---

espl__cutter espl__cutter_begin(espl__partition *p, uint64_t whole, uint32_t job_limit)
{
    const uint64_t most = (whole + ROW_COST * (uint64_t)p->row_count) / p->world->job_cost + 1;
    const uint64_t jobs = most < job_limit ? most : job_limit;
    const uint64_t part = whole / jobs + (whole % jobs != 0 ? 1 : 0);

    ESPL_CHECK(job_limit != 0 && part * jobs >= whole);
    return (espl__cutter){.part = part, .next = part, .weights = p->weights};
}

uint64_t espl__cutter_room(espl__cutter *c)
{
    if (c->sum >= c->next) {
        c->job += 1;
        c->next = (c->sum / c->part + 1) * c->part;
    }
    return c->next - c->sum;
}
