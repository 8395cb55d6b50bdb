// SPDX-License-Identifier: MIT
// Tracing of a playback: the trace hook is called for each stage, and the report gets the time that each
// stage took. Without a trace hook and without a report, no hook is called and no clock is read.
#ifndef ESPALIER_LIB_COMMANDS_WATCH_H
#define ESPALIER_LIB_COMMANDS_WATCH_H

#include <espalier/commands.h>

typedef struct espl__watch {
    const espl_hooks *hooks;
    bool is_on;                       // between begin and end, with a trace hook or a report
    bool is_timed;                    // the clock is read
    espl_stage stage;                 // under way
    uint64_t since;                   // when it began
    uint64_t spent[ESPL_STAGE_COUNT]; // nanoseconds
} espl__watch;

/// Nanoseconds by the hooks' clock, or the system's.
uint64_t espl__time_now(const espl_hooks *hooks);

/// Begin a playback and its first stage.
void espl__watch_begin(espl__watch *watch, const espl_hooks *hooks, bool is_timed);
/// End the stage under way and the playback.
void espl__watch_end(espl__watch *watch);
/// End the stage under way and begin another; called by espl__watch_stage().
void espl__watch_switch(espl__watch *watch, espl_stage stage);

/// End the stage under way and begin another.
static inline void espl__watch_stage(espl__watch *watch, espl_stage stage)
{
    if (watch->is_on) {
        espl__watch_switch(watch, stage);
    }
}

/// Tell the trace hook that a named part of a stage begins or ends.
static inline void espl__watch_part(const espl__watch *watch, const char *name, bool begins)
{
    if (watch->is_on && watch->hooks->trace != NULL) {
        watch->hooks->trace(watch->hooks->user, name, begins ? ESPL_TRACE_BEGIN : ESPL_TRACE_END);
    }
}

#endif
