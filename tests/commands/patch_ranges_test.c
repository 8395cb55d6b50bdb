// SPDX-License-Identifier: MIT
// A patch that is cut between workers: where the cuts are, which plots are cut, and that what comes
// of it is the naive rebuild and the same world whatever the cuts and whoever does which range, also
// where an executor loses ranges or does them twice.
#include "lib/commands/patch.h"
#include "tests/commands/rebuilt.h"
#include "tests/runner.h"

enum { MOST_RANGES = 64, RANGES_EACH = 4 };

// Cuts so small that the hierarchies of a yard have many.
enum { NARROW = 4 };

static void plant_some(yard *y, uint32_t size, uint32_t count)
{
    const yard_plan plan = {
        .size = size, .reach = 20, .passes = 9, .keeps = 7, .is_stretched = true};

    for (uint32_t i = 0; i < count; ++i) {
        (void)yard_plant(y, &plan);
    }
}

// --- Where the cuts are ---

typedef struct tile {
    espl__stretch stretch;
    uint32_t calls;
} tile;

static tile tiles[MOST_RANGES];

static void note_range(const espl__patch *p, const espl__stretch *stretch, espl__found *found)
{
    tile *const t = &tiles[stretch->number];

    (void)p;
    ck_assert_uint_lt(stretch->number, stretch->count);
    t->stretch = *stretch;
    t->calls += 1;
    *found = (espl__found){.extras = 1,
                           .kept = stretch->number,
                           .strays = UINT32_C(1) << stretch->number % 32,
                           .flags = UINT32_C(1) << stretch->number / 32};
}

// Rank by rank: what stands before each cut, and how much each range costs.
static void tiles_agree(const espl__patch *p, uint32_t count)
{
    espl__cut at = espl__patch_begin(p);
    uint32_t number = 0;
    uint64_t cost = 0;

    for (uint32_t i = p->laid->begin; i < p->laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(p->sketch, i);

        for (uint32_t k = 0; k < piece->count; ++k) {
            while (number < count && at.position == tiles[number].stretch.begin.position) {
                const espl__cut *const cut = &tiles[number].stretch.begin;
                const uint64_t share = p->plot->cost * number / count;

                ck_assert(cut->piece == i && cut->at == at.at && cut->hole == at.hole);
                ck_assert(cost >= share && cost - share < ESPL__RANK_COST);
                number += 1;
            }
            at.position += 1;
            at.at += espl__patch_drafts(p, piece) ? 1 : 0;
            at.hole += espl__patch_keeps_slots(p, piece) ? 0 : 1;
            cost += espl__plot_cost(p->plot, p->laid, piece);
        }
    }
    ck_assert_uint_eq(number, count);
    ck_assert_uint_eq(at.position, p->laid->size);
    ck_assert_uint_eq(at.at, p->plot->drafted);
    ck_assert(cost == p->plot->cost || p->laid->size < p->playback->wide);
}

static uint32_t smallest(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t least = a < b ? a : b;

    return least < c ? least : c;
}

static void plot_is_cut_well(const yard *y, espl__plot *plot)
{
    const espl__group *const group = &y->playback->groups[plot->group];
    const espl__patch p = {y->playback, y->playback->forest, &group->work->sketch, plot,
                           espl__sketch_laid(&group->work->sketch, plot->laid)};
    const uint32_t workers = y->bed.hostile.workers, grain = y->playback->wide / 4;
    const uint32_t most = (uint32_t)(plot->cost / ESPL__RANK_COST) / (grain > 0 ? grain : 1);
    const uint32_t count =
        plot->is_wide && workers > 1 ? smallest(most, MOST_RANGES, workers * RANGES_EACH) : 1;
    uint32_t kept = 0, strays = 0, flags = 0;

    memset(tiles, 0, sizeof tiles);
    const espl__found all = espl__patch_run(&p, note_range);

    ck_assert_uint_eq(tiles[0].stretch.begin.position, 0);
    ck_assert_uint_eq(tiles[count - 1].stretch.end, p.laid->size);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(tiles[i].calls, 1);
        ck_assert_uint_eq(tiles[i].stretch.count, count);
        ck_assert(i == 0 || tiles[i].stretch.begin.position == tiles[i - 1].stretch.end);
        kept += i;
        strays |= UINT32_C(1) << i % 32;
        flags |= UINT32_C(1) << i / 32;
    }
    ck_assert(all.extras == count && all.kept == kept);
    ck_assert(all.strays == strays && all.flags == flags);
    tiles_agree(&p, count);
}

START_TEST(ranges_tile_the_ranks_and_cost_as_much)
{
    const uint32_t wides[] = {1, NARROW, 30, 200};
    size_t wide = 0, narrow = 0;
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        return;
    }
    for (uint64_t seed = 1; seed <= test_scaled(20) + 4; ++seed) {
        yard_begin(&y, seed);
        plant_some(&y, 250, 2);
        yard_record(&y, 1 + test_below(&y.random, 20), 5);
        y.playback->wide = wides[seed % 4];
        bed_run_on(&y.bed, stage_workers[test_below(&y.random, STAGE_WORKERS)], TEST_SHUFFLED);
        yard_open(&y);
        ck_assert_int_eq(yard_prepare(&y), ESPL_OK);
        for (size_t i = 0; i < y.playback->plot_count; ++i) {
            plot_is_cut_well(&y, &y.playback->plots[i]);
            wide += y.playback->plots[i].is_wide;
            narrow += !y.playback->plots[i].is_wide;
        }
        yard_close(&y, false);
        yard_end(&y);
    }
    ck_assert(wide > 0 && narrow > 0);
}
END_TEST

START_TEST(shares_of_ranges_tile_what_is_shared_out)
{
    for (uint32_t count = 1; count <= MOST_RANGES; ++count) {
        const uint32_t all[] = {0, 1, count - 1, count, count + 1, 1000, UINT32_MAX};

        for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
            const espl__stretch stretch = {.count = count};

            ck_assert_uint_eq(espl__stretch_share(&stretch, 0, all[i]), 0);
            ck_assert_uint_eq(espl__stretch_share(&stretch, count, all[i]), all[i]);
            for (uint32_t k = 0; k < count; ++k) {
                const uint32_t begin = espl__stretch_share(&stretch, k, all[i]);
                const uint32_t end = espl__stretch_share(&stretch, k + 1, all[i]);

                ck_assert(begin <= end && end - begin <= (uint64_t)all[i] / count + 1);
            }
        }
    }
}
END_TEST

// --- Which plots are cut ---

// A root with leaves.
static espl_entity plant_star(yard *y, uint32_t leaves)
{
    const uint32_t root = y->count;

    for (uint32_t i = 0; i <= leaves; ++i) {
        y->entities[y->count++] = test_solo(y->world);
        if (i > 0) {
            attach(y->world, y->entities[y->count - 1], y->entities[root], 0);
        }
    }
    return y->entities[root];
}

static uint32_t count_wide(yard *y)
{
    uint32_t wide = 0;

    yard_open(y);
    ck_assert_int_eq(yard_prepare(y), ESPL_OK);
    for (size_t i = 0; i < y->playback->plot_count; ++i) {
        wide += y->playback->plots[i].is_wide;
    }
    yard_close(y, false);
    espl_commands_reset(y->bed.commands);
    return wide;
}

START_TEST(only_a_plot_of_which_much_is_written_is_cut)
{
    static yard y;

    if (test_lacks_room(600, "a large star")) {
        return;
    }
    yard_begin(&y, 1);
    (void)plant_star(&y, 300);
    ck_assert_uint_eq(y.playback->wide, ESPL__WIDE);
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[1]), ESPL_OK);
    ck_assert_uint_eq(count_wide(&y), 0);

    // All leaves behind the first one move up, and the root is there. Behind the last ones few do:
    // of the others only where their children would be is written anew.
    y.playback->wide = 300;
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[1]), ESPL_OK);
    ck_assert_uint_eq(count_wide(&y), 1);
    y.playback->wide = 301;
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[1]), ESPL_OK);
    ck_assert_uint_eq(count_wide(&y), 0);
    y.playback->wide = 100;
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[290]), ESPL_OK);
    ck_assert_uint_eq(count_wide(&y), 0);
    y.playback->wide = 10 + 290 / 8;
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[290]), ESPL_OK);
    ck_assert_uint_eq(count_wide(&y), 1);

    // Where the root moves all of them do.
    const espl_transform moved = test_at(1, 2, 3);

    y.playback->wide = 300;
    ck_assert_int_eq(espl_record_set_local(yard_lane(&y, 0), 0, y.entities[0], &moved), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[290]), ESPL_OK);
    ck_assert_uint_eq(count_wide(&y), 1);
    yard_end(&y);
}
END_TEST

// As many as there are parts are cut; one more, and each is done by one worker.
START_TEST(of_many_plots_that_are_alike_none_is_cut)
{
    static yard y;

    if (test_lacks_room(600, "many hierarchies")) {
        return;
    }
    for (uint32_t count = 64; count <= 65; ++count) {
        yard_begin(&y, 1);
        y.playback->wide = NARROW;
        for (uint32_t i = 0; i < count; ++i) {
            (void)plant_star(&y, 8);
            ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[y.count - 8]),
                             ESPL_OK);
        }
        ck_assert_uint_eq(count_wide(&y), count == 64 ? 64 : 0);
        yard_end(&y);
    }
}
END_TEST

// --- What comes of it ---

START_TEST(plots_that_are_cut_are_naive_rebuilds_of_the_plans)
{
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    expectation *const x = expectation_make();
    size_t calls = 0;
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }
    for (uint64_t seed = 1; seed <= test_scaled(20) + 3; ++seed) {
        yard_begin(&y, seed * 4 + (uint64_t)_i);
        if (seed % 2 == 0) {
            plant_some(&y, 290, 2);
        } else {
            yard_plant_all(&y);
        }
        y.playback->wide = NARROW + test_below(&y.random, 3) * 8;
        for (uint32_t round = 0; round < 4; ++round) {
            yard_record(&y, 1 + test_below(&y.random, round % 2 == 0 ? 40 : 8), 5);
            bed_run_on(&y.bed, stage_workers[1 + test_below(&y.random, STAGE_WORKERS - 1)],
                       manners[test_below(&y.random, 3)]);
            play_by_hand(&y, x);
            calls += y.bed.hostile.calls;
        }
        yard_end(&y);
    }
    ck_assert(x->wide > 0 && x->wide_moved > 0 && x->wide_moved < x->wide);
    ck_assert(x->wide_left > 0 && x->wide_holes > 0);
    ck_assert(x->wide_sides > 0 && x->wide_sides < x->wide);
    ck_assert_uint_gt(calls, x->wide);
    free(x);
}
END_TEST

// One way to play the same rounds. @return the hash of what is left.
static uint64_t hash_of_way(uint64_t seed, uint32_t wide, const espl_executor *executor,
                            expectation *x)
{
    static yard y;

    yard_begin(&y, seed);
    plant_some(&y, 290, 2);
    y.playback->wide = wide;
    for (uint32_t round = 0; round < 4; ++round) {
        yard_record(&y, round % 2 == 0 ? 50 : 5, 5);
        y.playback->executor = executor;
        play_by_hand(&y, x);
    }
    const uint64_t hash = test_physical_hash(y.world);

    yard_end(&y);
    return hash;
}

START_TEST(any_cuts_leave_the_same_world)
{
    const uint32_t workers[] = {2, 3, 7, 64}, wides[] = {1, NARROW, 33, 150};
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    const espl_executor serial = {0};
    expectation *const x = expectation_make();

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        const uint64_t whole = hash_of_way(seed, UINT32_MAX, &serial, x);

        ck_assert_uint_eq(hash_of_way(seed, NARROW, &serial, x), whole);
        for (uint32_t i = 0; i < 12; ++i) {
            test_executor hostile = {
                .manner = manners[i % 3], .workers = workers[i % 4], .random = seed};
            const espl_executor executor = test_executor_of(&hostile);

            ck_assert_uint_eq(hash_of_way(seed, wides[(i + i / 4) % 4], &executor, x), whole);
        }
    }
    free(x);
}
END_TEST

START_TEST(threads_that_really_run_leave_the_same_world)
{
    const espl_executor serial = {0};
    expectation *const x = expectation_make();
    espl_executor threads;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }
    ck_assert_int_eq(espl_executor_create_threads(&threads, 4), ESPL_OK);
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        ck_assert_uint_eq(hash_of_way(seed, NARROW, &threads, x),
                          hash_of_way(seed, UINT32_MAX, &serial, x));
    }
    espl_executor_destroy_threads(&threads);
    free(x);
}
END_TEST

// --- Executors that do it wrong ---

enum { LOSES_ALL, LOSES_FIRST, LOSES_ODD, LOSES_SOME, REPEATS_ALL, REPEATS_AND_LOSES, FAULTS };

enum { NO_FAULT = FAULTS };

typedef struct faulty {
    uint32_t fault;
    uint64_t random;
    size_t calls;
    bool is_busy;
} faulty;

static bool is_lost(faulty *f, size_t job)
{
    switch (f->fault) {
    case LOSES_ALL:
        return true;
    case LOSES_FIRST:
        return job == 0;
    case LOSES_ODD:
    case REPEATS_AND_LOSES:
        return job % 2 == 1;
    case LOSES_SOME:
        return job == 1 || test_one_in(&f->random, 3);
    default:
        return false;
    }
}

static void run_faulty(void *context, espl_job function, void *argument, size_t count)
{
    faulty *const f = context;
    const bool repeats = f->fault == REPEATS_ALL || f->fault == REPEATS_AND_LOSES;

    ck_assert(!f->is_busy); // no job may ask for more of them
    f->is_busy = true;
    f->calls += 1;
    for (size_t turn = 0; turn < (repeats ? 2 : 1); ++turn) {
        for (size_t job = count; job-- > 0;) {
            if (!is_lost(f, job)) {
                function(argument, job);
            }
        }
    }
    f->is_busy = false;
}

// Groups that are done beforehand weigh nothing against the others.
static void weights_agree(const yard *y)
{
    const espl__playback *const playback = y->playback;

    for (size_t i = 0; i < playback->long_count; ++i) {
        const espl__group *const group = &playback->groups[playback->long_groups[i]];
        bool is_wide = false;

        for (uint32_t k = group->work->plot_begin; k < group->work->plot_end; ++k) {
            is_wide = is_wide || playback->plots[k].is_wide;
        }
        ck_assert_int_eq(playback->group_weights[i] == 0, is_wide);
    }
}

// Everything up to the patch goes well.
static void patch_on(yard *y, expectation *x, const espl_executor *executor)
{
    yard_open(y);
    ck_assert_int_eq(yard_prepare(y), ESPL_OK);
    espl__stage_change(y->playback);
    expect_all(x, y);
    y->playback->executor = executor;
    y->playback->heap->is_forbidden = true;
    espl__stage_patch(y->playback);
    y->playback->heap->is_forbidden = false;
    forest_agrees(x, y);
    weights_agree(y);
    free(x->hierarchies);
    yard_close(y, true);
    espl_commands_reset(y->bed.commands);
    y->bed.pending_count = 0;
    test_world_is_valid(y->world);
}

START_TEST(ranges_that_are_lost_or_repeated_are_done_once_all_the_same)
{
    expectation *const x = expectation_make();
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }
    for (uint64_t seed = 1; seed <= test_scaled(4) + 2; ++seed) {
        faulty f = {.fault = (uint32_t)_i, .random = seed};
        const espl_executor executor = {&f, 3, run_faulty};

        yard_begin(&y, seed);
        plant_some(&y, 290, 2);
        y.playback->wide = NARROW;
        for (uint32_t round = 0; round < 4; ++round) {
            yard_record(&y, round % 2 == 0 ? 30 : 4, 5);
            patch_on(&y, x, &executor);
        }
        // Both steps of a plot that is cut are heard of.
        ck_assert_uint_ge(f.calls, 2);
        ck_assert_uint_eq(y.bed.test.hooks.traps, ESPL_CHECKS >= 1 ? f.calls : 0);
        yard_end(&y);
    }
    ck_assert(x->wide > 0 && x->wide_moved > 0 && x->wide_moved < x->wide && x->wide_sides > 0);
    free(x);
}
END_TEST

// Many groups, of which some are cut: these are not in a job themselves.
START_TEST(no_job_of_a_patch_asks_for_more_jobs)
{
    expectation *const x = expectation_make();
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        faulty f = {.fault = NO_FAULT};
        const espl_executor executor = {&f, 3, run_faulty};
        const size_t wide = x->wide;

        yard_begin(&y, seed);
        y.playback->wide = 20;
        for (uint32_t i = 0; i < 42; ++i) {
            (void)plant_star(&y, i < 2 ? 150 : 6);
            ck_assert_int_eq(
                espl_record_destroy(yard_lane(&y, 0), 0, y.entities[y.count - (i < 2 ? 150 : 6)]),
                ESPL_OK);
        }
        patch_on(&y, x, &executor);
        ck_assert_uint_eq(x->wide - wide, 2);
        // Twice for each of the two, and for all others once.
        ck_assert_uint_eq(f.calls, 5);
        ck_assert_uint_eq(y.bed.test.hooks.traps, 0);
        yard_end(&y);
    }
    free(x);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("patch_ranges");
    TCase *const cuts = tcase_create("cuts");
    TCase *const worlds = tcase_create("worlds");

    tcase_set_timeout(cuts, 60);
    tcase_add_test(cuts, ranges_tile_the_ranks_and_cost_as_much);
    tcase_add_test(cuts, shares_of_ranges_tile_what_is_shared_out);
    tcase_add_test(cuts, only_a_plot_of_which_much_is_written_is_cut);
    tcase_add_test(cuts, of_many_plots_that_are_alike_none_is_cut);
    suite_add_tcase(suite, cuts);

    tcase_set_timeout(worlds, 120);
    tcase_add_loop_test(worlds, plots_that_are_cut_are_naive_rebuilds_of_the_plans, 0, 4);
    tcase_add_test(worlds, any_cuts_leave_the_same_world);
    if (espl_executor_has_threads()) {
        tcase_add_test(worlds, threads_that_really_run_leave_the_same_world);
    }
    tcase_add_test(worlds, no_job_of_a_patch_asks_for_more_jobs);
    tcase_add_loop_test(worlds, ranges_that_are_lost_or_repeated_are_done_once_all_the_same, 0,
                        FAULTS);
    suite_add_tcase(suite, worlds);
    return suite;
}

RUN_SUITE(make_suite)
