// SPDX-License-Identifier: MIT
// Stage 7, parallel over commands: what became of each, and the sums. Nothing may fail here, so
// what an executor leaves out is done again on the calling thread.
#include "lib/commands/playback.h"

// Fewer commands are answered sooner by one worker than others wake up.
enum { PARTS = 128, PART_GRAIN = 4096 };

typedef struct part {
    uint32_t lossy, refused;
} part;

typedef struct accounting {
    const espl__playback *playback;
    size_t parts;
    part of[PARTS];
} accounting;

static size_t part_begin(const accounting *a, size_t number)
{
    return a->playback->entry_count * number / a->parts;
}

static part count_part(const espl__playback *playback, size_t begin, size_t end)
{
    part sum = {0};

    for (size_t i = begin; i < end; ++i) {
        const espl_status status = playback->entries[i].status;

        sum.lossy += status == ESPL_LOSSY;
        sum.refused += status < 0;
    }
    return sum;
}

// Most parts have nothing to count.
static part answer(const espl__playback *playback, size_t begin, size_t end)
{
    const espl__lane_view *const lanes = playback->lanes;
    unsigned seen = 0;

    for (size_t i = begin; i < end; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        lanes[entry->lane].results[entry->index] = entry->status;
        seen |= (unsigned)entry->status;
    }
    return seen != 0 ? count_part(playback, begin, end) : (part){0};
}

static void answer_parts(void *context, size_t begin, size_t end)
{
    accounting *const a = context;

    for (size_t i = begin; i < end; ++i) {
        a->of[i] = answer(a->playback, part_begin(a, i), part_begin(a, i + 1));
    }
}

static void tell_reasons(const espl__playback *playback, size_t begin, size_t end,
                         espl_report *report)
{
    for (size_t i = begin; i < end; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const int reason = -(int)entry->status;

        if (reason > 0 && report->refused_by[reason]++ == 0) {
            report->first_refused[reason] = (espl_command_place){entry->lane, entry->index};
        }
    }
}

static void account(const accounting *a, espl_report *report)
{
    report->accepted += a->playback->entry_count;
    for (size_t i = 0; i < a->parts; ++i) {
        report->lossy += a->of[i].lossy;
        report->refused += a->of[i].refused;
        if (a->of[i].refused > 0) {
            tell_reasons(a->playback, part_begin(a, i), part_begin(a, i + 1), report);
        }
    }
    report->applied = report->accepted - report->refused;
}

static void answer_commands(const espl__playback *playback, espl_report *report)
{
    const size_t most = playback->entry_count / PART_GRAIN;
    accounting a;

    a.playback = playback;
    a.parts = most == 0 ? 1 : most < PARTS ? most : PARTS;
    if (espl__run_ranges(playback->executor, playback->hooks, answer_parts, &a, a.parts, 1) !=
        ESPL_OK) {
        answer_parts(&a, 0, a.parts);
    }
    account(&a, report);
}

void espl__stage_report(espl__playback *playback, espl_report *report)
{
    answer_commands(playback, report);
    report->created = playback->make_count;
    report->destroyed = playback->removal_count;
    report->row_moves = playback->move_count;
    report->row_batches = playback->row_batches;
    report->groups = playback->group_count;
    report->pendings = playback->pending_count;
    report->rebuilt_nodes = (size_t)(playback->forest->nodes_laid_out - playback->layouts_before);
    report->moved_nodes = report->rebuilt_nodes;
    for (uint32_t i = 0; i < playback->part_count; ++i) {
        const espl__edit *const edit = &playback->parts[i]->edit;

        report->visited_nodes += (size_t)edit->context.counts.nodes_visited;
        report->overflowed += (size_t)edit->context.counts.overflowed;
        report->moved_nodes += espl__array_length(edit->made);
        for (size_t k = 0; k < espl__array_length(edit->relocations); ++k) {
            const espl__relocation *const place = &edit->relocations[k];

            report->moved_nodes += place->is_adopted || place->capacity != 0 ? 0 : place->count;
        }
    }
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];
        const size_t size = group->entry_end - group->entry_begin;

        report->largest_group = size > report->largest_group ? size : report->largest_group;
    }
}
