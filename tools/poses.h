// SPDX-License-Identifier: MIT
// The locals of a world's nodes at each of a number of frames, as the nodes and the animation of a glTF file.
#ifndef ESPALIER_TOOLS_POSES_H
#define ESPALIER_TOOLS_POSES_H

#include "tools/stage.h"

/// One node that is written.
typedef struct poses_node {
    espl_entity entity;
    uint32_t parent;  // its number, less than that of the node; SCENE_NO_PARENT at the top
    const char *name; // lives as long as the poses
} poses_node;

/// Frames that were taken.
typedef struct tool_poses {
    size_t count;
    poses_node *nodes; // [count]; the caller fills them
    uint32_t rate;     // frames a second
    int up_axis;       // 1: y, 2: z; in glTF it is y
    size_t frame_count, capacity;
    size_t written;         // nodes of the file, with the nodes that poses_write() adds
    espl_transform *locals; // [frame_count][count]
} tool_poses;

/// Tell whether this build can write glTF, which takes tinygltf.
bool poses_are_built(void);

/// Take memory for the nodes of a number of frames.
/// @return false with the reason; poses_close() is needed either way.
bool poses_open(tool_poses *poses, size_t count, size_t frame_count, tool_fault *fault);
void poses_close(tool_poses *poses);

/// Take a frame: the locals of all nodes.
bool poses_take(tool_poses *poses, const tool_stage *stage, tool_fault *fault);

/// Write the file: binary where the path ends in .glb, or else JSON.
///
/// A stretch, which children do not inherit, is the scale of a node of its own below a node with children, of the
/// same name and " stretch". Where z is up, a node "z up" is above all.
/// @param title  of the scene and the animation.
/// @return false with the reason.
bool poses_write(tool_poses *poses, const char *path, const char *title, tool_fault *fault);

#endif
