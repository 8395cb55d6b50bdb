// SPDX-License-Identifier: MIT
// A forest that is patched beside a naive rebuild: every hierarchy to be is written down from the
// plan's links before the patch, slot by slot, and what nobody touches is copied.
#ifndef ESPALIER_TESTS_COMMANDS_REBUILT_H
#define ESPALIER_TESTS_COMMANDS_REBUILT_H

#include "tests/commands/planned.h"

enum { HIERARCHY_LIMIT = 2048, FOREST_LIMIT = 1 << 15, RUN_LIMIT = 4096 };

// --- The forest before ---

// Plain copies, by slot, by base + rank and by run.
typedef struct before {
    uint32_t end, run_end, ghosts;
    uint64_t rebuilt, visited, purges;
    espl__run runs[RUN_LIMIT];
    uint32_t order[FOREST_LIMIT], parent[FOREST_LIMIT], first[FOREST_LIMIT];
    uint32_t rank[FOREST_LIMIT], run[FOREST_LIMIT], entity[FOREST_LIMIT];
    uint8_t flags[FOREST_LIMIT];
    espl_pose local[FOREST_LIMIT], world[FOREST_LIMIT];
} before;

static inline void remember(before *b, const espl__forest *forest)
{
    const size_t end = forest->end;

    ck_assert(end <= FOREST_LIMIT && forest->run_end <= RUN_LIMIT);
    b->end = forest->end;
    b->run_end = forest->run_end;
    b->ghosts = forest->ghosts;
    b->rebuilt = forest->nodes_rebuilt;
    b->visited = forest->crew.tally.nodes_visited;
    b->purges = forest->purges;
    memcpy(b->runs, forest->runs, forest->run_end * sizeof *b->runs);
    memcpy(b->order, forest->order, end * sizeof *b->order);
    memcpy(b->parent, forest->parent, end * sizeof *b->parent);
    memcpy(b->first, forest->first, end * sizeof *b->first);
    memcpy(b->rank, forest->rank, end * sizeof *b->rank);
    memcpy(b->run, forest->run, end * sizeof *b->run);
    memcpy(b->entity, forest->entity, end * sizeof *b->entity);
    memcpy(b->flags, forest->flags, end * sizeof *b->flags);
    memcpy(b->local, forest->local, end * sizeof *b->local);
    memcpy(b->world, forest->world, end * sizeof *b->world);
}

// --- What is to be ---

// One node of a hierarchy to be.
typedef struct expected {
    uint32_t node, slot; // old slot; ESPL__NO_SLOT: made, or from another run
    uint32_t entity, parent, first;
    bool is_pass, is_free;
    espl__placement placement;
} expected;

typedef struct hierarchy {
    espl__plot plot;           // as it was before the patch; .run is not known then
    const espl__plot *plotted; // NULL: only values change, where they stand
    uint32_t run;              // old one, or ESPL__NO_RUN
    uint32_t size, entrants;
    bool needs_side, needs_kept;
    expected nodes[HIERARCHY_LIMIT];
} hierarchy;

static inline void expect_node(hierarchy *h, const espl__sketch *sketch, uint32_t rank)
{
    const espl__forest *const forest = sketch->forest;
    expected *const e = &h->nodes[rank];
    const bool is_made = espl__sketch_is_made(e->node);
    const bool stays = !is_made && h->run != ESPL__NO_RUN && forest->run[e->node] == h->run;
    const espl__extra extra = espl__sketch_extra(sketch, e->node);

    e->slot = stays ? e->node : ESPL__NO_SLOT;
    e->entity = plan_entity(sketch, e->node);
    e->is_pass = plan_is_pass(sketch, e->node);
    e->is_free = plan_is_free(sketch, e->node);
    e->placement = espl__sketch_placement(sketch, e->node);
    e->placement.extra = extra;
    h->entrants += stays ? 0 : 1;
    h->needs_kept = h->needs_kept || (!e->is_pass && e->placement.kept.flags != 0);
    h->needs_side = h->needs_side || h->needs_kept || !espl__extra_is_default(&extra);
}

// Breadth-first by the links alone, with SPEC's formulas.
static inline void expect_hierarchy(hierarchy *h, const espl__sketch *sketch, uint32_t root)
{
    uint32_t first = 1;

    h->size = 1;
    h->entrants = 0;
    h->needs_side = h->needs_kept = false;
    h->nodes[0].node = root;
    h->nodes[0].parent = ESPL__NO_SLOT;
    for (uint32_t rank = 0; rank < h->size; ++rank) {
        h->nodes[rank].first = first;
        expect_node(h, sketch, rank);
        for (uint32_t child = plan_first(sketch, h->nodes[rank].node); child != ESPL__NO_NODE;
             child = plan_next(sketch, child)) {
            ck_assert_uint_lt(h->size, HIERARCHY_LIMIT);
            h->nodes[h->size++] = (expected){.node = child, .parent = rank};
            first += 1;
        }
    }
}

typedef struct expectation {
    hierarchy *hierarchies;
    uint32_t count;
    uint32_t released[RUN_LIMIT], released_count;
    bool is_touched[RUN_LIMIT]; // by run
    uint64_t visited;
    size_t on_stack, in_scratch, moved, in_place, holes_taken, sides;
    size_t wide, wide_moved, wide_left, wide_holes, wide_sides; // of plots that are cut
    before was;
} expectation;

static inline void expect_group(expectation *x, const yard *y, uint32_t number)
{
    const espl__playback *const playback = y->playback;
    const espl__group *const group = &playback->groups[number];
    uint32_t plot = group->work->plot_begin;

    x->visited += group->visited;
    for (uint32_t i = 0; i < group->work->sketch.laid.count; ++i) {
        const espl__laid *const laid = espl__sketch_laid(&group->work->sketch, i);
        hierarchy *const h = &x->hierarchies[x->count++];

        h->plotted = NULL;
        h->run = laid->load == ESPL__NO_NODE ? ESPL__NO_RUN : playback->loads[laid->load].run;
        if (plot < group->work->plot_end && playback->plots[plot].laid == i) {
            h->plotted = &playback->plots[plot];
            h->plot = playback->plots[plot++];
        }
        if (h->run != ESPL__NO_RUN) {
            x->is_touched[h->run] = true;
        }
        expect_hierarchy(h, &group->work->sketch, laid->root);
    }
    ck_assert_uint_eq(plot, group->work->plot_end);
    if (group->work->plot_end > group->work->plot_begin) {
        const bool on_stack = espl__group_drafts_on_stack(playback, group);

        x->on_stack += on_stack;
        x->in_scratch += !on_stack;
    }
}

// Before the patch, behind the change stage: entities have their numbers.
static inline void expect_all(expectation *x, const yard *y)
{
    const espl__playback *const playback = y->playback;
    size_t count = 0;

    memset(x->is_touched, 0, sizeof x->is_touched);
    x->count = x->released_count = 0;
    x->visited = 0;
    for (uint32_t i = 0; i < playback->group_count; ++i) {
        count += playback->groups[i].work->sketch.laid.count;
    }
    x->hierarchies = malloc((count + 1) * sizeof *x->hierarchies);
    ck_assert_ptr_nonnull(x->hierarchies);
    remember(&x->was, &y->world->forest);
    for (uint32_t i = 0; i < playback->group_count; ++i) {
        expect_group(x, y, i);
    }
    for (uint32_t i = 0; i < playback->touched_count; ++i) {
        if (!playback->loads[i].goes_on) {
            x->released[x->released_count++] = playback->loads[i].run;
            x->is_touched[playback->loads[i].run] = true;
        }
    }
}

// --- Comparing ---

// Residents stay, the others take holes in order, then slots that were never used; in a new range
// all stand in order.
static inline uint32_t slot_to_be(expectation *x, const hierarchy *h, uint32_t base, uint32_t rank,
                                  uint32_t *hole)
{
    if (h->plot.is_moved) {
        return base + rank;
    }
    if (h->nodes[rank].slot != ESPL__NO_SLOT) {
        return h->nodes[rank].slot;
    }
    const espl__run *const old = &x->was.runs[h->run];
    const uint32_t at = (*hole)++;

    x->holes_taken += at < old->used;
    return at < old->used ? x->was.order[old->base + at] : old->base + at;
}

static inline unsigned flags_to_be(const hierarchy *h, uint32_t rank)
{
    const expected *const e = &h->nodes[rank];
    const bool keeps = !e->is_pass && e->placement.kept.flags != 0;

    return (e->is_free ? (unsigned)ESPL__SLOT_FREE_LINK : 0u) |
           (e->is_pass ? (unsigned)ESPL__SLOT_PASS : 0u) |
           (h->needs_side ? (unsigned)ESPL__SLOT_SIDE : 0u) |
           (keeps ? (unsigned)ESPL__SLOT_KEEPS : 0u);
}

static inline bool node_agrees(const yard *y, const hierarchy *h, const espl__run *header,
                               uint32_t rank, uint32_t slot)
{
    const espl__forest *const forest = &y->world->forest;
    const expected *const e = &h->nodes[rank];
    const uint32_t at = header->base + rank;
    const espl__placement placement = espl__slot_placement(forest, slot);

    return forest->order[at] == slot && forest->rank[slot] == rank &&
           &forest->runs[forest->run[slot]] == header && forest->parent[at] == e->parent &&
           forest->first[at] == e->first && forest->entity[slot] == e->entity &&
           y->world->store.records[e->entity].slot == slot &&
           forest->flags[slot] == flags_to_be(h, rank) &&
           memcmp(&placement.extra, &e->placement.extra, sizeof placement.extra) == 0 &&
           (e->is_pass || (memcmp(&placement.local, &e->placement.local, sizeof(espl_pose)) == 0 &&
                           memcmp(&placement.kept, &e->placement.kept, sizeof(espl__kept)) == 0));
}

static inline void side_agrees(const hierarchy *h, const espl__run *header)
{
    uint32_t extras = 0, kept = 0;

    ck_assert_int_eq(header->side != NULL, h->needs_side);
    if (header->side == NULL) {
        return;
    }
    for (uint32_t rank = 0; rank < h->size; ++rank) {
        const expected *const e = &h->nodes[rank];
        const bool copies = e->is_pass || espl__placement_copies(&e->placement);

        kept += !e->is_pass && e->placement.kept.flags != 0;
        extras += !copies && !espl__extra_is_default(&e->placement.extra);
    }
    ck_assert_uint_eq(header->side->capacity, header->capacity);
    ck_assert_uint_eq(header->side->extra_count, extras);
    ck_assert_uint_eq(header->side->kept_count, kept);
    ck_assert_int_eq(header->side->kept != NULL, h->needs_kept);
}

// What was left comes first, then holes that were and nobody took, where they were; all of them
// empty.
static inline void holes_agree(const expectation *x, const yard *y, const hierarchy *h,
                               const espl__run *header)
{
    const espl__forest *const forest = &y->world->forest;
    const espl__run *const old = h->plot.is_moved ? NULL : &x->was.runs[h->run];
    static uint8_t is_met[FOREST_LIMIT];

    memset(is_met, 0, header->used);
    for (uint32_t i = 0; i < header->used; ++i) {
        const uint32_t slot = forest->order[header->base + i];

        ck_assert(slot - header->base < header->used && !is_met[slot - header->base]);
        is_met[slot - header->base] = 1;
        ck_assert(i < header->size ||
                  (forest->entity[slot] == ESPL__NO_ENTITY && forest->rank[slot] == i));
    }
    for (uint32_t at = old == NULL ? 0 : old->size + h->entrants; old != NULL && at < old->used;
         ++at) {
        ck_assert_uint_eq(forest->order[header->base + at], x->was.order[old->base + at]);
    }
}

static inline void header_agrees(const expectation *x, const yard *y, const hierarchy *h,
                                 const espl__run *header)
{
    const espl__forest *const forest = &y->world->forest;
    const espl__run *const old = h->run == ESPL__NO_RUN ? NULL : &x->was.runs[h->run];
    const uint32_t reached = old == NULL ? 0 : old->size + h->entrants;
    bool is_straight = true, has_pass = false;

    for (uint32_t rank = 0; rank < h->size; ++rank) {
        is_straight = is_straight && forest->order[header->base + rank] == header->base + rank;
        has_pass = has_pass || h->nodes[rank].is_pass;
    }
    is_straight = h->plot.is_moved || (is_straight && (old->flags & ESPL__RUN_IN_ORDER) != 0);
    ck_assert_uint_eq(header->size, h->size);
    ck_assert_uint_eq(header->capacity, h->plot.capacity);
    ck_assert_uint_eq(header->used, h->plot.is_moved      ? h->size
                                    : reached > old->used ? reached
                                                          : old->used);
    ck_assert(h->plot.is_moved || header->base == old->base);
    ck_assert_uint_eq(header->ghosts, 0);
    ck_assert_uint_eq(header->flags,
                      (is_straight ? (unsigned)ESPL__RUN_IN_ORDER : 0u) |
                          (has_pass || h->needs_side ? (unsigned)ESPL__RUN_GENERAL : 0u));
    ck_assert(header->next == ESPL__NO_RUN && header->previous == ESPL__NO_RUN);
    for (uint32_t i = 0; i < header->capacity; ++i) {
        ck_assert(&forest->runs[forest->run[header->base + i]] == header);
    }
}

static inline void plotted_agrees(expectation *x, const yard *y, const hierarchy *h)
{
    const espl__forest *const forest = &y->world->forest;
    const uint32_t run = h->plotted->run;
    const espl__run *const header = &forest->runs[run];
    uint32_t hole = h->run == ESPL__NO_RUN ? 0 : x->was.runs[h->run].size;
    const size_t holes_before = x->holes_taken;

    ck_assert(h->run == ESPL__NO_RUN ? run >= x->was.run_end || x->was.runs[run].size == 0
                                     : run == h->run);
    header_agrees(x, y, h, header);
    for (uint32_t rank = 0; rank < h->size; ++rank) {
        const uint32_t slot = slot_to_be(x, h, header->base, rank, &hole);

        if (!node_agrees(y, h, header, rank, slot)) {
            ck_abort_msg("rank %u of run %u", rank, run);
        }
    }
    side_agrees(h, header);
    holes_agree(x, y, h, header);
    x->moved += h->plot.is_moved && h->run != ESPL__NO_RUN;
    x->in_place += !h->plot.is_moved;
    x->sides += h->needs_side;
    if (h->plot.is_wide) {
        x->wide += 1;
        x->wide_moved += h->plot.is_moved;
        x->wide_left += h->plotted->left_count > 1;
        x->wide_holes += x->holes_taken > holes_before + 1;
        x->wide_sides += h->needs_side;
    }
}

// Values change where they stand; nothing else of the run does.
static inline void unplotted_agrees(const expectation *x, const yard *y, const hierarchy *h)
{
    const espl__forest *const forest = &y->world->forest;
    const espl__run *const header = &forest->runs[h->run], *const old = &x->was.runs[h->run];

    ck_assert_int_eq(memcmp(header, old, sizeof *old), 0);
    ck_assert_uint_eq(h->size, old->size);
    for (uint32_t rank = 0; rank < h->size; ++rank) {
        const uint32_t slot = x->was.order[old->base + rank];

        if (!node_agrees(y, h, header, rank, slot) || forest->flags[slot] != x->was.flags[slot]) {
            ck_abort_msg("rank %u of run %u, where it stands", rank, h->run);
        }
    }
}

static inline bool run_is_as_it_was(const expectation *x, const espl__forest *forest, uint32_t run)
{
    const espl__run *const old = &x->was.runs[run];
    const size_t size = old->used * sizeof(uint32_t), pose = old->capacity * sizeof(espl_pose);
    const uint32_t base = old->base;

    return memcmp(&forest->runs[run], old, sizeof *old) == 0 &&
           memcmp(forest->order + base, x->was.order + base, size) == 0 &&
           memcmp(forest->parent + base, x->was.parent + base, size) == 0 &&
           memcmp(forest->first + base, x->was.first + base, size) == 0 &&
           memcmp(forest->rank + base, x->was.rank + base, size) == 0 &&
           memcmp(forest->run + base, x->was.run + base, size) == 0 &&
           memcmp(forest->entity + base, x->was.entity + base, size) == 0 &&
           memcmp(forest->flags + base, x->was.flags + base, old->used) == 0 &&
           memcmp(forest->local + base, x->was.local + base, pose) == 0 &&
           memcmp(forest->world + base, x->was.world + base, pose) == 0;
}

// What nobody touched is as it was, bit for bit; what goes on nowhere is gone.
static inline void others_agree(const expectation *x, const espl__forest *forest)
{
    for (uint32_t run = 0; run < x->was.run_end; ++run) {
        if (x->was.runs[run].size != 0 && !x->is_touched[run] &&
            !run_is_as_it_was(x, forest, run)) {
            ck_abort_msg("run %u changed", run);
        }
    }
    for (uint32_t i = 0; i < x->released_count; ++i) {
        ck_assert_uint_eq(forest->runs[x->released[i]].size, 0);
    }
}

// Slots belong to runs or to free ranges, and everybody who lives has one.
static inline void sums_agree(const expectation *x, const yard *y)
{
    const espl__forest *const forest = &y->world->forest;
    uint64_t rebuilt = 0, purges = 0, moved = 0;
    uint32_t ghosts = 0, slots = 0;
    size_t nodes = 0;

    for (uint32_t i = 0; i < x->count; ++i) {
        const hierarchy *const h = &x->hierarchies[i];

        rebuilt += h->plotted != NULL ? h->size : 0;
        moved += h->plotted == NULL ? 0 : h->plot.is_moved ? h->size : h->entrants;
        purges += h->plotted != NULL && h->run != ESPL__NO_RUN && x->was.runs[h->run].ghosts != 0;
    }
    for (uint32_t i = 0; i < x->released_count; ++i) {
        purges += x->was.runs[x->released[i]].ghosts != 0;
    }
    for (uint32_t run = 0; run < forest->run_end; ++run) {
        const espl__run *const header = &forest->runs[run];

        ghosts += header->size != 0 ? header->ghosts : 0;
        slots += header->size != 0 ? header->capacity : 0;
        nodes += header->size != 0 ? header->size - header->ghosts : 0;
    }
    ck_assert_uint_eq(forest->nodes_rebuilt - x->was.rebuilt, rebuilt);
    ck_assert_uint_eq(forest->crew.tally.nodes_visited - x->was.visited, x->visited);
    ck_assert_uint_eq(forest->purges - x->was.purges, purges);
    ck_assert_uint_eq(y->playback->moved_nodes, moved);
    ck_assert_uint_eq(forest->ghosts, ghosts);
    ck_assert_uint_eq(slots + forest->free_slots, forest->end);
    ck_assert_uint_eq(nodes, y->world->store.alive_count);
}

static inline void forest_agrees(expectation *x, const yard *y)
{
    for (uint32_t i = 0; i < x->count; ++i) {
        if (x->hierarchies[i].plotted != NULL) {
            plotted_agrees(x, y, &x->hierarchies[i]);
        } else {
            unplotted_agrees(x, y, &x->hierarchies[i]);
        }
    }
    others_agree(x, &y->world->forest);
    sums_agree(x, y);
    yard_is_sound(y); // every world follows from the locals
}

static inline expectation *expectation_make(void)
{
    expectation *const x = calloc(1, sizeof *x);

    ck_assert_ptr_nonnull(x);
    return x;
}

// All stages up to the patch, and the patch; compared with what is to be.
static inline void play_by_hand(yard *y, expectation *x)
{
    yard_open(y);
    ck_assert_int_eq(yard_prepare(y), ESPL_OK);
    y->playback->heap->is_forbidden = true;
    espl__stage_change(y->playback);
    y->playback->heap->is_forbidden = false;
    expect_all(x, y);
    y->playback->heap->is_forbidden = true;
    espl__stage_patch(y->playback);
    y->playback->heap->is_forbidden = false;
    forest_agrees(x, y);
    free(x->hierarchies);
    yard_close(y, true);
    espl_commands_reset(y->bed.commands);
    y->bed.pending_count = 0;
    test_world_is_valid(y->world);
}

#endif
