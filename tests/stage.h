// SPDX-License-Identifier: MIT
// One tape recorded batch by batch: carried out immediately in one world, played in others, and
// applied to the model. All give the same status for each command; the played worlds have the same
// handles, rows and slots.
#ifndef ESPALIER_TESTS_STAGE_H
#define ESPALIER_TESTS_STAGE_H

#include "tests/tape.h"

enum { BATCH_LIMIT = 4096, PLAYED_LIMIT = 4 };

typedef struct test_batch {
    operation operations[BATCH_LIMIT];
    uint32_t order[BATCH_LIMIT]; // of playback
    uint32_t index[BATCH_LIMIT]; // in the lane
    espl_status recorded[BATCH_LIMIT];
    espl_status at_once[BATCH_LIMIT];
    model_answer answer[BATCH_LIMIT];
    uint32_t count;
} test_batch;

/// What the account of a playback must be.
typedef struct expected {
    size_t accepted, applied, refused, lossy, created, destroyed, calls, pendings;
    size_t born;       // created, also what died again
    size_t overflowed; // worlds that were finite or not there before, and are not finite now
    bool may_overflow; // worlds did, at least in between
    bool is_whole;     // the world had indices for all
} expected;

typedef struct stage {
    test_tape tape;
    test_side at_once;
    test_side played[PLAYED_LIMIT];
    size_t played_count;
    test_batch batch;
    size_t commands; // recorded so far
    char driver[48]; // for the tape
} stage;

/// @param executors  [count] one for each played world.
stage *stage_begin(uint64_t seed, uint32_t population, const espl_executor *executors,
                   size_t count);
void stage_end(stage *s);
/// Fit batches of some size to what a world of this build holds: smaller ones, or such that make
/// nothing. @return how large they may be.
uint32_t stage_fit(stage *s, uint32_t limit);

/// Say in failures how to run the tape again, where it is in batches of 1 to `limit`, the number of
/// each drawn from the tape's seed before its operations.
void stage_tell_driver(stage *s, uint32_t limit);

/// Make one batch, carry it out in all worlds, compare everything and validate.
/// @return false where a world had too few indices, so that they are no longer in step.
bool stage_step(stage *s, uint32_t count);

// The parts of a step, for tests that play otherwise.

/// Seed the worlds where few live, make a batch, and record it for all played worlds.
void stage_record(stage *s, uint32_t count);
/// Carry the batch out at once and on the model, to the end or to where the world lacks indices.
expected stage_run(stage *s);
/// Play it in one world. @return whether it was done and goes on.
bool stage_play(stage *s, test_side *side, const expected *wanted, espl_report *report);
/// Compare results, account, payloads and world with the model, and reset the commands.
/// @param report  NULL: the account is not compared.
void stage_compare(stage *s, test_side *side, const expected *wanted, const espl_report *report);

#endif
