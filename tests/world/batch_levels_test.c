// SPDX-License-Identifier: MIT
// Batches that write some nodes of a large hierarchy, but not its root: every node below one of them is
// computed once, and each of them is looked at once more, whatever the shape of the tree and the choice of nodes, on any executor.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/runner.h"

#include <string.h>

enum { NODES = 3000, WORLDS = 3, ROUNDS = 12 };

typedef struct levels {
    test_world worlds[WORLDS]; // serial, on an executor, by single writes
    espl_entity *nodes[WORLDS];
    uint32_t *parents, count;
    bool *is_written, *is_below;
    espl_entity *entities;
    float (*values)[3];
    test_executor busy;
    uint64_t random;
} levels;

// Shapes: fans of several widths, a chain, and parents at random.
static uint32_t parent_of(levels *l, int shape, uint32_t i)
{
    switch (shape) {
    case 0:
        return (i - 1) / 2;
    case 1:
        return (i - 1) / 7;
    case 2:
        return i - 1;
    case 3:
        return 0;
    case 4:
        return i < 40 ? i - 1 : (i - 1) / 3;
    default:
        return test_below(&l->random, i);
    }
}

enum { SHAPES = 6 };

static void begin(levels *l, int shape, test_manner manner)
{
    *l = (levels){.count = test_fitting(NODES, 1), .random = (uint64_t)shape + 1};
    l->busy = (test_executor){.manner = manner, .workers = 4, .random = 9};
    const espl_executor executor = test_executor_of(&l->busy);

    l->parents = test_array(l->count, sizeof *l->parents);
    l->is_written = test_array(l->count, sizeof *l->is_written);
    l->is_below = test_array(l->count, sizeof *l->is_below);
    l->entities = test_array(l->count, sizeof *l->entities);
    l->values = test_array(l->count, sizeof *l->values);
    l->parents[0] = NO_PARENT;
    for (uint32_t i = 1; i < l->count; ++i) {
        l->parents[i] = parent_of(l, shape, i);
    }
    for (uint32_t k = 0; k < WORLDS; ++k) {
        test_world_begin(&l->worlds[k], 1, k == 1 ? &executor : NULL);
        l->nodes[k] = make_forest(l->worlds[k].world, l->parents, l->count);
        ck_ok(espl_compact(l->worlds[k].world));
    }
    test_cut_jobs(l->worlds[1].world, 16);
}

static void end(levels *l)
{
    for (uint32_t k = 0; k < WORLDS; ++k) {
        free(l->nodes[k]);
        test_world_end(&l->worlds[k]);
    }
    free(l->parents);
    free(l->is_written);
    free(l->is_below);
    free(l->entities);
    free(l->values);
}

// Choose nodes without the root, one in `rarity`. @return how many nodes are at or below one, with those
// that are chosen and below another one counted twice.
static uint32_t choose(levels *l, uint32_t rarity)
{
    uint32_t visits = 0;

    l->is_below[0] = false;
    for (uint32_t i = 1; i < l->count; ++i) {
        const bool is_under = l->is_below[l->parents[i]];

        l->is_written[i] = test_below(&l->random, rarity) == 0;
        l->is_below[i] = l->is_written[i] || is_under;
        visits += (is_under ? 1U : 0U) + (l->is_written[i] ? 1U : 0U);
    }
    return visits;
}

// Write the chosen nodes as one batch, from the last one to the first, or from the first one.
static uint64_t write_chosen(levels *l, uint32_t k, bool is_backward)
{
    const uint64_t visited = test_stats(l->worlds[k].world).nodes_visited;
    size_t count = 0;

    for (uint32_t n = 1; n < l->count; ++n) {
        const uint32_t i = is_backward ? l->count - n : n;

        if (l->is_written[i]) {
            l->entities[count] = l->nodes[k][i];
            l->values[count][0] = (float)i + (float)(l->random % 1000);
            l->values[count][1] = 1;
            l->values[count++][2] = is_backward ? 2 : 3;
        }
    }
    if (k < 2) {
        ck_ok(espl_write_strided(l->worlds[k].world, ESPL_WRITE_LOCAL_POSITION, l->entities, count,
                                 sizeof *l->entities, l->values, sizeof *l->values, NULL));
    }
    for (size_t i = 0; k == 2 && i < count; ++i) {
        ck_ok(espl_set_local_position(l->worlds[k].world, l->entities[i], l->values[i]));
    }
    return test_stats(l->worlds[k].world).nodes_visited - visited;
}

TEST_LOOP(nodes_below_several_written_ones_are_computed_once, 0, 3 * SHAPES)
{
    levels l;

    begin(&l, _i / 3, (test_manner)(TEST_IN_ORDER + _i % 3));
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t visits = choose(&l, 20U << round % 4);
        const uint64_t visited = write_chosen(&l, 0, round % 2 != 0);
        uint32_t written = 0, lowest = 0;

        for (uint32_t i = l.count - 1; i > 0; --i) {
            written += l.is_written[i] ? 1 : 0;
            lowest = l.is_written[i] ? i : lowest;
        }
        // Where they are many of the nodes behind the first one, a pass over all of these is cheaper.
        if (written > 1 && written < (l.count - lowest) / 8) {
            ck_assert_uint_eq(visited, visits);
        }
        ck_assert_uint_eq(write_chosen(&l, 1, round % 2 != 0), visited);
        (void)write_chosen(&l, 2, round % 2 != 0);
        for (uint32_t i = 0; i < l.count; ++i) {
            const espl_transform here = test_world_of(l.worlds[0].world, l.nodes[0][i]);
            const espl_transform there = test_world_of(l.worlds[2].world, l.nodes[2][i]);
            ck_assert_msg(test_same(&here, &there), "node %u", i);
        }
        ck_assert_uint_eq(test_physical_hash(l.worlds[0].world),
                          test_physical_hash(l.worlds[1].world));
        // The same once more changes nothing.
        ck_assert_uint_eq(write_chosen(&l, 0, round % 2 != 0), 0);
        ck_assert_uint_eq(write_chosen(&l, 1, round % 2 != 0), 0);
    }
    test_world_is_valid(l.worlds[0].world);
    test_world_is_valid(l.worlds[1].world);
    end(&l);
}

// A node is far away, and others below it as well: those that are not finite are told once.
TEST(worlds_that_overflow_below_several_written_nodes_are_reported)
{
    espl_write_report report;
    levels l;

    begin(&l, 0, TEST_IN_ORDER);
    const uint32_t top = 1, below = 2 * top + 1;
    const float far[2][3] = {{3e38f, 0, 0}, {3e38f, 0, 0}};

    for (uint32_t k = 0; k < 2; ++k) {
        const espl_entity pair[2] = {l.nodes[k][below], l.nodes[k][top]};

        ck_status(espl_write_strided(l.worlds[k].world, ESPL_WRITE_LOCAL_POSITION, pair, 2,
                                     sizeof *pair, far, sizeof *far, &report),
                  ESPL_OVERFLOW);
        ck_assert(report.has_overflowed);
        ck_assert_uint_gt(test_count_overflowed(l.worlds[k].world), 0);
    }
    end(&l);
}
