// SPDX-License-Identifier: MIT
// Memory of batches of writes.
#ifndef ESPALIER_LIB_WORLD_BATCH_H
#define ESPALIER_LIB_WORLD_BATCH_H

#include "lib/world/world_internal.h"

/// Take the scratch memory for batches of `count` writes.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__writes_reserve(espl_world *world, size_t count);

#endif
