// SPDX-License-Identifier: MIT
// Command buffers: their lifetime, the queue of submitted buffers for espl_sync(), and the results
// of played buffers; see command_buffer.h.
//
// Invariants: a buffer is in the queue exactly if is_submitted; the queue is in ascending order of
// submission. Only the thread that changes the world calls these functions, except for
// espl_command_buffer_recorder() and _count(), which read.
//
// A buffer goes through three states: it is recorded, perhaps submitted, and played. A reset
// returns it to the first from any of them. The playback frees nothing: commands, payloads and
// results stay until the reset, which keeps their memory, or the end of the buffer.
#include "lib/commands/explain.h"
#include "lib/commands/hold.h"

#include <string.h>

// --- Messages ---

// Log a refusal. @param why  NULL: the text of the status. @return the status.
static espl_status refuse_buffer_call(const espl_command_buffer *commands, const char *call,
                                      espl_status status, const char *why)
{
    espl__message m;

    if (espl__message_begin(&m, commands->hooks, call, NULL)) {
        espl__message_status(&m, status);
        espl__message_send(&m, ESPL_LOG_WARNING, "%s",
                           why != NULL ? why : espl_status_text(status));
    }
    return status;
}

// Log how many commands are lost because they were not played. Level info, because a program may
// drop them on purpose.
static void tell_dropped(const espl_command_buffer *commands, const char *call)
{
    const size_t count = commands->is_played ? 0 : espl_command_buffer_count(commands);
    espl__message m;

    if (count != 0 && espl__message_begin(&m, commands->hooks, call, NULL)) {
        espl__message_part(&m, "%zu command%s", count, count == 1 ? "" : "s");
        espl__message_send(&m, ESPL_LOG_INFO,
                           "Recorded and not played, so dropped; call espl_play(), or "
                           "espl_command_buffer_submit() and espl_sync(), first.");
    }
}

// Tell whether a buffer may be emptied or destroyed. Not while functions of custom commands read
// its payloads, which is a fault that traps.
static bool may_empty(const espl_command_buffer *commands, const char *call)
{
    espl__message m;

    if (commands->is_handed_over) {
        (void)espl__message_begin(&m, commands->hooks, call, NULL);
        espl__message_trap(&m, __FILE__, __LINE__,
                           "The function of a custom command is being called with payloads of this "
                           "command buffer; wait until espl_play() or espl_sync() has returned.");
    }
    return !commands->is_handed_over;
}

// --- Lifetime ---

// Bytes of a buffer with its recorders. Does not overflow, because lanes are limited.
static size_t buffer_size(uint32_t lanes)
{
    ESPL_CHECK(lanes <= ESPL_LANE_LIMIT);
    return sizeof(espl_command_buffer) + lanes * sizeof(espl_recorder);
}

// One counter for all worlds, so that pending handles of one world are foreign in another.
static _Atomic uint32_t tag_counter;

// Give a buffer a tag, so that its pending handles so far become foreign. Tags repeat after 2^23
// buffers were made or reset, so that a handle that old may be taken for a new one.
static void take_tag(espl_command_buffer *commands)
{
    const uint32_t mask = (UINT32_C(1) << ESPL__PENDING_TAG_BITS) - 1;

    commands->tag = atomic_fetch_add(&tag_counter, 1) & mask;
}

// Make a buffer with its recorders in one block, all lanes empty. Lanes allocate when they are
// first recorded into, so that unused lanes cost nothing but their struct.
espl_status espl__command_buffer_make(espl__heap *heap, const espl__store *store, const void *world,
                                      _Atomic uint32_t *alive, espl__submit_queue *queue,
                                      uint32_t lanes, espl_command_buffer **out)
{
    if (lanes == 0 || lanes > ESPL_LANE_LIMIT) {
        return lanes == 0 ? ESPL_ERR_ARGUMENT : ESPL_ERR_LIMIT;
    }
    espl_command_buffer *const commands = espl__heap_take(
        heap, ESPL__FOR_RECORDING, 1, buffer_size(lanes), _Alignof(espl_command_buffer));
    if (commands == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    memset(commands, 0, buffer_size(lanes));
    commands->heap = heap;
    commands->store = store;
    commands->world = world;
    // The count guards the world against being destroyed before its buffers.
    commands->alive = alive;
    atomic_fetch_add(alive, 1);
    commands->queue = queue;
    commands->lane_count = lanes;
    take_tag(commands);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        commands->recorders[lane].owner = commands;
        commands->recorders[lane].number = lane;
    }
    *out = commands;
    return ESPL_OK;
}

// Linear in the queue, which is singly linked: few buffers are submitted, and a withdrawal is rarer
// than a playback.
void espl__command_buffer_withdraw(espl_command_buffer *commands)
{
    espl__submit_queue *const queue = commands->queue;
    espl_command_buffer *before = NULL;

    if (!commands->is_submitted) {
        return;
    }
    for (espl_command_buffer *at = queue->first; at != commands; at = at->next) {
        ESPL_CHECK_FULL(at != NULL); // it is in the queue
        before = at;
    }
    if (before == NULL) {
        queue->first = commands->next;
    } else {
        before->next = commands->next;
    }
    queue->last = queue->last == commands ? before : queue->last;
    commands->is_submitted = false;
    commands->next = NULL;
    ESPL_CHECK((queue->first == NULL) == (queue->last == NULL));
}

// Precondition: no function of a custom command reads the payloads. The block of the buffer is
// freed last, because the recorders are inside it.
void espl__command_buffer_free(espl_command_buffer *commands)
{
    espl__heap *const heap = commands->heap;

    ESPL_CHECK(!commands->is_handed_over);
    atomic_fetch_sub(commands->alive, 1);
    espl__command_buffer_withdraw(commands);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;

        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->commands);
        espl__payloads_free(&lane->payloads, heap);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->created);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->results);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, commands->payloads);
    espl__heap_give(heap, ESPL__FOR_RECORDING, commands, 1, buffer_size(commands->lane_count),
                    _Alignof(espl_command_buffer));
}

// NULL does nothing. A buffer that was submitted leaves the queue, so that espl_sync() does not
// meet a freed buffer.
void espl_command_buffer_destroy(espl_command_buffer *commands)
{
    static const char *const call = "espl_command_buffer_destroy";

    if (commands == NULL || !may_empty(commands, call)) {
        return;
    }
    ESPL__HOLD_OR_RETURN(commands->holder, call, )
    tell_dropped(commands, call);
    espl__command_buffer_free(commands);
}

// The arrays keep their memory, because the next frame records about as much.
void espl__lane_clear(espl__lane *lane)
{
    espl__array_set_length(lane->commands, 0);
    espl__payloads_clear(&lane->payloads);
    espl__array_set_length(lane->created, 0);
    espl__array_set_length(lane->results, 0);
    lane->pending_count = lane->custom_count = 0;
    lane->traits = 0;
}

// A reset cannot fail: it allocates nothing. It also withdraws a buffer that was submitted.
void espl_command_buffer_reset(espl_command_buffer *commands)
{
    static const char *const call = "espl_command_buffer_reset";

    if (commands == NULL || !may_empty(commands, call)) {
        return;
    }
    ESPL__HOLD_OR_RETURN(commands->holder, call, )
    tell_dropped(commands, call);
    espl__command_buffer_withdraw(commands);
    // A new tag makes the pending handles so far foreign.
    commands->is_played = false;
    take_tag(commands);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane_clear(&commands->recorders[i].lane);
    }
}

// NULL for a lane that the buffer does not have. The recorder lives as long as the buffer, across
// resets.
espl_recorder *espl_command_buffer_recorder(espl_command_buffer *commands, uint32_t lane)
{
    return commands != NULL && lane < commands->lane_count ? &commands->recorders[lane] : NULL;
}

// Commands of all lanes, played or not; 0 after a reset.
size_t espl_command_buffer_count(const espl_command_buffer *commands)
{
    size_t count = 0;

    if (commands == NULL) {
        return 0;
    }
    for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
        count += espl__array_length(commands->recorders[lane].lane.commands);
    }
    return count;
}

// --- The queue ---

// Order of the checks: NULL, another thread in the world, submitted already, played, jobs under
// way. Takes no memory, because the link is part of the buffer.
espl_status espl_command_buffer_submit(espl_command_buffer *commands)
{
    static const char *const call = "espl_command_buffer_submit";

    if (commands == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    ESPL__HOLD_OR_RETURN(commands->holder, call, ESPL_ERR_BUSY)
    if (commands->is_submitted) {
        return refuse_buffer_call(
            commands, call, ESPL_ERR_ARGUMENT,
            "The command buffer is submitted already; espl_sync() plays it once.");
    }
    if (commands->is_played) {
        return refuse_buffer_call(commands, call, ESPL_ERR_PLAYED, NULL);
    }

    espl__submit_queue *const queue = commands->queue;

    if (*queue->is_closed) {
        return refuse_buffer_call(
            commands, call, ESPL_ERR_BUSY,
            "Jobs of the world are under way; submit before or after the call that runs "
            "them, or in the function of a custom command.");
    }
    ESPL_CHECK(commands->next == NULL);
    if (queue->first == NULL) {
        queue->first = commands;
    } else {
        queue->last->next = commands;
    }
    queue->last = commands;
    commands->next = NULL;
    commands->submission = ++queue->submissions;
    commands->is_submitted = true;
    return ESPL_OK;
}

// --- Results ---

// Find the entity that a pending handle of this buffer became. `*out` is written only with ESPL_OK.
// Order of the checks: the pointer, the kind of handle, the tag, the lane, the serial, the
// playback, the entity. So a handle of another buffer is foreign whether or not this one was
// played.
// @return ESPL_OK, ESPL_ERR_ARGUMENT, ESPL_ERR_NULL_ENTITY, ESPL_ERR_FOREIGN; ESPL_ERR_PENDING: not
//         played yet; ESPL_ERR_DEAD: the entity was not made or died in the playback.
static espl_status find_created(const espl_command_buffer *commands, espl_entity pending,
                                espl_entity *out)
{
    if (out == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!espl__is_pending(pending)) {
        return espl_entity_is_null(pending) ? ESPL_ERR_NULL_ENTITY : ESPL_ERR_ARGUMENT;
    }
    const uint32_t number = espl__pending_lane(pending);
    if (espl__pending_tag(pending) != commands->tag || number >= commands->lane_count) {
        return ESPL_ERR_FOREIGN;
    }
    const espl__lane *const lane = &commands->recorders[number].lane;
    if (pending.index >= lane->pending_count) {
        return ESPL_ERR_FOREIGN;
    }
    if (!commands->is_played) {
        return ESPL_ERR_PENDING;
    }
    ESPL_CHECK(espl__array_length(lane->created) == lane->pending_count);
    const espl_entity *const created = &lane->created[pending.index];
    if ((created->index | created->generation) == 0) {
        return ESPL_ERR_DEAD;
    }
    *out = *created;
    return ESPL_OK;
}

// The entity lived at the end of the playback. It may have been destroyed since, so that callers
// check the handle as any other.
espl_status espl_command_buffer_resolve(const espl_command_buffer *commands, espl_entity pending,
                                        espl_entity *out)
{
    if (commands == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    const espl_status status = find_created(commands, pending, out);
    espl__message m;

    if (status < 0 &&
        espl__message_begin(&m, commands->hooks, "espl_command_buffer_resolve", NULL)) {
        espl__message_status(&m, status);
        espl__message_entity(&m, "entity", pending);
        espl__message_send(&m, ESPL_LOG_WARNING, "%s",
                           out == NULL ? "out is NULL."
                           : status == ESPL_ERR_ARGUMENT
                               ? "The handle is not pending; it names its entity already."
                               : espl_status_text(status));
    }
    return status;
}

// The status of one command of a lane, by its number in the order of recording. The status of a
// command is not that of the playback, which is ESPL_PARTLY where some command was refused.
espl_status espl_command_buffer_result(const espl_command_buffer *commands, uint32_t lane,
                                       uint32_t index)
{
    static const char *const call = "espl_command_buffer_result";

    if (commands == NULL) {
        return ESPL_ERR_ARGUMENT;
    }
    if (!commands->is_played) {
        return refuse_buffer_call(
            commands, call, ESPL_ERR_ARGUMENT,
            "The command buffer was not played, so that there are no results.");
    }
    if (lane >= commands->lane_count) {
        return refuse_buffer_call(commands, call, ESPL_ERR_ARGUMENT,
                                  "The command buffer has no such lane.");
    }
    const espl__lane *const l = &commands->recorders[lane].lane;

    ESPL_CHECK(espl__array_length(l->results) == espl__array_length(l->commands));
    // Not logged, because a loop over the commands of a lane ends with this refusal.
    return index < espl__array_length(l->commands) ? l->results[index] : ESPL_ERR_ARGUMENT;
}
