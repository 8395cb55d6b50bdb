// SPDX-License-Identifier: MIT
// The fixture of a suite in which each test has a new world with one tree, or a few:
// FIXTURE(set_up, end). A test makes the entities by make_chain() or the like; end() frees the list.
#ifndef ESPALIER_TESTS_ONE_TREE_H
#define ESPALIER_TESTS_ONE_TREE_H

#include "tests/fixture.h"
#include "tests/one_world.h"

#include <stdlib.h>

static espl_entity *node;

static void end(void)
{
    free(node);
    node = NULL;
    tear_down();
}

#endif
