// SPDX-License-Identifier: MIT
// Inherit flags: the parts of its world pose that a member does not take from its parent.
#ifndef ESPALIER_LIB_MATH_INHERIT_H
#define ESPALIER_LIB_MATH_INHERIT_H

#include "lib/math/pose.h"

/// All bits of a byte of flags.
enum { ESPL__FLAGS_ALL = 0xff };

/// The world values of the parts that a member keeps. The other parts have the values of the
/// identity, so that equal values have equal bytes.
typedef struct espl__kept {
    espl_pose pose;
    uint32_t flags; // which parts; 0: none, the member takes everything from its parent
} espl__kept;

_Static_assert(sizeof(espl__kept) == 36, "kept: 32 + 4");

/// Tell whether flags are valid. ESPL_COPY_PARENT excludes all others.
static inline bool espl__flags_are_valid(uint32_t flags)
{
    return flags <= ESPL__FLAGS_ALL &&
           ((flags & ESPL_COPY_PARENT) == 0 || flags == ESPL_COPY_PARENT);
}

/// Return the value of a member that keeps nothing.
static inline espl__kept espl__kept_none(void)
{
    return (espl__kept){{{0, 0, 0, 1}, {0, 0, 0}, 1}, 0};
}

/// Return the parts of a world pose that flags keep. The flags may be invalid, because a validator
/// calls it.
espl__kept espl__kept_of(const espl_pose *world, uint32_t flags);

/// Replace the kept parts of a composed world pose. ESPL_COPY_PARENT replaces nothing.
void espl__keep_parts(espl_pose *composed, const espl__kept *kept);

#endif
