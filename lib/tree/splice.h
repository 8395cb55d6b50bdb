// SPDX-License-Identifier: MIT
// Small edits of one run at once, of the two kinds that most are: whole subtrees go, and copies of
// other trees come in behind the last child of a node. Those that stay keep their order, so that
// the run is rewritten in one pass from the first rank that changes.
//
// In breadth-first order each level of a subtree is one range of ranks. So every edit is an event
// for each of its levels: ranks that go, or a gap between ranks where nodes come in.
#ifndef ESPALIER_LIB_TREE_SPLICE_H
#define ESPALIER_LIB_TREE_SPLICE_H

#include "lib/tree/forest.h"

/// Most of everything in one splice; what is larger is not to be spliced.
enum {
    ESPL__SPLICE_EDITS = 32,
    ESPL__SPLICE_EVENTS = 128,
    ESPL__SPLICE_MADE = 256,
    ESPL__SPLICE_RANKS = 1024, ///< from the first one that changes
    ESPL__SPLICE_FILTER = 512, ///< bits, of ranks that are told apart at first sight
};

/// A tree to be copied: the owned closure of a slot, breadth-first.
typedef struct espl__recipe {
    uint32_t size, levels;
    const uint32_t *slots;   // [size] that are copied
    const uint32_t *parents; // [size] position of the parent; of the first: ESPL__NO_SLOT
    const uint32_t
        *firsts; // [size] position of the first child, as if every leaf had an empty list
    const uint32_t *starts; // [levels + 1] position where a level begins; the last is the size
} espl__recipe;

/// One edit.
typedef struct espl__splice_edit {
    const espl__recipe *recipe; // NULL: the subtree of `rank` goes; else a copy comes below it
    uint32_t rank;
} espl__splice_edit;

typedef struct espl__splice_event {
    uint32_t gap;   // rank before which nodes come in, or the first rank that goes
    uint32_t count; // of them
    uint32_t above; // event of the level above; of the first level: rank of the parent
    uint32_t split; // the first rank whose children stand behind theirs
    uint8_t edit;   // whose
    uint8_t level;  // of it
    uint8_t start;  // of what comes in: position of its first node in the recipe; else its level
    bool comes;
    uint16_t made; // of what comes in: its first node among all that are made
} espl__splice_event;

/// Edits while they are gathered.
typedef struct espl__splice {
    const espl__forest *forest;
    const espl__run *run;
    espl__splice_edit edits[ESPL__SPLICE_EDITS];
    uint32_t edit_count;
    espl__splice_event events[ESPL__SPLICE_EVENTS];
    uint8_t order[ESPL__SPLICE_EVENTS]; // [event_count] events by rank, once sorted
    uint32_t event_count;
    uint32_t made, gone; // nodes
    // Ranks that go, and those below which something comes in, by their last bits.
    uint64_t gone_filter[ESPL__SPLICE_FILTER / 64], pasted_filter[ESPL__SPLICE_FILTER / 64];
} espl__splice;

_Static_assert((int)ESPL__SPLICE_EVENTS <= UINT8_MAX + 1, "an event's number is a byte");

/// An event that was worked out: all that the commit wants, in few bytes, since many splices wait
/// for their commits together.
typedef struct espl__splice_step {
    uint32_t gap;     // rank before which nodes come in, or the first rank that goes
    uint32_t split;   // children of ranks from here on stand behind them
    uint32_t parents; // of what comes in: add to a recipe's parents to get ranks to be
    uint32_t firsts;  // likewise, to its firsts; not of its last level
    uint16_t count;   // of them
    uint16_t made;    // of what comes in: its first node among all that are made
    uint8_t edit;
    uint8_t start; // of what comes in: position of its first node in the recipe; else its level
    uint8_t turn;  // place of the step that is as many from the first, by edit and then by level
    bool comes;
} espl__splice_step;

_Static_assert(sizeof(espl__splice_step) == 24, "step: 16 + 4 + 4");
_Static_assert((int)ESPL__SPLICE_MADE <= UINT8_MAX + 1, "a position in a recipe is a byte");

/// By how much a step moves what stands behind it, wrapping around. Without a branch: who comes and who
/// goes follow each other as they like.
static inline uint32_t espl__splice_shift(const espl__splice_step *step)
{
    const uint32_t goes = step->comes ? 0 : 1;

    return (step->count ^ (0u - goes)) + goes;
}

/// Begin with a run that has neither ghosts nor side arrays.
void espl__splice_begin(espl__splice *splice, const espl__forest *forest, uint32_t run);
/// Add a subtree that goes. @return false where that cannot be done here: it is the root's, it goes
/// already, something comes in below it, or there is too much. The splice is of no use then.
bool espl__splice_cut(espl__splice *splice, uint32_t rank);
/// Add a node that goes by itself: all that is below it goes by other edits. @return false likewise.
bool espl__splice_take(espl__splice *splice, uint32_t rank);
/// Add a copy that comes in behind the last child of a rank. @return false likewise.
bool espl__splice_paste(espl__splice *splice, uint32_t rank, const espl__recipe *recipe);
/// Sort the events. @return false where too many ranks change.
bool espl__splice_sort(espl__splice *splice);
/// Work out the steps of a splice whose events are sorted.
/// @param steps  [event_count] out: by rank.
void espl__splice_resolve(const espl__splice *splice, espl__splice_step *steps);

/// What an edit has come in.
typedef struct espl__splice_copy {
    const espl__recipe *recipe;
    uint32_t *slots; // [recipe->size] out: where each of its nodes stands
} espl__splice_copy;

/// Rewrite a run's links. It is as it was when the steps were worked out and has slots for all that
/// come in. Cannot fail.
/// @param steps   [count], at least one.
/// @param copies  by edit; what belongs to one by which something goes is not read.
void espl__splice_commit(espl__forest *forest, uint32_t run, const espl__splice_step *steps,
                         uint32_t count, const espl__splice_copy *copies);

// --- resettle.c ---

/// What a run is written by, and where to.
typedef struct espl__resettling {
    uint32_t base, capacity; // of its range to be, which holds all
    const espl__splice_step *steps;
    uint32_t step_count;
    const espl__splice_copy *copies; // as above
} espl__resettling;

/// The same, into another range: everybody stands in rank order there. What stands in the range that
/// the run had stays as it is, for the caller to give back. Nobody is told of a new slot, and who is
/// in the slots of those who come in is for the caller to write. Cannot fail. O(size).
void espl__splice_resettle(espl__forest *forest, uint32_t run, const espl__resettling *to);

#endif
