// SPDX-License-Identifier: MIT
// The trace hook: begin and end of each stage and custom command, and the times of the stages.
#include "tests/runner.h"
#include "tests/support.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { EVENT_LIMIT = 64 };

// What a profiler heard.
typedef struct profile {
    char events[EVENT_LIMIT][24]; // "+name" or "-name"
    size_t count;
    uint64_t now;
    int64_t step; // of the clock, each time it is read
    size_t clock_reads;
} profile;

static void trace(void *user, const char *name, espl_trace_edge edge)
{
    profile *const p = user;

    ck_assert_uint_lt(p->count, EVENT_LIMIT);
    snprintf(p->events[p->count++], sizeof p->events[0], "%c%s",
             edge == ESPL_TRACE_BEGIN ? '+' : '-', name);
}

static uint64_t read_clock(void *user)
{
    profile *const p = user;

    p->clock_reads += 1;
    p->now += (uint64_t)p->step;
    return p->now;
}

typedef struct watched {
    test_heap heap;
    profile profile;
    espl_world *world;
    espl_command_buffer *commands;
    espl_recorder *recorder;
    espl_custom_command callbacks[2];
    espl_entity one, other;
} watched;

static watched w;

static void idle(void *user, const espl_custom_calls *calls)
{
    (void)user;
    (void)calls;
}

static void watched_begin(bool traces, bool has_clock)
{
    espl_world_def def = {.hooks.user = &w.profile,
                          .hooks.trace = traces ? trace : NULL,
                          .hooks.clock = has_clock ? read_clock : NULL};
    espl_custom_command_def callback = {.name = "sparks", .function = idle};

    memset(&w, 0, sizeof w);
    test_heap_init(&w.heap);
    def.allocator = test_heap_allocator(&w.heap);
    w.profile.step = 1000;
    ck_ok(espl_world_create(&def, &w.world));
    ck_ok(espl_command_register(w.world, &callback, &w.callbacks[0]));
    callback.name = "sound";
    ck_ok(espl_command_register(w.world, &callback, &w.callbacks[1]));
    ck_ok(espl_command_buffer_create(w.world, 1, &w.commands));
    w.recorder = espl_command_buffer_recorder(w.commands, 0);
    w.one = test_solo(w.world);
    w.other = test_solo(w.world);
}

static void watched_end(void)
{
    espl_command_buffer_destroy(w.commands);
    test_world_is_valid(w.world);
    espl_world_destroy(w.world);
    ck_assert_uint_eq(w.heap.bytes + w.heap.faults, 0);
}

static void record_some(void)
{
    espl_command_buffer_reset(w.commands);
    ck_ok(espl_record_custom(w.recorder, 0, w.callbacks[1], NULL, 0, 0));
    ck_ok(espl_record_custom(w.recorder, 0, w.callbacks[0], NULL, 0, 0));
    ck_ok(espl_record_attach(w.recorder, 0, w.one, w.other, NULL));
    ck_ok(espl_record_detach(w.recorder, 0, w.one, ESPL_KEEP_WORLD));
}

// --- Traces ---

TEST(stages_have_names)
{
    static const char *const names[ESPL_STAGE_COUNT] = {"order",  "resolve", "group", "apply",
                                                        "change", "place",   "report"};

    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        ck_assert_str_eq(espl_stage_name((espl_stage)stage), names[stage]);
    }
    ck_assert_str_eq(espl_stage_name(ESPL_STAGE_COUNT), "unknown stage");
    ck_assert_str_eq(espl_stage_name((espl_stage)-1), "unknown stage");
}

TEST(begin_and_end_of_each_stage_and_callback_are_told)
{
    static const char *const expected[] = {
        "+playback", "+order",  "-order",  "+resolve", "-resolve", "+group",   "-group",
        "+apply",    "-apply",  "+change", "-change",  "+place",   "-place",   "+report",
        "+sparks",   "-sparks", "+sound",  "-sound",   "-report",  "-playback"};
    const size_t count = sizeof expected / sizeof *expected;

    watched_begin(true, true);
    for (int way = 0; way < 3; ++way) {
        espl_report report;

        record_some();
        w.profile.count = 0;
        if (way == 2) {
            ck_ok(espl_command_buffer_submit(w.commands));
            ck_ok(espl_sync(w.world, NULL));
        } else {
            ck_ok(espl_play(w.world, w.commands, way == 0 ? &report : NULL));
        }
        ck_assert_uint_eq(w.profile.count, count);
        for (size_t i = 0; i < count; ++i) {
            ck_assert_str_eq(w.profile.events[i], expected[i]);
        }
    }
    watched_end();
}

// Each end is that of what began last.
static void demand_pairs(const profile *p)
{
    const char *open[EVENT_LIMIT];
    size_t depth = 0;

    for (size_t i = 0; i < p->count; ++i) {
        if (p->events[i][0] == '+') {
            open[depth++] = p->events[i] + 1;
            continue;
        }
        ck_assert_uint_gt(depth, 0);
        ck_assert_str_eq(p->events[i] + 1, open[--depth]);
    }
    ck_assert_uint_eq(depth, 0);
}

TEST(begin_and_end_pair_up_where_memory_is_missing)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t points = 0;

    watched_begin(true, true);
    record_some();
    for (size_t n = 1; status != ESPL_OK; ++n) {
        espl_report report;
        const uint64_t none[ESPL_STAGE_COUNT] = {0};

        memset(&report, 0xA5, sizeof report);
        w.profile.count = 0;
        test_heap_arm(&w.heap, n, true);
        status = espl_play(w.world, w.commands, &report);
        test_heap_arm(&w.heap, 0, false);
        demand_pairs(&w.profile);
        ck_assert_uint_ge(w.profile.count, 4);
        ck_assert_str_eq(w.profile.events[0], "+playback");
        if (status != ESPL_OK) {
            ck_status(status, ESPL_ERR_NO_MEMORY);
            ck_assert(memcmp(report.stage_ns, none, sizeof none) == 0);
            points += 1;
        }
    }
    ck_assert_uint_ge(points, 3);
    watched_end();
}

TEST(what_plays_nothing_is_not_traced)
{
    watched_begin(true, true);
    // At once: no playback to whoever watches.
    ck_ok(espl_attach(w.world, w.one, w.other, NULL));
    ck_ok(espl_remove_component(w.world, w.one, ESPL_TRANSFORM));
    ck_ok(espl_instantiate(w.world, &(espl_instance_def){.source = w.other}, 2, NULL));
    ck_ok(espl_compact(w.world));
    ck_ok(espl_sync(w.world, NULL));
    ck_assert_uint_eq(w.profile.count + w.profile.clock_reads, 0);
    espl_command_buffer *const commands = test_commands(w.world, 1);
    ck_ok(espl_play(w.world, commands, NULL));
    const size_t count = w.profile.count;
    ck_status(espl_play(w.world, commands, NULL), ESPL_ERR_PLAYED);
    ck_assert_uint_eq(w.profile.count, count);
    espl_command_buffer_destroy(commands);
    watched_end();
}

// --- Timings ---

TEST(the_clock_is_read_where_a_report_is_asked_for)
{
    espl_report report;

    for (int traces = 0; traces < 2; ++traces) {
        watched_begin(traces != 0, true);
        record_some();
        ck_ok(espl_play(w.world, w.commands, NULL));
        ck_assert_uint_eq(w.profile.clock_reads, 0);
        record_some();
        ck_ok(espl_command_buffer_submit(w.commands));
        ck_ok(espl_sync(w.world, NULL));
        ck_assert_uint_eq(w.profile.clock_reads, 0);
        record_some();
        ck_ok(espl_play(w.world, w.commands, &report));
        ck_assert_uint_eq(w.profile.clock_reads, ESPL_STAGE_COUNT + 1);
        watched_end();
    }
}

TEST(the_time_of_each_stage_is_told)
{
    espl_report report;

    watched_begin(false, true);
    record_some();
    ck_ok(espl_play(w.world, w.commands, &report));
    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        ck_assert_uint_eq(report.stage_ns[stage], 1000);
    }
    watched_end();
}

TEST(a_clock_that_goes_backwards_counts_for_nothing)
{
    espl_report report;

    watched_begin(false, true);
    w.profile.now = 1u << 30;
    w.profile.step = -5;
    record_some();
    ck_ok(espl_play(w.world, w.commands, &report));
    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        ck_assert_uint_eq(report.stage_ns[stage], 0);
    }
    watched_end();
}

static uint64_t elapsed_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - begin->tv_sec) * UINT64_C(1000000000) +
           (uint64_t)(now.tv_nsec - begin->tv_nsec);
}

static void sleep_a_little(void *user, const espl_custom_calls *calls)
{
    struct timespec begin;

    (void)user;
    (void)calls;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (elapsed_since(&begin) < 3000000) {
    }
}

// The callbacks belong to the last stage.
TEST(without_a_clock_the_system_s_is_read)
{
    const espl_custom_command_def def = {.name = "slow", .function = sleep_a_little};
    struct timespec begin;
    espl_custom_command slow;
    espl_report report;
    uint64_t sum = 0;

    watched_begin(false, false);
    ck_ok(espl_command_register(w.world, &def, &slow));
    record_some();
    ck_ok(espl_record_custom(w.recorder, 0, slow, NULL, 0, 0));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ck_ok(espl_play(w.world, w.commands, &report));
    const uint64_t elapsed = elapsed_since(&begin);
    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        sum += report.stage_ns[stage];
    }
    ck_assert_uint_le(sum, elapsed);
    ck_assert_uint_ge(report.stage_ns[ESPL_STAGE_REPORT], 3000000);
    watched_end();
}
