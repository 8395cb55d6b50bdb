// SPDX-License-Identifier: MIT
// Bounds of the nodes of scenes: boxes of meshes, and of bones where there are none; and the matrix of a camera,
// which takes the corners of what it sees to those of clip space.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/bounds.h"
#include "tools/frustum.h"

#include "tests/runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Whether a box contains a point.
static bool contains(const espl_bounds *box, double x, double y, double z)
{
    const double point[3] = {x, y, z};
    bool is_inside = true;

    for (int i = 0; i < 3; ++i) {
        is_inside = is_inside &&
                    fabs(point[i] - (double)box->center[i]) <= (double)box->half[i] * (1 + 1e-6);
    }
    return is_inside;
}

static scene_node make_node(uint32_t parent, double x, double y, double z)
{
    scene_node node = {.parent = parent};

    node.rest.place = placement_identity();
    node.rest.place.position[0] = x;
    node.rest.place.position[1] = y;
    node.rest.place.position[2] = z;
    return node;
}

TEST(boxes_of_nodes_without_meshes_contain_the_bones_to_their_children)
{
    scene_node nodes[] = {
        make_node(SCENE_NO_PARENT, 100, 0, 0), make_node(0, 0, 2, 0), make_node(0, -1, 0, 0),
        make_node(1, 0, 0, 0), // in the place of its parent
    };
    const tool_scene scene = {.node_count = 4, .nodes = nodes};
    node_bounds bounds[4];

    bounds_measure(&scene, bounds);
    ck_assert(contains(&bounds[0].box, 0, 0, 0) && contains(&bounds[0].box, 0, 2, 0) &&
              contains(&bounds[0].box, -1, 0, 0));
    ck_assert(!contains(&bounds[0].box, 1, 0, 0) && !contains(&bounds[0].box, 0, 3, 0));
    for (uint32_t i = 0; i < 4; ++i) {
        ck_assert(contains(&bounds[i].box, 0, 0, 0));
        ck_assert_uint_eq(bounds[i].drawn.user_data, i);
        for (int axis = 0; axis < 3; ++axis) {
            ck_assert(bounds[i].box.half[axis] > 0 && isfinite(bounds[i].box.half[axis]));
        }
        for (uint32_t j = 0; j < i; ++j) {
            ck_assert_uint_ne(bounds[i].drawn.key, bounds[j].drawn.key);
        }
    }
}

TEST(a_scene_of_one_point_has_a_box_of_one_unit)
{
    scene_node node = make_node(SCENE_NO_PARENT, 0, 0, 0);
    const tool_scene scene = {.node_count = 1, .nodes = &node};
    node_bounds bounds;

    bounds_measure(&scene, &bounds);
    ck_assert_float_eq_tol(bounds.box.half[0], 0.5F, 1e-6F);
}

TEST(boxes_of_meshes_are_as_they_are_and_nodes_that_draw_the_same_have_one_key)
{
    scene_node nodes[] = {
        make_node(SCENE_NO_PARENT, 0, 0, 0),
        make_node(0, 9, 0, 0),
        make_node(0, 0, 9, 0),
    };
    const tool_scene scene = {.node_count = 3, .nodes = nodes};
    node_bounds bounds[3];

    nodes[0].shape = (scene_shape){{-1, -2, -3}, {3, 2, 1}, 7};
    nodes[1].shape = (scene_shape){{0, 0, 0}, {1, 1, 1}, 7};
    bounds_measure(&scene, bounds);
    const espl_bounds wanted = {{1, 0, -1}, {2, 2, 2}};
    ck_assert_mem_eq(&bounds[0].box, &wanted, sizeof wanted); // its children are outside
    ck_assert_uint_eq(bounds[0].drawn.key, bounds[1].drawn.key);
    ck_assert_uint_ne(bounds[0].drawn.key, bounds[2].drawn.key);
    ck_assert_uint_lt(bounds[2].drawn.key, 1U << 31);
}

TEST(shapes_that_are_not_finite_or_are_empty_are_none)
{
    scene_shape shape = {{0, 0, 0}, {1, 1, 1}, 0};

    shape_finish(&shape, 3);
    ck_assert_uint_eq(shape.number, 3);
    shape.most[1] = (double)NAN;
    shape_finish(&shape, 3);
    ck_assert_uint_eq(shape.number, 0);
    shape.most[1] = -1;
    shape_finish(&shape, 3);
    ck_assert_uint_eq(shape.number, 0);
    shape.most[1] = 1e39;
    shape_finish(&shape, 3);
    ck_assert_uint_eq(shape.number, 0);
}

#ifdef HAVE_TINYGLTF

// The first node has a mesh of two primitives, the second one its last alone, and the third one's mesh is bent by a
// skin.
TEST(meshes_of_gltf_have_the_boxes_of_their_positions)
{
    static const char text[] =
        "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"scene\":0,"
        "\"nodes\":[{\"mesh\":0,\"children\":[1,2]},{\"mesh\":1},{\"mesh\":0,\"skin\":0}],"
        "\"skins\":[{\"joints\":[0]}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}},{\"attributes\":"
        "{\"POSITION\":1}}]},{\"primitives\":[{\"attributes\":{\"POSITION\":1}}]}],"
        "\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[-1,-2,-3],"
        "\"max\":[0,0,0]},{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,-9],"
        "\"max\":[4,5,-8]}]}";
    char path[64];
    tool_scene scene = {0};
    tool_fault fault = {""};

    (void)snprintf(path, sizeof path, "bounds_test_%ld.gltf", (long)getpid());
    FILE *const file = fopen(path, "wb");
    ck_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    const bool is_good = scene_load(&scene, path, NULL, &fault);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_msg(is_good, "%s", fault.text);

    const scene_shape first = {{-1, -2, -9}, {4, 5, 0}, 1}, second = {{0, 0, -9}, {4, 5, -8}, 2};
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq(scene.nodes[0].shape.least[i], first.least[i]);
        ck_assert_double_eq(scene.nodes[0].shape.most[i], first.most[i]);
        ck_assert_double_eq(scene.nodes[1].shape.least[i], second.least[i]);
        ck_assert_double_eq(scene.nodes[1].shape.most[i], second.most[i]);
    }
    ck_assert_uint_eq(scene.nodes[0].shape.number, 1);
    ck_assert_uint_eq(scene.nodes[1].shape.number, 2);
    ck_assert_uint_eq(scene.nodes[2].shape.number, 0);
    scene_release(&scene);
}

#endif

#ifdef HAVE_ASSIMP

TEST(meshes_by_assimp_have_the_boxes_of_their_vertices)
{
    char path[64];
    tool_scene scene = {0};
    tool_fault fault = {""};
    size_t found = 0;

    (void)snprintf(path, sizeof path, "bounds_test_%ld.obj", (long)getpid());
    FILE *const file = fopen(path, "wb");
    ck_assert(file != NULL && fputs("o wedge\nv -1 0 2\nv 5 0 2\nv 0 7 -4\nf 1 2 3\n", file) >= 0 &&
              fclose(file) == 0);
    const bool is_good = scene_load(&scene, path, NULL, &fault);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_msg(is_good, "%s", fault.text);
    for (size_t i = 0; i < scene.node_count; ++i) {
        const scene_shape *const shape = &scene.nodes[i].shape;

        if (shape->number != 0) {
            ck_assert_double_eq(shape->least[0], -1);
            ck_assert_double_eq(shape->most[1], 7);
            ck_assert_double_eq(shape->least[2], -4);
            ck_assert_double_eq(shape->most[2], 2);
            ++found;
        }
    }
    ck_assert_uint_eq(found, 1);
    scene_release(&scene);
}

#endif

#ifdef HAVE_MUJOCO

// A capsule along the body's y, above its origin; a box that is turned by a quarter about z.
TEST(bodies_of_mujoco_have_boxes_around_their_geoms)
{
    static const char text[] =
        "<mujoco><worldbody><body pos=\"1 2 3\"><freejoint/>"
        "<geom type=\"capsule\" size=\"0.1 0.5\" pos=\"0 0 2\" euler=\"90 0 0\"/>"
        "<body><geom type=\"box\" size=\"1 2 3\" euler=\"0 0 "
        "90\"/></body></body></worldbody></mujoco>";
    const double most[2][3] = {{0.1, 0.6, 2.1}, {2, 1, 3}};
    const double least[2][3] = {{-0.1, -0.6, 1.9}, {-2, -1, -3}};
    char path[64];
    tool_scene scene = {0};
    tool_fault fault = {""};

    (void)snprintf(path, sizeof path, "bounds_test_%ld.xml", (long)getpid());
    FILE *const file = fopen(path, "wb");
    ck_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    const bool is_good = scene_load(&scene, path, NULL, &fault);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_msg(is_good, "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 2);
    for (int node = 0; node < 2; ++node) {
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_eq_tol(scene.nodes[node].shape.most[i], most[node][i], 1e-9);
            ck_assert_double_eq_tol(scene.nodes[node].shape.least[i], least[node][i], 1e-9);
        }
    }
    scene_release(&scene);
}

#endif

static void corners_are_those_of_clip_space(const tool_frustum *frustum)
{
    double corners[FRUSTUM_CORNERS][3];
    float matrix[16];

    frustum_corners(frustum, corners);
    frustum_matrix(frustum, matrix);
    for (int corner = 0; corner < FRUSTUM_CORNERS; ++corner) {
        double clip[4];

        for (int row = 0; row < 4; ++row) {
            clip[row] = (double)matrix[12 + row];
            for (int i = 0; i < 3; ++i) {
                clip[row] += (double)matrix[4 * i + row] * corners[corner][i];
            }
        }
        ck_assert_double_gt(clip[3], 0);
        ck_assert_double_eq_tol(clip[0] / clip[3], (corner & 1) != 0 ? 1 : -1, 1e-5);
        ck_assert_double_eq_tol(clip[1] / clip[3], (corner & 2) != 0 ? 1 : -1, 1e-5);
        ck_assert_double_eq_tol(clip[2] / clip[3], (corner & 4) != 0 ? 1 : 0, 1e-5);
    }
}

TEST(corners_of_a_camera_are_those_of_clip_space)
{
    for (int up = 1; up <= 2; ++up) {
        tool_frustum frustum = {
            .camera = {.centre = {3, 4, 5}, .yaw = 0.7, .pitch = 0.3, .distance = 6},
            .nearest = 1,
            .farthest = 20,
            .half = {0.5, 0.3},
            .up_axis = up,
        };
        double eye[3], axes[3][3];

        corners_are_those_of_clip_space(&frustum);
        frustum.is_orthographic = true;
        corners_are_those_of_clip_space(&frustum);
        // Right, above and ahead are a left-handed frame: what is above is the cross product of ahead and right.
        frustum_axes(&frustum, eye, axes);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;

            ck_assert_double_eq_tol(axes[2][j] * axes[0][k] - axes[2][k] * axes[0][j], -axes[1][i],
                                    1e-12);
            ck_assert_double_eq_tol(eye[i] + 6 * axes[2][i], frustum.camera.centre[i], 1e-12);
        }
        ck_assert_double_gt(axes[1][up], 0);
    }
}
