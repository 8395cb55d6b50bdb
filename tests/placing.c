// SPDX-License-Identifier: MIT
// What the placement of a node comes to: its world under a parent, its local as it is read, and
// what stays of it when its flags change.
#include "tests/placing.h"
#include "tests/support.h"

#include <math.h>
#include <string.h>

// --- Values ---

static bool are_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

bool model_is_finite(const espl_transform *transform)
{
    return are_finite(transform->rotation, 4) && are_finite(transform->position, 3) &&
           isfinite(transform->scale);
}

bool model_are_flags(uint32_t flags)
{
    return flags < ESPL_COPY_PARENT || flags == ESPL_COPY_PARENT;
}

model_state model_identity(uint32_t flags)
{
    return (model_state){espl_transform_identity(), espl_transform_identity(), flags};
}

void model_copy_parts(espl_transform *to, const espl_transform *from, unsigned parts)
{
    if ((parts & MODEL_POSITION) != 0) {
        memcpy(to->position, from->position, sizeof to->position);
    }
    if ((parts & MODEL_ROTATION) != 0) {
        memcpy(to->rotation, from->rotation, sizeof to->rotation);
    }
    if ((parts & MODEL_SCALE) != 0) {
        to->scale = from->scale;
    }
}

static bool keeps_axis(uint32_t flags, int axis)
{
    return (flags & ((uint32_t)ESPL_ABSOLUTE_X << axis)) != 0;
}

void model_keep_parts(model_state *state, const espl_transform *world, unsigned parts)
{
    for (int i = 0; i < 3; ++i) {
        if ((parts & MODEL_POSITION) != 0 && keeps_axis(state->flags, i)) {
            state->kept.position[i] = world->position[i];
        }
    }
    if ((parts & MODEL_ROTATION) != 0 && (state->flags & ESPL_ABSOLUTE_ROTATION) != 0) {
        memcpy(state->kept.rotation, world->rotation, sizeof world->rotation);
    }
    if ((parts & MODEL_SCALE) != 0 && (state->flags & ESPL_ABSOLUTE_SCALE) != 0) {
        state->kept.scale = world->scale;
    }
}

// --- Under a parent ---

espl_transform model_world_of(const espl_transform *above, bool has_placement,
                              const model_state *state)
{
    if (above == NULL) {
        return state->local;
    }
    if (!has_placement || state->flags == ESPL_COPY_PARENT) {
        return *above;
    }
    return state->flags == 0
               ? espl_transform_compose(above, &state->local)
               : espl_transform_inherit(above, &state->local, &state->kept, state->flags);
}

model_placed model_placed_of(const test_model *model, uint32_t node)
{
    const model_node *const n = &model->nodes[node];
    const espl_transform *const above =
        n->parent != MODEL_NONE ? &model->nodes[n->parent].world : NULL;

    return (model_placed){above, n->state, n->world};
}

espl_transform model_seen(const model_placed *placed)
{
    const model_state *const state = &placed->state;
    const espl_transform *const world = &placed->world;
    espl_transform local = state->local, seen = local;

    if (placed->above == NULL || state->flags == 0) {
        return local;
    }
    if (state->flags == ESPL_COPY_PARENT) {
        const espl_transform identity = espl_transform_identity();
        local = *world;
        model_copy_parts(&local, &identity, MODEL_POSE);
        return local;
    }
    const espl_transform composed = espl_transform_compose(placed->above, &local);
    (void)espl_transform_relative(&seen, placed->above, world);
    if (memcmp(composed.position, world->position, sizeof local.position) != 0 &&
        are_finite(seen.position, 3)) {
        model_copy_parts(&local, &seen, MODEL_POSITION);
    }
    if (memcmp(composed.rotation, world->rotation, sizeof local.rotation) != 0 &&
        are_finite(seen.rotation, 4)) {
        model_copy_parts(&local, &seen, MODEL_ROTATION);
    }
    if (memcmp(&composed.scale, &world->scale, sizeof local.scale) != 0 && isfinite(seen.scale)) {
        model_copy_parts(&local, &seen, MODEL_SCALE);
    }
    return local;
}

espl_transform model_local(const test_model *model, uint32_t node)
{
    const model_placed placed = model_placed_of(model, node);

    return model->nodes[node].has_placement ? model_seen(&placed) : model->nodes[node].state.local;
}

espl_transform model_unit_world(const model_node *node)
{
    espl_transform world = node->world;
    return espl_transform_normalize(&world) == ESPL_OK ? world : node->world;
}

// --- What a parent hides ---

// How far a position is from the parent's along the axes of the parent that have no length.
static void offset_lost(float out[3], const espl_transform *above, const espl_transform *world)
{
    float offset[3];

    for (int i = 0; i < 3; ++i) {
        offset[i] = world->position[i] - above->position[i];
    }
    espl_transform_direction_inverse(out, above, offset);
    for (int i = 0; i < 3; ++i) {
        if (above->scale != 0 && above->stretch[i] != 0) {
            out[i] = 0;
        }
    }
}

// Kept axes are those of the world, so that what is lost counts there.
static bool hides_position(const espl_transform *above, const espl_transform *world, uint32_t flags)
{
    float lost[3], missing[3];

    offset_lost(lost, above, world);
    espl_transform_direction(missing, above, lost);
    for (int i = 0; i < 3; ++i) {
        if (!keeps_axis(flags, i) && missing[i] != 0) {
            return true;
        }
    }
    return false;
}

static bool hides_scale(const espl_transform *above, const espl_transform *world, uint32_t flags)
{
    return above->scale == 0 && world->scale != 0 && (flags & ESPL_ABSOLUTE_SCALE) == 0;
}

bool model_hides(const espl_transform *above, const espl_transform *world, uint32_t flags,
                 unsigned parts)
{
    float lost[3];
    bool is_hidden = (parts & MODEL_SCALE) != 0 && hides_scale(above, world, flags);

    if ((parts & MODEL_POSITION) != 0 && flags != 0) {
        is_hidden = hides_position(above, world, flags) || is_hidden;
    } else if ((parts & MODEL_POSITION) != 0) {
        offset_lost(lost, above, world);
        is_hidden = lost[0] != 0 || lost[1] != 0 || lost[2] != 0 || is_hidden;
    }
    return is_hidden;
}

// --- Flags ---

espl_status model_reflag(model_placed *placed, uint32_t flags)
{
    const model_state before = placed->state;
    const espl_transform *const above = placed->above, *const world = &placed->world;

    if (flags == before.flags) {
        return ESPL_OK;
    }
    model_state after = model_identity(flags);
    if (flags == ESPL_COPY_PARENT) {
        placed->state = after;
        return ESPL_OK;
    }
    after.local = model_seen(placed);
    model_keep_parts(&after, world, MODEL_POSE);
    placed->state = after;

    // What still reads as it was written is where it was.
    const espl_transform composed = espl_transform_compose(above, &before.local);
    const bool moved = memcmp(composed.position, world->position, sizeof composed.position) != 0;
    const bool is_scaled = memcmp(&composed.scale, &world->scale, sizeof composed.scale) != 0;

    return (moved && hides_position(above, world, flags)) ||
                   (is_scaled && hides_scale(above, world, flags))
               ? ESPL_LOSSY
               : ESPL_OK;
}

model_answer model_set_inherit(test_model *model, uint32_t node, uint32_t flags)
{
    model_answer faults = model_fault_of(model, node);

    if (!model_are_flags(flags)) {
        faults |= model_answer_of(ESPL_ERR_ARGUMENT);
    }
    if (model_fault_of(model, node) == 0) {
        const model_node *const n = &model->nodes[node];
        faults |= n->has_placement ? 0 : model_answer_of(ESPL_ERR_NO_TRANSFORM);
        faults |= n->parent == MODEL_NONE && flags != 0 ? model_answer_of(ESPL_ERR_NOT_CHILD) : 0;
    }
    if (faults != 0) {
        return faults;
    }
    model_placed placed = model_placed_of(model, node);
    const espl_status status = model_reflag(&placed, flags);
    const bool is_placed = model_place(model, node, model->nodes[node].parent, &placed.state);

    return model_answer_of(is_placed ? status : ESPL_ERR_RANGE);
}

// --- Propagation ---

bool model_try(test_model *model, uint32_t top, const espl_transform *world)
{
    bool is_finite = model_is_finite(world);

    model->nodes[top].trial = *world;
    for (uint32_t i = model_next(model, top, top); i != MODEL_NONE; i = model_next(model, top, i)) {
        model_node *const n = &model->nodes[i];
        n->trial = model_world_of(&model->nodes[n->parent].trial, n->has_placement, &n->state);
        is_finite = model_is_finite(&n->trial) && is_finite;
    }
    return is_finite;
}

static void note_overflow(test_model *model, const model_node *node)
{
    const bool is_other = !test_same(&node->world, &node->trial);
    const model_overflow overflow = is_other ? MODEL_OVERFLOWS : MODEL_MAY_OVERFLOW;

    if (!model_is_finite(&node->trial) && model->overflow < overflow) {
        model->overflow = overflow;
    }
}

void model_keep_trial(test_model *model, uint32_t top)
{
    for (uint32_t i = top; i != MODEL_NONE; i = model_next(model, top, i)) {
        note_overflow(model, &model->nodes[i]);
        model->nodes[i].world = model->nodes[i].trial;
    }
}

bool model_is_storable(const model_state *state)
{
    return model_is_finite(&state->local) && are_finite(state->local.stretch, 3) &&
           model_is_finite(&state->kept);
}

bool model_place(test_model *model, uint32_t node, uint32_t parent, const model_state *state)
{
    model_node *const n = &model->nodes[node];
    const espl_transform *const above = parent != MODEL_NONE ? &model->nodes[parent].world : NULL;
    const espl_transform world = model_world_of(above, n->has_placement, state);

    if (!model_is_storable(state)) {
        return false;
    }
    n->state = *state;
    (void)model_try(model, node, &world);
    model_keep_trial(model, node);
    return true;
}
