// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/poses.h"

#include <stdlib.h>

bool poses_open(tool_poses *poses, size_t count, size_t frame_count, tool_fault *fault)
{
    *poses = (tool_poses){.count = count, .capacity = frame_count, .rate = 1, .up_axis = 1};
    poses->nodes = calloc(count + 1, sizeof *poses->nodes);
    const bool fits = frame_count <= SIZE_MAX / sizeof *poses->locals / (count + 1);
    poses->locals = fits ? calloc(frame_count * count + 1, sizeof *poses->locals) : NULL;
    if (poses->nodes == NULL || poses->locals == NULL) {
        fault_say(fault, "no memory for %zu frames of %zu nodes", frame_count, count);
        return false;
    }
    return true;
}

void poses_close(tool_poses *poses)
{
    free(poses->nodes);
    free(poses->locals);
    *poses = (tool_poses){0};
}

bool poses_take(tool_poses *poses, const tool_stage *stage, tool_fault *fault)
{
    espl_transform *const locals = poses->locals + poses->frame_count * poses->count;

    if (poses->frame_count == poses->capacity) {
        fault_say(fault, "more than %zu frames", poses->capacity);
        return false;
    }
    for (size_t i = 0; i < poses->count; ++i) {
        const espl_status status =
            espl_get_local_transform(stage->world, poses->nodes[i].entity, &locals[i]);

        if (!stage_went_well(stage, status, "espl_get_local_transform", fault)) {
            return false;
        }
    }
    ++poses->frame_count;
    return true;
}

#ifndef HAVE_TINYGLTF

bool poses_are_built(void)
{
    return false;
}

bool poses_write(tool_poses *poses, const char *path, const char *title, tool_fault *fault)
{
    (void)poses;
    (void)title;
    fault_say(fault, "%s: no glTF: this espalier was built without tinygltf", path);
    return false;
}

#else

#include "tools/gltf_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// The parts of a node that glTF moves, each apart.
typedef enum pose_part { PART_TRANSLATION, PART_ROTATION, PART_SCALE, PART_COUNT } pose_part;

static const struct {
    const char *path;
    size_t components;
} parts[PART_COUNT] = {{"translation", 3}, {"rotation", 4}, {"scale", 3}};

/// Where a stretch is written.
typedef enum stretch_place {
    STRETCH_NONE,  // it is 1 in all frames
    STRETCH_SCALE, // in the scale of the node, which has no children
    STRETCH_BELOW, // in the scale of a node below it
} stretch_place;

/// A file that is being written.
typedef struct poses_file {
    const tool_poses *poses;
    gltf_out *out;
    int top;            // the node above all, or -1
    int times;          // accessor; -1 where there is one frame
    float *values;      // [4 * frame_count] room
    int *numbers;       // [count] of nodes in the file
    bool *has_children; // [count]
} poses_file;

static const espl_transform *local_of(const tool_poses *poses, size_t frame, size_t node)
{
    return &poses->locals[frame * poses->count + node];
}

/// Compute where a node is: the stretch of its parent, which has no shape here, moves it.
static void find_translation(float out[3], const tool_poses *poses, size_t frame, size_t node)
{
    const espl_transform *const local = local_of(poses, frame, node);
    const uint32_t parent = poses->nodes[node].parent;

    for (int i = 0; i < 3; ++i) {
        const float stretch =
            parent != SCENE_NO_PARENT ? local_of(poses, frame, parent)->stretch[i] : 1;
        out[i] = local->position[i] * stretch;
    }
}

static void find_rotation(float out[4], const espl_transform *local)
{
    double length = 0;

    for (int i = 0; i < 4; ++i) {
        length += (double)local->rotation[i] * (double)local->rotation[i];
    }
    for (int i = 0; i < 4; ++i) {
        out[i] = (float)((double)local->rotation[i] / sqrt(length));
    }
}

static void find_scale(float out[3], const espl_transform *local, stretch_place place)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = place == STRETCH_SCALE ? local->scale * local->stretch[i] : local->scale;
    }
}

/// Compute a part of a node at a frame.
/// @param place  where the stretch goes.
static void find_part(float out[4], const tool_poses *poses, size_t frame, size_t node,
                      pose_part part, stretch_place place)
{
    const espl_transform *const local = local_of(poses, frame, node);

    switch (part) {
    case PART_TRANSLATION:
        find_translation(out, poses, frame, node);
        break;
    case PART_ROTATION:
        find_rotation(out, local);
        break;
    default:
        find_scale(out, local, place);
        break;
    }
}

static bool is_stretched(const tool_poses *poses, size_t node)
{
    for (size_t frame = 0; frame < poses->frame_count; ++frame) {
        const float *const stretch = local_of(poses, frame, node)->stretch;

        if (stretch[0] != 1 || stretch[1] != 1 || stretch[2] != 1) {
            return true;
        }
    }
    return false;
}

static bool is_constant(const float *values, size_t count, size_t components)
{
    for (size_t i = components; i < count * components; ++i) {
        if (values[i] != values[i - components]) {
            return false;
        }
    }
    return true;
}

/// Write keys of the room's values, if they change. @return false where there is no memory.
static bool move_part(const poses_file *file, int number, pose_part part)
{
    const size_t count = file->poses->frame_count, components = parts[part].components;

    if (is_constant(file->values, count, components)) {
        return true;
    }
    const gltf_out_keys keys = {
        .node = number,
        .path = parts[part].path,
        .times = file->times,
        .values = gltf_out_floats(file->out, file->values, count, components),
    };
    return keys.values >= 0 && gltf_out_move(file->out, &keys);
}

/// Write the node whose scale is the stretch of the one above it.
static bool add_stretch(const poses_file *file, size_t node)
{
    static const float nowhere[3] = {0, 0, 0}, unturned[4] = {0, 0, 0, 1};
    const poses_node *const above = &file->poses->nodes[node];
    const size_t size = strlen(above->name) + sizeof " stretch";
    char *const name = malloc(size);

    if (name == NULL) {
        return false;
    }
    (void)snprintf(name, size, "%s stretch", above->name);
    const int number = gltf_out_node(file->out, name, file->numbers[node], nowhere, unturned,
                                     local_of(file->poses, 0, node)->stretch);
    free(name);
    for (size_t frame = 0; frame < file->poses->frame_count; ++frame) {
        memcpy(file->values + 3 * frame, local_of(file->poses, frame, node)->stretch,
               3 * sizeof *file->values);
    }
    return number >= 0 && move_part(file, number, PART_SCALE);
}

static bool add_node(const poses_file *file, size_t node)
{
    const tool_poses *const poses = file->poses;
    const poses_node *const written = &poses->nodes[node];
    const stretch_place place = !is_stretched(poses, node) ? STRETCH_NONE
                                : file->has_children[node] ? STRETCH_BELOW
                                                           : STRETCH_SCALE;
    float now[PART_COUNT][4];

    for (int part = 0; part < PART_COUNT; ++part) {
        find_part(now[part], poses, 0, node, (pose_part)part, place);
    }
    const int number = gltf_out_node(
        file->out, written->name,
        written->parent == SCENE_NO_PARENT ? file->top : file->numbers[written->parent],
        now[PART_TRANSLATION], now[PART_ROTATION], now[PART_SCALE]);
    bool is_good = number >= 0;
    file->numbers[node] = number;
    for (int part = 0; is_good && part < PART_COUNT; ++part) {
        for (size_t frame = 0; frame < poses->frame_count; ++frame) {
            float value[4];

            find_part(value, poses, frame, node, (pose_part)part, place);
            memcpy(file->values + parts[part].components * frame, value,
                   parts[part].components * sizeof *value);
        }
        is_good = move_part(file, number, (pose_part)part);
    }
    return is_good && (place != STRETCH_BELOW || add_stretch(file, node));
}

/// In glTF y is up: z up is a quarter turn about x, back.
static bool add_top(poses_file *file)
{
    static const float nowhere[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    const float back[4] = {-sqrtf(0.5F), 0, 0, sqrtf(0.5F)};

    file->top = -1;
    if (file->poses->up_axis == 1) {
        return true;
    }
    file->top = gltf_out_node(file->out, "z up", -1, nowhere, back, one);
    return file->top >= 0;
}

/// Frames are so many a second, from 0 on. A file of one frame does not move.
static bool add_times(poses_file *file)
{
    const tool_poses *const poses = file->poses;

    file->times = -1;
    if (poses->frame_count < 2) {
        return true;
    }
    for (size_t frame = 0; frame < poses->frame_count; ++frame) {
        file->values[frame] = (float)((double)frame / poses->rate);
    }
    file->times = gltf_out_floats(file->out, file->values, poses->frame_count, 1);
    return file->times >= 0;
}

static bool fill(poses_file *file)
{
    const tool_poses *const poses = file->poses;

    for (size_t i = 0; i < poses->count; ++i) {
        if (poses->nodes[i].parent != SCENE_NO_PARENT) {
            file->has_children[poses->nodes[i].parent] = true;
        }
    }
    bool is_good = add_top(file) && add_times(file);
    for (size_t i = 0; is_good && i < poses->count; ++i) {
        is_good = add_node(file, i);
    }
    return is_good;
}

bool poses_are_built(void)
{
    return true;
}

bool poses_write(tool_poses *poses, const char *path, const char *title, tool_fault *fault)
{
    poses_file file = {
        .poses = poses,
        .out = gltf_out_create(title),
        .values = calloc(4 * poses->frame_count + 1, sizeof *file.values),
        .numbers = calloc(poses->count + 1, sizeof *file.numbers),
        .has_children = calloc(poses->count + 1, sizeof *file.has_children),
    };

    bool is_good = file.out != NULL && file.values != NULL && file.numbers != NULL &&
                   file.has_children != NULL && fill(&file);
    if (!is_good) {
        fault_say(fault, "%s: no memory for %zu nodes", path, poses->count);
    }
    poses->written = is_good ? gltf_out_node_count(file.out) : 0;
    is_good = is_good && gltf_out_write(file.out, path, fault);
    gltf_out_destroy(file.out);
    free(file.values);
    free(file.numbers);
    free(file.has_children);
    return is_good;
}

#endif
