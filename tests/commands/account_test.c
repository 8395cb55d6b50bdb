// SPDX-License-Identifier: MIT
// What playbacks keep and count: memory from one to the next, commands played, hierarchies laid out
// anew, purges.
#include "lib/world/inside.h"
#include "tests/planting.h"
#include "tests/runner.h"

// What is out but for the scratch of calls at once, which is the world's.
static size_t bytes_out(const espl_world *world)
{
    return espl__heap_bytes_for(&world->heap, ESPL__FOR_COMMANDS) - world->write_scratch.size -
           world->side_scratch.size;
}

static espl_commands *begin(espl_world *world)
{
    espl_commands *commands = NULL;

    ck_assert_int_eq(espl_commands_create(world, 1, &commands), ESPL_OK);
    return commands;
}

START_TEST(what_is_kept_is_known_and_goes_back)
{
    // Clones of up to the whole chain stay.
    const bool is_small = test_limits_of_build().entities < 300 + 40 * 40 * 300;
    const uint32_t length = is_small ? 12 : 300, steps = is_small ? 2 : 40;
    uint64_t random = 3;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_world *const world = test.world;
    ck_assert_uint_eq(espl__playback_bytes(&world->playback), 0);
    espl_entity *const chain = plant_chain(world, length);
    for (uint32_t step = 0; step < steps; ++step) {
        const uint32_t i = 1 + test_below(&random, length - 1);
        espl_entity copies[40];

        if (espl_is_alive(world, chain[i])) {
            ck_assert_int_eq(espl_detach(world, chain[i], ESPL_STAY_WORLD), ESPL_OK);
            ck_assert_int_eq(espl_instantiate(world, chain[i], 1 + step % 40, copies), ESPL_OK);
            ck_assert_int_eq(espl_destroy_only(world, chain[i]), ESPL_OK);
        }
        ck_assert_uint_eq(espl__playback_bytes(&world->playback), bytes_out(world));
        if (step % 7 == 6 || step + 1 == steps) {
            espl__playback_trim(&world->playback);
            ck_assert_uint_eq(bytes_out(world), 0);
            ck_assert_uint_eq(espl__playback_bytes(&world->playback), 0);
        }
    }
    free(chain);
    test_world_end(&test);
}
END_TEST

// Also where playbacks fail for want of memory.
START_TEST(what_is_kept_is_known_without_memory)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    test_world test;

    test_world_begin(&test, 0, NULL);
    const uint32_t length = test_fitting(300, 0);
    espl_entity *const chain = plant_chain(test.world, length);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        espl__playback_trim(&test.world->playback);
        test_heap_arm(&test.heap, n, true);
        status = espl_detach(test.world, chain[length / 2], ESPL_STAY_WORLD);
        test_heap_arm(&test.heap, 0, false);
        ck_assert_uint_eq(espl__playback_bytes(&test.world->playback), bytes_out(test.world));
    }
    ck_assert_int_eq(status, ESPL_OK);
    free(chain);
    test_world_end(&test);
}
END_TEST

static void counts_are(const espl_world *world, uint64_t accepted, uint64_t applied)
{
    ck_assert_uint_eq(world->playback.accepted, accepted);
    ck_assert_uint_eq(world->playback.applied, applied);
    ck_assert_uint_eq(world->playback.refused, accepted - applied);
}

START_TEST(played_commands_are_counted_and_no_others)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_world *const world = test.world;
    const espl_entity a = test_solo(world), b = test_solo(world);
    ck_assert_int_eq(espl_attach(world, a, b, NULL), ESPL_OK);
    ck_assert_int_eq(espl_attach(world, b, a, NULL), ESPL_ERR_CYCLE);
    ck_assert_int_eq(espl_destroy_only(world, b), ESPL_OK);
    counts_are(world, 0, 0);

    espl_commands *const one = begin(world), *const other = begin(world);
    espl_recorder *const lane = espl_commands_recorder(one, 0);
    ck_assert_int_eq(espl_record_destroy(lane, 0, a), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(lane, 0, a), ESPL_OK);
    ck_assert_int_eq(espl_record_detach(espl_commands_recorder(other, 0), 0, b, ESPL_STAY_WORLD),
                     ESPL_OK);
    // Refused as a whole, it is none of them.
    test_heap_arm(&test.heap, 1, true);
    espl__playback_trim(&world->playback);
    ck_assert_int_eq(espl_play(world, one, NULL), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&test.heap, 0, false);
    counts_are(world, 0, 0);
    ck_assert_int_eq(espl_play(world, one, NULL), ESPL_OK);
    counts_are(world, 2, 1);
    ck_assert_int_eq(espl_play(world, one, NULL), ESPL_ERR_PLAYED);
    espl_commands_reset(one);
    ck_assert_int_eq(espl_record_destroy(lane, 0, a), ESPL_OK);
    ck_assert_int_eq(espl_commands_submit(one), ESPL_OK);
    ck_assert_int_eq(espl_commands_submit(other), ESPL_OK);
    ck_assert_int_eq(espl_sync(world, NULL), ESPL_OK);
    counts_are(world, 4, 1);
    espl_commands_destroy(one);
    espl_commands_destroy(other);
    test_world_end(&test);
}
END_TEST

START_TEST(nodes_laid_out_anew_and_purges_are_counted)
{
    const uint32_t length = test_fitting(70, 0) / 7 * 4, other = length / 4 * 3;
    test_world test;
    espl_report report = {0};

    test_world_begin(&test, 0, NULL);
    espl_world *const world = test.world;
    espl_entity *const chain = plant_chain(world, length), *const apart = plant_chain(world, other);
    const espl__forest *const forest = &world->forest;
    const uint64_t rebuilt = forest->nodes_rebuilt, purges = forest->purges;

    espl_commands *commands = begin(world);
    ck_assert_int_eq(
        espl_record_detach(espl_commands_recorder(commands, 0), 0, chain[30], ESPL_STAY_WORLD),
        ESPL_OK);
    ck_assert_int_eq(espl_play(world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.rebuilt_nodes, length);
    ck_assert_uint_eq(forest->nodes_rebuilt, rebuilt + length);
    ck_assert_uint_eq(forest->purges, purges);

    // Few are dead in either, so that nothing wants a purge. The next change purges both.
    for (int i = 10; i < 13; ++i) {
        ck_assert_int_eq(espl_destroy_only(world, apart[i]), ESPL_OK);
    }
    ck_assert_int_eq(espl_destroy_only(world, chain[5]), ESPL_OK);
    ck_assert_uint_eq(forest->purges, purges);
    ck_assert_uint_ne(forest->ghosts, 0);
    espl_commands_reset(commands);
    ck_assert_int_eq(
        espl_record_attach(espl_commands_recorder(commands, 0), 0, apart[0], chain[0], NULL),
        ESPL_OK);
    ck_assert_int_eq(espl_play(world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(forest->ghosts, 0);
    ck_assert_uint_eq(forest->purges, purges + 2);
    ck_assert_uint_eq(forest->nodes_rebuilt, rebuilt + length + 29 + other - 3);
    espl_commands_destroy(commands);
    free(chain);
    free(apart);
    test_world_end(&test);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("account");
    TCase *const rule = tcase_create("rule");

    tcase_add_test(rule, what_is_kept_is_known_and_goes_back);
    tcase_add_test(rule, what_is_kept_is_known_without_memory);
    tcase_add_test(rule, played_commands_are_counted_and_no_others);
    tcase_add_test(rule, nodes_laid_out_anew_and_purges_are_counted);
    suite_add_tcase(suite, rule);
    return suite;
}

RUN_SUITE(make_suite)
