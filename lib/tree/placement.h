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

#include "lib/math/inherit.h"

#include <espalier/write.h>

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

/// Bits for the parts of a pose.
enum {
    ESPL__PART_POSITION = 1,
    ESPL__PART_ROTATION = 2,
    ESPL__PART_SCALE = 4,
    ESPL__PART_POSE = 7,
};

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

/// Compute the world that follows below a parent.
espl_pose espl__placement_world(const espl__placement *placement, const espl__frame *parent);

/// Return the local that a user reads. A stored part is read where it composes to the world part.
/// Where a kept part differs from that, the world part relative to the parent is read.
/// @param world  the world of the node.
espl_pose espl__placement_seen(const espl__placement *placement, const espl__frame *parent,
                               const espl_pose *world);

/// Check the value of a write, and normalise its rotation in place.
/// @return ESPL_OK, ESPL_ERR_NOT_FINITE, ESPL_ERR_ARGUMENT (no such kind).
espl_status espl__write_check(espl_write_kind kind, espl_write_value *value);

/// Type of the value of a kind of write.
typedef enum espl__value_type {
    ESPL__VALUE_NONE, ///< no such kind
    ESPL__VALUE_VECTOR,
    ESPL__VALUE_ROTATION,
    ESPL__VALUE_SCALAR,
    ESPL__VALUE_POSE,
    ESPL__VALUE_TRANSFORM,
    ESPL__VALUE_WORD,
} espl__value_type;

/// Return the type of the value of a kind.
espl__value_type espl__write_value_type(espl_write_kind kind);

/// Return the size of the value of a kind in bytes; 0 where there is no such kind.
size_t espl__write_value_size(espl_write_kind kind);

/// Copy a value from any address. A pose becomes a transform without stretch and user data. The
/// sizes are constants, because such a copy takes a few instructions.
static inline void espl__write_load(espl_write_value *out, espl_write_kind kind, const void *bytes)
{
    // There is no other type.
    switch (espl__write_value_type(kind)) { // GCOVR_EXCL_BR_LINE
    case ESPL__VALUE_TRANSFORM:
        memcpy(out, bytes, sizeof(espl_transform));
        break;
    case ESPL__VALUE_POSE: {
        const espl__extra none = espl__extra_default();
        espl_pose pose;

        memcpy(&pose, bytes, sizeof pose);
        out->transform = espl__transform_of(&pose, &none);
        break;
    }
    case ESPL__VALUE_VECTOR:
        memcpy(out, bytes, 3 * sizeof(float));
        break;
    case ESPL__VALUE_ROTATION:
        memcpy(out, bytes, 4 * sizeof(float));
        break;
    case ESPL__VALUE_SCALAR:
    case ESPL__VALUE_WORD:
        memcpy(out, bytes, sizeof(float));
        break;
    case ESPL__VALUE_NONE:
        break;
    }
}

/// Apply one write to a placement.
///
/// @param world  in and out: the world of the node, which is up to date.
/// @param value  as espl__write_check() left it.
/// @return ESPL_OK, ESPL_LOSSY; refused and nothing changed: ESPL_ERR_RANGE (the computed local or
///         a kept part is not finite), ESPL_ERR_COPIES_PARENT.
espl_status espl__placement_write(espl__placement *placement, espl_pose *world,
                                  const espl__frame *parent, espl_write_kind kind,
                                  const espl_write_value *value);

/// The same for the pose of a node without inherit flags. Stretch and user data are not written.
espl_status espl__pose_write(espl_pose *local, espl_pose *world, const espl__frame *parent,
                             espl_write_kind kind, const espl_write_value *value);
/// Tell whether a write of a kind reads the local of a node only, not its world, where it has no
/// inherit flags.
bool espl__write_is_local(espl_write_kind kind);
/// Apply a local write to a local pose.
/// @return ESPL_OK, ESPL_LOSSY; refused and nothing changed: ESPL_ERR_RANGE (the computed local is
///         not finite).
espl_status espl__local_write(espl_pose *local, espl_write_kind kind,
                              const espl_write_value *value);
/// Apply a local write to a placement without inherit flags, with stretch and user data. Statuses
/// likewise.
espl_status espl__placement_write_local(espl__placement *placement, espl_write_kind kind,
                                        const espl_write_value *value);
/// Tell whether writes of a kind may change stretch or user data.
static inline bool espl__write_has_extra(espl_write_kind kind)
{
    return kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_WORLD_TRANSFORM ||
           kind == ESPL_WRITE_USER_DATA || kind == ESPL_WRITE_STRETCH ||
           kind == ESPL_WRITE_MULTIPLY_STRETCH;
}
/// Tell whether a write may give a node without stretch and user data some, so that its tree needs
/// side arrays.
bool espl__write_wants_side(espl_write_kind kind, const espl_write_value *value);

/// Set parts of the world (ESPL__PART_ bits). As espl__placement_write().
espl_status espl__placement_set_world(espl__placement *placement, espl_pose *world,
                                      const espl__frame *parent, unsigned parts,
                                      const espl_pose *wanted);

/// Change the inherit flags. The world stays. As espl__placement_write(). Precondition: the flags
/// are valid.
espl_status espl__placement_inherit(espl__placement *placement, espl_pose *world,
                                    const espl__frame *parent, uint32_t flags);

/// How a change of parent treats each part: its world or its local is kept, or it snaps to the
/// parent.
typedef struct espl__keep_rules {
    uint8_t position, rotation, scale; // espl_keep
} espl__keep_rules;

/// Give a node another parent, or none. As espl__placement_write().
/// @param local  as it reads below the old parent.
/// @param world  in and out: the world of the node.
/// @param flags  inherit flags below the new parent; not read where there is none.
espl_status espl__placement_move(espl__placement *placement, espl_pose *world,
                                 const espl_pose *local, const espl__frame *parent,
                                 espl__keep_rules rules, uint32_t flags);

/// Below the same parent, change the inherit flags and snap the parts that the rules name, in one
/// step, so that only the result is checked. As espl__placement_write(). Precondition: the flags
/// are valid.
espl_status espl__placement_reattach(espl__placement *placement, espl_pose *world,
                                     const espl__frame *parent, espl__keep_rules rules,
                                     uint32_t flags);

#endif
