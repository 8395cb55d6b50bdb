// SPDX-License-Identifier: MIT
#include <espalier/jobs.h>

#include "tests/asked.h"
#include "tests/runner.h"

#include <sched.h>
#include <stdatomic.h>

enum { JOBS = 100000 };

// Atomic, and never written otherwise: pthreadpool orders threads where ThreadSanitizer does not
// look.
static atomic_uchar ran[JOBS];
static atomic_int arrived;

static void mark(void *argument, size_t index)
{
    atomic_uchar *const marks = argument;

    atomic_fetch_add(&marks[index], 1);
}

static size_t count_other_than(unsigned char times)
{
    size_t others = 0;

    for (size_t i = 0; i < JOBS; ++i) {
        others += atomic_load(&ran[i]) != times;
    }
    return others;
}

// Each test of the pool is run for both kinds of threads.
static const espl_idle idles[] = {ESPL_IDLE_SLEEP, ESPL_IDLE_SPIN};

enum { IDLES = sizeof idles / sizeof *idles };

static espl_status make(espl_idle idle, uint32_t workers, espl_executor *out)
{
    const espl_threads_def def = {.workers = workers, .idle = idle};

    return espl_executor_create(&def, out);
}

static espl_executor threads_of(espl_idle idle, uint32_t workers)
{
    espl_executor executor = {0};

    ck_ok(make(idle, workers, &executor));
    ck_assert_ptr_nonnull(executor.parallel_for);
    return executor;
}

TEST_LOOP(each_job_runs_once_on_any_number_of_threads, 0, test_has_threads() ? IDLES : 0)
{
    for (size_t i = 0; i < JOBS; ++i) {
        atomic_store(&ran[i], 0);
    }
    for (unsigned char workers = 1; workers <= 8; ++workers) {
        espl_executor executor = threads_of(idles[_i], workers);

        ck_assert_uint_eq(executor.worker_count, workers);
        executor.parallel_for(executor.context, mark, ran, JOBS);
        ck_assert_uint_eq(count_other_than(workers), 0);
        executor.parallel_for(executor.context, mark, ran, 0);
        ck_assert_uint_eq(count_other_than(workers), 0);
        espl_executor_destroy(&executor);
    }
}

static void meet(void *argument, size_t index)
{
    (void)argument;
    (void)index;
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2) {
        sched_yield();
    }
}

TEST_LOOP(two_workers_run_two_jobs_at_once, 0, test_has_threads() ? IDLES : 0)
{
    espl_executor executor = threads_of(idles[_i], 2);

    atomic_store(&arrived, 0);
    executor.parallel_for(executor.context, meet, NULL, 2);
    ck_assert_int_eq(atomic_load(&arrived), 2);
    espl_executor_destroy(&executor);
}

TEST_LOOP(zero_workers_means_one_for_each_processor, 0, test_has_threads() ? IDLES : 0)
{
    espl_executor executor = threads_of(idles[_i], 0);

    ck_assert_uint_ge(executor.worker_count, 1);
    espl_executor_destroy(&executor);
}

TEST_LOOP(destroyed_executor_is_serial, 0, test_has_threads() ? IDLES : 0)
{
    const espl_executor serial = {0};
    espl_executor executor = threads_of(idles[_i], 2);

    for (int i = 0; i < 2; ++i) {
        espl_executor_destroy(&executor);
        ck_assert_ptr_null(executor.context);
        ck_assert_uint_eq(executor.worker_count, serial.worker_count);
        ck_assert(executor.parallel_for == NULL);
    }
}

static void run_in_order(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
}

TEST(other_executors_are_left_alone)
{
    int context = 0;
    espl_executor engine = {&context, 3, run_in_order};

    espl_executor_destroy(NULL);
    espl_executor_destroy(&engine);
    ck_assert_ptr_eq(engine.context, &context);
    ck_assert_uint_eq(engine.worker_count, 3);
    ck_assert(engine.parallel_for == run_in_order);
}

TEST_LOOP(bad_arguments_change_nothing, 0, IDLES)
{
    espl_executor executor = {&executor, 5, run_in_order};

    ck_status(make(idles[_i], 1, NULL), ESPL_ERR_ARGUMENT);
    ck_status(
        espl_executor_create(&(espl_threads_def){.workers = 1, .idle = (espl_idle)2}, &executor),
        ESPL_ERR_ARGUMENT);
    if (test_has_threads()) {
        ck_status(make(idles[_i], ESPL_WORKER_LIMIT + 1, &executor), ESPL_ERR_LIMIT);
        ck_status(make(idles[_i], UINT32_MAX, &executor), ESPL_ERR_LIMIT);
    } else {
        ck_status(make(idles[_i], 2, &executor), ESPL_ERR_UNSUPPORTED);
    }
    ck_assert_ptr_eq(executor.context, &executor);
    ck_assert_uint_eq(executor.worker_count, 5);
    ck_assert(executor.parallel_for == run_in_order);
}
