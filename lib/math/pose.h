// SPDX-License-Identifier: MIT
// The formulas of a transform. Their order of operations is specified, so that every target and
// every kernel computes the same bits. A pose is the part of a transform that children inherit:
// rotation, position and scale. The stretch and the user word are its extra part.
#ifndef ESPALIER_LIB_MATH_POSE_H
#define ESPALIER_LIB_MATH_POSE_H

#include "lib/base/trap.h"

#include <espalier/transform.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

// The same bits require that each float operation rounds to float at once, to nearest, and keeps
// denormals, and that the compiler does not contract operations (-ffp-contract=off). The x87 unit
// does not round at once. A value of 16 means the same as 0 for float.
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16, "float operations round to float");

/// The part of a transform that children do not inherit. Most entities have the default.
typedef struct espl__extra {
    float stretch[3];
    uint32_t user_data;
} espl__extra;

/// The transform that changes nothing.
static inline espl_transform espl__transform_identity(void)
{
    return (espl_transform){.rotation = {0, 0, 0, 1}, .scale = 1, .stretch = {1, 1, 1}};
}

_Static_assert(sizeof(espl_transform) == 48, "transform: 16 + 12 + 4 + 12 + 4");
_Static_assert(sizeof(espl_pose) == 32, "pose: 16 + 12 + 4");
_Static_assert(sizeof(espl__extra) == 16, "extra: 12 + 4");

/// Return the pose that changes nothing.
static inline espl_pose espl__pose_identity(void)
{
    return (espl_pose){{0, 0, 0, 1}, {0, 0, 0}, 1};
}

/// Return the extra part that changes nothing: stretch 1, user word 0.
static inline espl__extra espl__extra_default(void)
{
    return (espl__extra){{1, 1, 1}, 0};
}

/// Tell whether an extra part has the bits of the default: two wide compares.
static inline bool espl__extra_is_default(const espl__extra *extra)
{
    const espl__extra plain = espl__extra_default();
    uint64_t found[2], expected[2];

    memcpy(found, extra, sizeof found);
    memcpy(expected, &plain, sizeof expected);
    return ((found[0] ^ expected[0]) | (found[1] ^ expected[1])) == 0;
}

// A transform begins with its pose, so that the pose is copied as a whole. Copied by fields, a wide
// load of fields that were just stored would stall, because the stores are narrower than the load.
_Static_assert(offsetof(espl_transform, rotation) == offsetof(espl_pose, rotation) &&
                   offsetof(espl_transform, position) == offsetof(espl_pose, position) &&
                   offsetof(espl_transform, scale) == offsetof(espl_pose, scale),
               "a transform begins with its pose");

/// Return the pose of a transform.
static inline espl_pose espl__pose_of(const espl_transform *transform)
{
    espl_pose pose;

    memcpy(&pose, transform, sizeof pose);
    return pose;
}

// Return 64 bits of a pose. Each is loaded by itself, because compilers copy whole poses to the stack.
static inline uint64_t espl__pose_word(const espl_pose *pose, size_t number)
{
    uint64_t word;

    memcpy(&word, (const unsigned char *)pose + number * sizeof word, sizeof word);
    return word;
}

/// Tell whether two poses have the same bits. Wide compares, because a call of memcmp() costs as
/// much as the rest of a small write.
static inline bool espl__pose_is_same(const espl_pose *a, const espl_pose *b)
{
    return ((espl__pose_word(a, 0) ^ espl__pose_word(b, 0)) |
            (espl__pose_word(a, 1) ^ espl__pose_word(b, 1)) |
            (espl__pose_word(a, 2) ^ espl__pose_word(b, 2)) |
            (espl__pose_word(a, 3) ^ espl__pose_word(b, 3))) == 0;
}

/// Tell whether two poses have the same bits, where any NaN equals any other: sign and payload of a NaN
/// depend on the machine.
static inline bool espl__pose_is_alike(const espl_pose *a, const espl_pose *b)
{
    float x[8], y[8];
    bool is_alike = true;

    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (int i = 0; i < 8; ++i) {
        is_alike =
            is_alike && (memcmp(&x[i], &y[i], sizeof x[i]) == 0 || (isnan(x[i]) && isnan(y[i])));
    }
    return is_alike;
}

/// Return the extra part of a transform.
static inline espl__extra espl__extra_of(const espl_transform *transform)
{
    const espl_transform *const t = transform;

    return (espl__extra){{t->stretch[0], t->stretch[1], t->stretch[2]}, t->user_data};
}

/// Return the transform of a pose and an extra part.
static inline espl_transform espl__transform_of(const espl_pose *pose, const espl__extra *extra)
{
    return (espl_transform){
        {pose->rotation[0], pose->rotation[1], pose->rotation[2], pose->rotation[3]},
        {pose->position[0], pose->position[1], pose->position[2]},
        pose->scale,
        {extra->stretch[0], extra->stretch[1], extra->stretch[2]},
        extra->user_data};
}

/// out = conjugate of q, which is its inverse at unit length. out may be q.
static inline void espl__rotation_conjugate(float out[ESPL__LEAST 4], const float q[ESPL__LEAST 4])
{
    out[0] = -q[0];
    out[1] = -q[1];
    out[2] = -q[2];
    out[3] = q[3];
}

/// out = a * b, the Hamilton product: the rotation b, then a. out overlaps neither.
///
/// The order of the sums is specified: ((w x + x w) + y z) - z y, and so on for each component.
static inline void espl__rotation_multiply(float out[ESPL__LEAST 4], const float a[ESPL__LEAST 4],
                                           const float b[ESPL__LEAST 4])
{
    ESPL_CHECK_FULL(out != a && out != b);
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    out[1] = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
    out[2] = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/// out = q v q*, computed as v + (w t + u x t) with t = 2 (u x v), where u is the vector part of q
/// and w its scalar part. out overlaps neither.
static inline void espl__rotation_apply(float out[ESPL__LEAST 3], const float q[ESPL__LEAST 4],
                                        const float v[ESPL__LEAST 3])
{
    ESPL_CHECK_FULL(out != q && out != v);
    const float x = 2 * (q[1] * v[2] - q[2] * v[1]);
    const float y = 2 * (q[2] * v[0] - q[0] * v[2]);
    const float z = 2 * (q[0] * v[1] - q[1] * v[0]);

    out[0] = v[0] + (q[3] * x + (q[1] * z - q[2] * y));
    out[1] = v[1] + (q[3] * y + (q[2] * x - q[0] * z));
    out[2] = v[2] + (q[3] * z + (q[0] * y - q[1] * x));
}

/// Compose the world pose of a child from its local pose and the world pose of its parent:
///
///     rotation = parent.rotation * local.rotation
///     position = parent.position
///                + parent.rotation rotates (local.position * stretch * parent.scale)
///     scale    = parent.scale * local.scale
///
/// The operations are those of espl__rotation_apply() and espl__rotation_multiply(). The result is
/// computed in registers and stored by fields. A pose that is built on the stack and copied takes
/// gcc 12 four times as long, because its loads are wider than the stores before them.
/// @param out      overlaps neither parent nor local.
/// @param stretch  of the parent; NULL means 1, 1, 1 and gives the same bits.
ESPL__INLINE void espl__pose_compose_to(espl_pose *restrict out, const espl_pose *parent,
                                        const float *stretch, const espl_pose *local)
{
    ESPL_CHECK_FULL(out != parent && out != local);
    const float ax = parent->rotation[0], ay = parent->rotation[1];
    const float az = parent->rotation[2], aw = parent->rotation[3];
    const float bx = local->rotation[0], by = local->rotation[1];
    const float bz = local->rotation[2], bw = local->rotation[3];
    const float *const p = local->position;
    const float vx = (stretch != NULL ? p[0] * stretch[0] : p[0]) * parent->scale;
    const float vy = (stretch != NULL ? p[1] * stretch[1] : p[1]) * parent->scale;
    const float vz = (stretch != NULL ? p[2] * stretch[2] : p[2]) * parent->scale;
    const float tx = 2 * (ay * vz - az * vy);
    const float ty = 2 * (az * vx - ax * vz);
    const float tz = 2 * (ax * vy - ay * vx);

    out->rotation[0] = aw * bx + ax * bw + ay * bz - az * by;
    out->rotation[1] = aw * by + ay * bw + az * bx - ax * bz;
    out->rotation[2] = aw * bz + az * bw + ax * by - ay * bx;
    out->rotation[3] = aw * bw - ax * bx - ay * by - az * bz;
    out->position[0] = parent->position[0] + (vx + (aw * tx + (ay * tz - az * ty)));
    out->position[1] = parent->position[1] + (vy + (aw * ty + (az * tx - ax * tz)));
    out->position[2] = parent->position[2] + (vz + (aw * tz + (ax * ty - ay * tx)));
    out->scale = parent->scale * local->scale;
}

/// Return what espl__pose_compose_to() computes, for single transforms.
static inline espl_pose espl__pose_compose(const espl_pose *parent, const float *stretch,
                                           const espl_pose *local)
{
    espl_pose out;

    espl__pose_compose_to(&out, parent, stretch, local);
    return out;
}

/// Divide an offset by a scale and then by a stretch, neither of them 0. Not by their product, which may
/// overflow or underflow. Where the quotient between them leaves the normal numbers, the division is done in
/// double, because the stretch may bring it back.
static inline float espl__unscale(float offset, float scale, float stretch)
{
    const float between = offset / scale;

    if (stretch == 1) {
        return between;
    }
    const bool is_normal = fabsf(between) >= FLT_MIN && fabsf(between) <= FLT_MAX;

    return is_normal || offset == 0 ? between / stretch
                                    : (float)((double)offset / ((double)scale * (double)stretch));
}

/// Flags of the parts of a world pose that no local pose can reach, because a factor of the parent
/// is zero.
enum { ESPL__LOST_X = 1, ESPL__LOST_Y = 2, ESPL__LOST_Z = 4, ESPL__LOST_SCALE = 8 };

/// Compute the local pose that composes to `world` under a parent.
///
///     rotation = conj(parent.rotation) * world.rotation, normalised
///     position = (conj(parent.rotation) rotates (world.position - parent.position))
///                divided by parent.scale, then by stretch
///     scale    = world.scale / parent.scale
///
/// An axis of the position, in the axes of the parent, is out of reach where parent.scale or its
/// stretch is zero. The scale is out of reach where parent.scale is zero. Parts out of reach take
/// the value of `fallback`. The result may overflow, because a scale may be tiny.
/// @param out      may be any of the other poses.
/// @param stretch  of the parent; NULL means 1, 1, 1.
/// @return ESPL__LOST_ flags of the parts that are out of reach and wanted: an axis on which the
///         rotated offset is not zero before any division, and the scale where world.scale is not
///         zero. A part without a flag composes to the wanted value for any fallback.
unsigned espl__pose_relative(espl_pose *out, const espl_pose *parent, const float *stretch,
                             const espl_pose *world, const espl_pose *fallback);

/// The slow path of espl__rotation_normalize(), for a rotation that is not of unit length.
bool espl__rotation_to_unit(float q[ESPL__LEAST 4]);

/// Tell whether the squared length of a rotation, summed in float from x to w, is within 4e-7 of 1.
/// False for a NaN.
static inline bool espl__rotation_is_unit(const float q[ESPL__LEAST 4])
{
    const float off_unit = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1;

    return fabsf(off_unit) <= 4e-7f;
}

/// Bring a rotation to unit length in place. A rotation of unit length keeps its bits, so that the
/// operation is idempotent.
/// @return false, and no change, where the length is zero, NaN or infinite.
static inline bool espl__rotation_normalize(float q[ESPL__LEAST 4])
{
    return espl__rotation_is_unit(q) || espl__rotation_to_unit(q);
}

/// Tell whether all of `count` values are finite.
bool espl__all_finite(const float *values, size_t count);

// The sum of the values of a pose. It is finite only if all values are. Where it is not finite the
// values are tested one by one, because the sum of large finite values may overflow.
static inline float espl__pose_sum(const float q[ESPL__LEAST 4], const float p[ESPL__LEAST 3],
                                   float scale)
{
    return ((q[0] + q[1]) + (q[2] + q[3])) + ((p[0] + p[1]) + (p[2] + scale));
}

/// Tell whether all values of a pose are finite.
static inline bool espl__pose_is_finite(const espl_pose *pose)
{
    const float sum = espl__pose_sum(pose->rotation, pose->position, pose->scale);

    // x - x is zero for a finite x, else NaN.
    return sum - sum == 0 ||
           (espl__all_finite(pose->rotation, 4) && espl__all_finite(pose->position, 3) &&
            espl__all_finite(&pose->scale, 1));
}

/// Tell whether the stretch is finite. The user word is no float.
static inline bool espl__extra_is_finite(const espl__extra *extra)
{
    return espl__all_finite(extra->stretch, 3);
}

/// Tell whether all values of a transform are finite.
static inline bool espl__transform_is_finite(const espl_transform *transform)
{
    const espl_transform *const t = transform;
    const float sum = espl__pose_sum(t->rotation, t->position, t->scale) +
                      (t->stretch[0] + t->stretch[1] + t->stretch[2]);

    return sum - sum == 0 ||
           (espl__all_finite(t->rotation, 4) && espl__all_finite(t->position, 3) &&
            espl__all_finite(&t->scale, 1) && espl__all_finite(t->stretch, 3));
}

#endif
