// SPDX-License-Identifier: MIT
// The tables of counterparts. A removal moves later entries up into the gap, so that it needs no memory, and
// searches do not become longer as links come and go.
#include "lib/store/counterparts.h"

#include <string.h>

enum { FIRST_LINK_CAPACITY = 8, LINK_LIMIT_BITS = 31 };

// Which of the two tables is searched: the one by originals, or the one by entities.
typedef enum link_key { BY_ORIGINAL, BY_ENTITY } link_key;

static espl__counterpart *table_of(const espl__counterparts *c, link_key key)
{
    return key == BY_ORIGINAL ? c->by_original : c->by_entity;
}

// Return the entry at which the probes for a link begin.
static inline size_t link_home(const espl__counterparts *c, link_key key, espl__counterpart link)
{
    return key == BY_ORIGINAL
               ? espl__original_home(c, link.original)
               : (size_t)((link.entity * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (c->capacity - 1);
}

static inline bool has_same_key(link_key key, espl__counterpart a, espl__counterpart b)
{
    return key == BY_ORIGINAL ? espl_entity_equal(a.original, b.original) : a.entity == b.entity;
}

// Return the place of the entry with the key of a link, or of the free one at which its probes end. There
// is one, because the table is never full.
static inline size_t find_link(const espl__counterparts *c, link_key key, espl__counterpart link)
{
    const espl__counterpart *const table = table_of(c, key);
    size_t at = link_home(c, key, link);

    while (!espl_entity_is_null(table[at].original) && !has_same_key(key, table[at], link)) {
        at = (at + 1) & (c->capacity - 1);
    }
    return at;
}

// --- Reading ---

uint32_t espl__counterpart_of(const espl__counterparts *c, espl_entity original)
{
    const espl__counterpart sought = {original, 0};

    if (c->count == 0 || espl_entity_is_null(original)) {
        return UINT32_MAX;
    }
    const espl__counterpart *const entry = &c->by_original[find_link(c, BY_ORIGINAL, sought)];

    return espl_entity_is_null(entry->original) ? UINT32_MAX : entry->entity;
}

espl_entity espl__original_of(const espl__counterparts *c, uint32_t entity)
{
    const espl__counterpart sought = {espl_entity_null(), entity};

    return c->count == 0 ? espl_entity_null()
                         : c->by_entity[find_link(c, BY_ENTITY, sought)].original;
}

// --- Memory ---

static espl__counterpart *take_table(espl__heap *heap, size_t capacity)
{
    return espl__heap_take(heap, ESPL__FOR_STORE, capacity, sizeof(espl__counterpart),
                           _Alignof(espl__counterpart));
}

static void give_table(espl__heap *heap, espl__counterpart *table, size_t capacity)
{
    espl__heap_give(heap, ESPL__FOR_STORE, table, capacity, sizeof *table,
                    _Alignof(espl__counterpart));
}

void espl__counterparts_free(espl__counterparts *c, espl__heap *heap)
{
    give_table(heap, c->by_original, c->capacity);
    give_table(heap, c->by_entity, c->capacity);
    *c = (espl__counterparts){0};
}

// Move all entries to tables of another capacity, which have room for them. @return false: no memory, nothing
// changed.
static bool move_tables(espl__counterparts *c, espl__heap *heap, size_t capacity)
{
    espl__counterparts next = {take_table(heap, capacity), take_table(heap, capacity), capacity, 0};

    ESPL_CHECK(capacity / 4 * 3 >= c->count);
    if (next.by_original == NULL || next.by_entity == NULL) {
        espl__counterparts_free(&next, heap);
        return false;
    }
    memset(next.by_original, 0, capacity * sizeof *next.by_original);
    memset(next.by_entity, 0, capacity * sizeof *next.by_entity);
    for (size_t i = 0; i < c->capacity; ++i) {
        if (!espl_entity_is_null(c->by_entity[i].original)) {
            espl__counterpart_put(&next, c->by_entity[i].entity, c->by_entity[i].original);
        }
    }
    espl__counterparts_free(c, heap);
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

bool espl__counterparts_reserve(espl__counterparts *c, espl__heap *heap, size_t more)
{
    const size_t wanted = link_capacity(c->count + more);

    if (more == 0) {
        return true;
    }
    // What follows the world keeps room for the originals of all its indices.
    if (wanted == 0 || !espl__heap_grow(heap, ESPL__GROWTH_ORIGINALS, 0, 0)) {
        return false;
    }
#ifndef ESPL_HARD_MOVE
    if (wanted <= c->capacity) {
        return true;
    }
#endif
    return move_tables(c, heap, wanted > c->capacity ? wanted : c->capacity);
}

bool espl__counterparts_trim(espl__counterparts *c, espl__heap *heap)
{
    const size_t capacity = link_capacity(c->count);

    if (capacity == c->capacity) {
        return true;
    }
    if (capacity != 0) {
        return move_tables(c, heap, capacity);
    }
    espl__counterparts_free(c, heap);
    return true;
}

size_t espl__counterparts_bytes(const espl__counterparts *c)
{
    return 2 * c->capacity * sizeof *c->by_original;
}

// --- Links ---

void espl__counterpart_put(espl__counterparts *c, uint32_t entity, espl_entity original)
{
    const espl__counterpart link = {original, entity};

    ESPL_CHECK(c->count < c->capacity / 4 * 3 && !espl_entity_is_null(original));
    espl__counterpart *const by_original = &c->by_original[find_link(c, BY_ORIGINAL, link)];
    espl__counterpart *const by_entity = &c->by_entity[find_link(c, BY_ENTITY, link)];

    ESPL_CHECK(espl_entity_is_null(by_original->original) &&
               espl_entity_is_null(by_entity->original));
    *by_original = *by_entity = link;
    c->count += 1;
}

// Free an entry of a table. Later entries whose probes pass it move up to it (Knuth, "The Art of Computer
// Programming", volume 3, section 6.4, algorithm R), because a free entry would end their searches.
static void remove_link(const espl__counterparts *c, link_key key, espl__counterpart link)
{
    const size_t mask = c->capacity - 1;
    espl__counterpart *const table = table_of(c, key);
    size_t at = find_link(c, key, link);

    ESPL_CHECK(!espl_entity_is_null(table[at].original));
    for (size_t next = (at + 1) & mask; !espl_entity_is_null(table[next].original);
         next = (next + 1) & mask) {
        const size_t home = link_home(c, key, table[next]);

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
        const espl__counterpart link = {espl__original_of(c, entities[i]), entities[i]};

        if (!espl_entity_is_null(link.original)) {
            remove_link(c, BY_ORIGINAL, link);
            remove_link(c, BY_ENTITY, link);
            c->count -= 1;
        }
    }
}

// --- Validation ---

const char *espl__counterparts_broken_rule(const espl__counterparts *c, uint32_t *entity)
{
    size_t counts[2] = {0, 0};

    *entity = UINT32_MAX;
    if ((c->capacity & (c->capacity - 1)) != 0 || c->count > c->capacity / 4 * 3) {
        return "the tables of counterparts have free places";
    }
    for (size_t i = 0; i < c->capacity; ++i) {
        for (int key = BY_ORIGINAL; key <= BY_ENTITY; ++key) {
            const espl__counterpart *const entry = &table_of(c, (link_key)key)[i];

            if (espl_entity_is_null(entry->original)) {
                continue;
            }
            *entity = entry->entity;
            counts[key] += 1;
            // Found by both keys, in the same pair of each table: none of the two comes twice.
            if (find_link(c, (link_key)key, *entry) != i ||
                espl__counterpart_of(c, entry->original) != entry->entity ||
                !espl_entity_equal(espl__original_of(c, entry->entity), entry->original)) {
                return "originals and counterparts are one to one";
            }
        }
    }
    *entity = UINT32_MAX;
    return counts[BY_ORIGINAL] == c->count && counts[BY_ENTITY] == c->count
               ? NULL
               : "counterparts are counted";
}
