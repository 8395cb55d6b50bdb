// SPDX-License-Identifier: MIT
// A store that gets the contents of another world: it is made beside the old one with all of its memory,
// which is the only thing that can fail, and then takes its place. The registry of components stays, so that
// both stores have it until one of them is freed.
#include "lib/store/store.h"

#include <string.h>

void espl__store_begin(espl__store *made, const espl__store *old)
{
    *made = (espl__store){.heap = old->heap,
                          .tag = old->tag,
                          .free_head = ESPL__NONE,
                          .component_names = old->component_names,
                          .version = old->version + 1,
                          .referring_count = old->referring_count,
                          .unique_count = old->unique_count,
                          .fill_least = old->fill_least};
    memcpy(made->component_blocks, old->component_blocks, sizeof made->component_blocks);
    atomic_store_explicit(&made->component_count,
                          atomic_load_explicit(&old->component_count, memory_order_relaxed),
                          memory_order_relaxed);
    made->index_plane.moment = old->index_plane.moment;
}

// The room is exact, because the world may never issue another index.
espl_status espl__store_make_records(espl__store *made, uint32_t count)
{
    const espl_status status = espl__entities_reserve(made, count);

    if (status == ESPL_OK) {
        espl__array_set_length(made->records, count);
    }
    return status;
}

bool espl__store_lends_records(const espl__store *old, uint32_t count)
{
    const size_t room = espl__array_capacity(old->records);

    return !espl__plane_is_open(&old->index_plane) && count <= room && room / 2 <= count &&
           !espl__array_always_moves(0);
}

void espl__store_take_records(espl__store *made, espl__store *old, uint32_t count)
{
    ESPL_CHECK(made->records == NULL && !espl__plane_is_open(&made->index_plane));
    made->records = old->records;
    old->records = NULL;
    espl__array_set_length(made->records, count);
}

// Say how many rows the chunks of an archetype have. Columns count as written now.
static void open_rows(espl__store *made, espl__archetype *archetype, uint32_t rows)
{
    const size_t columns = espl__array_length(archetype->columns);

    archetype->count = rows;
    archetype->wanted = 0;
    for (uint32_t i = 0; rows != 0; ++i) {
        espl__chunk *const chunk = &made->chunks[archetype->chunks[i]];

        chunk->count = rows < archetype->capacity ? rows : archetype->capacity;
        rows -= chunk->count;
        for (size_t column = 0; column <= columns; ++column) {
            chunk->versions[column] = made->version;
        }
    }
}

// Tell whether an archetype can get the blocks of that of a store with the same number.
static bool lends_chunks(const espl__store *old, const espl__store *made, uint32_t number,
                         uint32_t rows)
{
    const espl__archetype *const wanting = &made->archetypes[number];

    if (old == NULL || number >= espl__array_length(old->archetypes)) {
        return false;
    }
    const espl__archetype *const lending = &old->archetypes[number];

    return lending->chunk_bytes == wanting->chunk_bytes &&
           lending->block_alignment == wanting->block_alignment &&
           (rows - 1) / wanting->capacity < espl__array_length(lending->chunks);
}

// Reserve rows for an archetype, and open them unless they come from another store later.
static espl_status give_rows(espl__store *made, uint32_t number, uint32_t rows,
                             const espl__store *old)
{
    if (rows != 0 && lends_chunks(old, made, number, rows)) {
        return espl__rows_expect(made, number, rows);
    }
    const espl_status status = rows != 0 ? espl__rows_reserve(made, number, rows) : ESPL_OK;

    if (status == ESPL_OK) {
        open_rows(made, &made->archetypes[number], rows);
    }
    return status;
}

espl_status espl__store_make_archetype(espl__store *made, const espl_component *set, size_t count,
                                       uint32_t rows, const espl__store *old)
{
    const uint32_t number = (uint32_t)espl__array_length(made->archetypes);
    uint32_t found = ESPL__NONE;
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count; ++i) {
        if (espl__component_info_of(made, set[i]) == NULL || (i != 0 && set[i] <= set[i - 1])) {
            return ESPL_ERR_FORMAT;
        }
    }
    status =
        count > ESPL_SET_LIMIT ? ESPL_ERR_FORMAT : espl__archetype_of(made, set, count, &found);
    if (status == ESPL_OK && found != number) {
        status = ESPL_ERR_FORMAT; // it repeats a set
    }
    return status == ESPL_OK ? give_rows(made, number, rows, old) : status;
}

void espl__store_take_chunks(espl__store *made, espl__store *old)
{
    const size_t count = espl__array_length(made->archetypes);

    for (uint32_t number = 0; number < count; ++number) {
        espl__archetype *const archetype = &made->archetypes[number];
        const uint32_t rows = (uint32_t)archetype->coming;

        if (rows != 0) {
            espl__rows_take(made, number, old);
            open_rows(made, archetype, rows);
        }
    }
}

void espl__store_finish(espl__store *made)
{
    espl__rows_settle(made, NULL, NULL);
    if (espl__plane_is_open(&made->index_plane)) {
        espl__plane_mark_range(&made->index_plane, 0, (uint32_t)espl__array_length(made->records));
    }
}

// The registry is that of the other store.
void espl__store_discard(espl__store *store)
{
    const espl__map none = {0};

    memset(store->component_blocks, 0, sizeof store->component_blocks);
    store->component_names = none;
    atomic_store_explicit(&store->component_count, 0, memory_order_relaxed);
    espl__store_free(store);
}
