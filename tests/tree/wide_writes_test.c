// SPDX-License-Identifier: MIT
// Batches on hierarchies in which pieces have many gaps and little room for them: no piece visits
// what is another one's, and each node is visited once.
#include "lib/tree/writes.h"

#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { TOP = 200, PAIRS = 2 * TOP, SIZE = 1 + TOP + 2 * PAIRS, ALL_KEPT = 0x7f, ENTRIES = 1 + TOP };

static grove g;
static espl__forest *const forest = &g.forest;

static void set_up(void)
{
    grove_begin(&g);
}

static void tear_down(void)
{
    grove_end(&g);
}

// Below the root TOP nodes, every other of which keeps all; two below each, and one below these.
static uint32_t plant(void)
{
    uint32_t parent[SIZE];
    uint8_t inherit[SIZE] = {0};

    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        parent[rank] = rank == 0             ? ESPL__NO_SLOT
                       : rank <= TOP         ? 0
                       : rank <= TOP + PAIRS ? 1 + (rank - 1 - TOP) / 2
                                             : rank - PAIRS;
        inherit[rank] = rank <= TOP && rank % 2 == 0 ? ALL_KEPT : 0;
    }
    return grove_plant(
        &g, &(grove_plan){.parent = parent, .size = SIZE, .inherit = inherit, .seed = 3});
}

static espl_status move(const void *context, uint32_t number, espl_write_kind *kind,
                        espl_write_value *value)
{
    memset(value, 0, sizeof *value);
    *kind = ESPL_WRITE_TRANSLATE_LOCAL;
    value->position[0] = 1 + *(const float *)context * (float)number;
    return ESPL_OK;
}

// Move the root, and the second node of each pair. @param room  for spans, [2 * ENTRIES]; or NULL.
static espl__run_writes write_run(uint32_t run, const espl__team *team, espl__span *room)
{
    static uint32_t numbers[ENTRIES], ranks[ENTRIES];
    static espl_status results[ENTRIES];
    static espl_pose old_locals[ENTRIES];
    static espl__side_entry old_sides[ENTRIES];
    const float step = 0.25f;
    const espl__write_source source = {.fetch = move, .context = &step, .results = results};

    for (uint32_t i = 0; i < ENTRIES; ++i) {
        ranks[i] = i == 0 ? 0 : TOP + 2 * i;
        numbers[i] = i;
        results[i] = ESPL_OK;
    }
    espl__run_writes w = {.source = &source,
                          .numbers = numbers,
                          .ranks = ranks,
                          .count = ENTRIES,
                          .run = run,
                          .team = *team,
                          .spans = room,
                          .span_count = room != NULL ? 2 * ENTRIES : 0,
                          .old_locals = old_locals,
                          .old_sides = old_sides};

    espl__run_write(forest, &w);
    for (uint32_t i = 0; i < ENTRIES; ++i) {
        ck_assert_int_eq(results[i], ESPL_OK);
    }
    return w;
}

static void worlds_follow(uint32_t run)
{
    espl__frame frames[SIZE];

    grove_recompute(&g, run, frames);
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        ck_assert(grove_same(&forest->world[grove_slot(&g, run, rank)], &frames[rank].world));
    }
}

// The root and all below it move or wait; of the pairs below one that keeps all, the second is
// written; what hangs below those that move is visited.
enum { LEAST = 1 + TOP + TOP + TOP / 2 + TOP + TOP / 2 };

static void write_on(const espl_executor *executor)
{
    const espl_hooks hooks = {0};
    bool is_closed = false;
    const espl__team team = {executor, &hooks, &is_closed};
    espl__span room[2 * ENTRIES];

    for (uint32_t grain = 4; grain < SIZE / 2; grain += grain) {
        const uint32_t run = plant();

        forest->grain = grain;
        const espl__run_writes narrow = write_run(run, &team, NULL);

        worlds_follow(run);
        ck_assert_uint_ge(narrow.visited, LEAST);
        ck_assert_uint_le(narrow.visited, SIZE);
        const espl__run_writes roomy = write_run(run, &team, room);

        worlds_follow(run);
        ck_assert_uint_eq(roomy.visited, LEAST);
        ck_assert_uint_eq(roomy.writes, ENTRIES);
        espl__run_release(forest, run);
    }
}

START_TEST(no_piece_visits_what_is_anothers)
{
    test_executor hostile = {.manner = (test_manner)_i, .workers = 5, .random = 5};
    const espl_executor executor = test_executor_of(&hostile), serial = espl_executor_serial();

    write_on(&serial);
    write_on(&executor);
    ck_assert_uint_gt(hostile.calls, 10);
}
END_TEST

START_TEST(nor_does_it_on_threads)
{
    espl_executor executor = espl_executor_serial();

    if (!espl_executor_has_threads()) {
        return;
    }
    ck_assert_int_eq(espl_executor_create_threads(&executor, 8), ESPL_OK);
    for (size_t i = 0; i < test_scaled(20); ++i) {
        write_on(&executor);
    }
    espl_executor_destroy_threads(&executor);
}
END_TEST

// --- Spans that wait above a band ---

enum {
    CHAINS = 60, // side by side below the root, each so long, with so many leaves below its end
    LENGTH = 5,
    LEAVES = 12,
    BOTTOM = 1 + CHAINS * LENGTH,
    ALL = BOTTOM + CHAINS * LEAVES,
    LAST = 5,             // leaves that are written too, below a chain that is not
    COUNT = CHAINS + LAST // entries: two for every other chain
};

static uint32_t plant_chains(void)
{
    uint32_t parent[ALL];

    for (uint32_t rank = 0; rank < ALL; ++rank) {
        parent[rank] = rank == 0        ? ESPL__NO_SLOT
                       : rank <= CHAINS ? 0
                       : rank < BOTTOM  ? rank - CHAINS
                                        : BOTTOM - CHAINS + (rank - BOTTOM) / LEAVES;
    }
    return grove_plant(&g, &(grove_plan){.parent = parent, .size = ALL});
}

static uint64_t visits_of_chains(uint32_t run, const espl__team *team)
{
    uint32_t numbers[COUNT], ranks[COUNT];
    espl_status results[COUNT] = {ESPL_OK};
    espl_pose old_locals[COUNT];
    espl__span room[2 * COUNT];
    const float step = 0.5f;
    const espl__write_source source = {.fetch = move, .context = &step, .results = results};

    for (uint32_t i = 0; i < COUNT; ++i) {
        ranks[i] = i < CHAINS ? 1 + i / 2 * 2 : ALL - COUNT + i;
        numbers[i] = i;
    }
    espl__run_writes w = {.source = &source,
                          .numbers = numbers,
                          .ranks = ranks,
                          .count = COUNT,
                          .run = run,
                          .team = *team,
                          .spans = room,
                          .span_count = 2 * COUNT,
                          .old_locals = old_locals};

    espl__run_write(forest, &w);
    grove_is_sound(&g);
    return w.visited;
}

// The ring has gone round once by the time that the band begins.
START_TEST(what_waits_above_a_band_is_visited_below_and_no_more)
{
    test_executor hostile = {.manner = (test_manner)_i, .workers = 3, .random = 7};
    const espl_executor executor = test_executor_of(&hostile);
    const espl__team alone = {0}, team = {.executor = &executor};
    const uint32_t run = plant_chains();
    const uint64_t least = CHAINS / 2 * (LENGTH + LEAVES) + LAST;

    forest->grain = 300;
    ck_assert_uint_eq(visits_of_chains(run, &alone), least);
    ck_assert_uint_eq(visits_of_chains(run, &team), least);
    ck_assert_uint_eq(hostile.calls, 1);
    espl__run_release(forest, run);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/wide writes");
    TCase *const tcase = tcase_create("pieces");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, no_piece_visits_what_is_anothers, TEST_IN_ORDER, TEST_SHUFFLED + 1);
    tcase_add_test(tcase, nor_does_it_on_threads);
    tcase_add_loop_test(tcase, what_waits_above_a_band_is_visited_below_and_no_more, TEST_IN_ORDER,
                        TEST_SHUFFLED + 1);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(make_suite)
