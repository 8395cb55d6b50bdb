// SPDX-License-Identifier: MIT
// Chunks of archetypes. A structural change reserves the chunks that it needs. The settle at its
// end frees chunks, but leaves as many as an equal change needs. rows.c allocates nothing.
#include "lib/store/store.h"

#include <string.h>

// Return the number of chunks for a number of rows.
static size_t chunks_for(const espl__archetype *archetype, size_t rows)
{
    return rows / archetype->capacity + (rows % archetype->capacity != 0);
}

// The list has room for all archetypes, so that the push needs no reserve.
void espl__archetype_note_change(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];

    ESPL_CHECK(number < espl__array_length(store->archetypes));
    if (!archetype->is_changed) {
        archetype->is_changed = true;
        ESPL_ARRAY_PUSH(store->changed, number);
    }
}

// Make room for `more` chunks in the chunk table, and for all chunk numbers in both lists of
// numbers.
static espl_status reserve_numbers(espl__store *store, size_t more)
{
    const size_t free_count = espl__array_length(store->free_chunks);
    const size_t added = more > free_count ? more - free_count : 0;
    const size_t after = espl__array_length(store->chunks) + added;
    const size_t marked = espl__array_length(store->changed_chunks);

    // Tests do not reach this limit, because no machine has memory for so many chunks.
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

// Take the chunk number that was freed last, or a new one, for which there is room.
static uint32_t take_number(espl__store *store)
{
    const size_t free_count = espl__array_length(store->free_chunks);

    if (free_count > 0) {
        ESPL_CHECK(store->chunks[store->free_chunks[free_count - 1]].bytes == NULL);
        espl__array_set_length(store->free_chunks, free_count - 1);
        return store->free_chunks[free_count - 1];
    }
    ESPL_ARRAY_PUSH(store->chunks, (espl__chunk){0});
    return (uint32_t)espl__array_length(store->chunks) - 1;
}

// Append a chunk without a block to an archetype.
ESPL__INLINE espl__chunk *append_number(espl__store *store, uint32_t number)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const uint32_t chunk = take_number(store);

    store->chunks[chunk] = (espl__chunk){
        .archetype = number,
        .position = (uint32_t)espl__array_length(archetype->chunks),
        .slots_offset = archetype->placement_offset,
    };
    ESPL_ARRAY_PUSH(archetype->chunks, chunk);
    archetype->reserved += archetype->capacity;
    ESPL_CHECK(archetype->reserved == espl__array_length(archetype->chunks) * archetype->capacity);
    return &store->chunks[chunk];
}

// Give a chunk its block. The versions are zeroed; the columns are undefined until rows are written.
ESPL__INLINE void set_chunk_block(const espl__archetype *archetype, espl__chunk *chunk,
                                  unsigned char *bytes)
{
    uint64_t *const versions = (uint64_t *)(void *)(bytes + archetype->versions_offset);

    ESPL_CHECK((uintptr_t)versions % _Alignof(uint64_t) == 0);
    memset(versions, 0, archetype->chunk_bytes - archetype->versions_offset);
    chunk->bytes = bytes;
    chunk->versions = versions;
}

// Append an empty chunk with a block of bytes to an archetype.
ESPL__INLINE void put_chunk(espl__store *store, uint32_t number, unsigned char *bytes)
{
    set_chunk_block(&store->archetypes[number], append_number(store, number), bytes);
}

// Append an empty chunk to an archetype. Returns false where there is no memory.
static bool add_chunk(espl__store *store, uint32_t number)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    unsigned char *const bytes = espl__heap_take_again(
        store->heap, ESPL__FOR_STORE, archetype->chunk_bytes, archetype->block_alignment);

    if (bytes == NULL) {
        return false;
    }
    put_chunk(store, number, bytes);
    return true;
}

bool espl__chunk_put_back(espl__store *store, uint32_t number)
{
    const espl__archetype *const archetype = &store->archetypes[number];
    unsigned char *const bytes = espl__heap_take_back(
        store->heap, ESPL__FOR_STORE, archetype->chunk_bytes, archetype->block_alignment);

    if (bytes == NULL) {
        return false;
    }
    put_chunk(store, number, bytes);
    return true;
}

// The block is freed and the number kept, because the numbers of other chunks must not change.
void espl__chunk_drop(espl__store *store, espl__archetype *archetype)
{
    ESPL_CHECK(espl__array_length(archetype->chunks) > 0);
    const size_t last = espl__array_length(archetype->chunks) - 1;
    const uint32_t number = archetype->chunks[last];
    espl__chunk *const chunk = &store->chunks[number];

    ESPL_CHECK(chunk->count == 0 && chunk->position == last && chunk->bytes != NULL);
    espl__heap_retire(store->heap, ESPL__FOR_STORE, chunk->bytes, archetype->chunk_bytes,
                      archetype->block_alignment);
    *chunk = (espl__chunk){.position = (uint32_t)espl__array_length(store->free_chunks),
                           .slots_offset = ESPL__NONE};
    ESPL_ARRAY_PUSH(store->free_chunks, number);
    espl__array_set_length(archetype->chunks, last);
    ESPL_CHECK(archetype->reserved >= archetype->capacity);
    archetype->reserved -= archetype->capacity;
}

// Append `more` empty chunks. Appends none where it fails. The arrays are reserved first, so that
// only the blocks of the chunks can fail in the loop.
static ESPL__APART espl_status add_chunks(espl__store *store, uint32_t number, size_t more)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const espl_status status = reserve_numbers(store, more);

    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, archetype->chunks, more) ||
        !espl__heap_grow(store->heap, ESPL__GROWTH_CHUNKS, number,
                         espl__array_length(archetype->chunks) + more)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t added = 0; added < more; ++added) {
        if (add_chunk(store, number)) {
            continue;
        }
        // The numbers are freed in reverse order, so that the next reserve takes the same ones.
        for (; added > 0; --added) {
            espl__chunk_drop(store, archetype);
        }
        return ESPL_ERR_NO_MEMORY;
    }
    return ESPL_OK;
}

// `wanted` remembers the largest reserve of this change, from which the settle estimates the next
// one. The archetype is listed even where it had room, so that the settle resets `wanted`.
espl_status espl__rows_reserve(espl__store *store, uint32_t number, size_t rows)
{
    espl__archetype *const archetype = &store->archetypes[number];
    size_t total = 0;

    // There are no more rows than entity indices. The limit also bounds the arithmetic below.
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

    ESPL_CHECK(archetype->reserved >= total);
    if (rows > archetype->wanted) {
        archetype->wanted = rows;
    }
    espl__archetype_note_change(store, number);
    return ESPL_OK;
}

espl_status espl__rows_expect(espl__store *store, uint32_t number, size_t rows)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const size_t chunks = chunks_for(archetype, rows);
    const espl_status status = reserve_numbers(store, chunks);

    ESPL_CHECK(archetype->reserved == 0 && rows != 0);
    if (status != ESPL_OK) {
        return status;
    }
    if (!ESPL_ARRAY_RESERVE(store->heap, ESPL__FOR_STORE, archetype->chunks, chunks)) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < chunks; ++i) {
        (void)append_number(store, number);
    }
    archetype->coming = rows;
    return ESPL_OK;
}

void espl__rows_take(espl__store *store, uint32_t number, espl__store *from)
{
    espl__archetype *const archetype = &store->archetypes[number];
    const espl__archetype *const other = &from->archetypes[number];
    const size_t chunks = espl__array_length(archetype->chunks);

    ESPL_CHECK(other->chunk_bytes == archetype->chunk_bytes &&
               chunks <= espl__array_length(other->chunks));
    for (size_t i = 0; i < chunks; ++i) {
        espl__chunk *const chunk = &from->chunks[other->chunks[i]];

        ESPL_CHECK(chunk->bytes != NULL);
        set_chunk_block(archetype, &store->chunks[archetype->chunks[i]], chunk->bytes);
        chunk->bytes = NULL;
    }
    archetype->coming = 0;
    espl__archetype_note_change(store, number);
}

espl_status espl__rows_reserve_coming(espl__store *store, uint32_t number)
{
    const size_t coming = store->archetypes[number].coming;

    store->archetypes[number].coming = 0;
    return coming == 0 ? ESPL_OK : espl__rows_reserve(store, number, coming);
}

// The floor is never lowered here, so that a smaller reserve does not undo a larger one.
espl_status espl__rows_keep(espl__store *store, uint32_t number, size_t rows)
{
    const espl_status status = espl__rows_reserve(store, number, rows);
    espl__archetype *const archetype = &store->archetypes[number];

    if (status == ESPL_OK && archetype->count + rows > archetype->floor) {
        archetype->floor = archetype->count + rows;
    }
    ESPL_CHECK(archetype->floor <= archetype->reserved);
    return status;
}

// The limit is the largest of three needs: the present rows and one spare chunk, the rows that a
// change like this one would add, and the rows that a user keeps room for.
void espl__rows_drop_surplus(espl__store *store, espl__archetype *archetype)
{
    const size_t count = archetype->count, wanted = archetype->wanted;

    archetype->wanted = 0;
    ESPL_CHECK(archetype->reserved >= count);
    // Fast path: the rows and one spare chunk take all chunks, as after most changes.
    if (archetype->reserved < count + 2 * (size_t)archetype->capacity) {
        return;
    }
    // With a spare chunk, an entity that is created and destroyed at a full chunk allocates
    // nothing.
    const size_t spare = chunks_for(archetype, count) + 1;
    const size_t again = chunks_for(archetype, count + wanted);
    const size_t kept = chunks_for(archetype, archetype->floor);
    size_t limit = spare > again ? spare : again;

    limit = limit > kept ? limit : kept;
    while (espl__array_length(archetype->chunks) > limit) {
        espl__chunk_drop(store, archetype);
    }
}
