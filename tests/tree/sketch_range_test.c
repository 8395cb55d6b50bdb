// SPDX-License-Identifier: MIT
// Worlds of a sketch that may leave the range of floats between edits: what the bound lets pass, and
// what is found edit by edit.
#include "lib/math/range.h"
#include "tests/tree/laid_plants.h"
#include "tests/tree/plant_edits.h"

// --- Growth ---

START_TEST(growth_is_no_less_than_the_logarithm_and_little_more)
{
    for (int exponent = 0; exponent < FLT_MAX_EXP; ++exponent) {
        ck_assert(espl__growth_by(ldexpf(1, exponent)) == exponent);
        ck_assert(espl__growth_by(-ldexpf(1, exponent)) == exponent);
        ck_assert(espl__growth_by(ldexpf(1, -exponent)) == 0);
    }
    for (uint32_t i = 0; i < 300000; ++i) {
        const float near = i % 3 == 0 ? 1 : i % 3 == 1 ? 1.41421356f : 2;
        const float factor = i % 2 == 0 ? test_between(&random_state, 1, 2)
                                        : near + test_between(&random_state, -1e-4f, 1e-4f);
        const float large = ldexpf(factor, (int)below(100));
        const double logarithm = log2((double)large), growth = espl__growth_by(large);

        ck_assert(growth >= logarithm - 1e-12 || growth == 0);
        ck_assert(growth <= logarithm + 0.03 || growth == 0);
        ck_assert_int_eq(growth == 0, large <= 1);
    }
}
END_TEST

START_TEST(widest_axis_of_a_stretch_counts)
{
    const float stretch[][3] = {{1, -8, 2}, {8, 0, 8}, {0.5f, 0.25f, -8}};

    for (int i = 0; i < 3; ++i) {
        ck_assert(espl__growth_of_stretch(stretch[i]) == 3);
    }
}
END_TEST

// --- The bound ---

// Large, and in two rounds of three so large that a few of them overflow.
static espl_pose wild_pose(uint32_t round)
{
    const int most = round % 3 == 0 ? 4 : 40;
    espl_pose pose = espl__pose_identity();

    pose.scale = ldexpf(test_between(&random_state, 0.6f, 1), (int)below((uint32_t)most));
    for (int i = 0; i < 3; ++i) {
        pose.position[i] = ldexpf(test_between(&random_state, -1, 1), (int)below(60));
    }
    return pose;
}

static bool all_worlds_are_finite(void)
{
    for (uint32_t node = 0; node < plant_count; ++node) {
        const espl_pose world = plain_world(node);

        if (!plants[node].is_dead && !espl__pose_is_finite(&world)) {
            return false;
        }
    }
    return true;
}

// A placement with the same flags; kept parts are as wild as the rest.
static espl__placement wild_placement(const espl__placement *of, uint32_t round)
{
    espl__placement placement = *of;
    const espl_pose kept = wild_pose(round);

    placement.local = espl__placement_copies(of) ? of->local : wild_pose(round);
    placement.kept = espl__kept_of(&kept, of->kept.flags);
    return placement;
}

static uint32_t plant_wild(uint32_t round)
{
    uint32_t parent[8];
    uint8_t inherit[8];

    grove_random_parents(parent, 8, 4, &random_state);
    grove_random_inherit(inherit, 8, 3, &random_state);
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent,
                                                       .size = 8,
                                                       .inherit = round % 4 < 2 ? inherit : NULL,
                                                       .has_extras = round % 2 == 0});

    for (uint32_t rank = 0; rank < 8; ++rank) {
        const uint32_t slot = grove_slot(&g, run, rank);
        const espl__placement before = espl__slot_placement(&g.forest, slot);
        const espl__placement placement = wild_placement(&before, round);

        espl__slot_place(&g.forest, slot, &placement);
    }
    return run;
}

static void edit_wildly(uint32_t round)
{
    const uint32_t node = any_living();

    if (below(3) == 0) {
        plants[node].placement = wild_placement(&plants[node].placement, round);
        tell_placement(node);
    } else if (below(4) == 0) {
        clone_one();
    } else {
        move_one();
    }
}

START_TEST(tame_sketch_never_had_a_world_that_is_not_finite)
{
    size_t tame = 0, wild = 0;

    for (uint32_t round = 0; round < 1000; ++round) {
        const uint32_t run = plant_wild(round);
        bool is_finite = grove_propagate(&g.forest, run, 0);

        begin_sketch(8);
        (void)load(run);
        for (uint32_t edits = 0; edits < 12; ++edits) {
            edit_wildly(round);
            is_finite = is_finite && all_worlds_are_finite();
        }
        const bool is_tame = espl__sketch_is_tame(&sketch, load_numbers, load_count);

        ck_assert(is_finite || !is_tame);
        tame += is_tame;
        wild += !is_finite;
        uproot(&run, 1);
    }
    ck_assert_uint_gt(tame, 100);
    ck_assert_uint_gt(wild, 100);
}
END_TEST

START_TEST(ordinary_hierarchy_is_tame_however_large)
{
    uint32_t parent[GROVE_LIMIT];

    for (uint32_t rank = 1; rank < GROVE_LIMIT; ++rank) {
        parent[rank] = rank - 1;
    }
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = GROVE_LIMIT});
    for (uint32_t rank = 0; rank < GROVE_LIMIT; ++rank) {
        g.forest.local[grove_slot(&g, run, rank)].scale = rank % 2 == 0 ? 1.0f : -0.5f;
    }
    begin_sketch(GROVE_LIMIT);
    (void)tell_load(run);
    ck_assert(espl__sketch_is_tame(&sketch, load_numbers, load_count));

    // A value that was written counts even when it is written over, until the sketch is cleared.
    for (uint32_t i = 0; i < 2; ++i) {
        espl__placement placement = espl__placement_identity();
        float *const y = i == 0 ? &placement.local.position[1] : &placement.kept.pose.position[1];

        placement.kept.flags = i == 0 ? 0 : ESPL_KEEP_Y;
        ck_assert(espl__sketch_reserve_written(&sketch, 2));
        *y = FLT_MAX / 2;
        espl__sketch_write(&sketch, grove_slot(&g, run, 5), &placement);
        *y = 0;
        espl__sketch_write(&sketch, grove_slot(&g, run, 5), &placement);
        ck_assert(!espl__sketch_is_tame(&sketch, load_numbers, load_count));
        espl__sketch_clear(&sketch);
        load_count = 0;
        (void)tell_load(run);
        ck_assert(espl__sketch_is_tame(&sketch, load_numbers, load_count));
    }
}
END_TEST

// A chain of copies of what was written once reaches as far as all of them do.
START_TEST(each_copy_of_what_was_written_counts)
{
    const uint32_t alone = ESPL__NO_SLOT;

    for (uint32_t copies = 0; copies < 3; ++copies) {
        begin_sketch(3);
        (void)load(grove_plant(&g, &(grove_plan){.parent = &alone, .size = 1}));
        plants[0].placement = espl__placement_identity();
        plants[0].placement.local.scale = 0x1p60f;
        plants[0].placement.local.position[0] = 0x1p10f;
        tell_placement(0);
        for (uint32_t i = 0; i < copies; ++i) {
            const uint32_t node = make_node(plants[0].node, &plants[0].placement, 0);

            link_one(add_plant(node, &plants[0].placement, false), i, 0);
        }
        ck_assert_int_eq(espl__sketch_is_tame(&sketch, load_numbers, load_count), copies == 0);
        ck_assert_int_eq(espl__sketch_lay_out(&sketch, load_numbers, load_count), copies < 2);
    }
}
END_TEST

// What never had a child ends every chain that it is in: one of a thousand counts.
START_TEST(leaves_count_once_and_parents_each)
{
    enum { LEAVES = 1000 };
    uint32_t parent[LEAVES + 1] = {ESPL__NO_SLOT};

    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = LEAVES + 1});
    for (uint32_t rank = 0; rank <= LEAVES; ++rank) {
        g.forest.local[grove_slot(&g, run, rank)].scale = 1.5f;
    }
    ck_assert(espl__propagate_at(&g.forest, &g.forest.crew, run, 0) &&
              espl__propagate_below(&g.forest, &g.forest.crew, run, 0));
    begin_sketch(4);
    (void)load(run);
    ck_assert(espl__sketch_is_tame(&sketch, load_numbers, load_count));

    // Written and made ones too.
    for (uint32_t i = 1; i <= LEAVES / 2; ++i) {
        plants[i].placement.local.position[1] = 3;
        tell_placement(i);
    }
    for (uint32_t i = 0; i < 20; ++i) {
        const uint32_t node = make_node(ESPL__NO_SLOT, &plants[1].placement, 0);

        link_one(add_plant(node, &plants[1].placement, false), 0, 0);
    }
    ck_assert(espl__sketch_is_tame(&sketch, load_numbers, load_count));
    layout_agrees();

    // Once they were a chain, though they are one no longer.
    for (uint32_t i = 2; i <= 250; ++i) {
        move_to(i, i - 1, 0);
    }
    for (uint32_t i = 2; i <= 250; ++i) {
        move_to(i, 0, 0);
    }
    ck_assert(!espl__sketch_is_tame(&sketch, load_numbers, load_count));
}
END_TEST

// At each moment a node has one placement: the worst that it ever had counts.
START_TEST(writes_of_one_node_count_once)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0};

    begin_sketch(4);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 2}));
    for (uint32_t i = 0; i < 500; ++i) {
        plants[0].placement.local.scale = 0x1p20f;
        plants[0].placement.local.position[0] = (float)i;
        tell_placement(0);
    }
    ck_assert(espl__sketch_is_tame(&sketch, load_numbers, load_count));

    // Also where it was made with it.
    espl__placement placement = espl__placement_identity();
    placement.local.scale = 0x1p100f;
    const uint32_t made = add_plant(make_node(ESPL__NO_SLOT, &placement, 0), &placement, false);

    ck_assert(!espl__sketch_is_tame(&sketch, load_numbers, load_count));
    plants[made].placement.local.scale = 1;
    tell_placement(made);
    ck_assert(!espl__sketch_is_tame(&sketch, load_numbers, load_count));
}
END_TEST

START_TEST(kept_scale_counts_for_what_hangs_below)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const float scales[] = {0x1p50f, 0x1p100f};

    for (uint32_t i = 0; i < 2; ++i) {
        begin_sketch(3);
        (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3}));
        for (uint32_t node = 0; node < 3; ++node) {
            plants[node].placement = espl__placement_identity();
            tell_placement(node);
        }
        plants[1].placement.kept.flags = ESPL_KEEP_SCALE;
        plants[1].placement.kept.pose.scale = scales[i];
        tell_placement(1);
        plants[2].placement.local.position[0] = 0x1p40f;
        tell_placement(2);
        worlds_agree();
        ck_assert_int_eq(espl__sketch_is_tame(&sketch, load_numbers, load_count), i == 0);
        ck_assert_int_eq(espl__sketch_lay_out(&sketch, load_numbers, load_count), i == 0);
    }
}
END_TEST

// Scales that were worked out are a little more than one; a stretch goes no further than to children;
// and up to eighteen powers more than these chains have there is room for.
START_TEST(long_chain_of_factors_near_one_is_tame)
{
    const float scales[] = {1.0000001f, 1.05f, 1.1f};

    for (uint32_t i = 0; i < 6; ++i) {
        uint32_t parent[GROVE_LIMIT] = {ESPL__NO_SLOT};

        for (uint32_t rank = 1; rank < GROVE_LIMIT; ++rank) {
            parent[rank] = rank - 1;
        }
        const uint32_t run = grove_plant(
            &g, &(grove_plan){.parent = parent, .size = GROVE_LIMIT, .has_extras = true});
        espl__placement placement = espl__placement_identity();

        placement.local.scale = scales[i % 3];
        placement.extra.stretch[i % 3] = 1000;
        for (uint32_t rank = 0; rank < GROVE_LIMIT; ++rank) {
            espl__slot_place(&g.forest, grove_slot(&g, run, rank), &placement);
        }
        begin_sketch(GROVE_LIMIT);
        (void)load(run);
        for (uint32_t rank = 0; rank < GROVE_LIMIT && i < 3; ++rank) {
            tell_placement(rank);
        }
        // 1032 times 0.07, and 0.14, powers.
        ck_assert_int_eq(espl__sketch_is_tame(&sketch, load_numbers, load_count), i % 3 < 2);
        uproot(&run, 1);
    }
}
END_TEST

// A root, parents side by side, and a child of each.
START_TEST(parents_count_once_a_level_and_for_each_that_moves)
{
    enum { PARENTS = 100, SIZE = 2 * PARENTS + 1 };

    for (uint32_t moved = 0; moved < 14; ++moved) {
        uint32_t parent[SIZE] = {ESPL__NO_SLOT};
        espl__placement placement = espl__placement_identity();

        for (uint32_t rank = 1; rank < SIZE; ++rank) {
            parent[rank] = rank <= PARENTS ? 0 : rank - PARENTS;
        }
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = SIZE});

        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            placement.local.scale = rank != 0 && rank <= PARENTS ? 0x1p10f : 1;
            espl__slot_place(&g.forest, grove_slot(&g, run, rank), &placement);
        }
        begin_sketch(0);
        (void)load(run);
        for (uint32_t i = 0; i < moved; ++i) {
            move_to(1 + i, 0, below(PARENTS));
            move_to(SIZE - 1 - i, 0, 0); // one that has no children counts once
        }
        ck_assert_int_eq(espl__sketch_is_tame(&sketch, load_numbers, load_count), moved < 10);
        uproot(&run, 1);
    }
}
END_TEST

// --- Edit by edit ---

static void edit_or_take_out(uint32_t round)
{
    if (below(5) == 0) {
        splice_one();
    } else {
        edit_wildly(round);
    }
}

START_TEST(edit_that_makes_a_world_overflow_is_told)
{
    size_t finite = 0, wild = 0;

    for (uint32_t round = 0; round < test_scaled(1000); ++round) {
        const uint32_t run = plant_wild(round);
        bool is_finite = grove_propagate(&g.forest, run, 0);

        begin_sketch(round % 2 == 0 ? 0 : 16);
        (void)load(run);
        for (uint32_t edits = 0; edits < 30 && is_finite; ++edits) {
            espl__sketch_watch(&sketch);
            edit_or_take_out(round);
            is_finite = all_worlds_are_finite();
            ck_assert_int_eq(espl__sketch_stayed_finite(&sketch), is_finite);
            finite += is_finite;
            wild += !is_finite;
        }
        if (is_finite) {
            layout_agrees();
        }
        uproot(&run, 1);
    }
    ck_assert_uint_gt(finite, test_scaled(1000));
    ck_assert_uint_gt(wild, test_scaled(1000) / 10);
}
END_TEST

START_TEST(write_that_is_taken_back_leaves_what_was_there)
{
    size_t taken_back = 0;

    for (uint32_t round = 0; round < test_scaled(300); ++round) {
        const uint32_t run = plant_wild(round);
        const bool is_finite = grove_propagate(&g.forest, run, 0);

        begin_sketch(round % 2 == 0 ? 0 : 16);
        (void)load(run);
        for (uint32_t edits = 0; edits < 30 && is_finite; ++edits) {
            const uint32_t node = any_living();
            const espl__placement before = plants[node].placement;

            espl__sketch_watch(&sketch);
            plants[node].placement = wild_placement(&before, round);
            tell_placement(node);
            if (!espl__sketch_stayed_finite(&sketch)) {
                plants[node].placement = before;
                espl__sketch_take_back(&sketch);
                ck_assert(espl__sketch_stayed_finite(&sketch));
                worlds_agree();
                taken_back += 1;
            }
        }
        ck_assert(!is_finite || espl__sketch_lay_out(&sketch, load_numbers, load_count));
        uproot(&run, 1);
    }
    ck_assert_uint_gt(taken_back, test_scaled(300) / 4);
}
END_TEST

// However large the hierarchy is: an edit costs what hangs below it, and asks for no node of that.
START_TEST(edits_are_looked_at_where_they_change_worlds)
{
    enum { SIZE = 1000, EDITS = 30, TOP = 4 };
    const espl__placement placement = espl__placement_identity();
    uint32_t parent[GROVE_LIMIT] = {ESPL__NO_SLOT};

    for (uint32_t rank = 1; rank < SIZE; ++rank) {
        parent[rank] = (rank - 1) / 3;
    }
    begin_sketch(0);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = SIZE}));
    espl__sketch_watch(&sketch);
    for (uint32_t i = 0; i < EDITS; ++i) {
        const uint32_t node = make_node(ESPL__NO_SLOT, &placement, 0);

        link_one(add_plant(node, &placement, false), i, 0);
        ck_assert(espl__sketch_stayed_finite(&sketch));
    }
    ck_assert_uint_eq(sketch.looked, EDITS);

    // Four and all below it: 4, 13 to 15, 40 to 48, ... and what was hung there.
    uint32_t below_it = 0;
    const uint32_t known = sketch.known.count;

    for (uint32_t number = 0; number < plant_count; ++number) {
        below_it += is_at_or_below(number, TOP);
    }
    tell_placement(TOP);
    tell_placement(TOP);
    ck_assert(espl__sketch_stayed_finite(&sketch));
    ck_assert_uint_eq(sketch.looked, EDITS + below_it);
    ck_assert_uint_le(sketch.known.count, known + 1);
    ck_assert(espl__sketch_stayed_finite(&sketch));
    ck_assert_uint_eq(sketch.looked, EDITS + below_it);
}
END_TEST

START_TEST(look_without_memory_fails)
{
    uint32_t failures = 0;

    for (size_t n = 1; n < 8; ++n) {
        uint32_t parent[60] = {ESPL__NO_SLOT};

        for (uint32_t rank = 1; rank < 60; ++rank) {
            parent[rank] = rank - 1;
        }
        begin_sketch(0);
        (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 60}));
        (void)node_of(3);
        ck_assert(espl__sketch_reserve_written(&sketch, 1));
        espl__sketch_watch(&sketch);
        test_heap_arm(&g.under, n, _i == 1);
        tell_placement(3);
        const bool is_finite = espl__sketch_stayed_finite(&sketch);

        // Where a world is not kept it is worked out again.
        ck_assert(espl__sketch_has_failed(&sketch) ? g.under.failures != 0 : is_finite);
        failures += espl__sketch_has_failed(&sketch);
        test_heap_arm(&g.under, 0, false);
        uproot(&loads[load_numbers[0]].run, 1);
    }
    ck_assert_uint_gt(failures, 2);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/sketch_range");
    TCase *const growth = tcase_create("growth");
    TCase *const bounds = tcase_create("bounds");
    TCase *const edits = tcase_create("edits");

    tcase_add_checked_fixture(growth, set_up, tear_down);
    tcase_add_test(growth, growth_is_no_less_than_the_logarithm_and_little_more);
    tcase_add_test(growth, widest_axis_of_a_stretch_counts);
    suite_add_tcase(suite, growth);

    tcase_add_checked_fixture(bounds, set_up, tear_down);
    tcase_add_test(bounds, tame_sketch_never_had_a_world_that_is_not_finite);
    tcase_add_test(bounds, leaves_count_once_and_parents_each);
    tcase_add_test(bounds, writes_of_one_node_count_once);
    tcase_add_test(bounds, each_copy_of_what_was_written_counts);
    tcase_add_test(bounds, kept_scale_counts_for_what_hangs_below);
    tcase_add_test(bounds, ordinary_hierarchy_is_tame_however_large);
    tcase_add_test(bounds, long_chain_of_factors_near_one_is_tame);
    tcase_add_test(bounds, parents_count_once_a_level_and_for_each_that_moves);
    suite_add_tcase(suite, bounds);

    tcase_add_checked_fixture(edits, set_up, tear_down);
    tcase_add_test(edits, edit_that_makes_a_world_overflow_is_told);
    tcase_add_test(edits, write_that_is_taken_back_leaves_what_was_there);
    tcase_add_test(edits, edits_are_looked_at_where_they_change_worlds);
    tcase_add_loop_test(edits, look_without_memory_fails, 0, 2);
    suite_add_tcase(suite, edits);
    return suite;
}

RUN_SUITE(make_suite)
