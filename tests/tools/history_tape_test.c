// SPDX-License-Identifier: MIT
// Histories on the tape: marks and rewinds are a record each, and a replay goes back and on as the world did.
#include "tests/fixture.h"
#include "tests/memory_tape.h"
#include "tests/runner.h"
#include "tools/replay.h"

#include <espalier/history.h>

#include <stdlib.h>

enum { NODES = 6, FRAMES = 5 };

// Mark, go on, and go back, with and without new generations, with a frame of the tape after each.
static void play(espl_world *world)
{
    const espl_history_def def = {.frames = 3, .flags = ESPL_HISTORY_HASH, .byte_limit = 1 << 16};
    espl_history *history;
    espl_entity *const chain = make_chain(world, NODES);

    ck_ok(espl_history_create(world, &def, &history));
    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_tape_frame(world));
    ck_ok(espl_destroy(world, chain[2], ESPL_EXTENT_SUBTREE));
    test_solos(world, 3, NULL);
    ck_ok(espl_history_mark(history, 2));
    ck_ok(espl_tape_frame(world));
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    ck_ok(espl_tape_frame(world));
    ck_ok(espl_set_local_position(world, chain[NODES - 1], (float[3]){1, 2, 3}));
    test_solos(world, 2, NULL);
    ck_status(espl_history_rewind(history, 2, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_status(espl_history_mark(history, 1), ESPL_ERR_ARGUMENT);
    ck_ok(espl_history_rewind(history, 1, ESPL_REWIND_FRESH, NULL));
    test_solos(world, 2, NULL);
    ck_ok(espl_tape_frame(world));
    ck_ok(espl_history_mark(history, 7));
    espl_history_destroy(history);
    ck_ok(espl_history_create(world, NULL, &history));
    ck_status(espl_history_rewind(history, 7, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_ok(espl_tape_frame(world));
    espl_history_destroy(history);
    free(chain);
}

static void record(memory_tape *tape, void (*calls)(espl_world *world))
{
    test_heap heap;
    test_hooks hooks = {0};
    espl_world *world;

    test_heap_init(&heap);
    const espl_world_def def = {.allocator = test_heap_allocator(&heap),
                                .hooks = test_hooks_of(&hooks),
                                .tag = 3,
                                .tape = {tape, memory_tape_append}};

    ck_ok(espl_world_create(&def, &world));
    calls(world);
    espl_world_destroy(world);
    ck_assert_uint_eq(heap.bytes, 0);
}

TEST(marks_and_rewinds_replay_to_equal_hashes)
{
    memory_tape tape = {0};
    replay_result result;

    record(&tape, play);
    ck_assert_msg(replay_run(&(replay_def){0}, tape.bytes, tape.size, &result) == REPLAY_AGREED,
                  "%s", result.fault.text);
    ck_assert_uint_eq(result.frames, FRAMES);
    free(tape.bytes);
}

// --- Checksums of frames, instead of hashes ---

static size_t count_checksums(const memory_tape *tape, uint64_t sum)
{
    unsigned char record[9] = {ESPL_TAPE_CHECKSUM};
    size_t count = 0;

    for (size_t i = 0; i < 8; ++i) {
        record[i + 1] = (unsigned char)(sum >> 8 * i);
    }
    for (size_t at = 0; at + sizeof record <= tape->size; ++at) {
        count += memcmp(tape->bytes + at, record, sizeof record) == 0 ? 1 : 0;
    }
    return count;
}

static uint64_t last_sum;

// Frames between marks, after changes and without, and rewinds over them.
static void play_between(espl_world *world)
{
    const espl_history_def def = {.frames = 8, .flags = ESPL_HISTORY_HASH, .byte_limit = 1 << 16};
    espl_history *history;
    espl_entity *const chain = make_chain(world, NODES);

    ck_ok(espl_history_create(world, &def, &history));
    ck_ok(espl_tape_frame(world)); // before any mark
    ck_ok(espl_history_mark(history, 1));
    const uint64_t physical = test_physical_hash(world);

    for (int turn = 0; turn < 3; ++turn) {
        for (int i = 0; i < 4; ++i) {
            ck_ok(espl_set_local_position(world, chain[i], (float[3]){(float)turn, (float)i, 1}));
            ck_ok(espl_set_name(world, chain[i], turn == 1 ? "a name" : "another one"));
            ck_ok(espl_tape_frame(world));
        }
        ck_ok(espl_destroy(world, chain[3], ESPL_EXTENT_SUBTREE));
        ck_ok(espl_tape_frame(world));
        test_solos(world, 4, NULL);
        if (turn == 1) {
            ck_ok(espl_history_mark(history, 2));
            ck_ok(espl_world_clear(world));
            ck_ok(espl_tape_frame(world));
        }
        ck_ok(espl_history_rewind(history, 1, 0, NULL));
        ck_assert_uint_eq(test_physical_hash(world), physical);
        test_world_is_valid(world);
    }
    ck_ok(espl_tape_frame(world));
    ck_ok(espl_history_mark(history, 3));
    ck_ok(espl_history_hash(history, 3, &last_sum));
    espl_history_destroy(history);
    ck_ok(espl_tape_frame(world)); // both hashes again
    free(chain);
}

TEST(a_frame_is_a_checksum_where_a_history_keeps_them)
{
    memory_tape tape = {0};
    replay_result result;

    record(&tape, play_between);
    ck_assert_msg(replay_run(&(replay_def){0}, tape.bytes, tape.size, &result) == REPLAY_AGREED,
                  "%s", result.fault.text);
    ck_assert_uint_eq(result.frames, 19);
    ck_assert_uint_gt(count_checksums(&tape, last_sum), 0);
    free(tape.bytes);
}

TEST(another_checksum_is_found)
{
    memory_tape tape = {0};
    replay_result result;
    size_t at = 0;

    record(&tape, play_between);
    while (tape.bytes[at] != ESPL_TAPE_CHECKSUM || tape.bytes[at + 9] != 0 ||
           tape.bytes[at + 10] != ESPL_TAPE_MARK) {
        at += 1;
    }
    tape.bytes[at + 3] ^= 16;
    ck_assert_int_eq(replay_run(&(replay_def){0}, tape.bytes, tape.size, &result),
                     REPLAY_DISAGREED);
    ck_assert_msg(strstr(result.fault.text, "another checksum") != NULL, "%s", result.fault.text);
    free(tape.bytes);
}

// What changed between two marks is more than the history has room for: it is found by the frame.
static void play_without_room(espl_world *world)
{
    const espl_history_def def = {.flags = ESPL_HISTORY_HASH, .byte_limit = 200};
    espl_history *history;

    ck_ok(espl_history_create(world, &def, &history));
    ck_ok(espl_history_mark(history, 1));
    test_solos(world, 20, NULL);
    ck_ok(espl_tape_frame(world));
    ck_assert(!espl_history_range(history, NULL, NULL));
    ck_status(espl_history_rewind(history, 1, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_tape_frame(world));
    ck_ok(espl_destroy(world, test_solo(world), ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    espl_history_destroy(history);
}

TEST(a_frame_that_is_too_large_for_the_history_empties_it)
{
    memory_tape tape = {0};
    replay_result result;

    record(&tape, play_without_room);
    ck_assert_msg(replay_run(&(replay_def){0}, tape.bytes, tape.size, &result) == REPLAY_AGREED,
                  "%s", result.fault.text);
    free(tape.bytes);
}
