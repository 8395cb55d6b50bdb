// SPDX-License-Identifier: MIT
// Makes a failing input as small as possible, and writes a test of it.
#ifndef ESPALIER_TESTS_FUZZ_SHRINK_H
#define ESPALIER_TESTS_FUZZ_SHRINK_H

#include "tests/fuzz/trial.h"

#include <stdio.h>

/// What became of it.
typedef struct shrunken {
    fuzz_input input; // the caller frees its bytes
    trial failure;    // TRIAL_PASSED: it does not fail
    size_t parts;     // without the head
    size_t tries;     // processes
} shrunken;

/// Drop parts in halves, quarters, and so on to one by one, and make the bytes of the rest plain,
/// for as long as it fails in the same way.
shrunken shrink(const fuzz_target *target, const unsigned char *bytes, size_t size);
/// Write a suite of Check that runs the input.
void shrink_write_test(FILE *file, const fuzz_target *target, const shrunken *s);

#endif
