// SPDX-License-Identifier: MIT
// Attaching and destroying arrays of entities, and clearing a world: the result of single calls, or
// no change at all.
#include "tests/inside.h"
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 12 };

static void make_solos(espl_world *world, espl_entity *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = test_solo_at(world, (float)i, 1, 2);
    }
}

// --- Attach ---

enum { RULES = 5 };

FIXTURE(set_up, tear_down);

// Three attaches of which the last but one is refused: the world is as before, bit for bit.
TEST_LOOP(one_that_is_refused_refuses_all, 0, RULES)
{
    static const espl_status statuses[RULES] = {ESPL_ERR_DEAD, ESPL_ERR_DEAD, ESPL_ERR_CYCLE,
                                                ESPL_ERR_NOT_CHILD, ESPL_ERR_NO_TRANSFORM};
    const espl_entity dead = test_solo(w);
    espl_attach_options options = {.position = ESPL_KEEP_LOCAL};
    espl_entity e[8], bare;
    size_t refused = 99;

    make_solos(w, e, 8);
    ck_ok(espl_create(w, NULL, 0, 1, &bare));
    ck_ok(espl_attach(w, e[6], e[5], NULL));
    ck_ok(espl_destroy(w, dead, ESPL_EXTENT_OWNED));
    espl_entity children[3] = {e[0], e[2], e[4]}, parents[3] = {e[1], e[3], e[5]};

    if (_i == 0) {
        children[1] = dead;
    } else if (_i == 1) {
        parents[1] = dead;
    } else if (_i == 2) {
        children[1] = e[1]; // below which e[0] has come
        parents[1] = e[0];
    } else if (_i == 3) {
        options.before = e[6];
        parents[0] = e[5];
    } else {
        options.inherit = ESPL_ABSOLUTE_X;
        children[1] = bare;
    }
    const uint64_t before = test_physical_hash(w);

    ck_assert_int_eq(espl_attach_many(w, children, parents, 3, &options, &refused), statuses[_i]);
    ck_assert_uint_eq(refused, 1);
    ck_assert_uint_eq(test_physical_hash(w), before);
    test_world_is_valid(w);
    ck_assert_ptr_nonnull(strstr(test.hooks.last_line, espl_status_name(statuses[_i])));
    // Without the index it says the same.
    ck_assert_int_eq(espl_attach_many(w, children, parents, 3, &options, NULL), statuses[_i]);
}

TEST(options_out_of_range_and_nothing_to_attach_concern_no_entity)
{
    const espl_attach_options bad = {.link = (espl_link)7};
    espl_entity e[2];
    size_t refused = 99;

    make_solos(w, e, 2);
    const uint64_t before = test_physical_hash(w);
    ck_status(espl_attach_many(w, e, e + 1, 1, &bad, &refused), ESPL_ERR_ARGUMENT);
    ck_ok(espl_attach_many(w, e, e + 1, 0, NULL, &refused));
    ck_status(espl_attach_many(w, e, e + 1, SIZE_MAX, NULL, &refused), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(refused, 99);
    ck_assert_uint_eq(test_physical_hash(w), before);
}

TEST(a_remark_on_one_is_the_answer)
{
    const espl_entity e[4] = {test_solo(w), test_solo(w), test_solo(w), test_solo_at(w, 1, 2, 3)};
    const espl_entity children[2] = {e[2], e[3]}, parents[2] = {e[0], e[1]};

    ck_ok(espl_set_local_scale(w, e[1], 0));
    ck_status(espl_attach_many(w, children, parents, 2, NULL, NULL), ESPL_LOSSY);
    ck_ok(espl_set_local_scale(w, e[0], 3e38f));
    ck_status(espl_set_local_scale(w, e[2], 3e38f), ESPL_OVERFLOW);
    ck_ok(espl_detach(w, e[2], ESPL_KEEP_LOCAL));

    ck_status(espl_attach_many(w, children, parents, 2, &test_keep_local, NULL), ESPL_OVERFLOW);
    ck_assert_uint_gt(test_count_overflowed(w), 0);
}

TEST(an_executor_that_loses_a_job_changes_nothing)
{
    test_executor executor = {.manner = TEST_SKIPS_ONE, .workers = 2};
    const espl_executor lossy = test_executor_of(&executor);
    const uint32_t count = test_fitting(20000, 0);
    espl_entity *const e = calloc(count, sizeof *e), *const parents = calloc(count, sizeof *e);
    size_t refused = 99;
    test_world other;

    ck_assert(e != NULL && parents != NULL);
    test_world_begin(&other, 1, &lossy);
    test_solos(other.world, count, e);
    for (uint32_t i = 0; i < count; ++i) {
        parents[i] = e[i - i % 2];
    }
    for (uint32_t i = 0; i < count; i += 2) {
        parents[i / 2] = e[i];
        e[i / 2] = e[i + 1];
    }
    const uint64_t before = test_physical_hash(other.world);
    const espl_status status = espl_attach_many(other.world, e, parents, count / 2, NULL, &refused);

    // Where the world is small there is one job.
    ck_assert(status == ESPL_ERR_EXECUTOR || (status == ESPL_OK && executor.calls == 0));
    ck_assert(status == ESPL_OK || test_physical_hash(other.world) == before);
    ck_assert_uint_eq(refused, 99);
    other.hooks.traps = 0;
    test_world_end(&other);
    free(parents);
    free(e);
}

// --- Clear ---

static void fill(espl_world *world, espl_entity *out, uint32_t count)
{
    test_solos(world, count, out);
    for (uint32_t i = 1; i < count; ++i) {
        if (i % 10 != 0) {
            ck_status(espl_attach(world, out[i], out[i - i % 10 + (i % 10) / 2], NULL),
                      i % 10 == 0 ? ESPL_ERR_CYCLE : ESPL_OK);
        }
    }
}

TEST(a_cleared_world_has_no_entity_and_all_that_was_registered)
{
    const espl_component_def def = {.name = "word", .size = 4};
    const uint32_t count = test_fitting(500, 0) / 10 * 10;
    espl_entity *const e = test_array(count, sizeof *e);
    espl_component number = 0;
    uint32_t word = 7;

    ck_ok(espl_component_register(w, &def, &number));
    fill(w, e, count);
    ck_ok(espl_add_component(w, e[3], number, &word, sizeof word));
    ck_ok(espl_set_name(w, e[5], "name"));
    ck_ok(espl_world_clear(w));
    test_world_is_valid(w);
    const espl_world_stats stats = test_stats(w);

    ck_assert_uint_eq(stats.entities + stats.solos + stats.hierarchies + stats.members, 0);
    ck_assert_uint_eq(stats.names, 0);
    ck_assert_uint_eq(espl_component_find(w, "word"), number);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert(!espl_is_alive(w, e[i]));
        ck_assert_str_eq(espl_get_name(w, e[i]), "");
    }
    ck_status(espl_attach(w, e[1], e[0], NULL), ESPL_ERR_DEAD);
    // Twice, and empty.
    ck_ok(espl_world_clear(w));
    free(e);
}

// Rows are kept by component set: the same entities again take no memory.
TEST(a_cleared_world_is_filled_again_without_memory)
{
    const uint32_t count = test_fitting(500, 0);
    const espl_component placement = ESPL_TRANSFORM;

    ck_ok(espl_create(w, &placement, 1, count, NULL));
    const size_t bytes = test_stats(w).bytes;

    for (int round = 0; round < 3; ++round) {
        ck_ok(espl_world_clear(w));
        ck_assert_uint_eq(test_stats(w).bytes, bytes);
        test_heap_arm(&test.heap, 1, true);
        const espl_status status = espl_create(w, &placement, 1, count, NULL);

        test_heap_arm(&test.heap, 0, false);
        ck_status(status, test_moves_always() ? ESPL_ERR_NO_MEMORY : ESPL_OK);
    }
    // Compaction gives back what the clear kept.
    ck_ok(espl_world_clear(w));
    ck_ok(espl_compact(w));
    ck_assert_uint_lt(test_stats(w).bytes, bytes);
}

TEST(a_world_is_cleared_without_memory_also_of_deaths_that_were_put_off)
{
    espl_entity e[FEW];
    const espl_attach_options is_free = {.link = ESPL_LINK_FREE};

    make_solos(w, e, FEW);
    for (uint32_t i = 1; i < FEW; ++i) {
        ck_ok(espl_attach(w, e[i], e[0], &is_free));
    }
    ck_ok(espl_compact(w));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(w, e[0], ESPL_EXTENT_OWNED));
    test_world_is_valid(w);
    ck_ok(espl_world_clear(w));
    test_heap_arm(&test.heap, 0, false);
    test_world_is_valid(w);
    ck_assert_uint_eq(test_stats(w).entities, 0);
}

TEST(commands_outlive_a_clear_and_name_the_dead)
{
    const espl_entity source = test_solo(w);
    const espl_instance_def def = {.source = source};
    espl_entity made, out;
    espl_report report;

    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_creation_def creation = {.parent = espl_entity_null()};

    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, NULL));
    ck_ok(espl_record_create(recorder, 0, &creation, 1, &made));
    ck_ok(espl_command_buffer_submit(commands));
    ck_ok(espl_world_clear(w));
    ck_ok(espl_sync(w, &report));
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 1);
    ck_assert_uint_eq(report.applied, 1);
    ck_ok(espl_command_buffer_resolve(commands, made, &out));
    ck_assert(espl_is_alive(w, out));
    espl_command_buffer_destroy(commands);
}
