// SPDX-License-Identifier: MIT
// Stage 2, parallel over commands: handles become slots or makers, and each instantiate learns how
// many nodes it may make. Every result goes to the command's own entry.
#include "lib/commands/playback.h"

enum { GRAIN = 512 };

static espl__operand resolve_pending(const espl__playback *playback, espl_entity entity)
{
    const uint32_t lane = espl__pending_lane(entity);

    if (espl__pending_tag(entity) != playback->tag || lane >= playback->lane_count ||
        entity.index >= playback->lanes[lane].pending_count) {
        return (espl__operand){.status = ESPL_ERR_FOREIGN};
    }
    const uint32_t pending = playback->lanes[lane].pending_base + entity.index;

    return (espl__operand){.status = ESPL_OK,
                           .slot = ESPL__NO_SLOT,
                           .maker = playback->pending_entries[pending],
                           .pending = pending};
}

static espl__operand resolve(const espl__playback *playback, espl_entity entity)
{
    if (espl__is_pending(entity)) {
        return resolve_pending(playback, entity);
    }
    const espl_status status = espl__entity_check(playback->store, entity);

    return status != ESPL_OK ? (espl__operand){.status = status}
                             : (espl__operand){.status = ESPL_OK,
                                               .slot = playback->store->records[entity.index].slot};
}

// Nodes that a clone of this slot's closure has at most: itself and everything below.
static uint32_t closure_bound(const espl__forest *forest, uint32_t slot)
{
    const espl__run *const run = espl__run_of(forest, slot);
    uint32_t begin = espl__first_child(forest, run, forest->rank[slot]);
    uint32_t end = espl__first_child(forest, run, forest->rank[slot] + 1);
    uint32_t count = 1;

    while (begin < end) {
        count += end - begin;
        const uint32_t next = espl__first_child(forest, run, begin);

        end = espl__first_child(forest, run, end);
        begin = next;
    }
    return count;
}

static void name_makers(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

        for (uint32_t k = 0; k < entry->command->count; ++k) {
            playback->pending_entries[first + k] = (uint32_t)i;
        }
    }
}

static void classify(void *context, size_t begin, size_t end)
{
    const espl__playback *const playback = context;

    for (size_t i = begin; i < end; ++i) {
        espl__entry *const entry = &playback->entries[i];
        const espl__command *const command = entry->command;

        entry->target = resolve(playback, command->target);
        entry->parent = resolve(playback, command->parent);
        entry->before = resolve(playback, command->before);
        if (command->kind == ESPL__COMMAND_INSTANTIATE && entry->target.status == ESPL_OK &&
            entry->target.slot != ESPL__NO_SLOT) {
            entry->clone_bound = closure_bound(playback->forest, entry->target.slot);
        }
    }
}

espl_status espl__stage_classify(espl__playback *playback)
{
    playback->pending_entries = espl__arena_take(&playback->arena, playback->pending_count,
                                                 sizeof *playback->pending_entries);
    playback->pending_nodes = espl__arena_take(&playback->arena, playback->pending_count,
                                               sizeof *playback->pending_nodes);
    if (playback->pending_entries == NULL || playback->pending_nodes == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    const espl_status status = espl__run_ranges(playback->executor, playback->hooks, name_makers,
                                                playback, playback->entry_count, GRAIN);

    return status != ESPL_OK ? status
                             : espl__run_ranges(playback->executor, playback->hooks, classify,
                                                playback, playback->entry_count, GRAIN);
}
