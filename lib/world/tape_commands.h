// SPDX-License-Identifier: MIT
// The commands of a playback, and of a creation, on the tape.
#ifndef ESPALIER_LIB_WORLD_TAPE_COMMANDS_H
#define ESPALIER_LIB_WORLD_TAPE_COMMANDS_H

#include "lib/world/world_internal.h"

struct espl__lane;

/// Append the commands of a buffer that is played.
void espl__tape_playback(espl_world *world, const espl_command_buffer *commands);
/// Append the command of a lane that has only one.
void espl__tape_command(espl_world *world, const struct espl__lane *lane);

#endif
