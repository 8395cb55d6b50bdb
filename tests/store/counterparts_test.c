// SPDX-License-Identifier: MIT
// The links of counterparts beside a naive table, at every point where memory runs out, and with each of their
// invariants broken.
#include "lib/store/counterparts.h"

#include "tests/base/heap_fixture.h"

#include <string.h>

enum { ENTITIES = 200, ORIGINALS = 300 };

static espl__counterparts links;

static void set_up(void)
{
    heap_begin();
    links = (espl__counterparts){0};
}

static void is_sound(void)
{
    uint32_t entity = 0;
    const char *const rule = espl__counterparts_broken_rule(&links, &entity);

    ck_assert_msg(rule == NULL, "%s (entity %u)", rule, entity);
    ck_assert_uint_eq(entity, UINT32_MAX);
    ck_assert_uint_eq(espl__counterparts_bytes(&links), espl__heap_bytes(&heap));
}

static void tear_down(void)
{
    is_sound();
    espl__counterparts_free(&links, &heap);
    heap_is_empty();
}

// Originals of two worlds with the same indices.
static espl_entity original(uint32_t number)
{
    return (espl_entity){number / 2, (2 + number % 2) << 24 | 1};
}

static bool put(uint32_t entity, uint32_t number)
{
    if (!espl__counterparts_reserve(&links, &heap, 1, entity + (size_t)1)) {
        return false;
    }
    espl__counterpart_put(&links, entity, original(number));
    return true;
}

FIXTURE(set_up, tear_down);

TEST(empty_tables_take_no_memory)
{
    const uint32_t entity = 3;

    ck_assert_uint_eq(espl__counterpart_of(&links, original(3)), UINT32_MAX);
    ck_assert(espl_entity_is_null(espl__original_of(&links, 3)));
    espl__counterparts_remove(&links, &entity, 1);
    ck_assert(espl__counterparts_reserve(&links, &heap, 0, 9));
    ck_assert(espl__counterparts_trim(&links, &heap));
    ck_assert_uint_eq(under.calls, 0);
}

// The original of each entity, or ORIGINALS.
static void is_as(const uint32_t *naive)
{
    size_t count = 0;

    for (uint32_t i = 0; i < ENTITIES; ++i) {
        const espl_entity found = espl__original_of(&links, i);

        if (naive[i] == ORIGINALS) {
            ck_assert(espl_entity_is_null(found));
            continue;
        }
        count += 1;
        ck_assert(espl_entity_equal(found, original(naive[i])));
        ck_assert_uint_eq(espl__counterpart_of(&links, original(naive[i])), i);
    }
    ck_assert_uint_eq(links.count, count);
}

TEST(random_links_are_those_of_a_naive_table)
{
    uint32_t naive[ENTITIES];
    uint64_t random = 1;

    for (uint32_t i = 0; i < ENTITIES; ++i) {
        naive[i] = ORIGINALS;
    }
    for (size_t step = 0; step < test_scaled(20000); ++step) {
        const uint32_t entity = test_below(&random, ENTITIES);
        const uint32_t number = test_below(&random, ORIGINALS);
        const bool is_free = espl__counterpart_of(&links, original(number)) == UINT32_MAX;

        if (naive[entity] != ORIGINALS) {
            espl__counterparts_remove(&links, &entity, 1);
            naive[entity] = ORIGINALS;
        } else if (is_free) {
            test_heap_arm(&under, test_one_in(&random, 3) ? 1 + test_below(&random, 2) : 0, true);
            naive[entity] = put(entity, number) ? number : ORIGINALS;
            test_heap_arm(&under, 0, false);
        }
        if (test_one_in(&random, 500)) {
            ck_assert(espl__counterparts_trim(&links, &heap));
        }
        if (step % 50 == 0) {
            is_sound();
            is_as(naive);
        }
    }
    is_as(naive);
}

TEST(a_trim_frees_tables_that_are_empty_and_keeps_them_without_memory)
{
    for (uint32_t i = 0; i < 100; ++i) {
        ck_assert(put(i, i));
    }
    for (uint32_t i = 5; i < 100; ++i) {
        espl__counterparts_remove(&links, &i, 1);
    }
    // The array of originals moves first, then the table.
    for (size_t nth = 1; nth <= 2; ++nth) {
        const size_t bytes = espl__counterparts_bytes(&links);

        test_heap_arm(&under, 1, true);
        ck_assert(!espl__counterparts_trim(&links, &heap));
        test_heap_arm(&under, nth, true);
        ck_assert(!espl__counterparts_trim(&links, &heap));
        test_heap_arm(&under, 0, false);
        ck_assert(nth == 1 ? espl__counterparts_bytes(&links) == bytes
                           : espl__counterparts_bytes(&links) < bytes);
        is_sound();
    }
    ck_assert(espl__counterparts_trim(&links, &heap));
    ck_assert_uint_eq(links.capacity, 8);
    ck_assert_uint_eq(espl__array_length(links.originals), 5);
    ck_assert_uint_eq(espl__array_capacity(links.originals), 5);
    for (uint32_t i = 0; i < 5; ++i) {
        ck_assert_uint_eq(espl__counterpart_of(&links, original(i)), i);
        espl__counterparts_remove(&links, &i, 1);
    }
    ck_assert(espl__counterparts_trim(&links, &heap));
    ck_assert_uint_eq(espl__counterparts_bytes(&links), 0);
}

static void demand_broken(const char *rule)
{
    uint32_t entity = 0;
    const char *const found = espl__counterparts_broken_rule(&links, &entity);

    ck_assert_msg(found != NULL && strcmp(found, rule) == 0, "%s", found);
}

TEST(each_rule_is_found_where_it_is_broken)
{
    for (uint32_t i = 0; i < 5; ++i) {
        ck_assert(put(i, 3 * i));
    }
    ck_assert(espl__counterparts_reserve(&links, &heap, 1, 10));
    const espl__counterparts saved = links;

    links.count = 7;
    demand_broken("the table of counterparts has free places");
    links = saved;
    links.count = 4;
    demand_broken("counterparts are counted");
    links = saved;
    links.originals[9] = original(200);
    demand_broken("counterparts are counted");
    links.originals[9] = espl_entity_null();
    for (size_t i = 0; i < links.capacity; ++i) {
        espl__counterpart *const entry = &links.by_original[i];
        const espl__counterpart was = *entry;

        if (espl_entity_is_null(was.original)) {
            *entry = (espl__counterpart){original(200), 77};
            demand_broken("originals and counterparts are one to one");
        } else {
            entry->original = original(200);
            demand_broken("originals and counterparts are one to one");
            *entry = was;
            entry->entity += 50;
            demand_broken("originals and counterparts are one to one");
        }
        *entry = was;
    }
    is_sound();
}
