// SPDX-License-Identifier: MIT
#include "tests/oracle.h"

#include <math.h>

typedef struct matrix {
    double m[3][3], t[3];
} matrix;

static matrix matrix_of(const espl_transform *transform)
{
    const float *const q = transform->rotation;
    const double s = 1 / sqrt((double)q[0] * (double)q[0] + (double)q[1] * (double)q[1] +
                              (double)q[2] * (double)q[2] + (double)q[3] * (double)q[3]);
    const double x = s * (double)q[0], y = s * (double)q[1], z = s * (double)q[2],
                 w = s * (double)q[3], k = (double)transform->scale;
    const matrix out = {
        {{k * (1 - 2 * (y * y + z * z)), k * 2 * (x * y - w * z), k * 2 * (x * z + w * y)},
         {k * 2 * (x * y + w * z), k * (1 - 2 * (x * x + z * z)), k * 2 * (y * z - w * x)},
         {k * 2 * (x * z - w * y), k * 2 * (y * z + w * x), k * (1 - 2 * (x * x + y * y))}},
        {(double)transform->position[0], (double)transform->position[1],
         (double)transform->position[2]}};
    return out;
}

static matrix multiplied(const matrix *a, const matrix *b)
{
    matrix out = *a;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            out.m[i][j] =
                a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
        }
        out.t[i] += a->m[i][0] * b->t[0] + a->m[i][1] * b->t[1] + a->m[i][2] * b->t[2];
    }
    return out;
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// How far a rotation's squared length is from 1.
static double off_unit(const espl_transform *transform)
{
    double square = 0;
    for (int i = 0; i < 4; ++i) {
        square += (double)transform->rotation[i] * (double)transform->rotation[i];
    }
    return fabs(square - 1);
}

double oracle_error(const test_model *model, uint32_t node, const espl_transform *world)
{
    const matrix got = matrix_of(world);
    const model_state *const own = &model->nodes[node].state;
    matrix want = matrix_of(&own->local);
    double travelled = length_of(want.t), scale = fabs((double)own->local.scale);
    double worst = 0, slack = 0, moved[3];
    uint32_t depth = 1;

    for (uint32_t i = model->nodes[node].parent; i != MODEL_NONE; i = model->nodes[i].parent) {
        const espl_transform *const local = &model->nodes[i].state.local;
        if (own->flags != 0 || model->nodes[i].state.flags != 0 || local->scale == 0 ||
            local->stretch[0] != 1 || local->stretch[1] != 1 || local->stretch[2] != 1) {
            return 0;
        }
        const matrix above = matrix_of(local);
        want = multiplied(&above, &want);
        travelled = length_of(above.t) + fabs((double)local->scale) * travelled;
        scale *= fabs((double)local->scale);
        slack += off_unit(local);
        depth += 1;
    }
    for (int i = 0; i < 3; ++i) {
        moved[i] = got.t[i] - want.t[i];
        for (int j = 0; j < 3; ++j) {
            worst = fmax(worst, fabs(got.m[i][j] - want.m[i][j]) / (2 * scale + 1e-30));
        }
    }
    worst = fmax(worst, length_of(moved) / (travelled + 1));
    return worst / (8 * depth * 0x1p-24 + slack);
}
