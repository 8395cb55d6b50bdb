// SPDX-License-Identifier: MIT
// Images and archives.
#include "internal.h"

size_t native_image_size(const native_world *w)
{
    return espl_image_size(native_peek(w));
}

int native_image_save(const native_world *w, void *bytes, size_t size)
{
    return espl_image_save(native_peek(w), bytes, size);
}

int native_image_load(native_world *w, const void *bytes, size_t size, uint32_t flags,
                      espl_format_fault *fault)
{
    return espl_image_load(native_enter(w), bytes, size, flags, fault);
}

uint64_t native_timeline(const native_world *w)
{
    return espl_world_timeline(native_peek(w));
}

int native_archive_write(const native_world *w, const native_archive *def, const espl_sink *sink)
{
    const espl_archive_def archive = {.tops = def->tops,
                                      .top_count = def->top_count,
                                      .extent = (espl_extent)def->extent,
                                      .flags = def->flags,
                                      .user = def->user,
                                      .user_size = def->user_size,
                                      .position_step = def->position_step,
                                      .rotation_bits = def->rotation_bits};

    return espl_archive_write(native_peek(w), &archive, sink);
}

static espl_archive_read_def reading_of(const native_reading *def)
{
    return (espl_archive_read_def){.parent = native_from(def->parent),
                                   .flags = def->flags,
                                   .migrations = def->migrations,
                                   .migration_count = def->migration_count,
                                   .node_limit = def->node_limit,
                                   .entities = def->entities,
                                   .capacity = def->capacity,
                                   .tops = def->tops,
                                   .top_capacity = def->top_capacity};
}

int native_archive_read(native_world *w, const void *bytes, size_t size, const native_reading *def,
                        espl_format_fault *fault)
{
    const espl_archive_read_def reading = reading_of(def);

    return espl_archive_read(native_enter(w), bytes, size, &reading, fault);
}

int native_archive_apply(native_world *w, const void *bytes, size_t size, const native_reading *def,
                         const native_known *known, espl_format_fault *fault)
{
    const espl_archive_read_def reading = reading_of(def);
    const espl_archive_known last = {known->bytes, known->size, known->entities, known->count};

    return espl_archive_apply(native_enter(w), bytes, size, &reading,
                              known->bytes != NULL ? &last : NULL, fault);
}
