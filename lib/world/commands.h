// SPDX-License-Identifier: MIT
// Command buffers of a world.
#ifndef ESPALIER_LIB_WORLD_COMMANDS_H
#define ESPALIER_LIB_WORLD_COMMANDS_H

#include "lib/world/world_internal.h"

/// Create a command buffer of the world. @param alive  the count that includes it.
espl_status espl__commands_of(espl_world *world, _Atomic uint32_t *alive, uint32_t lanes,
                              espl_command_buffer **out);
/// Play a buffer without custom commands: all of its commands, or none where one is refused.
/// @return as espl_play(), or why the first command in playback order is refused.
espl_status espl__play_strictly(espl_world *world, espl_command_buffer *commands,
                                espl_report *report);

#endif
