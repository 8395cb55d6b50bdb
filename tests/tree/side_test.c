// SPDX-License-Identifier: MIT
// Side arrays: made, widened and given back, and what is stored of a node through them.
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { SIZE = 24 };

static grove g;
static espl__forest *const forest = &g.forest;
static uint64_t random_state;

static void set_up(void)
{
    grove_begin(&g);
    random_state = 3;
}

static void tear_down(void)
{
    grove_end(&g);
}

static espl__run *header(uint32_t run)
{
    return &forest->runs[run];
}

static espl__placement placement_at(uint32_t run, uint32_t rank)
{
    return espl__slot_placement(forest, grove_slot(&g, run, rank));
}

// --- One block ---

START_TEST(block_is_the_default_and_goes_back_whole)
{
    const espl__extra bare = espl__extra_default();
    const espl__kept none = espl__kept_none();

    for (uint32_t i = 0; i < 200; ++i) {
        const bool keeps = i % 2 != 0;
        const uint32_t capacity = i / 2 + 1;
        espl__side *const side = espl__side_make(&g.heap, capacity, keeps);

        ck_assert_ptr_nonnull(side);
        ck_assert_uint_eq(side->capacity, capacity);
        ck_assert_uint_eq(side->extra_count + side->kept_count + side->is_prepaid, 0);
        ck_assert_int_eq(side->kept != NULL, keeps);
        for (uint32_t slot = 0; slot < capacity; ++slot) {
            ck_assert(grove_same_extra(&side->extra[slot], &bare));
            ck_assert(!keeps || memcmp(&side->kept[slot], &none, sizeof none) == 0);
        }
        // The heap under test sees a write past the end.
        side->extra[capacity - 1].context = 1;
        if (keeps) {
            side->kept[capacity - 1].flags = 1;
        }
        espl__side_free(&g.heap, side);
        ck_assert_uint_eq(g.under.bytes, 0);
    }
    espl__side_free(&g.heap, NULL);
}
END_TEST

START_TEST(block_without_memory_is_none)
{
    test_heap_arm(&g.under, 1, true);
    ck_assert_ptr_null(espl__side_make(&g.heap, 4, false));
    ck_assert_ptr_null(espl__side_make(&g.heap, 4, true));
    ck_assert_uint_eq(g.under.failures, 2);
}
END_TEST

// --- Side arrays of a run ---

static uint32_t plant_some(const uint8_t *flags, const uint8_t *inherit, bool has_extras)
{
    uint32_t parent[SIZE];

    grove_random_parents(parent, SIZE, 3, &random_state);
    return grove_plant(&g, &(grove_plan){.parent = parent,
                                         .size = SIZE,
                                         .flags = flags,
                                         .inherit = inherit,
                                         .holes = 3,
                                         .spare = 2,
                                         .seed = test_random(&random_state),
                                         .is_shuffled = true,
                                         .has_extras = has_extras});
}

// Holes know of side arrays too, since a node may come to stand there.
static bool all_slots_know(uint32_t run)
{
    bool agree = true;

    for (uint32_t i = 0; i < header(run)->used; ++i) {
        agree = agree && espl__slot_is(forest, header(run)->base + i, ESPL__SLOT_SIDE) ==
                             (header(run)->side != NULL);
    }
    return agree;
}

START_TEST(run_gets_what_it_is_asked_for_and_no_placement_changes)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const bool keeps = i == 1;
        const uint32_t run = plant_some(NULL, NULL, false);
        espl__placement before[SIZE];

        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            before[rank] = placement_at(run, rank);
        }
        ck_assert(espl__run_add_side(forest, run, keeps));
        ck_assert_uint_eq(header(run)->side->capacity, header(run)->capacity);
        ck_assert_int_eq(header(run)->side->kept != NULL, keeps);
        ck_assert_uint_ne(header(run)->flags & ESPL__RUN_GENERAL, 0);
        ck_assert(all_slots_know(run));
        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            const espl__placement after = placement_at(run, rank);

            ck_assert(espl__placement_is_equal(&before[rank], &after));
        }
        header(run)->side->is_prepaid = 1;
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(what_is_there_serves)
{
    const uint32_t run = plant_some(NULL, NULL, false);

    for (uint32_t i = 0; i < 2; ++i) {
        const bool keeps = i == 1;

        ck_assert(espl__run_add_side(forest, run, keeps));
        const espl__side *const side = header(run)->side;

        test_heap_arm(&g.under, 1, true);
        ck_assert(espl__run_add_side(forest, run, keeps));
        ck_assert(espl__run_add_side(forest, run, false));
        ck_assert_ptr_eq(header(run)->side, side);
        ck_assert_uint_eq(g.under.calls, 0);
        test_heap_arm(&g.under, 0, false);
    }
    espl__run_drop_side(forest, run);
    ck_assert_ptr_null(header(run)->side);
}
END_TEST

START_TEST(widened_side_arrays_hold_what_they_held)
{
    const uint8_t flags[SIZE] = {[3] = ESPL__SLOT_PASS, [7] = ESPL__SLOT_PASS};
    const uint32_t run = plant_some(flags, NULL, true);
    espl__placement before[SIZE];

    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        before[rank] = placement_at(run, rank);
    }
    header(run)->side->is_prepaid = 1;
    ck_assert_uint_eq(header(run)->side->extra_count, SIZE - 2);
    ck_assert(espl__run_add_side(forest, run, true));
    ck_assert_ptr_nonnull(header(run)->side->kept);
    ck_assert_uint_eq(header(run)->side->is_prepaid, 1);
    ck_assert_uint_eq(header(run)->side->extra_count, SIZE - 2);
    ck_assert_uint_eq(header(run)->side->kept_count, 0);
    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        const espl__placement after = placement_at(run, rank);

        ck_assert(espl__placement_is_equal(&before[rank], &after));
    }
    grove_is_sound(&g);
}
END_TEST

START_TEST(side_arrays_without_memory_change_nothing)
{
    for (uint32_t i = 0; i < 4; ++i) {
        const bool keeps = i % 2 == 1, has_extras = i >= 2;
        const uint32_t run = plant_some(NULL, NULL, has_extras);
        const uint64_t hash = grove_hash(&g);

        test_heap_arm(&g.under, 1, false);
        ck_assert_int_eq(espl__run_add_side(forest, run, keeps), has_extras && !keeps);
        ck_assert_uint_eq(g.under.failures, has_extras && !keeps ? 0 : 1);
        ck_assert_uint_eq(grove_hash(&g), hash);
        grove_is_sound(&g);
        test_heap_arm(&g.under, 0, false);
        espl__run_release(forest, run);
    }
}
END_TEST

// --- Giving back ---

START_TEST(side_arrays_stay_while_they_are_needed_or_prepaid)
{
    const uint8_t inherit[SIZE] = {[5] = ESPL_KEEP_UP};

    for (uint32_t i = 0; i < 8; ++i) {
        const bool has_extras = (i & 1) != 0, keeps = (i & 2) != 0, is_prepaid = (i & 4) != 0;
        const uint32_t run = plant_some(NULL, keeps ? inherit : NULL, has_extras);

        if (!has_extras && !keeps) {
            ck_assert(espl__run_add_side(forest, run, false));
        }
        header(run)->side->is_prepaid = is_prepaid;
        const size_t bytes = g.under.bytes;

        espl__run_drop_side(forest, run);
        ck_assert_int_eq(header(run)->side != NULL, i != 0);
        ck_assert_int_eq(g.under.bytes < bytes, i == 0);
        ck_assert(all_slots_know(run));
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(run_that_drops_them_takes_the_plain_kernel_unless_it_needs_the_general_one)
{
    const uint8_t kinds[] = {0, ESPL__SLOT_PASS, ESPL__SLOT_ROOTED};

    for (uint32_t i = 0; i < 3 * SIZE; ++i) {
        uint8_t flags[SIZE] = {0};

        flags[i / 3] = i / 3 != 0 || i % 3 != 2 ? kinds[i % 3] : 0;
        const uint32_t run = plant_some(flags, NULL, false);
        const uint32_t before = header(run)->flags;

        ck_assert_int_eq((before & ESPL__RUN_GENERAL) != 0, flags[i / 3] != 0);
        ck_assert(espl__run_add_side(forest, run, i % 2 == 0));
        espl__run_drop_side(forest, run);
        ck_assert_uint_eq(header(run)->flags, before);
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(run_without_side_arrays_drops_none)
{
    const uint32_t run = plant_some(NULL, NULL, false);
    const uint64_t hash = grove_hash(&g);

    espl__run_drop_side(forest, run);
    ck_assert_uint_eq(grove_hash(&g), hash);
}
END_TEST

// --- What is stored of a node ---

START_TEST(run_can_hold_what_its_side_arrays_are_for)
{
    const uint32_t run = plant_some(NULL, NULL, false);
    espl__placement plain = espl__placement_identity(), stretched = plain, named = plain,
                    keeping = plain;

    plain.local.position[0] = 4;
    stretched.extra.stretch[2] = 2;
    named.extra.context = 1;
    keeping.kept.flags = ESPL_STRICT_UP; // though it keeps nothing
    for (uint32_t i = 0; i < 3; ++i) {
        ck_assert(i == 0 || espl__run_add_side(forest, run, i == 2));
        ck_assert(espl__run_can_hold(header(run), &plain));
        ck_assert_int_eq(espl__run_can_hold(header(run), &stretched), i >= 1);
        ck_assert_int_eq(espl__run_can_hold(header(run), &named), i >= 1);
        ck_assert_int_eq(espl__run_can_hold(header(run), &keeping), i == 2);
    }
    espl__run_drop_side(forest, run);
}
END_TEST

// Half of the time the default, so that counts go down as well.
static espl__placement random_placement(uint32_t rank)
{
    const espl_pose world = grove_random_pose(&random_state);
    espl__placement placement = {grove_random_pose(&random_state), espl__kept_none(),
                                 espl__extra_default()};
    uint8_t inherit = 0;

    grove_random_inherit(&inherit, 1, 2, &random_state);
    placement.kept = espl__kept_of(&world, rank != 0 ? inherit : 0);
    if (test_one_in(&random_state, 2)) {
        placement.extra.stretch[test_below(&random_state, 3)] = test_one_in(&random_state, 2);
        placement.extra.context = test_below(&random_state, 2);
    }
    return placement;
}

// What has an extra of its own, what keeps something, and that all else is as it was written.
static void counts_are_right(uint32_t run, const espl__placement *written, const uint8_t *flags)
{
    uint32_t extras = 0, kept = 0;

    for (uint32_t rank = 0; rank < SIZE; ++rank) {
        const espl__placement *const of = &written[rank];
        const espl__placement now = placement_at(run, rank);
        const bool is_shown =
            (flags[rank] & ESPL__SLOT_PASS) != 0 || (of->kept.flags & ESPL_COPY_PARENT) != 0;

        extras += !is_shown && !espl__extra_is_default(&of->extra);
        kept += of->kept.flags != 0;
        ck_assert_msg(espl__placement_is_equal(&now, of), "rank %u", rank);
        ck_assert_int_eq(espl__slot_is(forest, grove_slot(&g, run, rank), ESPL__SLOT_KEEPS),
                         of->kept.flags != 0);
    }
    ck_assert_uint_eq(header(run)->side->extra_count, extras);
    ck_assert_uint_eq(header(run)->side->kept_count, kept);
}

START_TEST(placing_counts_what_side_arrays_are_needed_for)
{
    const size_t rounds = test_scaled(20);

    for (size_t round = 0; round < rounds; ++round) {
        const uint8_t flags[SIZE] = {[4] = ESPL__SLOT_PASS, [9] = ESPL__SLOT_PASS};
        const uint32_t run = plant_some(flags, NULL, round % 2 == 0);
        espl__placement written[SIZE];

        ck_assert(espl__run_add_side(forest, run, true));
        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            written[rank] = placement_at(run, rank);
        }
        for (uint32_t i = 0; i < 200; ++i) {
            const uint32_t rank = test_below(&random_state, SIZE);
            const uint32_t slot = grove_slot(&g, run, rank);
            const unsigned others = forest->flags[slot] & ~(unsigned)ESPL__SLOT_KEEPS;
            const espl_pose world = forest->world[slot];

            written[rank] = random_placement(rank);
            written[rank].kept = flags[rank] != 0 ? espl__kept_none() : written[rank].kept;
            espl__slot_place(forest, slot, &written[rank]);
            counts_are_right(run, written, flags);
            ck_assert_uint_eq(forest->flags[slot] & ~(unsigned)ESPL__SLOT_KEEPS, others);
            ck_assert(grove_same(&forest->world[slot], &world)); // worlds are not its business
        }
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(run_is_sound_again_once_worlds_follow)
{
    for (uint32_t round = 0; round < 50; ++round) {
        const uint32_t run = plant_some(NULL, NULL, true);

        ck_assert(espl__run_add_side(forest, run, true));
        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            espl__placement placement = random_placement(rank);

            if (espl__placement_copies(&placement)) {
                placement.extra = espl__extra_default(); // a walk brings what it shows
            }
            espl__slot_place(forest, grove_slot(&g, run, rank), &placement);
        }
        ck_assert(espl__propagate_at(forest, &forest->crew, run, 0));
        ck_assert(espl__propagate_below(forest, &forest->crew, run, 0));
        grove_is_sound(&g);

        // And without any of it the arrays go.
        for (uint32_t rank = 0; rank < SIZE; ++rank) {
            const espl__placement bare = {grove_random_pose(&random_state), espl__kept_none(),
                                          espl__extra_default()};

            espl__slot_place(forest, grove_slot(&g, run, rank), &bare);
        }
        espl__run_drop_side(forest, run);
        ck_assert_ptr_null(header(run)->side);
        ck_assert(espl__propagate_at(forest, &forest->crew, run, 0));
        ck_assert(espl__propagate_below(forest, &forest->crew, run, 0));
        grove_is_sound(&g);
        espl__run_release(forest, run);
    }
}
END_TEST

START_TEST(pose_alone_needs_no_side_arrays)
{
    const uint32_t run = plant_some(NULL, NULL, false);
    const espl__placement placement = {grove_random_pose(&random_state), espl__kept_none(),
                                       espl__extra_default()};

    espl__slot_place(forest, grove_slot(&g, run, 7), &placement);
    const espl__placement now = placement_at(run, 7);
    ck_assert(espl__placement_is_equal(&now, &placement));
    ck_assert_uint_eq(forest->flags[grove_slot(&g, run, 7)], 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/side");
    TCase *const blocks = tcase_create("blocks");
    TCase *const runs = tcase_create("runs");
    TCase *const slots = tcase_create("slots");

    tcase_add_checked_fixture(blocks, set_up, tear_down);
    tcase_add_test(blocks, block_is_the_default_and_goes_back_whole);
    tcase_add_test(blocks, block_without_memory_is_none);
    suite_add_tcase(suite, blocks);

    tcase_add_checked_fixture(runs, set_up, tear_down);
    tcase_add_test(runs, run_gets_what_it_is_asked_for_and_no_placement_changes);
    tcase_add_test(runs, what_is_there_serves);
    tcase_add_test(runs, widened_side_arrays_hold_what_they_held);
    tcase_add_test(runs, side_arrays_without_memory_change_nothing);
    tcase_add_test(runs, side_arrays_stay_while_they_are_needed_or_prepaid);
    tcase_add_test(runs,
                   run_that_drops_them_takes_the_plain_kernel_unless_it_needs_the_general_one);
    tcase_add_test(runs, run_without_side_arrays_drops_none);
    suite_add_tcase(suite, runs);

    tcase_add_checked_fixture(slots, set_up, tear_down);
    tcase_add_test(slots, run_can_hold_what_its_side_arrays_are_for);
    tcase_add_test(slots, placing_counts_what_side_arrays_are_needed_for);
    tcase_add_test(slots, run_is_sound_again_once_worlds_follow);
    tcase_add_test(slots, pose_alone_needs_no_side_arrays);
    suite_add_tcase(suite, slots);
    return suite;
}

RUN_SUITE(make_suite)
