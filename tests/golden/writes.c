// SPDX-License-Identifier: MIT
// The writes of the tape: every kind, by function, in mixed batches, and in short forms.
#include "tests/golden/tape.h"
#include "tests/named_writes.h"

#include <math.h>
#include <string.h>

enum { BATCH_LIMIT = 24 };

typedef enum value_type { VECTOR, ROTATION, SCALAR, TRANSFORM, WORD } value_type;

static const value_type types[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = VECTOR,
    [ESPL_WRITE_LOCAL_ROTATION] = ROTATION,
    [ESPL_WRITE_LOCAL_SCALE] = SCALAR,
    [ESPL_WRITE_LOCAL_POSE] = TRANSFORM,
    [ESPL_WRITE_LOCAL_TRANSFORM] = TRANSFORM,
    [ESPL_WRITE_STRETCH] = VECTOR,
    [ESPL_WRITE_USER_DATA] = WORD,
    [ESPL_WRITE_WORLD_POSITION] = VECTOR,
    [ESPL_WRITE_WORLD_ROTATION] = ROTATION,
    [ESPL_WRITE_WORLD_SCALE] = SCALAR,
    [ESPL_WRITE_WORLD_TRANSFORM] = TRANSFORM,
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = VECTOR,
    [ESPL_WRITE_ROTATE_IN_PARENT] = ROTATION,
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = TRANSFORM,
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = TRANSFORM,
    [ESPL_WRITE_TRANSLATE_WORLD] = VECTOR,
    [ESPL_WRITE_ROTATE_WORLD] = ROTATION,
    [ESPL_WRITE_TRANSFORM_WORLD] = TRANSFORM,
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = TRANSFORM,
    [ESPL_WRITE_MULTIPLY_SCALE] = SCALAR,
    [ESPL_WRITE_MULTIPLY_STRETCH] = VECTOR,
};

// The kinds that the recorded hashes know, in the order that the dice know. Kinds that came later are not
// in it, because the dice would choose others.
static const espl_write_kind kinds[] = {
    ESPL_WRITE_LOCAL_POSITION,
    ESPL_WRITE_LOCAL_ROTATION,
    ESPL_WRITE_LOCAL_SCALE,
    ESPL_WRITE_LOCAL_POSE,
    ESPL_WRITE_LOCAL_TRANSFORM,
    ESPL_WRITE_STRETCH,
    ESPL_WRITE_USER_DATA,
    ESPL_WRITE_WORLD_POSITION,
    ESPL_WRITE_WORLD_ROTATION,
    ESPL_WRITE_WORLD_SCALE,
    ESPL_WRITE_WORLD_TRANSFORM,
    ESPL_WRITE_TRANSLATE_IN_PARENT,
    ESPL_WRITE_ROTATE_IN_PARENT,
    ESPL_WRITE_TRANSFORM_IN_PARENT,
    ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT,
    ESPL_WRITE_TRANSLATE_WORLD,
    ESPL_WRITE_ROTATE_WORLD,
    ESPL_WRITE_TRANSFORM_WORLD,
    ESPL_WRITE_INVERSE_TRANSFORM_WORLD,
    ESPL_WRITE_MULTIPLY_SCALE,
    ESPL_WRITE_MULTIPLY_STRETCH,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

// --- What is written ---

static espl_write_value draw_value(tape *t, espl_write_kind kind)
{
    espl_write_value value = {.transform = espl_transform_identity()};

    if (kind == ESPL_WRITE_STRETCH || kind == ESPL_WRITE_MULTIPLY_STRETCH) {
        golden_stretch(&t->dice, value.stretch);
        return value;
    }
    switch (types[kind]) {
    case VECTOR:
        for (int i = 0; i < 3; ++i) {
            value.position[i] = golden_number(&t->dice);
        }
        break;
    case ROTATION:
        golden_rotation(&t->dice, value.rotation);
        break;
    case SCALAR:
        value.scale = golden_scale(&t->dice);
        break;
    case TRANSFORM:
        value.transform = golden_transform(&t->dice);
        // The recorded hashes are of a library that refused a pose for the stretch beside it.
        for (int i = 0; i < 3 && kind == ESPL_WRITE_LOCAL_POSE; ++i) {
            if (!isfinite(value.transform.stretch[i])) {
                value.transform.scale = NAN;
            }
        }
        break;
    case WORD:
        value.user_data = t->dice.is_bare ? 0 : golden_below(&t->dice, 3);
        break;
    }
    return value;
}

espl_write tape_draw_write(tape *t)
{
    espl_write write = {0};

    write.entity = tape_pick(t);
    write.kind = kinds[golden_below(&t->dice, KINDS)];
    write.value = draw_value(t, write.kind);
    return write;
}

// --- By function ---

void tape_write(tape *t)
{
    const espl_write write = tape_draw_write(t);

    tape_note_status(t, write_by_function(t->world, &write));
    tape_note_placement(t, write.entity);
    t->writes += 1;
}

void tape_look_at(tape *t)
{
    const espl_entity entity = tape_pick(t);
    const bool has_up = golden_one_in(&t->dice, 2);
    float target[3], up[3];

    for (int i = 0; i < 3; ++i) {
        target[i] = golden_number(&t->dice);
        up[i] = golden_number(&t->dice);
    }
    tape_note_status(t,
                     espl_look_at(t->world, entity, target, has_up ? up : NULL, ESPL_AXIS_FORWARD));
    tape_note_placement(t, entity);
    t->writes += 1;
}

void tape_rotate_about(tape *t)
{
    const espl_entity entity = tape_pick(t);
    float pivot[3], by[4];

    for (int i = 0; i < 3; ++i) {
        pivot[i] = golden_number(&t->dice);
    }
    golden_rotation(&t->dice, by);
    tape_note_status(t, espl_rotate_about(t->world, entity, pivot, by));
    tape_note_placement(t, entity);
    t->writes += 1;
}

void tape_set_inherit(tape *t)
{
    const espl_entity entity = tape_pick(t);

    tape_note_status(t, espl_set_inherit(t->world, entity, tape_draw_flags(t)));
    tape_note_placement(t, entity);
}

// --- Batches ---

static void note_batch(tape *t, espl_status status, const espl_write_report *report)
{
    tape_note_status(t, status);
    tape_note_size(t, report->applied);
    tape_note_size(t, report->lossy);
    tape_note_size(t, report->refused);
    if (report->refused != 0) {
        tape_note_size(t, report->first_refused);
        tape_note_status(t, report->first_status);
    }
    t->writes += (uint32_t)(report->applied + report->refused);
}

void tape_write_batch(tape *t)
{
    const uint32_t count = 1 + golden_below(&t->dice, BATCH_LIMIT);
    espl_write writes[BATCH_LIMIT];
    espl_write_report report;

    for (uint32_t i = 0; i < count; ++i) {
        writes[i] = tape_draw_write(t);
    }
    const espl_status status = espl_write_batch(t->world, writes, count, &report);

    note_batch(t, status, &report);
    for (uint32_t i = 0; i < count; ++i) {
        tape_note_placement(t, writes[i].entity);
    }
}

// Entities and values of one kind apart.
typedef struct columns {
    espl_entity entities[BATCH_LIMIT];
    float vectors[BATCH_LIMIT][3], rotations[BATCH_LIMIT][4], scalars[BATCH_LIMIT];
    espl_transform transforms[BATCH_LIMIT];
} columns;

static void draw_columns(tape *t, columns *c, espl_write_kind kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        c->entities[i] = tape_pick(t);
        const espl_write_value value = draw_value(t, kind);

        memcpy(c->vectors[i], value.position, sizeof c->vectors[i]);
        memcpy(c->rotations[i], value.rotation, sizeof c->rotations[i]);
        memcpy(&c->scalars[i], &value.scale, sizeof c->scalars[i]);
        c->transforms[i] = value.transform;
    }
}

static espl_status write_columns(espl_world *world, espl_write_kind kind, const columns *c,
                                 uint32_t count, espl_write_report *report)
{
    switch (types[kind]) {
    case VECTOR:
        return espl_write_strided(world, kind, c->entities, count, sizeof(espl_entity), c->vectors,
                                  sizeof(float[3]), report);
    case ROTATION:
        return espl_write_strided(world, kind, c->entities, count, sizeof(espl_entity),
                                  c->rotations, sizeof(float[4]), report);
    case TRANSFORM:
        return espl_write_strided(world, kind, c->entities, count, sizeof(espl_entity),
                                  c->transforms, sizeof(espl_transform), report);
    case WORD: // the recorded hashes are of a library that refused these as a whole
        memset(report, 0, sizeof *report);
        return ESPL_ERR_ARGUMENT;
    case SCALAR:
        break;
    }
    return espl_write_strided(world, kind, c->entities, count, sizeof(espl_entity), c->scalars,
                              sizeof(float), report);
}

void tape_write_short(tape *t)
{
    const uint32_t count = 1 + golden_below(&t->dice, BATCH_LIMIT);
    const espl_write_kind kind = kinds[golden_below(&t->dice, KINDS)];
    espl_write_report report;
    columns c;

    draw_columns(t, &c, kind, count);
    const espl_status status = write_columns(t->world, kind, &c, count, &report);

    note_batch(t, status, &report);
    for (uint32_t i = 0; i < count; ++i) {
        tape_note_placement(t, c.entities[i]);
    }
}

void tape_heal(tape *t)
{
    static espl_transform locals[TAPE_ENTITY_LIMIT];
    golden_dice plain = {.state = golden_random(&t->dice), .is_bare = t->dice.is_bare};
    espl_write_report report;

    for (uint32_t i = 0; i < t->count; ++i) {
        locals[i] = golden_transform(&plain);
    }
    const espl_status status =
        espl_write_strided(t->world, ESPL_WRITE_LOCAL_TRANSFORM, t->entities, t->count,
                           sizeof(espl_entity), locals, sizeof(espl_transform), &report);

    note_batch(t, status, &report);
}
