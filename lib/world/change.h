// SPDX-License-Identifier: MIT
// A change of components under way. Where rows go depends on their archetype alone, so rows are
// sorted by chunk, by marks in the chunks themselves, and a chunk's rows move together. Everything
// is looked up and reserved before anything moves.
//
// The order: espl__change_begin(), what comes and goes is filled in, one of the espl__gather_
// functions, espl__change_carry_out(), espl__change_end().
#ifndef ESPALIER_LIB_WORLD_CHANGE_H
#define ESPALIER_LIB_WORLD_CHANGE_H

#include "lib/commands/explain.h"
#include "lib/world/inside.h"

#define ESPL__NO_ONE SIZE_MAX

enum { ESPL__CHANGE_FEW = 16, ESPL__WORD_BITS = 64 };

_Static_assert((int)ESPL__CHUNK_ROWS <= 2 * ESPL__WORD_BITS, "two words hold a mark for each row");

/// Rows of one chunk.
typedef struct espl__bucket {
    uint32_t chunk;
    uint32_t from, placed, to; // archetypes: now, once placements came or went, in the end
    size_t first;              // number of the first of their entities, in the order of the call
    uint64_t rows[2];
} espl__bucket;

/// A change under way.
typedef struct espl__change {
    espl_world *world;
    espl__placement_change placement;
    espl_transform transform; // that comes
    // What comes and goes beside the placement.
    espl_component_value values[ESPL_SET_LIMIT]; // [add_count]
    espl_component add[ESPL_SET_LIMIT];          // [add_count] of the values
    espl_component remove[ESPL_SET_LIMIT];       // [remove_count]
    size_t add_count, remove_count;
    const espl_entity *entities; // in the order of the call, repeats included; NULL where only
                                 // their rows are known
    espl_entity *listed;         // [count] a copy of them, where placements come or go; or NULL
    size_t count;
    espl__bucket few[ESPL__CHANGE_FEW];
    espl__bucket *buckets; // [capacity] the few, or a block of our own
    size_t bucket_count, capacity;
    size_t refused; // number of the entity that the call is refused for, or ESPL__NO_ONE
    espl__cause cause; // of a refusal for what comes or goes
    espl__sentence sentence;
    bool has_overflowed; // some world that the call recomputed
} espl__change;

/// Set up without anything that comes or goes.
void espl__change_begin(espl__change *change, espl_world *world);
/// Give the change's own memory back, whatever it came to.
void espl__change_end(const espl__change *change);
/// A block of scratch, to be given back with the same numbers; NULL where there is no memory.
void *espl__change_take(const espl__change *change, size_t count, size_t size);
void espl__change_give(const espl__change *change, void *block, size_t count, size_t size);

// --- Whose rows (gather.c); what comes and goes is known ---

/// Gather the rows of an array of entities, which may repeat and stand in a chunk.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, a handle's statuses with its number in `refused`.
espl_status espl__gather_array(espl__change *change, const espl_entity *entities, size_t count);
/// Gather the rows of what answers a query, and count them.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, statuses of the query.
espl_status espl__gather_query(espl__change *change, const espl_query_def *def, size_t *entities);
/// Gather the rows of what stands at a slot and, as the extent says, of what hangs below it.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__gather_extent(espl__change *change, uint32_t slot, espl_extent extent);
/// Gather the rows of the entities that were listed again, after rows have moved. Cannot fail.
void espl__gather_again(espl__change *change);

// --- Doing it (change.c) ---

/// Carry the change out on all rows gathered, or leave everything as it is.
/// @return ESPL_OK, ESPL_ERR_LIMIT, ESPL_ERR_NO_MEMORY; of a placement ESPL_ERR_RANGE and
///         ESPL_ERR_COPIES_PARENT. `refused` is set where it is for one entity.
espl_status espl__change_carry_out(espl__change *change);

#endif
