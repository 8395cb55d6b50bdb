// SPDX-License-Identifier: MIT
// Builds the arrays of a forest. The seed is fixed, so a shape is the same forest in every run.
#include "bench/forest.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { forest_seed = 20261121 };

static uint32_t parent_in_tree(uint32_t rank, uint32_t fan, uint32_t root)
{
    return rank == 0 ? NO_NODE : root + (rank - 1) / fan;
}

double forest_side(const struct forest *forest, uint32_t node)
{
    return forest->parents[node] == NO_NODE ? ROOT_SIDE : MEMBER_SIDE;
}

struct forest forest_create(struct forest_shape shape)
{
    const size_t count = (size_t)shape.trees * shape.tree_size;
    struct forest out = {
        .shape = shape,
        .count = count,
        .parents = block_new(count, sizeof(uint32_t)),
        .locals = block_new(count, sizeof(struct pose)),
    };
    struct draw draw = draw_begin(forest_seed, 0);

    for (uint32_t node = 0; node < count; ++node) {
        const uint32_t rank = node % shape.tree_size;

        out.parents[node] = parent_in_tree(rank, shape.fan, node - rank);
        out.locals[node] = draw_pose(&draw, forest_side(&out, node));
    }
    return out;
}

void forest_destroy(struct forest *forest)
{
    free(forest->parents);
    free(forest->locals);
    forest->parents = NULL;
    forest->locals = NULL;
}
