// SPDX-License-Identifier: MIT
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/film.h"

#include "tools/figure.h"
#include "tools/film_frame.h"
#include "tools/film_sink.h"

#ifndef HAVE_CAIRO

tool_film *film_open(const tool_options *options, tool_fault *fault)
{
    (void)options;
    fault_say(fault, "no film: this espalier was built without Cairo");
    return NULL;
}

bool film_take(tool_film *film, const play_show *show, uint32_t frame, tool_fault *fault)
{
    (void)film;
    (void)show;
    (void)frame;
    (void)fault;
    return false;
}

bool film_close(tool_film *film, char out[DRAWING_TEXT], tool_fault *fault)
{
    (void)film;
    (void)fault;
    *out = '\0';
    return false;
}

#else

#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/// Directions of view of an orbit: from the front and the side, and from above.
#define YAW 0.62
#define PITCH 0.36
/// Distance of the eye from the middle, as a multiple of half the diagonal.
#define DISTANCE 1.5
/// A film of fewer seconds goes there and back, by an angle on either side for each of its seconds; a longer one
/// goes around.
#define TURN_SECONDS 20
#define SWING 0.03
/// Moments of an orbit at which its scale is chosen.
#define ORBIT_SAMPLES 16

/// A chase: heights of the figure between it and the eye, the eye's angle above it, and the share of the
/// difference by which the camera follows in a sixtieth of a second.
#define CHASE_DISTANCE 4.5
#define CHASE_PITCH 0.30
#define CHASE_SHARE 0.08

/// Of bones; see figure_shape().
#define STOUTNESS 1.7

struct tool_film {
    const tool_options *options;
    film_sink sink;
    cairo_surface_t *surface;
    cairo_t *cairo;
    const tool_scene *scene; // of the frame before, or NULL
    double seconds;          // of its part of the film
    tool_figures figures;
    picture_panel panel; // its bones
    film_frame frame;
    film_boat *boats;
    picture_view view;
};

// Opening and closing.

static void release_scene(tool_film *film)
{
    figure_unshape(&film->figures);
    figure_release(&film->panel);
    free(film->frame.drawn);
    free(film->boats);
    film->panel = (picture_panel){0};
    film->frame = (film_frame){0};
    film->boats = NULL;
    film->scene = NULL;
}

static void release(tool_film *film)
{
    release_scene(film);
    cairo_destroy(film->cairo);
    cairo_surface_destroy(film->surface);
    free(film);
}

tool_film *film_open(const tool_options *options, tool_fault *fault)
{
    const film_format format = {options->film, options->film_size[0], options->film_size[1],
                                options->rate};
    tool_film *const film = calloc(1, sizeof *film);

    if (film == NULL) {
        fault_say(fault, "no memory for a film");
        return NULL;
    }
    film->options = options;
    film->surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)format.width, (int)format.height);
    film->cairo = cairo_create(film->surface);
    drawing_prepare_text(film->cairo);
    if (cairo_status(film->cairo) != CAIRO_STATUS_SUCCESS) {
        fault_say(fault, "no film: %s", cairo_status_to_string(cairo_status(film->cairo)));
        release(film);
        return NULL;
    }
    if (!film_sink_open(&film->sink, &format, fault)) {
        release(film);
        return NULL;
    }
    return film;
}

bool film_close(tool_film *film, char out[DRAWING_TEXT], tool_fault *fault)
{
    *out = '\0';
    if (film == NULL) {
        return true;
    }
    const film_format *const format = &film->sink.format;
    const char *const directory = film->sink.directory;
    (void)snprintf(out, DRAWING_TEXT, "%zu frames of %u x %u in %s", film->sink.count,
                   format->width, format->height, directory != NULL ? directory : format->path);
    const bool is_good = film_sink_close(&film->sink, fault);

    release(film);
    return is_good;
}

// The camera.

/// Return the heading of a frame: where its first ground axis points.
static double find_heading(const tool_affine *frame, int up)
{
    const int a = (up + 1) % 3, b = (up + 2) % 3;

    return atan2(frame->m[b][a], frame->m[a][a]);
}

/// An orbit ends where it begins, so that a film that repeats has no jump.
static tool_camera orbit(const tool_film *film, double turn)
{
    const drawing_bounds *const world = &film->frame.world;
    const int up = film->view.up_axis, a = (up + 1) % 3, b = (up + 2) % 3;
    const double high = world->most[up] - world->least[up];
    const double diagonal =
        hypot(world->most[a] - world->least[a], world->most[b] - world->least[b]);
    const double size = fmax(diagonal / 2, high);
    const bool is_long = film->seconds >= TURN_SECONDS;
    tool_camera camera = {
        .yaw = YAW + (is_long ? 2 * PI * turn : SWING * film->seconds * sin(2 * PI * turn)),
        .pitch = PITCH,
        .distance = DISTANCE * (size > 0 ? size : 1),
    };

    for (int i = 0; i < 3; ++i) {
        camera.centre[i] = (world->least[i] + world->most[i]) / 2;
    }
    return camera;
}

/// Choose the scale by which all figures are seen at each moment of the orbit.
static void fit_orbit(tool_film *film)
{
    const double width = film->options->film_size[0], height = film->options->film_size[1];
    picture_view *const view = &film->view;
    drawing_bounds seen = drawing_bounds_empty();

    view->scale = 1;
    view->origin[0] = view->origin[1] = 0;
    for (int i = 0; i < ORBIT_SAMPLES; ++i) {
        const tool_camera camera = orbit(film, (double)i / ORBIT_SAMPLES);

        drawing_look(view, &camera);
        for (size_t j = 0; j < film->panel.bone_count; ++j) {
            drawing_bounds_of_bone(&seen, view, &film->panel.bones[j]);
        }
    }
    const double wide = fmax(seen.most[0] - seen.least[0], 1e-9);
    const double high = fmax(seen.most[1] - seen.least[1], 1e-9);
    view->scale = fmin(0.96 * width / wide, 0.80 * height / high);
    view->origin[0] = width / 2 - view->scale * (seen.least[0] + seen.most[0]) / 2;
    view->origin[1] = 0.5 * height - view->scale * (seen.least[1] + seen.most[1]) / 2;
    view->nearest = seen.least[2];
    view->farthest = seen.most[2];
}

/// Compute where the first copy is and where it heads for, whether it is alive or not.
static tool_camera chase(const tool_film *film, const play_show *show)
{
    const crowd_copy *const copy = &show->crowd.copies[0];
    const tool_moment *const moment = &show->phases[copy->phase].moment;
    const oracle_frame above = crowd_frame(&show->crowd, copy);
    const int up = film->view.up_axis;
    double middle[3] = {0, 0, 0}, least = HUGE_VAL, most = -HUGE_VAL;
    tool_camera camera = {.yaw = find_heading(&above.matrix, up) + PI, .pitch = CHASE_PITCH};

    for (size_t i = 0; i < moment->count; ++i) {
        const tool_affine world = affine_multiply(&above.matrix, &moment->nodes[i].world);

        for (int axis = 0; axis < 3; ++axis) {
            middle[axis] += world.m[axis][3] / (double)moment->count;
        }
        least = fmin(least, world.m[up][3]);
        most = fmax(most, world.m[up][3]);
    }
    for (int axis = 0; axis < 3; ++axis) {
        camera.centre[axis] = middle[axis];
    }
    camera.distance = CHASE_DISTANCE * (most > least ? most - least : 1);
    return camera;
}

/// Follow the first copy, without its small movements.
static void follow(tool_film *film, const play_show *show, bool is_first)
{
    const double height = film->options->film_size[1];
    const tool_camera wanted = chase(film, show);
    const double share =
        is_first ? 1 : 1 - pow(1 - CHASE_SHARE, 60.0 / (double)film->options->rate);
    tool_camera camera = is_first ? wanted : film->view.camera;
    picture_view *const view = &film->view;

    for (int i = 0; i < 3; ++i) {
        camera.centre[i] += share * (wanted.centre[i] - camera.centre[i]);
    }
    camera.yaw += share * remainder(wanted.yaw - camera.yaw, 2 * PI);
    drawing_look(view, &camera);
    view->scale = 1.25 * height;
    view->origin[0] = film->options->film_size[0] / 2.0;
    view->origin[1] = 0.56 * height;
    view->nearest = camera.distance;
    view->farthest = 8 * camera.distance;
}

// Scenes.

static void bound_figures(tool_film *film)
{
    const int up = film->view.up_axis;
    drawing_bounds *const world = &film->frame.world;

    *world = drawing_bounds_empty();
    for (size_t i = 0; i < film->panel.bone_count; ++i) {
        const float *const end = film->panel.bones[i].to;

        drawing_bounds_take(world, (double[3]){(double)end[0], (double)end[1], (double)end[2]});
    }
    if (film->panel.bone_count == 0) {
        *world = (drawing_bounds){{0, 0, 0}, {1, 1, 1}};
    }
    world->least[up] = fmin(world->least[up], 0);
    film->view.ground = world->least[up];
}

/// Take what is the same in all frames of a scene.
static bool begin_scene(tool_film *film, const play_show *show, tool_fault *fault)
{
    const tool_crowd *const crowd = &show->crowd;

    release_scene(film);
    film->boats = calloc(crowd->carrier_count + 1, sizeof *film->boats);
    film->frame.drawn =
        calloc(2 * crowd->copy_count * show->scene->node_count + 1, sizeof *film->frame.drawn);
    if (film->boats == NULL || film->frame.drawn == NULL) {
        fault_say(fault, "no memory for a frame of %zu copies", crowd->copy_count);
        return false;
    }
    film->seconds = (double)show->frame_count / show->options->rate;
    film->view = (picture_view){.cairo = film->cairo, .up_axis = show->scene->up_axis};
    if (show->options->has_culling) {
        film->figures.tints = show->culling.tints;
        film->frame.frustum = &show->culling.frustums[CULLING_EYE];
    }
    return figure_shape(&film->figures, show->scene, &show->phases[0].moment, STOUTNESS, fault);
}

static bool read_boats(tool_film *film, const play_show *show, espl_read_kind kind,
                       tool_fault *fault)
{
    const tool_crowd *const crowd = &show->crowd;
    size_t count = 0;

    for (size_t i = 0; film->options->has_boats && i < crowd->carrier_count; ++i) {
        const crowd_carrier *const carrier = &crowd->carriers[i];
        film_boat *const boat = &film->boats[count];
        espl_transform place;

        if (!carrier->is_alive) {
            continue;
        }
        const espl_status status = espl_read_strided(crowd->stage->world, kind, &carrier->entity, 1,
                                                     sizeof carrier->entity, &place, sizeof place);
        if (!stage_went_well(crowd->stage, status, "espl_read_strided", fault)) {
            return false;
        }
        boat->place = affine_of_transform(&place);
        crowd_deck(crowd, boat->half);
        ++count;
    }
    film->frame.boats = film->boats;
    film->frame.boat_count = count;
    film->frame.draught =
        count > 0 ? 0.3 * fmin(film->boats[0].half[0], film->boats[0].half[1]) : 0;
    return true;
}

static void write_caption(film_frame *frame, const tool_film *film, const play_show *show)
{
    char figures[32], nodes[32];

    (void)snprintf(frame->label, sizeof frame->label, "%s", show->scene->label);
    const int length =
        snprintf(frame->text, sizeof frame->text, "%s figures, %s nodes",
                 show_spell(figures, film->panel.figure_count),
                 show_spell(nodes, show->crowd.copy_count * show->scene->node_count));
    if (show->options->has_culling && length > 0 && (size_t)length + 2 < sizeof frame->text) {
        (void)memcpy(frame->text + length, "; ", 3);
        culling_explain(&show->culling, frame->text + length + 2,
                        sizeof frame->text - (size_t)length - 2);
    }
}

bool film_take(tool_film *film, const play_show *show, uint32_t frame, tool_fault *fault)
{
    const bool is_first = film->scene != show->scene, is_shown = show->options->ticks > 0;
    const double width = film->options->film_size[0], height = film->options->film_size[1];

    if (is_first && !begin_scene(film, show, fault)) {
        return false;
    }
    film->scene = show->scene;
    if (!figure_read(&film->panel, &film->figures, &show->crowd,
                     is_shown ? ESPL_READ_SHOWN_POSITION : ESPL_READ_WORLD_POSITION, fault) ||
        !read_boats(film, show, is_shown ? ESPL_READ_SHOWN_TRANSFORM : ESPL_READ_WORLD_TRANSFORM,
                    fault)) {
        return false;
    }
    if (is_first) {
        bound_figures(film);
    }
    if (film->options->camera == FILM_CHASE) {
        follow(film, show, is_first);
    } else {
        const tool_camera camera = orbit(film, (double)frame / show->frame_count);

        if (is_first) {
            fit_orbit(film);
        }
        drawing_look(&film->view, &camera);
    }
    film->frame.bones = film->panel.bones;
    film->frame.bone_count = film->panel.bone_count;
    write_caption(&film->frame, film, show);
    film_frame_draw(&film->view, &film->frame, width, height);
    if (cairo_status(film->cairo) != CAIRO_STATUS_SUCCESS) {
        fault_say(fault, "no frame: %s", cairo_status_to_string(cairo_status(film->cairo)));
        return false;
    }
    return film_sink_write(&film->sink, film->surface, fault);
}

#endif
