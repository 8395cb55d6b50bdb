// SPDX-License-Identifier: MIT
// Files in glTF that are refused, each by its cause.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/tools/glb.h"

#include "tests/runner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_TINYGLTF

static const float second_0_and_1[] = {0, 1};

#ifdef HAVE_JANSSON
#define WRONG_COUNT "nodes 0 has a wrong 'scale'"
#else
#define WRONG_COUNT "node 'x' has a part with the wrong count of numbers"
#endif

TEST(links_that_are_no_tree_are_refused)
{
    static const struct {
        const char *rest, *cause;
    } cases[] = {
        {"\"nodes\":[{\"name\":\"a\",\"children\":[0]}]", "1 nodes are below themselves"},
        {"\"nodes\":[{\"children\":[1]},{\"children\":[2]},{\"children\":[0]},{}]",
         "3 nodes are below themselves"},
        {"\"nodes\":[{\"children\":[2]},{\"children\":[2]},{\"name\":\"x\"}]",
         "node 'x' is a child twice"},
        {"\"nodes\":[{\"children\":[1,1]},{\"name\":\"x\"}]", "node 'x' is a child twice"},
        {"\"nodes\":[{\"children\":[7]}]", "node 'node 0' has child 7, which does not exist"},
        {"\"nodes\":[{\"children\":[-1]}]", "node 'node 0' has child -1, which does not exist"},
        {"\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"children\":[1]},{\"name\":\"x\"}]",
         "node 'x' is a root of the scene and has another place too"},
        {"\"scenes\":[{\"nodes\":[0,0]}],\"nodes\":[{\"name\":\"x\"}]",
         "node 'x' is a root of the scene and has another place too"},
        {"\"scenes\":[{\"nodes\":[3]}],\"nodes\":[{}]",
         "its scene has node 3, which does not exist"},
        {"\"scene\":2,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{}]",
         "its default scene 2 does not exist"},
        {"\"scenes\":[{}],\"nodes\":[{}]", "has no nodes"},
        {"\"nodes\":[{\"name\":\"x\",\"rotation\":[0,0,0,2]}]",
         "node 'x' has a rotation whose length is not 1"},
        {"\"nodes\":[{\"name\":\"x\",\"rotation\":[0,0,0,0]}]",
         "node 'x' has a rotation whose length is not 1"},
        {"\"nodes\":[{\"name\":\"x\",\"scale\":[1,1]}]", WRONG_COUNT},
        {"\"nodes\":[{\"name\":\"x\",\"matrix\":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]}]",
         "node 'x' has a matrix whose last row is not 0, 0, 0, 1"},
        {"\"nodes\":[{\"name\":\"x\",\"translation\":[3e38,0,0]}]",
         "node 'x' is larger or farther away than floats allow"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tool_scene scene = {0};
        tool_fault fault = {""};

        ck_assert_msg(!glb_load_text(&scene, cases[i].rest, &fault), "%s", cases[i].rest);
        ck_assert_str_eq(fault.text, cases[i].cause);
    }
}

#ifdef HAVE_JANSSON

#define CHANNELS(list) "\"nodes\":[{}],\"animations\":[{\"samplers\":[],\"channels\":[" list "]}]"

// A null is what some writers make of a number that is none. tinygltf takes such a member as missing.
TEST(members_of_a_wrong_type_are_refused)
{
    static const struct {
        const char *rest, *cause;
    } cases[] = {
        {"\"nodes\":[{},{\"translation\":[null,0,0]}]", "nodes 1 has a wrong 'translation'"},
        {"\"nodes\":[{\"rotation\":\"none\"}]", "nodes 0 has a wrong 'rotation'"},
        {"\"nodes\":[{\"scale\":2}]", "nodes 0 has a wrong 'scale'"},
        {"\"nodes\":[{\"matrix\":[]}]", "nodes 0 has a wrong 'matrix'"},
        {"\"nodes\":[{\"children\":[1,\"2\"]},{},{}]", "nodes 0 has a wrong 'children'"},
        {"\"nodes\":[{\"children\":[1.5]},{}]", "nodes 0 has a wrong 'children'"},
        {"\"scene\":\"a\",\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{}]", "has a wrong 'scene'"},
        {"\"scenes\":[{\"nodes\":0}],\"nodes\":[{}]", "scenes 0 has a wrong 'nodes'"},
        {"\"scene\":-1,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{}]", "has a wrong 'scene'"},
        {"\"nodes\":{\"0\":{}}", "has a wrong 'nodes'"},
        {"\"nodes\":[{}],\"scenes\":{\"nodes\":[0]}", "has a wrong 'scenes'"},
        {"\"nodes\":[{}],\"animations\":{\"0\":{}}", "has a wrong 'animations'"},
        {"\"nodes\":[{}],\"animations\":[{\"samplers\":[]}]",
         "animations 0 has a wrong 'channels'"},
        {"\"nodes\":[{}],\"animations\":[{\"samplers\":{},\"channels\":[]}]",
         "animations 0 has a wrong 'samplers'"},
        {"\"nodes\":[{}],\"animations\":[{\"samplers\":[{\"input\":0,\"output\":0,"
         "\"interpolation\":1}],\"channels\":[]}]",
         "samplers 0 has a wrong 'interpolation'"},
        {CHANNELS("{\"sampler\":\"0\",\"target\":{}}"), "channels 0 has a wrong 'sampler'"},
        {CHANNELS("{\"sampler\":0,\"target\":[]}"), "channels 0 has a wrong 'target'"},
        {CHANNELS("{\"sampler\":0,\"target\":{\"node\":\"0\"}}"), "channels 0 has a wrong 'node'"},
        {CHANNELS("{\"sampler\":0,\"target\":{\"node\":-1}}"), "channels 0 has a wrong 'node'"},
        {CHANNELS("{\"sampler\":0,\"target\":{\"node\":0,\"path\":7}}"),
         "channels 0 has a wrong 'path'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tool_scene scene = {0};
        tool_fault fault = {""};

        ck_assert_msg(!glb_load_text(&scene, cases[i].rest, &fault), "%s", cases[i].rest);
        ck_assert_str_eq(fault.text, cases[i].cause);
    }
}

TEST(accessors_of_a_wrong_type_are_refused_in_binary_files)
{
    static const char *const members[] = {"\"byteOffset\":\"4\"", "\"byteOffset\":-4",
                                          "\"bufferView\":-1", "\"normalized\":1",
                                          "\"sparse\":true"};
    const size_t count = sizeof members / sizeof *members;

    for (size_t i = 0; i < count; ++i) {
        glb_maker maker = {.size = 0};
        tool_scene scene = {0};
        tool_fault fault = {""};

        (void)glb_add_accessor(&maker, "\"componentType\":5126,\"count\":1,\"type\":\"VEC3\",%s",
                               members[i]);
        (void)glb_add_view(&maker, second_0_and_1, sizeof second_0_and_1, "");
        ck_assert(!glb_load(&scene, &maker, "\"nodes\":[{}]", NULL, &fault));
        ck_assert_msg(i == count - 1 || strstr(fault.text, "accessors 0 has a wrong") != NULL, "%s",
                      fault.text);
    }
}

// tinygltf takes a negative number as missing, by which a view would show other bytes.
TEST(views_at_negative_places_are_refused)
{
    static const char *const members[] = {",\"byteOffset\":-4", ",\"byteStride\":-12"};

    for (size_t i = 0; i < 2; ++i) {
        glb_maker maker = {.size = 0};
        tool_scene scene = {0};
        tool_fault fault = {""};

        (void)glb_add_view(&maker, second_0_and_1, sizeof second_0_and_1, members[i]);
        ck_assert(!glb_load(&scene, &maker, "\"nodes\":[{}]", NULL, &fault));
        ck_assert_msg(strstr(fault.text, "bufferViews 0 has a wrong") != NULL, "%s", fault.text);
    }
}

#endif

/// Refuse an animation of one channel with given accessors, by a cause.
static void refuses_keys(const glb_maker *maker, const char *rest, const char *cause)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(!glb_load(&scene, maker, rest, NULL, &fault), "%s", cause);
    ck_assert_msg(strstr(fault.text, cause) != NULL, "%s, not %s", fault.text, cause);
}

TEST(a_file_that_needs_a_later_version_is_refused)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!glb_load_text(&scene,
                             "\"asset\":{\"version\":\"2.1\",\"minVersion\":\"2.1\"},"
                             "\"nodes\":[{}]",
                             &fault));
    ck_assert_str_eq(fault.text, "needs glTF of version '2.1'");
}

TEST(keys_too_large_for_floats_are_refused_as_such)
{
    static const float large[] = {0, 0, 0, 3e38F, 0, 0};
    glb_maker maker = {.size = 0};

    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    (void)glb_add_floats(&maker, 2, 3, large);
    refuses_keys(&maker, ONE_CHANNEL("translation", "LINEAR"),
                 "node 'arm': position key 2 is too large");
}

TEST(rotation_keys_that_are_none_are_refused_by_their_node)
{
    static const float broken[][8] = {
        {0, 0, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 1, 3, 4, 0, 0}, {0, 0, 0, 1, 0, 0, 0, NAN}};
    static const char *const causes[] = {
        "node 'arm': rotation key 2 is no rotation: its length is 0, not 1",
        "node 'arm': rotation key 2 is no rotation: its length is 5, not 1",
        "node 'arm': rotation key 2 is not finite"};
    static const short shorts[] = {0, 0, 0, 32767, 0, 0, 0, 32767};

    for (size_t i = 0; i < 3; ++i) {
        glb_maker maker = {.size = 0};

        (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
        (void)glb_add_floats(&maker, 2, 4, broken[i]);
        refuses_keys(&maker, ONE_CHANNEL("rotation", "LINEAR"), causes[i]);
    }
    glb_maker maker = {.size = 0};
    (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
    const int view = glb_add_view(&maker, shorts, sizeof shorts, "");
    (void)glb_add_accessor(
        &maker, "\"bufferView\":%d,\"componentType\":5122,\"count\":2,\"type\":\"VEC4\"", view);
    refuses_keys(&maker, ONE_CHANNEL("rotation", "LINEAR"), "its length is 3.277e+04, not 1");
}

TEST(keys_that_do_not_lie_in_their_buffer_are_refused)
{
    static const struct {
        const char *accessor, *cause;
    } cases[] = {
        {"\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"",
         "does not lie in"},
        {"\"bufferView\":1,\"byteOffset\":4,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"",
         "does not lie in"},
        {"\"bufferView\":1,\"byteOffset\":18446744073709551615,\"componentType\":5126,\"count\":2,"
         "\"type\":\"VEC3\"",
         "does not lie in"},
        {"\"bufferView\":9,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"",
         "does not lie in"},
        {"\"bufferView\":1,\"componentType\":5126,\"count\":4611686018427387904,\"type\":\"VEC3\"",
         "accessor 1 has 4611686018427387904 elements"},
        {"\"bufferView\":1,\"componentType\":5126,\"count\":2,\"type\":\"VEC2\"",
         "accessor 1 has the wrong type"},
        {"\"bufferView\":1,\"componentType\":5124,\"count\":2,\"type\":\"VEC3\"",
         "accessor 1 has the wrong type"},
        {"\"bufferView\":1,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"",
         "has 2 times of keys and 1 values"},
        {"\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":"
         "{"
         "\"bufferView\":0,\"byteOffset\":4,\"componentType\":5125},\"values\":{\"bufferView\":1}}",
         "does not lie in"}, // the index is the bits of 1.0
        {"\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",\"sparse\":{\"count\":3,\"indices\":"
         "{"
         "\"bufferView\":0,\"componentType\":5121},\"values\":{\"bufferView\":1}}",
         "does not lie in"},
        {"\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",\"sparse\":{\"count\":-1,"
         "\"indices\":{"
         "\"bufferView\":0,\"componentType\":5121},\"values\":{\"bufferView\":1}}",
         "does not lie in"},
        {"\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":"
         "{"
         "\"bufferView\":0,\"byteOffset\":-4,\"componentType\":5121},\"values\":{\"bufferView\":1}"
         "}",
         "does not lie in"},
    };
    static const float values[6] = {0};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        glb_maker maker = {.size = 0};

        (void)glb_add_floats(&maker, 2, 1, second_0_and_1);
        (void)glb_add_view(&maker, values, sizeof values, "");
        (void)glb_add_accessor(&maker, "%s", cases[i].accessor);
        refuses_keys(&maker, ONE_CHANNEL("translation", "LINEAR"), cases[i].cause);
    }
}

TEST(animations_that_contradict_themselves_are_refused)
{
#define ANIMATION(channels, samplers) \
    ONE_NODE "\"animations\":[{\"channels\":[" channels "],\"samplers\":[" samplers "]}]"
    const glb_maker maker = glb_two_outputs();

    refuses_keys(&maker,
                 ANIMATION(CHANNEL("0", "0", "translation") "," CHANNEL("0", "0", "translation"),
                           SAMPLER("0", "1", "LINEAR")),
                 "node 'arm': two channels move its translation");
    refuses_keys(&maker, ANIMATION(CHANNEL("1", "0", "translation"), SAMPLER("0", "1", "LINEAR")),
                 "channel 1 of its animation has no sampler");
    refuses_keys(&maker, ANIMATION(CHANNEL("0", "5", "translation"), SAMPLER("0", "1", "LINEAR")),
                 "its animation moves node 5, which does not exist");
    refuses_keys(&maker, ANIMATION(CHANNEL("0", "0", "translation"), SAMPLER("0", "9", "LINEAR")),
                 "node 'arm': its translation: accessor 9 does not exist");
    refuses_keys(&maker, ANIMATION(CHANNEL("0", "0", "translation"), SAMPLER("0", "1", "SMOOTH")),
                 "has keys of unknown interpolation 'SMOOTH'");
    refuses_keys(&maker,
                 ANIMATION(CHANNEL("0", "0", "translation"), SAMPLER("0", "1", "CUBICSPLINE")),
                 "has 2 times of keys and 2 values");
}

TEST(faces_that_name_missing_vertices_are_refused)
{
    static const unsigned char indices[] = {0, 1, 2, 3}, fine[] = {0, 1, 1, 0};
    static const float positions[6] = {0};

    for (int i = 0; i < 2; ++i) {
        glb_maker maker = {.size = 0};
        tool_scene scene = {0};
        tool_fault fault = {""};

        (void)glb_add_floats(&maker, 2, 3, positions);
        const int view = glb_add_view(&maker, i == 0 ? fine : indices, sizeof indices, "");
        (void)glb_add_accessor(&maker,
                               "\"bufferView\":%d,\"componentType\":5121,\"count\":4,"
                               "\"type\":\"SCALAR\"",
                               view);
        const bool is_good =
            glb_load(&scene, &maker,
                     "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                     "\"POSITION\":0},\"indices\":1}]}]",
                     NULL, &fault);
        ck_assert(is_good == (i == 0));
        ck_assert(is_good || strstr(fault.text, "indices out of range") != NULL);
        if (is_good) {
            scene_release(&scene);
        }
    }
}

// A missing texture does not matter; a missing buffer does.
TEST(images_are_not_needed_and_buffers_are)
{
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(glb_load_text(&scene,
                                "\"images\":[{\"uri\":\"gltf_test_missing.png\"}],\"nodes\":[{}]",
                                &fault),
                  "%s", fault.text);
    scene_release(&scene);
    ck_assert(!glb_load_text(
        &scene, "\"buffers\":[{\"byteLength\":4,\"uri\":\"gltf_test_missing.bin\"}],\"nodes\":[{}]",
        &fault));
    ck_assert_ptr_nonnull(strstr(fault.text, "gltf_test_missing.bin"));
}

TEST(a_file_that_is_cut_anywhere_is_refused)
{
    const glb_maker maker = glb_two_outputs();
    const char *const path = glb_write(&maker, THREE_ANIMATIONS);
    char bytes[8192];

    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    for (size_t length = 5; length < size; length += 97) {
        tool_scene scene = {0};
        tool_fault fault = {""};

        file = fopen(path, "wb");
        ck_assert(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
        ck_assert(!scene_load(&scene, path, NULL, &fault));
        ck_assert_str_ne(fault.text, "");
    }
    ck_assert_int_eq(remove(path), 0);
}

#else

TEST(build_without_tinygltf_has_nothing_to_refuse)
{
    tool_scene scene = {0};

    ck_assert_uint_eq(scene.node_count, 0);
}

#endif
