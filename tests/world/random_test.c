// SPDX-License-Identifier: MIT
// Random operations, good and bad, at once: the library against the model, bit for bit.
// ESPL_SEED runs one seed, ESPL_OPERATIONS sets how many steps each run takes.
#include "tests/runner.h"
#include "tests/tape.h"

// Everything is compared every so often, so that the share of a node stays the same.
static size_t interval_of(const test_tape *tape)
{
    return tape->style.population <= 12 ? 2 : tape->style.population / 3;
}

static void compare_touched(const test_side *side, const test_tape *tape, uint32_t operand)
{
    const uint32_t node = tape_node(tape, operand);

    if (node < tape->model.count && tape->model.nodes[node].is_alive) {
        side_compare_node(side, tape, node);
    }
}

// Returns how many operations it was: each entry of a batch is one.
static size_t step(test_tape *tape, test_side *side)
{
    const operation op = tape_next(tape);
    tape->code = op.code;

    const espl_status status = side_run(side, tape, &op);
    const model_answer answer = tape_apply(tape, &op);
    side_check(side, tape, &op, status, answer);
    side_map(side, tape, &op);

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

// As step(); counts what is structural alone, and looks at all that shows of what was touched.
static size_t step_structure(test_tape *tape, test_side *side)
{
    const operation op = tape_next(tape);
    tape->code = op.code;

    const espl_status status = side_run(side, tape, &op);
    const model_answer answer = tape_apply(tape, &op);
    side_check(side, tape, &op, status, answer);
    side_map(side, tape, &op);
    if (op.code != OP_CREATE) {
        compare_touched(side, tape, op.entity);
    }
    return tape_is_structural(op.code);
}

// What a tape does at each step, and how often everything is compared.
typedef struct manner {
    size_t (*step)(test_tape *tape, test_side *side);
    bool is_structural;
} manner;

static size_t run_tape(uint64_t seed, uint32_t population, size_t steps, manner how)
{
    test_tape tape;
    test_side side;
    size_t operations = 0;

    tape_begin(&tape, seed, population);
    side_begin(&side, 1, NULL);
    if (how.is_structural) {
        tape_prefer_structure(&tape);
    }
    const size_t interval = how.is_structural ? 64 : interval_of(&tape);
    for (tape.at = 0; tape.at < steps && !tape_is_worn(&tape); ++tape.at) {
        operations += how.step(&tape, &side);
        if (tape.at % interval == 0) {
            side_compare(&side, &tape);
        }
    }
    side_compare(&side, &tape);
    side_end(&side);
    tape_end(&tape);
    return operations;
}

// Seeds from a first one on, each a tape of its own.
typedef struct seed_range {
    uint64_t first;
    uint32_t count;
} seed_range;

// Together the first tests below make more than ten million operations, which is what is promised
// of them, and the last ones as many that are structural; `least` is the share of one.
static void run_seeds(seed_range seeds, uint32_t population, size_t steps, manner how, size_t least)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t length = (size_t)test_environment("ESPL_OPERATIONS", test_scaled(steps));
    uint64_t state = seeds.first;
    size_t operations = 0;

    if (chosen != 0) {
        run_tape(chosen, population, length, how);
        return;
    }
    for (uint32_t i = 0; i < seeds.count; ++i) {
        operations += run_tape(test_random(&state), population, length, how);
    }
    // Tapes end early where worlds do.
    const bool is_whole = length >= steps && !test_is_worn(steps, 2 * (size_t)population);
    ck_assert_msg(!is_whole || operations >= least, "%zu operations", operations);
}

static const manner any = {step, false}, structural = {step_structure, true};

START_TEST(a_world_of_a_few_entities_follows_the_model)
{
    run_seeds((seed_range){1, 600}, 5, 3000, any, 2500000);
}
END_TEST

START_TEST(a_small_world_follows_the_model)
{
    run_seeds((seed_range){2, 500}, 24, 4700, any, 3500000);
}
END_TEST

START_TEST(a_world_of_hundreds_follows_the_model)
{
    run_seeds((seed_range){3, 300}, 200, 8400, any, 4000000);
}
END_TEST

START_TEST(a_world_of_thousands_follows_the_model)
{
    run_seeds((seed_range){4, 120}, 3000, 10800, any, 3500000);
}
END_TEST

START_TEST(a_handful_of_entities_under_structural_operations_follows_the_model)
{
    run_seeds((seed_range){5, 400}, 4, 8000, structural, 2500000);
}
END_TEST

START_TEST(a_dozen_entities_under_structural_operations_follow_the_model)
{
    run_seeds((seed_range){6, 500}, 12, 10000, structural, 4000000);
}
END_TEST

START_TEST(a_few_dozen_entities_under_structural_operations_follow_the_model)
{
    run_seeds((seed_range){7, 400}, 40, 10000, structural, 3500000);
}
END_TEST

static Suite *random_suite(void)
{
    Suite *const suite = suite_create("random");
    TCase *const tcase = tcase_create("model");

    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, a_world_of_a_few_entities_follows_the_model);
    tcase_add_test(tcase, a_small_world_follows_the_model);
    tcase_add_test(tcase, a_world_of_hundreds_follows_the_model);
    tcase_add_test(tcase, a_world_of_thousands_follows_the_model);
    tcase_add_test(tcase, a_handful_of_entities_under_structural_operations_follows_the_model);
    tcase_add_test(tcase, a_dozen_entities_under_structural_operations_follow_the_model);
    tcase_add_test(tcase, a_few_dozen_entities_under_structural_operations_follow_the_model);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(random_suite)
