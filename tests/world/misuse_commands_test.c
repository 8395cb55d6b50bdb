// SPDX-License-Identifier: MIT
// Recording, playing and executors that are refused: each answer is a status, and nothing changes.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "tests/asked.h"
#include "tests/one_misuse.h"

FIXTURE(set_up, tear_down);

TEST(recording_is_checked)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(s.commands, 1);
    espl_command_buffer *other = NULL;
    espl_entity alien;
    const uint32_t number = 1;
    const espl_component_value short_value = {s.number, 3, &number}, unknown = {600, 4, &number},
                               role = {ESPL_ROOT, 0, NULL};
    espl_instance_def def = {.source = s.solo};

    ck_status(espl_command_buffer_create(s.world, 0, &other), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_buffer_create(s.world, ESPL_LANE_LIMIT + 1, &other), ESPL_ERR_LIMIT);
    ck_ok(espl_command_buffer_create(s.world, ESPL_LANE_LIMIT, &other));
    ck_assert_ptr_null(espl_command_buffer_recorder(other, ESPL_LANE_LIMIT));
    ck_assert_ptr_null(espl_command_buffer_recorder(s.commands, 2));
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(other, 255), 0, &def, 1, &alien));

    ck_status(espl_record_destroy(recorder, 0, espl_entity_null(), ESPL_EXTENT_OWNED),
              ESPL_ERR_NULL_ENTITY);
    ck_status(espl_record_destroy(recorder, 0, alien, ESPL_EXTENT_OWNED), ESPL_ERR_FOREIGN);
    ck_status(espl_record_destroy(recorder, 0, alien, ESPL_EXTENT_ENTITY), ESPL_ERR_FOREIGN);
    ck_status(espl_record_destroy(recorder, 0, alien, ESPL_EXTENT_SUBTREE), ESPL_ERR_FOREIGN);
    ck_status(espl_record_attach(recorder, 0, alien, s.solo, NULL), ESPL_ERR_FOREIGN);
    ck_status(espl_record_attach(recorder, 0, s.solo, alien, NULL), ESPL_ERR_FOREIGN);
    ck_status(espl_record_attach(recorder, 0, s.solo, espl_entity_null(), NULL),
              ESPL_ERR_NULL_ENTITY);
    ck_status(espl_record_detach(recorder, 0, alien, ESPL_KEEP_WORLD), ESPL_ERR_FOREIGN);

    def.values = &short_value;
    def.value_count = 1;
    ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.values = &unknown;
    ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.values = &role;
    ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_ARGUMENT);
    def.value_count = ESPL_SET_LIMIT + 1;
    ck_status(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_ERR_LIMIT);
    def.value_count = 0;
    ck_ok(espl_record_instantiate(recorder, 0, &def, 0, NULL));
    ck_status(espl_record_instantiate(recorder, 0, &def, (size_t)ESPL_PENDING_LIMIT + 1, NULL),
              ESPL_ERR_LIMIT);
    ck_assert_uint_eq(espl_command_buffer_count(s.commands), 1);
    espl_command_buffer_destroy(other);
}

TEST(playing_is_checked)
{
    espl_report report;
    espl_entity out = s.solo;

    ck_status(espl_command_buffer_result(s.commands, 0, 0), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_buffer_resolve(s.commands, s.pending, &out), ESPL_ERR_PENDING);
    ck_status(espl_play(s.elsewhere.world, s.commands, &report), ESPL_ERR_FOREIGN);
    ck_assert_uint_eq(report.accepted, 0);
    ck_ok(espl_play(s.world, s.commands, &report));
    ck_assert_uint_eq(report.accepted, 1);
    ck_status(espl_play(s.world, s.commands, &report), ESPL_ERR_PLAYED);
    ck_assert_uint_eq(report.accepted, 0);
    ck_status(espl_command_buffer_submit(s.commands), ESPL_ERR_PLAYED);
    ck_status(espl_record_destroy(espl_command_buffer_recorder(s.commands, 0), 0, s.solo,
                                  ESPL_EXTENT_OWNED),
              ESPL_ERR_PLAYED);
    ck_ok(espl_command_buffer_result(s.commands, 0, 0));
    ck_status(espl_command_buffer_result(s.commands, 0, 1), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_buffer_result(s.commands, 2, 0), ESPL_ERR_ARGUMENT);

    ck_status(espl_command_buffer_resolve(s.commands, espl_entity_null(), &out),
              ESPL_ERR_NULL_ENTITY);
    ck_status(espl_command_buffer_resolve(s.commands, s.root, &out), ESPL_ERR_ARGUMENT);
    ck_assert(espl_entity_equal(out, s.solo));
    ck_ok(espl_command_buffer_resolve(s.commands, s.pending, &out));
    ck_assert(espl_is_alive(s.world, out));

    espl_command_buffer_reset(s.commands);
    ck_status(espl_command_buffer_resolve(s.commands, s.pending, &out), ESPL_ERR_FOREIGN);
    ck_status(espl_record_destroy(espl_command_buffer_recorder(s.commands, 0), 0, s.pending,
                                  ESPL_EXTENT_OWNED),
              ESPL_ERR_FOREIGN);
    ck_ok(espl_play(s.world, s.commands, &report));
    ck_assert_uint_eq(report.accepted, 0);
}

TEST(commands_that_were_played_take_none_of_any_kind)
{
    espl_recorder *const r = espl_command_buffer_recorder(s.commands, 0);
    const espl_transform value = test_at(1, 0, 0);
    const espl_write write = {.entity = s.solo, .kind = ESPL_WRITE_LOCAL_TRANSFORM};
    const espl_instance_def def = {.source = s.solo};

    ck_ok(espl_play(s.world, s.commands, NULL));
    const espl_status answers[] = {
        espl_record_destroy(r, 0, s.solo, ESPL_EXTENT_OWNED),
        espl_record_destroy(r, 0, s.solo, ESPL_EXTENT_SUBTREE),
        espl_record_destroy(r, 0, s.solo, ESPL_EXTENT_ENTITY),
        espl_record_attach(r, 0, s.solo, s.root, NULL),
        espl_record_detach(r, 0, s.solo, ESPL_KEEP_WORLD),
        espl_record_move_before(r, 0, s.solo, espl_entity_null()),
        espl_record_write(r, 0, s.solo, ESPL_WRITE_LOCAL_TRANSFORM, &value),
        espl_record_write(r, 0, s.solo, ESPL_WRITE_WORLD_TRANSFORM, &value),
        espl_record_write(r, 0, write.entity, write.kind, &write.value),
        espl_record_write(r, 0, s.solo, ESPL_WRITE_LOCAL_SCALE, NULL),
        espl_record_set_inherit(r, 0, s.solo, 0),
        espl_record_instantiate(r, 0, &def, 1, NULL),
        espl_record_set_enabled(r, 0, s.solo, ESPL_EXTENT_ENTITY, true),
        espl_record_set_enabled(r, 0, s.solo, ESPL_EXTENT_ENTITY, false),
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
        ck_assert_msg(answers[i] == ESPL_ERR_PLAYED, "call %zu", i);
    }
}

TEST(an_object_is_submitted_once_and_played_in_line)
{
    espl_report report;
    const espl_transform first_value = test_at(1, 0, 0), second_value = test_at(2, 0, 0);

    espl_command_buffer *const second = test_commands(s.world, 1);
    ck_ok(espl_record_write(espl_command_buffer_recorder(s.commands, 1), 9, s.solo,
                            ESPL_WRITE_LOCAL_TRANSFORM, &first_value));
    ck_ok(espl_record_write(espl_command_buffer_recorder(second, 0), 0, s.solo,
                            ESPL_WRITE_LOCAL_TRANSFORM, &second_value));
    ck_ok(
        espl_record_destroy(espl_command_buffer_recorder(second, 0), 0, s.dead, ESPL_EXTENT_OWNED));
    ck_ok(espl_command_buffer_submit(s.commands));
    ck_status(espl_command_buffer_submit(s.commands), ESPL_ERR_ARGUMENT);
    ck_ok(espl_command_buffer_submit(second));
    ck_ok(espl_sync(s.world, &report));
    ck_assert_uint_eq(report.accepted, 4);
    ck_assert_uint_eq(report.applied, 3);
    ck_assert_uint_eq(report.refused, 1);
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 1);
    ck_assert_float_eq(test_world_of(s.world, s.solo).position[0], 2);
    ck_status(espl_command_buffer_submit(second), ESPL_ERR_PLAYED);
    ck_ok(espl_sync(s.world, &report));
    ck_assert_uint_eq(report.accepted, 0);
    espl_command_buffer_destroy(second);
}

// Enough commands for every stage to be cut into several jobs; clones, as many as there may be.
static void record_many(espl_command_buffer *commands, espl_entity source, size_t count)
{
    const espl_instance_def def = {.source = source};
    const espl_transform moved = test_at(1, 2, 3);
    const uint32_t clones = test_fitting(count, 1);

    for (size_t i = 0; i < count; ++i) {
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, (uint32_t)(i % 2));
        ck_ok(i < clones
                  ? espl_record_instantiate(recorder, 0, &def, 1, NULL)
                  : espl_record_write(recorder, 0, source, ESPL_WRITE_LOCAL_TRANSFORM, &moved));
    }
}

TEST(an_executor_that_miscounts_leaves_the_world_untouched)
{
    const test_manner manners[3] = {TEST_SKIPS_ONE, TEST_RUNS_TWICE, TEST_OUT_OF_RANGE};

    for (int i = 0; i < 3; ++i) {
        test_executor broken = {.manner = TEST_IN_ORDER, .workers = 2};
        const espl_executor executor = test_executor_of(&broken);
        espl_report report;
        test_world test;

        test_world_begin(&test, 7, &executor);
        const espl_entity source = test_solo(test.world);
        espl_command_buffer *const commands = test_commands(test.world, 2);
        record_many(commands, source, 20000);
        const uint64_t before = test_physical_hash(test.world);
        broken.manner = manners[i];
        ck_status(espl_play(test.world, commands, &report), ESPL_ERR_EXECUTOR);
        ck_assert_uint_eq(report.accepted, 0);
        ck_assert_uint_eq(test_physical_hash(test.world), before);
        test_world_is_valid(test.world);

        broken.manner = TEST_IN_ORDER;
        ck_ok(espl_play(test.world, commands, &report));
        ck_assert_uint_eq(report.applied, 20000);
        espl_command_buffer_destroy(commands);
        test_world_end(&test);
    }
}
