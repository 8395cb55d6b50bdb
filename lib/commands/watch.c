// SPDX-License-Identifier: MIT
#include "lib/commands/watch.h"

#include "lib/base/system.h"

static const char *const names[ESPL_STAGE_COUNT] = {
    [ESPL_STAGE_ORDER] = "order",   [ESPL_STAGE_RESOLVE] = "resolve", [ESPL_STAGE_GROUP] = "group",
    [ESPL_STAGE_APPLY] = "apply",   [ESPL_STAGE_CHANGE] = "change",   [ESPL_STAGE_PLACE] = "place",
    [ESPL_STAGE_REPORT] = "report",
};

const char *espl_stage_name(espl_stage stage)
{
    return (unsigned)stage < ESPL_STAGE_COUNT ? names[stage] : "unknown stage";
}

uint64_t espl__time_now(const espl_hooks *hooks)
{
    return hooks->clock != NULL ? hooks->clock(hooks->user) : espl__system_time();
}

static uint64_t read_clock(const espl__watch *watch)
{
    return watch->is_timed ? espl__time_now(watch->hooks) : 0;
}

// A clock that goes backwards adds no time.
static void count_time(espl__watch *watch, uint64_t now)
{
    watch->spent[watch->stage] += now > watch->since ? now - watch->since : 0;
    watch->since = now;
}

void espl__watch_begin(espl__watch *watch, const espl_hooks *hooks, bool is_timed)
{
    *watch = (espl__watch){.hooks = hooks,
                           .is_on = is_timed || hooks->trace != NULL,
                           .is_timed = is_timed,
                           .stage = ESPL_STAGE_ORDER};
    if (watch->is_on) {
        watch->since = read_clock(watch);
        espl__watch_part(watch, "playback", true);
        espl__watch_part(watch, names[watch->stage], true);
    }
}

void espl__watch_switch(espl__watch *watch, espl_stage stage)
{
    count_time(watch, read_clock(watch));
    espl__watch_part(watch, names[watch->stage], false);
    watch->stage = stage;
    espl__watch_part(watch, names[stage], true);
}

void espl__watch_end(espl__watch *watch)
{
    if (watch->is_on) {
        count_time(watch, read_clock(watch));
        espl__watch_part(watch, names[watch->stage], false);
        espl__watch_part(watch, "playback", false);
        watch->is_on = false;
    }
}
