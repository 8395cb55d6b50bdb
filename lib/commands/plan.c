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
        const uint32_t first =
            playback->lanes[entry->lane].pending_base + entry->command->pending;

        entry->clone_count = 0;
        for (uint32_t k = 0; k < entry->command->count; ++k) {
            playback->pending_nodes[first + k] = ESPL__NO_NODE;
        }
    }
}

// Carry out the first `count` commands. false: some world is not finite, or there is no memory.
static bool try_commands(espl__playback *playback, espl__group *group, uint32_t count)
{
    const uint32_t runs = group->run_end - group->run_begin;
    size_t nodes = 0;

    for (uint32_t i = 0; i < runs; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[group->run_begin + i]].run;

        nodes += playback->forest->runs[run].size;
    }
    group->sketch.count = 0;
    if (!espl__sketch_reserve_nodes(&group->sketch, nodes)) {
        group->status = ESPL_ERR_NO_MEMORY;
        return false;
    }
    start_over(playback, group);
    for (uint32_t i = 0; i < count && group->status == ESPL_OK; ++i) {
        const uint32_t number = playback->grouped_entries[group->entry_begin + i];
        espl__entry *const entry = &playback->entries[number];

        entry->status = espl__carry_out(playback, group, entry);
    }
    return group->status == ESPL_OK && espl__sketch_lay_out(&group->sketch);
}

// Some command makes a world overflow: the last of the shortest sequence that does is refused, and
// the others are carried out again.
static void refuse_one(espl__playback *playback, espl__group *group)
{
    uint32_t fine = 0, bad = group->entry_end - group->entry_begin;

    while (bad - fine > 1 && group->status == ESPL_OK) {
        const uint32_t middle = fine + (bad - fine) / 2;

        if (try_commands(playback, group, middle)) {
            fine = middle;
        } else {
            bad = middle;
        }
    }
    const uint32_t number = playback->grouped_entries[group->entry_begin + bad - 1];

    playback->entries[number].is_out_of_range = true;
}

static bool is_source_extra(const espl__playback *playback, const espl__entry *entry)
{
    const espl__operand *const source = &entry->target;

    return entry->command->kind == ESPL__COMMAND_INSTANTIATE && source->status == ESPL_OK &&
           source->slot != ESPL__NO_SLOT &&
           espl__run_of(playback->forest, source->slot)->extra != NULL;
}

static bool may_have_extras(const espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->sketch;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        const uint32_t run = playback->touched[playback->grouped_runs[i]].run;

        if (playback->forest->runs[run].extra != NULL) {
            return true;
        }
    }
    for (uint32_t i = group->entry_begin; i < group->entry_end; ++i) {
        if (is_source_extra(playback, &playback->entries[playback->grouped_entries[i]])) {
            return true;
        }
    }
    for (size_t i = 0; i < sketch->written_count; ++i) {
        const espl__extra extra = espl__extra_of(&sketch->written[i]);

        if (!espl__extra_is_default(&extra)) {
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
    group->has_extras = sketch->is_restructured || sketch->is_touched
                            ? may_have_extras(playback, group)
                            : false;
    group->has_plots = sketch->is_restructured || group->has_extras;
}

static void plan_groups(void *context, size_t begin, size_t end)
{
    espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        espl__group *const group = &playback->groups[i];
        const uint32_t count = group->entry_end - group->entry_begin;

        while (!try_commands(playback, group, count) && group->status == ESPL_OK) {
            ESPL_CHECK(count > 0);
            refuse_one(playback, group);
        }
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
