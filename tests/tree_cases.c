// SPDX-License-Identifier: MIT
#include "tests/tree_cases.h"

#include "tests/asserts.h"
#include "tests/inside.h"
#include "tests/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Shapes ---

bool shape_next(uint32_t *depth, uint32_t count)
{
    for (uint32_t i = count; i-- > 1;) {
        if (depth[i] <= depth[i - 1]) {
            depth[i] += 1;
            for (uint32_t k = i + 1; k < count; ++k) {
                depth[k] = 1;
            }
            return true;
        }
    }
    return false;
}

shape shape_of(const uint32_t *depth, uint32_t count, uint32_t free_links)
{
    shape out = {.count = count, .free_links = free_links};

    out.parent[0] = MODEL_NONE;
    for (uint32_t i = 1; i < count; ++i) {
        out.parent[i] = i - 1;
        while (depth[out.parent[i]] != depth[i] - 1) {
            out.parent[i] -= 1;
        }
    }
    return out;
}

// What must succeed. Check tells each success of an assertion of its own to the runner, which takes
// longer than the call.
static void must(const tree_cases *o, espl_status status)
{
    tape_demand(&o->tape, status == ESPL_OK, "%s", espl_status_name(status));
}

// --- Begin and end ---

void tree_cases_begin(tree_cases *o, uint32_t ways)
{
    memset(o, 0, sizeof *o);
    tape_begin(&o->tape, 1, 4);
    o->tape.style.values = VALUES_STRETCHED;
    side_begin(&o->side, &o->tape, 1, NULL);
    o->cases = malloc(TREE_CASES * sizeof *o->cases);
    ck_assert_ptr_nonnull(o->cases);
    o->ways = ways;
}

// --- Planting ---

// Placements differ from node to node, so that a mix-up shows.
static espl_transform value_of(uint32_t i)
{
    espl_transform value = test_at((float)(i + 1), (float)(i * i), -3);

    value.rotation[i % 3] = 0.6f;
    value.rotation[3] = 0.8f;
    value.scale = i % 4 == 3 ? 2.0f : 1.0f;
    value.stretch[i % 3] = i % 4 == 2 ? 1.5f : 1.0f;
    return value;
}

static uint32_t stride_of(const tree_cases *o)
{
    return o->shape.count + 1;
}

static void create_all(tree_cases *o, uint32_t count)
{
    const espl_component set[2] = {MODEL_TAG, ESPL_TRANSFORM};
    espl_world *const world = o->side.world;

    o->side.handles = realloc(o->side.handles, (count + (size_t)1) * sizeof *o->side.handles);
    ck_assert_ptr_nonnull(o->side.handles);
    o->side.capacity = count + 1;
    must(o, espl_create(world, set, 2, count, o->side.handles));
    for (uint32_t i = 0; i < count; ++i) {
        const espl_write_value value = {.transform = value_of(i % stride_of(o))};
        const espl_entity entity = o->side.handles[i];

        must(o, espl_set_component(world, entity, MODEL_TAG, &i, sizeof i));
        must(o, espl_set_local_transform(world, entity, &value.transform));
        (void)model_create(&o->tape.model, true, i);
        (void)model_write(&o->tape.model, i, ESPL_WRITE_LOCAL_TRANSFORM, &value);
    }
    o->side.mapped = count;
}

// All trees in one playback.
static void plant(tree_cases *o)
{
    if (test_is_worn(o->made + 1, (size_t)o->held + 1)) {
        side_end(&o->side);
        side_begin(&o->side, &o->tape, 1, NULL);
        o->made = 0;
    }
    espl_recorder *const recorder = espl_command_buffer_recorder(o->side.batch, 0);
    const uint32_t stride = stride_of(o), count = stride * o->count;

    create_all(o, count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t node = i % stride;
        espl_attach_options options = {.position = ESPL_KEEP_LOCAL,
                                       .rotation = ESPL_KEEP_LOCAL,
                                       .scale = ESPL_KEEP_LOCAL,
                                       .link = (espl_link)(o->shape.free_links >> node & 1)};

        if (node == 0 || node == o->shape.count) {
            continue;
        }
        const uint32_t parent = i - node + o->shape.parent[node];
        must(o, espl_record_attach(recorder, 0, o->side.handles[i], o->side.handles[parent],
                                   &options));
        (void)model_attach(&o->tape.model, i, parent, MODEL_NONE, &options);
    }
    must(o, espl_play(o->side.world, o->side.batch, NULL));
    espl_command_buffer_reset(o->side.batch);
}

// Fell everything and begin anew with node 0.
static void clear(tree_cases *o)
{
    const test_model *const model = &o->tape.model;
    espl_world_stats stats;

    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t node = model->living[i];
        if (model->nodes[node].parent == MODEL_NONE) {
            must(o, espl_destroy(o->side.world, o->side.handles[node], ESPL_EXTENT_SUBTREE));
        }
    }
    espl_stats(o->side.world, &stats);
    tape_demand(&o->tape, stats.entities == 0, "%zu live", stats.entities);
    o->made += model->count;
    model_clear(&o->tape.model);
    o->side.mapped = 0;
}

// --- Cases ---

static uint32_t moved(uint32_t operand, uint32_t first)
{
    return operand < TAPE_PENDING ? operand + first : operand;
}

// The operation on the tree of its case.
static operation operation_on(const tree_cases *o, uint32_t at, uint32_t step)
{
    const uint32_t first = at * stride_of(o);
    operation op = o->cases[at].steps[step];

    op.entity = moved(op.entity, first);
    op.parent = moved(op.parent, first);
    op.before = moved(op.before, first);
    return op;
}

static void note_outcome(tree_cases *o, uint32_t at, uint32_t step, espl_status status)
{
    const bool is_last = step + 1 == o->cases[at].count;

    o->tried += is_last;
    o->done += is_last && status >= 0;
    o->refused += is_last && status < 0;
}

static void run_step(tree_cases *o, uint32_t at, uint32_t step)
{
    const operation op = operation_on(o, at, step);

    o->tape.at = at;
    o->tape.code = op.code;
    const espl_status status = side_run(&o->side, &o->tape, &op);
    const model_answer answer = tape_apply(&o->tape, &op);
    side_check(&o->side, &o->tape, &op, status, answer);
    side_map(&o->side, &o->tape, &op);
    note_outcome(o, at, step, status);
}

static void prepare_all(tree_cases *o)
{
    for (uint32_t i = 0; i < o->count; ++i) {
        for (uint32_t step = 0; step < o->cases[i].prepared; ++step) {
            run_step(o, i, step);
        }
    }
}

static void run_at_once(tree_cases *o)
{
    for (uint32_t i = 0; i < o->count; ++i) {
        for (uint32_t step = o->cases[i].prepared; step < o->cases[i].count; ++step) {
            run_step(o, i, step);
        }
    }
}

static void record_all(tree_cases *o)
{
    for (uint32_t i = 0; i < o->count; ++i) {
        for (uint32_t step = o->cases[i].prepared; step < o->cases[i].count; ++step) {
            operation *const own = &o->cases[i].steps[step];

            if (own->code == OP_INSTANCE) {
                own->pending = tape_pend(&o->tape, own->count);
            }
            const operation op = operation_on(o, i, step);
            must(o, side_record(&o->side, &op));
        }
    }
}

static void run_recorded(tree_cases *o)
{
    uint32_t number = 0;

    record_all(o);
    must(o, espl_play(o->side.world, o->side.batch, NULL));
    for (uint32_t i = 0; i < o->count; ++i) {
        o->tape.at = i;
        for (uint32_t step = o->cases[i].prepared; step < o->cases[i].count; ++step) {
            const operation op = operation_on(o, i, step);

            o->tape.code = op.code;
            const model_answer answer = tape_apply(&o->tape, &op);
            const espl_status status = espl_command_buffer_result(o->side.batch, 0, number++);
            tape_demand(&o->tape, (answer & model_answer_of(status)) != 0,
                        "came to %s, allowed set %#x", espl_status_name(status), answer);
            note_outcome(o, i, step, status);
        }
    }
    side_map(&o->side, &o->tape, NULL);
    espl_command_buffer_reset(o->side.batch);
    tape_forget_pending(&o->tape);
}

// Trim where entities died: not a bit of what can be read changes.
static void trim(tree_cases *o)
{
    const test_model *const model = &o->tape.model;

    if (model->living_count == model->count) {
        return;
    }
    must(o, espl_compact(o->side.world));
    for (uint32_t i = 0; i < model->living_count; ++i) {
        tape_demand(&o->tape, test_is_laid_out(o->side.world, o->side.handles[model->living[i]]),
                    "node %u is not laid out after a trim", model->living[i]);
    }
    side_compare(&o->side, &o->tape);
}

static void run(tree_cases *o)
{
    for (uint32_t way = CASES_AT_ONCE; way <= CASES_RECORDED && o->count != 0; way *= 2) {
        if ((o->ways & way) == 0) {
            continue;
        }
        snprintf(o->note, sizeof o->note, "%s, %u nodes a tree, free links %#x",
                 way == CASES_RECORDED ? "recorded" : "at once", stride_of(o), o->shape.free_links);
        o->tape.note = o->note;
        plant(o);
        prepare_all(o);
        if (way == CASES_RECORDED) {
            run_recorded(o);
        } else {
            run_at_once(o);
        }
        side_compare(&o->side, &o->tape);
        trim(o);
        clear(o);
    }
    o->count = o->held = 0;
}

void tree_cases_turn(tree_cases *o, const shape *s)
{
    run(o);
    o->shape = *s;
}

void tree_cases_end(tree_cases *o)
{
    run(o);
    free(o->cases);
    side_end(&o->side);
    tape_end(&o->tape);
}

// Entities of a case at once: its tree, and the clones of it at most that its steps make.
static uint32_t held_by(const tree_cases *o, const operation *ops, uint32_t count)
{
    uint32_t trees = 1;

    for (uint32_t i = 0; i < count; ++i) {
        trees += ops[i].code == OP_INSTANCE ? ops[i].count : 0;
    }
    return trees * stride_of(o);
}

void tree_cases_try_all(tree_cases *o, const operation *ops, uint32_t count, uint32_t prepared)
{
    const uint32_t held = held_by(o, ops, count);

    if (o->held + held > test_fitting(TREE_CASES * CASE_ENTITIES, 1)) {
        run(o);
    }
    tree_case *const one = &o->cases[o->count++];

    o->held += held;
    tape_demand(&o->tape, count <= CASE_STEPS, "a case of %u steps", count);
    memcpy(one->steps, ops, count * sizeof *ops);
    one->count = count;
    one->prepared = prepared;
    if (o->count == TREE_CASES) {
        run(o);
    }
}

void tree_cases_try(tree_cases *o, const operation *op)
{
    tree_cases_try_all(o, op, 1, 0);
}
