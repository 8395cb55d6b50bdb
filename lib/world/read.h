// SPDX-License-Identifier: MIT
// The transforms of a slot, as users read them.
#ifndef ESPALIER_LIB_WORLD_READ_H
#define ESPALIER_LIB_WORLD_READ_H

#include "lib/world/handles.h"

/// What espl_get_world_transform() and espl_get_local_transform() read of a slot. An
/// entity without a transform of its own shows its parent's stretch and user data in both.
espl_transform espl__read_world(const espl_world *world, uint32_t slot);
espl_transform espl__read_local(const espl_world *world, uint32_t slot);

/// Tell whether some axis has no inverse, because its scale or stretch is 0.
static inline bool espl__transform_is_flat(const espl_transform *transform)
{
    return transform->scale == 0 || transform->stretch[0] == 0 || transform->stretch[1] == 0 ||
           transform->stretch[2] == 0;
}

/// Find the slot of an entity that is to be read into `out`.
///
/// @return ESPL_OK; ESPL_ERR_ARGUMENT: no world, or `out` is NULL; the statuses of handles;
///         ESPL_ERR_NO_TRANSFORM; in checked builds ESPL_ERR_NOT_OWNER: a job of a parallel write
///         reads a hierarchy of another job, which may be changing at this moment.
espl_status espl__find_to_read(const espl_world *world, espl_entity entity, const void *out,
                               uint32_t *slot);
/// The sentence for an output that is NULL.
extern const char espl__no_out[];

/// Read the world transforms of many entities.
/// @param out       [count] out; unchanged where the entity is refused.
/// @param statuses  [count] out: of each entity.
/// @return whether no entity is refused.
bool espl__read_worlds(const espl_world *world, espl__handles handles, size_t count,
                       espl_transform *out, espl_status *statuses);

/// espl_read_one() under the name of another public function in messages.
espl_status espl__read_as(const espl_world *world, const char *call, espl_entity entity,
                          espl_read_kind kind, void *out);

#endif
