// SPDX-License-Identifier: MIT
/// @file
/// Transforms as values: composing, inverting, converting, matrices. No world is needed. Frames and
/// rotations are right-handed: X x Y = Z, and a positive turn about +Z takes +X towards +Y. The names RIGHT
/// (+X), UP (+Y) and FORWARD (+Z) are labels of axes: for a viewer who looks along +Z with +Y up, +X is on the
/// left hand. So glTF needs no mirroring. The arithmetic prefers no handedness; keep the numbers that you
/// have:
/// - glTF, OpenGL: models face +Z (ESPL_AXIS_FORWARD), so that their right is ESPL_AXIS_LEFT; cameras look
///   along -Z (ESPL_AXIS_BACK), with +X right.
/// - Blender, ROS (+Z up): the labels name other axes there, and look-at takes +Y for the up axis: compute
///   such a rotation yourself.
/// - Unity, Direct3D (left-handed): the same numbers mean the mirrored picture, in which +X is on the right
///   hand. Only where data of both kinds meet, mirror one of them: negate z of positions, and x and y of
///   rotations.
///
/// Rotations are unit quaternions x, y, z, w.
/// Every result is the same bits on every machine. A required pointer that is NULL is answered as
/// espalier/base.h says; a function that returns a transform returns the identity then.
///
/// Thread rule: transforms are values, and all functions may be called from any thread.
#ifndef ESPALIER_TRANSFORM_H
#define ESPALIER_TRANSFORM_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Transform of a frame in another one: stretch and scale, then rotate, then translate.
///
/// 48 bytes, no padding. {0} is not a transform; start from espl_transform_identity().
typedef struct espl_transform {
    float rotation[4];  ///< Quaternion x, y, z, w. Unit length within 4e-7 is kept bit for bit.
    float position[3];  ///< Origin in the parent's axes; world units.
    float scale;        ///< Uniform, inherited by children. Negative mirrors, 0 collapses.
    float stretch[3];   ///< Per axis, never inherited as shape: it only moves children's positions.
    uint32_t user_data; ///< Opaque word of the user; copied with the transform, never interpreted.
} espl_transform;

/// What queries and views hold of a transform: all but stretch and user data. 32 bytes.
typedef struct espl_pose {
    float rotation[4]; ///< Quaternion x, y, z, w.
    float position[3]; ///< World units.
    float scale;       ///< Uniform.
} espl_pose;

/// Return the transform that changes nothing.
ESPL_API espl_transform espl_transform_identity(void);

/// Compute the world transform of a child from its parent's world and its own local transform.
///
///     rotation = parent.rotation * local.rotation
///     position = parent.position
///                + parent.rotation rotates (local.position * parent.stretch * parent.scale)
///     scale    = parent.scale * local.scale        stretch and user data are local's own
///
/// The result is not checked: it may overflow to infinity.
ESPL_API espl_transform espl_transform_compose(const espl_transform *parent,
                                               const espl_transform *local);

/// Parts of its world transform that a member does NOT take from its parent. A member has a byte of
/// these; 0, the usual case, takes everything.
///
/// A kept part is stored as a world value of its own, which the parent does not change; the other parts
/// are composed with the parent's.
enum {
    ESPL_ABSOLUTE_X = 1,       ///< World x of the position.
    ESPL_ABSOLUTE_Y = 2,       ///< World y of the position.
    ESPL_ABSOLUTE_Z = 4,       ///< World z of the position.
    ESPL_ABSOLUTE_FORWARD = 8, ///< World direction of +Z.
    ESPL_ABSOLUTE_UP = 16,     ///< World direction of +Y.
    /// Where one direction alone is kept, up is exact and forward as near as it can be; without
    /// this flag it is the other way round.
    ESPL_STRICT_UP = 32,
    ESPL_ABSOLUTE_SCALE = 64, ///< World scale.
    /// World is a copy of the parent's, all 48 bytes. Excludes every other flag.
    ESPL_COPY_PARENT = 128,

    ESPL_ABSOLUTE_POSITION = ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_Z,
    ESPL_ABSOLUTE_ROTATION =
        ESPL_ABSOLUTE_FORWARD | ESPL_ABSOLUTE_UP, ///< The whole rotation, bit for bit.
};

/// Compute the world transform of a member with inherit flags.
///
///     composed = espl_transform_compose(parent, local)
///     position = kept's on the axes that are kept, composed's on the others
///     scale    = kept's or composed's
///     rotation = kept's where both directions are kept, composed's where none is; else of
///                f = forward of (forward kept ? kept : composed), u = up of (up kept ? kept :
///                composed), right = normalize(u x f): the axes (right, f x right, f), or
///                (right, u, right x u) for ESPL_STRICT_UP
///
/// Where right vanishes (f and u within 1e-5 of parallel) the rotation is the one whole that holds
/// the exact direction; where kept and composed rotation are the same bits, it is that one.
/// ESPL_COPY_PARENT gives parent as it is. The result is not checked.
/// @param kept   parts that the flags do not name are not read.
/// @param flags  a byte of ESPL_ABSOLUTE_ flags.
ESPL_API espl_transform espl_transform_inherit(const espl_transform *parent,
                                               const espl_transform *local,
                                               const espl_transform *kept, uint32_t flags);

/// Compute the local transform that espl_transform_compose() turns into `world` under `parent`.
///
///     rotation = conj(parent.rotation) * world.rotation, normalised as espl_transform_normalize()
///     position = conj(parent.rotation) rotates (world.position - parent.position), divided by
///                parent.scale and by parent.stretch
///     scale    = world.scale / parent.scale        stretch and user data are world's own
///
/// The result is not checked: a tiny scale may make it overflow.
/// @param local  in and out; may be parent or world. Where the parent's scale or stretch is zero,
///               the parts that no local transform could reach keep the values that local had on
///               entry.
/// @return ESPL_OK; ESPL_LOSSY when `world` needs such a part: its position differs from the parent's
///         on such an axis, or its scale is not 0. ESPL_ERR_ARGUMENT when a pointer is NULL.
ESPL_API espl_status espl_transform_relative(const espl_transform *parent,
                                             const espl_transform *world, espl_transform *local);

/// Check the fields and bring the rotation to unit length.
///
/// A quaternion whose squared length is within 4e-7 of 1 is left bit for bit.
/// @return ESPL_OK, or ESPL_ERR_NOT_FINITE (a NaN, an infinity, a quaternion of zero length) with
///         the transform unchanged.
ESPL_API ESPL_NODISCARD espl_status espl_transform_normalize(espl_transform *transform);

/// Conversions between the axes of a frame, "local", and the axes that the frame is placed in, "world"
/// for short. Each pair are inverses of each other. A point moves with the frame, a vector (an
/// offset between two points) is scaled and turned, a direction is only turned.
typedef enum espl_conversion {
    ESPL_POINT_TO_WORLD = 0,
    ESPL_POINT_TO_LOCAL = 1, ///< Axes of zero scale or stretch give 0.
    ESPL_VECTOR_TO_WORLD = 2,
    ESPL_VECTOR_TO_LOCAL = 3, ///< Axes of zero scale or stretch give 0.
    ESPL_DIRECTION_TO_WORLD = 4,
    ESPL_DIRECTION_TO_LOCAL = 5,
    ESPL_CONVERSION_COUNT
} espl_conversion;

/// Convert a point, a vector or a direction between the axes of a frame and the axes that it is placed in.
/// A conversion that does not exist writes nothing.
///
/// @param out    may be value.
/// @param value  in the axes that the conversion comes from.
ESPL_API void espl_transform_convert(const espl_transform *frame, espl_conversion conversion,
                                     const float value[3], float out[3]);

/// Direction in which an axis of a frame points.
typedef enum espl_axis {
    ESPL_AXIS_RIGHT = 0,   ///< +X
    ESPL_AXIS_UP = 1,      ///< +Y
    ESPL_AXIS_FORWARD = 2, ///< +Z
    ESPL_AXIS_LEFT = 3,    ///< -X
    ESPL_AXIS_DOWN = 4,    ///< -Y
    ESPL_AXIS_BACK = 5,    ///< -Z
} espl_axis;

/// Write the unit vector along an axis of the frame, more exactly than a direction is converted. Scale and
/// stretch, negative ones too, do not matter.
ESPL_API void espl_transform_axis(const espl_transform *frame, espl_axis axis, float out[3]);

/// Tell whether the transform mirrors: an odd number of its axes, scale times stretch, is negative.
/// Triangles then wind the other way. A transform with an axis of zero does not mirror.
ESPL_API bool espl_transform_is_mirrored(const espl_transform *transform);

/// Turn a transform in its place so that one of its axes points at a target. The axis is that of the rotation:
/// where the scale times the stretch along it is negative, a shape that is drawn along it points the other
/// way, and the opposite axis is the one to name.
///
/// @param target   in the axes that the transform is placed in.
/// @param up       direction that the transform's up axis comes as near to as it can; NULL means +Y.
///                 Where it is within 1e-5 of parallel to the direction of the target, or of no
///                 length, +Y serves, and where that is parallel too, +Z.
/// @param forward  axis that points at the target: ESPL_AXIS_FORWARD (+Z), or ESPL_AXIS_BACK (-Z, the
///                 view direction of glTF's and OpenGL's cameras), ESPL_AXIS_RIGHT (+X), any other.
///                 The up axis is +Y, and +Z where forward is +Y or -Y.
/// @return ESPL_OK; ESPL_LOSSY with nothing changed where the target is the transform's own
///         position; ESPL_ERR_NOT_FINITE (target, up or transform); ESPL_ERR_ARGUMENT (NULL, or no
///         such axis).
ESPL_API espl_status espl_transform_look_at(espl_transform *transform, const float target[3],
                                            const float *up, espl_axis forward);

/// Turn a transform about a point: position and rotation change, the rest stays.
///
/// @param rotation  normalised first.
/// @return ESPL_OK, ESPL_ERR_NOT_FINITE, ESPL_ERR_RANGE (the position would overflow),
///         ESPL_ERR_ARGUMENT (NULL); refused, nothing is changed.
ESPL_API espl_status espl_transform_rotate_about(espl_transform *transform, const float pivot[3],
                                                 const float rotation[4]);

/// Interpolate between two transforms: position, scale and stretch linearly, the rotation by
/// espl_quat_slerp(), which keeps a constant speed as the position does.
///
/// @param out  may be a or b.
/// @param t    0 gives a, bit for bit; 1 gives b, bit for bit, but for the sign of the whole
///             quaternion where -b is nearer to a. Rotations are brought to unit length first, as
///             espl_transform_normalize() does. Any other finite number extrapolates. The user data is
///             a's below 1, and b's from 1 on.
/// @return ESPL_OK; ESPL_ERR_NOT_FINITE (a, b or t); ESPL_ERR_RANGE (a number overflows, which takes a
///         t outside [0, 1]); ESPL_ERR_ARGUMENT (NULL). Refused, out is unchanged.
ESPL_API espl_status espl_transform_lerp(const espl_transform *a, const espl_transform *b, float t,
                                         espl_transform *out);

/// Form of a matrix.
typedef enum espl_matrix_form {
    ESPL_MATRIX_3X4 = 0, ///< float[12]: T * R * diag(scale * stretch) as 3 rows of 4
    ESPL_MATRIX_4X4 = 1, ///< float[16]: the same as 4 columns of 4, the order of glTF and OpenGL
    /// float[16]: the inverse of ESPL_MATRIX_4X4, 4 columns of 4. Axes of zero scale or stretch become
    /// rows of zeros.
    ESPL_MATRIX_4X4_INVERSE = 2,
    ESPL_MATRIX_FORM_COUNT
} espl_matrix_form;

/// Write a transform as a matrix. A form that does not exist writes nothing.
///
/// @param out  12 or 16 numbers, as the form has them.
ESPL_API void espl_transform_to_matrix(const espl_transform *transform, espl_matrix_form form,
                                       float *out);

/// Decompose a matrix into the transform whose ESPL_MATRIX_4X4 it is.
///
/// Lengths of the columns that are equal to 1e-6 of the largest become the scale; others become the
/// stretch, with a scale of 1. A mirroring matrix gets a negative scale. A column of zeros is an
/// axis of zero; the rotation then follows from the columns that are left.
/// @param columns   4 columns of 4, the order of glTF and OpenGL.
/// @param residual  NULL, or out: the largest difference between an element of the upper 3 x 3 and
///                  that of the transform found, divided by the largest column length; 0 for a
///                  matrix of zeros. Written whenever the elements are finite.
/// @return ESPL_OK; ESPL_ERR_SHEAR (a residual above 1e-4, or a last row other than 0, 0, 0, 1);
///         ESPL_ERR_NOT_FINITE; ESPL_ERR_RANGE (a length overflows); ESPL_ERR_ARGUMENT (NULL).
///         Refused, out is unchanged. The user data is 0.
ESPL_API espl_status espl_transform_from_matrix(const float columns[16], espl_transform *out,
                                                float *residual);

/// Make a transform of glTF's translation, rotation (x, y, z, w) and scale per axis. Scales that are
/// equal to 1e-6 of the largest, as lengths of columns are in espl_transform_from_matrix(), become
/// the scale; others become the stretch, with a scale of 1, and are then not inherited as shape, which
/// glTF would do. The user data is 0.
/// @return ESPL_OK; ESPL_ERR_NOT_FINITE; ESPL_ERR_ARGUMENT (NULL). Refused, out is unchanged.
ESPL_API espl_status espl_transform_from_trs(const float translation[3], const float rotation[4],
                                             const float scale[3], espl_transform *out);
/// Write a transform as glTF's translation, rotation and scale; scale[i] is scale * stretch[i].
ESPL_API void espl_transform_to_trs(const espl_transform *transform, float translation[3],
                                    float rotation[4], float scale[3]);

#ifdef __cplusplus
}
#endif

#endif
