// SPDX-License-Identifier: MIT
// Mirrors made by hand from a list of renderables, in clusters of any size and number, so that culling is
// tested without a world and its filing.
#ifndef ESPALIER_TESTS_RENDERABLES_MADE_MIRROR_H
#define ESPALIER_TESTS_RENDERABLES_MADE_MIRROR_H

#include "lib/math/kernels.h"
#include "lib/renderables/blocks.h"
#include "tests/math/numbers.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

/// A renderable of a made mirror.
typedef struct made_member {
    espl_entity entity;
    espl_renderable value;
    uint32_t layers; // effective
    float local[6];
    float stretch[3];
    espl_pose before, now;
} made_member;

/// A mirror and its memory.
typedef struct made_mirror {
    espl_mirror mirror;
    espl__cluster_entry *entries;
    uint32_t *order;
    float *boxes[6];
    espl_lods lods[ESPL__LOD_PAGE];
    const espl_lods *pages[1];
    const made_member **members; // in the order of results: by cluster in order, then by place
    uint32_t member_count;
} made_mirror;

static inline void *made_memory(size_t count, size_t size)
{
    const size_t bytes = (count * size + 127) & ~(size_t)63;
    void *const block = aligned_alloc(64, bytes);

    ck_assert_ptr_nonnull(block);
    memset(block, 0, bytes);
    return block;
}

static inline void made_set_bit(uint64_t bits[static 2], uint32_t i, bool is_set)
{
    bits[i / 64] |= (uint64_t)is_set << i % 64;
}

static inline espl__poses *made_poses(const espl__values *values, const made_member *members,
                                      bool is_before)
{
    espl__poses *const poses = made_memory(1, sizeof *poses);
    const espl__stretches *const stretches = values->stretches;
    uint64_t finite[2], counted[2];

    for (uint32_t i = 0; i < values->count; ++i) {
        poses->poses[i] = is_before ? members[i].before : members[i].now;
    }
    espl__box_kernels_scalar.of_poses(
        poses->boxes, finite, poses->poses, values->local,
        stretches != NULL ? (const float(*)[3])stretches->stretch : NULL, values->count);
    for (int w = 0; w < 2; ++w) {
        poses->shown[w] = finite[w];
        counted[w] = finite[w] & values->shown[w];
    }
    espl__box_kernels_scalar.around(poses->box, poses->boxes, counted);
    // The box of a cluster with members that are always visible is no number, so that no camera leaves it out.
    for (int k = 0; k < 6 && (values->flags_any & ESPL_RENDERABLE_ALWAYS) != 0; ++k) {
        poses->box[k] = NAN;
    }
    memcpy(poses->swept, poses->box, sizeof poses->swept);
    return poses;
}

static inline espl__values *made_values(const made_member *members, uint32_t count)
{
    espl__values *const values = made_memory(1, sizeof *values);
    bool has_stretch = false;

    values->count = count;
    values->layers_all = UINT32_MAX;
    values->has_one_key = true;
    for (uint32_t i = 0; i < count; ++i) {
        const made_member *const m = &members[i];
        const bool is_shown = m->value.key != ESPL_NO_KEY;

        made_set_bit(values->shown, i, is_shown);
        values->entities[i] = m->entity;
        values->keys[i] = m->value.key;
        values->user_data[i] = m->value.user_data;
        values->flags[i] = m->value.flags;
        values->layers[i] = m->layers;
        values->layers_any |= is_shown ? m->layers : 0;
        values->layers_all &= is_shown ? m->layers : UINT32_MAX;
        values->flags_any |= m->value.flags;
        values->has_one_key = values->has_one_key && m->value.key == members[0].value.key;
        for (int k = 0; k < 6; ++k) {
            values->local[k][i] = m->local[k];
        }
        has_stretch = has_stretch || m->stretch[0] != 1 || m->stretch[1] != 1 || m->stretch[2] != 1;
    }
    if (has_stretch) {
        values->stretches = made_memory(1, sizeof *values->stretches);
        for (uint32_t i = 0; i < count; ++i) {
            memcpy(values->stretches->stretch[i], members[i].stretch, sizeof members[i].stretch);
        }
    }
    return values;
}

static inline void made_cluster(espl__cluster_entry *entry, const made_member *members,
                                uint32_t count)
{
    espl__values *const values = made_values(members, count);
    espl__poses *const poses = made_poses(values, members, false);
    bool is_still = true;

    for (uint32_t i = 0; i < count; ++i) {
        is_still = is_still && memcmp(&members[i].before, &members[i].now, sizeof(espl_pose)) == 0;
    }
    *entry = (espl__cluster_entry){.values = values, .poses = poses, .before = poses};
    if (!is_still) {
        espl__poses *const before = made_poses(values, members, true);
        const uint64_t all[2] = {values->shown[0] & poses->shown[0] & before->shown[0],
                                 values->shown[1] & poses->shown[1] & before->shown[1]};
        const float reach = espl__box_kernels_scalar.reach(before->poses, poses->poses,
                                                           before->boxes, poses->boxes, all);

        espl__boxes_swept(poses->swept, before->box, poses->box, reach);
        entry->before = before;
    }
}

/// Make a mirror of members, in clusters of at most `most` members and of any size from 1 on.
/// @param random  chooses the sizes, the numbers and the order of the clusters.
static inline void made_mirror_init(made_mirror *made, const made_member *members, uint32_t count,
                                    uint32_t most, uint64_t *random)
{
    const uint32_t limit = 2 * count + 8;
    uint32_t *const numbers = made_memory(limit, sizeof *numbers);
    uint32_t clusters = 0;

    memset(made, 0, sizeof *made);
    made->entries = made_memory(limit, sizeof *made->entries);
    made->order = made_memory(limit, sizeof *made->order);
    made->members = made_memory(count + 1, sizeof *made->members);
    for (int k = 0; k < 6; ++k) {
        made->boxes[k] = made_memory(limit, sizeof **made->boxes);
    }
    for (uint32_t i = 0; i < limit; ++i) {
        numbers[i] = i;
    }
    for (uint32_t i = limit; i > 1; --i) {
        const uint32_t other = test_below(random, i), number = numbers[i - 1];

        numbers[i - 1] = numbers[other];
        numbers[other] = number;
    }
    for (uint32_t at = 0; at < count; ++clusters) {
        const uint32_t left = count - at;
        const uint32_t size = test_one_in(random, 3) ? most : 1 + test_below(random, most);
        const uint32_t taken = size < left ? size : left, cluster = numbers[clusters];

        made_cluster(&made->entries[cluster], members + at, taken);
        made->order[clusters] = cluster;
        for (int k = 0; k < 6; ++k) {
            made->boxes[k][cluster] = made->entries[cluster].poses->box[k];
        }
        for (uint32_t i = 0; i < taken; ++i) {
            made->members[at + i] = &members[at + i];
        }
        at += taken;
    }
    made->member_count = count;
    made->pages[0] = made->lods;
    made->mirror = (espl_mirror){.number = 1,
                                 .renderables = count,
                                 .clusters = limit,
                                 .order_count = clusters,
                                 .order = made->order,
                                 .entries = made->entries,
                                 .lod_pages = made->pages};
    for (int k = 0; k < 6; ++k) {
        made->mirror.boxes[k] = made->boxes[k];
    }
    free(numbers);
}

static inline void made_mirror_free(made_mirror *made)
{
    for (uint32_t i = 0; i < made->mirror.clusters; ++i) {
        espl__cluster_entry *const entry = &made->entries[i];

        if (entry->values != NULL) {
            if (entry->before != entry->poses) {
                free((void *)(uintptr_t)entry->before);
            }
            free(entry->values->stretches);
            free((void *)(uintptr_t)entry->poses);
            free((void *)(uintptr_t)entry->values);
        }
    }
    for (int k = 0; k < 6; ++k) {
        free(made->boxes[k]);
    }
    free(made->entries);
    free(made->order);
    free((void *)made->members);
}

#endif
