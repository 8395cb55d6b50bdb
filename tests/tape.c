// SPDX-License-Identifier: MIT
// Makes operations from a seed and carries them out on the model.
#include "tests/tape.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const opcode_names[OPCODE_COUNT] = {
    "create",       "attach",      "detach",   "destroy",   "destroy_subtree",
    "destroy_only", "instantiate", "instance", "set_local", "set_world"};

_Noreturn void tape_fail(const test_tape *tape, const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    _ck_assert_failed(file, line, "tape", "ESPL_SEED=0x%llx, operation %zu (%s): %s",
                      (unsigned long long)tape->seed, tape->at, opcode_names[tape->code], text);
    abort(); // not reached
}

// --- Styles ---

static void choose_weights(test_tape *tape)
{
    static const uint32_t weights[8] = {0, 1, 1, 2, 2, 4, 4, 8};

    for (int i = 0; i < OPCODE_COUNT; ++i) {
        tape->style.weights[i] = weights[test_below(&tape->random, 8)];
    }
    // A world without entities, or without hierarchies, has little to say.
    tape->style.weights[OP_CREATE] += 1;
    tape->style.weights[OP_ATTACH] += 4;
}

void tape_begin(test_tape *tape, uint64_t seed, uint32_t population)
{
    memset(tape, 0, sizeof *tape);
    tape->seed = tape->random = seed;
    tape->recent = MODEL_NONE;
    model_init(&tape->model);
    choose_weights(tape);
    tape->style.population = population;
    tape->style.shape = (tape_shape)test_below(&tape->random, 5);
    tape->style.values = (tape_values)test_below(&tape->random, 4);
    tape->style.bad_one_in = test_one_in(&tape->random, 4) ? 3 : 20;
    tape->style.has_unplaced = test_one_in(&tape->random, 3);
    tape->style.lanes = 1 + test_below(&tape->random, 4);
    tape->style.keys = 1 + test_below(&tape->random, 3);
}

void tape_end(test_tape *tape)
{
    model_free(&tape->model);
    free(tape->pending);
}

// --- Operands ---

static uint32_t pick_living(test_tape *tape)
{
    const test_model *const model = &tape->model;
    return model->living_count != 0 ? model->living[test_below(&tape->random, model->living_count)]
                                    : MODEL_DEAD;
}

static uint32_t pick_dead(test_tape *tape)
{
    const test_model *const model = &tape->model;
    for (int tries = 0; tries < 8 && model->count != 0; ++tries) {
        const uint32_t node = test_below(&tape->random, model->count);
        if (!model->nodes[node].is_alive) {
            return node;
        }
    }
    return MODEL_DEAD;
}

static uint32_t pick_bad(test_tape *tape)
{
    switch (test_below(&tape->random, 4)) {
    case 0:
        return MODEL_NONE;
    case 1:
        return MODEL_FOREIGN;
    case 2:
        return TAPE_ALIEN;
    default:
        return pick_dead(tape);
    }
}

static uint32_t pick_any(test_tape *tape)
{
    return test_one_in(&tape->random, tape->style.bad_one_in) ? pick_bad(tape) : pick_living(tape);
}

static bool is_living_node(const test_tape *tape, uint32_t operand)
{
    return operand < tape->model.count && tape->model.nodes[operand].is_alive;
}

static uint32_t oldest_living(const test_tape *tape, uint32_t place)
{
    for (uint32_t i = 0, seen = 0; i < tape->model.count && i < 4096; ++i) {
        if (tape->model.nodes[i].is_alive && seen++ == place) {
            return i;
        }
    }
    return MODEL_DEAD;
}

static uint32_t pick_parent(test_tape *tape)
{
    const tape_shape shape = tape->style.shape;
    uint32_t node = MODEL_NONE;

    if (test_one_in(&tape->random, 4)) {
        return pick_any(tape);
    }
    if (shape == SHAPE_CHAIN) {
        node = tape->recent;
    } else if (shape == SHAPE_STAR) {
        node = oldest_living(tape, 0);
    } else if (shape == SHAPE_WIDE) {
        node = oldest_living(tape, test_below(&tape->random, 4));
    }
    return node < tape->model.count && is_living_node(tape, node) ? node : pick_any(tape);
}

// A child of the parent, more often than not; else anything.
static uint32_t pick_before(test_tape *tape, uint32_t parent)
{
    if (!test_one_in(&tape->random, 3)) {
        return MODEL_NONE;
    }
    if (!is_living_node(tape, parent) || test_one_in(&tape->random, 8)) {
        return pick_any(tape);
    }
    uint32_t child = tape->model.nodes[parent].first;
    for (uint32_t steps = test_below(&tape->random, 4); steps > 0 && child != MODEL_NONE; --steps) {
        child = tape->model.nodes[child].next;
    }
    return child;
}

// --- Values ---

static void random_rotation(uint64_t *random, float q[4])
{
    static const float half = 0.70710678f;
    const uint32_t kind = test_below(random, 8);
    const uint32_t axis = test_below(random, 3);

    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
    if (kind < 2) {
        return;
    }
    if (kind == 2) {
        q[axis] = half;
        q[3] = test_one_in(random, 2) ? half : -half;
        return;
    }
    for (int i = 0; i < 4; ++i) {
        q[i] = test_between(random, -1, 1);
    }
    q[axis] += q[axis] < 0 ? -0.5f : 0.5f; // keeps off zero length
}

static float random_scale(const test_tape *tape, uint64_t *random)
{
    static const float usual[4] = {2, 0.5f, 0.25f, 1.5f};
    const uint32_t plain = tape->style.shape == SHAPE_CHAIN ? 16 : 2;

    if (!test_one_in(random, plain)) {
        return 1;
    }
    if (tape->style.values == VALUES_ZERO && test_one_in(random, 4)) {
        return 0;
    }
    if (tape->style.values == VALUES_HUGE && test_one_in(random, 8)) {
        return test_one_in(random, 2) ? 1e25f : 1e-25f;
    }
    const float scale = usual[test_below(random, 4)] * test_between(random, 0.75f, 1.25f);
    return test_one_in(random, 8) ? -scale : scale;
}

static float random_stretch(const test_tape *tape, uint64_t *random)
{
    if (tape->style.values == VALUES_ZERO && test_one_in(random, 4)) {
        return 0;
    }
    return test_between(random, -1, 3);
}

static espl_transform random_value(test_tape *tape)
{
    uint64_t *const random = &tape->random;
    espl_transform value = espl_transform_identity();
    const float reach = tape->style.values == VALUES_HUGE && test_one_in(random, 8) ? 2e38f : 10.0f;

    random_rotation(random, value.rotation);
    for (int i = 0; i < 3; ++i) {
        value.position[i] = test_one_in(random, 8) ? 0 : test_between(random, -reach, reach);
    }
    value.scale = random_scale(tape, random);
    if (tape->style.values != VALUES_PLAIN && test_one_in(random, 4)) {
        for (int i = 0; i < 3; ++i) {
            value.stretch[i] = random_stretch(tape, random);
        }
    }
    if (test_one_in(random, 16)) {
        value.context = test_below(random, 3);
    }
    return value;
}

// One field that no placement may have, or a rotation without length.
static void spoil_value(uint64_t *random, espl_transform *value)
{
    static const float poison[4] = {NAN, INFINITY, -INFINITY, -NAN};
    const float bad = poison[test_below(random, 4)];
    const uint32_t field = test_below(random, 12);

    if (field < 4) {
        value->rotation[field] = bad;
    } else if (field < 7) {
        value->position[field - 4] = bad;
    } else if (field < 10) {
        value->stretch[field - 7] = bad;
    } else if (field == 10) {
        value->scale = bad;
    } else {
        memset(value->rotation, 0, sizeof value->rotation);
    }
}

static espl_transform pick_value(test_tape *tape, uint32_t node, bool is_world)
{
    espl_transform value = random_value(tape);

    // What is there already must change nothing.
    if (is_living_node(tape, node) && test_one_in(&tape->random, 16)) {
        return is_world ? tape->model.nodes[node].world : tape->model.nodes[node].local;
    }
    if (test_one_in(&tape->random, 64)) {
        spoil_value(&tape->random, &value);
    }
    return value;
}

// --- Operations ---

static espl_keep pick_keep(test_tape *tape)
{
    const uint32_t kind = test_below(&tape->random, 64);
    return kind == 0 ? (espl_keep)7 : (espl_keep)(kind % 3);
}

static opcode pick_opcode(test_tape *tape)
{
    uint32_t sum = 0, code = 0;

    for (int i = 0; i < OPCODE_COUNT; ++i) {
        sum += tape->style.weights[i];
    }
    uint32_t left = test_below(&tape->random, sum);
    while (left >= tape->style.weights[code]) {
        left -= tape->style.weights[code++];
    }
    return (opcode)code;
}

static bool is_destroy(opcode code)
{
    return code == OP_DESTROY || code == OP_DESTROY_SUBTREE || code == OP_DESTROY_ONLY;
}

// Keep the population near what the style strives for.
static opcode pick_fitting_opcode(test_tape *tape)
{
    const opcode code = pick_opcode(tape);
    const uint32_t living = tape->model.living_count;
    const bool makes = code == OP_CREATE || code == OP_INSTANTIATE || code == OP_INSTANCE;

    if (makes && living >= tape->style.population) {
        return (opcode)(OP_DESTROY + test_below(&tape->random, 3));
    }
    if (is_destroy(code) && living <= tape->style.population / 2) {
        return OP_CREATE;
    }
    return code;
}

static void limit_clones(const test_tape *tape, operation *op)
{
    if (!is_living_node(tape, op->entity)) {
        return;
    }
    const uint32_t size = model_closure_size(&tape->model, op->entity);
    while (op->count > 1 && op->count * size > tape->style.population / 4) {
        op->count -= 1;
    }
    if (size + tape->model.living_count > tape->style.population * 2) {
        op->code = OP_SET_LOCAL;
    }
}

static void fill_instance(test_tape *tape, operation *op)
{
    op->count = 1 + test_below(&tape->random, TAPE_COUNT_LIMIT);
    op->place = (espl_place)test_below(&tape->random, 3);
    op->orphan = (espl_orphan)test_below(&tape->random, 2);
    op->sets_tag = test_one_in(&tape->random, 2);
    op->tag = (uint32_t)test_random(&tape->random);
    if (op->code == OP_INSTANTIATE || test_one_in(&tape->random, 3)) {
        op->parent = op->before = MODEL_NONE;
    }
    // Refused when recorded, even where a dead parent would leave it unread at playback.
    if (op->before == TAPE_ALIEN && op->orphan == ESPL_ORPHAN_ROOT) {
        op->before = MODEL_FOREIGN;
    }
    limit_clones(tape, op);
}

operation tape_next(test_tape *tape)
{
    operation op = {.code = pick_fitting_opcode(tape)};

    op.entity = pick_any(tape);
    op.parent = pick_parent(tape);
    op.before = pick_before(tape, op.parent);
    op.options.position = pick_keep(tape);
    op.options.rotation = test_one_in(&tape->random, 2) ? op.options.position : pick_keep(tape);
    op.options.scale = test_one_in(&tape->random, 2) ? op.options.position : pick_keep(tape);
    op.options.link = (espl_link)test_below(&tape->random, 2);
    op.keep = pick_keep(tape);
    op.value = pick_value(tape, op.entity, op.code == OP_SET_WORLD);
    op.count = 1;
    op.has_placement = !(tape->style.has_unplaced && test_one_in(&tape->random, 8));
    op.tag = (uint32_t)test_random(&tape->random);
    if (op.code == OP_INSTANTIATE || op.code == OP_INSTANCE) {
        fill_instance(tape, &op);
    }
    return op;
}

uint32_t tape_pend(test_tape *tape, uint32_t count)
{
    const uint32_t first = tape->pending_count;

    if (first + count > tape->pending_capacity) {
        tape->pending_capacity = tape->pending_capacity * 2 + count + 64;
        tape->pending = realloc(tape->pending, tape->pending_capacity * sizeof *tape->pending);
        ck_assert_ptr_nonnull(tape->pending);
    }
    for (uint32_t i = 0; i < count; ++i) {
        tape->pending[tape->pending_count++] = MODEL_DEAD;
    }
    return first;
}

static void maybe_pending(test_tape *tape, uint32_t *operand)
{
    if (tape->pending_count != 0 && test_one_in(&tape->random, 4)) {
        *operand = TAPE_PENDING + test_below(&tape->random, tape->pending_count);
    }
}

operation tape_next_recorded(test_tape *tape)
{
    operation op = tape_next(tape);

    if (op.code == OP_CREATE || op.code == OP_INSTANTIATE) {
        op.code = OP_INSTANCE;
        fill_instance(tape, &op);
    }
    maybe_pending(tape, &op.entity);
    if (op.code != OP_INSTANCE || op.parent != MODEL_NONE) {
        maybe_pending(tape, &op.parent);
    }
    if (op.before != MODEL_NONE) {
        maybe_pending(tape, &op.before);
    }
    op.key = test_below(&tape->random, tape->style.keys);
    op.lane = test_below(&tape->random, tape->style.lanes);
    if (op.code == OP_INSTANCE) {
        op.pending = tape_pend(tape, op.count);
    }
    return op;
}

void tape_forget_pending(test_tape *tape)
{
    tape->pending_count = 0;
}

uint32_t tape_node(const test_tape *tape, uint32_t operand)
{
    if (operand == TAPE_ALIEN) {
        return MODEL_FOREIGN;
    }
    return operand >= TAPE_PENDING && operand < TAPE_ALIEN ? tape->pending[operand - TAPE_PENDING]
                                                           : operand;
}

// --- The model's side ---

static model_answer apply_instance(test_tape *tape, const operation *op)
{
    const bool is_simple = op->code == OP_INSTANTIATE;
    const model_instance def = {.source = tape_node(tape, op->entity),
                                .parent = is_simple ? MODEL_NONE : tape_node(tape, op->parent),
                                .before = is_simple ? MODEL_NONE : tape_node(tape, op->before),
                                .link = op->options.link,
                                .orphan = op->orphan,
                                .place = is_simple ? ESPL_PLACE_SOURCE : op->place,
                                .transform = op->value,
                                .sets_tag = !is_simple && op->sets_tag,
                                .tag = op->tag,
                                .count = op->count};
    uint32_t clones[TAPE_COUNT_LIMIT];
    const model_answer answer = model_instantiate(&tape->model, &def, clones);
    const bool is_made = (answer & (model_answer_of(ESPL_OK) | model_answer_of(ESPL_LOSSY))) != 0;

    for (uint32_t i = 0; is_made && i < op->count && tape->pending_count != 0; ++i) {
        tape->pending[op->pending + i] = clones[i];
    }
    return answer;
}

model_answer tape_apply(test_tape *tape, const operation *op)
{
    test_model *const model = &tape->model;
    const uint32_t node = tape_node(tape, op->entity);

    switch (op->code) {
    case OP_CREATE:
        model_create(model, op->has_placement, op->tag);
        return model_answer_of(ESPL_OK);
    case OP_ATTACH:
        tape->recent = node;
        return model_attach(model, node, tape_node(tape, op->parent), tape_node(tape, op->before),
                            &op->options);
    case OP_DETACH:
        return model_detach(model, node, op->keep);
    case OP_DESTROY:
        return model_destroy(model, node, MODEL_CLOSURE);
    case OP_DESTROY_SUBTREE:
        return model_destroy(model, node, MODEL_SUBTREE);
    case OP_DESTROY_ONLY:
        return model_destroy(model, node, MODEL_ONLY);
    case OP_INSTANTIATE:
    case OP_INSTANCE:
        return apply_instance(tape, op);
    case OP_SET_LOCAL:
        return model_set_local(model, node, &op->value);
    case OP_SET_WORLD:
        return model_set_world(model, node, &op->value);
    case OPCODE_COUNT:
        break;
    }
    abort();
}
