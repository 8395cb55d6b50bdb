// SPDX-License-Identifier: MIT
// Inherit flags: which parts of its world pose a member does not take from its parent, and the
// world that follows. Sees floats, never an entity.
#ifndef ESPALIER_LIB_MATH_INHERIT_H
#define ESPALIER_LIB_MATH_INHERIT_H

#include "lib/math/pose.h"

enum { ESPL__FLAGS_ALL = 0xff };

/// World values of the parts that a member keeps. Parts that the flags do not name are the
/// identity's, so that equal ones are equal bytes.
typedef struct espl__kept {
    espl_pose pose;
    uint32_t flags; // ESPL_ABSOLUTE_ flags, ESPL_COPY_PARENT; 0: takes everything from its parent
} espl__kept;

_Static_assert(sizeof(espl__kept) == 36, "kept: 32 + 4");

/// Tell whether a byte of flags means something: ESPL_COPY_PARENT stands alone.
static inline bool espl__flags_are_valid(uint32_t flags)
{
    return flags <= ESPL__FLAGS_ALL &&
           ((flags & ESPL_COPY_PARENT) == 0 || flags == ESPL_COPY_PARENT);
}

static inline espl__kept espl__kept_none(void)
{
    return (espl__kept){{{0, 0, 0, 1}, {0, 0, 0}, 1}, 0};
}

/// What is kept of a world pose with these flags.
espl__kept espl__kept_of(const espl_pose *world, uint32_t flags);

/// Put the kept parts in place of the composed ones. For ESPL_COPY_PARENT it does nothing.
void espl__keep_parts(espl_pose *composed, const espl__kept *kept);

#endif
