// SPDX-License-Identifier: MIT
// Handles to slots, many at once. Handles are anywhere in the records, and their slots anywhere in the
// pool, so each step of a loop over some handles prefetches what the next step reads.
#ifndef ESPALIER_LIB_WORLD_HANDLES_H
#define ESPALIER_LIB_WORLD_HANDLES_H

#include "lib/base/prefetch.h"
#include "lib/world/inside.h"

/// Handles in an array of the caller's, perhaps as a field of larger structs.
typedef struct espl__handles {
    const unsigned char *first;
    size_t stride; // bytes from one to the next
} espl__handles;

static inline espl_entity espl__handle_at(const espl__handles *handles, size_t i)
{
    return *(const espl_entity *)(const void *)(handles->first + i * handles->stride);
}

/// What handles are looked up in: to be copied, so that no store can change it.
typedef struct espl__registry {
    const espl__record *records; // [count]
    size_t count;
    const uint8_t *flags; // by slot
} espl__registry;

static inline espl__registry espl__registry_of(const espl_world *world)
{
    return (espl__registry){world->store.records, espl__array_length(world->store.records),
                            world->forest.flags};
}

/// First step: prefetch the record of an entity.
static inline void espl__registry_ask(const espl__registry *registry, espl_entity entity)
{
    espl__prefetch_element(registry->records, entity.index, sizeof *registry->records);
}

/// Second step: find the slot of an entity that lives, or ESPL__NO_SLOT, and prefetch its flags.
static inline uint32_t espl__registry_find(const espl__registry *registry, espl_entity entity)
{
    const espl__record *const records = registry->records;
    uint32_t slot = ESPL__NO_SLOT;

    if (entity.index < registry->count &&
        records[entity.index].generation == entity.generation &&
        records[entity.index].row < ESPL__ROW_RETIRED) {
        slot = records[entity.index].slot;
    }
    espl__prefetch_element(registry->flags, slot, sizeof *registry->flags);
    return slot;
}

/// Third step: tell whether a slot that was found has a transform of its own.
static inline bool espl__registry_has_placed(const espl__registry *registry, uint32_t slot)
{
    return slot != ESPL__NO_SLOT && (registry->flags[slot] & ESPL__SLOT_BARE) == 0;
}

/// All steps: find the slots of handles [begin, end).
/// @param slots  [end] out from `begin` on; ESPL__NO_SLOT where espl__find_placed() would refuse it.
/// @return true where all of them have slots that ascend, beginning with handle begin - 1.
bool espl__find_slots(const espl_world *world, const espl__handles *handles, size_t begin,
                      size_t end, uint32_t *slots);

#endif
