// SPDX-License-Identifier: MIT
// Writes on a tape: few bytes each, because most of a value is what the entity has already.
#ifndef ESPALIER_LIB_WORLD_TAPE_WRITES_H
#define ESPALIER_LIB_WORLD_TAPE_WRITES_H

#include "lib/world/write_entries.h"

/// Append a write of one entity. Precondition of both: the world is as before the call that is recorded.
/// @param value  of the kind, of any alignment; not read where there is no such kind.
void espl__tape_write(espl_world *world, espl_entity entity, espl_write_kind kind,
                      const void *value);
/// Append a count and the entries of a batch.
void espl__tape_entries(espl_world *world, const espl__entries *entries);

#endif
