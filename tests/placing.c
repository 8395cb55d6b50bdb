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
    (void)espl_transform_relative(placed->above, world, &seen);
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

// --- What a local gives ---

static double farthest(const double v[3])
{
    return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

// Whether a position is another one than was asked for, by more than rounding, on an axis that is not kept.
static bool misses_position(const espl_transform *above, const espl_transform *got,
                            const espl_transform *asked, uint32_t flags)
{
    const float *const q = above->rotation;
    double away[3], squares = 0, farthest_axis = 0;

    for (int i = 0; i < 3; ++i) {
        away[i] = (double)asked->position[i] - (double)above->position[i];
        farthest_axis = fmax(farthest_axis, fabs((double)q[i]));
    }
    for (int i = 0; i < 4; ++i) {
        squares += (double)q[i] * (double)q[i];
    }
    // What a rotation off unit length changes counts as rounding as well.
    const double turned = 2 * farthest(away) * (farthest_axis + fabs(squares - 1) * 0x1p+22);

    for (int i = 0; i < 3; ++i) {
        const double off = fabs((double)got->position[i] - (double)asked->position[i]);
        const double size =
            fabs((double)asked->position[i]) + fabs((double)above->position[i]) + turned;

        if (!keeps_axis(flags, i) && off > 0x1p-20 * size + 0x1p-147) {
            return true;
        }
    }
    return false;
}

espl_status model_judge(const espl_transform *above, const model_state *state,
                        const espl_transform *asked, unsigned parts)
{
    const espl_transform got = model_world_of(above, true, state);
    const bool is_placed = (parts & MODEL_POSITION) != 0 && are_finite(asked->position, 3);
    const bool is_scaled = (parts & MODEL_SCALE) != 0 && isfinite(asked->scale);
    const bool is_turned = (parts & MODEL_ROTATION) != 0 && are_finite(asked->rotation, 4);

    if (!model_is_storable(state) || (is_placed && !are_finite(got.position, 3)) ||
        (is_scaled && !isfinite(got.scale)) || (is_turned && !are_finite(got.rotation, 4))) {
        return ESPL_ERR_RANGE;
    }
    const double off = fabs((double)got.scale - (double)asked->scale);

    return (is_scaled && off > 0x1p-21 * fabs((double)asked->scale) + 0x1p-148) ||
                   (is_placed && misses_position(above, &got, asked, state->flags))
               ? ESPL_LOSSY
               : ESPL_OK;
}

// --- Flags ---

// A member that takes a part from its parent again, which it has kept, stays where it is by that part; what
// stays kept, and what it never kept, is not written.
static void stop_keeping(const model_placed *placed, uint32_t flags, espl_transform *local)
{
    const uint32_t old = placed->state.flags, gone = old & ~flags;
    const uint32_t turns = ESPL_ABSOLUTE_ROTATION, all = turns | ESPL_STRICT_UP;
    const espl_transform composed = espl_transform_compose(placed->above, local);
    espl_transform asked = composed, seen = *local;

    for (int i = 0; i < 3; ++i) {
        asked.position[i] = keeps_axis(gone, i) ? placed->world.position[i] : asked.position[i];
    }
    if ((old & turns) != 0 && (flags & turns) != turns && (old & all) != (flags & all)) {
        model_copy_parts(&asked, &placed->world, MODEL_ROTATION);
    }
    model_copy_parts(&asked, &placed->world, (gone & ESPL_ABSOLUTE_SCALE) != 0 ? MODEL_SCALE : 0);
    (void)espl_transform_relative(placed->above, &asked, &seen);
    if (memcmp(composed.position, asked.position, sizeof asked.position) != 0) {
        model_copy_parts(local, &seen, MODEL_POSITION);
    }
    if (memcmp(composed.rotation, asked.rotation, sizeof asked.rotation) != 0) {
        model_copy_parts(local, &seen, MODEL_ROTATION);
    }
    if (memcmp(&composed.scale, &asked.scale, sizeof asked.scale) != 0) {
        model_copy_parts(local, &seen, MODEL_SCALE);
    }
}

void model_reflag(model_placed *placed, uint32_t flags)
{
    const model_state before = placed->state;
    const uint32_t turns = ESPL_ABSOLUTE_ROTATION | ESPL_STRICT_UP;
    model_state after = model_identity(flags);

    if (flags == before.flags || flags == ESPL_COPY_PARENT) {
        placed->state = flags == before.flags ? before : after;
        return;
    }
    after.local = before.flags == ESPL_COPY_PARENT ? model_seen(placed) : before.local;
    if (before.flags != 0 && before.flags != ESPL_COPY_PARENT) {
        stop_keeping(placed, flags, &after.local);
    }
    model_keep_parts(&after, &placed->world, MODEL_POSE);
    if ((before.flags & turns) == (flags & turns)) {
        model_copy_parts(&after.kept, &before.kept, MODEL_ROTATION);
    }
    placed->state = after;
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
    const uint32_t before = placed.state.flags;
    espl_status status = ESPL_OK;

    model_reflag(&placed, flags);
    if (flags != before && flags != ESPL_COPY_PARENT) {
        status = model_judge(placed.above, &placed.state, &placed.world, MODEL_POSE);
    }
    if (status >= 0 && !model_place(model, node, model->nodes[node].parent, &placed.state)) {
        status = ESPL_ERR_RANGE;
    }
    return model_answer_of(status);
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
