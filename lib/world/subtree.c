// SPDX-License-Identifier: MIT
// What is at an entity and below it: iteration level by level without memory, and a copy into the
// caller's arrays.
#include "lib/world/inside.h"

#include <string.h>

// --- Iteration ---

static espl_status begin(espl_world *world, espl_entity top, espl_subtree *subtree)
{
    uint32_t slot = 0;

    if (!ESPL_DEMAND(espl__hooks_of(world), world != NULL && subtree != NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    memset(subtree, 0, sizeof *subtree);
    const espl_status status = espl__find_slot(world, top, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    const espl__forest *const forest = &world->forest;
    const uint32_t rank = forest->rank[slot];

    subtree->state.world = world;
    subtree->state.run = forest->run[slot];
    subtree->state.begin = rank;
    subtree->state.end = rank + 1;
    subtree->state.below = espl__first_child(forest, espl__run_of(forest, slot), rank);
    world->iterations += 1;
    return ESPL_OK;
}

espl_status espl_subtree_begin(espl_world *world, espl_entity top, espl_subtree *subtree)
{
    return espl__refuse(world, "subtree iteration", top, begin(world, top, subtree));
}

// The next rank, of the dead too; false at the end. What is below a level is contiguous as well.
static bool step(const espl__forest *forest, espl_subtree *subtree)
{
    const espl__run *const run = &forest->runs[subtree->state.run];

    if (subtree->state.begin == subtree->state.end) {
        subtree->state.end = espl__first_child(forest, run, subtree->state.end);
        subtree->state.begin = subtree->state.below;
        subtree->state.below = espl__first_child(forest, run, subtree->state.begin);
    }
    if (subtree->state.begin == subtree->state.end) {
        return false;
    }
    subtree->rank = subtree->state.begin++;
    return true;
}

bool espl_subtree_next(espl_subtree *subtree)
{
    if (!ESPL_DEMAND(NULL, subtree != NULL) || subtree->state.world == NULL) {
        return false;
    }
    const espl_world *const world = subtree->state.world;
    const espl__forest *const forest = &world->forest;
    const uint32_t base = forest->runs[subtree->state.run].base;

    while (step(forest, subtree)) {
        const uint32_t slot = forest->order[base + subtree->rank];

        if (!espl__slot_is(forest, slot, ESPL__SLOT_GHOST)) {
            subtree->entity = espl__entity_of_slot(world, slot);
            return true;
        }
    }
    espl_subtree_end(subtree);
    return false;
}

void espl_subtree_end(espl_subtree *subtree)
{
    if (!ESPL_DEMAND(NULL, subtree != NULL) || subtree->state.world == NULL) {
        return;
    }
    ESPL_CHECK(subtree->state.world->iterations > 0);
    subtree->state.world->iterations -= 1;
    memset(subtree, 0, sizeof *subtree);
}

// --- Copy ---

// How many there are with everything that the extent takes along.
static size_t measure(const espl__forest *forest, uint32_t slot, espl_extent extent)
{
    if (extent == ESPL_EXTENT_OWNED) {
        return 1 + espl__living_owned(forest, slot);
    }
    return 1 + (extent == ESPL_EXTENT_SUBTREE ? espl__living_below(forest, slot) : 0);
}

// What all of a copy have in common.
typedef struct copy {
    const espl_world *world;
    espl_extent extent;
    const espl_subtree_arrays *out;
    size_t count; // copied so far
} copy;

static void append(copy *c, uint32_t slot, uint32_t parent, uint32_t depth)
{
    const size_t at = c->count++;

    c->out->entities[at] = espl__entity_of_slot(c->world, slot);
    if (c->out->parents != NULL) {
        c->out->parents[at] = parent;
    }
    if (c->out->depths != NULL) {
        c->out->depths[at] = depth;
    }
    if (c->out->locals != NULL) {
        const bool is_pass = espl__slot_is(&c->world->forest, slot, ESPL__SLOT_PASS);

        c->out->locals[at] = is_pass ? espl_transform_identity() : espl__read_local(c->world, slot);
    }
    if (c->out->worlds != NULL) {
        c->out->worlds[at] = espl__read_world(c->world, slot);
    }
}

static void append_children(copy *c, uint32_t above, uint32_t parent, uint32_t depth)
{
    const espl__forest *const forest = &c->world->forest;

    for (uint32_t child = espl__living_first_child(forest, above); child != ESPL__NO_SLOT;
         child = espl__living_behind(forest, child, above)) {
        if (c->extent == ESPL_EXTENT_SUBTREE ||
            !espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK)) {
            append(c, child, parent, depth);
        }
    }
}

// The entities that are out already are the queue of what is still to be looked below. Where a
// level ends is known without their depths.
static void copy_below(copy *c)
{
    const espl__record *const records = c->world->store.records;
    size_t level_end = c->count;
    uint32_t depth = 1;

    for (size_t at = 0; at < c->count; ++at) {
        if (at == level_end) {
            level_end = c->count;
            depth += 1;
        }
        append_children(c, records[c->out->entities[at].index].slot, (uint32_t)at, depth);
    }
}

static bool is_extent(espl_extent extent)
{
    return extent == ESPL_EXTENT_ENTITY || extent == ESPL_EXTENT_OWNED ||
           extent == ESPL_EXTENT_SUBTREE;
}

size_t espl_copy_subtree(const espl_world *world, espl_entity top, espl_extent extent,
                         size_t capacity, const espl_subtree_arrays *out)
{
    const bool has_room = capacity == 0 || (out != NULL && out->entities != NULL);
    const uint32_t slot = espl__slot_or_none(world, top);

    if (!ESPL_DEMAND(espl__hooks_of(world), has_room && is_extent(extent)) ||
        slot == ESPL__NO_SLOT) {
        return 0;
    }
    const size_t count = measure(&world->forest, slot, extent);

    if (count <= capacity) {
        copy c = {.world = world, .extent = extent, .out = out};

        append(&c, slot, ESPL_NO_RANK, 0);
        if (extent != ESPL_EXTENT_ENTITY) {
            copy_below(&c);
        }
        ESPL_CHECK(c.count == count);
    }
    return count;
}
