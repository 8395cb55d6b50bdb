// SPDX-License-Identifier: MIT
#include "lib/base/ahead.h"
#include "lib/commands/assemble.h"
#include "lib/commands/reparent.h"
#include "lib/commands/short_ahead.h"

// Levels that a subtree which goes may have here; groups that are planned side by side.
enum { CUT_LEVELS = 8, PLAN_BATCH = 8 };

static uint32_t count_runs(const espl__group *group)
{
    return group->run_end - group->run_begin;
}

// --- Room ---

// Steps of a command that is none for a splice: more than there may be, however often they are added.
enum { NO_SPLICE = 1 << 16 };

_Static_assert((int)NO_SPLICE > ESPL__SPLICE_EDITS * ESPL__SPLICE_MADE,
               "no levels come to as many");

// Steps that a command may come to.
static uint32_t count_steps(const espl__playback *playback, const espl__entry *entry)
{
    if (espl__entry_is_plain_copy(entry)) {
        return espl__short_recipe(playback, entry)->tree.levels;
    }
    return (entry->traits & ESPL__TRAIT_DESTROYS) != 0 ? CUT_LEVELS : NO_SPLICE;
}

// Room for the steps of a group that may come to so many; 0: it is none for a splice.
static uint32_t room_of(const espl__group *group, uint32_t steps)
{
    if (espl__group_size(group) > ESPL__SPLICE_EDITS || count_runs(group) != 1 ||
        group->only_writes || steps >= NO_SPLICE) {
        return 0;
    }
    return steps < ESPL__SPLICE_EVENTS ? steps : ESPL__SPLICE_EVENTS;
}

bool espl__short_make_room(espl__playback *playback)
{
    uint32_t *const steps =
        espl__arena_take_zeroed(&playback->arena, playback->group_count, sizeof *steps);
    size_t count = 0;

    if (steps == NULL) {
        return false;
    }
    // In the order of commands: of groups, where their commands end nobody can guess.
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        steps[entry->group] += count_steps(playback, entry);
    }
    for (size_t i = 0; i < playback->group_count; ++i) {
        espl__group *const group = &playback->groups[i];

        group->step_begin = (uint32_t)count;
        group->step_room = (uint8_t)room_of(group, steps[i]);
        count += group->step_room;
    }
    // Past what memory holds.
    if (count > UINT32_MAX) { // GCOVR_EXCL_BR_LINE
        return false;
    }
    // And some behind the last one, which a loop in fours looks at.
    playback->steps =
        espl__arena_take(&playback->arena, count + ESPL__GROUPED_MORE, sizeof *playback->steps);
    return playback->steps != NULL;
}

// --- Worlds ---

static bool are_all_finite(const espl__playback *playback, const espl__entry *entry)
{
    const espl__recipe *const recipe = &espl__short_recipe(playback, entry)->tree;
    espl_pose worlds[ESPL__SPLICE_MADE];
    bool are_finite = true;

    worlds[0] = espl__short_top_world(playback, entry);
    for (uint32_t i = 1; i < recipe->size; ++i) {
        espl__pose_compose_to(&worlds[i], &worlds[recipe->parents[i]], NULL,
                              &playback->forest->local[recipe->slots[i]]);
    }
    for (uint32_t i = 0; i < recipe->size; ++i) {
        are_finite = are_finite && espl__pose_is_finite(&worlds[i]);
    }
    return are_finite;
}

// Tell whether the worlds of a copy are finite, mostly without working them out.
static bool is_copy_finite(const espl__playback *playback, const espl__entry *entry)
{
    return ((entry->traits & ESPL__TRAIT_SMALL) != 0 &&
            (!espl__entry_has_parent(entry) ||
             espl__pose_is_small(&playback->forest->world[entry->parent.number]))) ||
           are_all_finite(playback, entry);
}

// --- The plan of a splice ---

static bool add_edit(const espl__playback *playback, const espl__entry *entry, espl__splice *splice)
{
    const uint32_t *const rank = playback->forest->rank;

    return espl__entry_is_plain_copy(entry)
               ? espl__operand_is_living(&entry->parent) &&
                     espl__splice_paste(splice, rank[entry->parent.number],
                                        &espl__short_recipe(playback, entry)->tree) &&
                     is_copy_finite(playback, entry)
               : espl__splice_cut(splice, rank[entry->target.number]);
}

// false: there is none.
static bool build(const espl__playback *playback, const espl__group *group, espl__splice *splice)
{
    const uint32_t count = espl__group_size(group);
    bool is_done = true;

    espl__splice_begin(splice, playback->forest, group->run);
    for (uint32_t i = 0; i < count && is_done; ++i) {
        is_done = add_edit(playback, espl__group_entry(playback, group, i), splice);
    }
    return is_done && splice->event_count <= group->step_room && espl__splice_sort(splice);
}

// Tell whether all links of ranks [begin, end) are owned.
static bool are_owned(const espl__forest *forest, const espl__run *run, uint32_t begin,
                      uint32_t end)
{
    const uint32_t *const order = forest->order + run->base;
    unsigned flags = 0;

    for (uint32_t rank = begin; rank < end; ++rank) {
        flags |= forest->flags[order[rank]];
    }
    return (flags & ESPL__SLOT_FREE_LINK) == 0;
}

// An owned closure is the whole subtree unless some link below its top is free.
static bool are_closures(const espl__playback *playback, const espl__group *group)
{
    const espl__splice_step *const steps = playback->steps + group->step_begin;
    const espl__run *const run = &playback->forest->runs[group->run];
    bool are_whole = true;

    // Most worlds have none at all.
    if (!playback->forest->has_free_links) {
        return true;
    }
    for (uint32_t i = 0; i < group->step_count && are_whole; ++i) {
        const espl__splice_step *const step = &steps[i];

        if (!step->comes && step->start != 0 &&
            (espl__group_entry(playback, group, step->edit)->traits & ESPL__TRAIT_SPARES) != 0) {
            are_whole = are_owned(playback->forest, run, step->gap, step->gap + step->count);
        }
    }
    return are_whole;
}

static uint32_t size_to_be(const espl__run *run, const espl__splice *splice)
{
    return run->size + splice->made - splice->gone;
}

// Tell whether the run cannot stay where it is: see choose_room() of plots.c.
static bool leaves(const espl__run *run, const espl__splice *splice)
{
    return splice->made > run->capacity - run->size ||
           espl__run_is_loose(run, size_to_be(run, splice));
}

// Tell whether its root has the role that it had. All of a run is written where it goes to another
// range: many nodes are divided between workers, the long way.
static bool fits(const espl__run *run, const espl__splice *splice)
{
    return run->size > 1 && size_to_be(run, splice) > 1 &&
           (run->size <= ESPL__SPLICE_RANKS || !leaves(run, splice));
}

// Number of the run of a group that has one.
static uint32_t run_of(const espl__playback *playback, const espl__group *group)
{
    return playback->touched[playback->grouped_runs[group->run_begin]].run;
}

// That run, where it is such a one as goes the short way.
static const espl__run *find_run(const espl__playback *playback, espl__group *group)
{
    group->run = run_of(playback, group);
    const espl__run *const run = &playback->forest->runs[group->run];

    group->base = run->base;
    return run->ghosts == 0 && run->side == NULL ? run : NULL;
}

// Work out the steps. What else must hold is looked at once the memory for it was asked for.
static bool plan_splice(espl__playback *playback, espl__group *group)
{
    const espl__run *const run = find_run(playback, group);
    espl__splice splice;

    if (run == NULL || !build(playback, group, &splice) || !fits(run, &splice)) {
        return false;
    }
    espl__splice_resolve(&splice, playback->steps + group->step_begin);
    group->step_count = (uint8_t)splice.event_count;
    group->clones = group->visited = splice.made;
    group->dead = splice.gone;
    group->size = size_to_be(run, &splice);
    group->is_resettled = leaves(run, &splice);
    return true;
}

static bool check_splice(espl__playback *playback, const espl__group *group)
{
    const bool is_fine = are_closures(playback, group);

    playback->loads[playback->grouped_runs[group->run_begin]].goes_on = is_fine;
    return is_fine;
}

// --- The plan of one that comes or goes by itself ---

static bool plan_birth(const espl__playback *playback, espl__group *group)
{
    const espl__entry *const entry = espl__group_entry(playback, group, 0);

    if (!is_copy_finite(playback, entry)) {
        return false;
    }
    group->size = espl__short_recipe(playback, entry)->tree.size;
    group->clones = group->visited = group->size;
    group->dead = 0;
    return true;
}

static bool plan_end(const espl__playback *playback, espl__group *group)
{
    const espl__run *const run = &playback->forest->runs[group->run];
    const espl__entry *const entry = espl__group_entry(playback, group, 0);

    if ((entry->traits & ESPL__TRAIT_SPARES) != 0 && playback->forest->has_free_links &&
        !are_owned(playback->forest, run, 1, run->size)) {
        return false;
    }
    group->clones = group->visited = 0;
    group->dead = run->size;
    group->size = 0;
    return true;
}

// --- Which groups ---

// A group with room for steps has one run, and commands for a splice alone.
static unsigned suits(const espl__playback *playback, espl__group *group)
{
    if (espl__group_size(group) == 0 || group->only_writes) {
        return ESPL__SHORT_NOTHING;
    }
    const espl__entry *const entry = espl__group_entry(playback, group, 0);
    const bool is_alone = espl__group_size(group) == 1;

    if (group->step_room != 0) {
        const bool is_end = is_alone && (entry->traits & ESPL__TRAIT_DESTROYS) != 0 &&
                            playback->forest->rank[entry->target.number] == 0;

        return is_end ? ESPL__SHORT_END : ESPL__SHORT_SPLICE;
    }
    if (count_runs(group) == 0) {
        if (is_alone && espl__entry_is_plain_copy(entry) &&
            entry->parent.state == ESPL_ERR_NULL_ENTITY) {
            return ESPL__SHORT_BIRTH;
        }
        return espl__assemble_suits(playback, group) ? ESPL__SHORT_ASSEMBLY : ESPL__SHORT_NOTHING;
    }
    if (espl__assemble_suits(playback, group)) {
        return ESPL__SHORT_ASSEMBLY;
    }
    return espl__reparent_suits(playback, group) ? ESPL__SHORT_MOVES : ESPL__SHORT_NOTHING;
}

// The first half of a plan: all that the second half wants memory asked for.
static void choose(espl__playback *playback, espl__group *group)
{
    group->does = (uint8_t)suits(playback, group);
    if ((group->does == ESPL__SHORT_SPLICE && !plan_splice(playback, group)) ||
        (group->does == ESPL__SHORT_END && find_run(playback, group) == NULL)) {
        group->does = ESPL__SHORT_NOTHING;
    }
}

// --- What is asked for ahead ---

static void ask_for_entries(const espl__playback *playback, espl__batch batch)
{
    for (uint32_t i = batch.first->entry_begin; i < espl__batch_entries_end(batch); ++i) {
        espl__ask_to_write(&playback->entries[playback->grouped_entries[i]]);
    }
    for (const espl__group *group = batch.first; group < batch.end; ++group) {
        if (count_runs(group) == 1) {
            espl__ask(&playback->forest->runs[run_of(playback, group)]);
        }
    }
}

static void ask_for_nodes(const espl__playback *playback, espl__batch batch)
{
    const espl__forest *const forest = playback->forest;

    if (forest->end == 0) {
        // There may be no arrays to ask for.
        return;
    }
    for (uint32_t i = batch.first->entry_begin; i < espl__batch_entries_end(batch); ++i) {
        const espl__entry *const entry = &playback->entries[playback->grouped_entries[i]];
        const uint32_t parent = espl__operand_slot(&entry->parent);

        espl__ask(&forest->rank[espl__operand_slot(&entry->target)]);
        espl__ask(&forest->rank[parent]);
        espl__ask(&forest->world[parent]);
    }
    for (const espl__group *group = batch.first; group < batch.end; ++group) {
        if (count_runs(group) == 1) {
            const espl__run *const run = &forest->runs[run_of(playback, group)];

            espl__ahead_links(forest->first, run->base, run->base + run->size);
        }
    }
}

// Where a subtree that goes hangs, and where children stand of the nodes that commands name; their
// ranks are at hand. Of a large group alone: its run has more links than were asked for as a whole,
// and a small one takes longer to ask than it waits.
static void ask_for_places(const espl__playback *playback, const espl__group *group)
{
    enum { MANY = 5 };
    const espl__forest *const forest = playback->forest;

    if (group->step_room == 0 || espl__group_size(group) < MANY) {
        return;
    }
    const uint32_t base = forest->runs[run_of(playback, group)].base;

    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);
        const uint32_t target = base + forest->rank[espl__operand_slot(&entry->target)];
        const uint32_t parent = base + forest->rank[espl__operand_slot(&entry->parent)];

        // Both, whatever the command does: which of the two it means nothing tells beforehand.
        espl__ask(&forest->parent[target]);
        espl__ask(&forest->first[target]);
        espl__ask(&forest->first[parent]);
    }
}

// --- All groups ---

static void finish(espl__playback *playback, espl__group *group)
{
    bool is_planned = false;

    switch (group->does) {
    case ESPL__SHORT_SPLICE:
        is_planned = check_splice(playback, group);
        break;
    case ESPL__SHORT_BIRTH:
        is_planned = plan_birth(playback, group);
        break;
    case ESPL__SHORT_END:
        is_planned = plan_end(playback, group);
        break;
    default:
        break;
    }
    group->is_short = is_planned;
    group->is_resettled = group->is_resettled && is_planned;
}

static void choose_all(espl__playback *playback, espl__batch batch)
{
    for (const espl__group *group = batch.first; group < batch.end; ++group) {
        ask_for_places(playback, group);
    }
    for (espl__group *group = batch.first; group < batch.end; ++group) {
        choose(playback, group);
    }
}

static void finish_all(espl__playback *playback, espl__batch batch)
{
    for (espl__group *group = batch.first; group < batch.end; ++group) {
        finish(playback, group);
    }
    // Their statuses are ESPL_OK until somebody says otherwise.
    for (uint32_t i = batch.first->entry_begin; i < batch.end[-1].entry_end; ++i) {
        espl__entry *const entry = &playback->entries[playback->grouped_entries[i]];

        entry->is_short = playback->groups[entry->group].is_short;
    }
}

static espl__batch batch_at(const espl__playback *playback, size_t begin, size_t end, size_t at)
{
    return espl__batch_at(playback->groups, begin, end, at, PLAN_BATCH);
}

// Each step of a batch's plan comes a batch after the one before it, which asked for its memory.
void espl__short_plan(void *context, size_t begin, size_t end)
{
    enum { NODES = 1, CHOICE = 2, END = 3 };
    espl__playback *const playback = context;
    const size_t count = playback->sketches_all ? 0 : espl__batch_count(begin, end, PLAN_BATCH);

    for (size_t at = 0; count != 0 && at < count + END; ++at) {
        // Where a number is less than 0 it is past the count as well.
        if (at < count) {
            ask_for_entries(playback, batch_at(playback, begin, end, at));
        }
        if (at - NODES < count) {
            ask_for_nodes(playback, batch_at(playback, begin, end, at - NODES));
        }
        if (at - CHOICE < count) {
            choose_all(playback, batch_at(playback, begin, end, at - CHOICE));
        }
        if (at - END < count) {
            finish_all(playback, batch_at(playback, begin, end, at - END));
        }
    }
}
