// SPDX-License-Identifier: MIT
// Scenes by MuJoCo: bodies as nodes, moved by its simulation. Locals come from the model's body
// offsets and the joints' positions alone; MuJoCo's own worlds are kept for the oracle.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/scene.h"

#ifndef HAVE_MUJOCO

bool scene_read_mujoco(tool_scene *out, const char *path, tool_fault *fault)
{
    (void)out;
    (void)path;
    fault_say(fault, "is an MJCF file, and this espalier was built without MuJoCo");
    return false;
}

// No scene has a simulation in this build.
void physics_step(tool_physics *physics)
{
    (void)physics;
}

void physics_pose(const tool_physics *physics, local_frame *locals)
{
    (void)physics;
    (void)locals;
}

void physics_worlds(const tool_physics *physics, tool_affine *worlds)
{
    (void)physics;
    (void)worlds;
}

void physics_end(tool_physics *physics)
{
    (void)physics;
}

#else

#include <mujoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tool_physics {
    mjModel *model;
    mjData *data;
    uint32_t *node_of_body; // [nbody]; of the world body: SCENE_NO_PARENT
};

/// Without a hook MuJoCo writes warnings to the terminal and to a file in the current directory. A
/// simulation that blows up shows in its numbers all the same.
static void swallow_warning(const char *message)
{
    (void)message;
}

/// MuJoCo cannot go on after an error, and expects this not to return.
static void end_on_error(const char *message)
{
    tool_fault said = {""};

    fault_say(&said, "%s", message);
    (void)fprintf(stderr, "espalier: MuJoCo: %s\n", said.text);
    exit(2);
}

static void take_quaternion(double out[4], const mjtNum *wxyz)
{
    out[0] = wxyz[1];
    out[1] = wxyz[2];
    out[2] = wxyz[3];
    out[3] = wxyz[0];
    quaternion_normalize(out);
}

static void take_vector(double out[3], const mjtNum *xyz)
{
    memcpy(out, xyz, 3 * sizeof *out);
}

/// Turn a placement about a joint's anchor, both in the parent's axes before and after.
static void turn_about_anchor(tool_placement *place, const double anchor[3], const double turn[4])
{
    double before[3], after[3];

    quaternion_rotate(before, place->rotation, anchor);
    quaternion_multiply(place->rotation, place->rotation, turn);
    quaternion_rotate(after, place->rotation, anchor);
    for (int i = 0; i < 3; ++i) {
        place->position[i] += before[i] - after[i];
    }
}

static void slide_along(tool_placement *place, const double axis[3], double distance)
{
    double direction[3];

    quaternion_rotate(direction, place->rotation, axis);
    for (int i = 0; i < 3; ++i) {
        place->position[i] += direction[i] * distance;
    }
}

/// Move a body by one of its joints, as MuJoCo's documentation of kinematics has it.
static void apply_joint(tool_placement *place, const mjModel *model, const mjData *data, int joint)
{
    const int address = model->jnt_qposadr[joint];
    const mjtNum *const at = data->qpos + address;
    const double from_start = at[0] - model->qpos0[address];
    double anchor[3], axis[3], turn[4];

    take_vector(anchor, model->jnt_pos + 3 * joint);
    take_vector(axis, model->jnt_axis + 3 * joint);
    switch (model->jnt_type[joint]) {
    case mjJNT_FREE:
        take_vector(place->position, at);
        take_quaternion(place->rotation, at + 3);
        break;
    case mjJNT_BALL:
        take_quaternion(turn, at);
        turn_about_anchor(place, anchor, turn);
        break;
    case mjJNT_SLIDE:
        slide_along(place, axis, from_start);
        break;
    default:
        quaternion_about(turn, axis, from_start);
        turn_about_anchor(place, anchor, turn);
        break;
    }
}

/// Where a body stands in its parent, from its offset in the model and its joints.
static tool_placement place_body(const mjModel *model, const mjData *data, int body)
{
    const int mocap = model->body_mocapid[body];
    tool_placement place = placement_identity();

    if (mocap >= 0) {
        take_vector(place.position, data->mocap_pos + 3 * mocap);
        take_quaternion(place.rotation, data->mocap_quat + 4 * mocap);
    } else {
        take_vector(place.position, model->body_pos + 3 * body);
        take_quaternion(place.rotation, model->body_quat + 4 * body);
    }
    for (int i = 0; i < model->body_jntnum[body]; ++i) {
        apply_joint(&place, model, data, model->body_jntadr[body] + i);
    }
    quaternion_normalize(place.rotation);
    return place;
}

void physics_step(tool_physics *physics)
{
    mj_step(physics->model, physics->data);
    // A step moves the joints last; the bodies follow here.
    mj_kinematics(physics->model, physics->data);
}

void physics_pose(const tool_physics *physics, local_frame *locals)
{
    for (int body = 1; body < physics->model->nbody; ++body) {
        local_frame *const local = &locals[physics->node_of_body[body]];

        local->place = place_body(physics->model, physics->data, body);
        local->matrix = affine_of_placement(&local->place);
    }
}

void physics_worlds(const tool_physics *physics, tool_affine *worlds)
{
    for (int body = 1; body < physics->model->nbody; ++body) {
        tool_placement world = placement_identity();

        take_vector(world.position, physics->data->xpos + 3 * body);
        take_quaternion(world.rotation, physics->data->xquat + 4 * body);
        worlds[physics->node_of_body[body]] = affine_of_placement(&world);
    }
}

void physics_end(tool_physics *physics)
{
    mj_deleteData(physics->data);
    mj_deleteModel(physics->model);
    free(physics->node_of_body);
    free(physics);
}

/// Number the bodies breadth-first, as scenes are; MuJoCo numbers them depth-first. The world body
/// is no node. @param body_of_node  [nbody] out.
static void number_bodies(const mjModel *model, uint32_t *node_of_body, int *body_of_node)
{
    uint32_t filled = 0;

    node_of_body[0] = SCENE_NO_PARENT;
    for (int parent = 0, next = 0; parent >= 0;) {
        for (int body = 1; body < model->nbody; ++body) {
            if (model->body_parentid[body] == parent) {
                node_of_body[body] = filled;
                body_of_node[filled++] = body;
            }
        }
        parent = (uint32_t)next < filled ? body_of_node[next++] : -1;
    }
}

static bool fill_nodes(tool_scene *out, const mjModel *model, const int *body_of_node)
{
    for (size_t i = 0; i < out->node_count; ++i) {
        const int body = body_of_node[i];
        const char *const name = mj_id2name(model, mjOBJ_BODY, body);
        char number[32];

        (void)snprintf(number, sizeof number, "body %d", body);
        out->nodes[i].name = strdup(name != NULL ? name : number);
        if (out->nodes[i].name == NULL) {
            return false;
        }
        out->nodes[i].parent = out->physics->node_of_body[model->body_parentid[body]];
    }
    return true;
}

/// Write the middle and the half sides of the box around a geom, along its own axes.
static void measure_geom(double middle[3], double half[3], const mjModel *model, int geom)
{
    const mjtNum *const size = model->geom_size + 3 * geom;
    const int mesh = model->geom_dataid[geom];
    scene_shape shape = {0};

    for (int i = 0; i < 3; ++i) {
        middle[i] = 0;
        half[i] = model->geom_rbound[geom];
    }
    switch (model->geom_type[geom]) {
    case mjGEOM_CAPSULE:
    case mjGEOM_CYLINDER:
        half[0] = half[1] = size[0];
        half[2] = size[1] + (model->geom_type[geom] == mjGEOM_CAPSULE ? size[0] : 0);
        break;
    case mjGEOM_ELLIPSOID:
    case mjGEOM_BOX:
        take_vector(half, size);
        break;
    case mjGEOM_MESH:
        for (int i = 0; i < model->mesh_vertnum[mesh]; ++i) {
            const float *const at =
                model->mesh_vert + 3 * ((size_t)model->mesh_vertadr[mesh] + (size_t)i);

            shape_take(&shape, i == 0, (double[3]){(double)at[0], (double)at[1], (double)at[2]});
        }
        for (int i = 0; i < 3; ++i) {
            middle[i] = (shape.least[i] + shape.most[i]) / 2;
            half[i] = (shape.most[i] - shape.least[i]) / 2;
        }
        break;
    default: // a sphere, or what the sphere around it contains
        break;
    }
}

/// Widen the box of a body by a geom, whose corners the body's axes see turned.
static void take_geom(scene_shape *out, bool is_first, const mjModel *model, int geom)
{
    double middle[3], half[3], turn[4], place[3];

    measure_geom(middle, half, model, geom);
    take_quaternion(turn, model->geom_quat + 4 * geom);
    take_vector(place, model->geom_pos + 3 * geom);
    for (int corner = 0; corner < 8; ++corner) {
        double at[3];

        for (int i = 0; i < 3; ++i) {
            at[i] = middle[i] + ((corner >> i & 1) != 0 ? half[i] : -half[i]);
        }
        quaternion_rotate(at, turn, at);
        for (int i = 0; i < 3; ++i) {
            at[i] += place[i];
        }
        shape_take(out, is_first && corner == 0, at);
    }
}

static void fill_shapes(tool_scene *out, const mjModel *model, const int *body_of_node)
{
    for (size_t i = 0; i < out->node_count; ++i) {
        const int body = body_of_node[i], first = model->body_geomadr[body];
        scene_shape *const shape = &out->nodes[i].shape;

        for (int j = 0; j < model->body_geomnum[body]; ++j) {
            take_geom(shape, j == 0, model, first + j);
        }
        if (model->body_geomnum[body] > 0) {
            shape_finish(shape, (uint32_t)i + 1);
        }
    }
}

static bool fill_rest(tool_scene *out)
{
    local_frame *const rest = calloc(out->node_count + 1, sizeof *rest);

    if (rest == NULL) {
        return false;
    }
    physics_pose(out->physics, rest);
    for (size_t i = 0; i < out->node_count; ++i) {
        out->nodes[i].rest = rest[i];
    }
    free(rest);
    return true;
}

/// Make the simulation that owns the model, or delete the model.
static tool_physics *make_physics(mjModel *model)
{
    tool_physics *const made = calloc(1, sizeof *made);

    if (made == NULL) {
        mj_deleteModel(model);
        return NULL;
    }
    made->model = model;
    made->data = mj_makeData(model);
    made->node_of_body = calloc((size_t)model->nbody, sizeof *made->node_of_body);
    if (made->data == NULL || made->node_of_body == NULL) {
        physics_end(made);
        return NULL;
    }
    mj_kinematics(model, made->data);
    return made;
}

bool scene_read_mujoco(tool_scene *out, const char *path, tool_fault *fault)
{
    char reason[1000] = "";

    mju_user_warning = swallow_warning;
    mju_user_error = end_on_error;
    mjModel *const model = mj_loadXML(path, NULL, reason, sizeof reason);
    if (model == NULL) {
        fault_say(fault, "MuJoCo: %s", reason);
        return false;
    }

    const size_t body_count = (size_t)model->nbody;
    int *const body_of_node = calloc(body_count, sizeof *body_of_node);
    out->physics = make_physics(model);
    bool is_good = body_of_node != NULL && out->physics != NULL;
    if (is_good) {
        number_bodies(model, out->physics->node_of_body, body_of_node);
        is_good = scene_reserve(out, body_count - 1, 0, fault) &&
                  fill_nodes(out, model, body_of_node) && fill_rest(out);
    }
    if (is_good) {
        fill_shapes(out, model, body_of_node);
    }
    if (!is_good && fault->text[0] == '\0') {
        fault_say(fault, "no memory for its bodies");
    }
    free(body_of_node);
    out->up_axis = 2;
    return is_good;
}

#endif
