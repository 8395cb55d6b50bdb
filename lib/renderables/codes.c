// SPDX-License-Identifier: MIT
// Codes of new renderables, by the centres of their world boxes, and the cells of space.
#include "lib/renderables/far_places.h"

#include "lib/base/prefetch.h"
#include "lib/math/boxes.h"
#include "lib/renderables/codes.h"

#include <math.h>
#include <string.h>

void espl__find_center(const espl_renderables *r, uint32_t slot, const espl_bounds *bounds,
                       float center[ESPL__LEAST 3])
{
    float room[3], box[ESPL__BOX_NUMBERS];
    const float local[ESPL__BOX_NUMBERS] = {
        bounds->center[0], bounds->center[1], bounds->center[2], 0, 0, 0};

    espl__box_of_pose(box, &r->world->forest.world[slot],
                      espl__slot_stretch(&r->world->forest, slot, room), local);
    memcpy(center, box, 3 * sizeof *center);
    if (espl__renderables_have_cells(r)) {
        espl__far_center(r, espl__stored_cell(r, slot), center, center);
    }
}

// Choose the cells, by the centres of the first members: where they begin, and 1/4096 of their extent unless
// the user has chosen an edge.
static void choose_cells(espl_renderables *r)
{
    const espl__arrival *const list = r->arrivals[ESPL__STILL];
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    float extent = 0;

    for (size_t i = 0; i < espl__array_length(list); ++i) {
        float center[3];

        espl__find_center(r, list[i].slot, &list[i].bounds, center);
        for (int k = 0; k < 3; ++k) {
            if (center[k] - center[k] == 0) {
                low[k] = center[k] < low[k] ? center[k] : low[k];
                high[k] = center[k] > high[k] ? center[k] : high[k];
            }
        }
    }
    for (int k = 0; k < 3; ++k) {
        const float edge = high[k] - low[k];

        extent = edge > extent && edge - edge == 0 ? edge : extent;
        r->cells.origin[k] = low[k] - low[k] == 0 ? low[k] : 0;
    }
    const float edge = r->cells.edge > 0 ? r->cells.edge : extent / 4096;

    // A tiny edge would have no inverse.
    r->cells.edge = edge > 1e-30f ? edge : extent > 0 ? 1e-30f : 1;
    r->cells.inverse = 1 / r->cells.edge;
}

void espl__find_codes(espl_renderables *r)
{
    enum { AHEAD = 16 };
    espl__arrival *const list = r->arrivals[ESPL__STILL];
    const size_t count = espl__array_length(list);

    if (count != 0 && r->cells.inverse == 0 && espl__renderables_have_cells(r)) {
        espl__choose_far_cells(r);
    } else if (count != 0 && r->cells.inverse == 0) {
        choose_cells(r);
    }
    for (size_t i = 0; i < count; ++i) {
        float center[3];

        if (i + AHEAD < count) {
            espl__prefetch(&r->world->forest.world[list[i + AHEAD].slot]);
        }
        if ((list[i].source & ESPL__FROM_STORE) == 0) {
            continue;
        }
        espl__find_center(r, list[i].slot, &list[i].bounds, center);
        list[i].code = espl__code_of(&r->cells, center);
    }
}
