// SPDX-License-Identifier: MIT
// Directions, axes and rotations: the parts of every function that builds a rotation from
// directions. They compute in double, so that the rounding of the result to float is the only one
// that matters.
#ifndef ESPALIER_LIB_MATH_BASIS_H
#define ESPALIER_LIB_MATH_BASIS_H

#include "lib/base/trap.h"

#include <stdbool.h>

static inline double espl__axis_dot(const double a[ESPL__LEAST 3], const double b[ESPL__LEAST 3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// out = a x b. out overlaps neither.
static inline void espl__axis_cross(double out[ESPL__LEAST 3], const double a[ESPL__LEAST 3],
                                    const double b[ESPL__LEAST 3])
{
    ESPL_CHECK(out != a && out != b);
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// Rotate the unit vector +X (axis 0), +Y (1) or +Z (2), which gives a column of the matrix of the
/// rotation. The result has unit length for a quaternion of any length but zero.
void espl__axis_of(double out[ESPL__LEAST 3], const float rotation[ESPL__LEAST 4], int axis);

/// Compute the unit vector perpendicular to an axis that is nearest to a hint: the hint minus its
/// component along the axis, normalised (the step of Gram and Schmidt).
/// @param out   overlaps neither.
/// @param axis  of length 1.
/// @param hint  of any length whose square is finite.
/// @return false where the hint is zero or within 1e-5 of parallel to the axis; out is not written
///         then.
bool espl__axis_across(double out[ESPL__LEAST 3], const double axis[ESPL__LEAST 3],
                       const double hint[ESPL__LEAST 3]);

/// Write a quaternion at unit length, each component rounded to float once. Its length is such that
/// espl__rotation_normalize() leaves it bit for bit.
/// @param q  of any length but 0 whose square is a finite number.
void espl__rotation_round(float out[ESPL__LEAST 4], const double q[ESPL__LEAST 4]);

/// Compute the rotation that takes +X to right, +Y to up and +Z to forward.
///
/// Of the two quaternions of a rotation it is the one whose largest component is positive; where
/// several are the largest, the first of them in the order w, x, y, z. espl__rotation_normalize()
/// does not change the result.
/// @param right,up,forward  of length 1 and perpendicular, to rounding; right is up x forward.
void espl__rotation_from_axes(float out[ESPL__LEAST 4], const double right[ESPL__LEAST 3],
                              const double up[ESPL__LEAST 3], const double forward[ESPL__LEAST 3]);

#endif
