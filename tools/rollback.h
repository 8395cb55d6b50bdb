// SPDX-License-Identifier: MIT
// A replay that goes back after each frame and plays the last frames again, as netcode does that predicts: the
// tape says what each answer and each hash must be, the second time as the first.
#ifndef ESPALIER_TOOLS_ROLLBACK_H
#define ESPALIER_TOOLS_ROLLBACK_H

#include <espalier/espalier.h>

#include <stdbool.h>

/// Frames that can be played again.
#define ROLLBACK_LIMIT 1024

typedef struct replay replay;

typedef struct tool_rollback {
    espl_history *history; // NULL: nothing is rolled back
    uint32_t frames;
    size_t *ends; // [frames + 1] where the records of a frame end, by its number modulo frames + 1
    uint64_t again; // the frame up to which frames are played again; 0: this one is played first
} tool_rollback;

/// Begin, where the replay asks for it; the history takes memory of the world. @return false: there is none.
bool rollback_begin(replay *p);
/// Go back, or go on, after a frame was carried out.
void rollback_frame(replay *p);
/// Tell whether a call is carried out once more.
bool rollback_is_again(const replay *p);
/// End; before the tape makes a history of its own, of which a world has one, too.
void rollback_end(replay *p);

#endif
