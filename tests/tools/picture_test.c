// SPDX-License-Identifier: MIT
// Pictures show their bones: near ones before far ones, in the colour of the figure, over a shadow.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tools/picture.h"

#include "tests/runner.h"

#include <string.h>

#ifdef HAVE_CAIRO

#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/// Pixels of a picture, read back from its file.
typedef struct picture_pixels {
    cairo_surface_t *surface;
    const unsigned char *bytes;
    int width, height, stride;
} picture_pixels;

static picture_pixels draw(const picture_panel *panels, size_t count)
{
    char path[] = "/tmp/picture_test.XXXXXX";
    const int descriptor = mkstemp(path);
    tool_fault fault = {""};

    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(close(descriptor), 0);
    ck_assert_msg(picture_write(path, panels, count, &fault), "%s", fault.text);
    cairo_surface_t *const surface = cairo_image_surface_create_from_png(path);
    ck_assert_int_eq(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    ck_assert_int_eq(remove(path), 0);
    return (picture_pixels){
        surface,
        cairo_image_surface_get_data(surface),
        cairo_image_surface_get_width(surface),
        cairo_image_surface_get_height(surface),
        cairo_image_surface_get_stride(surface),
    };
}

static void release(picture_pixels *pixels)
{
    cairo_surface_destroy(pixels->surface);
    cairo_debug_reset_static_data();
}

/// Count the pixels of some rows and columns that have clearly more of one part than of another; the
/// parts are 0 blue, 1 green, 2 red.
static size_t count_tinted(const picture_pixels *pixels, int left, int right, int more, int less)
{
    size_t count = 0;

    for (int y = 0; y < pixels->height; ++y) {
        for (int x = left; x < right; ++x) {
            const unsigned char *const pixel = pixels->bytes + y * pixels->stride + 4 * x;
            count += pixel[more] > pixel[less] + 40;
        }
    }
    return count;
}

/// A bone along the vertical, which is z, at a distance towards the viewer.
static picture_bone post(float towards, uint32_t figure)
{
    return (picture_bone){{towards, 0, 0}, {towards, 0, 4}, 0.6F, 0.6F, figure, 0};
}

// Figure 0 is blue, figure 1 is green, and figure 4 is red.
TEST(colours_tell_figures_apart)
{
    const struct {
        uint32_t figure;
        int more, less;
    } cases[] = {{0, 0, 2}, {1, 1, 0}, {4, 2, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        picture_bone bone = post(0, cases[i].figure);
        const picture_panel panel = {.bones = &bone,
                                     .bone_count = 1,
                                     .figure_count = 1,
                                     .closeup = cases[i].figure,
                                     .mark_label = "",
                                     .up_axis = 2};
        picture_pixels pixels = draw(&panel, 1);

        ck_assert_int_eq(pixels.width, PICTURE_WIDTH);
        ck_assert_int_eq(pixels.height, PICTURE_HEIGHT);
        ck_assert_uint_gt(count_tinted(&pixels, 0, PICTURE_WIDTH, cases[i].more, cases[i].less),
                          5000);
        ck_assert_uint_eq(count_tinted(&pixels, 0, PICTURE_WIDTH, cases[i].less, cases[i].more), 0);
        release(&pixels);
    }
}

TEST(near_bones_cover_far_ones)
{
    picture_bone bones[2];

    for (int order = 0; order < 2; ++order) {
        const picture_panel panel = {.bones = bones,
                                     .bone_count = 2,
                                     .figure_count = 2,
                                     .closeup = 9,
                                     .mark_label = "",
                                     .up_axis = 2};
        picture_bone *const near = &bones[order], *const far = &bones[1 - order];

        // Along the direction of view, so that the near post hides the far one.
        *near = (picture_bone){{0.814F, 0.581F, 0}, {0.814F, 0.581F, 4}, 0.6F, 0.6F, 4, 0};
        *far = (picture_bone){{-0.814F, -0.581F, 0.8F}, {-0.814F, -0.581F, 3.2F}, 0.3F, 0.3F, 0, 0};
        picture_pixels pixels = draw(&panel, 1);

        ck_assert_uint_gt(count_tinted(&pixels, 0, PICTURE_WIDTH, 2, 0), 5000);
        ck_assert_uint_eq(count_tinted(&pixels, 0, PICTURE_WIDTH, 0, 2), 0);
        release(&pixels);
    }
}

TEST(a_figure_is_drawn_large_beside_all)
{
    picture_bone bones[2] = {post(0, 0), post(0, 4)};
    bones[1].from[1] = bones[1].to[1] = 6;
    const picture_panel panel = {.bones = bones,
                                 .bone_count = 2,
                                 .figure_count = 2,
                                 .closeup = 4,
                                 .mark_label = "",
                                 .up_axis = 2};
    picture_pixels pixels = draw(&panel, 1);
    const int middle = PICTURE_WIDTH * 3 / 10;

    ck_assert_uint_gt(count_tinted(&pixels, 0, middle, 2, 0), 5000);
    ck_assert_uint_eq(count_tinted(&pixels, 0, middle, 0, 2), 0);
    ck_assert_uint_gt(count_tinted(&pixels, middle, PICTURE_WIDTH, 2, 0), 1000);
    ck_assert_uint_gt(count_tinted(&pixels, middle, PICTURE_WIDTH, 0, 2), 1000);
    release(&pixels);
}

TEST(nothing_stops_the_drawing)
{
    picture_bone bones[] = {
        {{0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0},
        {{0, 0, 0}, {3e38F, -3e38F, 3e38F}, 1, 1, 1, 0},
        {{0, 0, 0}, {1e-38F, 0, 0}, 1, 3e38F, 2, 0},
        {{0, 0, 0}, {INFINITY, 0, NAN}, 1, 1, 3, 0},
    };
    picture_panel panels[6];

    for (size_t i = 0; i < sizeof panels / sizeof *panels; ++i) {
        panels[i] = (picture_panel){.bones = bones,
                                    .bone_count = i % 5,
                                    .figure_count = i,
                                    .closeup = (uint32_t)(i % 4),
                                    .mark_label = "",
                                    .up_axis = i % 2 == 0 ? 1 : 2,
                                    .title = "a\tb \xff \xc3\xa4"};
        memset(panels[i].caption, 'm', sizeof panels[i].caption - 1);
    }
    picture_pixels pixels = draw(panels, sizeof panels / sizeof *panels);

    ck_assert_int_eq(pixels.height, 6 * PICTURE_HEIGHT);
    release(&pixels);
}

TEST(many_panels_fit_into_one_file)
{
    picture_panel panels[40];

    for (size_t i = 0; i < sizeof panels / sizeof *panels; ++i) {
        panels[i] = (picture_panel){.mark_label = "", .up_axis = 2};
    }
    picture_pixels pixels = draw(panels, sizeof panels / sizeof *panels);

    ck_assert_int_eq(pixels.width, PICTURE_WIDTH);
    ck_assert_int_eq(pixels.height, 32000);
    release(&pixels);
}

TEST(a_refusal_has_its_reason)
{
    picture_bone bone = post(0, 0);
    const picture_panel panel = {
        .bones = &bone, .bone_count = 1, .figure_count = 1, .mark_label = "", .up_axis = 2};
    tool_fault fault = {""};

    ck_assert(picture_is_built());
    ck_assert(!picture_write("/nowhere/at/all.png", &panel, 1, &fault));
    ck_assert(strstr(fault.text, "/nowhere/at/all.png") != NULL);
    cairo_debug_reset_static_data();
}

#else

TEST(without_cairo_pictures_are_refused)
{
    tool_fault fault = {""};

    ck_assert(!picture_is_built());
    ck_assert(!picture_write("/dev/null", NULL, 0, &fault));
    ck_assert_ptr_ne(strstr(fault.text, "Cairo"), NULL);
}

#endif
