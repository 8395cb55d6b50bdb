// SPDX-License-Identifier: MIT
// The stores of worlds. No other file stores to the worlds of a forest: espl__forest.world points to
// constants, so that a store elsewhere does not compile, and tests/stores.sh finds casts around it.
// Each store marks the change, so that the marks of worlds are in one place.
//
// A copy of a node to another slot is no store, because its world stays the same; see columns.h.
#ifndef ESPALIER_LIB_TREE_WORLDS_H
#define ESPALIER_LIB_TREE_WORLDS_H

#include "lib/math/wide.h"
#include "lib/tree/changes.h"

_Static_assert(_Generic(((espl__forest *)0)->world, const espl_pose * : 1, default : 0),
               "worlds are stored by this header alone");

/// The worlds of a forest, to store to, with the plane that marks them. A loop keeps it in a local,
/// because the compiler must assume that a store changes a field of the forest.
typedef struct espl__worlds {
    espl_pose *to_store;      // by slot
    const espl__plane *plane; // ESPL__PLANE_WORLD, open or closed
} espl__worlds;

/// Return the worlds of a forest. Invalid after a reserve, as the arrays of the forest.
static inline espl__worlds espl__worlds_of(espl__forest *forest)
{
    return (espl__worlds){forest->columns.world, &forest->tracks.planes[ESPL__PLANE_WORLD]};
}

/// Mark worlds of slots [begin, end) as changed, after they were stored. Worlds of holes are among them
/// where a range is composed at once. Several jobs may call it at a time, for slots of different trees.
ESPL__INLINE void espl__worlds_stored(espl__worlds worlds, uint32_t begin, uint32_t end)
{
    ESPL_CHECK_FULL(worlds.to_store != NULL && begin <= end);
    if (espl__plane_is_open(worlds.plane)) {
        espl__plane_mark_range(worlds.plane, begin, end);
    }
}

/// The same for one slot.
ESPL__INLINE void espl__world_stored(espl__worlds worlds, uint32_t slot)
{
    if (espl__plane_is_open(worlds.plane)) {
        espl__plane_mark(worlds.plane, slot);
    }
}

/// Store the world of one slot.
ESPL__INLINE void espl__world_store(espl__worlds worlds, uint32_t slot, const espl_pose *world)
{
    worlds.to_store[slot] = *world;
    espl__world_stored(worlds, slot);
}

/// The same for a pose in registers.
ESPL__INLINE void espl__world_store_wide(espl__worlds worlds, uint32_t slot, espl__wide_pose world)
{
    espl__wide_store(&worlds.to_store[slot], world);
    espl__world_stored(worlds, slot);
}

/// Store a world without the mark. The caller marks it after it, with other slots or with the local:
/// espl__worlds_stored(), espl__mark_world(), or espl__mark_made().
ESPL__INLINE void espl__world_put(espl__worlds worlds, uint32_t slot, const espl_pose *world)
{
    worlds.to_store[slot] = *world; // marked by the caller
}

/// The same for a pose in registers.
ESPL__INLINE void espl__world_put_wide(espl__worlds worlds, uint32_t slot, espl__wide_pose world)
{
    espl__wide_store(&worlds.to_store[slot], world); // marked by the caller
}

/// As espl__worlds_compose(), without the mark.
ESPL__INLINE float espl__worlds_put(espl__forest *forest, uint32_t begin, uint32_t end)
{
    espl_pose *const worlds = espl__worlds_of(forest).to_store; // marked by the caller

    return forest->kernels->compose(worlds, forest->local, forest->parent, begin, end);
}

/// Compose and store the worlds of slots [begin, end), none of which is exceptional, by the wide
/// kernel. @return the alarm of espl__kernels.compose().
ESPL__INLINE float espl__worlds_compose(espl__forest *forest, uint32_t begin, uint32_t end)
{
    const espl__worlds worlds = espl__worlds_of(forest);
    const float alarm =
        forest->kernels->compose(worlds.to_store, forest->local, forest->parent, begin, end);

    espl__worlds_stored(worlds, begin, end);
    return alarm;
}

/// The same for several ranges of `count` slots, as many as the kernels are wide, without the mark.
/// @param slots  first slot of each.
ESPL__INLINE float espl__worlds_compose_ranges(espl__forest *forest, const uint32_t *slots,
                                               uint32_t count)
{
    const espl__kernels *const kernels = forest->kernels;
    const espl__worlds worlds = espl__worlds_of(forest);
    const float alarm =
        kernels->compose_ranges(worlds.to_store, forest->local, forest->parent, slots,
                                count); // marked by the caller

    return alarm;
}

#endif
