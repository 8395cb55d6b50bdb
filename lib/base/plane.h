// SPDX-License-Identifier: MIT
// Planes: when each of many numbered items changed last. A change stores a moment, and a consumer
// asks later what changed since a moment that it remembers. So a plane serves any number of
// consumers, none of which stores anything in it.
//
// The moment is a counter of the owner, equal for all of its planes. An item has the low 16 bits of
// the moment of its last change: its stamp. A block of 64 items has 32 bits of the moment of the last
// change of any of them, so that a consumer skips most items. A block may be newer than its items,
// never older. Moments are compared by their difference, because both kinds wrap;
// espl__plane_set_moment() clamps old stamps before they wrap.
//
// Several threads may mark different items at a time, between two changes of the moment.
#ifndef ESPALIER_LIB_BASE_PLANE_H
#define ESPALIER_LIB_BASE_PLANE_H

#include "lib/base/compiler.h"
#include "lib/base/heap.h"
#include "lib/base/trap.h"

#include <stdatomic.h>

/// Items of a block.
enum { ESPL__PLANE_BLOCK = 64 };

/// Upper bound of the age of a stamp, in moments: an older change reads as one of this age, and what
/// changed since an older moment is known by blocks alone. Small in a build for tests, which then reach
/// it.
#ifdef ESPL_SHRUNKEN
#define ESPL__PLANE_AGE 8
#else
#define ESPL__PLANE_AGE 16384
#endif

/// Upper bound of the age of a block just after a clamp.
#define ESPL__PLANE_FAR (UINT32_C(1) << 30)

/// The arrays of a plane. {0}: no consumer needs it, and marks have no effect.
typedef struct espl__plane {
    uint16_t *stamps;         // [capacity]; NULL: the plane is closed
    _Atomic uint32_t *blocks; // [capacity / ESPL__PLANE_BLOCK]
    uint32_t capacity;        // items that there is room for: whole blocks
    uint32_t moment;          // the present one
} espl__plane;

/// Return the number of blocks of so many items.
static inline uint32_t espl__plane_blocks(uint32_t items)
{
    return items / ESPL__PLANE_BLOCK + (items % ESPL__PLANE_BLOCK != 0 ? 1 : 0);
}

/// Tell whether a plane is open: whether marks are stored.
static inline bool espl__plane_is_open(const espl__plane *plane)
{
    return plane->stamps != NULL;
}

// --- Marks ---

/// Mark a block. Relaxed, because two jobs that share a block store the same number.
ESPL__INLINE void espl__plane_mark_block(const espl__plane *plane, uint32_t block)
{
    atomic_store_explicit(&plane->blocks[block], plane->moment, memory_order_relaxed);
}

/// Mark one item. Precondition: the plane is open.
ESPL__INLINE void espl__plane_mark(const espl__plane *plane, uint32_t item)
{
    ESPL_CHECK_FULL(item < plane->capacity);
    plane->stamps[item] = (uint16_t)plane->moment;
    espl__plane_mark_block(plane, item / ESPL__PLANE_BLOCK);
}

/// Make an item one that changed long ago. Its block stays as it is.
static inline void espl__plane_unmark(const espl__plane *plane, uint32_t item)
{
    ESPL_CHECK_FULL(item < plane->capacity);
    plane->stamps[item] = (uint16_t)(plane->moment - ESPL__PLANE_AGE);
}

/// The stamps of a plane, for a loop that marks many items: in registers, because the compiler must
/// assume that a store changes a field of the plane. The loop marks each block as well.
typedef struct espl__marker {
    uint16_t *stamps; // NULL: the plane is closed
    uint16_t stamp;
} espl__marker;

static inline espl__marker espl__marker_of(const espl__plane *plane)
{
    return (espl__marker){plane->stamps, (uint16_t)plane->moment};
}

/// Mark items [begin, end). Precondition: the plane is open.
void espl__plane_mark_range(const espl__plane *plane, uint32_t begin, uint32_t end);

// --- Questions ---

/// Tell whether some item of a block may have changed after a moment.
static inline bool espl__plane_block_changed(const espl__plane *plane, uint32_t block,
                                             uint32_t since)
{
    const uint32_t moment = atomic_load_explicit(&plane->blocks[block], memory_order_relaxed);

    return (int32_t)(moment - since) > 0;
}

/// Tell whether a moment is so old that only blocks are known to have changed since.
static inline bool espl__plane_is_coarse(const espl__plane *plane, uint32_t since)
{
    return plane->moment - since > ESPL__PLANE_AGE;
}

/// Return the first block from one on that may have changed after a moment, or the number of blocks.
uint32_t espl__plane_next(const espl__plane *plane, uint32_t block, uint32_t blocks,
                          uint32_t since);
/// Return which items of a block changed after a moment, as bits, the first item in the lowest. Where
/// the moment is coarse, all of them.
uint64_t espl__plane_changed(const espl__plane *plane, uint32_t block, uint32_t since);
/// Tell whether one item changed after a moment.
bool espl__plane_has_changed(const espl__plane *plane, uint32_t item, uint32_t since);

/// Upper bound of the age of a block at any time: planes do not tell older moments apart.
#define ESPL__PLANE_OLDEST (ESPL__PLANE_FAR + 2 * (uint32_t)ESPL__PLANE_AGE)

/// Return a moment from which on a plane answers as from a moment of any age.
/// @param since  not later than `now`, of which the plane has the low bits.
static inline uint32_t espl__plane_since(uint64_t now, uint64_t since)
{
    ESPL_CHECK(since <= now);
    return now - since < ESPL__PLANE_OLDEST ? (uint32_t)since : (uint32_t)now - ESPL__PLANE_OLDEST;
}

/// Planes that one walk looks at together.
enum { ESPL__WALK_PLANES = 4 };

/// A walk over the blocks of planes in which some item may have changed.
typedef struct espl__plane_walk {
    const espl__plane *planes[ESPL__WALK_PLANES];
    uint32_t next[ESPL__WALK_PLANES]; // the next block of each
    uint32_t plane_count;
    uint32_t items; // only items [0, items)
    uint32_t since;
    bool is_whole;                       // all items count as changed in plane 0
    uint32_t block;                      // the present one
    uint64_t changed[ESPL__WALK_PLANES]; // its items that changed, as bits, by plane
    uint32_t scanned;                    // blocks of any plane whose stamps were compared
} espl__plane_walk;

/// Begin a walk, of which the caller has set `planes`, `plane_count`, `items`, `since` and `is_whole`.
/// Precondition: the planes are open and have room for the items.
void espl__plane_walk_begin(espl__plane_walk *walk);
/// Go to the next block. @return the items of it that changed in some plane, as bits; 0: no block is left.
uint64_t espl__plane_walk_next(espl__plane_walk *walk);

// --- Memory ---

/// Return the bytes of a plane.
size_t espl__plane_bytes(const espl__plane *plane);
/// Make an open plane, whose first items are those of another one, which stays as it is. The others,
/// and all where that one is closed, did not change for long.
/// @param capacity  in items.
/// @param count     of the items to be copied.
/// @return false: no memory, or the capacity is within 64 of 2^32.
bool espl__plane_make(espl__heap *heap, espl__purpose purpose, espl__plane *plane,
                      uint32_t capacity, const espl__plane *from, uint32_t count);
/// Free the memory of a plane, and close it. The moment stays.
void espl__plane_free(espl__heap *heap, espl__purpose purpose, espl__plane *plane);
/// Set the moment, which only increases. Each time that it passes a multiple of ESPL__PLANE_AGE, older stamps
/// become stamps of that age, so that none wraps: O(capacity) then.
void espl__plane_set_moment(espl__plane *plane, uint32_t moment);
/// Return the first rule that stamps and blocks break, or NULL. @param item  out: where.
const char *espl__plane_broken_rule(const espl__plane *plane, uint32_t *item);

#endif
