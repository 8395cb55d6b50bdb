// SPDX-License-Identifier: MIT
// What a purge costs, by counters: as much as it lays out anew, a share of those who died; nothing
// where nobody did.
#include "tests/planting.h"
#include "tests/runner.h"

#include <stdlib.h>

enum { SMALLEST = 1024, DOUBLINGS = 8 };

enum { FLAT, HEAP, DEEP, CHAIN, PLAN_COUNT };

static uint32_t parent_at(uint32_t plan, uint32_t i)
{
    const uint32_t parents[PLAN_COUNT] = {
        [FLAT] = 0, [HEAP] = (i - 1) / 2, [DEEP] = i % 64 == 1 ? 0 : i - 1, [CHAIN] = i - 1};

    return i == 0 ? PLANT_ROOT : parents[plan];
}

typedef struct cost {
    uint64_t rebuilt, visited;
} cost;

// Destroy three of four members one by one, from the last on, and count what was laid out anew and
// what was visited: nobody lives below who dies, so that the dead there are not visited again.
static cost cost_of_deaths(uint32_t plan, uint32_t count)
{
    uint32_t *const parent = calloc(count, sizeof *parent);
    test_world test;

    ck_assert_ptr_nonnull(parent);
    for (uint32_t i = 0; i < count; ++i) {
        parent[i] = parent_at(plan, i);
    }
    test_world_begin(&test, 9, NULL);
    espl_entity *const entity = plant_forest(test.world, parent, count);
    const espl_world_stats before = test_stats(test.world);
    for (uint32_t i = count; i-- > count / 4;) {
        if (espl_destroy_only(test.world, entity[i]) != ESPL_OK) {
            ck_abort_msg("member %u is not destroyed", i);
        }
    }
    const espl_world_stats after = test_stats(test.world);
    ck_assert_uint_gt(after.purges, before.purges);
    free(entity);
    free(parent);
    test_world_end(&test);
    return (cost){after.nodes_rebuilt - before.nodes_rebuilt,
                  after.nodes_visited - before.nodes_visited};
}

START_TEST(twice_the_deaths_lay_out_at_most_twice_as_much)
{
    const uint32_t doublings = DOUBLINGS - (test_pace_of_build() == TEST_SWIFT ? 0 : 3);
    uint64_t last = 0;

    for (uint32_t i = 0; i <= doublings; ++i) {
        const uint32_t count = (uint32_t)SMALLEST << i;
        // A build whose worlds are small, or where arrays always move: planting is quadratic there.
        if (test_fitting(count, 0) < count || test_scaled(count) * 20 < count) {
            return;
        }
        const cost of_deaths = cost_of_deaths((uint32_t)_i, count);
        const uint64_t rebuilt = of_deaths.rebuilt;

        ck_assert_uint_le(of_deaths.visited, count);
        ck_assert_uint_ge(rebuilt, count / 2);
        ck_assert_uint_le(rebuilt, (uint64_t)count * 8);
        ck_assert_msg(last == 0 || rebuilt * 10 <= last * 22, "%llu, then %llu at %u",
                      (unsigned long long)last, (unsigned long long)rebuilt, count);
        last = rebuilt;
    }
}
END_TEST

static void check_untouched(espl_world *world, const espl_world_stats *before)
{
    const espl_world_stats after = test_stats(world);

    ck_assert_uint_eq(after.nodes_rebuilt, before->nodes_rebuilt);
    ck_assert_uint_eq(after.purges, before->purges);
}

// All that purges where somebody died.
static void ask_for_purges(espl_world *world, espl_entity member, espl_commands *empty)
{
    espl_view view;

    ck_assert_int_eq(espl_view_hierarchy(world, member, &view), ESPL_OK);
    ck_assert_int_eq(espl_sync(world, NULL), ESPL_OK);
    ck_assert_int_eq(espl_play(world, empty, NULL), ESPL_OK);
    espl_commands_reset(empty);
}

START_TEST(a_purge_is_skipped_where_nobody_died)
{
    const uint32_t parent[8] = {PLANT_ROOT, 0, 0, 1, 1, 2, 2, 2};
    espl_commands *empty = NULL;
    test_world test;

    test_world_begin(&test, 9, NULL);
    espl_world *const world = test.world;
    espl_entity *const entity = plant_forest(world, parent, 8);
    ck_assert_int_eq(espl_commands_create(world, 1, &empty), ESPL_OK);
    const espl_world_stats before = test_stats(world);
    ask_for_purges(world, entity[0], empty);
    check_untouched(world, &before);

    // One dead is not worth a purge by itself; asked for, it is made once.
    ck_assert_int_eq(espl_destroy_only(world, entity[2]), ESPL_OK);
    check_untouched(world, &before);
    ck_assert_uint_eq(test_stats(world).ghosts, 1);
    ask_for_purges(world, entity[0], empty);
    const espl_world_stats purged = test_stats(world);
    ck_assert_uint_eq(purged.ghosts, 0);
    ck_assert_uint_eq(purged.purges, before.purges + 1);
    ck_assert_uint_eq(purged.nodes_rebuilt - before.nodes_rebuilt, 7);
    ask_for_purges(world, entity[0], empty);
    check_untouched(world, &purged);

    espl_commands_destroy(empty);
    free(entity);
    test_world_end(&test);
}
END_TEST

static Suite *purges_suite(void)
{
    Suite *const suite = suite_create("purges");
    TCase *const tcase = tcase_create("counters");

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, twice_the_deaths_lay_out_at_most_twice_as_much, 0, PLAN_COUNT);
    tcase_add_test(tcase, a_purge_is_skipped_where_nobody_died);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(purges_suite)
