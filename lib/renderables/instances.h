// SPDX-License-Identifier: MIT
// Instances: poses, entities and user data of renderables, written to arrays of the caller. The arrays may
// be mapped memory of a device, so that each is written in ascending order and never read.
#ifndef ESPALIER_LIB_RENDERABLES_INSTANCES_H
#define ESPALIER_LIB_RENDERABLES_INSTANCES_H

#include "lib/math/kernels.h"
#include "lib/renderables/blocks.h"

enum { ESPL__INSTANCE_BATCH = 64 };

/// Renderables that are written together, so that a prefetch of their memory is under way.
typedef struct espl__instances {
    uint32_t count;
    bool has_stretch; // one of them may have another than 1, 1, 1
    const espl_pose *poses[ESPL__INSTANCE_BATCH];
    const espl__cluster_entry *entries[ESPL__INSTANCE_BATCH];
    uint32_t places[ESPL__INSTANCE_BATCH]; // in the cluster
} espl__instances;

/// Check arrays of the caller. @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_UNSUPPORTED.
espl_status espl__instances_check(const espl_instance_arrays *arrays);

/// What positions are written relative to.
typedef struct espl__viewpoint {
    const espl_mirror *mirror; // that the batch is of
    const espl_camera *camera; // its cell and origin; NULL: positions are written as they are
} espl__viewpoint;

/// Write a batch.
/// @param first  the number of the first instance in the arrays.
void espl__instances_write(const espl_instance_arrays *arrays, size_t first,
                           const espl__instances *batch, const espl__viewpoint *from,
                           const espl__box_kernels *kernels);

/// Add a member of a cluster to a batch, with the pose that it has now.
static inline void espl__instances_add(espl__instances *batch, const espl__cluster_entry *entry,
                                       uint32_t place)
{
    const uint32_t i = batch->count++;

    ESPL_CHECK_FULL(i < ESPL__INSTANCE_BATCH && place < entry->values->count);
    batch->poses[i] = &entry->poses->poses[place];
    batch->entries[i] = entry;
    batch->places[i] = place;
}

#endif
