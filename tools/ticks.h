// SPDX-License-Identifier: MIT
// `espalier play --ticks`: the scene moves in ticks, and frames that are drawn between them show blends.
// The shown transforms are compared with blends in double.
//
//     seconds   0             1/20             2/20      ticks, here 20 a second
//     frame     0    1    2    3    4    5    6          --rate a second, here 60; a frame shows one tick
//                                                        behind, and --ahead ticks more
#ifndef ESPALIER_TOOLS_TICKS_H
#define ESPALIER_TOOLS_TICKS_H

#include "tools/document.h"
#include "tools/show.h"
#include "tools/table.h"

/// Take the memory, and start motion in the world of the show. Without ticks it does nothing.
bool ticks_open(play_show *show, tool_fault *fault);
/// Release the memory; a show without ticks is allowed.
void ticks_close(play_show *show);

/// Tell whether another tick comes before a frame is drawn.
bool ticks_are_due(const play_show *show, uint32_t frame);
/// Return the number of ticks in a number of frames.
size_t ticks_in_frames(const tool_options *options, uint32_t frame_count);

/// Present the time of a frame, and compare what is shown of some copies with the oracle.
bool ticks_draw(play_show *show, uint32_t frame, tool_fault *fault);

/// Judge what was compared. At the end of the last tick the world is shown, bit for bit.
bool ticks_judge(play_show *show, tool_fault *fault);

/// Write the columns of the table and the members of the document.
void ticks_head_table(tool_table *table);
void ticks_add_to_table(tool_table *table, const play_show *show);
void ticks_add_to_document(tool_document *document, const play_show *show);

#endif
