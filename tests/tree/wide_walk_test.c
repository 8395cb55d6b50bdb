// SPDX-License-Identifier: MIT
// Propagation in pieces against a recomputation of everything: the same bits and the same counts
// for any number of workers, in any order of jobs, whatever the shape and the length of a piece.
#include "lib/tree/propagate.h"

#include "lib/tree/band.h"
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <float.h>
#include <string.h>

enum { SIZE = 700, ALL_KEPT = 0x7f };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    random_state = 23;
}

static void tear_down(void)
{
    grove_end(&g);
}

static uint32_t slot_at(uint32_t run, uint32_t rank)
{
    return grove_slot(&g, run, rank);
}

// --- Shapes ---

typedef enum shape {
    STAR,
    CHAIN,
    FAN_2,
    FAN_10,
    FAN_100,
    COMB,
    CHAINS,
    NARROW_THEN_WIDE,
    UNEVEN,
    ANY,
    SHAPE_COUNT
} shape;

// Nearly all hangs below the first child of each.
static uint32_t uneven_parent(uint32_t rank, uint32_t last)
{
    return rank % 3 == 0 && last + 1 < rank ? last + 1 : last;
}

static void parents_of(uint32_t *parent, uint32_t size, shape of)
{
    parent[0] = ESPL__NO_SLOT;
    for (uint32_t rank = 1; rank < size; ++rank) {
        const uint32_t last = rank == 1 ? 0 : parent[rank - 1];
        const uint32_t by_shape[] = {
            0,
            rank - 1,
            (rank - 1) / 2,
            (rank - 1) / 10,
            (rank - 1) / 100,
            rank < 3 ? 0 : (rank - 1) / 2 * 2 - 1,
            rank <= 60 ? 0 : rank - 60,
            rank <= 40 ? rank - 1 : 40,
            uneven_parent(rank, last),
        };

        if (of != ANY) {
            parent[rank] = by_shape[of];
        }
    }
    if (of == ANY) {
        grove_random_parents(parent, size, 1 + test_below(&random_state, 30), &random_state);
    }
}

static uint32_t plant(shape of, uint32_t size, bool is_general)
{
    uint32_t parent[SIZE];
    uint8_t flags[SIZE], inherit[SIZE];

    parents_of(parent, size, of);
    grove_random_inherit(inherit, size, 3, &random_state);
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t kind = is_general ? test_below(&random_state, 20) : 20;

        inherit[rank] = test_one_in(&random_state, 6) ? ALL_KEPT : inherit[rank];
        flags[rank] = (uint8_t)(kind < 2                ? ESPL__SLOT_PASS
                                : kind < 3 && rank != 0 ? ESPL__SLOT_ROOTED
                                                        : 0);
    }
    return grove_plant(&g,
                       &(grove_plan){.parent = parent,
                                     .size = size,
                                     .flags = flags,
                                     .inherit = is_general ? inherit : NULL,
                                     .seed = test_random(&random_state),
                                     .is_shuffled = test_one_in(&random_state, 2),
                                     .has_extras = is_general && test_one_in(&random_state, 2)});
}

// --- A write and what it counts ---

typedef struct counts {
    uint64_t visited, skipped;
} counts;

// Propagate from a rank whose local was changed, on an executor.
static counts propagate(uint32_t run, uint32_t rank, const espl_executor *executor)
{
    const espl_hooks hooks = {0};
    bool is_closed = false;
    espl__crew crew = {.team = {executor, &hooks, &is_closed}};
    espl__walk walk;
    espl__span span;

    espl__walk_begin(&walk, forest, run, &span, 1);
    ck_assert(!espl__propagate_one(&walk, rank) ||
              espl__propagate_changed(forest, &crew, run, rank));
    ck_assert(!is_closed);
    return (counts){crew.tally.nodes_visited, crew.tally.nodes_skipped};
}

static void keep_worlds(uint32_t run, espl__frame *out)
{
    for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
        out[rank] = espl__slot_frame(forest, slot_at(run, rank));
    }
}

static void put_worlds_back(uint32_t run, const espl__frame *worlds)
{
    const espl__run *const header = &forest->runs[run];

    for (uint32_t rank = 0; rank < header->size; ++rank) {
        const uint32_t slot = slot_at(run, rank);

        forest->world[slot] = worlds[rank].world;
        if (header->side != NULL) {
            header->side->extra[slot - header->base] = worlds[rank].extra;
        }
    }
}

static void worlds_are(uint32_t run, const espl__frame *worlds)
{
    for (uint32_t rank = 0; rank < forest->runs[run].size; ++rank) {
        const espl__frame is = espl__slot_frame(forest, slot_at(run, rank));

        ck_assert_msg(grove_same(&is.world, &worlds[rank].world), "rank %u", rank);
        ck_assert_msg(grove_same_extra(&is.extra, &worlds[rank].extra), "rank %u", rank);
    }
}

// A new local for a node that has one of its own.
static void change_local(uint32_t run, uint32_t rank)
{
    const uint32_t slot = slot_at(run, rank);

    if (!espl__slot_copies(forest, slot)) {
        forest->local[slot] = grove_random_pose(&random_state);
    }
}

// Move one node of a hierarchy on every executor. @return how often jobs were shared out.
static size_t move_everywhere(uint32_t run, uint32_t rank)
{
    static const uint32_t workers[] = {2, 3, 7, 16, 64};
    espl__frame before[SIZE], after[SIZE];
    size_t calls = 0;

    keep_worlds(run, before);
    change_local(run, rank);
    grove_recompute(&g, run, after);
    const espl_executor serial = espl_executor_serial();
    const counts alone = propagate(run, rank, &serial);

    worlds_are(run, after);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; ++i) {
        test_executor hostile = {.manner = (test_manner)(i % 3),
                                 .workers = workers[i],
                                 .random = test_random(&random_state)};
        const espl_executor executor = test_executor_of(&hostile);

        put_worlds_back(run, before);
        const counts shared = propagate(run, rank, &executor);

        worlds_are(run, after);
        ck_assert_uint_eq(shared.visited, alone.visited);
        ck_assert_uint_eq(shared.skipped, alone.skipped);
        calls += hostile.calls;
    }
    return calls;
}

// Shapes in turn, with pieces of so many nodes. @return how often jobs were shared out.
static size_t move_in_shapes(uint32_t grain, bool is_general)
{
    size_t calls = 0;

    forest->grain = grain;
    for (uint32_t of = 0; of < SHAPE_COUNT; ++of) {
        const uint32_t size = 1 + test_below(&random_state, SIZE);
        const uint32_t run = plant((shape)of, size, is_general);

        calls += move_everywhere(run, 0);
        calls += move_everywhere(run, test_below(&random_state, 1 + size / 10));
        calls += move_everywhere(run, test_below(&random_state, size));
        espl__run_release(forest, run);
    }
    return calls;
}

START_TEST(any_workers_give_plain_runs_the_same_bits_and_counts)
{
    const size_t rounds = test_scaled(20);
    size_t calls = 0;

    for (uint32_t round = 0; round < rounds; ++round) {
        calls += move_in_shapes(1 + round * round / 4, false);
    }
    ck_assert_uint_gt(calls, 40 * rounds);
}
END_TEST

START_TEST(any_workers_give_general_runs_the_same_bits_and_counts)
{
    const size_t rounds = test_scaled(30);
    size_t calls = 0;

    for (uint32_t round = 0; round < rounds; ++round) {
        calls += move_in_shapes(1 + round * round / 8, true);
    }
    ck_assert_uint_gt(calls, 25 * rounds);
}
END_TEST

START_TEST(every_size_about_the_grain_gives_the_same_bits)
{
    for (uint32_t size = 1; size < 80; ++size) {
        for (uint32_t grain = 1; grain < 20; grain += 1 + grain / 3) {
            const shape of = (shape)(size * 7 % SHAPE_COUNT);

            forest->grain = grain;
            const uint32_t run = plant(of, size, grain % 2 == 0);

            (void)move_everywhere(run, 0);
            espl__run_release(forest, run);
        }
    }
}
END_TEST

START_TEST(small_run_is_never_shared)
{
    const uint32_t run = plant(STAR, 201, false);

    forest->grain = 101;
    ck_assert_uint_eq(move_everywhere(run, 0), 0);
    forest->grain = 100;
    ck_assert_uint_eq(move_everywhere(run, 0), 5);
    espl__run_release(forest, run);
}
END_TEST

START_TEST(what_stands_still_is_not_visited_below)
{
    // Of 100 children every other keeps all; each has 5 children.
    uint32_t parent[601];
    uint8_t inherit[601] = {0};

    for (uint32_t rank = 0; rank < 601; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : rank <= 100 ? 0 : (rank - 101) / 5 + 1;
        inherit[rank] = rank <= 100 && rank % 2 == 0 ? ALL_KEPT : 0;
    }
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 601, .inherit = inherit});

    // Pieces of seven or so children each have room for all their gaps; one walk has not.
    forest->grain = 40;
    forest->local[slot_at(run, 0)].position[0] += 1;
    const espl_executor serial = espl_executor_serial();
    const counts done = propagate(run, 0, &serial);

    ck_assert_uint_eq(done.visited, 100 + 250);
    ck_assert_uint_eq(done.skipped, 50);
    grove_is_sound(&g);
    espl__run_release(forest, run);
}
END_TEST

START_TEST(few_that_wait_far_apart_are_left_to_one_thread)
{
    const uint32_t run = plant(FAN_10, SIZE, false);

    // Of a hundred, with ten children each, two wait, or all.
    forest->grain = 16;
    for (uint32_t waiting = 2; waiting <= 100; waiting += 98) {
        test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = 1};
        const espl_executor executor = test_executor_of(&hostile);
        bool is_closed = false;
        const espl__team team = {.executor = &executor, .is_closed = &is_closed};
        espl__span spans[32];
        espl__walk walk;

        espl__walk_begin(&walk, forest, run, spans, 32);
        espl__walk_wait(&walk, 11, 11 + waiting / 2);
        espl__walk_wait(&walk, 61, 61 + waiting / 2);
        espl__walk_finish(&walk, &team);
        ck_assert_uint_eq(walk.visited, waiting == 2 ? 22 : SIZE - 11);
        ck_assert_int_eq(hostile.calls == 0, waiting == 2);
    }
    espl__run_release(forest, run);
}
END_TEST

// --- Overflow ---

START_TEST(overflow_in_any_piece_is_told)
{
    for (uint32_t rank = 1; rank < 300; rank += 23) {
        for (uint32_t i = 0; i < 2; ++i) {
            const uint32_t run = plant(FAN_10, 300, i == 1);
            test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = rank};
            const espl_executor executor = test_executor_of(&hostile);
            espl__crew crew = {.team = {.executor = &executor}};

            forest->grain = 8;
            while (espl__slot_copies(forest, slot_at(run, rank))) {
                rank += 1;
            }
            forest->local[slot_at(run, rank)].position[0] = FLT_MAX;
            forest->local[slot_at(run, rank)].position[1] = FLT_MAX;
            forest->local[slot_at(run, 0)] = espl__pose_identity();
            forest->local[slot_at(run, 0)].scale = 4;
            forest->world[slot_at(run, 0)] = forest->local[slot_at(run, 0)];
            const bool is_kept = espl__slot_kept(forest, slot_at(run, rank)).flags != 0 ||
                                 espl__slot_is(forest, slot_at(run, rank), ESPL__SLOT_ROOTED);

            ck_assert(espl__propagate_below(forest, &crew, run, 0) == false || is_kept);
            espl__run_release(forest, run);
        }
    }
}
END_TEST

// --- Executors that break the rules ---

static size_t traps;

static void hear(void *context, const char *file, int line, const char *condition)
{
    (void)context, (void)file, (void)line, (void)condition;
    traps += 1;
}

START_TEST(job_that_is_lost_or_repeated_changes_no_bit)
{
    for (uint32_t round = 0; round < 60; ++round) {
        const uint32_t run = plant((shape)(round % SHAPE_COUNT), SIZE, round % 2 != 0);
        test_executor hostile = {.manner = (test_manner)(TEST_SKIPS_ONE + round % 3), .workers = 5};
        const espl_executor executor = test_executor_of(&hostile), serial = espl_executor_serial();
        const espl_hooks hooks = {.trap = hear};
        bool is_closed = false;
        espl__crew crew = {.team = {&executor, &hooks, &is_closed}};
        espl__frame before[SIZE], after[SIZE];

        forest->grain = 1 + round / 4;
        keep_worlds(run, before);
        change_local(run, 0);
        grove_recompute(&g, run, after);
        const counts alone = propagate(run, 0, &serial);

        put_worlds_back(run, before);
        forest->world[slot_at(run, 0)] = after[0].world;
        traps = 0;
        ck_assert(espl__propagate_changed(forest, &crew, run, 0));
        worlds_are(run, after);
        ck_assert(!is_closed);
        ck_assert(crew.tally.nodes_visited == alone.visited || alone.visited == 0);
        ck_assert(!ESPL_CHECKS || traps == hostile.calls);
        espl__run_release(forest, run);
    }
}
END_TEST

// --- Closed while workers are at it ---

typedef struct witness {
    const bool *is_closed;
    size_t jobs;
} witness;

static void look_and_run(void *context, espl_job function, void *argument, size_t count)
{
    witness *const w = context;

    for (size_t job = 0; job < count; ++job) {
        ck_assert(*w->is_closed);
        function(argument, job);
        w->jobs += 1;
    }
}

START_TEST(world_is_closed_while_workers_write_and_as_before_afterwards)
{
    const uint32_t run = plant(FAN_10, SIZE, false);

    forest->grain = 16;
    for (int was_closed = 0; was_closed < 2; ++was_closed) {
        bool is_closed = was_closed != 0;
        witness w = {&is_closed, 0};
        const espl_executor executor = {&w, 2, look_and_run};
        espl__crew crew = {.team = {.executor = &executor, .is_closed = &is_closed}};

        ck_assert(espl__propagate_below(forest, &crew, run, 0));
        ck_assert_uint_gt(w.jobs, 1);
        ck_assert(is_closed == (was_closed != 0));
    }
    espl__run_release(forest, run);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/wide walk");
    TCase *const bits = tcase_create("bits");
    TCase *const hand = tcase_create("by hand");

    tcase_set_timeout(bits, 120);
    tcase_add_checked_fixture(bits, set_up, tear_down);
    tcase_add_test(bits, any_workers_give_plain_runs_the_same_bits_and_counts);
    tcase_add_test(bits, any_workers_give_general_runs_the_same_bits_and_counts);
    tcase_add_test(bits, every_size_about_the_grain_gives_the_same_bits);
    suite_add_tcase(suite, bits);

    tcase_add_checked_fixture(hand, set_up, tear_down);
    tcase_add_test(hand, small_run_is_never_shared);
    tcase_add_test(hand, what_stands_still_is_not_visited_below);
    tcase_add_test(hand, few_that_wait_far_apart_are_left_to_one_thread);
    tcase_add_test(hand, overflow_in_any_piece_is_told);
    tcase_add_test(hand, job_that_is_lost_or_repeated_changes_no_bit);
    tcase_add_test(hand, world_is_closed_while_workers_write_and_as_before_afterwards);
    suite_add_tcase(suite, hand);
    return suite;
}

RUN_SUITE(make_suite)
