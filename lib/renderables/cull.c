// SPDX-License-Identifier: MIT
// What each camera sees of each cluster. A cluster is outside of a plane, inside of all, or cut by some; of the
// latter the members are tested, against these planes alone.
#include "lib/renderables/camera_cells.h"

#include "lib/base/bits.h"
#include "lib/base/prefetch.h"
#include "lib/jobs/ranges.h"

#include <string.h>

// --- Marks of clusters ---

// Copy the boxes of clusters [begin, begin + count). A moving cluster has the box that contains it at all
// times.
static void copy_swept(espl__box_block *block, const espl_mirror *mirror, uint32_t begin,
                       uint32_t count)
{
    const uint32_t padded = (count + ESPL__BOX_PADDING - 1) & ~(uint32_t)(ESPL__BOX_PADDING - 1);

    for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
        memcpy(block->rows[k], mirror->boxes[k] + begin, padded * sizeof(float));
    }
    for (uint32_t i = 0; i < count; ++i) {
        const espl__cluster_entry *const entry = &mirror->entries[begin + i];

        for (int k = 0; k < ESPL__BOX_ROWS && entry->before != entry->poses; ++k) {
            block->rows[k][i] = entry->poses->swept[k];
        }
    }
}

static void mark_for_camera(const espl__cull *cull, uint32_t camera,
                            const float *const rows[ESPL__LEAST ESPL__BOX_ROWS], uint32_t begin,
                            uint32_t count)
{
    espl__met_cluster met[ESPL__MARK_BLOCK];
    uint16_t *const marks = cull->marks + camera * cull->mark_stride + begin;
    const uint32_t met_count =
        cull->kernels->boxes->meet(met, &cull->planes[camera], rows, 0, count);

    memset(marks, 0, count * sizeof *marks);
    for (uint32_t i = 0; i < met_count; ++i) {
        marks[met[i].cluster] = (uint16_t)(ESPL__MARK_MET | met[i].cut);
    }
}

// Mark blocks of clusters, by number.
static void mark_blocks(void *context, size_t first, size_t last)
{
    const espl__cull *const cull = context;
    const espl_mirror *const mirror = cull->mirror;

    for (size_t i = first; i < last; ++i) {
        const uint32_t begin = (uint32_t)i * ESPL__MARK_BLOCK;
        const uint32_t left = mirror->clusters - begin;
        const uint32_t count = left < ESPL__MARK_BLOCK ? left : ESPL__MARK_BLOCK;
        const float *rows[ESPL__BOX_ROWS];
        const bool is_copied = cull->time != ESPL__CULL_NOW || espl__mirror_has_cells(mirror);
        espl__box_block block;

        if (is_copied && !espl__mirror_has_cells(mirror)) {
            copy_swept(&block, mirror, begin, count);
        }
        for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
            rows[k] = is_copied ? block.rows[k] : mirror->boxes[k] + begin;
        }
        for (uint32_t camera = 0; camera < cull->camera_count; ++camera) {
            if (espl__mirror_has_cells(mirror)) {
                espl__boxes_for_camera(&block, cull, &cull->cameras[camera], begin, count);
            }
            mark_for_camera(cull, camera, rows, begin, count);
        }
    }
}

// --- Tests of members ---

// A cluster and a camera.
typedef struct cluster_test {
    const espl__cull *cull;
    const espl_camera *camera;
    uint32_t camera_number;
    const espl__planes *planes;
    const espl__cluster_entry *entry;
    double eye[3]; // of the camera; in a world with cells as the last member was tested with it
    uint64_t always[ESPL__MEMBER_WORDS]; // bits of visible members with ESPL_RENDERABLE_ALWAYS
    const float (*boxes)[ESPL__BOXES];   // NULL: not yet known
    float (*room)[ESPL__BOXES];          // for boxes
    uint8_t *levels; // [128] out: of members with levels; NULL: no key has levels
} cluster_test;

static const float (*boxes_of(cluster_test *test))[ESPL__BOXES]
{
    if (test->boxes == NULL) {
        test->boxes = espl__boxes_at(test->cull, test->entry, test->room);
    }
    return test->boxes;
}

static float size_of_member(cluster_test *test, uint32_t place)
{
    const float(*const boxes)[ESPL__BOXES] = boxes_of(test);
    float box[ESPL__BOX_ROWS];

    for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
        box[k] = boxes[k][place];
    }
    if (test->entry->values->cells != NULL) {
        espl__eye_for(test->eye, test->cull->mirror, test->entry->values, place, test->camera);
    }
    return espl__size_on_image(test->camera, test->eye, box);
}

// Return the bits, of those given, of the members of which a word has one of some bits.
static void keep_with(uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS],
                      const uint32_t words[ESPL__CLUSTER_SIZE], uint32_t wanted)
{
    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            const uint32_t bit = espl__lowest_bit(left);

            if ((words[64 * w + bit] & wanted) == 0) {
                bits[w] &= ~(UINT64_C(1) << bit);
            }
        }
    }
}

// Set the bits of the members that may be visible and that a layer of the camera matches.
static void start_with_layers(cluster_test *test, uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    const espl__cluster_entry *const entry = test->entry;
    const espl__values *const values = entry->values;
    const uint32_t layers = test->camera->layers;
    const bool is_now = test->cull->time == ESPL__CULL_NOW;

    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        bits[w] = values->shown[w] & entry->poses->shown[w] & ~entry->holes[w];
        bits[w] &= is_now ? UINT64_MAX : entry->before->shown[w];
        bits[w] = (values->layers_any & layers) != 0 ? bits[w] : 0;
    }
    if ((values->layers_all & layers) == 0) {
        keep_with(bits, values->layers, layers);
    }
    memset(test->always, 0, sizeof test->always);
    if ((values->flags_any & ESPL_RENDERABLE_ALWAYS) != 0) {
        memcpy(test->always, bits, sizeof test->always);
        keep_with(test->always, values->flags, ESPL_RENDERABLE_ALWAYS);
    }
}

// Clear the bits of members that are too small.
static void keep_large(cluster_test *test, uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = bits[w] & ~test->always[w]; left != 0; left &= left - 1) {
            const uint32_t bit = espl__lowest_bit(left);

            if (size_of_member(test, 64 * w + bit) < test->camera->least_size) {
                bits[w] &= ~(UINT64_C(1) << bit);
            }
        }
    }
}

// Find the levels of members whose keys have some, and clear the bits of members without a level. A
// member that is always visible has the last one then.
static void choose_levels(cluster_test *test, uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    const espl__values *const values = test->entry->values;

    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            const uint32_t bit = espl__lowest_bit(left), place = 64 * w + bit;
            const espl_lods *const lods = espl__lods_of(test->cull->mirror, values->keys[place]);

            if (lods == NULL) {
                continue;
            }
            const uint32_t level = espl__level_for(
                test->camera, lods, test->camera->pixels != 0 ? size_of_member(test, place) : 0);
            const bool is_kept = (test->always[w] >> bit & 1) != 0;
            const uint32_t found = level == lods->count && is_kept ? level - 1 : level;

            test->levels[place] = (uint8_t)found;
            if (found == lods->count || lods->keys[found] == ESPL_NO_KEY) {
                bits[w] &= ~(UINT64_C(1) << bit);
            }
        }
    }
}

// Find the visible members of a cluster. @param cut  bits of the planes that cut it.
static void test_members(cluster_test *test, uint32_t cut,
                         uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS])
{
    start_with_layers(test, bits);
    if ((bits[0] | bits[1]) == 0) {
        return;
    }
    if (cut != 0 && test->entry->values->cells != NULL) {
        espl__inside_by_cells(bits, test->cull, test->camera_number, cut, test->entry->values,
                              boxes_of(test));
    } else if (cut != 0) {
        test->cull->kernels->boxes->inside(bits, test->planes, cut, boxes_of(test));
    }
    if (test->camera->least_size > 0 && test->camera->pixels > 0) {
        keep_large(test, bits);
    }
    bits[0] |= test->always[0];
    bits[1] |= test->always[1];
    if (test->levels != NULL) {
        choose_levels(test, bits);
    }
}

// Return a number that the keys of visible members are below.
static uint32_t bound_of_keys(const cluster_test *test,
                              const uint64_t bits[ESPL__LEAST ESPL__MEMBER_WORDS], uint32_t count)
{
    enum { FEW_KEYS = 16 };
    const espl__values *const values = test->entry->values;
    uint32_t bound = 0;

    if (test->levels == NULL && values->has_one_key) {
        return values->keys[0] + 1;
    }
    if (test->levels == NULL && count > FEW_KEYS) {
        // The bits of all keys: at most twice the largest one, and a loop over vectors. ESPL_NO_KEY wraps to 0.
        for (uint32_t i = 0; i < values->count; ++i) {
            bound |= values->keys[i] + 1;
        }
        return bound;
    }
    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            const uint32_t place = 64 * w + espl__lowest_bit(left);
            const espl_lods *const lods =
                test->levels != NULL ? espl__lods_of(test->cull->mirror, values->keys[place])
                                     : NULL;
            const uint32_t key =
                lods != NULL ? lods->keys[test->levels[place]] : values->keys[place];

            bound = key + 1 > bound ? key + 1 : bound;
        }
    }
    return bound;
}

// Prefetch what is read of a cluster to come. @param is_cut  its members are tested.
static inline void prefetch_cluster(const espl__cluster_entry *entry, bool is_cut)
{
    espl__prefetch(&entry->values->stretches);
    espl__prefetch(entry->poses->shown);
    // The lines that follow come by themselves.
    for (int k = 0; k < ESPL__BOX_ROWS && is_cut; ++k) {
        espl__prefetch(&entry->poses->boxes[k][0]);
        espl__prefetch(&entry->poses->boxes[k][ESPL__CLUSTER_SIZE / 2]);
    }
}

// List those of up to ESPL__TEST_CHUNK clusters that have a mark, without a jump for each, because most have none.
// Prefetch their entries.
static uint32_t list_marked(uint32_t marked[ESPL__LEAST ESPL__TEST_CHUNK], const uint16_t *marks,
                            const espl_mirror *mirror, uint32_t first, uint32_t count)
{
    const uint32_t *const clusters = mirror->order + first;
    uint32_t marked_count = 0;

    ESPL_CHECK(count <= ESPL__TEST_CHUNK);
    for (uint32_t i = 0; i < count; ++i) {
        marked[marked_count] = clusters[i];
        marked_count += marks[clusters[i]] != 0 ? 1 : 0;
    }
    for (uint32_t i = 0; i < marked_count; ++i) {
        espl__prefetch(&mirror->entries[marked[i]]);
    }
    return marked_count;
}

// Test a cluster for a camera, and add what is seen of it to what is seen of a chunk.
// @param begin  of the chunk.
static void test_cluster(const espl__cull *cull, uint32_t camera, uint32_t begin, uint32_t cluster,
                         espl__seen_chunk *found)
{
    const espl_mirror *const mirror = cull->mirror;
    const uint16_t mark = cull->marks[camera * cull->mark_stride + cluster];
    const size_t at = (size_t)camera * mirror->order_count + begin + found->seen_count;
    _Alignas(64) espl__box_rows room;
    cluster_test test = {
        .cull = cull,
        .camera = &cull->cameras[camera],
        .camera_number = camera,
        .planes = &cull->planes[camera],
        .entry = &mirror->entries[cluster],
        .eye = {(double)cull->cameras[camera].eye[0], (double)cull->cameras[camera].eye[1],
                (double)cull->cameras[camera].eye[2]},
        .room = room,
        .levels = cull->levels != NULL ? &cull->levels[at << ESPL__ITEM_BITS] : NULL};
    espl__seen now = {.cluster = cluster};

    test_members(&test, mark & (ESPL__MARK_MET - 1), now.bits);
    now.count = espl__count_bits(now.bits[0]) + espl__count_bits(now.bits[1]);
    if (now.count != 0) {
        const uint32_t bound = bound_of_keys(&test, now.bits, now.count);

        cull->seen[at] = now;
        found->seen_count += 1;
        found->item_count += now.count;
        found->has_stretch |= test.entry->values->stretches != NULL;
        found->key_bound = bound > found->key_bound ? bound : found->key_bound;
    }
}

// Test the clusters of a chunk for a camera.
static void test_chunk_for(const espl__cull *cull, uint32_t camera, uint32_t chunk)
{
    enum { AHEAD = 4 };
    const espl_mirror *const mirror = cull->mirror;
    const uint32_t begin = chunk * cull->chunk_size;
    const uint32_t left = mirror->order_count - begin;
    const uint32_t end = begin + (left < cull->chunk_size ? left : cull->chunk_size);
    const uint16_t *const marks = cull->marks + camera * cull->mark_stride;
    espl__seen_chunk found = {0};

    for (uint32_t first = begin; first < end; first += ESPL__TEST_CHUNK) {
        const uint32_t count =
            end - first < ESPL__TEST_CHUNK ? end - first : (uint32_t)ESPL__TEST_CHUNK;
        uint32_t marked[ESPL__TEST_CHUNK];
        const uint32_t marked_count = list_marked(marked, marks, mirror, first, count);

        for (uint32_t i = 0; i < marked_count + AHEAD; ++i) {
            if (i < marked_count) {
                prefetch_cluster(&mirror->entries[marked[i]], marks[marked[i]] != ESPL__MARK_MET);
            }
            if (i >= AHEAD && i - AHEAD < marked_count) {
                test_cluster(cull, camera, begin, marked[i - AHEAD], &found);
            }
        }
    }
    cull->chunks[camera * cull->chunk_count + chunk] = found;
}

// Camera by camera, because the clusters of a chunk stay in the cache.
static void test_chunk(void *argument, size_t chunk)
{
    const espl__cull *const cull = argument;

    for (uint32_t camera = 0; camera < cull->camera_count; ++camera) {
        test_chunk_for(cull, camera, (uint32_t)chunk);
    }
}

// Count the clusters that cameras have marked, camera by camera. A cluster without members is not tested, and
// has a mark where a camera has no planes.
static uint64_t count_marked(const espl__cull *cull)
{
    uint64_t count = 0;

    for (uint32_t camera = 0; camera < cull->camera_count; ++camera) {
        const uint16_t *const marks = cull->marks + camera * cull->mark_stride;
        uint32_t marked = 0;

        for (uint32_t i = 0; i < cull->mirror->order_count; ++i) {
            marked += marks[cull->mirror->order[i]] != 0 ? 1 : 0;
        }
        count += marked;
    }
    return count;
}

espl_status espl__cull_find(espl__cull *cull)
{
    enum { MARK_COST = 2, TEST_COST = 60 };
    const size_t blocks = (cull->mirror->clusters + ESPL__MARK_BLOCK - 1) / ESPL__MARK_BLOCK;
    const uint64_t boxes = (uint64_t)cull->mirror->clusters * cull->camera_count;
    espl_status status = espl__run_ranges(espl__cull_executor(cull, boxes, MARK_COST), cull->hooks,
                                          mark_blocks, cull, blocks, 4);

    if (status != ESPL_OK) {
        return status;
    }
    const uint64_t marked = cull->executor != NULL ? count_marked(cull) : 0;

    status = espl__run_jobs(espl__cull_executor(cull, marked, TEST_COST), cull->hooks, test_chunk,
                            cull, cull->chunk_count);
    for (size_t i = 0; i < (size_t)cull->camera_count * cull->chunk_count && status == ESPL_OK;
         ++i) {
        cull->item_count += cull->chunks[i].item_count;
    }
    return status;
}
