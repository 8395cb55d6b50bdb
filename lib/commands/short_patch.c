// SPDX-License-Identifier: MIT
// The second half of the short way: who goes, and what the forest is like afterwards.
#include "lib/commands/short_ahead.h"
#include "lib/math/lanes.h"

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
                     const espl__recipe *const *recipes, uint32_t *slots)
{
    const espl__resettling to = {
        .base = group->base,
        .capacity = espl__run_room(&playback->forest->runs[group->run], group->size),
        .steps = playback->steps + group->step_begin,
        .step_count = group->step_count,
        .recipes = recipes,
        .slots = slots,
        .moved = espl__entity_record_slot,
        .context = playback->store,
    };

    espl__splice_resettle(playback->forest, group->run, &to);
}

static void splice(const espl__playback *playback, const espl__group *group, uint32_t *slots)
{
    const espl__recipe *recipes[ESPL__SPLICE_EDITS];

    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        recipes[i] =
            espl__entry_instantiates(entry) ? &espl__short_recipe(playback, entry)->tree : NULL;
    }
    if (group->is_resettled) {
        resettle(playback, group, recipes, slots);
        return;
    }
    espl__splice_commit(playback->forest, group->run, playback->steps + group->step_begin,
                        group->step_count, recipes, slots);
}

// The links of a copy that comes by itself are those of its recipe.
static void found(const espl__playback *playback, const espl__group *group, uint32_t *slots)
{
    espl__forest *const forest = playback->forest;
    const espl__recipe *const recipe =
        &espl__short_recipe(playback, espl__group_entry(playback, group, 0))->tree;

    for (uint32_t i = 0; i < group->size; ++i) {
        const uint32_t slot = group->base + i;

        slots[i] = forest->order[slot] = slot;
        forest->parent[slot] = recipe->parents[i];
        forest->first[slot] = recipe->firsts[i];
        forest->rank[slot] = i;
        forest->run[slot] = group->run;
    }
    forest->runs[group->run] = (espl__run){.base = group->base,
                                           .capacity = group->size,
                                           .used = group->size,
                                           .size = group->size,
                                           .flags = ESPL__RUN_IN_ORDER,
                                           .next = ESPL__NO_RUN,
                                           .previous = ESPL__NO_RUN};
}

static void write_links(const espl__playback *playback, const espl__group *group, uint32_t *slots)
{
    if (group->does == ESPL__SHORT_BIRTH) {
        found(playback, group, slots);
    } else if (group->does == ESPL__SHORT_SPLICE) {
        splice(playback, group, slots);
    }
}

// What the slots of a copy hold.
static void place_copy(espl__playback *playback, const espl__entry *entry, const uint32_t *slots)
{
    espl__forest *const forest = playback->forest;
    const espl__recipe *const recipe = &espl__short_recipe(playback, entry)->tree;
    const espl_entity *const entities = playback->make_entities + entry->make_begin;
    const bool is_free = espl__entry_has_parent(entry) && entry->command->link == ESPL_LINK_FREE;
    const espl_pose top = espl__pose_of(espl__entry_transform(playback, entry));
    espl__laned world = espl__laned_load(&top);

    espl__laned_store(&forest->local[slots[0]], world);
    if (espl__entry_has_parent(entry)) {
        world = espl__laned_compose(espl__laned_load(&forest->world[entry->parent.number]), world);
    }
    espl__laned_store(&forest->world[slots[0]], world);
    for (uint32_t i = 1; i < recipe->size; ++i) {
        const espl__laned local = espl__laned_load(&forest->local[recipe->slots[i]]);
        const espl__laned up = espl__laned_load(&forest->world[slots[recipe->parents[i]]]);

        espl__laned_store(&forest->local[slots[i]], local);
        espl__laned_store(&forest->world[slots[i]], espl__laned_compose(up, local));
    }
    for (uint32_t i = 0; i < recipe->size; ++i) {
        forest->flags[slots[i]] = i == 0 && is_free ? ESPL__SLOT_FREE_LINK : 0;
        forest->entity[slots[i]] = entities[i].index;
        espl__entity_set_slot(playback->store, entities[i].index, slots[i]);
    }
}

static void place_copies(espl__playback *playback, const espl__group *group, const uint32_t *slots)
{
    for (uint32_t i = 0; group->clones != 0 && i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        if (espl__entry_instantiates(entry)) {
            place_copy(playback, entry, slots);
            slots += entry->clone_count;
        }
    }
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

static bool waits(const espl__group *group)
{
    return group->is_short && !group->is_patched &&
           (group->does == ESPL__SHORT_SPLICE || group->does == ESPL__SHORT_BIRTH);
}

// --- What is asked for ahead ---

static void ask_for_entries(const espl__playback *playback, const espl__group *group)
{
    for (uint32_t i = 0; i < espl__ahead_entries(group); ++i) {
        __builtin_prefetch(espl__group_entry(playback, group, i));
    }
    if (group->does == ESPL__SHORT_SPLICE) {
        __builtin_prefetch(&playback->forest->runs[group->run], 1);
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
    for (uint32_t i = 0; i < espl__ahead_entries(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        if (entry->clone_count != 0) {
            __builtin_prefetch(entry->command);
        }
        if (entry->clone_count != 0 && espl__entry_has_parent(entry)) {
            __builtin_prefetch(&forest->world[entry->parent.number]);
        }
    }
}

// What the copies of a group are written to, and where the first node of each is told to stand.
static void ask_for_places(const espl__playback *playback, const espl__group *group,
                           const uint32_t *slots)
{
    const espl__forest *const forest = playback->forest;

    for (size_t i = 0; i < group->clones; ++i) {
        __builtin_prefetch(&forest->local[slots[i]], 1);
        __builtin_prefetch(&forest->world[slots[i]], 1);
        __builtin_prefetch(&forest->entity[slots[i]], 1);
        __builtin_prefetch(&forest->flags[slots[i]], 1);
    }
    for (uint32_t i = 0; group->clones != 0 && i < espl__ahead_entries(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        if (entry->clone_count != 0) {
            __builtin_prefetch(espl__entry_transform(playback, entry));
        }
        for (uint32_t k = 0; k < entry->clone_count; ++k) {
            const uint32_t entity = playback->make_entities[entry->make_begin + k].index;

            __builtin_prefetch(&playback->store->records[entity], 1);
        }
    }
}

// Where the chunks of a group's copies mirror their slots.
static void ask_for_rows(const espl__playback *playback, const espl__group *group)
{
    for (uint32_t i = 0; group->clones != 0 && i < espl__ahead_entries(group); ++i) {
        const espl__entry *const entry = espl__group_entry(playback, group, i);

        for (uint32_t k = 0; k < entry->clone_count; ++k) {
            espl__entity_ask_for_slot(playback->store,
                                      playback->make_entities[entry->make_begin + k].index);
        }
    }
}

// Each step of a patch comes some groups after the one before it, which asked for its memory. A
// place that is found by another one is asked for a step after it: to read on the way to it would
// be to wait.
void espl__short_patch(void *context, size_t begin, size_t end)
{
    enum { ENTRIES = 18, LINKS = 10, PLACES = 4, ROWS = 2, SETS = PLACES + 1 };
    espl__playback *const playback = context;
    espl__group *const groups = playback->groups + begin;
    const size_t count = end - begin;
    uint32_t slots[SETS][ESPL__SPLICE_MADE]; // where the nodes that come in stand, in turns

    for (size_t at = 0; at < count + ENTRIES; ++at) {
        // Where a number is less than 0 it is past the count as well.
        const size_t asked = at - (ENTRIES - LINKS), linked = at - (ENTRIES - PLACES);
        const size_t mirrored = at - (ENTRIES - ROWS), placed = at - ENTRIES;

        if (at < count && waits(&groups[at])) {
            ask_for_entries(playback, &groups[at]);
        }
        if (asked < count && waits(&groups[asked])) {
            ask_for_links(playback, &groups[asked]);
        }
        if (linked < count && waits(&groups[linked])) {
            write_links(playback, &groups[linked], slots[linked % SETS]);
            ask_for_places(playback, &groups[linked], slots[linked % SETS]);
        }
        if (mirrored < count && waits(&groups[mirrored])) {
            ask_for_rows(playback, &groups[mirrored]);
        }
        if (placed < count && waits(&groups[placed])) {
            place_copies(playback, &groups[placed], slots[placed % SETS]);
            tell_general(playback, &groups[placed]);
            groups[placed].is_patched = true;
        }
    }
}
