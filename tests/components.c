// SPDX-License-Identifier: MIT
// Components that come and go, what queries see of them, and who is enabled.
#include "tests/placing.h"

#include <stdlib.h>

// --- Sets ---

uint32_t model_components(const test_model *model, uint32_t node)
{
    static const espl_component roles[4] = {[ESPL_ROLE_SOLO] = ESPL_SOLO,
                                            [ESPL_ROLE_ROOT] = ESPL_ROOT,
                                            [ESPL_ROLE_MEMBER] = ESPL_MEMBER};
    const model_node *const n = &model->nodes[node];
    const uint32_t placement = n->has_placement ? model_bit(ESPL_TRANSFORM) : 0;

    return n->set | placement | model_bit(roles[model_role(model, node)]);
}

uint32_t model_set_size(uint32_t set)
{
    const uint32_t bulk = (set & model_bit(MODEL_BULK)) != 0 ? MODEL_BULK_COUNT - 1 : 0;

    return (uint32_t)__builtin_popcount(set) + bulk;
}

bool model_answers(const test_model *model, uint32_t node, const model_query *query)
{
    const uint32_t set = model_components(model, node);
    const uint32_t skipped =
        ((query->include & ESPL_INCLUDE_PREFABS) == 0 ? model_bit(ESPL_PREFAB) : 0) |
        ((query->include & ESPL_INCLUDE_DISABLED) == 0 ? model_bit(ESPL_DISABLED) : 0);

    return (set & query->all) == query->all && (set & query->none) == 0 &&
           (query->any == 0 || (set & query->any) != 0) && (set & skipped & ~query->all) == 0;
}

void model_set_values(model_node *node, uint32_t set, const model_values *values)
{
    model_values *const own = &node->values;

    node->set |= set;
    own->tag = (set & model_bit(MODEL_TAG)) != 0 ? values->tag : own->tag;
    own->load = (set & model_bit(MODEL_LOAD)) != 0 ? values->load : own->load;
    own->peer = (set & model_bit(MODEL_PEER)) != 0 ? values->peer : own->peer;
}

void model_give_values(model_node *node, uint32_t set, uint32_t zeroed, const model_values *values)
{
    static const model_values zeros = {0, 0, MODEL_NONE};

    model_set_values(node, set & ~zeroed, values);
    model_set_values(node, set & zeroed, &zeros);
}

// --- Faults ---

model_answer model_flaw_faults(model_flaw flaw)
{
    switch (flaw) {
    case MODEL_FLAWLESS:
        return 0;
    case MODEL_UNKNOWN:
    case MODEL_GIVES_ROLE:
    case MODEL_TAKES_ROLE:
    case MODEL_REPEATS:
    case MODEL_CONTRADICTS:
    case MODEL_MISSIZES:
    case MODEL_FLAW_COUNT:
        break;
    }
    return model_answer_of(ESPL_ERR_ARGUMENT);
}

model_answer model_limit_faults(uint32_t set)
{
    return model_set_size(set) > ESPL_SET_LIMIT ? model_answer_of(ESPL_ERR_LIMIT) : 0;
}

static bool gives_placement(const model_change *change)
{
    return (change->add & model_bit(ESPL_TRANSFORM)) != 0;
}

static espl_transform placement_of(const model_change *change)
{
    return (change->zeroed & model_bit(ESPL_TRANSFORM)) != 0 ? espl_transform_identity()
                                                             : change->placement;
}

static model_answer value_faults(const model_change *change)
{
    espl_transform value = placement_of(change);

    return gives_placement(change) && espl_transform_normalize(&value) != ESPL_OK
               ? model_answer_of(ESPL_ERR_NOT_FINITE)
               : 0;
}

// The set after the change counts, whatever comes before it.
static model_answer full_faults(const test_model *model, uint32_t node, const model_change *change)
{
    return model_limit_faults((model_components(model, node) & ~change->remove) | change->add);
}

model_answer model_change_faults(const test_model *model, uint32_t node, const model_change *change)
{
    const model_answer fault = model_fault_of(model, node);

    if (fault != 0) {
        return fault;
    }
    const model_node *const n = &model->nodes[node];
    const bool copies = n->has_placement && n->state.flags == ESPL_COPY_PARENT;

    return full_faults(model, node, change) |
           (copies && gives_placement(change) ? model_answer_of(ESPL_ERR_COPIES_PARENT) : 0);
}

// --- Changes ---

// Returns false, and has changed nothing, where a part that is kept is not finite.
static bool change_placement(test_model *model, uint32_t node, const model_change *change)
{
    const bool has_placement = model->nodes[node].has_placement;
    espl_transform value = placement_of(change);

    if (gives_placement(change) && espl_transform_normalize(&value) == ESPL_OK) {
        const espl_write_value written = {.transform = value};

        if (has_placement) {
            return model_write(model, node, ESPL_WRITE_LOCAL_TRANSFORM, &written) !=
                   model_answer_of(ESPL_ERR_RANGE);
        }
        model_give_placement(model, node, &value);
    }
    if (has_placement && (change->remove & model_bit(ESPL_TRANSFORM)) != 0) {
        model_take_placement(model, node);
    }
    return true;
}

static void change_set(model_node *node, const model_change *change)
{
    node->set &= ~change->remove;
    model_give_values(node, change->add & ~model_bit(ESPL_TRANSFORM), change->zeroed,
                      &change->values);
}

// All that a change of a placement may change of a living node.
typedef struct kept_node {
    uint32_t node;
    bool has_placement;
    model_state state;
    espl_transform world;
} kept_node;

static kept_node *keep_all(const test_model *model)
{
    kept_node *const kept = malloc((model->living_count + (size_t)1) * sizeof *kept);

    if (kept == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const model_node *const n = &model->nodes[model->living[i]];
        kept[i] = (kept_node){model->living[i], n->has_placement, n->state, n->world};
    }
    return kept;
}

static void put_back_all(test_model *model, const kept_node *kept)
{
    for (uint32_t i = 0; i < model->living_count; ++i) {
        model_node *const n = &model->nodes[kept[i].node];
        n->has_placement = kept[i].has_placement;
        n->state = kept[i].state;
        n->world = kept[i].world;
    }
}

// Returns false, and has changed nothing, where one of them cannot be changed.
static bool change_placements(test_model *model, const uint32_t *nodes, uint32_t count,
                              const model_change *change)
{
    kept_node *const kept = count > 1 ? keep_all(model) : NULL;
    bool is_placed = true;

    for (uint32_t i = 0; i < count && is_placed; ++i) {
        is_placed = change_placement(model, nodes[i], change);
    }
    if (!is_placed && kept != NULL) {
        put_back_all(model, kept);
    }
    free(kept);
    return is_placed;
}

// Tell whether one that comes before a node that is refused would keep a part that is not finite.
static bool leaves_range(test_model *model, const uint32_t *nodes, uint32_t count,
                         const model_change *change)
{
    kept_node *const kept = keep_all(model);
    bool is_placed = true;

    for (uint32_t i = 0; i < count && is_placed; ++i) {
        is_placed = model_change_faults(model, nodes[i], change) != 0 ||
                    change_placement(model, nodes[i], change);
    }
    put_back_all(model, kept);
    free(kept);
    return !is_placed;
}

model_answer model_change_nodes(test_model *model, const uint32_t *nodes, uint32_t count,
                                const model_change *change)
{
    const model_answer range = model_answer_of(ESPL_ERR_RANGE);
    const uint32_t touched = change->add | change->remove;
    model_answer faults = model_flaw_faults(change->flaw) | value_faults(change) |
                          model_limit_faults(change->add) | model_limit_faults(change->remove);

    for (uint32_t i = 0; i < count; ++i) {
        faults |= model_change_faults(model, nodes[i], change);
    }
    if (faults != 0) {
        // The first node that is refused says why.
        const model_answer of_nodes =
            model_answer_of(ESPL_ERR_COPIES_PARENT) | model_answer_of(ESPL_ERR_LIMIT);
        return (faults & ~of_nodes) == 0 && leaves_range(model, nodes, count, change) ? faults | range : faults;
    }
    model->is_lossy = false;
    if ((touched & model_bit(ESPL_TRANSFORM)) != 0 &&
        !change_placements(model, nodes, count, change)) {
        return range;
    }
    for (uint32_t i = 0; i < count; ++i) {
        change_set(&model->nodes[nodes[i]], change);
    }
    return model_answer_of(model->is_lossy ? ESPL_LOSSY : ESPL_OK);
}

model_answer model_change_query(test_model *model, const model_query *query,
                                const model_change *change, uint32_t *count)
{
    const model_answer faults = model_flaw_faults(change->flaw) | value_faults(change);

    if (faults != 0) {
        return faults;
    }
    *count = 0;
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t node = model->living[i];
        const bool answers = model_answers(model, node, query);
        *count += answers;
        if (answers) {
            change_set(&model->nodes[node], change);
        }
    }
    return model_answer_of(ESPL_OK);
}

model_answer model_set(test_model *model, uint32_t node, espl_component component,
                       const model_values *values, model_flaw flaw)
{
    const model_answer fault = model_fault_of(model, node);
    const bool has = fault == 0 && (model->nodes[node].set & model_bit(component)) != 0;
    model_answer faults = fault | model_flaw_faults(flaw);

    if (fault == 0 && !has) {
        faults |= model_answer_of(ESPL_ERR_NO_COMPONENT);
    }
    if (faults != 0) {
        return faults;
    }
    model_set_values(&model->nodes[node], model_bit(component), values);
    return model_answer_of(ESPL_OK);
}

// --- Enabled or not ---

static bool is_in_extent(const test_model *model, uint32_t node, uint32_t top, espl_extent extent)
{
    return node == top || extent == ESPL_EXTENT_SUBTREE ||
           (extent == ESPL_EXTENT_OWNED && model->nodes[node].link == ESPL_LINK_OWNED);
}

static uint32_t next_in_extent(const test_model *model, uint32_t node, uint32_t top,
                               espl_extent extent)
{
    return is_in_extent(model, node, top, extent) ? model_next(model, top, node)
                                                  : model_next_behind(model, top, node);
}

// Where one has no room for ESPL_DISABLED, none is given it.
static model_answer extent_faults(const test_model *model, uint32_t top, espl_extent extent)
{
    model_answer faults = 0;

    for (uint32_t i = top; i != MODEL_NONE; i = next_in_extent(model, i, top, extent)) {
        const uint32_t set = model_components(model, i) | model_bit(ESPL_DISABLED);
        faults |= is_in_extent(model, i, top, extent) ? model_limit_faults(set) : 0;
    }
    return faults;
}

model_answer model_set_enabled(test_model *model, uint32_t node, espl_extent extent,
                               bool is_enabled)
{
    const uint32_t bit = model_bit(ESPL_DISABLED);
    model_answer faults = model_fault_of(model, node);

    if (extent != ESPL_EXTENT_ENTITY && extent != ESPL_EXTENT_OWNED &&
        extent != ESPL_EXTENT_SUBTREE) {
        faults |= model_answer_of(ESPL_ERR_ARGUMENT);
    }
    faults |= faults == 0 && !is_enabled ? extent_faults(model, node, extent) : 0;
    if (faults != 0) {
        return faults;
    }
    for (uint32_t i = node; i != MODEL_NONE; i = next_in_extent(model, i, node, extent)) {
        uint32_t *const set = &model->nodes[i].set;
        if (is_in_extent(model, i, node, extent)) {
            *set = is_enabled ? *set & ~bit : *set | bit;
        }
    }
    return model_answer_of(ESPL_OK);
}
