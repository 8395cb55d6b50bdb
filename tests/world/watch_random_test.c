// SPDX-License-Identifier: MIT
// Nothing that changed is missed: random operations of every kind, at once and recorded, with memory that
// runs out and on several workers, beside watches at several rates. After each round every living entity
// is compared with what the watches say. ESPL_FACTOR makes the runs so many times as many.
#include "tests/asked.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/stage.h"
#include "tests/watching.h"

#include <stdlib.h>
#include <string.h>

enum { WATCHERS = 5 };

// Watches of one world, and how many rounds pass between two collects of each.
typedef struct watchers {
    test_watcher all[WATCHERS];
    uint32_t rates[WATCHERS];
} watchers;

// What runs have done.
typedef struct tally {
    uint64_t rounds, checks, reported, spare;
    uint32_t drawn; // bit n: a watch had the flags n
} tally;

// Make the watches, with flags that follow from a seed. In a run in three no watch asks for own data, so that
// these are not marked.
static void watch_world(watchers *w, espl_world *world, uint64_t seed, tally *sum)
{
    static const uint32_t rates[WATCHERS] = {1, 3, 7, 1, 2};
    uint64_t random = seed;
    static const espl_component member[1] = {ESPL_MEMBER}, root[1] = {ESPL_ROOT};
    const espl_query_def members = {
        .all = member, .all_count = 1, .include = ESPL_INCLUDE_DISABLED};
    const espl_query_def not_roots = {
        .none = root, .none_count = 1, .include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    const espl_query_def everything = {.include = ESPL_INCLUDE_DISABLED | ESPL_INCLUDE_PREFABS};
    const espl_query_def *const filters[WATCHERS] = {&everything, NULL, &not_roots, &everything,
                                                     &members};

    for (int i = 0; i < WATCHERS; ++i) {
        uint32_t flags = test_watch_flags[test_below(&random, TEST_WATCH_FLAGS_UNSHOWN)];

        flags &= seed % 3 != 0 ? UINT32_MAX : ~(uint32_t)ESPL_WATCH_LOCAL;
        w->rates[i] = rates[i];
        sum->drawn |= UINT32_C(1) << flags;
        test_watcher_begin(&w->all[i], world, flags, filters[i]);
        // The lists of the filter are static.
        test_watcher_check(&w->all[i], NULL);
    }
}

// Check the watches whose turn it is. @param round  from 1.
static void check_watches(watchers *w, uint64_t round, uint64_t *random)
{
    for (int i = 0; i < WATCHERS; ++i) {
        if (round % w->rates[i] != 0) {
            continue;
        }
        if (test_one_in(random, 9)) {
            test_watcher_look_back(&w->all[i]);
        } else {
            test_watcher_check(&w->all[i], NULL);
        }
    }
}

static void end_watches(watchers *w, tally *sum)
{
    for (int i = 0; i < WATCHERS; ++i) {
        sum->checks += w->all[i].checks;
        sum->reported += w->all[i].reported;
        sum->spare += w->all[i].spare;
        test_watcher_end(&w->all[i]);
    }
}

// Demand that watches had each set of flags that does not need motion.
static void demand_all_flags(const tally *sum)
{
    for (int i = 0; i < TEST_WATCH_FLAGS_UNSHOWN; ++i) {
        ck_assert_uint_ne(sum->drawn >> test_watch_flags[i] & 1, 0);
    }
}

static void tell(const tally *sum)
{
    test_tell_figure(sum->rounds, "rounds beside watches");
    test_tell_figure(sum->checks, "nodes compared with watches");
}

// Let memory run out in some rounds, at a call that is drawn. What a call took before stays. Not in a build
// with few indices, which what follows such a call would wear.
static void vex(test_heap *heap, uint64_t *random)
{
    const bool is_vexed = test_one_in(random, 4) && test_limits_of_build().lives > 100;

    test_heap_arm(heap, is_vexed ? 1 + test_below(random, 12) : 0, test_one_in(random, 2));
}

// --- Calls at once ---

// Carry an operation out, again where it found no memory.
static void run_vexed(test_tape *tape, test_side *side, uint64_t *random)
{
    const operation op = tape_next(tape);

    vex(&side->test.heap, random);
    espl_status status = side_run(side, tape, &op);

    const bool has_lacked = side->test.heap.failures != 0;

    test_heap_arm(&side->test.heap, 0, false);
    // A destroy that found no memory leaves roles to the next structural call, and the model has none late.
    if (has_lacked) {
        ck_ok(espl_destroy(side->world, test_solo(side->world), ESPL_EXTENT_ENTITY));
    }
    if (status == ESPL_ERR_NO_MEMORY || (op.code == OP_TRIM && status == ESPL_PARTLY)) {
        status = side_run(side, tape, &op);
    }
    side_follow(side, tape, &op, status);
}

static void run_at_once(uint64_t seed, uint32_t population, size_t rounds, tally *sum)
{
    uint64_t random = seed;
    test_tape tape;
    test_side side;
    watchers w;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    side_begin(&side, &tape, 1, NULL);
    watch_world(&w, side.world, seed, sum);
    for (size_t round = 1; round <= rounds && !tape_is_worn(&tape); ++round) {
        for (uint32_t i = test_below(&random, 6); i != 0 && !tape_is_worn(&tape); --i) {
            run_vexed(&tape, &side, &random);
        }
        check_watches(&w, round, &random);
        sum->rounds += 1;
        if (round % 16 == 0) {
            test_world_is_valid(side.world);
        }
    }
    end_watches(&w, sum);
    side_end(&side);
    tape_end(&tape);
}

TEST_LOOP(no_change_at_once_is_missed, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 300};
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 71 + (uint64_t)_i;
    tally sum = {0};

    const size_t runs = (_i == 0 ? 60 : _i == 1 ? 25 : 6) * (size_t)test_factor();

    for (size_t i = 0; i < (chosen != 0 ? 1 : runs); ++i) {
        run_at_once(chosen != 0 ? chosen : test_random(&state), populations[_i],
                    test_scaled_alone(120), &sum);
    }
    tell(&sum);
    ck_assert_uint_gt(sum.reported, sum.spare);
    if (chosen == 0 && _i < 2) {
        demand_all_flags(&sum);
    }
}

// --- Playbacks ---

// Play a batch, with memory that runs out at first.
static bool play_vexed(stage *s, const expected *wanted, uint64_t *random)
{
    test_side *const side = &s->played[0];
    espl_report report;

    for (int i = 0; i < 3; ++i) {
        test_heap_arm(&side->test.heap, 1 + test_below(random, 60), test_one_in(random, 2));
        if (test_one_in(random, 2)) {
            espl_status status = espl_play(side->world, side->batch, &report);

            test_heap_arm(&side->test.heap, 0, false);
            if (status == ESPL_OK) {
                stage_compare(s, side, wanted, NULL);
                return true;
            }
            ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
        }
    }
    test_heap_arm(&side->test.heap, 0, false);
    if (!stage_play(s, side, wanted, &report)) {
        return false;
    }
    stage_compare(s, side, wanted, NULL);
    return true;
}

static void run_played(uint64_t seed, uint32_t population, uint32_t limit, size_t rounds,
                       const espl_executor *executor, tally *sum)
{
    stage *const s = stage_begin(seed, population, executor, 1);
    const uint32_t fitting = stage_fit(s, limit);
    uint64_t random = seed;
    watchers w;

    watch_world(&w, s->played[0].world, seed, sum);
    test_cut_jobs(s->played[0].world, 4);
    for (size_t round = 1; round <= rounds && !tape_is_worn(&s->tape); ++round) {
        stage_record(s, 1 + test_below(&random, fitting));
        const expected wanted = stage_run(s);

        if (!play_vexed(s, &wanted, &random)) {
            break;
        }
        check_watches(&w, round, &random);
        sum->rounds += 1;
    }
    end_watches(&w, sum);
    stage_end(s);
}

TEST_LOOP(no_change_by_a_playback_is_missed, 0, 3)
{
    static const uint32_t populations[3] = {6, 40, 400}, limits[3] = {8, 60, 600};
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 5, .random = 7};
    espl_executor executor = test_executor_of(&hostile);
    const bool has_threads = test_has_threads();
    uint64_t state = 81 + (uint64_t)_i;
    tally sum = {0};
    const size_t runs = (_i == 0 ? 30 : _i == 1 ? 12 : 3) * (size_t)test_factor();

    if (has_threads) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 2}, &executor));
    }
    for (size_t i = 0; i < runs; ++i) {
        const espl_executor other = test_executor_of(&hostile);

        run_played(test_random(&state), populations[_i], limits[_i], test_scaled(20),
                   i % 2 == 0 ? &executor : &other, &sum);
    }
    tell(&sum);
    if (_i < 2) {
        demand_all_flags(&sum);
    }
    if (has_threads) {
        espl_executor_destroy(&executor);
    }
}

// --- Batches, strided writes and jobs, in small and in large trees ---

// Some entities with hierarchies of a shape.
typedef struct plot {
    espl_world *world;
    espl_entity *nodes;
    espl_entity *some; // drawn from them
    espl_transform *values;
    uint32_t count, size; // of all, of each hierarchy
    uint64_t random;
} plot;

static void make_plot(plot *p, espl_world *world, uint32_t count, uint32_t size, uint32_t fan)
{
    *p = (plot){.world = world, .count = count, .size = size, .random = count};
    p->nodes = test_array(count, sizeof *p->nodes);
    p->some = test_array(count, sizeof *p->some);
    p->values = test_array(count, sizeof *p->values);
    for (uint32_t i = 0; i < count; ++i) {
        const espl_transform local = test_at(1, (float)(i % 7), 0);
        const uint32_t at = i % size;
        const espl_entity parent = at == 0 ? test_null : p->nodes[i - at + (at - 1) / fan];

        ck_assert_int_ge(espl_create_node(world, parent, &local, NULL, &p->nodes[i]), 0);
    }
}

static void free_plot(plot *p)
{
    free(p->nodes);
    free(p->some);
    free(p->values);
}

// Draw entities and values: `count` of them, in ascending order of creation, or any; or the first ones of as
// many hierarchies. @return how many.
static uint32_t draw_some(plot *p, uint32_t count)
{
    const bool is_sorted = test_one_in(&p->random, 2), is_roots = test_one_in(&p->random, 4);
    const uint32_t trees = p->count / p->size;

    count = is_roots && count > trees ? trees : count;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = is_roots    ? i * p->size
                            : is_sorted ? (uint32_t)((uint64_t)i * p->count / count)
                                        : test_below(&p->random, p->count);
        espl_transform *const value = &p->values[i];

        p->some[i] = p->nodes[at];
        *value = test_at(test_between(&p->random, -9, 9), 1, 2);
        value->scale = test_one_in(&p->random, 5) ? 1 : test_between(&p->random, 0.5f, 2);
        if (test_one_in(&p->random, 40)) {
            value->stretch[0] = 2;
        }
        if (test_one_in(&p->random, 60)) {
            value->position[1] = test_one_in(&p->random, 2) ? 3e38f : 1e30f;
        }
        if (test_one_in(&p->random, 60)) {
            value->user_data = 7;
        }
    }
    return count;
}

// Any answer will do but one: watches are compared with what came of it.
static void take(espl_status status)
{
    ck_assert_int_ne(status, ESPL_ERR_BUSY);
}

static void write_one_by_one(plot *p, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const espl_write_kind kind = (espl_write_kind)test_below(&p->random, ESPL_WRITE_KIND_COUNT);

        (void)espl_write_one(p->world, p->some[i], kind, &p->values[i]);
    }
}

static void write_as_batch(plot *p, uint32_t count, espl_write_kind kind)
{
    espl_write *const writes = test_array(count, sizeof *writes);

    for (uint32_t i = 0; i < count; ++i) {
        writes[i] = (espl_write){.entity = p->some[i], .kind = kind};
        memcpy(&writes[i].value, &p->values[i], sizeof(espl_transform));
        if (test_one_in(&p->random, 6) && kind == ESPL_WRITE_KIND_COUNT) {
            writes[i].kind = (espl_write_kind)test_below(&p->random, ESPL_WRITE_KIND_COUNT);
        }
    }
    take(espl_write_batch(p->world, writes, count, NULL));
    free(writes);
}

static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    for (size_t i = 0; i < rows->count; ++i) {
        uint64_t random = rows->entities[i].index + *(const uint64_t *)context;
        const espl_transform value = test_at(test_between(&random, -4, 4), 3, 2);
        const float turn[4] = {0, 0.6f, 0, 0.8f};

        if (test_one_in(&random, 3)) {
            (void)ESPL_WRITER_WRITE(writer, rows->entities[i],
                                    (espl_write_kind)test_below(&random, ESPL_WRITE_KIND_COUNT),
                                    &value);
        } else if (test_one_in(&random, 9)) {
            (void)espl_writer_rotate_about(writer, rows->entities[i], value.position, turn, NULL);
        } else if (test_one_in(&random, 9)) {
            (void)espl_writer_look_at(writer, rows->entities[i], value.position, NULL, ESPL_AXIS_UP,
                                      NULL);
        } else if (test_one_in(&random, 9)) {
            (void)espl_writer_set_inherit(writer, rows->entities[i],
                                          test_one_in(&random, 2) ? ESPL_ABSOLUTE_X : 0, NULL);
        }
    }
}

static void write_in_jobs(plot *p)
{
    const espl_component placed[1] = {ESPL_TRANSFORM};
    const espl_query_def query = {.all = placed, .all_count = 1};
    const espl_parallel_def def = {.query = &query, .function = write_rows, .context = &p->random};

    (void)test_random(&p->random);
    ck_assert_int_ge(espl_write_parallel(p->world, &def, NULL), 0);
}

// One round of writes in some form.
static void write_some(plot *p)
{
    const uint32_t limit = test_one_in(&p->random, 4) ? p->count : p->count / 8;
    const uint32_t count = draw_some(p, 1 + test_below(&p->random, limit));

    switch (test_below(&p->random, 6)) {
    case 0:
        write_one_by_one(p, count);
        break;
    case 1:
        write_as_batch(p, count, ESPL_WRITE_LOCAL_TRANSFORM);
        break;
    case 2:
        write_as_batch(p, count, (espl_write_kind)test_below(&p->random, ESPL_WRITE_KIND_COUNT));
        break;
    case 3:
        take(espl_write_strided(p->world, ESPL_WRITE_LOCAL_POSE, p->some, count, sizeof *p->some,
                                p->values, sizeof *p->values, NULL));
        break;
    case 4:
        for (uint32_t i = 0; i < count; ++i) {
            p->values[i].position[1] = 1; // all finite
        }
        take(espl_write_strided(p->world, ESPL_WRITE_LOCAL_POSITION, p->some, count,
                                sizeof *p->some, p->values[0].position, sizeof *p->values, NULL));
        break;
    default:
        write_in_jobs(p);
        break;
    }
    if (test_one_in(&p->random, 5)) {
        const uint32_t child = test_below(&p->random, p->count);

        take(espl_attach(p->world, p->nodes[child], p->nodes[test_below(&p->random, p->count)],
                         NULL));
    }
    if (test_one_in(&p->random, 12)) {
        ck_assert_int_ge(espl_compact(p->world), 0);
    }
}

static void run_plot(uint32_t count, uint32_t size, uint32_t fan, size_t rounds,
                     const espl_executor *executor, tally *sum)
{
    test_world test;
    watchers w;
    plot p;

    test_world_begin(&test, 1, executor);
    test_cut_jobs(test.world, 4);
    make_plot(&p, test.world, count, size, fan);
    watch_world(&w, test.world, (uint64_t)count * 7 + fan, sum);
    for (size_t round = 1; round <= rounds; ++round) {
        write_some(&p);
        check_watches(&w, round, &p.random);
        sum->rounds += 1;
    }
    end_watches(&w, sum);
    free_plot(&p);
    test_world_end(&test);
}

TEST_LOOP(no_write_in_any_form_is_missed, 0, 7)
{
    static const uint32_t counts[7] = {200, 200, 600, 1500, 3000, 20000, 800};
    static const uint32_t sizes[7] = {1, 20, 600, 75, 3000, 20000, 4};
    static const uint32_t fans[7] = {1, 3, 200, 1, 4, 9000, 2};
    const size_t rounds[7] = {60, 60, 40, 20, 12, 3, 30};
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 3, .random = 5};
    espl_executor executor = test_executor_of(&hostile);
    const bool has_threads = test_has_threads() && _i % 2 == 1;
    tally sum = {0};

    if (test_lacks_room(counts[_i], "hierarchies of several sizes")) {
        return;
    }
    if (has_threads) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 2}, &executor));
    }
    run_plot(counts[_i], sizes[_i], fans[_i], test_scaled(rounds[_i]) * test_factor(), &executor,
             &sum);
    tell(&sum);
    if (has_threads) {
        espl_executor_destroy(&executor);
    }
}

// --- What is shown ---

// One round of a world that has motion, or had it: a tick, writes outside of one, a present.
static void show_some(plot *p)
{
    const bool is_tick = test_one_in(&p->random, 2);

    if (test_one_in(&p->random, 15)) {
        ck_ok(espl_motion_stop(p->world));
        if (test_one_in(&p->random, 2)) {
            write_some(p);
        }
        ck_ok(espl_motion_start(p->world, NULL));
    }
    if (is_tick) {
        ck_ok(espl_tick_begin(p->world));
    }
    if (!test_one_in(&p->random, 5)) {
        write_some(p);
    }
    if (is_tick) {
        ck_ok(espl_tick_end(p->world));
    }
    if (test_one_in(&p->random, 8)) {
        const uint32_t at = test_below(&p->random, p->count);
        espl_entity made = test_null;

        ck_assert_int_ge(espl_create_node(p->world, p->nodes[at], NULL, NULL, &made), 0);
        p->nodes[test_below(&p->random, p->count)] = made;
    }
    if (!test_one_in(&p->random, 4)) {
        ck_assert_int_ge(espl_present(p->world, test_between(&p->random, 0, 1), NULL), 0);
    }
}

TEST_LOOP(nothing_that_is_shown_is_missed, 0, 3)
{
    static const uint32_t counts[3] = {30, 200, 900}, sizes[3] = {3, 20, 300};
    const size_t rounds = test_scaled(_i == 2 ? 15 : 60) * test_factor();
    test_watcher shown[TEST_WATCH_FLAGS];
    tally sum = {0};
    test_world test;
    plot p;

    if (test_lacks_room(2 * (size_t)counts[_i] + rounds, "nodes that are shown")) {
        return;
    }
    test_world_begin(&test, 1, NULL);
    test_cut_jobs(test.world, 4);
    make_plot(&p, test.world, counts[_i], sizes[_i], 3);
    ck_ok(espl_motion_start(test.world, NULL));
    for (int i = 0; i < TEST_WATCH_FLAGS; ++i) {
        test_watcher_begin(&shown[i], test.world, test_watch_flags[i], NULL);
        test_watcher_check(&shown[i], NULL);
    }
    for (size_t round = 1; round <= rounds; ++round) {
        show_some(&p);
        for (int i = 0; i < TEST_WATCH_FLAGS; ++i) {
            if (round % (unsigned)(i % 3 + 1) == 0) {
                test_watcher_check(&shown[i], NULL);
            }
        }
        sum.rounds += 1;
    }
    for (int i = 0; i < TEST_WATCH_FLAGS; ++i) {
        sum.checks += shown[i].checks;
        test_watcher_end(&shown[i]);
    }
    tell(&sum);
    free_plot(&p);
    test_world_end(&test);
}
