// SPDX-License-Identifier: MIT
// Creations of a side: as they are recorded, and by the single calls that come to the same.
#include "tests/changes.h"

#include <string.h>

// --- Values ---

static void fill_given(const test_side *side, side_values *given, const operation *op)
{
    const model_values values = {op->tag, op->load, op->peer};

    given->placement = op->value;
    side_fill_values(side, given, op->given, op->zeroed, &values);
}

static void add_value(side_values *given, espl_component component, size_t size)
{
    given->values[given->count++] = (espl_component_value){component, size, NULL};
}

static void add_flaw(side_values *given, model_flaw flaw)
{
    if (flaw == MODEL_GIVES_ROLE) {
        add_value(given, ESPL_ROOT, 0);
    } else if (flaw == MODEL_REPEATS) {
        add_value(given, MODEL_MARK, 0);
        add_value(given, MODEL_MARK, 0);
    } else if (flaw == MODEL_MISSIZES) {
        add_value(given, MODEL_LOAD, sizeof(uint64_t) / 2);
    } else if (flaw == MODEL_UNKNOWN) {
        add_value(given, MODEL_BULK + MODEL_BULK_COUNT + 7, 0);
    }
}

// --- Recorded ---

// The order of the values says nothing.
static void turn_round(side_values *given)
{
    for (size_t i = 0, k = given->count; i + 1 < k; ++i) {
        const espl_component_value moved = given->values[i];
        given->values[i] = given->values[--k];
        given->values[k] = moved;
    }
}

// What a creation says, but for its parent and the sibling to stand before.
static espl_creation_def creation_of(const test_side *side, const operation *op,
                                     side_values *given)
{
    fill_given(side, given, op);
    add_flaw(given, op->flaw);
    if (op->tag % 2 == 1) {
        turn_round(given);
    }
    return (espl_creation_def){.values = given->count != 0 ? given->values : NULL,
                               .value_count = given->count,
                               .link = op->options.link,
                               .dead_parent = op->dead_parent,
                               .place = op->place,
                               .inherit = op->inherit};
}

espl_status side_record_creation(const test_side *side, espl_recorder *recorder,
                                 const operation *op, espl_entity *pending)
{
    side_values given;
    espl_creation_def def = creation_of(side, op, &given);

    def.parent = side_recorded_handle(side, op->parent);
    def.before = side_recorded_handle(side, op->before);
    return espl_record_create(recorder, op->key, &def, op->count, pending);
}

// --- By one call ---

static espl_status make_at_once(test_side *side, const test_tape *tape, const operation *op)
{
    side_values given;
    espl_creation_def def = creation_of(side, op, &given);

    def.parent = side_handle(side, tape, op->parent);
    def.before = side_handle(side, tape, op->before);
    return espl_create_at(side->world, &def, op->count, side->fresh);
}

// --- By single calls ---

static espl_status create_solo(test_side *side, const side_values *given, espl_entity *out)
{
    espl_component set[GIVEN_LIMIT];

    for (size_t i = 0; i < given->count; ++i) {
        set[i] = given->values[i].component;
    }
    return espl_create(side->world, set, given->count, 1, out);
}

static espl_status set_value(const test_side *side, espl_entity entity,
                             const espl_component_value *value)
{
    if (value->data == NULL) {
        return ESPL_OK;
    }
    return value->component == ESPL_TRANSFORM
               ? espl_set_local_transform(side->world, entity, value->data)
               : espl_set_component(side->world, entity, value->component, value->data,
                                    value->size);
}

static espl_status set_values(const test_side *side, const side_values *given, espl_entity entity)
{
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < given->count && status == ESPL_OK; ++i) {
        status = set_value(side, entity, &given->values[i]);
    }
    return status;
}

static espl_status attach_made(test_side *side, const test_tape *tape, const operation *op,
                               espl_entity made)
{
    const espl_entity parent = side_handle(side, tape, op->parent);
    const espl_keep keep = op->place == ESPL_PLACE_WORLD ? ESPL_KEEP_WORLD : ESPL_KEEP_LOCAL;
    const espl_attach_options options = {.position = keep,
                                         .rotation = keep,
                                         .scale = keep,
                                         .link = op->options.link,
                                         .before = side_handle(side, tape, op->before),
                                         .inherit = op->inherit};

    if (espl_entity_is_null(parent)) {
        return espl_entity_is_null(options.before) ? ESPL_OK : ESPL_ERR_NOT_CHILD;
    }
    // What cannot have been alive is refused for that alone.
    if (op->dead_parent == ESPL_DEAD_PARENT_ROOT && !espl_is_alive(side->world, parent) &&
        espl_attach(side->world, made, parent, NULL) == ESPL_ERR_DEAD) {
        return ESPL_OK;
    }
    return espl_attach(side->world, made, parent, &options);
}

static espl_status make_one(test_side *side, const test_tape *tape, const operation *op,
                            espl_entity *out)
{
    side_values given;

    fill_given(side, &given, op);
    espl_status status = create_solo(side, &given, out);
    if (status != ESPL_OK) {
        return status;
    }
    status = set_values(side, &given, *out);
    status = status != ESPL_OK ? status : attach_made(side, tape, op, *out);
    if (status < 0) {
        const espl_status destroyed = espl_destroy(side->world, *out, ESPL_EXTENT_OWNED);
        tape_demand(tape, destroyed == ESPL_OK, "destroy: %s", espl_status_name(destroyed));
    }
    return status;
}

// What no single call sees, since the calls see a part each.
static espl_status status_of_all(const test_side *side, const test_tape *tape, const operation *op)
{
    const bool has_placed_parent = (op->given & model_bit(ESPL_TRANSFORM)) != 0 &&
                                   !espl_entity_is_null(side_handle(side, tape, op->parent));

    if (op->flaw != MODEL_FLAWLESS) {
        return ESPL_ERR_ARGUMENT;
    }
    if (op->inherit > ESPL_COPY_PARENT || (op->inherit != 0 && !has_placed_parent)) {
        return ESPL_ERR_ARGUMENT;
    }
    return ESPL_OK;
}

espl_status side_make(test_side *side, const test_tape *tape, const operation *op)
{
    // Single calls would bring the transform from the cell of a new solo to that of the parent.
    if (op->tag / 2 % 2 == 0 || tape->model.cell_size != 0) {
        return make_at_once(side, tape, op);
    }
    espl_status status = status_of_all(side, tape, op);

    for (uint32_t i = 0; i < op->count && status >= 0; ++i) {
        status = make_one(side, tape, op, &side->fresh[i]);
        tape_demand(tape, status >= 0 || i == 0, "%u of %u are made", i, op->count);
    }
    return status;
}

espl_status side_give(const test_side *side, espl_entity entity, const operation *op)
{
    const uint32_t set = (op->given | model_bit(MODEL_TAG)) & ~model_bit(ESPL_TRANSFORM);
    const model_values values = {op->tag, op->load, op->peer};
    espl_status status =
        espl_set_component(side->world, entity, MODEL_TAG, &op->tag, sizeof op->tag);

    if (op->given != 0 && status == ESPL_OK) {
        side_values given;

        side_fill_values(side, &given, set, 0, &values);
        status = espl_change_components(
            side->world, entity, &(espl_change_def){.add = given.values, .add_count = given.count});
    }
    return status;
}
