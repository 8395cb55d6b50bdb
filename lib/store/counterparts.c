// SPDX-License-Identifier: MIT
// The links of counterparts. A removal moves later entries of the table up into the gap, so that it needs no
// memory, and searches do not become longer as links come and go.
#include "lib/store/counterparts.h"

#include <string.h>

enum { FIRST_LINK_CAPACITY = 8, LINK_LIMIT_BITS = 31 };

// Return the place of the entry of an original, or of the free one at which its probes end. There is one,
// because the table is never full.
static inline size_t find_link(const espl__counterparts *c, espl_entity original)
{
    const espl__counterpart *const table = c->by_original;
    size_t at = espl__original_home(c, original);

    while (!espl_entity_is_null(table[at].original) &&
           !espl_entity_equal(table[at].original, original)) {
        at = (at + 1) & (c->capacity - 1);
    }
    return at;
}

uint32_t espl__counterpart_of(const espl__counterparts *c, espl_entity original)
{
    if (c->count == 0 || espl_entity_is_null(original)) {
        return UINT32_MAX;
    }
    const espl__counterpart *const entry = &c->by_original[find_link(c, original)];

    return espl_entity_is_null(entry->original) ? UINT32_MAX : entry->entity;
}

// --- Memory ---

static void free_links(espl__counterparts *c, espl__heap *heap)
{
    espl__heap_give(heap, ESPL__FOR_STORE, c->by_original, c->capacity, sizeof *c->by_original,
                    _Alignof(espl__counterpart));
}

void espl__counterparts_free(espl__counterparts *c, espl__heap *heap)
{
    free_links(c, heap);
    ESPL_ARRAY_FREE(heap, ESPL__FOR_STORE, c->originals);
    *c = (espl__counterparts){0};
}

// Move all entries to a table of another capacity, which has room for them. @return false: no memory, nothing
// changed.
static bool move_links(espl__counterparts *c, espl__heap *heap, size_t capacity)
{
    espl__counterparts next = *c;

    ESPL_CHECK(capacity / 4 * 3 >= c->count);
    next.by_original = espl__heap_take(heap, ESPL__FOR_STORE, capacity, sizeof *next.by_original,
                                       _Alignof(espl__counterpart));
    next.capacity = capacity;
    if (next.by_original == NULL) {
        return false;
    }
    memset(next.by_original, 0, capacity * sizeof *next.by_original);
    for (size_t i = 0; i < c->capacity; ++i) {
        const espl__counterpart link = c->by_original[i];

        if (!espl_entity_is_null(link.original)) {
            next.by_original[find_link(&next, link.original)] = link;
        }
    }
    free_links(c, heap);
    *c = next;
    return true;
}

// Return the smallest capacity for `count` entries, or 0 for none and for more than there are indices.
static size_t link_capacity(size_t count)
{
    size_t capacity = FIRST_LINK_CAPACITY;

    if (count == 0 || count >> (LINK_LIMIT_BITS - 2) != 0) {
        return 0;
    }
    while (count > capacity / 4 * 3) {
        capacity *= 2;
    }
    return capacity;
}

// Make the array of originals as long as there are indices. @return false: no memory, nothing changed.
static bool lengthen(espl__counterparts *c, espl__heap *heap, size_t indices)
{
    const size_t length = espl__array_length(c->originals);

    if (indices <= length) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_STORE, c->originals, indices - length)) {
        return false;
    }
    memset(c->originals + length, 0, (indices - length) * sizeof *c->originals);
    espl__array_set_length(c->originals, indices);
    return true;
}

bool espl__counterparts_reserve(espl__counterparts *c, espl__heap *heap, size_t more,
                                size_t indices)
{
    const size_t wanted = link_capacity(c->count + more);

    if (more == 0) {
        return true;
    }
    // What follows the world keeps room for the originals of all its indices.
    if (wanted == 0 || !espl__heap_grow(heap, ESPL__GROWTH_ORIGINALS, 0, 0) ||
        !lengthen(c, heap, indices)) {
        return false;
    }
#ifndef ESPL_HARD_MOVE
    if (wanted <= c->capacity) {
        return true;
    }
#endif
    return move_links(c, heap, wanted > c->capacity ? wanted : c->capacity);
}

bool espl__counterparts_trim(espl__counterparts *c, espl__heap *heap)
{
    const size_t capacity = link_capacity(c->count);
    size_t length = espl__array_length(c->originals);

    if (capacity == 0) {
        espl__counterparts_free(c, heap);
        return true;
    }
    while (espl_entity_is_null(c->originals[length - 1])) {
        length -= 1;
    }
    espl__array_set_length(c->originals, length);
    const bool is_shrunk = ESPL_ARRAY_SHRINK(heap, ESPL__FOR_STORE, c->originals, 0);

    return (capacity == c->capacity || move_links(c, heap, capacity)) && is_shrunk;
}

size_t espl__counterparts_bytes(const espl__counterparts *c)
{
    return c->capacity * sizeof *c->by_original + ESPL_ARRAY_BYTES(c->originals);
}

// --- Links ---

void espl__counterpart_put(espl__counterparts *c, uint32_t entity, espl_entity original)
{
    ESPL_CHECK(c->count < c->capacity / 4 * 3 && !espl_entity_is_null(original));
    ESPL_CHECK(entity < espl__array_length(c->originals) &&
               espl_entity_is_null(c->originals[entity]));
    espl__counterpart *const entry = &c->by_original[find_link(c, original)];

    ESPL_CHECK(espl_entity_is_null(entry->original));
    *entry = (espl__counterpart){original, entity};
    c->originals[entity] = original;
    c->count += 1;
}

// Free the entry of an original. Later entries whose probes pass it move up to it (Knuth, "The Art of Computer
// Programming", volume 3, section 6.4, algorithm R), because a free entry would end their searches.
static void remove_link(const espl__counterparts *c, espl_entity original)
{
    const size_t mask = c->capacity - 1;
    espl__counterpart *const table = c->by_original;
    size_t at = find_link(c, original);

    ESPL_CHECK(!espl_entity_is_null(table[at].original));
    for (size_t next = (at + 1) & mask; !espl_entity_is_null(table[next].original);
         next = (next + 1) & mask) {
        const size_t home = espl__original_home(c, table[next].original);

        // Distances modulo the capacity: the entry at `next` is probed from `home` on, past `at`.
        if (((next - home) & mask) >= ((next - at) & mask)) {
            table[at] = table[next];
            at = next;
        }
    }
    table[at] = (espl__counterpart){espl_entity_null(), 0};
}

void espl__counterparts_remove(espl__counterparts *c, const uint32_t *entities, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const espl_entity original = espl__original_of(c, entities[i]);

        if (!espl_entity_is_null(original)) {
            remove_link(c, original);
            c->originals[entities[i]] = espl_entity_null();
            c->count -= 1;
        }
    }
}

// --- Validation ---

// Return how many entries the table has, or SIZE_MAX where one is not that of its link.
// @param entity  out: the index concerned.
static size_t count_entries(const espl__counterparts *c, uint32_t *entity)
{
    size_t count = 0;

    for (size_t i = 0; i < c->capacity; ++i) {
        const espl__counterpart *const entry = &c->by_original[i];

        if (espl_entity_is_null(entry->original)) {
            continue;
        }
        *entity = entry->entity;
        // Found by its probes, and the array has it: none comes twice.
        if (find_link(c, entry->original) != i ||
            !espl__counterpart_is(c, entry->entity, entry->original)) {
            return SIZE_MAX;
        }
        count += 1;
    }
    *entity = UINT32_MAX;
    return count;
}

const char *espl__counterparts_broken_rule(const espl__counterparts *c, uint32_t *entity)
{
    const size_t length = espl__array_length(c->originals);
    size_t linked = 0;

    *entity = UINT32_MAX;
    if ((c->capacity & (c->capacity - 1)) != 0 || c->count > c->capacity / 4 * 3) {
        return "the table of counterparts has free places";
    }
    const size_t entries = count_entries(c, entity);

    if (entries == SIZE_MAX) {
        return "originals and counterparts are one to one";
    }
    for (size_t i = 0; i < length; ++i) {
        linked += espl_entity_is_null(c->originals[i]) ? 0 : 1;
    }
    return entries == c->count && linked == c->count ? NULL : "counterparts are counted";
}
