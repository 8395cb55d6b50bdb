// SPDX-License-Identifier: MIT
// The rule for computed locals: what becomes of a local that follows from a world, where no float holds
// it, or where the world that results is not the one that was asked for. Writes in world axes, inherit
// flags, changes of parent, clones and the survivors of a destroy compute locals, at once, in batches and
// in playbacks; all of them ask here.
//
// - The entity that a call names: where the local, a kept part, or a part of the world that was asked for
//   and is finite would not be finite, the call is refused with ESPL_ERR_RANGE.
// - Entities that the call does not name, whose parent it takes away or changes, get the nearest local
//   that is finite.
// - A part of the world that is not the one that was asked for, to rounding, is the remark ESPL_LOSSY.
#ifndef ESPALIER_LIB_TREE_COMPUTED_LOCAL_H
#define ESPALIER_LIB_TREE_COMPUTED_LOCAL_H

#include "lib/tree/placement.h"

/// Copy some parts of a pose.
static inline void espl__copy_parts(espl_pose *to, const espl_pose *from, unsigned parts)
{
    ESPL_CHECK_FULL((parts & ~(unsigned)ESPL__PART_POSE) == 0);
    // One copy for all parts, because a wide load of a pose stalls after stores of its parts.
    if (parts == ESPL__PART_POSE) {
        *to = *from;
        return;
    }
    if ((parts & ESPL__PART_POSITION) != 0) {
        memcpy(to->position, from->position, sizeof to->position);
    }
    if ((parts & ESPL__PART_ROTATION) != 0) {
        memcpy(to->rotation, from->rotation, sizeof to->rotation);
    }
    if ((parts & ESPL__PART_SCALE) != 0) {
        to->scale = from->scale;
    }
}

/// Return the parts that are finite.
static inline unsigned espl__find_finite(const espl_pose *pose)
{
    // Fast path: nearly all poses.
    if (espl__pose_is_finite(pose)) {
        return ESPL__PART_POSE;
    }
    const bool is_placed = espl__all_finite(pose->position, 3);
    const bool is_turned = espl__all_finite(pose->rotation, 4);

    return (is_placed ? ESPL__PART_POSITION : 0u) | (is_turned ? ESPL__PART_ROTATION : 0u) |
           (isfinite(pose->scale) ? ESPL__PART_SCALE : 0u);
}

/// Tell whether parts of a world are those of a wanted one, by what the rounding of two positions and of a
/// scale may add. False where one of them is not finite. In float, because nearly all are.
static inline bool espl__is_close(const espl_pose *world, unsigned parts, const espl_pose *wanted,
                                  const espl_pose *parent)
{
    const float unit = 2 * FLT_EPSILON;
    bool is_close = true;

    if ((parts & ESPL__PART_POSITION) != 0) {
        for (int i = 0; i < 3; ++i) {
            is_close &= fabsf(world->position[i] - wanted->position[i]) <=
                        unit * fabsf(wanted->position[i]) + unit * fabsf(parent->position[i]);
        }
    }
    return is_close && ((parts & ESPL__PART_SCALE) == 0 ||
                        fabsf(world->scale - wanted->scale) <= FLT_EPSILON * fabsf(wanted->scale));
}

/// The slow path of espl__judge_local().
espl_status espl__judge_closely(const espl__frame *parent, const espl_pose *local,
                                const espl__kept *kept, const espl_pose *world, unsigned parts,
                                const espl_pose *wanted);
/// Apply the rule to the local of an entity that a call names.
///
/// @param parent  NULL without a parent: the local is the world.
/// @param kept    NULL without inherit flags.
/// @param world   that follows below the parent, kept parts included.
/// @param parts   of `wanted` that were asked for; 0: the local was not computed from a world.
/// @param wanted  the world before, where it is to stay, or a written one.
/// @return ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE.
static inline espl_status espl__judge_local(const espl__frame *parent, const espl_pose *local,
                                            const espl__kept *kept, const espl_pose *world,
                                            unsigned parts, const espl_pose *wanted)
{
    // Fast path: nearly all locals. Rotations are always finite, because they are products of locals of
    // unit length.
    const bool is_fine =
        espl__pose_is_finite(local) && (kept == NULL || espl__pose_is_finite(&kept->pose)) &&
        (parts == 0 || parent == NULL || espl__is_close(world, parts, wanted, &parent->world));

    return is_fine ? ESPL_OK : espl__judge_closely(parent, local, kept, world, parts, wanted);
}

/// Give an entity that a call does not name the local that keeps its world below another frame, where no
/// factor of the frame is 0 and floats hold it. Kept parts stay.
/// @param world  that it has.
/// @return false: espl__placement_rebase() does it; nothing changed.
bool espl__placement_try_rebase(espl__placement *placement, const espl_pose *world,
                                const espl__frame *frame);
/// Compute the local that keeps a world in any frame, or the nearest local. Each of position, rotation
/// and scale is the first of these that is finite and gives the world: the world relative to the frame,
/// with the composed local on axes that a zero makes unreachable; the composed local. Else it is the
/// first one, as far as floats reach.
/// @param composed  the local that follows from the locals between the entity and the frame.
/// @return ESPL_OK, ESPL_LOSSY.
espl_status espl__placement_rebase(espl__placement *placement, const espl_pose *world,
                                   const espl__frame *frame, const espl_pose *composed);

#endif
