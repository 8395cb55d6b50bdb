// SPDX-License-Identifier: MIT
// Both hashes of a world at each frame of its tape, which a replay has at the same frame. The tape has a
// checksum, which does not cover world transforms.
#ifndef ESPALIER_TESTS_TOOLS_RECORDED_FRAMES_H
#define ESPALIER_TESTS_TOOLS_RECORDED_FRAMES_H

#include "tests/memory_tape.h"
#include "tests/support.h"
#include "tools/replay.h"

/// The record of a frame: an operation, a number of 4 bytes, one of 8, and the status.
enum { FRAME_RECORD = 14, FRAME_KIND = 1, FRAME_NUMBER = 5, FRAMES_NOTED = 8192 };

typedef struct recorded_frames {
    uint64_t logical[FRAMES_NOTED], physical[FRAMES_NOTED]; // [count] 0: memory ran out before
    size_t count;
} recorded_frames;

/// Tell whether the last record of a tape is a frame with a checksum, not with the logical hash.
static inline bool frame_has_checksum(const memory_tape *tape)
{
    const unsigned char *const record = tape->bytes + tape->size - FRAME_RECORD;

    ck_assert_uint_eq(record[0], ESPL_TAPE_FRAME);
    ck_assert_uint_le(record[FRAME_KIND], 1);
    return record[FRAME_KIND] == 0;
}

/// Return the number in the last record of a tape, which is a frame.
static inline uint64_t frame_number_of(const memory_tape *tape)
{
    const unsigned char *const bytes = tape->bytes + tape->size - FRAME_RECORD + FRAME_NUMBER;
    uint64_t number = 0;

    for (int i = 8; i-- > 0;) {
        number = number << 8 | bytes[i];
    }
    return number;
}

/// End a frame of a world that writes to a tape.
static inline void end_recorded_frame(recorded_frames *frames, espl_world *world,
                                      const memory_tape *tape)
{
    const uint64_t physical = test_physical_hash(world);

    ck_assert_uint_lt(frames->count, FRAMES_NOTED);
    ck_ok(espl_tape_frame(world));
    ck_assert_uint_eq(test_physical_hash(world), physical);
    frames->logical[frames->count] = test_logical_hash(world);
    frames->physical[frames->count] = frame_has_checksum(tape) ? physical : 0;
    frames->count += 1;
}

/// Play a tape, and compare both hashes at each frame.
static inline replay_verdict replay_frames(const recorded_frames *frames, const replay_def *def,
                                           const memory_tape *tape, replay_result *result)
{
    replay p;

    replay_begin(&p, def, tape->bytes, tape->size, result);
    while (replay_step(&p)) {
        const size_t at = (size_t)result->frames - 1;

        if (p.op == ESPL_TAPE_FRAME && p.reel.state == REEL_GOOD) {
            ck_assert_uint_lt(at, frames->count);
            ck_assert_uint_eq(test_logical_hash(p.world), frames->logical[at]);
            ck_assert(frames->physical[at] == 0 ||
                      test_physical_hash(p.world) == frames->physical[at]);
        }
    }
    return replay_end(&p);
}

/// Demand that a tape replays to both hashes at each of so many frames.
static inline void demand_frames(const recorded_frames *frames, const replay_def *def,
                                 const memory_tape *tape, uint64_t count)
{
    replay_result result;

    ck_assert_msg(replay_frames(frames, def, tape, &result) == REPLAY_AGREED, "%s",
                  result.fault.text);
    ck_assert_uint_eq(result.frames, count);
}

#endif
