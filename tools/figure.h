// SPDX-License-Identifier: MIT
// Figures for a picture: the trees of a crowd as tapered bones, read back from the library.
#ifndef ESPALIER_TOOLS_FIGURE_H
#define ESPALIER_TOOLS_FIGURE_H

#include "tools/crowd.h"
#include "tools/picture.h"

/// Fill the panel's bones and marks. Each tree of each living copy is one figure, and a bone leads
/// from each node's parent to the node. The largest tree of the first copy is the close-up.
///
/// @param moment  what the oracle holds of the first copy; its positions are the marks.
/// @return false with the reason; figure_release() is needed either way.
bool figure_collect(picture_panel *panel, const tool_crowd *crowd, const tool_moment *moment,
                    tool_fault *fault);

/// Release the bones and marks; {0} is allowed.
void figure_release(picture_panel *panel);

#endif
