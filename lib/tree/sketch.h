// SPDX-License-Identifier: MIT
// Some hierarchies as they are to be: their links are edited in command order and then laid out in
// breadth-first order again, the one algorithm of structural change. Reads the forest, never writes
// it.
//
// A sketch is as large as what is edited, not as the hierarchies are: a node comes into being when
// somebody asks for it, with the links that it has in the forest; all others stand as they stand
// there. The layout says so too, in pieces: whole stretches of ranks that only move.
//
// Worlds are answered at any moment of the editing, with the bits that the forest would hold had
// each edit been carried out and propagated by itself: a world is a pure function of the locals.
//
// A node is a number: the slot of one that is in the forest, or one with ESPL__MADE for one that is
// made; those count up. Where a call finds no memory the sketch has failed for good: nodes asked for
// then are one that stands alone, so that every walk ends, and espl__sketch_has_failed() tells.
#ifndef ESPALIER_LIB_TREE_SKETCH_H
#define ESPALIER_LIB_TREE_SKETCH_H

#include "lib/base/bag.h"
#include "lib/tree/forest.h"

#define ESPL__MADE (UINT32_C(1) << 31)

/// Flags of a sketched node.
enum {
    ESPL__NODE_FREE_LINK = 1,    ///< outlives its parent
    ESPL__NODE_PASS = 2,         ///< has no transform of its own
    ESPL__NODE_DEAD = 4,         ///< destroyed; spliced out
    ESPL__NODE_GHOST = 8,        ///< was dead before; has no entity
    ESPL__NODE_CLONE = 16,       ///< made by this playback
    ESPL__NODE_DIRTY = 32,       ///< its local or its parent changed
    ESPL__NODE_RESTRETCHED = 64, ///< its stretch or context changed
    ESPL__NODE_MOVED = 128,      ///< its parent changed: its role may have
    ESPL__NODE_CHANGED = 256,    ///< laid out: its world differs, and is computed
    ESPL__NODE_NOTED = 512,      ///< stands in the list of noted nodes
    ESPL__NODE_KEEPS = 1024,     ///< has inherit flags
    ESPL__NODE_COPIES = 2048,    ///< of these, ESPL_COPY_PARENT
    ESPL__NODE_REPLACED = 4096,  ///< its placement came or went
    ESPL__NODE_LOST = 8192,      ///< dead clone that living ones name
    ESPL__NODE_RESET = 16384,    ///< its component set or a value of it changed
    ESPL__NODE_PARENT = 32768,   ///< had a child that was linked to it
};

typedef struct espl__node {
    uint32_t parent, first, last, next, previous; // nodes
    uint32_t slot; // in the forest; a clone's: of its original; ESPL__NO_SLOT: created
    // Index; ESPL__NO_ENTITY for a ghost. Of an unnamed clone: the node it was cloned from, or
    // ESPL__NO_NODE where that was none.
    uint32_t entity;
    uint32_t written; // of the written placements, or ESPL__NO_NODE: as in the forest
    uint32_t world;   // laid out: of the new worlds
    uint32_t kept;    // one more than the number of its kept world, or 0
    uint32_t source;  // clone: entity index whose row it copies, or ESPL__NO_ENTITY
    uint32_t values;  // of the plan's component sets, or ESPL__NO_NODE
    uint32_t flags;
    uint32_t load;  // of the run it is in; made: ESPL__NO_NODE
    uint32_t below; // scratch of a walk up
    // Of all placements that it was given: they enlarge what hangs below at most 2^growth times, where
    // growth is the upper half of a float, and reach less far than 2^reach.
    uint16_t growth;
    int16_t reach;
} espl__node;

_Static_assert(sizeof(espl__node) == 64, "node: a cache line");

/// A node that stands alone, shows nothing and is in no run.
static inline espl__node espl__node_alone(void)
{
    return (espl__node){.parent = ESPL__NO_NODE,
                        .first = ESPL__NO_NODE,
                        .last = ESPL__NO_NODE,
                        .next = ESPL__NO_NODE,
                        .previous = ESPL__NO_NODE,
                        .entity = ESPL__NO_ENTITY,
                        .written = ESPL__NO_NODE,
                        .values = ESPL__NO_NODE,
                        .flags = ESPL__NODE_PASS,
                        .load = ESPL__NO_NODE,
                        .below = ESPL__NO_NODE,
                        .reach = INT16_MIN};
}

/// A run whose hierarchy is sketched.
typedef struct espl__load {
    uint32_t run;
    uint32_t bits;        // first of the words that mark its known ranks, while it is laid out
    uint32_t lowest;      // lowest known rank, likewise; its size where none is known
    uint32_t plot;        // for the patch: where it goes on
    uint32_t stale;       // first of its words in the bag of those; ESPL__NO_NODE: it has none yet
    bool is_restructured; // some link of its nodes changed, or what a link carries
    bool is_dirty;        // some placement of its nodes changed, or is seen by others now
    bool goes_on;         // its root is the root of a hierarchy to be
} espl__load;

/// A world that was computed while links are edited. It hangs below that of its node's parent, so
/// that it goes when that one goes.
typedef struct espl__kept_world {
    espl_pose world;
    uint32_t node;
    uint32_t parent, first, next, previous; // kept worlds
} espl__kept_world;

/// Part of a layout: ranks that follow one another and only move, or one node by itself.
typedef struct espl__piece {
    uint32_t node;     // the one node; ESPL__NO_NODE: ranks of a load
    uint32_t load;     // ranks: of this one; a node: its load, or ESPL__NO_NODE
    uint32_t rank;     // first one, as it is in the forest; of a made node: ESPL__NO_NODE
    uint32_t count;    // at least 1
    uint32_t position; // rank to be of the first one
    uint32_t parents;  // ranks: added to their parents' ranks; a node: its parent's rank to be
    uint32_t firsts;   // ranks: added to the ranks of first children; a node: that of its own
    uint32_t above;    // piece of the parents, ESPL__NO_NODE: none, or unchanged
    uint32_t worlds;   // first of the new worlds; ESPL__NO_NODE: as in the forest
} espl__piece;

/// One hierarchy of the layout.
typedef struct espl__laid {
    uint32_t root;        // node
    uint32_t load;        // whose run it goes on in, or ESPL__NO_NODE
    uint32_t begin, end;  // pieces, in rank order
    uint32_t size;        // nodes
    uint32_t entrants;    // of these, not in that run now
    bool is_restructured; // links differ; else only worlds
} espl__laid;

typedef struct espl__sketch {
    const espl__forest *forest;
    espl__heap *heap;
    // Shared with the other sketches of a playback, each of which has its own runs: by slot, one more
    // than the number of the known node, and by run, one more than its load.
    uint32_t *marks;
    const uint32_t *run_marks;
    espl__load *loads;
    // Bags.
    espl__bag known;        // espl__node; number 0 stands for whatever found no memory
    espl__bag made;         // espl__node
    espl__bag written;      // espl__placement
    espl__bag noted;        // nodes that moved, died, were replaced or reset: their rows may change
    espl__bag list;         // scratch of walks: nodes
    espl__bag pieces;       // of the layout
    espl__bag laid;         // hierarchies of the layout
    espl__bag worlds;       // espl_pose: new ones of the layout
    espl__bag bits;         // uint64_t: known ranks by load, while it is laid out
    espl__bag stale;        // uint64_t: by load, two for each 64 ranks (sketch_worlds.c)
    espl__bag kept;         // espl__kept_world
    espl__bag watched;      // nodes that were touched, while it is watched
    size_t changed_count;   // laid out: nodes whose world differs
    uint64_t climbed;       // steps of questions whether a node is below another one; for tests
    uint64_t risen;         // steps up to worlds that are known; for tests
    uint64_t looked;        // worlds that were looked at edit by edit; for tests
    double stretch;         // growth by the widest stretch that a node was given, in powers of two
    espl__placement before; // while it is watched: what the last write took the place of
    uint32_t rewritten;     // the node of that
    uint32_t watched_made;  // nodes that were made before the edit that is watched
    uint32_t unused_kept;   // first of the kept worlds that were given back, by `next`
    bool is_watched;        // what is touched is listed
    bool may_hide;          // a later edit may hide the overflow of an earlier one
    bool is_touched;        // some node of the forest has another world perhaps
    bool is_restructured;   // some link changed, a placement came or went, or ghosts were dropped
    bool is_failed;         // no memory
} espl__sketch;

/// What a sketch begins with; more is taken when it is needed.
typedef struct espl__sketch_room {
    size_t known, made, written, noted, list, pieces, laid, worlds, bits, stale, kept, watched;
} espl__sketch_room;

/// Bytes of slices of a room.
size_t espl__sketch_size(const espl__sketch_room *room);
/// Set up an empty sketch with its slices in a block of that size, aligned to 64. Its fields before
/// the bags are the caller's.
void espl__sketch_begin(espl__sketch *sketch, const espl__sketch_room *room, void *block);
/// Forget all nodes and their marks, keep the memory.
void espl__sketch_clear(espl__sketch *sketch);
/// The same, and give back what the sketch outgrew its slices with.
void espl__sketch_drop(espl__sketch *sketch);
static inline bool espl__sketch_has_failed(const espl__sketch *sketch)
{
    return sketch->is_failed;
}

/// Begin with a load: its ghosts are spliced out. O(1) where there are none.
void espl__sketch_load(espl__sketch *sketch, uint32_t load);

// --- Nodes ---

/// Bring a node of the forest into being. @return its number among the known ones.
uint32_t espl__sketch_know(espl__sketch *sketch, uint32_t slot);

/// A node, to be read or changed; the pointer holds until the next call on the sketch.
static inline espl__node *espl__sketch_at(const espl__sketch *sketch, uint32_t node)
{
    if ((node & ESPL__MADE) != 0) {
        return (espl__node *)sketch->made.items + (node & ~ESPL__MADE);
    }
    const uint32_t mark = sketch->marks[node];
    // What is known of a node is a copy of the forest: to ask for it changes nothing.
    const uint32_t number =
        mark != 0 ? mark - 1 : espl__sketch_know((espl__sketch *)(uintptr_t)sketch, node);

    return (espl__node *)sketch->known.items + number;
}

static inline bool espl__sketch_is_made(uint32_t node)
{
    return (node & ESPL__MADE) != 0;
}

/// Tell whether a node was asked for or made.
static inline bool espl__sketch_is_known(const espl__sketch *sketch, uint32_t node)
{
    return espl__sketch_is_made(node) || sketch->marks[node] != 0;
}

/// The parent of a node, without asking for a node that nobody asked for yet.
uint32_t espl__sketch_parent(const espl__sketch *sketch, uint32_t node);
/// A node as it stands, likewise.
espl__node espl__sketch_peek(const espl__sketch *sketch, uint32_t node);

/// Make room for nodes to be made. @return false where there is no memory.
bool espl__sketch_reserve_made(espl__sketch *sketch, size_t more);
/// Make room for placements to be written. @return false where there is no memory.
bool espl__sketch_reserve_written(espl__sketch *sketch, size_t more);
/// Append a placement for a node that is to be made; reserved. @return its number, for `written`.
uint32_t espl__sketch_keep(espl__sketch *sketch, const espl__placement *placement);
/// Append a made node without links; reserved.
uint32_t espl__sketch_add(espl__sketch *sketch, const espl__node *node);
/// The number that the next made node will have.
static inline uint32_t espl__sketch_made_end(const espl__sketch *sketch)
{
    return ESPL__MADE | sketch->made.count;
}
/// Append a node to the list of a walk, which is empty between commands.
void espl__sketch_list(espl__sketch *sketch, uint32_t node);
static inline uint32_t espl__sketch_listed(const espl__sketch *sketch, uint32_t at)
{
    return ((const uint32_t *)sketch->list.items)[at];
}

/// The i-th noted node.
static inline uint32_t espl__sketch_noted(const espl__sketch *sketch, uint32_t i)
{
    return ((const uint32_t *)sketch->noted.items)[i];
}

// --- Links (links.c) ---

void espl__sketch_unlink(espl__sketch *sketch, uint32_t node);
/// Hang a node without parent under a parent, before a child of it or last (ESPL__NO_NODE).
void espl__sketch_link(espl__sketch *sketch, uint32_t node, uint32_t parent, uint32_t before);
/// Take a node out; its children take its place, or become roots where it has no parent.
void espl__sketch_splice(espl__sketch *sketch, uint32_t node);
/// Tell whether a node is the other one or below it. O(depth of the one, nodes below the other),
/// whichever is less.
bool espl__sketch_is_below(espl__sketch *sketch, uint32_t node, uint32_t above);
/// The next node of a preorder walk below `top`, without asking for a node that nobody asked for yet.
/// ESPL__NO_NODE at the end.
uint32_t espl__sketch_look_below(const espl__sketch *sketch, uint32_t node, uint32_t top);
/// The next one of a walk that descends only where told. ESPL__NO_NODE at the end.
uint32_t espl__sketch_next(const espl__sketch *sketch, uint32_t node, uint32_t top, bool descend);
/// Say that what a node's link carries changed, or that its placement came or went.
void espl__sketch_restructure(espl__sketch *sketch, uint32_t node);

/// Set ESPL__NODE_MOVED, _DEAD, _REPLACED or _RESET on a node and keep it in the list of those.
void espl__sketch_note(espl__sketch *sketch, uint32_t node, uint32_t flag);

// --- Transforms ---

espl_pose espl__sketch_local(const espl__sketch *sketch, uint32_t node);
/// What is stored of a node; of one that copies its parent, with the extra that it shows.
espl__placement espl__sketch_placement(const espl__sketch *sketch, uint32_t node);
/// The extra that children see: what copies its parent shows the parent's.
espl__extra espl__sketch_extra(const espl__sketch *sketch, uint32_t node);
/// Give a node a placement; room for one more written one was reserved.
void espl__sketch_write(espl__sketch *sketch, uint32_t node, const espl__placement *placement);
/// ESPL__NODE_ flags that go with inherit flags.
uint32_t espl__node_flags_of(uint32_t kept_flags);
/// Tell whether a node's placement follows its parent as a copy.
bool espl__sketch_copies(const espl__sketch *sketch, uint32_t node);
/// World that follows for a node from its parent's, NULL for none; without asking for the node.
espl_pose espl__sketch_world_below(const espl__sketch *sketch, uint32_t node, const espl_pose *up);

// --- Worlds at any moment (sketch_worlds.c) ---

/// Say that a node's local or parent changed.
void espl__sketch_touch(espl__sketch *sketch, uint32_t node);
/// The world of a node. Where none was asked for since it changed: O(nodes above it that changed too).
espl_pose espl__sketch_world(espl__sketch *sketch, uint32_t node);

// --- Layout (layout.c) ---

/// Lay out the hierarchies that differ, each breadth-first, and compute the worlds that differ. First
/// those that go on in their runs, in order of `loads`; then roots that were members; then made ones.
/// @param loads  [count] of the sketch. @return false where a world is not finite, or no memory.
bool espl__sketch_lay_out(espl__sketch *sketch, const uint32_t *loads, size_t count);
static inline const espl__laid *espl__sketch_laid(const espl__sketch *sketch, size_t i)
{
    return (const espl__laid *)sketch->laid.items + i;
}
static inline const espl__piece *espl__sketch_piece(const espl__sketch *sketch, size_t i)
{
    return (const espl__piece *)sketch->pieces.items + i;
}
/// The placement that a node was given.
static inline const espl__placement *espl__node_written(const espl__sketch *sketch,
                                                        const espl__node *node)
{
    return (const espl__placement *)sketch->written.items + node->written;
}
/// The new world of a node that has one.
static inline const espl_pose *espl__node_world(const espl__sketch *sketch, const espl__node *node)
{
    return (const espl_pose *)sketch->worlds.items + node->world;
}
/// Words of a run of a size in the bits of a layout.
static inline size_t espl__sketch_words(uint32_t size)
{
    return size / 64 + 1;
}
/// The i-th node of a piece.
static inline uint32_t espl__piece_node(const espl__sketch *sketch, const espl__piece *piece,
                                        uint32_t i)
{
    if (piece->node != ESPL__NO_NODE) {
        return piece->node;
    }
    const espl__run *const run = &sketch->forest->runs[sketch->loads[piece->load].run];

    return sketch->forest->order[run->base + piece->rank + i];
}
/// Tell whether a piece is in the run that its hierarchy goes on in.
static inline bool espl__piece_is_resident(const espl__piece *piece, const espl__laid *laid)
{
    return piece->load == laid->load && laid->load != ESPL__NO_NODE;
}
/// Tell whether a piece is there and has the ranks that it had.
static inline bool espl__piece_stays(const espl__piece *piece, const espl__laid *laid)
{
    return espl__piece_is_resident(piece, laid) && piece->position == piece->rank;
}
/// The new world of a piece's i-th node, which has one.
static inline const espl_pose *espl__piece_world(const espl__sketch *sketch,
                                                 const espl__piece *piece, uint32_t i)
{
    return (const espl_pose *)sketch->worlds.items + piece->worlds + i;
}

// --- Worlds that stay in range (sketch_range.c) ---

/// Note a placement that a node has or had.
void espl__sketch_widen(espl__sketch *sketch, espl__node *node, const espl__placement *placement);
/// Tell whether no world can have overflowed between the edits, whatever was linked to what, by a
/// bound over all placements that are and were. O(nodes of the loads).
bool espl__sketch_is_tame(const espl__sketch *sketch, const uint32_t *loads, size_t count);
/// From here on look at the worlds that edits change; all are finite now.
void espl__sketch_watch(espl__sketch *sketch);
/// Say that a node was touched while the sketch is watched.
void espl__sketch_watch_node(espl__sketch *sketch, uint32_t node);
/// Tell whether all worlds are finite behind an edit, which goes on to the next; true where the sketch
/// has failed. O(nodes at and below what it touched or made).
bool espl__sketch_stayed_finite(espl__sketch *sketch);
/// Take back the only write of an edit. What is laid out may differ no longer, and is told to differ.
void espl__sketch_take_back(espl__sketch *sketch);

// --- Keeping worlds ---

/// Local that keeps `world` where it is under a new parent, as it is seen from there.
/// @return false where that is not exact and finite; out is not written then.
bool espl__rebased_exactly(espl_pose *out, const espl_pose *parent, const float *stretch,
                           const espl_pose *world);
/// Local that keeps `world` where it is under a new parent, for a destroy: seen from the parent;
/// where that is not exact and finite, the composed local; where that is not finite, the identity.
espl_pose espl__rebased(const espl_pose *parent, const float *stretch, const espl_pose *world,
                        const espl_pose *composed);

#endif
