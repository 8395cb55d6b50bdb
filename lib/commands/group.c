// SPDX-License-Identifier: MIT
// Stage 3: commands that may depend on each other come into one group. The elements of a
// union-find are the commands and the runs they touch; a source is touched only where somebody
// writes to its run, so that spawns of one prefab stay independent.
#include "lib/commands/playback.h"

// Elements: entries first, touched runs behind them.
typedef struct unions {
    uint32_t *above; // [count]
    uint32_t entry_count;
} unions;

static uint32_t find(const unions *u, uint32_t element)
{
    while (u->above[element] != element) {
        u->above[element] = u->above[u->above[element]];
        element = u->above[element];
    }
    return element;
}

// The smaller number stands for both, so that groups count up in playback order.
static void unite(const unions *u, uint32_t a, uint32_t b)
{
    const uint32_t x = find(u, a), y = find(u, b);

    if (x < y) {
        u->above[y] = x;
    } else {
        u->above[x] = y;
    }
}

static uint32_t touch(espl__playback *playback, uint32_t run)
{
    if (playback->run_marks[run] == 0) {
        playback->touched[playback->touched_count] = (espl__touched_run){.run = run};
        playback->run_marks[run] = (uint32_t)++playback->touched_count;
    }
    return playback->run_marks[run] - 1;
}

static bool is_living(const espl__operand *operand)
{
    return operand->status == ESPL_OK && operand->slot != ESPL__NO_SLOT;
}

static void touch_operand(espl__playback *playback, const espl__operand *operand)
{
    if (is_living(operand)) {
        (void)touch(playback, playback->forest->run[operand->slot]);
    }
}

static void touch_written(espl__playback *playback)
{
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (entry->command->kind != ESPL__COMMAND_INSTANTIATE) {
            touch_operand(playback, &entry->target);
        }
        touch_operand(playback, &entry->parent);
        touch_operand(playback, &entry->before);
    }
    for (uint32_t run = playback->forest->unsettled; run != ESPL__NO_RUN;
         run = playback->forest->runs[run].next) {
        (void)touch(playback, run);
    }
}

static void unite_operand(espl__playback *playback, const unions *u, uint32_t entry,
                          const espl__operand *operand)
{
    if (is_living(operand)) {
        const uint32_t run = playback->forest->run[operand->slot];

        unite(u, entry, u->entry_count + playback->run_marks[run] - 1);
    } else if (operand->status == ESPL_OK) {
        unite(u, entry, operand->maker);
    }
}

// A source with ghosts is read through a sketch too, where they are spliced out.
static bool is_source_apart(const espl__playback *playback, const espl__operand *source)
{
    const uint32_t run = playback->forest->run[source->slot];

    return playback->run_marks[run] == 0 && playback->forest->runs[run].ghosts == 0;
}

static void unite_entries(espl__playback *playback, const unions *u)
{
    for (uint32_t i = 0; i < u->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const bool is_instance = entry->command->kind == ESPL__COMMAND_INSTANTIATE;

        unite_operand(playback, u, i, &entry->parent);
        unite_operand(playback, u, i, &entry->before);
        if (is_instance && is_living(&entry->target)) {
            if (is_source_apart(playback, &entry->target)) {
                continue;
            }
            touch_operand(playback, &entry->target);
        }
        unite_operand(playback, u, i, &entry->target);
    }
}

// Number the groups by first appearance; sort entries and runs by group, stably.
static espl_status number_groups(espl__playback *playback, const unions *u)
{
    const uint32_t entries = u->entry_count;
    const uint32_t runs = (uint32_t)playback->touched_count;
    uint32_t *const number = espl__arena_take(&playback->arena, entries + runs, sizeof *number);
    uint32_t count = 0;

    playback->grouped_entries = espl__arena_take(&playback->arena, entries, sizeof(uint32_t));
    playback->grouped_runs = espl__arena_take(&playback->arena, runs, sizeof(uint32_t));
    if (number == NULL || playback->grouped_entries == NULL || playback->grouped_runs == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t element = 0; element < entries + runs; ++element) {
        const uint32_t top = find(u, element);

        number[element] = top == element ? count++ : number[top];
    }
    playback->groups = espl__arena_take_zeroed(&playback->arena, count, sizeof(espl__group));
    if (playback->groups == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    playback->group_count = count;

    espl__group *const groups = playback->groups;
    for (uint32_t i = 0; i < entries; ++i) {
        playback->entries[i].group = number[i];
        groups[number[i]].entry_end += 1;
    }
    for (uint32_t i = 0; i < runs; ++i) {
        playback->touched[i].group = number[entries + i];
        groups[number[entries + i]].run_end += 1;
    }
    uint32_t entry_sum = 0, run_sum = 0;
    for (uint32_t g = 0; g < count; ++g) {
        entry_sum += groups[g].entry_end;
        run_sum += groups[g].run_end;
        groups[g].entry_begin = groups[g].entry_end = entry_sum - groups[g].entry_end;
        groups[g].run_begin = groups[g].run_end = run_sum - groups[g].run_end;
    }
    for (uint32_t i = 0; i < entries; ++i) {
        playback->grouped_entries[groups[number[i]].entry_end++] = i;
    }
    for (uint32_t i = 0; i < runs; ++i) {
        playback->grouped_runs[groups[number[entries + i]].run_end++] = i;
    }
    return ESPL_OK;
}

espl_status espl__stage_group(espl__playback *playback)
{
    const espl__forest *const forest = playback->forest;
    const size_t entries = playback->entry_count;
    size_t unsettled = 0;

    for (uint32_t run = forest->unsettled; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        unsettled += 1;
    }
    const size_t run_bound = 3 * entries + unsettled;
    const size_t bound = run_bound < forest->run_end ? run_bound : forest->run_end;
    const unions u = {espl__arena_take(&playback->arena, entries + bound, sizeof(uint32_t)),
                      (uint32_t)entries};

    playback->touched = espl__arena_take(&playback->arena, bound, sizeof *playback->touched);
    if (u.above == NULL || playback->touched == NULL ||
        !espl__marks_reserve(playback->heap, &playback->run_marks, forest->run_end)) {
        return ESPL_ERR_NO_MEMORY;
    }

    for (uint32_t element = 0; element < entries + bound; ++element) {
        u.above[element] = element;
    }
    touch_written(playback);
    unite_entries(playback, &u);
    return number_groups(playback, &u);
}
