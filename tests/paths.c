// SPDX-License-Identifier: MIT
// The pose of a node of the model relative to another one of its hierarchy, by the locals between both.
#include "tests/placing.h"

#include <espalier/quat.h>
#include <float.h>
#include <math.h>
#include <string.h>

// The pose of a node below an ancestor. Its position is that of the local of the topmost node between both,
// which the ancestor stretches, and an offset, which it does not.
typedef struct folded {
    bool has_pose, has_offset;
    espl_transform pose;
    float offset[3];
} folded;

static void fold(folded *f, const espl_transform *local)
{
    float away[3];

    if (!f->has_pose) {
        f->has_pose = true;
        f->pose = *local;
        return;
    }
    for (int i = 0; i < 3; ++i) {
        away[i] = f->pose.position[i] * local->stretch[i];
        away[i] = (f->has_offset ? away[i] + f->offset[i] : away[i]) * local->scale;
    }
    espl_quat_rotate(local->rotation, away, f->offset);
    espl_quat_multiply(local->rotation, f->pose.rotation, f->pose.rotation);
    memcpy(f->pose.position, local->position, sizeof local->position);
    f->pose.scale = local->scale * f->pose.scale;
    f->has_offset = true;
}

// @return false: a node between keeps a part of its world.
static bool fold_up_to(const test_model *model, uint32_t node, uint32_t top, folded *out)
{
    *out = (folded){.pose = espl_transform_identity()};
    for (uint32_t i = node; i != top; i = model->nodes[i].parent) {
        const model_node *const n = &model->nodes[i];

        if (!model_follows(n)) {
            if (n->state.flags != 0) {
                return false;
            }
            fold(out, &n->state.local);
        }
    }
    return true;
}

static espl_transform below(const folded *f, const float stretch[3])
{
    espl_transform pose = f->pose;

    memcpy(pose.stretch, espl_transform_identity().stretch, sizeof pose.stretch);
    for (int i = 0; i < 3 && f->has_pose; ++i) {
        pose.position[i] *= stretch[i];
        pose.position[i] += f->has_offset ? f->offset[i] : 0;
    }
    return pose;
}

static bool is_normal(const espl_transform *pose)
{
    return model_is_finite(pose) && fabsf(pose->scale) >= FLT_MIN;
}

// The local of a node as a child of its ancestor.
static bool unfold(const folded *f, const float stretch[3], espl_transform *out)
{
    espl_transform local = f->pose;

    for (int i = 0; i < 3 && f->has_offset; ++i) {
        if (stretch[i] == 0 && f->offset[i] != 0) {
            return false;
        }
        local.position[i] += stretch[i] != 0 ? f->offset[i] / stretch[i] : f->offset[i];
    }
    if (f->has_offset) {
        (void)!espl_transform_normalize(&local);
        if (!is_normal(&local)) {
            return false;
        }
    }
    model_copy_parts(out, &local, MODEL_POSE);
    return true;
}

static uint32_t find_ancestor(const test_model *model, uint32_t a, uint32_t b, uint32_t limit)
{
    uint32_t up = a;

    for (uint32_t links = 0; up != MODEL_NONE && links <= limit; ++links) {
        uint32_t at = b;

        for (uint32_t others = 0; at != MODEL_NONE && others <= limit; ++others) {
            if (at == up) {
                return up;
            }
            at = model->nodes[at].parent;
        }
        up = model->nodes[up].parent;
    }
    return MODEL_NONE;
}

bool model_path(const test_model *model, uint32_t frame, uint32_t node, uint32_t limit,
                espl_transform *out)
{
    const uint32_t top = find_ancestor(model, frame, node, limit);
    folded from, to;

    if (top == MODEL_NONE || !fold_up_to(model, node, top, &to) ||
        !fold_up_to(model, frame, top, &from)) {
        return false;
    }
    const float *const stretch = model->nodes[top].world.stretch;

    if (!from.has_pose) {
        return unfold(&to, stretch, out);
    }
    espl_transform above = below(&from, stretch);
    const espl_transform wanted = below(&to, stretch);
    espl_transform local = wanted;

    memcpy(above.stretch, model->nodes[frame].world.stretch, sizeof above.stretch);
    if (!is_normal(&above) || !is_normal(&wanted) ||
        espl_transform_relative(&above, &wanted, &local) != ESPL_OK || !model_is_finite(&local)) {
        return false;
    }
    model_copy_parts(out, &local, MODEL_POSE);
    return true;
}
