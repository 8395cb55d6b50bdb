// SPDX-License-Identifier: MIT
// A present on several workers.
#ifndef ESPALIER_LIB_TREE_PRESENT_JOBS_H
#define ESPALIER_LIB_TREE_PRESENT_JOBS_H

#include "lib/tree/present.h"

/// Compute the shown worlds of the list on the workers of the forest. Worlds and results do not depend on
/// the workers.
void espl__present_on_workers(espl__present *present);

#endif
