// SPDX-License-Identifier: MIT
// Stage 2, parallel over commands: handles become slots or pending numbers, and what ties a command to
// trees is noted for the group stage. Every result goes to the command's own place.
#include "lib/commands/playback.h"

#include "lib/base/prefetch.h"

#include <stdatomic.h>

// Handles are anywhere: the memory that a few commands read is prefetched before the first is read.
enum { GRAIN = 4096, BATCH = 32 };

// What a batch reads over and over, in locals of its own, because writes to entries might alias it.
typedef struct reading {
    const espl__playback *playback;
    espl__entry *entries;
    const espl__record *records; // [record_count]
    size_t record_count;
    const uint32_t *trees;  // of slots
    const uint8_t *flags;   // of slots
    bool wants_side, changes_sets;
} reading;

// --- Handles ---

static void resolve_pending(const espl__playback *playback, espl_entity entity, espl__operand *out)
{
    const uint32_t lane = espl__pending_lane(entity);

    if (playback->tag == ESPL__NO_TAG) {
        *out = (espl__operand){.state = ESPL_ERR_PENDING};
        return;
    }
    // A handle that names no lane was refused when it was recorded.
    ESPL_CHECK(espl__pending_tag(entity) != playback->tag || lane < playback->lane_count);
    if (espl__pending_tag(entity) != playback->tag ||
        entity.index >= playback->lanes[lane].pending_count) {
        *out = (espl__operand){.state = ESPL_ERR_FOREIGN};
        return;
    }
    *out = (espl__operand){.number = playback->lanes[lane].pending_base + entity.index,
                           .state = ESPL__OPERAND_PENDING};
}

ESPL__APART static void resolve_other(const espl__playback *playback, const espl_entity *entity,
                                      espl__operand *out)
{
    if (espl__is_pending(*entity)) {
        resolve_pending(playback, *entity, out);
    } else {
        *out = (espl__operand){.state = espl__entity_check(playback->store, *entity)};
    }
}

static inline void resolve(const reading *r, const espl_entity *entity, espl__operand *out)
{
    const uint32_t index = entity->index;

    // A generation that the record has too is of this world, and no pending handle has it.
    if (index < r->record_count && r->records[index].generation == entity->generation &&
        r->records[index].row < ESPL__ROW_RETIRED) {
        out->number = r->records[index].slot;
        out->state = ESPL_OK;
        espl__prefetch(&r->trees[out->number]);
        espl__prefetch(&r->flags[out->number]);
    } else {
        resolve_other(r->playback, entity, out);
    }
}

// Most commands leave out what they may leave out.
static inline void resolve_optional(const reading *r, const espl_entity *entity, espl__operand *out)
{
    if ((entity->index | entity->generation) == 0) {
        out->number = 0;
        out->state = ESPL_ERR_NULL_ENTITY;
    } else {
        resolve(r, entity, out);
    }
}

static inline void ask_for(const reading *r, uint32_t index)
{
    if (index < r->record_count) {
        espl__prefetch(&r->records[index]);
    }
}

static inline void name_makers(const espl__playback *playback, const espl__entry *entry,
                               uint32_t number)
{
    const uint32_t count = entry->command->count;

    if (count == 0) {
        return;
    }
    const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

    for (uint32_t k = 0; k < count; ++k) {
        playback->pending_entries[first + k] = number;
        playback->pending_slots[first + k] = ESPL__NO_SLOT;
    }
}

// --- Ties ---

// Trees that a command writes to.
typedef struct tie {
    uint32_t home;
    bool is_linking;
} tie;

static inline void tie_to(reading *r, const espl__operand *operand, tie *out)
{
    if (!espl__operand_is_living(operand)) {
        out->is_linking |= espl__operand_is_pending(operand);
        return;
    }
    const uint32_t tree = r->trees[operand->number];

    r->wants_side = r->wants_side || (r->flags[operand->number] & ESPL__SLOT_SIDE) != 0;
    out->home = out->home == ESPL__NO_TREE ? tree : out->home;
    out->is_linking |= out->home != tree;
}

static bool has_extra(const espl__playback *playback, const espl__entry *entry)
{
    const espl__extra extra = espl__extra_of(espl__entry_transform(playback, entry));

    return !espl__extra_is_default(&extra);
}

// Tell whether a command may give a node something that is kept in side arrays.
static bool wants_side(const espl__playback *playback, const espl__entry *entry)
{
    const espl__command *const command = entry->command;

    switch (command->kind) {
    case ESPL__COMMAND_INSTANTIATE:
    case ESPL__COMMAND_CREATE:
    case ESPL__COMMAND_PLACE:
        return command->inherit != 0 || has_extra(playback, entry);
    case ESPL__COMMAND_CHANGE:
        return command->place == ESPL__PLACEMENT_COMES;
    case ESPL__COMMAND_WRITE:
        return espl__write_has_extra((espl_write_kind)command->place);
    default:
        return command->inherit != 0;
    }
}

static bool changes_sets(const espl__command *command)
{
    return command->kind == ESPL__COMMAND_CHANGE || command->kind == ESPL__COMMAND_SET ||
           command->kind == ESPL__COMMAND_ENABLE || command->kind == ESPL__COMMAND_DISABLE;
}

static inline void settle(reading *r, uint32_t number)
{
    const espl__playback *const playback = r->playback;
    espl__entry *const entry = &r->entries[number];
    const bool is_source = entry->command->kind == ESPL__COMMAND_INSTANTIATE &&
                           espl__operand_is_living(&entry->target);
    tie t = {.home = ESPL__NO_TREE};

    if (is_source) {
        r->wants_side =
            r->wants_side || (r->flags[entry->target.number] & ESPL__SLOT_SIDE) != 0;
    } else {
        tie_to(r, &entry->target, &t);
    }
    tie_to(r, &entry->parent, &t);
    tie_to(r, &entry->before, &t);
    playback->homes[number] = t.home;
    playback->are_linking[number] = t.is_linking;
    r->wants_side = r->wants_side || wants_side(playback, entry);
    r->changes_sets = r->changes_sets || changes_sets(entry->command);
}

// --- All of it ---

static void resolve_batch(reading *r, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        const espl__command *const command = r->entries[i].command;

        ask_for(r, command->target.index);
        ask_for(r, command->parent.index);
        ask_for(r, command->before.index);
    }
    for (size_t i = begin; i < end; ++i) {
        espl__entry *const entry = &r->entries[i];

        resolve(r, &entry->command->target, &entry->target);
        resolve_optional(r, &entry->command->parent, &entry->parent);
        resolve_optional(r, &entry->command->before, &entry->before);
        name_makers(r->playback, entry, (uint32_t)i);
    }
    for (size_t i = begin; i < end; ++i) {
        settle(r, (uint32_t)i);
    }
}

typedef struct resolving {
    espl__playback *playback;
    atomic_bool wants_side, changes_sets;
} resolving;

static void resolve_range(void *context, size_t begin, size_t end)
{
    resolving *const all = context;
    const espl__playback *const playback = all->playback;
    reading r = {.playback = playback,
                 .entries = playback->entries,
                 .records = playback->store->records,
                 .record_count = espl__array_length(playback->store->records),
                 .trees = playback->forest->tree,
                 .flags = playback->forest->flags};

    while (begin < end) {
        const size_t stop = end - begin < BATCH ? end : begin + BATCH;

        resolve_batch(&r, begin, stop);
        begin = stop;
    }
    if (r.wants_side) {
        atomic_store_explicit(&all->wants_side, true, memory_order_relaxed);
    }
    if (r.changes_sets) {
        atomic_store_explicit(&all->changes_sets, true, memory_order_relaxed);
    }
}

espl_status espl__stage_resolve(espl__playback *playback)
{
    espl__arena *const arena = &playback->arena;
    const size_t entries = playback->entry_count, pendings = playback->pending_count;

    playback->pending_entries =
        espl__arena_take(arena, pendings, sizeof *playback->pending_entries);
    playback->pending_slots = espl__arena_take(arena, pendings, sizeof *playback->pending_slots);
    playback->homes = espl__arena_take(arena, entries, sizeof *playback->homes);
    playback->are_linking = espl__arena_take(arena, entries, sizeof *playback->are_linking);
    if (playback->pending_entries == NULL || playback->pending_slots == NULL ||
        playback->homes == NULL || playback->are_linking == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    resolving all = {.playback = playback};

    atomic_init(&all.wants_side, false);
    atomic_init(&all.changes_sets, false);
    const espl_status status = espl__run_ranges(playback->executor, playback->hooks, resolve_range,
                                                &all, entries, GRAIN);

    playback->wants_side = atomic_load_explicit(&all.wants_side, memory_order_relaxed);
    playback->changes_sets = atomic_load_explicit(&all.changes_sets, memory_order_relaxed);
    return status;
}
