// SPDX-License-Identifier: MIT
// From directions to axes, from axes to a rotation; shared by all that build a rotation of
// directions. In double, so that the rounding of the result is the only one that counts. Sees
// numbers, never an entity.
#ifndef ESPALIER_LIB_MATH_BASIS_H
#define ESPALIER_LIB_MATH_BASIS_H

#include <stdbool.h>

static inline double espl__axis_dot(const double a[static 3], const double b[static 3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// out = a x b. out overlaps neither.
static inline void espl__axis_cross(double out[static 3], const double a[static 3],
                                    const double b[static 3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// Write where a rotation takes +X (axis 0), +Y (1) or +Z (2): a column of its matrix, at unit
/// length whatever length the quaternion has but zero.
void espl__axis_of(double out[static 3], const float rotation[static 4], int axis);

/// Write the direction at a right angle to an axis that is nearest to a hint: what is left of the
/// hint without its part along the axis, at unit length (Gram and Schmidt's step).
/// @param out   overlaps neither.
/// @param axis  of length 1.
/// @param hint  of any length whose square is a number.
/// @return false, and nothing of use in out, where the hint is zero or within 1e-5 of parallel.
bool espl__axis_across(double out[static 3], const double axis[static 3],
                       const double hint[static 3]);

/// Write a quaternion at unit length, each component rounded to float once. Its length is such that
/// espl__rotation_normalize() leaves it bit for bit.
/// @param q  of any length but 0 whose square is a finite number.
void espl__rotation_round(float out[static 4], const double q[static 4]);

/// Write the rotation that takes +X to right, +Y to up and +Z to forward.
///
/// Of the two quaternions of a rotation it is the one whose largest component is positive, the
/// first in the order w, x, y, z where several are as large. Its length is such
/// that espl__rotation_normalize() leaves it bit for bit.
/// @param right,up,forward  of length 1 and at right angles, to rounding; right is up x forward.
void espl__rotation_from_axes(float out[static 4], const double right[static 3],
                              const double up[static 3], const double forward[static 3]);

#endif
