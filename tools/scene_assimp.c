// SPDX-License-Identifier: MIT
// Scenes by Assimp: the node tree as the file has it (no post-processing), and its first animation.
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

#include <math.h>
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

/// List the tree breadth-first. @return [*count] nodes to be freed, NULL where there is no memory.
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
            nodes[filled] = nodes[i]->mChildren[child];
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
    out->name = strdup(node->mName.data);
    out->parent = parent;
    out->rest.matrix = affine_of_assimp(&node->mTransformation);
    // The last row is not looked at: a projection has no place in a tree of placements.
    out->rest.defect = placement_of_affine(&out->rest.place, &out->rest.matrix);
    return out->name != NULL;
}

static bool take_vectors(key_track *track, const struct aiVectorKey *keys, size_t count,
                         double rate)
{
    if (!key_track_reserve(track, count)) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        track->times[i] = keys[i].mTime / rate;
        track->values[i][0] = (double)keys[i].mValue.x;
        track->values[i][1] = (double)keys[i].mValue.y;
        track->values[i][2] = (double)keys[i].mValue.z;
    }
    return true;
}

static bool take_turns(key_track *track, const struct aiQuatKey *keys, size_t count, double rate)
{
    if (!key_track_reserve(track, count)) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        double *const value = track->values[i];

        track->times[i] = keys[i].mTime / rate;
        value[0] = (double)keys[i].mValue.x;
        value[1] = (double)keys[i].mValue.y;
        value[2] = (double)keys[i].mValue.z;
        value[3] = (double)keys[i].mValue.w;
        quaternion_normalize(value);
    }
    return true;
}

static bool take_channel(tool_channel *out, const struct aiNodeAnim *moves, uint32_t node,
                         double rate)
{
    out->node = node;
    return take_vectors(&out->position, moves->mPositionKeys, moves->mNumPositionKeys, rate) &&
           take_turns(&out->rotation, moves->mRotationKeys, moves->mNumRotationKeys, rate) &&
           take_vectors(&out->scale, moves->mScalingKeys, moves->mNumScalingKeys, rate);
}

static bool find_node(uint32_t *out, const tool_scene *scene, const char *name)
{
    for (size_t i = 0; i < scene->node_count; ++i) {
        if (strcmp(scene->nodes[i].name, name) == 0) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return false;
}

static bool track_is_finite(const key_track *track)
{
    for (size_t i = 0; i < track->count; ++i) {
        double sum = track->times[i];
        for (int j = 0; j < 4; ++j) {
            sum += fabs(track->values[i][j]);
        }
        if (!(sum < 1e30)) {
            return false;
        }
    }
    return true;
}

/// Take the channels that name a node; several for one node replace each other in order.
static bool take_animation(tool_scene *out, const struct aiAnimation *animation, tool_fault *fault)
{
    const double rate = animation->mTicksPerSecond > 0 ? animation->mTicksPerSecond : DEFAULT_RATE;
    size_t count = 0;

    for (unsigned i = 0; i < animation->mNumChannels; ++i) {
        const struct aiNodeAnim *const moves = animation->mChannels[i];
        tool_channel *const channel = &out->channels[count];
        uint32_t node = 0;

        if (!find_node(&node, out, moves->mNodeName.data)) {
            continue;
        }
        if (!take_channel(channel, moves, node, rate)) {
            fault_say(fault, "no memory for its animation");
            return false;
        }
        if (!track_is_finite(&channel->position) || !track_is_finite(&channel->rotation) ||
            !track_is_finite(&channel->scale)) {
            fault_say(fault, "the animation of node '%s' is not finite", out->nodes[node].name);
            return false;
        }
        ++count;
    }
    out->channel_count = count;
    out->duration = animation->mDuration > 0 ? animation->mDuration / rate : 0;
    return true;
}

static bool take_scene(tool_scene *out, const struct aiScene *source, tool_fault *fault)
{
    const struct aiAnimation *const animation =
        source->mNumAnimations > 0 ? source->mAnimations[0] : NULL;
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

    bool is_good =
        scene_reserve(out, count, animation != NULL ? animation->mNumChannels : 0, fault);
    for (size_t i = 0; is_good && i < count; ++i) {
        is_good = fill_node(&out->nodes[i], nodes[i], parents[i]);
        if (!is_good) {
            fault_say(fault, "no memory for its nodes");
        }
    }
    free(nodes);
    free(parents);
    out->up_axis = 1;
    return is_good && (animation == NULL || take_animation(out, animation, fault));
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
