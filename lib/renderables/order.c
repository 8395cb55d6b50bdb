// SPDX-License-Identifier: MIT
// Visible members in the order of a result: by key, and for each key by cluster and place, or by entity.
//
// Where keys are small numbers they are counted: for each part of a camera's chunks the members of each
// key, then the place in the result where each key of each part begins. Else keys and members are
// sorted. Both orders are the same, and do not depend on the number of parts.
#include "lib/renderables/visible.h"

#include "lib/base/bits.h"
#include "lib/base/key_sort.h"
#include "lib/base/prefetch.h"
#include "lib/jobs/ranges.h"

#include <string.h>

// How the members of a camera are put into order.
typedef struct camera_plan {
    size_t first_item; // in the items of all cameras
    uint32_t item_count;
    uint32_t key_bound;
    bool is_counted;
    bool has_stretch;
    uint32_t *starts;         // [parts][key_bound], where it is counted
    espl__sort_key *pairs[2]; // [item_count], where it is sorted
    espl__item *found;        // [item_count], of a sort by entity
    uint32_t *keys;           // [item_count], of a sort by entity
    espl_group *groups;
    uint32_t group_count;
} camera_plan;

// An order under way.
typedef struct order_work {
    const espl__cull *cull;
    uint32_t parts; // of the chunks of a camera
    camera_plan *plans;
    espl__item *items;
} order_work;

// The seen clusters of a part of a camera, one by one.
typedef struct seen_walk {
    const espl__cull *cull;
    uint32_t camera, chunk, end; // chunks
    uint32_t at;                 // in the chunk
} seen_walk;

// Begin with part number `part` of `parts`.
static seen_walk walk_part(const espl__cull *cull, uint32_t camera, uint32_t part, uint32_t parts)
{
    return (seen_walk){.cull = cull,
                       .camera = camera,
                       .chunk = (uint32_t)((uint64_t)cull->chunk_count * part / parts),
                       .end = (uint32_t)((uint64_t)cull->chunk_count * (part + 1) / parts)};
}

// Prefetch what is read of a cluster to come: its keys.
static inline void prefetch_keys(const espl__cull *cull, const espl__seen *seen)
{
    enum { KEYS_OF_LINE = 64 / sizeof(uint32_t) };
    const espl__values *const values = cull->mirror->entries[seen->cluster].values;

    espl__prefetch(&values->has_one_key);
    for (uint32_t i = 0; i < ESPL__CLUSTER_SIZE; i += KEYS_OF_LINE) {
        espl__prefetch(&values->keys[i]);
    }
}

// Return the next cluster, or NULL after the last. @param levels  out: of its members, or NULL.
static const espl__seen *next_seen(seen_walk *walk, const uint8_t **levels)
{
    enum { AHEAD = 3 };
    const espl__cull *const cull = walk->cull;

    for (; walk->chunk < walk->end; ++walk->chunk, walk->at = 0) {
        const size_t first = (size_t)walk->camera * cull->mirror->order_count +
                             (size_t)walk->chunk * cull->chunk_size;

        const uint32_t count =
            cull->chunks[walk->camera * cull->chunk_count + walk->chunk].seen_count;

        if (walk->at < count) {
            const size_t at = first + walk->at++;

            if (walk->at - 1 + AHEAD < count) {
                prefetch_keys(cull, &cull->seen[at + AHEAD]);
            }
            *levels = cull->levels != NULL ? &cull->levels[at << ESPL__ITEM_BITS] : NULL;
            return &cull->seen[at];
        }
    }
    return NULL;
}

// Return the keys of the members of a cluster, each by its level. @param room  that they may be stored in.
static const uint32_t *keys_of(const espl__cull *cull, const espl__seen *seen,
                               const uint8_t *levels, uint32_t room[ESPL__CLUSTER_SIZE])
{
    const espl__values *const values = cull->mirror->entries[seen->cluster].values;

    if (levels == NULL) {
        return values->keys;
    }
    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = seen->bits[w]; left != 0; left &= left - 1) {
            const uint32_t place = 64 * w + espl__lowest_bit(left);
            const espl_lods *const lods = espl__lods_of(cull->mirror, values->keys[place]);

            room[place] = lods != NULL ? lods->keys[levels[place]] : values->keys[place];
        }
    }
    return room;
}

// Tell whether all members of a cluster have the key of the first. Then they are handled together.
static inline bool has_one_key(const espl__cull *cull, const espl__seen *seen)
{
    return cull->levels == NULL && cull->mirror->entries[seen->cluster].values->has_one_key;
}

// Tell whether the visible members of a cluster are the first ones, without a gap.
static inline bool is_whole(const espl__seen *seen)
{
    return seen->count > 64
               ? seen->bits[0] == UINT64_MAX && (seen->bits[1] & (seen->bits[1] + 1)) == 0
               : seen->bits[1] == 0 && (seen->bits[0] & (seen->bits[0] + 1)) == 0;
}

// --- By counting ---

// The number of a job is camera * parts + part.
static void count_part(void *argument, size_t job)
{
    const order_work *const work = argument;
    const uint32_t camera = (uint32_t)(job / work->parts), part = (uint32_t)(job % work->parts);
    const camera_plan *const plan = &work->plans[camera];
    seen_walk walk = walk_part(work->cull, camera, part, work->parts);
    uint32_t room[ESPL__CLUSTER_SIZE];
    const uint8_t *levels;

    if (!plan->is_counted || plan->item_count == 0) {
        return;
    }
    uint32_t *const counts = plan->starts + (size_t)part * plan->key_bound;

    memset(counts, 0, plan->key_bound * sizeof *counts);
    for (const espl__seen *seen; (seen = next_seen(&walk, &levels)) != NULL;) {
        const uint32_t *const keys = keys_of(work->cull, seen, levels, room);

        if (has_one_key(work->cull, seen)) {
            counts[keys[0]] += seen->count;
        } else if (is_whole(seen)) {
            for (uint32_t i = 0; i < seen->count; ++i) {
                counts[keys[i]] += 1;
            }
        } else {
            for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
                for (uint64_t left = seen->bits[w]; left != 0; left &= left - 1) {
                    counts[keys[64 * w + espl__lowest_bit(left)]] += 1;
                }
            }
        }
    }
}

// Replace counts by the places where the members of each key and part begin, and count the groups.
static void set_starts(camera_plan *plan, uint32_t parts)
{
    uint32_t at = 0, groups = 0;

    for (uint32_t key = 0; key < plan->key_bound; ++key) {
        const uint32_t first = at;

        for (uint32_t part = 0; part < parts; ++part) {
            uint32_t *const start = &plan->starts[(size_t)part * plan->key_bound + key];
            const uint32_t count = *start;

            *start = at;
            at += count;
        }
        groups += at != first;
    }
    ESPL_CHECK(at == plan->item_count);
    plan->group_count = groups;
}

static void write_counted_groups(const camera_plan *plan)
{
    espl_group *group = plan->groups;

    if (plan->group_count == 0) {
        return;
    }
    for (uint32_t key = 0; key < plan->key_bound; ++key) {
        const uint32_t first = plan->starts[key];
        const uint32_t end = key + 1 < plan->key_bound ? plan->starts[key + 1] : plan->item_count;

        if (end != first) {
            *group++ = (espl_group){key, first, end - first};
        }
    }
    ESPL_CHECK(group == plan->groups + plan->group_count);
}

// Store all visible members of a cluster one after another.
static void place_together(espl__item *to, const espl__seen *seen)
{
    const espl__item first = seen->cluster << ESPL__ITEM_BITS;

    if (is_whole(seen)) {
        for (uint32_t i = 0; i < seen->count; ++i) {
            to[i] = first + i;
        }
        return;
    }
    for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
        for (uint64_t left = seen->bits[w]; left != 0; left &= left - 1) {
            *to++ = first + 64 * w + espl__lowest_bit(left);
        }
    }
}

static void place_members(void *argument, size_t job)
{
    const order_work *const work = argument;
    const uint32_t camera = (uint32_t)(job / work->parts), part = (uint32_t)(job % work->parts);
    const camera_plan *const plan = &work->plans[camera];
    seen_walk walk = walk_part(work->cull, camera, part, work->parts);
    uint32_t room[ESPL__CLUSTER_SIZE];
    const uint8_t *levels;

    if (!plan->is_counted || plan->item_count == 0) {
        return;
    }
    uint32_t *const starts = plan->starts + (size_t)part * plan->key_bound;
    espl__item *const items = work->items + plan->first_item;

    for (const espl__seen *seen; (seen = next_seen(&walk, &levels)) != NULL;) {
        const uint32_t *const keys = keys_of(work->cull, seen, levels, room);
        const espl__item first = seen->cluster << ESPL__ITEM_BITS;

        if (has_one_key(work->cull, seen)) {
            place_together(items + starts[keys[0]], seen);
            starts[keys[0]] += seen->count;
        } else if (is_whole(seen)) {
            for (uint32_t i = 0; i < seen->count; ++i) {
                items[starts[keys[i]]++] = first + i;
            }
        } else {
            for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
                for (uint64_t left = seen->bits[w]; left != 0; left &= left - 1) {
                    const uint32_t place = 64 * w + espl__lowest_bit(left);

                    items[starts[keys[place]]++] = first + place;
                }
            }
        }
    }
}

// --- By sorting ---

// List the members of a camera with their keys, in the order of clusters.
static void list_pairs(const order_work *work, uint32_t camera)
{
    const camera_plan *const plan = &work->plans[camera];
    const espl__cull *const cull = work->cull;
    seen_walk walk = walk_part(cull, camera, 0, 1);
    uint32_t room[ESPL__CLUSTER_SIZE], at = 0;
    const uint8_t *levels;

    for (const espl__seen *seen; (seen = next_seen(&walk, &levels)) != NULL;) {
        const uint32_t *const keys = keys_of(cull, seen, levels, room);
        const espl_entity *const entities = cull->mirror->entries[seen->cluster].values->entities;
        const espl__item first = seen->cluster << ESPL__ITEM_BITS;

        for (uint32_t w = 0; w < ESPL__MEMBER_WORDS; ++w) {
            for (uint64_t left = seen->bits[w]; left != 0; left &= left - 1, ++at) {
                const uint32_t place = 64 * w + espl__lowest_bit(left);

                if (plan->found == NULL) {
                    plan->pairs[0][at] = (espl__sort_key){keys[place], first + place};
                    continue;
                }
                plan->pairs[0][at] = (espl__sort_key){entities[place].index, at};
                plan->found[at] = first + place;
                plan->keys[at] = keys[place];
            }
        }
    }
    ESPL_CHECK(at == plan->item_count);
}

// Sort the members of a camera, and count the groups.
static void sort_camera(const order_work *work, uint32_t camera)
{
    camera_plan *const plan = &work->plans[camera];

    list_pairs(work, camera);
    if (plan->found != NULL) {
        espl__sort_by_key(&plan->pairs[0], &plan->pairs[1], plan->item_count);
        for (uint32_t i = 0; i < plan->item_count; ++i) {
            const uint32_t number = plan->pairs[0][i].number;

            plan->pairs[0][i] = (espl__sort_key){plan->keys[number], plan->found[number]};
        }
    }
    espl__sort_by_key(&plan->pairs[0], &plan->pairs[1], plan->item_count);
    plan->group_count = 0;
    for (uint32_t i = 0; i < plan->item_count; ++i) {
        plan->group_count += i == 0 || plan->pairs[0][i].key != plan->pairs[0][i - 1].key;
    }
}

static void write_sorted(const order_work *work, const camera_plan *plan)
{
    espl_group *group = plan->groups;

    if (plan->group_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < plan->item_count; ++i) {
        const espl__sort_key pair = plan->pairs[0][i];

        work->items[plan->first_item + i] = pair.number;
        if (i == 0 || pair.key != group[-1].key) {
            *group++ = (espl_group){pair.key, i, 0};
        }
        group[-1].count += 1;
    }
    ESPL_CHECK(group == plan->groups + plan->group_count);
}

// --- The steps ---

static void find_groups(void *argument, size_t camera)
{
    const order_work *const work = argument;
    camera_plan *const plan = &work->plans[camera];

    if (plan->is_counted) {
        set_starts(plan, work->parts);
    } else {
        sort_camera(work, (uint32_t)camera);
    }
}

static void write_camera_groups(void *argument, size_t camera)
{
    const order_work *const work = argument;
    const camera_plan *const plan = &work->plans[camera];

    if (plan->is_counted) {
        write_counted_groups(plan);
    } else {
        write_sorted(work, plan);
    }
}

// Add up what the chunks of a camera have.
static camera_plan plan_camera(const espl__cull *cull, uint32_t camera)
{
    const bool is_by_entity = (cull->flags & ESPL_CULL_BY_ENTITY) != 0;
    camera_plan plan = {0};

    for (uint32_t i = 0; i < cull->chunk_count; ++i) {
        const espl__seen_chunk *const chunk = &cull->chunks[camera * cull->chunk_count + i];

        plan.item_count += chunk->item_count;
        plan.has_stretch |= chunk->has_stretch;
        plan.key_bound = chunk->key_bound > plan.key_bound ? chunk->key_bound : plan.key_bound;
    }
    // A count takes as long as there are keys.
    plan.is_counted = !is_by_entity && plan.key_bound <= ESPL__COUNTED_KEYS &&
                      plan.key_bound / 4 <= plan.item_count + 256;
    return plan;
}

// Reserve the arrays of the plans. @param block  NULL: measure them. @return bytes.
static size_t carve_plans(const order_work *work, unsigned char *block)
{
    const espl__cull *const cull = work->cull;
    const bool is_by_entity = (cull->flags & ESPL_CULL_BY_ENTITY) != 0;
    size_t at = 0;

    for (uint32_t i = 0; i < cull->camera_count; ++i) {
        camera_plan *const plan = &work->plans[i];
        const size_t pairs = plan->is_counted ? 0 : plan->item_count;
        const size_t starts = plan->is_counted ? (size_t)work->parts * plan->key_bound : 0;

        plan->starts = espl__carve(block, &at, starts, sizeof *plan->starts, 64);
        for (int k = 0; k < 2; ++k) {
            plan->pairs[k] = espl__carve(block, &at, pairs, sizeof *plan->pairs[k], 64);
        }
        if (is_by_entity) {
            plan->found = espl__carve(block, &at, pairs, sizeof *plan->found, 64);
            plan->keys = espl__carve(block, &at, pairs, sizeof *plan->keys, 64);
        }
    }
    return at;
}

// Count the members, and reserve the memory of the steps and the items.
static espl_status plan_cameras(order_work *work, espl_visible *visible, espl__cull_result *result)
{
    const uint32_t count = work->cull->camera_count;
    size_t items = 0;

    for (uint32_t i = 0; i < count; ++i) {
        work->plans[i] = plan_camera(work->cull, i);
        work->plans[i].first_item = items;
        items += work->plans[i].item_count;
    }
    const size_t bytes = carve_plans(work, NULL);
    espl_status status = espl__visible_grow(visible, &visible->counts, bytes);

    if (status == ESPL_OK && items > SIZE_MAX / sizeof(espl__item)) {
        status = ESPL_ERR_NO_MEMORY;
    }
    if (status == ESPL_OK) {
        status = espl__visible_grow(visible, &result->items, items * sizeof(espl__item));
    }
    if (status == ESPL_OK) {
        (void)carve_plans(work, visible->counts.block);
        work->items = result->items.block;
    }
    return status;
}

// Reserve the groups, and set what the result has of each camera.
static espl_status set_sights(const order_work *work, espl_visible *visible,
                              espl__cull_result *result)
{
    const uint32_t count = work->cull->camera_count;
    size_t groups = 0;

    for (uint32_t i = 0; i < count; ++i) {
        groups += work->plans[i].group_count;
    }
    const espl_status status =
        espl__visible_grow(visible, &result->groups, groups * sizeof(espl_group));

    if (status != ESPL_OK) {
        return status;
    }
    groups = 0;
    for (uint32_t i = 0; i < count; ++i) {
        camera_plan *const plan = &work->plans[i];

        // A result that never had a group has no memory of them.
        plan->groups = plan->group_count != 0 ? (espl_group *)result->groups.block + groups
                                              : result->groups.block;
        groups += plan->group_count;
        result->sights[i] = (espl__sight){
            .camera = work->cull->cameras[i],
            .items = plan->item_count != 0 ? work->items + plan->first_item : work->items,
            .item_count = plan->item_count,
            .has_stretch = plan->has_stretch,
            .group_count = plan->group_count,
            .groups = plan->groups};
    }
    return ESPL_OK;
}

espl_status espl__cull_order(const espl__cull *cull, espl_visible *visible,
                             espl__cull_result *result)
{
    enum { ITEM_COST = 2 }; // of a step
    const espl_executor *const executor = espl__cull_executor(cull, cull->item_count, ITEM_COST);
    const uint32_t cameras = cull->camera_count;
    const uint32_t workers = espl__executor_is_serial(executor) ? 1 : executor->worker_count;
    // All that are read are set: by plan_cameras(), which the static analysis takes for a loop of no rounds.
    camera_plan plans[ESPL_CAMERA_LIMIT] = {{0}};
    order_work work = {.cull = cull, .parts = 1, .plans = plans};

    if (workers > 1) {
        const uint32_t most = workers < ESPL_CAMERA_LIMIT ? workers : ESPL_CAMERA_LIMIT;
        const uint32_t parts = (2 * most + cameras - 1) / cameras;

        work.parts = parts < cull->chunk_count ? parts : cull->chunk_count;
        work.parts += work.parts == 0;
    }
    espl_status status = plan_cameras(&work, visible, result);
    const size_t jobs = (size_t)cameras * work.parts;

    if (status == ESPL_OK) {
        status = espl__run_jobs(executor, cull->hooks, count_part, &work, jobs);
    }
    if (status == ESPL_OK) {
        status = espl__run_jobs(executor, cull->hooks, find_groups, &work, cameras);
    }
    if (status == ESPL_OK) {
        status = set_sights(&work, visible, result);
    }
    if (status == ESPL_OK) {
        status = espl__run_jobs(executor, cull->hooks, write_camera_groups, &work, cameras);
    }
    if (status == ESPL_OK) {
        status = espl__run_jobs(executor, cull->hooks, place_members, &work, jobs);
    }
    return status;
}
