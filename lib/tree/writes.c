// SPDX-License-Identifier: MIT
#include "lib/tree/writes.h"

#include <string.h>

enum { SPANS_ON_STACK = 32 };

// --- Nodes of a batch: consecutive entries of one slot ---

// Past the last entry of the node whose first entry stands at `at`.
static uint32_t end_of_node(const espl__run_writes *w, uint32_t at)
{
    const uint32_t *const slots = w->source->slots;
    const uint32_t slot = slots[w->numbers[at]];

    while (at < w->count && slots[w->numbers[at]] == slot) {
        at += 1;
    }
    return at;
}

static void save_node(const espl__forest *forest, const espl__run_writes *w, uint32_t at)
{
    const uint32_t slot = w->source->slots[w->numbers[at]];

    w->old_locals[at] = forest->local[slot];
    if (w->old_sides != NULL) {
        w->old_sides[at] =
            (espl__side_entry){espl__slot_kept(forest, slot), espl__slot_extra(forest, slot)};
    }
}

static void restore_node(espl__forest *forest, const espl__run_writes *w, uint32_t at)
{
    const uint32_t slot = w->source->slots[w->numbers[at]];
    espl__placement old = {w->old_locals[at], espl__kept_none(), espl__extra_default()};

    if (w->old_sides != NULL) {
        old.kept = w->old_sides[at].kept;
        old.extra = w->old_sides[at].extra;
    }
    espl__slot_place(forest, slot, &old);
}

// --- One pass ---

// The node at hand, while its entries are applied one after the other.
typedef struct node {
    espl__placement placement; // of a run without side arrays: the local alone counts
    espl_pose world;
    const espl__frame *parent;
} node;

static espl_status apply_one(const espl__run_writes *w, node *n, uint32_t number, bool *is_same)
{
    espl_write_kind kind;
    espl_write_value value;
    espl_status status = w->source->fetch(w->source->context, number, &kind, &value);

    if (status != ESPL_OK) {
        return status;
    }
    if (w->old_sides == NULL) {
        const espl_pose before = n->placement.local;

        status = espl__pose_write(&n->placement.local, &n->world, n->parent, kind, &value);
        *is_same = espl__pose_is_same(&before, &n->placement.local);
    } else {
        const espl__placement before = n->placement;

        status = espl__placement_write(&n->placement, &n->world, n->parent, kind, &value);
        *is_same = espl__placement_is_equal(&before, &n->placement);
    }
    return status;
}

// Each entry is applied to what the one before left. Tells whether any changed something.
static bool apply_entries(espl__run_writes *w, node *n, uint32_t begin, uint32_t end)
{
    bool is_changed = false;

    for (uint32_t at = begin; at < end; ++at) {
        espl_status *const result = &w->source->results[w->numbers[at]];
        bool is_same = true;

        if (*result < 0) {
            continue;
        }
        *result = apply_one(w, n, w->numbers[at], &is_same);
        if (*result >= 0) {
            w->writes += is_same ? 0 : 1;
            w->writes_skipped += is_same ? 1 : 0;
            is_changed = is_changed || !is_same;
        }
    }
    return is_changed;
}

// Put a node in place; what hangs below waits where it sees a change.
static void store_node(espl__forest *forest, espl__walk *walk, uint32_t slot, const node *n)
{
    const espl__extra old_extra = espl__slot_extra(forest, slot);
    const bool is_moved = !espl__pose_is_same(&forest->world[slot], &n->world);
    bool is_stretched = false;

    if (walk->run->side != NULL) {
        is_stretched = memcmp(&old_extra, &n->placement.extra, sizeof old_extra) != 0;
        espl__slot_place(forest, slot, &n->placement);
    } else {
        forest->local[slot] = n->placement.local;
    }
    forest->world[slot] = n->world;
    walk->visited += 1;
    walk->is_finite = walk->is_finite && espl__pose_is_finite(&n->world);
    if (is_moved || is_stretched) {
        espl__walk_push_children(walk, forest->rank[slot]);
    } else {
        walk->skipped += 1;
    }
}

// Write one node, whose parent's world is final.
static void write_node(espl__forest *forest, espl__run_writes *w, espl__walk *walk, uint32_t begin,
                       uint32_t end)
{
    const uint32_t slot = w->source->slots[w->numbers[begin]];
    const uint32_t up = espl__frame_slot(forest, slot);
    const bool is_below_change = espl__walk_take(walk, forest->rank[slot]);
    espl__frame parent;
    node n;

    n.world = forest->world[slot];
    n.parent = NULL;
    if (w->old_sides != NULL) {
        n.placement = espl__slot_placement(forest, slot);
    } else {
        n.placement = espl__placement_identity();
        n.placement.local = forest->local[slot];
    }
    if (up != ESPL__NO_SLOT) {
        parent = espl__slot_frame(forest, up);
        n.parent = &parent;
    }
    if (is_below_change) {
        n.placement.extra = espl__placement_copies(&n.placement) ? parent.extra : n.placement.extra;
        n.world = espl__placement_world(&n.placement, n.parent);
    }
    if (apply_entries(w, &n, begin, end) || is_below_change) {
        store_node(forest, walk, slot, &n);
    }
}

// Entries that were tried are open again.
static void reopen(espl__run_writes *w)
{
    for (uint32_t at = 0; at < w->count; ++at) {
        w->source->results[w->numbers[at]] = ESPL_OK;
    }
}

static void begin_walk(espl__walk *walk, espl__forest *forest, const espl__run_writes *w)
{
    espl__walk_begin(walk, forest, w->run, w->spans, w->span_count);
}

static void end_walk(espl__walk *walk, espl__run_writes *w)
{
    espl__walk_advance(walk, UINT32_MAX);
    w->visited += walk->visited;
    w->skipped += walk->skipped;
}

// --- The pass for locals ---

// Where nothing but locals changes, they are put in place first and worlds follow in long stretches.
typedef struct sweep {
    espl__forest *forest;
    espl__run_writes *w;
    espl__walk walk;
    uint32_t begin, end; // ranks whose locals changed and whose worlds are still to follow
} sweep;

static void flush(sweep *s)
{
    if (s->begin < s->end) {
        espl__walk_advance(&s->walk, s->begin);
        espl__walk_visit(&s->walk, s->begin, s->end);
    }
    s->begin = s->end;
}

// Write a node's local by its only entry. false: that needs more than the local.
static bool sweep_node(sweep *s, uint32_t number)
{
    espl__run_writes *const w = s->w;
    const uint32_t slot = w->source->slots[number];
    const uint32_t rank = s->forest->rank[slot];
    espl_status *const result = &w->source->results[number];
    espl_pose local = s->forest->local[slot];
    espl_write_kind kind;
    espl_write_value value;

    *result = w->source->fetch(w->source->context, number, &kind, &value);
    if (*result != ESPL_OK) {
        return true;
    }
    if (!espl__write_is_local(kind)) {
        return false;
    }
    *result = espl__local_write(&local, kind, &value);
    if (*result < 0) {
        return true;
    }
    if (espl__pose_is_same(&s->forest->local[slot], &local)) {
        w->writes_skipped += 1;
        return true;
    }
    w->writes += 1;
    s->forest->local[slot] = local;
    if (rank != s->end) {
        flush(s);
        s->begin = rank;
    }
    s->end = rank + 1;
    return true;
}

// All entries, for a run without side arrays. false: some world is not finite; which entries are at
// fault is for the other pass to find. A node with several entries is judged after each.
static bool sweep_locals(espl__forest *forest, espl__run_writes *w)
{
    sweep s = {.forest = forest, .w = w};

    begin_walk(&s.walk, forest, w);
    for (uint32_t at = 0; at < w->count;) {
        const uint32_t end = end_of_node(w, at);

        save_node(forest, w, at);
        if (end - at > 1 || !sweep_node(&s, w->numbers[at])) {
            flush(&s);
            espl__walk_advance(&s.walk, forest->rank[w->source->slots[w->numbers[at]]]);
            write_node(forest, w, &s.walk, at, end);
        }
        at = end;
    }
    flush(&s);
    end_walk(&s.walk, w);
    return s.walk.is_finite;
}

// --- The pass that finds out who is at fault ---

// All entries that are not refused yet. false: some world is not finite.
static bool carry_out(espl__forest *forest, espl__run_writes *w)
{
    espl__walk walk;

    w->writes = w->writes_skipped = 0;
    begin_walk(&walk, forest, w);
    for (uint32_t at = 0; at < w->count;) {
        const uint32_t end = end_of_node(w, at);

        espl__walk_advance(&walk, forest->rank[w->source->slots[w->numbers[at]]]);
        save_node(forest, w, at);
        write_node(forest, w, &walk, at, end);
        at = end;
    }
    end_walk(&walk, w);
    return walk.is_finite;
}

// --- Overflow further down ---

// Put every node back and recompute what hangs below.
static void undo(espl__forest *forest, espl__run_writes *w)
{
    espl__walk walk;

    begin_walk(&walk, forest, w);
    walk.visits_all = true;
    for (uint32_t at = 0; at < w->count; at = end_of_node(w, at)) {
        const uint32_t rank = forest->rank[w->source->slots[w->numbers[at]]];

        espl__walk_advance(&walk, rank);
        (void)espl__walk_take(&walk, rank);
        restore_node(forest, w, at);
        (void)espl__propagate_one(&walk, rank);
        espl__walk_push_children(&walk, rank);
    }
    end_walk(&walk, w);
    w->writes = w->writes_skipped = 0;
}

// Mark every slot above a node whose world is not finite though its parent's is.
static void mark_blame(espl__forest *forest, uint32_t run)
{
    const espl__run *const header = &forest->runs[run];

    for (uint32_t rank = 0; rank < header->size; ++rank) {
        const uint32_t slot = forest->order[header->base + rank];
        uint32_t up = espl__frame_slot(forest, slot);

        if (espl__pose_is_finite(&forest->world[slot]) ||
            (up != ESPL__NO_SLOT && !espl__pose_is_finite(&forest->world[up]))) {
            continue;
        }
        while (up != ESPL__NO_SLOT && !espl__slot_is(forest, up, ESPL__SLOT_WRITTEN)) {
            forest->flags[up] |= ESPL__SLOT_WRITTEN;
            up = espl__frame_slot(forest, up);
        }
    }
}

static void clear_blame(espl__forest *forest, uint32_t run)
{
    const espl__run *const header = &forest->runs[run];

    for (uint32_t rank = 0; rank < header->size; ++rank) {
        forest->flags[forest->order[header->base + rank]] &= (uint8_t)~ESPL__SLOT_WRITTEN;
    }
}

// Refuse the entries of marked slots; the others are open again.
static void refuse_marked(const espl__forest *forest, espl__run_writes *w)
{
    for (uint32_t at = 0; at < w->count; ++at) {
        const uint32_t number = w->numbers[at];
        espl_status *const result = &w->source->results[number];
        const bool is_marked = espl__slot_is(forest, w->source->slots[number], ESPL__SLOT_WRITTEN);
        const bool is_open = *result >= 0 || *result == ESPL_ERR_RANGE;

        if (is_open) {
            *result = is_marked ? ESPL_ERR_RANGE : ESPL_OK;
        }
    }
}

// Each pass leaves what it refused in the results.
static void write_run(espl__forest *forest, espl__run_writes *w)
{
    if (w->old_sides == NULL) {
        if (sweep_locals(forest, w)) {
            return;
        }
        undo(forest, w);
        reopen(w);
    }
    if (carry_out(forest, w)) {
        return;
    }
    mark_blame(forest, w->run);
    refuse_marked(forest, w);
    clear_blame(forest, w->run);
    undo(forest, w);
    if (carry_out(forest, w)) {
        return;
    }
    undo(forest, w);
    for (uint32_t at = 0; at < w->count; ++at) {
        espl_status *const result = &w->source->results[w->numbers[at]];

        *result = *result >= 0 ? ESPL_ERR_RANGE : *result;
    }
}

void espl__run_write(espl__forest *forest, espl__run_writes *writes)
{
    espl__span few[SPANS_ON_STACK];
    espl__run_writes with_room = *writes;

    if (writes->span_count < SPANS_ON_STACK) {
        with_room.spans = few;
        with_room.span_count = SPANS_ON_STACK;
    }
    write_run(forest, &with_room);
    writes->visited = with_room.visited;
    writes->skipped = with_room.skipped;
    writes->writes = with_room.writes;
    writes->writes_skipped = with_room.writes_skipped;
}
