// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/gltf_types.h"

#ifndef HAVE_JANSSON

bool gltf_types_are_right(const char *path, tool_fault *fault)
{
    (void)path;
    (void)fault;
    return true;
}

#else

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What a member must be.
typedef enum member_type {
    IS_NUMBERS,
    IS_INDICES,
    IS_INDEX,
    IS_BOOLEAN,
    IS_TEXT,
    IS_OBJECT,
    IS_LIST // of objects
} member_type;

/// A member of the objects in an array of the file. It may be missing.
typedef struct member_rule {
    const char *array, *member;
    member_type type;
    size_t count; // of numbers
} member_rule;

static const member_rule rules[] = {
    {"nodes", "translation", IS_NUMBERS, 3},    {"nodes", "rotation", IS_NUMBERS, 4},
    {"nodes", "scale", IS_NUMBERS, 3},          {"nodes", "matrix", IS_NUMBERS, 16},
    {"nodes", "children", IS_INDICES, 0},       {"nodes", "name", IS_TEXT, 0},
    {"scenes", "nodes", IS_INDICES, 0},         {"bufferViews", "byteOffset", IS_INDEX, 0},
    {"bufferViews", "byteStride", IS_INDEX, 0}, {"accessors", "byteOffset", IS_INDEX, 0},
    {"accessors", "bufferView", IS_INDEX, 0},   {"accessors", "normalized", IS_BOOLEAN, 0},
    {"accessors", "sparse", IS_OBJECT, 0},      {"animations", "name", IS_TEXT, 0},
    {"animations", "samplers", IS_LIST, 0},     {"animations", "channels", IS_LIST, 0},
};

/// Members of animations, which are one level further down.
static const member_rule animation_rules[] = {
    {"samplers", "interpolation", IS_TEXT, 0},
    {"channels", "sampler", IS_INDEX, 0},
    {"channels", "target", IS_OBJECT, 0},
};

static const char *const lists[] = {"nodes", "scenes", "bufferViews", "accessors", "animations"};

// Integers are read as reals here, because they may be larger than jansson's.

static bool is_whole(const json_t *value)
{
    return json_is_number(value) && json_number_value(value) == floor(json_number_value(value));
}

/// tinygltf takes some negative numbers as missing.
static bool is_index(const json_t *value)
{
    return is_whole(value) && json_number_value(value) >= 0;
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool are_all(const json_t *value, size_t count, bool (*is_right)(const json_t *))
{
    bool is_good = json_is_array(value) && (count == 0 || json_array_size(value) == count);

    for (size_t i = 0; is_good && i < json_array_size(value); ++i) {
        is_good = is_right(json_array_get(value, i));
    }
    return is_good;
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool has_type(const json_t *value, member_type type, size_t count)
{
    switch (type) {
    case IS_NUMBERS:
        return are_all(value, count, is_number);
    case IS_INDICES:
        return are_all(value, 0, is_whole); // a link to a negative one is refused by its node
    case IS_INDEX:
        return is_index(value);
    case IS_BOOLEAN:
        return json_is_boolean(value);
    case IS_TEXT:
        return json_is_string(value);
    case IS_LIST:
        return are_all(value, 0, is_object);
    default:
        return json_is_object(value);
    }
}

static bool follows(const json_t *root, const member_rule *rule, tool_fault *fault)
{
    const json_t *const array = json_object_get(root, rule->array);

    for (size_t i = 0; i < json_array_size(array); ++i) {
        const json_t *const object = json_array_get(array, i);
        const json_t *const value = json_object_get(object, rule->member);

        if (value != NULL && !has_type(value, rule->type, rule->count)) {
            fault_say(fault, "%s %zu has a wrong '%s'", rule->array, i, rule->member);
            return false;
        }
    }
    return true;
}

static bool target_follows(const json_t *target, size_t channel, tool_fault *fault)
{
    const json_t *const node = json_object_get(target, "node");
    const json_t *const path = json_object_get(target, "path");

    if (node != NULL && !is_index(node)) {
        fault_say(fault, "channels %zu has a wrong 'node'", channel);
        return false;
    }
    if (path != NULL && !json_is_string(path)) {
        fault_say(fault, "channels %zu has a wrong 'path'", channel);
        return false;
    }
    return true;
}

/// Check an animation. One without channels would move nothing, without a word.
static bool animation_follows(const json_t *animation, size_t number, tool_fault *fault)
{
    const json_t *const channels = json_object_get(animation, "channels");

    if (channels == NULL) {
        fault_say(fault, "animations %zu has a wrong 'channels'", number);
        return false;
    }
    for (size_t i = 0; i < sizeof animation_rules / sizeof *animation_rules; ++i) {
        if (!follows(animation, &animation_rules[i], fault)) {
            return false;
        }
    }
    for (size_t i = 0; i < json_array_size(channels); ++i) {
        if (!target_follows(json_object_get(json_array_get(channels, i), "target"), i, fault)) {
            return false;
        }
    }
    return true;
}

static bool root_follows(const json_t *root, tool_fault *fault)
{
    const json_t *const scene = json_object_get(root, "scene");
    const json_t *const animations = json_object_get(root, "animations");

    if (scene != NULL && !is_index(scene)) {
        fault_say(fault, "has a wrong 'scene'");
        return false;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        const json_t *const list = json_object_get(root, lists[i]);

        if (list != NULL && !has_type(list, IS_LIST, 0)) {
            fault_say(fault, "has a wrong '%s'", lists[i]);
            return false;
        }
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
        if (!follows(root, &rules[i], fault)) {
            return false;
        }
    }
    for (size_t i = 0; i < json_array_size(animations); ++i) {
        if (!animation_follows(json_array_get(animations, i), i, fault)) {
            return false;
        }
    }
    return true;
}

/// Read the JSON of a binary file, at most so many bytes as its header says. @return NULL: cannot.
static json_t *load_binary(FILE *file, size_t flags)
{
    unsigned char head[20];
    json_t *root = NULL;

    if (fread(head, 1, sizeof head, file) != sizeof head) {
        return NULL;
    }
    const size_t length =
        (size_t)head[12] | (size_t)head[13] << 8 | (size_t)head[14] << 16 | (size_t)head[15] << 24;
    char *const text = malloc(length + 1);
    if (text != NULL && fread(text, 1, length, file) == length) {
        root = json_loadb(text, length, flags, NULL);
    }
    free(text);
    return root;
}

static json_t *load(const char *path)
{
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    FILE *const file = fopen(path, "rb");
    char magic[4] = "";

    if (file == NULL) {
        return NULL;
    }
    const bool is_binary = fread(magic, 1, sizeof magic, file) == sizeof magic &&
                           memcmp(magic, "glTF", sizeof magic) == 0;
    rewind(file);
    json_t *const root = is_binary ? load_binary(file, flags) : json_loadf(file, flags, NULL);
    (void)fclose(file);
    return root;
}

bool gltf_types_are_right(const char *path, tool_fault *fault)
{
    json_t *const root = load(path);
    const bool is_right = root == NULL || root_follows(root, fault);

    json_decref(root);
    return is_right;
}

#endif
