// SPDX-License-Identifier: MIT
// The rule of computed_local.h. Whether a world is the one that was asked for is decided in double, to what
// the rounding of floats may add.
#include "lib/tree/computed_local.h"

// --- What a local reaches ---

// Return the largest magnitude of three numbers.
static double largest_of(const float v[ESPL__LEAST 3])
{
    double largest = 0;

    for (int i = 0; i < 3; ++i) {
        const double magnitude = fabs((double)v[i]);

        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

// What the rounding of a few operations may change, relative to the operands.
static const double rounding = 8 * (double)FLT_EPSILON;

// Return how much a rotation to and fro may change a vector, as a multiple of rounding: by rounding, and because
// propagation takes rotations off unit length.
static double turn_error(const float q[ESPL__LEAST 4])
{
    const double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];

    return largest_of(q) + 4 * fabs(x * x + y * y + z * z + w * w - 1) / rounding;
}

// Tell whether a world misses a wanted position on an axis that inherit flags do not keep: a factor of the
// parent is 0, a product underflows, or kept axes hide an offset whose rounding is larger. What rounding may
// add on an axis: that of both positions, and of the offset where the parent is rotated.
static ESPL__APART bool misses_position(const espl_pose *up, const espl_pose *world,
                                        const espl_pose *wanted, uint32_t flags)
{
    float away[3];
    bool misses = false;

    for (int i = 0; i < 3; ++i) {
        away[i] = wanted->position[i] - up->position[i];
    }
    // In double, because the sum of two floats may overflow.
    const double turned = 2 * largest_of(away) * turn_error(up->rotation);

    for (int i = 0; i < 3; ++i) {
        const double off = fabs((double)world->position[i] - (double)wanted->position[i]);
        const double sizes =
            fabs((double)wanted->position[i]) + fabs((double)up->position[i]) + turned;
        const double slack = rounding * sizes + 4 * (double)FLT_TRUE_MIN;
        // Kept axes are those of the world.
        const bool is_kept = (flags & ((unsigned)ESPL_ABSOLUTE_X << i)) != 0;

        misses = misses || (!is_kept && !(off <= slack));
    }
    return misses;
}

// Tell whether two scales differ by more than rounding.
static bool misses_scale(float scale, float wanted)
{
    const double slack = 4 * (double)FLT_EPSILON * fabs((double)wanted) + 2 * (double)FLT_TRUE_MIN;

    return !(fabs((double)scale - (double)wanted) <= slack);
}

// Return the finite parts of a wanted world that a world is not, to rounding. A rotation is never missed.
// @param world  of the node below the parent, kept parts included; finite.
static unsigned find_missed(const espl__frame *parent, const espl_pose *world, uint32_t flags,
                            unsigned parts, const espl_pose *wanted)
{
    unsigned missed = 0;

    if ((parts & ESPL__PART_POSITION) != 0 &&
        !espl__is_close(world, ESPL__PART_POSITION, wanted, &parent->world) &&
        misses_position(&parent->world, world, wanted, flags)) {
        missed |= ESPL__PART_POSITION;
    }
    if ((parts & ESPL__PART_SCALE) != 0 && misses_scale(world->scale, wanted->scale)) {
        missed |= ESPL__PART_SCALE;
    }
    return missed;
}

// --- The rule ---

espl_status espl__judge_closely(const espl__frame *parent, const espl_pose *local,
                                const espl__kept *kept, const espl_pose *world, unsigned parts,
                                const espl_pose *wanted)
{
    if (!espl__pose_is_finite(local) || (kept != NULL && !espl__pose_is_finite(&kept->pose))) {
        return ESPL_ERR_RANGE;
    }
    if (parts == 0 || parent == NULL) {
        return ESPL_OK;
    }
    if (!espl__pose_is_finite(world) || !espl__pose_is_finite(wanted)) {
        parts &= espl__find_finite(wanted);
        if ((parts & ~espl__find_finite(world)) != 0) {
            return ESPL_ERR_RANGE;
        }
    }
    return find_missed(parent, world, kept != NULL ? kept->flags : 0, parts, wanted) != 0
               ? ESPL_LOSSY
               : ESPL_OK;
}

// --- Entities that a call does not name ---

// Return a number, or the nearest finite one. That of a NaN is `other`.
static float nearest_finite(float value, float other)
{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : isnan(value) ? other : value;
}

// Return the pose whose numbers are the nearest finite ones.
static espl_pose nearest_pose(const espl_pose *pose, const espl_pose *other)
{
    espl_pose nearest = *pose;

    for (int i = 0; i < 3; ++i) {
        nearest.position[i] = nearest_finite(pose->position[i], other->position[i]);
    }
    if (!espl__all_finite(pose->rotation, 4)) {
        espl__copy_parts(&nearest, other, ESPL__PART_ROTATION);
    }
    nearest.scale = nearest_finite(pose->scale, other->scale);
    return nearest;
}

// What a finite local makes of the world of a placement.
typedef struct outcome {
    unsigned kept;   // parts that are the world's, or are not finite in it
    unsigned broken; // parts that are finite in the world, but no longer
} outcome;

static outcome outcome_of(const espl__placement *placement, const espl_pose *local,
                          const espl_pose *world, const espl__frame *frame)
{
    const espl__placement next = {*local, placement->kept, placement->extra};
    const espl_pose got = espl__placement_world(&next, frame);
    const unsigned asked = espl__find_finite(world), broken = asked & ~espl__find_finite(&got);
    const unsigned missed = find_missed(frame, &got, placement->kept.flags, asked & ~broken, world);

    return (outcome){ESPL__PART_POSE & ~broken & ~missed, broken};
}

bool espl__placement_try_rebase(espl__placement *placement, const espl_pose *world,
                                const espl__frame *frame)
{
    const float *const stretch = frame->extra.stretch;
    espl_pose seen;

    if (frame->world.scale == 0 || stretch[0] == 0 || stretch[1] == 0 || stretch[2] == 0) {
        return false;
    }
    (void)espl__pose_relative(&seen, &frame->world, stretch, world, &placement->local);
    if (!espl__pose_is_finite(&seen) ||
        outcome_of(placement, &seen, world, frame).kept != ESPL__PART_POSE) {
        return false;
    }
    placement->local = seen;
    return true;
}

espl_status espl__placement_rebase(espl__placement *placement, const espl_pose *world,
                                   const espl__frame *frame, const espl_pose *composed)
{
    const espl_pose other = nearest_pose(composed, &placement->local);
    espl_pose seen;

    (void)espl__pose_relative(&seen, &frame->world, frame->extra.stretch, world, &other);
    espl_pose local = nearest_pose(&seen, &other);
    const outcome first = outcome_of(placement, &local, world, frame);
    const outcome second = outcome_of(placement, &other, world, frame);
    // A part that is not finite in the world keeps nothing: the composed local is what is known of it.
    const unsigned open = ESPL__PART_POSE & ~espl__find_finite(world);

    espl__copy_parts(&local, &other,
                     (second.kept & ~first.kept) | (first.broken & ~second.broken) | open);
    placement->local = local;
    return (first.kept | second.kept | open) == ESPL__PART_POSE ? ESPL_OK : ESPL_LOSSY;
}
