// SPDX-License-Identifier: MIT
// The patch stage by itself: the forest behind it against a naive rebuild of every hierarchy that
// is laid out, for any number of workers; and what becomes of slots, ranges and side arrays by
// hand.
#include "tests/commands/rebuilt.h"
#include "tests/runner.h"

// --- Random ---

START_TEST(forests_are_naive_rebuilds_of_the_plans)
{
    expectation *const x = expectation_make();
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }

    for (uint64_t seed = 1; seed <= test_scaled(25) + 3; ++seed) {
        yard_begin(&y, seed * 8 + (uint64_t)_i);
        yard_plant_all(&y);
        // What one patch leaves is where the next begins: holes, room to spare, order lost.
        for (uint32_t round = 0; round < 4; ++round) {
            yard_record(&y, 1 + test_below(&y.random, round % 2 == 0 ? 60 : 15), 5);
            bed_run_on(&y.bed, stage_workers[test_below(&y.random, STAGE_WORKERS)], TEST_SHUFFLED);
            play_by_hand(&y, x);
        }
        yard_end(&y);
    }
    ck_assert_uint_gt(x->on_stack, 0);
    ck_assert_uint_gt(x->in_scratch, 0);
    ck_assert_uint_gt(x->moved, 0);
    ck_assert_uint_gt(x->in_place, 0);
    ck_assert_uint_gt(x->holes_taken, 0);
    ck_assert_uint_gt(x->sides, 0);
    free(x);
}
END_TEST

START_TEST(any_number_of_workers_leaves_the_same_world)
{
    const uint32_t workers[] = {1, 2, 3, 7};
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};
    expectation *const x = expectation_make();
    static yard y;

    if (test_lacks_room(YARD_LIMIT, "large hierarchies")) {
        free(x);
        return;
    }
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        uint64_t hash = 0;

        for (uint32_t i = 0; i < 12; ++i) {
            yard_begin(&y, seed);
            yard_plant_all(&y);
            for (uint32_t round = 0; round < 2; ++round) {
                yard_record(&y, 100, 5);
                bed_run_on(&y.bed, workers[i % 4], manners[i / 4]);
                play_by_hand(&y, x);
            }
            ck_assert(i == 0 || hash == test_physical_hash(y.world));
            hash = test_physical_hash(y.world);
            yard_end(&y);
        }
    }
    free(x);
}
END_TEST

// --- By hand ---

// A root with leaves, in order, in a run that they fill.
static void plant_star(yard *y, uint32_t leaves)
{
    y->entities[y->count++] = test_solo(y->world);
    for (uint32_t i = 0; i < leaves; ++i) {
        const espl_entity leaf = test_solo_at(y->world, (float)i, 0, 0);

        attach(y->world, leaf, y->entities[0], 0);
        y->entities[y->count++] = leaf;
    }
    ck_assert_int_eq(espl_compact(y->world), ESPL_OK);
}

static const espl__run *run_of(const yard *y, uint32_t number)
{
    return espl__run_of(&y->world->forest, slot_of(y->world, y->entities[number]));
}

// The first leaf goes: all others move by a rank, and none to another slot. One word more than the
// stack has room for stands in scratch.
START_TEST(drafts_stand_on_the_stack_or_in_scratch_all_the_same)
{
    const uint32_t most = (ESPL__DRAFT_WORDS - 1) / 4;
    expectation *const x = expectation_make();
    static yard y;

    if (test_lacks_room(most + 10, "drafts as large as the stack's")) {
        free(x);
        return;
    }
    for (uint32_t leaves = most - 1; leaves < most + 4; ++leaves) {
        yard_begin(&y, 1);
        plant_star(&y, leaves);
        x->on_stack = x->in_scratch = 0;
        ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[1]), ESPL_OK);
        play_by_hand(&y, x);
        ck_assert_uint_eq(x->on_stack, leaves - 1 <= most ? 1 : 0);
        ck_assert_uint_eq(x->in_scratch, leaves - 1 <= most ? 0 : 1);
        ck_assert_uint_eq(run_of(&y, 0)->size, leaves);
        ck_assert_uint_eq(run_of(&y, 0)->used, leaves + 1);
        ck_assert_uint_eq(run_of(&y, 0)->flags & ESPL__RUN_IN_ORDER, 0);
        yard_end(&y);
    }
    free(x);
}
END_TEST

START_TEST(last_leaf_goes_and_the_run_stays_in_order)
{
    expectation *const x = expectation_make();
    static yard y;

    yard_begin(&y, 1);
    plant_star(&y, 20);
    const uint32_t left = slot_of(y.world, y.entities[20]), base = run_of(&y, 0)->base;

    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[20]), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_ne(run_of(&y, 0)->flags & ESPL__RUN_IN_ORDER, 0);
    ck_assert_uint_eq(y.world->forest.order[base + 20], left);

    // The next one that comes takes the slot that was left.
    const espl_creation_def def = {.parent = y.entities[0]};
    ck_assert_int_eq(espl_record_create(yard_lane(&y, 0), 0, &def, 1, NULL), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_eq(x->holes_taken, 1);
    ck_assert_uint_eq(run_of(&y, 0)->base, base);
    ck_assert_uint_eq(run_of(&y, 0)->size, 21);
    ck_assert_uint_eq(y.world->forest.rank[left], 20);
    ck_assert_uint_ne(run_of(&y, 0)->flags & ESPL__RUN_GENERAL, 0); // it has no placement
    yard_end(&y);
    free(x);
}
END_TEST

START_TEST(a_run_that_is_full_moves_and_gives_its_range_back)
{
    expectation *const x = expectation_make();
    static yard y;

    yard_begin(&y, 1);
    plant_star(&y, 20);
    const uint32_t base = run_of(&y, 0)->base;
    const espl_creation_def def = {.parent = y.entities[0]};

    ck_assert_uint_eq(run_of(&y, 0)->capacity, 21);
    ck_assert_int_eq(espl_record_create(yard_lane(&y, 0), 0, &def, 1, NULL), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_ne(run_of(&y, 0)->base, base);
    ck_assert_uint_eq(run_of(&y, 0)->capacity, 22 + 22 / 2);
    ck_assert_uint_eq(run_of(&y, 0)->used, 22);
    ck_assert_uint_eq(x->moved, 1);
    ck_assert_uint_ge(y.world->forest.free_slots, 21);
    yard_end(&y);
    free(x);
}
END_TEST

START_TEST(a_run_that_shrinks_to_a_small_part_moves_too)
{
    expectation *const x = expectation_make();
    static yard y;

    yard_begin(&y, 1);
    plant_star(&y, 49);
    for (uint32_t i = 1; i < 42; ++i) {
        ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[i]), ESPL_OK);
    }
    play_by_hand(&y, x);
    ck_assert_uint_eq(x->moved, 1);
    ck_assert_uint_eq(run_of(&y, 0)->size, 9);
    ck_assert_uint_eq(run_of(&y, 0)->capacity, 9 + 9 / 2);
    ck_assert_uint_ne(run_of(&y, 0)->flags & ESPL__RUN_IN_ORDER, 0);
    yard_end(&y);
    free(x);
}
END_TEST

START_TEST(side_arrays_come_and_go_with_who_needs_them)
{
    espl_transform stretched = espl_transform_identity();
    expectation *const x = expectation_make();
    static yard y;

    stretched.stretch[0] = 3;
    yard_begin(&y, 1);
    plant_star(&y, 20);
    const espl_entity other = y.entities[y.count++] = test_solo(y.world);

    ck_assert_int_eq(espl_set_local(y.world, other, &stretched), ESPL_OK);
    ck_assert_ptr_null(run_of(&y, 0)->side);
    ck_assert_ptr_nonnull(run_of(&y, 21)->side);
    ck_assert_int_eq(espl_record_attach(yard_lane(&y, 0), 0, other, y.entities[7], NULL), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_eq(x->released_count, 1);
    ck_assert_ptr_nonnull(run_of(&y, 0)->side);
    ck_assert_ptr_null(run_of(&y, 0)->side->kept);
    ck_assert_uint_eq(run_of(&y, 0)->side->extra_count, 1);

    const espl_attach_options options = {.inherit = ESPL_KEEP_X};
    ck_assert_int_eq(
        espl_record_attach(yard_lane(&y, 0), 0, y.entities[8], y.entities[9], &options), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_eq(run_of(&y, 0)->side->kept_count, 1);

    ck_assert_int_eq(espl_record_detach(yard_lane(&y, 0), 0, other, ESPL_STAY_LOCAL), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[8]), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_ptr_null(run_of(&y, 0)->side);
    ck_assert_ptr_nonnull(run_of(&y, 21)->side);
    ck_assert_uint_eq(run_of(&y, 0)->flags & ESPL__RUN_GENERAL, 0);
    yard_end(&y);
    free(x);
}
END_TEST

START_TEST(a_node_that_passes_its_frame_on_makes_a_run_general_while_it_is_there)
{
    expectation *const x = expectation_make();
    static yard y;

    yard_begin(&y, 1);
    plant_star(&y, 20);
    ck_assert_int_eq(espl_record_remove(yard_lane(&y, 0), 0, y.entities[3], ESPL_PLACEMENT),
                     ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_ne(run_of(&y, 0)->flags & ESPL__RUN_GENERAL, 0);
    ck_assert_uint_ne(run_of(&y, 0)->flags & ESPL__RUN_IN_ORDER, 0);

    ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[3]), ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_eq(run_of(&y, 0)->flags & ESPL__RUN_GENERAL, 0);
    yard_end(&y);
    free(x);
}
END_TEST

START_TEST(hierarchies_that_exchange_members_do_so_without_a_new_range)
{
    expectation *const x = expectation_make();
    static yard y;

    yard_begin(&y, 1);
    plant_star(&y, 10);
    const uint32_t second = y.count;
    const yard_plan plan = {.size = 11, .reach = 1};

    (void)yard_plant(&y, &plan);
    ck_assert_int_eq(espl_compact(y.world), ESPL_OK);
    for (uint32_t i = 5; i < 8; ++i) {
        ck_assert_int_eq(espl_record_destroy(yard_lane(&y, 0), 0, y.entities[i]), ESPL_OK);
    }
    play_by_hand(&y, x);
    // The end of the chain takes the three slots; the chain's own slots are left.
    ck_assert_int_eq(
        espl_record_attach(yard_lane(&y, 0), 0, y.entities[second + 8], y.entities[2], NULL),
        ESPL_OK);
    play_by_hand(&y, x);
    ck_assert_uint_eq(x->holes_taken, 3);
    ck_assert_uint_eq(x->moved, 0);
    ck_assert_uint_eq(run_of(&y, 0)->size, 11);
    ck_assert_uint_eq(run_of(&y, second)->size, 8);
    ck_assert_uint_eq(run_of(&y, second)->used, 11);

    // And one comes back while another goes there.
    ck_assert_int_eq(
        espl_record_attach(yard_lane(&y, 0), 0, y.entities[second + 9], y.entities[second], NULL),
        ESPL_OK);
    ck_assert_int_eq(
        espl_record_attach(yard_lane(&y, 0), 0, y.entities[second + 3], y.entities[9], NULL),
        ESPL_OK);
    play_by_hand(&y, x);
    yard_end(&y);
    free(x);
}
END_TEST

START_TEST(a_lost_job_is_done_all_the_same)
{
    expectation *const x = expectation_make();
    static yard y;

    if (test_lacks_room(400, "jobs of the patch stage")) {
        free(x);
        return;
    }
    yard_begin(&y, 3);
    for (uint32_t i = 0; i < 380; i += 2) {
        y.entities[y.count++] = test_solo(y.world);
        y.entities[y.count++] = test_solo(y.world);
        ck_assert_int_eq(
            espl_record_attach(yard_lane(&y, 0), 0, y.entities[i], y.entities[i + 1], NULL),
            ESPL_OK);
    }
    yard_open(&y);
    ck_assert_int_eq(yard_prepare(&y), ESPL_OK);
    espl__stage_change(y.playback);
    expect_all(x, &y);
    bed_run_on(&y.bed, 2, TEST_SKIPS_ONE);
    espl__stage_patch(y.playback);
    forest_agrees(x, &y);
    free(x->hierarchies);
    yard_close(&y, true);
    ck_assert_uint_eq(y.bed.test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    test_world_is_valid(y.world);
    yard_end(&y);
    free(x);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("patch_stage");
    TCase *const random = tcase_create("random");
    TCase *const by_hand = tcase_create("by hand");

    tcase_set_timeout(random, 120);
    tcase_add_loop_test(random, forests_are_naive_rebuilds_of_the_plans, 0, 4);
    tcase_add_test(random, any_number_of_workers_leaves_the_same_world);
    suite_add_tcase(suite, random);

    tcase_set_timeout(by_hand, 60);
    tcase_add_test(by_hand, drafts_stand_on_the_stack_or_in_scratch_all_the_same);
    tcase_add_test(by_hand, last_leaf_goes_and_the_run_stays_in_order);
    tcase_add_test(by_hand, a_run_that_is_full_moves_and_gives_its_range_back);
    tcase_add_test(by_hand, a_run_that_shrinks_to_a_small_part_moves_too);
    tcase_add_test(by_hand, side_arrays_come_and_go_with_who_needs_them);
    tcase_add_test(by_hand, a_node_that_passes_its_frame_on_makes_a_run_general_while_it_is_there);
    tcase_add_test(by_hand, hierarchies_that_exchange_members_do_so_without_a_new_range);
    tcase_add_test(by_hand, a_lost_job_is_done_all_the_same);
    suite_add_tcase(suite, by_hand);
    return suite;
}

RUN_SUITE(make_suite)
