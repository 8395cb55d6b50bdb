// SPDX-License-Identifier: MIT
// The patch of groups that only write: each is one pass over its hierarchy, which touches its run
// and its own writes alone. The plan has seen to it that none is refused for what others do.
#include "lib/commands/written.h"

#include "lib/base/ahead.h"

// Writes that one job takes at least.
#ifdef ESPL_SHRUNKEN
enum { GRAIN = 8 };
#else
enum { GRAIN = 64 };
#endif

// Values were checked and normalised when they were recorded.
static espl_status fetch(const void *context, uint32_t number, espl_write_kind *kind,
                         espl_write_value *value)
{
    const espl__written *const written = (const espl__written *)context + number;

    *kind = (espl_write_kind)written->kind;
    espl__write_load(value, *kind, written->value);
    return ESPL_OK;
}

static espl__run_writes writes_of(const espl__playback *playback, const espl__group *group,
                                  const espl__write_source *source, const espl__team *team)
{
    const espl__writing *const w = &playback->writing;
    const uint32_t begin = group->write_begin, count = espl__group_size(group);
    const bool has_side = playback->forest->runs[group->run].side != NULL;

    return (espl__run_writes){.source = source,
                              .numbers = w->numbers + begin,
                              .ranks = w->ranks + begin,
                              .count = count,
                              .run = group->run,
                              .team = *team,
                              .spans = w->rooms[begin].spans,
                              .span_count = 2 * count,
                              .old_locals = w->old_locals + begin,
                              .old_sides = has_side ? w->old_sides + begin : NULL};
}

static void patch_group(const espl__playback *playback, espl__group *group, const espl__team *team)
{
    const espl__writing *const w = &playback->writing;
    const espl__write_source source = {
        .fetch = fetch, .context = w->written, .results = w->results};
    espl__run_writes writes = writes_of(playback, group, &source, team);

    espl__run_write(playback->forest, &writes);
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        espl__group_entry(playback, group, i)->status = w->results[group->write_begin + i];
    }
    group->visited = (uint32_t)writes.visited;
    group->is_patched = true;
}

// What is read of a group that is soon at hand: its answers, its values, and its nodes in order.
static void ask_for_group(const espl__playback *playback, size_t number)
{
    enum { WRITES = 16, NODES = 16 };
    const espl__writing *const w = &playback->writing;
    const espl__forest *const forest = playback->forest;

    if (number >= w->group_count) {
        return;
    }
    const espl__group *const group = &playback->groups[w->groups[number]];
    const espl__run *const run = &forest->runs[group->run];
    const uint32_t count = espl__group_size(group);

    for (uint32_t i = 0; i < count && i < WRITES; ++i) {
        espl__ask(w->written[group->write_begin + i].value);
        espl__ask_to_write(&playback->entries[w->written[group->write_begin + i].entry].status);
    }
    for (uint32_t i = 0; i < run->size && i < NODES; ++i) {
        espl__ask_to_write(&forest->local[run->base + i]);
        espl__ask_to_write(&forest->world[run->base + i]);
    }
}

// Groups whose writes begin at [begin, end).
static void patch_groups(void *context, size_t begin, size_t end)
{
    enum { AHEAD = 2 };
    const espl__team alone = {0};
    espl__playback *const playback = context;
    const espl__writing *const w = &playback->writing;
    const size_t last = espl__written_group_from(playback, end);

    for (size_t i = espl__written_group_from(playback, begin); i < last; ++i) {
        espl__group *const group = &playback->groups[w->groups[i]];

        ask_for_group(playback, i + AHEAD);
        if (group->is_short && !group->is_patched) {
            patch_group(playback, group, &alone);
        }
    }
}

// Runs so large that all workers write one of them together; before the others.
static void patch_wide(espl__playback *playback)
{
    const espl__writing *const w = &playback->writing;
    const espl__forest *const forest = playback->forest;

    for (size_t i = 0; i < w->group_count; ++i) {
        espl__group *const group = &playback->groups[w->groups[i]];

        if (group->is_short && espl__run_is_wide(forest, &forest->runs[group->run])) {
            patch_group(playback, group, &forest->crew.team);
        }
    }
}

// Behind all of them, on one thread: what they give back, and what they come to together.
static void finish(espl__playback *playback)
{
    const espl__writing *const w = &playback->writing;

    for (size_t i = 0; i < w->group_count; ++i) {
        const espl__group *const group = &playback->groups[w->groups[i]];

        if (!group->is_short) {
            continue;
        }
        playback->visited_nodes += group->visited;
        if (group->may_drop_side) {
            espl__run_drop_side(playback->forest, group->run);
        }
    }
}

void espl__written_patch(espl__playback *playback)
{
    const size_t count = playback->writing.count;

    patch_wide(playback);
    if (espl__run_ranges(playback->executor, playback->hooks, patch_groups, playback, count,
                         GRAIN) != ESPL_OK) {
        // The executor lost a job; the change is under way and is completed here.
        patch_groups(playback, 0, count);
    }
    finish(playback);
}
