// SPDX-License-Identifier: MIT
// Rotations in long double by the functions of the mathematical library, for the tests of
// quaternions.
#ifndef ESPALIER_TESTS_MATH_ROTATIONS_H
#define ESPALIER_TESTS_MATH_ROTATIONS_H

#include "tests/math/numbers.h"

#include <espalier/quat.h>

#include <float.h>

#define PI_LONG 3.14159265358979323846264338327950288L

/// Half a unit in the last place of the largest components, and what double arithmetic adds.
#define COMPONENT_ERROR 2.981e-8

/// Not finite, or of no length.
static const float bad_quats[][4] = {{NAN, 0, 0, 1},      {0, INFINITY, 0, 1}, {0, 0, -INFINITY, 1},
                                     {1, 0, 0, NAN},      {0, 0, 0, 0},        {-0.0f, 0, -0.0f, 0},
                                     {NAN, NAN, NAN, NAN}};
static const float bad_directions[][3] = {
    {NAN, 0, 1}, {1, INFINITY, 0}, {1, 0, -INFINITY}, {0, 0, 0}, {-0.0f, 0, 0}};

enum {
    BAD_QUATS = sizeof bad_quats / sizeof *bad_quats,
    BAD_DIRECTIONS = sizeof bad_directions / sizeof *bad_directions
};

/// What outputs hold before a call that is to be refused.
static const float mark[4] = {11, 12, 13, 14};

/// The distance of a float from an exact value, in units of the last place of the exact one.
static inline double ulps_off(float value, long double exact)
{
    int exponent = 0;

    (void)frexpl(exact, &exponent);
    if (exponent < FLT_MIN_EXP) {
        exponent = FLT_MIN_EXP;
    }
    return (double)fabsl(ldexpl((long double)value - exact, FLT_MANT_DIG - exponent));
}

static inline long double dot_long(const long double *a, const long double *b, int count)
{
    long double sum = 0;

    for (int i = 0; i < count; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static inline long double length_long(const long double *v, int count)
{
    return sqrtl(dot_long(v, v, count));
}

static inline void widen_long(long double *out, const float *v, int count)
{
    for (int i = 0; i < count; ++i) {
        out[i] = (long double)v[i];
    }
}

/// The same direction, of length 1.
static inline void unit_long(long double *out, const float *v, int count)
{
    widen_long(out, v, count);
    const long double length = length_long(out, count);

    for (int i = 0; i < count; ++i) {
        out[i] /= length;
    }
}

/// out = a * b. out overlaps neither.
static inline void multiply_long(long double out[static 4], const long double a[static 4],
                                 const long double b[static 4])
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        out[i] = a[3] * b[i] + b[3] * a[i] + a[j] * b[k] - a[k] * b[j];
    }
    out[3] = a[3] * b[3] - dot_long(a, b, 3);
}

/// out = a x b. out overlaps neither.
static inline void cross_long(long double out[static 3], const long double a[static 3],
                              const long double b[static 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

/// Demand that each component is within a tolerance.
static inline void is_near_quat(const float q[static 4], const long double expected[static 4],
                                double tolerance)
{
    for (int i = 0; i < 4; ++i) {
        const double off = (double)fabsl((long double)q[i] - expected[i]);

        ck_assert_msg(off <= tolerance, "component %d is %a, %g off", i, (double)q[i], off);
    }
}

/// Demand that writing a rotation to an entity would keep its bits.
static inline void is_kept_by_normalize(const float q[static 4])
{
    float again[4];

    memcpy(again, q, sizeof again);
    ck_ok(espl_quat_normalize(again));
    ck_assert_mem_eq(again, q, sizeof again);
}

/// Direction of any length that a float can have, in any direction.
static inline void any_direction(float out[static 3], uint64_t *random)
{
    const int power = (int)test_below(random, 200) - 100;
    float q[4];

    any_rotation(q, random);
    for (int i = 0; i < 3; ++i) {
        out[i] = ldexpf(q[i], power);
    }
    out[test_below(random, 3)] += ldexpf(0.001f, power);
}

#endif
