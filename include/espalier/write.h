// SPDX-License-Identifier: MIT
/// @file
/// Reading and writing transforms. A write propagates at once: every world transform read after it
/// is the true one.
///
/// Statuses of handles, in every call: ESPL_ERR_NULL_ENTITY, ESPL_ERR_DEAD, ESPL_ERR_FOREIGN;
/// ESPL_ERR_NO_TRANSFORM for an entity without placement.
#ifndef ESPALIER_WRITE_H
#define ESPALIER_WRITE_H

#include <espalier/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Read the placement relative to the world.
/// @param out  unchanged when refused.
ESPL_API ESPL_NODISCARD espl_status espl_get_world(const espl_world *world, espl_entity entity,
                                                   espl_transform *out);

/// Read the placement relative to the parent; for a root or solo the same as the world's.
/// @param out  unchanged when refused.
ESPL_API ESPL_NODISCARD espl_status espl_get_local(const espl_world *world, espl_entity entity,
                                                   espl_transform *out);

/// Read the world position alone. @param out  unchanged when refused.
ESPL_API ESPL_NODISCARD espl_status espl_get_world_position(const espl_world *world,
                                                            espl_entity entity, float out[3]);

/// Write the placement relative to the parent (root and solo: to the world).
///
/// Everything below follows before the call returns. A value bit-equal to the one in place does
/// nothing. The first stretch or context other than the default in a hierarchy needs memory, and is
/// structural in that respect.
/// @param value  The rotation is normalised unless it is of unit length (to 4e-7) already.
/// @return ESPL_OK; ESPL_ERR_NOT_FINITE; ESPL_ERR_RANGE (some world transform would overflow);
///         ESPL_ERR_NO_MEMORY, ESPL_ERR_BUSY (both only as said above); the handle's statuses.
/// O(descendants).
ESPL_API ESPL_NODISCARD espl_status espl_set_local(espl_world *world, espl_entity entity,
                                                   const espl_transform *value);

/// Write the placement relative to the world; the local becomes the value seen from the parent.
///
/// @return as espl_set_local(); ESPL_LOSSY below a scale or stretch of zero: the axes that can be
///         reached are set, the others keep their local value.
ESPL_API ESPL_NODISCARD espl_status espl_set_world(espl_world *world, espl_entity entity,
                                                   const espl_transform *value);

#ifdef __cplusplus
}
#endif

#endif
