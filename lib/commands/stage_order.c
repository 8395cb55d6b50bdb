// SPDX-License-Identifier: MIT
// Stage 1: the commands of all lanes in one order: by key, then lane, then index in the lane.
//
// Input: the lanes. Output: one entry for each command, with its lane and index; the numbers at
// which each lane begins; the payloads of custom commands, which take no part in the stages that
// follow.
//
// The commands of lane 0, then lane 1 and so on are in this order already if no key is smaller than
// the one before it, as where all keys are equal. Otherwise a stable radix sort orders them.
//
// Cost: O(lanes + commands); with the sort, two more passes for each digit in which keys differ. One
// thread: the stage is a hundredth of a playback, with the sort up to four.
#include "lib/base/key_sort.h"
#include "lib/commands/stages.h"

// Number the commands and the pending handles of all lanes. Limits keep all numbers below
// UINT32_MAX / 2. @return ESPL_OK, ESPL_ERR_LIMIT.
static espl_status count_lanes(const espl__play_request *request, espl__lane_base *bases,
                               espl__ordered *out)
{
    size_t commands = 0, pendings = 0, customs = 0;

    for (uint32_t i = 0; i < request->lane_count; ++i) {
        const espl__lane_view *const lane = &request->lanes[i];

        bases[i] =
            (espl__lane_base){.commands = (uint32_t)commands, .pendings = (uint32_t)pendings};
        pendings += lane->pending_count;
        commands += lane->count;
        customs += lane->custom_count;
        if (pendings >= UINT32_MAX / 2 || commands >= UINT32_MAX / 8) {
            return ESPL_ERR_LIMIT;
        }
    }
    ESPL_CHECK(customs <= commands);
    out->bases = bases;
    out->entry_count = commands;
    out->pending_count = pendings;
    out->custom_count = customs;
    return ESPL_OK;
}

// --- Lane after lane ---

// The other fields are written by the stages that follow, before any of them reads them.
static inline void fill_entry(espl__entry *out, const espl__command *command, uint32_t lane,
                              uint32_t index)
{
    out->command = command;
    out->lane = lane;
    out->index = index;
    out->template = 0;
}

// List the commands lane after lane. @return whether no key is smaller than the one before it.
static bool list_lanes(const espl__play_request *request, espl__entry *entries)
{
    bool is_ordered = true;
    uint32_t key = 0;

    for (uint32_t number = 0; number < request->lane_count; ++number) {
        const espl__lane_view *const lane = &request->lanes[number];

        for (uint32_t i = 0; i < lane->count; ++i) {
            is_ordered = is_ordered && lane->commands[i].key >= key;
            key = lane->commands[i].key;
            fill_entry(entries++, &lane->commands[i], number, i);
        }
    }
    return is_ordered;
}

// --- The sort ---

// Sort the entries of list_lanes() by key.
static espl_status sort_by_keys(espl__arena *arena, const espl__lane_view *lanes,
                                espl__entry *entries, size_t count)
{
    typedef struct recorded {
        uint32_t lane, index;
    } recorded;
    recorded *const unsorted = espl__arena_take(arena, count, sizeof *unsorted);
    espl__sort_key *items = espl__arena_take(arena, count, sizeof *items);
    espl__sort_key *spare = espl__arena_take(arena, count, sizeof *spare);

    if (unsorted == NULL || items == NULL || spare == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; ++i) {
        unsorted[i] = (recorded){entries[i].lane, entries[i].index};
        items[i] = (espl__sort_key){entries[i].command->key, (uint32_t)i};
    }
    espl__sort_by_key(&items, &spare, count);
    for (size_t i = 0; i < count; ++i) {
        const recorded at = unsorted[items[i].number];

        fill_entry(&entries[i], &lanes[at.lane].commands[at.index], at.lane, at.index);
    }
    return ESPL_OK;
}

// --- The stage ---

// Tell whether the entries are by key, then lane, then index.
static bool entries_are_ordered(const espl__ordered *ordered)
{
    bool is_ordered = true;

    for (size_t i = 1; i < ordered->entry_count && is_ordered; ++i) {
        const espl__entry *const a = &ordered->entries[i - 1], *const b = a + 1;

        is_ordered = a->command->key != b->command->key ? a->command->key < b->command->key
                     : a->lane != b->lane               ? a->lane < b->lane
                                                        : a->index < b->index;
    }
    return is_ordered;
}

espl_status espl__stage_order(espl__stage_context *context, const espl__order_input *in,
                              espl__ordered *out)
{
    const espl__play_request *const request = in->request;
    espl__arena *const arena = &context->arena;
    espl__lane_base *const bases = espl__arena_take(arena, request->lane_count, sizeof *bases);
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (bases == NULL) {
        return status;
    }
    status = count_lanes(request, bases, out);
    if (status != ESPL_OK) {
        return status;
    }
    out->entries = espl__arena_take(arena, out->entry_count, sizeof *out->entries);
    if (out->entries == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    if (!list_lanes(request, out->entries)) {
        status = sort_by_keys(arena, request->lanes, out->entries, out->entry_count);
    }
    // Custom commands are taken out last, because their payloads are listed in playback order.
    if (status == ESPL_OK) {
        ESPL_CHECK_FULL(entries_are_ordered(out));
        if (out->custom_count != 0) {
            espl__custom_take(in, out);
        }
    }
    return status;
}
