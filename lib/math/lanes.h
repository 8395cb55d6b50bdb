// SPDX-License-Identifier: MIT
// The world pose of one child, four floats at a time: for nodes that come one by one, where there
// are too few for a kernel that takes several nodes at once. The operations of
// espl__pose_compose_to() in the same order, so that the bits are the same.
#ifndef ESPALIER_LIB_MATH_LANES_H
#define ESPALIER_LIB_MATH_LANES_H

#include "lib/math/pose.h"

// Vectors of floats as gcc and clang have them. Other targets could compile them, but some of their
// vector units round denormals off.
#if defined(__has_builtin) && defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
#if __has_builtin(__builtin_shufflevector)
#define ESPL__HAS_LANES 1
#endif
#endif
#ifndef ESPL__HAS_LANES
#define ESPL__HAS_LANES 0
#endif

#if ESPL__HAS_LANES

typedef float espl__lanes __attribute__((vector_size(16)));
typedef int32_t espl__lane_bits __attribute__((vector_size(16)));
typedef double espl__lane_pairs __attribute__((vector_size(16)));

#else

typedef uint32_t espl__lane_bits;

#endif

/// A pose as the functions below compute with it: in two vectors of four floats, where there are vectors.
typedef struct espl__laned {
#if ESPL__HAS_LANES
    espl__lanes rotation;
    espl__lanes place; // position, then scale
#else
    espl_pose pose;
#endif
} espl__laned;

#if ESPL__HAS_LANES

_Static_assert(offsetof(espl_pose, position) == 16 && offsetof(espl_pose, scale) == 28,
               "position and scale are the second half of a pose");

ESPL__INLINE espl__laned espl__laned_load(const espl_pose *pose)
{
    espl__laned out;

    memcpy(&out.rotation, pose->rotation, sizeof out.rotation);
    memcpy(&out.place, (const unsigned char *)pose + sizeof out.rotation, sizeof out.place);
    return out;
}

/// The pose at any address: an espl_pose, or the first 32 bytes of an espl_transform.
ESPL__INLINE espl__laned espl__laned_from(const void *bytes)
{
    espl__laned out;

    memcpy(&out.rotation, bytes, sizeof out.rotation);
    memcpy(&out.place, (const unsigned char *)bytes + sizeof out.rotation, sizeof out.place);
    return out;
}

ESPL__INLINE void espl__laned_store(espl_pose *pose, espl__laned value)
{
    memcpy(pose->rotation, &value.rotation, sizeof value.rotation);
    memcpy((unsigned char *)pose + sizeof value.rotation, &value.place, sizeof value.place);
}

/// The same pose at another position.
ESPL__INLINE espl__laned espl__laned_at(espl__laned pose, const float position[3])
{
    double xy;
    float z;

    memcpy(&xy, position, sizeof xy);
    memcpy(&z, position + 2, sizeof z);
    const espl__lanes low = (espl__lanes)(espl__lane_pairs){xy, 0};
    const espl__lanes high = __builtin_shufflevector((espl__lanes){z}, pose.place, 0, 0, 7, 7);

    return (espl__laned){pose.rotation, __builtin_shufflevector(low, high, 0, 1, 4, 6)};
}

/// Tell whether no bit is set.
ESPL__INLINE bool espl__lane_bits_are_zero(espl__lane_bits bits)
{
    uint64_t halves[2];

    memcpy(halves, &bits, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

/// Bits in which two poses differ.
ESPL__INLINE espl__lane_bits espl__laned_differ(espl__laned a, espl__laned b)
{
    return ((espl__lane_bits)a.rotation ^ (espl__lane_bits)b.rotation) |
           ((espl__lane_bits)a.place ^ (espl__lane_bits)b.place);
}

/// Tell whether each of four differences has a bit set.
ESPL__INLINE bool espl__lane_bits_are_each_set(espl__lane_bits a, espl__lane_bits b,
                                               espl__lane_bits c, espl__lane_bits d)
{
    const espl__lane_bits ab =
        __builtin_shufflevector(a, b, 0, 1, 4, 5) | __builtin_shufflevector(a, b, 2, 3, 6, 7);
    const espl__lane_bits cd =
        __builtin_shufflevector(c, d, 0, 1, 4, 5) | __builtin_shufflevector(c, d, 2, 3, 6, 7);
    const espl__lane_bits each =
        __builtin_shufflevector(ab, cd, 0, 2, 4, 6) | __builtin_shufflevector(ab, cd, 1, 3, 5, 7);

    return espl__lane_bits_are_zero(each == 0);
}

/// Bits that are set where position or scale is not finite: x - x is zero, or else NaN.
ESPL__INLINE espl__lane_bits espl__laned_alarm(espl__laned pose)
{
    return (espl__lane_bits)(pose.place - pose.place);
}

ESPL__INLINE bool espl__laned_is_finite(espl__laned pose)
{
    return espl__lane_bits_are_zero((espl__lane_bits)(pose.rotation - pose.rotation) |
                                    (espl__lane_bits)(pose.place - pose.place));
}

ESPL__INLINE espl__lanes espl__lanes_at(const float *values)
{
    espl__lanes out;

    memcpy(&out, values, sizeof out);
    return out;
}

/// Off unit length or not: espl__rotation_is_unit() of four rotations, a lane each.
ESPL__INLINE espl__lane_bits espl__lanes_off_unit(espl__lanes a, espl__lanes b, espl__lanes c,
                                                  espl__lanes d)
{
    const espl__lanes ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const espl__lanes cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const espl__lanes ab_end = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const espl__lanes cd_end = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const espl__lanes x = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    const espl__lanes y = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    const espl__lanes z = __builtin_shufflevector(ab_end, cd_end, 0, 1, 4, 5);
    const espl__lanes w = __builtin_shufflevector(ab_end, cd_end, 2, 3, 6, 7);
    const espl__lanes off_unit = x * x + y * y + z * z + w * w - 1;

    return ~((off_unit <= 4e-7f) & (off_unit >= -4e-7f));
}

/// Bits that are set where one of four poses is not finite, or its rotation not of unit length; also
/// where large values overflow when they are added up.
ESPL__INLINE espl__lane_bits espl__poses_alarm(const espl_pose *a, const espl_pose *b,
                                               const espl_pose *c, const espl_pose *d)
{
    const espl__lanes places = espl__lanes_at(a->position) + espl__lanes_at(b->position) +
                               (espl__lanes_at(c->position) + espl__lanes_at(d->position));
    const espl__lane_bits off_unit =
        espl__lanes_off_unit(espl__lanes_at(a->rotation), espl__lanes_at(b->rotation),
                             espl__lanes_at(c->rotation), espl__lanes_at(d->rotation));

    return off_unit | (espl__lane_bits)(places - places);
}

/// Likewise of the stretches of four transforms that are not finite.
ESPL__INLINE espl__lane_bits espl__stretches_alarm(const espl_transform *a, const espl_transform *b,
                                                   const espl_transform *c, const espl_transform *d)
{
    const espl__lane_bits no_context = {-1, -1, -1, 0};
    const espl__lanes stretches = espl__lanes_at(a->stretch) + espl__lanes_at(b->stretch) +
                                  (espl__lanes_at(c->stretch) + espl__lanes_at(d->stretch));

    return (espl__lane_bits)(stretches - stretches) & no_context;
}

/// World pose of a child whose parent has no stretch: the bits of espl__pose_compose_to().
///
/// What the fourth lane of a cross product comes to is not used, so that its shuffles are those of
/// the Hamilton product. There, the second and third product are subtracted in the fourth lane:
/// adding what has its sign turned round is the same.
ESPL__INLINE espl__laned espl__laned_compose(espl__laned parent, espl__laned local)
{
    const espl__lane_bits turned_round = {0, 0, 0, INT32_MIN};
    const espl__lanes a = parent.rotation, b = local.rotation;
    const espl__lanes w = __builtin_shufflevector(a, a, 3, 3, 3, 3);
    const espl__lanes yzx = __builtin_shufflevector(a, a, 1, 2, 0, 1);
    const espl__lanes zxy = __builtin_shufflevector(a, a, 2, 0, 1, 2);

    // Position; the fourth lane of the offset is the scale.
    const espl__lanes v =
        local.place * __builtin_shufflevector(parent.place, parent.place, 3, 3, 3, 3);
    const espl__lanes t = 2 * (yzx * __builtin_shufflevector(v, v, 2, 0, 1, 2) -
                               zxy * __builtin_shufflevector(v, v, 1, 2, 0, 1));
    const espl__lanes u = yzx * __builtin_shufflevector(t, t, 2, 0, 1, 2) -
                          zxy * __builtin_shufflevector(t, t, 1, 2, 0, 1);
    const espl__lanes place = parent.place + (v + (w * t + u));

    const espl__lanes second =
        __builtin_shufflevector(a, a, 0, 1, 2, 0) * __builtin_shufflevector(b, b, 3, 3, 3, 0);
    const espl__lanes third = yzx * __builtin_shufflevector(b, b, 2, 0, 1, 1);
    const espl__lanes fourth = zxy * __builtin_shufflevector(b, b, 1, 2, 0, 2);
    const espl__lanes rotation = w * b + (espl__lanes)((espl__lane_bits)second ^ turned_round) +
                                 (espl__lanes)((espl__lane_bits)third ^ turned_round) - fourth;

    // In two steps, each of which is one instruction; gcc 12 takes seven for both in one.
    const espl__lanes last = __builtin_shufflevector(place, v, 2, 2, 7, 7);

    return (espl__laned){rotation, __builtin_shufflevector(place, last, 0, 1, 4, 6)};
}

#else

static inline espl__laned espl__laned_load(const espl_pose *pose)
{
    return (espl__laned){*pose};
}

static inline espl__laned espl__laned_from(const void *bytes)
{
    espl__laned out;

    memcpy(&out.pose, bytes, sizeof out.pose);
    return out;
}

static inline void espl__laned_store(espl_pose *pose, espl__laned value)
{
    *pose = value.pose;
}

static inline espl__laned espl__laned_at(espl__laned pose, const float position[3])
{
    memcpy(pose.pose.position, position, sizeof pose.pose.position);
    return pose;
}

static inline bool espl__lane_bits_are_zero(espl__lane_bits bits)
{
    return bits == 0;
}

static inline espl__lane_bits espl__laned_differ(espl__laned a, espl__laned b)
{
    return espl__pose_is_same(&a.pose, &b.pose) ? 0 : 1;
}

static inline bool espl__lane_bits_are_each_set(espl__lane_bits a, espl__lane_bits b,
                                                espl__lane_bits c, espl__lane_bits d)
{
    return a != 0 && b != 0 && c != 0 && d != 0;
}

static inline espl__lane_bits espl__laned_alarm(espl__laned pose)
{
    return espl__all_finite(pose.pose.position, 3) && espl__all_finite(&pose.pose.scale, 1) ? 0 : 1;
}

static inline bool espl__laned_is_finite(espl__laned pose)
{
    return espl__pose_is_finite(&pose.pose);
}

static inline espl__lane_bits espl__poses_alarm(const espl_pose *a, const espl_pose *b,
                                                const espl_pose *c, const espl_pose *d)
{
    const espl_pose *const all[] = {a, b, c, d};
    bool is_sound = true;

    for (int i = 0; i < 4; ++i) {
        is_sound =
            is_sound && espl__pose_is_finite(all[i]) && espl__rotation_is_unit(all[i]->rotation);
    }
    return is_sound ? 0 : 1;
}

static inline espl__lane_bits espl__stretches_alarm(const espl_transform *a,
                                                    const espl_transform *b,
                                                    const espl_transform *c,
                                                    const espl_transform *d)
{
    return espl__all_finite(a->stretch, 3) && espl__all_finite(b->stretch, 3) &&
                   espl__all_finite(c->stretch, 3) && espl__all_finite(d->stretch, 3)
               ? 0
               : 1;
}

static inline espl__laned espl__laned_compose(espl__laned parent, espl__laned local)
{
    return (espl__laned){espl__pose_compose(&parent.pose, NULL, &local.pose)};
}

#endif

/// Tell whether all of four positions are finite. false also where large values overflow when they
/// are added up.
ESPL__INLINE bool espl__positions_are_sound(const float *a, const float *b, const float *c,
                                            const float *d)
{
    const float sum =
        (a[0] + a[1] + a[2]) + (b[0] + b[1] + b[2]) + (c[0] + c[1] + c[2]) + (d[0] + d[1] + d[2]);

    return sum - sum == 0;
}

#endif
