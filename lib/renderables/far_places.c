// SPDX-License-Identifier: MIT
// The functions of far_places.h.
#include "lib/renderables/far_places.h"

#include <math.h>

// --- Cells ---

double espl__way_between_cells(const espl_renderables *r, espl__cell from, espl__cell to, int axis)
{
    const espl__cell rebased = r->world->forest.rebased;
    const int64_t cells =
        (int64_t)espl__cell_sum(from, rebased).at[axis] - espl__cell_sum(to, rebased).at[axis];

    return (double)cells * (double)r->world->forest.cell_size;
}

void espl__bring_to_cell(const espl_renderables *r, float position[ESPL__LEAST 3], espl__cell from,
                         espl__cell to)
{
    for (int k = 0; k < 3; ++k) {
        position[k] = espl__coordinate_shift(position[k], espl__way_between_cells(r, from, to, k));
    }
}

void espl__bring_box(const espl_renderables *r, espl__poses *poses, uint32_t place, espl__cell from,
                     espl__cell to)
{
    float center[3];

    for (int k = 0; k < 3; ++k) {
        center[k] = poses->boxes[ESPL__BOX_CENTER + k][place];
    }
    espl__bring_to_cell(r, center, from, to);
    for (int k = 0; k < 3; ++k) {
        poses->boxes[ESPL__BOX_CENTER + k][place] = center[k];
    }
}

// --- The spatial order ---

// Compute the absolute place of a centre.
static void place_of(const espl_renderables *r, espl__cell stored, const float center[3],
                     double out[3])
{
    for (int k = 0; k < 3; ++k) {
        out[k] = (double)stored.at[k] * (double)r->world->forest.cell_size + (double)center[k];
    }
}

void espl__far_center(const espl_renderables *r, espl__cell stored, const float center[3],
                      float out[3])
{
    double place[3];

    place_of(r, stored, center, place);
    for (int k = 0; k < 3; ++k) {
        out[k] = (float)((place[k] - r->far_origin[k]) * r->far_inverse);
    }
}

// The edge is 1/64 of a cell of the world, or 1/2^18 of the extent of the first members where that is more.
void espl__choose_far_cells(espl_renderables *r)
{
    const espl__arrival *const list = r->arrivals[ESPL__STILL];
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double extent = 0;

    for (size_t i = 0; i < espl__array_length(list); ++i) {
        double place[3];

        place_of(r, espl__stored_cell(r, list[i].slot),
                 r->world->forest.world[list[i].slot].position, place);
        for (int k = 0; k < 3 && place[k] - place[k] == 0; ++k) {
            low[k] = fmin(low[k], place[k]);
            high[k] = fmax(high[k], place[k]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        extent = high[k] - low[k] > extent ? high[k] - low[k] : extent;
        r->far_origin[k] = low[k] - low[k] == 0 ? low[k] : 0;
    }
    const double chosen = fmax((double)r->world->forest.cell_size / 64, extent * 0x1p-18);
    // A tiny edge would have no inverse.
    const double edge = r->cells.edge > 0 ? fmax((double)r->cells.edge, 1e-30) : chosen;

    r->far_inverse = 1 / edge;
    r->cells = (espl__cells){.edge = 1, .inverse = 1};
}
