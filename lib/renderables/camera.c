// SPDX-License-Identifier: MIT
// Cameras of matrices, and sizes on the image.
#include "lib/renderables/visible.h"

#include <float.h>
#include <math.h>

enum { CLIP_PLANES = 6 };

// A plane of a clip space is a sum of two rows of the matrix.
typedef struct clip_plane {
    int row;
    double sign;   // of the row
    double weight; // of the last row
} clip_plane;

static float clamped(double number)
{
    const double most = (double)FLT_MAX;

    return (float)(number > most ? most : number < -most ? -most : number);
}

// Add a plane, unless it has no normal: one that is not longer than the rounding of the rows that it is a
// difference of.
static void add_clip_plane(espl_camera *camera, const float matrix[ESPL__LEAST 16],
                           const clip_plane *clip)
{
    double plane[4], squares = 0, terms = 0;

    for (int k = 0; k < 4; ++k) {
        const double row = clip->sign * (double)matrix[4 * k + clip->row];
        const double last = clip->weight * (double)matrix[4 * k + 3];

        plane[k] = last + row;
        if (k < 3) {
            squares += plane[k] * plane[k];
            terms += row * row + last * last;
        }
    }
    const double length = sqrt(squares);

    if (length <= 0x1p-20 * sqrt(terms)) {
        return;
    }
    for (int k = 0; k < 4; ++k) {
        camera->planes[camera->plane_count][k] = clamped(plane[k] / length);
    }
    camera->plane_count += 1;
}

espl_status espl_camera_from_matrix(const float matrix[16], espl_clip clip, espl_camera *out)
{
    const double depth = clip == ESPL_CLIP_MINUS_ONE_TO_ONE ? 1 : 0;
    const clip_plane planes[CLIP_PLANES] = {{0, 1, 1},  {0, -1, 1},    {1, 1, 1},
                                            {1, -1, 1}, {2, 1, depth}, {2, -1, 1}};
    espl_camera camera = {.layers = UINT32_MAX};

    if (matrix == NULL || out == NULL || (unsigned)clip >= ESPL_CLIP_COUNT) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__all_finite(matrix, 16)) {
        return ESPL_ERR_NOT_FINITE;
    }
    for (int i = 0; i < CLIP_PLANES; ++i) {
        add_clip_plane(&camera, matrix, &planes[i]);
    }
    *out = camera;
    return ESPL_OK;
}

// In double, so that neither a square of a float overflows nor the order of the sums matters much.
float espl__size_on_image(const espl_camera *camera, const double eye[ESPL__LEAST 3],
                          const float box[ESPL__LEAST ESPL__BOX_ROWS])
{
    double radius = 0, distance = 0;

    for (int k = 0; k < 3; ++k) {
        const double away = (double)box[k] - eye[k];

        radius += (double)box[3 + k] * (double)box[3 + k];
        distance += away * away;
    }
    radius = sqrt(radius);
    distance = sqrt(distance);
    const double size = (double)camera->pixels * 2 * radius;

    if ((camera->flags & ESPL_CAMERA_ORTHOGRAPHIC) != 0 || radius == 0) {
        return clamped(size);
    }
    return clamped(size / (distance > radius ? distance : radius));
}

uint32_t espl__level_for(const espl_camera *camera, const espl_lods *lods, float size)
{
    uint32_t level = 0;

    while (camera->pixels != 0 && level < lods->count && size < lods->sizes[level]) {
        level += 1;
    }
    return level;
}
