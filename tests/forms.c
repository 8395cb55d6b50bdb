// SPDX-License-Identifier: MIT
#include "tests/forms.h"

#include "tests/asserts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind_row {
    const char *name;
    value_type type;
} kind_row;

static const kind_row kinds[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = {"set_local_position", VALUE_POSITION},
    [ESPL_WRITE_LOCAL_ROTATION] = {"set_local_rotation", VALUE_ROTATION},
    [ESPL_WRITE_LOCAL_SCALE] = {"set_local_scale", VALUE_SCALE},
    [ESPL_WRITE_LOCAL_POSE] = {"set_local_pose", VALUE_TRANSFORM},
    [ESPL_WRITE_LOCAL_TRANSFORM] = {"set_local", VALUE_TRANSFORM},
    [ESPL_WRITE_STRETCH] = {"set_stretch", VALUE_STRETCH},
    [ESPL_WRITE_USER_DATA] = {"set_context", VALUE_CONTEXT},
    [ESPL_WRITE_WORLD_POSITION] = {"set_world_position", VALUE_POSITION},
    [ESPL_WRITE_WORLD_ROTATION] = {"set_world_rotation", VALUE_ROTATION},
    [ESPL_WRITE_WORLD_SCALE] = {"set_world_scale", VALUE_SCALE},
    [ESPL_WRITE_WORLD_TRANSFORM] = {"set_world", VALUE_TRANSFORM},
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = {"translate_local", VALUE_POSITION},
    [ESPL_WRITE_ROTATE_IN_PARENT] = {"rotate_local", VALUE_ROTATION},
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = {"transform_local", VALUE_TRANSFORM},
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = {"inverse_transform_local", VALUE_TRANSFORM},
    [ESPL_WRITE_TRANSLATE_WORLD] = {"translate_world", VALUE_POSITION},
    [ESPL_WRITE_ROTATE_WORLD] = {"rotate_world", VALUE_ROTATION},
    [ESPL_WRITE_TRANSFORM_WORLD] = {"transform_world", VALUE_TRANSFORM},
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = {"inverse_transform_world", VALUE_TRANSFORM},
    [ESPL_WRITE_MULTIPLY_SCALE] = {"multiply_scale", VALUE_SCALE},
    [ESPL_WRITE_MULTIPLY_STRETCH] = {"multiply_stretch", VALUE_STRETCH},
};

static bool is_kind(espl_write_kind kind)
{
    return (unsigned)kind < ESPL_WRITE_KIND_COUNT;
}

value_type form_type(espl_write_kind kind)
{
    return kinds[kind].type;
}

const char *form_name(espl_write_kind kind)
{
    return is_kind(kind) ? kinds[kind].name : "no kind";
}

bool form_has_short(espl_write_kind kind)
{
    return is_kind(kind) && kinds[kind].type != VALUE_CONTEXT;
}

// --- By function ---

typedef espl_status (*vector_function)(espl_world *, espl_entity, const float *);
typedef espl_status (*scalar_function)(espl_world *, espl_entity, float);
typedef espl_status (*transform_function)(espl_world *, espl_entity, const espl_transform *);

// Of positions, rotations and stretches.
static const vector_function vector_functions[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = espl_set_local_position,
    [ESPL_WRITE_LOCAL_ROTATION] = espl_set_local_rotation,
    [ESPL_WRITE_STRETCH] = espl_set_stretch,
    [ESPL_WRITE_WORLD_POSITION] = espl_set_world_position,
    [ESPL_WRITE_WORLD_ROTATION] = espl_set_world_rotation,
    [ESPL_WRITE_TRANSLATE_IN_PARENT] = espl_translate_in_parent,
    [ESPL_WRITE_ROTATE_IN_PARENT] = espl_rotate_in_parent,
    [ESPL_WRITE_TRANSLATE_WORLD] = espl_translate_world,
    [ESPL_WRITE_ROTATE_WORLD] = espl_rotate_world,
    [ESPL_WRITE_MULTIPLY_STRETCH] = espl_multiply_stretch,
};

static const scalar_function scalar_functions[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_SCALE] = espl_set_local_scale,
    [ESPL_WRITE_WORLD_SCALE] = espl_set_world_scale,
    [ESPL_WRITE_MULTIPLY_SCALE] = espl_multiply_scale,
};

static const transform_function transform_functions[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSE] = espl_set_local_pose,
    [ESPL_WRITE_LOCAL_TRANSFORM] = espl_set_local_transform,
    [ESPL_WRITE_WORLD_TRANSFORM] = espl_set_world_transform,
    [ESPL_WRITE_TRANSFORM_IN_PARENT] = espl_transform_in_parent,
    [ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT] = espl_inverse_transform_in_parent,
    [ESPL_WRITE_TRANSFORM_WORLD] = espl_transform_world,
    [ESPL_WRITE_INVERSE_TRANSFORM_WORLD] = espl_inverse_transform_world,
};

static espl_status write_by_function(espl_world *world, const espl_write *w)
{
    switch (kinds[w->kind].type) {
    case VALUE_SCALE:
        return scalar_functions[w->kind](world, w->entity, w->value.scale);
    case VALUE_CONTEXT:
        return espl_set_user_data(world, w->entity, w->value.user_data);
    case VALUE_TRANSFORM:
        return transform_functions[w->kind](world, w->entity, &w->value.transform);
    case VALUE_POSITION:
    case VALUE_ROTATION:
    case VALUE_STRETCH:
        break;
    }
    return vector_functions[w->kind](world, w->entity, w->value.position);
}

// --- As a batch ---

static void *taken(size_t count, size_t size)
{
    void *const block = malloc(count * size + 1);

    if (block == NULL) {
        ck_abort_msg("no memory");
    }
    return block;
}

// Arrays of entities and of values, each value `size` bytes.
static void *gathered(const espl_write *writes, size_t count, size_t size, espl_entity *entities)
{
    unsigned char *const values = taken(count, size);

    for (size_t i = 0; i < count; ++i) {
        entities[i] = writes[i].entity;
        memcpy(values + i * size, &writes[i].value, size);
    }
    return values;
}

// What a caller keeps of a node.
typedef struct bone {
    uint32_t before;
    espl_entity entity;
    espl_pose local;
    uint32_t behind;
} bone;

// Tell whether poses say all that these writes do.
static bool are_poses(const espl_write *writes, size_t count)
{
    bool are_fine = writes[0].kind == ESPL_WRITE_LOCAL_POSE;

    for (size_t i = 0; i < count && are_fine; ++i) {
        const float *const stretch = writes[i].value.transform.stretch;

        are_fine = isfinite(stretch[0]) && isfinite(stretch[1]) && isfinite(stretch[2]);
    }
    return are_fine;
}

static espl_status write_poses(espl_world *world, const espl_write *writes, size_t count,
                               espl_write_report *report)
{
    bone *const bones = taken(count, sizeof *bones);

    for (size_t i = 0; i < count; ++i) {
        // What stands around them is no number.
        memset(&bones[i], 0xFF, sizeof bones[i]);
        bones[i].entity = writes[i].entity;
        memcpy(&bones[i].local, &writes[i].value, sizeof bones[i].local);
    }
    const espl_status status = espl_write_poses(world, &bones->entity, sizeof *bones, &bones->local,
                                                sizeof *bones, count, report);

    free(bones);
    return status;
}

static espl_status write_short(espl_world *world, const espl_write *writes, size_t count,
                               espl_write_report *report)
{
    static const size_t sizes[] = {[VALUE_POSITION] = sizeof(float[3]),
                                   [VALUE_ROTATION] = sizeof(float[4]),
                                   [VALUE_SCALE] = sizeof(float),
                                   [VALUE_STRETCH] = sizeof(float[3]),
                                   [VALUE_TRANSFORM] = sizeof(espl_transform)};
    const espl_write_kind kind = writes[0].kind;
    const value_type type = form_type(kind);

    // As often as not, by what the writes are.
    if ((writes[0].entity.index + count) % 2 == 0 && are_poses(writes, count)) {
        return write_poses(world, writes, count, report);
    }
    espl_entity *const entities = taken(count, sizeof *entities);
    void *const values = gathered(writes, count, sizes[type], entities);
    espl_status status = ESPL_OK;

    if (type == VALUE_ROTATION) {
        status = espl_write_rotations(world, kind, entities, values, count, report);
    } else if (type == VALUE_SCALE) {
        status = espl_write_scalars(world, kind, entities, values, count, report);
    } else if (type == VALUE_TRANSFORM) {
        status = espl_write_transforms(world, kind, entities, values, count, report);
    } else {
        status = espl_write_vectors(world, kind, entities, values, count, report);
    }
    free(entities);
    free(values);
    return status;
}

espl_status form_write_all(espl_world *world, const espl_write *writes, size_t count,
                           write_form form, espl_write_report *report)
{
    return form == FORM_SHORT && count != 0 && form_has_short(writes[0].kind)
               ? write_short(world, writes, count, report)
               : espl_write_batch(world, writes, count, report);
}

espl_status form_write(espl_world *world, const espl_write *write, write_form form)
{
    espl_write_report report;

    if (is_kind(write->kind) &&
        (form == FORM_FUNCTION || (form == FORM_SHORT && !form_has_short(write->kind)))) {
        return write_by_function(world, write);
    }
    memset(&report, 0xA5, sizeof report);
    const espl_status status = form_write_all(world, write, 1, form, &report);
    const bool is_refused = status == ESPL_PARTLY;
    const bool is_done = status == ESPL_OK || status == ESPL_LOSSY || status == ESPL_OVERFLOW;

    // Refused as a whole, the account is all zeros.
    if (report.applied != is_done || report.lossy > report.applied ||
        (status != ESPL_OVERFLOW && report.lossy != (status == ESPL_LOSSY)) ||
        (!is_refused && (report.overflowed != 0) != (status == ESPL_OVERFLOW)) ||
        report.refused != is_refused || (is_refused && report.first_refused != 0) ||
        (is_refused && report.first_status >= 0)) {
        ck_abort_msg("the account of one write is wrong");
    }
    return is_refused ? report.first_status : status;
}
