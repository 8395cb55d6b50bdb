// SPDX-License-Identifier: MIT
// How nodes move by themselves in the loads `animate` and `roots`, as gameplay code would have it:
// the same few operations in the same order for all schemes, each with an inlined copy.
#ifndef ESPALIER_BENCH_MOTION_H
#define ESPALIER_BENCH_MOTION_H

#include "bench/schemes/compose.h"

/// A node that swings about a rest.
struct swing {
    struct pose rest;
    float reach[3]; ///< From the rest to where it is at phase 1.
};

_Static_assert(sizeof(struct swing) == 44, "swing: 32 + 12");

/// Distance that a node goes in a frame.
struct velocity {
    float step[3];
};

/// Return the local that a swing has at a phase.
static inline struct pose swing_at(const struct swing *swing, float phase)
{
    struct pose out = swing->rest;

    for (int axis = 0; axis < 3; ++axis) {
        out.position[axis] += swing->reach[axis] * phase;
    }
    return out;
}

#endif
