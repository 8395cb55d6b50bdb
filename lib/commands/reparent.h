// SPDX-License-Identifier: MIT
// The short way of moves: leaves come below other nodes, of any hierarchies, and keep their locals. It
// is taken by groups that consist of nothing else, whose commands need no sketch:
//
// - Who moves is a leaf when its turn comes. So one node goes at a time, no circle closes but that of
//   one below itself, and nobody who stays comes to stand or to be seen elsewhere.
// - All operands live, and nobody dies. A command can be refused for an overflow or a circle only;
//   where one is, the group goes the long way.
// - A world follows from the local and from the new parent, who stays or moved before. Of the latter
//   the world is known, and final: with somebody below it it moves no more.
// - Those who stay keep their order, and those who come below one node stand behind them in the order
//   of their last moves.
//
// So what a run comes to is a splice: some leaves are cut out, others are pasted in, with all that
// came below them. What moves is carried by value, so that runs need not wait for each other: the
// commands are read by one worker, runs are spliced by all.
#ifndef ESPALIER_LIB_COMMANDS_REPARENT_H
#define ESPALIER_LIB_COMMANDS_REPARENT_H

#include "lib/commands/short.h"

/// A leaf and where its last command brings it; in order of those commands.
typedef struct espl__mover {
    espl_pose local, world;     // the world to be
    uint32_t slot, entity;      // as it stands
    uint32_t home, parent;      // slots that the parents before and after stand in
    uint32_t above;             // the mover that the parent is, or ESPL__NO_NODE: it stays
    uint32_t children;          // movers below it
    uint32_t first, last, next; // of these, and among those of `above`; movers
    const espl__recipe *recipe; // of one below a node that stays: how to paste it with all below it
    uint32_t member_begin;      // of these: in `members`, breadth-first
    uint8_t flags;              // of the slot to be
    bool is_void;               // a later command moves the same leaf
} espl__mover;

/// What becomes of a touched run.
typedef struct espl__refit {
    uint32_t edit_begin, edit_count;
    uint32_t step_begin, step_count;
    uint32_t made, gone; // nodes
    uint32_t capacity;   // of the range that it moves to; 0: it stays where it is
    bool fits;           // the splice can be done
    bool is_patched;
} espl__refit;

/// All groups that go this way, group behind group.
typedef struct espl__reparenting {
    espl__mover *movers;      // [mover_count] at most
    uint32_t *members;        // [mover_count] movers
    espl__recipe *recipes;    // of movers that have others below them
    uint32_t *recipe_words;   // of these
    uint32_t *edits;          // [2 * mover_count] mover * 2, and one more where it comes
    espl__splice_step *steps; // [2 * mover_count]
    espl__refit *refits;      // [touched_count] by touched number
    uint32_t *listed;         // [listed_count] touched numbers of runs that have edits
    uint32_t listed_count;
} espl__reparenting;

/// Words of a recipe for each of its members, at most.
enum { ESPL__RECIPE_WORDS = 4 };

/// Tell whether a group consists of such moves alone.
bool espl__reparent_suits(const espl__playback *playback, const espl__group *group);
/// Plan those groups whose `does` says so; sets is_short where it can be done.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_EXECUTOR.
espl_status espl__reparent_plan(espl__playback *playback);
/// Slots that runs which move take; adds what is moved to the counts of the report.
size_t espl__reparent_count(espl__playback *playback);

// --- reparent_movers.c ---

/// The commands of one group while they are looked at.
typedef struct espl__moving {
    espl__playback *playback;
    const espl__forest *forest;
    uint32_t *marks; // by slot; all zero before and after
    espl__reparenting *all;
    uint32_t begin, end; // movers of the group
} espl__moving;

/// List the movers of a group. @return false where it has to go the long way.
bool espl__movers_list(espl__moving *moving, const espl__group *group);
/// Draw up how to paste each with all that hangs below it. @return movers that are not void.
uint32_t espl__movers_draw_up(const espl__moving *moving);

// --- reparent_patch.c ---

/// Give the runs that grow their new ranges; reserved.
void espl__reparent_hand_out(espl__playback *playback);
/// Splice all runs. Cannot fail.
void espl__reparent_patch(espl__playback *playback);

#endif
