// SPDX-License-Identifier: MIT
// Inside of the patch stage: one plot, and its pieces as a range of ranks to be sees them. A small
// plot is patched as one range; a large one in several at once, each of which writes what lies in
// it alone.
#ifndef ESPALIER_LIB_COMMANDS_PATCH_H
#define ESPALIER_LIB_COMMANDS_PATCH_H

#include "lib/commands/playback.h"

/// One plot with the arrays that its patch works on.
typedef struct espl__patch {
    espl__playback *playback;
    espl__forest *forest;
    const espl__sketch *sketch;
    espl__plot *plot; // NULL: values change where they stand
    const espl__laid *laid;
} espl__patch;

/// What the ranges of a plot find out, each by itself.
typedef struct espl__found {
    uint32_t extras, kept; // nodes with an extra of their own, with inherit flags
    uint32_t strays;       // 0: all that was drafted stands in slots in the order of ranks
    uint32_t flags;        // of slots that count for the run's
} espl__found;

/// A place between two ranks to be, and how much stands before it.
typedef struct espl__cut {
    uint32_t position; // the rank behind it
    uint32_t piece;    // that it is in
    uint32_t at;       // drafted ranks before it
    uint32_t hole;     // the hole that the next one who comes in takes
} espl__cut;

/// One of the ranges that a plot is patched in: the number-th of so many.
typedef struct espl__stretch {
    espl__cut begin;
    uint32_t end; // rank to be
    uint32_t number, count;
} espl__stretch;

/// As much of a piece as lies in a range.
typedef struct espl__part {
    espl__piece piece;
    uint32_t at;   // of its first rank in the draft, where it is drafted
    uint32_t hole; // where its nodes come in: the hole that the first one takes
    bool is_drafted, keeps_slots;
} espl__part;

/// Tell whether the nodes of a piece keep their slots.
static inline bool espl__patch_keeps_slots(const espl__patch *p, const espl__piece *piece)
{
    return !p->plot->is_moved && espl__piece_is_resident(piece, p->laid);
}

/// Tell whether the ranks of a piece are rewritten through the draft.
static inline bool espl__patch_drafts(const espl__patch *p, const espl__piece *piece)
{
    return p->plot->is_moved || !espl__piece_stays(piece, p->laid);
}

/// The place before the first rank.
static inline espl__cut espl__patch_begin(const espl__patch *p)
{
    return (espl__cut){
        .piece = p->laid->begin,
        .hole = p->plot->is_moved ? 0 : p->forest->runs[p->plot->old_run].size,
    };
}

/// Take the ranks from a cut to the end of its piece, or to `end`, and go on behind them.
/// @return false where nothing is left.
static inline bool espl__part_next(const espl__patch *p, espl__cut *cut, uint32_t end,
                                   espl__part *part)
{
    if (cut->position >= end) {
        return false;
    }
    const espl__piece *const whole = espl__sketch_piece(p->sketch, cut->piece);
    const uint32_t skipped = cut->position - whole->position;
    const uint32_t left = whole->count - skipped, room = end - cut->position;

    part->piece = *whole;
    part->piece.rank += skipped;
    part->piece.position += skipped;
    part->piece.worlds += whole->worlds != ESPL__NO_NODE ? skipped : 0;
    part->piece.count = left < room ? left : room;
    part->at = cut->at;
    part->hole = cut->hole;
    part->is_drafted = espl__patch_drafts(p, whole);
    part->keeps_slots = espl__patch_keeps_slots(p, whole);
    cut->position += part->piece.count;
    cut->piece += part->piece.count == left ? 1 : 0;
    cut->at += part->is_drafted ? part->piece.count : 0;
    cut->hole += part->keeps_slots ? 0 : part->piece.count;
    return true;
}

/// The first of `all` things that falls to a range: they are shared out evenly.
static inline uint32_t espl__stretch_share(const espl__stretch *stretch, uint32_t number,
                                           uint32_t all)
{
    return (uint32_t)((uint64_t)all * number / stretch->count);
}

/// Flags with or without the one that tells of side arrays.
static inline uint8_t espl__flags_with_side(unsigned flags, bool has_side)
{
    return (uint8_t)((flags & ~(unsigned)ESPL__SLOT_SIDE) |
                     (has_side ? (unsigned)ESPL__SLOT_SIDE : 0u));
}

/// Flags of a slot that a known node is in.
static inline uint8_t espl__flags_of_node(const espl__node *node, bool has_side)
{
    const bool keeps = (node->flags & ESPL__NODE_KEEPS) != 0;
    const bool is_free = (node->flags & ESPL__NODE_FREE_LINK) != 0;
    const bool is_pass = (node->flags & ESPL__NODE_PASS) != 0;

    return (uint8_t)((is_free ? ESPL__SLOT_FREE_LINK : 0) | (is_pass ? ESPL__SLOT_PASS : 0) |
                     (has_side ? ESPL__SLOT_SIDE : 0) | (keeps ? ESPL__SLOT_KEEPS : 0));
}

// --- patch_draft.c ---

/// Note the slots that nodes of a plot leave in other ones; before any of the draft, plot by plot.
void espl__patch_leave(const espl__patch *p);
/// Draft a range, and write those that come to stand elsewhere: reads old slots, writes free ones.
/// May be done again as long as no links were written.
void espl__patch_draft(const espl__patch *p, const espl__stretch *stretch, espl__found *found);
/// Behind all ranges of it.
void espl__patch_end_draft(const espl__patch *p, const espl__found *all);

// --- patch_links.c ---

/// Write the values of those that stay, and the links of a range. Once.
void espl__patch_link(const espl__patch *p, const espl__stretch *stretch, espl__found *found);
/// Behind all ranges of it: the run's header.
void espl__patch_end_links(const espl__patch *p, const espl__found *all);
/// Write the values of a piece whose nodes stay, links and all.
void espl__patch_update(const espl__patch *p, const espl__piece *piece);

// --- patch_ranges.c ---

/// One step of a patch.
typedef void (*espl__patch_step)(const espl__patch *p, const espl__stretch *stretch,
                                 espl__found *found);

/// Do a step for all ranks of a plot once, in ranges on all workers where there are many.
/// @return what all ranges found.
espl__found espl__patch_run(const espl__patch *p, espl__patch_step step);

#endif
