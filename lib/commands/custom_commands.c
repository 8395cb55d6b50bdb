// SPDX-License-Identifier: MIT
// Custom commands: the register, the recording, and the delivery of payloads; see
// custom_commands.h.
//
// The register changes only between playbacks, on the thread that changes the world. Recorders of
// other threads read the number that was given last, and nothing else of it.
#include "lib/commands/custom_commands.h"

#include "lib/commands/explain.h"
#include "lib/commands/stage_trace.h"
#include "lib/commands/stages.h"

#include <string.h>

_Static_assert((int)ESPL_PAYLOAD_ALIGNMENT_LIMIT == (int)ESPL__PAYLOAD_ALIGNMENT,
               "blocks are aligned for every payload");

// --- The register ---

const char *espl__custom_fault(const espl_custom_command_def *def)
{
    if (def == NULL) {
        return "def is NULL.";
    }
    if (def->function == NULL) {
        return "def->function is NULL.";
    }
    return espl__def_name_fault(def->name);
}

espl_status espl__custom_register(espl__heap *heap, espl__custom_registry *registry,
                                  const espl_custom_command_def *def, espl_custom_command *out)
{
    const uint32_t last = atomic_load_explicit(&registry->last, memory_order_relaxed);

    ESPL_CHECK(espl__custom_fault(def) == NULL);
    // A world that gave all numbers would have to use one again.
    if (espl__array_length(registry->entries) == ESPL_CUSTOM_COMMAND_LIMIT || last == UINT32_MAX) {
        return ESPL_ERR_LIMIT;
    }
    const size_t name_size = strlen(def->name) + 1;
    if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_WORLD, registry->entries, 1)) {
        return ESPL_ERR_NO_MEMORY;
    }
    char *const name = espl__heap_take(heap, ESPL__FOR_WORLD, 1, name_size, 1);
    if (name == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    // Nothing fails from here on.
    memcpy(name, def->name, name_size);
    ESPL_ARRAY_PUSH(registry->entries,
                    (espl__custom_entry){name, def->user, def->function, last + 1, 0});
    atomic_store_explicit(&registry->last, last + 1, memory_order_release);
    *out = last + 1;
    return ESPL_OK;
}

// Index of a custom command, or the count of entries where none has the number. Fast path: as long
// as none was unregistered, the number is the index + 1.
static size_t find_custom(const espl__custom_registry *registry, espl_custom_command number)
{
    const espl__custom_entry *const entries = registry->entries;
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

// Free the copy of a name. Its length gives the size that was taken.
static void free_name(espl__heap *heap, char *name)
{
    espl__heap_give(heap, ESPL__FOR_WORLD, name, 1, strlen(name) + 1, 1);
}

espl_status espl__custom_unregister(espl__heap *heap, espl__custom_registry *registry,
                                    espl_custom_command number)
{
    espl__custom_entry *const entries = registry->entries;
    const size_t count = espl__array_length(entries), at = find_custom(registry, number);

    if (at == count) {
        return ESPL_ERR_ARGUMENT;
    }
    free_name(heap, entries[at].name);
    memmove(&entries[at], &entries[at + 1], (count - at - 1) * sizeof *entries);
    espl__array_set_length(entries, count - 1);
    return ESPL_OK;
}

void espl__custom_registry_free(espl__heap *heap, espl__custom_registry *registry)
{
    for (size_t i = 0; i < espl__array_length(registry->entries); ++i) {
        free_name(heap, registry->entries[i].name);
    }
    ESPL_ARRAY_FREE(heap, ESPL__FOR_WORLD, registry->entries);
}

size_t espl__custom_registry_bytes(const espl__custom_registry *registry)
{
    size_t bytes = ESPL_ARRAY_BYTES(registry->entries);

    for (size_t i = 0; i < espl__array_length(registry->entries); ++i) {
        bytes += strlen(registry->entries[i].name) + 1;
    }
    return bytes;
}

// --- Recording ---

espl_status espl_record_custom(espl_recorder *recorder, uint32_t key, espl_custom_command command,
                               const void *data, size_t size, size_t alignment)
{
    static const char *const call = "espl_record_custom";
    espl_status status = espl__check_recorder(recorder);
    unsigned char *bytes = NULL;

    if (status != ESPL_OK) {
        return espl__recorded(recorder, call, status);
    }
    const uint32_t last = atomic_load_explicit(recorder->owner->last_custom, memory_order_acquire);
    // A number is never given twice, so that each number up to the last one was given. The command
    // may be recorded also after it was unregistered, because other threads cannot know: then
    // playback refuses it.
    if (command == 0 || command > last) {
        return espl__refuse_record(
            recorder, call, ESPL_ERR_ARGUMENT,
            &(espl__cause){.why = "The world has no custom command of that number; call "
                                  "espl_command_register()."});
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
                                                .pending = command,
                                                .kind = ESPL__COMMAND_CUSTOM},
                               size, alignment, &bytes);
    if (status != ESPL_OK) {
        return espl__recorded(recorder, call, status);
    }

    recorder->lane.custom_count += 1;
    if (data != NULL && size != 0) {
        memcpy(bytes, data, size);
    } else if (size != 0) {
        memset(bytes, 0, size);
    }
    return ESPL_OK;
}

// --- The order stage ---

// Set `end` of each custom command to the begin of its payloads: a prefix sum of their counts.
// @return the payloads that have a custom command. The others come after them.
static size_t begin_lists(espl__custom_registry *registry, const espl__ordered *ordered)
{
    espl__custom_entry *const customs = registry->entries;
    const size_t count = espl__array_length(customs);
    size_t sum = 0;

    for (size_t i = 0; i < count; ++i) {
        customs[i].end = 0;
    }
    for (size_t i = 0; i < ordered->entry_count; ++i) {
        const espl__command *const command = ordered->entries[i].command;

        if (command->kind == ESPL__COMMAND_CUSTOM) {
            const size_t at = find_custom(registry, command->pending);

            if (at < count) {
                customs[at].end += 1;
            }
        }
    }
    for (size_t i = 0; i < count; ++i) {
        const size_t begin = sum;

        sum += customs[i].end;
        customs[i].end = begin;
    }
    return sum;
}

// The payload of an entry, as the function of the custom command gets it. The bytes stay in the
// lane.
static espl_custom_payload payload_of(const espl__lane_view *lanes, const espl__entry *entry)
{
    const size_t size = entry->command->value_count;

    return (espl_custom_payload){.data = size != 0 ? espl__entry_payload(lanes, entry) : NULL,
                                 .size = size,
                                 .key = entry->command->key,
                                 .lane = entry->lane,
                                 .index = entry->index};
}

void espl__custom_take(const espl__order_input *in, espl__ordered *ordered)
{
    espl__custom_registry *const registry = in->custom;
    espl_custom_payload *const payloads = in->request->custom_payloads;
    size_t kept = 0;

    ESPL_CHECK(ordered->custom_count != 0);
    ordered->delivered_count = begin_lists(registry, ordered);
    ESPL_CHECK(ordered->delivered_count <= ordered->custom_count && payloads != NULL);
    size_t dropped_end = ordered->delivered_count;

    // The other entries move up in place, and keep their order.
    for (size_t i = 0; i < ordered->entry_count; ++i) {
        const espl__entry *const entry = &ordered->entries[i];

        if (entry->command->kind == ESPL__COMMAND_CUSTOM) {
            const size_t at = find_custom(registry, entry->command->pending);
            size_t *const end = at < espl__array_length(registry->entries)
                                    ? &registry->entries[at].end
                                    : &dropped_end;

            payloads[(*end)++] = payload_of(in->request->lanes, entry);
        } else {
            ordered->entries[kept++] = *entry;
        }
    }
    ESPL_CHECK(dropped_end == ordered->custom_count);
    ESPL_CHECK(kept + ordered->custom_count == ordered->entry_count);
    ordered->entry_count = kept;
}

// --- The report stage ---

// Tell whether a command comes before another one in playback order.
static bool comes_before(const espl__lane_view *lanes, espl_command_place a, espl_command_place b)
{
    const uint32_t key_a = lanes[a.lane].commands[a.index].key;
    const uint32_t key_b = lanes[b.lane].commands[b.index].key;

    if (key_a != key_b) {
        return key_a < key_b;
    }
    return a.lane != b.lane ? a.lane < b.lane : a.index < b.index;
}

// Add the payloads whose custom command was unregistered to the refusals.
static void report_dropped(const espl__play_request *request, const espl__ordered *ordered,
                           espl_report *report)
{
    const size_t dropped = ordered->custom_count - ordered->delivered_count;
    size_t *const dead = &report->refused_by[-ESPL_ERR_DEAD];
    espl_command_place *const first_dead = &report->first_refused[-ESPL_ERR_DEAD];

    if (dropped == 0) {
        return;
    }
    const espl_custom_payload *const first = &request->custom_payloads[ordered->delivered_count];
    const espl_command_place place = {first->lane, first->index};

    // Other commands may be refused for the same reason, before or after.
    if (*dead == 0 || comes_before(request->lanes, place, *first_dead)) {
        *first_dead = place;
    }
    *dead += dropped;
    report->refused += dropped;
}

void espl__custom_report(const espl__play_request *request, const espl__ordered *ordered,
                         espl_report *report)
{
    const size_t delivered = ordered->delivered_count;

    for (size_t i = 0; i < ordered->custom_count; ++i) {
        const espl_custom_payload *const payload = &request->custom_payloads[i];

        request->lanes[payload->lane].results[payload->index] =
            i < delivered ? ESPL_OK : ESPL_ERR_DEAD;
    }
    report->accepted += ordered->custom_count;
    report->applied += delivered;
    report->calls = delivered;
    report_dropped(request, ordered, report);
}

// --- Delivery ---

void espl__custom_deliver(const espl__custom_registry *registry, const espl__stage_trace *trace,
                          espl_world *world, const espl_command_buffer *commands,
                          const espl_custom_payload *payloads, size_t count)
{
    const espl__custom_entry *const customs = registry->entries;
    size_t begin = 0;

    for (size_t i = 0; begin < count; ++i) {
        ESPL_CHECK(i < espl__array_length(customs) && customs[i].end >= begin);
        const espl_custom_calls calls = {world, commands, payloads + begin, customs[i].end - begin};

        // The function is called with all payloads at once.
        if (calls.count != 0) {
            espl__trace_part(trace, customs[i].name, true);
            customs[i].function(customs[i].user, &calls);
            espl__trace_part(trace, customs[i].name, false);
        }
        begin = customs[i].end;
    }
}
