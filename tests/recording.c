// SPDX-License-Identifier: MIT
// The operations of a tape as a side records them.
#include "tests/changes.h"

#include <stdlib.h>

espl_entity side_recorded_handle(const test_side *side, uint32_t operand)
{
    return operand >= TAPE_PENDING && operand < TAPE_ALIEN ? side->pending[operand - TAPE_PENDING]
                                                           : side_plain_handle(side, operand);
}

// --- What makes entities ---

espl_instance_def side_instance_of(const operation *op, espl_entity source, espl_entity parent,
                                   espl_entity before)
{
    return (espl_instance_def){.source = source,
                               .parent = parent,
                               .before = before,
                               .link = op->options.link,
                               .dead_parent = op->dead_parent,
                               .place = op->place,
                               .transform = op->value,
                               .inherit = op->inherit};
}

static void give_values(const test_side *side, const operation *op, side_values *given,
                        espl_instance_def *def)
{
    const uint32_t set = op->given | (op->sets_tag ? model_bit(MODEL_TAG) : 0);
    const model_values values = {op->tag, op->load, op->peer};

    side_fill_values(side, given, set, 0, &values);
    def->values = given->count != 0 ? given->values : NULL;
    def->value_count = given->count;
}

espl_status side_record_instance(const test_side *side, espl_recorder *recorder,
                                 const operation *op, espl_instance_def def, espl_entity *pending)
{
    side_values given;

    give_values(side, op, &given, &def);
    return espl_record_instantiate(recorder, op->key, &def, op->count, pending);
}

espl_status side_instantiate(test_side *side, const operation *op, espl_instance_def def)
{
    side_values given;

    give_values(side, op, &given, &def);
    return espl_instantiate(side->world, &def, op->count, side->fresh);
}

// Where the handles of what is to be go: until it is recorded, dead ones.
static espl_entity *pending_of(test_side *side, const operation *op)
{
    side->pending = side_grown(side->pending, &side->pending_capacity, op->pending + op->count);
    for (uint32_t i = 0; i < op->count; ++i) {
        side->pending[op->pending + i] = side->dead;
    }
    return side->pending + op->pending;
}

static espl_status record_made(test_side *side, espl_recorder *recorder, const operation *op)
{
    espl_entity *const pending = pending_of(side, op);

    if (op->code == OP_CREATION) {
        return side_record_creation(side, recorder, op, pending);
    }
    const espl_instance_def def = side_instance_of(op, side_recorded_handle(side, op->entity),
                                                   side_recorded_handle(side, op->parent),
                                                   side_recorded_handle(side, op->before));
    return side_record_instance(side, recorder, op, def, pending);
}

// --- What changes them ---

static espl_status record_attach(const test_side *side, espl_recorder *recorder,
                                 const operation *op)
{
    espl_attach_options options = op->options;

    options.before = side_recorded_handle(side, op->before);
    return espl_record_attach(recorder, op->key, side_recorded_handle(side, op->entity),
                              side_recorded_handle(side, op->parent), &options);
}

static espl_status record_write(espl_recorder *recorder, const operation *op, espl_entity entity)
{
    const espl_write write = {entity, op->kind, op->data};
    return espl_record_write(recorder, op->key, write.entity, write.kind, &write.value);
}

espl_status side_record(test_side *side, const operation *op)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(side->batch, op->lane);

    if (op->code == OP_CALL) {
        return side_record_call(side, recorder, op);
    }
    if (op->code == OP_CREATION || op->code == OP_INSTANCE) {
        return record_made(side, recorder, op);
    }
    const espl_entity entity = side_recorded_handle(side, op->entity);
    switch (op->code) {
    case OP_ATTACH:
        return record_attach(side, recorder, op);
    case OP_DETACH:
        return espl_record_detach(recorder, op->key, entity, op->keep);
    case OP_DESTROY:
        return espl_record_destroy(recorder, op->key, entity, ESPL_EXTENT_OWNED);
    case OP_DESTROY_SUBTREE:
        return espl_record_destroy(recorder, op->key, entity, ESPL_EXTENT_SUBTREE);
    case OP_DESTROY_ONLY:
        return espl_record_destroy(recorder, op->key, entity, ESPL_EXTENT_ENTITY);
    case OP_SET_LOCAL:
        return espl_record_write(recorder, op->key, entity, ESPL_WRITE_LOCAL_TRANSFORM, &op->value);
    case OP_SET_WORLD:
        return espl_record_write(recorder, op->key, entity, ESPL_WRITE_WORLD_TRANSFORM, &op->value);
    case OP_WRITE:
        return record_write(recorder, op, entity);
    case OP_SET_INHERIT:
        return espl_record_set_inherit(recorder, op->key, entity, op->inherit);
    case OP_SET_SIBLING:
        return espl_record_move_before(recorder, op->key, entity,
                                       side_recorded_handle(side, op->before));
    case OP_PLACE:
    case OP_UNPLACE:
    case OP_CHANGE_ONE:
        return side_record_change(side, recorder, op);
    case OP_SET:
        return side_record_set(side, recorder, op);
    case OP_ENABLE:
        return espl_record_set_enabled(recorder, op->key, entity, op->extent, true);
    case OP_DISABLE:
        return espl_record_set_enabled(recorder, op->key, entity, op->extent, false);
    default:
        abort(); // is_recordable() of recordings.c lets none of the rest through
    }
}
