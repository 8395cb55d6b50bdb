// SPDX-License-Identifier: MIT
// What went wrong with interpolation in other engines and libraries, a test for each report, named after its
// thread; and the largest step that is shown between two frames through each change of the structure.
#include "tests/one_world.h"

#include <math.h>
#include <string.h>

static espl_pose pose_of(espl_entity entity, espl_read_kind kind)
{
    espl_pose pose;

    ck_ok(espl_read_one(w, entity, kind, &pose));
    return pose;
}

static espl_pose shown_of(espl_entity entity)
{
    return pose_of(entity, ESPL_READ_SHOWN_POSE);
}

static float shown_x(espl_entity entity)
{
    return shown_of(entity).position[0];
}

static void set_x(espl_entity entity, float x)
{
    ck_ok(espl_set_local_position(w, entity, (float[3]){x, 0, 0}));
}

static void present(float at)
{
    ck_ok(espl_present(w, at, NULL));
}

static void begin(void)
{
    ck_ok(espl_tick_begin(w));
}

static void end(void)
{
    ck_ok(espl_tick_end(w));
}

// Demand that an entity is shown at its world, bit for bit.
static void demand_shown_as_it_is(espl_entity entity)
{
    const espl_pose shown = shown_of(entity), world = pose_of(entity, ESPL_READ_WORLD_POSE);

    ck_assert_mem_eq(&shown, &world, sizeof world);
}

static void set_yaw(espl_entity entity, float degrees)
{
    const float half = degrees * 0.5f * 0.017453292f;

    ck_ok(espl_set_local_rotation(w, entity, (float[4]){0, sinf(half), 0, cosf(half)}));
}

// The yaw of what is shown, in degrees.
static float shown_yaw(espl_entity entity)
{
    const espl_pose pose = shown_of(entity);

    return 2 * atan2f(pose.rotation[1], pose.rotation[3]) * 57.29578f;
}

static void start(void)
{
    set_up();
    ck_ok(espl_motion_start(w, NULL));
}

FIXTURE(start, tear_down);

// Streaks at spawn: history began at the origin, or a reset came before the last placement. Also #59173,
// #94060, #60822, and forge-godot #85.
TEST(godot_92391_an_entity_is_not_blended_in_the_tick_that_made_it)
{
    const espl_entity parent = test_solo_at(w, 5, 0, 0);

    begin();
    set_x(parent, 6);
    const espl_entity solo = test_solo(w), member = test_solo(w);

    set_x(solo, 50);
    ck_ok(espl_attach(w, member, parent, NULL));
    ck_ok(espl_set_world_position(w, member, (float[3]){90, 0, 0}));
    set_x(solo, 100);
    end();
    set_x(solo, 200);
    present(0.5f);
    demand_shown_as_it_is(solo);
    // The member follows what is shown of its parent.
    ck_assert_float_eq_tol(shown_x(member), 89.5f, 1e-4f);
    begin();
    set_x(solo, 202);
    end();
    present(0.5f);
    ck_assert_float_eq(shown_x(solo), 201);
}

// A ghost where a node was re-parented with its world kept.
TEST(godot_96663_a_node_that_keeps_its_world_is_shown_where_it_was)
{
    const espl_entity from = test_solo_at(w, 10, 0, 0), to = test_solo_at(w, -20, 0, 0),
                      node = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_attach(w, node, from, &test_keep_local));
    begin();
    set_x(from, 12);
    set_x(to, -16);
    ck_ok(espl_attach(w, node, to, NULL));
    end();
    for (int i = 0; i <= 4; ++i) {
        const float at = (float)i / 4;

        present(at);
        // It moved with its old parent from 11 to 13.
        ck_assert_float_eq_tol(shown_x(node), 11 + 2 * at, 1e-5f);
    }
}

// Switched to ignore its parent, a node was blended from its old local.
TEST(godot_108086_a_node_that_ignores_its_parent_is_blended_from_where_it_was)
{
    const espl_entity parent = test_solo_at(w, 100, 0, 0), node = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_attach(w, node, parent, &test_keep_local));
    begin();
    set_x(parent, 102);
    ck_ok(espl_set_inherit(w, node, ESPL_ABSOLUTE_POSITION));
    end();
    present(0.5f);
    ck_assert_float_eq_tol(shown_x(node), 102, 1e-4f);
    begin();
    ck_ok(espl_set_inherit(w, node, 0));
    end();
    present(0.5f);
    ck_assert_float_eq_tol(shown_x(node), 103, 1e-4f);
}

// A child that a frame moved, and a camera whose parent moved between ticks, were blended with stale values.
// Also #101814.
TEST(godot_103330_a_write_between_ticks_is_shown_at_once)
{
    const espl_entity body = test_solo_at(w, 0, 0, 0), camera = test_solo_at(w, 1, 0, 0);

    ck_ok(espl_attach(w, camera, body, &test_keep_local));
    begin();
    set_x(body, 10);
    set_x(camera, 3);
    end();
    set_x(camera, 5);
    present(0.5f);
    ck_assert_float_eq(shown_x(camera), 10);
    set_x(body, 40);
    present(0.5f);
    ck_assert_float_eq(shown_x(camera), 45);
}

// Easing wrote into the one transform: other writes stopped it, readers saw the blend, and everything counted
// as changed. Also #1, #5, #15, and rapier #341, #384, #463.
TEST(bevy_transform_interpolation_10_presenting_changes_nothing_of_the_simulation)
{
    const espl_watch_def def = {.flags = ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL};
    const espl_entity root = test_solo_at(w, 1, 0, 0), child = test_solo_at(w, 2, 0, 0);
    espl_changes changes;
    espl_watch *watch;

    ck_ok(espl_attach(w, child, root, &test_keep_local));
    ck_ok(espl_watch_create(w, &def, &watch));
    begin();
    set_x(root, 9);
    end();
    ck_ok(espl_watch_collect(watch, 0, &changes));
    const uint64_t hash = test_physical_hash(w);

    for (int i = 0; i < 5; ++i) {
        present((float)i / 7);
        ck_assert_uint_eq(test_physical_hash(w), hash);
        ck_assert_float_eq(test_world_of(w, child).position[0], 11);
    }
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, 0);
    espl_watch_destroy(watch);
    // A write in the midst of frames is blended from the same previous local.
    ck_assert_float_eq(pose_of(root, ESPL_READ_PREVIOUS_LOCAL_POSE).position[0], 1);
}

// A teleport that keeps the velocity was missing. Also Spring #460.
TEST(godot_110979_a_carried_node_keeps_its_motion)
{
    const espl_entity node = test_solo_at(w, 0, 0, 0);

    begin();
    set_x(node, 2);
    const float portal[3] = {100, 0, 0};

    ck_ok(espl_write_one(w, node, ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY, portal));
    end();
    present(0.25f);
    ck_assert_float_eq_tol(shown_x(node), 100.5f, 1e-4f);
    ck_ok(espl_write_one(w, node, ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY, portal));
    present(0.25f);
    ck_assert_float_eq_tol(shown_x(node), 200.5f, 1e-4f);
}

// A portal that turns what goes through it turns its motion too.
TEST(godot_110979_a_carried_node_that_turns_moves_in_its_new_direction)
{
    const espl_entity node = test_solo_at(w, 0, 0, 0);
    espl_pose out = {{0, 0.70710677f, 0, 0.70710677f}, {50, 0, 0}, 1};

    begin();
    set_x(node, 2);
    ck_ok(espl_write_one(w, node, ESPL_WRITE_LOCAL_POSE | ESPL_CARRY, &out));
    end();
    present(0);
    // A quarter turn about Y takes +X to -Z.
    ck_assert_float_eq_tol(shown_x(node), 50, 1e-4f);
    ck_assert_float_eq_tol(shown_of(node).position[2], 2, 1e-4f);
}

// A teleport in a frame without a tick was lost, or blended. Also #7822, #4277, and Stride #2681.
TEST_LOOP(playcanvas_8915_a_teleport_is_shown_in_its_frame, 0, 2)
{
    const espl_entity node = test_solo_at(w, 0, 0, 0);
    const float there[3] = {500, 0, 0};

    begin();
    set_x(node, 2);
    end();
    present(0.3f);
    if (_i == 1) {
        begin();
    }
    ck_ok(espl_write_one(w, node, ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT, there));
    present(0.6f);
    ck_assert_float_eq(shown_x(node), 500);
}

// With two ticks in a frame the previous local was too old. Also #102142, #102184.
TEST(godot_58381_the_last_of_two_ticks_is_shown)
{
    const espl_entity node = test_solo_at(w, 0, 0, 0), still = test_solo_at(w, 0, 0, 0);

    begin();
    set_x(node, 1);
    set_x(still, 1);
    end();
    present(0.5f);
    begin();
    set_x(node, 2);
    end();
    begin();
    set_x(node, 3);
    end();
    present(0.5f);
    ck_assert_float_eq(shown_x(node), 2.5f);
    ck_assert_float_eq(shown_x(still), 1);
}

// Hidden nodes had stale history when they were shown again. Also #60584.
TEST(godot_62019_a_disabled_entity_is_blended_as_others_are)
{
    const espl_entity node = test_solo_at(w, 0, 0, 0);

    ck_ok(espl_set_enabled(w, node, ESPL_EXTENT_SUBTREE, false));
    for (int i = 1; i <= 3; ++i) {
        begin();
        set_x(node, (float)(10 * i));
        end();
        present(0.5f);
    }
    ck_ok(espl_set_enabled(w, node, ESPL_EXTENT_SUBTREE, true));
    present(0.5f);
    ck_assert_float_eq(shown_x(node), 25);
}

// Blended worlds break pivots, wheels and limbs: a member cuts through its arc. Also #103685, #1936.
TEST_LOOP(godot_104269_a_member_stays_on_its_arc, 0, 5)
{
    static const float turns[] = {5, 30, 60, 90, 170};
    const espl_entity pivot = test_solo_at(w, 3, 0, 0), member = test_solo_at(w, 10, 0, 0);

    ck_ok(espl_attach(w, member, pivot, &test_keep_local));
    begin();
    set_yaw(pivot, turns[_i]);
    end();
    for (int i = 0; i <= 8; ++i) {
        const float at = (float)i / 8;

        present(at);
        const espl_pose shown = shown_of(member);
        const float radius = hypotf(shown.position[0] - 3, shown.position[2]);

        ck_assert_float_eq_tol(radius, 10, 1e-4f);
        ck_assert_float_eq_tol(shown_yaw(pivot), turns[_i] * at, 0.02f);
    }
}

// The long way round, and seams of angles. Also netfox #234, graphene #157, decentraland #2632.
TEST(avian_566_a_turn_takes_the_short_way)
{
    const espl_entity node = test_solo(w);

    set_yaw(node, 170);
    begin();
    set_yaw(node, 190);
    end();
    present(0.5f);
    ck_assert_float_eq_tol(fabsf(shown_yaw(node)), 180, 0.02f);
    // The same rotation by the other quaternion is no turn.
    begin();
    const espl_pose pose = pose_of(node, ESPL_READ_LOCAL_POSE);
    float other[4];

    for (int i = 0; i < 4; ++i) {
        other[i] = -pose.rotation[i];
    }
    ck_ok(espl_set_local_rotation(w, node, other));
    end();
    present(0.5f);
    ck_assert_float_eq_tol(shown_yaw(node), 2 * atan2f(other[1], other[3]) * 57.29578f, 0.02f);
}

// History was wrong after a rollback: what is restored has its previous local restored with it, and
// simulating again rolls as usual.
TEST(lightyear_1588_a_rollback_ends_where_the_first_run_did)
{
    const espl_entity node = test_solo_at(w, 0, 0, 0);
    espl_pose saved = {.scale = 1}, before = {.scale = 1}, first = {.scale = 1};

    for (int run = 0; run < 2; ++run) {
        for (int tick = run == 0 ? 1 : 3; tick <= 5; ++tick) {
            begin();
            set_x(node, (float)(tick * tick));
            end();
            if (run == 0 && tick == 2) {
                saved = pose_of(node, ESPL_READ_LOCAL_POSE);
                before = pose_of(node, ESPL_READ_PREVIOUS_LOCAL_POSE);
            }
        }
        present(0.4f);
        if (run == 0) {
            first = shown_of(node);
            ck_ok(espl_set_local_pose(w, node, &saved));
            ck_ok(espl_write_one(w, node, ESPL_WRITE_PREVIOUS_LOCAL_POSE, &before));
            present(0.5f);
            ck_assert_float_eq(shown_x(node), 2.5f);
        }
    }
    const espl_pose second = shown_of(node);

    ck_assert_mem_eq(&first, &second, sizeof first);
}

// What is shown for the first time streaked.
TEST(godot_92941_an_entity_that_was_never_presented_is_shown_at_its_world)
{
    const espl_entity parent = test_solo_at(w, 4, 0, 0);

    begin();
    end();
    present(0.5f);
    const espl_entity node = test_solo_at(w, 70, 0, 0);

    demand_shown_as_it_is(node);
    ck_ok(espl_attach(w, node, parent, NULL));
    demand_shown_as_it_is(node);
    set_x(node, 1);
    demand_shown_as_it_is(node);
    present(0.5f);
    demand_shown_as_it_is(node);
}

// --- The largest step between two frames ---

// A node moves along X by one unit in each tick, by itself or with its parents. In the midst of it something
// happens that moves it no further. What is shown is where it was one tick ago, in each frame.
typedef enum event {
    SPAWN_BELOW,
    CARRY,
    ATTACH,
    ATTACH_LOCAL_AND_SET,
    DETACH,
    DESTROY_PARENT,
    ABSOLUTE,
    RELATIVE,
    COMPACT,
    RELOCATE,
    REMOVE_TRANSFORM_ABOVE,
    PLAYED_ATTACH,
    EVENTS
} event;

typedef struct scene {
    espl_entity carriers[2], node;
    bool is_attached; // its own local stands still
    float x;          // its world, in the simulation
} scene;

static espl_attach_options free_link(void)
{
    return (espl_attach_options){.link = ESPL_LINK_FREE};
}

static void attach(const scene *s, int to)
{
    const espl_attach_options options = free_link();

    ck_ok(espl_attach(w, s->node, s->carriers[to], &options));
}

static void carry_there_and_back(const scene *s)
{
    const float away[3] = {0, 0, 0};

    ck_ok(espl_write_one(w, s->node, ESPL_WRITE_TRANSLATE_WORLD | ESPL_CARRY, away));
}

static void play_attach(const scene *s)
{
    espl_command_buffer *const commands = test_commands(w, 1);
    const espl_attach_options options = free_link();

    ck_ok(espl_record_attach(espl_command_buffer_recorder(commands, 0), 0, s->node, s->carriers[1],
                             &options));
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_destroy(commands);
}

static void happen(scene *s, event what)
{
    switch (what) {
    case SPAWN_BELOW:
        ck_ok(espl_attach(w, test_solo(w), s->node, NULL));
        break;
    case CARRY:
        carry_there_and_back(s);
        break;
    case ATTACH:
    case RELOCATE:
        attach(s, 1);
        break;
    case ATTACH_LOCAL_AND_SET:
        attach(s, 0);
        attach(s, 1);
        break;
    case DETACH:
        ck_ok(espl_detach(w, s->node, ESPL_KEEP_WORLD));
        s->is_attached = false;
        break;
    case DESTROY_PARENT:
        ck_ok(espl_destroy(w, s->carriers[0], ESPL_EXTENT_ENTITY));
        s->carriers[0] = test_null;
        s->is_attached = false;
        break;
    case ABSOLUTE:
        ck_ok(espl_set_inherit(w, s->node, ESPL_ABSOLUTE_POSITION));
        s->is_attached = false;
        break;
    case RELATIVE:
        ck_ok(espl_set_inherit(w, s->node, ESPL_ABSOLUTE_POSITION));
        ck_ok(espl_set_inherit(w, s->node, 0));
        break;
    case COMPACT:
        test_solos(w, 20, NULL);
        ck_ok(espl_compact(w));
        break;
    case REMOVE_TRANSFORM_ABOVE:
        ck_ok(espl_remove_component(w, s->carriers[0], ESPL_TRANSFORM));
        s->carriers[0] = test_null;
        s->is_attached = false;
        break;
    case PLAYED_ATTACH:
        play_attach(s);
        break;
    default:
        break;
    }
}

static void simulate(scene *s, float speed)
{
    s->x += speed;
    for (int i = 0; i < 2; ++i) {
        if (!espl_entity_is_null(s->carriers[i])) {
            ck_ok(espl_write_one(w, s->carriers[i], ESPL_WRITE_TRANSLATE_WORLD,
                                 (float[3]){speed, 0, 0}));
        }
    }
    if (!s->is_attached) {
        ck_ok(espl_write_one(w, s->node, ESPL_WRITE_TRANSLATE_WORLD, (float[3]){speed, 0, 0}));
    }
}

static scene make_scene(void)
{
    scene s = {
        {test_solo_at(w, -7, 3, 0), test_solo_at(w, 11, -2, 5)}, test_solo_at(w, 1, 0, 0), true, 1};

    set_yaw(s.carriers[0], 40);
    set_yaw(s.carriers[1], -75);
    ck_ok(espl_set_local_scale(w, s.carriers[1], 2));
    attach(&s, 0);
    return s;
}

// Before the first write of a tick, after the last one, and between ticks. Three frames show the tick in which it
// happens, and the frames before and after it show others.
TEST_LOOP(no_change_of_structure_is_seen_in_the_motion, 0, 3 * EVENTS)
{
    const event what = (event)(_i / 3);
    const int when = _i % 3;
    // Frames as fractions of a tick: several in a tick, and three ticks in a frame.
    static const float frames[] = {0.3f, 0.3f, 0.25f, 0.4f, 3.1f, 0.7f, 1, 2.2f, 0.1f, 0.05f};
    const float speed = 0.5f;
    scene s = make_scene();
    float lag = 0, time = 0, last = 0;
    int ticks = 0;

    for (int frame = 0; frame < 30; ++frame) {
        const float length = frames[frame % 10];

        lag += length;
        time += length;
        for (; lag >= 1; lag -= 1) {
            begin();
            ticks += 1;
            if (ticks == 9 && when == 0) {
                happen(&s, what);
            }
            simulate(&s, speed);
            if (ticks == 9 && when == 1) {
                happen(&s, what);
            }
            end();
            if (ticks == 9 && when == 2) {
                happen(&s, what);
            }
        }
        present(lag);
        const float x = shown_x(s.node);

        if (ticks != 0) {
            ck_assert_float_eq_tol(x, 1 + speed * (time - 1), 2e-4f);
        }
        if (frame != 0 && ticks > 1) {
            ck_assert_float_le(fabsf(x - last), speed * length * 1.01f + 2e-4f);
        }
        last = x;
    }
}
