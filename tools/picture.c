// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/picture.h"

#include "tools/inset.h"

#ifndef HAVE_CAIRO

bool picture_is_built(void)
{
    return false;
}

bool picture_write(const char *path, const picture_panel *panels, size_t panel_count,
                   tool_fault *fault)
{
    (void)path;
    (void)panels;
    (void)panel_count;
    fault_say(fault, "no picture: this espalier was built without Cairo");
    return false;
}

#else

#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Width around a panel, pixels.
#define MARGIN 28.0

/// Directions of view: from the front and the side, and from above.
#define YAW 0.62
#define PITCH 0.40
/// Distance of the eye from the middle of the bones, as a multiple of half their diagonal.
#define DISTANCE 1.6

static const tool_colour paper = {0.975, 0.97, 0.955};
static const tool_colour ground_ink = {0.925, 0.918, 0.895};
static const tool_colour grid_ink = {0.83, 0.82, 0.79};
static const tool_colour shadow_ink = {0.80, 0.79, 0.765};
static const tool_colour text_ink = {0.16, 0.16, 0.18};
static const tool_colour label_ink = {0.42, 0.42, 0.44};

/// A view of bones that fills an area of a panel.
typedef struct panel_view {
    picture_view view;
    picture_area area;
    drawing_bounds world; // of the bones and of the ground around them
    double step;          // between grid lines, scene units
} panel_view;

// The ground.

/// Widen the box by the ground around the bones, and choose the grid.
static void lay_ground(panel_view *panel)
{
    drawing_bounds *const world = &panel->world;
    const int up = panel->view.up_axis;
    double longest = 0;

    world->least[up] = fmin(world->least[up], 0);
    const double height = world->most[up] - world->least[up];
    const double around = height > 0 ? height / 2 : panel->view.camera.distance / 4;
    for (int i = 1; i < 3; ++i) {
        const int axis = (up + i) % 3;
        world->least[axis] -= around;
        world->most[axis] += around;
        longest = fmax(longest, world->most[axis] - world->least[axis]);
    }
    panel->view.ground = world->least[up];
    panel->step = drawing_grid_step(longest);
}

/// Add a point of the ground to the current path.
static void trace_ground(const panel_view *panel, double a, double b)
{
    double point[3];

    point[panel->view.up_axis] = panel->world.least[panel->view.up_axis];
    point[(panel->view.up_axis + 1) % 3] = a;
    point[(panel->view.up_axis + 2) % 3] = b;
    const picture_disc place = drawing_project(&panel->view, point, 0);
    cairo_line_to(panel->view.cairo, place.x, place.y);
}

static void draw_ground(const panel_view *panel)
{
    const int a = (panel->view.up_axis + 1) % 3, b = (panel->view.up_axis + 2) % 3;
    const double *const least = panel->world.least, *const most = panel->world.most;
    const double step = panel->step;

    cairo_new_path(panel->view.cairo);
    trace_ground(panel, least[a], least[b]);
    trace_ground(panel, least[a], most[b]);
    trace_ground(panel, most[a], most[b]);
    trace_ground(panel, most[a], least[b]);
    drawing_use(panel->view.cairo, ground_ink);
    cairo_fill(panel->view.cairo);

    for (double i = ceil(least[a] / step); i * step <= most[a]; ++i) {
        cairo_new_sub_path(panel->view.cairo);
        trace_ground(panel, i * step, least[b]);
        trace_ground(panel, i * step, most[b]);
    }
    for (double i = ceil(least[b] / step); i * step <= most[b]; ++i) {
        cairo_new_sub_path(panel->view.cairo);
        trace_ground(panel, least[a], i * step);
        trace_ground(panel, most[a], i * step);
    }
    drawing_use(panel->view.cairo, grid_ink);
    cairo_set_line_width(panel->view.cairo, 1);
    cairo_stroke(panel->view.cairo);
}

/// Aim at the middle of the bones, from far enough away to see all of them.
static void aim(panel_view *panel)
{
    const drawing_bounds *const world = &panel->world;
    const int up = panel->view.up_axis, a = (up + 1) % 3, b = (up + 2) % 3;
    const double diagonal =
        hypot(world->most[a] - world->least[a], world->most[b] - world->least[b]);
    const double size = fmax(diagonal / 2, world->most[up] - world->least[up]);
    tool_camera camera = {.yaw = YAW, .pitch = PITCH, .distance = DISTANCE * (size > 0 ? size : 1)};

    for (int i = 0; i < 3; ++i) {
        camera.centre[i] = (world->least[i] + world->most[i]) / 2;
    }
    drawing_look(&panel->view, &camera);
    panel->view.scale = 1;
}

/// Scale the view so that the bones and their shadows fill the area.
static void fit(panel_view *panel, const drawn_bone *drawn, size_t count)
{
    const picture_area *const area = &panel->area;
    picture_view *const view = &panel->view;
    drawing_bounds seen = drawing_bounds_empty();

    for (size_t i = 0; i < count; ++i) {
        drawing_bounds_of_bone(&seen, view, drawn[i].bone);
    }
    const double wide = fmax(seen.most[0] - seen.least[0], 1e-9);
    const double high = fmax(seen.most[1] - seen.least[1], 1e-9);
    view->scale = 0.95 * fmin(area->width / wide, area->height / high);
    view->origin[0] =
        area->left + area->width / 2 - view->scale * (seen.least[0] + seen.most[0]) / 2;
    view->origin[1] =
        area->top + area->height / 2 - view->scale * (seen.least[1] + seen.most[1]) / 2;
    view->nearest = seen.least[2];
    view->farthest = seen.most[2];
    view->air = paper;
    view->paleness = 0.4;
}

static void draw_marks(const picture_view *view, const picture_panel *panel)
{
    const tool_colour black = {0, 0, 0}, white = {1, 1, 1};

    for (size_t i = 0; i < panel->mark_count; ++i) {
        picture_disc disc = drawing_project_end(view, panel->marks[i], 0);

        disc.radius = 3.2;
        drawing_trace_disc(view->cairo, &disc);
        drawing_use(view->cairo, white);
        cairo_fill_preserve(view->cairo);
        drawing_use(view->cairo, black);
        cairo_set_line_width(view->cairo, 1.2);
        cairo_stroke(view->cairo);
    }
}

/// List the bones of a view, and compute the box around them.
static size_t choose_bones(drawing_bounds *world, drawn_bone *out, const picture_panel *panel,
                           bool is_closeup)
{
    size_t count = 0;

    *world = drawing_bounds_empty();
    for (size_t i = 0; i < panel->bone_count; ++i) {
        const picture_bone *const bone = &panel->bones[i];

        if (is_closeup && bone->figure != panel->closeup) {
            continue;
        }
        const double from[3] = {(double)bone->from[0], (double)bone->from[1],
                                (double)bone->from[2]};
        const double to[3] = {(double)bone->to[0], (double)bone->to[1], (double)bone->to[2]};
        drawing_bounds_take(world, from);
        drawing_bounds_take(world, to);
        out[count++] = (drawn_bone){0, bone};
    }
    return count;
}

/// Draw the camera among all figures, and what it sees in the upper right corner.
static void draw_sight(const panel_view *seen, const picture_panel *panel, drawn_bone *drawn,
                       size_t count)
{
    picture_area area = inset_place(&panel->frustum, seen->area.width, seen->area.height, 0.40);

    area.left += seen->area.left;
    area.top += seen->area.top;
    frustum_draw(&seen->view, &panel->frustum, 1.6);
    picture_view inset = inset_begin(&seen->view, &panel->frustum, &area);
    const double horizon = inset.origin[1] - inset.scale * inset.pitch_sine / inset.pitch_cosine;
    drawing_use(inset.cairo, paper);
    cairo_paint(inset.cairo);
    cairo_rectangle(inset.cairo, 0, horizon, area.width, area.height);
    drawing_use(inset.cairo, ground_ink);
    cairo_fill(inset.cairo);
    count = inset_choose(drawn, count);
    drawing_shadows(&inset, drawn, count, shadow_ink);
    drawing_bones(&inset, drawn, count);
    inset_end(&inset, &area, 1.6);
}

static bool draw_view(cairo_t *cairo, const picture_area *area, const picture_panel *panel,
                      bool is_closeup)
{
    drawn_bone *const drawn = calloc(panel->bone_count + 1, sizeof *drawn);
    panel_view seen = {.view = {.cairo = cairo, .up_axis = panel->up_axis}, .area = *area};
    picture_area label = {area->left, area->top + area->height, area->width, 0};
    char text[2 * DRAWING_TEXT];

    if (drawn == NULL) {
        return false;
    }
    seen.area.height -= 30;
    const size_t count = choose_bones(&seen.world, drawn, panel, is_closeup);
    if (count > 0) {
        aim(&seen);
        lay_ground(&seen);
        fit(&seen, drawn, count);
        cairo_save(cairo);
        cairo_rectangle(cairo, area->left, area->top, area->width, seen.area.height);
        cairo_clip(cairo);
        draw_ground(&seen);
        drawing_shadows(&seen.view, drawn, count, shadow_ink);
        drawing_bones(&seen.view, drawn, count);
        if (panel->has_frustum && !is_closeup) {
            draw_sight(&seen, panel, drawn, count);
        }
        cairo_restore(cairo);
        if (is_closeup) {
            draw_marks(&seen.view, panel);
        }
    }
    free(drawn);

    (void)snprintf(text, sizeof text, "%s%s; grid lines every %g",
                   is_closeup ? panel->mark_label : "all figures", is_closeup ? "" : panel->sight,
                   seen.step);
    drawing_use(cairo, label_ink);
    drawing_text(cairo, &label, 16, false, text);
    return true;
}

/// Draw the title, the close-up, all figures, and the caption.
static bool draw_panel(cairo_t *cairo, const picture_panel *panel, const picture_area *area)
{
    const double middle = area->top + 48, height = area->height - 48 - 46;
    const bool is_alone = panel->figure_count < 2 && !panel->has_frustum;
    const picture_area title = {area->left, area->top + 22, area->width, 0};
    const picture_area caption = {area->left, area->top + area->height - 4, area->width, 0};
    const double share = is_alone ? area->width : area->width * 0.3;
    const picture_area closeup = {area->left, middle, share, height};
    const picture_area crowd = {area->left + share + MARGIN, middle, area->width - share - MARGIN,
                                height};

    drawing_use(cairo, text_ink);
    drawing_text(cairo, &title, 26, true, panel->title);
    drawing_text(cairo, &caption, 20, false, panel->caption);
    return draw_view(cairo, &closeup, panel, true) &&
           (is_alone || draw_view(cairo, &crowd, panel, false));
}

bool picture_is_built(void)
{
    return true;
}

bool picture_write(const char *path, const picture_panel *panels, size_t panel_count,
                   tool_fault *fault)
{
    // Cairo's images have fewer than 32,768 rows.
    const int limit = 32000 / (int)(panel_count < 1000 ? panel_count : 1000);
    const int height = limit < PICTURE_HEIGHT ? limit : PICTURE_HEIGHT;
    cairo_surface_t *const surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, PICTURE_WIDTH, height * (int)panel_count);
    cairo_t *const cairo = cairo_create(surface);
    bool is_drawn = true;

    drawing_prepare_text(cairo);
    drawing_use(cairo, paper);
    cairo_paint(cairo);
    for (size_t i = 0; is_drawn && i < panel_count; ++i) {
        const picture_area area = {MARGIN, (double)i * height + MARGIN, PICTURE_WIDTH - 2 * MARGIN,
                                   height - 2 * MARGIN};

        is_drawn = draw_panel(cairo, &panels[i], &area);
    }
    // An error of any call above is the context's status.
    const cairo_status_t status = !is_drawn ? CAIRO_STATUS_NO_MEMORY : cairo_status(cairo);
    const cairo_status_t written =
        status != CAIRO_STATUS_SUCCESS ? status : cairo_surface_write_to_png(surface, path);
    if (written != CAIRO_STATUS_SUCCESS) {
        fault_say(fault, "%s: no picture: %s", path, cairo_status_to_string(written));
    }
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return written == CAIRO_STATUS_SUCCESS;
}

#endif
