// SPDX-License-Identifier: MIT
// Frames of a tape: each has the checksum of the world, whatever the world has of histories, and a replay of
// them agrees. What the first frame takes memory for, and what a frame has once memory ran out.
#include "tests/fixture.h"
#include "tests/images.h"
#include "tests/runner.h"
#include "tests/tools/recorded_frames.h"

#include <espalier/history.h>

enum { TAG = 3, NODES = 6 };

static memory_tape tape;
static recorded_frames noted;
static test_world test;
static espl_world *w;
static espl_entity *chain;

static void begin(void)
{
    tape.size = 0;
    noted.count = 0;
    test_world_record((espl_tape){&tape, memory_tape_append});
    test_world_begin(&test, TAG, NULL);
    w = test.world;
    chain = make_chain(w, NODES);
}

static void free_tape(void)
{
    free(tape.bytes);
    tape = (memory_tape){0};
}

FIXTURE(NULL, free_tape);

// End the world, and replay its tape serially and otherwise.
static void end(void)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 7, .random = 5};
    const espl_executor executors[] = {(espl_executor){0}, test_executor_of(&hostile)};

    free(chain);
    test_world_end(&test);
    for (int i = 0; i < 2; ++i) {
        demand_frames(&noted, &(replay_def){.executor = &executors[i]}, &tape, noted.count);
    }
}

// Return the checksum of a world that loads an image of a world.
static uint64_t checksum_of_image(const espl_world *world)
{
    const espl_history_def def = {.flags = ESPL_HISTORY_HASH};
    test_image image = test_image_of(world);
    espl_history *history;
    uint64_t checksum = 0;
    test_world other;

    test_world_begin(&other, TAG, NULL);
    test_image_load(other.world, &image, 0);
    ck_ok(espl_history_create(other.world, &def, &history));
    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_history_hash(history, 1, &checksum));
    espl_history_destroy(history);
    test_world_end(&other);
    test_image_end(&image);
    return checksum;
}

// End a frame, which has the checksum of the world.
static void end_frame(void)
{
    end_recorded_frame(&noted, w, &tape);
    ck_assert(frame_has_checksum(&tape));
    ck_assert_uint_eq(frame_number_of(&tape), checksum_of_image(w));
}

static void move(int node, float x)
{
    ck_ok(espl_set_local_position(w, chain[node], (float[3]){x, 1, 2}));
}

// --- Which frames ---

TEST(frames_have_the_checksum_of_the_world)
{
    begin();
    end_frame();
    end_frame(); // nothing changed
    for (int i = 0; i < 8; ++i) {
        move(i % NODES, (float)i);
        ck_ok(espl_set_name(w, chain[i % 3], i % 2 == 0 ? "one" : "another"));
        end_frame();
    }
    ck_ok(espl_destroy(w, chain[2], ESPL_EXTENT_ENTITY));
    test_solos(w, 5, NULL);
    end_frame();
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    move(1, 5);
    ck_ok(espl_tick_end(w));
    end_frame();
    ck_ok(espl_motion_stop(w));
    end_frame();
    ck_ok(espl_compact(w));
    end_frame();
    ck_ok(espl_world_clear(w));
    end_frame();
    end();
}

TEST(a_frame_of_a_new_world_has_a_checksum)
{
    tape.size = 0;
    noted.count = 0;
    test_world_record((espl_tape){&tape, memory_tape_append});
    test_world_begin(&test, TAG, NULL);
    w = test.world;
    end_frame();
    chain = make_chain(w, NODES);
    end_frame();
    end();
}

// --- Beside histories ---

// Mark, change and go back, with frames between.
static void use_history(espl_history *history, uint64_t mark)
{
    ck_ok(espl_history_mark(history, mark));
    for (int i = 0; i < 3; ++i) {
        move(i, (float)i + 7);
        ck_ok(espl_set_name(w, chain[i], i == 1 ? "" : "in a history"));
        end_frame();
    }
    ck_ok(espl_history_mark(history, mark + 1));
    end_frame();
    test_solos(w, 3, NULL);
    ck_ok(espl_history_rewind(history, mark, 0, NULL));
    end_frame();
    move(4, 3);
    ck_ok(espl_history_mark(history, mark + 1));
}

// A frame comes first after each of these: before the history, at its begin, after a mark, after a rewind,
// after its end.
TEST_LOOP(frames_and_histories_come_in_any_order, 0, 10)
{
    const espl_history_def def = {.flags = _i % 2 == 0 ? (uint32_t)ESPL_HISTORY_HASH : 0};
    const int first = _i / 2;
    espl_history *history;

    begin();
    for (int turn = 0; turn < 2; ++turn) {
        const int from = turn == 0 ? first : 0;

        if (from <= 0) {
            end_frame();
        }
        ck_ok(espl_history_create(w, &def, &history));
        if (from <= 1) {
            end_frame();
        }
        ck_ok(espl_history_mark(history, 1));
        move(0, 1);
        if (from <= 2) {
            end_frame();
        }
        ck_ok(espl_history_rewind(history, 1, 0, NULL));
        if (from <= 3) {
            end_frame();
            use_history(history, 2);
        }
        move(3, 9);
        espl_history_destroy(history);
        end_frame();
        move(2, 4);
        end_frame();
    }
    end();
}

TEST(a_history_without_checksums_has_none_beside_frames)
{
    espl_history *history;
    uint64_t checksum = 0;

    begin();
    end_frame();
    ck_ok(espl_history_create(w, NULL, &history));
    ck_ok(espl_history_mark(history, 1));
    ck_status(espl_history_hash(history, 1, &checksum), ESPL_ERR_UNSUPPORTED);
    espl_history_destroy(history);
    end();
}

TEST(a_frame_is_the_checksum_of_a_mark)
{
    const espl_history_def def = {.flags = ESPL_HISTORY_HASH};
    espl_history *history;
    uint64_t checksum = 0;

    begin();
    ck_ok(espl_history_create(w, &def, &history));
    end_frame();
    const uint64_t of_frame = frame_number_of(&tape);

    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_history_hash(history, 1, &checksum));
    ck_assert_uint_eq(of_frame, checksum);
    espl_history_destroy(history);
    end();
}

// What changed between two marks is more than the history has room for: it is found by the frame.
TEST(a_frame_that_is_too_large_for_the_history_empties_it)
{
    const espl_history_def def = {.flags = ESPL_HISTORY_HASH, .byte_limit = 200};
    espl_history *history;

    begin();
    ck_ok(espl_history_create(w, &def, &history));
    ck_ok(espl_history_mark(history, 1));
    ck_ok(espl_destroy(w, chain[2], ESPL_EXTENT_SUBTREE));
    test_solos(w, 20, NULL);
    end_frame();
    ck_assert(!espl_history_range(history, NULL, NULL));
    ck_status(espl_history_rewind(history, 1, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_ok(espl_history_mark(history, 1));
    end_frame();
    ck_ok(espl_destroy(w, test_solo(w), ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    end_frame();
    espl_history_destroy(history);
    end();
}

// --- Images ---

// A load that finds no memory for what follows the world leaves all as it was.
TEST(frames_follow_a_load_or_its_refusal)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t refused = 0;

    begin();
    test_image image = test_image_of(w);
    end_frame();
    test_solos(w, 4, NULL);
    ck_ok(espl_set_name(w, chain[1], "not in the image"));
    end_frame();
    test_image_load(w, &image, 0);
    end_frame();
    test_solos(w, 3, NULL);
    for (size_t fail = 1; status != ESPL_OK; ++fail) {
        const uint64_t before = test_physical_hash(w);

        test_heap_arm(&test.heap, fail, true);
        status = espl_image_load(w, image.bytes, image.size, 0, NULL);
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert(status == ESPL_OK || test_physical_hash(w) == before);
        test_world_is_valid(w);
        end_recorded_frame(&noted, w, &tape);
        refused += status == ESPL_OK ? 0 : 1;
    }
    ck_assert_uint_gt(refused, 3);
    test_image_end(&image);
    end();
}

// --- Memory ---

TEST(only_the_first_frame_takes_memory)
{
    espl_world_stats before, after;

    begin();
    espl_stats(w, &before);
    ck_assert_uint_eq(before.bytes_changes, 0);
    end_frame();
    espl_stats(w, &after);
    ck_assert_uint_gt(after.bytes_changes, 64 * NODES);
    for (int i = 0; i < 4; ++i) {
        move(i, 4);
        ck_ok(espl_destroy(w, chain[NODES - 1], ESPL_EXTENT_ENTITY));
        chain[NODES - 1] = test_solo(w);
        test_heap_arm(&test.heap, 1, true);
        ck_ok(espl_tape_frame(w));
        ck_assert_uint_eq(test.heap.failures, 0);
        test_heap_arm(&test.heap, 0, false);
        noted.logical[noted.count] = test_logical_hash(w);
        noted.physical[noted.count++] = test_physical_hash(w);
    }
    end();
}

TEST(a_first_frame_without_memory_has_the_logical_hash)
{
    bool is_done = false;
    size_t refused = 0;

    for (size_t fail = 1; !is_done; ++fail) {
        begin();
        ck_ok(espl_set_stretch(w, chain[1], (float[3]){1, 2, 3}));
        test_heap_arm(&test.heap, fail, true);
        end_recorded_frame(&noted, w, &tape);
        is_done = test.heap.failures == 0;
        test_heap_arm(&test.heap, 0, false);
        ck_assert_int_eq(frame_has_checksum(&tape), is_done);
        test_world_is_valid(w);
        move(1, 3);
        end_recorded_frame(&noted, w, &tape);
        ck_assert_int_eq(frame_has_checksum(&tape), is_done);
        ck_assert(is_done || frame_number_of(&tape) == test_logical_hash(w));
        refused += is_done ? 0 : 1;
        end();
    }
    ck_assert_uint_gt(refused, 10);
}

// --- What a replay finds ---

TEST(another_state_is_found_at_the_first_frame_that_has_it)
{
    replay_result result;

    begin();
    end_frame();
    const size_t at = tape.size;

    move(5, 3);
    end_frame();
    move(5, 4);
    end_frame();
    ck_assert_uint_eq(tape.bytes[at], ESPL_TAPE_WRITE);
    free(chain);
    test_world_end(&test);
    // The write has its last byte before the status: another position.
    tape.bytes[at + 10] ^= 1;
    ck_assert_int_eq(replay_run(&(replay_def){0}, tape.bytes, tape.size, &result),
                     REPLAY_DISAGREED);
    ck_assert_msg(strstr(result.fault.text, "frame 1 has another checksum: ") != NULL, "%s",
                  result.fault.text);
}

// A world that lacks memory in the replay has nothing to compare with.
TEST(a_replay_without_memory_says_so)
{
    replay_result result;
    replay_verdict verdict = REPLAY_DISAGREED;
    bool is_said = false;

    begin();
    end_frame();
    free(chain);
    test_world_end(&test);
    for (size_t memory = 4096; verdict != REPLAY_AGREED; memory += 256) {
        const replay_def def = {.memory = memory};

        verdict = replay_run(&def, tape.bytes, tape.size, &result);
        is_said |= strstr(result.fault.text, "frame 0 has no checksum: memory ran out") != NULL;
    }
    ck_assert(is_said);
}

// --- At random ---

TEST_LOOP(frames_have_the_checksum_of_random_worlds, 0, 4)
{
    uint64_t random = (uint64_t)_i + 1;

    begin();
    for (size_t round = 0; round < test_scaled_alone(60); ++round) {
        const espl_entity entity = chain[test_below(&random, NODES)];

        switch (test_below(&random, 6)) {
        case 0:
            (void)!espl_attach(w, entity, chain[test_below(&random, NODES)], NULL);
            break;
        case 1:
            (void)!espl_detach(w, entity, ESPL_KEEP_WORLD);
            break;
        case 2:
            (void)!espl_set_inherit(w, entity, (uint32_t)test_below(&random, 64));
            break;
        case 3:
            (void)espl_set_stretch(w, entity, (float[3]){1, (float)test_below(&random, 3), 1});
            break;
        case 4:
            if (!test_is_worn(round, 2 * NODES)) {
                ck_ok(espl_destroy(w, test_solo(w), ESPL_EXTENT_ENTITY));
            }
            break;
        default:
            move((int)test_below(&random, NODES), (float)test_below(&random, 9));
        }
        if (test_one_in(&random, 3)) {
            end_frame();
        }
    }
    end();
}
