// SPDX-License-Identifier: MIT
// Who lives in a world, and all that can be read of them.
#include "tests/asked.h"
#include "tests/golden/tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void tape_fail(const tape *t, const char *what)
{
    fprintf(stderr, "tape: shape %d, style %d, step %" PRIu32 ": %s\n", (int)t->shape,
            (int)t->style, t->steps, what);
    exit(EXIT_FAILURE);
}

// --- Who is there ---

static void list_one(tape *t, espl_entity entity)
{
    if (t->count < TAPE_ENTITY_LIMIT && entity.index < TAPE_INDEX_LIMIT &&
        t->known[entity.index] != entity.generation) {
        t->known[entity.index] = entity.generation;
        t->names[entity.index] = ++t->named;
        t->entities[t->count++] = entity;
    }
}

// Breadth first: the list is its own queue.
void tape_list(tape *t, espl_entity entity)
{
    uint32_t at = t->count;

    list_one(t, entity);
    for (; at < t->count; ++at) {
        espl_entity child = espl_get_first_child(t->world, t->entities[at]);

        while (!espl_entity_is_null(child)) {
            list_one(t, child);
            child = espl_get_next_sibling(t->world, child);
        }
    }
}

void tape_drop_dead(tape *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->count; ++i) {
        if (espl_is_alive(t->world, t->entities[i])) {
            t->entities[kept++] = t->entities[i];
        } else {
            t->dead = t->entities[i];
        }
    }
    t->count = kept;
}

espl_entity tape_pick(tape *t)
{
    const uint32_t odd = golden_below(&t->dice, 256);
    const uint32_t at = golden_below(&t->dice, t->count);

    return odd == 0 ? espl_entity_null() : odd == 1 ? t->dead : t->entities[at];
}

espl_entity tape_pick_parent(tape *t)
{
    return t->shape == TAPE_SOLOS ? espl_entity_null() : tape_pick(t);
}

// --- Placements and links ---

void tape_note_status(tape *t, espl_status status)
{
    t->hash = golden_hash_word(t->hash, (uint32_t)(int)status);
}

void tape_note_size(tape *t, size_t size)
{
    t->hash = golden_hash_word(t->hash, (uint32_t)size);
}

// Handles may be dealt otherwise by another version of the library, so an entity goes by its name.
static void note_entity(tape *t, espl_entity entity)
{
    const bool is_named =
        entity.index < TAPE_INDEX_LIMIT && t->known[entity.index] == entity.generation;

    t->hash = golden_hash_word(t->hash, espl_entity_is_null(entity) ? 0
                                        : is_named                  ? t->names[entity.index]
                                                                    : UINT32_MAX);
}

void tape_note_placement(tape *t, espl_entity entity)
{
    espl_transform world = espl_transform_identity(), local = world;

    tape_note_status(t, espl_get_world_transform(t->world, entity, &world));
    tape_note_status(t, espl_get_local_transform(t->world, entity, &local));
    t->hash = golden_hash_transform(t->hash, &world);
    t->hash = golden_hash_transform(t->hash, &local);
}

static void note_links(tape *t, espl_entity entity)
{
    note_entity(t, entity);
    note_entity(t, espl_get_parent(t->world, entity));
    note_entity(t, espl_get_next_sibling(t->world, entity));
    t->hash = golden_hash_word(t->hash, espl_get_depth(t->world, entity));
    t->hash = golden_hash_word(t->hash, espl_get_inherit(t->world, entity));
    t->hash = golden_hash_word(t->hash, (uint32_t)espl_get_link(t->world, entity));
    t->hash = golden_hash_word(t->hash, test_is_mirrored(t->world, entity));
}

void tape_note_all(tape *t)
{
    tape_note_size(t, t->count);
    for (uint32_t i = 0; i < t->count; ++i) {
        note_links(t, t->entities[i]);
        tape_note_placement(t, t->entities[i]);
    }
}

void tape_note_query(tape *t)
{
    const espl_query_def def = {0};
    espl_query query;

    tape_note_status(t, espl_query_begin(t->world, &def, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            t->rows = golden_hash_word(t->rows, query.entities[row].index);
            t->rows = golden_hash_word(t->rows, query.entities[row].generation);
            if (query.slots != NULL) {
                const espl_pose *const pose = &query.world_poses[query.slots[row]];

                t->rows = golden_hash_floats(t->rows, pose->rotation, 4);
                t->rows = golden_hash_floats(t->rows, pose->position, 3);
                t->rows = golden_hash_floats(t->rows, &pose->scale, 1);
            }
        }
    }
}

// --- Other reads ---

static void note_floats(tape *t, espl_status status, const float *values, size_t count)
{
    tape_note_status(t, status);
    t->hash = golden_hash_floats(t->hash, values, count);
}

static void note_parts(tape *t, espl_entity entity)
{
    float out[4] = {0};
    uint32_t context = 0;

    note_floats(t, espl_get_world_position(t->world, entity, out), out, 3);
    note_floats(t, espl_get_world_rotation(t->world, entity, out), out, 4);
    note_floats(t, espl_get_world_scale(t->world, entity, out), out, 1);
    note_floats(t, espl_get_local_position(t->world, entity, out), out, 3);
    note_floats(t, espl_get_local_rotation(t->world, entity, out), out, 4);
    note_floats(t, espl_get_local_scale(t->world, entity, out), out, 1);
    note_floats(t, espl_get_stretch(t->world, entity, out), out, 3);
    tape_note_status(t, espl_get_user_data(t->world, entity, &context));
    t->hash = golden_hash_word(t->hash, context);
}

static void note_matrices(tape *t, espl_entity entity)
{
    float out[16] = {0};

    note_floats(t, espl_get_matrix(t->world, entity, ESPL_MATRIX_3X4, out), out, 12);
    note_floats(t, espl_get_matrix(t->world, entity, ESPL_MATRIX_4X4, out), out, 16);
    note_floats(t, espl_get_matrix(t->world, entity, ESPL_MATRIX_4X4_INVERSE, out), out, 16);
}

static void note_axes(tape *t, espl_entity entity)
{
    float out[3] = {0};

    for (int axis = ESPL_AXIS_RIGHT; axis <= ESPL_AXIS_BACK; ++axis) {
        note_floats(t, espl_get_axis(t->world, entity, (espl_axis)axis, out), out, 3);
    }
}

static void note_conversions(tape *t, espl_entity entity)
{
    float in[3], out[3] = {0};

    for (int i = 0; i < 3; ++i) {
        in[i] = golden_number(&t->dice);
    }
    for (int i = 0; i < ESPL_CONVERSION_COUNT; ++i) {
        note_floats(t, espl_convert(t->world, entity, (espl_conversion)i, in, out), out, 3);
    }
}

void tape_read(tape *t)
{
    const espl_entity frame = tape_pick(t);
    const espl_entity entity = tape_pick(t);
    espl_transform seen = espl_transform_identity();

    tape_note_status(t, espl_get_relative_transform(t->world, frame, entity, &seen));
    t->hash = golden_hash_transform(t->hash, &seen);
    note_parts(t, entity);
    note_matrices(t, entity);
    note_axes(t, entity);
    note_conversions(t, entity);
}
