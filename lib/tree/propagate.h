// SPDX-License-Identifier: MIT
// A walk over one hierarchy in breadth-first order that visits the nodes whose parent changed, and
// no others. Needs no memory of its own: what waits for a visit are a few spans of ranks, and where
// there is no room for another span, the last one grows over the gap; recomputing a node that did
// not need it changes no bit.
#ifndef ESPALIER_LIB_TREE_PROPAGATE_H
#define ESPALIER_LIB_TREE_PROPAGATE_H

#include "lib/tree/forest.h"

typedef struct espl__span {
    uint32_t begin, end;
} espl__span;

typedef struct espl__walk {
    espl__forest *forest;
    const espl__run *run;
    espl__span *spans; // [capacity] a ring, ascending and disjoint
    uint32_t capacity, head, count;
    uint32_t reached;          // no rank below is visited any more
    uint64_t visited, skipped; // worlds recomputed; of these, kept their bits
    bool visits_all;           // goes on below a world that stays, too
    bool is_finite;            // all visited worlds were
} espl__walk;

/// Begin a walk on which nothing waits. @param spans  [capacity], at least 1.
void espl__walk_begin(espl__walk *walk, espl__forest *forest, uint32_t run, espl__span *spans,
                      uint32_t capacity);
/// Say that the node at a rank changed: its children wait. Ranks ascend from call to call.
void espl__walk_push_children(espl__walk *walk, uint32_t rank);
/// Visit all that waits at ranks below `end`, and what comes to wait there.
void espl__walk_advance(espl__walk *walk, uint32_t end);
/// Visit ranks [begin, end) now, all of them, whether they wait or not. Nothing waits at a rank below
/// begin.
void espl__walk_visit(espl__walk *walk, uint32_t begin, uint32_t end);
/// Tell whether the node at a rank waits, and take it out; nothing waits at a lower rank.
bool espl__walk_take(espl__walk *walk, uint32_t rank);
/// Recompute the world at one rank, whose parent's is final. Tells whether what hangs below sees a
/// change.
bool espl__propagate_one(espl__walk *walk, uint32_t rank);
/// Add the walk's counts to a crew's.
void espl__walk_count(const espl__walk *walk, espl__crew *crew);

#endif
