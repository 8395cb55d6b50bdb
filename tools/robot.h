// SPDX-License-Identifier: MIT
// Robots: bodies that joints move, as files in URDF and SDF describe them. The readers of these
// formats fill a definition; from it come the nodes of a scene, and their movement.
#ifndef ESPALIER_TOOLS_ROBOT_H
#define ESPALIER_TOOLS_ROBOT_H

#include "tools/scene.h"

/// Seconds after which the movement repeats.
#define ROBOT_PERIOD 4.0

/// Leader of an axis that follows no other one.
#define ROBOT_NO_LEADER SIZE_MAX

/// A position and rotation twice: as the reader's library computes it, and as the file's own
/// numbers say. The first goes to the library under test, the second to the oracle.
typedef struct robot_pose {
    tool_placement place;
    tool_affine matrix;
} robot_pose;

/// One body, or another frame that is worth a node.
typedef struct robot_body {
    const char *name;
    uint32_t parent; // any body, SCENE_NO_PARENT at the top
    robot_pose rest; // in the parent
} robot_body;

/// One degree of freedom of a joint.
typedef struct robot_axis {
    bool is_slide; // else a turn
    // In the joint's frame, as the reader's library has it and as the file's own numbers say. Not 0;
    // both are brought to unit length.
    double direction[3], file_direction[3];
    double pitch;              // distance along the axis for each radian of a turn
    double lower, upper;       // radians, or units of length; infinite where there is no limit
    size_t leader;             // the axis that it follows, or ROBOT_NO_LEADER
    double multiplier, offset; // its value is multiplier * leader + offset
} robot_axis;

/// One joint. It moves a body by its axes, the first one first from the parent's side.
typedef struct robot_joint {
    const char *name;
    uint32_t body;
    robot_pose frame; // in the body at rest
    size_t first_axis, axis_count;
} robot_joint;

typedef struct robot_def {
    const robot_body *bodies;
    size_t body_count;
    const robot_joint *joints;
    size_t joint_count;
    const robot_axis *axes;
    size_t axis_count;
} robot_def;

/// Return the matrix of a position and of turns about the fixed axes x, y and z, in this order.
tool_affine robot_matrix_of_pose(const double xyz[3], const double rpy[3]);

/// Take nodes and joints from a definition, which is copied. Nodes are breadth-first; siblings keep
/// the order of the definition.
/// @return false with the reason: bodies or leaders in a circle, an axis of no length, no memory.
bool robot_take(tool_scene *out, const robot_def *def, tool_fault *fault);

/// Release what robot_take() made.
void robot_release(tool_robot *robot);

/// Write the locals of the nodes that joints move; others are left alone.
///
/// An axis with two limits swings between them, once in a period. A turn without limits turns once
/// in a period. A slide without limits swings by half a unit to both sides of 0; with one limit,
/// a slide swings up to a unit away from it, and a turn up to one turn. The range of an axis is made
/// narrower where another axis that follows it would leave its own limits. Axes begin at different
/// times in the period.
void robot_pose_nodes(const tool_robot *robot, const scene_node *nodes, double seconds,
                      local_frame *locals);

/// Read the value of an axis at a time, by the name of its joint: for tests.
/// @return NaN where there is no such axis.
double robot_value(const tool_robot *robot, const char *joint, size_t axis, double seconds);

/// List the nodes that move. @return how many; at most as many as the scene has nodes.
size_t robot_list_moved(const tool_robot *robot, uint32_t *nodes);

#endif
