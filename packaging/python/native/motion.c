// SPDX-License-Identifier: MIT
// Watches, and motion between ticks.
#include "internal.h"

#include <stdlib.h>

// --- Watches ---

struct native_watch {
    native_owned owned;
    espl_watch *watch; // NULL once closed
};

static bool end_watch(native_owned *owned)
{
    native_watch *const watch = (native_watch *)owned;

    espl_watch_destroy(watch->watch);
    watch->watch = NULL;
    return true;
}

int native_watch_create(native_world *w, const native_terms *filter, uint32_t flags,
                        native_watch **out)
{
    espl_world *const world = native_enter(w);
    native_watch *const watch = calloc(1, sizeof *watch);
    const espl_query_def query = native_query_def(filter);
    const espl_watch_def def = {.filter = &query, .flags = flags};
    const espl_status status =
        watch != NULL ? espl_watch_create(world, &def, &watch->watch) : ESPL_ERR_NO_MEMORY;

    if (status != ESPL_OK) {
        free(watch);
        return status;
    }
    native_own(w, &watch->owned, end_watch);
    *out = watch;
    return ESPL_OK;
}

void native_watch_close(native_watch *watch)
{
    (void)end_watch(&watch->owned);
}

void native_watch_release(native_watch *watch)
{
    native_disown(&watch->owned);
}

int native_watch_collect(native_watch *watch, uint64_t since, native_changes *out)
{
    espl_changes changes = {0};

    (void)native_enter(watch->owned.w);
    const espl_status status = espl_watch_collect(watch->watch, since, &changes);

    if (status < 0) {
        return status;
    }
    *out = (native_changes){
        .removed = changes.removed,
        .added = changes.added,
        .changed = changes.changed,
        .kinds = changes.kinds,
        .added_worlds = changes.added_worlds,
        .changed_worlds = changes.changed_worlds,
        .added_locals = changes.added_locals,
        .changed_locals = changes.changed_locals,
        .changed_before = changes.changed_before,
        .added_cells = changes.added_cells,
        .changed_cells = changes.changed_cells,
        .cell_size = changes.cell_size,
        .removed_count = changes.removed_count,
        .added_count = changes.added_count,
        .changed_count = changes.changed_count,
        .moment = changes.moment,
        .is_coarse = changes.is_coarse,
    };
    return status;
}

// --- Motion ---

int native_motion_start(native_world *w, uint32_t history)
{
    const espl_motion_def def = {.history = history};

    return espl_motion_start(native_enter(w), &def);
}

int native_motion_stop(native_world *w)
{
    return espl_motion_stop(native_enter(w));
}

int native_tick_begin(native_world *w)
{
    return espl_tick_begin(native_enter(w));
}

int native_tick_end(native_world *w)
{
    return espl_tick_end(native_enter(w));
}

int native_present(native_world *w, float at, espl_present_report *report)
{
    return espl_present(native_enter(w), at, report);
}

// --- Large worlds ---

int native_rebase(native_world *w, const int32_t *cells, const float *offset)
{
    return espl_rebase(native_enter(w), cells, offset);
}

int native_recenter(native_world *w, float limit, size_t *count)
{
    return espl_recenter(native_enter(w), limit, count);
}
