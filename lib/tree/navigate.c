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

// The living node that a walk in sibling order meets first at a rank, or behind it under the same
// living parent `above`. Ghosts are replaced by their children.
static uint32_t first_living_from(const espl__forest *forest, const espl__run *run, uint32_t rank,
                                  uint32_t above)
{
    const uint32_t *const order = forest->order + run->base;
    const uint32_t *const parent = forest->parent + run->base;

    for (;;) {
        if (!is_ghost(forest, order[rank])) {
            return order[rank];
        }
        const uint32_t begin = espl__first_child(forest, run, rank);
        if (begin < espl__first_child(forest, run, rank + 1)) {
            rank = begin; // into the ghost's children
            continue;
        }
        // Past this ghost, and past each ghost whose list ends here.
        while (rank + 1 >= run->size || parent[rank + 1] != parent[rank]) {
            rank = parent[rank];
            if (rank == above || rank == ESPL__NO_SLOT) {
                return ESPL__NO_SLOT;
            }
        }
        rank += 1;
    }
}

uint32_t espl__living_first_child(const espl__forest *forest, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t rank = forest->rank[slot];
    const uint32_t begin = espl__first_child(forest, run, rank);

    if (begin == espl__first_child(forest, run, rank + 1)) {
        return ESPL__NO_SLOT;
    }
    return first_living_from(forest, run, begin, rank);
}

uint32_t espl__living_next_sibling(const espl__forest *forest, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    const uint32_t *const parent = forest->parent + run->base;
    const uint32_t living = espl__living_parent(forest, slot);
    uint32_t rank = forest->rank[slot];

    if (living == ESPL__NO_SLOT) {
        return ESPL__NO_SLOT;
    }
    const uint32_t above = forest->rank[living];
    while (rank + 1 >= run->size || parent[rank + 1] != parent[rank]) {
        rank = parent[rank];
        if (rank == above) {
            return ESPL__NO_SLOT;
        }
    }
    return first_living_from(forest, run, rank + 1, above);
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
