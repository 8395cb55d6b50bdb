// SPDX-License-Identifier: MIT
// Results: their memory, the checks of a cull, and what a camera sees, written out. A cull writes the
// result that is not the present one, which takes its place when all is done.
#include "lib/renderables/camera_cells.h"

#include "lib/base/float_modes.h"
#include "lib/base/prefetch.h"
#include "lib/base/reserved.h"
#include "lib/jobs/ranges.h"
#include "lib/renderables/instances.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)ESPL_PLANE_LIMIT == (int)ESPL__PLANE_LIMIT, "a camera has as many planes");
_Static_assert((int)ESPL__CLUSTER_SIZE == (int)ESPL__BOXES, "a cluster has as many boxes");

// The kernels that the environment names, or the best ones.
static const espl__kernels *chosen_kernels(void)
{
    const char *const name = getenv("ESPALIER_KERNELS");
    const espl__kernels *const named = name != NULL ? espl__kernels_named(name) : NULL;

    return named != NULL ? named : espl__kernels_best();
}

espl_status espl_visible_create(const espl_allocator *allocator, espl_visible **out)
{
    const espl_allocator given = allocator != NULL ? *allocator : (espl_allocator){0};
    espl__heap heap;

    if (out == NULL || (given.allocate == NULL) != (given.release == NULL)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl__heap_init(&heap, &given);
    espl_visible *const visible =
        espl__heap_take(&heap, ESPL__FOR_WORLD, 1, sizeof *visible, _Alignof(espl_visible));

    if (visible == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    memset(visible, 0, sizeof *visible);
    espl__heap_init(&visible->heap, &given);
    espl__heap_use_huge_pages(&visible->heap);
    visible->heap.bytes[ESPL__FOR_WORLD] = sizeof *visible;
    visible->kernels = chosen_kernels();
    visible->wake_cost = ESPL__CULL_WAKE_COST;
    *out = visible;
    return ESPL_OK;
}

static void free_scratch(espl_visible *visible, espl__scratch *scratch)
{
    espl__scratch_free(&visible->heap, ESPL__FOR_WORLD, scratch);
}

void espl_visible_destroy(espl_visible *visible)
{
    espl__heap heap;

    if (visible == NULL) {
        return;
    }
    free_scratch(visible, &visible->marks);
    free_scratch(visible, &visible->tests);
    free_scratch(visible, &visible->counts);
    for (int i = 0; i < 2; ++i) {
        free_scratch(visible, &visible->results[i].cameras);
        free_scratch(visible, &visible->results[i].items);
        free_scratch(visible, &visible->results[i].groups);
    }
    // The heap is in the block that is freed last, so a copy frees it.
    espl__heap_init(&heap, &visible->heap.allocator);
    memcpy(heap.bytes, visible->heap.bytes, sizeof heap.bytes);
    espl__heap_give(&heap, ESPL__FOR_WORLD, visible, 1, sizeof *visible, _Alignof(espl_visible));
    ESPL_CHECK(espl__heap_bytes(&heap) == 0);
}

espl_status espl__visible_grow(espl_visible *visible, espl__scratch *scratch, size_t size)
{
    // A part more, because what cameras see grows by a little from call to call.
    const size_t more = size <= SIZE_MAX / 2 ? size + size / 4 : size;

    if (size <= scratch->size ||
        espl__scratch_grow(&visible->heap, ESPL__FOR_WORLD, scratch, more) == ESPL_OK) {
        return ESPL_OK;
    }
    return espl__scratch_grow(&visible->heap, ESPL__FOR_WORLD, scratch, size);
}

// --- Checks ---

// @param has_cells  of the world of the mirror.
static espl_status check_camera(const espl_camera *camera, bool has_cells)
{
    if (camera->plane_count > ESPL_PLANE_LIMIT ||
        (camera->flags & ~(uint32_t)ESPL_CAMERA_ORTHOGRAPHIC) != 0) {
        return ESPL_ERR_ARGUMENT;
    }
    if (ESPL__ASKS_LATER(camera) ||
        (!has_cells && (camera->cell[0] | camera->cell[1] | camera->cell[2]) != 0)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    bool is_finite = espl__all_finite(camera->eye, 3) && espl__all_finite(&camera->pixels, 1) &&
                     espl__all_finite(&camera->least_size, 1);

    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        is_finite = is_finite && espl__all_finite(camera->planes[i], 4);
    }
    for (int k = 0; k < 3; ++k) {
        is_finite = is_finite && isfinite(camera->origin[k]);
    }
    if (!is_finite) {
        return ESPL_ERR_NOT_FINITE;
    }
    return camera->pixels < 0 || camera->least_size < 0 ? ESPL_ERR_ARGUMENT : ESPL_OK;
}

static espl_status check_cull_def(const espl_cull_def *def)
{
    const uint32_t known = ESPL_CULL_INTERPOLATE | ESPL_CULL_BY_ENTITY;

    if (ESPL__ASKS_LATER(def)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    return (def->flags & ~known) != 0 || !(def->alpha >= 0 && def->alpha <= 1) ? ESPL_ERR_ARGUMENT
                                                                               : ESPL_OK;
}

static espl_status check_cull(const espl_visible *visible, const espl_mirror *mirror,
                              const espl_camera *cameras, size_t count, const espl_cull_def *def)
{
    if (visible == NULL || mirror == NULL || (cameras == NULL && count != 0) ||
        count > ESPL_CAMERA_LIMIT) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_status status = check_cull_def(def);

    if (!espl__mirror_is_valid(mirror)) {
        return ESPL_ERR_DEAD;
    }
    for (size_t i = 0; i < count && status == ESPL_OK; ++i) {
        status = check_camera(&cameras[i], espl__mirror_has_cells(mirror));
    }
    return status;
}

// --- Cull ---

// Set the poses that a cull is of.
static void set_time(espl__cull *cull, const espl_cull_def *def)
{
    if ((def->flags & ESPL_CULL_INTERPOLATE) == 0 || def->alpha == 1) {
        cull->time = ESPL__CULL_NOW;
        return;
    }
    cull->time = def->alpha == 0 ? ESPL__CULL_BEFORE : ESPL__CULL_BETWEEN;
    cull->blend = espl__blend_at(def->alpha);
}

// Reserve the arrays of the steps that find what cameras see. @param block  NULL: measure them. @return bytes.
static size_t carve_tests(espl__cull *cull, unsigned char *block)
{
    const size_t cameras = cull->camera_count, clusters = cull->mirror->order_count;
    const size_t members = cull->mirror->lod_count != 0 ? clusters * ESPL__CLUSTER_SIZE : 0;
    size_t at = 0;

    cull->planes = espl__carve(block, &at, cameras, sizeof *cull->planes, 64);
    cull->chunks = espl__carve(block, &at, cameras * cull->chunk_count, sizeof *cull->chunks, 64);
    cull->seen = espl__carve(block, &at, cameras * clusters, sizeof *cull->seen, 64);
    cull->levels = espl__carve(block, &at, cameras * members, 1, 64);
    if (members == 0) {
        cull->levels = NULL;
    }
    return at;
}

static espl_status reserve_tests(espl__cull *cull, espl_visible *visible)
{
    const uint32_t chunks = cull->mirror->order_count / ESPL__TEST_CHUNK;
    const size_t stride = (cull->mirror->clusters + (size_t)31) & ~(size_t)31;

    // No loop has more jobs than there may be.
    cull->chunk_size = chunks < ESPL__JOB_LIMIT ? (uint32_t)ESPL__TEST_CHUNK
                                                : cull->mirror->order_count / ESPL__JOB_LIMIT + 1;
    cull->chunk_count = (cull->mirror->order_count + cull->chunk_size - 1) / cull->chunk_size;
    cull->mark_stride = stride;
    espl_status status = espl__visible_grow(visible, &visible->tests, carve_tests(cull, NULL));

    if (status == ESPL_OK) {
        status = espl__visible_grow(visible, &visible->marks,
                                    cull->camera_count * stride * sizeof *cull->marks);
    }
    if (status != ESPL_OK) {
        return status;
    }
    (void)carve_tests(cull, visible->tests.block);
    cull->marks = visible->marks.block;
    for (uint32_t i = 0; i < cull->camera_count; ++i) {
        espl__planes_init(&cull->planes[i], cull->cameras[i].planes, cull->cameras[i].plane_count);
    }
    return ESPL_OK;
}

// A reader has no hooks, so that a fault of its executor is said by the status alone, in all builds.
static void ignore_fault(void *user, const char *file, int line, const char *message)
{
    (void)user;
    (void)file;
    (void)line;
    (void)message;
}

static const espl_hooks silent_hooks = {.trap = ignore_fault};

// Write a result beside the present one.
static espl_status make_result(espl__cull *cull, espl_visible *visible, espl__cull_result *result)
{
    espl_status status =
        espl__visible_grow(visible, &result->cameras, cull->camera_count * sizeof *result->sights);

    if (status == ESPL_OK) {
        status = reserve_tests(cull, visible);
    }
    if (status != ESPL_OK) {
        return status;
    }
    result->sights = result->cameras.block;
    result->mirror = cull->mirror;
    result->lifetime = cull->mirror->lifetime;
    result->life = cull->mirror->life;
    result->time = cull->time;
    result->blend = cull->blend;
    result->camera_count = cull->camera_count;
    if (cull->camera_count == 0) {
        return ESPL_OK;
    }
    status = espl__cull_find(cull);
    return status == ESPL_OK ? espl__cull_order(cull, visible, result) : status;
}

espl_status espl_cull(espl_visible *visible, const espl_mirror *mirror, const espl_camera *cameras,
                      size_t count, const espl_cull_def *def)
{
    static const espl_cull_def plain = {0};
    const espl_cull_def *const wanted = def != NULL ? def : &plain;
    const espl_status fault = check_cull(visible, mirror, cameras, count, wanted);

    if (fault != ESPL_OK) {
        return fault;
    }
    espl__cull cull = {.mirror = mirror,
                       .kernels = visible->kernels,
                       .executor = wanted->executor,
                       .wake_cost = visible->wake_cost,
                       .hooks = &silent_hooks,
                       .cameras = cameras,
                       .camera_count = (uint32_t)count,
                       .flags = wanted->flags};
    const uint32_t modes = espl__float_modes_begin();

    set_time(&cull, wanted);
    const uint32_t other = 1 - visible->current;
    const espl_status status = make_result(&cull, visible, &visible->results[other]);

    espl__float_modes_end(modes);
    if (status == ESPL_OK) {
        visible->current = other;
    }
    return status;
}

// --- What a camera sees ---

static const espl__sight *sight_of(const espl_visible *visible, size_t camera)
{
    const espl__cull_result *const result =
        visible != NULL ? &visible->results[visible->current] : NULL;

    return result != NULL && camera < result->camera_count ? &result->sights[camera] : NULL;
}

const espl_group *espl_visible_groups(const espl_visible *visible, size_t camera, size_t *count)
{
    const espl__sight *const sight = sight_of(visible, camera);

    if (count != NULL) {
        *count = sight != NULL ? sight->group_count : 0;
    }
    return count != NULL && sight != NULL && sight->group_count != 0 ? sight->groups : NULL;
}

// The memory of the poses that a batch needs between two mirrors.
typedef struct blended_poses {
    espl_pose of[ESPL__INSTANCE_BATCH];
} blended_poses;

// Prefetch what is read of the instances of a batch, beside poses.
static void prefetch_others(const espl__instances *batch, const espl_instance_arrays *arrays)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        const espl__cluster_entry *const entry = batch->entries[i];
        const uint32_t place = batch->places[i];

        if (arrays->previous != NULL) {
            espl__prefetch(&entry->before->poses[place]);
        }
        if (arrays->entities != NULL) {
            espl__prefetch(&entry->values->entities[place]);
        }
        if (arrays->user_data != NULL) {
            espl__prefetch(&entry->values->user_data[place]);
        }
    }
}

// Set the instances of a batch, and prefetch their memory, because the members of a key are in many clusters.
static void gather_batch(espl__instances *batch, const espl__cull_result *result,
                         const espl__item *items, uint32_t count,
                         const espl_instance_arrays *arrays)
{
    const espl__cluster_entry *const entries = result->mirror->entries;

    batch->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        espl__instances_add(batch, &entries[items[i] >> ESPL__ITEM_BITS],
                            items[i] & (ESPL__CLUSTER_SIZE - 1));
        espl__prefetch(batch->poses[i]);
    }
    for (uint32_t i = 0; i < count && result->time == ESPL__CULL_BEFORE; ++i) {
        batch->poses[i] = &batch->entries[i]->before->poses[batch->places[i]];
        espl__prefetch(batch->poses[i]);
    }
    if (arrays->previous != NULL || arrays->entities != NULL || arrays->user_data != NULL) {
        prefetch_others(batch, arrays);
    }
}

// Blend the poses of a batch.
static void blend_batch_poses(espl__instances *batch, const espl__cull_result *result,
                              blended_poses *room)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        const espl__cluster_entry *const entry = batch->entries[i];

        if (entry->before != entry->poses) {
            room->of[i] = espl__pose_blend(&result->blend, &entry->before->poses[batch->places[i]],
                                           batch->poses[i]);
            batch->poses[i] = &room->of[i];
        }
    }
}

// Compute the size of an instance whose pose is at the time of the result.
static float size_of_instance(const espl__cull_result *result, const espl__sight *sight,
                              const espl__instances *batch, uint32_t i)
{
    const espl__cluster_entry *const entry = batch->entries[i];
    const bool is_now = result->time == ESPL__CULL_NOW || entry->before == entry->poses;
    const float(*const boxes)[ESPL__BOXES] = is_now ? entry->poses->boxes : entry->before->boxes;
    float box[ESPL__BOX_ROWS];
    double eye[3];

    if (!is_now && result->time == ESPL__CULL_BETWEEN) {
        espl__box_between_poses(box, entry, batch->places[i], batch->poses[i]);
    } else {
        for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
            box[k] = boxes[k][batch->places[i]];
        }
    }
    espl__eye_for(eye, result->mirror, entry->values, batch->places[i], &sight->camera);
    return espl__size_on_image(&sight->camera, eye, box);
}

// What is written by the jobs of a loop.
typedef struct writing {
    const espl__cull_result *result;
    const espl__sight *sight;
    const espl_instance_arrays *arrays;
    const espl__box_kernels *kernels;
} writing;

// Set one of two batches, which take turns. @param number  of the batch, from the begin of the result.
static void gather_next(espl__instances batches[ESPL__LEAST 2], const writing *w, size_t number)
{
    const size_t begin = number * ESPL__INSTANCE_BATCH, left = w->sight->item_count - begin;
    const uint32_t count =
        left < ESPL__INSTANCE_BATCH ? (uint32_t)left : (uint32_t)ESPL__INSTANCE_BATCH;

    gather_batch(&batches[number % 2], w->result, w->sight->items + begin, count, w->arrays);
}

// Write batches [first, last) of instances.
static void write_batches(void *context, size_t first, size_t last)
{
    const writing *const w = context;
    espl__instances batches[2];
    blended_poses room;

    batches[0].has_stretch = batches[1].has_stretch = w->sight->has_stretch;
    gather_next(batches, w, first);
    for (size_t number = first; number < last; ++number) {
        espl__instances *const batch = &batches[number % 2];
        const size_t begin = number * ESPL__INSTANCE_BATCH;

        // One batch ahead of what is written.
        if (number + 1 < last) {
            gather_next(batches, w, number + 1);
        }
        if (w->result->time == ESPL__CULL_BETWEEN) {
            blend_batch_poses(batch, w->result, &room);
        }
        espl__instances_write(w->arrays, begin, batch,
                              &(espl__viewpoint){w->result->mirror, &w->sight->camera}, w->kernels);
        for (uint32_t i = 0; w->arrays->sizes != NULL && i < batch->count; ++i) {
            w->arrays->sizes[begin + i] = size_of_instance(w->result, w->sight, batch, i);
        }
    }
}

espl_status espl_visible_write(const espl_visible *visible, size_t camera,
                               const espl_instance_arrays *arrays)
{
    // Nanoseconds for an instance; batches of a job at least, and jobs for which there are more of them.
    enum { WRITE_COST = 5, LEAST_BATCHES = 2, JOBS = 256 };
    const espl__sight *const sight = sight_of(visible, camera);
    espl_status status = espl__instances_check(arrays);

    if (status != ESPL_OK || sight == NULL) {
        return sight == NULL ? ESPL_ERR_ARGUMENT : status;
    }
    const espl__cull_result *const result = &visible->results[visible->current];

    if (!espl__lifetime_has(result->lifetime, result->life)) {
        return ESPL_ERR_DEAD;
    }
    const uint64_t cost = (uint64_t)sight->item_count * WRITE_COST;
    const espl_executor *const executor = cost >= visible->wake_cost ? arrays->executor : NULL;
    const size_t batches =
        (sight->item_count + (size_t)ESPL__INSTANCE_BATCH - 1) / ESPL__INSTANCE_BATCH;
    const size_t grain = batches / JOBS > LEAST_BATCHES ? batches / JOBS : LEAST_BATCHES;
    writing w = {result, sight, arrays, visible->kernels->boxes};
    const uint32_t modes = espl__float_modes_begin();

    status = espl__run_ranges(executor, &silent_hooks, write_batches, &w, batches, grain);
    espl__float_modes_end(modes);
    return status;
}
