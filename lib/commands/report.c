// SPDX-License-Identifier: MIT
// Stage 7: what became of each command, and the sums.
#include "lib/commands/playback.h"

static void account(espl_report *report, const espl__entry *entry)
{
    report->accepted += 1;
    if (entry->status >= 0) {
        report->applied += 1;
        report->lossy += entry->status == ESPL_LOSSY ? 1 : 0;
        return;
    }
    const int reason = -(int)entry->status;

    report->refused += 1;
    if (report->refused_by[reason]++ == 0) {
        report->first_refused[reason] = (espl_command_place){entry->lane, entry->index};
    }
}

void espl__stage_report(espl__playback *playback, espl_report *report)
{
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        playback->lanes[entry->lane].results[entry->index] = entry->status;
        account(report, entry);
    }
    report->created = playback->make_count;
    report->destroyed = playback->removal_count;
    report->row_moves = playback->move_count;
    report->groups = playback->group_count;
    for (size_t i = 0; i < playback->group_count; ++i) {
        report->visited_nodes += playback->groups[i].visited;
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        report->rebuilt_nodes += playback->groups[plot->group].sketch.laid[plot->laid].size;
    }
}
