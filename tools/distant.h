// SPDX-License-Identifier: MIT
// A scene that plays far from the origin, in a world with cells (espalier_far(3)).
#ifndef ESPALIER_TOOLS_DISTANT_H
#define ESPALIER_TOOLS_DISTANT_H

#include "tools/options.h"
#include "tools/oracle.h"
#include "tools/stage.h"

/// Where a scene plays. {0}: at the origin, in a world without cells.
typedef struct tool_distance {
    double offset[3]; // added to the roots of the scene
    float cell_size;  // 0: without cells
    double floats;    // how far the nearest floats are from the true positions, at most
    size_t moved;     // roots that espl_recenter() brought to another cell
} tool_distance;

/// Choose the cells for a scene at rest: as wide as the scene, and wide enough to reach the offset.
tool_distance distance_choose(const tool_options *options, const tool_moment *rest);

/// Place the roots of the scene by their absolute positions, and compare the cells and positions that they
/// get with the nearest ones.
bool distance_place(const tool_distance *distance, const tool_stage *stage, const tool_scene *scene,
                    const tool_moment *rest, const espl_entity *nodes, tool_fault *fault);

/// Compute the frame of the scene in the cell of an entity, exactly: the offset less the middle of the cell.
bool distance_frame(const tool_distance *distance, const tool_stage *stage, espl_entity entity,
                    oracle_frame *out, tool_fault *fault);

/// Bring each root that has left its cell to the nearest one.
bool distance_recenter(tool_distance *distance, const tool_stage *stage, tool_fault *fault);

/// Compare the absolute position of an entity with its cell and its world transform, to the last bit, and
/// note how far floats from one origin would be off.
/// @param expected  its world in the scene's axes.
bool distance_compare(tool_distance *distance, const tool_stage *stage, espl_entity entity,
                      const tool_affine *expected, const espl_transform *world, tool_fault *fault);

#endif
