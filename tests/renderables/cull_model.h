// SPDX-License-Identifier: MIT
// What each camera must see of a made mirror: renderable by renderable, from the formulas alone.
#ifndef ESPALIER_TESTS_RENDERABLES_CULL_MODEL_H
#define ESPALIER_TESTS_RENDERABLES_CULL_MODEL_H

#include "lib/math/blend.h"
#include "tests/renderables/made_mirror.h"

/// A renderable that a camera sees.
typedef struct model_item {
    const made_member *member;
    uint32_t key;
    espl_pose pose;
    float size;
} model_item;

static inline espl_pose model_pose(const made_member *member, const espl_cull_def *def)
{
    if ((def->flags & ESPL_CULL_INTERPOLATE) == 0) {
        return member->now;
    }
    const espl__blend blend = espl__blend_at(def->alpha);

    return espl__pose_blend(&blend, &member->before, &member->now);
}

/// The size in double, rounded at the end.
static inline float model_size(const espl_camera *camera, const float box[static 6])
{
    const double hx = (double)box[3], hy = (double)box[4], hz = (double)box[5];
    const double x = (double)box[0] - (double)camera->eye[0];
    const double y = (double)box[1] - (double)camera->eye[1];
    const double z = (double)box[2] - (double)camera->eye[2];
    const double r = sqrt(hx * hx + hy * hy + hz * hz), d = sqrt(x * x + y * y + z * z);
    const double size = (double)camera->pixels * 2 * r;

    const bool is_distant = (camera->flags & ESPL_CAMERA_ORTHOGRAPHIC) == 0 && r != 0;

    return (float)fmin(is_distant ? size / fmax(d, r) : size, (double)FLT_MAX);
}

// The level of a key, or the key itself. ESPL_NO_KEY: below the last level.
static inline uint32_t model_key(const made_mirror *made, const espl_camera *camera,
                                 const made_member *member, float size)
{
    const uint32_t key = member->value.key, number = key & ~UINT32_C(0x80000000);
    const espl_lods *const lods = &made->lods[number % ESPL__LOD_PAGE];

    if (key < UINT32_C(0x80000000) || number >= made->mirror.lod_count) {
        return key;
    }
    for (uint32_t i = 0; i < lods->count; ++i) {
        if (camera->pixels == 0 || size >= lods->sizes[i]) {
            return lods->keys[i];
        }
    }
    return (member->value.flags & ESPL_RENDERABLE_ALWAYS) != 0 ? lods->keys[lods->count - 1]
                                                               : ESPL_NO_KEY;
}

static inline bool model_sees(const made_mirror *made, const espl_camera *camera,
                              const espl_cull_def *def, const made_member *member, model_item *out)
{
    const bool is_always = (member->value.flags & ESPL_RENDERABLE_ALWAYS) != 0;
    espl__planes planes;
    float box[6], ends[2][6];

    *out = (model_item){.member = member, .pose = model_pose(member, def)};
    espl__box_of_pose(box, &out->pose, member->stretch, member->local);
    espl__box_of_pose(ends[0], &member->before, member->stretch, member->local);
    espl__box_of_pose(ends[1], &member->now, member->stretch, member->local);
    if ((camera->layers & member->layers) == 0 || member->value.key == ESPL_NO_KEY ||
        !espl__all_finite(ends[1], 6) ||
        ((def->flags & ESPL_CULL_INTERPOLATE) != 0 && def->alpha != 1 &&
         !espl__all_finite(ends[0], 6))) {
        return false;
    }
    espl__planes_init(&planes, camera->planes, camera->plane_count);
    out->size = model_size(camera, box);
    out->key = model_key(made, camera, member, out->size);
    return out->key != ESPL_NO_KEY &&
           (is_always || (espl__box_is_inside(box, &planes, (1U << camera->plane_count) - 1) &&
                          (camera->pixels == 0 || out->size >= camera->least_size)));
}

/// List what a camera sees, in the order of a result. @param items  [members] out.
static inline uint32_t model_cull(const made_mirror *made, const espl_camera *camera,
                                  const espl_cull_def *def, model_item *items)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < made->member_count; ++i) {
        model_item item;

        if (!model_sees(made, camera, def, made->members[i], &item)) {
            continue;
        }
        // Inserted behind those that are not above it.
        uint32_t at = count++;

        for (; at > 0; --at) {
            const model_item *const other = &items[at - 1];
            const bool is_below = (def->flags & ESPL_CULL_BY_ENTITY) != 0
                                      ? other->key == item.key &&
                                            other->member->entity.index > item.member->entity.index
                                      : false;

            if (other->key <= item.key && !is_below) {
                break;
            }
            items[at] = *other;
        }
        items[at] = item;
    }
    return count;
}

/// Compare what a result has of a camera with what the model says.
static inline void model_agrees(const made_mirror *made, const espl_visible *visible, size_t camera,
                                const espl_camera *given, const espl_cull_def *def)
{
    const uint32_t most = made->member_count + 1;
    model_item *const items = malloc(most * sizeof *items);
    const uint32_t count = model_cull(made, given, def, items);
    espl_entity *const entities = malloc(most * sizeof *entities);
    uint32_t *const user_data = malloc(most * sizeof *user_data);
    float *const sizes = malloc(most * sizeof *sizes);
    espl_pose *const poses = malloc(most * sizeof *poses);
    const espl_instance_arrays arrays = {.matrices = poses,
                                         .form = ESPL_INSTANCE_POSE,
                                         .entities = entities,
                                         .user_data = user_data,
                                         .sizes = sizes,
                                         .executor = def != NULL ? def->executor : NULL};
    size_t group_count, total = 0;
    const espl_group *const groups = espl_visible_groups(visible, camera, &group_count);

    for (size_t i = 0; i < group_count; ++i) {
        ck_assert_uint_eq(groups[i].first, total);
        ck_assert_uint_gt(groups[i].count, 0);
        ck_assert(i == 0 || groups[i].key > groups[i - 1].key);
        total += groups[i].count;
    }
    ck_assert_uint_eq(total, count);
    ck_ok(espl_visible_write(visible, camera, &arrays));
    for (uint32_t i = 0, group = 0; i < count; ++i) {
        group += i == groups[group].first + groups[group].count;
        ck_assert_uint_eq(groups[group].key, items[i].key);
        ck_assert(espl_entity_equal(entities[i], items[i].member->entity));
        ck_assert_uint_eq(user_data[i], items[i].member->value.user_data);
        for (int k = 0; k < 3; ++k) {
            items[i].pose.position[k] =
                (float)((double)items[i].pose.position[k] - given->origin[k]);
        }
        ck_assert(memcmp(&poses[i], &items[i].pose, sizeof poses[i]) == 0);
        ck_assert(memcmp(&sizes[i], &items[i].size, sizeof sizes[i]) == 0);
    }
    free(items);
    free(entities);
    free(user_data);
    free(sizes);
    free(poses);
}

#endif
