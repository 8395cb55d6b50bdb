// SPDX-License-Identifier: MIT
/// @file
/// Writing transforms. A write propagates at once: every world transform read after it is the true
/// one.
///
/// Common to all writes of one entity:
/// - Statuses of handles as in espalier/read.h. ESPL_ERR_NOT_FINITE for NaN or infinity in any
///   field, and for a rotation without length. ESPL_ERR_RANGE where a computed local, a part kept by
///   inherit flags, or a finite world that was asked for would not be finite. ESPL_ERR_COPIES_PARENT on
///   a member with that flag.
///   ESPL_ERR_BUSY during playback. Refused, a call has changed nothing.
/// - ESPL_OVERFLOW where a world transform, the entity's own or one below it that follows it, is not
///   finite: the write is done. It became so or stays so, whether the write recomputed it or changed
///   nothing. A member whose world follows nothing of its parent ends what follows. Reports of
///   batches and playbacks have a flag for it, a playback's for the worlds that it recomputed.
/// - ESPL_ERR_NOT_FINITE is for what the caller passed alone. A write that starts from a world that is not
///   finite, a move or a turn about a point, answers ESPL_ERR_RANGE.
/// - Rotations are normalised, unless their squared length is within 4e-7 of 1 already.
/// - A whole transform or pose whose scale or stretch is 0 is written as any other, and logged
///   (ESPL_LOG_WARNING), because {0} is the usual mistake: start from espl_transform_identity(). A
///   write of the scale or stretch alone, and -0, are not logged.
/// - A write that leaves the local bit-equal does nothing (-0 and 0 are different bits). Descendants
///   of an entity whose world stays bit-equal are not visited. The written entity is checked for
///   that; in hierarchies with inherit flags, stretch or pass-throughs every node is.
/// - Writes take no memory, but for one case: the first stretch or user data other than the default in
///   a hierarchy, and the first inherit flags, need a side array. Such a write is structural in that
///   it may answer ESPL_ERR_NO_MEMORY, and ESPL_ERR_BUSY during iteration. Prepay with
///   espl_reserve(). The array is freed when the last of them becomes the default, unless it was
///   prepaid.
/// - The status may be ignored without a warning of the compiler, in a hot loop for example: a refused
///   write is logged.
/// - O(descendants). A write that takes or frees side arrays is O(hierarchy).
/// - Thread rule: a write is a change of the world, on one thread at a time. From several threads write
///   by an espl_writer (espalier/writers.h), or record commands (espalier/commands.h). A batch uses the
///   world's executor.
#ifndef ESPALIER_WRITE_H
#define ESPALIER_WRITE_H

#include <espalier/read.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of write, and the value that each takes. "Local" is relative to the parent, in its axes and
/// units; on a root or solo both spaces are the world. Every kind is written at once
/// (espl_write_one()), in a batch, from a job (espl_writer_write()) and by a recorded command
/// (espl_record_write()).
typedef enum espl_write_kind {
    // Set: the local becomes the value.
    ESPL_WRITE_LOCAL_POSITION = 0,  ///< float[3]
    ESPL_WRITE_LOCAL_ROTATION = 1,  ///< float[4]
    ESPL_WRITE_LOCAL_SCALE = 2,     ///< float
    ESPL_WRITE_LOCAL_POSE = 3,      ///< espl_pose: position, rotation and scale; the rest stays
    ESPL_WRITE_LOCAL_TRANSFORM = 4, ///< espl_transform: all 48 bytes
    ESPL_WRITE_STRETCH = 5,         ///< float[3]; it moves children and shapes the entity itself
    ESPL_WRITE_USER_DATA = 6,       ///< uint32_t
    // Set in world axes: the local becomes the value as it is seen from the parent. Absolute parts
    // take the value directly. Below a scale or stretch of zero the axes that can be reached are set,
    // the others keep their local value, and the answer is ESPL_LOSSY where the world is another one for
    // it. So it is where the local underflows.
    ESPL_WRITE_WORLD_POSITION = 7,   ///< float[3]
    ESPL_WRITE_WORLD_ROTATION = 8,   ///< float[4]
    ESPL_WRITE_WORLD_SCALE = 9,      ///< float
    ESPL_WRITE_WORLD_POSE = 10,      ///< espl_pose: position, rotation and scale; the rest stays
    ESPL_WRITE_WORLD_TRANSFORM = 11, ///< espl_transform: all 48 bytes
    // Change in the parent's axes.
    ESPL_WRITE_TRANSLATE_IN_PARENT = 12, ///< float[3]: position += value
    ESPL_WRITE_ROTATE_IN_PARENT = 13, ///< float[4]: rotation = value * rotation; the position stays
    /// espl_transform: pose = value * pose, as espl_transform_compose(); stretch and user data stay.
    ESPL_WRITE_TRANSFORM_IN_PARENT = 14,
    /// espl_transform: pose = inverse of value * pose, as espl_transform_relative(). ESPL_LOSSY where
    /// the value has a scale or stretch of zero: what cannot be reached stays.
    ESPL_WRITE_INVERSE_TRANSFORM_IN_PARENT = 15,
    // Change in world axes: as the four above on the world transform, then set as world values.
    ESPL_WRITE_TRANSLATE_WORLD = 16,         ///< float[3]
    ESPL_WRITE_ROTATE_WORLD = 17,            ///< float[4]
    ESPL_WRITE_TRANSFORM_WORLD = 18,         ///< espl_transform
    ESPL_WRITE_INVERSE_TRANSFORM_WORLD = 19, ///< espl_transform
    // Multiply: both spaces agree.
    ESPL_WRITE_MULTIPLY_SCALE = 20,   ///< float: scale *= value, as it reads; a kept scale too
    ESPL_WRITE_MULTIPLY_STRETCH = 21, ///< float[3]: stretch *= value, axis by axis
    // Change in the entity's own axes.
    ESPL_WRITE_TRANSLATE_OWN =
        22, ///< float[3]: position += rotation rotates value, in the parent's units
    ESPL_WRITE_ROTATE_OWN = 23, ///< float[4]: rotation = rotation * value; the position stays
    // Set what motion blends from (espalier/motion.h): where the entity was when the tick began. The
    // transform stays. ESPL_ERR_UNSUPPORTED where motion does not run.
    ESPL_WRITE_PREVIOUS_LOCAL_POSE = 24, ///< espl_pose
    /// espl_pose: below the previous world of the parent. ESPL_LOSSY as in other world axes.
    ESPL_WRITE_PREVIOUS_WORLD_POSE = 25,
    // Large worlds (espalier/far.h). They take no flag.
    /// int32_t[3]: the cell of a root or solo. Its coordinates stay, so that it moves by whole cells, with
    /// all below it; motion blends it as a write of the local. ESPL_ERR_UNSUPPORTED on a member, and in a
    /// world without cells.
    ESPL_WRITE_CELL = 26,
    /// double[3]: the absolute position, from the middle of cell 0, 0, 0. A root or solo goes to the nearest
    /// cell, as espl_recenter() brings it there. A member is placed in the cell of its tree: ESPL_LOSSY where
    /// it is more than 1024 cells away. ESPL_ERR_RANGE where no cell is there. In a world without cells it is
    /// ESPL_WRITE_WORLD_POSITION of the rounded position.
    ESPL_WRITE_ABSOLUTE_POSITION = 27,
    ESPL_WRITE_KIND_COUNT,
    /// No kind. It makes the type hold a kind and a flag, in C++ too.
    ESPL_WRITE_KIND_AND_FLAG_ = 0xFF
} espl_write_kind;

/// A flag of a write: how motion (espalier/motion.h) blends it. Added to a kind by `|`, in every form of a
/// write: ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT. One flag at most, and none with a kind that sets the
/// previous pose: ESPL_ERR_ARGUMENT. For stretch and user data, which are not blended, a flag does nothing.
/// Without motion it does nothing either, but that ESPL_TELEPORT counts for mirrors of renderables
/// (espalier/renderables.h) as well. A kind and its flag fit a byte.
typedef enum espl_write_flag {
    /// The entity is shown where the write puts it, in the midst of a tick too: the previous pose becomes
    /// the written one, also where the write leaves the transform as it is.
    ESPL_TELEPORT = 0x40,
    /// The previous pose moves as the entity does, between ticks too: it is displaced, and keeps the motion
    /// that is shown. A write that leaves the transform as it is leaves the previous pose too.
    ESPL_CARRY = 0x80
} espl_write_flag;

/// Write one transform: carry out any kind of write at once.
///
/// @param value  of the type that the kind names, at any address that the type may have.
/// @return ESPL_OK; ESPL_LOSSY; ESPL_OVERFLOW; ESPL_ERR_ARGUMENT (a kind that does not exist, flags that it
///         does not take, value is NULL); ESPL_ERR_RANGE; ESPL_ERR_UNSUPPORTED (a kind that needs motion, which
///         does not run); the statuses that all writes have.
ESPL_API espl_status espl_write_one(espl_world *world, espl_entity entity, espl_write_kind kind,
                                    const void *value);

// --- The kinds that are used daily, by name; each does what espl_write_one() does ---

ESPL_API espl_status espl_set_local_position(espl_world *world, espl_entity entity,
                                             const float value[3]);
ESPL_API espl_status espl_set_local_rotation(espl_world *world, espl_entity entity,
                                             const float value[4]);
ESPL_API espl_status espl_set_local_scale(espl_world *world, espl_entity entity, float value);
/// Set position, rotation and scale; stretch and user data stay.
ESPL_API espl_status espl_set_local_pose(espl_world *world, espl_entity entity,
                                         const espl_pose *value);
/// Set all 48 bytes.
ESPL_API espl_status espl_set_local_transform(espl_world *world, espl_entity entity,
                                              const espl_transform *value);
/// Set the stretch, which is the same in both spaces.
ESPL_API espl_status espl_set_stretch(espl_world *world, espl_entity entity, const float value[3]);
/// Set the user's word.
ESPL_API espl_status espl_set_user_data(espl_world *world, espl_entity entity, uint32_t value);
ESPL_API espl_status espl_set_world_position(espl_world *world, espl_entity entity,
                                             const float value[3]);
ESPL_API espl_status espl_set_world_rotation(espl_world *world, espl_entity entity,
                                             const float value[4]);
ESPL_API espl_status espl_set_world_scale(espl_world *world, espl_entity entity, float value);
/// Set position, rotation and scale in the world; stretch and user data stay.
ESPL_API espl_status espl_set_world_pose(espl_world *world, espl_entity entity,
                                         const espl_pose *value);
/// Set all 48 bytes, stretch and user data too.
ESPL_API espl_status espl_set_world_transform(espl_world *world, espl_entity entity,
                                              const espl_transform *value);
/// Move along the entity's own axes, by units of the parent.
ESPL_API espl_status espl_translate_own(espl_world *world, espl_entity entity,
                                        const float value[3]);
/// Turn about the entity's own axes.
ESPL_API espl_status espl_rotate_own(espl_world *world, espl_entity entity, const float value[4]);
// --- Helpers, each one write ---

/// Turn the entity in its place so that one of its axes points at a target in the world. The axis is that of
/// the world rotation; see espl_transform_look_at() for negative scales.
/// @param up       NULL means +Y; see espl_transform_look_at() for what is parallel.
/// @param forward  axis that points at the target: ESPL_AXIS_FORWARD (+Z) or any other; see
///                 espl_transform_look_at() for the up axis of each.
/// @return also ESPL_LOSSY, nothing changed, where the target is the entity's own position;
///         ESPL_ERR_ARGUMENT for an axis that does not exist.
ESPL_API espl_status espl_look_at(espl_world *world, espl_entity entity, const float target[3],
                                  const float *up, espl_axis forward);
/// Turn the entity about a point of the world: position and rotation change.
ESPL_API espl_status espl_rotate_about(espl_world *world, espl_entity entity, const float pivot[3],
                                       const float by[4]);

// --- Inherit flags ---

/// Change which parts of the world transform a member takes from its parent.
///
/// The world transform stays where it is, to rounding: a part that becomes kept keeps its bits, and a
/// part that is kept no longer gets a local that leads to it. The local of a part that stays kept, or was
/// never kept, does not change. ESPL_COPY_PARENT snaps to the parent at once. 0 on a root or solo does
/// nothing and looks at nothing: ESPL_OK, also where a world is not finite.
/// @param flags  a byte of ESPL_ABSOLUTE_ flags, or ESPL_COPY_PARENT without any other flag.
/// @return ESPL_OK; ESPL_LOSSY (a part that is kept no longer cannot be reached: below a scale or
///         stretch of zero, because its local underflows, or because kept axes hide an offset so large that
///         the others are lost in its rounding); ESPL_ERR_NOT_CHILD (flags other than 0 on a root or solo);
///         ESPL_ERR_ARGUMENT; the statuses of all writes, ESPL_ERR_NO_MEMORY too.
ESPL_API espl_status espl_set_inherit(espl_world *world, espl_entity entity, uint32_t flags);

// --- Batches ---

/// What a write writes; its kind says which. An absolute position is three doubles at its begin, copied there
/// by memcpy(), because the union has the alignment of a float.
typedef union espl_write_value {
    float position[3];
    float rotation[4];
    float scale;
    float stretch[3];
    uint32_t user_data;
    int32_t cell[3];
    espl_pose pose; ///< The first 32 bytes of `transform`.
    espl_transform transform;
} espl_write_value;

/// One write of a batch. 60 bytes.
typedef struct espl_write {
    espl_entity entity;
    espl_write_kind kind;
    espl_write_value value;
} espl_write;

/// Account of a batch: count == applied + refused. Grows into `reserved`.
typedef struct espl_write_report {
    size_t applied;           ///< Carried out, writes that changed nothing included.
    size_t lossy;             ///< Of the applied: ESPL_LOSSY.
    size_t refused;           ///< Not carried out.
    size_t first_refused;     ///< Index of the first refused entry; valid where refused is not 0.
    espl_status first_status; ///< Why it was refused.
    /// The world transform of a written entity, or of one that follows it, is not finite. espl_validate()
    /// counts these.
    bool has_overflowed;
    uintptr_t reserved[8]; ///< 0 (GROWTH in espalier(3)).
} espl_write_report;

/// Carry out many writes: any entities, any hierarchies, any order, repeats too.
///
/// Hierarchy by hierarchy, parents before children, writes to one entity in array order, one
/// propagation for each hierarchy. So a write in world axes below another written entity uses the new
/// world of that entity, for any order of the array. n writes cost O(n + their descendants);
/// n writes on a chain of n cost O(n). Hierarchies are written in parallel by the world's executor.
/// If entries of one kind write a quarter or more of the locals of a hierarchy, all its worlds after
/// the first that changed are recomputed.
///
/// An entry that a function of its kind would refuse is refused alone. Worlds may overflow: see
/// ESPL_OVERFLOW.
/// @param writes  [count]
/// @param report  NULL, or the account; zeroed when the batch is refused.
/// @return ESPL_OK; ESPL_LOSSY (some entries were); ESPL_OVERFLOW (some world is not finite);
///         ESPL_PARTLY (some entries were refused, whatever else); of the batch as
///         a whole, nothing changed: ESPL_ERR_NO_MEMORY (see espl_reserve()), ESPL_ERR_BUSY
///         (during playback, or during iteration where a side array is needed), ESPL_ERR_LIMIT,
///         ESPL_ERR_EXECUTOR (it lost or repeated a job while only scratch was written; the calling
///         thread runs a job that is lost later, and checked builds trap),
///         ESPL_ERR_ARGUMENT.
ESPL_API ESPL_NODISCARD espl_status espl_write_batch(espl_world *world, const espl_write *writes,
                                                     size_t count, espl_write_report *report);

/// Carry out many writes of one kind, with handles and values wherever the caller has them: in arrays,
/// or as members of the caller's own structs, without a copy. As espl_write_batch().
///
/// @param entities       the first handle; handle i is `i * entity_stride` bytes behind it.
/// @param entity_stride  bytes from one to the next: sizeof(espl_entity) in an array of handles.
/// @param values         the first value, of the type that the kind names; value i is `i *
///                       value_stride` bytes behind it.
/// @param value_stride   bytes from one to the next: the size of a value in an array of values.
/// @return also ESPL_ERR_ARGUMENT for a kind that does not exist, and for a stride that is smaller
///         than what it steps over or not a multiple of 4.
///
///     struct bone { espl_entity entity; espl_pose local; float weight; } *bones;
///     status = espl_write_strided(world, ESPL_WRITE_LOCAL_POSE, &bones->entity, count, sizeof *bones,
///                                 &bones->local, sizeof *bones, NULL);
ESPL_API ESPL_NODISCARD espl_status espl_write_strided(espl_world *world, espl_write_kind kind,
                                                       const espl_entity *entities, size_t count,
                                                       size_t entity_stride, const void *values,
                                                       size_t value_stride,
                                                       espl_write_report *report);

/// An entity that gets the world transform of another one. Never grows.
typedef struct espl_copy {
    espl_entity to;   ///< of the world that changes
    espl_entity from; ///< of the world that is read
} espl_copy;

/// Copy world transforms between entities, of two worlds or of one: all are read, then all are written as
/// espl_write_batch() does with ESPL_WRITE_WORLD_TRANSFORM. So a world of entities that are only shown, such as
/// effects, follows a simulation that is rewound (espalier/history.h) by one call a frame, and is not rewound.
///
/// Between cells (espalier/far.h) the absolute position is copied, rounded to the cell of the entity that
/// gets it.
///
/// An entry whose source cannot be read or whose target cannot be written is refused, and the others are
/// copied. A tape of `to` has the values. Thread rule: a change of `to`, and a read of `from`.
///
/// @param to      the world that changes.
/// @param from    the world that is read; may be the same.
/// @param copies  [count]
/// @param report  NULL, or the account; zeroed when the copy is refused as a whole.
/// @return as espl_write_batch(); also ESPL_ERR_ARGUMENT where `from` is NULL. Memory: 60 bytes for each entry
///         beside that of a batch, kept for the next one; espl_reserve() takes that of a batch alone.
///
///     espl_copy follow[] = {{lamp, car}, {smoke, exhaust}};
///     status = espl_copy_world_transforms(shown, simulation, follow, 2, NULL);
ESPL_API ESPL_NODISCARD espl_status espl_copy_world_transforms(espl_world *to,
                                                               const espl_world *from,
                                                               const espl_copy *copies,
                                                               size_t count,
                                                               espl_write_report *report);

// --- Lists: writes collected one by one, for one batch ---

/// Writes collected for a batch, in an array of the caller. A list allocates and frees nothing, and
/// belongs to no world. ESPL_ZERO is a list without room. Thread rule: one thread at a time, and each
/// thread may have lists of its own.
///
///     espl_write room[64];
///     espl_write_list list = {room, 0, 64};
typedef struct espl_write_list {
    espl_write *writes; ///< [capacity] of the caller; the first `count` are collected.
    size_t count;       ///< Set it to 0 to drop what is collected.
    size_t capacity;
} espl_write_list;

/// Collect a write: copy it to the end of a list. No world is changed, and the entity is not looked at:
/// the batch does that.
///
/// @param value  of the type that the kind names, at any address that the type may have; not kept.
/// @return ESPL_OK; ESPL_ERR_LIMIT (the list is full: write it, then push again); ESPL_ERR_ARGUMENT (a
///         kind that does not exist, list or value is NULL). Refused, the list is as it was. O(1).
static inline ESPL_NODISCARD espl_status espl_write_list_push(espl_write_list *list,
                                                              espl_entity entity,
                                                              espl_write_kind kind,
                                                              const void *value)
{
    static const unsigned char sizes[ESPL_WRITE_KIND_COUNT] = {
        sizeof(float[3]),       sizeof(float[4]),  sizeof(float),          sizeof(espl_pose),
        sizeof(espl_transform), sizeof(float[3]),  sizeof(uint32_t),       sizeof(float[3]),
        sizeof(float[4]),       sizeof(float),     sizeof(espl_pose),      sizeof(espl_transform),
        sizeof(float[3]),       sizeof(float[4]),  sizeof(espl_transform), sizeof(espl_transform),
        sizeof(float[3]),       sizeof(float[4]),  sizeof(espl_transform), sizeof(espl_transform),
        sizeof(float),          sizeof(float[3]),  sizeof(float[3]),       sizeof(float[4]),
        sizeof(espl_pose),      sizeof(espl_pose), sizeof(int32_t[3]),     sizeof(double[3]),
    };
    const size_t all = kind; // A negative number wraps to a large one.
    const size_t flags = ESPL_TELEPORT | ESPL_CARRY, flag = all & flags, number = all - flag;
    const size_t end = flag == 0 ? ESPL_WRITE_KIND_COUNT : ESPL_WRITE_PREVIOUS_LOCAL_POSE;

    if (list == ESPL_NULL_ || value == ESPL_NULL_ || number >= end || (flag & (flag - 1)) != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    if (list->count >= list->capacity) {
        return ESPL_ERR_LIMIT;
    }

    espl_write *const write = &list->writes[list->count++];

    write->entity = entity;
    write->kind = kind;
    ESPL_COPY_(&write->value, value, sizes[number]);
    return ESPL_OK;
}

/// Write what a list has collected, as espl_write_batch(), and empty the list. An index in the report
/// is a place in the array, which keeps its entries until the next push. Where the batch is refused as
/// a whole, the list keeps what it has: try again, or set `count` to 0.
///
/// @param report  NULL, or the account; zeroed when the batch is refused.
/// @return as espl_write_batch(); also ESPL_ERR_ARGUMENT where list is NULL.
///
///     for (size_t i = 0; i < count; ++i) {
///         if (espl_write_list_push(&list, bone[i], ESPL_WRITE_LOCAL_POSE, &pose[i]) != ESPL_OK) ...
///     }
///     status = espl_write_listed(world, &list, NULL);
static inline ESPL_NODISCARD espl_status espl_write_listed(espl_world *world, espl_write_list *list,
                                                           espl_write_report *report)
{
    const espl_write *const writes = list != ESPL_NULL_ ? list->writes : ESPL_NULL_;
    const size_t count = list != ESPL_NULL_ ? list->count : 1;
    const espl_status status = espl_write_batch(world, writes, count, report);

    if (!espl_failed(status)) {
        list->count = 0;
    }
    return status;
}

#ifdef __cplusplus
}

/// Add a flag to a kind. C needs no function for it.
constexpr espl_write_kind operator|(espl_write_kind kind, espl_write_flag flag)
{
    return static_cast<espl_write_kind>(static_cast<int>(kind) | static_cast<int>(flag));
}
#endif

#endif
