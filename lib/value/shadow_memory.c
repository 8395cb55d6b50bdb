// SPDX-License-Identifier: MIT
// The memory of a shadow. It grows with the room of the world, in calls that may lack memory anyhow.
#include "lib/value/shadow.h"

#include "lib/base/bits.h"

#include <string.h>

static espl__heap *heap_of(const espl__shadow *shadow)
{
    return &shadow->world->heap;
}

// Give an array so many elements at least. New ones are 0.
#define FILL_OF(shadow, array, count)                                 \
    (espl__array_length(array) >= (count) ||                          \
     (ESPL_ARRAY_RESERVE(heap_of(shadow), ESPL__FOR_CHANGES, array,   \
                         (count)-espl__array_length(array)) &&        \
      (memset((array) + espl__array_length(array), 0,                 \
              ((count)-espl__array_length(array)) * sizeof *(array)), \
       espl__array_set_length((array), (count)), true)))
#define FILL(shadow, field, count) FILL_OF(shadow, (shadow)->field, count)

// --- Sets of numbers ---

static bool fill_noted(const espl__shadow *shadow, espl__noted *noted, size_t count)
{
    return FILL_OF(shadow, noted->words, count / 64 + 1) &&
           FILL_OF(shadow, noted->groups, count / 4096 + 1);
}

static void free_noted(espl__heap *heap, espl__noted *noted)
{
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, noted->words);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, noted->groups);
}

static size_t noted_bytes(const espl__noted *noted)
{
    return ESPL_ARRAY_BYTES(noted->words) + ESPL_ARRAY_BYTES(noted->groups);
}

uint32_t espl__noted_next(const espl__noted *noted, uint32_t word)
{
    const uint32_t words = (uint32_t)espl__array_length(noted->words);

    while (word < words) {
        const uint64_t left = noted->groups[word / 64] >> word % 64;

        if (left != 0) {
            return word + espl__lowest_bit(left);
        }
        word = (word / 64 + 1) * 64;
    }
    return words;
}

// --- Chunks ---

static void give_chunks(espl__shadow *shadow, espl__shadow_archetype *archetype)
{
    for (size_t i = espl__array_length(archetype->chunks); i-- > 0;) {
        espl__heap_give(heap_of(shadow), ESPL__FOR_CHANGES, archetype->chunks[i].bytes, 1,
                        archetype->block_size, 8);
        shadow->block_bytes -= archetype->block_size;
    }
    ESPL_ARRAY_FREE(heap_of(shadow), ESPL__FOR_CHANGES, archetype->chunks);
}

// An archetype of that number that a refused call made may have been forgotten since: its chunks had no rows.
static bool grow_chunks(espl__shadow *shadow, uint32_t number, size_t count)
{
    const uint32_t size = shadow->world->store.archetypes[number].versions_offset;
    espl__shadow_archetype *const archetype = &shadow->archetypes[number];

    if (archetype->block_size != size) {
        ESPL_CHECK(archetype->rows.count == 0);
        give_chunks(shadow, archetype);
        archetype->block_size = size;
    }
    const size_t had = espl__array_length(archetype->chunks);

    if (count <= had) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(heap_of(shadow), ESPL__FOR_CHANGES, archetype->chunks, count - had)) {
        return false;
    }
    for (size_t i = had; i < count; ++i) {
        unsigned char *const bytes =
            espl__heap_take(heap_of(shadow), ESPL__FOR_CHANGES, 1, size, 8);

        if (bytes == NULL) {
            return false;
        }
        ESPL_ARRAY_PUSH(archetype->chunks, (espl__shadow_chunk){bytes, false});
        shadow->block_bytes += size;
    }
    return true;
}

// --- All arrays ---

// Sides and pasts have an element more than there are slots, and originals one more than there are indices,
// because empty arrays say that there are none. Sides and pasts grow before the slots, because jobs that make
// side arrays at once ask for room that must be there, also after
// a call that had memory for a part of it.
bool espl__shadow_grow(espl__shadow *shadow, espl__growth what, uint32_t number, size_t count)
{
    switch (what) {
    case ESPL__GROWTH_SLOTS:
        return (espl__array_length(shadow->sides) == 0 || FILL(shadow, sides, count + 1)) &&
               (espl__array_length(shadow->pasts) == 0 || FILL(shadow, pasts, count + 1)) &&
               (!espl__forest_has_cells(&shadow->world->forest) ||
                FILL(shadow, cells, count + 1)) &&
               fill_noted(shadow, &shadow->noted_slots, count) &&
               fill_noted(shadow, &shadow->noted_moved, count) && FILL(shadow, slots, count);
    case ESPL__GROWTH_TREES:
        return FILL(shadow, trees, count) && fill_noted(shadow, &shadow->noted_trees, count) &&
               FILL(shadow, is_plain, count) && FILL(shadow, had_side, count);
    case ESPL__GROWTH_RECORDS:
        return FILL(shadow, records, count) && FILL(shadow, names, count) &&
               (espl__array_length(shadow->originals) == 0 || FILL(shadow, originals, count + 1)) &&
               fill_noted(shadow, &shadow->noted_records, count) && FILL(shadow, report, 3 * count);
    case ESPL__GROWTH_ARCHETYPES:
        return FILL(shadow, archetypes, count);
    case ESPL__GROWTH_CHUNKS:
        return grow_chunks(shadow, number, count);
    case ESPL__GROWTH_SIDES:
        return FILL(shadow, sides, espl__array_length(shadow->slots) + 1);
    case ESPL__GROWTH_PASTS:
        return FILL(shadow, pasts, espl__array_length(shadow->slots) + 1);
    case ESPL__GROWTH_ORIGINALS:
        return FILL(shadow, originals, espl__array_length(shadow->records) + 1);
    }
    return false;
}

static bool grow_archetypes(espl__shadow *shadow, const espl__store *store)
{
    const size_t count = espl__array_length(store->archetypes);
    bool is_done = espl__shadow_grow(shadow, ESPL__GROWTH_ARCHETYPES, 0, count);

    for (uint32_t i = 0; is_done && i < count; ++i) {
        is_done = grow_chunks(shadow, i, espl__array_length(store->archetypes[i].chunks));
    }
    return is_done;
}

bool espl__shadow_begin(espl__shadow *shadow, espl_world *world)
{
    const espl__forest *const forest = &world->forest;
    const size_t records = espl__array_capacity(world->store.records);
    const bool has_sides = atomic_load_explicit(&forest->side_count, memory_order_relaxed) != 0;

    *shadow = (espl__shadow){.world = world, .is_empty = true};
    if (espl__shadow_grow(shadow, ESPL__GROWTH_SLOTS, 0, forest->capacity) &&
        espl__shadow_grow(shadow, ESPL__GROWTH_TREES, 0, forest->tree_capacity) &&
        espl__shadow_grow(shadow, ESPL__GROWTH_RECORDS, 0, records) &&
        (!has_sides || espl__shadow_grow(shadow, ESPL__GROWTH_SIDES, 0, 0)) &&
        (!espl__forest_has_motion(forest) || espl__shadow_grow(shadow, ESPL__GROWTH_PASTS, 0, 0)) &&
        (world->store.counterparts.count == 0 ||
         espl__shadow_grow(shadow, ESPL__GROWTH_ORIGINALS, 0, 0)) &&
        grow_archetypes(shadow, &world->store)) {
        return true;
    }
    espl__shadow_free(shadow);
    return false;
}

static void let_names_go(espl__shadow *shadow, espl__names *names)
{
    const size_t count = espl__array_length(shadow->names);

    for (size_t i = 0; i < count; ++i) {
        espl__name_let_go(names, heap_of(shadow), shadow->names[i].text);
        shadow->names[i].text = NULL;
    }
}

void espl__shadow_free(espl__shadow *shadow)
{
    espl__heap *const heap = heap_of(shadow);
    const size_t archetypes = espl__array_length(shadow->archetypes);

    let_names_go(shadow, &shadow->world->store.names);
    for (size_t i = 0; i < archetypes; ++i) {
        give_chunks(shadow, &shadow->archetypes[i]);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->slots);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->sides);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->pasts);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->cells);
    free_noted(heap, &shadow->noted_slots);
    free_noted(heap, &shadow->noted_moved);
    free_noted(heap, &shadow->noted_trees);
    free_noted(heap, &shadow->noted_records);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->trees);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->is_plain);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->had_side);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->records);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->names);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->originals);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->report);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_CHANGES, shadow->archetypes);
}

#define CLEAR(field)                                                       \
    (espl__array_length(field) != 0                                        \
         ? memset((field), 0, espl__array_length(field) * sizeof *(field)) \
         : NULL)

void espl__shadow_forget(espl__shadow *shadow, espl__names *names)
{
    const size_t archetypes = espl__array_length(shadow->archetypes);

    let_names_go(shadow, names);
    (void)CLEAR(shadow->slots);
    (void)CLEAR(shadow->sides);
    (void)CLEAR(shadow->pasts);
    (void)CLEAR(shadow->cells);
    (void)CLEAR(shadow->trees);
    (void)CLEAR(shadow->is_plain);
    (void)CLEAR(shadow->records);
    (void)CLEAR(shadow->originals);
    for (size_t i = 0; i < archetypes; ++i) {
        shadow->archetypes[i].rows = (espl__shadow_rows){0, 0};
    }
    memset(shadow->heads, 0, sizeof shadow->heads);
    shadow->numbers = (espl__shadow_numbers){0};
    shadow->checksum = 0;
    shadow->is_empty = true;
}

size_t espl__shadow_bytes(const espl__shadow *shadow)
{
    size_t bytes = shadow->block_bytes + ESPL_ARRAY_BYTES(shadow->slots) +
                   ESPL_ARRAY_BYTES(shadow->sides) + ESPL_ARRAY_BYTES(shadow->pasts) +
                   noted_bytes(&shadow->noted_slots) + noted_bytes(&shadow->noted_moved) +
                   noted_bytes(&shadow->noted_trees) + ESPL_ARRAY_BYTES(shadow->trees) +
                   ESPL_ARRAY_BYTES(shadow->is_plain) + ESPL_ARRAY_BYTES(shadow->had_side) +
                   ESPL_ARRAY_BYTES(shadow->records) + ESPL_ARRAY_BYTES(shadow->names) +
                   ESPL_ARRAY_BYTES(shadow->originals) + ESPL_ARRAY_BYTES(shadow->cells) +
                   noted_bytes(&shadow->noted_records) + ESPL_ARRAY_BYTES(shadow->report) +
                   ESPL_ARRAY_BYTES(shadow->archetypes);

    for (size_t i = 0; i < espl__array_length(shadow->archetypes); ++i) {
        bytes += ESPL_ARRAY_BYTES(shadow->archetypes[i].chunks);
    }
    return bytes;
}
