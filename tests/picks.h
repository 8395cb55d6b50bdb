// SPDX-License-Identifier: MIT
// Arguments of the operations of a tape: operands, values, flags, and the entries of batches, good
// and bad, drawn from the tape's random numbers by its style.
#ifndef ESPALIER_TESTS_PICKS_H
#define ESPALIER_TESTS_PICKS_H

#include "tests/tape.h"

/// Draw a code by its weight.
opcode pick_code(test_tape *tape);
bool pick_is_destroy(opcode code);
/// Make an operation of a code, but for one that is recorded only.
operation pick_operation(test_tape *tape, opcode code);
/// What an instance needs besides its source.
void pick_instance(test_tape *tape, operation *op);

/// A living node, or now and then an operand that names none.
uint32_t pick_any(test_tape *tape);
/// A living node; MODEL_DEAD where there is none.
uint32_t pick_living(test_tape *tape);
uint32_t pick_parent(test_tape *tape);
uint32_t pick_before(test_tape *tape, uint32_t parent);
bool is_living_node(const test_tape *tape, uint32_t operand);

espl_keep pick_stay(test_tape *tape);
/// Inherit flags, 0 more often than not.
uint32_t pick_flags(test_tape *tape);
/// A whole placement; now and then the one that the node has, or one that no node may have.
espl_transform pick_value(test_tape *tape, uint32_t node, bool is_world);
espl_write_kind pick_kind(test_tape *tape);
espl_write_value pick_data(test_tape *tape, uint32_t node, espl_write_kind kind);
/// Where to look from a node, or what to turn it about, and which way is up.
void pick_point(test_tape *tape, operation *op);
/// Entries of a batch. Sets count and form.
void pick_entries(test_tape *tape, operation *op);

// --- many.c ---

/// What a name, and an operation on many nodes, needs.
void pick_many(test_tape *tape, operation *op);

// --- choices.c ---

/// Set of components for a style; may be none.
uint32_t pick_components(uint64_t *random);
/// Components and their values for an instance.
void pick_given(test_tape *tape, operation *op);
/// What an operation needs that is recorded only, besides its operands.
void pick_recorded(test_tape *tape, operation *op);
/// What an operation on siblings or components needs besides its entity.
void pick_change_of(test_tape *tape, operation *op);
/// A question that some answer, more often than not.
model_query pick_query(uint64_t *random);

#endif
