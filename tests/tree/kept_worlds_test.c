// SPDX-License-Identifier: MIT
// What a sketch keeps of worlds between touches: never one that holds no longer, and enough that
// nobody climbs again past what is known. Steps are counted by the sketch.
#include "tests/tree/laid_plants.h"
#include "tests/tree/plant_edits.h"

// One hierarchy of a size, of which the parent of each rank is what the arity says; 1 is a chain.
static uint32_t plant_arity(uint32_t size, uint32_t arity)
{
    uint32_t parent[GROVE_LIMIT] = {ESPL__NO_SLOT};

    for (uint32_t rank = 1; rank < size; ++rank) {
        parent[rank] = (rank - 1) / arity;
    }
    return load(grove_plant(&g, &(grove_plan){.parent = parent, .size = size}));
}

static void ask(uint32_t number)
{
    const espl_pose expected = plain_world(number);
    const espl_pose world = espl__sketch_world(&sketch, plants[number].node);

    ck_assert(grove_same(&expected, &world));
}

static void ask_all(void)
{
    for (uint32_t number = 0; number < plant_count; ++number) {
        if (!plants[number].is_dead) {
            ask(number);
        }
    }
}

// A change of its local, told.
static void shift(uint32_t number)
{
    plants[number].placement.local.position[0] += 1;
    tell_placement(number);
}

// Kept worlds that are in use, and that each hangs below that of its node's parent or below none.
static uint32_t count_kept(void)
{
    const espl__kept_world *const kept = sketch.kept.items;
    uint32_t count = 0;

    for (uint32_t number = 0; number < plant_count; ++number) {
        const uint32_t node = plants[number].node;

        if (!espl__sketch_is_known(&sketch, node) || node_of(number)->kept == 0) {
            continue;
        }
        const espl__kept_world *const own = &kept[node_of(number)->kept - 1];
        const uint32_t above = node_of(number)->parent;

        count += 1;
        ck_assert_uint_eq(own->node, node);
        if (own->parent != NONE && !plants[number].is_dead) {
            ck_assert_uint_eq(kept[own->parent].node, above);
        }
    }
    return count;
}

static uint32_t count_unused(void)
{
    const espl__kept_world *const kept = sketch.kept.items;
    uint32_t count = 0;

    for (uint32_t at = sketch.unused_kept; at != NONE; at = kept[at].next) {
        count += 1;
        ck_assert_uint_le(count, sketch.kept.count);
    }
    return count;
}

START_TEST(random_edits_between_many_questions)
{
    const size_t rounds = test_scaled(200);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t run[2];

        plant_round(round, run, 2);
        begin_sketch(round % 2 == 0 ? 0 : 48);
        (void)load(run[0]);
        (void)load(run[1]);
        for (uint32_t edits = 0; edits < 50; ++edits) {
            edit_one();
            for (uint32_t asked = below(12); asked > 0; --asked) {
                ask(any_living());
            }
            if (below(10) == 0) {
                layout_agrees(); // forgets nothing, and takes nothing for its own
            }
            ck_assert_uint_eq(count_kept() + count_unused(), sketch.kept.count);
        }
        ask_all();
        layout_agrees();
        uproot(run, 2);
    }
}
END_TEST

// Larger ones, where ranks fill words: a level that is stale in parts, or at its ends.
START_TEST(random_touches_of_wide_and_deep_hierarchies)
{
    const size_t rounds = test_scaled(40);

    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t size = 1 + below(300);

        begin_sketch(0);
        (void)plant_arity(size, 1 + below(round % 2 == 0 ? 4 : 200));
        for (uint32_t edits = 0; edits < 60; ++edits) {
            const uint32_t node = below(size);

            if (below(3) == 0) {
                move_one();
            } else {
                shift(node);
            }
            for (uint32_t asked = below(20); asked > 0; --asked) {
                ask(below(size));
            }
        }
        ask_all();
        espl__sketch_clear(&sketch);
        ck_assert_uint_eq(sketch.kept.count + sketch.stale.count, 0);
        uproot(&loads[load_numbers[0]].run, 1);
    }
}
END_TEST

START_TEST(what_is_not_below_a_touched_node_takes_no_step)
{
    enum { SIZE = 1000, TOUCHED = 5 };

    begin_sketch(0);
    (void)plant_arity(SIZE, 2);
    shift(TOUCHED);
    const uint32_t known = sketch.known.count;

    for (uint32_t number = 0; number < SIZE; ++number) {
        const uint64_t before = sketch.risen;

        if (!is_at_or_below(number, TOUCHED)) {
            ask(number);
            ck_assert_uint_eq(sketch.risen, before);
        }
    }
    ck_assert_uint_eq(sketch.known.count, known);
    ask_all();
    const uint64_t all = sketch.risen;

    // One step for each below it, and no more for whoever asks again, nor behind a touch elsewhere.
    ck_assert_uint_lt(all, SIZE);
    ask_all();
    shift(4);
    for (uint32_t number = 0; number < SIZE; ++number) {
        if (!is_at_or_below(number, 4)) {
            ask(number);
        }
    }
    ck_assert_uint_eq(sketch.risen, all);
}
END_TEST

// What was made or moved below a node that is as in the forest is found once that one changes,
// however far above it that is.
START_TEST(what_hangs_below_an_unchanged_node_goes_with_it)
{
    enum { SIZE = 200 };

    for (uint32_t top = 0; top < 3; ++top) {
        const espl__placement placement = espl__placement_identity();

        begin_sketch(0);
        (void)plant_arity(SIZE, 3);
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t node = make_node(ESPL__NO_SLOT, &placement, 0);

            link_one(add_plant(node, &placement, false), i == 2 ? 100 : 60 + i, 0);
        }
        move_to(150, 61, 0);
        ask_all();
        ck_assert_uint_eq(sketch.risen, 5);
        shift(top == 2 ? 61 : top); // 61 hangs below 20, 6, 1 and 0
        ask_all();
        layout_agrees();
        uproot(&loads[load_numbers[0]].run, 1);
    }
}
END_TEST

// Hang each node of a heap below the one before it, from the top down or from the bottom up, as an
// attach does that asks for all worlds beforehand.
START_TEST(chains_hung_node_by_node_take_few_steps)
{
    enum { SIZE = 1000 };
    const bool is_upwards = _i == 1;

    begin_sketch(0);
    (void)plant_arity(SIZE, 3);
    for (uint32_t i = 1; i < SIZE; ++i) {
        const uint32_t node = is_upwards ? SIZE - i : i;

        ask(plants[node].parent);
        ask(node - 1);
        ask(node);
        move_to(node, node - 1, plants[node - 1].count);
        ask(node);
    }
    // A heap of three is seven deep.
    ck_assert_uint_lt(sketch.risen, is_upwards ? 8 * SIZE : 3 * SIZE);
    ck_assert_uint_le(sketch.kept.count, SIZE);
    ask_all();
    layout_agrees();
}
END_TEST

// A chain of which each node is touched, from the end to the root or back, is marked once.
START_TEST(touches_along_a_chain_forget_what_hangs_below)
{
    enum { SIZE = 500 };

    begin_sketch(0);
    (void)plant_arity(SIZE, 1);
    for (uint32_t i = 0; i < SIZE; ++i) {
        const uint32_t node = _i == 0 ? SIZE - 1 - i : i;

        shift(node);
        ask(node);
    }
    ck_assert_uint_le(sketch.risen, SIZE);
    ask(SIZE - 1);
    ck_assert_uint_le(sketch.risen, 2 * SIZE);
    shift(0);
    ck_assert_uint_eq(count_kept(), 0);
    ck_assert_uint_eq(count_unused(), sketch.kept.count);
    ask_all();
}
END_TEST

// --- Without memory ---

// Whatever is not found is computed again, right. Words that are missing at a touch are a failure.
START_TEST(worlds_that_cannot_be_kept_are_right)
{
    enum { SIZE = 40 };
    uint32_t failures = 0;

    for (size_t n = 1; n < 12; ++n) {
        const espl__placement placement = espl__placement_identity();

        begin_sketch(0);
        (void)plant_arity(SIZE, 1);
        // All that is known before, and what is made below one that nobody touched.
        ck_assert(espl__sketch_reserve_made(&sketch, 8) &&
                  espl__sketch_reserve_written(&sketch, 40));
        for (uint32_t number = 0; number < SIZE; ++number) {
            (void)node_of(number);
        }
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t node = make_node(ESPL__NO_SLOT, &placement, 0);

            link_one(add_plant(node, &placement, false), i == 0 ? 20 : SIZE + i - 1, 0);
        }
        test_heap_arm(&g.under, n, _i == 1);
        ask(plant_count - 1); // the way down keeps some and not others
        ask_all();
        ck_assert(!espl__sketch_has_failed(&sketch));
        for (uint32_t i = 0; i < 20 && !espl__sketch_has_failed(&sketch); ++i) {
            shift(i % 2 == 0 ? 30 - i : SIZE + i % 8);
            if (!espl__sketch_has_failed(&sketch)) {
                ask_all();
            }
        }
        failures += g.under.failures != 0;
        test_heap_arm(&g.under, 0, false);
        if (!espl__sketch_has_failed(&sketch)) {
            ask_all();
            layout_agrees();
        }
        uproot(&loads[load_numbers[0]].run, 1);
    }
    ck_assert_uint_gt(failures, 1);
}
END_TEST

START_TEST(touch_without_memory_fails)
{
    begin_sketch(0);
    (void)plant_arity(10, 2);
    (void)node_of(3);
    test_heap_arm(&g.under, 1, true);
    espl__sketch_touch(&sketch, plants[3].node);
    ck_assert(espl__sketch_has_failed(&sketch));
    (void)espl__sketch_world(&sketch, plants[9].node);
    espl__sketch_touch(&sketch, plants[3].node);
    espl__sketch_touch(&sketch, plants[7].node);
    test_heap_arm(&g.under, 0, false);
}
END_TEST

// A question that asks for nodes on its way and finds no memory for them ends.
START_TEST(climb_without_memory_ends_wherever_it_is)
{
    enum { SIZE = 60 };

    for (size_t n = 1; n < 8; ++n) {
        begin_sketch(0);
        (void)plant_arity(SIZE, 1);
        shift(10);
        ask(12);
        test_heap_arm(&g.under, n, true);
        (void)espl__sketch_world(&sketch, plants[SIZE - 1].node);
        ck_assert(espl__sketch_has_failed(&sketch) || g.under.failures == 0 ||
                  sketch.kept.count < SIZE - 10);
        (void)espl__sketch_world(&sketch, plants[9].node);
        (void)espl__sketch_world(&sketch, plants[SIZE - 2].node);
        test_heap_arm(&g.under, 0, false);
        uproot(&loads[load_numbers[0]].run, 1);
    }
}
END_TEST

// All that are touched are known then; the one above them is what is not found.
START_TEST(node_above_those_that_are_touched_may_not_be_found)
{
    for (uint32_t room = 2; room < 20; ++room) {
        begin_sketch(room);
        (void)plant_arity(60, 1);
        shift(10);
        test_heap_arm(&g.under, 1, true);
        (void)espl__sketch_world(&sketch, plants[10 + room - 1].node);
        ck_assert_uint_eq(sketch.known.count, room + 1);
        ck_assert(espl__sketch_has_failed(&sketch));
        test_heap_arm(&g.under, 0, false);
        uproot(&loads[load_numbers[0]].run, 1);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/kept_worlds");
    TCase *const kept = tcase_create("kept");
    TCase *const memory = tcase_create("memory");

    tcase_add_checked_fixture(kept, set_up, tear_down);
    tcase_add_test(kept, random_edits_between_many_questions);
    tcase_add_test(kept, random_touches_of_wide_and_deep_hierarchies);
    tcase_add_test(kept, what_is_not_below_a_touched_node_takes_no_step);
    tcase_add_test(kept, what_hangs_below_an_unchanged_node_goes_with_it);
    tcase_add_loop_test(kept, chains_hung_node_by_node_take_few_steps, 0, 2);
    tcase_add_loop_test(kept, touches_along_a_chain_forget_what_hangs_below, 0, 2);
    suite_add_tcase(suite, kept);

    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_add_loop_test(memory, worlds_that_cannot_be_kept_are_right, 0, 2);
    tcase_add_test(memory, touch_without_memory_fails);
    tcase_add_test(memory, climb_without_memory_ends_wherever_it_is);
    tcase_add_test(memory, node_above_those_that_are_touched_may_not_be_found);
    suite_add_tcase(suite, memory);
    return suite;
}

RUN_SUITE(make_suite)
