// SPDX-License-Identifier: MIT
// The counters of reports and statistics are equal for any number of workers and any cut of the work
// into jobs, over random playbacks, batches, parallel writes and single calls in worlds of any order.
#include "tests/checks.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/ticks.h"

#include <espalier/writers.h>

#include <string.h>

enum {
    WORLDS = 6, // the first one is serial
    ALL = 240,
    TREES = 14,
    FRAMES = 12,
    LINES = 40,
    WRITES = 40
};

static const uint32_t workers[WORLDS] = {1, 2, 3, 4, 7, 16};

typedef struct counted {
    test_executor executor;
    test_world test;
    espl_world *world;
    espl_component tag;
    espl_entity all[ALL]; // equal in all worlds
    size_t count;
    test_ticks ticks;
} counted;

// --- A world ---

// Of the first ones in half of the cases, so that several commands name the same node.
static espl_entity any(const counted *c, uint64_t *random)
{
    const uint32_t count = (uint32_t)c->count;

    return c->all[test_below(random, test_one_in(random, 2) ? 16 : count)];
}

static float step(uint64_t *random)
{
    // Some worlds overflow.
    return test_one_in(random, 20) ? 3e38f : test_between(random, -2, 2);
}

static espl_transform transform(uint64_t *random)
{
    espl_transform t = espl_transform_identity();

    for (int i = 0; i < 3; ++i) {
        t.position[i] = step(random);
    }
    t.scale = test_one_in(random, 8) ? 1e20f : 1;
    if (test_one_in(random, 4)) {
        t.stretch[1] = 2;
    }
    if (test_one_in(random, 4)) {
        t.user_data = 7;
    }
    return t;
}

static espl_write_kind write_kind(uint64_t *random)
{
    return form_any_flag((espl_write_kind)test_below(random, TEST_KINDS), random);
}

static uint32_t flags(uint64_t *random)
{
    static const uint32_t some[] = {0,
                                    0,
                                    0,
                                    ESPL_COPY_PARENT,
                                    ESPL_ABSOLUTE_X,
                                    ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_Y | ESPL_ABSOLUTE_Z |
                                        ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE};

    return some[test_below(random, sizeof some / sizeof *some)];
}

// Trees in any order, with holes, exceptional nodes, and layouts that are owed.
static void make(counted *c, uint32_t number, uint32_t cut, uint64_t random)
{
    memset(c, 0, sizeof *c);
    c->executor = (test_executor){.manner = TEST_SHUFFLED, .workers = workers[number]};
    const espl_executor executor = test_executor_of(&c->executor);

    test_world_begin(&c->test, 3, number == 0 ? NULL : &executor);
    c->world = c->test.world;
    c->tag = test_component(c->world, "tag", 0, 0);
    test_cut_jobs(c->world, cut);
    for (uint32_t tree = 0; tree < TREES; ++tree) {
        const size_t first = c->count, size = 1 + test_below(&random, 14);

        for (size_t i = 0; i < size; ++i) {
            const bool is_placed = !test_one_in(&random, 9);

            ck_ok(espl_create(c->world, is_placed ? (espl_component[]){ESPL_TRANSFORM} : &c->tag, 1,
                              1, &c->all[c->count]));
            if (i != 0) {
                const espl_attach_options o = {.inherit = is_placed ? flags(&random) : 0};
                const espl_entity parent = c->all[first + test_below(&random, (uint32_t)i)];

                (void)!espl_attach(c->world, c->all[c->count], parent, &o);
            }
            c->count += 1;
        }
    }
    for (int i = 0; i < 60; ++i) {
        const espl_entity a = any(c, &random), b = any(c, &random);
        const espl_transform t = transform(&random);

        if (i < 20) {
            (void)!espl_attach(c->world, a, b, NULL);
        } else {
            (void)!espl_set_local_transform(c->world, a, &t);
        }
    }
}

// --- Frames ---

// A command that cannot be recorded is left out.
static void record(counted *c, espl_recorder *r, uint32_t key, uint64_t *random)
{
    const espl_entity a = any(c, random), b = any(c, random);
    const espl_transform t = transform(random);
    const espl_component_value place = {ESPL_TRANSFORM, sizeof t, &t}, tag = {c->tag, 0, NULL};
    const espl_component placed = ESPL_TRANSFORM;
    const espl_change_def add = {test_one_in(random, 2) ? &place : &tag, 1, NULL, 0},
                          remove = {NULL, 0, &placed, 1};
    const espl_attach_options o = {.position = (espl_keep)test_below(random, 3),
                                   .rotation = (espl_keep)test_below(random, 3),
                                   .scale = (espl_keep)test_below(random, 3),
                                   .before =
                                       test_one_in(random, 3) ? any(c, random) : espl_entity_null(),
                                   .inherit = flags(random),
                                   .link = (espl_link)test_below(random, 2)};
    const espl_instance_def instance = {.source = a,
                                        .parent = test_one_in(random, 4) ? espl_entity_null() : b,
                                        .place = (espl_place)test_below(random, 3),
                                        .inherit = flags(random),
                                        .transform = t};
    const espl_creation_def creation = {.parent = test_one_in(random, 4) ? espl_entity_null() : b,
                                        .values = &place,
                                        .value_count = test_below(random, 2)};
    espl_entity made[3] = {{0}};
    const espl_write write = write_ordinary(a, write_kind(random), random);

    switch (test_below(random, 14)) {
    case 0:
    case 1:
        (void)!(espl_record_attach(r, key, a, b, &o));
        break;
    case 2:
        (void)!(espl_record_detach(r, key, a, o.position));
        break;
    case 3:
        (void)!(espl_record_destroy(r, key, a, (espl_extent)test_below(random, 3)));
        break;
    case 4:
        (void)!(espl_record_instantiate(r, key, &instance, 1 + test_below(random, 3), made));
        (void)!(espl_record_attach(r, key + 1, test_one_in(random, 2) ? made[0] : a, b, &o));
        break;
    case 5:
        (void)!(espl_record_create(r, key, &creation, 1, made));
        (void)!(espl_record_attach(r, key, b, made[0], &o));
        (void)!(
            espl_record_write(r, key + test_below(random, 2), made[0], write.kind, &write.value));
        break;
    case 6:
        (void)!(espl_record_change_components(r, key, a, test_one_in(random, 2) ? &add : &remove));
        break;
    case 7:
        (void)!(espl_record_set_inherit(r, key, a, flags(random)));
        break;
    case 8:
        (void)!(espl_record_move_before(r, key, a, b));
        break;
    case 9:
        (void)!(test_one_in(random, 2)
                    ? espl_record_set_enabled(r, key, a, ESPL_EXTENT_SUBTREE, false)
                    : espl_record_set_enabled(r, key, a, ESPL_EXTENT_OWNED, true));
        break;
    default:
        (void)!(espl_record_write(r, key, a, write.kind, &write.value));
        break;
    }
}

static espl_report play(counted *c, uint64_t random)
{
    espl_command_buffer *const commands = test_commands(c->world, 3);
    espl_report report;

    for (int i = 0; i < LINES; ++i) {
        record(c, espl_command_buffer_recorder(commands, test_below(&random, 3)),
               test_below(&random, 4), &random);
    }
    ck_ok(espl_play(c->world, commands, &report));
    memset(report.stage_ns, 0, sizeof report.stage_ns);
    espl_command_buffer_destroy(commands);
    return report;
}

static espl_write_report write_all(counted *c, uint64_t random)
{
    espl_write writes[WRITES];
    espl_write_report report;
    const uint32_t count = 1 + test_below(&random, WRITES);
    const espl_write_kind one = write_kind(&random);
    const bool is_mixed = test_one_in(&random, 2);

    for (uint32_t i = 0; i < count; ++i) {
        const espl_write_kind kind = is_mixed ? write_kind(&random) : one;

        writes[i] = write_ordinary(any(c, &random), kind, &random);
    }
    ck_assert_int_ge(espl_write_batch(c->world, writes, count, &report), 0);
    return report;
}

static void push(espl_writer *writer, const espl_query *rows, void *context)
{
    const float by[3] = {1, 0, *(const float *)context};

    for (size_t row = 0; row < rows->count; ++row) {
        (void)!ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_WORLD, by);
    }
}

static espl_parallel_report write_parallel(counted *c, uint64_t random)
{
    float by = step(&random);
    const espl_component roles[] = {ESPL_TRANSFORM, ESPL_MEMBER};
    const espl_query_def query = {.all = roles, .all_count = 1 + test_below(&random, 2)};
    const espl_parallel_def def = {.query = &query,
                                   .function = push,
                                   .context = &by,
                                   .job_limit = 1 + test_below(&random, 9),
                                   .flags = test_one_in(&random, 2) ? ESPL_PARALLEL_TOP_DOWN : 0};
    espl_parallel_report report;

    ck_assert_int_ge(espl_write_parallel(c->world, &def, &report), 0);
    report.group_ns = report.run_ns = 0;
    return report;
}

// Single calls, which divide a large hierarchy.
static void call(counted *c, uint64_t random)
{
    if (test_one_in(&random, 2)) {
        ck_ok(espl_compact(c->world)); // trees in order are divided by levels
    }
    for (int i = 0; i < 6; ++i) {
        const espl_entity a = any(c, &random), b = any(c, &random);
        const espl_write write = write_ordinary(a, write_kind(&random), &random);

        (void)!espl_write_one(c->world, a, write.kind, &write.value);
        if (test_one_in(&random, 4)) {
            (void)!espl_attach(c->world, a, b, NULL);
        }
    }
}

// --- The comparison ---

#define SAME(a, b, field)                                                    \
    ck_assert_msg((a).field == (b).field,                                    \
                  "seed %d, frame %d, cut %u: " #field " is %llu by one "    \
                  "worker and %llu by %u",                                   \
                  seed, frame, (unsigned)cut, (unsigned long long)(a).field, \
                  (unsigned long long)(b).field, (unsigned)workers[k])

static void compare(int seed, uint32_t cut)
{
    static counted worlds[WORLDS];
    uint64_t random = (uint64_t)seed;

    for (uint32_t k = 0; k < WORLDS; ++k) {
        make(&worlds[k], k, cut, random);
        test_ticks_begin(&worlds[k].ticks, worlds[k].world, (uint64_t)seed);
    }
    for (int frame = 0; frame < FRAMES; ++frame) {
        const uint64_t drawn = test_random(&random);
        const uint32_t way = test_below(&random, 4);
        espl_report played;
        espl_write_report written;
        espl_parallel_report parallel;
        espl_world_stats stats;
        uint64_t steps = 0;

        for (uint32_t k = 0; k < WORLDS; ++k) {
            counted *const c = &worlds[k];

            if (way == 0) {
                const espl_report now = play(c, drawn);

                played = k == 0 ? now : played;
                SAME(played, now, visited_nodes);
                SAME(played, now, moved_nodes);
                SAME(played, now, has_overflowed);
                ck_assert_msg(memcmp(&played, &now, sizeof now) == 0, "seed %d, frame %d", seed,
                              frame);
            } else if (way == 1) {
                const espl_write_report now = write_all(c, drawn);

                written = k == 0 ? now : written;
                SAME(written, now, has_overflowed);
                ck_assert_msg(memcmp(&written, &now, sizeof now) == 0, "seed %d, frame %d", seed,
                              frame);
            } else if (way == 2) {
                const espl_parallel_report now = write_parallel(c, drawn);

                parallel = k == 0 ? now : parallel;
                SAME(parallel, now, has_overflowed);
                ck_assert_msg(memcmp(&parallel, &now, sizeof now) == 0, "seed %d, frame %d", seed,
                              frame);
            } else {
                call(c, drawn);
            }
            const uint64_t step = test_ticks_step(&c->ticks, drawn);

            steps = k == 0 ? step : steps;
            ck_assert_msg(steps == step, "seed %d, frame %d: other steps", seed, frame);
            const espl_world_stats now = test_stats(c->world);

            stats = k == 0 ? now : stats;
            SAME(stats, now, nodes_visited);
            SAME(stats, now, nodes_skipped);
            SAME(stats, now, writes);
            SAME(stats, now, writes_skipped);
            SAME(stats, now, layouts);
            SAME(stats, now, layout_debt_incurred);
            ck_assert_msg(test_same_stats(&stats, &now), "seed %d, frame %d", seed, frame);
            ck_assert_uint_eq(test_physical_hash(c->world), test_physical_hash(worlds[0].world));
        }
    }
    for (uint32_t k = 0; k < WORLDS; ++k) {
        test_ticks_end(&worlds[k].ticks);
        test_world_end(&worlds[k].test);
    }
}

TEST_LOOP(counters_are_equal_for_any_number_of_workers, 0, 4)
{
    static const uint32_t cuts[] = {1, 4, 16, 64};
    const size_t seeds = test_scaled(25) * test_factor();

    if (test_lacks_room(FRAMES * ALL, "counters of random worlds")) {
        return;
    }

    for (size_t seed = 0; seed < seeds; ++seed) {
        compare((int)seed, cuts[_i]);
    }
}
