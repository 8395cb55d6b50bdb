// SPDX-License-Identifier: MIT
// What espl_present() promises: the worlds of the end of the tick at 1, worlds at any time for nodes at
// rest, blends that a recursion in double gives too, refusals that leave shown worlds as they are, and
// equal bits for any number of threads. tests/tree/present_test.c compares with the scalar path.
#include "tests/asserts.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/stacked.h"

#include <espalier/motion.h>
#include <espalier/read.h>
#include <espalier/writers.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 20, NODES = 25, ALL = TREES * NODES, FAN = 3 };

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_entity *made; // [ALL] tree by tree, breadth-first
    uint64_t random;
} scene;

// @return false where the test is to be skipped.
static bool begins(scene *s, const espl_executor *executor)
{
    if (test_lacks_room(ALL + 8, "several hierarchies")) {
        return false;
    }
    s->random = 1;
    test_world_begin(&s->test, 1, executor);
    s->world = s->test.world;
    s->made = make_trees(s->world, TREES, NODES, FAN);
    ck_ok(espl_motion_start(s->world, NULL));
    return true;
}

static void end(scene *s)
{
    free(s->made);
    test_world_end(&s->test);
}

// A rotation of at most so many degrees about any axis, a step away, and a scale near 1.
static espl_pose any_step(uint64_t *random, float degrees)
{
    espl_pose pose = {.scale = test_between(random, 0.9f, 1.1f)};
    const float axis[3] = {test_between(random, -1, 1), test_between(random, -1, 1), 0.5f};

    ck_ok(espl_quat_from_axis_angle(axis, test_between(random, 0, degrees * 0.0174532925f),
                                    pose.rotation));
    for (int i = 0; i < 3; ++i) {
        pose.position[i] = test_between(random, -2, 2);
    }
    return pose;
}

static void read_poses(const scene *s, espl_read_kind kind, espl_pose *out)
{
    ck_ok(espl_read_strided(s->world, kind, s->made, ALL, sizeof *s->made, out, sizeof *out));
}

// Give each of the nodes [first, last) one in `n` a new local, in a tick.
static void tick(scene *s, size_t first, size_t last, uint32_t n, float degrees)
{
    ck_ok(espl_tick_begin(s->world));
    for (size_t i = first; i < last; ++i) {
        if (test_one_in(&s->random, n)) {
            const espl_pose pose = any_step(&s->random, degrees);

            ck_ok(espl_set_local_pose(s->world, s->made[i], &pose));
        }
    }
    ck_ok(espl_tick_end(s->world));
}

// --- Refusals ---

TEST(a_present_is_refused_without_a_world_or_motion_or_time)
{
    static espl_pose before[ALL], after[ALL];
    scene s;
    espl_present_report report = {.blended = 77};

    if (!begins(&s, NULL)) {
        return;
    }
    ck_status(espl_present(NULL, 1, &report), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(report.blended, 0);
    tick(&s, 0, ALL, 1, 90);
    ck_ok(espl_present(s.world, 0.25f, &report));
    ck_assert_uint_eq(report.blended, ALL);
    read_poses(&s, ESPL_READ_SHOWN_POSE, before);
    ck_status(espl_present(s.world, NAN, &report), ESPL_ERR_NOT_FINITE);
    ck_status(espl_present(s.world, INFINITY, &report), ESPL_ERR_NOT_FINITE);
    ck_status(espl_present(s.world, -INFINITY, NULL), ESPL_ERR_NOT_FINITE);
    ck_assert_uint_eq(report.blended, 0);
    read_poses(&s, ESPL_READ_SHOWN_POSE, after);
    ck_assert_mem_eq(after, before, sizeof after);
    ck_ok(espl_motion_stop(s.world));
    ck_status(espl_present(s.world, 1, NULL), ESPL_ERR_ARGUMENT);
    end(&s);
}

TEST(a_present_needs_neither_a_tick_nor_closed_queries)
{
    scene s;
    espl_present_report report;
    espl_query open;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_present(s.world, 0.5f, &report));
    ck_assert_uint_eq(report.visited, 0);
    ck_ok(espl_query_begin(s.world, NULL, &open));
    ck_ok(espl_set_local_position(s.world, s.made[0], (const float[]){1, 2, 3}));
    ck_ok(espl_present(s.world, 0.5f, &report));
    ck_assert_uint_eq(report.visited, NODES);
    espl_query_end(&open);
    end(&s);
}

TEST(shown_worlds_stay_where_memory_fails)
{
    static espl_pose before[ALL], after[ALL], worlds[ALL];
    scene s;
    size_t failures = 0;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_present(s.world, 1, NULL));
    for (size_t i = 1; i < 4; ++i) {
        test_free_scratch(s.world);
        tick(&s, 0, ALL, 2, 90);
        read_poses(&s, ESPL_READ_SHOWN_POSE, before);
        test_free_scratch(s.world);
        test_heap_arm(&s.test.heap, i, true);
        const espl_status status = espl_present(s.world, 1, NULL);

        test_heap_arm(&s.test.heap, 0, false);
        read_poses(&s, ESPL_READ_SHOWN_POSE, after);
        if (status == ESPL_OK) {
            continue;
        }
        failures += 1;
        ck_status(status, ESPL_ERR_NO_MEMORY);
        ck_assert_mem_eq(after, before, sizeof after);
        ck_ok(espl_present(s.world, 1, NULL));
        read_poses(&s, ESPL_READ_SHOWN_POSE, after);
        read_poses(&s, ESPL_READ_WORLD_POSE, worlds);
        ck_assert_mem_eq(after, worlds, sizeof after);
    }
    ck_assert_uint_gt(failures, 0);
    end(&s);
}

// --- What is shown ---

TEST(at_the_end_of_a_tick_each_node_shows_its_world)
{
    static espl_pose shown[ALL], worlds[ALL];
    scene s;

    if (!begins(&s, NULL)) {
        return;
    }
    for (uint32_t n = 1; n < 60; n += 3) {
        tick(&s, 0, ALL, n, 180);
        ck_ok(espl_present(s.world, 0.5f, NULL));
        ck_ok(espl_present(s.world, 1, NULL));
        read_poses(&s, ESPL_READ_SHOWN_POSE, shown);
        read_poses(&s, ESPL_READ_WORLD_POSE, worlds);
        ck_assert_mem_eq(shown, worlds, sizeof shown);
    }
    end(&s);
}

TEST(nodes_at_rest_show_their_worlds_at_any_time)
{
    static espl_pose shown[ALL], worlds[ALL];
    enum { MOVING = ALL / 2 };
    scene s;

    if (!begins(&s, NULL)) {
        return;
    }
    tick(&s, 0, ALL, 1, 180);
    tick(&s, 0, MOVING, 4, 180);
    read_poses(&s, ESPL_READ_WORLD_POSE, worlds);
    for (int i = 0; i < 50; ++i) {
        ck_ok(espl_present(s.world, test_between(&s.random, -1, 2), NULL));
        read_poses(&s, ESPL_READ_SHOWN_POSE, shown);
        ck_assert_mem_eq(shown + MOVING, worlds + MOVING, sizeof shown - MOVING * sizeof *shown);
    }
    end(&s);
}

// A stretch moves the children of a node and not the node, so that they are reached through what copies it,
// whether a present showed that copy as new before or not.
static void check_stretch_below_copies(bool has_transform, uint32_t presents)
{
    const float stretch[3] = {4, 2, 3};
    const espl_transform step = {
        .rotation = {0, 0, 0, 1}, .position = {1, 2, 3}, .scale = 1, .stretch = {1, 1, 1}};
    espl_entity chain[5] = {{0}};
    espl_transform shown, world;
    test_world test;

    test_world_begin(&test, 1, NULL);
    for (int i = 0; i < 5; ++i) {
        ck_ok(espl_create_node(test.world, i > 0 ? chain[i - 1] : espl_entity_null(), &step, NULL,
                               &chain[i]));
    }
    ck_ok(espl_motion_start(test.world, NULL));
    ck_ok(espl_tick_begin(test.world));
    for (int i = 2; i < 4; ++i) {
        ck_ok(has_transform ? espl_set_inherit(test.world, chain[i], ESPL_COPY_PARENT)
                            : espl_remove_component(test.world, chain[i], ESPL_TRANSFORM));
    }
    ck_ok(espl_tick_end(test.world));
    for (uint32_t i = 0; i < presents; ++i) {
        ck_ok(espl_present(test.world, 0.5f, NULL));
    }
    ck_ok(espl_set_stretch(test.world, chain[1], stretch));
    ck_ok(espl_present(test.world, 0.5f, NULL));
    ck_ok(espl_read_one(test.world, chain[4], ESPL_READ_SHOWN_TRANSFORM, &shown));
    ck_ok(espl_get_world_transform(test.world, chain[4], &world));
    ck_assert_mem_eq(&shown, &world, sizeof world);
    test_world_end(&test);
}

TEST(a_stretch_shows_below_copies_that_a_present_showed_before)
{
    for (uint32_t presents = 0; presents < 3; ++presents) {
        check_stretch_below_copies(false, presents);
        check_stretch_below_copies(true, presents);
    }
}

TEST(after_a_tick_without_writes_nothing_is_between_two_poses)
{
    static espl_pose shown[ALL], worlds[ALL];
    scene s;
    espl_present_report report;

    if (!begins(&s, NULL)) {
        return;
    }
    tick(&s, 0, ALL, 2, 180);
    ck_ok(espl_present(s.world, 0.3f, NULL));
    ck_ok(espl_tick_begin(s.world));
    ck_ok(espl_present(s.world, 0.6f, NULL));
    read_poses(&s, ESPL_READ_SHOWN_POSE, shown);
    read_poses(&s, ESPL_READ_WORLD_POSE, worlds);
    ck_assert_mem_eq(shown, worlds, sizeof shown);
    ck_ok(espl_present(s.world, 0.9f, &report));
    ck_assert_uint_eq(report.visited, 0);
    end(&s);
}

// A pose in double: a unit rotation, a position and a scale.
typedef struct exact_pose {
    double q[4], p[3], scale;
} exact_pose;

static void blend_exactly(exact_pose *out, const espl_pose *a, const espl_pose *b, double at)
{
    double cosine = 0;

    for (int i = 0; i < 4; ++i) {
        cosine += (double)a->rotation[i] * (double)b->rotation[i];
    }
    const double sign = cosine < 0 ? -1 : 1, angle = acos(fmin(fabs(cosine), 1));
    const double from = angle < 1e-6 ? 1 - at : sin((1 - at) * angle) / sin(angle);
    const double to = angle < 1e-6 ? at : sin(at * angle) / sin(angle);

    for (int i = 0; i < 4; ++i) {
        out->q[i] = sign * from * (double)a->rotation[i] + to * (double)b->rotation[i];
    }
    for (int i = 0; i < 3; ++i) {
        out->p[i] = (1 - at) * (double)a->position[i] + at * (double)b->position[i];
    }
    out->scale = (1 - at) * (double)a->scale + at * (double)b->scale;
}

static void compose_exactly(exact_pose *out, const exact_pose *a, const exact_pose *b)
{
    const double *const u = a->q, *const v = b->q;
    double t[3], w[3];

    for (int i = 0; i < 3; ++i) {
        w[i] = b->p[i] * a->scale;
    }
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        t[i] = 2 * (u[j] * w[k] - u[k] * w[j]);
        out->q[i] = u[3] * v[i] + u[i] * v[3] + u[j] * v[k] - u[k] * v[j];
    }
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        out->p[i] = a->p[i] + w[i] + u[3] * t[i] + u[j] * t[k] - u[k] * t[j];
    }
    out->q[3] = u[3] * v[3] - u[0] * v[0] - u[1] * v[1] - u[2] * v[2];
    out->scale = a->scale * b->scale;
}

TEST(shown_worlds_are_near_a_recursion_in_double)
{
    static espl_pose shown[ALL], previous[ALL], locals[ALL];
    static exact_pose exact[ALL];
    scene s;

    if (!begins(&s, NULL)) {
        return;
    }
    for (uint32_t n = 1; n < 6; ++n) {
        const float at = test_between(&s.random, 0, 1);

        // From any pose, by turns for which the fit is nearly exact.
        tick(&s, 0, ALL, 1, 10);
        tick(&s, 0, ALL, n, 10);
        ck_ok(espl_present(s.world, at, NULL));
        read_poses(&s, ESPL_READ_SHOWN_POSE, shown);
        read_poses(&s, ESPL_READ_PREVIOUS_LOCAL_POSE, previous);
        read_poses(&s, ESPL_READ_LOCAL_POSE, locals);
        for (size_t i = 0; i < ALL; ++i) {
            const size_t at_tree = i % NODES;
            exact_pose local;

            blend_exactly(&local, &previous[i], &locals[i], (double)at);
            if (at_tree == 0) {
                exact[i] = local;
            } else {
                compose_exactly(&exact[i], &exact[i - at_tree + (at_tree - 1) / FAN], &local);
            }
            for (int k = 0; k < 3; ++k) {
                ck_assert_double_le(fabs(exact[i].p[k] - (double)shown[i].position[k]), 1e-5);
            }
        }
    }
    end(&s);
}

TEST(above_one_positions_go_on)
{
    scene s;
    espl_pose shown;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_set_local_position(s.world, s.made[0], (const float[]){1, 0, 0}));
    ck_ok(espl_tick_begin(s.world));
    ck_ok(espl_set_local_position(s.world, s.made[0], (const float[]){3, 0, 0}));
    ck_ok(espl_present(s.world, 1.5f, NULL));
    ck_ok(espl_read_strided(s.world, ESPL_READ_SHOWN_POSE, s.made, 1, sizeof *s.made, &shown,
                            sizeof shown));
    ck_assert_float_eq(shown.position[0], 4);
    end(&s);
}

TEST(a_shown_world_that_overflows_is_reported)
{
    scene s;
    espl_present_report report;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_tick_begin(s.world));
    ck_ok(espl_set_local_position(s.world, s.made[1], (const float[]){2e38f, 0, 0}));
    ck_ok(espl_tick_begin(s.world));
    ck_ok(espl_set_local_position(s.world, s.made[1], (const float[]){0, 0, 0}));
    ck_status(espl_present(s.world, -1, &report), ESPL_OVERFLOW);
    ck_assert(report.has_overflowed);
    ck_ok(espl_present(s.world, 0.5f, &report));
    ck_assert(!report.has_overflowed);
    ck_assert_uint_eq(test_count_overflowed(s.world), 0);
    end(&s);
}

// Present twice, since the second present may have nothing to compute, and demand an answer.
static void demand_answer(const scene *s, float at, espl_status status)
{
    for (int i = 0; i < 2; ++i) {
        espl_present_report report;

        ck_status(espl_present(s->world, at, &report), status);
        ck_assert(report.has_overflowed == (status == ESPL_OVERFLOW));
    }
}

TEST(an_overflow_is_reported_by_each_present_while_it_lasts)
{
    scene s;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_tick_begin(s.world));
    ck_ok(espl_set_local_position(s.world, s.made[1], (const float[]){1e20f, 0, 0}));
    ck_ok(espl_tick_end(s.world));
    demand_answer(&s, 1e30f, ESPL_OVERFLOW);
    // Another hierarchy moves meanwhile.
    ck_ok(espl_set_local_position(s.world, s.made[NODES], (const float[]){1, 2, 3}));
    demand_answer(&s, 1e30f, ESPL_OVERFLOW);
    demand_answer(&s, 0.5f, ESPL_OK);
    // A world that is not finite shows itself, and ends with its entity.
    ck_ok(espl_set_local_position(s.world, s.made[0], (const float[]){3e38f, 0, 0}));
    ck_status(espl_set_local_position(s.world, s.made[1], (const float[]){3e38f, 0, 0}),
              ESPL_OVERFLOW);
    demand_answer(&s, 0.5f, ESPL_OVERFLOW);
    ck_ok(espl_compact(s.world));
    demand_answer(&s, 0.5f, ESPL_OVERFLOW);
    ck_ok(espl_destroy(s.world, s.made[0], ESPL_EXTENT_SUBTREE));
    demand_answer(&s, 0.5f, ESPL_OK);
    end(&s);
}

TEST(motion_that_starts_in_a_world_that_is_not_finite_shows_it_so)
{
    scene s;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_motion_stop(s.world));
    ck_ok(espl_set_local_position(s.world, s.made[0], (const float[]){3e38f, 0, 0}));
    ck_status(espl_set_local_position(s.world, s.made[1], (const float[]){3e38f, 0, 0}),
              ESPL_OVERFLOW);
    ck_ok(espl_motion_start(s.world, NULL));
    demand_answer(&s, 0.5f, ESPL_OVERFLOW);
    ck_ok(espl_set_local_position(s.world, s.made[1], (const float[]){0, 0, 0}));
    demand_answer(&s, 0.5f, ESPL_OK);
    end(&s);
}

// A node that keeps its world ends the search of a propagation for worlds that are not finite.
TEST(an_overflow_below_a_node_that_keeps_its_world_is_reported)
{
    scene s;

    if (!begins(&s, NULL)) {
        return;
    }
    ck_ok(espl_set_inherit(s.world, s.made[1],
                           ESPL_ABSOLUTE_POSITION | ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_SCALE));
    ck_ok(espl_tick_begin(s.world));
    ck_ok(espl_set_local_position(s.world, s.made[0], (const float[]){1, 0, 0}));
    ck_ok(espl_set_world_position(s.world, s.made[1], (const float[]){1e20f, 0, 0}));
    ck_ok(espl_set_local_position(s.world, s.made[FAN + 1], (const float[]){1e20f, 0, 0}));
    demand_answer(&s, 1e30f, ESPL_OVERFLOW);
    demand_answer(&s, 1e17f, ESPL_OK);
    end(&s);
}

// The hash and the answers of presents of a small tree with a hole, which is compacted or not.
static uint64_t answer_of(bool is_compacted, espl_status *status)
{
    enum { ROOT, SMALL = 9 };
    const float huge = 1e30f;
    test_world test;
    espl_entity made[SMALL];

    test_world_begin(&test, 1, NULL);
    ck_ok(espl_motion_start(test.world, NULL));
    for (int i = 0; i < SMALL; ++i) {
        const espl_entity parent = i == 0 ? espl_entity_null() : made[(i - 1) / 2];

        ck_ok(espl_create_node(test.world, parent, NULL, NULL, &made[i]));
    }
    ck_ok(espl_move_before(test.world, made[3], made[4]));
    ck_ok(espl_destroy(test.world, made[4], ESPL_EXTENT_ENTITY));
    ck_ok(espl_tick_begin(test.world));
    ck_ok(espl_set_local_scale(test.world, made[ROOT], huge));
    ck_status(espl_set_local_scale(test.world, made[1], huge), ESPL_OVERFLOW);
    ck_status(espl_present(test.world, 0.5f, NULL), ESPL_OVERFLOW);
    if (is_compacted) {
        ck_ok(espl_compact(test.world));
    }
    *status = espl_present(test.world, 0.5f, NULL);
    const uint64_t hash = test_logical_hash(test.world);

    test_world_end(&test);
    return hash;
}

TEST(the_answer_of_a_present_does_not_depend_on_the_layout)
{
    espl_status spread, compacted;

    ck_assert_uint_eq(answer_of(false, &spread), answer_of(true, &compacted));
    ck_status(spread, ESPL_OVERFLOW);
    ck_status(compacted, ESPL_OVERFLOW);
}

// --- A chain ---

enum { LINKS = 1000000 };

static const char *present_chain(void *argument)
{
    scene *const s = argument;
    espl_present_report report;
    espl_pose last;

    STACKED_DEMAND(espl_tick_begin(s->world) == ESPL_OK);
    STACKED_DEMAND(espl_set_local_position(s->world, s->made[0], (const float[]){4, 0, 0}) ==
                   ESPL_OK);
    STACKED_DEMAND(espl_present(s->world, 0.5f, &report) == ESPL_OK);
    STACKED_DEMAND(report.visited == test_fitting(LINKS, 1));
    STACKED_DEMAND(espl_read_strided(s->world, ESPL_READ_SHOWN_POSE,
                                     &s->made[test_fitting(LINKS, 1) - 1], 1, sizeof *s->made,
                                     &last, sizeof last) == ESPL_OK);
    // Half way from 1 to 4, and a step for each link.
    STACKED_DEMAND(last.position[0] == 2.5f + (float)(test_fitting(LINKS, 1) - 1));
    return NULL;
}

TEST(a_chain_of_a_million_is_presented_on_a_small_stack)
{
    scene s = {.random = 1};

    test_world_begin(&s.test, 1, NULL);
    s.world = s.test.world;
    s.made = make_chain(s.world, test_fitting(LINKS, 1));
    ck_ok(espl_motion_start(s.world, NULL));
    run_on_a_small_stack(present_chain, &s);
    end(&s);
}

// --- Threads ---

// Write locals of all rows that a job gets.
static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    const float *const x = context;

    for (size_t row = 0; row < rows->count; ++row) {
        const float at[3] = {*x + (float)(rows->entities[row].index % 7), 1, 2};

        ck_assert_int_ge(
            ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_LOCAL_POSITION, at), 0);
    }
}

// The hash of what is shown after some frames, with a large tree among small ones.
static uint64_t shown_by(const espl_executor *executor)
{
    static espl_pose shown[ALL];
    scene s;
    const espl_parallel_def def = {.function = write_rows, .context = &(float){0}};
    uint64_t hash = TEST_HASH_START;

    ck_assert(begins(&s, executor));
    espl_entity *const large = make_trees(s.world, 1, 4 * NODES, 4);

    test_cut_jobs(s.world, 8);
    // Kept parts are blended in side arrays.
    for (size_t i = 0; i < ALL; ++i) {
        if (i % NODES % 4 == 1) {
            ck_ok(espl_set_inherit(s.world, s.made[i],
                                   i % 8 == 1 ? ESPL_ABSOLUTE_Y : ESPL_ABSOLUTE_POSITION));
        }
    }
    for (int frame = 0; frame < 12; ++frame) {
        espl_present_report report;

        *(float *)def.context = (float)frame;
        ck_ok(espl_tick_begin(s.world));
        ck_ok(espl_write_parallel(s.world, &def, NULL));
        ck_ok(espl_tick_end(s.world));
        ck_ok(espl_present(s.world, 0.125f * (float)(frame % 9), &report));
        read_poses(&s, ESPL_READ_SHOWN_POSE, shown);
        hash = test_hash_bytes(hash, shown, sizeof shown);
        ck_ok(espl_read_strided(s.world, ESPL_READ_SHOWN_POSE, large, 4 * NODES, sizeof *large,
                                shown, sizeof *shown));
        hash = test_hash_bytes(hash, shown, 4 * NODES * sizeof *shown);
        hash = test_hash_bytes(hash, &report, sizeof report);
    }
    free(large);
    end(&s);
    return hash;
}

TEST(threads_show_what_one_shows)
{
    if (!test_has_threads() || test_lacks_room(2 * ALL, "several hierarchies")) {
        return;
    }
    const uint64_t alone = shown_by(NULL);

    for (uint32_t workers = 2; workers <= 64; workers *= 2) {
        espl_executor executor;

        ck_ok(espl_executor_create(&(espl_threads_def){.workers = workers}, &executor));
        ck_assert_uint_eq(shown_by(&executor), alone);
        espl_executor_destroy(&executor);
    }
}
