// SPDX-License-Identifier: MIT
// Cells of members, for updates in a world with cells (lib/tree/cells.h).
//
// Stored cells of all slots are in an array, as effective layers are: a node has the cell of its parent, and a change spreads to the nodes below. So an
// update finds the members of a tree that was attached to one of another cell, although none of them was
// written.
#ifndef ESPALIER_LIB_RENDERABLES_MEMBER_CELLS_H
#define ESPALIER_LIB_RENDERABLES_MEMBER_CELLS_H

#include "lib/renderables/far_places.h"

/// Bring the array of stored cells up to date, and note the members whose cell changed.
void espl__collect_cells(espl_renderables *r);
/// Write the cells of the members of a cluster. Holes keep theirs.
void espl__fill_cells(const espl_renderables *r, const espl__dirty *dirty,
                      const espl__cluster *cluster);
/// Compute the box of a cluster around the boxes of its members. In a world with cells it is relative to the
/// cell of the first one. @param members  a bit of each member whose box the box of the cluster contains.
void espl__box_around_members(const espl_renderables *r, espl__poses *poses,
                              const espl__values *values,
                              const uint64_t members[ESPL__LEAST ESPL__MEMBER_WORDS]);

/// Find the members astray as espl__find_astray() does, by absolute places.
void espl__find_far_astray(const espl_renderables *r, espl__cluster *cluster,
                           const espl__values *values, const espl__poses *poses);

#endif
