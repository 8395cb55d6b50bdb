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

static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    watched_run run = {.function = function, .argument = argument};

    __tsan_release(&run.opening);
    pthreadpool_parallelize_1d(context, run_watched, &run, count, PTHREADPOOL_FLAG_YIELD_WORKERS);
    __tsan_acquire(&run.closing);
}

#else

static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    // Yield: between two runs an engine has other work for the cores.
    pthreadpool_parallelize_1d(context, function, argument, count, PTHREADPOOL_FLAG_YIELD_WORKERS);
}

#endif

bool espl_executor_has_threads(void)
{
    return true;
}

espl_status espl_executor_create_threads(espl_executor *out, uint32_t workers)
{
    // pthreadpool does not check that its threads start, so absurd counts are refused here.
    if (out == NULL || workers > ESPL_WORKER_LIMIT) {
        return ESPL_ERR_ARGUMENT;
    }
    const pthreadpool_t pool = pthreadpool_create(workers);
    if (pool == NULL) {
        return ESPL_ERR_NO_MEMORY;
    }

    *out = (espl_executor){pool, (uint32_t)pthreadpool_get_threads_count(pool), parallel_for};
    return ESPL_OK;
}

void espl_executor_destroy_threads(espl_executor *executor)
{
    if (executor == NULL || executor->parallel_for != parallel_for) {
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

void espl_executor_destroy_threads(espl_executor *executor)
{
    (void)executor;
}

#endif
