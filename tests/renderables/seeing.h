// SPDX-License-Identifier: MIT
// What a mirror has, against a look at every entity of its world: members with their values, poses, boxes,
// effective layers, and poses of the mirror before.
#ifndef ESPALIER_TESTS_RENDERABLES_SEEING_H
#define ESPALIER_TESTS_RENDERABLES_SEEING_H

#include "lib/math/boxes.h"
#include "lib/renderables/renderables.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What was seen of the entity of an index.
typedef struct seen_renderable {
    uint32_t generation; // 0: it was no renderable
    bool was_shown;
    espl_pose pose;
} seen_renderable;

// Renderables of a world, and what the mirror before had.
typedef struct seeing {
    espl_world *world;
    espl_renderables *renderables;
    espl_component bounds, renderable, layers;
    seen_renderable *before; // [capacity] by index
    uint32_t capacity;
    uint64_t number;
    size_t checked, updates;
    uint32_t levels;     // keys with levels that were added
    bool ignores_before; // teleports
} seeing;

static inline void seeing_begin(seeing *s, espl_world *world, const espl_renderables_def *def)
{
    *s = (seeing){.world = world};
    ck_ok(espl_renderables_create(world, def, &s->renderables));
    s->bounds = espl_component_find(world, "bounds");
    s->renderable = espl_component_find(world, "renderable");
    s->layers = espl_component_find(world, "layers");
}

static inline void seeing_end(seeing *s)
{
    espl_renderables_destroy(s->renderables);
    free(s->before);
}

static inline seen_renderable *seen_at(seeing *s, uint32_t index)
{
    if (index >= s->capacity) {
        const uint32_t capacity = 2 * index + 64;

        s->before = realloc(s->before, capacity * sizeof *s->before);
        ck_assert_ptr_nonnull(s->before);
        memset(s->before + s->capacity, 0, (capacity - s->capacity) * sizeof *s->before);
        s->capacity = capacity;
    }
    return &s->before[index];
}

// --- What must be ---

static inline uint32_t seen_layers(const seeing *s, espl_entity entity)
{
    uint32_t all = UINT32_MAX;

    for (; !espl_entity_is_null(entity); entity = espl_get_parent(s->world, entity)) {
        espl_layers own;

        if (espl_has_component(s->world, entity, s->layers)) {
            ck_ok(espl_get_component(s->world, entity, s->layers, &own, sizeof own));
            all &= own.mask;
            if ((own.flags & ESPL_LAYERS_ABSOLUTE) != 0) {
                return all;
            }
        }
    }
    return all;
}

static inline bool seen_is_renderable(const seeing *s, espl_entity entity)
{
    return espl_has_component(s->world, entity, ESPL_TRANSFORM) &&
           espl_has_component(s->world, entity, s->bounds) &&
           espl_has_component(s->world, entity, s->renderable) &&
           !espl_has_component(s->world, entity, ESPL_PREFAB) &&
           !espl_has_component(s->world, entity, ESPL_DISABLED);
}

static inline bool seen_is_finite(const float *numbers, size_t count)
{
    bool is_finite = true;

    for (size_t i = 0; i < count; ++i) {
        is_finite = is_finite && isfinite(numbers[i]);
    }
    return is_finite;
}

// Compute the world box of an entity as a matrix has it. @return whether it is shown.
static inline bool seen_box(const seeing *s, espl_entity entity, float box[6])
{
    espl_transform world;
    espl_renderable value;
    espl_bounds bounds;
    float m[12];

    ck_ok(espl_get_world_transform(s->world, entity, &world));
    ck_ok(espl_get_component(s->world, entity, s->bounds, &bounds, sizeof bounds));
    espl_transform_to_matrix(&world, ESPL_MATRIX_3X4, m);
    for (int k = 0; k < 3; ++k) {
        const float *const row = &m[4 * k];

        box[k] = row[3] + ((row[0] * bounds.center[0] + row[1] * bounds.center[1]) +
                           row[2] * bounds.center[2]);
        box[3 + k] = (fabsf(row[0]) * bounds.half[0] + fabsf(row[1]) * bounds.half[1]) +
                     fabsf(row[2]) * bounds.half[2];
    }
    ck_ok(espl_get_component(s->world, entity, s->renderable, &value, sizeof value));
    const bool has_levels = value.key >= UINT32_C(0x80000000) && value.key != ESPL_NO_KEY;

    return (value.flags & ~(uint32_t)(ESPL_RENDERABLE_UNION | ESPL_RENDERABLE_ALWAYS)) == 0 &&
           (!has_levels || value.key - UINT32_C(0x80000000) < s->levels) &&
           seen_is_finite(bounds.center, 3) && seen_is_finite(bounds.half, 3) &&
           bounds.half[0] >= 0 && bounds.half[1] >= 0 && bounds.half[2] >= 0 &&
           seen_is_finite(world.rotation, 8) && seen_is_finite(box, 6);
}

// Compute the box of an entity with ESPL_RENDERABLE_UNION: that of the one box there is, or the middle of the
// bounds of all and the larger distance to them, in double, rounded once.
static inline void seen_union(const seeing *s, espl_entity top, float box[6])
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    espl_entity all[1024] = {{0, 0}};
    const espl_subtree_arrays arrays = {.entities = all};
    const size_t count =
        espl_copy_subtree(s->world, top, ESPL_EXTENT_SUBTREE, sizeof all / sizeof *all, &arrays);
    size_t boxes = 0;

    ck_assert_uint_le(count, sizeof all / sizeof *all);
    for (size_t i = 0; i < count; ++i) {
        float one[6];

        if (!seen_is_renderable(s, all[i]) || !seen_box(s, all[i], one)) {
            continue;
        }
        memcpy(box, one, sizeof one);
        boxes += 1;
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], (double)one[k] - (double)one[3 + k]);
            high[k] = fmax(high[k], (double)one[k] + (double)one[3 + k]);
        }
    }
    for (int k = 0; k < 3 && boxes != 1; ++k) {
        box[k] = (float)((low[k] + high[k]) / 2) + 0.0f;
        const double half = fmax(high[k] - (double)box[k], (double)box[k] - low[k]);

        box[3 + k] = half < (double)FLT_MAX ? (float)half : FLT_MAX;
        if ((double)box[3 + k] < half && box[3 + k] < FLT_MAX) {
            box[3 + k] = nextafterf(box[3 + k], INFINITY);
        }
    }
}

// --- Comparisons ---

static inline void demand_member(seeing *s, const espl__cluster_entry *entry, uint32_t place)
{
    const espl__values *const values = entry->values;
    const espl_entity entity = values->entities[place];
    const bool is_shown = (entry->poses->shown[place / 64] >> (place % 64) & 1) != 0;
    const bool may_show = (values->shown[place / 64] >> (place % 64) & 1) != 0;
    espl_renderable renderable;
    espl_transform world;
    float box[6];

    ck_assert(espl_is_alive(s->world, entity) && seen_is_renderable(s, entity));
    ck_ok(espl_get_component(s->world, entity, s->renderable, &renderable, sizeof renderable));
    ck_ok(espl_get_world_transform(s->world, entity, &world));
    const bool is_sound = seen_box(s, entity, box);

    ck_assert_uint_eq(values->keys[place], renderable.key);
    ck_assert_uint_eq(values->user_data[place], renderable.user_data);
    ck_assert_uint_eq(values->flags[place], renderable.flags);
    ck_assert_uint_eq(values->layers[place], seen_layers(s, entity));
    // Of a renderable without a key, the mirror need not say that its values are bad.
    ck_assert_int_eq(is_shown && may_show, is_sound && renderable.key != ESPL_NO_KEY);
    ck_assert(is_shown || !is_sound);
    const espl_pose pose = espl__pose_of(&world);

    ck_assert(espl__pose_is_alike(&pose, &entry->poses->poses[place]));
    if (values->stretches != NULL) {
        ck_assert_mem_eq(values->stretches->stretch[place], world.stretch, sizeof world.stretch);
    } else {
        ck_assert(world.stretch[0] == 1 && world.stretch[1] == 1 && world.stretch[2] == 1);
    }
    if (is_sound && (renderable.flags & ESPL_RENDERABLE_UNION) != 0) {
        seen_union(s, entity, box);
    }
    for (int k = 0; k < 6 && is_sound; ++k) {
        ck_assert_msg(memcmp(&box[k], &entry->poses->boxes[k][place], sizeof box[k]) == 0,
                      "box %d of %u.%u, flags %u, update %zu: %.9g, mirror %.9g", k, entity.index,
                      entity.generation, renderable.flags, s->updates, (double)box[k],
                      (double)entry->poses->boxes[k][place]);
    }
    seen_renderable *const seen = seen_at(s, entity.index);
    const bool has_before = seen->generation == entity.generation && seen->was_shown;
    const espl_pose *const before = has_before ? &seen->pose : &pose;

    if (!s->ignores_before && is_sound) {
        ck_assert(espl__pose_is_alike(before, &entry->before->poses[place]));
    }
}

// Note what the mirror has, for the next one. @return how many of the members are left out.
static inline size_t note_cluster(seeing *s, const espl__cluster_entry *entry, espl_entity *first)
{
    size_t bad = 0;

    for (uint32_t place = 0; place < entry->values->count; ++place) {
        const espl_entity entity = entry->values->entities[place];
        float box[6];

        if (!espl__entry_has(entry, place)) {
            continue;
        }
        const bool is_shown = seen_box(s, entity, box);

        *seen_at(s, entity.index) = (seen_renderable){
            entity.generation, (entry->poses->shown[place / 64] >> (place % 64) & 1) != 0,
            entry->poses->poses[place]};
        if (!is_shown) {
            bad += 1;
            if (espl_entity_is_null(*first) || entity.index < first->index) {
                *first = entity;
            }
        }
    }
    return bad;
}

static inline void demand_cluster_box(const espl__cluster_entry *entry)
{
    const espl__poses *const poses = entry->poses;

    // No plane leaves a cluster out that has a renderable which is always visible: its box is not a number.
    if ((entry->values->flags_any & ESPL_RENDERABLE_ALWAYS) != 0) {
        for (int k = 0; k < ESPL__BOX_NUMBERS; ++k) {
            ck_assert(isnan(poses->box[k]));
        }
        return;
    }
    for (uint32_t place = 0; place < entry->values->count; ++place) {
        if (!espl__entry_has(entry, place) || (poses->shown[place / 64] >> (place % 64) & 1) == 0) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            // A side is past what a float can be: no plane leaves such a cluster out.
            if (!isfinite(poses->box[3 + k])) {
                continue;
            }
            const double low = (double)poses->boxes[k][place] - (double)poses->boxes[3 + k][place];
            const double high = (double)poses->boxes[k][place] + (double)poses->boxes[3 + k][place];

            ck_assert_double_le((double)poses->box[k] - (double)poses->box[3 + k], low);
            ck_assert_double_ge((double)poses->box[k] + (double)poses->box[3 + k], high);
        }
    }
}

static inline size_t count_renderables(const seeing *s)
{
    const espl_component all[3] = {ESPL_TRANSFORM, s->bounds, s->renderable};
    const espl_query_def def = {.all = all, .all_count = 3};
    size_t count = 0;
    espl_query query;

    ck_ok(espl_query_begin(s->world, &def, &query));
    while (espl_query_next(&query)) {
        count += query.count;
    }
    return count;
}

// Demand that the newest mirror has what the world has.
static inline void demand_seen(seeing *s, const espl_renderables_report *report)
{
    const espl_mirror *const mirror = espl__tables_acquire(&s->renderables->tables);
    espl_entity first = espl_entity_null();
    size_t members = 0, bad = 0;

    ck_assert_ptr_nonnull(mirror);
    ck_assert_uint_eq(mirror->number, s->number + 1);
    ck_assert_uint_eq(report->number, mirror->number);
    s->number += 1;
    s->updates += 1;
    for (uint32_t i = 0; i < mirror->order_count; ++i) {
        const espl__cluster_entry *const entry = &mirror->entries[mirror->order[i]];

        const size_t others = members;

        for (uint32_t place = 0; place < entry->values->count; ++place) {
            if (espl__entry_has(entry, place)) {
                demand_member(s, entry, place);
                members += 1;
            }
        }
        demand_cluster_box(entry);
        ck_assert_uint_gt(members, others);
    }
    s->checked += members;
    // Each is a renderable, and none is twice in it: then as many are all of them.
    for (uint32_t i = 0; i < s->capacity; ++i) {
        s->before[i].generation = 0;
    }
    for (uint32_t i = 0; i < mirror->order_count; ++i) {
        const espl__cluster_entry *const entry = &mirror->entries[mirror->order[i]];

        for (uint32_t place = 0; place < entry->values->count; ++place) {
            ck_assert(!espl__entry_has(entry, place) ||
                      seen_at(s, entry->values->entities[place].index)->generation == 0);
        }
        bad += note_cluster(s, entry, &first);
    }
    ck_assert_uint_eq(members, count_renderables(s));
    ck_assert_uint_eq(members, mirror->renderables);
    ck_assert_uint_eq(members, report->renderables);
    ck_assert_uint_eq(bad, report->bad);
    ck_assert(first.index == report->first_bad.index &&
              first.generation == report->first_bad.generation);
}

// Update and compare. @return the report.
static inline espl_renderables_report see(seeing *s)
{
    espl_renderables_report report;
    const espl_status status = espl_renderables_update(s->renderables, NULL, &report);

    ck_assert_int_eq(status, report.bad != 0 ? ESPL_PARTLY : ESPL_OK);
    demand_seen(s, &report);
    return report;
}

#endif
