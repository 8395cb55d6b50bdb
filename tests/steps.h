// SPDX-License-Identifier: MIT
// Motion, presents, watches, renderables, counterparts and cells in tapes: operations of their own, flags of
// writes, and the comparison of what two sides keep of the past. Each family of steps is in the tapes of some
// seeds.
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
/// Tell whether a step destroys entities.
bool step_destroys(const operation *operation);

// --- steps_renderables.c ---

/// Register the components of renderables in a new world.
void side_register_looks(espl_world *world);
void pick_renderable_step(const test_tape *tape, uint64_t *random, operation *out);
model_answer model_dress(test_model *model, const operation *operation);
espl_status side_dress(test_side *side, const test_tape *tape, const operation *operation);
/// Update the side's renderables, which are made by the first update, and demand that the mirror and what
/// cameras see of it are what the model says.
espl_status side_update(test_side *side, const test_tape *tape, const operation *operation);
void side_end_renderables(test_side *side);
/// Compare the components of renderables of a living node.
void side_compare_looks(const test_side *side, const test_tape *tape, uint32_t node);

// --- steps_cells.c ---

void pick_place_step(const test_tape *tape, uint64_t *random, operation *out);
/// Make a kind of write one of a cell or of an absolute position, where the tape has these.
espl_write_kind pick_place_kind(const test_tape *tape, espl_write_kind kind, uint64_t *random);
/// Draw the value of such a kind.
espl_write_value place_value(float cell_size, espl_write_kind kind, uint64_t random);
/// Make a write one of a cell or of an absolute position, now and then and in a world with cells.
void place_sometimes(const espl_world *world, espl_write *write, uint64_t *random);
espl_status side_move(const test_side *side, const operation *operation);
espl_status side_recenter(const test_side *side, const test_tape *tape, const operation *operation);
/// Compare the cell and the absolute position of a living node.
void side_compare_cell(const test_side *side, const test_tape *tape, uint32_t node);

// --- steps_counterparts.c ---

void pick_original_step(const test_tape *tape, uint64_t *random, operation *out);
model_answer model_set_original(test_model *model, const operation *operation);
model_answer model_follow(test_model *model, const operation *operation);
espl_status side_set_original(const test_side *side, const test_tape *tape,
                              const operation *operation);
espl_status side_follow_changes(test_side *side, const test_tape *tape, const operation *operation);
/// Compare the original of a living node.
void side_compare_original(const test_side *side, const test_tape *tape, uint32_t node);
/// Compare which nodes originals have, and how many.
void side_compare_originals(const test_side *side, const test_tape *tape);

// --- Both ---

/// Pick an operand: mostly a living node.
uint32_t pick_operand_aside(const test_tape *tape, uint64_t *random);
/// Demand that both keep the same past and, where both present, show the same.
void side_compare_past(const test_side *a, const test_side *b, const test_tape *tape);

#endif
