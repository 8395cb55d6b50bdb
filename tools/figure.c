// SPDX-License-Identifier: MIT
#include "tools/figure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Radii as shares of a figure's size: of a bone that carries the whole figure, and of a head.
#define BONE_SHARE 0.065
#define HEAD_SHARE 0.07

struct node_shape {
    uint32_t top;      // the top of its tree
    uint32_t nodes;    // count of the node and its descendants
    double length;     // of its bone and of all bones below it
    double size;       // of a top's tree: the longest path down from it, which no pose changes
    float from_radius; // of its bone's ends
    float to_radius;
    float head_radius; // 0 where the node is no head
};

static double bone_length(const tool_moment *moment, const tool_scene *scene, size_t node)
{
    const uint32_t parent = scene->nodes[node].parent;
    double square = 0;

    for (int i = 0; parent != SCENE_NO_PARENT && i < 3; ++i) {
        const double side = moment->nodes[node].world.m[i][3] - moment->nodes[parent].world.m[i][3];
        square += side * side;
    }
    return sqrt(square);
}

/// Tell whether a name contains "head", in upper or lower case.
static bool is_head(const char *name)
{
    for (; *name != '\0'; ++name) {
        const char *word = "head", *letter = name;

        while (*word != '\0' && tolower((unsigned char)*letter) == *word) {
            ++word;
            ++letter;
        }
        if (*word == '\0') {
            return true;
        }
    }
    return false;
}

/// Choose radii so that the section of a bone is proportional to the length of the bones that it
/// carries, itself included.
static void choose_radii(node_shape *shapes, const tool_scene *scene, double stoutness)
{
    for (size_t i = scene->node_count; i-- > 0;) {
        node_shape *const shape = &shapes[i];
        const uint32_t parent = scene->nodes[i].parent;
        const double whole = shapes[shape->top].length;
        const double size = stoutness * shapes[shape->top].size;
        const float radius =
            whole > 0 ? (float)(BONE_SHARE * size * sqrt(shape->length / whole)) : 0;
        const bool is_leaf = shape->to_radius == 0;

        if (is_leaf) {
            shape->to_radius = 0.7F * radius;
            shape->head_radius = is_head(scene->nodes[i].name) ? (float)(HEAD_SHARE * size) : 0;
        }
        shape->from_radius = parent == SCENE_NO_PARENT ? shape->to_radius : radius;
        if (parent != SCENE_NO_PARENT) {
            shapes[parent].to_radius = fmaxf(shapes[parent].to_radius, radius);
        }
    }
}

/// @param shapes  [node_count] zeroed.
static void shape_nodes(node_shape *shapes, const tool_scene *scene, const tool_moment *moment,
                        double stoutness)
{
    // Parents precede children, so one pass forwards and one backwards suffice.
    for (uint32_t i = 0; i < scene->node_count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;

        shapes[i].top = parent == SCENE_NO_PARENT ? i : shapes[parent].top;
        shapes[i].nodes = 1;
        shapes[i].length = bone_length(moment, scene, i);

        node_shape *const top = &shapes[shapes[i].top];
        const double reach = moment->nodes[i].reach - moment->nodes[shapes[i].top].reach;
        top->size = fmax(top->size, reach);
    }
    for (size_t i = scene->node_count; i-- > 0;) {
        const uint32_t parent = scene->nodes[i].parent;

        if (parent != SCENE_NO_PARENT) {
            shapes[parent].nodes += shapes[i].nodes;
            shapes[parent].length += shapes[i].length;
        }
    }
    choose_radii(shapes, scene, stoutness);
}

/// Find the top of the tree with the most nodes; of equal trees the first.
static uint32_t largest_tree(const node_shape *shapes, size_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < count; ++i) {
        best = shapes[i].nodes > shapes[best].nodes ? i : best;
    }
    return best;
}

bool figure_shape(tool_figures *figures, const tool_scene *scene, const tool_moment *moment,
                  double stoutness, tool_fault *fault)
{
    const size_t count = scene->node_count;

    figures->shapes = calloc(count + 1, sizeof *figures->shapes);
    figures->places = calloc(count + 1, sizeof *figures->places);
    if (figures->shapes == NULL || figures->places == NULL) {
        fault_say(fault, "no memory for the figures of %zu nodes", count);
        return false;
    }
    shape_nodes(figures->shapes, scene, moment, stoutness);
    return true;
}

void figure_unshape(tool_figures *figures)
{
    free(figures->shapes);
    free(figures->places);
    *figures = (tool_figures){0};
}

/// Read where the nodes of a copy are.
static bool read_places(tool_figures *figures, const tool_crowd *crowd, const crowd_copy *copy,
                        espl_read_kind kind, tool_fault *fault)
{
    const espl_status status =
        espl_read_strided(crowd->stage->world, kind, copy->nodes, crowd->scene->node_count,
                          sizeof *copy->nodes, figures->places, sizeof *figures->places);

    if (status == ESPL_PARTLY) {
        fault_say(fault, "espl_read_strided did not read all nodes: %s", crowd->stage->complaint);
        return false;
    }
    return stage_went_well(crowd->stage, status, "espl_read_strided", fault);
}

/// Add the bone that ends at a node, and a ball where the node is a head.
static void add_bone(picture_panel *panel, const tool_figures *figures, const tool_crowd *crowd,
                     size_t first, size_t node)
{
    const node_shape *const shape = &figures->shapes[node];
    const uint32_t parent = crowd->scene->nodes[node].parent;
    const bool is_top = parent == SCENE_NO_PARENT;
    const float *const to = figures->places[node];
    const float *const from = is_top ? to : figures->places[parent];
    picture_bone bone = {
        .from_radius = shape->from_radius,
        .to_radius = shape->to_radius,
        .figure = (uint32_t)(first + shape->top),
    };

    memcpy(bone.from, from, sizeof bone.from);
    memcpy(bone.to, to, sizeof bone.to);
    if (figures->tints != NULL) {
        bone.tint = figures->tints[first + (is_top ? node : parent)];
    }
    panel->bones[panel->bone_count++] = bone;
    if (shape->head_radius > 0) {
        bone.tint = figures->tints != NULL ? figures->tints[first + node] : 0;
        memcpy(bone.from, bone.to, sizeof bone.from);
        bone.from_radius = bone.to_radius = shape->head_radius;
        panel->bones[panel->bone_count++] = bone;
    }
    panel->figure_count += is_top;
}

bool figure_read(picture_panel *panel, tool_figures *figures, const tool_crowd *crowd,
                 espl_read_kind kind, tool_fault *fault)
{
    const size_t count = crowd->scene->node_count;

    panel->up_axis = crowd->scene->up_axis;
    panel->bone_count = panel->figure_count = 0;
    if (panel->bones == NULL) {
        panel->bones = calloc(2 * crowd->copy_count * count + 1, sizeof *panel->bones);
    }
    if (panel->bones == NULL) {
        fault_say(fault, "no memory for the bones of %zu copies", crowd->copy_count);
        return false;
    }
    for (size_t i = 0; i < crowd->copy_count; ++i) {
        const crowd_copy *const copy = &crowd->copies[i];

        if (!copy->is_alive) {
            continue;
        }
        if (!read_places(figures, crowd, copy, kind, fault)) {
            return false;
        }
        for (size_t node = 0; node < count; ++node) {
            add_bone(panel, figures, crowd, i * count, node);
        }
    }
    return true;
}

/// Mark the positions that the oracle computes for the nodes of the close-up's tree.
static void add_marks(picture_panel *panel, const tool_crowd *crowd, const tool_moment *moment,
                      const node_shape *shapes)
{
    const oracle_frame above = crowd_frame(crowd, &crowd->copies[0]);

    for (size_t i = 0; i < crowd->scene->node_count; ++i) {
        const tool_affine truth = affine_multiply(&above.matrix, &moment->nodes[i].world);

        if (shapes[i].top != panel->closeup || !moment_compares(moment, i)) {
            continue;
        }
        for (int axis = 0; axis < 3; ++axis) {
            panel->marks[panel->mark_count][axis] = (float)truth.m[axis][3];
        }
        ++panel->mark_count;
    }
}

bool figure_collect(picture_panel *panel, const tool_crowd *crowd, const tool_moment *moment,
                    const uint32_t *tints, tool_fault *fault)
{
    const size_t count = crowd->scene->node_count;
    tool_figures figures = {.tints = tints};

    panel->marks = calloc(count + 1, sizeof *panel->marks);
    if (panel->marks == NULL) {
        fault_say(fault, "no memory for the picture");
        return false;
    }
    bool is_good = figure_shape(&figures, crowd->scene, moment, 1, fault);
    if (is_good) {
        panel->closeup = largest_tree(figures.shapes, count);
        add_marks(panel, crowd, moment, figures.shapes);
        is_good = figure_read(panel, &figures, crowd, ESPL_READ_WORLD_POSITION, fault);
    }
    figure_unshape(&figures);
    return is_good;
}

void figure_release(picture_panel *panel)
{
    free(panel->bones);
    free(panel->marks);
    panel->bones = NULL;
    panel->marks = NULL;
}
