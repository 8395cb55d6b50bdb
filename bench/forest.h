// SPDX-License-Identifier: MIT
// The trees of a load as plain arrays: which node has which parent, and where it is placed. Every
// scheme builds its own world from the same forest.
#ifndef ESPALIER_BENCH_FOREST_H
#define ESPALIER_BENCH_FOREST_H

#include "bench/schemes/compose.h"

#include <stddef.h>
#include <stdint.h>

/// Parent of a root.
#define NO_NODE UINT32_MAX

/// "R x P fan F": R trees of P nodes each, filled breadth-first, F children to a node; a fan of 0:
/// trees of another form, which is the load's affair; a size of 0 besides: of several sizes.
struct forest_shape {
    uint32_t trees;
    uint32_t tree_size;
    uint32_t fan;
};

/// Nodes numbered tree by tree, the root first in each, so that a parent's number is the smaller.
struct forest {
    struct forest_shape shape;
    size_t count;        ///< Nodes.
    uint32_t *parents;   ///< [count] number of the parent, NO_NODE for a root.
    struct pose *locals; ///< [count] relative to the parent, or to the world for a root.
};

/// Make a forest of regular trees, with locals drawn from one fixed seed.
struct forest forest_create(struct forest_shape shape);
/// Make a forest of copies of one tree, with locals drawn from the same seed.
/// @param parents  [tree_size] a smaller number than the node's own, NO_NODE for the root alone,
///                 which comes first.
struct forest forest_create_copies(const uint32_t *parents, uint32_t tree_size, uint32_t copies);
void forest_destroy(struct forest *forest);

/// Number of a tree's root.
static inline uint32_t forest_root(const struct forest *forest, uint32_t tree)
{
    return tree * forest->shape.tree_size;
}

/// Side of the cube in which a node is placed.
double forest_side(const struct forest *forest, uint32_t node);

#endif
