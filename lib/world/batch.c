// SPDX-License-Identifier: MIT
// Batches of writes: espl_write_batch() and espl_write_strided().
//
// A batch has three steps. It finds the slot of each entry's entity, in jobs. It sorts the entries
// by slot, unless they come sorted, and forms a group of the entries of each tree. It writes the
// groups, again in jobs, one pass over each tree. All that can fail comes first: memory, and side
// arrays that the values need. From write_all_groups() on nothing is allocated and nothing fails.
//
// Invariants: entries of one entity are applied in the order of the caller. Two jobs never write
// the same tree. What a batch leaves in the world, and what its report says, does not depend on the
// number of workers. An entry that is refused does not keep others from being applied.
//
// Callers: the two public functions at the end.
#include "lib/world/slot_writes.h"

#include "lib/base/prefetch.h"
#include "lib/tree/tree_batch.h"
#include "lib/world/slot_sort.h"
#include "lib/world/tape.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(sizeof(espl_write) == 60, "write: 8 + 4 + 48");

enum {
    WRITE_JOBS = 256, // upper bound of jobs, because beginning and ending a job is serialised
    ENTRY_COST = 4,   // cost of finding and writing an entry, in world transforms recomputed
    RESOLVED = 1024,  // lower bound of entries that a job resolves; wake_cost may ask for more
};

// The entries of one tree: [begin, begin + count) in the order of slots.
typedef struct group {
    uint32_t begin, count;
    bool is_done;
} group;

// A batch under way. Arrays lie in world->write_scratch. Jobs write only the atomic fields, and
// elements of arrays that belong to their range.
typedef struct batch {
    espl_world *world;
    const espl__entries *entries;
    espl__write_source source;
    espl_status *results; // [count]
    uint32_t *slots;      // [count] of each entry, or ESPL__NO_SLOT; then [sorted_count] sorted
    uint32_t *numbers;    // [sorted_count] of the entries, where they had to be sorted
    espl__slot_key *keys, *spare_keys; // [count] scratch of the sort
    size_t sorted_count;         // entries that name a node
    bool is_sorted;              // as they come: numbers are not written
    group *groups;               // [group_count]
    size_t group_count;
    uint64_t weight; // of all groups
    uint32_t *cuts; // [cut_count + 1] groups at which a piece begins
    size_t cut_count;
    _Atomic bool is_unordered; // slots do not ascend, or some entry has none
    _Atomic bool is_mixed, wants_side, has_remarks, has_sides_to_drop, has_due;
    bool looks_for_zeros;  // of whole transforms, because the log hook takes remarks
    _Atomic bool has_zero; // some entry has one
    _Atomic uint64_t visited, skipped, writes, writes_skipped, overflowed, debt;
} batch;

// --- Entries ---

// Copy the value of an entry, which may be unaligned in the caller's array.
static void load(const espl__entries *e, size_t i, espl_write_kind kind, espl_write_value *value)
{
    espl__write_load(value, kind, espl__entries_value(e, i));
}

// Tell whether an entry sets a stretch or user data for which its tree needs side arrays. An entry
// whose value is refused needs none.
static inline bool entry_wants_side(const espl__entries *e, size_t i)
{
    const espl_write_kind kind = espl__entries_kind(e, i);
    espl_write_value value;

    // The usual case, without a copy of the value.
    if (kind == ESPL_WRITE_LOCAL_TRANSFORM) {
        espl__extra extra;

        memcpy(&extra,
               (const unsigned char *)espl__entries_value(e, i) + offsetof(espl_transform, stretch),
               sizeof extra);
        if (espl__extra_is_default(&extra)) {
            return false;
        }
    } else if (!espl__write_has_extra(kind)) {
        return false;
    }
    load(e, i, kind, &value);
    return espl__write_wants_side(kind, &value) && espl__write_check(kind, &value) == ESPL_OK;
}

// --- Memory ---

// Place the arrays of a batch of `count` entries in a block.
// @param block  NULL: only measure.
// @return bytes.
static size_t carve_batch(batch *b, unsigned char *block, size_t count)
{
    size_t at = 0;

    b->results = espl__carve(block, &at, count, sizeof *b->results, 16);
    b->slots = espl__carve(block, &at, count, sizeof *b->slots, 16);
    b->numbers = espl__carve(block, &at, count, sizeof *b->numbers, 16);
    b->keys = espl__carve(block, &at, count, sizeof *b->keys, 16);
    b->spare_keys = espl__carve(block, &at, count, sizeof *b->spare_keys, 16);
    b->groups = espl__carve(block, &at, count, sizeof *b->groups, 16);
    b->cuts = espl__carve(block, &at, count + 1, sizeof *b->cuts, 16);
    return at;
}

espl_status espl__scratch_grow(espl_world *world, espl__scratch *scratch, size_t size)
{
    if (size <= scratch->size) {
        return ESPL_OK;
    }
    void *const block = espl__heap_take(&world->heap, ESPL__FOR_COMMANDS, 1, size, 64);

    if (block == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }
    espl__scratch_free(world, scratch);
    *scratch = (espl__scratch){block, size};
    return ESPL_OK;
}

void espl__scratch_free(espl_world *world, espl__scratch *scratch)
{
    espl__heap_give(&world->heap, ESPL__FOR_COMMANDS, scratch->block, 1, scratch->size, 64);
    *scratch = (espl__scratch){NULL, 0};
}

espl_status espl__writes_reserve(espl_world *world, size_t count)
{
    batch measured;

    if (count > ESPL__ENTRIES_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return espl__scratch_grow(world, &world->write_scratch, carve_batch(&measured, NULL, count));
}

// --- Resolving ---

// Set the results of entries without a slot to the status that refuses them. Precondition: results
// of [begin, end) are ESPL_OK. A second pass, because nearly all batches have no such entry.
static void explain_missing(batch *b, size_t begin, size_t end)
{
    ESPL_CHECK(begin <= end && end <= b->entries->count);
    for (size_t i = begin; i < end; ++i) {
        uint32_t none = ESPL__NO_SLOT;

        if (b->slots[i] == ESPL__NO_SLOT) {
            b->results[i] = espl__find_placed(b->world, espl__entries_entity(b->entries, i), &none);
        }
    }
}

// Refuse entries whose kind does not exist, and note whether the batch has several kinds.
// Precondition: the entries have a kind each.
static void check_kinds(batch *b, size_t begin, size_t end)
{
    ESPL_CHECK(b->entries->writes != NULL && begin <= end && end <= b->entries->count);
    const espl_write *const writes = b->entries->writes;
    bool is_mixed = false;

    for (size_t i = begin; i < end; ++i) {
        is_mixed = is_mixed || writes[i].kind != writes[0].kind;
        if ((unsigned)writes[i].kind >= ESPL_WRITE_KIND_COUNT && b->results[i] == ESPL_OK) {
            b->results[i] = ESPL_ERR_ARGUMENT;
            b->slots[i] = ESPL__NO_SLOT;
            b->is_unordered = true;
        }
    }
    if (is_mixed) {
        b->is_mixed = true;
    }
}

// Tell whether some entry of [begin, end) may need side arrays. Entries without a node are not left
// out: the answer only decides whether ensure_sides() looks closer.
static bool some_wants_side(const batch *b, size_t begin, size_t end)
{
    const espl__entries *const e = b->entries;
    bool is_wanted = false;

    if (e->writes == NULL && !espl__write_has_extra(e->kind)) {
        return false;
    }
    for (size_t i = begin; i < end && !is_wanted; ++i) {
        is_wanted = entry_wants_side(e, i);
    }
    return is_wanted;
}

// Job: find the slots of entries [begin, end) and check their kinds. Writes results and slots of
// its range, and sets flags of the batch. A flag that is set already is not written again, because
// all jobs share its cache line.
static void resolve_entries(void *context, size_t begin, size_t end)
{
    batch *const b = context;

    ESPL_CHECK(begin <= end && end <= b->entries->count);

    memset(b->results + begin, 0, (end - begin) * sizeof *b->results);
    if (!espl__find_slots(b->world, &b->entries->handles, begin, end, b->slots)) {
        b->is_unordered = true;
        explain_missing(b, begin, end);
    }
    if (b->entries->writes != NULL) {
        check_kinds(b, begin, end);
    }
    if (!b->wants_side && some_wants_side(b, begin, end)) {
        b->wants_side = true;
    }
    if (b->looks_for_zeros && espl__entries_have_zero(b->entries, begin, end)) {
        b->has_zero = true;
    }
}

// Run jobs while the world counts as playing, so that a call of the executor's threads into the
// library is refused.
static espl_status run_closed(batch *b, espl__range_function function, size_t count, size_t grain)
{
    espl_world *const world = b->world;

    ESPL_CHECK(!world->is_playing);
    world->is_playing = true;
    const espl_status status =
        espl__run_ranges(&world->executor, &world->hooks, function, b, count, grain);
    world->is_playing = false;
    return status;
}

// --- Order ---

// Sort the entries by slot, and leave out those without one. The sort is stable, so that entries of
// one node keep their order. Postcondition: slots [0, sorted_count) ascend.
static void sort_by_slot(batch *b)
{
    size_t count = 0;

    b->is_sorted = !b->is_unordered;
    b->sorted_count = b->entries->count;
    if (b->is_sorted) {
        return;
    }
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->slots[i] != ESPL__NO_SLOT) {
            b->keys[count++] = (espl__slot_key){b->slots[i], (uint32_t)i};
        }
    }
    b->sorted_count = count;
    if (count != 0) {
        espl__slot_keys_sort(&b->world->forest, &b->keys, &b->spare_keys, count);
    }
    for (size_t i = 0; i < count; ++i) {
        b->slots[i] = b->keys[i].slot;
        b->numbers[i] = b->keys[i].number;
    }
}

// Number of the caller's entry at an index of the sorted order.
static uint32_t entry_at(const batch *b, uint32_t at)
{
    ESPL_CHECK_FULL(at < b->sorted_count);
    return b->is_sorted ? at : b->numbers[at];
}

// For assertions.
static bool slots_ascend(const batch *b)
{
    bool ascend = true;

    for (size_t i = 1; i < b->sorted_count; ++i) {
        ascend = ascend && b->slots[i - 1] <= b->slots[i];
    }
    return ascend;
}

// Return `live`, the nodes of a tree, if that many entries from `at` on write to the tree, whose slots
// end at `end`; else 0. Slots ascend, so only the last of these entries is looked at. Most batches of
// many writes have an entry for each node of a tree.
static inline uint32_t skip_entries(const batch *b, uint32_t at, uint32_t live, uint32_t end)
{
    const uint64_t next = (uint64_t)at + live;

    ESPL_CHECK_FULL(live != 0 && b->slots[at] < end);
    return next <= b->sorted_count && b->slots[next - 1] < end ? live : 0;
}

// Form a group for each tree, and cut the groups into pieces of at least world->job_cost, which are
// worth a job. Precondition: slots ascend. The weight of a group is the nodes of its tree, because
// a write may visit all of them, and a cost for each entry.
static void form_groups(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    uint64_t weight = 0;

    ESPL_CHECK_FULL(slots_ascend(b));
    b->group_count = b->cut_count = 0;
    b->weight = 0;
    b->cuts[0] = 0;
    for (uint32_t at = 0; at < b->sorted_count;) {
        const espl__tree *const t = espl__tree_of(forest, b->slots[at]);
        const uint32_t begin = at, end = t->base + t->capacity;

        if (weight >= b->world->job_cost) {
            b->cuts[++b->cut_count] = (uint32_t)b->group_count;
            weight = 0;
        }
        at += skip_entries(b, at, t->live, end);
        while (at < b->sorted_count && b->slots[at] < end) {
            at += 1;
        }
        ESPL_CHECK_FULL(at > begin && b->group_count < b->entries->count);
        const uint64_t added = t->live + (uint64_t)ENTRY_COST * (at - begin);

        weight += added;
        b->weight += added;
        b->groups[b->group_count++] = (group){.begin = begin, .count = at - begin};
    }
}

// Give side arrays to the trees that need them for some entry, before anything is written.
static espl_status ensure_sides(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl_status status = ESPL_OK;

    for (size_t g = 0; b->wants_side && g < b->group_count && status == ESPL_OK; ++g) {
        const group *const at = &b->groups[g];
        const uint32_t tree = forest->tree[b->slots[at->begin]];
        bool is_wanted = false;

        for (uint32_t i = 0; forest->trees[tree].side == NULL && i < at->count && !is_wanted; ++i) {
            is_wanted = entry_wants_side(b->entries, entry_at(b, at->begin + i));
        }
        status = is_wanted ? espl__ensure_side(b->world, tree, false) : ESPL_OK;
    }
    return status;
}

// Free the side arrays that turned out not to be needed.
static void drop_sides(const batch *b)
{
    espl__forest *const forest = &b->world->forest;

    for (size_t i = 0; i < b->group_count; ++i) {
        espl__tree_drop_side(forest, forest->tree[b->slots[b->groups[i].begin]]);
    }
}

// Move trees whose layout debt came due in a job to the list of unsettled trees. In the order of
// trees, so that the list does not depend on the workers.
static void mark_due_trees(const batch *b)
{
    espl__forest *const forest = &b->world->forest;

    for (size_t i = 0; i < b->group_count; ++i) {
        const uint32_t tree = forest->tree[b->slots[b->groups[i].begin]];

        if ((forest->trees[tree].flags & ESPL__TREE_DUE) != 0) {
            forest->trees[tree].flags &= ~(uint32_t)ESPL__TREE_DUE;
            espl__tree_mark_unsettled(forest, tree);
        }
    }
}

// --- Writing ---

// Write the entries of one tree. Postcondition: its world transforms are up to date, or it is in
// context->batch and will be at espl__tree_batch_finish().
static void write_group(batch *b, group *g, espl__context *context)
{
    ESPL_CHECK_FULL(!g->is_done && g->count != 0 && g->begin + g->count <= b->sorted_count);
    const espl__tree_writes writes = {.source = &b->source,
                                      .slots = b->slots + g->begin,
                                      .numbers = b->is_sorted ? NULL : b->numbers + g->begin,
                                      .first = g->begin,
                                      .count = g->count};
    espl__forest *const forest = &b->world->forest;

    if (espl__tree_write(forest, context, &writes)) {
        b->has_remarks = true;
    }
    if (espl__tree_of(forest, b->slots[g->begin])->side != NULL) {
        context->has_sides_to_drop = true;
    }
    g->is_done = true;
}

// Add the counts of a job to those of the batch.
static void add_counts(batch *b, const espl__context *context)
{
    b->visited += context->counts.nodes_visited;
    b->skipped += context->counts.nodes_skipped;
    b->writes += context->counts.writes;
    b->writes_skipped += context->counts.writes_skipped;
    b->overflowed += context->counts.overflowed;
    b->debt += context->counts.debt;
    if (context->has_sides_to_drop) {
        b->has_sides_to_drop = true;
    }
    if (context->has_due) {
        b->has_due = true;
    }
}

// Prefetch the trees of later groups, because trees are far apart in memory: the header of one group, and
// of a nearer one the slots that its writes reach.
static inline void prefetch_trees(const batch *b, size_t at, size_t end)
{
    enum { FAR = 6, NEAR = 3, LINE = 64, SLOTS = 48 };
    const espl__forest *const forest = &b->world->forest;

    if (at + FAR < end) {
        const uint32_t slot = b->slots[b->groups[at + FAR].begin];

        espl__prefetch(&forest->trees[forest->tree[slot]]);
    }
    if (at + NEAR < end) {
        const group *const g = &b->groups[at + NEAR];
        const uint32_t slot = b->slots[g->begin];
        const espl__tree *const t = espl__tree_of(forest, slot);
        // A single write below the root visits few nodes.
        const uint32_t reach = slot == t->base || g->count > 1 ? t->base + t->used - slot : 1;
        const uint32_t count = reach < SLOTS ? reach : SLOTS;

        espl__prefetch(&forest->links[slot]);
        espl__prefetch(&forest->flags[slot]);
        for (uint32_t k = 0; k < count; k += LINE / sizeof(uint32_t)) {
            espl__prefetch(&forest->parent[slot + k]);
        }
        for (uint32_t k = 0; k < count; k += LINE / sizeof(espl_pose)) {
            espl__prefetch(&forest->local[slot + k]);
            espl__prefetch_to_write(&forest->world[slot + k]);
        }
    }
}

// Write groups [begin, end) that are not done.
static void write_groups(batch *b, size_t begin, size_t end)
{
    espl__forest *const forest = &b->world->forest;
    espl__tree_batch trees = {0};
    espl__context context = {.is_job = true, .batch = &trees};

    // Prefetches cost more than they save where all slots are in the second-level cache.
    const bool is_far = espl__forest_is_far(forest);

    for (size_t i = begin; i < end; ++i) {
        if (is_far) {
            prefetch_trees(b, i, end);
        }
        if (!b->groups[i].is_done) {
            write_group(b, &b->groups[i], &context);
        }
    }
    espl__tree_batch_finish(forest, &context, &trees);
    add_counts(b, &context);
}

// Job: write the groups of pieces [begin, end).
static void write_pieces(void *context, size_t begin, size_t end)
{
    batch *const b = context;
    const size_t last = end <= b->cut_count ? b->cuts[end] : b->group_count;

    ESPL_CHECK(begin < end && end <= b->cut_count + 1);

    write_groups(b, b->cuts[begin], last);
}

// Write the trees that are large enough to be divided among workers, one after the other, each on
// all workers. Only where they are fewer than twice the workers: many large trees keep all workers
// busy by themselves.
static void write_large_trees(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl__context context = {.workers = forest->context.workers, .is_job = true};
    size_t large_count = 0;

    if (espl__executor_is_serial(&b->world->executor)) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        large_count +=
            espl__tree_of(forest, b->slots[b->groups[i].begin])->live / 2 >= forest->grain;
    }
    if (large_count == 0 || large_count / 2 >= b->world->executor.worker_count) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        if (espl__tree_of(forest, b->slots[b->groups[i].begin])->live / 2 >= forest->grain) {
            write_group(b, &b->groups[i], &context);
        }
    }
    add_counts(b, &context);
}

// --- The whole ---

// Fill the report from the results. The fast path of a batch without remarks does not read them.
static void count_results(const batch *b, espl_write_report *report)
{
    report->overflowed = (size_t)b->overflowed;
    if (b->sorted_count == b->entries->count && !b->has_remarks) {
        report->applied = b->entries->count;
        return;
    }
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->results[i] >= 0) {
            const int remark = (int)b->results[i] % ESPL__UNCHANGED;

            report->applied += 1;
            report->lossy += remark == ESPL_LOSSY ? 1 : 0;
            continue;
        }
        if (report->refused == 0) {
            report->first_refused = i;
            report->first_status = b->results[i];
        }
        report->refused += 1;
    }
}

// All that can fail. A refusal has changed nothing but scratch memory.
static espl_status prepare_batch(batch *b)
{
    const espl__entries *const e = b->entries;
    espl_status status = espl__writes_reserve(b->world, e->count);

    if (status != ESPL_OK) {
        return status;
    }
    (void)carve_batch(b, b->world->write_scratch.block, e->count);
    const size_t worth = b->world->wake_cost / ENTRY_COST;

    status = run_closed(b, resolve_entries, e->count, worth > RESOLVED ? worth : RESOLVED);
    if (status != ESPL_OK) {
        return status;
    }
    sort_by_slot(b);
    form_groups(b);
    const espl_write_kind kind = espl__entries_kind(e, 0);

    b->source = (espl__write_source){.writes = b->is_mixed ? e->writes : NULL,
                                     .values = {.first = e->values,
                                                .stride = e->value_size,
                                                .has_stretch = kind == ESPL_WRITE_LOCAL_TRANSFORM},
                                     .kind = kind,
                                     .is_one_kind = !b->is_mixed,
                                     .results = b->results};
    status = ensure_sides(b);
    if (status != ESPL_OK) {
        drop_sides(b);
    }
    return status;
}

// Apply a prepared batch. Cannot fail.
static void write_all_groups(batch *b)
{
    ESPL_CHECK(!b->world->is_playing);
    espl__heap_forbid(&b->world->heap);
    write_large_trees(b);
    const size_t pieces = b->group_count != 0 ? b->cut_count + 1 : 0;
    const bool is_small = b->weight < b->world->wake_cost;
    const size_t jobs = is_small || espl__executor_is_serial(&b->world->executor) ? 1 : WRITE_JOBS;

    // An executor that lost a job may have run others: groups that are done are skipped.
    if (run_closed(b, write_pieces, pieces, (pieces + jobs - 1) / jobs) != ESPL_OK) {
        write_groups(b, 0, b->group_count);
    }
    const espl__counts counts = {.nodes_visited = b->visited,
                                 .nodes_skipped = b->skipped,
                                 .writes = b->writes,
                                 .writes_skipped = b->writes_skipped,
                                 .overflowed = b->overflowed,
                                 .debt = b->debt};

    espl__counts_add(&b->world->forest.context.counts, &counts);
    if (b->has_sides_to_drop) {
        drop_sides(b);
    }
    if (b->has_due) {
        mark_due_trees(b);
    }
    espl__heap_allow(&b->world->heap);
}

// Precondition: the pointers of the entries were checked.
static espl_status write_batch(espl_world *world, const espl__entries *e, espl_write_report *report)
{
    batch b = {.world = world, .entries = e, .looks_for_zeros = espl__is_logged(world)};
    espl_status status = ESPL_OK;

    if (e->count == 0) {
        return ESPL_OK;
    }
    status = world->is_playing ? ESPL_ERR_BUSY : prepare_batch(&b);
    if (status != ESPL_OK) {
        return status;
    }
    ESPL_CHECK(b.sorted_count <= e->count && b.group_count <= b.sorted_count);
    write_all_groups(&b);
    count_results(&b, report);
    ESPL_CHECK(report->applied + report->refused == e->count);
    if (report->refused != 0) {
        espl__refuse_entry(world, e, report);
    }
    if (b.has_zero) {
        espl__remark_zeros(world, e);
    }
    if (report->refused != 0) {
        return ESPL_PARTLY;
    }
    if (report->overflowed != 0) {
        return ESPL_OVERFLOW;
    }
    return report->lossy != 0 ? ESPL_LOSSY : ESPL_OK;
}

// What both public functions do.
// @param fault  a sentence that says what is wrong with the arguments, or NULL.
static espl_status start_batch(espl_world *world, const espl__entries *e, const char *fault,
                               espl_write_report *report, size_t size)
{
    espl_write_report account = {0};
    espl_status status = ESPL_ERR_ARGUMENT;

    ESPL__CHANGE_OR_RETURN(world, e->call)
    if (world != NULL && fault == NULL) {
        status = ESPL__TAPED(world, write_batch(world, e, &account), .op = ESPL_TAPE_WRITES,
                             .entries = e);
    }
    espl__sized_write(report, size, &account, sizeof account);
    return espl__refuse_call(world, e->call, status, fault);
}

espl_status espl_write_batch_sized(espl_world *world, const espl_write *writes, size_t count,
                                   espl_write_report *report, size_t size)
{
    espl__entries e = {.call = "espl_write_batch", .writes = writes, .count = count};

    if (writes != NULL) {
        e.handles = (espl__handles){(const unsigned char *)&writes->entity, sizeof *writes};
        e.values = (const unsigned char *)&writes->value;
        e.value_size = sizeof *writes;
    }
    return start_batch(
        world, &e, writes == NULL && count != 0 ? "writes is NULL, but the count is not 0." : NULL,
        report, size);
}

espl_status espl_write_strided_sized(espl_world *world, espl_write_kind kind,
                                     const espl_entity *entities, size_t entity_stride,
                                     const void *values, size_t value_stride, size_t count,
                                     espl_write_report *report, size_t size)
{
    const espl__entries e = {
        .call = "espl_write_strided",
        .handles = {(const unsigned char *)entities, entity_stride},
        .values = values,
        .value_size = value_stride,
        .kind = kind,
        .count = count,
    };

    return start_batch(world, &e, espl__entries_fault(&e), report, size);
}
