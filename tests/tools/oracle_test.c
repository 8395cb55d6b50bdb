// SPDX-License-Identifier: MIT
// The oracle of the program espalier: it accepts rounding errors, and no other difference.
#include "tools/oracle.h"

#include "tests/runner.h"

#include <math.h>
#include <string.h>

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

TEST(nodes_below_a_stretch_are_left_out_and_counted)
{
    const espl_transform world = world_of_last();
    char reason[256];
    test_chain chain;

    chain_open(&chain, 2);
    ck_assert(moment_compares(&chain.moment, 0));
    ck_assert(!moment_compares(&chain.moment, 1));
    const tool_tally tally = judge(&chain, 2, &world);
    ck_assert_uint_eq(tally.below, 1);
    ck_assert_uint_eq(tally_left_out(&tally), 1);
    ck_assert_uint_eq(tally.reads, 0);
    tally_explain(&tally, reason, sizeof reason);
    ck_assert_str_eq(reason, "1 of 1 reads are not compared: 1 below uneven scale or shear");
    moment_release(&chain.moment);
}

/// The matrix of one node is sheared, and what the library is given is the nearest transform.
static void shear(test_chain *chain, size_t node, double amount)
{
    local_frame *const rest = &chain->nodes[node].rest;

    rest->matrix.m[0][1] = amount;
    (void)placement_of_affine(&rest->place, &rest->matrix);
    moment_take(&chain->moment, &chain->scene, 0);
}

TEST(a_sheared_node_never_agrees)
{
    const espl_transform world = world_of_last();
    char reason[256];
    test_chain chain;

    chain_open(&chain, 1);
    shear(&chain, 2, 0.1);
    tool_tally tally = judge(&chain, 2, &world);
    ck_assert_uint_eq(tally.sheared, 1);
    ck_assert_uint_eq(tally.reads, 0);
    tally_explain(&tally, reason, sizeof reason);
    ck_assert_str_eq(reason, "1 of 1 reads are not compared: 0 below uneven scale or shear, 1 of "
                             "sheared nodes");

    shear(&chain, 2, 0);
    shear(&chain, 1, 0.1);
    tally = judge(&chain, 2, &world);
    ck_assert_uint_eq(tally.below, 1);
    moment_release(&chain.moment);
}

// Shear of five printed digits is allowed for, and no more than that is.
TEST(a_shear_of_the_last_printed_digit_is_compared)
{
    test_chain chain;

    chain_open(&chain, 1);
    shear(&chain, 0, 0.9e-5);
    const espl_transform world = espl_transform_identity();
    ck_assert_uint_eq(judge(&chain, 0, &world).reads, 1);
    shear(&chain, 0, 1.1e-5);
    ck_assert_uint_eq(judge(&chain, 0, &world).reads, 0);
    moment_release(&chain.moment);
}

// What the library is given is not asked: a stretch that the file does not have is an error, and
// does not excuse the nodes below it.
TEST(a_stretch_that_the_file_does_not_have_excuses_nothing)
{
    espl_transform world = world_of_last();
    test_chain chain;

    chain_open(&chain, 1);
    chain.nodes[0].rest.place.stretch[0] = 2;
    moment_take(&chain.moment, &chain.scene, 0);
    world.position[0] = 2;
    ck_assert_uint_eq(judge(&chain, 2, &world).wrong, 1);
    ck_assert_uint_eq(judge(&chain, 2, &world).below, 0);
    moment_release(&chain.moment);
}

TEST(strict_judgement_fails_for_what_is_left_out_or_not_played)
{
    const tool_tally complete = {.reads = 4}, partial = {.reads = 3, .below = 1};
    tool_scene scene = {.node_count = 1};
    tool_fault fault = {""};

    ck_assert(tally_judge(&complete, &scene, 0, true, &fault));
    ck_assert(tally_judge(&partial, &scene, 0, false, &fault));
    ck_assert(!tally_judge(&partial, &scene, 0, true, &fault));
    ck_assert_str_eq(fault.text, "1 of 4 reads are not compared: 1 below uneven scale or shear");
    scene.unplayed = 2;
    ck_assert(tally_judge(&complete, &scene, 0, false, &fault));
    ck_assert(!tally_judge(&complete, &scene, 0, true, &fault));
    ck_assert_ptr_nonnull(strstr(fault.text, "2 channels of its animation are not played"));
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

/// The chain at two moments, of which the later one differs by what the test changes, and between them.
typedef struct test_blend {
    test_chain chain;
    tool_moment later, shown;
} test_blend;

static void blend_open(test_blend *blend)
{
    chain_open(&blend->chain, 1);
    ck_assert(moment_reserve(&blend->later, &blend->chain.scene));
    ck_assert(moment_reserve(&blend->shown, &blend->chain.scene));
    moment_take(&blend->later, &blend->chain.scene, 0);
}

static void blend_close(test_blend *blend)
{
    moment_release(&blend->chain.moment);
    moment_release(&blend->later);
    moment_release(&blend->shown);
}

/// Turn the top of the later moment about z.
static void turn_top(test_blend *blend, double radians)
{
    const double axis[3] = {0, 0, 1};

    quaternion_about(blend->later.locals[0].place.rotation, axis, radians);
}

/// Judge the last node between the two moments.
static tool_tally judge_between(test_blend *blend, double share, const espl_transform *shown)
{
    const oracle_frame above = oracle_frame_identity();
    tool_tally tally = {0};

    moment_between(&blend->shown, &blend->chain.scene, &blend->chain.moment, &blend->later, share);
    tally_compare(&tally, &blend->shown, 2, &above, shown);
    return tally;
}

/// The last node where the top, at (1,0,0), has turned about z.
static espl_transform last_turned(double radians)
{
    espl_transform world = world_of_last();

    world.position[0] = (float)(1 - 2 * sin(radians));
    world.position[1] = (float)(2 * cos(radians));
    world.rotation[2] = (float)sin(radians / 2);
    world.rotation[3] = (float)cos(radians / 2);
    return world;
}

TEST(turn_between_two_moments_is_an_arc)
{
    const espl_transform quarter = last_turned(0.1), half = last_turned(0.2);
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, 0.4);
    ck_assert_uint_eq(judge_between(&blend, 0.25, &quarter).wrong, 0);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &half).wrong, 0);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &quarter).wrong, 1);
    blend_close(&blend);
}

TEST(the_shorter_arc_is_taken_whatever_the_signs_of_quaternions)
{
    const espl_transform half = last_turned(0.2);
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, 0.4);
    for (int i = 0; i < 4; ++i) {
        blend.later.locals[0].place.rotation[i] = -blend.later.locals[0].place.rotation[i];
    }
    ck_assert_uint_eq(judge_between(&blend, 0.5, &half).wrong, 0);
    blend_close(&blend);
}

TEST(position_and_scale_between_two_moments_are_on_lines_and_stretch_is_the_later_one)
{
    espl_transform world = world_of_last();
    test_blend blend;

    blend_open(&blend);
    blend.later.locals[2].place.position[2] = 7;
    blend.later.locals[2].place.scale = 3;
    blend.later.locals[2].place.stretch[1] = 5;
    world.position[2] = 4;
    world.scale = 1.5F;
    world.stretch[1] = 5;
    ck_assert_uint_eq(judge_between(&blend, 0.25, &world).wrong, 0);
    world.stretch[1] = 2;
    ck_assert_uint_eq(judge_between(&blend, 0.25, &world).wrong, 1);
    blend_close(&blend);
}

// A fit may be off by turn^3 / 8000: 8e-6 radians after 0.4, of which the last node is 6 away.
TEST(fit_of_an_arc_is_allowed_for_and_no_more)
{
    const espl_transform near = last_turned(0.2 + 6e-6), off = last_turned(0.2 + 2e-5);
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, 0.4);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &near).wrong, 0);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &off).wrong, 1);
    blend_close(&blend);
}

// Turns go on at their speed, positions and scales on their lines: the top, and the last node on it.
TEST(beyond_two_moments_the_motion_goes_on)
{
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, 0.4);
    for (int i = -8; i <= 12; ++i) {
        const double share = 0.5 * i;
        const espl_transform world = last_turned(0.4 * share),
                             off = last_turned(0.4 * share + 1e-4);

        ck_assert_uint_eq(judge_between(&blend, share, &world).wrong, 0);
        ck_assert_uint_eq(judge_between(&blend, share, &off).wrong, 1);
    }
    turn_top(&blend, 0);
    blend.later.locals[2].place.position[2] = 4;
    blend.later.locals[2].place.scale = 1.5;
    espl_transform world = world_of_last();
    const float bottom = world.position[2];
    world.position[2] = bottom + 2 * (4 - bottom);
    world.scale = 2;
    ck_assert_uint_eq(judge_between(&blend, 2, &world).wrong, 0);
    world.scale = 1.75F;
    ck_assert_uint_eq(judge_between(&blend, 2, &world).wrong, 1);
    blend_close(&blend);
}

// Of a turn of 2 radians a fit may be off by 7.5e-5 between the moments. What is exact may not be.
TEST(beyond_two_moments_no_fit_is_allowed_for)
{
    const espl_transform inside = last_turned(1 + 4e-5), outside = last_turned(3 + 4e-5);
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, 2);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &inside).wrong, 0);
    ck_assert_uint_eq(judge_between(&blend, 1.5, &outside).wrong, 1);
    blend_close(&blend);
}

// 10 ticks ahead numbers are added up that are 21 times as large as the blend.
TEST(rounding_that_grows_far_from_two_moments_is_allowed_for)
{
    const double step = 0.2, grown = 6e-6;
    const espl_transform half = last_turned(0.5 * step + grown),
                         far = last_turned(11 * step + grown);
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, step);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &half).wrong, 1);
    ck_assert_uint_eq(judge_between(&blend, 11, &far).wrong, 0);
    blend_close(&blend);
}

TEST(scale_that_shrinks_through_0_beyond_two_moments_is_left_out_near_it)
{
    espl_transform world = world_of_last();
    test_blend blend;

    blend_open(&blend);
    blend.later.locals[2].place.scale = 0.5;
    world.scale = -0.5F;
    ck_assert_uint_eq(judge_between(&blend, 3, &world).reads, 1);
    ck_assert_uint_eq(judge_between(&blend, 3, &world).wrong, 0);
    ck_assert_uint_eq(judge_between(&blend, 2, &world).unclear, 1);
    blend_close(&blend);
}

TEST(half_turn_has_no_shorter_arc_and_is_left_out)
{
    const espl_transform world = last_turned(acos(-1) / 2);
    char reason[256];
    test_blend blend;

    blend_open(&blend);
    turn_top(&blend, acos(-1));
    const tool_tally tally = judge_between(&blend, 0.5, &world);
    ck_assert_uint_eq(tally.unclear, 1);
    ck_assert_uint_eq(tally_left_out(&tally), 1);
    ck_assert_uint_eq(tally.reads, 0);
    tally_explain(&tally, reason, sizeof reason);
    ck_assert_str_eq(reason, "1 of 1 reads are not compared: 0 below uneven scale or shear, 1 of "
                             "unclear blends");

    // At the earlier moment nothing is blended.
    const espl_transform start = world_of_last();
    ck_assert_uint_eq(judge_between(&blend, 0, &start).reads, 1);
    turn_top(&blend, acos(-1) - 1e-4);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &world).reads, 1);
    blend_close(&blend);
}

TEST(scale_that_changes_its_sign_is_compared_but_near_0)
{
    espl_transform world = world_of_last();
    test_blend blend;

    blend_open(&blend);
    blend.later.locals[2].place.scale = -1;
    world.scale = 0.5F;
    ck_assert_uint_eq(judge_between(&blend, 0.25, &world).reads, 1);
    ck_assert_uint_eq(judge_between(&blend, 0.25, &world).wrong, 0);
    ck_assert_uint_eq(judge_between(&blend, 0.5, &world).unclear, 1);
    blend_close(&blend);
}

TEST(what_rests_between_two_moments_has_the_matrix_of_the_file)
{
    test_blend blend;

    blend_open(&blend);
    shear(&blend.chain, 1, 0.5e-5);
    moment_take(&blend.later, &blend.chain.scene, 0);
    turn_top(&blend, 0.4);
    moment_between(&blend.shown, &blend.chain.scene, &blend.chain.moment, &blend.later, 0.5);
    ck_assert_double_eq(blend.shown.locals[1].matrix.m[0][1], 0.5e-5);
    ck_assert_double_gt(blend.shown.nodes[2].slack, 0);
    ck_assert_double_eq(blend.shown.nodes[2].blend, blend.shown.nodes[0].blend);
    blend_close(&blend);
}

TEST(frame_above_is_blended_as_nodes_are)
{
    const double axis[3] = {0, 0, 1};
    oracle_frame above = oracle_frame_identity();
    tool_placement from = placement_identity(), to = from;
    tool_tally tally = {0};
    test_chain chain;

    // A turn about the place of the first node, so that its descendants are where last_turned() says.
    from.position[0] = to.position[0] = 1;
    quaternion_about(to.rotation, axis, 0.4);
    chain_open(&chain, 1);
    chain.nodes[0].rest.place.position[0] = 0;
    chain.nodes[0].rest.matrix.m[0][3] = 0;
    moment_take(&chain.moment, &chain.scene, 0);
    oracle_frame_push(&above, &from, &to, 0.75);
    const espl_transform world = last_turned(0.3);
    tally_compare(&tally, &chain.moment, 2, &above, &world);
    ck_assert_uint_eq(tally.reads, 1);
    ck_assert_uint_eq(tally.wrong, 0);
    ck_assert_uint_eq(above.depth, 1);
    moment_release(&chain.moment);
}
