// SPDX-License-Identifier: MIT
// Motion, presents and watches in tapes: operations of their own, flags of writes, and the comparison of
// what two sides keep of the past.
#ifndef ESPALIER_TESTS_STEPS_H
#define ESPALIER_TESTS_STEPS_H

#include "tests/tape.h"

/// Tell whether the record at hand makes a step.
bool tape_takes_step(const test_tape *tape);
operation pick_step(const test_tape *tape);
/// Add a flag to a kind of write, or make it one of a previous pose, as the record at hand says; mostly
/// neither. @param entry  number of a write of the operation.
espl_write_kind pick_flagged(const test_tape *tape, espl_write_kind kind, uint32_t entry);
model_answer model_step(test_model *model, const operation *operation);
espl_status side_step(test_side *side, const test_tape *tape, const operation *operation);
/// Demand that both keep the same past and, where both present, show the same.
void side_compare_past(const test_side *a, const test_side *b, const test_tape *tape);

#endif
