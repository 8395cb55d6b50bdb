// SPDX-License-Identifier: MIT
// The placement of one node as a value: what is stored of it, the world that follows under a parent,
// and what each kind of write makes of it. The one place where writes, inherit flags and changes of
// parent are given their meaning; calls at once, batches and playback all come here.
#ifndef ESPALIER_LIB_TREE_PLACEMENT_H
#define ESPALIER_LIB_TREE_PLACEMENT_H

#include "lib/math/inherit.h"

#include <espalier/write.h>

/// What is stored of a node. For one that copies its parent, `extra` is what it shows.
typedef struct espl__placement {
    espl_pose local;
    espl__kept kept;
    espl__extra extra;
} espl__placement;

_Static_assert(sizeof(espl__placement) == 84, "placement: 32 + 36 + 16");

/// What children of a node see of it. A NULL frame stands for no parent.
typedef struct espl__frame {
    espl_pose world;
    espl__extra extra;
} espl__frame;

/// Parts of a pose.
enum {
    ESPL__PART_POSITION = 1,
    ESPL__PART_ROTATION = 2,
    ESPL__PART_SCALE = 4,
    ESPL__PART_POSE = 7,
};

static inline espl__placement espl__placement_identity(void)
{
    return (espl__placement){espl__pose_identity(), espl__kept_none(), espl__extra_default()};
}

static inline bool espl__placement_copies(const espl__placement *placement)
{
    return (placement->kept.flags & ESPL_COPY_PARENT) != 0;
}

/// Tell whether a placement needs side arrays: something in it is not the default.
static inline bool espl__placement_needs_side(const espl__placement *placement)
{
    return placement->kept.flags != 0 || !espl__extra_is_default(&placement->extra);
}

bool espl__placement_is_equal(const espl__placement *a, const espl__placement *b);

/// World pose under a parent.
espl_pose espl__placement_world(const espl__placement *placement, const espl__frame *parent);

/// Local pose as it is read. A part that is stored reads as it is while it gives the world part;
/// else it reads as the world part is seen from the parent.
/// @param world  own world pose.
espl_pose espl__placement_seen(const espl__placement *placement, const espl__frame *parent,
                               const espl_pose *world);

/// Check a write's value, and normalise its rotation in place.
/// @return ESPL_OK, ESPL_ERR_NOT_FINITE, ESPL_ERR_ARGUMENT (no such kind).
espl_status espl__write_check(espl_write_kind kind, espl_write_value *value);

/// What a kind's value is.
typedef enum espl__value_type {
    ESPL__VALUE_NONE, ///< no such kind
    ESPL__VALUE_VECTOR,
    ESPL__VALUE_ROTATION,
    ESPL__VALUE_SCALAR,
    ESPL__VALUE_POSE,
    ESPL__VALUE_TRANSFORM,
    ESPL__VALUE_WORD,
} espl__value_type;

espl__value_type espl__write_value_type(espl_write_kind kind);

/// Size of a kind's value in bytes; 0 where there is no such kind.
size_t espl__write_value_size(espl_write_kind kind);

/// Copy a value from any address. A pose becomes a transform without stretch and user data. A copy of a
/// constant size is a few instructions.
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

/// Apply one write to a placement. Locals and kept parts stay finite; the world may overflow.
///
/// @param world  in and out: own world pose.
/// @param value  as espl__write_check() left it.
/// @return ESPL_OK, ESPL_LOSSY; refused and nothing changed: ESPL_ERR_RANGE (the computed local or
///         a kept part is not finite), ESPL_ERR_COPIES_PARENT.
espl_status espl__placement_write(espl__placement *placement, espl_pose *world,
                                  const espl__frame *parent, espl_write_kind kind,
                                  const espl_write_value *value);

/// The same for a node that keeps nothing, when a write leaves stretch and context as they are.
espl_status espl__pose_write(espl_pose *local, espl_pose *world, const espl__frame *parent,
                             espl_write_kind kind, const espl_write_value *value);
/// Tell whether a kind of write needs nothing but the local pose of a node that keeps nothing.
bool espl__write_is_local(espl_write_kind kind);
/// Apply such a write to a local. ESPL_OK, ESPL_LOSSY, ESPL_ERR_RANGE (the computed local is not
/// finite; unchanged).
espl_status espl__local_write(espl_pose *local, espl_write_kind kind,
                              const espl_write_value *value);
/// Apply such a write to a placement that keeps nothing, stretch and context included. Statuses likewise.
espl_status espl__placement_write_local(espl__placement *placement, espl_write_kind kind,
                                        const espl_write_value *value);
/// Tell whether writes of a kind may change a stretch or a context.
static inline bool espl__write_has_extra(espl_write_kind kind)
{
    return kind == ESPL_WRITE_LOCAL_TRANSFORM || kind == ESPL_WRITE_WORLD_TRANSFORM ||
           kind == ESPL_WRITE_USER_DATA || kind == ESPL_WRITE_STRETCH ||
           kind == ESPL_WRITE_MULTIPLY_STRETCH;
}
/// Tell whether a write may leave a stretch or context other than the default where they are the
/// default now.
bool espl__write_wants_side(espl_write_kind kind, const espl_write_value *value);

/// Set parts of the world pose. As espl__placement_write().
espl_status espl__placement_set_world(espl__placement *placement, espl_pose *world,
                                      const espl__frame *parent, unsigned parts,
                                      const espl_pose *wanted);

/// Change the inherit flags where the node stands. As espl__placement_write(); the flags are valid.
espl_status espl__placement_inherit(espl__placement *placement, espl_pose *world,
                                    const espl__frame *parent, uint32_t flags);

/// How each part comes along to another parent.
typedef struct espl__stay_rules {
    uint8_t position, rotation, scale; // espl_keep
} espl__stay_rules;

/// Bring a node under another parent, or none. As espl__placement_write().
/// @param local  as it is read under the old parent.
/// @param world  in and out: own world pose.
/// @param flags  under the new parent; not read where there is none.
espl_status espl__placement_move(espl__placement *placement, espl_pose *world,
                                 const espl_pose *local, const espl__frame *parent,
                                 espl__stay_rules rules, uint32_t flags);

/// Under the parent that a node has, change its inherit flags and snap what the rules say, in one step. As
/// espl__placement_write(); the flags are valid.
espl_status espl__placement_attach_again(espl__placement *placement, espl_pose *world,
                                   const espl__frame *parent, espl__stay_rules rules,
                                   uint32_t flags);

#endif
