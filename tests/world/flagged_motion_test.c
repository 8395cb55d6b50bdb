// SPDX-License-Identifier: MIT
// What the flags of a write, and writes of the previous pose, do where motion runs: in each form of a write,
// inside a tick and between ticks. What motion does by itself is tested by the suites of motion.
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/runner.h"
#include "tests/world/ways.h"

#include <espalier/watch.h>

#include <math.h>
#include <string.h>

enum { NODES = 5, WRITTEN = 2, KEEPING = 3 };

// A node as it is read: its transform now, and its poses of earlier ticks.
typedef struct sight {
    espl_transform local, world;
    espl_pose previous_local, previous_world, before_local;
} sight;

static sight look(const espl_world *world, espl_entity entity)
{
    sight out = {.local = test_local_of(world, entity), .world = test_world_of(world, entity)};

    ck_ok(espl_read_one(world, entity, ESPL_READ_PREVIOUS_LOCAL_POSE, &out.previous_local));
    ck_ok(espl_read_one(world, entity, ESPL_READ_PREVIOUS_WORLD_POSE, &out.previous_world));
    ck_ok(espl_read_one(world, entity, ESPL_READ_BEFORE_LOCAL_POSE, &out.before_local));
    return out;
}

static bool are_same(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(espl_pose)) == 0;
}

// A chain in its third tick: each node moved in each tick, and in this one as well.
typedef struct scene {
    test_world test;
    espl_world *world;
    espl_entity *chain;
} scene;

static void scene_begin(scene *s, bool is_ticking)
{
    test_world_begin(&s->test, 1, NULL);
    s->world = s->test.world;
    s->chain = make_chain(s->world, NODES);
    for (int i = 0; i < NODES; ++i) {
        ck_ok(espl_set_local_transform(
            s->world, s->chain[i],
            &(espl_transform){{0, 0.6f, 0, 0.8f}, {1, 2, 3}, 1.5f, {1, 1, 1}, 0}));
    }
    ck_ok(espl_set_inherit(s->world, s->chain[KEEPING], ESPL_ABSOLUTE_ROTATION | ESPL_ABSOLUTE_X));
    ck_ok(espl_motion_start(s->world, &(espl_motion_def){.history = 2}));
    for (int tick = 0; tick < 3; ++tick) {
        const float step[3] = {0.25f, (float)tick, -0.5f}, turn[4] = {0.1f, 0, 0, 1};

        ck_ok(espl_tick_begin(s->world));
        for (int i = 0; i < NODES; ++i) {
            ck_ok(espl_write_one(s->world, s->chain[i], ESPL_WRITE_TRANSLATE_OWN, step));
            ck_ok(espl_write_one(s->world, s->chain[i], ESPL_WRITE_ROTATE_OWN, turn));
        }
    }
    if (!is_ticking) {
        ck_ok(espl_tick_end(s->world));
    }
}

static void scene_end(scene *s)
{
    free(s->chain);
    test_world_end(&s->test);
}

// What a write of a node makes of it.
typedef struct outcome {
    espl_status status;
    sight before, after;
} outcome;

static outcome write_in_scene(write_way way, bool is_ticking, int node, unsigned kind)
{
    const espl_write_kind plain = (espl_write_kind)(kind & 0x3f);
    uint64_t random = 11;
    outcome out;
    scene s;

    scene_begin(&s, is_ticking);
    espl_write write = write_ordinary(s.chain[node], plain, &random);

    write.kind = (espl_write_kind)kind;
    out.before = look(s.world, s.chain[node]);
    out.status = way_write(way, s.world, &write);
    out.after = look(s.world, s.chain[node]);
    ck_assert(espl_validate(s.world, NULL));
    scene_end(&s);
    return out;
}

static espl_write_kind with(espl_write_kind kind, unsigned flag)
{
    return (espl_write_kind)((unsigned)kind | flag);
}

static bool has_past(espl_write_kind kind)
{
    return kind != ESPL_WRITE_STRETCH && kind != ESPL_WRITE_USER_DATA &&
           kind != ESPL_WRITE_MULTIPLY_STRETCH;
}

// The transform is that of the write without a flag, and all forms agree bit for bit.
static void demand_truth(write_way way, bool is_ticking, int node, unsigned kind,
                         const outcome *flagged)
{
    const outcome plain = write_in_scene(way, is_ticking, node, kind & 0x3f);
    const outcome at_once = write_in_scene(WAY_ONE, is_ticking, node, kind);

    ck_assert_msg(
        plain.status >= 0 && flagged->status == plain.status &&
            memcmp(&flagged->after.local, &plain.after.local, sizeof(espl_transform)) == 0 &&
            memcmp(&flagged->after.world, &plain.after.world, sizeof(espl_transform)) == 0,
        "kind %#x of node %d by %s gives another transform", kind, node, way_name(way));
    ck_assert_msg(memcmp(&flagged->after, &at_once.after, sizeof(sight)) == 0,
                  "kind %#x of node %d by %s has another past", kind, node, way_name(way));
}

// A write that leaves the local as it is leaves the past as well.
static void demand_same_past(const outcome *o)
{
    ck_assert(are_same(&o->after.previous_local, &o->before.previous_local));
    ck_assert(are_same(&o->after.previous_world, &o->before.previous_world));
    ck_assert(are_same(&o->after.before_local, &o->before.before_local));
    ck_assert(!are_same(&o->after.previous_local, &o->after.local));
}

TEST_LOOP(a_teleport_is_shown_where_it_is_in_each_form, 0, TEST_KINDS)
{
    for (int i = 0; i < 4 * WAY_COUNT; ++i) {
        const write_way way = (write_way)(i / 4);
        const bool is_ticking = i % 2 == 0;
        const int node = i / 2 % 2 == 0 ? WRITTEN : KEEPING;
        const outcome o = write_in_scene(way, is_ticking, node, (unsigned)_i | ESPL_TELEPORT);

        demand_truth(way, is_ticking, node, (unsigned)_i | ESPL_TELEPORT, &o);
        if (has_past((espl_write_kind)_i) && node == KEEPING) {
            // Its parents moved in the tick: what it keeps of the world is where it is.
            ck_assert_mem_eq(o.after.previous_world.rotation, o.after.world.rotation,
                             sizeof o.after.world.rotation);
            ck_assert_float_eq(o.after.previous_world.position[0], o.after.world.position[0]);
        } else if (has_past((espl_write_kind)_i)) {
            ck_assert(are_same(&o.after.previous_local, &o.after.local));
            ck_assert(are_same(&o.after.before_local, &o.after.local));
        } else {
            demand_same_past(&o);
        }
    }
}

// Where the past leads to, if it moves as the node does: after * inverse(before) * previous.
static espl_pose carried(const outcome *o)
{
    espl_transform previous = espl_transform_identity(), before = o->before.local,
                   after = o->after.local;
    espl_transform relative, moved;
    espl_pose out;

    for (int i = 0; i < 3; ++i) {
        before.stretch[i] = after.stretch[i] = 1;
    }
    memcpy(&previous, &o->before.previous_local, sizeof(espl_pose));
    ck_ok(espl_transform_relative(&before, &previous, &relative));
    moved = espl_transform_compose(&after, &relative);
    memcpy(&out, &moved, sizeof out);
    return out;
}

static void demand_near(const espl_pose *a, const espl_pose *b, unsigned kind)
{
    float dot = 0;

    for (int i = 0; i < 4; ++i) {
        dot += a->rotation[i] * b->rotation[i];
    }
    ck_assert_msg(fabsf(dot) > 0.99999f, "kind %#x turns the past elsewhere", kind);
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(fabsf(a->position[i] - b->position[i]) <= 1e-4f * (1 + fabsf(a->position[i])),
                      "kind %#x moves the past elsewhere", kind);
    }
    ck_assert_msg(fabsf(a->scale - b->scale) <= 1e-5f * (1 + fabsf(a->scale)),
                  "kind %#x scales the past otherwise", kind);
}

TEST_LOOP(a_carried_write_keeps_the_motion_that_is_shown_in_each_form, 0, TEST_KINDS)
{
    for (int i = 0; i < 2 * WAY_COUNT; ++i) {
        const write_way way = (write_way)(i / 2);
        const bool is_ticking = i % 2 == 0;
        const outcome o = write_in_scene(way, is_ticking, WRITTEN, (unsigned)_i | ESPL_CARRY);

        demand_truth(way, is_ticking, WRITTEN, (unsigned)_i | ESPL_CARRY, &o);
        if (has_past((espl_write_kind)_i)) {
            const espl_pose expected = carried(&o);

            ck_assert(!are_same(&o.after.previous_local, &o.after.local));
            demand_near(&o.after.previous_local, &expected, (unsigned)_i);
        } else {
            demand_same_past(&o);
        }
    }
}

TEST_LOOP(a_carried_write_of_a_member_with_inherit_flags_is_the_same_in_each_form, 0, TEST_KINDS)
{
    for (int i = 0; i < 2 * WAY_COUNT; ++i) {
        const write_way way = (write_way)(i / 2);
        const outcome o = write_in_scene(way, i % 2 == 0, KEEPING, (unsigned)_i | ESPL_CARRY);

        demand_truth(way, i % 2 == 0, KEEPING, (unsigned)_i | ESPL_CARRY, &o);
    }
}

TEST_LOOP(a_write_without_a_flag_is_blended_in_a_tick_and_shown_between_ticks, 0, TEST_KINDS)
{
    for (int i = 0; i < 2 * WAY_COUNT; ++i) {
        const write_way way = (write_way)(i / 2);
        const bool is_ticking = i % 2 == 0;
        const outcome o = write_in_scene(way, is_ticking, WRITTEN, (unsigned)_i);

        demand_truth(way, is_ticking, WRITTEN, (unsigned)_i, &o);
        if (is_ticking || !has_past((espl_write_kind)_i)) {
            demand_same_past(&o);
        } else {
            ck_assert(are_same(&o.after.previous_local, &o.after.local));
            ck_assert(are_same(&o.after.before_local, &o.after.local));
        }
    }
}

TEST_LOOP(a_write_of_stretch_or_user_data_leaves_the_past_of_a_member_with_inherit_flags, 0,
          WAY_COUNT)
{
    static const espl_write_kind kinds[] = {ESPL_WRITE_STRETCH, ESPL_WRITE_USER_DATA,
                                            ESPL_WRITE_MULTIPLY_STRETCH};

    for (int i = 0; i < 6; ++i) {
        const outcome o = write_in_scene((write_way)_i, i % 2 == 0, KEEPING, kinds[i / 2]);

        demand_same_past(&o);
    }
}

// The whole transform is written, and only its stretch and user data are other ones.
TEST_LOOP(a_transform_with_the_same_pose_leaves_the_past, 0, 2 * WAY_COUNT)
{
    static const unsigned with_flags[] = {0, ESPL_CARRY, ESPL_TELEPORT};

    for (int i = 0; i < 3; ++i) {
        outcome o;
        scene s;

        scene_begin(&s, _i % 2 == 0);
        const espl_entity entity = s.chain[WRITTEN];
        espl_write write = {
            entity, with(ESPL_WRITE_LOCAL_TRANSFORM, with_flags[i]), {.user_data = 0}};

        write.value.transform = test_local_of(s.world, entity);
        write.value.transform.stretch[1] = 2;
        write.value.transform.user_data = 7;
        o.before = look(s.world, entity);
        ck_ok(way_write((write_way)(_i / 2), s.world, &write));
        o.after = look(s.world, entity);
        ck_assert_uint_eq(o.after.local.user_data, 7);
        if (with_flags[i] == ESPL_TELEPORT) {
            ck_assert(are_same(&o.after.previous_local, &o.after.local));
        } else {
            demand_same_past(&o);
        }
        scene_end(&s);
    }
}

TEST_LOOP(a_write_of_the_previous_pose_leaves_the_transform_as_it_is, 0, WAY_COUNT)
{
    for (int i = 0; i < 4; ++i) {
        const bool is_world = i % 2 != 0, is_ticking = i / 2 == 0;
        const unsigned kind =
            is_world ? ESPL_WRITE_PREVIOUS_WORLD_POSE : ESPL_WRITE_PREVIOUS_LOCAL_POSE;
        const outcome o = write_in_scene((write_way)_i, is_ticking, WRITTEN, kind);
        const outcome at_once = write_in_scene(WAY_ONE, is_ticking, WRITTEN, kind);
        uint64_t random = 11;
        const espl_write write = write_ordinary(espl_entity_null(), (espl_write_kind)kind, &random);

        ck_ok(o.status);
        ck_assert_mem_eq(&o.after.local, &o.before.local, sizeof o.after.local);
        ck_assert_mem_eq(&o.after.world, &o.before.world, sizeof o.after.world);
        ck_assert(are_same(&o.after.before_local, &o.before.before_local));
        demand_near(is_world ? &o.after.previous_world : &o.after.previous_local, &write.value.pose,
                    kind);
        ck_assert_mem_eq(&o.after, &at_once.after, sizeof o.after);
    }
}

// All forms but a recorded write: a playback tells of the worlds that it recomputed alone.
TEST_LOOP(a_write_at_or_above_a_world_that_is_not_finite_says_so_in_each_form, 0, 2 * WAY_RECORDED)
{
    static const unsigned kinds[] = {
        ESPL_WRITE_PREVIOUS_LOCAL_POSE,
        ESPL_WRITE_PREVIOUS_WORLD_POSE,
        ESPL_WRITE_USER_DATA,
        ESPL_WRITE_USER_DATA | ESPL_CARRY,
        ESPL_WRITE_USER_DATA | ESPL_TELEPORT,
        ESPL_WRITE_STRETCH,
        ESPL_WRITE_STRETCH | ESPL_CARRY,
        ESPL_WRITE_STRETCH | ESPL_TELEPORT,
        ESPL_WRITE_LOCAL_POSITION,
        ESPL_WRITE_LOCAL_POSITION | ESPL_CARRY,
        ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT,
    };
    const write_way way = (write_way)(_i / 2);

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        uint64_t random = 3;
        scene s;

        scene_begin(&s, _i % 2 == 0);
        ck_assert_int_ge(espl_set_local_scale(s.world, s.chain[0], 1e30f), ESPL_OK);
        ck_status(espl_set_local_scale(s.world, s.chain[1], 1e30f), ESPL_OVERFLOW);
        for (int node = 0; node < 2; ++node) {
            espl_write write = write_ordinary(
                s.chain[node], (espl_write_kind)test_plain_kind((espl_write_kind)kinds[k]),
                &random);

            write.kind = (espl_write_kind)kinds[k];
            const espl_status status = way_write(way, s.world, &write);

            ck_assert_msg(status == ESPL_OVERFLOW, "kind %#x of node %d by %s: %s", kinds[k], node,
                          way_name(way), espl_status_name(status));
        }
        scene_end(&s);
    }
}

TEST_LOOP(a_copy_of_its_parent_has_no_previous_pose_to_write, 0, WAY_COUNT)
{
    for (int kind = ESPL_WRITE_PREVIOUS_LOCAL_POSE; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        uint64_t random = 1;
        scene s;

        scene_begin(&s, true);
        ck_ok(espl_set_inherit(s.world, s.chain[KEEPING], ESPL_COPY_PARENT));
        const espl_write write = write_ordinary(s.chain[KEEPING], (espl_write_kind)kind, &random);
        const uint64_t hash = test_logical_hash(s.world);

        ck_status(way_write((write_way)_i, s.world, &write), ESPL_ERR_COPIES_PARENT);
        ck_assert_uint_eq(test_logical_hash(s.world), hash);
        scene_end(&s);
    }
}

// Writes of one node in one batch or playback are carried out in their order: the last one decides.
TEST(flags_count_in_the_order_of_the_writes)
{
    for (int form = 0; form < 2; ++form) {
        espl_pose previous;
        scene s;

        scene_begin(&s, true);
        const espl_write writes[3] = {
            write_vector(s.chain[1], ESPL_WRITE_LOCAL_POSITION, 5, 0, 0),
            write_vector(s.chain[1], (espl_write_kind)(ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT),
                         6, 0, 0),
            write_vector(s.chain[1], ESPL_WRITE_LOCAL_POSITION, 7, 0, 0)};

        if (form == 0) {
            ck_ok(espl_write_batch(s.world, writes, 3, NULL));
        } else {
            espl_command_buffer *commands = NULL;

            ck_ok(espl_command_buffer_create(s.world, 1, &commands));
            for (int i = 0; i < 3; ++i) {
                ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0,
                                        writes[i].entity, writes[i].kind, &writes[i].value));
            }
            ck_ok(espl_play(s.world, commands, NULL));
            espl_command_buffer_destroy(commands);
        }
        ck_ok(espl_read_one(s.world, s.chain[1], ESPL_READ_PREVIOUS_LOCAL_POSE, &previous));
        ck_assert_float_eq(previous.position[0], 6);
        ck_assert_float_eq(test_local_of(s.world, s.chain[1]).position[0], 7);
        scene_end(&s);
    }
}

// Record a write of each kind with each flag, and something behind them that needs memory.
static espl_command_buffer *record_many(scene *s)
{
    espl_command_buffer *commands = NULL;
    uint64_t random = 5;

    ck_ok(espl_command_buffer_create(s->world, 1, &commands));
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    for (unsigned i = 0; i < 3 * ESPL_WRITE_KIND_COUNT; ++i) {
        static const unsigned flags[3] = {0, ESPL_TELEPORT, ESPL_CARRY};
        const espl_write write =
            write_ordinary(s->chain[i % NODES], (espl_write_kind)(i / 3), &random);
        const unsigned flag = i / 3 < TEST_KINDS ? flags[i % 3] : 0;

        ck_ok(espl_record_write(recorder, 0, write.entity,
                                (espl_write_kind)((unsigned)write.kind | flag), &write.value));
    }
    ck_ok(espl_record_create(recorder, 0, &(espl_creation_def){.parent = s->chain[1]}, 3, NULL));
    return commands;
}

TEST_LOOP(a_playback_that_lacks_memory_restores_the_previous_poses, 0, 2)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t failed = 0;
    scene s;

    scene_begin(&s, _i == 0);
    espl_command_buffer *const commands = record_many(&s);
    const uint64_t logical = test_logical_hash(s.world), physical = test_physical_hash(s.world);

    for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
        test_heap_arm(&s.test.heap, at, true);
        status = espl_play(s.world, commands, NULL);
        test_heap_arm(&s.test.heap, 0, false);
        if (status == ESPL_ERR_NO_MEMORY) {
            failed += 1;
            ck_assert_uint_eq(test_logical_hash(s.world), logical);
            ck_assert_uint_eq(test_physical_hash(s.world), physical);
        }
    }
    ck_assert_int_ge(status, ESPL_OK);
    ck_assert_uint_gt(failed, 3);
    espl_command_buffer_destroy(commands);
    scene_end(&s);
}

// --- Reads ---

TEST(what_is_shown_is_read_in_each_form)
{
    espl_transform transforms[NODES], one;
    espl_pose pose, many[NODES];
    espl_query query;
    espl_view view;
    float matrix[16], expected[16];
    scene s;

    scene_begin(&s, false);
    ck_ok(espl_set_stretch(s.world, s.chain[4], (const float[3]){2, 1, 1}));
    ck_ok(espl_present(s.world, 0.5f, NULL));
    ck_ok(espl_view_hierarchy(s.world, s.chain[0], &view));
    ck_ok(espl_read_strided(s.world, ESPL_READ_SHOWN_TRANSFORM, s.chain, NODES, sizeof *s.chain,
                            transforms, sizeof *transforms));
    for (int i = 0; i < NODES; ++i) {
        ck_ok(espl_read_one(s.world, s.chain[i], ESPL_READ_SHOWN_POSE, &pose));
        ck_ok(espl_read_one(s.world, s.chain[i], ESPL_READ_SHOWN_TRANSFORM, &one));
        ck_assert(are_same(&pose, &one) && are_same(&pose, &transforms[i]));
        ck_assert(are_same(&pose, &view.shown_poses[view.first + (uint32_t)i]));
        const espl_transform world = test_world_of(s.world, s.chain[i]);

        ck_assert(!are_same(&pose, &world));
        ck_assert_mem_eq(one.stretch, world.stretch, sizeof one.stretch);
        ck_ok(espl_get_shown_matrix(s.world, s.chain[i], ESPL_MATRIX_4X4, matrix));
        espl_transform_to_matrix(&one, ESPL_MATRIX_4X4, expected);
        ck_assert_mem_eq(matrix, expected, sizeof matrix);
    }
    ck_ok(espl_query_begin(s.world, NULL, &query));
    while (espl_query_next(&query)) {
        ck_ok(espl_query_read_transforms(&query, ESPL_READ_SHOWN_POSE, many, sizeof *many));
        for (size_t row = 0; row < query.count; ++row) {
            ck_ok(espl_read_one(s.world, query.entities[row], ESPL_READ_SHOWN_POSE, &pose));
            ck_assert(are_same(&pose, &many[row]));
        }
    }
    scene_end(&s);
}

TEST(an_entity_that_was_made_since_is_shown_where_it_is)
{
    const espl_component transform = ESPL_TRANSFORM;
    espl_entity made;
    espl_pose pose;
    espl_view view;
    scene s;

    scene_begin(&s, true);
    ck_ok(espl_present(s.world, 0.25f, NULL));
    ck_ok(espl_create(s.world, &transform, 1, 1, &made));
    ck_ok(espl_set_local_position(s.world, made, (const float[3]){7, 8, 9}));
    const espl_transform world = test_world_of(s.world, made);
    for (int kind = ESPL_READ_SHOWN_POSE; kind < ESPL_READ_CELL; ++kind) {
        ck_ok(espl_read_one(s.world, made, (espl_read_kind)kind, &pose));
        ck_assert(kind == ESPL_READ_SHOWN_TRANSFORM || are_same(&pose, &world));
        kind += kind == ESPL_READ_SHOWN_POSE ? 1 : 0; // a transform has more bytes
    }
    ck_ok(espl_view_hierarchy(s.world, made, &view));
    ck_assert(are_same(&view.shown_poses[view.first], &world));
    scene_end(&s);
}

// Compare what is shown of a pair of new entities with their worlds, in each form.
static void demand_shown_as_worlds(const scene *s, espl_watch *watch, const espl_entity made[2])
{
    espl_changes changes;
    espl_view view;

    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.added_count + changes.changed_count, 2);
    const espl_transform *const collected =
        changes.added_count != 0 ? changes.added_worlds : changes.changed_worlds;

    for (int i = 0; i < 2; ++i) {
        const espl_transform world = test_world_of(s->world, made[i]);
        espl_pose shown[2];

        ck_ok(espl_read_one(s->world, made[i], ESPL_READ_SHOWN_POSE, &shown[0]));
        ck_ok(espl_read_strided(s->world, ESPL_READ_SHOWN_POSE, &made[i], 1, sizeof *made,
                                &shown[1], sizeof *shown));
        ck_assert(are_same(&shown[0], &world) && are_same(&shown[1], &world));
        ck_assert(are_same(&collected[i], &world));
    }
    ck_ok(espl_view_hierarchy(s->world, made[0], &view));
    for (uint32_t rank = 0; rank < 2; ++rank) {
        const uint32_t slot = view.first + rank;

        ck_assert(are_same(&view.shown_poses[slot], &view.world_poses[slot]));
    }
}

TEST(a_view_of_a_new_entity_does_not_hold_it_where_it_was)
{
    const espl_component transform = ESPL_TRANSFORM;
    const espl_watch_def shown = {.flags = ESPL_WATCH_SHOWN};
    espl_entity made[2];
    espl_changes changes;
    espl_watch *watch = NULL;
    espl_pose pose, world;
    scene s;

    scene_begin(&s, true);
    ck_ok(espl_watch_create(s.world, &shown, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_create(s.world, &transform, 1, 2, made));
    ck_ok(espl_attach(s.world, made[1], made[0], NULL));
    demand_shown_as_worlds(&s, watch, made);
    for (int i = 1; i < 4; ++i) {
        const float at[3] = {(float)i, 8, 9};

        // The other one is moved by a propagation.
        ck_ok(espl_set_local_position(s.world, made[0], at));
        demand_shown_as_worlds(&s, watch, made);
        if (i == 2) {
            ck_ok(espl_compact(s.world));
            ck_ok(espl_tick_begin(s.world));
        }
    }
    ck_ok(espl_present(s.world, 0.25f, NULL));
    ck_ok(espl_set_local_position(s.world, made[0], (const float[3]){20, 0, 0}));
    ck_ok(espl_read_one(s.world, made[1], ESPL_READ_SHOWN_POSE, &pose));
    ck_ok(espl_read_one(s.world, made[1], ESPL_READ_WORLD_POSE, &world));
    ck_assert(!are_same(&pose, &world));
    espl_watch_destroy(watch);
    scene_end(&s);
}

TEST(without_motion_all_that_is_read_is_the_present)
{
    espl_view view;

    scene s;
    scene_begin(&s, false);
    ck_ok(espl_motion_stop(s.world));
    ck_ok(espl_view_hierarchy(s.world, s.chain[0], &view));
    ck_assert_ptr_eq(view.shown_poses, view.world_poses);
    for (int i = 0; i < NODES; ++i) {
        const sight seen = look(s.world, s.chain[i]);
        espl_pose shown;

        ck_assert(are_same(&seen.previous_local, &seen.local));
        ck_assert(are_same(&seen.before_local, &seen.local));
        ck_assert(are_same(&seen.previous_world, &seen.world));
        ck_ok(espl_read_one(s.world, s.chain[i], ESPL_READ_SHOWN_POSE, &shown));
        ck_assert(are_same(&shown, &seen.world));
    }
    scene_end(&s);
}

// --- Hashes and statistics ---

TEST(hashes_cover_the_previous_poses_and_not_what_is_shown)
{
    uint64_t hash[4];
    scene s;

    scene_begin(&s, true);
    hash[0] = test_logical_hash(s.world);
    hash[1] = test_physical_hash(s.world);
    ck_ok(espl_present(s.world, 0.5f, NULL));
    ck_assert_uint_eq(test_logical_hash(s.world), hash[0]);
    ck_assert_uint_eq(test_physical_hash(s.world), hash[1]);
    ck_ok(espl_write_one(s.world, s.chain[0], ESPL_WRITE_PREVIOUS_LOCAL_POSE,
                         &(espl_pose){{0, 0, 0, 1}, {1, 2, 3}, 1}));
    hash[2] = test_logical_hash(s.world);
    hash[3] = test_physical_hash(s.world);
    ck_assert(hash[2] != hash[0] && hash[3] != hash[1]);
    ck_ok(espl_motion_stop(s.world));
    ck_assert(test_logical_hash(s.world) != hash[2]);
    scene_end(&s);
}

TEST(presents_are_counted)
{
    espl_present_report report;
    scene s;

    scene_begin(&s, false);
    ck_ok(espl_present(s.world, 0.5f, &report));
    const size_t blended = report.blended;
    ck_ok(espl_present(s.world, 0.75f, &report));
    ck_assert_uint_eq(test_stats(s.world).presented, 2);
    ck_assert_uint_eq(test_stats(s.world).blended, blended + report.blended);
    ck_assert_uint_gt(report.blended, 0);
    scene_end(&s);
}
