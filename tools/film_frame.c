// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/film_frame.h"

#include "tools/inset.h"

#ifdef HAVE_CAIRO

#include <cairo.h>
#include <math.h>
#include <stdlib.h>

/// Points of a boat's outline.
#define OUTLINE 11
/// The grid goes on beyond the figures, by multiples of their extent.
#define GRID_REACH 1.5
/// Width of the picture that the camera of a frame takes, as a share of the frame's.
#define INSET_SHARE 0.34

// Colours between light and dark, for pages of either.
static const tool_colour sky_ink = {0.52, 0.67, 0.80};
static const tool_colour air_ink = {0.80, 0.86, 0.90};
static const tool_colour far_ink = {0.50, 0.64, 0.71};
static const tool_colour near_ink = {0.27, 0.42, 0.51};
static const tool_colour shadow_ink = {0.24, 0.38, 0.46};
static const tool_colour deck_ink = {0.83, 0.71, 0.53};
static const tool_colour deck_shadow_ink = {0.66, 0.55, 0.39};
static const tool_colour hull_ink = {0.50, 0.33, 0.20};

/// A boat's outline seen from above: shares of half its length and of half its width, from the stern on.
static const double outline[OUTLINE][2] = {
    {-1.00, -0.80}, {-0.60, -1.00}, {0.20, -1.00}, {0.75, -0.94}, {1.02, -0.68}, {1.25, 0.00},
    {1.02, 0.68},   {0.75, 0.94},   {0.20, 1.00},  {-0.60, 1.00}, {-1.00, 0.80},
};

/// A boat, projected: its deck, and where its sides meet the water.
typedef struct seen_boat {
    picture_disc deck[OUTLINE], keel[OUTLINE];
    double depth;
    bool is_whole; // no point of it is near the eye or behind it
} seen_boat;

// Sky and ground.

/// Return the row of the horizon.
static double find_horizon(const picture_view *view)
{
    return view->origin[1] - view->scale * view->pitch_sine / view->pitch_cosine;
}

static void fill_band(cairo_t *cairo, const double rows[2], double width, const tool_colour *inks,
                      size_t count)
{
    cairo_pattern_t *const pattern = cairo_pattern_create_linear(0, rows[0], 0, rows[1]);

    for (size_t i = 0; i < count; ++i) {
        cairo_pattern_add_color_stop_rgb(pattern, (double)i / (double)(count - 1), inks[i].red,
                                         inks[i].green, inks[i].blue);
    }
    cairo_set_source(cairo, pattern);
    cairo_rectangle(cairo, 0, rows[0], width, rows[1] - rows[0]);
    cairo_fill(cairo);
    cairo_pattern_destroy(pattern);
}

static void draw_background(const picture_view *view, double width, double height)
{
    const double horizon = fmin(fmax(find_horizon(view), -4 * height), height);
    const tool_colour sky[] = {sky_ink, air_ink};
    const tool_colour ground[] = {air_ink, far_ink, near_ink};

    fill_band(view->cairo, (double[2]){fmin(horizon - height / 2, 0), horizon + 1}, width, sky, 2);
    fill_band(view->cairo, (double[2]){horizon, height}, width, ground, 3);
}

/// Draw a piece of a grid line, fainter where it is farther.
static void draw_grid_piece(const picture_view *view, const double from[3], const double to[3],
                            double reach)
{
    const picture_disc a = drawing_project(view, from, 0), b = drawing_project(view, to, 0);
    const double depth = fmin(a.depth, b.depth);
    const double share = 1 - (depth - view->nearest) / reach;

    if (depth <= drawing_near_depth(view) || share <= 0) {
        return;
    }
    cairo_set_source_rgba(view->cairo, 1, 1, 1, 0.16 * fmin(share, 1));
    cairo_move_to(view->cairo, a.x, a.y);
    cairo_line_to(view->cairo, b.x, b.y);
    cairo_stroke(view->cairo);
}

/// Draw the lines of the grid along one ground axis.
/// @param level  height of the water or the floor.
static void draw_grid_lines(const picture_view *view, const film_frame *frame, int along,
                            double level)
{
    const int up = view->up_axis, first = (up + 1) % 3, second = (up + 2) % 3;
    const int across = along == first ? second : first;
    const drawing_bounds *const world = &frame->world;
    const double size =
        fmax(world->most[first] - world->least[first], world->most[second] - world->least[second]);
    const double reach = GRID_REACH * fmax(size, view->camera.distance);
    const double step = drawing_grid_step(fmax(size, view->camera.distance / 4));
    const double middle[2] = {(world->least[along] + world->most[along]) / 2,
                              (world->least[across] + world->most[across]) / 2};
    double from[3], to[3];

    from[up] = to[up] = level;
    for (double i = ceil((middle[1] - reach) / step); i * step <= middle[1] + reach; ++i) {
        from[across] = to[across] = i * step;
        for (double j = ceil((middle[0] - reach) / step); j * step <= middle[0] + reach; ++j) {
            from[along] = j * step;
            to[along] = (j + 1) * step;
            draw_grid_piece(view, from, to, reach);
        }
    }
}

// Boats.

static void see_point(picture_disc *out, const picture_view *view, const film_boat *boat,
                      const double shares[2], double height)
{
    const int up = view->up_axis, a = (up + 1) % 3, b = (up + 2) % 3;
    double local[3], point[3];

    local[up] = height;
    local[a] = shares[0] * boat->half[0];
    local[b] = shares[1] * boat->half[1];
    for (int i = 0; i < 3; ++i) {
        const double *const row = boat->place.m[i];
        point[i] = row[0] * local[0] + row[1] * local[1] + row[2] * local[2] + row[3];
    }
    *out = drawing_project(view, point, 0);
}

static void see_boat(seen_boat *out, const picture_view *view, const film_boat *boat,
                     double draught)
{
    out->is_whole = true;
    out->depth = 0;
    for (size_t i = 0; i < OUTLINE; ++i) {
        const double keel[2] = {0.90 * outline[i][0], 0.78 * outline[i][1]};

        see_point(&out->deck[i], view, boat, outline[i], view->ground);
        see_point(&out->keel[i], view, boat, keel, view->ground - draught);
        out->depth += out->deck[i].depth;
        out->is_whole = out->is_whole &&
                        fmin(out->deck[i].depth, out->keel[i].depth) > drawing_near_depth(view);
    }
}

static int compare_far_boats(const void *a, const void *b)
{
    const seen_boat *const x = a, *const y = b;

    return (x->depth < y->depth) - (x->depth > y->depth);
}

static void trace_outline(cairo_t *cairo, const picture_disc points[OUTLINE])
{
    cairo_new_sub_path(cairo);
    for (size_t i = 0; i < OUTLINE; ++i) {
        cairo_line_to(cairo, points[i].x, points[i].y);
    }
    cairo_close_path(cairo);
}

/// Draw the planks of a side that faces the eye, in the light that comes from the left.
static void draw_side(const picture_view *view, const seen_boat *boat, size_t i, tool_colour ink)
{
    const size_t next = (i + 1) % OUTLINE;
    const picture_disc *const a = &boat->deck[i], *const b = &boat->deck[next];
    const picture_disc *const c = &boat->keel[next], *const d = &boat->keel[i];
    const double area = (b->x - a->x) * (d->y - a->y) - (b->y - a->y) * (d->x - a->x);
    const double slant = (b->y - a->y) / fmax(hypot(b->x - a->x, b->y - a->y), 1e-9);
    const tool_colour black = {0, 0, 0}, white = {1, 1, 1};

    if (area <= 0) {
        return;
    }
    cairo_new_path(view->cairo);
    cairo_move_to(view->cairo, a->x, a->y);
    cairo_line_to(view->cairo, b->x, b->y);
    cairo_line_to(view->cairo, c->x, c->y);
    cairo_line_to(view->cairo, d->x, d->y);
    cairo_close_path(view->cairo);
    drawing_use(view->cairo, slant > 0 ? drawing_mix(ink, white, 0.22 * slant)
                                       : drawing_mix(ink, black, -0.35 * slant));
    cairo_fill_preserve(view->cairo);
    // Neighbours meet without a gap.
    cairo_set_line_width(view->cairo, 0.6);
    cairo_stroke(view->cairo);
}

static tool_colour fade(const picture_view *view, tool_colour ink, double depth)
{
    const double share = (depth - view->nearest) / fmax(view->farthest - view->nearest, 1e-9);

    return drawing_mix(ink, view->air, view->paleness * fmin(fmax(share, 0), 1));
}

static void draw_boat(const picture_view *view, const seen_boat *boat)
{
    const double depth = boat->depth / OUTLINE;
    const tool_colour hull = fade(view, hull_ink, depth), deck = fade(view, deck_ink, depth);

    if (!boat->is_whole) {
        return;
    }
    for (size_t i = 0; i < OUTLINE; ++i) {
        draw_side(view, boat, i, hull);
    }
    cairo_new_path(view->cairo);
    trace_outline(view->cairo, boat->deck);
    drawing_use(view->cairo, deck);
    cairo_fill_preserve(view->cairo);
    drawing_use(view->cairo, hull);
    cairo_set_line_width(view->cairo, fmin(0.02 * view->scale * 4 / depth, 2.5));
    cairo_stroke(view->cairo);
}

/// Draw all boats, far ones first, and let what follows fall on their decks alone.
static void draw_boats(const picture_view *view, const film_frame *frame)
{
    seen_boat *const boats = calloc(frame->boat_count + 1, sizeof *boats);

    if (boats == NULL) {
        return;
    }
    cairo_new_path(view->cairo);
    for (size_t i = 0; i < frame->boat_count; ++i) {
        see_boat(&boats[i], view, &frame->boats[i], frame->draught);
        if (boats[i].is_whole) {
            trace_outline(view->cairo, boats[i].keel);
        }
    }
    drawing_use(view->cairo, shadow_ink);
    cairo_set_line_width(view->cairo, 3);
    cairo_stroke(view->cairo);
    qsort(boats, frame->boat_count, sizeof *boats, compare_far_boats);
    for (size_t i = 0; i < frame->boat_count; ++i) {
        draw_boat(view, &boats[i]);
    }
    cairo_new_path(view->cairo);
    for (size_t i = 0; i < frame->boat_count; ++i) {
        if (boats[i].is_whole) {
            trace_outline(view->cairo, boats[i].deck);
        }
    }
    cairo_clip(view->cairo);
    free(boats);
}

// The frame.

static void draw_caption(cairo_t *cairo, const film_frame *frame, double width, double height)
{
    const double size = fmax(height / 28, 8), margin = 0.8 * size;
    const picture_area label = {margin, height - margin - 1.4 * size, width - 2 * margin, 0};
    const picture_area text = {margin, height - margin, width - 2 * margin, 0};

    drawing_use(cairo, (tool_colour){1, 1, 1});
    drawing_text(cairo, &label, size, true, frame->label);
    drawing_text(cairo, &text, 0.85 * size, false, frame->text);
}

/// Draw sky, ground, boats, shadows and bones.
/// @param count  of the bones that are listed.
static void draw_scene(picture_view *view, const film_frame *frame, size_t count, double width,
                       double height)
{
    const int up = view->up_axis;
    const bool has_boats = frame->boat_count > 0;
    const double level = view->ground - (has_boats ? frame->draught : 0);

    draw_background(view, width, height);
    cairo_set_line_width(view->cairo, fmax(height / 540, 0.6));
    draw_grid_lines(view, frame, (up + 1) % 3, level);
    draw_grid_lines(view, frame, (up + 2) % 3, level);
    cairo_save(view->cairo);
    if (has_boats) {
        draw_boats(view, frame);
    }
    drawing_shadows(view, frame->drawn, count, has_boats ? deck_shadow_ink : shadow_ink);
    cairo_restore(view->cairo);
    drawing_bones(view, frame->drawn, count);
}

/// Draw what the camera of the frame sees, from outside and by itself.
static void draw_sight(const picture_view *view, const film_frame *frame, double width,
                       double height)
{
    const double line = fmax(height / 400, 1);
    const picture_area area = inset_place(frame->frustum, width, height, INSET_SHARE);

    frustum_draw(view, frame->frustum, line);
    picture_view inset = inset_begin(view, frame->frustum, &area);
    draw_scene(&inset, frame, inset_choose(frame->drawn, frame->bone_count), area.width,
               area.height);
    inset_end(&inset, &area, line);
}

void film_frame_draw(picture_view *view, const film_frame *frame, double width, double height)
{
    view->air = air_ink;
    view->paleness = 0.45;
    for (size_t i = 0; i < frame->bone_count; ++i) {
        frame->drawn[i] = (drawn_bone){0, &frame->bones[i]};
    }
    draw_scene(view, frame, frame->bone_count, width, height);
    if (frame->frustum != NULL) {
        draw_sight(view, frame, width, height);
    }
    draw_caption(view->cairo, frame, width, height);
}

#endif
