// SPDX-License-Identifier: MIT
// `espalier play --cull`: what two cameras see of a crowd, by espl_cull(), compared with planes and boxes in
// double.
#ifndef ESPALIER_TOOLS_CULLING_H
#define ESPALIER_TOOLS_CULLING_H

#include "tools/bounds.h"
#include "tools/crowd.h"
#include "tools/document.h"
#include "tools/frustum.h"

/// The eye stands in the crowd and turns around once; the sun sees what may throw shadows in front of the eye.
enum { CULLING_EYE, CULLING_SUN, CULLING_CAMERAS };

typedef struct tool_culling {
    espl_renderables *renderables;
    espl_visible *visible;
    node_bounds *bounds;    // [node_count]
    espl_transform *worlds; // [node_count] of one copy
    espl_entity *entities;  // [drawn_count] what a camera sees
    uint32_t *seen;         // [index_count] by entity index: a bit for each camera
    size_t entity_capacity, index_count;
    uint32_t *tints; // [copy_count * node_count] of what the eye sees 1 + its key, or DRAWING_GREY
    drawing_bounds crowd; // the positions of all nodes in the first frame
    tool_frustum frustums[CULLING_CAMERAS];
    espl_camera cameras[CULLING_CAMERAS];
    size_t all, shown[CULLING_CAMERAS]; // of this frame
    size_t frames;
    size_t sum_all, sum_shown[CULLING_CAMERAS];
    size_t compared, close; // boxes that were compared, and boxes too close to a plane to judge
    double update_seconds, cull_seconds;
    bool is_begun; // the first frame is taken
} tool_culling;

/// Make the renderables of the world, which registers their components.
/// @return false with the reason; culling_close() is needed either way.
bool culling_open(tool_culling *culling, tool_stage *stage, const tool_scene *scene,
                  size_t copy_count, tool_fault *fault);
/// Give the crowd's prefabs bounds, before any copy exists.
bool culling_dress(tool_culling *culling, tool_crowd *crowd, tool_fault *fault);
/// Release all, before the world. {0} is allowed.
void culling_close(tool_culling *culling);

/// Cull the crowd as it is, and compare what is seen of every stride-th copy.
/// @param share  of the play that is over: 0 to 1.
bool culling_take(tool_culling *culling, const tool_crowd *crowd, size_t stride, double share,
                  tool_fault *fault);

/// Write what the eye sees in this frame, as a line.
void culling_explain(const tool_culling *culling, char *out, size_t size);
/// Print what all cameras saw in all frames.
void culling_print(const tool_culling *culling, const char *label);
void culling_add_to_document(tool_document *document, const tool_culling *culling);

#endif
