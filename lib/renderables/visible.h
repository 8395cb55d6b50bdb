// SPDX-License-Identifier: MIT
// Results of espl_cull(), and the steps of a cull. All cameras are served by one pass over the clusters:
//
//     mark     (cull.c) For blocks of clusters, by number: test their boxes against the planes of each camera.
//     test     (cull.c) For chunks of clusters, by order: test the members of clusters that a plane
//              cuts, their layers and their size.
//     count    (order.c) For each camera, or parts of its chunks: count the visible members of each key.
//     place    (order.c) Write the visible members in the order of their keys.
//
// Each step runs on the executor. What a job writes depends on its blocks, chunks or parts alone, and the
// result not on how many there are.
#ifndef ESPALIER_LIB_RENDERABLES_VISIBLE_H
#define ESPALIER_LIB_RENDERABLES_VISIBLE_H

#include "lib/base/scratch.h"
#include "lib/math/kernels.h"
#include "lib/renderables/blocks.h"

enum {
    ESPL__ITEM_BITS = 7,        ///< of the place in a cluster
    ESPL__MARK_BLOCK = 256,     ///< clusters that are marked together
    ESPL__TEST_CHUNK = 64,      ///< clusters that are tested together, at least
    ESPL__COUNTED_KEYS = 65536, ///< keys below it may be counted
    /// Nanoseconds that a step of a cull is to take for workers to be worth a wake.
    ESPL__CULL_WAKE_COST = 40000,
};
_Static_assert(1 << ESPL__ITEM_BITS == ESPL__CLUSTER_SIZE, "an item is a cluster and a place");

/// A visible renderable: number of the cluster and place in it.
typedef uint32_t espl__item;

/// What a camera sees.
typedef struct espl__sight {
    espl_camera camera;
    const espl__item *items; // [item_count]
    uint32_t item_count;
    uint32_t group_count;
    bool has_stretch;         // of an item, other than 1, 1, 1
    const espl_group *groups; // [group_count]
} espl__sight;

/// Poses that a cull is of.
typedef enum espl__cull_time {
    ESPL__CULL_NOW,     ///< of the mirror
    ESPL__CULL_BEFORE,  ///< of the mirror before
    ESPL__CULL_BETWEEN, ///< blended
} espl__cull_time;

/// The result of a cull.
typedef struct espl__cull_result {
    const espl_mirror *mirror; // NULL: there was none
    uint32_t lifetime;         // of the mirror, which is not read where it ended
    uint64_t life;
    espl__cull_time time;
    espl__blend blend;
    size_t camera_count;
    espl__sight *sights; // [camera_count], in `cameras`
    espl__scratch cameras, items, groups;
} espl__cull_result;

struct espl_visible {
    espl__heap heap;
    const espl__kernels *kernels;
    espl__cull_result
        results[2]; // a cull writes the other one, so that this one stays where it is refused
    uint32_t current;
    uint32_t wake_cost;                 // ESPL__CULL_WAKE_COST, unless a test sets it
    espl__scratch marks, tests, counts; // of the steps
};

/// Make scratch memory at least that large. @return ESPL_OK, ESPL_ERR_NO_MEMORY: it is unchanged then.
espl_status espl__visible_grow(espl_visible *visible, espl__scratch *scratch, size_t size);

// --- A cull ---

/// A cluster of which a camera sees members.
typedef struct espl__seen {
    uint32_t cluster, count;
    uint64_t bits[ESPL__MEMBER_WORDS];
} espl__seen;

/// What a camera sees of a chunk.
typedef struct espl__seen_chunk {
    uint32_t seen_count; // clusters
    uint32_t item_count; // their visible members
    uint32_t key_bound;  // their keys are below
    bool has_stretch;    // of one of the clusters
} espl__seen_chunk;

/// A cull under way.
typedef struct espl__cull {
    const espl_mirror *mirror;
    const espl__kernels *kernels;
    const espl_executor *executor;
    uint32_t wake_cost;
    uint64_t item_count;        // visible members of all cameras, from espl__cull_find() on
    const espl_hooks *hooks;    // of loops
    const espl_camera *cameras; // [camera_count]
    uint32_t camera_count;
    uint32_t flags; // ESPL_CULL_ bits
    espl__cull_time time;
    espl__blend blend;
    uint32_t chunk_size, chunk_count;
    espl__planes *planes; // [camera_count]
    /// [camera_count][mark_stride] by number of the cluster. 0: it is outside; else bit 8, and bits of
    /// the planes that cut it.
    uint16_t *marks;
    size_t mark_stride;
    espl__seen *seen; // [camera_count][order_count], each chunk from its own begin on
    uint8_t *levels;  // [camera_count][order_count][128] of seen members; NULL: no key has levels
    espl__seen_chunk *chunks; // [camera_count][chunk_count]
} espl__cull;

enum { ESPL__MARK_MET = 256 };

/// Return the executor for a step of a cull: none where the step is too small for workers. The result is the
/// same.
/// @param count  of what the step works on.
/// @param cost   nanoseconds for one of them.
static inline const espl_executor *espl__cull_executor(const espl__cull *cull, uint64_t count,
                                                       uint32_t cost)
{
    return count * cost >= cull->wake_cost ? cull->executor : NULL;
}

/// Run the steps that find what each camera sees. @return ESPL_OK, ESPL_ERR_EXECUTOR.
espl_status espl__cull_find(espl__cull *cull);

/// Put what the cameras see into the order of keys.
/// @return ESPL_OK, ESPL_ERR_NO_MEMORY, ESPL_ERR_EXECUTOR.
espl_status espl__cull_order(const espl__cull *cull, espl_visible *visible,
                             espl__cull_result *result);

/// Return the boxes of the members of an entry at the time of a cull.
/// @param room  that they may be stored in.
const float (*espl__boxes_at(const espl__cull *cull, const espl__cluster_entry *entry,
                             espl__box_rows room))[ESPL__BOXES];

/// Return a pose of an entry at the time of a result. @param room  that it may be stored in.
const espl_pose *espl__pose_at(const espl__cull_result *result, const espl__cluster_entry *entry,
                               uint32_t place, espl_pose *room);

/// Compute the box of a pose between those of an entry. @param pose  of the member.
void espl__box_between_poses(float box[ESPL__LEAST ESPL__BOX_ROWS],
                             const espl__cluster_entry *entry, uint32_t place,
                             const espl_pose *pose);

/// The highest bit of a key with levels of detail.
#define ESPL__LOD_KEY UINT32_C(0x80000000)

/// Return the levels of a key of a mirror; NULL where it has none.
static inline const espl_lods *espl__lods_of(const espl_mirror *mirror, uint32_t key)
{
    const uint32_t number = key & ~ESPL__LOD_KEY;

    if ((key & ESPL__LOD_KEY) == 0 || number >= mirror->lod_count) {
        return NULL;
    }
    return &mirror->lod_pages[number / ESPL__LOD_PAGE][number % ESPL__LOD_PAGE];
}

/// Compute the size of a box on the image of a camera, in pixels.
/// @param eye  of the camera, relative to what the box is.
float espl__size_on_image(const espl_camera *camera, const double eye[ESPL__LEAST 3],
                          const float box[ESPL__LEAST ESPL__BOX_ROWS]);

/// Return the level for a size; `count` of the levels where it is below all of them.
uint32_t espl__level_for(const espl_camera *camera, const espl_lods *lods, float size);

#endif
