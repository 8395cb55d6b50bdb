// SPDX-License-Identifier: MIT
// Room for rows: chunks come when a structural change reserves them, and go at its end where there
// are more than another change like it would need. The only part of the store's rows that allocates.
#include "lib/store/store.h"

#include <string.h>

static size_t chunks_for(const espl__archetype *archetype, size_t rows)
{
    return rows / archetype->capacity + (rows % archetype->capacity != 0);
}

void espl__archetype_note_change(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];

    if (!archetype->is_changed) {
        archetype->is_changed = true;
        ESPL_ARRAY_PUSH(store->changed, number);
    }
}

// Room for `more` chunk numbers in the table and, for every number, in the lists of numbers.
static espl_status reserve_numbers(espl__store *store, size_t more)
{
    const size_t free_count = espl__array_length(store->free_chunks);
    const size_t added = more > free_count ? more - free_count : 0;
    const size_t after = espl__array_length(store->chunks) + added;
    const size_t marked = espl__array_length(store->changed_chunks);

    // Past what memory holds.
    if (added > ESPL__NONE || after > ESPL__NONE) { // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_LIMIT;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->chunks, added) ||
        !ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->free_chunks, after - free_count) ||
        !ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, store->changed_chunks, after - marked)) {
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

// Take a chunk number, the last freed first; reserved.
static uint32_t take_number(espl__store *store)
{
    const size_t free_count = espl__array_length(store->free_chunks);

    if (free_count > 0) {
        espl__array_set_length(store->free_chunks, free_count - 1);
        return store->free_chunks[free_count - 1];
    }
    ESPL_ARRAY_PUSH(store->chunks, (espl__chunk){0});
    return (uint32_t)espl__array_length(store->chunks) - 1;
}

// Append an empty chunk to an archetype. False where there is no memory for its block.
static bool add_chunk(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];
    unsigned char *const bytes = espl__heap_take(
        store->heap, ESPL__FOR_STORE, 1, archetype->chunk_bytes, archetype->block_alignment);

    if (bytes == NULL) {
        return false;
    }
    const uint32_t chunk = take_number(store);
    uint64_t *const versions = (uint64_t *)(void *)(bytes + archetype->versions_offset);

    memset(versions, 0, archetype->chunk_bytes - archetype->versions_offset);
    store->chunks[chunk] = (espl__chunk){
        .bytes = bytes,
        .archetype = number,
        .position = (uint32_t)espl__array_length(archetype->chunks),
        .slots_offset = archetype->placement_offset,
        .versions = versions,
    };
    ESPL_ARRAY_PUSH(archetype->chunks, chunk);
    archetype->reserved += archetype->capacity;
    return true;
}

void espl__chunk_drop(espl__store *store, espl__archetype *archetype)
{
    const size_t last = espl__array_length(archetype->chunks) - 1;
    const uint32_t number = archetype->chunks[last];
    espl__chunk *const chunk = &store->chunks[number];

    ESPL_CHECK(chunk->count == 0);
    espl__heap_give(store->heap, ESPL__FOR_STORE, chunk->bytes, 1, archetype->chunk_bytes,
                    archetype->block_alignment);
    *chunk = (espl__chunk){.position = (uint32_t)espl__array_length(store->free_chunks),
                           .slots_offset = ESPL__NONE};
    ESPL_ARRAY_PUSH(store->free_chunks, number);
    espl__array_set_length(archetype->chunks, last);
    archetype->reserved -= archetype->capacity;
}

// Append `more` empty chunks, or none.
static espl_status add_chunks(espl__store *store, uint32_t number, size_t more)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const espl_status status = reserve_numbers(store, more);

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, archetype->chunks, more)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t added = 0; added < more; ++added) {
        if (add_chunk(store, number)) {
            continue;
        }
        // Numbers go back in reverse order, so that the next reserve takes the same ones.
        for (; added > 0; --added) {
            espl__chunk_drop(store, archetype);
        }
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

espl_status espl__rows_reserve(espl__store *store, uint32_t number, size_t rows)
{
    espl__archetype *const archetype = &store->archetypes[number];
    size_t total = 0;

    // No more than there are indices of entities: past that, memory is not asked on any machine.
    if (!espl__size_add(&total, archetype->count, rows) || total > UINT32_MAX / 2) {
        return ESPL_ERR_LIMIT;
    }
    if (total > archetype->reserved) {
        const size_t more = chunks_for(archetype, total) - espl__array_length(archetype->chunks);
        const espl_status status = add_chunks(store, number, more);

        if (status != ESPL_OK) {
            return status;
        }
    }

    if (rows > archetype->wanted) {
        archetype->wanted = rows;
    }
    espl__archetype_note_change(store, number);
    return ESPL_OK;
}

espl_status espl__rows_keep(espl__store *store, uint32_t number, size_t rows)
{
    const espl_status status = espl__rows_reserve(store, number, rows);
    espl__archetype *const archetype = &store->archetypes[number];

    if (status == ESPL_OK && archetype->count + rows > archetype->floor) {
        archetype->floor = archetype->count + rows;
    }
    return status;
}

void espl__rows_drop_surplus(espl__store *store, espl__archetype *archetype)
{
    const size_t spare = chunks_for(archetype, archetype->count) + 1;
    const size_t again = chunks_for(archetype, archetype->count + archetype->wanted);
    const size_t kept = chunks_for(archetype, archetype->floor);
    size_t limit = spare > again ? spare : again;

    limit = limit > kept ? limit : kept;
    while (espl__array_length(archetype->chunks) > limit) {
        espl__chunk_drop(store, archetype);
    }
    archetype->wanted = 0;
}
