// SPDX-License-Identifier: MIT
#include "tests/changes.h"

#include "tests/asserts.h"
#include "tests/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void side_register(espl_world *world)
{
    static const uint32_t peer_at = offsetof(side_peer, peer);
    const espl_component_def defs[] = {
        {.name = "tag", .size = sizeof(uint32_t), .alignment = _Alignof(uint32_t)},
        {.name = "mark"},
        {.name = "load", .size = sizeof(uint64_t), .alignment = _Alignof(uint64_t)},
        {.name = "peer",
         .size = sizeof(side_peer),
         .alignment = _Alignof(side_peer),
         .references = &peer_at,
         .reference_count = 1}};

    for (espl_component i = MODEL_TAG; i < MODEL_BULK + MODEL_BULK_COUNT; ++i) {
        char name[16];
        espl_component_def def = {.name = name};
        espl_component component = 0;

        snprintf(name, sizeof name, "bulk %u", i - MODEL_BULK);
        def = i < MODEL_BULK ? defs[i - MODEL_TAG] : def;
        const espl_status status = espl_component_register(world, &def, &component);
        if (status != ESPL_OK || component != i) {
            ck_abort_msg("component %u: %s", i, espl_status_name(status));
        }
    }
    side_register_looks(world);
}

// Components that stand for one of the model: those from it on.
static uint32_t width_of(espl_component component)
{
    return component == MODEL_BULK ? MODEL_BULK_COUNT : 1;
}

// --- Values ---

// Sizes and data of the components, as the calls take them.
static espl_component_value value_of(const side_values *v, espl_component component)
{
    switch (component) {
    case ESPL_TRANSFORM:
        return (espl_component_value){component, sizeof v->placement, &v->placement};
    case MODEL_TAG:
        return (espl_component_value){component, sizeof v->tag, &v->tag};
    case MODEL_LOAD:
        return (espl_component_value){component, sizeof v->load, &v->load};
    case MODEL_PEER:
        return (espl_component_value){component, sizeof v->peer, &v->peer};
    default:
        return (espl_component_value){component, 0, NULL};
    }
}

void side_fill_values(const test_side *side, side_values *out, uint32_t set, uint32_t zeroed,
                      const model_values *values)
{
    out->count = 0;
    out->tag = values->tag;
    out->load = values->load;
    memset(&out->peer, 0, sizeof out->peer);
    if ((set & ~zeroed & model_bit(MODEL_PEER)) != 0 && values->peer != MODEL_NONE) {
        out->peer.peer = side->handles[values->peer];
    }
    for (espl_component i = ESPL_TRANSFORM; i < MODEL_COMPONENT_END; ++i) {
        if ((set & model_bit(i)) != 0) {
            for (uint32_t k = 0; k < width_of(i); ++k) {
                espl_component_value *const value = &out->values[out->count++];
                *value = value_of(out, i + k);
                value->data = (zeroed & model_bit(i)) != 0 ? NULL : value->data;
            }
        }
    }
}

static size_t list_components(espl_component *out, uint32_t set)
{
    size_t count = 0;

    for (espl_component i = ESPL_TRANSFORM; i < MODEL_COMPONENT_END; ++i) {
        for (uint32_t k = 0; (set & model_bit(i)) != 0 && k < width_of(i); ++k) {
            out[count++] = i + k;
        }
    }
    return count;
}

// --- Changes ---

// A change in the form in which calls take it.
typedef struct side_change_def {
    side_values add;
    espl_component remove[GIVEN_LIMIT];
    espl_change_def def;
} side_change_def;

static void give(side_change_def *c, espl_component component, size_t size)
{
    c->add.values[c->add.count++] = (espl_component_value){component, size, NULL};
}

static void take(side_change_def *c, espl_component component)
{
    c->remove[c->def.remove_count++] = component;
}

static void add_flaw(side_change_def *c, model_flaw flaw)
{
    switch (flaw) {
    case MODEL_GIVES_ROLE:
        give(c, ESPL_ROOT, 0);
        break;
    case MODEL_TAKES_ROLE:
        take(c, ESPL_SOLO);
        break;
    case MODEL_REPEATS:
        give(c, MODEL_MARK, 0);
        give(c, MODEL_MARK, 0);
        break;
    case MODEL_CONTRADICTS:
        give(c, MODEL_MARK, 0);
        take(c, MODEL_MARK);
        break;
    case MODEL_MISSIZES:
        give(c, MODEL_LOAD, sizeof(uint64_t) / 2);
        break;
    case MODEL_UNKNOWN:
        give(c, MODEL_BULK + MODEL_BULK_COUNT + 7, 0);
        break;
    case MODEL_FLAWLESS:
    case MODEL_FLAW_COUNT:
        break;
    }
}

// The order of a list says nothing, nor that what goes is named twice.
static void turn_round(side_change_def *c)
{
    for (size_t i = 0, k = c->add.count; i + 1 < k; ++i) {
        const espl_component_value moved = c->add.values[i];
        c->add.values[i] = c->add.values[--k];
        c->add.values[k] = moved;
    }
    if (c->def.remove_count != 0) {
        take(c, c->remove[0]);
    }
    for (size_t i = 0, k = c->def.remove_count; i + 1 < k; ++i) {
        const espl_component moved = c->remove[i];
        c->remove[i] = c->remove[--k];
        c->remove[k] = moved;
    }
}

static void fill_change(const test_side *side, side_change_def *c, const model_change *change,
                        bool is_turned)
{
    memset(c, 0, sizeof *c);
    c->add.placement = change->placement;
    side_fill_values(side, &c->add, change->add, change->zeroed, &change->values);
    c->def.remove_count = list_components(c->remove, change->remove);
    add_flaw(c, change->flaw);
    if (is_turned) {
        turn_round(c);
    }
    c->def.add = c->add.values;
    c->def.add_count = c->add.count;
    c->def.remove = c->remove;
}

static bool is_single(const side_change_def *c)
{
    return c->def.add_count + c->def.remove_count == 1;
}

static espl_status change_single(espl_world *world, espl_entity entity, const side_change_def *c)
{
    const espl_component_value *const given = &c->add.values[0];

    return c->def.add_count == 1
               ? espl_add_component(world, entity, given->component, given->data, given->size)
               : espl_remove_component(world, entity, c->remove[0]);
}

static void name_entities(test_side *side, const test_tape *tape, const operation *op)
{
    if (op->count + 1 > side->named_capacity) {
        side->named_capacity = op->count * 2 + 64;
        side->named = realloc(side->named, side->named_capacity * sizeof *side->named);
        ck_assert_ptr_nonnull(side->named);
    }
    for (uint32_t i = 0; i < op->count; ++i) {
        side->named[i] = side_handle(side, tape, tape->named[i]);
    }
}

// The same for a query, of MODEL_BULK the first tags alone: its tags come and go together.
static size_t list_terms(espl_component *out, uint32_t set, uint32_t bulk)
{
    size_t count = list_components(out, set & ~model_bit(MODEL_BULK));

    for (uint32_t k = 0; (set & model_bit(MODEL_BULK)) != 0 && k < bulk; ++k) {
        out[count++] = MODEL_BULK + k;
    }
    return count;
}

// The list `all` names as many tags of MODEL_BULK as the query has room for, the others name one.
static espl_query_def query_def(const model_query *query, espl_component sets[3][GIVEN_LIMIT])
{
    espl_query_def def = {.all = sets[0],
                          .none = sets[1],
                          .none_count = list_terms(sets[1], query->none, 1),
                          .any = sets[2],
                          .any_count = list_terms(sets[2], query->any, 1),
                          .include = query->include};
    const size_t used = def.none_count + def.any_count + list_terms(sets[0], query->all, 0);
    const size_t room = ESPL_TERM_LIMIT - used;

    def.all_count = list_terms(sets[0], query->all,
                               room < MODEL_BULK_COUNT ? (uint32_t)room : MODEL_BULK_COUNT);
    return def;
}

espl_status side_change(test_side *side, const test_tape *tape, const operation *op)
{
    const model_change change = tape_change_of(op);
    espl_component sets[3][GIVEN_LIMIT];
    const espl_query_def query = query_def(&op->query, sets);
    side_change_def c;

    side->refused = side->answered = SIDE_UNTOUCHED;
    fill_change(side, &c, &change, op->tag % 2 == 1);
    if (op->code == OP_CHANGE_QUERY) {
        return espl_change_components_query(side->world, &query, &c.def, &side->answered);
    }
    const bool is_array =
        op->code == OP_CHANGE && (op->change_form == CHANGE_ARRAY || op->count != 1);
    if (is_array) {
        name_entities(side, tape, op);
        return espl_change_components_array(side->world, side->named, op->count, &c.def,
                                            &side->refused);
    }
    const espl_entity entity =
        side_handle(side, tape, op->code == OP_CHANGE ? tape->named[0] : op->entity);
    if (op->change_form == CHANGE_ARRAY) {
        return espl_change_components_array(side->world, &entity, 1, &c.def, NULL);
    }
    return op->change_form == CHANGE_SINGLE && is_single(&c)
               ? change_single(side->world, entity, &c)
               : espl_change_components(side->world, entity, &c.def);
}

espl_status side_record_change(const test_side *side, espl_recorder *recorder, const operation *op)
{
    const model_change change = tape_change_of(op);
    const espl_entity entity = side_recorded_handle(side, op->entity);
    side_change_def c;

    fill_change(side, &c, &change, op->tag % 2 == 1);
    const espl_component_value *const given = &c.add.values[0];
    if (op->change_form != CHANGE_SINGLE || !is_single(&c)) {
        return espl_record_change_components(recorder, op->key, entity, &c.def);
    }
    return c.def.add_count == 1
               ? espl_record_add_component(recorder, op->key, entity, given->component, given->data,
                                           given->size)
               : espl_record_remove_component(recorder, op->key, entity, c.remove[0]);
}

// --- Values that are set ---

// The component and its value, or what the flaw makes of them.
static espl_component_value set_value_of(const test_side *side, const operation *op, side_values *v)
{
    const model_values values = {op->tag, op->load, op->peer};

    side_fill_values(side, v, model_bit(op->component), 0, &values);
    v->placement = op->value;
    switch (op->flaw) {
    case MODEL_GIVES_ROLE:
        return (espl_component_value){ESPL_ROOT, 0, NULL};
    case MODEL_UNKNOWN:
        return (espl_component_value){MODEL_BULK + MODEL_BULK_COUNT + 7, 0, NULL};
    case MODEL_MISSIZES:
        return (espl_component_value){MODEL_LOAD, sizeof v->load / 2, &v->load};
    default:
        return v->values[0];
    }
}

espl_status side_set(const test_side *side, const test_tape *tape, const operation *op)
{
    side_values v;
    const espl_component_value value = set_value_of(side, op, &v);

    return espl_set_component(side->world, side_handle(side, tape, op->entity), value.component,
                              value.data, value.size);
}

espl_status side_record_set(const test_side *side, espl_recorder *recorder, const operation *op)
{
    side_values v;
    const espl_component_value value = set_value_of(side, op, &v);

    return espl_record_set_component(recorder, op->key, side_recorded_handle(side, op->entity),
                                     value.component, value.data, value.size);
}

// --- What was told ---

static void check_refused(const test_side *side, const test_tape *tape, const operation *op,
                          espl_status status)
{
    const model_answer fault = model_answer_of(status);
    const size_t at = side->refused;

    if (at == SIDE_UNTOUCHED) {
        return;
    }
    tape_demand(tape, status < 0 && at < op->count, "entry %zu of %u is told to be refused (%s)",
                at, op->count, espl_status_name(status));
    const model_answer faults = model_change_faults(&tape->model, tape->named[at], &op->change);
    tape_demand(
        tape, (faults & fault) != 0 || status == ESPL_ERR_RANGE || status == ESPL_ERR_NOT_FINITE,
        "entry %zu is refused with %s, allowed set %#x", at, espl_status_name(status), faults);
}

void side_check_change(const test_side *side, const test_tape *tape, const operation *op,
                       espl_status status)
{
    if (op->code == OP_CHANGE_QUERY) {
        const size_t wanted = status == ESPL_OK ? tape->answered : SIDE_UNTOUCHED;
        tape_demand(tape, side->answered == wanted, "%zu answered, not %zu", side->answered,
                    wanted);
    } else if (op->code == OP_CHANGE) {
        const bool is_of_one = status == ESPL_ERR_NULL_ENTITY || status == ESPL_ERR_DEAD ||
                               status == ESPL_ERR_FOREIGN || status == ESPL_ERR_COPIES_PARENT;
        const bool is_array = op->change_form == CHANGE_ARRAY || op->count != 1;

        tape_demand(tape, !is_array || !is_of_one || side->refused != SIDE_UNTOUCHED,
                    "no entry is told for %s", espl_status_name(status));
        check_refused(side, tape, op, status);
    }
}

// --- What is there ---

static void compare_peer(const test_side *side, const test_tape *tape, uint32_t node)
{
    const uint32_t peer = tape->model.nodes[node].values.peer;
    const espl_entity entity = side->handles[node];
    side_peer got = {7, {7, 7}};

    const espl_status status =
        espl_get_component(side->world, entity, MODEL_PEER, &got, sizeof got);
    tape_demand(tape, status == ESPL_OK && got.word == 0, "node %u has no peer: %s", node,
                espl_status_name(status));
    if (peer == MODEL_NONE) {
        tape_demand(tape, espl_entity_is_null(got.peer), "node %u refers to somebody", node);
    } else if (tape->model.nodes[peer].is_alive) {
        tape_demand(tape, espl_entity_equal(got.peer, side->handles[peer]),
                    "node %u does not refer to node %u", node, peer);
    } else {
        tape_demand(tape, !espl_entity_is_null(got.peer) && !espl_is_alive(side->world, got.peer),
                    "node %u does not refer to the dead node %u", node, peer);
    }
}

void side_compare_components(const test_side *side, const test_tape *tape, uint32_t node)
{
    const model_node *const n = &tape->model.nodes[node];
    const espl_entity entity = side->handles[node];
    uint32_t tag = 0;
    uint64_t load = 0;

    const uint32_t bulk =
        (tape->style.components & model_bit(MODEL_BULK)) != 0 ? MODEL_BULK_COUNT : 1;
    for (espl_component i = ESPL_PREFAB; i < MODEL_BULK + bulk; ++i) {
        const espl_component component = i < MODEL_BULK ? i : MODEL_BULK;
        const bool has = espl_has_component(side->world, entity, i);
        tape_demand(tape, has == ((n->set & model_bit(component)) != 0), "node %u %s component %u",
                    node, has ? "has" : "lacks", i);
    }
    tape_demand(tape,
                espl_is_enabled(side->world, entity) == ((n->set & model_bit(ESPL_DISABLED)) == 0),
                "node %u is enabled or not", node);
    if ((n->set & model_bit(MODEL_TAG)) != 0) {
        const espl_status status =
            espl_get_component(side->world, entity, MODEL_TAG, &tag, sizeof tag);
        tape_demand(tape, status == ESPL_OK && tag == n->values.tag, "node %u has another tag",
                    node);
    }
    if ((n->set & model_bit(MODEL_LOAD)) != 0) {
        const espl_status status =
            espl_get_component(side->world, entity, MODEL_LOAD, &load, sizeof load);
        tape_demand(tape, status == ESPL_OK && load == n->values.load, "node %u has another load",
                    node);
    }
    if ((n->set & model_bit(MODEL_PEER)) != 0) {
        compare_peer(side, tape, node);
    }
    side_compare_looks(side, tape, node);
    side_compare_original(side, tape, node);
}

void side_index_nodes(test_side *side, const test_model *model)
{
    for (uint32_t i = 0; i < model->living_count; ++i) {
        const uint32_t index = side->handles[model->living[i]].index;

        if (index >= side->node_capacity) {
            const uint32_t known = side->node_capacity;
            side->node_capacity = index * 2 + 64;
            side->nodes = realloc(side->nodes, side->node_capacity * sizeof *side->nodes);
            ck_assert_ptr_nonnull(side->nodes);
            memset(side->nodes + known, 0xff, (side->node_capacity - known) * sizeof *side->nodes);
        }
        side->nodes[index] = model->living[i];
    }
}

void side_compare_query(test_side *side, const test_tape *tape, const model_query *query)
{
    const test_model *const model = &tape->model;
    espl_component sets[3][GIVEN_LIMIT];
    const espl_query_def def = query_def(query, sets);
    size_t got = 0, wanted = 0;
    espl_query q;

    side_index_nodes(side, model);
    for (uint32_t i = 0; i < model->living_count; ++i) {
        wanted += model_answers(model, model->living[i], query);
    }
    const espl_status begun = espl_query_begin(side->world, &def, &q);
    tape_demand(tape, begun == ESPL_OK, "query: %s", espl_status_name(begun));
    while (espl_query_next(&q)) {
        for (size_t row = 0; row < q.count; ++row) {
            const espl_entity entity = q.entities[row];
            const uint32_t node =
                entity.index < side->node_capacity ? side->nodes[entity.index] : MODEL_NONE;

            tape_demand(tape,
                        node < model->count && model->nodes[node].is_alive &&
                            espl_entity_equal(side->handles[node], entity) &&
                            model_answers(model, node, query),
                        "entity %u.%x answers all %#x none %#x any %#x include %u", entity.index,
                        entity.generation, query->all, query->none, query->any, query->include);
            side->nodes[entity.index] = MODEL_NONE; // it comes once
        }
        got += q.count;
    }
    tape_demand(tape, got == wanted, "%zu answer all %#x none %#x any %#x include %u, not %zu", got,
                query->all, query->none, query->any, query->include, wanted);
}
