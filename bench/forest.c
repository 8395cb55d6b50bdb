// SPDX-License-Identifier: MIT
// Builds the arrays of a forest. The seed is fixed, so a shape is the same forest in every run.
#include "bench/forest.h"

#include "bench/blocks.h"
#include "bench/draw.h"

enum { forest_seed = 20261121 };

double forest_side(const struct forest *forest, uint32_t node)
{
    return forest->parents[node] == NO_NODE ? ROOT_SIDE : MEMBER_SIDE;
}

static uint32_t *regular_parents(struct forest_shape shape)
{
    uint32_t *const parents = block_new(shape.tree_size, sizeof *parents);

    for (uint32_t rank = 0; rank < shape.tree_size; ++rank) {
        parents[rank] = rank == 0 ? NO_NODE : (rank - 1) / shape.fan;
    }
    return parents;
}

static struct forest create(struct forest_shape shape, const uint32_t *tree_parents)
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

        out.parents[node] = rank == 0 ? NO_NODE : node - rank + tree_parents[rank];
        out.locals[node] = draw_pose(&draw, forest_side(&out, node));
    }
    return out;
}

struct forest forest_create(struct forest_shape shape)
{
    uint32_t *const parents = regular_parents(shape);
    const struct forest out = create(shape, parents);

    free(parents);
    return out;
}

struct forest forest_create_copies(const uint32_t *parents, uint32_t tree_size, uint32_t copies)
{
    return create((struct forest_shape){copies, tree_size, 0}, parents);
}

void forest_destroy(struct forest *forest)
{
    free(forest->parents);
    free(forest->locals);
    forest->parents = NULL;
    forest->locals = NULL;
}
