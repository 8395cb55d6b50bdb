// SPDX-License-Identifier: MIT
// Random operations, good and bad, immediate and recorded, each with allocations that fail at one
// point after the other, in a world beside one that never lacks memory. ESPL_SEED runs one tape;
// ESPL_FACTOR makes the runs so many times as long.
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/stage.h"
#include "tests/steps.h"

#include <stdio.h>

enum { AT_ONCE = 24, PLAYED = 12, STEPS = 120, PLAYBACKS = 10, COMMANDS = 60 };

// Two worlds that follow one tape.
typedef struct pair {
    test_side calm, faulted;
    size_t points;
    // A layout or a pack was put off in one of them: both look alike, but stand otherwise from now on.
    bool has_parted;
} pair;

static bool is_destroy(const operation *op)
{
    const opcode code = op->code;

    return step_destroys(op) || code == OP_DESTROY || code == OP_DESTROY_SUBTREE ||
           code == OP_DESTROY_ONLY || code == OP_DESTROY_MANY || code == OP_CLEAR;
}

// In every other tape destroys lack memory too, which puts roles off.
static bool destroys_fail(const test_tape *tape)
{
    return tape->seed % 2 == 0;
}

// Refused, nothing has changed. A trim may have moved what nobody can read.
static void is_untouched(const test_tape *tape, const test_side *side, opcode code,
                         const uint64_t before[2])
{
    tape_demand(tape, test_logical_hash(side->world) == before[ESPL_HASH_LOGICAL],
                "without memory it changed what can be read");
    tape_demand(tape,
                code == OP_TRIM || test_physical_hash(side->world) == before[ESPL_HASH_PHYSICAL],
                "without memory it changed where things stand");
    tape_demand(tape, side->test.hooks.traps == 0, "a trap: %s", side->test.hooks.last_line);
    test_world_is_valid(side->world);
}

static void take_hashes(const test_side *side, uint64_t hashes[2])
{
    hashes[ESPL_HASH_LOGICAL] = test_logical_hash(side->world);
    hashes[ESPL_HASH_PHYSICAL] = test_physical_hash(side->world);
}

// Two calls make an entity with its values, and what is recorded at once is several.
static bool is_one_call(opcode code)
{
    return code != OP_CREATE && code != OP_CREATION && code != OP_CALL;
}

// One operation without its n-th allocation, for all n until it passes.
static espl_status run_without(pair *p, test_tape *tape, const operation *op)
{
    test_side *const side = &p->faulted;
    test_heap *const heap = &side->test.heap;
    const bool may_fail = is_one_call(op->code) && (!is_destroy(op) || destroys_fail(tape));
    espl_status status = ESPL_ERR_NO_MEMORY;
    uint64_t before[2];

    take_hashes(side, before);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        // Scratch that is kept would need no memory.
        test_free_scratch(side->world);
        test_heap_arm(heap, may_fail ? n : 0, n % 2 == 0);
        status = side_run(side, tape, op);
        const bool has_failed = heap->failures != 0;
        test_heap_arm(heap, 0, false);
        p->points += has_failed;
        p->has_parted |= has_failed && (status != ESPL_ERR_NO_MEMORY || op->code == OP_TRIM);
        if (status == ESPL_ERR_NO_MEMORY) {
            tape_demand(tape, has_failed, "no memory, where nothing failed");
            is_untouched(tape, side, op->code, before);
        }
    }
    return status;
}

static void compare(const pair *p, const test_tape *tape)
{
    tape_demand(tape, test_logical_hash(p->calm.world) == test_logical_hash(p->faulted.world),
                "they look otherwise");
    tape_demand(tape,
                p->has_parted ||
                    test_physical_hash(p->calm.world) == test_physical_hash(p->faulted.world),
                "they stand otherwise");
}

// @return points.
static size_t run_tape(uint64_t seed, uint32_t population, size_t steps)
{
    static pair p;
    test_tape tape;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    if (destroys_fail(&tape)) {
        // Roles are late where a destroy lacked memory, and queries ask for roles.
        tape.style.weights[OP_CHANGE_QUERY] = 0;
    }
    p.points = 0;
    p.has_parted = false;
    side_begin(&p.calm, &tape, 1, NULL);
    p.calm.is_unseen = seed % 5 < 3;
    test_world_take((test_blocks)(seed % TEST_BLOCKS_KINDS));
    side_begin(&p.faulted, &tape, 1, NULL);
    for (tape.at = 0; tape.at < steps && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);
        const espl_status calm = side_run(&p.calm, &tape, &op);
        const espl_status status = run_without(&p, &tape, &op);
        const model_answer answer = tape_apply(&tape, &op);

        tape_demand(&tape, status == calm || op.code == OP_STEP, "%s, not %s",
                    espl_status_name(status), espl_status_name(calm));
        side_check(&p.faulted, &tape, &op, status, answer);
        side_map(&p.calm, &tape, &op);
        side_map(&p.faulted, &tape, &op);
        compare(&p, &tape);
    }
    // What was put off is seen to.
    tape_demand(&tape, espl_compact(p.faulted.world) == ESPL_OK, "trim");
    side_compare(&p.faulted, &tape);
    side_end(&p.calm);
    side_end(&p.faulted);
    tape_end(&tape);
    return p.points;
}

TEST(random_operations_fail_cleanly)
{
    static const uint32_t populations[] = {5, 16, 40};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t count = AT_ONCE * test_factor();
    uint64_t state = 61;
    size_t points = 0;

    for (size_t i = 0; i < (chosen != 0 ? 1 : count); ++i) {
        const uint64_t seed = chosen != 0 ? chosen : test_random(&state);

        points += run_tape(seed, populations[seed % 3], test_scaled_alone(STEPS));
    }
    printf("# %zu points in %zu tapes at once\n", points, count);
    ck_assert(chosen != 0 || points > 10);
}

// --- Playbacks ---

// Play without the n-th allocation, for all n until it passes. @return whether the world goes on.
static bool play_without(stage *s, const expected *wanted, pair *p, espl_report *report)
{
    test_side *const side = &s->played[1];
    test_heap *const heap = &side->test.heap;
    espl_status status = ESPL_ERR_NO_MEMORY;
    uint64_t before[2];

    take_hashes(side, before);
    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; n += 1 + n / 16) {
        test_free_scratch(side->world);
        test_heap_arm(heap, n, n % 2 == 0);
        status = espl_play(side->world, side->batch, report);
        const bool has_failed = heap->failures != 0;
        test_heap_arm(heap, 0, false);
        p->points += has_failed;
        p->has_parted |= has_failed && status != ESPL_ERR_NO_MEMORY;
        if (status != ESPL_OK) {
            is_untouched(&s->tape, side, s->tape.code, before);
        }
    }
    tape_demand(&s->tape, status == ESPL_OK || status == ESPL_ERR_LIMIT, "play: %s",
                espl_status_name(status));
    return status == ESPL_OK && wanted->is_whole;
}

static bool step(stage *s, pair *p, uint32_t count)
{
    espl_report calm, report;

    stage_record(s, count);
    const expected wanted = stage_run(s);
    const bool goes_on = stage_play(s, &s->played[0], &wanted, &calm);

    if (play_without(s, &wanted, p, &report) != goes_on || !goes_on) {
        tape_demand(&s->tape, !goes_on, "only one of them was played");
        return false;
    }
    stage_compare(s, &s->played[0], &wanted, &calm);
    stage_compare(s, &s->played[1], &wanted, &report);
    tape_demand(&s->tape,
                p->has_parted || test_physical_hash(s->played[0].world) ==
                                     test_physical_hash(s->played[1].world),
                "they stand otherwise");
    return true;
}

static size_t play_tape(uint64_t seed, uint32_t population, const espl_executor *executor)
{
    const espl_executor executors[2] = {*executor, *executor};
    pair p = {.points = 0};
    stage *const s = stage_begin(seed, population, executors, 2);
    const uint32_t limit = stage_fit(s, COMMANDS);
    bool goes_on = true;

    for (int i = 0; i < PLAYBACKS && goes_on && !tape_is_worn(&s->tape); ++i) {
        goes_on = step(s, &p, 1 + test_below(&s->tape.random, limit));
    }
    stage_end(s);
    return p.points;
}

TEST(random_playbacks_fail_cleanly)
{
    static const uint32_t populations[] = {4, 12, 40};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    const size_t count = test_scaled_alone(PLAYED) * test_factor();
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 5, .random = 9};
    uint64_t state = 62;
    size_t points = 0;

    for (size_t i = 0; i < (chosen != 0 ? 1 : count); ++i) {
        const espl_executor executor =
            i % 2 == 0 ? (espl_executor){0} : test_executor_of(&shuffled);
        const uint64_t seed = chosen != 0 ? chosen : test_random(&state);

        points += play_tape(seed, populations[seed % 3], &executor);
    }
    printf("# %zu points in %zu tapes played\n", points, count);
    ck_assert(chosen != 0 || points > 5 * count);
}
