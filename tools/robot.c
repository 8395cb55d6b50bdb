// SPDX-License-Identifier: MIT
// What the library is given is a product of quaternions, what the oracle multiplies one of matrices
// that are built from axes and angles; they share the values of the axes and nothing else.
#include "tools/robot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TURN 6.283185307179586

/// Limits as large as this are how files write that there is none.
#define LARGEST_LIMIT 1e6

/// An axis that moves.
typedef struct moving_axis {
    bool is_slide;
    bool goes_round;                        // a turn without limits
    double direction[3], file_direction[3]; // for placements; for matrices
    double pitch;
    double low, high;          // of what it swings between
    double phase;              // share of the period by which it is ahead
    size_t source;             // the axis at the end of the chain of leaders, perhaps itself
    double multiplier, offset; // from the value of the source
} moving_axis;

typedef struct moving_joint {
    char *name;
    uint32_t node;
    robot_pose frame;
    size_t first_axis, axis_count;
} moving_joint;

struct tool_robot {
    size_t joint_count, axis_count;
    moving_joint *joints; // [joint_count]
    moving_axis *axes;    // [axis_count]
};

// Poses.

/// Return a * b of placements without scale.
static tool_placement place_multiply(const tool_placement *a, const tool_placement *b)
{
    tool_placement out = placement_identity();

    quaternion_rotate(out.position, a->rotation, b->position);
    for (int i = 0; i < 3; ++i) {
        out.position[i] += a->position[i];
    }
    quaternion_multiply(out.rotation, a->rotation, b->rotation);
    quaternion_normalize(out.rotation);
    return out;
}

static tool_placement place_invert(const tool_placement *a)
{
    tool_placement out = placement_identity();

    for (int i = 0; i < 3; ++i) {
        out.rotation[i] = -a->rotation[i];
    }
    out.rotation[3] = a->rotation[3];
    quaternion_rotate(out.position, out.rotation, a->position);
    for (int i = 0; i < 3; ++i) {
        out.position[i] = -out.position[i];
    }
    return out;
}

/// Invert a rotation with a translation.
static tool_affine matrix_invert(const tool_affine *a)
{
    tool_affine out;

    for (int i = 0; i < 3; ++i) {
        out.m[i][3] = 0;
        for (int j = 0; j < 3; ++j) {
            out.m[i][j] = a->m[j][i];
            out.m[i][3] -= a->m[j][i] * a->m[j][3];
        }
    }
    return out;
}

/// Rodrigues' formula: cos I + sin [d]x + (1 - cos) d d'.
static tool_affine matrix_of_turn(const double d[3], double angle)
{
    const double s = sin(angle), c = cos(angle);
    const double cross[3][3] = {{0, -d[2], d[1]}, {d[2], 0, -d[0]}, {-d[1], d[0], 0}};
    tool_affine out = affine_identity();

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.m[i][j] = (i == j ? c : 0) + s * cross[i][j] + (1 - c) * d[i] * d[j];
        }
    }
    return out;
}

tool_affine robot_matrix_of_pose(const double xyz[3], const double rpy[3])
{
    tool_affine out = affine_identity();

    for (int i = 3; i-- > 0;) {
        double axis[3] = {0, 0, 0};

        axis[i] = 1;
        const tool_affine turn = matrix_of_turn(axis, rpy[i]);
        out = affine_multiply(&out, &turn);
    }
    for (int i = 0; i < 3; ++i) {
        out.m[i][3] = xyz[i];
    }
    return out;
}

static robot_pose pose_of_axis(const moving_axis *axis, double value)
{
    const double angle = axis->is_slide ? 0 : value;
    const double distance = axis->is_slide ? value : value * axis->pitch;
    robot_pose out = {placement_identity(), matrix_of_turn(axis->file_direction, angle)};

    quaternion_about(out.place.rotation, axis->direction, angle);
    for (int i = 0; i < 3; ++i) {
        out.place.position[i] = axis->direction[i] * distance;
        out.matrix.m[i][3] = axis->file_direction[i] * distance;
    }
    return out;
}

static void pose_append(robot_pose *pose, const robot_pose *next)
{
    pose->place = place_multiply(&pose->place, &next->place);
    pose->matrix = affine_multiply(&pose->matrix, &next->matrix);
}

// Movement.

static double axis_value(const tool_robot *robot, size_t index, double seconds)
{
    const moving_axis *const axis = &robot->axes[index];
    const moving_axis *const source = &robot->axes[axis->source];
    const double angle = TURN * fmod(seconds / ROBOT_PERIOD + source->phase, 1);
    const double swing = (source->high - source->low) / 2;
    const double value =
        source->goes_round ? angle : (source->low + source->high) / 2 + swing * sin(angle);

    return axis->multiplier * value + axis->offset;
}

void robot_pose_nodes(const tool_robot *robot, const scene_node *nodes, double seconds,
                      local_frame *locals)
{
    for (size_t i = 0; i < robot->joint_count; ++i) {
        const moving_joint *const joint = &robot->joints[i];
        const robot_pose back = {place_invert(&joint->frame.place),
                                 matrix_invert(&joint->frame.matrix)};
        const local_frame *const rest = &nodes[joint->node].rest;
        robot_pose pose = {rest->place, rest->matrix};

        pose_append(&pose, &joint->frame);
        for (size_t j = joint->first_axis; j < joint->first_axis + joint->axis_count; ++j) {
            const robot_pose moved = pose_of_axis(&robot->axes[j], axis_value(robot, j, seconds));
            pose_append(&pose, &moved);
        }
        pose_append(&pose, &back);
        locals[joint->node] = (local_frame){.place = pose.place, .matrix = pose.matrix};
    }
}

double robot_value(const tool_robot *robot, const char *joint, size_t axis, double seconds)
{
    for (size_t i = 0; i < robot->joint_count; ++i) {
        const moving_joint *const found = &robot->joints[i];
        if (strcmp(found->name, joint) == 0 && axis < found->axis_count) {
            return axis_value(robot, found->first_axis + axis, seconds);
        }
    }
    return (double)NAN;
}

size_t robot_list_moved(const tool_robot *robot, uint32_t *nodes)
{
    for (size_t i = 0; i < robot->joint_count; ++i) {
        nodes[i] = robot->joints[i].node;
    }
    return robot->joint_count;
}

// Taking a definition.

/// List the bodies breadth-first. @return false for bodies in a circle, or without memory.
static bool order_bodies(const robot_def *def, uint32_t *body_of_node, uint32_t *node_of_body,
                         tool_fault *fault)
{
    const size_t count = def->body_count;
    // Lists of children; the last entry is the list of the top.
    uint32_t *const first = malloc((count + 1) * sizeof *first);
    uint32_t *const next = malloc((count + 1) * sizeof *next);
    size_t filled = 0;

    if (first == NULL || next == NULL) {
        fault_say(fault, "no memory for %zu nodes", count);
        free(first);
        free(next);
        return false;
    }
    for (size_t i = 0; i <= count; ++i) {
        first[i] = UINT32_MAX;
    }
    for (size_t i = count; i-- > 0;) {
        const uint32_t parent = def->bodies[i].parent;
        const size_t list = parent == SCENE_NO_PARENT ? count : parent;
        next[i] = first[list];
        first[list] = (uint32_t)i;
    }
    for (size_t done = 0; done <= filled; ++done) {
        const size_t list = done == 0 ? count : body_of_node[done - 1];
        for (uint32_t body = first[list]; body != UINT32_MAX; body = next[body]) {
            node_of_body[body] = (uint32_t)filled;
            body_of_node[filled++] = body;
        }
    }
    free(first);
    free(next);
    if (filled < count) {
        fault_say(fault, "its joints lead round in a circle");
    }
    return filled == count;
}

static bool fill_nodes(tool_scene *out, const robot_def *def, const uint32_t *body_of_node,
                       const uint32_t *node_of_body, tool_fault *fault)
{
    for (size_t i = 0; i < out->node_count; ++i) {
        const robot_body *const body = &def->bodies[body_of_node[i]];
        scene_node *const node = &out->nodes[i];

        node->name = strdup(body->name);
        if (node->name == NULL) {
            fault_say(fault, "no memory for %zu nodes", out->node_count);
            return false;
        }
        node->parent =
            body->parent == SCENE_NO_PARENT ? SCENE_NO_PARENT : node_of_body[body->parent];
        node->rest.place = body->rest.place;
        node->rest.matrix = body->rest.matrix;
    }
    return true;
}

static bool take_direction(double out[3], const double from[3])
{
    const double length = vector_length(from);

    for (int i = 0; i < 3; ++i) {
        out[i] = from[i] / length;
    }
    return length > 0 && length <= 1e30;
}

/// Take limits as what the axis swings between.
static void take_limits(moving_axis *out, const robot_axis *from)
{
    const double low = fmin(from->lower, from->upper), high = fmax(from->lower, from->upper);
    const bool has_low = low > -LARGEST_LIMIT, has_high = high < LARGEST_LIMIT;
    const double span = from->is_slide ? 1 : TURN;

    out->goes_round = !from->is_slide && !has_low && !has_high;
    out->low = has_low ? low : has_high ? high - span : -span / 2;
    out->high = has_high ? high : has_low ? low + span : span / 2;
}

/// Follow the leaders of an axis to the one that leads them all.
static bool find_source(moving_axis *out, const robot_def *def, size_t index)
{
    out->source = index;
    out->multiplier = 1;
    out->offset = 0;
    for (size_t steps = 0; def->axes[out->source].leader != ROBOT_NO_LEADER; ++steps) {
        const robot_axis *const axis = &def->axes[out->source];

        if (steps == def->axis_count) {
            return false;
        }
        out->offset += out->multiplier * axis->offset;
        out->multiplier *= axis->multiplier;
        out->source = axis->leader;
    }
    return true;
}

/// Make the range of a leader narrower where a follower would leave its own limits. A follower
/// whose limits the leader cannot keep leaves them.
static void narrow(moving_axis *source, const moving_axis *follower)
{
    if (follower->goes_round || follower->multiplier == 0) {
        return;
    }
    const double a = (follower->low - follower->offset) / follower->multiplier;
    const double b = (follower->high - follower->offset) / follower->multiplier;
    const double low = source->goes_round ? fmin(a, b) : fmax(source->low, fmin(a, b));
    const double high = source->goes_round ? fmax(a, b) : fmin(source->high, fmax(a, b));

    if (low <= high) {
        source->goes_round = false;
        source->low = low;
        source->high = high;
    }
}

static bool take_axes(tool_robot *out, const robot_def *def, tool_fault *fault)
{
    for (size_t i = 0; i < def->axis_count; ++i) {
        const robot_axis *const from = &def->axes[i];
        moving_axis *const axis = &out->axes[i];

        axis->is_slide = from->is_slide;
        axis->pitch = from->pitch;
        // By the golden section any few axes are far apart.
        axis->phase = fmod(0.6180339887498949 * (double)i, 1);
        take_limits(axis, from);
        if (!take_direction(axis->direction, from->direction) ||
            !take_direction(axis->file_direction, from->file_direction)) {
            fault_say(fault, "a joint has an axis of no length");
            return false;
        }
        if (!find_source(axis, def, i)) {
            fault_say(fault, "joints follow each other in a circle");
            return false;
        }
    }
    for (size_t i = 0; i < def->axis_count; ++i) {
        if (out->axes[i].source != i) {
            narrow(&out->axes[out->axes[i].source], &out->axes[i]);
        }
    }
    return true;
}

static bool take_joints(tool_robot *out, const robot_def *def, const uint32_t *node_of_body)
{
    for (size_t i = 0; i < def->joint_count; ++i) {
        const robot_joint *const from = &def->joints[i];

        out->joints[i] = (moving_joint){.name = strdup(from->name),
                                        .node = node_of_body[from->body],
                                        .frame = from->frame,
                                        .first_axis = from->first_axis,
                                        .axis_count = from->axis_count};
        if (out->joints[i].name == NULL) {
            return false;
        }
        out->joint_count = i + 1;
    }
    return true;
}

static bool make_robot(tool_scene *out, const robot_def *def, const uint32_t *node_of_body,
                       tool_fault *fault)
{
    if (def->joint_count == 0) {
        return true;
    }
    tool_robot *const robot = calloc(1, sizeof *robot);
    out->robot = robot;
    if (robot != NULL) {
        robot->joints = calloc(def->joint_count, sizeof *robot->joints);
        robot->axes = calloc(def->axis_count + 1, sizeof *robot->axes);
        robot->axis_count = def->axis_count;
    }
    if (robot == NULL || robot->joints == NULL || robot->axes == NULL ||
        !take_joints(robot, def, node_of_body)) {
        fault_say(fault, "no memory for its joints");
        return false;
    }
    out->duration = ROBOT_PERIOD;
    return take_axes(robot, def, fault);
}

bool robot_take(tool_scene *out, const robot_def *def, tool_fault *fault)
{
    uint32_t *const body_of_node = calloc(def->body_count + 1, sizeof *body_of_node);
    uint32_t *const node_of_body = calloc(def->body_count + 1, sizeof *node_of_body);
    bool is_good = body_of_node != NULL && node_of_body != NULL;

    if (!is_good) {
        fault_say(fault, "no memory for %zu nodes", def->body_count);
    }
    is_good = is_good && order_bodies(def, body_of_node, node_of_body, fault) &&
              scene_reserve(out, def->body_count, 0, fault) &&
              fill_nodes(out, def, body_of_node, node_of_body, fault) &&
              make_robot(out, def, node_of_body, fault);
    free(body_of_node);
    free(node_of_body);
    out->up_axis = 2;
    return is_good;
}

void robot_release(tool_robot *robot)
{
    for (size_t i = 0; i < robot->joint_count; ++i) {
        free(robot->joints[i].name);
    }
    free(robot->joints);
    free(robot->axes);
    free(robot);
}
