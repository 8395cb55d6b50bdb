// SPDX-License-Identifier: MIT
// What readers ask of a mirror: espl_mirror_describe(), espl_mirror_changed(), espl_mirror_write(). None reads
// a world, so that none logs: the log hook belongs to the thread of the world.
#include "lib/renderables/instances.h"

void espl_mirror_describe(const espl_mirror *mirror, espl_mirror_description *out)
{
    if (out == NULL) {
        return;
    }
    *out = (espl_mirror_description){0};
    if (mirror != NULL && espl__mirror_is_valid(mirror)) {
        out->number = mirror->number;
        out->renderables = mirror->renderables;
        out->clusters = mirror->clusters;
        out->user = mirror->user;
    }
}

// From 0 on, a cluster that came and went was never there.
static bool is_listed(const espl_mirror *mirror, uint32_t cluster, uint64_t since)
{
    return since == 0 ? mirror->entries[cluster].values != NULL : mirror->changed[cluster] > since;
}

size_t espl_mirror_changed(const espl_mirror *mirror, uint64_t since, size_t capacity,
                           uint32_t *clusters)
{
    const size_t room = clusters != NULL ? capacity : 0;
    size_t count = 0;

    if (mirror == NULL || !espl__mirror_is_valid(mirror) || since >= mirror->number) {
        return 0;
    }
    for (uint32_t i = 0; i < mirror->clusters; ++i) {
        if (is_listed(mirror, i, since)) {
            if (count < room) {
                clusters[count] = i;
            }
            count += 1;
        }
    }
    return count;
}

espl_status espl_mirror_write(const espl_mirror *mirror, uint32_t cluster,
                              const espl_instance_arrays *arrays, size_t *count)
{
    const espl__box_kernels *const kernels = espl__kernels_best()->boxes;
    const espl_status status = espl__instances_check(arrays);

    if (mirror == NULL || status != ESPL_OK) {
        return mirror == NULL ? ESPL_ERR_ARGUMENT : status;
    }
    // The memory of one that ended may be written by the thread of the world.
    if (!espl__mirror_is_valid(mirror)) {
        return ESPL_ERR_DEAD;
    }
    if (cluster >= mirror->clusters) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl__cluster_entry *const entry = &mirror->entries[cluster];
    const uint32_t places = entry->values != NULL ? entry->values->count : 0;
    uint32_t written = 0;

    for (uint32_t place = 0; place < places;) {
        espl__instances batch;

        batch.count = 0;
        batch.has_stretch = entry->values->stretches != NULL;
        for (; place < places && batch.count < ESPL__INSTANCE_BATCH; ++place) {
            if (espl__entry_has(entry, place)) {
                espl__instances_add(&batch, entry, place);
            }
        }
        espl__instances_write(arrays, written, &batch, &(espl__viewpoint){mirror, NULL}, kernels);
        written += batch.count;
    }
    if (count != NULL) {
        *count = written;
    }
    return ESPL_OK;
}
