// SPDX-License-Identifier: MIT
/// @file
/// Placements as values: composing, inverting, converting, matrices. No world is needed.
///
/// Axes of the helpers: +X right, +Y up, +Z forward. Rotations are unit quaternions x, y, z, w.
/// Every result is the same bits on every machine. All functions may be called from any thread.
#ifndef ESPALIER_TRANSFORM_H
#define ESPALIER_TRANSFORM_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Placement of a frame in another one: stretch and scale, then rotate, then translate.
///
/// 48 bytes, no padding. {0} is not a placement; start from espl_transform_identity().
typedef struct espl_transform {
    float rotation[4]; ///< Quaternion x, y, z, w. Unit length within 4e-7 is kept bit for bit.
    float position[3]; ///< Origin in the parent's axes; world units.
    float scale;       ///< Uniform, inherited by children. Negative mirrors, 0 collapses.
    float stretch[3];  ///< Per axis, never inherited as shape: it only moves children's positions.
    uint32_t context;  ///< Opaque word of the user; carried along, never interpreted.
} espl_transform;

/// What queries and views hold of a placement: all but stretch and context. 32 bytes.
typedef struct espl_pose {
    float rotation[4]; ///< Quaternion x, y, z, w.
    float position[3]; ///< World units.
    float scale;       ///< Uniform.
} espl_pose;

/// Return the placement that changes nothing.
static inline espl_transform espl_transform_identity(void)
{
    const espl_transform identity = {{0, 0, 0, 1}, {0, 0, 0}, 1, {1, 1, 1}, 0};
    return identity;
}

/// Compute the world placement of a child from its parent's world and its own local placement.
///
///     rotation = parent.rotation * local.rotation
///     position = parent.position
///                + parent.rotation rotates (local.position * parent.stretch * parent.scale)
///     scale    = parent.scale * local.scale        stretch and context are local's own
///
/// The result is not checked: it may overflow to infinity.
ESPL_API espl_transform espl_transform_compose(const espl_transform *parent,
                                               const espl_transform *local);

/// Compute the local placement that espl_transform_compose() turns into `world` under `parent`.
///
///     rotation = conj(parent.rotation) * world.rotation, normalised as espl_transform_normalize()
///     position = conj(parent.rotation) rotates (world.position - parent.position), divided by
///                parent.scale and by parent.stretch
///     scale    = world.scale / parent.scale        stretch and context are world's own
///
/// The result is not checked: a tiny scale may make it overflow.
/// @param local  in and out; may be parent or world. Where the parent's scale or stretch is zero,
///               the parts that no local placement could reach keep the values that local had on
///               entry.
/// @return ESPL_OK; ESPL_LOSSY when such a part is asked for: an axis of the parent on which the
///         world position is not the parent's own, a scale other than 0. ESPL_ERR_ARGUMENT when a
///         pointer is NULL.
ESPL_API espl_status espl_transform_relative(espl_transform *local, const espl_transform *parent,
                                             const espl_transform *world);

/// Check the fields and bring the rotation to unit length.
///
/// A quaternion whose squared length is within 4e-7 of 1 is left bit for bit.
/// @return ESPL_OK, or ESPL_ERR_NOT_FINITE (a NaN, an infinity, a quaternion of zero length) with
///         the transform unchanged.
ESPL_API ESPL_NODISCARD espl_status espl_transform_normalize(espl_transform *transform);

/// Convert a point from the frame's axes to the axes it is placed in. Here and below, out may be
/// the input.
ESPL_API void espl_transform_point(float out[3], const espl_transform *frame, const float point[3]);
/// Convert a point back into the frame: the inverse of espl_transform_point(). Axes of zero scale
/// or stretch give 0.
ESPL_API void espl_transform_point_inverse(float out[3], const espl_transform *frame,
                                           const float point[3]);
/// Rotate a direction out of the frame; scale and stretch do not matter.
ESPL_API void espl_transform_direction(float out[3], const espl_transform *frame,
                                       const float direction[3]);
/// Rotate a direction into the frame.
ESPL_API void espl_transform_direction_inverse(float out[3], const espl_transform *frame,
                                               const float direction[3]);
/// Convert a vector (an offset between two points) out of the frame.
ESPL_API void espl_transform_vector(float out[3], const espl_transform *frame,
                                    const float vector[3]);
/// Convert a vector back into the frame. Axes of zero scale or stretch give 0.
ESPL_API void espl_transform_vector_inverse(float out[3], const espl_transform *frame,
                                            const float vector[3]);

/// Write T * R * diag(scale * stretch) as 3 rows of 4.
ESPL_API void espl_transform_matrix_3x4(float rows[12], const espl_transform *transform);
/// Write T * R * diag(scale * stretch) as 4 columns of 4, the order of glTF and OpenGL.
ESPL_API void espl_transform_matrix_4x4(float columns[16], const espl_transform *transform);
/// Write the inverse of espl_transform_matrix_4x4(), 4 columns of 4. Axes of zero scale or stretch
/// become rows of zeros.
ESPL_API void espl_transform_matrix_4x4_inverse(float columns[16], const espl_transform *transform);

#ifdef __cplusplus
}
#endif

#endif
