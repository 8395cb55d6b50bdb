// SPDX-License-Identifier: MIT
// The store of entities and component values: entity records with generations, components,
// archetypes, chunks, and batched moves of rows. It copies values by size and alignment and knows
// neither parents nor transforms.
//
// A structural change reserves first and commits then. Only functions that reserve, find or make
// something can fail; the functions that commit cannot fail and allocate nothing.
#ifndef ESPALIER_LIB_STORE_STORE_H
#define ESPALIER_LIB_STORE_STORE_H

#include "lib/base/array.h"
#include "lib/base/plane.h"
#include "lib/base/prefetch.h"
#include "lib/jobs/ranges.h"
#include "lib/base/state.h"
#include "lib/store/counterparts.h"
#include "lib/store/names.h"

#include <espalier/store.h>

/// The value of a number that names nothing.
#define ESPL__NONE UINT32_MAX
/// The row of an index whose generations are used up.
#define ESPL__ROW_RETIRED (ESPL__NONE - 1)
/// The bit of the row of a living entity without ESPL_TRANSFORM.
#define ESPL__ROW_BARE UINT32_C(0x80000000)

// Shrunken limits are for tests, which reach every limit then.
#ifdef ESPL_SHRUNKEN
enum { ESPL__CHUNK_ROWS = 3, ESPL__INDEX_BITS = 6, ESPL__GENERATION_BITS = 4 };
#else
enum { ESPL__CHUNK_ROWS = 128, ESPL__INDEX_BITS = 31, ESPL__GENERATION_BITS = 24 };
#endif
enum { ESPL__CHUNK_BYTES = 16384, ESPL__TAG_SHIFT = 24 };
/// The last generation of an index, and the bits of a generation word that are below the tag.
#define ESPL__LAST_GENERATION ((UINT32_C(1) << ESPL__GENERATION_BITS) - 1)
#define ESPL__GENERATION_MASK ((UINT32_C(1) << ESPL__TAG_SHIFT) - 1)

// The generation word of a handle: bit 31 is set in pending handles, bits 30 to 24 are the tag of
// the world (1 to 127), and the lower bits count the generations from 1. An index is retired after
// its last generation.

/// Tell whether a handle is one that a recorder returned, of an entity that a command is to create.
static inline bool espl__is_pending(espl_entity entity)
{
    return (entity.generation >> 31) != 0;
}

/// The record of an entity index. An index is living, free or retired. The fields of a free index
/// belong to the free list.
typedef struct espl__record {
    uint32_t generation; // generation word of the living entity, or of the next one while free
    uint32_t chunk;      // living: number in the chunk table; free: next index of the free list
    // Living: row in the chunk, see espl__record_row(), and ESPL__ROW_BARE where the chunk has no slot
    // column. Free: ESPL__NONE; retired: ESPL__ROW_RETIRED.
    uint32_t row;
    uint32_t slot; // living: word of the layer above; free: an index to prefetch
} espl__record;

/// The distance of a prefetch along the free list: a free record names an index that was freed this
/// many calls before it, so that as many records are on their way to the cache.
enum { ESPL__FREED_NOTED = 16 };

/// All flags of a component.
#define ESPL__COMPONENT_FLAGS ((uint32_t)ESPL_COMPONENT_TRANSIENT | (uint32_t)ESPL_COMPONENT_UNIQUE)

typedef struct espl__component_info {
    const char *name;           // owned
    const uint32_t *references; // [reference_count] byte offsets, ascending; owned; NULL: none
    uint32_t reference_count;
    uint32_t size, alignment;
    uint32_t version, flags;
    const espl_component_field
        *fields; // [field_count] owned, in one block with their names; NULL: none
    uint32_t field_count;
} espl__component_info;

/// A block of rows of one archetype: the entity handles, then the column of each component,
/// aligned, then the versions.
typedef struct espl__chunk {
    unsigned char *bytes;   // NULL: the number is free
    uint32_t archetype;     // number of its archetype
    uint32_t position;      // in the chunks of its archetype; of a free number: in free_chunks
    uint32_t count;         // rows in use, which are the first ones
    uint32_t slots_offset;  // offset of the slot column, or ESPL__NONE; as in the archetype
    uint64_t *versions;     // [columns + 1] of the handles, then of each column; in the same block
    uint32_t leaving_count; // number of bits that are set in `leaving`
    uint32_t mark;          // for the layer above, which leaves it at 0
    uint64_t leaving[2];    // bit r: row r leaves at the next settle
    uint32_t filler;        // during a settle: row of the archetype that fills its first hole
} espl__chunk;

typedef struct espl__column {
    espl_component component;
    uint32_t size, offset; // bytes of a value; offset of the column in a chunk
    bool is_unique;        // ESPL_COMPONENT_UNIQUE: copies of a row get zeros
} espl__column;

/// The archetype that differs from another one by a single component.
typedef struct espl__edge {
    espl_component component; // 0: not looked up yet
    uint32_t to;
} espl__edge;

/// Number of kinds of copies of a row. The kind is 2 * (role - ESPL_SOLO), plus 1 for a copy with a
/// transform.
enum { ESPL__COPY_KINDS = 6 };

/// A set of components, and the chunks of the entities that have just this set.
typedef struct espl__archetype {
    espl_component *set;   // stb array, ascending
    espl__column *columns; // stb array: the components of the set that have a size, ascending
    // stb array of chunk numbers: full chunks, then at most one partly filled, then empty ones.
    uint32_t *chunks;
    uint32_t capacity;         // rows of a chunk
    uint32_t chunk_bytes;      // at most ESPL__CHUNK_BYTES, but for a chunk of one row
    uint32_t versions_offset;  // of the versions in a chunk, after the last column
    uint32_t placement_offset; // of the slot column in a chunk, or ESPL__NONE
    uint32_t block_alignment;  // of the bytes of a chunk, 64 to 256
    bool is_changed;           // it is in the changed list of the store
    size_t count;              // rows in all chunks, those that leave included
    size_t reserved;           // rows of all chunks, in use or not
    size_t wanted;             // largest number of rows reserved since the last settle
    size_t floor;              // rows that a user reserved until the next trim
    size_t leaving_count;      // rows that leave; computed during a settle, else 0
    size_t tail;               // during a settle: the next row that may fill a hole
    // While many rows are changed: how many come in, or are put in order. Else 0.
    size_t coming;
    // While many rows are changed: the archetype that the rows of this one move to. Else
    // ESPL__NONE.
    uint32_t changed_to;
    // Caches of archetypes that were found before; ESPL__NONE where none was. `gain` and `loss` are
    // the last ones with one component more or less, role_edge[i] has the role ESPL_SOLO + i, and
    // copy_edge[k] is that of copies of kind k.
    espl__edge gain, loss;
    uint32_t role_edge[3];
    uint32_t copy_edge[ESPL__COPY_KINDS];
    uint64_t builtin; // bit c: the set has component c, for c < 64
} espl__archetype;

typedef struct espl__store {
    espl__heap *heap;
    uint32_t tag;          // of the world, 1 to 127
    espl__record *records; // stb array by index; the number of issued indices is its length
    uint32_t free_head;    // index that was freed last, or ESPL__NONE
    // The indices are free, living or retired. An index that was taken and has no row yet counts as
    // living.
    size_t free_count, alive_count, retired_count;
    // An index that is freed gets no generation below this one, so that an entity that a rewind revived is
    // followed by none whose handle was given before the rewind. Above ESPL__LAST_GENERATION: it retires.
    uint32_t least_generation;
    uint32_t freed[ESPL__FREED_NOTED]; // ring of the indices that were freed last
    uint32_t freed_at;                 // number of entries written to it, modulo 2^32
    // Components are in blocks that never move, because recorders read sizes while the owning
    // thread registers more components.
    espl__component_info *component_blocks[ESPL_COMPONENT_LIMIT / 64];
    _Atomic uint32_t component_count; // components 1 to component_count are registered
    // Hash of a name to its component, and hash of a set to its archetype. A collision is resolved
    // by probing the next hash.
    espl__map component_names;
    espl__archetype *archetypes; // stb array
    espl__map archetype_sets;
    espl__chunk *chunks; // stb array: the chunk table
    // Stb arrays of numbers: chunk numbers that are free, archetypes to settle, and chunks with
    // rows that leave. Each has room for all numbers of its kind, so that a commit allocates
    // nothing.
    uint32_t *free_chunks;
    uint32_t *changed;
    uint32_t *changed_chunks;
    uint64_t version;                // of the last write of a column; each write increments it
    uint32_t referring_count;        // number of components with references
    uint32_t unique_count;           // number of components with ESPL_COMPONENT_UNIQUE
    uint32_t fill_least;             // ESPL__FILL_LEAST, except in tests
    espl__names names;               // of entities that have one
    espl__counterparts counterparts; // entities with an original
    // When each index was last taken or freed, or got another set of components, name or original. Open while a
    // watch exists; it has room for the records that `records` has room for.
    espl__plane index_plane;
} espl__store;

/// Rows that leave in a settle, from which on workers fill the holes: fewer are filled before other
/// workers wake up.
enum { ESPL__FILL_LEAST = 8192 };

// --- Set-up (store.c) ---

/// Set up an empty store with the six built-in components.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__store_init(espl__store *store, espl__heap *heap, uint32_t tag);
/// Free all memory of a store.
void espl__store_free(espl__store *store);

// --- A store that gets the contents of another world (remake.c) ---

/// Begin an empty store with the registry of components of an old one, which both have until
/// espl__store_discard() of one of them.
void espl__store_begin(espl__store *made, const espl__store *old);
/// Give it so many records, whose contents are undefined. @return as espl__entities_reserve().
espl_status espl__store_make_records(espl__store *made, uint32_t count);
/// Tell whether the records of a store that is going to be freed can serve one that is made, instead of new ones:
/// there are enough, and not far too many, and no watch needs more.
bool espl__store_lends_records(const espl__store *old, uint32_t count);
/// Let a store have these records. The old one can only be freed from here on.
void espl__store_take_records(espl__store *made, espl__store *old, uint32_t count);
/// Make the next archetype with so many rows, whose contents are undefined.
/// @param old  NULL, or a store that is going to be freed. Where it has blocks for the rows, the archetype gets
///             these by espl__store_take_chunks(), and has no rows until then.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY; ESPL_ERR_LIMIT; ESPL_ERR_FORMAT: no set, or one that there is.
espl_status espl__store_make_archetype(espl__store *made, const espl_component *set, size_t count,
                                       uint32_t rows, const espl__store *old);
/// Give archetypes the rows whose blocks the old store has. It can only be freed from here on.
void espl__store_take_chunks(espl__store *made, espl__store *old);
/// Finish it when all rows and records have their contents, and mark everything as changed.
void espl__store_finish(espl__store *made);
/// Free all memory of a store but the registry, which is that of another one.
void espl__store_discard(espl__store *store);

// --- State (state.c) ---

/// Name of the pieces that have the entities of rows.
extern const char espl__state_of_rows[];
/// Visit the state of a store: records, then rows.
void espl__store_visit(const espl__store *store, const espl__state_visitor *visitor);

// --- Entities (entities.c) ---

/// Make sure that `count` more indices can be taken.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__entities_reserve(espl__store *store, size_t count);
/// Take the index that was freed last, or a new one. The entity has no row yet.
/// Precondition: espl__entities_reserve() made room for it.
espl_entity espl__entity_take(espl__store *store);
/// Take the indices that `count` calls of espl__entity_take() would take. Their records are
/// complete when espl__rows_copy() has given each of them a row.
/// @param out  [count]
void espl__entities_take(espl__store *store, espl_entity *out, size_t count);
/// Free a taken index that has no row. It gets the next generation or is retired.
void espl__entity_release(espl__store *store, uint32_t index);
/// Return a generation, without a tag, from which on no entity of an index had a handle. It is above
/// ESPL__LAST_GENERATION if there is none.
uint32_t espl__unused_generation(const espl__store *store, uint32_t index);
/// Check a handle. An entity is alive from the moment it has a row.
/// @return ESPL_OK; ESPL_ERR_NULL_ENTITY; ESPL_ERR_PENDING; ESPL_ERR_FOREIGN (another tag, or an
///         index that was never issued); ESPL_ERR_DEAD.
espl_status espl__entity_check(const espl__store *store, espl_entity entity);
/// Tell whether the record of a handle has its generation, and a row below a limit. Each read and
/// write of a transform calls it. The handle is passed as two words, because gcc 12 moves a struct of
/// two words through a vector register.
static inline bool espl__has_row_below(const espl__store *store, uint32_t index,
                                       uint32_t generation, uint32_t limit)
{
    const espl__record *const records = store->records;

    return index < espl__array_length(records) && records[index].generation == generation &&
           records[index].row < limit;
}
/// Tell whether a handle may be that of an original: of an entity of a world with another tag.
static inline bool espl__may_be_original(const espl__store *store, espl_entity handle)
{
    const uint32_t tag = handle.generation >> ESPL__TAG_SHIFT;

    return tag != 0 && tag != store->tag && !espl__is_pending(handle);
}

/// Tell whether a handle names a living entity, as espl__entity_check() does. The generation of a
/// record has the tag of the world and is never 0, so that it differs from that of null, foreign and
/// pending handles.
static inline bool espl__is_alive(const espl__store *store, uint32_t index, uint32_t generation)
{
    return espl__has_row_below(store, index, generation, ESPL__ROW_RETIRED);
}
/// Tell whether a handle names a living entity that has ESPL_TRANSFORM. One compare for both.
static inline bool espl__is_alive_and_placed(const espl__store *store, uint32_t index,
                                             uint32_t generation)
{
    return espl__has_row_below(store, index, generation, ESPL__ROW_BARE);
}
/// Tell whether an index names a living entity: a record is free or retired from ESPL__ROW_RETIRED on.
static inline bool espl__index_is_alive(const espl__store *store, uint32_t index)
{
    return store->records[index].row < ESPL__ROW_RETIRED;
}
/// Return the row of a living entity in its chunk.
static inline uint32_t espl__record_row(const espl__record *record)
{
    ESPL_CHECK_FULL(record->row < ESPL__ROW_RETIRED);
    return record->row & ~ESPL__ROW_BARE;
}
/// Return what the record of an entity in a row of a chunk has as its row.
static inline uint32_t espl__row_word(const espl__chunk *chunk, uint32_t row)
{
    return chunk->slots_offset == ESPL__NONE ? row | ESPL__ROW_BARE : row;
}
/// Tell whether a handle names a living entity.
static inline bool espl__entity_is_alive(const espl__store *store, espl_entity entity)
{
    return espl__is_alive(store, entity.index, entity.generation);
}

/// Return the handle of an issued index, with the generation of its record.
static inline espl_entity espl__entity_at(const espl__store *store, uint32_t index)
{
    ESPL_CHECK_FULL(index < espl__array_length(store->records));
    return (espl_entity){index, store->records[index].generation};
}

/// Return the archetype of a living index.
static inline uint32_t espl__entity_archetype(const espl__store *store, uint32_t index)
{
    ESPL_CHECK_FULL(store->records[index].row < ESPL__ROW_RETIRED);
    return store->chunks[store->records[index].chunk].archetype;
}

// --- Changes of entities (entities.c) ---

/// Open the index plane: nothing changed yet. @return false: no memory, nothing changed.
bool espl__index_plane_open(espl__store *store);
/// Close the index plane, which no watch needs any more.
void espl__index_plane_close(espl__store *store);
/// Set the moment of the index plane, after it is clamped where that is due.
void espl__store_set_moment(espl__store *store, uint64_t moment);
/// Free the room of the index plane that the records have no room for. @return false: no memory to move
/// it to; it stays as it is.
bool espl__index_plane_shrink(espl__store *store);
/// Mark entities whose indices were taken, or that have other components or another name now. Does nothing
/// where the index plane is closed. Calls for different entities may run concurrently.
void espl__store_mark_entities(const espl__store *store, const espl_entity *entities, size_t count);

// --- Components (components.c) ---

/// Say what is wrong with the definition of a component: a sentence, or NULL. What is past a limit
/// is not.
const char *espl__component_def_fault(const espl_component_def *def);
/// Register a component. @return as espl_component_register() does.
espl_status espl__component_register(espl__store *store, const espl_component_def *def,
                                     espl_component *out);
/// Return the component of a name, or 0.
espl_component espl__component_find(const espl__store *store, const char *name);
/// Return what is known of a component, or NULL where its number is not registered. Any thread.
const espl__component_info *espl__component_info_of(const espl__store *store,
                                                    espl_component component);

/// Tell whether copies of an entity get zeros for a component.
static inline bool espl__component_is_unique(const espl__store *store, espl_component component)
{
    return (espl__component_info_of(store, component)->flags & ESPL_COMPONENT_UNIQUE) != 0;
}

// --- Fields of components (fields.c) ---

/// Return what is wrong with the fields of a definition, or NULL. Preconditions: the counts are within their
/// limits, and the references are sound.
const char *espl__fields_fault(const espl_component_def *def);
/// Return the bytes of an element of a type that exists.
uint32_t espl__field_element_size(espl_field_type type);
/// Return the bytes of a block with the fields and their names; 0 for none.
size_t espl__fields_size(const espl_component_field *fields, size_t count);
/// Copy fields and their names to a block of that size. @return the copies.
const espl_component_field *espl__fields_copy(void *block, const espl_component_field *fields,
                                              size_t count);

// --- Archetypes (archetypes.c) ---

/// Find or make the archetype of a set.
/// @param set  [count] ascending, without repeats.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT (more than ESPL_SET_LIMIT).
espl_status espl__archetype_of(espl__store *store, const espl_component *set, size_t count,
                               uint32_t *out);
/// Remove the archetypes from a number on, which a refused call has made, with their chunks.
/// Precondition: they have no rows. Cannot fail. O(archetypes), O(1) where there are none.
/// @param first  length of `archetypes` before the call.
void espl__archetypes_forget(espl__store *store, size_t first);
/// Tell whether an archetype has just this set.
bool espl__archetype_is(const espl__store *store, uint32_t archetype, const espl_component *set,
                        size_t count);
/// Find or make the archetype of a changed set. The lists may be in any order. A component in both
/// lists is added. Adding one that is there and removing one that is not have no effect.
espl_status espl__archetype_change(espl__store *store, uint32_t archetype,
                                   const espl_component *add, size_t add_count,
                                   const espl_component *remove, size_t remove_count,
                                   uint32_t *out);
/// Find or make the archetype with another role: ESPL_SOLO, ESPL_ROOT or ESPL_MEMBER. Cached.
espl_status espl__archetype_role(espl__store *store, uint32_t archetype, espl_component role,
                                 uint32_t *out);
/// The slow path of espl__archetype_copy(): it is not in the cache.
espl_status espl__archetype_find_copy(espl__store *store, uint32_t archetype, uint32_t kind,
                                      uint32_t *out);
/// Find or make the archetype of copies of a row: without ESPL_PREFAB, and with the role and the
/// transform of a kind below ESPL__COPY_KINDS. Cached.
static inline espl_status espl__archetype_copy(espl__store *store, uint32_t archetype,
                                               uint32_t kind, uint32_t *out)
{
    ESPL_CHECK(kind < ESPL__COPY_KINDS);
    *out = store->archetypes[archetype].copy_edge[kind];
    return *out != ESPL__NONE ? ESPL_OK : espl__archetype_find_copy(store, archetype, kind, out);
}
/// Tell whether the set of an archetype has a component.
bool espl__archetype_has(const espl__store *store, uint32_t archetype, espl_component component);
/// Return the number of a component among the columns of an archetype, or ESPL__NONE.
uint32_t espl__archetype_column(const espl__archetype *archetype, espl_component component);

// --- Rows (chunks.c, rows.c) ---

/// Append chunks without blocks for `rows` rows to an archetype that has none. `coming` has the rows until
/// espl__rows_take(), and the store can only be freed before it. @return as espl__rows_reserve().
espl_status espl__rows_expect(espl__store *store, uint32_t archetype, size_t rows);
/// Give these chunks the blocks of the archetype with the same number of another store, which can only be freed
/// from here on. Precondition: it has as many, of the same size and alignment.
void espl__rows_take(espl__store *store, uint32_t archetype, espl__store *from);
/// Make sure that an archetype has room for `rows` more rows than its count. Several reserves do
/// not add up: the largest one holds. The chunk table and the lists of numbers get room as well.
/// The room lasts until the next settle, which frees the surplus.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT (chunk numbers).
espl_status espl__rows_reserve(espl__store *store, uint32_t archetype, size_t rows);
/// Reserve the rows that were counted in espl__archetype.coming. Postcondition: the count is 0,
/// whatever the status. Several calls for one archetype are one reserve of the sum.
espl_status espl__rows_reserve_coming(espl__store *store, uint32_t archetype);
/// Reserve as espl__rows_reserve(), and keep the room for the present count and `rows` more until the next
/// espl__store_trim().
espl_status espl__rows_keep(espl__store *store, uint32_t archetype, size_t rows);
/// Exchange the rows of two living entities, with their slots: each gets the set and the values of the other
/// one. No row leaves at the next settle. Names stay.
void espl__rows_exchange(espl__store *store, uint32_t a, uint32_t b);
/// Append a row of zeros for an index that was taken; reserved. The slot column is not a value of
/// the row. It mirrors the slots of the records, and the functions below copy it from there.
void espl__row_add(espl__store *store, uint32_t archetype, uint32_t index);
/// Rows of one archetype that are copies of one row.
typedef struct espl__copies {
    uint32_t archetype;
    uint32_t source; // index of the entity that is copied, or ESPL__NONE: zeros
    uint32_t begin;  // where its rows begin in the order of the new rows
    uint32_t count;
    uint32_t first; // number of the first row in the archetype
} espl__copies;

/// The entities of new rows.
typedef struct espl__new_rows {
    const espl_entity *entities; // taken before
    const uint32_t *slots;       // of the entities; NULL: they have none yet
    const uint32_t *order;       // the k-th row belongs to entities[order[k]]
} espl__new_rows;

/// Append the rows of lists of copies to their archetypes, one list after the other, and write where
/// the rows of each list begin. Precondition: the rows are reserved. Their contents are undefined until
/// espl__rows_copy() gives each of them to an entity, which must be the next use of these rows.
/// @param copies  [count]
void espl__rows_open(espl__store *store, espl__copies *copies, size_t count);
/// Give new rows [begin, end), in their order, to their entities. Columns that the source has too get
/// the values of the source, the others zeros. Nothing is written but these rows and the records of
/// their entities, so that calls for disjoint rows may run concurrently.
/// @param copies  the list with row `begin`; the lists after it have the rows past its own.
void espl__rows_copy(const espl__store *store, const espl__new_rows *rows,
                     const espl__copies *copies, size_t begin, size_t end);
/// Move rows of one chunk to the end of another archetype; reserved. Columns of both archetypes are
/// copied, new columns are zero, and the records follow. The old rows leave at the next settle. A
/// move to the archetype that the rows are in does nothing.
/// @param rows  [count] ascending, none of them leaving.
void espl__rows_move(espl__store *store, uint32_t chunk, uint32_t archetype, const uint32_t *rows,
                     size_t count);
/// Prefetch the row of a living entity that is about to be removed.
void espl__row_prefetch(const espl__store *store, uint32_t index);
/// Free the indices of living entities with their names. Their rows leave at the next settle and
/// keep their values until then. The indices may be taken again before the settle.
void espl__entities_remove(espl__store *store, const uint32_t *indices, size_t count);
/// As espl__entities_remove(), for one index.
void espl__entity_remove(espl__store *store, uint32_t index);
/// Compact each archetype in place: rows past its new end fill the holes below it, see rows.c. A
/// settle ends each structural change. Linear in the rows that left and the archetypes reserved.
///
/// Chunks that are not needed are freed. An archetype keeps room for its rows and as many as this
/// change reserved, one empty chunk at least, and what espl__rows_keep() reserved. So a like change
/// in the next frame allocates nothing, and a surplus is freed by the next settle.
///
/// @param executor  fills the holes of many chunks; NULL: the calling thread does. The result is the
///                  same.
void espl__rows_settle(espl__store *store, const espl_executor *executor, const espl_hooks *hooks);
/// List an archetype for the next settle.
void espl__archetype_note_change(espl__store *store, uint32_t archetype);
/// Free the chunks that neither the rows nor a change like the last one need.
void espl__rows_drop_surplus(espl__store *store, espl__archetype *archetype);
/// Append an empty chunk to an archetype from a block that was retired. Precondition: it had so many chunks
/// since the last trim. @return false: there is no such block.
bool espl__chunk_put_back(espl__store *store, uint32_t archetype);
/// Free the last chunk of an archetype, which has no rows.
void espl__chunk_drop(espl__store *store, espl__archetype *archetype);
/// Return the handles of a chunk. [count]
static inline espl_entity *espl__chunk_entities(const espl__chunk *chunk)
{
    ESPL_CHECK_FULL(chunk->bytes != NULL);
    return (espl_entity *)(void *)chunk->bytes;
}

/// Slot of a row of a chunk. Rows without a transform have no column of slots.
static inline uint32_t espl__row_slot(const espl__store *store, const espl__chunk *chunk,
                                      uint32_t row)
{
    ESPL_CHECK_FULL(row < chunk->count);
    if (chunk->slots_offset != ESPL__NONE) {
        return ((const uint32_t *)(const void *)(chunk->bytes + chunk->slots_offset))[row];
    }
    return store->records[espl__chunk_entities(chunk)[row].index].slot;
}

/// Permute the rows of each archetype in place, so that the rows of the listed entities are the
/// first, in the order of the list (row_order.c). The other rows follow in an unspecified order.
/// Columns of chunks with rows that move count as written, all at one version. Called between
/// structural changes. Linear.
/// @param indices  [(count - 1) * stride + 1] each stride-th is a living index, none of them twice;
///                 ESPL__NONE is ignored.
void espl__rows_put_in_order(espl__store *store, const uint32_t *indices, size_t stride,
                             size_t count);

// --- Values (values.c) ---

/// Fill an array with `count` copies of a value. The number of calls of memcpy() is logarithmic,
/// which matters for small values. The value may be inside the array.
void espl__value_repeat(unsigned char *to, const unsigned char *value, size_t size, size_t count);
/// Return the address of a component value of a living entity. NULL where the entity lacks the
/// component or the component has size 0.
void *espl__row_value(const espl__store *store, uint32_t index, espl_component component);
/// Return the same address for writing, which counts as a write of the column.
void *espl__row_write(espl__store *store, uint32_t index, espl_component component);
/// Return the address of a column of a chunk, or NULL.
void *espl__chunk_column(const espl__store *store, uint32_t chunk, espl_component component);
/// Return the same address for writing, which counts as a write of the column.
void *espl__chunk_write(espl__store *store, uint32_t chunk, espl_component component);
/// Write one value to rows [first, first + count) of a chunk. A value of NULL stands for zeros. The
/// value may be in one of the rows. A chunk without this column is left as it is.
void espl__rows_fill(espl__store *store, uint32_t chunk, espl_component component, uint32_t first,
                     uint32_t count, const void *value);
/// Write one value to the last `count` rows of an archetype, as espl__rows_fill() does.
void espl__rows_fill_last(espl__store *store, uint32_t archetype, espl_component component,
                          size_t count, const void *value);
/// Return the version of the last write of a component in a chunk. A component without values of
/// its own (a tag, ESPL_TRANSFORM) has the version at which an entity last came into the chunk or
/// changed its row.
uint64_t espl__chunk_version(const espl__store *store, uint32_t chunk, espl_component component);
/// Write the slot of a living entity to its record and to the slot column of its chunk. This is not
/// a write of a column, because slots are mirrors. Calls for different entities may run
/// concurrently.
static inline void espl__entity_set_slot(const espl__store *store, uint32_t index, uint32_t slot)
{
    espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    ESPL_CHECK(espl__record_row(record) < chunk->count);
    record->slot = slot;
    if (chunk->slots_offset != ESPL__NONE) {
        ((uint32_t *)(void *)(chunk->bytes + chunk->slots_offset))[espl__record_row(record)] = slot;
    }
}
/// Write slots [first, first + count) by espl__entity_set_slot(), as a callback of the layer above,
/// which has no type for a store. The entity of slot first + k is entities[4 * k].
void espl__entities_record_slots(void *store, const uint32_t *entities, uint32_t first,
                                 uint32_t count);

// --- Memory (trim.c) ---

/// Free the memory that neither rows nor lists need now, that of espl__rows_keep() included. The
/// numbers of chunks and archetypes stay. O(size of the tables).
/// @return false where a table stays too large, because moving it needs memory for a while; all
///         other memory is freed then.
bool espl__store_trim(espl__store *store);
/// Compute the bytes that a store holds of its heap from its structures. It equals what the heap
/// counts for the store. O(size of the tables).
size_t espl__store_bytes(const espl__store *store);

// --- Validation (validate.c) ---

/// Find the first invariant that does not hold. Between structural changes all of them hold:
/// records and rows are a bijection; free, retired and living indices partition the issued ones;
/// only the last chunk of an archetype with rows is partly filled; no row leaves; sets are sorted
/// and found by their hash; counts agree; slot columns mirror the records; no column is newer than
/// the version of the store; reserved room exists; names are those of living entities. O(size),
/// without memory.
/// @param where   out: the entity concerned or the null entity; may be NULL.
/// @param detail  out: the number concerned, of an index, chunk, archetype or component; may be
///                NULL.
/// @return NULL, or the invariant as a sentence.
const char *espl__store_broken_rule(const espl__store *store, espl_entity *where, size_t *detail);

#endif
