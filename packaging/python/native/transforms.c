// SPDX-License-Identifier: MIT
// Reads and writes of transforms.
#include "internal.h"

#include <math.h>
#include <string.h>

// --- Reads ---

int native_read(const native_world *w, int64_t entity, int kind, void *out)
{
    return espl_read_one(native_peek(w), native_from(entity), (espl_read_kind)kind, out);
}

int native_read_many(const native_world *w, int kind, const void *entities, size_t entity_stride,
                     void *out, size_t out_stride, size_t count)
{
    return espl_read_strided(native_peek(w), (espl_read_kind)kind, entities, count, entity_stride,
                             out, out_stride);
}

int native_origin(const native_world *w, int64_t entity, espl_origin *out)
{
    return espl_get_origin(native_peek(w), native_from(entity), out);
}

int native_read_relative(const native_world *w, const espl_origin *origin, int kind,
                         const void *entities, size_t entity_stride, void *out, size_t out_stride,
                         size_t count)
{
    return espl_read_relative(native_peek(w), origin, (espl_read_kind)kind, entities, count,
                              entity_stride, out, out_stride);
}

// Transforms of a kind are read in blocks that stay in the cache, and become matrices there. The rotation of a
// living entity is finite, so that NaN marks the entities that the read refused: their rows in `out`
// are unchanged.
int native_read_matrices(const native_world *w, int kind, const void *entities,
                         size_t entity_stride, size_t rows, void *out, size_t count)
{
    enum { BLOCK = 128 };
    static const float last_row[4] = {0, 0, 0, 1};
    espl_transform block[BLOCK];
    const size_t numbers = rows * 4;
    espl_status answer = ESPL_OK;

    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t some = count - begin < BLOCK ? count - begin : BLOCK;

        for (size_t i = 0; i < some; ++i) {
            block[i].rotation[3] = NAN;
        }
        const espl_status status =
            espl_read_strided(native_peek(w), (espl_read_kind)kind,
                              (const void *)((const char *)entities + begin * entity_stride), some,
                              entity_stride, block, sizeof block[0]);

        if (status < 0) {
            return status;
        }
        answer = status != ESPL_OK ? status : answer;
        for (size_t i = 0; i < some; ++i) {
            float *const matrix = (float *)out + (begin + i) * numbers;

            if (isnan(block[i].rotation[3])) {
                continue;
            }
            espl_transform_to_matrix(&block[i], ESPL_MATRIX_3X4, matrix);
            if (rows == 4) {
                memcpy(matrix + 12, last_row, sizeof last_row);
            }
        }
    }
    return answer;
}

// Find the first entity whose transform cannot be read, after a read was refused in part. Returns why.
int native_find_unreadable(const native_world *w, const void *entities, size_t entity_stride,
                           size_t count, size_t *index)
{
    espl_status status = ESPL_OK;

    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        espl_entity entity;
        float position[3];

        memcpy(&entity, (const char *)entities + i * entity_stride, sizeof entity);
        status = espl_get_world_position(native_peek(w), entity, position);
        *index = i;
    }
    return status;
}

int native_relative(const native_world *w, int64_t frame, int64_t entity, espl_transform *out)
{
    return espl_get_relative_transform(native_peek(w), native_from(frame), native_from(entity),
                                       out);
}

int native_convert(const native_world *w, int64_t entity, int conversion, const float *value,
                   float *out)
{
    return espl_convert(native_peek(w), native_from(entity), (espl_conversion)conversion, value,
                        out);
}

uint32_t native_inherit(const native_world *w, int64_t entity)
{
    return espl_get_inherit(native_peek(w), native_from(entity));
}

// --- Writes ---

int native_set_inherit(native_world *w, int64_t entity, uint32_t flags)
{
    return espl_set_inherit(native_enter(w), native_from(entity), flags);
}

int native_write(native_world *w, int64_t entity, int kind, const void *value)
{
    return espl_write_one(native_enter(w), native_from(entity), (espl_write_kind)kind, value);
}

int native_write_many(native_world *w, int kind, const void *entities, size_t entity_stride,
                      const void *values, size_t value_stride, size_t count,
                      espl_write_report *report)
{
    return espl_write_strided(native_enter(w), (espl_write_kind)kind, entities, count,
                              entity_stride, values, value_stride, report);
}

int native_copy_worlds(native_world *to, const native_world *from, const void *copies, size_t count,
                       espl_write_report *report)
{
    return espl_copy_world_transforms(native_enter(to), native_peek(from), copies, count, report);
}

int native_look_at(native_world *w, int64_t entity, const float *target, const float *up,
                   int forward)
{
    return espl_look_at(native_enter(w), native_from(entity), target, up, (espl_axis)forward);
}

int native_rotate_about(native_world *w, int64_t entity, const float *pivot, const float *by)
{
    return espl_rotate_about(native_enter(w), native_from(entity), pivot, by);
}

void native_compose(espl_transform *out, const espl_transform *parent, const espl_transform *local)
{
    *out = espl_transform_compose(parent, local);
}
