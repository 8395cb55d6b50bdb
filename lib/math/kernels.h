// SPDX-License-Identifier: MIT
// Composing many poses at once: the same formula as espl__pose_compose_to() and the same bits, on
// as many nodes at a time as the machine has lanes for. Sees arrays of floats and ranks only.
//
// Breadth-first order is what makes it possible: parents ascend with their children, so ranks
// [i, i + k) need nothing of each other as soon as the parent of the last one is less than i.
#ifndef ESPALIER_LIB_MATH_KERNELS_H
#define ESPALIER_LIB_MATH_KERNELS_H

#include "lib/math/pose.h"

#define ESPL__KERNELS_LIMIT 4

/// Arrays of one hierarchy in breadth-first order.
typedef struct espl__ranks {
    espl_pose *world;       ///< By slot: in, of ranks before those composed; out, of these.
    const espl_pose *local; ///< By slot. Must not overlap world.
    const uint32_t *order;  ///< [size] slot of each rank; NULL: every slot is its rank.
    const uint32_t *parent; ///< [size] rank of the parent, ascending, less than the rank itself;
                            ///< of the root anything.
    const uint32_t *first;  ///< [size] the first rank whose parent is not before this one, or size.
} espl__ranks;

/// One way to compose, for one set of instructions.
typedef struct espl__kernels {
    const char *name; ///< As users call it; never released.

    /// Compose the worlds of ranks [begin, end), 1 <= begin; those of their parents before begin
    /// are final. Which worlds come out depends on the input alone, bit for bit: not on the kernel,
    /// nor on how ranks are divided among calls.
    /// @return 0 where every world is finite. NaN where one may not be: a sum of large values
    ///         raises a false alarm, which whoever hears it settles by a closer look.
    float (*compose)(const espl__ranks *ranks, uint32_t begin, uint32_t end);
} espl__kernels;

/// Return the kernels for this machine. Threads may call it at once.
const espl__kernels *espl__kernels_best(void);
/// Return those of a name, NULL where there are none, or none that this machine can run.
const espl__kernels *espl__kernels_named(const char *name);
/// List what this machine can run, the plain one first, the best last. [ESPL__KERNELS_LIMIT] out.
/// @return how many.
size_t espl__kernels_all(const espl__kernels **out);

/// 0 where a pose is finite, NaN where it may not be. Rotations stay near unit length, or came to
/// be NaN by a position that is so too.
static inline float espl__pose_alarm(const espl_pose *pose)
{
    const float sum = pose->position[0] + pose->position[1] + pose->position[2] + pose->scale;

    return sum - sum;
}

/// Compose a single rank.
static inline float espl__compose_rank(const espl__ranks *ranks, uint32_t rank)
{
    const uint32_t up = ranks->parent[rank];
    const uint32_t slot = ranks->order != NULL ? ranks->order[rank] : rank;
    const uint32_t above = ranks->order != NULL ? ranks->order[up] : up;

    espl__pose_compose_to(&ranks->world[slot], &ranks->world[above], NULL, &ranks->local[slot]);
    return espl__pose_alarm(&ranks->world[slot]);
}

#endif
