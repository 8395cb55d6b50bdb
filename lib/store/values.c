// SPDX-License-Identifier: MIT
// Addresses of component values, for reading and for writing. A write gives the column of the chunk
// the next version of the store.
#include "lib/store/store.h"

#include <string.h>

// The filled part doubles with each copy. memmove() for the first copy, because the value may be
// inside the array.
void espl__value_repeat(unsigned char *to, const unsigned char *value, size_t size, size_t count)
{
    const size_t total = size * count;
    size_t done = size;

    ESPL_CHECK(count > 0 && size > 0);
    memmove(to, value, size);
    while (done < total) {
        const size_t step = done < total - done ? done : total - done;

        memcpy(to + done, to, step);
        done += step;
    }
}

// --- Reading values ---

// The search for the column is linear in the size of the set, so that loops over rows use
// espl__chunk_column() instead.
void *espl__row_value(const espl__store *store, uint32_t index, espl_component component)
{
    const espl__record *const record = &store->records[index];
    const espl__chunk *const chunk = &store->chunks[record->chunk];
    const espl__archetype *const archetype = &store->archetypes[chunk->archetype];
    const uint32_t at = espl__archetype_column(archetype, component);

    ESPL_CHECK(index < espl__array_length(store->records) &&
               espl__record_row(record) < chunk->count);
    if (at == ESPL__NONE) {
        return NULL;
    }
    return chunk->bytes + archetype->columns[at].offset +
           (size_t)espl__record_row(record) * archetype->columns[at].size;
}

void *espl__chunk_column(const espl__store *store, uint32_t chunk, espl_component component)
{
    const espl__chunk *const in = &store->chunks[chunk];
    const espl__archetype *const archetype = &store->archetypes[in->archetype];
    const uint32_t at = espl__archetype_column(archetype, component);

    ESPL_CHECK(chunk < espl__array_length(store->chunks) && in->bytes != NULL);
    return at == ESPL__NONE ? NULL : in->bytes + archetype->columns[at].offset;
}

// --- Writing values ---

void *espl__chunk_write(espl__store *store, uint32_t chunk, espl_component component)
{
    const espl__chunk *const in = &store->chunks[chunk];
    const espl__archetype *const archetype = &store->archetypes[in->archetype];
    const uint32_t at = espl__archetype_column(archetype, component);

    if (at == ESPL__NONE) {
        return NULL;
    }
    ESPL_CHECK(in->versions[at + 1] <= store->version);
    in->versions[at + 1] = ++store->version;
    return in->bytes + archetype->columns[at].offset;
}

// The address comes from the write of the whole column, because versions are kept for each column
// of a chunk.
void *espl__row_write(espl__store *store, uint32_t index, espl_component component)
{
    const espl__record *const record = &store->records[index];
    unsigned char *const column = espl__chunk_write(store, record->chunk, component);

    ESPL_CHECK(espl__record_row(record) < store->chunks[record->chunk].count);
    return column == NULL ? NULL
                          : column + (size_t)espl__record_row(record) *
                                         espl__component_info_of(store, component)->size;
}

// An empty range is no write: the version of the column stays.
void espl__rows_fill(espl__store *store, uint32_t chunk, espl_component component, uint32_t first,
                     uint32_t count, const void *value)
{
    const size_t size = espl__component_info_of(store, component)->size;
    unsigned char *const column = count == 0 ? NULL : espl__chunk_write(store, chunk, component);

    ESPL_CHECK(first <= UINT32_MAX - count && first + count <= store->chunks[chunk].count);
    if (column == NULL) {
        return;
    }
    if (value == NULL) {
        memset(column + first * size, 0, count * size);
    } else {
        espl__value_repeat(column + first * size, value, size, count);
    }
}

void espl__rows_fill_last(espl__store *store, uint32_t number, espl_component component,
                          size_t count, const void *value)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    ESPL_CHECK(count <= archetype->count);
    size_t row = archetype->count - count;

    // One call for each chunk that has some of the rows.
    while (row < archetype->count) {
        const uint32_t chunk = archetype->chunks[row / archetype->capacity];
        const uint32_t first = (uint32_t)(row % archetype->capacity);
        const uint32_t here = store->chunks[chunk].count - first;

        espl__rows_fill(store, chunk, component, first, here, value);
        row += here;
    }
}

uint64_t espl__chunk_version(const espl__store *store, uint32_t chunk, espl_component component)
{
    const espl__chunk *const in = &store->chunks[chunk];
    const uint32_t at = espl__archetype_column(&store->archetypes[in->archetype], component);

    // A component without a column has the version of the handles.
    return in->versions[at == ESPL__NONE ? 0 : at + 1];
}
