// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/picture.h"

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

#define PI 3.14159265358979323846
/// Width around a panel, and the least radii of a bone and of a node without bones; pixels.
#define MARGIN 28.0
#define LEAST_RADIUS 0.6
#define LEAST_BALL 2.0

/// Directions of view: from the front and the side, and from above.
#define YAW 0.62
#define PITCH 0.40
/// Distance of the eye from the middle of the bones, as a multiple of half their diagonal.
#define DISTANCE 1.6

typedef struct tool_colour {
    double red, green, blue;
} tool_colour;

static const tool_colour paper = {0.975, 0.97, 0.955};
static const tool_colour ground_ink = {0.925, 0.918, 0.895};
static const tool_colour grid_ink = {0.83, 0.82, 0.79};
static const tool_colour shadow_ink = {0.80, 0.79, 0.765};
static const tool_colour text_ink = {0.16, 0.16, 0.18};
static const tool_colour label_ink = {0.42, 0.42, 0.44};

/// A rectangle of the picture, pixels.
typedef struct picture_area {
    double left, top, width, height;
} picture_area;

/// A box around points; empty at first.
typedef struct bounds {
    double least[3], most[3];
} bounds;

/// One view of bones: the eye, and the projection onto an area of the picture.
typedef struct picture_view {
    cairo_t *cairo;
    picture_area area;
    int up_axis;
    bounds world;             // of the bones and of the ground around them
    double step;              // between grid lines, scene units
    double centre[3];         // of the world that is seen
    double distance;          // of the eye from the centre
    double scale, origin[2];  // pixels a unit at depth 1; pixel of the view's axis
    double nearest, farthest; // depths of the bones
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

static bounds bounds_empty(void)
{
    return (bounds){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
}

static void bounds_take(bounds *box, const double point[3])
{
    for (int i = 0; i < 3; ++i) {
        box->least[i] = fmin(box->least[i], point[i]);
        box->most[i] = fmax(box->most[i], point[i]);
    }
}

// Ink.

static tool_colour mix(tool_colour from, tool_colour to, double share)
{
    return (tool_colour){from.red + (to.red - from.red) * share,
                         from.green + (to.green - from.green) * share,
                         from.blue + (to.blue - from.blue) * share};
}

static void use_ink(cairo_t *cairo, tool_colour ink)
{
    cairo_set_source_rgb(cairo, ink.red, ink.green, ink.blue);
}

/// Colours far apart for neighbouring numbers: hues by the golden ratio.
static tool_colour figure_colour(uint32_t figure)
{
    const double hue = fmod(figure * 0.6180339887498949 + 0.58, 1) * 6;
    const double value = 0.62 + 0.22 * fmod(figure * 0.7548776662466927, 1);
    const double low = value * 0.30, ramp = value * (1 - 0.70 * fabs(fmod(hue, 2) - 1));
    const tool_colour sectors[6] = {{value, ramp, low}, {ramp, value, low}, {low, value, ramp},
                                    {low, ramp, value}, {ramp, low, value}, {value, low, ramp}};

    return sectors[(int)hue % 6];
}

/// Write one line of text, smaller where it would be wider than the area.
static void draw_text(cairo_t *cairo, const picture_area *area, double size, bool is_bold,
                      const char *text)
{
    char plain[PICTURE_TEXT];
    cairo_text_extents_t extents;
    size_t length = 0;

    // Cairo enters its error state at a byte that is not UTF-8, which a file name may hold.
    for (; text[length] != '\0' && length + 1 < sizeof plain; ++length) {
        plain[length] = (char)(text[length] >= ' ' && text[length] <= '~' ? text[length] : '?');
    }
    plain[length] = '\0';

    cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
    cairo_text_extents(cairo, plain, &extents);
    if (extents.x_advance > area->width) {
        cairo_set_font_size(cairo, size * area->width / extents.x_advance);
    }
    cairo_move_to(cairo, area->left, area->top);
    cairo_show_text(cairo, plain);
}

// The eye.

/// Compute the coordinates of a point: right of the view's axis, above it, and away from the eye.
static void look_at(double out[3], const picture_view *view, const double point[3])
{
    // With z up the ground is x and y; with y up it is z and x. Both are right-handed.
    const int up_axis = view->up_axis, a_axis = (up_axis + 1) % 3, b_axis = (up_axis + 2) % 3;
    const double up = point[up_axis] - view->centre[up_axis];
    const double a = point[a_axis] - view->centre[a_axis];
    const double b = point[b_axis] - view->centre[b_axis];
    const double away = -(b * sin(YAW) + a * cos(YAW));

    out[0] = b * cos(YAW) - a * sin(YAW);
    out[1] = up * cos(PITCH) + away * sin(PITCH);
    // No bone is near the eye, but a corner of the ground may be behind it: clamp the depth.
    out[2] = fmax(view->distance + away * cos(PITCH) - up * sin(PITCH), 0.05 * view->distance);
}

static picture_disc project(const picture_view *view, const double point[3], double radius)
{
    double seen[3];

    look_at(seen, view, point);
    return (picture_disc){
        .x = view->origin[0] + view->scale * seen[0] / seen[2],
        .y = view->origin[1] - view->scale * seen[1] / seen[2],
        .radius = view->scale * radius / seen[2],
        .depth = seen[2],
    };
}

// The ground.

/// Choose the distance of grid lines: 1, 2 or 5 times a power of ten, about ten lines on the longer
/// side.
static double grid_step(double longest)
{
    const double rough = longest / 10, power = pow(10, floor(log10(rough)));
    const double lead = rough / power;

    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

/// Widen the box by the ground around the bones, and choose the grid.
static void lay_ground(picture_view *view)
{
    bounds *const world = &view->world;
    const int up = view->up_axis;
    double longest = 0;

    world->least[up] = fmin(world->least[up], 0);
    const double height = world->most[up] - world->least[up];
    const double around = height > 0 ? height / 2 : view->distance / 4;
    for (int i = 1; i < 3; ++i) {
        const int axis = (up + i) % 3;
        world->least[axis] -= around;
        world->most[axis] += around;
        longest = fmax(longest, world->most[axis] - world->least[axis]);
    }
    view->step = grid_step(longest);
}

/// Add a point of the ground to the current path.
static void trace_ground(const picture_view *view, double a, double b)
{
    double point[3];

    point[view->up_axis] = view->world.least[view->up_axis];
    point[(view->up_axis + 1) % 3] = a;
    point[(view->up_axis + 2) % 3] = b;
    const picture_disc place = project(view, point, 0);
    cairo_line_to(view->cairo, place.x, place.y);
}

static void draw_ground(const picture_view *view)
{
    const int a = (view->up_axis + 1) % 3, b = (view->up_axis + 2) % 3;
    const double *const least = view->world.least, *const most = view->world.most;
    const double step = view->step;

    cairo_new_path(view->cairo);
    trace_ground(view, least[a], least[b]);
    trace_ground(view, least[a], most[b]);
    trace_ground(view, most[a], most[b]);
    trace_ground(view, most[a], least[b]);
    use_ink(view->cairo, ground_ink);
    cairo_fill(view->cairo);

    for (double i = ceil(least[a] / step); i * step <= most[a]; ++i) {
        cairo_new_sub_path(view->cairo);
        trace_ground(view, i * step, least[b]);
        trace_ground(view, i * step, most[b]);
    }
    for (double i = ceil(least[b] / step); i * step <= most[b]; ++i) {
        cairo_new_sub_path(view->cairo);
        trace_ground(view, least[a], i * step);
        trace_ground(view, most[a], i * step);
    }
    use_ink(view->cairo, grid_ink);
    cairo_set_line_width(view->cairo, 1);
    cairo_stroke(view->cairo);
}

// Bones.

/// Cairo aborts at NaN, and its fixed-point coordinates overflow at large numbers.
static bool is_drawable(const picture_disc *disc)
{
    return fabs(disc->x) < 1e6 && fabs(disc->y) < 1e6 && fabs(disc->radius) < 1e6;
}

static void trace_disc(cairo_t *cairo, const picture_disc *disc)
{
    cairo_new_path(cairo);
    if (is_drawable(disc)) {
        cairo_arc(cairo, disc->x, disc->y, disc->radius, 0, 2 * PI);
        cairo_close_path(cairo);
    }
}

/// Trace the outline of two discs and their common tangents.
static void trace_bone(cairo_t *cairo, const picture_disc *a, const picture_disc *b)
{
    const double length = hypot(b->x - a->x, b->y - a->y);
    const double difference = a->radius - b->radius;

    if (length <= fabs(difference) || length < 1e-6 || !is_drawable(a) || !is_drawable(b)) {
        trace_disc(cairo, difference > 0 ? a : b);
        return;
    }
    const double direction = atan2(b->y - a->y, b->x - a->x);
    const double tangent = acos(difference / length);
    cairo_new_path(cairo);
    cairo_arc(cairo, a->x, a->y, a->radius, direction + tangent, direction - tangent + 2 * PI);
    cairo_arc(cairo, b->x, b->y, b->radius, direction - tangent, direction + tangent);
    cairo_close_path(cairo);
}

static picture_disc project_end(const picture_view *view, const float end[3], float radius)
{
    const double point[3] = {(double)end[0], (double)end[1], (double)end[2]};

    return project(view, point, (double)radius);
}

/// Project the shadow of an end on the ground; the light comes from the left.
static picture_disc project_shadow(const picture_view *view, const float end[3], float radius)
{
    const int up = view->up_axis;
    const double height = (double)end[up] - view->world.least[up];
    double point[3];

    point[up] = view->world.least[up];
    point[(up + 1) % 3] = (double)end[(up + 1) % 3] - 0.35 * height;
    point[(up + 2) % 3] = (double)end[(up + 2) % 3] + 0.45 * height;
    return project(view, point, (double)radius);
}

/// Aim at the middle of the bones, from far enough away to see all of them.
static void aim(picture_view *view)
{
    const bounds *const world = &view->world;
    const int up = view->up_axis, a = (up + 1) % 3, b = (up + 2) % 3;
    const double diagonal =
        hypot(world->most[a] - world->least[a], world->most[b] - world->least[b]);

    for (int i = 0; i < 3; ++i) {
        view->centre[i] = (world->least[i] + world->most[i]) / 2;
    }
    const double size = fmax(diagonal / 2, world->most[up] - world->least[up]);
    view->distance = DISTANCE * (size > 0 ? size : 1);
    view->scale = 1;
}

/// Scale the view so that the bones and their shadows fill the area.
static void fit(picture_view *view, const drawn_bone *drawn, size_t count)
{
    const picture_area *const area = &view->area;
    bounds seen = bounds_empty();

    for (size_t i = 0; i < count; ++i) {
        const picture_bone *const bone = drawn[i].bone;
        const picture_disc ends[4] = {
            project_end(view, bone->from, bone->from_radius),
            project_end(view, bone->to, bone->to_radius),
            project_shadow(view, bone->from, bone->from_radius),
            project_shadow(view, bone->to, bone->to_radius),
        };

        for (size_t j = 0; j < 4; ++j) {
            const picture_disc end = ends[j];

            bounds_take(&seen, (double[3]){end.x - end.radius, end.y - end.radius, end.depth});
            bounds_take(&seen, (double[3]){end.x + end.radius, end.y + end.radius, end.depth});
        }
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
}

static picture_disc highlight(picture_disc disc)
{
    return (picture_disc){disc.x - 0.3 * disc.radius, disc.y - 0.3 * disc.radius,
                          0.35 * disc.radius, disc.depth};
}

static void draw_bone(const picture_view *view, const picture_bone *bone)
{
    picture_disc from = project_end(view, bone->from, bone->from_radius);
    picture_disc to = project_end(view, bone->to, bone->to_radius);
    // Distant bones, and nodes without bones, stay visible.
    const double least = bone->to_radius > 0 ? LEAST_RADIUS : LEAST_BALL;
    from.radius = fmax(from.radius, least);
    to.radius = fmax(to.radius, least);
    const double size = fmax(from.radius, to.radius);
    const double depth = (from.depth + to.depth) / 2 - view->nearest;
    const double haze = 0.4 * depth / fmax(view->farthest - view->nearest, 1e-9);
    const tool_colour ink = mix(figure_colour(bone->figure), paper, fmin(fmax(haze, 0), 0.4));
    const tool_colour black = {0, 0, 0}, white = {1, 1, 1};

    trace_bone(view->cairo, &from, &to);
    use_ink(view->cairo, ink);
    if (size < 1.5) {
        cairo_fill(view->cairo);
        return;
    }
    cairo_fill_preserve(view->cairo);
    use_ink(view->cairo, mix(ink, black, 0.45));
    cairo_set_line_width(view->cairo, fmin(0.25 * size, 1.4));
    cairo_stroke(view->cairo);

    const picture_disc lit_from = highlight(from), lit_to = highlight(to);
    trace_bone(view->cairo, &lit_from, &lit_to);
    use_ink(view->cairo, mix(ink, white, 0.35));
    cairo_fill(view->cairo);
}

static void draw_marks(const picture_view *view, const picture_panel *panel)
{
    const tool_colour black = {0, 0, 0}, white = {1, 1, 1};

    for (size_t i = 0; i < panel->mark_count; ++i) {
        picture_disc disc = project_end(view, panel->marks[i], 0);

        disc.radius = 3.2;
        trace_disc(view->cairo, &disc);
        use_ink(view->cairo, white);
        cairo_fill_preserve(view->cairo);
        use_ink(view->cairo, black);
        cairo_set_line_width(view->cairo, 1.2);
        cairo_stroke(view->cairo);
    }
}

static int compare_far_first(const void *a, const void *b)
{
    const drawn_bone *const x = a, *const y = b;

    if (x->depth != y->depth) {
        return x->depth < y->depth ? 1 : -1;
    }
    return (x->bone > y->bone) - (x->bone < y->bone);
}

/// Draw the shadows in one opaque colour, so that overlaps are not darker; then the bones, far ones
/// first.
static void draw_bones(const picture_view *view, drawn_bone *drawn, size_t count)
{
    use_ink(view->cairo, shadow_ink);
    for (size_t i = 0; i < count; ++i) {
        const picture_bone *const bone = drawn[i].bone;
        const picture_disc from = project_shadow(view, bone->from, bone->from_radius);
        const picture_disc to = project_shadow(view, bone->to, bone->to_radius);

        trace_bone(view->cairo, &from, &to);
        cairo_fill(view->cairo);
        drawn[i].depth =
            project_end(view, bone->from, 0).depth + project_end(view, bone->to, 0).depth;
    }
    qsort(drawn, count, sizeof *drawn, compare_far_first);
    for (size_t i = 0; i < count; ++i) {
        draw_bone(view, drawn[i].bone);
    }
}

/// List the bones of a view, and compute the box around them.
static size_t choose_bones(picture_view *view, drawn_bone *out, const picture_panel *panel,
                           bool is_closeup)
{
    size_t count = 0;

    view->world = bounds_empty();
    for (size_t i = 0; i < panel->bone_count; ++i) {
        const picture_bone *const bone = &panel->bones[i];

        if (is_closeup && bone->figure != panel->closeup) {
            continue;
        }
        const double from[3] = {(double)bone->from[0], (double)bone->from[1],
                                (double)bone->from[2]};
        const double to[3] = {(double)bone->to[0], (double)bone->to[1], (double)bone->to[2]};
        bounds_take(&view->world, from);
        bounds_take(&view->world, to);
        out[count++] = (drawn_bone){0, bone};
    }
    return count;
}

static bool draw_view(cairo_t *cairo, const picture_area *area, const picture_panel *panel,
                      bool is_closeup)
{
    drawn_bone *const drawn = calloc(panel->bone_count + 1, sizeof *drawn);
    picture_view view = {.cairo = cairo, .area = *area, .up_axis = panel->up_axis};
    picture_area label = {area->left, area->top + area->height, area->width, 0};
    char text[PICTURE_TEXT];

    if (drawn == NULL) {
        return false;
    }
    view.area.height -= 30;
    const size_t count = choose_bones(&view, drawn, panel, is_closeup);
    if (count > 0) {
        aim(&view);
        lay_ground(&view);
        fit(&view, drawn, count);
        cairo_save(cairo);
        cairo_rectangle(cairo, area->left, area->top, area->width, view.area.height);
        cairo_clip(cairo);
        draw_ground(&view);
        draw_bones(&view, drawn, count);
        cairo_restore(cairo);
        if (is_closeup) {
            draw_marks(&view, panel);
        }
    }
    free(drawn);

    (void)snprintf(text, sizeof text, "%s; grid lines every %g",
                   is_closeup ? panel->mark_label : "all figures", view.step);
    use_ink(cairo, label_ink);
    draw_text(cairo, &label, 16, false, text);
    return true;
}

/// Draw the title, the close-up, all figures, and the caption.
static bool draw_panel(cairo_t *cairo, const picture_panel *panel, const picture_area *area)
{
    const double middle = area->top + 48, height = area->height - 48 - 46;
    const bool is_alone = panel->figure_count < 2;
    const picture_area title = {area->left, area->top + 22, area->width, 0};
    const picture_area caption = {area->left, area->top + area->height - 4, area->width, 0};
    const double share = is_alone ? area->width : area->width * 0.3;
    const picture_area closeup = {area->left, middle, share, height};
    const picture_area crowd = {area->left + share + MARGIN, middle, area->width - share - MARGIN,
                                height};

    use_ink(cairo, text_ink);
    draw_text(cairo, &title, 26, true, panel->title);
    draw_text(cairo, &caption, 20, false, panel->caption);
    return draw_view(cairo, &closeup, panel, true) &&
           (is_alone || draw_view(cairo, &crowd, panel, false));
}

// Called by LeakSanitizer only. Fontconfig keeps its configuration until exit and stores pointers to
// it as offsets, so the sanitizer would report the memory as leaked.

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
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
    cairo_font_options_t *const options = cairo_font_options_create();
    bool is_drawn = true;

    // Without hints the width of a text is proportional to its size, which draw_text() relies on.
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
    use_ink(cairo, paper);
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
