// SPDX-License-Identifier: MIT
// The formula of blend.h for one node. The coefficients are a minimax fit over turns up to half a
// revolution and times in [0, 1].
#include "lib/math/blend.h"

#include <espalier/quat.h>

espl__blend espl__blend_at(float at)
{
    const float half = at - 0.5f, u = half * half;
    espl__blend blend = {.range = ESPL__BLEND_INSIDE,
                         .at = at,
                         .rest = 1 - at,
                         .bend = at * half * (at - 1),
                         .k1 = 0.683505417f + u * (-0.0572561896f + 0.734724971f * u),
                         .k2 = 0.0674824968f + u * (0.653486027f - 2.86222225f * u),
                         .k3 = 0.10861925f + u * (0.209196081f + 3.34567071f * u)};

    ESPL_CHECK(isfinite(at));
    if (at == 0 || at == 1) {
        blend.range = at == 0 ? ESPL__BLEND_START : ESPL__BLEND_END;
    } else if (at < 0 || at > 1) {
        blend.range = ESPL__BLEND_OUTSIDE;
    }
    return blend;
}

// Tell whether `count` floats have the same bits as others.
static inline bool have_bits_of(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

// Blend a number.
static inline float blend_number(const espl__blend *blend, float a, float b)
{
    return have_bits_of(&a, &b, 1) ? b : a * blend->rest + b * blend->at;
}

// Blend rotations at a time between 0 and 1.
static void blend_rotation(float out[ESPL__LEAST 4], const espl__blend *blend,
                           const float a[ESPL__LEAST 4], const float b[ESPL__LEAST 4])
{
    const float d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    const float e = 1 - fabsf(d);
    const float k = e * (blend->k1 + e * (blend->k2 + e * blend->k3));
    const float weight = blend->at + blend->bend * k;
    const float other = signbit(d) ? -(1 - weight) : 1 - weight;
    const float x = b[0] * weight + a[0] * other, y = b[1] * weight + a[1] * other;
    const float z = b[2] * weight + a[2] * other, w = b[3] * weight + a[3] * other;
    const float factor = 1 / sqrtf(x * x + y * y + z * z + w * w);

    out[0] = x * factor;
    out[1] = y * factor;
    out[2] = z * factor;
    out[3] = w * factor;
}

// Continue the turn from a to b, with the sign of b at time 1. The function takes the sign of a at
// time 0.
static void extrapolate_rotation(float out[ESPL__LEAST 4], const espl__blend *blend,
                                 const float a[ESPL__LEAST 4], const float b[ESPL__LEAST 4])
{
    const float d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    const espl_status status = espl_quat_slerp(a, b, blend->at, out);

    ESPL_CHECK(status == ESPL_OK);
    (void)status;
    for (int i = 0; i < 4; ++i) {
        out[i] = signbit(d) ? -out[i] : out[i];
    }
}

espl_pose espl__pose_blend(const espl__blend *blend, const espl_pose *from, const espl_pose *to)
{
    espl_pose out = *to;

    if (isnan(from->scale) || blend->range == ESPL__BLEND_END) {
        return out;
    }
    if (blend->range == ESPL__BLEND_START) {
        return *from;
    }
    if (!have_bits_of(from->rotation, to->rotation, 4)) {
        if (blend->range == ESPL__BLEND_INSIDE) {
            blend_rotation(out.rotation, blend, from->rotation, to->rotation);
        } else {
            extrapolate_rotation(out.rotation, blend, from->rotation, to->rotation);
        }
    }
    for (int i = 0; i < 3; ++i) {
        out.position[i] = blend_number(blend, from->position[i], to->position[i]);
    }
    out.scale = blend_number(blend, from->scale, to->scale);
    return out;
}
