// SPDX-License-Identifier: MIT
// The archetype-chunk store: entity records with generations, components, archetypes, chunks,
// batched row moves. Moves bytes by size and alignment; does not know that parents or transforms
// exist. Everything that can fail is a reserve or a find-or-make; what follows cannot fail.
#ifndef ESPALIER_LIB_STORE_STORE_H
#define ESPALIER_LIB_STORE_STORE_H

#include "lib/base/ahead.h"
#include "lib/base/array.h"

#include <espalier/store.h>

#define ESPL__NONE UINT32_MAX
#define ESPL__ROW_RETIRED (ESPL__NONE - 1)

// Shrunken limits are for tests, which then meet every limit.
#ifdef ESPL_SHRUNKEN
enum { ESPL__CHUNK_ROWS = 3, ESPL__INDEX_BITS = 6, ESPL__GENERATION_BITS = 4 };
#else
enum { ESPL__CHUNK_ROWS = 128, ESPL__INDEX_BITS = 31, ESPL__GENERATION_BITS = 24 };
#endif
enum { ESPL__CHUNK_BYTES = 16384, ESPL__TAG_SHIFT = 24 };

// A handle's generation word: bit 31 pending, bits 30..24 the world's tag (1..127), the rest counts
// up from 1. An index whose generations are used up is retired.

/// What the store knows of one entity index.
typedef struct espl__record {
    uint32_t generation; // the handle's word while it lives; the next life's while it is free
    uint32_t chunk;      // while it lives: number in the chunk table; free: next free index
    uint32_t row;        // ESPL__NONE while free, ESPL__ROW_RETIRED once retired
    uint32_t slot;       // word of the layer above; ESPL__NONE at first; free: one freed before
} espl__record;

/// Free records that one is ahead of the one it names: as many are on their way to the cache at once.
enum { ESPL__FREED_NOTED = 16 };

typedef struct espl__component_info {
    const char *name;           // owned
    const uint32_t *references; // [reference_count] ascending byte offsets; owned; NULL: none
    uint32_t reference_count;
    uint32_t size, alignment;
} espl__component_info;

/// One block of rows: entity handles first, then each component's column, aligned.
typedef struct espl__chunk {
    unsigned char *bytes; // NULL: number is free
    uint32_t archetype;
    uint32_t position;     // in the archetype's list of chunks; of a free number: in free_chunks
    uint32_t count;        // rows in use
    uint32_t slots_offset; // of the ESPL_TRANSFORM column, or ESPL__NONE: as in its archetype
    uint64_t *versions;    // [columns + 1] in the same block: of the handles, then of each column
    uint32_t leaving_count;
    uint32_t mark;       // 0, but for a moment in which the layer above sorts rows by chunk
    uint64_t leaving[2]; // rows marked to leave in this structural change
} espl__chunk;

typedef struct espl__column {
    espl_component component;
    uint32_t size, offset; // bytes; offset of the column in a chunk
} espl__column;

/// Where a set leads when one component comes or goes.
typedef struct espl__edge {
    espl_component component; // 0: not looked up
    uint32_t to;
} espl__edge;

/// Kinds of copies of a row: 2 * (role - ESPL_SOLO), plus 1 for those with a transform.
enum { ESPL__COPY_KINDS = 6 };

/// One component set, sorted by number.
typedef struct espl__archetype {
    espl_component *set;       // stb array, ascending
    espl__column *columns;     // stb array: the components of the set whose size is not 0
    uint32_t *chunks;          // stb array of chunk numbers: full ones, at most one partly filled,
                               // then spare ones without rows
    uint32_t capacity;         // rows of a chunk
    uint32_t chunk_bytes;      // at most ESPL__CHUNK_BYTES (a single row may take more)
    uint32_t versions_offset;  // of the versions in a chunk, behind the last column
    uint32_t placement_offset; // of the ESPL_TRANSFORM column, or ESPL__NONE
    uint32_t block_alignment;  // of a chunk's bytes, 64 .. 256
    bool is_changed;           // stands in the store's changed list
    size_t count;              // rows in all chunks, those marked to leave included
    size_t reserved;           // rows there is memory for, count included
    size_t wanted;             // largest reserve since the last settle
    size_t floor;              // rows that a user reserved room for, kept until a trim
    size_t leaving_count;      // rows marked to leave, while a settle is under way
    size_t tail;               // settle's next row that may fill a hole
    size_t coming;             // 0, but while many rows are changed: how many come in or are put
    uint32_t changed_to;       // ESPL__NONE, but likewise: where the rows of this one go
    espl__edge gain, loss;     // of the last component alone that came, that went
    uint32_t role_edge[3];     // archetype with role ESPL_SOLO + i; ESPL__NONE: not looked up
    uint32_t copy_edge[ESPL__COPY_KINDS]; // likewise of a copy: see espl__archetype_copy()
    uint64_t builtin;          // bit c set: has component c, for c < 64
} espl__archetype;

typedef struct espl__store {
    espl__heap *heap;
    uint32_t tag;          // of the world, 1..127
    espl__record *records; // stb array
    uint32_t free_head;    // first free index, last freed first; ESPL__NONE
    size_t free_count, alive_count, retired_count;
    uint32_t freed[ESPL__FREED_NOTED]; // the last ones, in turns; what was freed first: index 0
    uint32_t freed_at;                 // counts up with each
    // Components stand in blocks that never move, so that recorders may read sizes while the
    // owning thread registers more.
    espl__component_info *component_blocks[ESPL_COMPONENT_LIMIT / 64];
    _Atomic uint32_t component_count; // numbers 1 .. component_count are registered
    espl__map component_names;        // hash of the name -> number; collisions probe by hash + 1
    espl__archetype *archetypes;      // stb array
    espl__map archetype_sets;         // hash of the set -> archetype; collisions probe by hash + 1
    espl__chunk *chunks;              // stb array: the chunk table
    uint32_t *free_chunks;            // stb array of free numbers, with memory kept for all of them
    uint32_t *changed;                // stb array: archetypes to settle, with memory kept for all
    uint32_t *changed_chunks;         // stb array: chunks with rows marked to leave, likewise
    uint64_t version;                 // of the last write of a column; counts up with each
    uint32_t referring_count;         // components with references
} espl__store;

// --- Set-up (store.c) ---

/// Set up an empty store with the six built-in components registered.
espl_status espl__store_init(espl__store *store, espl__heap *heap, uint32_t tag);
void espl__store_free(espl__store *store);

// --- Entities (entities.c) ---

/// Make sure that `count` more indices can be taken.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__entities_reserve(espl__store *store, size_t count);
/// Take an index, the last freed first, then a new one; reserved before. The record's row is
/// ESPL__NONE until a row is given.
espl_entity espl__entity_take(espl__store *store);
/// Take many indices, the same ones as so many calls would. The rest of their records is written
/// with their rows, which all of them get. @param out  [count]
void espl__entities_take(espl__store *store, espl_entity *out, size_t count);
/// Free an index without a row: its generation goes up, or it retires.
void espl__entity_release(espl__store *store, uint32_t index);
/// ESPL_OK, or why the handle names no living entity: NULL_ENTITY, DEAD, FOREIGN (another tag, an
/// index never issued, a pending handle). An index taken lives from the moment it has a row.
espl_status espl__entity_check(const espl__store *store, espl_entity entity);
/// Tell whether a handle names a living entity: as espl__entity_check(), which also says why not.
/// Each read and write asks. A record's generation has the world's tag in it and is never 0, so that
/// of null, foreign and pending handles none is equal to it. Word by word, for calls that are over
/// in a few instructions: a handle taken apart and put together again goes through a vector register
/// in gcc 12.
static inline bool espl__is_alive(const espl__store *store, uint32_t index, uint32_t generation)
{
    const espl__record *const records = store->records;

    return index < espl__array_length(records) && records[index].generation == generation &&
           records[index].row < ESPL__ROW_RETIRED;
}
static inline bool espl__entity_is_alive(const espl__store *store, espl_entity entity)
{
    return espl__is_alive(store, entity.index, entity.generation);
}

/// Handle of a living index.
static inline espl_entity espl__entity_at(const espl__store *store, uint32_t index)
{
    return (espl_entity){index, store->records[index].generation};
}

/// Archetype of a living index.
static inline uint32_t espl__entity_archetype(const espl__store *store, uint32_t index)
{
    return store->chunks[store->records[index].chunk].archetype;
}

// --- Components (components.c) ---

espl_status espl__component_register(espl__store *store, const espl_component_def *def,
                                     espl_component *out);
espl_component espl__component_find(const espl__store *store, const char *name);
/// NULL for a number not registered. Any thread.
const espl__component_info *espl__component_info_of(const espl__store *store,
                                                    espl_component component);

// --- Archetypes (archetypes.c) ---

/// Find or make the archetype of a set. @param set [count] sorted ascending, no repeats.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT (more than ESPL_SET_LIMIT).
espl_status espl__archetype_of(espl__store *store, const espl_component *set, size_t count,
                               uint32_t *out);
/// Tell whether an archetype has just that set.
bool espl__archetype_is(const espl__store *store, uint32_t archetype, const espl_component *set,
                        size_t count);
/// Find or make the archetype with some components more and some fewer. Any order; components in
/// both are added. Not there to remove, or there to add: no matter.
espl_status espl__archetype_change(espl__store *store, uint32_t archetype,
                                   const espl_component *add, size_t add_count,
                                   const espl_component *remove, size_t remove_count,
                                   uint32_t *out);
/// Find or make the archetype with another role (ESPL_SOLO, ESPL_ROOT or ESPL_MEMBER); cached.
espl_status espl__archetype_role(espl__store *store, uint32_t archetype, espl_component role,
                                 uint32_t *out);
/// Find or make the archetype of a copy of a row: without the tag of a prefab, with the role and the
/// transform of the kind; cached.
espl_status espl__archetype_copy(espl__store *store, uint32_t archetype, uint32_t kind,
                                 uint32_t *out);
bool espl__archetype_has(const espl__store *store, uint32_t archetype, espl_component component);
/// Number of a component among the columns of an archetype, or ESPL__NONE.
uint32_t espl__archetype_column(const espl__archetype *archetype, espl_component component);

// --- Rows (room.c, rows.c) ---

/// Make sure that `rows` more rows fit an archetype, in addition to `count` there (not to what was
/// reserved before: calls do not add up, the largest wins). Also that the chunk table, its free
/// list and the changed lists need no memory after it. Holds until the next settle, which gives
/// surplus back.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT (chunk numbers).
espl_status espl__rows_reserve(espl__store *store, uint32_t archetype, size_t rows);
/// Make sure likewise, and keep the room, with the rows there are now, until espl__store_trim().
espl_status espl__rows_keep(espl__store *store, uint32_t archetype, size_t rows);
/// Append a row of zeros for an index taken before; reserved. The slot column is no value of the
/// row but a mirror of the record: it is written from there, here and in the calls below.
void espl__row_add(espl__store *store, uint32_t archetype, uint32_t index);
/// Rows of one archetype that are copies of one row.
typedef struct espl__copies {
    uint32_t archetype;
    uint32_t source;             // index of the entity copied, or ESPL__NONE: all is zero
    size_t first;                // among the archetype's rows
    const espl_entity *entities; // taken before
    const uint32_t *order;       // [count] row first + k is that of entities[order[k]]
    size_t count;
} espl__copies;

/// Open `count` rows at the end of an archetype, which espl__rows_copy() gives to entities before
/// anything else is done with them; reserved.
/// @return number of the first among the archetype's rows.
size_t espl__rows_open(espl__store *store, uint32_t archetype, size_t count);
/// Give rows [first + begin, first + end) to their entities: the source's values in the columns
/// both have, zeros in the others. Open rows and their records are written, nothing else, so that
/// calls for different rows may run at the same time.
void espl__rows_copy(const espl__store *store, const espl__copies *copies, size_t begin,
                     size_t end);
/// Move rows of one chunk to the end of another archetype: columns both have are copied, new ones
/// are zero. The rows leave holes until espl__rows_settle(). Reserved. Records follow. To the
/// archetype they are in: does nothing.
/// @param rows [count] ascending, not marked before.
void espl__rows_move(espl__store *store, uint32_t chunk, uint32_t archetype, const uint32_t *rows,
                     size_t count);
/// Have a chunk that none has left yet visited by the next settle, and its archetype too.
void espl__chunk_note_leaving(espl__store *store, uint32_t number);
/// Mark a row of a chunk to leave.
static inline void espl__row_mark_leaving(espl__store *store, uint32_t number, uint32_t row)
{
    espl__chunk *const chunk = &store->chunks[number];

    ESPL_CHECK(row < chunk->count && (chunk->leaving[row >> 6] >> (row & 63) & 1) == 0);
    if (chunk->leaving_count++ == 0) {
        espl__chunk_note_leaving(store, number);
    }
    chunk->leaving[row >> 6] |= UINT64_C(1) << (row & 63);
}
/// Free the indices of living entities and mark their rows to leave; needs no reserve. The values
/// hold until the settle, and the indices may be taken anew before it.
void espl__entities_remove(espl__store *store, const uint32_t *indices, size_t count);
/// Close all holes: in each archetype the rows past its new end fill the holes, both in order of
/// marking, and memory goes back to the allocator. Ends each structural change. Linear in the
/// rows that left and the archetypes reserved. Cannot fail.
///
/// An archetype that was reserved or left keeps room for its rows and, past them, for as many as
/// this change reserved, one spare chunk at least: a churn of the same size each frame allocates
/// nothing, and a surplus outlives one settle at most. What espl__rows_keep() made stays.
void espl__rows_settle(espl__store *store);
/// Have an archetype visited by the next settle. The list has room for all of them.
void espl__archetype_note_change(espl__store *store, uint32_t archetype);
/// Free the chunks that neither the rows nor a change like the last one need.
void espl__rows_drop_surplus(espl__store *store, espl__archetype *archetype);
/// Free the last chunk of an archetype, one without rows.
void espl__chunk_drop(espl__store *store, espl__archetype *archetype);
/// The handles of a chunk. [count]
static inline espl_entity *espl__chunk_entities(const espl__chunk *chunk)
{
    return (espl_entity *)(void *)chunk->bytes;
}

/// Put the rows of listed entities first in each archetype, in the order of the list (row_order.c);
/// the others of that archetype come behind, in no order that is worth naming. Rows that change
/// places count as written, all at one version. Between structural changes; needs no memory and
/// cannot fail. Linear.
/// @param indices  [(count - 1) * stride + 1] every stride-th is one of a living entity, none twice;
///                 ESPL__NONE is passed over.
void espl__rows_put_in_order(espl__store *store, const uint32_t *indices, size_t stride,
                             size_t count);

// --- Values (values.c) ---

/// Fill an array with one value, in doubling copies: few calls even where the value is small. The
/// value may stand in the array.
void espl__value_repeat(unsigned char *to, const unsigned char *value, size_t size, size_t count);
/// Address of one component's value of a living entity; NULL where it lacks it or has size 0.
void *espl__row_value(const espl__store *store, uint32_t index, espl_component component);
/// The same, to be written: counts as a write of the column.
void *espl__row_write(espl__store *store, uint32_t index, espl_component component);
/// Address of a column of a chunk, or NULL.
void *espl__chunk_column(const espl__store *store, uint32_t chunk, espl_component component);
/// The same, to be written: counts as a write of the column.
void *espl__chunk_write(espl__store *store, uint32_t chunk, espl_component component);
/// Write one value to rows [first, first + count) of a chunk; value NULL means zeros. The value may
/// stand in one of the rows. Without such a column it does nothing.
void espl__rows_fill(espl__store *store, uint32_t chunk, espl_component component, uint32_t first,
                     uint32_t count, const void *value);
/// Write one value to the last `count` rows of an archetype, in the same way.
void espl__rows_fill_last(espl__store *store, uint32_t archetype, espl_component component,
                          size_t count, const void *value);
/// Version of the last write of a component in a chunk that has it; of a tag, and of
/// ESPL_TRANSFORM, the version at which an entity last came into the chunk or changed its row.
uint64_t espl__chunk_version(const espl__store *store, uint32_t chunk, espl_component component);
/// Write the slot of a living entity to its record and, where it has ESPL_TRANSFORM, to its chunk.
/// Slots are mirrors: this is no write of a column. Different entities at the same time, if need be.
static inline void espl__entity_set_slot(const espl__store *store, uint32_t index, uint32_t slot)
{
    espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    ESPL_CHECK(record->row < chunk->count);
    record->slot = slot;
    if (chunk->slots_offset != ESPL__NONE) {
        ((uint32_t *)(void *)(chunk->bytes + chunk->slots_offset))[record->row] = slot;
    }
}
/// Ask for the memory that espl__entity_set_slot() writes to; the entity's record is at hand.
static inline void espl__entity_ask_for_slot(const espl__store *store, uint32_t index)
{
    const espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    if (chunk->slots_offset != ESPL__NONE) {
        espl__ask_to_write(chunk->bytes + chunk->slots_offset + record->row * sizeof(uint32_t));
    }
}
/// The same, for whoever moves slots and knows a store by its address only.
static inline void espl__entity_record_slot(void *store, uint32_t index, uint32_t slot)
{
    espl__entity_set_slot(store, index, slot);
}

// --- Memory (trim.c) ---

/// Give back what neither a row nor a list needs now, rooms kept by espl__rows_keep() included.
/// Numbers of chunks and archetypes stay what they are. O(size of the tables).
/// @return false where a table stays too large, since moving it needs memory for a while; all else
///         was given back.
bool espl__store_trim(espl__store *store);
/// Bytes that all there is in a store takes of its heap, counted anew: what the heap has outstanding
/// for the store. O(size of the tables).
size_t espl__store_bytes(const espl__store *store);

// --- Proof (validate.c) ---

/// NULL, or the first broken invariant as a sentence: record <-> (chunk, row) is a bijection; the
/// free list, the retired and the living partition the issued indices; only the last chunk of an
/// archetype is partly filled; no row is marked to leave; sets are sorted and found by their hash;
/// counts agree; each chunk's slot column agrees with the records; no column is newer than the
/// store's version; kept room is there. O(size), no memory. Holds between structural changes.
/// @param where   the entity concerned or the null entity; may be NULL.
/// @param detail  the number concerned: of an index, chunk, archetype or component; may be NULL.
const char *espl__store_broken_rule(const espl__store *store, espl_entity *where, size_t *detail);

#endif
