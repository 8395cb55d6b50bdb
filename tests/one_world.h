// SPDX-License-Identifier: MIT
// The fixture of a suite in which each test has a new world: FIXTURE(set_up, tear_down).
#ifndef ESPALIER_TESTS_ONE_WORLD_H
#define ESPALIER_TESTS_ONE_WORLD_H

#include "tests/runner.h"
#include "tests/support.h"

static test_world test;
static espl_world *w; // test.world

static void set_up(void)
{
    test_world_begin(&test, 1, NULL);
    w = test.world;
}

static void tear_down(void)
{
    test_world_end(&test);
}

#endif
