// SPDX-License-Identifier: MIT
// The rewind of a store: records, rows, names and counterparts.
#include "lib/value/rewind.h"

#include <string.h>

// --- Chunks ---

// Drop chunks of an archetype from its end, whatever rows they have.
static void drop_chunks(espl__store *store, espl__archetype *archetype, uint32_t kept)
{
    while (espl__array_length(archetype->chunks) > kept) {
        espl__chunk *const chunk =
            &store->chunks[archetype->chunks[espl__array_length(archetype->chunks) - 1]];

        archetype->count -= chunk->count;
        chunk->count = 0;
        espl__chunk_drop(store, archetype);
    }
}

void espl__rewind_drop_rows(espl__shadow *shadow)
{
    espl__store *const store = &shadow->world->store;
    const uint32_t kept = shadow->numbers.archetypes;
    const uint32_t count = (uint32_t)espl__array_length(store->archetypes);

    for (uint32_t i = 0; i < count; ++i) {
        drop_chunks(store, &store->archetypes[i], i < kept ? shadow->archetypes[i].rows.chunks : 0);
    }
    espl__archetypes_forget(store, kept);
}

// --- Records ---

static void restore_record(const espl__shadow *shadow, uint32_t index, bool was_there)
{
    espl__store *const store = &shadow->world->store;
    const espl__record *const from = &shadow->records[index];
    espl__record *const record = &store->records[index];
    const bool was_alive = was_there && record->row < ESPL__ROW_RETIRED;

    if (from->row >= ESPL__ROW_RETIRED) {
        // The hint of a free index may be any index.
        *record = *from;
        record->chunk = from->row == ESPL__NONE ? from->chunk : ESPL__NONE;
        record->slot = index;
        return;
    }
    // The row follows from the handles of its chunk, unless it is the present one.
    *record = (espl__record){.generation = from->generation,
                             .chunk = was_alive ? record->chunk : ESPL__NONE,
                             .row = was_alive ? record->row : 0,
                             .slot = from->slot};
}

static void mark_index(espl__shadow *shadow, uint32_t index, void *context)
{
    (void)context;
    espl__plane_mark(&shadow->world->store.index_plane, index);
}

static espl__name *name_then(const espl__shadow *shadow, uint32_t index)
{
    return index < shadow->numbers.records ? shadow->names[index].text : NULL;
}

// Remove a name that the index had not. All of them go first, so that the table has room for the others.
static void drop_name(espl__shadow *shadow, uint32_t index, void *context)
{
    espl__names *const names = &shadow->world->store.names;

    (void)context;
    if (espl__name_of(names, index) != name_then(shadow, index)) {
        espl__names_remove(names, &shadow->world->heap, &index, 1);
    }
}

static void put_name_back(espl__shadow *shadow, uint32_t index, void *context)
{
    espl__names *const names = &shadow->world->store.names;
    espl__name *const name = name_then(shadow, index);

    (void)context;
    if (name != NULL && espl__name_of(names, index) == NULL) {
        espl__name_put_back(names, index, name);
    }
}

static espl_entity original_then(const espl__shadow *shadow, uint32_t index)
{
    return index < shadow->numbers.records && espl__array_length(shadow->originals) != 0
               ? shadow->originals[index]
               : espl_entity_null();
}

// Remove a link that the index had not: all of them, before the others are put back.
static void drop_link(espl__shadow *shadow, uint32_t index, void *context)
{
    espl__counterparts *const links = &shadow->world->store.counterparts;

    (void)context;
    if (!espl_entity_equal(espl__original_of(links, index), original_then(shadow, index))) {
        espl__counterparts_remove(links, &index, 1);
    }
}

static void put_link_back(espl__shadow *shadow, uint32_t index, void *context)
{
    espl__counterparts *const links = &shadow->world->store.counterparts;
    const espl_entity original = original_then(shadow, index);

    (void)context;
    if (!espl_entity_is_null(original) && espl_entity_is_null(espl__original_of(links, index))) {
        espl__counterpart_put(links, index, original);
    }
}

static void restore_index(espl__shadow *shadow, uint32_t index, void *context)
{
    const uint32_t had = *(const uint32_t *)context;

    if (index < shadow->numbers.records) {
        restore_record(shadow, index, index < had);
    }
}

static void restore_records(espl__shadow *shadow)
{
    espl__store *const store = &shadow->world->store;
    uint32_t had = (uint32_t)espl__array_length(store->records);

    espl__rewind_each_index(shadow, drop_name, NULL);
    espl__rewind_each_index(shadow, put_name_back, NULL);
    espl__rewind_each_index(shadow, drop_link, NULL);
    espl__rewind_each_index(shadow, put_link_back, NULL);
    espl__rewind_each_index(shadow, mark_index, NULL);
    espl__array_set_length(store->records, shadow->numbers.records);
    espl__rewind_each_index(shadow, restore_index, &had);
    store->free_head = shadow->numbers.free_head;
    store->free_count = shadow->numbers.free_count;
    store->alive_count = shadow->numbers.alive_count;
    store->retired_count = shadow->numbers.retired_count;
    store->least_generation = shadow->numbers.least_generation;
    memset(store->freed, 0, sizeof store->freed);
    store->freed_at = 0;
}

// --- Rows ---

// A chunk that gets its rows back.
typedef struct restored_chunk {
    espl__shadow *shadow;
    espl__archetype *archetype;
    espl__chunk *chunk;
    uint32_t number; // of the chunk
    const unsigned char *from;
    uint32_t had, has; // rows
    uint64_t version;
} restored_chunk;

// Give a row another entity: values that are no part of a frame become zeros.
static void change_row(const restored_chunk *b, uint32_t row)
{
    const espl_entity *const entities = (const espl_entity *)(const void *)b->from;
    const size_t columns = espl__array_length(b->archetype->columns);

    for (size_t i = 0; i < columns; ++i) {
        const espl__column *const column = &b->archetype->columns[i];

        if (column->component != ESPL_TRANSFORM &&
            !espl__shadow_has_column(&b->shadow->world->store, column)) {
            memset(b->chunk->bytes + column->offset + (size_t)row * column->size, 0, column->size);
        }
    }
    mark_index(b->shadow, entities[row].index, NULL);
}

// Restore the handles, and give their records these rows. @return whether they changed.
static bool restore_handles(const restored_chunk *b)
{
    const size_t size = b->has * sizeof(espl_entity);

    if (b->had == b->has && memcmp(b->chunk->bytes, b->from, size) == 0) {
        return false;
    }
    for (uint32_t row = 0; row < b->has; ++row) {
        const size_t at = row * sizeof(espl_entity);

        if (row >= b->had || memcmp(b->chunk->bytes + at, b->from + at, sizeof(espl_entity)) != 0) {
            change_row(b, row);
        }
    }
    memcpy(b->chunk->bytes, b->from, size);
    b->chunk->count = b->has;
    return true;
}

static void link_restored_rows(const restored_chunk *b)
{
    espl__store *const store = &b->shadow->world->store;
    const espl_entity *const entities = espl__chunk_entities(b->chunk);

    for (uint32_t row = 0; row < b->has; ++row) {
        espl__record *const record = &store->records[entities[row].index];

        ESPL_CHECK(record->generation == entities[row].generation);
        record->chunk = b->number;
        record->row = espl__row_word(b->chunk, row);
        espl__entity_set_slot(store, entities[row].index, record->slot);
    }
}

static void restore_chunk(const restored_chunk *b)
{
    const espl__store *const store = &b->shadow->world->store;
    const size_t columns = espl__array_length(b->archetype->columns);
    const bool is_moved = restore_handles(b);

    for (size_t i = 0; i < columns; ++i) {
        const espl__column *const column = &b->archetype->columns[i];
        const size_t size = (size_t)column->size * b->has;

        if (espl__shadow_has_column(store, column) &&
            (b->had != b->has ||
             memcmp(b->chunk->bytes + column->offset, b->from + column->offset, size) != 0)) {
            memcpy(b->chunk->bytes + column->offset, b->from + column->offset, size);
            b->chunk->versions[i + 1] = b->version;
        }
    }
    if (is_moved) {
        for (size_t i = 0; i <= columns; ++i) {
            b->chunk->versions[i] = b->version;
        }
        link_restored_rows(b);
    }
}

// Tell whether a column of a chunk was written since the last update.
static bool is_chunk_written(const espl__shadow *shadow, const espl__archetype *archetype,
                             const espl__chunk *chunk)
{
    const size_t columns = espl__array_length(archetype->columns);
    bool is_later = false;

    for (size_t i = 0; i <= columns; ++i) {
        is_later = is_later || chunk->versions[i] > shadow->version;
    }
    return is_later;
}

static void restore_archetype(espl__shadow *shadow, uint32_t number, uint64_t version)
{
    espl__store *const store = &shadow->world->store;
    espl__archetype *const archetype = &store->archetypes[number];
    espl__shadow_archetype *const from = &shadow->archetypes[number];

    // Fast path: no column was written since.
    if (!from->is_touched && store->version == shadow->version + 1 &&
        archetype->count == from->rows.count &&
        espl__array_length(archetype->chunks) == from->rows.chunks) {
        return;
    }
    from->is_touched = false;
    while (espl__array_length(archetype->chunks) < from->rows.chunks) {
        const bool is_there = espl__chunk_put_back(store, number);

        ESPL_CHECK(is_there);
        (void)is_there;
    }
    for (uint32_t position = 0; position < from->rows.chunks; ++position) {
        const uint32_t chunk = archetype->chunks[position];
        const restored_chunk b = {.shadow = shadow,
                                  .archetype = archetype,
                                  .chunk = &store->chunks[chunk],
                                  .number = chunk,
                                  .from = from->chunks[position].bytes,
                                  .had = store->chunks[chunk].count,
                                  .has =
                                      espl__shadow_rows_at(archetype, from->rows.count, position),
                                  .version = version};

        if (from->chunks[position].is_touched || b.had != b.has ||
            is_chunk_written(shadow, archetype, b.chunk)) {
            restore_chunk(&b);
        }
    }
    for (size_t i = 0; i < espl__array_length(from->chunks); ++i) {
        from->chunks[i].is_touched = false;
    }
    archetype->count = from->rows.count;
    archetype->wanted = 0;
}

// The slot column follows where the entity stayed in its row.
static void restore_slot_column(espl__shadow *shadow, uint32_t index, void *context)
{
    const espl__store *const store = &shadow->world->store;

    (void)context;
    if (index < shadow->numbers.records && espl__index_is_alive(store, index)) {
        espl__entity_set_slot(store, index, store->records[index].slot);
    }
}

// Keep the room that a user reserved since, as far as there are blocks for it.
static void keep_room(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];

    while (archetype->reserved < archetype->floor && espl__chunk_put_back(store, number)) {
    }
    archetype->floor =
        archetype->floor < archetype->reserved ? archetype->floor : archetype->reserved;
}

void espl__rewind_rows(espl__shadow *shadow)
{
    espl__store *const store = &shadow->world->store;
    const uint64_t version = ++store->version;

    restore_records(shadow);
    for (uint32_t i = 0; i < shadow->numbers.archetypes; ++i) {
        restore_archetype(shadow, i, version);
    }
    for (uint32_t i = 0; i < shadow->numbers.archetypes; ++i) {
        keep_room(store, i);
    }
    espl__rewind_each_index(shadow, restore_slot_column, NULL);
}
