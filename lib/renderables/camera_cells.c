// SPDX-License-Identifier: MIT
// The steps of camera_cells.h.
#include "lib/renderables/camera_cells.h"

#include "lib/base/bits.h"

#include <math.h>
#include <string.h>

void espl__way_to_cell(double way[ESPL__LEAST 3], const espl_mirror *mirror, espl__cell stored,
                       const int32_t camera[ESPL__LEAST 3])
{
    const espl__cell cell = espl__cell_in_mirror(mirror, stored);

    for (int k = 0; k < 3; ++k) {
        way[k] = (double)((int64_t)cell.at[k] - camera[k]) * (double)mirror->cell_size;
    }
}

// --- Clusters ---

// Bring a box to the cell of a camera. It grows by more than what is rounded here and in tests of members.
static void bring_box(espl__box_block *block, uint32_t i, const double way[ESPL__LEAST 3],
                      const float box[ESPL__LEAST ESPL__BOX_ROWS])
{
    for (int k = 0; k < 3; ++k) {
        const double center = (double)box[k], half = (double)box[3 + k];
        const double most = fabs(way[k]) + fabs(center) + 2 * fabs(half);

        block->rows[k][i] = (float)(center + way[k]);
        block->rows[3 + k][i] = (float)(half + (most * 0x1p-19 + 0x1p-126));
    }
}

void espl__boxes_for_camera(espl__box_block *block, const espl__cull *cull,
                            const espl_camera *camera, uint32_t begin, uint32_t count)
{
    const uint32_t padded = (count + ESPL__BOX_PADDING - 1) & ~(uint32_t)(ESPL__BOX_PADDING - 1);
    const espl_mirror *const mirror = cull->mirror;

    for (uint32_t i = 0; i < padded; ++i) {
        const espl__cluster_entry *const entry = i < count ? &mirror->entries[begin + i] : NULL;
        float box[ESPL__BOX_ROWS] = {0};
        double way[3] = {0, 0, 0};

        if (entry != NULL && entry->values != NULL) {
            const bool is_swept = cull->time != ESPL__CULL_NOW && entry->before != entry->poses;

            for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
                box[k] = is_swept ? entry->poses->swept[k] : mirror->boxes[k][begin + i];
            }
            espl__way_to_cell(way, mirror, mirror->anchors[begin + i], camera->cell);
        }
        bring_box(block, i, way, box);
    }
}

// --- Members ---

// Bring planes to a cell.
static void bring_planes(espl__planes *out, const espl__planes *planes,
                         const double way[ESPL__LEAST 3])
{
    for (uint32_t i = 0; i < planes->count; ++i) {
        const float *const n = planes->normals[i];

        out->offsets[i] =
            (float)((double)planes->offsets[i] +
                    (((double)n[0] * way[0] + (double)n[1] * way[1]) + (double)n[2] * way[2]));
    }
}

// Test members one by one, because they are in several cells.
static void test_each(uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS], const espl__cull *cull,
                      uint32_t camera, uint32_t cut, const espl__member_cells *cells,
                      const espl__box_rows boxes)
{
    espl__planes planes = cull->planes[camera];
    espl__cell last = {{0, 0, 0}};
    bool has_last = false;

    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            const uint32_t bit = espl__lowest_bit(left), place = 64 * w + bit;
            const espl__cell cell = cells->of[place];
            float box[ESPL__BOX_ROWS];

            if (!has_last || !espl__cell_is_same(cell, last)) {
                double way[3];

                espl__way_to_cell(way, cull->mirror, cell, cull->cameras[camera].cell);
                bring_planes(&planes, &cull->planes[camera], way);
                last = cell;
                has_last = true;
            }
            for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
                box[k] = boxes[k][place];
            }
            if (!espl__box_is_inside(box, &planes, cut)) {
                bits[w] &= ~(UINT64_C(1) << bit);
            }
        }
    }
}

void espl__inside_by_cells(uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS], const espl__cull *cull,
                           uint32_t camera, uint32_t cut, const espl__values *values,
                           const espl__box_rows boxes)
{
    const espl__member_cells *const cells = values->cells;

    if (!cells->has_one_cell) {
        test_each(bits, cull, camera, cut, cells, boxes);
        return;
    }
    espl__planes planes = cull->planes[camera];
    double way[3];

    espl__way_to_cell(way, cull->mirror, cells->of[0], cull->cameras[camera].cell);
    bring_planes(&planes, &cull->planes[camera], way);
    cull->kernels->boxes->inside(bits, &planes, cut, boxes);
}
