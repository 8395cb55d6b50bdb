// SPDX-License-Identifier: MIT
// Stick figures on a ground grid, drawn orthographically into a PNG: one panel for each scene.
#ifndef ESPALIER_TOOLS_PICTURE_H
#define ESPALIER_TOOLS_PICTURE_H

#include "tools/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICTURE_WIDTH 1280
#define PICTURE_HEIGHT 720

/// A line between two world positions; equal ends make a dot.
typedef struct picture_stick {
    float from[3], to[3];
    uint32_t figure; // equal numbers have equal colours
} picture_stick;

/// One scene's share of the picture.
typedef struct picture_panel {
    picture_stick *sticks; // [count]
    size_t count;
    int up_axis; // 1: y, 2: z
} picture_panel;

/// Tell whether this build can write pictures.
bool picture_is_built(void);

/// Draw the panels side by side.
/// @return false with the reason: the file cannot be written, or this build has no libpng.
bool picture_write(const char *path, const picture_panel *panels, size_t panel_count,
                   tool_fault *fault);

#endif
