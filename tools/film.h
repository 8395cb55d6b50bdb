// SPDX-License-Identifier: MIT
// `espalier play --film`: draws each frame of the play, seen by a camera that moves. A frame has no time in it,
// so that the same play gives the same pixels on one machine.
#ifndef ESPALIER_TOOLS_FILM_H
#define ESPALIER_TOOLS_FILM_H

#include "tools/drawing.h"
#include "tools/show.h"

/// A film that is being drawn.
typedef struct tool_film tool_film;

/// Begin the film that the options ask for.
/// @return NULL with the reason: no memory, or nothing can be written there.
tool_film *film_open(const tool_options *options, tool_fault *fault);

/// Draw the show as it is at a frame. Shows follow each other in one film.
bool film_take(tool_film *film, const play_show *show, uint32_t frame, tool_fault *fault);

/// End the film, and release it. NULL is allowed.
/// @param out  what was written, one line.
/// @return false with the reason.
bool film_close(tool_film *film, char out[DRAWING_TEXT], tool_fault *fault);

#endif
