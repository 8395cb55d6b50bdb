// SPDX-License-Identifier: MIT
// A scratch copy of the links of some hierarchies, to be edited in command order and then laid out
// in breadth-first order again: the one algorithm of structural change. Reads the forest, never
// writes it.
//
// Worlds are answered at any moment of the editing, with the bits that the forest would hold had
// each edit been carried out and propagated by itself: a world is a pure function of the locals.
#ifndef ESPALIER_LIB_TREE_SKETCH_H
#define ESPALIER_LIB_TREE_SKETCH_H

#include "lib/tree/forest.h"

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
    ESPL__NODE_CHANGED = 256,    ///< laid out: its world differs, worlds[node] is final
    ESPL__NODE_NOTED = 512,      ///< stands in the list of noted nodes
    ESPL__NODE_KEEPS = 1024,     ///< has inherit flags
    ESPL__NODE_COPIES = 2048,    ///< of these, ESPL_COPY_PARENT
    ESPL__NODE_REPLACED = 4096,  ///< its placement came or went
    ESPL__NODE_LOST = 8192,      ///< dead clone that living ones name
};

typedef struct espl__node {
    uint32_t parent, first, last, next, previous; // nodes
    uint32_t slot;                                // in the forest; a clone's: of its original
    // Index; ESPL__NO_ENTITY for a ghost. Of an unnamed clone: the node it was cloned from, or
    // ESPL__NO_NODE where that was none.
    uint32_t entity;
    uint32_t written; // of the written placements, or ESPL__NO_NODE: as in the forest
    uint32_t stamp;   // worlds[node] holds while this equals the sketch's
    uint32_t source;  // clone: entity index whose row it copies
    uint32_t values;  // clone: of the plan's value chains, or ESPL__NO_NODE
    uint32_t flags;
} espl__node;

_Static_assert(sizeof(espl__node) == 48, "node: 12 words");

/// One hierarchy of the layout: order[begin .. begin + size).
typedef struct espl__laid {
    uint32_t begin, size;
    // Nodes [resident_begin, resident_end) were in the run that the hierarchy goes on in; equal
    // where it goes on in none. The others are entrants.
    uint32_t resident_begin, resident_end;
    uint32_t entrants;
} espl__laid;

typedef struct espl__sketch {
    const espl__forest *forest;
    espl__heap *heap;
    // [capacity] each; slices of one big block, or a block of the sketch's own once it outgrew it.
    espl__node *nodes;
    espl_pose *worlds;        // by node
    uint32_t *order;          // laid out: node by position
    uint32_t *parent;         // rank of the parent by position
    uint32_t *first;          // rank of the first child by position
    uint32_t *path;           // scratch of walks
    uint32_t *noted;          // [noted_count] nodes that moved, died, were replaced: their rows may
    espl__laid *laid;         // hierarchies of the layout
    espl__placement *written; // [written_capacity]
    size_t capacity, written_capacity;
    size_t count, written_count, laid_count, noted_count;
    size_t changed_count;          // laid out: nodes whose world differs
    void *own_block, *own_written; // NULL while the slices serve
    uint32_t stamp;
    // How far worlds can reach at any moment of the editing, whatever is linked to what: they stay
    // below 2^growth in scale and reach * 2^growth in position. Written values count as they come.
    double reach;
    uint64_t growth;
    bool may_hide;        // a later edit may hide the overflow of an earlier one
    bool is_touched;      // some local or link changed
    bool is_restructured; // some link changed, a placement came or went, or ghosts were dropped
} espl__sketch;

/// Bytes of all arrays for a capacity, but for `written`.
size_t espl__sketch_size(size_t capacity);
/// Point the arrays into a block of espl__sketch_size(capacity), aligned to 64.
void espl__sketch_use(espl__sketch *sketch, void *block, size_t capacity);
/// Forget all nodes, keep the memory.
void espl__sketch_clear(espl__sketch *sketch);
/// Give back what the sketch outgrew its slices with.
void espl__sketch_drop(espl__sketch *sketch);
bool espl__sketch_reserve_nodes(espl__sketch *sketch, size_t more);
bool espl__sketch_reserve_written(espl__sketch *sketch, size_t more);

/// Copy a run's links; reserved. Rank r becomes node (answer + r); ghosts are spliced out.
uint32_t espl__sketch_load(espl__sketch *sketch, uint32_t run);
/// Append a node without links; reserved.
uint32_t espl__sketch_add(espl__sketch *sketch, const espl__node *node);

// --- Links ---

void espl__sketch_unlink(espl__sketch *sketch, uint32_t node);
/// Hang a node without parent under a parent, before a child of it or last (ESPL__NO_NODE).
void espl__sketch_link(espl__sketch *sketch, uint32_t node, uint32_t parent, uint32_t before);
/// Take a node out; its children take its place, or become roots where it has no parent.
void espl__sketch_splice(espl__sketch *sketch, uint32_t node);
/// Tell whether a node is the other one or below it. O(depth).
bool espl__sketch_is_below(const espl__sketch *sketch, uint32_t node, uint32_t above);
/// The next node of a preorder walk below `top`; descends only where told. ESPL__NO_NODE at the end.
uint32_t espl__sketch_next(const espl__sketch *sketch, uint32_t node, uint32_t top, bool descend);

/// Set ESPL__NODE_MOVED, _DEAD or _REPLACED on a node and keep it in the list of those.
void espl__sketch_note(espl__sketch *sketch, uint32_t node, uint32_t flag);

// --- Transforms ---

espl_pose espl__sketch_local(const espl__sketch *sketch, uint32_t node);
/// What is stored of a node; of one that copies its parent, with the extra that it shows.
espl__placement espl__sketch_placement(const espl__sketch *sketch, uint32_t node);
/// The extra that children see: what copies its parent shows the parent's.
espl__extra espl__sketch_extra(const espl__sketch *sketch, uint32_t node);
espl_pose espl__sketch_world(espl__sketch *sketch, uint32_t node);
/// Give a node a placement; room for one more written one was reserved.
void espl__sketch_write(espl__sketch *sketch, uint32_t node, const espl__placement *placement);
/// ESPL__NODE_ flags that go with inherit flags.
uint32_t espl__node_flags_of(uint32_t kept_flags);
/// Tell whether a node's placement follows its parent as a copy.
static inline bool espl__sketch_copies(const espl__sketch *sketch, uint32_t node)
{
    return (sketch->nodes[node].flags & (ESPL__NODE_PASS | ESPL__NODE_COPIES)) != 0;
}
/// Say that a node's local or parent changed.
void espl__sketch_touch(espl__sketch *sketch, uint32_t node);

// --- Layout ---

/// Lay all living nodes out, hierarchy by hierarchy in order of their roots' numbers, each
/// breadth-first, and compute the worlds that differ. O(nodes).
/// @return false where a world is not finite.
bool espl__sketch_lay_out(espl__sketch *sketch);

/// Tell whether no world can have overflowed between the edits, by a bound over all locals that
/// are and were. O(nodes).
bool espl__sketch_is_tame(const espl__sketch *sketch);

/// Local that keeps `world` where it is under a new parent, as it is seen from there.
/// @return false where that is not exact and finite; out is not written then.
bool espl__rebased_exactly(espl_pose *out, const espl_pose *parent, const float *stretch,
                           const espl_pose *world);
/// Local that keeps `world` where it is under a new parent, for a destroy: seen from the parent;
/// where that is not exact and finite, the composed local; where that is not finite, the identity.
espl_pose espl__rebased(const espl_pose *parent, const float *stretch, const espl_pose *world,
                        const espl_pose *composed);

#endif
