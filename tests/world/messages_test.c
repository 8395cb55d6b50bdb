// SPDX-License-Identifier: MIT
// Messages of refused calls, word for word: the call, the status, the entities with the one at
// fault first, the component and both sizes, the field that is not finite, the entry of a batch.
#include "tests/runner.h"
#include "tests/told.h"

#include <math.h>
#include <stdint.h>

#define ID(entity) told_id(entity)
#define TEXT(status) espl_status_text(status)

// A root and its child, a solo, one without a transform, a dead one, and a pending one of lane 1.
typedef struct scene {
    told told;
    espl_world *world;
    espl_component health; // 4 bytes, which no entity has
    espl_entity root, child, solo, bare, dead, pending;
    espl_command_buffer *commands;
    espl_recorder *recorder; // of lane 1
} scene;

static scene s;

static const float nowhere[3] = {0, NAN, 0}, somewhere[3] = {1, 2, 3}, no_turn[4];

static void set_up(void)
{
    told_begin(&s.told, NULL);
    s.world = s.told.world;
    s.health = test_component(s.world, "health", 4, 4);
    s.root = test_solo(s.world);
    s.child = test_solo(s.world);
    s.solo = test_solo(s.world);
    s.dead = test_solo(s.world);
    ck_ok(espl_create(s.world, NULL, 0, 1, &s.bare));
    ck_ok(espl_attach(s.world, s.child, s.root, NULL));
    ck_ok(espl_destroy(s.world, s.dead, ESPL_EXTENT_OWNED));
    ck_ok(espl_command_buffer_create(s.world, 2, &s.commands));
    s.recorder = espl_command_buffer_recorder(s.commands, 1);
    const espl_instance_def def = {.source = s.solo};
    ck_ok(espl_record_instantiate(s.recorder, 0, &def, 1, &s.pending));
    told_demand_nothing(&s.told);
}

static void tear_down(void)
{
    ck_ok(espl_play(s.world, s.commands, NULL));
    espl_command_buffer_destroy(s.commands);
    told_end(&s.told);
}

FIXTURE(set_up, tear_down);

#define REFUSE(status, call, ...) REFUSED(&s.told, status, call, __VA_ARGS__)
// The line has the call, the status, what it is about, and the text of the status.
#define REFUSE_TEXT(status, function, arguments, about, ...)                                  \
    REFUSE(status, function arguments, #function ": " #status ": " about ": %s", __VA_ARGS__, \
           TEXT(status))

// --- Entities ---

TEST(the_entity_that_the_status_is_about_comes_first)
{
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_attach, (s.world, s.child, s.dead, NULL), "parent %s, child %s",
                ID(s.dead), ID(s.child));
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_attach, (s.world, s.dead, s.root, NULL), "child %s, parent %s",
                ID(s.dead), ID(s.root));
    REFUSE_TEXT(ESPL_ERR_NULL_ENTITY, espl_attach, (s.world, espl_entity_null(), s.root, NULL),
                "child 0.0, parent %s", ID(s.root));
    REFUSE_TEXT(ESPL_ERR_CYCLE, espl_attach, (s.world, s.root, s.child, NULL),
                "child %s, parent %s", ID(s.root), ID(s.child));
    REFUSE_TEXT(ESPL_ERR_NOT_CHILD, espl_attach,
                (s.world, s.solo, s.root, &(espl_attach_options){.before = s.bare}),
                "child %s, parent %s, before %s", ID(s.solo), ID(s.root), ID(s.bare));
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_get_relative_transform,
                (s.world, s.root, s.dead, &(espl_transform){.scale = 1}), "entity %s, frame %s",
                ID(s.dead), ID(s.root));
    REFUSE_TEXT(ESPL_ERR_NO_TRANSFORM, espl_set_local_position, (s.world, s.bare, somewhere),
                "entity %s", ID(s.bare));
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_instantiate,
                (s.world, &(espl_instance_def){.source = s.dead}, 1, NULL), "source %s",
                ID(s.dead));
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_reserve, (s.world, &(espl_reserve_def){.side_of = s.dead}),
                "side_of %s", ID(s.dead));
}

TEST(a_pending_entity_is_told_what_to_do)
{
    espl_transform out;
    espl_entity resolved = espl_entity_null();

    REFUSE(
        ESPL_ERR_PENDING, espl_get_world_transform(s.world, s.pending, &out),
        "espl_get_world_transform: ESPL_ERR_PENDING: entity %s: The entity is pending and can be "
        "named by commands only; play the command buffer, then espl_command_buffer_resolve() "
        "tells its handle.",
        ID(s.pending));
    REFUSE_TEXT(ESPL_ERR_PENDING, espl_set_local_position, (s.world, s.pending, somewhere),
                "entity %s", ID(s.pending));
    REFUSE_TEXT(ESPL_ERR_PENDING, espl_attach, (s.world, s.solo, s.pending, NULL),
                "parent %s, child %s", ID(s.pending), ID(s.solo));
    REFUSE_TEXT(ESPL_ERR_PENDING, espl_command_buffer_resolve, (s.commands, s.pending, &resolved),
                "entity %s", ID(s.pending));
    ck_assert(espl_entity_is_null(resolved));
    ck_ok(espl_play(s.world, s.commands, NULL));
    ck_ok(espl_command_buffer_resolve(s.commands, s.pending, &resolved));
    ck_ok(espl_set_local_position(s.world, resolved, somewhere));
    // It is a pending handle for ever, and the buffer forgets it when it is reset.
    REFUSE_TEXT(ESPL_ERR_PENDING, espl_set_local_position, (s.world, s.pending, somewhere),
                "entity %s", ID(s.pending));
    espl_command_buffer_reset(s.commands);
    REFUSE_TEXT(ESPL_ERR_FOREIGN, espl_command_buffer_resolve, (s.commands, s.pending, &resolved),
                "entity %s", ID(s.pending));
}

TEST(an_entity_that_has_a_name_is_told_with_it)
{
    ck_ok(espl_set_name(s.world, s.root, "ship"));
    ck_ok(espl_set_name(s.world, s.child, "mast"));
    REFUSE_TEXT(ESPL_ERR_CYCLE, espl_attach, (s.world, s.root, s.child, NULL),
                "child %s \"ship\", parent %s \"mast\"", ID(s.root), ID(s.child));
    REFUSE(
        ESPL_ERR_ARGUMENT, espl_set_name(s.world, s.child, "mast/lamp"),
        "espl_set_name: ESPL_ERR_ARGUMENT: entity %s \"mast\": name has a control character or a "
        "'/'.",
        ID(s.child));
    REFUSE(ESPL_ERR_ARGUMENT, espl_find_descendant(s.world, s.root, "mast//lamp", &s.solo),
           "espl_find_descendant: ESPL_ERR_ARGUMENT: entity %s \"ship\": path has an empty name.",
           ID(s.root));
    // Another thread may change names while one records.
    REFUSE(ESPL_ERR_NOT_FINITE,
           espl_record_write(s.recorder, 0, s.child, ESPL_WRITE_LOCAL_POSITION, nowhere),
           "espl_record_write: ESPL_ERR_NOT_FINITE: lane 1, entity %s: position[1] is NaN.",
           ID(s.child));
}

// --- Components ---

TEST(a_component_is_told_by_name_and_number_and_both_sizes)
{
    static const char wrong_size[] =
        "The size is not that of the component; pass the size that was registered.";
    static const char unknown[] =
        "The world has no component of that number; register it, or call espl_component_find().";
    const uint32_t value = 5;
    uint32_t out;

    REFUSE(
        ESPL_ERR_ARGUMENT, espl_add_component(s.world, s.solo, s.health, &value, 3),
        "espl_add_component: ESPL_ERR_ARGUMENT: entity %s, component \"health\" (7) of 4 bytes, 3 "
        "given: %s",
        ID(s.solo), wrong_size);
    REFUSE(ESPL_ERR_ARGUMENT, espl_add_component(s.world, s.solo, ESPL_TRANSFORM, &value, 4),
           "espl_add_component: ESPL_ERR_ARGUMENT: entity %s, component \"transform\" (1) of 48 "
           "bytes, 4 given: %s",
           ID(s.solo), wrong_size);
    REFUSE(ESPL_ERR_ARGUMENT, espl_add_component(s.world, s.solo, 999, &value, 4),
           "espl_add_component: ESPL_ERR_ARGUMENT: entity %s, component 999: %s", ID(s.solo),
           unknown);
    REFUSE(ESPL_ERR_ARGUMENT, espl_remove_component(s.world, s.solo, ESPL_SOLO),
           "espl_remove_component: ESPL_ERR_ARGUMENT: entity %s, component \"solo\" (2): A role "
           "follows from the hierarchy; attach or detach the entity instead.",
           ID(s.solo));
    REFUSE_TEXT(ESPL_ERR_NO_COMPONENT, espl_set_component, (s.world, s.solo, s.health, &value, 4),
                "entity %s, component \"health\" (7)", ID(s.solo));
    ck_ok(espl_add_component(s.world, s.solo, s.health, &value, 4));
    REFUSE(
        ESPL_ERR_ARGUMENT, espl_set_component(s.world, s.solo, s.health, &value, 8),
        "espl_set_component: ESPL_ERR_ARGUMENT: entity %s, component \"health\" (7) of 4 bytes, 8 "
        "given: %s",
        ID(s.solo), wrong_size);
    REFUSE(
        ESPL_ERR_ARGUMENT, espl_get_component(s.world, s.solo, s.health, &out, 1),
        "espl_get_component: ESPL_ERR_ARGUMENT: entity %s, component \"health\" (7) of 4 bytes, 1 "
        "given: %s",
        ID(s.solo), wrong_size);
    REFUSE(
        ESPL_ERR_ARGUMENT, espl_record_add_component(s.recorder, 0, s.solo, s.health, &value, 2),
        "espl_record_add_component: ESPL_ERR_ARGUMENT: lane 1, entity %s, component \"health\" (7) "
        "of 4 bytes, 2 given: %s",
        ID(s.solo), wrong_size);
    REFUSE(
        ESPL_ERR_ARGUMENT,
        espl_create(s.world, (const espl_component[]){s.health, s.health}, 2, 1, NULL),
        "espl_create: ESPL_ERR_ARGUMENT: component \"health\" (7): The component is listed twice.");
}

TEST(a_definition_of_a_component_is_told_what_is_wrong_with_it)
{
    static const uint32_t offsets[2] = {0, 4};
    static const struct {
        espl_component_def def;
        const char *line;
    } cases[] = {
        {{.name = ""},
         "ESPL_ERR_ARGUMENT: component \"\": def->name has no byte, or more than 255."},
        {{.name = "a", .size = 3, .alignment = 2},
         "ESPL_ERR_ARGUMENT: component \"a\": def->size is no multiple of def->alignment."},
        {{.name = "a", .size = 3, .alignment = 3},
         "ESPL_ERR_ARGUMENT: component \"a\": def->alignment is no power of two, or more than "
         "256."},
        {{.name = "a", .size = 16, .alignment = 4, .references = offsets, .reference_count = 2},
         "ESPL_ERR_ARGUMENT: component \"a\": def->references do not ascend, or overlap; each "
         "takes 8 "
         "bytes."},
    };
    espl_component out = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        REFUSE(ESPL_ERR_ARGUMENT, espl_component_register(s.world, &cases[i].def, &out),
               "espl_component_register: %s", cases[i].line);
    }
    REFUSE(ESPL_ERR_EXISTS,
           espl_component_register(s.world, &(espl_component_def){.name = "health"}, &out),
           "espl_component_register: ESPL_ERR_EXISTS: component \"health\": The name is taken; call "
           "espl_component_find(), or choose another name.");
    REFUSE(ESPL_ERR_LIMIT,
           espl_component_register(
               s.world, &(espl_component_def){.name = "a", .size = ESPL_COMPONENT_SIZE_LIMIT + 1},
               &out),
           "espl_component_register: ESPL_ERR_LIMIT: component \"a\": %s", TEXT(ESPL_ERR_LIMIT));
}

// --- Numbers ---

TEST(the_field_that_is_not_finite_is_told)
{
    espl_transform value = {0};

    REFUSE(
        ESPL_ERR_NOT_FINITE, espl_set_local_transform(s.world, s.child, &value),
        "espl_set_local_transform: ESPL_ERR_NOT_FINITE: entity %s: rotation has no length; start "
        "from espl_transform_identity().",
        ID(s.child));
    value = espl_transform_identity();
    value.stretch[2] = NAN;
    REFUSE(ESPL_ERR_NOT_FINITE, espl_set_world_transform(s.world, s.child, &value),
           "espl_set_world_transform: ESPL_ERR_NOT_FINITE: entity %s: stretch[2] is NaN.",
           ID(s.child));
    value = test_at(0, INFINITY, 0);
    REFUSE(ESPL_ERR_NOT_FINITE,
           espl_add_component(s.world, s.child, ESPL_TRANSFORM, &value, sizeof value),
           "espl_add_component: ESPL_ERR_NOT_FINITE: entity %s, component \"transform\" (1): "
           "position[1] is infinite.",
           ID(s.child));
    REFUSE(ESPL_ERR_NOT_FINITE, espl_set_local_position(s.world, s.child, nowhere),
           "espl_set_local_position: ESPL_ERR_NOT_FINITE: entity %s: position[1] is NaN.",
           ID(s.child));
    REFUSE(ESPL_ERR_NOT_FINITE, espl_set_local_scale(s.world, s.child, -INFINITY),
           "espl_set_local_scale: ESPL_ERR_NOT_FINITE: entity %s: scale is infinite.", ID(s.child));
    REFUSE(ESPL_ERR_NOT_FINITE, espl_look_at(s.world, s.child, nowhere, NULL, ESPL_AXIS_FORWARD),
           "espl_look_at: ESPL_ERR_NOT_FINITE: entity %s: target[1] is NaN.", ID(s.child));
    REFUSE(ESPL_ERR_NOT_FINITE,
           espl_look_at(s.world, s.child, somewhere, nowhere, ESPL_AXIS_FORWARD),
           "espl_look_at: ESPL_ERR_NOT_FINITE: entity %s: up[1] is NaN.", ID(s.child));
    REFUSE(ESPL_ERR_NOT_FINITE, espl_rotate_about(s.world, s.child, somewhere, no_turn),
           "espl_rotate_about: ESPL_ERR_NOT_FINITE: entity %s: by has no length; start from "
           "espl_transform_identity().",
           ID(s.child));
    REFUSE(ESPL_ERR_NOT_FINITE,
           espl_record_write(s.recorder, 0, s.child, ESPL_WRITE_LOCAL_POSITION, nowhere),
           "espl_record_write: ESPL_ERR_NOT_FINITE: lane 1, entity %s: position[1] is NaN.",
           ID(s.child));
}

// --- Entries ---

TEST(the_entry_of_a_batch_is_told)
{
    const espl_entity entities[3] = {s.root, s.dead, s.solo};
    espl_write writes[3] = {
        {.entity = s.root, .kind = ESPL_WRITE_LOCAL_SCALE, .value.scale = 2},
        {.entity = s.dead, .kind = ESPL_WRITE_LOCAL_SCALE, .value.scale = 2},
        {.entity = s.solo, .kind = ESPL_WRITE_LOCAL_POSITION, .value.position = {0, 0, NAN}},
    };
    float positions[3][3];
    const uint32_t value = 1;
    const espl_component_value added = {s.health, sizeof value, &value};
    const espl_change_def change = {.add = &added, .add_count = 1};

    REFUSE(
        ESPL_PARTLY, espl_write_batch(s.world, writes, 3, NULL),
        "espl_write_batch: ESPL_ERR_DEAD: entry 1 of 3, entity %s, ESPL_WRITE_LOCAL_SCALE, first "
        "of 2 refused: %s",
        ID(s.dead), TEXT(ESPL_ERR_DEAD));
    writes[1] = writes[0];
    REFUSE(ESPL_PARTLY, espl_write_batch(s.world, writes, 3, NULL),
           "espl_write_batch: ESPL_ERR_NOT_FINITE: entry 2 of 3, entity %s, "
           "ESPL_WRITE_LOCAL_POSITION, first of 1 refused: position[2] is NaN.",
           ID(s.solo));
    writes[2].kind = ESPL_WRITE_KIND_COUNT;
    REFUSE(ESPL_PARTLY, espl_write_batch(s.world, writes, 3, NULL),
           "espl_write_batch: ESPL_ERR_ARGUMENT: entry 2 of 3, entity %s, unknown kind, first of 1 "
           "refused: The kind is none of espl_write_kind.",
           ID(s.solo));
    REFUSE(ESPL_PARTLY,
           espl_read_strided(s.world, ESPL_READ_WORLD_POSITION, entities, 3, sizeof *entities,
                             positions, sizeof(float[3])),
           "espl_read_strided: ESPL_ERR_DEAD: entry 1 of 3, entity %s: %s", ID(s.dead),
           TEXT(ESPL_ERR_DEAD));
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_destroy_many, (s.world, entities, 3, ESPL_EXTENT_ENTITY, NULL),
                "entry 1 of 3, entity %s", ID(s.dead));
    REFUSE_TEXT(ESPL_ERR_CYCLE, espl_attach_many, (s.world, entities, entities, 1, NULL, NULL),
                "entry 0 of 1, child %s, parent %s", ID(s.root), ID(s.root));
    REFUSE_TEXT(ESPL_ERR_DEAD, espl_change_components_array, (s.world, entities, 3, &change, NULL),
                "entry 1 of 3, entity %s", ID(s.dead));
    REFUSE(ESPL_ERR_ARGUMENT,
           espl_write_strided(s.world, ESPL_WRITE_LOCAL_SCALE, entities, 3, 6, &value, 4, NULL),
           "espl_write_strided: ESPL_ERR_ARGUMENT: entity_stride is less than the size of an "
           "espl_entity, or no multiple of 4.");
}

// --- Names ---

TEST(a_number_that_names_nothing_is_told)
{
    REFUSE(ESPL_ERR_ARGUMENT,
           espl_attach(s.world, s.solo, s.root, &(espl_attach_options){.position = (espl_keep)7}),
           "espl_attach: ESPL_ERR_ARGUMENT: child %s, parent %s: options->position is none of "
           "espl_keep.",
           ID(s.solo), ID(s.root));
    REFUSE(
        ESPL_ERR_ARGUMENT,
        espl_attach(s.world, s.solo, s.root, &(espl_attach_options){.inherit = 1u << 30}),
        "espl_attach: ESPL_ERR_ARGUMENT: child %s, parent %s: The inherit flags have a bit that is "
        "no ESPL_ABSOLUTE_ flag; they are one byte.",
        ID(s.solo), ID(s.root));
    REFUSE(ESPL_ERR_ARGUMENT, espl_detach(s.world, s.child, (espl_keep)9),
           "espl_detach: ESPL_ERR_ARGUMENT: entity %s: keep is none of espl_keep.", ID(s.child));
    REFUSE(ESPL_ERR_ARGUMENT, espl_destroy(s.world, s.child, (espl_extent)9),
           "espl_destroy: ESPL_ERR_ARGUMENT: entity %s: extent is none of espl_extent.",
           ID(s.child));
    REFUSE(ESPL_ERR_ARGUMENT, espl_write_one(s.world, s.child, ESPL_WRITE_KIND_COUNT, somewhere),
           "espl_write_one: ESPL_ERR_ARGUMENT: entity %s: The kind is none of espl_write_kind.",
           ID(s.child));
    REFUSE(ESPL_ERR_ARGUMENT,
           espl_look_at(s.world, s.child, somewhere, NULL, (espl_axis)(ESPL_AXIS_BACK + 1)),
           "espl_look_at: ESPL_ERR_ARGUMENT: entity %s: forward is none of espl_axis.",
           ID(s.child));
    REFUSE(ESPL_ERR_ARGUMENT,
           espl_record_create(s.recorder, 0,
                              &(espl_creation_def){.dead_parent = (espl_dead_parent)8}, 1, NULL),
           "espl_record_create: ESPL_ERR_ARGUMENT: lane 1: def->dead_parent is none of "
           "espl_dead_parent.");
    REFUSE(ESPL_ERR_ARGUMENT, espl_record_custom(s.recorder, 0, 9, NULL, 0, 0),
           "espl_record_custom: ESPL_ERR_ARGUMENT: lane 1: The world has no custom command of that "
           "number; call espl_command_register().");
}

// --- Motion and watches ---

static const char *const lacks_motion = "ESPL_ERR_ARGUMENT: Motion does not run; call "
                                        "espl_motion_start() first.";

TEST(a_call_that_needs_motion_says_so)
{
    const espl_pose pose = {.rotation = {0, 0, 0, 1}, .scale = 1};
    espl_watch *watch = NULL;

    REFUSE(ESPL_ERR_ARGUMENT, espl_tick_begin(s.world), "espl_tick_begin: %s", lacks_motion);
    REFUSE(ESPL_ERR_ARGUMENT, espl_tick_end(s.world), "espl_tick_end: %s", lacks_motion);
    REFUSE(ESPL_ERR_ARGUMENT, espl_motion_stop(s.world), "espl_motion_stop: %s", lacks_motion);
    REFUSE(ESPL_ERR_ARGUMENT, espl_present(s.world, 0, NULL), "espl_present: %s", lacks_motion);
    REFUSE(ESPL_ERR_UNSUPPORTED,
           espl_write_one(s.world, s.child, ESPL_WRITE_PREVIOUS_LOCAL_POSE, &pose),
           "espl_write_one: ESPL_ERR_UNSUPPORTED: entity %s: The kind needs motion; call "
           "espl_motion_start() first.",
           ID(s.child));
    REFUSE(ESPL_ERR_ARGUMENT,
           espl_watch_create(s.world, &(espl_watch_def){.flags = ESPL_WATCH_SHOWN}, &watch),
           "espl_watch_create: ESPL_ERR_ARGUMENT: ESPL_WATCH_SHOWN needs motion, which the world "
           "does not have.");
}

TEST(the_argument_of_a_call_of_motion_is_told)
{
    REFUSE(ESPL_ERR_ARGUMENT, espl_motion_start(s.world, &(espl_motion_def){.history = 3}),
           "espl_motion_start: ESPL_ERR_ARGUMENT: espl_motion_def.history is above 2.");
    ck_ok(espl_motion_start(s.world, NULL));
    REFUSE(ESPL_ERR_EXISTS, espl_motion_start(s.world, NULL),
           "espl_motion_start: ESPL_ERR_EXISTS: Motion runs already; call espl_motion_stop() first "
           "to start it anew.");
    REFUSE(ESPL_ERR_NOT_FINITE, espl_present(s.world, NAN, NULL),
           "espl_present: ESPL_ERR_NOT_FINITE: at is NaN or infinite.");
}

TEST(a_call_that_finds_no_memory_is_told)
{
    if (test_lacks_room(10000, "a reserve that takes memory")) {
        return;
    }

    test_heap_arm(&s.told.heap, 1, true);
    REFUSE(ESPL_ERR_NO_MEMORY, espl_reserve(s.world, &(espl_reserve_def){.entities = 10000}),
           "espl_reserve: ESPL_ERR_NO_MEMORY: %s", TEXT(ESPL_ERR_NO_MEMORY));
    test_heap_arm(&s.told.heap, 0, false);
}

TEST(a_command_buffer_is_told_what_it_needs)
{
    REFUSE(
        ESPL_ERR_ARGUMENT, espl_command_buffer_result(s.commands, 0, 0),
        "espl_command_buffer_result: ESPL_ERR_ARGUMENT: The command buffer was not played, so that "
        "there are no results.");
    ck_ok(espl_play(s.world, s.commands, NULL));
    REFUSE(ESPL_ERR_PLAYED, (espl_play)(s.world, s.commands, NULL),
           "espl_play: ESPL_ERR_PLAYED: %s", TEXT(ESPL_ERR_PLAYED));
    REFUSE_TEXT(ESPL_ERR_PLAYED, espl_record_destroy, (s.recorder, 0, s.root, ESPL_EXTENT_OWNED),
                "lane 1, entity %s", ID(s.root));
    // The end of a lane ends a loop.
    ck_ok(espl_command_buffer_result(s.commands, 1, 0));
    ck_status(espl_command_buffer_result(s.commands, 1, 1), ESPL_ERR_ARGUMENT);
    told_demand_nothing(&s.told);
    espl_command_buffer_reset(s.commands);
}
