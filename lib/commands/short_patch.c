// SPDX-License-Identifier: MIT
// The second half of the short way: who goes, and what the links are afterwards. What stands in the
// slots that copies got is written behind all links (short_place.c).
#include "lib/commands/short_ahead.h"

#include "lib/base/ahead.h"

// --- Those that go ---

static uint32_t *list_ranks(const espl__forest *forest, uint32_t base, uint32_t begin, uint32_t end,
                            uint32_t *out)
{
    for (uint32_t rank = begin; rank < end; ++rank) {
        *out++ = forest->entity[forest->order[base + rank]];
    }
    return out;
}

void espl__short_ask_for_removals(const espl__playback *playback, size_t group, size_t end)
{
    enum { ORDER = 16, GONERS = 8 };

    if (group + ORDER < end && playback->groups[group + ORDER].is_short) {
        espl__ahead_order(playback, &playback->groups[group + ORDER]);
    }
    if (group + GONERS < end && playback->groups[group + GONERS].is_short) {
        espl__ahead_goners(playback, &playback->groups[group + GONERS]);
    }
}

void espl__short_removals(const espl__playback *playback, const espl__group *group, uint32_t *out)
{
    const espl__splice_step *const steps = playback->steps + group->step_begin;
    const espl__forest *const forest = playback->forest;

    if (group->does == ESPL__SHORT_END) {
        (void)list_ranks(forest, group->base, 0, (uint32_t)group->dead, out);
        return;
    }
    for (uint32_t i = 0; group->dead != 0 && i < group->step_count; ++i) {
        const espl__splice_step *const step = &steps[steps[i].turn];

        if (!step->comes) {
            out = list_ranks(forest, group->base, step->gap, step->gap + step->count, out);
        }
    }
}

// --- The patch ---

void espl__short_hand_out(espl__playback *playback, espl__group *group)
{
    group->run = espl__run_take(playback->forest);
    group->base = espl__range_take(playback->forest, group->size);
}

void espl__short_resettle(espl__playback *playback, uint32_t number, espl__resettled *out)
{
    espl__group *const group = &playback->groups[number];
    const espl__run *const run = &playback->forest->runs[group->run];

    *out = (espl__resettled){number, run->base, run->capacity};
    group->base = espl__range_take(playback->forest, espl__run_room(run, group->size));
}

static void resettle(const espl__playback *playback, const espl__group *group,
                     const espl__splice_copy *copies)
{
    const espl__resettling to = {
        .base = group->base,
        .capacity = espl__run_room(&playback->forest->runs[group->run], group->size),
        .steps = playback->steps + group->step_begin,
        .step_count = group->step_count,
        .copies = copies,
        .moved = espl__entity_record_slot,
        .context = playback->store,
    };

    espl__splice_resettle(playback->forest, group->run, &to);
}

// Where the last node that passed through has gone, the run is a plain one again.
static void tell_general(const espl__playback *playback, const espl__group *group)
{
    const espl__forest *const forest = playback->forest;
    espl__run *const run = &forest->runs[group->run];
    unsigned flags = 0;

    if (group->dead == 0 || (run->flags & ESPL__RUN_GENERAL) == 0) {
        return;
    }
    for (uint32_t rank = 0; rank < run->size; ++rank) {
        flags |= forest->flags[forest->order[run->base + rank]];
    }
    if ((flags & ESPL__SLOT_PASS) == 0) {
        run->flags &= ~(unsigned)ESPL__RUN_GENERAL;
    }
}

// Nobody passes through in what comes in.
static void clear_flags(const espl__playback *playback, const espl__entry *entry)
{
    for (uint32_t k = 0; k < entry->clone_count; ++k) {
        playback->forest->flags[playback->make_slots[entry->make_begin + k]] = 0;
    }
}

static void splice(const espl__playback *playback, const espl__group *group)
{
    espl__splice_copy copies[ESPL__SPLICE_EDITS];
    const uint32_t count = espl__group_size(group);

    for (uint32_t i = 0; group->clones != 0 && i < count; ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);
        const uint32_t recipe = entry->clone_count != 0 ? entry->recipe - 1 : 0;

        copies[i].recipe = &playback->recipes[recipe].tree;
        copies[i].slots = playback->make_slots + entry->make_begin;
    }
    if (group->is_resettled) {
        resettle(playback, group, copies);
    } else {
        espl__splice_commit(playback->forest, group->run, playback->steps + group->step_begin,
                            group->step_count, copies);
    }
    if ((playback->forest->runs[group->run].flags & ESPL__RUN_GENERAL) != 0) {
        for (uint32_t i = 0; i < count; ++i) {
            clear_flags(playback, espl__group_entry(playback, group, i));
        }
        tell_general(playback, group);
    }
}

// The links of a copy that comes by itself are those of its recipe.
static void found(const espl__playback *playback, const espl__group *group)
{
    espl__forest *const forest = playback->forest;
    const espl__entry *const entry = espl__group_entry(playback, group, 0);
    const espl__recipe *const recipe = &espl__short_recipe(playback, entry)->tree;

    for (uint32_t i = 0; i < group->size; ++i) {
        const uint32_t slot = group->base + i;

        playback->make_slots[entry->make_begin + i] = forest->order[slot] = slot;
        forest->parent[slot] = recipe->parents[i];
        forest->first[slot] = recipe->firsts[i];
        forest->rank[slot] = i;
        forest->run[slot] = group->run;
    }
    forest->runs[group->run] = espl__run_filling(group->base, group->size);
}

static void write_links(const espl__playback *playback, const espl__group *group)
{
    if (group->does == ESPL__SHORT_BIRTH) {
        found(playback, group);
    } else {
        splice(playback, group);
    }
}

static bool waits(const espl__group *group)
{
    return group->is_short && !group->is_patched &&
           (group->does == ESPL__SHORT_SPLICE || group->does == ESPL__SHORT_BIRTH);
}

// --- What is asked for ahead ---

static void ask_for_entries(const espl__playback *playback, const espl__group *group)
{
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        espl__ask(espl__group_entry(playback, group, i));
    }
    if (group->does == ESPL__SHORT_SPLICE) {
        espl__ask_to_write(&playback->forest->runs[group->run]);
    }
}

// Nodes stand in any slots of their run, whatever their ranks are. A run that goes to another range is
// read where it was.
static void ask_for_links(const espl__playback *playback, const espl__group *group)
{
    const espl__forest *const forest = playback->forest;

    if (group->does == ESPL__SHORT_SPLICE) {
        const espl__splice_step *const step = &playback->steps[group->step_begin];
        const espl__run *const run = &forest->runs[group->run];
        const uint32_t begin = run->base + step->gap;
        const uint32_t size = group->is_resettled ? run->size : group->size + group->dead;
        const uint32_t end = run->base + size;

        espl__ahead_links(forest->first, run->base + step->split, end);
        espl__ahead_links(forest->order, begin, end);
        espl__ahead_links(forest->parent, begin, end);
        espl__ahead_links(forest->rank, run->base, run->base + run->used);
    }
}

// Each step of a patch comes some groups after the one before it, which asked for its memory.
void espl__short_patch(void *context, size_t begin, size_t end)
{
    enum { ENTRIES = 14, LINKS = 6 };
    espl__playback *const playback = context;
    espl__group *const groups = playback->groups + begin;
    const size_t count = end - begin;

    for (size_t at = 0; at < count + ENTRIES; ++at) {
        // Where a number is less than 0 it is past the count as well.
        const size_t asked = at - (ENTRIES - LINKS), linked = at - ENTRIES;

        if (at < count && waits(&groups[at])) {
            ask_for_entries(playback, &groups[at]);
        }
        if (asked < count && waits(&groups[asked])) {
            ask_for_links(playback, &groups[asked]);
        }
        if (linked < count && waits(&groups[linked])) {
            write_links(playback, &groups[linked]);
            groups[linked].is_patched = true;
        }
    }
}
