// SPDX-License-Identifier: MIT
// The hooks that a world gives to its parts.
#ifndef ESPALIER_LIB_WORLD_HOOKS_H
#define ESPALIER_LIB_WORLD_HOOKS_H

#include "lib/world/world_internal.h"

/// Set the hooks of a world, so that one thread at a time is inside log and trap, and so that
/// messages below a level are dropped.
void espl__hooks_guard(espl_world *world, const espl_hooks *given, espl_log_level least);

#endif
