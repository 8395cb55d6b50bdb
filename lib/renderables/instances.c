// SPDX-License-Identifier: MIT
// Instances written in order. The matrices have the bits of espl_transform_to_matrix(): the products with the
// zeros of an axis are left out, and a sum of 0 clears the sign of a zero as these products do.
#include "lib/renderables/instances.h"

#include "lib/base/reserved.h"
#include "lib/math/pose.h"

#include <string.h>

enum { MATRIX_ROWS = 3 };

// The bytes of a form.
static size_t bytes_of_form(espl_instance_form form)
{
    static const size_t bytes[ESPL_INSTANCE_FORM_COUNT] = {48, 64, 48, 32};

    return bytes[form];
}

static bool is_stride(const void *array, size_t stride, espl_instance_form form)
{
    return array == NULL || stride == 0 ||
           (stride % sizeof(float) == 0 && stride >= bytes_of_form(form));
}

espl_status espl__instances_check(const espl_instance_arrays *arrays)
{
    const espl_instance_arrays *const a = arrays;

    if (a == NULL || (unsigned)a->form >= ESPL_INSTANCE_FORM_COUNT ||
        !is_stride(a->matrices, a->matrix_stride, a->form) ||
        !is_stride(a->previous, a->previous_stride, a->form)) {
        return ESPL_ERR_ARGUMENT;
    }
    return ESPL__ASKS_LATER(a) ? ESPL_ERR_UNSUPPORTED : ESPL_OK;
}

// --- Matrices ---

// The upper 3 x 3 of a matrix, and its last column: rows[k][3].
typedef struct matrix_rows {
    float rows[MATRIX_ROWS][4];
} matrix_rows;

static inline void shift(float out[ESPL__LEAST 3], const float position[ESPL__LEAST 3],
                         const double origin[ESPL__LEAST 3])
{
    for (int k = 0; k < 3; ++k) {
        out[k] = (float)((double)position[k] - origin[k]);
    }
}

// Compute a matrix but for the last column.
static inline matrix_rows rows_of_pose(const espl_pose *pose, const float *stretch)
{
    const float x = pose->rotation[0], y = pose->rotation[1];
    const float z = pose->rotation[2], w = pose->rotation[3];
    const float x2 = 2 * x, y2 = 2 * y, z2 = 2 * z;
    const float xx = x * x2, yy = y * y2, zz = z * z2;
    const float xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2;
    const float fx = stretch != NULL ? pose->scale * stretch[0] : pose->scale;
    const float fy = stretch != NULL ? pose->scale * stretch[1] : pose->scale;
    const float fz = stretch != NULL ? pose->scale * stretch[2] : pose->scale;

    return (matrix_rows){{{(1 - (yy + zz)) * fx, (xy - wz + 0.0f) * fy, (wy + xz + 0.0f) * fz, 0},
                          {(wz + xy + 0.0f) * fx, (1 - (xx + zz)) * fy, (yz - wx + 0.0f) * fz, 0},
                          {(xz - wy + 0.0f) * fx, (wx + yz + 0.0f) * fy, (1 - (xx + yy)) * fz, 0}}};
}

static inline void write_3x4(unsigned char *to, const espl_pose *pose, const float *stretch,
                             const double origin[ESPL__LEAST 3])
{
    matrix_rows m = rows_of_pose(pose, stretch);
    float position[3];

    shift(position, pose->position, origin);
    for (int k = 0; k < MATRIX_ROWS; ++k) {
        m.rows[k][3] = position[k];
    }
    memcpy(to, &m, sizeof m);
}

static inline void write_columns(unsigned char *to, const espl_pose *pose, const float *stretch,
                                 const double origin[ESPL__LEAST 3], int length)
{
    const matrix_rows m = rows_of_pose(pose, stretch);
    float columns[16], position[3];

    shift(position, pose->position, origin);
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < length; ++k) {
            const float last = i == 3 ? 1 : 0;
            const float element = k == 3 ? last : m.rows[k % MATRIX_ROWS][i];

            columns[length * i + k] = i == 3 && k < 3 ? position[k] : element;
        }
    }
    memcpy(to, columns, (size_t)length * 4 * sizeof *columns);
}

static inline void write_shifted(unsigned char *to, const espl_pose *pose,
                                 const double origin[ESPL__LEAST 3])
{
    espl_pose shifted = *pose;

    shift(shifted.position, pose->position, origin);
    memcpy(to, &shifted, sizeof shifted);
}

// Write the poses of a batch, or those before.
static void write_form_of(unsigned char *to, size_t stride, espl_instance_form form,
                          const espl__instances *batch, bool is_before,
                          const double origin[ESPL__LEAST 3])
{
    for (uint32_t i = 0; i < batch->count; ++i, to += stride) {
        const espl__instance *const instance = &batch->of[i];
        const espl_pose *const pose = is_before ? instance->before : instance->pose;

        switch (form) {
        case ESPL_INSTANCE_3X4:
            write_3x4(to, pose, instance->stretch, origin);
            break;
        case ESPL_INSTANCE_4X4:
            write_columns(to, pose, instance->stretch, origin, 4);
            break;
        case ESPL_INSTANCE_4X3:
            write_columns(to, pose, instance->stretch, origin, 3);
            break;
        default:
            write_shifted(to, pose, origin);
            break;
        }
    }
}

void espl__instances_write(const espl_instance_arrays *arrays, size_t first,
                           const espl__instances *batch, const double origin[ESPL__LEAST 3])
{
    const espl_instance_arrays *const a = arrays;

    ESPL_CHECK(batch->count <= ESPL__INSTANCE_BATCH);
    if (a->matrices != NULL) {
        const size_t stride = a->matrix_stride != 0 ? a->matrix_stride : bytes_of_form(a->form);

        write_form_of((unsigned char *)a->matrices + first * stride, stride, a->form, batch, false,
                      origin);
    }
    if (a->previous != NULL) {
        const size_t stride = a->previous_stride != 0 ? a->previous_stride : bytes_of_form(a->form);

        write_form_of((unsigned char *)a->previous + first * stride, stride, a->form, batch, true,
                      origin);
    }
    for (uint32_t i = 0; a->entities != NULL && i < batch->count; ++i) {
        a->entities[first + i] = batch->of[i].values->entities[batch->of[i].place];
    }
    for (uint32_t i = 0; a->user_data != NULL && i < batch->count; ++i) {
        a->user_data[first + i] = batch->of[i].values->user_data[batch->of[i].place];
    }
}
