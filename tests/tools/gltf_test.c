// SPDX-License-Identifier: MIT
// Scenes in glTF: nodes by their indices, and keys of every kind with the values that the format gives
// them.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/tools/glb.h"

#include "tests/runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_TINYGLTF

/// Load what must be loaded.
static tool_scene load(const glb_maker *maker, const char *rest)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(glb_load(&scene, maker, rest, NULL, &fault), "%s", fault.text);
    return scene;
}

#define MOST 16

/// A node's local matrix at a time, by the file's numbers; the transform for the library agrees.
static tool_affine local_at(const tool_scene *scene, size_t node, double seconds, double within)
{
    local_frame locals[MOST];

    ck_assert_uint_le(scene->node_count, MOST);
    scene_pose(scene, seconds, locals);
    const tool_affine played = affine_of_placement(&locals[node].place);
    for (int i = 0; i < 12; ++i) {
        ck_assert_double_eq_tol(played.m[i / 4][i % 4], locals[node].matrix.m[i / 4][i % 4],
                                within);
    }
    return locals[node].matrix;
}

/// Where along x a node is.
static double x_at(const tool_scene *scene, size_t node, double seconds)
{
    return local_at(scene, node, seconds, 1e-12).m[0][3];
}

// Cosine and sine, in the matrix of a turn about y.
static double cosine_at(const tool_scene *scene, size_t node, double seconds)
{
    return local_at(scene, node, seconds, 1e-12).m[0][0];
}

static double sine_at(const tool_scene *scene, size_t node, double seconds)
{
    return local_at(scene, node, seconds, 1e-12).m[0][2];
}

static const float second_0_and_1[] = {0, 1}, second_0_and_2[] = {0, 2};

// Nodes by their indices.

static void two_wheels_move(const char *first, const char *second)
{
    static const float still[] = {1, 0, 0, 1, 0, 0}, moved[] = {7, 0, 0, 7, 0, 0};
    glb_maker maker = {.size = 0};
    char rest[1024];

    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    (void)glb_add_floats(&maker, 2, 3, still);
    (void)glb_add_floats(&maker, 2, 3, moved);
    (void)snprintf(
        rest, sizeof rest,
        "\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[1,2]},{%s"
        "\"translation\":[1,0,0]},{%s\"translation\":[2,0,0]}],"
        "\"animations\":[{\"channels\":[" CHANNEL("0", "1", "translation") "," CHANNEL(
            "1", "2", "translation") "],\"samplers\":["
                                     "{\"input\":0,\"output\":1},{\"input\":0,\"output\":2}]}]",
        first, second);
    tool_scene scene = load(&maker, rest);
    ck_assert_uint_eq(scene.node_count, 3);
    ck_assert_uint_eq(scene.channel_count, 2);
    ck_assert_ptr_null(scene.notes);
    ck_assert_double_eq(scene.nodes[2].rest.matrix.m[0][3], 2);
    ck_assert_double_eq(x_at(&scene, 1, 0.5), 1);
    ck_assert_double_eq(x_at(&scene, 2, 0.5), 7);
    scene_release(&scene);
}

TEST(two_nodes_of_one_name_move_by_their_own_channels)
{
    two_wheels_move("\"name\":\"wheel\",", "\"name\":\"wheel\",");
}

TEST(nodes_without_names_move_by_their_own_channels)
{
    two_wheels_move("", "");
}

TEST(nodes_are_breadth_first_and_have_the_names_of_the_file)
{
    static const char *const names[] = {"top", "other", "b", "a", "node 0"};
    static const uint32_t parents[] = {SCENE_NO_PARENT, SCENE_NO_PARENT, 0, 0, 2};
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(glb_load_text(&scene,
                            "\"scenes\":[{\"nodes\":[4,2]}],\"nodes\":[{},{\"name\":\"a\"},"
                            "{\"name\":\"other\"},{\"name\":\"b\",\"children\":[0]},"
                            "{\"name\":\"top\",\"children\":[3,1]}]",
                            &fault));
    ck_assert_uint_eq(scene.node_count, 5);
    for (size_t i = 0; i < 5; ++i) {
        ck_assert_str_eq(scene.nodes[i].name, names[i]);
        ck_assert_uint_eq(scene.nodes[i].parent, parents[i]);
    }
    scene_release(&scene);
}

TEST(the_default_scene_plays_and_the_others_do_not)
{
#define SCENES "\"scenes\":[{\"nodes\":[0]},{\"name\":\"night\",\"nodes\":[1,2]}],"
#define THREE "\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]"
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(glb_load_text(&scene, "\"scene\":1," SCENES THREE, &fault));
    ck_assert_uint_eq(scene.node_count, 2);
    ck_assert_str_eq(scene.nodes[0].name, "b");
    ck_assert_str_eq(scene.notes, "scene 2 of 2 plays, 'night'");
    scene_release(&scene);
    ck_assert(glb_load_text(&scene, SCENES THREE, &fault));
    ck_assert_uint_eq(scene.node_count, 1);
    ck_assert_str_eq(scene.nodes[0].name, "a");
    scene_release(&scene);
    ck_assert(glb_load_text(&scene, THREE, &fault));
    ck_assert_uint_eq(scene.node_count, 3);
    ck_assert_ptr_null(scene.notes);
    scene_release(&scene);
}

// Keys.

TEST(steps_are_played_as_steps)
{
    static const float times[] = {0.5F, 1, 2}, values[] = {1, 0, 0, 5, 0, 0, 3, 0, 0};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 3, 1, times);
    (void)glb_add_floats(&maker, 3, 3, values);
    tool_scene scene = load(&maker, ONE_CHANNEL("translation", "STEP"));
    ck_assert_double_eq(scene.duration, 2);
    ck_assert_double_eq(x_at(&scene, 0, 0), 1);
    ck_assert_double_eq(x_at(&scene, 0, 0.999), 1);
    ck_assert_double_eq(x_at(&scene, 0, 1), 5);
    ck_assert_double_eq(x_at(&scene, 0, 1.999), 5);
    ck_assert_double_eq(x_at(&scene, 0, 2), 3);    // the end
    ck_assert_double_eq(x_at(&scene, 0, 2.25), 1); // anew
    scene_release(&scene);
}

// From 10 at 0 to 20 at 2, leaving at 3 a second and arriving at -1 a second: at t of 2 seconds,
// with s = t / 2, the format's formula gives (2s^3 - 3s^2 + 1) 10 + 2 (s^3 - 2s^2 + s) 3 +
// (3s^2 - 2s^3) 20 + 2 (s^3 - s^2) (-1): 16 at 1 second, 12.5 at half a second.
TEST(curves_have_tangents_that_the_time_between_keys_scales)
{
    static const float values[] = {9, 9, 9, 10, 0, 0, 3, 0, 0, -1, 0, 0, 20, 0, 0, 8, 8, 8};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_2);
    (void)glb_add_floats(&maker, 6, 3, values);
    tool_scene scene = load(&maker, ONE_CHANNEL("translation", "CUBICSPLINE"));
    ck_assert_double_eq_tol(x_at(&scene, 0, 0), 10, 1e-12);
    ck_assert_double_eq_tol(x_at(&scene, 0, 0.5), 12.5, 1e-12);
    ck_assert_double_eq_tol(x_at(&scene, 0, 1), 16, 1e-12);
    ck_assert_double_eq(local_at(&scene, 0, 1, 1e-12).m[1][3], 0);
    scene_release(&scene);
}

// Halfway between no turn and a half turn about y, with level tangents, is (0, 0.5, 0, 0.5), of
// which the direction is a quarter turn.
TEST(rotations_on_a_curve_are_brought_to_unit_length)
{
    static const float values[24] = {[7] = 1, [17] = 1};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_2);
    (void)glb_add_floats(&maker, 6, 4, values);
    tool_scene scene = load(&maker, ONE_CHANNEL("rotation", "CUBICSPLINE"));
    ck_assert_double_eq_tol(sine_at(&scene, 0, 1), 1, 1e-12);
    ck_assert_double_eq_tol(cosine_at(&scene, 0, 1), 0, 1e-12);
    scene_release(&scene);
}

// From no turn to 120 degrees about y, written with the other sign: a quarter of the shorter way is
// 30 degrees.
TEST(rotations_between_keys_take_the_shorter_arc_at_an_even_speed)
{
    static const float values[] = {0, 0, 0, 1, 0, -0.8660254F, 0, -0.5F};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_2);
    (void)glb_add_floats(&maker, 2, 4, values);
    tool_scene scene = load(&maker, ONE_CHANNEL("rotation", "LINEAR"));
    ck_assert_double_eq_tol(cosine_at(&scene, 0, 0.5), cos(M_PI / 6), 1e-7);
    ck_assert_double_eq_tol(sine_at(&scene, 0, 0.5), sin(M_PI / 6), 1e-7);
    ck_assert_double_eq_tol(sine_at(&scene, 0, 1), sin(M_PI / 3), 1e-7);
    scene_release(&scene);
}

// Integers that stand for -1 to 1 or 0 to 1, of a quarter turn about y and of none.
TEST(normalised_integers_are_rotations)
{
    static const signed char bytes[] = {0, 90, 0, 90, 0, 0, 0, 127, 0, -90, 0, 90};
    static const unsigned char unsigned_bytes[] = {0, 180, 0, 180, 0, 0, 0, 255};
    static const short shorts[] = {0, 23170, 0, 23170, 0, 0, 0, 32767, 0, -23170, 0, 23170};
    static const unsigned short unsigned_shorts[] = {0, 46340, 0, 46340, 0, 0, 0, 65535};
    static const struct {
        const void *values;
        size_t size, count;
        int type;
    } cases[] = {
        {bytes, sizeof bytes, 3, 5120},
        {unsigned_bytes, sizeof unsigned_bytes, 2, 5121},
        {shorts, sizeof shorts, 3, 5122},
        {unsigned_shorts, sizeof unsigned_shorts, 2, 5123},
    };
    static const float times[] = {0, 1, 2};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        glb_maker maker = {.size = 0};

        (void)glb_add_floats(&maker, cases[i].count, 1, times);
        const int view = glb_add_view(&maker, cases[i].values, cases[i].size, "");
        (void)glb_add_accessor(&maker,
                               "\"bufferView\":%d,\"componentType\":%d,\"normalized\":true,"
                               "\"count\":%zu,\"type\":\"VEC4\"",
                               view, cases[i].type, cases[i].count);
        tool_scene scene = load(&maker, ONE_CHANNEL("rotation", "STEP"));
        ck_assert_double_eq_tol(sine_at(&scene, 0, 0.5), 1, 1e-9);
        ck_assert_double_eq_tol(cosine_at(&scene, 0, 0.5), 0, 1e-9);
        if (cases[i].count == 3) {
            const double last = 1.9999; // from the key at 1 second
            ck_assert_double_eq_tol(cosine_at(&scene, 0, last), 1, 1e-9);
            ck_assert_double_eq_tol(scene.channels[0].rotation.values[2][1],
                                    -scene.channels[0].rotation.values[2][3], 1e-12);
        }
        scene_release(&scene);
    }
}

TEST(the_smallest_byte_is_minus_one_too)
{
    static const signed char bytes[] = {0, -128, 0, 0, 0, -127, 0, 0};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    const int view = glb_add_view(&maker, bytes, sizeof bytes, "");
    (void)glb_add_accessor(&maker,
                           "\"bufferView\":%d,\"componentType\":5120,\"normalized\":true,"
                           "\"count\":2,\"type\":\"VEC4\"",
                           view);
    tool_scene scene = load(&maker, ONE_CHANNEL("rotation", "LINEAR"));
    ck_assert_double_eq(scene.channels[0].rotation.values[0][1], -1);
    ck_assert_double_eq(scene.channels[0].rotation.values[1][1], -1);
    scene_release(&scene);
}

// Values for keys 1 and 3 of four; the others are zeros, or what a buffer view has.
TEST(sparse_accessors_replace_elements)
{
    static const float times[] = {0, 1, 2, 3}, values[] = {4, 0, 0, 6, 0, 0};
    static const float base[] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
    static const unsigned char bytes[] = {1, 3};
    static const unsigned short shorts[] = {1, 3};

    for (int i = 0; i < 4; ++i) {
        glb_maker maker = {.size = 0};
        char source[64] = "";

        (void)glb_add_floats(&maker, 4, 1, times);
        if (i % 2 == 1) {
            (void)snprintf(source, sizeof source, "\"bufferView\":%d,",
                           glb_add_view(&maker, base, sizeof base, ""));
        }
        const int indices = i < 2 ? glb_add_view(&maker, bytes, sizeof bytes, "")
                                  : glb_add_view(&maker, shorts, sizeof shorts, "");
        const int replaced = glb_add_view(&maker, values, sizeof values, "");
        (void)glb_add_accessor(&maker,
                               "%s\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"sparse\":{"
                               "\"count\":2,\"indices\":{\"bufferView\":%d,\"componentType\":%d},"
                               "\"values\":{\"bufferView\":%d}}",
                               source, indices, i < 2 ? 5121 : 5123, replaced);
        tool_scene scene = load(&maker, ONE_CHANNEL("translation", "STEP"));
        ck_assert_double_eq(x_at(&scene, 0, 0), i % 2);
        ck_assert_double_eq(x_at(&scene, 0, 1.5), 4);
        ck_assert_double_eq(x_at(&scene, 0, 2.5), i % 2);
        ck_assert_double_eq(scene.channels[0].position.values[3][0], 6);
        scene_release(&scene);
    }
}

TEST(elements_may_lie_apart)
{
    static const float values[] = {9, 1, 0, 0, 9, 2, 0, 0, 9};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    const int view = glb_add_view(&maker, values, sizeof values, ",\"byteStride\":16");
    (void)glb_add_accessor(&maker,
                           "\"bufferView\":%d,\"byteOffset\":4,\"componentType\":5126,\"count\":2,"
                           "\"type\":\"VEC3\"",
                           view);
    tool_scene scene = load(&maker, ONE_CHANNEL("translation", "LINEAR"));
    ck_assert_double_eq(x_at(&scene, 0, 0), 1);
    ck_assert_double_eq(x_at(&scene, 0, 0.5), 1.5);
    scene_release(&scene);
}

TEST(a_part_that_no_channel_moves_stays_at_rest)
{
    static const float values[] = {2, 0, 0, 2, 0, 0};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    (void)glb_add_floats(&maker, 2, 3, values);
    tool_scene scene =
        load(&maker, "\"nodes\":[{\"rotation\":[0,0.6,0,0.8],\"scale\":[-3,3,3]}],\"animations\":[{"
                     "\"channels\":[" CHANNEL("0", "0", "translation") "],\"samplers\":[" SAMPLER(
                         "0", "1", "LINEAR") "]}]");
    const tool_affine local = local_at(&scene, 0, 0.5, 1e-12);
    ck_assert_double_eq(local.m[0][3], 2);
    ck_assert_double_eq_tol(local.m[0][0], -3 * 0.28, 1e-12); // 1 - 2 * 0.36
    ck_assert_double_eq_tol(local.m[1][1], 3, 1e-12);
    scene_release(&scene);
}

// A scale of 100 that is uneven by one step of a float, at rest and in motion: it stays a scale, so
// that children inherit it.
TEST(a_scale_that_is_uneven_by_one_bit_is_a_scale)
{
    static const float values[] = {100, 100, 100.00001F, 100, 100, 100.00001F};
    glb_maker maker = {.size = 0};
    local_frame locals[1];

    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    (void)glb_add_floats(&maker, 2, 3, values);
    tool_scene scene =
        load(&maker, "\"nodes\":[{\"scale\":[100,100,100.00001]}],\"animations\":[{"
                     "\"channels\":[" CHANNEL("0", "0", "scale") "],\"samplers\":[" SAMPLER(
                         "0", "1", "LINEAR") "]}]");
    scene_pose(&scene, 0.5, locals);
    ck_assert(placement_is_even(&locals[0].place));
    ck_assert(placement_is_even(&scene.nodes[0].rest.place));
    ck_assert_double_eq_tol(locals[0].place.scale, 100, 1e-5);
    scene_release(&scene);
}

// Animations.

TEST(one_of_several_animations_is_chosen_by_name_or_number)
{
    static const struct {
        const char *wanted, *note;
        double x;
    } cases[] = {
        {NULL, "animation 1 of 3 plays, 'walk'; it has 1 'walk', 2 'run', 3 'run'", 1},
        {"walk", "animation 1 of 3 plays, 'walk'; it has 1 'walk', 2 'run', 3 'run'", 1},
        {"2", "animation 2 of 3 plays, 'run'; it has 1 'walk', 2 'run', 3 'run'", 5},
        {"3", "animation 3 of 3 plays, 'run'; it has 1 'walk', 2 'run', 3 'run'", 1},
    };
    const glb_maker maker = glb_two_outputs();
    tool_fault fault = {""};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tool_scene scene = {0};

        ck_assert(glb_load(&scene, &maker, THREE_ANIMATIONS, cases[i].wanted, &fault));
        ck_assert_str_eq(scene.notes, cases[i].note);
        ck_assert_uint_eq(scene.unplayed, 0);
        ck_assert_double_eq(x_at(&scene, 0, 0.5), cases[i].x);
        scene_release(&scene);
    }
}

TEST(animations_that_no_name_tells_are_refused_with_the_list)
{
    const glb_maker maker = glb_two_outputs();
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!glb_load(&scene, &maker, THREE_ANIMATIONS, "run", &fault));
    ck_assert_str_eq(fault.text,
                     "more than one animation 'run'; it has 1 'walk', 2 'run', 3 'run'");
    ck_assert(!glb_load(&scene, &maker, THREE_ANIMATIONS, "4", &fault));
    ck_assert_str_eq(fault.text, "no animation '4'; it has 1 'walk', 2 'run', 3 'run'");
}

// What is noted.

TEST(an_animated_matrix_is_noted_and_not_played)
{
    const glb_maker maker = glb_two_outputs();
    tool_scene scene =
        load(&maker, "\"nodes\":[{\"name\":\"arm\",\"matrix\":[0,2,0,0,-2,0,0,0,0,0,2,0,3,4,5,1]}],"
                     "\"animations\":[" NAMED("walk", "1") "]");

    ck_assert_str_eq(scene.notes,
                     "1 channels are not played, because their nodes have a matrix: 'arm'");
    ck_assert_uint_eq(scene.unplayed, 1);
    const tool_affine local = local_at(&scene, 0, 0.5, 1e-12);
    ck_assert_double_eq(local.m[0][3], 3);
    ck_assert_double_eq(local.m[1][0], 2);
    ck_assert_double_eq(local.m[0][1], -2);
    scene_release(&scene);
}

TEST(extensions_that_change_what_is_seen_are_noted)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(
        glb_load_text(&scene,
                      "\"nodes\":[{\"extensions\":{\"KHR_node_visibility\":{\"visible\":false}}},"
                      "{\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{}}}}]",
                      &fault));
    ck_assert_ptr_nonnull(strstr(scene.notes, "EXT_mesh_gpu_instancing of 1 nodes is not read"));
    ck_assert_ptr_nonnull(strstr(scene.notes, "KHR_node_visibility of 1 nodes is not read"));
    scene_release(&scene);
}

TEST(channels_that_move_no_node_of_the_scene_are_noted)
{
    const glb_maker maker = glb_two_outputs();
    tool_scene scene = load(
        &maker,
        "\"scenes\":[{\"nodes\":[1]}],\"nodes\":[{},{}],\"animations\":[{\"channels\":[" CHANNEL(
            "0", "0", "translation") ","
                                     "{\"sampler\":0,\"target\":{\"path\":\"pointer\"}}],"
                                     "\"samplers\":[" SAMPLER("0", "1", "LINEAR") "]}]");

    ck_assert_ptr_nonnull(strstr(scene.notes, "1 channels move nodes outside the scene"));
    ck_assert_ptr_nonnull(strstr(scene.notes, "`node` field is missing in animation"));
    ck_assert_uint_eq(scene.unplayed, 1);
    scene_release(&scene);
}

TEST(channels_of_an_unknown_path_are_noted_and_weights_are_not)
{
    const glb_maker maker = glb_two_outputs();
    tool_scene scene = load(
        &maker,
        "\"nodes\":[{}],\"animations\":[{\"channels\":[" CHANNEL("0", "0", "weights") "," CHANNEL(
            "0", "0", "Translation") "],"
                                     "\"samplers\":[" SAMPLER("0", "1", "LINEAR") "]}]");

    ck_assert_str_eq(scene.notes, "1 channels are not played, because they move something unknown: "
                                  "'Translation'");
    ck_assert_uint_eq(scene.unplayed, 1);
    scene_release(&scene);
}

#else

TEST(build_without_tinygltf_leaves_gltf_to_assimp)
{
    FILE *const file = fopen("gltf_test.gltf", "wb");
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(file != NULL &&
              fputs("{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
                    "\"nodes\":[{}]}",
                    file) >= 0 &&
              fclose(file) == 0);
    if (scene_load(&scene, "gltf_test.gltf", NULL, &fault)) {
        ck_assert_ptr_nonnull(strstr(scene.notes, "built without tinygltf"));
        scene_release(&scene);
    } else {
        ck_assert_ptr_nonnull(strstr(fault.text, "built without Assimp"));
    }
    ck_assert_int_eq(remove("gltf_test.gltf"), 0);
}

#endif
