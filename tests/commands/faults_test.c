// SPDX-License-Identifier: MIT
// Faults that this library had itself, each with the test that failed before its mend.
#include "tests/runner.h"
#include "tests/support.h"

#include "tests/checks.h"
#include "tests/inside.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static espl_transform scaled(float scale)
{
    espl_transform transform = espl_transform_identity();

    transform.scale = scale;
    return transform;
}

static espl_command_buffer *commands_of(espl_world *world)
{
    espl_command_buffer *commands = NULL;

    ck_assert_int_eq(espl_command_buffer_create(world, 1, &commands), ESPL_OK);
    return commands;
}

// One by one the first of these made a world overflow, and the last did not.
START_TEST(an_overflow_that_a_later_command_takes_away_is_done)
{
    test_world test;
    test_world_begin(&test, 0, NULL);
    const espl_entity root = test_solo(test.world), child = test_solo(test.world);
    const espl_transform large = scaled(1e30f), small = scaled(1e-30f);
    espl_command_buffer *const commands = commands_of(test.world);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_report report;

    ck_assert_int_eq(espl_attach(test.world, child, root, NULL), ESPL_OK);
    ck_assert_int_eq(espl_set_local_transform(test.world, child, &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local_transform(recorder, 0, root, &large), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local_transform(recorder, 0, child, &small), ESPL_OK);
    ck_assert_int_eq(espl_record_set_local_transform(recorder, 0, root, &large), ESPL_OK);

    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    for (uint32_t i = 0; i < 3; ++i) {
        ck_assert_int_eq(espl_command_buffer_result(commands, 0, i), ESPL_OK);
    }
    ck_assert_float_eq(test_local_of(test.world, root).scale, 1e30f);
    ck_assert_float_eq(test_world_of(test.world, child).scale, 1e30f * 1e-30f);
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);

    // One that stays is counted.
    espl_command_buffer_reset(commands);
    ck_assert_int_eq(espl_record_set_local_transform(recorder, 0, child, &large), ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(commands, 0, 0), ESPL_OK);
    ck_assert_uint_ge(report.overflowed, 1);
    ck_assert_uint_eq(test_count_overflowed(test.world), 1);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

START_TEST(an_overflow_in_a_clone_that_is_destroyed_again_leaves_nothing)
{
    test_world test;
    test_world_begin(&test, 0, NULL);
    const espl_entity prefab = test_solo(test.world), child = test_solo(test.world);
    const espl_entity parent = test_solo(test.world);
    const espl_transform large = scaled(1e30f), identity = espl_transform_identity();
    const espl_attach_options keep = {
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
    espl_command_buffer *const commands = commands_of(test.world);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_entity clone;

    ck_assert_int_eq(espl_set_local_transform(test.world, child, &large), ESPL_OK);
    ck_assert_int_eq(espl_set_local_transform(test.world, parent, &large), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, child, prefab, &keep), ESPL_OK);
    const espl_instance_def def = {
        .source = prefab, .parent = parent, .place = ESPL_PLACE_LOCAL, .transform = identity};
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, &clone), ESPL_OK);
    ck_assert_int_eq(espl_record_destroy(recorder, 0, clone, ESPL_EXTENT_OWNED), ESPL_OK);

    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(commands, 0, 0), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_result(commands, 0, 1), ESPL_OK);
    ck_assert_uint_eq(espl_count_children(test.world, parent), 0);
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);

    // Without the destroy it is there.
    espl_command_buffer_reset(commands);
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, &clone), ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_resolve(commands, clone, &clone), ESPL_OK);
    const espl_entity below = espl_get_first_child(test.world, clone);
    ck_assert_uint_eq(test_count_overflowed(test.world), 1);
    ck_assert_int_eq(espl_set_local_scale(test.world, parent, 1), ESPL_OK);
    ck_assert_float_eq(test_world_of(test.world, below).scale, 1e30f);
    ck_assert_uint_eq(test_count_overflowed(test.world), 0);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

START_TEST(pending_handles_of_another_world_are_foreign)
{
    test_world test, other;
    test_world_begin(&test, 0, NULL);
    test_world_begin(&other, 0, NULL);
    const espl_entity source = test_solo(test.world), target = test_solo(other.world);
    espl_command_buffer *const commands = commands_of(test.world);
    espl_command_buffer *const others = commands_of(other.world);
    const espl_instance_def def = {.source = source}, their = {.source = target};
    espl_entity pending, theirs;

    ck_assert_int_eq(
        espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, 1, &pending),
        ESPL_OK);
    ck_assert_int_eq(
        espl_record_instantiate(espl_command_buffer_recorder(others, 0), 0, &their, 1, &theirs),
        ESPL_OK);
    ck_assert_int_eq(
        espl_record_destroy(espl_command_buffer_recorder(others, 0), 0, pending, ESPL_EXTENT_OWNED),
        ESPL_ERR_FOREIGN);
    espl_command_buffer_destroy(commands);
    espl_command_buffer_destroy(others);
    test_world_end(&test);
    test_world_end(&other);
}
END_TEST

START_TEST(a_clone_with_too_many_components_is_refused_alone)
{
    test_world test;
    test_world_begin(&test, 0, NULL);
    const espl_entity source = test_solo(test.world);
    espl_command_buffer *const commands = commands_of(test.world);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_component_value values[ESPL_SET_LIMIT] = {{0}};
    espl_instance_def def = {.source = source, .values = values, .value_count = ESPL_SET_LIMIT};
    espl_report report;
    espl_entity full;

    for (uint32_t i = 0; i < ESPL_SET_LIMIT; ++i) {
        char name[16];
        snprintf(name, sizeof name, "tag %u", (unsigned)i);
        const espl_component_def tag = {.name = name};
        ck_assert_int_eq(espl_component_register(test.world, &tag, &values[i].component), ESPL_OK);
    }
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, NULL), ESPL_OK);
    def.value_count = ESPL_SET_LIMIT - 2; // the placement and the role take two
    ck_assert_int_eq(espl_record_instantiate(recorder, 0, &def, 1, &full), ESPL_OK);

    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    ck_assert_uint_eq(report.applied, 1);
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_LIMIT], 1);
    ck_assert_int_eq(espl_command_buffer_resolve(commands, full, &full), ESPL_OK);
    ck_assert(espl_has_component(test.world, full, values[ESPL_SET_LIMIT - 3].component));
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

START_TEST(a_world_is_not_destroyed_under_its_commands)
{
    test_world test;
    test_world_begin(&test, 0, NULL);
    espl_command_buffer *const commands = commands_of(test.world);

    espl_world_destroy(test.world); // a fault: heard by the trap in checked builds, refused in all
    ck_assert_uint_eq(test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    test_world_is_valid(test.world);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

START_TEST(members_of_a_large_star_are_destroyed_one_by_one)
{
    enum { MEMBERS = 100000 };
    test_world test;
    test_world_begin(&test, 0, NULL);
    const uint32_t count = test_fitting(test_scaled(MEMBERS), 1);
    const espl_entity root = test_solo(test.world);
    espl_command_buffer *const commands = commands_of(test.world);
    const espl_instance_def def = {.source = root, .parent = root};
    espl_entity *const pending = malloc(count * sizeof *pending);

    ck_assert_ptr_nonnull(pending);
    ck_assert_int_eq(
        espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &def, count, pending),
        ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    for (uint32_t i = 0; i < count; ++i) {
        espl_entity member;

        ck_assert_int_eq(espl_command_buffer_resolve(commands, pending[i], &member), ESPL_OK);
        ck_assert_int_eq(espl_destroy(test.world, member, ESPL_EXTENT_OWNED), ESPL_OK);
    }
    ck_assert_int_eq(espl_get_role(test.world, root), ESPL_ROLE_SOLO);
    free(pending);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
END_TEST

typedef struct recording {
    espl_command_buffer *commands;
    espl_entity source;
    bool is_refused;
} recording;

static void *record_many(void *argument)
{
    recording *const r = argument;
    const espl_instance_def def = {.source = r->source};

    for (int i = 0; i < 20000; ++i) {
        r->is_refused |= espl_record_instantiate(espl_command_buffer_recorder(r->commands, 0), 0,
                                                 &def, 1, NULL) != ESPL_OK;
    }
    return NULL;
}

START_TEST(recording_goes_on_while_other_commands_are_played)
{
    enum { FRAMES = 50, CLONES = 20 };
    const uint32_t frames = test_fitting(FRAMES * CLONES, 1) / CLONES;
    test_world test;
    test_world_begin(&test, 0, NULL);
    const espl_entity source = test_solo(test.world);
    espl_command_buffer *const played = commands_of(test.world);
    recording r = {.commands = commands_of(test.world), .source = source};
    const espl_instance_def def = {.source = source};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, record_many, &r), 0);
    for (uint32_t frame = 0; frame < frames; ++frame) {
        ck_assert_int_eq(
            espl_record_instantiate(espl_command_buffer_recorder(played, 0), 0, &def, CLONES, NULL),
            ESPL_OK);
        ck_assert_int_eq(espl_play(test.world, played, NULL), ESPL_OK);
        espl_command_buffer_reset(played);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(!r.is_refused);
    espl_command_buffer_destroy(played);
    espl_command_buffer_destroy(r.commands);
    test_world_end(&test);
}
END_TEST

// Behaves at first, and from one parallel range on loses the last job of each.
typedef struct tiring {
    size_t calls, good;
} tiring;

static void run_tiring(void *context, espl_job function, void *argument, size_t count)
{
    tiring *const t = context;
    const size_t done = ++t->calls > t->good ? count - 1 : count;

    for (size_t i = 0; i < done; ++i) {
        function(argument, i);
    }
}

START_TEST(an_executor_that_tires_changes_nothing_or_the_change_is_completed)
{
    enum { SOLOS = 400 };
    const size_t solos = test_fitting(SOLOS, 0);
    size_t refused = 0, completed = 0;

    for (size_t good = 0; good < 64; ++good) {
        tiring t = {.good = SIZE_MAX};
        const espl_executor executor = {&t, 4, run_tiring};
        const espl_component placement = ESPL_TRANSFORM;
        const espl_transform moved = test_at(1, 2, 3);
        test_world test;
        espl_entity solo[SOLOS];
        test_world_begin(&test, 0, &executor);
        test_cut_jobs(test.world, 512);
        espl_command_buffer *const commands = commands_of(test.world);

        ck_assert_int_eq(espl_create(test.world, &placement, 1, solos, solo), ESPL_OK);
        for (size_t i = 0; i < solos; ++i) {
            ck_assert_int_eq(espl_record_set_local_transform(
                                 espl_command_buffer_recorder(commands, 0), 0, solo[i], &moved),
                             ESPL_OK);
        }
        const uint64_t before = test_physical_hash(test.world);
        t = (tiring){.good = good};
        const espl_status status = espl_play(test.world, commands, NULL);
        const bool was_tired = t.calls > t.good;

        test_world_is_valid(test.world);
        if (status == ESPL_ERR_EXECUTOR) {
            ck_assert(was_tired && test_physical_hash(test.world) == before);
            refused += 1;
        } else {
            ck_assert_int_eq(status, ESPL_OK);
            for (size_t i = 0; i < solos; ++i) {
                const espl_transform local = test_local_of(test.world, solo[i]);
                ck_assert(test_same(&local, &moved));
            }
            completed += was_tired;
        }
        espl_command_buffer_destroy(commands);
        test_world_end(&test);
    }
    // So few entities are one job, and its range is run without the executor.
    ck_assert(solos < SOLOS || (refused > 0 && completed > 0));
}
END_TEST

// Members of a star go and new ones come, while it is cut between workers of whom a job is lost
// behind so many parallel ranges. @return the hash of what is left; 0: refused, nothing changed.
static uint64_t play_giant(size_t good, bool *was_tired)
{
    enum { LEAVES = 300 };
    const uint32_t leaves = test_fitting(LEAVES, 4);
    tiring t = {.good = SIZE_MAX};
    const espl_executor executor = {&t, 4, run_tiring};
    espl_entity leaf[LEAVES];
    test_world test;
    test_world_begin(&test, 5, &executor);
    espl_command_buffer *const commands = commands_of(test.world);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_entity root = test_solo(test.world);
    const espl_creation_def def = {.parent = root};

    test_cut_jobs(test.world, 4);
    for (uint32_t i = 0; i < leaves; ++i) {
        leaf[i] = test_solo(test.world);
        ck_assert_int_eq(espl_attach(test.world, leaf[i], root, NULL), ESPL_OK);
    }
    ck_assert_int_eq(espl_record_destroy(recorder, 0, leaf[1], ESPL_EXTENT_OWNED), ESPL_OK);
    ck_assert_int_eq(espl_record_attach(recorder, 0, leaf[5], leaf[2], NULL), ESPL_OK);
    ck_assert_int_eq(espl_record_create(recorder, 0, &def, 3, NULL), ESPL_OK);
    const uint64_t before = test_physical_hash(test.world);
    t = (tiring){.good = good};
    const espl_status status = espl_play(test.world, commands, NULL);
    *was_tired = t.calls > t.good;
    const uint64_t hash = test_physical_hash(test.world);

    test_world_is_valid(test.world);
    ck_assert(status == ESPL_OK || (status == ESPL_ERR_EXECUTOR && *was_tired && hash == before));
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    return status == ESPL_OK ? hash : 0;
}

START_TEST(an_executor_that_tires_over_a_giant_loses_nothing_of_it)
{
    bool was_tired = false;
    const uint64_t whole = play_giant(SIZE_MAX, &was_tired);
    size_t completed = 0, good = 0;

    ck_assert(whole != 0 && !was_tired);
    for (was_tired = true; was_tired; ++good) {
        const uint64_t hash = play_giant(good, &was_tired);

        ck_assert(hash == 0 || hash == whole);
        completed += hash != 0 && was_tired;
    }
    // Some step comes when the change is under way.
    ck_assert_uint_ge(completed, 1);
}
END_TEST

static Suite *faults_suite(void)
{
    Suite *const suite = suite_create("faults of our own");
    TCase *const tcase = tcase_create("mended");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, an_overflow_that_a_later_command_takes_away_is_done);
    tcase_add_test(tcase, an_overflow_in_a_clone_that_is_destroyed_again_leaves_nothing);
    tcase_add_test(tcase, pending_handles_of_another_world_are_foreign);
    tcase_add_test(tcase, a_clone_with_too_many_components_is_refused_alone);
    tcase_add_test(tcase, a_world_is_not_destroyed_under_its_commands);
    tcase_add_test(tcase, members_of_a_large_star_are_destroyed_one_by_one);
    tcase_add_test(tcase, recording_goes_on_while_other_commands_are_played);
    tcase_add_test(tcase, an_executor_that_tires_changes_nothing_or_the_change_is_completed);
    tcase_add_test(tcase, an_executor_that_tires_over_a_giant_loses_nothing_of_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUN_SUITE(faults_suite)
