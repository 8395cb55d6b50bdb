// SPDX-License-Identifier: MIT
// Parallel writes over random forests, compared with the same immediate writes one by one in the
// documented order: the same bits and counts for every executor and order of jobs.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/tape.h"
#include "tests/ticks.h"
#include "tests/world/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 5, POPULATION = 900, STEPS = 700, WRITES = 6, LISTED = 4 };

// What the rows of one parallel write do. Each row is a stream of random numbers of its own.
typedef struct deed {
    uint64_t seed;
    bool has_sides; // side arrays are there for all
    atomic_size_t refused;
} deed;

// Kinds that need no side arrays, whatever they are given.
static bool is_plain(espl_write_kind kind)
{
    const value_type type = form_type(kind);

    return (type == VALUE_POSITION || type == VALUE_ROTATION || type == VALUE_SCALE ||
            kind == ESPL_WRITE_LOCAL_POSE) &&
           kind != ESPL_WRITE_STRETCH && kind != ESPL_WRITE_MULTIPLY_STRETCH;
}

// A value that hangs on what the parent is now, so that the order of writes shows.
static void follow_parent(hand by, espl_write *write, uint64_t *random)
{
    const espl_entity parent = espl_get_parent(by.world, write->entity);
    float above[3] = {0};

    if (form_type(write->kind) == VALUE_POSITION && test_one_in(random, 2) &&
        espl_get_world_position(by.world, parent, above) == ESPL_OK) {
        for (size_t i = 0; i < 3; ++i) {
            write->value.position[i] += 0.25f * above[i];
        }
    }
}

static espl_status write_kind(hand by, const deed *d, espl_entity entity, uint64_t *random)
{
    espl_write_kind kind = (espl_write_kind)test_below(random, TEST_KINDS);

    while (!d->has_sides && !is_plain(kind)) {
        kind = (espl_write_kind)test_below(random, TEST_KINDS);
    }
    kind = form_any_flag(kind, random);
    espl_write write = write_ordinary(entity, kind, random);

    follow_parent(by, &write, random);
    if (test_one_in(random, 30) && form_type(kind) == VALUE_POSITION) {
        write.value.position[test_below(random, 3)] = test_one_in(random, 2) ? 3e38f : NAN;
    }
    return hand_write(by, &write);
}

static espl_status write_other(hand by, const deed *d, espl_entity entity, uint64_t *random)
{
    static const uint32_t flags[] = {0, ESPL_ABSOLUTE_X, ESPL_ABSOLUTE_UP, ESPL_COPY_PARENT,
                                     1u << 30};
    const float point[3] = {test_between(random, -9, 9), test_between(random, -9, 9), 4};
    const float turn[4] = {0, 0.6f, 0, 0.8f};

    switch (test_below(random, d->has_sides ? 3 : 2)) {
    case 0:
        return hand_look_at(by, entity, point);
    case 1:
        return hand_rotate_about(by, entity, point, turn);
    default:
        return hand_set_inherit(by, entity, flags[test_below(random, 5)]);
    }
}

static void write_row(hand by, deed *d, espl_entity entity)
{
    uint64_t random = d->seed ^ ((uint64_t)entity.index * UINT64_C(0x9e3779b97f4a7c15));

    for (uint32_t i = test_below(&random, 4); i-- > 0;) {
        const espl_status status = test_one_in(&random, 5) ? write_other(by, d, entity, &random)
                                                           : write_kind(by, d, entity, &random);

        d->refused += status < 0 ? 1 : 0;
    }
}

static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    for (size_t row = 0; row < rows->count; ++row) {
        write_row((hand){writer, test_rows_world(rows)}, context, rows->entities[row]);
    }
}

// --- At once ---

typedef struct ranked {
    espl_entity entity;
    uint32_t rank, number;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *const x = a, *const y = b;

    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return x->number < y->number ? -1 : 1;
}

// The writes one by one, in the order of the query, or by rank, which is parents first in each
// hierarchy. Sides are not taken while an iteration is open, as in a parallel write.
static size_t write_at_once(espl_world *world, const espl_query_def *def, deed *d, bool top_down)
{
    const size_t living = test_stats(world).entities;
    ranked *const all = test_array(living + 1, sizeof *all);
    uint32_t count = 0;
    espl_query query;

    ck_ok(espl_query_begin(world, def, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row, ++count) {
            all[count] = (ranked){query.entities[row],
                                  top_down ? test_rank(world, query.entities[row]) : 0, count};
        }
    }
    qsort(all, count, sizeof *all, compare_ranked);
    ck_ok(espl_query_begin(world, def, &query));
    for (uint32_t i = 0; i < count; ++i) {
        write_row((hand){NULL, world}, d, all[i].entity);
    }
    espl_query_end(&query);
    free(all);
    return count;
}

// --- A forest and what is asked of it ---

typedef struct question {
    espl_component list[3][LISTED];
    espl_query_def def;
} question;

static size_t pick_list(espl_component *list, uint64_t *random)
{
    static const espl_component from[] = {ESPL_SOLO,     ESPL_ROOT,   ESPL_MEMBER,
                                          ESPL_MEMBER,   ESPL_PREFAB, ESPL_TRANSFORM,
                                          ESPL_DISABLED, 8,           9};
    const size_t count = test_below(random, 3);

    for (size_t i = 0; i < count; ++i) {
        list[i] = from[test_below(random, sizeof from / sizeof *from)];
    }
    return count;
}

static void pick_question(question *q, uint64_t *random)
{
    memset(q, 0, sizeof *q);
    q->def.any = q->list[0];
    q->def.any_count = test_one_in(random, 2) ? pick_list(q->list[0], random) : 0;
    q->def.all = q->list[1];
    q->def.all_count = test_one_in(random, 3) ? pick_list(q->list[1], random) : 0;
    q->def.none = q->list[2];
    q->def.none_count = test_one_in(random, 3) ? pick_list(q->list[2], random) : 0;
    q->def.include = test_below(random, 4);
}

static void reserve_sides(espl_world *world)
{
    const espl_query_def all = {.include = ESPL_INCLUDE_PREFABS | ESPL_INCLUDE_DISABLED};
    const size_t living = test_stats(world).entities;
    espl_entity *const entities = test_array(living + 1, sizeof *entities);
    size_t count = 0;
    espl_query query;

    ck_ok(espl_query_begin(world, &all, &query));
    while (espl_query_next(&query)) {
        memcpy(entities + count, query.entities, query.count * sizeof *entities);
        count += query.count;
    }
    for (size_t i = 0; i < count; ++i) {
        ck_ok(espl_reserve(world, &(espl_reserve_def){.side_of = entities[i]}));
    }
    free(entities);
}

static void demand_same(const test_tape *tape, espl_world *world, espl_world *wanted)
{
    const espl_world_stats a = test_stats(world), b = test_stats(wanted);

    tape_demand(tape, test_physical_hash(world) == test_physical_hash(wanted), "other bits");
    tape_demand(tape,
                a.writes == b.writes && a.writes_skipped == b.writes_skipped &&
                    a.nodes_visited == b.nodes_visited && a.nodes_skipped == b.nodes_skipped,
                "counts differ: %zu and %zu writes, %zu and %zu skipped, %zu and %zu visited",
                (size_t)a.writes, (size_t)b.writes, (size_t)a.writes_skipped,
                (size_t)b.writes_skipped, (size_t)a.nodes_visited, (size_t)b.nodes_visited);
    test_world_is_valid(world);
}

typedef struct shares {
    size_t writes, rows, shared, refused, groups, empty; // shared: by several jobs
} shares;

// The last side is written at once.
static void write_everywhere(test_tape *tape, test_side *sides, size_t count, uint64_t *random,
                             shares *sum)
{
    const bool top_down = test_one_in(random, 2), has_sides = test_one_in(random, 2);
    const uint64_t seed = test_random(random);
    const uint32_t limit = test_one_in(random, 3) ? 1 + test_below(random, 8) : 0;
    espl_parallel_report first = {0}, report;
    question q;

    pick_question(&q, random);
    for (size_t k = 0; k < count; ++k) {
        deed d = {.seed = seed, .has_sides = has_sides};
        const espl_parallel_def def = {.query = &q.def,
                                       .function = write_rows,
                                       .context = &d,
                                       .flags = top_down ? ESPL_PARALLEL_TOP_DOWN : 0,
                                       .job_limit = limit};

        if (has_sides) {
            reserve_sides(sides[k].world);
        }
        if (k + 1 == count) {
            tape_demand(tape, write_at_once(sides[k].world, &q.def, &d, top_down) == first.rows,
                        "another number of rows");
            tape_demand(tape, d.refused == first.refused, "%zu refused, not %zu", first.refused,
                        d.refused);
            continue;
        }
        const espl_status status = espl_write_parallel(sides[k].world, &def, &report);
        const espl_status wanted = report.refused != 0     ? ESPL_PARTLY
                                   : report.has_overflowed ? ESPL_OVERFLOW
                                                           : ESPL_OK;
        tape_demand(tape, status == wanted, "%s", espl_status_name(status));
        report.group_ns = report.run_ns = 0;
        first = k == 0 ? report : first;
        tape_demand(tape, memcmp(&first, &report, sizeof first) == 0, "another report of %zu", k);
        tape_demand(tape, limit == 0 || report.jobs <= limit, "%zu jobs", report.jobs);
    }
    for (size_t k = 0; k + 1 < count; ++k) {
        demand_same(tape, sides[k].world, sides[count - 1].world);
    }
    sum->writes += 1;
    sum->rows += first.rows;
    sum->shared += first.jobs > 1;
    sum->refused += first.refused;
    sum->groups += first.groups;
    sum->empty += first.rows == 0;
}

// Begin or end a tick, after all show the same.
static void tick_everywhere(const test_tape *tape, test_side *sides, size_t count, uint64_t *random)
{
    const float at = test_between(random, 0, 1.5f);
    const bool begins = test_one_in(random, 2);
    uint64_t shown = 0;

    for (size_t k = 0; k < count && tape->model.history != 0; ++k) {
        espl_world *const world = sides[k].world;

        tape_demand(tape, espl_present(world, at, NULL) >= 0, "nothing is presented");
        shown = k == 0 ? test_shown_hash(world) : shown;
        tape_demand(tape, test_shown_hash(world) == shown, "%zu shows something else", k);
        ck_ok(begins ? espl_tick_begin(world) : espl_tick_end(world));
    }
}

static void run_seed(uint64_t seed, const espl_executor *executors, size_t count, shares *sum)
{
    test_tape tape;
    test_side sides[SIDES];
    uint64_t random = seed;

    tape_begin(&tape, seed, seed % 2 == 0 ? POPULATION : POPULATION / 10);
    tape_take_cells(&tape);
    tape.style.weights[OP_CREATE] += 8;
    tape.moves = seed / 2 % 2 != 0;
    for (size_t k = 0; k < count; ++k) {
        side_begin(&sides[k], &tape, 1, &executors[k]);
        cut_small(sides[k].test.world);
    }
    for (tape.at = 0; tape.at < test_scaled(STEPS) && !tape_is_worn(&tape); ++tape.at) {
        const operation op = tape_next(&tape);

        for (size_t k = 0; k < count; ++k) {
            (void)side_run(&sides[k], &tape, &op);
        }
        (void)tape_apply(&tape, &op);
        for (size_t k = 0; k < count; ++k) {
            side_map(&sides[k], &tape, &op);
        }
    }
    // What the writes make of the worlds the model does not follow.
    for (size_t i = 0; i < WRITES; ++i) {
        write_everywhere(&tape, sides, count, &random, sum);
        tick_everywhere(&tape, sides, count, &random);
    }
    for (size_t k = 0; k < count; ++k) {
        side_end(&sides[k]);
    }
    tape_end(&tape);
}

TEST_LOOP(parallel_writes_are_the_calls_at_once_in_the_documented_order, 0, 4)
{
    test_executor hostile[2] = {{.manner = TEST_REVERSED, .workers = 3},
                                {.manner = TEST_SHUFFLED, .workers = 16, .random = 99}};
    espl_executor executors[SIDES] = {(espl_executor){0}, test_executor_of(&hostile[0]),
                                      test_executor_of(&hostile[1])};
    uint64_t state = test_environment("ESPL_SEED", 4100 + (uint64_t)_i);
    shares sum = {0};
    size_t count = 3;

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 4}, &executors[count]));
        count += 1;
    }
    executors[count] = (espl_executor){0}; // of the world that is written at once
    // One seed alone may refuse nothing, or have nothing to share out.
    for (size_t i = 0; i < (test_scaled(11) + 1) * test_factor(); ++i) {
        run_seed(test_random(&state), executors, count + 1, &sum);
    }
    test_tell_figure(sum.rows, "rows of parallel writes beside calls at once");
    // The worlds were worth it, or this test shows nothing.
    ck_assert_uint_gt(sum.rows, sum.writes);
    ck_assert_uint_gt(sum.refused, 0);
    ck_assert_uint_gt(sum.groups, 0);
    ck_assert_uint_lt(sum.empty, sum.writes);
    if (test_limits_of_build().entities > POPULATION) { // few entities are one job
        ck_assert_uint_gt(sum.shared, 0);
        ck_assert_uint_gt(hostile[0].calls, 0);
        ck_assert_uint_gt(hostile[1].calls, 0);
    }
    if (count == SIDES - 1) {
        espl_executor_destroy(&executors[count - 1]);
    }
}
