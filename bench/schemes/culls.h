// SPDX-License-Identifier: MIT
// What the schemes of culling share: worlds that are computed once, boxes, matrices.
#ifndef ESPALIER_BENCH_CULLS_H
#define ESPALIER_BENCH_CULLS_H

#include "bench/schemes/scheme.h"

#include "bench/blocks.h"

#include <math.h>
#include <string.h>

/// A box along the axes of the world.
struct cull_box {
    float center[3], half[3];
};

/// Compute the box around a node.
static inline struct cull_box cull_box_of(const struct pose *pose, const float half[3])
{
    const float x = pose->rotation[0], y = pose->rotation[1];
    const float z = pose->rotation[2], w = pose->rotation[3];
    const float x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
    const float xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2, s = pose->scale;
    const float rows[3][3] = {{1 - (yy + zz), xy - wz, wy + xz},
                              {wz + xy, 1 - (xx + zz), yz - wx},
                              {xz - wy, wx + yz, 1 - (xx + yy)}};
    struct cull_box box;

    for (int k = 0; k < 3; ++k) {
        box.center[k] = pose->position[k];
        box.half[k] = (fabsf(rows[k][0] * s) * half[0] + fabsf(rows[k][1] * s) * half[1]) +
                      fabsf(rows[k][2] * s) * half[2];
    }
    return box;
}

/// Write the matrix of a node. A sum of 0 clears the sign of a zero, as the library does.
static inline void cull_matrix_of(float out[12], const struct pose *pose)
{
    const float x = pose->rotation[0], y = pose->rotation[1];
    const float z = pose->rotation[2], w = pose->rotation[3];
    const float x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
    const float xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2, s = pose->scale;
    const float rows[12] = {(1 - (yy + zz)) * s,  (xy - wz + 0.0f) * s, (wy + xz + 0.0f) * s,
                            pose->position[0],    (wz + xy + 0.0f) * s, (1 - (xx + zz)) * s,
                            (yz - wx + 0.0f) * s, pose->position[1],    (xz - wy + 0.0f) * s,
                            (wx + yz + 0.0f) * s, (1 - (xx + yy)) * s,  pose->position[2]};

    memcpy(out, rows, sizeof rows);
}

/// Tell whether a box is visible, plane by plane.
static inline bool cull_sees(const struct scheme_camera *camera, const struct cull_box *box)
{
    const float *const c = box->center, *const h = box->half;

    for (int i = 0; i < SCHEME_PLANES; ++i) {
        const float *const p = camera->planes[i];
        const float d = ((p[0] * c[0] + p[1] * c[1]) + p[2] * c[2]) + p[3];
        const float r = (fabsf(p[0]) * h[0] + fabsf(p[1]) * h[1]) + fabsf(p[2]) * h[2];

        if (!(d + r >= 0)) {
            return false;
        }
    }
    return true;
}

#endif
