// SPDX-License-Identifier: MIT
// Stage 2, parallel over commands: handles become slots or pendings, each instantiate learns how
// many nodes it may make, what commands hang together by is noted down for the group stage, and what
// can be told of a command by itself for the plan: here commands and payloads are read in the order in
// which they were recorded, there in that of groups.
// Every result goes to the command's own place.
#include "lib/commands/short.h"

#include "lib/base/ahead.h"

#include <stdatomic.h>

// Handles are anywhere: what is read of a few commands is asked for before the first is read.
enum { GRAIN = 512, BATCH = 32 };

// --- Handles ---

static espl__operand refused(espl_status status)
{
    return (espl__operand){.status = (int8_t)status};
}

static espl__operand resolve_pending(const espl__playback *playback, espl_entity entity)
{
    const uint32_t lane = espl__pending_lane(entity);

    // What names no lane was refused when it was recorded.
    ESPL_CHECK(espl__pending_tag(entity) != playback->tag || lane < playback->lane_count);
    if (espl__pending_tag(entity) != playback->tag ||
        entity.index >= playback->lanes[lane].pending_count) {
        return refused(ESPL_ERR_FOREIGN);
    }
    return (espl__operand){.number = playback->lanes[lane].pending_base + entity.index,
                           .is_pending = true};
}

// A word that the record has too is one of this world, and no pending handle has it.
static bool is_living(const espl__store *store, espl_entity entity, size_t records)
{
    return entity.index < records && store->records[entity.index].generation == entity.generation &&
           store->records[entity.index].row < ESPL__ROW_RETIRED;
}

static espl__operand resolve(const espl__playback *playback, espl_entity entity, size_t records)
{
    if (espl_entity_is_null(entity)) {
        return refused(ESPL_ERR_NULL_ENTITY);
    }
    if (is_living(playback->store, entity, records)) {
        const uint32_t slot = playback->store->records[entity.index].slot;

        espl__ask(&playback->forest->run[slot]);
        return (espl__operand){.number = slot};
    }
    return espl__is_pending(entity) ? resolve_pending(playback, entity)
                                    : refused(espl__entity_check(playback->store, entity));
}

// A null handle has index 0, which costs nothing to ask for.
static void ask_for(const espl__store *store, espl_entity entity, size_t records)
{
    if (entity.index < records) {
        espl__ask(&store->records[entity.index]);
    }
}

static void ask_for_operands(const espl__store *store, const espl__command *command, size_t records)
{
    ask_for(store, command->target, records);
    ask_for(store, command->parent, records);
    ask_for(store, command->before, records);
}

static void resolve_operands(const espl__playback *playback, espl__entry *entry, size_t records)
{
    const espl__command *const command = entry->command;

    entry->target = resolve(playback, command->target, records);
    entry->parent = resolve(playback, command->parent, records);
    entry->before = resolve(playback, command->before, records);
}

static void name_maker(const espl__playback *playback, uint32_t number)
{
    const espl__entry *const entry = &playback->entries[number];
    const uint32_t first = playback->lanes[entry->lane].pending_base + entry->command->pending;

    for (uint32_t k = 0; k < entry->command->count; ++k) {
        playback->pending_entries[first + k] = number;
    }
}

// --- Sources ---

// The source that was counted last: neighbours often name the same.
typedef struct closure {
    uint32_t slot, bound;
} closure;

// Nodes that a clone of this slot's closure has at most: itself and everything below.
static uint32_t count_closure(const espl__forest *forest, uint32_t slot)
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

static void bound_clones(const espl__playback *playback, espl__entry *entry, closure *last)
{
    entry->clone_bound = espl__command_creates(entry->command->kind) ? 1 : 0;
    if (!espl__entry_instantiates(entry) || !espl__operand_is_living(&entry->target)) {
        return;
    }
    if (last->slot != entry->target.number) {
        last->slot = entry->target.number;
        last->bound = count_closure(playback->forest, last->slot);
    }
    entry->clone_bound = last->bound;
}

// --- Ties ---

static bool ties_to(const espl__playback *playback, const espl__operand *operand, uint32_t *home)
{
    if (!espl__operand_is_living(operand)) {
        return operand->status == ESPL_OK;
    }
    const uint32_t run = playback->forest->run[operand->number];

    *home = *home == ESPL__NO_RUN ? run : *home;
    return *home != run;
}

static void tie(const espl__playback *playback, uint32_t number)
{
    const espl__entry *const entry = &playback->entries[number];
    const bool has_source =
        espl__entry_instantiates(entry) && espl__operand_is_living(&entry->target);
    const espl__ties *const ties = &playback->ties;
    uint32_t home = ESPL__NO_RUN;
    bool is_linking = false;

    ties->sources[number] = has_source ? playback->forest->run[entry->target.number] : ESPL__NO_RUN;
    is_linking |= !has_source && ties_to(playback, &entry->target, &home);
    is_linking |= ties_to(playback, &entry->parent, &home);
    is_linking |= ties_to(playback, &entry->before, &home);
    ties->homes[number] = home;
    ties->are_linking[number] = is_linking;
    ties->are_writes[number] =
        entry->command->kind == ESPL__COMMAND_WRITE && espl__operand_is_living(&entry->target);
}

// --- Traits ---

static bool is_plain_copy(const espl__entry *entry)
{
    const espl__command *const command = entry->command;
    const bool is_placed = command->place == ESPL_PLACE_LOCAL ||
                           (command->place == ESPL_PLACE_WORLD && !espl__entry_has_parent(entry));

    return is_placed && command->count == 1 && command->value_count == 0 && command->inherit == 0 &&
           espl_entity_is_null(command->before);
}

// Traits of a command that clones a living source.
static unsigned traits_of_copy(const espl__playback *playback, const espl__entry *entry)
{
    if (!is_plain_copy(entry)) {
        return ESPL__TRAIT_COPIES;
    }
    const espl_transform *const transform = espl__entry_transform(playback, entry);
    const espl_pose pose = espl__pose_of(transform);
    const espl__extra extra = espl__extra_of(transform);

    return (unsigned)ESPL__TRAIT_COPIES |
           (espl__extra_is_default(&extra) ? (unsigned)ESPL__TRAIT_PLAIN_COPY : 0u) |
           (espl__pose_is_small(&pose) ? (unsigned)ESPL__TRAIT_SMALL : 0u);
}

static unsigned traits_of(const espl__playback *playback, const espl__entry *entry)
{
    if (!espl__operand_is_living(&entry->target)) {
        return 0;
    }
    switch (entry->command->kind) {
    case ESPL__COMMAND_INSTANTIATE:
        return traits_of_copy(playback, entry);
    case ESPL__COMMAND_DESTROY:
        return ESPL__TRAIT_DESTROYS | ESPL__TRAIT_SPARES;
    case ESPL__COMMAND_DESTROY_SUBTREE:
        return ESPL__TRAIT_DESTROYS;
    default:
        return 0;
    }
}

// What the commands of one job come to beside their entries.
typedef struct findings {
    closure last;
    unsigned links; // of all commands
} findings;

static void classify_batch(const espl__playback *playback, size_t begin, size_t end,
                           findings *found)
{
    const size_t records = espl__array_length(playback->store->records);

    for (size_t i = begin; i < end; ++i) {
        ask_for_operands(playback->store, playback->entries[i].command, records);
    }
    for (size_t i = begin; i < end; ++i) {
        resolve_operands(playback, &playback->entries[i], records);
        name_maker(playback, (uint32_t)i);
    }
    for (size_t i = begin; i < end; ++i) {
        bound_clones(playback, &playback->entries[i], &found->last);
        tie(playback, (uint32_t)i);
        playback->entries[i].traits = (uint8_t)traits_of(playback, &playback->entries[i]);
        found->links |= playback->entries[i].command->link;
    }
}

typedef struct classifying {
    const espl__playback *playback;
    atomic_bool has_free_links;
} classifying;

static void classify(void *context, size_t begin, size_t end)
{
    classifying *const c = context;
    findings found = {.last = {ESPL__NO_SLOT, 0}};

    while (begin < end) {
        const size_t stop = end - begin < BATCH ? end : begin + BATCH;

        classify_batch(c->playback, begin, stop, &found);
        begin = stop;
    }
    if (found.links != ESPL_LINK_OWNED) {
        atomic_store_explicit(&c->has_free_links, true, memory_order_relaxed);
    }
}

espl_status espl__stage_classify(espl__playback *playback)
{
    espl__arena *const arena = &playback->arena;
    const size_t entries = playback->entry_count, pendings = playback->pending_count;
    espl__ties *const ties = &playback->ties;

    playback->pending_entries =
        espl__arena_take(arena, pendings, sizeof *playback->pending_entries);
    playback->pending_nodes = espl__arena_take(arena, pendings, sizeof *playback->pending_nodes);
    ties->homes = espl__arena_take(arena, entries, sizeof *ties->homes);
    ties->sources = espl__arena_take(arena, entries, sizeof *ties->sources);
    ties->are_linking = espl__arena_take(arena, entries, sizeof *ties->are_linking);
    ties->are_writes = espl__arena_take(arena, entries, sizeof *ties->are_writes);
    if (playback->pending_entries == NULL || playback->pending_nodes == NULL ||
        ties->homes == NULL || ties->sources == NULL || ties->are_linking == NULL ||
        ties->are_writes == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    classifying c = {.playback = playback};

    atomic_init(&c.has_free_links, false);
    const espl_status status =
        espl__run_ranges(playback->executor, playback->hooks, classify, &c, entries, GRAIN);

    // Told before the first of them is: that is of no harm where it never comes to be.
    playback->forest->has_free_links =
        playback->forest->has_free_links ||
        atomic_load_explicit(&c.has_free_links, memory_order_relaxed);
    return status;
}
