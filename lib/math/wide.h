// SPDX-License-Identifier: MIT
// A wide pose is one pose in two SIMD registers of four floats. It serves where nodes come one at a
// time, too few for the kernels of kernels.h. Composing has the operations of
// espl__pose_compose_to() in the same order, so that it gives the same bits.
//
// A target without these registers has the same functions over a plain pose.
#ifndef ESPALIER_LIB_MATH_WIDE_H
#define ESPALIER_LIB_MATH_WIDE_H

#include "lib/math/pose.h"

// The vector extensions of gcc and clang, on the targets whose SIMD units keep denormals.
#if defined(__has_builtin) && defined(__GNUC__) && \
    (defined(__SSE2__) || defined(__aarch64__) || defined(__wasm_simd128__))
#if __has_builtin(__builtin_shufflevector)
#define ESPL__HAS_WIDE 1
#endif
#endif
#ifndef ESPL__HAS_WIDE
#define ESPL__HAS_WIDE 0
#endif

#if ESPL__HAS_WIDE

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

/// Four floats.
typedef float espl__float4 __attribute__((vector_size(16)));
/// What a test found in each of four elements: zero is nothing, the bits of a NaN are a finding.
typedef int32_t espl__wide_bits __attribute__((vector_size(16)));

#else

/// The result of a test. No bit is set where the test finds nothing.
typedef uint32_t espl__wide_bits;

#endif

/// A pose in registers.
typedef struct espl__wide_pose {
#if ESPL__HAS_WIDE
    espl__float4 rotation;
    espl__float4 position_scale;
#else
    espl_pose pose;
#endif
} espl__wide_pose;

#if ESPL__HAS_WIDE

_Static_assert(offsetof(espl_pose, position) == 16 && offsetof(espl_pose, scale) == 28,
               "position and scale are the second half of a pose");

/// Load a pose.
ESPL__INLINE espl__wide_pose espl__wide_load(const espl_pose *pose)
{
    espl__wide_pose out;

    memcpy(&out.rotation, pose->rotation, sizeof out.rotation);
    memcpy(&out.position_scale, (const unsigned char *)pose + sizeof out.rotation,
           sizeof out.position_scale);
    return out;
}

/// Load the pose at any address: an espl_pose, or the first 32 bytes of an espl_transform.
ESPL__INLINE espl__wide_pose espl__wide_from(const void *bytes)
{
    espl__wide_pose out;

    memcpy(&out.rotation, bytes, sizeof out.rotation);
    memcpy(&out.position_scale, (const unsigned char *)bytes + sizeof out.rotation,
           sizeof out.position_scale);
    return out;
}

/// Store a pose.
ESPL__INLINE void espl__wide_store(espl_pose *pose, espl__wide_pose value)
{
    memcpy(pose->rotation, &value.rotation, sizeof value.rotation);
    memcpy((unsigned char *)pose + sizeof value.rotation, &value.position_scale,
           sizeof value.position_scale);
}

/// Return the signs of the four elements as bits 0 to 3.
ESPL__INLINE unsigned espl__wide_signs(espl__wide_bits bits)
{
// x86 has an instruction for it.
#ifdef __SSE2__
    return (unsigned)_mm_movemask_ps((__m128)bits);
#else
    const espl__wide_bits signs = (bits >> 31) & (espl__wide_bits){1, 2, 4, 8};

    return (unsigned)(signs[0] | signs[1] | signs[2] | signs[3]);
#endif
}

/// Tell whether tests found nothing. Join the results of several tests by |.
ESPL__INLINE bool espl__wide_found_nothing(espl__wide_bits bits)
{
    const espl__float4 found = (espl__float4)bits;

    return espl__wide_signs(found != found) == 0;
}

/// Tell whether two poses have the same bits.
ESPL__INLINE bool espl__wide_is_same(espl__wide_pose a, espl__wide_pose b)
{
    const espl__wide_bits rotation = (espl__wide_bits)a.rotation == (espl__wide_bits)b.rotation;
    const espl__wide_bits rest =
        (espl__wide_bits)a.position_scale == (espl__wide_bits)b.position_scale;

    return espl__wide_signs(rotation & rest) == 15;
}

/// Test position and scale for values that are not finite. x - x is zero for a finite x, else NaN.
ESPL__INLINE espl__wide_bits espl__wide_nonfinite(espl__wide_pose pose)
{
    return (espl__wide_bits)(pose.position_scale - pose.position_scale);
}

/// Tell whether all values of a pose are finite.
ESPL__INLINE bool espl__wide_is_finite(espl__wide_pose pose)
{
    return espl__wide_found_nothing((espl__wide_bits)(pose.rotation - pose.rotation) |
                                    (espl__wide_bits)(pose.position_scale - pose.position_scale));
}

/// Tell whether the rotation of a pose has unit length, as espl__rotation_is_unit(). Such a rotation
/// is finite.
ESPL__INLINE bool espl__wide_is_unit(espl__wide_pose pose)
{
    const espl__float4 squares = pose.rotation * pose.rotation;
    const float off_unit = squares[0] + squares[1] + squares[2] + squares[3] - 1;

    return fabsf(off_unit) <= 4e-7f;
}

/// Multiply the position of a local by the stretch of its parent. Composing the result gives the bits
/// of espl__pose_compose_to() with that stretch.
ESPL__INLINE espl__wide_pose espl__wide_stretched(espl__wide_pose local, const float stretch[3])
{
    const espl__float4 factors = {stretch[0], stretch[1], stretch[2], 1};

    return (espl__wide_pose){local.rotation, local.position_scale * factors};
}

/// Return the scale of a pose in all elements.
ESPL__INLINE espl__float4 espl__wide_scale(espl__wide_pose pose)
{
    return __builtin_shufflevector(pose.position_scale, pose.position_scale, 3, 3, 3, 3);
}

/// Compose the world pose of a child whose parent has no stretch: the bits of
/// espl__pose_compose_to().
///
/// The fourth element of a cross product is not used, so that its shuffles can be those of the
/// Hamilton product. The Hamilton product subtracts its second and third product in the fourth
/// element and adds them in the others. Here they are added, and the fourth element of a factor has
/// its sign flipped, which gives the same bits. It is the factor of the local, because in a chain the
/// rotation of the parent comes late.
/// @param scale  in: of the parent, espl__wide_scale(); out: of the child. It is known before the
///               position that it is stored with, so that in a chain the next child need not wait.
ESPL__INLINE espl__wide_pose espl__wide_compose_next(espl__wide_pose parent, espl__float4 *scale,
                                                     espl__wide_pose local)
{
    const espl__wide_bits flip_fourth = {0, 0, 0, INT32_MIN};
    const espl__float4 a = parent.rotation, b = local.rotation;
    const espl__float4 w = __builtin_shufflevector(a, a, 3, 3, 3, 3);
    const espl__float4 yzx = __builtin_shufflevector(a, a, 1, 2, 0, 1);
    const espl__float4 zxy = __builtin_shufflevector(a, a, 2, 0, 1, 2);

    // The position. The fourth element of v is the product of the scales.
    const espl__float4 v = local.position_scale * *scale;
    const espl__float4 t = 2 * (yzx * __builtin_shufflevector(v, v, 2, 0, 1, 2) -
                                zxy * __builtin_shufflevector(v, v, 1, 2, 0, 1));
    const espl__float4 u = yzx * __builtin_shufflevector(t, t, 2, 0, 1, 2) -
                           zxy * __builtin_shufflevector(t, t, 1, 2, 0, 1);
    const espl__float4 position_scale = parent.position_scale + (v + (w * t + u));

    // The rotation: the first to fourth product of each component.
    const espl__float4 wwwx = __builtin_shufflevector(b, b, 3, 3, 3, 0);
    const espl__float4 zxyy = __builtin_shufflevector(b, b, 2, 0, 1, 1);
    const espl__float4 second = __builtin_shufflevector(a, a, 0, 1, 2, 0) *
                                (espl__float4)((espl__wide_bits)wwwx ^ flip_fourth);
    const espl__float4 third = yzx * (espl__float4)((espl__wide_bits)zxyy ^ flip_fourth);
    const espl__float4 fourth = zxy * __builtin_shufflevector(b, b, 1, 2, 0, 2);
    const espl__float4 rotation = w * b + second + third - fourth;

    // Position and scale, in two shuffles of one instruction each. gcc 12 makes seven instructions
    // of one shuffle that has the same result.
    const espl__float4 last = __builtin_shufflevector(position_scale, v, 2, 2, 7, 7);

    *scale = __builtin_shufflevector(v, v, 3, 3, 3, 3);
    return (espl__wide_pose){rotation, __builtin_shufflevector(position_scale, last, 0, 1, 4, 6)};
}

/// Compute the world of one child.
ESPL__INLINE espl__wide_pose espl__wide_compose(espl__wide_pose parent, espl__wide_pose local)
{
    espl__float4 scale = espl__wide_scale(parent);

    return espl__wide_compose_next(parent, &scale, local);
}

#else

// The functions above over an espl_pose. A test that finds something yields 1.

static inline espl__wide_pose espl__wide_load(const espl_pose *pose)
{
    return (espl__wide_pose){*pose};
}

static inline espl__wide_pose espl__wide_from(const void *bytes)
{
    espl__wide_pose out;

    memcpy(&out.pose, bytes, sizeof out.pose);
    return out;
}

static inline void espl__wide_store(espl_pose *pose, espl__wide_pose value)
{
    *pose = value.pose;
}

static inline bool espl__wide_found_nothing(espl__wide_bits bits)
{
    return bits == 0;
}

static inline bool espl__wide_is_same(espl__wide_pose a, espl__wide_pose b)
{
    return espl__pose_is_same(&a.pose, &b.pose);
}

static inline espl__wide_bits espl__wide_nonfinite(espl__wide_pose pose)
{
    return espl__all_finite(pose.pose.position, 3) && espl__all_finite(&pose.pose.scale, 1) ? 0 : 1;
}

static inline bool espl__wide_is_finite(espl__wide_pose pose)
{
    return espl__pose_is_finite(&pose.pose);
}

static inline bool espl__wide_is_unit(espl__wide_pose pose)
{
    return espl__rotation_is_unit(pose.pose.rotation);
}

static inline espl__wide_pose espl__wide_stretched(espl__wide_pose local, const float stretch[3])
{
    for (int i = 0; i < 3; ++i) {
        local.pose.position[i] *= stretch[i];
    }
    return local;
}

static inline espl__wide_pose espl__wide_compose(espl__wide_pose parent, espl__wide_pose local)
{
    return (espl__wide_pose){espl__pose_compose(&parent.pose, NULL, &local.pose)};
}

#endif

/// Tell whether a value of a write is finite and has a rotation of unit length.
/// @param value        at any address: an espl_pose, or an espl_transform, which begins with one.
/// @param has_stretch  it is a transform.
ESPL__INLINE bool espl__value_is_sound(const void *value, bool has_stretch)
{
    const espl__wide_pose pose = espl__wide_from(value);

    return espl__wide_is_unit(pose) && espl__wide_found_nothing(espl__wide_nonfinite(pose)) &&
           (!has_stretch || espl__all_finite(((const espl_transform *)value)->stretch, 3));
}

#endif
