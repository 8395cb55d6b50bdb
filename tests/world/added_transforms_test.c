// SPDX-License-Identifier: MIT
// Motion of an entity that lives and gets a transform: it counts as made, so that it is shown at its world
// until the next present. In each way in which a transform comes, and also where a playback is undone.
#include "tests/one_world.h"

#include <espalier/watch.h>

#include <string.h>

// --- The ways ---

typedef enum way {
    WAY_ADDED,
    WAY_CHANGED,
    WAY_ARRAY,
    WAY_QUERY,
    WAY_RECORDED,
    WAY_RECORDED_CHANGE,
    WAY_RECORDED_AND_WRITTEN,
    WAY_TAKEN_AND_ADDED,
    WAY_TAKEN_AND_ADDED_IN_A_PLAYBACK,
    WAY_ADDED_AND_ATTACHED_IN_A_PLAYBACK,
    WAY_ADDED_WHILE_DISABLED,
    WAY_COUNT
} way;

// The transform that comes. NULL: the identity.
static const espl_transform *value_of(bool has_value)
{
    static espl_transform value;

    value = test_at(5, 6, 7);
    value.scale = 2;
    return has_value ? &value : NULL;
}

static espl_component_value component_of(const espl_transform *value)
{
    return (espl_component_value){ESPL_TRANSFORM, sizeof *value, value};
}

// Add by a query, which finds the entity by a component that it alone has.
static void add_by_query(espl_entity entity, const espl_change_def *change)
{
    espl_component tag = 0;
    size_t count = 0;

    ck_ok(espl_component_register(w, &(espl_component_def){.name = "chosen"}, &tag));
    ck_ok(espl_add_component(w, entity, tag, NULL, 0));
    const espl_query_def def = {.all = &tag, .all_count = 1};

    ck_ok(espl_change_components_query(w, &def, change, &count));
    ck_assert_uint_eq(count, 1);
}

static void play(espl_command_buffer *commands)
{
    ck_ok(espl_play(w, commands, NULL));
    espl_command_buffer_destroy(commands);
}

// Record it, with what belongs to the way.
static void add_by_commands(way by, espl_entity entity, espl_entity parent,
                            const espl_transform *value)
{
    const float position[3] = {-3, 0, 1};
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const r = espl_command_buffer_recorder(commands, 0);
    const espl_component_value added = component_of(value);
    const espl_change_def change = {.add = &added, .add_count = 1};

    if (by == WAY_TAKEN_AND_ADDED_IN_A_PLAYBACK) {
        ck_ok(espl_add_component(w, entity, ESPL_TRANSFORM, NULL, sizeof *value));
        ck_ok(espl_present(w, 0.5f, NULL));
        ck_ok(espl_record_remove_component(r, 0, entity, ESPL_TRANSFORM));
    }
    if (by == WAY_RECORDED_CHANGE) {
        ck_ok(espl_record_change_components(r, 0, entity, &change));
    } else {
        ck_ok(espl_record_add_component(r, 0, entity, ESPL_TRANSFORM, value, sizeof *value));
    }
    if (by == WAY_RECORDED_AND_WRITTEN) {
        ck_ok(espl_record_write(r, 0, entity, ESPL_WRITE_LOCAL_POSITION, position));
    } else if (by == WAY_ADDED_AND_ATTACHED_IN_A_PLAYBACK) {
        ck_ok(espl_record_attach(r, 0, entity, parent, NULL));
    }
    play(commands);
}

static void add(way by, espl_entity entity, espl_entity parent, const espl_transform *value)
{
    const espl_component_value added = component_of(value);
    const espl_change_def change = {.add = &added, .add_count = 1};

    switch (by) {
    case WAY_ADDED:
        ck_ok(espl_add_component(w, entity, ESPL_TRANSFORM, value, sizeof *value));
        break;
    case WAY_CHANGED:
        ck_ok(espl_change_components(w, entity, &change));
        break;
    case WAY_ARRAY:
        ck_ok(espl_change_components_array(w, &entity, 1, &change, NULL));
        break;
    case WAY_QUERY:
        add_by_query(entity, &change);
        break;
    case WAY_TAKEN_AND_ADDED:
        ck_ok(espl_add_component(w, entity, ESPL_TRANSFORM, NULL, sizeof *value));
        ck_ok(espl_present(w, 0.5f, NULL));
        ck_ok(espl_remove_component(w, entity, ESPL_TRANSFORM));
        ck_ok(espl_add_component(w, entity, ESPL_TRANSFORM, value, sizeof *value));
        break;
    case WAY_ADDED_WHILE_DISABLED:
        ck_ok(espl_set_enabled(w, entity, ESPL_EXTENT_ENTITY, false));
        ck_ok(espl_add_component(w, entity, ESPL_TRANSFORM, value, sizeof *value));
        ck_ok(espl_set_enabled(w, entity, ESPL_EXTENT_ENTITY, true));
        break;
    default:
        add_by_commands(by, entity, parent, value);
        break;
    }
}

// --- The scene ---

enum { SOLO, MEMBER, ROOT, INNER, COPIES, BARES };

// Entities without a transform, and a truck that moves in each tick. The last of them are copies that were
// cloned from an entity without one.
typedef struct scene {
    espl_entity truck, bare[BARES];
} scene;

static void move_truck(const scene *s, float x)
{
    ck_ok(espl_set_local_position(w, s->truck, (const float[3]){x, 0, 0}));
}

static void tick(const scene *s, float x)
{
    ck_ok(espl_tick_begin(w));
    move_truck(s, x);
}

static void begin_scene(scene *s, uint32_t history, bool is_ticking)
{
    const espl_transform at = test_at(1, 2, 3);
    espl_entity child;

    ck_ok(espl_create_node(w, test_null, &at, NULL, &s->truck));
    ck_ok(espl_create(w, NULL, 0, COPIES, s->bare));
    ck_ok(espl_attach(w, s->bare[MEMBER], s->truck, NULL));
    ck_ok(espl_attach(w, s->bare[INNER], s->truck, NULL));
    ck_ok(espl_create_node(w, s->bare[ROOT], &at, NULL, &child));
    ck_ok(espl_create_node(w, s->bare[INNER], &at, NULL, &child));
    const espl_instance_def def = {
        .source = s->bare[INNER], .parent = s->truck, .place = ESPL_PLACE_SOURCE};

    ck_ok(espl_instantiate(w, &def, 1, &s->bare[COPIES]));
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = history}));
    tick(s, 10);
    ck_ok(espl_present(w, 1, NULL));
    tick(s, 20);
    if (!is_ticking) {
        ck_ok(espl_tick_end(w));
    }
    ck_ok(espl_present(w, 0.5f, NULL));
}

static espl_pose read(espl_entity entity, espl_read_kind kind)
{
    espl_pose pose;

    ck_ok(espl_read_one(w, entity, kind, &pose));
    return pose;
}

static bool is_same(const espl_pose *a, const espl_pose *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// Demand that an entity is shown at its world, in each form, and has no past of its own.
static void demand_new(espl_entity entity)
{
    const espl_pose world = read(entity, ESPL_READ_WORLD_POSE);
    const espl_pose shown = read(entity, ESPL_READ_SHOWN_POSE);
    const espl_pose local = read(entity, ESPL_READ_LOCAL_POSE);
    const espl_pose previous = read(entity, ESPL_READ_PREVIOUS_LOCAL_POSE);
    uint32_t rank = 0;
    espl_view view;

    ck_assert(is_same(&shown, &world));
    ck_assert(is_same(&previous, &local));
    ck_ok(espl_view_hierarchy(w, entity, &view));
    while (!espl_entity_equal(espl_view_entity(&view, rank), entity)) {
        rank += 1;
    }
    ck_assert(is_same(&view.shown_poses[view.first + rank], &world));
    test_world_is_valid(w);
}

FIXTURE(set_up, tear_down);

TEST_LOOP(a_transform_that_is_added_is_shown_at_its_world, 0, WAY_COUNT * 8)
{
    const way by = (way)(_i / 8);
    const bool has_value = _i % 2 == 0, is_ticking = _i / 2 % 2 == 0;
    scene s;

    begin_scene(&s, 1 + (uint32_t)(_i / 4 % 2), is_ticking);
    for (int i = 0; i < BARES; ++i) {
        if (by == WAY_QUERY && i != 0) {
            break; // the name of its component is taken
        }
        add(by, s.bare[i], s.truck, value_of(has_value));
        demand_new(s.bare[i]);
        move_truck(&s, 30 + (float)i);
        demand_new(s.bare[i]);
    }
    // From the next present on it is as any other entity.
    ck_ok(espl_present(w, 0.25f, NULL));
    const espl_pose shown = read(s.bare[SOLO], ESPL_READ_SHOWN_POSE);

    ck_ok(espl_set_local_position(w, s.bare[SOLO], (const float[3]){50, 0, 0}));
    const espl_pose after = read(s.bare[SOLO], ESPL_READ_SHOWN_POSE);

    ck_assert(is_same(&shown, &after));
}

// A playback that takes a transform away and adds one, and then more than there is memory for.
static espl_command_buffer *record_much(const scene *s)
{
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const r = espl_command_buffer_recorder(commands, 0);

    for (int i = 0; i < BARES; ++i) {
        if (i != ROOT) {
            ck_ok(espl_record_remove_component(r, 0, s->bare[i], ESPL_TRANSFORM));
        }
        ck_ok(espl_record_add_component(r, 0, s->bare[i], ESPL_TRANSFORM, value_of(true),
                                        sizeof(espl_transform)));
    }
    ck_ok(espl_record_create(r, 0, &(espl_creation_def){.parent = s->truck}, 3, NULL));
    return commands;
}

TEST_LOOP(a_playback_that_is_undone_shows_what_was_shown, 0, 4)
{
    espl_pose shown[BARES];
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t undone = 0;
    scene s;

    begin_scene(&s, 1 + (uint32_t)_i / 2, _i % 2 == 0);
    for (int i = 0; i < BARES; ++i) {
        if (i != ROOT) {
            ck_ok(espl_add_component(w, s.bare[i], ESPL_TRANSFORM, NULL, sizeof(espl_transform)));
        }
    }
    // Shown elsewhere than at their worlds, but the last of them, which was written.
    ck_ok(espl_present(w, 0.5f, NULL));
    tick(&s, 40);
    ck_ok(espl_set_local_position(w, s.bare[SOLO], (const float[3]){8, 0, 0}));
    for (int i = 0; i < BARES; ++i) {
        shown[i] = i == ROOT ? (espl_pose){.scale = 1} : read(s.bare[i], ESPL_READ_SHOWN_POSE);
    }
    espl_command_buffer *const commands = record_much(&s);
    const uint64_t hash = test_physical_hash(w);

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        test_heap_arm(&test.heap, n, true);
        status = espl_play(w, commands, NULL);
        test_heap_arm(&test.heap, 0, false);
        for (int i = 0; i < BARES && status == ESPL_ERR_NO_MEMORY; ++i) {
            if (i != ROOT) {
                const espl_pose now = read(s.bare[i], ESPL_READ_SHOWN_POSE);

                ck_assert(is_same(&now, &shown[i]));
                undone += 1;
            }
        }
        ck_assert(status != ESPL_ERR_NO_MEMORY || test_physical_hash(w) == hash);
    }
    ck_ok(status);
    ck_assert_uint_gt(undone, BARES);
    for (int i = 0; i < BARES; ++i) {
        demand_new(s.bare[i]);
    }
    espl_command_buffer_destroy(commands);
}

// --- Watches ---

static espl_changes collect(espl_watch *watch)
{
    espl_changes changes;

    ck_ok(espl_watch_collect(watch, 0, &changes));
    return changes;
}

static espl_watch *watch_shown(void)
{
    espl_watch *watch = NULL;

    ck_ok(espl_watch_create(w, &(espl_watch_def){.flags = ESPL_WATCH_SHOWN}, &watch));
    (void)collect(watch);
    return watch;
}

static void demand_changed(espl_watch *watch, espl_entity entity, float x)
{
    const espl_changes changes = collect(watch);

    ck_assert_uint_eq(changes.added_count + changes.removed_count, 0);
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_assert(espl_entity_equal(changes.changed[0], entity));
    ck_assert_float_eq(changes.changed_worlds[0].position[0], x);
    ck_assert_float_eq(read(entity, ESPL_READ_SHOWN_POSE).position[0], x);
}

// Neither its local nor its world changes, but it is not shown elsewhere any more.
TEST(a_transform_that_is_taken_and_added_in_one_playback_changes_what_is_shown)
{
    const espl_transform at = test_at(5, 0, 0);
    espl_entity entity;

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_create_node(w, test_null, &at, NULL, &entity));
    ck_ok(espl_present(w, 1, NULL));
    espl_watch *const watch = watch_shown();

    ck_ok(espl_set_local_position(w, entity, (const float[3]){0, 0, 0}));
    (void)collect(watch);
    ck_assert_float_eq(read(entity, ESPL_READ_SHOWN_POSE).position[0], 5);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const r = espl_command_buffer_recorder(commands, 0);

    ck_ok(espl_record_remove_component(r, 0, entity, ESPL_TRANSFORM));
    ck_ok(espl_record_add_component(r, 0, entity, ESPL_TRANSFORM, NULL, sizeof at));
    play(commands);
    demand_changed(watch, entity, 0);
    espl_watch_destroy(watch);
}

// A view stores the world of a new entity where the next present stores what it shows. Both may be equal, and
// what was reported between them is not.
TEST(the_first_present_of_a_new_entity_changes_what_is_shown)
{
    const espl_transform at = test_at(1, 0, 0);
    espl_entity entity;
    espl_view view;

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_create_node(w, test_null, &at, NULL, &entity));
    ck_ok(espl_view_hierarchy(w, entity, &view));
    espl_watch *const watch = watch_shown();

    ck_ok(espl_set_local_position(w, entity, (const float[3]){0, 0, 0}));
    ck_ok(espl_tick_begin(w));
    ck_ok(espl_set_local_position(w, entity, (const float[3]){2, 0, 0}));
    demand_changed(watch, entity, 2);
    ck_ok(espl_present(w, 0.5f, NULL));
    demand_changed(watch, entity, 1);
    espl_watch_destroy(watch);
}

// So many that their transforms are stored past the caches.
TEST(many_new_entities_are_reported_at_their_worlds)
{
    enum { COUNT = 70000 };
    const espl_component transform = ESPL_TRANSFORM;
    espl_entity *const made = test_array(COUNT, sizeof *made);
    espl_write *const writes = test_array(COUNT, sizeof *writes);
    espl_view view;

    if (test_lacks_room(COUNT, "many entities")) {
        free(writes);
        free(made);
        return;
    }
    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_create(w, &transform, 1, COUNT, made));
    espl_watch *const watch = watch_shown();

    for (size_t i = 0; i < COUNT; ++i) {
        writes[i] = (espl_write){made[i], ESPL_WRITE_LOCAL_POSITION, {.position = {3, 0, 0}}};
        if (i % 100 == 0) {
            ck_ok(espl_view_hierarchy(w, made[i], &view));
        }
    }
    ck_ok(espl_write_batch(w, writes, COUNT, NULL));
    const espl_changes changes = collect(watch);

    ck_assert_uint_eq(changes.changed_count, COUNT);
    for (size_t i = 0; i < COUNT; ++i) {
        ck_assert_float_eq(changes.changed_worlds[i].position[0], 3);
    }
    espl_watch_destroy(watch);
    free(writes);
    free(made);
}
