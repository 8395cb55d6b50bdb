// SPDX-License-Identifier: MIT
// Instances written in order. The matrices have the bits of espl_transform_to_matrix().
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

// --- Poses ---

// Poses of a batch, and where they are written to.
typedef struct written_poses {
    const espl__instances *batch;
    const espl_pose *const *poses;
    unsigned char *to;
    size_t stride;
    espl_instance_form form;
    const double *origin; // [3]
} written_poses;

static inline void shift(float out[ESPL__LEAST 3], const float position[ESPL__LEAST 3],
                         const double origin[ESPL__LEAST 3])
{
    for (int k = 0; k < 3; ++k) {
        out[k] = (float)((double)position[k] - origin[k]);
    }
}

// Compute the matrix of an instance. rows[k][3] is the position.
static void matrix_of_instance(float rows[MATRIX_ROWS][4], const written_poses *w, uint32_t i)
{
    const espl__stretches *const stretches = w->batch->entries[i]->values->stretches;
    const espl_pose *const pose = w->poses[i];
    float position[3];

    shift(position, pose->position, w->origin);
    if (stretches == NULL) {
        espl__matrix_of_pose((unsigned char *)rows, pose);
    } else {
        const espl_transform t =
            espl__transform_of(pose, &(espl__extra){{stretches->stretch[w->batch->places[i]][0],
                                                     stretches->stretch[w->batch->places[i]][1],
                                                     stretches->stretch[w->batch->places[i]][2]},
                                                    0});

        espl_transform_to_matrix(&t, ESPL_MATRIX_3X4, rows[0]);
    }
    for (int k = 0; k < MATRIX_ROWS; ++k) {
        rows[k][3] = position[k];
    }
}

static void write_columns(unsigned char *to, const float rows[MATRIX_ROWS][4], int length)
{
    float columns[16];

    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < length; ++k) {
            const float last = i == 3 ? 1 : 0;

            columns[length * i + k] = k == 3 ? last : rows[k % MATRIX_ROWS][i];
        }
    }
    memcpy(to, columns, (size_t)length * 4 * sizeof *columns);
}

static void write_instance(const written_poses *w, uint32_t i)
{
    unsigned char *const to = w->to + i * w->stride;
    float rows[MATRIX_ROWS][4];

    if (w->form == ESPL_INSTANCE_POSE) {
        espl_pose shifted = *w->poses[i];

        shift(shifted.position, w->poses[i]->position, w->origin);
        memcpy(to, &shifted, sizeof shifted);
        return;
    }
    matrix_of_instance(rows, w, i);
    if (w->form == ESPL_INSTANCE_3X4) {
        memcpy(to, rows, sizeof rows);
    } else {
        write_columns(to, (const float(*)[4])rows, w->form == ESPL_INSTANCE_4X4 ? 4 : 3);
    }
}

static void write_batch_poses(const written_poses *w, const espl__box_kernels *kernels)
{
    const bool is_near = w->origin[0] == 0 && w->origin[1] == 0 && w->origin[2] == 0;

    if (w->form == ESPL_INSTANCE_3X4 && is_near && !w->batch->has_stretch) {
        kernels->matrices(w->to, w->stride, w->poses, w->batch->count);
        return;
    }
    for (uint32_t i = 0; i < w->batch->count; ++i) {
        write_instance(w, i);
    }
}

void espl__instances_write(const espl_instance_arrays *arrays, size_t first,
                           const espl__instances *batch, const double origin[ESPL__LEAST 3],
                           const espl__box_kernels *kernels)
{
    const espl_instance_arrays *const a = arrays;
    const size_t least = bytes_of_form(a->form);
    written_poses written = {.batch = batch, .form = a->form, .origin = origin};

    ESPL_CHECK(batch->count <= ESPL__INSTANCE_BATCH);
    if (a->matrices != NULL) {
        written.poses = batch->poses;
        written.stride = a->matrix_stride != 0 ? a->matrix_stride : least;
        written.to = (unsigned char *)a->matrices + first * written.stride;
        write_batch_poses(&written, kernels);
    }
    if (a->previous != NULL) {
        const espl_pose *before[ESPL__INSTANCE_BATCH];

        for (uint32_t i = 0; i < batch->count; ++i) {
            before[i] = &batch->entries[i]->before->poses[batch->places[i]];
        }
        written.poses = before;
        written.stride = a->previous_stride != 0 ? a->previous_stride : least;
        written.to = (unsigned char *)a->previous + first * written.stride;
        write_batch_poses(&written, kernels);
    }
    for (uint32_t i = 0; a->entities != NULL && i < batch->count; ++i) {
        a->entities[first + i] = batch->entries[i]->values->entities[batch->places[i]];
    }
    for (uint32_t i = 0; a->user_data != NULL && i < batch->count; ++i) {
        a->user_data[first + i] = batch->entries[i]->values->user_data[batch->places[i]];
    }
}
