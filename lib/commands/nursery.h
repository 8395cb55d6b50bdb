// SPDX-License-Identifier: MIT
// The nursery of a playback: slots at the end of the pool for new nodes that find no room in the
// range of their parent. The place stage moves their nodes to other ranges.
#ifndef ESPALIER_LIB_COMMANDS_NURSERY_H
#define ESPALIER_LIB_COMMANDS_NURSERY_H

#include "lib/commands/stage_data.h"

/// Slots at most.
enum { ESPL__NURSERY_LIMIT = UINT32_MAX / 4 };

/// Take slots at the end of the pool, and a tree header for them while the playback runs.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: there is no nursery then.
espl_status espl__nursery_open(espl__stage_context *context, espl__nursery *nursery, size_t slots);
/// Make room for `count` copies of a closure, for a group that is applied alone, because its room was
/// not known before. Preconditions: no other part is applied at this moment, and the slots of the
/// edit end where the nursery ends.
/// @param closure  nodes of each copy.
/// @param spare    slots for the room of new trees, beside those of the nodes.
/// @return ESPL_OK, ESPL_ERR_LIMIT; ESPL_ERR_NO_MEMORY: the edit has it as well.
espl_status espl__nursery_grow(espl__stage_context *context, espl__nursery *nursery,
                               espl__edit *edit, uint32_t closure, uint32_t count,
                               uint32_t spare);
/// Free the header of the nursery, and where the edits were undone, its slots. No effect without
/// one.
void espl__nursery_close(espl__stage_context *context, const espl__nursery *nursery,
                         bool is_undone);

#endif
