// SPDX-License-Identifier: MIT
// Callbacks: the register, the recording of calls, and the delivery of their payloads.
#include "lib/commands/calls.h"
#include "lib/commands/explain.h"
#include "lib/commands/playback.h"

#include <string.h>

enum { NAME_LIMIT = 255 };

_Static_assert((int)ESPL_PAYLOAD_ALIGNMENT_LIMIT == (int)ESPL__PAYLOAD_ALIGNMENT,
               "blocks are aligned for every payload");

// --- The register ---

static bool is_name_sound(const char *name)
{
    return name != NULL && name[0] != '\0' && memchr(name, '\0', NAME_LIMIT + 1) != NULL;
}

const char *espl__callback_fault(const espl_custom_command_def *def)
{
    if (def == NULL) {
        return "def is NULL.";
    }
    if (def->function == NULL) {
        return "def->function is NULL.";
    }
    if (def->name == NULL) {
        return "def->name is NULL.";
    }
    return is_name_sound(def->name) ? NULL : "def->name has no byte, or more than 255.";
}

espl_status espl__callback_register(espl__heap *heap, espl__callbacks *callbacks,
                                    const espl_custom_command_def *def, espl_custom_command *out)
{
    const uint32_t last = atomic_load_explicit(&callbacks->last, memory_order_relaxed);

    ESPL_CHECK(espl__callback_fault(def) == NULL);
    // A world that gave all numbers would have to use one again.
    if (espl__array_length(callbacks->entries) == ESPL_CUSTOM_COMMAND_LIMIT ||
        last == UINT32_MAX) { // GCOVR_EXCL_BR_LINE: takes minutes to get there
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
    ESPL_ARRAY_PUSH(callbacks->entries,
                    (espl__callback){name, def->user, def->function, last + 1, 0});
    atomic_store_explicit(&callbacks->last, last + 1, memory_order_release);
    *out = last + 1;
    return ESPL_OK;
}

// Place of a callback among the entries, or their count where none has the number. As long as none was
// unregistered the number tells the place.
static size_t find_callback(const espl__callbacks *callbacks, espl_custom_command number)
{
    const espl__callback *const entries = callbacks->entries;
    const size_t count = espl__array_length(entries);
    size_t low = 0, high = count;

    if (number != 0 && number <= count && entries[number - 1].number == number) {
        return number - 1;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (entries[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && entries[low].number == number ? low : count;
}

static void free_name(espl__heap *heap, char *name)
{
    espl__heap_give(heap, ESPL__FOR_WORLD, name, 1, strlen(name) + 1, 1);
}

espl_status espl__callback_unregister(espl__heap *heap, espl__callbacks *callbacks,
                                      espl_custom_command number)
{
    espl__callback *const entries = callbacks->entries;
    const size_t count = espl__array_length(entries), at = find_callback(callbacks, number);

    if (at == count) {
        return ESPL_ERR_ARGUMENT;
    }
    free_name(heap, entries[at].name);
    memmove(&entries[at], &entries[at + 1], (count - at - 1) * sizeof *entries);
    espl__array_set_length(entries, count - 1);
    return ESPL_OK;
}

void espl__callbacks_free(espl__heap *heap, espl__callbacks *callbacks)
{
    for (size_t i = 0; i < espl__array_length(callbacks->entries); ++i) {
        free_name(heap, callbacks->entries[i].name);
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

espl_status espl_record_custom(espl_recorder *recorder, uint32_t key, espl_custom_command callback,
                               const void *data, size_t size, size_t alignment)
{
    static const char *const call = "espl_record_custom";
    espl_status status = espl__check_recorder(recorder);
    unsigned char *bytes = NULL;

    if (status != ESPL_OK) {
        return espl__recorded(recorder, call, status);
    }
    const uint32_t last =
        atomic_load_explicit(recorder->owner->last_callback, memory_order_acquire);
    if (callback == 0 || callback > last) {
        return espl__refuse_record(
            recorder, call, ESPL_ERR_ARGUMENT,
            &(espl__cause){.why = "The world has no custom command of that number; call "
                                  "espl_register_command()."});
    }
    if ((alignment & (alignment - 1)) != 0) {
        return espl__refuse_record(recorder, call, ESPL_ERR_ARGUMENT,
                                   &(espl__cause){.why = "alignment is no power of two."});
    }
    if (size > UINT32_MAX || alignment > ESPL_PAYLOAD_ALIGNMENT_LIMIT) {
        return espl__recorded(recorder, call, ESPL_ERR_LIMIT);
    }
    status = espl__append_room(recorder,
                               &(espl__command){.key = key,
                                                .value_count = (uint32_t)size,
                                                .pending = callback,
                                                .kind = ESPL__COMMAND_CALL},
                               size, alignment, &bytes);
    if (status != ESPL_OK) {
        return espl__recorded(recorder, call, status);
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

// Set `end` of each callback to the begin of its payloads: a prefix sum of their counts. Payloads for
// callbacks that were unregistered come behind all others.
static void begin_lists(espl__playback *playback)
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
            const size_t at = find_callback(&playback->callbacks, command->pending);

            if (at < count) {
                callbacks[at].end += 1;
            }
        }
    }
    for (size_t i = 0; i < count; ++i) {
        const size_t begin = sum;

        sum += callbacks[i].end;
        callbacks[i].end = begin;
    }
    ESPL_CHECK(sum <= playback->call_count);
    playback->delivered_count = sum;
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
    espl__callback *const callbacks = playback->callbacks.entries;
    size_t kept = 0;

    playback->delivered_count = 0;
    if (playback->call_count == 0) {
        return;
    }
    begin_lists(playback);
    size_t dropped_end = playback->delivered_count;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        if (entry->command->kind == ESPL__COMMAND_CALL) {
            const size_t at = find_callback(&playback->callbacks, entry->command->pending);
            size_t *const end =
                at < espl__array_length(callbacks) ? &callbacks[at].end : &dropped_end;

            playback->payloads[(*end)++] = payload_of(playback, entry);
        } else {
            playback->entries[kept++] = *entry;
        }
    }
    playback->entry_count = kept;
}

// Tell whether a command comes before another one in playback order.
static bool comes_before(const espl__playback *playback, espl_command_place a, espl_command_place b)
{
    const uint32_t key_a = playback->lanes[a.lane].commands[a.index].key;
    const uint32_t key_b = playback->lanes[b.lane].commands[b.index].key;

    if (key_a != key_b) {
        return key_a < key_b;
    }
    return a.lane != b.lane ? a.lane < b.lane : a.index < b.index;
}

// Payloads whose callback was unregistered.
static void report_dropped(const espl__playback *playback, espl_report *report)
{
    const size_t dropped = playback->call_count - playback->delivered_count;
    size_t *const dead = &report->refused_by[-ESPL_ERR_DEAD];
    espl_command_place *const first_dead = &report->first_refused[-ESPL_ERR_DEAD];

    if (dropped == 0) {
        return;
    }
    const espl_custom_payload *const first = &playback->payloads[playback->delivered_count];
    const espl_command_place place = {first->lane, first->index};

    if (*dead == 0 || comes_before(playback, place, *first_dead)) {
        *first_dead = place;
    }
    *dead += dropped;
    report->refused += dropped;
}

void espl__calls_report(const espl__playback *playback, espl_report *report)
{
    const size_t delivered = playback->delivered_count;

    for (size_t i = 0; i < playback->call_count; ++i) {
        const espl_custom_payload *const payload = &playback->payloads[i];

        playback->lanes[payload->lane].results[payload->index] =
            i < delivered ? ESPL_OK : ESPL_ERR_DEAD;
    }
    report->accepted += playback->call_count;
    report->applied += delivered;
    report->calls = delivered;
    report_dropped(playback, report);
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
