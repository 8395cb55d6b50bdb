// SPDX-License-Identifier: MIT
// The tracks of a forest: arrays by slot that exist only while a consumer needs them. Planes say when
// a slot changed last, and motion keeps earlier locals and the shown worlds. The arrays grow with the
// pool, and their elements move with the nodes, as those of columns.h do.
//
// A forest without consumers has no track. Then each change of a node costs the test of a flag,
// ESPL__MODE_TRACKED.
#ifndef ESPALIER_LIB_TREE_TRACKS_H
#define ESPALIER_LIB_TREE_TRACKS_H

#include "lib/base/plane.h"
#include "lib/math/pose.h"

/// Planes of a forest: kinds of change of a slot.
enum {
    ESPL__PLANE_WORLD, ///< world transform: pose, stretch, user data
    ESPL__PLANE_OWN, ///< local, stretch, user data, inherit flags, kept parts, parent, place among siblings
    /// Another node is in the slot, or none; its node got another parent or place among siblings; the slot is a
    /// hole with another next one; it is or was an end of a free range.
    ESPL__PLANE_PLACE,
    ESPL__PLANE_SHOWN, ///< shown world
    /// A write with ESPL_TELEPORT placed the node, also where it left the transform as it is, or placed a node
    /// that it was below then (jumps.h).
    ESPL__PLANE_JUMP,
    /// Such a write placed the node in this moment, and the nodes below it are not marked yet.
    ESPL__PLANE_JUMP_TOP,
    /// Cell of a root, where the world has cells; of the top of what came to a root with another cell; and of
    /// nodes below both, where a consumer asked for these (espl__cells_spread()).
    ESPL__PLANE_CELL,
    ESPL__PLANE_COUNT,
};

/// Arrays of poses of motion: the local when the current tick began, when the tick before it began,
/// and the shown world.
enum { ESPL__PREVIOUS, ESPL__BEFORE, ESPL__SHOWN, ESPL__POSES_COUNT };

enum { ESPL__POSES_ALIGNMENT = 64 }; ///< of their memory: a cache line

/// Integer coordinates of a tree, in units of espl__forest.cell_size (cells.h).
typedef struct espl__cell {
    int32_t at[3];
} espl__cell;

/// Tell whether a number is a size of cells: a power of two from 1 to 2^30.
static inline bool espl__is_cell_size(float size)
{
    enum { LARGEST_SIZE = 1 << 30 };

    if (!(size >= 1 && size <= (float)LARGEST_SIZE)) {
        return false;
    }
    const uint32_t whole = (uint32_t)size;

    return (float)whole == size && (whole & (whole - 1)) == 0;
}

_Static_assert(sizeof(espl__cell) == 12, "a cell is three words");

/// Add cells. A sum outside of 32 bits wraps.
static inline espl__cell espl__cell_sum(espl__cell a, espl__cell b)
{
    espl__cell sum;

    for (int i = 0; i < 3; ++i) {
        sum.at[i] = (int32_t)((uint32_t)a.at[i] + (uint32_t)b.at[i]);
    }
    return sum;
}
/// Subtract a cell from another one. A difference outside of 32 bits wraps.
static inline espl__cell espl__cell_difference(espl__cell a, espl__cell b)
{
    espl__cell difference;

    for (int i = 0; i < 3; ++i) {
        difference.at[i] = (int32_t)((uint32_t)a.at[i] - (uint32_t)b.at[i]);
    }
    return difference;
}
static inline bool espl__cell_is_same(espl__cell a, espl__cell b)
{
    return ((a.at[0] ^ b.at[0]) | (a.at[1] ^ b.at[1]) | (a.at[2] ^ b.at[2])) == 0;
}

/// The arrays. {0}: none.
typedef struct espl__tracks {
    espl__plane planes[ESPL__PLANE_COUNT];
    /// By slot. NULL where motion does not run; ESPL__BEFORE also where it keeps one tick alone.
    espl_pose *poses[ESPL__POSES_COUNT];
    /// By slot, with ESPL__SHOWN: whether the node was made, or got a transform, since the last present. Its
    /// shown world is its world then, whatever the array has. Not to be confused with the marker of a node that
    /// was made since the tick began, which has no previous local.
    bool *is_unshown;
    /// By slot, where the world has cells: that of a root. Of other nodes it has no meaning, and is that of the
    /// time when the node was a root last, so that the undo of a link restores it.
    espl__cell *cells;
    uint32_t rolled; ///< moment of the begin of the last tick: own data marked later is newer
    uint32_t rolled_before; ///< of the tick before it
    uint32_t capacity;      ///< slots that each of them has room for
    bool is_ticking;        ///< between the begin and the end of a tick: writes are blended then
    _Atomic bool has_jumps; ///< some node may be marked in ESPL__PLANE_JUMP_TOP
} espl__tracks;

/// What the shown worlds show.
typedef struct espl__presented {
    uint32_t moment; ///< of the last present: later changes are not shown yet
    uint32_t tick;   ///< the moment before the tick of the last present: later changes were blended
    float at;        ///< the time of the last present
    bool has_ticked; ///< a tick began since then
    /// A shown world may not be finite. While it is false, those of all nodes are, but for new ones.
    bool has_overflowed;
    _Atomic bool has_unshown; ///< nodes were made since then, whose shown worlds are not known
    _Atomic bool is_busy;     ///< a thread completes the shown worlds of a tree
} espl__presented;

/// Tell whether motion runs.
static inline bool espl__tracks_have_motion(const espl__tracks *tracks)
{
    return tracks->poses[ESPL__PREVIOUS] != NULL;
}

/// Count the arrays of earlier locals: 0 where motion does not run.
static inline uint32_t espl__tracks_past_count(const espl__tracks *tracks)
{
    return (tracks->poses[ESPL__PREVIOUS] != NULL ? 1u : 0u) +
           (tracks->poses[ESPL__BEFORE] != NULL ? 1u : 0u);
}

/// Mark a slot in a plane where it is open.
ESPL__INLINE void espl__tracks_mark(const espl__tracks *tracks, int plane, uint32_t slot)
{
    if (espl__plane_is_open(&tracks->planes[plane])) {
        espl__plane_mark(&tracks->planes[plane], slot);
    }
}

/// Mark world and own data of a slot, each where its plane is open: they have one moment, and their blocks one
/// number.
ESPL__INLINE void espl__tracks_mark_node(const espl__tracks *tracks, uint32_t slot)
{
    const espl__plane world = tracks->planes[ESPL__PLANE_WORLD];
    const espl__plane own = tracks->planes[ESPL__PLANE_OWN];
    const uint32_t block = slot / ESPL__PLANE_BLOCK;

    ESPL_CHECK_FULL(world.moment == own.moment);
    if (espl__plane_is_open(&world)) {
        ESPL_CHECK_FULL(slot < world.capacity);
        world.stamps[slot] = (uint16_t)world.moment;
        atomic_store_explicit(&world.blocks[block], world.moment, memory_order_relaxed);
    }
    if (espl__plane_is_open(&own)) {
        ESPL_CHECK_FULL(slot < own.capacity);
        own.stamps[slot] = (uint16_t)world.moment;
        atomic_store_explicit(&own.blocks[block], world.moment, memory_order_relaxed);
    }
}

/// Make tracks with the arrays that others have, for more slots or another forest. Those stay as they
/// are. @param count  slots whose elements are copied. @return false: no memory, nothing made.
bool espl__tracks_make(espl__heap *heap, espl__tracks *tracks, uint32_t capacity,
                       const espl__tracks *from, uint32_t count);
/// Free all arrays. The moment stays.
void espl__tracks_free(espl__heap *heap, espl__tracks *tracks);
/// Allocate an array of poses, and is_unshown with ESPL__SHOWN, false for each slot. An empty forest gets an
/// array as well, because the address says that there is one. @return false: no memory, nothing made.
bool espl__tracks_add_poses(espl__heap *heap, espl__tracks *tracks, int poses, uint32_t capacity);
/// Free an array of poses, for as many slots as it was allocated for.
void espl__tracks_drop_poses(espl__heap *heap, espl__tracks *tracks, int poses, uint32_t capacity);
/// Allocate the array of cells. @return false: no memory.
bool espl__tracks_add_cells(espl__heap *heap, espl__tracks *tracks, uint32_t capacity);
/// Return the bytes of all arrays.
size_t espl__tracks_bytes(const espl__tracks *tracks);

/// Move the elements of a node to another slot, perhaps of another forest, and mark both places.
/// Precondition: both forests have the same tracks, and some.
void espl__tracks_move(const espl__tracks *to, uint32_t slot, const espl__tracks *from,
                       uint32_t old);

#endif
