// SPDX-License-Identifier: MIT
// The plan stage by itself: verdicts, sizes and plots, worked out by hand and against a naive walk
// over the links; that it writes nothing but scratch; and the same plan for any number of workers.
#include "tests/commands/planned.h"
#include "tests/runner.h"

#include <float.h>

// --- Naive plots ---

// One hierarchy to be, in breadth-first order by its links alone.
typedef struct walk {
    uint32_t nodes[4096];
    uint32_t size;
    bool needs_side, needs_kept;
} walk;

static void walk_from(walk *w, const espl__sketch *sketch, uint32_t root)
{
    w->size = 0;
    w->needs_side = w->needs_kept = false;
    w->nodes[w->size++] = root;
    for (uint32_t at = 0; at < w->size; ++at) {
        const espl__placement placement = espl__sketch_placement(sketch, w->nodes[at]);
        const bool is_pass = plan_is_pass(sketch, w->nodes[at]);
        const espl__extra extra = espl__sketch_extra(sketch, w->nodes[at]);
        const bool keeps = !is_pass && placement.kept.flags != 0;

        w->needs_kept = w->needs_kept || keeps;
        w->needs_side = w->needs_side || keeps || !espl__extra_is_default(&extra);
        for (uint32_t child = plan_first(sketch, w->nodes[at]); child != ESPL__NO_NODE;
             child = plan_next(sketch, child)) {
            ck_assert_uint_lt(w->size, 4096);
            w->nodes[w->size++] = child;
        }
    }
}

static bool is_resident(const espl__forest *forest, uint32_t run, uint32_t node)
{
    return run != ESPL__NO_RUN && !espl__sketch_is_made(node) && forest->run[node] == run;
}

static void plot_is(const yard *y, const espl__plot *plot)
{
    static walk w;
    const espl__forest *const forest = &y->world->forest;
    const espl__sketch *const sketch = &y->playback->groups[plot->group].work->sketch;
    const espl__laid *const laid = espl__sketch_laid(sketch, plot->laid);
    const espl__run *const old =
        plot->old_run == ESPL__NO_RUN ? NULL : &forest->runs[plot->old_run];
    uint32_t entrants = 0, drafted = 0;

    walk_from(&w, sketch, laid->root);
    for (uint32_t rank = 0; rank < w.size; ++rank) {
        const bool stays = is_resident(forest, plot->old_run, w.nodes[rank]);

        entrants += stays ? 0 : 1;
        drafted += stays && forest->rank[w.nodes[rank]] == rank ? 0 : 1;
    }
    ck_assert_uint_eq(laid->size, w.size);
    ck_assert_uint_eq(laid->entrants, entrants);
    const bool fits = old != NULL && old->size + entrants <= old->capacity;
    const bool is_loose =
        old != NULL && old->capacity > 16 && w.size + w.size / 4 < old->capacity / 4;

    ck_assert_int_eq(plot->is_moved, !fits || is_loose);
    ck_assert_uint_eq(plot->drafted, plot->is_moved ? w.size : drafted);
    if (old != NULL) {
        ck_assert_uint_eq(plot->old_base, old->base);
        ck_assert_uint_eq(plot->old_capacity, old->capacity);
        ck_assert_ptr_eq(plot->old_side, old->side);
    }
    ck_assert_uint_eq(plot->left_capacity, plot->is_moved ? 0 : old->size - (w.size - entrants));
    const uint32_t spare = w.size < 64 ? w.size / 2 : w.size / 4;

    ck_assert_uint_eq(plot->capacity, !plot->is_moved                    ? old->capacity
                                      : old != NULL && old->capacity > 1 ? w.size + spare
                                                                         : w.size);
    ck_assert_int_eq(plot->side != NULL, w.needs_side);
    ck_assert(plot->side == NULL || (plot->side->kept != NULL) == w.needs_kept);
    ck_assert(plot->side == NULL || plot->side->capacity == plot->capacity);
}

// Every hierarchy whose links changed has a plot, in order; in a group with side arrays all that
// are laid out have one.
static void plots_are(const yard *y)
{
    const espl__playback *const playback = y->playback;
    size_t plot = 0;

    for (uint32_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];

        ck_assert_uint_eq(group->work->plot_begin, plot);
        for (uint32_t k = 0; k < group->work->sketch.laid.count; ++k) {
            const espl__laid *const laid = espl__sketch_laid(&group->work->sketch, k);

            if (!laid->is_restructured && !group->work->has_side) {
                static walk w;

                walk_from(&w, &group->work->sketch, laid->root);
                ck_assert(!w.needs_side);
                continue;
            }
            ck_assert_uint_lt(plot, playback->plot_count);
            ck_assert_uint_eq(playback->plots[plot].group, i);
            ck_assert_uint_eq(playback->plots[plot].laid, k);
            ck_assert_uint_eq(playback->plots[plot].old_run, laid->load == ESPL__NO_NODE
                                                                 ? ESPL__NO_RUN
                                                                 : playback->loads[laid->load].run);
            plot_is(y, &playback->plots[plot]);
            plot += 1;
        }
        ck_assert_uint_eq(group->work->plot_end, plot);
    }
    ck_assert_uint_eq(playback->plot_count, plot);
}

// Who was made, who dies, counted node by node.
static void counts_are(const yard *y)
{
    const espl__playback *const playback = y->playback;
    size_t makes = 0, removals = 0;

    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];
        const espl__sketch *const sketch = &group->work->sketch;
        const espl__node *const made = sketch->made.items, *const known = sketch->known.items;
        size_t living = 0, dead = 0;

        for (uint32_t k = 0; k < sketch->made.count; ++k) {
            living += espl__node_is_dead(&made[k]) ? 0 : 1;
        }
        for (uint32_t k = 1; k < sketch->known.count; ++k) {
            const bool was_ghost = (known[k].flags & ESPL__NODE_GHOST) != 0;

            dead += espl__node_is_dead(&known[k]) && !was_ghost ? 1 : 0;
        }
        ck_assert_uint_eq(group->clones, living);
        ck_assert_uint_eq(group->dead, dead);
        ck_assert_uint_eq(group->visited, sketch->changed_count);
        makes += living;
        removals += dead;
    }
    ck_assert_uint_eq(playback->make_count, makes);
    ck_assert_uint_eq(playback->removal_count, removals);
}

START_TEST(plans_agree_with_a_naive_walk)
{
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        return;
    }

    for (uint64_t seed = 1; seed <= test_scaled(60) + 5; ++seed) {
        yard_begin(&y, seed * 10 + (uint64_t)_i);
        yard_plant_all(&y);
        yard_record(&y, 1 + test_below(&y.random, 60), seed % 3 == 0 ? 1 : 5);
        const uint64_t hash = test_physical_hash(y.world);

        bed_run_on(&y.bed, stage_workers[seed % STAGE_WORKERS], TEST_SHUFFLED);
        yard_open(&y);
        ck_assert_int_eq(yard_plan_stages(&y), ESPL_OK);
        ck_assert_uint_eq(test_physical_hash(y.world), hash);
        yard_is_sound(&y);
        ck_assert_int_eq(espl__stage_reserve(y.playback), ESPL_OK);
        plots_are(&y);
        counts_are(&y);
        yard_close(&y, false);

        // Nothing but scratch was written: the world is what it was, and plays the commands yet.
        ck_assert_uint_eq(test_physical_hash(y.world), hash);
        test_world_is_valid(y.world);
        ck_assert_int_eq(espl_play(y.world, y.bed.commands, NULL), ESPL_OK);
        yard_end(&y);
    }
}
END_TEST

// --- Workers ---

static uint64_t hash_of_sketch(uint64_t hash, const espl__sketch *sketch)
{
    const uint32_t counts[] = {sketch->known.count, sketch->made.count,   sketch->written.count,
                               sketch->noted.count, sketch->pieces.count, sketch->laid.count,
                               sketch->worlds.count};
    const espl__node *const known = sketch->known.items;

    hash = test_hash_bytes(hash, counts, sizeof counts);
    hash = test_hash_bytes(hash, known + 1, (sketch->known.count - 1) * sizeof *known);
    hash = test_hash_bytes(hash, sketch->made.items, sketch->made.count * sizeof *known);
    hash = test_hash_bytes(hash, sketch->written.items,
                           sketch->written.count * sizeof(espl__placement));
    hash = test_hash_bytes(hash, sketch->noted.items, sketch->noted.count * sizeof(uint32_t));
    hash = test_hash_bytes(hash, sketch->pieces.items, sketch->pieces.count * sizeof(espl__piece));
    return test_hash_bytes(hash, sketch->worlds.items, sketch->worlds.count * sizeof(espl_pose));
}

static uint64_t hash_of_plan(const espl__playback *playback)
{
    uint64_t hash = TEST_HASH_START;

    for (size_t i = 0; i < playback->group_count; ++i) {
        hash = hash_of_sketch(hash, &playback->groups[i].work->sketch);
    }
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const uint32_t words[] = {(uint32_t)entry->status, entry->clone_count};

        hash = test_hash_bytes(hash, words, sizeof words);
    }
    return test_hash_bytes(hash, playback->pending_nodes,
                           playback->pending_count * sizeof(uint32_t));
}

START_TEST(any_number_of_workers_makes_the_same_plan)
{
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        return;
    }

    for (uint64_t seed = 1; seed <= 6; ++seed) {
        uint64_t hash = 0;

        yard_begin(&y, seed);
        yard_plant_all(&y);
        yard_record(&y, 150, 5);
        for (int i = 0; i < STAGE_WORKERS; ++i) {
            bed_run_on(&y.bed, stage_workers[i], manners[i % 3]);
            yard_open(&y);
            ck_assert_int_eq(yard_plan_stages(&y), ESPL_OK);
            ck_assert(i == 0 || hash == hash_of_plan(y.playback));
            hash = hash_of_plan(y.playback);
            yard_close(&y, false);
        }
        yard_end(&y);
    }
}
END_TEST

// --- Verdicts ---

// A chain of four and a solo; commands in one lane, by number.
typedef struct small {
    yard y;
    espl_entity chain[4], solo;
    espl_recorder *lane;
    uint32_t count;
    espl_status first; // what the first command comes to, where it was told
} small;

static void small_begin(small *s)
{
    yard_begin(&s->y, 1);
    s->lane = yard_lane(&s->y, 0);
    s->count = 0;
    s->first = ESPL_OK;
    for (uint32_t i = 0; i < 4; ++i) {
        s->chain[i] = test_solo(s->y.world);
        if (i > 0) {
            attach(s->y.world, s->chain[i], s->chain[i - 1], 0);
        }
    }
    s->solo = test_solo(s->y.world);
}

static void plan_small(small *s)
{
    yard_open(&s->y);
    ck_assert_int_eq(yard_prepare(&s->y), ESPL_OK);
}

static void small_end(small *s)
{
    yard_close(&s->y, false);
    yard_end(&s->y);
}

static void verdict_is(const small *s, uint32_t index, espl_status status)
{
    ck_assert_int_eq(yard_entry(&s->y, 0, index)->status, status);
}

START_TEST(each_command_has_the_verdict_of_its_moment)
{
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.chain[1], s.chain[3], NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_detach(s.lane, 0, s.chain[2], ESPL_STAY_WORLD), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.chain[1], s.chain[3], NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_set_sibling(s.lane, 0, s.chain[2], espl_entity_null()), ESPL_OK);
    ck_assert_int_eq(espl_record_set_sibling(s.lane, 0, s.chain[1], s.solo), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(s.lane, 0, s.solo), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(s.lane, 0, s.solo), ESPL_OK);
    ck_assert_int_eq(espl_record_set_inherit(s.lane, 0, s.chain[2], ESPL_KEEP_X), ESPL_OK);
    ck_assert_int_eq(espl_record_remove(s.lane, 0, s.chain[1], ESPL_PLACEMENT), ESPL_OK);
    ck_assert_int_eq(espl_record_set_inherit(s.lane, 0, s.chain[1], ESPL_KEEP_X), ESPL_OK);
    plan_small(&s);
    verdict_is(&s, 0, ESPL_ERR_CYCLE);
    verdict_is(&s, 1, ESPL_OK);
    verdict_is(&s, 2, ESPL_OK);
    verdict_is(&s, 3, ESPL_ERR_NOT_CHILD);
    verdict_is(&s, 4, ESPL_ERR_NOT_CHILD);
    verdict_is(&s, 5, ESPL_OK);
    verdict_is(&s, 6, ESPL_ERR_DEAD);
    verdict_is(&s, 7, ESPL_ERR_NOT_CHILD);
    verdict_is(&s, 8, ESPL_OK);
    verdict_is(&s, 9, ESPL_ERR_NO_TRANSFORM);

    // A root alone in its run; the rest of the chain, which is a root no longer; nobody else.
    ck_assert_uint_eq(s.y.playback->group_count, 1);
    ck_assert_uint_eq(s.y.playback->plot_count, 2);
    ck_assert_uint_eq(espl__sketch_laid(&s.y.playback->groups[0].work->sketch, 0)->size, 1);
    ck_assert_uint_eq(espl__sketch_laid(&s.y.playback->groups[0].work->sketch, 1)->size, 3);
    ck_assert_uint_eq(s.y.playback->groups[0].dead, 1);
    small_end(&s);
}
END_TEST

static espl_transform scaled(float scale)
{
    espl_transform value = espl_transform_identity();

    value.scale = scale;
    return value;
}

// What overflows is refused by itself, where a later command would hide it too.
START_TEST(a_command_that_makes_a_world_overflow_is_refused_alone)
{
    const espl_transform large = scaled(0x1p100f), half = scaled(0x1p70f), one = scaled(1);
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[3], &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[0], &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[3], &one), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[0], &half), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.solo, &half), ESPL_OK);
    plan_small(&s);
    verdict_is(&s, 0, ESPL_OK);
    verdict_is(&s, 1, ESPL_ERR_RANGE);
    verdict_is(&s, 2, ESPL_OK);
    verdict_is(&s, 3, ESPL_OK);
    verdict_is(&s, 4, ESPL_OK);
    ck_assert(yard_entry(&s.y, 0, 1)->is_out_of_range);
    small_end(&s);
}
END_TEST

START_TEST(the_last_command_that_overflows_leaves_nothing_behind)
{
    const espl_transform large = scaled(0x1p100f);
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[3], &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[0], &large), ESPL_OK);
    plan_small(&s);
    verdict_is(&s, 0, ESPL_OK);
    verdict_is(&s, 1, ESPL_ERR_RANGE);
    ck_assert_uint_eq(s.y.playback->groups[0].visited, 1);
    ck_assert_uint_eq(s.y.playback->groups[0].work->sketch.written.count, 1);
    small_end(&s);
}
END_TEST

// A clone has what its original was given just now, and a clone of a clone too: where they hang in
// each other they may overflow, though what was given is taken back.
START_TEST(clones_of_what_was_written_may_overflow_for_a_moment)
{
    const espl_transform half = scaled(0x1p70f), one = scaled(1);
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[1], &half), ESPL_OK);
    const espl_instance_def def = {.source = s.chain[0],
                                   .parent = s.chain[1],
                                   .place = ESPL_PLACE_LOCAL,
                                   .transform = espl_transform_identity()};
    ck_assert_int_eq(espl_record_instantiate(s.lane, 0, &def, 1, NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[1], &one), ESPL_OK);
    plan_small(&s);
    verdict_is(&s, 0, ESPL_OK);
    verdict_is(&s, 1, ESPL_ERR_RANGE);
    verdict_is(&s, 2, ESPL_OK);
    ck_assert_uint_eq(s.y.playback->make_count, 0);
    small_end(&s);
}
END_TEST

// Scales that might add up to an overflow, but never do: what each command changes is looked at, and no
// more.
START_TEST(commands_where_worlds_may_overflow_cost_what_they_change)
{
    enum { MOVES = 40 };
    const espl_transform large = scaled(0x1p60f), small_one = scaled(0x1p-60f), one = scaled(1);
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[1], &small_one), ESPL_OK);
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[0], &large), ESPL_OK);
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[2], &large), ESPL_OK);
    for (uint32_t i = 0; i < MOVES; ++i) {
        const espl_entity parent = s.chain[i % 2 == 0 ? 0 : 2];

        ck_assert_int_eq(espl_record_attach(s.lane, 0, s.chain[3], parent, NULL), ESPL_OK);
    }
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[1], &one), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[1], &small_one), ESPL_OK);
    plan_small(&s);
    for (uint32_t i = 0; i < MOVES; ++i) {
        verdict_is(&s, i, ESPL_OK);
    }
    verdict_is(&s, MOVES, ESPL_OK);
    verdict_is(&s, MOVES + 1, ESPL_OK);
    // The leaf each time, and then three of the chain twice.
    ck_assert_uint_eq(s.y.playback->groups[0].work->sketch.looked, MOVES + 2 * 3);
    small_end(&s);
}
END_TEST

// Where many overflow, as in a simulation that has come apart, the plan does not begin anew for each.
START_TEST(writes_that_overflow_are_left_out_where_they_stand)
{
    enum { WRITES = 50 };
    const espl_transform large = scaled(0x1p100f), one = scaled(1);
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[2], &large), ESPL_OK);
    for (uint32_t i = 0; i < WRITES; ++i) {
        ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[i % 2], &large), ESPL_OK);
    }
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[2], &one), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[0], &large), ESPL_OK);
    plan_small(&s);
    for (uint32_t i = 0; i < WRITES; ++i) {
        verdict_is(&s, i, ESPL_ERR_RANGE);
    }
    verdict_is(&s, WRITES, ESPL_OK);
    verdict_is(&s, WRITES + 1, ESPL_OK);
    // All at once, carefully, and without them.
    ck_assert_uint_eq(s.y.playback->groups[0].work->starts, 3);
    ck_assert_uint_eq(s.y.playback->groups[0].work->sketch.written.count, 2);
    small_end(&s);
}
END_TEST

// While the world of a node is out of range, commands that place the node again are refused, but not in
// the end.
START_TEST(what_stands_on_an_overflow_is_judged_without_it)
{
    const espl_transform large = scaled(0x1p100f);
    const espl_attach_options snaps = {.rotation = ESPL_STAY_NONE},
                              keeps = {.inherit = ESPL_KEEP_X};
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[3], &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[0], &large), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.chain[3], s.chain[2], &snaps), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.chain[3], s.chain[2], &keeps), ESPL_OK);
    plan_small(&s);
    verdict_is(&s, 0, ESPL_ERR_RANGE);
    verdict_is(&s, 1, ESPL_OK);
    verdict_is(&s, 2, ESPL_OK);
    small_end(&s);
}
END_TEST

// A node that keeps its position is where its local does not tell: too far from its parent for a local
// that would, and with the one that it has out of range.
START_TEST(who_cannot_be_where_it_is_goes_on_to_keep_its_position)
{
    const espl_attach_options plain = {.inherit = 0};
    const espl_transform far = test_at(1e38f, 0, 0);
    espl_transform place = test_at(-3e38f, 0, 0), before, after;
    static small s;

    small_begin(&s);
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[3], &far), ESPL_OK);
    ck_assert_int_eq(espl_set_inherit(s.y.world, s.chain[3], ESPL_KEEP_POSITION), ESPL_OK);
    place.scale = 1e10f;
    ck_assert_int_eq(espl_set_local(s.y.world, s.chain[2], &place), ESPL_OK);
    ck_assert_int_eq(espl_get_world(s.y.world, s.chain[3], &before), ESPL_OK);
    ck_assert_int_eq(espl_attach(s.y.world, s.chain[3], s.chain[2], &plain), ESPL_ERR_RANGE);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.chain[3], s.chain[2], &plain), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.solo, s.chain[3], NULL), ESPL_OK);
    ck_assert_int_eq(espl_play(s.y.world, s.y.bed.commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_commands_result(s.y.bed.commands, 0, 0), ESPL_ERR_RANGE);
    ck_assert_int_eq(espl_commands_result(s.y.bed.commands, 0, 1), ESPL_OK);
    ck_assert_int_eq(espl_get_world(s.y.world, s.chain[3], &after), ESPL_OK);
    ck_assert_int_eq(memcmp(&before, &after, sizeof before), 0);
    ck_assert_uint_eq(espl_get_inherit(s.y.world, s.chain[3]), ESPL_KEEP_POSITION);
    yard_end(&s.y);
}
END_TEST

// --- What is known ---

// A hierarchy is not copied when it is touched.
START_TEST(a_plan_knows_what_its_commands_ask_for)
{
    static yard y;
    const yard_plan plan = {.size = test_fitting(YARD_ENTITIES, 20) - 20, .reach = 20};

    yard_begin(&y, 5);
    (void)yard_plant(&y, &plan);
    const espl_transform value = test_at(1, 2, 3);
    const uint32_t last = plan.size - 1;

    ck_assert_int_eq(espl_record_set_local(yard_lane(&y, 0), 0, y.entities[last], &value), ESPL_OK);
    yard_open(&y);
    ck_assert_int_eq(yard_prepare(&y), ESPL_OK);
    ck_assert_uint_eq(y.playback->group_count, 1);
    ck_assert_uint_le(y.playback->groups[0].work->sketch.known.count, 1 + 2);
    ck_assert_uint_le(y.playback->groups[0].work->sketch.pieces.count, 8);
    ck_assert_uint_eq(y.playback->plot_count, 0);
    yard_close(&y, false);

    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[last]), ESPL_OK);
    yard_open(&y);
    ck_assert_int_eq(yard_prepare(&y), ESPL_OK);
    ck_assert_uint_le(y.playback->groups[0].work->sketch.known.count, 1 + 4);
    ck_assert_uint_eq(y.playback->plot_count, 1);
    ck_assert_uint_eq(y.playback->plots[0].left_capacity, 1);
    ck_assert_uint_eq(y.playback->plots[0].capacity, y.playback->plots[0].old_capacity);
    yard_close(&y, false);
    yard_end(&y);
}
END_TEST

// --- Plots ---

static const espl__plot *only_plot(const yard *y)
{
    ck_assert_uint_eq(y->playback->plot_count, 1);
    return &y->playback->plots[0];
}

START_TEST(a_run_that_grows_has_room_for_half_as_many_more_or_a_quarter_where_it_is_large)
{
    static small s;

    small_begin(&s);
    for (uint32_t i = 0; i < 5; ++i) {
        const espl_creation_def def = {.parent = s.chain[0]};

        ck_assert_int_eq(espl_record_create(s.lane, 0, &def, 1, NULL), ESPL_OK);
    }
    const uint32_t room =
        s.y.world->forest.runs[s.y.world->forest.run[slot_of(s.y.world, s.chain[0])]].capacity;
    plan_small(&s);
    const espl__plot *const plot = only_plot(&s.y);

    ck_assert_int_eq(plot->is_moved, room < 9);
    ck_assert_uint_eq(plot->capacity, room < 9 ? 9 + 9 / 2 : room);
    ck_assert_uint_eq(espl__run_room(&(espl__run){.capacity = 2}, 63), 94);
    ck_assert_uint_eq(espl__run_room(&(espl__run){.capacity = 2}, 64), 80);
    ck_assert_uint_eq(espl__run_room(&(espl__run){.capacity = 1}, 64), 64);
    ck_assert_uint_eq(plot->drafted, room < 9 ? 9 : 8);
    small_end(&s);
}
END_TEST

START_TEST(new_hierarchies_have_the_room_that_they_need)
{
    static small s;

    small_begin(&s);
    const espl_instance_def def = {.source = s.chain[1]};
    ck_assert_int_eq(espl_record_instantiate(s.lane, 0, &def, 3, NULL), ESPL_OK);
    plan_small(&s);
    ck_assert_uint_eq(s.y.playback->plot_count, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        const espl__plot *const plot = &s.y.playback->plots[i];

        ck_assert(plot->is_moved && plot->old_run == ESPL__NO_RUN && plot->side == NULL);
        ck_assert_uint_eq(plot->capacity, 3);
        ck_assert_uint_eq(plot->drafted, 3);
        ck_assert_uint_eq(plot->left_capacity, 0);
    }
    ck_assert_uint_eq(s.y.playback->make_count, 9);
    small_end(&s);
}
END_TEST

START_TEST(what_needs_side_arrays_gets_them_and_nobody_else)
{
    espl_transform stretched = espl_transform_identity();
    static small s;

    small_begin(&s);
    stretched.stretch[1] = 2;
    ck_assert_int_eq(espl_record_set_local(s.lane, 0, s.chain[2], &stretched), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s.lane, 0, s.solo, s.chain[3], NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_detach(s.lane, 0, s.chain[1], ESPL_STAY_LOCAL), ESPL_OK);
    plan_small(&s);
    ck_assert_uint_eq(s.y.playback->plot_count, 2);
    ck_assert_ptr_null(s.y.playback->plots[0].side); // the root alone
    ck_assert_ptr_nonnull(s.y.playback->plots[1].side);
    ck_assert_ptr_null(s.y.playback->plots[1].side->kept);
    ck_assert_uint_eq(s.y.playback->plots[1].side->capacity, 4);
    small_end(&s);
}
END_TEST

// --- Failures ---

// Fail the n-th allocation of a plan, or it and all that follow, for every n there is.
static void plan_without_memory(yard *y, bool fails_after)
{
    const uint64_t hash = test_physical_hash(y->world);
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t failures = 0;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        espl__playback_trim(y->playback);
        yard_open(y);
        test_heap_arm(&y->bed.test.heap, n, fails_after);
        status = yard_prepare(y);
        failures += y->bed.test.heap.failures > 0;
        ck_assert(status == ESPL_OK || y->bed.test.heap.failures > 0);
        test_heap_arm(&y->bed.test.heap, 0, false);
        yard_close(y, false);
        ck_assert_uint_eq(test_physical_hash(y->world), hash);
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_gt(failures, 3);
}

START_TEST(no_memory_leaves_the_world_as_it_was)
{
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        return;
    }
    for (int fails_after = 0; fails_after < 2; ++fails_after) {
        yard_begin(&y, 4);
        yard_plant_all(&y);
        yard_record(&y, 60, 3);
        plan_without_memory(&y, fails_after != 0);
        test_world_is_valid(y.world);
        yard_end(&y);
    }
}
END_TEST

START_TEST(a_job_left_out_refuses_the_plan)
{
    static yard y;

    if (test_lacks_room(300, "jobs of the plan stage")) {
        return;
    }

    yard_begin(&y, 4);
    for (uint32_t i = 0; i < 280; ++i) {
        y.entities[y.count++] = test_solo(y.world);
        ck_assert_int_eq(espl_record_remove(yard_lane(&y, 0), 0, y.entities[i], ESPL_PLACEMENT),
                         ESPL_OK);
    }
    const uint64_t hash = test_physical_hash(y.world);

    yard_open(&y);
    ck_assert_int_eq(bed_run_to(&y.bed, espl__stage_group), ESPL_OK);
    bed_run_on(&y.bed, 2, TEST_SKIPS_ONE);
    ck_assert_int_eq(espl__stage_plan(y.playback), ESPL_ERR_EXECUTOR);
    yard_close(&y, false);
    ck_assert_uint_eq(y.bed.test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    ck_assert_uint_eq(test_physical_hash(y.world), hash);
    yard_end(&y);
}
END_TEST

// --- Where what a group was given ahead is used up ---

static espl_entity add_child(small *s, espl_entity parent, espl_link link)
{
    const espl_attach_options options = {
        .position = ESPL_STAY_LOCAL, .scale = ESPL_STAY_LOCAL, .link = link};
    const espl_entity child = test_solo(s->y.world);
    const espl_transform value = test_at(1, 2, (float)++s->count);

    ck_assert_int_eq(espl_set_local(s->y.world, child, &value), ESPL_OK);
    ck_assert_int_eq(espl_attach(s->y.world, child, parent, &options), ESPL_OK);
    return child;
}

// One that passes through goes, whose children keep their worlds: each is written.
static void detach_with_children(small *s, uint32_t children)
{
    const espl_transform value = test_at(3, 2, 1);
    const espl_entity top = bare(s->y.world);

    ck_assert_int_eq(espl_set_local(s->y.world, s->chain[0], &value), ESPL_OK);
    attach(s->y.world, top, s->chain[0], 0);
    for (uint32_t i = 0; i < children; ++i) {
        (void)add_child(s, top, ESPL_LINK_OWNED);
    }
    ck_assert_int_eq(espl_record_detach(s->lane, 0, top, ESPL_STAY_WORLD), ESPL_OK);
}

static espl_entity record_made(small *s, espl_entity parent, bool is_prefab)
{
    const espl_component_value values[] = {
        {.component = ESPL_PLACEMENT, .size = sizeof(espl_transform)}, {.component = ESPL_PREFAB}};
    const espl_creation_def def = {
        .values = values, .value_count = is_prefab ? 2 : 1, .parent = parent};
    espl_entity made = espl_entity_null();

    ck_assert_int_eq(espl_record_create(s->lane, 0, &def, 1, &made), ESPL_OK);
    return made;
}

// One comes from elsewhere, one is placed again where it stands, and one is made.
static void placements_are_written(small *s, uint32_t number)
{
    const espl_attach_options snaps = {.position = ESPL_STAY_NONE};
    const espl_transform value = test_at(4, 5, 6);

    detach_with_children(s, number);
    ck_assert_int_eq(espl_set_local(s->y.world, s->solo, &value), ESPL_OK);
    ck_assert_int_eq(espl_set_local(s->y.world, s->chain[1], &value), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s->lane, 0, s->solo, s->chain[0], NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(s->lane, 0, s->chain[1], s->chain[0], &snaps), ESPL_OK);
    (void)record_made(s, s->chain[0], false);
}

// Of two who go each leaves some behind.
static void survivors_keep_their_worlds(small *s, uint32_t number)
{
    const espl_entity top = add_child(s, s->chain[0], ESPL_LINK_OWNED);
    const espl_entity low = add_child(s, top, ESPL_LINK_OWNED);

    for (uint32_t i = 0; i < 3 + number; ++i) {
        (void)add_child(s, top, ESPL_LINK_FREE);
        (void)add_child(s, low, ESPL_LINK_FREE);
    }
    ck_assert_int_eq(espl_record_destroy(s->lane, 0, top), ESPL_OK);
}

// Of what was just made, and each of whose copies is to have a set without the tag of a prefab.
static void prefabs_within_a_prefab_are_cloned(small *s, uint32_t number)
{
    const espl_entity top = record_made(s, s->chain[0], number % 2 != 0);

    for (uint32_t i = 0; i < 3 + number; ++i) {
        (void)record_made(s, top, true);
    }
    const espl_instance_def def = {.source = top, .parent = s->chain[1]};

    ck_assert_int_eq(espl_record_instantiate(s->lane, 0, &def, 2, NULL), ESPL_OK);
}

// A world that overflows at one command: those behind it are looked at one by one.
static void record_overflow(small *s, espl_entity entity)
{
    const espl_transform large = scaled(0x1p100f);

    ck_assert_int_eq(espl_set_local(s->y.world, s->chain[3], &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local(s->lane, 0, entity, &large), ESPL_OK);
    s->first = ESPL_ERR_RANGE;
}

// In between there are more pieces to be laid out than in the end: every second child survives.
static void many_stand_there_for_a_moment(small *s, uint32_t number)
{
    const espl_entity top = add_child(s, s->chain[0], ESPL_LINK_OWNED);
    const espl_entity low = add_child(s, top, ESPL_LINK_OWNED);

    for (uint32_t i = 0; i < 20 * (number + 1); ++i) {
        (void)add_child(s, low, i % 2 == 0 ? ESPL_LINK_FREE : ESPL_LINK_OWNED);
    }
    record_overflow(s, s->chain[0]);
    ck_assert_int_eq(espl_record_destroy(s->lane, 0, low), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy_subtree(s->lane, 0, top), ESPL_OK);
}

// All of these are refused as long as the overflow is there, and write once it is not.
static void more_is_written_without_the_overflow(small *s, uint32_t number)
{
    const espl_attach_options options = {
        .position = ESPL_STAY_LOCAL, .rotation = ESPL_STAY_NONE, .scale = ESPL_STAY_LOCAL};
    espl_transform value = scaled(0x1p70f);

    memcpy(value.rotation, (const float[]){0, 0, 1, 0}, sizeof value.rotation);
    record_overflow(s, s->chain[1]);
    detach_with_children(s, number);
    for (uint32_t i = 0; i < 4; ++i) {
        const espl_entity solo = test_solo(s->y.world);

        ck_assert_int_eq(espl_set_local(s->y.world, solo, &value), ESPL_OK);
        ck_assert_int_eq(espl_record_attach(s->lane, 0, solo, s->chain[1], &options), ESPL_OK);
    }
}

static void (*const used_up[])(small *, uint32_t) = {
    placements_are_written, survivors_keep_their_worlds, prefabs_within_a_prefab_are_cloned,
    many_stand_there_for_a_moment, more_is_written_without_the_overflow};

static void results_agree(const small *s, const small *twin)
{
    for (uint32_t i = 0; i < espl_commands_count(s->y.bed.commands); ++i) {
        const espl_status status = espl_commands_result(s->y.bed.commands, 0, i);

        ck_assert_int_eq(status, espl_commands_result(twin->y.bed.commands, 0, i));
        ck_assert_int_eq(status, i == 0 ? s->first : ESPL_OK);
    }
}

// Play while an allocation fails, or it and all that follow: refused, nothing changes, and once there is
// memory all is as in a twin that lacked nothing. @return whether one failed.
static bool play_short_of(void (*record)(small *, uint32_t), uint32_t number, size_t n,
                          const small *twin)
{
    static small s;

    small_begin(&s);
    record(&s, number);
    const uint64_t hash = test_physical_hash(s.y.world);

    test_heap_arm(&s.y.bed.test.heap, n / 2, n % 2 != 0);
    espl_status status = espl_play(s.y.world, s.y.bed.commands, NULL);
    const bool has_failed = s.y.bed.test.heap.failures > 0;

    test_heap_arm(&s.y.bed.test.heap, 0, false);
    if (status == ESPL_ERR_NO_MEMORY) {
        ck_assert(has_failed);
        ck_assert_uint_eq(test_physical_hash(s.y.world), hash);
        status = espl_play(s.y.world, s.y.bed.commands, NULL);
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_eq(test_physical_hash(s.y.world), test_physical_hash(twin->y.world));
    results_agree(&s, twin);
    test_world_is_valid(s.y.world);
    yard_end(&s.y);
    return has_failed;
}

START_TEST(where_room_is_used_up_no_memory_leaves_the_world_as_it_was)
{
    static small twin;

    if (test_lacks_room(200, "what uses room up")) {
        return;
    }
    for (uint32_t number = 0; number < 7; ++number) {
        small_begin(&twin);
        used_up[_i](&twin, number);
        ck_assert_int_eq(espl_play(twin.y.world, twin.y.bed.commands, NULL), ESPL_OK);
        size_t n = 2;

        while (play_short_of(used_up[_i], number, n, &twin)) {
            n += 1;
        }
        ck_assert_uint_gt(n, 4);
        yard_end(&twin.y);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("plan_stage");
    TCase *const random = tcase_create("random");
    TCase *const verdicts = tcase_create("verdicts");
    TCase *const plots = tcase_create("plots");
    TCase *const failures = tcase_create("failures");

    tcase_set_timeout(random, 120);
    tcase_add_loop_test(random, plans_agree_with_a_naive_walk, 0, 4);
    tcase_add_test(random, any_number_of_workers_makes_the_same_plan);
    suite_add_tcase(suite, random);

    tcase_add_test(verdicts, each_command_has_the_verdict_of_its_moment);
    tcase_add_test(verdicts, a_command_that_makes_a_world_overflow_is_refused_alone);
    tcase_add_test(verdicts, commands_where_worlds_may_overflow_cost_what_they_change);
    tcase_add_test(verdicts, writes_that_overflow_are_left_out_where_they_stand);
    tcase_add_test(verdicts, what_stands_on_an_overflow_is_judged_without_it);
    tcase_add_test(verdicts, who_cannot_be_where_it_is_goes_on_to_keep_its_position);
    tcase_add_test(verdicts, the_last_command_that_overflows_leaves_nothing_behind);
    tcase_add_test(verdicts, clones_of_what_was_written_may_overflow_for_a_moment);
    suite_add_tcase(suite, verdicts);

    tcase_add_test(plots, a_plan_knows_what_its_commands_ask_for);
    tcase_add_test(plots,
                   a_run_that_grows_has_room_for_half_as_many_more_or_a_quarter_where_it_is_large);
    tcase_add_test(plots, new_hierarchies_have_the_room_that_they_need);
    tcase_add_test(plots, what_needs_side_arrays_gets_them_and_nobody_else);
    suite_add_tcase(suite, plots);

    tcase_set_timeout(failures, 120);
    tcase_add_test(failures, no_memory_leaves_the_world_as_it_was);
    tcase_add_loop_test(failures, where_room_is_used_up_no_memory_leaves_the_world_as_it_was, 0,
                        sizeof used_up / sizeof *used_up);
    tcase_add_test(failures, a_job_left_out_refuses_the_plan);
    suite_add_tcase(suite, failures);
    return suite;
}

RUN_SUITE(make_suite)
