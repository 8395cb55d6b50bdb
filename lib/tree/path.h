// SPDX-License-Identifier: MIT
// Locals along a path of a tree: the pose of a node relative to an ancestor, composed from the locals
// between them and not from worlds, which lose precision far from the origin.
//
// The locals are those of now, or of an earlier time: `past` is then espl__locals_at(), else NULL.
#ifndef ESPALIER_LIB_TREE_PATH_H
#define ESPALIER_LIB_TREE_PATH_H

#include "lib/tree/motion.h"

/// The pose of a node relative to a frame, which is an ancestor of it. A position of a local is stretched
/// by its own parent alone, so that the position is in two parts.
typedef struct espl__rise {
    espl_pose pose; // its position is that of the local of the topmost node below the frame
    // From that node, in the axes of the frame; no stretch of the frame applies to it.
    float offset[3];
    bool has_offset; // there is a node between
} espl__rise;

/// Begin with the local of a node, which is its pose below its parent.
static inline espl__rise espl__rise_begin(const espl__forest *forest, const espl_pose *past,
                                          uint32_t slot)
{
    return (espl__rise){.pose = *espl__local_at(forest, past, slot)};
}

/// Go from the frame `up` to its parent. A node that copies its parent adds nothing.
void espl__rise_step(const espl__forest *forest, const espl_pose *past, espl__rise *rise,
                     uint32_t up);

/// Return the local that the node has as a child of the frame. On axes with a stretch of 0 it is as with
/// a stretch of 1.
espl_pose espl__rise_local(const espl__rise *rise, const float stretch[ESPL__LEAST 3]);

/// Compute the pose of a node relative to a frame of the same tree from the locals between both and their
/// nearest common ancestor. That of a child of the frame is its local, bit for bit. O(path).
/// Preconditions: no edit is under way, so that parents have lower slots than their children.
/// @return false, and `out` is unchanged: the worlds tell it, because the nodes are not in one tree, a node
///         between them keeps a part of its world, or a number leaves the range of floats on the way.
bool espl__path_relative(const espl__forest *forest, uint32_t frame, uint32_t slot, espl_pose *out);

/// Links from a node to an ancestor that espl__path_edited() follows at most, so that a change of parent in
/// a long chain does not cost its length.
enum { ESPL__PATH_LIMIT = 64 };

/// Compute the pose as espl__path_relative(), inside an edit, where slots have any order, for a common
/// ancestor that is at most ESPL__PATH_LIMIT links above each of both. Precondition: side values of both are up to date.
/// @return false: the nodes have no such ancestor, or one of the reasons above.
bool espl__path_edited(const espl__forest *forest, const espl_pose *past, uint32_t frame,
                       uint32_t slot, espl_pose *out);

#endif
