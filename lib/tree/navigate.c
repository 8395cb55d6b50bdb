// SPDX-License-Identifier: MIT
// The tree as its users see it: ghosts are looked through, and what hangs below a ghost root is a
// root.
#include "lib/tree/forest.h"

static bool is_ghost(const espl__forest *forest, uint32_t slot)
{
    return espl__slot_is(forest, slot, ESPL__SLOT_GHOST);
}

uint32_t espl__living_parent(const espl__forest *forest, uint32_t slot)
{
    uint32_t up = espl__parent_slot(forest, slot);

    while (up != ESPL__NO_SLOT && is_ghost(forest, up)) {
        up = espl__parent_slot(forest, up);
    }
    return up;
}

uint32_t espl__living_root(const espl__forest *forest, uint32_t slot)
{
    const uint32_t top = forest->order[espl__run_of(forest, slot)->base];

    if (!is_ghost(forest, top)) {
        return top;
    }
    for (uint32_t up = slot; up != ESPL__NO_SLOT; up = espl__living_parent(forest, up)) {
        slot = up;
    }
    return slot;
}

// Preorder walk by ranks below the rank `above`: the one behind `rank`, or ESPL__NO_SLOT. It goes
// through the children of `rank` first where it `descends`. A whole walk climbs each link once.
static uint32_t next_rank(const espl__forest *forest, const espl__run *run, uint32_t rank,
                          uint32_t above, bool descends)
{
    const uint32_t *const parent = forest->parent + run->base;
    const uint32_t begin = espl__first_child(forest, run, rank);

    if (descends && begin < espl__first_child(forest, run, rank + 1)) {
        return begin;
    }
    // Past each list that ends here.
    while (rank != above && (rank + 1 >= run->size || parent[rank + 1] != parent[rank])) {
        rank = parent[rank];
    }
    return rank == above ? ESPL__NO_SLOT : rank + 1;
}

// The same walk with siblings from last to first.
static uint32_t previous_rank(const espl__forest *forest, const espl__run *run, uint32_t rank,
                              uint32_t above, bool descends)
{
    const uint32_t *const parent = forest->parent + run->base;
    const uint32_t end = espl__first_child(forest, run, rank + 1);

    if (descends && espl__first_child(forest, run, rank) < end) {
        return end - 1;
    }
    while (rank != above && parent[rank - 1] != parent[rank]) {
        rank = parent[rank];
    }
    return rank == above ? ESPL__NO_SLOT : rank - 1;
}

typedef uint32_t (*step_function)(const espl__forest *forest, const espl__run *run, uint32_t rank,
                                  uint32_t above, bool descends);

// The first living node that a walk meets behind `rank`, ghosts replaced by their children.
static uint32_t walk_on(const espl__forest *forest, const espl__run *run, uint32_t rank,
                        uint32_t above, step_function step)
{
    bool descends = rank == above;

    for (;;) {
        rank = step(forest, run, rank, above, descends);
        if (rank == ESPL__NO_SLOT) {
            return ESPL__NO_SLOT;
        }
        const uint32_t slot = forest->order[run->base + rank];

        descends = is_ghost(forest, slot);
        if (!descends) {
            return slot;
        }
    }
}

static uint32_t child_of(const espl__forest *forest, uint32_t slot, step_function step)
{
    const uint32_t rank = forest->rank[slot];

    return walk_on(forest, espl__run_of(forest, slot), rank, rank, step);
}

static uint32_t sibling_of(const espl__forest *forest, uint32_t slot, step_function step)
{
    const uint32_t living = espl__living_parent(forest, slot);

    if (living == ESPL__NO_SLOT) {
        return ESPL__NO_SLOT;
    }
    return walk_on(forest, espl__run_of(forest, slot), forest->rank[slot], forest->rank[living],
                   step);
}

uint32_t espl__living_first_child(const espl__forest *forest, uint32_t slot)
{
    return child_of(forest, slot, next_rank);
}

uint32_t espl__living_last_child(const espl__forest *forest, uint32_t slot)
{
    return child_of(forest, slot, previous_rank);
}

uint32_t espl__living_next_sibling(const espl__forest *forest, uint32_t slot)
{
    return sibling_of(forest, slot, next_rank);
}

uint32_t espl__living_previous_sibling(const espl__forest *forest, uint32_t slot)
{
    return sibling_of(forest, slot, previous_rank);
}

uint32_t espl__living_behind(const espl__forest *forest, uint32_t slot, uint32_t above)
{
    return walk_on(forest, espl__run_of(forest, slot), forest->rank[slot], forest->rank[above],
                   next_rank);
}

size_t espl__living_children(const espl__forest *forest, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot];
    size_t count = 0;

    if (run->ghosts == 0) {
        return espl__first_child(forest, run, rank + 1) - espl__first_child(forest, run, rank);
    }
    for (uint32_t child = espl__living_first_child(forest, slot); child != ESPL__NO_SLOT;
         child = espl__living_behind(forest, child, slot)) {
        count += 1;
    }
    return count;
}

uint32_t espl__living_child(const espl__forest *forest, uint32_t slot, size_t n)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t begin = espl__first_child(forest, run, forest->rank[slot]);
    const uint32_t end = espl__first_child(forest, run, forest->rank[slot] + 1);

    if (run->ghosts == 0) {
        return n < end - begin ? forest->order[run->base + begin + n] : ESPL__NO_SLOT;
    }
    uint32_t child = espl__living_first_child(forest, slot);
    for (; n > 0 && child != ESPL__NO_SLOT; --n) {
        child = espl__living_behind(forest, child, slot);
    }
    return child;
}

uint32_t espl__living_depth(const espl__forest *forest, uint32_t slot)
{
    uint32_t depth = 0;

    for (uint32_t up = espl__living_parent(forest, slot); up != ESPL__NO_SLOT;
         up = espl__living_parent(forest, up)) {
        depth += 1;
    }
    return depth;
}

size_t espl__living_below(const espl__forest *forest, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    uint32_t begin = espl__first_child(forest, run, forest->rank[slot]);
    uint32_t end = espl__first_child(forest, run, forest->rank[slot] + 1);
    size_t count = 0;

    while (begin < end) {
        for (uint32_t rank = begin; rank < end && run->ghosts != 0; ++rank) {
            count -= is_ghost(forest, forest->order[run->base + rank]) ? 1 : 0;
        }
        count += end - begin;
        const uint32_t next = espl__first_child(forest, run, begin);

        end = espl__first_child(forest, run, end);
        begin = next;
    }
    return count;
}

uint32_t espl__living_next(const espl__forest *forest, uint32_t slot, uint32_t top, bool enters)
{
    const espl__run *const run = espl__run_of(forest, top);
    const uint32_t above = forest->rank[top];
    uint32_t rank = forest->rank[slot];

    while ((rank = next_rank(forest, run, rank, above, enters)) != ESPL__NO_SLOT) {
        const uint32_t found = forest->order[run->base + rank];

        if (!is_ghost(forest, found)) {
            return found;
        }
        enters = true;
    }
    return ESPL__NO_SLOT;
}

size_t espl__living_owned(const espl__forest *forest, uint32_t slot)
{
    bool descends = true;
    size_t count = 0;

    for (uint32_t below = espl__living_next(forest, slot, slot, descends); below != ESPL__NO_SLOT;
         below = espl__living_next(forest, below, slot, descends)) {
        descends = !espl__slot_is(forest, below, ESPL__SLOT_FREE_LINK);
        count += descends ? 1 : 0;
    }
    return count;
}
