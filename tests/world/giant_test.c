// SPDX-License-Identifier: MIT
// One hierarchy on all workers: no executor changes a bit or a count, a hook that calls the world
// meanwhile gets ESPL_ERR_BUSY, and a refused call changes nothing.
#include "tests/asked.h"
#include "tests/checks.h"
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/runner.h"
#include "tests/ticks.h"

#include <float.h>
#include <stdlib.h>

// Where a world holds few, pieces are as much smaller.
#ifdef ESPL_SHRUNKEN
enum { SIZE = 60 };
#else
enum { SIZE = 600 };
#endif
enum { SHRUNK = 600 / SIZE, WORLDS = 4, ENTRIES = 300 };

// A world in which pieces have so many nodes, with one hierarchy or a few.
typedef struct giant {
    test_world test;
    espl_entity *nodes; // [SIZE]
} giant;

static void begin(giant *at, const espl_executor *executor, const uint32_t *parent, uint32_t grain)
{
    test_world_begin(&at->test, 1, executor);
    at->nodes = make_forest(at->test.world, parent, SIZE);
    test_cut_jobs(at->test.world, grain > SHRUNK ? grain / SHRUNK : 1);
}

static void end(giant *at)
{
    free(at->nodes);
    test_world_end(&at->test);
}

static void begin_fan(giant *at, const espl_executor *executor, uint32_t fan_out, uint32_t grain)
{
    uint32_t parent[SIZE];

    for (uint32_t i = 0; i < SIZE; ++i) {
        parent[i] = i == 0 ? NO_PARENT : (i - 1) / fan_out;
    }
    begin(at, executor, parent, grain);
}

// --- Twins ---

typedef struct twins {
    giant at[WORLDS];
    test_executor hostile[2];
    espl_executor executors[WORLDS];
    test_ticks ticks[WORLDS];
    size_t count;
    uint64_t random;
    bool is_plain; // nothing but poses is written, so that workers share what is laid out
} twins;

static void begin_twins(twins *t, uint64_t seed)
{
    uint32_t parent[SIZE] = {NO_PARENT};
    const uint32_t reach = 1 + (uint32_t)(seed % 40), grain = 1 + (uint32_t)(seed % 30);
    // Twelve are enough to go round for some of the executors, and too few for others.
    const uint32_t size = seed % 3 == 0 ? SIZE / 12 : SIZE;

    *t = (twins){.random = seed, .count = 3, .is_plain = seed % 2 == 0};
    for (uint32_t i = 1; i < SIZE; ++i) {
        const uint32_t last = parent[i - 1] == NO_PARENT ? i - 1 : parent[i - 1];

        parent[i] = i % size == 0
                        ? NO_PARENT
                        : last + test_below(&t->random, i - last < reach ? i - last : reach);
    }
    t->hostile[0] = (test_executor){.manner = TEST_REVERSED, .workers = 3};
    t->hostile[1] = (test_executor){.manner = TEST_SHUFFLED, .workers = 16, .random = seed};
    t->executors[0] = (espl_executor){0};
    t->executors[1] = test_executor_of(&t->hostile[0]);
    t->executors[2] = test_executor_of(&t->hostile[1]);
    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 4}, &t->executors[3]));
        t->count = 4;
    }
    for (size_t i = 0; i < t->count; ++i) {
        begin(&t->at[i], &t->executors[i], parent, grain);
        test_ticks_begin(&t->ticks[i], t->at[i].test.world, seed / 2);
    }
}

static void end_twins(twins *t)
{
    for (size_t i = 0; i < t->count; ++i) {
        test_ticks_end(&t->ticks[i]);
        end(&t->at[i]);
    }
    if (t->count == WORLDS) {
        espl_executor_destroy(&t->executors[3]);
    }
}

static void twins_agree(twins *t)
{
    const uint64_t hash = test_physical_hash(t->at[0].test.world);
    const espl_world_stats stats = test_stats(t->at[0].test.world);

    test_world_is_valid(t->at[0].test.world);
    for (size_t i = 1; i < t->count; ++i) {
        const espl_world_stats is = test_stats(t->at[i].test.world);

        ck_assert_uint_eq(test_physical_hash(t->at[i].test.world), hash);
        ck_assert_uint_eq(is.nodes_visited, stats.nodes_visited);
        ck_assert_uint_eq(is.nodes_skipped, stats.nodes_skipped);
        ck_assert_uint_eq(is.writes, stats.writes);
        ck_assert_uint_eq(is.writes_skipped, stats.writes_skipped);
    }
}

// The i-th node from those that were made; may be dead by now.
static espl_write any_write(twins *t, uint32_t *node)
{
    const espl_write_kind kind = (espl_write_kind)test_below(&t->random, (uint32_t)TEST_KINDS);

    *node = test_one_in(&t->random, 5) ? 0 : test_below(&t->random, SIZE);
    return write_ordinary(espl_entity_null(), form_any_flag(kind, &t->random), &t->random);
}

// The flag of a write; most have none.
static unsigned flag(twins *t)
{
    static const unsigned flags[8] = {0, 0, 0, 0, 0, 0, ESPL_TELEPORT, ESPL_CARRY};

    return flags[test_below(&t->random, 8)];
}

// Many writes, nearly all of them to places that need no side arrays.
static void write_batch(twins *t)
{
    static espl_write writes[ENTRIES];
    static uint32_t nodes[ENTRIES];
    const uint32_t count = 1 + test_below(&t->random, ENTRIES);
    const bool is_plain = !test_one_in(&t->random, 4) || t->is_plain;
    const espl_write_kind plain = ESPL_WRITE_LOCAL_POSITION | flag(t);
    espl_status first = ESPL_OK;

    for (uint32_t i = 0; i < count; ++i) {
        writes[i] = any_write(t, &nodes[i]);
        if (is_plain) {
            writes[i] = write_vector(espl_entity_null(), plain, test_between(&t->random, -2, 2), 1,
                                     (float)i);
        }
    }
    for (size_t w = 0; w < t->count; ++w) {
        for (uint32_t i = 0; i < count; ++i) {
            writes[i].entity = t->at[w].nodes[nodes[i]];
        }
        const espl_status status = espl_write_batch(t->at[w].test.world, writes, count, NULL);

        first = w == 0 ? status : first;
        ck_assert_int_eq(status, first);
    }
}

static void write_one(twins *t)
{
    uint32_t node;
    const espl_write write = any_write(t, &node);
    const espl_write_kind plain = ESPL_WRITE_LOCAL_POSITION | flag(t);
    espl_status first = ESPL_OK;

    for (size_t w = 0; w < t->count; ++w) {
        espl_world *const world = t->at[w].test.world;
        const espl_entity entity = t->at[w].nodes[node];
        const espl_status status = node % 3 != 1 || t->is_plain
                                       ? espl_write_one(world, entity, plain, write.value.position)
                                       : espl_set_inherit(world, entity, node % 128);

        first = w == 0 ? status : first;
        ck_assert_int_eq(status, first);
    }
}

static void change_structure(twins *t)
{
    const uint32_t node = 1 + test_below(&t->random, SIZE - 1);
    const uint32_t parent = test_below(&t->random, SIZE);
    const bool is_destroy = test_one_in(&t->random, 3);
    espl_status first = ESPL_OK;

    for (size_t w = 0; w < t->count; ++w) {
        espl_world *const world = t->at[w].test.world;
        const espl_entity entity = t->at[w].nodes[node];
        const espl_status status = is_destroy
                                       ? espl_destroy(world, entity, ESPL_EXTENT_ENTITY)
                                       : espl_attach(world, entity, t->at[w].nodes[parent], NULL);

        first = w == 0 ? status : first;
        ck_assert_int_eq(status, first);
    }
}

static void take_steps(twins *t)
{
    const uint64_t drawn = test_random(&t->random);
    uint64_t first = 0;

    for (size_t w = 0; w < t->count; ++w) {
        const uint64_t step = test_ticks_step(&t->ticks[w], drawn);

        first = w == 0 ? step : first;
        ck_assert_uint_eq(step, first);
    }
}

// Workers share hierarchies that are laid out.
static void lay_out(twins *t)
{
    for (size_t w = 0; w < t->count; ++w) {
        espl_view view;

        // What was the first may be below others, and others beside it.
        ck_ok(espl_view_hierarchy(t->at[w].test.world, t->at[w].nodes[0], &view));
    }
}

TEST(no_executor_changes_a_bit_or_a_count)
{
    // Fewer have shapes that no two workers share.
    const uint64_t seeds = test_scaled(20) < 20 ? 20 : test_scaled(20);
    size_t calls = 0;

    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        twins t;

        begin_twins(&t, seed * 7919);
        for (uint32_t step = 0; step < 120; ++step) {
            if (step % 4 == 0) {
                lay_out(&t);
            }
            switch (test_below(&t.random, 5)) {
            case 0:
                change_structure(&t);
                break;
            case 2:
                take_steps(&t);
                break;
            case 1:
                write_batch(&t);
                break;
            default:
                write_one(&t);
            }
            if (step % 20 == 19) {
                twins_agree(&t);
            }
        }
        calls += t.hostile[0].calls;
        end_twins(&t);
    }
    ck_assert_uint_gt(calls, 10 * seeds);
}

// --- Who calls back ---

// An executor that runs other code of its game between jobs.
typedef struct game {
    espl_world *world;
    espl_entity root, leaf;
    size_t calls;
} game;

static void play_while_waiting(void *context, espl_job function, void *argument, size_t count)
{
    game *const own = context;
    const float at[3] = {1, 2, 3};
    const espl_write write = write_vector(own->leaf, ESPL_WRITE_LOCAL_POSITION, 4, 5, 6);
    const espl_component placed = ESPL_TRANSFORM;
    espl_entity out;

    for (size_t job = 0; job < count; ++job) {
        function(argument, job);
        if (own->world == NULL) {
            continue; // the hierarchy is being made
        }
        ck_status(espl_set_local_position(own->world, own->leaf, at), ESPL_ERR_BUSY);
        ck_status(espl_write_batch(own->world, &write, 1, NULL), ESPL_ERR_BUSY);
        ck_status(espl_create(own->world, &placed, 1, 1, &out), ESPL_ERR_BUSY);
        ck_status(espl_destroy(own->world, own->leaf, ESPL_EXTENT_OWNED), ESPL_ERR_BUSY);
    }
    own->calls += 1;
}

TEST(who_calls_back_meanwhile_finds_the_world_busy)
{
    game own = {0};
    const espl_executor executor = {&own, 2, play_while_waiting};
    giant at;
    const float there[3] = {7, 0, 0};
    espl_write writes[SIZE];

    begin_fan(&at, &executor, 10, 32);
    own.world = at.test.world;
    own.leaf = at.nodes[SIZE - 1];
    own.calls = 0;
    ck_ok(espl_set_local_position(own.world, at.nodes[0], there));
    ck_assert_uint_gt(own.calls, 0);
    for (uint32_t i = 0; i < SIZE; ++i) {
        writes[i] = write_vector(at.nodes[i], ESPL_WRITE_LOCAL_POSITION, 1, 0, (float)i);
    }
    ck_ok(espl_write_batch(own.world, writes, SIZE, NULL));
    ck_assert_uint_gt(own.calls, 1);
    // And afterwards it is open.
    ck_ok(espl_set_local_position(own.world, own.leaf, there));
    test_world_is_valid(own.world);
    end(&at);
}

// --- Overflow, and jobs that are lost ---

TEST(overflow_far_below_is_told_and_leaves_no_trace)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 5, .random = 8};
    const espl_executor executor = test_executor_of(&hostile);
    giant at;

    begin_fan(&at, &executor, 7, 16);
    espl_world *const world = at.test.world;
    const float far[3] = {FLT_MAX, 0, 0};
    const espl_write writes[2] = {write_scale(at.nodes[0], ESPL_WRITE_LOCAL_SCALE, 4),
                                  write_vector(at.nodes[2], ESPL_WRITE_LOCAL_POSITION, 1, 1, 1)};
    espl_write_report report;

    for (uint32_t i = 0; i < 2; ++i) {
        ck_ok(espl_set_local_position(world, at.nodes[SIZE - 3], far));
        const uint64_t hash = test_physical_hash(world);

        hostile.calls = 0;
        ck_status(espl_set_local_scale(world, at.nodes[0], 4), ESPL_OVERFLOW);
        ck_assert_uint_gt(hostile.calls, 0);
        ck_assert_uint_eq(test_count_overflowed(world), 1);
        ck_ok(espl_set_local_scale(world, at.nodes[0], 1));
        ck_assert_uint_eq(test_physical_hash(world), hash);
        ck_status(espl_write_batch(world, writes, 1, &report), ESPL_OVERFLOW);
        ck_assert(report.has_overflowed);
        // The scale is there already; what it made of the world stays.
        ck_status(espl_write_batch(world, writes, 2, &report), ESPL_OVERFLOW);
        ck_assert(report.has_overflowed);
        ck_ok(espl_set_local_scale(world, at.nodes[0], 1));
        ck_status(espl_write_batch(world, writes, 2, &report), ESPL_OVERFLOW);
        ck_assert_uint_eq(report.applied, 2);
        ck_assert(report.has_overflowed);
        ck_ok(espl_set_local_scale(world, at.nodes[0], 1));
        ck_assert_uint_eq(test_count_overflowed(world), 0);
        // Once more, with side arrays.
        ck_ok(espl_set_user_data(world, at.nodes[2], 9));
    }
    end(&at);
}

TEST_LOOP(job_that_is_lost_is_made_up_for_and_told, 0, 3)
{
    test_executor illegal = {
        .manner = (test_manner)(TEST_SKIPS_ONE + _i), .workers = 2, .decency = SIZE_MAX};
    const espl_executor executor = test_executor_of(&illegal);
    giant at;

    begin_fan(&at, &executor, 10, 32);
    espl_world *const world = at.test.world;
    espl_write writes[SIZE];

    illegal.calls = illegal.decency = at.test.hooks.traps = 0;
    ck_ok(espl_set_local_position(world, at.nodes[0], (float[3]){7, 0, 0}));
    for (uint32_t i = 0; i < SIZE; ++i) {
        writes[i] = write_vector(at.nodes[i], ESPL_WRITE_TRANSLATE_IN_PARENT, 1, 0, 0);
    }
    // The next loop looks up the entries: a job that is lost there refuses the batch.
    illegal.decency = illegal.calls + 1;
    ck_ok(espl_write_batch(world, writes, SIZE, NULL));
    ck_assert_uint_gt(illegal.calls, illegal.decency);
    ck_assert_uint_eq(at.test.hooks.traps, ESPL_CHECKS >= 1 ? illegal.calls - 1 : 0);
    // The first step along X from the parent, and another; the root was moved by seven and one.
    const espl_transform leaf = test_world_of(world, at.nodes[SIZE - 1]);
    ck_assert_float_eq(leaf.position[0], 8 + 2 * (float)espl_get_depth(world, at.nodes[SIZE - 1]));
    test_world_is_valid(world);
    end(&at);
}

TEST(writes_take_no_memory)
{
    test_executor hostile = {.manner = TEST_REVERSED, .workers = 5};
    const espl_executor executor = test_executor_of(&hostile);
    giant at;
    espl_write writes[SIZE];

    begin_fan(&at, &executor, 10, 32);
    for (uint32_t i = 0; i < SIZE; ++i) {
        writes[i] = write_vector(at.nodes[i], ESPL_WRITE_LOCAL_POSITION, 1, 0, (float)i);
    }
    ck_ok(espl_reserve(at.test.world, &(espl_reserve_def){.writes = SIZE}));
    test_heap_arm(&at.test.heap, 1, true);
    ck_ok(espl_set_local_scale(at.test.world, at.nodes[0], 2));
    ck_ok(espl_write_batch(at.test.world, writes, SIZE, NULL));
    ck_assert_uint_gt(hostile.calls, 1);
    ck_assert_uint_eq(at.test.heap.calls, 0);
    test_heap_arm(&at.test.heap, 0, false);
    end(&at);
}
