// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/drawing.h"

#include <math.h>

drawing_bounds drawing_bounds_empty(void)
{
    return (drawing_bounds){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
}

void drawing_bounds_take(drawing_bounds *box, const double point[3])
{
    for (int i = 0; i < 3; ++i) {
        box->least[i] = fmin(box->least[i], point[i]);
        box->most[i] = fmax(box->most[i], point[i]);
    }
}

#ifdef HAVE_CAIRO

#include <cairo.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
/// Least radii of a bone and of a node without bones; pixels.
#define LEAST_RADIUS 0.6
#define LEAST_BALL 2.0

// Ink.

tool_colour drawing_mix(tool_colour from, tool_colour to, double share)
{
    return (tool_colour){from.red + (to.red - from.red) * share,
                         from.green + (to.green - from.green) * share,
                         from.blue + (to.blue - from.blue) * share};
}

void drawing_use(cairo_t *cairo, tool_colour ink)
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

static tool_colour bone_colour(const picture_bone *bone)
{
    if (bone->tint == DRAWING_GREY) {
        return (tool_colour){0.66, 0.66, 0.67};
    }
    return figure_colour(bone->tint != 0 ? bone->tint - 1 : bone->figure);
}

void drawing_text(cairo_t *cairo, const picture_area *area, double size, bool is_bold,
                  const char *text)
{
    char plain[DRAWING_TEXT];
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

void drawing_prepare_text(cairo_t *cairo)
{
    cairo_font_options_t *const options = cairo_font_options_create();

    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
}

// The eye.

void drawing_look(picture_view *view, const tool_camera *camera)
{
    view->camera = *camera;
    view->yaw_sine = sin(camera->yaw);
    view->yaw_cosine = cos(camera->yaw);
    view->pitch_sine = sin(camera->pitch);
    view->pitch_cosine = cos(camera->pitch);
}

double drawing_near_depth(const picture_view *view)
{
    return 0.05 * view->camera.distance;
}

/// Compute the coordinates of a point: right of the view's axis, above it, and away from the eye.
static void look_at(double out[3], const picture_view *view, const double point[3])
{
    // With z up the ground is x and y; with y up it is z and x. Both are right-handed.
    const int up_axis = view->up_axis, a_axis = (up_axis + 1) % 3, b_axis = (up_axis + 2) % 3;
    const double *const centre = view->camera.centre;
    const double up = point[up_axis] - centre[up_axis];
    const double a = point[a_axis] - centre[a_axis];
    const double b = point[b_axis] - centre[b_axis];
    const double away = -(b * view->yaw_sine + a * view->yaw_cosine);

    out[0] = b * view->yaw_cosine - a * view->yaw_sine;
    out[1] = up * view->pitch_cosine + away * view->pitch_sine;
    out[2] = view->camera.distance + away * view->pitch_cosine - up * view->pitch_sine;
}

picture_disc drawing_project(const picture_view *view, const double point[3], double radius)
{
    double seen[3];

    look_at(seen, view, point);
    seen[2] = fmax(seen[2], drawing_near_depth(view));
    return (picture_disc){
        .x = view->origin[0] + view->scale * seen[0] / seen[2],
        .y = view->origin[1] - view->scale * seen[1] / seen[2],
        .radius = view->scale * radius / seen[2],
        .depth = seen[2],
    };
}

double drawing_grid_step(double longest)
{
    const double rough = longest / 10, power = pow(10, floor(log10(rough)));
    const double lead = rough / power;

    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

// Bones.

/// Cairo aborts at NaN, and its fixed-point coordinates overflow at large numbers.
static bool is_drawable(const picture_disc *disc)
{
    return fabs(disc->x) < 1e6 && fabs(disc->y) < 1e6 && fabs(disc->radius) < 1e6;
}

void drawing_trace_disc(cairo_t *cairo, const picture_disc *disc)
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
        drawing_trace_disc(cairo, difference > 0 ? a : b);
        return;
    }
    const double direction = atan2(b->y - a->y, b->x - a->x);
    const double tangent = acos(difference / length);
    cairo_new_path(cairo);
    cairo_arc(cairo, a->x, a->y, a->radius, direction + tangent, direction - tangent + 2 * PI);
    cairo_arc(cairo, b->x, b->y, b->radius, direction - tangent, direction + tangent);
    cairo_close_path(cairo);
}

picture_disc drawing_project_end(const picture_view *view, const float end[3], float radius)
{
    const double point[3] = {(double)end[0], (double)end[1], (double)end[2]};

    return drawing_project(view, point, (double)radius);
}

picture_disc drawing_project_shadow(const picture_view *view, const float end[3], float radius)
{
    const int up = view->up_axis;
    const double height = (double)end[up] - view->ground;
    double point[3];

    point[up] = view->ground;
    point[(up + 1) % 3] = (double)end[(up + 1) % 3] - 0.35 * height;
    point[(up + 2) % 3] = (double)end[(up + 2) % 3] + 0.45 * height;
    return drawing_project(view, point, (double)radius);
}

void drawing_bounds_of_bone(drawing_bounds *box, const picture_view *view, const picture_bone *bone)
{
    const picture_disc ends[4] = {
        drawing_project_end(view, bone->from, bone->from_radius),
        drawing_project_end(view, bone->to, bone->to_radius),
        drawing_project_shadow(view, bone->from, bone->from_radius),
        drawing_project_shadow(view, bone->to, bone->to_radius),
    };

    for (size_t i = 0; i < 4; ++i) {
        const picture_disc end = ends[i];

        drawing_bounds_take(box, (double[3]){end.x - end.radius, end.y - end.radius, end.depth});
        drawing_bounds_take(box, (double[3]){end.x + end.radius, end.y + end.radius, end.depth});
    }
}

static picture_disc highlight(picture_disc disc)
{
    return (picture_disc){disc.x - 0.3 * disc.radius, disc.y - 0.3 * disc.radius,
                          0.35 * disc.radius, disc.depth};
}

static void draw_bone(const picture_view *view, const picture_bone *bone)
{
    picture_disc from = drawing_project_end(view, bone->from, bone->from_radius);
    picture_disc to = drawing_project_end(view, bone->to, bone->to_radius);
    // Distant bones, and nodes without bones, stay visible.
    const double least = bone->to_radius > 0 ? LEAST_RADIUS : LEAST_BALL;
    from.radius = fmax(from.radius, least);
    to.radius = fmax(to.radius, least);
    const double size = fmax(from.radius, to.radius);
    const double depth = (from.depth + to.depth) / 2 - view->nearest;
    const double share = view->paleness * depth / fmax(view->farthest - view->nearest, 1e-9);
    const tool_colour ink =
        drawing_mix(bone_colour(bone), view->air, fmin(fmax(share, 0), view->paleness));
    const tool_colour black = {0, 0, 0}, white = {1, 1, 1};

    if (fmin(from.depth, to.depth) <= drawing_near_depth(view)) {
        return;
    }
    trace_bone(view->cairo, &from, &to);
    drawing_use(view->cairo, ink);
    if (size < 1.5) {
        cairo_fill(view->cairo);
        return;
    }
    cairo_fill_preserve(view->cairo);
    drawing_use(view->cairo, drawing_mix(ink, black, 0.45));
    cairo_set_line_width(view->cairo, fmin(0.25 * size, 1.4));
    cairo_stroke(view->cairo);

    const picture_disc lit_from = highlight(from), lit_to = highlight(to);
    trace_bone(view->cairo, &lit_from, &lit_to);
    drawing_use(view->cairo, drawing_mix(ink, white, 0.35));
    cairo_fill(view->cairo);
}

static int compare_far_first(const void *a, const void *b)
{
    const drawn_bone *const x = a, *const y = b;

    if (x->depth != y->depth) {
        return x->depth < y->depth ? 1 : -1;
    }
    return (x->bone > y->bone) - (x->bone < y->bone);
}

void drawing_shadows(const picture_view *view, const drawn_bone *bones, size_t count,
                     tool_colour ink)
{
    drawing_use(view->cairo, ink);
    for (size_t i = 0; i < count; ++i) {
        const picture_bone *const bone = bones[i].bone;
        const picture_disc from = drawing_project_shadow(view, bone->from, bone->from_radius);
        const picture_disc to = drawing_project_shadow(view, bone->to, bone->to_radius);

        trace_bone(view->cairo, &from, &to);
        cairo_fill(view->cairo);
    }
}

void drawing_bones(const picture_view *view, drawn_bone *bones, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const picture_bone *const bone = bones[i].bone;

        bones[i].depth = drawing_project_end(view, bone->from, 0).depth +
                         drawing_project_end(view, bone->to, 0).depth;
    }
    qsort(bones, count, sizeof *bones, compare_far_first);
    for (size_t i = 0; i < count; ++i) {
        draw_bone(view, bones[i].bone);
    }
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

#endif
