// SPDX-License-Identifier: MIT
// The edit of immediate destroys.
#ifndef ESPALIER_LIB_WORLD_DESTROY_H
#define ESPALIER_LIB_WORLD_DESTROY_H

#include "lib/tree/edit.h"
#include "lib/world/world_internal.h"

/// Begin an edit for espl__edit_destroy() that needs no memory and has no undo log.
/// Entities are removed as they are met; what needs memory is left to espl__settle().
void espl__destroy_begin(espl_world *world, espl__edit *edit);
/// End it. @param remark  of its destroys: ESPL_OK, ESPL_LOSSY. @return the remark, ESPL_OVERFLOW.
espl_status espl__destroy_end(espl_world *world, const espl__edit *edit, espl_status remark);

/// Destroy living entities as espl_destroy_many(), and record it, within another call. @param call  its name.
espl_status espl__destroy_listed(espl_world *world, const espl_entity *entities, size_t count,
                                 espl_extent extent, const char *call);

#endif
