// SPDX-License-Identifier: MIT
// Axes of a rotation, and the rotation of axes.
#include "lib/math/basis.h"

#include "lib/math/pose.h"

#include <math.h>

// Tell whether a value is within 1e-6 of zero. A NaN is, because the public functions take
// transforms that are not finite, and give results that are not.
static bool is_near_zero(double value)
{
    return !(fabs(value) > 1e-6);
}

void espl__axis_of(double out[ESPL__LEAST 3], const float rotation[ESPL__LEAST 4], int axis)
{
    ESPL_CHECK(axis >= 0 && axis < 3);
    const int i = axis, j = (i + 1) % 3, k = (i + 2) % 3;
    const double a = (double)rotation[i], b = (double)rotation[j], c = (double)rotation[k];
    const double w = (double)rotation[3];
    const double squares = w * w + a * a + b * b + c * c;

    out[i] = (w * w + a * a - b * b - c * c) / squares;
    out[j] = 2 * (a * b + w * c) / squares;
    out[k] = 2 * (a * c - w * b) / squares;
}

bool espl__axis_across(double out[ESPL__LEAST 3], const double axis[ESPL__LEAST 3],
                       const double hint[ESPL__LEAST 3])
{
    ESPL_CHECK(out != axis && out != hint);
    ESPL_CHECK(is_near_zero(espl__axis_dot(axis, axis) - 1));
    const double along = espl__axis_dot(hint, axis);
    const double rest[3] = {hint[0] - along * axis[0], hint[1] - along * axis[1],
                            hint[2] - along * axis[2]};
    const double squares = espl__axis_dot(rest, rest);

    // The limit is 1e-5 squared. Closer to parallel, the remaining direction depends on the
    // rounding of the floats that the vectors come from.
    if (squares <= 1e-10 * espl__axis_dot(hint, hint)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = rest[i] / sqrt(squares);
    }
    ESPL_CHECK(is_near_zero(espl__axis_dot(out, axis)));
    return true;
}

// Return the component of the quaternion with the largest magnitude: the axis of the largest
// diagonal element, or 3 where the trace is at least as large.
static int largest_component(const double m[ESPL__LEAST 3][3])
{
    const double trace = m[0][0] + m[1][1] + m[2][2];
    const int two = m[1][1] > m[0][0] ? 1 : 0;
    const int three = m[2][2] > m[two][two] ? 2 : two;

    return m[three][three] > trace ? three : 3;
}

// The squared length of components that are rounded once from unit length is within 3.6e-7 of 1 for
// any order of the sum, so that normalising does not change them.
void espl__rotation_round(float out[ESPL__LEAST 4], const double q[ESPL__LEAST 4])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

    for (int c = 0; c < 4; ++c) {
        out[c] = (float)(q[c] / length);
    }
    ESPL_CHECK(espl__rotation_is_unit(out) || isnan(length));
}

// Shepperd's method (S. W. Shepperd, Quaternion from Rotation Matrix, 1978). Sums of elements of
// the matrix are four times the products of two components of the quaternion. The four products
// with the largest component are the quaternion times a factor of at least 2, so that no digits
// cancel.
void espl__rotation_from_axes(float out[ESPL__LEAST 4], const double right[ESPL__LEAST 3],
                              const double up[ESPL__LEAST 3], const double forward[ESPL__LEAST 3])
{
    const double m[3][3] = {{right[0], right[1], right[2]},
                            {up[0], up[1], up[2]},
                            {forward[0], forward[1], forward[2]}};
    const int i = largest_component(m);
    double q[4];

    ESPL_CHECK(is_near_zero(espl__axis_dot(right, right) - 1) && is_near_zero(espl__axis_dot(up, up) - 1));
    ESPL_CHECK(is_near_zero(espl__axis_dot(forward, forward) - 1) && is_near_zero(espl__axis_dot(up, forward)));
    ESPL_CHECK(is_near_zero(espl__axis_dot(right, up)) && is_near_zero(espl__axis_dot(right, forward)));

    if (i == 3) {
        q[0] = m[1][2] - m[2][1];
        q[1] = m[2][0] - m[0][2];
        q[2] = m[0][1] - m[1][0];
        q[3] = 1 + m[0][0] + m[1][1] + m[2][2];
    } else {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        q[i] = 1 + m[i][i] - m[j][j] - m[k][k];
        q[j] = m[i][j] + m[j][i];
        q[k] = m[k][i] + m[i][k];
        q[3] = m[j][k] - m[k][j];
    }
    espl__rotation_round(out, q);
}
