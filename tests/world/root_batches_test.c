// SPDX-License-Identifier: MIT
// Batches with an entry or two for each of many hierarchies, more than one job reads: for any
// number of workers the worlds and counts are those of single writes.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tests/ticks.h"

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

static fixture b;

static void set_up(void)
{
    b.hostile = (test_executor){.manner = TEST_SHUFFLED, .workers = 5, .random = 7};
    b.executor = test_executor_of(&b.hostile);
    b.trees = test_fitting((size_t)TREES * NODES, 1) / NODES;
    for (int k = 0; k < SIDES; ++k) {
        test_world_begin(&b.tests[k], 1, k == 2 ? &b.executor : NULL);
        test_cut_jobs(b.tests[k].world, 64);
        b.nodes[k] = make_trees(b.tests[k].world, b.trees, NODES, 0);
    }
}

static void tear_down(void)
{
    for (int k = 0; k < SIDES; ++k) {
        free(b.nodes[k]);
        test_world_end(&b.tests[k]);
    }
}

// --- Arrangements ---

typedef enum arranged {
    ROOTS,
    LAST_ROOTS_FIRST,
    EVERY_THIRD_ROOT,
    THREE_NODES_OF_EACH, // jobs begin at any of a tree's entries, so that two jobs share a tree
    ROOTS_TWICE,
    ROOTS_AND_THE_FIRST,
    MEMBERS_BACKWARDS,
    ONE_TREE,         // has all entries of many jobs, with others before and behind it
    LATER_HALF_FIRST, // roots ascend within each of two jobs, not from one to the other
    // A job begins with more entries of the tree at hand than a piece has, and others follow.
    MOST_OF_A_JOB,
    ARRANGEMENTS
} arranged;

// Node of the i-th entry.
static uint32_t arranged_node(arranged how, uint32_t i)
{
    static const uint32_t three[3] = {0, 1, 3};
    const uint32_t trees = b.trees, most = trees - trees / 10;

    switch (how) {
    case LAST_ROOTS_FIRST:
        return (trees - 1 - i) * NODES;
    case EVERY_THIRD_ROOT:
        return i * 3 % trees * NODES;
    case THREE_NODES_OF_EACH:
        return i / 3 * NODES + three[i % 3];
    case ROOTS_TWICE:
        return i / 2 * NODES;
    case MEMBERS_BACKWARDS:
        return i / 2 * NODES + (i % 2 == 0 ? NODES - 1 : 1);
    case ONE_TREE:
        return i == 0 ? 0 : i <= 2 * trees ? NODES + (i - 1) / trees : (i - 2 * trees + 1) * NODES;
    case LATER_HALF_FIRST:
        return (i + trees / 2) % trees * NODES;
    case MOST_OF_A_JOB:
        return (i < most ? 0 : i - most + 1) * NODES;
    default:
        return i % trees * NODES;
    }
}

static void arrange(arrangement *a, arranged how)
{
    const uint32_t t = b.trees;
    const uint32_t counts[ARRANGEMENTS] = {t, t, t, 3 * t, 2 * t, t + 1, 2 * t, 3 * t - 1, t, t};

    a->count = counts[how];
    for (uint32_t i = 0; i < a->count; ++i) {
        a->nodes[i] = arranged_node(how, i);
    }
}

// --- Writing ---

typedef struct manner {
    espl_write_kind kind;
    uint32_t stretched; // of so many entries one has a stretch; 0: none has
    bool is_any;        // by writes that have a kind each
    uint64_t ticks;     // seed of motion; 0: there is none
} manner;

static const manner manners[] = {
    {ESPL_WRITE_LOCAL_POSE, 0, false, 0},
    {ESPL_WRITE_LOCAL_TRANSFORM, 0, false, 0},
    {ESPL_WRITE_LOCAL_TRANSFORM, 1500, false, 0},
    {ESPL_WRITE_LOCAL_TRANSFORM, 1700, true, 0},
    {ESPL_WRITE_LOCAL_POSE, 0, false, 1},
    {ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT, 0, false, 3},
    {ESPL_WRITE_LOCAL_TRANSFORM | ESPL_CARRY, 1500, false, 5},
    {ESPL_WRITE_PREVIOUS_LOCAL_POSE, 0, true, 7},
};

enum { MANNERS = sizeof manners / sizeof *manners };

static espl_transform value_of(const manner *m, uint32_t i, uint32_t round)
{
    espl_transform t = test_at((float)i + 0.5f, (float)(round + 1) * 0.25f, -(float)(i % 16));

    t.stretch[1] = m->stretched != 0 && i % m->stretched == m->stretched - 1 ? 2 : 1;
    return t;
}

static espl_status write_side(int k, const arrangement *a, const manner *m, uint32_t round)
{
    static espl_entity entities[MOST];
    static espl_transform values[MOST];
    static espl_write writes[MOST];
    espl_world *const world = b.tests[k].world;

    for (uint32_t i = 0; i < a->count; ++i) {
        entities[i] = b.nodes[k][a->nodes[i]];
        values[i] = value_of(m, i, round);
        writes[i] = (espl_write){.entity = entities[i], .kind = m->kind};
        writes[i].value.transform = values[i];
    }
    if (m->is_any) {
        return espl_write_batch(world, writes, a->count, NULL);
    }
    return espl_write_strided(world, m->kind, entities, a->count, sizeof(espl_entity), values,
                              sizeof(espl_transform), NULL);
}

static void write_by_calls(const arrangement *a, const manner *m, uint32_t round)
{
    for (uint32_t i = 0; i < a->count; ++i) {
        const espl_transform value = value_of(m, i, round);
        const espl_entity entity = b.nodes[0][a->nodes[i]];

        ck_ok(m->kind == ESPL_WRITE_LOCAL_TRANSFORM
                  ? espl_set_local_transform(b.tests[0].world, entity, &value)
                  : espl_write_one(b.tests[0].world, entity, m->kind, &value));
    }
}

static void worlds_are_the_same(void)
{
    for (uint32_t i = 0; i < b.trees * NODES; ++i) {
        const espl_transform expected = test_world_of(b.tests[0].world, b.nodes[0][i]);

        for (int k = 1; k < SIDES; ++k) {
            const espl_transform is = test_world_of(b.tests[k].world, b.nodes[k][i]);

            ck_assert_msg(test_same(&is, &expected), "node %u of side %d", i, k);
        }
    }
}

static void counts_are_the_same(void)
{
    const espl_world_stats calls = test_stats(b.tests[0].world);
    const espl_world_stats serial = test_stats(b.tests[1].world);
    const espl_world_stats shared = test_stats(b.tests[2].world);

    ck_assert_uint_eq(serial.writes, calls.writes);
    ck_assert_uint_eq(serial.writes_skipped, calls.writes_skipped);
    ck_assert_uint_eq(shared.writes, serial.writes);
    ck_assert_uint_eq(shared.writes_skipped, serial.writes_skipped);
    ck_assert_uint_eq(shared.nodes_visited, serial.nodes_visited);
    ck_assert_uint_eq(shared.nodes_skipped, serial.nodes_skipped);
}

// What is kept of the past and shown is the same after single calls; what batches report of it, too.
static void take_steps(test_ticks *ticks, uint64_t drawn)
{
    uint64_t steps[SIDES];

    for (int k = 0; k < SIDES; ++k) {
        steps[k] = test_ticks_step(&ticks[k], drawn);
        ck_assert(k < 2 || steps[k] == steps[1]);
    }
    ck_assert_uint_eq(test_logical_hash(b.tests[1].world), test_logical_hash(b.tests[0].world));
    ck_assert_uint_eq(test_shown_hash(b.tests[1].world), test_shown_hash(b.tests[0].world));
}

FIXTURE(set_up, tear_down);

TEST_LOOP(entries_of_many_hierarchies_come_to_what_they_do_one_by_one, 0, MANNERS)
{
    static arrangement a;
    const manner *const m = &manners[_i];
    test_ticks ticks[SIDES];
    uint64_t random = m->ticks;

    for (int k = 0; k < SIDES; ++k) {
        test_ticks_begin(&ticks[k], b.tests[k].world, m->ticks);
    }
    for (uint32_t round = 0; round < ARRANGEMENTS; ++round) {
        arrange(&a, (arranged)round);
        write_by_calls(&a, m, round);
        for (int k = 1; k < SIDES; ++k) {
            ck_ok(write_side(k, &a, m, round));
            test_world_is_valid(b.tests[k].world);
        }
        worlds_are_the_same();
        counts_are_the_same();
        if (m->ticks != 0) {
            take_steps(ticks, test_random(&random));
        }
    }
    ck_assert_uint_gt(b.hostile.calls, 0);
    for (int k = 0; k < SIDES; ++k) {
        test_ticks_end(&ticks[k]);
    }
}

// In a pool larger than the caches the batch composes trees one by one instead of side by side, and
// prefetches a tree only where a gap separates its slots from those of the tree before.
TEST(trees_of_a_large_pool_come_to_what_they_do_in_a_small_one)
{
    enum { FILLERS = 131072 }; // as many as a remote pool has slots
    static espl_entity fillers[FILLERS];
    static arrangement a;
    const espl_component transform = ESPL_TRANSFORM;
    const uint32_t count = test_fitting(FILLERS, (size_t)b.trees * NODES);

    for (int k = 1; k < SIDES; ++k) {
        ck_ok(espl_create(b.tests[k].world, &transform, 1, count, fillers));
    }
    for (uint32_t round = 0; round < EVERY_THIRD_ROOT + 1; ++round) {
        arrange(&a, (arranged)round);
        write_by_calls(&a, &manners[0], round);
        for (int k = 1; k < SIDES; ++k) {
            ck_ok(write_side(k, &a, &manners[0], round));
        }
        worlds_are_the_same();
        counts_are_the_same();
    }
}

// One visit of each node, wherever one job's entries end and another's begin.
TEST(a_hierarchy_between_two_jobs_is_visited_once)
{
    static arrangement a;

    arrange(&a, THREE_NODES_OF_EACH);
    for (int k = 1; k < SIDES; ++k) {
        const uint64_t before = test_stats(b.tests[k].world).nodes_visited;

        ck_ok(write_side(k, &a, &manners[0], 1));
        ck_assert_uint_eq(test_stats(b.tests[k].world).nodes_visited - before, b.trees * NODES);
    }
}

FIXTURE(NULL, NULL);

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
    espl_entity *const here = make_trees(one.world, 1, nodes, 0);
    espl_entity *const there = make_trees(other.world, 1, nodes, 0);

    for (uint32_t i = 0; i < members; ++i) {
        const uint32_t node = 1 + (i + members / 2) % members;

        entities[i] = there[node];
        values[i] = test_at((float)i, 1, 2);
        ck_ok(espl_set_local_transform(one.world, here[node], &values[i]));
    }
    ck_ok(espl_write_strided(other.world, ESPL_WRITE_LOCAL_TRANSFORM, entities, members,
                             sizeof(espl_entity), values, sizeof(espl_transform), NULL));
    for (uint32_t i = 0; i < nodes; ++i) {
        const espl_transform is = test_world_of(other.world, there[i]);
        const espl_transform expected = test_world_of(one.world, here[i]);

        ck_assert(test_same(&is, &expected));
    }
    free(here);
    free(there);
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
    ck_ok(espl_write_strided(test.world, ESPL_WRITE_LOCAL_POSE, roots, trees, sizeof(espl_entity),
                             values, sizeof(espl_transform), NULL));
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
