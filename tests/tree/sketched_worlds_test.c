// SPDX-License-Identifier: MIT
// Worlds of a sketch, at any moment of the editing and laid out.
#include "tests/tree/laid_plants.h"
#include "tests/tree/plant_edits.h"

#include <float.h>
#include <math.h>

// --- At every moment of the editing ---

START_TEST(worlds_are_those_of_a_full_recomputation_after_every_edit)
{
    const size_t rounds = test_scaled(150);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t run[2];

        plant_round(round, run, 2);
        begin_sketch(48);
        (void)load(run[0]);
        (void)load(run[1]);
        for (uint32_t edits = 0; edits < 40; ++edits) {
            edit_one();
            if (round % 2 == 0) {
                worlds_agree();
            } else {
                // One by itself, so that the others stay unknown.
                const uint32_t number = any_living();
                const espl_pose expected = plain_world(number);
                const espl_pose world = espl__sketch_world(&sketch, plants[number].node);

                ck_assert(grove_same(&expected, &world));
                layout_agrees();
            }
        }
        layout_agrees();
        uproot(run, 2);
    }
}
END_TEST

START_TEST(extra_that_children_see_is_the_next_own_one_above)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2};
    const uint8_t flags[] = {0, ESPL__SLOT_PASS, ESPL__SLOT_PASS, 0};
    const espl__extra plain = espl__extra_default();

    begin_sketch(4);
    (void)load(grove_plant(
        &g, &(grove_plan){.parent = parent, .size = 4, .flags = flags, .has_extras = true}));
    const espl__extra top = espl__sketch_placement(&sketch, plants[0].node).extra;
    const espl__extra seen = espl__sketch_extra(&sketch, plants[2].node);

    ck_assert(!espl__extra_is_default(&top));
    ck_assert_int_eq(memcmp(&seen, &top, sizeof top), 0);
    espl__sketch_unlink(&sketch, plants[1].node);
    const espl__extra alone = espl__sketch_extra(&sketch, plants[2].node);
    ck_assert_int_eq(memcmp(&alone, &plain, sizeof plain), 0);
}
END_TEST

START_TEST(extra_that_a_copy_shows_is_the_next_own_one_above)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2};
    const uint8_t inherit[] = {0, ESPL_COPY_PARENT, ESPL_COPY_PARENT, 0};

    begin_sketch(4);
    (void)load(grove_plant(
        &g, &(grove_plan){.parent = parent, .size = 4, .inherit = inherit, .has_extras = true}));
    worlds_agree();

    // A write of the root is seen through both, and where the lower one stops copying it goes on.
    plants[0].placement.extra = (espl__extra){{4, 5, 6}, 7};
    tell_placement(0);
    worlds_agree();
    ck_assert_uint_eq(espl__sketch_placement(&sketch, plants[2].node).extra.context, 7);
    change_inherit(2, ESPL_KEEP_X);
    plants[0].placement.extra.context = 8;
    tell_placement(0);
    worlds_agree();
    ck_assert_uint_eq(espl__sketch_placement(&sketch, plants[1].node).extra.context, 8);
    ck_assert_uint_eq(espl__sketch_placement(&sketch, plants[2].node).extra.context, 7);
    layout_agrees();
}
END_TEST

// --- What the layout recomputes ---

START_TEST(layout_recomputes_what_hangs_below_a_write_and_no_more)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    for (uint32_t node = 0; node < 6; ++node) {
        const uint32_t expected[] = {6, 3, 2, 1, 1, 1};
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 6});

        begin_sketch(6);
        (void)load(run);
        plants[node].placement.local.position[0] += 1;
        tell_placement(node);
        layout_agrees();
        ck_assert_uint_eq(sketch.changed_count, expected[node]);
        uproot(&run, 1);
    }
}
END_TEST

START_TEST(layout_stops_at_a_node_that_keeps_all_there_is)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 1, 2};
    const uint8_t inherit[] = {0, 0x7f, 0, 0, 0};
    const uint32_t run =
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 5, .inherit = inherit});

    begin_sketch(5);
    (void)load(run);
    plants[0].placement.local.position[0] += 1;
    tell_placement(0);
    layout_agrees();
    ck_assert_uint_eq(sketch.changed_count, 1);
}
END_TEST

START_TEST(stretch_alone_moves_what_hangs_below)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3}));
    plants[1].placement.extra.stretch[1] = 3;
    tell_placement(1);
    ck_assert_uint_ne(node_of(1)->flags & ESPL__NODE_RESTRETCHED, 0);
    layout_agrees();
    // The node itself, which stays, and what hangs below it.
    ck_assert_uint_eq(sketch.changed_count, 2);
    ck_assert_uint_eq(sketch.known.count, 2);
    worlds_agree();
    layout_agrees();
    ck_assert(
        !grove_same(espl__node_world(&sketch, node_of(2)), &g.forest.world[node_of(2)->slot]));
}
END_TEST

// What passes a frame on has the world it had, but shows another stretch: asked for or not, without
// a transform or with the flag to copy its parent.
START_TEST(stretch_alone_goes_through_what_passes_it_on)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1, 2, 3};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_PASS, ESPL__SLOT_PASS, 0};
    const uint8_t inherit[] = {0, 0, ESPL_COPY_PARENT, ESPL_COPY_PARENT, 0};
    const bool copies = _i % 2 == 1;
    const uint32_t known = (uint32_t)_i / 2;

    begin_sketch(known);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent,
                                             .size = 5,
                                             .flags = copies ? NULL : flags,
                                             .inherit = copies ? inherit : NULL}));
    for (uint32_t i = 0; i < known; ++i) {
        (void)node_of(4 - i);
    }
    plants[1].placement.extra.stretch[1] = 3;
    tell_placement(1);
    layout_agrees();
    worlds_agree();
    const espl_pose world = espl__sketch_world(&sketch, plants[4].node);

    ck_assert(!grove_same(&world, &g.forest.world[plants[4].node]));
}
END_TEST

// A whole stretch is computed where one world in it may differ; what counts is what does.
START_TEST(stretches_count_what_differs)
{
    enum { WIDTH = 100 };
    uint32_t parent[2 + WIDTH] = {ESPL__NO_SLOT};
    uint8_t inherit[2 + WIDTH] = {0};

    // Half of the children keep all there is.
    for (uint32_t rank = 2; rank < 2 + WIDTH; ++rank) {
        parent[rank] = 1;
        inherit[rank] = rank % 2 == 0 ? 0x7f : 0;
    }
    begin_sketch(4);
    (void)load(
        grove_plant(&g, &(grove_plan){.parent = parent, .size = 2 + WIDTH, .inherit = inherit}));
    plants[1].placement.local.position[0] += 1;
    tell_placement(1);
    layout_agrees();
    ck_assert_uint_eq(sketch.changed_count, 1 + WIDTH / 2);
    ck_assert_uint_eq(sketch.worlds.count, 1 + WIDTH);
    ck_assert_uint_eq(sketch.pieces.count, 3);
}
END_TEST

// Where nothing in a stretch differs, what hangs below it is not looked at.
START_TEST(stretch_that_keeps_all_there_is_ends_the_walk)
{
    enum { WIDTH = 50 };
    uint32_t parent[2 + 2 * WIDTH] = {ESPL__NO_SLOT};
    uint8_t inherit[2 + 2 * WIDTH] = {0};

    for (uint32_t i = 0; i < WIDTH; ++i) {
        parent[2 + i] = 1;
        parent[2 + WIDTH + i] = 2 + i;
        inherit[2 + i] = 0x7f;
    }
    begin_sketch(4);
    (void)load(grove_plant(
        &g, &(grove_plan){.parent = parent, .size = 2 + 2 * WIDTH, .inherit = inherit}));
    plants[1].placement.local.position[0] += 1;
    tell_placement(1);
    layout_agrees();
    ck_assert_uint_eq(sketch.changed_count, 1);
}
END_TEST

START_TEST(world_that_is_not_finite_is_told_wherever_it_hangs)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    for (uint32_t node = 0; node < 3; ++node) {
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 6});

        begin_sketch(6);
        (void)load(run);
        plants[node].placement.local.scale =
            FLT_MAX; // with the positions below it: past all bounds
        tell_placement(node);
        ck_assert(!espl__sketch_lay_out(&sketch, load_numbers, load_count));
        ck_assert(!espl__sketch_has_failed(&sketch));

        // Mended, it is told no longer.
        plants[node].placement.local.scale = 1;
        espl__sketch_clear(&sketch);
        plant_count = load_count = 0;
        (void)load(run);
        plants[node].placement.local.scale = 1;
        tell_placement(node);
        layout_agrees();
        uproot(&run, 1);
    }
}
END_TEST

// --- Re-basing ---

START_TEST(rebased_local_keeps_the_world_to_rounding)
{
    for (uint32_t i = 0; i < 10000; ++i) {
        const espl_pose parent = grove_random_pose(&random_state);
        const espl_pose world = grove_random_pose(&random_state);
        const float stretch[3] = {0.5f, 2, -1};
        const espl_pose local = espl__rebased(&parent, stretch, &world, &world);
        const espl_pose back = espl__pose_compose(&parent, stretch, &local);

        for (int axis = 0; axis < 3; ++axis) {
            ck_assert_float_eq_tol(back.position[axis], world.position[axis], 2e-5f);
        }
        ck_assert_float_eq_tol(back.scale, world.scale, 1e-6f);
    }
}
END_TEST

START_TEST(rebased_local_that_would_not_be_finite_falls_back)
{
    espl_pose parent = espl__pose_identity(), world = espl__pose_identity();
    const espl_pose identity = espl__pose_identity();
    espl_pose composed = grove_random_pose(&random_state);

    parent.scale = FLT_MIN / 4; // its inverse is past all bounds
    world.position[0] = 1e5f;
    espl_pose local = espl__rebased(&parent, NULL, &world, &composed);
    ck_assert(grove_same(&local, &composed));

    composed.position[1] = HUGE_VALF;
    local = espl__rebased(&parent, NULL, &world, &composed);
    ck_assert(grove_same(&local, &identity));
}
END_TEST

START_TEST(rebased_local_whose_rounding_leaves_the_range_falls_back)
{
    const float stretch[3] = {2.25f, 2.25f, 2.25f};
    const espl_pose identity = espl__pose_identity();
    espl_pose parent = identity, world = identity, composed = identity;

    // The local is finite, and a little too large: what it composes to is not.
    parent.scale = 96.25f;
    world.position[0] = FLT_MAX;
    composed.position[0] = 5;
    (void)espl__pose_relative(&composed, &parent, stretch, &world, &composed);
    const espl_pose back = espl__pose_compose(&parent, stretch, &composed);
    ck_assert(espl__pose_is_finite(&composed) && !espl__pose_is_finite(&back));

    espl_pose local = identity;
    ck_assert(!espl__rebased_exactly(&local, &parent, stretch, &world));
    ck_assert(grove_same(&local, &identity));
    local = espl__rebased(&parent, stretch, &world, &composed);
    ck_assert(grove_same(&local, &identity)); // nor is the local as it was of any use
    composed.position[0] = 5;
    local = espl__rebased(&parent, stretch, &world, &composed);
    ck_assert(grove_same(&local, &composed));
}
END_TEST

// Below a scale of zero nothing can be told from the world.
START_TEST(rebased_local_is_never_infinite_below_zero)
{
    const float stretch[3] = {1, 1, 1};
    const espl_pose identity = espl__pose_identity();
    espl_pose parent = identity, composed = identity, local;

    parent.scale = 0;
    composed.position[2] = HUGE_VALF;
    local = espl__rebased(&parent, stretch, &parent, &composed);
    ck_assert(grove_same(&local, &identity));
    composed.position[2] = 7;
    local = espl__rebased(&parent, stretch, &parent, &composed);
    ck_assert_float_eq(local.position[2], 7);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/sketched_worlds");
    TCase *const worlds = tcase_create("worlds");
    TCase *const rebasing = tcase_create("re-basing");

    tcase_add_checked_fixture(worlds, set_up, tear_down);
    tcase_add_test(worlds, worlds_are_those_of_a_full_recomputation_after_every_edit);
    tcase_add_test(worlds, extra_that_children_see_is_the_next_own_one_above);
    tcase_add_test(worlds, extra_that_a_copy_shows_is_the_next_own_one_above);
    tcase_add_test(worlds, layout_stops_at_a_node_that_keeps_all_there_is);
    tcase_add_test(worlds, layout_recomputes_what_hangs_below_a_write_and_no_more);
    tcase_add_test(worlds, stretch_alone_moves_what_hangs_below);
    tcase_add_loop_test(worlds, stretch_alone_goes_through_what_passes_it_on, 0, 10);
    tcase_add_test(worlds, stretches_count_what_differs);
    tcase_add_test(worlds, stretch_that_keeps_all_there_is_ends_the_walk);
    tcase_add_test(worlds, world_that_is_not_finite_is_told_wherever_it_hangs);
    suite_add_tcase(suite, worlds);

    tcase_add_checked_fixture(rebasing, set_up, tear_down);
    tcase_add_test(rebasing, rebased_local_keeps_the_world_to_rounding);
    tcase_add_test(rebasing, rebased_local_that_would_not_be_finite_falls_back);
    tcase_add_test(rebasing, rebased_local_whose_rounding_leaves_the_range_falls_back);
    tcase_add_test(rebasing, rebased_local_is_never_infinite_below_zero);
    suite_add_tcase(suite, rebasing);
    return suite;
}

RUN_SUITE(make_suite)
