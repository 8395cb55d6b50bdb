// SPDX-License-Identifier: MIT
// Poses in double, for models that follow the library to rounding: composed, and relative to another one.
#ifndef ESPALIER_TESTS_MODEL_POSES_H
#define ESPALIER_TESTS_MODEL_POSES_H

#include "tests/asserts.h"

#include <espalier/transform.h>

#include <math.h>
#include <string.h>

typedef struct dpose {
    double q[4], p[3], s;
} dpose;

static inline dpose dpose_identity(void)
{
    return (dpose){{0, 0, 0, 1}, {0, 0, 0}, 1};
}

/// Return the pose of a transform.
static inline dpose dpose_of(const espl_transform *from)
{
    dpose to;

    for (int i = 0; i < 4; ++i) {
        to.q[i] = (double)from->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        to.p[i] = (double)from->position[i];
    }
    to.s = (double)from->scale;
    return to;
}

/// Return a pose, some parts of which are those of another one.
static inline dpose dpose_parts(dpose pose, dpose by, bool position, bool rotation, bool scale)
{
    for (int i = 0; i < 3 && position; ++i) {
        pose.p[i] = by.p[i];
    }
    for (int i = 0; i < 4 && rotation; ++i) {
        pose.q[i] = by.q[i];
    }
    pose.s = scale ? by.s : pose.s;
    return pose;
}

/// Tell whether two transforms differ in a part that some ESPL_ABSOLUTE_ flags name.
static inline bool dpose_differs(const espl_transform *a, const espl_transform *b, uint32_t parts)
{
    return ((parts & ESPL_ABSOLUTE_POSITION) != 0 &&
            memcmp(a->position, b->position, sizeof a->position) != 0) ||
           ((parts & ESPL_ABSOLUTE_ROTATION) != 0 &&
            memcmp(a->rotation, b->rotation, sizeof a->rotation) != 0) ||
           ((parts & ESPL_ABSOLUTE_SCALE) != 0 &&
            memcmp(&a->scale, &b->scale, sizeof a->scale) != 0);
}

static inline void dpose_rotate(double out[3], const double q[4], const double v[3])
{
    double t[3];

    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        t[i] = 2 * (q[j] * v[k] - q[k] * v[j]);
    }
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        out[i] = v[i] + q[3] * t[i] + q[j] * t[k] - q[k] * t[j];
    }
}

static inline void dpose_multiply(double out[4], const double a[4], const double b[4])
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        out[i] = a[3] * b[i] + a[i] * b[3] + a[j] * b[k] - a[k] * b[j];
    }
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/// Return the world of a local below a parent.
static inline dpose dpose_compose(dpose parent, const double stretch[3], dpose local)
{
    double away[3];
    dpose out;

    for (int i = 0; i < 3; ++i) {
        away[i] = local.p[i] * stretch[i] * parent.s;
    }
    dpose_rotate(out.p, parent.q, away);
    for (int i = 0; i < 3; ++i) {
        out.p[i] += parent.p[i];
    }
    dpose_multiply(out.q, parent.q, local.q);
    out.s = parent.s * local.s;
    return out;
}

/// Return the local that has a world below a parent.
static inline dpose dpose_relative(dpose parent, const double stretch[3], dpose world)
{
    const double inverse[4] = {-parent.q[0], -parent.q[1], -parent.q[2], parent.q[3]};
    double away[3];
    dpose out;

    for (int i = 0; i < 3; ++i) {
        away[i] = world.p[i] - parent.p[i];
    }
    dpose_rotate(out.p, inverse, away);
    for (int i = 0; i < 3; ++i) {
        out.p[i] /= parent.s * stretch[i];
    }
    dpose_multiply(out.q, inverse, world.q);
    out.s = world.s / parent.s;
    return out;
}

/// Demand that the library has a pose, to what rounding adds up to.
static inline void dpose_demand(dpose wanted, const espl_pose *got, const char *what)
{
    double size = 1, length = 0, dot = 0;

    for (int i = 0; i < 3; ++i) {
        size += fabs(wanted.p[i]);
    }
    for (int i = 0; i < 4; ++i) {
        length += wanted.q[i] * wanted.q[i];
        dot += wanted.q[i] * (double)got->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(fabs(wanted.p[i] - (double)got->position[i]) < 2e-3 * size,
                      "%s: position %d is %.9g, not %.9g", what, i, (double)got->position[i],
                      wanted.p[i]);
    }
    ck_assert_msg(fabs(fabs(dot) / sqrt(length) - 1) < 1e-4, "%s: rotation is off by %g", what,
                  1 - fabs(dot) / sqrt(length));
    ck_assert_msg(fabs(wanted.s - (double)got->scale) < 1e-3 * fabs(wanted.s),
                  "%s: scale is %.9g, not %.9g", what, (double)got->scale, wanted.s);
}

#endif
