// SPDX-License-Identifier: MIT
// The trace of a playback: see stage_trace.h. Reads the clock of the hooks, or a monotonic clock.
#include "lib/commands/stage_trace.h"

#include "lib/base/trap.h"

#include "lib/base/system.h"

static const char *const stage_names[ESPL_STAGE_COUNT] = {
    [ESPL_STAGE_ORDER] = "order",   [ESPL_STAGE_RESOLVE] = "resolve", [ESPL_STAGE_GROUP] = "group",
    [ESPL_STAGE_APPLY] = "apply",   [ESPL_STAGE_CHANGE] = "change",   [ESPL_STAGE_PLACE] = "place",
    [ESPL_STAGE_REPORT] = "report",
};

const char *espl_stage_name(espl_stage stage)
{
    return (unsigned)stage < ESPL_STAGE_COUNT ? stage_names[stage] : "unknown stage";
}

uint64_t espl__time_now(const espl_hooks *hooks)
{
    return hooks->clock != NULL ? hooks->clock(hooks->user) : espl__system_time();
}

// The time, or 0 where only the trace hook is called.
static uint64_t read_clock(const espl__stage_trace *trace)
{
    return trace->is_timed ? espl__time_now(trace->hooks) : 0;
}

// Add the time since the begin of the stage. A clock that goes backwards adds none.
static void count_time(espl__stage_trace *trace, uint64_t now)
{
    trace->spent[trace->stage] += now > trace->since ? now - trace->since : 0;
    trace->since = now;
}

void espl__trace_begin(espl__stage_trace *trace, const espl_hooks *hooks, bool is_timed)
{
    *trace = (espl__stage_trace){.hooks = hooks,
                                 .is_on = is_timed || hooks->trace != NULL,
                                 .is_timed = is_timed,
                                 .stage = ESPL_STAGE_ORDER};
    if (trace->is_on) {
        trace->since = read_clock(trace);
        espl__trace_part(trace, "playback", true);
        espl__trace_part(trace, stage_names[trace->stage], true);
    }
}

void espl__trace_switch(espl__stage_trace *trace, espl_stage stage)
{
    ESPL_CHECK(trace->is_on && stage < ESPL_STAGE_COUNT);
    count_time(trace, read_clock(trace));
    espl__trace_part(trace, stage_names[trace->stage], false);
    trace->stage = stage;
    espl__trace_part(trace, stage_names[stage], true);
}

void espl__trace_end(espl__stage_trace *trace)
{
    if (trace->is_on) {
        count_time(trace, read_clock(trace));
        espl__trace_part(trace, stage_names[trace->stage], false);
        espl__trace_part(trace, "playback", false);
        trace->is_on = false;
    }
}
