// SPDX-License-Identifier: MIT
// What each kind of write makes of a placement. A kind is told by four words: which placement it
// starts from, how that changes, and which parts of the outcome are put back where.
#include "tests/forms.h"
#include "tests/placing.h"
#include "tests/support.h"

#include <math.h>
#include <string.h>

typedef enum change_kind { SET, ADD, APPLY, TAKE_BACK, MULTIPLY, ADD_OWN, APPLY_OWN } change_kind;

enum { STRETCH = 8, CONTEXT = 16, ALL = MODEL_POSE | STRETCH | CONTEXT };

typedef struct recipe {
    bool is_world;
    change_kind change;
    unsigned parts;
} recipe;

static const recipe recipes[TEST_KINDS] = {
    [ESPL_WRITE_LOCAL_POSITION] = {false, SET, MODEL_POSITION},
    [ESPL_WRITE_LOCAL_ROTATION] = {false, SET, MODEL_ROTATION},
    [ESPL_WRITE_LOCAL_SCALE] = {false, SET, MODEL_SCALE},
    [ESPL_WRITE_LOCAL_POSE] = {false, SET, MODEL_POSE},
    [ESPL_WRITE_LOCAL_TRANSFORM] = {false, SET, ALL},
    [ESPL_WRITE_STRETCH] = {false, SET, STRETCH},
    [ESPL_WRITE_USER_DATA] = {false, SET, CONTEXT},
    [ESPL_WRITE_WORLD_POSITION] = {true, SET, MODEL_POSITION},
    [ESPL_WRITE_WORLD_ROTATION] = {true, SET, MODEL_ROTATION},
    [ESPL_WRITE_WORLD_SCALE] = {true, SET, MODEL_SCALE},
    [ESPL_WRITE_WORLD_POSE] = {true, SET, MODEL_POSE},
    [ESPL_WRITE_WORLD_TRANSFORM] = {true, SET, ALL},
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = {false, ADD, MODEL_POSITION},
    [ESPL_WRITE_ROTATE_IN_PARENT] = {false, APPLY, MODEL_ROTATION},
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = {false, APPLY, MODEL_POSE},
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = {false, TAKE_BACK, MODEL_POSE},
    [ESPL_WRITE_TRANSLATE_WORLD] = {true, ADD, MODEL_POSITION},
    [ESPL_WRITE_ROTATE_WORLD] = {true, APPLY, MODEL_ROTATION},
    [ESPL_WRITE_TRANSFORM_WORLD] = {true, APPLY, MODEL_POSE},
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = {true, TAKE_BACK, MODEL_POSE},
    [ESPL_WRITE_MULTIPLY_SCALE] = {false, MULTIPLY, MODEL_SCALE},
    [ESPL_WRITE_MULTIPLY_STRETCH] = {false, MULTIPLY, STRETCH},
    [ESPL_WRITE_TRANSLATE_OWN] = {false, ADD_OWN, MODEL_POSITION},
    [ESPL_WRITE_ROTATE_OWN] = {false, APPLY_OWN, MODEL_ROTATION},
};

// --- Values ---

// A value as a whole placement: the identity but for the field that it names.
static espl_transform whole_value(value_type type, const espl_write_value *value)
{
    const form_field field = form_field_of(type);
    espl_transform out = espl_transform_identity();

    memcpy((unsigned char *)&out + field.at, value, field.size);
    return out;
}

static model_answer place_faults(const test_model *model, uint32_t node)
{
    const model_answer faults = model_fault_of(model, node);

    if (faults != 0) {
        return faults;
    }
    const model_node *const n = &model->nodes[node];
    return (n->has_placement ? 0 : model_answer_of(ESPL_ERR_NO_TRANSFORM)) |
           (n->state.flags == ESPL_COPY_PARENT ? model_answer_of(ESPL_ERR_COPIES_PARENT) : 0);
}

bool model_is_of_past(espl_write_kind kind)
{
    return test_plain_kind(kind) >= TEST_KINDS && !model_is_of_cell(kind);
}

model_answer model_write_faults(const test_model *model, uint32_t node, espl_write_kind kind,
                                const espl_write_value *value, espl_transform *out)
{
    const model_answer faults = place_faults(model, node);

    if (!form_exists(kind)) {
        return faults | model_answer_of(ESPL_ERR_ARGUMENT);
    }
    if (model_is_of_cell(kind)) {
        return faults | model_cell_faults(model, node, kind, value);
    }
    const bool lacks_motion = model_is_of_past(kind) && model->history == 0;

    *out = whole_value(form_type(kind), value);
    return faults | (lacks_motion ? model_answer_of(ESPL_ERR_UNSUPPORTED) : 0) |
           (espl_transform_normalize(out) == ESPL_OK ? 0 : model_answer_of(ESPL_ERR_NOT_FINITE));
}

// --- Kinds ---

static void put_local(model_placed *placed, const espl_transform *local, unsigned parts)
{
    model_copy_parts(&placed->state.local, local, parts);
    if (placed->above != NULL) {
        const espl_transform composed = espl_transform_compose(placed->above, &placed->state.local);
        model_keep_parts(&placed->state, &composed, parts);
    }
}

static espl_status put_world(model_placed *placed, const espl_transform *world, unsigned parts)
{
    const espl_transform *const above = placed->above;
    espl_transform seen = placed->state.local;

    if (above == NULL) {
        model_copy_parts(&placed->state.local, world, parts);
        return ESPL_OK;
    }
    (void)espl_transform_relative(above, world, &seen);
    model_copy_parts(&placed->state.local, &seen, parts);
    model_keep_parts(&placed->state, world, parts);
    return model_judge(above, &placed->state, world, parts);
}

// Products of rotations are normalised like rotations that are written.
static void normalize_rotation(espl_transform *transform)
{
    espl_transform turn = espl_transform_identity();

    memcpy(turn.rotation, transform->rotation, sizeof turn.rotation);
    if (espl_transform_normalize(&turn) == ESPL_OK) {
        memcpy(transform->rotation, turn.rotation, sizeof turn.rotation);
    }
}

static espl_status changed(espl_transform *out, change_kind change, const espl_transform *from,
                           const espl_transform *value)
{
    *out = change == SET ? *value : *from;
    if (change == ADD) {
        for (int i = 0; i < 3; ++i) {
            out->position[i] += value->position[i];
        }
    } else if (change == APPLY) {
        *out = espl_transform_compose(value, from);
        normalize_rotation(out);
    } else if (change == TAKE_BACK) {
        return espl_transform_relative(value, from, out);
    } else if (change == ADD_OWN || change == APPLY_OWN) {
        espl_transform frame = espl_transform_identity();

        memcpy(frame.rotation, from->rotation, sizeof frame.rotation);
        memcpy(frame.position, from->position, sizeof frame.position);
        *out = espl_transform_compose(&frame, value);
        normalize_rotation(out);
    }
    return ESPL_OK;
}

static void multiply(model_placed *placed, const espl_transform *value, unsigned parts)
{
    model_state *const state = &placed->state;

    if ((parts & MODEL_SCALE) != 0) {
        state->local.scale = model_seen(placed).scale * value->scale;
    }
    if ((parts & MODEL_SCALE) != 0 && (state->flags & ESPL_ABSOLUTE_SCALE) != 0) {
        state->kept.scale *= value->scale;
    }
    for (int i = 0; i < 3 && (parts & STRETCH) != 0; ++i) {
        state->local.stretch[i] *= value->stretch[i];
    }
}

static espl_status put_back(model_placed *placed, const recipe *r, const espl_transform *value)
{
    const espl_transform from = r->is_world ? placed->world : model_seen(placed);
    espl_transform to;
    const espl_status status = changed(&to, r->change, &from, value);
    espl_status put = ESPL_OK;

    if (r->is_world) {
        put = put_world(placed, &to, r->parts);
    } else {
        put_local(placed, &to, r->parts);
    }
    return status == ESPL_LOSSY && put >= 0 ? status : put;
}

espl_status model_carry_out(model_placed *placed, espl_write_kind kind, const espl_transform *value)
{
    const unsigned plain = test_plain_kind(kind);

    // A previous pose is none of the model's.
    if (model_is_of_past(kind)) {
        return ESPL_OK;
    }
    const recipe *const r = &recipes[plain];
    espl_status status = ESPL_OK;

    if (r->change == MULTIPLY) {
        multiply(placed, value, r->parts);
    } else {
        status = (r->parts & MODEL_POSE) != 0 ? put_back(placed, r, value) : ESPL_OK;
        if ((r->parts & STRETCH) != 0) {
            memcpy(placed->state.local.stretch, value->stretch, sizeof value->stretch);
        }
        if ((r->parts & CONTEXT) != 0) {
            placed->state.local.user_data = value->user_data;
        }
    }
    placed->world = model_world_of(placed->above, true, &placed->state);
    return status;
}

// --- One at a time ---

static model_answer finish(test_model *model, uint32_t node, const model_placed *placed,
                           espl_status status)
{
    const bool is_same =
        memcmp(&model->nodes[node].state, &placed->state, sizeof placed->state) == 0;
    const bool is_placed =
        status >= 0 && model_place(model, node, model->nodes[node].parent, &placed->state);

    model->writes += is_placed && !is_same;
    model->writes_skipped += is_placed && is_same;
    return model_answer_of(is_placed ? status : ESPL_ERR_RANGE);
}

// A write of a cell changes no state. The position that finishes that of an absolute position is counted.
static model_answer write_cell(test_model *model, uint32_t node, espl_write_kind kind,
                               const espl_write_value *value)
{
    espl_transform position;
    const espl_status status = model_begin_cell_write(model, node, kind, value, &position);

    if (status >= 0 && kind == ESPL_WRITE_CELL) {
        // As a write that changes nothing: worlds that are not finite may be told.
        const model_state state = model->nodes[node].state;

        (void)model_place(model, node, MODEL_NONE, &state);
    }
    if (status < 0 || kind == ESPL_WRITE_CELL) {
        return model_answer_of(status);
    }
    model_placed placed = model_placed_of(model, node);
    const espl_status written = model_carry_out(&placed, ESPL_WRITE_WORLD_POSITION, &position);

    return finish(model, node, &placed, written == ESPL_OK ? status : written);
}

model_answer model_write(test_model *model, uint32_t node, espl_write_kind kind,
                         const espl_write_value *value)
{
    espl_transform whole;
    const model_answer faults = model_write_faults(model, node, kind, value, &whole);

    if (faults != 0) {
        return faults;
    }
    if (model_is_of_cell(kind)) {
        return write_cell(model, node, kind, value);
    }
    model_placed placed = model_placed_of(model, node);
    const espl_status status = model_carry_out(&placed, kind, &whole);
    const model_answer answer = finish(model, node, &placed, status);

    model->writes_skipped -= model_is_of_past(kind);

    // What a previous world loses below a scale of 0, or of huge numbers, the model does not know.
    if (kind == ESPL_WRITE_PREVIOUS_WORLD_POSE) {
        return answer | model_answer_of(ESPL_LOSSY) | model_answer_of(ESPL_ERR_RANGE);
    }
    return kind == ESPL_WRITE_PREVIOUS_LOCAL_POSE && placed.state.flags != 0
               ? answer | model_answer_of(ESPL_ERR_RANGE)
               : answer;
}

static bool is_vector(const float v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

// Put back a world that a function has turned.
static model_answer finish_turn(test_model *model, uint32_t node, const espl_transform *turned,
                                espl_status status, unsigned parts)
{
    model_placed placed = model_placed_of(model, node);

    // The arguments are fine, so that a number that is not finite is the world's.
    if (status != ESPL_OK) {
        return model_answer_of(status == ESPL_ERR_NOT_FINITE ? ESPL_ERR_RANGE : status);
    }
    return finish(model, node, &placed, put_world(&placed, turned, parts));
}

model_answer model_look_at(test_model *model, uint32_t node, const float target[3], const float *up,
                           espl_axis forward)
{
    model_answer faults = place_faults(model, node);

    if (!is_vector(target) || (up != NULL && !is_vector(up))) {
        faults |= model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (faults != 0) {
        return faults;
    }
    espl_transform turned = model->nodes[node].world;
    const espl_status status = espl_transform_look_at(&turned, target, up, forward);

    return finish_turn(model, node, &turned, status, MODEL_ROTATION);
}

model_answer model_rotate_about(test_model *model, uint32_t node, const float pivot[3],
                                const float by[4])
{
    espl_transform turn = espl_transform_identity();
    model_answer faults = place_faults(model, node);

    memcpy(turn.rotation, by, sizeof turn.rotation);
    if (!is_vector(pivot) || espl_transform_normalize(&turn) != ESPL_OK) {
        faults |= model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (faults != 0) {
        return faults;
    }
    espl_transform turned = model->nodes[node].world;
    const espl_status status = espl_transform_rotate_about(&turned, pivot, by);

    return finish_turn(model, node, &turned, status, MODEL_POSITION | MODEL_ROTATION);
}
