// SPDX-License-Identifier: MIT
// The list of a present: the slots whose shown worlds may change, in ascending order. A range belongs to
// one tree, so that the slots of a tree lie together.
#ifndef ESPALIER_LIB_TREE_PRESENT_LIST_H
#define ESPALIER_LIB_TREE_PRESENT_LIST_H

#include "lib/tree/motion.h"
#include "lib/tree/present.h"

/// Return the index behind the slots of a tree from index `at` on.
static inline size_t espl__listed_end(const uint32_t *slots, size_t at, size_t count,
                                      const espl__tree *t)
{
    const uint32_t limit = t->base + t->used;
    const size_t whole = at + t->live;

    // Most often all nodes of a tree are listed, or few.
    at = whole <= count && slots[whole - 1] < limit ? whole : at + 1;
    while (at < count && slots[at] < limit) {
        at += 1;
    }
    return at;
}

/// Return the moment since which a change of its own data makes a node one that a present visits. Nodes that
/// changed earlier may be listed too, and are visited only if their blends differ from their locals.
static inline uint32_t espl__present_visits_since(const espl__present *present)
{
    return present->leaves_rested ? present->forest->presented.moment : present->since;
}

/// Slots of a block at most: their locals, previous and saved ones fit into a second-level cache.
enum { ESPL__PRESENT_BLOCK = 1024 };

/// The listed slots of one tree.
typedef struct espl__present_run {
    uint32_t tree, count;
} espl__present_run;

/// List the slots that espl__present_begin() counted.
void espl__present_list(espl__present *present);
/// Remove slots without a node, and those that are at rest where the present leaves them.
/// @param slots        [count] of whole trees.
/// @param skips_large  remove also the slots of trees that are divided among workers.
/// @param runs         [count] out: the slots that are left, by tree; NULL: not wanted.
/// @return the number of slots that are left, in order.
size_t espl__present_clean(const espl__present *present, uint32_t *slots, size_t count,
                           bool skips_large, espl__present_run *runs);

#endif
