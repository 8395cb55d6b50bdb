// SPDX-License-Identifier: MIT
// The groups of lib/world/batch_groups.h: forming, sorting and writing them.
//
// Entries that come tree by tree are not sorted as a whole; where the trees do not ascend, their groups
// are sorted. Entries of a tree are sorted unless it is swept: then all locals are stored in the order of
// the caller before the worlds follow. For several workers groups are cut into pieces of at least
// world->job_cost, which are worth a job.
//
// One worker writes a window of entries in the order of memory as it forms the groups, without a list.
//
// Invariants: two groups never have the same tree, so that jobs write them side by side. What is
// written, and what is counted, does not depend on the number of workers.
#include "lib/world/batch_groups.h"

#include "lib/base/prefetch.h"
#include "lib/tree/tree_batch.h"
#include "lib/world/entity_slots.h"
#include "lib/world/slot_writes.h"

#include <string.h>

// Upper bound of jobs, because beginning and ending a job is serialised.
enum { WRITE_JOBS = 256 };

espl_status espl__batch_run(const espl__batch *b, espl_job function, void *context, size_t jobs)
{
    espl_world *const world = b->world;

    ESPL_CHECK(!world->is_playing);
    world->is_playing = true;
    const espl_status status =
        espl__run_jobs(&world->executor, &world->hooks, function, context, jobs);
    world->is_playing = false;
    return status;
}

// --- Forming ---

// Find the entries of the tree that entry `at` writes to. Their end is found by branches, not by selected
// values, so that later groups are looked up before the header of this tree has come.
// @param g  out: `lowest` and `ascends`.
// @param ascend  all slots do. Then only the last one of as many entries as the tree has nodes is looked
//        at first, because most batches of many writes have an entry for each node of a tree.
// @return the first entry behind them.
static inline size_t end_of_group(espl__write_group *g, const uint32_t *slots, size_t at,
                                  size_t end, const espl__tree *t, bool ascend)
{
    const uint32_t base = t->base, capacity = t->capacity;
    const size_t whole = at + t->live;
    uint32_t before = slots[at], lowest = before;
    bool ascends = true;

    g->lowest = lowest;
    g->ascends = true;
    at += 1;
    if (at == end || slots[at] - base >= capacity) {
        return at;
    }
    if (ascend) {
        if (whole <= end && slots[whole - 1] - base < capacity) {
            at = whole;
        }
        while (at < end && slots[at] - base < capacity) {
            at += 1;
        }
        return at;
    }
    for (; at < end && slots[at] - base < capacity; ++at) {
        lowest = slots[at] < lowest ? slots[at] : lowest;
        ascends = ascends && slots[at] >= before;
        before = slots[at];
    }
    g->lowest = lowest;
    g->ascends = ascends;
    return at;
}

// Prefetch what form_groups() reads of later entries: the number of the tree of one, and the header of a
// nearer one. @param step  entries of a tree, as many as the last one had.
static inline void prefetch_headers(const espl__forest *forest, const uint32_t *slots, size_t at,
                                    size_t end, size_t step)
{
    enum { FAR = 32, NEAR = 16 };

    if (FAR * step < end - at) {
        espl__prefetch_element(forest->tree, slots[at + FAR * step], sizeof *forest->tree);
    }
    if (NEAR * step < end - at && slots[at + NEAR * step] != ESPL__NO_SLOT) {
        espl__prefetch(espl__tree_of(forest, slots[at + NEAR * step]));
    }
}

// How the trees of entries come: with ascending slots, so that no tree comes twice; or in any order.
typedef enum tree_order { TREES_ASCEND, TREES_IN_ANY_ORDER } tree_order;

// Tell whether so few entries of a tree lie together that they are to be sorted one by one.
static inline bool are_short(size_t groups, size_t entries)
{
    enum { FEW = 4 };

    return groups * FEW > entries;
}

// Groups that are being formed.
typedef struct forming {
    espl__write_group *groups; // [count]
    size_t count;
    uint32_t limit;    // end of the range of the last tree
    bool ascend;       // all slots do
    bool refuses_side; // a tree with side arrays must not be written before all entries are known
    tree_order order;
} forming;

// Form a group of each run of entries of one tree, from entry `first` on. Where trees ascend, the
// function ends at a tree that does not lie behind the one before it, or that is refused. Where they
// come in any order, it ends as soon as the groups are short.
// @return the first entry without a group.
static inline size_t form_groups(const espl__batch *b, forming *f, size_t first, size_t end)
{
    enum { SLACK = 16 }; // so that a few short groups at the beginning do not decide
    const espl__forest *const forest = &b->world->forest;
    const uint32_t *const slots = b->slots;
    const bool has_numbers = b->is_sorted, is_far = espl__forest_is_far(forest);
    const bool ascend = f->ascend, refuses_side = f->refuses_side;
    const tree_order order = f->order;
    espl__write_group *g = &f->groups[f->count];
    uint32_t limit = f->limit;
    size_t at = first;

    while (at < end) {
        if (slots[at] == ESPL__NO_SLOT) {
            at += 1;
            continue;
        }
        const espl__tree *const t = espl__tree_of(forest, slots[at]);

        if (order == TREES_ASCEND ? t->base < limit || (refuses_side && t->side != 0)
                                  : are_short((size_t)(g - f->groups), at - first + SLACK)) {
            break;
        }
        const size_t begin = at;

        at = end_of_group(g, slots, begin, end, t, ascend);
        g->begin = (uint32_t)begin;
        g->count = (uint32_t)(at - begin);
        g->live = t->live;
        g->has_numbers = has_numbers;
        g->is_done = false;
        if (is_far) {
            prefetch_headers(forest, slots, at, end, g->count);
        }
        limit = t->base + t->capacity;
        g += 1;
    }
    f->count = (size_t)(g - f->groups);
    f->limit = limit;
    return at;
}

// Form groups of entries [b->end, end), and append them to b->groups.
static size_t form_more(espl__batch *b, size_t end, bool refuses_side, tree_order order)
{
    forming f = {.groups = b->groups,
                 .count = b->group_count,
                 .limit = b->limit,
                 .ascend = !b->is_unordered || b->is_sorted,
                 .refuses_side = refuses_side,
                 .order = order};
    const size_t at = form_groups(b, &f, b->end, end);

    b->group_count = f.count;
    b->limit = f.limit;
    return at;
}

void espl__batch_form_part(const espl__batch *b, espl__batch_part *part, bool ascend)
{
    forming f = {.groups = b->groups + part->begin, .ascend = ascend, .order = TREES_ASCEND};

    ESPL_CHECK(part->begin < part->end && !b->is_sorted);
    part->is_whole = form_groups(b, &f, part->begin, part->end) == part->end;
    part->group_count = (uint32_t)f.count;
}

// Add the first group of a part to the group before it, if both are of one tree and no entry lies
// between them. @return whether it was added.
static bool join_group(espl__batch *b, const espl__write_group *first)
{
    espl__write_group *const last = &b->groups[b->group_count - 1];
    const uint32_t *const slots = b->slots, begin = first->begin;

    if (last->begin + last->count != begin ||
        b->world->forest.tree[last->lowest] != b->world->forest.tree[first->lowest]) {
        return false;
    }
    last->count += first->count;
    last->ascends = last->ascends && first->ascends && slots[begin - 1] <= slots[begin];
    last->lowest = last->lowest < first->lowest ? last->lowest : first->lowest;
    return true;
}

void espl__batch_join_parts(espl__batch *b, const espl__batch_part *parts, size_t count)
{
    const espl__forest *const forest = &b->world->forest;

    ESPL_CHECK(b->group_count == 0 && b->end == 0 && parts[count - 1].end == b->resolved);
    for (size_t i = 0; i < count; ++i) {
        const espl__write_group *first = b->groups + parts[i].begin;
        size_t more = parts[i].group_count;
        bool is_whole = parts[i].is_whole;

        if (more != 0 && b->group_count != 0 && join_group(b, first)) {
            first += 1;
            more -= 1;
        }
        if (more != 0) {
            is_whole = is_whole && espl__tree_of(forest, first->lowest)->base >= b->limit;
            memmove(b->groups + b->group_count, first, more * sizeof *first);
            b->group_count += more;
            const espl__tree *const t = espl__tree_of(forest, b->groups[b->group_count - 1].lowest);

            b->limit = t->base + t->capacity;
        }
        if (!is_whole) {
            b->group_count = 0;
            b->limit = 0;
            return;
        }
    }
    b->end = b->resolved;
}

bool espl__batch_add_groups(espl__batch *b, size_t end, bool is_last)
{
    const size_t before = b->group_count;
    const uint32_t limit = b->limit;

    ESPL_CHECK(b->end <= end && end <= b->resolved);
    const bool is_whole = form_more(b, end, !is_last, TREES_ASCEND) == end;
    const bool is_enough = is_last || b->group_count - before > 1;

    if (!is_whole || !is_enough) {
        b->group_count = before;
        b->limit = limit;
        return false;
    }
    b->end = end;
    if (!is_last) {
        const espl__write_group *const g = &b->groups[b->group_count - 1];

        b->end = g->begin;
        b->limit = espl__tree_of(&b->world->forest, g->lowest)->base;
        b->group_count -= 1;
    }
    return true;
}

// --- Order ---

// Write sorted keys as slots [begin, begin + count) and the numbers of their entries.
static void store_sorted(espl__batch *b, size_t begin, size_t count)
{
    espl__sort_key *keys = b->keys + begin, *spare = b->spare_keys + begin;

    espl__sort_by_key(&keys, &spare, count);
    for (size_t i = 0; i < count; ++i) {
        b->slots[begin + i] = keys[i].key;
        b->numbers[begin + i] = keys[i].number;
    }
}

// Sort the entries of one group.
static void sort_group(espl__batch *b, espl__write_group *g)
{
    ESPL_CHECK(!g->ascends && !g->has_numbers);
    for (uint32_t i = g->begin; i < g->begin + g->count; ++i) {
        b->keys[i] = (espl__sort_key){b->slots[i], i};
    }
    store_sorted(b, g->begin, g->count);
    g->ascends = g->has_numbers = true;
}

// Leave out the entries from batch->end on that have no slot, sort the others by slot, and form groups.
static void sort_each_entry(espl__batch *b)
{
    const size_t begin = b->end;
    size_t end = begin;

    for (size_t i = begin; i < b->entries->count; ++i) {
        b->keys[end] = (espl__sort_key){b->slots[i], (uint32_t)i};
        end += b->slots[i] != ESPL__NO_SLOT ? 1 : 0;
    }
    store_sorted(b, begin, end - begin);
    b->is_sorted = true;
    b->limit = 0;
    const size_t last = form_more(b, end, false, TREES_ASCEND);

    ESPL_CHECK(last == end);
}

// Form groups of trees that come in any order, each with its entries together, and sort the groups. No
// entry is moved.
// @return false: there are no groups, because they are short, or the entries of some tree do not lie
//         together.
static bool sort_groups(espl__batch *b)
{
    const uint32_t *const trees = b->world->forest.tree;
    const size_t at = form_more(b, b->entries->count, false, TREES_IN_ANY_ORDER);
    const size_t count = b->group_count, entries = b->entries->count - b->end;
    espl__sort_key *keys = b->keys, *spare = b->spare_keys;

    b->group_count = 0;
    if (at != b->entries->count || are_short(count, entries)) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        keys[i] = (espl__sort_key){b->groups[i].lowest, (uint32_t)i};
    }
    espl__sort_by_key(&keys, &spare, count);
    // Groups are few, so that the array has room for as many again.
    for (size_t i = 0; i < count; ++i) {
        if (i != 0 && trees[keys[i].key] == trees[keys[i - 1].key]) {
            return false;
        }
        b->groups[count + i] = b->groups[keys[i].number];
    }
    memcpy(b->groups, b->groups + count, count * sizeof *b->groups);
    b->group_count = count;
    return true;
}

void espl__batch_sort(espl__batch *b)
{
    ESPL_CHECK(!b->is_sorted && b->group_count == 0 && b->resolved == b->entries->count);
    if (!sort_groups(b)) {
        sort_each_entry(b);
    }
    b->end = b->entries->count;
}

// --- Side arrays ---

// Free the side arrays that turned out not to be needed.
static void drop_sides(const espl__batch *b)
{
    espl__forest *const forest = &b->world->forest;

    for (size_t i = 0; i < b->group_count; ++i) {
        espl__tree_drop_side(forest, forest->tree[b->groups[i].lowest]);
    }
}

espl_status espl__batch_ensure_sides(espl__batch *b)
{
    const espl__forest *const forest = &b->world->forest;
    espl_status status = ESPL_OK;

    for (size_t g = 0; b->wants_side && g < b->group_count && status == ESPL_OK; ++g) {
        const espl__write_group *const at = &b->groups[g];
        const uint32_t tree = forest->tree[at->lowest], end = at->begin + at->count;
        bool is_wanted = false;

        for (uint32_t i = at->begin; forest->trees[tree].side == 0 && i < end && !is_wanted; ++i) {
            is_wanted = espl__entries_want_side(b->entries, at->has_numbers ? b->numbers[i] : i);
        }
        status = is_wanted ? espl__ensure_side(b->world, tree, false) : ESPL_OK;
    }
    if (status != ESPL_OK) {
        drop_sides(b);
    }
    return status;
}

// Move trees whose layout debt came due in a job to the list of unsettled trees. In the order of
// trees, so that the list does not depend on the workers.
static void mark_due_trees(const espl__batch *b)
{
    espl__forest *const forest = &b->world->forest;

    for (size_t i = 0; i < b->group_count; ++i) {
        const uint32_t tree = forest->tree[b->groups[i].lowest];

        if ((forest->trees[tree].flags & ESPL__TREE_DUE) != 0) {
            forest->trees[tree].flags &= ~(uint32_t)ESPL__TREE_DUE;
            espl__tree_mark_unsettled(forest, tree);
        }
    }
}

// --- Writing ---

// Write the entries of one tree, where they are many or take no fast path.
ESPL__INLINE void write_entries(espl__batch *b, espl__write_group *g, espl__context *context)
{
    espl__forest *const forest = &b->world->forest;
    espl__tree_writes writes = {.source = &b->source,
                                .slots = b->slots + g->begin,
                                .numbers = g->has_numbers ? b->numbers + g->begin : NULL,
                                .first = g->begin,
                                .count = g->count,
                                .lowest = g->lowest,
                                .ascend = g->ascends};

    if (!g->ascends && !espl__tree_takes_any_order(forest, context, &writes)) {
        sort_group(b, g);
        writes.numbers = b->numbers + g->begin;
        writes.ascend = true;
    }
    if (espl__tree_write(forest, context, &writes)) {
        b->has_remarks = true;
    }
}

// Mark own data of the only entry of a tree, where it was stored.
static ESPL__APART void mark_single(const espl__batch *b, const espl__write_group *g)
{
    if (b->results[g->has_numbers ? b->numbers[g->begin] : g->begin] == ESPL_OK) {
        espl__mark_written(&b->world->forest, g->lowest);
    }
}

// Write the entries of one tree. Postcondition: its world transforms are up to date, or it is in
// context->batch and will be at espl__tree_batch_finish().
ESPL__INLINE void write_group(espl__batch *b, espl__write_group *g, espl__context *context)
{
    espl__forest *const forest = &b->world->forest;

    ESPL_CHECK_FULL(!g->is_done && g->count != 0 && g->begin + g->count <= b->resolved);
    if (g->count != 1 ||
        !espl__tree_try_write_one(forest, context, &b->source, g->lowest,
                                  g->has_numbers ? b->numbers[g->begin] : g->begin)) {
        write_entries(b, g, context);
    } else if ((forest->modes & ESPL__MODE_OWN) != 0) {
        mark_single(b, g);
    }
    if (b->may_drop_sides && espl__slot_is(forest, g->lowest, ESPL__SLOT_SIDE)) {
        context->has_sides_to_drop = true;
    }
    g->is_done = true;
}

// Add the counts of a job to those of the batch.
static void add_counts(espl__batch *b, const espl__context *context)
{
    b->visited += context->counts.nodes_visited;
    b->skipped += context->counts.nodes_skipped;
    b->writes += context->counts.writes;
    b->writes_skipped += context->counts.writes_skipped;
    b->debt += context->counts.debt;
    if (context->has_sides_to_drop) {
        b->has_sides_to_drop = true;
    }
    if (context->has_due) {
        b->has_due = true;
    }
    if (context->has_overflowed) {
        b->has_overflowed = true;
    }
}

// Prefetch the trees of later groups, because trees are far apart in memory: the header of one group, and
// of a nearer one the slots that its writes reach.
static inline void prefetch_trees(const espl__batch *b, size_t at, size_t end)
{
    enum { FAR = 6, NEAR = 3, LINE = 64, SLOTS = 80, FLAGS = 1024, GAP = 16 };
    const espl__forest *const forest = &b->world->forest;

    if (at + FAR < end) {
        const espl__write_group *const g = &b->groups[at + FAR];
        const uint32_t slot = g->lowest;

        // Values in the order of numbers lie anywhere in the caller's array.
        if (g->has_numbers) {
            espl__prefetch(espl__value_at(&b->source, b->numbers[g->begin]));
        }
        espl__prefetch(espl__tree_of(forest, slot));
        espl__prefetch(&forest->parent[slot]);
        espl__prefetch(&forest->links[slot]);
    }
    if (at + NEAR < end) {
        const espl__write_group *const g = &b->groups[at + NEAR];
        const uint32_t slot = g->lowest;
        const espl__tree *const t = espl__tree_of(forest, slot);
        // A single write below the root visits few nodes.
        const uint32_t reach = slot == t->base || g->count > 1 ? t->base + t->used - slot : 1;
        const uint32_t count = reach < SLOTS ? reach : SLOTS;

        espl__prefetch(&forest->flags[slot]);
        if (t->side != 0) {
            espl__prefetch(espl__side_of(forest, t));
        }
        // A sweep looks for exceptional nodes before it composes those before them.
        for (uint32_t k = LINE; t->exceptional != 0 && k < reach && k < FLAGS; k += LINE) {
            espl__prefetch(&forest->flags[slot + k]);
        }
        if (reach == 1) {
            const uint32_t child = forest->links[slot].first_child;

            espl__prefetch_element(forest->world, forest->parent[slot], sizeof *forest->world);
            espl__prefetch_element(forest->local, child, sizeof *forest->local);
            espl__prefetch_element(forest->world, child, sizeof *forest->world);
            espl__prefetch_element(forest->links, child, sizeof *forest->links);
        }
        // The processor reads ahead where the trees of all groups up to this one follow each other.
        if (reach != 1 && slot - g[-NEAR].lowest <= g[-1].live + g[-2].live + g[-NEAR].live + GAP) {
            return;
        }
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
static void write_groups(espl__batch *b, size_t begin, size_t end)
{
    espl__forest *const forest = &b->world->forest;
    espl__tree_batch trees = {0};
    espl__context context = {.is_job = true, .batch = &trees};
    const bool is_far = espl__forest_is_far(forest); // else prefetches cost more than they save

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

// Tell whether entries [batch->end, end) need neither order nor prefetches: their slots ascend, their trees
// follow each other in memory or are in the cache, and none has side arrays that forbid a window.
static bool is_straight(const espl__batch *b, size_t end, bool is_last)
{
    enum { DENSE = 2 };
    const espl__forest *const forest = &b->world->forest;
    const uint32_t *const slots = b->slots;
    const size_t begin = b->end;
    unsigned flags = 0;

    if (b->is_unordered || b->is_sorted || begin == end) {
        return false;
    }
    const uint64_t reach = slots[end - 1] - slots[begin];
    const uint64_t room = espl__tree_of(forest, slots[begin])->capacity;

    if (espl__forest_is_far(forest) && reach > DENSE * room * (end - begin)) {
        return false;
    }
    for (size_t i = begin; !is_last && i < end; ++i) {
        flags |= forest->flags[slots[i]];
    }
    return (flags & ESPL__SLOT_SIDE) == 0;
}

// Form each group and write it at once. The slots ascend.
// @return the first entry of the last tree, where more entries of it may follow; else `end`.
static size_t write_straight(espl__batch *b, espl__context *context, size_t end, bool is_last)
{
    const espl__forest *const forest = &b->world->forest;
    size_t at = b->end;

    while (at < end) {
        const espl__tree *const t = espl__tree_of(forest, b->slots[at]);
        espl__write_group g = {.begin = (uint32_t)at};
        const size_t next = end_of_group(&g, b->slots, at, end, t, true);

        if (next == end && !is_last) {
            return at;
        }
        g.count = (uint32_t)(next - at);
        g.live = t->live;
        write_group(b, &g, context);
        at = next;
    }
    return at;
}

bool espl__batch_write_straight(espl__batch *b, size_t end, bool is_last)
{
    espl__forest *const forest = &b->world->forest;
    espl__tree_batch trees = {0};
    espl__context context = {.batch = &trees};

    ESPL_CHECK(b->has_windows && b->group_count == 0 && end <= b->resolved);
    if (!is_straight(b, end, is_last)) {
        return false;
    }
    espl__heap_forbid(&b->world->heap);
    const size_t at = write_straight(b, &context, end, is_last);
    espl__tree_batch_finish(forest, &context, &trees);
    espl__heap_allow(&b->world->heap);
    add_counts(b, &context);
    if (at == b->end) {
        return false;
    }
    b->end = at;
    b->limit = at < end ? espl__tree_of(forest, b->slots[at])->base : UINT32_MAX;
    return true;
}

// A loop over the pieces of a batch.
typedef struct piece_loop {
    espl__batch *batch;
    size_t pieces, jobs;
} piece_loop;

// Job: write the groups of the pieces that fall to it.
static void write_pieces(void *context, size_t job)
{
    const piece_loop *const loop = context;
    espl__batch *const b = loop->batch;
    const size_t begin = loop->pieces * job / loop->jobs,
                 end = loop->pieces * (job + 1) / loop->jobs;
    const size_t last = end < loop->pieces ? b->cuts[end] : b->group_count;

    ESPL_CHECK(begin < end && end <= b->cut_count + 1);
    write_groups(b, b->cuts[begin], last);
}

// Add up the weights of groups, and cut them into pieces. The weight of a group is the nodes of its tree,
// because a write may visit all of them, and a cost for each entry.
// @param weight  out: of all groups.
// @return the number of trees that are large enough to be divided among workers.
static size_t cut_groups(espl__batch *b, uint64_t *weight)
{
    const uint32_t grain = b->world->forest.grain, job_cost = b->world->job_cost;
    const espl__write_group *const groups = b->groups;
    size_t large_count = 0;
    uint64_t piece = 0;

    for (size_t i = 0; i < b->group_count; ++i) {
        const uint64_t own = groups[i].live + (uint64_t)ESPL__ENTRY_COST * groups[i].count;

        if (piece >= job_cost) {
            b->cuts[++b->cut_count] = (uint32_t)i;
            piece = 0;
        }
        piece += own;
        *weight += own;
        large_count += groups[i].live / 2 >= grain ? 1 : 0;
    }
    return large_count;
}

// Write the trees that are large enough to be divided among workers, one after the other, each on
// all workers. Only where they are fewer than twice the workers: many large trees keep all workers
// busy by themselves.
static void write_large_trees(espl__batch *b, size_t large_count)
{
    const espl__forest *const forest = &b->world->forest;
    espl__context context = {.workers = forest->context.workers, .is_job = true};

    if (large_count == 0 || large_count / 2 >= b->world->executor.worker_count) {
        return;
    }
    for (size_t i = 0; i < b->group_count; ++i) {
        if (b->groups[i].live / 2 >= forest->grain) {
            write_group(b, &b->groups[i], &context);
        }
    }
    add_counts(b, &context);
}

void espl__batch_write_groups(espl__batch *b)
{
    const bool is_serial = espl__executor_is_serial(&b->world->executor);
    uint64_t weight = 0;

    ESPL_CHECK(!b->world->is_playing);
    b->cuts[0] = 0;
    b->cut_count = 0;
    espl__heap_forbid(&b->world->heap);
    if (!is_serial) {
        write_large_trees(b, cut_groups(b, &weight));
    }
    const size_t pieces = b->group_count != 0 ? b->cut_count + 1 : 0;
    const size_t most = weight < b->world->wake_cost ? 1 : WRITE_JOBS;
    piece_loop loop = {b, pieces, pieces < most ? pieces : most};

    // An executor that lost a job may have run others: groups that are done are skipped.
    if (espl__batch_run(b, write_pieces, &loop, loop.jobs) != ESPL_OK) {
        write_groups(b, 0, b->group_count);
    }
    if (b->has_sides_to_drop) {
        drop_sides(b);
    }
    if (b->has_due) {
        mark_due_trees(b);
    }
    espl__heap_allow(&b->world->heap);
    b->group_count = 0;
}
