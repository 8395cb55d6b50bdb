// SPDX-License-Identifier: MIT
// Movement of one node over time: the keys for position, rotation and scale as the file has them,
// sampled in double.
#ifndef ESPALIER_TOOLS_CHANNEL_H
#define ESPALIER_TOOLS_CHANNEL_H

#include "tools/affine.h"
#include "tools/fault.h"

#include <stddef.h>
#include <stdint.h>

/// How far the length of a rotation key may be from 1. Components that are stored as bytes, as glTF
/// allows, are off by up to 1/254 each.
#define CHANNEL_UNIT 0.01

/// Dot product of two rotations below which both arcs between them count as equally long; the arc
/// to the second rotation as it is written is then taken.
#define CHANNEL_RIGHT_ANGLE 1e-12

/// What holds between two keys.
typedef enum key_form {
    KEYS_LINEAR, // a straight line, or for rotations the shorter arc
    KEYS_STEP,   // the first of them
    KEYS_CUBIC,  // Hermite's curve, with tangents per second; rotations are brought to unit length
} key_form;

/// Keys of one part of a transform, in order of time.
typedef struct key_track {
    size_t count;
    key_form form;
    double *times; // [count] seconds, not decreasing
    // [count] x y z, or quaternion x y z w, not normalised; KEYS_CUBIC: [3 * count], of each key the
    // tangent that leads to it, its value, and the tangent that leads away
    double (*values)[4];
} key_track;

/// What moves one node. Each part has at least one key.
///
/// Channels of one node follow each other, and the node's transform is their product, the first one
/// outermost: each is a constant matrix times what the keys say, and times a second matrix.
typedef struct tool_channel {
    uint32_t node;
    key_track position, rotation, scale;
    bool has_frame; // false: both matrices are the identity
    tool_affine before, after;
} tool_channel;

/// Take memory for a number of keys, zeroed. Return false where there is none.
bool key_track_reserve(key_track *track, size_t count, key_form form);

/// Release a channel's keys.
void channel_release(tool_channel *channel);

/// Tell whether the channel can be played: times that do not decrease, finite values, and rotations
/// of about unit length.
/// @param name  of the node, for the reason.
/// @return false with the reason.
bool channel_is_playable(const tool_channel *channel, const char *name, tool_fault *fault);

/// Compute the placement that the keys have at a time, without the constant matrices. Before the
/// first key and after the last one the nearest holds.
tool_placement channel_sample(const tool_channel *channel, double seconds);

/// Compute the local placement that channels of one node have together.
tool_placement channels_sample(const tool_channel *channels, size_t count, double seconds);

/// Return how many channels from the first on move the same node. @param count  of all, not 0.
size_t channels_of_node(const tool_channel *channels, size_t count);

#endif
