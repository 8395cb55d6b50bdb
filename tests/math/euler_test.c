// SPDX-License-Identifier: MIT
// Euler angles, against long double arithmetic and by hand.
#include "tests/math/rotations.h"
#include "tests/runner.h"

enum { ROUNDS = 100000, ORDER_COUNT = 6 };

static const espl_euler_order orders[ORDER_COUNT] = {
    ESPL_EULER_XYZ, ESPL_EULER_XZY, ESPL_EULER_YXZ, ESPL_EULER_YZX, ESPL_EULER_ZXY, ESPL_EULER_ZYX};
static const int axes_of[ORDER_COUNT][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                            {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

// The product of three rotations about axes.
static void euler_long(long double out[static 4], const float angles[static 3], int order)
{
    long double q[3][4] = {{0}}, two[4];

    for (int i = 0; i < 3; ++i) {
        const int axis = axes_of[order][i];
        const long double half = (long double)angles[axis] / 2;

        q[i][axis] = sinl(half);
        q[i][3] = cosl(half);
    }
    multiply_long(two, q[0], q[1]);
    multiply_long(out, two, q[2]);
}

TEST(angles_make_the_product_of_their_rotations)
{
    uint64_t random = 8;

    for (int i = 0; i < ROUNDS; ++i) {
        long double expected[4];
        float angles[3], q[4];

        for (int k = 0; k < 3; ++k) {
            angles[k] = i % 8 == 0 ? any_finite(&random) : test_between(&random, -4, 4);
        }
        ck_ok(espl_quat_from_euler(angles, orders[i % ORDER_COUNT], q));
        euler_long(expected, angles, i % ORDER_COUNT);
        is_near_quat(q, expected, COMPONENT_ERROR);
        is_kept_by_normalize(q);
    }
}

// A quarter turn about one axis, then one about another as the first has turned it.
TEST(later_rotations_are_about_turned_axes)
{
    const float quarter = 0x1.921fb6p+0f, ahead[3] = {0, 0, 1};
    const float angles[3] = {-quarter, quarter, 0}; // pitch up, yaw to the right
    float q[4], out[3];

    // Yaw first: forward goes to the right, and then, about the turned X, up.
    ck_ok(espl_quat_from_euler(angles, ESPL_EULER_YXZ, q));
    espl_quat_rotate(q, ahead, out);
    is_near(out, (const double[3]){0, 1, 0}, 2e-7);
    // Pitch first: yaw turns about an axis that points back, and forward follows it to the right.
    ck_ok(espl_quat_from_euler(angles, ESPL_EULER_XYZ, q));
    espl_quat_rotate(q, ahead, out);
    is_near(out, (const double[3]){1, 0, 0}, 2e-7);
}

static double apart_on_circle(float angle, long double exact)
{
    return (double)fabsl(remainderl((long double)angle - exact, 2 * PI_LONG));
}

// The angles by elements of the matrix, which no sum of angles is made of.
static void is_euler(const float angles[static 3], const float q[static 4], int order,
                     double tolerance)
{
    const int i = axes_of[order][0], j = axes_of[order][1], k = axes_of[order][2];
    const long double sign = j == (i + 1) % 3 ? 1 : -1;
    long double u[4], m[3][3];

    unit_long(u, q, 4);
    for (int row = 0; row < 3; ++row) {
        const int next = (row + 1) % 3, last = (row + 2) % 3;

        m[row][row] = 1 - 2 * (u[next] * u[next] + u[last] * u[last]);
        m[row][next] = 2 * (u[row] * u[next] - u[3] * u[last]);
        m[row][last] = 2 * (u[row] * u[last] + u[3] * u[next]);
    }
    const long double cosine = sqrtl(m[i][i] * m[i][i] + m[i][j] * m[i][j]);
    const long double first = atan2l(-sign * m[j][k], m[k][k]);
    const long double second = atan2l(sign * m[i][k], cosine);
    const long double third = atan2l(-sign * m[i][j], m[i][i]);

    ck_assert_double_le((double)fabsl((long double)angles[j] - second), tolerance / 2);
    ck_assert_double_le(apart_on_circle(angles[i], first), tolerance);
    ck_assert_double_le(apart_on_circle(angles[k], third), tolerance);
}

static void is_in_range(const float angles[static 3], int order)
{
    const float pi = 0x1.921fb6p+1f;

    ck_assert_float_le(fabsf(angles[axes_of[order][0]]), pi);
    ck_assert_float_le(fabsf(angles[axes_of[order][1]]), pi / 2);
    ck_assert_float_le(fabsf(angles[axes_of[order][2]]), pi);
}

TEST(rotation_tells_its_angles)
{
    uint64_t random = 9;

    for (int i = 0; i < ROUNDS; ++i) {
        const int order = i % ORDER_COUNT;
        float q[4], other[4], angles[3], again[3], made[4];

        any_rotation(q, &random);
        ck_ok(espl_quat_to_euler(q, orders[order], angles));
        is_in_range(angles, order);
        is_euler(angles, q, order, 1.2e-7);
        ck_ok(espl_quat_from_euler(angles, orders[order], made));
        turns_like(made, q, 1e-13);
        for (int k = 0; k < 4; ++k) {
            other[k] = -q[k] * 8;
        }
        ck_ok(espl_quat_to_euler(other, orders[order], again));
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_le(apart_on_circle(again[k], (long double)angles[k]), 3e-7);
        }
    }
}

TEST(angles_in_range_come_back)
{
    uint64_t random = 10;

    for (int i = 0; i < ROUNDS; ++i) {
        const int order = i % ORDER_COUNT, second = axes_of[order][1];
        float angles[3], q[4], back[3];

        for (int k = 0; k < 3; ++k) {
            angles[k] = k == second ? test_between(&random, -1.5f, 1.5f)
                                    : test_between(&random, -3.14f, 3.14f);
        }
        ck_ok(espl_quat_from_euler(angles, orders[order], q));
        ck_ok(espl_quat_to_euler(q, orders[order], back));
        // The closer to a quarter turn, the more the last bit of the quaternion counts.
        const float tolerance = 4e-7f / cosf(angles[second]);

        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq_tol(back[k], angles[k], tolerance);
        }
    }
}

// One axis alone: the other angles are zeros, and not negative ones.
TEST(turn_about_one_axis_is_one_angle)
{
    const float zero = 0;

    for (int i = 0; i < ORDER_COUNT * 3; ++i) {
        const int order = i / 3, axis = i % 3;

        for (float angle = -1.5f; angle <= 1.5f; angle += 0.125f) {
            const float along[3] = {axis == 0, axis == 1, axis == 2};
            float q[4], angles[3];

            ck_ok(espl_quat_from_axis_angle(along, angle, q));
            ck_ok(espl_quat_to_euler(q, orders[order], angles));
            ck_assert_float_eq_tol(angles[axis], angle, 1.2e-7f);
            ck_assert_mem_eq(&angles[(axis + 1) % 3], &zero, sizeof zero);
            ck_assert_mem_eq(&angles[(axis + 2) % 3], &zero, sizeof zero);
        }
    }
}

TEST(last_angle_is_zero_in_gimbal_lock)
{
    uint64_t random = 11;

    for (int i = 0; i < ROUNDS; ++i) {
        const int order = i % ORDER_COUNT;
        const int first = axes_of[order][0], second = axes_of[order][1], third = axes_of[order][2];
        const float side = i / ORDER_COUNT % 2 == 0 ? 1 : -1;
        long double expected[4], made_long[4];
        float angles[3], q[4], back[3], made[4];

        angles[first] = test_between(&random, -3, 3);
        angles[second] = side * 0x1.921fb6p+0f + test_between(&random, -3e-7f, 3e-7f);
        angles[third] = test_between(&random, -3, 3);
        ck_ok(espl_quat_from_euler(angles, orders[order], q));
        ck_ok(espl_quat_to_euler(q, orders[order], back));
        ck_assert_float_eq(back[third], 0);
        ck_assert_float_eq_tol(back[second], side * 0x1.921fb6p+0f, 1.1e-6f);
        is_in_range(back, order);

        ck_ok(espl_quat_from_euler(back, orders[order], made));
        unit_long(expected, q, 4);
        unit_long(made_long, made, 4);
        const long double sign = dot_long(expected, made_long, 4) < 0 ? -1 : 1;

        for (int k = 0; k < 4; ++k) {
            ck_assert_double_le((double)fabsl(expected[k] - sign * made_long[k]), 1e-6);
        }
    }
}

// Just outside of the lock each of the three angles is told.
TEST(angles_close_to_a_quarter_turn_are_told)
{
    uint64_t random = 12;

    for (int i = 0; i < ROUNDS; ++i) {
        const int order = i % ORDER_COUNT;
        const float near = ldexpf(1, -(int)test_below(&random, 18)) + 2e-6f;
        float angles[3], q[4], back[3];

        for (int k = 0; k < 3; ++k) {
            angles[k] =
                k == axes_of[order][1] ? 0x1.921fb6p+0f - near : test_between(&random, -3, 3);
        }
        ck_ok(espl_quat_from_euler(angles, orders[order], q));
        ck_ok(espl_quat_to_euler(q, orders[order], back));
        is_euler(back, q, order, 1.2e-7);
    }
}

TEST(bad_angles_and_quaternions_are_refused)
{
    float q[4], angles[3];

    memcpy(q, mark, sizeof q);
    memcpy(angles, mark, sizeof angles);
    for (int i = 0; i < 9; ++i) {
        const float numbers[] = {NAN, INFINITY, -INFINITY};
        float bad[3] = {1, 2, 3};

        bad[i % 3] = numbers[i / 3];
        ck_status(espl_quat_from_euler(bad, ESPL_EULER_ZYX, q), ESPL_ERR_NOT_FINITE);
    }
    for (int i = 0; i < BAD_QUATS; ++i) {
        ck_status(espl_quat_to_euler(bad_quats[i], ESPL_EULER_XZY, angles), ESPL_ERR_NOT_FINITE);
    }
    ck_assert_mem_eq(q, mark, sizeof q);
    ck_assert_mem_eq(angles, mark, sizeof angles);
}
