// SPDX-License-Identifier: MIT
// Entity indices and their generations. Free indices form a list through their records. An index is
// retired when its generations are used up, so that no handle is ever valid again.
#include "lib/store/rows.h"

// The number of indices that a world can issue.
#define INDEX_LIMIT ((size_t)1 << ESPL__INDEX_BITS)

_Static_assert((int)ESPL__GENERATION_BITS <= (int)ESPL__TAG_SHIFT,
               "the tag is above the generation");
_Static_assert(sizeof(espl__record) == 16, "four records a cache line");

// Tell whether free, living and retired indices are all issued ones.
static bool are_indices_counted(const espl__store *store)
{
    return store->free_count + store->alive_count + store->retired_count ==
           espl__array_length(store->records);
}

// --- The index plane ---

// Return the indices that the index plane has room for once it is grown: those of the records.
static uint32_t plane_room(const espl__store *store)
{
    const size_t records = espl__array_capacity(store->records);

    return (uint32_t)(records < INDEX_LIMIT ? records : INDEX_LIMIT);
}

// Make an index plane for the present room of the records, in place of that of the store.
// @return false: no memory, nothing changed.
static bool remake_plane(espl__store *store)
{
    const uint32_t count = (uint32_t)espl__array_length(store->records);
    espl__plane made = {0};

    if (!espl__plane_make(store->heap, ESPL__FOR_STORE, &made, plane_room(store),
                          &store->index_plane, count)) {
        return false;
    }
    espl__plane_free(store->heap, ESPL__FOR_STORE, &store->index_plane);
    store->index_plane = made;
    return true;
}

bool espl__index_plane_open(espl__store *store)
{
    return espl__plane_is_open(&store->index_plane) || remake_plane(store);
}

void espl__index_plane_close(espl__store *store)
{
    espl__plane_free(store->heap, ESPL__FOR_STORE, &store->index_plane);
}

bool espl__index_plane_shrink(espl__store *store)
{
    const espl__plane *const plane = &store->index_plane;

    return !espl__plane_is_open(plane) || plane->capacity < plane_room(store) + ESPL__PLANE_BLOCK ||
           remake_plane(store);
}

void espl__store_set_moment(espl__store *store, uint64_t moment)
{
    espl__plane_set_moment(&store->index_plane, (uint32_t)moment);
}

void espl__store_mark_entities(const espl__store *store, const espl_entity *entities, size_t count)
{
    const espl__plane plane = store->index_plane;

    if (!espl__plane_is_open(&plane)) {
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        espl__plane_mark(&plane, entities[i].index);
    }
}

// Mark indices that were taken or freed.
static void mark_indices(const espl__store *store, const uint32_t *indices, size_t count)
{
    const espl__plane plane = store->index_plane;

    if (!espl__plane_is_open(&plane)) {
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        espl__plane_mark(&plane, indices[i]);
    }
}

// --- Indices ---

// Give the index plane and a follower, which needs the plane, as much room as the records have.
static ESPL__APART bool grow_followed(espl__store *store)
{
    return (store->index_plane.capacity >= plane_room(store) || remake_plane(store)) &&
           espl__heap_grow(store->heap, ESPL__GROWTH_RECORDS, 0, plane_room(store));
}

// The free indices come first, so that only the rest needs new records.
espl_status espl__entities_reserve(espl__store *store, size_t count)
{
    const size_t issued = espl__array_length(store->records);

    if (count <= store->free_count) {
        return ESPL_OK;
    }
    const size_t more = count - store->free_count;
    if (more > INDEX_LIMIT - issued) {
        return ESPL_ERR_LIMIT;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->records, more)) {
        return ESPL_ERR_NO_MEMORY;
    }
    return !espl__plane_is_open(&store->index_plane) || grow_followed(store) ? ESPL_OK
                                                                             : ESPL_ERR_NO_MEMORY;
}

// Take the first index of the free list.
static uint32_t take_freed(espl__store *store)
{
    const uint32_t index = store->free_head;

    ESPL_CHECK(store->free_count > 0 && index < espl__array_length(store->records));
    ESPL_CHECK(store->records[index].row == ESPL__NONE);
    store->free_head = store->records[index].chunk;
    store->free_count -= 1;
    return index;
}

// Issue a new index. Its first generation is 1.
static uint32_t take_new(espl__store *store)
{
    const uint32_t index = (uint32_t)espl__array_length(store->records);

    ESPL_CHECK(index < INDEX_LIMIT);
    ESPL_ARRAY_PUSH(store->records,
                    (espl__record){.generation = store->tag << ESPL__TAG_SHIFT | 1});
    return index;
}

// The entity has no row until espl__row_add() or espl__rows_copy() gives it one, so that its handle
// is not alive before.
espl_entity espl__entity_take(espl__store *store)
{
    const bool has_freed = store->free_head != ESPL__NONE;
    const uint32_t index = has_freed ? take_freed(store) : take_new(store);
    espl__record *const record = &store->records[index];

    record->chunk = ESPL__NONE;
    record->row = ESPL__NONE;
    record->slot = ESPL__NONE;
    store->alive_count += 1;
    ESPL_CHECK_FULL(are_indices_counted(store));
    mark_indices(store, &index, 1);
    return espl__entity_at(store, index);
}

// The free list is walked once. Records of free indices are only read, because espl__rows_copy()
// writes them as a whole.
void espl__entities_take(espl__store *store, espl_entity *out, size_t count)
{
    const espl__record *const records = store->records;
    const size_t freed = count < store->free_count ? count : store->free_count;
    uint32_t index = store->free_head;

    for (size_t i = 0; i < freed; ++i) {
        const espl__record *const record = &records[index];

        ESPL_CHECK_FULL(index < espl__array_length(store->records) && record->row == ESPL__NONE);
        ESPL_CHECK(record->slot < espl__array_length(store->records));
        espl__prefetch_to_write(&records[record->slot]);
        out[i] = (espl_entity){index, record->generation};
        index = record->chunk;
    }
    espl__store_mark_entities(store, out, freed);
    store->free_head = index;
    store->free_count -= freed;
    store->alive_count += freed;
    ESPL_CHECK((store->free_head == ESPL__NONE) == (store->free_count == 0));
    ESPL_CHECK(are_indices_counted(store));
    for (size_t i = freed; i < count; ++i) {
        out[i] = espl__entity_take(store);
    }
}

// The state of a loop that frees indices. It is apart from the store, so that it stays in
// registers.
typedef struct freed_indices {
    uint32_t head;        // of the free list
    uint32_t at;          // see note_freed()
    uint32_t least, last; // generation words of a free index: the least and the last one
    size_t retired;
} freed_indices;

// Start with the free list of the store.
static void begin_freeing(const espl__store *store, size_t count, freed_indices *out)
{
    ESPL_CHECK(store->alive_count >= count);
    (void)count;
    const uint32_t tag = store->tag << ESPL__TAG_SHIFT;

    *out = (freed_indices){.head = store->free_head,
                           .at = store->freed_at,
                           .least = tag + store->least_generation,
                           .last = tag + ESPL__LAST_GENERATION};
}

// Note an index that is freed, and return the one that was freed ESPL__FREED_NOTED calls before.
//
// A walk along the free list waits for memory at each record, because the records are in any order
// in memory. So a free record names one that is ESPL__FREED_NOTED entries further down the list,
// for a prefetch. The distance differs where indices were taken in between.
static inline uint32_t note_freed(espl__store *store, freed_indices *all, uint32_t index)
{
    uint32_t *const entry = &store->freed[all->at++ % ESPL__FREED_NOTED];
    const uint32_t earlier = *entry;

    *entry = index;
    return earlier;
}

// A free index has it already. The generation of a retired index is its last one.
uint32_t espl__unused_generation(const espl__store *store, uint32_t index)
{
    const espl__record *const record = &store->records[index];
    const uint32_t generation = record->generation & ESPL__GENERATION_MASK;

    if (record->row == ESPL__NONE) {
        return generation;
    }
    return generation < store->least_generation ? store->least_generation : generation + 1;
}

// Push an index to the free list with its next generation, or retire it.
static inline void free_index(espl__store *store, espl__record *record, uint32_t index,
                              freed_indices *all)
{
    ESPL_CHECK_FULL(record->generation >> ESPL__TAG_SHIFT == store->tag);
    const uint32_t next = record->generation + 1;
    const uint32_t generation = next > all->least ? next : all->least;

    // After the last generation the index is retired, because the first generation again would make
    // the handles of the first entity valid.
    if (generation > all->last) {
        record->generation = all->last;
        record->chunk = ESPL__NONE;
        record->row = ESPL__ROW_RETIRED;
        all->retired += 1;
        return;
    }
    *record = (espl__record){.generation = generation,
                             .chunk = all->head,
                             .row = ESPL__NONE,
                             .slot = note_freed(store, all, index)};
    all->head = index;
}

// Write the free list and the counts back to the store.
static void end_freeing(espl__store *store, size_t count, const freed_indices *all)
{
    ESPL_CHECK(all->retired <= count);
    store->free_head = all->head;
    store->freed_at = all->at;
    store->free_count += count - all->retired;
    store->retired_count += all->retired;
    store->alive_count -= count;
    ESPL_CHECK(are_indices_counted(store));
}

// Free a living index. Its row leaves at the next settle, found by the old contents of its record.
static inline void remove_index(espl__store *store, uint32_t index, freed_indices *all)
{
    espl__record *const record = &store->records[index];

    ESPL_CHECK(index < espl__array_length(store->records));
    espl__row_set_leaving(store, record->chunk, espl__record_row(record));
    free_index(store, record, index, all);
}

// Remove the names of entities that are destroyed, and their links to originals.
static inline void remove_labels(espl__store *store, const uint32_t *indices, size_t count)
{
    if (store->names.count != 0) {
        espl__names_remove(&store->names, store->heap, indices, count);
    }
    if (store->counterparts.count != 0) {
        espl__counterparts_remove(&store->counterparts, indices, count);
    }
}

// Records and chunks are prefetched, because the indices are in any order. The chunk of an index is
// known when its record has arrived, so that it is prefetched at a smaller distance.
void espl__entities_remove(espl__store *store, const uint32_t *indices, size_t count)
{
    enum { FAR = 48, NEAR = 16 };
    const espl__record *const records = store->records;
    freed_indices all;
    size_t at = 0;

    begin_freeing(store, count, &all);
    for (; at + FAR < count; ++at) {
        espl__prefetch_to_write(&records[indices[at + FAR]]);
        espl__prefetch_to_write(&store->chunks[records[indices[at + NEAR]].chunk]);
        remove_index(store, indices[at], &all);
    }
    // The records of the last indices are prefetched. Some of their chunks are not.
    for (; at < count; ++at) {
        if (at + NEAR < count) {
            espl__prefetch_to_write(&store->chunks[records[indices[at + NEAR]].chunk]);
        }
        remove_index(store, indices[at], &all);
    }
    end_freeing(store, count, &all);
    mark_indices(store, indices, count);
    remove_labels(store, indices, count);
}

// One index needs no prefetches.
void espl__entity_remove(espl__store *store, uint32_t index)
{
    freed_indices all;

    begin_freeing(store, 1, &all);
    remove_index(store, index, &all);
    end_freeing(store, 1, &all);
    mark_indices(store, &index, 1);
    remove_labels(store, &index, 1);
}

void espl__entity_release(espl__store *store, uint32_t index)
{
    freed_indices all;

    begin_freeing(store, 1, &all);
    ESPL_CHECK(index < espl__array_length(store->records));
    ESPL_CHECK(store->records[index].row == ESPL__NONE);
    free_index(store, &store->records[index], index, &all);
    end_freeing(store, 1, &all);
    mark_indices(store, &index, 1);
}

espl_status espl__entity_check(const espl__store *store, espl_entity entity)
{
    if (espl_entity_is_null(entity)) {
        return ESPL_ERR_NULL_ENTITY;
    }
    if (espl__is_pending(entity)) {
        return ESPL_ERR_PENDING;
    }
    if (entity.generation >> ESPL__TAG_SHIFT != store->tag ||
        entity.index >= espl__array_length(store->records)) {
        return ESPL_ERR_FOREIGN;
    }

    const espl__record *const record = &store->records[entity.index];
    if (record->generation != entity.generation || record->row >= ESPL__ROW_RETIRED) {
        return ESPL_ERR_DEAD;
    }
    return ESPL_OK;
}

// Records and rows are prefetched, because entities of neighbours in a tree may be far apart in memory.
// The last ones are not.
void espl__entities_record_slots(void *context, const uint32_t *entities, uint32_t first,
                                 uint32_t count)
{
    enum { FAR = 16, NEAR = 8, STRIDE = 4 };
    const espl__store *const store = context;
    const espl__record *const records = store->records;
    uint32_t i = 0;

    // Fast path: a node that moves by itself.
    if (count == 1) {
        espl__entity_set_slot(store, entities[0], first);
        return;
    }
    for (; i + FAR < count; ++i) {
        const espl__record *const near = &records[entities[STRIDE * (i + NEAR)]];
        const espl__chunk *const chunk = &store->chunks[near->chunk];

        espl__prefetch_to_write(&records[entities[STRIDE * (i + FAR)]]);
        if (chunk->slots_offset != ESPL__NONE) {
            espl__prefetch_to_write(chunk->bytes + chunk->slots_offset +
                                    espl__record_row(near) * sizeof(uint32_t));
        }
        espl__entity_set_slot(store, entities[STRIDE * i], first + i);
    }
    for (; i < count; ++i) {
        espl__entity_set_slot(store, entities[STRIDE * i], first + i);
    }
}
