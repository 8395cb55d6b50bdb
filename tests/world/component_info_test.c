// SPDX-License-Identifier: MIT
// espl_component_info(): how components were registered, by their numbers.
#include "tests/one_world.h"

#include <stdio.h>
#include <string.h>

FIXTURE(set_up, tear_down);

TEST(a_new_world_has_the_built_in_components)
{
    static const char *const names[] = {"transform", "solo",   "root",
                                        "member",    "prefab", "disabled"};

    ck_assert_uint_eq(espl_component_count(w), sizeof names / sizeof *names);
    for (espl_component i = 1; i <= espl_component_count(w); ++i) {
        espl_component_def info;
        const bool is_transform = i == ESPL_TRANSFORM;

        ck_ok(espl_component_info(w, i, &info));
        ck_assert_str_eq(info.name, names[i - 1]);
        ck_assert_uint_eq(info.size, is_transform ? sizeof(espl_transform) : 0);
        ck_assert_uint_eq(info.alignment, is_transform ? _Alignof(espl_transform) : 1);
        ck_assert_ptr_null(info.references);
        ck_assert_uint_eq(info.reference_count, 0);
    }
}

TEST(a_component_is_described_as_it_was_registered)
{
    static const uint32_t at[] = {4, 16};
    const espl_component_def defs[] = {
        {.name = "plain", .size = 12},
        {.name = "aligned", .size = 64, .alignment = 32},
        {.name = "referring", .size = 24, .alignment = 4, .references = at, .reference_count = 2}};

    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        espl_component number = 0;
        espl_component_def info;

        ck_ok(espl_component_register(w, &defs[i], &number));
        ck_assert_uint_eq(espl_component_count(w), number);
        ck_ok(espl_component_info(w, number, &info));
        ck_assert_str_eq(info.name, defs[i].name);
        ck_assert_ptr_ne(info.name, defs[i].name); // the world's own
        ck_assert_uint_eq(info.size, defs[i].size);
        ck_assert_uint_eq(info.alignment, defs[i].alignment == 0 ? 1 : defs[i].alignment);
        ck_assert_uint_eq(info.reference_count, defs[i].reference_count);
        for (size_t k = 0; k < info.reference_count; ++k) {
            ck_assert_uint_eq(info.references[k], at[k]);
        }
    }
}

// Another world registers the same, number by number, and then shows the same.
TEST(a_description_registers_the_component_in_another_world)
{
    static const uint32_t at[] = {0};
    const espl_component_def def = {
        .name = "link", .size = 8, .references = at, .reference_count = 1};
    espl_component number = 0;
    test_world other;

    test_world_begin(&other, 2, NULL);
    ck_ok(espl_component_register(w, &def, &number));
    for (espl_component i = espl_component_count(other.world) + 1; i <= espl_component_count(w);
         ++i) {
        espl_component_def info;
        espl_component same = 0;

        ck_ok(espl_component_info(w, i, &info));
        ck_ok(espl_component_register(other.world, &info, &same));
        ck_assert_uint_eq(same, i);
    }
    ck_assert_uint_eq(espl_component_find(other.world, "link"), number);
    test_world_end(&other);
}

TEST(a_number_that_no_component_has_is_refused)
{
    const espl_component none[] = {0, espl_component_count(w) + 1, UINT32_MAX};
    const espl_component_def before = {.name = "before", .size = 7};
    espl_component_def info = before;

    for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
        ck_status(espl_component_info(w, none[i], &info), ESPL_ERR_ARGUMENT);
        ck_assert(info.name == before.name && info.size == 7);
        char line[256];

        snprintf(
            line, sizeof line,
            "espl_component_info: ESPL_ERR_ARGUMENT: component %lu: The world has no component of "
            "that number; register it, or call espl_component_find().",
            (unsigned long)none[i]);
        ck_assert_str_eq(test.hooks.last_line, line);
    }
}

TEST(names_and_references_stay_where_they_are)
{
    espl_component_def first, again;
    const uint32_t limit = ESPL_COMPONENT_LIMIT;

    ck_ok(espl_component_info(w, ESPL_PREFAB, &first));
    while (espl_component_count(w) < limit) {
        char name[32];
        const espl_component_def def = {.name = name, .size = 4};
        espl_component number = 0;

        (void)snprintf(name, sizeof name, "number %u", espl_component_count(w));
        ck_ok(espl_component_register(w, &def, &number));
    }
    ck_ok(espl_compact(w));
    ck_ok(espl_world_clear(w));
    ck_ok(espl_component_info(w, ESPL_PREFAB, &again));
    ck_assert_ptr_eq(again.name, first.name);
    ck_assert_uint_eq(espl_component_count(w), limit);
}
