// SPDX-License-Identifier: MIT
// The structural steps of the tape, at once and recorded.
#include "tests/asked.h"
#include "tests/golden/tape.h"

#include <string.h>

enum {
    CLOSURE_LIMIT = 24, // of what is cloned
    CLONE_LIMIT = 3,
    RECORDED_LIMIT = 32,
    KEYS = 3,
    REASONS_NOTED = 21, // of a report, always
};

// --- Rules ---

uint32_t tape_draw_flags(tape *t)
{
    const uint32_t which = golden_below(&t->dice, 16);
    const uint32_t flags = golden_below(&t->dice, ESPL_COPY_PARENT);

    if (t->style < TAPE_FLAGGED || which < 5) {
        return 0;
    }
    return which == 5 ? ESPL_COPY_PARENT : flags;
}

espl_attach_options tape_draw_options(tape *t)
{
    espl_attach_options options = {0};

    options.position = (espl_keep)golden_below(&t->dice, 3);
    options.rotation = (espl_keep)golden_below(&t->dice, 3);
    options.scale = (espl_keep)golden_below(&t->dice, 3);
    options.link = golden_one_in(&t->dice, 4) ? ESPL_LINK_FREE : ESPL_LINK_OWNED;
    options.inherit = tape_draw_flags(t);
    return options;
}

// --- Birth ---

// Where the next one of the list belongs.
static espl_entity parent_of_next(tape *t)
{
    const uint32_t count = t->count;

    switch (t->shape) {
    case TAPE_CHAIN:
        return t->entities[count - 1];
    case TAPE_STAR:
        return t->entities[0];
    case TAPE_FAN:
        return t->entities[(count - 1) / 3];
    case TAPE_FOREST:
        return count % 8 == 0 ? espl_entity_null()
                              : t->entities[count - 1 - golden_below(&t->dice, count % 8)];
    case TAPE_WOOD:
        return count % 60 == 0 ? espl_entity_null() : t->entities[count - 1 - count % 60 / 2];
    case TAPE_SOLOS:
    case TAPE_SHAPE_COUNT:
        break;
    }
    return espl_entity_null();
}

void tape_plant(tape *t)
{
    const espl_component placement = ESPL_TRANSFORM;
    const bool is_placed = !golden_one_in(&t->dice, 12);
    const espl_transform local = golden_transform(&t->dice);
    espl_attach_options options = tape_draw_options(t);
    espl_entity entity = espl_entity_null();

    if (espl_create(t->world, &placement, is_placed ? 1 : 0, 1, &entity) != ESPL_OK) {
        tape_fail(t, "no entity could be made");
    }
    tape_note_status(t, espl_set_local_transform(t->world, entity, &local));
    if (t->count > 0) {
        options.inherit = is_placed ? options.inherit : 0;
        tape_note_status(t, espl_attach(t->world, entity, parent_of_next(t), &options));
    }
    tape_note_placement(t, entity);
    tape_list(t, entity);
}

// Small things only, so that the world does not grow for ever.
static espl_entity pick_source(tape *t)
{
    const espl_entity source = tape_pick(t);

    return test_count_descendants(t->world, source) > CLOSURE_LIMIT ? t->dead : source;
}

void tape_instantiate(tape *t)
{
    const espl_entity source = pick_source(t);
    const uint32_t count = golden_below(&t->dice, CLONE_LIMIT + 1);
    espl_entity clones[CLONE_LIMIT] = {{0}};
    const espl_status status =
        espl_instantiate(t->world, &(espl_instance_def){.source = source}, count, clones);

    tape_note_status(t, status);
    for (uint32_t i = 0; status == ESPL_OK && i < count; ++i) {
        tape_list(t, clones[i]);
    }
}

// --- Change and death ---

void tape_attach(tape *t)
{
    const espl_entity child = tape_pick(t);
    const espl_entity parent = tape_pick_parent(t);
    espl_attach_options options = tape_draw_options(t);

    if (golden_one_in(&t->dice, 3)) {
        options.before = espl_get_first_child(t->world, parent);
    }
    tape_note_status(t, espl_attach(t->world, child, parent, &options));
    tape_note_placement(t, child);
}

void tape_detach(tape *t)
{
    const espl_entity entity = tape_pick(t);
    const espl_keep keep = (espl_keep)golden_below(&t->dice, 3);

    tape_note_status(t, espl_detach(t->world, entity, keep));
    tape_note_placement(t, entity);
}

void tape_set_sibling(tape *t)
{
    const espl_entity entity = tape_pick(t);
    const espl_entity parent = espl_get_parent(t->world, entity);

    tape_note_status(t, espl_move_before(t->world, entity,
                                         golden_one_in(&t->dice, 2)
                                             ? espl_get_first_child(t->world, parent)
                                             : espl_entity_null()));
    tape_note_placement(t, entity);
}

void tape_change_placement(tape *t)
{
    const espl_entity entity = tape_pick(t);
    const espl_transform local = golden_transform(&t->dice);
    const espl_component_value value = {ESPL_TRANSFORM, sizeof local, &local};
    const espl_component placement = ESPL_TRANSFORM;
    const bool takes = golden_one_in(&t->dice, 4);
    const espl_change_def change = {.add = &value,
                                    .add_count = takes ? 0 : 1,
                                    .remove = &placement,
                                    .remove_count = takes ? 1 : 0};

    tape_note_status(t, espl_change_components(t->world, entity, &change));
    tape_note_placement(t, espl_get_first_child(t->world, entity));
}

void tape_destroy(tape *t)
{
    const espl_entity entity = tape_pick(t);

    switch (golden_below(&t->dice, 3)) {
    case 0:
        tape_note_status(t, espl_destroy(t->world, entity, ESPL_EXTENT_OWNED));
        break;
    case 1:
        tape_note_status(t, espl_destroy(t->world, entity, ESPL_EXTENT_SUBTREE));
        break;
    default:
        tape_note_status(t, espl_destroy(t->world, entity, ESPL_EXTENT_ENTITY));
        break;
    }
    tape_drop_dead(t);
}

void tape_cull(tape *t)
{
    for (uint32_t i = 0; i < t->count / 2; ++i) {
        tape_note_status(t, i % 2 == 0
                                ? espl_destroy(t->world, t->entities[i], ESPL_EXTENT_OWNED)
                                : espl_destroy(t->world, t->entities[i], ESPL_EXTENT_SUBTREE));
    }
    tape_drop_dead(t);
}

// --- Recorded ---

// Handles to be, of one recording.
typedef struct births {
    espl_entity pending[RECORDED_LIMIT * CLONE_LIMIT];
    uint32_t count;
} births;

static espl_entity pick_recorded(tape *t, const births *b)
{
    const espl_entity entity = tape_pick(t);

    if (b->count > 0 && golden_one_in(&t->dice, 4)) {
        return b->pending[golden_below(&t->dice, b->count)];
    }
    return entity;
}

static espl_status record_instance(tape *t, espl_recorder *recorder, uint32_t key, births *b)
{
    const uint32_t count = golden_below(&t->dice, CLONE_LIMIT + 1);
    espl_instance_def def = {.source = pick_source(t)};

    if (t->shape != TAPE_SOLOS && golden_one_in(&t->dice, 2)) {
        def.parent = pick_recorded(t, b);
        def.before = espl_get_first_child(t->world, def.parent);
    }
    def.link = (espl_link)golden_below(&t->dice, 2);
    def.dead_parent = (espl_dead_parent)golden_below(&t->dice, 2);
    def.place = (espl_place)golden_below(&t->dice, 3);
    def.transform = golden_transform(&t->dice);
    def.inherit = tape_draw_flags(t);

    const espl_status status =
        espl_record_instantiate(recorder, key, &def, count, b->pending + b->count);

    b->count += status == ESPL_OK ? count : 0;
    return status;
}

static espl_status record_attach(tape *t, espl_recorder *recorder, uint32_t key, const births *b)
{
    const espl_entity child = pick_recorded(t, b);
    const espl_entity parent = t->shape == TAPE_SOLOS ? espl_entity_null() : pick_recorded(t, b);
    espl_attach_options options = tape_draw_options(t);

    if (golden_one_in(&t->dice, 3)) {
        options.before = espl_get_first_child(t->world, parent);
    }
    return espl_record_attach(recorder, key, child, parent, &options);
}

static espl_status record_write(tape *t, espl_recorder *recorder, uint32_t key, const births *b)
{
    espl_write write = tape_draw_write(t);

    write.entity = pick_recorded(t, b);
    t->writes += 1;
    return espl_record_write(recorder, key, write.entity, write.kind, &write.value);
}

static espl_status record_value(tape *t, espl_recorder *recorder, uint32_t key, const births *b)
{
    const espl_entity entity = pick_recorded(t, b);
    const espl_transform value = golden_transform(&t->dice);

    t->writes += 1;
    return golden_one_in(&t->dice, 2)
               ? espl_record_write(recorder, key, entity, ESPL_WRITE_LOCAL_TRANSFORM, &value)
               : espl_record_write(recorder, key, entity, ESPL_WRITE_WORLD_TRANSFORM, &value);
}

static espl_status record_one(tape *t, espl_recorder *recorder, births *b)
{
    const uint32_t key = golden_below(&t->dice, KEYS);
    const uint32_t which = golden_below(&t->dice, 32);
    const espl_entity entity = pick_recorded(t, b);
    const uint32_t rule = golden_below(&t->dice, 3);

    switch (which) {
    case 0:
        return espl_record_destroy(recorder, key, entity, ESPL_EXTENT_OWNED);
    case 1:
        return espl_record_destroy(recorder, key, entity, ESPL_EXTENT_ENTITY);
    case 2:
        return test_count_descendants(t->world, entity) > CLOSURE_LIMIT
                   ? espl_record_detach(recorder, key, entity, (espl_keep)rule)
                   : espl_record_destroy(recorder, key, entity, ESPL_EXTENT_SUBTREE);
    case 3:
    case 4:
        return espl_record_detach(recorder, key, entity, (espl_keep)rule);
    case 5:
    case 6:
        return espl_record_set_inherit(recorder, key, entity, tape_draw_flags(t));
    case 7:
    case 8:
    case 9:
        return record_instance(t, recorder, key, b);
    case 10:
    case 11:
    case 12:
        return record_value(t, recorder, key, b);
    default:
        return which < 18 ? record_attach(t, recorder, key, b) : record_write(t, recorder, key, b);
    }
}

// What came of the commands; not what it took.
static void note_report(tape *t, const espl_report *report)
{
    tape_note_size(t, report->accepted);
    tape_note_size(t, report->applied);
    tape_note_size(t, report->refused);
    tape_note_size(t, report->lossy);
    tape_note_size(t, report->created);
    tape_note_size(t, report->destroyed);
    // Reasons that came later are noted where there are some, so that the others have the hash they had.
    for (size_t i = 0; i < ESPL_REASON_COUNT; ++i) {
        if (i < REASONS_NOTED || report->refused_by[i] != 0) {
            tape_note_size(t, report->refused_by[i]);
        }
        if (report->refused_by[i] != 0) {
            tape_note_size(t, report->first_refused[i].lane);
            tape_note_size(t, report->first_refused[i].index);
        }
    }
}

static void list_births(tape *t, const births *b)
{
    for (uint32_t i = 0; i < b->count; ++i) {
        espl_entity entity = espl_entity_null();
        const espl_status status = espl_command_buffer_resolve(t->commands, b->pending[i], &entity);

        tape_note_status(t, status);
        if (status == ESPL_OK) {
            tape_list(t, entity);
        }
    }
}

void tape_play(tape *t)
{
    const uint32_t count = 1 + golden_below(&t->dice, RECORDED_LIMIT);
    espl_report report;
    births b = {.count = 0};

    espl_command_buffer_reset(t->commands);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t lane = golden_below(&t->dice, 2);
        espl_recorder *const recorder = espl_command_buffer_recorder(t->commands, lane);

        tape_note_status(t, record_one(t, recorder, &b));
    }
    tape_note_status(t, espl_play(t->world, t->commands, &report));
    note_report(t, &report);
    list_births(t, &b);
    tape_drop_dead(t);
}
