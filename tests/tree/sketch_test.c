// SPDX-License-Identifier: MIT
// Nodes and links of a sketch.
#include "tests/tree/laid_plants.h"
#include "tests/tree/plant_edits.h"

// --- Loading ---

START_TEST(loaded_hierarchy_is_as_it_stands_in_the_forest)
{
    for (uint32_t round = 0; round < 200; ++round) {
        uint32_t run = 0;

        plant_round(round, &run, 1);
        begin_sketch(below(30));
        (void)load(run);
        ck_assert_uint_eq(sketch.known.count, 1);
        ck_assert(espl__sketch_lay_out(&sketch, load_numbers, 1));
        ck_assert_uint_eq(sketch.laid.count, 0);
        ck_assert_uint_eq(sketch.known.count, 1);
        layout_agrees();
        links_agree();
        worlds_agree();
        for (uint32_t number = 0; number < plant_count; ++number) {
            ck_assert_uint_eq(node_of(number)->slot, plants[number].node);
            ck_assert_uint_eq(node_of(number)->load, plants[number].load);
            ck_assert_uint_eq(node_of(number)->entity, g.forest.entity[plants[number].node]);
        }
        layout_agrees();
        ck_assert(!sketch.is_touched && !sketch.is_restructured);

        // Laid out all the same it stands as it stood.
        espl__sketch_restructure(&sketch, plants[below(plant_count)].node);
        layout_agrees();
        ck_assert_uint_eq(sketch.laid.count, 1);
        ck_assert_uint_eq(sketch.changed_count, 0);
        for (uint32_t i = 0; i < sketch.pieces.count; ++i) {
            ck_assert(
                espl__piece_stays(espl__sketch_piece(&sketch, i), espl__sketch_laid(&sketch, 0)));
        }
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
        begin_sketch(below(40));
        (void)load(run);
        layout_agrees();
        ck_assert_uint_eq(sketch.changed_count, 0);
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

static void start_again(const uint32_t *runs, uint32_t count)
{
    espl__sketch_clear(&sketch);
    plant_count = load_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        (void)load(runs[i]);
    }
}

START_TEST(clear_forgets_all_nodes)
{
    uint32_t run[2];

    plant_round(0, run, 2);
    begin_sketch(3);
    (void)load(run[0]);
    (void)load(run[1]);
    for (uint32_t i = 0; i < 40; ++i) {
        edit_one();
    }
    layout_agrees();
    start_again(run, 2);
    ck_assert_uint_eq(sketch.known.count, 1);
    ck_assert_uint_eq(sketch.made.count + sketch.written.count + sketch.noted.count, 0);
    ck_assert_uint_eq(sketch.laid.count + sketch.pieces.count + sketch.worlds.count, 0);
    ck_assert(!sketch.is_touched && !sketch.is_restructured && !sketch.may_hide);
    ck_assert(no_marks());
    layout_agrees();
    worlds_agree();
    layout_agrees();
    ck_assert_uint_eq(sketch.changed_count + sketch.laid.count, 0);
    for (uint32_t i = 0; i < 40; ++i) {
        edit_one();
    }
    layout_agrees();
    worlds_agree();
}
END_TEST

// --- What is known ---

START_TEST(only_nodes_that_were_asked_for_are_known)
{
    uint32_t parent[GROVE_LIMIT];

    grove_random_parents(parent, GROVE_LIMIT, 30, &random_state);
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = GROVE_LIMIT});

    begin_sketch(0);
    (void)load(run);
    ck_assert_uint_eq(sketch.known.count, 1);
    for (uint32_t i = 1; i <= 20; ++i) {
        const uint32_t node = plants[50 * i].node;

        ck_assert(!espl__sketch_is_known(&sketch, node));
        ck_assert_uint_eq(espl__sketch_at(&sketch, node)->slot, node);
        ck_assert(espl__sketch_is_known(&sketch, node));
        ck_assert_uint_eq(espl__sketch_at(&sketch, node)->slot, node);
        ck_assert_uint_eq(sketch.known.count, 1 + i);
        ck_assert_uint_eq(marks[node], 1 + i);
    }
}
END_TEST

START_TEST(reads_of_what_stands_in_the_forest_make_nothing_known)
{
    uint32_t run = 0;

    for (uint32_t round = 0; round < 50; ++round) {
        plant_round(round, &run, 1);
        begin_sketch(0);
        (void)load(run);
        for (uint32_t number = 0; number < plant_count; ++number) {
            const uint32_t node = plants[number].node;
            const espl__frame expected = plain_frame(number);
            const espl__placement placement = espl__sketch_placement(&sketch, node);
            const espl__extra extra = espl__sketch_extra(&sketch, node);
            const espl_pose world = espl__sketch_world(&sketch, node);
            const espl_pose local = espl__sketch_local(&sketch, node);

            ck_assert(grove_same(&world, &expected.world));
            ck_assert(grove_same_extra(&extra, &expected.extra));
            ck_assert(grove_same(&local, &plants[number].placement.local));
            ck_assert(grove_same(&placement.local, &local));
            ck_assert_int_eq(espl__sketch_copies(&sketch, node),
                             plants[number].is_pass || is_copy(number));
            ck_assert(espl__sketch_is_below(&sketch, node, plants[0].node));
        }
        ck_assert_uint_eq(sketch.known.count, 1);
        uproot(&run, 1);
    }
}
END_TEST

START_TEST(an_edit_asks_for_the_node_its_parents_and_its_neighbours)
{
    uint32_t parent[GROVE_LIMIT];

    grove_random_parents(parent, GROVE_LIMIT, 6, &random_state);
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = GROVE_LIMIT});

    for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t node = 1 + below(GROVE_LIMIT - 1), to = below(GROVE_LIMIT);

        begin_sketch(0);
        (void)load(run);
        if (is_at_or_below(to, node)) {
            continue;
        }
        espl__sketch_touch(&sketch, plants[node].node);
        ck_assert_uint_eq(sketch.known.count, 2);
        // The node, two siblings at each place, and both parents.
        move_to(node, to, below(plants[to].count + 1));
        ck_assert_uint_le(sketch.known.count, 1 + 7);
    }
}
END_TEST

START_TEST(sketches_of_one_playback_share_marks_and_loads)
{
    uint32_t runs[2];

    plant_round(1, runs, 2);
    espl__load other_load = {.run = runs[1]};
    const espl__sketch_room room = {.known = 100};
    const size_t size = espl__sketch_size(&room);
    void *const other_block = espl__heap_take(&g.heap, ESPL__FOR_COMMANDS, 1, size, 64);
    espl__load shared[2] = {{.run = runs[0]}, other_load};

    begin_sketch(2);
    (void)load(runs[0]);
    espl__sketch other = {.forest = &g.forest,
                          .heap = &g.heap,
                          .marks = marks,
                          .run_marks = run_marks,
                          .loads = shared};
    run_marks[runs[1]] = 2;
    espl__sketch_begin(&other, &room, other_block);
    espl__sketch_load(&other, 1);
    for (uint32_t rank = 0; rank < g.forest.runs[runs[1]].size; ++rank) {
        ck_assert_uint_eq(espl__sketch_at(&other, grove_slot(&g, runs[1], rank))->load, 1);
    }
    for (uint32_t i = 0; i < 20; ++i) {
        edit_one();
    }
    // What one forgets the other knows.
    espl__sketch_drop(&other);
    run_marks[runs[1]] = 0;
    espl__heap_give(&g.heap, ESPL__FOR_COMMANDS, other_block, 1, size, 64);
    layout_agrees();
    links_agree();
}
END_TEST

// --- Edits ---

START_TEST(random_edits_agree_with_the_naive_tree)
{
    const size_t rounds = test_scaled(1500);

    for (uint32_t round = 0; round < rounds; ++round) {
        uint32_t run[3];

        plant_round(round, run, 3);
        begin_sketch(round % 3 == 0 ? below(8) : 72);
        for (uint32_t i = 0; i < 3; ++i) {
            (void)load(run[i]);
        }
        for (uint32_t edits = below(60); edits > 0; --edits) {
            edit_one();
            // Worlds asked for at some moments only, so that much is stale between them.
            if (below(6) == 0) {
                const uint32_t node = any_living();
                const espl_pose expected = plain_world(node);
                const espl_pose world = espl__sketch_world(&sketch, plants[node].node);

                ck_assert(grove_same(&expected, &world));
            }
            if (below(20) == 0) {
                layout_agrees(); // and go on
            }
        }
        layout_agrees();
        links_agree();
        if (below(2) == 0) {
            worlds_agree();
        }
        // Once more with every node known.
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
        const uint32_t top = below(plant_count), first = plants[top].node;
        uint32_t seen = 0, expected = 0;

        for (uint32_t node = first; node != NONE; ++seen) {
            ck_assert(is_at_or_below(plant_of(node), top));
            node = espl__sketch_next(&sketch, node, first, true);
        }
        for (uint32_t node = 0; node < plant_count; ++node) {
            expected += is_at_or_below(node, top);
        }
        ck_assert_uint_eq(seen, expected);

        seen = 0;
        for (uint32_t node = first; node != NONE; ++seen) {
            ck_assert(node == first || plants[plant_of(node)].parent == top);
            node = espl__sketch_next(&sketch, node, first, node == first);
        }
        ck_assert_uint_eq(seen, 1 + plants[top].count);
        ck_assert_uint_eq(espl__sketch_next(&sketch, first, first, false), NONE);
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
    ck_assert_uint_eq(node_of(1)->flags, ESPL__NODE_FREE_LINK);
    espl__sketch_note(&sketch, plants[0].node, ESPL__NODE_DEAD);
    espl__sketch_splice(&sketch, plants[0].node);
    take_out(0);
    plants[0].is_dead = true;
    links_agree();
    ck_assert_uint_eq(node_of(1)->flags, ESPL__NODE_MOVED | ESPL__NODE_NOTED);
    ck_assert_uint_eq(node_of(2)->flags, ESPL__NODE_MOVED | ESPL__NODE_NOTED);
    ck_assert_uint_eq(node_of(3)->flags, ESPL__NODE_FREE_LINK);
    noted_agree();
}
END_TEST

START_TEST(link_of_a_child_outlives_a_member_between)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 1};
    const uint8_t flags[] = {0, 0, ESPL__SLOT_FREE_LINK};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3, .flags = flags}));
    espl__sketch_splice(&sketch, plants[1].node);
    ck_assert_uint_eq(node_of(2)->parent, plants[0].node);
    ck_assert_uint_eq(node_of(2)->flags, ESPL__NODE_FREE_LINK);
}
END_TEST

START_TEST(each_node_is_noted_once)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0};

    begin_sketch(3);
    (void)load(grove_plant(&g, &(grove_plan){.parent = parent, .size = 3}));
    const uint32_t one = plants[1].node, two = plants[2].node;

    espl__sketch_note(&sketch, two, ESPL__NODE_MOVED);
    espl__sketch_note(&sketch, one, ESPL__NODE_DEAD);
    espl__sketch_note(&sketch, two, ESPL__NODE_DEAD);
    ck_assert_uint_eq(sketch.noted.count, 2);
    ck_assert_uint_eq(espl__sketch_noted(&sketch, 0), two);
    ck_assert_uint_eq(espl__sketch_noted(&sketch, 1), one);
    ck_assert_uint_eq(node_of(2)->flags & (ESPL__NODE_MOVED | ESPL__NODE_DEAD),
                      ESPL__NODE_MOVED | ESPL__NODE_DEAD);
    ck_assert_uint_eq(node_of(1)->flags & ESPL__NODE_MOVED, 0);
}
END_TEST

// --- The worked example of the specification ---

enum { R, A, B, C, D, E, F };

// All nodes are asked for, so that each is a piece by itself.
static void expect_layout(const uint32_t *order, const uint32_t *parent, const uint32_t *first,
                          const uint32_t *count, uint32_t size)
{
    for (uint32_t number = 0; number < plant_count; ++number) {
        (void)node_of(number);
    }
    ck_assert(espl__sketch_lay_out(&sketch, load_numbers, load_count));
    const espl__laid *const laid = espl__sketch_laid(&sketch, 0);

    ck_assert_uint_eq(sketch.laid.count, 1);
    ck_assert_uint_eq(laid->size, size);
    ck_assert_uint_eq(laid->end - laid->begin, size);
    for (uint32_t rank = 0; rank < size; ++rank) {
        const espl__piece *const piece = espl__sketch_piece(&sketch, laid->begin + rank);
        const uint32_t end = rank + 1 < size ? piece[1].firsts : size;

        ck_assert_uint_eq(piece->node, plants[order[rank]].node);
        ck_assert_uint_eq(piece->position, rank);
        ck_assert_uint_eq(piece->parents, parent[rank]);
        ck_assert_uint_eq(piece->firsts, first[rank]);
        ck_assert_uint_eq(end - piece->firsts, count[rank]);
    }
}

START_TEST(worked_example_of_the_specification_has_these_arrays)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1, 1, 2};
    const uint32_t alone = ESPL__NO_SLOT;
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = 6});
    const uint32_t solo = grove_plant(&g, &(grove_plan){.parent = &alone, .size = 1, .seed = 1});

    begin_sketch(7);
    (void)load(run);
    espl__sketch_restructure(&sketch, plants[R].node);
    expect_layout((uint32_t[]){R, A, B, C, D, E}, (uint32_t[]){ESPL__NO_SLOT, 0, 0, 1, 1, 2},
                  (uint32_t[]){1, 3, 5, 6, 6, 6}, (uint32_t[]){2, 2, 1, 0, 0, 0}, 6);

    // F comes from a hierarchy of its own.
    (void)load(solo);
    link_one(F, A, 2);
    expect_layout((uint32_t[]){R, A, B, C, D, F, E}, (uint32_t[]){ESPL__NO_SLOT, 0, 0, 1, 1, 1, 2},
                  (uint32_t[]){1, 3, 6, 7, 7, 7, 7}, (uint32_t[]){2, 3, 1, 0, 0, 0, 0}, 7);
    ck_assert_uint_eq(espl__sketch_laid(&sketch, 0)->entrants, 1);
    ck_assert_uint_eq(sketch.changed_count, 1);
    layout_agrees();
}
END_TEST

START_TEST(hierarchies_stand_by_loads_then_as_noted_then_as_made)
{
    const uint32_t parent[] = {ESPL__NO_SLOT, 0, 0, 1};
    const uint32_t one = grove_plant(&g, &(grove_plan){.parent = parent, .size = 4});
    const uint32_t other = grove_plant(&g, &(grove_plan){.parent = parent, .size = 4, .seed = 1});
    const espl__placement placement = espl__placement_identity();

    begin_sketch(8);
    (void)load(one);
    (void)load(other);
    const uint32_t first = add_plant(make_node(ESPL__NO_SLOT, &placement, 0), &placement, false);
    const uint32_t second = add_plant(make_node(ESPL__NO_SLOT, &placement, 0), &placement, false);

    unlink_one(7);
    unlink_one(2);
    layout_agrees();
    const uint32_t expected[] = {0, 4, 7, 2, first, second};

    ck_assert_uint_eq(sketch.laid.count, 6);
    for (uint32_t i = 0; i < 6; ++i) {
        const espl__laid *const laid = espl__sketch_laid(&sketch, i);

        ck_assert_uint_eq(laid->root, plants[expected[i]].node);
        ck_assert_uint_eq(laid->load, i < 2 ? load_numbers[i] : NONE);
        ck_assert_uint_eq(laid->entrants, i < 2 ? 0 : 1);
    }
}
END_TEST

// --- Below ---

static bool stands_below(uint32_t number, uint32_t above)
{
    while (number != NONE && number != above) {
        number = plants[number].parent;
    }
    return number == above;
}

START_TEST(who_is_below_whom_is_known_far_down_and_behind_edits)
{
    enum { LEVELS = 120, NODES = 2 * LEVELS - 1 };
    uint32_t parent[NODES] = {ESPL__NO_SLOT, 0, 0};
    size_t yes = 0;

    // Each level has one who goes on and a leaf.
    for (uint32_t rank = 3; rank < NODES; ++rank) {
        parent[rank] = (rank - 1) / 2 * 2 - 1;
    }
    for (uint32_t round = 0; round < 20; ++round) {
        uint32_t run =
            grove_plant(&g, &(grove_plan){.parent = parent, .size = NODES, .seed = round});

        begin_sketch(below(30));
        (void)load(run);
        for (uint32_t i = 0; i < 100; ++i) {
            const uint32_t child = 1 + below(NODES - 1), to = below(NODES);
            const bool is_below = stands_below(to, child);

            ck_assert(espl__sketch_is_below(&sketch, plants[to].node, plants[child].node) ==
                      is_below);
            yes += is_below ? 1 : 0;
            if (!is_below && i % 4 == 0) {
                unlink_one(child);
                link_one(child, to, 0);
            }
        }
        links_agree();
        uproot(&run, 1);
    }
    ck_assert_uint_gt(yes, 100);
}
END_TEST

START_TEST(a_climb_ends_where_little_hangs_below)
{
    // A chain of 400, and at its 300th node two who hang below one beside it.
    enum { FORK = 300, X = FORK + 2, NODES = 400, LAST = NODES - 1, DEEP = 32 };
    uint32_t parent[NODES] = {ESPL__NO_SLOT};

    for (uint32_t rank = 1; rank < NODES; ++rank) {
        parent[rank] = rank - 1;
    }
    parent[X] = FORK;
    parent[X + 1] = FORK + 1;
    parent[X + 2] = parent[X + 3] = X;
    parent[X + 4] = X + 1;
    const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent, .size = NODES});

    begin_sketch(0);
    (void)load(run);
    ck_assert(!espl__sketch_is_below(&sketch, plants[LAST].node, plants[X].node));
    ck_assert_uint_eq(sketch.climbed, DEEP + 3);
    ck_assert(!espl__sketch_is_below(&sketch, plants[LAST].node, plants[X + 3].node));
    ck_assert_uint_eq(sketch.climbed, DEEP + 3 + DEEP + 1);
    ck_assert(espl__sketch_is_below(&sketch, plants[X + 3].node, plants[X].node));
    ck_assert(espl__sketch_is_below(&sketch, plants[LAST].node, plants[0].node));
    ck_assert_uint_eq(sketch.known.count, 1);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/sketch");
    TCase *const loading = tcase_create("loading");
    TCase *const knowing = tcase_create("knowing");
    TCase *const edits = tcase_create("edits");

    tcase_add_checked_fixture(loading, set_up, tear_down);
    tcase_add_test(loading, loaded_hierarchy_is_as_it_stands_in_the_forest);
    tcase_add_test(loading, ghosts_are_spliced_out_and_no_world_moves);
    tcase_add_test(loading, clear_forgets_all_nodes);
    suite_add_tcase(suite, loading);

    tcase_add_checked_fixture(knowing, set_up, tear_down);
    tcase_add_test(knowing, only_nodes_that_were_asked_for_are_known);
    tcase_add_test(knowing, reads_of_what_stands_in_the_forest_make_nothing_known);
    tcase_add_test(knowing, an_edit_asks_for_the_node_its_parents_and_its_neighbours);
    tcase_add_test(knowing, sketches_of_one_playback_share_marks_and_loads);
    suite_add_tcase(suite, knowing);

    tcase_add_checked_fixture(edits, set_up, tear_down);
    tcase_add_test(edits, random_edits_agree_with_the_naive_tree);
    tcase_add_test(edits, who_is_below_whom_is_known_far_down_and_behind_edits);
    tcase_add_test(edits, a_climb_ends_where_little_hangs_below);
    tcase_add_test(edits, preorder_walk_visits_what_it_is_told_to_enter);
    tcase_add_test(edits, children_of_a_root_that_goes_have_no_link);
    tcase_add_test(edits, link_of_a_child_outlives_a_member_between);
    tcase_add_test(edits, each_node_is_noted_once);
    tcase_add_test(edits, worked_example_of_the_specification_has_these_arrays);
    tcase_add_test(edits, hierarchies_stand_by_loads_then_as_noted_then_as_made);
    suite_add_tcase(suite, edits);
    return suite;
}

RUN_SUITE(make_suite)
