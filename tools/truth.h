// SPDX-License-Identifier: MIT
// What a file's own numbers mean, for the oracle: matrices from keys and from translation, rotation
// and scale, in double. It shares no formula with channel.c and affine.c, which compute what the
// library is given: rotations are not normalised but divided out, arcs are powers of the rotation
// between two keys, and curves are those of de Casteljau.
#ifndef ESPALIER_TOOLS_TRUTH_H
#define ESPALIER_TOOLS_TRUTH_H

#include "tools/channel.h"

/// Return the matrix of translation, rotation (any length but 0) and scale, in glTF's order: the
/// scale applies first.
tool_affine truth_of_parts(const double translation[3], const double rotation[4],
                           const double scale[3]);

/// Return the matrix that a channel has at a time, its constant matrices included.
tool_affine truth_of_channel(const tool_channel *channel, double seconds);

/// Return the matrix between two placements of a node: positions and scales on straight lines, the
/// rotation on the shorter arc, the stretch of the second placement.
/// @param share  of the way: 0 to 1, or beyond it on the same lines and arc.
tool_affine truth_between(const tool_placement *from, const tool_placement *to, double share);

/// Return the angle in radians, 0 to pi, of the shorter arc between two rotations of any length but 0.
double truth_turn(const double from[4], const double to[4]);

/// Return how unequal the lengths of the axes are: the largest difference, divided by the longest.
double truth_spread(const tool_affine *matrix);

/// Return how far the axes are from right angles: the largest cosine of an angle between two.
double truth_shear(const tool_affine *matrix);

#endif
