// SPDX-License-Identifier: MIT
// Kernels compose the world poses of many nodes, a SIMD register of nodes at a time. They compute
// the formula of espl__pose_compose_to(), with the same bits.
//
// The slot of a parent is below the slots of its children. So consecutive slots are independent of
// each other where the slots of all their parents are below the first of them.
#ifndef ESPALIER_LIB_MATH_KERNELS_H
#define ESPALIER_LIB_MATH_KERNELS_H

#include "lib/math/blend.h"
#include "lib/math/boxes.h"
#include "lib/math/pose.h"

/// The largest number of kernels of one build.
#define ESPL__KERNELS_LIMIT 4

enum { ESPL__WIDTH_LIMIT = 16 }; ///< Largest width of a kernel.

/// Values of a batch of writes, by number.
typedef struct espl__pose_values {
    const unsigned char *first; // an espl_pose, or an espl_transform, which begins with one
    size_t stride;              // bytes from one to the next
    bool has_stretch;           // they are transforms
} espl__pose_values;

/// The functions for one instruction set.
typedef struct espl__kernels {
    const char *name; ///< The name that users know; static storage.

    /// Compose the worlds of slots [begin, end). No other world is written. The bits of the worlds
    /// depend on neither the kernel nor the division of slots into calls.
    ///
    /// Precondition: the worlds of parents below `begin` are final, and each parent is below its
    /// child.
    /// @param worlds   by slot. Must not overlap `locals`.
    /// @param parents  by slot: slot of the parent.
    /// @return 0 where all worlds are finite. NaN where one may be not finite, so that the caller
    ///         must test each world: the sum of large finite values may overflow.
    float (*compose)(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                     uint32_t begin, uint32_t end);

    uint32_t width; ///< Number of ranges of compose_ranges(); 1: there is no such function.
    /// Compose the worlds of several ranges of equal length. The result is that of compose() of each
    /// range.
    ///
    /// Precondition: no parent of a slot is in another range. A range may be listed several times.
    /// @param slots  [width] first slot of each range.
    /// @param count  number of slots of each range.
    float (*compose_ranges)(espl_pose *worlds, const espl_pose *locals, const uint32_t *parents,
                            const uint32_t *slots, uint32_t count);

    /// Store poses in order, up to the first one that has the bits of the stored pose. It also
    /// ends where one of the next values may be not finite or not of unit length; the caller tests
    /// each of them.
    /// @param slots    [count] where each pose is to be stored.
    /// @param numbers  [count] of the values; NULL: from `first` on.
    /// @return the number of poses that are stored.
    uint32_t (*store_poses)(espl_pose *locals, const uint32_t *slots,
                            const espl__pose_values *values, const uint32_t *numbers,
                            uint32_t first, uint32_t count);

    /// Blend locals in place at a time between 0 and 1, as espl__pose_blend(), with the same bits.
    ///
    /// Precondition: no slot is listed twice.
    /// @param saved     [count] out: the locals as they were, in the order of the list.
    /// @param previous  by slot: poses at time 0. The locals are those at time 1.
    void (*blend)(espl_pose *locals, espl_pose *saved, const espl_pose *previous,
                  const uint32_t *slots, uint32_t count, const espl__blend *blend);

    const espl__box_kernels *boxes; ///< world boxes, and tests of boxes against planes
} espl__kernels;

/// Return the fastest kernels that this machine can run. Any thread.
const espl__kernels *espl__kernels_best(void);
/// Return the kernels of a name. NULL where the build has none, or the machine cannot run them. Any
/// thread.
const espl__kernels *espl__kernels_named(const char *name);
/// Tell whether a name is one of kernels, of this or of another machine. Any thread.
bool espl__kernels_exist(const char *name);
/// List the kernels that this machine can run, the scalar ones first and the fastest last. Any
/// thread.
/// @param out  [ESPL__KERNELS_LIMIT]
/// @return the number of kernels.
size_t espl__kernels_all(const espl__kernels **out);

/// Return 0 where a pose is finite, NaN where it may be not. The rotation is not tested, because a
/// world rotation is a product of local rotations, which are finite and near unit length.
static inline float espl__pose_nonfinite(const espl_pose *pose)
{
    const float sum = pose->position[0] + pose->position[1] + pose->position[2] + pose->scale;

    return sum - sum;
}

#endif
