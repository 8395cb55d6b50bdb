// SPDX-License-Identifier: MIT
// Faults of executors: each fault, in each call that works on all cores, from each parallel range
// of the call on. Either the call is refused and the world is unchanged, or it is completed and the
// world is that of a serial executor; the trap hook gets the name of the fault.
#include "tests/checks.h"
#include "tests/runner.h"

#include "tests/inside.h"
#include "tests/support.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 3000, TREES = 300, SPAWNS = 300 };

// --- Executors ---

typedef enum misdeed { SKIPS, REPEATS, OVERSHOOTS, RETURNS_EARLY, REENTERS, FAULTS } misdeed;

static const char *const told_as[FAULTS] = {
    [SKIPS] = "returned before each job had run and returned",
    [REPEATS] = "ran a job twice",
    [OVERSHOOTS] = "whose index is not below the count",
    [RETURNS_EARLY] = "returned before each job had run and returned",
    [REENTERS] = "", // is none of the executor's rules: the calls from inside are refused
};

typedef struct culprit {
    misdeed fault;
    size_t calls, good; // parallel runs, and how many before the first that goes wrong
    espl_world *world;  // that it calls into
    espl_entity victims[2];
    espl_command_buffer *commands;
    // The thread that goes on when its run is over.
    pthread_t thread;
    bool has_thread;
    espl_job function;
    void *argument;
    size_t count;
    atomic_size_t returned;
} culprit;

static void *run_all(void *argument)
{
    culprit *const c = argument;

    for (size_t i = 0; i < c->count; ++i) {
        c->function(c->argument, i);
        atomic_fetch_add(&c->returned, 1);
    }
    return NULL;
}

static void await(culprit *c)
{
    if (c->has_thread) {
        ck_assert_int_eq(pthread_join(c->thread, NULL), 0);
        c->has_thread = false;
    }
}

// One job has returned when this does; the others may be anywhere.
static void return_early(culprit *c, espl_job function, void *argument, size_t count)
{
    c->function = function;
    c->argument = argument;
    c->count = count;
    atomic_store(&c->returned, 0);
    ck_assert_int_eq(pthread_create(&c->thread, NULL, run_all, c), 0);
    c->has_thread = true;
    while (atomic_load(&c->returned) == 0) {
        sched_yield();
    }
}

// Everything that changes the world is refused in the middle of a call, and what reads is not.
static void reenter(const culprit *c)
{
    const float at[3] = {1, 2, 3};
    const espl_write write = {c->victims[0], ESPL_WRITE_LOCAL_SCALE, {.scale = 7}};
    espl_world *const world = c->world;
    const espl_status statuses[] = {
        espl_create(world, NULL, 0, 1, NULL),
        espl_destroy(world, c->victims[1], ESPL_EXTENT_OWNED),
        espl_attach(world, c->victims[0], c->victims[1], NULL),
        espl_set_local_position(world, c->victims[0], at),
        espl_set_inherit(world, c->victims[0], ESPL_ABSOLUTE_X),
        espl_write_batch(world, &write, 1, NULL),
        espl_play(world, c->commands, NULL),
        espl_sync(world, NULL),
        espl_compact(world),
        espl_reserve(world, &(espl_reserve_def){.entities = 10}),
        espl_reserve(world, &(espl_reserve_def){.writes = 10}),
    };

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; ++i) {
        ck_assert_msg(statuses[i] == ESPL_ERR_BUSY, "call %zu answers %s", i,
                      espl_status_name(statuses[i]));
    }
    ck_assert(espl_is_alive(world, c->victims[0]));
}

static void go_wrong(culprit *c, espl_job function, void *argument, size_t count)
{
    const size_t first = c->fault == SKIPS ? 1 : 0;

    if (c->fault == RETURNS_EARLY) {
        return_early(c, function, argument, count);
        return;
    }
    for (size_t i = first; i < count; ++i) {
        if (c->fault == REENTERS && i == count / 2) {
            reenter(c);
        }
        function(argument, i);
    }
    if (c->fault == REENTERS) {
        reenter(c);
    }
    if (c->fault == REPEATS || c->fault == OVERSHOOTS) {
        function(argument, c->fault == REPEATS ? 0 : count);
    }
}

static void run(void *context, espl_job function, void *argument, size_t count)
{
    culprit *const c = context;

    await(c);
    if (c->calls++ >= c->good) {
        go_wrong(c, function, argument, count);
        return;
    }
    for (size_t i = count; i-- > 0;) {
        function(argument, i);
    }
}

// --- Worlds and calls ---

typedef struct stage {
    test_world test;
    culprit culprit;
    espl_executor executor;
    espl_entity entities[ENTITIES];
    size_t count;
    espl_command_buffer *commands;
} stage;

typedef espl_status (*world_call)(stage *s);

static void stage_begin(stage *s, misdeed fault)
{
    memset(s, 0, sizeof *s);
    s->culprit = (culprit){.fault = fault, .good = SIZE_MAX};
    s->executor = (espl_executor){&s->culprit, 4, run};
    test_world_begin(&s->test, 9, &s->executor);
    s->count = ENTITIES;
    test_solos(s->test.world, s->count, s->entities);
    for (size_t i = TREES; i < s->count; ++i) {
        ck_ok(espl_attach(s->test.world, s->entities[i], s->entities[i % TREES], NULL));
    }
    ck_ok(espl_command_buffer_create(s->test.world, 2, &s->commands));
    s->culprit.world = s->test.world;
    s->culprit.victims[0] = s->entities[0];
    s->culprit.victims[1] = s->entities[1];
    s->culprit.commands = s->commands;
}

static void stage_end(stage *s)
{
    await(&s->culprit);
    s->culprit.good = SIZE_MAX;
    espl_command_buffer_destroy(s->commands);
    test_world_end(&s->test);
}

static espl_write write_of(const stage *s, size_t i)
{
    return (espl_write){s->entities[i % s->count],
                        ESPL_WRITE_TRANSLATE_IN_PARENT,
                        {.position = {(float)(i % 7), 1, 0}}};
}

static espl_status write_many(stage *s)
{
    enum { COUNT = 2 * ENTITIES };
    espl_write *const writes = test_array(COUNT, sizeof *writes);

    for (size_t i = 0; i < COUNT; ++i) {
        writes[i] = write_of(s, i);
    }
    test_cut_jobs(s->test.world, 16);
    const espl_status status = espl_write_batch(s->test.world, writes, COUNT, NULL);

    free(writes);
    return status;
}

// Writes alone, by keys that do not ascend.
static void record_writes(const stage *s)
{
    for (size_t i = 0; i < 2 * ENTITIES; ++i) {
        const espl_write write = write_of(s, i);

        ck_ok(espl_record_write(espl_command_buffer_recorder(s->commands, i % 2), (uint32_t)(i % 3),
                                write.entity, write.kind, &write.value));
    }
}

// Some come, some go, and some move.
static void record_all_kinds(const stage *s)
{
    espl_recorder *const lane = espl_command_buffer_recorder(s->commands, 1);

    for (size_t i = 0; i < SPAWNS; ++i) {
        const espl_instance_def def = {.source = s->entities[0], .parent = s->entities[1 + i % 90]};

        ck_ok(espl_record_instantiate(lane, 0, &def, 1, NULL));
    }
    for (size_t i = 100; i < 200; ++i) {
        const espl_write write = write_of(s, i);

        ck_ok(espl_record_write(lane, 0, write.entity, write.kind, &write.value));
        ck_ok(espl_record_destroy(lane, 0, s->entities[TREES + i % 90], ESPL_EXTENT_OWNED));
    }
}

static espl_status play_writes(stage *s)
{
    record_writes(s);
    return espl_play(s->test.world, s->commands, NULL);
}

static espl_status play_all_kinds(stage *s)
{
    record_writes(s);
    record_all_kinds(s);
    return espl_play(s->test.world, s->commands, NULL);
}

static espl_status sync_all_kinds(stage *s)
{
    record_all_kinds(s);
    record_writes(s);
    ck_ok(espl_command_buffer_submit(s->commands));
    return espl_sync(s->test.world, NULL);
}

static void translate_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    for (size_t i = 0; i < rows->count; ++i) {
        ck_ok(
            ESPL_WRITER_WRITE(writer, rows->entities[i], ESPL_WRITE_TRANSLATE_IN_PARENT, context));
    }
}

static espl_status write_parallel(stage *s)
{
    float by[3] = {1, 2, 3};
    const espl_parallel_def def = {.function = translate_rows, .context = by};

    return espl_write_parallel(s->test.world, &def, NULL);
}

typedef struct line {
    const char *name;
    world_call call;
    bool reads_first; // in parallel, so that it can be refused yet
} line;

static const line lines[] = {
    {"espl_write_batch of many", write_many, true},
    {"espl_play of writes", play_writes, true},
    {"espl_play of all kinds", play_all_kinds, true},
    {"espl_sync of all kinds", sync_all_kinds, true},
    {"espl_write_parallel of all", write_parallel, false},
};

enum { LINES = sizeof lines / sizeof *lines };

// --- The table ---

// What a call makes of a world where nothing goes wrong.
static uint64_t hash_of_done(const line *l)
{
    static stage s;

    stage_begin(&s, SKIPS);
    ck_ok(l->call(&s));
    const uint64_t hash = test_physical_hash(s.test.world);

    stage_end(&s);
    return hash;
}

typedef struct outcomes {
    size_t refused, completed;
} outcomes;

static void demand_told(const stage *s, misdeed fault, const char *name)
{
    const bool is_told = s->test.hooks.traps > 0;

    if (ESPL_CHECKS >= 1 && is_told && fault != REENTERS) {
        ck_assert_msg(strstr(s->test.hooks.last_trap, told_as[fault]) != NULL, "%s tells %s", name,
                      s->test.hooks.last_trap);
    }
    ck_assert(fault != REENTERS || !is_told);
    // Who returns early may have been in time by chance.
    ck_assert(ESPL_CHECKS == 0 || is_told || fault == REENTERS || fault == RETURNS_EARLY);
}

// @return whether the call made so many parallel runs.
static bool try_line(const line *l, misdeed fault, size_t good, uint64_t done, outcomes *all)
{
    static stage s;

    stage_begin(&s, fault);
    const uint64_t before = test_physical_hash(s.test.world);

    s.culprit.calls = 0;
    s.culprit.good = good;
    const espl_status status = l->call(&s);
    const bool went_wrong = s.culprit.calls > good;
    const char *const last = s.test.hooks.last_trap;
    const bool is_told = s.test.hooks.traps > 0;

    await(&s.culprit);
    s.culprit.good = SIZE_MAX;
    test_world_is_valid(s.test.world);
    const uint64_t hash = test_physical_hash(s.test.world);

    ck_assert_msg(status == ESPL_OK || (status == ESPL_ERR_EXECUTOR && fault != REENTERS),
                  "%s answers %s, telling %s", l->name, espl_status_name(status), last);
    ck_assert_msg(hash == (status == ESPL_OK ? done : before), "%s, %s: run %zu changes bits",
                  l->name, espl_status_name(status), good);
    ck_assert(went_wrong || !is_told);
    if (went_wrong) {
        demand_told(&s, fault, l->name);
        all->refused += status != ESPL_OK ? 1 : 0;
        all->completed += status == ESPL_OK ? 1 : 0;
    }
    stage_end(&s);
    return went_wrong;
}

TEST_LOOP(each_fault_in_each_run_refuses_the_call_or_is_made_up_for, 0, FAULTS *LINES)
{
    const misdeed fault = (misdeed)(_i % FAULTS);
    const line *const l = &lines[_i / FAULTS];
    if (test_lacks_room(ENTITIES + SPAWNS, "hierarchies for every worker")) {
        return;
    }
    const uint64_t done = hash_of_done(l);
    outcomes all = {0, 0};

    for (size_t good = 0; try_line(l, fault, good, done, &all); ++good) {
        ck_assert_uint_lt(good, 200);
    }
    ck_assert_uint_gt(all.completed, 0);
    if (l->reads_first && fault != REENTERS && fault != RETURNS_EARLY) {
        ck_assert_msg(all.refused > 0, "%s: nothing that only reads is refused", l->name);
    }
}
