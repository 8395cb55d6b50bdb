// SPDX-License-Identifier: MIT
// Two threads inside changing calls of one world: checked builds name both calls and refuse the
// second one. Threads that take turns, jobs, custom commands and recorders are not refused.
#include "tests/checks.h"
#include "tests/runner.h"
#include "tests/told.h"
#include "tools/aligned.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { IS_CHECKED = ESPL_CHECKS >= 1, RESERVED = 100000, CREATED = 20000 };

// A world whose allocator stops one call of another thread in its middle.
typedef struct scene {
    told told;
    espl_world *world;
    espl_entity entity, child;
    espl_command_buffer *commands, *recorded;
    pthread_t thread;
    sem_t is_inside, may_return;
    _Atomic bool stops; // the next allocation waits
    espl_status reserved;
} scene;

static scene s;

static void *allocate(void *user, size_t size, size_t alignment)
{
    (void)user;

    if (s.stops) {
        s.stops = false;
        sem_post(&s.is_inside);
        while (sem_wait(&s.may_return) != 0) {
        }
    }
    return aligned_take(size, alignment);
}

static void scene_begin(const espl_executor *executor)
{
    memset(&s, 0, sizeof s);
    ck_assert_int_eq(sem_init(&s.is_inside, 0, 0), 0);
    ck_assert_int_eq(sem_init(&s.may_return, 0, 0), 0);
    const espl_world_def def = {
        .allocator = {NULL, allocate, test_give_block},
        .hooks = told_hooks(&s.told),
        .executor = executor != NULL ? *executor : (espl_executor){0},
        .tag = 3,
    };
    ck_ok(espl_world_create(&def, &s.world));
    s.entity = test_solo(s.world);
    s.child = test_solo(s.world);
    ck_ok(espl_attach(s.world, s.child, s.entity, NULL));
    ck_ok(espl_command_buffer_create(s.world, 1, &s.commands));
    ck_ok(espl_command_buffer_create(s.world, 1, &s.recorded));
}

static void scene_end(void)
{
    told_demand_nothing(&s.told);
    test_world_is_valid(s.world);
    espl_command_buffer_destroy(s.commands);
    espl_command_buffer_destroy(s.recorded);
    espl_world_destroy(s.world);
    told_demand_nothing(&s.told);
    sem_destroy(&s.is_inside);
    sem_destroy(&s.may_return);
}

static void *reserve(void *context)
{
    (void)context;

    s.reserved = espl_reserve(s.world, &(espl_reserve_def){.entities = RESERVED});
    return NULL;
}

// Have another thread stop inside espl_reserve().
static void stop_inside(void)
{
    s.stops = true;
    ck_assert_int_eq(pthread_create(&s.thread, NULL, reserve, NULL), 0);
    while (sem_wait(&s.is_inside) != 0) {
    }
}

static void let_return(void)
{
    sem_post(&s.may_return);
    ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
    ck_ok(s.reserved);
}

static void demand_told(const char *call)
{
    told_demand_trap(
        &s.told,
        "%s: Another thread is inside espl_reserve() of the same world; one thread at a "
        "time may change a world, so take turns by a lock, or record commands.",
        call);
}

#define DEMAND_TOLD(name, call)           \
    do {                                  \
        ck_status((call), ESPL_ERR_BUSY); \
        demand_told((name));              \
    } while (0)

TEST_IF(a_second_thread_in_a_changing_call_is_refused_and_told, IS_CHECKED)
{
    if (test_lacks_room(RESERVED, "a reserve that takes memory")) {
        return;
    }
    const float position[3] = {1, 2, 3}, turn[4] = {0, 0, 0, 1};
    const espl_component_def def = {.name = "late"};
    espl_component component = 0;
    espl_command_buffer *late = NULL;

    scene_begin(NULL);
    const espl_write write = {.entity = s.entity, .kind = ESPL_WRITE_LOCAL_POSITION};
    stop_inside();
    DEMAND_TOLD("espl_create", espl_create(s.world, NULL, 0, 1, NULL));
    DEMAND_TOLD("espl_attach", espl_attach(s.world, s.child, s.entity, NULL));
    DEMAND_TOLD("espl_destroy", espl_destroy(s.world, s.entity, ESPL_EXTENT_OWNED));
    DEMAND_TOLD("espl_set_local_position", espl_set_local_position(s.world, s.child, position));
    DEMAND_TOLD("espl_rotate_about", espl_rotate_about(s.world, s.child, position, turn));
    DEMAND_TOLD("espl_set_inherit", espl_set_inherit(s.world, s.child, 0));
    DEMAND_TOLD("espl_write_batch", espl_write_batch(s.world, &write, 1, NULL));
    DEMAND_TOLD("espl_add_component", espl_add_component(s.world, s.entity, ESPL_PREFAB, NULL, 0));
    DEMAND_TOLD("espl_component_register", espl_component_register(s.world, &def, &component));
    DEMAND_TOLD("espl_compact", espl_compact(s.world));
    DEMAND_TOLD("espl_command_buffer_create", espl_command_buffer_create(s.world, 1, &late));
    DEMAND_TOLD("espl_command_buffer_submit", espl_command_buffer_submit(s.commands));
    DEMAND_TOLD("espl_play", (espl_play)(s.world, s.commands, NULL));
    DEMAND_TOLD("espl_sync", (espl_sync)(s.world, NULL));
    espl_command_buffer_reset(s.commands);
    demand_told("espl_command_buffer_reset");
    espl_command_buffer_destroy(s.commands);
    demand_told("espl_command_buffer_destroy");
    espl_world_destroy(s.world);
    demand_told("espl_world_destroy");
    ck_assert(component == 0 && late == NULL);
    let_return();
    // And all of it is possible again.
    ck_ok(espl_set_local_position(s.world, s.child, position));
    ck_ok(espl_play(s.world, s.commands, NULL));
    scene_end();
}

// --- What is no fault ---

static void *write_some(void *context)
{
    (void)context;

    for (int i = 0; i < 100; ++i) {
        if (espl_set_local_position(s.world, s.child, (const float[3]){(float)i, 1, 0}) < 0 ||
            espl_attach(s.world, s.child, s.entity, NULL) < 0) {
            ck_abort();
        }
    }
    return NULL;
}

TEST(threads_that_take_turns_are_no_fault)
{
    scene_begin(NULL);
    for (int i = 0; i < 10; ++i) {
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, write_some, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        (void)write_some(NULL);
    }
    scene_end();
}

TEST(a_recorder_of_another_thread_is_no_fault)
{
    // A recorder whose arrays move always waits for the memory that the other thread is taking.
    if (test_moves_always() || test_lacks_room(RESERVED, "a reserve that takes memory")) {
        return;
    }

    scene_begin(NULL);
    espl_recorder *const recorder = espl_command_buffer_recorder(s.recorded, 0);
    ck_ok(espl_record_detach(recorder, 0, s.child, ESPL_KEEP_WORLD));
    ck_ok(espl_play(s.world, s.recorded, NULL));
    espl_command_buffer_reset(s.recorded);
    stop_inside();
    // It needs no memory, for which it would wait until the other thread has its own.
    ck_ok(espl_record_detach(recorder, 0, s.child, ESPL_KEEP_WORLD));
    told_demand_nothing(&s.told);
    let_return();
    ck_ok(espl_play(s.world, s.recorded, NULL));
    scene_end();
}

// An executor whose jobs each have a thread of their own.
typedef struct task {
    espl_job function;
    void *argument;
    size_t index;
} task;

static void *run_task(void *context)
{
    const task *const t = context;

    t->function(t->argument, t->index);
    return NULL;
}

// The scene a job of a playback calls back, once.
static scene *visited;

static void *visit(void *context)
{
    (void)context;

    ck_status(espl_set_local_position(s.world, s.child, (const float[3]){4, 5, 6}), ESPL_ERR_BUSY);
    ck_status(espl_sync(s.world, NULL), ESPL_ERR_BUSY);
    ck_assert_uint_eq(s.told.lines, 2);
    s.told.lines = 0;
    visited = NULL;
    return NULL;
}

static void run_on_threads(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    if (visited != NULL) {
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, visit, visited), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    for (size_t i = 0; i < count; ++i) {
        task t = {function, argument, i};
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, run_task, &t), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
}

static size_t jobs;

static void change_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)context;
    const float position[3] = {4, 5, 6};

    ck_ok(espl_writer_write(writer, rows->entities[0], ESPL_WRITE_LOCAL_POSITION, position, NULL));
    ck_status(espl_set_local_position(s.world, s.entity, position), ESPL_ERR_BUSY);
    ck_status(espl_compact(s.world), ESPL_ERR_BUSY);
    ck_assert_uint_eq(s.told.lines, 2);
    s.told.lines = 0;
    jobs += 1;
}

TEST(jobs_on_other_threads_are_no_fault)
{
    if (test_lacks_room(CREATED + 2, "a playback of several jobs")) {
        return;
    }
    const espl_executor executor = {NULL, 4, run_on_threads};

    scene_begin(&executor);
    const espl_parallel_def def = {.function = change_in_job, .context = NULL};
    jobs = 0;
    ck_ok(espl_write_parallel(s.world, &def, NULL));
    ck_assert_uint_ge(jobs, 1);
    for (int i = 0; i < CREATED; ++i) {
        ck_ok(espl_record_create(espl_command_buffer_recorder(s.commands, 0), 0,
                                 &(espl_creation_def){.value_count = 0}, 1, NULL));
    }
    visited = &s;
    ck_ok(espl_play(s.world, s.commands, NULL));
    ck_assert_ptr_null(visited);
    scene_end();
}

static void write_in_custom(void *user, const espl_custom_calls *calls)
{
    (void)user;
    const float position[3] = {7, 8, 9};

    ck_ok(espl_set_local_position(calls->world, s.child, position));
    ck_ok(espl_command_buffer_submit(s.recorded));
    jobs += 1;
}

TEST(a_custom_command_that_writes_is_no_fault)
{
    espl_custom_command custom = 0;

    scene_begin(NULL);
    const espl_custom_command_def def = {
        .name = "custom", .user = NULL, .function = write_in_custom};
    jobs = 0;
    ck_ok(espl_command_register(s.world, &def, &custom));
    ck_ok(espl_record_custom(espl_command_buffer_recorder(s.commands, 0), 0, custom, NULL, 0, 0));
    ck_ok(espl_play(s.world, s.commands, NULL));
    ck_assert_uint_eq(jobs, 1);
    ck_ok(espl_sync(s.world, NULL));
    scene_end();
}
