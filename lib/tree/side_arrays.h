// SPDX-License-Identifier: MIT
// Side arrays: one block for a tree, with the node data that few trees have. These are stretch and
// user data, and the parts of the world that inherit flags keep, with the earlier values of these parts
// where motion runs. A tree without a block has the default for each node. The block has one entry for
// each slot of the range, so that its capacity is that of the range, and it counts the entries that need
// it, so that it is freed when there are none.
//
// A block has no pointer, and neither has the header of a tree: espl__forest.sides has the addresses of
// blocks by number. So headers and blocks can be saved and restored as bytes.
#ifndef ESPALIER_LIB_TREE_SIDE_ARRAYS_H
#define ESPALIER_LIB_TREE_SIDE_ARRAYS_H

#include "lib/base/prefetch.h"
#include "lib/base/heap.h"
#include "lib/base/trap.h"
#include "lib/math/inherit.h"

typedef struct espl__side {
    uint32_t capacity;    // slots
    uint32_t extra_count; // slots with their own extra, other than the default
    uint32_t kept_count;  // slots with inherit flags
    uint16_t is_prepaid;  // a user reserved the block: it stays though no entry needs it
    uint8_t has_kept;     // it has room for inherit flags: espl__side_kept()
    uint8_t past_count;   // arrays of earlier kept parts, where it has that room: espl__side_past()
    espl__extra extra[];  // [capacity] own extra, or the parent's where the slot copies its parent
} espl__side;

/// What the side arrays of a tree have. 0: the tree has none.
enum {
    ESPL__HAS_SIDE = 1, ///< stretch and user data
    ESPL__HAS_KEPT = 2, ///< room for inherit flags as well
};

/// Return what a block has; 0 for NULL.
static inline uint32_t espl__side_contents(const espl__side *side)
{
    return side == NULL ? 0 : ESPL__HAS_SIDE | (side->has_kept != 0 ? (uint32_t)ESPL__HAS_KEPT : 0);
}

/// Return the parts that inherit flags keep, which follow `extra`: [capacity]. Precondition: has_kept.
static inline espl__kept *espl__side_kept(espl__side *side)
{
    ESPL_CHECK_FULL(side->has_kept != 0);
    return (espl__kept *)(void *)(side->extra + side->capacity);
}

/// Return the poses that inherit flags kept earlier, which follow the kept parts: [capacity], the identity in
/// an entry without flags. Motion has one array for each array of earlier locals: `number` is ESPL__PREVIOUS
/// or ESPL__BEFORE.
static inline espl_pose *espl__side_past(espl__side *side, int number)
{
    ESPL_CHECK_FULL(number >= 0 && number < side->past_count);
    return (espl_pose *)(void *)(espl__side_kept(side) + side->capacity) +
           (size_t)number * side->capacity;
}

/// Forget what inherit flags of an entry kept earlier, when it has none any more.
static inline void espl__side_forget_past(espl__side *side, uint32_t at)
{
    for (int number = 0; number < side->past_count; ++number) {
        espl__side_past(side, number)[at] = espl__pose_identity();
    }
}

/// Tell whether a block may be freed: no entry needs it, and no user reserved it. false for NULL.
static inline bool espl__side_is_unneeded(const espl__side *side)
{
    return side != NULL && (side->extra_count | side->kept_count | side->is_prepaid) == 0;
}

/// Changes of the counts of a block, modulo 2^32.
typedef struct espl__side_counts {
    uint32_t extras, kept;
} espl__side_counts;

/// Add changes to the counts of a block. Without a block the changes are 0.
static inline void espl__side_count(espl__side *side, espl__side_counts changes)
{
    ESPL_CHECK(side != NULL || (changes.extras == 0 && changes.kept == 0));
    if (side != NULL) {
        side->extra_count += changes.extras;
        side->kept_count += changes.kept;
        // A count below 0 wraps, and is above the capacity then.
        ESPL_CHECK(side->extra_count <= side->capacity && side->kept_count <= side->capacity);
    }
}

/// Prefetch the header of a block and its entries number `at`. NULL has no effect.
static inline void espl__side_prefetch(const espl__side *side, uint32_t capacity, uint32_t at)
{
    if (side != NULL) {
        // The address of the second array is computed, because reading it from the header would
        // wait for the line that is being prefetched.
        const espl__kept *const kept = (const espl__kept *)(const void *)&side->extra[capacity];

        espl__prefetch_to_write(side);
        espl__prefetch_to_write(&side->extra[at]);
        // A kept entry may be in two lines.
        espl__prefetch_to_write(&kept[at]);
        espl__prefetch_to_write(&kept[at].flags);
    }
}

/// Return the bytes of a block; 0 for NULL.
size_t espl__side_bytes(const espl__side *side);

#endif
