// SPDX-License-Identifier: MIT
// Handles to slots and back, where the fast paths of entity_slots.h do not suffice.
#include "lib/world/entity_slots.h"

espl_status espl__check_living(const espl_world *world, espl_entity entity)
{
    return world != NULL ? espl__entity_check(&world->store, entity) : ESPL_ERR_ARGUMENT;
}

// The slot of a living entity, or ESPL__NO_SLOT: for calls that have no status, where a dead handle
// has an empty answer.
uint32_t espl__slot_or_none(const espl_world *world, espl_entity entity)
{
    if (world == NULL || espl__entity_check(&world->store, entity) != ESPL_OK) {
        return ESPL__NO_SLOT;
    }
    return world->store.records[entity.index].slot;
}

// The handle of the entity at a slot; null for ESPL__NO_SLOT.
espl_entity espl__entity_of_slot(const espl_world *world, uint32_t slot)
{
    ESPL_CHECK(slot == ESPL__NO_SLOT || slot < world->forest.end);
    return slot == ESPL__NO_SLOT ? espl_entity_null()
                                 : espl__entity_at(&world->store, world->forest.links[slot].entity);
}
