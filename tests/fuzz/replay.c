// SPDX-License-Identifier: MIT
// Bytes of a tape file, read and played by the replay of espalier(1): whatever they are, they end in
// a replay that agrees or in a fault that says where, within the memory allowed, and the library
// finds nothing broken. Played once to the end, whatever differs, and once as espalier(1) does.
#include "tools/replay.h"

#include "tests/asserts.h"
#include "tests/fuzz/cuts.h"
#include "tests/fuzz/target.h"
#include "tests/script.h"
#include "tests/memory_tape.h"
#include "tests/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 9, MEMORY = 4 << 20, FRAME_OPERATIONS = 10 };

// --- Runs ---

static void play(const unsigned char *bytes, size_t size, bool goes_on)
{
    const replay_def def = {.memory = MEMORY, .goes_on = goes_on};
    replay_result result;
    const replay_verdict verdict = replay_run(&def, bytes, size, &result);

    if (fuzz_tells_steps) {
        printf("# %llu calls, %llu frames: %s\n", (unsigned long long)result.calls,
               (unsigned long long)result.frames, result.fault.text);
    }
    ck_assert_msg(!result.is_broken, "%s", result.fault.text);
    ck_assert_msg((verdict == REPLAY_AGREED) == (result.fault.text[0] == '\0'),
                  "a verdict of %d with the fault \"%s\"", (int)verdict, result.fault.text);
}

static void run(const unsigned char *bytes, size_t size)
{
    play(bytes, size, true);
    play(bytes, size, false);
}

// --- Tapes ---

static void record_operations(memory_tape *s, const fuzz_order *order)
{
    test_tape tape;
    test_side side;

    tape_begin(&tape, order->seed, order->population != 0 ? order->population : 8);
    tape_take_cells(&tape);
    test_world_record((espl_tape){s, memory_tape_append});
    side_begin(&side, &tape, 1, NULL);
    side.alien.generation |= 0x7fffff; // of no commands object: the tags there are are counted
    for (; tape.at < order->length && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);

        (void)side_run(&side, &tape, &op);
        (void)tape_apply(&tape, &op);
        side_map(&side, &tape, &op);
        if (tape.at % FRAME_OPERATIONS == 0) {
            ck_assert_int_eq(espl_tape_frame(side.world), ESPL_OK);
        }
    }
    side_end(&side);
    tape_end(&tape);
}

static void record_playbacks(memory_tape *s, const fuzz_order *order)
{
    enum { LANES = 3, FRAMES = 2, ENTITIES = 12 };

    test_world test;
    script_world w;
    espl_command_buffer *commands = NULL;

    test_world_record((espl_tape){s, memory_tape_append});
    test_world_begin(&test, TAG, NULL);
    script_world_begin(&w, test.world, script_population(ENTITIES), order->seed);
    ck_assert_int_eq(espl_command_buffer_create(test.world, LANES, &commands), ESPL_OK);
    for (uint64_t frame = 0; frame < FRAMES; ++frame) {
        const uint32_t lines = script_lines((uint32_t)order->length, ENTITIES);
        script lines_of = script_write(&w, order->seed + frame, lines, 0, order->seed % 3 == 0);
        script_recording r;

        script_record(&w, &r, commands, LANES, &lines_of, order->seed);
        ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
        script_disturb(&w, order->seed + frame);
        ck_assert_int_eq(espl_tape_frame(test.world), ESPL_OK);
        script_recording_free(&r);
        script_free(&lines_of);
        espl_command_buffer_reset(commands);
    }
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}

// A good tape; mostly one with wrong bytes where none of its length is asked for.
static fuzz_input make(const fuzz_order *order)
{
    fuzz_order whole = *order;
    uint64_t random = order->seed;
    memory_tape s = {NULL, 0, 0};

    whole.length = order->length != 0 ? order->length : 1 + test_below(&random, 16);
    if (test_one_in(&random, 2)) {
        record_operations(&s, &whole);
    } else {
        record_playbacks(&s, &whole);
    }
    cuts_retag(s.bytes, s.size, TAG);
    const size_t room = 2 * s.size;

    s.bytes = realloc(s.bytes, room);
    ck_assert_ptr_nonnull(s.bytes);
    for (uint32_t i = order->length == 0 ? test_below(&random, 4) : 0; i > 0; --i) {
        s.size = fuzz_replay.mutate(s.bytes, s.size, room, &random);
    }
    return (fuzz_input){s.bytes, s.size};
}

// --- Changes ---

static size_t part(const unsigned char *bytes, size_t size, size_t at)
{
    const size_t head = CUTS_HEAD_SIZE < size ? CUTS_HEAD_SIZE : size;
    const size_t length = at == 0 ? head : cuts_record(bytes, size, at);

    return length != 0 ? length : size - at;
}

// A record drawn at random, where the bytes can be cut at all.
static size_t find_record(const unsigned char *bytes, size_t size, uint64_t *random, size_t *length)
{
    size_t found = size, met = 0;

    *length = 0;
    for (size_t at = CUTS_HEAD_SIZE; at < size; at += part(bytes, size, at)) {
        met += 1;
        if (test_below(random, (uint32_t)met) == 0) {
            found = at;
        }
    }
    if (found < size) {
        *length = part(bytes, size, found);
    }
    return found;
}

// Put a copy of one record before another one.
static size_t copy_record(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    size_t length = 0, unused = 0;
    const size_t from = find_record(bytes, size, random, &length);
    const size_t to = find_record(bytes, size, random, &unused);

    if (length > room - size || length == 0) {
        return size;
    }
    unsigned char *const copy = malloc(length);

    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes + from, length);
    memmove(bytes + to + length, bytes + to, size - to);
    memcpy(bytes + to, copy, length);
    free(copy);
    return size + length;
}

static size_t drop_record(unsigned char *bytes, size_t size, uint64_t *random)
{
    size_t length = 0;
    const size_t at = find_record(bytes, size, random, &length);

    memmove(bytes + at, bytes + at + length, size - at - length);
    return size - length;
}

// Bytes, numbers and handles within one record: other ones, or such as stand somewhere else.
static void change_record(unsigned char *bytes, size_t size, uint64_t *random)
{
    static const unsigned char edges[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    size_t length = 0;
    const size_t at = find_record(bytes, size, random, &length);
    const size_t place = at + test_below(random, (uint32_t)length);
    const size_t left = at + length - place;

    if (length == 0) {
        return;
    }
    if (test_one_in(random, 3)) {
        const size_t most = left < 8 ? left : test_one_in(random, 2) ? 4 : 8;
        const size_t width = most < left ? most : left;
        const size_t from = test_below(random, (uint32_t)(size - width));

        memmove(bytes + place, bytes + from, width);
    } else if (test_one_in(random, 2)) {
        bytes[place] = edges[test_below(random, sizeof edges)];
    } else {
        bytes[place] = (unsigned char)(bytes[place] + (test_one_in(random, 2) ? 1 : -1));
    }
}

// What every tape of this build begins with, so that most inputs come past it.
static void mend_head(unsigned char *bytes)
{
    const uint32_t order = 0x01020304;

    memcpy(bytes, "espltape", 8);
    memset(bytes + 8, 0, CUTS_HEAD_SIZE - 8);
    bytes[8] = ESPL_TAPE_VERSION;
    bytes[12] = TAG;
    memcpy(bytes + 16, &order, sizeof order);
}

static size_t mutate(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    if (room < CUTS_HEAD_SIZE + 1) {
        return size;
    }
    if (size <= CUTS_HEAD_SIZE) {
        memset(bytes + size, ESPL_TAPE_COMPACT, CUTS_HEAD_SIZE + 1 - size);
        size = CUTS_HEAD_SIZE + 1;
        mend_head(bytes);
    }
    for (uint32_t i = 1 + test_below(random, 4); i > 0 && size > CUTS_HEAD_SIZE; --i) {
        const uint32_t kind = test_below(random, 8);

        if (kind < 2) {
            size = copy_record(bytes, size, room, random);
        } else if (kind < 3) {
            size = drop_record(bytes, size, random);
        } else {
            change_record(bytes, size, random);
        }
    }
    if (!test_one_in(random, 32)) {
        mend_head(bytes);
    } else {
        bytes[test_below(random, CUTS_HEAD_SIZE)] ^= (unsigned char)(1u << test_below(random, 8));
    }
    return size;
}

const fuzz_target fuzz_replay = {.name = "replay",
                                 .what = "bytes of a tape are refused or played within bounds",
                                 .usual = 6000,
                                 .make = make,
                                 .run = run,
                                 .mutate = mutate,
                                 .part = part};
