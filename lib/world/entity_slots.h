// SPDX-License-Identifier: MIT
// The slot of an entity, and the entity of a slot.
#ifndef ESPALIER_LIB_WORLD_ENTITY_SLOTS_H
#define ESPALIER_LIB_WORLD_ENTITY_SLOTS_H

#include "lib/world/world_internal.h"

/// Why a handle names no living entity, or ESPL_OK. A pending handle is ESPL_ERR_PENDING.
espl_status espl__check_living(const espl_world *world, espl_entity entity);

/// Find the slot of a living entity with a transform of its own; false where there is none,
/// whatever the world and the handle are. Nearly every read and write begins with it: a read at
/// random waits for memory, and more reads wait side by side the fewer instructions each takes. The
/// handle by address, for the reason of espl__is_alive().
ESPL__INLINE bool espl__has_placed(const espl_world *world, const espl_entity *entity,
                                   uint32_t *slot)
{
    if (world == NULL ||
        !espl__is_alive_and_placed(&world->store, entity->index, entity->generation)) {
        return false;
    }
    *slot = world->store.records[entity->index].slot;
    return true;
}

/// Find the slot of a living entity. @return ESPL_OK, or why there is none; `*slot` is unchanged
/// then.
static inline espl_status espl__find_slot(const espl_world *world, espl_entity entity,
                                          uint32_t *slot)
{
    if (world == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__entity_is_alive(&world->store, entity)) {
        return espl__check_living(world, entity);
    }
    *slot = world->store.records[entity.index].slot;
    return ESPL_OK;
}

/// Find the slot of a living entity with a transform of its own; ESPL_ERR_NO_TRANSFORM where it has
/// none.
static inline espl_status espl__find_placed(const espl_world *world, espl_entity entity,
                                            uint32_t *slot)
{
    const espl_status status = espl__find_slot(world, entity, slot);

    if (status == ESPL_OK && espl__slot_is(&world->forest, *slot, ESPL__SLOT_BARE)) {
        return ESPL_ERR_NO_TRANSFORM;
    }
    return status;
}

/// Slot of a living entity; ESPL__NO_SLOT for any other handle, and without a world.
uint32_t espl__slot_or_none(const espl_world *world, espl_entity entity);

/// Handle of the entity at a slot; null for ESPL__NO_SLOT. Precondition: the slot is not a hole.
espl_entity espl__entity_of_slot(const espl_world *world, uint32_t slot);

#endif
