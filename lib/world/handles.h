// SPDX-License-Identifier: MIT
// Handles to slots, many at once. Records lie anywhere in the registry, and slots anywhere in the
// pool, so that a lookup waits twice for memory: for the record, and for what is read of the slot. A
// caller prefetches both for a block of handles before it looks them up, so that the waits overlap.
//
// Callers: batch.c (espl__find_slots()), and read.c.
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
} espl__registry;

static inline espl__registry espl__registry_of(const espl_world *world)
{
    return (espl__registry){world->store.records, espl__array_length(world->store.records)};
}

/// Prefetch the record of an entity. Any handle, also one that names nothing.
static inline void espl__registry_ask(const espl__registry *registry, espl_entity entity)
{
    espl__prefetch_element(registry->records, entity.index, sizeof *registry->records);
}

/// Prefetch the element of an entity in an array by slot. The record has come. Any handle.
static inline void espl__registry_ask_element(const espl__registry *registry, espl_entity entity,
                                              const void *array, size_t size)
{
    if (entity.index < registry->count) {
        espl__prefetch_element(array, registry->records[entity.index].slot, size);
    }
}

/// Find the slot of a living entity that has a transform of its own. @return false where the handle
/// names none.
static inline bool espl__registry_find(const espl__registry *registry, espl_entity entity,
                                       uint32_t *slot)
{
    if (entity.index >= registry->count) {
        return false;
    }
    const espl__record *const record = &registry->records[entity.index];

    *slot = record->slot;
    return record->generation == entity.generation && record->row < ESPL__ROW_BARE;
}

/// Find the slots of handles [begin, end).
/// @param slots  [end] out, from `begin` on; ESPL__NO_SLOT where espl__find_placed() would
///          refuse the handle.
/// @return true where all of them have slots, which ascend, beginning with handle begin -
///         1.
bool espl__find_slots(const espl_world *world, const espl__handles *handles, size_t begin,
                      size_t end, uint32_t *slots);

#endif
