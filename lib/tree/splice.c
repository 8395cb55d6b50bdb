// SPDX-License-Identifier: MIT
#include "lib/tree/ranks.h"
#include "lib/tree/splice.h"

#include <string.h>

static const espl__run *run_of(const espl__splice *splice)
{
    return &splice->forest->runs[splice->run];
}

void espl__splice_begin(espl__splice *splice, const espl__forest *forest, uint32_t run)
{
    splice->forest = forest;
    splice->run = run;
    splice->edit_count = splice->event_count = splice->made = splice->gone = 0;
}

// --- Edits ---

// Tell whether one of the ranks [begin, end) goes.
static bool goes(const espl__splice *splice, uint32_t begin, uint32_t end)
{
    bool is_gone = false;

    for (uint32_t i = 0; i < splice->event_count; ++i) {
        const espl__splice_event *const e = &splice->events[i];

        is_gone = is_gone || (splice->edits[e->edit].recipe == NULL && e->gap < end &&
                              begin < e->gap + e->count);
    }
    return is_gone;
}

// Tell whether something comes in below a rank of [begin, end).
static bool is_pasted_below(const espl__splice *splice, uint32_t begin, uint32_t end)
{
    bool is_pasted = false;

    for (uint32_t i = 0; i < splice->edit_count; ++i) {
        const espl__splice_edit *const edit = &splice->edits[i];

        is_pasted = is_pasted || (edit->recipe != NULL && edit->rank - begin < end - begin);
    }
    return is_pasted;
}

static bool add_event(espl__splice *splice, uint32_t gap, uint32_t count, uint32_t level,
                      uint32_t above)
{
    if (splice->event_count == ESPL__SPLICE_EVENTS) {
        return false;
    }
    splice->events[splice->event_count++] =
        (espl__splice_event){gap, count, splice->edit_count, level, above, 0};
    return true;
}

bool espl__splice_cut(espl__splice *splice, uint32_t rank)
{
    const espl__run *const run = run_of(splice);
    uint32_t begin = rank, end = rank + 1;

    if (rank == 0 || splice->edit_count == ESPL__SPLICE_EDITS || goes(splice, rank, rank + 1)) {
        return false;
    }
    splice->edits[splice->edit_count] = (espl__splice_edit){.rank = rank};
    for (uint32_t level = 0; begin < end; ++level) {
        // What goes below it already is not to go twice.
        if (is_pasted_below(splice, begin, end) || goes(splice, begin, end) ||
            !add_event(splice, begin, end - begin, level, 0)) {
            return false;
        }
        splice->gone += end - begin;
        begin = espl__first_child(splice->forest, run, begin);
        end = espl__first_child(splice->forest, run, end);
    }
    splice->edit_count += 1;
    return true;
}

bool espl__splice_paste(espl__splice *splice, uint32_t rank, const espl__recipe *recipe)
{
    const espl__run *const run = run_of(splice);
    uint32_t gap = espl__first_child(splice->forest, run, rank + 1);
    uint32_t above = rank;

    if (splice->edit_count == ESPL__SPLICE_EDITS ||
        recipe->size > ESPL__SPLICE_MADE - splice->made || goes(splice, rank, rank + 1)) {
        return false;
    }
    splice->edits[splice->edit_count] = (espl__splice_edit){recipe, rank, splice->made};
    for (uint32_t level = 0; level < recipe->levels; ++level) {
        const uint32_t count = recipe->starts[level + 1] - recipe->starts[level];

        if (!add_event(splice, gap, count, level, above)) {
            return false;
        }
        above = splice->event_count - 1;
        gap = espl__first_child(splice->forest, run, gap);
    }
    splice->made += recipe->size;
    splice->edit_count += 1;
    return true;
}

// --- Order ---

// Of two levels that come in at one gap: the one whose parents come first. A parent that stays at
// rank r comes before one that comes in at a gap past r.
static bool has_parent_first(const espl__splice *splice, const espl__splice_event *a,
                             const espl__splice_event *b)
{
    while (a->level != 0 && b->level != 0) {
        a = &splice->events[a->above];
        b = &splice->events[b->above];
        if (a->gap != b->gap) {
            return a->gap < b->gap;
        }
    }
    if (a->level != 0) {
        return b->above >= splice->events[a->above].gap;
    }
    if (b->level != 0) {
        return a->above < splice->events[b->above].gap;
    }
    return a->above != b->above ? a->above < b->above : a->edit < b->edit;
}

static bool comes_before(const espl__splice *splice, uint32_t a, uint32_t b)
{
    const espl__splice_event *const x = &splice->events[a];
    const espl__splice_event *const y = &splice->events[b];

    if (x->gap != y->gap) {
        return x->gap < y->gap;
    }
    const bool x_goes = splice->edits[x->edit].recipe == NULL;
    const bool y_goes = splice->edits[y->edit].recipe == NULL;

    return x_goes != y_goes ? y_goes : has_parent_first(splice, x, y);
}

bool espl__splice_sort(espl__splice *splice)
{
    const uint32_t size = run_of(splice)->size;
    uint32_t shift = 0;

    // Few events, and those of one edit ascend: each goes to its place among those before it.
    for (uint32_t i = 0; i < splice->event_count; ++i) {
        uint32_t at = i;

        for (; at > 0 && comes_before(splice, i, splice->order[at - 1]); --at) {
            splice->order[at] = splice->order[at - 1];
        }
        splice->order[at] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < splice->event_count; ++i) {
        espl__splice_event *const e = &splice->events[splice->order[i]];
        const bool comes = splice->edits[e->edit].recipe != NULL;

        e->position = e->gap + shift;
        shift += comes ? e->count : -e->count;
    }
    const uint32_t begin = splice->event_count != 0 ? splice->events[splice->order[0]].gap : size;

    return splice->event_count != 0 && size + splice->made - begin <= ESPL__SPLICE_RANKS;
}

// --- The commit ---

// The run as it is to be, from the first rank that changes on.
typedef struct draft {
    espl__splice *splice;
    const espl__forest *forest;
    const espl__run *run;
    uint32_t begin, count; // ranks [begin, begin + count)
    uint32_t order[ESPL__SPLICE_RANKS], parent[ESPL__SPLICE_RANKS];
    uint32_t left[ESPL__SPLICE_RANKS]; // [left_count] slots that nodes leave
    uint32_t left_count;
    uint32_t hole;          // next rank past the old size whose slot is free
    uint32_t passed, shift; // events that stand before the parents at hand, and what they come to
} draft;

// Pass the events that stand before a parent. @return the next one's rank, or the old size.
static uint32_t pass_events(draft *d, uint32_t rank)
{
    const espl__splice *const splice = d->splice;

    for (; d->passed < splice->event_count; ++d->passed) {
        const espl__splice_event *const e = &splice->events[splice->order[d->passed]];

        if (e->gap > rank) {
            return e->gap;
        }
        d->shift += splice->edits[e->edit].recipe != NULL ? e->count : -e->count;
    }
    return d->run->size;
}

// The rank to be of a parent that stays; parents ascend from call to call.
static uint32_t moved_parent(draft *d, uint32_t rank)
{
    (void)pass_events(d, rank);
    return rank + d->shift;
}

// Parents up to the next event move alike, and their children stand side by side.
static void draft_ranks(draft *d, uint32_t begin, uint32_t end)
{
    const uint32_t *const order = d->forest->order + d->run->base;
    const uint32_t *const parent = d->forest->parent + d->run->base;

    memcpy(d->order + d->count, order + begin, (end - begin) * sizeof *order);
    while (begin < end) {
        const uint32_t event = pass_events(d, parent[begin]);
        const uint32_t behind = espl__first_child(d->forest, d->run, event);
        const uint32_t stop = behind < end ? behind : end;

        espl__ranks_copy(d->parent + d->count, parent + begin, stop - begin, d->shift);
        d->count += stop - begin;
        begin = stop;
    }
}

static uint32_t take_slot(draft *d)
{
    const uint32_t at = d->hole++;

    return at < d->run->used ? d->forest->order[d->run->base + at] : d->run->base + at;
}

static void draft_level(draft *d, const espl__splice_event *e, uint32_t *slots)
{
    const espl__splice_edit *const edit = &d->splice->edits[e->edit];
    const espl__recipe *const recipe = edit->recipe;
    const uint32_t start = recipe->starts[e->level];

    for (uint32_t i = 0; i < e->count; ++i) {
        const uint32_t slot = take_slot(d);

        d->order[d->count] = slots[edit->made + start + i] = slot;
        if (e->level == 0) {
            d->parent[d->count] = moved_parent(d, e->above);
        } else {
            d->parent[d->count] = d->splice->events[e->above].position +
                                  (recipe->parents[start + i] - recipe->starts[e->level - 1]);
        }
        d->count += 1;
    }
}

static void leave(draft *d, const espl__splice_event *e)
{
    memcpy(d->left + d->left_count, d->forest->order + d->run->base + e->gap,
           e->count * sizeof *d->left);
    d->left_count += e->count;
}

static void draft_all(draft *d, uint32_t *slots)
{
    const espl__splice *const splice = d->splice;
    uint32_t rank = d->begin;

    for (uint32_t i = 0; i < splice->event_count; ++i) {
        const espl__splice_event *const e = &splice->events[splice->order[i]];

        draft_ranks(d, rank, e->gap);
        rank = e->gap;
        if (splice->edits[e->edit].recipe != NULL) {
            draft_level(d, e, slots);
        } else {
            leave(d, e);
            rank += e->count;
        }
    }
    draft_ranks(d, rank, d->run->size);
}

// First children follow from the parents.
static void write_firsts(espl__forest *forest, const draft *d)
{
    uint32_t *const first = forest->first + d->run->base;
    const uint32_t size = d->begin + d->count;
    // The root stays, and has no parent: there the sum is 0.
    uint32_t rank = forest->parent[d->run->base + d->begin - 1] + 1;

    for (uint32_t i = 0; i < d->count; ++i) {
        for (; rank <= d->parent[i]; ++rank) {
            first[rank] = d->begin + i;
        }
    }
    for (; rank < size; ++rank) {
        first[rank] = size;
    }
}

// Slots that nobody is in stand behind the nodes in `order`: the holes that are left, then those
// that nodes left.
static void file_holes(espl__forest *forest, const draft *d)
{
    uint32_t *const order = forest->order + d->run->base;
    uint32_t at = d->begin + d->count;

    for (uint32_t hole = d->hole; d->left_count != 0 && hole < d->run->used; ++hole) {
        order[at] = order[hole];
        forest->rank[order[at]] = at;
        at += 1;
    }
    for (uint32_t i = 0; i < d->left_count; ++i) {
        order[at] = d->left[i];
        forest->rank[order[at]] = at;
        forest->entity[order[at]] = ESPL__NO_ENTITY;
        at += 1;
    }
}

static void write_order(espl__forest *forest, const draft *d)
{
    const uint32_t to = d->run->base + d->begin;

    memcpy(forest->order + to, d->order, d->count * sizeof *d->order);
    memcpy(forest->parent + to, d->parent, d->count * sizeof *d->parent);
    for (uint32_t i = 0; i < d->count; ++i) {
        forest->rank[d->order[i]] = d->begin + i;
    }
}

static bool is_straight(const draft *d)
{
    bool is_in_order = (d->run->flags & ESPL__RUN_IN_ORDER) != 0;

    for (uint32_t i = 0; is_in_order && i < d->count; ++i) {
        is_in_order = d->order[i] == d->run->base + d->begin + i;
    }
    return is_in_order;
}

void espl__splice_commit(espl__splice *splice, espl__forest *forest, uint32_t *slots)
{
    espl__run *const run = &forest->runs[splice->run];
    draft d;

    d.splice = splice;
    d.forest = forest;
    d.run = run;
    d.begin = splice->events[splice->order[0]].gap;
    d.count = d.left_count = d.passed = d.shift = 0;
    d.hole = run->size;
    draft_all(&d, slots);
    ESPL_CHECK(d.begin + d.count == run->size + splice->made - splice->gone);
    write_firsts(forest, &d);
    file_holes(forest, &d);
    write_order(forest, &d);
    run->flags &= is_straight(&d) ? ~0u : ~(unsigned)ESPL__RUN_IN_ORDER;
    run->used = d.hole > run->used ? d.hole : run->used;
    run->size = d.begin + d.count;
}
