// SPDX-License-Identifier: MIT
// Who hangs under whom while leaves move, as far as a load needs it to draw moves beforehand: a
// leaf must be one when its move comes.
#ifndef ESPALIER_BENCH_LINKS_H
#define ESPALIER_BENCH_LINKS_H

#include "bench/draw.h"
#include "bench/forest.h"

/// A leaf moves under another parent; by numbers.
struct move {
    uint32_t leaf;
    uint32_t parent;
};

/// Links of a forest's nodes.
struct links {
    uint32_t *parents;      ///< [count]
    uint32_t *child_counts; ///< [count] with whatever else a load hangs under a node.
    uint32_t count;
};

struct links links_create(const struct forest *forest);
void links_destroy(struct links *links);

/// Draw a move of a random leaf under any other node, and carry it out. Roots stay where they are,
/// even those that have lost all their children.
struct move links_draw_move(struct links *links, struct draw *draw);

#endif
