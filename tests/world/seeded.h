// SPDX-License-Identifier: MIT
// Random immediate operations on the library and the model: how a tape of them is run and compared.
// ESPL_SEED runs one seed, ESPL_OPERATIONS sets how many steps each run takes, ESPL_FACTOR makes
// the runs so many times as many.
#ifndef ESPALIER_TESTS_WORLD_SEEDED_H
#define ESPALIER_TESTS_WORLD_SEEDED_H

#include "tests/asserts.h"
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
    tape_take_cells(&tape);
    tape.driver = how.is_structural ? "tests/fuzz/operations --structure" : "tests/fuzz/operations";
    side_begin(&side, &tape, 1, NULL);
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

// The tests of each suite make more than ten million operations together, which is what is promised
// of them; `least` is the share of one.
static void run_seeds(seed_range seeds, uint32_t population, size_t steps, manner how, size_t least)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t length = (size_t)test_environment("ESPL_OPERATIONS", test_scaled_alone(steps));
    uint64_t state = seeds.first;
    size_t operations = 0;

    if (chosen != 0) {
        run_tape(chosen, population, length, how);
        return;
    }
    for (size_t i = 0; i < seeds.count * (size_t)test_factor(); ++i) {
        operations += run_tape(test_random(&state), population, length, how);
    }
    // Tapes end early where worlds do.
    test_tell_figure(operations, how.is_structural ? "structural operations beside the model"
                                                   : "operations beside the model");
    const bool is_whole = length >= steps && !test_is_worn(steps, 2 * (size_t)population);
    ck_assert_msg(!is_whole || operations >= least, "%zu operations", operations);
}

#endif
