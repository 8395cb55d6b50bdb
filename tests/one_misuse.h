// SPDX-License-Identifier: MIT
// The fixture of a suite in which each test has a new world of misuse.h: FIXTURE(set_up, tear_down).
#ifndef ESPALIER_TESTS_ONE_MISUSE_H
#define ESPALIER_TESTS_ONE_MISUSE_H

#include "tests/misuse.h"
#include "tests/runner.h"

static misuse s;
static uint64_t untouched; // physical hash of the world as it was made

static void set_up(void)
{
    misuse_begin(&s, NULL);
    untouched = test_physical_hash(s.world);
}

static void tear_down(void)
{
    misuse_end(&s);
}

#endif
