// SPDX-License-Identifier: MIT
// Motion: how it starts and stops, ticks in any order, memory that runs out, and what becomes of the past in
// playbacks that are undone, in deep hierarchies and where numbers have no inverse.
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/one_world.h"

#include <math.h>
#include <string.h>

static espl_pose pose_of(espl_entity entity, espl_read_kind kind)
{
    espl_pose pose;

    ck_ok(espl_read_one(w, entity, kind, &pose));
    return pose;
}

static float x_of(espl_entity entity, espl_read_kind kind)
{
    return pose_of(entity, kind).position[0];
}

static float previous_x(espl_entity entity)
{
    return x_of(entity, ESPL_READ_PREVIOUS_LOCAL_POSE);
}

static void set_x(espl_entity entity, float x)
{
    ck_ok(espl_set_local_position(w, entity, (float[3]){x, 0, 0}));
}

FIXTURE(set_up, tear_down);

// --- Start and stop ---

TEST(motion_is_started_once)
{
    const espl_motion_def two = {.history = 2}, three = {.history = 3};
    const espl_motion_def later = {.reserved = {1}};

    ck_status(espl_tick_begin(w), ESPL_ERR_ARGUMENT);
    ck_status(espl_tick_end(w), ESPL_ERR_ARGUMENT);
    ck_status(espl_motion_stop(w), ESPL_ERR_ARGUMENT);
    ck_status(espl_motion_start(w, &three), ESPL_ERR_ARGUMENT);
    ck_status(espl_motion_start(w, &later), ESPL_ERR_UNSUPPORTED);
    ck_ok(espl_motion_start(w, NULL));
    ck_status(espl_motion_start(w, &two), ESPL_ERR_EXISTS);
    ck_ok(espl_motion_stop(w));
    ck_ok(espl_motion_start(w, &two));
    ck_ok(espl_motion_stop(w));
    ck_status(espl_motion_stop(w), ESPL_ERR_ARGUMENT);
}

TEST(motion_is_not_started_or_stopped_while_a_query_is_open)
{
    const espl_query_def all = {.site = NULL};
    espl_query query;

    test_solos(w, 3, NULL);
    ck_ok(espl_query_begin(w, &all, &query));
    ck_status(espl_motion_start(w, NULL), ESPL_ERR_BUSY);
    espl_query_end(&query);
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_query_begin(w, &all, &query));
    ck_status(espl_motion_stop(w), ESPL_ERR_BUSY);
    // Ticks move no entity.
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_tick_end(w));
    espl_query_end(&query);
}

static espl_status statuses[2];

static void tick_in_a_job(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)context;
    statuses[0] = espl_tick_begin(test_rows_world(rows));
    statuses[1] = espl_tick_end(test_rows_world(rows));
}

TEST(ticks_are_refused_in_a_parallel_write)
{
    test_solos(w, 3, NULL);
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_write_parallel(w, &(espl_parallel_def){.function = tick_in_a_job}, NULL));
    ck_assert_int_eq(statuses[0], ESPL_ERR_BUSY);
    ck_assert_int_eq(statuses[1], ESPL_ERR_BUSY);
}

TEST(a_start_that_finds_no_memory_changes_nothing)
{
    espl_entity *const tree = make_trees(w, 2, 30, 3);
    espl_world_stats before, after;
    size_t failures = 0;

    ck_ok(espl_set_inherit(w, tree[5], ESPL_ABSOLUTE_POSITION));
    espl_stats(w, &before);
    const uint64_t hash = test_physical_hash(w);

    for (size_t n = 1;; ++n) {
        test_heap_arm(&test.heap, n, false);
        const espl_status status = espl_motion_start(w, &(espl_motion_def){.history = 2});

        test_heap_arm(&test.heap, 0, false);
        if (status == ESPL_OK) {
            break;
        }
        failures += 1;
        ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
        ck_status(espl_tick_begin(w), ESPL_ERR_ARGUMENT);
        espl_stats(w, &after);
        ck_assert_uint_eq(after.bytes, before.bytes);
        ck_assert_uint_eq(test_physical_hash(w), hash);
        test_world_is_valid(w);
    }
    ck_assert_uint_ge(failures, 4);
    ck_ok(espl_motion_stop(w));
    espl_stats(w, &after);
    ck_assert_uint_eq(after.bytes, before.bytes);
    free(tree);
}

// Side arrays keep their room where a stop finds no memory to replace them, and motion starts in them again.
TEST(motion_that_stopped_without_memory_starts_with_what_is_kept_now)
{
    espl_entity *const tree = make_trees(w, 1, 4, 2);

    ck_ok(espl_set_inherit(w, tree[1], ESPL_ABSOLUTE_POSITION));
    ck_ok(espl_motion_start(w, NULL));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_motion_stop(w));
    test_heap_arm(&test.heap, 0, false);
    ck_ok(espl_set_world_position(w, tree[1], (float[3]){5, 0, 0}));
    ck_ok(espl_motion_start(w, NULL));
    ck_assert_float_eq(x_of(tree[1], ESPL_READ_PREVIOUS_WORLD_POSE), 5);
    test_world_is_valid(w);
    free(tree);
}

TEST(a_pool_that_grows_keeps_the_past)
{
    const espl_entity entity = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    ck_ok(espl_tick_begin(w));
    set_x(entity, 2);
    ck_ok(espl_tick_begin(w));
    set_x(entity, 3);
    test_solos(w, test_fitting(500, 1), NULL);
    ck_assert_float_eq(previous_x(entity), 2);
    ck_assert_float_eq(x_of(entity, ESPL_READ_BEFORE_LOCAL_POSE), 1);
    ck_ok(espl_compact(w));
    ck_assert_float_eq(previous_x(entity), 2);
    ck_assert_float_eq(x_of(entity, ESPL_READ_BEFORE_LOCAL_POSE), 1);
}

// --- Ticks ---

TEST(a_write_in_a_tick_is_blended_and_one_outside_is_not)
{
    const espl_entity entity = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_motion_start(w, NULL));
    set_x(entity, 2);
    ck_assert_float_eq(previous_x(entity), 2);
    ck_ok(espl_tick_begin(w));
    set_x(entity, 3);
    set_x(entity, 4);
    ck_assert_float_eq(previous_x(entity), 2);
    ck_ok(espl_tick_end(w));
    ck_assert_float_eq(previous_x(entity), 2);
    set_x(entity, 5);
    ck_assert_float_eq(previous_x(entity), 5);
}

TEST(a_tick_that_begins_twice_rolls_twice)
{
    const espl_entity entity = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    ck_ok(espl_tick_begin(w));
    set_x(entity, 2);
    ck_ok(espl_tick_begin(w));
    ck_assert_float_eq(previous_x(entity), 2);
    ck_assert_float_eq(x_of(entity, ESPL_READ_BEFORE_LOCAL_POSE), 1);
    // It changes one tick longer than the previous one.
    ck_ok(espl_tick_begin(w));
    ck_assert_float_eq(previous_x(entity), 2);
    ck_assert_float_eq(x_of(entity, ESPL_READ_BEFORE_LOCAL_POSE), 2);
}

TEST(a_tick_that_ends_without_having_begun_has_no_effect)
{
    const espl_entity entity = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_end(w));
    set_x(entity, 2);
    ck_assert_float_eq(previous_x(entity), 2);
    ck_ok(espl_tick_begin(w));
    set_x(entity, 3);
    ck_assert_float_eq(previous_x(entity), 2);
}

TEST(motion_that_stops_in_a_tick_starts_again_outside_one)
{
    const espl_entity entity = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_motion_stop(w));
    set_x(entity, 2);
    ck_assert_float_eq(previous_x(entity), 2);
    ck_ok(espl_motion_start(w, NULL));
    ck_assert_float_eq(previous_x(entity), 2);
    set_x(entity, 3);
    ck_assert_float_eq(previous_x(entity), 3);
}

TEST(a_cleared_world_goes_on_ticking)
{
    espl_entity entity = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    ck_ok(espl_tick_begin(w));
    set_x(entity, 2);
    ck_ok(espl_world_clear(w));
    entity = test_solo_at(w, 5, 0, 0);
    ck_assert_float_eq(previous_x(entity), 5);
    ck_ok(espl_tick_begin(w));
    set_x(entity, 6);
    ck_assert_float_eq(previous_x(entity), 5);
    ck_assert_float_eq(x_of(entity, ESPL_READ_BEFORE_LOCAL_POSE), 5);
}

TEST(an_entity_of_each_tick_has_no_past_before_it)
{
    espl_entity made[6];

    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    for (int i = 0; i < 6; ++i) {
        ck_ok(espl_tick_begin(w));
        for (int k = 0; k < i; ++k) {
            set_x(made[k], (float)(100 * k + i));
        }
        made[i] = test_solo_at(w, (float)(100 * i + i), 0, 0);
        for (int k = 0; k <= i; ++k) {
            const int last = i - 1 > k ? i - 1 : k, before = i - 2 > k ? i - 2 : k;

            ck_assert_float_eq(previous_x(made[k]), (float)(100 * k + last));
            ck_assert_float_eq(x_of(made[k], ESPL_READ_BEFORE_LOCAL_POSE),
                               (float)(100 * k + before));
        }
        test_world_is_valid(w);
    }
}

// --- Depth ---

// The way to a node is listed in steps of 64, 4096 and so on.
TEST_LOOP(the_previous_world_of_a_chain_at_rest_is_its_world, 0, 7)
{
    static const uint32_t depths[] = {1, 2, 63, 64, 65, 4097, 20000};
    const uint32_t count = test_fitting(depths[_i], 0);
    espl_entity *const chain = make_chain(w, count);
    const float turn[4] = {0.1f, 0.2f, 0.3f, 0.9f};

    ck_ok(espl_set_local_rotation(w, chain[0], turn));
    ck_ok(espl_set_local_rotation(w, chain[count / 2], turn));
    ck_ok(espl_motion_start(w, NULL));
    const espl_pose world = pose_of(chain[count - 1], ESPL_READ_WORLD_POSE);

    ck_ok(espl_tick_begin(w));
    set_x(chain[0], 7);
    const espl_pose previous = pose_of(chain[count - 1], ESPL_READ_PREVIOUS_WORLD_POSE);

    ck_assert_mem_eq(&previous, &world, sizeof world);
    free(chain);
}

// --- Structure ---

// Far away, worlds tell the relative position to 0.06 units alone; locals tell it exactly.
TEST(an_entity_at_rest_far_away_stays_at_rest_at_an_attach)
{
    const espl_entity ship = test_solo_at(w, 1e6f, 0, 0), deck = test_solo_at(w, 1.1f, 0, 0),
                      hold = test_solo_at(w, -2.3f, 0, 0), crate = test_solo_at(w, 0.7f, 0, 0);

    ck_ok(espl_attach(w, deck, ship, &test_keep_local));
    ck_ok(espl_attach(w, hold, ship, &test_keep_local));
    ck_ok(espl_attach(w, crate, deck, &test_keep_local));
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    set_x(ship, 1000010.5f);
    ck_ok(espl_attach(w, crate, hold, NULL));
    const espl_pose local = pose_of(crate, ESPL_READ_LOCAL_POSE);
    const espl_pose previous = pose_of(crate, ESPL_READ_PREVIOUS_LOCAL_POSE);

    ck_assert_mem_eq(&previous, &local, sizeof local);
    ck_assert_float_eq_tol(local.position[0], 4.1f, 1e-5f);
}

TEST(a_previous_local_that_has_no_inverse_becomes_the_local)
{
    const espl_entity flat = test_solo(w), other = test_solo_at(w, 3, 0, 0),
                      child = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_set_local_scale(w, flat, 0));
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_set_local_scale(w, flat, 2));
    set_x(child, 5);
    // Below the previous scale of 0 nothing is at 1.
    ck_ok(espl_attach(w, child, flat, NULL));
    ck_assert_float_eq(previous_x(child), 2.5f);
    ck_ok(espl_attach(w, child, other, NULL));
    ck_assert(isfinite(previous_x(child)));
    test_world_is_valid(w);
}

TEST(a_previous_world_out_of_range_leaves_a_finite_past)
{
    const espl_entity top = test_solo_at(w, 3e38f, 0, 0), child = test_solo_at(w, 3e38f, 0, 0);

    ck_assert_int_ge(espl_attach(w, child, top, &test_keep_local), 0);
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_set_local_position(w, top, (float[3]){0, 0, 0}));
    ck_ok(espl_detach(w, child, ESPL_KEEP_WORLD));
    ck_assert_float_eq(previous_x(child), 3e38f);
    test_world_is_valid(w);
}

// --- Undo ---

enum { FAMILY = 12 };

static void record_changes(espl_recorder *r, const espl_entity *family)
{
    const espl_transform at = test_at(9, 8, 7);
    const espl_attach_options keeps = {.inherit = ESPL_ABSOLUTE_POSITION};
    espl_entity made;

    for (int i = 0; i < FAMILY; ++i) {
        ck_ok(espl_record_write(r, 0, family[i], ESPL_WRITE_LOCAL_POSITION, at.position));
    }
    ck_ok(
        espl_record_write(r, 0, family[3], ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT, at.position));
    ck_ok(espl_record_write(r, 0, family[4], ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY, at.position));
    ck_ok(espl_record_write(r, 0, family[5], ESPL_WRITE_PREVIOUS_WORLD_POSE, &at));
    ck_ok(espl_record_attach(r, 0, family[6], family[1], &keeps));
    ck_ok(espl_record_set_inherit(r, 0, family[2], ESPL_ABSOLUTE_ROTATION));
    ck_ok(espl_record_destroy(r, 0, family[7], ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_remove_component(r, 0, family[8], ESPL_TRANSFORM));
    ck_ok(espl_record_spawn(r, 0, family[1], family[9], NULL, &made));
    ck_ok(espl_record_detach(r, 0, family[10], ESPL_KEEP_WORLD));
    ck_ok(espl_record_write(r, 0, family[10], ESPL_WRITE_LOCAL_POSITION, at.position));
}

static void read_past(const espl_entity *family, espl_pose (*out)[4])
{
    static const espl_read_kind kinds[] = {
        ESPL_READ_PREVIOUS_LOCAL_POSE, ESPL_READ_PREVIOUS_WORLD_POSE, ESPL_READ_BEFORE_LOCAL_POSE,
        ESPL_READ_BEFORE_WORLD_POSE};

    for (int i = 0; i < FAMILY; ++i) {
        for (int k = 0; k < 4; ++k) {
            out[i][k] = pose_of(family[i], kinds[k]);
        }
    }
}

// Inside a tick and outside: each allocation of a playback fails, and the past is what it was.
TEST_LOOP(a_playback_that_is_undone_restores_the_past, 0, 2)
{
    espl_entity *const family = make_trees(w, 1, FAMILY, 2);
    espl_pose before[FAMILY][4], after[FAMILY][4];
    espl_command_buffer *const commands = test_commands(w, 1);
    size_t failures = 0;

    ck_ok(espl_set_inherit(w, family[4], ESPL_ABSOLUTE_POSITION));
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    for (int tick = 0; tick < 3; ++tick) {
        ck_ok(espl_tick_begin(w));
        for (int i = 0; i < FAMILY; ++i) {
            ck_ok(espl_set_local_position(w, family[i], (float[3]){(float)i, (float)tick, 1}));
        }
    }
    if (_i == 1) {
        ck_ok(espl_tick_end(w));
    }
    read_past(family, before);
    for (size_t n = 1;; ++n) {
        espl_command_buffer_reset(commands);
        record_changes(espl_command_buffer_recorder(commands, 0), family);
        test_heap_arm(&test.heap, n, false);
        const espl_status status = (espl_play)(w, commands, NULL);

        test_heap_arm(&test.heap, 0, false);
        if (status != ESPL_ERR_NO_MEMORY) {
            break;
        }
        failures += 1;
        read_past(family, after);
        ck_assert_mem_eq(after, before, sizeof before);
        test_world_is_valid(w);
    }
    ck_assert_uint_ge(failures, 5);
    espl_command_buffer_destroy(commands);
    free(family);
}

// Let many moments pass, as a world does that is presented for years.
static void pass_moments(uint64_t *now)
{
    const uint64_t end = *now + (UINT64_C(1) << 31) + (UINT64_C(1) << 29);

    while (*now < end) {
        *now += 16000; // steps that stamps allow
        test_set_moment(w, *now);
    }
}

// Planes tell moments apart up to some age, and motion looks back to the begin of its last tick.
TEST_LOOP(no_write_is_missed_however_long_a_tick_ago, 1, 3)
{
    espl_entity nodes[2];
    uint64_t now = 1000;

    test_solos(w, 2, nodes);
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = (uint32_t)_i}));
    ck_ok(espl_tick_begin(w));
    set_x(nodes[0], 4);
    ck_ok(espl_tick_end(w));
    ck_ok(espl_present(w, 0.5F, NULL));
    ck_assert_float_eq(x_of(nodes[0], ESPL_READ_SHOWN_POSE), 2);
    pass_moments(&now);
    set_x(nodes[1], 7);
    ck_ok(espl_present(w, 0.25F, NULL));
    ck_assert_float_eq(x_of(nodes[0], ESPL_READ_SHOWN_POSE), 1);
    ck_assert_float_eq(x_of(nodes[1], ESPL_READ_SHOWN_POSE), 7);
    ck_ok(espl_tick_begin(w));
    // The tick is not shown yet.
    pass_moments(&now);
    ck_ok(espl_present(w, 0.25F, NULL));
    ck_assert_float_eq(x_of(nodes[0], ESPL_READ_SHOWN_POSE), 4);
    set_x(nodes[1], 9);
    ck_assert_float_eq(previous_x(nodes[1]), 7);
    pass_moments(&now);
    ck_ok(espl_tick_begin(w));
    ck_assert_float_eq(previous_x(nodes[1]), 9);
    test_world_is_valid(w);
}

// --- Statements ---

TEST(without_motion_the_past_reads_as_the_present)
{
    const espl_entity root = test_solo_at(w, 1, 0, 0), child = test_solo_at(w, 2, 0, 0);

    ck_ok(espl_attach(w, child, root, NULL));
    for (int i = 0; i < 2; ++i) {
        const espl_entity entity = i == 0 ? root : child;
        const espl_pose local = pose_of(entity, ESPL_READ_LOCAL_POSE);
        const espl_pose world = pose_of(entity, ESPL_READ_WORLD_POSE);
        const espl_pose was = pose_of(entity, ESPL_READ_PREVIOUS_LOCAL_POSE);
        const espl_pose at = pose_of(entity, ESPL_READ_PREVIOUS_WORLD_POSE);

        ck_assert_mem_eq(&was, &local, sizeof was);
        ck_assert_mem_eq(&at, &world, sizeof at);
    }
}

// --- Many nodes ---

// Small worlds, and one that is larger than caches: some hierarchies move as a whole, some in part, some not.
TEST_LOOP(a_tick_of_many_nodes_keeps_the_local_of_each, 0, 3)
{
    static const uint32_t sizes[] = {300, 5000, 150000};
    enum { NODES = 50, FAN = 3 };
    const uint32_t count = sizes[_i] / NODES * NODES;
    uint64_t random = 1;

    if (test_lacks_room(count, "many nodes")) {
        return;
    }
    espl_entity *const made = make_trees(w, count / NODES, NODES, FAN);
    espl_pose *const before = test_array(count, sizeof *before);
    espl_pose *const previous = test_array(count, sizeof *previous);

    ck_ok(espl_motion_start(w, NULL));
    for (int tick = 0; tick < 4; ++tick) {
        ck_ok(espl_read_strided(w, ESPL_READ_LOCAL_POSE, made, count, sizeof *made, before,
                                sizeof *before));
        ck_ok(espl_tick_begin(w));
        for (uint32_t i = 0; i < count; ++i) {
            if (i / NODES % 4 == 0 || (i / NODES % 4 == 1 && test_one_in(&random, 2)) ||
                (i / NODES % 4 == 2 && i % NODES == 0)) {
                set_x(made[i], (float)(tick * 10 + 20));
            }
        }
        ck_ok(espl_read_strided(w, ESPL_READ_PREVIOUS_LOCAL_POSE, made, count, sizeof *made,
                                previous, sizeof *previous));
        ck_assert_mem_eq(previous, before, count * sizeof *before);
        ck_ok(espl_present(w, 0.5f, NULL));
        // It recomputes what is shown.
        ck_assert(espl_validate(w, NULL));
    }
    free(made);
    free(before);
    free(previous);
}

// --- Inside other calls ---

static const float half = 0.5f;

// A tick that moves an entity, and a frame half way. Motion neither starts nor stops meanwhile.
static void step_inside(espl_entity entity)
{
    espl_present_report report;

    ck_ok(espl_tick_begin(w));
    set_x(entity, previous_x(entity) + 2);
    ck_ok(espl_tick_end(w));
    ck_ok(espl_present(w, half, &report));
    ck_assert_uint_eq(report.blended, 1);
    ck_status(espl_motion_start(w, NULL), ESPL_ERR_BUSY);
    ck_status(espl_motion_stop(w), ESPL_ERR_BUSY);
}

static void step_of_custom(void *user, const espl_custom_calls *calls)
{
    ck_assert_ptr_eq(calls->world, w);
    step_inside(*(const espl_entity *)user);
}

TEST(ticks_and_presents_go_on_in_queries_and_custom_commands)
{
    espl_entity entity = test_solo(w);
    const espl_custom_command_def def = {
        .name = "step", .user = &entity, .function = step_of_custom};
    espl_custom_command custom = 0;
    espl_query query;

    ck_ok(espl_motion_start(w, NULL));
    const float x = x_of(entity, ESPL_READ_LOCAL_POSE);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    ck_ok(espl_query_begin(w, NULL, &query));
    ck_assert(espl_query_next(&query));
    step_inside(entity);
    espl_query_end(&query);
    ck_assert_float_eq(x_of(entity, ESPL_READ_SHOWN_POSE), x + 1);

    // The changes of the playback are between the two ticks, and finished.
    ck_ok(espl_command_register(w, &def, &custom));
    ck_ok(espl_record_custom(recorder, 0, custom, NULL, 0, 0));
    ck_ok(espl_record_write(recorder, 0, entity, ESPL_WRITE_LOCAL_POSITION,
                            (const float[]){x + 10, 0, 0}));
    ck_ok(espl_play(w, commands, NULL));
    ck_assert_float_eq(x_of(entity, ESPL_READ_SHOWN_POSE), x + 11);
    ck_assert_float_eq(x_of(entity, ESPL_READ_WORLD_POSE), x + 12);
    ck_assert(espl_validate(w, NULL));
    espl_command_buffer_destroy(commands);
}

static void step_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    ck_status(espl_tick_begin(w), ESPL_ERR_BUSY);
    ck_status(espl_tick_end(w), ESPL_ERR_BUSY);
    ck_status(espl_present(w, half, NULL), ESPL_ERR_BUSY);
    ck_status(espl_motion_start(w, NULL), ESPL_ERR_BUSY);
    ck_status(espl_motion_stop(w), ESPL_ERR_BUSY);
    *(size_t *)context += 1;
}

TEST(ticks_and_presents_are_refused_in_a_parallel_write)
{
    size_t calls = 0;
    const espl_parallel_def def = {.function = step_in_job, .context = &calls};
    const espl_entity entity = test_solo(w);

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    set_x(entity, 4);
    ck_ok(espl_present(w, half, NULL));
    const uint64_t before = test_physical_hash(w);
    const float shown = x_of(entity, ESPL_READ_SHOWN_POSE);

    ck_ok(espl_write_parallel(w, &def, NULL));
    ck_assert_uint_ge(calls, 1);
    ck_assert_uint_eq(test_physical_hash(w), before);
    ck_assert_float_eq(x_of(entity, ESPL_READ_SHOWN_POSE), shown);
    // The tick is still under way.
    set_x(entity, 8);
    ck_assert_float_ne(previous_x(entity), 8);
}
