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
    IS_OBJECT
} member_type;

/// A member of the objects in an array of the file.
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
};

// Integers are read as reals here, because they may be larger than jansson's.

static bool is_index(const json_t *value)
{
    return json_is_number(value) && json_number_value(value) == floor(json_number_value(value));
}

static bool are_numbers(const json_t *value, size_t count, bool (*is_right)(const json_t *))
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
        return are_numbers(value, count, is_number);
    case IS_INDICES:
        return are_numbers(value, 0, is_index);
    case IS_INDEX:
        return is_index(value);
    case IS_BOOLEAN:
        return json_is_boolean(value);
    case IS_TEXT:
        return json_is_string(value);
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

/// Check the members of samplers, which are two levels down.
static bool samplers_follow(const json_t *root, tool_fault *fault)
{
    static const member_rule rule = {"samplers", "interpolation", IS_TEXT, 0};
    const json_t *const animations = json_object_get(root, "animations");

    for (size_t i = 0; i < json_array_size(animations); ++i) {
        if (!follows(json_array_get(animations, i), &rule, fault)) {
            return false;
        }
    }
    return true;
}

static bool root_follows(const json_t *root, tool_fault *fault)
{
    const json_t *const scene = json_object_get(root, "scene");

    if (scene != NULL && !is_index(scene)) {
        fault_say(fault, "has a wrong 'scene'");
        return false;
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
        if (!follows(root, &rules[i], fault)) {
            return false;
        }
    }
    return samplers_follow(root, fault);
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
