// SPDX-License-Identifier: MIT
// The list of the children of a node, by slot.
#ifndef ESPALIER_LIB_TREE_LINKS_H
#define ESPALIER_LIB_TREE_LINKS_H

#include "lib/tree/forest.h"

/// Insert a node into the list of its parent's children, before one of them or last (ESPL__NO_SLOT).
/// `previous` of the first child is the last child, so that both ends are found in O(1).
ESPL__INLINE void espl__links_insert(espl__links *links, uint32_t slot, uint32_t parent,
                                     uint32_t before)
{
    if (before != ESPL__NO_SLOT) {
        const uint32_t previous = links[before].previous;

        links[slot].next = before;
        links[slot].previous = previous;
        links[before].previous = slot;
        *(links[parent].first_child == before ? &links[parent].first_child
                                              : &links[previous].next) = slot;
        return;
    }
    const uint32_t first = links[parent].first_child;

    links[slot].next = ESPL__NO_SLOT;
    if (first == ESPL__NO_SLOT) {
        links[slot].previous = slot;
        links[parent].first_child = slot;
    } else {
        const uint32_t last = links[first].previous;

        links[slot].previous = last;
        links[last].next = slot;
        links[first].previous = slot;
    }
}

/// Remove a node from the list of its parent's children. Its own links keep their values.
ESPL__INLINE void espl__links_remove(espl__links *links, uint32_t slot, uint32_t parent)
{
    const uint32_t first = links[parent].first_child;
    const uint32_t next = links[slot].next, previous = links[slot].previous;

    ESPL_CHECK(first != ESPL__NO_SLOT);
    ESPL_CHECK_FULL(first == slot || links[previous].next == slot);
    *(first == slot ? &links[parent].first_child : &links[previous].next) = next;
    // `previous` of the first child is the last child. Where the first child is removed, its next
    // sibling gets that link, because it is the first child now.
    if (next != ESPL__NO_SLOT) {
        links[next].previous = previous;
    } else if (first != slot) {
        links[first].previous = previous;
    }
}

#endif
