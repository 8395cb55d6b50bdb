// SPDX-License-Identifier: MIT
// Parts of the model that its sources share: parents and children, and the effect of writes on
// transforms.
#ifndef ESPALIER_TESTS_PLACING_H
#define ESPALIER_TESTS_PLACING_H

#include "tests/model.h"

// --- model.c ---

bool model_are_options(const espl_attach_options *options);

// --- peer.c ---

uint32_t model_add(test_model *model);
void model_kill(test_model *model, uint32_t node);
/// Take back the last node that was made: its number is used again. It has no links.
void model_take_back(test_model *model);
void model_unlink(test_model *model, uint32_t node);
void model_link(test_model *model, uint32_t node, uint32_t parent, uint32_t before);

// --- rebasing.c ---

/// Tell whether a node is placed by what stands above: it has no placement, or its parent's.
bool model_follows(const model_node *node);
/// Keep a node where it is under a parent's world to come (NULL: as a root); one that follows has
/// nothing to keep, but those below it have.
void model_rebase(test_model *model, uint32_t top, const espl_transform *above);
/// Local that keeps a node's world without a parent, or is as near as it can be.
espl_transform model_root_local(test_model *model, uint32_t node);
/// Give a node a placement and keep what hangs below where it is. The value is normalised.
void model_give_placement(test_model *model, uint32_t node, const espl_transform *local);
/// Take it away again.
void model_take_placement(test_model *model, uint32_t node);

// --- cloning.c ---

/// Collect what a clone of a node is made of in `doomed`, parents first. @return how many.
uint32_t model_collect_closure(const test_model *model, uint32_t source);

// --- components.c ---

/// Give components with their values.
void model_set_values(model_node *node, uint32_t set, const model_values *values);
/// The same, those of `zeroed` with zeros.
void model_give_values(model_node *node, uint32_t set, uint32_t zeroed, const model_values *values);
/// Why a call with a flaw is refused.
model_answer model_flaw_faults(model_flaw flaw);
/// Why so many components cannot be named at once, or why an entity cannot have a set, its role
/// among it.
model_answer model_limit_faults(uint32_t set);

// --- model.c ---

/// Why an operand is refused; 0 for a living node.
model_answer model_fault_of(const test_model *model, uint32_t node);
/// The same of a sibling to stand before.
model_answer model_before_faults(const test_model *model, uint32_t before, uint32_t parent);

// --- model_cells.c ---

/// What is added to coordinates of one cell, so that they are those of another one.
typedef struct model_shift {
    double by[3];
    bool is_any, is_far;
} model_shift;

model_shift model_shift_of(const test_model *model, model_cell from, model_cell to);
/// From the cell of a node to that of another one; none to no node, and without cells.
model_shift model_shift_between(const test_model *model, uint32_t node, uint32_t other);
void model_shift_position(float position[3], const model_shift *shift);
/// Shift the coordinates that the nodes below one keep.
void model_shift_below(test_model *model, uint32_t top, const model_shift *shift);
/// Shift the worlds of a node and of all below it.
void model_shift_worlds(test_model *model, uint32_t top, const model_shift *shift);
/// Give a root another cell, and shift what its hierarchy stores, so that it stays where it is. Its worlds are
/// those of the old cell until they are computed.
void model_change_cell(test_model *model, uint32_t root, model_cell cell);
/// Tell whether a kind writes a cell or an absolute position.
bool model_is_of_cell(espl_write_kind kind);
/// Faults of such a write besides those of its operand.
model_answer model_cell_faults(const test_model *model, uint32_t node, espl_write_kind kind,
                               const espl_write_value *value);
/// Give a root the cell that such a write leads to, and shift what is stored.
/// @param position  out: what a write of ESPL_WRITE_WORLD_POSITION finishes ESPL_WRITE_ABSOLUTE_POSITION with.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE.
espl_status model_begin_cell_write(test_model *model, uint32_t node, espl_write_kind kind,
                                   const espl_write_value *value, espl_transform *position);

// --- paths.c ---

/// Compute the pose of a node relative to a frame from the locals between both and their nearest common
/// ancestor, which is at most `limit` links above each. Other fields of `out` stay.
/// @return false: there is no such ancestor, or a part is kept or lost on the way.
bool model_path(const test_model *model, uint32_t frame, uint32_t node, uint32_t limit,
                espl_transform *out);

// --- placing.c ---

/// Parts of a pose. Kept and local values are taken part by part.
enum { MODEL_POSITION = 1, MODEL_ROTATION = 2, MODEL_SCALE = 4, MODEL_POSE = 7 };

/// A placed node under its parent's world while something happens to it.
typedef struct model_placed {
    const espl_transform *above; // NULL: none
    model_state state;
    espl_transform world; // its own
} model_placed;

model_placed model_placed_of(const test_model *model, uint32_t node);
model_state model_identity(uint32_t flags);
/// Tell whether all that a pose says is finite.
bool model_is_finite(const espl_transform *transform);
/// Tell whether inherit flags are a byte that means something.
bool model_are_flags(uint32_t flags);

void model_copy_parts(espl_transform *to, const espl_transform *from, unsigned parts);
/// Keep parts of a world placement, those that the flags name.
void model_keep_parts(model_state *state, const espl_transform *world, unsigned parts);
/// What a state makes of parts of a world that were asked for. @return ESPL_OK; ESPL_LOSSY: a part is
/// another one by more than rounding; ESPL_ERR_RANGE: the state, or a part, is not finite.
espl_status model_judge(const espl_transform *above, const model_state *state,
                        const espl_transform *asked, unsigned parts);
/// World of a node with a state.
espl_transform model_world_of(const espl_transform *above, bool has_placement,
                              const model_state *state);
/// Local of a placed node as it is read.
espl_transform model_seen(const model_placed *placed);
/// The world as a local of its own: a rotation off unit length is normalised when it is written.
espl_transform model_unit_world(const model_node *node);

/// Change the flags of a placed member.
void model_reflag(model_placed *placed, uint32_t flags);
/// Carry a write out whose value is checked. @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE; whether its state
/// may be stored is asked apart.
espl_status model_carry_out(model_placed *placed, espl_write_kind kind,
                            const espl_transform *value);
/// Tell whether a write sets a previous pose, which is not the model's.
bool model_is_of_past(espl_write_kind kind);
/// Faults of a write that show before it is carried out, and its value as model_carry_out() has it.
model_answer model_write_faults(const test_model *model, uint32_t node, espl_write_kind kind,
                                const espl_write_value *value, espl_transform *out);

/// Compute into `trial` what the worlds become when the node's own becomes `world`.
/// @return whether all of them are finite.
bool model_try(test_model *model, uint32_t top, const espl_transform *world);
/// Make the trial worlds the worlds, and note in model.overflow whether they are finite.
void model_keep_trial(test_model *model, uint32_t top);
/// Tell whether a state may be stored: its local and the parts that it keeps are finite.
bool model_is_storable(const model_state *state);
/// Give a node a state under a parent, which may be one to come. Its world may overflow.
/// @return false, and nothing changed, where the state may not be stored.
bool model_place(test_model *model, uint32_t node, uint32_t parent, const model_state *state);

#endif
