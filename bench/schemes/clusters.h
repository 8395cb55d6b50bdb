// SPDX-License-Identifier: MIT
// What the scheme `clustered` keeps: clusters of nodes, filed by depth, each a structure of arrays;
// and entries, which say where a node is and what it hangs from.
#ifndef ESPALIER_BENCH_CLUSTERS_H
#define ESPALIER_BENCH_CLUSTERS_H

#include "bench/crew.h"
#include "bench/forest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_SIZE 128 ///< Nodes of a cluster.
#define POOL_SIZE 4096   ///< Entries of a pool.
#define MARK_WORDS (CLUSTER_SIZE / 64)

/// Poses field by field, in the order of struct pose.
struct fields {
    float of[8][CLUSTER_SIZE];
};

/// Nodes of one depth. A place is the number of a cluster times CLUSTER_SIZE, and a lane.
struct cluster {
    uint64_t stale[MARK_WORDS];   ///< Nodes whose world is out of date, with all that is below.
    uint64_t changed[MARK_WORDS]; ///< Nodes whose world has changed in frame `frame`.
    uint64_t frame;
    uint32_t number;
    uint32_t depth;
    uint32_t count;
    uint32_t stale_rank; ///< Where its depth lists it as stale, or NO_NODE.
    _Alignas(64) struct fields locals;
    uint32_t parents[CLUSTER_SIZE]; ///< Places; not set at depth 0.
    struct fields worlds;           ///< Not a whole page behind the locals.
    uint32_t entries[CLUSTER_SIZE];
};

_Static_assert(offsetof(struct cluster, worlds) % 64 == 0, "arrays begin with a cache line");
_Static_assert(sizeof(struct cluster) == 64 + 2 * 4096 + 2 * 512, "cluster: 9280");

/// What stays of a node while its place changes. Links are entries, or NO_NODE.
struct entry {
    uint32_t generation; ///< Odd while the entry is in use.
    uint32_t place;
    uint32_t parent;
    uint32_t first_child;
    uint32_t next_sibling; ///< Of a free entry: the next free one.
    uint32_t previous_sibling;
};

_Static_assert(sizeof(struct entry) == 24, "entry: 6 * 4");

/// Clusters of one depth, by number. All but the last are full.
struct depth {
    uint32_t *clusters; ///< [cluster_count]
    uint32_t *stale;    ///< [stale_count] those that have stale nodes.
    uint32_t cluster_count;
    uint32_t stale_count;
    uint32_t capacity; ///< Of both.
    uint32_t nodes;
};

struct clusters {
    struct cluster **table; ///< [table_count] by number.
    size_t table_count;
    uint32_t *spare; ///< [spare_count] numbers of clusters that no depth has.
    size_t spare_count;

    struct depth *depths; ///< [depth_count]
    size_t depth_count;

    struct entry **pools; ///< [pool_count] of POOL_SIZE each.
    size_t pool_count;
    uint32_t entry_count; ///< In use or free; those behind were never used.
    uint32_t free_entry;  ///< First of the free ones, or NO_NODE.

    uint64_t frame; ///< Number of the last propagation.
    struct crew *crew;
};

struct clusters clusters_create(unsigned workers);
void clusters_destroy(struct clusters *all);
size_t clusters_bytes(const struct clusters *all);

/// Make a node under another one, or under none.
/// @param parent  entry, or NO_NODE.
/// @return its entry.
uint32_t clusters_add(struct clusters *all, const struct pose *local, uint32_t parent);
/// Remove a node and all that is below it.
void clusters_remove(struct clusters *all, uint32_t top);
/// Hang a node, with all that is below it, from another one, or from none. The other one is not
/// below it.
void clusters_move(struct clusters *all, uint32_t top, uint32_t parent);

/// Bring all worlds up to date.
void clusters_propagate(struct clusters *all);

static inline struct entry *entry_of(const struct clusters *all, uint32_t entry)
{
    return &all->pools[entry / POOL_SIZE][entry % POOL_SIZE];
}

static inline struct cluster *cluster_of(const struct clusters *all, uint32_t place)
{
    return all->table[place / CLUSTER_SIZE];
}

/// Note that a node's world is out of date.
static inline void clusters_mark(struct clusters *all, uint32_t place)
{
    struct cluster *const cluster = cluster_of(all, place);
    const uint32_t lane = place % CLUSTER_SIZE;

    cluster->stale[lane / 64] |= (uint64_t)1 << lane % 64;
    if (cluster->stale_rank == NO_NODE) {
        struct depth *const depth = &all->depths[cluster->depth];

        cluster->stale_rank = depth->stale_count;
        depth->stale[depth->stale_count++] = cluster->number;
    }
}

static inline void fields_set(struct fields *fields, uint32_t lane, const struct pose *pose)
{
    for (int i = 0; i < 4; ++i) {
        fields->of[i][lane] = pose->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        fields->of[4 + i][lane] = pose->position[i];
    }
    fields->of[7][lane] = pose->scale;
}

static inline struct pose fields_get(const struct fields *fields, uint32_t lane)
{
    struct pose out;

    for (int i = 0; i < 4; ++i) {
        out.rotation[i] = fields->of[i][lane];
    }
    for (int i = 0; i < 3; ++i) {
        out.position[i] = fields->of[4 + i][lane];
    }
    out.scale = fields->of[7][lane];
    return out;
}

#endif
