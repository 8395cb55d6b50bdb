// SPDX-License-Identifier: MIT
// What is written as glTF is what the world has: read back by Assimp and by tinygltf, each world transform is
// within the oracle's bound, at each frame.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/oracle.h"
#include "tools/poses.h"

#include "tests/runner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_TINYGLTF

#include <math.h>
#include <stdlib.h>

enum { NODES = 40, FRAMES = 9, RATE = 32 };

/// A tree that moves, and where its nodes were at each frame.
typedef struct poses_stage {
    tool_stage stage;
    espl_entity nodes[NODES];
    char names[NODES][16];
    uint32_t parents[NODES];
    tool_poses poses;
    espl_transform worlds[FRAMES][NODES];
    char path[64];
} poses_stage;

/// Numbers that repeat, from -1 to 1.
static float number_at(uint32_t seed)
{
    seed = seed * 2654435761u + 12345u;
    seed ^= seed >> 15;
    seed *= 2246822519u;
    return (float)(int32_t)(seed ^ seed >> 13) / 2147483648.0F;
}

/// A local that is turned, moved and scaled, and stretched where `has_stretch`.
static espl_transform local_at(uint32_t node, uint32_t frame, bool has_stretch)
{
    const uint32_t seed = node * 1000 + frame * 20;
    espl_transform local = espl_transform_identity();
    double length = 0;

    for (uint32_t i = 0; i < 4; ++i) {
        // Frames are less than half a turn apart.
        local.rotation[i] = number_at(node * 7 + i) + 0.2F * number_at(seed + i);
        length += (double)local.rotation[i] * (double)local.rotation[i];
    }
    for (uint32_t i = 0; i < 4; ++i) {
        local.rotation[i] = (float)((double)local.rotation[i] / sqrt(length));
    }
    for (uint32_t i = 0; i < 3; ++i) {
        local.position[i] = 3 * number_at(seed + 4 + i);
        local.stretch[i] = has_stretch ? 1 + 0.5F * number_at(seed + 8 + i) : 1;
    }
    local.scale = 1 + 0.1F * number_at(seed + 12);
    return local;
}

static void open_stage(poses_stage *s, int up_axis)
{
    tool_fault fault = {""};

    ck_assert_msg(stage_open(&s->stage, 1, 0, NULL, &fault), "%s", fault.text);
    ck_assert_msg(poses_open(&s->poses, NODES, FRAMES, &fault), "%s", fault.text);
    s->poses.rate = RATE;
    s->poses.up_axis = up_axis;
    for (uint32_t i = 0; i < NODES; ++i) {
        s->parents[i] = i == 0 ? SCENE_NO_PARENT : (i - 1) / 3;
        (void)snprintf(s->names[i], sizeof s->names[i], "node %u", i);
        ck_assert_int_eq(espl_create_node(s->stage.world,
                                          i == 0 ? espl_entity_null() : s->nodes[s->parents[i]],
                                          NULL, NULL, &s->nodes[i]),
                         ESPL_OK);
        s->poses.nodes[i] = (poses_node){s->nodes[i], s->parents[i], s->names[i]};
    }
}

/// Move the tree, and take its frames. Node 20 has no children and node 2 has some: both are stretched.
static void take_frames(poses_stage *s)
{
    tool_fault fault = {""};

    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        for (uint32_t i = 0; i < NODES; ++i) {
            const espl_transform local = local_at(i, i % 4 == 3 ? 0 : frame, i == 2 || i == 20);
            ck_assert_int_eq(espl_set_local_transform(s->stage.world, s->nodes[i], &local),
                             ESPL_OK);
        }
        ck_assert_msg(poses_take(&s->poses, &s->stage, &fault), "%s", fault.text);
        for (uint32_t i = 0; i < NODES; ++i) {
            ck_assert_int_eq(
                espl_get_world_transform(s->stage.world, s->nodes[i], &s->worlds[frame][i]),
                ESPL_OK);
        }
    }
}

static void write_file(poses_stage *s, const char *ending)
{
    tool_fault fault = {""};

    (void)snprintf(s->path, sizeof s->path, "poses_test_%ld.%s", (long)getpid(), ending);
    ck_assert_msg(poses_write(&s->poses, s->path, "all", &fault), "%s", fault.text);
}

static void close_stage(poses_stage *s)
{
    poses_close(&s->poses);
    stage_close(&s->stage);
    ck_assert_int_eq(remove(s->path), 0);
}

static uint32_t find(const tool_scene *scene, const char *name)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t i = 0; i < scene->node_count; ++i) {
        if (strcmp(scene->nodes[i].name, name) == 0) {
            ck_assert_uint_eq(found, UINT32_MAX);
            found = i;
        }
    }
    ck_assert_uint_ne(found, UINT32_MAX);
    return found;
}

/// Compare the worlds of a scene at each frame with those of the world it was written from.
static void compare_frames(const poses_stage *s, const tool_scene *scene)
{
    oracle_frame above = oracle_frame_identity();
    tool_moment moment;
    tool_tally tally = {0};
    tool_fault fault = {""};

    // z up is turned so that y is up; turn it back.
    if (s->poses.up_axis == 2) {
        const tool_affine turn = {{{1, 0, 0, 0}, {0, 0, -1, 0}, {0, 1, 0, 0}}};
        above.matrix = turn;
    }
    ck_assert(moment_reserve(&moment, scene));
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        moment_take(&moment, scene, (double)frame / RATE);
        for (uint32_t i = 0; i < NODES; ++i) {
            espl_transform world = s->worlds[frame][i];

            // A node with children has its stretch below it.
            if (i == 2) {
                world.stretch[0] = world.stretch[1] = world.stretch[2] = 1;
            }
            tally_compare(&tally, &moment, find(scene, s->names[i]), &above, &world);
        }
    }
    ck_assert_uint_eq(tally.reads, (size_t)FRAMES * NODES);
    ck_assert_msg(tally_judge(&tally, scene, 0, true, &fault), "%s", fault.text);
    ck_assert(tally.worst_share > 0);
    moment_release(&moment);
}

typedef bool (*file_reader)(tool_scene *out, const char *path, tool_fault *fault);

static void read_back(const poses_stage *s, file_reader reader)
{
    tool_scene scene = {.label = s->path};
    tool_fault fault = {""};

    ck_assert_msg(reader(&scene, s->path, &fault), "%s", fault.text);
    scene.duration = (double)(FRAMES - 1) / RATE;
    compare_frames(s, &scene);
    const uint32_t stretch = find(&scene, "node 2 stretch");
    ck_assert_uint_eq(scene.nodes[stretch].parent, find(&scene, "node 2"));
    scene_release(&scene);
}

static bool read_by_tinygltf(tool_scene *out, const char *path, tool_fault *fault)
{
    return scene_load(out, path, NULL, fault);
}

#ifdef HAVE_ASSIMP
/// scene_load() has tinygltf read such files. The depths are what it would count.
static bool read_by_assimp(tool_scene *out, const char *path, tool_fault *fault)
{
    const bool is_read = scene_read_assimp(out, path, fault);

    for (size_t i = 0; is_read && i < out->node_count; ++i) {
        scene_node *const node = &out->nodes[i];
        node->depth = node->parent == SCENE_NO_PARENT ? 0 : out->nodes[node->parent].depth + 1;
    }
    return is_read;
}
#endif

TEST(tinygltf_reads_each_frame_within_the_bound)
{
    static const char *const endings[] = {"gltf", "glb"};

    for (int up_axis = 1; up_axis <= 2; ++up_axis) {
        for (size_t i = 0; i < 2; ++i) {
            poses_stage *const s = calloc(1, sizeof *s);

            open_stage(s, up_axis);
            take_frames(s);
            write_file(s, endings[i]);
            read_back(s, read_by_tinygltf);
            close_stage(s);
            free(s);
        }
    }
}

#ifdef HAVE_ASSIMP
TEST(assimp_reads_each_frame_within_the_bound)
{
    static const char *const endings[] = {"gltf", "glb"};

    for (size_t i = 0; i < 2; ++i) {
        poses_stage *const s = calloc(1, sizeof *s);

        open_stage(s, 1);
        take_frames(s);
        write_file(s, endings[i]);
        read_back(s, read_by_assimp);
        close_stage(s);
        free(s);
    }
}
#endif

TEST(what_stays_has_no_keys)
{
    poses_stage *const s = calloc(1, sizeof *s);
    tool_scene scene = {0};
    tool_fault fault = {""};

    open_stage(s, 1);
    take_frames(s);
    write_file(s, "gltf");
    ck_assert_msg(scene_load(&scene, s->path, NULL, &fault), "%s", fault.text);
    uint32_t moved[2 * NODES + 16];
    const size_t count = scene_list_moved(&scene, moved);
    for (size_t i = 0; i < count; ++i) {
        const char *const name = scene.nodes[moved[i]].name;
        // The stretch of node 2 moves its child 7, whose own local stays.
        ck_assert(strstr(name, "stretch") != NULL || strcmp(name, "node 7") == 0 ||
                  strtoul(name + 5, NULL, 10) % 4 != 3);
    }
    ck_assert_uint_eq(count, NODES - NODES / 4 + 2);
    scene_release(&scene);
    close_stage(s);
    free(s);
}

TEST(one_frame_is_a_file_without_movement)
{
    poses_stage *const s = calloc(1, sizeof *s);
    tool_scene scene = {0};
    tool_fault fault = {""};

    open_stage(s, 1);
    ck_assert_msg(poses_take(&s->poses, &s->stage, &fault), "%s", fault.text);
    s->names[5][0] = '\xff';
    write_file(s, "glb");
    ck_assert_msg(scene_load(&scene, s->path, NULL, &fault), "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, NODES);
    ck_assert_uint_eq(scene.channel_count, 0);
    ck_assert_uint_ne(find(&scene, "?ode 5"), 0);
    scene_release(&scene);
    close_stage(s);
    free(s);
}

TEST(a_file_that_cannot_be_written_has_a_reason)
{
    poses_stage *const s = calloc(1, sizeof *s);
    tool_fault fault = {""};

    open_stage(s, 1);
    take_frames(s);
    ck_assert(!poses_write(&s->poses, "/nowhere/at/all.glb", "all", &fault));
    ck_assert_ptr_ne(strstr(fault.text, "/nowhere/at/all.glb"), NULL);
    ck_assert(!poses_take(&s->poses, &s->stage, &fault));
    write_file(s, "gltf");
    close_stage(s);
    free(s);
}

#else

TEST(without_tinygltf_no_file_is_written)
{
    tool_poses poses = {0};
    tool_fault fault = {""};

    ck_assert(!poses_are_built());
    ck_assert(!poses_write(&poses, "poses_test.glb", "all", &fault));
    ck_assert_ptr_ne(strstr(fault.text, "tinygltf"), NULL);
    ck_assert_int_ne(access("poses_test.glb", F_OK), 0);
}

#endif
