// SPDX-License-Identifier: MIT
// Callbacks: the register, the recording of calls, and the delivery of their payloads.
#include "lib/commands/calls.h"
#include "lib/commands/playback.h"

#include <string.h>

enum { NAME_LIMIT = 255 };

_Static_assert(ESPL_CUSTOM_COMMAND_LIMIT <= UINT8_MAX + 1,
               "a command holds every callback's number");
_Static_assert((int)ESPL_PAYLOAD_ALIGNMENT_LIMIT == (int)ESPL__PAYLOAD_ALIGNMENT,
               "blocks are aligned for every payload");

// --- The register ---

static bool is_name_sound(const char *name)
{
    return name != NULL && name[0] != '\0' && memchr(name, '\0', NAME_LIMIT + 1) != NULL;
}

espl_status espl__callback_register(espl__heap *heap, espl__callbacks *callbacks,
                                    const espl_custom_command_def *def, espl_custom_command *out)
{
    const uint32_t count = atomic_load_explicit(&callbacks->count, memory_order_relaxed);

    if (!is_name_sound(def->name)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (count == ESPL_CUSTOM_COMMAND_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    const size_t name_size = strlen(def->name) + 1;
    if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_WORLD, callbacks->entries, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    char *const name = espl__heap_take(heap, ESPL__FOR_WORLD, 1, name_size, 1);
    if (name == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    memcpy(name, def->name, name_size);
    ESPL_ARRAY_PUSH(callbacks->entries, (espl__callback){name, def->user, def->function, 0});
    atomic_store_explicit(&callbacks->count, count + 1, memory_order_release);
    *out = count + 1;
    return ESPL_OK;
}

void espl__callbacks_free(espl__heap *heap, espl__callbacks *callbacks)
{
    for (size_t i = 0; i < espl__array_length(callbacks->entries); ++i) {
        char *const name = callbacks->entries[i].name;

        espl__heap_give(heap, ESPL__FOR_WORLD, name, 1, strlen(name) + 1, 1);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_WORLD, callbacks->entries);
}

size_t espl__callbacks_bytes(const espl__callbacks *callbacks)
{
    size_t bytes = ESPL_ARRAY_BYTES(callbacks->entries);

    for (size_t i = 0; i < espl__array_length(callbacks->entries); ++i) {
        bytes += strlen(callbacks->entries[i].name) + 1;
    }
    return bytes;
}

// --- Recording ---

static bool is_alignment(size_t alignment)
{
    return (alignment & (alignment - 1)) == 0 && alignment <= ESPL_PAYLOAD_ALIGNMENT_LIMIT;
}

espl_status espl_record_custom(espl_recorder *recorder, uint32_t key, espl_custom_command callback,
                               const void *data, size_t size, size_t alignment)
{
    espl_status status = espl__check_recorder(recorder);
    unsigned char *bytes = NULL;

    if (status != ESPL_OK) {
        return status;
    }
    const uint32_t known =
        atomic_load_explicit(recorder->owner->callback_count, memory_order_acquire);
    if (callback == 0 || callback > known || !is_alignment(alignment)) {
        return ESPL_ERR_ARGUMENT;
    }
    if (size > UINT32_MAX) {
        return ESPL_ERR_LIMIT;
    }
    status = espl__append_room(recorder,
                               &(espl__command){.key = key,
                                                .value_count = (uint32_t)size,
                                                .kind = ESPL__COMMAND_CALL,
                                                .place = (uint8_t)(callback - 1)},
                               size, alignment, &bytes);
    if (status != ESPL_OK) {
        return status;
    }

    recorder->lane.call_count += 1;
    if (data != NULL && size != 0) {
        memcpy(bytes, data, size);
    } else if (size != 0) {
        memset(bytes, 0, size);
    }
    return ESPL_OK;
}

// --- Playing ---

// Set `end` of each callback to the begin of its payloads: a prefix sum of their counts.
static void begin_lists(const espl__playback *playback)
{
    espl__callback *const callbacks = playback->callbacks.entries;
    const size_t count = espl__array_length(callbacks);
    size_t sum = 0;

    for (size_t i = 0; i < count; ++i) {
        callbacks[i].end = 0;
    }
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__command *const command = playback->entries[i].command;

        if (command->kind == ESPL__COMMAND_CALL) {
            callbacks[command->place].end += 1;
        }
    }
    for (size_t i = 0; i < count; ++i) {
        const size_t begin = sum;

        sum += callbacks[i].end;
        callbacks[i].end = begin;
    }
    ESPL_CHECK(sum == playback->call_count);
}

static espl_custom_payload payload_of(const espl__playback *playback, const espl__entry *entry)
{
    const size_t size = entry->command->value_count;

    return (espl_custom_payload){.data = size != 0 ? espl__entry_payload(playback, entry) : NULL,
                                 .size = size,
                                 .key = entry->command->key,
                                 .lane = entry->lane,
                                 .index = entry->index};
}

void espl__calls_take(espl__playback *playback)
{
    size_t kept = 0;

    if (playback->call_count == 0) {
        return;
    }
    begin_lists(playback);
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (entry->command->kind == ESPL__COMMAND_CALL) {
            espl__callback *const callback = &playback->callbacks.entries[entry->command->place];

            playback->payloads[callback->end++] = payload_of(playback, entry);
        } else {
            playback->entries[kept++] = *entry;
        }
    }
    playback->entry_count = kept;
}

void espl__calls_report(const espl__playback *playback, espl_report *report)
{
    for (size_t i = 0; i < playback->call_count; ++i) {
        const espl_custom_payload *const payload = &playback->payloads[i];

        playback->lanes[payload->lane].results[payload->index] = ESPL_OK;
    }
    report->accepted += playback->call_count;
    report->applied += playback->call_count;
    report->calls = playback->call_count;
}

void espl__calls_hand_over(const espl__playback *playback, espl_world *world,
                           const espl_command_buffer *commands, size_t count)
{
    const espl__callback *const callbacks = playback->callbacks.entries;
    size_t begin = 0;

    for (size_t i = 0; begin < count; ++i) {
        const espl_custom_calls calls = {world, commands, playback->payloads + begin,
                                         callbacks[i].end - begin};

        if (calls.count != 0) {
            espl__watch_part(&playback->watch, callbacks[i].name, true);
            callbacks[i].function(callbacks[i].user, &calls);
            espl__watch_part(&playback->watch, callbacks[i].name, false);
        }
        begin = callbacks[i].end;
    }
}
