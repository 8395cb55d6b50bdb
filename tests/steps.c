// SPDX-License-Identifier: MIT
// Motion, presents and watches in tapes, and which other steps a tape takes. Steps are drawn apart from the rest
// of an operation, from a hash of its record, so that the operations around them stay as they are without them.
#include "tests/steps.h"

#include "tests/asserts.h"
#include "tests/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Draws ---

// In every fourth tape a step is taken now and then; in the others writes have flags that do nothing.
static bool takes_motion(const test_tape *tape)
{
    uint64_t seed = tape->seed ^ 0x6d6f74696f6e;
    const bool moves = tape->moves || test_one_in(&seed, 4);

    return moves && !tape->is_still &&
           draw_aside(&tape->draw, 1) % (tape->model.history == 0 ? 12 : 8) == 0;
}

// Families of steps that a tape takes besides those of motion.
enum { FAMILY_RENDERABLES = 1, FAMILY_COUNTERPARTS = 2, FAMILY_PLACES = 4, FAMILY_COUNT = 3 };

static uint32_t families_of(const test_tape *tape)
{
    uint64_t seed = tape->seed ^ 0x66616d696c79;
    uint32_t families = 0;

    families |= test_one_in(&seed, 3) || tape->draws ? FAMILY_RENDERABLES : 0U;
    families |= test_one_in(&seed, 3) ? FAMILY_COUNTERPARTS : 0U;
    families |= tape->takes_places ? FAMILY_PLACES : 0U;
    if (tape->has_own_renderables) {
        families &= ~(uint32_t)FAMILY_RENDERABLES;
    }
    return tape->is_still ? 0 : families;
}

bool tape_takes_step(const test_tape *tape)
{
    return takes_motion(tape) || (families_of(tape) != 0 && draw_aside(&tape->draw, 20) % 6 == 0);
}

uint32_t pick_operand_aside(const test_tape *tape, uint64_t *random)
{
    static const uint32_t bad[] = {MODEL_NONE, MODEL_DEAD, MODEL_FOREIGN, TAPE_ALIEN};
    const test_model *const model = &tape->model;

    if (model->living_count == 0 || test_one_in(random, 24)) {
        return bad[test_below(random, 4)];
    }
    return model->living[test_below(random, model->living_count)];
}

// A step of one of the families that the tape takes.
static operation pick_of_family(const test_tape *tape)
{
    uint64_t random = draw_aside(&tape->draw, 21);
    const uint32_t families = families_of(tape);
    uint32_t family = test_below(&random, FAMILY_COUNT);
    operation op = {.code = OP_STEP, .count = 1};

    while ((families >> family & 1) == 0) {
        family = (family + 1) % FAMILY_COUNT;
    }
    if (family == 0) {
        pick_renderable_step(tape, &random, &op);
    } else if (family == 2) {
        pick_place_step(tape, &random, &op);
    } else {
        pick_original_step(tape, &random, &op);
    }
    return op;
}

static float pick_time(uint64_t *random)
{
    static const float usual[] = {0, 1, 0.5f, 1.5f, -0.25f, NAN, INFINITY};
    const uint32_t kind = test_below(random, 24);

    return kind < sizeof usual / sizeof *usual ? usual[kind] : test_between(random, 0, 1);
}

static operation pick_motion(const test_tape *tape)
{
    static const tape_step moving[16] = {STEP_START,   STEP_STOP,    STEP_BEGIN,   STEP_BEGIN,
                                         STEP_BEGIN,   STEP_BEGIN,   STEP_BEGIN,   STEP_END,
                                         STEP_END,     STEP_END,     STEP_PRESENT, STEP_PRESENT,
                                         STEP_PRESENT, STEP_COLLECT, STEP_COLLECT, STEP_COLLECT};
    uint64_t random = draw_aside(&tape->draw, 2);
    const uint32_t kind = test_below(&random, 16);
    operation op = {.code = OP_STEP, .count = 1, .step = moving[kind]};

    if (tape->model.history == 0 && kind % 4 != 0) {
        op.step = kind % 4 == 1 ? STEP_COLLECT : STEP_START;
    }
    op.history = test_below(&random, 4) == 3 ? test_below(&random, 4) : 1 + test_below(&random, 2);
    op.time = pick_time(&random);
    op.ends_watch = test_one_in(&random, 4);
    return op;
}

operation pick_step(const test_tape *tape)
{
    return takes_motion(tape) ? pick_motion(tape) : pick_of_family(tape);
}

espl_write_kind pick_flagged(const test_tape *tape, espl_write_kind kind, uint32_t entry)
{
    uint64_t random = draw_aside(&tape->draw, 3 + entry);

    kind = (unsigned)kind < TEST_KINDS ? form_any_flag(kind, &random) : kind;
    return pick_place_kind(tape, kind, &random);
}

// --- The model ---

static model_answer start(test_model *model, uint32_t history)
{
    if (history > 2 || model->history != 0) {
        return (history > 2 ? model_answer_of(ESPL_ERR_ARGUMENT) : 0) |
               (model->history != 0 ? model_answer_of(ESPL_ERR_EXISTS) : 0);
    }
    model->history = history != 0 ? history : 1;
    return model_answer_of(ESPL_OK);
}

model_answer model_step(test_model *model, const operation *op)
{
    const bool has_motion = model->history != 0;
    const model_answer none = has_motion ? 0 : model_answer_of(ESPL_ERR_ARGUMENT);
    const model_answer done = model_answer_of(ESPL_OK);

    switch (op->step) {
    case STEP_START:
        return start(model, op->history);
    case STEP_STOP:
        model->history = 0;
        return none != 0 ? none : done;
    case STEP_BEGIN:
    case STEP_END:
        return none != 0 ? none : done;
    case STEP_PRESENT:
        if (!isfinite(op->time)) {
            return none | model_answer_of(ESPL_ERR_NOT_FINITE);
        }
        return none != 0 ? none : done | model_answer_of(ESPL_OVERFLOW);
    case STEP_COLLECT:
        return done;
    case STEP_DRESS:
        return model_dress(model, op);
    case STEP_UPDATE:
        return done | model_answer_of(ESPL_PARTLY);
    case STEP_ORIGINAL:
        return model_set_original(model, op);
    case STEP_FOLLOW:
        return model_follow(model, op);
    case STEP_REBASE:
        return model_move_world(model, op->cells, op->point);
    case STEP_RECENTER:
        return model_recenter(model, op->time);
    case STEP_COUNT:
        break;
    }
    abort();
}

bool step_destroys(const operation *op)
{
    return op->code == OP_STEP && op->step == STEP_FOLLOW && op->follow.removed_count != 0;
}

// --- A side ---

// Collect the side's watch, of which the kinds are drawn when it is created.
static espl_status collect(test_side *side, const test_tape *tape, bool ends)
{
    espl_changes changes;
    espl_status status = ESPL_OK;

    if (side->watch == NULL) {
        const uint32_t kinds =
            1 + (uint32_t)(draw_aside(&tape->draw, 9) % (tape->model.history != 0 ? 7 : 3));
        const bool has_cells = tape->model.cell_size != 0 && draw_aside(&tape->draw, 10) % 2 == 0;
        const espl_watch_def def = {.flags = kinds | (has_cells ? ESPL_WATCH_CELL : 0U) |
                                             (kinds != ESPL_WATCH_LOCAL ? ESPL_WATCH_BEFORE : 0U)};

        status = espl_watch_create(side->world, &def, &side->watch);
    }
    if (status == ESPL_OK) {
        status = espl_watch_collect(side->watch, 0, &changes);
    }
    if (status == ESPL_OK && ends) {
        espl_watch_destroy(side->watch);
        side->watch = NULL;
    }
    return status;
}

espl_status side_step(test_side *side, const test_tape *tape, const operation *op)
{
    espl_world *const world = side->world;

    switch (op->step) {
    case STEP_START:
        return espl_motion_start(world, &(espl_motion_def){.history = op->history});
    case STEP_STOP:
        return espl_motion_stop(world);
    case STEP_BEGIN:
        return espl_tick_begin(world);
    case STEP_END:
        return espl_tick_end(world);
    case STEP_PRESENT:
        if (side->is_unseen && tape->model.history != 0 && isfinite(op->time)) {
            return ESPL_OK;
        }
        return espl_present(world, op->time, NULL);
    case STEP_COLLECT:
        return side->is_unseen ? ESPL_OK : collect(side, tape, op->ends_watch);
    case STEP_DRESS:
        return side_dress(side, tape, op);
    case STEP_UPDATE:
        return side->is_unseen ? ESPL_OK : side_update(side, tape, op);
    case STEP_ORIGINAL:
        return side_set_original(side, tape, op);
    case STEP_FOLLOW:
        return side_follow_changes(side, tape, op);
    case STEP_REBASE:
        return side_move(side, op);
    case STEP_RECENTER:
        return side_recenter(side, tape, op);
    case STEP_COUNT:
        break;
    }
    abort();
}

// --- Two sides ---

static bool is_same_pose(const espl_pose *a, const espl_pose *b)
{
    espl_transform one = espl_transform_identity(), other = one;

    memcpy(&one, a, sizeof *a);
    memcpy(&other, b, sizeof *b);
    return test_same(&one, &other);
}

void side_compare_past(const test_side *a, const test_side *b, const test_tape *tape)
{
    static const espl_read_kind kinds[] = {
        ESPL_READ_PREVIOUS_LOCAL_POSE, ESPL_READ_PREVIOUS_WORLD_POSE, ESPL_READ_BEFORE_LOCAL_POSE,
        ESPL_READ_BEFORE_WORLD_POSE, ESPL_READ_SHOWN_POSE};
    const size_t count = sizeof kinds / sizeof *kinds - (a->is_unseen || b->is_unseen ? 1 : 0);
    const test_model *const model = &tape->model;

    for (uint32_t i = 0; model->history != 0 && i < model->living_count; ++i) {
        const uint32_t node = model->living[i];

        for (size_t k = 0; k < count && model->nodes[node].has_placement; ++k) {
            espl_pose one, other;

            ck_ok(espl_read_one(a->world, a->handles[node], kinds[k], &one));
            ck_ok(espl_read_one(b->world, b->handles[node], kinds[k], &other));
            tape_demand(tape, is_same_pose(&one, &other), "node %u has another past, kind %d", node,
                        (int)kinds[k]);
        }
    }
}
