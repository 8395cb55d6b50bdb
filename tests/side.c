// SPDX-License-Identifier: MIT
// A world under test, driven by the operations of a tape and compared with its model.
#include "tests/oracle.h"
#include "tests/tape.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_TAG = 5, ELSEWHERE_TAG = 77 };

// --- Begin and end ---

static espl_entity alien_of(test_side *side)
{
    const espl_entity source = test_solo(side->world);
    const espl_instance_def def = {.source = source};
    espl_entity alien = {0};

    ck_assert_int_eq(espl_commands_create(side->world, 1, &side->aliens), ESPL_OK);
    ck_assert_int_eq(
        espl_record_instantiate(espl_commands_recorder(side->aliens, 0), 0, &def, 1, &alien),
        ESPL_OK);
    ck_assert_int_eq(espl_destroy(side->world, source), ESPL_OK);
    side->dead = source;
    return alien;
}

void side_begin(test_side *side, uint32_t lanes, const espl_executor *executor)
{
    const espl_component_def def = {"tag", sizeof(uint32_t), 4};

    memset(side, 0, sizeof *side);
    test_world_begin(&side->test, SIDE_TAG, executor);
    test_world_begin(&side->elsewhere, ELSEWHERE_TAG, NULL);
    side->world = side->test.world;
    ck_assert_int_eq(espl_component_register(side->world, &def, &side->tag_component), ESPL_OK);
    side->foreign = test_solo(side->elsewhere.world);
    side->alien = alien_of(side);
    ck_assert_int_eq(espl_commands_create(side->world, 1, &side->single), ESPL_OK);
    ck_assert_int_eq(espl_commands_create(side->world, lanes, &side->batch), ESPL_OK);
}

void side_end(test_side *side)
{
    espl_commands_destroy(side->aliens);
    espl_commands_destroy(side->single);
    espl_commands_destroy(side->batch);
    test_world_end(&side->test);
    test_world_end(&side->elsewhere);
    free(side->handles);
    free(side->pending);
}

static espl_entity *grown(espl_entity *handles, uint32_t *capacity, uint32_t wanted)
{
    if (wanted <= *capacity) {
        return handles;
    }
    *capacity = wanted * 2 + 64;
    handles = realloc(handles, *capacity * sizeof *handles);
    ck_assert_ptr_nonnull(handles);
    return handles;
}

// --- Operands ---

static espl_entity handle_of(const test_side *side, uint32_t operand)
{
    switch (operand) {
    case MODEL_NONE:
        return espl_entity_null();
    case MODEL_DEAD:
        return side->dead;
    case MODEL_FOREIGN:
        return side->foreign;
    case TAPE_ALIEN:
        return side->alien;
    default:
        return side->handles[operand];
    }
}

// For a recorder: pending stays pending.
static espl_entity recorded_handle(const test_side *side, uint32_t operand)
{
    return operand >= TAPE_PENDING && operand < TAPE_ALIEN ? side->pending[operand - TAPE_PENDING]
                                                           : handle_of(side, operand);
}

// For a call: pending is what it became.
static espl_entity called_handle(const test_side *side, const test_tape *tape, uint32_t operand)
{
    return handle_of(side, operand == TAPE_ALIEN ? operand : tape_node(tape, operand));
}

// --- Operations at once ---

static espl_status run_create(test_side *side, const operation *op)
{
    const espl_component set[2] = {side->tag_component, ESPL_PLACEMENT};
    const espl_status status =
        espl_create(side->world, set, op->has_placement ? 2 : 1, 1, side->fresh);

    if (status != ESPL_OK) {
        return status;
    }
    return espl_set(side->world, side->fresh[0], side->tag_component, &op->tag, sizeof op->tag);
}

static espl_instance_def def_of(const operation *op, espl_entity source, espl_entity parent,
                                espl_entity before)
{
    return (espl_instance_def){.source = source,
                               .parent = parent,
                               .before = before,
                               .link = op->options.link,
                               .orphan = op->orphan,
                               .place = op->place,
                               .transform = op->value};
}

static espl_status record_instance(const test_side *side, espl_recorder *recorder,
                                   const operation *op, espl_instance_def def, espl_entity *pending)
{
    const espl_component_value value = {side->tag_component, sizeof op->tag, &op->tag};

    def.values = op->sets_tag ? &value : NULL;
    def.value_count = op->sets_tag ? 1 : 0;
    return espl_record_instantiate(recorder, op->key, &def, op->count, pending);
}

// One instance as a playback of its own.
static espl_status run_instance(test_side *side, const test_tape *tape, const operation *op)
{
    const espl_instance_def def =
        def_of(op, called_handle(side, tape, op->entity), called_handle(side, tape, op->parent),
               called_handle(side, tape, op->before));
    espl_entity pending[TAPE_COUNT_LIMIT] = {{0}};
    espl_report report;

    espl_commands_reset(side->single);
    espl_status status =
        record_instance(side, espl_commands_recorder(side->single, 0), op, def, pending);
    if (status != ESPL_OK) {
        return status;
    }
    status = espl_play(side->world, side->single, &report);
    tape_demand(tape, status == ESPL_OK, "play: %s", espl_status_name(status));
    tape_demand(tape, report.accepted == 1 && report.applied + report.refused == 1,
                "the account of one command is wrong");

    status = espl_commands_result(side->single, 0, 0);
    for (uint32_t i = 0; status >= 0 && i < op->count; ++i) {
        const espl_status resolved =
            espl_commands_resolve(side->single, pending[i], &side->fresh[i]);
        tape_demand(tape, resolved == ESPL_OK, "resolve: %s", espl_status_name(resolved));
    }
    return status;
}

espl_status side_run(test_side *side, const test_tape *tape, const operation *op)
{
    espl_world *const world = side->world;
    const espl_entity entity =
        op->code == OP_CREATE ? espl_entity_null() : called_handle(side, tape, op->entity);
    espl_attach_options options = op->options;

    switch (op->code) {
    case OP_CREATE:
        return run_create(side, op);
    case OP_ATTACH:
        options.before = called_handle(side, tape, op->before);
        return espl_attach(world, entity, called_handle(side, tape, op->parent), &options);
    case OP_DETACH:
        return espl_detach(world, entity, op->keep);
    case OP_DESTROY:
        return espl_destroy(world, entity);
    case OP_DESTROY_SUBTREE:
        return espl_destroy_subtree(world, entity);
    case OP_DESTROY_ONLY:
        return espl_destroy_only(world, entity);
    case OP_INSTANTIATE:
        return espl_instantiate(world, entity, op->count, side->fresh);
    case OP_INSTANCE:
        return run_instance(side, tape, op);
    case OP_SET_LOCAL:
        return espl_set_local(world, entity, &op->value);
    case OP_SET_WORLD:
        return espl_set_world(world, entity, &op->value);
    case OPCODE_COUNT:
        break;
    }
    abort();
}

// --- Operations recorded ---

espl_status side_record(test_side *side, const operation *op)
{
    espl_recorder *const recorder = espl_commands_recorder(side->batch, op->lane);
    const espl_entity entity = recorded_handle(side, op->entity);
    espl_attach_options options = op->options;

    switch (op->code) {
    case OP_ATTACH:
        options.before = recorded_handle(side, op->before);
        return espl_record_attach(recorder, op->key, entity, recorded_handle(side, op->parent),
                                  &options);
    case OP_DETACH:
        return espl_record_detach(recorder, op->key, entity, op->keep);
    case OP_DESTROY:
        return espl_record_destroy(recorder, op->key, entity);
    case OP_DESTROY_SUBTREE:
        return espl_record_destroy_subtree(recorder, op->key, entity);
    case OP_DESTROY_ONLY:
        return espl_record_destroy_only(recorder, op->key, entity);
    case OP_INSTANCE: {
        const espl_instance_def def = def_of(op, entity, recorded_handle(side, op->parent),
                                             recorded_handle(side, op->before));
        side->pending = grown(side->pending, &side->pending_capacity, op->pending + op->count);
        for (uint32_t i = 0; i < op->count; ++i) {
            side->pending[op->pending + i] = side->dead; // until it is recorded
        }
        return record_instance(side, recorder, op, def, side->pending + op->pending);
    }
    case OP_SET_LOCAL:
        return espl_record_set_local(recorder, op->key, entity, &op->value);
    case OP_SET_WORLD:
        return espl_record_set_world(recorder, op->key, entity, &op->value);
    case OP_CREATE:
    case OP_INSTANTIATE:
    case OPCODE_COUNT:
        break;
    }
    abort();
}

// --- Handles of new nodes ---

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
        const espl_status status = espl_commands_resolve(side->batch, side->pending[i], &entity);

        // One that was refused when recorded has no pending handle.
        if (espl_entity_equal(side->pending[i], side->dead)) {
            continue;
        }
        tape_demand(tape, (status == ESPL_OK) == is_alive, "pending %u resolves to %s", i,
                    espl_status_name(status));
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

static bool looks_like(const test_side *side, espl_entity entity, const model_node *node)
{
    uint32_t tag = 0;
    espl_transform local = espl_transform_identity();

    return espl_get(side->world, entity, side->tag_component, &tag, sizeof tag) == ESPL_OK &&
           tag == node->tag &&
           (espl_get_local(side->world, entity, &local) == ESPL_OK) == node->has_placement &&
           test_same(&local, &node->local) &&
           espl_entity_is_null(espl_get_first_child(side->world, entity)) ==
               (node->first == MODEL_NONE);
}

// A survivor of a clone that lived for a part of a playback has no name; any entity without a name
// that looks the same serves, since such survivors cannot be told apart.
static espl_entity find_root(const test_side *side, const test_tape *tape, uint32_t node)
{
    const espl_query_def all = {0};
    espl_entity found = espl_entity_null();
    espl_query query;

    ck_assert_int_eq(espl_query_begin(side->world, &all, &query), ESPL_OK);
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

    side->handles = grown(side->handles, &side->capacity, count);
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

// --- Comparing ---

void side_compare_node(const test_side *side, const test_tape *tape, uint32_t node)
{
    const model_node *const n = &tape->model.nodes[node];
    const espl_status expected = n->has_placement ? ESPL_OK : ESPL_ERR_NO_TRANSFORM;
    espl_transform local = n->local, world = n->world;
    const espl_status status = espl_get_local(side->world, side->handles[node], &local);
    const espl_status world_status = espl_get_world(side->world, side->handles[node], &world);

    tape_demand(tape, status == expected && world_status == expected, "node %u reads %s, %s", node,
                espl_status_name(status), espl_status_name(world_status));
    if (!n->has_placement) {
        return;
    }
    tape_demand(tape, test_same(&local, &n->local),
                "local of node %u: position %a %a %a, not %a %a %a; scale %a, not %a", node,
                (double)local.position[0], (double)local.position[1], (double)local.position[2],
                (double)n->local.position[0], (double)n->local.position[1],
                (double)n->local.position[2], (double)local.scale, (double)n->local.scale);
    tape_demand(tape, test_same(&world, &n->world),
                "world of node %u: position %a %a %a, not %a %a %a; scale %a, not %a", node,
                (double)world.position[0], (double)world.position[1], (double)world.position[2],
                (double)n->world.position[0], (double)n->world.position[1],
                (double)n->world.position[2], (double)world.scale, (double)n->world.scale);
}

static void compare_links(const test_side *side, const test_tape *tape, uint32_t node)
{
    const espl_world *const world = side->world;
    const model_node *const n = &tape->model.nodes[node];
    const espl_entity entity = side->handles[node];
    espl_entity child = espl_get_first_child(world, entity);
    uint32_t tag = 0;

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
        child = espl_get_next_sibling(world, child);
    }
    tape_demand(tape, espl_entity_is_null(child), "node %u has a child too many", node);
    tape_demand(tape,
                espl_get(world, entity, side->tag_component, &tag, sizeof tag) == ESPL_OK &&
                    tag == n->tag,
                "node %u has another component value", node);
}

// Ranks count ghosts, so they are the breadth-first order only where there are none.
static void compare_ranks(const test_side *side, const test_tape *tape, uint32_t root)
{
    const test_model *const model = &tape->model;
    uint32_t *const queue = malloc(model->living_count * sizeof *queue);
    uint32_t end = 1;

    ck_assert_ptr_nonnull(queue);
    queue[0] = root;
    for (uint32_t rank = 0; rank < end; ++rank) {
        const uint32_t got = espl_get_rank(side->world, side->handles[queue[rank]]);
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
    tape_demand(tape, espl_count_descendants(world, entity) == below, "node %u counts %zu below",
                node, espl_count_descendants(world, entity));
    tape_demand(tape, espl_is_ancestor(world, side->handles[root], entity) == (root != node),
                "node %u does not know its root", node);
    if (tape->model.nodes[node].has_placement && tape->style.values == VALUES_PLAIN) {
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
                    espl_entity_is_null(espl_get_next_sibling(side->world, entity)),
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

void side_compare(test_side *side, const test_tape *tape)
{
    const test_model *const model = &tape->model;
    uint64_t sampling = tape->seed + tape->at;
    espl_validation report = {0};
    espl_world_stats stats;

    espl_stats(side->world, &stats);
    compare_counts(side, tape);
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t node = model->living[i];
        compare_links(side, tape, node);
        side_compare_node(side, tape, node);
        if (stats.ghosts == 0 && model_role(model, node) == ESPL_ROLE_ROOT) {
            compare_ranks(side, tape, node);
        }
    }
    for (uint32_t i = 0; i < 4 && model->living_count != 0; ++i) {
        compare_walks(side, tape, model->living[test_below(&sampling, model->living_count)]);
    }
    for (uint32_t i = 0; i < 16 && model->count != 0; ++i) {
        const uint32_t node = test_below(&sampling, model->count);
        if (!model->nodes[node].is_alive) {
            compare_dead(side, tape, node);
        }
    }
    const bool is_valid = espl_validate(side->world, &report);
    tape_demand(tape, is_valid, "%s (entity %u, detail %zu)",
                report.rule != NULL ? report.rule : "no rule named", report.entity.index,
                report.detail);
}
