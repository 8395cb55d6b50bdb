// SPDX-License-Identifier: MIT
// The world as the specification tells it. Slow and plain: what it does is meant to be read.
#include "tests/model.h"

#include <math.h>
#include <string.h>

// --- Refusals ---

static model_answer fault_of(const test_model *model, uint32_t node)
{
    switch (node) {
    case MODEL_NONE:
        return model_answer_of(ESPL_ERR_NULL_ENTITY);
    case MODEL_DEAD:
        return model_answer_of(ESPL_ERR_DEAD);
    case MODEL_FOREIGN:
        return model_answer_of(ESPL_ERR_FOREIGN);
    default:
        return model->nodes[node].is_alive ? 0 : model_answer_of(ESPL_ERR_DEAD);
    }
}

// --- Placements ---

static bool is_finite(const espl_transform *transform)
{
    const espl_transform *const t = transform;
    const float fields[8] = {t->rotation[0], t->rotation[1], t->rotation[2], t->rotation[3],
                             t->position[0], t->position[1], t->position[2], t->scale};
    for (int i = 0; i < 8; ++i) {
        if (!isfinite(fields[i])) {
            return false;
        }
    }
    return true;
}

// Compute into `trial` what the worlds become when the node's own becomes `world`.
// Returns whether all of them are finite.
static bool try_worlds(test_model *model, uint32_t top, const espl_transform *world)
{
    bool are_finite = is_finite(world);

    model->nodes[top].trial = *world;
    for (uint32_t i = model_next(model, top, top); i != MODEL_NONE; i = model_next(model, top, i)) {
        model_node *const n = &model->nodes[i];
        const espl_transform *const parent = &model->nodes[n->parent].trial;
        n->trial = n->has_placement ? espl_transform_compose(parent, &n->local) : *parent;
        are_finite = are_finite && is_finite(&n->trial);
    }
    return are_finite;
}

static void keep_worlds(test_model *model, uint32_t top)
{
    for (uint32_t i = top; i != MODEL_NONE; i = model_next(model, top, i)) {
        model->nodes[i].world = model->nodes[i].trial;
    }
}

static espl_transform world_under(const test_model *model, uint32_t parent, const model_node *node,
                                  const espl_transform *local)
{
    if (parent == MODEL_NONE) {
        return *local;
    }
    const espl_transform *const above = &model->nodes[parent].world;
    return node->has_placement ? espl_transform_compose(above, local) : *above;
}

// --- Attach and detach ---

static bool is_keep(espl_keep keep)
{
    return keep == ESPL_KEEP_WORLD || keep == ESPL_KEEP_LOCAL || keep == ESPL_KEEP_NONE;
}

static bool is_link(espl_link link)
{
    return link == ESPL_LINK_OWNED || link == ESPL_LINK_FREE;
}

static model_answer before_faults(const test_model *model, uint32_t before, uint32_t parent)
{
    if (before == MODEL_NONE) {
        return 0;
    }
    const model_answer faults =
        fault_of(model, before) | (parent == MODEL_NONE ? model_answer_of(ESPL_ERR_NOT_CHILD) : 0);
    if (faults != 0 || fault_of(model, parent) != 0) {
        return faults;
    }
    return model->nodes[before].parent == parent ? 0 : model_answer_of(ESPL_ERR_NOT_CHILD);
}

// Take each part of `local` from the place it is asked from. Returns whether a part that was to
// stay in the world could not.
static bool take_parts(espl_transform *local, const espl_transform *parent,
                       const espl_transform *world, const espl_attach_options *options)
{
    espl_transform seen = *local, probe = *local, wanted = *world;
    bool is_lossy = false;

    (void)espl_transform_relative(&seen, parent, world);
    if (options->position == ESPL_KEEP_WORLD) {
        memcpy(local->position, seen.position, sizeof seen.position);
        wanted.scale = parent->scale; // which can always be reached
        is_lossy = espl_transform_relative(&probe, parent, &wanted) == ESPL_LOSSY;
    }
    if (options->rotation == ESPL_KEEP_WORLD) {
        memcpy(local->rotation, seen.rotation, sizeof seen.rotation);
    }
    if (options->scale == ESPL_KEEP_WORLD) {
        local->scale = seen.scale;
        wanted = *world;
        memcpy(wanted.position, parent->position, sizeof wanted.position); // this one too
        is_lossy = espl_transform_relative(&probe, parent, &wanted) == ESPL_LOSSY || is_lossy;
    }
    return is_lossy;
}

static const espl_attach_options snap_all = {
    .position = ESPL_KEEP_NONE, .rotation = ESPL_KEEP_NONE, .scale = ESPL_KEEP_NONE};

static void snap_parts(espl_transform *local, const espl_attach_options *options)
{
    const espl_transform identity = espl_transform_identity();

    if (options->position == ESPL_KEEP_NONE) {
        memcpy(local->position, identity.position, sizeof identity.position);
    }
    if (options->rotation == ESPL_KEEP_NONE) {
        memcpy(local->rotation, identity.rotation, sizeof identity.rotation);
    }
    if (options->scale == ESPL_KEEP_NONE) {
        local->scale = identity.scale;
    }
}

// The node's own local and those of the doomed and the unplaced above it, composed upwards.
static espl_transform composed_local(const test_model *model, uint32_t node)
{
    espl_transform local = model->nodes[node].local;

    for (uint32_t i = model->nodes[node].parent; i != MODEL_NONE; i = model->nodes[i].parent) {
        const model_node *const above = &model->nodes[i];
        if (above->has_placement && !above->is_doomed) {
            break;
        }
        local = above->has_placement ? espl_transform_compose(&above->local, &local) : local;
    }
    return local;
}

// The world as a local of its own: a rotation off unit length is normalised when it is written.
static espl_transform unit_world(const model_node *node)
{
    espl_transform world = node->world;
    return espl_transform_normalize(&world) == ESPL_OK ? world : node->world;
}

// Local under an heir that keeps the world where it is. What cannot be seen from there comes from
// the composed locals; where nothing is finite, it snaps.
static espl_transform rebased(const test_model *model, uint32_t node, uint32_t heir)
{
    const model_node *const n = &model->nodes[node];
    if (heir == MODEL_NONE) {
        return unit_world(n);
    }
    const espl_transform *const above = &model->nodes[heir].world;
    const espl_transform composed = composed_local(model, node);
    espl_transform tries[2] = {composed, composed}, snapped = n->local;

    (void)espl_transform_relative(&tries[0], above, &n->world);
    for (int i = 0; i < 2; ++i) {
        const espl_transform world = espl_transform_compose(above, &tries[i]);
        if (is_finite(&tries[i]) && is_finite(&world)) {
            return tries[i];
        }
    }
    snap_parts(&snapped, &snap_all);
    return snapped;
}

// Keep a node where it is under an heir to come; one without placement has nothing to keep, but
// those below it have. See undo_rebase().
static void rebase(test_model *model, uint32_t top, uint32_t heir)
{
    for (uint32_t i = top; i != MODEL_NONE;) {
        model_node *const n = &model->nodes[i];
        n->saved = n->local;
        n->local = n->has_placement ? rebased(model, i, heir) : n->local;
        i = n->has_placement ? model_next_behind(model, top, i) : model_next(model, top, i);
    }
}

static void undo_rebase(test_model *model, uint32_t top)
{
    for (uint32_t i = top; i != MODEL_NONE;) {
        model_node *const n = &model->nodes[i];
        n->local = n->saved;
        i = n->has_placement ? model_next_behind(model, top, i) : model_next(model, top, i);
    }
}

// Give a node the local that goes with a parent to come. false: some world would not be finite.
static bool place_under(test_model *model, uint32_t node, uint32_t parent,
                        const espl_transform *local, bool keeps_world)
{
    model_node *const n = &model->nodes[node];
    const espl_transform world = world_under(model, parent, n, local);
    const bool is_rebased = keeps_world && !n->has_placement;

    if (is_rebased) {
        rebase(model, node, parent);
    }
    if (!try_worlds(model, node, &world)) {
        if (is_rebased) {
            undo_rebase(model, node);
        }
        return false;
    }
    n->local = *local;
    keep_worlds(model, node);
    return true;
}

model_answer model_attach(test_model *model, uint32_t child, uint32_t parent, uint32_t before,
                          const espl_attach_options *options)
{
    model_answer faults =
        fault_of(model, child) | fault_of(model, parent) | before_faults(model, before, parent);
    if (!is_keep(options->position) || !is_keep(options->rotation) || !is_keep(options->scale) ||
        !is_link(options->link)) {
        faults |= model_answer_of(ESPL_ERR_ARGUMENT);
    }
    if (fault_of(model, child) == 0 && fault_of(model, parent) == 0 &&
        model_is_at_or_below(model, parent, child)) {
        faults |= model_answer_of(ESPL_ERR_CYCLE);
    }
    if (faults != 0) {
        return faults;
    }

    model_node *const n = &model->nodes[child];
    const bool stays = n->parent == parent;
    espl_transform local = n->local;
    bool is_lossy = false;
    if (!stays && n->has_placement) {
        is_lossy = take_parts(&local, &model->nodes[parent].world, &n->world, options);
    }
    snap_parts(&local, options);
    if (!place_under(model, child, parent, &local,
                     !stays && options->position == ESPL_KEEP_WORLD)) {
        return model_answer_of(ESPL_ERR_RANGE);
    }

    n->link = options->link;
    if (!stays || (before != MODEL_NONE && before != child)) {
        model_unlink(model, child);
        model_link(model, child, parent, before);
    }
    return model_answer_of(is_lossy ? ESPL_LOSSY : ESPL_OK);
}

model_answer model_detach(test_model *model, uint32_t node, espl_keep keep)
{
    const model_answer faults =
        fault_of(model, node) | (is_keep(keep) ? 0 : model_answer_of(ESPL_ERR_ARGUMENT));
    if (faults != 0) {
        return faults;
    }
    model_node *const n = &model->nodes[node];
    if (n->parent == MODEL_NONE) {
        return model_answer_of(ESPL_OK);
    }

    espl_transform local = keep == ESPL_KEEP_WORLD && n->has_placement ? unit_world(n) : n->local;
    if (keep == ESPL_KEEP_NONE) {
        snap_parts(&local, &snap_all);
    }
    if (!place_under(model, node, MODEL_NONE, &local, keep == ESPL_KEEP_WORLD)) {
        return model_answer_of(ESPL_ERR_RANGE);
    }
    model_unlink(model, node);
    n->link = ESPL_LINK_OWNED;
    return model_answer_of(ESPL_OK);
}

// --- Writes ---

static model_answer set_value(test_model *model, uint32_t node, const espl_transform *value,
                              bool is_world)
{
    espl_transform local = *value;
    model_answer faults = fault_of(model, node);

    if (faults == 0 && !model->nodes[node].has_placement) {
        faults |= model_answer_of(ESPL_ERR_NO_TRANSFORM);
    }
    if (espl_transform_normalize(&local) != ESPL_OK) {
        faults |= model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (faults != 0) {
        return faults;
    }

    espl_status status = ESPL_OK;
    if (is_world && model->nodes[node].parent != MODEL_NONE) {
        const espl_transform wanted = local;
        local = model->nodes[node].local;
        status = espl_transform_relative(&local, &model->nodes[model->nodes[node].parent].world,
                                         &wanted);
    }
    const bool is_placed = place_under(model, node, model->nodes[node].parent, &local, false);
    return model_answer_of(is_placed ? status : ESPL_ERR_RANGE);
}

model_answer model_set_local(test_model *model, uint32_t node, const espl_transform *value)
{
    return set_value(model, node, value, false);
}

model_answer model_set_world(test_model *model, uint32_t node, const espl_transform *value)
{
    return set_value(model, node, value, true);
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

model_answer model_destroy(test_model *model, uint32_t node, model_policy policy)
{
    const model_answer faults = fault_of(model, node);
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
    for (uint32_t i = 0; i < survivor_count; ++i) {
        rebase(model, model->survivors[i], heir);
    }
    for (uint32_t i = 0; i < survivor_count; ++i) {
        model_node *const n = &model->nodes[model->survivors[i]];
        model_unlink(model, model->survivors[i]);
        if (heir != MODEL_NONE) {
            model_link(model, model->survivors[i], heir, node);
        } else {
            n->link = ESPL_LINK_OWNED;
        }
        const espl_transform world = world_under(model, heir, n, &n->local);
        (void)try_worlds(model, model->survivors[i], &world);
        keep_worlds(model, model->survivors[i]);
    }
    model_unlink(model, node);
    for (uint32_t i = 0; i < doomed_count; ++i) {
        model_kill(model, model->doomed[i]);
    }
    return model_answer_of(ESPL_OK);
}

// --- Clones ---

// Collect the owned closure in `doomed`, parents first.
static uint32_t collect_closure(const test_model *model, uint32_t source)
{
    uint32_t count = 0;
    for (uint32_t i = source; i != MODEL_NONE;) {
        const bool is_taken = i == source || model->nodes[i].link == ESPL_LINK_OWNED;
        model->doomed[count] = i;
        count += is_taken;
        i = is_taken ? model_next(model, source, i) : model_next_behind(model, source, i);
    }
    return count;
}

uint32_t model_closure_size(const test_model *model, uint32_t node)
{
    return collect_closure(model, node);
}

static uint32_t clone_closure(test_model *model, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t clone = model_add(model); // which may move the nodes
        model_node *const from = &model->nodes[model->doomed[i]];
        model_node *const to = &model->nodes[clone];

        to->tag = from->tag;
        to->has_placement = from->has_placement;
        to->local = from->local;
        from->clone = clone;
        if (i > 0) {
            to->link = from->link;
            model_link(model, clone, model->nodes[from->parent].clone, MODEL_NONE);
        }
    }
    return model->nodes[model->doomed[0]].clone;
}

model_answer model_instantiate(test_model *model, const model_instance *def, uint32_t *out)
{
    const bool is_orphan = def->parent != MODEL_NONE && def->orphan == ESPL_ORPHAN_ROOT &&
                           fault_of(model, def->parent) == model_answer_of(ESPL_ERR_DEAD);
    const uint32_t parent = is_orphan ? MODEL_NONE : def->parent;
    const uint32_t before = is_orphan ? MODEL_NONE : def->before;
    espl_transform local = def->transform;
    model_answer faults = fault_of(model, def->source) | before_faults(model, before, parent) |
                          (parent != MODEL_NONE ? fault_of(model, parent) : 0);

    if (def->place != ESPL_PLACE_SOURCE && espl_transform_normalize(&local) != ESPL_OK) {
        faults |= model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (faults != 0) {
        return faults;
    }

    const model_node source = model->nodes[def->source];
    espl_status status = ESPL_OK;
    if (!source.has_placement) {
        local = source.local;
    } else if (def->place == ESPL_PLACE_SOURCE) {
        local = parent != MODEL_NONE ? source.local : unit_world(&source);
    } else if (def->place == ESPL_PLACE_WORLD && parent != MODEL_NONE) {
        const espl_transform wanted = local;
        status = espl_transform_relative(&local, &model->nodes[parent].world, &wanted);
    }

    const uint32_t size = collect_closure(model, def->source);
    const espl_transform world = world_under(model, parent, &source, &local);
    for (size_t i = 0; i < def->count; ++i) {
        const uint32_t clone = clone_closure(model, size);
        if (!try_worlds(model, clone, &world)) {
            model->count -= size;
            model->living_count -= size;
            return model_answer_of(ESPL_ERR_RANGE);
        }
        model->nodes[clone].local = local;
        model->nodes[clone].link = parent != MODEL_NONE ? def->link : ESPL_LINK_OWNED;
        model->nodes[clone].tag = def->sets_tag ? def->tag : source.tag;
        keep_worlds(model, clone);
        if (parent != MODEL_NONE) {
            model_link(model, clone, parent, before);
        }
        out[i] = clone;
    }
    return model_answer_of(status);
}
