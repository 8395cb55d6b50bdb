// SPDX-License-Identifier: MIT
// The paths of path.h. Operations are those of espl__pose_compose_to(), from the lowest node to the
// highest, so that the memory does not depend on the length of a path.
#include "lib/tree/path.h"

void espl__rise_step(const espl__forest *forest, espl__rise *rise, uint32_t up)
{
    if (espl__slot_copies(forest, up)) {
        return;
    }
    const espl__extra extra = espl__slot_extra(forest, up);
    const espl_pose *const local = &forest->local[up];
    float away[3];

    for (int i = 0; i < 3; ++i) {
        away[i] = rise->pose.position[i] * extra.stretch[i];
        away[i] = (rise->has_offset ? away[i] + rise->offset[i] : away[i]) * local->scale;
    }
    const espl_pose below = rise->pose;

    espl__rotation_apply(rise->offset, local->rotation, away);
    espl__rotation_multiply(rise->pose.rotation, local->rotation, below.rotation);
    memcpy(rise->pose.position, local->position, sizeof local->position);
    rise->pose.scale = local->scale * below.scale;
    rise->has_offset = true;
}

espl_pose espl__rise_local(const espl__rise *rise, const float stretch[ESPL__LEAST 3])
{
    espl_pose local = rise->pose;

    for (int i = 0; i < 3 && rise->has_offset; ++i) {
        local.position[i] += stretch[i] != 0 ? rise->offset[i] / stretch[i] : rise->offset[i];
    }
    return local;
}
