// SPDX-License-Identifier: MIT
// Writing the transform at one slot, by an immediate call or by a job that owns the tree. The
// caller has found the slot and made sure that no other thread writes there.
#ifndef ESPALIER_LIB_WORLD_SLOT_WRITES_H
#define ESPALIER_LIB_WORLD_SLOT_WRITES_H

#include "lib/tree/writes.h"
#include "lib/world/inside.h"

/// Names of the public functions that write one entity, by kind: all of them call espl_write_one(),
/// so that messages name the function that the caller most likely called.
extern const char *const espl__write_calls[ESPL_WRITE_KIND_COUNT];

static inline const char *espl__write_call(espl_write_kind kind)
{
    return (unsigned)kind < ESPL_WRITE_KIND_COUNT ? espl__write_calls[kind] : "espl_write_one";
}

/// Tell whether the scale of a pose, or of a transform, is the 0 that {0} leaves behind, which is
/// remarked on: see espl__write_blank(). One compare, because most writes ask.
static inline bool espl__pose_is_blank(const void *pose)
{
    static const float blank = 0;

    return memcmp((const unsigned char *)pose + offsetof(espl_pose, scale), &blank, sizeof blank) ==
           0;
}

/// Carry out a write of a kind. @param bytes  its value; a pointer of any type.
/// @return statuses as the public functions; ESPL_OVERFLOW goes before ESPL_LOSSY.
espl_status espl__slot_write(espl_world *world, espl__context *context, uint32_t slot,
                             espl_write_kind kind, const void *bytes);
/// What espl_look_at(), espl_rotate_about() and espl_set_inherit() do.
espl_status espl__slot_look_at(espl_world *world, espl__context *context, uint32_t slot,
                               const float target[3], const float *up, espl_axis forward);
espl_status espl__slot_rotate_about(espl_world *world, espl__context *context, uint32_t slot,
                                    const float pivot[3], const float by[4]);
espl_status espl__slot_inherit(espl_world *world, espl__context *context, uint32_t slot,
                               uint32_t flags);

#endif
