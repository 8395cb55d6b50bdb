// SPDX-License-Identifier: MIT
// Stage 7: the result of each command, and the report.
//
// Input: the verdicts in the entries, the outputs of all stages. Output: results in the lanes,
// espl_report. Cost: O(commands + parts + groups). Cannot fail.
//
// One thread, because the stage takes less than a hundredth of the time of a playback.
#include "lib/commands/stages.h"

// Tell whether all commands have the result ESPL_OK, as in most playbacks. The parts have the bits of
// all statuses, so that the entries, which the workers wrote, need not be read.
static bool is_all_ok(const espl__applied *applied)
{
    unsigned seen = 0;

    _Static_assert(ESPL_OK == 0, "no bit is set by ESPL_OK");
    for (uint32_t i = 0; i < applied->part_count; ++i) {
        seen |= applied->parts[i]->seen;
    }
    return seen == 0;
}

// Write the result of each command. Those of custom commands are written later.
static void write_results(const espl__report_input *in, bool is_ok)
{
    const espl__lane_view *const lanes = in->request->lanes;
    const espl__ordered *const ordered = in->ordered;

    for (uint32_t i = 0; is_ok && i < in->request->lane_count; ++i) {
        for (size_t k = 0; k < lanes[i].count; ++k) {
            lanes[i].results[k] = ESPL_OK;
        }
    }
    for (size_t i = 0; !is_ok && i < ordered->entry_count; ++i) {
        const espl__entry *const entry = &ordered->entries[i];

        lanes[entry->lane].results[entry->index] = entry->status;
    }
}

// Count the commands that are lossy or refused, and why. In playback order, because the first refusal
// of each reason is reported.
static void count_verdicts(const espl__ordered *ordered, espl_report *report)
{
    for (size_t i = 0; i < ordered->entry_count; ++i) {
        const espl__entry *const entry = &ordered->entries[i];
        const int reason = -(int)entry->status;

        report->lossy += entry->status == ESPL_LOSSY ? 1 : 0;
        ESPL_CHECK_FULL(reason < ESPL_REASON_COUNT);
        if (reason > 0) {
            report->refused += 1;
            if (report->refused_by[reason]++ == 0) {
                report->first_refused[reason] = (espl_command_place){entry->lane, entry->index};
            }
        }
    }
}

// Add the nodes that an edit visited and moved. A tree that was moved as a whole to a new range is
// counted by the layout, and nodes that stay in the nursery did not move.
static void report_edit(const espl__edit *edit, espl_report *report)
{
    report->visited_nodes += (size_t)edit->context.counts.nodes_visited;
    report->moved_nodes += espl__array_length(edit->made) + edit->arriving;
}

// Commands in the largest group: an upper bound of what workers can share.
static size_t largest_group(const espl__grouped *grouped)
{
    size_t largest = 0;

    for (size_t i = 0; i < grouped->group_count; ++i) {
        const size_t size = grouped->groups[i].entry_end - grouped->groups[i].entry_begin;

        largest = size > largest ? size : largest;
    }
    return largest;
}

void espl__stage_report(const espl__report_input *in, espl_report *report)
{
    const bool is_ok = is_all_ok(in->applied);

    write_results(in, is_ok);
    ESPL_CHECK(report->accepted == 0 && report->refused == 0);
    if (!is_ok) {
        count_verdicts(in->ordered, report);
    }
    report->accepted = in->ordered->entry_count;
    report->applied = report->accepted - report->refused;
    report->created = in->planned->make_count;
    report->destroyed = in->planned->removal_count;
    report->row_moves = in->planned->move_count;
    report->row_batches = in->changed->row_batches;
    report->groups = in->grouped->group_count;
    report->largest_group = largest_group(in->grouped);
    report->pendings = in->ordered->pending_count;
    report->rebuilt_nodes = (size_t)in->nodes_laid_out;
    report->moved_nodes = report->rebuilt_nodes;
    report->has_overflowed = in->has_overflowed;
    for (uint32_t i = 0; i < in->applied->part_count; ++i) {
        report_edit(&in->applied->parts[i]->edit, report);
    }
    // Custom commands are not among the entries.
    espl__custom_report(in->request, in->ordered, report);
    ESPL_CHECK(report->accepted == report->applied + report->refused);
}
