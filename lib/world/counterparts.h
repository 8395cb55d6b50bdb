// SPDX-License-Identifier: MIT
// Checks of originals.
#ifndef ESPALIER_LIB_WORLD_COUNTERPARTS_H
#define ESPALIER_LIB_WORLD_COUNTERPARTS_H

#include "lib/world/world_internal.h"

/// What is wrong with an original that is refused with ESPL_ERR_ARGUMENT.
extern const char *const espl__original_fault;
/// Check a handle that is to be an original. @return ESPL_OK, ESPL_ERR_PENDING, ESPL_ERR_ARGUMENT.
espl_status espl__check_original(const espl_world *world, espl_entity original);

#endif
