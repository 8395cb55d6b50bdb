// SPDX-License-Identifier: MIT
// Make a write by the function that is named after its kind. This is a header alone, because the golden
// tape is built without the sources that the suites share.
#ifndef ESPALIER_TESTS_NAMED_WRITES_H
#define ESPALIER_TESTS_NAMED_WRITES_H

#include <espalier/espalier.h>

typedef espl_status (*vector_function)(espl_world *, espl_entity, const float *);
typedef espl_status (*scalar_function)(espl_world *, espl_entity, float);

// For kinds whose value is a position, a rotation or a stretch.
static const vector_function vector_functions[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_POSITION] = espl_set_local_position,
    [ESPL_WRITE_LOCAL_ROTATION] = espl_set_local_rotation,
    [ESPL_WRITE_STRETCH] = espl_set_stretch,
    [ESPL_WRITE_WORLD_POSITION] = espl_set_world_position,
    [ESPL_WRITE_WORLD_ROTATION] = espl_set_world_rotation,
    [ESPL_WRITE_TRANSLATE_OWN] = espl_translate_own,
    [ESPL_WRITE_ROTATE_OWN] = espl_rotate_own,
};

static const scalar_function scalar_functions[ESPL_WRITE_KIND_COUNT] = {
    [ESPL_WRITE_LOCAL_SCALE] = espl_set_local_scale,
    [ESPL_WRITE_WORLD_SCALE] = espl_set_world_scale,
};

/// Make a write by the function that is named after its kind, by espl_write_one() where there is none,
/// and where the kind has a flag.
static inline espl_status write_by_function(espl_world *world, const espl_write *w)
{
    if ((unsigned)w->kind >= ESPL_WRITE_KIND_COUNT) {
        return espl_write_one(world, w->entity, w->kind, &w->value);
    }
    if (w->kind == ESPL_WRITE_LOCAL_POSE) {
        return espl_set_local_pose(world, w->entity, &w->value.pose);
    }
    if (w->kind == ESPL_WRITE_WORLD_POSE) {
        return espl_set_world_pose(world, w->entity, &w->value.pose);
    }
    if (w->kind == ESPL_WRITE_LOCAL_TRANSFORM) {
        return espl_set_local_transform(world, w->entity, &w->value.transform);
    }
    if (w->kind == ESPL_WRITE_WORLD_TRANSFORM) {
        return espl_set_world_transform(world, w->entity, &w->value.transform);
    }
    if (w->kind == ESPL_WRITE_USER_DATA) {
        return espl_set_user_data(world, w->entity, w->value.user_data);
    }
    if (scalar_functions[w->kind] != NULL) {
        return scalar_functions[w->kind](world, w->entity, w->value.scale);
    }
    if (vector_functions[w->kind] != NULL) {
        return vector_functions[w->kind](world, w->entity, w->value.position);
    }
    return espl_write_one(world, w->entity, w->kind, &w->value);
}

#endif
