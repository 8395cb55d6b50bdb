// SPDX-License-Identifier: MIT
// Sampling of keys: values hold before the first and after the last key, values between keys are
// interpolated, and rotations take the shorter way.
#include "tools/channel.h"

#include "tests/runner.h"

#include <math.h>
#include <string.h>

static const double half_root = 0.7071067811865476;

/// A channel with keys at 1 and 3 seconds: from (0,0,0) to (4,0,-2), a quarter turn about y, and
/// from scale 1 to 3.
static tool_channel make_channel(void)
{
    const double turned[4] = {0, half_root, 0, half_root};
    tool_channel out = {0};

    ck_assert(key_track_reserve(&out.position, 2));
    ck_assert(key_track_reserve(&out.rotation, 2));
    ck_assert(key_track_reserve(&out.scale, 2));
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
    const tool_placement rest = placement_identity();
    tool_channel channel = make_channel();

    const tool_placement early = channel_sample(&channel, &rest, 0);
    const tool_placement late = channel_sample(&channel, &rest, 99);
    ck_assert_double_eq(early.position[0], 0);
    ck_assert_double_eq(early.rotation[3], 1);
    ck_assert_double_eq(late.position[0], 4);
    ck_assert_double_eq_tol(late.rotation[1], half_root, 1e-15);
    ck_assert_double_eq(late.scale, 3);
    channel_release(&channel);
}

TEST(halfway_is_half_of_everything)
{
    const tool_placement rest = placement_identity();
    tool_channel channel = make_channel();

    const tool_placement middle = channel_sample(&channel, &rest, 2);
    ck_assert_double_eq(middle.position[0], 2);
    ck_assert_double_eq(middle.position[2], -1);
    ck_assert_double_eq(middle.scale, 2);
    ck_assert_double_eq_tol(middle.rotation[1], sin(M_PI / 8), 1e-15);
    ck_assert_double_eq_tol(middle.rotation[3], cos(M_PI / 8), 1e-15);
    channel_release(&channel);
}

TEST(turns_take_the_shorter_way)
{
    const tool_placement rest = placement_identity();
    tool_channel channel = make_channel();

    for (int i = 0; i < 4; ++i) {
        channel.rotation.values[1][i] = -channel.rotation.values[1][i];
    }
    const tool_placement middle = channel_sample(&channel, &rest, 2);
    ck_assert_double_eq_tol(fabs(middle.rotation[3]), cos(M_PI / 8), 1e-15);
    channel_release(&channel);
}

TEST(equal_rotations_do_not_divide_by_zero)
{
    const tool_placement rest = placement_identity();
    tool_channel channel = make_channel();

    memcpy(channel.rotation.values[1], channel.rotation.values[0], 4 * sizeof(double));
    const tool_placement middle = channel_sample(&channel, &rest, 2);
    ck_assert_double_eq(middle.rotation[3], 1);
    channel_release(&channel);
}

TEST(uneven_scale_keys_become_a_stretch)
{
    const tool_placement rest = placement_identity();
    tool_channel channel = make_channel();

    channel.scale.values[1][1] = 5;
    const tool_placement late = channel_sample(&channel, &rest, 3);
    ck_assert_double_eq(late.scale, 1);
    ck_assert_double_eq(late.stretch[0], 3);
    ck_assert_double_eq(late.stretch[1], 5);
    channel_release(&channel);
}

TEST(part_without_keys_stays_at_rest)
{
    tool_placement rest = placement_identity();
    tool_channel channel = {0};

    rest.position[1] = 7;
    rest.scale = 2;
    const tool_placement out = channel_sample(&channel, &rest, 1);
    ck_assert_mem_eq(&out, &rest, sizeof rest);
    channel_release(&channel);
}
