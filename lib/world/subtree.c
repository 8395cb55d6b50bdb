// SPDX-License-Identifier: MIT
// An entity and its descendants: espl_subtree_next() iterates over them in depth-first order
// without memory, and espl_copy_subtree() copies them in breadth-first order into arrays of the
// caller.
//
// An iteration keeps the world busy from begin to end, so that no structural call moves slots under
// it. A copy is one call and needs no such guard.
#include "lib/world/entity_slots.h"
#include "lib/world/iterations.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"

#include <string.h>

// --- Iteration ---

// Postcondition of a refusal: the subtree is zeros, if there is one, so that espl_subtree_next()
// yields false.
static espl_status begin_subtree(espl_world *world, espl_entity top, espl_subtree *subtree)
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
    const espl__iteration_id id =
        espl__iteration_begin(world, ESPL__ITERATES_SUBTREE, NULL, subtree, top);

    subtree->state.noted = id.number;
    subtree->state.turn = id.turn;
    return ESPL_OK;
}

espl_status espl_subtree_begin(espl_world *world, espl_entity top, espl_subtree *subtree)
{
    return espl__refuse_why(world, "espl_subtree_begin", top, begin_subtree(world, top, subtree),
                            "subtree is NULL.");
}

static espl__iteration_id id_of(const espl_subtree *subtree)
{
    return (espl__iteration_id){subtree->state.noted, subtree->state.turn};
}

// Trap for a subtree whose iteration another copy of it has ended. It becomes zeros, so that it
// traps once.
static void end_stale_subtree(espl_subtree *subtree, const char *call)
{
    espl_world *const world = subtree->state.world;

    memset(subtree, 0, sizeof *subtree);
    espl__trap_ended(world, call, "espl_subtree");
}

bool espl_subtree_next(espl_subtree *subtree)
{
    if (subtree == NULL || subtree->state.world == NULL) {
        return false;
    }
    if (!espl__iteration_is_open(subtree->state.world, id_of(subtree))) {
        end_stale_subtree(subtree, "espl_subtree_next");
        return false;
    }
    const espl_world *const world = subtree->state.world;
    const espl__forest *const forest = &world->forest;
    const uint32_t top = subtree->state.top, current = subtree->state.current;
    ESPL_CHECK(current == ESPL__NO_SLOT || current < forest->end);
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
    if (espl__iteration_end(subtree->state.world, id_of(subtree))) {
        memset(subtree, 0, sizeof *subtree);
    } else {
        end_stale_subtree(subtree, "espl_subtree_end");
    }
}

// --- Copy ---

// Entities that the extent includes, with the top.
static size_t count_extent(const espl__forest *forest, uint32_t slot, espl_extent extent)
{
    if (extent == ESPL_EXTENT_OWNED) {
        return 1 + espl__count_owned(forest, slot);
    }
    return 1 + (extent == ESPL_EXTENT_SUBTREE ? espl__count_below(forest, slot) : 0);
}

// A copy under way.
typedef struct copy {
    const espl_world *world;
    espl_extent extent;
    const espl_subtree_arrays *out;
    size_t count; // copied so far
} copy;

// Write the model pose of the entity that is appended: by the operations that compose worlds, so that it is
// what the world would be if the top had no parent and the identity for its pose. An entity that shows its
// parent's transform has its parent's model.
static void put_model(const copy *c, uint32_t slot, uint32_t parent, const espl_transform *local)
{
    const espl__forest *const forest = &c->world->forest;
    espl_transform *const out = &c->out->models[c->count - 1];
    espl_pose pose = espl__pose_identity();

    *out = *local;
    if (parent != ESPL_NO_RANK) {
        const espl_transform *const above = &c->out->models[parent];
        const espl_pose frame = espl__pose_of(above), below = espl__pose_of(local);

        if (espl__slot_is(forest, slot, ESPL__SLOT_BARE) || espl__slot_copies(forest, slot)) {
            *out = *above;
            return;
        }
        pose = espl__pose_compose(&frame, above->stretch, &below);
    }
    memcpy(out, &pose, sizeof pose);
}

// Append the entity at a slot. Arrays that the caller left NULL are skipped. An entity without a
// transform has the identity as its local transform.
// @param parent  rank of the parent in the copy.
static void append(copy *c, uint32_t slot, uint32_t parent, uint32_t depth)
{
    const size_t at = c->count++;

    ESPL_CHECK(parent == ESPL_NO_RANK || parent < at);
    c->out->entities[at] = espl__entity_of_slot(c->world, slot);
    if (c->out->parents != NULL) {
        c->out->parents[at] = parent;
    }
    if (c->out->depths != NULL) {
        c->out->depths[at] = depth;
    }
    if (c->out->locals != NULL || c->out->models != NULL) {
        const bool is_bare = espl__slot_is(&c->world->forest, slot, ESPL__SLOT_BARE);
        const espl_transform local =
            is_bare ? espl__transform_identity() : espl__read_local(c->world, slot);

        if (c->out->locals != NULL) {
            c->out->locals[at] = local;
        }
        if (c->out->models != NULL) {
            put_model(c, slot, parent, &local);
        }
    }
    if (c->out->worlds != NULL) {
        c->out->worlds[at] = espl__read_world(c->world, slot);
    }
}

// Append the children of a slot that the extent includes: a free link is not followed by an owned
// extent.
static void append_children(copy *c, uint32_t above, uint32_t parent, uint32_t depth)
{
    const espl__forest *const forest = &c->world->forest;

    ESPL_CHECK_FULL(c->extent != ESPL_EXTENT_ENTITY && above < forest->end);
    for (uint32_t child = forest->links[above].first_child; child != ESPL__NO_SLOT;
         child = forest->links[child].next) {
        if (c->extent == ESPL_EXTENT_SUBTREE ||
            !espl__slot_is(forest, child, ESPL__SLOT_FREE_LINK)) {
            append(c, child, parent, depth);
        }
    }
}

// Append all descendants of the top. The entities that were copied are the queue of a breadth-first
// walk. Depths need no array: a level ends where the copy ended when the level began.
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

// Counts first, so that a copy that does not fit writes nothing.
size_t espl_copy_subtree(const espl_world *world, espl_entity top, espl_extent extent,
                         size_t capacity, const espl_subtree_arrays *out)
{
    static const char *const call = "espl_copy_subtree";
    const uint32_t slot = espl__slot_or_none(world, top);

    if (capacity != 0 && !(espl__is_given(world, call, out, "out") &&
                           espl__is_given(world, call, out->entities, "out->entities"))) {
        return 0;
    }
    if (out != NULL && ESPL__ASKS_LATER(out)) {
        (void)espl__refuse_later(world, call);
        return 0;
    }
    if ((unsigned)extent > ESPL_EXTENT_SUBTREE) {
        (void)espl__refuse_why(world, call, top, ESPL_ERR_ARGUMENT,
                               "extent is none of espl_extent.");
        return 0;
    }
    if (slot == ESPL__NO_SLOT) {
        return 0;
    }
    const size_t count = count_extent(&world->forest, slot, extent);

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
