// SPDX-License-Identifier: MIT
// After the commands of a group: which subtrees of an edit have to move.
#ifndef ESPALIER_LIB_TREE_RELOCATION_SURVEY_H
#define ESPALIER_LIB_TREE_RELOCATION_SURVEY_H

#include "lib/tree/edit.h"

/// Mark all roots of a range that has several, as if a command had edited them: the survey gives each
/// a range. forest->loose is sorted by slot.
/// @param lays_out  each root gets a new range, in which it is laid out; else one part keeps the range.
/// @return false: no memory.
bool espl__edit_mark_roots(espl__edit *edit, uint32_t tree, bool lays_out);
/// List the relocations of the current group: new roots, and trees whose range is too short for the
/// subtrees that were linked to them. Also sorts its stale nodes. espl__edit_undo() undoes its
/// changes as well. Precondition: espl__edit_end_run().
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY.
espl_status espl__edit_survey_moved(espl__edit *edit);
static inline espl_status espl__edit_survey(espl__edit *edit)
{
    ESPL_CHECK(edit->run.tree == ESPL__NO_TREE);
    // Fast path: no node of the group moves, and at most one is stale.
    return espl__array_length(edit->moved) == edit->moved_from &&
                   edit->nursery == edit->nursery_begin &&
                   espl__array_length(edit->stale) - edit->stale_from <= 1
               ? ESPL_OK
               : espl__edit_survey_moved(edit);
}

#endif
