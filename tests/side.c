// SPDX-License-Identifier: MIT
// A world under test, driven by the operations of a tape and compared with its model.
#include "tests/asserts.h"
#include "tests/changes.h"
#include "tests/steps.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE_TAG = 5, ELSEWHERE_TAG = 77 };

// --- Begin and end ---

static espl_entity alien_of(test_side *side)
{
    const espl_entity source = test_solo(side->world);
    const espl_instance_def def = {.source = source};
    espl_entity alien = {0};

    ck_ok(espl_command_buffer_create(side->world, 1, &side->aliens));
    ck_ok(
        espl_record_instantiate(espl_command_buffer_recorder(side->aliens, 0), 0, &def, 1, &alien));
    ck_ok(espl_destroy(side->world, source, ESPL_EXTENT_OWNED));
    side->dead = source;
    return alien;
}

void side_begin(test_side *side, const test_tape *tape, uint32_t lanes,
                const espl_executor *executor)
{
    memset(side, 0, sizeof *side);
    test_world_cells(tape->model.cell_size);
    test_world_begin(&side->test, SIDE_TAG, executor);
    test_world_begin(&side->elsewhere, ELSEWHERE_TAG, NULL);
    side->world = side->test.world;
    side_register(side->world);
    side_register_callbacks(side);
    side->foreign = test_solo(side->elsewhere.world);
    side->alien = alien_of(side);
    ck_ok(espl_command_buffer_create(side->world, lanes, &side->batch));
}

void side_end(test_side *side)
{
    espl_watch_destroy(side->watch);
    side_end_renderables(side);
    espl_command_buffer_destroy(side->aliens);
    espl_command_buffer_destroy(side->batch);
    test_world_end(&side->test);
    test_world_end(&side->elsewhere);
    free(side->handles);
    free(side->pending);
    free(side->writes);
    free(side->named);
    free(side->nodes);
    free(side->heard);
}

// --- Operands ---

espl_entity side_plain_handle(const test_side *side, uint32_t operand)
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

espl_entity side_handle(const test_side *side, const test_tape *tape, uint32_t operand)
{
    return side_plain_handle(side, operand == TAPE_ALIEN ? operand : tape_node(tape, operand));
}

// --- Operations at once ---

static espl_status run_create(test_side *side, const operation *op)
{
    const espl_component set[2] = {MODEL_TAG, ESPL_TRANSFORM};
    const espl_status status =
        espl_create(side->world, set, op->has_placement ? 2 : 1, 1, side->fresh);

    if (status != ESPL_OK) {
        return status;
    }
    return side_give(side, side->fresh[0], op);
}

static espl_status run_instance(test_side *side, const test_tape *tape, const operation *op)
{
    const espl_instance_def def =
        side_instance_of(op, side_handle(side, tape, op->entity),
                         side_handle(side, tape, op->parent), side_handle(side, tape, op->before));

    return side_instantiate(side, op, def);
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
            (espl_write){side_handle(side, tape, entry->node), entry->kind, entry->value};
    }
    memset(&side->report, 0xA5, sizeof side->report);
    return form_write_all(side->world, side->writes, op->count, op->form, &side->report);
}

static espl_status run_write(test_side *side, const operation *op, espl_entity entity)
{
    const espl_write write = {entity, op->kind, op->data};
    return form_write(side->world, &write, op->form);
}

static bool is_write(opcode code)
{
    return code == OP_SET_LOCAL || code == OP_SET_WORLD || code == OP_WRITE || code == OP_BATCH;
}

espl_status side_run(test_side *side, const test_tape *tape, const operation *op)
{
    espl_world *const world = side->world;

    if (is_write(op->code)) {
        espl_stats(world, &side->before);
    }
    const bool has_entity = op->code != OP_CREATE && op->code != OP_CREATION &&
                            op->code != OP_CALL && op->code != OP_STEP;
    const espl_entity entity =
        has_entity ? side_handle(side, tape, op->entity) : espl_entity_null();
    espl_attach_options options = op->options;

    switch (op->code) {
    case OP_CREATE:
        return run_create(side, op);
    case OP_ATTACH:
        options.before = side_handle(side, tape, op->before);
        return espl_attach(world, entity, side_handle(side, tape, op->parent), &options);
    case OP_DETACH:
        return espl_detach(world, entity, op->keep);
    case OP_DESTROY:
        return espl_destroy(world, entity, ESPL_EXTENT_OWNED);
    case OP_DESTROY_SUBTREE:
        return espl_destroy(world, entity, ESPL_EXTENT_SUBTREE);
    case OP_DESTROY_ONLY:
        return espl_destroy(world, entity, ESPL_EXTENT_ENTITY);
    case OP_INSTANTIATE:
        return espl_instantiate(world, &(espl_instance_def){.source = entity}, op->count,
                                side->fresh);
    case OP_INSTANCE:
        return run_instance(side, tape, op);
    case OP_SET_LOCAL:
        return espl_set_local_transform(world, entity, &op->value);
    case OP_SET_WORLD:
        return espl_set_world_transform(world, entity, &op->value);
    case OP_WRITE:
        return run_write(side, op, entity);
    case OP_LOOK_AT:
        return espl_look_at(world, entity, op->point, op->has_up ? op->up : NULL, op->forward);
    case OP_ROTATE_ABOUT:
        return espl_rotate_about(world, entity, op->point, op->data.rotation);
    case OP_SET_INHERIT:
        return espl_set_inherit(world, entity, op->inherit);
    case OP_BATCH:
        return run_batch(side, tape, op);
    case OP_SET_SIBLING:
        return espl_move_before(world, entity, side_handle(side, tape, op->before));
    case OP_PLACE:
    case OP_UNPLACE:
    case OP_CHANGE:
    case OP_CHANGE_ONE:
    case OP_CHANGE_QUERY:
        return side_change(side, tape, op);
    case OP_CREATION:
        return side_make(side, tape, op);
    case OP_SET:
        return side_set(side, tape, op);
    case OP_CALL:
        return side_call_status(&op->call);
    case OP_STEP:
        return side_step(side, tape, op);
    case OP_ENABLE:
        return espl_set_enabled(world, entity, op->extent, true);
    case OP_DISABLE:
        return espl_set_enabled(world, entity, op->extent, false);
    case OP_ATTACH_MANY:
    case OP_DESTROY_MANY:
        return side_do_many(side, tape, op);
    case OP_CLEAR:
        return espl_world_clear(world);
    case OP_NAME:
        return side_set_name(side, tape, op);
    case OP_TRIM:
        return espl_compact(world);
    case OPCODE_COUNT:
        break;
    }
    abort();
}

void side_check_overflowed(const test_tape *tape, bool has_overflowed, model_overflow overflow)
{
    tape_demand(tape,
                overflow == MODEL_MAY_OVERFLOW || has_overflowed == (overflow == MODEL_OVERFLOWS),
                "the report has an overflow: %d; the model says %d", has_overflowed, (int)overflow);
}

static void check_account(const test_side *side, const test_tape *tape, espl_status status)
{
    const espl_write_report *const got = &side->report, *const wanted = &tape->report;

    side_check_overflowed(tape, got->has_overflowed, tape->model.overflow);
    tape_demand(tape, got->refused != 0 || (status == ESPL_OVERFLOW) == got->has_overflowed,
                "overflowed: %d, answered %s", got->has_overflowed, espl_status_name(status));

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

size_t side_room(const test_side *side)
{
    espl_world_stats stats;

    espl_stats(side->world, &stats);
    return test_limits_of_build().entities - stats.entities - stats.retired;
}

void side_check(const test_side *side, const test_tape *tape, const operation *op,
                espl_status status, model_answer answer)
{
    const model_overflow overflow = tape->model.overflow;

    if (op->code == OP_BATCH && status >= 0) {
        check_account(side, tape, status);
    }
    answer = model_answer_with(answer, overflow);
    tape_demand(tape, (answer & model_answer_of(status)) != 0, "answered %s, allowed set %#x",
                espl_status_name(status), answer);
    if (is_write(op->code)) {
        check_counts(side, tape);
    }
    if (op->code == OP_ATTACH_MANY || op->code == OP_DESTROY_MANY) {
        side_check_many(side, tape);
    }
    side_check_change(side, tape, op, status);
}

void side_follow(test_side *side, test_tape *tape, const operation *op, espl_status status)
{
    const model_answer answer = tape_apply(tape, op);

    side_check(side, tape, op, status, answer);
    side_map(side, tape, op);
}
