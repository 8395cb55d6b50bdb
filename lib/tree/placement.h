// SPDX-License-Identifier: MIT
// The placement of one node as a value, without slots and trees: what a node stores, the world that
// follows from it below a parent, and the result of each kind of write, of inherit flags and of a
// change of parent. Immediate calls, batches and playback all call these functions, so that each
// write has one meaning.
//
// Invariants of a placement: local and kept parts are finite, the local rotation has unit length,
// and a node without inherit flags keeps nothing. The world may overflow. A function that would
// violate this refuses and changes nothing.
#ifndef ESPALIER_LIB_TREE_PLACEMENT_H
#define ESPALIER_LIB_TREE_PLACEMENT_H

#include "lib/tree/write_kinds.h"

/// All that is stored of a node but its world. Where it copies its parent, `extra` is the parent's.
typedef struct espl__placement {
    espl_pose local;
    espl__kept kept;
    espl__extra extra;
} espl__placement;

_Static_assert(sizeof(espl__placement) == 84, "placement: 32 + 36 + 16");

/// What the children of a node see of it. A NULL frame means no parent.
typedef struct espl__frame {
    espl_pose world;
    espl__extra extra;
} espl__frame;

/// Return the placement of a root with the identity transform.
static inline espl__placement espl__placement_identity(void)
{
    return (espl__placement){espl__pose_identity(), espl__kept_none(), espl__extra_default()};
}

/// Tell whether the node copies its parent by ESPL_COPY_PARENT.
static inline bool espl__placement_copies(const espl__placement *placement)
{
    return (placement->kept.flags & ESPL_COPY_PARENT) != 0;
}

/// Tell whether a placement needs side arrays: it has inherit flags, a stretch or user data.
static inline bool espl__placement_needs_side(const espl__placement *placement)
{
    return placement->kept.flags != 0 || !espl__extra_is_default(&placement->extra);
}

/// Tell whether two placements have the same bits.
bool espl__placement_is_equal(const espl__placement *a, const espl__placement *b);

/// Tell whether two placements have the same local and the same kept parts, which are what motion blends.
static inline bool espl__placement_is_posed_alike(const espl__placement *a,
                                                  const espl__placement *b)
{
    return espl__pose_is_same(&a->local, &b->local) &&
           espl__pose_is_same(&a->kept.pose, &b->kept.pose);
}

/// Compute the world that follows below a parent.
espl_pose espl__placement_world(const espl__placement *placement, const espl__frame *parent);

/// Return the local that a user reads. A stored part is read where it composes to the world part.
/// Where a kept part differs from that, the world part relative to the parent is read.
/// @param world  the world of the node.
espl_pose espl__placement_seen(const espl__placement *placement, const espl__frame *parent,
                               const espl_pose *world);

/// Apply one write to a placement.
///
/// @param world  in and out: the world of the node, which is up to date.
/// @param value  as espl__write_check() left it.
/// @return ESPL_OK, ESPL_LOSSY; refused and nothing changed: ESPL_ERR_RANGE (the computed local or
///         a kept part is not finite), ESPL_ERR_COPIES_PARENT.
espl_status espl__placement_write(espl__placement *placement, espl_pose *world,
                                  const espl__frame *parent, espl_write_kind kind,
                                  const espl_write_value *value);

/// As espl__placement_write(), for the pose of a node without inherit flags. Stretch and user data are not written.
espl_status espl__pose_write(espl_pose *local, espl_pose *world, const espl__frame *parent,
                             espl_write_kind kind, const espl_write_value *value);

/// Apply a local write to a local pose.
/// @return ESPL_OK, ESPL_LOSSY; refused and nothing changed: ESPL_ERR_RANGE (the computed local is
///         not finite).
espl_status espl__local_write(espl_pose *local, espl_write_kind kind,
                              const espl_write_value *value);

/// Tell whether a kind replaces one part of the local.
static inline bool espl__kind_sets_part(espl_write_kind kind)
{
    return kind == ESPL_WRITE_LOCAL_POSITION || kind == ESPL_WRITE_LOCAL_ROTATION ||
           kind == ESPL_WRITE_LOCAL_SCALE;
}
/// Return the part of a local that such a kind sets.
/// @param size  out, in bytes: that of a value of the kind.
ESPL__INLINE float *espl__part_of(espl_pose *local, espl_write_kind kind, size_t *size)
{
    ESPL_CHECK_FULL(espl__kind_sets_part(kind));
    switch (kind) {
    case ESPL_WRITE_LOCAL_POSITION:
        *size = sizeof local->position;
        return local->position;
    case ESPL_WRITE_LOCAL_ROTATION:
        *size = sizeof local->rotation;
        return local->rotation;
    default:
        *size = sizeof local->scale;
        return &local->scale;
    }
}
/// Tell whether espl__write_check() would neither refuse nor normalise a value of such a kind.
/// @param value  at any address.
ESPL__INLINE bool espl__part_is_sound(espl_write_kind kind, const void *value)
{
    float v[4] = {0};

    // The difference of a number to itself is 0, unless it is infinite or no number.
    switch (kind) {
    case ESPL_WRITE_LOCAL_POSITION:
        memcpy(v, value, 3 * sizeof v[0]);
        return (v[0] - v[0]) + (v[1] - v[1]) + (v[2] - v[2]) == 0;
    case ESPL_WRITE_LOCAL_ROTATION:
        memcpy(v, value, sizeof v);
        return espl__rotation_is_unit(v);
    default:
        memcpy(v, value, sizeof v[0]);
        return v[0] - v[0] == 0;
    }
}
/// Apply a local write to a placement without inherit flags, with stretch and user data. Statuses as
/// espl__placement_write().
espl_status espl__placement_write_local(espl__placement *placement, espl_write_kind kind,
                                        const espl_write_value *value);
/// Set parts of the world (ESPL__PART_ bits). As espl__placement_write().
espl_status espl__placement_set_world(espl__placement *placement, espl_pose *world,
                                      const espl__frame *parent, unsigned parts,
                                      const espl_pose *wanted);

/// How a change of parent treats each part: its world or its local is kept, or it snaps to the
/// parent.
typedef struct espl__keep_rules {
    uint8_t position, rotation, scale; // espl_keep
} espl__keep_rules;

/// Tell whether rules keep a part of the world.
static inline bool espl__rules_keep_world(const espl__keep_rules *rules)
{
    return rules->position == ESPL_KEEP_WORLD || rules->rotation == ESPL_KEEP_WORLD ||
           rules->scale == ESPL_KEEP_WORLD;
}

/// What is known of a node whose parent changes: its local as it reads below the old parent, and its pose
/// relative to the new one as espl__path_edited() computes it. NULL: the worlds tell the second.
typedef struct espl__known_locals {
    const espl_pose *local, *path;
} espl__known_locals;

/// Give a node another parent, or none. As espl__placement_write().
/// @param world  in and out: the world of the node.
/// @param flags  inherit flags below the new parent; not read where there is none.
espl_status espl__placement_move(espl__placement *placement, espl_pose *world,
                                 const espl__known_locals *known, const espl__frame *parent,
                                 espl__keep_rules rules, uint32_t flags);

/// Below the same parent, change the inherit flags and snap the parts that the rules name, in one
/// step, so that only the result is checked. As espl__placement_write(). Precondition: the flags
/// are valid.
espl_status espl__placement_reattach(espl__placement *placement, espl_pose *world,
                                     const espl__frame *parent, espl__keep_rules rules,
                                     uint32_t flags);

#endif
