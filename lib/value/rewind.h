// SPDX-License-Identifier: MIT
// Rewinds: a shadow gets its state at an earlier frame from the log, and the world gets the state of the
// shadow. Only items that may differ are looked at. Nothing is allocated: blocks of chunks and side arrays are
// retired ones (heap.h), and those that the world has no more.
//
// First all blocks are given that the earlier state has not, then those are taken that it has. There are
// enough of each size, because a block that was in use at a frame is in use now, or was retired since.
#ifndef ESPALIER_LIB_VALUE_REWIND_H
#define ESPALIER_LIB_VALUE_REWIND_H

#include "lib/value/shadow.h"

/// Make shadow and world what they were at a frame of the log, which is the newest one then.
/// @param at      number of the frame in the log.
/// @param report  out: lists in memory of the shadow.
void espl__rewind(espl__shadow *shadow, uint32_t at, uint32_t flags, espl_rewind *report);

/// A function for the indices that are noted.
typedef void espl__rewind_function(espl__shadow *shadow, uint32_t index, void *context);
/// Call it for each of them, lowest first.
void espl__rewind_each_index(espl__shadow *shadow, espl__rewind_function *call, void *context);

// --- Parts (rewind_rows.c, rewind_nodes.c) ---

/// Give the chunks that the shadow has not, and forget later archetypes.
void espl__rewind_drop_rows(espl__shadow *shadow);
/// Take chunks, and restore records, rows and names.
void espl__rewind_rows(espl__shadow *shadow);
/// Note which slots and headers differ, and give the side arrays that the shadow
/// has not.
void espl__rewind_drop_nodes(espl__shadow *shadow);
/// Take side arrays, restore slots and headers, and compute their worlds.
void espl__rewind_nodes(espl__shadow *shadow);

#endif
