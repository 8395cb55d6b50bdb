// SPDX-License-Identifier: MIT
// Memory that playbacks keep for the next one, and the counts of played commands.
#include "tests/inside.h"
#include "tests/one_tree.h"

// Bytes of recorders and of scratch that playbacks keep.
static size_t bytes_out(void)
{
    return test_stats(w).bytes_commands;
}

// The statistics tell all that the allocator gave out.
static void bytes_are_known(void)
{
    const espl_world_stats stats = test_stats(w);

    ck_assert_uint_eq(stats.bytes, test.heap.bytes);
    test_world_is_valid(w);
}

FIXTURE(set_up, end);

TEST(what_is_kept_is_known_and_goes_back)
{
    // Clones of up to the whole chain stay.
    const bool is_small = test_limits_of_build().entities < 300 + 40 * 40 * 300;
    const uint32_t length = is_small ? 12 : 300, steps = is_small ? 2 : 40;
    uint64_t random = 3;

    ck_assert_uint_eq(bytes_out(), 0);
    node = make_chain(w, length);
    for (uint32_t step = 0; step < steps; ++step) {
        const uint32_t i = 1 + test_below(&random, length - 1);
        espl_entity copies[40];

        if (espl_is_alive(w, node[i])) {
            ck_ok(espl_detach(w, node[i], ESPL_KEEP_WORLD));
            ck_ok(espl_instantiate(w, &(espl_instance_def){.source = node[i]}, 1 + step % 40,
                                   copies));
            ck_ok(espl_destroy(w, node[i], ESPL_EXTENT_ENTITY));
        }
        bytes_are_known();
        if (step % 7 == 6 || step + 1 == steps) {
            test_free_scratch(w);
            ck_assert_uint_eq(bytes_out(), 0);
            bytes_are_known();
        }
    }
}

// Also where playbacks fail for want of memory.
TEST(what_is_kept_is_known_without_memory)
{
    espl_status status = ESPL_ERR_NO_MEMORY;

    const uint32_t length = test_fitting(300, 0);
    node = make_chain(w, length);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        test_free_scratch(w);
        test_heap_arm(&test.heap, n, true);
        status = espl_detach(w, node[length / 2], ESPL_KEEP_WORLD);
        test_heap_arm(&test.heap, 0, false);
        bytes_are_known();
    }
    ck_ok(status);
}

static void counts_are(uint64_t accepted, uint64_t applied)
{
    const espl_world_stats stats = test_stats(w);

    ck_assert_uint_eq(stats.commands_accepted, accepted);
    ck_assert_uint_eq(stats.commands_applied, applied);
    ck_assert_uint_eq(stats.commands_refused, accepted - applied);
}

TEST(played_commands_are_counted_and_no_others)
{
    const espl_entity a = test_solo(w), b = test_solo(w);
    ck_ok(espl_attach(w, a, b, NULL));
    ck_status(espl_attach(w, b, a, NULL), ESPL_ERR_CYCLE);
    ck_ok(espl_destroy(w, b, ESPL_EXTENT_ENTITY));
    counts_are(0, 0);

    espl_command_buffer *const one = test_commands(w, 1), *const other = test_commands(w, 1);
    espl_recorder *const lane = espl_command_buffer_recorder(one, 0);
    ck_ok(espl_record_destroy(lane, 0, a, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_destroy(lane, 0, a, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_detach(espl_command_buffer_recorder(other, 0), 0, b, ESPL_KEEP_WORLD));
    // Refused as a whole, it is none of them.
    test_heap_arm(&test.heap, 1, true);
    test_free_scratch(w);
    ck_status(espl_play(w, one, NULL), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&test.heap, 0, false);
    counts_are(0, 0);
    ck_ok(espl_play(w, one, NULL));
    counts_are(2, 1);
    ck_status(espl_play(w, one, NULL), ESPL_ERR_PLAYED);
    espl_command_buffer_reset(one);
    ck_ok(espl_record_destroy(lane, 0, a, ESPL_EXTENT_OWNED));
    ck_ok(espl_command_buffer_submit(one));
    ck_ok(espl_command_buffer_submit(other));
    ck_ok(espl_sync(w, NULL));
    counts_are(4, 1);
    espl_command_buffer_destroy(one);
    espl_command_buffer_destroy(other);
}

FIXTURE(NULL, NULL);

// A world that is not finite and comes out bit-equal is visited, and what hangs below it is not. Two such
// hierarchies are two groups; on several workers each may be in an edit of its own.
TEST_LOOP(a_world_that_comes_out_bit_equal_is_reported_and_not_followed, 0, 2)
{
    const float far[3] = {3e38f, 0, 0}, other[3] = {2e38f, 0, 0}, near[3] = {1, 0, 0};
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 3, .random = 4};
    const espl_executor executor = test_executor_of(&shuffled);
    espl_report report;

    test_world_begin(&test, 0, _i == 0 ? NULL : &executor);
    w = test.world;
    test_cut_jobs(w, 1);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    for (int t = 0; t < 2; ++t) {
        espl_entity *const chain = make_chain(w, 5);

        ck_ok(espl_set_local_position(w, chain[0], far));
        ck_status(espl_set_local_position(w, chain[1], far), ESPL_OVERFLOW);
        ck_ok(espl_record_write(lane, 0, chain[1], ESPL_WRITE_LOCAL_POSITION, other));
        if (t == 1) { // finite, and computed: but not finite
            ck_ok(espl_set_local_position(w, chain[1], near));
        }
        free(chain);
    }
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.visited_nodes, 1 + 4);
    ck_assert(report.has_overflowed);
    ck_assert_uint_eq(test_count_overflowed(w), 2 * 4);
    espl_command_buffer_reset(commands);
    ck_ok(espl_play(w, commands, &report));
    ck_assert(!report.has_overflowed);
    espl_command_buffer_destroy(commands);
    tear_down();
}

FIXTURE(set_up, end);

// Three commands change two nodes of a chain of five, and the worlds of four are computed several times.
TEST(a_world_that_is_not_finite_is_reported_however_many_commands_changed_it)
{
    const float far[3] = {3e38f, 0, 0}, other[3] = {2e38f, 0, 0}, near[3] = {1, 2, 0};
    espl_report report;

    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    node = make_chain(w, 5);

    ck_ok(espl_set_local_position(w, node[0], far));
    ck_ok(espl_record_write(lane, 0, node[1], ESPL_WRITE_LOCAL_POSITION, far));
    ck_ok(espl_record_write(lane, 0, node[2], ESPL_WRITE_LOCAL_POSITION, near));
    ck_ok(espl_record_write(lane, 0, node[1], ESPL_WRITE_LOCAL_POSITION, other));
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(test_count_overflowed(w), 4);
    ck_assert(report.has_overflowed);
    espl_command_buffer_destroy(commands);
}
