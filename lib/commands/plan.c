// SPDX-License-Identifier: MIT
// Stage 4, parallel over groups: each group's commands are carried out on its sketch, in order, and
// the hierarchies that come of it are laid out. Nothing but scratch is written.
#include "lib/commands/playback.h"

enum { GRAIN = 16 };

// A bound past which a group takes its nodes as it goes: a command may yet be refused.
#define NODE_BUDGET ((size_t)1 << 20)

static size_t node_budget(const espl__playback *playback, const espl__group *group)
{
    size_t nodes = 0;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        nodes += playback->forest->runs[run].size;
    }
    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        const espl__entry *const entry = &playback->entries[playback->grouped_entries[i]];
        size_t clones = 0;

        if (espl__size_multiply(&clones, entry->clone_bound, entry->command->count)) {
            nodes += clones < NODE_BUDGET ? clones : 0;
        }
    }
    return nodes;
}

static size_t written_budget(const espl__playback *playback, const espl__group *group)
{
    size_t written = 0;

    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        const espl__command *const command =
            playback->entries[playback->grouped_entries[i]].command;
        const size_t count = command->kind == ESPL__COMMAND_INSTANTIATE ? command->count : 1;

        written += count < NODE_BUDGET ? count : 0;
    }
    return written;
}

static bool give_slices(espl__playback *playback, espl__group *group)
{
    espl__sketch *const sketch = &group->sketch;
    const size_t nodes = node_budget(playback, group);
    const size_t written = written_budget(playback, group);
    void *const block = espl__arena_take(&playback->arena, 1, espl__sketch_size(nodes));

    sketch->written = espl__arena_take(&playback->arena, written, sizeof *sketch->written);
    if (block == NULL || sketch->written == NULL) {
        return false;
    }
    sketch->heap = playback->heap;
    sketch->forest = playback->forest;
    sketch->written_capacity = written;
    espl__sketch_use(sketch, block, nodes);
    return true;
}

static void start_over(espl__playback *playback, espl__group *group)
{
    espl__sketch_clear(&group->sketch);
    espl__array_set_length(group->values, 0);
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        espl__touched_run *const touched = &playback->touched[playback->grouped_runs[i]];

        touched->node = espl__sketch_load(&group->sketch, touched->run);
    }
    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        espl__entry *const entry = &playback->entries[playback->grouped_entries[i]];
        const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

        entry->clone_count = 0;
        for (uint32_t k = 0; k < entry->command->count; ++k) {
            playback->pending_nodes[first + k] = ESPL__NO_NODE;
        }
    }
}

static bool load_runs(espl__playback *playback, espl__group *group)
{
    size_t nodes = 0;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        nodes += playback->forest->runs[run].size;
    }
    group->sketch.count = 0;
    if (!espl__sketch_reserve_nodes(&group->sketch, nodes)) {
        group->status = ESPL_ERR_NO_MEMORY;
        return false;
    }
    start_over(playback, group);
    return true;
}

static espl__entry *entry_of(const espl__playback *playback, const espl__group *group, uint32_t i)
{
    return &playback->entries[playback->grouped_entries[group->entry_begin + i]];
}

// Carry out all commands; worlds are looked at once, at the end.
static void carry_out_all(espl__playback *playback, espl__group *group)
{
    const uint32_t count = group->entry_end - group->entry_begin;

    for (uint32_t i = 0; i < count && group->status == ESPL_OK; ++i) {
        espl__entry *const entry = entry_of(playback, group, i);

        entry->status = espl__carry_out(playback, group, entry);
    }
}

// Carry out all commands and look at the worlds after each past the first `known`. The number of
// the first that makes one overflow, or the count.
static uint32_t find_overflow(espl__playback *playback, espl__group *group, uint32_t known)
{
    const uint32_t count = group->entry_end - group->entry_begin;

    for (uint32_t i = 0; i < count && group->status == ESPL_OK; ++i) {
        espl__entry *const entry = entry_of(playback, group, i);

        entry->status = espl__carry_out(playback, group, entry);
        if (i >= known && entry->status >= 0 && !espl__sketch_lay_out(&group->sketch)) {
            return i;
        }
    }
    return count;
}

// Refuse each command that makes a world overflow, as one by one they would be: it is left out and
// the group starts again.
static void plan_carefully(espl__playback *playback, espl__group *group)
{
    const uint32_t count = group->entry_end - group->entry_begin;
    uint32_t known = 0;

    while (known < count && load_runs(playback, group)) {
        known = find_overflow(playback, group, known);
        if (known < count) {
            entry_of(playback, group, known)->is_out_of_range = true;
            known += 1;
        }
    }
    // Left out last of all: what was carried out is to be undone too.
    if (count > 0 && entry_of(playback, group, count - 1)->is_out_of_range &&
        load_runs(playback, group)) {
        carry_out_all(playback, group);
    }
}

static void plan_group(espl__playback *playback, espl__group *group)
{
    const uint32_t count = group->entry_end - group->entry_begin;

    if (!load_runs(playback, group)) {
        return;
    }
    carry_out_all(playback, group);
    if (group->status != ESPL_OK) {
        return;
    }
    const bool is_fine = espl__sketch_lay_out(&group->sketch);
    const bool may_hide = count > 1 && group->sketch.may_hide;

    if (is_fine && (!may_hide || espl__sketch_is_tame(&group->sketch))) {
        return;
    }
    ESPL_CHECK(count > 0);
    plan_carefully(playback, group);
    if (group->status == ESPL_OK) {
        (void)espl__sketch_lay_out(&group->sketch);
    }
}

static bool is_source_sided(const espl__playback *playback, const espl__entry *entry)
{
    const espl__operand *const source = &entry->target;

    return entry->command->kind == ESPL__COMMAND_INSTANTIATE && source->status == ESPL_OK &&
           source->slot != ESPL__NO_SLOT &&
           espl__run_of(playback->forest, source->slot)->side != NULL;
}

static bool may_have_side(const espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->sketch;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        if (playback->forest->runs[run].side != NULL) {
            return true;
        }
    }
    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        if (is_source_sided(playback, &playback->entries[playback->grouped_entries[i]])) {
            return true;
        }
    }
    for (size_t i = 0; i < sketch->written_count; ++i) {
        if (espl__placement_needs_side(&sketch->written[i])) {
            return true;
        }
    }
    return false;
}

static void count_work(const espl__playback *playback, espl__group *group)
{
    const espl__sketch *const sketch = &group->sketch;

    group->clones = group->dead = 0;
    group->visited = sketch->changed_count;
    // Roots may have become solos, or solos roots, without being noted.
    group->role_changes = sketch->laid_count;
    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        group->clones += playback->entries[playback->grouped_entries[i]].clone_count;
    }
    for (size_t i = 0; i < sketch->noted_count; ++i) {
        const uint32_t flags = sketch->nodes[sketch->noted[i]].flags;
        const bool is_dead = (flags & ESPL__NODE_DEAD) != 0;

        if ((flags & ESPL__NODE_CLONE) != 0) {
            group->clones -= is_dead;
        } else if (is_dead) {
            group->dead += 1;
        } else {
            group->role_changes += 1;
        }
    }
    group->has_side =
        sketch->is_restructured || sketch->is_touched ? may_have_side(playback, group) : false;
    group->has_plots = sketch->is_restructured || group->has_side;
}

static void plan_groups(void *context, size_t begin, size_t end)
{
    espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        espl__group *const group = &playback->groups[i];

        plan_group(playback, group);
        if (group->status == ESPL_OK) {
            count_work(playback, group);
        }
    }
}

espl_status espl__stage_plan(espl__playback *playback)
{
    for (size_t i = 0; i < playback->group_count; ++i) {
        if (!give_slices(playback, &playback->groups[i])) {
            return ESPL_ERR_NO_MEMORY;
        }
    }
    const espl_status status = espl__run_ranges(playback->executor, playback->hooks, plan_groups,
                                                playback, playback->group_count, GRAIN);
    for (size_t i = 0; status == ESPL_OK && i < playback->group_count; ++i) {
        if (playback->groups[i].status != ESPL_OK) {
            return playback->groups[i].status;
        }
    }
    return status;
}
