// SPDX-License-Identifier: MIT
#include "tools/bounds.h"

#include <float.h>
#include <math.h>

/// Half the width of the box around a bone, as a share of its length.
#define BONE_WIDTH 0.12
/// Half the side of the box of a node in a scene without bones, scene units.
#define POINT_WIDTH 0.5

/// Return the length of the bone from a node's parent; 0 at the top.
static double bone_length(const scene_node *node)
{
    return node->parent == SCENE_NO_PARENT ? 0 : vector_length(node->rest.place.position);
}

/// Return the mean length of the bones of a scene, or what stands in for it where it has none.
static double mean_length(const tool_scene *scene)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < scene->node_count; ++i) {
        const double length = bone_length(&scene->nodes[i]);

        sum += length;
        count += length > 0;
    }
    return sum > 0 ? sum / (double)count : POINT_WIDTH / BONE_WIDTH;
}

/// Return the last number of a mesh.
static uint32_t last_number(const tool_scene *scene)
{
    uint32_t last = 0;

    for (size_t i = 0; i < scene->node_count; ++i) {
        const uint32_t number = scene->nodes[i].shape.number;

        last = number > last ? number : last;
    }
    return last;
}

static void round_box(espl_bounds *out, const scene_shape *shape, double margin)
{
    for (int i = 0; i < 3; ++i) {
        const double half = (shape->most[i] - shape->least[i]) / 2 + margin;

        out->center[i] = (float)((shape->least[i] + shape->most[i]) / 2);
        out->half[i] = (float)fmin(half, (double)FLT_MAX);
    }
}

void bounds_measure(const tool_scene *scene, node_bounds *out)
{
    const double mean = mean_length(scene);
    const uint32_t last = last_number(scene);

    // The box around a node's origin and its children's, filled by the children after it.
    for (uint32_t i = 0; i < scene->node_count; ++i) {
        const double length = bone_length(&scene->nodes[i]);
        const double margin = BONE_WIDTH * (length > 0 ? fmin(length, mean) : mean);

        out[i] = (node_bounds){.box = {.half = {(float)margin, (float)margin, (float)margin}},
                               .drawn = {.key = last + 1 + i, .user_data = i}};
    }
    for (size_t i = scene->node_count; i-- > 0;) {
        const scene_node *const node = &scene->nodes[i];
        const double *const at = node->rest.place.position;

        if (node->parent == SCENE_NO_PARENT || scene->nodes[node->parent].shape.number != 0) {
            continue;
        }
        espl_bounds *const box = &out[node->parent].box;
        scene_shape widened = {.number = 0};

        for (int axis = 0; axis < 3; ++axis) {
            const double margin = BONE_WIDTH * fmin(bone_length(node), mean);
            const double center = (double)box->center[axis], half = (double)box->half[axis];

            widened.least[axis] = fmin(center - half, at[axis] - margin);
            widened.most[axis] = fmax(center + half, at[axis] + margin);
        }
        round_box(box, &widened, 0);
    }
    for (size_t i = 0; i < scene->node_count; ++i) {
        const scene_shape *const shape = &scene->nodes[i].shape;

        if (shape->number != 0) {
            round_box(&out[i].box, shape, 0);
            out[i].drawn.key = shape->number - 1;
        }
    }
}

bool bounds_give(tool_stage *stage, const tool_scene *scene, const espl_entity *nodes,
                 const node_bounds *bounds, tool_fault *fault)
{
    const espl_component box = espl_component_find(stage->world, "bounds");
    const espl_component drawn = espl_component_find(stage->world, "renderable");
    bool is_good = true;

    for (size_t i = 0; is_good && i < scene->node_count; ++i) {
        const espl_component_value values[] = {
            {box, sizeof bounds[i].box, &bounds[i].box},
            {drawn, sizeof bounds[i].drawn, &bounds[i].drawn},
        };
        const espl_change_def change = {.add = values, .add_count = 2};

        is_good = stage_went_well(stage, espl_change_components(stage->world, nodes[i], &change),
                                  "espl_change_components", fault);
    }
    return is_good;
}
