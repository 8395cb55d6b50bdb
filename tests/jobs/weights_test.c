// SPDX-License-Identifier: MIT
#include "lib/jobs/weights.h"

#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

enum { MOST = 20000 };

// What a run left behind. The marks are plain memory on purpose: a race or a missing order between
// threads is for ThreadSanitizer to find.
typedef struct record {
    unsigned char ran[MOST];
    uint32_t sequence[MOST]; // items in the order they began
    atomic_size_t begun;
} record;

static record now;
static uint32_t weights[MOST], order[MOST];

static void mark(void *context, size_t item)
{
    record *const r = context;
    const size_t at = atomic_fetch_add(&r->begun, 1);

    r->ran[item] += 1;
    r->sequence[at] = (uint32_t)item;
}

static espl_status run_marked(const espl_executor *executor, const espl_hooks *hooks, size_t count,
                              size_t grain)
{
    memset(&now, 0, sizeof now);
    return espl__run_weighted(executor, hooks, mark, &now, weights, order, count, grain);
}

static size_t count_other_than_once(size_t count)
{
    size_t others = 0;

    for (size_t i = 0; i < count; ++i) {
        others += now.ran[i] != 1;
    }
    return others;
}

// --- Weights of all sorts ---

enum { WEIGHT_KINDS = 7 };

static void draw_weights(uint64_t *random, int kind, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t any = (uint32_t)test_random(random);
        const uint32_t kinds[WEIGHT_KINDS] = {
            0,
            1,
            any % 100,
            any >> any % 32,
            UINT32_MAX,
            i == count / 2 ? UINT32_MAX : 1,
            i % 7 == 3 ? 1u << 31 : any % 5,
        };

        weights[i] = kinds[kind];
    }
}

static const size_t counts[] = {0, 1, 2, 3, 17, 255, 256, 257, 1024, 1026, 5000, MOST};
static const size_t grains[] = {0, 1, 7, 1000, UINT32_MAX, SIZE_MAX};

enum { COUNTS = sizeof counts / sizeof *counts, GRAINS = sizeof grains / sizeof *grains };

static void runs_all_once(const espl_executor *executor)
{
    uint64_t random = 7;

    for (int i = 0; i < COUNTS * GRAINS * WEIGHT_KINDS; ++i) {
        const size_t count = counts[i / WEIGHT_KINDS / GRAINS];

        draw_weights(&random, i % WEIGHT_KINDS, count);
        ck_ok(run_marked(executor, NULL, count, grains[i / WEIGHT_KINDS % GRAINS]));
        ck_assert_uint_eq(count_other_than_once(count), 0);
        ck_assert_uint_eq(atomic_load(&now.begun), count);
    }
}

TEST(any_order_of_jobs_runs_every_item_once)
{
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    const uint32_t workers[] = {0, 1, 2, 3, 7, 16, 64};

    for (size_t i = 0; i < 3 * sizeof workers / sizeof *workers; ++i) {
        test_executor hostile = {
            .manner = manners[i % 3], .workers = workers[i / 3], .random = i + 1};
        const espl_executor executor = test_executor_of(&hostile);

        runs_all_once(&executor);
        ck_assert_int_eq(hostile.calls > 0, workers[i / 3] > 1);
    }
}

TEST(any_number_of_threads_runs_every_item_once)
{
    for (uint32_t workers = 1; workers <= 8 && test_has_threads(); ++workers) {
        espl_executor executor;

        ck_ok(espl_executor_create(&(espl_threads_def){.workers = workers}, &executor));
        runs_all_once(&executor);
        espl_executor_destroy(&executor);
    }
}

static void follow(void *context, size_t item)
{
    size_t *const next = context;

    ck_assert_uint_eq(item, *next);
    *next += 1;
}

TEST(serial_run_goes_through_the_items_in_order_and_needs_no_scratch)
{
    const espl_executor empty = {0}, serial = (espl_executor){0};
    const espl_executor *const executors[] = {NULL, &empty, &serial};
    uint64_t random = 1;

    draw_weights(&random, 3, MOST);
    for (int i = 0; i < 3; ++i) {
        size_t next = 0;

        ck_ok(espl__run_weighted(executors[i], NULL, follow, &next, weights, NULL, MOST, 1));
        ck_assert_uint_eq(next, MOST);
    }
}

TEST(little_work_stays_on_the_calling_thread)
{
    test_executor hostile = {.manner = TEST_REVERSED, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);
    uint64_t random = 1;

    draw_weights(&random, 1, 100);
    ck_ok(run_marked(&executor, NULL, 100, 100));
    ck_assert_uint_eq(hostile.calls, 0);
    ck_ok(run_marked(&executor, NULL, 100, 50));
    ck_assert_uint_eq(hostile.calls, 1);
}

// --- Order ---

static unsigned naive_power(uint32_t weight)
{
    unsigned power = 0;

    while (weight > 1) {
        weight /= 2;
        power += 1;
    }
    return power;
}

TEST(order_descends_by_powers_of_two_and_is_stable_in_each)
{
    uint64_t random = 3;

    for (int kind = 0; kind < WEIGHT_KINDS; ++kind) {
        draw_weights(&random, kind, 5000);
        espl__order_by_weight(order, weights, 5000);
        memset(&now, 0, sizeof now);
        for (size_t i = 0; i < 5000; ++i) {
            now.ran[order[i]] += 1;
            if (i > 0) {
                const unsigned before = naive_power(weights[order[i - 1]]);
                const unsigned here = naive_power(weights[order[i]]);

                ck_assert(before > here || (before == here && order[i - 1] < order[i]));
            }
        }
        ck_assert_uint_eq(count_other_than_once(5000), 0);
    }
}

static bool stands_before(size_t item, size_t limit)
{
    size_t at = 0;

    while (now.sequence[at] != item) {
        at += 1;
    }
    return at < limit;
}

// Whatever index an executor starts with, the heaviest come first, the very heaviest at once.
TEST(heavy_items_begin_before_the_others)
{
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};

    for (size_t i = 0; i < 3; ++i) {
        test_executor hostile = {.manner = manners[i], .workers = 4, .random = 5};
        const espl_executor executor = test_executor_of(&hostile);

        for (size_t item = 0; item < 4000; ++item) {
            weights[item] = item == 3111 ? 1u << 20 : item == 17 || item == 3999 ? 1u << 17 : 10;
        }
        ck_ok(run_marked(&executor, NULL, 4000, 1));
        ck_assert_uint_eq(now.sequence[0], 3111);
        // Light jobs, of a thousandth of the whole, may stand between.
        ck_assert(stands_before(17, 400) && stands_before(3999, 800));
        ck_assert(!stands_before(3999, 2));
    }
}

// Sums up what each job holds: a job is what runs between two calls of the executor.
typedef struct job_sums {
    uint64_t sum[ESPL__JOB_LIMIT], most_items, items;
    size_t jobs;
} job_sums;

static job_sums sums;

static void add_up(void *context, size_t item)
{
    job_sums *const s = context;

    s->sum[s->jobs] += weights[item] > 0 ? weights[item] : 1;
    s->items += 1;
}

static void count_jobs_one_by_one(void *context, espl_job function, void *argument, size_t count)
{
    job_sums *const s = context;

    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
        s->jobs += 1;
    }
}

TEST(jobs_hold_the_grain_and_no_more_than_their_part)
{
    const espl_executor executor = {&sums, 2, count_jobs_one_by_one};
    uint64_t random = 11;

    for (int kind = 0; kind < 4; ++kind) {
        for (size_t grain = 1; grain <= 100000; grain *= 10) {
            uint64_t whole = 0;

            memset(&sums, 0, sizeof sums);
            draw_weights(&random, kind, MOST);
            for (size_t i = 0; i < MOST; ++i) {
                weights[i] &= 0xffff;
                whole += weights[i] > 0 ? weights[i] : 1;
            }
            ck_ok(espl__run_weighted(&executor, NULL, add_up, &sums, weights, order, MOST, grain));
            ck_assert_uint_eq(sums.items, MOST);
            for (size_t job = 0; job < sums.jobs; ++job) {
                // A heavy item, and light ones up to the least weight of a job and one past it.
                const uint64_t part = whole / 256 + 1 > grain ? whole / 256 + 1 : grain;

                ck_assert_uint_le(sums.sum[job], whole <= grain ? whole : 0xffff + 3 * part);
                ck_assert(sums.sum[job] >= grain || job + 1 == sums.jobs);
            }
        }
    }
}

// --- Executors that break the rule ---

static void is_refused(test_manner manner, const char *condition)
{
    test_executor hostile = {.manner = manner, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);
    uint64_t random = 2;

    draw_weights(&random, 6, 1000);
    ck_status(run_marked(&executor, &hooks, 1000, 10), ESPL_ERR_EXECUTOR);
    for (size_t i = 0; i < 1000; ++i) {
        ck_assert_uint_le(now.ran[i], 1);
    }
    ck_assert_int_eq(count_other_than_once(1000) > 0, manner == TEST_SKIPS_ONE);
    ck_assert_uint_eq(heard.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    ck_assert(ESPL_CHECKS == 0 || strstr(heard.last_line, condition) != NULL);
}

TEST(executors_that_break_the_rule_are_refused_and_nothing_runs_twice)
{
    is_refused(TEST_SKIPS_ONE, "returned before each job had run and returned");
    is_refused(TEST_RUNS_TWICE, "ran a job twice");
    is_refused(TEST_OUT_OF_RANGE, "whose index is not below the count");
}
