// SPDX-License-Identifier: MIT
// The formulas that divide or take a root. Propagation needs none of them, because world poses are
// products of local poses.
#include "lib/math/pose.h"

#include <math.h>

bool espl__rotation_to_unit(float q[ESPL__LEAST 4])
{
    // In double, because the square of a float neither overflows nor underflows, and because the
    // rounding of the result to float is the only one that matters. So the result is of unit length
    // for espl__rotation_is_unit(). Of 20 million random rotations the worst squared length was off
    // by 2.4e-7. With sqrtf() of floats scaled to the largest it was off by 3.6e-7.
    const double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    const double length = sqrt(x * x + y * y + z * z + w * w);

    if (!isfinite(length) || length == 0) {
        return false;
    }
    q[0] = (float)(x / length);
    q[1] = (float)(y / length);
    q[2] = (float)(z / length);
    q[3] = (float)(w / length);
    ESPL_CHECK(espl__rotation_is_unit(q));
    return true;
}

unsigned espl__pose_relative(espl_pose *out, const espl_pose *parent, const float *stretch,
                             const espl_pose *world, const espl_pose *fallback)
{
    espl_pose local = *fallback;
    float inverse[4], away[3], offset[3];
    unsigned lost = 0;

    espl__rotation_conjugate(inverse, parent->rotation);
    for (int i = 0; i < 3; ++i) {
        away[i] = world->position[i] - parent->position[i];
    }
    espl__rotation_apply(offset, inverse, away);
    for (int i = 0; i < 3; ++i) {
        const float reach = stretch != NULL ? stretch[i] : 1;

        if (parent->scale != 0 && reach != 0) {
            local.position[i] = espl__unscale(offset[i], parent->scale, reach);
        } else if (offset[i] != 0) {
            lost |= (unsigned)ESPL__LOST_X << i;
        }
    }

    if (parent->scale != 0) {
        local.scale = world->scale / parent->scale;
    } else if (world->scale != 0) {
        lost |= ESPL__LOST_SCALE;
    }

    // The product of two rotations within the tolerance of unit length may be outside of it. It is
    // normalised, because the error would grow with each change of parent. A product of length
    // zero, NaN or infinity stays as it is.
    espl__rotation_multiply(local.rotation, inverse, world->rotation);
    (void)espl__rotation_normalize(local.rotation);
    ESPL_CHECK(lost == 0 || parent->scale == 0 || stretch != NULL);
    *out = local;
    return lost;
}

bool espl__all_finite(const float *values, size_t count)
{
    bool is_finite = true;

    for (size_t i = 0; i < count; ++i) {
        is_finite &= isfinite(values[i]) != 0;
    }
    return is_finite;
}
