// SPDX-License-Identifier: MIT
// All that a world under test shows of its entities, compared with its model.
#include "tests/asked.h"
#include "tests/asserts.h"
#include "tests/changes.h"
#include "tests/inside.h"
#include "tests/oracle.h"
#include "tests/picks.h"
#include "tests/placing.h"
#include "tests/steps.h"

#include <stdlib.h>

static void compare_placement(const test_tape *tape, uint32_t node, const char *name,
                              const espl_transform *got, const espl_transform *want)
{
    const espl_transform *const a = got, *const b = want;

    tape_demand(tape, test_same(got, want),
                "%s of node %u (flags %#x): rotation %a %a %a %a, not %a %a %a %a; position %a %a "
                "%a, not %a %a %a; scale %a, not %a; stretch %a %a %a, not %a %a %a; context %u, "
                "not %u",
                name, node, tape->model.nodes[node].state.flags, (double)a->rotation[0],
                (double)a->rotation[1], (double)a->rotation[2], (double)a->rotation[3],
                (double)b->rotation[0], (double)b->rotation[1], (double)b->rotation[2],
                (double)b->rotation[3], (double)a->position[0], (double)a->position[1],
                (double)a->position[2], (double)b->position[0], (double)b->position[1],
                (double)b->position[2], (double)a->scale, (double)b->scale, (double)a->stretch[0],
                (double)a->stretch[1], (double)a->stretch[2], (double)b->stretch[0],
                (double)b->stretch[1], (double)b->stretch[2], a->user_data, b->user_data);
}

void side_compare_node(const test_side *side, const test_tape *tape, uint32_t node)
{
    const model_node *const n = &tape->model.nodes[node];
    const espl_status expected = n->has_placement ? ESPL_OK : ESPL_ERR_NO_TRANSFORM;
    const espl_transform wanted = model_local(&tape->model, node);
    const uint32_t flags = espl_get_inherit(side->world, side->handles[node]);
    espl_transform local = wanted, world = n->world;
    const espl_status status = espl_get_local_transform(side->world, side->handles[node], &local);
    const espl_status world_status =
        espl_get_world_transform(side->world, side->handles[node], &world);

    tape_demand(tape, status == expected && world_status == expected, "node %u reads %s, %s", node,
                espl_status_name(status), espl_status_name(world_status));
    tape_demand(tape, flags == n->state.flags, "node %u has flags %#x, not %#x", node, flags,
                n->state.flags);
    if (!n->has_placement) {
        return;
    }
    compare_placement(tape, node, "local", &local, &wanted);
    compare_placement(tape, node, "world", &world, &n->world);
}

static void compare_links(const test_side *side, const test_tape *tape, uint32_t node)
{
    const espl_world *const world = side->world;
    const model_node *const n = &tape->model.nodes[node];
    const espl_entity entity = side->handles[node];
    espl_entity child = espl_get_first_child(world, entity), last = espl_entity_null();

    tape_demand(tape, espl_is_alive(world, entity), "node %u is dead", node);
    tape_demand(tape, espl_get_role(world, entity) == model_role(&tape->model, node),
                "node %u has role %d", node, (int)espl_get_role(world, entity));
    tape_demand(tape,
                espl_entity_equal(espl_get_parent(world, entity), n->parent == MODEL_NONE
                                                                      ? espl_entity_null()
                                                                      : side->handles[n->parent]),
                "node %u has another parent", node);
    tape_demand(tape, espl_get_link(world, entity) == n->link, "node %u has another link", node);
    for (uint32_t i = n->first; i != MODEL_NONE; i = tape->model.nodes[i].next) {
        tape_demand(tape, espl_entity_equal(child, side->handles[i]),
                    "node %u has another child in place of node %u", node, i);
        tape_demand(tape, espl_entity_equal(espl_get_previous_sibling(world, child), last),
                    "node %u stands behind another sibling", i);
        last = child;
        child = espl_get_next_sibling(world, child);
    }
    tape_demand(tape, espl_entity_is_null(child), "node %u has a child too many", node);
    tape_demand(tape, espl_entity_equal(espl_get_last_child(world, entity), last),
                "node %u has another last child", node);
}

// Parents come before their children, whatever the layout of the tree.
static void compare_rank(const test_side *side, const test_tape *tape, uint32_t node)
{
    const model_node *const n = &tape->model.nodes[node];
    const uint32_t rank = test_rank(side->world, side->handles[node]);

    if (n->parent != MODEL_NONE) {
        tape_demand(tape, test_rank(side->world, side->handles[n->parent]) < rank,
                    "node %u has rank %u, before its parent", node, rank);
    }
}

// Where the tree is laid out, ranks are the breadth-first order.
static void compare_ranks(const test_side *side, const test_tape *tape, uint32_t root)
{
    const test_model *const model = &tape->model;
    uint32_t *const queue = malloc(model->living_count * sizeof *queue);
    uint32_t end = 1;

    tape_demand(tape, queue != NULL, "no memory");
    queue[0] = root;
    for (uint32_t rank = 0; rank < end; ++rank) {
        const uint32_t got = test_rank(side->world, side->handles[queue[rank]]);
        tape_demand(tape, got == rank, "node %u has rank %u, not %u", queue[rank], got, rank);
        for (uint32_t i = model->nodes[queue[rank]].first; i != MODEL_NONE;
             i = model->nodes[i].next) {
            queue[end++] = i;
        }
    }
    free(queue);
}

static void compare_walks(const test_side *side, const test_tape *tape, uint32_t node)
{
    const espl_world *const world = side->world;
    const espl_entity entity = side->handles[node];
    const uint32_t root = model_root(&tape->model, node);
    const espl_transform *const placed = &tape->model.nodes[node].world;
    size_t below = 0;

    for (uint32_t i = model_next(&tape->model, node, node); i != MODEL_NONE;
         i = model_next(&tape->model, node, i)) {
        below += 1;
    }
    tape_demand(tape, espl_entity_equal(espl_get_root(world, entity), side->handles[root]),
                "node %u has another root", node);
    tape_demand(tape, espl_get_depth(world, entity) == model_depth(&tape->model, node),
                "node %u has depth %u", node, espl_get_depth(world, entity));
    tape_demand(tape, test_count_descendants(world, entity) == below, "node %u counts %zu below",
                node, test_count_descendants(world, entity));
    tape_demand(tape, espl_is_ancestor(world, side->handles[root], entity) == (root != node),
                "node %u does not know its root", node);
    if (tape->model.nodes[node].has_placement && tape->style.values == VALUES_PLAIN &&
        model_is_finite(placed)) {
        const double error = oracle_error(&tape->model, node, placed);
        tape_demand(tape, error <= 1, "node %u is off by %g of what is allowed", node, error);
    }
}

static void compare_dead(const test_side *side, const test_tape *tape, uint32_t node)
{
    const espl_entity entity = side->handles[node];
    tape_demand(tape, !espl_is_alive(side->world, entity), "dead node %u lives", node);
    tape_demand(tape,
                espl_get_role(side->world, entity) == ESPL_ROLE_NONE &&
                    espl_entity_is_null(espl_get_parent(side->world, entity)) &&
                    espl_entity_is_null(espl_get_first_child(side->world, entity)) &&
                    espl_entity_is_null(espl_get_last_child(side->world, entity)) &&
                    espl_entity_is_null(espl_get_previous_sibling(side->world, entity)) &&
                    espl_entity_is_null(espl_get_next_sibling(side->world, entity)) &&
                    !espl_has_component(side->world, entity, MODEL_TAG) &&
                    !espl_is_enabled(side->world, entity) &&
                    espl_get_name(side->world, entity)[0] == '\0',
                "dead node %u shows in navigation", node);
}

static void compare_counts(const test_side *side, const test_tape *tape)
{
    const test_model *const model = &tape->model;
    size_t roles[4] = {0};
    espl_world_stats stats;

    espl_stats(side->world, &stats);
    for (uint32_t i = 0; i < model->living_count; ++i) {
        roles[model_role(model, model->living[i])] += 1;
    }
    tape_demand(tape, stats.entities == model->living_count, "%zu entities live, not %u",
                stats.entities, model->living_count);
    tape_demand(
        tape,
        stats.solos == roles[ESPL_ROLE_SOLO] && stats.hierarchies == roles[ESPL_ROLE_ROOT] &&
            stats.members == roles[ESPL_ROLE_MEMBER],
        "%zu solos, %zu roots, %zu members, not %zu, %zu, %zu", stats.solos, stats.hierarchies,
        stats.members, roles[ESPL_ROLE_SOLO], roles[ESPL_ROLE_ROOT], roles[ESPL_ROLE_MEMBER]);
    tape_demand(tape, stats.bytes == side->test.heap.bytes, "%zu bytes reported, %zu outstanding",
                stats.bytes, side->test.heap.bytes);
    tape_demand(tape, side->test.hooks.traps == 0, "a trap: %s", side->test.hooks.last_line);
}

// Every rule holds, and the worlds that are not finite are counted.
static void compare_validation(const test_side *side, const test_tape *tape)
{
    const test_model *const model = &tape->model;
    espl_validation report = {0};
    size_t overflowed = 0;

    const bool is_valid = espl_validate(side->world, &report);
    tape_demand(tape, is_valid, "%s (entity %u, detail %zu)",
                report.rule != NULL ? report.rule : "no rule named", report.entity.index,
                report.detail);
    for (uint32_t i = 0; i < model->living_count; ++i) {
        overflowed += !model_is_finite(&model->nodes[model->living[i]].world);
    }
    tape_demand(tape, report.overflowed == overflowed, "%zu worlds are not finite, not %zu",
                report.overflowed, overflowed);
}

void side_compare(test_side *side, const test_tape *tape)
{
    const test_model *const model = &tape->model;
    uint64_t sampling = tape->seed + tape->at;
    const model_query query = pick_query(&sampling);

    compare_counts(side, tape);
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t node = model->living[i];
        compare_links(side, tape, node);
        side_compare_node(side, tape, node);
        side_compare_cell(side, tape, node);
        side_compare_components(side, tape, node);
        side_compare_name(side, tape, node);
        compare_rank(side, tape, node);
        if (model_role(model, node) == ESPL_ROLE_ROOT &&
            test_is_laid_out(side->world, side->handles[node])) {
            compare_ranks(side, tape, node);
        }
    }
    side_compare_query(side, tape, &query);
    for (uint32_t i = 0; i < 4 && model->living_count != 0; ++i) {
        const uint32_t node = model->living[test_below(&sampling, model->living_count)];
        const uint32_t frame = model->living[test_below(&sampling, model->living_count)];
        compare_walks(side, tape, node);
        side_compare_path(side, tape, node);
        side_compare_finds(side, tape, frame, test_below(&sampling, 2 + MODEL_NAMES) / 2,
                           1 + test_below(&sampling, MODEL_NAMES));
        side_compare_reads(side, tape, node, frame);
    }
    for (uint32_t i = 0; i < 16 && model->count != 0; ++i) {
        const uint32_t node = test_below(&sampling, model->count);
        if (!model->nodes[node].is_alive) {
            compare_dead(side, tape, node);
        }
    }
    side_compare_originals(side, tape);
    compare_validation(side, tape);
}
