// SPDX-License-Identifier: MIT
// Splices by themselves: edits of one run beside a tree of linked nodes that is edited one by one
// and walked breadth-first. Every rank, parent, first child, slot and hole is foretold, and so is
// every refusal.
#include "lib/tree/splice.h"
#include "tests/runner.h"
#include "tests/tree/grove.h"

#include <string.h>

enum { NODES = GROVE_LIMIT + ESPL__SPLICE_MADE, NOBODY = UINT32_MAX, TRIES = 48 };

// --- The tree that is edited by hand ---

typedef struct leaf {
    uint32_t parent, first, last, next; // nodes
    uint32_t edit, position;            // of what comes in
    bool is_gone, is_fed;               // fed: something comes in below it
} leaf;

typedef struct tree {
    leaf nodes[NODES]; // those of the run by rank, then those that come in
    uint32_t old, count, gone;
    uint32_t edits, events;
    uint32_t begin; // first rank that changes
} tree;

static void append(tree *t, uint32_t node, uint32_t parent)
{
    leaf *const up = &t->nodes[parent];

    if (up->first == NOBODY) {
        up->first = node;
    } else {
        t->nodes[up->last].next = node;
    }
    up->last = node;
}

static uint32_t add_node(tree *t, uint32_t parent, uint32_t edit, uint32_t position)
{
    const uint32_t node = t->count++;

    t->nodes[node] = (leaf){.parent = parent,
                            .first = NOBODY,
                            .last = NOBODY,
                            .next = NOBODY,
                            .edit = edit,
                            .position = position};
    if (parent != NOBODY) {
        append(t, node, parent);
    }
    return node;
}

static void read_tree(tree *t, const uint32_t *parent, uint32_t size)
{
    memset(t, 0, sizeof *t);
    for (uint32_t rank = 0; rank < size; ++rank) {
        (void)add_node(t, rank == 0 ? NOBODY : parent[rank], NOBODY, 0);
    }
    t->old = t->begin = size;
}

static bool is_below(const tree *t, uint32_t node, uint32_t top)
{
    while (node != top && node != NOBODY) {
        node = t->nodes[node].parent;
    }
    return node == top;
}

static uint32_t depth_of(const tree *t, uint32_t node)
{
    uint32_t depth = 0;

    for (; t->nodes[node].parent != NOBODY; node = t->nodes[node].parent) {
        depth += 1;
    }
    return depth;
}

// Levels of a subtree of the run.
static uint32_t height_of(const tree *t, uint32_t top)
{
    uint32_t height = 0;

    for (uint32_t node = top; node < t->old; ++node) {
        if (is_below(t, node, top)) {
            const uint32_t levels = depth_of(t, node) - depth_of(t, top) + 1;

            height = levels > height ? levels : height;
        }
    }
    return height;
}

// Tell whether a cut or, with a recipe, a paste can be done.
static bool can_be_done(const tree *t, uint32_t rank, const espl__recipe *recipe)
{
    const uint32_t events = recipe != NULL ? recipe->levels : height_of(t, rank);
    const uint32_t made = t->count - t->old + (recipe != NULL ? recipe->size : 0);

    if (t->edits == ESPL__SPLICE_EDITS || t->events + events > ESPL__SPLICE_EVENTS ||
        made > ESPL__SPLICE_MADE || t->nodes[rank].is_gone) {
        return false;
    }
    if (recipe != NULL) {
        return true;
    }
    for (uint32_t node = rank; node < t->old; ++node) {
        if (is_below(t, node, rank) && (t->nodes[node].is_gone || t->nodes[node].is_fed)) {
            return false;
        }
    }
    return rank != 0;
}

static void change_from(tree *t, uint32_t rank)
{
    t->begin = rank < t->begin ? rank : t->begin;
}

static void cut_by_hand(tree *t, uint32_t rank)
{
    t->edits += 1;
    t->events += height_of(t, rank);
    for (uint32_t node = rank; node < t->old; ++node) {
        if (is_below(t, node, rank)) {
            t->nodes[node].is_gone = true;
            t->gone += 1;
        }
    }
    change_from(t, rank);
}

// Behind the last child of a rank: where that of the ranks behind begin.
static uint32_t gap_behind(const tree *t, uint32_t rank)
{
    uint32_t gap = 1;

    while (gap < t->old && t->nodes[gap].parent <= rank) {
        gap += 1;
    }
    return gap;
}

static void paste_by_hand(tree *t, uint32_t rank, const espl__recipe *recipe)
{
    const uint32_t first = t->count;

    for (uint32_t i = 0; i < recipe->size; ++i) {
        (void)add_node(t, i == 0 ? rank : first + recipe->parents[i], t->edits, i);
    }
    t->nodes[rank].is_fed = true;
    t->edits += 1;
    t->events += recipe->levels;
    change_from(t, gap_behind(t, rank));
}

// --- Recipes ---

enum { RECIPE_NODES = ESPL__SPLICE_MADE + 1 };

typedef struct card {
    espl__recipe recipe;
    uint32_t slots[RECIPE_NODES], parents[RECIPE_NODES], starts[RECIPE_NODES + 1];
} card;

// Levels by the depth of each node, one by one.
static void write_card(card *c, const uint32_t *parent, uint32_t size)
{
    uint32_t depths[RECIPE_NODES] = {0}, levels = 1;

    ck_assert_uint_le(size, RECIPE_NODES);
    c->parents[0] = ESPL__NO_SLOT;
    c->starts[0] = 0;
    for (uint32_t i = 1; i < size; ++i) {
        c->parents[i] = parent[i];
        depths[i] = depths[parent[i]] + 1;
        if (depths[i] != depths[i - 1]) {
            c->starts[levels++] = i;
        }
    }
    c->starts[levels] = size;
    c->recipe = (espl__recipe){size, levels, c->slots, c->parents, c->starts};
}

static void write_random_card(card *c, uint32_t size, uint64_t *random)
{
    uint32_t parent[RECIPE_NODES];

    grove_random_parents(parent, size, 1 + test_below(random, 2) * test_below(random, size),
                         random);
    write_card(c, parent, size);
}

static void write_chain(card *c, uint32_t size)
{
    uint32_t parent[RECIPE_NODES];

    for (uint32_t i = 0; i < size; ++i) {
        parent[i] = i - 1;
    }
    write_card(c, parent, size);
}

static void write_star(card *c, uint32_t size)
{
    static const uint32_t parent[RECIPE_NODES] = {0};

    write_card(c, parent, size);
}

// --- A run and its splice ---

typedef struct bench {
    grove g;
    uint32_t run;
    tree t;
    espl__splice splice;
    // As it was.
    espl__run was;
    uint32_t order[NODES]; // of all that were in use
    uint64_t hash;
} bench;

static bench b;

static void bench_begin(const grove_plan *plan)
{
    const espl__forest *const forest = &b.g.forest;

    grove_begin(&b.g);
    b.run = grove_plant(&b.g, plan);
    b.was = forest->runs[b.run];
    memcpy(b.order, forest->order + b.was.base, b.was.used * sizeof *b.order);
    b.hash = grove_hash(&b.g);
    read_tree(&b.t, plan->parent, plan->size);
    espl__splice_begin(&b.splice, forest, b.run);
}

static void bench_end(void)
{
    espl__run_release(&b.g.forest, b.run);
    grove_end(&b.g);
}

// Try an edit that the tree can tell the fate of. A splice that refused is of no use any more: the
// one before goes on.
static bool edit(uint32_t rank, const espl__recipe *recipe)
{
    const bool is_fine = can_be_done(&b.t, rank, recipe);
    static espl__splice before;

    before = b.splice;
    const bool is_done = recipe != NULL ? espl__splice_paste(&b.splice, rank, recipe)
                                        : espl__splice_cut(&b.splice, rank);

    ck_assert_msg(is_done == is_fine, "%s at rank %u of %u", recipe != NULL ? "paste" : "cut", rank,
                  b.t.old);
    if (!is_done) {
        b.splice = before;
    } else if (recipe != NULL) {
        paste_by_hand(&b.t, rank, recipe);
    } else {
        cut_by_hand(&b.t, rank);
    }
    ck_assert_uint_eq(b.splice.made, b.t.count - b.t.old);
    ck_assert_uint_eq(b.splice.gone, b.t.gone);
    ck_assert_uint_eq(b.splice.event_count, b.t.events);
    return is_done;
}

static bool sort_edits(void)
{
    const bool is_fine = b.t.events != 0 && b.t.count - b.t.begin <= ESPL__SPLICE_RANKS;
    const bool is_sorted = espl__splice_sort(&b.splice);

    ck_assert_int_eq(is_sorted, is_fine);
    ck_assert_uint_eq(grove_hash(&b.g), b.hash);
    return is_sorted;
}

// --- What is to be ---

typedef struct expected {
    uint32_t node[NODES], slot[NODES], rank_of[NODES];
    uint32_t size, taken;
} expected;

// The slot of the n-th that comes in, by rank.
static uint32_t nth_hole(uint32_t n)
{
    const uint32_t at = b.was.size + n;

    return at < b.was.used ? b.order[at] : b.was.base + at;
}

static void expect_node(expected *x, uint32_t node)
{
    x->rank_of[node] = x->size;
    x->node[x->size] = node;
    x->slot[x->size++] = node < b.t.old ? b.order[node] : nth_hole(x->taken++);
}

static void expect(expected *x)
{
    x->size = x->taken = 0;
    expect_node(x, 0);
    for (uint32_t at = 0; at < x->size; ++at) {
        for (uint32_t child = b.t.nodes[x->node[at]].first; child != NOBODY;
             child = b.t.nodes[child].next) {
            if (!b.t.nodes[child].is_gone) {
                expect_node(x, child);
            }
        }
    }
}

static void links_are(const expected *x)
{
    const espl__forest *const forest = &b.g.forest;
    const uint32_t base = b.was.base;
    uint32_t first = 1;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        const uint32_t parent = b.t.nodes[x->node[rank]].parent;

        ck_assert_uint_eq(forest->order[base + rank], x->slot[rank]);
        ck_assert_uint_eq(forest->rank[x->slot[rank]], rank);
        ck_assert_uint_eq(forest->parent[base + rank],
                          parent == NOBODY ? ESPL__NO_SLOT : x->rank_of[parent]);
        while (first < x->size && x->rank_of[b.t.nodes[x->node[first]].parent] < rank) {
            first += 1;
        }
        ck_assert_uint_eq(forest->first[base + rank], first);
    }
}

// Holes that are left, then slots that nodes left, in the order they had.
static void holes_are(const expected *x)
{
    const espl__forest *const forest = &b.g.forest;
    uint32_t at = x->size;

    for (uint32_t hole = b.was.size + x->taken; hole < b.was.used; ++hole, ++at) {
        ck_assert_uint_eq(forest->order[b.was.base + at], b.order[hole]);
    }
    for (uint32_t node = 0; node < b.t.old; ++node) {
        if (b.t.nodes[node].is_gone) {
            ck_assert_uint_eq(forest->order[b.was.base + at], b.order[node]);
            ck_assert_uint_eq(forest->rank[b.order[node]], at);
            ck_assert_uint_eq(forest->entity[b.order[node]], ESPL__NO_ENTITY);
            at += 1;
        }
    }
    ck_assert_uint_eq(at, forest->runs[b.run].used);
}

static void header_is(const expected *x)
{
    const espl__run *const run = &b.g.forest.runs[b.run];
    const uint32_t reached = b.was.size + x->taken;
    bool is_straight = (b.was.flags & ESPL__RUN_IN_ORDER) != 0;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        is_straight = is_straight && x->slot[rank] == b.was.base + rank;
    }
    ck_assert_uint_eq(run->base, b.was.base);
    ck_assert_uint_eq(run->capacity, b.was.capacity);
    ck_assert_uint_eq(run->size, x->size);
    ck_assert_uint_eq(run->used, reached > b.was.used ? reached : b.was.used);
    ck_assert_uint_eq(run->flags,
                      is_straight ? b.was.flags : b.was.flags & ~(unsigned)ESPL__RUN_IN_ORDER);
}

// Fill what comes in, and let worlds follow: the whole forest is sound then.
static void settle(const expected *x)
{
    espl__forest *const forest = &b.g.forest;
    uint64_t random = x->size;

    for (uint32_t rank = 0; rank < x->size; ++rank) {
        if (x->node[rank] >= b.t.old) {
            forest->entity[x->slot[rank]] = b.g.entities++;
            forest->flags[x->slot[rank]] = 0;
            forest->local[x->slot[rank]] = grove_random_pose(&random);
        }
    }
    ck_assert(espl__propagate_at(forest, b.run, 0));
    ck_assert(espl__propagate_below(forest, b.run, 0));
    grove_is_sound(&b.g);
}

static void commit(void)
{
    uint32_t slots[ESPL__SPLICE_MADE + 1];
    static expected x;

    memset(slots, 0xff, sizeof slots);
    expect(&x);
    espl__splice_commit(&b.splice, &b.g.forest, slots);
    links_are(&x);
    holes_are(&x);
    header_is(&x);
    for (uint32_t node = b.t.old; node < b.t.count; ++node) {
        const leaf *const made = &b.t.nodes[node];

        ck_assert_uint_eq(slots[node - b.t.old], x.slot[x.rank_of[node]]);
        ck_assert_uint_eq(b.splice.edits[made->edit].made + made->position, node - b.t.old);
    }
    ck_assert_uint_eq(slots[b.t.count - b.t.old], UINT32_MAX);
    settle(&x);
}

// --- Random ---

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

static void edit_at_random(uint64_t *random)
{
    static card cards[TRIES];
    const uint32_t near = test_below(random, b.t.old), cuts = 1 + test_below(random, 4);
    const uint32_t tries = 1 + test_below(random, TRIES);

    for (uint32_t i = 0; i < tries; ++i) {
        const uint32_t rank = random_rank(random, near), room = room_left();

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
        edit_at_random(&random);
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

// --- All there are ---

enum { FORMS = 4, SMALL_ROOM = 9 };

// An edit by its number: a cut, a leaf, a chain of two, a fork.
static bool edit_by_number(uint32_t number, const card *cards)
{
    const uint32_t form = number % FORMS;

    return edit(number / FORMS, form == 0 ? NULL : &cards[form - 1].recipe);
}

static void try_edits(const uint32_t *parent, uint32_t size, const uint32_t *numbers,
                      uint32_t count, const card *cards)
{
    const grove_plan plan = {.parent = parent,
                             .size = size,
                             .holes = 2,
                             .spare = SMALL_ROOM - 2,
                             .is_shuffled = numbers[0] % 2 == 0};

    bench_begin(&plan);
    for (uint32_t i = 0; i < count; ++i) {
        (void)edit_by_number(numbers[i], cards);
    }
    if (sort_edits()) {
        commit();
    }
    bench_end();
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

    _Static_assert((int)ESPL__SPLICE_RANKS <= (int)GROVE_LIMIT, "such a run can be planted");
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
    suite_add_tcase(suite, random);

    tcase_set_timeout(all, 120);
    tcase_add_test(all, each_edit_of_each_small_tree_is_right);
    tcase_add_test(all, all_pairs_of_edits_of_small_trees_are_right);
    tcase_add_test(all, all_triples_of_edits_of_trees_of_four_are_right);
    suite_add_tcase(suite, all);

    tcase_add_test(by_hand, roots_do_not_go);
    tcase_add_test(by_hand, nobody_goes_twice);
    tcase_add_test(by_hand, subtrees_that_overlap_do_not_both_go);
    tcase_add_test(by_hand, nothing_comes_in_below_what_goes);
    tcase_add_test(by_hand, nothing_to_do_is_nothing_to_sort);
    tcase_add_test(by_hand, copies_at_one_gap_stand_as_their_parents_do);
    tcase_add_test(by_hand, copies_come_in_next_to_what_goes);
    tcase_add_test(by_hand, only_what_stands_at_the_end_leaves_a_run_in_order);
    suite_add_tcase(suite, by_hand);

    tcase_add_test(limits, one_edit_more_than_there_may_be_is_refused);
    tcase_add_test(limits, one_level_more_than_there_may_be_is_refused);
    tcase_add_test(limits, one_node_more_than_may_be_made_is_refused);
    tcase_add_test(limits, one_rank_more_than_may_change_is_refused);
    suite_add_tcase(suite, limits);
    return suite;
}

RUN_SUITE(make_suite)
