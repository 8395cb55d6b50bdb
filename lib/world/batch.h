// SPDX-License-Identifier: MIT
// Batches of writes: their memory, and how other calls carry them out.
#ifndef ESPALIER_LIB_WORLD_BATCH_H
#define ESPALIER_LIB_WORLD_BATCH_H

#include "lib/world/write_entries.h"

/// Take the scratch memory for batches of `count` writes.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__writes_reserve(espl_world *world, size_t count);
/// Count the bytes of that memory. What lies behind them in world->write_scratch is left alone by a batch of so
/// many writes. Precondition: count <= ESPL__ENTRIES_LIMIT.
size_t espl__writes_size(size_t count);

/// Carry out a batch within another call, which is recorded. Memory that was reserved for it is enough.
/// Precondition: espl__entries_fault() finds nothing.
espl_status espl__write_untaped(espl_world *world, const espl__entries *entries,
                                espl_write_report *report);
/// Carry out and record a batch. Precondition: the caller holds the world (ESPL__CHANGE_OR_RETURN()).
/// @param world   NULL is refused.
/// @param fault   a sentence that says what is wrong with the arguments, or NULL.
/// @param report  out; may be NULL.
espl_status espl__write_entries(espl_world *world, const espl__entries *entries, const char *fault,
                                espl_write_report *report);

#endif
