// SPDX-License-Identifier: MIT
// Stage 2: handles become slots or numbers of pending entities, and the trees that a command writes
// to are noted for the group stage.
//
// Input: the entries in playback order, the records of the store, the trees and flags of slots.
// Output: the operands of each entry, the command that makes each pending entity, the home of each
// command. Commands are resolved on the workers, each into its own places, so that the result does
// not depend on the cut.
//
// Cost: O(commands + pending entities). A handle takes one or two cache misses, which batches
// overlap.
#include "lib/commands/apply.h"

#include "lib/base/prefetch.h"

#include <stdatomic.h>

// Handles name random memory: what a batch of commands reads is prefetched before the first is
// resolved.
enum { RESOLVE_GRAIN = 4096, RESOLVE_BATCH = 32 };

// State of the stage.
typedef struct resolving {
    const espl__store *store;
    const espl__play_request *request;
    const espl__ordered *ordered;
    const espl__lane_view *lanes; // of `request`
    const espl__lane_base *bases; // of `ordered`
    espl__entry *entries;         // of `ordered`
    const espl__record *records;  // [record_count]
    size_t record_count;
    const uint32_t *trees;     // by slot
    const uint8_t *flags;      // by slot
    uint32_t *pending_entries; // the arrays of the output
    espl__home *homes;
    const espl__forest *few_of; // the forest, where few commands name a large one; else NULL
    atomic_bool wants_side;
} resolving;

// --- Handles ---

// Resolve a pending handle to its number among the pending handles of all lanes. Refuses each
// pending handle in an immediate call, and handles of another command buffer or from before a
// reset.
static void resolve_pending(const resolving *r, espl_entity entity, espl__operand *out)
{
    const espl__play_request *const request = r->request;
    const uint32_t lane = espl__pending_lane(entity);

    if (request->tag == ESPL__NO_TAG) {
        *out = (espl__operand){.state = ESPL_ERR_PENDING};
        return;
    }
    // A handle that names no lane was refused when it was recorded.
    ESPL_CHECK(espl__pending_tag(entity) != request->tag || lane < request->lane_count);
    if (espl__pending_tag(entity) != request->tag ||
        entity.index >= request->lanes[lane].pending_count) {
        *out = (espl__operand){.state = ESPL_ERR_FOREIGN};
        return;
    }
    *out = (espl__operand){.number = r->bases[lane].pendings + entity.index,
                           .state = ESPL__OPERAND_PENDING};
    ESPL_CHECK_FULL(out->number < r->ordered->pending_count);
}

// The slow path of resolve_handle(): pending handles, and handles that are refused.
ESPL__APART static void resolve_other(const resolving *r, const espl_entity *entity,
                                      espl__operand *out)
{
    if (espl__is_pending(*entity)) {
        resolve_pending(r, *entity, out);
    } else {
        *out = (espl__operand){.state = espl__entity_check(r->store, *entity)};
    }
}

// Resolve a handle to a slot, or to the status that refuses it. The memory that note_trees() reads
// of the slot is prefetched.
static inline void resolve_handle(const resolving *r, const espl_entity *entity, espl__operand *out)
{
    const uint32_t index = entity->index;

    // A generation that equals the one in the record is of this world, and no pending handle has
    // it.
    if (index < r->record_count && r->records[index].generation == entity->generation &&
        r->records[index].row < ESPL__ROW_RETIRED) {
        out->number = r->records[index].slot;
        out->state = ESPL_OK;
        espl__prefetch(&r->trees[out->number]);
        espl__prefetch(&r->flags[out->number]);
    } else {
        resolve_other(r, entity, out);
    }
}

// As resolve_handle(), with a fast path for the null entity, because most commands leave out what
// is optional.
static inline void resolve_optional(const resolving *r, const espl_entity *entity,
                                    espl__operand *out)
{
    if ((entity->index | entity->generation) == 0) {
        out->number = 0;
        out->state = ESPL_ERR_NULL_ENTITY;
    } else {
        resolve_handle(r, entity, out);
    }
}

// The index may be any number, because the handle was not checked.
static inline void prefetch_record(const resolving *r, uint32_t index)
{
    espl__prefetch_element(r->records, index, sizeof *r->records);
}

// Note which command makes each of its pending entities.
static inline void name_makers(const resolving *r, const espl__entry *entry, uint32_t number)
{
    const uint32_t count = entry->command->count;

    if (count == 0) {
        return;
    }
    const uint32_t first = r->bases[entry->lane].pendings + entry->command->pending;

    ESPL_CHECK_FULL(entry->command->pending + count <= r->lanes[entry->lane].pending_count);
    for (uint32_t k = 0; k < count; ++k) {
        r->pending_entries[first + k] = number;
    }
}

// --- Trees ---

// Add the tree of an operand to those of a command. A pending operand has no tree yet, so that its
// command has to be united with the one that makes it. An operand that is refused ties the command
// to nothing.
// @param seen  flags of all operands that live, because a node with something in side arrays may move
//              to another tree with all that it has.
static inline void tie_to(const resolving *r, const espl__operand *operand, unsigned *seen,
                          espl__home *home)
{
    if (!espl__operand_is_living(operand)) {
        home->is_linking |= espl__operand_is_pending(operand) ? ESPL__LINKS_PENDING : 0;
        return;
    }
    const uint32_t slot = operand->number, tree = r->trees[slot];

    *seen |= r->flags[slot];
    if (home->tree == ESPL__NO_TREE) {
        home->tree = tree;
        home->slot = slot;
    }
    home->is_linking |= home->tree != tree ? ESPL__LINKS_TREE : 0;
}

// Note the trees of a command whose operands are resolved. The tree of a source is read, not
// written.
static inline void note_trees(const resolving *r, uint32_t number, unsigned *seen)
{
    const espl__entry *const entry = &r->entries[number];
    espl__home home = {.tree = ESPL__NO_TREE, .slot = ESPL__NO_SLOT};

    if (entry->command->kind == ESPL__COMMAND_INSTANTIATE &&
        espl__operand_is_living(&entry->target)) {
        *seen |= r->flags[entry->target.number];
    } else {
        tie_to(r, &entry->target, seen, &home);
    }
    tie_to(r, &entry->parent, seen, &home);
    tie_to(r, &entry->before, seen, &home);
    r->homes[number] = home;
}

// --- The stage ---

// Resolve commands [begin, end) in three passes, each of which reads what the pass before it
// prefetched.
static inline void resolve_batch(const resolving *r, size_t begin, size_t end, unsigned *seen)
{
    for (size_t i = begin; i < end; ++i) {
        const espl__command *const command = r->entries[i].command;

        prefetch_record(r, command->target.index);
        prefetch_record(r, command->parent.index);
        prefetch_record(r, command->before.index);
    }
    for (size_t i = begin; i < end; ++i) {
        espl__entry *const entry = &r->entries[i];

        resolve_handle(r, &entry->command->target, &entry->target);
        resolve_optional(r, &entry->command->parent, &entry->parent);
        resolve_optional(r, &entry->command->before, &entry->before);
        name_makers(r, entry, (uint32_t)i);
    }
    // The lines of few commands are fetched together, because nothing else hides the waits for them.
    for (size_t i = begin; r->few_of != NULL && i < end; ++i) {
        espl__entry_prefetch(r->few_of, r->store, &r->entries[i]);
    }
    for (size_t i = begin; i < end; ++i) {
        note_trees(r, (uint32_t)i, seen);
    }
}

// A job: resolve commands [begin, end), batch by batch.
static void resolve_range(void *context, size_t begin, size_t end)
{
    resolving *const r = context;
    unsigned seen = 0;

    ESPL_CHECK(end <= r->ordered->entry_count);
    while (begin < end) {
        const size_t stop = end - begin < RESOLVE_BATCH ? end : begin + RESOLVE_BATCH;

        resolve_batch(r, begin, stop, &seen);
        begin = stop;
    }
    // One store for each job, not for each command, because the workers share the line.
    if ((seen & ESPL__SLOT_SIDE) != 0) {
        atomic_store_explicit(&r->wants_side, true, memory_order_relaxed);
    }
}

espl_status espl__stage_resolve(espl__stage_context *context, const espl__resolve_input *in,
                                espl__resolved *out)
{
    espl__arena *const arena = &context->arena;
    const size_t entries = in->ordered->entry_count, pendings = in->ordered->pending_count;
    resolving r = {.store = context->store,
                   .request = in->request,
                   .ordered = in->ordered,
                   .lanes = in->request->lanes,
                   .bases = in->ordered->bases,
                   .entries = in->ordered->entries,
                   .records = context->store->records,
                   .record_count = espl__array_length(context->store->records),
                   .trees = context->forest->tree,
                   .flags = context->forest->flags,
                   .pending_entries = espl__arena_take(arena, pendings, sizeof *r.pending_entries),
                   .homes = espl__arena_take(arena, entries, sizeof *r.homes),
                   .few_of = entries <= ESPL__APPLY_AHEAD && espl__forest_is_far(context->forest)
                                 ? context->forest
                                 : NULL};
    unsigned traits = 0;

    if (r.pending_entries == NULL || r.homes == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < in->request->lane_count; ++i) {
        traits |= r.lanes[i].traits;
    }
    atomic_init(&r.wants_side, (traits & ESPL__LANE_WANTS_SIDE) != 0);
    const espl_status status = espl__run_ranges(context->executor, context->hooks, resolve_range,
                                                &r, entries, RESOLVE_GRAIN);

    out->pending_entries = r.pending_entries;
    out->homes = r.homes;
    out->wants_side = atomic_load_explicit(&r.wants_side, memory_order_relaxed);
    out->changes_sets = (traits & ESPL__LANE_CHANGES_SETS) != 0;
    return status;
}
