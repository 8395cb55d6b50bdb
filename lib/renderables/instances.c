// SPDX-License-Identifier: MIT
// Instances written in order. The matrices have the bits of espl_transform_to_matrix().
#include "lib/renderables/instances.h"

#include "lib/base/reserved.h"
#include "lib/math/pose.h"
#include "lib/renderables/camera_cells.h"

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
    double origin[3];
    const espl__viewpoint *from;
} written_poses;

// Compute the position of an instance relative to the viewpoint.
static inline void shift(float out[ESPL__LEAST 3], const written_poses *w, uint32_t i)
{
    const espl__member_cells *const cells = w->batch->entries[i]->values->cells;
    const float *const position = w->poses[i]->position;
    double way[3] = {0, 0, 0};

    if (cells != NULL && w->from->camera != NULL) {
        espl__way_to_cell(way, w->from->mirror, cells->of[w->batch->places[i]],
                          w->from->camera->cell);
    }
    for (int k = 0; k < 3; ++k) {
        const double at = (double)position[k] - w->origin[k];

        out[k] = (float)(way[k] == 0 ? at : way[k] + at);
    }
}

// Compute the matrix of an instance. rows[k][3] is the position.
static void matrix_of_instance(float rows[MATRIX_ROWS][4], const written_poses *w, uint32_t i)
{
    const espl__stretches *const stretches = w->batch->entries[i]->values->stretches;
    const espl_pose *const pose = w->poses[i];
    float position[3] = {0, 0, 0};

    shift(position, w, i);
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
    float columns[16] = {0};

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

        shift(shifted.position, w, i);
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

// Tell whether all instances of a batch are in the cell of the viewpoint.
static bool are_in_its_cell(const written_poses *w)
{
    const espl__viewpoint *const from = w->from;
    bool are_in = true;

    if (!espl__mirror_has_cells(from->mirror) || from->camera == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < w->batch->count && are_in; ++i) {
        const espl__member_cells *const cells = w->batch->entries[i]->values->cells;
        const espl__cell cell = espl__cell_in_mirror(from->mirror, cells->of[w->batch->places[i]]);

        are_in = memcmp(cell.at, from->camera->cell, sizeof cell.at) == 0;
    }
    return are_in;
}

static void write_batch_poses(const written_poses *w, const espl__box_kernels *kernels)
{
    const bool is_near = w->origin[0] == 0 && w->origin[1] == 0 && w->origin[2] == 0;

    if (w->form == ESPL_INSTANCE_3X4 && is_near && !w->batch->has_stretch && are_in_its_cell(w)) {
        kernels->matrices(w->to, w->stride, w->poses, w->batch->count);
        return;
    }
    for (uint32_t i = 0; i < w->batch->count; ++i) {
        write_instance(w, i);
    }
}

// Write the cell of an instance; 0 in a world without cells.
static void write_cell(int32_t to[ESPL__LEAST 3], const espl_mirror *mirror,
                       const espl__cluster_entry *entry, uint32_t place)
{
    const espl__member_cells *const cells = entry->values->cells;
    const espl__cell cell =
        cells != NULL ? espl__cell_in_mirror(mirror, cells->of[place]) : (espl__cell){{0, 0, 0}};

    memcpy(to, cell.at, sizeof cell.at);
}

void espl__instances_write(const espl_instance_arrays *arrays, size_t first,
                           const espl__instances *batch, const espl__viewpoint *from,
                           const espl__box_kernels *kernels)
{
    const espl_instance_arrays *const a = arrays;
    const size_t least = bytes_of_form(a->form);
    written_poses written = {.batch = batch, .form = a->form, .from = from};

    ESPL_CHECK(batch->count <= ESPL__INSTANCE_BATCH);
    if (from->camera != NULL) {
        memcpy(written.origin, from->camera->origin, sizeof written.origin);
    }
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
    for (uint32_t i = 0; a->cells != NULL && i < batch->count; ++i) {
        write_cell(a->cells[first + i], from->mirror, batch->entries[i], batch->places[i]);
    }
}
