// SPDX-License-Identifier: MIT
// Where the leaves of a group end: its commands are looked at one by one.
#include "lib/commands/reparent.h"

#include "lib/base/ahead.h"

// Marks by slot. Movers are marked by number + 1; nodes that stay, by how many have come below them
// and how many children have left.
#define STAYS (UINT32_C(1) << 31)
// A splice has fewer edits than either counts.
enum { COME_MASK = 0xff, LEFT_SHIFT = 8, LEFT_MASK = 0xff };

_Static_assert((int)COME_MASK > (int)ESPL__SPLICE_EDITS, "a splice's edits are counted");

// What has nobody below it is pasted by this.
static const uint32_t leaf_words[] = {ESPL__NO_SLOT, 1, 0, 1};
static const espl__recipe leaf_recipe = {.size = 1,
                                         .levels = 1,
                                         .parents = leaf_words,
                                         .firsts = leaf_words + 1,
                                         .starts = leaf_words + 2};

// --- The commands, one by one ---

static bool is_mover(uint32_t mark)
{
    return mark != 0 && mark < STAYS;
}

// One that did not move yet: it has a transform, a parent and nobody below it by now.
static bool is_leaf(const espl__moving *m, uint32_t slot)
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
static bool count_left(const espl__moving *m, uint32_t slot)
{
    uint32_t *const mark = &m->marks[slot];

    // A child that is there kept it from moving.
    ESPL_CHECK(!is_mover(*mark));
    *mark = (*mark | STAYS) + (UINT32_C(1) << LEFT_SHIFT);
    return (*mark >> LEFT_SHIFT & LEFT_MASK) != 0;
}

// Somebody comes below a node that stays. false: too many did.
static bool count_come(const espl__moving *m, uint32_t slot)
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
static void annul(const espl__moving *m, espl__mover *mover)
{
    mover->is_void = true;
    if (mover->above != ESPL__NO_NODE) {
        m->all->movers[mover->above].children -= 1;
    } else {
        m->marks[mover->parent] -= 1;
    }
}

// false: the group has to go the long way.
static bool add_mover(espl__moving *m, const espl__entry *entry, const espl__mover *was)
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
static bool carry_out(espl__moving *m, const espl__entry *entry)
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
    } else if (!count_left(m, was.home)) {
        return false;
    }
    return add_mover(m, entry, &was);
}

// --- What is read of commands to come ---

static void ask_for_slots(const espl__moving *m, const espl__entry *entry)
{
    const uint32_t slot = entry->target.number, parent = entry->parent.number;

    espl__ask(&m->forest->rank[slot]);
    espl__ask(&m->forest->local[slot]);
    espl__ask(&m->forest->entity[slot]);
    espl__ask(&m->forest->flags[slot]);
    espl__ask_to_write(&m->marks[slot]);
    espl__ask(&m->forest->world[parent]);
    espl__ask_to_write(&m->marks[parent]);
}

static void ask_for_links(const espl__moving *m, const espl__entry *entry)
{
    const uint32_t slot = entry->target.number;
    const uint32_t at = espl__run_of(m->forest, slot)->base + m->forest->rank[slot];

    espl__ask(&m->forest->first[at]);
    espl__ask(&m->forest->parent[at]);
}

static bool carry_out_all(espl__moving *m, const espl__group *group)
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

static void take_marks_back(const espl__moving *m, const espl__group *group)
{
    for (uint32_t i = 0; i < espl__group_size(group); ++i) {
        const espl__entry *const entry = espl__group_entry(m->playback, group, i);

        m->marks[entry->target.number] = m->marks[entry->parent.number] = 0;
    }
    for (uint32_t i = m->begin; i < m->end; ++i) {
        m->marks[m->all->movers[i].home] = 0;
    }
}

bool espl__movers_list(espl__moving *m, const espl__group *group)
{
    const bool is_fine = carry_out_all(m, group);

    take_marks_back(m, group);
    return is_fine;
}

// --- Movers below movers ---

static void link_movers(const espl__moving *m)
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
static uint32_t list_members(const espl__moving *m, uint32_t top, uint32_t *members,
                             uint32_t *words, espl__recipe *recipe)
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
static void tell_links(const espl__moving *m, const uint32_t *members, uint32_t *words,
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
static uint32_t draw_up_recipes(const espl__moving *m)
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
        uint32_t *const words = m->all->recipe_words + ESPL__RECIPE_WORDS * (size_t)at;
        espl__recipe *const recipe = &m->all->recipes[i];

        at += list_members(m, i, members, words, recipe);
        tell_links(m, members, words, recipe);
        mover->recipe = recipe;
    }
    return at - m->begin;
}

uint32_t espl__movers_draw_up(const espl__moving *m)
{
    link_movers(m);
    return draw_up_recipes(m);
}
