// SPDX-License-Identifier: MIT
// The pieces of a layout: few where little is edited, however large the hierarchy is.
#include "tests/tree/laid_plants.h"
#include "tests/tree/plant_edits.h"

enum { SIZE = GROVE_LIMIT };

// --- Shapes ---

typedef enum shape { CHAIN, STAR, FAN, BROOM, SHAPES } shape;

// A chain; a root with children; each of those with as many; a chain that ends in a star.
static uint32_t parent_at(shape of, uint32_t rank, uint32_t size)
{
    const uint32_t width = size / 20;

    switch (of) {
    case CHAIN:
        return rank - 1;
    case STAR:
        return 0;
    case FAN:
        return rank <= width ? 0 : 1 + (rank - width - 1) * width / (size - width - 1);
    default:
        return rank < size / 2 ? rank - 1 : size / 2 - 1;
    }
}

static uint32_t plant_shape(shape of, uint32_t size, bool has_extras)
{
    uint32_t parent[SIZE] = {ESPL__NO_SLOT};

    for (uint32_t rank = 1; rank < size; ++rank) {
        parent[rank] = parent_at(of, rank, size);
    }
    return grove_plant(&g, &(grove_plan){.parent = parent, .size = size, .has_extras = has_extras});
}

static uint32_t depth_of(uint32_t number)
{
    uint32_t depth = 0;

    while (plants[number].parent != NONE) {
        number = plants[number].parent;
        depth += 1;
    }
    return depth;
}

static uint32_t level_count(void)
{
    uint32_t deepest = 0;

    for (uint32_t number = 0; number < plant_count; ++number) {
        const uint32_t depth = plants[number].is_dead ? 0 : depth_of(number);

        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

// --- Shortcuts ---

// Hang a node under its parent's parent, or under the root that it hangs under, first.
static void lift(uint32_t number)
{
    const uint32_t up = plants[number].parent;

    move_to(number, plants[up].parent == NONE ? up : plants[up].parent, 0);
}

// A node of one end or the middle, which is not the root.
static uint32_t rank_of_place(uint32_t place, uint32_t size)
{
    return place == 0 ? 1 : place == 1 ? size / 2 : size - 1;
}

// A tenth of the nodes, then all of them: as few pieces, since the same is edited.
START_TEST(stretches_before_and_behind_an_edit_are_one_piece_each)
{
    for (shape of = CHAIN; of < SHAPES; ++of) {
        for (uint32_t place = 0; place < 3; ++place) {
            for (uint32_t i = 0; i < 2; ++i) {
                const uint32_t size = i == 0 ? SIZE / 10 : SIZE;
                const uint32_t run = plant_shape(of, size, false);

                begin_sketch(4);
                (void)load(run);
                // The place among siblings, or nothing, but laid out all the same.
                const uint32_t number = rank_of_place(place, size);
                const uint32_t up = plants[number].parent;

                espl__sketch_unlink(&sketch, plants[number].node);
                (void)cut(number);
                espl__sketch_link(&sketch, plants[number].node, plants[up].node,
                                  plants[up].count == 0 ? NONE : plants[plants[up].child[0]].node);
                hang(number, up, 0);
                layout_agrees();
                ck_assert_uint_le(sketch.pieces.count, 12);
                ck_assert_uint_eq(sketch.changed_count, 0);
                ck_assert_uint_le(sketch.known.count, 1 + 5);
                uproot(&run, 1);
            }
        }
    }
}
END_TEST

START_TEST(ranks_before_the_lowest_known_one_stand_in_one_piece)
{
    for (shape of = CHAIN; of < SHAPES; ++of) {
        const uint32_t run = plant_shape(of, SIZE, false), number = SIZE - 1;

        begin_sketch(4);
        (void)load(run);
        espl__sketch_restructure(&sketch, plants[number].node);
        layout_agrees();
        const espl__piece *const piece = espl__sketch_piece(&sketch, 0);

        ck_assert_uint_eq(sketch.pieces.count, 2);
        ck_assert_uint_eq(piece->count, SIZE - 1);
        ck_assert_uint_eq(loads[load_numbers[0]].lowest, SIZE - 1);
        ck_assert(espl__piece_stays(piece, espl__sketch_laid(&sketch, 0)));
        uproot(&run, 1);
    }
}
END_TEST

START_TEST(all_behind_the_last_known_rank_moves_as_one)
{
    // A leaf goes from the front: all behind it goes down by one.
    for (shape of = STAR; of < SHAPES; ++of) {
        const uint32_t run = plant_shape(of, SIZE, of == FAN);
        const uint32_t number = of == BROOM ? SIZE / 2 : of == FAN ? SIZE / 20 + 1 : 1;

        begin_sketch(4);
        (void)load(run);
        ck_assert_uint_eq(plants[number].count, 0);
        unlink_one(number);
        layout_agrees();
        const espl__laid *const laid = espl__sketch_laid(&sketch, 0);
        const espl__piece *const last = espl__sketch_piece(&sketch, laid->end - 1);

        ck_assert_uint_eq(sketch.laid.count, 2);
        ck_assert_uint_eq(last->node, NONE);
        ck_assert_uint_eq(last->position + 1, last->rank);
        ck_assert_uint_eq(last->rank + last->count, SIZE);
        ck_assert_uint_le(laid->end - laid->begin, 10);
        uproot(&run, 1);
    }
}
END_TEST

// One known node splits the stretch that it is in and, below it, that of each level.
START_TEST(pieces_are_bounded_by_edits_and_levels)
{
    size_t pieces = 0, nodes = 0;

    for (uint32_t round = 0; round < test_scaled(200) + 20; ++round) {
        uint32_t parent[SIZE];
        uint8_t flags[SIZE] = {0};

        grove_random_parents(parent, SIZE, 2 + below(40), &random_state);
        for (uint32_t i = 0; round % 3 == 0 && i < 20; ++i) {
            flags[below(SIZE)] = ESPL__SLOT_PASS;
        }
        const uint32_t run = grove_plant(&g, &(grove_plan){.parent = parent,
                                                           .size = SIZE,
                                                           .flags = flags,
                                                           .is_shuffled = below(2) == 0,
                                                           .has_extras = round % 4 == 1});
        begin_sketch(below(20));
        (void)load(run);
        for (uint32_t edits = 1 + below(5); edits > 0; --edits) {
            if (below(3) == 0) {
                write_one();
            } else {
                const uint32_t node = 1 + below(SIZE - 1), to = below(SIZE);

                if (!plants[node].is_dead && !plants[to].is_dead && !is_at_or_below(to, node)) {
                    move_to(node, to, below(plants[to].count + 1));
                }
            }
        }
        layout_agrees();
        ck_assert_uint_le(sketch.pieces.count, 2 * sketch.known.count * (1 + level_count()));
        pieces += sketch.pieces.count;
        nodes += SIZE;
        uproot(&run, 1);
    }
    ck_assert_uint_lt(2 * pieces, nodes);
}
END_TEST

START_TEST(a_write_above_a_star_computes_its_worlds_in_one_piece)
{
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t run = plant_shape(STAR, SIZE, i == 1);

        begin_sketch(4);
        (void)load(run);
        plants[0].placement.local.position[2] -= 3;
        tell_placement(0);
        layout_agrees();
        ck_assert_uint_eq(sketch.pieces.count, 2);
        ck_assert_uint_eq(sketch.changed_count, SIZE);
        ck_assert(!espl__sketch_laid(&sketch, 0)->is_restructured);
        ck_assert_uint_eq(sketch.known.count, 2);
        uproot(&run, 1);
    }
}
END_TEST

// --- Ghosts ---

static void bury_nobody(void *context, uint32_t entity)
{
    (void)context;
    (void)entity;
}

START_TEST(ghosts_are_spliced_out_in_few_pieces)
{
    for (shape of = STAR; of < SHAPES; ++of) {
        for (uint32_t place = 0; place < 3; ++place) {
            const uint32_t run = plant_shape(of, SIZE, false);

            espl__make_ghosts(&g.forest, grove_slot(&g, run, rank_of_place(place, SIZE)),
                              ESPL__CLOSURE_ONLY, bury_nobody, NULL);
            ck_assert_uint_eq(g.forest.runs[run].ghosts, 1);
            begin_sketch(4);
            (void)load(run);
            layout_agrees();
            ck_assert_uint_eq(sketch.laid.count, 1);
            ck_assert_uint_eq(espl__sketch_laid(&sketch, 0)->size, SIZE - 1);
            ck_assert_uint_eq(sketch.changed_count, 0);
            // All children of the ghost are asked for.
            const uint32_t children = of == FAN && place == 0 ? 20 : 0;

            ck_assert_uint_le(sketch.known.count, 6 + children);
            ck_assert_uint_le(sketch.pieces.count, 12 + children);
            uproot(&run, 1);
        }
    }
}
END_TEST

// --- Several loads ---

START_TEST(nodes_move_between_loads_and_back)
{
    for (uint32_t round = 0; round < 60; ++round) {
        const shape of = (shape)below(SHAPES), to = (shape)below(SHAPES);
        const uint32_t runs[2] = {plant_shape(of, 200, below(2) == 0),
                                  plant_shape(to, 200, below(2) == 0)};

        begin_sketch(below(30));
        (void)load(runs[0]);
        const uint32_t other = load(runs[1]);
        const uint32_t node = 1 + below(199), up = plants[node].parent;
        const uint32_t parent = other + below(200);
        uint32_t at = 0;

        while (plants[up].child[at] != node) {
            at += 1;
        }
        move_to(node, parent, below(plants[parent].count + 1));
        layout_agrees();
        ck_assert_uint_eq(espl__sketch_laid(&sketch, 1)->entrants,
                          200 - espl__sketch_laid(&sketch, 0)->size);
        ck_assert_uint_gt(espl__sketch_laid(&sketch, 1)->entrants, 0);
        move_to(node, up, at);
        layout_agrees();

        // All is where it was, and says so.
        ck_assert_uint_eq(sketch.laid.count, 2);
        for (uint32_t i = 0; i < sketch.laid.count; ++i) {
            const espl__laid *const laid = espl__sketch_laid(&sketch, i);

            ck_assert_uint_eq(laid->entrants, 0);
            ck_assert_uint_eq(laid->size, 200);
            for (uint32_t k = laid->begin; k < laid->end; ++k) {
                ck_assert(espl__piece_stays(espl__sketch_piece(&sketch, k), laid));
            }
        }
        uproot(runs, 2);
    }
}
END_TEST

START_TEST(a_hierarchy_that_hangs_in_another_goes_on_no_longer)
{
    const uint32_t runs[2] = {plant_shape(FAN, 500, false), plant_shape(FAN, 500, true)};

    begin_sketch(4);
    (void)load(runs[0]);
    (void)load(runs[1]);
    move_to(0, 510, 0);
    layout_agrees();
    ck_assert_uint_eq(sketch.laid.count, 1);
    ck_assert_uint_eq(espl__sketch_laid(&sketch, 0)->size, 1000);
    ck_assert_uint_eq(espl__sketch_laid(&sketch, 0)->entrants, 500);
    ck_assert(!loads[load_numbers[0]].goes_on && loads[load_numbers[1]].goes_on);

    // The other one is the root for once.
    unlink_one(0);
    move_to(500, 20, 0);
    layout_agrees();
    ck_assert_uint_eq(sketch.laid.count, 1);
    ck_assert(loads[load_numbers[0]].goes_on && !loads[load_numbers[1]].goes_on);
}
END_TEST

// Lifts and moves between many loads: what nobody asked for goes along in stretches.
START_TEST(random_edits_of_large_hierarchies_agree_with_the_naive_tree)
{
    for (uint32_t round = 0; round < test_scaled(60) + 10; ++round) {
        uint32_t runs[4];

        for (uint32_t i = 0; i < 4; ++i) {
            runs[i] = plant_shape((shape)below(SHAPES), 20 + below(200), below(4) == 0);
        }
        begin_sketch(below(50));
        for (uint32_t i = 0; i < 4; ++i) {
            (void)load(runs[i]);
        }
        for (uint32_t edits = 1 + below(10); edits > 0; --edits) {
            const uint32_t node = any_living();

            if (below(3) == 0 && plants[node].parent != NONE) {
                lift(node);
            } else {
                edit_one();
            }
        }
        layout_agrees();
        layout_agrees();
        if (round % 4 == 0) {
            links_agree();
            worlds_agree();
            layout_agrees();
        }
        uproot(runs, 4);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/pieces");
    TCase *const shortcuts = tcase_create("shortcuts");
    TCase *const several = tcase_create("loads");

    tcase_add_checked_fixture(shortcuts, set_up, tear_down);
    tcase_add_test(shortcuts, stretches_before_and_behind_an_edit_are_one_piece_each);
    tcase_add_test(shortcuts, ranks_before_the_lowest_known_one_stand_in_one_piece);
    tcase_add_test(shortcuts, all_behind_the_last_known_rank_moves_as_one);
    tcase_add_test(shortcuts, pieces_are_bounded_by_edits_and_levels);
    tcase_add_test(shortcuts, a_write_above_a_star_computes_its_worlds_in_one_piece);
    tcase_add_test(shortcuts, ghosts_are_spliced_out_in_few_pieces);
    suite_add_tcase(suite, shortcuts);

    tcase_add_checked_fixture(several, set_up, tear_down);
    tcase_add_test(several, nodes_move_between_loads_and_back);
    tcase_add_test(several, a_hierarchy_that_hangs_in_another_goes_on_no_longer);
    tcase_add_test(several, random_edits_of_large_hierarchies_agree_with_the_naive_tree);
    suite_add_tcase(suite, several);
    return suite;
}

RUN_SUITE(make_suite)
