// SPDX-License-Identifier: MIT
// Histories: a log of what the shadow of the world was, and the blocks that the world retires. All memory is
// taken when a history is made and where the world takes memory itself.
#include "lib/base/reserved.h"
#include "lib/value/follow.h"
#include "lib/value/rewind.h"
#include "lib/world/refusals.h"
#include "lib/world/tape.h"

#include <espalier/history.h>

#include <string.h>

enum { FRAMES = 8, MOST_FRAMES = 65536, BYTES = 16 * 1024 * 1024 };

struct espl_history {
    espl_world *world;
    espl__following *following;
    espl__undo_log log;
    bool has_checksums;
};

// --- The log ---

// An entry that is dropped: the log held a name.
static void drop(void *context, const espl__undo_key *key, const void *content)
{
    espl_history *const history = context;
    espl__held_name name = {NULL};

    if (key->kind == ESPL__SHADOW_NAME) {
        memcpy(&name, content, sizeof name);
        history->log.names -= 1;
        espl__name_let_go(history->following->names, &history->world->heap, name.text);
    }
}

// --- Making ---

static const char *find_history_fault(const espl_world *world, const espl_history_def *def,
                                      const void *out)
{
    if (world == NULL || out == NULL) {
        return "out is NULL.";
    }
    if ((def->flags & ~(uint32_t)ESPL_HISTORY_HASH) != 0) {
        return "espl_history_def.flags has an unknown bit.";
    }
    return def->frames > MOST_FRAMES ? "espl_history_def.frames is above 65,536." : NULL;
}

static void free_history(espl_history *history)
{
    espl__heap *const heap = &history->world->heap;

    espl__undo_end(&history->log, heap);
    espl__heap_give(heap, ESPL__FOR_CHANGES, history, 1, sizeof *history,
                    _Alignof(espl__max_align));
}

static espl_status create(espl_world *world, const espl_history_def *def, espl_history **out)
{
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    if (world->history != NULL) {
        return ESPL_ERR_EXISTS;
    }
    espl_history *const history = espl__heap_take(&world->heap, ESPL__FOR_CHANGES, 1,
                                                  sizeof *history, _Alignof(espl__max_align));

    if (history == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    *history = (espl_history){.world = world,
                              .log = {.drop = drop, .context = history},
                              .has_checksums = (def->flags & ESPL_HISTORY_HASH) != 0};
    if (espl__undo_begin(&history->log, &world->heap,
                         def->byte_limit != 0 ? def->byte_limit : BYTES,
                         def->frames != 0 ? def->frames : FRAMES)) {
        history->following = espl__follow(world, history->has_checksums);
    }
    if (history->following == NULL) {
        free_history(history);
        return ESPL_ERR_NO_MEMORY;
    }
    history->following->shadow.log = &history->log;
    history->following->history_bytes = sizeof *history + history->log.limit +
                                        history->log.frame_limit * sizeof *history->log.frames;
    world->history = history;
    *out = history;
    return ESPL_OK;
}

espl_status espl_history_create(espl_world *world, const espl_history_def *def, espl_history **out)
{
    static const char *const call = "espl_history_create";
    const espl_history_def defaults = {0};
    const espl_history_def *const d = def != NULL ? def : &defaults;

    ESPL__CHANGE_OR_RETURN(world, call)
    const char *const fault = find_history_fault(world, d, out);

    if (fault != NULL) {
        return espl__refuse_call(world, call, ESPL_ERR_ARGUMENT, fault);
    }
    if (ESPL__ASKS_LATER(d)) {
        return espl__refuse_later(world, call);
    }
    const espl_status status =
        ESPL__TAPED(world, create(world, d, out), .op = ESPL_TAPE_HISTORY_CREATE, .history = d);

    return espl__refuse_call(world, call, status,
                             "The world has a history already; destroy that one first.");
}

// --- The end ---

// Trap because a job or a playback may need the memory that the history has.
static void trap_in_use(const espl_world *world)
{
    espl__message m;

    (void)espl__message_begin(&m, &world->hooks, "espl_history_destroy", NULL);
    espl__message_trap(&m, __FILE__, __LINE__,
                       "A playback, a write or a query is under way; wait until it has ended.");
}

static espl_status destroy(espl_history *history)
{
    espl_world *const world = history->world;

    espl__follow_drop_frames(history->following);
    history->following->shadow.log = NULL;
    history->following->history_bytes = 0;
    world->history = NULL;
    espl__unfollow(history->following);
    free_history(history);
    return ESPL_OK;
}

void espl_history_destroy(espl_history *history)
{
    if (history == NULL) {
        return;
    }
    espl_world *const world = history->world;

    ESPL__HOLD_OR_RETURN(&world->holder, "espl_history_destroy", )
    if (espl__check_structural(world) != ESPL_OK) {
        trap_in_use(world);
        return;
    }
    (void)ESPL__TAPED(world, destroy(history), .op = ESPL_TAPE_HISTORY_DESTROY);
}

// --- Marks ---

static bool is_later(const espl__undo_log *log, uint64_t frame)
{
    return log->count == 0 || frame > espl__undo_frame_at(log, log->count - 1)->frame;
}

static espl_status mark(espl_history *history, uint64_t frame)
{
    espl_world *const world = history->world;
    espl__heap *const heap = &world->heap;
    espl__undo_log *const log = &history->log;
    const espl_status busy = espl__check_structural(world);

    if (busy != ESPL_OK) {
        return busy;
    }
    if (!is_later(log, frame)) {
        return ESPL_ERR_ARGUMENT;
    }
    espl__heap_forbid(heap);
    espl__shadow_update(&history->following->shadow);
    heap->retired.is_on = true;
    espl__retired_age(heap);
    const bool is_kept =
        espl__undo_mark(log, &(espl__undo_frame){.frame = frame,
                                                 .checksum = history->following->shadow.checksum,
                                                 .age = heap->retired.age});

    espl__retired_drop(heap, espl__undo_frame_at(log, 0)->age);
    espl__heap_allow(heap);
    return is_kept ? ESPL_OK : ESPL_PARTLY;
}

// The world of a history, for the begin of a call; NULL where there is none.
static espl_world *world_behind(const espl_history *history)
{
    return history != NULL ? history->world : NULL;
}

// Log the status of a call for a frame, also a remark, with the frames that there are. Without `why` the message
// has the sentence of the status.
static espl_status log_frame(const espl_history *history, const char *call, uint64_t frame,
                             espl_status status, const char *why)
{
    uint64_t oldest = 0, newest = 0;
    espl__message m;

    if (status == ESPL_OK || !espl__message_begin(&m, &history->world->hooks, call, NULL)) {
        return status;
    }
    espl__message_status(&m, status);
    if (espl_history_range(history, &oldest, &newest)) {
        espl__message_part(&m, "frame %llu, the history has %llu to %llu",
                           (unsigned long long)frame, (unsigned long long)oldest,
                           (unsigned long long)newest);
    } else {
        espl__message_part(&m, "frame %llu, the history has none", (unsigned long long)frame);
    }
    espl__message_send(&m, ESPL_LOG_WARNING, "%s", why != NULL ? why : espl_status_text(status));
    return status;
}

espl_status espl_history_mark(espl_history *history, uint64_t frame)
{
    static const char *const call = "espl_history_mark";
    espl_world *const world = world_behind(history);
    espl_status status = ESPL_ERR_ARGUMENT;

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world != NULL) {
        status = ESPL__TAPED(world, mark(history, frame), .op = ESPL_TAPE_MARK, .frame = frame);
    }
    if (world != NULL && status == ESPL_PARTLY) {
        return log_frame(
            history, call, frame, status,
            "What changed since the frame before is more than byte_limit, so that this frame is "
            "marked and is the only one; make a history with more bytes, or mark more often.");
    }
    return world != NULL && status == ESPL_ERR_ARGUMENT
               ? log_frame(history, call, frame, status, "A frame must be above the newest one.")
               : espl__refuse_call(world, call, status, "history is NULL.");
}

// --- Rewinds ---

// Return the place of a frame in the log, or the count of all.
static uint32_t find_frame(const espl__undo_log *log, uint64_t frame)
{
    uint32_t begin = 0, end = log->count;

    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (espl__undo_frame_at(log, middle)->frame < frame) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < log->count && espl__undo_frame_at(log, begin)->frame == frame ? begin
                                                                                 : log->count;
}

static espl_status rewind_to(espl_history *history, uint64_t frame, uint32_t flags,
                             espl_rewind *report)
{
    espl_world *const world = history->world;
    const espl_status busy = espl__check_structural(world);
    const uint32_t at = find_frame(&history->log, frame);

    if (busy != ESPL_OK) {
        return busy;
    }
    if (at == history->log.count) {
        return ESPL_ERR_TOO_OLD;
    }
    espl__heap_forbid(&world->heap);
    espl__rewind(&history->following->shadow, at, flags, report);
    espl__heap_allow(&world->heap);
    world->timeline += 1;
    return ESPL_OK;
}

espl_status espl_history_rewind(espl_history *history, uint64_t frame, uint32_t flags,
                                espl_rewind *report)
{
    static const char *const call = "espl_history_rewind";
    espl_world *const world = world_behind(history);
    espl_status status = ESPL_ERR_ARGUMENT;
    espl_rewind found = {0};

    ESPL__CHANGE_OR_RETURN(world, call)
    if (world != NULL && (flags & ~(uint32_t)ESPL_REWIND_FRESH) == 0) {
        status = ESPL__TAPED(world, rewind_to(history, frame, flags, &found),
                             .op = ESPL_TAPE_REWIND, .frame = frame, .word = flags);
    }
    if (status == ESPL_OK && report != NULL) {
        *report = found;
    }
    return status == ESPL_ERR_TOO_OLD
               ? log_frame(history, call, frame, status, NULL)
               : espl__refuse_call(world, call, status,
                                   "history is NULL, or flags has an unknown bit.");
}

// --- Questions ---

bool espl_history_range(const espl_history *history, uint64_t *oldest, uint64_t *newest)
{
    if (history == NULL || history->log.count == 0) {
        return false;
    }
    if (oldest != NULL) {
        *oldest = espl__undo_frame_at(&history->log, 0)->frame;
    }
    if (newest != NULL) {
        *newest = espl__undo_frame_at(&history->log, history->log.count - 1)->frame;
    }
    return true;
}

espl_status espl_history_hash(const espl_history *history, uint64_t frame, uint64_t *out)
{
    const espl_world *const world = world_behind(history);
    espl_status status = ESPL_OK;

    if (history == NULL || out == NULL) {
        status = ESPL_ERR_ARGUMENT;
    } else if (!history->has_checksums) {
        status = ESPL_ERR_UNSUPPORTED;
    } else {
        const uint32_t at = find_frame(&history->log, frame);

        status = at == history->log.count ? ESPL_ERR_TOO_OLD : ESPL_OK;
        if (status == ESPL_OK) {
            *out = espl__undo_frame_at(&history->log, at)->checksum;
        }
    }
    if (status == ESPL_ERR_TOO_OLD) {
        return log_frame(history, "espl_history_hash", frame, status, NULL);
    }
    return espl__refuse_call(
        world, "espl_history_hash", status,
        status == ESPL_ERR_UNSUPPORTED
            ? "The history keeps no checksums; create it with ESPL_HISTORY_HASH."
            : "history or out is NULL.");
}
