// SPDX-License-Identifier: MIT
// What keeps its world while that of what stands above it changes: survivors of the dead, what
// hangs below a node that moves without a placement, and below one whose placement comes or goes.
#include "tests/placing.h"
#include "tests/support.h"

bool model_follows(const model_node *node)
{
    return !node->has_placement || node->state.flags == ESPL_COPY_PARENT;
}

// The node's own local and those of the doomed above it, composed upwards.
static espl_transform composed_local(const test_model *model, uint32_t node)
{
    espl_transform local = model->nodes[node].state.local;

    for (uint32_t i = model->nodes[node].parent; i != MODEL_NONE; i = model->nodes[i].parent) {
        const model_node *const above = &model->nodes[i];
        if (!model_follows(above) && !above->is_doomed) {
            break;
        }
        local = model_follows(above) ? local : espl_transform_compose(&above->state.local, &local);
    }
    return local;
}

// Where a world cannot be kept, because it or the one above is not finite, the local becomes the
// composed local; it stays where that is not finite. Stretch and context are those that show.
static espl_transform fallback_local(const test_model *model, uint32_t node)
{
    const model_node *const n = &model->nodes[node];
    const espl_transform composed = composed_local(model, node);
    const bool is_finite = model_is_finite(&composed);
    espl_transform local = n->world;

    model_copy_parts(&local, is_finite ? &composed : &n->state.local, MODEL_POSE);
    return local;
}

espl_transform model_root_local(const test_model *model, uint32_t node)
{
    const model_node *const n = &model->nodes[node];

    return model_is_finite(&n->world) ? model_unit_world(n) : fallback_local(model, node);
}

// Local under another world that keeps the node's own where it is. What cannot be seen from there
// comes from the composed locals.
static espl_transform rebased(const test_model *model, uint32_t node, const espl_transform *above)
{
    const model_node *const n = &model->nodes[node];
    if (above == NULL) {
        return model_root_local(model, node);
    }
    espl_transform local = composed_local(model, node);

    (void)espl_transform_relative(&local, above, &n->world);
    const espl_transform world = espl_transform_compose(above, &local);
    return model_is_finite(&local) && model_is_finite(&world) ? local : fallback_local(model, node);
}

void model_rebase(test_model *model, uint32_t top, const espl_transform *above)
{
    for (uint32_t i = top; i != MODEL_NONE;) {
        model_node *const n = &model->nodes[i];
        const bool follows = model_follows(n);
        n->state.local = follows ? n->state.local : rebased(model, i, above);
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
