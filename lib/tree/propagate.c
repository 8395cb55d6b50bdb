// SPDX-License-Identifier: MIT
// Worlds from locals, in breadth-first order. The kernels touch the arrays they are handed and
// nothing else. A level may be cut anywhere: parents stand before it and are final.
#include "lib/tree/propagate.h"

#include "lib/base/ahead.h"
#include "lib/jobs/ranges.h"
#include "lib/tree/band.h"

#include <string.h>

enum { SPANS_ON_STACK = 32 };
// Slots of a run that are asked for at once: as much as stays in the nearest cache.
enum { ASKED = 256 };

// One run's arrays; slots are absolute, ranks start at the run's base.
typedef struct view {
    espl_pose *world;
    const espl_pose *local;
    const uint32_t *order, *parent;
    const uint8_t *flags;
    espl__extra *extra;     // by slot - base, or NULL
    const espl__kept *kept; // by slot - base, or NULL
    uint32_t base;
} view;

static view view_of(const espl__forest *forest, const espl__run *run)
{
    return (view){.world = forest->world,
                  .local = forest->local,
                  .order = forest->order + run->base,
                  .parent = forest->parent + run->base,
                  .flags = forest->flags,
                  .extra = run->side != NULL ? run->side->extra : NULL,
                  .kept = run->side != NULL ? run->side->kept : NULL,
                  .base = run->base};
}

// The arrays as kernels take them: where slots stand in rank order, the order is not read at all.
static espl__ranks ranks_of(const espl__forest *forest, const espl__run *run)
{
    const bool in_order = (run->flags & ESPL__RUN_IN_ORDER) != 0;
    const uint32_t slots = in_order ? run->base : 0;

    return (espl__ranks){.world = forest->world + slots,
                         .local = forest->local + slots,
                         .order = in_order ? NULL : forest->order + run->base,
                         .parent = forest->parent + run->base,
                         .first = forest->first + run->base};
}

// Follow the parent as a copy of it, stretch and context included.
static bool copy_parent(const view *v, uint32_t slot, uint32_t up)
{
    const espl_pose before = v->world[slot];
    bool is_changed = false;

    v->world[slot] = v->world[up];
    if (v->extra != NULL) {
        espl__extra *const own = &v->extra[slot - v->base];

        is_changed = memcmp(own, &v->extra[up - v->base], sizeof *own) != 0;
        *own = v->extra[up - v->base];
    }
    return is_changed || !espl__pose_is_same(&before, &v->world[slot]);
}

// The world at one rank below the root, whatever its flags. Tells whether what hangs below sees a
// change.
static bool compose_general(const view *v, uint32_t rank)
{
    const uint32_t slot = v->order[rank];
    const uint32_t up = v->order[v->parent[rank]];
    const unsigned flags = v->flags[slot];
    const espl__kept *const kept =
        (flags & ESPL__SLOT_KEEPS) != 0 ? &v->kept[slot - v->base] : NULL;
    const espl_pose before = v->world[slot];

    if ((flags & ESPL__SLOT_ROOTED) != 0) {
        v->world[slot] = v->local[slot];
    } else if ((flags & ESPL__SLOT_PASS) != 0 ||
               (kept != NULL && (kept->flags & ESPL_COPY_PARENT) != 0)) {
        return copy_parent(v, slot, up);
    } else {
        const float *const stretch = v->extra != NULL ? v->extra[up - v->base].stretch : NULL;

        espl__pose_compose_to(&v->world[slot], &v->world[up], stretch, &v->local[slot]);
        if (kept != NULL) {
            espl__keep_parts(&v->world[slot], kept);
        }
    }
    return !espl__pose_is_same(&before, &v->world[slot]);
}

static bool all_finite(const espl__forest *forest, const espl__run *run, uint32_t begin,
                       uint32_t end)
{
    for (uint32_t rank = begin; rank < end; ++rank) {
        if (!espl__pose_is_finite(&forest->world[forest->order[run->base + rank]])) {
            return false;
        }
    }
    return true;
}

// --- Walks ---

void espl__walk_begin(espl__walk *walk, espl__forest *forest, uint32_t run, espl__span *spans,
                      uint32_t capacity)
{
    *walk = (espl__walk){.forest = forest,
                         .run = &forest->runs[run],
                         .spans = spans,
                         .capacity = capacity,
                         .fence = UINT32_MAX,
                         .is_finite = true};
}

void espl__walk_count(const espl__walk *walk, espl__crew *crew)
{
    crew->tally.nodes_visited += walk->visited;
    crew->tally.nodes_skipped += walk->skipped;
}

static espl__span *last_span(const espl__walk *walk)
{
    return espl__walk_span(walk, walk->count - 1);
}

static void drop_first_span(espl__walk *walk)
{
    walk->head = walk->head + 1 < walk->capacity ? walk->head + 1 : 0;
    walk->count -= 1;
}

// Tell whether the next span, behind one that waits, has no place of its own.
static bool is_full(const espl__walk *walk)
{
    const uint32_t left = walk->capacity - walk->count;

    return left == 0 || (left == 1 && last_span(walk)->begin >= walk->fence);
}

// Ranks [begin, end) wait, but for those that do so already or were visited in their turn.
static void push(espl__walk *walk, uint32_t begin, uint32_t end)
{
    const uint32_t free_from = walk->count != 0 ? last_span(walk)->end : walk->reached;

    begin = begin > free_from ? begin : free_from;
    if (begin >= end) {
        return;
    }
    if (walk->count != 0 && (last_span(walk)->end == begin || is_full(walk))) {
        last_span(walk)->end = end;
        return;
    }
    walk->count += 1;
    *last_span(walk) = (espl__span){begin, end};
}

// Children of consecutive ranks are consecutive.
static void push_children_of(espl__walk *walk, uint32_t begin, uint32_t end)
{
    push(walk, espl__first_child(walk->forest, walk->run, begin),
         espl__first_child(walk->forest, walk->run, end));
}

void espl__walk_push_children(espl__walk *walk, uint32_t rank)
{
    push_children_of(walk, rank, rank + 1);
}

void espl__walk_wait(espl__walk *walk, uint32_t begin, uint32_t end)
{
    push(walk, begin, end);
}

// Any node of a general run may stand still, and then what hangs below it does.
static float visit_general(espl__walk *walk, const view *v, uint32_t begin, uint32_t end)
{
    float alarm = 0;

    for (uint32_t rank = begin; rank < end; ++rank) {
        const bool is_changed = compose_general(v, rank);

        alarm += espl__pose_alarm(&v->world[v->order[rank]]);
        walk->skipped += is_changed ? 0 : 1;
        if (is_changed || walk->visits_all) {
            push_children_of(walk, rank, rank + 1);
        }
    }
    return alarm;
}

// Slots of a small run out of rank order: no machine guesses which memory comes next, but all of it
// is one range, which is asked for at once.
static void ask_for_slots(const espl__forest *forest, const espl__run *run)
{
    for (uint32_t slot = run->base; slot < run->base + run->used; slot += 2) {
        espl__ask(&forest->local[slot]);
        espl__ask_to_write(&forest->world[slot]);
    }
}

// Ranks [begin, end) of a run in which every node follows its parent. false: not finite.
static bool compose_ranks(espl__forest *forest, const espl__run *run, uint32_t begin, uint32_t end)
{
    const espl__ranks ranks = ranks_of(forest, run);

    if (ranks.order != NULL && run->used <= ASKED && end - begin > run->used / 2) {
        ask_for_slots(forest, run);
    }
    const float alarm = end - begin == 1 ? espl__compose_rank(&ranks, begin)
                                         : forest->kernels->compose(&ranks, begin, end);

    return alarm == 0 || all_finite(forest, run, begin, end);
}

bool espl__compose_ranks(espl__forest *forest, const espl__run *run, uint32_t begin, uint32_t end)
{
    return compose_ranks(forest, run, begin, end);
}

// Recompute ranks [begin, end), 1 <= begin; ranks below begin are final.
static void visit(espl__walk *walk, uint32_t begin, uint32_t end)
{
    espl__forest *const forest = walk->forest;
    const espl__run *const run = walk->run;
    bool is_finite = true;

    walk->visited += end - begin;
    if ((run->flags & ESPL__RUN_GENERAL) != 0) {
        const view v = view_of(forest, run);

        is_finite = visit_general(walk, &v, begin, end) == 0 || all_finite(forest, run, begin, end);
    } else {
        is_finite = compose_ranks(forest, run, begin, end);
        push_children_of(walk, begin, end);
    }
    walk->is_finite = walk->is_finite && is_finite;
}

void espl__walk_advance(espl__walk *walk, uint32_t end)
{
    while (walk->count != 0 && walk->spans[walk->head].begin < end) {
        espl__span *const span = &walk->spans[walk->head];
        const uint32_t from = span->begin;
        const uint32_t to = span->end < end ? span->end : end;

        // Out before the visit, so that its children find the ring as it will be.
        walk->reached = to;
        if (to == span->end) {
            drop_first_span(walk);
        } else {
            span->begin = to;
        }
        visit(walk, from, to);
    }
}

void espl__walk_visit(espl__walk *walk, uint32_t begin, uint32_t end)
{
    while (walk->count != 0 && walk->spans[walk->head].begin < end) {
        espl__span *const span = &walk->spans[walk->head];

        span->begin = end;
        if (span->end <= end) {
            drop_first_span(walk);
        }
    }
    walk->reached = end;
    if (begin == 0) {
        if (espl__propagate_one(walk, 0) || walk->visits_all) {
            espl__walk_push_children(walk, 0);
        }
        begin = 1;
    }
    if (begin < end) {
        visit(walk, begin, end);
    }
}

bool espl__walk_take(espl__walk *walk, uint32_t rank)
{
    espl__span *const span = &walk->spans[walk->head];

    if (walk->count == 0 || span->begin != rank) {
        return false;
    }
    walk->reached = rank + 1;
    span->begin += 1;
    if (span->begin == span->end) {
        drop_first_span(walk);
    }
    return true;
}

void espl__walk_fork(espl__walk *piece, const espl__walk *walk, espl__span *spans,
                     uint32_t capacity, uint32_t begin, uint32_t end)
{
    *piece = (espl__walk){.forest = walk->forest,
                          .run = walk->run,
                          .spans = spans,
                          .capacity = capacity,
                          .fence = begin,
                          .visits_all = walk->visits_all,
                          .is_finite = true};
    for (uint32_t i = 0; i < walk->count; ++i) {
        const espl__span *const span = espl__walk_span(walk, i);

        push(piece, span->begin > begin ? span->begin : begin, span->end < end ? span->end : end);
    }
}

static void reverse(espl__span *spans, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; ++i) {
        const espl__span span = spans[i];

        spans[i] = spans[count - 1 - i];
        spans[count - 1 - i] = span;
    }
}

uint32_t espl__walk_settle(espl__walk *walk)
{
    if (walk->head + walk->count <= walk->capacity) {
        memmove(walk->spans, walk->spans + walk->head, walk->count * sizeof *walk->spans);
    } else {
        reverse(walk->spans, walk->head);
        reverse(walk->spans + walk->head, walk->capacity - walk->head);
        reverse(walk->spans, walk->capacity);
    }
    walk->head = 0;
    return walk->count;
}

void espl__walk_clear(espl__walk *walk, uint32_t reached)
{
    walk->count = 0;
    walk->reached = reached;
}

void espl__walk_join(espl__walk *walk, const espl__walk *piece)
{
    for (uint32_t i = 0; i < piece->count; ++i) {
        push(walk, espl__walk_span(piece, i)->begin, espl__walk_span(piece, i)->end);
    }
    walk->visited += piece->visited;
    walk->skipped += piece->skipped;
    walk->is_finite = walk->is_finite && piece->is_finite;
}

// --- From one node down ---

// Tell whether what hangs below a node is visited in bands. Of a run in which anything may stand
// still it is so without workers too: how many gaps are stepped over depends on the pieces.
static bool goes_wide(const espl__forest *forest, const espl__run *run, const espl__team *team)
{
    return espl__run_is_wide(forest, run) &&
           ((run->flags & ESPL__RUN_GENERAL) != 0 || !espl__executor_is_serial(team->executor));
}

static bool propagate(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank,
                      bool visits_all)
{
    const espl__run *const header = &forest->runs[run];
    espl__span spans[SPANS_ON_STACK];
    espl__walk walk;

    // Everything below a root, where nothing stands still: one pass over the run.
    if (rank == 0 && (header->flags & ESPL__RUN_GENERAL) == 0 &&
        !goes_wide(forest, header, &crew->team)) {
        crew->tally.nodes_visited += header->size - 1;
        return header->size == 1 || compose_ranks(forest, header, 1, header->size);
    }
    // Most nodes are leaves.
    if (espl__first_child(forest, header, rank) == espl__first_child(forest, header, rank + 1)) {
        return true;
    }
    espl__walk_begin(&walk, forest, run, spans, SPANS_ON_STACK);
    walk.visits_all = visits_all;
    espl__walk_push_children(&walk, rank);
    if (goes_wide(forest, header, &crew->team)) {
        espl__walk_finish(&walk, &crew->team);
    }
    espl__walk_advance(&walk, UINT32_MAX);
    espl__walk_count(&walk, crew);
    return walk.is_finite;
}

bool espl__propagate_below(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank)
{
    return propagate(forest, crew, run, rank, true);
}

bool espl__propagate_changed(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank)
{
    return propagate(forest, crew, run, rank, false);
}

// --- One node ---

// Recompute the world at a rank. Tells whether what hangs below sees a change.
static bool compose_at(espl__forest *forest, const espl__run *header, uint32_t rank)
{
    const view v = view_of(forest, header);
    const uint32_t slot = forest->order[header->base + rank];

    if (rank != 0) {
        return compose_general(&v, rank);
    }
    const bool is_changed = !espl__pose_is_same(&forest->world[slot], &forest->local[slot]);

    forest->world[slot] = forest->local[slot];
    return is_changed;
}

bool espl__propagate_one(espl__walk *walk, uint32_t rank)
{
    const bool is_changed = compose_at(walk->forest, walk->run, rank);
    const uint32_t slot = walk->forest->order[walk->run->base + rank];

    walk->visited += 1;
    walk->skipped += is_changed ? 0 : 1;
    walk->is_finite = walk->is_finite && espl__pose_is_finite(&walk->forest->world[slot]);
    return is_changed;
}

bool espl__propagate_at(espl__forest *forest, espl__crew *crew, uint32_t run, uint32_t rank)
{
    const espl__run *const header = &forest->runs[run];

    crew->tally.nodes_visited += 1;
    if (rank == 0) {
        const uint32_t slot = forest->order[header->base];

        forest->world[slot] = forest->local[slot];
        return espl__pose_is_finite(&forest->world[slot]);
    }
    // Where slots stand in rank order, the order need not be read to find the parent.
    if ((header->flags & ESPL__RUN_GENERAL) == 0) {
        return compose_ranks(forest, header, rank, rank + 1);
    }
    (void)compose_at(forest, header, rank);
    return espl__pose_is_finite(&forest->world[forest->order[header->base + rank]]);
}

espl_pose espl__world_expected(const espl__forest *forest, uint32_t slot)
{
    const uint32_t up = espl__frame_slot(forest, slot);

    if (up == ESPL__NO_SLOT) {
        return forest->local[slot];
    }
    if (espl__slot_copies(forest, slot)) {
        return forest->world[up];
    }
    const espl__frame parent = espl__slot_frame(forest, up);
    const espl__placement placement = espl__slot_placement(forest, slot);

    return espl__placement_world(&placement, &parent);
}
