// SPDX-License-Identifier: MIT
// Custom commands that are unregistered: their payloads are refused and counted, their numbers are
// never given again, and the functions of the others are called as before.
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/one_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What was heard: numbers of callbacks in the order of the calls, and their payloads.
typedef struct heard {
    uint32_t visits[512];
    size_t visit_count, payloads;
} heard;

typedef struct ear {
    heard *all;
    uint32_t number; // its own
} ear;

static void hear(void *user, const espl_custom_calls *calls)
{
    const ear *const own = user;

    own->all->visits[own->all->visit_count++] = own->number;
    own->all->payloads += calls->count;
    for (size_t i = 0; i < calls->count; ++i) {
        uint32_t number = 0;

        memcpy(&number, calls->payloads[i].data, sizeof number);
        ck_assert_uint_eq(number, own->number);
    }
}

static espl_custom_command register_ear(ear *e, heard *all)
{
    const espl_custom_command_def def = {.name = "ear", .user = e, .function = hear};

    e->all = all;
    ck_ok(espl_command_register(w, &def, &e->number));
    return e->number;
}

static void record(espl_command_buffer *commands, uint32_t lane, uint32_t key, uint32_t number)
{
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, lane), key, number, &number,
                             sizeof number, 4));
}

static espl_command_buffer *make_commands(uint32_t lanes)
{
    espl_command_buffer *const commands = test_commands(w, lanes);
    return commands;
}

FIXTURE(set_up, tear_down);

TEST(payloads_of_a_callback_that_is_gone_are_refused_and_counted)
{
    espl_command_buffer *const commands = make_commands(2);
    heard all = {.payloads = 0};
    espl_report report;
    ear e[3];

    for (int i = 0; i < 3; ++i) {
        ck_assert_uint_eq(register_ear(&e[i], &all), (uint32_t)i + 1);
    }
    const espl_entity solo = test_solo(w);

    record(commands, 0, 5, 2); // the second of them in playback order
    record(commands, 0, 0, 1);
    record(commands, 1, 1, 2); // the first
    record(commands, 1, 0, 3);
    ck_ok(
        espl_record_destroy(espl_command_buffer_recorder(commands, 1), 0, solo, ESPL_EXTENT_OWNED));
    ck_ok(espl_command_unregister(w, 2));
    record(commands, 1, 9, 2); // recorded behind it
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.accepted, 6);
    ck_assert_uint_eq(report.applied, 3);
    ck_assert_uint_eq(report.refused, 3);
    ck_assert_uint_eq(report.calls, 2);
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 3);
    ck_assert_uint_eq(report.first_refused[-ESPL_ERR_DEAD].lane, 1);
    ck_assert_uint_eq(report.first_refused[-ESPL_ERR_DEAD].index, 0);
    ck_status(espl_command_buffer_result(commands, 0, 0), ESPL_ERR_DEAD);
    ck_ok(espl_command_buffer_result(commands, 0, 1));
    ck_status(espl_command_buffer_result(commands, 1, 0), ESPL_ERR_DEAD);
    ck_status(espl_command_buffer_result(commands, 1, 3), ESPL_ERR_DEAD);
    ck_assert_uint_eq(all.visit_count, 2);
    ck_assert(all.visits[0] == 1 && all.visits[1] == 3);
    ck_assert(!espl_is_alive(w, solo));
    test_world_is_valid(w);
    espl_command_buffer_destroy(commands);
}

// Other commands are refused for the dead too: the first of both kinds is told.
TEST(the_first_that_is_refused_is_told_among_other_commands_for_the_dead)
{
    const espl_entity dead = test_solo(w);
    heard all = {.payloads = 0};
    ear e;

    ck_ok(espl_destroy(w, dead, ESPL_EXTENT_OWNED));
    (void)register_ear(&e, &all);
    ck_ok(espl_command_unregister(w, e.number));
    // The destroy has key 2 in lane 1, as its third command there.
    static const struct {
        uint32_t key, lane, before;
        bool is_first;
    } ways[] = {{1, 2, 0, true},  {3, 0, 0, false}, {2, 0, 0, true},
                {2, 2, 0, false}, {2, 1, 2, true},  {2, 1, 3, false}};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        espl_command_buffer *const commands = make_commands(3);
        espl_recorder *const recorder = espl_command_buffer_recorder(commands, 1);
        const bool comes_before = ways[i].lane != 1 || ways[i].before < 3;
        espl_report report;

        for (int k = 0; k < 2; ++k) {
            ck_ok(espl_record_detach(recorder, 9, test_solo(w), ESPL_KEEP_WORLD));
        }
        if (comes_before) {
            record(commands, ways[i].lane, ways[i].key, e.number);
        }
        ck_ok(espl_record_destroy(recorder, 2, dead, ESPL_EXTENT_OWNED));
        if (!comes_before) {
            record(commands, ways[i].lane, ways[i].key, e.number);
        }
        ck_ok(espl_play(w, commands, &report));
        ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 2);
        const espl_command_place *const first = &report.first_refused[-ESPL_ERR_DEAD];
        const uint32_t own = ways[i].lane == 1 ? (comes_before ? 2 : 3) : 0;
        const uint32_t other = ways[i].lane == 1 && comes_before ? 3 : 2;

        ck_assert_uint_eq(first->lane, ways[i].is_first ? ways[i].lane : 1);
        ck_assert_uint_eq(first->index, ways[i].is_first ? own : other);
        espl_command_buffer_destroy(commands);
    }
}

TEST(a_playback_may_have_nothing_but_payloads_that_are_refused)
{
    espl_command_buffer *const commands = make_commands(1);
    heard all = {.payloads = 0};
    espl_report report;
    ear e;

    record(commands, 0, 0, register_ear(&e, &all));
    ck_ok(espl_command_unregister(w, e.number));
    ck_ok(espl_command_buffer_submit(commands));
    ck_ok(espl_sync(w, &report));
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 1);
    ck_assert_uint_eq(report.calls + all.visit_count, 0);
    espl_command_buffer_destroy(commands);
}

TEST(a_number_is_never_given_again)
{
    heard all = {.payloads = 0};
    const size_t bytes = test_stats(w).bytes;
    ear e;

    for (uint32_t i = 1; i <= 2000; ++i) {
        ck_assert_uint_eq(register_ear(&e, &all), i);
        ck_ok(espl_command_unregister(w, i));
        ck_status(espl_command_unregister(w, i), ESPL_ERR_ARGUMENT);
    }
    // The register keeps its room, and nothing else.
    ck_assert_uint_lt(test_stats(w).bytes - bytes, 4096);
}

TEST(numbers_that_no_callback_has_are_refused)
{
    espl_command_buffer *const commands = make_commands(1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    heard all = {.payloads = 0};
    ear e;

    (void)register_ear(&e, &all);
    ck_status(espl_command_unregister(w, 0), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_unregister(w, 2), ESPL_ERR_ARGUMENT);
    ck_status(espl_command_unregister(w, UINT32_MAX), ESPL_ERR_ARGUMENT);
    ck_assert_str_eq(
        test.hooks.last_line,
        "espl_command_unregister: ESPL_ERR_ARGUMENT: The world has no custom command of "
        "that number, or it was unregistered already.");
    ck_status(espl_record_custom(recorder, 0, 2, NULL, 0, 0), ESPL_ERR_ARGUMENT);
    ck_ok(espl_command_unregister(w, 1));
    // One that was given once may still be recorded.
    ck_ok(espl_record_custom(recorder, 0, 1, NULL, 0, 0));
    ck_status(espl_record_custom(recorder, 0, 2, NULL, 0, 0), ESPL_ERR_ARGUMENT);
    espl_command_buffer_destroy(commands);
}

TEST(as_many_as_the_limit_are_registered_at_once)
{
    static ear ears[ESPL_CUSTOM_COMMAND_LIMIT + 1];
    heard all = {.payloads = 0};
    const espl_custom_command_def def = {.name = "one too many", .function = hear};
    espl_command_buffer *const commands = make_commands(1);
    espl_custom_command number = 77;
    espl_report report;

    for (uint32_t i = 0; i < ESPL_CUSTOM_COMMAND_LIMIT; ++i) {
        (void)register_ear(&ears[i], &all);
    }
    ck_status(espl_command_register(w, &def, &number), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(number, 77);
    ck_ok(espl_command_unregister(w, 100));
    ck_assert_uint_eq(register_ear(&ears[ESPL_CUSTOM_COMMAND_LIMIT], &all),
                      ESPL_CUSTOM_COMMAND_LIMIT + 1);
    for (uint32_t number_at = ESPL_CUSTOM_COMMAND_LIMIT + 1; number_at > 0; --number_at) {
        record(commands, 0, 0, number_at);
    }
    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.calls, ESPL_CUSTOM_COMMAND_LIMIT);
    // In order of registration.
    ck_assert_uint_eq(all.visit_count, ESPL_CUSTOM_COMMAND_LIMIT);
    for (size_t i = 0; i < all.visit_count; ++i) {
        ck_assert_uint_eq(all.visits[i], i + 1 + (i >= 99));
    }
    espl_command_buffer_destroy(commands);
}

static void unregister_itself(void *user, const espl_custom_calls *calls)
{
    const espl_custom_command *const number = user;

    ck_status(espl_command_unregister(calls->world, *number), ESPL_ERR_BUSY);
}

TEST(a_callback_cannot_be_unregistered_while_one_is_called)
{
    espl_command_buffer *const commands = make_commands(1);
    espl_custom_command number = 0;
    const espl_custom_command_def def = {
        .name = "itself", .user = &number, .function = unregister_itself};

    ck_ok(espl_command_register(w, &def, &number));
    record(commands, 0, 0, number);
    ck_ok(espl_play(w, commands, NULL));
    ck_ok(espl_command_unregister(w, number));
    espl_command_buffer_destroy(commands);
}

// Beside a list of who is registered.
TEST_LOOP(random_registers_hand_over_what_they_should, 0, 6)
{
    enum { EARS = 400, ROUNDS = 60 };
    ear *const ears = test_array(EARS, sizeof *ears);
    espl_command_buffer *const commands = make_commands(3);
    bool is_there[EARS + 1] = {false};
    uint64_t random = (uint64_t)_i + 1;
    uint32_t last = 0;

    for (int round = 0; round < ROUNDS; ++round) {
        size_t expected = 0, recorded = test_below(&random, 40);
        heard all = {.payloads = 0};
        uint32_t numbers[40];
        espl_report report;

        for (int i = 0; i < 6 && last < EARS; ++i) {
            last = register_ear(&ears[last], &all);
            is_there[last] = true;
        }
        for (size_t i = 0; i < recorded; ++i) {
            numbers[i] = 1 + test_below(&random, last);
            record(commands, test_below(&random, 3), test_below(&random, 4), numbers[i]);
        }
        for (int i = 0; i < 5; ++i) {
            const uint32_t number = 1 + test_below(&random, last);

            ck_status(espl_command_unregister(w, number),
                      is_there[number] ? ESPL_OK : ESPL_ERR_ARGUMENT);
            is_there[number] = false;
        }
        for (size_t i = 0; i < recorded; ++i) {
            expected += is_there[numbers[i]];
        }
        for (uint32_t i = 0; i < last; ++i) {
            ears[i].all = &all;
        }
        ck_ok(espl_play(w, commands, &report));
        ck_assert_uint_eq(report.calls, expected);
        ck_assert_uint_eq(all.payloads, expected);
        ck_assert_uint_eq(report.refused, recorded - expected);
        for (size_t i = 1; i < all.visit_count; ++i) {
            ck_assert_uint_lt(all.visits[i - 1], all.visits[i]);
        }
        espl_command_buffer_reset(commands);
    }
    espl_command_buffer_destroy(commands);
    free(ears);
}

// A number that was given once names nothing later, so that a world which has given all gives none.
TEST(a_world_that_has_given_all_numbers_registers_no_more_custom_commands)
{
    const espl_custom_command_def def = {.name = "late", .user = NULL, .function = hear};
    espl_custom_command out = 0;

    test_wear_commands(w, 2);
    ck_ok(espl_command_register(w, &def, &out));
    ck_assert_uint_eq(out, UINT32_MAX - 1);
    ck_ok(espl_command_unregister(w, out));
    ck_ok(espl_command_register(w, &def, &out));
    ck_assert_uint_eq(out, UINT32_MAX);
    ck_ok(espl_command_unregister(w, out));
    for (int i = 0; i < 2; ++i) {
        ck_status(espl_command_register(w, &def, &out), ESPL_ERR_LIMIT);
        ck_assert_uint_eq(out, UINT32_MAX);
    }
    ck_status(espl_command_unregister(w, UINT32_MAX), ESPL_ERR_ARGUMENT);
}
