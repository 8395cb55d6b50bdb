// SPDX-License-Identifier: MIT
// Messages about calls that are done and are usually a mistake, and about losses: whole transforms
// whose scale or stretch is 0, commands that were not played, a world destroyed before its command
// buffers.
#include "tests/runner.h"
#include "tests/told.h"

#define ID(entity) told_id(entity)

static told t;
static espl_entity one, other;

static const espl_transform flat = {.rotation = {0, 0, 0, 1}};
static const char remark[] = "The scale and stretch are 0; if that is a mistake, start from "
                             "espl_transform_identity() instead of {0}.";

static void set_up(void)
{
    told_begin(&t, NULL);
    one = test_solo(t.world);
    other = test_solo(t.world);
}

static void tear_down(void)
{
    told_end(&t);
}

#define REMARKED(call, ...)                             \
    do {                                                \
        ck_ok((call));                                  \
        told_demand(&t, ESPL_LOG_WARNING, __VA_ARGS__); \
    } while (0)

static bool is_flat(espl_entity entity)
{
    const espl_transform local = test_local_of(t.world, entity);

    return local.scale == 0 && local.stretch[0] == 0;
}

// --- Zeros ---

FIXTURE(set_up, tear_down);

TEST(a_write_of_a_whole_transform_without_scale_is_done_and_remarked_on)
{
    const espl_pose flat_pose = {.rotation = {0, 0, 0, 1}};
    const espl_transform thin = {.rotation = {0, 0, 0, 1}, .scale = 1, .stretch = {1, 0, 1}};
    const espl_transform huge = {
        .rotation = {0, 0, 0, 1}, .scale = 1e30f, .stretch = {1e30f, 0, 1}}; // no finite product

    REMARKED(espl_set_local_transform(t.world, one, &flat),
             "espl_set_local_transform: entity %s: %s", ID(one), remark);
    ck_assert(is_flat(one));
    REMARKED(espl_set_world_transform(t.world, other, &flat),
             "espl_set_world_transform: entity %s: %s", ID(other), remark);
    ck_assert(is_flat(other));
    REMARKED(
        espl_write_one(t.world, one, ESPL_WRITE_LOCAL_TRANSFORM, &thin),
        "espl_set_local_transform: entity %s: The stretch is 0; if that is a mistake, start from "
        "espl_transform_identity() instead of {0}.",
        ID(one));
    REMARKED(espl_write_one(t.world, one, ESPL_WRITE_LOCAL_TRANSFORM, &huge),
             "espl_set_local_transform: entity %s: The stretch is 0; if that is a mistake, start "
             "from espl_transform_identity() instead of {0}.",
             ID(one));
    REMARKED(espl_set_local_pose(t.world, other, &flat_pose),
             "espl_set_local_pose: entity %s: The scale is 0; if that is a mistake, start from "
             "espl_transform_identity() instead of {0}.",
             ID(other));
    // Again, because the remark does not depend on what it was.
    REMARKED(espl_set_local_transform(t.world, one, &flat),
             "espl_set_local_transform: entity %s: %s", ID(one), remark);
    REMARKED(espl_set_local_transform(t.world, one, &flat),
             "espl_set_local_transform: entity %s: %s", ID(one), remark);
}

TEST(a_scale_of_zero_that_is_meant_is_not_remarked_on)
{
    const espl_transform negative = {
        .rotation = {0, 0, 0, 1}, .scale = -0.0f, .stretch = {1, 1, 1}};
    const float stretch[3] = {0, 1, 1};

    ck_ok(espl_set_local_scale(t.world, one, 0));
    ck_ok(espl_write_one(t.world, one, ESPL_WRITE_STRETCH, stretch));
    ck_ok(espl_set_local_transform(t.world, one, &negative));
    // One that is refused is told of once.
    ck_status(espl_set_local_transform(t.world, one, &(espl_transform){.scale = 0}),
              ESPL_ERR_NOT_FINITE);
    told_demand(&t, ESPL_LOG_WARNING,
                "espl_set_local_transform: ESPL_ERR_NOT_FINITE: entity %s: rotation has no length; "
                "start from espl_transform_identity().",
                ID(one));
}

enum { MANY = 5000 };

// The first entry is named, and how many there are is counted; wherever they stand.
TEST(a_batch_is_remarked_on_once_with_the_entry)
{
    static espl_entity entities[MANY];
    static espl_transform values[MANY];
    static espl_write writes[MANY];
    const size_t zeros[] = {0, 1, 2500, MANY - 1};

    for (size_t i = 0; i < MANY; ++i) {
        entities[i] = i % 2 == 0 ? one : other;
        values[i] = espl_transform_identity();
    }
    for (size_t i = sizeof zeros / sizeof *zeros; i-- > 0;) {
        const size_t at = zeros[i], count = sizeof zeros / sizeof *zeros - i;

        values[at] = flat;
        REMARKED(espl_write_strided(t.world, ESPL_WRITE_WORLD_TRANSFORM, entities, MANY,
                                    sizeof *entities, values, sizeof *values, NULL),
                 "espl_write_strided: entry %zu of 5000, entity %s, first of %zu such: %s", at,
                 ID(entities[at]), count, remark);
        for (size_t k = 0; k < MANY; ++k) {
            writes[k] = (espl_write){.entity = entities[k],
                                     .kind = ESPL_WRITE_LOCAL_TRANSFORM,
                                     .value.transform = values[k]};
        }
        REMARKED(espl_write_batch(t.world, writes, MANY, NULL),
                 "espl_write_batch: entry %zu of 5000, entity %s, first of %zu such: %s", at,
                 ID(entities[at]), count, remark);
    }
}

// A whole transform of a kind with two flags is refused, and its value is not read.
TEST(a_batch_with_kinds_that_do_not_exist_is_not_remarked_on)
{
    const unsigned both = ESPL_TELEPORT | ESPL_CARRY;

    for (unsigned kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        espl_write writes[8];

        for (size_t i = 0; i < 8; ++i) {
            writes[i] = (espl_write){.entity = one, .kind = (espl_write_kind)(kind | both)};
        }
        t.lines = 0;
        ck_assert_int_eq(espl_write_batch(t.world, writes, 8, NULL), ESPL_PARTLY);
        ck_assert_uint_eq(t.lines, 1); // of the refusal
    }
    t.lines = 0;
}

TEST(a_batch_of_other_kinds_is_not_remarked_on)
{
    espl_write writes[3] = {{.entity = one, .kind = ESPL_WRITE_LOCAL_SCALE},
                            {.entity = one, .kind = ESPL_WRITE_LOCAL_POSITION},
                            {.entity = one, .kind = ESPL_WRITE_LOCAL_TRANSFORM}};
    const espl_pose poses[2] = {{{0, 0, 0, 1}, {0, 0, 0}, 1}, {{0, 0, 0, 1}, {1, 0, 0}, -0.0f}};
    const espl_entity both[2] = {one, other};

    writes[2].value.transform = espl_transform_identity();
    ck_ok(espl_write_batch(t.world, writes, 3, NULL));
    ck_ok(espl_write_strided(t.world, ESPL_WRITE_LOCAL_POSE, both, 2, sizeof *both, poses,
                             sizeof *poses, NULL));
    told_demand_nothing(&t);
}

// A transform of {0} would need a side array for its stretch, which jobs cannot make.
static void write_flat(espl_writer *writer, const espl_query *rows, void *context)
{
    const espl_pose flat_pose = {.rotation = {0, 0, 0, 1}};

    (void)context;
    if (espl_entity_equal(rows->entities[0], one)) {
        REMARKED(espl_writer_write(writer, one, ESPL_WRITE_LOCAL_POSE, &flat_pose, "arm.c:10"),
                 "espl_writer_write at arm.c:10: entity %s: The scale is 0; if that is a mistake, "
                 "start from espl_transform_identity() instead of {0}.",
                 ID(one));
    }
}

TEST(a_writer_remarks_with_the_place)
{
    const espl_parallel_def def = {.function = write_flat};

    ck_ok(espl_write_parallel(t.world, &def, NULL));
    ck_assert_float_eq(test_local_of(t.world, one).scale, 0);
    ck_assert_float_eq(test_local_of(t.world, other).scale, 1);
}

// The remark comes where the mistake is: when the command is recorded, not when it is played.
TEST(what_is_created_or_recorded_without_scale_is_remarked_on)
{
    const espl_component_value value = {ESPL_TRANSFORM, sizeof flat, &flat};
    const espl_creation_def creation = {.values = &value, .value_count = 1};
    const espl_instance_def instance = {
        .source = one, .place = ESPL_PLACE_LOCAL, .transform = flat};

    REMARKED(espl_create_at(t.world, &creation, 1, NULL), "espl_create_at: %s", remark);
    REMARKED(espl_instantiate(t.world, &instance, 1, NULL), "espl_instantiate: source %s: %s",
             ID(one), remark);
    REMARKED(espl_add_component(t.world, one, ESPL_TRANSFORM, &flat, sizeof flat),
             "espl_add_component: entity %s: %s", ID(one), remark);
    espl_command_buffer *const commands = test_commands(t.world, 2);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 1);
    REMARKED(espl_record_write(recorder, 0, other, ESPL_WRITE_LOCAL_TRANSFORM, &flat),
             "espl_record_write: lane 1, entity %s: %s", ID(other), remark);
    REMARKED(espl_record_create(recorder, 0, &creation, 1, NULL), "espl_record_create: lane 1: %s",
             remark);
    REMARKED(espl_record_instantiate(recorder, 0, &instance, 1, NULL),
             "espl_record_instantiate: lane 1, source %s: %s", ID(one), remark);
    REMARKED(espl_record_add_component(recorder, 0, one, ESPL_TRANSFORM, &flat, sizeof flat),
             "espl_record_add_component: lane 1, entity %s: %s", ID(one), remark);
    // With the source's own transform the one of the definition is not read.
    ck_ok(espl_record_instantiate(recorder, 0, &(espl_instance_def){.source = one}, 1, NULL));
    ck_ok(espl_play(t.world, commands, NULL));
    told_demand_nothing(&t);
    ck_assert(is_flat(other));
    espl_command_buffer_destroy(commands);
}

// --- What is lost ---

TEST(commands_that_are_dropped_are_counted)
{
    espl_command_buffer *const commands = test_commands(t.world, 2);
    espl_command_buffer_reset(commands);
    told_demand_nothing(&t);
    for (uint32_t lane = 0; lane < 2; ++lane) {
        ck_ok(espl_record_destroy(espl_command_buffer_recorder(commands, lane), 0, one,
                                  ESPL_EXTENT_OWNED));
    }
    espl_command_buffer_reset(commands);
    told_demand(&t, ESPL_LOG_INFO,
                "espl_command_buffer_reset: 2 commands: Recorded and not played, so dropped; call "
                "espl_play(), or espl_command_buffer_submit() and espl_sync(), first.");
    ck_ok(
        espl_record_destroy(espl_command_buffer_recorder(commands, 0), 0, one, ESPL_EXTENT_OWNED));
    // One that stands in line is withdrawn.
    ck_ok(espl_command_buffer_submit(commands));
    espl_command_buffer_destroy(commands);
    told_demand(&t, ESPL_LOG_INFO,
                "espl_command_buffer_destroy: 1 command: Recorded and not played, so dropped; call "
                "espl_play(), or espl_command_buffer_submit() and espl_sync(), first.");
    ck_assert(espl_is_alive(t.world, one));
}

TEST(commands_that_were_played_are_not_dropped)
{
    espl_command_buffer *const commands = test_commands(t.world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_record_detach(recorder, 0, one, ESPL_KEEP_WORLD));
        ck_ok(espl_play(t.world, commands, NULL));
        if (i == 0) {
            espl_command_buffer_reset(commands);
        }
    }
    espl_command_buffer_destroy(commands);
    espl_command_buffer_destroy(NULL);
    told_demand_nothing(&t);
}

TEST(a_world_that_has_command_buffers_is_not_destroyed)
{
    espl_command_buffer *commands[2] = {NULL, NULL};

    ck_ok(espl_command_buffer_create(t.world, 1, &commands[0]));
    ck_ok(espl_command_buffer_create(t.world, 1, &commands[1]));
    espl_world_destroy(t.world);
    told_demand_trap(&t, "espl_world_destroy: 2 command buffers of the world still live; call "
                         "espl_command_buffer_destroy() for each, then destroy the world.");
    espl_command_buffer_destroy(commands[0]);
    espl_world_destroy(t.world);
    told_demand_trap(&t, "espl_world_destroy: 1 command buffer of the world still lives; call "
                         "espl_command_buffer_destroy() for each, then destroy the world.");
    ck_assert(espl_is_alive(t.world, one));
    espl_command_buffer_destroy(commands[1]);
}
