// SPDX-License-Identifier: MIT
// The forest: all trees of a world, and the pool of slots that they share. A slot is an index into
// the arrays of the pool. Every other file of lib/tree works on the types that this header defines.
// The layers above read nodes by its accessors and change them by edit.h and writes.h.
//
// Invariants between structural calls; espl__forest_broken_rule() checks all of them:
//
// - Ranges of trees and free ranges cover slots [0, end) without gap or overlap.
// - All nodes of a tree are in the range of the tree, and its root is the first slot. The exception
//   is a range with several trees, which a destroy leaves when it finds no memory; see espl__tree.
// - The links define a tree. The slot of a parent is below the slots of its children, so that one
//   pass over ascending slots visits parents first.
// - A tree with ESPL__TREE_IN_ORDER is laid out: breadth-first order, without holes. Then all nodes
//   at one depth are consecutive, and so are the children of a node.
// - The world of a node follows from the locals bit for bit, so that an undo restores worlds by
//   recomputing them.
//
// An entity is a number here: this layer does not read entity records.
#ifndef ESPALIER_LIB_TREE_FOREST_H
#define ESPALIER_LIB_TREE_FOREST_H

#include "lib/base/array.h"
#include "lib/base/state.h"
#include "lib/math/kernels.h"
#include "lib/tree/columns.h"
#include "lib/tree/context.h"
#include "lib/tree/placement.h"
#include "lib/tree/side_arrays.h"
#include "lib/tree/tracks.h"

#include <espalier/store.h>

#include <stdatomic.h>

#define ESPL__NO_TREE UINT32_MAX
#define ESPL__NO_ENTITY UINT32_MAX

/// Bit of links.entity: the current playback made the node, which has no entity index yet. The
/// other bits are the number of the node in espl__edit.made.
#define ESPL__MADE UINT32_C(0x80000000)

/// Flags of a slot.
enum {
    ESPL__SLOT_FREE_LINK = 1,    ///< member that outlives its parent
    ESPL__SLOT_BARE = 2,         ///< no transform of its own: its world is a copy of the parent's
    ESPL__SLOT_SIDE = 4,         ///< its tree has side arrays; equal for all nodes of a tree
    ESPL__SLOT_KEEPS = 8,        ///< has inherit flags, in the side arrays
    ESPL__SLOT_EXCEPTIONAL = 16, ///< see espl__slot_is_exceptional()
    ESPL__SLOT_MOVED = 32,       ///< inside an edit: the subtree must move to other slots
    ESPL__SLOT_MARK = 64,        ///< visited flag of the current operation, which clears it
    ESPL__SLOT_STALE = 128,      ///< inside an edit: worlds below this node are out of date
};

/// Flags of a tree.
enum {
    ESPL__TREE_IN_ORDER = 1,    ///< slots are the breadth-first order, without holes
    ESPL__TREE_UNSETTLED = 2,   ///< in the list of trees that the next structural call processes
    ESPL__TREE_DUE = 4,         ///< a job found its layout debt due; not in that list yet
    ESPL__TREE_GROWS = 8,       ///< inside an edit: its relocation to a longer range is listed
    ESPL__TREE_WANTS_SIDE = 16, ///< inside an edit: an arriving node has an entry in side arrays
    ESPL__TREE_WANTS_KEPT = 32, ///< inside an edit: an arriving node has inherit flags
    ESPL__TREE_HEADS = 64,      ///< inside an edit: its root is not at base yet, and moves there
};

/// The header of a tree and its range [base, base + capacity). Slots [base, base + used) are nodes
/// and holes, the others are unused. The range has one root, at base. A destroy whose survivors
/// find no memory for ranges of their own leaves a range with several roots, or with a hole at
/// base. Such a tree is unsettled, and not in order, until the next structural call gives each root
/// a range.
typedef struct espl__tree {
    uint32_t base, capacity; // capacity 0: the header is free
    uint32_t used;           // slots from base on that are nodes or holes
    uint32_t live;           // nodes
    uint32_t hole;           // first hole, or ESPL__NO_SLOT
    uint32_t roots;          // nodes without a parent
    uint32_t exceptional;    // nodes with ESPL__SLOT_EXCEPTIONAL
    uint32_t debt;           // layout debt: node visits that a laid-out tree would have saved
    uint32_t moved;          // inside an edit: nodes with ESPL__SLOT_MOVED; else 0
    uint32_t incoming;       // inside an edit: nodes in other ranges that move to this one; else 0
    uint32_t flags;
    uint32_t next;        // next unsettled tree, or next free header
    uint32_t previous;    // previous unsettled tree
    uint32_t mark;        // visited flag of the layer above during a playback; else 0
    uint32_t side;        // ESPL__HAS_SIDE, ESPL__HAS_KEPT; 0: the default for every node
    uint32_t side_number; // of its side arrays, where it has some: espl__forest.sides
} espl__tree;

_Static_assert(sizeof(espl__tree) == 64, "tree: one cache line");

/// Number of size classes of free ranges; see class_of() in pool.c.
enum { ESPL__SIZE_CLASSES = 256 };

/// Modes of a forest.
enum {
    ESPL__MODE_EDITED =
        1, ///< a playback runs: worlds may be stale, nodes in other ranges than their parents
    ESPL__MODE_TRACKED = 2, ///< it has tracks, so that changes are marked
    ESPL__MODE_OWN = 4,     ///< of these, the plane of own data or those of motion
};

/// Nodes per worker at least: about 17 microseconds of propagation in cache, because waking a
/// worker costs several.
enum { ESPL__GRAIN = 8192 };

typedef struct espl__forest {
    espl__heap *heap;

    // The arrays by slot, in one block: local, world, parent, tree, links, flags. columns.h lists them.
    union {
        struct {
            ESPL__COLUMNS(ESPL__COLUMN_FIELD)
        };
        espl__columns columns;
    };
    void *block;
    size_t block_size;
    uint32_t capacity;          // slots there is memory for
    uint32_t end;               // slots [0, end) belong to trees and free ranges
    uint32_t floor, tree_floor; // lower bounds of the capacities that a user reserved
    uint32_t makings; // times that the forest was made anew, by which nodes got other slots

    espl__tree *trees;
    // Side arrays by espl__tree.side_number, with an entry for each slot - base. The numbers that no
    // tree has are free_sides[0, free_side_count).
    espl__side **sides;
    uint32_t *free_sides;
    uint32_t side_capacity;
    _Atomic uint32_t free_side_count;
    _Atomic uint32_t side_count; // blocks of side arrays, also of trees that are being made
    uint32_t tree_capacity, tree_end, free_tree;
    // The first free header whose `next`, and that of each one after it, did not change since a consumer set
    // this to free_tree: a list that changes only at its head is as it was from there on.
    uint32_t free_low;
    uint32_t free_heads[ESPL__SIZE_CLASSES]; // free ranges by size class
    uint64_t free_bits[ESPL__SIZE_CLASSES / 64];
    uint32_t free_slots;

    uint32_t unsettled; // first unsettled tree, or ESPL__NO_TREE
    // Header of the nursery, or ESPL__NO_TREE: the range in which a playback makes nodes that get
    // no slot in the range of their parent. Each part of the playback fills its own slots of it, so
    // that several threads make nodes at once. No count of this header is kept, because they would
    // race.
    uint32_t nursery;
    uint8_t modes; // ESPL__MODE_EDITED, ESPL__MODE_TRACKED: what a propagation tests once
    const espl__kernels *kernels;
    uint32_t grain;  // nodes of a job at least: ESPL__GRAIN, smaller in tests
    float cell_size; // 0: the world has no cells (cells.h)
    /// Sum of all rebases by cells. The cell of a tree less this sum is not changed by a rebase.
    espl__cell rebased;
    // Of immediate calls, with the counts of the world. All worlds are finite unless it `has_overflowed`.
    espl__context context;
    uint64_t searched_in_vain;        // nodes visited by searches for worlds that are not finite
    uint64_t layouts, nodes_laid_out; // since the world was made
    uint64_t nodes_moved;             // by edits, to other slots, without those laid out; for tests
    // Slots of survivors of destroyed roots, which a destroy without lists left in ranges that are not
    // theirs: a hint for espl__edit_mark_roots(), which saves it a pass over the range. `loose_lost`
    // counts the survivors for which the list had no room.
    uint32_t *loose;
    size_t loose_lost;
    espl__presented presented; // what tracks.poses[ESPL__SHOWN] shows
    espl__tracks tracks;       // what consumers of changes and motion need; changes.h marks it
} espl__forest;

/// Callback for entities whose nodes moved to slots [first, first + count). The entity of slot first +
/// k is entities[k * ESPL__ENTITY_STRIDE].
typedef void (*espl__moved_function)(void *context, const uint32_t *entities, uint32_t first,
                                     uint32_t count);
/// Words from the entity of a slot to that of the next one, in espl__forest.links.
enum { ESPL__ENTITY_STRIDE = sizeof(espl__links) / sizeof(uint32_t) };

// --- pool.c: ranges of slots, and headers ---

/// Set up an empty forest. Takes no memory.
void espl__forest_init(espl__forest *forest, espl__heap *heap);
/// Free all memory of a forest and leave it empty.
void espl__forest_free(espl__forest *forest);
/// Make sure that `slots` slots, in any number of ranges, and `trees` headers can be taken. Arrays
/// and headers may move: pointers into them are invalid afterwards.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_LIMIT; nothing changed but the room.
espl_status espl__forest_reserve(espl__forest *forest, size_t slots, size_t trees);
/// Give an empty forest memory for exactly so many slots and headers. @return false: no memory.
bool espl__forest_make_room(espl__forest *forest, uint32_t slots, uint32_t trees);
/// Tell whether the memory for slots of a forest that is going to be freed can serve another one which needs so
/// many: it is large enough, and not far too large.
bool espl__forest_lends_slots(const espl__forest *forest, uint32_t slots);
/// espl__forest_reserve(), and keep the room until a tight compaction.
espl_status espl__forest_prepay(espl__forest *forest, size_t slots, size_t trees);
/// Take a header without slots. Precondition: reserved.
uint32_t espl__tree_take(espl__forest *forest);
/// Free a header whose range and side arrays were freed, or belong to another header now.
void espl__tree_give(espl__forest *forest, uint32_t tree);
/// Free all headers at once. Precondition: no tree is left. Later trees get the numbers that they
/// would get in a new forest.
void espl__headers_forget(espl__forest *forest);
/// Free a tree with its range and side arrays.
void espl__tree_release(espl__forest *forest, uint32_t tree);
/// Take a range of slots: from a free range of the smallest size class that fits, else from the end
/// of the pool. Precondition: reserved. The result depends only on the calls made so far.
/// @return the first slot.
uint32_t espl__range_take(espl__forest *forest, uint32_t count);
/// Free a range and merge it with free neighbours.
void espl__range_give(espl__forest *forest, uint32_t base, uint32_t count);
/// Make a tree of one node with the identity transform. Precondition: reserved. @return its slot.
uint32_t espl__solo_make(espl__forest *forest, uint32_t entity, bool has_transform);
/// Add a tree to the list of unsettled trees, unless it is listed.
void espl__tree_mark_unsettled(espl__forest *forest, uint32_t tree);
/// Remove a tree from the list of unsettled trees, if it is listed.
void espl__tree_unmark_unsettled(espl__forest *forest, uint32_t tree);
/// Sort the list of unsettled trees by number. The order of marking may depend on how work is
/// divided among jobs, but trees are laid out in the order of the list, and that decides their
/// slots.
void espl__sort_unsettled(espl__forest *forest);
/// Return the size class of a free range. Sizes up to 15 have a class each, and each power of two above has
/// eight, so that a range of a class is less than an eighth longer than the shortest one.
unsigned espl__size_class(uint32_t count);
/// Return the first invariant of ranges and headers that does not hold, or NULL. O(slots).
const char *espl__pool_broken_rule(const espl__forest *forest);

// --- nodes.c: slots and links of one tree ---

/// Make a slot a hole of its tree, or unused where it is the last used one. Precondition: no link
/// of a living node names the slot. Updates the counts: live, roots, exceptional, side entries.
void espl__slot_free(espl__forest *forest, uint32_t slot);
/// Free the slots of a subtree as espl__slot_free(), children before their parents, because freeing a
/// slot ends its links. Precondition: no link of another node leads to its top.
/// @param freed  called for each entity before its slot is freed; may be NULL.
void espl__subtree_free(espl__forest *forest, uint32_t top,
                        void (*freed)(void *context, uint32_t entity), void *context);
/// A node that an edit destroyed.
typedef struct espl__removed {
    uint32_t slot, entity;
} espl__removed;

/// Free the slots of destroyed nodes as espl__slot_free(), last first. Their links have no entity
/// any more.
/// @param dead  [count] in: the destroyed nodes; out: the last entries are those whose tree is empty,
///              or has side arrays that no node needs any more. Each such tree is in one of them.
/// @return the number of these entries.
size_t espl__dead_free(espl__forest *forest, espl__removed *dead, size_t count);
/// Link a root to a parent, before one of its children or last (ESPL__NO_SLOT). Clears
/// ESPL__TREE_IN_ORDER unless the order still holds, and updates ESPL__SLOT_EXCEPTIONAL.
void espl__node_link(espl__forest *forest, uint32_t slot, uint32_t parent, uint32_t before);
/// Unlink a node from its parent. It becomes a root and keeps its slot.
void espl__node_unlink(espl__forest *forest, uint32_t slot);
/// Set or clear ESPL__SLOT_EXCEPTIONAL of a slot by espl__slot_is_exceptional().
void espl__node_update_exceptional(espl__forest *forest, uint32_t slot);
/// Update ESPL__SLOT_EXCEPTIONAL of all children of a slot whose stretch changed.
void espl__children_update_exceptional(espl__forest *forest, uint32_t slot);

// --- side_arrays.c: the placement of one node, and side arrays ---

/// Store a placement. The world stays as it is. Precondition: the tree has the side arrays that the
/// placement needs. Updates the counts of the side arrays, ESPL__SLOT_KEEPS, and
/// ESPL__SLOT_EXCEPTIONAL of the node and, where the stretch changed, of its children.
void espl__slot_place(espl__forest *forest, uint32_t slot, const espl__placement *placement);
/// Set or clear ESPL__SLOT_BARE. Updates the counts of the side arrays and ESPL__SLOT_EXCEPTIONAL.
void espl__slot_set_bare(espl__forest *forest, uint32_t slot, bool is_bare);
/// Make sure that a tree has side arrays, with room for inherit flags where `keeps`.
/// @return false where there is no memory; nothing changed then.
bool espl__tree_add_side(espl__forest *forest, uint32_t tree, bool keeps);
/// Give a tree side arrays that were made for its capacity. The contents of old ones are copied.
void espl__tree_set_side(espl__forest *forest, uint32_t tree, espl__side *side);
/// Make side arrays with default entries, for a tree or for a range that will be one. Precondition:
/// espl__sides_reserve(). @return NULL where there is no memory.
espl__side *espl__side_make(espl__forest *forest, uint32_t capacity, bool keeps);
/// Take back a block of such arrays that was retired, which there is, and fill it as a new one.
espl__side *espl__side_take_back(espl__forest *forest, uint32_t capacity, bool keeps);
/// Give each block with room for inherit flags `pasts` arrays of earlier kept parts, equal to its kept parts.
/// A block that has as many is not replaced. @return false: no memory; nothing changed.
bool espl__sides_set_pasts(espl__forest *forest, uint32_t pasts);
/// Free side arrays. NULL has no effect.
void espl__side_free(espl__forest *forest, espl__side *side);
/// Make sure that so many trees without side arrays can get some. A playback calls it before its jobs,
/// with the number of trees that it changes. @return false: no memory.
bool espl__sides_reserve(espl__forest *forest, size_t count);
/// Free that room. Precondition: there are no side arrays.
void espl__sides_free(espl__forest *forest);
/// Free it if there are no side arrays, and no follower may go back to some.
void espl__sides_release(espl__forest *forest);
/// Return the bytes of that room.
size_t espl__sides_bytes(const espl__forest *forest);
/// Tell whether a tree has side arrays. Without them no node has a stretch, user data or inherit flags.
static inline bool espl__forest_has_sides(const espl__forest *forest)
{
    return atomic_load_explicit(&forest->side_count, memory_order_relaxed) != 0;
}
/// Set the side arrays of a tree, NULL for none. Others are not freed, and the flags of slots stay.
/// Precondition: reserved, where the tree has none yet.
void espl__tree_put_side(espl__forest *forest, uint32_t tree, espl__side *side);
/// Free the side arrays of a tree, if it has some. The flags of slots stay.
void espl__tree_free_side(espl__forest *forest, uint32_t tree);
/// Free the side arrays of a tree if all entries are the default and no user reserved them. O(used)
/// where it frees them, else O(1).
void espl__tree_drop_side(espl__forest *forest, uint32_t tree);
/// Tell whether a tree can hold a placement without new side arrays.
static inline bool espl__tree_can_hold(const espl__tree *tree, const espl__placement *placement)
{
    if (!espl__placement_needs_side(placement)) {
        return true;
    }
    return (tree->side & (placement->kept.flags != 0 ? ESPL__HAS_KEPT : ESPL__HAS_SIDE)) != 0;
}

// --- range_parts.c: the list of loose roots ---

/// Empty the list, and make room for twice the survivors that it could not hold. Without memory its
/// capacity stays as it is.
void espl__forest_begin_loose(espl__forest *forest);
/// List a survivor of a destroyed root, where the list has room: allocates nothing.
void espl__forest_note_loose(espl__forest *forest, uint32_t slot);
/// Sort the list by slot.
void espl__forest_sort_loose(espl__forest *forest);

// --- layout.c ---

/// Cost of laying out one node, in visits of a node.
enum { ESPL__LAYOUT_COST = 8 };

/// Add layout debt to a tree: the visits of nodes and holes that a laid-out tree would have saved.
/// When the debt reaches the cost of a layout the tree is marked unsettled. A job sets
/// ESPL__TREE_DUE instead, because the list of unsettled trees is shared. No effect on a tree in
/// order.
void espl__tree_add_debt(espl__forest *forest, espl__context *context, uint32_t tree,
                         uint32_t amount);
/// Tell whether the layout debt of a tree is due.
static inline bool espl__tree_is_due(const espl__tree *tree)
{
    return (tree->flags & ESPL__TREE_IN_ORDER) == 0 && tree->debt / ESPL__LAYOUT_COST >= tree->live;
}
/// Lay a single tree out in a range of its size. @return false where there is no memory; nothing
/// changed then.
bool espl__tree_compact(espl__forest *forest, uint32_t tree, espl__moved_function moved,
                        void *context);
/// Tell whether a compaction is worth its cost: the pool is large, and more than a third is free.
bool espl__forest_wants_compaction(const espl__forest *forest);
/// Move all trees to a new block that fits them, each laid out, and renumber them in order.
/// @param is_tight  leave no spare room, and free side arrays that are not needed, reserved or not.
/// @return false where there is no memory; nothing changed then. O(slots).
bool espl__forest_compact(espl__forest *forest, bool is_tight, espl__moved_function moved,
                          void *context);

/// Copy what does not depend on slots: settings, counts, and the context of immediate calls.
void espl__forest_keep_settings(espl__forest *to, const espl__forest *from);

// --- navigate.c: slots, or ESPL__NO_SLOT ---

/// Return the topmost ancestor of a slot, or the slot itself. O(depth).
uint32_t espl__root_of(const espl__forest *forest, uint32_t slot);
uint32_t espl__last_child(const espl__forest *forest, uint32_t slot);
uint32_t espl__next_sibling(const espl__forest *forest, uint32_t slot);
uint32_t espl__previous_sibling(const espl__forest *forest, uint32_t slot);
/// Count the children. O(1) in a tree that is laid out, else O(children).
size_t espl__count_children(const espl__forest *forest, uint32_t slot);
/// Count the ancestors of a slot; 0 for a root.
uint32_t espl__depth_of(const espl__forest *forest, uint32_t slot);
/// Count the descendants of a slot.
size_t espl__count_below(const espl__forest *forest, uint32_t slot);
/// Count the descendants that owned links alone connect to the slot.
size_t espl__count_owned(const espl__forest *forest, uint32_t slot);
/// Return the next node of a depth-first walk over the descendants of `top`: parents first,
/// siblings in order. The walk skips the descendants of the slot unless `enters`.
static inline uint32_t espl__next_in_walk(const espl__forest *forest, uint32_t slot, uint32_t top,
                                          bool enters)
{
    if (enters && forest->links[slot].first_child != ESPL__NO_SLOT) {
        return forest->links[slot].first_child;
    }
    // Climb to the nearest ancestor with a next sibling. A whole walk climbs each link once.
    while (slot != top && forest->links[slot].next == ESPL__NO_SLOT) {
        slot = forest->parent[slot];
    }
    return slot == top ? ESPL__NO_SLOT : forest->links[slot].next;
}

/// Return the leaf at the end of the first children: the first node of the subtree in post-order.
static inline uint32_t espl__first_leaf(const espl__forest *forest, uint32_t slot)
{
    while (forest->links[slot].first_child != ESPL__NO_SLOT) {
        slot = forest->links[slot].first_child;
    }
    return slot;
}

// --- state.c ---

/// Name of the pieces that have the links of a node.
extern const char espl__state_of_nodes[];
/// Visit the state of a forest: trees with their nodes, then free ranges.
void espl__forest_visit(const espl__forest *forest, const espl__state_visitor *visitor);

// --- validate.c ---

/// Return the bytes that a forest holds: the pool, the headers and the side arrays. O(trees).
size_t espl__forest_bytes(const espl__forest *forest);
/// Return the first invariant that does not hold, as a sentence that is true of a valid forest, or
/// NULL. O(size), without memory. Stops in bounded time whatever the links are.
/// @param slot    out: the slot concerned, or ESPL__NO_SLOT.
/// @param detail  out: the tree or the count concerned.
const char *espl__forest_broken_rule(const espl__forest *forest, uint32_t *slot, size_t *detail);
/// The same, but trees that are as most are are checked at once, by plain_tree.h.
/// @param are_plain  out: whether all are. Then no world overflows.
const char *espl__forest_broken_rule_quick(const espl__forest *forest, uint32_t *slot,
                                           size_t *detail, bool *are_plain);
/// Count the worlds that are not finite. O(size).
size_t espl__count_overflowed(const espl__forest *forest);

// --- Accessors ---

/// Tell whether prefetches of nodes save time: whether the pool is larger than a second-level cache. A
/// slot takes 128 bytes with its entity and row.
static inline bool espl__forest_is_far(const espl__forest *forest)
{
    enum { FAR_SLOTS = 16384 };

    return forest->end >= FAR_SLOTS;
}

/// Tell whether the pool is larger than a third-level cache as well. A pass over slots in ascending order
/// is then as fast as the memory, because the processor reads ahead of it.
static inline bool espl__forest_is_remote(const espl__forest *forest)
{
    enum { REMOTE_SLOTS = 131072 };

    return forest->end >= REMOTE_SLOTS;
}

/// Tell whether a playback runs.
static inline bool espl__forest_is_edited(const espl__forest *forest)
{
    return (forest->modes & ESPL__MODE_EDITED) != 0;
}

/// Tell whether changes are marked: whether the forest has tracks.
static inline bool espl__forest_is_tracked(const espl__forest *forest)
{
    return (forest->modes & ESPL__MODE_TRACKED) != 0;
}

/// Return the header of the tree whose range a slot is in.
static inline espl__tree *espl__tree_of(const espl__forest *forest, uint32_t slot)
{
    ESPL_CHECK_FULL(slot < forest->end && forest->tree[slot] < forest->tree_end);
    return &forest->trees[forest->tree[slot]];
}

/// Return the tree that has a slot among its nodes and holes, or NULL: the slot is in a free range, or no
/// node had it yet. For slots that planes name, because their stamps outlive the nodes.
static inline const espl__tree *espl__tree_at(const espl__forest *forest, uint32_t slot)
{
    const uint32_t number = forest->tree[slot];

    if (number >= forest->tree_end) {
        return NULL;
    }
    const espl__tree *const t = &forest->trees[number];

    return t->capacity != 0 && slot - t->base < t->used ? t : NULL;
}

/// Tell whether a slot of any kind has a node.
static inline bool espl__slot_has_node(const espl__forest *forest, uint32_t slot)
{
    return espl__tree_at(forest, slot) != NULL && forest->links[slot].entity != ESPL__NO_ENTITY;
}

/// Return the side arrays of a tree, or NULL.
static inline espl__side *espl__side_of(const espl__forest *forest, const espl__tree *tree)
{
    return tree->side != 0 ? forest->sides[tree->side_number] : NULL;
}

/// Return the side arrays of the tree of a slot. Precondition: it has some.
static inline espl__side *espl__side_of_slot(const espl__forest *forest, uint32_t slot)
{
    const espl__tree *const tree = espl__tree_of(forest, slot);

    ESPL_CHECK_FULL(tree->side != 0 && tree->side_number < forest->side_capacity);
    return forest->sides[tree->side_number];
}

/// Tell whether a slot has one of some flags.
static inline bool espl__slot_is(const espl__forest *forest, uint32_t slot, unsigned flag)
{
    return (forest->flags[slot] & flag) != 0;
}

/// Tell whether a slot is a root. A hole is none.
static inline bool espl__is_root(const espl__forest *forest, uint32_t slot)
{
    return forest->parent[slot] == ESPL__NO_SLOT;
}

/// The role that follows from the links of a node.
static inline espl_component espl__slot_role(const espl__forest *forest, uint32_t slot)
{
    if (!espl__is_root(forest, slot)) {
        return ESPL_MEMBER;
    }
    return forest->links[slot].first_child != ESPL__NO_SLOT ? ESPL_ROOT : ESPL_SOLO;
}

/// Return the stretch and the user data of a slot. A node that copies its parent stores those of
/// the parent, because its children see them.
static inline espl__extra espl__slot_extra(const espl__forest *forest, uint32_t slot)
{
    // Fast path: the flag saves a read of the header, because few trees have side arrays.
    if ((forest->flags[slot] & ESPL__SLOT_SIDE) == 0) {
        return espl__extra_default();
    }
    const espl__tree *const tree = espl__tree_of(forest, slot);
    const espl__side *const side = espl__side_of_slot(forest, slot);

    ESPL_CHECK_FULL(slot - tree->base < side->capacity);
    return side->extra[slot - tree->base];
}

/// Return the inherit flags of a slot and the parts of its world that they keep.
static inline espl__kept espl__slot_kept(const espl__forest *forest, uint32_t slot)
{
    if ((forest->flags[slot] & ESPL__SLOT_KEEPS) == 0) {
        return espl__kept_none();
    }
    const espl__tree *const tree = espl__tree_of(forest, slot);
    espl__side *const side = espl__side_of_slot(forest, slot);

    ESPL_CHECK_FULL(slot - tree->base < side->capacity);
    return espl__side_kept(side)[slot - tree->base];
}

/// Return the parts of its world that a slot kept at an earlier time, to read or to store.
/// Preconditions: ESPL__SLOT_KEEPS; motion runs. @param number  as in espl__side_past().
static inline espl_pose *espl__slot_past_kept(const espl__forest *forest, int number, uint32_t slot)
{
    const uint32_t at = slot - espl__tree_of(forest, slot)->base;
    espl__side *const side = espl__side_of_slot(forest, slot);

    ESPL_CHECK_FULL(espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) && at < side->capacity);
    return &espl__side_past(side, number)[at];
}

/// Return all that is stored of a slot, its world aside.
static inline espl__placement espl__slot_placement(const espl__forest *forest, uint32_t slot)
{
    return (espl__placement){forest->local[slot], espl__slot_kept(forest, slot),
                             espl__slot_extra(forest, slot)};
}

/// Return the frame that the children of a slot see.
static inline espl__frame espl__slot_frame(const espl__forest *forest, uint32_t slot)
{
    return (espl__frame){forest->world[slot], espl__slot_extra(forest, slot)};
}

/// Tell whether the world of a slot is a copy of its parent's: it has no transform, or
/// ESPL_COPY_PARENT.
static inline bool espl__slot_copies(const espl__forest *forest, uint32_t slot)
{
    return espl__slot_is(forest, slot, ESPL__SLOT_BARE) ||
           (espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) &&
            (espl__slot_kept(forest, slot).flags & ESPL_COPY_PARENT) != 0);
}

/// Tell whether a slot keeps all parts of its world. Then no ancestor changes its world or those
/// below.
static inline bool espl__slot_keeps_world(const espl__forest *forest, uint32_t slot)
{
    enum { ALL = ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE };

    return espl__slot_is(forest, slot, ESPL__SLOT_KEEPS) &&
           (espl__slot_kept(forest, slot).flags & (ALL | ESPL_COPY_PARENT)) == ALL;
}

/// Tell whether the bits of a stretch differ from those of 1, 1, 1.
static inline bool espl__is_stretched(const float stretch[3])
{
    static const float none[3] = {1, 1, 1};

    return memcmp(stretch, none, sizeof none) != 0;
}

/// Return the stretch of a node, or NULL where it has none but 1, 1, 1. @param room  that it is stored in.
static inline const float *espl__slot_stretch(const espl__forest *forest, uint32_t slot,
                                              float room[ESPL__LEAST 3])
{
    if (!espl__slot_is(forest, slot, ESPL__SLOT_SIDE)) {
        return NULL;
    }
    const espl__extra extra = espl__slot_extra(forest, slot);

    if (!espl__is_stretched(extra.stretch)) {
        return NULL;
    }
    memcpy(room, extra.stretch, sizeof extra.stretch);
    return room;
}

/// Compute ESPL__SLOT_EXCEPTIONAL: the world of the slot is not its parent's world times its local,
/// because the slot copies or keeps parts, or because its parent has a stretch. False for a root.
/// The wide kernel skips exceptional nodes, and compose_exceptional() computes each by itself.
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

/// espl__node_update_exceptional() of a node that was linked to a parent. Fast path: most are none,
/// before and after.
static inline void espl__node_update_linked(espl__forest *forest, uint32_t slot, uint32_t parent)
{
    if (espl__slot_is(forest, slot, ESPL__SLOT_BARE | ESPL__SLOT_KEEPS | ESPL__SLOT_EXCEPTIONAL) ||
        espl__slot_is(forest, parent, ESPL__SLOT_SIDE)) {
        espl__node_update_exceptional(forest, slot);
    }
}

/// Find a slot above `above` in a tree, and remove it from what is free: a hole near the head of the
/// list, else the first unused slot. It looks at a few holes only, so that a node is made in O(1); a
/// list without such a hole at its head costs unused slots instead. Holes come first, so that a range
/// in which nodes are made and freed in equal numbers does not grow. The caller counts the node.
/// @param after  out: the hole before it in the list, ESPL__NO_SLOT where it was the first;
///               ESPL__NO_SLOT - 1 for a slot that was no hole.
/// @return ESPL__NO_SLOT where the range has no such slot.
ESPL__INLINE uint32_t espl__slot_find(espl__forest *forest, espl__tree *t, uint32_t above,
                                      uint32_t *after)
{
    enum { LOOKED_AT = 8 };
    espl__links *const links = forest->links;
    uint32_t before = ESPL__NO_SLOT, *from = &t->hole;

    ESPL_CHECK(t->used <= t->capacity);
    for (int i = 0; i < LOOKED_AT && *from != ESPL__NO_SLOT; ++i) {
        const uint32_t hole = *from;

        ESPL_CHECK_FULL(hole >= t->base && hole - t->base < t->used);
        ESPL_CHECK_FULL(links[hole].entity == ESPL__NO_ENTITY);
        if (hole > above) {
            *from = links[hole].next;
            *after = before;
            if (before != ESPL__NO_SLOT) {
                espl__tracks_mark(&forest->tracks, ESPL__PLANE_PLACE, before);
            }
            return hole;
        }
        before = hole;
        from = &links[hole].next;
    }
    if (t->used == t->capacity) {
        return ESPL__NO_SLOT;
    }
    const uint32_t slot = t->base + t->used;

    t->used += 1;
    forest->tree[slot] = (uint32_t)(t - forest->trees);
    *after = ESPL__NO_SLOT - 1;
    return slot;
}

/// Tell whether a range has one tree, whose root is the first slot. See espl__tree for the others.
static inline bool espl__tree_is_single(const espl__forest *forest, const espl__tree *tree)
{
    return tree->roots == 1 && forest->parent[tree->base] == ESPL__NO_SLOT;
}

#endif
