// SPDX-License-Identifier: MIT
// The parts of a playback, which the apply stage fills: their memory, which is kept from one playback
// to the next, and the list of their edits.
#ifndef ESPALIER_LIB_COMMANDS_PARTS_H
#define ESPALIER_LIB_COMMANDS_PARTS_H

#include "lib/commands/stage_data.h"

/// The part of a number, whose lists may have items of an earlier playback. NULL: no memory.
espl__part *espl__part_take(espl__stage_context *context, uint32_t number);
/// Take a part and empty its lists. NULL: no memory.
espl__part *espl__part_begin(espl__stage_context *context, uint32_t number);
/// Note the kinds of the nodes that a group made. Called after its last command, while their lines are
/// in the cache.
void espl__part_note_kinds(espl__part *part);
/// Clear the marks of the nodes whose sets its commands changed.
void espl__part_clear_marks(const espl__stage_context *context, const espl__part *part);
/// List the edits of the parts. @return their count.
size_t espl__part_edits(const espl__applied *applied, espl__edit *edits[ESPL__PARTS]);
/// Bytes of a part and its lists.
/// @param part  may be NULL.
/// @param used  out: bytes of the items in its lists.
size_t espl__part_bytes(espl__part *part, size_t *used);
/// Free all parts. Precondition: no playback is under way.
void espl__parts_free(espl__stage_context *context);

#endif
