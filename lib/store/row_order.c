// SPDX-License-Identifier: MIT
// Reordering of rows in place, by swaps. It needs no memory and cannot fail.
#include "lib/store/store.h"

#include <string.h>

// --- Swapping ---

// Swap two values, through a buffer in registers or on the stack.
static void swap_bytes(unsigned char *a, unsigned char *b, size_t size)
{
    unsigned char held[64];

    for (size_t part; size > 0; size -= part, a += part, b += part) {
        part = size < sizeof held ? size : sizeof held;
        memcpy(held, a, part);
        memcpy(a, b, part);
        memcpy(b, held, part);
    }
}

// Count all columns of a chunk as written at a version, so that queries for changes find its rows.
static void set_versions(const espl__chunk *chunk, const espl__archetype *archetype,
                         uint64_t version)
{
    const size_t columns = espl__array_length(archetype->columns);

    ESPL_CHECK(chunk->versions[0] <= version);
    // One test, because the versions of a chunk are set together.
    if (chunk->versions[0] != version) {
        for (size_t i = 0; i <= columns; ++i) {
            chunk->versions[i] = version;
        }
    }
}

// Write the place of a row to the record of its handle.
static void update_record(const espl__store *store, uint32_t number, uint32_t row)
{
    const espl__chunk *const chunk = &store->chunks[number];
    const espl_entity entity = espl__chunk_entities(chunk)[row];
    espl__record *const record = &store->records[entity.index];

    record->chunk = number;
    record->row = espl__row_word(chunk, row);
}

// Swap the row of a record with another row of its archetype. The slot column is swapped like every
// column.
static void swap_rows(const espl__store *store, const espl__record *from, uint32_t to_chunk,
                      uint32_t to_row)
{
    const uint32_t from_chunk = from->chunk, from_row = espl__record_row(from);
    const espl__chunk *const a = &store->chunks[from_chunk], *const b = &store->chunks[to_chunk];
    const espl__archetype *const archetype = &store->archetypes[a->archetype];
    const size_t column_count = espl__array_length(archetype->columns);

    ESPL_CHECK(a->archetype == b->archetype && from_row < a->count && to_row < b->count);
    swap_bytes(a->bytes + from_row * sizeof(espl_entity), b->bytes + to_row * sizeof(espl_entity),
               sizeof(espl_entity));
    for (size_t i = 0; i < column_count; ++i) {
        const espl__column column = archetype->columns[i];

        swap_bytes(a->bytes + column.offset + (size_t)from_row * column.size,
                   b->bytes + column.offset + (size_t)to_row * column.size, column.size);
    }
    update_record(store, from_chunk, from_row);
    update_record(store, to_chunk, to_row);
    set_versions(a, archetype, store->version);
    set_versions(b, archetype, store->version);
}

// --- Ordering ---

// Return the place of a row among all rows of its archetype.
static size_t rank_of_row(const espl__store *store, const espl__record *record)
{
    const espl__chunk *const chunk = &store->chunks[record->chunk];

    return (size_t)chunk->position * store->archetypes[chunk->archetype].capacity +
           espl__record_row(record);
}

// Prefetch a record and, at a smaller distance, its row. Records are in the order of indices and
// rows in an older order, so that both are in any order here.
static void prefetch_rows(const espl__store *store, const uint32_t *indices, size_t stride,
                          size_t at, size_t count)
{
    enum { FAR = 32, NEAR = 16 };
    const uint32_t far = at + FAR < count ? indices[(at + FAR) * stride] : ESPL__NONE;
    const uint32_t near = at + NEAR < count ? indices[(at + NEAR) * stride] : ESPL__NONE;

    if (far != ESPL__NONE) {
        espl__prefetch_to_write(&store->records[far]);
    }
    if (near != ESPL__NONE) {
        const espl__record *const record = &store->records[near];

        espl__prefetch_to_write(espl__chunk_entities(&store->chunks[record->chunk]) +
                                espl__record_row(record));
    }
}

// Each listed entity of an archetype is swapped to the row after that of the listed entity before
// it. `coming` counts the rows that have their final positions. The row that was there moves to the
// old position of the entity. It had no final position, because no entity is listed twice.
void espl__rows_put_in_order(espl__store *store, const uint32_t *indices, size_t stride,
                             size_t count)
{
    const size_t archetype_count = espl__array_length(store->archetypes);
    bool is_moved = false;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t index = indices[i * stride];

        prefetch_rows(store, indices, stride, i, count);
        if (index == ESPL__NONE) {
            continue;
        }
        ESPL_CHECK(index < espl__array_length(store->records));
        const espl__record *const record = &store->records[index];
        espl__archetype *const archetype =
            &store->archetypes[store->chunks[record->chunk].archetype];
        const size_t position = archetype->coming++;
        const uint32_t chunk = archetype->chunks[position / archetype->capacity];
        const uint32_t row = (uint32_t)(position % archetype->capacity);

        ESPL_CHECK(position < archetype->count);
        ESPL_CHECK_FULL(rank_of_row(store, record) >= position);
        if (record->chunk != chunk || espl__record_row(record) != row) {
            // All moves together are one write.
            store->version += is_moved ? 0 : 1;
            is_moved = true;
            swap_rows(store, record, chunk, row);
        }
    }
    for (size_t i = 0; i < archetype_count; ++i) {
        ESPL_CHECK(store->archetypes[i].coming <= store->archetypes[i].count);
        store->archetypes[i].coming = 0;
    }
}
