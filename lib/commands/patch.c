// SPDX-License-Identifier: MIT
// Stage 6: the forest follows the plans. Ranges are handed out one after the other, groups are
// patched in parallel, and what is no longer used goes back at the end: so every slot that a patch
// reads still holds what it held before, and every slot that it moves a node to is free. A plot that
// is much of the whole is cut between workers itself: groups that have one come first, one by one.
#include "lib/commands/assemble.h"
#include "lib/commands/patch.h"
#include "lib/commands/reparent.h"
#include "lib/commands/written.h"

enum { GRAIN = 16 };

// --- Before the parallel part ---

static void hand_out_range(espl__forest *forest, espl__plot *plot)
{
    if (plot->old_run == ESPL__NO_RUN) {
        plot->run = espl__run_take(forest);
    }
    if (plot->is_moved) {
        plot->base = espl__range_take(forest, plot->capacity);
    }
}

static void hand_out_plots(espl__playback *playback, const espl__work *work)
{
    for (uint32_t i = work->plot_begin; i < work->plot_end; ++i) {
        hand_out_range(playback->forest, &playback->plots[i]);
    }
}

// Tell whether a group that goes the short way founds a hierarchy.
static bool is_new(const espl__group *group)
{
    return group->does == ESPL__SHORT_BIRTH || group->does == ESPL__SHORT_ASSEMBLY;
}

// In order of groups, whichever way each of them goes.
static void hand_out_ranges(espl__playback *playback)
{
    const size_t ranges = playback->birth_count + playback->resettled_count + playback->plot_count;
    espl__resettled *resettled = playback->resettled;

    for (size_t i = 0; ranges != 0 && i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        if (!group->is_short) {
            hand_out_plots(playback, group->work);
        } else if (group->is_resettled) {
            espl__short_resettle(playback, (uint32_t)i, resettled++);
        } else if (is_new(group)) {
            espl__short_hand_out(playback, group);
        }
    }
}

// --- One group ---

static espl__patch patch_of(espl__playback *playback, const espl__group *group, espl__plot *plot)
{
    return (espl__patch){playback, playback->forest, &group->work->sketch, plot,
                         espl__sketch_laid(&group->work->sketch, plot->laid)};
}

// The dead leave the slots that they were in; before the draft.
static void bury_dead(espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->work->sketch;
    const espl__node *const known = sketch->known.items;

    for (uint32_t i = 1; i < sketch->known.count; ++i) {
        const uint32_t number = playback->loads[known[i].load].plot;
        espl__plot *const plot = number == ESPL__NO_NODE ? NULL : &playback->plots[number];

        if (espl__node_is_dead(&known[i]) && plot != NULL && !plot->is_moved) {
            ESPL_CHECK(plot->left_count < plot->left_capacity);
            plot->left[plot->left_count++] = known[i].slot;
        }
    }
}

static void draft(const espl__patch *p)
{
    const espl__found all = espl__patch_run(p, espl__patch_draft);

    espl__patch_end_draft(p, &all);
}

static void link_up(const espl__patch *p)
{
    const espl__found all = espl__patch_run(p, espl__patch_link);

    espl__patch_end_links(p, &all);
}

static void patch_plots(espl__playback *playback, const espl__group *group,
                        void (*step)(const espl__patch *p))
{
    for (uint32_t i = group->work->plot_begin; i < group->work->plot_end; ++i) {
        const espl__patch p = patch_of(playback, group, &playback->plots[i]);

        step(&p);
    }
}

// Links as they were: values change where they stand.
static void write_in_place(espl__playback *playback, const espl__group *group)
{
    const espl__sketch *const sketch = &group->work->sketch;
    const espl__patch p = {playback, playback->forest, sketch, NULL, NULL};

    for (uint32_t i = 0; i < sketch->laid.count; ++i) {
        const espl__laid *const laid = espl__sketch_laid(sketch, i);

        for (uint32_t k = laid->begin; !laid->is_restructured && k < laid->end; ++k) {
            espl__patch_update(&p, espl__sketch_piece(sketch, k));
        }
    }
}

static void patch_group(espl__playback *playback, espl__group *group)
{
    uint32_t words[ESPL__DRAFT_WORDS];

    if (espl__group_drafts_on_stack(playback, group)) {
        espl__plot_use(&playback->plots[group->work->plot_begin], words);
    }
    bury_dead(playback, group);
    patch_plots(playback, group, espl__patch_leave);
    patch_plots(playback, group, draft);
    patch_plots(playback, group, link_up);
    if (!group->work->has_side) {
        write_in_place(playback, group);
    }
}

static void patch_one(void *context, size_t number)
{
    espl__playback *const playback = context;
    espl__group *const group = &playback->groups[playback->long_groups[number]];

    if (!group->is_patched) {
        patch_group(playback, group);
        group->is_patched = true;
    }
}

// A run that is laid out anew, or goes, loses its ghosts.
static void retire_run(espl__forest *forest, uint32_t run)
{
    const uint32_t ghosts = forest->runs[run].ghosts;

    forest->ghosts -= ghosts;
    forest->purges += ghosts != 0 ? 1 : 0;
    espl__run_unmark_unsettled(forest, run);
}

static void retire_runs(espl__playback *playback)
{
    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->loads[i].plot = ESPL__NO_NODE;
        if (!playback->loads[i].goes_on) {
            retire_run(playback->forest, playback->loads[i].run);
        }
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        if (plot->old_run != ESPL__NO_RUN) {
            playback->loads[playback->run_marks[plot->old_run] - 1].plot = (uint32_t)i;
            retire_run(playback->forest, plot->old_run);
        }
    }
}

// --- After the parallel part ---

static void release_resettled(espl__forest *forest, const espl__resettled *resettled)
{
    espl__range_give(forest, resettled->old_base, resettled->old_capacity);
}

// In order of groups, whichever way each of them went.
static void release_unused(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;
    const espl__resettled *resettled = playback->resettled;
    const espl__resettled *const end = resettled + playback->resettled_count;

    for (size_t i = 0; i < playback->touched_count; ++i) {
        if (!playback->loads[i].goes_on) {
            espl__run_release(forest, playback->loads[i].run);
        }
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        const espl__plot *const plot = &playback->plots[i];

        if (plot->old_run == ESPL__NO_RUN) {
            continue;
        }
        for (; resettled < end && resettled->group < plot->group; ++resettled) {
            release_resettled(forest, resettled);
        }
        espl__side_free(playback->heap, plot->old_side);
        if (plot->is_moved) {
            espl__range_give(forest, plot->old_base, plot->old_capacity);
        }
    }
    for (; resettled < end; ++resettled) {
        release_resettled(forest, resettled);
    }
}

// Where the executor loses a job, the change is under way and is completed here.
static void patch_short(espl__playback *playback)
{
    const size_t count = playback->group_count;

    if (playback->long_count + playback->writing.short_count != count &&
        espl__run_ranges(playback->executor, playback->hooks, espl__short_patch, playback, count,
                         ESPL__SHORT_GRAIN) != ESPL_OK) {
        espl__short_patch(playback, 0, count);
    }
}

static void place_short(espl__playback *playback)
{
    const size_t count = playback->make_count != 0 ? playback->entry_count : 0;

    if (espl__run_ranges(playback->executor, playback->hooks, espl__short_place, playback, count,
                         ESPL__PLACE_GRAIN) != ESPL_OK) {
        espl__short_place(playback, 0, count);
    }
}

static bool is_wide(const espl__playback *playback, const espl__group *group)
{
    bool is_any_wide = false;

    for (uint32_t i = group->work->plot_begin; i < group->work->plot_end; ++i) {
        is_any_wide = is_any_wide || playback->plots[i].is_wide;
    }
    return is_any_wide;
}

// What is done weighs nothing against the rest.
static void patch_wide(espl__playback *playback)
{
    for (size_t i = 0; i < playback->long_count; ++i) {
        if (is_wide(playback, &playback->groups[playback->long_groups[i]])) {
            patch_one(playback, i);
            playback->group_weights[i] = 0;
        }
    }
}

static void patch_long(espl__playback *playback)
{
    const espl_status status = espl__run_weighted(
        playback->executor, playback->hooks, patch_one, playback, playback->group_weights,
        playback->weight_order, playback->long_count, GRAIN);

    for (size_t i = 0; status != ESPL_OK && i < playback->long_count; ++i) {
        patch_one(playback, i);
    }
}

void espl__stage_patch(espl__playback *playback)
{
    espl__forest *const forest = playback->forest;

    // First, since these give their old ranges back at once: the neighbour of one of them could be
    // a range that was handed out, but looks free until it is claimed.
    espl__reparent_hand_out(playback);
    hand_out_ranges(playback);
    retire_runs(playback);
    patch_wide(playback);
    patch_short(playback);
    place_short(playback);
    espl__reparent_patch(playback);
    espl__assemble_patch(playback);
    patch_long(playback);
    espl__written_patch(playback);
    forest->crew.tally.nodes_visited += playback->visited_nodes;
    forest->nodes_rebuilt += playback->rebuilt_nodes;
    release_unused(playback);
}
