// SPDX-License-Identifier: MIT
// The moment of a world, and its planes: which changes are marked, and for how many consumers.
//
// A moment is a number of a world that increases when a consumer has looked: when a watch is collected, a
// tick begins, or poses are presented. Changes are marked with it, so that each change after a look has a
// later moment than all before it.
#ifndef ESPALIER_LIB_WORLD_MOMENT_H
#define ESPALIER_LIB_WORLD_MOMENT_H

#include "lib/world/world_internal.h"

/// Go to the next moment, in all planes. @return the moment before it, which no later mark has.
uint64_t espl__world_next_moment(espl_world *world);

/// Count one more consumer of planes, and open those that had none. A plane that is opened says that
/// nothing changed yet.
/// @param planes  bit n: plane number n, of ESPL__PLANE_... and ESPL__PLANE_INDEX.
/// @return false: no memory, nothing changed.
bool espl__planes_acquire(espl_world *world, uint32_t planes);
/// Count one consumer less, and close the planes that have none. Cannot fail.
void espl__planes_release(espl_world *world, uint32_t planes);

/// Count the planes that are open.
size_t espl__planes_count(const espl_world *world);
/// Return the bytes of all planes.
size_t espl__planes_bytes(const espl_world *world);

#endif
