// SPDX-License-Identifier: MIT
// Splices by themselves: edits of one run, at random, all there are of small trees, and by hand up
// to the limits, each beside a tree that is edited one by one (splices.h).
#include "tests/runner.h"
#include "tests/tree/splices.h"

// --- Random ---

enum { TRIES = 48 };

static grove_plan random_plan(uint32_t *parent, uint64_t *random)
{
    const uint32_t reaches[] = {1, 2, 4, 16, 400};
    const uint32_t size = 2 + test_below(random, test_one_in(random, 3) ? 12 : 300);

    grove_random_parents(parent, size, reaches[test_below(random, 5)], random);
    return (grove_plan){.parent = parent,
                        .size = size,
                        .holes = test_below(random, 3) * test_below(random, 20),
                        .spare = test_below(random, 3) * test_below(random, 40),
                        .seed = *random,
                        .is_shuffled = test_one_in(random, 2)};
}

// Where to paste: near to each other now and then, so that edits meet at one gap.
static uint32_t random_rank(uint64_t *random, uint32_t near)
{
    const uint32_t reach = b.t.old - near < 4 ? b.t.old - near : 4;

    return test_one_in(random, 3)   ? b.t.old - 1 - test_below(random, reach)
           : test_one_in(random, 2) ? near + test_below(random, reach)
                                    : test_below(random, b.t.old);
}

static uint32_t room_left(void)
{
    return b.was.capacity - b.was.size - (b.t.count - b.t.old);
}

// `more`: slots there will be besides those that the run has.
static void edit_at_random(uint64_t *random, uint32_t more)
{
    static card cards[TRIES];
    const uint32_t near = test_below(random, b.t.old), cuts = 1 + test_below(random, 4);
    const uint32_t tries = 1 + test_below(random, TRIES);

    for (uint32_t i = 0; i < tries; ++i) {
        const uint32_t rank = random_rank(random, near), room = room_left() + more;

        if (test_below(random, 5) < cuts) {
            (void)edit(rank, NULL);
        } else if (room != 0) {
            // All that there is room for, at times.
            const uint32_t most = room < 12 && test_one_in(random, 3) ? room : 9;
            const uint32_t size = most == room ? room : 1 + test_below(random, most);

            write_random_card(&cards[i], size < room ? size : room, random);
            (void)edit(rank, &cards[i].recipe);
        }
    }
}

START_TEST(random_edits_come_to_what_they_come_to_one_by_one)
{
    uint64_t random = 77 + (uint64_t)_i;
    uint32_t full = 0, done = 0, both = 0, straight = 0;

    for (size_t i = 0; i < test_scaled(1500) + 20; ++i) {
        uint32_t parent[GROVE_LIMIT];
        const grove_plan plan = random_plan(parent, &random);

        bench_begin(&plan);
        edit_at_random(&random, 0);
        ck_assert_uint_eq(grove_hash(&b.g), b.hash);
        if (sort_edits()) {
            commit();
            done += 1;
            full += room_left() == 0 && b.t.count > b.t.old;
            both += b.t.gone != 0 && b.t.count > b.t.old;
            straight += b.g.forest.runs[b.run].flags & ESPL__RUN_IN_ORDER;
        }
        bench_end();
    }
    ck_assert_uint_gt(done, 10);
    ck_assert_uint_gt(full, 0);
    ck_assert_uint_gt(both, 5);
    ck_assert_uint_gt(straight, 0);
}
END_TEST

START_TEST(random_edits_come_to_the_same_in_another_range)
{
    uint64_t random = 177 + (uint64_t)_i;
    uint32_t grown = 0, shrunk = 0, unordered = 0;

    for (size_t i = 0; i < test_scaled(1500) + 20; ++i) {
        uint32_t parent[GROVE_LIMIT];
        const grove_plan plan = random_plan(parent, &random);

        bench_begin(&plan);
        edit_at_random(&random, test_below(&random, 40));
        if (sort_edits()) {
            resettle(test_below(&random, 3) * test_below(&random, 30));
            grown += b.t.count - b.t.old > b.was.capacity - b.was.size;
            shrunk += b.g.forest.runs[b.run].capacity < b.was.size;
            unordered += (b.was.flags & ESPL__RUN_IN_ORDER) == 0;
        }
        bench_end();
    }
    ck_assert_uint_gt(grown, 5);
    ck_assert_uint_gt(shrunk, 0);
    ck_assert_uint_gt(unordered, 5);
}
END_TEST

// --- All there are ---

enum { FORMS = 4, SMALL_ROOM = 9 };

// An edit by its number: a cut, a leaf, a chain of two, a fork.
static bool edit_by_number(uint32_t number, const card *cards)
{
    const uint32_t form = number % FORMS;

    return edit(number / FORMS, form == 0 ? NULL : &cards[form - 1].recipe);
}

// The same edits once where the run is and once in another range.
static void try_edits(const uint32_t *parent, uint32_t size, const uint32_t *numbers,
                      uint32_t count, const card *cards)
{
    const grove_plan plan = {.parent = parent,
                             .size = size,
                             .holes = 2,
                             .spare = SMALL_ROOM - 2,
                             .is_shuffled = numbers[0] % 2 == 0};

    for (uint32_t way = 0; way < 2; ++way) {
        bench_begin(&plan);
        for (uint32_t i = 0; i < count; ++i) {
            (void)edit_by_number(numbers[i], cards);
        }
        const bool is_sorted = sort_edits();

        if (is_sorted && way == 0) {
            commit();
        } else if (is_sorted) {
            resettle(0);
        }
        bench_end();
    }
}

// All sequences of edits of a length on all trees of a size; few of them where steps are slow.
static void try_all(uint32_t size, uint32_t length)
{
    const size_t step = 1 + (40 / test_scaled(40) - 1) * 6;
    const uint32_t choices = size * FORMS;
    uint32_t parent[8] = {0};
    static card cards[FORMS - 1];
    size_t count = 1;

    write_chain(&cards[0], 1);
    write_chain(&cards[1], 2);
    write_star(&cards[2], 3);
    for (uint32_t i = 0; i < length; ++i) {
        count *= choices;
    }
    do {
        for (size_t number = 0; number < count; number += step) {
            size_t left = number;
            uint32_t numbers[3];

            for (uint32_t i = 0; i < length; ++i, left /= choices) {
                numbers[i] = (uint32_t)(left % choices);
            }
            try_edits(parent, size, numbers, length, cards);
        }
    } while (grove_next_parents(parent, size));
}

START_TEST(each_edit_of_each_small_tree_is_right)
{
    for (uint32_t size = 1; size <= 6; ++size) {
        try_all(size, 1);
    }
}
END_TEST

START_TEST(all_pairs_of_edits_of_small_trees_are_right)
{
    for (uint32_t size = 2; size <= 5; ++size) {
        try_all(size, 2);
    }
}
END_TEST

START_TEST(all_triples_of_edits_of_trees_of_four_are_right)
{
    for (uint32_t size = 2; size <= 4; ++size) {
        try_all(size, 3);
    }
}
END_TEST

// --- By hand ---

// A root with three children, of which the first has a child with a child.
static const uint32_t bush[6] = {0, 0, 0, 0, 1, 4};

static void begin_bush(uint32_t spare)
{
    const grove_plan plan = {.parent = bush, .size = 6, .spare = spare};

    bench_begin(&plan);
}

START_TEST(roots_do_not_go)
{
    begin_bush(0);
    ck_assert(!espl__splice_cut(&b.splice, 0));
    ck_assert_uint_eq(grove_hash(&b.g), b.hash);
    bench_end();
}
END_TEST

START_TEST(nobody_goes_twice)
{
    for (uint32_t rank = 1; rank < 6; ++rank) {
        begin_bush(0);
        ck_assert(espl__splice_cut(&b.splice, rank));
        ck_assert(!espl__splice_cut(&b.splice, rank));
        bench_end();
    }
}
END_TEST

START_TEST(subtrees_that_overlap_do_not_both_go)
{
    const uint32_t pairs[][2] = {{1, 4}, {1, 5}, {4, 5}, {4, 1}, {5, 1}, {5, 4}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        begin_bush(0);
        ck_assert(espl__splice_cut(&b.splice, pairs[i][0]));
        ck_assert(!espl__splice_cut(&b.splice, pairs[i][1]));
        ck_assert_uint_eq(grove_hash(&b.g), b.hash);
        bench_end();
    }
}
END_TEST

// Who is taken by itself goes like who is cut off.
START_TEST(who_is_taken_goes_once_and_by_no_other_edit)
{
    static const uint32_t above[] = {5, 4, 1};
    card c;

    write_chain(&c, 1);
    for (size_t i = 0; i < sizeof above / sizeof *above; ++i) {
        begin_bush(4);
        ck_assert(espl__splice_take(&b.splice, 5));
        ck_assert(!espl__splice_cut(&b.splice, above[i]));
        bench_end();
        begin_bush(4);
        ck_assert(espl__splice_cut(&b.splice, above[i]));
        ck_assert(!espl__splice_take(&b.splice, 5));
        bench_end();
    }
    begin_bush(4);
    ck_assert(espl__splice_take(&b.splice, 5));
    ck_assert(espl__splice_take(&b.splice, 4));
    ck_assert(!espl__splice_take(&b.splice, 5));
    ck_assert(!espl__splice_paste(&b.splice, 4, &c.recipe));
    ck_assert_uint_eq(b.splice.gone, 2);
    bench_end();
    begin_bush(4);
    ck_assert(espl__splice_paste(&b.splice, 5, &c.recipe));
    ck_assert(!espl__splice_take(&b.splice, 5));
    bench_end();
}
END_TEST

START_TEST(root_is_not_taken)
{
    begin_bush(0);
    ck_assert(!espl__splice_take(&b.splice, 0));
    ck_assert_uint_eq(b.splice.edit_count + b.splice.event_count + b.splice.gone, 0);
    bench_end();
}
END_TEST

START_TEST(nothing_comes_in_below_what_goes)
{
    const uint32_t below[] = {1, 4, 5};
    card c;

    write_chain(&c, 2);
    for (size_t i = 0; i < sizeof below / sizeof *below; ++i) {
        begin_bush(4);
        ck_assert(espl__splice_cut(&b.splice, 1));
        ck_assert(!espl__splice_paste(&b.splice, below[i], &c.recipe));
        bench_end();
        begin_bush(4);
        ck_assert(espl__splice_paste(&b.splice, below[i], &c.recipe));
        ck_assert(!espl__splice_cut(&b.splice, 1));
        ck_assert_uint_eq(grove_hash(&b.g), b.hash);
        bench_end();
    }
}
END_TEST

START_TEST(nothing_to_do_is_nothing_to_sort)
{
    begin_bush(0);
    ck_assert(!sort_edits());
    bench_end();
}
END_TEST

// Three parents without children, all of whose copies come in at one gap, behind the last rank.
START_TEST(copies_at_one_gap_stand_as_their_parents_do)
{
    card chain, leaf_card;

    write_chain(&chain, 3);
    write_chain(&leaf_card, 1);
    begin_bush(20);
    ck_assert(edit(5, &chain.recipe));
    ck_assert(edit(3, &chain.recipe));
    ck_assert(edit(2, &leaf_card.recipe));
    ck_assert(edit(3, &leaf_card.recipe));
    ck_assert(edit(0, &chain.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();
}
END_TEST

START_TEST(copies_come_in_next_to_what_goes)
{
    card chain;

    write_chain(&chain, 3);
    for (uint32_t gone = 2; gone < 6; ++gone) {
        for (uint32_t rank = 0; rank < 6; ++rank) {
            begin_bush(20);
            ck_assert(edit(gone, NULL));
            (void)edit(rank, &chain.recipe);
            (void)edit(rank == 0 ? 1 : 0, &chain.recipe);
            ck_assert(sort_edits());
            commit();
            bench_end();
        }
    }
}
END_TEST

START_TEST(only_what_stands_at_the_end_leaves_a_run_in_order)
{
    card c;

    write_chain(&c, 2);
    begin_bush(2);
    ck_assert(edit(5, &c.recipe));
    ck_assert(sort_edits());
    commit();
    ck_assert_uint_ne(b.g.forest.runs[b.run].flags & ESPL__RUN_IN_ORDER, 0);
    bench_end();

    begin_bush(2);
    ck_assert(edit(5, NULL));
    ck_assert(sort_edits());
    commit();
    ck_assert_uint_ne(b.g.forest.runs[b.run].flags & ESPL__RUN_IN_ORDER, 0);
    bench_end();

    begin_bush(2);
    ck_assert(edit(2, NULL));
    ck_assert(sort_edits());
    commit();
    ck_assert_uint_eq(b.g.forest.runs[b.run].flags & ESPL__RUN_IN_ORDER, 0);
    bench_end();
}
END_TEST

// --- Limits ---

// A root with leaves, or a chain, with room for all that a splice can make.
static void begin_long(uint32_t size, bool is_chain)
{
    uint32_t parent[GROVE_LIMIT] = {0};

    for (uint32_t i = 1; i < size && is_chain; ++i) {
        parent[i] = i - 1;
    }
    const grove_plan plan = {.parent = parent, .size = size, .spare = ESPL__SPLICE_MADE};

    bench_begin(&plan);
}

START_TEST(one_edit_more_than_there_may_be_is_refused)
{
    card c;

    write_chain(&c, 1);
    begin_long(80, false);
    for (uint32_t i = 0; i < ESPL__SPLICE_EDITS; ++i) {
        ck_assert(edit(2 * i + 1, i % 2 == 0 ? NULL : &c.recipe));
    }
    ck_assert(!edit(70, NULL));
    ck_assert(!edit(70, &c.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();
}
END_TEST

START_TEST(one_node_more_than_may_be_taken_is_refused)
{
    begin_long(80, false);
    for (uint32_t i = 0; i < ESPL__SPLICE_EDITS; ++i) {
        ck_assert(espl__splice_take(&b.splice, 2 * i + 1));
    }
    ck_assert(!espl__splice_take(&b.splice, 70));
    ck_assert_uint_eq(b.splice.gone, ESPL__SPLICE_EDITS);
    bench_end();

    // Where all levels are there already.
    begin_long(ESPL__SPLICE_EVENTS + 2, true);
    ck_assert(espl__splice_cut(&b.splice, 2));
    ck_assert(!espl__splice_take(&b.splice, 1));
    ck_assert_uint_eq(b.splice.gone, ESPL__SPLICE_EVENTS);
    ck_assert_uint_eq(b.splice.edit_count, 1);
    bench_end();
}
END_TEST

// A star below the root's only child.
START_TEST(one_rank_of_a_level_more_than_may_change_does_not_go)
{
    uint32_t parent[GROVE_LIMIT] = {0};

    for (uint32_t rank = 2; rank < GROVE_LIMIT; ++rank) {
        parent[rank] = 1;
    }
    for (uint32_t more = 0; more < 2; ++more) {
        bench_begin(&(grove_plan){.parent = parent, .size = 2 + ESPL__SPLICE_RANKS + more});
        ck_assert_int_eq(espl__splice_cut(&b.splice, 1), more == 0);
        ck_assert_uint_eq(b.splice.edit_count, more == 0);
        bench_end();
    }
}
END_TEST

START_TEST(ranks_with_the_same_last_bits_are_told_apart)
{
    const uint32_t far = ESPL__SPLICE_FILTER;
    card c;

    write_chain(&c, 2);
    begin_long(far + 100, false);
    ck_assert(edit(7, NULL));
    ck_assert(edit(7 + far, &c.recipe));
    ck_assert(edit(9 + far, NULL));
    ck_assert(edit(9, &c.recipe));
    ck_assert(edit(11, NULL));
    ck_assert(edit(11 + far, NULL));
    ck_assert(edit(13 + far, &c.recipe));
    ck_assert(edit(13, NULL));
    ck_assert(!edit(9 + far, NULL));
    ck_assert(!edit(7, &c.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();
}
END_TEST

START_TEST(one_level_more_than_there_may_be_is_refused)
{
    const uint32_t most = ESPL__SPLICE_EVENTS;
    card chain, one;

    write_chain(&one, 1);
    write_chain(&chain, most - 1);
    begin_long(most + 2, true);
    ck_assert(!edit(1, NULL)); // one level too many
    ck_assert(edit(2, NULL));  // that many exactly
    ck_assert(!edit(1, &one.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();

    begin_long(4, true);
    ck_assert(edit(2, &chain.recipe));
    ck_assert(edit(3, &one.recipe));
    ck_assert(!edit(0, &one.recipe));
    ck_assert(!edit(1, NULL));
    ck_assert(sort_edits());
    commit();
    bench_end();
}
END_TEST

START_TEST(one_node_more_than_may_be_made_is_refused)
{
    const uint32_t most = ESPL__SPLICE_MADE;
    static card all, more, rest, one;

    write_star(&more, most + 1);
    write_star(&all, most);
    write_star(&rest, most - 1);
    write_chain(&one, 1);
    begin_long(5, false);
    ck_assert(!edit(2, &more.recipe));
    ck_assert(edit(2, &all.recipe));
    ck_assert(!edit(0, &one.recipe));
    ck_assert(edit(3, NULL));
    ck_assert(sort_edits());
    commit();
    ck_assert_uint_eq(room_left(), 0);
    bench_end();

    begin_long(5, false);
    ck_assert(edit(2, &rest.recipe));
    ck_assert(edit(0, &one.recipe));
    ck_assert(!edit(1, &one.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();
}
END_TEST

// From the first leaf of a star on all ranks change; one that comes in counts too.
START_TEST(one_rank_more_than_may_change_is_refused)
{
    const uint32_t most = ESPL__SPLICE_RANKS;
    card one, two;

    _Static_assert((int)ESPL__SPLICE_RANKS + 3 <= (int)GROVE_LIMIT, "such a run can be planted");
    write_chain(&one, 1);
    write_chain(&two, 2);
    begin_long(most, false);
    ck_assert(edit(1, NULL));
    ck_assert(edit(0, &one.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();

    begin_long(most, false);
    ck_assert(edit(1, NULL));
    ck_assert(edit(0, &two.recipe));
    ck_assert(!sort_edits());
    bench_end();

    // What stands before counts for nothing.
    begin_long(most, false);
    ck_assert(edit(2, NULL));
    ck_assert(edit(0, &two.recipe));
    ck_assert(sort_edits());
    commit();
    bench_end();
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("tree/splice");
    TCase *const random = tcase_create("random");
    TCase *const all = tcase_create("all");
    TCase *const by_hand = tcase_create("by hand");
    TCase *const limits = tcase_create("limits");

    tcase_set_timeout(random, 120);
    tcase_add_loop_test(random, random_edits_come_to_what_they_come_to_one_by_one, 0, 4);
    tcase_add_loop_test(random, random_edits_come_to_the_same_in_another_range, 0, 2);
    suite_add_tcase(suite, random);

    tcase_set_timeout(all, 120);
    tcase_add_test(all, each_edit_of_each_small_tree_is_right);
    tcase_add_test(all, all_pairs_of_edits_of_small_trees_are_right);
    tcase_add_test(all, all_triples_of_edits_of_trees_of_four_are_right);
    suite_add_tcase(suite, all);

    tcase_add_test(by_hand, roots_do_not_go);
    tcase_add_test(by_hand, nobody_goes_twice);
    tcase_add_test(by_hand, subtrees_that_overlap_do_not_both_go);
    tcase_add_test(by_hand, who_is_taken_goes_once_and_by_no_other_edit);
    tcase_add_test(by_hand, root_is_not_taken);
    tcase_add_test(by_hand, nothing_comes_in_below_what_goes);
    tcase_add_test(by_hand, nothing_to_do_is_nothing_to_sort);
    tcase_add_test(by_hand, copies_at_one_gap_stand_as_their_parents_do);
    tcase_add_test(by_hand, copies_come_in_next_to_what_goes);
    tcase_add_test(by_hand, only_what_stands_at_the_end_leaves_a_run_in_order);
    suite_add_tcase(suite, by_hand);

    tcase_add_test(limits, one_edit_more_than_there_may_be_is_refused);
    tcase_add_test(limits, one_node_more_than_may_be_taken_is_refused);
    tcase_add_test(limits, one_rank_of_a_level_more_than_may_change_does_not_go);
    tcase_add_test(limits, ranks_with_the_same_last_bits_are_told_apart);
    tcase_add_test(limits, one_level_more_than_there_may_be_is_refused);
    tcase_add_test(limits, one_node_more_than_may_be_made_is_refused);
    tcase_add_test(limits, one_rank_more_than_may_change_is_refused);
    suite_add_tcase(suite, limits);
    return suite;
}

RUN_SUITE(make_suite)
