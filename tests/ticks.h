// SPDX-License-Identifier: MIT
// Motion and a watch beside the other work of a suite: worlds that are equal take the same steps, and say
// the same of them.
#ifndef ESPALIER_TESTS_TICKS_H
#define ESPALIER_TESTS_TICKS_H

#include "tests/support.h"

#include <espalier/motion.h>
#include <espalier/watch.h>

/// A world with motion, or without.
typedef struct test_ticks {
    espl_world *world;
    espl_watch *watch; // NULL: without motion
} test_ticks;

/// Start motion and watch what is shown where a seed is odd. Else steps do nothing.
void test_ticks_begin(test_ticks *ticks, espl_world *world, uint64_t seed);
/// Take some steps: a tick begins or ends, the world is presented, the watch is collected.
/// @param drawn  which steps, and at what time.
/// @return hash of all that they report, of the shown transforms too.
uint64_t test_ticks_step(const test_ticks *ticks, uint64_t drawn);
/// Stop motion and destroy the watch.
void test_ticks_end(test_ticks *ticks);

/// Hash of the shown transforms of all entities, by their indices.
uint64_t test_shown_hash(espl_world *world);
/// Hash of all that a collect reports.
uint64_t test_changes_hash(const espl_changes *changes);

#endif
