// SPDX-License-Identifier: MIT
// Clones of an owned closure, and where they are placed.
#include "tests/placing.h"

uint32_t model_collect_closure(const test_model *model, uint32_t source)
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
    return model_collect_closure(model, node);
}

// A reference into the closure names the clone; any other stays. Clones are numbered from `first`
// in the order of the closure.
static uint32_t cloned_peer(const test_model *model, uint32_t first, uint32_t count, uint32_t peer)
{
    const uint32_t at = peer < first ? model->nodes[peer].clone - first : count;

    return at < count && model->doomed[at] == peer ? first + at : peer;
}

// @param parent  the clone will be below it: what its members keep is shifted to the cell there.
static uint32_t clone_closure(test_model *model, uint32_t count, uint32_t parent)
{
    const uint32_t first = model->count, source = model->doomed[0];
    const model_shift shift = model_shift_between(model, source, parent);

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t clone = model_add(model); // which may move the nodes
        model_node *const from = &model->nodes[model->doomed[i]];
        model_node *const to = &model->nodes[clone];

        to->set = from->set & ~model_bit(ESPL_PREFAB);
        to->values = from->values;
        to->look = from->look;
        to->name = from->name;
        to->has_placement = from->has_placement;
        to->state = from->state;
        from->clone = clone;
        if (i > 0) {
            to->link = from->link;
            model_link(model, clone, model->nodes[from->parent].clone, MODEL_NONE);
        }
    }
    for (uint32_t i = first; i < first + count; ++i) {
        model_values *const values = &model->nodes[i].values;
        values->peer = cloned_peer(model, first, count, values->peer);
    }
    model->nodes[first].cell = model_cell_of(model, source);
    model_shift_below(model, first, &shift);
    return first;
}

static model_answer instance_faults(const test_model *model, const model_instance *def,
                                    uint32_t parent, uint32_t before, espl_transform *transform)
{
    const model_answer source_fault = model_fault_of(model, def->source);
    const model_answer parent_fault = parent != MODEL_NONE ? model_fault_of(model, parent) : 0;
    model_answer faults = source_fault | parent_fault | model_before_faults(model, before, parent);

    if (def->place != ESPL_PLACE_SOURCE && espl_transform_normalize(transform) != ESPL_OK) {
        faults |= model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (!model_are_flags(def->inherit) || (def->inherit != 0 && def->parent == MODEL_NONE)) {
        faults |= model_answer_of(ESPL_ERR_ARGUMENT);
    }
    if (source_fault == 0 && !model->nodes[def->source].has_placement && parent != MODEL_NONE &&
        def->inherit != 0) {
        faults |= model_answer_of(ESPL_ERR_NO_TRANSFORM);
    }
    if (source_fault == 0) {
        const uint32_t set = model_components(model, def->source) & ~model_bit(ESPL_PREFAB);
        faults |= model_limit_faults(set | def->set);
    }
    return faults | model_limit_faults(def->set);
}

// State of a clone under a parent.
static espl_status member_state(const test_model *model, const model_instance *def, uint32_t parent,
                                const espl_transform *transform, model_state *out)
{
    const espl_transform *const above = &model->nodes[parent].world;

    *out = model_identity(def->inherit);
    if (def->inherit == ESPL_COPY_PARENT) {
        return ESPL_OK;
    }
    out->local = def->place == ESPL_PLACE_SOURCE ? model_local(model, def->source) : *transform;
    if (def->place == ESPL_PLACE_WORLD) {
        (void)espl_transform_relative(above, transform, &out->local);
        model_keep_parts(out, transform, MODEL_POSE);
        return model_judge(above, out, transform, MODEL_POSE);
    }
    const espl_transform composed = espl_transform_compose(above, &out->local);
    model_keep_parts(out, &composed, MODEL_POSE);
    return ESPL_OK;
}

static espl_status clone_state(const test_model *model, const model_instance *def, uint32_t parent,
                               const espl_transform *transform, model_state *out)
{
    const model_node *const source = &model->nodes[def->source];

    if (source->has_placement && parent != MODEL_NONE) {
        return member_state(model, def, parent, transform, out);
    }
    *out = model_identity(0);
    if (source->has_placement) {
        out->local = def->place == ESPL_PLACE_SOURCE ? model_unit_world(source) : *transform;
    }
    return ESPL_OK;
}

model_answer model_instantiate(test_model *model, const model_instance *def, uint32_t *out)
{
    const bool is_orphan = def->parent != MODEL_NONE && def->dead_parent == ESPL_DEAD_PARENT_ROOT &&
                           model_fault_of(model, def->parent) == model_answer_of(ESPL_ERR_DEAD);
    const uint32_t parent = is_orphan ? MODEL_NONE : def->parent;
    const uint32_t before = is_orphan ? MODEL_NONE : def->before;
    espl_transform transform = def->transform;
    const model_answer faults = instance_faults(model, def, parent, before, &transform);

    if (faults != 0) {
        return faults;
    }
    model_state state;
    const espl_status status = clone_state(model, def, parent, &transform, &state);
    const uint32_t size = model_collect_closure(model, def->source);

    if (status < 0) {
        return model_answer_of(status);
    }
    for (size_t i = 0; i < def->count; ++i) {
        const uint32_t clone = clone_closure(model, size, parent);
        if (!model_place(model, clone, parent, &state)) {
            model->count -= size;
            model->living_count -= size;
            return model_answer_of(ESPL_ERR_RANGE);
        }
        model->nodes[clone].link = parent != MODEL_NONE ? def->link : ESPL_LINK_OWNED;
        model_set_values(&model->nodes[clone], def->set, &def->values);
        if (parent != MODEL_NONE) {
            model_link(model, clone, parent, before);
        }
        out[i] = clone;
    }
    return model_answer_of(status);
}
