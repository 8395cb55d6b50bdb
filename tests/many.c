// SPDX-License-Identifier: MIT
// Names, and what is done to many entities in one call: by the model, by a side, and how a tape makes it.
#include "tests/asserts.h"
#include "tests/changes.h"
#include "tests/picks.h"
#include "tests/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- The model ---

// All that attaching may change of the living.
static model_node *keep_living(const test_model *model)
{
    model_node *const kept = malloc((model->living_count + (size_t)1) * sizeof *kept);

    if (kept == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < model->living_count; ++i) {
        kept[i] = model->nodes[model->living[i]];
    }
    return kept;
}

static void put_back_living(test_model *model, const model_node *kept)
{
    for (uint32_t i = 0; i < model->living_count; ++i) {
        model->nodes[model->living[i]] = kept[i];
    }
}

static bool is_done(model_answer answer)
{
    return (answer & (model_answer_of(ESPL_OK) | model_answer_of(ESPL_LOSSY))) != 0;
}

model_answer model_attach_many(test_model *model, const uint32_t *children, const uint32_t *parents,
                               uint32_t count, uint32_t before, const espl_attach_options *options,
                               size_t *refused)
{
    model_answer sum = model_answer_of(ESPL_OK);

    if (!model_are_options(options)) {
        return model_answer_of(ESPL_ERR_ARGUMENT);
    }
    model_node *const kept = keep_living(model);

    for (uint32_t i = 0; i < count && is_done(sum); ++i) {
        const model_answer answer = model_attach(model, children[i], parents[i], before, options);

        if (!is_done(answer)) {
            *refused = i;
            model->overflow = MODEL_FINITE;
            put_back_living(model, kept);
        }
        sum = answer == model_answer_of(ESPL_OK) ? sum : answer;
    }
    free(kept);
    return sum;
}

model_answer model_destroy_many(test_model *model, const uint32_t *nodes, uint32_t count,
                                espl_extent extent, size_t *refused)
{
    static const model_policy policies[] = {[ESPL_EXTENT_ENTITY] = MODEL_ONLY,
                                            [ESPL_EXTENT_OWNED] = MODEL_CLOSURE,
                                            [ESPL_EXTENT_SUBTREE] = MODEL_SUBTREE};

    if ((unsigned)extent > ESPL_EXTENT_SUBTREE) {
        return model_answer_of(ESPL_ERR_ARGUMENT);
    }
    for (uint32_t i = 0; i < count; ++i) {
        const model_answer fault = model_fault_of(model, nodes[i]);

        if (fault != 0) {
            *refused = i;
            return fault;
        }
    }
    model_answer sum = model_answer_of(ESPL_OK);

    for (uint32_t i = 0; i < count; ++i) {
        // One that an earlier one took along is no matter.
        if (model->nodes[nodes[i]].is_alive) {
            const model_answer answer = model_destroy(model, nodes[i], policies[extent]);

            sum = answer == model_answer_of(ESPL_OK) ? sum : answer;
        }
    }
    return sum;
}

void model_destroy_all(test_model *model)
{
    while (model->living_count != 0) {
        (void)model_destroy(model, model_root(model, model->living[0]), MODEL_SUBTREE);
    }
    model->overflow = MODEL_FINITE;
}

model_answer model_set_name(test_model *model, uint32_t node, uint32_t name)
{
    const model_answer fault = model_fault_of(model, node);

    if (fault != 0) {
        return fault;
    }
    if (name > MODEL_NAMES) {
        return model_answer_of(name == MODEL_NAME_LONG ? ESPL_ERR_LIMIT : ESPL_ERR_ARGUMENT);
    }
    model->nodes[node].name = name;
    return model_answer_of(ESPL_OK);
}

uint32_t model_find_below(const test_model *model, uint32_t top, uint32_t above, uint32_t name)
{
    uint32_t node = model_next(model, top, top);

    while (node != MODEL_NONE) {
        const uint32_t parent = model->nodes[node].parent;

        if (model->nodes[node].name == name &&
            (above == 0 || (parent != top && model->nodes[parent].name == above))) {
            break;
        }
        node = model_next(model, top, node);
    }
    return node;
}

// --- A tape ---

static uint32_t pick_operand(test_tape *tape, bool is_good)
{
    const uint32_t node = is_good ? pick_living(tape) : pick_any(tape);

    return node == TAPE_ALIEN ? MODEL_FOREIGN : node;
}

static void pick_children(test_tape *tape, operation *op, bool are_good)
{
    op->count = draw_below(&tape->draw, 5);
    tape_reserve_named(tape, 2 * op->count + 2);
    for (uint32_t i = 0; i < op->count; ++i) {
        const uint32_t parent = pick_parent(tape);

        tape->named[i] = pick_operand(tape, are_good);
        tape->named[op->count + i] = parent == TAPE_ALIEN ? MODEL_FOREIGN : parent;
    }
    op->before = op->before == TAPE_ALIEN ? MODEL_FOREIGN : op->before;
}

static void pick_doomed(test_tape *tape, operation *op, bool are_good)
{
    const uint32_t kind = draw_below(&tape->draw, 64);

    op->extent = kind == 0 ? (espl_extent)9 : (espl_extent)(kind % 3);
    op->count = draw_below(&tape->draw, 5);
    tape_reserve_named(tape, op->count + 1);
    for (uint32_t i = 0; i < op->count; ++i) {
        tape->named[i] = pick_operand(tape, are_good);
    }
}

void pick_many(test_tape *tape, operation *op)
{
    const bool are_good = !draw_one_in(&tape->draw, 4);

    if (op->code == OP_ATTACH_MANY) {
        pick_children(tape, op, are_good);
    } else if (op->code == OP_DESTROY_MANY) {
        pick_doomed(tape, op, are_good);
    } else {
        op->name = draw_one_in(&tape->draw, 32) ? MODEL_NAMES + 1 + draw_below(&tape->draw, 3)
                                                : draw_below(&tape->draw, MODEL_NAMES + 1);
    }
}

model_answer tape_apply_many(test_tape *tape, const operation *op)
{
    test_model *const model = &tape->model;

    tape->refused = SIDE_UNTOUCHED;
    if (op->code == OP_ATTACH_MANY) {
        return model_attach_many(model, tape->named, tape->named + op->count, op->count,
                                 tape_node(tape, op->before), &op->options, &tape->refused);
    }
    return model_destroy_many(model, tape->named, op->count, op->extent, &tape->refused);
}

// --- A side ---

const char *side_name_of(uint32_t name, char room[SIDE_NAME_ROOM])
{
    static const char *const bad[] = {"a/b", "\n"};

    if (name == MODEL_NAMES || name == MODEL_NAME_LONG) {
        const size_t length = ESPL_NAME_LIMIT + (name == MODEL_NAME_LONG ? 1 : 0);

        memset(room, 'n', length);
        room[length] = '\0';
        return room;
    }
    if (name > MODEL_NAME_LONG) {
        return bad[name - MODEL_NAME_LONG - 1];
    }
    room[0] = '\0';
    if (name != 0) {
        (void)snprintf(room, SIDE_NAME_ROOM, "name %u", name);
    }
    return room;
}

espl_status side_set_name(const test_side *side, const test_tape *tape, const operation *op)
{
    char room[SIDE_NAME_ROOM];
    const char *const name = side_name_of(op->name, room);

    // Two ways to take it away.
    return espl_set_name(side->world, side_handle(side, tape, op->entity),
                         op->name == 0 && op->tag % 2 == 0 ? NULL : name);
}

espl_status side_do_many(test_side *side, const test_tape *tape, const operation *op)
{
    const uint32_t named = op->code == OP_ATTACH_MANY ? 2 * op->count : op->count;
    espl_attach_options options = op->options;

    side->named = side_grown(side->named, &side->named_capacity, named + 1);
    for (uint32_t i = 0; i < named; ++i) {
        side->named[i] = side_handle(side, tape, tape->named[i]);
    }
    side->refused = SIDE_UNTOUCHED;
    if (op->code == OP_DESTROY_MANY) {
        return espl_destroy_many(side->world, side->named, op->count, op->extent, &side->refused);
    }
    options.before = side_handle(side, tape, op->before);
    return espl_attach_many(side->world, side->named, side->named + op->count, op->count, &options,
                            &side->refused);
}

void side_check_many(const test_side *side, const test_tape *tape)
{
    tape_demand(tape, side->refused == tape->refused, "entry %zu is told to be refused, not %zu",
                side->refused, tape->refused);
}

void side_compare_name(const test_side *side, const test_tape *tape, uint32_t node)
{
    char room[SIDE_NAME_ROOM];
    const char *const got = espl_get_name(side->world, side->handles[node]);

    tape_demand(tape, strcmp(got, side_name_of(tape->model.nodes[node].name, room)) == 0,
                "node %u has the name \"%.40s\", not number %u", node, got,
                tape->model.nodes[node].name);
}

// The path of a node by the model; its length as that of a string.
static size_t path_of(const test_side *side, const test_model *model, uint32_t node, char *out,
                      size_t size)
{
    uint32_t depth = model_depth(model, node);
    size_t length = 0;

    for (uint32_t level = depth + 1; level-- > 0;) {
        char room[SIDE_NAME_ROOM];
        uint32_t at = node;

        for (uint32_t i = 0; i < level; ++i) {
            at = model->nodes[at].parent;
        }
        const espl_entity entity = side->handles[at];

        if (model->nodes[at].name == 0) {
            (void)snprintf(room, sizeof room, "%u.%u", entity.index, entity.generation);
        } else {
            (void)side_name_of(model->nodes[at].name, room);
        }
        const int more = snprintf(out + length, size - length, "%s%s", room, level > 0 ? "/" : "");

        ck_assert(more > 0 && (size_t)more < size - length);
        length += (size_t)more;
    }
    return length;
}

// Trees of this test may be deep; those that are not have paths of a few names.
enum { DEPTH_LIMIT = 16 };

void side_compare_path(const test_side *side, const test_tape *tape, uint32_t node)
{
    static char wanted[DEPTH_LIMIT * SIDE_NAME_ROOM], got[sizeof wanted];

    if (model_depth(&tape->model, node) + 1 >= DEPTH_LIMIT) {
        return;
    }
    const size_t length = path_of(side, &tape->model, node, wanted, sizeof wanted);
    const size_t told = espl_get_path(side->world, side->handles[node], got, sizeof got);

    tape_demand(tape, told == length && strcmp(got, wanted) == 0,
                "node %u has the path %.200s, not %.200s", node, got, wanted);
}

void side_compare_finds(const test_side *side, const test_tape *tape, uint32_t top, uint32_t above,
                        uint32_t name)
{
    const uint32_t node = model_find_below(&tape->model, top, above, name);
    const espl_entity wanted = node != MODEL_NONE ? side->handles[node] : espl_entity_null();
    char rooms[2][SIDE_NAME_ROOM], path[2 * SIDE_NAME_ROOM + 1];
    espl_entity got = {7, 7};

    (void)snprintf(path, sizeof path, "%s%s%s", side_name_of(above, rooms[0]),
                   above != 0 ? "/" : "", side_name_of(name, rooms[1]));
    const espl_status status = espl_find_descendant(side->world, side->handles[top], path, &got);

    tape_demand(tape, status == ESPL_OK && espl_entity_equal(got, wanted),
                "below node %u \"%.80s\" is not node %u (%s)", top, path, node,
                espl_status_name(status));
}
