// SPDX-License-Identifier: MIT
// The command buffer of immediate creations.
#ifndef ESPALIER_LIB_WORLD_CREATION_H
#define ESPALIER_LIB_WORLD_CREATION_H

#include "lib/world/world_internal.h"

/// Free world->own.
void espl__own_free(espl_world *world);

#endif
