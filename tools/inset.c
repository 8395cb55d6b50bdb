// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/inset.h"

#ifdef HAVE_CAIRO

#include <cairo.h>

/// Pieces of an edge. A piece too near the eye to be drawn truly is left out.
#define PIECES 24
#define SIDES 5

static const tool_colour edge_ink = {0.93, 0.36, 0.10};

static void mix_points(double out[3], const double from[3], const double to[3], double share)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = from[i] + share * (to[i] - from[i]);
    }
}

static void draw_edge(const picture_view *view, const double from[3], const double to[3])
{
    const double near_depth = drawing_near_depth(view);
    bool is_open = false;

    cairo_new_path(view->cairo);
    for (int i = 0; i <= PIECES; ++i) {
        double point[3];

        mix_points(point, from, to, (double)i / PIECES);
        const picture_disc at = drawing_project(view, point, 0);
        if (at.depth <= near_depth) {
            is_open = false;
        } else if (!is_open) {
            cairo_move_to(view->cairo, at.x, at.y);
            is_open = true;
        } else {
            cairo_line_to(view->cairo, at.x, at.y);
        }
    }
    cairo_stroke(view->cairo);
}

/// Fill a side, unless a corner is too near the eye.
static void fill_side(const picture_view *view, double corners[FRUSTUM_CORNERS][3], const int *side)
{
    cairo_new_path(view->cairo);
    for (int i = 0; i < 4; ++i) {
        const picture_disc at = drawing_project(view, corners[side[i]], 0);

        if (at.depth <= drawing_near_depth(view)) {
            cairo_new_path(view->cairo);
            return;
        }
        cairo_line_to(view->cairo, at.x, at.y);
    }
    cairo_close_path(view->cairo);
    cairo_fill(view->cairo);
}

void frustum_draw(const picture_view *view, const tool_frustum *frustum, double line_width)
{
    static const int sides[SIDES][4] = {
        {0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 3, 7, 6}, {4, 5, 7, 6}};
    double corners[FRUSTUM_CORNERS][3];

    frustum_corners(frustum, corners);
    cairo_set_source_rgba(view->cairo, edge_ink.red, edge_ink.green, edge_ink.blue, 0.07);
    for (int i = 0; i < SIDES; ++i) {
        fill_side(view, corners, sides[i]);
    }
    drawing_use(view->cairo, edge_ink);
    cairo_set_line_width(view->cairo, line_width);
    for (int corner = 0; corner < FRUSTUM_CORNERS; ++corner) {
        for (int bit = 1; bit < FRUSTUM_CORNERS; bit *= 2) {
            if ((corner & bit) == 0) {
                draw_edge(view, corners[corner], corners[corner | bit]);
            }
        }
    }
}

picture_area inset_place(const tool_frustum *frustum, double width, double height, double share)
{
    const double margin = 0.02 * width;
    picture_area area = {0, margin, share * width, 0};

    area.height = area.width * frustum->half[1] / frustum->half[0];
    if (area.height > height - 2 * margin) {
        area.width *= (height - 2 * margin) / area.height;
        area.height = height - 2 * margin;
    }
    area.left = width - margin - area.width;
    return area;
}

picture_view inset_begin(const picture_view *view, const tool_frustum *frustum,
                         const picture_area *area)
{
    picture_view inset = {
        .cairo = view->cairo,
        .up_axis = view->up_axis,
        .ground = view->ground,
        .scale = area->height / 2 / frustum->half[1],
        .origin = {area->width / 2, area->height / 2},
        .nearest = frustum->nearest,
        .farthest = frustum->farthest,
        .paleness = view->paleness,
        .air = view->air,
    };
    tool_camera camera = frustum->camera;
    double eye[3], axes[3][3];

    // What is looked at is as far from the eye as makes the near plane that of the drawing.
    frustum_axes(frustum, eye, axes);
    drawing_look(&inset, &camera);
    camera.distance *= frustum->nearest / drawing_near_depth(&inset);
    for (int i = 0; i < 3; ++i) {
        camera.centre[i] = eye[i] + camera.distance * axes[2][i];
    }
    drawing_look(&inset, &camera);
    cairo_save(view->cairo);
    cairo_rectangle(view->cairo, area->left, area->top, area->width, area->height);
    cairo_clip(view->cairo);
    cairo_translate(view->cairo, area->left, area->top);
    return inset;
}

void inset_end(const picture_view *inset, const picture_area *area, double line_width)
{
    cairo_restore(inset->cairo);
    cairo_new_path(inset->cairo);
    cairo_rectangle(inset->cairo, area->left, area->top, area->width, area->height);
    drawing_use(inset->cairo, edge_ink);
    cairo_set_line_width(inset->cairo, line_width);
    cairo_stroke(inset->cairo);
}

size_t inset_choose(drawn_bone *bones, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; ++i) {
        if (bones[i].bone->tint != DRAWING_GREY) {
            bones[kept++] = bones[i];
        }
    }
    return kept;
}

#endif
