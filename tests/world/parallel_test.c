// SPDX-License-Identifier: MIT
// The promises of a parallel write: each row once, a hierarchy in one job, the documented order,
// the named columns, the account, and memory that is reserved in advance.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/world/parallel.h"

#include "tests/checks.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN = 4096 };

// What the calls of one parallel write were.
typedef struct seen {
    espl_entity entities[SEEN];
    uint32_t jobs[SEEN]; // of each entity
    size_t count, calls;
    espl_component column; // checked, where not 0: holds the entity's index
    bool writes_column, moves, is_apart;
} seen;

static void see_column(const espl_query *rows, const seen *s, size_t row)
{
    const uint32_t *const read = espl_query_read(rows, s->column, sizeof *read);

    ck_assert_uint_eq(read[row], rows->entities[row].index);
    if (s->writes_column) {
        uint32_t *const column = espl_query_write(rows, s->column, sizeof *column);

        ck_assert_ptr_eq(column, read);
        column[row] = rows->entities[row].index;
    }
}

static void see(espl_writer *writer, const espl_query *rows, void *context)
{
    seen *const s = context;
    const float step[3] = {1, 0, 0};

    ck_assert_uint_gt(rows->count, 0);
    ck_assert_uint_lt(espl_writer_job(writer), ESPL_PARALLEL_JOB_LIMIT);
    s->calls += 1;
    for (size_t row = 0; row < rows->count; ++row) {
        ck_assert_uint_lt(s->count, SEEN);
        s->jobs[s->count] = espl_writer_job(writer);
        s->entities[s->count++] = rows->entities[row];
        if (s->column != 0) {
            see_column(rows, s, row);
        }
        if (s->moves) {
            ck_ok(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT,
                                    step));
        }
    }
}

static espl_parallel_def def_of(seen *s, const espl_query_def *query)
{
    return (espl_parallel_def){.query = query, .function = see, .context = s, .site = ESPL_SITE};
}

// --- Rows ---

TEST(each_row_comes_once_in_the_order_of_the_query)
{
    const size_t count = test_fitting(1000, 2);
    espl_entity *const made = malloc(count * sizeof *made);
    seen *const s = calloc(1, sizeof *s);
    espl_parallel_report report;
    test_world test;

    ck_assert(made != NULL && s != NULL);
    test_world_begin(&test, 0, NULL);
    cut_small(test.world);
    test_solos(test.world, count, made);
    s->moves = true;
    const espl_parallel_def def = def_of(s, NULL);
    ck_ok(espl_write_parallel(test.world, &def, &report));

    ck_assert_uint_eq(s->count, count);
    ck_assert(report.rows == count && report.calls == s->calls && report.groups == 0);
    ck_assert(report.refused == 0 && report.first_status == ESPL_OK);
    ck_assert_uint_eq(report.jobs, s->jobs[count - 1] + 1);
    for (size_t i = 0; i < count; ++i) {
        ck_assert(espl_entity_equal(s->entities[i], made[i])); // one archetype: as they were made
        ck_assert_float_eq(test_world_of(test.world, made[i]).position[0], 1);
        ck_assert(i == 0 || s->jobs[i] == s->jobs[i - 1] || s->jobs[i] == s->jobs[i - 1] + 1);
    }
    ck_assert_uint_eq(test_stats(test.world).writes, count);
    test_world_end(&test);
    free(made);
    free(s);
}

// A few large hierarchies in one chunk are as many jobs, and no more than asked for.
TEST(a_few_large_hierarchies_of_one_chunk_are_a_job_each)
{
    const espl_component root = ESPL_ROOT;
    const espl_query_def roots = {.all = &root, .all_count = 1};
    const uint32_t size = test_fitting(1600, 0) / 8 - 1;
    seen *const s = test_array(1, sizeof *s);
    espl_parallel_report report;
    test_world test;

    test_world_begin(&test, 0, NULL);
    cut_small(test.world);
    espl_entity *const made = make_trees(test.world, 8, size, 0);
    espl_parallel_def def = def_of(s, &roots);
    ck_ok(espl_write_parallel(test.world, &def, &report));
    ck_assert_uint_eq(s->count, 8);
    ck_assert_uint_ge(report.jobs, size < 100 ? 2 : 8);
    def.job_limit = 3;
    s->count = 0;
    ck_ok(espl_write_parallel(test.world, &def, &report));
    ck_assert_uint_ge(report.jobs, size < 100 ? 2 : 3);
    ck_assert_uint_le(report.jobs, 3);
    def.job_limit = 1;
    ck_ok(espl_write_parallel(test.world, &def, &report));
    ck_assert_uint_eq(report.jobs, 1);
    def.job_limit = 0;
    ck_ok(espl_write_parallel(test.world, &def, &report));
    const size_t most = report.jobs;

    def.job_limit = UINT32_MAX;
    ck_ok(espl_write_parallel(test.world, &def, &report));
    ck_assert_uint_eq(report.jobs, most);
    free(made);
    test_world_end(&test);
    free(s);
}

// --- Hierarchies ---

// Two archetypes of members over many hierarchies: every other member has a component more.
typedef struct mixed {
    test_world test;
    espl_world *world;
    espl_component number;
    espl_entity *made; // [count] roots at multiples of 4, each with three below in a chain
    uint32_t count;
} mixed;

static mixed m;

static void mixed_begin(const espl_executor *executor)
{
    memset(&m, 0, sizeof m);
    m.count = test_fitting(2000, 4) / 4 * 4;
    test_world_begin(&m.test, 0, executor);
    cut_small(m.test.world);
    m.world = m.test.world;
    m.number = test_component(m.world, "number", sizeof(uint32_t), sizeof(uint32_t));
    m.made = make_trees(m.world, m.count / 4, 4, 1);
    // Backwards, so that the two archetypes stand in opposite orders.
    for (uint32_t i = m.count; i-- > 0;) {
        if (i % 2 == 1) {
            ck_ok(espl_add_component(m.world, m.made[i], m.number, &m.made[i].index, 4));
        }
    }
}

static void mixed_end(void)
{
    free(m.made);
    test_world_end(&m.test);
}

// Roots that the destroy of their root set free while nothing could be allocated.
TEST(roots_below_a_root_destroyed_without_memory_are_written)
{
    const espl_attach_options set_free = {.link = ESPL_LINK_FREE};
    seen *const s = test_array(1, sizeof *s);
    espl_parallel_report report;
    espl_entity below[40], grand[40];
    test_world test;

    test_world_begin(&test, 0, NULL);
    cut_small(test.world);
    const uint32_t count = test_fitting(80, 4) / 2 > 40 ? 40 : test_fitting(80, 4) / 2;
    const espl_entity root = test_solo(test.world);
    for (uint32_t i = 0; i < count; ++i) {
        below[i] = test_solo(test.world);
        grand[i] = test_solo(test.world);
        ck_ok(espl_attach(test.world, below[i], root, &set_free));
        ck_ok(espl_attach(test.world, grand[i], below[i], NULL));
    }
    ck_ok(espl_reserve(test.world, &(espl_reserve_def){.parallel_rows = SEEN}));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(test.world, root, ESPL_EXTENT_OWNED));

    s->moves = true;
    const espl_parallel_def def = def_of(s, NULL);
    ck_ok(espl_write_parallel(test.world, &def, &report));
    ck_assert_uint_eq(report.rows, 2 * count);
    test_heap_arm(&test.heap, 0, false);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert(espl_entity_is_null(espl_get_parent(test.world, below[i])));
        ck_assert_float_eq(test_world_of(test.world, below[i]).position[0], 1);
        ck_assert_float_eq(test_world_of(test.world, grand[i]).position[0], 2);
    }
    ck_ok(espl_compact(test.world));
    s->count = 0;
    ck_ok(espl_write_parallel(test.world, &def, &report));
    ck_assert_uint_eq(report.groups, count);
    test_world_end(&test);
    free(s);
}

// --- Columns ---

static size_t count_changed(espl_world *world, espl_component component, uint64_t since)
{
    const espl_query_def def = {.changed = &component, .changed_count = 1, .since = since};
    espl_query query;
    size_t rows = 0;

    ck_ok(espl_query_begin(world, &def, &query));
    while (espl_query_next(&query)) {
        rows += query.count;
    }
    return rows;
}

TEST(columns_are_those_of_the_rows_and_count_as_written_where_named)
{
    seen *const s = test_array(1, sizeof *s);

    mixed_begin(NULL);
    const espl_query_def query = {.all = &m.number, .all_count = 1};
    espl_parallel_def def = def_of(s, &query);
    s->column = m.number;
    uint64_t before = espl_get_version(m.world);
    ck_ok(espl_write_parallel(m.world, &def, NULL));
    ck_assert_uint_eq(s->count, m.count / 2);
    ck_assert_uint_eq(espl_get_version(m.world), before);
    ck_assert_uint_eq(count_changed(m.world, m.number, before), 0);

    s->count = 0;
    s->writes_column = true;
    def.columns = &m.number;
    def.column_count = 1;
    ck_ok(espl_write_parallel(m.world, &def, NULL));
    ck_assert_uint_eq(count_changed(m.world, m.number, before), m.count / 2);
    // A query by what changed sees what a parallel write wrote, and so does the next one.
    const espl_query_def changed = {.all = &m.number,
                                    .all_count = 1,
                                    .changed = &m.number,
                                    .changed_count = 1,
                                    .since = before};
    before = espl_get_version(m.world);
    def.query = &changed;
    s->count = 0;
    ck_ok(espl_write_parallel(m.world, &def, NULL));
    ck_assert_uint_eq(s->count, m.count / 2);
    ck_assert_uint_gt(espl_get_version(m.world), before);
    mixed_end();
    free(s);
}

// --- Around it ---

static void record_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(context, espl_writer_job(writer));
    const espl_transform at = test_at(3, 3, 3);

    for (size_t row = 0; row < rows->count; ++row) {
        ck_ok(espl_record_write(recorder, 0, rows->entities[row], ESPL_WRITE_LOCAL_TRANSFORM, &at));
    }
}

TEST(a_job_records_into_the_lane_of_its_number)
{
    espl_command_buffer *commands = NULL;
    espl_report played;

    mixed_begin(NULL);
    ck_ok(espl_command_buffer_create(m.world, ESPL_PARALLEL_JOB_LIMIT, &commands));
    const espl_parallel_def def = {.function = record_rows, .context = commands};
    ck_ok(espl_write_parallel(m.world, &def, NULL));
    ck_ok(espl_play(m.world, commands, &played));
    ck_assert_uint_eq(played.applied, m.count);
    ck_assert_float_eq(test_world_of(m.world, m.made[0]).position[1], 3);
    espl_command_buffer_destroy(commands);
    mixed_end();
}

static uint64_t tick(void *user)
{
    return *(uint64_t *)user += 5;
}

TEST(times_are_taken_by_the_hook_where_a_report_is_asked_for)
{
    uint64_t now = 0;
    const espl_world_def world_def = {.hooks = {.user = &now, .clock = tick}};
    seen *const s = test_array(1, sizeof *s);
    espl_parallel_report report;
    espl_world *world = NULL;

    ck_ok(espl_world_create(&world_def, &world));
    cut_small(world);
    (void)test_solo(world);
    const espl_parallel_def def = def_of(s, NULL);
    ck_ok(espl_write_parallel(world, &def, NULL));
    ck_assert_uint_eq(now, 0);
    ck_ok(espl_write_parallel(world, &def, &report));
    ck_assert(now == 15 && report.group_ns == 5 && report.run_ns == 5);
    espl_world_destroy(world);
    free(s);
}

// --- Side arrays ---

static void reset_context(espl_writer *writer, const espl_query *rows, void *context)
{
    const uint32_t *const value = context;

    for (size_t row = 0; row < rows->count; ++row) {
        ck_ok(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_USER_DATA, &*value));
    }
}

TEST(side_arrays_that_nothing_needs_any_more_go_back_when_all_jobs_are_done)
{
    const espl_component root = ESPL_ROOT;
    const espl_query_def roots = {.all = &root, .all_count = 1};
    uint32_t value = 7;

    mixed_begin(NULL);
    const size_t before = test_stats(m.world).bytes_tree;
    for (uint32_t i = 0; i < m.count; i += 4) {
        ck_ok(espl_set_user_data(m.world, m.made[i], 3));
    }
    const size_t sided = test_stats(m.world).bytes_tree;
    ck_assert_uint_gt(sided, before);
    const espl_parallel_def def = {.query = &roots, .function = reset_context, .context = &value};
    ck_ok(espl_write_parallel(m.world, &def, NULL));
    ck_assert_uint_eq(test_stats(m.world).bytes_tree, sided);
    value = 0;
    ck_ok(espl_write_parallel(m.world, &def, NULL));
    ck_assert_uint_eq(test_stats(m.world).bytes_tree, before);
    mixed_end();
}
