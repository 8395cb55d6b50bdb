// SPDX-License-Identifier: MIT
// The conductor: runs the stages, and cleans up behind them whatever they came to.
#include "lib/commands/short.h"

#include <string.h>

_Static_assert(ESPL_REASON_COUNT == 1 - ESPL_ERR_NOT_OWNER, "a report counts every reason");

void espl__playback_init(espl__playback *playback, espl__heap *heap, espl__store *store,
                         espl__forest *forest, const espl_executor *executor,
                         const espl_hooks *hooks)
{
    *playback = (espl__playback){
        .heap = heap,
        .store = store,
        .forest = forest,
        .executor = executor,
        .hooks = hooks,
        .wide = ESPL__WIDE,
    };
    espl__arena_init(&playback->arena, heap, ESPL__FOR_COMMANDS);
}

void espl__playback_trim(espl__playback *playback)
{
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->run_marks);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->slot_marks);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->source_marks);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->chunk_marks);
    espl__arena_free(&playback->arena);
}

void espl__playback_free(espl__playback *playback)
{
    espl__playback_trim(playback);
    espl__callbacks_free(playback->heap, &playback->callbacks);
}

size_t espl__playback_bytes(const espl__playback *playback)
{
    return ESPL_ARRAY_BYTES(playback->run_marks) + ESPL_ARRAY_BYTES(playback->slot_marks) +
           ESPL_ARRAY_BYTES(playback->source_marks) + ESPL_ARRAY_BYTES(playback->chunk_marks) +
           espl__arena_bytes(&playback->arena);
}

bool espl__marks_reserve(espl__heap *heap, uint32_t **marks, size_t count)
{
    const size_t length = espl__array_length(*marks);

    if (count <= length) {
        return true;
    }
    // There is no room to be found: all of it counts at once, so that marks grow as rarely as the
    // array does.
    if (!espl__array_reserve(heap, ESPL__FOR_COMMANDS, (void **)marks, sizeof **marks,
                             count - length)) {
        return false;
    }
    const size_t room = espl__array_capacity(*marks);

    memset(*marks + length, 0, (room - length) * sizeof **marks);
    espl__array_set_length(*marks, room);
    return true;
}

static void begin(espl__playback *playback, espl__lane_view *lanes, uint32_t lane_count,
                  uint32_t tag)
{
    playback->lanes = lanes;
    playback->lane_count = lane_count;
    playback->tag = tag;
    playback->recipe_count = 0;
    playback->touched_count = playback->group_count = playback->plot_count = 0;
    playback->make_count = playback->move_count = playback->removal_count = 0;
    playback->gift_count = 0;
    playback->batch_count = playback->lost_count = 0;
    playback->moved_nodes = playback->row_batches = playback->call_count = 0;
    for (uint32_t i = 0; i < lane_count; ++i) {
        playback->call_count += lanes[i].call_count;
    }
    playback->first_refused = UINT32_MAX;
}

// Side arrays that were taken for plots which are not to be.
static void drop_plots(espl__playback *playback)
{
    for (size_t i = 0; i < playback->plot_count; ++i) {
        espl__side_free(playback->heap, playback->plots[i].side);
    }
}

static void trim_one(espl__playback *playback, uint32_t **marks, size_t count)
{
    if (espl__array_length(*marks) > 4 * count + 1024) {
        ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, *marks);
    }
}

// Marks stay as long as they are not many times what is there to be marked. Asked after a pack,
// which leaves fewer runs where solos were put together.
static void trim_marks(espl__playback *playback)
{
    trim_one(playback, &playback->run_marks, playback->forest->run_end);
    trim_one(playback, &playback->slot_marks, playback->forest->end);
    trim_one(playback, &playback->chunk_marks, espl__array_length(playback->store->chunks));
}

static void end(espl__playback *playback)
{
    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->run_marks[playback->touched[i].run] = 0;
    }
    espl__recipes_forget(playback);
    espl__works_drop(playback);
    ESPL_ARRAY_FREE(playback->heap, ESPL__FOR_COMMANDS, playback->references);
    espl__arena_reset(&playback->arena);
}

// Where all is to be done or nothing, a plan with a refused command fails.
static espl_status check_plan(espl__playback *playback)
{
    for (size_t i = 0; playback->is_strict && i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (entry->status < 0) {
            playback->first_refused = entry->index;
            return entry->status;
        }
    }
    return ESPL_OK;
}

// Stages 1 to 4: read only, may fail.
static espl_status prepare(espl__playback *playback)
{
    espl__watch *const watch = &playback->watch;
    espl_status status = espl__stage_order(playback);

    if (status != ESPL_OK) {
        return status;
    }
    espl__calls_take(playback);
    espl__watch_stage(watch, ESPL_STAGE_CLASSIFY);
    status = espl__stage_classify(playback);
    if (status != ESPL_OK) {
        return status;
    }
    espl__watch_stage(watch, ESPL_STAGE_GROUP);
    status = espl__stage_group(playback);
    if (status != ESPL_OK) {
        return status;
    }
    espl__watch_stage(watch, ESPL_STAGE_PLAN);
    status = espl__stage_plan(playback);
    status = status != ESPL_OK ? status : check_plan(playback);
    status = status != ESPL_OK ? status : espl__stage_reserve(playback);
    return status != ESPL_OK || playback->reserve_more == NULL
               ? status
               : playback->reserve_more(playback->more_context);
}

static void fill_counts(const espl__playback *playback, espl_report *report)
{
    report->pendings = playback->pending_count;
    report->moved_nodes = playback->moved_nodes;
    report->row_batches = playback->row_batches;
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];
        const size_t size = group->entry_end - group->entry_begin;

        report->largest_group = size > report->largest_group ? size : report->largest_group;
    }
}

// Stages 5 to 7: cannot fail.
static void commit(espl__playback *playback, espl_report *report)
{
    espl__heap_forbid(playback->heap);
    espl__watch_stage(&playback->watch, ESPL_STAGE_CHANGE);
    espl__stage_change(playback);
    espl__watch_stage(&playback->watch, ESPL_STAGE_PATCH);
    espl__stage_patch(playback);
    espl__watch_stage(&playback->watch, ESPL_STAGE_REPORT);
    espl__stage_report(playback, report);
    espl__calls_report(playback, report);
    fill_counts(playback, report);
    espl__heap_allow(playback->heap);
}

espl_status espl__playback_run(espl__playback *playback, espl__lane_view *lanes,
                               uint32_t lane_count, uint32_t tag, espl_report *report)
{
    begin(playback, lanes, lane_count, tag);
    const espl_status status = prepare(playback);

    if (status == ESPL_OK) {
        commit(playback, report);
    } else {
        drop_plots(playback);
    }
    end(playback);
    if (status == ESPL_OK && espl__forest_wants_pack(playback->forest)) {
        // Without memory the pool stays as it is; the next playback tries again.
        (void)espl__forest_pack(playback->forest, espl__entity_record_slot, playback->store);
    }
    trim_marks(playback);
    return status;
}
