// SPDX-License-Identifier: MIT
// Stage 7: the result of each command, and the report.
//
// Input: the verdicts in the entries, the outputs of all stages. Output: results in the lanes,
// espl_report. Cost: O(commands + parts + groups).
//
// Results are written on the workers. Cannot fail: where an executor loses a job, all results are
// written again on the calling thread, which changes nothing.
#include "lib/commands/stages.h"

// Sections of the commands at most, and commands of a section at least: one worker answers fewer
// before another wakes up.
enum { SECTIONS = 128, SECTION_ENTRIES = 4096 };

// What is counted in one section.
typedef struct verdict_counts {
    uint32_t lossy, refused;
} verdict_counts;

// State of the stage.
typedef struct reporting {
    const espl__lane_view *lanes;
    const espl__entry *entries; // [entry_count]
    size_t entry_count;
    size_t sections;
    verdict_counts counts[SECTIONS];
} reporting;

// First command of a section. The cut depends on the number of commands alone.
static size_t section_begin(const reporting *r, size_t section)
{
    ESPL_CHECK(section <= r->sections);
    // An immediate call has one section, and no division then.
    if (section == 0 || section == r->sections) {
        return section == 0 ? 0 : r->entry_count;
    }
    return r->entry_count * section / r->sections;
}

// Count the verdicts of commands [begin, end) that are not ESPL_OK.
static verdict_counts count_verdicts(const reporting *r, size_t begin, size_t end)
{
    verdict_counts sum = {0};

    for (size_t i = begin; i < end; ++i) {
        const espl_status status = r->entries[i].status;

        sum.lossy += status == ESPL_LOSSY;
        sum.refused += status < 0;
    }
    return sum;
}

// Write the results of commands [begin, end). Most sections have no verdict but ESPL_OK, which
// leaves nothing to count.
static verdict_counts write_results(const reporting *r, size_t begin, size_t end)
{
    const espl__lane_view *const lanes = r->lanes;
    unsigned seen = 0;

    for (size_t i = begin; i < end; ++i) {
        const espl__entry *const entry = &r->entries[i];

        lanes[entry->lane].results[entry->index] = entry->status;
        seen |= (unsigned)entry->status;
    }
    _Static_assert(ESPL_OK == 0, "no bit is set by ESPL_OK");
    return seen != 0 ? count_verdicts(r, begin, end) : (verdict_counts){0};
}

// A job: answer the commands of the sections [begin, end). Sections write disjoint results.
static void write_sections(void *context, size_t begin, size_t end)
{
    reporting *const r = context;

    size_t first = section_begin(r, begin);

    for (size_t i = begin; i < end; ++i) {
        const size_t next = section_begin(r, i + 1);

        r->counts[i] = write_results(r, first, next);
        first = next;
    }
}

// Count the refusals of a section by reason. Precondition: sections before it were counted, because
// the first refusal of each reason is noted.
static void count_reasons(const reporting *r, size_t section, espl_report *report)
{
    for (size_t i = section_begin(r, section); i < section_begin(r, section + 1); ++i) {
        const espl__entry *const entry = &r->entries[i];
        const int reason = -(int)entry->status;

        ESPL_CHECK_FULL(reason < ESPL_REASON_COUNT);
        if (reason > 0 && report->refused_by[reason]++ == 0) {
            report->first_refused[reason] = (espl_command_place){entry->lane, entry->index};
        }
    }
}

// Report how many commands were accepted, applied and refused, and why. Reasons are counted on this
// thread in playback order, because the first refusal of each reason is reported.
static void report_commands(const reporting *r, espl_report *report)
{
    report->accepted += r->entry_count;
    for (size_t i = 0; i < r->sections; ++i) {
        report->lossy += r->counts[i].lossy;
        report->refused += r->counts[i].refused;
        if (r->counts[i].refused > 0) {
            count_reasons(r, i, report);
        }
    }
    report->applied = report->accepted - report->refused;
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

void espl__stage_report(const espl__stage_context *context, const espl__report_input *in,
                        espl_report *report)
{
    const size_t count = in->ordered->entry_count, most = count / SECTION_ENTRIES;
    reporting r; // not set to 0, because the counts of an immediate call are one of many

    r.lanes = in->request->lanes;
    r.entries = in->ordered->entries;
    r.entry_count = count;
    r.sections = most == 0 ? 1 : most < SECTIONS ? most : SECTIONS;
    if (espl__run_ranges(context->executor, context->hooks, write_sections, &r, r.sections, 1) !=
        ESPL_OK) {
        write_sections(&r, 0, r.sections);
    }
    if (report == NULL) {
        ESPL_CHECK(in->ordered->custom_count == 0);
        return;
    }
    ESPL_CHECK(report->accepted == 0);
    report_commands(&r, report);
    report->created = in->planned->make_count;
    report->destroyed = in->planned->removal_count;
    report->row_moves = in->planned->move_count;
    report->row_batches = in->changed->row_batches;
    report->groups = in->grouped->group_count;
    report->largest_group = largest_group(in->grouped);
    report->pendings = in->ordered->pending_count;
    report->rebuilt_nodes = (size_t)in->nodes_laid_out;
    report->moved_nodes = report->rebuilt_nodes;
    report->overflowed = (size_t)in->overflowed;
    for (uint32_t i = 0; i < in->applied->part_count; ++i) {
        report_edit(&in->applied->parts[i]->edit, report);
    }
    // Custom commands are not among the entries.
    espl__custom_report(in->request, in->ordered, report);
    ESPL_CHECK(report->accepted == report->applied + report->refused);
}
