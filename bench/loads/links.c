// SPDX-License-Identifier: MIT
// Draws moves by trial: of trees as wide as the course's most nodes are leaves.
#include "bench/loads/links.h"

#include "bench/blocks.h"

struct links links_create(const struct forest *forest)
{
    const struct links links = {
        .parents = block_copy(forest->parents, forest->count, sizeof(uint32_t)),
        .child_counts = block_new(forest->count, sizeof(uint32_t)),
        .count = (uint32_t)forest->count,
    };

    memset(links.child_counts, 0, forest->count * sizeof(uint32_t));
    for (uint32_t node = 0; node < links.count; ++node) {
        if (links.parents[node] != NO_NODE) {
            ++links.child_counts[links.parents[node]];
        }
    }
    return links;
}

void links_destroy(struct links *links)
{
    free(links->parents);
    free(links->child_counts);
    *links = (struct links){0};
}

static uint32_t draw_leaf(const struct links *links, struct draw *draw)
{
    uint32_t node;

    do {
        node = draw_below(draw, links->count);
    } while (links->parents[node] == NO_NODE || links->child_counts[node] > 0);
    return node;
}

struct move links_draw_move(struct links *links, struct draw *draw)
{
    const uint32_t leaf = draw_leaf(links, draw);
    const uint32_t step = 1 + draw_below(draw, links->count - 1);
    const uint32_t parent = (uint32_t)(((uint64_t)leaf + step) % links->count);

    --links->child_counts[links->parents[leaf]];
    ++links->child_counts[parent];
    links->parents[leaf] = parent;
    return (struct move){leaf, parent};
}
