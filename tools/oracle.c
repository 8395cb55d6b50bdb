// SPDX-License-Identifier: MIT
#include "tools/oracle.h"

#include <math.h>
#include <stdlib.h>

bool moment_reserve(tool_moment *out, const tool_scene *scene)
{
    out->count = scene->node_count;
    out->locals = calloc(out->count + 1, sizeof *out->locals);
    out->nodes = calloc(out->count + 1, sizeof *out->nodes);
    return out->locals != NULL && out->nodes != NULL;
}

void moment_release(tool_moment *moment)
{
    free(moment->locals);
    free(moment->nodes);
    *moment = (tool_moment){0};
}

static double distance(const tool_affine *a, const tool_affine *b)
{
    const double offset[3] = {a->m[0][3] - b->m[0][3], a->m[1][3] - b->m[1][3],
                              a->m[2][3] - b->m[2][3]};

    return vector_length(offset);
}

/// Worlds as products of the locals down the path.
static void multiply_down(tool_moment *moment, const tool_scene *scene)
{
    for (size_t i = 0; i < moment->count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;
        const tool_affine *const local = &moment->locals[i].matrix;

        moment->nodes[i].world = parent == SCENE_NO_PARENT
                                     ? *local
                                     : affine_multiply(&moment->nodes[parent].world, local);
    }
}

static bool take_worlds(tool_moment *moment, const tool_scene *scene)
{
    tool_affine *const worlds = calloc(moment->count + 1, sizeof *worlds);

    if (worlds == NULL) {
        return false;
    }
    physics_worlds(scene->physics, worlds);
    for (size_t i = 0; i < moment->count; ++i) {
        moment->nodes[i].world = worlds[i];
    }
    free(worlds);
    return true;
}

/// Compute the bound of each node's error, and mark nodes that cannot be compared.
static void weigh(tool_moment *moment, const tool_scene *scene)
{
    const tool_affine origin = affine_identity();
    const oracle_node nothing = {.world = origin};

    for (size_t i = 0; i < moment->count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;
        const oracle_node *const above =
            parent == SCENE_NO_PARENT ? &nothing : &moment->nodes[parent];
        const local_frame *const local = &moment->locals[i];
        oracle_node *const node = &moment->nodes[i];

        node->reach = above->reach + distance(&node->world, &above->world);
        node->depth = scene->nodes[i].depth;
        node->slack = above->slack + local->defect;
        node->is_shaped = !placement_is_even(&local->place) || local->defect > AFFINE_EVEN;
        node->is_beyond = above->is_beyond || above->is_shaped;
    }
}

void moment_take(tool_moment *moment, const tool_scene *scene, double seconds)
{
    scene_pose(scene, seconds, moment->locals);
    // Without memory for the simulation's own worlds the product of its locals judges as well.
    if (scene->physics == NULL || !take_worlds(moment, scene)) {
        multiply_down(moment, scene);
    }
    weigh(moment, scene);
}

size_t moment_count_beyond(const tool_moment *moment)
{
    size_t count = 0;

    for (size_t i = 0; i < moment->count; ++i) {
        count += moment->nodes[i].is_beyond;
    }
    return count;
}

oracle_frame oracle_frame_identity(void)
{
    return (oracle_frame){affine_identity(), 0, 0};
}

/// Largest difference of an entry of the axes, relative to the longest axis of the truth.
static double shape_error(const tool_affine *truth, const tool_affine *seen)
{
    double largest = 0, longest = 0;

    for (int j = 0; j < 3; ++j) {
        const double axis[3] = {truth->m[0][j], truth->m[1][j], truth->m[2][j]};

        longest = fmax(longest, vector_length(axis));
        for (int i = 0; i < 3; ++i) {
            const double difference = fabs(seen->m[i][j] - truth->m[i][j]);
            largest = difference <= largest ? largest : difference; // keeps a NaN
        }
    }
    return longest > 0 ? largest / longest : largest;
}

void tally_compare(tool_tally *tally, const tool_moment *moment, size_t node,
                   const oracle_frame *above, const espl_transform *world)
{
    const oracle_node *const expected = &moment->nodes[node];

    if (expected->is_beyond) {
        ++tally->left_out;
        return;
    }

    const tool_affine truth = affine_multiply(&above->matrix, &expected->world);
    const tool_affine seen = affine_of_transform(world);
    const double grain = 8 * (above->depth + expected->depth + 1) * 0x1p-24;
    const double slack = 3 * expected->slack;
    const double error = distance(&truth, &seen);
    const double position_share =
        error / (grain * (above->reach + expected->reach + 1) + slack * expected->reach);
    const double shape_share = shape_error(&truth, &seen) / (grain + slack);
    const bool is_right = position_share <= 1 && shape_share <= 1; // false for a NaN

    ++tally->reads;
    tally->wrong += !is_right;
    tally->worst_error = fmax(tally->worst_error, error);
    const double share =
        is_right ? fmax(position_share, shape_share) : fmax(fmax(position_share, shape_share), 1);
    if (share > tally->worst_share) {
        tally->worst_share = share;
        tally->worst_node = node;
    }
}

void tally_add(tool_tally *sum, const tool_tally *part)
{
    sum->reads += part->reads;
    sum->left_out += part->left_out;
    sum->wrong += part->wrong;
    sum->worst_error = fmax(sum->worst_error, part->worst_error);
    if (part->worst_share > sum->worst_share) {
        sum->worst_share = part->worst_share;
        sum->worst_node = part->worst_node;
    }
}
