// SPDX-License-Identifier: MIT
// Where each hierarchy to be will stand, and the scratch that its patch wants.
#include "lib/commands/assemble.h"
#include "lib/commands/reparent.h"

// What side arrays a hierarchy needs: a bit for each of the two.
enum { NEEDS_SIDE = 1, NEEDS_KEPT = 2 };

static unsigned needs_of(const espl__sketch *sketch, uint32_t node)
{
    const espl__extra extra = espl__sketch_extra(sketch, node);
    const bool keeps = espl__sketch_is_known(sketch, node)
                           ? (espl__sketch_at(sketch, node)->flags & ESPL__NODE_KEEPS) != 0
                           : espl__slot_is(sketch->forest, node, ESPL__SLOT_KEEPS);

    return keeps ? NEEDS_SIDE | NEEDS_KEPT : !espl__extra_is_default(&extra) ? NEEDS_SIDE : 0u;
}

static unsigned find_needs(const espl__sketch *sketch, const espl__laid *laid)
{
    unsigned needs = 0;

    for (uint32_t i = laid->begin; i < laid->end && needs != (NEEDS_SIDE | NEEDS_KEPT); ++i) {
        const espl__piece *const piece = espl__sketch_piece(sketch, i);

        for (uint32_t k = 0; k < piece->count; ++k) {
            needs |= needs_of(sketch, espl__piece_node(sketch, piece, k));
        }
    }
    return needs;
}

// Room that a hierarchy gets: what it needs at first, some more once it has grown, and less again
// when it fills a small part of it.
static void choose_room(espl__plot *plot, const espl__run *old, uint32_t size, uint32_t entrants)
{
    const bool fits = old != NULL && entrants <= old->capacity - old->size;
    const bool is_loose = old != NULL && espl__run_is_loose(old, size);

    plot->is_moved = !fits || is_loose;
    plot->base = plot->is_moved ? ESPL__NO_SLOT : old->base;
    plot->capacity = !plot->is_moved ? old->capacity
                     : old != NULL   ? espl__run_room(old, size)
                                     : size;
}

// Ranks whose slots change: those of pieces that do not stay where they are.
static uint32_t count_drafted(const espl__sketch *sketch, const espl__laid *laid,
                              const espl__plot *plot)
{
    uint32_t drafted = 0;

    for (uint32_t i = laid->begin; !plot->is_moved && i < laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(sketch, i);

        drafted += espl__piece_stays(piece, laid) ? 0 : piece->count;
    }
    return plot->is_moved ? laid->size : drafted;
}

// In a small hierarchy nobody asks.
static uint64_t count_cost(const espl__playback *playback, const espl__sketch *sketch,
                           const espl__laid *laid, const espl__plot *plot)
{
    uint64_t cost = 0;

    if (laid->size < playback->wide) {
        return (uint64_t)laid->size * ESPL__RANK_COST;
    }
    for (uint32_t i = laid->begin; i < laid->end; ++i) {
        const espl__piece *const piece = espl__sketch_piece(sketch, i);

        cost += (uint64_t)espl__plot_cost(plot, laid, piece) * piece->count;
    }
    return cost;
}

static void lay_plot(espl__playback *playback, const espl__laid *laid, espl__plot *plot)
{
    const espl__forest *const forest = playback->forest;

    if (laid->load == ESPL__NO_NODE) {
        plot->old_run = plot->run = ESPL__NO_RUN;
        choose_room(plot, NULL, laid->size, 0);
        return;
    }
    const uint32_t run = playback->loads[laid->load].run;
    const espl__run *const old = &forest->runs[run];

    plot->old_run = plot->run = run;
    plot->old_base = old->base;
    plot->old_capacity = old->capacity;
    plot->old_side = old->side;
    choose_room(plot, old, laid->size, laid->entrants);
    plot->left_capacity = plot->is_moved ? 0 : old->size + laid->entrants - laid->size;
}

// Side arrays that somebody asked for ahead of time stay until the links change.
static bool make_side(const espl__playback *playback, const espl__sketch *sketch,
                      const espl__laid *laid, espl__plot *plot)
{
    const espl__side *const old = plot->old_side;
    const bool is_prepaid = !laid->is_restructured && old != NULL && old->is_prepaid != 0;
    unsigned needs = find_needs(sketch, laid);

    ESPL_CHECK(!is_prepaid || old->kept != NULL);
    needs |= is_prepaid ? NEEDS_SIDE | NEEDS_KEPT : 0u;
    if (needs == 0) {
        return true;
    }
    plot->side = espl__side_make(playback->heap, plot->capacity, (needs & NEEDS_KEPT) != 0);
    if (plot->side != NULL) {
        plot->side->is_prepaid = is_prepaid;
    }
    return plot->side != NULL;
}

// What all plots want together.
typedef struct wants {
    size_t slots, runs, scratch;
} wants;

static bool lay_group_plots(espl__playback *playback, uint32_t number, wants *all)
{
    espl__group *const group = &playback->groups[number];
    const espl__sketch *const sketch = &group->work->sketch;

    group->work->plot_begin = (uint32_t)playback->plot_count;
    for (uint32_t i = 0; i < sketch->laid.count; ++i) {
        const espl__laid *const laid = espl__sketch_laid(sketch, i);

        if (!laid->is_restructured && !group->work->has_side) {
            continue;
        }
        espl__plot *const plot = &playback->plots[playback->plot_count++];

        *plot = (espl__plot){.group = number, .laid = i};
        lay_plot(playback, laid, plot);
        plot->drafted = count_drafted(sketch, laid, plot);
        playback->rebuilt_nodes += laid->size;
        playback->moved_nodes += plot->is_moved ? laid->size : laid->entrants;
        all->slots += plot->is_moved ? plot->capacity : 0;
        all->runs += plot->old_run == ESPL__NO_RUN ? 1 : 0;
        all->scratch += espl__plot_words(plot);
        if (group->work->has_side && !make_side(playback, sketch, laid, plot)) {
            return false;
        }
        plot->cost = count_cost(playback, sketch, laid, plot);
    }
    group->work->plot_end = (uint32_t)playback->plot_count;
    if (espl__group_drafts_on_stack(playback, group)) {
        all->scratch -= espl__plot_words(&playback->plots[group->work->plot_begin]);
    }
    return true;
}

// Plots of which there are many are divided between workers as they are.
static void choose_wide(espl__playback *playback)
{
    enum { PARTS = 64 };
    const uint64_t least = (uint64_t)playback->wide * ESPL__RANK_COST;
    uint64_t all = 0;

    for (size_t i = 0; i < playback->plot_count; ++i) {
        all += playback->plots[i].cost;
    }
    for (size_t i = 0; i < playback->plot_count; ++i) {
        espl__plot *const plot = &playback->plots[i];

        plot->is_wide = plot->cost >= least && plot->cost * PARTS >= all;
    }
}

// What goes the short way needs room only where it comes by itself, or goes to another range.
static void add_place(espl__playback *playback, const espl__group *group, wants *all)
{
    if (group->is_resettled) {
        all->slots += espl__run_room(&playback->forest->runs[group->run], group->size);
        playback->resettled_count += 1;
    } else {
        all->slots += group->size;
        all->runs += 1;
        playback->birth_count += 1;
    }
}

// Groups that go the short way, and the nodes that all of them visit.
static void add_groups(espl__playback *playback, wants *all)
{
    size_t visited = 0, rebuilt = 0, moved = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];
        const bool assembles = espl__group_assembles(group);

        visited += group->visited;
        if (group->is_short) {
            rebuilt += group->size;
            moved += group->is_resettled || assembles ? group->size : group->clones;
            if (group->is_resettled || assembles || group->does == ESPL__SHORT_BIRTH) {
                add_place(playback, group, all);
            }
        }
    }
    playback->visited_nodes = visited;
    playback->rebuilt_nodes = rebuilt;
    playback->moved_nodes = moved;
}

void espl__plot_use(espl__plot *plot, uint32_t *words)
{
    plot->slots = words;
    plot->sources = plot->slots + plot->drafted;
    plot->parents = plot->sources + plot->drafted;
    plot->firsts = plot->parents + plot->drafted;
    plot->left = plot->firsts + plot->drafted;
}

static bool give_scratch(espl__playback *playback, size_t size)
{
    uint32_t *at = espl__arena_take(&playback->arena, size, sizeof *at);

    for (size_t i = 0; at != NULL && i < playback->plot_count; ++i) {
        espl__plot *const plot = &playback->plots[i];

        if (!espl__group_drafts_on_stack(playback, &playback->groups[plot->group])) {
            espl__plot_use(plot, at);
            at += espl__plot_words(plot);
        }
    }
    return at != NULL;
}

espl_status espl__lay_plots(espl__playback *playback)
{
    size_t count = 0;
    wants all = {0};

    for (size_t i = 0; i < playback->long_count; ++i) {
        count += playback->works[i].sketch.laid.count;
    }
    playback->plots = espl__arena_take(&playback->arena, count, sizeof *playback->plots);
    playback->plot_count = playback->birth_count = playback->resettled_count = 0;
    if (playback->plots == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    add_groups(playback, &all);
    for (size_t i = 0; i < playback->long_count; ++i) {
        if (!lay_group_plots(playback, playback->long_groups[i], &all)) {
            return ESPL_ERR_NO_MEMORY;
        }
    }
    all.slots += espl__reparent_count(playback);
    choose_wide(playback);
    playback->resettled =
        espl__arena_take(&playback->arena, playback->resettled_count, sizeof *playback->resettled);
    return playback->resettled != NULL && give_scratch(playback, all.scratch)
               ? espl__forest_reserve(playback->forest, all.slots, all.runs)
               : ESPL_ERR_NO_MEMORY;
}
