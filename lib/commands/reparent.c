// SPDX-License-Identifier: MIT
// The plan of the short way of moves: what becomes of each run.
#include "lib/commands/reparent.h"
#include "lib/commands/short_ahead.h"

// Runs that one job plans at least.
enum { GRAIN = 32 };

// --- Which groups ---

static bool is_plain_move(const espl__entry *entry)
{
    const espl__command *const command = entry->command;

    return command->kind == ESPL__COMMAND_ATTACH && command->inherit == 0 &&
           command->stay_position == ESPL_STAY_LOCAL && command->stay_rotation == ESPL_STAY_LOCAL &&
           command->stay_scale == ESPL_STAY_LOCAL && espl_entity_is_null(command->before) &&
           espl__operand_is_living(&entry->target) && espl__operand_is_living(&entry->parent);
}

bool espl__reparent_suits(const espl__playback *playback, const espl__group *group)
{
    bool suits = true;

    for (uint32_t i = 0; i < espl__group_size(group) && suits; ++i) {
        suits = is_plain_move(espl__group_entry(playback, group, i));
    }
    return suits;
}

// Ghosts would have to be spliced out, and what side arrays hold to be carried along.
static bool are_plain_runs(const espl__playback *playback, const espl__group *group)
{
    bool are_plain = true;

    for (uint32_t i = group->run_begin; i < group->run_end && are_plain; ++i) {
        const uint32_t number = playback->touched[playback->grouped_runs[i]].run;
        const espl__run *const run = &playback->forest->runs[number];

        are_plain = run->ghosts == 0 && run->side == NULL;
    }
    return are_plain;
}

// --- Edits, run by run ---

static espl__refit *refit_of(const espl__moving *m, uint32_t slot)
{
    return &m->all->refits[m->playback->run_marks[m->forest->run[slot]] - 1];
}

static void count_edits(const espl__moving *m)
{
    for (uint32_t i = m->begin; i < m->end; ++i) {
        const espl__mover *const mover = &m->all->movers[i];

        if (mover->is_void) {
            continue;
        }
        espl__refit *const from = refit_of(m, mover->slot);

        from->edit_count += 1;
        from->step_count += 1;
        if (mover->above == ESPL__NO_NODE) {
            espl__refit *const to = refit_of(m, mover->parent);

            to->edit_count += 1;
            to->step_count += mover->recipe->levels;
        }
    }
}

// Runs of the group that have edits are listed, and get room for them and for their steps.
static void give_room(const espl__moving *m, const espl__group *group)
{
    espl__reparenting *const all = m->all;
    uint32_t edits = 2 * m->begin, steps = 2 * m->begin;

    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        espl__refit *const refit = &all->refits[m->playback->grouped_runs[i]];

        refit->edit_begin = edits;
        refit->step_begin = steps;
        edits += refit->edit_count;
        steps += refit->step_count;
        if (refit->edit_count != 0) {
            all->listed[all->listed_count++] = m->playback->grouped_runs[i];
        }
        refit->edit_count = 0;
    }
}

static void add_edit(const espl__moving *m, uint32_t slot, uint32_t edit)
{
    espl__refit *const refit = refit_of(m, slot);

    m->all->edits[refit->edit_begin + refit->edit_count++] = edit;
}

// What comes below one node comes in the order of the movers.
static void list_edits(const espl__moving *m)
{
    for (uint32_t i = m->begin; i < m->end; ++i) {
        const espl__mover *const mover = &m->all->movers[i];

        if (mover->is_void) {
            continue;
        }
        add_edit(m, mover->slot, 2 * i);
        if (mover->above == ESPL__NO_NODE) {
            add_edit(m, mover->parent, 2 * i + 1);
        }
    }
}

static bool plan_group(espl__moving *m, espl__group *group)
{
    if (!are_plain_runs(m->playback, group)) {
        return false;
    }
    const bool is_fine = espl__movers_list(m, group);

    if (is_fine) {
        group->visited = espl__movers_draw_up(m);
        count_edits(m);
        give_room(m, group);
        list_edits(m);
    }
    return is_fine;
}

// --- Each run ---

static bool build(const espl__playback *playback, const espl__refit *refit, espl__splice *splice)
{
    const espl__reparenting *const all = playback->reparenting;
    const uint32_t *const edits = all->edits + refit->edit_begin;
    const uint32_t *const rank = playback->forest->rank;
    bool is_done = true;

    for (uint32_t i = 0; i < refit->edit_count && is_done; ++i) {
        const espl__mover *const mover = &all->movers[edits[i] / 2];

        is_done = edits[i] % 2 == 0
                      ? espl__splice_take(splice, rank[mover->slot])
                      : espl__splice_paste(splice, rank[mover->parent], mover->recipe);
    }
    return is_done && espl__splice_sort(splice);
}

// A run that is left with its root alone changes that one's role.
static bool choose_room(const espl__run *run, const espl__splice *splice, espl__refit *refit)
{
    const uint32_t size = run->size + splice->made - splice->gone;
    const bool has_room = splice->made <= run->capacity - run->size;

    refit->made = splice->made;
    refit->gone = splice->gone;
    refit->capacity = 0;
    if (!has_room || espl__run_is_loose(run, size)) {
        const uint32_t least = run->size + splice->made, room = espl__run_room(run, size);

        // Those who come stand beside all who were there until those who go have left.
        refit->capacity = room < least ? least : room;
    }
    return run->size > 1 && size > 1;
}

static void plan_run(const espl__playback *playback, uint32_t touched)
{
    espl__refit *const refit = &playback->reparenting->refits[touched];
    const uint32_t run = playback->touched[touched].run;
    espl__splice splice;

    espl__splice_begin(&splice, playback->forest, run);
    refit->fits = refit->edit_count <= ESPL__SPLICE_EDITS && build(playback, refit, &splice) &&
                  choose_room(&playback->forest->runs[run], &splice, refit);
    if (refit->fits) {
        refit->step_count = splice.event_count;
        espl__splice_resolve(&splice, playback->reparenting->steps + refit->step_begin);
    }
}

static void ask_for_run(const espl__playback *playback, uint32_t touched)
{
    const espl__run *const run = &playback->forest->runs[playback->touched[touched].run];

    espl__ahead_links(playback->forest->first, run->base, run->base + run->size);
}

static void plan_runs(void *context, size_t begin, size_t end)
{
    enum { AHEAD = 4 };
    const espl__playback *const playback = context;
    const uint32_t *const listed = playback->reparenting->listed;

    for (size_t i = begin; i < end; ++i) {
        if (i + AHEAD < end) {
            ask_for_run(playback, listed[i + AHEAD]);
        }
        plan_run(playback, listed[i]);
    }
}

// --- All groups ---

static size_t count_commands(const espl__playback *playback)
{
    size_t count = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];

        count += group->does == ESPL__SHORT_MOVES ? espl__group_size(group) : 0;
    }
    return count;
}

static bool make_lists(espl__playback *playback, size_t count)
{
    espl__arena *const arena = &playback->arena;
    const size_t touched = playback->touched_count;

    // Past what memory holds.
    if (count > UINT32_MAX / 2) { // GCOVR_EXCL_BR_LINE
        return false;
    }
    espl__reparenting *const all = espl__arena_take_zeroed(arena, 1, sizeof *all);

    if (all == NULL) {
        return false;
    }
    all->movers = espl__arena_take(arena, count, sizeof *all->movers);
    all->members = espl__arena_take(arena, count, sizeof *all->members);
    all->recipes = espl__arena_take(arena, count, sizeof *all->recipes);
    all->recipe_words =
        espl__arena_take(arena, ESPL__RECIPE_WORDS * count, sizeof *all->recipe_words);
    all->edits = espl__arena_take(arena, 2 * count, sizeof *all->edits);
    all->steps = espl__arena_take(arena, 2 * count, sizeof *all->steps);
    all->refits = espl__arena_take_zeroed(arena, touched, sizeof *all->refits);
    all->listed = espl__arena_take(arena, touched, sizeof *all->listed);
    playback->reparenting = all;
    return all->movers != NULL && all->members != NULL && all->recipes != NULL &&
           all->recipe_words != NULL && all->edits != NULL && all->steps != NULL &&
           all->refits != NULL && all->listed != NULL;
}

static void plan_groups(espl__playback *playback)
{
    uint32_t at = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->does != ESPL__SHORT_MOVES) {
            continue;
        }
        espl__moving m = {
            playback, playback->forest, playback->slot_marks, playback->reparenting, at, at};

        group->is_short = plan_group(&m, group);
        at += espl__group_size(group);
    }
}

static bool do_runs_fit(const espl__playback *playback, const espl__group *group)
{
    const espl__refit *const refits = playback->reparenting->refits;
    bool do_fit = true;

    for (uint32_t i = group->run_begin; i < group->run_end && do_fit; ++i) {
        const espl__refit *const refit = &refits[playback->grouped_runs[i]];

        do_fit = refit->edit_count == 0 || refit->fits;
    }
    return do_fit;
}

static void accept(espl__playback *playback, espl__group *group)
{
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        espl__entry *const entry = espl__group_entry(playback, group, i);

        entry->is_short = true;
        entry->status = ESPL_OK;
        entry->clone_count = 0;
    }
    for (uint32_t i = group->run_begin; i < group->run_end; ++i) {
        playback->loads[playback->grouped_runs[i]].goes_on = true;
    }
}

// Of a group that goes the long way after all no run is to be patched here.
static void accept_groups(espl__playback *playback)
{
    espl__reparenting *const all = playback->reparenting;
    uint32_t kept = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        if (group->does == ESPL__SHORT_MOVES && group->is_short) {
            group->is_short = do_runs_fit(playback, group);
            if (group->is_short) {
                accept(playback, group);
            }
        }
    }
    for (uint32_t i = 0; i < all->listed_count; ++i) {
        const uint32_t group = playback->touched[all->listed[i]].group;

        if (playback->groups[group].is_short) {
            all->listed[kept++] = all->listed[i];
        }
    }
    all->listed_count = kept;
}

espl_status espl__reparent_plan(espl__playback *playback)
{
    const size_t count = count_commands(playback);

    playback->reparenting = NULL;
    if (count == 0) {
        return ESPL_OK;
    }
    if (!make_lists(playback, count)) {
        return ESPL_ERR_NO_MEMORY;
    }
    plan_groups(playback);
    const espl_status status =
        espl__run_ranges(playback->executor, playback->hooks, plan_runs, playback,
                         playback->reparenting->listed_count, GRAIN);

    if (status == ESPL_OK) {
        accept_groups(playback);
    }
    return status;
}

size_t espl__reparent_count(espl__playback *playback)
{
    const espl__reparenting *const all = playback->reparenting;
    size_t slots = 0;

    for (uint32_t i = 0; all != NULL && i < all->listed_count; ++i) {
        const espl__refit *const refit = &all->refits[all->listed[i]];
        const espl__run *const run = &playback->forest->runs[playback->touched[all->listed[i]].run];
        const uint32_t size = run->size + refit->made - refit->gone;

        slots += refit->capacity;
        playback->rebuilt_nodes += size;
        playback->moved_nodes += refit->capacity != 0 ? size : refit->made;
    }
    return slots;
}
