// SPDX-License-Identifier: MIT
// The public functions on rotations as values, but for interpolation. What converts between forms of
// a rotation works in double and rounds each result once.
#include "lib/math/angles.h"
#include "lib/math/basis.h"
#include "lib/math/pose.h"

#include <espalier/quat.h>

#include <math.h>
#include <string.h>

// --- Components ---

static void set(float out[ESPL__LEAST 4], float x, float y, float z, float w)
{
    out[0] = x;
    out[1] = y;
    out[2] = z;
    out[3] = w;
}

espl_status espl_quat_normalize(float quat[4])
{
    if (quat == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    return espl__rotation_normalize(quat) ? ESPL_OK : ESPL_ERR_NOT_FINITE;
}

// --- Products ---

void espl_quat_multiply(const float a[4], const float b[4], float out[4])
{
    if (out == NULL || a == NULL || b == NULL) {
        return;
    }
    float product[4];

    espl__rotation_multiply(product, a, b);
    memcpy(out, product, sizeof product);
}

void espl_quat_rotate(const float quat[4], const float vector[3], float out[3])
{
    if (out == NULL || quat == NULL || vector == NULL) {
        return;
    }
    float rotated[3];

    espl__rotation_apply(rotated, quat, vector);
    memcpy(out, rotated, sizeof rotated);
}

// --- Reading in double ---

// false: not finite, or of zero length. The square of no float overflows or vanishes.
static bool read_direction(double out[ESPL__LEAST 3], const float v[ESPL__LEAST 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)v[i];
    }
    return espl__all_finite(v, 3) && espl__axis_dot(out, out) > 0;
}

static bool read_quat(double out[ESPL__LEAST 4], const float q[ESPL__LEAST 4])
{
    for (int i = 0; i < 4; ++i) {
        out[i] = (double)q[i];
    }
    return espl__all_finite(q, 4) && espl__axis_dot(out, out) + out[3] * out[3] > 0;
}

// --- Axis and angle ---

espl_status espl_quat_from_axis_angle(const float axis[3], float angle, float out[4])
{
    if (out == NULL || axis == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    double along[3], sine, cosine;

    if (!read_direction(along, axis) || !isfinite(angle)) {
        return ESPL_ERR_NOT_FINITE;
    }
    const double length = sqrt(espl__axis_dot(along, along));

    espl__sin_cos(&sine, &cosine, (double)angle / 2);
    for (int i = 0; i < 3; ++i) {
        out[i] = (float)(along[i] / length * sine);
    }
    out[3] = (float)cosine;
    return ESPL_OK;
}

espl_status espl_quat_to_axis_angle(const float quat[4], float axis[3], float *angle)
{
    if (axis == NULL || angle == NULL || quat == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    double q[4];

    if (!read_quat(q, quat)) {
        return ESPL_ERR_NOT_FINITE;
    }
    const double length = sqrt(espl__axis_dot(q, q)), signed_length = q[3] < 0 ? -length : length;

    for (int i = 0; i < 3; ++i) {
        axis[i] = length > 0 ? (float)(q[i] / signed_length) : (float)(i == 0);
    }
    *angle = (float)(2 * espl__angle_of(length, fabs(q[3])));
    return ESPL_OK;
}

// --- Euler angles ---

// The axes of an order, and whether they are a cyclic permutation of x, y, z (1) or not (-1).
typedef struct axes {
    int first, second, third;
    double sign;
} axes;

static axes axes_of_order(espl_euler_order order)
{
    static const axes known[] = {
        [ESPL_EULER_XYZ] = {0, 1, 2, 1},  [ESPL_EULER_XZY] = {0, 2, 1, -1},
        [ESPL_EULER_YXZ] = {1, 0, 2, -1}, [ESPL_EULER_YZX] = {1, 2, 0, 1},
        [ESPL_EULER_ZXY] = {2, 0, 1, 1},  [ESPL_EULER_ZYX] = {2, 1, 0, -1},
    };

    return known[order];
}

static bool is_order(espl_euler_order order)
{
    return (unsigned)order <= (unsigned)ESPL_EULER_ZYX;
}

// The product of three rotations about the axes i, j, k, by components. With axes in another order
// than the cyclic one, the product has the same components where the angle about k and the component
// of k change their sign.
espl_status espl_quat_from_euler(const float angles[3], espl_euler_order order, float out[4])
{
    if (out == NULL || angles == NULL || !is_order(order)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__all_finite(angles, 3)) {
        return ESPL_ERR_NOT_FINITE;
    }
    const axes a = axes_of_order(order);
    double si, ci, sj, cj, sk, ck, q[4];

    espl__sin_cos(&si, &ci, (double)angles[a.first] / 2);
    espl__sin_cos(&sj, &cj, (double)angles[a.second] / 2);
    espl__sin_cos(&sk, &ck, a.sign * (double)angles[a.third] / 2);

    q[a.first] = si * cj * ck + ci * sj * sk;
    q[a.second] = ci * sj * ck - si * cj * sk;
    q[a.third] = a.sign * (ci * cj * sk + si * sj * ck);
    q[3] = ci * cj * ck - si * sj * sk;
    espl__rotation_round(out, q);
    return ESPL_OK;
}

// Into [-pi, pi]. Zero is never negative, because -0 + 0 is 0.
static float wrap(double angle)
{
    double turn = 0;

    if (angle > ESPL__PI) {
        turn = -2 * ESPL__PI;
    } else if (angle < -ESPL__PI) {
        turn = 2 * ESPL__PI;
    }
    return (float)(angle + turn);
}

// With A, B, C half the angles about the axes i, j, k, C signed as above, the components of the
// product give
//
//     w + j = (cos B + sin B) cos(A + C)        w - j = (cos B - sin B) cos(A - C)
//     i + k = (cos B + sin B) sin(A + C)        i - k = (cos B - sin B) sin(A - C)
//
// so that A + C and A - C are angles of directions. The factors are square roots of sums, their
// product is the cosine of the second angle 2 B, and its sine is 2 (w j + i k). No term is close to
// a pole of its function, which an arc sine would be near a quarter turn. The idea is that of
// Bernardes and Viollet ("Quaternion to Euler angles conversion: a direct, general and
// computationally efficient method", PLoS ONE 17, 2022).
espl_status espl_quat_to_euler(const float quat[4], espl_euler_order order, float angles[3])
{
    if (angles == NULL || quat == NULL || !is_order(order)) {
        return ESPL_ERR_ARGUMENT;
    }
    const axes a = axes_of_order(order);
    double q[4];

    if (!read_quat(q, quat)) {
        return ESPL_ERR_NOT_FINITE;
    }
    const double i = q[a.first], j = q[a.second], k = a.sign * q[a.third], w = q[3];
    const double plus = sqrt((w + j) * (w + j) + (i + k) * (i + k));
    const double minus = sqrt((w - j) * (w - j) + (i - k) * (i - k));
    const double cosine = plus * minus, sine = 2 * (w * j + i * k);
    double sum = espl__angle_of(i + k, w + j), difference = espl__angle_of(i - k, w - j);

    // Gimbal lock: one of the two is noise. Equal to the other one, it leaves the last angle 0.
    if (cosine <= 1e-6 * fabs(sine) && sine > 0) {
        difference = sum;
    } else if (cosine <= 1e-6 * fabs(sine)) {
        sum = difference;
    }
    angles[a.first] = wrap(sum + difference);
    angles[a.second] = (float)espl__angle_of(sine, cosine);
    angles[a.third] = wrap(a.sign * (sum - difference));
    return ESPL_OK;
}

// --- From one direction to another ---

// A half turn that takes a direction to its opposite.
static void set_half_turn(float out[ESPL__LEAST 4], const double from[ESPL__LEAST 3], double length)
{
    const double plus_y[3] = {0, 1, 0}, plus_z[3] = {0, 0, 1};
    const double along[3] = {from[0] / length, from[1] / length, from[2] / length};
    double axis[3];

    if (!espl__axis_across(axis, along, plus_y)) {
        (void)espl__axis_across(axis, along, plus_z);
    }
    set(out, (float)axis[0], (float)axis[1], (float)axis[2], 0);
}

// The quaternion is (cross product, product of lengths + dot product), at unit length. For an obtuse
// angle the sum cancels; multiplied by (product - dot) / |cross| it is |cross|. A product of floats
// is exact in double, so that the cross product keeps its direction however small it is.
espl_status espl_quat_between(const float from[3], const float to[3], float out[4])
{
    if (out == NULL || from == NULL || to == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    double a[3], b[3], across[3];

    if (!read_direction(a, from) || !read_direction(b, to)) {
        return ESPL_ERR_NOT_FINITE;
    }
    espl__axis_cross(across, a, b);
    const double lengths = sqrt(espl__axis_dot(a, a)) * sqrt(espl__axis_dot(b, b));
    const double along = espl__axis_dot(a, b), size = sqrt(espl__axis_dot(across, across));

    if (along < 0 && size <= 0x1p-23 * lengths) {
        set_half_turn(out, a, sqrt(espl__axis_dot(a, a)));
        return ESPL_OK;
    }
    const double factor = along < 0 ? (lengths - along) / size : 1;
    const double q[4] = {across[0] * factor, across[1] * factor, across[2] * factor,
                         along < 0 ? size : lengths + along};

    espl__rotation_round(out, q);
    return ESPL_OK;
}
