// SPDX-License-Identifier: MIT
// A change of components under way: which components are added and removed, and the rows that it
// applies to.
//
// Where a row moves depends on its archetype alone, so the rows are gathered by chunk, and the rows
// of a chunk move together. A mark in the chunk tells which bucket its rows are in. Everything is
// looked up and reserved before anything moves, so a refused change has changed nothing.
//
// The order of calls: espl__change_begin(); components.c fills in what is added and removed; one of
// the espl__gather_ functions; espl__change_carry_out(); espl__change_end(), also after a refusal.
#ifndef ESPALIER_LIB_WORLD_CHANGE_H
#define ESPALIER_LIB_WORLD_CHANGE_H

#include "lib/commands/explain.h"
#include "lib/world/world_internal.h"

#define ESPL__NO_ONE SIZE_MAX

enum { ESPL__CHANGE_FEW = 16, ESPL__WORD_BITS = 64 };

_Static_assert((int)ESPL__CHUNK_ROWS <= 2 * ESPL__WORD_BITS, "two words hold a mark for each row");

/// The rows of one chunk.
typedef struct espl__bucket {
    uint32_t chunk;
    uint32_t from;    // archetype before the change
    uint32_t placed;  // archetype once the transform was added or removed; else `from`
    uint32_t to;      // archetype in the end
    size_t first;     // number of the first of their entities, in the order of the call
    uint64_t rows[2]; // bit r: row r is gathered
} espl__bucket;

/// A change under way.
typedef struct espl__change {
    espl_world *world;
    espl__placement_change placement;
    espl_transform transform; // that is added
    // Added and removed components beside the transform.
    espl_component_value values[ESPL_SET_LIMIT]; // [add_count]
    espl_component add[ESPL_SET_LIMIT];          // [add_count] of the values
    espl_component remove[ESPL_SET_LIMIT];       // [remove_count]
    size_t add_count, remove_count;
    const espl_entity *entities; // in the order of the call, repeats included; NULL where only
                                 // their rows are known
    espl_entity *listed;         // [count] a copy of them, where a transform is added or removed;
                                 // or NULL
    size_t count;
    espl__bucket few[ESPL__CHANGE_FEW];
    espl__bucket *buckets; // [capacity] `few`, or a block of the heap
    size_t bucket_count, capacity;
    size_t refused; // number of the entity that the call is refused for, or ESPL__NO_ONE
    espl__cause cause; // of a refusal, where the definition is the reason
    espl__sentence sentence;
    bool has_overflowed; // some world transform that the call recomputed is not finite
} espl__change;

/// Begin a change that adds and removes nothing.
void espl__change_begin(espl__change *change, espl_world *world);
/// Free the memory of the change. Always called, whatever the status is.
void espl__change_end(const espl__change *change);
/// Take a block of scratch memory.
/// @return NULL where there is no memory.
void *espl__change_take(const espl__change *change, size_t count, size_t size);
/// Free a block of scratch memory. The numbers are those that it was taken with; NULL does nothing.
void espl__change_give(const espl__change *change, void *block, size_t count, size_t size);

// --- Gathering rows (change_rows.c). Precondition: `placement` is set ---

/// Gather the rows of an array of entities. An entity may be listed twice, and the array may lie in
/// a chunk.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY; the status of the first handle that names no living
///         entity, whose number is in `refused`.
espl_status espl__gather_array(espl__change *change, const espl_entity *entities, size_t count);
/// Gather the rows that answer a query.
/// @param entities  out: how many there are; in: 0.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY; statuses of the query.
espl_status espl__gather_query(espl__change *change, const espl_query_def *def, size_t *entities);
/// Gather the row of the entity at a slot and, as the extent says, of its descendants.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__gather_extent(espl__change *change, uint32_t slot, espl_extent extent);
/// Gather the rows of the listed entities again, after a playback has moved them. Cannot fail,
/// because the buckets have room for a chunk of each.
void espl__gather_again(espl__change *change);

// --- Applying (change.c) ---

/// Apply the change to all rows gathered, or to none.
/// @return ESPL_OK; ESPL_OVERFLOW; ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY; where a transform is
///         added or removed also ESPL_ERR_RANGE and ESPL_ERR_COPIES_PARENT. `refused` is set where
///         one entity is the reason.
espl_status espl__change_carry_out(espl__change *change);

#endif
