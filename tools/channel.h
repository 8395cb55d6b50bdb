// SPDX-License-Identifier: MIT
// Movement of one node over time: keys for position, rotation and scale, sampled in double.
#ifndef ESPALIER_TOOLS_CHANNEL_H
#define ESPALIER_TOOLS_CHANNEL_H

#include "tools/affine.h"

#include <stddef.h>
#include <stdint.h>

/// Keys of one part of a placement, in order of time.
typedef struct key_track {
    size_t count;
    double *times;       // [count] seconds, not decreasing
    double (*values)[4]; // [count] x y z, or quaternion x y z w
} key_track;

/// What moves one node. A part without keys stays at the node's rest.
typedef struct tool_channel {
    uint32_t node;
    key_track position, rotation, scale;
} tool_channel;

/// Take memory for a number of keys, zeroed. Return false where there is none.
bool key_track_reserve(key_track *track, size_t count);

/// Release a channel's keys.
void channel_release(tool_channel *channel);

/// Compute the node's local placement at a time, given its rest; before the first key and after the
/// last one the nearest holds. Positions and scales are mixed linearly, rotations along the shorter
/// arc.
tool_placement channel_sample(const tool_channel *channel, const tool_placement *rest,
                              double seconds);

#endif
