// SPDX-License-Identifier: MIT
// Freeing the memory that is spare, and computing the bytes that a store holds.
#include "lib/store/store.h"

#include <string.h>

// --- Chunks ---

// Free the chunks of an archetype that have no rows. They are the last ones.
static void drop_spare_chunks(espl__store *store, espl__archetype *archetype)
{
    const size_t needed =
        archetype->count / archetype->capacity + (archetype->count % archetype->capacity != 0);

    ESPL_CHECK(needed <= espl__array_length(archetype->chunks));
    archetype->floor = 0;
    while (espl__array_length(archetype->chunks) > needed) {
        espl__chunk_drop(store, archetype);
    }
}

// Remove the free numbers at the end of the chunk table. The other free numbers keep their order,
// because it decides which number the next chunk gets.
static void cut_chunk_table(espl__store *store)
{
    const size_t free_count = espl__array_length(store->free_chunks);
    size_t length = espl__array_length(store->chunks);
    size_t kept = 0;

    while (length > 0 && store->chunks[length - 1].bytes == NULL) {
        length -= 1;
    }
    for (size_t i = 0; i < free_count; ++i) {
        const uint32_t number = store->free_chunks[i];

        if (number < length) {
            store->chunks[number].position = (uint32_t)kept;
            store->free_chunks[kept++] = number;
        }
    }
    ESPL_CHECK(kept <= length && free_count - kept == espl__array_length(store->chunks) - length);
    espl__array_set_length(store->free_chunks, kept);
    espl__array_set_length(store->chunks, length);
}

// --- Tables ---

// Shrink the arrays of an archetype. Returns false where one of them stays too large; the others
// are shrunk then as well.
static bool shrink_archetype(espl__store *store, espl__archetype *archetype)
{
    const bool chunks = ESPL_ARRAY_SHRINK(store->heap, ESPL__FOR_STORE, archetype->chunks, 0);
    const bool set = ESPL_ARRAY_SHRINK(store->heap, ESPL__FOR_STORE, archetype->set, 0);
    const bool columns = ESPL_ARRAY_SHRINK(store->heap, ESPL__FOR_STORE, archetype->columns, 0);

    return chunks && set && columns;
}

// The lists of numbers keep room for all numbers of their kind, so that a commit allocates nothing.
static bool shrink_tables(espl__store *store)
{
    espl__heap *const heap = store->heap;
    const size_t chunk_count = espl__array_length(store->chunks);
    const size_t archetype_count = espl__array_length(store->archetypes);
    bool is_shrunk = ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, store->records, 0);

    is_shrunk &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, store->archetypes, 0);
    is_shrunk &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, store->chunks, 0);
    is_shrunk &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, store->free_chunks, chunk_count);
    is_shrunk &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, store->changed_chunks, chunk_count);
    is_shrunk &= ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, store->changed, archetype_count);
    is_shrunk &= espl__index_plane_shrink(store);
    ESPL_CHECK(espl__array_capacity(store->changed_chunks) >= chunk_count);
    ESPL_CHECK(espl__array_capacity(store->changed) >= archetype_count);
    return is_shrunk;
}

// A trim goes on after a failure, because each array that is shrunk helps.
bool espl__store_trim(espl__store *store)
{
    const size_t archetype_count = espl__array_length(store->archetypes);
    bool is_shrunk = true;

    // Chunks are freed first, because smaller tables may be allocated from their memory.
    espl__rows_settle(store, NULL, NULL);
    for (size_t i = 0; i < archetype_count; ++i) {
        drop_spare_chunks(store, &store->archetypes[i]);
    }
    cut_chunk_table(store);
    espl__map_trim(store->heap, ESPL__FOR_STORE, &store->component_names);
    espl__map_trim(store->heap, ESPL__FOR_STORE, &store->archetype_sets);
    for (size_t i = 0; i < archetype_count; ++i) {
        is_shrunk &= shrink_archetype(store, &store->archetypes[i]);
    }
    is_shrunk &= espl__names_trim(&store->names, store->heap);
    is_shrunk &= espl__counterparts_trim(&store->counterparts, store->heap);
    is_shrunk &= shrink_tables(store);
    return is_shrunk;
}

// --- Counting ---

// The names, references, fields and the blocks of the registry, and its map.
static size_t component_bytes(const espl__store *store)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);
    size_t bytes = espl__map_bytes(&store->component_names);

    for (espl_component number = 1; number <= count; ++number) {
        const espl__component_info *const info = espl__component_info_of(store, number);

        bytes += strlen(info->name) + 1 + info->reference_count * sizeof *info->references +
                 espl__fields_size(info->fields, info->field_count);
    }
    for (size_t i = 0; i < ESPL_COMPONENT_LIMIT / 64; ++i) {
        bytes += store->component_blocks[i] != NULL ? 64 * sizeof(espl__component_info) : 0;
    }
    return bytes;
}

// The arrays and the chunks of an archetype.
static size_t archetype_bytes(const espl__archetype *archetype)
{
    return ESPL_ARRAY_BYTES(archetype->set) + ESPL_ARRAY_BYTES(archetype->columns) +
           ESPL_ARRAY_BYTES(archetype->chunks) +
           espl__array_length(archetype->chunks) * archetype->chunk_bytes;
}

size_t espl__store_bytes(const espl__store *store)
{
    const size_t archetype_count = espl__array_length(store->archetypes);
    size_t bytes = component_bytes(store) + espl__map_bytes(&store->archetype_sets) +
                   espl__names_bytes(&store->names) +
                   espl__counterparts_bytes(&store->counterparts) +
                   espl__plane_bytes(&store->index_plane);

    for (size_t i = 0; i < archetype_count; ++i) {
        bytes += archetype_bytes(&store->archetypes[i]);
    }
    return bytes + ESPL_ARRAY_BYTES(store->archetypes) + ESPL_ARRAY_BYTES(store->records) +
           ESPL_ARRAY_BYTES(store->chunks) + ESPL_ARRAY_BYTES(store->free_chunks) +
           ESPL_ARRAY_BYTES(store->changed) + ESPL_ARRAY_BYTES(store->changed_chunks);
}
