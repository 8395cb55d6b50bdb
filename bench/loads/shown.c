// SPDX-License-Identifier: MIT
// Rotations are blended on the arc between them, the shorter way, and locals are composed from the root
// downwards.
#include "bench/loads/shown.h"

#include "bench/blocks.h"

#include <math.h>

/// A pose in double.
struct exact_pose {
    double rotation[4];
    double position[3];
    double scale;
};

static void slerp(double out[4], const float a[4], const float b[4], double at)
{
    double product = 0, weight_a = 1 - at, weight_b = at;

    for (int i = 0; i < 4; ++i) {
        product += (double)a[i] * (double)b[i];
    }
    const double sign = product < 0 ? -1 : 1;
    const double angle = acos(fmin(sign * product, 1));

    if (angle > 1e-6) {
        weight_a = sin((1 - at) * angle) / sin(angle);
        weight_b = sin(at * angle) / sin(angle);
    }
    for (int i = 0; i < 4; ++i) {
        out[i] = weight_a * (double)a[i] + sign * weight_b * (double)b[i];
    }
}

static struct exact_pose blend(const struct pose *a, const struct pose *b, double at)
{
    struct exact_pose out;

    slerp(out.rotation, a->rotation, b->rotation, at);
    for (int i = 0; i < 3; ++i) {
        out.position[i] = (1 - at) * (double)a->position[i] + at * (double)b->position[i];
    }
    out.scale = (1 - at) * (double)a->scale + at * (double)b->scale;
    return out;
}

// Write the product of two quaternions.
static void turn_by(double out[4], const double a[4], const double b[4])
{
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    out[1] = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
    out[2] = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

static struct exact_pose compose(const struct exact_pose *parent, const struct exact_pose *local)
{
    const double *const r = parent->rotation;
    const double offset[4] = {local->position[0], local->position[1], local->position[2], 0};
    const double inverse[4] = {-r[0], -r[1], -r[2], r[3]};
    double half[4], turned[4];
    struct exact_pose out;

    turn_by(out.rotation, r, local->rotation);
    turn_by(half, r, offset);
    turn_by(turned, half, inverse);
    for (int i = 0; i < 3; ++i) {
        out.position[i] = parent->position[i] + parent->scale * turned[i];
    }
    out.scale = parent->scale * local->scale;
    return out;
}

// Opposite quaternions are one rotation.
static double error_of(const struct exact_pose *exact, const struct pose *shown)
{
    double same = 0, opposite = 0, error = fabs(exact->scale - (double)shown->scale);

    for (int i = 0; i < 4; ++i) {
        same = fmax(same, fabs(exact->rotation[i] - (double)shown->rotation[i]));
        opposite = fmax(opposite, fabs(exact->rotation[i] + (double)shown->rotation[i]));
    }
    for (int i = 0; i < 3; ++i) {
        error = fmax(error, fabs(exact->position[i] - (double)shown->position[i]));
    }
    return fmax(error, fmin(same, opposite));
}

double shown_error(const struct forest *forest, const struct pose *previous, float at,
                   const struct pose *shown)
{
    struct exact_pose *const exact = block_new(forest->count, sizeof *exact);
    double error = 0;

    for (size_t i = 0; i < forest->count; ++i) {
        const uint32_t parent = forest->parents[i];

        exact[i] = blend(&previous[i], &forest->locals[i], (double)at);
        if (parent != NO_NODE) {
            exact[i] = compose(&exact[parent], &exact[i]);
        }
        error = fmax(error, error_of(&exact[i], &shown[i]));
    }
    free(exact);
    return error;
}
