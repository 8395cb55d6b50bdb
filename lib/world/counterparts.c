// SPDX-License-Identifier: MIT
// Counterparts at the public functions: espl_set_counterpart(), espl_find_counterpart(), espl_get_original().
// lib/store/counterparts.c keeps the links.
#include "lib/world/counterparts.h"

#include "lib/world/entity_slots.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

const char *const espl__original_fault = "The original has the tag of this world, or none.";

espl_status espl__check_original(const espl_world *world, espl_entity original)
{
    if (espl__is_pending(original)) {
        return ESPL_ERR_PENDING;
    }
    return espl__may_be_original(&world->store, original) ? ESPL_OK : ESPL_ERR_ARGUMENT;
}

// Link an entity and an original. Precondition: both were checked.
static espl_status link_entity(espl_world *world, espl_entity entity, espl_entity original)
{
    espl__counterparts *const links = &world->store.counterparts;
    const uint32_t other = espl__counterpart_of(links, original);

    if (other == entity.index) {
        return ESPL_OK;
    }
    if (other != UINT32_MAX) {
        return ESPL_ERR_EXISTS;
    }
    if (!espl__counterparts_reserve(links, &world->heap, 1, entity.index + (size_t)1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__counterparts_remove(links, &entity.index, 1);
    espl__counterpart_put(links, entity.index, original);
    return ESPL_OK;
}

// A null original removes the link.
static espl_status set_counterpart(espl_world *world, espl_entity entity, espl_entity original)
{
    if (world == NULL || world->is_playing) {
        return world == NULL ? ESPL_ERR_ARGUMENT : ESPL_ERR_BUSY;
    }
    espl_status status = espl__entity_check(&world->store, entity);

    if (status == ESPL_OK && espl_entity_is_null(original)) {
        espl__counterparts_remove(&world->store.counterparts, &entity.index, 1);
    } else if (status == ESPL_OK) {
        status = espl__check_original(world, original);
        status = status != ESPL_OK ? status : link_entity(world, entity, original);
    }
    if (status == ESPL_OK) {
        espl__store_mark_entities(&world->store, &entity, 1);
    }
    return status;
}

espl_status espl_set_counterpart(espl_world *world, espl_entity entity, espl_entity original)
{
    static const char *const call = "espl_set_counterpart";
    const espl__mention named[] = {{"entity", entity}, {"original", original}};

    ESPL__CHANGE_OR_RETURN(world, call)
    const espl_status status =
        ESPL__TAPED(world, set_counterpart(world, entity, original), .op = ESPL_TAPE_COUNTERPARTS,
                    .entities = &entity, .parents = &original, .count = 1);

    return espl__refuse_named(world, call, named, 2, status,
                              status == ESPL_ERR_EXISTS
                                  ? "The original has another counterpart in this world."
                                  : espl__original_fault);
}

espl_entity espl_find_counterpart(const espl_world *world, espl_entity original)
{
    const uint32_t index =
        world == NULL ? UINT32_MAX : espl__counterpart_of(&world->store.counterparts, original);

    return index == UINT32_MAX ? espl_entity_null() : espl__entity_at(&world->store, index);
}

espl_entity espl_get_original(const espl_world *world, espl_entity entity)
{
    return world != NULL && espl__entity_is_alive(&world->store, entity)
               ? espl__original_of(&world->store.counterparts, entity.index)
               : espl_entity_null();
}
