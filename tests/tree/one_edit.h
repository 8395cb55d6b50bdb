// SPDX-License-Identifier: MIT
// The fixture of a suite in which each test has a forest and an edit of it: FIXTURE(set_up, tear_down).
#ifndef ESPALIER_TESTS_TREE_ONE_EDIT_H
#define ESPALIER_TESTS_TREE_ONE_EDIT_H

#include "tests/tree/edits.h"

static espl__edit edit;

static void set_up(void)
{
    fixture_begin(&fix);
    espl__edit_init(&edit, forest);
}

static void tear_down(void)
{
    espl__edit_free(&edit);
    fixture_end(&fix);
}

#endif
