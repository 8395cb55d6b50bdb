// SPDX-License-Identifier: MIT
// Command buffers of a world.
#ifndef ESPALIER_LIB_WORLD_COMMANDS_H
#define ESPALIER_LIB_WORLD_COMMANDS_H

#include "lib/world/world_internal.h"

/// Create a command buffer of the world. @param alive  the count that includes it.
espl_status espl__commands_of(espl_world *world, _Atomic uint32_t *alive, uint32_t lanes,
                              espl_command_buffer **out);

#endif
