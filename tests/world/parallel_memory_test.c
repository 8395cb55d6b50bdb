// SPDX-License-Identifier: MIT
// Parallel writes without memory: no function is called and nothing changes. Scratch is reused, can
// be reserved in advance, and is freed by espl_compact().
#include "tests/runner.h"
#include "tests/world/parallel.h"

#include <stdlib.h>

enum { ASKED = 5 };

// Solos, and hierarchies of three whose members stand in two archetypes, so that every way to deal
// rows out is met.
typedef struct grounds {
    test_world test;
    espl_world *world;
    espl_component number, list[2];
    espl_entity *made;
    uint32_t count;
    espl_query_def query;
    espl_parallel_def def;
    size_t calls;
} grounds;

static void count_call(espl_writer *writer, const espl_query *rows, void *context)
{
    const float step[3] = {1, 0, 0};
    grounds *const g = context;

    g->calls += 1;
    for (size_t row = 0; row < rows->count; ++row) {
        ck_ok(ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_IN_PARENT, step));
    }
}

static void grounds_begin(grounds *g)
{
    uint32_t parents[600];

    *g = (grounds){.count = test_fitting(600, 8) / 4 * 4};
    test_world_begin(&g->test, 3, NULL);
    cut_small(g->test.world);
    g->world = g->test.world;
    g->number = test_component(g->world, "number", 4, 4);
    for (uint32_t i = 0; i < g->count; ++i) {
        parents[i] = i % 4 < 2 ? NO_PARENT : i - 1;
    }
    g->made = make_forest(g->world, parents, g->count);
    for (uint32_t i = g->count; i-- > 0;) {
        if (i % 4 == 2) {
            ck_ok(espl_add_component(g->world, g->made[i], g->number, NULL, 4));
        }
    }
    // What the making of it left behind goes.
    ck_ok(espl_compact(g->world));
}

static void grounds_end(grounds *g)
{
    free(g->made);
    test_world_end(&g->test);
}

// Ask in one of the ways.
static void ask(grounds *g, int way)
{
    static const espl_component roles[ASKED] = {ESPL_SOLO, ESPL_ROOT, ESPL_MEMBER, 0, 0};

    g->list[0] = roles[way];
    g->query = (espl_query_def){.all = g->list, .all_count = roles[way] != 0};
    g->def = (espl_parallel_def){.query = &g->query,
                                 .function = count_call,
                                 .context = g,
                                 .columns = &g->number,
                                 .column_count = 1,
                                 .flags = way == 4 ? ESPL_PARALLEL_TOP_DOWN : 0};
    g->calls = 0;
}

TEST(what_was_prepaid_takes_no_memory_until_a_trim)
{
    grounds g;

    grounds_begin(&g);
    const size_t before = test_stats(g.world).bytes;
    ck_ok(espl_reserve(g.world, &(espl_reserve_def){.parallel_rows = g.count}));
    const size_t reserved = test_stats(g.world).bytes;
    ck_assert_uint_gt(reserved, before);
    test_heap_arm(&g.test.heap, 1, true);
    for (int way = 0; way < ASKED; ++way) {
        ask(&g, way);
        ck_ok(espl_write_parallel(g.world, &g.def, NULL));
        ck_assert_uint_gt(g.calls, 0);
    }
    ck_ok(espl_reserve(g.world, &(espl_reserve_def){.parallel_rows = g.count / 2}));
    ck_ok(espl_reserve(g.world, &(espl_reserve_def){.parallel_rows = 0}));
    ck_assert_uint_eq(g.test.heap.calls, 0);
    test_heap_arm(&g.test.heap, 0, false);
    ck_assert_uint_eq(test_stats(g.world).bytes, reserved);
    test_world_is_valid(g.world);
    ck_ok(espl_compact(g.world));
    ck_assert_uint_eq(test_stats(g.world).bytes, before);
    grounds_end(&g);
}

// Marks of hierarchies tell by a number which write they are of; it comes round.
TEST(marks_of_old_writes_mean_nothing_when_their_number_comes_again)
{
    espl_parallel_report first, second;
    grounds g;

    grounds_begin(&g);
    ask(&g, 2);
    ck_ok(espl_write_parallel(g.world, &g.def, &first));
    test_wear_marks(g.world, 3);
    ask(&g, 4);
    ck_ok(espl_write_parallel(g.world, &g.def, &second));
    ck_assert_uint_eq(first.groups, g.count / 4);
    ck_assert_uint_eq(second.groups, g.count / 2);
    grounds_end(&g);
}
