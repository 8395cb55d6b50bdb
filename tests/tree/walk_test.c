// SPDX-License-Identifier: MIT
// Walks over spans against a recomputation of everything: the same bits whatever the room for spans
// is, and no more visits than there must be where it suffices.
#include "lib/tree/propagate.h"

#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SIZE = 80, ALL_KEPT = 0x7f };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    random_state = 17;
}

static void tear_down(void)
{
    grove_end(&g);
}

static uint32_t slot_at(uint32_t run, uint32_t rank)
{
    return grove_slot(&g, run, rank);
}

// --- A hierarchy before and after some changes ---

typedef struct trial {
    uint32_t run, size, parent[SIZE];
    espl__placement before[SIZE], after[SIZE];
    espl__frame old[SIZE], new[SIZE]; // what each rank shows, before and after
    bool is_changed[SIZE];            // its placement is
    bool is_general;
} trial;

// Put the placements of before or after in place.
static void place_all(const trial *t, const espl__placement *placements)
{
    for (uint32_t rank = 0; rank < t->size; ++rank) {
        espl__slot_place(forest, slot_at(t->run, rank), &placements[rank]);
    }
}

static void restore(const trial *t)
{
    place_all(t, t->before);
    for (uint32_t rank = 0; rank < t->size; ++rank) {
        forest->world[slot_at(t->run, rank)] = t->old[rank].world;
    }
}

// Sometimes what is there already: a change that changes nothing.
static espl__placement changed_placement(const trial *t, uint32_t rank)
{
    const espl_pose world = grove_random_pose(&random_state);
    espl__placement placement = t->before[rank];

    if (espl__slot_copies(forest, slot_at(t->run, rank))) {
        return placement;
    }
    if (!test_one_in(&random_state, 4)) {
        placement.local = grove_random_pose(&random_state);
    }
    if (test_one_in(&random_state, 2)) {
        placement.kept = espl__kept_of(&world, placement.kept.flags);
    }
    if (forest->runs[t->run].side != NULL && test_one_in(&random_state, 3)) {
        placement.extra.stretch[1] += 0.5f;
    }
    return placement;
}

// Choose changes, one rank in `n`.
static void plan_changes(trial *t, uint32_t n)
{
    for (uint32_t rank = 0; rank < t->size; ++rank) {
        t->parent[rank] = forest->parent[forest->runs[t->run].base + rank];
        t->before[rank] = t->after[rank] = espl__slot_placement(forest, slot_at(t->run, rank));
        t->old[rank] = espl__slot_frame(forest, slot_at(t->run, rank));
        t->is_changed[rank] = test_one_in(&random_state, n);
        if (t->is_changed[rank]) {
            t->after[rank] = changed_placement(t, rank);
        }
    }
    place_all(t, t->after);
    grove_recompute(&g, t->run, t->new);
    restore(t);
}

static uint32_t plant_any(uint32_t round)
{
    uint32_t parent[SIZE];
    uint8_t flags[SIZE], inherit[SIZE];
    const bool is_general = round % 3 != 0;

    grove_random_parents(parent, SIZE, 1 + test_below(&random_state, 4), &random_state);
    grove_random_inherit(inherit, SIZE, 2, &random_state);
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        inherit[rank] = test_one_in(&random_state, 5) ? ALL_KEPT : inherit[rank];
        const uint32_t kind = is_general ? test_below(&random_state, 16) : 16;

        flags[rank] = (uint8_t)(kind < 2                ? ESPL__SLOT_PASS
                                : kind < 3 && rank != 0 ? ESPL__SLOT_ROOTED
                                                        : 0);
    }
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = 1 + test_below(&random_state, SIZE),
                                         .flags = flags,
                                         .inherit = is_general ? inherit : NULL,
                                         .holes = round % 2,
                                         .seed = test_random(&random_state),
                                         .is_shuffled = test_one_in(&random_state, 2),
                                         .has_extras = is_general && round % 2 == 0});
}

static trial begin_trial(uint32_t round, uint32_t n)
{
    trial t = {.run = plant_any(round)};

    t.size = forest->runs[t.run].size;
    t.is_general = (forest->runs[t.run].flags & ESPL__RUN_GENERAL) != 0;
    plan_changes(&t, n);
    return t;
}

// --- What a walk must visit, from the rules alone ---

typedef struct visits {
    uint64_t visited, skipped;
} visits;

// Tell whether a visit to a rank finds what hangs below unmoved. What a write makes of a stretch
// the writer alone knows, but a copy finds out.
static bool stands_still(const trial *t, uint32_t rank)
{
    return espl__slot_copies(forest, slot_at(t->run, rank))
               ? memcmp(&t->old[rank], &t->new[rank], sizeof(espl__frame)) == 0
               : grove_same(&t->old[rank].world, &t->new[rank].world);
}

// A changed rank is visited, and so is what hangs below one that shows something else now. Plain
// kernels go on below all that they visit themselves.
static visits must_visit(const trial *t)
{
    bool goes_on[SIZE];
    visits v = {0, 0};

    for (uint32_t rank = 0; rank < t->size; ++rank) {
        const bool differs = memcmp(&t->old[rank], &t->new[rank], sizeof(espl__frame)) != 0;
        const bool waits = rank != 0 && goes_on[t->parent[rank]];
        const bool is_taken = t->is_changed[rank];

        v.visited += waits || is_taken;
        v.skipped += is_taken ? stands_still(t, rank) : waits && t->is_general && !differs;
        goes_on[rank] = t->is_general || is_taken ? differs : waits;
    }
    return v;
}

// --- Walking as batches do ---

static espl__walk walk_through(const trial *t, espl__span *spans, uint32_t capacity)
{
    espl__walk walk;

    espl__walk_begin(&walk, forest, t->run, spans, capacity);
    for (uint32_t rank = 0; rank < t->size; ++rank) {
        if (!t->is_changed[rank]) {
            continue;
        }
        const uint32_t slot = slot_at(t->run, rank);
        const espl__extra extra = espl__slot_extra(forest, slot);

        espl__walk_advance(&walk, rank);
        const bool waits = espl__walk_take(&walk, rank);
        const espl__placement shown = espl__slot_placement(forest, slot);
        espl__placement placement = t->after[rank];

        if (espl__slot_copies(forest, slot)) {
            placement.extra = shown.extra; // as the walk brought it
        }
        espl__slot_place(forest, slot, &placement);
        const bool differs = espl__propagate_one(&walk, rank);
        const bool is_stretched = !grove_same_extra(&extra, &placement.extra);

        if (differs || is_stretched) {
            espl__walk_push_children(&walk, rank);
        }
        ck_assert(!waits || rank != 0);
    }
    espl__walk_advance(&walk, UINT32_MAX);
    ck_assert_uint_eq(walk.count, 0);
    return walk;
}

static void worlds_are_new(const trial *t, uint32_t capacity)
{
    for (uint32_t rank = 0; rank < t->size; ++rank) {
        const espl__frame frame = espl__slot_frame(forest, slot_at(t->run, rank));

        if (memcmp(&frame, &t->new[rank], sizeof frame) != 0) {
            ck_abort_msg("rank %u of %u, room for %u", rank, t->size, capacity);
        }
    }
}

START_TEST(every_room_for_spans_gives_the_same_bits)
{
    const size_t rounds = test_scaled(400);
    size_t merged = 0;

    for (uint32_t round = 0; round < rounds; ++round) {
        const trial t = begin_trial(round, 1 + round % 9);
        const visits least = must_visit(&t);

        for (uint32_t capacity = 1; capacity <= 20; ++capacity) {
            espl__span spans[20];

            memset(spans, 0xa5, sizeof spans); // what is there does not count
            const espl__walk walk = walk_through(&t, spans, capacity);
            worlds_are_new(&t, capacity);
            ck_assert(walk.is_finite);
            ck_assert_uint_ge(walk.visited, least.visited);
            ck_assert_uint_le(walk.visited, t.size); // nobody twice
            ck_assert_uint_ge(walk.skipped, least.skipped);
            merged += walk.visited > least.visited;
            grove_is_sound(&g);
            restore(&t);
        }
        espl__run_release(forest, t.run);
    }
    ck_assert_uint_gt(merged, rounds / 8);
}
END_TEST

START_TEST(walk_with_room_visits_what_it_must_and_no_more)
{
    const size_t rounds = test_scaled(2000);

    for (uint32_t round = 0; round < rounds; ++round) {
        const trial t = begin_trial(round, 1 + round % 9);
        const visits least = must_visit(&t);
        espl__span spans[SIZE];
        const espl__walk walk = walk_through(&t, spans, SIZE);

        worlds_are_new(&t, SIZE);
        ck_assert_uint_eq(walk.visited, least.visited);
        ck_assert_uint_eq(walk.skipped, least.skipped);
        espl__run_release(forest, t.run);
    }
}
END_TEST

START_TEST(plain_run_needs_no_more_spans_than_changes_and_one)
{
    const size_t rounds = test_scaled(1000);

    for (uint32_t round = 0; round < rounds; ++round) {
        const trial t = begin_trial(3 * round, 1 + round % 9);
        espl__span spans[SIZE + 1];
        uint32_t changes = 0;

        for (uint32_t rank = 0; rank < t.size; ++rank) {
            changes += t.is_changed[rank];
        }
        const espl__walk walk = walk_through(&t, spans, changes + 1);
        const visits least = must_visit(&t);
        ck_assert_uint_eq(walk.visited, least.visited);
        espl__run_release(forest, t.run);
    }
}
END_TEST

// --- By hand ---

// A chain, or a star of stars, in order and not, plain and general.
static uint32_t plant_shape(const uint32_t *parent, uint32_t size, uint32_t arrangement)
{
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = size,
                                         .is_shuffled = arrangement % 2 != 0,
                                         .is_general = arrangement / 2 != 0});
}

static void chain_parents(uint32_t *parent, uint32_t size)
{
    for (uint32_t rank = 0; rank < size; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : rank - 1;
    }
}

START_TEST(chain_of_n_changes_is_visited_n_times)
{
    enum { LENGTH = 500 };
    uint32_t parent[LENGTH];

    chain_parents(parent, LENGTH);
    for (uint32_t arrangement = 0; arrangement < 4; ++arrangement) {
        const uint32_t run = plant_shape(parent, LENGTH, arrangement);
        espl__frame frames[LENGTH];
        espl__span span;
        espl__walk walk;

        espl__walk_begin(&walk, forest, run, &span, 1);
        for (uint32_t rank = 0; rank < LENGTH; ++rank) {
            espl__walk_advance(&walk, rank);
            ck_assert_int_eq(espl__walk_take(&walk, rank), rank != 0);
            forest->local[slot_at(run, rank)].position[0] += 1;
            ck_assert(espl__propagate_one(&walk, rank));
            espl__walk_push_children(&walk, rank);
        }
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.visited, LENGTH);
        ck_assert_uint_eq(walk.skipped, 0);
        grove_recompute(&g, run, frames);
        for (uint32_t rank = 0; rank < LENGTH; ++rank) {
            ck_assert(grove_same(&forest->world[slot_at(run, rank)], &frames[rank].world));
        }
        espl__run_release(forest, run);
    }
}
END_TEST

// Move the root of a chain and walk below it.
static espl__walk move_top(uint32_t run, bool visits_all)
{
    espl__span spans[4];
    espl__walk walk;

    forest->local[slot_at(run, 0)].position[1] += 3;
    espl__walk_begin(&walk, forest, run, spans, 4);
    walk.visits_all = visits_all;
    ck_assert(espl__propagate_one(&walk, 0));
    espl__walk_push_children(&walk, 0);
    espl__walk_advance(&walk, UINT32_MAX);
    walk.spans = NULL; // they go
    return walk;
}

START_TEST(node_that_keeps_all_stops_the_walk)
{
    uint32_t parent[SIZE];

    chain_parents(parent, SIZE);
    for (uint32_t at = 1; at < SIZE; ++at) {
        uint8_t inherit[SIZE] = {0};

        inherit[at] = ALL_KEPT;
        const uint32_t run = grove_plant(
            &g, &(grove_plan){.parent = parent, .size = SIZE, .inherit = inherit, .seed = at});
        espl__walk walk = move_top(run, false);

        ck_assert_uint_eq(walk.visited, at + 1);
        ck_assert_uint_eq(walk.skipped, 1);
        grove_is_sound(&g);

        // Told so, it goes on.
        walk = move_top(run, true);
        ck_assert_uint_eq(walk.visited, SIZE);
        ck_assert_uint_eq(walk.skipped, SIZE - at);
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(world_that_a_change_does_not_reach_stops_the_walk)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2, 3};
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 5, .is_general = true});
    espl__span span;
    espl__walk walk;

    for (uint32_t rank = 0; rank < 5; ++rank) {
        forest->local[slot_at(run, rank)] = espl__pose_identity();
    }
    forest->local[slot_at(run, 2)].position[0] = 1e6f;
    ck_assert(grove_propagate(forest, run, 0));

    // Too little to show beside a million.
    forest->local[slot_at(run, 0)].position[0] = 1e-3f;
    espl__walk_begin(&walk, forest, run, &span, 1);
    ck_assert(espl__propagate_one(&walk, 0));
    espl__walk_push_children(&walk, 0);
    espl__walk_advance(&walk, UINT32_MAX);
    ck_assert_uint_eq(walk.visited, 3);
    ck_assert_uint_eq(walk.skipped, 1);
    grove_is_sound(&g);
}
END_TEST

START_TEST(copy_hands_a_stretch_on_that_its_world_does_not_show)
{
    // Root, a copy, a child of that; the root's stretch alone changes.
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t inherit[] = {0, ESPL_COPY_PARENT, 0};
    const uint8_t flags[] = {0, ESPL__SLOT_PASS, 0};

    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent,
                                                           .size = 3,
                                                           .flags = i == 0 ? flags : NULL,
                                                           .inherit = i == 0 ? NULL : inherit,
                                                           .has_extras = true});
        const uint32_t top = slot_at(run, 0), last = slot_at(run, 2);
        espl__placement placement = espl__slot_placement(forest, top);
        const espl_pose before = forest->world[last];
        espl__span span;
        espl__walk walk;

        placement.extra.stretch[0] = placement.extra.stretch[1] = placement.extra.stretch[2] = 5;
        espl__slot_place(forest, top, &placement);
        espl__walk_begin(&walk, forest, run, &span, 1);
        espl__walk_push_children(&walk, 0);
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.visited, 2);
        ck_assert_uint_eq(walk.skipped, 0);
        ck_assert(!grove_same(&before, &forest->world[last]));
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

// R with eight children, each with two of its own.
static uint32_t plant_stars(uint32_t arrangement)
{
    uint32_t parent[25];

    for (uint32_t rank = 0; rank < 25; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : rank < 9 ? 0 : 1 + (rank - 9) / 2;
    }
    return plant_shape(parent, 25, arrangement);
}

START_TEST(walk_goes_as_far_as_it_is_told)
{
    for (uint32_t arrangement = 0; arrangement < 4; ++arrangement) {
        const uint32_t run = plant_stars(arrangement);
        espl__span spans[8];
        espl__walk walk;

        forest->local[slot_at(run, 0)].position[0] += 1;
        espl__walk_begin(&walk, forest, run, spans, 8);
        ck_assert(espl__propagate_one(&walk, 0));
        espl__walk_push_children(&walk, 0);
        espl__walk_advance(&walk, 0);
        espl__walk_advance(&walk, 1);
        ck_assert_uint_eq(walk.visited, 1);
        for (uint32_t end = 2; end <= 25; ++end) {
            espl__walk_advance(&walk, end);
            ck_assert_uint_eq(walk.visited, end);
            espl__walk_advance(&walk, end);
            ck_assert_uint_eq(walk.visited, end);
        }
        ck_assert_uint_eq(walk.count, 0);
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.visited, 25);
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(what_is_taken_out_is_visited_by_nobody)
{
    for (uint32_t arrangement = 0; arrangement < 4; ++arrangement) {
        const uint32_t run = plant_stars(arrangement);
        const espl_pose old = forest->world[slot_at(run, 4)];
        espl__span spans[8];
        espl__walk walk;

        espl__walk_begin(&walk, forest, run, spans, 8);
        ck_assert(!espl__walk_take(&walk, 0)); // nothing waits
        forest->local[slot_at(run, 0)].position[0] += 1;
        ck_assert(espl__propagate_one(&walk, 0));
        espl__walk_push_children(&walk, 0);
        espl__walk_push_children(&walk, 0); // they wait already
        espl__walk_advance(&walk, 4);
        ck_assert_uint_eq(walk.visited, 4);

        // Rank 4 goes its own way, and its children, 15 and 16, do not wait.
        ck_assert(espl__walk_take(&walk, 4));
        ck_assert(!espl__walk_take(&walk, 4));
        espl__walk_advance(&walk, 5);
        ck_assert_uint_eq(walk.visited, 4);
        ck_assert(grove_same(&old, &forest->world[slot_at(run, 4)]));
        espl__walk_advance(&walk, 15);
        ck_assert_uint_eq(walk.visited, 14);
        ck_assert(!espl__walk_take(&walk, 15));
        ck_assert(!espl__walk_take(&walk, 16));
        ck_assert(espl__walk_take(&walk, 17));
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.visited, 14 + 7);
        espl__run_release(forest, run);
    }
}
END_TEST

// Move ranks [begin, end) of the stars and visit them in one go, after the root if it moved.
static espl__walk visit_range(uint32_t run, espl__span *spans, uint32_t begin, uint32_t end,
                              bool moves_root)
{
    espl__walk walk;

    espl__walk_begin(&walk, forest, run, spans, 8);
    if (moves_root && begin != 0) {
        forest->local[slot_at(run, 0)].position[0] += 1;
        ck_assert(espl__propagate_one(&walk, 0));
        espl__walk_push_children(&walk, 0);
    }
    for (uint32_t rank = begin; rank < end; ++rank) {
        forest->local[slot_at(run, rank)].position[1] += 1;
    }
    espl__walk_advance(&walk, begin);
    espl__walk_visit(&walk, begin, end);
    return walk;
}

START_TEST(range_is_visited_whole_and_what_hangs_below_waits)
{
    for (uint32_t i = 0; i < 4 * 25 * 25; ++i) {
        const uint32_t begin = i / 4 % 25, end = i / 100 + 1;
        const bool moves_root = i % 2 == 0;

        if (begin >= end) {
            continue;
        }
        const uint32_t run = plant_stars(i / 2 % 4);
        espl__span spans[8];
        espl__walk walk = visit_range(run, spans, begin, end, moves_root);
        const uint64_t above = moves_root && begin != 0 ? begin : 0;

        ck_assert_uint_eq(walk.visited, above + end - begin);
        ck_assert(!espl__walk_take(&walk, end - 1));
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.count, 0);
        grove_is_sound(&g);

        // Below the root all wait; below a middle one its two children do.
        const uint32_t from = begin < 1 ? 1 : begin, to = end < 9 ? end : 9;
        const uint32_t low = 9 + 2 * (from - 1), high = 9 + 2 * (to - 1);
        uint32_t expected = moves_root || begin == 0 ? 25 : end - begin;

        for (uint32_t rank = low; rank < high && expected != 25; ++rank) {
            expected += from < to && rank >= end;
        }
        ck_assert_uint_eq(walk.visited, expected);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(range_from_a_root_that_stands_still_lets_its_children_be)
{
    for (uint32_t visits_all = 0; visits_all < 2; ++visits_all) {
        const uint32_t run = plant_stars(visits_all);
        espl__span spans[8];
        espl__walk walk;

        espl__walk_begin(&walk, forest, run, spans, 8);
        walk.visits_all = visits_all != 0;
        espl__walk_visit(&walk, 0, 1);
        ck_assert_uint_eq(walk.skipped, 1);
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.visited, visits_all != 0 ? 25 : 1);
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(full_ring_lets_the_last_span_grow_over_the_gap)
{
    // The children of 1 and of 8 wait, 9 to 10 and 23 to 24; with one span all between them.
    for (uint32_t capacity = 1; capacity <= 2; ++capacity) {
        const uint32_t run = plant_stars(2);
        espl__span spans[2];
        espl__walk walk;

        espl__walk_begin(&walk, forest, run, spans, capacity);
        espl__walk_push_children(&walk, 1);
        espl__walk_push_children(&walk, 8);
        ck_assert_uint_eq(walk.count, capacity);
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert_uint_eq(walk.visited, capacity == 1 ? 16 : 4);
        ck_assert_uint_eq(walk.skipped, walk.visited); // nothing had changed
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(spans_that_touch_are_one)
{
    const uint32_t run = plant_stars(0);
    espl__span spans[8];
    espl__walk walk;

    espl__walk_begin(&walk, forest, run, spans, 8);
    for (uint32_t rank = 1; rank < 9; ++rank) {
        if (rank != 4) {
            espl__walk_push_children(&walk, rank);
        }
        ck_assert_uint_eq(walk.count, rank <= 4 ? 1 : 2);
    }
    espl__walk_advance(&walk, UINT32_MAX);
    ck_assert_uint_eq(walk.visited, 14);
}
END_TEST

START_TEST(leaf_has_no_children_to_wait)
{
    const uint32_t run = plant_stars(0);
    espl__span span;
    espl__walk walk;

    espl__walk_begin(&walk, forest, run, &span, 1);
    for (uint32_t rank = 9; rank < 25; ++rank) {
        espl__walk_push_children(&walk, rank);
    }
    ck_assert_uint_eq(walk.count, 0);
    espl__walk_advance(&walk, UINT32_MAX);
    ck_assert_uint_eq(walk.visited, 0);
    ck_assert(walk.is_finite);
}
END_TEST

// --- Not finite ---

START_TEST(walk_tells_whether_all_it_visited_is_finite)
{
    for (uint32_t i = 0; i < 4 * 24; ++i) {
        const uint32_t rank = 1 + i / 4, run = plant_stars(i % 4);
        const uint32_t up = rank < 9 ? 0 : 1 + (rank - 9) / 2;
        espl__span spans[4];
        espl__walk walk;

        forest->local[slot_at(run, 0)].scale = 8;
        forest->local[slot_at(run, rank)].position[2] = FLT_MAX;
        espl__walk_begin(&walk, forest, run, spans, 4);
        (void)espl__propagate_one(&walk, 0);
        espl__walk_push_children(&walk, 0);
        espl__walk_advance(&walk, rank);
        ck_assert(walk.is_finite);
        for (uint32_t end = rank + 1; end <= 25; ++end) {
            espl__walk_advance(&walk, end); // others that are visited later do not take it back
            ck_assert(!walk.is_finite);
        }

        // A walk beside it is finite.
        espl__walk_begin(&walk, forest, run, spans, 4);
        walk.visits_all = true;
        espl__walk_push_children(&walk, up == 0 ? 8 - (rank == 8) : 0);
        espl__walk_advance(&walk, up == 0 ? UINT32_MAX : 9);
        ck_assert(walk.is_finite);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(node_recomputed_alone_is_told_of_too)
{
    for (uint32_t i = 0; i < 4 * 25; ++i) {
        const uint32_t rank = i / 4, run = plant_stars(i % 4);
        espl__span span;
        espl__walk walk;

        espl__walk_begin(&walk, forest, run, &span, 1);
        ck_assert(!espl__propagate_one(&walk, rank));
        ck_assert(walk.is_finite);
        forest->local[slot_at(run, rank)].scale = HUGE_VALF;
        ck_assert(espl__propagate_one(&walk, rank));
        ck_assert(!walk.is_finite);
        ck_assert_uint_eq(walk.visited, 2);
        ck_assert_uint_eq(walk.skipped, 1);
        if (rank != 0) {
            ck_assert(!espl__propagate_one(&walk, 0)); // which is finite, and does not take it back
            ck_assert(!walk.is_finite);
        }
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(huge_finite_worlds_are_no_false_alarm)
{
    for (uint32_t arrangement = 0; arrangement < 4; ++arrangement) {
        const uint32_t run = plant_stars(arrangement);
        espl__span span;
        espl__walk walk;

        for (uint32_t rank = 0; rank < 25; ++rank) {
            forest->local[slot_at(run, rank)] = espl__pose_identity();
        }
        for (int axis = 0; axis < 3; ++axis) {
            forest->local[slot_at(run, 5)].position[axis] = FLT_MAX;
        }
        espl__walk_begin(&walk, forest, run, &span, 1);
        (void)espl__propagate_one(&walk, 0);
        espl__walk_push_children(&walk, 0);
        espl__walk_advance(&walk, UINT32_MAX);
        ck_assert(walk.is_finite);
        espl__run_release(forest, run);
    }
}
END_TEST

// --- Counters, and the walks that begin at one node ---

START_TEST(counts_are_added_to_the_forests)
{
    const espl__walk walk = {.visited = 7, .skipped = 3};

    forest->crew.tally.nodes_visited = 100;
    forest->crew.tally.nodes_skipped = 10;
    espl__walk_count(&walk, &forest->crew);
    ck_assert_uint_eq(forest->crew.tally.nodes_visited, 107);
    ck_assert_uint_eq(forest->crew.tally.nodes_skipped, 13);
}
END_TEST

// Counts of one call of grove_propagate().
static visits propagate_counted(uint32_t run, uint32_t rank)
{
    const visits before = {forest->crew.tally.nodes_visited, forest->crew.tally.nodes_skipped};

    ck_assert(grove_propagate(forest, run, rank));
    return (visits){forest->crew.tally.nodes_visited - before.visited,
                    forest->crew.tally.nodes_skipped - before.skipped};
}

START_TEST(write_of_one_node_is_a_walk_of_one_change)
{
    const size_t rounds = test_scaled(1000);

    for (uint32_t round = 0; round < rounds; ++round) {
        trial t = begin_trial(round, SIZE * SIZE);
        const uint32_t rank = test_below(&random_state, t.size);

        memset(t.is_changed, 0, sizeof t.is_changed);
        memcpy(t.after, t.before, sizeof t.after);
        if (!espl__slot_copies(forest, slot_at(t.run, rank))) {
            t.after[rank].local = grove_random_pose(&random_state);
        }
        t.is_changed[rank] = true;
        place_all(&t, t.after);
        grove_recompute(&g, t.run, t.new);
        const visits least = must_visit(&t), done = propagate_counted(t.run, rank);

        worlds_are_new(&t, 0);
        ck_assert_uint_eq(done.visited, least.visited);
        ck_assert_uint_eq(done.skipped, least.skipped);
        espl__run_release(forest, t.run);
    }
}
END_TEST

START_TEST(more_gaps_than_spans_on_the_stack_change_no_bit)
{
    // 300 children, every other of which keeps all, with a child of its own each.
    enum { CHILDREN = 300, COUNT = 1 + 2 * CHILDREN };
    uint32_t parent[COUNT];
    uint8_t inherit[COUNT] = {0};
    espl__frame frames[COUNT];

    for (uint32_t rank = 0; rank < COUNT; ++rank) {
        parent[rank] = rank == 0 ? ESPL__NO_SLOT : rank <= CHILDREN ? 0 : rank - CHILDREN;
        inherit[rank] = rank <= CHILDREN && rank % 2 == 0 ? ALL_KEPT : 0;
    }
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = COUNT, .inherit = inherit});

    forest->local[slot_at(run, 0)].position[0] += 1;
    const visits done = propagate_counted(run, 0);
    ck_assert_uint_ge(done.visited, 1 + CHILDREN + CHILDREN / 2);
    ck_assert_uint_lt(done.visited, COUNT);
    ck_assert_uint_eq(done.visited - done.skipped, 1 + CHILDREN);
    grove_recompute(&g, run, frames);
    for (uint32_t rank = 0; rank < COUNT; ++rank) {
        ck_assert(grove_same(&forest->world[slot_at(run, rank)], &frames[rank].world));
    }
    grove_is_sound(&g);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/walk");
    TCase *const bits = tcase_create("bits");
    TCase *const hand = tcase_create("by hand");
    TCase *const finite = tcase_create("finite");
    TCase *const counts = tcase_create("counts");

    tcase_add_checked_fixture(bits, set_up, tear_down);
    tcase_add_test(bits, every_room_for_spans_gives_the_same_bits);
    tcase_add_test(bits, walk_with_room_visits_what_it_must_and_no_more);
    tcase_add_test(bits, plain_run_needs_no_more_spans_than_changes_and_one);
    suite_add_tcase(suite, bits);

    tcase_add_checked_fixture(hand, set_up, tear_down);
    tcase_add_test(hand, chain_of_n_changes_is_visited_n_times);
    tcase_add_test(hand, node_that_keeps_all_stops_the_walk);
    tcase_add_test(hand, world_that_a_change_does_not_reach_stops_the_walk);
    tcase_add_test(hand, copy_hands_a_stretch_on_that_its_world_does_not_show);
    tcase_add_test(hand, walk_goes_as_far_as_it_is_told);
    tcase_add_test(hand, what_is_taken_out_is_visited_by_nobody);
    tcase_add_test(hand, range_is_visited_whole_and_what_hangs_below_waits);
    tcase_add_test(hand, range_from_a_root_that_stands_still_lets_its_children_be);
    tcase_add_test(hand, full_ring_lets_the_last_span_grow_over_the_gap);
    tcase_add_test(hand, spans_that_touch_are_one);
    tcase_add_test(hand, leaf_has_no_children_to_wait);
    suite_add_tcase(suite, hand);

    tcase_add_checked_fixture(finite, set_up, tear_down);
    tcase_add_test(finite, walk_tells_whether_all_it_visited_is_finite);
    tcase_add_test(finite, node_recomputed_alone_is_told_of_too);
    tcase_add_test(finite, huge_finite_worlds_are_no_false_alarm);
    suite_add_tcase(suite, finite);

    tcase_add_checked_fixture(counts, set_up, tear_down);
    tcase_add_test(counts, counts_are_added_to_the_forests);
    tcase_add_test(counts, write_of_one_node_is_a_walk_of_one_change);
    tcase_add_test(counts, more_gaps_than_spans_on_the_stack_change_no_bit);
    suite_add_tcase(suite, counts);
    return suite;
}

RUN_SUITE(make_suite)
