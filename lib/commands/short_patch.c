// SPDX-License-Identifier: MIT
// The second half of the short way: who goes, and what the links are afterwards. What stands in the
// slots that copies got is written behind all links (short_place.c).
#include "lib/commands/short_ahead.h"

#include "lib/base/ahead.h"

// --- Those that go ---

// Ranks that go, as they stand in the order.
typedef struct gone {
    uint32_t at, count;
} gone;

// What is listed at once: so much, or what the last group adds to it.
enum { GONE_MANY = 32, GONE_MOST = GONE_MANY + ESPL__SPLICE_EVENTS + 3 };

// Those of groups that follow each other: so do they in the list.
typedef struct goners {
    gone items[GONE_MOST];
    uint32_t count;
    uint32_t out; // where the first of them goes in the list
} goners;

// All of a run.
static void add_end(const espl__forest *forest, const espl__group *group, goners *all)
{
    all->items[all->count++] = (gone){group->base, group->dead};
    espl__ask(&forest->order[group->base]);
}

// Each command's in its turn. Without a branch that asks who comes and who goes; behind the last step
// the first one is looked at, and left out.
static void add_goners(const espl__playback *playback, const espl__group *group, goners *all)
{
    const espl__splice_step *const steps = playback->steps + group->step_begin;
    const uint32_t count = group->dead != 0 ? group->step_count : 0;
    const uint32_t *const order = playback->forest->order;
    const uint32_t base = group->base;
    uint32_t added = all->count;

    for (uint32_t i = 0; i < espl__in_fours(count); ++i) {
        const uint32_t is_one = 0u - (uint32_t)(i < count);
        const espl__splice_step *const step = &steps[steps[i].turn & is_one];
        const uint32_t at = base + step->gap;

        all->items[added] = (gone){at, step->count};
        espl__ask(&order[at]);
        added += is_one & ((uint32_t)step->comes ^ 1);
    }
    all->count = added;
}

// Most are one or two.
static void list_goners(const espl__playback *playback, goners *all)
{
    const uint32_t *const order = playback->forest->order;
    const uint32_t *const entity = playback->forest->entity;
    uint32_t *out = playback->removals + all->out;

    for (uint32_t i = 0; i < all->count; ++i) {
        espl__ask(&entity[order[all->items[i].at]]);
    }
    for (uint32_t i = 0; i < all->count; ++i) {
        const uint32_t *const slots = order + all->items[i].at;
        const uint32_t count = all->items[i].count, second = count > 1 ? 1 : 0;

        out[0] = entity[slots[0]];
        out[second] = entity[slots[second]];
        for (uint32_t k = 2; k < count; ++k) {
            out[k] = entity[slots[k]];
        }
        out += count;
    }
    all->count = 0;
}

static void add_group(const espl__playback *playback, const espl__group *group, goners *all)
{
    if (all->count == 0) {
        all->out = group->removal_begin;
    }
    if (group->does == ESPL__SHORT_SPLICE) {
        add_goners(playback, group, all);
    } else if (group->does == ESPL__SHORT_END) {
        add_end(playback->forest, group, all);
    }
}

void espl__short_removals(const espl__playback *playback, size_t begin, size_t end)
{
    goners all;

    all.count = all.out = 0;
    for (size_t i = begin; i < end; ++i) {
        const espl__group *const group = &playback->groups[i];

        if (group->is_short) {
            add_group(playback, group, &all);
        }
        // Behind one that lists its own the next one's do not follow.
        if (all.count >= GONE_MANY || !group->is_short || i + 1 == end) {
            list_goners(playback, &all);
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

    for (uint32_t i = 0; i < group->size && i < FAR; ++i) {
        espl__ask_to_write(&playback->store->records[entities[i]]);
    }
    for (uint32_t i = 0; i < group->size; ++i) {
        if (i + FAR < group->size) {
            espl__ask_to_write(&playback->store->records[entities[i + FAR]]);
        }
        if (i + NEAR < group->size) {
            espl__entity_ask_for_slot(playback->store, entities[i + NEAR]);
        }
        espl__entity_set_slot(playback->store, entities[i], group->base + i);
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
        const espl__entry *const entry = espl__group_entry(playback, group, i);
        // What stands behind the last command may be no copy at all.
        const uint32_t is_one = 0u - (uint32_t)(i < count);

        copies[i].recipe = &playback->recipes[entry->recipe & is_one].tree;
        copies[i].slots = playback->make_slots + (entry->make_begin & is_one);
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

static bool is_ours(const espl__group *group)
{
    return group->does == ESPL__SHORT_SPLICE || group->does == ESPL__SHORT_BIRTH;
}

static bool waits(const espl__group *group)
{
    return is_ours(group) && group->is_short && !group->is_patched;
}

// --- What is asked for ahead ---

static void ask_for_entries(const espl__playback *playback, const espl__group *group)
{
    const uint32_t count = espl__group_size(group);

    for (uint32_t i = 0; i < espl__in_fours(count); ++i) {
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

        espl__ahead_pairs(forest->order, forest->parent, begin, run->base + size);
        espl__ahead_pairs(forest->first, forest->rank, run->base, run->base + run->used);
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

        if (at < count && is_ours(&groups[at])) {
            ask_for_entries(playback, &groups[at]);
        }
        if (asked < count && is_ours(&groups[asked])) {
            ask_for_links(playback, &groups[asked]);
        }
        if (linked < count && waits(&groups[linked])) {
            write_links(playback, &groups[linked]);
            groups[linked].is_patched = true;
        }
    }
}
