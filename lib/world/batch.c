// SPDX-License-Identifier: MIT
// Batches of writes: handles are resolved to slots, entries sorted by slot unless they are already,
// and each tree is written in one pass, trees side by side. All memory is taken before anything
// changes.
#include "lib/world/slot_writes.h"

#include "lib/base/prefetch.h"
#include "lib/tree/alike.h"
#include "lib/world/entries.h"
#include "lib/world/places.h"
#include "lib/world/tape.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(sizeof(espl_write) == 60, "write: 8 + 4 + 48");

enum {
    WRITE_JOBS = 256, // at most: more of them would wait for each other when they begin and end
    ENTRY_COST = 4,   // of finding and writing an entry, against a world recomputed
    RESOLVED = 1024,  // entries that a job resolves at least; more if wake_cost asks for it
};

// Entries of a batch at most: there are four numbers for each.
#define BATCH_LIMIT (UINT32_MAX / 4)

// The entries of one tree: [begin, begin + count) in the order of slots.
typedef struct group {
    uint32_t begin, count;
    bool is_done;
} group;

typedef struct batch {
    espl_world *world;
    const espl__entries *entries;
    espl__write_source source;
    espl_status *results; // [count]
    uint32_t *slots;      // [count] of each entry, or ESPL__NO_SLOT; then [sorted_count] sorted
    uint32_t *numbers;    // [sorted_count] of the entries, where they had to be sorted
    espl__place *places, *other; // [count] scratch of the sort
    size_t sorted_count;         // entries that name a node
    bool is_sorted;              // as they come: numbers are not written
    group *groups;               // [group_count]
    size_t group_count;
    uint64_t weight; // of all groups
    uint32_t *cuts; // [cut_count + 1] groups at which a piece begins
    size_t cut_count;
    _Atomic bool is_unordered; // slots do not ascend, or some entry has none
    _Atomic bool is_mixed, wants_side, is_told, has_sides_to_drop, has_due;
    bool looks_for_zeros;  // of whole transforms, because the log hook takes remarks
    _Atomic bool has_zero; // some entry has one
    _Atomic uint64_t visited, skipped, writes, writes_skipped, overflowed, debt;
} batch;

// --- Entries ---

static void load(const espl__entries *e, size_t i, espl_write_kind kind, espl_write_value *value)
{
    espl__write_load(value, kind, espl__entries_value(e, i));
}

// Tell whether an entry leaves something that its tree needs side arrays for. One that is refused
// for its value wants nothing.
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

// Lay the arrays of a batch of `count` out. @return bytes; with NULL it only measures.
static size_t lay_out(batch *b, unsigned char *block, size_t count)
{
    size_t at = 0;

    b->results = espl__carve(block, &at, count, sizeof *b->results, 16);
    b->slots = espl__carve(block, &at, count, sizeof *b->slots, 16);
    b->numbers = espl__carve(block, &at, count, sizeof *b->numbers, 16);
    b->places = espl__carve(block, &at, count, sizeof *b->places, 16);
    b->other = espl__carve(block, &at, count, sizeof *b->other, 16);
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

    if (count > BATCH_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    return espl__scratch_grow(world, &world->write_scratch, lay_out(&measured, NULL, count));
}

// --- Resolving ---

// Say of entries without a slot why they are refused.
static void explain_missing(batch *b, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        uint32_t none = ESPL__NO_SLOT;

        if (b->slots[i] == ESPL__NO_SLOT) {
            b->results[i] = espl__find_placed(b->world, espl__entries_entity(b->entries, i), &none);
        }
    }
}

// Look at the kinds of entries that have one each.
static void check_kinds(batch *b, size_t begin, size_t end)
{
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

// An entry that names no node may be counted in: then some entries are looked at a second time.
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

static void resolve_entries(void *context, size_t begin, size_t end)
{
    batch *const b = context;

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

// While jobs run the world is closed to calls from inside one of them.
static espl_status run_closed(batch *b, espl__range_function function, size_t count, size_t grain)
{
    espl_world *const world = b->world;

    world->is_playing = true;
    const espl_status status =
        espl__run_ranges(&world->executor, &world->hooks, function, b, count, grain);
    world->is_playing = false;
    return status;
}

// --- Order ---

// Stable, so that entries of one node stay in their order.
static void sort(batch *b)
{
    size_t count = 0;

    b->is_sorted = !b->is_unordered;
    b->sorted_count = b->entries->count;
    if (b->is_sorted) {
        return;
    }
    for (size_t i = 0; i < b->entries->count; ++i) {
        if (b->slots[i] != ESPL__NO_SLOT) {
            b->places[count++] = (espl__place){b->slots[i], (uint32_t)i};
        }
    }
    b->sorted_count = count;
    if (count != 0) {
        espl__places_sort(&b->places, &b->other, count);
    }
    for (size_t i = 0; i < count; ++i) {
        b->slots[i] = b->places[i].position;
        b->numbers[i] = b->places[i].number;
    }
}

static uint32_t number_at(const batch *b, uint32_t at)
{
    return b->is_sorted ? at : b->numbers[at];
}

// Entries of one tree form a group; groups form pieces that are worth another worker.
static void form_groups(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    uint64_t weight = 0;

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
        while (at < b->sorted_count && b->slots[at] < end) {
            at += 1;
        }
        const uint64_t added = t->live + (uint64_t)ENTRY_COST * (at - begin);

        weight += added;
        b->weight += added;
        b->groups[b->group_count++] = (group){.begin = begin, .count = at - begin};
    }
}

// Trees whose entries leave a stretch or user data get side arrays before anything is written.
static espl_status ensure_sides(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl_status status = ESPL_OK;

    for (size_t g = 0; b->wants_side && g < b->group_count && status == ESPL_OK; ++g) {
        const group *const at = &b->groups[g];
        const uint32_t tree = forest->tree[b->slots[at->begin]];
        bool is_wanted = false;

        for (uint32_t i = 0; forest->trees[tree].side == NULL && i < at->count && !is_wanted; ++i) {
            is_wanted = entry_wants_side(b->entries, number_at(b, at->begin + i));
        }
        status = is_wanted ? espl__ensure_side(b->world, tree, false) : ESPL_OK;
    }
    return status;
}

// Side arrays that turned out not to be needed go back.
static void drop_sides(const batch *b)
{
    espl__forest *const forest = &b->world->forest;

    for (size_t i = 0; i < b->group_count; ++i) {
        espl__tree_drop_side(forest, forest->tree[b->slots[b->groups[i].begin]]);
    }
}

// Layout debts that jobs found due, in the order of trees, so that it does not depend on the
// workers.
static void note_due(const batch *b)
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

static void write_group(batch *b, group *g, espl__context *context)
{
    const espl__tree_writes writes = {.source = &b->source,
                                      .slots = b->slots + g->begin,
                                      .numbers = b->is_sorted ? NULL : b->numbers + g->begin,
                                      .first = g->begin,
                                      .count = g->count};
    espl__forest *const forest = &b->world->forest;

    if (espl__tree_write(forest, context, &writes)) {
        b->is_told = true;
    }
    if (espl__tree_of(forest, b->slots[g->begin])->side != NULL) {
        context->has_sides_to_drop = true;
    }
    g->is_done = true;
}

static void add_up(batch *b, const espl__context *context)
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
    enum { FAR = 6, NEAR = 2, LINE = 64, SLOTS = 32 };
    const espl__forest *const forest = &b->world->forest;

    if (at + FAR < end) {
        const uint32_t slot = b->slots[b->groups[at + FAR].begin];

        espl__prefetch(&forest->trees[forest->tree[slot]]);
    }
    if (at + NEAR < end) {
        const group *const g = &b->groups[at + NEAR];
        const uint32_t slot = b->slots[g->begin];
        const espl__tree *const t = espl__tree_of(forest, slot);
        // A single write below the root reaches few other nodes.
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

static void write_groups(batch *b, size_t begin, size_t end)
{
    espl__forest *const forest = &b->world->forest;
    espl__waiting waiting = {0};
    espl__context context = {.is_job = true, .waiting = &waiting};

    for (size_t i = begin; i < end; ++i) {
        prefetch_trees(b, i, end);
        if (!b->groups[i].is_done) {
            write_group(b, &b->groups[i], &context);
        }
    }
    espl__waiting_finish(forest, &context, &waiting);
    add_up(b, &context);
}

static void write_pieces(void *context, size_t begin, size_t end)
{
    batch *const b = context;
    const size_t last = end <= b->cut_count ? b->cuts[end] : b->group_count;

    write_groups(b, b->cuts[begin], last);
}

// A few large trees come first, one after the other, each on all workers.
static void write_giants(batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl__context context = {.workers = forest->context.workers, .is_job = true};
    size_t giants = 0;

    if (espl__executor_is_serial(&b->world->executor)) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        giants += espl__tree_of(forest, b->slots[b->groups[i].begin])->live / 2 >= forest->grain;
    }
    if (giants == 0 || giants / 2 >= b->world->executor.worker_count) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        if (espl__tree_of(forest, b->slots[b->groups[i].begin])->live / 2 >= forest->grain) {
            write_group(b, &b->groups[i], &context);
        }
    }
    add_up(b, &context);
}

// --- The whole ---

static void count_results(const batch *b, espl_write_report *report)
{
    report->overflowed = (size_t)b->overflowed;
    if (b->sorted_count == b->entries->count && !b->is_told) {
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

static espl_status prepare(batch *b)
{
    const espl__entries *const e = b->entries;
    espl_status status = espl__writes_reserve(b->world, e->count);

    if (status != ESPL_OK) {
        return status;
    }
    (void)lay_out(b, b->world->write_scratch.block, e->count);
    const size_t worth = b->world->wake_cost / ENTRY_COST;

    status = run_closed(b, resolve_entries, e->count, worth > RESOLVED ? worth : RESOLVED);
    if (status != ESPL_OK) {
        return status;
    }
    sort(b);
    form_groups(b);
    b->source = (espl__write_source){.writes = b->is_mixed ? e->writes : NULL,
                                     .values = e->values,
                                     .value_size = e->value_size,
                                     .kind = espl__entries_kind(e, 0),
                                     .is_one_kind = !b->is_mixed,
                                     .results = b->results};
    status = ensure_sides(b);
    if (status != ESPL_OK) {
        drop_sides(b);
    }
    return status;
}

static void commit(batch *b)
{
    espl__heap_forbid(&b->world->heap);
    write_giants(b);
    const size_t pieces = b->group_count != 0 ? b->cut_count + 1 : 0;
    const bool is_small = b->weight < b->world->wake_cost;
    const size_t jobs = is_small || espl__executor_is_serial(&b->world->executor) ? 1 : WRITE_JOBS;

    if (run_closed(b, write_pieces, pieces, (pieces + jobs - 1) / jobs) != ESPL_OK) {
        // The executor lost a job; the writes are under way and are completed here.
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
        note_due(b);
    }
    espl__heap_allow(&b->world->heap);
}

static espl_status write_batch(espl_world *world, const espl__entries *e, espl_write_report *report)
{
    batch b = {.world = world, .entries = e, .looks_for_zeros = espl__is_logged(world)};
    espl_status status = ESPL_OK;

    if (e->count == 0) {
        return ESPL_OK;
    }
    status = world->is_playing ? ESPL_ERR_BUSY : prepare(&b);
    if (status != ESPL_OK) {
        return status;
    }
    commit(&b);
    count_results(&b, report);
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

// Entries past the limit are not looked at: nobody has that many.
static void put_on_tape(espl_world *world, const espl__entries *e)
{
    if (e->count > BATCH_LIMIT) {
        return;
    }
    espl__tape_batch(world, e->count);
    for (size_t i = 0; i < e->count; ++i) {
        const espl_write_kind kind = espl__entries_kind(e, i);
        espl_write_value value;

        load(e, i, kind, &value);
        espl__tape_entry(world, espl__entries_entity(e, i), kind, &value);
    }
    espl__tape_flush(world);
}

// @param fault  a sentence that says what is wrong with the arguments, or NULL.
static espl_status start_batch(espl_world *world, const espl__entries *e, const char *fault,
                               espl_write_report *report)
{
    espl_write_report account = {0};
    espl_status status = ESPL_ERR_ARGUMENT;

    ESPL__CHANGE_OR_RETURN(world, e->call)
    if (world != NULL && fault == NULL) {
        if (espl__may_tape(world)) {
            put_on_tape(world, e);
        }
        status = espl__tape_end(world, write_batch(world, e, &account));
    }
    if (report != NULL) {
        *report = account;
    }
    return espl__refuse_call(world, e->call, status, fault);
}

espl_status espl_write_batch(espl_world *world, const espl_write *writes, size_t count,
                             espl_write_report *report)
{
    espl__entries e = {.call = "espl_write_batch", .writes = writes, .count = count};

    if (writes != NULL) {
        e.handles = (espl__handles){(const unsigned char *)&writes->entity, sizeof *writes};
        e.values = (const unsigned char *)&writes->value;
        e.value_size = sizeof *writes;
    }
    return start_batch(
        world, &e, writes == NULL && count != 0 ? "writes is NULL, but the count is not 0." : NULL,
        report);
}

espl_status espl_write_strided(espl_world *world, espl_write_kind kind, const espl_entity *entities,
                               size_t entity_stride, const void *values, size_t value_stride,
                               size_t count, espl_write_report *report)
{
    const espl__entries e = {
        .call = "espl_write_strided",
        .handles = {(const unsigned char *)entities, entity_stride},
        .values = values,
        .value_size = value_stride,
        .kind = kind,
        .count = count,
    };

    return start_batch(world, &e, espl__entries_fault(&e), report);
}
