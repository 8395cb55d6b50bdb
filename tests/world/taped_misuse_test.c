// SPDX-License-Identifier: MIT
// Calls with NULL pointers and counts past every limit give the same in a world with a tape as in
// one without: the tape leaves such a record out, and no missing array is read for it.
#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

enum { CALLS = 33, NAME = 300 };

typedef struct field {
    test_world test;
    espl_world *world;
    espl_component number, mark;
    espl_entity one;
    espl_status answers[CALLS];
    size_t count;
} field;

static void count_bytes(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
}

static void field_begin(field *f, size_t *taped)
{
    f->count = 0;
    if (taped != NULL) {
        test_world_record((espl_tape){taped, count_bytes});
    }
    test_world_begin(&f->test, 3, NULL);
    f->world = f->test.world;
    f->number = test_component(f->world, "number", 4, 4);
    f->mark = test_component(f->world, "mark", 0, 0);
    f->one = test_solo(f->world);
}

static void hear(field *f, espl_status status)
{
    ck_assert_uint_lt(f->count, CALLS);
    ck_assert_int_lt(status, 0);
    f->answers[f->count++] = status;
}

// A record that is a call which is refused may be there, one that cannot be written is not.
static void refuse_registrations(field *f)
{
    static const uint32_t fields[] = {0};
    static char name[NAME];
    const espl_component_def defs[] = {
        {.size = 4, .alignment = 4}, // no name
        {.name = "many",
         .size = 8,
         .references = fields,
         .reference_count = ESPL_REFERENCE_LIMIT + 1},
        {.name = "none", .size = 8, .reference_count = 1},
        {.name = name, .size = 4},
        {.name = "large", .size = ESPL_COMPONENT_SIZE_LIMIT + 1},
        {.name = "wide", .size = 4, .alignment = ESPL_COMPONENT_SIZE_LIMIT + 1}};
    espl_component out = 0;

    memset(name, 'n', NAME - 1);
    hear(f, espl_component_register(f->world, NULL, &out));
    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        hear(f, espl_component_register(f->world, &defs[i], &out));
    }
}

static void refuse_sets(field *f)
{
    espl_entity made = espl_entity_null();

    hear(f, espl_create(f->world, NULL, 1, 1, &made));
    hear(f, espl_create(f->world, &f->mark, ESPL_SET_LIMIT + 1, 1, &made));
    hear(f, test_reserve_rows(f->world, NULL, 1, 1));
    hear(f, espl_reserve(f->world, &(espl_reserve_def){.entities = SIZE_MAX}));
    ck_assert(espl_entity_is_null(made));
}

static void refuse_changes(field *f)
{
    const espl_component_value mark = {.component = f->mark};
    const espl_component_value large = {.component = f->number,
                                        .size = ESPL_COMPONENT_SIZE_LIMIT + 1};
    const espl_change_def fine = {.add = &mark, .add_count = 1};
    const espl_change_def defs[] = {{.add_count = 1},
                                    {.remove_count = 1},
                                    {.add = &mark, .add_count = ESPL_SET_LIMIT + 1},
                                    {.remove = &f->mark, .remove_count = ESPL_SET_LIMIT + 1},
                                    {.add = &large, .add_count = 1}};
    size_t refused = 77;

    hear(f, espl_change_components_array(f->world, NULL, 1, &fine, &refused));
    hear(f, espl_change_components(f->world, f->one, NULL));
    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        hear(f, espl_change_components(f->world, f->one, &defs[i]));
    }
    ck_assert_uint_eq(refused, 77);
}

static void refuse_queries(field *f)
{
    const espl_component_value mark = {.component = f->mark};
    const espl_change_def fine = {.add = &mark, .add_count = 1}, bad = {.add_count = 1};
    const espl_component unknown = 1000;
    const espl_query_def query = {.all = &unknown, .all_count = 1};
    size_t count = 77;

    hear(f, espl_change_components_query(f->world, &query, &fine, &count));
    hear(f, espl_change_components_query(f->world, NULL, &bad, &count));
    ck_assert_uint_eq(count, 77);
}

static void refuse_writes(field *f)
{
    static const float none[3] = {0};

    hear(f, espl_set_component(f->world, f->one, f->number, NULL, 4));
    hear(f, espl_set_local_position(f->world, f->one, NULL));
    hear(f, espl_look_at(f->world, f->one, NULL, NULL, ESPL_AXIS_FORWARD));
    hear(f, espl_look_at(f->world, f->one, none, NULL, (espl_axis)(ESPL_AXIS_BACK + 1)));
    hear(f, espl_rotate_about(f->world, f->one, none, NULL));
}

static void refuse_many(field *f)
{
    static char name[NAME];
    size_t refused = 77;

    memset(name, 'n', NAME - 1);
    hear(f, espl_set_name(f->world, f->one, name));
    hear(f, espl_set_name(f->world, f->one, "\t"));
    hear(f, espl_attach_many(f->world, NULL, &f->one, 1, NULL, &refused));
    hear(f, espl_attach_many(f->world, &f->one, NULL, 1, NULL, &refused));
    hear(f, espl_attach_many(f->world, &f->one, &f->one, SIZE_MAX, NULL, &refused));
    hear(f, espl_destroy_many(f->world, NULL, 1, ESPL_EXTENT_OWNED, &refused));
    hear(f, espl_destroy_many(f->world, &f->one, 1, (espl_extent)5, &refused));
    ck_assert_uint_eq(refused, 77);
}

static void refuse_all(field *f)
{
    refuse_many(f);
    refuse_registrations(f);
    refuse_sets(f);
    refuse_changes(f);
    refuse_queries(f);
    refuse_writes(f);
}

TEST(wrong_calls_are_refused_alike_with_a_tape_and_without)
{
    field plain, taped;
    size_t bytes = 0;

    field_begin(&plain, NULL);
    field_begin(&taped, &bytes);
    ck_assert_uint_gt(bytes, 0);
    const uint64_t before = test_physical_hash(taped.world);

    refuse_all(&plain);
    refuse_all(&taped);
    ck_assert_uint_eq(plain.count, taped.count);
    for (size_t i = 0; i < taped.count; ++i) {
        ck_assert_msg(plain.answers[i] == taped.answers[i], "call %zu", i);
    }
    ck_assert_uint_eq(test_physical_hash(taped.world), before);
    ck_assert_uint_eq(plain.test.hooks.traps, taped.test.hooks.traps);
    test_world_end(&plain.test);
    test_world_end(&taped.test);
}
