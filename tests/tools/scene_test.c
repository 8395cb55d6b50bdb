// SPDX-License-Identifier: MIT
// Scenes of several formats: which axis is up, in what is drawn and along which copies are put.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/tools/robot_files.h"

#include <unistd.h>

/// The axis that is up in text of a format.
static inline int axis_of(const char *name, const char *text)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(load_text(&scene, name, text, &fault), "%s", fault.text);
    const int axis = scene.up_axis;
    scene_release(&scene);
    return axis;
}

TEST(file_that_no_reader_of_this_build_knows_is_refused)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!load_text(&scene, "scene_test.txt", "hello", &fault));
    ck_assert_str_ne(fault.text, "");
}

#ifdef HAVE_MUJOCO
TEST(z_is_up_in_mjcf)
{
    ck_assert_int_eq(
        axis_of("scene_test.xml", "<mujoco><worldbody><body name='b'/></worldbody></mujoco>"), 2);
}
#endif

#ifdef HAVE_URDFDOM
TEST(z_is_up_in_urdf)
{
    ck_assert_int_eq(axis_of("scene_test.urdf", "<robot name='r'><link name='a'/></robot>"), 2);
}
#endif

#ifdef HAVE_ASSIMP
TEST(y_is_up_in_what_assimp_turns)
{
    ck_assert_int_eq(axis_of("scene_test.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), 1);
}

TEST(z_is_up_in_scenes_of_blender)
{
    const char *const models = getenv("ESPALIER_ASSIMP_MODELS");
    char path[1000];
    tool_scene scene = {0};
    tool_fault fault = {""};

    (void)snprintf(path, sizeof path, "%s/BLEND/CubeHierarchy_248.blend",
                   models != NULL ? models : "/usr/share/assimp/models");
    if (access(path, R_OK) != 0) {
        return; // the package of these models is not installed
    }
    ck_assert_msg(scene_load(&scene, path, NULL, &fault), "%s", fault.text);
    ck_assert_int_eq(scene.up_axis, 2);
    scene_release(&scene);
}
#endif
