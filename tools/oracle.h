// SPDX-License-Identifier: MIT
// What world transforms are compared with: products, in double, of the matrices that the scene's reader
// gives along the path, or for a simulation the worlds that it computes.
#ifndef ESPALIER_TOOLS_ORACLE_H
#define ESPALIER_TOOLS_ORACLE_H

#include "tools/scene.h"

/// What the oracle holds of one node at one moment.
typedef struct oracle_node {
    tool_affine world; // in the scene's axes
    double reach;      // distance travelled on the path from the top
    double slack;      // defects on the path, the node's own included; see affine.h
    uint32_t depth;    // links to the top
    bool is_shaped;    // the node's own matrix has uneven axes or shear
    bool is_beyond;    // an ancestor is shaped: matrices and placements differ by design
} oracle_node;

/// A scene at one moment.
typedef struct tool_moment {
    size_t count;
    local_frame *locals; // [count]
    oracle_node *nodes;  // [count]
} tool_moment;

bool moment_reserve(tool_moment *out, const tool_scene *scene);
void moment_release(tool_moment *moment);

/// Compute the scene's locals and true worlds at a time.
void moment_take(tool_moment *moment, const tool_scene *scene, double seconds);

/// Count the nodes that stand below uneven axes or shear.
size_t moment_count_beyond(const tool_moment *moment);

/// The frame above the scene's top nodes.
typedef struct oracle_frame {
    tool_affine matrix;
    double reach;   // distance travelled above the scene
    uint32_t depth; // links above the scene
} oracle_frame;

oracle_frame oracle_frame_identity(void);

/// Counts and extremes of comparisons.
typedef struct tool_tally {
    size_t reads;       // compared
    size_t left_out;    // not compared: uneven axes above
    size_t wrong;       // of the reads: past what is allowed
    double worst_error; // of a position, scene units
    double worst_share; // of what is allowed, position or shape: at most 1 where nothing is wrong
    size_t worst_node;
} tool_tally;

/// Compare a world read from the library with the oracle.
///
/// A position may be off by 8 * levels * 2^-24 * (distance travelled on the path + 1), a rotated
/// and scaled axis by 8 * levels * 2^-24 of its length; levels counts the links above the node, and
/// one for the rounding of what is written. What the file's matrices hold beside a placement is
/// allowed for.
void tally_compare(tool_tally *tally, const tool_moment *moment, size_t node,
                   const oracle_frame *above, const espl_transform *world);

/// Add one tally to another.
void tally_add(tool_tally *sum, const tool_tally *part);

#endif
