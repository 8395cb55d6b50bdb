// SPDX-License-Identifier: MIT
// Random batches carried out at once in one world and played back in others.
#include "tests/stage.h"

#include "tests/asserts.h"
#include "tests/placing.h"
#include "tests/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const operation **const sorted = test_array(batch->count + 1, sizeof *sorted);
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
    const uint32_t node = op->code == OP_INSTANCE ? tape_node(tape, op->entity) : MODEL_NONE;
    const bool makes = node < tape->model.count;

    if (op->code == OP_CREATION) {
        return op->count;
    }

    return makes && tape->model.nodes[node].is_alive
               ? op->count * (size_t)model_closure_size(&tape->model, node)
               : 0;
}

// Count the worlds that were finite before a batch, or not there, and are not finite now.
static size_t count_overflowed(const test_model *model, uint32_t known)
{
    size_t count = 0;

    for (uint32_t i = 0; i < model->count; ++i) {
        const model_node *const n = &model->nodes[i];
        count += n->is_alive && !model_is_finite(&n->world) && (i >= known || n->was_finite);
    }
    return count;
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
        tape->model.nodes[i].was_finite = model_is_finite(&tape->model.nodes[i].world);
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
        side_check(at_once, tape, op, status, answer);
        side_map(at_once, tape, op);
        batch->answer[number] = answer;
        batch->at_once[number] = status;
        if (batch->recorded[number] != ESPL_OK) {
            tape_demand(tape, (answer & model_answer_of(batch->recorded[number])) != 0,
                        "recorded %s, allowed set %#x", espl_status_name(batch->recorded[number]),
                        answer);
            continue;
        }
        out.accepted += 1;
        out.applied += status >= 0;
        out.refused += status < 0;
        out.lossy += answer == model_answer_of(ESPL_LOSSY) ||
                     (op->kind == ESPL_WRITE_PREVIOUS_WORLD_POSE && status == ESPL_LOSSY);
        out.may_overflow = out.may_overflow || tape->model.overflow != MODEL_FINITE;
        out.calls += op->code == OP_CALL;
        out.pendings += op->code == OP_INSTANCE || op->code == OP_CREATION ? op->count : 0;
    }
    out.destroyed = living_before;
    for (uint32_t i = 0; i < known; ++i) {
        out.destroyed -= tape->model.nodes[i].is_alive;
    }
    out.overflowed = count_overflowed(&tape->model, known);
    out.created = tape->model.living_count - (living_before - out.destroyed);
    out.born = tape->model.count - known;
    out.is_whole = true;
    return out;
}

// What is refused when it is recorded was looked at with less to go by, and only there may another
// of several rules be told.
static void check_results(const test_tape *tape, const test_side *side, const test_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        if (batch->recorded[i] != ESPL_OK) {
            continue;
        }
        const espl_status result =
            espl_command_buffer_result(side->batch, batch->operations[i].lane, batch->index[i]);
        const espl_status at_once = batch->at_once[i];
        tape_demand(tape, result == at_once || (result >= 0 && at_once == ESPL_OVERFLOW),
                    "command %u (opcode %d) came to %s, not %s", i, (int)batch->operations[i].code,
                    espl_status_name(result), espl_status_name(at_once));
        tape_demand(tape, (batch->answer[i] & model_answer_of(result)) != 0,
                    "command %u (opcode %d) came to %s, allowed set %#x", i,
                    (int)batch->operations[i].code, espl_status_name(result), batch->answer[i]);
    }
}

static void check_report(const test_tape *tape, const espl_report *report, const expected *wanted)
{
    tape_demand(tape,
                report->accepted == wanted->accepted && report->applied == wanted->applied &&
                    report->lossy == wanted->lossy,
                "accepted %zu of %zu, applied %zu of %zu, lossy %zu of %zu", report->accepted,
                wanted->accepted, report->applied, wanted->applied, report->lossy, wanted->lossy);
    tape_demand(tape, report->destroyed == wanted->destroyed && report->created == wanted->created,
                "destroyed %zu, not %zu; created %zu, not %zu", report->destroyed,
                wanted->destroyed, report->created, wanted->created);
    tape_demand(tape, report->calls == wanted->calls && report->pendings == wanted->pendings,
                "%zu calls, not %zu; %zu pendings, not %zu", report->calls, wanted->calls,
                report->pendings, wanted->pendings);
    tape_demand(tape,
                (report->has_overflowed || wanted->overflowed == 0) &&
                    (!report->has_overflowed || wanted->may_overflow),
                "the report has an overflow: %d; at least %zu worlds overflowed",
                report->has_overflowed, wanted->overflowed);
    tape_demand(tape, report->largest_group <= report->accepted, "%zu commands in a group, of %zu",
                report->largest_group, report->accepted);
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
            espl_command_buffer_result(side->batch, op->lane, batch->index[number]);
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

// Callback by callback, each in the order of playback.
static void check_calls(const test_tape *tape, test_side *side, const test_batch *batch)
{
    for (uint32_t callback = 0; callback < SIDE_CALLBACKS; ++callback) {
        for (uint32_t i = 0; i < batch->count; ++i) {
            const uint32_t number = batch->order[i];
            const operation *const op = &batch->operations[number];

            if (op->code == OP_CALL && op->call.callback == callback &&
                batch->recorded[number] == ESPL_OK) {
                side_expect_call(side, tape, op, batch->index[number]);
            }
        }
    }
    side_forget_calls(side, tape);
}

// --- Worlds ---

stage *stage_begin(uint64_t seed, uint32_t population, const espl_executor *executors, size_t count)
{
    stage *const s = malloc(sizeof *s);

    ck_assert_ptr_nonnull(s);
    s->commands = 0;
    tape_begin(&s->tape, seed, population);
    tape_take_cells(&s->tape);
    tape_prepare_recorded(&s->tape);
    side_begin(&s->at_once, &s->tape, s->tape.style.lanes, NULL);
    s->at_once.is_unseen = seed % 2 == 0;
    s->played_count = count;
    for (size_t i = 0; i < count; ++i) {
        side_begin(&s->played[i], &s->tape, s->tape.style.lanes, executors == NULL ? NULL : executors + i);
    }
    return s;
}

void stage_end(stage *s)
{
    for (size_t i = 0; i < s->played_count; ++i) {
        side_end(&s->played[i]);
    }
    side_end(&s->at_once);
    tape_end(&s->tape);
    free(s);
}

// Every world gets its first entities at once, with some of the components that come and go, and some
// with names.
static void seed_all(stage *s, const operation *op)
{
    s->tape.code = op->code;
    (void)tape_apply(&s->tape, op);
    ck_ok(side_run(&s->at_once, &s->tape, op));
    side_map(&s->at_once, &s->tape, op);
    for (size_t k = 0; k < s->played_count; ++k) {
        ck_ok(side_run(&s->played[k], &s->tape, op));
        side_map(&s->played[k], &s->tape, op);
    }
}

static void stage_seed(stage *s, uint32_t count)
{
    const uint32_t bulk = s->tape.style.components & model_bit(MODEL_BULK);
    const uint32_t given = s->tape.style.components & ~model_bit(MODEL_BULK);

    tape_forget_pending(&s->tape);
    for (uint32_t i = 0; i < count; ++i) {
        const operation op = {.code = OP_CREATE,
                              .has_placement = !s->tape.style.has_unplaced || i % 8 != 0,
                              .given = i % 4 == 0 ? bulk : given & (i * 0x155),
                              .load = i,
                              .peer = MODEL_NONE,
                              .tag = 1000 + i,
                              .count = 1};
        const operation name = {.code = OP_NAME,
                                .entity = s->tape.model.count,
                                .name = 1 + i % MODEL_NAMES,
                                .count = 1};

        seed_all(s, &op);
        if (i % 3 == 0) {
            seed_all(s, &name);
        }
    }
}

static void compare_played(stage *s, espl_report *reports)
{
    const uint64_t hash = test_physical_hash(s->played[0].world);

    for (size_t k = 1; k < s->played_count; ++k) {
        tape_demand(&s->tape, test_physical_hash(s->played[k].world) == hash,
                    "executor %zu gives another world", k);
        memcpy(reports[k].stage_ns, reports[0].stage_ns, sizeof reports[k].stage_ns);
        tape_demand(&s->tape, memcmp(&reports[k], &reports[0], sizeof *reports) == 0,
                    "executor %zu gives another report", k);
        for (uint32_t i = 0; i < s->tape.model.count; ++i) {
            tape_demand(&s->tape,
                        espl_entity_equal(s->played[k].handles[i], s->played[0].handles[i]),
                        "executor %zu gives node %u another handle", k, i);
        }
    }
}

// Play where there may be too few indices: done, or refused with nothing changed.
bool stage_play(stage *s, test_side *side, const expected *wanted, espl_report *report)
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

// Let all worlds take the step that the record of the last operation says, if any.
static void take_step(stage *s)
{
    if (!tape_takes_step(&s->tape)) {
        return;
    }
    const operation op = pick_step(&s->tape);

    s->tape.code = op.code;
    s->tape.model.overflow = MODEL_FINITE; // that of the last command is none of the step
    // The model follows when all worlds have taken the step, because they look at it before.
    espl_status statuses[1 + PLAYED_LIMIT];

    for (size_t k = 0; k <= s->played_count; ++k) {
        statuses[k] = side_run(k == 0 ? &s->at_once : &s->played[k - 1], &s->tape, &op);
    }
    const model_answer answer = tape_apply(&s->tape, &op);

    for (size_t k = 0; k <= s->played_count; ++k) {
        side_check(k == 0 ? &s->at_once : &s->played[k - 1], &s->tape, &op, statuses[k], answer);
    }
}

void stage_record(stage *s, uint32_t count)
{
    const uint32_t wanted = s->tape.style.population / 3 + 1;

    if (s->tape.model.living_count < wanted) {
        stage_seed(s, wanted);
    }
    take_step(s);
    make_batch(&s->tape, &s->batch, count);
    for (size_t k = 0; k < s->played_count; ++k) {
        record_batch(&s->tape, &s->played[k], &s->batch, k == 0);
    }
}

expected stage_run(stage *s)
{
    const expected wanted = run_batch(&s->tape, &s->at_once, &s->batch);

    s->commands += wanted.accepted;
    return wanted;
}

void stage_compare(stage *s, test_side *side, const expected *wanted, const espl_report *report)
{
    check_results(&s->tape, side, &s->batch);
    if (report != NULL) {
        check_report(&s->tape, report, wanted);
        check_first_refused(&s->tape, side, &s->batch, report);
    }
    check_calls(&s->tape, side, &s->batch);
    side_map(side, &s->tape, NULL);
    side_compare(side, &s->tape);
    espl_command_buffer_reset(side->batch);
}

void stage_tell_driver(stage *s, uint32_t limit)
{
    (void)snprintf(s->driver, sizeof s->driver, "tests/fuzz/recorded --limit %u", limit);
    s->tape.driver = s->driver;
}

bool stage_step(stage *s, uint32_t count)
{
    espl_report reports[PLAYED_LIMIT];
    bool goes_on = true;

    stage_record(s, count);
    const expected wanted = stage_run(s);
    for (size_t k = 0; k < s->played_count; ++k) {
        if (stage_play(s, &s->played[k], &wanted, &reports[k])) {
            stage_compare(s, &s->played[k], &wanted, &reports[k]);
        } else {
            goes_on = false;
        }
    }
    if (goes_on) {
        side_compare(&s->at_once, &s->tape);
        compare_played(s, reports);
        for (size_t k = 0; k < s->played_count; ++k) {
            side_compare_past(&s->at_once, &s->played[k], &s->tape);
        }
    }
    return goes_on;
}

// --- Limits of a build ---

// With large batches, those that neither make nor destroy any.
uint32_t stage_fit(stage *s, uint32_t limit)
{
    test_tape *const tape = &s->tape;
    static const opcode codes[] = {OP_CREATE,  OP_INSTANTIATE,     OP_INSTANCE,    OP_CREATION,
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
