// SPDX-License-Identifier: MIT
#include "lib/commands/reparent.h"
#include "lib/commands/short_ahead.h"

#include <string.h>

// Runs that one job plans at least.
enum { GRAIN = 32 };

// Words of a recipe for each of its members, at most.
enum { RECIPE_WORDS = 4 };

// Marks by slot. Movers are marked by number + 1; nodes that stay, by how many have come below them
// and how many children have left.
#define STAYS (UINT32_C(1) << 31)
enum { COME_MASK = 0xffff, LEFT_SHIFT = 16, LEFT_MASK = 0x7fff };

// What has nobody below it is pasted by this.
static const uint32_t leaf_words[] = {ESPL__NO_SLOT, 1, 0, 1};
static const espl__recipe leaf_recipe = {.size = 1,
                                         .levels = 1,
                                         .parents = leaf_words,
                                         .firsts = leaf_words + 1,
                                         .starts = leaf_words + 2};

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

// --- The commands, one by one ---

typedef struct moving {
    espl__playback *playback;
    const espl__forest *forest;
    uint32_t *marks; // by slot
    espl__reparenting *all;
    uint32_t begin, end; // movers of the group
} moving;

static bool is_mover(uint32_t mark)
{
    return mark != 0 && mark < STAYS;
}

// One that did not move yet: it has a transform, a parent and nobody below it by now.
static bool is_leaf(const moving *m, uint32_t slot)
{
    const espl__forest *const forest = m->forest;
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot], mark = m->marks[slot];
    const uint32_t left = mark >> LEFT_SHIFT & LEFT_MASK, come = mark & COME_MASK;
    const uint32_t children =
        espl__first_child(forest, run, rank + 1) - espl__first_child(forest, run, rank);

    return rank != 0 && !espl__slot_is(forest, slot, ESPL__SLOT_PASS) && come == 0 &&
           children == left;
}

// A child of a node that stays leaves it. false: too many did.
static bool count_left(const moving *m, uint32_t slot)
{
    uint32_t *const mark = &m->marks[slot];

    *mark = (*mark | STAYS) + (UINT32_C(1) << LEFT_SHIFT);
    return (*mark >> LEFT_SHIFT & LEFT_MASK) != 0;
}

// Somebody comes below a node that stays. false: too many did.
static bool count_come(const moving *m, uint32_t slot)
{
    uint32_t *const mark = &m->marks[slot];

    *mark |= STAYS;
    if ((*mark & COME_MASK) == COME_MASK) {
        return false;
    }
    *mark += 1;
    return true;
}

// The leaf itself, under its parent and in its run.
static espl__mover mover_of(const espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = espl__parent_slot(forest, slot);

    return (espl__mover){.local = forest->local[slot],
                         .slot = slot,
                         .entity = forest->entity[slot],
                         .home = parent,
                         .parent = parent,
                         .above = ESPL__NO_NODE,
                         .flags = forest->flags[slot]};
}

// An earlier command moved it to where it leaves from now.
static void annul(const moving *m, espl__mover *mover)
{
    mover->is_void = true;
    if (mover->above != ESPL__NO_NODE) {
        m->all->movers[mover->above].children -= 1;
    } else {
        m->marks[mover->parent] -= 1;
    }
}

// false: the group has to go the long way.
static bool add_mover(moving *m, const espl__entry *entry, const espl__mover *was)
{
    espl__mover *const movers = m->all->movers;
    const uint32_t parent = entry->parent.number, mark = m->marks[parent];
    const bool stays = !is_mover(mark);
    espl__mover *const mover = &movers[m->end];

    *mover = *was;
    mover->parent = parent;
    mover->above = stays ? ESPL__NO_NODE : mark - 1;
    mover->flags = entry->command->link == ESPL_LINK_FREE ? ESPL__SLOT_FREE_LINK : 0;
    mover->is_void = false;
    mover->children = 0;
    mover->first = mover->last = mover->next = ESPL__NO_NODE;
    espl__pose_compose_to(&mover->world,
                          stays ? &m->forest->world[parent] : &movers[mark - 1].world, NULL,
                          &mover->local);
    if (!stays) {
        movers[mark - 1].children += 1;
    }
    m->marks[mover->slot] = ++m->end;
    return (!stays || count_come(m, parent)) && espl__pose_is_finite(&mover->world);
}

// Where nobody is below the one who moves there is no cycle but the one with itself.
static bool carry_out(moving *m, const espl__entry *entry)
{
    const uint32_t slot = entry->target.number, mark = m->marks[slot];
    espl__mover *const moved = is_mover(mark) ? &m->all->movers[mark - 1] : NULL;

    if (slot == entry->parent.number ||
        (moved != NULL ? moved->children != 0 : !is_leaf(m, slot))) {
        return false;
    }
    const espl__mover was = moved != NULL ? *moved : mover_of(m->forest, slot);

    if (was.parent == entry->parent.number) {
        const bool is_free = (was.flags & ESPL__SLOT_FREE_LINK) != 0;

        return is_free == (entry->command->link == ESPL_LINK_FREE);
    }
    if (moved != NULL) {
        annul(m, moved);
    } else if (!is_mover(m->marks[was.home]) && !count_left(m, was.home)) {
        return false;
    }
    return add_mover(m, entry, &was);
}

// --- What is read of commands to come ---

static void ask_for_slots(const moving *m, const espl__entry *entry)
{
    const uint32_t slot = entry->target.number, parent = entry->parent.number;

    __builtin_prefetch(&m->forest->rank[slot]);
    __builtin_prefetch(&m->forest->local[slot]);
    __builtin_prefetch(&m->forest->entity[slot]);
    __builtin_prefetch(&m->forest->flags[slot]);
    __builtin_prefetch(&m->marks[slot], 1);
    __builtin_prefetch(&m->forest->world[parent]);
    __builtin_prefetch(&m->marks[parent], 1);
}

static void ask_for_links(const moving *m, const espl__entry *entry)
{
    const uint32_t slot = entry->target.number;
    const uint32_t at = espl__run_of(m->forest, slot)->base + m->forest->rank[slot];

    __builtin_prefetch(&m->forest->first[at]);
    __builtin_prefetch(&m->forest->parent[at]);
}

static bool carry_out_all(moving *m, const espl__group *group)
{
    enum { SLOTS = 16, LINKS = 6 };
    const uint32_t count = espl__group_size(group);
    bool is_fine = true;

    for (uint32_t i = 0; i < count + SLOTS && is_fine; ++i) {
        if (i < count) {
            ask_for_slots(m, espl__group_entry(m->playback, group, i));
        }
        if (i - (SLOTS - LINKS) < count) {
            ask_for_links(m, espl__group_entry(m->playback, group, i - (SLOTS - LINKS)));
        }
        if (i - SLOTS < count) {
            is_fine = carry_out(m, espl__group_entry(m->playback, group, i - SLOTS));
        }
    }
    return is_fine;
}

static void take_marks_back(const moving *m, const espl__group *group)
{
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(m->playback, group, i);

        m->marks[entry->target.number] = m->marks[entry->parent.number] = 0;
    }
    for (uint32_t i = m->begin; i < m->end; ++i) {
        m->marks[m->all->movers[i].home] = 0;
    }
}

// --- Movers below movers ---

static void link_movers(const moving *m)
{
    espl__mover *const movers = m->all->movers;

    for (uint32_t i = m->begin; i < m->end; ++i) {
        if (movers[i].is_void || movers[i].above == ESPL__NO_NODE) {
            continue;
        }
        espl__mover *const above = &movers[movers[i].above];

        if (above->first == ESPL__NO_NODE) {
            above->first = i;
        } else {
            movers[above->last].next = i;
        }
        above->last = i;
    }
}

// List a mover and all below it breadth-first, the list being its own queue. @return their number.
static uint32_t list_members(const moving *m, uint32_t top, uint32_t *members, uint32_t *words,
                             espl__recipe *recipe)
{
    const espl__mover *const movers = m->all->movers;
    uint32_t *const starts = words;
    uint32_t size = 1, levels = 0;

    members[0] = top;
    for (uint32_t begin = 0, end = 1; begin < end; begin = end, end = size) {
        starts[levels++] = begin;
        for (uint32_t i = begin; i < end; ++i) {
            for (uint32_t k = movers[members[i]].first; k != ESPL__NO_NODE; k = movers[k].next) {
                members[size++] = k;
            }
        }
    }
    starts[levels] = size;
    *recipe = (espl__recipe){.size = size, .levels = levels, .starts = starts};
    return size;
}

// Where the parent of each member stands among them, and where its first child would.
static void tell_links(const moving *m, const uint32_t *members, uint32_t *words,
                       espl__recipe *recipe)
{
    uint32_t *const parents = words + recipe->levels + 1;
    uint32_t *const firsts = parents + recipe->size;
    uint32_t at = 1;

    parents[0] = ESPL__NO_SLOT;
    for (uint32_t i = 0; i < recipe->size; ++i) {
        const uint32_t children = m->all->movers[members[i]].children;

        firsts[i] = at;
        for (uint32_t k = 0; k < children; ++k) {
            parents[at++] = i;
        }
    }
    recipe->parents = parents;
    recipe->firsts = firsts;
}

// @return movers that are not void.
static uint32_t draw_up_recipes(const moving *m)
{
    espl__mover *const movers = m->all->movers;
    uint32_t at = m->begin;

    for (uint32_t i = m->begin; i < m->end; ++i) {
        espl__mover *const mover = &movers[i];

        if (mover->is_void || mover->above != ESPL__NO_NODE) {
            continue;
        }
        uint32_t *const members = m->all->members + at;

        mover->member_begin = at;
        mover->recipe = &leaf_recipe;
        members[0] = i;
        if (mover->children == 0) {
            at += 1;
            continue;
        }
        // A level has one member at least, so that levels + 1 + 2 * size words are at most so many.
        uint32_t *const words = m->all->recipe_words + RECIPE_WORDS * (size_t)at;
        espl__recipe *const recipe = &m->all->recipes[i];

        at += list_members(m, i, members, words, recipe);
        tell_links(m, members, words, recipe);
        mover->recipe = recipe;
    }
    return at - m->begin;
}

// --- Edits, run by run ---

static espl__refit *refit_of(const moving *m, uint32_t slot)
{
    return &m->all->refits[m->playback->run_marks[m->forest->run[slot]] - 1];
}

static void count_edits(const moving *m)
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
static void give_room(const moving *m, const espl__group *group)
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

static void add_edit(const moving *m, uint32_t slot, uint32_t edit)
{
    espl__refit *const refit = refit_of(m, slot);

    m->all->edits[refit->edit_begin + refit->edit_count++] = edit;
}

// What comes below one node comes in the order of the movers.
static void list_edits(const moving *m)
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

static bool plan_group(moving *m, espl__group *group)
{
    if (!are_plain_runs(m->playback, group)) {
        return false;
    }
    const bool is_fine = carry_out_all(m, group);

    take_marks_back(m, group);
    if (is_fine) {
        link_movers(m);
        group->visited = draw_up_recipes(m);
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
    espl__reparenting *const all = espl__arena_take_zeroed(arena, 1, sizeof *all);
    const size_t touched = playback->touched_count;

    if (all == NULL || count > UINT32_MAX / 2) {
        return false;
    }
    all->movers = espl__arena_take(arena, count, sizeof *all->movers);
    all->members = espl__arena_take(arena, count, sizeof *all->members);
    all->recipes = espl__arena_take(arena, count, sizeof *all->recipes);
    all->recipe_words = espl__arena_take(arena, RECIPE_WORDS * count, sizeof *all->recipe_words);
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
        moving m = {playback, playback->forest, playback->slot_marks, playback->reparenting, at,
                    at};

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
