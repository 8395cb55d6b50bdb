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
        (espl__splice_event){gap, count, splice->edit_count, level, above};
    return true;
}

bool espl__splice_cut(espl__splice *splice, uint32_t rank)
{
    const espl__run *const run = run_of(splice);
    uint32_t begin = rank, end = rank + 1, above = 0;

    if (rank == 0 || splice->edit_count == ESPL__SPLICE_EDITS || goes(splice, rank, rank + 1)) {
        return false;
    }
    above = splice->forest->parent[run->base + rank];
    splice->edits[splice->edit_count] = (espl__splice_edit){.rank = rank};
    for (uint32_t level = 0; begin < end; ++level) {
        // What goes below it already is not to go twice.
        if (is_pasted_below(splice, begin, end) || goes(splice, begin, end) ||
            !add_event(splice, begin, end - begin, level, above)) {
            return false;
        }
        above = splice->event_count - 1;
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

static bool comes_in(const espl__splice *splice, const espl__splice_event *event)
{
    return splice->edits[event->edit].recipe != NULL;
}

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

static bool comes_before(const espl__splice *splice, const espl__splice_event *x,
                         const espl__splice_event *y)
{
    if (x->gap != y->gap) {
        return x->gap < y->gap;
    }
    const bool x_goes = !comes_in(splice, x), y_goes = !comes_in(splice, y);

    return x_goes != y_goes ? y_goes : has_parent_first(splice, x, y);
}

bool espl__splice_sort(espl__splice *splice)
{
    const espl__splice_event *const events = splice->events;
    uint8_t *const order = splice->order;
    const uint32_t size = run_of(splice)->size;

    // Few events, and those of one edit ascend: each goes to its place among those before it.
    for (uint32_t i = 0; i < splice->event_count; ++i) {
        uint32_t at = i;

        for (; at > 0 && comes_before(splice, &events[i], &events[order[at - 1]]); --at) {
            order[at] = order[at - 1];
        }
        order[at] = (uint8_t)i;
    }
    return splice->event_count != 0 &&
           size + splice->made - events[order[0]].gap <= ESPL__SPLICE_RANKS;
}

// --- Steps ---

// Steps as they are worked out, all of them by rank.
typedef struct resolver {
    const espl__splice *splice;
    espl__splice_step *steps;
    uint8_t places[ESPL__SPLICE_EVENTS];     // of an event, among the steps
    uint32_t positions[ESPL__SPLICE_EVENTS]; // of a step: its gap, in ranks to be
} resolver;

// By how much a step moves what stands behind it, wrapping around.
static inline uint32_t shift_of(const espl__splice_step *step)
{
    return step->comes ? step->count : 0u - step->count;
}

// The first rank whose children stand behind those of an event. What goes may have left its rank
// to somebody who comes in, but to nobody who stays.
static uint32_t split_of(const resolver *r, const espl__splice_event *event)
{
    return event->level != 0 ? r->splice->events[event->above].gap : event->above + 1;
}

static void lay_steps(resolver *r)
{
    const espl__splice *const splice = r->splice;
    uint32_t shift = 0;

    for (uint32_t i = 0; i < splice->event_count; ++i) {
        const espl__splice_event *const e = &splice->events[splice->order[i]];
        const espl__splice_edit *const edit = &splice->edits[e->edit];
        const uint32_t start = edit->recipe != NULL ? edit->recipe->starts[e->level] : 0;

        r->places[splice->order[i]] = (uint8_t)i;
        r->positions[i] = e->gap + shift;
        r->steps[i] = (espl__splice_step){.gap = e->gap,
                                          .split = split_of(r, e),
                                          .count = (uint16_t)e->count,
                                          .made = (uint16_t)(edit->made + start),
                                          .edit = (uint8_t)e->edit,
                                          .start = (uint8_t)start,
                                          .comes = edit->recipe != NULL};
        shift += shift_of(&r->steps[i]);
    }
}

// Parents that stay ascend from step to step, as do the steps that move them. A recipe says of its
// first node that its parent is ESPL__NO_SLOT.
static void tell_parents(const resolver *r)
{
    const espl__splice *const splice = r->splice;
    uint32_t passed = 0, shift = 0;

    for (uint32_t i = 0; i < splice->event_count; ++i) {
        const espl__splice_event *const e = &splice->events[splice->order[i]];
        espl__splice_step *const step = &r->steps[i];

        if (!step->comes) {
            continue;
        }
        if (e->level != 0) {
            const uint32_t above = r->places[e->above];

            step->parents = r->positions[above] - r->steps[above].start;
            r->steps[above].firsts = r->positions[i] - step->start;
            continue;
        }
        for (; r->steps[passed].gap <= e->above; ++passed) {
            shift += shift_of(&r->steps[passed]);
        }
        step->parents = e->above + shift - ESPL__NO_SLOT;
    }
}

// Tell whether what hangs below the nodes of a step comes before what hangs below those of another.
static bool has_children_before(const resolver *r, uint32_t of, uint32_t step)
{
    const espl__splice_event *const event = &r->splice->events[r->splice->order[of]];
    const uint32_t split = r->steps[of].split, gap = r->steps[step].gap;

    return split != gap ? split < gap : event->level == 0 || r->places[event->above] <= step;
}

// Where the children of a recipe's last level would stand: behind all that hangs below those before
// them.
static void tell_firsts(const resolver *r)
{
    const espl__splice *const splice = r->splice;
    uint32_t passed = 0, shift = 0;

    for (uint32_t i = 0; i < splice->event_count; ++i) {
        const espl__splice_event *const e = &splice->events[splice->order[i]];
        const espl__recipe *const recipe = splice->edits[e->edit].recipe;

        if (recipe == NULL || e->level + 1 < recipe->levels) {
            continue;
        }
        for (; passed < splice->event_count && has_children_before(r, passed, i); ++passed) {
            shift += shift_of(&r->steps[passed]);
        }
        r->steps[i].firsts =
            espl__first_child(splice->forest, run_of(splice), e->gap) + shift - recipe->size;
    }
}

void espl__splice_resolve(const espl__splice *splice, espl__splice_step *steps)
{
    resolver r;

    r.splice = splice;
    r.steps = steps;
    lay_steps(&r);
    tell_parents(&r);
    tell_firsts(&r);
}

// --- The commit ---

// Values of ranks that stay, side by side: from some rank on they move by what the steps before it
// come to.
typedef struct cursor {
    uint32_t passed; // steps
    uint32_t shift;  // what they come to
    uint32_t border; // rank from which the next one counts
} cursor;

// The run as it is to be, from the first rank that changes on.
typedef struct draft {
    espl__forest *forest;
    const espl__run *run;
    const espl__splice_step *steps;
    uint32_t step_count;
    uint32_t begin, count; // ranks [begin, begin + count)
    // At the end of `order`, backwards: slots that nodes leave. Both together are at most as many.
    uint32_t order[ESPL__SPLICE_RANKS], parent[ESPL__SPLICE_RANKS], first[ESPL__SPLICE_RANKS];
    uint32_t left_count;
    uint32_t hole; // next rank past the old size whose slot is free
    cursor parents, firsts;
} draft;

// A parent moves by the steps before it: so do all that hang below ranks behind a gap.
static uint32_t parents_border(const draft *d, uint32_t step)
{
    return step < d->step_count ? espl__first_child(d->forest, d->run, d->steps[step].gap)
                                : d->run->size;
}

static uint32_t firsts_border(const draft *d, uint32_t step)
{
    return step < d->step_count ? d->steps[step].split : d->run->size;
}

// Copy the values of ranks [begin, end).
static inline void copy_moved(const draft *d, cursor *at,
                              uint32_t (*border)(const draft *, uint32_t), uint32_t *to,
                              const uint32_t *from, uint32_t begin, uint32_t end)
{
    while (begin < end) {
        for (; at->passed < d->step_count && at->border <= begin;
             at->border = border(d, at->passed)) {
            at->shift += shift_of(&d->steps[at->passed++]);
        }
        const uint32_t stop = at->border < end && at->border > begin ? at->border : end;

        espl__ranks_copy(to, from + begin, stop - begin, at->shift);
        to += stop - begin;
        begin = stop;
    }
}

// What stays of ranks [begin, end). Who keeps its rank is told nothing.
static void draft_ranks(draft *d, uint32_t begin, uint32_t end)
{
    espl__forest *const forest = d->forest;
    const uint32_t base = d->run->base, to = d->begin + d->count;
    const uint32_t *const order = forest->order + base;

    espl__ranks_copy(d->order + d->count, order + begin, end - begin, 0);
    copy_moved(d, &d->parents, parents_border, d->parent + d->count, forest->parent + base, begin,
               end);
    copy_moved(d, &d->firsts, firsts_border, d->first + d->count, forest->first + base, begin, end);
    for (uint32_t i = 0; to != begin && i < end - begin; ++i) {
        forest->rank[order[begin + i]] = to + i;
    }
    d->count += end - begin;
}

static uint32_t take_slot(draft *d)
{
    const uint32_t at = d->hole++;

    return at < d->run->used ? d->forest->order[d->run->base + at] : d->run->base + at;
}

static void draft_level(draft *d, const espl__splice_step *step, const espl__recipe *recipe,
                        uint32_t *slots)
{
    const uint32_t start = step->start;

    espl__ranks_copy(d->parent + d->count, recipe->parents + start, step->count, step->parents);
    espl__ranks_copy(d->first + d->count, recipe->firsts + start, step->count, step->firsts);
    for (uint32_t i = 0; i < step->count; ++i) {
        const uint32_t slot = take_slot(d);

        d->order[d->count + i] = slots[step->made + i] = slot;
        d->forest->rank[slot] = d->begin + d->count + i;
    }
    d->count += step->count;
}

static void leave(draft *d, const espl__splice_step *step)
{
    const uint32_t *const order = d->forest->order + d->run->base + step->gap;

    for (uint32_t i = 0; i < step->count; ++i) {
        d->order[ESPL__SPLICE_RANKS - ++d->left_count] = order[i];
    }
}

static void draft_all(draft *d, const espl__recipe *const *recipes, uint32_t *slots)
{
    uint32_t rank = d->begin;

    for (uint32_t i = 0; i < d->step_count; ++i) {
        const espl__splice_step *const step = &d->steps[i];

        draft_ranks(d, rank, step->gap);
        rank = step->gap;
        if (step->comes) {
            draft_level(d, step, recipes[step->edit], slots);
        } else {
            leave(d, step);
            rank += step->count;
        }
    }
    draft_ranks(d, rank, d->run->size);
}

// First children of those that stand before the first rank that changes, and stay there.
static void move_firsts(draft *d)
{
    const uint32_t split = d->steps[0].split;
    uint32_t *const first = d->forest->first + d->run->base;

    copy_moved(d, &d->firsts, firsts_border, first + split, first, split, d->begin);
}

// Slots that nobody is in stand behind the nodes in `order`: those that nodes left come first, and
// the holes that are left stay where they are.
static void file_holes(espl__forest *forest, const draft *d)
{
    const uint32_t at = d->begin + d->count;

    ESPL_CHECK(at + d->left_count == d->hole);
    for (uint32_t i = 0; i < d->left_count; ++i) {
        const uint32_t slot = d->order[ESPL__SPLICE_RANKS - 1 - i];

        forest->order[d->run->base + at + i] = slot;
        forest->rank[slot] = at + i;
        forest->entity[slot] = ESPL__NO_ENTITY;
    }
}

static void write_links(espl__forest *forest, const draft *d)
{
    const uint32_t to = d->run->base + d->begin;

    espl__ranks_copy(forest->order + to, d->order, d->count, 0);
    espl__ranks_copy(forest->parent + to, d->parent, d->count, 0);
    espl__ranks_copy(forest->first + to, d->first, d->count, 0);
}

static bool is_straight(const draft *d)
{
    bool is_in_order = (d->run->flags & ESPL__RUN_IN_ORDER) != 0;

    for (uint32_t i = 0; is_in_order && i < d->count; ++i) {
        is_in_order = d->order[i] == d->run->base + d->begin + i;
    }
    return is_in_order;
}

void espl__splice_commit(espl__forest *forest, uint32_t run, const espl__splice_step *steps,
                         uint32_t count, const espl__recipe *const *recipes, uint32_t *slots)
{
    espl__run *const header = &forest->runs[run];
    draft d;

    d.forest = forest;
    d.run = header;
    d.steps = steps;
    d.step_count = count;
    d.begin = steps[0].gap;
    d.count = d.left_count = 0;
    d.hole = header->size;
    d.parents = (cursor){.border = parents_border(&d, 0)};
    d.firsts = (cursor){.border = firsts_border(&d, 0)};
    move_firsts(&d);
    draft_all(&d, recipes, slots);
    file_holes(forest, &d);
    write_links(forest, &d);
    header->flags &= is_straight(&d) ? ~0u : ~(unsigned)ESPL__RUN_IN_ORDER;
    header->used = d.hole > header->used ? d.hole : header->used;
    header->size = d.begin + d.count;
}
