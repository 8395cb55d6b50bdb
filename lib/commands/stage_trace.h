// SPDX-License-Identifier: MIT
// The trace of a playback: the trace hook is called for each stage, and the time that each stage
// takes is measured for the report.
//
// Output: `spent`. Invariant: each begin is followed by its end. Without a trace hook and without a
// report no hook is called and no clock is read.
#ifndef ESPALIER_LIB_COMMANDS_STAGE_TRACE_H
#define ESPALIER_LIB_COMMANDS_STAGE_TRACE_H

#include <espalier/commands.h>

typedef struct espl__stage_trace {
    const espl_hooks *hooks;
    bool is_on;                       // a playback is under way, with a trace hook or a report
    bool is_timed;                    // the clock is read
    espl_stage stage;                 // the current one
    uint64_t since;                   // time at which it began
    uint64_t spent[ESPL_STAGE_COUNT]; // nanoseconds
} espl__stage_trace;

/// Nanoseconds by the hooks' clock, or the system's.
uint64_t espl__time_now(const espl_hooks *hooks);

/// Begin a playback and its first stage. @param is_timed  read the clock.
void espl__trace_begin(espl__stage_trace *trace, const espl_hooks *hooks, bool is_timed);
/// End the current stage and the playback. No effect after espl__trace_end().
void espl__trace_end(espl__stage_trace *trace);
/// The slow path of espl__trace_stage().
void espl__trace_switch(espl__stage_trace *trace, espl_stage stage);

/// End the current stage and begin another one. No effect between playbacks.
static inline void espl__trace_stage(espl__stage_trace *trace, espl_stage stage)
{
    if (trace->is_on) {
        espl__trace_switch(trace, stage);
    }
}

/// Tell the trace hook that a named part of a stage begins or ends.
static inline void espl__trace_part(const espl__stage_trace *trace, const char *name, bool begins)
{
    if (trace->is_on && trace->hooks->trace != NULL) {
        trace->hooks->trace(trace->hooks->user, name, begins ? ESPL_TRACE_BEGIN : ESPL_TRACE_END);
    }
}

#endif
