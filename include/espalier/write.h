// SPDX-License-Identifier: MIT
/// @file
/// Writing transforms. A write propagates at once: every world transform read after it is the true
/// one.
///
/// Common to all writes of one entity:
/// - Statuses of handles as in espalier/read.h. ESPL_ERR_NOT_FINITE for NaN or infinity in any
///   field, and for a rotation without length. ESPL_ERR_RANGE where a world transform, the entity's
///   own or one below it, would overflow. ESPL_ERR_COPIES_PARENT on a member with that flag.
///   ESPL_ERR_BUSY during playback. Refused, a call has changed nothing.
/// - Rotations are normalised, unless their squared length is within 4e-7 of 1 already.
/// - A write that leaves the local bit-equal does nothing (-0 and 0 are different bits). What hangs
///   below an entity whose world stays bit-equal is not visited: below the one that is written, and
///   in hierarchies with inherit flags, stretch or pass-throughs below every one.
/// - Writes take no memory, but for one case: the first stretch or context other than the default in
///   a hierarchy, and the first inherit flags, need a side array. Such a write is structural in that
///   it may answer ESPL_ERR_NO_MEMORY, and ESPL_ERR_BUSY during iteration. Prepay with
///   espl_reserve_side(). When the last of them goes, so does the array, unless it was prepaid.
/// - O(descendants).
#ifndef ESPALIER_WRITE_H
#define ESPALIER_WRITE_H

#include <espalier/read.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of write, each with its function and its form in a batch. "Local" is relative to the parent
/// and in its axes; on a root or solo both spaces are the world.
typedef enum espl_write_kind {
    ESPL_WRITE_LOCAL_POSITION,              ///< position[3]
    ESPL_WRITE_LOCAL_ROTATION,              ///< rotation[4]
    ESPL_WRITE_LOCAL_SCALE,                 ///< scale
    ESPL_WRITE_LOCAL_POSE,                  ///< transform, but for its stretch and context
    ESPL_WRITE_LOCAL_TRANSFORM,             ///< transform
    ESPL_WRITE_STRETCH,                     ///< stretch[3]
    ESPL_WRITE_USER_DATA,                   ///< context
    ESPL_WRITE_WORLD_POSITION,              ///< position[3]
    ESPL_WRITE_WORLD_ROTATION,              ///< rotation[4]
    ESPL_WRITE_WORLD_SCALE,                 ///< scale
    ESPL_WRITE_WORLD_TRANSFORM,             ///< transform
    ESPL_WRITE_TRANSLATE_IN_PARENT,         ///< position[3], an offset
    ESPL_WRITE_ROTATE_IN_PARENT,            ///< rotation[4]
    ESPL_WRITE_TRANSFORM_IN_PARENT,         ///< transform
    ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT, ///< transform
    ESPL_WRITE_TRANSLATE_WORLD,             ///< position[3], an offset
    ESPL_WRITE_ROTATE_WORLD,                ///< rotation[4]
    ESPL_WRITE_TRANSFORM_WORLD,             ///< transform
    ESPL_WRITE_INVERSE_TRANSFORM_WORLD,     ///< transform
    ESPL_WRITE_MULTIPLY_SCALE,              ///< scale, a factor
    ESPL_WRITE_MULTIPLY_STRETCH,            ///< stretch[3], factors
    ESPL_WRITE_KIND_COUNT
} espl_write_kind;

// --- Set: the local becomes the value ---

ESPL_API ESPL_NODISCARD espl_status espl_set_local_position(espl_world *world, espl_entity entity,
                                                            const float position[3]);
ESPL_API ESPL_NODISCARD espl_status espl_set_local_rotation(espl_world *world, espl_entity entity,
                                                            const float rotation[4]);
ESPL_API ESPL_NODISCARD espl_status espl_set_local_scale(espl_world *world, espl_entity entity,
                                                         float scale);
/// Set position, rotation and scale; stretch and context stay.
ESPL_API ESPL_NODISCARD espl_status espl_set_local_pose(espl_world *world, espl_entity entity,
                                                        const espl_transform *value);
/// Set all 48 bytes.
ESPL_API ESPL_NODISCARD espl_status espl_set_local_transform(espl_world *world, espl_entity entity,
                                                             const espl_transform *value);
/// Set the stretch, which is the same in both spaces. It moves children and shapes the entity itself.
ESPL_API ESPL_NODISCARD espl_status espl_set_stretch(espl_world *world, espl_entity entity,
                                                     const float stretch[3]);
/// Set the user's word.
ESPL_API ESPL_NODISCARD espl_status espl_set_user_data(espl_world *world, espl_entity entity,
                                                       uint32_t context);

// --- Set in world axes: the local becomes the value as it is seen from the parent ---
//
// Kept parts take the value directly. Below a scale or stretch of zero the axes that can be reached
// are set, the others keep their local value, and the answer is ESPL_LOSSY.

ESPL_API ESPL_NODISCARD espl_status espl_set_world_position(espl_world *world, espl_entity entity,
                                                            const float position[3]);
ESPL_API ESPL_NODISCARD espl_status espl_set_world_rotation(espl_world *world, espl_entity entity,
                                                            const float rotation[4]);
ESPL_API ESPL_NODISCARD espl_status espl_set_world_scale(espl_world *world, espl_entity entity,
                                                         float scale);
/// Set all 48 bytes, stretch and context too.
ESPL_API ESPL_NODISCARD espl_status espl_set_world_transform(espl_world *world, espl_entity entity,
                                                             const espl_transform *value);

// --- Change in the parent's axes ---

/// position += offset.
ESPL_API ESPL_NODISCARD espl_status espl_translate_in_parent(espl_world *world, espl_entity entity,
                                                             const float offset[3]);
/// rotation := by * rotation; the position stays. The product is normalised like any rotation.
ESPL_API ESPL_NODISCARD espl_status espl_rotate_in_parent(espl_world *world, espl_entity entity,
                                                          const float by[4]);
/// pose := by * pose, as espl_transform_compose(); stretch and context stay.
ESPL_API ESPL_NODISCARD espl_status espl_transform_in_parent(espl_world *world, espl_entity entity,
                                                             const espl_transform *by);
/// pose := inverse of by * pose, as espl_transform_relative(). ESPL_LOSSY where by has a scale or
/// stretch of zero: what cannot be reached stays.
ESPL_API ESPL_NODISCARD espl_status espl_inverse_transform_in_parent(espl_world *world,
                                                                     espl_entity entity,
                                                                     const espl_transform *by);

// --- Change in world axes: as the four above on the world transform, then set as world values ---

ESPL_API ESPL_NODISCARD espl_status espl_translate_world(espl_world *world, espl_entity entity,
                                                         const float offset[3]);
ESPL_API ESPL_NODISCARD espl_status espl_rotate_world(espl_world *world, espl_entity entity,
                                                      const float by[4]);
ESPL_API ESPL_NODISCARD espl_status espl_transform_world(espl_world *world, espl_entity entity,
                                                         const espl_transform *by);
ESPL_API ESPL_NODISCARD espl_status espl_inverse_transform_world(espl_world *world,
                                                                 espl_entity entity,
                                                                 const espl_transform *by);

// --- Multiply: both spaces agree ---

ESPL_API ESPL_NODISCARD espl_status espl_multiply_scale(espl_world *world, espl_entity entity,
                                                        float factor);
ESPL_API ESPL_NODISCARD espl_status espl_multiply_stretch(espl_world *world, espl_entity entity,
                                                          const float factors[3]);

// --- Helpers, each one write ---

/// Turn the entity in its place so that its forward axis points at a target in the world.
/// @param up  NULL means +Y; see espl_transform_look_at() for what is parallel.
/// @return also ESPL_LOSSY, nothing changed, where the target is the entity's own position.
ESPL_API ESPL_NODISCARD espl_status espl_look_at(espl_world *world, espl_entity entity,
                                                 const float target[3], const float *up);
/// Turn the entity about a point of the world: position and rotation go round.
ESPL_API ESPL_NODISCARD espl_status espl_rotate_about(espl_world *world, espl_entity entity,
                                                      const float pivot[3], const float by[4]);

// --- Inherit flags ---

/// Change which parts of the world transform a member takes from its parent.
///
/// The world transform stays where it is, to rounding: parts that become kept keep their bits, for
/// the others a local is found. ESPL_COPY_PARENT snaps to the parent at once.
/// @param flags  a byte of ESPL_ABSOLUTE_ flags; ESPL_COPY_PARENT stands alone.
/// @return ESPL_OK; ESPL_LOSSY (a part that is kept no longer cannot be reached below a scale or
///         stretch of zero); ESPL_ERR_NOT_CHILD (flags other than 0 on a root or solo);
///         ESPL_ERR_ARGUMENT; the statuses that all writes have, also those for want of memory.
ESPL_API ESPL_NODISCARD espl_status espl_set_inherit(espl_world *world, espl_entity entity,
                                                     uint32_t flags);

// --- Memory ahead of time ---

/// Give the hierarchy of an entity the side arrays that stretch, context and inherit flags need, so
/// that no write of them takes memory. They stay until the hierarchy is rebuilt without a need for
/// them by a structural change. Structural.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY, the handle's statuses.
ESPL_API ESPL_NODISCARD espl_status espl_reserve_side(espl_world *world, espl_entity entity);
/// Make room for batches of that many writes.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY, ESPL_ERR_LIMIT.
ESPL_API ESPL_NODISCARD espl_status espl_reserve_writes(espl_world *world, size_t count);

// --- Batches ---

/// What a write writes; its kind says which.
typedef union espl_write_value {
    float position[3];
    float rotation[4];
    float scale;
    float stretch[3];
    uint32_t user_data;
    espl_transform transform;
} espl_write_value;

/// One write of a batch. 60 bytes.
typedef struct espl_write {
    espl_entity entity;
    espl_write_kind kind;
    espl_write_value value;
} espl_write;

/// Account of a batch: count == applied + refused.
typedef struct espl_write_report {
    size_t applied;           ///< Carried out, those that changed nothing included.
    size_t lossy;             ///< Of the applied: ESPL_LOSSY.
    size_t refused;           ///< Not carried out.
    size_t first_refused;     ///< Index of the first refused entry; valid where refused is not 0.
    espl_status first_status; ///< Why it was refused.
    size_t overflowed;        ///< World transforms that were recomputed and are not finite.
} espl_write_report;

/// Carry out many writes: any entities, any hierarchies, any order, repeats too.
///
/// Hierarchy by hierarchy, parents before children, writes to one entity in array order, one
/// propagation for each hierarchy. So a write in world axes below another written entity sees where
/// that one has come to, whatever their order in the array. n writes cost O(n + what hangs below);
/// n writes on a chain of n cost O(n). Hierarchies are written in parallel by the world's executor.
/// Of a hierarchy a quarter or more of whose locals are written, by entries of one kind, all worlds
/// behind the first that changed are recomputed.
///
/// An entry that a function of its kind would refuse is refused alone. Worlds may overflow: see
/// ESPL_OVERFLOW.
/// @param writes  [count]
/// @param report  NULL, or the account; zeroed when the batch is refused.
/// @return ESPL_OK; ESPL_LOSSY (some entries were); ESPL_OVERFLOW (some world is not finite);
///         ESPL_PARTLY (some entries were refused, whatever else); of the batch as
///         a whole, nothing changed: ESPL_ERR_NO_MEMORY (see espl_reserve_writes()), ESPL_ERR_BUSY
///         (during playback, or during iteration where a side array is needed), ESPL_ERR_LIMIT,
///         ESPL_ERR_EXECUTOR (it lost or repeated a job while only scratch was written; a job lost
///         later is done by the calling thread, and the fault is told by the trap),
///         ESPL_ERR_ARGUMENT.
ESPL_API ESPL_NODISCARD espl_status espl_write_batch(espl_world *world, const espl_write *writes,
                                                     size_t count, espl_write_report *report);

// Short forms: writes of one kind from two arrays of `count`. As espl_write_batch();
// ESPL_ERR_ARGUMENT also for a kind whose value is of another type.

/// Kinds with position or stretch.
ESPL_API ESPL_NODISCARD espl_status espl_write_vectors(espl_world *world, espl_write_kind kind,
                                                       const espl_entity *entities,
                                                       const float (*values)[3], size_t count,
                                                       espl_write_report *report);
/// Kinds with rotation.
ESPL_API ESPL_NODISCARD espl_status espl_write_rotations(espl_world *world, espl_write_kind kind,
                                                         const espl_entity *entities,
                                                         const float (*values)[4], size_t count,
                                                         espl_write_report *report);
/// Kinds with scale.
ESPL_API ESPL_NODISCARD espl_status espl_write_scalars(espl_world *world, espl_write_kind kind,
                                                       const espl_entity *entities,
                                                       const float *values, size_t count,
                                                       espl_write_report *report);
/// Kinds with transform.
ESPL_API ESPL_NODISCARD espl_status espl_write_transforms(espl_world *world, espl_write_kind kind,
                                                          const espl_entity *entities,
                                                          const espl_transform *values,
                                                          size_t count, espl_write_report *report);

/// Locals from poses that stand anywhere, as espl_write_transforms() by ESPL_WRITE_LOCAL_POSE: members
/// of the caller's own structs are written from where they are, without a copy.
///
/// @param entities     the first; the i-th stands `entity_size` bytes times i behind it.
/// @param entity_size  from one to the next: sizeof(espl_entity) in an array of nothing else.
/// @param poses        the first local, likewise.
/// @param pose_size    from one to the next: sizeof(espl_pose) in an array of nothing else.
/// @return also ESPL_ERR_ARGUMENT for a size that is less than that of what stands there, or not a
///         multiple of 4.
///
///     struct bone { espl_entity entity; espl_pose local; float weight; } *bones;
///     espl_write_poses(world, &bones->entity, sizeof *bones, &bones->local, sizeof *bones, n, NULL);
ESPL_API ESPL_NODISCARD espl_status espl_write_poses(espl_world *world, const espl_entity *entities,
                                                     size_t entity_size, const espl_pose *poses,
                                                     size_t pose_size, size_t count,
                                                     espl_write_report *report);

#ifdef __cplusplus
}
#endif

#endif
