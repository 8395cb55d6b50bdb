// SPDX-License-Identifier: MIT
// The table of names beside a naive one, at every point where memory runs out, and with each of its
// invariants broken.
#include "lib/store/names.h"

#include "tests/base/heap_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 200, LONGEST = 255 };

static espl__names names;

static void set_up(void)
{
    heap_begin();
    names = (espl__names){0};
}

static void is_sound(void)
{
    uint32_t entity = 0;
    const char *const rule = espl__names_broken_rule(&names, &entity);

    ck_assert_msg(rule == NULL, "%s (entity %u)", rule, entity);
    ck_assert_uint_eq(entity, UINT32_MAX);
    ck_assert_uint_eq(espl__names_bytes(&names), espl__heap_bytes(&heap));
    ck_assert_uint_eq(under.bytes, espl__heap_bytes(&heap));
}

static void tear_down(void)
{
    is_sound();
    espl__names_free(&names, &heap);
    heap_is_empty();
}

static void set(uint32_t entity, const char *text)
{
    ck_ok(espl__name_set(&names, &heap, entity, text, strlen(text)));
}

static const char *get(uint32_t entity)
{
    const espl__name *const name = espl__name_of(&names, entity);

    return name != NULL ? name->text : "";
}

FIXTURE(set_up, tear_down);

TEST(an_empty_table_takes_no_memory)
{
    const uint32_t entity = 3;

    ck_assert_ptr_null(espl__name_of(&names, 3));
    set(3, "");
    espl__names_remove(&names, &heap, &entity, 1);
    ck_assert(espl__names_reserve(&names, &heap, 0));
    ck_assert(espl__names_trim(&names, &heap));
    ck_assert_uint_eq(under.calls, 0);
}

TEST(the_text_of_a_name_stays_where_it_is)
{
    set(7, "seven");
    const char *const text = get(7);

    for (uint32_t i = 100; i < 1000; ++i) {
        set(i, "another");
    }
    ck_assert(espl__names_trim(&names, &heap));
    ck_assert_ptr_eq(get(7), text);
    set(7, "seven"); // the same once more
    ck_assert_ptr_eq(get(7), text);
    // A part of the name itself.
    set(7, text + 1);
    ck_assert_str_eq(get(7), "even");
}

TEST(entities_that_share_a_name_keep_it_from_each_other)
{
    set(1, "one");
    ck_assert(espl__names_reserve(&names, &heap, 3));
    const size_t bytes = espl__names_bytes(&names);

    for (uint32_t i = 2; i <= 4; ++i) {
        espl__name_share(&names, i - 1, i);
    }
    ck_assert_uint_eq(espl__names_bytes(&names), bytes);
    ck_assert_uint_eq(names.text_count, 1);
    is_sound();
    set(1, "other");
    set(3, "");
    ck_assert_str_eq(get(1), "other");
    ck_assert_str_eq(get(2), "one");
    ck_assert_str_eq(get(3), "");
    ck_assert_str_eq(get(4), "one");
    ck_assert_uint_eq(names.text_count, 2);
}

// --- Beside a naive table ---

typedef struct plain {
    char text[LONGEST + 1];
} plain;

static void random_text(uint64_t *random, char *out)
{
    const uint32_t length =
        test_one_in(random, 8) ? test_below(random, LONGEST + 1) : test_below(random, 6);

    for (uint32_t i = 0; i < length; ++i) {
        out[i] = (char)('a' + test_below(random, 26));
    }
    out[length] = '\0';
}

// Indices far apart, many of which have their homes in the same places.
static uint32_t index_of(uint32_t number)
{
    return number % 3 == 0 ? number : number * 0x9e3779b1u;
}

static void step(plain *all, uint64_t *random)
{
    const uint32_t at = test_below(random, ENTITIES), other = test_below(random, ENTITIES);
    const uint32_t index = index_of(at);
    char text[LONGEST + 1];

    switch (test_below(random, 4)) {
    case 0:
        espl__names_remove(&names, &heap, &index, 1);
        all[at].text[0] = '\0';
        break;
    case 1:
        if (all[at].text[0] == '\0' && all[other].text[0] != '\0') {
            ck_assert(espl__names_reserve(&names, &heap, 1));
            espl__name_share(&names, index_of(other), index);
            all[at] = all[other];
        }
        break;
    default:
        random_text(random, text);
        set(index, text);
        memcpy(all[at].text, text, sizeof text);
        break;
    }
}

static void compare(const plain *all)
{
    size_t count = 0;

    for (uint32_t i = 0; i < ENTITIES; ++i) {
        ck_assert_str_eq(get(index_of(i)), all[i].text);
        count += all[i].text[0] != '\0';
    }
    ck_assert_uint_eq(names.count, count);
    is_sound();
}

TEST_LOOP(random_changes_come_to_what_a_naive_table_holds, 0, 4)
{
    plain *const all = calloc(ENTITIES, sizeof *all);
    uint64_t random = (uint64_t)_i + 1;
    const size_t steps = test_scaled(20000);

    ck_assert_ptr_nonnull(all);
    for (size_t i = 0; i < steps; ++i) {
        step(all, &random);
        if (i % 500 == 0) {
            compare(all);
            ck_assert(espl__names_trim(&names, &heap));
        }
    }
    compare(all);
    free(all);
}

// --- Memory ---

TEST(what_finds_no_memory_changes_nothing)
{
    for (size_t fail_at = 1;; ++fail_at) {
        set_up();
        for (uint32_t i = 0; i < 6; ++i) {
            set(i, "name");
        }
        test_heap_arm(&under, fail_at, false);
        const espl_status fresh = espl__name_set(&names, &heap, 6, "new", 3);
        const espl_status again = espl__name_set(&names, &heap, 0, "other", 5);
        const bool has_room = espl__names_reserve(&names, &heap, 100);
        const bool has_failed = under.failures != 0;

        test_heap_arm(&under, 0, false);
        ck_assert_str_eq(get(6), fresh == ESPL_OK ? "new" : "");
        ck_assert_str_eq(get(0), again == ESPL_OK ? "other" : "name");
        ck_assert_str_eq(get(5), "name");
        ck_assert(has_failed == (fresh != ESPL_OK || again != ESPL_OK || !has_room));
        if (!has_failed) {
            break;
        }
        tear_down();
    }
    // A trim is refused where there is nothing to move the table to.
    test_heap_arm(&under, 1, true);
    ck_assert(!espl__names_trim(&names, &heap));
    test_heap_arm(&under, 0, false);
    ck_assert(espl__names_trim(&names, &heap));
}

TEST(more_names_than_memory_holds_are_refused)
{
    set(1, "one");
    ck_assert(!espl__names_reserve(&names, &heap, SIZE_MAX / 2));
    ck_assert_str_eq(get(1), "one");
}

// --- Broken on purpose ---

static void expect_rule(const char *expected)
{
    uint32_t entity = 0;
    const char *const rule = espl__names_broken_rule(&names, &entity);

    ck_assert_msg(rule != NULL, "not found: %s", expected);
    ck_assert_str_eq(rule, expected);
}

#define BREAK(place, value, rule)               \
    do {                                        \
        __typeof__(place) *const at = &(place); \
        const __typeof__(place) was = *at;      \
        *at = (value);                          \
        expect_rule(rule);                      \
        *at = was;                              \
        is_sound();                             \
    } while (0)

static espl__named *entry_of(uint32_t entity)
{
    for (size_t i = 0; i < names.capacity; ++i) {
        if (names.entries[i].name != NULL && names.entries[i].entity == entity) {
            return &names.entries[i];
        }
    }
    ck_abort_msg("entity %u has no entry", entity);
}

TEST(broken_tables_are_named)
{
    set(1, "one");
    set(2, "two");
    ck_assert(espl__names_reserve(&names, &heap, 1));
    espl__name_share(&names, 1, 3);
    espl__name *const shared = entry_of(1)->name;

    BREAK(names.count, names.capacity, "the table of names has free places");
    BREAK(names.capacity, 7, "the table of names has free places");
    BREAK(names.count, 1, "a name is that of as many entities as use it");
    BREAK(names.count, 4, "named entities are counted");
    BREAK(entry_of(2)->entity, 1, "a named entity is found by its index, in one place");
    BREAK(shared->uses, 0, "a name is that of as many entities as use it");
    BREAK(shared->uses, 1, "entities that share a name are counted");
    BREAK(shared->uses, 3, "entities that share a name are counted");
    BREAK(names.text_count, 3, "entities that share a name are counted");
    BREAK(shared->size, 3, "a name is as long as it says");
    BREAK(shared->text[1], '\0', "a name is as long as it says");
}
