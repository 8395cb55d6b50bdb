// SPDX-License-Identifier: MIT
#include "lib/tree/writes.h"

#include "lib/jobs/ranges.h"
#include "lib/tree/single.h"
#include "lib/tree/sweep.h"

#include <stdatomic.h>
#include <string.h>

enum { SPANS_ON_STACK = 32 };

// --- Nodes of a batch: consecutive entries of one slot ---

static uint32_t slot_at(const espl__forest *forest, const espl__run_writes *w, uint32_t at)
{
    return forest->order[forest->runs[w->run].base + w->ranks[at]];
}

// Past the last entry of the node whose first entry stands at `at`.
static uint32_t end_of_node(const espl__run_writes *w, uint32_t at)
{
    const uint32_t rank = w->ranks[at];

    while (at < w->count && w->ranks[at] == rank) {
        at += 1;
    }
    return at;
}

// The first entry from `begin` on, but before `end`, at a rank or behind it.
static uint32_t find_entry(const espl__run_writes *w, uint32_t begin, uint32_t end, uint32_t rank)
{
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (w->ranks[middle] < rank) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

static void save_node(const espl__forest *forest, const espl__run_writes *w, uint32_t at)
{
    const uint32_t slot = slot_at(forest, w, at);

    w->old_locals[at] = forest->local[slot];
    if (w->old_sides != NULL) {
        w->old_sides[at] =
            (espl__side_entry){espl__slot_kept(forest, slot), espl__slot_extra(forest, slot)};
    }
}

static void restore_node(espl__forest *forest, const espl__run_writes *w, uint32_t at)
{
    const uint32_t slot = slot_at(forest, w, at);
    espl__placement old = {w->old_locals[at], espl__kept_none(), espl__extra_default()};

    if (w->old_sides != NULL) {
        old.kept = w->old_sides[at].kept;
        old.extra = w->old_sides[at].extra;
    }
    espl__slot_place(forest, slot, &old);
}

// --- One pass ---

// Entries in the order of ranks, and what hangs below them: all of a run, or a piece.
typedef struct pass {
    espl__forest *forest;
    const espl__run_writes *w;
    espl__walk walk;
    uint64_t writes, writes_skipped;
    espl__side_counts side;
    bool sweeps;         // locals are put in place first where that will do, worlds follow:
    uint32_t begin, end; // ranks whose locals changed and whose worlds are still to follow
} pass;

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
static bool apply_entries(pass *p, node *n, uint32_t begin, uint32_t end)
{
    const espl__run_writes *const w = p->w;
    bool is_changed = false;

    for (uint32_t at = begin; at < end; ++at) {
        espl_status *const result = &w->source->results[espl__write_number(w, at)];
        bool is_same = true;

        if (*result < 0) {
            continue;
        }
        *result = apply_one(w, n, espl__write_number(w, at), &is_same);
        if (*result >= 0) {
            p->writes += is_same ? 0 : 1;
            p->writes_skipped += is_same ? 1 : 0;
            is_changed = is_changed || !is_same;
        }
    }
    return is_changed;
}

// Put a node in place; what hangs below waits where it sees a change.
static void store_node(pass *p, uint32_t slot, const node *n)
{
    espl__forest *const forest = p->forest;
    espl__walk *const walk = &p->walk;
    const espl__extra old_extra = espl__slot_extra(forest, slot);
    const bool is_moved = !espl__pose_is_same(&forest->world[slot], &n->world);
    bool is_stretched = false;

    if (walk->run->side != NULL) {
        is_stretched = memcmp(&old_extra, &n->placement.extra, sizeof old_extra) != 0;
        const espl__side_counts changes = espl__slot_put(forest, slot, &n->placement);

        p->side.extras += changes.extras;
        p->side.kept += changes.kept;
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
static void write_node(pass *p, uint32_t begin, uint32_t end)
{
    espl__forest *const forest = p->forest;
    const espl__run_writes *const w = p->w;
    const uint32_t slot = slot_at(forest, w, begin);
    const uint32_t up = espl__frame_slot(forest, slot);
    const bool is_below_change = espl__walk_take(&p->walk, w->ranks[begin]);
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
    if (apply_entries(p, &n, begin, end) || is_below_change) {
        store_node(p, slot, &n);
    }
}

// --- Locals ahead of worlds ---

static void flush(pass *p)
{
    if (p->begin < p->end) {
        espl__walk_advance(&p->walk, p->begin);
        espl__walk_visit(&p->walk, p->begin, p->end);
    }
    p->begin = p->end;
}

static void put_local(pass *p, uint32_t slot, uint32_t rank, const espl_pose *local)
{
    p->writes += 1;
    p->forest->local[slot] = *local;
    if (rank != p->end) {
        flush(p);
        p->begin = rank;
    }
    p->end = rank + 1;
}

// Write a node's local by its only entry. false: that needs more than the local.
static bool sweep_node(pass *p, uint32_t at)
{
    const espl__write_source *const source = p->w->source;
    const uint32_t number = espl__write_number(p->w, at), slot = slot_at(p->forest, p->w, at);
    espl_status *const result = &source->results[number];
    espl_pose local = p->forest->local[slot];
    espl_write_kind kind;
    espl_write_value value;

    *result = source->fetch(source->context, number, &kind, &value);
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
    if (espl__pose_is_same(&p->forest->local[slot], &local)) {
        p->writes_skipped += 1;
        return true;
    }
    put_local(p, slot, p->w->ranks[at], &local);
    return true;
}

// Entries [begin, end) that are not refused yet. A node with several of them is judged after each.
static void write_entries(pass *p, uint32_t begin, uint32_t end)
{
    for (uint32_t at = begin; at < end;) {
        const uint32_t next = end_of_node(p->w, at);

        save_node(p->forest, p->w, at);
        if (!p->sweeps || next - at > 1 || !sweep_node(p, at)) {
            flush(p);
            espl__walk_advance(&p->walk, p->w->ranks[at]);
            write_node(p, at, next);
        }
        at = next;
    }
    flush(p);
}

// --- Passes in pieces ---

enum { SPANS_OF_SHARE = 12 };
// Part of a piece's ranks that are entries or wait, or a band is not worth calling anybody.
enum { SCARCE = 4 };

// What falls to one piece of a band.
typedef struct share {
    pass pass;
    espl__span few[SPANS_OF_SHARE];
} share;

typedef struct split {
    const pass *whole; // not touched while shares are written
    espl__band band;
    uint32_t at[ESPL__GENERATIONS + 1]; // first entry of each generation
    espl__span *spans;                  // for shares to which the few do not suffice; or NULL
    _Atomic uint32_t spans_taken;
    share shares[ESPL__PIECES];
} split;

// One generation of one piece: ranks from `begin` on, and their entries.
typedef struct part {
    uint32_t begin, end; // ranks
    uint32_t from, to;   // entries
} part;

// The parts of a piece, [ESPL__GENERATIONS]. @return entries in all of them.
static uint32_t find_parts(const split *s, uint32_t piece, part *parts)
{
    const espl__band *const band = &s->band;
    const espl__run_writes *const w = s->whole->w;
    part at = {.begin = band->cuts[piece], .end = band->cuts[piece + 1]};
    uint32_t entries = 0;

    for (uint32_t g = 0; g < band->generations; ++g) {
        at.from = find_entry(w, s->at[g], s->at[g + 1], at.begin);
        at.to = find_entry(w, at.from, s->at[g + 1], at.end);
        entries += at.to - at.from;
        parts[g] = at;
        at.begin = espl__first_child(band->forest, band->run, at.begin);
        at.end = espl__first_child(band->forest, band->run, at.end);
    }
    return entries;
}

static bool is_general(const pass *p)
{
    return (p->walk.run->flags & ESPL__RUN_GENERAL) != 0;
}

// Spans that come to wait in a piece at once at most; of a general run, a good number.
static uint32_t count_spans(const split *s, size_t piece, uint32_t entries)
{
    const espl__walk *const walk = &s->whole->walk;
    const uint32_t begin = s->band.cuts[piece], end = s->band.cuts[piece + 1];
    uint32_t spans = entries + 4;

    for (uint32_t i = 0; i < walk->count && !is_general(s->whole); ++i) {
        const espl__span *const span = espl__walk_span(walk, i);

        spans += span->begin < end && begin < span->end ? 1 : 0;
    }
    return spans;
}

static void write_share(void *context, size_t number)
{
    split *const s = context;
    pass *const p = &s->shares[number].pass;
    part parts[ESPL__GENERATIONS];
    const uint32_t entries = find_parts(s, (uint32_t)number, parts);
    const uint32_t wanted = count_spans(s, number, entries);
    const bool has_few = s->spans == NULL || wanted <= SPANS_OF_SHARE;
    espl__span *const spans =
        has_few ? s->shares[number].few : s->spans + atomic_fetch_add(&s->spans_taken, wanted);

    *p = (pass){.forest = s->whole->forest, .w = s->whole->w, .sweeps = s->whole->sweeps};
    espl__walk_fork(&p->walk, &s->whole->walk, spans, has_few ? SPANS_OF_SHARE : wanted,
                    s->band.cuts[number], s->band.cuts[number + 1]);
    for (uint32_t g = 0; g < s->band.generations; ++g) {
        p->walk.fence = parts[g].end;
        write_entries(p, parts[g].from, parts[g].to);
        espl__walk_advance(&p->walk, parts[g].end);
    }
}

// Spans that shares want of the room behind those that wait, at most: one more for each cut through
// one that waits, three for room at the end, and only where there are more than the few.
static uint64_t spans_wanted(const split *s)
{
    const uint64_t entries = s->at[s->band.generations] - s->at[0];
    const uint64_t spans = entries + s->whole->walk.count;
    const uint64_t most = spans / (SPANS_OF_SHARE - 5);

    return spans + 5 * (most < s->band.pieces ? most : s->band.pieces);
}

// Find room for the spans of shares. Without it a plain run would visit more than it must.
static bool find_spans(split *s, pass *p)
{
    const uint32_t taken = espl__walk_settle(&p->walk);
    const bool has_room = spans_wanted(s) <= p->walk.capacity - taken;

    s->spans = has_room ? p->walk.spans + taken : NULL;
    atomic_init(&s->spans_taken, 0);
    return has_room || is_general(p);
}

static void join_shares(pass *p, const split *s)
{
    espl__walk_clear(&p->walk, espl__band_limit(&s->band));
    for (uint32_t i = 0; i < s->band.pieces; ++i) {
        const pass *const piece = &s->shares[i].pass;

        espl__walk_join(&p->walk, &piece->walk);
        p->writes += piece->writes;
        p->writes_skipped += piece->writes_skipped;
        p->side.extras += piece->side.extras;
        p->side.kept += piece->side.kept;
    }
}

// Tell whether a laid band has much to do: entries, and ranks that wait at its top.
static bool is_worth_it(const split *s)
{
    const espl__walk *const walk = &s->whole->walk;
    uint64_t work = s->at[s->band.generations] - s->at[0];

    for (uint32_t i = 0; i < walk->count; ++i) {
        const espl__span *const span = espl__walk_span(walk, i);

        work += span->end - span->begin;
    }
    return work >= s->whole->forest->grain / SCARCE;
}

// The least rank that waits or has an entry from `at` on.
static uint32_t next_rank(const pass *p, uint32_t at)
{
    const uint32_t waits = p->walk.count != 0 ? espl__walk_span(&p->walk, 0)->begin : UINT32_MAX;
    const uint32_t written = at < p->w->count ? p->w->ranks[at] : UINT32_MAX;

    return waits < written ? waits : written;
}

// On one thread up to a rank. @return the first entry there.
static uint32_t write_narrow(pass *p, uint32_t at, uint32_t rank)
{
    const uint32_t end = find_entry(p->w, at, p->w->count, rank);

    write_entries(p, at, end);
    espl__walk_advance(&p->walk, rank);
    return end;
}

// A band from the next rank on; all below it is done, so that none of its first generation hangs
// below another. @return the first entry behind it.
static uint32_t write_band(pass *p, uint32_t at)
{
    const uint32_t rank = next_rank(p, at);
    const uint32_t end = espl__first_child(p->forest, p->walk.run, rank);
    split s;

    s.whole = p;
    if (!espl__band_lay(&s.band, p->forest, p->walk.run, rank, end)) {
        return write_narrow(p, at, s.band.resume);
    }
    s.at[0] = at;
    for (uint32_t g = 0; g < s.band.generations; ++g) {
        s.at[g + 1] = find_entry(p->w, s.at[g], p->w->count, s.band.end[g]);
    }
    if (!is_worth_it(&s) || !find_spans(&s, p)) {
        return write_narrow(p, at, end);
    }
    espl__band_cut(&s.band);
    espl__band_run(&s.band, &p->w->team, write_share, &s);
    join_shares(p, &s);
    return s.at[s.band.generations];
}

// --- Passes over all ---

// Tell whether a run is written in bands. How many nodes of a general one are visited depends on
// it, so it is so without workers too.
static bool goes_wide(const pass *p)
{
    return espl__run_is_wide(p->forest, p->walk.run) &&
           (is_general(p) || !espl__executor_is_serial(p->w->team.executor));
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

// All entries that are not refused yet. false: some world is not finite.
static bool carry_out(espl__forest *forest, espl__run_writes *w, bool sweeps)
{
    pass p = {.forest = forest, .w = w, .sweeps = sweeps};
    uint32_t at = 0;

    begin_walk(&p.walk, forest, w);
    while (goes_wide(&p) && next_rank(&p, at) != UINT32_MAX) {
        at = write_band(&p, at);
    }
    write_entries(&p, at, w->count);
    end_walk(&p.walk, w);
    espl__side_count(forest->runs[w->run].side, p.side);
    w->writes = p.writes;
    w->writes_skipped = p.writes_skipped;
    return p.walk.is_finite;
}

// Entries that were tried are open again.
static void reopen(espl__run_writes *w)
{
    for (uint32_t at = 0; at < w->count; ++at) {
        w->source->results[espl__write_number(w, at)] = ESPL_OK;
    }
}

// --- Overflow further down ---

// Put every node back and recompute what hangs below.
static void undo(espl__forest *forest, espl__run_writes *w)
{
    espl__walk walk;

    begin_walk(&walk, forest, w);
    walk.visits_all = true;
    for (uint32_t at = 0; at < w->count; at = end_of_node(w, at)) {
        const uint32_t rank = w->ranks[at];

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

        // That of a root is its local, which is finite.
        ESPL_CHECK(up != ESPL__NO_SLOT || espl__pose_is_finite(&forest->world[slot]));
        if (espl__pose_is_finite(&forest->world[slot]) ||
            !espl__pose_is_finite(&forest->world[up])) {
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
        const uint32_t number = espl__write_number(w, at);
        espl_status *const result = &w->source->results[number];
        const bool is_marked = espl__slot_is(forest, slot_at(forest, w, at), ESPL__SLOT_WRITTEN);
        const bool is_open = *result >= 0 || *result == ESPL_ERR_RANGE;

        if (is_open) {
            *result = is_marked ? ESPL_ERR_RANGE : ESPL_OK;
        }
    }
}

// One write of a local is what it is at once.
static void write_single(espl__forest *forest, espl__run_writes *w)
{
    const uint32_t number = espl__write_number(w, 0), slot = slot_at(forest, w, 0);
    espl__crew crew = {.team = w->team};
    espl_pose local = forest->local[slot];
    espl_write_kind kind;
    espl_write_value value;
    espl_status status = w->source->fetch(w->source->context, number, &kind, &value);

    status = status != ESPL_OK ? status : espl__local_write(&local, kind, &value);
    if (status >= 0) {
        const espl_status done = espl__local_put(forest, &crew, slot, &local);

        status = done < 0 ? done : status;
    }
    w->source->results[number] = status;
    w->told = status != ESPL_OK ? 1 : 0;
    w->visited += crew.tally.nodes_visited;
    w->skipped += crew.tally.nodes_skipped;
    w->writes = crew.tally.writes;
    w->writes_skipped = crew.tally.writes_skipped;
}

static bool is_single(const espl__run_writes *w)
{
    return w->count == 1 && w->source->values != NULL && w->old_sides == NULL &&
           espl__write_is_local(w->source->kind);
}

// Each pass leaves what it refused in the results.
static void write_run(espl__forest *forest, espl__run_writes *w)
{
    w->told = w->count;
    if (w->old_sides == NULL) {
        if (carry_out(forest, w, true)) {
            return;
        }
        undo(forest, w);
        reopen(w);
    }
    if (carry_out(forest, w, false)) {
        return;
    }
    mark_blame(forest, w->run);
    refuse_marked(forest, w);
    clear_blame(forest, w->run);
    undo(forest, w);
    if (carry_out(forest, w, false)) {
        return;
    }
    undo(forest, w);
    for (uint32_t at = 0; at < w->count; ++at) {
        espl_status *const result = &w->source->results[espl__write_number(w, at)];

        *result = *result >= 0 ? ESPL_ERR_RANGE : *result;
    }
}

void espl__run_write(espl__forest *forest, espl__run_writes *writes)
{
    espl__span few[SPANS_ON_STACK];

    // What needs no spans comes first.
    if (is_single(writes)) {
        write_single(forest, writes);
        return;
    }
    if (espl__run_sweep(forest, writes)) {
        return;
    }
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
    writes->told = with_room.told;
}
