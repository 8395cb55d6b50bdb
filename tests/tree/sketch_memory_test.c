// SPDX-License-Identifier: MIT
// Memory of a sketch: its slices, how it outgrows them, and that it fails for good where there is
// none.
#include "tests/tree/laid_plants.h"
#include "tests/tree/plant_edits.h"

// --- Room ---

static void bags_are_within(const void *begin, size_t size)
{
    const espl__bag *const bags[] = {&sketch.known, &sketch.made,   &sketch.written,
                                     &sketch.noted, &sketch.list,   &sketch.pieces,
                                     &sketch.laid,  &sketch.worlds, &sketch.bits,
                                     &sketch.stale, &sketch.kept,   &sketch.watched};
    const unsigned char *const from = begin;

    for (size_t i = 0; i < sizeof bags / sizeof *bags; ++i) {
        const unsigned char *const at = bags[i]->items;

        ck_assert(at >= from && at <= from + size && bags[i]->is_own == 0);
        ck_assert_uint_eq((uintptr_t)at % 8, 0);
        for (size_t k = 0; k < i; ++k) {
            ck_assert(bags[k]->capacity == 0 || bags[i]->capacity == 0 ||
                      bags[k]->items != bags[i]->items);
        }
    }
}

START_TEST(slices_lie_side_by_side_in_the_block)
{
    for (size_t room = 0; room < 20; ++room) {
        begin_sketch(room);
        bags_are_within(block, block_size);
        ck_assert_uint_eq(sketch.known.capacity, room + 1);
        ck_assert_uint_eq(sketch.pieces.capacity, room);
    }
}
END_TEST

START_TEST(growth_past_the_slices_keeps_everything)
{
    uint32_t growths = 0;

    for (uint32_t round = 0; round < 30; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        begin_sketch(2 + below(4));
        (void)load(run);
        for (uint32_t edits = 0; edits < 12; ++edits) {
            edit_one();
        }
        for (uint32_t i = 0; i < 100; ++i) {
            const void *const made = sketch.made.items, *const known = sketch.known.items;

            clone_one();
            move_one();
            if (sketch.made.items != made || sketch.known.items != known) {
                layout_agrees();
                worlds_agree();
                growths += 1;
            }
        }
        links_agree();
        layout_agrees();
        uproot(&run, 1);
    }
    ck_assert_uint_gt(growths, 150);
}
END_TEST

START_TEST(reserve_without_memory_changes_nothing)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};

    begin_sketch(6);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 6}));
    for (uint32_t i = 0; i < 30; ++i) {
        write_one();
        move_one();
    }
    const espl__sketch before = sketch;
    const size_t bytes = g.under.bytes;

    test_heap_arm(&g.under, 1, true);
    ck_assert(!espl__sketch_reserve_made(&sketch, 100));
    ck_assert(!espl__sketch_reserve_written(&sketch, 1000));
    ck_assert_uint_eq(g.under.failures, 2);
    ck_assert_int_eq(memcmp(&before, &sketch, sizeof before), 0);
    ck_assert_uint_eq(g.under.bytes, bytes);
    ck_assert(!espl__sketch_has_failed(&sketch));

    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__sketch_reserve_made(&sketch, 100));
    ck_assert(espl__sketch_reserve_written(&sketch, 1000));
    ck_assert_uint_ge(sketch.made.capacity, sketch.made.count + 100);
    ck_assert_uint_ge(sketch.written.capacity, sketch.written.count + 1000);
    layout_agrees();
    worlds_agree();
}
END_TEST

START_TEST(nodes_past_all_bounds_are_refused_before_the_allocator_is_asked)
{
    begin_sketch(1);
    test_heap_arm(&g.under, 0, false);
    ck_assert(!espl__sketch_reserve_made(&sketch, UINT32_MAX / 4 + 1));
    ck_assert(!espl__sketch_reserve_made(&sketch, SIZE_MAX));
    ck_assert(!espl__sketch_reserve_written(&sketch, SIZE_MAX));
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

START_TEST(room_that_is_there_is_not_taken_again)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 6});

    begin_sketch(10);
    (void)load(run);
    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__sketch_reserve_made(&sketch, 10));
    ck_assert(espl__sketch_reserve_written(&sketch, 10));
    write_one();
    unlink_one(3);
    link_one(3, 5, 0);
    for (uint32_t i = 0; i < 10; ++i) {
        espl__sketch_list(&sketch, plants[i % 6].node);
        ck_assert_uint_eq(espl__sketch_listed(&sketch, i), plants[i % 6].node);
    }
    layout_agrees();
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

// Each edit near the root makes all worlds below it unknown, and each look at the last one works
// them all out again. What is kept of that is as much as there are nodes, not as there are looks.
START_TEST(worlds_that_are_known_no_longer_make_room_for_others)
{
    enum { CHAIN = 24, LOOKS = 200 };
    uint32_t parent[CHAIN];

    for (uint32_t i = 0; i < CHAIN; ++i) {
        parent[i] = i == 0 ? ESPL__NO_SLOT : i - 1;
    }
    begin_sketch(CHAIN);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = CHAIN}));
    for (uint32_t i = 0; i < LOOKS; ++i) {
        espl__sketch_touch(&sketch, plants[0].node);
        (void)espl__sketch_world(&sketch, plants[CHAIN - 1].node);
        ck_assert_uint_le(sketch.kept.count, CHAIN);
    }
    ck_assert_uint_eq(sketch.kept.is_own, 0);
    worlds_agree();
    layout_agrees();
}
END_TEST

// --- Failures ---

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

// One playback's worth of editing, as long as there is memory. @return whether all of it was done.
static bool edit_while_there_is_memory(const uint32_t *runs, uint32_t count)
{
    begin_sketch(1);
    for (uint32_t i = 0; i < count; ++i) {
        (void)load(runs[i]);
    }
    for (uint32_t edits = 0; edits < 30 && !espl__sketch_has_failed(&sketch); ++edits) {
        edit_one();
        if (below(4) == 0 && !espl__sketch_has_failed(&sketch)) {
            (void)espl__sketch_world(&sketch, plants[any_living()].node);
        }
    }
    return !espl__sketch_has_failed(&sketch);
}

// The slices come first; then the n-th allocation fails, alone or with all behind it. What has
// failed says so, ends, and leaves no mark and no byte behind.
static void fails_at_every_allocation(bool fails_after)
{
    for (uint32_t round = 0; round < 12; ++round) {
        uint32_t runs[2];
        size_t failures = 0;
        bool has_failed = true;

        plant_round(round, runs, 2);
        espl__make_ghosts(&g.forest, grove_slot(&g, runs[0], g.forest.runs[runs[0]].size / 2),
                          ESPL__CLOSURE_ONLY, bury_nobody, NULL);
        const uint32_t count = g.forest.runs[runs[0]].size == 0 ? 0 : 2;
        const uint64_t hash = grove_hash(&g), seed = random_state;
        const size_t bytes = g.under.bytes;

        for (size_t n = 2; has_failed && count != 0; ++n) {
            random_state = seed;
            test_heap_arm(&g.under, n, fails_after);
            if (edit_while_there_is_memory(runs, count)) {
                (void)espl__sketch_lay_out(&sketch, load_numbers, load_count);
            }
            has_failed = g.under.failures != 0;
            ck_assert(!has_failed || espl__sketch_has_failed(&sketch) || sketch.worlds.is_own ||
                      sketch.kept.is_own);
            ck_assert(has_failed || !espl__sketch_has_failed(&sketch));
            failures += has_failed;
            test_heap_arm(&g.under, 0, false);
            if (!espl__sketch_has_failed(&sketch)) {
                layout_agrees();
            }
            // It begins again as if nothing had been.
            espl__sketch_clear(&sketch);
            plant_count = load_count = 0;
            for (uint32_t i = 0; i < count; ++i) {
                (void)load(runs[i]);
            }
            ck_assert(!espl__sketch_has_failed(&sketch));
            layout_agrees();
            links_agree();
            drop_sketch();
            ck_assert_uint_eq(g.under.bytes, bytes);
            ck_assert_uint_eq(grove_hash(&g), hash);
        }
        ck_assert(count == 0 || failures > 5);
        uproot(count == 0 ? runs + 1 : runs, count == 0 ? 1 : 2);
    }
}

START_TEST(each_allocation_may_fail_alone)
{
    fails_at_every_allocation(false);
}
END_TEST

START_TEST(each_allocation_may_fail_with_all_that_follow)
{
    fails_at_every_allocation(true);
}
END_TEST

// A chain: every walk goes through many nodes of which some are not found.
START_TEST(walks_end_where_there_is_no_memory)
{
    uint32_t parent[200] = {ESPL__NO_SLOT};

    for (uint32_t rank = 1; rank < 200; ++rank) {
        parent[rank] = rank - 1;
    }
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 200});

    for (uint32_t known = 0; known < 60; ++known) {
        begin_sketch(known);
        (void)load(run);
        for (uint32_t i = 0; i < known; ++i) {
            (void)node_of(i * 3);
        }
        espl__sketch_touch(&sketch, plants[known == 0 ? 0 : 3].node);
        test_heap_arm(&g.under, 1, true);
        (void)espl__sketch_world(&sketch, plants[199].node);
        ck_assert(espl__sketch_has_failed(&sketch));
        (void)espl__sketch_world(&sketch, plants[100].node);
        uint32_t steps = 0;
        for (uint32_t node = plants[0].node; node != NONE; ++steps) {
            ck_assert_uint_lt(steps, 200);
            node = espl__sketch_next(&sketch, node, plants[0].node, true);
        }
        ck_assert(espl__sketch_is_below(&sketch, plants[199].node, plants[0].node));
        espl__sketch_splice(&sketch, plants[100].node);
        espl__sketch_splice(&sketch, plants[0].node);
        ck_assert(!espl__sketch_lay_out(&sketch, load_numbers, load_count));
        test_heap_arm(&g.under, 0, false);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/sketch_memory");
    TCase *const memory = tcase_create("memory");

    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_add_test(memory, slices_lie_side_by_side_in_the_block);
    tcase_add_test(memory, growth_past_the_slices_keeps_everything);
    tcase_add_test(memory, reserve_without_memory_changes_nothing);
    tcase_add_test(memory, nodes_past_all_bounds_are_refused_before_the_allocator_is_asked);
    tcase_add_test(memory, room_that_is_there_is_not_taken_again);
    tcase_add_test(memory, worlds_that_are_known_no_longer_make_room_for_others);
    tcase_add_test(memory, each_allocation_may_fail_alone);
    tcase_add_test(memory, each_allocation_may_fail_with_all_that_follow);
    tcase_add_test(memory, walks_end_where_there_is_no_memory);
    suite_add_tcase(suite, memory);
    return suite;
}

RUN_SUITE(make_suite)
