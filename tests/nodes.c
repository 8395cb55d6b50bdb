// SPDX-License-Identifier: MIT
// Who hangs below whom: the nodes of the model, their links, and walks without recursion.
#include "tests/placing.h"

#include <stdlib.h>
#include <string.h>

// --- Nodes ---

void model_init(test_model *model)
{
    memset(model, 0, sizeof *model);
}

void model_free(test_model *model)
{
    free(model->nodes);
    free(model->living);
    free(model->doomed);
    free(model->survivors);
    model_init(model);
}

void model_clear(test_model *model)
{
    model->count = model->living_count = 0;
}

static void *resized(void *block, size_t count, size_t size)
{
    void *const moved = realloc(block, count * size);
    if (moved == NULL) {
        abort();
    }
    return moved;
}

uint32_t model_add(test_model *model)
{
    if (model->count == model->capacity) {
        model->capacity = model->capacity * 2 + 64;
        model->nodes = resized(model->nodes, model->capacity, sizeof *model->nodes);
        model->living = resized(model->living, model->capacity, sizeof *model->living);
        model->doomed = resized(model->doomed, model->capacity, sizeof *model->doomed);
        model->survivors = resized(model->survivors, model->capacity, sizeof *model->survivors);
    }
    const uint32_t node = model->count++;
    model->nodes[node] = (model_node){.parent = MODEL_NONE,
                                      .first = MODEL_NONE,
                                      .last = MODEL_NONE,
                                      .next = MODEL_NONE,
                                      .previous = MODEL_NONE,
                                      .entries = MODEL_NONE,
                                      .living_at = model->living_count,
                                      .set = model_bit(MODEL_TAG),
                                      .values = {.peer = MODEL_NONE},
                                      .is_alive = true,
                                      .state = model_identity(0),
                                      .world = espl_transform_identity()};
    model->living[model->living_count++] = node;
    return node;
}

uint32_t model_create(test_model *model, bool has_placement, uint32_t tag)
{
    const uint32_t node = model_add(model);
    model->nodes[node].has_placement = has_placement;
    model->nodes[node].values.tag = tag;
    return node;
}

void model_kill(test_model *model, uint32_t node)
{
    const uint32_t at = model->nodes[node].living_at;
    const uint32_t moved = model->living[--model->living_count];

    model->living[at] = moved;
    model->nodes[moved].living_at = at;
    model->nodes[node].is_alive = false;
    model->nodes[node].is_doomed = false;
}

void model_take_back(test_model *model)
{
    model->count -= 1;
    model->living_count -= 1;
}

// --- Links ---

void model_unlink(test_model *model, uint32_t node)
{
    model_node *const n = &model->nodes[node];
    if (n->parent == MODEL_NONE) {
        return;
    }
    // What becomes a root stays in the cell of its old root.
    n->cell = model_cell_of(model, node);
    model_node *const parent = &model->nodes[n->parent];

    *(n->previous != MODEL_NONE ? &model->nodes[n->previous].next : &parent->first) = n->next;
    *(n->next != MODEL_NONE ? &model->nodes[n->next].previous : &parent->last) = n->previous;
    n->parent = n->next = n->previous = MODEL_NONE;
}

void model_link(test_model *model, uint32_t node, uint32_t parent, uint32_t before)
{
    model_node *const n = &model->nodes[node];
    model_node *const p = &model->nodes[parent];

    n->parent = parent;
    n->next = before;
    n->previous = before != MODEL_NONE ? model->nodes[before].previous : p->last;
    *(n->previous != MODEL_NONE ? &model->nodes[n->previous].next : &p->first) = node;
    *(before != MODEL_NONE ? &model->nodes[before].previous : &p->last) = node;
}

uint32_t model_next_behind(const test_model *model, uint32_t top, uint32_t node)
{
    while (node != top && model->nodes[node].next == MODEL_NONE) {
        node = model->nodes[node].parent;
    }
    return node == top ? MODEL_NONE : model->nodes[node].next;
}

uint32_t model_next(const test_model *model, uint32_t top, uint32_t node)
{
    const uint32_t first = model->nodes[node].first;
    return first != MODEL_NONE ? first : model_next_behind(model, top, node);
}

bool model_is_at_or_below(const test_model *model, uint32_t node, uint32_t top)
{
    while (node != top && node != MODEL_NONE) {
        node = model->nodes[node].parent;
    }
    return node == top;
}

uint32_t model_root(const test_model *model, uint32_t node)
{
    while (model->nodes[node].parent != MODEL_NONE) {
        node = model->nodes[node].parent;
    }
    return node;
}

uint32_t model_depth(const test_model *model, uint32_t node)
{
    uint32_t depth = 0;
    while (model->nodes[node].parent != MODEL_NONE) {
        node = model->nodes[node].parent;
        depth += 1;
    }
    return depth;
}

espl_role model_role(const test_model *model, uint32_t node)
{
    if (!model->nodes[node].is_alive) {
        return ESPL_ROLE_NONE;
    }
    if (model->nodes[node].parent != MODEL_NONE) {
        return ESPL_ROLE_MEMBER;
    }
    return model->nodes[node].first != MODEL_NONE ? ESPL_ROLE_ROOT : ESPL_ROLE_SOLO;
}
