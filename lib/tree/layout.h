// SPDX-License-Identifier: MIT
// Copies of trees and nodes to other slots. The layout of one tree (layout.c), the relocation of an
// edit (relocation.c) and the compaction of a forest (compaction.c) call them.
#ifndef ESPALIER_LIB_TREE_LAYOUT_H
#define ESPALIER_LIB_TREE_LAYOUT_H

#include "lib/tree/forest.h"

/// The forest that nodes are copied from and the one that they are copied to, mostly the same forest;
/// and the callback that gets the new slots.
typedef struct espl__transfer {
    espl__forest *from, *to;
    espl__moved_function moved;
    void *context; // of `moved`
} espl__transfer;

/// Copy a root and its descendants to the first slots of a range, in breadth-first order. The header
/// of `tree` is not written. Within a forest, old slots in the range of another tree are freed;
/// other old slots keep their contents, because the caller frees their range. Precondition: the new
/// slots are free, and none of them is an old slot.
/// @param root  slot in `from`; `tree` and `base` are in `to`.
/// @param side  of the new range, or NULL where no node needs it; its counts are set.
/// @return the header of the tree in its new range. `moved` was called for its nodes.
espl__tree espl__copy_in_order(const espl__transfer *transfer, uint32_t root, uint32_t tree,
                               uint32_t base, uint32_t capacity, espl__side *side);
/// Replace the header of a tree by that of the range to which its nodes were copied, and free its old
/// range and side arrays. It stays in the list of unsettled trees.
/// @param side  of the new range, or NULL.
void espl__tree_replace(espl__forest *forest, uint32_t tree, const espl__tree *now,
                        espl__side *side);
/// Return the spare slots that the range of a tree gets where it is made, cloned or compacted, so that
/// the next nodes find room there: a sixteenth of the nodes, and one in a small tree. An entity by
/// itself gets none. So a tree of 20 nodes takes 126 bytes a node with all that belongs to it.
static inline uint32_t espl__tree_spare(uint32_t live)
{
    return live < 2 ? 0 : live < 32 ? 1 : live / 16;
}

/// Return the capacity for a tree that outgrew its range. The spare part is a half for small trees
/// and a sixteenth for large ones: the amortised cost of growth falls with it, and the memory
/// rises.
static inline uint32_t espl__tree_room(uint32_t live)
{
    const uint32_t spare = live < 64 ? live / 2 : live < 4096 ? live / 4 : live / 16;

    ESPL_CHECK_FULL(live < UINT32_MAX / 2);
    return live + (spare != 0 ? spare : 1);
}

/// Return the capacity that a tree keeps where it is laid out or moved: what it has, at most that of a
/// tree that grew, and at least that of a new one.
static inline uint32_t espl__tree_kept_room(uint32_t live, uint32_t capacity)
{
    const uint32_t least = live + espl__tree_spare(live), most = espl__tree_room(live);
    const uint32_t kept = most < capacity ? most : capacity;

    return kept > least ? kept : least;
}

/// Tell whether a node may keep its slot below a parent: both are in one range, and the parent has the
/// lower slot.
static inline bool espl__slot_fits_below(const espl__forest *forest, uint32_t slot, uint32_t parent)
{
    return slot > parent && forest->tree[slot] == forest->tree[parent];
}

/// Make slots of a new range unused ones of a tree. They have no entity, so that the rows of a compacted
/// world are put in order by the links of all slots.
static inline void espl__range_clear(espl__forest *forest, uint32_t tree, uint32_t begin,
                                     uint32_t end)
{
    for (uint32_t slot = begin; slot < end; ++slot) {
        forest->tree[slot] = tree;
        forest->links[slot].entity = ESPL__NO_ENTITY;
    }
}
/// Copy the earlier kept parts of a slot to the side arrays of a new range.
static inline void espl__node_copy_past(const espl__forest *forest, uint32_t slot, uint32_t from,
                                        uint32_t base, espl__side *side)
{
    espl__side *const old = espl__side_of_slot(forest, from);

    for (int number = 0; number < side->past_count && number < old->past_count; ++number) {
        espl__side_past(side, number)[slot - base] = *espl__slot_past_kept(forest, number, from);
    }
}
/// Copy the side entries of a slot to those of a new range, and count them.
static inline void espl__node_copy_side(const espl__forest *forest, uint32_t slot, uint32_t from,
                                        uint32_t base, espl__side *side)
{
    espl__extra *const extra = &side->extra[slot - base];

    ESPL_CHECK_FULL(slot - base < side->capacity);
    *extra = espl__slot_extra(forest, from);
    side->extra_count += !espl__slot_copies(forest, from) && !espl__extra_is_default(extra) ? 1 : 0;
    if (espl__slot_is(forest, from, ESPL__SLOT_KEEPS)) {
        espl__side_kept(side)[slot - base] = espl__slot_kept(forest, from);
        side->kept_count += 1;
        espl__node_copy_past(forest, slot, from, base, side);
    }
}
/// Return the flags of a node in its new range: ESPL__SLOT_SIDE is that of the range, and the marks
/// of the current edit end.
static inline uint8_t espl__moved_flags(uint8_t flags, const espl__side *side)
{
    ESPL_CHECK_FULL((flags & ESPL__SLOT_KEEPS) == 0 || (side != NULL && side->has_kept != 0));
    const unsigned kept = ~(unsigned)(ESPL__SLOT_SIDE | ESPL__SLOT_MOVED | ESPL__SLOT_MARK);

    return (uint8_t)((flags & kept) | (side != NULL ? (unsigned)ESPL__SLOT_SIDE : 0u));
}
/// Move the elements of tracks with a node. Precondition: the forest is tracked.
void espl__transfer_tracks(const espl__transfer *transfer, uint32_t slot, uint32_t from);
/// Copy columns, flags and side entries of a slot, which may be a hole. Links and `tree` are the
/// caller's.
/// @param base, side  of the range of the new slot; `side` is NULL where it has no side arrays.
static inline void espl__node_copy(const espl__transfer *transfer, uint32_t slot, uint32_t from,
                                   uint32_t base, espl__side *side)
{
    const espl__forest *const old = transfer->from;

    espl__columns_move(&transfer->to->columns, slot, &old->columns, from);
    if (espl__forest_is_tracked(old)) {
        espl__transfer_tracks(transfer, slot, from);
    }
    transfer->to->flags[slot] = espl__moved_flags(old->flags[from], side);
    if (side != NULL) {
        espl__node_copy_side(old, slot, from, base, side);
    }
}
/// Return the header of a tree that is in order in the first `count` slots of a range. The caller sets
/// its side arrays.
static inline espl__tree espl__tree_in_order(uint32_t base, uint32_t capacity, uint32_t count,
                                             uint32_t exceptional)
{
    ESPL_CHECK(count <= capacity && (exceptional == 0 || exceptional < count));
    return (espl__tree){.base = base,
                        .capacity = capacity,
                        .used = count,
                        .live = count,
                        .hole = ESPL__NO_SLOT,
                        .roots = 1,
                        .exceptional = exceptional,
                        .flags = ESPL__TREE_IN_ORDER,
                        .next = ESPL__NO_TREE,
                        .previous = ESPL__NO_TREE};
}

#endif
