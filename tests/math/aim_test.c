// SPDX-License-Identifier: MIT
// Axes, mirroring, look-at and turning about a point, against the double oracle and by hand.
#include "lib/math/pose.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <float.h>

enum { ROUNDS = 10000, AXIS_COUNT = 6 };

static void any_point(float out[static 3], uint64_t *random)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = test_between(random, -100, 100);
    }
}

static double dot(const double a[static 3], const double b[static 3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(double out[static 3], const double a[static 3], const double b[static 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

static void to_unit_length(double v[static 3])
{
    const double length = sqrt(dot(v, v));

    for (int i = 0; i < 3; ++i) {
        v[i] /= length;
    }
}

static bool is_same_but_rotation(const espl_transform *a, const espl_transform *b)
{
    espl_transform turned = *a;

    memcpy(turned.rotation, b->rotation, sizeof turned.rotation);
    return test_same(&turned, b);
}

// --- Axes ---

TEST(axis_is_a_unit_vector_where_the_rotation_takes_it)
{
    uint64_t random = 1;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform frame = any_transform(&random);
        double m[3][3];

        // Worlds below long chains are off unit length; the axis is not.
        for (int k = 0; k < 4; ++k) {
            frame.rotation[k] *= i % 2 == 0 ? 1 : 1.001f;
        }
        frame.scale = i % 8 == 0 ? 0 : frame.scale;
        oracle_matrix(m, frame.rotation);
        for (int axis = 0; axis < AXIS_COUNT; ++axis) {
            const double sign = axis < 3 ? 1 : -1;
            const double expected[3] = {sign * m[0][axis % 3], sign * m[1][axis % 3],
                                        sign * m[2][axis % 3]};
            float out[3];
            double wide[3];

            espl_transform_axis(&frame, (espl_axis)axis, out);
            is_near(out, expected, 1.1 * 0x1p-25);
            widen(wide, out);
            ck_assert_double_eq_tol(dot(wide, wide), 1, 2.5e-7);
        }
    }
}

TEST(axes_are_named_after_their_directions)
{
    const espl_axis axes[AXIS_COUNT] = {ESPL_AXIS_RIGHT, ESPL_AXIS_UP,   ESPL_AXIS_FORWARD,
                                        ESPL_AXIS_LEFT,  ESPL_AXIS_DOWN, ESPL_AXIS_BACK};
    const float expected[AXIS_COUNT][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                                           {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    espl_transform frame = {{0, 0, 0, 1}, {1, 2, 3}, -4, {-5, 0, 6}, 7};

    for (int i = 0; i < AXIS_COUNT; ++i) {
        float out[3];

        espl_transform_axis(&frame, axes[i], out);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq(out[k], expected[i][k]);
        }
    }
    espl_transform_axis(&frame, ESPL_AXIS_UP, frame.position);
    ck_assert(frame.position[0] == 0 && frame.position[1] == 1 && frame.position[2] == 0);
}

// --- Mirroring ---

TEST(odd_number_of_negative_axes_mirrors)
{
    for (int signs = 0; signs < 16; ++signs) {
        espl_transform t = {{0.6f, 0, 0, 0.8f}, {1, 2, 3}, 2, {3, 4, 5}, 0};
        float columns[16];
        double c[3][3], normal[3];

        t.scale = (signs & 8) != 0 ? -t.scale : t.scale;
        for (int i = 0; i < 3; ++i) {
            t.stretch[i] = (signs >> i & 1) != 0 ? -t.stretch[i] : t.stretch[i];
        }
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        for (int i = 0; i < 3; ++i) {
            widen(c[i], &columns[4 * i]);
        }
        cross(normal, c[0], c[1]);
        ck_assert_int_eq(espl_transform_is_mirrored(&t), dot(normal, c[2]) < 0);
    }
}

TEST(axis_of_zero_does_not_mirror)
{
    for (int zero = 0; zero < 4; ++zero) {
        for (int i = 0; i < 2; ++i) {
            espl_transform t = {{0, 0, 0, 1}, {0, 0, 0}, -1, {1, 1, 1}, 0};

            ck_assert(espl_transform_is_mirrored(&t));
            *(zero == 3 ? &t.scale : &t.stretch[zero]) = i == 0 ? 0 : -0.0f;
            ck_assert(!espl_transform_is_mirrored(&t));
        }
    }
}

TEST(tiny_and_huge_factors_mirror_too)
{
    const float sizes[] = {0x1p-149f, 1e-30f, 1e30f, FLT_MAX};

    for (int i = 0; i < 16; ++i) {
        const float scale = sizes[i / 4], stretch = sizes[i % 4];
        const espl_transform plain = {
            {0, 0, 0, 1}, {0, 0, 0}, -scale, {stretch, -stretch, stretch}, 0};
        const espl_transform mirrored = {
            {0, 0, 0, 1}, {0, 0, 0}, -scale, {stretch, stretch, stretch}, 0};

        ck_assert(!espl_transform_is_mirrored(&plain));
        ck_assert(espl_transform_is_mirrored(&mirrored));
    }
}

// --- Look at ---

// Forward to the target, up as near to the hint as it can be, right at right angles to both.
static void looks_at(const espl_transform *t, const float target[static 3],
                     const double hint[static 3], double tolerance)
{
    double right[3], up[3], forward[3];
    float out[3];

    for (int i = 0; i < 3; ++i) {
        forward[i] = (double)target[i] - (double)t->position[i];
    }
    to_unit_length(forward);
    cross(right, hint, forward);
    to_unit_length(right);
    cross(up, forward, right);
    espl_transform_axis(t, ESPL_AXIS_FORWARD, out);
    is_near(out, forward, tolerance);
    espl_transform_axis(t, ESPL_AXIS_RIGHT, out);
    is_near(out, right, tolerance);
    espl_transform_axis(t, ESPL_AXIS_UP, out);
    is_near(out, up, tolerance);
    ck_assert_double_eq_tol(length_of(t->rotation), 1, 2e-7);
}

TEST(forward_points_at_the_target_and_up_near_the_hint)
{
    const double plus_y[3] = {0, 1, 0};
    uint64_t random = 3;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform before = any_transform(&random);
        espl_transform t = before;
        float target[3], up[3];
        double hint[3];

        any_point(target, &random);
        any_point(up, &random);
        ck_ok(espl_transform_look_at(&t, target, NULL, ESPL_AXIS_FORWARD));
        ck_assert(is_same_but_rotation(&before, &t));
        looks_at(&t, target, plus_y, 4e-7);
        ck_ok(espl_transform_look_at(&t, target, up, ESPL_AXIS_FORWARD));
        ck_assert(is_same_but_rotation(&before, &t));
        widen(hint, up);
        looks_at(&t, target, hint, 4e-7);
    }
}

// The axis that comes near to the up direction: +Y, but +Z for what looks along Y.
static int up_axis_of(int forward)
{
    return forward % 3 == 1 ? 2 : 1;
}

TEST(any_axis_points_at_the_target)
{
    uint64_t random = 11;

    for (int i = 0; i < ROUNDS; ++i) {
        const int forward = i % AXIS_COUNT;
        espl_transform t = any_transform(&random);
        const espl_transform before = t;
        double hint[3], direction[3], side[3], up[3];
        float target[3], given[3], out[3], out_up[3], third[3];

        any_point(target, &random);
        any_point(given, &random);
        widen(hint, given);
        ck_ok(espl_transform_look_at(&t, target, given, (espl_axis)forward));
        ck_assert(is_same_but_rotation(&before, &t));
        ck_assert_double_eq_tol(length_of(t.rotation), 1, 2e-7);

        for (int k = 0; k < 3; ++k) {
            direction[k] = (double)target[k] - (double)t.position[k];
        }
        to_unit_length(direction);
        cross(side, hint, direction);
        to_unit_length(side);
        cross(up, direction, side);
        espl_transform_axis(&t, (espl_axis)forward, out);
        is_near(out, direction, 4e-7);
        espl_transform_axis(&t, (espl_axis)up_axis_of(forward), out_up);
        is_near(out_up, up, 4e-7);
        // What is left is to the side, and the three are not mirrored, or no rotation would have them.
        espl_transform_axis(&t, (espl_axis)(3 - forward % 3 - up_axis_of(forward)), third);
        ck_assert_double_eq_tol(fabs((double)third[0] * side[0] + (double)third[1] * side[1] +
                                     (double)third[2] * side[2]),
                                1, 4e-7);
    }
}

TEST(back_axis_looks_as_a_camera_of_gltf_does)
{
    const float target[3] = {0, 0, -9}, none[4] = {0, 0, 0, 1};
    espl_transform t = {{0.6f, 0, 0, 0.8f}, {0, 0, 0}, 1, {1, 1, 1}, 0};

    ck_ok(espl_transform_look_at(&t, target, NULL, ESPL_AXIS_BACK));
    for (int k = 0; k < 4; ++k) {
        ck_assert_float_eq(t.rotation[k], none[k]);
    }
}

#define HALF 0.70710678f

// From the origin to a target, with an up direction; no up direction is 0, 0, 0.
typedef struct view {
    float target[3];
    float up[3];
    float rotation[4];
} view;

static const view by_hand[] = {
    {{0, 0, 9}, {0, 1, 0}, {0, 0, 0, 1}},
    {{0, 0, -9}, {0, 1, 0}, {0, 1, 0, 0}},
    {{9, 0, 0}, {0, 1, 0}, {0, HALF, 0, HALF}},
    {{-9, 0, 0}, {0, 1, 0}, {0, -HALF, 0, HALF}},
    {{0, 0, 9}, {0, -1, 0}, {0, 0, 1, 0}},
    {{0, 0, 9}, {-3, 0, 0}, {0, 0, HALF, HALF}},
    {{0, -2, 0}, {0, 0, 1}, {HALF, 0, 0, HALF}},
    {{0, 2, 0}, {0, 0, -1}, {-HALF, 0, 0, HALF}},
    {{1, 0, 0}, {0, 0, 1}, {0.5f, 0.5f, 0.5f, 0.5f}},
    // No up direction, or one along the way: +Y serves.
    {{0, 0, 9}, {0, 0, 0}, {0, 0, 0, 1}},
    {{9, 0, 0}, {0, 0, 0}, {0, HALF, 0, HALF}},
    {{9, 0, 0}, {5, 0, 0}, {0, HALF, 0, HALF}},
    {{9, 0, 0}, {-5, 0, 0}, {0, HALF, 0, HALF}},
    // Up is along the way, and so is +Y: +Z serves.
    {{0, -2, 0}, {0, 1, 0}, {HALF, 0, 0, HALF}},
    {{0, -2, 0}, {0, 0, 0}, {HALF, 0, 0, HALF}},
    {{0, 2, 0}, {0, 7, 0}, {0, HALF, HALF, 0}},
};

TEST(views_worked_by_hand_come_out_as_they_must)
{
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; ++i) {
        const espl_transform before = {{0.6f, 0, 0, 0.8f}, {0, -0.0f, 0}, -2, {-1, 0, 3}, 5};
        espl_transform t = before;

        ck_ok(espl_transform_look_at(&t, by_hand[i].target, by_hand[i].up, ESPL_AXIS_FORWARD));
        ck_assert(is_same_but_rotation(&before, &t));
        for (int k = 0; k < 4; ++k) {
            ck_assert_msg(fabsf(t.rotation[k] - by_hand[i].rotation[k]) <= 6e-8f,
                          "case %zu: rotation[%d] is %g", i, k, (double)t.rotation[k]);
        }
    }
}

TEST(no_up_direction_is_plus_y)
{
    const float up[3] = {0, 1, 0}, high[3] = {0, 1e30f, -0.0f}, none[3] = {0, -0.0f, 0};
    uint64_t random = 4;

    for (int i = 0; i < 1000; ++i) {
        const espl_transform t = any_transform(&random);
        espl_transform by_default = t, by_name = t, by_size = t, by_zero = t;
        float target[3];

        any_point(target, &random);
        ck_ok(espl_transform_look_at(&by_default, target, NULL, ESPL_AXIS_FORWARD));
        ck_ok(espl_transform_look_at(&by_name, target, up, ESPL_AXIS_FORWARD));
        ck_ok(espl_transform_look_at(&by_size, target, high, ESPL_AXIS_FORWARD));
        ck_ok(espl_transform_look_at(&by_zero, target, none, ESPL_AXIS_FORWARD));
        ck_assert(test_same(&by_default, &by_name));
        turns_like(by_default.rotation, by_size.rotation, 1e-13);
        ck_assert(test_same(&by_default, &by_zero));
    }
}

TEST(up_near_the_way_serves_until_its_side_is_rounding)
{
    const double plus_y[3] = {0, 1, 0};

    for (int power = 0; power <= 24; ++power) {
        const float side = ldexpf(1, -power), target[3] = {8, 0, 0};
        const float up[3] = {1, 0, side};
        const double hint[3] = {1, 0, (double)side};
        espl_transform t = espl_transform_identity();

        // 2^-16 is above the 1e-5 within which directions are parallel, 2^-17 below.
        ck_ok(espl_transform_look_at(&t, target, up, ESPL_AXIS_FORWARD));
        looks_at(&t, target, power <= 16 ? hint : plus_y, 4e-7);
    }
}

TEST(own_position_is_no_direction)
{
    const float target[3] = {0, -0.0f, 3};
    espl_transform t = {{1, 2, 3, 4}, {-0.0f, 0, 3}, 2, {1, 2, 3}, 5};
    const espl_transform before = t;

    ck_status(espl_transform_look_at(&t, target, NULL, ESPL_AXIS_FORWARD), ESPL_LOSSY);
    ck_assert(test_same(&t, &before));
    ck_status(espl_transform_look_at(&t, t.position, target, ESPL_AXIS_FORWARD), ESPL_LOSSY);
    ck_assert(test_same(&t, &before));
}

TEST(any_distance_is_a_direction)
{
    const float places[] = {0, 0x1p-149f, -0x1p-149f, 1e-30f, 1, -1e30f, FLT_MAX, -FLT_MAX};
    const int count = sizeof places / sizeof *places;
    uint64_t random = 5;

    for (int i = 0; i < count * count * count; ++i) {
        espl_transform t = any_transform(&random);
        const float target[3] = {places[i % count], places[i / count % count],
                                 places[i / count / count]};
        const float at[3] = {places[test_below(&random, (uint32_t)count)], 0x1p-149f, 1};
        const float up[3] = {0x1p-149f, 0, -FLT_MAX};
        const double hint[3] = {0x1p-149, 0, -(double)FLT_MAX};
        float out[3];

        memcpy(t.position, at, sizeof at);
        const double away[3] = {(double)target[0] - (double)at[0], (double)target[1] - 0x1p-149,
                                (double)target[2] - 1};
        ck_status(espl_transform_look_at(&t, target, up, ESPL_AXIS_FORWARD),
                  away[0] == 0 && away[1] == 0 && away[2] == 0 ? ESPL_LOSSY : ESPL_OK);
        ck_assert_double_eq_tol(length_of(t.rotation), 1, 2e-7);
        espl_transform_axis(&t, ESPL_AXIS_FORWARD, out);
        ck_assert(isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]));
        if (fabs(away[0]) > fabs(away[2]) * 1e-3 || fabs(away[1]) > fabs(away[2]) * 1e-3) {
            looks_at(&t, target, hint, 4e-7);
        }
    }
}

// --- Turning about a point ---

// pivot + R (point - pivot), by the oracle's matrix.
static void oracle_turned(double out[static 3], const float rotation[static 4],
                          const float pivot[static 3], const double point[static 3])
{
    double m[3][3];

    oracle_matrix(m, rotation);
    for (int row = 0; row < 3; ++row) {
        out[row] = (double)pivot[row];
        for (int i = 0; i < 3; ++i) {
            out[row] += m[row][i] * (point[i] - (double)pivot[i]);
        }
    }
}

TEST(every_point_of_the_placement_goes_round)
{
    uint64_t random = 6;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform before = any_transform(&random);
        espl_transform t = before;
        float pivot[3], by[4];
        double origin[3], expected[3];

        any_point(pivot, &random);
        any_rotation(by, &random);
        ck_ok(espl_transform_rotate_about(&t, pivot, by));
        widen(origin, before.position);
        oracle_turned(expected, by, pivot, origin);
        is_near(t.position, expected, 1.1 * 0x1p-24 * 512);
        ck_assert_double_eq_tol(length_of(t.rotation), 1, 4e-7);
        ck_assert(t.scale == before.scale && t.user_data == before.user_data);
        ck_assert_mem_eq(t.stretch, before.stretch, sizeof t.stretch);

        // The corners of a cube of the placement say where it is, rotation and all.
        for (int corner = 0; corner < 8; ++corner) {
            const double local[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
            double at[3], now[3];

            oracle_point(at, &before, local);
            oracle_turned(expected, by, pivot, at);
            oracle_point(now, &t, local);
            for (int k = 0; k < 3; ++k) {
                ck_assert_double_eq_tol(now[k], expected[k], 1.1 * 0x1p-24 * 512 + 1e-5);
            }
        }
    }
}

TEST(quarter_turn_about_a_post)
{
    const float post[3] = {10, 0, 0}, by[4] = {0, 5, 0, 5};
    espl_transform t = {{0, 0, 0, 1}, {10, 3, 2}, -2, {-1, 0, 3}, 4};

    ck_ok(espl_transform_rotate_about(&t, post, by));
    is_near(t.position, (const double[]){12, 3, 0}, 1e-6);
    turns_like(t.rotation, by, 1e-13);
    ck_assert(t.scale == -2 && t.stretch[0] == -1 && t.stretch[1] == 0 && t.stretch[2] == 3);
    ck_assert_uint_eq(t.user_data, 4);
}

TEST(rotation_is_normalised_first)
{
    uint64_t random = 7;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform before = any_transform(&random);
        espl_transform once = before, again = before;
        float pivot[3], by[4], longer[4];

        any_point(pivot, &random);
        any_rotation(by, &random);
        for (int k = 0; k < 4; ++k) {
            longer[k] = ldexpf(by[k], i % 250 - 125);
        }
        ck_ok(espl_transform_rotate_about(&once, pivot, by));
        ck_ok(espl_transform_rotate_about(&again, pivot, longer));
        turns_like(once.rotation, again.rotation, 1e-13);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq_tol(once.position[k], again.position[k], 1e-4f);
        }
    }
}

// Rotations whose length is as far off as may be, so that their product is farther off.
TEST(rotations_that_are_written_are_normalised)
{
    const float target[3] = {1000, 2000, 3000}, pivot[3] = {0, 0, 0};
    uint64_t random = 10;
    int off = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        const float factor = i % 2 == 0 ? 1 + 0x1.8p-23f : 1 - 0x1.8p-23f;
        espl_transform t = any_transform(&random);
        float by[4], product[4], whole[4];

        any_rotation(by, &random);
        for (int k = 0; k < 4; ++k) {
            by[k] *= factor;
            t.rotation[k] *= factor;
        }
        espl__rotation_multiply(product, by, t.rotation);
        memcpy(whole, product, sizeof whole);
        ck_assert(espl__rotation_normalize(whole));
        off += memcmp(whole, product, sizeof whole) != 0;

        ck_ok(espl_transform_rotate_about(&t, pivot, by));
        espl_transform again = t;
        ck_ok(espl_transform_normalize(&again));
        ck_assert(test_same(&again, &t));
        ck_ok(espl_transform_look_at(&t, target, NULL, ESPL_AXIS_FORWARD));
        again = t;
        ck_ok(espl_transform_normalize(&again));
        ck_assert(test_same(&again, &t));
    }
    ck_assert_int_gt(off, ROUNDS / 2);
}

TEST(no_turn_and_no_distance_leave_the_position)
{
    const float none[4] = {0, 0, 0, -3};
    uint64_t random = 8;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform before = any_transform(&random);
        espl_transform t = before;
        float pivot[3], by[4];

        for (int k = 0; k < 3; ++k) {
            pivot[k] = any_finite(&random);
        }
        ck_ok(espl_transform_rotate_about(&t, pivot, none));
        ck_assert_mem_eq(t.position, before.position, sizeof t.position);
        turns_like(t.rotation, before.rotation, 1e-13);

        any_rotation(by, &random);
        ck_ok(espl_transform_rotate_about(&t, t.position, by));
        ck_assert_mem_eq(t.position, before.position, sizeof t.position);
    }
}

TEST(position_that_overflows_is_refused)
{
    const float pivot[3] = {-3e38f, 0, 0}, half_turn[4] = {0, 1, 0, 0};
    const float about_the_way[4] = {0.6f, 0, 0, 0.8f}, eighth[4] = {0, 0.38268343f, 0, 0.92387953f};
    espl_transform t = {{0.6f, 0, 0, 0.8f}, {3e38f, 1, 2}, -0.0f, {1, -0.0f, 3}, 4};
    const espl_transform before = t;

    ck_status(espl_transform_rotate_about(&t, pivot, half_turn), ESPL_ERR_RANGE);
    ck_assert(test_same(&t, &before));
    ck_status(espl_transform_rotate_about(&t, pivot, eighth), ESPL_ERR_RANGE);
    ck_assert(test_same(&t, &before));

    // The distance may be more than a float can hold, as long as the position is not.
    ck_ok(espl_transform_rotate_about(&t, pivot, about_the_way));
    ck_assert_float_eq(t.position[0], before.position[0]);
    ck_assert(fabsf(t.position[1]) < 3 && fabsf(t.position[2]) < 3);
}

// --- Wrong use ---

TEST(an_axis_that_does_not_exist_writes_nothing)
{
    const espl_transform identity = espl_transform_identity();
    float out[3] = {1, 2, 3};

    espl_transform_axis(&identity, (espl_axis)AXIS_COUNT, out);
    ck_assert(out[0] == 1 && out[1] == 2 && out[2] == 3);
}
