// SPDX-License-Identifier: MIT
// Robots: axes stay within limits, followers follow, and both ways to compute a pose are the pose that
// the joint's description means.
#include "tools/robot.h"

#include "tests/runner.h"

#include <math.h>
#include <stdio.h>

#define QUARTER 1.5707963267948966
#define TURN (4 * QUARTER)

static robot_pose pose_at(double x, double y, double z)
{
    robot_pose pose = {placement_identity(), affine_identity()};
    const double position[3] = {x, y, z};

    for (int i = 0; i < 3; ++i) {
        pose.place.position[i] = position[i];
        pose.matrix.m[i][3] = position[i];
    }
    return pose;
}

static robot_axis turn_about(double x, double y, double z, double lower, double upper)
{
    return (robot_axis){.direction = {x, y, z},
                        .file_direction = {x, y, z},
                        .lower = lower,
                        .upper = upper,
                        .leader = ROBOT_NO_LEADER};
}

static robot_axis slide_along(double x, double y, double z, double lower, double upper)
{
    robot_axis axis = turn_about(x, y, z, lower, upper);

    axis.is_slide = true;
    return axis;
}

#define MOST 4

/// A chain of a base and up to three bodies, each a unit further along x, each with a joint of one axis.
typedef struct chain {
    robot_body bodies[MOST];
    robot_joint joints[MOST];
    robot_axis axes[MOST];
    robot_def def;
    tool_scene scene;
    tool_fault fault;
} chain;

static bool chain_take(chain *out, size_t joint_count, const robot_axis *axes)
{
    static const char *const names[MOST] = {"base", "a", "b", "c"};

    *out = (chain){0};
    for (uint32_t i = 0; i <= joint_count; ++i) {
        out->bodies[i] = (robot_body){.name = names[i],
                                      .parent = i == 0 ? SCENE_NO_PARENT : i - 1,
                                      .rest = pose_at(i > 0, 0, 0)};
    }
    for (uint32_t i = 0; i < joint_count; ++i) {
        out->axes[i] = axes[i];
        out->joints[i] = (robot_joint){.name = names[i + 1],
                                       .body = i + 1,
                                       .frame = pose_at(0, 0, 0),
                                       .first_axis = i,
                                       .axis_count = 1};
    }
    out->def =
        (robot_def){out->bodies, joint_count + 1, out->joints, joint_count, out->axes, joint_count};
    return robot_take(&out->scene, &out->def, &out->fault);
}

/// The least and the largest value of an axis over a period, by many samples.
static void range_of(double range[2], const chain *robot, const char *joint)
{
    range[0] = (double)INFINITY;
    range[1] = -(double)INFINITY;
    for (int i = 0; i < 4000; ++i) {
        const double value = robot_value(robot->scene.robot, joint, 0, ROBOT_PERIOD * i / 4000);
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

#define ck_range(robot, joint, low, high)                 \
    do {                                                  \
        double range_[2];                                 \
        range_of(range_, (robot), (joint));               \
        ck_assert_double_eq_tol(range_[0], (low), 1e-2);  \
        ck_assert_double_eq_tol(range_[1], (high), 1e-2); \
        ck_assert_double_ge(range_[0], (low)-1e-12);      \
        ck_assert_double_le(range_[1], (high) + 1e-12);   \
    } while (0)

TEST(axis_swings_between_its_limits_and_reaches_both)
{
    const robot_axis axes[] = {turn_about(0, 0, 1, -0.5, 1.5), slide_along(1, 0, 0, 0.1, 0.4),
                               turn_about(0, 0, 1, 0.25, 0.25)};
    chain robot;

    ck_assert(chain_take(&robot, 3, axes));
    ck_range(&robot, "a", -0.5, 1.5);
    ck_range(&robot, "b", 0.1, 0.4);
    ck_range(&robot, "c", 0.25, 0.25);
    scene_release(&robot.scene);
}

TEST(axis_without_limits_turns_round_or_swings_about_zero)
{
    const double none = (double)INFINITY;
    const robot_axis axes[] = {turn_about(0, 0, 1, -none, none), slide_along(1, 0, 0, -1e16, 1e16),
                               turn_about(0, 0, 1, -1e16, 1e16)};
    chain robot;

    ck_assert(chain_take(&robot, 3, axes));
    ck_range(&robot, "a", 0, TURN);
    ck_range(&robot, "b", -0.5, 0.5);
    ck_range(&robot, "c", 0, TURN);
    scene_release(&robot.scene);
}

TEST(axis_with_one_limit_stays_on_its_side)
{
    const double none = (double)INFINITY;
    const robot_axis axes[] = {slide_along(1, 0, 0, 2, none), slide_along(1, 0, 0, -none, -3),
                               turn_about(0, 0, 1, 1, none)};
    chain robot;

    ck_assert(chain_take(&robot, 3, axes));
    ck_range(&robot, "a", 2, 3);
    ck_range(&robot, "b", -4, -3);
    ck_range(&robot, "c", 1, 1 + TURN);
    scene_release(&robot.scene);
}

TEST(limits_the_wrong_way_round_are_the_same_range)
{
    const robot_axis axes[] = {turn_about(0, 0, 1, 1.5, -0.5)};
    chain robot;

    ck_assert(chain_take(&robot, 1, axes));
    ck_range(&robot, "a", -0.5, 1.5);
    scene_release(&robot.scene);
}

static robot_axis following(robot_axis axis, size_t leader, double multiplier, double offset)
{
    axis.leader = leader;
    axis.multiplier = multiplier;
    axis.offset = offset;
    return axis;
}

TEST(follower_is_multiplier_times_leader_plus_offset_at_all_times)
{
    // The first axis follows the last one, by the second.
    const robot_axis axes[] = {following(turn_about(0, 0, 1, -9, 9), 1, -2, 0.5),
                               following(turn_about(0, 0, 1, -9, 9), 2, 3, -0.25),
                               turn_about(0, 0, 1, -0.5, 0.5)};
    chain robot;

    ck_assert(chain_take(&robot, 3, axes));
    ck_range(&robot, "c", -0.5, 0.5);
    for (int i = 0; i < 100; ++i) {
        const double at = ROBOT_PERIOD * i / 100;
        const double leader = robot_value(robot.scene.robot, "c", 0, at);
        const double middle = robot_value(robot.scene.robot, "b", 0, at);

        ck_assert_double_eq_tol(middle, 3 * leader - 0.25, 1e-12);
        ck_assert_double_eq_tol(robot_value(robot.scene.robot, "a", 0, at), -2 * middle + 0.5,
                                1e-12);
    }
    scene_release(&robot.scene);
}

TEST(leader_stays_where_its_followers_can_follow)
{
    const double none = (double)INFINITY;
    const robot_axis axes[] = {turn_about(0, 0, 1, -none, none),
                               following(turn_about(0, 0, 1, -1, 1), 0, 2, 0),
                               following(turn_about(0, 0, 1, -0.9, 0.3), 0, -1, 0)};
    chain robot;

    ck_assert(chain_take(&robot, 3, axes));
    ck_range(&robot, "a", -0.3, 0.5);
    ck_range(&robot, "b", -0.6, 1);
    ck_range(&robot, "c", -0.5, 0.3);
    scene_release(&robot.scene);
}

TEST(leader_keeps_its_limits_where_a_follower_cannot_follow)
{
    const robot_axis axes[] = {turn_about(0, 0, 1, 1, 2),
                               following(turn_about(0, 0, 1, -1, 0), 0, 1, 0)};
    chain robot;

    ck_assert(chain_take(&robot, 2, axes));
    ck_range(&robot, "a", 1, 2);
    ck_range(&robot, "b", 1, 2);
    scene_release(&robot.scene);
}

TEST(followers_in_a_circle_are_refused)
{
    const robot_axis axes[] = {following(turn_about(0, 0, 1, -1, 1), 1, 1, 0),
                               following(turn_about(0, 0, 1, -1, 1), 0, 1, 0)};
    chain robot;

    ck_assert(!chain_take(&robot, 2, axes));
    ck_assert_str_eq(robot.fault.text, "joints follow each other in a circle");
    scene_release(&robot.scene);
}

TEST(axis_of_no_length_is_refused)
{
    const robot_axis axes[] = {turn_about(0, 0, 0, -1, 1)};
    chain robot;

    ck_assert(!chain_take(&robot, 1, axes));
    ck_assert_str_eq(robot.fault.text, "a joint has an axis of no length");
    scene_release(&robot.scene);
}

TEST(bodies_in_a_circle_are_refused)
{
    const robot_body bodies[] = {{"a", 1, pose_at(0, 0, 0)},
                                 {"b", 0, pose_at(0, 0, 0)},
                                 {"top", SCENE_NO_PARENT, pose_at(0, 0, 0)}};
    const robot_def def = {.bodies = bodies, .body_count = 3};
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert(!robot_take(&scene, &def, &fault));
    ck_assert_str_eq(fault.text, "its joints lead round in a circle");
    scene_release(&scene);
}

TEST(nodes_are_breadth_first_whatever_the_order_of_bodies)
{
    const robot_body bodies[] = {{"leaf", 2, pose_at(1, 0, 0)},
                                 {"second", 3, pose_at(2, 0, 0)},
                                 {"first", 3, pose_at(3, 0, 0)},
                                 {"root", SCENE_NO_PARENT, pose_at(4, 0, 0)},
                                 {"other", SCENE_NO_PARENT, pose_at(5, 0, 0)}};
    static const char *const names[] = {"root", "other", "second", "first", "leaf"};
    static const uint32_t parents[] = {SCENE_NO_PARENT, SCENE_NO_PARENT, 0, 0, 3};
    const robot_def def = {.bodies = bodies, .body_count = 5};
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(robot_take(&scene, &def, &fault), "%s", fault.text);
    ck_assert_uint_eq(scene.node_count, 5);
    for (size_t i = 0; i < 5; ++i) {
        ck_assert_str_eq(scene.nodes[i].name, names[i]);
        ck_assert_uint_eq(scene.nodes[i].parent, parents[i]);
    }
    ck_assert(!scene_moves(&scene));
    scene_release(&scene);
}

/// The local of one body at a time, which both ways compute; they must agree.
static tool_affine local_at(const tool_scene *scene, size_t node, double seconds)
{
    local_frame locals[MOST];

    ck_assert_uint_le(scene->node_count, MOST);
    scene_pose(scene, seconds, locals);
    const tool_affine by_place = affine_of_placement(&locals[node].place);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            ck_assert_double_eq_tol(by_place.m[i][j], locals[node].matrix.m[i][j], 1e-14);
        }
    }
    return locals[node].matrix;
}

static void ck_matrix(const tool_affine *seen, const double expected[3][4])
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            ck_assert_double_eq_tol(seen->m[i][j], expected[i][j], 1e-9);
        }
    }
}

TEST(turn_goes_round_its_axis_by_the_right_hand)
{
    const robot_axis axes[] = {turn_about(0, 0, 2, QUARTER, QUARTER)};
    const double expected[3][4] = {{0, -1, 0, 1}, {1, 0, 0, 0}, {0, 0, 1, 0}};
    chain robot;

    ck_assert(chain_take(&robot, 1, axes));
    const tool_affine local = local_at(&robot.scene, 1, 1);
    ck_matrix(&local, expected);
    scene_release(&robot.scene);
}

TEST(slide_goes_along_its_axis_whatever_the_length_of_that)
{
    const robot_axis axes[] = {slide_along(0, 3, 4, 10, 10)};
    const double expected[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 6}, {0, 0, 1, 8}};
    chain robot;

    ck_assert(chain_take(&robot, 1, axes));
    const tool_affine local = local_at(&robot.scene, 1, 1);
    ck_matrix(&local, expected);
    scene_release(&robot.scene);
}

TEST(screw_goes_along_its_axis_while_it_turns)
{
    robot_axis axis = turn_about(0, 0, 1, QUARTER, QUARTER);
    const double expected[3][4] = {{0, -1, 0, 1}, {1, 0, 0, 0}, {0, 0, 1, 0.5 * QUARTER}};
    chain robot;

    axis.pitch = 0.5;
    ck_assert(chain_take(&robot, 1, &axis));
    const tool_affine local = local_at(&robot.scene, 1, 1);
    ck_matrix(&local, expected);
    scene_release(&robot.scene);
}

TEST(joint_beside_its_body_turns_it_about_the_joint)
{
    // The body is at x = 1, its joint one further along x, turned half round about x: so its z is down.
    const double up[3] = {1, 0, 0}, half[3] = {2 * QUARTER, 0, 0};
    const robot_body bodies[] = {{"base", SCENE_NO_PARENT, pose_at(0, 0, 0)},
                                 {"body", 0, pose_at(1, 0, 0)}};
    const robot_axis axis = turn_about(0, 0, 1, QUARTER, QUARTER);
    robot_joint joint = {"joint", 1, pose_at(1, 0, 0), 0, 1};
    const robot_def def = {bodies, 2, &joint, 1, &axis, 1};
    // A quarter about -z and about the point (2, 0, 0): the body ends at (2, 1, 0).
    const double expected[3][4] = {{0, 1, 0, 2}, {-1, 0, 0, 1}, {0, 0, 1, 0}};
    tool_scene scene = {0};
    tool_fault fault = {""};

    joint.frame.matrix = robot_matrix_of_pose(up, half);
    quaternion_about(joint.frame.place.rotation, up, half[0]);
    ck_assert_msg(robot_take(&scene, &def, &fault), "%s", fault.text);
    const tool_affine local = local_at(&scene, 1, 1);
    ck_matrix(&local, expected);
    scene_release(&scene);
}

TEST(axes_of_one_joint_are_applied_from_the_parents_side)
{
    const robot_body bodies[] = {{"base", SCENE_NO_PARENT, pose_at(0, 0, 0)},
                                 {"body", 0, pose_at(0, 0, 0)}};
    const robot_axis axes[] = {turn_about(0, 0, 1, QUARTER, QUARTER), slide_along(1, 0, 0, 5, 5)};
    const robot_joint joint = {"joint", 1, pose_at(0, 0, 0), 0, 2};
    const robot_def def = {bodies, 2, &joint, 1, axes, 2};
    // The slide is along the x that has turned.
    const double expected[3][4] = {{0, -1, 0, 0}, {1, 0, 0, 5}, {0, 0, 1, 0}};
    tool_scene scene = {0};
    tool_fault fault = {""};

    ck_assert_msg(robot_take(&scene, &def, &fault), "%s", fault.text);
    const tool_affine local = local_at(&scene, 1, 1);
    ck_matrix(&local, expected);
    scene_release(&scene);
}

TEST(turns_of_a_pose_are_about_fixed_axes_x_first)
{
    // x goes to x, then to -z, then stays; y goes to z, then to x, then to y.
    const double xyz[3] = {1, 2, 3}, rpy[3] = {QUARTER, QUARTER, QUARTER};
    const double expected[3][4] = {{0, 0, 1, 1}, {0, 1, 0, 2}, {-1, 0, 0, 3}};
    const tool_affine matrix = robot_matrix_of_pose(xyz, rpy);

    ck_matrix(&matrix, expected);
}

TEST(movement_repeats_after_the_period)
{
    const robot_axis axes[] = {turn_about(0, 0, 1, -1, 1), turn_about(0, 0, 1, -0.5, 2)};
    chain robot;

    ck_assert(chain_take(&robot, 2, axes));
    ck_assert_double_eq(robot.scene.duration, ROBOT_PERIOD);
    ck_assert(scene_moves(&robot.scene));
    ck_assert_double_eq_tol(robot_value(robot.scene.robot, "b", 0, 1.25),
                            robot_value(robot.scene.robot, "b", 0, 1.25 + 3 * ROBOT_PERIOD), 1e-12);
    ck_assert(isnan(robot_value(robot.scene.robot, "d", 0, 0)));
    ck_assert(isnan(robot_value(robot.scene.robot, "a", 1, 0)));
    scene_release(&robot.scene);
}
