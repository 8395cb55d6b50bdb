// SPDX-License-Identifier: MIT
// A frame of a film shows its figures in their colours, boats below them, and a horizon where the camera has it.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/film_frame.h"
#include "tools/film_sink.h"

#include "tests/runner.h"

#include <string.h>

#ifdef HAVE_CAIRO

#include <cairo.h>
#include <math.h>

enum { WIDTH = 320, HEIGHT = 180 };

/// A frame that is being drawn: z is up, and the eye is in front of x.
typedef struct film_stage {
    cairo_surface_t *surface;
    picture_view view;
    film_frame frame;
    drawn_bone drawn[4];
} film_stage;

static film_stage open_stage(void)
{
    const tool_camera camera = {.centre = {0, 0, 1}, .yaw = 0, .pitch = 0.3, .distance = 12};
    film_stage stage = {
        .surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT),
        .frame = {.world = {{-2, -2, 0}, {2, 2, 2}}},
    };

    stage.view = (picture_view){
        .cairo = cairo_create(stage.surface),
        .up_axis = 2,
        .scale = 260,
        .origin = {WIDTH / 2.0, HEIGHT / 2.0},
        .nearest = 20,
        .farthest = 40,
    };
    drawing_look(&stage.view, &camera);
    return stage;
}

static void draw(film_stage *stage)
{
    stage->frame.drawn = stage->drawn;
    film_frame_draw(&stage->view, &stage->frame, WIDTH, HEIGHT);
    ck_assert_int_eq(cairo_status(stage->view.cairo), CAIRO_STATUS_SUCCESS);
    cairo_surface_flush(stage->surface);
}

static void close_stage(film_stage *stage)
{
    cairo_destroy(stage->view.cairo);
    cairo_surface_destroy(stage->surface);
    cairo_debug_reset_static_data();
}

/// A colour part of a pixel: 0 blue, 1 green, 2 red.
static int part(const film_stage *stage, int x, int y, int index)
{
    const unsigned char *const bytes = cairo_image_surface_get_data(stage->surface);

    return bytes[y * cairo_image_surface_get_stride(stage->surface) + 4 * x + index];
}

/// Count the pixels in some columns that have clearly more of one part than of another.
static size_t count_tinted(const film_stage *stage, int left, int right, int more, int less)
{
    size_t count = 0;

    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = left; x < right; ++x) {
            count += part(stage, x, y, more) > part(stage, x, y, less) + 60;
        }
    }
    return count;
}

// Figure 4 is red. To the right of the eye is y.
TEST(a_figure_is_where_the_camera_sees_it)
{
    const picture_bone bone = {{0, 2, 0}, {0, 2, 2}, 0.3F, 0.3F, 4, 0};
    film_stage stage = open_stage();

    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH, 2, 0), 0);
    stage.frame.bones = &bone;
    stage.frame.bone_count = 1;
    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH / 2, 2, 0), 0);
    ck_assert_uint_gt(count_tinted(&stage, WIDTH / 2, WIDTH, 2, 0), 300);
    close_stage(&stage);
}

// The tint is one more than the number of its colour.
TEST(a_tint_takes_the_place_of_the_figures_colour)
{
    picture_bone bone = {{0, 2, 0}, {0, 2, 2}, 0.3F, 0.3F, 4, DRAWING_GREY};
    film_stage stage = open_stage();

    stage.frame.bones = &bone;
    stage.frame.bone_count = 1;
    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH, 2, 0), 0);
    bone.figure = 0;
    bone.tint = 5;
    draw(&stage);
    ck_assert_uint_gt(count_tinted(&stage, 0, WIDTH, 2, 0), 300);
    close_stage(&stage);
}

// The bone is behind the eye of the frame, and in front of that of the camera in it. It is red, and so are edges.
TEST(the_camera_of_a_frame_sees_what_is_not_grey)
{
    picture_bone bone = {{40, 0, 0}, {40, 0, 2}, 0.3F, 0.3F, 4, 0};
    const tool_frustum frustum = {
        .camera = {.centre = {40, 0, 1}, .yaw = 0, .pitch = 0.1, .distance = 6},
        .nearest = 0.5,
        .farthest = 20,
        .half = {0.5, 0.28},
        .up_axis = 2,
    };
    film_stage stage = open_stage();

    stage.frame.bones = &bone;
    stage.frame.bone_count = 1;
    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH, 2, 0), 0);
    stage.frame.frustum = &frustum;
    draw(&stage);
    const size_t left = count_tinted(&stage, 0, WIDTH / 2, 2, 0);
    const size_t right = count_tinted(&stage, WIDTH / 2, WIDTH, 2, 0);
    bone.tint = DRAWING_GREY;
    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH / 2, 2, 0), left);
    ck_assert_uint_lt(count_tinted(&stage, WIDTH / 2, WIDTH, 2, 0) + 50, right);
    close_stage(&stage);
}

TEST(edges_of_the_camera_of_a_frame_are_drawn)
{
    const tool_frustum frustum = {
        .camera = {.centre = {-20, -2, 1}, .yaw = 0, .pitch = 0.1, .distance = 22},
        .nearest = 0.5,
        .farthest = 8,
        .half = {0.2, 0.1},
        .up_axis = 2,
    };
    film_stage stage = open_stage();

    stage.frame.frustum = &frustum;
    draw(&stage);
    ck_assert_uint_gt(count_tinted(&stage, 0, WIDTH / 2, 2, 0), 20);
    close_stage(&stage);
}

TEST(what_is_behind_the_eye_is_not_drawn)
{
    const picture_bone bones[] = {{{20, 0, 0}, {20, 0, 2}, 0.3F, 0.3F, 4, 0},
                                  {{0, 0, 0}, {40, 0, 2}, 0.3F, 0.3F, 4, 0},
                                  {{12, 0, 3}, {11, 0, 4}, 3e38F, 0.3F, 4, 0},
                                  {{NAN, 0, 3}, {0, INFINITY, 4}, 1, 1, 4, 0}};
    const film_boat boat = {.place = affine_identity(), .half = {30, 30}};
    film_stage stage = open_stage();

    stage.frame.bones = bones;
    stage.frame.bone_count = 4;
    stage.frame.boats = &boat;
    stage.frame.boat_count = 1;
    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH, 2, 0), 0);
    close_stage(&stage);
}

TEST(a_boat_is_below_its_crew)
{
    const picture_bone bone = {{0, 0, 0}, {0, 0, 2}, 0.3F, 0.3F, 0, 0};
    film_boat boat = {.place = affine_identity(), .half = {2, 1}};
    film_stage stage = open_stage();

    // The deck is light brown: more red than blue.
    stage.frame.boats = &boat;
    stage.frame.boat_count = 1;
    stage.frame.draught = 0.4;
    draw(&stage);
    const size_t empty = count_tinted(&stage, 0, WIDTH, 2, 0);
    ck_assert_uint_gt(empty, 800);

    // A figure hides a part of the deck, and darkens another; outside the deck it casts no shadow.
    stage.frame.bones = &bone;
    stage.frame.bone_count = 1;
    draw(&stage);
    ck_assert_uint_lt(count_tinted(&stage, 0, WIDTH, 2, 0), empty);
    ck_assert_uint_gt(count_tinted(&stage, 0, WIDTH, 2, 0), 400);
    ck_assert_uint_gt(count_tinted(&stage, 0, WIDTH, 0, 2), 400);

    // It is where its place is.
    boat.place.m[1][3] = 3;
    stage.frame.bone_count = 0;
    draw(&stage);
    ck_assert_uint_eq(count_tinted(&stage, 0, WIDTH / 2, 2, 0), 0);
    ck_assert_uint_gt(count_tinted(&stage, WIDTH / 2, WIDTH, 2, 0), 400);
    close_stage(&stage);
}

TEST(the_horizon_is_where_the_camera_has_it)
{
    film_stage stage = open_stage();
    const int row = (int)(HEIGHT / 2.0 - 260 * tan(0.3));

    draw(&stage);
    // The air is lightest, and the water is darkest near the eye.
    ck_assert_int_gt(part(&stage, 5, row, 2), part(&stage, 5, HEIGHT - 5, 2) + 60);
    ck_assert_int_gt(part(&stage, 5, row, 2), part(&stage, 5, HEIGHT / 2, 2) + 20);
    close_stage(&stage);
}

TEST(a_label_is_drawn)
{
    film_stage stage = open_stage();
    unsigned char before[4 * WIDTH];
    const unsigned char *row;

    draw(&stage);
    row = cairo_image_surface_get_data(stage.surface) +
          (HEIGHT - 19) * cairo_image_surface_get_stride(stage.surface);
    memcpy(before, row, sizeof before);
    memset(stage.frame.label, 'm', sizeof stage.frame.label - 1);
    draw(&stage);
    ck_assert_int_ne(memcmp(before, row, sizeof before), 0);
    close_stage(&stage);
}

#else

TEST(without_cairo_no_film_is_begun)
{
    tool_fault fault = {""};

    ck_assert(!film_path_is_good("a.webm", &fault));
    ck_assert_ptr_ne(strstr(fault.text, "Cairo"), NULL);
}

#endif
