// SPDX-License-Identifier: MIT
// The blend of two poses of one node, at a time between them: what motion shows between two ticks.
// The formula and the order of its operations are specified, so that the kernels of kernels.h compute
// the same bits.
//
// With a and b the poses at times 0 and 1, e = 1 - |dot product of the rotations| and u = (at - 0.5)^2:
//
//     rotation = b T + a (1 - T), times the reciprocal of its length, where a is negated if the product
//                is negative
//     T        = at + at (at - 0.5) (at - 1) K
//     K        = e (k1 + e (k2 + e k3)), with k1, k2, k3 polynomials in u
//     others   = a (1 - at) + b at
//
// T is a fitted time: a normalised linear interpolation at T is within 0.0043 degrees of the spherical
// one at `at`, for any turn up to half a revolution. The fit does not hold outside [0, 1], where the
// rotation is that of espl_quat_slerp().
//
// A rotation, or a number, that has the same bits in both poses keeps them. At 0 and 1 the result has
// the bits of that pose. A rotation inside has the sign of b, because both are the same rotation.
#ifndef ESPALIER_LIB_MATH_BLEND_H
#define ESPALIER_LIB_MATH_BLEND_H

#include "lib/math/pose.h"

/// Where the time of a blend lies.
typedef enum espl__blend_range {
    ESPL__BLEND_START,   ///< 0
    ESPL__BLEND_INSIDE,  ///< between 0 and 1
    ESPL__BLEND_END,     ///< 1
    ESPL__BLEND_OUTSIDE, ///< below 0 or above 1
} espl__blend_range;

/// The numbers of a blend that depend on the time alone.
typedef struct espl__blend {
    espl__blend_range range;
    float at, rest;   // rest: 1 - at
    float bend;       // at (at - 0.5) (at - 1)
    float k1, k2, k3; // of the fit
} espl__blend;

/// Compute the numbers of a time. Precondition: it is finite.
espl__blend espl__blend_at(float at);
/// Blend the poses of a node. Rotations are of unit length.
/// @param from  at time 0. A NaN as scale says that there is none: the result is `to` at any time.
/// @param to    at time 1.
espl_pose espl__pose_blend(const espl__blend *blend, const espl_pose *from, const espl_pose *to);

#endif
