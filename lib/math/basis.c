// SPDX-License-Identifier: MIT
// From directions to axes, from axes to a rotation.
#include "lib/math/basis.h"

#include <math.h>

void espl__axis_of(double out[static 3], const float rotation[static 4], int axis)
{
    const int i = axis, j = (i + 1) % 3, k = (i + 2) % 3;
    const double a = (double)rotation[i], b = (double)rotation[j], c = (double)rotation[k];
    const double w = (double)rotation[3];
    const double squares = w * w + a * a + b * b + c * c;

    out[i] = (w * w + a * a - b * b - c * c) / squares;
    out[j] = 2 * (a * b + w * c) / squares;
    out[k] = 2 * (a * c - w * b) / squares;
}

bool espl__axis_across(double out[static 3], const double axis[static 3],
                       const double hint[static 3])
{
    const double along = espl__axis_dot(hint, axis);
    const double rest[3] = {hint[0] - along * axis[0], hint[1] - along * axis[1],
                            hint[2] - along * axis[2]};
    const double squares = espl__axis_dot(rest, rest);

    // Closer to parallel, the rounding of a float shows in the direction of what is left.
    if (squares <= 1e-10 * espl__axis_dot(hint, hint)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        out[i] = rest[i] / sqrt(squares);
    }
    return true;
}

// The axis of the largest diagonal element, or 3 where the trace is at least as large: the
// component of the quaternion that is furthest from 0.
static int pick_branch(const double m[static 3][3])
{
    const double trace = m[0][0] + m[1][1] + m[2][2];
    const int two = m[1][1] > m[0][0] ? 1 : 0;
    const int three = m[2][2] > m[two][two] ? 2 : two;

    return m[three][three] > trace ? three : 3;
}

// Components rounded once, from unit length, have a squared length within 3.6e-7 of 1 however it is
// summed, so normalising leaves them alone.
void espl__rotation_round(float out[static 4], const double q[static 4])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);

    for (int c = 0; c < 4; ++c) {
        out[c] = (float)(q[c] / length);
    }
}

// Shepperd's method. Sums of the matrix's elements give each product of two components of the
// quaternion, four times; those with the largest component are the quaternion times a number of at
// least 2, so it is not made of cancelled digits.
void espl__rotation_from_axes(float out[static 4], const double right[static 3],
                              const double up[static 3], const double forward[static 3])
{
    const double m[3][3] = {{right[0], right[1], right[2]},
                            {up[0], up[1], up[2]},
                            {forward[0], forward[1], forward[2]}};
    const int i = pick_branch(m);
    double q[4];

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
