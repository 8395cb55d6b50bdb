// SPDX-License-Identifier: MIT
// Navigation: parents, siblings, children and counts of nodes, read from the links. It changes
// nothing. The layer above answers queries about the hierarchy with it. A tree in order answers
// some in O(1), because the children of a node are consecutive slots there.
#include "lib/tree/forest.h"
#include "lib/tree/order.h"

// Nodes do not store their root, because a relink would have to write it to a whole subtree.
uint32_t espl__root_of(const espl__forest *forest, uint32_t slot)
{
    while (forest->parent[slot] != ESPL__NO_SLOT) {
        ESPL_CHECK_FULL(espl__forest_is_edited(forest) || forest->parent[slot] < slot);
        slot = forest->parent[slot];
    }
    return slot;
}

uint32_t espl__last_child(const espl__forest *forest, uint32_t slot)
{
    const uint32_t first = forest->links[slot].first_child;

    ESPL_CHECK_FULL(first == ESPL__NO_SLOT || forest->parent[first] == slot);
    return first == ESPL__NO_SLOT ? ESPL__NO_SLOT : forest->links[first].previous;
}

uint32_t espl__next_sibling(const espl__forest *forest, uint32_t slot)
{
    return forest->links[slot].next;
}

uint32_t espl__previous_sibling(const espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    // `previous` of a first child is the last child, which is no previous sibling.
    return parent == ESPL__NO_SLOT || forest->links[parent].first_child == slot
               ? ESPL__NO_SLOT
               : forest->links[slot].previous;
}

// In a tree in order the children are consecutive, and `previous` of the first child is the last
// child.
size_t espl__count_children(const espl__forest *forest, uint32_t slot)
{
    const uint32_t first = forest->links[slot].first_child;
    size_t count = 0;

    if (first != ESPL__NO_SLOT && espl__is_tree_in_order(forest, slot)) {
        ESPL_CHECK(forest->links[first].previous >= first);
        return forest->links[first].previous - first + 1;
    }
    for (uint32_t child = first; child != ESPL__NO_SLOT; child = forest->links[child].next) {
        count += 1;
    }
    return count;
}

uint32_t espl__depth_of(const espl__forest *forest, uint32_t slot)
{
    uint32_t depth = 0;

    for (uint32_t up = forest->parent[slot]; up != ESPL__NO_SLOT; up = forest->parent[up]) {
        depth += 1;
    }
    return depth;
}

// Nodes do not store the size of their subtree, because each edit would write to all ancestors.
size_t espl__count_below(const espl__forest *forest, uint32_t slot)
{
    size_t count = 0;

    for (uint32_t below = espl__next_in_walk(forest, slot, slot, true); below != ESPL__NO_SLOT;
         below = espl__next_in_walk(forest, below, slot, true)) {
        count += 1;
    }
    return count;
}

// The walk does not enter a subtree behind a free link.
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
