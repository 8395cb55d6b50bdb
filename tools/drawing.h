// SPDX-License-Identifier: MIT
// Bones in perspective, drawn with Cairo: the colours, the view and the shapes that pictures and films share.
// Only in builds with Cairo, except for the types and for the boxes around points.
#ifndef ESPALIER_TOOLS_DRAWING_H
#define ESPALIER_TOOLS_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct _cairo; // Cairo's

/// Bytes of a line of text, its end included.
#define DRAWING_TEXT 256

/// The tint of what has no colour.
#define DRAWING_GREY UINT32_MAX

/// A bone between two world positions, round and tapered; equal ends make a ball.
typedef struct picture_bone {
    float from[3], to[3];
    float from_radius, to_radius; // of the ends, scene units
    uint32_t figure;              // equal numbers have equal colours
    uint32_t tint; // 0, or a number from 1 in place of that of the figure; or DRAWING_GREY
} picture_bone;

typedef struct tool_colour {
    double red, green, blue;
} tool_colour;

/// A rectangle of the picture, pixels.
typedef struct picture_area {
    double left, top, width, height;
} picture_area;

/// A box around points.
typedef struct drawing_bounds {
    double least[3], most[3];
} drawing_bounds;

/// Where the eye is, and what it looks at.
typedef struct tool_camera {
    double centre[3];  // what is seen in the middle
    double yaw, pitch; // of the eye around the centre and above it, radians
    double distance;   // of the eye from the centre
} tool_camera;

/// A camera, and the projection of what it sees onto a picture.
typedef struct picture_view {
    struct _cairo *cairo;
    tool_camera camera; // set by drawing_look()
    double yaw_sine, yaw_cosine, pitch_sine, pitch_cosine;
    int up_axis;              // 1: y, 2: z
    double ground;            // height of what shadows fall on
    double scale, origin[2];  // pixels a unit at depth 1; pixel of the view's axis
    double nearest, farthest; // depths between which bones get paler
    double paleness;          // share of the air's colour at the farthest depth
    tool_colour air;          // what far bones fade to
} picture_view;

/// A round spot on the picture.
typedef struct picture_disc {
    double x, y, radius; // pixels
    double depth;        // from the eye, scene units
} picture_disc;

/// A bone by its depth, for the order of drawing.
typedef struct drawn_bone {
    double depth;
    const picture_bone *bone;
} drawn_bone;

/// Return an empty box.
drawing_bounds drawing_bounds_empty(void);
/// Widen a box to take a point in.
void drawing_bounds_take(drawing_bounds *box, const double point[3]);

/// Mix two colours. @param share  of the second.
tool_colour drawing_mix(tool_colour from, tool_colour to, double share);
/// Draw in this colour from now on.
void drawing_use(struct _cairo *cairo, tool_colour ink);

/// Write one line of text, smaller where it would be wider than the area, whose left and top are where
/// its base line begins. Bytes outside ASCII are drawn as '?'.
void drawing_text(struct _cairo *cairo, const picture_area *area, double size, bool is_bold,
                  const char *text);
/// Choose how text is drawn: widths are proportional to sizes, which drawing_text() relies on.
void drawing_prepare_text(struct _cairo *cairo);

/// Look through a camera from now on.
void drawing_look(picture_view *view, const tool_camera *camera);

/// Return the least depth that is drawn truly: what is nearer to the eye, or behind it, is projected
/// from this depth, and bones are not drawn.
double drawing_near_depth(const picture_view *view);

/// Project a ball. @param radius  scene units.
picture_disc drawing_project(const picture_view *view, const double point[3], double radius);
/// Project an end of a bone, and its shadow on the ground; the light comes from the left.
picture_disc drawing_project_end(const picture_view *view, const float end[3], float radius);
picture_disc drawing_project_shadow(const picture_view *view, const float end[3], float radius);

/// Widen a box of pixels and depths to take a bone and its shadow in.
void drawing_bounds_of_bone(drawing_bounds *box, const picture_view *view,
                            const picture_bone *bone);

/// Trace a disc, as the current path. Cairo gets no coordinates that it cannot hold.
void drawing_trace_disc(struct _cairo *cairo, const picture_disc *disc);
/// Draw the shadows of bones in one opaque colour, so that overlaps are not darker.
void drawing_shadows(const picture_view *view, const drawn_bone *bones, size_t count,
                     tool_colour ink);
/// Sort bones by their depth, and draw them, far ones first.
void drawing_bones(const picture_view *view, drawn_bone *bones, size_t count);

/// Choose the distance of grid lines: 1, 2 or 5 times a power of ten, about ten lines on the longer
/// side.
double drawing_grid_step(double longest);

#endif
