// SPDX-License-Identifier: MIT
// The public functions on the directions of a transform: its axes, its handedness, and rotations
// towards a target and about a pivot. They compute in double between the fields that they read and
// those that they write, so that no intermediate result overflows or underflows.
#include "lib/math/basis.h"
#include "lib/math/pose.h"

#include <math.h>

void espl_transform_axis(const espl_transform *frame, espl_axis axis, float out[3])
{
    if (out == NULL || frame == NULL || (unsigned)axis > (unsigned)ESPL_AXIS_BACK) {
        return;
    }
    const double sign = axis >= ESPL_AXIS_LEFT ? -1 : 1;
    double direction[3];

    // The axes are listed as right, up, forward and then as their opposites.
    espl__axis_of(direction, frame->rotation, (int)axis % 3);
    for (int i = 0; i < 3; ++i) {
        out[i] = (float)(sign * direction[i]);
    }
}

bool espl_transform_is_mirrored(const espl_transform *transform)
{
    if (transform == NULL) {
        return false;
    }
    bool is_odd = false, is_flat = false;

    // An odd number of negative factors mirrors. A factor of zero leaves no handedness.
    for (int i = 0; i < 3; ++i) {
        const double factor = (double)transform->scale * (double)transform->stretch[i];

        is_odd ^= factor < 0;
        is_flat |= factor == 0;
    }
    return is_odd && !is_flat;
}

// Convert a vector to double. Returns false where it is not finite.
static bool widen(double out[ESPL__LEAST 3], const float v[ESPL__LEAST 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)v[i];
    }
    return espl__all_finite(v, 3);
}

// Write the rotation that takes an axis to a direction, and +Y to upward, or +Z where the axis is one
// of Y. The third axis follows: x is y cross z, and so on around.
static void point_axis(float out[ESPL__LEAST 4], espl_axis axis,
                       const double direction[ESPL__LEAST 3], const double upward[ESPL__LEAST 3])
{
    const int along = (int)axis % 3, up = along == ESPL_AXIS_UP ? ESPL_AXIS_FORWARD : ESPL_AXIS_UP;
    const int third = 3 - along - up;
    double axes[3][3];

    for (int i = 0; i < 3; ++i) {
        axes[along][i] = axis >= ESPL_AXIS_LEFT ? -direction[i] : direction[i];
        axes[up][i] = upward[i];
    }
    espl__axis_cross(axes[third], axes[(third + 1) % 3], axes[(third + 2) % 3]);
    espl__rotation_from_axes(out, axes[0], axes[1], axes[2]);
}

espl_status espl_transform_look_at(espl_transform *transform, const float target[3],
                                   const float *up, espl_axis forward)
{
    if (transform == NULL || target == NULL || (unsigned)forward > (unsigned)ESPL_AXIS_BACK) {
        return ESPL_ERR_ARGUMENT;
    }
    const double plus_y[3] = {0, 1, 0}, plus_z[3] = {0, 0, 1};
    espl_transform checked = *transform;
    double hint[3] = {0, 1, 0}, away[3], upward[3], direction[3];

    if (espl_transform_normalize(&checked) != ESPL_OK || !widen(away, target) ||
        (up != NULL && !widen(hint, up))) {
        return ESPL_ERR_NOT_FINITE;
    }

    for (int i = 0; i < 3; ++i) {
        away[i] -= (double)checked.position[i];
    }
    const double distance = sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2]);

    // A target at the position has no direction. The rotation is unchanged, and the status says so.
    if (distance == 0) {
        return ESPL_LOSSY;
    }
    ESPL_CHECK(distance > 0);
    for (int i = 0; i < 3; ++i) {
        direction[i] = away[i] / distance;
    }
    // +Z serves where both hint and +Y are parallel to the direction, because then it is perpendicular.
    if (!espl__axis_across(upward, direction, hint) &&
        !espl__axis_across(upward, direction, plus_y)) {
        const bool is_across = espl__axis_across(upward, direction, plus_z);

        ESPL_CHECK(is_across);
        (void)is_across;
    }
    point_axis(transform->rotation, forward, direction, upward);
    return ESPL_OK;
}

// Compute how a rotation changes an offset: 2 (w (u x v) + u x (u x v)) / |q|^2. The division
// corrects a quaternion that is not quite of unit length. The change is computed instead of the
// rotated offset, because it is exactly zero for the identity.
static void change_of_offset(double change[ESPL__LEAST 3], const float q[ESPL__LEAST 4],
                             const double v[ESPL__LEAST 3])
{
    const double u[3] = {(double)q[0], (double)q[1], (double)q[2]}, w = (double)q[3];
    const double squares = w * w + u[0] * u[0] + u[1] * u[1] + u[2] * u[2];

    ESPL_CHECK(squares > 0.5 && squares < 2);
    double once[3], twice[3];

    espl__axis_cross(once, u, v);
    espl__axis_cross(twice, u, once);
    for (int i = 0; i < 3; ++i) {
        change[i] = 2 * (w * once[i] + twice[i]) / squares;
    }
}

espl_status espl_transform_rotate_about(espl_transform *transform, const float pivot[3],
                                        const float rotation[4])
{
    if (transform == NULL || pivot == NULL || rotation == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_transform turned = *transform;
    float by[4] = {rotation[0], rotation[1], rotation[2], rotation[3]};
    double away[3], change[3];

    if (espl_transform_normalize(&turned) != ESPL_OK || !widen(away, pivot) ||
        !espl__rotation_normalize(by)) {
        return ESPL_ERR_NOT_FINITE;
    }

    for (int i = 0; i < 3; ++i) {
        away[i] = (double)turned.position[i] - away[i];
    }
    change_of_offset(change, by, away);
    for (int i = 0; i < 3; ++i) {
        turned.position[i] = (float)((double)turned.position[i] + change[i]);
    }
    // Only the position can have overflowed.
    if (!espl__transform_is_finite(&turned)) {
        return ESPL_ERR_RANGE;
    }

    // The product must not overlap its operands.
    const float before[4] = {turned.rotation[0], turned.rotation[1], turned.rotation[2],
                             turned.rotation[3]};

    espl__rotation_multiply(turned.rotation, by, before);
    (void)espl__rotation_normalize(turned.rotation);
    ESPL_CHECK(espl__rotation_is_unit(turned.rotation));
    *transform = turned;
    return ESPL_OK;
}
