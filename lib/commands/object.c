// SPDX-License-Identifier: MIT
// A commands object: its lifetime, its place in the queue for espl_sync(), and its results once it was
// played.
#include "lib/commands/commands.h"

#include <string.h>

static size_t object_size(uint32_t lanes)
{
    return sizeof(espl_command_buffer) + lanes * sizeof(espl_recorder);
}

// One counter for all worlds, so that pending handles of one world are foreign in another.
static _Atomic uint32_t next_tag;

static void take_tag(espl_command_buffer *commands)
{
    const uint32_t mask = (UINT32_C(1) << ESPL__PENDING_TAG_BITS) - 1;

    commands->tag = atomic_fetch_add(&next_tag, 1) & mask;
}

espl_status espl__commands_make(espl__heap *heap, const espl__store *store, const void *world,
                                _Atomic uint32_t *alive, espl__line *line, uint32_t lanes,
                                espl_command_buffer **out)
{
    if (lanes == 0 || lanes > ESPL_LANE_LIMIT) {
        return ESPL_ERR_ARGUMENT;
    }
    espl_command_buffer *const commands = espl__heap_take(
        heap, ESPL__FOR_RECORDING, 1, object_size(lanes), _Alignof(espl_command_buffer));
    if (commands == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    memset(commands, 0, object_size(lanes));
    commands->heap = heap;
    commands->store = store;
    commands->world = world;
    commands->alive = alive;
    atomic_fetch_add(alive, 1);
    commands->line = line;
    commands->lane_count = lanes;
    take_tag(commands);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
        commands->recorders[lane].owner = commands;
        commands->recorders[lane].number = lane;
    }
    *out = commands;
    return ESPL_OK;
}

void espl__commands_withdraw(espl_command_buffer *commands)
{
    espl__line *const line = commands->line;
    espl_command_buffer *before = NULL;

    if (!commands->is_submitted) {
        return;
    }
    for (espl_command_buffer *at = line->first; at != commands; at = at->next) {
        before = at;
    }
    if (before == NULL) {
        line->first = commands->next;
    } else {
        before->next = commands->next;
    }
    line->last = line->last == commands ? before : line->last;
    commands->is_submitted = false;
    commands->next = NULL;
}

void espl_command_buffer_destroy(espl_command_buffer *commands)
{
    // The callbacks under way read its payloads.
    if (commands == NULL || !ESPL_DEMAND(commands->hooks, !commands->is_handed_over)) {
        return;
    }
    espl__heap *const heap = commands->heap;

    atomic_fetch_sub(commands->alive, 1);
    espl__commands_withdraw(commands);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane *const lane = &commands->recorders[i].lane;

        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->commands);
        espl__payloads_free(&lane->payloads, heap);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->created);
        ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, lane->results);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_RECORDING, commands->payloads);
    espl__heap_give(heap, ESPL__FOR_RECORDING, commands, 1, object_size(commands->lane_count),
                    _Alignof(espl_command_buffer));
}

void espl__lane_clear(espl__lane *lane)
{
    espl__array_set_length(lane->commands, 0);
    espl__payloads_clear(&lane->payloads);
    espl__array_set_length(lane->created, 0);
    espl__array_set_length(lane->results, 0);
    lane->pending_count = lane->call_count = 0;
}

void espl_command_buffer_reset(espl_command_buffer *commands)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) ||
        !ESPL_DEMAND(commands->hooks, !commands->is_handed_over)) {
        return;
    }
    espl__commands_withdraw(commands);
    commands->is_played = false;
    take_tag(commands);
    for (uint32_t i = 0; i < commands->lane_count; ++i) {
        espl__lane_clear(&commands->recorders[i].lane);
    }
}

espl_recorder *espl_command_buffer_recorder(espl_command_buffer *commands, uint32_t lane)
{
    return ESPL_DEMAND(NULL, commands != NULL) && lane < commands->lane_count
               ? &commands->recorders[lane]
               : NULL;
}

size_t espl_command_buffer_count(const espl_command_buffer *commands)
{
    size_t count = 0;

    if (!ESPL_DEMAND(NULL, commands != NULL)) {
        return 0;
    }
    for (uint32_t lane = 0; lane < commands->lane_count; ++lane) {
        count += espl__array_length(commands->recorders[lane].lane.commands);
    }
    return count;
}

espl_status espl_command_buffer_submit(espl_command_buffer *commands)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) || commands->is_submitted) {
        return ESPL_ERR_ARGUMENT;
    }
    if (commands->is_played) {
        return ESPL_ERR_PLAYED;
    }

    espl__line *const line = commands->line;

    if (*line->is_closed) {
        return ESPL_ERR_BUSY;
    }
    if (line->first == NULL) {
        line->first = commands;
    } else {
        line->last->next = commands;
    }
    line->last = commands;
    commands->next = NULL;
    commands->turn = ++line->turns;
    commands->is_submitted = true;
    return ESPL_OK;
}

espl_status espl_command_buffer_resolve(const espl_command_buffer *commands, espl_entity pending,
                                        espl_entity *out)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) || !ESPL_DEMAND(commands->hooks, out != NULL)) {
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
        return ESPL_ERR_DEAD;
    }
    const espl_entity *const created = &lane->created[pending.index];
    if ((created->index | created->generation) == 0) {
        return ESPL_ERR_DEAD;
    }
    *out = *created;
    return ESPL_OK;
}

espl_status espl_command_buffer_result(const espl_command_buffer *commands, uint32_t lane,
                                       uint32_t index)
{
    if (!ESPL_DEMAND(NULL, commands != NULL) || !commands->is_played ||
        lane >= commands->lane_count ||
        index >= espl__array_length(commands->recorders[lane].lane.commands)) {
        return ESPL_ERR_ARGUMENT;
    }
    return commands->recorders[lane].lane.results[index];
}
