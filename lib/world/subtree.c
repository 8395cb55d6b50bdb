// SPDX-License-Identifier: MIT
// What is at an entity and below it: depth-first iteration without memory, and a breadth-first copy
// into the caller's arrays.
#include "lib/world/inside.h"

#include <string.h>

// --- Iteration ---

static espl_status begin(espl_world *world, espl_entity top, espl_subtree *subtree)
{
    uint32_t slot = 0;

    if (world == NULL || subtree == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    memset(subtree, 0, sizeof *subtree);
    const espl_status status = espl__find_slot(world, top, &slot);

    if (status != ESPL_OK) {
        return status;
    }
    subtree->state.world = world;
    subtree->state.top = slot;
    subtree->state.current = ESPL__NO_SLOT;
    subtree->state.noted = espl__iteration_begin(world, ESPL__ITERATES_SUBTREE, NULL, subtree, top);
    return ESPL_OK;
}

espl_status espl_subtree_begin(espl_world *world, espl_entity top, espl_subtree *subtree)
{
    return espl__refuse_why(world, "espl_subtree_begin", top, begin(world, top, subtree),
                            "subtree is NULL.");
}

bool espl_subtree_next(espl_subtree *subtree)
{
    if (subtree == NULL || subtree->state.world == NULL) {
        return false;
    }
    const espl_world *const world = subtree->state.world;
    const espl__forest *const forest = &world->forest;
    const uint32_t top = subtree->state.top, current = subtree->state.current;
    const uint32_t slot =
        current == ESPL__NO_SLOT ? top : espl__next_in_walk(forest, current, top, true);

    if (slot == ESPL__NO_SLOT) {
        espl_subtree_end(subtree);
        return false;
    }
    subtree->state.current = slot;
    subtree->entity = espl__entity_of_slot(world, slot);
    subtree->rank = slot - espl__tree_of(forest, slot)->base;
    return true;
}

void espl_subtree_end(espl_subtree *subtree)
{
    if (subtree == NULL || subtree->state.world == NULL) {
        return;
    }
    espl__iteration_end(subtree->state.world, subtree->state.noted);
    memset(subtree, 0, sizeof *subtree);
}

// --- Copy ---

// How many there are with everything that the extent takes along.
static size_t measure(const espl__forest *forest, uint32_t slot, espl_extent extent)
{
    if (extent == ESPL_EXTENT_OWNED) {
        return 1 + espl__count_owned(forest, slot);
    }
    return 1 + (extent == ESPL_EXTENT_SUBTREE ? espl__count_below(forest, slot) : 0);
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
        const bool is_bare = espl__slot_is(&c->world->forest, slot, ESPL__SLOT_BARE);

        c->out->locals[at] = is_bare ? espl_transform_identity() : espl__read_local(c->world, slot);
    }
    if (c->out->worlds != NULL) {
        c->out->worlds[at] = espl__read_world(c->world, slot);
    }
}

static void append_children(copy *c, uint32_t above, uint32_t parent, uint32_t depth)
{
    const espl__forest *const forest = &c->world->forest;

    for (uint32_t child = forest->links[above].first_child; child != ESPL__NO_SLOT;
         child = forest->links[child].next) {
        if (c->extent == ESPL_EXTENT_SUBTREE ||
            !espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK)) {
            append(c, child, parent, depth);
        }
    }
}

// The entities that were copied are the queue of those whose children come next. The end of a level
// is known without their depths.
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
    static const char *const call = "espl_copy_subtree";
    const uint32_t slot = espl__slot_or_none(world, top);

    if (capacity != 0 && !(espl__is_given(world, call, out, "out") &&
                           espl__is_given(world, call, out->entities, "out->entities"))) {
        return 0;
    }
    if (!is_extent(extent)) {
        (void)espl__refuse_why(world, call, top, ESPL_ERR_ARGUMENT,
                               "extent is none of espl_extent.");
        return 0;
    }
    if (slot == ESPL__NO_SLOT) {
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
