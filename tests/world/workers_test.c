// SPDX-License-Identifier: MIT
// Counts of workers by seeds: for each seed a world of its own is built, played in, written to in
// batches, from jobs and at the top of large hierarchies, and comes to the same bits, answers,
// accounts and statistics whatever the number of workers. ESPL_SEED runs one seed; ESPL_FACTOR
// makes them so many times as many, and then there are more counts of workers too.
#include "tests/runner.h"
#include "tests/script.h"
#include "tests/world/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 20, FRAMES = 2, TAG = 5, LANES = 4 };

// --- One seed ---

// What a seed makes of itself: how large all is, and how finely it is cut.
typedef struct style {
    uint32_t entities, lines, cost;
    bool has_equal_keys;
} style;

static style style_of(uint64_t seed)
{
    uint64_t random = seed;
    const style s = {.entities = 300 + test_below(&random, 900),
                     .lines = 700 + test_below(&random, 1400),
                     .cost = test_one_in(&random, 2) ? 16 : 0,
                     .has_equal_keys = test_one_in(&random, 2)};

    return s;
}

static uint64_t hash_stats(const espl_world *world)
{
    const espl_world_stats s = test_stats(world);
    const uint64_t counts[] = {s.archetypes,
                               s.chunks,
                               s.slots,
                               s.free_slots,
                               s.nodes_visited,
                               s.nodes_skipped,
                               s.writes,
                               s.writes_skipped,
                               s.commands_accepted,
                               s.commands_applied,
                               s.commands_refused,
                               s.retired,
                               test_count_moved_nodes(world)};

    return test_hash_bytes(TEST_HASH_START, counts, sizeof counts);
}

static void play(script_world *s, espl_command_buffer *commands, const style *by, uint64_t seed,
                 uint64_t parts[2])
{
    script lines =
        script_write(s, seed, script_lines(by->lines, by->entities), 0, by->has_equal_keys);
    script_recording r;
    espl_report report;

    script_record(s, &r, commands, LANES, &lines, seed);
    const espl_status status = espl_play(s->world, commands, &report);
    // A small world may have no room for all of the clones.
    ck_assert(status == ESPL_OK || status == ESPL_ERR_LIMIT);
    parts[0] = script_results(&r);
    parts[1] = script_account(&r, &report);
    espl_command_buffer_reset(commands);
    script_recording_free(&r);
    script_free(&lines);
}

static void move_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const uint64_t seed = *(const uint64_t *)context;

    for (size_t row = 0; row < rows->count; ++row) {
        uint64_t random = seed ^ rows->entities[row].index;
        const espl_write write =
            write_ordinary(rows->entities[row],
                           (espl_write_kind)test_below(&random, ESPL_WRITE_KIND_COUNT), &random);

        (void)!writer_write(writer, &write, ESPL_SITE);
    }
}

// All that have a placement, twice: by jobs, and as one batch, in the order of the rows.
static void write_all(espl_world *world, uint64_t seed, uint64_t parts[2])
{
    const espl_component all[] = {ESPL_TRANSFORM};
    const espl_query_def def = {.all = all, .all_count = 1};
    const espl_parallel_def rows = {.query = &def, .function = move_rows, .context = &seed};
    espl_write *const writes = calloc(test_stats(world).entities + 1, sizeof *writes);
    espl_parallel_report report = {0};
    espl_write_report batch = {0};
    uint64_t random = seed;
    size_t count = 0;
    espl_query query;

    ck_assert_ptr_nonnull(writes);
    ck_assert_int_ge(espl_write_parallel(world, &rows, &report), 0);
    report.group_ns = report.run_ns = 0;
    ck_assert_int_eq(espl_query_begin(world, &def, &query), ESPL_OK);
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row, ++count) {
            writes[count] = write_ordinary(
                query.entities[row], (espl_write_kind)test_below(&random, ESPL_WRITE_KIND_COUNT),
                &random);
        }
    }
    ck_assert_int_ge(espl_write_batch(world, writes, count, &batch), 0);
    parts[0] = test_hash_bytes(TEST_HASH_START, &report.jobs, sizeof report.jobs) + report.refused;
    parts[1] = batch.applied;
    free(writes);
}

static uint64_t run(uint64_t seed, const espl_executor *executor)
{
    const style by = style_of(seed);
    uint64_t hash = TEST_HASH_START;
    espl_command_buffer *commands = NULL;
    test_world test;
    script_world s;

    test_world_begin(&test, TAG, executor);
    cut_small(test.world);
    if (by.cost != 0) {
        test_cut_jobs(test.world, by.cost);
    }
    script_world_begin(&s, test.world, script_population(by.entities), seed);
    ck_assert_int_eq(espl_command_buffer_create(test.world, LANES, &commands), ESPL_OK);
    for (uint64_t frame = 1; frame <= FRAMES; ++frame) {
        uint64_t parts[6] = {0};

        play(&s, commands, &by, seed + frame, parts);
        write_all(test.world, seed + frame, parts + 2);
        script_disturb(&s, seed + frame);
        parts[4] = script_hash(&s);
        parts[5] = hash_stats(test.world);
        hash = test_hash_bytes(hash, parts, sizeof parts);
    }
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    return hash;
}

// --- Counts of workers ---

typedef struct seeds {
    uint64_t *seed, *hash; // [count] and what a serial world comes to
    size_t count;
} seeds;

static void seeds_begin(seeds *s)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 23;

    s->count = chosen != 0 ? 1 : test_scaled(SEEDS) * test_factor();
    s->seed = calloc(s->count, sizeof *s->seed);
    s->hash = calloc(s->count, sizeof *s->hash);
    ck_assert(s->seed != NULL && s->hash != NULL);
    for (size_t i = 0; i < s->count; ++i) {
        s->seed[i] = chosen != 0 ? chosen : test_random(&state);
        s->hash[i] = run(s->seed[i], NULL);
    }
}

static void seeds_end(seeds *s)
{
    free(s->seed);
    free(s->hash);
}

static size_t try_workers(const seeds *s, uint32_t workers)
{
    espl_executor executor;

    ck_assert_int_eq(espl_executor_create_threads(&executor, workers), ESPL_OK);
    for (size_t i = 0; i < s->count; ++i) {
        ck_assert_msg(run(s->seed[i], &executor) == s->hash[i], "ESPL_SEED=0x%llx on %u workers",
                      (unsigned long long)s->seed[i], workers);
    }
    espl_executor_destroy_threads(&executor);
    return s->count;
}

START_TEST(each_seed_comes_to_the_same_bits_on_any_number_of_workers)
{
    static const uint32_t few[] = {1, 2, 3, 7, 16, 64};
    static const uint32_t many[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
    const bool is_long = test_factor() > 1;
    const uint32_t *const workers = is_long ? many : few;
    const size_t count = is_long ? sizeof many / sizeof *many : sizeof few / sizeof *few;
    size_t runs = 0;
    seeds s;

    seeds_begin(&s);
    for (size_t i = 0; i < count; ++i) {
        runs += try_workers(&s, workers[i]);
    }
    test_tell_figure(runs, "seeds on counts of workers");
    ck_assert_uint_eq(runs, count * s.count);
    // No two seeds come to the same, or they show nothing.
    for (size_t i = 1; i < s.count; ++i) {
        ck_assert(s.hash[i] != s.hash[i - 1]);
    }
    seeds_end(&s);
}
END_TEST

static Suite *workers_suite(void)
{
    Suite *const suite = suite_create("workers");
    TCase *const tcase = tcase_create("seeds");

    tcase_set_timeout(tcase, 600);
    if (espl_executor_has_threads()) {
        tcase_add_test(tcase, each_seed_comes_to_the_same_bits_on_any_number_of_workers);
    }
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(workers_suite)
