// SPDX-License-Identifier: MIT
// Histories on the tape: marks and rewinds are a record each, and a replay goes back and on as the world did.
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/tools/recorded_frames.h"

#include <espalier/history.h>

#include <stdlib.h>

enum { NODES = 6, FRAMES = 5 };

static recorded_frames noted;

// Mark, go on, and go back, with and without new generations, with a frame of the tape after each.
static void play(espl_world *world, const memory_tape *tape)
{
    const espl_history_def def = {.frames = 3, .flags = ESPL_HISTORY_HASH, .byte_limit = 1 << 16};
    espl_history *history;
    espl_entity *const chain = make_chain(world, NODES);

    ck_ok(espl_history_create(world, &def, &history));
    ck_ok(espl_history_mark(history, 1));
    end_recorded_frame(&noted, world, tape);
    ck_ok(espl_destroy(world, chain[2], ESPL_EXTENT_SUBTREE));
    test_solos(world, 3, NULL);
    ck_ok(espl_history_mark(history, 2));
    end_recorded_frame(&noted, world, tape);
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    end_recorded_frame(&noted, world, tape);
    ck_ok(espl_set_local_position(world, chain[NODES - 1], (float[3]){1, 2, 3}));
    test_solos(world, 2, NULL);
    ck_status(espl_history_rewind(history, 2, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_status(espl_history_mark(history, 1), ESPL_ERR_ARGUMENT);
    ck_ok(espl_history_rewind(history, 1, ESPL_REWIND_FRESH, NULL));
    test_solos(world, 2, NULL);
    end_recorded_frame(&noted, world, tape);
    ck_ok(espl_history_mark(history, 7));
    espl_history_destroy(history);
    ck_ok(espl_history_create(world, NULL, &history));
    ck_status(espl_history_rewind(history, 7, 0, NULL), ESPL_ERR_TOO_OLD);
    end_recorded_frame(&noted, world, tape);
    espl_history_destroy(history);
    free(chain);
}

static void record(memory_tape *tape)
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
    play(world, tape);
    espl_world_destroy(world);
    ck_assert_uint_eq(heap.bytes, 0);
}

TEST(marks_and_rewinds_replay_to_equal_hashes)
{
    memory_tape tape = {0};

    record(&tape);
    demand_frames(&noted, &(replay_def){0}, &tape, FRAMES);
    free(tape.bytes);
}
