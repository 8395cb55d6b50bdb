// SPDX-License-Identifier: MIT
// Batches with an entry or two for each of many hierarchies, more than one job reads: for any
// number of workers the worlds and counts are those of single writes.
#include "tests/fixture.h"
#include "tests/runner.h"

#include "tests/inside.h"

#include <stdlib.h>

enum { SIDES = 3, TREES = 3000, NODES = 5, MOST = TREES * 3 };

typedef struct arrangement {
    uint32_t nodes[MOST];
    uint32_t count;
} arrangement;

// The same forest three times: written by calls, by batches, and by batches on a hostile executor.
typedef struct fixture {
    test_executor hostile;
    espl_executor executor;
    test_world tests[SIDES];
    espl_entity *nodes[SIDES]; // [trees * NODES] tree by tree, root first
    uint32_t trees;
} fixture;

static void begin(fixture *b)
{
    b->hostile = (test_executor){.manner = TEST_SHUFFLED, .workers = 5, .random = 7};
    b->executor = test_executor_of(&b->hostile);
    b->trees = test_fitting((size_t)TREES * NODES, 1) / NODES;
    for (int k = 0; k < SIDES; ++k) {
        test_world_begin(&b->tests[k], 0, k == 2 ? &b->executor : NULL);
        test_cut_jobs(b->tests[k].world, 64);
        b->nodes[k] = make_trees(b->tests[k].world, b->trees, NODES, 0);
    }
}

static void end(fixture *b)
{
    for (int k = 0; k < SIDES; ++k) {
        free(b->nodes[k]);
        test_world_end(&b->tests[k]);
    }
}

// --- Arrangements ---

static void add(arrangement *a, uint32_t node)
{
    a->nodes[a->count++] = node;
}

static void take_roots(arrangement *a, const fixture *b)
{
    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, i * NODES);
    }
}

static void take_last_roots_first(arrangement *a, const fixture *b)
{
    for (uint32_t i = b->trees; i-- > 0;) {
        add(a, i * NODES);
    }
}

static void take_every_third_root(arrangement *a, const fixture *b)
{
    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, i * 3 % b->trees * NODES);
    }
}

// Jobs begin at any of a tree's entries, so that trees stand half in one and half in another.
static void take_three_nodes_of_each(arrangement *a, const fixture *b)
{
    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, i * NODES);
        add(a, i * NODES + 1);
        add(a, i * NODES + 3);
    }
}

static void take_roots_twice(arrangement *a, const fixture *b)
{
    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, i * NODES);
        add(a, i * NODES);
    }
}

static void come_back_to_the_first_root(arrangement *a, const fixture *b)
{
    take_roots(a, b);
    add(a, 0);
}

static void take_members_backwards(arrangement *a, const fixture *b)
{
    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, i * NODES + NODES - 1);
        add(a, i * NODES + 1);
    }
}

// All entries of many jobs are for one tree, with others before and behind it.
static void stay_in_one_tree(arrangement *a, const fixture *b)
{
    add(a, 0);
    for (uint32_t i = 0; i < 2 * b->trees; ++i) {
        add(a, NODES + i / b->trees);
    }
    for (uint32_t i = 2; i < b->trees; ++i) {
        add(a, i * NODES);
    }
}

// Roots ascend within each of two jobs, not from one to the other.
static void take_later_half_first(arrangement *a, const fixture *b)
{
    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, (i + b->trees / 2) % b->trees * NODES);
    }
}

// A job begins with more entries of the tree at hand than a piece has, and others follow.
static void go_on_for_most_of_a_job(arrangement *a, const fixture *b)
{
    const uint32_t most = b->trees - b->trees / 10;

    for (uint32_t i = 0; i < b->trees; ++i) {
        add(a, (i < most ? 0 : i - most + 1) * NODES);
    }
}

static void (*const arrangements[])(arrangement *, const fixture *) = {
    take_roots,
    take_last_roots_first,
    take_every_third_root,
    take_three_nodes_of_each,
    take_roots_twice,
    come_back_to_the_first_root,
    take_members_backwards,
    stay_in_one_tree,
    take_later_half_first,
    go_on_for_most_of_a_job,
};

enum { ARRANGEMENTS = sizeof arrangements / sizeof *arrangements };

// --- Writing ---

typedef struct manner {
    espl_write_kind kind;
    uint32_t stretched; // of so many entries one has a stretch; 0: none has
    bool is_any;        // by writes that have a kind each
} manner;

static const manner manners[] = {
    {ESPL_WRITE_LOCAL_POSE, 0, false},
    {ESPL_WRITE_LOCAL_TRANSFORM, 0, false},
    {ESPL_WRITE_LOCAL_TRANSFORM, 1500, false},
    {ESPL_WRITE_LOCAL_TRANSFORM, 1700, true},
};

enum { MANNERS = sizeof manners / sizeof *manners };

static espl_transform value_of(const manner *m, uint32_t i, uint32_t round)
{
    espl_transform t = test_at((float)i + 0.5f, (float)(round + 1) * 0.25f, -(float)(i % 16));

    t.stretch[1] = m->stretched != 0 && i % m->stretched == m->stretched - 1 ? 2 : 1;
    return t;
}

static espl_status write_side(const fixture *b, int k, const arrangement *a, const manner *m,
                              uint32_t round)
{
    static espl_entity entities[MOST];
    static espl_transform values[MOST];
    static espl_write writes[MOST];
    espl_world *const world = b->tests[k].world;

    for (uint32_t i = 0; i < a->count; ++i) {
        entities[i] = b->nodes[k][a->nodes[i]];
        values[i] = value_of(m, i, round);
        writes[i] = (espl_write){.entity = entities[i], .kind = m->kind};
        writes[i].value.transform = values[i];
    }
    if (m->is_any) {
        return espl_write_batch(world, writes, a->count, NULL);
    }
    return espl_write_strided(world, m->kind, entities, sizeof(espl_entity), values,
                              sizeof(espl_transform), a->count, NULL);
}

static void write_by_calls(const fixture *b, const arrangement *a, const manner *m, uint32_t round)
{
    for (uint32_t i = 0; i < a->count; ++i) {
        const espl_transform value = value_of(m, i, round);
        const espl_entity entity = b->nodes[0][a->nodes[i]];

        ck_ok(m->kind == ESPL_WRITE_LOCAL_TRANSFORM
                  ? espl_set_local_transform(b->tests[0].world, entity, &value)
                  : espl_write_one(b->tests[0].world, entity, ESPL_WRITE_LOCAL_POSE, &value));
    }
}

static void worlds_are_the_same(const fixture *b)
{
    for (uint32_t i = 0; i < b->trees * NODES; ++i) {
        const espl_transform expected = test_world_of(b->tests[0].world, b->nodes[0][i]);

        for (int k = 1; k < SIDES; ++k) {
            const espl_transform is = test_world_of(b->tests[k].world, b->nodes[k][i]);

            ck_assert_msg(test_same(&is, &expected), "node %u of side %d", i, k);
        }
    }
}

static void counts_are_the_same(const fixture *b)
{
    const espl_world_stats calls = test_stats(b->tests[0].world);
    const espl_world_stats serial = test_stats(b->tests[1].world);
    const espl_world_stats shared = test_stats(b->tests[2].world);

    ck_assert_uint_eq(serial.writes, calls.writes);
    ck_assert_uint_eq(serial.writes_skipped, calls.writes_skipped);
    ck_assert_uint_eq(shared.writes, serial.writes);
    ck_assert_uint_eq(shared.writes_skipped, serial.writes_skipped);
    ck_assert_uint_eq(shared.nodes_visited, serial.nodes_visited);
    ck_assert_uint_eq(shared.nodes_skipped, serial.nodes_skipped);
}

TEST_LOOP(entries_of_many_hierarchies_come_to_what_they_do_one_by_one, 0, MANNERS)
{
    static arrangement a;
    const manner *const m = &manners[_i];
    fixture b;

    begin(&b);
    for (uint32_t round = 0; round < ARRANGEMENTS; ++round) {
        a.count = 0;
        arrangements[round](&a, &b);
        write_by_calls(&b, &a, m, round);
        for (int k = 1; k < SIDES; ++k) {
            ck_ok(write_side(&b, k, &a, m, round));
            test_world_is_valid(b.tests[k].world);
        }
        worlds_are_the_same(&b);
        counts_are_the_same(&b);
    }
    ck_assert_uint_gt(b.hostile.calls, 0);
    end(&b);
}

// One visit of each node, wherever one job's entries end and another's begin.
TEST(a_hierarchy_between_two_jobs_is_visited_once)
{
    static arrangement a;
    fixture b;

    begin(&b);
    a.count = 0;
    take_three_nodes_of_each(&a, &b);
    for (int k = 1; k < SIDES; ++k) {
        const uint64_t before = test_stats(b.tests[k].world).nodes_visited;

        ck_ok(write_side(&b, k, &a, &manners[0], 1));
        ck_assert_uint_eq(test_stats(b.tests[k].world).nodes_visited - before, b.trees * NODES);
    }
    end(&b);
}

// Members of one hierarchy ascend within each of two jobs, and the second goes back.
TEST(a_hierarchy_whose_later_half_comes_first_is_what_it_is_one_by_one)
{
    enum { STAR = 3001 };
    static espl_entity entities[STAR];
    static espl_transform values[STAR];
    const uint32_t nodes = test_fitting(STAR, 0), members = nodes - 1;
    test_executor hostile = {.manner = TEST_REVERSED, .workers = 2};
    const espl_executor executor = test_executor_of(&hostile);
    test_world one, other;

    test_world_begin(&one, 0, NULL);
    test_world_begin(&other, 0, &executor);
    espl_entity *const a = make_trees(one.world, 1, nodes, 0);
    espl_entity *const b = make_trees(other.world, 1, nodes, 0);

    for (uint32_t i = 0; i < members; ++i) {
        const uint32_t node = 1 + (i + members / 2) % members;

        entities[i] = b[node];
        values[i] = test_at((float)i, 1, 2);
        ck_ok(espl_set_local_transform(one.world, a[node], &values[i]));
    }
    ck_ok(espl_write_strided(other.world, ESPL_WRITE_LOCAL_TRANSFORM, entities, sizeof(espl_entity),
                             values, sizeof(espl_transform), members, NULL));
    for (uint32_t i = 0; i < nodes; ++i) {
        const espl_transform is = test_world_of(other.world, b[i]);
        const espl_transform expected = test_world_of(one.world, a[i]);

        ck_assert(test_same(&is, &expected));
    }
    free(a);
    free(b);
    test_world_end(&one);
    test_world_end(&other);
}

// --- How the work is shared out ---

// Calls of the executor with more than one job, for one batch of all roots of equal trees.
static size_t count_calls(uint32_t trees, uint32_t nodes)
{
    test_executor executor = {.manner = TEST_REVERSED, .workers = 2};
    const espl_executor given = test_executor_of(&executor);
    espl_entity *const roots = malloc(trees * sizeof *roots);
    espl_transform *const values = malloc(trees * sizeof *values);
    test_world test;

    ck_assert(roots != NULL && values != NULL);
    test_world_begin(&test, 0, &given);
    espl_entity *const all = make_trees(test.world, trees, nodes, 0);
    for (uint32_t i = 0; i < trees; ++i) {
        roots[i] = all[i * nodes];
        values[i] = test_at((float)i, 1, 2);
    }
    const size_t before = executor.calls;
    ck_ok(espl_write_strided(test.world, ESPL_WRITE_LOCAL_POSE, roots, sizeof(espl_entity), values,
                             sizeof(espl_transform), trees, NULL));
    const size_t calls = executor.calls - before;
    free(all);
    test_world_end(&test);
    free(values);
    free(roots);
    return calls;
}

// By what hangs below them, not by how many there are.
TEST(few_hierarchies_of_some_size_are_shared_out_and_many_small_ones_are_not)
{
    const uint32_t nodes = test_fitting(8 * 10000, 0) / 8;

    if (nodes == 10000) {
        ck_assert_uint_eq(count_calls(8, nodes), 1);
        ck_assert_uint_eq(count_calls(8, 300), 0);
    }
    ck_assert_uint_eq(count_calls(20, 1), 0);
}
