// SPDX-License-Identifier: MIT
// Tables: which blocks each cluster has in each mirror, and the hand-over of mirrors to a reader.
//
// There are three tables where a thread of its own reads: the publisher has one, the reader has one, and one is
// in the middle. A word has the number of the middle one, and whether it is fresh: published, and not acquired.
// To publish, the publisher fills its table and exchanges it for the middle one. To acquire a fresh one, the
// reader exchanges its own for it. So neither waits for the other. Where the thread that publishes also reads,
// there is one table.
//
// The publisher keeps the newest entries in arrays of its own, which an update changes cluster by cluster. To
// publish costs what changed since its table was filled: each table has a list of the clusters that changed
// since then.
//
// An update of renderables does, in this order:
//
//     espl__tables_begin(t);                                      // blocks that no mirror needs fall free
//     if (!espl__tables_reserve(t, heap, &need)) return ESPL_ERR_NO_MEMORY;
//     for each cluster that changes:                              // cannot fail
//         espl__values_take(), espl__poses_take(), espl__tables_set_...()
//     fill the blocks that were taken, by any number of jobs;
//     espl__tables_publish(t, ...);
//
// A block that an update drops keeps its contents until the next espl__tables_begin(), so that jobs read what
// it had, and a pair of blocks is made of the two blocks that it replaces.
#ifndef ESPALIER_LIB_RENDERABLES_TABLES_H
#define ESPALIER_LIB_RENDERABLES_TABLES_H

#include "lib/renderables/blocks.h"

#include <stdatomic.h>

enum { ESPL__TABLE_COUNT = 3 };

/// Arrays by number of a cluster.
typedef struct espl__entry_arrays {
    espl__cluster_entry *entries;
    float *boxes[ESPL__BOX_NUMBERS];
    espl__cell *anchors; // NULL: the world has no cells
    uint64_t *changed;   // number of the first mirror with the entry
    uint32_t *order;     // as espl_mirror.order
} espl__entry_arrays;

/// The memory of arrays: one block of the heap.
typedef struct espl__table_memory {
    unsigned char *bytes;
    size_t size;
    uint32_t clusters; // that there is room for, a multiple of 16
} espl__table_memory;

/// A mirror, and what the publisher knows of it.
typedef struct espl__mirror_table {
    espl_mirror mirror;
    // Of the publisher alone, which changes it while a reader reads the mirror:
    _Alignas(64) espl__table_memory memory;
    espl__entry_arrays arrays; // of the mirror
    unsigned char *user;       // [user_size] of the mirror
    espl__block *held;         // blocks that were dropped, and that this mirror names
    uint32_t *behind;          // numbers of clusters that changed since it was filled
    uint32_t behind_count;     // ESPL__ALL_BEHIND: all are to be copied
    uint64_t order_moment;     // of the order that it has
} espl__mirror_table;

#define ESPL__ALL_BEHIND UINT32_MAX
enum { ESPL__BEHIND_SHARE = 8 }; ///< more than this share of the clusters is not worth a list

/// The newest entries.
typedef struct espl__newest {
    espl__entry_arrays arrays;
    uint32_t *free_numbers; // [free_count] numbers below `clusters` that no cluster has
    uint32_t *touched;      // [touched_count] clusters whose entries changed since the last publish
    uint32_t *paired; // [paired_count] clusters whose `before` was not `poses` at the last publish
    uint32_t clusters, order_count, still_count, free_count, touched_count, paired_count;
    uint64_t order_moment; // ascends whenever `order` changes
    espl__cell rebased;    // as the last mirror has it
    espl__table_memory memory;
} espl__newest;

/// The tables of renderables.
typedef struct espl__tables {
    espl__block_pool pools[ESPL__BLOCK_KINDS];
    espl__mirror_table tables[ESPL__TABLE_COUNT];
    espl__newest newest;
    espl__table_memory spare[ESPL__TABLE_COUNT]; // of tables that have too little
    espl__block *waiting;                        // blocks that were dropped since the last begin
    uint64_t number;                             // of the mirror that the next publish makes
    size_t user_size;
    uint32_t lifetime;                    // of its mirrors (lifetimes.h), from the first publish on
    uint64_t first_life;                  // that of a mirror less its number
    uint32_t own;                         // table of the publisher
    bool has_reader;                      // there are three tables
    bool has_cells;                       // tables have anchors
    _Alignas(64) _Atomic uint32_t latest; // middle table, and ESPL__TABLE_FRESH
    _Alignas(64) uint32_t reader;         // table of the reader, which alone reads and writes it
} espl__tables;

enum { ESPL__TABLE_FRESH = 4 };

/// Memory that an update needs at most.
typedef struct espl__tables_need {
    uint32_t clusters;                  // that exist after it, or at any time in it
    uint32_t blocks[ESPL__BLOCK_KINDS]; // that are taken
} espl__tables_need;

/// Set up tables without memory. Those of a world with cells get `has_cells` before the first update.
/// @param user_size  bytes of the user in each mirror.
void espl__tables_init(espl__tables *t, bool has_reader, size_t user_size);
/// Free all memory. Mirrors end.
void espl__tables_free(espl__tables *t, espl__heap *heap);
/// Return the bytes of all memory.
size_t espl__tables_bytes(const espl__tables *t);
/// Make room for updates of up to so many clusters, each of whose blocks they replace while a reader holds
/// others. Stretches are left out. @return false: no memory; perhaps some of it was taken.
bool espl__tables_prepay(espl__tables *t, espl__heap *heap, uint32_t clusters);
/// Free memory that neither a mirror nor the newest entries use. @return false: no memory to move to for a
/// part.
bool espl__tables_trim(espl__tables *t, espl__heap *heap);

// --- An update ---

/// Begin an update: blocks that no mirror needs fall free. May be called again without a publish between.
void espl__tables_begin(espl__tables *t);
/// Take the memory for an update. @return false: no memory; entries and mirrors are as before.
bool espl__tables_reserve(espl__tables *t, espl__heap *heap, const espl__tables_need *need);

/// Return the number of a new cluster, whose entry is {0}. Precondition: it was reserved.
uint32_t espl__tables_add_cluster(espl__tables *t);
/// End a cluster: drop its blocks. Another one may have the number at once.
void espl__tables_remove_cluster(espl__tables *t, uint32_t cluster);

/// Take blocks, to be filled before the publish. Precondition: they were reserved. Not in jobs.
espl__values *espl__values_take(espl__tables *t);
espl__poses *espl__poses_take(espl__tables *t);
espl__stretches *espl__stretches_take(espl__tables *t);
espl__member_cells *espl__member_cells_take(espl__tables *t);
/// Give back a block that this update took and that no entry names.
void espl__values_give(espl__tables *t, espl__values *values);
void espl__poses_give(espl__tables *t, espl__poses *poses);

/// Tell whether no mirror needs the poses before of a cluster during an update: no other thread reads, and the
/// mirror before ends with the update.
static inline bool espl__tables_may_reuse(const espl__tables *t, uint32_t cluster)
{
    const espl__cluster_entry *const entry = &t->newest.arrays.entries[cluster];

    return !t->has_reader && entry->before != entry->poses && entry->poses->block.made != t->number;
}
/// Return the poses before of a cluster, to be filled and set as its poses, or left. Precondition: they may be
/// reused.
espl__poses *espl__tables_reuse_before(espl__tables *t, uint32_t cluster);
/// Leave a cluster the poses that it has: the block is given back, or dropped where it has its poses before.
void espl__tables_leave_poses(espl__tables *t, uint32_t cluster, espl__poses *poses);

/// Set the values of a cluster; those it had are dropped, with their stretches and cells. Not in jobs, as all
/// below.
void espl__tables_set_values(espl__tables *t, uint32_t cluster, espl__values *values);
/// Set poses of the same members as before: the poses that the cluster had become those before. A second call
/// in one update replaces the poses that the first one set.
void espl__tables_set_poses(espl__tables *t, uint32_t cluster, espl__poses *poses);
/// Set poses of other members, or of the same in another order, or where `before` is not what the mirror before
/// has: both are blocks that this update took, or the same block twice.
void espl__tables_set_pair(espl__tables *t, uint32_t cluster, espl__poses *poses,
                           espl__poses *before);
/// Set which places of a cluster are holes.
void espl__tables_set_holes(espl__tables *t, uint32_t cluster,
                            const uint64_t holes[ESPL__LEAST ESPL__MEMBER_WORDS]);
/// Return the newest entry of a cluster.
static inline const espl__cluster_entry *espl__tables_entry(const espl__tables *t, uint32_t cluster)
{
    ESPL_CHECK_FULL(cluster < t->newest.clusters);
    return &t->newest.arrays.entries[cluster];
}
/// The order of clusters, to be filled where it changes: by category and code. There is room for all clusters.
uint32_t *espl__tables_order(espl__tables *t);
/// Say what espl__tables_order() was filled with.
void espl__tables_set_order(espl__tables *t, uint32_t count, uint32_t still_count);

/// What a mirror has beside its clusters.
typedef struct espl__publication {
    size_t renderables;
    const void *user; // [user_size]; NULL: zeros
    const espl_lods *const *lod_pages;
    uint32_t lod_count;
    float cell_size;    // 0: the world has no cells
    espl__cell rebased; // as espl_mirror.rebased
} espl__publication;

/// Publish the newest entries as a mirror. Clusters whose entry was not set since the last publish have no
/// poses before any more. Cannot fail. @return its number.
uint64_t espl__tables_publish(espl__tables *t, const espl__publication *publication);

// --- The reader ---

/// Return the newest mirror, or NULL before the first. Wait-free.
const espl_mirror *espl__tables_acquire(espl__tables *t);

// --- Of handover.c, and of tests ---

/// Tell whether the reader may have the mirror of a table, so that blocks are held for it. Of the publisher.
bool espl__table_is_read(const espl__tables *t, uint32_t table);
/// Place the arrays of a table in memory for so many clusters. @param bytes  NULL: the size is counted.
/// @return the size.
size_t espl__table_place(const espl__tables *t, espl__mirror_table *table, unsigned char *bytes,
                         uint32_t clusters);
/// Tell whether memory is enough for the newest entries.
static inline bool espl__table_has_room(const espl__tables *t, const espl__table_memory *memory)
{
    return memory->clusters >= t->newest.memory.clusters;
}
/// Tell whether memory is far larger than the newest entries need.
static inline bool espl__table_is_large(const espl__tables *t, const espl__table_memory *memory)
{
    return memory->clusters / 4 > t->newest.memory.clusters;
}
/// Drop a block: the mirror of the update under way does not name it.
void espl__block_drop(espl__tables *t, const espl__block *block);
/// Note that the entry of a cluster changed.
void espl__tables_touch(espl__tables *t, uint32_t cluster);

/// Return the first rule that tables break, or NULL. Between updates, by the publisher.
const char *espl__tables_broken_rule(const espl__tables *t);

#endif
