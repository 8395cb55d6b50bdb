// SPDX-License-Identifier: MIT
// Reads of transforms that compute: between frames, conversions, axes and matrices. Their checks come in the
// order that read.c has.
#include "lib/world/read.h"

#include "lib/tree/cells.h"
#include "lib/tree/motion.h"
#include "lib/tree/path.h"
#include "lib/world/refusals.h"

#include <espalier/motion.h>

// --- Between frames ---

// Bring two transforms of different cells near the origin: the frame into it, and the entity to the
// difference, which is rounded once.
static void subtract_cells(const espl__forest *forest, uint32_t frame, uint32_t slot,
                           espl_transform *parent, espl_transform *wanted)
{
    const espl__cell_shift shift = espl__cell_shift_between(forest, slot, frame);

    for (int i = 0; i < 3 && shift.is_any; ++i) {
        wanted->position[i] =
            (float)(shift.by[i] + ((double)wanted->position[i] - (double)parent->position[i]));
        parent->position[i] = 0;
    }
}

// Compute the transform of an entity relative to a frame. Both handles are checked before anything
// is computed, the frame first. `out` is written only where the result is finite, because a tiny
// scale of the frame may overflow the division.
static espl_status find_relative(const espl_world *world, espl_entity frame, espl_entity entity,
                                 espl_transform *out)
{
    uint32_t above = 0, slot = 0;
    espl_status status = espl__find_to_read(world, frame, out, &above);

    status = status != ESPL_OK ? status : espl__find_to_read(world, entity, out, &slot);
    if (status != ESPL_OK) {
        return status;
    }
    espl_transform parent = espl__read_world(world, above);
    espl_transform wanted = espl__read_world(world, slot);
    espl_transform local = espl__transform_identity();
    espl_pose pose;

    // Within a hierarchy by locals, because worlds lose precision far from the origin.
    if (espl__path_relative(&world->forest, above, slot, &pose)) {
        const espl__extra extra = espl__slot_extra(&world->forest, slot);

        *out = espl__transform_of(&pose, &extra);
        return ESPL_OK;
    }
    subtract_cells(&world->forest, above, slot, &parent, &wanted);
    status = espl_transform_relative(&parent, &wanted, &local);
    if (!espl__transform_is_finite(&local)) {
        return ESPL_ERR_RANGE;
    }
    *out = local;
    return status;
}

espl_status espl_get_relative_transform(const espl_world *world, espl_entity frame,
                                        espl_entity entity, espl_transform *out)
{
    const espl__mention named[2] = {{"entity", entity}, {"frame", frame}};

    return espl__refuse_named(world, "espl_get_relative_transform", named, 2,
                              find_relative(world, frame, entity, out), espl__no_out);
}

// A NULL value and a conversion that does not exist are both ESPL_ERR_ARGUMENT; the sentence in the
// log tells which. Only conversions to local axes divide, so only they can be lossy. `out` may be
// `value`.
espl_status espl_convert(const espl_world *world, espl_entity entity, espl_conversion conversion,
                         const float value[3], float out[3])
{
    uint32_t slot = 0;
    espl_status status = espl__find_to_read(world, entity, out, &slot);

    if (status == ESPL_OK && (value == NULL || (unsigned)conversion >= ESPL_CONVERSION_COUNT)) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        const espl_transform frame = espl__read_world(world, slot);
        const bool divides =
            conversion == ESPL_POINT_TO_LOCAL || conversion == ESPL_VECTOR_TO_LOCAL;

        espl_transform_convert(&frame, conversion, value, out);
        status = divides && espl__transform_is_flat(&frame) ? ESPL_LOSSY : ESPL_OK;
    }
    return espl__refuse_why(world, "espl_convert", entity, status,
                            out == NULL     ? espl__no_out
                            : value == NULL ? "value is NULL."
                                            : "conversion is none of espl_conversion.");
}

// The rotation alone decides the axis: a negative scale mirrors the node but does not turn the
// axis.
espl_status espl_get_axis(const espl_world *world, espl_entity entity, espl_axis axis, float out[3])
{
    uint32_t slot = 0;
    espl_status status = espl__find_to_read(world, entity, out, &slot);

    if (status == ESPL_OK && (unsigned)axis > ESPL_AXIS_BACK) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        const espl_transform frame = espl__read_world(world, slot);

        espl_transform_axis(&frame, axis, out);
    }
    return espl__refuse_why(world, "espl_get_axis", entity, status,
                            out == NULL ? espl__no_out : "axis is none of espl_axis.");
}

// --- Matrices ---

// The matrix of the world of an entity, or of its shown world.
typedef espl_transform read_transform(const espl_world *world, uint32_t slot);

// A matrix with a flat axis is exact; only its inverse loses a row, and is lossy.
static espl_status get_matrix(const espl_world *world, const char *call, espl_entity entity,
                              espl_matrix_form form, read_transform *read, float *out)
{
    uint32_t slot = 0;
    espl_status status = espl__find_to_read(world, entity, out, &slot);

    if (status == ESPL_OK && (unsigned)form >= ESPL_MATRIX_FORM_COUNT) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        const espl_transform transform = read(world, slot);

        espl_transform_to_matrix(&transform, form, out);
        status = form == ESPL_MATRIX_4X4_INVERSE && espl__transform_is_flat(&transform) ? ESPL_LOSSY
                                                                                        : ESPL_OK;
    }
    return espl__refuse_why(world, call, entity, status,
                            out == NULL ? espl__no_out : "form is none of espl_matrix_form.");
}

espl_status espl_get_matrix(const espl_world *world, espl_entity entity, espl_matrix_form form,
                            float *out)
{
    return get_matrix(world, "espl_get_matrix", entity, form, espl__read_world, out);
}

static espl_transform read_shown(const espl_world *world, uint32_t slot)
{
    const espl_pose pose = espl__shown_world(&world->forest, slot);
    const espl__extra extra = espl__slot_extra(&world->forest, slot);

    return espl__transform_of(&pose, &extra);
}

espl_status espl_get_shown_matrix(const espl_world *world, espl_entity entity,
                                  espl_matrix_form form, float *out)
{
    return get_matrix(world, "espl_get_shown_matrix", entity, form, read_shown, out);
}
