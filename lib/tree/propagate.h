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
    uint32_t fence;            // spans from here on leave one place free for those behind them
    uint64_t visited, skipped; // worlds recomputed; of these, kept their bits
    bool visits_all;           // goes on below a world that stays, too
    bool is_finite;            // all visited worlds were
} espl__walk;

/// Begin a walk on which nothing waits. @param spans  [capacity], at least 1.
void espl__walk_begin(espl__walk *walk, espl__forest *forest, uint32_t run, espl__span *spans,
                      uint32_t capacity);
/// Say that the node at a rank changed: its children wait. Ranks ascend from call to call.
void espl__walk_push_children(espl__walk *walk, uint32_t rank);
/// Say that ranks [begin, end), 1 <= begin, are to be visited. Ranks ascend from call to call.
void espl__walk_wait(espl__walk *walk, uint32_t begin, uint32_t end);
/// Visit all that waits at ranks below `end`, and what comes to wait there.
void espl__walk_advance(espl__walk *walk, uint32_t end);
/// Visit all that waits and comes to wait. Large parts are visited in pieces, on the workers of a
/// team; what is counted depends on the hierarchy alone, not on who they are or whether there are
/// any (spread.c).
void espl__walk_finish(espl__walk *walk, const espl__team *team);
/// Visit ranks [begin, end) now, all of them, whether they wait or not. Nothing waits at a rank
/// below begin.
void espl__walk_visit(espl__walk *walk, uint32_t begin, uint32_t end);
/// Tell whether the node at a rank waits, and take it out; nothing waits at a lower rank.
bool espl__walk_take(espl__walk *walk, uint32_t rank);
/// Recompute the world at one rank, whose parent's is final. Tells whether what hangs below sees a
/// change.
bool espl__propagate_one(espl__walk *walk, uint32_t rank);
/// Recompute the worlds of ranks [begin, end), 1 <= begin, of a run in which every node follows its
/// parent; ranks below begin are final. false: one is not finite.
bool espl__compose_ranks(espl__forest *forest, const espl__run *run, uint32_t begin, uint32_t end);
/// Add the walk's counts to a crew's.
void espl__walk_count(const espl__walk *walk, espl__crew *crew);

// --- Walks over a piece of a band ---

/// The i-th span that waits, in the order of ranks.
static inline espl__span *espl__walk_span(const espl__walk *walk, uint32_t i)
{
    const uint32_t at = walk->head + i;

    return &walk->spans[at < walk->capacity ? at : at - walk->capacity];
}

/// Begin a walk over what waits of another one at ranks [begin, end) of the first generation. Spans
/// must not grow over the ranks of other pieces, from one generation into the next: while one
/// generation is visited, the fence stands at the next one.
/// @param spans  [capacity], at least 2.
void espl__walk_fork(espl__walk *piece, const espl__walk *walk, espl__span *spans,
                     uint32_t capacity, uint32_t begin, uint32_t end);
/// Put what waits at the front of the ring. @return how many spans.
uint32_t espl__walk_settle(espl__walk *walk);
/// Nothing waits any more, and nothing below a rank is visited.
void espl__walk_clear(espl__walk *walk, uint32_t reached);
/// Take over what waits of a piece, whose ranks are behind all that waits here, and add its counts.
void espl__walk_join(espl__walk *walk, const espl__walk *piece);

#endif
