// SPDX-License-Identifier: MIT
// Parts of a side that its sources share: components that are added and removed, creations, custom
// commands, recording, and answers of queries.
#ifndef ESPALIER_TESTS_CHANGES_H
#define ESPALIER_TESTS_CHANGES_H

#include "tests/tape.h"

/// Handle of an operand of a call; one that is pending is what it became.
espl_entity side_handle(const test_side *side, const test_tape *tape, uint32_t operand);

/// Make room for handles. @return where they are now.
espl_entity *side_grown(espl_entity *handles, uint32_t *capacity, uint32_t wanted);

/// Handle of an operand that is not pending.
espl_entity side_plain_handle(const test_side *side, uint32_t operand);
/// Handle of an operand for a recorder: pending stays pending.
espl_entity side_recorded_handle(const test_side *side, uint32_t operand);

/// Register the components of the model, so that they have its numbers.
void side_register(espl_world *world);
/// Register the callbacks that write down what they are handed.
void side_register_callbacks(test_side *side);

// --- many.c ---

enum { SIDE_NAME_ROOM = ESPL_NAME_LIMIT + 2 };

/// The text of a name by its number; 0 is "".
const char *side_name_of(uint32_t name, char room[SIDE_NAME_ROOM]);
espl_status side_set_name(const test_side *side, const test_tape *tape, const operation *operation);
/// Attach or destroy the tape's named nodes. Sets refused.
espl_status side_do_many(test_side *side, const test_tape *tape, const operation *operation);
/// Compare what it told besides its status with the model, which has followed.
void side_check_many(const test_side *side, const test_tape *tape);
void side_compare_name(const test_side *side, const test_tape *tape, uint32_t node);
void side_compare_path(const test_side *side, const test_tape *tape, uint32_t node);
/// Compare what is found below a node by a name, or by a name and that of the parent.
/// @param above  0: by the name alone.
void side_compare_finds(const test_side *side, const test_tape *tape, uint32_t top, uint32_t above,
                        uint32_t name);

// ---

enum { GIVEN_LIMIT = MODEL_COMPONENT_END + MODEL_BULK_COUNT + 2 };

/// Values in the form in which calls take them.
typedef struct side_values {
    espl_component_value values[GIVEN_LIMIT];
    size_t count;
    uint32_t tag;
    uint64_t load;
    side_peer peer;
    espl_transform placement;
} side_values;

/// Fill in the components of a set, but for those of `zeroed` with their values. The structure must
/// stay where it is.
void side_fill_values(const test_side *side, side_values *out, uint32_t set, uint32_t zeroed,
                      const model_values *values);

/// Give a new entity its tag, and the components that its operation names.
espl_status side_give(const test_side *side, espl_entity entity, const operation *operation);
/// Carry out an operation that changes components. Sets refused and answered.
espl_status side_change(test_side *side, const test_tape *tape, const operation *operation);
/// Record it.
espl_status side_record_change(const test_side *side, espl_recorder *recorder,
                               const operation *operation);
espl_status side_set(const test_side *side, const test_tape *tape, const operation *operation);
espl_status side_record_set(const test_side *side, espl_recorder *recorder,
                            const operation *operation);
/// Make what a creation asks for by single calls: create, set, attach. Sets fresh.
espl_status side_make(test_side *side, const test_tape *tape, const operation *operation);
/// @param pending  [operation->count]
espl_status side_record_creation(const test_side *side, espl_recorder *recorder,
                                 const operation *operation, espl_entity *pending);
/// Record values for clones of an instance. @param pending  [operation->count]
espl_status side_record_instance(const test_side *side, espl_recorder *recorder,
                                 const operation *operation, espl_instance_def def,
                                 espl_entity *pending);
/// Instantiate at once, with values, into side->fresh.
espl_status side_instantiate(test_side *side, const operation *operation, espl_instance_def def);
/// What an instance says, but for its values.
espl_instance_def side_instance_of(const operation *operation, espl_entity source,
                                   espl_entity parent, espl_entity before);
espl_status side_record_call(const test_side *side, espl_recorder *recorder,
                             const operation *operation);
/// Compare what it told besides its status with the model, which has followed.
void side_check_change(const test_side *side, const test_tape *tape, const operation *operation,
                       espl_status status);
/// Compare the components of a living node, and whether it is enabled.
void side_compare_components(const test_side *side, const test_tape *tape, uint32_t node);
/// Learn in side->nodes which node each index of a living handle is.
void side_index_nodes(test_side *side, const test_model *model);
/// Compare what a query answers.
void side_compare_query(test_side *side, const test_tape *tape, const model_query *query);

#endif
