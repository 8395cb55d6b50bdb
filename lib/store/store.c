// SPDX-License-Identifier: MIT
// Set-up and end of a store. The built-in components are registered like those of a user, before
// all of them, so that their numbers are fixed.
//
// A store owns its blocks and frees them with the sizes that they were allocated with, because the
// heap counts bytes and stores no sizes. What is listed here is all that a store allocates;
// espl__store_bytes() counts the same blocks.
#include "lib/store/store.h"

#include <string.h>

// By number. The column of ESPL_TRANSFORM is the slot column.
static const espl_component_def built_in[] = {
    [ESPL_TRANSFORM -
     1] = {.name = "transform", .size = sizeof(uint32_t), .alignment = _Alignof(uint32_t)},
    [ESPL_SOLO - 1] = {.name = "solo"},
    [ESPL_ROOT - 1] = {.name = "root"},
    [ESPL_MEMBER - 1] = {.name = "member"},
    [ESPL_PREFAB - 1] = {.name = "prefab"},
    [ESPL_DISABLED - 1] = {.name = "disabled"},
};

enum { BUILT_IN_COUNT = sizeof built_in / sizeof *built_in };

// A failure frees the components that were registered before it, and leaves an empty store, which
// may be freed again.
// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__store_init(espl__store *store, espl__heap *heap, uint32_t tag)
{
    ESPL_CHECK(tag >= 1 && tag <= 127);
    *store = (espl__store){
        .heap = heap, .tag = tag, .free_head = ESPL__NONE, .fill_least = ESPL__FILL_LEAST};

    for (uint32_t i = 0; i < BUILT_IN_COUNT; ++i) {
        espl_component number = 0;
        const espl_status status = espl__component_register(store, &built_in[i], &number);

        if (status != ESPL_OK) {
            espl__store_free(store);
            return status;
        }
        ESPL_CHECK(number == i + 1 && number < 64);
    }
    return ESPL_OK;
}

// Free the names, references and fields of all components, and the blocks of the registry. Blocks that were
// never allocated are NULL, which the heap accepts, as it does a NULL list of references.
static void free_components(espl__store *store)
{
    const uint32_t count = atomic_load_explicit(&store->component_count, memory_order_relaxed);

    for (espl_component number = 1; number <= count; ++number) {
        const espl__component_info *const info = espl__component_info_of(store, number);

        espl__heap_give(store->heap, ESPL__FOR_STORE, (void *)(uintptr_t)info->name, 1,
                        strlen(info->name) + 1, 1);
        espl__heap_give(store->heap, ESPL__FOR_STORE, (void *)(uintptr_t)info->references,
                        info->reference_count, sizeof *info->references, _Alignof(uint32_t));
        espl__heap_give(store->heap, ESPL__FOR_STORE, (void *)(uintptr_t)info->fields, 1,
                        espl__fields_size(info->fields, info->field_count),
                        _Alignof(espl_component_field));
    }
    for (size_t i = 0; i < ESPL_COMPONENT_LIMIT / 64; ++i) {
        espl__heap_give(store->heap, ESPL__FOR_STORE, store->component_blocks[i], 64,
                        sizeof(espl__component_info), _Alignof(espl__component_info));
    }
    espl__map_free(store->heap, ESPL__FOR_STORE, &store->component_names);
}

// Free an archetype and all its chunks, with or without rows.
static void free_archetype(espl__store *store, espl__archetype *archetype)
{
    const size_t chunk_count = espl__array_length(archetype->chunks);

    ESPL_CHECK(archetype->reserved == chunk_count * archetype->capacity);
    for (size_t i = 0; i < chunk_count; ++i) {
        espl__heap_give(store->heap, ESPL__FOR_STORE, store->chunks[archetype->chunks[i]].bytes, 1,
                        archetype->chunk_bytes, archetype->block_alignment);
    }
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype->chunks);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype->columns);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, archetype->set);
}

// Free everything. Chunks are freed through their archetypes, because the size of a chunk is that
// of its archetype. A chunk without an archetype has no memory: its number is free. Values are
// bytes, so that no function of a user is called for them.
void espl__store_free(espl__store *store)
{
    const size_t archetype_count = espl__array_length(store->archetypes);

    for (size_t i = 0; i < archetype_count; ++i) {
        free_archetype(store, &store->archetypes[i]);
    }
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, store->archetypes);
    espl__map_free(store->heap, ESPL__FOR_STORE, &store->archetype_sets);
    free_components(store);
    espl__names_free(&store->names, store->heap);
    espl__counterparts_free(&store->counterparts, store->heap);
    espl__index_plane_close(store);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, store->records);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, store->chunks);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, store->free_chunks);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, store->changed);
    ESPL_ARRAY_FREE(store->heap, ESPL__FOR_STORE, store->changed_chunks);
    *store = (espl__store){.free_head = ESPL__NONE};
}
