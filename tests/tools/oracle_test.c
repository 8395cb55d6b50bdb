// SPDX-License-Identifier: MIT
// The oracle of the program espalier: it accepts rounding errors, and no other difference.
#include "tools/oracle.h"

#include "tests/runner.h"

#include <math.h>

#define NODES 3

/// A chain of three: at (1,0,0) in the world, then (0,2,0) and (0,0,3) in the parent.
typedef struct test_chain {
    scene_node nodes[NODES];
    tool_scene scene;
    tool_moment moment;
} test_chain;

static void chain_open(test_chain *chain, double stretch_of_top)
{
    static char name[] = "node";

    *chain = (test_chain){0};
    for (uint32_t i = 0; i < NODES; ++i) {
        scene_node *const node = &chain->nodes[i];
        tool_placement place = placement_identity();

        place.position[i] = i + 1.0;
        place.stretch[0] = i == 0 ? stretch_of_top : 1;
        *node = (scene_node){.name = name,
                             .parent = i == 0 ? SCENE_NO_PARENT : i - 1,
                             .depth = i,
                             .rest = {.place = place, .matrix = affine_of_placement(&place)}};
    }
    chain->scene = (tool_scene){.node_count = NODES, .nodes = chain->nodes};
    ck_assert(moment_reserve(&chain->moment, &chain->scene));
    moment_take(&chain->moment, &chain->scene, 0);
}

static tool_tally judge(const test_chain *chain, size_t node, const espl_transform *world)
{
    const oracle_frame above = oracle_frame_identity();
    tool_tally tally = {0};

    tally_compare(&tally, &chain->moment, node, &above, world);
    return tally;
}

static espl_transform world_of_last(void)
{
    espl_transform world = espl_transform_identity();

    world.position[0] = 1;
    world.position[1] = 2;
    world.position[2] = 3;
    return world;
}

TEST(true_world_is_right)
{
    const espl_transform world = world_of_last();
    test_chain chain;

    chain_open(&chain, 1);
    const tool_tally tally = judge(&chain, 2, &world);
    ck_assert_uint_eq(tally.reads, 1);
    ck_assert_uint_eq(tally.wrong, 0);
    ck_assert_double_eq(tally.worst_error, 0);
    moment_release(&chain.moment);
}

TEST(rounding_passes_and_a_little_more_does_not)
{
    // Levels 3, distance 6: 24 * 2^-24 * 7 is allowed, 1.0e-5.
    espl_transform near = world_of_last(), off = world_of_last();
    test_chain chain;

    near.position[1] += 0.9e-5F;
    off.position[1] += 1.2e-5F;
    chain_open(&chain, 1);
    ck_assert_uint_eq(judge(&chain, 2, &near).wrong, 0);
    ck_assert_uint_eq(judge(&chain, 2, &off).wrong, 1);
    moment_release(&chain.moment);
}

TEST(turned_or_scaled_world_is_wrong)
{
    espl_transform turned = world_of_last(), scaled = world_of_last();
    test_chain chain;

    turned.rotation[0] = 1e-5F;
    scaled.scale = 1.00001F;
    chain_open(&chain, 1);
    ck_assert_uint_eq(judge(&chain, 2, &turned).wrong, 1);
    ck_assert_uint_eq(judge(&chain, 2, &scaled).wrong, 1);
    moment_release(&chain.moment);
}

TEST(world_that_is_no_number_is_wrong)
{
    espl_transform place = world_of_last(), turn = world_of_last();
    test_chain chain;

    place.position[0] = NAN;
    turn.rotation[1] = NAN;
    chain_open(&chain, 1);
    ck_assert_uint_eq(judge(&chain, 2, &place).wrong, 1);
    ck_assert_uint_eq(judge(&chain, 2, &turn).wrong, 1);
    moment_release(&chain.moment);
}

TEST(nodes_below_a_stretch_are_left_out)
{
    const espl_transform world = world_of_last();
    test_chain chain;

    chain_open(&chain, 2);
    ck_assert_uint_eq(moment_count_beyond(&chain.moment), 2);
    const tool_tally tally = judge(&chain, 2, &world);
    ck_assert_uint_eq(tally.left_out, 1);
    ck_assert_uint_eq(tally.reads, 0);
    moment_release(&chain.moment);
}

TEST(frame_above_moves_everything)
{
    espl_transform world = world_of_last();
    oracle_frame above = oracle_frame_identity();
    tool_tally tally = {0};
    test_chain chain;

    above.matrix.m[2][3] = 10;
    above.reach = 10;
    chain_open(&chain, 1);
    tally_compare(&tally, &chain.moment, 2, &above, &world);
    ck_assert_uint_eq(tally.wrong, 1);
    world.position[2] += 10;
    tally_compare(&tally, &chain.moment, 2, &above, &world);
    ck_assert_uint_eq(tally.wrong, 1);
    ck_assert_uint_eq(tally.reads, 2);
    moment_release(&chain.moment);
}
