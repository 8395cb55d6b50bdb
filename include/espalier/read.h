// SPDX-License-Identifier: MIT
/// @file
/// Reading transforms: plain loads of what is always current.
///
/// Statuses of handles, in every call: ESPL_ERR_NULL_ENTITY, ESPL_ERR_DEAD, ESPL_ERR_FOREIGN,
/// ESPL_ERR_PENDING; ESPL_ERR_NO_TRANSFORM for an entity without a transform; ESPL_ERR_ARGUMENT for
/// a NULL pointer. Refused, a call leaves its output as it was. Any number of threads may read
/// while none writes.
#ifndef ESPALIER_READ_H
#define ESPALIER_READ_H

#include <espalier/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Read the transform relative to the world.
ESPL_API ESPL_NODISCARD espl_status espl_get_world_transform(const espl_world *world,
                                                             espl_entity entity,
                                                             espl_transform *out);
/// Read the transform relative to the parent; for a root or solo the same as the world's.
///
/// Of a member with inherit flags a part reads as it was written while that still gives the world
/// part; else it reads as the world part is seen from the parent. A member with ESPL_COPY_PARENT
/// reads the identity, with the stretch and user data that it copies.
ESPL_API ESPL_NODISCARD espl_status espl_get_local_transform(const espl_world *world,
                                                             espl_entity entity,
                                                             espl_transform *out);

// Parts of the two.
ESPL_API ESPL_NODISCARD espl_status espl_get_world_position(const espl_world *world,
                                                            espl_entity entity, float out[3]);
ESPL_API ESPL_NODISCARD espl_status espl_get_world_rotation(const espl_world *world,
                                                            espl_entity entity, float out[4]);
ESPL_API ESPL_NODISCARD espl_status espl_get_world_scale(const espl_world *world,
                                                         espl_entity entity, float *out);
ESPL_API ESPL_NODISCARD espl_status espl_get_local_position(const espl_world *world,
                                                            espl_entity entity, float out[3]);
ESPL_API ESPL_NODISCARD espl_status espl_get_local_rotation(const espl_world *world,
                                                            espl_entity entity, float out[4]);
ESPL_API ESPL_NODISCARD espl_status espl_get_local_scale(const espl_world *world,
                                                         espl_entity entity, float *out);
/// Read the stretch; it is the same in both spaces.
ESPL_API ESPL_NODISCARD espl_status espl_get_stretch(const espl_world *world, espl_entity entity,
                                                     float out[3]);
/// Read the user's word.
ESPL_API ESPL_NODISCARD espl_status espl_get_user_data(const espl_world *world, espl_entity entity,
                                                       uint32_t *out);

/// Read the world transforms of many entities. The call overlaps their cache misses, so it is faster than
/// single reads where the entities are far apart in memory.
///
/// @param entities  the first handle; handle i is `i * stride` bytes behind it.
/// @param stride    bytes from one handle to the next: sizeof(espl_entity) in an array of handles, or the
///                  size of the struct that contains a handle.
/// @param out       [count]; the output of a refused entity is unchanged.
/// @return ESPL_OK; ESPL_PARTLY: at least one entity was refused, and the log hook received the reason
///         for the first one; ESPL_ERR_ARGUMENT also for a stride that is smaller than a handle or not a
///         multiple of 4.
ESPL_API ESPL_NODISCARD espl_status espl_get_world_transforms(const espl_world *world,
                                                              const espl_entity *entities,
                                                              size_t count, size_t stride,
                                                              espl_transform *out);
/// Read their world positions alone.
ESPL_API ESPL_NODISCARD espl_status espl_get_world_positions(const espl_world *world,
                                                             const espl_entity *entities,
                                                             size_t count, size_t stride,
                                                             float (*out)[3]);

/// Read the transform of an entity as it is seen from another one, of any hierarchy: what it would
/// have as a local under `frame`. See espl_transform_relative().
/// @return ESPL_OK; ESPL_LOSSY where frame's scale or stretch is zero on an axis that counts: that
///         part reads 0 (scale: 1); ESPL_ERR_RANGE (a tiny scale makes it overflow).
ESPL_API ESPL_NODISCARD espl_status espl_relative(const espl_world *world, espl_entity frame,
                                                  espl_entity entity, espl_transform *out);

// Between the axes of an entity and those of the world; each pair are inverses of each other. A
// point moves with the transform, a vector (an offset of two points) is scaled and turned, a
// direction is only turned. out may be the input. What overflows, here and in matrices, is infinite.
ESPL_API ESPL_NODISCARD espl_status espl_point_to_world(const espl_world *world, espl_entity entity,
                                                        const float point[3], float out[3]);
/// Convert back. @return ESPL_LOSSY where an axis has a scale or stretch of zero: it reads 0.
ESPL_API ESPL_NODISCARD espl_status espl_point_to_local(const espl_world *world, espl_entity entity,
                                                        const float point[3], float out[3]);
ESPL_API ESPL_NODISCARD espl_status espl_vector_to_world(const espl_world *world,
                                                         espl_entity entity, const float vector[3],
                                                         float out[3]);
/// Convert back. @return ESPL_LOSSY where an axis has a scale or stretch of zero: it reads 0.
ESPL_API ESPL_NODISCARD espl_status espl_vector_to_local(const espl_world *world,
                                                         espl_entity entity, const float vector[3],
                                                         float out[3]);
ESPL_API ESPL_NODISCARD espl_status espl_direction_to_world(const espl_world *world,
                                                            espl_entity entity,
                                                            const float direction[3], float out[3]);
ESPL_API ESPL_NODISCARD espl_status espl_direction_to_local(const espl_world *world,
                                                            espl_entity entity,
                                                            const float direction[3], float out[3]);

/// Read the world direction of one of the entity's axes, a unit vector.
ESPL_API ESPL_NODISCARD espl_status espl_get_axis(const espl_world *world, espl_entity entity,
                                                  espl_axis axis, float out[3]);
/// Tell whether the world transform mirrors: see espl_transform_is_mirrored(). false for a handle
/// that names nobody, or nobody with a transform.
ESPL_API bool espl_is_mirrored(const espl_world *world, espl_entity entity);

/// Read the world transform as 3 rows of 4.
ESPL_API ESPL_NODISCARD espl_status espl_get_matrix_3x4(const espl_world *world, espl_entity entity,
                                                        float rows[12]);
/// Read the world transform as 4 columns of 4, the order of glTF and OpenGL.
ESPL_API ESPL_NODISCARD espl_status espl_get_matrix_4x4(const espl_world *world, espl_entity entity,
                                                        float columns[16]);
/// Read the inverse of espl_get_matrix_4x4(): from world axes to the entity's own.
/// @return ESPL_LOSSY where an axis has a scale or stretch of zero: its row is zeros.
ESPL_API ESPL_NODISCARD espl_status espl_get_matrix_4x4_inverse(const espl_world *world,
                                                                espl_entity entity,
                                                                float columns[16]);

/// Return the inherit flags of a member; 0 for any other handle.
ESPL_API uint32_t espl_get_inherit(const espl_world *world, espl_entity entity);

#ifdef __cplusplus
}
#endif

#endif
