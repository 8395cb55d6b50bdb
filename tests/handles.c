// SPDX-License-Identifier: MIT
// How a side learns the handles of the nodes that its model made.
#include "tests/asserts.h"
#include "tests/changes.h"

#include <stdlib.h>
#include <string.h>

espl_entity *side_grown(espl_entity *handles, uint32_t *capacity, uint32_t wanted)
{
    if (wanted <= *capacity) {
        return handles;
    }
    *capacity = wanted * 2 + 64;
    handles = realloc(handles, *capacity * sizeof *handles);
    ck_assert_ptr_nonnull(handles);
    return handles;
}

static bool is_known(const test_side *side, uint32_t node)
{
    return !espl_entity_is_null(side->handles[node]);
}

static void map_pending(test_side *side, const test_tape *tape)
{
    for (uint32_t i = 0; i < tape->pending_count; ++i) {
        const uint32_t node = tape->pending[i];
        const bool is_alive = node != MODEL_DEAD && tape->model.nodes[node].is_alive;
        espl_entity entity = side->dead;
        const espl_status status =
            espl_command_buffer_resolve(side->batch, side->pending[i], &entity);

        // One that was refused when recorded has no pending handle.
        if (espl_entity_equal(side->pending[i], side->dead)) {
            continue;
        }
        tape_demand(tape, status == (is_alive ? ESPL_OK : ESPL_ERR_DEAD),
                    "pending %u resolves to %s", i, espl_status_name(status));
        if (node != MODEL_DEAD) {
            side->handles[node] = is_alive ? entity : side->dead;
        }
    }
}

static bool has_handle(const test_side *side, const test_tape *tape, espl_entity entity)
{
    for (uint32_t i = 0; i < tape->model.count; ++i) {
        if (espl_entity_equal(side->handles[i], entity)) {
            return true;
        }
    }
    return false;
}

static bool has_same_set(const test_side *side, espl_entity entity, const model_node *node)
{
    for (espl_component i = ESPL_PREFAB; i < MODEL_COMPONENT_END; ++i) {
        if (espl_has_component(side->world, entity, i) != ((node->set & model_bit(i)) != 0)) {
            return false;
        }
    }
    return true;
}

static bool has_same_name(const test_side *side, espl_entity entity, const model_node *node)
{
    char room[SIDE_NAME_ROOM];

    return strcmp(espl_get_name(side->world, entity), side_name_of(node->name, room)) == 0;
}

// Values as they are read, zeros where there are none.
static bool has_same_values(const test_side *side, espl_entity entity, const model_node *node)
{
    const bool has_tag = (node->set & model_bit(MODEL_TAG)) != 0;
    const bool has_load = (node->set & model_bit(MODEL_LOAD)) != 0;
    uint32_t tag = 0;
    uint64_t load = 0;
    const espl_status tag_status =
        espl_get_component(side->world, entity, MODEL_TAG, &tag, sizeof tag);
    const espl_status load_status =
        espl_get_component(side->world, entity, MODEL_LOAD, &load, sizeof load);

    return (tag_status == ESPL_OK) == has_tag && tag == (has_tag ? node->values.tag : 0) &&
           (load_status == ESPL_OK) == has_load && load == (has_load ? node->values.load : 0);
}

static bool looks_like(const test_side *side, espl_entity entity, const model_node *node)
{
    espl_transform local = node->state.local;

    return has_same_set(side, entity, node) && has_same_values(side, entity, node) &&
           has_same_name(side, entity, node) &&
           (espl_get_local_transform(side->world, entity, &local) == ESPL_OK) ==
               node->has_placement &&
           test_same(&local, &node->state.local) &&
           espl_entity_is_null(espl_get_first_child(side->world, entity)) ==
               (node->first == MODEL_NONE);
}

// A survivor of a clone that lived for a part of a playback has no name; any entity without a name
// that looks the same serves, since such survivors cannot be told apart.
static espl_entity find_root(const test_side *side, const test_tape *tape, uint32_t node)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    espl_entity found = espl_entity_null();
    espl_query query;

    const espl_status status = espl_query_begin(side->world, &all, &query);
    tape_demand(tape, status == ESPL_OK, "query: %s", espl_status_name(status));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count && espl_entity_is_null(found); ++row) {
            const espl_entity entity = query.entities[row];
            if (espl_get_role(side->world, entity) != ESPL_ROLE_MEMBER &&
                looks_like(side, entity, &tape->model.nodes[node]) &&
                !has_handle(side, tape, entity)) {
                found = entity;
            }
        }
    }
    return found;
}

static void map_children(test_side *side, const test_tape *tape, uint32_t node)
{
    espl_entity child = espl_get_first_child(side->world, side->handles[node]);

    for (uint32_t i = tape->model.nodes[node].first; i != MODEL_NONE;
         i = tape->model.nodes[i].next) {
        tape_demand(tape, !is_known(side, i) || espl_entity_equal(side->handles[i], child),
                    "node %u stands elsewhere among its siblings", i);
        tape_demand(tape, !espl_entity_is_null(child), "node %u is missing", i);
        side->handles[i] = child;
        child = espl_get_next_sibling(side->world, child);
    }
}

// From the topmost unknown ancestor down, a level at a time.
static void map_node(test_side *side, const test_tape *tape, uint32_t node)
{
    while (!is_known(side, node)) {
        uint32_t top = node;
        while (tape->model.nodes[top].parent != MODEL_NONE &&
               !is_known(side, tape->model.nodes[top].parent)) {
            top = tape->model.nodes[top].parent;
        }
        if (tape->model.nodes[top].parent == MODEL_NONE) {
            side->handles[top] = find_root(side, tape, top);
            tape_demand(tape, is_known(side, top), "root %u is missing", top);
        } else {
            map_children(side, tape, tape->model.nodes[top].parent);
        }
    }
}

void side_map(test_side *side, const test_tape *tape, const operation *op)
{
    const uint32_t count = tape->model.count, begin = side->mapped;

    side->handles = side_grown(side->handles, &side->capacity, count);
    for (uint32_t i = begin; i < count; ++i) {
        side->handles[i] = espl_entity_null();
    }
    if (op == NULL) {
        map_pending(side, tape);
    } else if (count != begin) {
        const uint32_t size = (count - begin) / op->count;
        for (uint32_t i = 0; i < op->count; ++i) {
            side->handles[begin + i * size] = side->fresh[i];
        }
    }
    for (uint32_t i = begin; i < count; ++i) {
        if (!tape->model.nodes[i].is_alive) {
            side->handles[i] = is_known(side, i) ? side->handles[i] : side->dead;
        } else if (!is_known(side, i)) {
            map_node(side, tape, i);
        }
    }
    side->mapped = count;
}
