// SPDX-License-Identifier: MIT
// What a camera sees of the world: a pyramid without its tip, or a box; its corners and its matrix.
#ifndef ESPALIER_TOOLS_FRUSTUM_H
#define ESPALIER_TOOLS_FRUSTUM_H

#include "tools/drawing.h"

#define FRUSTUM_CORNERS 8

typedef struct tool_frustum {
    tool_camera camera;       // the eye and what it looks at
    double nearest, farthest; // depths from the eye, scene units
    double half[2]; // of the width and the height: at a depth of 1, or orthographic at all
    int up_axis;    // 1: y, 2: z
    bool is_orthographic;
} tool_frustum;

/// Compute the eye, and the unit axes to its right, above it and ahead.
void frustum_axes(const tool_frustum *frustum, double eye[3], double axes[3][3]);

/// List the corners. Bit 0 of a number: right; bit 1: above; bit 2: far.
void frustum_corners(const tool_frustum *frustum, double corners[FRUSTUM_CORNERS][3]);

/// Fill the matrix from world to clip space, in 4 columns of 4, with depths from 0 to 1.
void frustum_matrix(const tool_frustum *frustum, float matrix[16]);

#endif
