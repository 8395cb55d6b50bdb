// SPDX-License-Identifier: MIT
// The parts of a playback, which the apply stage fills: their memory, which is kept from one playback
// to the next, and the list of their edits.
#ifndef ESPALIER_LIB_COMMANDS_PARTS_H
#define ESPALIER_LIB_COMMANDS_PARTS_H

#include "lib/commands/stage_data.h"

/// Bytes of all lists that are small: they are kept.
enum { ESPL__SMALL_PARTS = 1 << 16 };

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
/// Free the parts when a playback made their lists much longer than usual, or when they are much longer than
/// the usual playback needs. A small one does not count for what is usual.
/// @param count  parts that it used.
void espl__parts_trim(espl__stage_context *context, uint32_t count);
/// Tell whether the lists of a part have become so long that espl__parts_trim() may free them. Only lists that
/// one command can make long are looked at.
static inline bool espl__part_is_long(const espl__part *part)
{
    enum { LONG = ESPL__SMALL_PARTS / sizeof(espl__made) };

    return (espl__array_capacity(part->edit.log) | espl__array_capacity(part->edit.made) |
            espl__array_capacity(part->edit.template_nodes)) >= LONG;
}
/// Free all parts. Precondition: no playback is under way.
void espl__parts_free(espl__stage_context *context);

#endif
