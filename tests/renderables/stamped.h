// SPDX-License-Identifier: MIT
// Contents of blocks that follow from a number, a stamp, so that a block that was used again too early is
// noticed.
#ifndef ESPALIER_TESTS_RENDERABLES_STAMPED_H
#define ESPALIER_TESTS_RENDERABLES_STAMPED_H

#include "lib/renderables/blocks.h"

static inline uint64_t mix_stamp(uint64_t stamp, uint64_t i)
{
    uint64_t x = stamp * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(0xbf58476d1ce4e5b9) + 1;

    x ^= x >> 31;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 29;
}

static inline float mixed_float(uint64_t stamp, uint64_t i)
{
    return (float)(mix_stamp(stamp, i) % 65536);
}

static inline uint32_t members_of(uint64_t stamp)
{
    return 1 + (uint32_t)(mix_stamp(stamp, 0) % ESPL__CLUSTER_SIZE);
}

static inline void fill_values(espl__values *values, uint64_t stamp)
{
    values->count = members_of(stamp);
    for (uint32_t i = 0; i < values->count; ++i) {
        const uint64_t mixed = mix_stamp(stamp, i);

        values->entities[i] = (espl_entity){(uint32_t)mixed, (uint32_t)(mixed >> 32)};
        values->keys[i] = (uint32_t)mixed;
        values->user_data[i] = (uint32_t)(mixed >> 7);
        values->layers[i] = (uint32_t)(mixed >> 9);
        values->flags[i] = (uint32_t)(mixed >> 11);
        for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
            values->local[n][i] = mixed_float(stamp, i * 8 + (uint64_t)n);
        }
        for (int n = 0; n < 3 && values->stretches != NULL; ++n) {
            values->stretches->stretch[i][n] = mixed_float(stamp, i * 9 + (uint64_t)n);
        }
    }
}

static inline bool has_values(const espl__values *values, uint64_t stamp)
{
    bool is_same = values->count == members_of(stamp);

    for (uint32_t i = 0; i < values->count && is_same; ++i) {
        const uint64_t mixed = mix_stamp(stamp, i);

        is_same = values->entities[i].index == (uint32_t)mixed &&
                  values->entities[i].generation == (uint32_t)(mixed >> 32) &&
                  values->keys[i] == (uint32_t)mixed &&
                  values->user_data[i] == (uint32_t)(mixed >> 7) &&
                  values->layers[i] == (uint32_t)(mixed >> 9) &&
                  values->flags[i] == (uint32_t)(mixed >> 11);
        for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
            is_same = is_same && values->local[n][i] == mixed_float(stamp, i * 8 + (uint64_t)n);
        }
        for (int n = 0; n < 3 && values->stretches != NULL; ++n) {
            is_same = is_same &&
                      values->stretches->stretch[i][n] == mixed_float(stamp, i * 9 + (uint64_t)n);
        }
    }
    return is_same;
}

static inline void fill_poses(espl__poses *poses, uint64_t stamp)
{
    for (uint32_t i = 0; i < ESPL__CLUSTER_SIZE; ++i) {
        poses->poses[i] = (espl_pose){.rotation = {0, 0, 0, 1}};
        poses->poses[i].position[0] = mixed_float(stamp, i);
        poses->poses[i].scale = mixed_float(stamp, i + 1);
        poses->boxes[i % ESPL__BOX_NUMBERS][i] = mixed_float(stamp, i + 2);
    }
    for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
        poses->box[n] = mixed_float(stamp, (uint64_t)n);
    }
}

static inline bool has_poses(const espl__poses *poses, uint64_t stamp)
{
    bool is_same = true;

    for (uint32_t i = 0; i < ESPL__CLUSTER_SIZE; ++i) {
        is_same = is_same && poses->poses[i].position[0] == mixed_float(stamp, i) &&
                  poses->poses[i].scale == mixed_float(stamp, i + 1) &&
                  poses->boxes[i % ESPL__BOX_NUMBERS][i] == mixed_float(stamp, i + 2);
    }
    for (int n = 0; n < ESPL__BOX_NUMBERS; ++n) {
        is_same = is_same && poses->box[n] == mixed_float(stamp, (uint64_t)n);
    }
    return is_same;
}

#endif
