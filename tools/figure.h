// SPDX-License-Identifier: MIT
// Figures for a picture: the trees of a crowd as tapered bones, read back from the library.
#ifndef ESPALIER_TOOLS_FIGURE_H
#define ESPALIER_TOOLS_FIGURE_H

#include "tools/crowd.h"
#include "tools/picture.h"

/// How one node of the scene is drawn, the same in all copies.
typedef struct node_shape node_shape;

/// How a scene's figures are drawn, and room to read one of them.
typedef struct tool_figures {
    node_shape *shapes; // [node_count]
    float (*places)[3]; // [node_count]
    // [copy_count * node_count] as picture_bone has them, or NULL. A bone has that of its parent, because it moves
    // with it.
    const uint32_t *tints;
} tool_figures;

/// Choose the thickness of all bones by the lengths that they have at a moment.
/// @param stoutness  what it is multiplied by: small figures are better seen where they are stouter.
/// @return false with the reason; figure_unshape() is needed either way.
bool figure_shape(tool_figures *figures, const tool_scene *scene, const tool_moment *moment,
                  double stoutness, tool_fault *fault);
void figure_unshape(tool_figures *figures);

/// Fill the panel's bones, which are taken at the first call and used again at the next. Each tree of each
/// living copy is one figure, and a bone leads from each node's parent to the node.
///
/// @param kind  ESPL_READ_WORLD_POSITION, or ESPL_READ_SHOWN_POSITION.
/// @return false with the reason.
bool figure_read(picture_panel *panel, tool_figures *figures, const tool_crowd *crowd,
                 espl_read_kind kind, tool_fault *fault);

/// Fill the panel's bones and marks. The largest tree of the first copy is the close-up.
///
/// @param moment  what the oracle holds of the first copy; its positions are the marks.
/// @param tints   as tool_figures has them, or NULL.
/// @return false with the reason; figure_release() is needed either way.
bool figure_collect(picture_panel *panel, const tool_crowd *crowd, const tool_moment *moment,
                    const uint32_t *tints, tool_fault *fault);

/// Release the bones and marks; {0} is allowed.
void figure_release(picture_panel *panel);

#endif
