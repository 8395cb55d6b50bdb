// SPDX-License-Identifier: MIT
// Stage 3: commands that may depend on each other come into one group. Elements are the runs that
// commands touch, and the commands that touch none, numbered by first appearance in playback
// order. Most commands touch one run; only where one names more are elements united. A source is
// touched only where somebody writes to its run, so that spawns of one prefab stay independent.
#include "lib/commands/playback.h"

#include "lib/base/ahead.h"

#include <string.h>

enum { GRAIN = 2048, AHEAD = 16 };

typedef struct grouping {
    espl__playback *playback;
    uint32_t *marks;            // of runs, as the playback has them
    espl__touched_run *touched; // [touched_count] those of the playback
    uint32_t touched_count;
    uint32_t *home;              // [entries] the entry's element; before, its first run
    uint32_t *above;             // [count] union-find; then the element's group
    uint32_t count;              // elements
    uint32_t group_count;        // once numbered
    bool has_links;              // some elements may be united
    uint32_t *run_at, *entry_at; // [group_count] counts, then where the next one goes
    bool *only_write;            // [group_count]
} grouping;

// --- Touching ---

static uint32_t add_element(grouping *g)
{
    g->above[g->count] = g->count;
    return g->count++;
}

// Until groups are numbered, the group of a touched run is its element.
static inline uint32_t touch(grouping *g, uint32_t run)
{
    uint32_t *const mark = &g->marks[run];
    const uint32_t end = g->touched_count, element = g->count;
    const uint32_t before = *mark, is_new = before == 0 ? 1 : 0;
    // Written where nothing is yet, whoever it was: whether it is new nobody can guess.
    const uint32_t number = before + (end + 1) * is_new;

    g->touched[end].run = run;
    g->above[element] = element;
    g->touched[end].group = element;
    g->count = element + is_new;
    g->touched_count = end + is_new;
    *mark = number;
    return g->touched[number - 1].group;
}

static void touch_operand(grouping *g, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        (void)touch(g, g->playback->forest->run[operand->number]);
    }
}

// What a command writes to besides its home.
static void touch_others(grouping *g, const espl__entry *entry)
{
    g->has_links = true;
    if (!espl__entry_instantiates(entry)) {
        touch_operand(g, &entry->target);
    }
    touch_operand(g, &entry->parent);
    touch_operand(g, &entry->before);
}

static void touch_written(grouping *g)
{
    const espl__playback *const playback = g->playback;
    const size_t count = playback->entry_count;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t ahead = i + AHEAD < count ? g->home[i + AHEAD] : ESPL__NO_RUN;

        if (ahead != ESPL__NO_RUN) {
            espl__ask(&g->marks[ahead]);
        }
        g->home[i] = g->home[i] == ESPL__NO_RUN ? add_element(g) : touch(g, g->home[i]);
        if (playback->ties.are_linking[i]) {
            touch_others(g, &playback->entries[i]);
        }
    }
    for (uint32_t run = playback->forest->unsettled; run != ESPL__NO_RUN;
         run = playback->forest->runs[run].next) {
        (void)touch(g, run);
    }
}

// --- Uniting ---

static uint32_t find(const grouping *g, uint32_t element)
{
    uint32_t *const above = g->above;

    while (above[element] != element) {
        above[element] = above[above[element]];
        element = above[element];
    }
    return element;
}

// The smaller number stands for both, so that groups count up in playback order.
static void unite(const grouping *g, uint32_t a, uint32_t b)
{
    const uint32_t x = find(g, a), y = find(g, b);

    if (x < y) {
        g->above[y] = x;
    } else {
        g->above[x] = y;
    }
}

static void unite_operand(grouping *g, size_t entry, const espl__operand *operand)
{
    if (espl__operand_is_living(operand)) {
        unite(g, g->home[entry], touch(g, g->playback->forest->run[operand->number]));
    } else if (espl__operand_is_pending(operand)) {
        unite(g, g->home[entry], g->home[g->playback->pending_entries[operand->number]]);
    }
}

static void unite_linking(grouping *g)
{
    const espl__playback *const playback = g->playback;

    for (size_t i = 0; g->has_links && i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (!playback->ties.are_linking[i]) {
            continue;
        }
        if (playback->ties.sources[i] == ESPL__NO_RUN) {
            unite_operand(g, i, &entry->target);
        }
        unite_operand(g, i, &entry->parent);
        unite_operand(g, i, &entry->before);
    }
}

// A source with ghosts is read through a sketch too, where they are spliced out.
static bool is_apart(const grouping *g, uint32_t run)
{
    return g->marks[run] == 0 && g->playback->forest->runs[run].ghosts == 0;
}

static void unite_sources(grouping *g)
{
    const espl__playback *const playback = g->playback;
    const uint32_t *const sources = playback->ties.sources;
    uint32_t apart = ESPL__NO_RUN;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        if (sources[i] == apart || sources[i] == ESPL__NO_RUN) {
            continue;
        }
        if (is_apart(g, sources[i])) {
            apart = sources[i];
        } else {
            g->has_links = true;
            unite(g, g->home[i], touch(g, sources[i]));
        }
    }
}

// --- Numbering and sorting ---

// An element stands above itself or below a smaller one, whose group is known then.
static void number_groups(grouping *g)
{
    espl__playback *const playback = g->playback;
    uint32_t count = 0;

    if (!g->has_links) {
        // Each is a group of its own by now.
        g->group_count = g->count;
        return;
    }
    for (uint32_t element = 0; element < g->count; ++element) {
        const uint32_t above = g->above[element];

        g->above[element] = above == element ? count++ : g->above[above];
    }
    for (size_t i = 0; i < playback->entry_count; ++i) {
        g->home[i] = g->above[g->home[i]];
    }
    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->touched[i].group = g->above[playback->touched[i].group];
    }
    g->group_count = count;
}

static void count_members(const grouping *g)
{
    const espl__playback *const playback = g->playback;

    memset(g->entry_at, 0, g->group_count * sizeof *g->entry_at);
    memset(g->run_at, 0, g->group_count * sizeof *g->run_at);
    memset(g->only_write, true, g->group_count * sizeof *g->only_write);
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const uint32_t group = g->home[i];

        g->entry_at[group] += 1;
        g->only_write[group] &= playback->ties.are_writes[i];
    }
    for (size_t i = 0; i < playback->touched_count; ++i) {
        g->run_at[playback->touched[i].group] += 1;
    }
}

static void lay_groups(grouping *g)
{
    espl__playback *const playback = g->playback;
    uint32_t entries = 0, runs = 0;

    for (uint32_t i = 0; i < g->group_count; ++i) {
        const uint32_t entry_begin = entries, run_begin = runs;

        entries += g->entry_at[i];
        runs += g->run_at[i];
        const bool only_writes = g->only_write[i] && entries != entry_begin;

        // A write unites nothing.
        ESPL_CHECK(!only_writes || runs == run_begin + 1);
        g->entry_at[i] = entry_begin;
        g->run_at[i] = run_begin;
        playback->groups[i] = (espl__group){.entry_begin = entry_begin,
                                            .entry_end = entries,
                                            .run_begin = run_begin,
                                            .run_end = runs,
                                            .only_writes = only_writes,
                                            .work = &playback->no_work};
    }
}

// Stable: both stay in their order within a group.
static void sort_members(const grouping *g)
{
    const espl__playback *const playback = g->playback;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        playback->grouped_entries[g->entry_at[g->home[i]]++] = (uint32_t)i;
    }
    for (size_t i = 0; i < ESPL__GROUPED_MORE; ++i) {
        playback->grouped_entries[playback->entry_count + i] = 0;
    }
    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->grouped_runs[g->run_at[playback->touched[i].group]++] = (uint32_t)i;
    }
}

static void tell_entries(void *context, size_t begin, size_t end)
{
    const grouping *const g = context;

    for (size_t i = begin; i < end; ++i) {
        g->playback->entries[i].group = g->home[i];
    }
}

static espl_status form_groups(grouping *g)
{
    espl__playback *const playback = g->playback;
    espl__arena *const arena = &playback->arena;

    number_groups(g);
    playback->grouped_entries =
        espl__arena_take(arena, playback->entry_count + ESPL__GROUPED_MORE, sizeof(uint32_t));
    playback->grouped_runs = espl__arena_take(arena, playback->touched_count, sizeof(uint32_t));
    playback->groups = espl__arena_take(arena, g->group_count, sizeof *playback->groups);
    g->entry_at = espl__arena_take(arena, g->group_count, sizeof *g->entry_at);
    g->run_at = espl__arena_take(arena, g->group_count, sizeof *g->run_at);
    g->only_write = espl__arena_take(arena, g->group_count, sizeof *g->only_write);
    if (playback->grouped_entries == NULL || playback->grouped_runs == NULL ||
        playback->groups == NULL || g->entry_at == NULL || g->run_at == NULL ||
        g->only_write == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    count_members(g);
    lay_groups(g);
    playback->group_count = g->group_count;
    sort_members(g);
    return espl__run_ranges(playback->executor, playback->hooks, tell_entries, g,
                            playback->entry_count, GRAIN);
}

// --- The stage ---

// Runs that can be touched: each command names three at most, and some want a purge.
static size_t run_bound(const espl__playback *playback)
{
    const espl__forest *const forest = playback->forest;
    size_t bound = 3 * playback->entry_count;

    for (uint32_t run = forest->unsettled; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        bound += 1;
    }
    return bound < forest->run_end ? bound : forest->run_end;
}

espl_status espl__stage_group(espl__playback *playback)
{
    const size_t runs = run_bound(playback);
    grouping g = {.playback = playback,
                  .home = playback->ties.homes,
                  .above = espl__arena_take(&playback->arena, playback->entry_count + runs + 1,
                                            sizeof *g.above)};

    // Room for one more: see touch().
    playback->touched = espl__arena_take(&playback->arena, runs + 1, sizeof *playback->touched);
    if (g.above == NULL || playback->touched == NULL ||
        !espl__marks_reserve(playback->heap, &playback->run_marks, playback->forest->run_end)) {
        return ESPL_ERR_NO_MEMORY;
    }

    g.marks = playback->run_marks;
    g.touched = playback->touched;
    touch_written(&g);
    unite_linking(&g);
    unite_sources(&g);
    playback->touched_count = g.touched_count;
    return form_groups(&g);
}
