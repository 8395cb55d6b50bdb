// SPDX-License-Identifier: MIT
#include "tests/small.h"

#include <check.h>
#include <string.h>

enum { OPERATION_LIMIT = 64, CASE_LIMIT = 32 }; // of entities at once

void small_begin(small *s)
{
    memset(s, 0, sizeof *s);
    tape_begin(&s->tape, 1, 4);
    s->tape.style.values = VALUES_STRETCHED;
    side_begin(&s->side, SMALL_LANES, NULL);
}

void small_end(small *s)
{
    side_end(&s->side);
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
    const model_answer answer = tape_apply(&s->tape, op);

    side_check(&s->side, &s->tape, op, status, answer);
    side_map(&s->side, &s->tape, op);
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
                              .options = {.position = ESPL_STAY_LOCAL,
                                          .rotation = ESPL_STAY_LOCAL,
                                          .scale = ESPL_STAY_LOCAL,
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

static void check_account(const small *s, const espl_report *report, uint32_t recorded)
{
    tape_demand(&s->tape,
                report->accepted == recorded &&
                    report->accepted == report->applied + report->refused,
                "accepted %zu of %u, applied %zu, refused %zu", report->accepted, recorded,
                report->applied, report->refused);
}

void small_play(small *s, operation *ops, uint32_t count)
{
    espl_status recorded[OPERATION_LIMIT];
    uint32_t index[OPERATION_LIMIT], in_lane[SMALL_LANES] = {0}, accepted = 0;
    espl_report report;

    ck_assert_uint_le(count, OPERATION_LIMIT);
    s->tape.at = s->cases;
    for (uint32_t i = 0; i < count; ++i) {
        if (ops[i].code == OP_INSTANCE) {
            ops[i].pending = tape_pend(&s->tape, ops[i].count);
        }
        recorded[i] = side_record(&s->side, &ops[i]);
        index[i] = recorded[i] == ESPL_OK ? in_lane[ops[i].lane]++ : 0;
        accepted += recorded[i] == ESPL_OK;
    }
    const espl_status played = espl_play(s->side.world, s->side.batch, &report);
    tape_demand(&s->tape, played == ESPL_OK, "play: %s", espl_status_name(played));
    check_account(s, &report, accepted);

    for (const operation *op = next_played(ops, count, NULL); op != NULL;
         op = next_played(ops, count, op)) {
        const model_answer answer = tape_apply(&s->tape, op);
        const uint32_t number = (uint32_t)(op - ops);
        const espl_status status =
            recorded[number] != ESPL_OK
                ? recorded[number]
                : espl_commands_result(s->side.batch, op->lane, index[number]);

        s->tape.code = op->code;
        tape_demand(&s->tape, (answer & model_answer_of(status)) != 0,
                    "command %u came to %s, allowed set %#x", number, espl_status_name(status),
                    answer);
    }
    side_map(&s->side, &s->tape, NULL);
    side_compare(&s->side, &s->tape);
    espl_commands_reset(s->side.batch);
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
    s->made += s->tape.model.count;
    model_free(&s->tape.model);
    s->side.mapped = 0;
    s->cases += 1;
    if (test_is_worn(s->made + 1, CASE_LIMIT + 1)) {
        side_end(&s->side);
        side_begin(&s->side, SMALL_LANES, NULL);
        s->made = 0;
    }
}
