// SPDX-License-Identifier: MIT
// Who watches a playback: the trace hook hears of its stages, and a report tells how long they took.
// Where neither is there, nothing is called and no clock is read.
#ifndef ESPALIER_LIB_COMMANDS_WATCH_H
#define ESPALIER_LIB_COMMANDS_WATCH_H

#include <espalier/commands.h>

typedef struct espl__watch {
    const espl_hooks *hooks;
    bool is_on;                       // between begin and end, where somebody watches
    bool is_timed;                    // the clock is read
    espl_stage stage;                 // under way
    uint64_t since;                   // when it began
    uint64_t spent[ESPL_STAGE_COUNT]; // nanoseconds
} espl__watch;

/// Nanoseconds by the hooks' clock, or the system's.
uint64_t espl__time_now(const espl_hooks *hooks);

/// A playback begins, and its first stage with it.
void espl__watch_begin(espl__watch *watch, const espl_hooks *hooks, bool is_timed);
/// The stage under way ends, and with it the playback.
void espl__watch_end(espl__watch *watch);
/// The stage under way ends and another begins; for espl__watch_stage().
void espl__watch_switch(espl__watch *watch, espl_stage stage);

static inline void espl__watch_stage(espl__watch *watch, espl_stage stage)
{
    if (watch->is_on) {
        espl__watch_switch(watch, stage);
    }
}

/// Something with a name begins or ends inside a stage.
static inline void espl__watch_part(const espl__watch *watch, const char *name, bool begins)
{
    if (watch->is_on && watch->hooks->trace != NULL) {
        watch->hooks->trace(watch->hooks->user, name, begins);
    }
}

#endif
