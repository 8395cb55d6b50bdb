// SPDX-License-Identifier: MIT
// Random immediate operations, good and bad: the library against the model, bit for bit.
#include "tests/runner.h"
#include "tests/world/seeded.h"

// Returns how many operations it was: each entry of a batch is one.
static size_t step(test_tape *tape, test_side *side)
{
    const operation op = tape_next(tape);
    const espl_status status = side_run(side, tape, &op);
    side_follow(side, tape, &op, status);
    if (op.code == OP_BATCH) {
        for (uint32_t i = 0; i < op.count; ++i) {
            compare_touched(side, tape, tape->entries[i].node);
        }
        return op.count;
    }
    if (op.code != OP_CREATE) {
        compare_touched(side, tape, op.entity);
    }
    return 1;
}

static const manner any = {step, false};

TEST(c11_c19_c20_a_world_of_a_few_entities_follows_the_model)
{
    run_seeds((seed_range){1, 640}, 5, 3000, any, 2500000);
}

TEST(b10_b11_b13_b15_a_small_world_follows_the_model)
{
    run_seeds((seed_range){2, 550}, 24, 4700, any, 3500000);
}

TEST(h1_h2_h3_h4_h6_h7_a_world_of_hundreds_follows_the_model)
{
    run_seeds((seed_range){3, 320}, 200, 8400, any, 4000000);
}

TEST(k4_a_world_of_thousands_follows_the_model)
{
    run_seeds((seed_range){4, 140}, 3000, 10800, any, 3500000);
}
