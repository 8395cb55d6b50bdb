// SPDX-License-Identifier: MIT
// After the survey of an edit: the memory for its relocations, and the moves.
#ifndef ESPALIER_LIB_TREE_RELOCATION_H
#define ESPALIER_LIB_TREE_RELOCATION_H

#include "lib/base/prefetch.h"
#include "lib/tree/edit.h"

/// Allocate all memory of the relocations of some edits: ranges, headers, side arrays.
/// @return ESPL_OK; ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT: the edits must be undone.
///         What was allocated is free again.
espl_status espl__relocations_reserve(espl__forest *forest, espl__edit *const *edits, size_t count);
/// Propagate below stale nodes, free the slots of the dead, and move nodes to their final slots.
/// Cannot fail. Edits of different trees may be relocated concurrently.
void espl__edit_relocate(espl__edit *edit, espl__moved_function moved, void *context);
/// Move a subtree that an unlogged edit linked to a parent in another range, or at a higher slot, to free slots
/// of the tree of the parent. Preconditions: that tree has room for it, and neither has side arrays.
void espl__arrival_relocate(espl__forest *forest, uint32_t top, espl__moved_function moved,
                            void *context);
/// Prefetch the slot that the next node of a tree likely gets: its first hole or unused slot.
static inline void espl__arrival_prefetch(const espl__forest *forest, const espl__tree *t)
{
    const uint32_t slot = t->hole != ESPL__NO_SLOT ? t->hole : t->base + t->used;

    espl__prefetch_to_write(&forest->links[slot]);
    espl__prefetch_to_write(&forest->local[slot]);
    espl__prefetch_to_write(&forest->world[slot]);
    espl__prefetch_to_write(&forest->parent[slot]);
    espl__prefetch_to_write(&forest->flags[slot]);
}
/// Complete the relocations of all edits on the calling thread, in order: headers get their new
/// ranges, and ranges, headers and side arrays that are not needed are freed.
/// @param nursery_begin, nursery_end  the nursery; slots that no tree adopted are freed.
void espl__relocations_finish(espl__forest *forest, espl__edit *const *edits, size_t count,
                              uint32_t nursery_begin, uint32_t nursery_end);

#endif
