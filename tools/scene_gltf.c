// SPDX-License-Identifier: MIT
// Scenes in glTF 2.0: the nodes of one scene by their indices, and one animation.
#include "tools/gltf_keys.h"
#include "tools/gltf_types.h"
#include "tools/scene.h"
#include "tools/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What is neither a node nor a channel.
#define NOTHING UINT32_MAX

/// A scene while it is read. Nodes have the file's indices here, and places in the scene's order.
typedef struct gltf_reading {
    const gltf_file *file;
    tool_scene *out;
    size_t node_count;
    uint32_t *parent_of; // [node_count] index, or NOTHING
    uint32_t *order;     // [node_count] indices of the scene's nodes, breadth-first
    size_t order_count;
    uint32_t *place_of;   // [node_count] place in the order, or NOTHING: not in the scene
    uint32_t *channel_of; // [node_count] number of the channel, or NOTHING
    size_t with_matrix;   // channels that are not played, because their nodes have a matrix
    size_t outside;       // channels of nodes outside the scene
    size_t by_pointer;    // channels whose target an extension names
    size_t of_unknown;    // channels of a path that glTF does not have
    const char *unknown_path;
    const char *matrix_name;
} gltf_reading;

/// Write the name of a node, or its number where it has none.
static const char *name_node(const gltf_reading *reading, uint32_t index, char out[32])
{
    gltf_node node;

    (void)gltf_read_node(reading->file, index, &node);
    (void)snprintf(out, 32, "node %u", index);
    return *node.name != '\0' ? node.name : out;
}

// Links.

static bool link_children(gltf_reading *reading, uint32_t index, tool_fault *fault)
{
    char number[32];
    gltf_node node;

    if (!gltf_read_node(reading->file, index, &node)) {
        fault_say(fault, "node '%s' has a part with the wrong count of numbers",
                  name_node(reading, index, number));
        return false;
    }
    for (size_t i = 0; i < node.child_count; ++i) {
        const size_t child = (size_t)node.children[i]; // a negative one is too large

        if (child >= reading->node_count) {
            fault_say(fault, "node '%s' has child %d, which does not exist",
                      name_node(reading, index, number), node.children[i]);
            return false;
        }
        if (reading->parent_of[child] != NOTHING) {
            fault_say(fault, "node '%s' is a child twice",
                      name_node(reading, (uint32_t)child, number));
            return false;
        }
        reading->parent_of[child] = index;
    }
    return true;
}

/// Append what is below the nodes of the order, which is its own queue.
static void list_below(gltf_reading *reading)
{
    for (size_t i = 0; i < reading->order_count; ++i) {
        gltf_node node;

        (void)gltf_read_node(reading->file, reading->order[i], &node);
        for (size_t j = 0; j < node.child_count; ++j) {
            reading->order[reading->order_count++] = (uint32_t)node.children[j];
        }
    }
}

/// List all nodes without parents, and what is below them; other nodes are in a circle.
static bool list_all(gltf_reading *reading, tool_fault *fault)
{
    reading->order_count = 0;
    for (uint32_t i = 0; i < reading->node_count; ++i) {
        if (reading->parent_of[i] == NOTHING) {
            reading->order[reading->order_count++] = i;
        }
    }
    list_below(reading);
    if (reading->order_count < reading->node_count) {
        fault_say(fault, "%zu nodes are below themselves",
                  reading->node_count - reading->order_count);
    }
    return reading->order_count == reading->node_count;
}

/// List the nodes of one scene. Each root is checked before it is listed, so that no node is twice.
static bool list_scene(gltf_reading *reading, const gltf_scene *scene, tool_fault *fault)
{
    reading->order_count = 0;
    for (size_t i = 0; i < scene->count; ++i) {
        const size_t root = (size_t)scene->nodes[i];

        if (root >= reading->node_count) {
            fault_say(fault, "its scene has node %d, which does not exist", scene->nodes[i]);
            return false;
        }
        if (reading->parent_of[root] != NOTHING || reading->place_of[root] != NOTHING) {
            char number[32];

            fault_say(fault, "node '%s' is a root of the scene and has another place too",
                      name_node(reading, (uint32_t)root, number));
            return false;
        }
        reading->place_of[root] = (uint32_t)reading->order_count;
        reading->order[reading->order_count++] = (uint32_t)root;
    }
    list_below(reading);
    return true;
}

/// Choose the default scene, or the first; in a file without scenes all nodes are one.
static bool choose_nodes(gltf_reading *reading, tool_fault *fault)
{
    const size_t scenes = gltf_count_scenes(reading->file);
    const int wanted = gltf_default_scene(reading->file);
    const size_t chosen = wanted >= 0 ? (size_t)wanted : 0;

    if (!list_all(reading, fault)) {
        return false;
    }
    if (wanted >= 0 && chosen >= scenes) {
        fault_say(fault, "its default scene %d does not exist", wanted);
        return false;
    }
    if (scenes > 0) {
        const gltf_scene scene = gltf_read_scene(reading->file, chosen);

        if (!list_scene(reading, &scene, fault) ||
            (scenes > 1 && !scene_note(reading->out, fault, "scene %zu of %zu plays, '%s'",
                                       chosen + 1, scenes, scene.name))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < reading->order_count; ++i) {
        reading->place_of[reading->order[i]] = i;
    }
    return true;
}

// Nodes at rest.

static bool take_matrix(local_frame *out, const gltf_node *node)
{
    const double *const m = node->matrix;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            out->matrix.m[i][j] = m[4 * j + i];
        }
    }
    (void)placement_of_affine(&out->place, &out->matrix);
    return m[3] == 0 && m[7] == 0 && m[11] == 0 && m[15] == 1;
}

/// Take translation, rotation and scale. The oracle gets the rotation as it is in the file.
static bool take_parts(local_frame *out, const gltf_node *node)
{
    double rotation[4], square = 0;

    for (int i = 0; i < 4; ++i) {
        rotation[i] = node->rotation[i];
        square += rotation[i] * rotation[i];
    }
    quaternion_normalize(rotation);
    out->place = placement_of_parts(node->translation, rotation, node->scale);
    out->matrix = truth_of_parts(node->translation, node->rotation, node->scale);
    return fabs(sqrt(square) - 1) <= CHANNEL_UNIT;
}

/// Take the box around the mesh of a node, where each primitive that has positions has a box.
static void take_shape(const gltf_file *file, scene_shape *out, const gltf_node *node)
{
    double least[3], most[3];
    size_t count = 0;
    bool has_box = false;

    for (size_t i = 0; gltf_read_box(file, node->mesh, i, least, most, &has_box); ++i) {
        if (has_box) {
            shape_take(out, count == 0, least);
            shape_take(out, false, most);
            ++count;
        }
    }
    if (count > 0) {
        shape_finish(out, (uint32_t)node->mesh + 1);
    }
}

static bool take_node(gltf_reading *reading, uint32_t place, tool_fault *fault)
{
    const uint32_t index = reading->order[place], parent = reading->parent_of[index];
    scene_node *const out = &reading->out->nodes[place];
    char number[32];
    gltf_node node;

    (void)gltf_read_node(reading->file, index, &node);
    out->name = strdup(name_node(reading, index, number));
    out->parent = parent == NOTHING ? SCENE_NO_PARENT : reading->place_of[parent];
    if (out->name == NULL) {
        fault_say(fault, "no memory for its nodes");
        return false;
    }
    if (node.has_matrix && !take_matrix(&out->rest, &node)) {
        fault_say(fault, "node '%s' has a matrix whose last row is not 0, 0, 0, 1", out->name);
        return false;
    }
    if (!node.has_matrix && !take_parts(&out->rest, &node)) {
        fault_say(fault, "node '%s' has a rotation whose length is not 1", out->name);
        return false;
    }
    take_shape(reading->file, &out->shape, &node);
    return true;
}

// Animation.

/// Make the one key of a part that a channel does not move.
static bool keep_part(key_track *track, const double *value, size_t components)
{
    if (track->count > 0) {
        return true;
    }
    if (!key_track_reserve(track, 1, KEYS_LINEAR)) {
        return false;
    }
    memcpy(track->values[0], value, components * sizeof *value);
    return true;
}

/// Find the part of a channel that a path moves; NULL for one that moves no node.
static key_track *find_part(tool_channel *channel, const char *path, size_t *components)
{
    *components = strcmp(path, "rotation") == 0 ? 4 : 3;
    if (strcmp(path, "translation") == 0) {
        return &channel->position;
    }
    if (strcmp(path, "rotation") == 0) {
        return &channel->rotation;
    }
    return strcmp(path, "scale") == 0 ? &channel->scale : NULL;
}

/// Return the channel of a node, a new one where it has none yet.
static tool_channel *open_channel(gltf_reading *reading, uint32_t index)
{
    tool_scene *const out = reading->out;

    if (reading->channel_of[index] == NOTHING) {
        out->channels[out->channel_count].node = reading->place_of[index];
        reading->channel_of[index] = (uint32_t)out->channel_count++;
    }
    return &out->channels[reading->channel_of[index]];
}

/// Take the keys of one channel of the file for a node of the scene.
static bool take_keys(gltf_reading *reading, const gltf_channel *from, tool_fault *fault)
{
    const uint32_t index = (uint32_t)from->node;
    tool_channel *const channel = open_channel(reading, index);
    const char *const name = reading->out->nodes[channel->node].name;
    size_t components = 0;
    key_track *const track = find_part(channel, from->path, &components);
    tool_fault cause = {""};

    if (track->count > 0) {
        fault_say(fault, "node '%s': two channels move its %s", name, from->path);
        return false;
    }
    if (!gltf_take_track(track, reading->file, from, components, &cause)) {
        fault_say(fault, "node '%s': its %s: %s", name, from->path, cause.text);
        return false;
    }
    return true;
}

static bool take_channel(gltf_reading *reading, const gltf_channel *from, tool_fault *fault)
{
    tool_channel none;
    size_t components = 0;
    gltf_node node;

    if (from->node < 0) {
        ++reading->by_pointer;
        return true;
    }
    if ((size_t)from->node >= reading->node_count) {
        fault_say(fault, "its animation moves node %d, which does not exist", from->node);
        return false;
    }
    if (strcmp(from->path, "weights") == 0) {
        return true; // of a mesh
    }
    if (find_part(&none, from->path, &components) == NULL) {
        reading->of_unknown += 1;
        reading->unknown_path = from->path;
        return true;
    }
    if (reading->place_of[from->node] == NOTHING) {
        ++reading->outside;
        return true;
    }
    (void)gltf_read_node(reading->file, (size_t)from->node, &node);
    if (node.has_matrix) {
        reading->with_matrix += 1;
        reading->matrix_name = reading->out->nodes[reading->place_of[from->node]].name;
        return true;
    }
    return take_keys(reading, from, fault);
}

/// Complete the channels, and check what they move.
static bool finish_channels(gltf_reading *reading, tool_fault *fault)
{
    tool_scene *const out = reading->out;

    for (size_t i = 0; i < out->channel_count; ++i) {
        tool_channel *const channel = &out->channels[i];
        const key_track *const tracks[] = {&channel->position, &channel->rotation, &channel->scale};
        gltf_node node;

        (void)gltf_read_node(reading->file, reading->order[channel->node], &node);
        for (size_t j = 0; j < 3; ++j) {
            const size_t count = tracks[j]->count;
            out->duration =
                count > 0 ? fmax(out->duration, tracks[j]->times[count - 1]) : out->duration;
        }
        if (!keep_part(&channel->position, node.translation, 3) ||
            !keep_part(&channel->rotation, node.rotation, 4) ||
            !keep_part(&channel->scale, node.scale, 3)) {
            fault_say(fault, "no memory for its animation");
            return false;
        }
        if (!channel_is_playable(channel, out->nodes[channel->node].name, fault)) {
            return false;
        }
    }
    return true;
}

static bool take_animation(gltf_reading *reading, size_t number, tool_fault *fault)
{
    const gltf_animation animation = gltf_read_animation(reading->file, number);

    for (size_t i = 0; i < animation.channel_count; ++i) {
        gltf_channel channel;

        if (!gltf_read_channel(reading->file, number, i, &channel)) {
            fault_say(fault, "channel %zu of its animation has no sampler", i + 1);
            return false;
        }
        if (!take_channel(reading, &channel, fault)) {
            return false;
        }
    }
    return finish_channels(reading, fault);
}

/// Choose the animation that plays. @param number  out; unchanged where there is none.
static bool choose_animation(gltf_reading *reading, size_t *number, tool_fault *fault)
{
    const size_t count = gltf_count_animations(reading->file);
    const char **const names = calloc(count + 1, sizeof *names);

    if (names == NULL) {
        fault_say(fault, "no memory for the names of its animations");
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        names[i] = gltf_read_animation(reading->file, i).name;
    }
    const bool is_good = scene_choose_animation(reading->out, names, count, number, fault);
    free(names);
    return is_good;
}

// What is not read.

static bool note_nodes(gltf_reading *reading, tool_fault *fault)
{
    size_t instanced = 0, hideable = 0;

    for (size_t i = 0; i < reading->order_count; ++i) {
        gltf_node node;

        (void)gltf_read_node(reading->file, reading->order[i], &node);
        instanced += node.is_instanced;
        hideable += node.has_visibility;
    }
    return (instanced == 0 ||
            scene_note(reading->out, fault,
                       "EXT_mesh_gpu_instancing of %zu nodes is not read: instances are no nodes",
                       instanced)) &&
           (hideable == 0 ||
            scene_note(reading->out, fault,
                       "KHR_node_visibility of %zu nodes is not read: hidden nodes "
                       "play as others do",
                       hideable));
}

static bool note_channels(gltf_reading *reading, tool_fault *fault)
{
    const char *const complaint = gltf_complaint(reading->file);

    reading->out->unplayed = reading->with_matrix + reading->by_pointer + reading->of_unknown +
                             (strstr(complaint, "animation") != NULL);
    return (reading->with_matrix == 0 ||
            scene_note(reading->out, fault,
                       "%zu channels are not played, because their nodes have a matrix: '%s'",
                       reading->with_matrix, reading->matrix_name)) &&
           (reading->by_pointer == 0 ||
            scene_note(reading->out, fault,
                       "%zu channels are not played, because they name no node",
                       reading->by_pointer)) &&
           (reading->of_unknown == 0 ||
            scene_note(reading->out, fault,
                       "%zu channels are not played, because they move something unknown: '%s'",
                       reading->of_unknown, reading->unknown_path)) &&
           (reading->outside == 0 ||
            scene_note(reading->out, fault, "%zu channels move nodes outside the scene",
                       reading->outside)) &&
           (*complaint == '\0' ||
            scene_note(reading->out, fault, "tinygltf passed over: %s", complaint));
}

// The whole.

static bool take_scene(gltf_reading *reading, tool_fault *fault)
{
    tool_scene *const out = reading->out;
    const size_t animations = gltf_count_animations(reading->file);
    size_t number = 0, channels = 0;

    for (uint32_t i = 0; i < reading->node_count; ++i) {
        if (!link_children(reading, i, fault)) {
            return false;
        }
    }
    if (!choose_nodes(reading, fault) || !choose_animation(reading, &number, fault)) {
        return false;
    }
    // A channel of the scene is a node's, and has up to three of the file.
    channels = animations > 0 ? gltf_read_animation(reading->file, number).channel_count : 0;
    if (!scene_reserve(out, reading->order_count, channels, fault)) {
        return false;
    }
    out->channel_count = 0;
    out->up_axis = 1;
    for (uint32_t i = 0; i < reading->order_count; ++i) {
        if (!take_node(reading, i, fault)) {
            return false;
        }
    }
    return (animations == 0 || take_animation(reading, number, fault)) &&
           note_nodes(reading, fault) && note_channels(reading, fault);
}

static bool read_file(tool_scene *out, const gltf_file *file, tool_fault *fault)
{
    const size_t count = gltf_count_nodes(file), lists = 4;
    uint32_t *const memory = calloc(lists * count + 1, sizeof *memory);
    gltf_reading reading = {.file = file, .out = out, .node_count = count};

    if (memory == NULL || count >= NOTHING) {
        fault_say(fault, "no memory for %zu nodes", count);
        free(memory);
        return false;
    }
    memset(memory, 0xff, lists * count * sizeof *memory); // NOTHING in each
    reading.parent_of = memory;
    reading.order = memory + count;
    reading.place_of = memory + 2 * count;
    reading.channel_of = memory + 3 * count;
    const bool is_good = gltf_faces_are_valid(file, fault) && take_scene(&reading, fault);
    free(memory);
    return is_good;
}

bool scene_read_gltf(tool_scene *out, const char *path, tool_fault *fault)
{
    bool is_other = false;
    gltf_file *const file = gltf_open(path, &is_other, fault);

    if (file == NULL) {
        return is_other && scene_read_assimp(out, path, fault);
    }
    const bool is_good = gltf_types_are_right(path, fault) && read_file(out, file, fault);
    gltf_close(file);
    return is_good;
}
