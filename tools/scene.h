// SPDX-License-Identifier: MIT
// A scene whatever file it came from: nodes with parents, their rest, and what moves them. The
// readers fill it; everything else in the program sees only this.
#ifndef ESPALIER_TOOLS_SCENE_H
#define ESPALIER_TOOLS_SCENE_H

#include "tools/channel.h"
#include "tools/fault.h"

/// Parent of a node at the top.
#define SCENE_NO_PARENT UINT32_MAX

/// The transform of a node in its parent, twice: neither is computed from the other where a file
/// has numbers of its own.
typedef struct local_frame {
    tool_placement place; // what the library is given, rounded
    tool_affine matrix;   // what the oracle multiplies; see truth.h
} local_frame;

/// What a node draws, and the box around it along the node's axes.
typedef struct scene_shape {
    double least[3], most[3];
    uint32_t number; // nodes that draw the same have the same one, from 1; 0: nothing, and no box
} scene_shape;

/// One node. Parents come before children, and the order is breadth-first.
typedef struct scene_node {
    char *name;
    uint32_t parent; // SCENE_NO_PARENT at the top
    uint32_t depth;  // links to the top
    local_frame rest;
    scene_shape shape; // without what bones bend
} scene_node;

/// A simulation that moves the scene, in scene_mujoco.c.
typedef struct tool_physics tool_physics;

/// Joints that the program moves by itself, in robot.c.
typedef struct tool_robot tool_robot;

typedef struct tool_scene {
    char *path;
    const char *label; // the file's own name, inside path
    size_t node_count;
    scene_node *nodes; // [node_count]
    size_t channel_count;
    tool_channel *channels; // [channel_count]
    double duration;        // seconds; 0 where nothing moves by channels
    const char *wanted;     // the animation that was asked for, or NULL
    size_t animation_count; // in the file
    char *animation;        // the one that plays, or NULL
    size_t unplayed;        // channels of it that move nodes and are not played
    size_t missing;         // includes, macros and joints that the file has and the scene lacks
    char *notes;            // lines about what is not read, or NULL
    int up_axis;            // 1: y, 2: z
    uint32_t depth;         // of the deepest node
    size_t top_count;       // nodes without a parent
    tool_physics *physics;  // or NULL
    tool_robot *robot;      // or NULL
} tool_scene;

/// Read a file.
///
/// A crash, an endless loop or an exit of the reader is found in a process of its own first, and
/// counts as a fault of the file. Call before threads are started.
/// @param animation  name or number, from 1, of the animation to play; NULL: the first. It must live
///                   as long as the scene.
/// @return false with the reason, and nothing to release.
bool scene_load(tool_scene *out, const char *path, const char *animation, tool_fault *fault);

/// Release what scene_load() took. {0} is allowed.
void scene_release(tool_scene *scene);

/// Tell whether the scene moves by itself.
bool scene_moves(const tool_scene *scene);

/// Print the notes, one line each, indented.
void scene_print_notes(const tool_scene *scene);

/// List the nodes that move by themselves, each at least once.
/// @param nodes  [node_count + channel_count]
/// @return how many are listed.
size_t scene_list_moved(const tool_scene *scene, uint32_t *nodes);

/// Fill the locals of one moment: by the channels or joints at a time that repeats after the
/// duration, which is itself the end, or as the simulation stands.
/// @param locals  [node_count]
void scene_pose(const tool_scene *scene, double seconds, local_frame *locals);

/// Carry the simulation one step on; without one it does nothing.
void scene_step(tool_scene *scene);

// For the readers.

/// Take memory for nodes and channels, zeroed; false with the reason where there is none.
bool scene_reserve(tool_scene *scene, size_t node_count, size_t channel_count, tool_fault *fault);

/// Widen the box of a shape, which is empty before its first point. The number stays.
void shape_take(scene_shape *shape, bool is_first, const double point[3]);

/// Give a shape its number, or no box where a side of it is not finite or no float.
void shape_finish(scene_shape *shape, uint32_t number);

/// Add a line about what the file has and the scene does not, as printf.
/// @return false with the reason where there is no memory.
bool scene_note(tool_scene *scene, tool_fault *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Choose the animation that was asked for, and note which one plays where the file has several.
/// @param names   [count] without NULL; some may be empty, or equal.
/// @param chosen  out; unchanged where there are none.
/// @return false with the reason: there is no such animation, or several have the name.
bool scene_choose_animation(tool_scene *scene, const char *const *names, size_t count,
                            size_t *chosen, tool_fault *fault);

/// Read with Assimp, tinygltf, MuJoCo, urdfdom or libsdformat. The scene has its path, label and
/// wanted animation and is {0} otherwise; on false it may be filled in part. In a build without its
/// library a reader refuses, but for that of glTF, which leaves the file to Assimp.
bool scene_read_assimp(tool_scene *out, const char *path, tool_fault *fault);
bool scene_read_gltf(tool_scene *out, const char *path, tool_fault *fault);
bool scene_read_mujoco(tool_scene *out, const char *path, tool_fault *fault);
bool scene_read_urdf(tool_scene *out, const char *path, tool_fault *fault);
bool scene_read_sdf(tool_scene *out, const char *path, tool_fault *fault);

/// The simulation: step it, read its joints as locals, read its own idea of the worlds, end it.
void physics_step(tool_physics *physics);
void physics_pose(const tool_physics *physics, local_frame *locals);
void physics_worlds(const tool_physics *physics, tool_affine *worlds);
void physics_end(tool_physics *physics);

#endif
