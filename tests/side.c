// SPDX-License-Identifier: MIT
// A world under test, driven by the operations of a tape and compared with its model.
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
    free(side->writes);
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
                               .transform = op->value,
                               .inherit = op->inherit};
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

static espl_status run_batch(test_side *side, const test_tape *tape, const operation *op)
{
    if (op->count > side->write_capacity) {
        side->write_capacity = op->count * 2;
        side->writes = realloc(side->writes, side->write_capacity * sizeof *side->writes);
        ck_assert_ptr_nonnull(side->writes);
    }
    for (uint32_t i = 0; i < op->count; ++i) {
        const model_entry *const entry = &tape->entries[i];
        side->writes[i] =
            (espl_write){called_handle(side, tape, entry->node), entry->kind, entry->value};
    }
    memset(&side->report, 0xA5, sizeof side->report);
    return form_write_all(side->world, side->writes, op->count, op->form, &side->report);
}

static espl_status run_write(test_side *side, const operation *op, espl_entity entity)
{
    const espl_write write = {entity, op->kind, op->data};
    return form_write(side->world, &write, op->form);
}

espl_status side_run(test_side *side, const test_tape *tape, const operation *op)
{
    espl_world *const world = side->world;

    espl_stats(world, &side->before);
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
    case OP_WRITE:
        return run_write(side, op, entity);
    case OP_LOOK_AT:
        return espl_look_at(world, entity, op->point, op->has_up ? op->up : NULL);
    case OP_ROTATE_ABOUT:
        return espl_rotate_about(world, entity, op->point, op->data.rotation);
    case OP_SET_INHERIT:
        return espl_set_inherit(world, entity, op->inherit);
    case OP_BATCH:
        return run_batch(side, tape, op);
    case OPCODE_COUNT:
        break;
    }
    abort();
}

static void check_account(const test_side *side, const test_tape *tape)
{
    const espl_write_report *const got = &side->report, *const wanted = &tape->report;

    tape_demand(tape,
                got->applied == wanted->applied && got->lossy == wanted->lossy &&
                    got->refused == wanted->refused,
                "applied %zu, lossy %zu, refused %zu, not %zu, %zu, %zu", got->applied, got->lossy,
                got->refused, wanted->applied, wanted->lossy, wanted->refused);
    if (got->refused == 0) {
        return;
    }
    tape_demand(tape, got->first_refused == wanted->first_refused,
                "entry %zu is the first refused, not %zu", got->first_refused,
                wanted->first_refused);
    const model_answer answer = tape->entries[got->first_refused].answer;
    tape_demand(tape, (answer & model_answer_of(got->first_status)) != 0,
                "entry %zu (%s) came to %s, allowed set %#x", got->first_refused,
                form_name(tape->entries[got->first_refused].kind),
                espl_status_name(got->first_status), answer);
}

static bool is_write(opcode code)
{
    return code == OP_SET_LOCAL || code == OP_SET_WORLD || code == OP_WRITE || code == OP_BATCH;
}

static void check_counts(const test_side *side, const test_tape *tape)
{
    const uint64_t writes = tape->model.writes - tape->writes;
    const uint64_t skipped = tape->model.writes_skipped - tape->writes_skipped;
    espl_world_stats after;

    espl_stats(side->world, &after);
    tape_demand(tape,
                after.writes - side->before.writes == writes &&
                    after.writes_skipped - side->before.writes_skipped == skipped,
                "counts %llu writes, %llu skipped, not %llu, %llu",
                (unsigned long long)(after.writes - side->before.writes),
                (unsigned long long)(after.writes_skipped - side->before.writes_skipped),
                (unsigned long long)writes, (unsigned long long)skipped);
}

void side_check(const test_side *side, const test_tape *tape, const operation *op,
                espl_status status, model_answer answer)
{
    if (op->code == OP_BATCH && status >= 0) {
        check_account(side, tape);
    }
    tape_demand(tape, (answer & model_answer_of(status)) != 0, "answered %s, allowed set %#x",
                espl_status_name(status), answer);
    if (is_write(op->code)) {
        check_counts(side, tape);
    }
}

// --- Operations recorded ---

static espl_status record_write(espl_recorder *recorder, const operation *op, espl_entity entity)
{
    const espl_write write = {entity, op->kind, op->data};
    return espl_record_write(recorder, op->key, &write);
}

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
    case OP_WRITE:
        return record_write(recorder, op, entity);
    case OP_SET_INHERIT:
        return espl_record_set_inherit(recorder, op->key, entity, op->inherit);
    case OP_CREATE:
    case OP_INSTANTIATE:
    case OP_LOOK_AT:
    case OP_ROTATE_ABOUT:
    case OP_BATCH:
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
           test_same(&local, &node->state.local) &&
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
