// SPDX-License-Identifier: MIT
// Sampling of keys, by the code that moves the library's nodes and by the oracle's: values hold before
// the first and after the last key, and between keys they are what glTF says.
#include "tools/channel.h"
#include "tools/random.h"
#include "tools/truth.h"

#include "tests/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double half_root = 0.7071067811865476;

/// A channel with keys at 1 and 3 seconds: from (0,0,0) to (4,0,-2), a quarter turn about y, and
/// from scale 1 to 3.
static tool_channel make_channel(void)
{
    const double turned[4] = {0, half_root, 0, half_root};
    tool_channel out = {0};

    ck_assert(key_track_reserve(&out.position, 2, KEYS_LINEAR));
    ck_assert(key_track_reserve(&out.rotation, 2, KEYS_LINEAR));
    ck_assert(key_track_reserve(&out.scale, 2, KEYS_LINEAR));
    out.position.times[0] = out.rotation.times[0] = out.scale.times[0] = 1;
    out.position.times[1] = out.rotation.times[1] = out.scale.times[1] = 3;
    out.position.values[1][0] = 4;
    out.position.values[1][2] = -2;
    out.rotation.values[0][3] = 1;
    memcpy(out.rotation.values[1], turned, sizeof turned);
    for (int i = 0; i < 3; ++i) {
        out.scale.values[0][i] = 1;
        out.scale.values[1][i] = 3;
    }
    return out;
}

TEST(ends_hold_outside_the_keys)
{
    tool_channel channel = make_channel();

    const tool_placement early = channel_sample(&channel, 0);
    const tool_placement late = channel_sample(&channel, 99);
    ck_assert_double_eq(early.position[0], 0);
    ck_assert_double_eq(early.rotation[3], 1);
    ck_assert_double_eq(late.position[0], 4);
    ck_assert_double_eq_tol(late.rotation[1], half_root, 1e-15);
    ck_assert_double_eq(late.scale, 3);
    channel_release(&channel);
}

TEST(halfway_is_half_of_everything)
{
    tool_channel channel = make_channel();

    const tool_placement middle = channel_sample(&channel, 2);
    ck_assert_double_eq(middle.position[0], 2);
    ck_assert_double_eq(middle.position[2], -1);
    ck_assert_double_eq(middle.scale, 2);
    ck_assert_double_eq_tol(middle.rotation[1], sin(M_PI / 8), 1e-15);
    ck_assert_double_eq_tol(middle.rotation[3], cos(M_PI / 8), 1e-15);
    channel_release(&channel);
}

TEST(turns_take_the_shorter_way)
{
    tool_channel channel = make_channel();

    for (int i = 0; i < 4; ++i) {
        channel.rotation.values[1][i] = -channel.rotation.values[1][i];
    }
    const tool_placement middle = channel_sample(&channel, 2);
    ck_assert_double_eq_tol(fabs(middle.rotation[3]), cos(M_PI / 8), 1e-15);
    channel_release(&channel);
}

TEST(equal_rotations_do_not_divide_by_zero)
{
    tool_channel channel = make_channel();

    memcpy(channel.rotation.values[1], channel.rotation.values[0], 4 * sizeof(double));
    const tool_placement middle = channel_sample(&channel, 2);
    ck_assert_double_eq(middle.rotation[3], 1);
    channel_release(&channel);
}

TEST(uneven_scale_keys_become_a_stretch)
{
    tool_channel channel = make_channel();

    channel.scale.values[1][1] = 5;
    const tool_placement late = channel_sample(&channel, 3);
    ck_assert_double_eq(late.scale, 1);
    ck_assert_double_eq(late.stretch[0], 3);
    ck_assert_double_eq(late.stretch[1], 5);
    channel_release(&channel);
}

/// Both samplings of one moment, compared entry by entry.
static double disagreement(const tool_channel *channel, double seconds)
{
    const tool_placement place = channel_sample(channel, seconds);
    const tool_affine played = affine_of_placement(&place);
    const tool_affine truth = truth_of_channel(channel, seconds);
    double largest = 0;

    for (int i = 0; i < 12; ++i) {
        const double difference = fabs(played.m[i / 4][i % 4] - truth.m[i / 4][i % 4]);
        largest = difference <= largest ? largest : difference; // keeps a NaN
    }
    return largest;
}

static void fill_at_random(key_track *track, size_t count, key_form form, random_stream *stream,
                           bool is_rotation)
{
    const size_t rows = form == KEYS_CUBIC ? 3 : 1;

    ck_assert(key_track_reserve(track, count, form));
    for (size_t i = 0; i < count; ++i) {
        track->times[i] = (double)i * 0.5 + 0.4 * random_unit(stream);
        for (size_t j = 0; j < rows; ++j) {
            double *const value = track->values[rows * i + j];

            for (int k = 0; k < 4; ++k) {
                value[k] = random_unit(stream) - 0.5;
            }
            if (is_rotation && j == rows / 2) {
                quaternion_normalize(value);
                value[0] *= 1 + CHANNEL_UNIT / 2;
            }
        }
    }
}

TEST(both_samplings_agree_for_random_keys_of_every_form)
{
    random_stream stream = {21};

    for (int trial = 0; trial < 300; ++trial) {
        tool_channel channel = {0};
        double worst = 0;

        fill_at_random(&channel.position, 1 + (size_t)trial % 5, (key_form)(trial % 3), &stream,
                       false);
        fill_at_random(&channel.rotation, 1 + (size_t)trial % 7, (key_form)(trial / 3 % 3), &stream,
                       true);
        fill_at_random(&channel.scale, 1 + (size_t)trial % 4, (key_form)(trial / 9 % 3), &stream,
                       false);
        for (int i = -2; i < 40; ++i) {
            worst = fmax(worst, disagreement(&channel, i * 0.1));
        }
        for (size_t i = 0; i < channel.rotation.count; ++i) {
            worst = fmax(worst, disagreement(&channel, channel.rotation.times[i]));
        }
        ck_assert_double_lt(worst, 1e-12);
        channel_release(&channel);
    }
}

TEST(a_step_holds_the_key_before_it)
{
    tool_channel channel = make_channel();

    channel.position.form = channel.rotation.form = channel.scale.form = KEYS_STEP;
    for (double seconds = 0; seconds < 2.9999; seconds += 0.37) {
        const tool_placement early = channel_sample(&channel, seconds);
        const tool_affine truth = truth_of_channel(&channel, seconds);

        ck_assert_double_eq(early.position[0], 0);
        ck_assert_double_eq(early.rotation[3], 1);
        ck_assert_double_eq(early.scale, 1);
        ck_assert_double_eq(truth.m[0][3], 0);
        ck_assert_double_eq(truth.m[0][0], 1);
    }
    const tool_placement late = channel_sample(&channel, 3);
    ck_assert_double_eq(late.position[0], 4);
    ck_assert_double_eq_tol(late.rotation[1], half_root, 1e-15);
    ck_assert_double_eq(truth_of_channel(&channel, 3).m[0][3], 4);
    channel_release(&channel);
}

// From 10 at second 1 to 20 at second 3, leaving at 3 a second and arriving at -1 a second. Halfway
// Hermite's curve is (10 + 20) / 2 + 2 * (3 - (-1)) / 8 = 16.
TEST(tangents_of_a_curve_are_per_second)
{
    tool_channel channel = make_channel();

    free(channel.position.times);
    free(channel.position.values);
    ck_assert(key_track_reserve(&channel.position, 2, KEYS_CUBIC));
    channel.position.times[0] = 1;
    channel.position.times[1] = 3;
    channel.position.values[1][0] = 10;
    channel.position.values[2][0] = 3;
    channel.position.values[3][0] = -1;
    channel.position.values[4][0] = 20;
    ck_assert_double_eq(channel_sample(&channel, 2).position[0], 16);
    ck_assert_double_eq(truth_of_channel(&channel, 2).m[0][3], 16);
    ck_assert_double_eq(channel_sample(&channel, 0).position[0], 10);
    ck_assert_double_eq(channel_sample(&channel, 3).position[0], 20);
    ck_assert_double_eq(truth_of_channel(&channel, 9).m[0][3], 20);
    channel_release(&channel);
}

TEST(scale_keys_that_are_nearly_even_are_a_scale)
{
    tool_channel channel = make_channel();

    for (int i = 0; i < 3; ++i) {
        channel.scale.values[0][i] = channel.scale.values[1][i] = 100;
    }
    channel.scale.values[0][2] = channel.scale.values[1][2] = 100.00001;
    const tool_placement place = channel_sample(&channel, 2);
    ck_assert(placement_is_even(&place));
    ck_assert_double_eq_tol(place.scale, 100, 1e-5);
    ck_assert_double_lt(disagreement(&channel, 2), 1e-5);
    channel_release(&channel);
}

TEST(scale_keys_of_any_signs_have_the_matrix_of_the_file)
{
    for (int signs = 0; signs < 27; ++signs) {
        tool_channel channel = make_channel();
        const double axes[3] = {signs % 3 - 1, signs / 3 % 3 - 1, signs / 9 - 1};

        memcpy(channel.scale.values[0], axes, sizeof axes);
        memcpy(channel.scale.values[1], axes, sizeof axes);
        ck_assert_double_lt(disagreement(&channel, 2), 1e-15);
        if (axes[0] * axes[1] * axes[2] != 0) {
            const tool_placement place = channel_sample(&channel, 2);
            ck_assert(placement_is_even(&place));
        }
        channel_release(&channel);
    }
}

// A quarter turn about y between two offsets, then twice the size: worked out by hand.
TEST(channels_of_one_node_are_a_product_with_their_constant_matrices)
{
    tool_channel channels[3] = {make_channel(), make_channel(), make_channel()};

    channels[0].node = channels[1].node = 4;
    channels[2].node = 5;
    channels[0].has_frame = true;
    channels[0].before = channels[0].after = affine_identity();
    channels[0].before.m[1][3] = 10;
    channels[0].after.m[0][3] = 1;
    memcpy(channels[1].rotation.values[1], channels[1].rotation.values[0], 4 * sizeof(double));
    ck_assert_uint_eq(channels_of_node(channels, 3), 2);

    // At the last key: turned, 3 times as large, at (4, 0, -2); the second one is not turned.
    const tool_placement place = channels_sample(channels, 2, 3);
    const tool_affine first = truth_of_channel(&channels[0], 3);
    const tool_affine second = truth_of_channel(&channels[1], 3);
    const tool_affine truth = affine_multiply(&first, &second);
    const double position[3] = {4 + 3 * -2, 10, -2 - 3 * (1 + 4)};
    ck_assert_double_eq_tol(place.scale, 9, 1e-12);
    ck_assert_double_eq_tol(place.rotation[1], half_root, 1e-12);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(place.position[i], position[i], 1e-12);
        ck_assert_double_eq_tol(truth.m[i][3], position[i], 1e-12);
    }
    for (int i = 0; i < 3; ++i) {
        channel_release(&channels[i]);
    }
}

static void refuses(const tool_channel *channel, const char *cause)
{
    tool_fault fault = {""};

    ck_assert(!channel_is_playable(channel, "wheel", &fault));
    ck_assert_msg(strstr(fault.text, cause) != NULL, "%s", fault.text);
    ck_assert_ptr_nonnull(strstr(fault.text, "node 'wheel': "));
}

TEST(a_rotation_key_that_is_no_rotation_is_refused_by_its_node)
{
    static const double broken[][4] = {
        {0, 0, 0, 0}, {0, 0, 0, 0.98}, {1, 1, 0, 0}, {1e16, 0, 0, 0}};
    tool_fault fault = {""};

    for (size_t i = 0; i < sizeof broken / sizeof *broken; ++i) {
        tool_channel channel = make_channel();

        ck_assert(channel_is_playable(&channel, "wheel", &fault));
        memcpy(channel.rotation.values[1], broken[i], sizeof broken[i]);
        refuses(&channel, "rotation key 2 is no rotation: its length is ");
        channel_release(&channel);
    }
}

TEST(keys_that_are_not_finite_or_run_backwards_are_refused)
{
    tool_channel channel = make_channel();

    channel.rotation.values[0][1] = NAN;
    refuses(&channel, "rotation key 1 is not finite");
    channel_release(&channel);
    channel = make_channel();
    channel.scale.values[1][2] = INFINITY;
    refuses(&channel, "scale key 2 is not finite");
    channel_release(&channel);
    channel = make_channel();
    channel.position.times[1] = 0.5;
    refuses(&channel, "position key 2 comes before the key in front of it");
    channel_release(&channel);
}
