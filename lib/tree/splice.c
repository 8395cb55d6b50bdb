// SPDX-License-Identifier: MIT
#include "lib/tree/splice.h"

#include <string.h>

void espl__splice_begin(espl__splice *splice, const espl__forest *forest, uint32_t run)
{
    splice->forest = forest;
    splice->run = &forest->runs[run];
    splice->edit_count = splice->event_count = splice->made = splice->gone = 0;
    memset(splice->gone_filter, 0, sizeof splice->gone_filter);
    memset(splice->pasted_filter, 0, sizeof splice->pasted_filter);
}

// --- Edits ---

// Ranks by their last bits: who is not in it is not meant, and who is may be another one. So most
// edits of a large group need not be held against all others.
enum { FILTER_WORD = 64, FILTER_MASK = ESPL__SPLICE_FILTER - 1 };

static inline uint64_t filter_bit(uint32_t rank)
{
    return UINT64_C(1) << rank % FILTER_WORD;
}

static inline uint32_t filter_word(uint32_t rank)
{
    return (rank & FILTER_MASK) / FILTER_WORD;
}

// Note that ranks [begin, end) go. false: for all that is known nothing else is done to them.
static bool filter_take(espl__splice *splice, uint32_t begin, uint32_t end)
{
    uint64_t found = 0;

    for (uint32_t rank = begin; rank < end; ++rank) {
        const uint32_t word = filter_word(rank);

        found |= (splice->gone_filter[word] | splice->pasted_filter[word]) & filter_bit(rank);
        splice->gone_filter[word] |= filter_bit(rank);
    }
    return found != 0;
}

// Tell whether one of the ranks [begin, end) goes.
static bool goes(const espl__splice *splice, uint32_t begin, uint32_t end)
{
    bool is_gone = false;

    for (uint32_t i = 0; i < splice->event_count; ++i) {
        const espl__splice_event *const e = &splice->events[i];

        is_gone = is_gone || (!e->comes && e->gap < end && begin < e->gap + e->count);
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

// Take ranks out. false: some of them go already, or get somebody below them.
static bool take_ranks(espl__splice *splice, uint32_t begin, uint32_t end)
{
    return !filter_take(splice, begin, end) ||
           (!goes(splice, begin, end) && !is_pasted_below(splice, begin, end));
}

// An event of the edit that is being added. What goes may leave its rank to somebody who comes in, but
// to nobody who stays.
static bool add_event(espl__splice *splice, const espl__splice_event *event)
{
    if (splice->event_count == ESPL__SPLICE_EVENTS) {
        return false;
    }
    splice->events[splice->event_count] = *event;
    splice->events[splice->event_count++].edit = (uint8_t)splice->edit_count;
    return true;
}

bool espl__splice_cut(espl__splice *splice, uint32_t rank)
{
    const espl__run *const run = splice->run;
    uint32_t begin = rank, end = rank + 1, above = 0, split = 0;

    if (rank == 0 || splice->edit_count == ESPL__SPLICE_EDITS) {
        return false;
    }
    above = splice->forest->parent[run->base + rank];
    split = above + 1;
    splice->edits[splice->edit_count] = (espl__splice_edit){.rank = rank};
    for (uint8_t level = 0; begin < end; ++level) {
        // What goes below it already is not to go twice.
        if (end - begin > ESPL__SPLICE_RANKS || !take_ranks(splice, begin, end) ||
            !add_event(splice, &(espl__splice_event){.gap = begin,
                                                     .count = end - begin,
                                                     .above = above,
                                                     .split = split,
                                                     .level = level,
                                                     .start = level})) {
            return false;
        }
        above = splice->event_count - 1;
        split = begin;
        splice->gone += end - begin;
        begin = espl__first_child(splice->forest, run, begin);
        end = espl__first_child(splice->forest, run, end);
    }
    splice->edit_count += 1;
    return true;
}

bool espl__splice_take(espl__splice *splice, uint32_t rank)
{
    const uint32_t parent = splice->forest->parent[splice->run->base + rank];

    if (rank == 0 || splice->edit_count == ESPL__SPLICE_EDITS ||
        !take_ranks(splice, rank, rank + 1)) {
        return false;
    }
    splice->edits[splice->edit_count] = (espl__splice_edit){.rank = rank};
    if (!add_event(splice, &(espl__splice_event){
                               .gap = rank, .count = 1, .above = parent, .split = parent + 1})) {
        return false;
    }
    splice->gone += 1;
    splice->edit_count += 1;
    return true;
}

bool espl__splice_paste(espl__splice *splice, uint32_t rank, const espl__recipe *recipe)
{
    const espl__run *const run = splice->run;
    uint32_t gap = espl__first_child(splice->forest, run, rank + 1);
    uint32_t above = rank, split = rank + 1;

    if (splice->edit_count == ESPL__SPLICE_EDITS ||
        recipe->size > ESPL__SPLICE_MADE - splice->made ||
        ((splice->gone_filter[filter_word(rank)] & filter_bit(rank)) != 0 &&
         goes(splice, rank, rank + 1))) {
        return false;
    }
    splice->pasted_filter[filter_word(rank)] |= filter_bit(rank);
    splice->edits[splice->edit_count] = (espl__splice_edit){recipe, rank};
    for (uint32_t level = 0; level < recipe->levels; ++level) {
        const uint32_t start = recipe->starts[level];

        if (!add_event(splice, &(espl__splice_event){.gap = gap,
                                                     .count = recipe->starts[level + 1] - start,
                                                     .above = above,
                                                     .split = split,
                                                     .level = (uint8_t)level,
                                                     .start = (uint8_t)start,
                                                     .comes = true,
                                                     .made = (uint16_t)(splice->made + start)})) {
            return false;
        }
        above = splice->event_count - 1;
        split = gap;
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

// Likewise of any two events at one gap.
static bool stands_first(const espl__splice *splice, const espl__splice_event *x,
                         const espl__splice_event *y)
{
    return x->comes != y->comes ? x->comes : has_parent_first(splice, x, y);
}

bool espl__splice_sort(espl__splice *splice)
{
    const espl__splice_event *const events = splice->events;
    uint8_t *const order = splice->order;
    const uint32_t size = splice->run->size, count = splice->event_count;
    uint32_t gaps[ESPL__SPLICE_EVENTS]; // of the events in order

    // Few events, and those of one edit ascend: each goes to its place among those before it.
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t gap = events[i].gap;
        uint32_t at = i;

        for (; at > 0 && gap <= gaps[at - 1]; --at) {
            if (gap == gaps[at - 1] && !stands_first(splice, &events[i], &events[order[at - 1]])) {
                break;
            }
            gaps[at] = gaps[at - 1];
            order[at] = order[at - 1];
        }
        gaps[at] = gap;
        order[at] = (uint8_t)i;
    }
    return count != 0 && size + splice->made - gaps[0] <= ESPL__SPLICE_RANKS;
}

// --- Steps ---

// Steps as they are worked out, all of them by rank.
typedef struct resolver {
    const espl__splice *splice;
    espl__splice_step *steps;
    uint32_t passed, passed_shift;           // steps before the next parent that stays
    uint8_t places[ESPL__SPLICE_EVENTS];     // of an event, among the steps
    uint32_t positions[ESPL__SPLICE_EVENTS]; // of a step: its gap, in ranks to be
} resolver;

// Parents that stay ascend from step to step, as do the steps that move them. A recipe says of its
// first node that its parent is ESPL__NO_SLOT.
static void find_parent(resolver *r, const espl__splice_event *event, espl__splice_step *step)
{
    while (r->steps[r->passed].gap <= event->above) {
        r->passed_shift += espl__splice_shift(&r->steps[r->passed++]);
    }
    step->parents = event->above + r->passed_shift - ESPL__NO_SLOT;
}

// A level stands behind the one above it, whose step is laid.
static void link_levels(const resolver *r, const espl__splice_event *event, uint32_t place)
{
    espl__splice_step *const step = &r->steps[place];
    const uint32_t above = r->places[event->above];

    step->parents = r->positions[above] - r->steps[above].start;
    r->steps[above].firsts = r->positions[place] - step->start;
}

void espl__splice_resolve(const espl__splice *splice, espl__splice_step *steps)
{
    const uint32_t count = splice->event_count;
    uint32_t shift = 0;
    resolver r;

    r.splice = splice;
    r.steps = steps;
    r.passed = r.passed_shift = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = splice->order[i];
        const espl__splice_event *const e = &splice->events[number];
        espl__splice_step *const step = &steps[i];

        r.places[number] = (uint8_t)i;
        r.positions[i] = e->gap + shift;
        // All but its turn, which is told with another step.
        step->gap = e->gap;
        step->split = e->split;
        step->parents = step->firsts = 0;
        step->count = (uint16_t)e->count;
        step->made = e->made;
        step->edit = e->edit;
        step->start = e->start;
        step->comes = e->comes;
        steps[number].turn = (uint8_t)i;
        shift += espl__splice_shift(step);
        if (e->comes && e->level != 0) {
            link_levels(&r, e, i);
        } else if (e->comes) {
            find_parent(&r, e, step);
        }
    }
}

// --- The commit ---

// Ranks that are rewritten: before those that change some that need not be.
enum { NEAR = 32, WINDOW = ESPL__SPLICE_RANKS + NEAR };

// By how much ranks from one on move more than those before it, wrapping around.
typedef struct move {
    uint32_t rank;   // where they stand
    uint32_t parent; // the ranks that they hold: of their parents
    uint32_t first;  // of their first children
} move;

typedef struct commit {
    espl__forest *forest;
    const espl__run *run;
    const espl__splice_step *steps;
    uint32_t step_count;
    const espl__splice_copy *copies;
    uint32_t begin; // the first rank that is rewritten
    uint32_t made, gone;
    uint32_t places[ESPL__SPLICE_EVENTS]; // of a step: its gap, in ranks to be
    // Steps by which nodes come in, and those by which they go: gone through one after the other,
    // since which of the two comes next nothing tells beforehand.
    uint8_t comers[ESPL__SPLICE_EVENTS], goers[ESPL__SPLICE_EVENTS];
    uint32_t comer_count, goer_count;
    move moves[WINDOW + 1]; // from `begin` on
} commit;

// A few ranks whose lists of children alone move are rewritten with all others, sooner than in a loop
// of their own.
static uint32_t find_begin(const espl__splice_step *first)
{
    return first->gap - first->split <= NEAR ? first->split : first->gap;
}

// Every rank has its moves, most of them none, so that one loop rewrites all, whatever the steps
// are. Cut into pieces that move alike, each with its loops, a splice of a run of 70 had 39 branches
// that were guessed wrongly instead of 15: nothing tells beforehand where a piece ends.
static void add_moves(commit *c)
{
    move *const moves = c->moves;
    const uint32_t begin = c->begin;
    uint32_t shift_before = 0;

    for (uint32_t i = 0; i < c->step_count; ++i) {
        const espl__splice_step *const step = &c->steps[i];
        const uint32_t comes = step->comes, goers = step->count & (comes - 1);
        const uint32_t shift = espl__splice_shift(step);

        c->places[i] = step->gap + shift_before;
        shift_before += shift;
        c->comers[c->comer_count] = c->goers[c->goer_count] = (uint8_t)i;
        c->comer_count += comes;
        c->goer_count += 1 - comes;

        moves[step->gap + goers - begin].rank += shift;
        // A parent moves by the steps before it: so do all that hang below ranks behind a gap.
        moves[espl__first_child(c->forest, c->run, step->gap) - begin].parent += shift;
        moves[(step->split < begin ? begin : step->split) - begin].first += shift;
        c->made += step->count - goers;
        c->gone += goers;
    }
}

// First children of those that stand before the first rank that is rewritten, and stay there.
static void move_firsts(const commit *c)
{
    uint32_t *const first = c->forest->first + c->run->base;
    uint32_t shift = 0;

    for (uint32_t i = 0; i < c->step_count && c->steps[i].split < c->begin; ++i) {
        const uint32_t next = i + 1 < c->step_count ? c->steps[i + 1].split : c->begin;
        const uint32_t end = next < c->begin ? next : c->begin;

        shift += espl__splice_shift(&c->steps[i]);
        for (uint32_t rank = c->steps[i].split; rank < end; ++rank) {
            first[rank] += shift;
        }
    }
}

// The slots of a run as they were, from the first rank that is rewritten on: of its nodes, and then free
// ones for all that come in.
static void copy_order(const commit *c, uint32_t *to)
{
    const espl__run *const run = c->run;
    const uint32_t end = run->size + c->made, known = end < run->used ? end : run->used;

    memcpy(to, c->forest->order + run->base + c->begin, (known - c->begin) * sizeof *to);
    for (uint32_t rank = known; rank < end; ++rank) {
        to[rank - c->begin] = run->base + rank;
    }
}

// Who goes is moved like those before him, and written over by the one behind him, by those who
// come in or by the holes.
static void move_links(const commit *c, const uint32_t *order)
{
    espl__forest *const forest = c->forest;
    const uint32_t base = c->run->base, count = c->run->size - c->begin;
    uint32_t parent[WINDOW], first[WINDOW];
    uint32_t rank = c->begin, parents = 0, firsts = 0;

    memcpy(parent, forest->parent + base + c->begin, count * sizeof *parent);
    memcpy(first, forest->first + base + c->begin, count * sizeof *first);
    for (uint32_t i = 0; i < count; ++i) {
        rank += c->moves[i].rank;
        parents += c->moves[i].parent;
        firsts += c->moves[i].first;
        forest->order[base + rank] = order[i];
        forest->rank[order[i]] = rank;
        forest->parent[base + rank] = parent[i] + parents;
        forest->first[base + rank] = first[i] + firsts;
        rank += 1;
    }
}

// Those who come in take the holes in their order. Where children of its last level would stand is
// where those of the next rank do, which is told already.
static void let_in(const commit *c, const espl__splice_step *step, uint32_t rank, uint32_t size,
                   const uint32_t *holes)
{
    espl__forest *const forest = c->forest;
    const espl__recipe *const recipe = c->copies[step->edit].recipe;
    uint32_t *const slots = c->copies[step->edit].slots + step->start;
    const uint32_t at = c->run->base + rank, end = rank + step->count;
    // Without a branch: where nobody stands behind them something else is read.
    const uint32_t behind = forest->first[c->run->base + (end < size ? end : rank)];
    const uint32_t next = end < size ? behind : size;
    const bool is_last = step->start + step->count == recipe->size;
    const uint32_t firsts = is_last ? next - recipe->size : step->firsts;

    for (uint32_t k = 0; k < step->count; ++k) {
        const uint32_t slot = holes[k];

        forest->order[at + k] = slots[k] = slot;
        forest->rank[slot] = rank + k;
        forest->parent[at + k] = recipe->parents[step->start + k] + step->parents;
        forest->first[at + k] = recipe->firsts[step->start + k] + firsts;
    }
}

// Slots that were left stand behind the nodes.
static void let_go(const commit *c, const uint32_t *slots, uint32_t count, uint32_t rank)
{
    espl__forest *const forest = c->forest;

    for (uint32_t k = 0; k < count; ++k) {
        forest->order[c->run->base + rank + k] = slots[k];
        forest->rank[slots[k]] = rank + k;
        forest->entity[slots[k]] = ESPL__NO_ENTITY;
    }
}

// Those who come in from the last step to the first. Of slots that nobody is in, those that nodes left
// come first, and the holes that are left stay where they are.
static void fill_gaps(const commit *c, const uint32_t *order)
{
    const uint32_t size = c->run->size + c->made - c->gone;
    const uint32_t *holes = order + (c->run->size - c->begin) + c->made;
    uint32_t left = size;

    for (uint32_t i = c->comer_count; i-- > 0;) {
        const espl__splice_step *const step = &c->steps[c->comers[i]];

        holes -= step->count;
        let_in(c, step, c->places[c->comers[i]], size, holes);
    }
    for (uint32_t i = 0; i < c->goer_count; ++i) {
        const espl__splice_step *const step = &c->steps[c->goers[i]];

        let_go(c, order + (step->gap - c->begin), step->count, left);
        left += step->count;
    }
}

// Not inlined: together with the moves it would take more stack than one function may.
static ESPL__APART void rewrite(const commit *c)
{
    uint32_t order[WINDOW + ESPL__SPLICE_MADE];

    copy_order(c, order);
    move_firsts(c);
    move_links(c, order);
    fill_gaps(c, order);
}

static bool is_straight(const espl__forest *forest, const espl__run *run, uint32_t begin,
                        uint32_t end)
{
    bool is_in_order = (run->flags & ESPL__RUN_IN_ORDER) != 0;

    for (uint32_t at = run->base + begin; is_in_order && at < run->base + end; ++at) {
        is_in_order = forest->order[at] == at;
    }
    return is_in_order;
}

void espl__splice_commit(espl__forest *forest, uint32_t run, const espl__splice_step *steps,
                         uint32_t count, const espl__splice_copy *copies)
{
    espl__run *const header = &forest->runs[run];
    commit c;

    c.forest = forest;
    c.run = header;
    c.steps = steps;
    c.step_count = count;
    c.copies = copies;
    c.begin = find_begin(&steps[0]);
    c.made = c.gone = c.comer_count = c.goer_count = 0;
    memset(c.moves, 0, (header->size - c.begin + 1) * sizeof *c.moves);
    add_moves(&c);
    rewrite(&c);

    const uint32_t used = header->size + c.made, size = used - c.gone;

    header->flags &=
        is_straight(forest, header, c.begin, size) ? ~0u : ~(unsigned)ESPL__RUN_IN_ORDER;
    header->used = used > header->used ? used : header->used;
    header->size = size;
}
