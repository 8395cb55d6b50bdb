// SPDX-License-Identifier: MIT
// A change of components under way: what is added and removed, and the entities that it applies to.
//
// A change without a transform moves rows. Where a row moves depends on its archetype alone, so the
// rows are gathered by chunk, and the rows of a chunk move together. A mark in the chunk tells which
// bucket its rows are in. A change with a transform changes hierarchies, so that it is a strict playback of
// one command for each entity. Either way everything is looked up and reserved before anything moves, so
// a refused change has changed nothing.
//
// The order of calls: espl__change_begin(); espl__change_read(); one of the espl__gather_ functions;
// espl__change_carry_out(); espl__change_end(), also after a refusal.
#ifndef ESPALIER_LIB_WORLD_CHANGE_H
#define ESPALIER_LIB_WORLD_CHANGE_H

#include "lib/commands/change_list.h"
#include "lib/world/world_internal.h"

#define ESPL__NO_ONE SIZE_MAX

enum { ESPL__CHANGE_FEW = 16, ESPL__WORD_BITS = 64 };

_Static_assert((int)ESPL__CHUNK_ROWS <= 2 * ESPL__WORD_BITS, "two words hold a mark for each row");

/// The rows of one chunk.
typedef struct espl__bucket {
    uint32_t chunk;
    uint32_t from, to; // archetype before the change and after it
    size_t first;      // number of the first of their entities, in the order of the call
    uint64_t rows[2];  // bit r: row r is gathered
} espl__bucket;

/// A change under way.
typedef struct espl__change {
    espl_world *world;
    espl__change_list list;
    // Added and removed components of the list, without the transform.
    espl_component added[ESPL_SET_LIMIT], removed[ESPL_SET_LIMIT];
    size_t added_count, removed_count;
    // Of a change with a transform: one for each entity, in the order of the call, repeats included. Before
    // it is carried out only the targets are set.
    espl__command *commands; // [count], or NULL
    size_t count;
    espl__bucket few[ESPL__CHANGE_FEW];
    espl__bucket *buckets; // [capacity] `few`, or a block of the heap
    size_t bucket_count, capacity;
    const espl_entity *entities; // of the caller, in the order of the call; NULL: those of a query
    size_t refused; // number of the entity that the call is refused for, or ESPL__NO_ONE
} espl__change;

/// Begin a change that adds and removes nothing.
void espl__change_begin(espl__change *change, espl_world *world);
/// Read the definition. @return as espl__change_list_read(); the cause is in the list, and what was read is
/// not used.
espl_status espl__change_read(espl__change *change, const espl_change_def *def);
/// Free the memory of the change. Always called, whatever the status is.
void espl__change_end(const espl__change *change);
/// Take a block of scratch memory.
/// @return NULL where there is no memory.
void *espl__change_take(const espl__change *change, size_t count, size_t size);
/// Free a block of scratch memory. The numbers are those that it was taken with; NULL does nothing.
void espl__change_give(const espl__change *change, void *block, size_t count, size_t size);
/// Tell whether the change adds or removes transforms.
static inline bool espl__change_is_played(const espl__change *change)
{
    return change->list.placement != ESPL__PLACEMENT_STAYS;
}
/// Return the entity that the call is refused for, or a null handle.
static inline espl_entity espl__change_refused(const espl__change *change)
{
    if (change->refused == ESPL__NO_ONE) {
        return espl_entity_null();
    }
    return change->entities != NULL   ? change->entities[change->refused]
           : change->commands != NULL ? change->commands[change->refused].target
                                      : espl_entity_null();
}

// --- Gathering entities (change_rows.c). Precondition: the definition was read ---

/// Gather the entities of an array. An entity may be listed twice, and the array may lie in a chunk.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY; the status of the first handle that names no living
///         entity, whose number is in `refused`.
espl_status espl__gather_array(espl__change *change, const espl_entity *entities, size_t count);
/// Gather the entities that answer a query.
/// @param entities  out: how many there are; in: 0.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY; statuses of the query.
espl_status espl__gather_query(espl__change *change, const espl_query_def *def, size_t *entities);
/// Gather the entity at a slot and, as the extent says, its descendants. Precondition: the change has no
/// transform.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__gather_extent(espl__change *change, uint32_t slot, espl_extent extent);

// --- Applying (change.c) ---

/// Apply the change to all entities gathered, or to none.
/// @return ESPL_OK; ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY; where a transform is added or removed also
///         ESPL_OVERFLOW, ESPL_LOSSY, ESPL_ERR_RANGE and ESPL_ERR_COPIES_PARENT. `refused` is set where one
///         entity is the reason.
espl_status espl__change_carry_out(espl__change *change);

#endif
