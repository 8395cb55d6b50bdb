// SPDX-License-Identifier: MIT
// Links, order and memory of a sketch.
#include "tests/tree/plants.h"

// --- Loading ---

START_TEST(loaded_hierarchy_is_laid_out_as_it_stands)
{
    for (uint32_t round = 0; round < 200; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        const espl__run *const header = &g.forest.runs[run];
        const size_t bytes = header->size * sizeof(uint32_t);

        begin_sketch(header->size);
        ck_assert_uint_eq(load(run), 0);
        links_agree();
        worlds_agree();
        layout_agrees();
        ck_assert_uint_eq(sketch.laid_count, 1);
        ck_assert_uint_eq(sketch.changed_count, 0);
        ck_assert_int_eq(memcmp(sketch.parent, g.forest.parent + header->base, bytes), 0);
        ck_assert_int_eq(memcmp(sketch.first, g.forest.first + header->base, bytes), 0);
        for (uint32_t rank = 0; rank < header->size; ++rank) {
            ck_assert_uint_eq(sketch.nodes[rank].slot, grove_slot(&g, run, rank));
            ck_assert_uint_eq(sketch.order[rank], rank);
        }
        ck_assert(!sketch.is_touched && !sketch.is_restructured);
        uproot(&run, 1);
    }
}
END_TEST

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

START_TEST(ghosts_are_spliced_out_and_no_world_moves)
{
    size_t ghosts = 0;

    for (uint32_t round = 0; round < 300; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        for (uint32_t i = 0; i < 3 && g.forest.runs[run].size != 0; ++i) {
            const uint32_t slot = grove_slot(&g, run, below(g.forest.runs[run].size));

            if (!espl__slot_is(&g.forest, slot, ESPL__SLOT_GHOST)) {
                espl__make_ghosts(&g.forest, slot, (espl__closure)below(3), bury_nobody, NULL);
            }
        }
        if (g.forest.runs[run].size == 0) {
            continue; // nobody was left
        }
        ghosts += g.forest.runs[run].ghosts;
        begin_sketch(g.forest.runs[run].size);
        (void)load(run);
        links_agree();
        worlds_agree();
        layout_agrees();
        ck_assert_uint_eq(sketch.changed_count, 0);
        ck_assert_int_eq(sketch.is_restructured, g.forest.runs[run].ghosts != 0);
        uproot(&run, 1);
    }
    ck_assert_uint_gt(ghosts, 300);
}
END_TEST

START_TEST(clear_forgets_all_nodes)
{
    uint32_t run[2];

    plant_round(0, run, 2);
    begin_sketch(g.forest.runs[run[0]].size + g.forest.runs[run[1]].size);
    (void)load(run[0]);
    for (uint32_t i = 0; i < 20; ++i) {
        edit_one();
    }
    espl__sketch_clear(&sketch);
    plant_count = 0;
    ck_assert_uint_eq(load(run[1]), 0);
    worlds_agree();
    layout_agrees();
    ck_assert_uint_eq(sketch.changed_count + sketch.noted_count + sketch.written_count, 0);
}
END_TEST

// --- Edits ---

START_TEST(random_edits_agree_with_the_naive_tree)
{
    const size_t rounds = test_scaled(1500);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t run[3];

        plant_round(round, run, 3);
        begin_sketch(72);
        for (uint32_t i = 0; i < 3; ++i) {
            (void)load(run[i]);
        }
        for (uint32_t edits = below(60); edits > 0; --edits) {
            edit_one();
            // Worlds asked for at some moments only, so that much is stale between them.
            if (below(6) == 0) {
                const uint32_t node = any_living();
                const espl_pose expected = plain_world(node);
                const espl_pose world = espl__sketch_world(&sketch, node);

                ck_assert(grove_same(&expected, &world));
            }
        }
        links_agree();
        if (below(2) == 0) {
            worlds_agree();
        }
        layout_agrees();
        uproot(run, 3);
    }
}
END_TEST

START_TEST(preorder_walk_visits_what_it_is_told_to_enter)
{
    uint32_t run = 0;

    for (uint32_t round = 0; round < 100; ++round) {
        plant_round(round, &run, 1);
        begin_sketch(24);
        (void)load(run);
        const uint32_t top = below(plant_count);
        uint32_t seen = 0, expected = 0;

        for (uint32_t node = top; node != NONE; ++seen) {
            ck_assert(is_at_or_below(node, top));
            node = espl__sketch_next(&sketch, node, top, true);
        }
        for (uint32_t node = 0; node < plant_count; ++node) {
            expected += is_at_or_below(node, top);
        }
        ck_assert_uint_eq(seen, expected);

        seen = 0;
        for (uint32_t node = top; node != NONE; ++seen) {
            ck_assert(node == top || plants[node].parent == top);
            node = espl__sketch_next(&sketch, node, top, node == top);
        }
        ck_assert_uint_eq(seen, 1 + plants[top].count);
        ck_assert_uint_eq(espl__sketch_next(&sketch, top, top, false), NONE);
        uproot(&run, 1);
    }
}
END_TEST

START_TEST(children_of_a_root_that_goes_have_no_link)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1};
    const uint8_t flags[] = {0, ESPL__SLOT_FREE_LINK, 0, ESPL__SLOT_FREE_LINK, 0};

    begin_sketch(5);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 5, .flags = flags}));
    ck_assert_uint_eq(sketch.nodes[1].flags, ESPL__NODE_FREE_LINK);
    espl__sketch_note(&sketch, 0, ESPL__NODE_DEAD);
    espl__sketch_splice(&sketch, 0);
    take_out(0);
    plants[0].is_dead = true;
    links_agree();
    ck_assert_uint_eq(sketch.nodes[1].flags, ESPL__NODE_MOVED | ESPL__NODE_NOTED);
    ck_assert_uint_eq(sketch.nodes[2].flags, ESPL__NODE_MOVED | ESPL__NODE_NOTED);
    ck_assert_uint_eq(sketch.nodes[3].flags, ESPL__NODE_FREE_LINK);
    noted_agree();
}
END_TEST

START_TEST(link_of_a_child_outlives_a_member_between)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_FREE_LINK};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3, .flags = flags}));
    espl__sketch_splice(&sketch, 1);
    ck_assert_uint_eq(sketch.nodes[2].parent, 0);
    ck_assert_uint_eq(sketch.nodes[2].flags, ESPL__NODE_FREE_LINK);
}
END_TEST

START_TEST(each_node_is_noted_once)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3}));
    espl__sketch_note(&sketch, 2, ESPL__NODE_MOVED);
    espl__sketch_note(&sketch, 1, ESPL__NODE_DEAD);
    espl__sketch_note(&sketch, 2, ESPL__NODE_DEAD);
    ck_assert_uint_eq(sketch.noted_count, 2);
    ck_assert_uint_eq(sketch.noted[0], 2);
    ck_assert_uint_eq(sketch.noted[1], 1);
    ck_assert_uint_eq(sketch.nodes[2].flags & (ESPL__NODE_MOVED | ESPL__NODE_DEAD),
                      ESPL__NODE_MOVED | ESPL__NODE_DEAD);
    ck_assert_uint_eq(sketch.nodes[1].flags & ESPL__NODE_MOVED, 0);
}
END_TEST

// --- The worked example of the specification ---

enum { R, A, B, C, D, E, F };

static void expect_layout(const uint32_t *order, const uint32_t *parent, const uint32_t *first,
                          const uint32_t *count, uint32_t size)
{
    ck_assert(espl__sketch_lay_out(&sketch));
    const uint32_t begin = sketch.laid[0].begin;

    ck_assert_uint_eq(sketch.laid_count, 1);
    ck_assert_uint_eq(sketch.laid[0].size, size);
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t end = rank + 1 < size ? sketch.first[begin + rank + 1] : size;

        ck_assert_uint_eq(sketch.order[begin + rank], order[rank]);
        ck_assert_uint_eq(sketch.parent[begin + rank], parent[rank]);
        ck_assert_uint_eq(sketch.first[begin + rank], first[rank]);
        ck_assert_uint_eq(end - sketch.first[begin + rank], count[rank]);
    }
}

START_TEST(worked_example_of_the_specification_has_these_arrays)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};
    const uint32_t alone = ESPL__NO_SLOT;

    begin_sketch(7);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 6}));
    expect_layout((uint32_t[]){R, A, B, C, D, E}, (uint32_t[]){ESPL__NO_SLOT, 0, 0, 1, 1, 2},
                  (uint32_t[]){1, 3, 5, 6, 6, 6}, (uint32_t[]){2, 2, 1, 0, 0, 0}, 6);

    // F comes from a hierarchy of its own.
    (void)load(grove_plant(&g, &(grove_plan){.parent = &alone, .size = 1, .seed = 1}));
    espl__sketch_link(&sketch, F, A, NONE);
    espl__sketch_touch(&sketch, F);
    expect_layout((uint32_t[]){R, A, B, C, D, F, E}, (uint32_t[]){ESPL__NO_SLOT, 0, 0, 1, 1, 1, 2},
                  (uint32_t[]){1, 3, 6, 7, 7, 7, 7}, (uint32_t[]){2, 3, 1, 0, 0, 0, 0}, 7);
    ck_assert_uint_eq(sketch.laid[0].entrants, 1);
    ck_assert_uint_eq(sketch.changed_count, 1);
}
END_TEST

START_TEST(hierarchies_stand_in_order_of_their_roots_numbers)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1};

    begin_sketch(8);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 4}));
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 4, .seed = 1}));
    unlink_one(2);
    unlink_one(7);
    layout_agrees();
    ck_assert_uint_eq(sketch.laid_count, 4);
    ck_assert_uint_eq(sketch.order[0], 0);
    ck_assert_uint_eq(sketch.order[3], 2);
    ck_assert_uint_eq(sketch.order[4], 4);
    ck_assert_uint_eq(sketch.order[7], 7);
    ck_assert_uint_eq(sketch.laid[1].resident_begin, sketch.laid[1].resident_end);
    ck_assert_uint_eq(sketch.laid[1].entrants, 1);
}
END_TEST

// --- Memory ---

START_TEST(growth_past_the_slices_keeps_everything)
{
    uint32_t growths = 0;

    for (uint32_t round = 0; round < 30; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        begin_sketch(g.forest.runs[run].size);
        (void)load(run);
        ck_assert_ptr_null(sketch.own_block);
        for (uint32_t edits = 0; edits < 12; ++edits) {
            edit_one();
        }
        for (uint32_t i = 0; i < 100; ++i) {
            const void *const nodes = sketch.nodes;

            clone_one();
            move_one();
            if (sketch.nodes != nodes) {
                ck_assert_ptr_eq(sketch.nodes, sketch.own_block);
                worlds_agree();
                growths += 1;
            }
        }
        links_agree();
        layout_agrees();
        uproot(&run, 1);
    }
    ck_assert_uint_gt(growths, 60);
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
    ck_assert(!espl__sketch_reserve_nodes(&sketch, 100));
    ck_assert(!espl__sketch_reserve_written(&sketch, 1000));
    ck_assert_uint_eq(g.under.failures, 2);
    ck_assert_int_eq(memcmp(&before, &sketch, sizeof before), 0);
    ck_assert_uint_eq(g.under.bytes, bytes);
    worlds_agree();

    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__sketch_reserve_nodes(&sketch, 100));
    ck_assert(espl__sketch_reserve_written(&sketch, 1000));
    ck_assert_uint_ge(sketch.capacity, sketch.count + 100);
    ck_assert_uint_ge(sketch.written_capacity, sketch.written_count + 1000);
    worlds_agree();
    layout_agrees();
}
END_TEST

START_TEST(nodes_past_all_bounds_are_refused_before_the_allocator_is_asked)
{
    begin_sketch(1);
    test_heap_arm(&g.under, 0, false);
    ck_assert(!espl__sketch_reserve_nodes(&sketch, UINT32_MAX / 4));
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

START_TEST(room_that_is_there_is_not_taken_again)
{
    begin_sketch(10);
    test_heap_arm(&g.under, 0, false);
    ck_assert(espl__sketch_reserve_nodes(&sketch, 10));
    ck_assert(espl__sketch_reserve_written(&sketch, 0));
    ck_assert_uint_eq(g.under.calls, 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/sketch");
    TCase *const loading = tcase_create("loading");
    TCase *const edits = tcase_create("edits");
    TCase *const memory = tcase_create("memory");

    tcase_add_checked_fixture(loading, set_up, tear_down);
    tcase_add_test(loading, loaded_hierarchy_is_laid_out_as_it_stands);
    tcase_add_test(loading, ghosts_are_spliced_out_and_no_world_moves);
    tcase_add_test(loading, clear_forgets_all_nodes);
    suite_add_tcase(suite, loading);

    tcase_add_checked_fixture(edits, set_up, tear_down);
    tcase_add_test(edits, random_edits_agree_with_the_naive_tree);
    tcase_add_test(edits, preorder_walk_visits_what_it_is_told_to_enter);
    tcase_add_test(edits, children_of_a_root_that_goes_have_no_link);
    tcase_add_test(edits, link_of_a_child_outlives_a_member_between);
    tcase_add_test(edits, each_node_is_noted_once);
    tcase_add_test(edits, worked_example_of_the_specification_has_these_arrays);
    tcase_add_test(edits, hierarchies_stand_in_order_of_their_roots_numbers);
    suite_add_tcase(suite, edits);

    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_add_test(memory, growth_past_the_slices_keeps_everything);
    tcase_add_test(memory, reserve_without_memory_changes_nothing);
    tcase_add_test(memory, nodes_past_all_bounds_are_refused_before_the_allocator_is_asked);
    tcase_add_test(memory, room_that_is_there_is_not_taken_again);
    suite_add_tcase(suite, memory);
    return suite;
}

RUN_SUITE(make_suite)
