// SPDX-License-Identifier: MIT
// The transforms of a slot, as users read them.
#ifndef ESPALIER_LIB_WORLD_READ_H
#define ESPALIER_LIB_WORLD_READ_H

#include "lib/world/world_internal.h"

/// What espl_get_world_transform() and espl_get_local_transform() read of a slot. An
/// entity without a transform of its own shows its parent's stretch and user data in both.
espl_transform espl__read_world(const espl_world *world, uint32_t slot);
espl_transform espl__read_local(const espl_world *world, uint32_t slot);

/// espl_read_one() under the name of another public function in messages.
espl_status espl__read_as(const espl_world *world, const char *call, espl_entity entity,
                          espl_read_kind kind, void *out);

#endif
