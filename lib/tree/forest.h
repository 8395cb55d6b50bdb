// SPDX-License-Identifier: MIT
// Trees and the pool of slots that they share. Each tree owns one contiguous range of slots, its root
// first. Links between slots are the truth about a tree; the order of its slots has two grades:
// a parent's slot is always below the slots of its children, and a tree that is laid out
// (ESPL__TREE_IN_ORDER) has its nodes in breadth-first order without holes.
//
// Knows entity indices as numbers only.
#ifndef ESPALIER_LIB_TREE_FOREST_H
#define ESPALIER_LIB_TREE_FOREST_H

#include "lib/math/kernels.h"
#include "lib/tree/placement.h"
#include "lib/tree/side.h"

#include <espalier/jobs.h>

#define ESPL__NO_SLOT UINT32_MAX
#define ESPL__NO_TREE UINT32_MAX
#define ESPL__NO_ENTITY UINT32_MAX

/// Bit of links.entity: the node was made by the playback under way and has no entity index yet. The
/// other bits are its number among the nodes that its part of the playback made.
#define ESPL__MADE UINT32_C(0x80000000)

/// Flags of a slot.
enum {
    ESPL__SLOT_FREE_LINK = 1,    ///< a member that outlives its parent
    ESPL__SLOT_BARE = 2,         ///< no transform of its own: its world is a copy of the parent's
    ESPL__SLOT_SIDE = 4,         ///< its tree has side arrays; the same for all nodes of a tree
    ESPL__SLOT_KEEPS = 8,        ///< has inherit flags, in the side arrays
    ESPL__SLOT_EXCEPTIONAL = 16, ///< not world = parent's world * local; see espl__slot_is_exceptional
    ESPL__SLOT_MOVED = 32, ///< only inside an edit: the subtree has to move to another range
    ESPL__SLOT_MARK = 64,  ///< visited flag of the operation under way
    ESPL__SLOT_STALE = 128, ///< only inside an edit: worlds below this node are out of date
};

/// Flags of a tree.
enum {
    ESPL__TREE_IN_ORDER = 1,  ///< slots are the breadth-first order, without holes
    ESPL__TREE_UNSETTLED = 2, ///< in the list of trees that the next structural call looks at
    ESPL__TREE_DUE = 4,       ///< a job found that its layout debt is due; not in the list yet
};

/// Links of one node: 16 bytes, so that a node's links are in one cache line. A hole has
/// ESPL__NO_ENTITY, and `next` is the next hole of its tree.
typedef struct espl__links {
    uint32_t first_child; // ESPL__NO_SLOT for a leaf
    uint32_t next;        // next sibling, or ESPL__NO_SLOT
    uint32_t previous;    // previous sibling; of a first child: the last child of its parent
    uint32_t entity;      // index; ESPL__MADE | number; ESPL__NO_ENTITY for a hole or a dead node
} espl__links;

_Static_assert(sizeof(espl__links) == 16, "links: four words");

/// A tree and its range of slots [base, base + capacity). Slots [base, base + used) hold nodes and
/// holes. Normally the range has one root, at base. After a destroy that found no memory it may hold
/// several trees (roots > 1, or no node at base) until it is settled.
typedef struct espl__tree {
    uint32_t base, capacity; // capacity 0: the header is free
    uint32_t used;           // slots from base on that are nodes or holes
    uint32_t live;           // nodes
    uint32_t hole;           // first hole, or ESPL__NO_SLOT
    uint32_t roots;          // nodes without a parent
    uint32_t exceptional;    // nodes with ESPL__SLOT_EXCEPTIONAL
    uint32_t debt;           // layout debt: nodes visited more than a laid-out tree would
    uint32_t moved;          // only inside an edit: nodes with ESPL__SLOT_MOVED
    uint32_t incoming;       // only inside an edit: nodes in other ranges that have to come here
    uint32_t flags;
    uint32_t next;     // next unsettled tree, or next free header
    uint32_t previous; // previous unsettled tree
    uint32_t mark;     // for the layer above while a playback runs; else 0
    espl__side *side;  // by slot - base; NULL: the default for every node
} espl__tree;

_Static_assert(sizeof(espl__tree) == 64 || sizeof(void *) != 8, "tree: one cache line");

enum { ESPL__SIZE_CLASSES = 256 };

/// Counts of what writes and edits did.
typedef struct espl__counts {
    uint64_t nodes_visited, writes, writes_skipped;
    uint64_t nodes_skipped; // nodes whose world stayed bit-equal, so that nothing below was visited
    uint64_t worlds_kept;   // of these: the nodes that were written
    uint64_t overflowed; // worlds that were recomputed and are not finite
    uint64_t debt;       // layout debt that was added to trees
} espl__counts;

static inline void espl__counts_add(espl__counts *to, const espl__counts *more)
{
    to->nodes_visited += more->nodes_visited;
    to->nodes_skipped += more->nodes_skipped;
    to->writes += more->writes;
    to->writes_skipped += more->writes_skipped;
    to->overflowed += more->overflowed;
    to->debt += more->debt;
}

/// Workers that one large propagation may be divided over; {0}: the calling thread does all.
typedef struct espl__workers {
    const espl_executor *executor;
    const espl_hooks *hooks;
    bool *is_closed; // true while they work: structural calls are refused then
} espl__workers;

/// Parallel execution context of writes: where they are counted, and who helps. Each job that writes
/// has one of its own, without workers.
typedef struct espl__context {
    espl__counts counts;
    espl__workers workers;
    struct espl__waiting *waiting; // small trees that are recomputed together; NULL: each at once
    bool is_job;            // one of several at work: takes no memory and gives none back
    bool has_sides_to_drop; // a job's: some side arrays may be needed no longer
    bool has_due;           // a job's: the layout debt of some tree is due (ESPL__TREE_DUE)
} espl__context;

/// Nodes for which another worker is woken: some 17 microseconds of propagation in cache.
enum { ESPL__GRAIN = 8192 };

typedef struct espl__forest {
    espl__heap *heap;

    // One block, cut into arrays by use, by slot.
    espl_pose *local, *world;
    uint32_t *parent; // slot; ESPL__NO_SLOT for a root; of a hole: base of its range
    uint32_t *tree;   // ESPL__NO_TREE at both ends of a free range
    espl__links *links; // of a free range, at both ends: first_child is its length; at its base: next
                        // and previous are the neighbours in the list of its size class
    uint8_t *flags;
    void *block;
    size_t block_size;
    uint32_t capacity;          // slots there is memory for
    uint32_t end;               // slots [0, end) belong to trees and free ranges
    uint32_t floor, tree_floor; // capacities that the user asked for, kept until a compaction

    espl__tree *trees;
    uint32_t tree_capacity, tree_end, free_tree;
    uint32_t free_heads[ESPL__SIZE_CLASSES]; // free ranges by size class
    uint64_t free_bits[ESPL__SIZE_CLASSES / 64];
    uint32_t free_slots;

    uint32_t unsettled; // first tree of that list, or ESPL__NO_TREE
    uint32_t nursery;   // header of the range for new nodes while an edit is under way, or NO_TREE
    bool is_edited; // a playback is under way: worlds may be out of date, nodes in other ranges
    const espl__kernels *kernels;
    uint32_t grain; // nodes of a piece at least: ESPL__GRAIN, but for tests
    espl__context context;              // of immediate calls; counts since the world was made
    uint64_t layouts, nodes_laid_out;   // since the world was made
} espl__forest;

/// Called with a context for each entity whose slot changed.
typedef void (*espl__moved_function)(void *context, uint32_t entity, uint32_t slot);

// --- pool.c: ranges of slots, and headers ---

void espl__forest_init(espl__forest *forest, espl__heap *heap);
void espl__forest_free(espl__forest *forest);
/// Make sure that ranges with `slots` slots in all and `trees` headers can be taken.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT.
espl_status espl__forest_reserve(espl__forest *forest, size_t slots, size_t trees);
/// Give an empty forest memory for exactly that many. @return false: no memory.
bool espl__forest_make_room(espl__forest *forest, uint32_t slots, uint32_t trees);
/// espl__forest_reserve(), and keep the room until a compaction.
espl_status espl__forest_prepay(espl__forest *forest, size_t slots, size_t trees);
/// Take a header without slots. Reserved.
uint32_t espl__tree_take(espl__forest *forest);
/// Give a header back; its range and side arrays were given back or handed on.
void espl__tree_give(espl__forest *forest, uint32_t tree);
/// Forget the headers of a forest in which no tree is left: it is as good as new, with the memory it has.
void espl__headers_forget(espl__forest *forest);
/// Give a tree back with its range and side arrays.
void espl__tree_release(espl__forest *forest, uint32_t tree);
/// Take a range of slots: the best fit of its size class, else the end of the pool. Reserved.
/// Depends on the calls made so far alone.
uint32_t espl__range_take(espl__forest *forest, uint32_t count);
void espl__range_give(espl__forest *forest, uint32_t base, uint32_t count);
/// Make a tree of one node with the identity transform. Reserved. @return its slot.
uint32_t espl__solo_make(espl__forest *forest, uint32_t entity, bool has_transform);
void espl__tree_mark_unsettled(espl__forest *forest, uint32_t tree);
void espl__tree_unmark_unsettled(espl__forest *forest, uint32_t tree);
/// Sort the list of unsettled trees by number, because the order in which they were marked may depend on
/// how work was divided among jobs, and the order in which they are laid out decides their slots.
void espl__sort_unsettled(espl__forest *forest);
/// NULL, or the first broken rule of the pool's own books. O(slots).
const char *espl__pool_broken_rule(const espl__forest *forest);

/// Slots of a tree that outgrew its range: half as many to spare for small trees, a sixteenth for
/// large ones, because the amortised cost of a layout falls with the spare part.
static inline uint32_t espl__tree_room(uint32_t live)
{
    const uint32_t spare = live < 64 ? live / 2 : live < 4096 ? live / 4 : live / 16;

    return live + (spare != 0 ? spare : 1);
}

// --- nodes.c: slots and links of one tree ---

/// Take a slot above `above` in a tree: one of its first holes where one is high enough, else the next slot
/// behind the used ones. The slot's parent, links and flags are for the caller to write.
/// @param after  out: see espl__hole_take(); ESPL__NO_SLOT - 1 for a slot that was no hole
/// @return ESPL__NO_SLOT where the range has no such slot.
uint32_t espl__slot_take(espl__forest *forest, uint32_t tree, uint32_t above, uint32_t *after);
/// Make a slot a hole of its tree, or shorten `used` where it is the last one. The node is unlinked
/// and has no children. Counts (live, roots, exceptional, side entries) are kept.
void espl__slot_free(espl__forest *forest, uint32_t slot);
/// Connect a node without parent to a parent, before one of its children or last. Clears
/// ESPL__TREE_IN_ORDER unless the order still holds. Sets ESPL__SLOT_EXCEPTIONAL anew.
void espl__node_link(espl__forest *forest, uint32_t slot, uint32_t parent, uint32_t before);
/// Disconnect a node from its parent: it is a root then, in the range where it is.
void espl__node_unlink(espl__forest *forest, uint32_t slot);
/// Set ESPL__SLOT_EXCEPTIONAL of a slot as its flags and its parent ask for.
void espl__node_update_exceptional(espl__forest *forest, uint32_t slot);
/// The same for all children of a slot: its own stretch, as children see it, changed.
void espl__children_update_exceptional(espl__forest *forest, uint32_t slot);

// --- slots.c: what is stored of one node ---

/// Store a placement; the world is not touched. Its tree has the side arrays that it needs. Keeps the
/// counts of the side arrays, ESPL__SLOT_KEEPS, and ESPL__SLOT_EXCEPTIONAL of the node and, where
/// the stretch that they see changed, of its children.
void espl__slot_place(espl__forest *forest, uint32_t slot, const espl__placement *placement);
/// Set or clear ESPL__SLOT_BARE. Keeps the counts of the side arrays and ESPL__SLOT_EXCEPTIONAL.
void espl__slot_set_bare(espl__forest *forest, uint32_t slot, bool is_bare);
/// Give a tree side arrays, or ones with room for inherit flags too.
/// @return false where there is no memory; nothing changed then.
bool espl__tree_add_side(espl__forest *forest, uint32_t tree, bool keeps);
/// Give a tree side arrays that were made for its capacity, in place of those it has, whose content
/// goes along.
void espl__tree_set_side(espl__forest *forest, uint32_t tree, espl__side *side);
/// Give the side arrays of a tree back if nothing in them differs from the default and nobody asked
/// for them ahead of time. O(used) when it does.
void espl__tree_drop_side(espl__forest *forest, uint32_t tree);
/// Tell whether a tree can hold a placement without new side arrays.
static inline bool espl__tree_can_hold(const espl__tree *tree, const espl__placement *placement)
{
    if (!espl__placement_needs_side(placement)) {
        return true;
    }
    return tree->side != NULL && (placement->kept.flags == 0 || tree->side->kept != NULL);
}

// --- layout.c ---

/// What laying a tree out costs, against a visit of one node.
enum { ESPL__LAYOUT_COST = 8 };

/// Add layout debt to a tree: nodes that a write visited, or holes that it passed, more than it would
/// in a tree that is laid out. The tree is marked unsettled when the debt reaches the cost of its
/// layout; by a job it gets ESPL__TREE_DUE instead.
void espl__tree_owe(espl__forest *forest, espl__context *context, uint32_t tree, uint32_t amount);
/// Tell whether the layout debt of a tree is due.
static inline bool espl__tree_is_due(const espl__tree *tree)
{
    return (tree->flags & ESPL__TREE_IN_ORDER) == 0 &&
           tree->debt / ESPL__LAYOUT_COST >= tree->live;
}
/// Lay a tree with one root out breadth-first in another range, which was taken; its old range is
/// given back. Side arrays of the new capacity were made where the tree has some.
/// @param root  slot of the root; every live node of the tree is below it.
void espl__tree_lay_out(espl__forest *forest, uint32_t tree, uint32_t root, uint32_t base,
                        uint32_t capacity, espl__side *side, espl__moved_function moved,
                        void *context);
/// Lay a tree out now. @return false where there is no memory; nothing changed then.
bool espl__tree_compact(espl__forest *forest, uint32_t tree, espl__moved_function moved,
                        void *context);
/// Tell whether more than a third of a pool worth the work is free.
bool espl__forest_wants_pack(const espl__forest *forest);
/// Move all trees into one block that fits them, each laid out, and renumber them.
/// @param is_tight  no room to spare, and needless side arrays go too, prepaid ones included.
/// @return false where there is no memory; nothing changed then. O(slots).
bool espl__forest_pack(espl__forest *forest, bool is_tight, espl__moved_function moved,
                       void *context);

// --- navigate.c: slots, or ESPL__NO_SLOT ---

uint32_t espl__root_of(const espl__forest *forest, uint32_t slot);
uint32_t espl__last_child(const espl__forest *forest, uint32_t slot);
uint32_t espl__next_sibling(const espl__forest *forest, uint32_t slot);
uint32_t espl__previous_sibling(const espl__forest *forest, uint32_t slot);
size_t espl__count_children(const espl__forest *forest, uint32_t slot);
/// The n-th child. O(1) in a tree that is laid out, else O(n).
uint32_t espl__child_at(const espl__forest *forest, uint32_t slot, size_t n);
uint32_t espl__depth_of(const espl__forest *forest, uint32_t slot);
size_t espl__count_below(const espl__forest *forest, uint32_t slot);
/// Count what is reached through owned links only.
size_t espl__count_owned(const espl__forest *forest, uint32_t slot);
/// The node behind a slot in a walk over what is below `top`, parents first and siblings in order
/// (depth-first), through the slot's own children where `enters`.
static inline uint32_t espl__next_in_walk(const espl__forest *forest, uint32_t slot, uint32_t top,
                                          bool enters)
{
    if (enters && forest->links[slot].first_child != ESPL__NO_SLOT) {
        return forest->links[slot].first_child;
    }
    // Climb to the next ancestor that has a sibling behind it. A whole walk climbs each link once.
    while (slot != top && forest->links[slot].next == ESPL__NO_SLOT) {
        slot = forest->parent[slot];
    }
    return slot == top ? ESPL__NO_SLOT : forest->links[slot].next;
}

// --- validate.c ---

/// Bytes of the blocks that a forest holds: the pool, the headers and the side arrays. O(trees).
size_t espl__forest_bytes(const espl__forest *forest);
/// NULL, or the first broken invariant of trees, links and transforms as a sentence. O(size), no
/// memory.
const char *espl__forest_broken_rule(const espl__forest *forest, uint32_t *slot, size_t *detail);
/// Count the worlds that are not finite. O(size).
size_t espl__count_overflowed(const espl__forest *forest);

// --- Accessors ---

static inline espl__tree *espl__tree_of(const espl__forest *forest, uint32_t slot)
{
    return &forest->trees[forest->tree[slot]];
}

static inline bool espl__slot_is(const espl__forest *forest, uint32_t slot, unsigned flag)
{
    return (forest->flags[slot] & flag) != 0;
}

static inline bool espl__is_root(const espl__forest *forest, uint32_t slot)
{
    return forest->parent[slot] == ESPL__NO_SLOT;
}

/// What is stored beside the pose. For a node that copies its parent the stretch is the one that it
/// shows.
static inline espl__extra espl__slot_extra(const espl__forest *forest, uint32_t slot)
{
    // The flag saves a read of the tree where there is none, which is nearly everywhere.
    if ((forest->flags[slot] & ESPL__SLOT_SIDE) == 0) {
        return espl__extra_default();
    }
    const espl__tree *const tree = espl__tree_of(forest, slot);

    return tree->side->extra[slot - tree->base];
}

static inline espl__kept espl__slot_kept(const espl__forest *forest, uint32_t slot)
{
    if ((forest->flags[slot] & ESPL__SLOT_KEEPS) == 0) {
        return espl__kept_none();
    }
    const espl__tree *const tree = espl__tree_of(forest, slot);

    return tree->side->kept[slot - tree->base];
}

static inline espl__placement espl__slot_placement(const espl__forest *forest, uint32_t slot)
{
    return (espl__placement){forest->local[slot], espl__slot_kept(forest, slot),
                             espl__slot_extra(forest, slot)};
}

/// What children of a slot see.
static inline espl__frame espl__slot_frame(const espl__forest *forest, uint32_t slot)
{
    return (espl__frame){forest->world[slot], espl__slot_extra(forest, slot)};
}

/// Tell whether a slot follows its parent as a copy: no transform of its own, or the flag for it.
static inline bool espl__slot_copies(const espl__forest *forest, uint32_t slot)
{
    return espl__slot_is(forest, slot, ESPL__SLOT_BARE) ||
           (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) &&
            (espl__slot_kept(forest, slot).flags & ESPL_COPY_PARENT) != 0);
}

/// Tell whether a slot keeps all of its world, so that nothing above changes it or what is below.
static inline bool espl__slot_keeps_world(const espl__forest *forest, uint32_t slot)
{
    enum { ALL = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE };

    return espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) &&
           (espl__slot_kept(forest, slot).flags & (ALL | ESPL_COPY_PARENT)) == ALL;
}

/// Tell whether a stretch is other than 1, 1, 1, by its bits.
static inline bool espl__is_stretched(const float stretch[3])
{
    static const float none[3] = {1, 1, 1};

    return memcmp(stretch, none, sizeof none) != 0;
}

/// Tell whether the world of a slot is anything but its parent's world times its local: it copies or
/// keeps parts, or its parent shows a stretch. What ESPL__SLOT_EXCEPTIONAL says; a root is never so.
static inline bool espl__slot_is_exceptional(const espl__forest *forest, uint32_t slot)
{
    const uint32_t parent = forest->parent[slot];

    if (parent == ESPL__NO_SLOT) {
        return false;
    }
    if (espl__slot_is(forest, slot, ESPL__SLOT_BARE | ESPL__SLOT_KEEPS)) {
        return true;
    }
    if (!espl__slot_is(forest, parent, ESPL__SLOT_SIDE)) {
        return false;
    }
    const espl__extra extra = espl__slot_extra(forest, parent);

    return espl__is_stretched(extra.stretch);
}

/// Insert a node into the list of its parent's children, before one of them or last.
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

/// Take one of the first holes of a tree out of its list: the first that is above `above`.
/// @param after  out: the hole before it in the list, or ESPL__NO_SLOT where it was the first
/// @return ESPL__NO_SLOT where none of them is.
static inline uint32_t espl__hole_take(espl__forest *forest, espl__tree *tree, uint32_t above,
                                       uint32_t *after)
{
    enum { HOLES = 8 }; // looked at
    uint32_t hole = tree->hole;

    *after = ESPL__NO_SLOT;
    for (int i = 0; i < HOLES && hole != ESPL__NO_SLOT; ++i) {
        if (hole > above) {
            *(*after == ESPL__NO_SLOT ? &tree->hole : &forest->links[*after].next) =
                forest->links[hole].next;
            return hole;
        }
        *after = hole;
        hole = forest->links[hole].next;
    }
    return ESPL__NO_SLOT;
}

/// Tell whether a tree is one tree with its root at the begin of its range, as all are but for those
/// that a destroy without memory left behind.
static inline bool espl__tree_is_single(const espl__forest *forest, const espl__tree *tree)
{
    return tree->roots == 1 && forest->parent[tree->base] == ESPL__NO_SLOT;
}

#endif
