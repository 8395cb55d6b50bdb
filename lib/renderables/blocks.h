// SPDX-License-Identifier: MIT
// Blocks: the storage of one cluster of at most 128 renderables, and the pools that they are taken from.
//
// What a cluster has is in two kinds of block, because the poses of a moving cluster change at each update
// and its values rarely do. A block is written once, by the update that takes it, before the mirror of that
// update is published. From then on no bit of it changes, so that any number of mirrors share it.
//
// Versions: mirrors are numbered from 1. A block that was made by update b, and that the mirrors from number d
// on do not name, is used by the mirrors [b, d). A block that was dropped waits until no mirror that a reader
// has, or may still acquire, is in that interval. So a reader that stops holds the blocks of its own mirror,
// and none of the mirrors that it never acquired.
//
// Blocks of a kind are in slabs of up to 2 MiB. The block that fell free last is taken first, because its
// memory is warm.
#ifndef ESPALIER_LIB_RENDERABLES_BLOCKS_H
#define ESPALIER_LIB_RENDERABLES_BLOCKS_H

#include "lib/base/compiler.h"
#include "lib/base/heap.h"
#include "lib/renderables/lifetimes.h"
#include "lib/tree/tracks.h"

#include <espalier/renderables.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Members of a cluster at most.
enum { ESPL__CLUSTER_SIZE = ESPL_CLUSTER_SIZE };
/// Words of 64 bits that have a bit for each member.
enum { ESPL__MEMBER_WORDS = ESPL__CLUSTER_SIZE / 64 };

/// The six numbers of a box, in arrays of their own: centre x, y, z and half x, y, z.
enum { ESPL__BOX_CENTER = 0, ESPL__BOX_HALF = 3, ESPL__BOX_NUMBERS = 6 };

/// The kinds of block.
typedef enum espl__block_kind {
    ESPL__BLOCK_VALUES,
    ESPL__BLOCK_POSES,
    ESPL__BLOCK_STRETCHES, ///< belongs to a values block, and is dropped with it
    ESPL__BLOCK_CELLS,     ///< the same
    ESPL__BLOCK_KINDS,
} espl__block_kind;

/// What each block begins with. Readers do not read it, because the publisher changes it while they read the
/// rest of the block.
typedef struct espl__block {
    struct espl__block *next; // in a list of free or waiting blocks
    uint64_t made;            // number of the first mirror that names it; 0: the block is free
    uint64_t dropped;         // number of the first mirror that no longer names it; 0: it is named
    uint32_t kind;            // espl__block_kind
    uint32_t slab;            // of its pool
} espl__block;

/// Stretch of the members of a cluster, of which one has another than 1, 1, 1.
typedef struct espl__stretches {
    _Alignas(64) espl__block block;
    _Alignas(64) float stretch[ESPL__CLUSTER_SIZE][3];
} espl__stretches;

/// Cells of the members of a cluster, where the world has cells (lib/tree/cells.h). A stored cell is that of
/// the tree less espl__forest.rebased, so that a rebase by cells changes no block.
typedef struct espl__member_cells {
    _Alignas(64) espl__block block;
    _Alignas(64) bool has_one_cell; // all members are in of[0]
    espl__cell of[ESPL__CLUSTER_SIZE];
} espl__member_cells;

/// The values of a cluster. Elements from `count` on are not read.
typedef struct espl__values {
    _Alignas(64) espl__block block;
    _Alignas(64) espl__stretches *stretches; // NULL: the stretch of each member is 1, 1, 1
    espl__member_cells *cells;               // NULL: the world has no cells
    uint32_t count;                          // members, and holes
    uint32_t layers_any, layers_all; // OR and AND of the layers of the members that may be visible
    uint32_t flags_any;              // OR of their flags
    bool has_one_key;                // all of them have one key, which is keys[0]
    /// Bits of the members that may be visible: their key is not ESPL_NO_KEY, and their values are sound.
    uint64_t shown[ESPL__MEMBER_WORDS];
    _Alignas(64) espl_entity entities[ESPL__CLUSTER_SIZE];
    uint32_t keys[ESPL__CLUSTER_SIZE];
    uint32_t user_data[ESPL__CLUSTER_SIZE];
    uint32_t layers[ESPL__CLUSTER_SIZE]; // effective
    uint32_t flags[ESPL__CLUSTER_SIZE];  // ESPL_RENDERABLE_ bits
    /// Local boxes. Of a member with ESPL_RENDERABLE_UNION the world box does not follow from it.
    float local[ESPL__BOX_NUMBERS][ESPL__CLUSTER_SIZE];
} espl__values;

/// The poses of a cluster at one update, in the order of the members in its values block. The boxes from the
/// last member on, up to a multiple of 16, are written as well, with numbers that are finite, so that kernels
/// read whole vectors.
///
/// In a world with cells, poses and boxes of a member are relative to its cell, also those of the mirror
/// before, and `box` and `swept` are relative to the anchor of the cluster: the cell of its first member. Both
/// are grown by what tests of members round where these are in several cells (camera_cells.h).
typedef struct espl__poses {
    _Alignas(64) espl__block block;
    /// Bits of the members whose pose and world box are finite.
    _Alignas(64) uint64_t shown[ESPL__MEMBER_WORDS];
    /// Contains the boxes of the members that may be visible; rounded outwards. NaNs where one of them has
    /// ESPL_RENDERABLE_ALWAYS.
    float box[ESPL__BOX_NUMBERS];
    /// Contains the boxes of these members at each time between the poses before and these ones. Equal to `box`
    /// where there are no poses before, or the same ones.
    float swept[ESPL__BOX_NUMBERS];
    _Alignas(64) espl_pose poses[ESPL__CLUSTER_SIZE];
    _Alignas(64) float boxes[ESPL__BOX_NUMBERS][ESPL__CLUSTER_SIZE]; // world boxes
} espl__poses;

_Static_assert(sizeof(espl__values) % 64 == 0 && sizeof(espl__poses) % 64 == 0 &&
                   sizeof(espl__stretches) % 64 == 0 && sizeof(espl__member_cells) % 64 == 0,
               "whole cache lines");

/// What a cluster has in one mirror. {0}: no cluster has the number.
typedef struct espl__cluster_entry {
    const espl__values *values;
    const espl__poses *poses;
    /// The poses of the mirror before: the same members in the same order, and boxes by the values of this
    /// entry. Of a member that is new or was teleported it has the pose and the box of `poses`. The same block
    /// as `poses` where no member moved.
    const espl__poses *before;
    /// Bits of the places whose members went since the values block was written: they are no members, and bits
    /// and sums of blocks may still count them.
    uint64_t holes[ESPL__MEMBER_WORDS];
} espl__cluster_entry;

/// Tell whether a place of a cluster has a member.
static inline bool espl__entry_has(const espl__cluster_entry *entry, uint32_t place)
{
    return (entry->holes[place / 64] >> (place % 64) & 1) == 0;
}

/// Number of no cluster.
#define ESPL__NO_CLUSTER UINT32_MAX

/// A mirror, as a reader sees it. Arrays are by number of the cluster, but `order`.
struct espl_mirror {
    uint64_t number;      // of its update; 0: never published
    size_t renderables;   // members of all clusters
    uint32_t clusters;    // upper bound of the numbers of clusters
    uint32_t order_count; // clusters that have members
    uint32_t still_count; // the first ones of `order` are clusters of still renderables
    /// [order_count] The numbers of the clusters, by category and code: the order of results.
    const uint32_t *order;
    const espl__cluster_entry *entries; // [clusters]
    /// [clusters, rounded up to 16] The boxes of the poses, each number in an array of its own, aligned to
    /// 64. Of a number without a cluster they are 0.
    const float *boxes[ESPL__BOX_NUMBERS];
    /// [clusters] The cell that the box of a cluster is relative to, as blocks have cells. NULL: there are
    /// none.
    const espl__cell *anchors;
    espl__cell rebased; // to be added to cells of blocks
    float cell_size;    // 0: the world has no cells
    const uint64_t
        *changed;     // [clusters] number of the first mirror in which the entry is as it is here
    const void *user; // [user_size]
    /// Keys with levels of detail: pages of ESPL__LOD_PAGE, of which this mirror reads the first lod_count
    /// keys.
    const espl_lods *const *lod_pages;
    uint32_t lod_count;
    /// Word that says whether the mirror is valid (lifetimes.h): of its renderables, the same for all mirrors.
    uint32_t lifetime;
    /// What the word has then; 0: it is valid always. Of a mirror that ended the reader may ask for it while the
    /// next one is written there.
    _Atomic uint64_t life;
};

enum { ESPL__LOD_PAGE = 64 };

/// Tell whether a mirror is valid. One that ended is found where its memory is another mirror's, or waits for
/// one; the memory is gone where its renderables were destroyed.
static inline bool espl__mirror_is_valid(const espl_mirror *mirror)
{
    return espl__lifetime_has(mirror->lifetime,
                              atomic_load_explicit(&mirror->life, memory_order_relaxed));
}

// --- Pools ---

/// The bytes of a slab at most: a huge page. Small in a build for tests, which then have several.
#ifdef ESPL_SHRUNKEN
enum { ESPL__SLAB_BYTES = 1 << 16 };
#else
enum { ESPL__SLAB_BYTES = ESPL__HUGE_PAGE };
#endif

/// A slab of a pool.
typedef struct espl__slab {
    unsigned char *memory; // NULL: the slab was freed
    uint32_t count;        // blocks
    uint32_t used;         // how many of them are taken
} espl__slab;

/// The blocks of one kind.
typedef struct espl__block_pool {
    espl__slab *slabs;   // stb array
    espl__block *free;   // list, the one that fell free last first
    uint32_t count;      // blocks, in all slabs
    uint32_t free_count; // of them those in `free`
    espl__block_kind kind;
    /// Bytes from a block to the next: an odd number of cache lines, because blocks at a distance of a power
    /// of two would share few sets of a cache.
    uint32_t stride;
} espl__block_pool;

/// Set up a pool without memory.
void espl__blocks_init(espl__block_pool *pool, espl__block_kind kind);
/// Free all memory.
void espl__blocks_free(espl__heap *heap, espl__block_pool *pool);
/// Make room for `count` takes. @return false: no memory; perhaps some of it was taken.
bool espl__blocks_reserve(espl__heap *heap, espl__block_pool *pool, uint32_t count);
/// Take a block. It keeps the contents of its last use. Precondition: one is free.
/// @param number  of the mirror that is to name it first.
espl__block *espl__blocks_take(espl__block_pool *pool, uint64_t number);
/// Free a block, which is the next one to be taken.
void espl__blocks_give(espl__block_pool *pool, espl__block *block);
/// Free the slabs of which all blocks are free. @return false: no memory to make the list of slabs smaller.
bool espl__blocks_trim(espl__heap *heap, espl__block_pool *pool);
/// Return the bytes of a pool.
size_t espl__blocks_bytes(const espl__block_pool *pool);
/// Return the first rule that a pool breaks, or NULL.
const char *espl__blocks_broken_rule(const espl__block_pool *pool);

#endif
