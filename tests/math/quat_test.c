// SPDX-License-Identifier: MIT
// Rotations as values, against long double arithmetic and by hand; euler_test.c and lerp_test.c have Euler
// angles and interpolation.
#include "tests/math/rotations.h"
#include "tests/runner.h"

enum { ROUNDS = 100000 };

// --- Components and products ---

TEST(components_come_in_the_order_that_is_named)
{
    const float unchanged[4] = {0, 0, 0, 1}, xyzw[4] = {2, 3, 4, 1}, wxyz[4] = {1, 2, 3, 4};
    float q[4] = {9, 9, 9, 9}, back[4];

    espl_quat_identity(q);
    ck_assert_mem_eq(q, unchanged, sizeof q);
    espl_quat_from_wxyz(1, 2, 3, 4, q);
    ck_assert_mem_eq(q, xyzw, sizeof q);
    espl_quat_to_wxyz(q, back);
    ck_assert_mem_eq(back, wxyz, sizeof back);
    espl_quat_to_wxyz(q, q);
    ck_assert_mem_eq(q, wxyz, sizeof q);
}

TEST(product_is_that_of_transforms)
{
    uint64_t random = 1;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform parent = espl_transform_identity(), local = parent;
        long double a[4], b[4], expected[4];
        float product[4];

        any_rotation(parent.rotation, &random);
        any_rotation(local.rotation, &random);
        const espl_transform world = espl_transform_compose(&parent, &local);

        espl_quat_multiply(parent.rotation, local.rotation, product);
        ck_assert_mem_eq(product, world.rotation, sizeof product);
        widen_long(a, parent.rotation, 4);
        widen_long(b, local.rotation, 4);
        multiply_long(expected, a, b);
        is_near_quat(product, expected, 1.5e-7);

        espl_quat_multiply(parent.rotation, local.rotation, parent.rotation);
        ck_assert_mem_eq(product, parent.rotation, sizeof product);
    }
}

TEST(rotated_vector_is_that_of_transforms)
{
    uint64_t random = 2;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = any_transform(&random);
        double m[3][3];
        float v[3], expected[3], out[3], back[3], inverse[4];

        for (int k = 0; k < 3; ++k) {
            v[k] = test_between(&random, -10, 10);
        }
        espl_transform_convert(&frame, ESPL_DIRECTION_TO_WORLD, v, expected);
        espl_quat_rotate(frame.rotation, v, out);
        ck_assert_mem_eq(out, expected, sizeof out);
        oracle_matrix(m, frame.rotation);
        for (int row = 0; row < 3; ++row) {
            const double exact =
                m[row][0] * (double)v[0] + m[row][1] * (double)v[1] + m[row][2] * (double)v[2];

            ck_assert_double_eq_tol((double)out[row], exact, 1e-5);
        }

        espl_quat_conjugate(frame.rotation, inverse);
        espl_quat_rotate(inverse, out, back);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq_tol(back[k], v[k], 2e-5f);
        }
        espl_quat_rotate(frame.rotation, v, v);
        ck_assert_mem_eq(v, expected, sizeof v);
    }
}

TEST(conjugate_is_the_inverse)
{
    const float expected[4] = {-1, 2, -3, 4};
    float q[4] = {1, -2, 3, 4}, turn[4], product[4];
    uint64_t random = 3;

    espl_quat_conjugate(q, q);
    ck_assert_mem_eq(q, expected, sizeof q);
    for (int i = 0; i < 1000; ++i) {
        const long double unchanged[4] = {0, 0, 0, 1};

        any_rotation(turn, &random);
        espl_quat_conjugate(turn, q);
        espl_quat_multiply(turn, q, product);
        is_near_quat(product, unchanged, 3e-7);
    }
}

TEST(normalized_quaternion_is_that_of_transforms)
{
    uint64_t random = 4;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform t = espl_transform_identity();
        const int power = (int)test_below(&random, 200) - 100;
        float q[4];

        any_rotation(t.rotation, &random);
        for (int k = 0; k < 4; ++k) {
            t.rotation[k] = i % 2 == 0 ? t.rotation[k] : ldexpf(t.rotation[k], power);
        }
        memcpy(q, t.rotation, sizeof q);
        ck_ok(espl_transform_normalize(&t));
        ck_ok(espl_quat_normalize(q));
        ck_assert_mem_eq(q, t.rotation, sizeof q);
    }
    for (int i = 0; i < BAD_QUATS; ++i) {
        float q[4];

        memcpy(q, bad_quats[i], sizeof q);
        ck_status(espl_quat_normalize(q), ESPL_ERR_NOT_FINITE);
        ck_assert_mem_eq(q, bad_quats[i], sizeof q);
    }
}

// --- Axis and angle ---

static void is_axis_angle(const float q[static 4], const float axis[static 3], float angle)
{
    const long double half = (long double)angle / 2;
    long double along[3];

    unit_long(along, axis, 3);
    for (int k = 0; k < 3; ++k) {
        ck_assert_double_le(ulps_off(q[k], along[k] * sinl(half)), 0.51);
    }
    ck_assert_double_le(ulps_off(q[3], cosl(half)), 0.51);
    is_kept_by_normalize(q);
}

TEST(axis_and_angle_make_their_rotation)
{
    uint64_t random = 5;

    for (int i = 0; i < ROUNDS; ++i) {
        const float angle = i % 2 == 0 ? any_finite(&random) : test_between(&random, -7, 7);
        float axis[3], q[4];

        any_direction(axis, &random);
        ck_ok(espl_quat_from_axis_angle(axis, angle, q));
        is_axis_angle(q, axis, angle);
    }
}

TEST(positive_angle_turns_each_axis_towards_the_next)
{
    for (int i = 0; i < 3; ++i) {
        const float axis[3] = {i == 0, i == 1, i == 2};
        const float before[3] = {i == 2, i == 0, i == 1}, after[3] = {i == 1, i == 2, i == 0};
        float q[4], out[3];

        ck_ok(espl_quat_from_axis_angle(axis, 0x1.921fb6p+0f, q));
        espl_quat_rotate(q, before, out);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq_tol(out[k], after[k], 2e-7f);
        }
    }
}

TEST(rotation_tells_its_axis_and_angle)
{
    uint64_t random = 6;

    for (int i = 0; i < ROUNDS; ++i) {
        const int power = -(int)test_below(&random, 40);
        long double exact[4];
        float q[4], axis[3], angle = -1;

        any_rotation(q, &random);
        for (int k = 0; k < 4; ++k) {
            q[k] = (k == 3) == (i % 2 == 0) ? ldexpf(q[k], power) : q[k];
        }
        ck_ok(espl_quat_to_axis_angle(q, axis, &angle));
        unit_long(exact, q, 4);
        const long double length = length_long(exact, 3), sign = q[3] < 0 ? -1 : 1;

        ck_assert_double_le(ulps_off(angle, 2 * atan2l(length, fabsl(exact[3]))), 0.5001);
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_le(ulps_off(axis[k], sign * exact[k] / length), 0.5001);
        }
    }
}

TEST(axis_and_angle_come_back)
{
    uint64_t random = 7;

    for (int i = 0; i < ROUNDS; ++i) {
        const float angle = test_between(&random, 0.001f, 3.1415f);
        long double unit[3];
        float axis[3], q[4], back[3], turned = -1;

        any_direction(axis, &random);
        ck_ok(espl_quat_from_axis_angle(axis, angle, q));
        ck_ok(espl_quat_to_axis_angle(q, back, &turned));
        ck_assert_float_eq_tol(turned, angle, 3e-7f);
        unit_long(unit, axis, 3);
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_le((double)fabsl((long double)back[k] - unit[k]), 1.3e-7);
        }
        // The other quaternion of the same rotation tells the same.
        for (int k = 0; k < 4; ++k) {
            q[k] = -q[k];
        }
        float again[3], other = -1;

        ck_ok(espl_quat_to_axis_angle(q, again, &other));
        ck_assert_mem_eq(again, back, sizeof back);
        ck_assert_float_eq(other, turned);
    }
}

TEST(rotations_without_axis_and_half_turns_are_defined)
{
    const struct {
        float q[4], axis[3], angle;
    } cases[] = {
        {{0, 0, 0, 1}, {1, 0, 0}, 0},
        {{0, 0, 0, -3}, {1, 0, 0}, 0},
        {{0, 5, 0, 0}, {0, 1, 0}, 0x1.921fb6p+1f},
        {{0, 0, -1, -0.0f}, {0, 0, -1}, 0x1.921fb6p+1f},
        {{0, 0, -2, -2}, {0, 0, 1}, 0x1.921fb6p+0f},
        {{0x1p-149f, 0, 0, 1}, {1, 0, 0}, 0x1p-148f},
        {{0, 0x1p-149f, 0, 0}, {0, 1, 0}, 0x1.921fb6p+1f},
        {{FLT_MAX, 0, 0, FLT_MAX}, {1, 0, 0}, 0x1.921fb6p+0f},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        float axis[3], angle = -1;

        ck_ok(espl_quat_to_axis_angle(cases[i].q, axis, &angle));
        ck_assert_float_eq(angle, cases[i].angle);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq(axis[k], cases[i].axis[k]);
        }
    }
}

TEST(bad_axes_angles_and_quaternions_are_refused)
{
    const float fine[3] = {1, 2, 3}, numbers[] = {NAN, INFINITY, -INFINITY};
    float q[4], axis[3], angle = 5;

    memcpy(q, mark, sizeof q);
    memcpy(axis, mark, sizeof axis);
    for (int i = 0; i < BAD_DIRECTIONS; ++i) {
        ck_status(espl_quat_from_axis_angle(bad_directions[i], 1, q), ESPL_ERR_NOT_FINITE);
    }
    for (int i = 0; i < 3; ++i) {
        ck_status(espl_quat_from_axis_angle(fine, numbers[i], q), ESPL_ERR_NOT_FINITE);
    }
    for (int i = 0; i < BAD_QUATS; ++i) {
        ck_status(espl_quat_to_axis_angle(bad_quats[i], axis, &angle), ESPL_ERR_NOT_FINITE);
    }
    ck_assert_mem_eq(q, mark, sizeof q);
    ck_assert_mem_eq(axis, mark, sizeof axis);
    ck_assert_float_eq(angle, 5);
}

// --- From one direction to another ---

static void between_long(long double out[static 4], const float from[static 3],
                         const float to[static 3])
{
    long double a[3], b[3], across[3];

    widen_long(a, from, 3);
    widen_long(b, to, 3);
    cross_long(across, a, b);
    const long double size = length_long(across, 3), half = atan2l(size, dot_long(a, b, 3)) / 2;

    for (int i = 0; i < 3; ++i) {
        out[i] = size > 0 ? across[i] / size * sinl(half) : 0;
    }
    out[3] = cosl(half);
}

static void takes(const float q[static 4], const float from[static 3], const float to[static 3])
{
    const float unit[4] = {from[0], from[1], from[2], 0};
    long double b[3];
    float a[4], out[3];

    memcpy(a, unit, sizeof a);
    ck_ok(espl_quat_normalize(a));
    unit_long(b, to, 3);
    espl_quat_rotate(q, a, out);
    for (int k = 0; k < 3; ++k) {
        ck_assert_double_le((double)fabsl((long double)out[k] - b[k]), 5e-7);
    }
}

TEST(one_direction_goes_to_the_other_by_the_shortest_way)
{
    uint64_t random = 13;

    for (int i = 0; i < ROUNDS; ++i) {
        long double expected[4];
        float from[3], to[3], q[4];

        any_direction(from, &random);
        any_direction(to, &random);
        ck_ok(espl_quat_between(from, to, q));
        between_long(expected, from, to);
        is_near_quat(q, expected, COMPONENT_ERROR);
        is_kept_by_normalize(q);
        takes(q, from, to);
    }
}

// Almost parallel and almost opposite, down to the last bit: the axis does not get lost.
TEST(directions_close_to_one_line_keep_their_axis)
{
    uint64_t random = 14;

    for (int i = 0; i < ROUNDS; ++i) {
        const float side = i % 2 == 0 ? 1 : -1;
        const int power = (int)test_below(&random, 21) + 1;
        long double expected[4];
        float from[3], to[3], q[4];

        any_direction(from, &random);
        const float size = fabsf(from[0]) + fabsf(from[1]) + fabsf(from[2]);

        for (int k = 0; k < 3; ++k) {
            to[k] = side * from[k] + ldexpf(size * test_between(&random, 0.5f, 1), -power);
        }
        between_long(expected, from, to);
        if (expected[3] < 0x1p-23) {
            continue;
        }
        ck_ok(espl_quat_between(from, to, q));
        is_near_quat(q, expected, COMPONENT_ERROR);
    }
}

TEST(same_direction_is_no_rotation)
{
    uint64_t random = 15;

    for (int i = 0; i < 1000; ++i) {
        const float unchanged[4] = {0, 0, 0, 1};
        float from[3], q[4];

        any_direction(from, &random);
        const float to[3] = {from[0] * 4, from[1] * 4, from[2] * 4};

        ck_ok(espl_quat_between(from, to, q));
        for (int k = 0; k < 4; ++k) {
            ck_assert_float_eq(q[k], unchanged[k]);
        }
    }
}

TEST(opposite_directions_are_a_half_turn_about_what_is_nearest_to_up)
{
    const struct {
        float from[3], q[4];
    } cases[] = {
        {{1, 0, 0}, {0, 1, 0, 0}},
        {{0, 0, -7}, {0, 1, 0, 0}},
        {{0, 3, 0}, {0, 0, 1, 0}},
        {{0, -3, 0}, {0, 0, 1, 0}},
        {{1e-6f, 1, 0}, {0, 0, 1, 0}},
        {{3, 4, 0}, {-0.8f, 0.6f, 0, 0}},
        {{3e20f, -4e20f, 0}, {0.8f, 0.6f, 0, 0}},
        {{0x1p-149f, 0, 0}, {0, 1, 0, 0}},
        {{0, FLT_MAX, 0}, {0, 0, 1, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const float *const from = cases[i].from;
        const float to[3] = {-from[0], -from[1], -from[2]};
        float q[4];

        ck_ok(espl_quat_between(from, to, q));
        for (int k = 0; k < 4; ++k) {
            ck_assert_float_eq_tol(q[k], cases[i].q[k], 1e-6f);
        }
        takes(q, from, to);
        is_kept_by_normalize(q);
    }
}

// Opposite but for rounding: the same half turn, whichever bits the rounding left.
TEST(rounding_does_not_choose_the_axis_of_a_half_turn)
{
    uint64_t random = 16;

    for (int i = 0; i < ROUNDS; ++i) {
        float from[4], to[3], q[4], exact[4];

        any_rotation(from, &random);
        from[3] = 0;
        ck_ok(espl_quat_normalize(from));
        for (int k = 0; k < 3; ++k) {
            to[k] = -from[k];
        }
        ck_ok(espl_quat_between(from, to, exact));
        to[test_below(&random, 3)] += 0x1p-24f;
        ck_ok(espl_quat_between(from, to, q));
        ck_assert_mem_eq(q, exact, sizeof q);
        takes(q, from, to);
    }
}

TEST(directions_of_any_length_are_taken)
{
    const float sizes[] = {0x1p-149f, 0x1p-126f, 1e-20f, 1, 1e20f, FLT_MAX};
    const float half = 0.70710678f;

    for (int i = 0; i < 36; ++i) {
        const float from[3] = {sizes[i % 6], 0, 0}, to[3] = {0, sizes[i / 6], 0};
        float q[4];

        ck_ok(espl_quat_between(from, to, q));
        ck_assert(q[0] == 0 && q[1] == 0 && q[2] == half && q[3] == half);
    }
}

TEST(bad_directions_are_refused)
{
    const float fine[3] = {1, 2, 3};
    float q[4];

    memcpy(q, mark, sizeof q);
    for (int i = 0; i < BAD_DIRECTIONS; ++i) {
        ck_status(espl_quat_between(bad_directions[i], fine, q), ESPL_ERR_NOT_FINITE);
        ck_status(espl_quat_between(fine, bad_directions[i], q), ESPL_ERR_NOT_FINITE);
    }
    ck_assert_mem_eq(q, mark, sizeof q);
}
