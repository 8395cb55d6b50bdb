// SPDX-License-Identifier: MIT
// Kinds, forms, conversions, extents, names and strides that are none: each call refuses them, changes nothing,
// and logs one line that says which argument is wrong. A world without a log refuses them alike.
#include "tests/runner.h"
#include "tests/told.h"

#include <string.h>

// A world with a log or without one, a root, a member that keeps its height, and a bare entity.
typedef struct scene {
    told told;
    espl_world *world;
    bool is_silent;
    espl_entity root, member, bare;
    espl_component number;
    espl_command_buffer *commands;
    espl_recorder *recorder;
} scene;

static scene s;

static void scene_begin(bool is_silent)
{
    memset(&s, 0, sizeof s);
    s.is_silent = is_silent;
    const espl_world_def def = {.hooks = is_silent ? (espl_hooks){0} : told_hooks(&s.told)};
    ck_ok(espl_world_create(&def, &s.world));
    s.root = test_solo(s.world);
    s.member = test_solo(s.world);
    ck_ok(espl_attach(s.world, s.member, s.root, NULL));
    ck_ok(espl_set_inherit(s.world, s.member, ESPL_ABSOLUTE_Y));
    s.number = test_component(s.world, "number", 4, 4);
    ck_ok(espl_create(s.world, &s.number, 1, 1, &s.bare));
    ck_ok(espl_command_buffer_create(s.world, 1, &s.commands));
    s.recorder = espl_command_buffer_recorder(s.commands, 0);
}

static void scene_end(void)
{
    espl_command_buffer_destroy(s.commands);
    test_world_is_valid(s.world);
    espl_world_destroy(s.world);
}

// Demand a status, and one line in the log with these words. A silent world has no line.
static void demand(espl_status status, espl_status expected, const char *words)
{
    ck_assert_msg(status == expected, "%s: %s", words, espl_status_name(status));
    ck_assert_uint_eq(s.told.lines, s.is_silent ? 0 : 1);
    ck_assert_msg(s.is_silent || strstr(s.told.line, words) != NULL, "%s in: %s", words,
                  s.told.line);
    s.told.lines = 0;
}

static void read_bad_kinds(void)
{
    const espl_read_kind none = (espl_read_kind)ESPL_READ_KIND_COUNT;
    const espl_entity both[2] = {s.root, s.bare}, none_placed[2] = {s.bare, s.bare};
    float out[2][16], before[2][16];

    memset(out, 7, sizeof out);
    memcpy(before, out, sizeof out);
    demand(espl_read_one(s.world, s.root, none, out), ESPL_ERR_ARGUMENT, "kind is none of");
    demand(espl_read_one(s.world, s.member, none, out), ESPL_ERR_ARGUMENT, "kind is none of");
    demand(espl_read_strided(s.world, none, both, 2, sizeof *both, out, sizeof *out),
           ESPL_ERR_ARGUMENT, "kind is none of");
    demand(espl_read_strided(s.world, ESPL_READ_WORLD_TRANSFORM, both, 2, sizeof *both, out, 44),
           ESPL_ERR_ARGUMENT, "stride");
    demand(espl_read_strided(s.world, ESPL_READ_WORLD_POSITION, both, 2, 3, out, sizeof *out),
           ESPL_ERR_ARGUMENT, "entity_stride");
    ck_assert_mem_eq(out, before, sizeof out);
    // The first is read; the second is refused alone, and the log names it.
    demand(espl_read_strided(s.world, ESPL_READ_WORLD_POSITION, both, 2, sizeof *both, out,
                             sizeof *out),
           ESPL_PARTLY, "entry 1 of 2");
    // Of several the first is named.
    demand(espl_read_strided(s.world, ESPL_READ_WORLD_POSITION, none_placed, 2, sizeof *none_placed,
                             out, sizeof *out),
           ESPL_PARTLY, "entry 0 of 2");
}

static void read_bad_rows(void)
{
    const espl_query_def bare = {.all = &s.number, .all_count = 1};
    espl_query query;
    float out[8][16];

    ck_ok(espl_query_begin_read(s.world, &bare, &query));
    // Before the first chunk there are no rows.
    ck_ok(espl_query_read_transforms(&query, ESPL_READ_STRETCH, out, sizeof *out));
    ck_assert(espl_query_next(&query));
    demand(espl_query_read_transforms(&query, (espl_read_kind)-1, out, sizeof *out),
           ESPL_ERR_ARGUMENT, "kind is none of");
    demand(espl_query_read_transforms(&query, ESPL_READ_STRETCH, out, 8), ESPL_ERR_ARGUMENT,
           "stride");
    demand(espl_query_read_transforms(&query, ESPL_READ_STRETCH, out, sizeof *out),
           ESPL_ERR_NO_TRANSFORM, "espl_query_read_transforms");
    ck_assert(!espl_query_next(&query));
}

static void convert_bad_kinds(void)
{
    const float point[3] = {1, 2, 3};
    float out[16] = {9};
    espl_transform t = espl_transform_identity();

    demand(espl_convert(s.world, s.root, (espl_conversion)ESPL_CONVERSION_COUNT, point, out),
           ESPL_ERR_ARGUMENT, "conversion is none of");
    demand(espl_get_matrix(s.world, s.root, (espl_matrix_form)ESPL_MATRIX_FORM_COUNT, out),
           ESPL_ERR_ARGUMENT, "form is none of");
    espl_transform_to_matrix(&t, (espl_matrix_form)ESPL_MATRIX_FORM_COUNT, out);
    ck_assert_float_eq(out[0], 9);
    espl_transform_convert(&t, (espl_conversion)ESPL_CONVERSION_COUNT, point, out);
    ck_assert_uint_eq(s.told.lines, 0);
}

static void record_bad_values(void)
{
    const espl_component_value unknown = {900, 4, NULL},
                               placed[2] = {{s.number, 4, NULL}, {ESPL_TRANSFORM, 48, NULL}};
    espl_instance_def def = {.source = s.root, .value_count = 1};

    demand(espl_record_destroy(s.recorder, 0, s.root, (espl_extent)9), ESPL_ERR_ARGUMENT,
           "extent is none of");
    demand(espl_record_instantiate(s.recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT,
           "def->values is NULL");
    def.values = &unknown;
    demand(espl_record_instantiate(s.recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT, "900");
    def.values = placed;
    def.value_count = 2;
    demand(espl_record_instantiate(s.recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT,
           "The transform of a clone is def->transform");
    def = (espl_instance_def){.source = s.root, .place = (espl_place)9};
    demand(espl_record_instantiate(s.recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT,
           "def->place is none of");
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 0);
}

static void change_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    (void)context;
}

static void list_bad_components(void)
{
    const espl_component unknown = 900, repeat[2] = {s.number, s.number};
    const espl_component later[2] = {s.number, 900};
    const espl_query_def missing = {.none_count = 1}, bit = {.include = 64},
                         bad = {.any = &unknown, .any_count = 1},
                         late = {.all = later, .all_count = 2};
    const espl_parallel_def parallel = {
        .function = change_rows, .columns = &unknown, .column_count = 1};
    const espl_parallel_def columns = {
        .function = change_rows, .columns = later, .column_count = 2};
    espl_query query;
    espl_entity entity;

    demand(espl_create(s.world, NULL, 2, 1, &entity), ESPL_ERR_ARGUMENT, "components is NULL");
    demand(espl_create(s.world, repeat, 2, 1, &entity), ESPL_ERR_ARGUMENT, "number");
    demand(espl_create(s.world, &unknown, 1, 1, &entity), ESPL_ERR_ARGUMENT, "900");
    demand(espl_query_begin(s.world, &missing, &query), ESPL_ERR_ARGUMENT, "is NULL");
    demand(espl_query_begin(s.world, &bit, &query), ESPL_ERR_ARGUMENT, "include");
    demand(espl_query_begin_read(s.world, &bad, &query), ESPL_ERR_ARGUMENT, "900");
    demand(espl_query_begin(s.world, &late, &query), ESPL_ERR_ARGUMENT, "900");
    demand(espl_write_parallel(s.world, &parallel, NULL), ESPL_ERR_ARGUMENT, "900");
    demand(espl_write_parallel(s.world, &columns, NULL), ESPL_ERR_ARGUMENT, "900");
    ck_status(espl_set_name(NULL, s.root, "name"), ESPL_ERR_ARGUMENT);
}

TEST_LOOP(what_is_none_of_its_kind_is_refused_and_told, 0, 2)
{
    scene_begin(_i != 0);
    const uint64_t before = test_physical_hash(s.world);
    read_bad_kinds();
    read_bad_rows();
    convert_bad_kinds();
    record_bad_values();
    list_bad_components();
    ck_assert_uint_eq(test_physical_hash(s.world), before);
    scene_end();
}

TEST(a_dump_shows_numbers_that_are_not_finite)
{
    espl_transform huge = {{0, 0, 0, 1}, {3e38f, -3e38f, 1}, 3e38f, {1, 1, 1}, 0};
    char text[2048];

    scene_begin(true);
    ck_ok(espl_set_inherit(s.world, s.member, 0));
    ck_ok(espl_set_local_transform(s.world, s.root, &huge));
    for (int i = 0; i < 2; ++i) {
        ck_status(espl_set_local_transform(s.world, s.member, &huge), ESPL_OVERFLOW);
        ck_assert_uint_lt(espl_dump(s.world, s.member, text, sizeof text), sizeof text);
        ck_assert_ptr_nonnull(strstr(text, i == 0 ? "scale inf" : "scale -inf"));
        ck_assert_ptr_nonnull(strstr(text, "position nan"));
        huge.scale = -huge.scale;
    }
    scene_end();
}

// --- Names and jobs ---

static void name_and_overflow(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)context;
    const float huge = 3e38f;

    for (size_t row = 0; row < rows->count; ++row) {
        demand(espl_set_name(s.world, rows->entities[row], "late"), ESPL_ERR_BUSY, "late");
        ck_assert_int_ge(
            espl_writer_write(writer, rows->entities[row], ESPL_WRITE_LOCAL_SCALE, &huge, NULL), 0);
    }
}

TEST(a_parallel_write_that_overflows_says_so_and_gives_no_names)
{
    const espl_component placed = ESPL_TRANSFORM;
    const espl_query_def rows = {.all = &placed, .all_count = 1};
    espl_write_report report = {0};

    scene_begin(true);
    const espl_parallel_def def = {.query = &rows, .function = name_and_overflow, .context = &s};
    espl_parallel_report parallel = {0};
    ck_status(espl_write_parallel(s.world, &def, &parallel), ESPL_OVERFLOW);
    ck_assert(parallel.has_overflowed);
    ck_assert_str_eq(espl_get_name(s.world, s.root), "");
    const espl_write write = {.entity = s.member, .kind = ESPL_WRITE_LOCAL_SCALE, .value.scale = 2};
    ck_assert_int_ge(espl_write_batch(s.world, &write, 1, &report), 0);
    scene_end();
}

static void ignore_calls(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

TEST(a_custom_command_needs_a_name_of_1_to_255_bytes)
{
    char name[300];

    scene_begin(false);
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    for (int i = 0; i < 3; ++i) {
        espl_custom_command command = 77;
        const espl_custom_command_def def = {.name = i == 0   ? ""
                                                     : i == 1 ? name
                                                              : name + 1,
                                             .function = ignore_calls};
        const espl_status status = espl_command_register(s.world, &def, &command);

        if (i < 2) {
            demand(status, ESPL_ERR_ARGUMENT, "def->name has no byte, or more than 255");
            ck_assert_uint_eq(command, 77);
        } else {
            ck_ok(status);
        }
    }
    scene_end();
}
