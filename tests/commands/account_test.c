// SPDX-License-Identifier: MIT
// Memory that playbacks keep for the next one, and the counts of played commands.
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/runner.h"

// Bytes of recorders and of scratch that playbacks keep.
static size_t bytes_out(const espl_world *world)
{
    return test_stats(world).bytes_commands;
}

// The statistics tell all that the allocator gave out.
static void bytes_are_known(test_world *test)
{
    const espl_world_stats stats = test_stats(test->world);

    ck_assert_uint_eq(stats.bytes, test->heap.bytes);
    test_world_is_valid(test->world);
}

static espl_command_buffer *begin(espl_world *world)
{
    espl_command_buffer *commands = NULL;

    ck_assert_int_eq(espl_command_buffer_create(world, 1, &commands), ESPL_OK);
    return commands;
}

TEST(what_is_kept_is_known_and_goes_back)
{
    // Clones of up to the whole chain stay.
    const bool is_small = test_limits_of_build().entities < 300 + 40 * 40 * 300;
    const uint32_t length = is_small ? 12 : 300, steps = is_small ? 2 : 40;
    uint64_t random = 3;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_world *const world = test.world;
    ck_assert_uint_eq(bytes_out(world), 0);
    espl_entity *const chain = make_chain(world, length);
    for (uint32_t step = 0; step < steps; ++step) {
        const uint32_t i = 1 + test_below(&random, length - 1);
        espl_entity copies[40];

        if (espl_is_alive(world, chain[i])) {
            ck_assert_int_eq(espl_detach(world, chain[i], ESPL_KEEP_WORLD), ESPL_OK);
            ck_assert_int_eq(espl_instantiate(world, chain[i], 1 + step % 40, copies), ESPL_OK);
            ck_assert_int_eq(espl_destroy(world, chain[i], ESPL_EXTENT_ENTITY), ESPL_OK);
        }
        bytes_are_known(&test);
        if (step % 7 == 6 || step + 1 == steps) {
            test_free_scratch(world);
            ck_assert_uint_eq(bytes_out(world), 0);
            bytes_are_known(&test);
        }
    }
    free(chain);
    test_world_end(&test);
}

// Also where playbacks fail for want of memory.
TEST(what_is_kept_is_known_without_memory)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    test_world test;

    test_world_begin(&test, 0, NULL);
    const uint32_t length = test_fitting(300, 0);
    espl_entity *const chain = make_chain(test.world, length);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        test_free_scratch(test.world);
        test_heap_arm(&test.heap, n, true);
        status = espl_detach(test.world, chain[length / 2], ESPL_KEEP_WORLD);
        test_heap_arm(&test.heap, 0, false);
        bytes_are_known(&test);
    }
    ck_assert_int_eq(status, ESPL_OK);
    free(chain);
    test_world_end(&test);
}

static void counts_are(const espl_world *world, uint64_t accepted, uint64_t applied)
{
    const espl_world_stats stats = test_stats(world);

    ck_assert_uint_eq(stats.commands_accepted, accepted);
    ck_assert_uint_eq(stats.commands_applied, applied);
    ck_assert_uint_eq(stats.commands_refused, accepted - applied);
}

TEST(played_commands_are_counted_and_no_others)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_world *const world = test.world;
    const espl_entity a = test_solo(world), b = test_solo(world);
    ck_assert_int_eq(espl_attach(world, a, b, NULL), ESPL_OK);
    ck_assert_int_eq(espl_attach(world, b, a, NULL), ESPL_ERR_CYCLE);
    ck_assert_int_eq(espl_destroy(world, b, ESPL_EXTENT_ENTITY), ESPL_OK);
    counts_are(world, 0, 0);

    espl_command_buffer *const one = begin(world), *const other = begin(world);
    espl_recorder *const lane = espl_command_buffer_recorder(one, 0);
    ck_assert_int_eq(espl_record_destroy(lane, 0, a, ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(lane, 0, a, ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(
        espl_record_detach(espl_command_buffer_recorder(other, 0), 0, b, ESPL_KEEP_WORLD), ESPL_OK);
    // Refused as a whole, it is none of them.
    test_heap_arm(&test.heap, 1, true);
    test_free_scratch(world);
    ck_assert_int_eq(espl_play(world, one, NULL), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&test.heap, 0, false);
    counts_are(world, 0, 0);
    ck_assert_int_eq(espl_play(world, one, NULL), ESPL_OK);
    counts_are(world, 2, 1);
    ck_assert_int_eq(espl_play(world, one, NULL), ESPL_ERR_PLAYED);
    espl_command_buffer_reset(one);
    ck_assert_int_eq(espl_record_destroy(lane, 0, a, ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_submit(one), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_submit(other), ESPL_OK);
    ck_assert_int_eq(espl_sync(world, NULL), ESPL_OK);
    counts_are(world, 4, 1);
    espl_command_buffer_destroy(one);
    espl_command_buffer_destroy(other);
    test_world_end(&test);
}

// A world that is not finite and comes out bit-equal is visited, and what hangs below it is not. Two such
// hierarchies are two groups; on several workers each may be in an edit of its own.
TEST(worlds_that_were_not_finite_before_and_are_not_visited_do_not_count)
{
    const float far[3] = {3e38f, 0, 0}, other[3] = {2e38f, 0, 0}, near[3] = {1, 0, 0};
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 3, .random = 4};
    const espl_executor executor = test_executor_of(&shuffled);

    for (int w = 0; w < 2; ++w) {
        espl_report report;
        test_world test;

        test_world_begin(&test, 0, w == 0 ? NULL : &executor);
        test_cut_jobs(test.world, 1);
        espl_command_buffer *const commands = begin(test.world);
        espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
        for (int t = 0; t < 2; ++t) {
            espl_entity *const chain = make_chain(test.world, 5);

            ck_assert_int_eq(espl_set_local_position(test.world, chain[0], far), ESPL_OK);
            ck_assert_int_eq(espl_set_local_position(test.world, chain[1], far), ESPL_OVERFLOW);
            ck_assert_int_eq(espl_record_set_local_position(lane, 0, chain[1], other), ESPL_OK);
            if (t == 1) { // finite, and computed: but not finite
                ck_assert_int_eq(espl_set_local_position(test.world, chain[1], near), ESPL_OK);
            }
            free(chain);
        }
        ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
        ck_assert_uint_eq(report.visited_nodes, 1 + 4);
        ck_assert_uint_eq(report.overflowed, 1 + 4);
        espl_command_buffer_reset(commands);
        ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
        ck_assert_uint_eq(report.overflowed, 0);
        espl_command_buffer_destroy(commands);
        test_world_end(&test);
    }
}

// Three commands change two nodes of a chain of five, and the worlds of four are computed several times.
TEST(a_world_that_is_not_finite_counts_once_however_many_commands_changed_it)
{
    const float far[3] = {3e38f, 0, 0}, other[3] = {2e38f, 0, 0}, near[3] = {1, 2, 0};
    espl_report report;
    test_world test;

    test_world_begin(&test, 0, NULL);
    espl_command_buffer *const commands = begin(test.world);
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    espl_entity *const chain = make_chain(test.world, 5);

    ck_assert_int_eq(espl_set_local_position(test.world, chain[0], far), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local_position(lane, 0, chain[1], far), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local_position(lane, 0, chain[2], near), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local_position(lane, 0, chain[1], other), ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(test_count_overflowed(test.world), 4);
    ck_assert_uint_eq(report.overflowed, 4);
    free(chain);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
