// SPDX-License-Identifier: MIT
// Places in a world with cells (lib/tree/cells.h): between two cells, and in the spatial order. A stored cell is
// that of the tree less the sum of all rebases, espl__forest.rebased.
//
// Members are filed by absolute positions, which are doubles: in edges of the spatial order, relative to where
// it begins. Members of several cells may be in one cluster, because a world with a tree in each cell would
// have as many clusters as trees otherwise.
#ifndef ESPALIER_LIB_RENDERABLES_FAR_PLACES_H
#define ESPALIER_LIB_RENDERABLES_FAR_PLACES_H

#include "lib/renderables/renderables.h"
#include "lib/tree/cells.h"

/// Tell whether the world of renderables has cells.
static inline bool espl__renderables_have_cells(const espl_renderables *r)
{
    return r->tables.has_cells;
}

/// Return the cell that a slot has now, as blocks have it.
static inline espl__cell espl__stored_cell(const espl_renderables *r, uint32_t slot)
{
    const espl__forest *const forest = &r->world->forest;

    return espl__cell_difference(espl__cell_of(forest, slot), forest->rebased);
}

/// Return the way between the middles of two stored cells on an axis. The difference is that of the cells,
/// unless it leaves the range of 32 bits.
double espl__way_between_cells(const espl_renderables *r, espl__cell from, espl__cell to, int axis);
/// Bring a position from one stored cell to another one.
void espl__bring_to_cell(const espl_renderables *r, float position[ESPL__LEAST 3], espl__cell from,
                         espl__cell to);
/// Bring a box of a poses block to another cell.
void espl__bring_box(const espl_renderables *r, espl__poses *poses, uint32_t place, espl__cell from,
                     espl__cell to);

// --- The spatial order ---

/// Choose where the spatial order begins, and its edge, by the arrivals.
void espl__choose_far_cells(espl_renderables *r);
/// Compute the place of a centre in the spatial order, in edges. @param out  may be `center`.
void espl__far_center(const espl_renderables *r, espl__cell stored, const float center[3],
                      float out[3]);

#endif
