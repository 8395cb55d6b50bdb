// SPDX-License-Identifier: MIT
// The pool of entity indices: handles with generations, a free list, indices that retire when
// their generations are used up.
#include "lib/store/store.h"

#include "lib/base/ahead.h"

#define INDEX_LIMIT ((size_t)1 << ESPL__INDEX_BITS)
#define LAST_GENERATION ((UINT32_C(1) << ESPL__GENERATION_BITS) - 1)
#define GENERATION_MASK ((UINT32_C(1) << ESPL__TAG_SHIFT) - 1)

_Static_assert((int)ESPL__GENERATION_BITS <= (int)ESPL__TAG_SHIFT, "the tag stands above");
_Static_assert(sizeof(espl__record) == 16, "four records a cache line");

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
    return ESPL_OK;
}

// A chain of records that stand anywhere is read one after the other, each a wait for memory, unless
// those further down are asked for: a free record names one that was freed some calls before it, which
// is as far down the chain unless some were taken between.
static uint32_t note_freed(espl__store *store, uint32_t index)
{
    uint32_t *const place = &store->freed[store->freed_at++ % ESPL__FREED_NOTED];
    const uint32_t before = *place;

    *place = index;
    return before;
}

static uint32_t take_freed(espl__store *store)
{
    const uint32_t index = store->free_head;

    store->free_head = store->records[index].chunk;
    store->free_count -= 1;
    return index;
}

static uint32_t take_new(espl__store *store)
{
    const uint32_t index = (uint32_t)espl__array_length(store->records);

    ESPL_ARRAY_PUSH(store->records,
                    (espl__record){.generation = store->tag << ESPL__TAG_SHIFT | 1});
    return index;
}

espl_entity espl__entity_take(espl__store *store)
{
    const bool has_freed = store->free_head != ESPL__NONE;
    const uint32_t index = has_freed ? take_freed(store) : take_new(store);
    espl__record *const record = &store->records[index];

    record->chunk = ESPL__NONE;
    record->row = ESPL__NONE;
    record->slot = ESPL__NONE;
    store->alive_count += 1;
    return espl__entity_at(store, index);
}

void espl__entities_take(espl__store *store, espl_entity *out, size_t count)
{
    const espl__record *const records = store->records;
    const size_t freed = count < store->free_count ? count : store->free_count;
    uint32_t index = store->free_head;

    for (size_t i = 0; i < freed; ++i) {
        const espl__record *const record = &records[index];

        ESPL_CHECK(record->slot < espl__array_length(store->records));
        espl__ask_to_write(&records[record->slot]);
        out[i] = (espl_entity){index, record->generation};
        index = record->chunk;
    }
    store->free_head = index;
    store->free_count -= freed;
    store->alive_count += freed;
    for (size_t i = freed; i < count; ++i) {
        out[i] = espl__entity_take(store);
    }
}

// Indices that are freed one after the other, and what comes of it.
typedef struct freeing {
    uint32_t head; // of the free list
    size_t retired;
} freeing;

static void begin_freeing(const espl__store *store, size_t count, freeing *out)
{
    ESPL_CHECK(store->alive_count >= count);
    (void)count;
    *out = (freeing){store->free_head, 0};
}

static inline void free_one(espl__store *store, espl__record *record, uint32_t index, freeing *all)
{
    // A generation that came around again would revive every handle of its first life.
    if ((record->generation & GENERATION_MASK) == LAST_GENERATION) {
        record->chunk = ESPL__NONE;
        record->row = ESPL__ROW_RETIRED;
        all->retired += 1;
        return;
    }
    *record = (espl__record){.generation = record->generation + 1,
                             .chunk = all->head,
                             .row = ESPL__NONE,
                             .slot = note_freed(store, index)};
    all->head = index;
}

static void end_freeing(espl__store *store, size_t count, const freeing *all)
{
    store->free_head = all->head;
    store->free_count += count - all->retired;
    store->retired_count += all->retired;
    store->alive_count -= count;
}

static inline void remove_one(espl__store *store, uint32_t index, freeing *all)
{
    espl__record *const record = &store->records[index];

    ESPL_CHECK(index < espl__array_length(store->records));
    espl__row_mark_leaving(store, record->chunk, record->row);
    free_one(store, record, index, all);
}

// Places are looked up at random: what comes next is asked for ahead, records first, then their
// chunks.
void espl__entities_remove(espl__store *store, const uint32_t *indices, size_t count)
{
    enum { FAR = 48, NEAR = 16 };
    const espl__record *const records = store->records;
    freeing all;
    size_t at = 0;

    begin_freeing(store, count, &all);
    for (; at + FAR < count; ++at) {
        espl__ask_to_write(&records[indices[at + FAR]]);
        espl__ask_to_write(&store->chunks[records[indices[at + NEAR]].chunk]);
        remove_one(store, indices[at], &all);
    }
    // The last ones, of which a few have chunks that were not asked for.
    for (; at < count; ++at) {
        if (at + NEAR < count) {
            espl__ask_to_write(&store->chunks[records[indices[at + NEAR]].chunk]);
        }
        remove_one(store, indices[at], &all);
    }
    end_freeing(store, count, &all);
}

void espl__entity_release(espl__store *store, uint32_t index)
{
    freeing all;

    begin_freeing(store, 1, &all);
    ESPL_CHECK(index < espl__array_length(store->records));
    free_one(store, &store->records[index], index, &all);
    end_freeing(store, 1, &all);
}

espl_status espl__entity_check(const espl__store *store, espl_entity entity)
{
    if (espl_entity_is_null(entity)) {
        return ESPL_ERR_NULL_ENTITY;
    }
    // A pending handle's bit 31 stands above the tag, so that it equals no tag.
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
