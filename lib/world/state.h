// SPDX-License-Identifier: MIT
// The state of a world as pieces (lib/base/state.h): that of its store, then that of its forest. All
// that depends on what a world holds, and not on how it came there, is in them.
#ifndef ESPALIER_LIB_WORLD_STATE_H
#define ESPALIER_LIB_WORLD_STATE_H

#include "lib/world/world_internal.h"

/// Visit the state of a world. Precondition: the world is valid, and no playback or job runs.
static inline void espl__state_visit(const espl_world *world, const espl__state_visitor *visitor)
{
    espl__store_visit(&world->store, visitor);
    espl__forest_visit(&world->forest, visitor);
}

#endif
