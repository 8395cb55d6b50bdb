// SPDX-License-Identifier: MIT
// Scenes by Assimp: the node tree as Assimp has it (no post-processing), and one animation.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/scene.h"

#ifndef HAVE_ASSIMP

bool scene_read_assimp(tool_scene *out, const char *path, tool_fault *fault)
{
    (void)out;
    (void)path;
    fault_say(fault, "this espalier was built without Assimp and reads MJCF files only");
    return false;
}

#else

#include <assimp/cimport.h>
#include <assimp/scene.h>

#include <stdlib.h>
#include <string.h>

/// Ticks in a second where the file says nothing, as Assimp advises.
#define DEFAULT_RATE 25.0

/// Note what the reader leaves out. Assimp drops faces whose indices lie outside the vertices, with
/// a warning alone; such a file is broken all the same.
static void hear_log(const char *message, char *user)
{
    tool_fault *const complaint = (tool_fault *)(void *)user;

    if (strstr(message, "out-of-range indices") != NULL) {
        fault_say(complaint, "faces name vertices that do not exist (indices out of range)");
    }
}

static tool_affine affine_of_assimp(const struct aiMatrix4x4 *a)
{
    return (tool_affine){{{(double)a->a1, (double)a->a2, (double)a->a3, (double)a->a4},
                          {(double)a->b1, (double)a->b2, (double)a->b3, (double)a->b4},
                          {(double)a->c1, (double)a->c2, (double)a->c3, (double)a->c4}}};
}

// Assimp makes a chain of nodes of each model of FBX that has pivots, with a mark in the names of all
// but the model itself. Together they are one node of the scene: its parts.

/// Tell whether a node is a part of the one node below it.
static bool is_helper(const struct aiNode *node)
{
    return strstr(node->mName.data, "_$AssimpFbx$_") != NULL && node->mParent != NULL &&
           node->mNumChildren == 1 && node->mNumMeshes == 0;
}

static const struct aiNode *last_part(const struct aiNode *node)
{
    while (is_helper(node)) {
        node = node->mChildren[0];
    }
    return node;
}

static const struct aiNode *first_part(const struct aiNode *node)
{
    while (node->mParent != NULL && is_helper(node->mParent)) {
        node = node->mParent;
    }
    return node;
}

/// List the last part of each node of the scene, breadth-first.
/// @return [*count] nodes to be freed, NULL where there is no memory.
static const struct aiNode **list_nodes(const struct aiNode *root, uint32_t **parents,
                                        size_t *count)
{
    size_t capacity = 64, filled = 1;
    const struct aiNode **nodes = malloc(capacity * sizeof *nodes);
    uint32_t *parent = malloc(capacity * sizeof *parent);
    bool is_good = nodes != NULL && parent != NULL;

    if (is_good) {
        nodes[0] = root;
        parent[0] = SCENE_NO_PARENT;
    }
    for (size_t i = 0; is_good && i < filled; ++i) {
        const size_t needed = filled + nodes[i]->mNumChildren;

        if (needed > capacity) {
            capacity = 2 * needed;
            void *const more_nodes = realloc(nodes, capacity * sizeof *nodes);
            nodes = more_nodes != NULL ? more_nodes : nodes;
            void *const more_parents = realloc(parent, capacity * sizeof *parent);
            parent = more_parents != NULL ? more_parents : parent;
            is_good = more_nodes != NULL && more_parents != NULL && capacity < UINT32_MAX;
        }
        for (unsigned child = 0; is_good && child < nodes[i]->mNumChildren; ++child) {
            nodes[filled] = last_part(nodes[i]->mChildren[child]);
            parent[filled++] = (uint32_t)i;
        }
    }
    if (!is_good) {
        free(nodes);
        free(parent);
        return NULL;
    }
    *parents = parent;
    *count = filled;
    return nodes;
}

static bool fill_node(scene_node *out, const struct aiNode *node, uint32_t parent)
{
    const struct aiNode *part = first_part(node);

    out->name = strdup(node->mName.data);
    out->parent = parent;
    out->rest.matrix = affine_of_assimp(&part->mTransformation);
    while (part != node) {
        part = part->mChildren[0];
        const tool_affine next = affine_of_assimp(&part->mTransformation);
        out->rest.matrix = affine_multiply(&out->rest.matrix, &next);
    }
    // The last row is not looked at: a projection has no place in a tree of placements.
    (void)placement_of_affine(&out->rest.place, &out->rest.matrix);
    return out->name != NULL;
}

/// Compute the boxes around all meshes but those that bones bend.
/// @return [mNumMeshes] to be freed, NULL where there is no memory.
static scene_shape *shape_meshes(const struct aiScene *source)
{
    scene_shape *const shapes = calloc((size_t)source->mNumMeshes + 1, sizeof *shapes);

    for (unsigned i = 0; shapes != NULL && i < source->mNumMeshes; ++i) {
        const struct aiMesh *const mesh = source->mMeshes[i];

        for (unsigned j = 0; mesh->mNumBones == 0 && j < mesh->mNumVertices; ++j) {
            const struct aiVector3D *const at = &mesh->mVertices[j];

            shape_take(&shapes[i], j == 0,
                       (double[3]){(double)at->x, (double)at->y, (double)at->z});
        }
        if (mesh->mNumBones == 0 && mesh->mNumVertices > 0) {
            shape_finish(&shapes[i], i + 1);
        }
    }
    return shapes;
}

/// Take the box around all meshes of a node, with the number of the first.
static void take_shape(scene_shape *out, const struct aiNode *node, const scene_shape *shapes,
                       size_t count)
{
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        const scene_shape *const shape =
            node->mMeshes[i] < count ? &shapes[node->mMeshes[i]] : NULL;

        if (shape != NULL && shape->number != 0) {
            shape_take(out, out->number == 0, shape->least);
            shape_take(out, false, shape->most);
            out->number = out->number == 0 ? shape->number : out->number;
        }
    }
}

/// Take the keys as they are; without any, the one value that the node has at rest.
static bool take_vectors(key_track *track, const struct aiVectorKey *keys, size_t count,
                         double rate, const struct aiVector3D *rest)
{
    if (!key_track_reserve(track, count > 0 ? count : 1, KEYS_LINEAR)) {
        return false;
    }
    for (size_t i = 0; i < track->count; ++i) {
        const struct aiVector3D *const value = count > 0 ? &keys[i].mValue : rest;

        track->times[i] = count > 0 ? keys[i].mTime / rate : 0;
        track->values[i][0] = (double)value->x;
        track->values[i][1] = (double)value->y;
        track->values[i][2] = (double)value->z;
    }
    return true;
}

static bool take_turns(key_track *track, const struct aiQuatKey *keys, size_t count, double rate,
                       const struct aiQuaternion *rest)
{
    if (!key_track_reserve(track, count > 0 ? count : 1, KEYS_LINEAR)) {
        return false;
    }
    for (size_t i = 0; i < track->count; ++i) {
        const struct aiQuaternion *const value = count > 0 ? &keys[i].mValue : rest;

        track->times[i] = count > 0 ? keys[i].mTime / rate : 0;
        track->values[i][0] = (double)value->x;
        track->values[i][1] = (double)value->y;
        track->values[i][2] = (double)value->z;
        track->values[i][3] = (double)value->w;
    }
    return true;
}

/// Take a channel. What it has no keys for stays at rest, as Assimp takes the rest apart.
static bool take_channel(tool_channel *out, const struct aiNodeAnim *moves,
                         const struct aiNode *node, double rate)
{
    struct aiVector3D position, scale;
    struct aiQuaternion rotation;

    aiDecomposeMatrix(&node->mTransformation, &scale, &rotation, &position);
    return take_vectors(&out->position, moves->mPositionKeys, moves->mNumPositionKeys, rate,
                        &position) &&
           take_turns(&out->rotation, moves->mRotationKeys, moves->mNumRotationKeys, rate,
                      &rotation) &&
           take_vectors(&out->scale, moves->mScalingKeys, moves->mNumScalingKeys, rate, &scale);
}

// Assimp's channels have the names of parts, which need not be unique.

/// A part of a node by its name.
typedef struct named_part {
    const char *name;
    const struct aiNode *part;
    const struct aiNodeAnim *moves; // or NULL
    size_t number;                  // of the part, in the order of nodes and of parts in a node
} named_part;

static int compare_names(const void *a, const void *b)
{
    const named_part *const x = a, *const y = b;
    const int order = strcmp(x->name, y->name);

    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

static int compare_numbers(const void *a, const void *b)
{
    const named_part *const x = a, *const y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/// List the parts of all nodes by name.
/// @return [*count] to be freed, NULL where there is no memory.
static named_part *index_names(const struct aiNode *const *nodes, size_t node_count, size_t *count)
{
    size_t filled = 0;

    *count = 0;
    for (size_t i = 0; i < node_count; ++i) {
        const struct aiNode *part = first_part(nodes[i]);

        for (++*count; part != nodes[i]; part = part->mChildren[0]) {
            ++*count;
        }
    }
    named_part *const parts = calloc(*count + 1, sizeof *parts);
    for (size_t i = 0; parts != NULL && i < node_count; ++i) {
        const struct aiNode *part = first_part(nodes[i]);

        parts[filled] = (named_part){part->mName.data, part, NULL, filled};
        for (++filled; part != nodes[i]; ++filled) {
            part = part->mChildren[0];
            parts[filled] = (named_part){part->mName.data, part, NULL, filled};
        }
    }
    if (parts != NULL) {
        qsort(parts, *count, sizeof *parts, compare_names);
    }
    return parts;
}

/// Find the first part of a name, in the order of the index; NULL where none has it.
static named_part *find_name(named_part *names, size_t count, const char *name)
{
    size_t begin = 0, end = count;

    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (strcmp(names[middle].name, name) < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < count && strcmp(names[begin].name, name) == 0 ? &names[begin] : NULL;
}

/// Channels that are not played, by the reason, each with the first name.
typedef struct lost_channels {
    size_t ambiguous, doubled, nameless;
    const char *ambiguous_name, *doubled_name, *missing_name;
} lost_channels;

/// Find the part that a channel moves; NULL where the name does not tell.
static named_part *choose_part(lost_channels *lost, named_part *names, size_t count,
                               const char *name)
{
    named_part *const found = find_name(names, count, name);

    if (found == NULL) {
        lost->missing_name = lost->nameless++ == 0 ? name : lost->missing_name;
        return NULL;
    }
    if (found + 1 < names + count && strcmp(found[1].name, name) == 0) {
        lost->ambiguous_name = lost->ambiguous++ == 0 ? name : lost->ambiguous_name;
        return NULL;
    }
    if (found->moves != NULL) {
        lost->doubled_name = lost->doubled++ == 0 ? name : lost->doubled_name;
        return NULL;
    }
    return found;
}

static bool note_lost(tool_scene *out, const lost_channels *lost, tool_fault *fault)
{
    out->unplayed = lost->ambiguous + lost->doubled + lost->nameless;
    return (lost->ambiguous == 0 ||
            scene_note(out, fault,
                       "%zu channels are not played, because several nodes have the name: '%s'",
                       lost->ambiguous, lost->ambiguous_name)) &&
           (lost->doubled == 0 ||
            scene_note(out, fault,
                       "%zu channels are not played, because another moves the node: '%s'",
                       lost->doubled, lost->doubled_name)) &&
           (lost->nameless == 0 ||
            scene_note(out, fault,
                       "%zu channels are not played, because no node has the name: '%s'",
                       lost->nameless, lost->missing_name));
}

/// Give each part the channel whose name tells that it moves it.
static bool bind_channels(tool_scene *out, const struct aiAnimation *animation, named_part *names,
                          size_t count, tool_fault *fault)
{
    lost_channels lost = {0};

    for (unsigned i = 0; i < animation->mNumChannels; ++i) {
        const struct aiNodeAnim *const moves = animation->mChannels[i];
        named_part *const found = choose_part(&lost, names, count, moves->mNodeName.data);

        if (found != NULL) {
            found->moves = moves;
        }
    }
    return note_lost(out, &lost, fault);
}

/// Take the channels of one node. Parts that do not move are a constant matrix in front of the next
/// channel, or behind the last one.
/// @param part  the first of the node's parts.
/// @return how many parts the node has; 0 with the reason.
static size_t take_channels(tool_scene *out, uint32_t node, const struct aiNode *last,
                            const named_part *part, double rate, tool_fault *fault)
{
    tool_channel *channel = NULL;
    tool_affine still = affine_identity();
    size_t count = 0;
    bool is_last = false;

    for (; !is_last; ++count) {
        is_last = part[count].part == last;
        if (part[count].moves == NULL) {
            const tool_affine matrix = affine_of_assimp(&part[count].part->mTransformation);
            still = affine_multiply(&still, &matrix);
            continue;
        }
        channel = &out->channels[out->channel_count++];
        *channel = (tool_channel){.node = node, .before = still, .after = affine_identity()};
        channel->has_frame = count > 0 || !is_last;
        still = affine_identity();
        if (!take_channel(channel, part[count].moves, part[count].part, rate)) {
            fault_say(fault, "no memory for its animation");
            return 0;
        }
        if (!channel_is_playable(channel, part[count].name, fault)) {
            return 0;
        }
    }
    if (channel != NULL) {
        channel->after = still;
    }
    return count;
}

static bool take_animation(tool_scene *out, const struct aiAnimation *animation,
                           const struct aiNode *const *nodes, tool_fault *fault)
{
    const double rate = animation->mTicksPerSecond > 0 ? animation->mTicksPerSecond : DEFAULT_RATE;
    size_t count = 0, part = 0;
    named_part *const parts = index_names(nodes, out->node_count, &count);

    if (parts == NULL) {
        fault_say(fault, "no memory for the names of its nodes");
        return false;
    }
    bool is_good = bind_channels(out, animation, parts, count, fault);
    qsort(parts, count, sizeof *parts, compare_numbers);
    out->channel_count = 0;
    out->duration = animation->mDuration > 0 ? animation->mDuration / rate : 0;
    for (uint32_t i = 0; is_good && i < out->node_count; ++i) {
        const size_t taken = take_channels(out, i, nodes[i], parts + part, rate, fault);

        is_good = taken > 0;
        part += taken;
    }
    free(parts);
    return is_good;
}

/// Choose the animation that plays. @param chosen  out; NULL where there is none.
static bool choose_animation(tool_scene *out, const struct aiScene *source,
                             const struct aiAnimation **chosen, tool_fault *fault)
{
    const char **const names = calloc(source->mNumAnimations + 1, sizeof *names);
    size_t number = 0;

    *chosen = NULL;
    if (names == NULL) {
        fault_say(fault, "no memory for the names of its animations");
        return false;
    }
    for (unsigned i = 0; i < source->mNumAnimations; ++i) {
        names[i] = source->mAnimations[i]->mName.data;
    }
    const bool is_good = scene_choose_animation(out, names, source->mNumAnimations, &number, fault);
    if (is_good && source->mNumAnimations > 0) {
        *chosen = source->mAnimations[number];
    }
    free(names);
    return is_good;
}

/// Assimp turns the root of formats whose z is up, so that y is, but not that of Blender's.
static int find_up_axis(const struct aiScene *source)
{
    const struct aiMetadata *const facts = source->mMetaData;

    for (unsigned i = 0; facts != NULL && i < facts->mNumProperties; ++i) {
        if (strcmp(facts->mKeys[i].data, "SourceAsset_Format") == 0 &&
            facts->mValues[i].mType == AI_AISTRING) {
            const struct aiString *const format = facts->mValues[i].mData;
            return strncmp(format->data, "Blender", 7) == 0 ? 2 : 1;
        }
    }
    return 1;
}

static bool fill_scene(tool_scene *out, const struct aiScene *source,
                       const struct aiNode *const *nodes, const uint32_t *parents, size_t count,
                       tool_fault *fault)
{
    const struct aiAnimation *animation = NULL;

    if (!choose_animation(out, source, &animation, fault) ||
        !scene_reserve(out, count, animation != NULL ? animation->mNumChannels : 0, fault)) {
        return false;
    }
    scene_shape *const shapes = shape_meshes(source);
    bool is_good = shapes != NULL;
    for (size_t i = 0; is_good && i < count; ++i) {
        is_good = fill_node(&out->nodes[i], nodes[i], parents[i]);
        take_shape(&out->nodes[i].shape, nodes[i], shapes, source->mNumMeshes);
    }
    free(shapes);
    if (!is_good) {
        fault_say(fault, "no memory for its nodes");
        return false;
    }
    out->up_axis = find_up_axis(source);
    return animation == NULL || take_animation(out, animation, nodes, fault);
}

static bool take_scene(tool_scene *out, const struct aiScene *source, tool_fault *fault)
{
    uint32_t *parents = NULL;
    size_t count = 0;

    if (source->mRootNode == NULL) {
        fault_say(fault, "has no nodes");
        return false;
    }
    const struct aiNode **const nodes = list_nodes(source->mRootNode, &parents, &count);
    if (nodes == NULL) {
        fault_say(fault, "no memory for its nodes");
        return false;
    }
    const bool is_good = fill_scene(out, source, nodes, parents, count, fault);
    free(nodes);
    free(parents);
    return is_good;
}

/// Translate a message of Assimp.
static void explain(tool_fault *fault)
{
    const char *const reason = aiGetErrorString();

    if (reason == NULL || *reason == '\0') {
        fault_say(fault, "Assimp cannot read it");
    } else if (strncmp(reason, "No suitable reader", 18) == 0) {
        fault_say(fault, "no reader knows this format");
    } else {
        fault_say(fault, "%s", reason);
    }
}

bool scene_read_assimp(tool_scene *out, const char *path, tool_fault *fault)
{
    tool_fault complaint = {""};
    const struct aiLogStream ear = {hear_log, (char *)(void *)&complaint};

    aiAttachLogStream(&ear);
    const struct aiScene *const source = aiImportFile(path, 0);
    aiDetachAllLogStreams();

    if (source == NULL) {
        explain(fault);
        return false;
    }
    bool is_good = complaint.text[0] == '\0';
    if (is_good) {
        is_good = take_scene(out, source, fault);
    } else {
        *fault = complaint;
    }
    aiReleaseImport(source);
    return is_good;
}

#endif
