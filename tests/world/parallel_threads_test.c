// SPDX-License-Identifier: MIT
// Parallel writes on real threads, many more than there are cores: a state that is rebuilt and
// written again gets the same bits each time, several jobs write columns of one chunk, and hooks
// are called by one job at a time. Most useful under ThreadSanitizer.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/world/parallel.h"

#include "tests/checks.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 50, TREE = 7, TREES = 90 };

// --- Frames that are run again ---

typedef struct frames {
    test_world test;
    espl_world *world;
    espl_component speed;
    espl_entity *made;
    uint32_t count;
    uint32_t frame;
} frames;

static void frames_begin(frames *f, const espl_executor *executor)
{
    uint32_t parents[TREE * TREES];

    memset(f, 0, sizeof *f);
    f->count = test_fitting(TREE * TREES, 4) / TREE * TREE;
    for (uint32_t i = 0; i < f->count; ++i) {
        parents[i] = i % TREE == 0 ? NO_PARENT : i - 1 - i % TREE / 2;
    }
    test_world_begin(&f->test, 7, executor);
    cut_small(f->test.world);
    f->world = f->test.world;
    f->speed = test_component(f->world, "speed", 4, 4);
    f->made = make_forest(f->world, parents, f->count);
    for (uint32_t i = 0; i < f->count; i += 3) {
        ck_ok(espl_add_component(f->world, f->made[i], f->speed, NULL, 4));
    }
}

static uint64_t frames_end(frames *f)
{
    const uint64_t hash = test_physical_hash(f->world);

    free(f->made);
    test_world_end(&f->test);
    return hash;
}

// Rows write transforms from what stands above them, and speeds where they have them.
static void advance(espl_writer *writer, const espl_query *rows, void *context)
{
    const frames *const f = context;
    espl_world *const world = test_rows_world(rows);
    uint32_t *const speeds = espl_query_write(rows, f->speed, sizeof *speeds);

    for (size_t row = 0; row < rows->count; ++row) {
        const espl_entity entity = rows->entities[row];
        uint64_t random = (uint64_t)f->frame << 32 | entity.index;
        const espl_write write = write_ordinary(
            entity,
            (espl_write_kind)(test_below(&random, 2) == 0 ? ESPL_WRITE_TRANSLATE_WORLD
                                                          : ESPL_WRITE_ROTATE_IN_PARENT),
            &random);
        float above[3] = {0};

        if (espl_get_world_position(world, espl_get_parent(world, entity), above) == ESPL_OK &&
            above[0] > 0) {
            (void)!ESPL_WRITER_WRITE(writer, entity, ESPL_WRITE_LOCAL_SCALE, &(const float){1.25f});
        }
        ck_assert_int_ge(writer_write(writer, &write, ESPL_SITE), ESPL_OK);
        if (speeds != NULL) {
            speeds[row] += test_below(&random, 9);
        }
    }
}

static uint64_t run_frames(const espl_executor *executor)
{
    uint64_t hash = TEST_HASH_START;
    frames f;

    frames_begin(&f, executor);
    const espl_parallel_def def = {.function = advance,
                                   .context = &f,
                                   .columns = &f.speed,
                                   .column_count = 1,
                                   .flags = ESPL_PARALLEL_TOP_DOWN};
    for (f.frame = 0; f.frame < FRAMES; ++f.frame) {
        ck_ok(espl_write_parallel(f.world, &def, NULL));
    }
    for (uint32_t i = 0; i < f.count; i += 3) {
        uint32_t speed = 0;
        ck_ok(espl_get_component(f.world, f.made[i], f.speed, &speed, 4));
        hash = test_hash_bytes(hash, &speed, sizeof speed);
    }
    const uint64_t physical = frames_end(&f);

    return test_hash_bytes(hash, &physical, sizeof physical);
}

static size_t repeats(void)
{
    static const size_t times[] = {[TEST_SWIFT] = 100, [TEST_SLOW] = 10, [TEST_SLOWEST] = 3};

    return times[test_pace_of_build()];
}

// The state is that of the seed each time; 2 workers, 16, and for the sanitizer 8 and 64.
TEST_LOOP(frames_that_are_run_again_come_to_the_same_bits, 0, 4)
{
    static const uint32_t workers[] = {2, 16, 8, 64};
    const uint64_t wanted = run_frames(NULL);
    espl_executor executor;

    if (!test_has_threads()) {
        return;
    }
    ck_ok(espl_executor_create(&(espl_threads_def){.workers = workers[_i]}, &executor));
    for (size_t i = 0; i < (_i < 2 ? repeats() : repeats() / 10 + 1); ++i) {
        ck_assert_uint_eq(run_frames(&executor), wanted);
    }
    espl_executor_destroy(&executor);
}

// --- Two roots of one chunk ---

static void write_columns(espl_writer *writer, const espl_query *rows, void *context)
{
    const espl_component column = *(const espl_component *)context;
    uint64_t *const values = espl_query_write(rows, column, sizeof *values);
    const float step[3] = {1, 0, 0};

    ck_assert_ptr_nonnull(values);
    for (size_t row = 0; row < rows->count; ++row) {
        values[row] += 1;
        ck_ok(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_WORLD, step));
    }
}

TEST_LOOP(roots_of_one_chunk_are_written_by_several_jobs_with_their_columns, 0, 2)
{
    enum { SIZE = 18, TIMES = 60 };
    const espl_component root = ESPL_ROOT;
    const espl_query_def roots = {.all = &root, .all_count = 1};
    const uint32_t count = test_fitting(40 * SIZE, 0) / SIZE * SIZE;
    espl_executor executor = {0};
    espl_parallel_report report;
    espl_component column = 0;
    test_world test;

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = _i == 0 ? 8 : 64}, &executor));
    }
    test_world_begin(&test, 0, &executor);
    cut_small(test.world);
    column = test_component(test.world, "count", 8, 8);
    espl_entity *const made = make_trees(test.world, count / SIZE, SIZE, 0);
    for (uint32_t i = 0; i < count; i += SIZE) {
        ck_ok(espl_add_component(test.world, made[i], column, NULL, 8));
    }
    const espl_parallel_def write = {.query = &roots,
                                     .function = write_columns,
                                     .context = &column,
                                     .columns = &column,
                                     .column_count = 1};
    for (int i = 0; i < TIMES; ++i) {
        const uint64_t version = espl_get_version(test.world);

        ck_ok(espl_write_parallel(test.world, &write, &report));
        ck_assert_uint_gt(espl_get_version(test.world), version);
    }
    ck_assert_uint_ge(report.jobs, count / SIZE < 30 ? 2 : 20);
    for (uint32_t i = 0; i < count; i += SIZE) {
        uint64_t value = 0;

        ck_ok(espl_get_component(test.world, made[i], column, &value, 8));
        ck_assert_uint_eq(value, TIMES);
        ck_assert_float_eq(test_world_of(test.world, made[i + 1]).position[0], TIMES + 2);
    }
    test_world_end(&test);
    espl_executor_destroy(&executor);
    free(made);
}

// --- A reader beside ---

typedef struct watcher {
    espl_world *world;
    espl_entity camera; // has no row
    atomic_bool is_over;
    size_t reads;
} watcher;

static void *watch(void *context)
{
    watcher *const w = context;
    float at[3] = {0};

    while (!atomic_load(&w->is_over)) {
        if (espl_get_world_position(w->world, w->camera, at) != ESPL_OK || at[0] != 5) {
            return w;
        }
        w->reads += 1;
    }
    return NULL;
}

// What no job was dealt may be read by any thread, also while one write ends and the next begins.
TEST(a_thread_reads_on_what_has_no_row)
{
    espl_executor executor = {0};
    watcher w = {0};
    pthread_t thread;
    void *fault = NULL;
    frames f;

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 4}, &executor));
    }
    frames_begin(&f, &executor);
    w.world = f.world;
    w.camera = test_solo_at(f.world, 5, 0, 0);
    ck_ok(espl_add_component(f.world, w.camera, ESPL_PREFAB, NULL, 0));
    const espl_parallel_def def = {
        .function = advance, .context = &f, .columns = &f.speed, .column_count = 1};
    ck_assert_int_eq(pthread_create(&thread, NULL, watch, &w), 0);
    for (f.frame = 0; f.frame < FRAMES; ++f.frame) {
        ck_ok(espl_write_parallel(f.world, &def, NULL));
    }
    atomic_store(&w.is_over, true);
    ck_assert_int_eq(pthread_join(thread, &fault), 0);
    ck_assert_ptr_null(fault);
    (void)frames_end(&f);
    espl_executor_destroy(&executor);
}

// --- Telling from many threads ---

typedef struct crowd {
    size_t lines, traps;
    atomic_int inside, most; // threads in a hook
} crowd;

static void step_in(crowd *c)
{
    const int inside = atomic_fetch_add(&c->inside, 1) + 1;

    if (inside > atomic_load(&c->most)) {
        atomic_store(&c->most, inside);
    }
}

static void hear_line(void *user, espl_log_level level, const char *message)
{
    crowd *const c = user;

    (void)level;
    step_in(c);
    ck_assert(strstr(message, "ESPL_ERR_N") != NULL);
    c->lines += 1; // unguarded: one thread at a time is inside
    atomic_fetch_sub(&c->inside, 1);
}

static void hear_trap(void *user, const char *file, int line, const char *condition)
{
    crowd *const c = user;

    (void)file;
    (void)line;
    (void)condition;
    step_in(c);
    c->traps += 1;
    atomic_fetch_sub(&c->inside, 1);
}

// One bad value, one entity of somebody else, and one good write.
static void misbehave(espl_writer *writer, const espl_query *rows, void *context)
{
    const float bad[3] = {NAN, 0, 0}, good[3] = {1, 0, 0};
    const espl_entity other = *(const espl_entity *)context;

    for (size_t row = 0; row < rows->count; ++row) {
        const espl_entity entity = rows->entities[row];

        ck_status(ESPL_WRITER_WRITE(writer, entity, ESPL_WRITE_LOCAL_POSITION, bad),
                  ESPL_ERR_NOT_FINITE);
        if (ESPL_CHECKS >= 1) {
            ck_status(ESPL_WRITER_WRITE(writer, other, ESPL_WRITE_LOCAL_POSITION, good),
                      ESPL_ERR_NOT_OWNER);
        }
        ck_ok(ESPL_WRITER_WRITE(writer, entity, ESPL_WRITE_TRANSLATE_IN_PARENT, good));
    }
}

TEST(hooks_are_called_by_one_thread_at_a_time)
{
    crowd heard = {0};
    espl_executor executor = {0};
    espl_entity made[512], other = {0};
    const uint32_t count = test_fitting(512, 2);
    espl_parallel_report report;
    espl_world *world = NULL;

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 8}, &executor));
    }
    const espl_world_def def = {.hooks = {.user = &heard, .log = hear_line, .trap = hear_trap},
                                .executor = executor};
    ck_ok(espl_world_create(&def, &world));
    cut_small(world);
    test_solos(world, count, made);
    test_solos(world, 1, &other);
    ck_ok(espl_add_component(world, other, ESPL_PREFAB, NULL, 0)); // it has no row
    const espl_parallel_def write = {.function = misbehave, .context = &other};
    ck_status(espl_write_parallel(world, &write, &report), ESPL_PARTLY);

    const size_t each = ESPL_CHECKS >= 1 ? 2 : 1;
    ck_assert(report.refused == each * count && espl_entity_equal(report.first_refused, made[0]));
    ck_status(report.first_status, ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(heard.lines, each * count);
    ck_assert_uint_eq(heard.traps, (each - 1) * count);
    ck_assert_int_eq(heard.most, 1);
    espl_world_destroy(world);
    espl_executor_destroy(&executor);
}
