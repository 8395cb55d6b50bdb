// SPDX-License-Identifier: MIT
/// @file
/// Reading transforms: plain loads of what is always current.
///
/// Statuses of handles, in every call: ESPL_ERR_NULL_ENTITY, ESPL_ERR_DEAD, ESPL_ERR_FOREIGN,
/// ESPL_ERR_PENDING; ESPL_ERR_NO_TRANSFORM for an entity without a transform; ESPL_ERR_ARGUMENT for
/// a NULL pointer. Refused, a call leaves its output as it was: a
/// program that ignores the status of a single read gives the output a value first.
///
/// Thread rule: any number of threads may read while none changes the world. In a parallel write, a job
/// may read its own hierarchies and hierarchies that belong to no job (espalier/writers.h).
#ifndef ESPALIER_READ_H
#define ESPALIER_READ_H

#include <espalier/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What can be read of an entity's transform, and the type that is written out. As espl_write_kind
/// has them: "local" is relative to the parent, in its axes and units, "world" to the world. On a root
/// or solo both are the same.
///
/// Of a member with inherit flags a local part reads as it was written while that still gives the
/// world part; else it reads as the world part is seen from the parent. A member with ESPL_COPY_PARENT
/// reads the identity, with the stretch and user data that it copies.
typedef enum espl_read_kind {
    ESPL_READ_LOCAL_POSITION = 0,   ///< float[3]
    ESPL_READ_LOCAL_ROTATION = 1,   ///< float[4]
    ESPL_READ_LOCAL_SCALE = 2,      ///< float
    ESPL_READ_LOCAL_POSE = 3,       ///< espl_pose
    ESPL_READ_LOCAL_TRANSFORM = 4,  ///< espl_transform
    ESPL_READ_STRETCH = 5,          ///< float[3]; the same in both spaces
    ESPL_READ_USER_DATA = 6,        ///< uint32_t
    ESPL_READ_WORLD_POSITION = 7,   ///< float[3]
    ESPL_READ_WORLD_ROTATION = 8,   ///< float[4]
    ESPL_READ_WORLD_SCALE = 9,      ///< float
    ESPL_READ_WORLD_POSE = 10,      ///< espl_pose
    ESPL_READ_WORLD_TRANSFORM = 11, ///< espl_transform
    // What is drawn: the world transform as espl_present() computed it last (espalier/motion.h). It reads as
    // the world transform where motion does not run, and of an entity that was made, or got its transform,
    // after the last espl_present(). Stretch and user data are not blended, so that their present values are
    // read.
    ESPL_READ_SHOWN_POSITION = 12,  ///< float[3]
    ESPL_READ_SHOWN_ROTATION = 13,  ///< float[4]
    ESPL_READ_SHOWN_SCALE = 14,     ///< float
    ESPL_READ_SHOWN_POSE = 15,      ///< espl_pose
    ESPL_READ_SHOWN_TRANSFORM = 16, ///< espl_transform
    // What motion blends from: the pose when the last tick began. Of an entity that was made since then, and
    // where motion does not run, the present pose. A world pose is composed: O(depth).
    ESPL_READ_PREVIOUS_LOCAL_POSE = 17, ///< espl_pose
    ESPL_READ_PREVIOUS_WORLD_POSE = 18, ///< espl_pose
    // The same one tick earlier, where motion keeps two ticks; else as the previous ones.
    ESPL_READ_BEFORE_LOCAL_POSE = 19, ///< espl_pose
    ESPL_READ_BEFORE_WORLD_POSE = 20, ///< espl_pose
    // Where the entity is in a large world (espalier/far.h).
    ESPL_READ_CELL = 21, ///< int32_t[3]: of its hierarchy; without cells ESPL_ERR_UNSUPPORTED
    /// double[3]: the world position from the middle of cell 0, 0, 0; without cells the world position
    ESPL_READ_ABSOLUTE_POSITION = 22,
    ESPL_READ_KIND_COUNT
} espl_read_kind;

/// Read one entity's transform, or a part of it.
///
/// @param out  of the type that the kind names, at any address that the type may have.
/// @return also ESPL_ERR_ARGUMENT for a kind that does not exist; ESPL_ERR_UNSUPPORTED for ESPL_READ_CELL in
///         a world without cells.
ESPL_API espl_status espl_read_one(const espl_world *world, espl_entity entity, espl_read_kind kind,
                                   void *out);

/// Read many entities, into an array or into members of the caller's own structs. The call overlaps
/// their cache misses, so it is faster than single reads where the entities are far apart in memory.
///
/// @param entities       the first handle; handle i is `i * entity_stride` bytes behind it.
/// @param entity_stride  bytes from one handle to the next: sizeof(espl_entity) in an array of handles.
/// @param out            the first output, of the type that the kind names; output i is `i *
///                       out_stride` bytes behind it. That of a refused entity is unchanged.
/// @param out_stride     bytes from one output to the next: the size of the type in an array.
/// @return ESPL_OK; ESPL_PARTLY: at least one entity was refused, and the log hook received the reason
///         for the first one; ESPL_ERR_ARGUMENT also for a kind that does not exist, and for a stride
///         that is smaller than what it steps over or not a multiple of 4; ESPL_ERR_UNSUPPORTED as
///         espl_read_one().
ESPL_API ESPL_NODISCARD espl_status espl_read_strided(const espl_world *world, espl_read_kind kind,
                                                      const espl_entity *entities, size_t count,
                                                      size_t entity_stride, void *out,
                                                      size_t out_stride);

// --- The usual kinds by name, a little faster than espl_read_one() ---

/// Read the transform relative to the world: ESPL_READ_WORLD_TRANSFORM.
ESPL_API espl_status espl_get_world_transform(const espl_world *world, espl_entity entity,
                                              espl_transform *out);
/// Read the position in the world: ESPL_READ_WORLD_POSITION.
ESPL_API espl_status espl_get_world_position(const espl_world *world, espl_entity entity,
                                             float out[3]);

/// Read the transform relative to the parent; for a root or solo the same as the world's.
ESPL_API espl_status espl_get_local_transform(const espl_world *world, espl_entity entity,
                                              espl_transform *out);
/// Read position, rotation and scale relative to the parent.
ESPL_API espl_status espl_get_local_pose(const espl_world *world, espl_entity entity,
                                         espl_pose *out);
/// Read position, rotation and scale in the world.
ESPL_API espl_status espl_get_world_pose(const espl_world *world, espl_entity entity,
                                         espl_pose *out);
ESPL_API espl_status espl_get_world_rotation(const espl_world *world, espl_entity entity,
                                             float out[4]);
ESPL_API espl_status espl_get_world_scale(const espl_world *world, espl_entity entity, float *out);
ESPL_API espl_status espl_get_local_position(const espl_world *world, espl_entity entity,
                                             float out[3]);
ESPL_API espl_status espl_get_local_rotation(const espl_world *world, espl_entity entity,
                                             float out[4]);
ESPL_API espl_status espl_get_local_scale(const espl_world *world, espl_entity entity, float *out);
/// Read the stretch; it is the same in both spaces.
ESPL_API espl_status espl_get_stretch(const espl_world *world, espl_entity entity, float out[3]);
/// Read the user data.
ESPL_API espl_status espl_get_user_data(const espl_world *world, espl_entity entity, uint32_t *out);

/// Copy the values of a kind of all rows of a query's current chunk: a column of stretches, of local
/// positions, of whole transforms, without a look-up of handles. World poses are there without a copy,
/// in espl_query.world_poses.
///
/// A copy: it does not follow later writes, and writing to it writes no transform. Transforms are written
/// by espl_write_one() and its like during the iteration, and by an espl_writer in a parallel write; see
/// espalier/write.h for the writes that need a side array, which iteration refuses.
/// @param query       between espl_query_next() and the next one, or the rows of a parallel write.
/// @param out         the first output, of the type that the kind names; that of row r is `r *
///                    out_stride` bytes behind it. Room for query->count.
/// @param out_stride  the size of the type in an array.
/// @return ESPL_OK, nothing written where there is no current chunk; ESPL_ERR_NO_TRANSFORM (query->slots is
///         NULL); ESPL_ERR_ARGUMENT (NULL; the iteration has ended; a kind that does not exist; a stride
///         that is smaller than the type or not a multiple of 4); ESPL_ERR_UNSUPPORTED as espl_read_one().
ESPL_API ESPL_NODISCARD espl_status espl_query_read_transforms(const espl_query *query,
                                                               espl_read_kind kind, void *out,
                                                               size_t out_stride);

/// Read the transform of an entity relative to another one, of any hierarchy: the local that the
/// entity would have as a child of `frame`. See espl_transform_relative().
///
/// Within one hierarchy it is composed from the locals between the two and their nearest common ancestor:
/// O(links between them). So it is as precise far from the origin as near it, and a child reads its local bit
/// for bit. Between hierarchies, and where inherit flags or numbers out of range are on the way, it goes
/// through both worlds; those of different cells are subtracted as espl_read_relative() does. To convert
/// between two members, or to aim one at another in its own axes, use it with espl_transform_convert() and
/// espl_transform_look_at().
/// @return ESPL_OK; ESPL_LOSSY where it goes through worlds, and frame's scale or stretch is zero on an axis
///         that counts: that part reads 0 (scale: 1); ESPL_ERR_RANGE (a tiny scale makes it overflow).
ESPL_API espl_status espl_get_relative_transform(const espl_world *world, espl_entity frame,
                                                 espl_entity entity, espl_transform *out);

/// Convert a point, a vector or a direction between the axes of an entity and those of the world, by the
/// entity's world transform. What overflows, here and in matrices, is infinite.
///
/// @param value  in the axes that the conversion comes from.
/// @param out    may be value.
/// @return also ESPL_LOSSY where a point or vector is converted to local axes and one of them has a
///         scale or stretch of zero: it reads 0; ESPL_ERR_ARGUMENT for a conversion that does not exist.
ESPL_API espl_status espl_convert(const espl_world *world, espl_entity entity,
                                  espl_conversion conversion, const float value[3], float out[3]);

/// Read the world direction of one of the entity's axes, a unit vector.
ESPL_API espl_status espl_get_axis(const espl_world *world, espl_entity entity, espl_axis axis,
                                   float out[3]);

/// Read the world transform as a matrix.
///
/// @param out  12 or 16 numbers, as the form has them.
/// @return also ESPL_LOSSY for the inverse, where an axis has a scale or stretch of zero: its row is
///         zeros; ESPL_ERR_ARGUMENT for a form that does not exist.
ESPL_API espl_status espl_get_matrix(const espl_world *world, espl_entity entity,
                                     espl_matrix_form form, float *out);

/// Return the inherit flags of a member; 0 for any other handle.
ESPL_API uint32_t espl_get_inherit(const espl_world *world, espl_entity entity);

#ifdef __cplusplus
}
#endif

#endif
