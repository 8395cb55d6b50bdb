// SPDX-License-Identifier: MIT
// Makes operations from records and carries them out on the model.
#include "tests/asserts.h"
#include "tests/picks.h"
#include "tests/placing.h"
#include "tests/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const opcode_names[OPCODE_COUNT] = {
    "create",       "attach",      "detach",      "destroy",      "destroy_subtree", "destroy_only",
    "instantiate",  "instance",    "set_local",   "set_world",    "write",           "look_at",
    "rotate_about", "set_inherit", "write_batch", "set_sibling",  "place",           "unplace",
    "enable",       "disable",     "change",      "change_query", "attach_many",     "destroy_many",
    "clear",        "name",        "trim",        "creation",     "change_one",      "set",
    "call",         "step"};

const char *tape_code_name(opcode code)
{
    return opcode_names[code];
}

// The command that plays so much of the tape once more; nothing where records were given, whose
// driver knows the file.
static void describe_rerun(const test_tape *tape, char *text, size_t size)
{
    text[0] = '\0';
    if (tape->driver != NULL && tape->records == NULL) {
        (void)snprintf(text, size, "; again: %s --population %u --length %zu --seed 0x%llx",
                       tape->driver, tape->style.population, tape->taken,
                       (unsigned long long)tape->seed);
    }
}

_Noreturn void tape_fail(const test_tape *tape, const char *file, int line, const char *format, ...)
{
    char text[512], again[160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    describe_rerun(tape, again, sizeof again);
    _ck_assert_failed(file, line, "tape", "ESPL_SEED=0x%llx, operation %zu (%s)%s%s: %s%s",
                      (unsigned long long)tape->seed, tape->at, tape_code_name(tape->code),
                      tape->note != NULL ? ", " : "", tape->note != NULL ? tape->note : "", text,
                      again);
    abort(); // not reached
}

// --- Styles ---

static void choose_weights(test_tape *tape)
{
    static const uint32_t weights[8] = {0, 1, 1, 2, 2, 4, 4, 8};

    for (int i = 0; i <= OP_TRIM; ++i) {
        tape->style.weights[i] = weights[test_below(&tape->random, 8)];
    }
    // A world without entities has nothing to say, and one without hierarchies or writes little.
    tape->style.weights[OP_CREATE] += 1;
    tape->style.weights[OP_ATTACH] += test_one_in(&tape->random, 4) ? 0 : 4;
    tape->style.weights[OP_WRITE] += test_one_in(&tape->random, 4) ? 0 : 2;
    // These touch many, or all.
    tape->style.weights[OP_CHANGE_QUERY] /= 4;
    tape->style.weights[OP_TRIM] /= 4;
    tape->style.weights[OP_DESTROY_MANY] /= 2;
    // And this one leaves nothing to go on with.
    tape->style.weights[OP_CLEAR] /= 8;
}

static void choose_flags(test_tape *tape)
{
    tape->style.flags = (tape_flags)test_below(&tape->random, 3);
    tape->style.flag_mask = test_one_in(&tape->random, 2)
                                ? (uint32_t)ESPL_COPY_PARENT - 1
                                : test_below(&tape->random, ESPL_COPY_PARENT);
    if (tape->style.flags == FLAGS_NONE) {
        tape->style.weights[OP_SET_INHERIT] = 0;
    }
}

void tape_begin(test_tape *tape, uint64_t seed, uint32_t population)
{
    memset(tape, 0, sizeof *tape);
    tape->seed = tape->random = seed;
    tape->recent = MODEL_NONE;
    model_init(&tape->model);
    choose_weights(tape);
    tape->style.population = test_fitting(population * 4, 0) / 4;
    tape->style.shape = (tape_shape)test_below(&tape->random, SHAPE_COUNT);
    tape->style.values = (tape_values)test_below(&tape->random, 4);
    tape->style.huge_one_in = 8;
    choose_flags(tape);
    tape->style.bad_one_in = test_one_in(&tape->random, 4) ? 3 : 20;
    tape->style.has_unplaced = test_one_in(&tape->random, 3);
    if (!tape->style.has_unplaced) {
        tape->style.weights[OP_UNPLACE] = 0;
    }
    while (tape->style.components == 0) {
        tape->style.components = pick_components(&tape->random);
    }
    tape->style.lanes = 1 + test_below(&tape->random, 4);
    tape->style.keys = 1 + test_below(&tape->random, 3);
}

// There is one entity beside those of the model.
bool tape_is_worn(const test_tape *tape)
{
    return test_is_worn(tape->model.count + 1, 2 * (size_t)tape->style.population + 1);
}

void tape_end(test_tape *tape)
{
    model_free(&tape->model);
    free(tape->pending);
    free(tape->entries);
    free(tape->named);
}

bool tape_is_structural(opcode code)
{
    return (code >= OP_ATTACH && code <= OP_INSTANCE) ||
           (code >= OP_SET_SIBLING && code <= OP_CLEAR);
}

void tape_prefer_structure(test_tape *tape)
{
    for (opcode code = 0; code < OPCODE_COUNT; ++code) {
        if (code != OP_CREATE && !tape_is_structural(code)) {
            tape->style.weights[code] = 0;
        }
    }
    // Without any write all would stand in one place.
    tape->style.weights[OP_SET_LOCAL] = 1;
    tape->style.weights[OP_WRITE] = 1;
}

// --- Records ---

void tape_feed(test_tape *tape, const tape_record *records, size_t count)
{
    tape->records = records;
    tape->record_count = count;
}

bool tape_is_over(const test_tape *tape)
{
    return tape->records != NULL && tape->taken == tape->record_count;
}

void tape_advance(test_tape *tape)
{
    ck_assert_msg(!tape_is_over(tape), "no record is left");
    const tape_record record =
        tape->records != NULL ? tape->records[tape->taken] : record_from(&tape->random);

    tape->taken += 1;
    draw_begin(&tape->draw, &record);
}

// --- Operations ---

opcode pick_code(test_tape *tape)
{
    uint32_t sum = 0, code = 0;

    for (int i = 0; i < OPCODE_COUNT; ++i) {
        sum += tape->style.weights[i];
    }
    uint32_t left = draw_below(&tape->draw, sum);
    while (left >= tape->style.weights[code]) {
        left -= tape->style.weights[code++];
    }
    return (opcode)code;
}

bool pick_is_destroy(opcode code)
{
    return code == OP_DESTROY || code == OP_DESTROY_SUBTREE || code == OP_DESTROY_ONLY ||
           code == OP_DESTROY_MANY || code == OP_CLEAR;
}

// Keep the population near what the style strives for.
static opcode pick_fitting_code(test_tape *tape)
{
    const opcode code = pick_code(tape);
    const uint32_t living = tape->model.living_count;
    const bool makes = code == OP_CREATE || code == OP_INSTANTIATE || code == OP_INSTANCE;

    if (makes && living >= tape->style.population) {
        return (opcode)(OP_DESTROY + draw_below(&tape->draw, 3));
    }
    if (pick_is_destroy(code) && living <= tape->style.population / 2) {
        return OP_CREATE;
    }
    return code;
}

static void limit_clones(const test_tape *tape, operation *op)
{
    if (!is_living_node(tape, op->entity)) {
        return;
    }
    const uint32_t size = model_closure_size(&tape->model, op->entity);
    while (op->count > 1 && op->count * size > tape->style.population / 4) {
        op->count -= 1;
    }
    if (size + tape->model.living_count > tape->style.population * 2) {
        op->code = OP_SET_LOCAL;
    }
}

void pick_instance(test_tape *tape, operation *op)
{
    op->count = 1 + draw_below(&tape->draw, TAPE_COUNT_LIMIT);
    op->place = (espl_place)draw_below(&tape->draw, 3);
    op->dead_parent = (espl_dead_parent)draw_below(&tape->draw, 2);
    op->sets_tag = draw_one_in(&tape->draw, 2);
    op->tag = (uint32_t)draw_bits(&tape->draw);
    pick_given(tape, op);
    if (op->code == OP_INSTANTIATE || draw_one_in(&tape->draw, 3)) {
        op->parent = op->before = MODEL_NONE;
    }
    if (op->code == OP_INSTANTIATE || (op->parent == MODEL_NONE && !draw_one_in(&tape->draw, 8))) {
        op->inherit = 0;
    }
    // Refused when recorded, even where a dead parent would leave it unread at playback.
    if (op->before == TAPE_ALIEN && op->dead_parent == ESPL_DEAD_PARENT_ROOT) {
        op->before = MODEL_FOREIGN;
    }
    limit_clones(tape, op);
}

static void fill_options(test_tape *tape, espl_attach_options *options)
{
    options->position = pick_stay(tape);
    options->rotation = draw_one_in(&tape->draw, 2) ? options->position : pick_stay(tape);
    options->scale = draw_one_in(&tape->draw, 2) ? options->position : pick_stay(tape);
    options->link = (espl_link)draw_below(&tape->draw, 2);
    options->inherit = pick_flags(tape);
}

static void fill_write(test_tape *tape, operation *op)
{
    op->kind = pick_flagged(tape, pick_kind(tape), 0);
    op->data = pick_data(tape, op->entity, op->kind);
    op->form = test_plain_kind(op->kind) < ESPL_WRITE_KIND_COUNT
                   ? (write_form)draw_below(&tape->draw, FORM_COUNT)
                   : FORM_BATCH;
}

operation pick_operation(test_tape *tape, opcode code)
{
    operation op = {.code = code};

    op.entity = pick_any(tape);
    op.parent = pick_parent(tape);
    op.before = pick_before(tape, op.parent);
    fill_options(tape, &op.options);
    op.keep = pick_stay(tape);
    op.inherit = pick_flags(tape);
    op.count = 1;
    op.has_placement = !(tape->style.has_unplaced && draw_one_in(&tape->draw, 8));
    op.tag = (uint32_t)draw_bits(&tape->draw);
    if (op.code == OP_INSTANTIATE || op.code == OP_INSTANCE) {
        pick_instance(tape, &op);
    } else if (op.code == OP_WRITE) {
        fill_write(tape, &op);
    } else if (op.code == OP_LOOK_AT || op.code == OP_ROTATE_ABOUT) {
        pick_point(tape, &op);
        op.data = pick_data(tape, op.entity, ESPL_WRITE_ROTATE_WORLD);
    } else if (op.code == OP_BATCH) {
        pick_entries(tape, &op);
    } else if (op.code >= OP_SET_SIBLING) {
        pick_change_of(tape, &op);
    }
    // Values come last: they take what the choices leave.
    op.value = pick_value(tape, op.entity, op.code == OP_SET_WORLD);
    return op;
}

operation tape_next(test_tape *tape)
{
    tape_advance(tape);
    if (tape_takes_step(tape)) {
        tape->code = OP_STEP;
        return pick_step(tape);
    }
    tape->code = pick_fitting_code(tape);
    return pick_operation(tape, tape->code);
}

void tape_reserve_entries(test_tape *tape, uint32_t count)
{
    if (count > tape->entry_capacity) {
        tape->entry_capacity = count * 2;
        tape->entries = realloc(tape->entries, tape->entry_capacity * sizeof *tape->entries);
        ck_assert_ptr_nonnull(tape->entries);
        memset(tape->entries, 0, tape->entry_capacity * sizeof *tape->entries);
    }
}

void tape_reserve_named(test_tape *tape, uint32_t count)
{
    if (count > tape->named_capacity) {
        tape->named_capacity = count * 2;
        tape->named = realloc(tape->named, tape->named_capacity * sizeof *tape->named);
        ck_assert_ptr_nonnull(tape->named);
    }
}

model_change tape_change_of(const operation *op)
{
    model_change change = op->change;

    if (op->code == OP_PLACE) {
        change.add |= model_bit(ESPL_TRANSFORM);
        change.placement = op->value;
    } else if (op->code == OP_UNPLACE) {
        change.remove |= model_bit(ESPL_TRANSFORM);
    }
    return change;
}

// --- The model's side ---

static model_answer apply_create(test_model *model, const operation *op)
{
    const uint32_t node = model_create(model, op->has_placement, op->tag);
    const model_values values = {op->tag, op->load, op->peer};

    model_set_values(&model->nodes[node], op->given, &values);
    return model_answer_of(ESPL_OK);
}

static model_answer apply_instance(test_tape *tape, const operation *op)
{
    const bool is_simple = op->code == OP_INSTANTIATE;
    const model_instance def = {
        .source = tape_node(tape, op->entity),
        .parent = is_simple ? MODEL_NONE : tape_node(tape, op->parent),
        .before = is_simple ? MODEL_NONE : tape_node(tape, op->before),
        .link = op->options.link,
        .dead_parent = op->dead_parent,
        .place = is_simple ? ESPL_PLACE_SOURCE : op->place,
        .transform = op->value,
        .inherit = is_simple ? 0 : op->inherit,
        .set = is_simple ? 0 : op->given | (op->sets_tag ? model_bit(MODEL_TAG) : 0),
        .values = {op->tag, op->load, op->peer},
        .count = op->count};
    uint32_t clones[TAPE_COUNT_LIMIT];
    const model_answer answer = model_instantiate(&tape->model, &def, clones);
    const bool is_made = (answer & (model_answer_of(ESPL_OK) | model_answer_of(ESPL_LOSSY))) != 0;

    for (uint32_t i = 0; is_made && i < op->count && tape->pending_count != 0; ++i) {
        tape->pending[op->pending + i] = clones[i];
    }
    return answer;
}

static model_answer apply_creation(test_tape *tape, const operation *op)
{
    const model_creation def = tape_creation_of(tape, op);
    uint32_t made[TAPE_COUNT_LIMIT];
    const model_answer answer = model_make(&tape->model, &def, made);
    const bool is_made = (answer & (model_answer_of(ESPL_OK) | model_answer_of(ESPL_LOSSY))) != 0;

    for (uint32_t i = 0; is_made && i < op->count && tape->pending_count != 0; ++i) {
        tape->pending[op->pending + i] = made[i];
    }
    return answer;
}

static model_answer apply_value(test_tape *tape, const operation *op)
{
    const model_values values = {op->tag, op->load, op->peer};
    const espl_write_value whole = {.transform = op->value};

    // A transform is written.
    if (op->component == ESPL_TRANSFORM && op->flaw == MODEL_FLAWLESS) {
        return model_write(&tape->model, tape_node(tape, op->entity), ESPL_WRITE_LOCAL_TRANSFORM,
                           &whole);
    }
    return model_set(&tape->model, tape_node(tape, op->entity), op->component, &values, op->flaw);
}

static model_answer apply_set(test_model *model, uint32_t node, const operation *op)
{
    const espl_write_value value = {.transform = op->value};
    const bool is_world = op->code == OP_SET_WORLD;

    return model_write(model, node,
                       is_world ? ESPL_WRITE_WORLD_TRANSFORM : ESPL_WRITE_LOCAL_TRANSFORM, &value);
}

static size_t count_infinite(const test_model *model)
{
    size_t count = 0;

    for (uint32_t i = 0; i < model->living_count; ++i) {
        count += !model_is_finite(&model->nodes[model->living[i]].world);
    }
    return count;
}

// Many entities are changed as one: a world that overflows between two of them counts only where it is
// still so in the end. @param change  NULL where they are attached or destroyed.
static model_answer change_many(test_tape *tape, const operation *op, const model_change *change)
{
    test_model *const model = &tape->model;
    const size_t before = count_infinite(model);
    const model_answer answer = change == NULL ? tape_apply_many(tape, op)
                                : op->code == OP_CHANGE_QUERY
                                    ? model_change_query(model, &op->query, change, &tape->answered)
                                    : model_change_nodes(model, tape->named, op->count, change);

    if (model->overflow == MODEL_OVERFLOWS && count_infinite(model) <= before) {
        model->overflow = MODEL_MAY_OVERFLOW;
    }
    return answer;
}

static model_answer apply_change(test_tape *tape, const operation *op)
{
    const model_change change = tape_change_of(op);
    const uint32_t node = tape_node(tape, op->entity);

    return op->code == OP_CHANGE || op->code == OP_CHANGE_QUERY
               ? change_many(tape, op, &change)
               : model_change_nodes(&tape->model, &node, 1, &change);
}

model_answer tape_apply(test_tape *tape, const operation *op)
{
    test_model *const model = &tape->model;
    const uint32_t node = tape_node(tape, op->entity);

    tape->writes = model->writes;
    tape->writes_skipped = model->writes_skipped;
    model->overflow = MODEL_FINITE;
    switch (op->code) {
    case OP_CREATE:
        return apply_create(model, op);
    case OP_ATTACH:
        tape->recent = node;
        return model_attach(model, node, tape_node(tape, op->parent), tape_node(tape, op->before),
                            &op->options);
    case OP_DETACH:
        return model_detach(model, node, op->keep);
    case OP_DESTROY:
        return model_destroy(model, node, MODEL_CLOSURE);
    case OP_DESTROY_SUBTREE:
        return model_destroy(model, node, MODEL_SUBTREE);
    case OP_DESTROY_ONLY:
        return model_destroy(model, node, MODEL_ONLY);
    case OP_INSTANTIATE:
    case OP_INSTANCE:
        return apply_instance(tape, op);
    case OP_SET_LOCAL:
    case OP_SET_WORLD:
        return apply_set(model, node, op);
    case OP_WRITE:
        return model_write(model, node, op->kind, &op->data);
    case OP_LOOK_AT:
        return model_look_at(model, node, op->point, op->has_up ? op->up : NULL, op->forward);
    case OP_ROTATE_ABOUT:
        return model_rotate_about(model, node, op->point, op->data.rotation);
    case OP_SET_INHERIT:
        return model_set_inherit(model, node, op->inherit);
    case OP_BATCH:
        return model_write_batch(model, tape->entries, op->count, &tape->report);
    case OP_SET_SIBLING:
        return model_set_sibling(model, node, tape_node(tape, op->before));
    case OP_PLACE:
    case OP_UNPLACE:
    case OP_CHANGE:
    case OP_CHANGE_ONE:
    case OP_CHANGE_QUERY:
        return apply_change(tape, op);
    case OP_CREATION:
        return apply_creation(tape, op);
    case OP_SET:
        return apply_value(tape, op);
    case OP_CALL:
        return model_answer_of(side_call_status(&op->call));
    case OP_STEP:
        return model_step(model, op);
    case OP_ENABLE:
    case OP_DISABLE:
        return model_set_enabled(model, node, op->extent, op->code == OP_ENABLE);
    case OP_ATTACH_MANY:
    case OP_DESTROY_MANY:
        return change_many(tape, op, NULL);
    case OP_CLEAR:
        model_destroy_all(model);
        return model_answer_of(ESPL_OK);
    case OP_NAME:
        return model_set_name(model, node, op->name);
    case OP_TRIM:
        return model_answer_of(ESPL_OK);
    case OPCODE_COUNT:
        break;
    }
    abort();
}
