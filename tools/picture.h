// SPDX-License-Identifier: MIT
// Figures of tapered bones on a ground grid, drawn in perspective into a PNG: one panel a scene, each
// with one figure close to the viewer, all figures beside it, and what was checked below.
#ifndef ESPALIER_TOOLS_PICTURE_H
#define ESPALIER_TOOLS_PICTURE_H

#include "tools/fault.h"
#include "tools/frustum.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Pixels of a panel; many panels are lower, so that one file can hold them.
#define PICTURE_WIDTH 1600
#define PICTURE_HEIGHT 900

/// One scene's share of the picture.
typedef struct picture_panel {
    picture_bone *bones; // [bone_count] of all figures
    size_t bone_count, figure_count;
    uint32_t closeup;  // the figure that is drawn large
    float (*marks)[3]; // [mark_count] positions to mark on that figure
    size_t mark_count;
    const char *mark_label; // what the marks are
    bool
        has_frustum; // a camera is drawn among all figures, and the picture that it takes of what is not grey
    tool_frustum frustum;
    int up_axis; // 1: y, 2: z
    // Bytes outside ASCII are drawn as '?'.
    char title[DRAWING_TEXT];   // above: what is drawn
    char caption[DRAWING_TEXT]; // below: what was checked
    char sight[DRAWING_TEXT];   // what the camera sees
} picture_panel;

/// Tell whether this build can write pictures.
bool picture_is_built(void);

/// Draw the panels one below the other. The same panels give the same pixels on one machine; on another they
/// depend on its fonts.
/// @return false with the reason: the file cannot be written, no memory, or a build without Cairo.
bool picture_write(const char *path, const picture_panel *panels, size_t panel_count,
                   tool_fault *fault);

#endif
