// SPDX-License-Identifier: MIT
// A node alone under a parent's frame: placements of every kind below parents of every kind.
#ifndef ESPALIER_TESTS_TREE_SCENES_H
#define ESPALIER_TESTS_TREE_SCENES_H

#include "lib/tree/placement.h"

#include "tests/math/numbers.h"
#include "tests/support.h"

static inline bool is_same_pose(const espl_pose *a, const espl_pose *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline espl_pose any_pose(uint64_t *random)
{
    espl_pose pose;

    do {
        for (int i = 0; i < 4; ++i) {
            pose.rotation[i] = test_between(random, -1, 1);
        }
    } while (!espl__rotation_normalize(pose.rotation));
    for (int i = 0; i < 3; ++i) {
        pose.position[i] = test_between(random, -10, 10);
    }
    pose.scale = test_between(random, 0.75f, 1.3f) * (test_one_in(random, 8) ? -1.0f : 1.0f);
    return pose;
}

/// Parents that a scene has.
typedef enum parent_kind {
    PARENT_NONE,
    PARENT_PLAIN,
    PARENT_STRETCHED,
    PARENT_NOWHERE, // scale 0
    PARENT_FLAT,    // one stretch 0
    PARENT_KINDS
} parent_kind;

enum { FLAG_SETS = 129 };

/// A placement with the world that follows under its parent.
typedef struct scene {
    espl__frame room;
    const espl__frame *parent; // NULL, or the room
    espl__placement placement;
    espl_pose world;
} scene;

/// Every legal byte of inherit flags: 0 to 127, and ESPL_COPY_PARENT at the end.
static inline uint32_t legal_flags(uint32_t i)
{
    return i < ESPL_COPY_PARENT ? i : (uint32_t)ESPL_COPY_PARENT;
}

static inline bool same_bits(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

static inline bool keeps_axis(uint32_t flags, int axis)
{
    return (flags & ((uint32_t)ESPL_ABSOLUTE_X << axis)) != 0;
}

static inline espl__frame any_parent(parent_kind kind, uint64_t *random)
{
    espl__frame frame = {any_pose(random), espl__extra_default()};

    for (int i = 0; i < 3 && kind >= PARENT_STRETCHED; ++i) {
        frame.extra.stretch[i] = any_factor(random);
    }
    frame.extra.user_data = (uint32_t)test_random(random);
    if (kind == PARENT_NOWHERE) {
        frame.world.scale = test_one_in(random, 2) ? 0.0f : -0.0f;
    } else if (kind == PARENT_FLAT) {
        frame.extra.stretch[test_below(random, 3)] = 0;
    }
    return frame;
}

/// Put a frame above a scene; a pointer into a copy of the scene would not follow it.
static inline void settle_scene(scene *s, bool has_parent)
{
    s->parent = has_parent ? &s->room : NULL;
    if (espl__placement_copies(&s->placement)) {
        s->placement.extra = s->room.extra;
    }
    s->world = espl__placement_world(&s->placement, s->parent);
}

/// @param is_fresh  what is kept is what composes now, as after a write.
static inline void any_scene(scene *s, parent_kind kind, uint32_t flags, bool is_fresh,
                             uint64_t *random)
{
    const espl_pose other = any_pose(random);
    const espl_transform stretch = any_transform(random);

    s->room = any_parent(kind, random);
    s->placement = espl__placement_identity();
    s->placement.extra = espl__extra_of(&stretch);
    if (kind == PARENT_NONE || flags != ESPL_COPY_PARENT) {
        s->placement.local = any_pose(random);
    }
    if (kind != PARENT_NONE) {
        const espl_pose composed =
            espl__pose_compose(&s->room.world, s->room.extra.stretch, &s->placement.local);

        s->placement.kept = espl__kept_of(is_fresh ? &composed : &other, flags);
    }
    settle_scene(s, kind != PARENT_NONE);
}

/// Fail unless a scene is one that a forest could hold.
static inline void scene_is_sound(const scene *s)
{
    const espl_pose world = espl__placement_world(&s->placement, s->parent);
    const espl__kept kept = espl__kept_of(&s->placement.kept.pose, s->placement.kept.flags);
    const bool is_sound = is_same_pose(&world, &s->world) && espl__pose_is_finite(&kept.pose) &&
                          espl__pose_is_finite(&s->placement.local) &&
                          memcmp(&kept, &s->placement.kept, sizeof kept) == 0;

    ck_assert(is_sound);
}

/// Tell whether nothing in a scene changed.
static inline bool scene_stays(const scene *a, const scene *b)
{
    return espl__placement_is_equal(&a->placement, &b->placement) &&
           is_same_pose(&a->world, &b->world);
}

/// Tell whether two positions are the same to rounding.
static inline bool is_placed_near(const float *a, const float *b)
{
    bool is_near_enough = true;

    for (int i = 0; i < 3; ++i) {
        is_near_enough = is_near_enough && fabsf(a[i] - b[i]) <= 1e-4f;
    }
    return is_near_enough;
}

static inline bool is_turned_near(const float *a, const float *b)
{
    double dot = 0, aa = 0, bb = 0;

    for (int i = 0; i < 4; ++i) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return 1 - fabs(dot) / sqrt(aa * bb) <= 1e-9;
}

static inline bool is_scaled_near(float a, float b)
{
    return fabsf(a - b) <= 1e-5f * (1 + fabsf(b));
}

#endif
