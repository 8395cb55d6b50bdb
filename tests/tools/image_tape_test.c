// SPDX-License-Identifier: MIT
// Images on the tape: a load is one record, with the image, and a replay goes on with the loaded world.
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/tools/recorded_frames.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 6 };

static recorded_frames noted;

// Make a chain, save it, go on, and load it: the tape has frames before and after. A second load is refused.
static void record(memory_tape *tape)
{
    test_heap heap;
    test_hooks hooks = {0};
    espl_world *world;

    noted.count = 0;
    test_heap_init(&heap);
    const espl_world_def def = {.allocator = test_heap_allocator(&heap),
                                .hooks = test_hooks_of(&hooks),
                                .tag = 3,
                                .tape = {tape, memory_tape_append}};

    ck_ok(espl_world_create(&def, &world));
    espl_entity *const chain = make_chain(world, NODES);

    test_image saved = test_image_of(world);
    end_recorded_frame(&noted, world, tape);
    ck_ok(espl_destroy(world, chain[2], ESPL_EXTENT_SUBTREE));
    end_recorded_frame(&noted, world, tape);
    test_image_load(world, &saved, 0);
    end_recorded_frame(&noted, world, tape);
    ck_ok(espl_set_local_position(world, chain[NODES - 1], (float[3]){1, 2, 3}));
    saved.bytes[saved.size / 2] ^= 1;
    ck_assert_int_eq(espl_image_load(world, saved.bytes, saved.size, 0, NULL), ESPL_ERR_FORMAT);
    end_recorded_frame(&noted, world, tape);
    test_image_end(&saved);
    free(chain);
    espl_world_destroy(world);
    ck_assert_uint_eq(heap.bytes, 0);
}

TEST(a_load_replays_to_equal_hashes)
{
    memory_tape tape = {0};

    record(&tape);
    demand_frames(&noted, &(replay_def){0}, &tape, 4);
    free(tape.bytes);
}

// A replay that does not load the image finds other hashes in the next frame.
TEST(an_image_that_is_changed_on_the_tape_is_found)
{
    memory_tape tape = {0};
    replay_result result;
    size_t at = 0;

    record(&tape);
    while (memcmp(tape.bytes + at, "ESPI", 4) != 0) {
        at += 1;
    }
    tape.bytes[at + 200] ^= 1;
    ck_assert_int_ne(replay_run(&(replay_def){0}, tape.bytes, tape.size, &result), REPLAY_AGREED);
    ck_assert_uint_eq(result.frames, 2);
    free(tape.bytes);
}
