// SPDX-License-Identifier: MIT
// Writes of locals to a good part of one hierarchy: all locals are put in place, and all worlds behind
// the first that changed follow in one sweep.
#ifndef ESPALIER_LIB_TREE_SWEEP_H
#define ESPALIER_LIB_TREE_SWEEP_H

#include "lib/tree/writes.h"

/// Part of the ranks behind the first entry that are written at least.
enum { ESPL__SWEPT_PART = 4 };

/// Carry the writes out, if they can be swept: a run in rank order without anything out of the
/// ordinary, entries of one kind that needs the local alone, none twice to a node, and so many that
/// looking for what hangs below each would cost more than visiting all. They need not come in the
/// order of ranks.
///
/// @return false: nothing is changed, results are open, and it has to be done otherwise: they
///         cannot be swept, or some world would not be finite.
bool espl__run_sweep(espl__forest *forest, espl__run_writes *writes);

#endif
