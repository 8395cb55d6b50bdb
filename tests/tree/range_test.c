// SPDX-License-Identifier: MIT
// Ranges of slots, compared with an array of the owner of each slot, and tree headers.
#include "tests/tree/fixture.h"

enum { SLOTS = 4096, TREES = 256, NO_OWNER = ESPL__NO_TREE };

// The model: owner of each slot, and the trees that live.
static uint32_t owner[SLOTS];
static uint32_t living[TREES], living_count;

static void set_up(void)
{
    fixture_begin(&fix);
    memset(owner, 0xff, sizeof owner);
    living_count = 0;
}

static void tear_down(void)
{
    while (living_count > 0) {
        espl__tree_release(forest, living[--living_count]);
    }
    ck_assert_uint_eq(forest->end, 0);
    ck_assert_uint_eq(forest->free_slots, 0);
    fixture_end(&fix);
}

// --- The model ---

// Sizes up to 15 have a class each, and eight classes each power of two above.
static uint32_t class_of(uint32_t count)
{
    uint32_t octave = 0;

    if (count < 16) {
        return count;
    }
    while (count >> octave >= 16) {
        octave += 1;
    }
    return 16 + (octave - 1) * 8 + ((count >> octave) - 8);
}

static uint32_t smallest_of(uint32_t class)
{
    uint32_t count = 1;

    while (class_of(count) < class) {
        count += 1;
    }
    return count;
}

// The slots of the free range that begins at a slot.
static uint32_t free_at(uint32_t base)
{
    uint32_t count = 0;

    while (base + count < forest->end && owner[base + count] == NO_OWNER) {
        count += 1;
    }
    return count;
}

// The smallest class of the free ranges whose every range holds so many slots, or ESPL__SIZE_CLASSES.
static uint32_t best_class(uint32_t wanted)
{
    uint32_t best = ESPL__SIZE_CLASSES;

    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        const uint32_t count = free_at(slot);

        if (count != 0) {
            const uint32_t class = class_of(count);

            best = smallest_of(class) >= wanted && class < best ? class : best;
            slot += count;
        }
    }
    return best;
}

// The range that was listed last in the class of the count itself holds it too.
static bool own_class_holds(uint32_t wanted)
{
    const uint32_t head = forest->free_heads[class_of(wanted)];

    return head != ESPL__NO_SLOT && free_at(head) >= wanted;
}

// A tree with a range of so many slots, which were nobody's and are the best fit.
static uint32_t take(uint32_t count)
{
    ck_ok(espl__forest_reserve(forest, count, 1));
    const uint32_t tree = espl__tree_take(forest);
    const uint32_t before = forest->end, best = best_class(count);
    const bool is_own = own_class_holds(count);
    const uint32_t base = espl__range_take(forest, count);

    ck_assert_uint_le(base + count, forest->end);
    ck_assert_uint_le(forest->end, SLOTS);
    if (base == before) {
        ck_assert(best == ESPL__SIZE_CLASSES && !is_own);
    } else {
        ck_assert_uint_eq(class_of(free_at(base)), is_own ? class_of(count) : best);
    }
    for (uint32_t slot = base; slot < base + count; ++slot) {
        ck_assert_uint_eq(owner[slot], NO_OWNER);
        owner[slot] = forest->tree[slot] = tree;
    }
    forest->trees[tree] = espl__tree_in_order(base, count, 1, 0);
    ck_assert_uint_lt(living_count, TREES);
    living[living_count++] = tree;
    return tree;
}

static void give(uint32_t at)
{
    const espl__tree header = forest->trees[living[at]];

    for (uint32_t slot = header.base; slot < header.base + header.capacity; ++slot) {
        owner[slot] = NO_OWNER;
    }
    espl__tree_release(forest, living[at]);
    living[at] = living[--living_count];
}

static void give_tree(uint32_t tree)
{
    uint32_t at = 0;

    while (living[at] != tree) {
        at += 1;
    }
    give(at);
}

static uint32_t base_of(uint32_t tree)
{
    return forest->trees[tree].base;
}

// The books of the pool say what the model says.
static void check_pool(void)
{
    uint32_t free_slots = 0, ranges = 0, listed = 0;

    ck_assert_pstr_eq(espl__pool_broken_rule(forest), NULL);
    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        const uint32_t count = free_at(slot);

        if (count != 0) {
            ck_assert_uint_eq(forest->tree[slot], ESPL__NO_TREE);
            ck_assert_uint_eq(forest->tree[slot + count - 1], ESPL__NO_TREE);
            ck_assert_uint_eq(forest->links[slot].first_child, count);
            ck_assert_uint_eq(forest->links[slot + count - 1].first_child, count);
            free_slots += count;
            ranges += 1;
            slot += count;
        }
    }
    for (uint32_t class = 0; class < ESPL__SIZE_CLASSES; ++class) {
        for (uint32_t base = forest->free_heads[class]; base != ESPL__NO_SLOT;
             base = forest->links[base].next) {
            ck_assert_uint_eq(class_of(free_at(base)), class);
            ck_assert(base == 0 || owner[base - 1] != NO_OWNER);
            listed += 1;
        }
    }
    ck_assert_uint_eq(listed, ranges);
    ck_assert_uint_eq(forest->free_slots, free_slots);
    ck_assert(forest->end == 0 || owner[forest->end - 1] != NO_OWNER);
}

static uint32_t random_size(uint64_t *random)
{
    if (test_one_in(random, 10)) {
        return 1 + test_below(random, 120);
    }
    return 1 + test_below(random, test_one_in(random, 2) ? 2 : 20);
}

// --- Tests ---

FIXTURE(set_up, tear_down);

TEST(ranges_taken_and_given_at_random_fit_best_and_never_overlap)
{
    const size_t operations = test_scaled(20000);
    uint64_t random = 1;
    uint32_t wanted = 100;

    for (size_t i = 0; i < operations; ++i) {
        // The number of trees goes up and down, to nothing at times.
        if (i % 2000 == 0) {
            wanted = test_below(&random, 140);
        }
        const bool grows =
            living_count < wanted ? !test_one_in(&random, 4) : test_one_in(&random, 4);

        if (living_count == 0 || (grows && living_count < 140 && forest->end < SLOTS - 120)) {
            (void)take(random_size(&random));
        } else {
            give(test_below(&random, living_count));
        }
        check_pool();
    }
}

TEST(a_free_range_merges_with_those_before_and_behind_it)
{
    const uint32_t a = take(10), b = take(20), c = take(30), d = take(5);

    give_tree(a);
    ck_assert_uint_eq(free_at(0), 10);
    check_pool();
    give_tree(c);
    ck_assert_uint_eq(forest->links[30].first_child, 30);
    check_pool();
    give_tree(b);
    ck_assert_uint_eq(forest->links[0].first_child, 60);
    ck_assert_uint_eq(forest->end, 65);
    check_pool();
    give_tree(d);
    ck_assert_uint_eq(forest->end, 0);
}

TEST(the_end_shrinks_past_the_free_range_before_it)
{
    const uint32_t a = take(10), b = take(20), c = take(30);

    give_tree(b);
    ck_assert_uint_eq(forest->end, 60);
    give_tree(c);
    ck_assert_uint_eq(forest->end, 10);
    ck_assert_uint_eq(forest->free_slots, 0);
    check_pool();
    give_tree(a);
    ck_assert_uint_eq(forest->end, 0);
}

TEST(a_range_is_cut_from_the_smallest_class_that_holds_it)
{
    const uint32_t large = take(100), gap = take(1), small = take(12), other = take(1);
    const uint32_t at_large = base_of(large), at_small = base_of(small);

    give_tree(large);
    give_tree(small);
    const uint32_t first = base_of(take(9)), second = base_of(take(9));

    ck_assert_uint_eq(first, at_small);
    ck_assert_uint_eq(second, at_large);
    check_pool();
    ck_assert_uint_eq(base_of(take(3)), at_small + 9);
    check_pool();
    (void)gap;
    (void)other;
}

TEST(steady_churn_does_not_move_the_end)
{
    const size_t steps = test_scaled(5000);
    uint64_t random = 2;

    for (uint32_t i = 0; i < 150; ++i) {
        (void)take(random_size(&random));
    }
    const uint32_t mark = forest->end;

    for (size_t i = 0; i < steps; ++i) {
        const uint32_t at = test_below(&random, living_count);
        const uint32_t count = forest->trees[living[at]].capacity;

        give(at);
        (void)take(count);
        ck_assert_uint_le(forest->end, mark);
    }
    check_pool();
}

// The way of a playback: new trees have their ranges before the old ones go.
TEST(churn_that_takes_before_it_gives_stays_below_twice_what_lives)
{
    enum { BATCH = 10 };
    const size_t frames = test_scaled(500);
    uint64_t random = 3;
    uint32_t total = 0;

    for (uint32_t i = 0; i < 150; ++i) {
        const uint32_t count = random_size(&random);

        (void)take(count);
        total += count;
    }
    for (size_t frame = 0; frame < frames; ++frame) {
        uint32_t old[BATCH];

        for (uint32_t i = 0; i < BATCH; ++i) {
            old[i] = living[test_below(&random, 15) * BATCH + i];
            (void)take(forest->trees[old[i]].capacity);
        }
        for (uint32_t i = 0; i < BATCH; ++i) {
            give_tree(old[i]);
        }
        ck_assert_uint_le(forest->end, 2 * total);
    }
    check_pool();
}

// --- Reserves ---

TEST(a_reserve_past_the_limit_is_refused)
{
    const size_t limit = UINT32_MAX / 2;

    ck_status(espl__forest_reserve(forest, limit + 1, 0), ESPL_ERR_LIMIT);
    ck_status(espl__forest_reserve(forest, 0, limit + 1), ESPL_ERR_LIMIT);
    ck_status(espl__forest_reserve(forest, SIZE_MAX, 0), ESPL_ERR_LIMIT);
    ck_status(espl__forest_prepay(forest, SIZE_MAX, 1), ESPL_ERR_LIMIT);
    (void)take(3);
    ck_status(espl__forest_reserve(forest, limit - 2, 0), ESPL_ERR_LIMIT);
    ck_status(espl__forest_reserve(forest, SIZE_MAX - 2, 0), ESPL_ERR_LIMIT);
    check_pool();
}

TEST(a_reserve_that_fails_changes_nothing)
{
    uint64_t random = 5;

    for (int i = 0; i < 60; ++i) {
        (void)take(random_size(&random));
    }
    for (int i = 0; i < 20; ++i) {
        give(test_below(&random, living_count));
    }
    const size_t slots = forest->capacity, trees = forest->tree_capacity;
    const size_t wanted[][2] = {{slots, 0}, {0, trees}, {slots, trees}};

    for (size_t i = 0; i < 3; ++i) {
        test_heap_arm(&fix.under, 1, true);
        ck_status(espl__forest_reserve(forest, wanted[i][0], wanted[i][1]), ESPL_ERR_NO_MEMORY);
        ck_status(espl__forest_prepay(forest, wanted[i][0], wanted[i][1]), ESPL_ERR_NO_MEMORY);
        test_heap_arm(&fix.under, 0, false);
        ck_assert_uint_eq(forest->floor, 0);
        ck_assert_uint_eq(forest->capacity, slots);
        check_pool();
    }
}

TEST(ranges_that_were_reserved_need_no_memory)
{
    uint64_t random = 6;

    if (test_moves_always()) {
        return;
    }
    ck_ok(espl__forest_reserve(forest, 1000, 50));
    test_heap_arm(&fix.under, 1, true);
    for (uint32_t i = 0; i < 50; ++i) {
        (void)take(1 + test_below(&random, 20));
    }
    ck_assert_uint_eq(fix.under.failures, 0);
    test_heap_arm(&fix.under, 0, false);
}

// --- Headers ---

TEST(the_header_that_was_given_last_is_taken_first)
{
    const uint32_t a = take(1), b = take(1), c = take(1);

    give_tree(a);
    give_tree(c);
    give_tree(b);
    check_pool();
    ck_assert_uint_eq(take(1), b);
    ck_assert_uint_eq(take(1), c);
    ck_assert_uint_eq(take(1), a);
    ck_assert_uint_eq(take(1), 3);
}

TEST(unsettled_trees_are_in_one_list_until_they_go)
{
    const uint64_t seeds = test_scaled(500);

    for (uint64_t seed = 0; seed < seeds; ++seed) {
        uint64_t random = seed;
        uint32_t marked = 0, listed = 0;

        for (int i = 0; i < 10; ++i) {
            (void)take(2);
        }
        for (int i = 0; i < 30; ++i) {
            const uint32_t tree = living[test_below(&random, living_count)];

            if (test_one_in(&random, 2)) {
                espl__tree_mark_unsettled(forest, tree);
            } else {
                espl__tree_unmark_unsettled(forest, tree);
            }
        }
        give(test_below(&random, living_count));
        for (uint32_t i = 0; i < living_count; ++i) {
            marked += (forest->trees[living[i]].flags & ESPL__TREE_UNSETTLED) != 0;
        }
        for (uint32_t tree = forest->unsettled; tree != ESPL__NO_TREE;
             tree = forest->trees[tree].next) {
            ck_assert(forest->trees[tree].capacity != 0);
            listed += 1;
        }
        ck_assert_uint_eq(listed, marked);
        begin_again();
    }
}
