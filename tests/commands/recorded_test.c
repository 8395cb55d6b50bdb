// SPDX-License-Identifier: MIT
// The same batches of random operations carried out at once in one world and played back in
// others: serial, on threads, and with jobs in hostile orders. All follow the model, command by
// command; the played worlds agree to the last handle, row and slot.
#include "tests/runner.h"
#include "tests/tape.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_LIMIT = 4096, PLAYED_LIMIT = 4 };

typedef struct test_batch {
    operation operations[BATCH_LIMIT];
    uint32_t order[BATCH_LIMIT]; // of playback
    uint32_t index[BATCH_LIMIT]; // in the lane
    espl_status recorded[BATCH_LIMIT];
    model_answer answer[BATCH_LIMIT];
    uint32_t count;
} test_batch;

typedef struct expected {
    size_t accepted, applied, refused, lossy, created, destroyed;
    size_t born;   // created, also what died again
    bool is_whole; // the world had indices for all
} expected;

// --- One batch ---

static int compare_order(const void *a, const void *b)
{
    const operation *const *const left = a, *const *const right = b;
    const operation *const x = *left, *const y = *right;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    return x < y ? -1 : 1;
}

// The order of playback, by the sentence that defines it.
static void order_batch(test_batch *batch)
{
    const operation **const sorted = malloc((batch->count + 1) * sizeof *sorted);
    ck_assert_ptr_nonnull(sorted);
    for (uint32_t i = 0; i < batch->count; ++i) {
        sorted[i] = &batch->operations[i];
    }
    qsort(sorted, batch->count, sizeof *sorted, compare_order);
    for (uint32_t i = 0; i < batch->count; ++i) {
        batch->order[i] = (uint32_t)(sorted[i] - batch->operations);
    }
    free(sorted);
}

static void make_batch(test_tape *tape, test_batch *batch, uint32_t count)
{
    tape_forget_pending(tape);
    batch->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        batch->operations[i] = tape_next_recorded(tape);
    }
    order_batch(batch);
}

static void record_batch(test_tape *tape, test_side *side, test_batch *batch, bool is_first)
{
    uint32_t in_lane[256] = {0};

    for (uint32_t i = 0; i < batch->count; ++i) {
        const operation *const op = &batch->operations[i];
        const espl_status status = side_record(side, op);

        tape->code = op->code;
        tape_demand(tape, is_first || status == batch->recorded[i], "recorded %s, then %s",
                    espl_status_name(batch->recorded[i]), espl_status_name(status));
        batch->recorded[i] = status;
        batch->index[i] = status == ESPL_OK ? in_lane[op->lane]++ : UINT32_MAX;
    }
}

// Indices that an operation wants if it is carried out.
static size_t wanted_by(const test_tape *tape, const operation *op)
{
    const uint32_t node = tape_node(tape, op->entity);
    const bool makes = op->code == OP_INSTANCE && node < tape->model.count;

    return makes && tape->model.nodes[node].is_alive
               ? op->count * (size_t)model_closure_size(&tape->model, node)
               : 0;
}

// Carry the batch out on the model and at once, in the order of playback; to the end, or to where
// the world lacks indices.
static expected run_batch(test_tape *tape, test_side *at_once, test_batch *batch)
{
    const uint32_t known = tape->model.count;
    expected out = {0};
    size_t living_before = 0;

    for (uint32_t i = 0; i < known; ++i) {
        living_before += tape->model.nodes[i].is_alive;
    }
    for (uint32_t i = 0; i < batch->count; ++i, ++tape->at) {
        const uint32_t number = batch->order[i];
        const operation *const op = &batch->operations[number];
        tape->code = op->code;

        const bool lacks_room = wanted_by(tape, op) > side_room(at_once);
        const espl_status status = side_run(at_once, tape, op);
        if (lacks_room && status == ESPL_ERR_LIMIT) {
            return out;
        }
        const model_answer answer = tape_apply(tape, op);
        tape_demand(tape, (answer & model_answer_of(status)) != 0,
                    "answered %s at once, allowed set %#x", espl_status_name(status), answer);
        side_map(at_once, tape, op);
        batch->answer[number] = answer;
        if (batch->recorded[number] != ESPL_OK) {
            tape_demand(tape, (answer & model_answer_of(batch->recorded[number])) != 0,
                        "recorded %s, allowed set %#x", espl_status_name(batch->recorded[number]),
                        answer);
            continue;
        }
        out.accepted += 1;
        out.applied += status >= 0;
        out.refused += status < 0;
        out.lossy += status == ESPL_LOSSY;
    }
    out.destroyed = living_before;
    for (uint32_t i = 0; i < known; ++i) {
        out.destroyed -= tape->model.nodes[i].is_alive;
    }
    out.created = tape->model.living_count - (living_before - out.destroyed);
    out.born = tape->model.count - known;
    out.is_whole = true;
    return out;
}

static void check_results(const test_tape *tape, const test_side *side, const test_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        if (batch->recorded[i] != ESPL_OK) {
            continue;
        }
        const espl_status result =
            espl_commands_result(side->batch, batch->operations[i].lane, batch->index[i]);
        tape_demand(tape, (batch->answer[i] & model_answer_of(result)) != 0,
                    "command %u (opcode %d) came to %s, allowed set %#x", i,
                    (int)batch->operations[i].code, espl_status_name(result), batch->answer[i]);
    }
}

static void check_report(const test_tape *tape, const espl_report *report, const expected *wanted)
{
    size_t refused = 0;

    for (int i = 0; i < ESPL_REASON_COUNT; ++i) {
        refused += report->refused_by[i];
    }
    tape_demand(tape, report->accepted == report->applied + report->refused,
                "accepted %zu, applied %zu, refused %zu", report->accepted, report->applied,
                report->refused);
    tape_demand(tape,
                report->accepted == wanted->accepted && report->applied == wanted->applied &&
                    report->lossy == wanted->lossy,
                "accepted %zu of %zu, applied %zu of %zu, lossy %zu of %zu", report->accepted,
                wanted->accepted, report->applied, wanted->applied, report->lossy, wanted->lossy);
    tape_demand(tape, refused == report->refused, "%zu refused, %zu with a reason", report->refused,
                refused);
    tape_demand(tape, report->destroyed == wanted->destroyed && report->created == wanted->created,
                "destroyed %zu, not %zu; created %zu, not %zu", report->destroyed,
                wanted->destroyed, report->created, wanted->created);
}

// The first refused of each reason, in the order of playback.
static void check_first_refused(const test_tape *tape, const test_side *side,
                                const test_batch *batch, const espl_report *report)
{
    bool is_seen[ESPL_REASON_COUNT] = {false};

    for (uint32_t i = 0; i < batch->count; ++i) {
        const uint32_t number = batch->order[i];
        const operation *const op = &batch->operations[number];
        if (batch->recorded[number] != ESPL_OK) {
            continue;
        }
        const espl_status result =
            espl_commands_result(side->batch, op->lane, batch->index[number]);
        if (result >= 0 || is_seen[-result]) {
            continue;
        }
        is_seen[-result] = true;
        const espl_command_place *const place = &report->first_refused[-result];
        tape_demand(tape, place->lane == op->lane && place->index == batch->index[number],
                    "first %s at lane %u, %u, not lane %u, %u", espl_status_name(result),
                    place->lane, place->index, op->lane, batch->index[number]);
    }
}

// --- Worlds ---

typedef struct stage {
    test_tape tape;
    test_side at_once;
    test_side played[PLAYED_LIMIT];
    size_t played_count;
    test_batch batch;
} stage;

static stage *stage_begin(uint64_t seed, uint32_t population, const espl_executor *executors,
                          size_t count)
{
    stage *const s = malloc(sizeof *s);

    ck_assert_ptr_nonnull(s);
    tape_begin(&s->tape, seed, population);
    side_begin(&s->at_once, s->tape.style.lanes, NULL);
    s->played_count = count;
    for (size_t i = 0; i < count; ++i) {
        side_begin(&s->played[i], s->tape.style.lanes, &executors[i]);
    }
    return s;
}

static void stage_end(stage *s)
{
    for (size_t i = 0; i < s->played_count; ++i) {
        side_end(&s->played[i]);
    }
    side_end(&s->at_once);
    tape_end(&s->tape);
    free(s);
}

// A create cannot be recorded: every world gets its first entities at once.
static void stage_seed(stage *s, uint32_t count)
{
    tape_forget_pending(&s->tape);
    for (uint32_t i = 0; i < count; ++i) {
        const operation op = {.code = OP_CREATE,
                              .has_placement = !s->tape.style.has_unplaced || i % 8 != 0,
                              .tag = 1000 + i,
                              .count = 1};
        s->tape.code = op.code;
        (void)tape_apply(&s->tape, &op);
        ck_assert_int_eq(side_run(&s->at_once, &s->tape, &op), ESPL_OK);
        side_map(&s->at_once, &s->tape, &op);
        for (size_t k = 0; k < s->played_count; ++k) {
            ck_assert_int_eq(side_run(&s->played[k], &s->tape, &op), ESPL_OK);
            side_map(&s->played[k], &s->tape, &op);
        }
    }
}

static void compare_played(stage *s, const espl_report *reports)
{
    const uint64_t hash = test_physical_hash(s->played[0].world);

    for (size_t k = 1; k < s->played_count; ++k) {
        tape_demand(&s->tape, test_physical_hash(s->played[k].world) == hash,
                    "executor %zu gives another world", k);
        tape_demand(&s->tape, memcmp(&reports[k], &reports[0], sizeof *reports) == 0,
                    "executor %zu gives another report", k);
        for (uint32_t i = 0; i < s->tape.model.count; ++i) {
            tape_demand(&s->tape,
                        espl_entity_equal(s->played[k].handles[i], s->played[0].handles[i]),
                        "executor %zu gives node %u another handle", k, i);
        }
    }
}

static uint32_t batch_size(stage *s, uint32_t limit)
{
    return 1 + test_below(&s->tape.random, limit);
}

// Play where there may be too few indices: done, or refused with nothing changed.
static bool play_in_room(stage *s, test_side *side, const expected *wanted, espl_report *report)
{
    const size_t room = side_room(side);
    const bool may_lack = !wanted->is_whole || wanted->born > room;
    const uint64_t before = may_lack ? test_physical_hash(side->world) : 0;

    memset(report, 0xFF, sizeof *report);
    const espl_status status = espl_play(side->world, side->batch, report);
    if (may_lack && status == ESPL_ERR_LIMIT) {
        tape_demand(&s->tape, test_physical_hash(side->world) == before,
                    "a playback without indices changed the world");
        test_world_is_valid(side->world);
        return false;
    }
    tape_demand(&s->tape, status == ESPL_OK, "play: %s", espl_status_name(status));
    tape_demand(&s->tape, !wanted->is_whole || wanted->created <= room, "%zu made of %zu",
                wanted->created, room);
    return wanted->is_whole;
}

// @return false where a world had too few indices, so that they are no longer in step.
static bool stage_step(stage *s, uint32_t count)
{
    espl_report reports[PLAYED_LIMIT];
    bool goes_on = true;

    if (s->tape.model.living_count < s->tape.style.population / 3 + 1) {
        stage_seed(s, s->tape.style.population / 3 + 1);
    }
    make_batch(&s->tape, &s->batch, count);
    for (size_t k = 0; k < s->played_count; ++k) {
        record_batch(&s->tape, &s->played[k], &s->batch, k == 0);
    }
    const expected wanted = run_batch(&s->tape, &s->at_once, &s->batch);
    for (size_t k = 0; k < s->played_count; ++k) {
        test_side *const side = &s->played[k];

        if (!play_in_room(s, side, &wanted, &reports[k])) {
            goes_on = false;
            continue;
        }
        check_results(&s->tape, side, &s->batch);
        check_report(&s->tape, &reports[k], &wanted);
        check_first_refused(&s->tape, side, &s->batch, &reports[k]);
        side_map(side, &s->tape, NULL);
        side_compare(side, &s->tape);
        espl_commands_reset(side->batch);
    }
    if (goes_on) {
        side_compare(&s->at_once, &s->tape);
        compare_played(s, reports);
    }
    return goes_on;
}

// --- Drivers ---

// Batches that make as many entities as a world of this build holds; or with large batches, that
// neither make nor destroy any.
static uint32_t fit_batches(test_tape *tape, uint32_t limit)
{
    static const opcode codes[] = {OP_CREATE,  OP_INSTANTIATE,     OP_INSTANCE,
                                   OP_DESTROY, OP_DESTROY_SUBTREE, OP_DESTROY_ONLY};
    const uint32_t fitting = test_fitting(limit * TAPE_COUNT_LIMIT, 0) / TAPE_COUNT_LIMIT;

    if (fitting == limit || tape->seed % 2 == 0) {
        return fitting;
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) {
        tape->style.weights[codes[i]] = 0;
    }
    return limit;
}

// @return batches that were compared.
static size_t run_recorded(uint64_t seed, uint32_t population, uint32_t limit, size_t batches,
                           const espl_executor *executors, size_t count)
{
    stage *const s = stage_begin(seed, population, executors, count);
    const uint32_t fitting = fit_batches(&s->tape, limit);
    size_t done = 0;

    while (done < batches && !tape_is_worn(&s->tape) && stage_step(s, batch_size(s, fitting))) {
        done += 1;
    }
    stage_end(s);
    return done;
}

static void run_seeds(uint64_t first, uint32_t seeds, uint32_t population, uint32_t limit,
                      size_t batches, const espl_executor *executors, size_t count)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = first;
    size_t done = 0;

    if (chosen != 0) {
        run_recorded(chosen, population, limit, batches, executors, count);
        return;
    }
    seeds = (uint32_t)test_scaled(seeds);
    for (uint32_t i = 0; i < seeds; ++i) {
        done += run_recorded(test_random(&state), population, limit, batches, executors, count);
    }
    // Stages end early where worlds do.
    const bool is_whole = test_fitting(BATCH_LIMIT, 0) == BATCH_LIMIT;
    ck_assert_msg(is_whole ? done == seeds * batches : done >= seeds, "%zu batches", done);
}

START_TEST(tiny_batches_on_a_tiny_world_come_to_the_same)
{
    const espl_executor serial = espl_executor_serial();
    run_seeds(21, 400, 4, 4, 60, &serial, 1);
}
END_TEST

START_TEST(batches_on_a_small_world_come_to_the_same)
{
    const espl_executor serial = espl_executor_serial();
    run_seeds(22, 120, 20, 40, 40, &serial, 1);
}
END_TEST

START_TEST(large_batches_come_to_the_same)
{
    const espl_executor serial = espl_executor_serial();
    run_seeds(23, 24, 400, 1000, 10, &serial, 1);
}
END_TEST

START_TEST(no_executor_changes_a_bit)
{
    test_executor hostile[2] = {{.manner = TEST_REVERSED, .workers = 3},
                                {.manner = TEST_SHUFFLED, .workers = 7, .random = 99}};
    espl_executor executors[PLAYED_LIMIT] = {espl_executor_serial(), test_executor_of(&hostile[0]),
                                             test_executor_of(&hostile[1])};
    size_t count = 3;

    if (espl_executor_has_threads()) {
        ck_assert_int_eq(espl_executor_create_threads(&executors[count], 2), ESPL_OK);
        count += 1;
    }
    run_seeds(24, 12, 2000, BATCH_LIMIT, 6, executors, count);
    run_seeds(25, 40, 12, 30, 10, executors, count);
    // The hostile ones were asked to share work, or this test shows nothing.
    ck_assert_uint_gt(hostile[0].calls, 0);
    ck_assert_uint_gt(hostile[1].calls, 0);
    if (count == PLAYED_LIMIT) {
        espl_executor_destroy_threads(&executors[PLAYED_LIMIT - 1]);
    }
}
END_TEST

// --- Out of memory ---

static void play_with_faults(stage *s, test_side *side, bool fails_after, size_t *points)
{
    const uint64_t before = test_physical_hash(side->world);
    espl_report report;
    espl_status status = ESPL_ERR_NO_MEMORY;

    for (size_t n = 1; status != ESPL_OK; ++n) {
        test_heap_arm(&side->test.heap, n, fails_after);
        status = espl_play(side->world, side->batch, &report);
        const size_t failures = side->test.heap.failures;
        test_heap_arm(&side->test.heap, 0, false);

        tape_demand(&s->tape, status == ESPL_OK || status == ESPL_ERR_NO_MEMORY, "play: %s",
                    espl_status_name(status));
        tape_demand(&s->tape, status == ESPL_OK || failures != 0, "no memory without a failure");
        if (status != ESPL_OK) {
            tape_demand(&s->tape, test_physical_hash(side->world) == before,
                        "failing call %zu changed the world", n);
            test_world_is_valid(side->world);
            *points += 1;
        }
    }
}

// World 0 never faults; in 1 one call fails; in 2 all calls from one on fail.
static size_t run_faulted(uint64_t seed, uint32_t population, uint32_t limit, size_t batches)
{
    const espl_executor serial[3] = {espl_executor_serial(), espl_executor_serial(),
                                     espl_executor_serial()};
    stage *const s = stage_begin(seed, population, serial, 3);
    size_t points = 0;

    population = s->tape.style.population;
    limit = fit_batches(&s->tape, limit);
    for (size_t i = 0; i < batches && !tape_is_worn(&s->tape); ++i) {
        espl_report report;
        if (s->tape.model.living_count < population / 3 + 1) {
            stage_seed(s, population / 3 + 1);
        }
        make_batch(&s->tape, &s->batch, batch_size(s, limit));
        for (size_t k = 0; k < 3; ++k) {
            record_batch(&s->tape, &s->played[k], &s->batch, k == 0);
        }
        const expected wanted = run_batch(&s->tape, &s->at_once, &s->batch);
        if (!play_in_room(s, &s->played[0], &wanted, &report)) {
            break;
        }
        play_with_faults(s, &s->played[1], false, &points);
        play_with_faults(s, &s->played[2], true, &points);
        for (size_t k = 0; k < 3; ++k) {
            check_results(&s->tape, &s->played[k], &s->batch);
            side_map(&s->played[k], &s->tape, NULL);
            side_compare(&s->played[k], &s->tape);
            tape_demand(&s->tape,
                        test_physical_hash(s->played[k].world) ==
                            test_physical_hash(s->played[0].world),
                        "a faulted and retried world is another one");
            espl_commands_reset(s->played[k].batch);
        }
    }
    stage_end(s);
    return points;
}

START_TEST(a_playback_without_memory_changes_nothing_and_can_be_tried_again)
{
    uint64_t state = 31;
    size_t points = 0;

    for (size_t i = 0; i < test_scaled(60); ++i) {
        const uint64_t seed = test_random(&state);
        points += run_faulted(seed, i % 3 == 0 ? 300 : 12, i % 3 == 0 ? 200 : 20, 6);
    }
    ck_assert_uint_gt(points, 100);
}
END_TEST

static Suite *recorded_suite(void)
{
    Suite *const suite = suite_create("recorded");
    TCase *const tcase = tcase_create("model");

    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, tiny_batches_on_a_tiny_world_come_to_the_same);
    tcase_add_test(tcase, batches_on_a_small_world_come_to_the_same);
    tcase_add_test(tcase, large_batches_come_to_the_same);
    tcase_add_test(tcase, no_executor_changes_a_bit);
    tcase_add_test(tcase, a_playback_without_memory_changes_nothing_and_can_be_tried_again);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(recorded_suite)
