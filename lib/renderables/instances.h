// SPDX-License-Identifier: MIT
// Instances: poses, entities and user data of renderables, written to arrays of the caller. The arrays may
// be mapped memory of a device, so that each is written in ascending order and never read.
#ifndef ESPALIER_LIB_RENDERABLES_INSTANCES_H
#define ESPALIER_LIB_RENDERABLES_INSTANCES_H

#include "lib/renderables/blocks.h"

enum { ESPL__INSTANCE_BATCH = 64 };

/// A renderable that is written.
typedef struct espl__instance {
    const espl_pose *pose;
    const espl_pose *before; // of the mirror before
    const float *stretch;    // NULL: 1, 1, 1
    const espl__values *values;
    uint32_t place; // of the member in the values
} espl__instance;

/// Instances that are written together: a prefetch of their memory is under way.
typedef struct espl__instances {
    uint32_t count;
    espl__instance of[ESPL__INSTANCE_BATCH];
} espl__instances;

/// Check arrays of the caller. @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_UNSUPPORTED.
espl_status espl__instances_check(const espl_instance_arrays *arrays);

/// Write a batch.
/// @param first   the number of the first instance in the arrays.
/// @param origin  [3] subtracted from positions.
void espl__instances_write(const espl_instance_arrays *arrays, size_t first,
                           const espl__instances *batch, const double origin[ESPL__LEAST 3]);

/// Set the instance of a member.
/// @param pose  NULL: that of the entry.
static inline espl__instance espl__instance_of(const espl__cluster_entry *entry, uint32_t place,
                                               const espl_pose *pose)
{
    const espl__stretches *const stretches = entry->values->stretches;

    return (espl__instance){.pose = pose != NULL ? pose : &entry->poses->poses[place],
                            .before = &entry->before->poses[place],
                            .stretch = stretches != NULL ? stretches->stretch[place] : NULL,
                            .values = entry->values,
                            .place = place};
}

#endif
