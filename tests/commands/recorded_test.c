// SPDX-License-Identifier: MIT
// Batches of random operations of every kind: immediately, and played serially, on threads, with
// jobs in hostile orders, and without memory at every point.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/stage.h"

// What was compared.
typedef struct played {
    size_t batches, commands;
} played;

static played run_recorded(uint64_t seed, uint32_t population, uint32_t limit, size_t batches,
                           const espl_executor *executors, size_t count)
{
    stage *const s = stage_begin(seed, population, executors, count);
    const uint32_t fitting = stage_fit(s, limit);
    played done = {0};

    stage_tell_driver(s, fitting);
    while (done.batches < batches && !tape_is_worn(&s->tape) &&
           stage_step(s, 1 + test_below(&s->tape.random, fitting))) {
        done.batches += 1;
    }
    done.commands = s->commands;
    stage_end(s);
    return done;
}

static void run_seeds(uint64_t first, uint32_t seeds, uint32_t population, uint32_t limit,
                      size_t batches, const espl_executor *executors, size_t count)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = first;
    played sum = {0};

    if (chosen != 0) {
        run_recorded(chosen, population, limit, batches, executors, count);
        return;
    }
    const size_t runs = test_scaled(seeds) * test_factor();
    for (size_t i = 0; i < runs; ++i) {
        const played done =
            run_recorded(test_random(&state), population, limit, batches, executors, count);

        sum.batches += done.batches;
        sum.commands += done.commands;
    }
    test_tell_figure(sum.commands, "commands played beside the model");
    // Stages end early where worlds do.
    const bool is_whole = test_fitting(BATCH_LIMIT, 0) == BATCH_LIMIT;
    ck_assert_msg(is_whole ? sum.batches == runs * batches : sum.batches >= runs, "%zu batches",
                  sum.batches);
}

TEST(tiny_batches_on_a_tiny_world_come_to_the_same)
{
    const espl_executor serial = {0};
    run_seeds(21, 400, 4, 4, 60, &serial, 1);
}

TEST(batches_on_a_small_world_come_to_the_same)
{
    const espl_executor serial = {0};
    run_seeds(22, 120, 20, 40, 40, &serial, 1);
}

TEST(large_batches_come_to_the_same)
{
    const espl_executor serial = {0};
    run_seeds(23, 24, 400, 1000, 10, &serial, 1);
}

TEST(no_executor_changes_a_bit)
{
    test_executor hostile[2] = {{.manner = TEST_REVERSED, .workers = 3},
                                {.manner = TEST_SHUFFLED, .workers = 7, .random = 99}};
    espl_executor executors[PLAYED_LIMIT] = {(espl_executor){0}, test_executor_of(&hostile[0]),
                                             test_executor_of(&hostile[1])};
    size_t count = 3;

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 2}, &executors[count]));
        count += 1;
    }
    run_seeds(24, 12, 2000, BATCH_LIMIT, 6, executors, count);
    run_seeds(25, 40, 12, 30, 10, executors, count);
    // The hostile ones were asked to share work, or this test shows nothing.
    ck_assert_uint_gt(hostile[0].calls, 0);
    ck_assert_uint_gt(hostile[1].calls, 0);
    if (count == PLAYED_LIMIT) {
        espl_executor_destroy(&executors[PLAYED_LIMIT - 1]);
    }
}

// --- Out of memory ---

static void play_with_faults(stage *s, test_side *side, bool fails_after, size_t *points)
{
    const uint64_t before = test_physical_hash(side->world);
    espl_report report;
    espl_status status = ESPL_ERR_NO_MEMORY;

    for (size_t n = 1; status != ESPL_OK; ++n) {
        test_heap_arm(&side->test.heap, n, fails_after);
        status = espl_play(side->world, side->batch, &report);
        const size_t failures = side->test.heap.failures;
        test_heap_arm(&side->test.heap, 0, false);

        tape_demand(&s->tape, status == ESPL_OK || status == ESPL_ERR_NO_MEMORY, "play: %s",
                    espl_status_name(status));
        tape_demand(&s->tape, status == ESPL_OK || failures != 0, "no memory without a failure");
        if (status != ESPL_OK) {
            tape_demand(&s->tape, test_physical_hash(side->world) == before,
                        "failing call %zu changed the world", n);
            test_world_is_valid(side->world);
            *points += 1;
        }
    }
}

// A playback that passes without memory that it only wants, for a run of writes, owes the hierarchy more. A
// compaction pays all debts, and where nodes are does not depend on them then.
static void settle_debts(stage *s)
{
    const uint64_t calm = test_physical_hash(s->played[0].world);

    if (test_physical_hash(s->played[1].world) != calm ||
        test_physical_hash(s->played[2].world) != calm) {
        for (size_t k = 0; k < 3; ++k) {
            ck_ok(espl_compact(s->played[k].world));
        }
    }
}

// World 0 never faults; in 1 one call fails; in 2 all calls from one on fail.
static size_t run_faulted(uint64_t seed, uint32_t population, uint32_t limit, size_t batches)
{
    const espl_executor serial[3] = {(espl_executor){0}, (espl_executor){0}, (espl_executor){0}};
    stage *const s = stage_begin(seed, population, serial, 3);
    size_t points = 0;

    limit = stage_fit(s, limit);
    for (size_t i = 0; i < batches && !tape_is_worn(&s->tape); ++i) {
        espl_report report;

        stage_record(s, 1 + test_below(&s->tape.random, limit));
        const expected wanted = stage_run(s);
        if (!stage_play(s, &s->played[0], &wanted, &report)) {
            break;
        }
        play_with_faults(s, &s->played[1], false, &points);
        play_with_faults(s, &s->played[2], true, &points);
        for (size_t k = 0; k < 3; ++k) {
            stage_compare(s, &s->played[k], &wanted, k == 0 ? &report : NULL);
        }
        settle_debts(s);
        for (size_t k = 0; k < 3; ++k) {
            tape_demand(&s->tape,
                        test_physical_hash(s->played[k].world) ==
                            test_physical_hash(s->played[0].world),
                        "a faulted and retried world is another one");
        }
    }
    stage_end(s);
    return points;
}

TEST(a_playback_without_memory_changes_nothing_and_can_be_tried_again)
{
    uint64_t state = 31;
    size_t points = 0;

    for (size_t i = 0; i < test_scaled(60); ++i) {
        const uint64_t seed = test_random(&state);
        points += run_faulted(seed, i % 3 == 0 ? 300 : 12, i % 3 == 0 ? 200 : 20, 6);
    }
    ck_assert_uint_gt(points, 100);
}
