// SPDX-License-Identifier: MIT
// Creations from nothing: a solo with its components and their values, then an attach.
#include "tests/placing.h"

#include <stdlib.h>

static bool has_placement(const model_creation *def)
{
    return (def->set & model_bit(ESPL_TRANSFORM)) != 0;
}

static espl_transform placement_of(const model_creation *def)
{
    return (def->zeroed & model_bit(ESPL_TRANSFORM)) != 0 ? espl_transform_identity()
                                                          : def->placement;
}

// Why a creation is refused, whatever its parent.
static model_answer own_faults(const model_creation *def)
{
    const bool has_placed_parent = def->parent != MODEL_NONE && has_placement(def);
    model_answer faults = model_flaw_faults(def->flaw) | model_limit_faults(def->set);
    espl_transform value = placement_of(def);

    if (has_placement(def) && espl_transform_normalize(&value) != ESPL_OK) {
        faults |= model_answer_of(ESPL_ERR_NOT_FINITE);
    }
    if (!model_are_flags(def->inherit) || (def->inherit != 0 && !has_placed_parent)) {
        faults |= model_answer_of(ESPL_ERR_ARGUMENT);
    }
    return faults | model_limit_faults(def->set | model_bit(ESPL_MEMBER));
}

static uint32_t make_solo(test_model *model, const model_creation *def)
{
    const uint32_t node = model_add(model);
    model_node *const n = &model->nodes[node];
    espl_transform value = placement_of(def);

    n->set = 0;
    model_give_values(n, def->set & ~model_bit(ESPL_TRANSFORM), def->zeroed, &def->values);
    n->has_placement = has_placement(def);
    if (n->has_placement && espl_transform_normalize(&value) == ESPL_OK) {
        n->state.local = n->world = value;
    }
    return node;
}

static model_answer attach_made(test_model *model, const model_creation *def, uint32_t node)
{
    const espl_keep keep = def->place == ESPL_PLACE_WORLD ? ESPL_KEEP_WORLD : ESPL_KEEP_LOCAL;
    const espl_attach_options options = {.position = keep,
                                         .rotation = keep,
                                         .scale = keep,
                                         .link = def->link,
                                         .inherit = def->inherit};

    // Its transform is in the cell of its parent.
    if (model_fault_of(model, def->parent) == 0) {
        model->nodes[node].cell = model_cell_of(model, def->parent);
    }
    return model_attach(model, node, def->parent, def->before, &options);
}

// What becomes of one of them; it is there if it is done.
static model_answer make_one(test_model *model, const model_creation *def, bool is_orphan)
{
    const model_answer done = model_answer_of(ESPL_OK) | model_answer_of(ESPL_LOSSY);
    const model_answer own = own_faults(def);
    const uint32_t node = make_solo(model, def);
    model_answer answer = model_answer_of(ESPL_OK);

    if (def->parent == MODEL_NONE) {
        const model_answer faults = model_before_faults(model, def->before, MODEL_NONE);
        answer = faults != 0 ? faults : answer;
    } else if (!is_orphan) {
        answer = attach_made(model, def, node);
    }
    if (own == 0 && (answer & done) != 0) {
        return answer;
    }
    model_unlink(model, node);
    model_take_back(model);
    return own | (answer & ~done);
}

model_answer model_make(test_model *model, const model_creation *def, uint32_t *out)
{
    const bool is_orphan = def->parent != MODEL_NONE && def->dead_parent == ESPL_DEAD_PARENT_ROOT &&
                           model_fault_of(model, def->parent) == model_answer_of(ESPL_ERR_DEAD);
    model_answer answer = 0;

    for (size_t i = 0; i < def->count; ++i) {
        out[i] = model->count;
        answer = make_one(model, def, is_orphan);
        if (model->count == out[i] && i == 0) {
            return answer;
        }
        if (model->count == out[i]) {
            abort(); // they are all alike
        }
    }
    return answer;
}
