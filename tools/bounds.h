// SPDX-License-Identifier: MIT
// Boxes around what the nodes of a scene draw, as components of its entities.
#ifndef ESPALIER_TOOLS_BOUNDS_H
#define ESPALIER_TOOLS_BOUNDS_H

#include "tools/stage.h"

#include <espalier/renderables.h>

/// What a node draws: the mesh of its file, or else the bones to its children, as they are at rest.
typedef struct node_bounds {
    espl_bounds box;
    espl_renderable
        drawn; // equal keys draw the same: nodes with one mesh, or one node of all copies
} node_bounds;

/// Compute the bounds of all nodes.
/// @param out  [scene->node_count]
void bounds_measure(const tool_scene *scene, node_bounds *out);

/// Give entities the components "bounds" and "renderable", which the world has.
/// @param nodes   [scene->node_count]
/// @param bounds  [scene->node_count]
bool bounds_give(tool_stage *stage, const tool_scene *scene, const espl_entity *nodes,
                 const node_bounds *bounds, tool_fault *fault);

#endif
