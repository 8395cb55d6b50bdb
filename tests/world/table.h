// SPDX-License-Identifier: MIT
// A naive table of entities and components beside a world: the components of each entity, with
// their values.
#ifndef ESPALIER_TESTS_WORLD_TABLE_H
#define ESPALIER_TESTS_WORLD_TABLE_H

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

// With shrunken limits there are few entities, and few in a chunk.
#ifdef ESPL_SHRUNKEN
enum { TABLE_IS_SHRUNKEN = 1 };
#else
enum { TABLE_IS_SHRUNKEN = 0 };
#endif

/// Bits of a set: kinds that are registered, the last two of them tags, then built-in ones.
enum {
    TABLE_KINDS = 6,
    TABLE_PREFAB = TABLE_KINDS,
    TABLE_DISABLED,
    TABLE_PLACEMENT,
    TABLE_BITS,
    TABLE_LIMIT = TABLE_IS_SHRUNKEN ? 60 : 1500,
    TABLE_PAGE = 4096
};

typedef struct table_row {
    espl_entity entity;
    uint32_t set;
    uint32_t value[TABLE_KINDS]; // seed of the bytes; 0: zeros
} table_row;

typedef struct table {
    test_world test;
    espl_world *world;
    espl_component number[TABLE_BITS];
    table_row rows[TABLE_LIMIT];
    size_t count;
    uint64_t random;
} table;

static const size_t table_sizes[TABLE_KINDS] = {1, 4, 64, TABLE_PAGE, 0, 0};
static const size_t table_alignments[TABLE_KINDS] = {1, 4, 64, 16, 0, 0};

/// Fill bytes from a seed.
static inline void table_pattern(unsigned char *bytes, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = seed == 0 ? 0 : (unsigned char)((seed * 2654435761u + i * 97) >> 7);
    }
}

static inline void table_begin(table *t, uint32_t tag, uint64_t seed)
{
    static const char *const names[TABLE_KINDS] = {"byte", "number", "line",
                                                   "page", "mark",   "note"};

    memset(t, 0, sizeof *t);
    test_world_begin(&t->test, tag, NULL);
    t->world = t->test.world;
    t->random = seed;
    for (size_t k = 0; k < TABLE_KINDS; ++k) {

        t->number[k] = test_component(t->world, names[k], table_sizes[k], table_alignments[k]);
    }
    t->number[TABLE_PREFAB] = ESPL_PREFAB;
    t->number[TABLE_DISABLED] = ESPL_DISABLED;
    t->number[TABLE_PLACEMENT] = ESPL_TRANSFORM;
}

static inline void table_end(table *t)
{
    test_world_end(&t->test);
}

static inline bool table_has(uint32_t set, size_t bit)
{
    return (set >> bit & 1) != 0;
}

/// Components of a set. @param out  [TABLE_BITS] @return how many.
static inline size_t table_list(const table *t, uint32_t set, espl_component *out)
{
    size_t count = 0;

    for (size_t bit = 0; bit < TABLE_BITS; ++bit) {
        if (table_has(set, bit)) {
            out[count++] = t->number[bit];
        }
    }
    return count;
}

/// A set in which pages are rare, since they are large, and the small kinds are frequent.
static inline uint32_t table_random_set(table *t)
{
    uint32_t set = 0;

    for (uint32_t bit = 0; bit < TABLE_BITS; ++bit) {
        const uint32_t one_in = bit == 3 ? 20 : bit == TABLE_PLACEMENT ? 2 : bit >= 4 ? 5 : 3;

        set |= (uint32_t)test_one_in(&t->random, one_in) << bit;
    }
    return set;
}

/// Make entities of one set, without values.
static inline void table_create(table *t, uint32_t set, size_t count)
{
    espl_component list[TABLE_BITS];
    espl_entity made[64];
    const size_t length = table_list(t, set, list);

    while (count > 0) {
        const size_t now = count < 64 ? count : 64;

        ck_ok(espl_create(t->world, list, length, now, made));
        for (size_t i = 0; i < now; ++i) {
            ck_assert_uint_lt(t->count, TABLE_LIMIT);
            t->rows[t->count++] = (table_row){.entity = made[i], .set = set};
        }
        count -= now;
    }
}

static inline void table_row_is_true(const table *t, const table_row *row)
{
    unsigned char expected[TABLE_PAGE], bytes[TABLE_PAGE];

    for (size_t bit = 0; bit < TABLE_BITS; ++bit) {
        const bool has = espl_has_component(t->world, row->entity, t->number[bit]);

        if (has != table_has(row->set, bit)) {
            ck_abort_msg("entity %u, component %zu", row->entity.index, bit);
        }
        if (bit >= TABLE_KINDS || !has) {
            continue;
        }
        table_pattern(expected, table_sizes[bit], row->value[bit]);
        if (espl_get_component(t->world, row->entity, t->number[bit], bytes, table_sizes[bit]) !=
                ESPL_OK ||
            memcmp(bytes, expected, table_sizes[bit]) != 0) {
            ck_abort_msg("entity %u, value %zu", row->entity.index, bit);
        }
    }
}

/// All chunks of the world show the table's entities, each once; of neighbouring chunks of one
/// archetype all but the last are equally full.
static inline void table_chunks_are_true(const table *t)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    static uint8_t seen[1 << 16];
    uint32_t archetype = UINT32_MAX;
    size_t total = 0, full = 0;
    espl_query query;

    memset(seen, 0, sizeof seen);
    ck_ok(espl_query_begin(t->world, &all, &query));
    while (espl_query_next(&query)) {
        const bool goes_on = query.state.archetype == archetype;

        if (query.count == 0 || (goes_on && full == 0) || (goes_on && query.count > full)) {
            ck_abort_msg("a chunk of %zu rows after one of %zu", query.count, full);
        }
        // A chunk with fewer rows than the one before has to be the last.
        full = !goes_on || query.count == full ? query.count : 0;
        archetype = query.state.archetype;
        for (size_t row = 0; row < query.count; ++row) {
            const uint32_t index = query.entities[row].index;

            if (index >= sizeof seen || seen[index]++ != 0) {
                ck_abort_msg("entity %u stands in two rows", index);
            }
        }
        total += query.count;
    }
    ck_assert_uint_eq(total, t->count);
}

static inline void table_is_true(const table *t)
{
    for (size_t i = 0; i < t->count; ++i) {
        table_row_is_true(t, &t->rows[i]);
    }
    table_chunks_are_true(t);
    test_world_is_valid(t->world);
}

/// Hash of all that a world shows, component values included.
static inline uint64_t table_hash(const table *t)
{
    uint64_t hash = test_physical_hash(t->world);
    unsigned char bytes[TABLE_PAGE];

    for (size_t i = 0; i < t->count; ++i) {
        for (size_t bit = 0; bit < TABLE_BITS; ++bit) {
            const uint8_t has = espl_has_component(t->world, t->rows[i].entity, t->number[bit]);

            hash = test_hash_bytes(hash, &has, 1);
            if (has != 0 && bit < TABLE_KINDS && table_sizes[bit] != 0) {
                ck_ok(espl_get_component(t->world, t->rows[i].entity, t->number[bit], bytes,
                                         table_sizes[bit]));
                hash = test_hash_bytes(hash, bytes, table_sizes[bit]);
            }
        }
    }
    return hash;
}

/// A change of random components with random values, and what it is to the table.
typedef struct table_change {
    espl_component_value add[TABLE_BITS];
    espl_component remove[TABLE_BITS];
    uint32_t added, removed; // sets
    uint32_t value[TABLE_KINDS];
    unsigned char bytes[TABLE_KINDS][TABLE_PAGE];
    espl_change_def def;
} table_change;

/// @param mask  bits that may come and go.
static inline void table_random_change(table *t, table_change *change, uint32_t mask)
{
    size_t adds = 0;

    memset(change, 0, sizeof *change);
    change->added = table_random_set(t) & mask;
    change->removed = table_random_set(t) & mask & ~change->added;
    for (size_t bit = 0; bit < TABLE_BITS; ++bit) {
        if (!table_has(change->added, bit)) {
            continue;
        }
        espl_component_value *const value = &change->add[adds++];

        value->component = t->number[bit];
        if (bit == TABLE_PLACEMENT) {
            value->size = sizeof(espl_transform);
        } else if (bit < TABLE_KINDS) {
            value->size = table_sizes[bit];
            change->value[bit] = test_below(&t->random, 3) * test_below(&t->random, 1u << 20);
            table_pattern(change->bytes[bit], table_sizes[bit], change->value[bit]);
            value->data = change->value[bit] == 0 ? NULL : change->bytes[bit];
        }
    }
    change->def = (espl_change_def){.add = change->add,
                                    .add_count = adds,
                                    .remove = change->remove,
                                    .remove_count = table_list(t, change->removed, change->remove)};
}

static inline void table_row_change(table_row *row, const table_change *change)
{
    row->set = (row->set | change->added) & ~change->removed;
    for (size_t k = 0; k < TABLE_KINDS; ++k) {
        if (table_has(change->added, k)) {
            row->value[k] = change->value[k];
        }
    }
}

#endif
