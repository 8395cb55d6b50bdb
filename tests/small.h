// SPDX-License-Identifier: MIT
// One small world, its model, and a second world that gets by immediate calls what the first one
// plays, for many short cases, each of which begins without entities.
#ifndef ESPALIER_TESTS_SMALL_H
#define ESPALIER_TESTS_SMALL_H

#include "tests/tape.h"

enum { SMALL_LANES = 4 };

typedef struct small {
    test_tape tape;
    test_side side, twin;
    size_t cases;
    size_t made; // entities that a world saw
} small;

void small_begin(small *s);
void small_end(small *s);
/// Carry an operation out at once in both worlds and on the model, and compare the statuses.
espl_status small_run(small *s, const operation *op);
/// Add one entity with a placement, under a parent or MODEL_NONE. @return its node.
uint32_t small_add(small *s, uint32_t parent, espl_link link);
/// Record operations in their lanes and play them; carry them out at once in the twin and on the
/// model, in the order of playback; and compare results, the account, payloads and worlds. The
/// first entity made by ops[i] is pending TAPE_PENDING + those made by the operations recorded
/// before it.
void small_play(small *s, operation *ops, uint32_t count);
/// Destroy everything, compare, and start again with node 0. Counts a case.
void small_clear(small *s);

#endif
