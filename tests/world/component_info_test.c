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

// --- Version, flags and fields ---

typedef struct body {
    float at[3];
    uint8_t is_awake;
    char tag[3];
    espl_entity links[2];
    uint64_t mask;
} body;

static const uint32_t links_at[] = {offsetof(body, links), offsetof(body, links) + 8};

static const espl_component_field body_fields[] = {
    {"at", ESPL_FIELD_F32, offsetof(body, at), 3},
    {"is awake", ESPL_FIELD_BOOL, offsetof(body, is_awake), 0},
    {"tag", ESPL_FIELD_BYTES, offsetof(body, tag), 3},
    {"links", ESPL_FIELD_ENTITY, offsetof(body, links), 2},
    {"mask", ESPL_FIELD_U64, offsetof(body, mask), 1},
};

enum { BODY_FIELDS = sizeof body_fields / sizeof *body_fields };

static espl_component_def body_def(const espl_component_field *fields)
{
    return (espl_component_def){.name = "body",
                                .size = sizeof(body),
                                .alignment = _Alignof(body),
                                .references = links_at,
                                .reference_count = 2,
                                .version = 7,
                                .flags = ESPL_COMPONENT_UNIQUE,
                                .fields = fields,
                                .field_count = BODY_FIELDS};
}

TEST(version_flags_and_fields_are_described_as_they_were_registered)
{
    espl_component_field fields[BODY_FIELDS];
    char name[] = "at";
    espl_component number = 0;
    espl_component_def info;

    memcpy(fields, body_fields, sizeof fields);
    fields[0].name = name;
    const espl_component_def def = body_def(fields);

    ck_ok(espl_component_register(w, &def, &number));
    // The world has copies.
    memset(fields, 0, sizeof fields);
    name[0] = '?';
    ck_ok(espl_component_info(w, number, &info));
    ck_assert_uint_eq(info.version, 7);
    ck_assert_uint_eq(info.flags, ESPL_COMPONENT_UNIQUE);
    ck_assert_uint_eq(info.field_count, BODY_FIELDS);
    for (size_t i = 0; i < BODY_FIELDS; ++i) {
        ck_assert_str_eq(info.fields[i].name, body_fields[i].name);
        ck_assert_int_eq(info.fields[i].type, body_fields[i].type);
        ck_assert_uint_eq(info.fields[i].offset, body_fields[i].offset);
        ck_assert_uint_eq(info.fields[i].count, body_fields[i].count != 0 ? body_fields[i].count : 1);
    }
    ck_ok(espl_component_info(w, ESPL_TRANSFORM, &info));
    ck_assert(info.version == 0 && info.flags == 0 && info.fields == NULL && info.field_count == 0);
}

// One thing is wrong with a field of a definition that is right otherwise.
static const struct {
    size_t at;
    espl_component_field field;
    const char *why;
} bad_fields[] = {
    {0, {NULL, ESPL_FIELD_F32, 0, 3}, "The name of one of def->fields"},
    {0, {"", ESPL_FIELD_F32, 0, 3}, "The name of one of def->fields"},
    {0, {"a/b", ESPL_FIELD_F32, 0, 3}, "The name of one of def->fields"},
    {1, {"at", ESPL_FIELD_BOOL, 12, 1}, "Two of def->fields have the same name."},
    {1, {"is awake", ESPL_FIELD_TYPE_COUNT, 12, 1}, "The type of one of def->fields"},
    {1, {"is awake", ESPL_FIELD_BOOL, 11, 1}, "def->fields do not ascend, or overlap."},
    {1, {"is awake", ESPL_FIELD_BOOL, 12, 2}, "def->fields do not ascend, or overlap."},
    {1, {"is awake", ESPL_FIELD_U16, 12, UINT32_MAX}, "One of def->fields is not inside"},
    {4, {"mask", ESPL_FIELD_U64, 40, 1}, "One of def->fields is not inside def->size."},
    {4, {"mask", ESPL_FIELD_U64, UINT32_MAX, 1}, "One of def->fields is not inside def->size."},
    {3, {"links", ESPL_FIELD_ENTITY, 16, 1}, "The offsets of fields of ESPL_FIELD_ENTITY differ"},
    {3, {"links", ESPL_FIELD_U32, 16, 4}, "The offsets of fields of ESPL_FIELD_ENTITY differ"},
    {4, {"mask", ESPL_FIELD_ENTITY, 32, 1}, "The offsets of fields of ESPL_FIELD_ENTITY differ"},
};

TEST_LOOP(bad_fields_are_refused, 0, sizeof bad_fields / sizeof *bad_fields)
{
    espl_component_field fields[BODY_FIELDS];
    espl_component number = 77;

    memcpy(fields, body_fields, sizeof fields);
    fields[bad_fields[_i].at] = bad_fields[_i].field;
    const espl_component_def def = body_def(fields);

    ck_status(espl_component_register(w, &def, &number), ESPL_ERR_ARGUMENT);
    ck_assert_msg(strstr(test.hooks.last_line, bad_fields[_i].why) != NULL, "%s",
                  test.hooks.last_line);
    ck_assert_uint_eq(number, 77);
    ck_assert_uint_eq(espl_component_find(w, "body"), 0);
}

TEST(too_many_fields_and_unknown_flags_are_refused)
{
    espl_component_def def = body_def(body_fields);
    espl_component number = 77;

    def.field_count = ESPL_FIELD_LIMIT + 1;
    ck_status(espl_component_register(w, &def, &number), ESPL_ERR_LIMIT);
    def = body_def(NULL);
    ck_status(espl_component_register(w, &def, &number), ESPL_ERR_ARGUMENT);
    def = body_def(body_fields);
    for (uint32_t bit = 0; bit < 32; ++bit) {
        def.flags = UINT32_C(1) << bit;
        if (def.flags != ESPL_COMPONENT_UNIQUE && def.flags != ESPL_COMPONENT_TRANSIENT) {
            ck_status(espl_component_register(w, &def, &number), ESPL_ERR_UNSUPPORTED);
        }
    }
    ck_assert_uint_eq(number, 77);
}
