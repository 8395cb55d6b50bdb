// SPDX-License-Identifier: MIT
// Groups of very different size, counted rather than timed: an executor writes down which groups
// each job planned and patched, in commands, and what workers that take one job after the other would
// make of that. A large group is begun first, and the others do not wait for it.
#include "lib/world/inside.h"
#include "tests/planting.h"
#include "tests/runner.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, JOBS = 4096 };

// --- An executor that keeps the books ---

// Order in which jobs are begun.
typedef enum habit { COUNTS_UP, COUNTS_DOWN, DEALS, HABITS } habit;

// A stage that works on groups, in one parallel range.
typedef struct ledger {
    size_t cost[JOBS]; // [jobs] commands of the groups that a job worked on, in order of beginning
    size_t jobs;
    size_t largest_at; // job in which the largest group was met
    size_t total, largest;
} ledger;

typedef struct clerk {
    habit habit;
    espl_world *world; // NULL: nothing is written down
    ledger planned, patched;
} clerk;

static size_t size_of(const espl__group *group)
{
    return group->entry_end - group->entry_begin;
}

static bool is_planned(const espl__group *group)
{
    return group->work->sketch.laid.count > 0;
}

// Groups before a range: their sizes, and whether they were planned and patched already.
typedef struct before {
    size_t *sizes;
    uint8_t *planned, *patched;
    size_t count;
} before;

static before look(const espl__playback *playback)
{
    const size_t count = playback->group_count;
    before b = {.sizes = calloc(count + 1, sizeof *b.sizes),
                .planned = calloc(count + 1, 1),
                .patched = calloc(count + 1, 1),
                .count = count};

    ck_assert(b.sizes != NULL && b.planned != NULL && b.patched != NULL);
    for (size_t i = 0; i < count; ++i) {
        b.sizes[i] = size_of(&playback->groups[i]);
        b.planned[i] = is_planned(&playback->groups[i]);
        b.patched[i] = playback->groups[i].is_patched;
    }
    return b;
}

static void forget(before *b)
{
    free(b->sizes);
    free(b->planned);
    free(b->patched);
}

static void enter(ledger *l, size_t job, size_t size)
{
    l->cost[job] += size;
    l->total += size;
    if (size > l->largest) {
        l->largest = size;
        l->largest_at = job;
    }
}

// What a job did to groups that nobody had done before.
static void write_down(clerk *c, before *b, ledger *planned, ledger *patched, size_t job)
{
    const espl__playback *const playback = &c->world->playback;

    for (size_t i = 0; i < b->count; ++i) {
        const espl__group *const group = &playback->groups[i];

        if (is_planned(group) && b->planned[i] == 0) {
            b->planned[i] = 1;
            enter(planned, job, b->sizes[i]);
        }
        if (group->is_patched && b->patched[i] == 0) {
            b->patched[i] = 1;
            enter(patched, job, b->sizes[i]);
        }
    }
}

// The k-th job to begin. Dealing gives each worker a range of its own, as thread pools do.
static size_t nth_job(habit how, size_t k, size_t count)
{
    const size_t each = (count + WORKERS - 1) / WORKERS;
    size_t at = 0;

    if (how != DEALS) {
        return how == COUNTS_UP ? k : count - 1 - k;
    }
    // The k-th of those that there are when the ranges are gone through in step.
    for (size_t step = 0; step < each; ++step) {
        for (size_t worker = 0; worker < WORKERS; ++worker) {
            const size_t job = worker * each + step;

            if (job < count && job < (worker + 1) * each && at++ == k) {
                return job;
            }
        }
    }
    return 0;
}

static void run_in_books(void *context, espl_job function, void *argument, size_t count)
{
    clerk *const c = context;
    static ledger planned, patched;

    if (c->world == NULL || count > JOBS) {
        for (size_t k = 0; k < count; ++k) {
            function(argument, k);
        }
        return;
    }
    before b = look(&c->world->playback);

    memset(&planned, 0, sizeof planned);
    memset(&patched, 0, sizeof patched);
    planned.jobs = patched.jobs = count;
    for (size_t k = 0; k < count; ++k) {
        function(argument, nth_job(c->habit, k, count));
        write_down(c, &b, &planned, &patched, k);
    }
    c->planned = planned.total > c->planned.total ? planned : c->planned;
    c->patched = patched.total > c->patched.total ? patched : c->patched;
    forget(&b);
}

// When the last of the workers is done, each of whom takes the next job as soon as it is free.
static size_t finish(const ledger *l)
{
    size_t busy[WORKERS] = {0}, end = 0;

    for (size_t job = 0; job < l->jobs; ++job) {
        size_t first = 0;

        for (size_t worker = 1; worker < WORKERS; ++worker) {
            first = busy[worker] < busy[first] ? worker : first;
        }
        busy[first] += l->cost[job];
        end = busy[first] > end ? busy[first] : end;
    }
    return end;
}

// --- Worlds of hierarchies of given sizes ---

// A star with four members for each command, which hangs one of them below another: what groups
// cost in commands and in nodes is in proportion.
static void plant_star(espl_world *world, espl_recorder *recorder, uint32_t commands)
{
    const uint32_t nodes = 1 + 4 * commands;
    uint32_t *const parent = calloc(nodes, sizeof *parent);

    ck_assert_ptr_nonnull(parent);
    parent[0] = PLANT_ROOT;
    espl_entity *const star = plant_forest(world, parent, nodes);
    for (uint32_t i = 1; i < nodes; i += 4) {
        ck_assert_int_eq(espl_record_attach(recorder, 0, star[i], star[i + 1], NULL), ESPL_OK);
    }
    free(star);
    free(parent);
}

// Groups in order of the sizes.
static void play_stars(clerk *c, const uint32_t *sizes, size_t count)
{
    const espl_executor executor = {c, WORKERS, run_in_books};
    espl_commands *commands = NULL;
    espl_report report;
    test_world test;

    test_world_begin(&test, 0, &executor);
    ck_assert_int_eq(espl_commands_create(test.world, 1, &commands), ESPL_OK);
    for (size_t i = 0; i < count; ++i) {
        plant_star(test.world, espl_commands_recorder(commands, 0), sizes[i]);
    }
    c->world = test.world;
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    c->world = NULL;
    ck_assert_uint_eq(report.refused, 0);
    ck_assert_uint_eq(report.groups, count);
    espl_commands_destroy(commands);
    test_world_end(&test);
}

// Nothing waits much longer than it must: for the largest group alone, or for an even share.
static void is_balanced(const ledger *l, size_t total, size_t largest)
{
    const size_t share = (total + WORKERS - 1) / WORKERS;
    const size_t least = share > largest ? share : largest;

    ck_assert_uint_eq(l->total, total);
    ck_assert_uint_eq(l->largest, largest);
    ck_assert_uint_gt(l->jobs, 2 * WORKERS);
    ck_assert_msg(finish(l) <= least + least / 5, "%zu of %zu in %zu jobs, %zu at best", finish(l),
                  total, l->jobs, least);
}

static size_t sum_of(const uint32_t *sizes, size_t count, size_t *largest)
{
    size_t sum = 0;

    *largest = 0;
    for (size_t i = 0; i < count; ++i) {
        sum += sizes[i];
        *largest = sizes[i] > *largest ? sizes[i] : *largest;
    }
    return sum;
}

static void balances(const uint32_t *sizes, size_t count)
{
    size_t largest = 0;
    const size_t total = sum_of(sizes, count, &largest);
    static clerk c;

    for (int i = 0; i < HABITS; ++i) {
        memset(&c, 0, sizeof c);
        c.habit = (habit)i;
        play_stars(&c, sizes, count);
        is_balanced(&c.planned, total, largest);
        is_balanced(&c.patched, total, largest);
        // A group that is a fair part of the whole is begun with the first jobs.
        if (largest * WORKERS >= total) {
            ck_assert_uint_eq(c.planned.largest_at, 0);
            ck_assert_uint_eq(c.patched.largest_at, 0);
        }
    }
}

enum { SMALL = 1200 };

// The giant's command comes last, so that groups in order would leave it to the end.
START_TEST(a_giant_among_thousands_is_begun_first_and_holds_nobody_up)
{
    uint32_t sizes[SMALL + 1];

    for (size_t i = 0; i < SMALL; ++i) {
        sizes[i] = 1;
    }
    sizes[SMALL] = SMALL / 2; // a third of the whole
    balances(sizes, SMALL + 1);
}
END_TEST

START_TEST(a_giant_larger_than_all_others_together_is_what_there_is_to_wait_for)
{
    uint32_t sizes[SMALL + 1];

    for (size_t i = 0; i < SMALL; ++i) {
        sizes[i] = 1;
    }
    sizes[SMALL] = SMALL * 4;
    balances(sizes, SMALL + 1);
}
END_TEST

START_TEST(sizes_of_all_powers_fill_the_workers_evenly)
{
    enum { ALL = 1200 };
    uint32_t sizes[ALL];
    uint64_t random = 4;

    for (size_t i = 0; i < ALL; ++i) {
        sizes[i] = 1;
        while (sizes[i] < 300 && test_one_in(&random, 2)) {
            sizes[i] *= 2;
        }
    }
    balances(sizes, ALL);
}
END_TEST

START_TEST(giants_side_by_side_are_begun_side_by_side)
{
    uint32_t sizes[SMALL + WORKERS];

    for (size_t i = 0; i < SMALL + WORKERS; ++i) {
        sizes[i] = i < SMALL ? 1 : 600;
    }
    balances(sizes, SMALL + WORKERS);
}
END_TEST

static Suite *balance_suite(void)
{
    Suite *const suite = suite_create("balance");
    TCase *const tcase = tcase_create("groups");

    tcase_set_timeout(tcase, 120);
    if (!test_lacks_room((size_t)SMALL * 40, "groups of very different size")) {
        tcase_add_test(tcase, a_giant_among_thousands_is_begun_first_and_holds_nobody_up);
        tcase_add_test(tcase, a_giant_larger_than_all_others_together_is_what_there_is_to_wait_for);
        tcase_add_test(tcase, sizes_of_all_powers_fill_the_workers_evenly);
        tcase_add_test(tcase, giants_side_by_side_are_begun_side_by_side);
    }
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(balance_suite)
