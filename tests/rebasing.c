// SPDX-License-Identifier: MIT
// What keeps its world while that of what stands above it changes: survivors of the dead, what
// hangs below a node that moves without a placement, and below one whose placement comes or goes.
#include "tests/placing.h"
#include "tests/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool model_follows(const model_node *node)
{
    return !node->has_placement || node->state.flags == ESPL_COPY_PARENT;
}

// How far a position along `above` is from it, turned into the axes of the one above that.
static void offset_in(float out[3], const espl_transform *above, const float position[3])
{
    espl_transform only = espl_transform_identity(), at = only;

    memcpy(only.rotation, above->rotation, sizeof only.rotation);
    only.scale = above->scale;
    memcpy(at.position, position, sizeof at.position);
    at = espl_transform_compose(&only, &at);
    memcpy(out, at.position, sizeof at.position);
}

// The local that those of the doomed above a node and its own come to below another world: where it would be
// if they were alive. A position is stretched by its own parent alone. By a stretch of 0 it goes as by 1.
static espl_transform composed_local(const test_model *model, uint32_t node,
                                     const espl_transform *heir)
{
    const espl_transform identity = espl_transform_identity();
    const float *const stretch = heir != NULL ? heir->stretch : identity.stretch;
    espl_transform local = model->nodes[node].state.local;
    float offset[3] = {0, 0, 0};
    bool has_offset = false;

    for (uint32_t i = model->nodes[node].parent; i != MODEL_NONE; i = model->nodes[i].parent) {
        const model_node *const above = &model->nodes[i];
        const espl_transform *const up = &above->state.local;

        if (!model_follows(above) && !above->is_doomed) {
            break;
        }
        if (model_follows(above)) {
            continue;
        }
        float at[3];

        for (int k = 0; k < 3; ++k) {
            at[k] = local.position[k] * up->stretch[k];
            at[k] = has_offset ? at[k] + offset[k] : at[k];
        }
        local = espl_transform_compose(up, &local);
        memcpy(local.position, up->position, sizeof local.position);
        offset_in(offset, up, at);
        has_offset = true;
    }
    for (int k = 0; k < 3 && has_offset; ++k) {
        local.position[k] += stretch[k] != 0 ? offset[k] / stretch[k] : offset[k];
    }
    return local;
}

// --- The nearest local ---

// The largest finite number in place of an infinite one, and another number in place of none.
static void bring_near(float *values, const float *others, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (isnan(values[i])) {
            values[i] = others[i];
        } else if (!isfinite(values[i])) {
            values[i] = values[i] > 0 ? FLT_MAX : -FLT_MAX;
        }
    }
}

static espl_transform near_of(const espl_transform *local, const espl_transform *other)
{
    espl_transform out = *local;
    bool is_turn = true;

    bring_near(out.position, other->position, 3);
    bring_near(&out.scale, &other->scale, 1);
    for (int i = 0; i < 4; ++i) {
        is_turn = is_turn && isfinite(out.rotation[i]);
    }
    model_copy_parts(&out, other, is_turn ? 0 : MODEL_ROTATION);
    return out;
}

// One part of the local that keeps a world: the one seen from above, or else the composed one.
static bool keep_part(model_placed *placed, const espl_transform *near, const espl_transform *other,
                      unsigned part)
{
    const espl_transform *const above = placed->above, *const world = &placed->world;
    espl_transform only = espl_transform_identity();
    model_state state = placed->state;

    model_copy_parts(&only, world, part);
    model_copy_parts(&state.local, near, part);
    const espl_status first = model_judge(above, &state, world, part);

    model_copy_parts(&state.local, other, part);
    const espl_status second = model_judge(above, &state, world, part);
    const bool is_open = !model_is_finite(&only);
    const bool is_other = is_open || (first != ESPL_OK && second == ESPL_OK) ||
                          (first == ESPL_ERR_RANGE && second != ESPL_ERR_RANGE);

    model_copy_parts(&placed->state.local, is_other ? other : near, part);
    return is_open || first == ESPL_OK || second == ESPL_OK;
}

// Local under another world that keeps the node's own where it is, or as near as it can be. What cannot be
// seen from there comes from the composed locals.
// @param above  NULL: a new root, without flags, or what stands below a root without a placement.
static espl_transform rebased(test_model *model, uint32_t node, const espl_transform *above,
                              bool is_root)
{
    const model_node *const n = &model->nodes[node];
    const espl_transform origin = espl_transform_identity();
    const espl_transform composed = composed_local(model, node, above);
    const espl_transform other = near_of(&composed, &n->state.local);
    model_placed placed = {above != NULL ? above : &origin, n->state, n->world};
    espl_transform seen = other;

    if (above == NULL && model_is_finite(&n->world)) {
        return model_unit_world(n);
    }
    placed.state.flags = is_root ? 0 : placed.state.flags;
    (void)espl_transform_relative(placed.above, &n->world, &seen);
    const espl_transform near = near_of(&seen, &other);

    for (unsigned part = MODEL_POSITION; part <= MODEL_SCALE; part *= 2) {
        model->is_lossy = !keep_part(&placed, &near, &other, part) || model->is_lossy;
    }
    if (above == NULL) {
        (void)!espl_transform_normalize(&placed.state.local);
    }
    return placed.state.local;
}

espl_transform model_root_local(test_model *model, uint32_t node)
{
    return rebased(model, node, NULL, true);
}

void model_rebase(test_model *model, uint32_t top, const espl_transform *above)
{
    for (uint32_t i = top; i != MODEL_NONE;) {
        model_node *const n = &model->nodes[i];
        const bool follows = model_follows(n);
        n->state.local =
            follows ? n->state.local : rebased(model, i, above, above == NULL && i == top);
        i = follows ? model_next(model, top, i) : model_next_behind(model, top, i);
    }
}

// --- A placement that comes or goes ---

// Tell whether two worlds place what hangs below them alike: all but the context. Any NaN is like any
// other.
static bool is_same_frame(const espl_transform *a, const espl_transform *b)
{
    espl_transform other = *b;

    other.user_data = a->user_data;
    return test_same(a, &other);
}

// Make a world to be that of a node whose state is to change, and let what hangs below it stay.
static void change_world(test_model *model, uint32_t node, const espl_transform *world)
{
    if (is_same_frame(world, &model->nodes[node].world)) {
        return;
    }
    for (uint32_t i = model->nodes[node].first; i != MODEL_NONE; i = model->nodes[i].next) {
        model_rebase(model, i, world);
    }
}

static void settle(test_model *model, uint32_t node, const espl_transform *world)
{
    (void)model_try(model, node, world);
    model_keep_trial(model, node);
}

void model_give_placement(test_model *model, uint32_t node, const espl_transform *local)
{
    model_node *const n = &model->nodes[node];
    const model_placed placed = model_placed_of(model, node);
    model_state state = model_identity(0);

    state.local = *local;
    const espl_transform world = model_world_of(placed.above, true, &state);
    change_world(model, node, &world);
    n->has_placement = true;
    n->state = state;
    settle(model, node, &world);
}

void model_take_placement(test_model *model, uint32_t node)
{
    model_node *const n = &model->nodes[node];
    const model_placed placed = model_placed_of(model, node);
    const espl_transform identity = espl_transform_identity();
    const espl_transform world = placed.above != NULL ? *placed.above : identity;

    // To what hangs below it is as if the node had died.
    n->is_doomed = true;
    change_world(model, node, &world);
    n->is_doomed = false;
    n->has_placement = false;
    n->state = model_identity(0);
    settle(model, node, &world);
}
