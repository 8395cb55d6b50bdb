// SPDX-License-Identifier: MIT
// The world as the specification tells it. Slow and plain: what it does is meant to be read.
#include "tests/placing.h"

#include <math.h>
#include <string.h>

// --- Refusals ---

model_answer model_fault_of(const test_model *model, uint32_t node)
{
    switch (node) {
    case MODEL_NONE:
        return model_answer_of(ESPL_ERR_NULL_ENTITY);
    case MODEL_DEAD:
        return model_answer_of(ESPL_ERR_DEAD);
    case MODEL_FOREIGN:
        return model_answer_of(ESPL_ERR_FOREIGN);
    case MODEL_ALIEN: // to a command, and to a call at once
        return model_answer_of(ESPL_ERR_FOREIGN) | model_answer_of(ESPL_ERR_PENDING);
    default:
        return model->nodes[node].is_alive ? 0 : model_answer_of(ESPL_ERR_DEAD);
    }
}

model_answer model_before_faults(const test_model *model, uint32_t before, uint32_t parent)
{
    if (before == MODEL_NONE) {
        return 0;
    }
    const model_answer faults = model_fault_of(model, before) |
                                (parent == MODEL_NONE ? model_answer_of(ESPL_ERR_NOT_CHILD) : 0);
    if (faults != 0 || model_fault_of(model, parent) != 0) {
        return faults;
    }
    return model->nodes[before].parent == parent ? 0 : model_answer_of(ESPL_ERR_NOT_CHILD);
}

static bool is_stay(espl_keep keep)
{
    return keep == ESPL_KEEP_WORLD || keep == ESPL_KEEP_LOCAL || keep == ESPL_SNAP;
}

bool model_are_options(const espl_attach_options *o)
{
    return is_stay(o->position) && is_stay(o->rotation) && is_stay(o->scale) &&
           (o->link == ESPL_LINK_OWNED || o->link == ESPL_LINK_FREE) && model_are_flags(o->inherit);
}

static model_answer attach_faults(const test_model *model, uint32_t child, uint32_t parent,
                                  const espl_attach_options *options)
{
    const model_answer child_fault = model_fault_of(model, child);
    const model_answer parent_fault = model_fault_of(model, parent);
    model_answer faults = child_fault | parent_fault;

    if (!model_are_options(options)) {
        faults |= model_answer_of(ESPL_ERR_ARGUMENT);
    }
    if (child_fault == 0 && parent_fault == 0 && model_is_at_or_below(model, parent, child)) {
        faults |= model_answer_of(ESPL_ERR_CYCLE);
    }
    if (child_fault == 0 && !model->nodes[child].has_placement && options->inherit != 0) {
        faults |= model_answer_of(ESPL_ERR_NO_TRANSFORM);
    }
    return faults;
}

// --- Attach and detach ---

static unsigned parts_with(const espl_attach_options *o, espl_keep keep)
{
    return (o->position == keep ? (unsigned)MODEL_POSITION : 0u) |
           (o->rotation == keep ? (unsigned)MODEL_ROTATION : 0u) |
           (o->scale == keep ? (unsigned)MODEL_SCALE : 0u);
}

// Links to a common ancestor that an attach follows, as espalier_tree(3) says.
enum { LONGEST_PATH = 64 };

// Whether a local keeps parts of a world: to 2^-20 of a scale, and of a position to 2^-20 of the two numbers
// that are subtracted and of the distance.
static bool leads_to(const espl_transform *local, const espl_transform *above,
                     const espl_transform *world, unsigned held)
{
    const espl_transform got = espl_transform_compose(above, local);
    float reach = 0;

    for (int i = 0; i < 3; ++i) {
        reach = fmaxf(reach, fabsf(world->position[i] - above->position[i]));
    }
    for (int i = 0; i < 3 && (held & MODEL_POSITION) != 0; ++i) {
        const float slack = 0x1p-20f * fabsf(world->position[i]) +
                            0x1p-20f * fabsf(above->position[i]) + 0x1p-20f * reach;

        if (!isfinite(slack) || !(fabsf(got.position[i] - world->position[i]) <= slack)) {
            return false;
        }
    }
    return (held & MODEL_SCALE) == 0 ||
           fabsf(got.scale - world->scale) <= 0x1p-20f * fabsf(world->scale);
}

// What the options make of a node under another parent.
static espl_status moved_state(const test_model *model, uint32_t child, uint32_t parent,
                               const espl_attach_options *options, const model_shift *shift,
                               model_state *out)
{
    const espl_transform *const above = &model->nodes[parent].world;
    espl_transform shifted = model->nodes[child].world;
    const espl_transform *const world = &shifted;
    const espl_transform identity = espl_transform_identity();
    const espl_transform local = model_local(model, child);
    const unsigned held = parts_with(options, ESPL_KEEP_WORLD);
    espl_transform seen = local;

    *out = model_identity(options->inherit);
    if (options->inherit == ESPL_COPY_PARENT) {
        return ESPL_OK;
    }
    model_shift_position(shifted.position, shift);
    // By the locals between both, where that keeps the world.
    espl_transform path = identity;
    const bool has_path = model_path(model, parent, child, LONGEST_PATH, &path) &&
                          leads_to(&path, above, world, held);

    if (has_path) {
        seen = path;
    } else {
        (void)espl_transform_relative(above, world, &seen);
    }
    out->local = local;
    model_copy_parts(&out->local, &seen, held);
    model_copy_parts(&out->local, &identity, parts_with(options, ESPL_SNAP));

    const espl_transform composed = espl_transform_compose(above, &out->local);
    model_keep_parts(out, world, held);
    model_keep_parts(out, &composed, MODEL_POSE & ~held);
    return held != 0 && !has_path ? model_judge(above, out, world, held) : ESPL_OK;
}

// Under the parent that a node has already, only what the options say changes.
static espl_status snapped_state(const test_model *model, uint32_t child,
                                 const espl_attach_options *options, model_state *out)
{
    const unsigned snapped = parts_with(options, ESPL_SNAP);
    const espl_transform identity = espl_transform_identity();
    model_placed placed = model_placed_of(model, child);
    const bool is_reflagged = placed.state.flags != options->inherit;

    model_reflag(&placed, options->inherit);
    *out = placed.state;
    if (options->inherit == ESPL_COPY_PARENT) {
        return ESPL_OK;
    }
    model_copy_parts(&out->local, &identity, snapped);
    const espl_transform composed = espl_transform_compose(placed.above, &out->local);
    model_keep_parts(out, &composed, snapped);
    return is_reflagged ? model_judge(placed.above, out, &placed.world, MODEL_POSE & ~snapped)
                        : ESPL_OK;
}

// Move a node without placement. What hangs below it keeps its world where that is asked for.
static espl_status move_unplaced(test_model *model, uint32_t node, uint32_t parent,
                                 bool keeps_world, const model_shift *shift)
{
    const model_state state = model->nodes[node].state;

    model->is_lossy = false;
    for (uint32_t i = model_next(model, node, node); i != MODEL_NONE && keeps_world;
         i = model_next(model, node, i)) {
        model->is_lossy |= shift->is_far && !model_follows(&model->nodes[i]);
    }
    if (keeps_world) {
        model_shift_worlds(model, node, shift);
        model_rebase(model, node, parent != MODEL_NONE ? &model->nodes[parent].world : NULL);
    }
    model_shift_below(model, node, shift);
    (void)model_place(model, node, parent, &state);
    return model->is_lossy ? ESPL_LOSSY : ESPL_OK;
}

model_answer model_attach(test_model *model, uint32_t child, uint32_t parent, uint32_t before,
                          const espl_attach_options *options)
{
    const model_answer faults =
        attach_faults(model, child, parent, options) | model_before_faults(model, before, parent);
    if (faults != 0) {
        return faults;
    }

    model_node *const n = &model->nodes[child];
    const bool stays = n->parent == parent, keeps_world = options->position == ESPL_KEEP_WORLD;
    const model_shift shift = model_shift_between(model, child, parent);
    espl_status status = ESPL_OK;
    bool is_placed = true;

    if (!n->has_placement && !stays) {
        status = move_unplaced(model, child, parent, keeps_world, &shift);
    } else if (n->has_placement) {
        model_state state;

        status = stays ? snapped_state(model, child, options, &state)
                       : moved_state(model, child, parent, options, &shift, &state);
        if (status == ESPL_OK && shift.is_far && keeps_world &&
            options->inherit != ESPL_COPY_PARENT) {
            status = ESPL_LOSSY;
        }
        is_placed = status >= 0 && model_is_storable(&state);
        if (is_placed) {
            model_shift_below(model, child, &shift);
            (void)model_place(model, child, parent, &state);
        }
    }
    if (!is_placed) {
        return model_answer_of(ESPL_ERR_RANGE);
    }

    n->link = options->link;
    if (!stays || (before != MODEL_NONE && before != child)) {
        model_unlink(model, child);
        model_link(model, child, parent, before);
    }
    return model_answer_of(status);
}

model_answer model_detach(test_model *model, uint32_t node, espl_keep keep)
{
    const model_answer faults =
        model_fault_of(model, node) | (is_stay(keep) ? 0 : model_answer_of(ESPL_ERR_ARGUMENT));
    if (faults != 0) {
        return faults;
    }
    model_node *const n = &model->nodes[node];
    if (n->parent == MODEL_NONE) {
        return model_answer_of(ESPL_OK);
    }

    espl_status status = ESPL_OK;
    bool is_placed = true;

    if (!n->has_placement) {
        const model_shift none = {.is_any = false};

        status = move_unplaced(model, node, MODEL_NONE, keep == ESPL_KEEP_WORLD, &none);
    } else {
        const espl_transform identity = espl_transform_identity();
        model_state state = model_identity(0);
        state.local = keep == ESPL_KEEP_WORLD ? model_unit_world(n) : model_local(model, node);
        model_copy_parts(&state.local, &identity, keep == ESPL_SNAP ? MODEL_POSE : 0);
        is_placed = model_place(model, node, MODEL_NONE, &state);
    }
    if (!is_placed) {
        return model_answer_of(ESPL_ERR_RANGE);
    }
    model_unlink(model, node);
    n->link = ESPL_LINK_OWNED;
    return model_answer_of(status);
}

// --- Siblings ---

model_answer model_set_sibling(test_model *model, uint32_t node, uint32_t before)
{
    const model_answer node_fault = model_fault_of(model, node);
    const model_answer before_fault = before != MODEL_NONE ? model_fault_of(model, before) : 0;
    const uint32_t parent = node_fault == 0 ? model->nodes[node].parent : MODEL_NONE;
    model_answer faults = node_fault | before_fault;

    if (node_fault == 0 && parent == MODEL_NONE) {
        faults |= model_answer_of(ESPL_ERR_NOT_CHILD);
    } else if (node_fault == 0 && before_fault == 0) {
        faults |= model_before_faults(model, before, parent);
    }
    if (faults == 0 && before != node) {
        model_unlink(model, node);
        model_link(model, node, parent, before);
    }
    return faults != 0 ? faults : model_answer_of(ESPL_OK);
}

// --- Destroy ---

static bool is_doomed(const test_model *model, uint32_t node, uint32_t top, model_policy policy)
{
    const model_node *const n = &model->nodes[node];
    if (node == top || policy == MODEL_SUBTREE) {
        return true;
    }
    return policy == MODEL_CLOSURE && model->nodes[n->parent].is_doomed &&
           n->link == ESPL_LINK_OWNED;
}

// The state of a survivor, or of what it passes its parent's world to, under the heir.
static void prepare_survivor(test_model *model, uint32_t node, uint32_t heir)
{
    model_node *const n = &model->nodes[node];

    if (heir == MODEL_NONE && n->has_placement) {
        const espl_transform local = model_root_local(model, node);
        n->state = model_identity(0);
        n->state.local = local;
    } else {
        model_rebase(model, node, heir != MODEL_NONE ? &model->nodes[heir].world : NULL);
    }
}

static void hand_over(test_model *model, uint32_t survivor, uint32_t heir, uint32_t place)
{
    model_node *const n = &model->nodes[survivor];
    const espl_transform *const above = heir != MODEL_NONE ? &model->nodes[heir].world : NULL;
    const espl_transform world = model_world_of(above, n->has_placement, &n->state);

    model_unlink(model, survivor);
    if (heir != MODEL_NONE) {
        model_link(model, survivor, heir, place);
    } else {
        n->link = ESPL_LINK_OWNED;
    }
    (void)model_try(model, survivor, &world);
    model_keep_trial(model, survivor);
}

model_answer model_destroy(test_model *model, uint32_t node, model_policy policy)
{
    const model_answer faults = model_fault_of(model, node);
    if (faults != 0) {
        return faults;
    }
    const uint32_t heir = model->nodes[node].parent;
    uint32_t doomed_count = 0, survivor_count = 0;

    for (uint32_t i = node; i != MODEL_NONE; i = model_next(model, node, i)) {
        model_node *const n = &model->nodes[i];
        n->is_doomed = is_doomed(model, i, node, policy);
        if (n->is_doomed) {
            model->doomed[doomed_count++] = i;
        } else if (model->nodes[n->parent].is_doomed) {
            model->survivors[survivor_count++] = i;
        }
    }

    // Survivors take the dead one's place, in the order a walk meets them.
    model->is_lossy = false;
    for (uint32_t i = 0; i < survivor_count; ++i) {
        prepare_survivor(model, model->survivors[i], heir);
    }
    for (uint32_t i = 0; i < survivor_count; ++i) {
        hand_over(model, model->survivors[i], heir, node);
    }
    model_unlink(model, node);
    for (uint32_t i = 0; i < doomed_count; ++i) {
        model_kill(model, model->doomed[i]);
    }
    return model_answer_of(model->is_lossy ? ESPL_LOSSY : ESPL_OK);
}
