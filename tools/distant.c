// SPDX-License-Identifier: MIT
#include "tools/distant.h"

#include <math.h>

tool_distance distance_choose(const tool_options *options, const tool_moment *rest)
{
    tool_distance distance = {.cell_size = options->cell_size};
    double extent = 0, farthest = 0;

    if (!options->has_offset) {
        return (tool_distance){0};
    }
    for (int i = 0; i < 3; ++i) {
        distance.offset[i] = options->offset[i];
        farthest = fmax(farthest, fabs(options->offset[i]));
    }
    for (size_t i = 0; i < rest->count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            extent = fmax(extent, fabs(rest->nodes[i].world.m[axis][3]));
        }
    }
    if (distance.cell_size == 0) {
        double size = 1;

        while (size < OPTIONS_CELL_MOST &&
               (size < extent || farthest > size * OPTIONS_CELLS_MOST)) {
            size *= 2;
        }
        distance.cell_size = (float)size;
    }
    return distance;
}

static bool read_place(const tool_stage *stage, espl_entity entity, int32_t cell[3],
                       double absolute[3], tool_fault *fault)
{
    return stage_went_well(stage,
                           espl_read_strided(stage->world, ESPL_READ_CELL, &entity, 1,
                                             sizeof entity, cell, 3 * sizeof *cell),
                           "espl_read_strided", fault) &&
           stage_went_well(stage,
                           espl_read_strided(stage->world, ESPL_READ_ABSOLUTE_POSITION, &entity, 1,
                                             sizeof entity, absolute, 3 * sizeof *absolute),
                           "espl_read_strided", fault);
}

/// Tell whether a root has the nearest cell of a position, and the position that is left there.
static bool is_nearest(const tool_distance *distance, const double place[3], const int32_t cell[3],
                       const espl_transform *world)
{
    const double size = (double)distance->cell_size;
    bool is_right = true;

    for (int i = 0; i < 3; ++i) {
        const double left = place[i] - cell[i] * size;

        is_right = is_right && fabs(left) <= size / 2 && world->position[i] == (float)left;
    }
    return is_right;
}

static bool place_root(const tool_distance *distance, const tool_stage *stage, espl_entity root,
                       const tool_placement *rest, tool_fault *fault)
{
    double place[3], absolute[3];
    int32_t cell[3];
    espl_transform world;

    for (int i = 0; i < 3; ++i) {
        place[i] = distance->offset[i] + rest->position[i];
    }
    const espl_status status = espl_write_strided(stage->world, ESPL_WRITE_ABSOLUTE_POSITION, &root,
                                                  1, sizeof root, place, sizeof place, NULL);

    if (!stage_went_well(stage, status, "espl_write_strided", fault) ||
        !read_place(stage, root, cell, absolute, fault) ||
        !stage_went_well(stage, espl_get_world_transform(stage->world, root, &world),
                         "espl_get_world_transform", fault)) {
        return false;
    }
    if (!is_nearest(distance, place, cell, &world)) {
        fault_say(fault,
                  "a root at %.17g, %.17g, %.17g has cell %d, %d, %d and position %g, %g, %g",
                  place[0], place[1], place[2], cell[0], cell[1], cell[2],
                  (double)world.position[0], (double)world.position[1], (double)world.position[2]);
        return false;
    }
    return true;
}

bool distance_place(const tool_distance *distance, const tool_stage *stage, const tool_scene *scene,
                    const tool_moment *rest, const espl_entity *nodes, tool_fault *fault)
{
    bool is_good = true;

    for (size_t i = 0; is_good && distance->cell_size != 0 && i < scene->node_count; ++i) {
        if (scene->nodes[i].parent == SCENE_NO_PARENT) {
            is_good = place_root(distance, stage, nodes[i], &rest->locals[i].place, fault);
        }
    }
    return is_good;
}

bool distance_frame(const tool_distance *distance, const tool_stage *stage, espl_entity entity,
                    oracle_frame *out, tool_fault *fault)
{
    double absolute[3], left[3];
    int32_t cell[3];

    *out = oracle_frame_identity();
    if (distance->cell_size == 0) {
        return true;
    }
    if (!read_place(stage, entity, cell, absolute, fault)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        // Exact: both are multiples of the smaller unit in the last place, and the difference is smaller.
        left[i] = distance->offset[i] - cell[i] * (double)distance->cell_size;
        out->matrix.m[i][3] = left[i];
    }
    out->reach = vector_length(left);
    return true;
}

bool distance_recenter(tool_distance *distance, const tool_stage *stage, tool_fault *fault)
{
    size_t moved = 0;

    if (distance->cell_size == 0) {
        return true;
    }
    const bool is_good =
        stage_went_well(stage, espl_recenter(stage->world, 0.5F, &moved), "espl_recenter", fault);
    distance->moved += moved;
    return is_good;
}

bool distance_compare(tool_distance *distance, const tool_stage *stage, espl_entity entity,
                      const tool_affine *expected, const espl_transform *world, tool_fault *fault)
{
    double absolute[3], off[3];
    int32_t cell[3];

    if (distance->cell_size == 0) {
        return true;
    }
    if (!read_place(stage, entity, cell, absolute, fault)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        const double truth = distance->offset[i] + expected->m[i][3];

        off[i] = (double)(float)truth - truth;
        if (absolute[i] != cell[i] * (double)distance->cell_size + (double)world->position[i]) {
            fault_say(fault, "an absolute position is %.17g in cell %d at %g", absolute[i], cell[i],
                      (double)world->position[i]);
            return false;
        }
    }
    distance->floats = fmax(distance->floats, vector_length(off));
    return true;
}
