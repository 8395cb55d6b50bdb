// SPDX-License-Identifier: MIT
// For suites of robots in files: load text as a file, find nodes, compute worlds at a time.
#ifndef ESPALIER_TESTS_TOOLS_ROBOT_FILES_H
#define ESPALIER_TESTS_TOOLS_ROBOT_FILES_H

#include "tools/robot.h"

#include "tests/runner.h"

#include <stdio.h>
#include <string.h>

/// Nodes of the largest scene of these suites.
#define MOST_NODES 16

static inline void write_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "wb");

    ck_assert(file != NULL);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/// Load text as a scene from a file of a name, which is removed again.
static inline bool load_text(tool_scene *out, const char *path, const char *text, tool_fault *fault)
{
    write_file(path, text);
    const bool is_good = scene_load(out, path, NULL, fault);
    ck_assert_int_eq(remove(path), 0);
    return is_good;
}

static inline size_t find_node(const tool_scene *scene, const char *name)
{
    size_t i = 0;

    while (i < scene->node_count && strcmp(scene->nodes[i].name, name) != 0) {
        ++i;
    }
    ck_assert_msg(i < scene->node_count, "no node %s", name);
    return i;
}

/// The worlds of a moment, twice: as placements and as matrices lead to them, which must agree.
static inline void worlds_at(tool_affine *worlds, const tool_scene *scene, double seconds)
{
    local_frame locals[MOST_NODES];
    tool_affine by_place[MOST_NODES];

    ck_assert_uint_le(scene->node_count, MOST_NODES);
    scene_pose(scene, seconds, locals);
    for (size_t i = 0; i < scene->node_count; ++i) {
        const uint32_t parent = scene->nodes[i].parent;
        const tool_affine local = affine_of_placement(&locals[i].place);
        const bool is_top = parent == SCENE_NO_PARENT;

        by_place[i] = is_top ? local : affine_multiply(&by_place[parent], &local);
        worlds[i] = is_top ? locals[i].matrix : affine_multiply(&worlds[parent], &locals[i].matrix);
        for (int j = 0; j < 12; ++j) {
            ck_assert_double_eq_tol(by_place[i].m[j / 4][j % 4], worlds[i].m[j / 4][j % 4], 1e-12);
        }
    }
}

#endif
