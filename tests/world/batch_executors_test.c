// SPDX-License-Identifier: MIT
// Batches over many hierarchies, serial, on threads and with jobs in hostile orders: each follows
// the model, and no executor changes a bit.
#include "tests/asked.h"
#include "tests/picks.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include "tests/checks.h"
#include "tests/inside.h"

enum { SIDES = 4, POPULATION = 1500, SHARED = 2500 };

// One write for every entity there is, and some twice; where a world holds few, each many times, so
// that they are shared.
static void fill_forest(test_tape *tape, operation *op)
{
    const uint32_t living = tape->model.living_count;
    const uint32_t count = tape->style.population < POPULATION ? SHARED : living + living / 4;

    tape_reserve_entries(tape, count);
    for (uint32_t i = 0; i < count; ++i) {
        model_entry *const entry = &tape->entries[i];
        entry->node = tape->model.living[test_below(&tape->random, living)];
        entry->kind = pick_kind(tape);
        entry->value = pick_data(tape, entry->node, entry->kind);
    }
    op->code = OP_BATCH;
    op->form = FORM_BATCH;
    op->count = count;
}

static void run_everywhere(test_tape *tape, test_side *sides, size_t count, const operation *op)
{
    espl_status status[SIDES] = {ESPL_OK};

    tape->code = op->code;
    for (size_t k = 0; k < count; ++k) {
        status[k] = side_run(&sides[k], tape, op);
    }
    const model_answer answer = tape_apply(tape, op);
    for (size_t k = 0; k < count; ++k) {
        side_check(&sides[k], tape, op, status[k], answer);
        tape_demand(tape, status[k] == status[0], "executor %zu answers %s, not %s", k,
                    espl_status_name(status[k]), espl_status_name(status[0]));
        side_map(&sides[k], tape, op);
    }
}

static void compare_everywhere(const test_tape *tape, test_side *sides, size_t count)
{
    const uint64_t hash = test_physical_hash(sides[0].world);

    side_compare(&sides[0], tape);
    for (size_t k = 1; k < count; ++k) {
        tape_demand(tape, test_physical_hash(sides[k].world) == hash,
                    "executor %zu gives other bits", k);
        test_world_is_valid(sides[k].world);
    }
}

static void run_on_executors(uint64_t seed, const espl_executor *executors, size_t count)
{
    test_tape tape;
    test_side sides[SIDES];

    tape_begin(&tape, seed, POPULATION);
    tape_take_cells(&tape);
    tape.style.weights[OP_CREATE] += 8;
    for (size_t k = 0; k < count; ++k) {
        side_begin(&sides[k], &tape, 1, &executors[k]);
        test_cut_jobs(sides[k].world, 16);
    }
    for (tape.at = 0; tape.at < 3000 && !tape_is_worn(&tape); ++tape.at) {
        operation op = tape_next(&tape);
        if (tape.at % 300 == 299 && tape.model.living_count != 0) {
            fill_forest(&tape, &op);
        }
        run_everywhere(&tape, sides, count, &op);
        if (tape.at % 300 == 299) {
            compare_everywhere(&tape, sides, count);
        }
    }
    for (size_t k = 0; k < count; ++k) {
        side_end(&sides[k]);
    }
    tape_end(&tape);
}

TEST(no_executor_changes_a_bit_of_a_batch)
{
    test_executor hostile[2] = {{.manner = TEST_REVERSED, .workers = 3},
                                {.manner = TEST_SHUFFLED, .workers = 7, .random = 99}};
    espl_executor executors[SIDES] = {(espl_executor){0}, test_executor_of(&hostile[0]),
                                      test_executor_of(&hostile[1])};
    uint64_t state = 41;
    size_t count = 3;

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 2}, &executors[count]));
        count += 1;
    }
    for (size_t i = 0; i < test_scaled(12); ++i) {
        run_on_executors(test_random(&state), executors, count);
    }
    // The hostile ones were asked to share work, or this test shows nothing.
    ck_assert_uint_gt(hostile[0].calls, 0);
    ck_assert_uint_gt(hostile[1].calls, 0);
    if (count == SIDES) {
        espl_executor_destroy(&executors[SIDES - 1]);
    }
}
