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
    double slack;      // spread and shear on the path, up to the tolerance of each; see truth.h
    double blend;      // what blends may be off on the path, added up: radians, or of their size
    uint32_t depth;    // links to the top
    bool is_uneven;    // the node's own axes differ: its children do not inherit them
    bool is_sheared;   // no transform is the node's own matrix
    bool is_below;     // an ancestor is uneven or sheared: matrices and transforms differ by design
    bool is_unclear;   // the node or an ancestor has no one blend between two moments
} oracle_node;

/// A scene at one moment.
typedef struct tool_moment {
    size_t count;
    local_frame *locals; // [count]
    oracle_node *nodes;  // [count]
    tool_affine *worlds; // [count] of a simulation
} tool_moment;

bool moment_reserve(tool_moment *out, const tool_scene *scene);
void moment_release(tool_moment *moment);

/// Compute the scene's locals and true worlds at a time.
void moment_take(tool_moment *moment, const tool_scene *scene, double seconds);

/// Compute what is shown of the scene between two moments: each local is blended, and the worlds are
/// products of the blends. A node whose placement is equal at both has the file's own matrix of the later
/// one.
///
/// A blend is unclear where both arcs of a rotation are equally long, or where the scale is nearly 0 because
/// it changes its sign.
/// @param share  of the way from one to the other: 0 to 1, or beyond it on the same lines and arcs.
void moment_between(tool_moment *out, const tool_scene *scene, const tool_moment *from,
                    const tool_moment *to, double share);

/// Tell whether the oracle can judge a node: it is not sheared, nor below uneven axes or shear, and its
/// blend is not unclear.
bool moment_compares(const tool_moment *moment, size_t node);

/// The frame above the scene's top nodes.
typedef struct oracle_frame {
    tool_affine matrix;
    double reach;   // distance travelled above the scene
    double blend;   // as oracle_node.blend
    uint32_t depth; // links above the scene
} oracle_frame;

oracle_frame oracle_frame_identity(void);

/// Put a placement between two below a frame. Its rotations are less than half a turn apart, and its
/// scales have one sign.
void oracle_frame_push(oracle_frame *frame, const tool_placement *from, const tool_placement *to,
                       double share);

/// Counts and extremes of comparisons.
typedef struct tool_tally {
    size_t reads;       // compared
    size_t below;       // not compared: uneven axes or shear above
    size_t sheared;     // not compared: no transform is the node's matrix
    size_t unclear;     // not compared: there is no one blend
    size_t wrong;       // of the reads: past what is allowed
    double worst_error; // of a position, scene units
    double worst_share; // of what is allowed, position or shape: at most 1 where nothing is wrong
    size_t worst_node;
} tool_tally;

/// Compare a world read from the library with the oracle.
///
/// A position may be off by 8 * levels * 2^-24 * (distance travelled on the path + 1), a rotated
/// and scaled axis by 8 * levels * 2^-24 of its length; levels counts the links above the node, and
/// one for the rounding of what is written. Spread and shear of the file's matrices that are within
/// AFFINE_EVEN are allowed for, and of each blend of rotations that are a turn apart the difference of a
/// fit from the arc: turn^3 / 8000, at most 7.5e-5, in radians. Beyond the two moments arcs have no fit, but
/// rounding grows with what is added up for a blend: 2^-22 are allowed for each time that it is larger than
/// the blend.
void tally_compare(tool_tally *tally, const tool_moment *moment, size_t node,
                   const oracle_frame *above, const espl_transform *world);

/// Return how many reads were not compared, at all moments.
size_t tally_left_out(const tool_tally *tally);

/// Write why reads were not compared: one clause with the counts, empty where all were.
void tally_explain(const tool_tally *tally, char *out, size_t size);

/// Judge what was compared, and with is_strict also that nothing was left out.
/// @param within  largest error of a position; 0: any within the bound.
/// @return false with the reason.
bool tally_judge(const tool_tally *tally, const tool_scene *scene, double within, bool is_strict,
                 tool_fault *fault);

#endif
