// SPDX-License-Identifier: MIT
// One frame of a film: sky, ground, boats, shadows and bones, and a line of text. It knows nothing of worlds.
#ifndef ESPALIER_TOOLS_FILM_FRAME_H
#define ESPALIER_TOOLS_FILM_FRAME_H

#include "tools/affine.h"
#include "tools/frustum.h"

/// A boat: a deck on which figures stand, above the water.
typedef struct film_boat {
    tool_affine place; // of its middle
    double
        half[2]; // lengths of half the deck along the two ground axes: bow to stern, side to side
} film_boat;

/// What a frame shows.
typedef struct film_frame {
    const picture_bone *bones; // [bone_count]
    size_t bone_count;
    drawn_bone *drawn;      // [bone_count] room
    const film_boat *boats; // [boat_count]
    size_t boat_count;
    double draught;       // of boats, from the deck to the water
    drawing_bounds world; // of the figures, for the grid
    const tool_frustum
        *frustum; // of a camera that is drawn, with the picture that it takes of what is not grey;
                  // or NULL
    char label[DRAWING_TEXT], text[DRAWING_TEXT];
} film_frame;

/// Draw a frame.
/// @param view  the camera with its scale and origin; its ground is what figures stand on.
void film_frame_draw(picture_view *view, const film_frame *frame, double width, double height);

#endif
