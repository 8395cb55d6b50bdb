// SPDX-License-Identifier: MIT
// The part of a side that knows components: what its nodes are given, what is taken from them, and
// what queries answer.
#ifndef ESPALIER_TESTS_CHANGES_H
#define ESPALIER_TESTS_CHANGES_H

#include "tests/tape.h"

/// Handle of an operand of a call; one that is pending is what it became.
espl_entity side_handle(const test_side *side, const test_tape *tape, uint32_t operand);

/// Make room for handles. @return where they are now.
espl_entity *side_grown(espl_entity *handles, uint32_t *capacity, uint32_t wanted);

/// Register the components of the model, so that they have its numbers.
void side_register(espl_world *world);

enum { GIVEN_LIMIT = MODEL_COMPONENT_END + 2 };

/// Values in the form in which calls take them.
typedef struct side_values {
    espl_component_value values[GIVEN_LIMIT];
    size_t count;
    uint32_t tag;
    uint64_t load;
    side_kin kin;
    espl_transform placement;
} side_values;

/// Fill in the components of a set, but for those of `zeroed` with their values. The structure must
/// stay where it is.
void side_fill_values(const test_side *side, side_values *out, uint32_t set, uint32_t zeroed,
                      const model_values *values);

/// Carry out an operation that changes components. Sets refused and answered.
espl_status side_change(test_side *side, const test_tape *tape, const operation *operation);
/// Compare what it told besides its status with the model, which has followed.
void side_check_change(const test_side *side, const test_tape *tape, const operation *operation,
                       espl_status status);
/// Compare the components of a living node, and whether it is enabled.
void side_compare_components(const test_side *side, const test_tape *tape, uint32_t node);
/// Compare what a query answers.
void side_compare_query(test_side *side, const test_tape *tape, const model_query *query);

#endif
