// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/picture.h"

#ifndef HAVE_LIBPNG

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
    fault_say(fault, "no picture: this espalier was built without libpng");
    return false;
}

#else

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 36.0

/// Directions of view: from the front and the side, and from above.
#define YAW 0.62
#define PITCH 0.46

typedef struct tool_colour {
    float red, green, blue;
} tool_colour;

static const tool_colour paper = {0.975F, 0.97F, 0.955F};
static const tool_colour grid_ink = {0.83F, 0.82F, 0.79F};

/// Pixels, [PICTURE_HEIGHT][PICTURE_WIDTH].
typedef struct tool_canvas {
    tool_colour *pixels;
    int left, right; // columns of the panel at hand
} tool_canvas;

/// How world positions fall on the panel: a turn, then a scale and an offset.
typedef struct tool_camera {
    int up_axis;
    double scale, centre[2];  // pixels a unit; what falls on the panel's middle
    double middle[2];         // of the panel, pixels
    double nearest, farthest; // depths of the figures
} tool_camera;

/// Right, up, and away from the viewer.
static void turn_to_view(double out[3], int up_axis, const float position[3])
{
    // With z up the ground is x and y; with y up it is z and x. Both are right-handed.
    const double up = (double)position[up_axis];
    const double a = (double)position[(up_axis + 1) % 3], b = (double)position[(up_axis + 2) % 3];
    const double right = b * cos(YAW) - a * sin(YAW);
    const double away = -(b * sin(YAW) + a * cos(YAW));

    out[0] = right;
    out[1] = up * cos(PITCH) + away * sin(PITCH);
    out[2] = away * cos(PITCH) - up * sin(PITCH);
}

static void project(double out[2], const tool_camera *camera, const double view[3])
{
    out[0] = camera->middle[0] + (view[0] - camera->centre[0]) * camera->scale;
    out[1] = camera->middle[1] - (view[1] - camera->centre[1]) * camera->scale;
}

static void mix_pixel(tool_canvas *canvas, int x, int y, tool_colour ink, double cover)
{
    if (x < canvas->left || x >= canvas->right || y < 0 || y >= PICTURE_HEIGHT || cover <= 0) {
        return;
    }
    tool_colour *const pixel = &canvas->pixels[(size_t)y * PICTURE_WIDTH + (size_t)x];
    const float share = (float)fmin(cover, 1);

    pixel->red += (ink.red - pixel->red) * share;
    pixel->green += (ink.green - pixel->green) * share;
    pixel->blue += (ink.blue - pixel->blue) * share;
}

/// How much of a pixel a line of this width covers, from its distance to the line.
static double line_cover(const double a[2], const double b[2], double x, double y, double width)
{
    const double along[2] = {b[0] - a[0], b[1] - a[1]};
    const double square = along[0] * along[0] + along[1] * along[1];
    const double share = square > 0 ? ((x - a[0]) * along[0] + (y - a[1]) * along[1]) / square : 0;
    const double nearest = fmin(fmax(share, 0), 1);

    return width / 2 + 0.5 - hypot(x - a[0] - along[0] * nearest, y - a[1] - along[1] * nearest);
}

/// Draw column by column of the longer direction, so that the cost is that of the line's length.
static void draw_line(tool_canvas *canvas, const double a[2], const double b[2], double width,
                      tool_colour ink)
{
    const int major = fabs(b[0] - a[0]) >= fabs(b[1] - a[1]) ? 0 : 1, minor = 1 - major;
    const double reach = width / 2 + 1;
    const double begin = fmin(a[major], b[major]) - reach, end = fmax(a[major], b[major]) + reach;
    const double run = b[major] - a[major];
    // A slanting line is thicker along the minor direction by at most the square root of two.
    const double half = reach * 1.5;

    if (!(end > -1e6 && begin < 1e6)) {
        return;
    }
    for (int i = (int)fmax(floor(begin), -1); i <= (int)fmin(ceil(end), PICTURE_WIDTH); ++i) {
        const double share = fabs(run) > 1e-9 ? fmin(fmax((i - a[major]) / run, 0), 1) : 0;
        const double middle = a[minor] + (b[minor] - a[minor]) * share;
        const int last = (int)fmin(ceil(middle + half), PICTURE_WIDTH);

        for (int j = (int)fmax(floor(middle - half), -1); j <= last; ++j) {
            const int x = major == 0 ? i : j, y = major == 0 ? j : i;
            mix_pixel(canvas, x, y, ink, line_cover(a, b, x, y, width));
        }
    }
}

/// Colours far apart for neighbouring numbers: hues by the golden ratio.
static tool_colour figure_colour(uint32_t figure)
{
    const double hue = fmod(figure * 0.6180339887498949 + 0.58, 1) * 6;
    const double value = 0.50 + 0.22 * fmod(figure * 0.7548776662466927, 1);
    const double low = value * 0.22, ramp = value * (1 - 0.78 * fabs(fmod(hue, 2) - 1));
    const float v = (float)value, p = (float)low, r = (float)ramp;
    const tool_colour sectors[6] = {{v, r, p}, {r, v, p}, {p, v, r},
                                    {p, r, v}, {r, p, v}, {v, p, r}};

    return sectors[(int)hue % 6];
}

static tool_colour fade(tool_colour ink, double share)
{
    const float part = (float)share;

    return (tool_colour){ink.red + (paper.red - ink.red) * part,
                         ink.green + (paper.green - ink.green) * part,
                         ink.blue + (paper.blue - ink.blue) * part};
}

/// A box around points; empty at first.
typedef struct bounds {
    double least[3], most[3];
} bounds;

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

/// Fit everything into the panel's columns.
static tool_camera aim(const picture_panel *panel, const tool_canvas *canvas, const bounds *view)
{
    const double width = canvas->right - canvas->left - 2 * MARGIN;
    const double height = PICTURE_HEIGHT - 2 * MARGIN;
    const double wide = fmax(view->most[0] - view->least[0], 1e-9);
    const double high = fmax(view->most[1] - view->least[1], 1e-9);

    return (tool_camera){
        .up_axis = panel->up_axis,
        .scale = fmin(width / wide, height / high),
        .centre = {(view->least[0] + view->most[0]) / 2, (view->least[1] + view->most[1]) / 2},
        .middle = {(canvas->left + canvas->right) / 2.0, PICTURE_HEIGHT / 2.0},
        .nearest = view->least[2],
        .farthest = view->most[2],
    };
}

/// A round distance between grid lines, so that about twenty cover the longer side.
static double grid_step(const bounds *world, int up_axis)
{
    double longest = 1e-9;

    for (int i = 1; i < 3; ++i) {
        const int axis = (up_axis + i) % 3;
        longest = fmax(longest, world->most[axis] - world->least[axis]);
    }
    const double power = pow(10, floor(log10(longest / 20)));
    const double lead = longest / 20 / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

/// Round the ground to whole grid cells, and let its corners be seen.
static void widen_to_grid(bounds *world, bounds *view, int up_axis, double step)
{
    const int a = (up_axis + 1) % 3, b = (up_axis + 2) % 3;

    world->least[up_axis] = fmin(world->least[up_axis], 0);
    for (int i = 1; i < 3; ++i) {
        const int axis = (up_axis + i) % 3;
        world->least[axis] = floor(world->least[axis] / step) * step;
        world->most[axis] = ceil(world->most[axis] / step) * step;
    }
    for (int corner = 0; corner < 4; ++corner) {
        float point[3];
        double seen[3];

        point[up_axis] = (float)world->least[up_axis];
        point[a] = (float)(corner & 1 ? world->most[a] : world->least[a]);
        point[b] = (float)(corner & 2 ? world->most[b] : world->least[b]);
        turn_to_view(seen, up_axis, point);
        bounds_take(view, seen);
    }
}

static void draw_ground_line(tool_canvas *canvas, const tool_camera *camera, const float a[3],
                             const float b[3], double width)
{
    double view[3], from[2], to[2];

    turn_to_view(view, camera->up_axis, a);
    project(from, camera, view);
    turn_to_view(view, camera->up_axis, b);
    project(to, camera, view);
    draw_line(canvas, from, to, width, grid_ink);
}

/// Lines along one ground axis, at round places of the other one.
static void draw_grid_along(tool_canvas *canvas, const tool_camera *camera, const bounds *world,
                            int axis, int other, double step)
{
    const double first = round(world->least[other] / step), last = round(world->most[other] / step);

    for (double i = first; i <= last; ++i) {
        float a[3], b[3];

        a[camera->up_axis] = b[camera->up_axis] = (float)world->least[camera->up_axis];
        a[other] = b[other] = (float)(i * step);
        a[axis] = (float)world->least[axis];
        b[axis] = (float)world->most[axis];
        draw_ground_line(canvas, camera, a, b, fmod(i, 10) == 0 ? 1.6 : 0.8);
    }
}

/// A stick by its depth, for the order of drawing.
typedef struct drawn_stick {
    double away;
    size_t index;
} drawn_stick;

static int compare_far_first(const void *a, const void *b)
{
    const drawn_stick *const x = a, *const y = b;

    if (x->away != y->away) {
        return x->away < y->away ? 1 : -1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

static void draw_stick(tool_canvas *canvas, const tool_camera *camera, const picture_stick *stick,
                       double width)
{
    double view[3], from[2], to[2];

    turn_to_view(view, camera->up_axis, stick->from);
    project(from, camera, view);
    turn_to_view(view, camera->up_axis, stick->to);
    project(to, camera, view);

    const double depth = fmax(camera->farthest - camera->nearest, 1e-9);
    const tool_colour ink =
        fade(figure_colour(stick->figure), 0.45 * (view[2] - camera->nearest) / depth);
    draw_line(canvas, from, to, width, ink);
    // A joint at the end shows where sticks meet, and nodes that have no stick.
    draw_line(canvas, to, to, width * 1.7, ink);
}

/// Thin lines for a crowd, thicker ones for a few large figures.
static double stick_width(const picture_panel *panel, const tool_camera *camera)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < panel->count; ++i) {
        const float *const a = panel->sticks[i].from, *const b = panel->sticks[i].to;
        const double length =
            sqrt(pow((double)a[0] - (double)b[0], 2) + pow((double)a[1] - (double)b[1], 2) +
                 pow((double)a[2] - (double)b[2], 2));
        sum += length;
        count += length > 0;
    }
    const double mean = count > 0 ? sum / (double)count * camera->scale : 40;
    return fmin(fmax(mean / 7, 1.1), 3.2);
}

static bool draw_panel(tool_canvas *canvas, const picture_panel *panel)
{
    bounds world = bounds_empty(), view = bounds_empty();
    drawn_stick *const order = calloc(panel->count + 1, sizeof *order);

    if (order == NULL || panel->count == 0) {
        free(order);
        return panel->count == 0;
    }
    for (size_t i = 0; i < panel->count; ++i) {
        const float *const ends[2] = {panel->sticks[i].from, panel->sticks[i].to};
        for (int end = 0; end < 2; ++end) {
            const double point[3] = {(double)ends[end][0], (double)ends[end][1],
                                     (double)ends[end][2]};
            double seen[3];

            turn_to_view(seen, panel->up_axis, ends[end]);
            bounds_take(&world, point);
            bounds_take(&view, seen);
            order[i] = (drawn_stick){seen[2], i};
        }
    }

    const double step = grid_step(&world, panel->up_axis);
    widen_to_grid(&world, &view, panel->up_axis, step);
    const tool_camera camera = aim(panel, canvas, &view);
    const int a = (panel->up_axis + 1) % 3, b = (panel->up_axis + 2) % 3;
    draw_grid_along(canvas, &camera, &world, a, b, step);
    draw_grid_along(canvas, &camera, &world, b, a, step);

    qsort(order, panel->count, sizeof *order, compare_far_first);
    const double width = stick_width(panel, &camera);
    for (size_t i = 0; i < panel->count; ++i) {
        draw_stick(canvas, &camera, &panel->sticks[order[i].index], width);
    }
    free(order);
    return true;
}

static void quantise_row(png_byte *out, const tool_colour *row)
{
    for (size_t x = 0; x < PICTURE_WIDTH; ++x) {
        out[3 * x] = (png_byte)lrintf(row[x].red * 255);
        out[3 * x + 1] = (png_byte)lrintf(row[x].green * 255);
        out[3 * x + 2] = (png_byte)lrintf(row[x].blue * 255);
    }
}

/// libpng's simplified interface: no jumps, and the reason in words.
static bool write_png(const char *path, const tool_colour *pixels, tool_fault *fault)
{
    const size_t row_size = (size_t)3 * PICTURE_WIDTH;
    png_byte *const bytes = malloc(row_size * PICTURE_HEIGHT);
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = PICTURE_WIDTH,
        .height = PICTURE_HEIGHT,
        .format = PNG_FORMAT_RGB,
    };

    if (bytes == NULL) {
        fault_say(fault, "%s: no memory", path);
        return false;
    }
    for (size_t y = 0; y < PICTURE_HEIGHT; ++y) {
        quantise_row(bytes + y * row_size, pixels + y * PICTURE_WIDTH);
    }
    const bool is_written = png_image_write_to_file(&image, path, 0, bytes, 0, NULL) != 0;
    if (!is_written) {
        fault_say(fault, "%s: %s", path, image.message);
    }
    png_image_free(&image);
    free(bytes);
    return is_written;
}

bool picture_is_built(void)
{
    return true;
}

bool picture_write(const char *path, const picture_panel *panels, size_t panel_count,
                   tool_fault *fault)
{
    const size_t pixel_count = (size_t)PICTURE_WIDTH * PICTURE_HEIGHT;
    tool_canvas canvas = {malloc(pixel_count * sizeof(tool_colour)), 0, 0};
    bool is_drawn = canvas.pixels != NULL;

    for (size_t i = 0; is_drawn && i < pixel_count; ++i) {
        canvas.pixels[i] = paper;
    }
    for (size_t i = 0; is_drawn && i < panel_count; ++i) {
        canvas.left = (int)(PICTURE_WIDTH * i / panel_count);
        canvas.right = (int)(PICTURE_WIDTH * (i + 1) / panel_count);
        is_drawn = draw_panel(&canvas, &panels[i]);
    }
    if (!is_drawn) {
        fault_say(fault, "no memory for the picture");
    }
    is_drawn = is_drawn && write_png(path, canvas.pixels, fault);
    free(canvas.pixels);
    return is_drawn;
}

#endif
