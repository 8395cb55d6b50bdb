// SPDX-License-Identifier: MIT
// The second half of the short way: who goes, and what the links are afterwards. What stands in the
// slots that copies got is written behind all links (short_place.c).
#include "lib/commands/short_ahead.h"

#include "lib/base/ahead.h"

// --- Those that go ---

// Ranks that go, as they stand in the order, and where the first of them goes in the list.
typedef struct gone {
    uint32_t at, count;
    uint32_t out;
} gone;

// What is listed at once: so much, or what the last group adds to it.
enum { GONE_MANY = 32, GONE_MOST = GONE_MANY + ESPL__SPLICE_EVENTS + 3 };

typedef struct goners {
    gone items[GONE_MOST];
    uint32_t count;
} goners;

// All of a run.
static void add_end(const espl__forest *forest, const espl__group *group, goners *all)
{
    all->items[all->count++] = (gone){group->base, group->dead, group->removal_begin};
    espl__ask(&forest->order[group->base]);
}

// Each command's in its turn. Without a branch that asks who comes and who goes.
static void add_goners(const espl__playback *playback, const espl__group *group, goners *all)
{
    const espl__splice_step *const steps = playback->steps + group->step_begin;
    const uint32_t count = group->dead != 0 ? group->step_count : 0;
    const espl__forest *const forest = playback->forest;
    uint32_t out = group->removal_begin;

    for (uint32_t i = 0; i < espl__in_fours(count); ++i) {
        const espl__splice_step *const step = &steps[steps[i < count ? i : count - 1].turn];
        const uint32_t goes = !step->comes && i < count ? 1 : 0;

        all->items[all->count] = (gone){group->base + step->gap, step->count, out};
        espl__ask(&forest->order[group->base + step->gap]);
        all->count += goes;
        out += step->count & (0u - goes);
    }
}

// Most are one or two.
static void list_goners(const espl__playback *playback, const goners *all)
{
    const uint32_t *const order = playback->forest->order;
    const uint32_t *const entity = playback->forest->entity;

    for (uint32_t i = 0; i < all->count; ++i) {
        espl__ask(&entity[order[all->items[i].at]]);
    }
    for (uint32_t i = 0; i < all->count; ++i) {
        const gone *const item = &all->items[i];
        const uint32_t *const slots = order + item->at;
        uint32_t *const out = playback->removals + item->out;
        const uint32_t second = item->count > 1 ? 1 : 0;

        out[0] = entity[slots[0]];
        out[second] = entity[slots[second]];
        for (uint32_t k = 2; k < item->count; ++k) {
            out[k] = entity[slots[k]];
        }
    }
}

void espl__short_removals(const espl__playback *playback, size_t begin, size_t end)
{
    goners all = {.count = 0};

    for (size_t i = begin; i < end; ++i) {
        const espl__group *const group = &playback->groups[i];

        if (group->is_short && group->does == ESPL__SHORT_SPLICE) {
            add_goners(playback, group, &all);
        } else if (group->is_short && group->does == ESPL__SHORT_END) {
            add_end(playback->forest, group, &all);
        }
        if (all.count >= GONE_MANY || i + 1 == end) {
            list_goners(playback, &all);
            all.count = 0;
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

// Who is in the slots that a group's copies got; the rest of those slots is written later.
static void name_copies(const espl__playback *playback, const espl__group *group)
{
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);
        const uint32_t *const slots = playback->make_slots + entry->make_begin;

        for (uint32_t k = 0; k < entry->clone_count; ++k) {
            playback->forest->entity[slots[k]] =
                playback->make_entities[entry->make_begin + k].index;
        }
    }
}

// Tell all who are in a run that was written anew where they stand. They are in rank order, and their
// records anywhere.
static void tell_slots(const espl__playback *playback, const espl__group *group)
{
    enum { FAR = 16, NEAR = 8 };
    const uint32_t *const entities = playback->forest->entity + group->base;

    for (uint32_t i = 0; i < group->size + FAR; ++i) {
        // Where a number is less than 0 it is past the size as well.
        const uint32_t near = i - (FAR - NEAR), told = i - FAR;

        if (i < group->size) {
            espl__ask_to_write(&playback->store->records[entities[i]]);
        }
        if (near < group->size) {
            espl__entity_ask_for_slot(playback->store, entities[near]);
        }
        if (told < group->size) {
            espl__entity_set_slot(playback->store, entities[told], group->base + told);
        }
    }
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
    };

    espl__splice_resettle(playback->forest, group->run, &to);
    name_copies(playback, group);
    tell_slots(playback, group);
}

// Where the last node that passed through has gone, the run is a plain one again.
static void tell_general(const espl__playback *playback, const espl__group *group)
{
    const espl__forest *const forest = playback->forest;
    espl__run *const run = &forest->runs[group->run];
    unsigned flags = 0;

    ESPL_CHECK((run->flags & ESPL__RUN_GENERAL) != 0);
    if (group->dead == 0) {
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

_Static_assert(ESPL__SPLICE_EDITS % 4 == 0, "they are gone through in fours");

static void splice(const espl__playback *playback, const espl__group *group)
{
    espl__splice_copy copies[ESPL__SPLICE_EDITS];
    const uint32_t count = espl__group_size(group);

    for (uint32_t i = 0; i < espl__in_fours(count); ++i) {
        const espl__entry *const entry =
            espl__group_entry(playback, group, i < count ? i : count - 1);
        const uint32_t has_copies = entry->clone_count != 0 ? 1 : 0;

        // Of one that copies nothing neither is read.
        copies[i].recipe = &playback->recipes[(entry->recipe - 1) & (0u - has_copies)].tree;
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
    const uint32_t last = espl__group_size(group) - 1;

    for (uint32_t i = 0; i < espl__in_fours(last + 1); ++i) {
        espl__ask(espl__group_entry(playback, group, i < last ? i : last));
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
