// SPDX-License-Identifier: MIT
// The supplied executor, over pthreadpool where configure found it.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <espalier/jobs.h>

#ifdef HAVE_PTHREADPOOL

#include <pthreadpool.h>

#if defined(__SANITIZE_THREAD__)
#define IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_WATCHED 1
#endif
#endif

#ifdef IS_WATCHED

#include <sanitizer/tsan_interface.h>

// pthreadpool orders what was before a run, its jobs, and what comes after, but it is a library
// that ThreadSanitizer does not see into. This tells the same where it looks. Opening and closing
// have an address each, so that no job is ordered after another one.
typedef struct watched_run {
    espl_job function;
    void *argument;
    char opening, closing;
} watched_run;

static void run_watched(void *context, size_t index)
{
    watched_run *const run = context;

    __tsan_acquire(&run->opening);
    run->function(run->argument, index);
    __tsan_release(&run->closing);
}

static void run_on(pthreadpool_t pool, espl_job function, void *argument, size_t count,
                   uint32_t flags)
{
    watched_run run = {.function = function, .argument = argument};

    __tsan_release(&run.opening);
    pthreadpool_parallelize_1d(pool, run_watched, &run, count, flags);
    __tsan_acquire(&run.closing);
}

#else

static void run_on(pthreadpool_t pool, espl_job function, void *argument, size_t count,
                   uint32_t flags)
{
    pthreadpool_parallelize_1d(pool, function, argument, count, flags);
}

#endif

// Between two runs an engine has other work for the cores.
static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    run_on(context, function, argument, count, PTHREADPOOL_FLAG_YIELD_WORKERS);
}

// It has none: workers look for the next run for a while before they sleep.
static void parallel_for_eager(void *context, espl_job function, void *argument, size_t count)
{
    run_on(context, function, argument, count, 0);
}

bool espl_executor_has_threads(void)
{
    return true;
}

static espl_status create(espl_executor *out, uint32_t workers,
                          void (*run)(void *, espl_job, void *, size_t))
{
    // pthreadpool does not check that its threads start, so absurd counts are refused here.
    if (out == NULL || workers > ESPL_WORKER_LIMIT) {
        return ESPL_ERR_ARGUMENT;
    }
    const pthreadpool_t pool = pthreadpool_create(workers);
    // Its memory is the C library's, which tests do not make fail.
    if (pool == NULL) { // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_NO_MEMORY;
    }

    *out = (espl_executor){pool, (uint32_t)pthreadpool_get_threads_count(pool), run};
    return ESPL_OK;
}

espl_status espl_executor_create_threads(espl_executor *out, uint32_t workers)
{
    return create(out, workers, parallel_for);
}

espl_status espl_executor_create_eager_threads(espl_executor *out, uint32_t workers)
{
    return create(out, workers, parallel_for_eager);
}

void espl_executor_destroy_threads(espl_executor *executor)
{
    if (executor == NULL ||
        (executor->parallel_for != parallel_for && executor->parallel_for != parallel_for_eager)) {
        return;
    }
    pthreadpool_destroy(executor->context);
    *executor = espl_executor_serial();
}

#else

bool espl_executor_has_threads(void)
{
    return false;
}

espl_status espl_executor_create_threads(espl_executor *out, uint32_t workers)
{
    (void)out;
    (void)workers;
    return ESPL_ERR_ARGUMENT;
}

espl_status espl_executor_create_eager_threads(espl_executor *out, uint32_t workers)
{
    (void)out;
    (void)workers;
    return ESPL_ERR_ARGUMENT;
}

void espl_executor_destroy_threads(espl_executor *executor)
{
    (void)executor;
}

#endif
