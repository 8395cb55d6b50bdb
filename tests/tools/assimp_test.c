// SPDX-License-Identifier: MIT
// Scenes by Assimp: channels that a name does not bind, and chains of helper nodes that are one node.
// The scenes are BVH, in which a test can name joints as it likes.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/scene.h"

#include "tests/runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_ASSIMP

#define TURNS "CHANNELS 3 Zrotation Xrotation Yrotation\n"
#define MOTION "MOTION\nFrames: 2\nFrame Time: 1\n"

static tool_scene load(const char *text)
{
    char path[64];
    tool_scene scene = {0};
    tool_fault fault = {""};

    (void)snprintf(path, sizeof path, "assimp_test_%ld.bvh", (long)getpid());
    FILE *const file = fopen(path, "wb");
    ck_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    const bool is_good = scene_load(&scene, path, NULL, &fault);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_msg(is_good, "%s", fault.text);
    return scene;
}

/// A node's matrix at a time, by the file's keys; the transform for the library agrees.
static tool_affine local_at(const tool_scene *scene, size_t node, double seconds)
{
    local_frame locals[8];

    ck_assert_uint_le(scene->node_count, 8);
    scene_pose(scene, seconds, locals);
    const tool_affine played = affine_of_placement(&locals[node].place);
    for (int i = 0; i < 12; ++i) {
        ck_assert_double_eq_tol(played.m[i / 4][i % 4], locals[node].matrix.m[i / 4][i % 4], 1e-6);
    }
    return locals[node].matrix;
}

// Two joints have one name, and each has a channel: neither is played.
TEST(channels_of_an_ambiguous_name_are_noted_and_not_played)
{
    tool_scene scene =
        load("HIERARCHY\nROOT cart\n{\nOFFSET 0 0 0\n" TURNS "JOINT wheel\n{\nOFFSET 1 0 0\n" TURNS
             "End Site\n{\nOFFSET 0 1 0\n}\n}\n"
             "JOINT wheel\n{\nOFFSET 2 0 0\n" TURNS "End Site\n{\nOFFSET 0 1 0\n}\n}\n"
             "}\n" MOTION "90 0 0 90 0 0 0 0 0\n90 0 0 90 0 0 0 0 0\n");

    ck_assert_uint_eq(scene.unplayed, 2);
    ck_assert_str_eq(scene.notes,
                     "2 channels are not played, because several nodes have the name: 'wheel'");
    ck_assert_double_eq_tol(local_at(&scene, 0, 0.5).m[1][0], 1, 1e-6);
    for (size_t i = 1; i < scene.node_count; ++i) {
        ck_assert_double_eq(local_at(&scene, i, 0.5).m[0][0], 1);
    }
    scene_release(&scene);
}

// 5 along x, a turn of 90 degrees about z that moves, and 1 along the x that was turned.
TEST(helper_nodes_of_a_pivot_are_one_node_that_moves)
{
    tool_scene scene = load(
        "HIERARCHY\nROOT top\n{\nOFFSET 0 0 0\n" TURNS
        "JOINT arm_$AssimpFbx$_Translation\n{\nOFFSET 5 0 0\nCHANNELS 0\n"
        "JOINT arm_$AssimpFbx$_Rotation\n{\nOFFSET 0 0 0\n" TURNS
        "JOINT arm\n{\nOFFSET 1 0 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 3 0\n}\n}\n}\n}\n}\n" MOTION
        "0 0 0 90 0 0\n0 0 0 90 0 0\n");

    ck_assert_uint_eq(scene.node_count, 3);
    ck_assert_str_eq(scene.nodes[1].name, "arm");
    ck_assert_uint_eq(scene.nodes[1].parent, 0);
    ck_assert_uint_eq(scene.nodes[2].parent, 1);
    ck_assert_ptr_null(scene.notes);
    ck_assert_double_eq(scene.nodes[1].rest.matrix.m[0][3], 6);

    const tool_affine local = local_at(&scene, 1, 0.5);
    ck_assert_double_eq_tol(local.m[0][3], 5, 1e-6);
    ck_assert_double_eq_tol(local.m[1][3], 1, 1e-6);
    ck_assert_double_eq_tol(local.m[1][0], 1, 1e-6);

    uint32_t moved[8];
    const size_t count = scene_list_moved(&scene, moved);
    for (size_t i = 0; i + 1 < count; ++i) {
        ck_assert_uint_ne(moved[i], moved[i + 1]);
    }
    scene_release(&scene);
}

// A helper with two nodes below it is a part of neither.
TEST(helper_nodes_with_several_children_stay_nodes)
{
    tool_scene scene = load(
        "HIERARCHY\nROOT top\n{\nOFFSET 0 0 0\n" TURNS
        "JOINT arm_$AssimpFbx$_Rotation\n{\nOFFSET 5 0 0\n" TURNS
        "JOINT left\n{\nOFFSET 1 0 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 3 0\n}\n}\n"
        "JOINT right\n{\nOFFSET 2 0 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 3 0\n}\n}\n}\n}\n" MOTION
        "0 0 0 90 0 0\n0 0 0 90 0 0\n");

    ck_assert_uint_eq(scene.node_count, 6);
    ck_assert_str_eq(scene.nodes[1].name, "arm_$AssimpFbx$_Rotation");
    ck_assert_double_eq_tol(local_at(&scene, 1, 0.5).m[1][0], 1, 1e-6);
    scene_release(&scene);
}

#else

TEST(build_without_assimp_has_no_scenes_of_it)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!scene_read_assimp(&scene, "x", &fault));
    ck_assert_ptr_nonnull(strstr(fault.text, "built without Assimp"));
}

#endif
