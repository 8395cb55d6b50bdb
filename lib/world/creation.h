// SPDX-License-Identifier: MIT
// The command buffer of immediate calls whose commands have a payload.
#ifndef ESPALIER_LIB_WORLD_CREATION_H
#define ESPALIER_LIB_WORLD_CREATION_H

#include "lib/world/world_internal.h"

/// Free world->own.
void espl__own_free(espl_world *world);
/// Return the recorder of the world's own buffer, whose lane is empty. The buffer has no tag, so that
/// every pending handle is refused. @return NULL where there is no memory.
espl_recorder *espl__own_begin(espl_world *world);
/// Empty the lane. Its memory is kept for the next call, unless that call was for many entities.
void espl__own_end(espl_world *world);

#endif
