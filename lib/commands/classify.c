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

static void resolve_pending(const espl__playback *playback, espl_entity entity, espl__operand *out)
{
    const uint32_t lane = espl__pending_lane(entity);

    // What names no lane was refused when it was recorded.
    ESPL_CHECK(espl__pending_tag(entity) != playback->tag || lane < playback->lane_count);
    if (espl__pending_tag(entity) != playback->tag ||
        entity.index >= playback->lanes[lane].pending_count) {
        *out = (espl__operand){.state = ESPL_ERR_FOREIGN};
        return;
    }
    *out = (espl__operand){.number = playback->lanes[lane].pending_base + entity.index,
                           .state = ESPL__OPERAND_PENDING};
}

// What is not alive.
ESPL__APART static void resolve_other(const espl__playback *playback, const espl_entity *entity,
                                      espl__operand *out)
{
    if (espl__is_pending(*entity)) {
        resolve_pending(playback, *entity, out);
    } else {
        *out = (espl__operand){.state = espl__entity_check(playback->store, *entity)};
    }
}

// What a batch reads over and over, held where no write may be taken for one to it.
typedef struct reading {
    const espl__playback *playback;
    espl__entry *entries;
    const espl__record *records; // [record_count]
    size_t record_count;
    const uint32_t *runs; // of slots
} reading;

// What a handle names.
static inline void resolve(const reading *r, const espl_entity *entity, espl__operand *out)
{
    const uint32_t index = entity->index;

    // A word that the record has too is one of this world, and no pending handle has it.
    if (index < r->record_count && r->records[index].generation == entity->generation &&
        r->records[index].row < ESPL__ROW_RETIRED) {
        out->number = r->records[index].slot;
        out->state = ESPL_OK;
        espl__ask(&r->runs[out->number]);
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

// A null handle has index 0, which costs nothing to ask for.
static inline void ask_for(const reading *r, uint32_t index)
{
    if (index < r->record_count) {
        espl__ask(&r->records[index]);
    }
}

static inline void ask_for_operands(const reading *r, const espl__command *command)
{
    ask_for(r, command->target.index);
    ask_for(r, command->parent.index);
    ask_for(r, command->before.index);
}

static inline void resolve_operands(const reading *r, espl__entry *entry)
{
    const espl__command *const command = entry->command;

    resolve(r, &command->target, &entry->target);
    resolve_optional(r, &command->parent, &entry->parent);
    resolve_optional(r, &command->before, &entry->before);
}

static inline void name_makers(const espl__playback *playback, const espl__entry *entry,
                               uint32_t number)
{
    const uint32_t count = entry->command->count;

    if (count == 0) {
        return;
    }
    uint32_t *const makers = playback->pending_entries + playback->lanes[entry->lane].pending_base +
                             entry->command->pending;

    for (uint32_t k = 0; k < count; ++k) {
        makers[k] = number;
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

static uint32_t bound_clones(const espl__forest *forest, uint32_t source, closure *last)
{
    if (last->slot != source) {
        last->slot = source;
        last->bound = count_closure(forest, source);
    }
    return last->bound;
}

// --- Ties ---

// Runs that a command writes to.
typedef struct tie {
    uint32_t home;
    bool is_linking;
} tie;

static inline void tie_to(const reading *r, const espl__operand *operand, tie *out)
{
    if (!espl__operand_is_living(operand)) {
        out->is_linking |= espl__operand_is_pending(operand);
        return;
    }
    const uint32_t run = r->runs[operand->number];

    out->home = out->home == ESPL__NO_RUN ? run : out->home;
    out->is_linking |= out->home != run;
}

// --- Traits ---

// Traits of a command that clones a living source.
static unsigned traits_of_copy(const espl__entry *entry)
{
    const espl__command *const command = entry->command;
    const bool is_placed = command->place == ESPL_PLACE_LOCAL ||
                           (command->place == ESPL_PLACE_WORLD && !espl__entry_has_parent(entry));

    return (unsigned)ESPL__TRAIT_COPIES | (is_placed ? command->traits : 0u);
}

// Traits of a command on a target that lives and is no source.
static unsigned traits_of_kind(unsigned kind)
{
    switch (kind) {
    case ESPL__COMMAND_DESTROY:
        return ESPL__TRAIT_DESTROYS | ESPL__TRAIT_SPARES;
    case ESPL__COMMAND_DESTROY_SUBTREE:
        return ESPL__TRAIT_DESTROYS;
    default:
        return 0;
    }
}

// --- All of it ---

// What the commands of one job come to beside their entries.
typedef struct findings {
    closure last;
    unsigned links; // of all commands
} findings;

// What a command is by itself, once it is known whom it names.
static inline void settle(const reading *r, uint32_t number, findings *found)
{
    const espl__playback *const playback = r->playback;
    const espl__ties *const ties = &playback->ties;
    espl__entry *const entry = &r->entries[number];
    const unsigned kind = entry->command->kind;
    const bool is_living = espl__operand_is_living(&entry->target);
    tie t = {.home = ESPL__NO_RUN};

    if (kind == ESPL__COMMAND_INSTANTIATE && is_living) {
        ties->sources[number] = r->runs[entry->target.number];
        entry->clone_bound = bound_clones(playback->forest, entry->target.number, &found->last);
        entry->traits = (uint8_t)traits_of_copy(entry);
    } else {
        ties->sources[number] = ESPL__NO_RUN;
        entry->clone_bound = espl__command_creates(kind) ? 1 : 0;
        entry->traits = (uint8_t)(is_living ? traits_of_kind(kind) : 0);
        tie_to(r, &entry->target, &t);
    }
    tie_to(r, &entry->parent, &t);
    tie_to(r, &entry->before, &t);
    ties->homes[number] = t.home;
    ties->are_linking[number] = t.is_linking;
    ties->are_writes[number] = is_living && kind == ESPL__COMMAND_WRITE;
    found->links |= entry->command->link;
}

static void classify_batch(const reading *r, size_t begin, size_t end, findings *found)
{
    for (size_t i = begin; i < end; ++i) {
        ask_for_operands(r, r->entries[i].command);
    }
    for (size_t i = begin; i < end; ++i) {
        resolve_operands(r, &r->entries[i]);
        name_makers(r->playback, &r->entries[i], (uint32_t)i);
    }
    for (size_t i = begin; i < end; ++i) {
        settle(r, (uint32_t)i, found);
    }
}

typedef struct classifying {
    const espl__playback *playback;
    atomic_bool has_free_links;
} classifying;

static void classify(void *context, size_t begin, size_t end)
{
    classifying *const c = context;
    const reading r = {.playback = c->playback,
                       .entries = c->playback->entries,
                       .records = c->playback->store->records,
                       .record_count = espl__array_length(c->playback->store->records),
                       .runs = c->playback->forest->run};
    findings found = {.last = {ESPL__NO_SLOT, 0}};

    while (begin < end) {
        const size_t stop = end - begin < BATCH ? end : begin + BATCH;

        classify_batch(&r, begin, stop, &found);
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
