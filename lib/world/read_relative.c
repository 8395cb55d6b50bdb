// SPDX-License-Identifier: MIT
// Reads relative to an origin (espalier/far.h): the difference of cells is an integer, the sum is a double, and
// each coordinate is rounded once. Their checks come in the order that read.c has.
#include "lib/tree/cells.h"
#include "lib/world/read.h"
#include "lib/world/refusals.h"

#include <espalier/far.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const lacks_cells_of_origin =
    "The world has no cells (espl_world_def.cell_size).";

espl_status espl_get_origin(const espl_world *world, espl_entity entity, espl_origin *out)
{
    uint32_t slot = 0;
    const espl_status status = espl__find_to_read(world, entity, out, &slot);

    if (status == ESPL_OK) {
        const espl__cell cell = espl__cell_of(&world->forest, slot);

        memcpy(out->cell, cell.at, sizeof out->cell);
        memcpy(out->offset, world->forest.world[slot].position, sizeof out->offset);
    }
    return espl__refuse_why(world, "espl_get_origin", entity, status, espl__no_out);
}

// Why an origin is refused, or ESPL_OK.
static espl_status check_origin(const espl_world *world, const espl_origin *origin)
{
    if (world == NULL || origin == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__all_finite(origin->offset, 3)) {
        return ESPL_ERR_NOT_FINITE;
    }
    return (origin->cell[0] | origin->cell[1] | origin->cell[2]) != 0 &&
                   !espl__forest_has_cells(&world->forest)
               ? ESPL_ERR_UNSUPPORTED
               : ESPL_OK;
}

static const char *origin_fault(const espl_origin *origin, espl_status status)
{
    if (origin == NULL) {
        return "origin is NULL.";
    }
    return status == ESPL_ERR_NOT_FINITE ? "origin->offset has a number that is NaN or infinite."
                                         : lacks_cells_of_origin;
}

// Return a position of a slot relative to an origin.
static void relative_position(const espl_world *world, uint32_t slot, const espl_origin *origin,
                              const float position[ESPL__LEAST 3], float out[ESPL__LEAST 3])
{
    const espl__forest *const forest = &world->forest;
    const espl__cell cell = espl__cell_of(forest, slot);

    for (int i = 0; i < 3; ++i) {
        const double cells = (double)((int64_t)cell.at[i] - origin->cell[i]);

        out[i] = (float)(cells * (double)forest->cell_size +
                         ((double)position[i] - (double)origin->offset[i]));
    }
}

// Return the pose of a slot relative to an origin.
static espl_pose relative_pose(const espl_world *world, uint32_t slot, const espl_origin *origin,
                               bool is_shown)
{
    const espl_pose from =
        is_shown ? espl__shown_world(&world->forest, slot) : world->forest.world[slot];
    espl_pose pose = from;

    relative_position(world, slot, origin, from.position, pose.position);
    return pose;
}

// The kinds that can be read so, with the bytes of a transform that each has.
static bool find_kind(espl_read_kind kind, bool *is_shown, size_t *begin, size_t *size)
{
    *is_shown = kind >= ESPL_READ_SHOWN_POSITION;
    *begin = 0;
    switch (kind) {
    case ESPL_READ_WORLD_POSITION:
    case ESPL_READ_SHOWN_POSITION:
        *begin = offsetof(espl_transform, position);
        *size = sizeof(float[3]);
        return true;
    case ESPL_READ_WORLD_POSE:
    case ESPL_READ_SHOWN_POSE:
        *size = sizeof(espl_pose);
        return true;
    case ESPL_READ_WORLD_TRANSFORM:
    case ESPL_READ_SHOWN_TRANSFORM:
        *size = sizeof(espl_transform);
        return true;
    default:
        return false;
    }
}

// What is wrong with the arguments besides the origin, or NULL.
static const char *find_relative_fault(bool is_kind, size_t size, const espl_entity *entities,
                                       size_t count, size_t entity_stride, const void *out,
                                       size_t out_stride)
{
    if (!is_kind) {
        return "kind is none that can be read relative to an origin.";
    }
    if (count != 0 && (entities == NULL || out == NULL)) {
        return entities == NULL ? "entities is NULL, but the count is not 0."
                                : "out is NULL, but the count is not 0.";
    }
    if (out_stride < size || out_stride % 4 != 0) {
        return "out_stride is less than the size of what the kind reads, or no multiple of 4.";
    }
    return entity_stride < sizeof(espl_entity) || entity_stride % _Alignof(espl_entity) != 0
               ? "entity_stride is less than the size of an espl_entity, or no multiple of 4."
               : NULL;
}

// Log the first entry that was refused.
static ESPL__APART void refuse_entry(const espl_world *world, espl_entity entity, size_t number,
                                     size_t count, espl_status status)
{
    const espl__refused_at at = {number, count, NULL};
    const espl__mention named = {"entity", entity};

    (void)espl__refuse_at(world, "espl_read_relative", &at, &named, 1, status);
}

espl_status espl_read_relative(const espl_world *world, const espl_origin *origin,
                               espl_read_kind kind, const espl_entity *entities, size_t count,
                               size_t entity_stride, void *out, size_t out_stride)
{
    static const char *const call = "espl_read_relative";
    bool is_shown = false;
    size_t begin = 0, size = 0, refused = 0;
    const bool is_kind = find_kind(kind, &is_shown, &begin, &size);
    const char *const fault =
        find_relative_fault(is_kind, size, entities, count, entity_stride, out, out_stride);
    const espl_status status = fault != NULL ? ESPL_ERR_ARGUMENT : check_origin(world, origin);
    espl_status first = ESPL_OK;

    if (status != ESPL_OK) {
        return espl__refuse_call(world, call, status,
                                 fault != NULL ? fault : origin_fault(origin, status));
    }
    for (size_t i = 0; i < count; ++i) {
        unsigned char *const to = (unsigned char *)out + i * out_stride;
        espl_entity entity;
        uint32_t slot = 0;

        memcpy(&entity, (const unsigned char *)entities + i * entity_stride, sizeof entity);
        const espl_status found = espl__find_to_read(world, entity, to, &slot);

        if (found == ESPL_OK) {
            const espl_pose pose = relative_pose(world, slot, origin, is_shown);
            const espl__extra extra = espl__slot_extra(&world->forest, slot);
            const espl_transform transform = espl__transform_of(&pose, &extra);

            memcpy(to, (const unsigned char *)&transform + begin, size);
        } else if (first == ESPL_OK) {
            first = found;
            refused = i;
        }
    }
    if (first != ESPL_OK) {
        espl_entity entity;

        memcpy(&entity, (const unsigned char *)entities + refused * entity_stride, sizeof entity);
        refuse_entry(world, entity, refused, count, first);
    }
    return first != ESPL_OK ? ESPL_PARTLY : ESPL_OK;
}

espl_status espl_get_relative_matrix(const espl_world *world, espl_entity entity,
                                     const espl_origin *origin, espl_matrix_form form, float *out)
{
    uint32_t slot = 0;
    espl_status status = espl__find_to_read(world, entity, out, &slot);

    if (status == ESPL_OK) {
        status = check_origin(world, origin);
    }
    if (status == ESPL_OK && (unsigned)form >= ESPL_MATRIX_FORM_COUNT) {
        status = ESPL_ERR_ARGUMENT;
    }
    if (status == ESPL_OK) {
        const espl_pose pose = relative_pose(world, slot, origin, false);
        const espl__extra extra = espl__slot_extra(&world->forest, slot);
        const espl_transform transform = espl__transform_of(&pose, &extra);

        espl_transform_to_matrix(&transform, form, out);
        status = form == ESPL_MATRIX_4X4_INVERSE && espl__transform_is_flat(&transform) ? ESPL_LOSSY
                                                                                        : ESPL_OK;
    }
    return espl__refuse_why(world, "espl_get_relative_matrix", entity, status,
                            out == NULL ? espl__no_out
                            : origin == NULL || status != ESPL_ERR_ARGUMENT
                                ? origin_fault(origin, status)
                                : "form is none of espl_matrix_form.");
}
