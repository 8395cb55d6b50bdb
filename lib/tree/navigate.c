// SPDX-License-Identifier: MIT
// Navigation by links.
#include "lib/tree/forest.h"

uint32_t espl__root_of(const espl__forest *forest, uint32_t slot)
{
    while (forest->parent[slot] != ESPL__NO_SLOT) {
        slot = forest->parent[slot];
    }
    return slot;
}

uint32_t espl__last_child(const espl__forest *forest, uint32_t slot)
{
    const uint32_t first = forest->links[slot].first_child;

    return first == ESPL__NO_SLOT ? ESPL__NO_SLOT : forest->links[first].previous;
}

uint32_t espl__next_sibling(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].next;
}

uint32_t espl__previous_sibling(const espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    return parent == ESPL__NO_SLOT || forest->links[parent].first_child == slot
               ? ESPL__NO_SLOT
               : forest->links[slot].previous;
}

static bool is_in_order(const espl__forest *forest, uint32_t slot)
{
    return (espl__tree_of(forest, slot)->flags & ESPL__TREE_IN_ORDER) != 0;
}

size_t espl__count_children(const espl__forest *forest, uint32_t slot)
{
    const uint32_t first = forest->links[slot].first_child;
    size_t count = 0;

    // In breadth-first order the children of a node are consecutive.
    if (first != ESPL__NO_SLOT && is_in_order(forest, slot)) {
        return forest->links[first].previous - first + 1;
    }
    for (uint32_t child = first; child != ESPL__NO_SLOT; child = forest->links[child].next) {
        count += 1;
    }
    return count;
}

uint32_t espl__child_at(const espl__forest *forest, uint32_t slot, size_t n)
{
    uint32_t child = forest->links[slot].first_child;

    if (child != ESPL__NO_SLOT && is_in_order(forest, slot)) {
        return n <= forest->links[child].previous - child ? child + (uint32_t)n : ESPL__NO_SLOT;
    }
    for (; n > 0 && child != ESPL__NO_SLOT; --n) {
        child = forest->links[child].next;
    }
    return child;
}

uint32_t espl__depth_of(const espl__forest *forest, uint32_t slot)
{
    uint32_t depth = 0;

    for (uint32_t up = forest->parent[slot]; up != ESPL__NO_SLOT; up = forest->parent[up]) {
        depth += 1;
    }
    return depth;
}

size_t espl__count_below(const espl__forest *forest, uint32_t slot)
{
    size_t count = 0;

    for (uint32_t below = espl__next_in_walk(forest, slot, slot, true); below != ESPL__NO_SLOT;
         below = espl__next_in_walk(forest, below, slot, true)) {
        count += 1;
    }
    return count;
}

size_t espl__count_owned(const espl__forest *forest, uint32_t slot)
{
    size_t count = 0;
    bool is_owned = true;

    for (uint32_t below = espl__next_in_walk(forest, slot, slot, true); below != ESPL__NO_SLOT;
         below = espl__next_in_walk(forest, below, slot, is_owned)) {
        is_owned = !espl__slot_is(forest, below, ESPL__SLOT_FREE_LINK);
        count += is_owned ? 1 : 0;
    }
    return count;
}
