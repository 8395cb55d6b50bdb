// SPDX-License-Identifier: MIT
// Modes of a thread that change the arithmetic of floats: a world is not created while the thread has
// one, and jobs of a world compute the same bits on threads that have one.
#include "tests/asked.h"
#include "tests/runner.h"

#include "tests/inside.h"
#include "tests/support.h"
#include "tests/told.h"

#include <fenv.h>
#include <float.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

// --- Modes ---

typedef struct mode {
    const char *word; // of the message
    uint32_t flush;   // bits of MXCSR; on AArch64 any means FZ of FPCR
    int rounding;     // for fesetround()
} mode;

static const mode modes[] = {
    {"flushes denormal floats to zero", 0x8000, FE_TONEAREST}, // FTZ of x86
    {"flushes denormal floats to zero", 0x0040, FE_TONEAREST}, // DAZ of x86
    {"flushes denormal floats to zero", 0x8040, FE_TONEAREST},
#ifdef FE_UPWARD
    {"does not round to nearest", 0, FE_UPWARD},
    {"does not round to nearest", 0, FE_DOWNWARD},
    {"does not round to nearest", 0x8040, FE_TOWARDZERO},
#endif
};

enum { MODES = sizeof modes / sizeof *modes };

static void set_mode(const mode *m)
{
    ck_assert_int_eq(fesetround(m->rounding), 0);
#if defined(__SSE2__)
    _mm_setcsr((_mm_getcsr() & ~UINT32_C(0x8040)) | m->flush);
#elif defined(__aarch64__)
    uint64_t bits;

    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    bits = (bits & ~(UINT64_C(1) << 24)) | (uint64_t)(m->flush != 0) << 24;
    __asm__ volatile("msr fpcr, %0" : : "r"(bits));
#endif
}

static void clear_mode(void)
{
    const mode none = {"", 0, FE_TONEAREST};

    set_mode(&none);
}

// Tell whether this thread computes otherwise than IEEE 754 does by default. An emulator may have no
// such modes: valgrind flushes nothing.
static bool differs(void)
{
    const volatile float least = FLT_MIN, denormal = FLT_MIN / 4, half = 0.5f, four = 4, one = 1;
    const volatile float part = FLT_EPSILON / 4, minus_one = -1;
    const float results[] = {least * half, denormal * four, one + part, minus_one - part,
                             one - part / 4};
    const uint32_t expected[] = {0x00400000, 0x00800000, 0x3f800000, 0xbf800000, 0x3f800000};

    return memcmp(results, expected, sizeof expected) != 0;
}

// --- A scene whose worlds are denormal at its leaves ---

enum { TREES = 60, DEPTH = 14, COUNT = TREES * DEPTH, JOB_COST = 16 };

static espl_transform draw_local(uint64_t *random)
{
    espl_transform t = test_at(test_between(random, -3, 3), test_between(random, -3, 3),
                               test_between(random, -3, 3));

    t.rotation[0] = test_between(random, -1, 1);
    t.rotation[1] = test_between(random, -1, 1);
    t.scale = test_between(random, 0.0005f, 0.002f);
    return t;
}

// A batch, then a playback that moves half of the trees below others, writes and destroys.
static void play_scene(espl_world *world)
{
    static espl_entity e[COUNT];
    static espl_write writes[COUNT];
    uint64_t random = 11;
    espl_recorder *recorder;

    test_cut_jobs(world, JOB_COST);
    test_solos(world, COUNT, e);
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (i % DEPTH != 0) {
            ck_ok(espl_attach(world, e[i], e[i - 1], &test_keep_local));
        }
        writes[i] = (espl_write){.entity = e[i], .kind = ESPL_WRITE_LOCAL_TRANSFORM};
        writes[i].value.transform = draw_local(&random);
    }
    ck_ok(espl_write_batch(world, writes, COUNT, NULL));
    espl_command_buffer *const commands = test_commands(world, 1);
    recorder = espl_command_buffer_recorder(commands, 0);
    for (uint32_t t = 0; t + 1 < TREES; t += 2) {
        const float scale = test_between(&random, 0.0005f, 0.002f);

        ck_ok(espl_record_attach(recorder, 0, e[t * DEPTH], e[(t + 1) * DEPTH + t % DEPTH], NULL));
        ck_ok(espl_record_write(recorder, 0, e[t * DEPTH + 2], ESPL_WRITE_LOCAL_SCALE, &scale));
    }
    ck_assert_int_ge(espl_play(world, commands, NULL), ESPL_OK);
    espl_command_buffer_destroy(commands);
}

static uint64_t hash_on(const espl_executor *executor)
{
    test_world test;

    test_world_begin(&test, 3, executor);
    play_scene(test.world);
    const uint64_t hash = test_physical_hash(test.world);
    test_world_end(&test); // validates on this thread
    return hash;
}

// --- A world is not created ---

TEST_LOOP(a_world_is_not_created_while_the_thread_has_a_mode, 0, MODES)
{
    told t = {0};
    espl_world *world = NULL;

    test_heap_init(&t.heap);
    const espl_world_def def = {.hooks = told_hooks(&t), .allocator = test_heap_allocator(&t.heap)};
    set_mode(&modes[_i]);
    const bool is_in_force = differs();
    const espl_status status = espl_world_create(&def, &world);
    const bool is_kept = differs() == is_in_force;
    clear_mode();

    ck_assert(is_kept);
    if (is_in_force) {
        ck_assert_int_eq(status, ESPL_ERR_ARITHMETIC);
        ck_assert_ptr_null(world);
        ck_assert_uint_eq(t.lines, 1);
        ck_assert_int_eq(t.level, ESPL_LOG_WARNING);
        ck_assert_ptr_nonnull(
            strstr(t.line, "espl_world_create: ESPL_ERR_ARITHMETIC: This thread "));
        ck_assert_ptr_nonnull(strstr(t.line, modes[_i].word));
        ck_assert_uint_eq(t.heap.bytes, 0);
    } else {
        espl_world_destroy(world);
    }
    ck_ok(espl_world_create(&def, &world));
    espl_world_destroy(world);
}

#if defined(__SSE2__) && defined(__OPTIMIZE__)
// Where the machine is real, a mode is in force. Otherwise the tests of this file would test nothing.
TEST_IF(modes_are_in_force, getenv("LD_PRELOAD") == NULL)
{
    for (int i = 0; i < MODES; ++i) {
        set_mode(&modes[i]);
        const bool is_in_force = differs();
        clear_mode();
        ck_assert(is_in_force);
        ck_assert(!differs());
    }
}
#endif

// --- Threads with another mode ---

typedef struct odd_executor {
    const mode *mode;
    size_t calls;
} odd_executor;

// Run the jobs in a mode, which each job leaves as it was.
static void run_in_mode(void *context, espl_job function, void *argument, size_t count)
{
    odd_executor *const o = context;

    o->calls += 1;
    for (size_t i = 0; i < count; ++i) {
        set_mode(o->mode);
        const bool before = differs();
        function(argument, i);
        const bool after = differs();
        clear_mode();
        ck_assert(before == after);
    }
}

TEST_LOOP(jobs_compute_the_same_on_threads_with_a_mode, 0, MODES)
{
    odd_executor odd = {.mode = &modes[_i]};
    const espl_executor executor = {&odd, 4, run_in_mode};

    if (test_lacks_room(COUNT, "trees for many jobs")) {
        return;
    }
    const uint64_t expected = hash_on(NULL), hash = hash_on(&executor);

    ck_assert_uint_eq(hash, expected);
    ck_assert_uint_gt(odd.calls, 0);
}

enum { WORKERS = 3 };

static atomic_uint arrived, differing;

// Wait for the other jobs, so that each runs on a thread of its own.
static void look_at_mode(void *argument, size_t index)
{
    (void)argument;
    (void)index;
    atomic_fetch_add(&differing, differs());
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < WORKERS) {
        sched_yield();
    }
}

TEST_LOOP(workers_of_a_pool_that_was_made_in_a_mode_compute_the_same, 0,
          test_has_threads() ? MODES : 0)
{
    espl_executor executor = {0};

    if (test_lacks_room(COUNT, "trees for many jobs")) {
        return;
    }
    // Tests may share one process.
    atomic_store(&arrived, 0);
    atomic_store(&differing, 0);
    set_mode(&modes[_i]);
    const bool is_in_force = differs();
    const espl_status status =
        espl_executor_create(&(espl_threads_def){.workers = WORKERS}, &executor);
    clear_mode();
    ck_ok(status);
    executor.parallel_for(executor.context, look_at_mode, NULL, WORKERS);
    ck_assert_uint_eq(atomic_load(&arrived), WORKERS);
    // The calling thread is a worker as well, and has no mode any more.
    ck_assert_uint_eq(atomic_load(&differing), is_in_force ? WORKERS - 1 : 0);

    ck_assert_uint_eq(hash_on(&executor), hash_on(NULL));
    espl_executor_destroy(&executor);
}
