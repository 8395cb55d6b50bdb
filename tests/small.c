// SPDX-License-Identifier: MIT
#include "tests/small.h"

#include "tests/asserts.h"

#include <string.h>

enum { OPERATION_LIMIT = 64, CASE_LIMIT = 32 }; // of entities at once

void small_begin(small *s)
{
    memset(s, 0, sizeof *s);
    tape_begin(&s->tape, 1, 4);
    s->tape.style.values = VALUES_STRETCHED;
    s->tape.style.components = model_bit(MODEL_BULK); // all there is may come and go
    side_begin(&s->side, &s->tape, SMALL_LANES, NULL);
    side_begin(&s->twin, &s->tape, SMALL_LANES, NULL);
}

void small_end(small *s)
{
    side_end(&s->side);
    side_end(&s->twin);
    tape_end(&s->tape);
}

// Check's own assertions tell each success to the runner, which takes longer than most calls.
static void must(const small *s, espl_status status)
{
    tape_demand(&s->tape, status == ESPL_OK, "%s", espl_status_name(status));
}

espl_status small_run(small *s, const operation *op)
{
    s->tape.code = op->code;
    s->tape.at = s->cases;
    const espl_status status = side_run(&s->side, &s->tape, op);
    const espl_status twin = side_run(&s->twin, &s->tape, op);
    const model_answer answer = tape_apply(&s->tape, op);

    tape_demand(&s->tape, status == twin, "%s, and %s in the twin", espl_status_name(status),
                espl_status_name(twin));
    side_check(&s->side, &s->tape, op, status, answer);
    side_map(&s->side, &s->tape, op);
    side_map(&s->twin, &s->tape, op);
    return status;
}

// Placements differ from node to node, so that a mix-up shows.
static espl_transform value_of(uint32_t i)
{
    espl_transform value = test_at((float)(i + 1), (float)(i * i), -3);

    value.rotation[i % 3] = 0.6f;
    value.rotation[3] = 0.8f;
    value.scale = i % 4 == 3 ? 2.0f : 1.0f;
    return value;
}

uint32_t small_add(small *s, uint32_t parent, espl_link link)
{
    const uint32_t node = s->tape.model.count;
    const operation create = {.code = OP_CREATE, .has_placement = true, .tag = node, .count = 1};
    const operation place = {.code = OP_SET_LOCAL, .entity = node, .value = value_of(node)};
    const operation attach = {.code = OP_ATTACH,
                              .entity = node,
                              .parent = parent,
                              .before = MODEL_NONE,
                              .options = {.position = ESPL_KEEP_LOCAL,
                                          .rotation = ESPL_KEEP_LOCAL,
                                          .scale = ESPL_KEEP_LOCAL,
                                          .link = link}};

    must(s, small_run(s, &create));
    must(s, small_run(s, &place));
    if (parent != MODEL_NONE) {
        must(s, small_run(s, &attach));
    }
    return node;
}

// --- Playing ---

static bool plays_before(const operation *a, const operation *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    return a->lane != b->lane ? a->lane < b->lane : a < b;
}

// Next operation in the order of playback after `last`, NULL for the first.
static const operation *next_played(const operation *ops, uint32_t count, const operation *last)
{
    const operation *best = NULL;

    for (uint32_t i = 0; i < count; ++i) {
        const bool is_behind = last == NULL || plays_before(last, &ops[i]);
        if (is_behind && (best == NULL || plays_before(&ops[i], best))) {
            best = &ops[i];
        }
    }
    return best;
}

// What is recorded, and what the account of its playback must be.
typedef struct recorded {
    operation *ops;
    uint32_t count;
    espl_status status[OPERATION_LIMIT];
    uint32_t index[OPERATION_LIMIT]; // in the lane
    size_t accepted, applied, lossy, calls, pendings;
    model_overflow overflow;
} recorded;

static bool makes(opcode code)
{
    return code == OP_INSTANCE || code == OP_CREATION;
}

// Before they are played, pending entities are nothing.
static void check_unplayed(const small *s, const recorded *r)
{
    for (uint32_t i = 0; i < s->tape.pending_count; ++i) {
        const espl_entity pending = s->side.pending[i];
        espl_entity out = s->side.foreign;

        if (!espl_entity_equal(pending, s->side.dead)) {
            const espl_status status = espl_command_buffer_resolve(s->side.batch, pending, &out);
            tape_demand(&s->tape,
                        status == ESPL_ERR_PENDING && espl_entity_equal(out, s->side.foreign),
                        "unplayed, pending %u resolves to %s", i, espl_status_name(status));
        }
    }
    const size_t count = espl_command_buffer_count(s->side.batch);
    tape_demand(&s->tape, count == r->accepted, "%zu commands of %zu", count, r->accepted);
}

static void record_all(small *s, recorded *r)
{
    uint32_t in_lane[SMALL_LANES] = {0};

    for (uint32_t i = 0; i < r->count; ++i) {
        operation *const op = &r->ops[i];

        s->tape.code = op->code;
        if (makes(op->code)) {
            op->pending = tape_pend(&s->tape, op->count);
        }
        r->status[i] = side_record(&s->side, op);
        const bool is_accepted = r->status[i] == ESPL_OK;
        r->index[i] = is_accepted ? in_lane[op->lane]++ : 0;
        r->accepted += is_accepted;
        r->calls += is_accepted && op->code == OP_CALL;
        r->pendings += is_accepted && makes(op->code) ? op->count : 0;
    }
}

// What one command came to: played, at once in the twin, and by the model.
static void follow(small *s, recorded *r, const operation *op)
{
    const uint32_t number = (uint32_t)(op - r->ops);

    s->tape.code = op->code;
    const espl_status at_once = side_run(&s->twin, &s->tape, op);
    const model_answer answer = tape_apply(&s->tape, op);
    const bool is_accepted = r->status[number] == ESPL_OK;
    const espl_status status =
        is_accepted ? espl_command_buffer_result(s->side.batch, op->lane, r->index[number])
                    : r->status[number];

    side_map(&s->twin, &s->tape, op);
    side_check(&s->twin, &s->tape, op, at_once, answer);
    tape_demand(&s->tape, (answer & model_answer_of(status)) != 0,
                "command %u came to %s, at once to %s, allowed set %#x", number,
                espl_status_name(status), espl_status_name(at_once), answer);
    tape_demand(&s->tape,
                !is_accepted || status == at_once || (status >= 0 && at_once == ESPL_OVERFLOW),
                "command %u came to %s, not %s", number, espl_status_name(status),
                espl_status_name(at_once));
    if (r->overflow < s->tape.model.overflow) {
        r->overflow = s->tape.model.overflow;
    }
    r->applied += is_accepted && status >= 0;
    r->lossy += is_accepted && status == ESPL_LOSSY;
}

static void check_account(const small *s, const espl_report *report, const recorded *r,
                          size_t living)
{
    tape_demand(&s->tape,
                report->accepted == r->accepted && report->applied == r->applied &&
                    report->lossy == r->lossy,
                "accepted %zu of %zu, applied %zu of %zu, lossy %zu of %zu", report->accepted,
                r->accepted, report->applied, r->applied, report->lossy, r->lossy);
    tape_demand(&s->tape, !report->has_overflowed || r->overflow != MODEL_FINITE,
                "the report has an overflow, but all worlds of the model are finite");
    tape_demand(&s->tape, report->calls == r->calls && report->pendings == r->pendings,
                "%zu calls of %zu, %zu pendings of %zu", report->calls, r->calls, report->pendings,
                r->pendings);
    tape_demand(&s->tape,
                living + report->created - report->destroyed == s->tape.model.living_count,
                "%zu created, %zu destroyed of %zu, %u live", report->created, report->destroyed,
                living, s->tape.model.living_count);
}

static void check_calls(small *s, const recorded *r)
{
    for (uint32_t callback = 0; callback < SIDE_CALLBACKS; ++callback) {
        for (const operation *op = next_played(r->ops, r->count, NULL); op != NULL;
             op = next_played(r->ops, r->count, op)) {
            const uint32_t number = (uint32_t)(op - r->ops);
            if (op->code == OP_CALL && op->call.callback == callback &&
                r->status[number] == ESPL_OK) {
                side_expect_call(&s->side, &s->tape, op, r->index[number]);
            }
        }
    }
    side_forget_calls(&s->side, &s->tape);
}

void small_play(small *s, operation *ops, uint32_t count)
{
    const size_t living = s->tape.model.living_count;
    recorded r = {.ops = ops, .count = count};
    espl_report report;

    ck_assert_uint_le(count, OPERATION_LIMIT);
    s->tape.at = s->cases;
    record_all(s, &r);
    check_unplayed(s, &r);
    const espl_status played = espl_play(s->side.world, s->side.batch, &report);
    tape_demand(&s->tape, played == ESPL_OK, "play: %s", espl_status_name(played));
    for (const operation *op = next_played(ops, count, NULL); op != NULL;
         op = next_played(ops, count, op)) {
        follow(s, &r, op);
    }
    check_account(s, &report, &r, living);
    check_calls(s, &r);
    side_map(&s->side, &s->tape, NULL);
    side_compare(&s->side, &s->tape);
    side_compare(&s->twin, &s->tape);
    espl_command_buffer_reset(s->side.batch);
    tape_forget_pending(&s->tape);
}

void small_clear(small *s)
{
    while (s->tape.model.living_count != 0) {
        const operation op = {.code = OP_DESTROY_SUBTREE,
                              .entity = model_root(&s->tape.model, s->tape.model.living[0])};
        must(s, small_run(s, &op));
    }
    side_compare(&s->side, &s->tape);
    side_compare(&s->twin, &s->tape);
    s->made += s->tape.model.count;
    model_free(&s->tape.model);
    s->side.mapped = s->twin.mapped = 0;
    s->cases += 1;
    if (test_is_worn(s->made + 1, CASE_LIMIT + 1)) {
        side_end(&s->side);
        side_end(&s->twin);
        side_begin(&s->side, &s->tape, SMALL_LANES, NULL);
        side_begin(&s->twin, &s->tape, SMALL_LANES, NULL);
        s->made = 0;
    }
}
