// SPDX-License-Identifier: MIT
// Immediate calls that destroy entities: one, an array, all of a world.
//
// They edit trees directly and not by a playback, because a destroy must not fail for lack of memory.
// Entities are removed one by one, without an undo log: once all handles have been checked, nothing
// can fail. What would need memory, for example a new tree for a child that becomes a root, is left to
// espl__settle(), which later calls repeat. Invariant: nothing is allocated between
// espl__destroy_begin() and espl__destroy_end().
#include "lib/world/destroy.h"

#include "lib/base/prefetch.h"
#include "lib/tree/edit_links.h"
#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/structure.h"
#include "lib/world/tape.h"

// --- An edit that destroys ---

// Called by the edit for each entity that it removed from its tree.
static void remove_entity(void *context, uint32_t entity)
{
    espl__entity_remove(context, entity);
}

void espl__destroy_begin(espl_world *world, espl__edit *edit)
{
    espl__forest_begin_loose(&world->forest);
    espl__edit_init(edit, &world->forest);
    edit->is_unlogged = true;
    edit->destroyed = remove_entity;
    edit->destroyed_context = &world->store;
    espl__heap_forbid(&world->heap);
}

espl_status espl__destroy_end(espl_world *world, const espl__edit *edit, espl_status remark)
{
    ESPL_CHECK(edit->destroyed == remove_entity);
    espl__rows_settle(&world->store, NULL, NULL);
    espl__heap_allow(&world->heap);
    espl__context_add(&world->forest.context, &edit->context);
    (void)espl__settle(world);
    // A survivor whose world was not finite may have been destroyed after that, or moved.
    return edit->context.has_overflowed && espl__is_still_overflowed(&world->forest) ? ESPL_OVERFLOW
                                                                                     : remark;
}

// --- One entity ---

// Prefetch what a destroy reads of a node, and its chunk, because each would be waited for in turn.
static inline void prefetch_destroyed(const espl_world *world, uint32_t slot, uint32_t index)
{
    const espl__forest *const forest = &world->forest;
    const espl__record *const record = &world->store.records[index];

    espl__prefetch_to_write(&forest->links[slot]);
    espl__prefetch_to_write(&forest->flags[slot]);
    espl__prefetch_to_write(&forest->parent[slot]);
    espl__prefetch(&forest->tree[slot]);
    espl__prefetch_to_write(&world->store.chunks[record->chunk]);
}

// Prefetch the nodes whose links change, the header of the tree, and the row. Precondition: the node
// and its chunk were prefetched.
static inline void prefetch_neighbours(const espl_world *world, uint32_t slot, uint32_t index)
{
    const espl__forest *const forest = &world->forest;
    const espl__links links = forest->links[slot];
    const uint32_t parent = forest->parent[slot];

    espl__prefetch_to_write(espl__tree_of(forest, slot));
    espl__prefetch_element(forest->links, links.first_child, sizeof *forest->links);
    espl__prefetch_element(forest->links, links.previous, sizeof *forest->links);
    espl__prefetch_element(forest->links, links.next, sizeof *forest->links);
    espl__prefetch_element(forest->links, parent, sizeof *forest->links);
    espl__prefetch_element(forest->flags, links.first_child, sizeof *forest->flags);
    espl__prefetch_element(forest->parent, links.first_child, sizeof *forest->parent);
    espl__row_prefetch(&world->store, index);
}

// Precondition: the call was checked. @return ESPL_OK, ESPL_LOSSY, ESPL_OVERFLOW.
static espl_status destroy_at(espl_world *world, uint32_t slot, uint32_t index, espl_extent extent)
{
    const bool is_far = espl__forest_is_far(&world->forest);
    espl__edit edit;

    if (is_far) {
        prefetch_destroyed(world, slot, index);
    }
    espl__destroy_begin(world, &edit);
    if (is_far) {
        prefetch_neighbours(world, slot, index);
    }
    const espl_status remark = espl__edit_destroy(&edit, slot, extent);

    return espl__destroy_end(world, &edit, remark);
}

// A refused destroy is not on the tape.
espl_status espl_destroy(espl_world *world, espl_entity entity, espl_extent extent)
{
    uint32_t slot = 0;

    ESPL__CHANGE_OR_RETURN(world, "espl_destroy")
    espl_status status = espl__check_structural(world);

    status = status != ESPL_OK ? status : espl__find_slot(world, entity, &slot);
    if (status == ESPL_OK && (unsigned)extent > ESPL_EXTENT_SUBTREE) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status != ESPL_OK) {
        return espl__refuse_why(world, "espl_destroy", entity, status,
                                "extent is none of espl_extent.");
    }
    status = ESPL__TAPED(world, destroy_at(world, slot, entity.index, extent),
                         .op = ESPL_TAPE_DESTROY, .entity = entity, .word = (uint32_t)extent);
    ESPL_CHECK(status >= 0 && !espl__entity_is_alive(&world->store, entity));
    return status;
}

// --- An array ---

// @param refused  out: the first entity that is not alive; unchanged where all are.
static espl_status check_all_living(const espl_world *world, const espl_entity *entities,
                                    size_t count, size_t *refused)
{
    for (size_t i = 0; i < count; ++i) {
        const espl_status status = espl__check_living(world, entities[i]);

        if (status != ESPL_OK) {
            *refused = i;
            return status;
        }
    }
    return ESPL_OK;
}

// Precondition: all were alive. An entity that the destroy of an earlier one removed is skipped.
static espl_status destroy_all(espl_world *world, const espl_entity *entities, size_t count,
                               espl_extent extent)
{
    espl_status remark = ESPL_OK;
    espl__edit edit;

    ESPL_CHECK(count != 0 && (unsigned)extent <= ESPL_EXTENT_SUBTREE);
    espl__destroy_begin(world, &edit);
    for (size_t i = 0; i < count; ++i) {
        if (espl__entity_is_alive(&world->store, entities[i])) {
            const espl_status status =
                espl__edit_destroy(&edit, world->store.records[entities[i].index].slot, extent);

            remark = status != ESPL_OK ? status : remark;
        }
    }
    return espl__destroy_end(world, &edit, remark);
}

// All handles are checked before anything is destroyed, so that a refused call has changed nothing.
static espl_status destroy_many(espl_world *world, const espl_entity *entities, size_t count,
                                espl_extent extent, size_t *refused)
{
    espl_status status = espl__check_structural(world);

    if (status == ESPL_OK && (unsigned)extent > ESPL_EXTENT_SUBTREE) {
        status = ESPL_ERR_ARGUMENT;
    }
    status = status != ESPL_OK ? status : check_all_living(world, entities, count, refused);
    return status != ESPL_OK || count == 0 ? status : destroy_all(world, entities, count, extent);
}

espl_status espl__destroy_listed(espl_world *world, const espl_entity *entities, size_t count,
                                 espl_extent extent, const char *call)
{
    size_t first = 0;
    const espl_status status = ESPL__TAPED(
        world, destroy_many(world, entities, count, extent, &first), .op = ESPL_TAPE_DESTROY_MANY,
        .entities = entities, .count = count, .word = (uint32_t)extent);

    return espl__refuse_call(world, call, status, NULL);
}

espl_status espl_destroy_many(espl_world *world, const espl_entity *entities, size_t count,
                              espl_extent extent, size_t *refused)
{
    static const char *const call = "espl_destroy_many";
    size_t first = SIZE_MAX;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world == NULL || (entities == NULL && count != 0)) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT,
                                 "entities is NULL, but the count is not 0.");
    }
    const espl_status status = ESPL__TAPED(
        world, destroy_many(world, entities, count, extent, &first), .op = ESPL_TAPE_DESTROY_MANY,
        .entities = entities, .count = count, .word = (uint32_t)extent);

    if (first == SIZE_MAX) {
        return espl__refuse_call(world, call, status, "extent is none of espl_extent.");
    }
    ESPL_CHECK(status < 0 && first < count);
    const espl__mention named = {"entity", entities[first]};

    return espl__refuse_at(world, call, &(espl__refused_at){first, count, refused}, &named, 1,
                           status);
}

// --- Clear ---

// Keep the rows of all archetypes as if they had been reserved, because a world that is cleared is
// filled again.
static void keep_rows(espl__store *store)
{
    const size_t archetypes = espl__array_length(store->archetypes);

    for (uint32_t a = 0; a < archetypes; ++a) {
        const espl_status status = espl__rows_keep(store, a, 0);

        // Keeping what is there takes no memory.
        ESPL_CHECK(status == ESPL_OK);
        (void)status;
    }
}

// Records are walked from the last index down, so that index 0 is freed last and reused first.
static espl_status clear_world(espl_world *world)
{
    const espl_status busy = espl__check_structural(world);
    espl__edit edit;

    if (busy != ESPL_OK) {
        return busy;
    }
    keep_rows(&world->store);
    espl__destroy_begin(world, &edit);
    for (size_t index = espl__array_length(world->store.records); index-- > 0;) {
        const espl__record *const record = &world->store.records[index];

        if (espl__index_is_alive(&world->store, (uint32_t)index) &&
            espl__is_root(&world->forest, record->slot)) {
            (void)espl__edit_destroy(&edit, record->slot, ESPL_EXTENT_SUBTREE);
        }
    }
    ESPL_CHECK(world->store.alive_count == 0);
    espl__headers_forget(&world->forest);
    return espl__destroy_end(world, &edit, ESPL_OK);
}

espl_status espl_world_clear(espl_world *world)
{
    static const char *const call = "espl_world_clear";

    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status status = ESPL__TAPED(world, clear_world(world), .op = ESPL_TAPE_CLEAR);

    return espl__refuse_call(world, call, status, NULL);
}
