// SPDX-License-Identifier: MIT
/// @file
/// Rotations as values: quaternions x, y, z, w, in the order of espl_transform.rotation. No world is
/// needed.
///
/// Common to all functions:
/// - q and -q are the same rotation. A product a * b applies b first, then a.
/// - Angles are radians. A positive angle about +Z takes +X towards +Y, and so on around the axes.
/// - An output may be an input of the same call.
/// - A function that returns nothing does not check its numbers: it computes what IEEE arithmetic
///   makes of them, and neither needs nor restores unit length.
/// - A function that returns a status reads quaternions, axes and directions of any length but 0.
///   It returns ESPL_OK; ESPL_ERR_NOT_FINITE (a NaN, an infinity, or a length of 0);
///   ESPL_ERR_ARGUMENT (a NULL pointer, or no such order). Refused, its outputs are unchanged. A
///   quaternion that it writes has unit length, so that writing it to an entity keeps its bits.
/// - A function without a status does nothing if a pointer is NULL.
/// - Thread rule: any thread. No memory. O(1).
///
/// Every result is the same bits on every machine. Sine, cosine and arctangent are the library's own,
/// in double precision, so that only the final rounding to float counts. Against long double the
/// largest error of sine and cosine was 2.1e-16, of every float, and of arctangent 4.5e-16, of twenty
/// million directions. The error of each function is stated below.
#ifndef ESPALIER_QUAT_H
#define ESPALIER_QUAT_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Write the rotation that changes nothing: 0, 0, 0, 1.
static inline void espl_quat_identity(float out[4])
{
    if (out != ESPL_NULL_) {
        out[0] = out[1] = out[2] = 0;
        out[3] = 1;
    }
}

/// Write the quaternion of components in the order w, x, y, z, which many other libraries use.
static inline void espl_quat_from_wxyz(float w, float x, float y, float z, float out[4])
{
    if (out != ESPL_NULL_) {
        out[0] = x;
        out[1] = y;
        out[2] = z;
        out[3] = w;
    }
}
/// Write the components of a quaternion in the order w, x, y, z.
static inline void espl_quat_to_wxyz(const float quat[4], float out[4])
{
    if (out != ESPL_NULL_ && quat != ESPL_NULL_) {
        const float w = quat[3], x = quat[0], y = quat[1], z = quat[2];

        out[0] = w;
        out[1] = x;
        out[2] = y;
        out[3] = z;
    }
}

/// Bring a quaternion to unit length, in place. One whose squared length is within 4e-7 of 1 keeps
/// its bits.
ESPL_API ESPL_NODISCARD espl_status espl_quat_normalize(float quat[4]);

/// Write the conjugate: the inverse rotation of a quaternion of unit length.
static inline void espl_quat_conjugate(const float quat[4], float out[4])
{
    if (out != ESPL_NULL_ && quat != ESPL_NULL_) {
        out[0] = -quat[0];
        out[1] = -quat[1];
        out[2] = -quat[2];
        out[3] = quat[3];
    }
}

/// Write a * b, the rotation b followed by the rotation a; same bits as espl_transform_compose().
///
/// The length of the product is the product of the lengths. After many products in a row, call
/// espl_quat_normalize().
ESPL_API void espl_quat_multiply(const float a[4], const float b[4], float out[4]);

/// Rotate a vector; same bits as ESPL_DIRECTION_TO_WORLD of espl_transform_convert().
///
/// @param quat  of unit length; the length of another distorts the vector.
ESPL_API void espl_quat_rotate(const float quat[4], const float vector[3], float out[3]);

/// Write the rotation by an angle about an axis.
///
/// The quaternion is (axis * sin(angle / 2), cos(angle / 2)), so its w is negative for angles
/// between half a turn and three halves. Each component is within 0.51 units in the last place.
/// @param axis   of any length but 0.
/// @param angle  any finite number of radians; huge ones are reduced exactly.
ESPL_API espl_status espl_quat_from_axis_angle(const float axis[3], float angle, float out[4]);
/// Write the axis and the angle of a rotation, the inverse of espl_quat_from_axis_angle().
///
/// Each result is within 0.5001 units in the last place. q and -q give the same, but for
/// half turns, whose axes are opposite.
/// @param axis   out, of unit length; +X for a rotation that changes nothing.
/// @param angle  out, in [0, pi]; pi is the float next to it, 3.1415927.
ESPL_API espl_status espl_quat_to_axis_angle(const float quat[4], float axis[3], float *angle);

/// Order of three rotations about the axes: the first letter is applied first, and each later one
/// about the axis as the earlier ones have turned it (intrinsic). ESPL_EULER_YXZ is the product
/// Y * X * Z: with +Y up and +Z forward it is yaw, pitch, roll. Rotations about fixed axes
/// (extrinsic) are intrinsic ones in the opposite order.
typedef enum espl_euler_order {
    ESPL_EULER_XYZ = 0,
    ESPL_EULER_XZY = 1,
    ESPL_EULER_YXZ = 2,
    ESPL_EULER_YZX = 3,
    ESPL_EULER_ZXY = 4,
    ESPL_EULER_ZYX = 5,
} espl_euler_order;

/// Write the rotation that three angles make in an order.
///
/// Each component is within 3.0e-8.
/// @param angles  about +X, +Y, +Z, whatever the order; any finite numbers of radians.
ESPL_API espl_status espl_quat_from_euler(const float angles[3], espl_euler_order order,
                                          float out[4]);
/// Write the three angles that make a rotation in an order, the inverse of espl_quat_from_euler().
///
/// The second angle of the order is in [-pi/2, pi/2], the others in [-pi, pi]; pi and pi/2 are the
/// floats next to them. Where the second angle is within 1e-6 of a quarter turn, only the sum or
/// difference of the others matters (gimbal lock): the last angle of the order is then 0, and the
/// angles make the rotation to 1e-6. Elsewhere each is within 1.2e-7 of the exact one.
/// @param angles  out, about +X, +Y, +Z, whatever the order.
ESPL_API espl_status espl_quat_to_euler(const float quat[4], espl_euler_order order,
                                        float angles[3]);

/// Write the rotation that takes one direction to another by the shortest way.
///
/// Each component is within 3.0e-8. For directions that are opposite to within 1.2e-7 it is a half
/// turn about the direction at a right angle to `from` that is nearest to +Y, or to +Z where `from`
/// is within 1e-5 of parallel to Y.
/// @param from,to  of any length but 0.
ESPL_API espl_status espl_quat_between(const float from[3], const float to[3], float out[4]);

/// Interpolate rotations linearly and bring the result to unit length: the cheap form.
///
/// The result is on the way of espl_quat_slerp(), but its speed is not constant: it is slower near
/// the ends. The difference is at most 0.12 degrees for rotations that are 45 degrees apart, 0.92
/// degrees for 90, 8.2 degrees for 180. Each component is within 3.0e-8.
/// @param t  0 gives a, bit for bit once it has unit length; 1 gives b likewise, or -b where that is
///           nearer to a. Any other finite number extrapolates, up to half a turn from the middle.
ESPL_API espl_status espl_quat_nlerp(const float a[4], const float b[4], float t, float out[4]);
/// Interpolate rotations at constant angular speed by the shortest way (spherical linear).
///
/// Of the two ways of equal length between rotations half a turn apart it takes the one from a to b
/// as they are, without a change of sign. Each component is within 3.0e-8 for t in [0, 1].
/// @param t  0 gives a, bit for bit once it has unit length; 1 gives b likewise, or -b where that is
///           nearer to a. Any other finite number continues the rotation at that speed.
ESPL_API espl_status espl_quat_slerp(const float a[4], const float b[4], float t, float out[4]);

#ifdef __cplusplus
}
#endif

#endif
