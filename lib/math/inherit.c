// SPDX-License-Identifier: MIT
// World poses of members that keep parts. Kept positions and scales replace the composed ones.
// Where one direction of a rotation is kept and the other inherited, one of them is exact and the
// other is as near as possible.
#include "lib/math/inherit.h"

#include "lib/math/basis.h"

#include <string.h>

espl__kept espl__kept_of(const espl_pose *world, uint32_t flags)
{
    espl__kept kept = espl__kept_none();

    kept.flags = flags;
    for (int i = 0; i < 3; ++i) {
        if ((flags & ((unsigned)ESPL_ABSOLUTE_X << i)) != 0) {
            kept.pose.position[i] = world->position[i];
        }
    }
    if ((flags & ESPL_ABSOLUTE_ROTATION) != 0) {
        memcpy(kept.pose.rotation, world->rotation, sizeof kept.pose.rotation);
    }
    if ((flags & ESPL_ABSOLUTE_SCALE) != 0) {
        kept.pose.scale = world->scale;
    }
    return kept;
}

// --- Mixed rotation ---

// Compute the rotation with one direction, forward or up, of `kept` and the other of `composed`.
// The two are rarely perpendicular: the exact one (up with ESPL_STRICT_UP, else forward) stays, and
// the other is the nearest perpendicular direction. Returns false where they are parallel.
static bool mix_rotation(float out[ESPL__LEAST 4], const float kept[ESPL__LEAST 4],
                         const float composed[ESPL__LEAST 4], uint32_t flags)
{
    const bool keeps_forward = (flags & ESPL_ABSOLUTE_FORWARD) != 0;
    const bool is_up_exact = (flags & ESPL_STRICT_UP) != 0;
    double right[3], up[3], forward[3], near[3];

    ESPL_CHECK(keeps_forward != ((flags & ESPL_ABSOLUTE_UP) != 0));
    espl__axis_of(forward, keeps_forward ? kept : composed, 2);
    espl__axis_of(up, keeps_forward ? composed : kept, 1);
    if (is_up_exact ? !espl__axis_across(near, up, forward)
                    : !espl__axis_across(near, forward, up)) {
        return false;
    }
    memcpy(is_up_exact ? forward : up, near, sizeof near);
    espl__axis_cross(right, up, forward);
    espl__rotation_from_axes(out, right, up, forward);
    return true;
}

// Replace the kept directions of a composed rotation. Equal rotations keep their bits, because a
// mixture of them would round.
static void keep_rotation(float composed[ESPL__LEAST 4], const espl__kept *kept)
{
    const uint32_t both = kept->flags & ESPL_ABSOLUTE_ROTATION;
    const float *const own = kept->pose.rotation;
    float mixed[4];

    if (both == 0 || memcmp(own, composed, sizeof mixed) == 0) {
        return;
    }
    if (both == ESPL_ABSOLUTE_ROTATION) {
        memcpy(composed, own, sizeof mixed);
    } else if (mix_rotation(mixed, own, composed, kept->flags)) {
        memcpy(composed, mixed, sizeof mixed);
    } else {
        // The directions are parallel. The result is the rotation that has the exact direction.
        const uint32_t exact =
            (kept->flags & ESPL_STRICT_UP) != 0 ? ESPL_ABSOLUTE_UP : ESPL_ABSOLUTE_FORWARD;

        if (both == exact) {
            memcpy(composed, own, sizeof mixed);
        }
    }
}

void espl__keep_parts(espl_pose *composed, const espl__kept *kept)
{
    ESPL_CHECK(composed != &kept->pose && espl__flags_are_valid(kept->flags));
    if ((kept->flags & ESPL_COPY_PARENT) != 0) {
        return;
    }
    for (int i = 0; i < 3; ++i) {
        if ((kept->flags & ((unsigned)ESPL_ABSOLUTE_X << i)) != 0) {
            composed->position[i] = kept->pose.position[i];
        }
    }
    if ((kept->flags & ESPL_ABSOLUTE_SCALE) != 0) {
        composed->scale = kept->pose.scale;
    }
    keep_rotation(composed->rotation, kept);
}

espl_transform espl_transform_inherit(const espl_transform *parent, const espl_transform *local,
                                      const espl_transform *kept, uint32_t flags)
{
    if (parent == NULL || local == NULL || kept == NULL) {
        return espl__transform_identity();
    }
    if ((flags & ESPL_COPY_PARENT) != 0) {
        return *parent;
    }
    // The flags are a byte. Higher bits are ignored, because the result has no status to refuse
    // them.
    const espl_pose above = espl__pose_of(parent);
    const espl_pose below = espl__pose_of(local);
    const espl_pose own = espl__pose_of(kept);
    const espl__kept parts = espl__kept_of(&own, flags & ESPL__FLAGS_ALL);
    const espl__extra extra = espl__extra_of(local);
    espl_pose world = espl__pose_compose(&above, parent->stretch, &below);

    espl__keep_parts(&world, &parts);
    return espl__transform_of(&world, &extra);
}
