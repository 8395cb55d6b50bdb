// SPDX-License-Identifier: MIT
// Counterparts: entities that stand for those of another world.
#include "internal.h"

int native_set_counterpart(native_world *w, int64_t entity, int64_t original)
{
    return espl_set_counterpart(native_enter(w), native_from(entity), native_from(original));
}

int64_t native_find_counterpart(const native_world *w, int64_t original)
{
    return native_to(espl_find_counterpart(native_peek(w), native_from(original)));
}

int64_t native_get_original(const native_world *w, int64_t entity)
{
    return native_to(espl_get_original(native_peek(w), native_from(entity)));
}

int native_place(native_world *w, const native_world *from, int64_t original,
                 const native_placing *placing, int64_t *out)
{
    espl_entity made = {0, 0};
    espl_placing_def def = {.extent = (espl_extent)placing->extent,
                            .parent = native_from(placing->parent),
                            .before = native_from(placing->before),
                            .place = (espl_place)placing->place,
                            .components = placing->components,
                            .component_count = placing->component_count};

    if (placing->transform != NULL) {
        def.transform = *placing->transform;
    }
    const espl_status status = espl_place_counterparts(native_enter(w), native_peek(from),
                                                       native_from(original), &def, &made);

    *out = native_to(made);
    return status;
}

int native_follow(native_world *w, const native_changes *changes, int kind, int removed,
                  uint32_t flags, espl_follow_report *report)
{
    const espl_changes collected = {.removed = changes->removed,
                                    .added = changes->added,
                                    .changed = changes->changed,
                                    .removed_count = changes->removed_count,
                                    .added_count = changes->added_count,
                                    .changed_count = changes->changed_count,
                                    .added_worlds = changes->added_worlds,
                                    .changed_worlds = changes->changed_worlds,
                                    .added_locals = changes->added_locals,
                                    .changed_locals = changes->changed_locals,
                                    .added_cells = changes->added_cells,
                                    .changed_cells = changes->changed_cells,
                                    .cell_size = changes->cell_size};
    const espl_follow_def def = {
        .kind = (espl_follow_kind)kind, .removed = (espl_extent)removed, .flags = flags};

    return espl_follow(native_enter(w), &collected, &def, report);
}
