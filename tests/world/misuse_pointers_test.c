// SPDX-License-Identifier: MIT
// NULL for each pointer that an exported function takes, in any build: carried out where NULL is
// allowed, otherwise answered with ESPL_ERR_ARGUMENT or a neutral value, logged if the call names a
// world, and never a trap. tests/math/pointers_test.c does the same for transform.h.
#include "tests/world/pointers.h"

#include "tests/forms.h"
#include "tests/fixture.h"
#include "tests/pointer_rows.h"
#include "tests/runner.h"

#include <stdio.h>
#include <string.h>

// --- Arguments ---

static const espl_component_def late = {.name = "late", .size = 4, .alignment = 4},
                                referring = {.name = "refers",
                                             .size = 8,
                                             .alignment = 4,
                                             .reference_count = 1};
static const espl_instance_def valueless = {.source = {1, 1}, .value_count = 1};

static void hear_nothing(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

static const espl_custom_command_def custom = {.name = "custom", .function = hear_nothing};

static espl_status begin_and_end(things *k)
{
    const espl_status status = espl_query_begin(k->w, NULL, &k->query);

    espl_query_end(&k->query);
    return status;
}

static espl_status present_once(things *k)
{
    ck_ok(espl_motion_start(k->w, NULL));
    const espl_status status = espl_present(k->w, 0.5f, NULL);

    ck_ok(espl_motion_stop(k->w));
    return status;
}

// The world of the others has no cells.
static espl_status recenter_nothing(const things *k)
{
    const espl_world_def def = {.cell_size = 1024, .tag = 1 + (uint32_t)(k->w == NULL)};
    espl_world *world = NULL;

    ck_ok(espl_world_create(&def, &world));
    const espl_status status = espl_recenter(world, 0, NULL);

    espl_world_destroy(world);
    return status;
}

static espl_status begin_to_read_and_end(things *k)
{
    const espl_status status = espl_query_begin_read(k->w, NULL, &k->query);

    espl_query_end(&k->query);
    return status;
}

static espl_status read_rows_to_nothing(things *k)
{
    ck_ok(espl_query_begin_read(k->w, NULL, &k->query));
    ck_assert(espl_query_next(&k->query));
    const espl_status status =
        espl_query_read_transforms(&k->query, ESPL_READ_STRETCH, NULL, 3 * sizeof(float));

    espl_query_end(&k->query);
    return status;
}

static espl_status create_and_destroy(void)
{
    espl_world *world = NULL;
    const espl_status status = espl_world_create(NULL, &world);

    espl_world_destroy(world);
    return status;
}

static espl_status record_custom(things *k)
{
    espl_custom_command number = 0;

    ck_ok(espl_command_register(k->w, &custom, &number));
    return espl_record_custom(k->r, 0, number, NULL, 8, 8);
}

static espl_status write_nothing(things *k)
{
    const espl_parallel_def def = {.function = test_no_write};

    return espl_write_parallel(k->w, &def, NULL);
}

static espl_status set_tag(things *k)
{
    ck_ok(espl_add_component(k->w, k->e, ESPL_PREFAB, NULL, 0));
    return espl_set_component(k->w, k->e, ESPL_PREFAB, NULL, 0);
}

static void things_begin(things *k)
{
    uint64_t random = 1;

    memset(k, 0, sizeof *k);
    misuse_begin(&k->m, NULL);
    k->w = k->m.world;
    k->e = k->m.child;
    k->p = k->m.root;
    k->c = k->m.commands;
    k->r = espl_command_buffer_recorder(k->c, 1);
    k->n = k->m.number;
    k->f[0] = k->g[3] = 1;
    k->t = test_at(1, 2, 3);
    k->value = (espl_component_value){.component = ESPL_PREFAB};
    k->change = (espl_change_def){.add = &k->value, .add_count = 1};
    for (size_t i = 0; i < 2; ++i) {
        k->writes[i] = write_ordinary(k->e, ESPL_WRITE_LOCAL_TRANSFORM, &random);
    }
    ck_ok(espl_view_hierarchy(k->w, k->e, &k->view));
    misuse_forget_lines(&k->m);
}

// --- The tables ---

OPTIONAL_ROWS(AS_FUNCTION)
OPTIONAL_FIELDS(AS_FUNCTION)
REQUIRED_ROWS(AS_FUNCTION)
WRITER_ROWS(AS_FUNCTION)
WRITER_OPTIONAL_ROWS(AS_FUNCTION)
WORLDLESS_ROWS(AS_FUNCTION)

static const pointer_row optional_rows[] = {OPTIONAL_ROWS(AS_ROW) OPTIONAL_FIELDS(AS_ROW)};
static const pointer_row required_rows[] = {REQUIRED_ROWS(AS_ROW)};
static const pointer_row writer_rows[] = {WRITER_ROWS(AS_ROW)};
static const pointer_row writer_optional_rows[] = {WRITER_OPTIONAL_ROWS(AS_ROW)};
static const pointer_row worldless_rows[] = {WORLDLESS_ROWS(AS_ROW)};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

// What a message names instead: a write, a conversion and a matrix are named by the inline form of
// their kind, and by its parameter.
static void name_form(const char **function, const char **parameter)
{
    static const char *const forms[][4] = {
        {"espl_read_one", "out", "espl_get_world_pose", "out"},
        {"espl_write_one", "value", "espl_set_local_position", "value"}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
        if (strcmp(*function, forms[i][0]) == 0 && strcmp(*parameter, forms[i][1]) == 0) {
            *function = forms[i][2];
            *parameter = forms[i][3];
            return;
        }
    }
}

// The line of a refusal begins with the function and the status, and names the pointer.
static void demand_told(const things *k, const char *function, const char *parameter)
{
    const char *const line = k->m.test.hooks.last_line;
    char start[96], named[64];

    name_form(&function, &parameter);
    snprintf(start, sizeof start, "%s", function);
    snprintf(named, sizeof named, " %s is NULL", parameter);
    ck_assert_msg(k->m.test.hooks.lines == 1 && strncmp(line, start, strlen(start)) == 0 &&
                      strstr(line, ": ESPL_ERR_ARGUMENT: ") != NULL && strstr(line, named) != NULL,
                  "%s without %s: %zu lines, the last: %s", function, parameter,
                  k->m.test.hooks.lines, line);
}

static void demand_refused(things *k, const char *function, const char *parameter,
                           espl_status status)
{
    ck_assert_msg(status == ESPL_ERR_ARGUMENT, "%s without %s: %s", function, parameter,
                  espl_status_name(status));
    ck_assert_uint_eq(k->m.test.hooks.traps, 0);
}

TEST(null_is_taken_where_it_may_be)
{
    for (size_t i = 0; i < COUNT(optional_rows); ++i) {
        things k;

        things_begin(&k);
        const espl_status status = optional_rows[i].call(&k);
        ck_assert_msg(status >= 0, "%s without %s: %s", optional_rows[i].function,
                      optional_rows[i].parameter, espl_status_name(status));
        ck_assert_uint_eq(k.m.test.hooks.lines + k.m.test.hooks.traps, 0);
        misuse_end(&k.m);
    }
}

TEST(null_elsewhere_is_refused_and_told)
{
    things k;

    things_begin(&k);
    const uint64_t before = test_physical_hash(k.w);
    const size_t recorded = espl_command_buffer_count(k.c);
    for (size_t i = 0; i < COUNT(required_rows); ++i) {
        const pointer_row *const r = &required_rows[i];

        misuse_forget_lines(&k.m);
        demand_refused(&k, r->function, r->parameter, r->call(&k));
        demand_told(&k, r->function, r->parameter);
        ck_assert_uint_eq(test_physical_hash(k.w), before);
        ck_assert_uint_eq(espl_command_buffer_count(k.c), recorded);
    }
    // None of them left an iteration open.
    ck_ok(espl_destroy(k.w, k.p, ESPL_EXTENT_OWNED));
    misuse_end(&k.m);
}

#define DEMAND_FIELD(function, field, expression)      \
    misuse_forget_lines(&k->m);                        \
    demand_refused(k, #function, field, (expression)); \
    demand_told(k, #function, field);

TEST(null_inside_a_definition_is_refused_and_told)
{
    things all, *const k = &all;

    things_begin(k);
    const uint64_t before = test_physical_hash(k->w);
    REQUIRED_FIELDS(DEMAND_FIELD)
    ck_assert_uint_eq(test_physical_hash(k->w), before);
    ck_ok(espl_destroy(k->w, k->p, ESPL_EXTENT_OWNED));
    misuse_end(&k->m);
}

TEST(null_without_a_world_to_tell_is_answered)
{
    things k;

    things_begin(&k);
    const uint64_t before = test_physical_hash(k.w);
    for (size_t i = 0; i < COUNT(worldless_rows); ++i) {
        const pointer_row *const r = &worldless_rows[i];

        demand_refused(&k, r->function, r->parameter, r->call(&k));
        ck_assert_uint_eq(k.m.test.hooks.lines, 0);
    }
    ck_assert_uint_eq(test_physical_hash(k.w), before);
    misuse_end(&k.m);
}

// --- Writers, in a job ---

static void write_without(espl_writer *writer, const espl_query *rows, void *context)
{
    things *const k = context;

    if (!espl_entity_equal(rows->entities[0], k->m.solo)) {
        return;
    }
    k->writer = writer;
    for (size_t i = 0; i < COUNT(writer_rows); ++i) {
        const pointer_row *const r = &writer_rows[i];

        misuse_forget_lines(&k->m);
        demand_refused(k, r->function, r->parameter, r->call(k));
        demand_told(k, r->function, r->parameter);
        ck_assert_ptr_nonnull(strstr(k->m.test.hooks.last_line, " at a.c:1: "));
    }
    misuse_forget_lines(&k->m);
    for (size_t i = 0; i < COUNT(writer_optional_rows); ++i) {
        ck_assert_msg(writer_optional_rows[i].call(k) >= 0, "%s without %s",
                      writer_optional_rows[i].function, writer_optional_rows[i].parameter);
    }
    ck_assert_uint_eq(k->m.test.hooks.lines, 0);
    k->word += 1;
}

TEST(null_for_a_writer_is_refused_and_told_with_the_place)
{
    const espl_component solos[2] = {ESPL_SOLO, ESPL_TRANSFORM};
    const espl_query_def query = {.all = solos, .all_count = 2};
    espl_parallel_report report;
    things k;

    things_begin(&k);
    const espl_parallel_def def = {.query = &query, .function = write_without, .context = &k};
    ck_status(espl_write_parallel(k.w, &def, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.refused, COUNT(writer_rows));
    ck_assert_uint_eq(k.word, 1);
    misuse_end(&k.m);
}

TEST(a_world_that_is_not_made_tells_the_hooks_it_was_to_have)
{
    test_hooks hooks = {0};
    const espl_world_def def = {.hooks = test_hooks_of(&hooks)};

    ck_status(espl_world_create(&def, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(hooks.traps, 0);
    ck_assert_str_eq(hooks.last_line, "espl_world_create: ESPL_ERR_ARGUMENT: out is NULL.");
}
