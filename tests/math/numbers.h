// SPDX-License-Identifier: MIT
// Random transforms for the math tests, and the formulas of a transform in double precision by
// rotation matrices, which share no arithmetic with the library.
#ifndef ESPALIER_TESTS_MATH_NUMBERS_H
#define ESPALIER_TESTS_MATH_NUMBERS_H

#include "tests/asserts.h"
#include "tests/support.h"

#include <espalier/transform.h>

#include <math.h>
#include <string.h>

/// Any finite float: all exponents, denormals, both zeros.
static inline float any_finite(uint64_t *random)
{
    float value;

    do {
        const uint32_t bits = (uint32_t)(test_random(random) >> 32);
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

/// Factor in +-[0.25, 4].
static inline float any_factor(uint64_t *random)
{
    const float size = test_between(random, 0.25f, 4);

    return test_one_in(random, 2) ? -size : size;
}

static inline void any_rotation(float q[static 4], uint64_t *random)
{
    double squares = 0;
    double at[4];

    do {
        squares = 0;
        for (int i = 0; i < 4; ++i) {
            at[i] = (double)test_between(random, -1, 1);
            squares += at[i] * at[i];
        }
    } while (squares < 0.01 || squares > 1);
    for (int i = 0; i < 4; ++i) {
        q[i] = (float)(at[i] / sqrt(squares));
    }
}

/// Placement with a unit rotation, a position within 100, factors within [0.25, 4] of both signs.
static inline espl_transform any_transform(uint64_t *random)
{
    espl_transform t = {.user_data = (uint32_t)test_random(random)};

    any_rotation(t.rotation, random);
    for (int i = 0; i < 3; ++i) {
        t.position[i] = test_between(random, -100, 100);
        t.stretch[i] = any_factor(random);
    }
    t.scale = any_factor(random);
    return t;
}

/// Rotation matrix of a quaternion of any length; m[row][column].
static inline void oracle_matrix(double m[static 3][3], const float q[static 4])
{
    const double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    const double n = x * x + y * y + z * z + w * w;
    const double rows[3][3] = {
        {(w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n},
        {2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n},
        {2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n}};

    memcpy(m, rows, sizeof rows);
}

/// Where a placement puts a point.
static inline void oracle_point(double out[static 3], const espl_transform *frame,
                                const double point[static 3])
{
    double m[3][3];

    oracle_matrix(m, frame->rotation);
    for (int row = 0; row < 3; ++row) {
        out[row] = (double)frame->position[row];
        for (int i = 0; i < 3; ++i) {
            out[row] += m[row][i] * point[i] * (double)frame->stretch[i] * (double)frame->scale;
        }
    }
}

/// The point that a placement puts there.
static inline void oracle_point_inverse(double out[static 3], const espl_transform *frame,
                                        const double point[static 3])
{
    double m[3][3];

    oracle_matrix(m, frame->rotation);
    for (int i = 0; i < 3; ++i) {
        out[i] = 0;
        for (int row = 0; row < 3; ++row) {
            out[i] += m[row][i] * (point[row] - (double)frame->position[row]);
        }
        out[i] /= (double)frame->stretch[i] * (double)frame->scale;
    }
}

static inline void widen(double out[static 3], const float v[static 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)v[i];
    }
}

static inline void is_near(const float v[static 3], const double expected[static 3],
                           double tolerance)
{
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol((double)v[i], expected[i], tolerance);
    }
}

/// Demand that two quaternions turn the same way: 1 - |a.b| / (|a| |b|) is at most the tolerance.
static inline void turns_like(const float a[static 4], const float b[static 4], double tolerance)
{
    double dot = 0, aa = 0, bb = 0;

    for (int i = 0; i < 4; ++i) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    ck_assert_double_le(1 - fabs(dot) / sqrt(aa * bb), tolerance);
}

static inline double length_of(const float q[static 4])
{
    double squares = 0;

    for (int i = 0; i < 4; ++i) {
        squares += (double)q[i] * (double)q[i];
    }
    return sqrt(squares);
}

#endif
