// SPDX-License-Identifier: MIT
// Poses and boxes of renderables at a time between two mirrors.
#include "lib/renderables/visible.h"

#include <string.h>

#define FOUR_PLACES(i) (i), (i) + 1, (i) + 2, (i) + 3
#define PLACES_16(i) \
    FOUR_PLACES(i), FOUR_PLACES((i) + 4), FOUR_PLACES((i) + 8), FOUR_PLACES((i) + 12)

// The places of a cluster, as the list of slots of a blend.
static const uint32_t places[ESPL__CLUSTER_SIZE] = {PLACES_16(0),  PLACES_16(16), PLACES_16(32),
                                                    PLACES_16(48), PLACES_16(64), PLACES_16(80),
                                                    PLACES_16(96), PLACES_16(112)};

static void copy_box_of(float box[ESPL__LEAST ESPL__BOX_ROWS], const espl__box_rows boxes,
                        uint32_t place)
{
    for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
        box[k] = boxes[k][place];
    }
}

// Compute the box around both boxes of a member, whose box does not follow from its pose alone.
static void box_of_both(float box[ESPL__LEAST ESPL__BOX_ROWS], const espl__cluster_entry *entry,
                        uint32_t place)
{
    float before[ESPL__BOX_ROWS], now[ESPL__BOX_ROWS];
    espl__box_union both;

    copy_box_of(before, entry->before->boxes, place);
    copy_box_of(now, entry->poses->boxes, place);
    espl__box_union_clear(&both);
    espl__box_union_add(&both, before);
    espl__box_union_add(&both, now);
    espl__box_union_get(box, &both);
}

void espl__box_between_poses(float box[ESPL__LEAST ESPL__BOX_ROWS],
                             const espl__cluster_entry *entry, uint32_t place,
                             const espl_pose *pose)
{
    const espl__values *const values = entry->values;
    float local[ESPL__BOX_ROWS];

    if ((values->flags[place] & ESPL_RENDERABLE_UNION) != 0) {
        box_of_both(box, entry, place);
        return;
    }
    copy_box_of(local, values->local, place);
    espl__box_of_pose(box, pose,
                      values->stretches != NULL ? values->stretches->stretch[place] : NULL, local);
}

static void blend_boxes(const espl__cull *cull, const espl__cluster_entry *entry,
                        espl__box_rows boxes)
{
    const espl__values *const values = entry->values;
    espl_pose poses[ESPL__CLUSTER_SIZE], saved[ESPL__CLUSTER_SIZE];
    uint64_t finite[ESPL__MEMBER_WORDS];

    memcpy(poses, entry->poses->poses, values->count * sizeof *poses);
    // Kernels read whole vectors.
    for (uint32_t i = values->count; i % ESPL__BOX_PADDING != 0; ++i) {
        poses[i] = poses[0];
    }
    cull->kernels->blend(poses, saved, entry->before->poses, places, values->count, &cull->blend);
    cull->kernels->boxes->of_poses(
        boxes, finite, poses, values->local,
        values->stretches != NULL ? (const float(*)[3])values->stretches->stretch : NULL,
        values->count);
    if ((values->flags_any & ESPL_RENDERABLE_UNION) == 0) {
        return;
    }
    for (uint32_t i = 0; i < values->count; ++i) {
        float box[ESPL__BOX_ROWS];

        if ((values->flags[i] & ESPL_RENDERABLE_UNION) != 0) {
            box_of_both(box, entry, i);
            for (int k = 0; k < ESPL__BOX_ROWS; ++k) {
                boxes[k][i] = box[k];
            }
        }
    }
}

const float (*espl__boxes_at(const espl__cull *cull, const espl__cluster_entry *entry,
                             espl__box_rows room))[ESPL__BOXES]
{
    if (cull->time == ESPL__CULL_NOW || entry->before == entry->poses) {
        return entry->poses->boxes;
    }
    if (cull->time == ESPL__CULL_BEFORE) {
        return entry->before->boxes;
    }
    blend_boxes(cull, entry, room);
    return (const float(*)[ESPL__BOXES])room;
}

const espl_pose *espl__pose_at(const espl__cull_result *result, const espl__cluster_entry *entry,
                               uint32_t place, espl_pose *room)
{
    if (result->time == ESPL__CULL_NOW || entry->before == entry->poses) {
        return &entry->poses->poses[place];
    }
    if (result->time == ESPL__CULL_BEFORE) {
        return &entry->before->poses[place];
    }
    *room =
        espl__pose_blend(&result->blend, &entry->before->poses[place], &entry->poses->poses[place]);
    return room;
}
