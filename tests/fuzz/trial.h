// SPDX-License-Identifier: MIT
// Runs each input in a process of its own, so that the parent process can report a crash.
#ifndef ESPALIER_TESTS_FUZZ_TRIAL_H
#define ESPALIER_TESTS_FUZZ_TRIAL_H

#include "tests/fuzz/target.h"

typedef enum trial_end { TRIAL_PASSED, TRIAL_CHECK, TRIAL_SIGNAL, TRIAL_EXIT } trial_end;

/// How a process ended.
typedef struct trial {
    trial_end end;
    int number;      // line of a check, a signal, or a status
    char file[256];  // of a check
    char text[1024]; // what a check said
    uint64_t done;   // inputs that were run to their end
} trial;

/// What a process does: run inputs, with trial_begin_input() before each, and add to `done` with each. Failed checks
/// end it.
typedef void trial_work(void *context, volatile uint64_t *done);
/// Give the next input its time: one that takes longer ends by SIGALRM.
void trial_begin_input(void);

/// Do some work in a child process and wait for its end. @param is_quiet  Its output is dropped.
trial trial_run(trial_work *work, void *context, bool is_quiet);
/// Run one input so.
trial trial_of(const fuzz_target *target, const unsigned char *bytes, size_t size, bool is_quiet);
/// Tell whether two failures are the same: a check of the same line, the same signal, the same
/// status.
bool trial_is_same(const trial *a, const trial *b);
/// Write how it ended, in a line.
void trial_describe(const trial *t, char *text, size_t size);

#endif
