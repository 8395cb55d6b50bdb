// SPDX-License-Identifier: MIT
// The state of a world as pieces (lib/base/state.h): what it was made with, the state of its store, then
// that of its forest. All that later calls depend on is in them, so that worlds of equal pieces have the
// same future.
#ifndef ESPALIER_LIB_WORLD_STATE_H
#define ESPALIER_LIB_WORLD_STATE_H

#include "lib/world/world_internal.h"

/// Visit the state of a world. Precondition: the world is valid, and no playback or job runs.
static inline void espl__state_visit(const espl_world *world, const espl__state_visitor *visitor)
{
    const uint64_t budget = world->layout_budget;
    const uint32_t words[3] = {world->store.tag, (uint32_t)budget, (uint32_t)(budget >> 32)};

    espl__state_piece(visitor, "tag and layout budget", ESPL__STATE_WORDS, words, 3);
    espl__store_visit(&world->store, visitor);
    espl__forest_visit(&world->forest, visitor);
}

#endif
