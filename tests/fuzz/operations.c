// SPDX-License-Identifier: MIT
// Calls at once, good and bad: the library against the model. With ESPL_PLANTED=detached in the
// environment the comparison is wrong on purpose, for tests of what finds and shrinks failures: it
// then fails at an attach under a node that was detached before.
#include "tests/asserts.h"
#include "tests/fuzz/roll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POPULATION_LIMIT = 5000, INTERVAL = 8, REMEMBERED = 4096 };

// --- The planted fault ---

typedef struct planted {
    bool is_on;
    bool is_detached[REMEMBERED]; // by node
} planted;

static void planted_begin(planted *p)
{
    const char *const name = getenv("ESPL_PLANTED");

    memset(p, 0, sizeof *p);
    p->is_on = name != NULL && strcmp(name, "detached") == 0;
}

static void planted_check(planted *p, const test_tape *tape, const operation *op,
                          espl_status status)
{
    if (!p->is_on || status < 0) {
        return;
    }
    if (op->code == OP_DETACH && op->entity < REMEMBERED) {
        p->is_detached[op->entity] = true;
    }
    const bool is_wrong =
        op->code == OP_ATTACH && op->parent < REMEMBERED && p->is_detached[op->parent];

    tape_demand(tape, !is_wrong, "a planted fault");
}

// --- Runs ---

bool fuzz_tells_steps;

static void tell(const test_tape *tape, const operation *op, espl_status status)
{
    if (fuzz_tells_steps) {
        printf("# %zu %s entity %d parent %d before %d count %u: %s\n", tape->at,
               tape_code_name(op->code), (int)op->entity, (int)op->parent, (int)op->before,
               op->count, espl_status_name(status));
        (void)fflush(stdout);
    }
}

static void step(test_tape *tape, test_side *side, planted *p)
{
    const operation op = tape_next(tape);
    const espl_status status = side_run(side, tape, &op);

    tell(tape, &op, status);
    side_follow(side, tape, &op, status);
    planted_check(p, tape, &op, status);
}

static void run(const unsigned char *bytes, size_t size)
{
    fuzz_roll roll = roll_read(bytes, size, POPULATION_LIMIT);
    test_tape tape;
    test_side side;
    planted p;

    planted_begin(&p);
    tape_begin(&tape, roll.seed, roll.population);
    tape_take_cells(&tape);
    if ((roll.flags & FUZZ_STRUCTURAL) != 0) {
        tape_prefer_structure(&tape);
    }
    tape_feed(&tape, roll.records, roll.count);
    side_begin(&side, &tape, 1, NULL);
    for (; !tape_is_over(&tape) && !tape_is_worn(&tape); ++tape.at) {
        step(&tape, &side, &p);
        if (tape.at % INTERVAL == INTERVAL - 1) {
            side_compare(&side, &tape);
        }
    }
    side_compare(&side, &tape);
    side_end(&side);
    tape_end(&tape);
    roll_free(&roll);
}

static fuzz_input make(const fuzz_order *order)
{
    static const uint32_t populations[4] = {4, 12, 24, 60};
    fuzz_roll roll = roll_plan(order, populations);
    test_tape tape;

    // The records that tests of this seed make.
    tape_begin(&tape, roll.seed, roll.population);
    for (size_t i = 0; i < roll.count; ++i) {
        roll.records[i] = record_from(&tape.random);
    }
    tape_end(&tape);
    const fuzz_input input = roll_write(&roll);

    roll_free(&roll);
    return input;
}

const fuzz_target fuzz_operations = {.name = "operations",
                                     .what = "tapes of calls follow the model",
                                     .usual = 2000,
                                     .make = make,
                                     .run = run,
                                     .mutate = roll_mutate,
                                     .part = roll_part};
