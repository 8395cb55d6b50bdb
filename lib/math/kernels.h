// SPDX-License-Identifier: MIT
// Composing many poses at once: the same formula as espl__pose_compose_to() and the same bits, on
// as many nodes at a time as the machine has vector lanes for. Sees arrays by slot only.
//
// What makes it possible is that a parent's slot is below its children's: consecutive slots need
// nothing of each other as soon as all their parents are below the first of them.
#ifndef ESPALIER_LIB_MATH_KERNELS_H
#define ESPALIER_LIB_MATH_KERNELS_H

#include "lib/math/pose.h"

#define ESPL__KERNELS_LIMIT 4

enum {
    ESPL__ALIKE_LIMIT = 24, ///< nodes of a tree for compose_alike() at most: its stack is bounded
    ESPL__LANES_LIMIT = 16, ///< of all kernels
};

/// One way to compose, for one set of instructions.
typedef struct espl__kernels {
    const char *name; ///< As users call it; never released.

    /// Compose the worlds of slots [begin, end). Worlds of parents below `begin` are final; the
    /// parent of each slot is below the slot. Writes no other world. Which worlds result depends on
    /// the input alone, bit for bit: not on the kernel, nor on how slots are divided among calls.
    ///
    /// @param worlds   by slot. Must not overlap `locals`.
    /// @param parents  by slot: slot of the parent.
    /// @return 0 where every world is finite. NaN where one may not be: a sum of large values
    ///         raises a false alarm, so that the caller has to look at each world.
    float (*compose)(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                     uint32_t begin, uint32_t end);

    uint32_t lanes; ///< Trees that compose_alike() takes at once; 1: there is no such function.
    /// Compose the worlds of several trees of one shape, a lane for each: the parent of slot base + k
    /// is base + the same number in each of them. The worlds of the slots at `bases` are final.
    /// Otherwise as compose(), with the same bits.
    ///
    /// @param bases  [lanes] first slot of each tree. One may stand there several times.
    /// @param size   slots of each tree, at most ESPL__ALIKE_LIMIT.
    float (*compose_alike)(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                           const uint32_t *bases, uint32_t size);
} espl__kernels;

/// Return the kernels for this machine. Threads may call it at once.
const espl__kernels *espl__kernels_best(void);
/// Return the kernels of that name; NULL where there are none, or none that this machine can run.
const espl__kernels *espl__kernels_named(const char *name);
/// List what this machine can run, the plain one first, the best last.
/// @param out  [ESPL__KERNELS_LIMIT]
/// @return how many.
size_t espl__kernels_all(const espl__kernels **out);

/// 0 where a pose is finite, NaN where it may not be. Rotations need no look, because a world
/// rotation is a product of local rotations, which are finite and near unit length.
static inline float espl__pose_alarm(const espl_pose *pose)
{
    const float sum = pose->position[0] + pose->position[1] + pose->position[2] + pose->scale;

    return sum - sum;
}

#endif
