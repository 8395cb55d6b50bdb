// SPDX-License-Identifier: MIT
#include "tests/picks.h"

#include "tests/placing.h"
#include "tests/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Operands ---

uint32_t pick_living(test_tape *tape)
{
    const test_model *const model = &tape->model;
    return model->living_count != 0 ? model->living[draw_below(&tape->draw, model->living_count)]
                                    : MODEL_DEAD;
}

static uint32_t pick_dead(test_tape *tape)
{
    const test_model *const model = &tape->model;
    for (int tries = 0; tries < 8 && model->count != 0; ++tries) {
        const uint32_t node = draw_below(&tape->draw, model->count);
        if (!model->nodes[node].is_alive) {
            return node;
        }
    }
    return MODEL_DEAD;
}

static uint32_t pick_bad(test_tape *tape)
{
    switch (draw_below(&tape->draw, 4)) {
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

uint32_t pick_any(test_tape *tape)
{
    return draw_one_in(&tape->draw, tape->style.bad_one_in) ? pick_bad(tape) : pick_living(tape);
}

bool is_living_node(const test_tape *tape, uint32_t operand)
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

uint32_t pick_parent(test_tape *tape)
{
    const tape_shape shape = tape->style.shape;
    uint32_t node = MODEL_NONE;

    if (draw_one_in(&tape->draw, 4)) {
        return pick_any(tape);
    }
    if (shape == SHAPE_CHAIN) {
        node = tape->recent;
    } else if (shape == SHAPE_STAR) {
        node = oldest_living(tape, 0);
    } else if (shape == SHAPE_WIDE) {
        node = oldest_living(tape, draw_below(&tape->draw, 4));
    }
    return node < tape->model.count && is_living_node(tape, node) ? node : pick_any(tape);
}

// A child of the parent, more often than not; else anything.
uint32_t pick_before(test_tape *tape, uint32_t parent)
{
    if (!draw_one_in(&tape->draw, 3)) {
        return MODEL_NONE;
    }
    if (!is_living_node(tape, parent) || draw_one_in(&tape->draw, 8)) {
        return pick_any(tape);
    }
    uint32_t child = tape->model.nodes[parent].first;
    for (uint32_t steps = draw_below(&tape->draw, 4); steps > 0 && child != MODEL_NONE; --steps) {
        child = tape->model.nodes[child].next;
    }
    return child;
}

// --- Values ---

static void random_rotation(tape_draw *draw, float q[4])
{
    static const float half = 0.70710678f;
    const uint32_t kind = draw_below(draw, 8);
    const uint32_t axis = draw_below(draw, 3);

    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
    if (kind < 2) {
        return;
    }
    if (kind == 2) {
        q[axis] = half;
        q[3] = draw_one_in(draw, 2) ? half : -half;
        return;
    }
    for (int i = 0; i < 4; ++i) {
        q[i] = draw_between(draw, -1, 1);
    }
    q[axis] += q[axis] < 0 ? -0.5f : 0.5f; // keeps off zero length
}

static float random_scale(const test_tape *tape, tape_draw *draw)
{
    static const float usual[4] = {2, 0.5f, 0.25f, 1.5f};
    const uint32_t plain = tape->style.shape == SHAPE_CHAIN ? 16 : 2;

    if (!draw_one_in(draw, plain)) {
        return 1;
    }
    if (tape->style.values == VALUES_ZERO && draw_one_in(draw, 4)) {
        return 0;
    }
    if (tape->style.values == VALUES_HUGE && draw_one_in(draw, tape->style.huge_one_in)) {
        return draw_one_in(draw, 2) ? 1e25f : 1e-25f;
    }
    const float scale = usual[draw_below(draw, 4)] * draw_between(draw, 0.75f, 1.25f);
    return draw_one_in(draw, 8) ? -scale : scale;
}

static float random_stretch(const test_tape *tape, tape_draw *draw)
{
    if (tape->style.values == VALUES_ZERO && draw_one_in(draw, 4)) {
        return 0;
    }
    return draw_between(draw, -1, 3);
}

static espl_transform random_value(test_tape *tape)
{
    tape_draw *const draw = &tape->draw;
    espl_transform value = espl_transform_identity();
    const float reach =
        tape->style.values == VALUES_HUGE && draw_one_in(draw, tape->style.huge_one_in) ? 2e38f
                                                                                        : 10.0f;

    random_rotation(draw, value.rotation);
    for (int i = 0; i < 3; ++i) {
        value.position[i] = draw_one_in(draw, 8) ? 0 : draw_between(draw, -reach, reach);
    }
    value.scale = random_scale(tape, draw);
    if (tape->style.values != VALUES_PLAIN && draw_one_in(draw, 4)) {
        for (int i = 0; i < 3; ++i) {
            value.stretch[i] = random_stretch(tape, draw);
        }
    }
    if (draw_one_in(draw, 16)) {
        value.user_data = draw_below(draw, 3);
    }
    return value;
}

static const float poison[4] = {NAN, INFINITY, -INFINITY, -NAN};

// One field that no placement may have, or a rotation without length.
static void spoil_value(tape_draw *draw, espl_transform *value)
{
    const float bad = poison[draw_below(draw, 4)];
    const uint32_t field = draw_below(draw, 12);

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

espl_transform pick_value(test_tape *tape, uint32_t node, bool is_world)
{
    espl_transform value = random_value(tape);

    // What is there already must change nothing.
    if (is_living_node(tape, node) && draw_one_in(&tape->draw, 16)) {
        return is_world ? tape->model.nodes[node].world : model_local(&tape->model, node);
    }
    if (draw_one_in(&tape->draw, 64)) {
        spoil_value(&tape->draw, &value);
    }
    return value;
}

// --- Rules ---

espl_keep pick_stay(test_tape *tape)
{
    const uint32_t kind = draw_below(&tape->draw, 64);
    return kind == 0 ? (espl_keep)7 : (espl_keep)(kind % 3);
}

uint32_t pick_flags(test_tape *tape)
{
    static const uint32_t bad[4] = {256, ESPL_COPY_PARENT | ESPL_ABSOLUTE_X, UINT32_MAX, 0x181};
    const tape_flags style = tape->style.flags;

    if (style == FLAGS_NONE) {
        return 0;
    }
    if (draw_one_in(&tape->draw, 64)) {
        return bad[draw_below(&tape->draw, 4)];
    }
    if (draw_below(&tape->draw, 4) < (style == FLAGS_FEW ? 3u : 1u)) {
        return 0;
    }
    if (draw_one_in(&tape->draw, 6)) {
        return ESPL_COPY_PARENT;
    }
    return draw_below(&tape->draw, ESPL_COPY_PARENT) & tape->style.flag_mask;
}

// --- Writes ---

static bool is_of_world(espl_write_kind kind)
{
    return kind == ESPL_WRITE_WORLD_POSITION || kind == ESPL_WRITE_WORLD_ROTATION ||
           kind == ESPL_WRITE_WORLD_SCALE || kind == ESPL_WRITE_WORLD_POSE ||
           kind == ESPL_WRITE_WORLD_TRANSFORM;
}

espl_write_kind pick_kind(test_tape *tape)
{
    if (draw_one_in(&tape->draw, 128)) {
        return (espl_write_kind)(ESPL_WRITE_KIND_COUNT + draw_below(&tape->draw, 3));
    }
    return (espl_write_kind)draw_below(&tape->draw, TEST_KINDS);
}

// The field of a placement that a kind reads.
static espl_write_value data_of(const espl_transform *value, value_type type)
{
    const form_field field = form_field_of(type);
    espl_write_value out = {.transform = *value};

    memcpy(&out, (const unsigned char *)value + field.at, field.size);
    return out;
}

static void spoil_data(tape_draw *draw, espl_write_value *data, value_type type)
{
    static const uint32_t fields[] = {
        [VALUE_POSITION] = 3, [VALUE_ROTATION] = 4, [VALUE_SCALE] = 1, [VALUE_STRETCH] = 3};

    if (type == VALUE_TRANSFORM || type == VALUE_POSE) {
        spoil_value(draw, &data->transform);
    } else if (type == VALUE_ROTATION && draw_one_in(draw, 2)) {
        memset(data->rotation, 0, sizeof data->rotation);
    } else if (type != VALUE_CONTEXT) {
        data->rotation[draw_below(draw, fields[type])] = poison[draw_below(draw, 4)];
    }
}

espl_write_value pick_data(test_tape *tape, uint32_t node, espl_write_kind kind)
{
    const espl_transform value = pick_value(tape, node, is_of_world(kind));

    kind = (espl_write_kind)test_plain_kind(kind);
    if ((unsigned)kind >= ESPL_WRITE_KIND_COUNT) {
        return (espl_write_value){.transform = value};
    }
    if (model_is_of_cell(kind)) {
        return place_value(tape->model.cell_size, kind, draw_bits(&tape->draw));
    }
    espl_write_value data = data_of(&value, form_type(kind));
    if (draw_one_in(&tape->draw, 64)) {
        spoil_data(&tape->draw, &data, form_type(kind));
    }
    return data;
}

void pick_point(test_tape *tape, operation *op)
{
    const espl_transform at = random_value(tape), up = random_value(tape);
    const bool is_own = is_living_node(tape, op->entity) && draw_one_in(&tape->draw, 8);

    memcpy(op->point, is_own ? tape->model.nodes[op->entity].world.position : at.position,
           sizeof op->point);
    memcpy(op->up, up.position, sizeof op->up);
    op->has_up = draw_one_in(&tape->draw, 2);
    op->forward = (espl_axis)draw_below(&tape->draw, ESPL_AXIS_BACK + 1);
    if (draw_one_in(&tape->draw, 16)) {
        memset(op->up, 0, sizeof op->up);
        op->up[1] = draw_one_in(&tape->draw, 2) ? -2.0f : 0.0f;
    }
    if (draw_one_in(&tape->draw, 64)) {
        op->point[draw_below(&tape->draw, 3)] = poison[draw_below(&tape->draw, 4)];
    }
    if (draw_one_in(&tape->draw, 64)) {
        op->up[draw_below(&tape->draw, 3)] = poison[draw_below(&tape->draw, 4)];
    }
}

// --- Batches ---

// Near the entry before: itself, its parent, a child of it; or anything.
static uint32_t pick_near(test_tape *tape, uint32_t node)
{
    const model_node *const n = is_living_node(tape, node) ? &tape->model.nodes[node] : NULL;
    uint32_t near = MODEL_NONE;

    switch (draw_below(&tape->draw, 5)) {
    case 0:
        near = node;
        break;
    case 1:
        near = n != NULL ? n->parent : MODEL_NONE;
        break;
    case 2:
        near = n != NULL ? n->first : MODEL_NONE;
        break;
    default:
        break;
    }
    near = near != MODEL_NONE ? near : pick_any(tape);
    return near != TAPE_ALIEN ? near : MODEL_FOREIGN;
}

// Every living node once, in a random order.
static void name_all(test_tape *tape, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = draw_below(&tape->draw, i + 1);
        tape->entries[i].node = tape->entries[at].node;
        tape->entries[at].node = tape->model.living[i];
    }
}

static void name_some(test_tape *tape, uint32_t count)
{
    uint32_t node = MODEL_NONE;

    for (uint32_t i = 0; i < count; ++i) {
        node = pick_near(tape, node);
        tape->entries[i].node = node;
    }
}

// Tell whether a node keeps parts of its world by inherit flags.
static bool keeps(const test_tape *tape, uint32_t node)
{
    return is_living_node(tape, node) && tape->model.nodes[node].state.flags != 0;
}

// Tell whether one of the nodes of the entries does.
static bool keeps_any(const test_tape *tape, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && !keeps(tape, tape->entries[i].node)) {
        ++i;
    }
    return i < count;
}

void pick_entries(test_tape *tape, operation *op)
{
    const uint32_t living = tape->model.living_count;
    const bool names_all = living != 0 && draw_one_in(&tape->draw, living > 100 ? 64 : 16);
    const espl_write_kind same = (espl_write_kind)draw_below(&tape->draw, TEST_KINDS);
    const bool are_same = draw_one_in(&tape->draw, 3);

    op->count = names_all ? living : 2 + draw_below(&tape->draw, 23);
    op->form = are_same && form_has_short(same) ? FORM_SHORT : FORM_BATCH;
    tape_reserve_entries(tape, op->count);
    if (names_all) {
        name_all(tape, op->count);
    } else {
        name_some(tape, op->count);
    }
    for (uint32_t i = 0; i < op->count; ++i) {
        model_entry *const entry = &tape->entries[i];
        const espl_write_kind kind = are_same ? same : pick_kind(tape);

        // An array of one kind that does not exist is refused as a whole.
        // What a previous world loses below a scale of 0 the model does not know, nor whether a part that
        // the node keeps is in the range of floats below the previous world of its parent.
        entry->kind = pick_flagged(tape, kind, are_same ? 0 : i);
        if (entry->kind == ESPL_WRITE_PREVIOUS_WORLD_POSE) {
            entry->kind = ESPL_WRITE_PREVIOUS_LOCAL_POSE;
        }
        if (entry->kind == ESPL_WRITE_PREVIOUS_LOCAL_POSE &&
            (are_same ? keeps_any(tape, op->count) : keeps(tape, entry->node))) {
            entry->kind = ESPL_WRITE_LOCAL_POSE;
        }
        if (!form_exists(entry->kind)) {
            op->form = FORM_BATCH;
        }
        entry->value = pick_data(tape, entry->node, entry->kind);
    }
}
