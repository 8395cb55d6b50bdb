// SPDX-License-Identifier: MIT
// Batches over many small hierarchies of several shapes, which the library recomputes several at a
// time: worlds and counts are those of single writes, bit for bit, in any order and on any number
// of workers.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include "tests/inside.h"

#include <math.h>
#include <string.h>

enum {
    SIDES = 3, // by calls, by batches, by batches on an executor that shuffles jobs
    SHAPES = 7,
    LARGEST = 140, // nodes of a hierarchy: some are larger than what is recomputed together
    TREES = 60,
    ROUNDS = 12,
};

typedef struct fixture {
    test_executor hostile;
    espl_executor executor;
    test_world tests[SIDES];
    uint32_t nodes, trees;
    uint32_t roots[TREES];
    uint32_t parent[TREES * LARGEST];
    bool is_dead[TREES * LARGEST];
    espl_entity *entities[SIDES]; // [nodes]
} fixture;

// Parents of a shape by distance from the root. Two of the shapes have the same size.
static uint32_t shape_parent(uint32_t shape, uint32_t k)
{
    switch (shape) {
    case 0:
    case 1:
    case 2:
        return (k - 1) / (shape + 1); // a chain, fans of two and three
    case 3:
        return k == 1 ? 0 : (k - 1) / 2;
    default:
        return 0;
    }
}

static uint32_t shape_size(uint32_t shape)
{
    static const uint32_t sizes[SHAPES] = {4, 20, 20, 24, 33, LARGEST, 1};

    return sizes[shape];
}

static void draw_forest(fixture *f, uint64_t *random)
{
    const uint32_t most = test_fitting((size_t)TREES * LARGEST, 1);

    f->nodes = f->trees = 0;
    while (f->trees < TREES && f->nodes + LARGEST <= most) {
        const uint32_t shape = test_below(random, SHAPES), size = shape_size(shape);

        f->roots[f->trees++] = f->nodes;
        for (uint32_t k = 0; k < size; ++k) {
            f->parent[f->nodes + k] = k == 0 ? NO_PARENT : f->nodes + shape_parent(shape, k);
            f->is_dead[f->nodes + k] = false;
        }
        f->nodes += size;
    }
}

static void begin(fixture *f, uint64_t *random)
{
    f->hostile = (test_executor){.manner = TEST_SHUFFLED, .workers = 5, .random = 7};
    f->executor = test_executor_of(&f->hostile);
    draw_forest(f, random);
    for (int k = 0; k < SIDES; ++k) {
        test_world_begin(&f->tests[k], 1, k == 2 ? &f->executor : NULL);
        test_cut_jobs(f->tests[k].world, 4);
        f->entities[k] = make_forest(f->tests[k].world, f->parent, f->nodes);
    }
}

static void end(fixture *f)
{
    for (int k = 0; k < SIDES; ++k) {
        free(f->entities[k]);
        test_world_end(&f->tests[k]);
    }
}

// --- What happens between batches ---

static bool is_leaf(const fixture *f, uint32_t node)
{
    for (uint32_t i = node + 1; i < f->nodes && f->parent[i] != NO_PARENT; ++i) {
        if (f->parent[i] == node && !f->is_dead[i]) {
            return false;
        }
    }
    return true;
}

// Some leaves go, so that hierarchies have holes.
static void destroy_some(fixture *f, uint64_t *random)
{
    for (uint32_t i = 0; i < f->nodes; ++i) {
        if (f->parent[i] != NO_PARENT && !f->is_dead[i] && test_one_in(random, 40) &&
            is_leaf(f, i)) {
            f->is_dead[i] = true;
            for (int k = 0; k < SIDES; ++k) {
                ck_ok(espl_destroy(f->tests[k].world, f->entities[k][i], ESPL_EXTENT_OWNED));
            }
        }
    }
}

// Some nodes become exceptional, or plain again.
static void stretch_some(const fixture *f, uint64_t *random)
{
    for (uint32_t i = 0; i < f->nodes; ++i) {
        if (!f->is_dead[i] && test_one_in(random, 60)) {
            const float stretch[3] = {1, test_one_in(random, 2) ? 1 : 2, 1};

            for (int k = 0; k < SIDES; ++k) {
                ck_assert_int_ge(
                    espl_set_stretch(f->tests[k].world, f->entities[k][i], stretch), ESPL_OK);
            }
        }
    }
}

// --- Batches ---

typedef struct batch {
    uint32_t nodes[2 * TREES * LARGEST];
    espl_transform values[2 * TREES * LARGEST];
    size_t count;
} batch;

static void add(batch *b, uint32_t node, uint64_t *random, bool is_wild)
{
    // No value is that of an earlier round, so that each write changes something.
    static uint32_t number;
    espl_transform value = test_at((float)test_below(random, 100), 1, (float)++number);

    value.scale = is_wild && test_one_in(random, 9) ? 1e30f : 1;
    b->nodes[b->count] = node;
    b->values[b->count++] = value;
}

// Roots, these and some members, all nodes, members alone, or some of these; in the order of nodes or
// from the last one on.
static void draw_batch(batch *b, const fixture *f, uint64_t *random, bool is_wild)
{
    const uint32_t manner = test_below(random, 5);
    const bool is_backwards = test_one_in(random, 2);

    b->count = 0;
    for (uint32_t i = 0; i < f->nodes; ++i) {
        const uint32_t node = is_backwards ? f->nodes - 1 - i : i;
        const bool is_root = f->parent[node] == NO_PARENT;

        if (!f->is_dead[node] &&
            (manner == 0   ? is_root
             : manner == 1 ? is_root || test_one_in(random, 20)
             : manner == 2 ? true
                           : !is_root && (manner == 3 || test_one_in(random, 3)))) {
            add(b, node, random, is_wild);
        }
    }
}

static bool is_finite(const espl_transform *t)
{
    return isfinite(t->position[0]) && isfinite(t->position[1]) && isfinite(t->position[2]) &&
           isfinite(t->scale);
}

// Count the worlds at or below nodes of a batch that are not finite.
static size_t count_overflowed(const fixture *f, const batch *b)
{
    static bool is_reached[TREES * LARGEST];
    size_t count = 0;

    memset(is_reached, 0, sizeof is_reached);
    for (size_t i = 0; i < b->count; ++i) {
        is_reached[b->nodes[i]] = true;
    }
    for (uint32_t i = 0; i < f->nodes; ++i) {
        is_reached[i] = is_reached[i] || (f->parent[i] != NO_PARENT && is_reached[f->parent[i]]);
        if (is_reached[i] && !f->is_dead[i]) {
            const espl_transform world = test_world_of(f->tests[0].world, f->entities[0][i]);

            count += is_finite(&world) ? 0 : 1;
        }
    }
    return count;
}

static size_t play_by_calls(const fixture *f, const batch *b)
{
    for (size_t i = 0; i < b->count; ++i) {
        const espl_status status = espl_write_one(f->tests[0].world, f->entities[0][b->nodes[i]],
                                                  ESPL_WRITE_LOCAL_POSE, &b->values[i]);

        ck_assert(status == ESPL_OK || status == ESPL_OVERFLOW);
    }
    return test_count_overflowed(f->tests[0].world);
}

static espl_write_report play_batch(const fixture *f, const batch *b, int k)
{
    static espl_entity entities[2 * TREES * LARGEST];
    espl_write_report report;

    for (size_t i = 0; i < b->count; ++i) {
        entities[i] = f->entities[k][b->nodes[i]];
    }
    const espl_status status =
        espl_write_strided(f->tests[k].world, ESPL_WRITE_LOCAL_POSE, entities, b->count,
                           sizeof(espl_entity), b->values, sizeof(espl_transform), &report);

    ck_status(status, report.has_overflowed ? ESPL_OVERFLOW : ESPL_OK);
    ck_assert_uint_eq(report.applied, b->count);
    return report;
}

static void worlds_are_the_same(const fixture *f)
{
    for (uint32_t i = 0; i < f->nodes; ++i) {
        for (int k = 1; k < SIDES && !f->is_dead[i]; ++k) {
            const espl_transform expected = test_world_of(f->tests[0].world, f->entities[0][i]);
            const espl_transform is = test_world_of(f->tests[k].world, f->entities[k][i]);

            ck_assert_msg(test_same(&is, &expected), "node %u of side %d", i, k);
        }
    }
}

// @param is_wild  scales that overflow below the second node that has one.
static void play(uint64_t seed, bool is_wild)
{
    static fixture f;
    static batch b;
    uint64_t random = seed;

    begin(&f, &random);
    for (int round = 0; round < ROUNDS; ++round) {
        draw_batch(&b, &f, &random, is_wild);
        const size_t overflowed = play_by_calls(&f, &b);
        const espl_write_report serial = play_batch(&f, &b, 1);
        const espl_write_report shared = play_batch(&f, &b, 2);

        ck_assert_int_eq(shared.has_overflowed, serial.has_overflowed);
        ck_assert_int_eq(serial.has_overflowed, count_overflowed(&f, &b) != 0);
        ck_assert_uint_eq(test_count_overflowed(f.tests[1].world), overflowed);
        ck_assert_uint_eq(test_stats(f.tests[2].world).nodes_visited,
                          test_stats(f.tests[1].world).nodes_visited);
        worlds_are_the_same(&f);
        destroy_some(&f, &random);
        stretch_some(&f, &random);
    }
    // A world with tiny limits holds too few hierarchies for several jobs.
    ck_assert(f.trees < TREES || f.hostile.calls > 0);
    ck_assert_uint_eq(test_physical_hash(f.tests[1].world), test_physical_hash(f.tests[2].world));
    for (int k = 0; k < SIDES; ++k) {
        test_world_is_valid(f.tests[k].world);
    }
    end(&f);
}

TEST_LOOP(batches_over_small_hierarchies_come_to_what_they_do_one_by_one, 0, 6)
{
    play(test_environment("ESPL_SEED", 1) + (uint64_t)_i, false);
}

TEST_LOOP(worlds_that_overflow_in_some_small_hierarchies_are_counted, 0, 6)
{
    play(test_environment("ESPL_SEED", 1001) + (uint64_t)_i, true);
}
