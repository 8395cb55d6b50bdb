// SPDX-License-Identifier: MIT
// Handles to slots, many at once. Records lie anywhere in the registry, and slots anywhere in the
// pool, so that a lookup waits twice for memory. Each of three steps prefetches what the next one
// reads; a caller does one step for a block of handles before the next step, so that the waits
// overlap.
//
// Callers: batch.c (espl__find_slots()), and read.c, whose third step reads transforms.
#ifndef ESPALIER_LIB_WORLD_HANDLES_H
#define ESPALIER_LIB_WORLD_HANDLES_H

#include "lib/base/prefetch.h"
#include "lib/world/world_internal.h"

/// Handles in an array of the caller, perhaps as a field of larger structs. Not owned.
typedef struct espl__handles {
    const unsigned char *first;
    size_t stride; // bytes from one to the next
} espl__handles;

/// Handle i. Precondition: the array has it, and the stride is a multiple of the alignment of an
/// espl_entity.
static inline espl_entity espl__handle_at(const espl__handles *handles, size_t i)
{
    return *(const espl_entity *)(const void *)(handles->first + i * handles->stride);
}

/// What handles are looked up in. A caller keeps a copy on its stack, because the compiler then
/// knows that no store changes it.
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

/// First step: prefetch the record of an entity. Any handle, also one that names nothing.
static inline void espl__registry_ask(const espl__registry *registry, espl_entity entity)
{
    espl__prefetch_element(registry->records, entity.index, sizeof *registry->records);
}

/// Second step: find the slot of a living entity, and prefetch its flags.
/// @return the slot, or ESPL__NO_SLOT.
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

/// Third step: tell whether a slot that the second step found has a transform of its own.
static inline bool espl__registry_has_placed(const espl__registry *registry, uint32_t slot)
{
    return slot != ESPL__NO_SLOT && (registry->flags[slot] & ESPL__SLOT_BARE) == 0;
}

/// All steps: find the slots of handles [begin, end).
/// @param slots  [end] out, from `begin` on; ESPL__NO_SLOT where espl__find_placed() would
///          refuse the handle.
/// @return true where all of them have slots, which ascend, beginning with handle begin -
///         1.
bool espl__find_slots(const espl_world *world, const espl__handles *handles, size_t begin,
                      size_t end, uint32_t *slots);

#endif
