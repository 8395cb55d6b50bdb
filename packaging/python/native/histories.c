// SPDX-License-Identifier: MIT
// Histories.
#include "internal.h"

#include <stdlib.h>

struct native_history {
    native_owned owned;
    espl_history *history; // NULL once closed
};

static bool end_history(native_owned *owned)
{
    native_history *const h = (native_history *)owned;

    if (h->history != NULL && owned->w->open_queries != 0) {
        return false;
    }
    espl_history_destroy(h->history);
    h->history = NULL;
    return true;
}

int native_history_create(native_world *w, uint32_t frames, size_t byte_limit, uint32_t flags,
                          native_history **out)
{
    espl_world *const world = native_enter(w);
    native_history *const h = calloc(1, sizeof *h);
    const espl_history_def def = {.frames = frames, .byte_limit = byte_limit, .flags = flags};
    const espl_status status =
        h != NULL ? espl_history_create(world, &def, &h->history) : ESPL_ERR_NO_MEMORY;

    if (status != ESPL_OK) {
        free(h);
        return status;
    }
    native_own(w, &h->owned, end_history);
    *out = h;
    return ESPL_OK;
}

int native_history_close(native_history *h)
{
    return end_history(&h->owned) ? ESPL_OK : ESPL_ERR_BUSY;
}

void native_history_release(native_history *h)
{
    native_disown(&h->owned);
}

int native_history_mark(native_history *h, uint64_t frame)
{
    (void)native_enter(h->owned.w);
    return espl_history_mark(h->history, frame);
}

int native_history_rewind(native_history *h, uint64_t frame, uint32_t flags, native_rewind *out)
{
    espl_rewind report = {0};

    (void)native_enter(h->owned.w);
    const espl_status status = espl_history_rewind(h->history, frame, flags, &report);

    *out = (native_rewind){report.unborn, report.revived, report.unborn_count,
                           report.revived_count};
    return status;
}

int native_history_range(const native_history *h, uint64_t *oldest, uint64_t *newest)
{
    return espl_history_range(h->history, oldest, newest);
}

int native_history_hash(const native_history *h, uint64_t frame, uint64_t *out)
{
    return espl_history_hash(h->history, frame, out);
}
