// SPDX-License-Identifier: MIT
// Random immediate structural operations, good and bad: the library against the model, bit for bit.
#include "tests/runner.h"
#include "tests/world/seeded.h"

// Counts what is structural alone, and looks at all that shows of what was touched.
static size_t step_structure(test_tape *tape, test_side *side)
{
    const operation op = tape_next(tape);
    const espl_status status = side_run(side, tape, &op);
    side_follow(side, tape, &op, status);
    if (op.code != OP_CREATE) {
        compare_touched(side, tape, op.entity);
    }
    return tape_is_structural(op.code);
}

static const manner structural = {step_structure, true};

TEST(a_handful_of_entities_under_structural_operations_follows_the_model)
{
    run_seeds((seed_range){5, 440}, 4, 8000, structural, 2500000);
}

TEST(a_dozen_entities_under_structural_operations_follow_the_model)
{
    run_seeds((seed_range){6, 550}, 12, 10000, structural, 4000000);
}

TEST(a_few_dozen_entities_under_structural_operations_follow_the_model)
{
    run_seeds((seed_range){7, 470}, 40, 10000, structural, 3500000);
}
