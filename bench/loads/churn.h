// SPDX-License-Identifier: MIT
// Frames that change a forest all over: prefabs appear under random nodes and are destroyed some
// frames later, random leaves move under random nodes. All of it is drawn beforehand, so that the
// forest of the end is known and can be built anew.
#ifndef ESPALIER_BENCH_CHURN_H
#define ESPALIER_BENCH_CHURN_H

#include "bench/forest.h"
#include "bench/loads/links.h"
#include "bench/schemes/scheme.h"

/// Frames there are, and how many of them a prefab lives.
enum { churn_frames = 200, churn_life = 20 };

/// A prefab appears under a node of the forest.
struct birth {
    uint32_t parent;
    struct pose local; ///< Of its first node.
};

struct churn {
    uint32_t count;       ///< Prefabs of a frame, and moves behind them.
    struct birth *births; ///< [churn_frames][count]
    struct move *moves;   ///< [churn_frames][count]
    struct pose prefab[PREFAB_SIZE];
    struct links links; ///< Of the forest's nodes in the end.
};

/// Draw the churn of a forest, whose nodes themselves all stay alive.
struct churn churn_create(const struct forest *forest, uint32_t count, uint64_t prefab_seed);
void churn_destroy(struct churn *churn);

/// Prefabs that live in the end.
static inline uint32_t churn_living(const struct churn *churn)
{
    return churn_life * churn->count;
}

/// Make the forest of the end, tree by tree in the order of the roots and breadth-first in each, as
/// if it had never been another.
/// @param forest   the one that was churned.
/// @param numbers  [forest->count + PREFAB_SIZE * churn_living()] out: of the forest's nodes, and
///                 behind them of the living prefabs' nodes from the oldest to the youngest, the
///                 numbers in the new forest.
struct forest churn_forest(const struct churn *churn, const struct forest *forest,
                           uint32_t *numbers);

#endif
