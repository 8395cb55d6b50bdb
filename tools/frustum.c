// SPDX-License-Identifier: MIT
#include "tools/frustum.h"

#include <math.h>

void frustum_axes(const tool_frustum *frustum, double eye[3], double axes[3][3])
{
    const tool_camera *const camera = &frustum->camera;
    const int up = frustum->up_axis, a = (up + 1) % 3, b = (up + 2) % 3;
    const double yaw_sine = sin(camera->yaw), yaw_cosine = cos(camera->yaw);
    const double pitch_sine = sin(camera->pitch), pitch_cosine = cos(camera->pitch);

    axes[0][up] = 0;
    axes[0][a] = -yaw_sine;
    axes[0][b] = yaw_cosine;
    axes[1][up] = pitch_cosine;
    axes[1][a] = -yaw_cosine * pitch_sine;
    axes[1][b] = -yaw_sine * pitch_sine;
    axes[2][up] = -pitch_sine;
    axes[2][a] = -yaw_cosine * pitch_cosine;
    axes[2][b] = -yaw_sine * pitch_cosine;
    for (int i = 0; i < 3; ++i) {
        eye[i] = camera->centre[i] - camera->distance * axes[2][i];
    }
}

void frustum_corners(const tool_frustum *frustum, double corners[FRUSTUM_CORNERS][3])
{
    double eye[3], axes[3][3];

    frustum_axes(frustum, eye, axes);
    for (int corner = 0; corner < FRUSTUM_CORNERS; ++corner) {
        const double depth = (corner & 4) != 0 ? frustum->farthest : frustum->nearest;
        const double size = frustum->is_orthographic ? 1 : depth;
        const double right = (corner & 1) != 0 ? frustum->half[0] : -frustum->half[0];
        const double above = (corner & 2) != 0 ? frustum->half[1] : -frustum->half[1];

        for (int i = 0; i < 3; ++i) {
            corners[corner][i] =
                eye[i] + depth * axes[2][i] + size * (right * axes[0][i] + above * axes[1][i]);
        }
    }
}

/// Write a row of the matrix: a factor of an axis of the eye, and what is added to it.
static void fill_row(float matrix[16], int row, const double axis[3], const double eye[3],
                     double factor, double added)
{
    double along = 0;

    for (int i = 0; i < 3; ++i) {
        matrix[4 * i + row] = (float)(factor * axis[i]);
        along += axis[i] * eye[i];
    }
    matrix[12 + row] = (float)(added - factor * along);
}

void frustum_matrix(const tool_frustum *frustum, float matrix[16])
{
    const double nearest = frustum->nearest, farthest = frustum->farthest;
    const double deep = farthest - nearest;
    double eye[3], axes[3][3];

    frustum_axes(frustum, eye, axes);
    fill_row(matrix, 0, axes[0], eye, 1 / frustum->half[0], 0);
    fill_row(matrix, 1, axes[1], eye, 1 / frustum->half[1], 0);
    if (frustum->is_orthographic) {
        fill_row(matrix, 2, axes[2], eye, 1 / deep, -nearest / deep);
        fill_row(matrix, 3, axes[2], eye, 0, 1);
    } else {
        fill_row(matrix, 2, axes[2], eye, farthest / deep, -farthest * nearest / deep);
        fill_row(matrix, 3, axes[2], eye, 1, 0);
    }
}
