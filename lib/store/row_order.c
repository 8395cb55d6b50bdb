// SPDX-License-Identifier: MIT
// Rows put in another order, in place: no memory is needed, and nothing can fail.
#include "lib/store/store.h"

#include "lib/base/ahead.h"

#include <string.h>

// --- Trading places ---

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

// Whoever watches a chunk finds rows changed there.
static void stamp(const espl__chunk *chunk, const espl__archetype *archetype, uint64_t version)
{
    const size_t columns = espl__array_length(archetype->columns);

    if (chunk->versions[0] != version) {
        for (size_t i = 0; i <= columns; ++i) {
            chunk->versions[i] = version;
        }
    }
}

static void claim_row(const espl__store *store, uint32_t number, uint32_t row)
{
    const espl_entity entity = espl__chunk_entities(&store->chunks[number])[row];
    espl__record *const record = &store->records[entity.index];

    record->chunk = number;
    record->row = row;
}

// Slots go along, as a column does.
static void swap_rows(const espl__store *store, const espl__record *from, uint32_t to_chunk,
                      uint32_t to_row)
{
    const uint32_t from_chunk = from->chunk, from_row = from->row;
    const espl__chunk *const a = &store->chunks[from_chunk], *const b = &store->chunks[to_chunk];
    const espl__archetype *const archetype = &store->archetypes[a->archetype];
    const size_t column_count = espl__array_length(archetype->columns);

    swap_bytes(a->bytes + from_row * sizeof(espl_entity), b->bytes + to_row * sizeof(espl_entity),
               sizeof(espl_entity));
    for (size_t i = 0; i < column_count; ++i) {
        const espl__column column = archetype->columns[i];

        swap_bytes(a->bytes + column.offset + (size_t)from_row * column.size,
                   b->bytes + column.offset + (size_t)to_row * column.size, column.size);
    }
    claim_row(store, from_chunk, from_row);
    claim_row(store, to_chunk, to_row);
    stamp(a, archetype, store->version);
    stamp(b, archetype, store->version);
}

// --- The whole ---

// Records lie in the order of indices, rows in that of an earlier time: both are asked for ahead.
static void look_ahead(const espl__store *store, const uint32_t *indices, size_t stride, size_t at,
                       size_t count)
{
    enum { FAR = 32, NEAR = 16 };
    const uint32_t far = at + FAR < count ? indices[(at + FAR) * stride] : ESPL__NONE;
    const uint32_t near = at + NEAR < count ? indices[(at + NEAR) * stride] : ESPL__NONE;

    if (far != ESPL__NONE) {
        espl__ask_to_write(&store->records[far]);
    }
    if (near != ESPL__NONE) {
        const espl__record *const record = &store->records[near];

        espl__ask_to_write(espl__chunk_entities(&store->chunks[record->chunk]) + record->row);
    }
}

void espl__rows_put_in_order(espl__store *store, const uint32_t *indices, size_t stride,
                             size_t count)
{
    const size_t archetype_count = espl__array_length(store->archetypes);
    bool is_moved = false;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t index = indices[i * stride];

        look_ahead(store, indices, stride, i, count);
        if (index == ESPL__NONE) {
            continue;
        }
        const espl__record *const record = &store->records[index];
        espl__archetype *const archetype =
            &store->archetypes[store->chunks[record->chunk].archetype];
        const size_t position = archetype->coming++;
        const uint32_t chunk = archetype->chunks[position / archetype->capacity];
        const uint32_t row = (uint32_t)(position % archetype->capacity);

        if (record->chunk != chunk || record->row != row) {
            // All that moves is one write.
            store->version += is_moved ? 0 : 1;
            is_moved = true;
            swap_rows(store, record, chunk, row);
        }
    }
    for (size_t i = 0; i < archetype_count; ++i) {
        store->archetypes[i].coming = 0;
    }
}
