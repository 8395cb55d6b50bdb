// SPDX-License-Identifier: MIT
// Jumps: which nodes a write with ESPL_TELEPORT placed, with all that was below them then. A write marks its node
// alone, so that a batch along a chain is not quadratic. Before any link changes, and before the moment does, the
// marks are spread to the nodes below: later, other nodes may be there.
#ifndef ESPALIER_LIB_TREE_JUMPS_H
#define ESPALIER_LIB_TREE_JUMPS_H

#include "lib/tree/forest.h"

/// Mark that a write with ESPL_TELEPORT placed a node. Several jobs may mark different slots at a time.
void espl__note_jump(espl__forest *forest, uint32_t slot);

/// The work of espl__jumps_spread().
void espl__jumps_spread_all(espl__forest *forest);
/// Mark what is below the nodes that jumped since the last call, each node once. O(blocks of slots + nodes that
/// are marked), or O(1) where none jumped. Allowed inside an edit.
static inline void espl__jumps_spread(espl__forest *forest)
{
    if (atomic_load_explicit(&forest->tracks.has_jumps, memory_order_relaxed)) {
        espl__jumps_spread_all(forest);
    }
}

#endif
