// SPDX-License-Identifier: MIT
// The executor that the library supplies, over pthreadpool. A build without pthreadpool refuses to
// create one.
#include "lib/base/reserved.h"
#include "lib/base/trap.h"

#include <espalier/jobs.h>

#ifdef HAVE_PTHREADPOOL

#include <pthreadpool.h>

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif

#ifdef HAS_TSAN

#include <sanitizer/tsan_interface.h>

// pthreadpool orders its jobs after what its caller did before, and before what the caller does
// next. ThreadSanitizer does not see that, because pthreadpool is not compiled with it. These
// annotations state the same order. Begin and end have an address each, so that no job is ordered
// after another.
typedef struct annotated_loop {
    espl_job function;
    void *argument;
    char begin, end;
} annotated_loop;

static void run_annotated(void *context, size_t index)
{
    annotated_loop *const loop = context;

    __tsan_acquire(&loop->begin);
    loop->function(loop->argument, index);
    __tsan_release(&loop->end);
}

static void run_on_pool(pthreadpool_t pool, espl_job function, void *argument, size_t count,
                        uint32_t flags)
{
    annotated_loop loop = {.function = function, .argument = argument};

    __tsan_release(&loop.begin);
    pthreadpool_parallelize_1d(pool, run_annotated, &loop, count, flags);
    __tsan_acquire(&loop.end);
}

#else

static void run_on_pool(pthreadpool_t pool, espl_job function, void *argument, size_t count,
                        uint32_t flags)
{
    pthreadpool_parallelize_1d(pool, function, argument, count, flags);
}

#endif

// Workers sleep between two loops, because an engine has other work for the cores.
static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    run_on_pool(context, function, argument, count, PTHREADPOOL_FLAG_YIELD_WORKERS);
}

// Workers spin for a while after a loop before they sleep, so that the next loop starts sooner.
static void parallel_for_eager(void *context, espl_job function, void *argument, size_t count)
{
    run_on_pool(context, function, argument, count, 0);
}

static espl_status create_pool(espl_executor *out, uint32_t workers, espl_idle idle)
{
    // The limit is here, because pthreadpool does not check whether its threads start.
    if (workers > ESPL_WORKER_LIMIT) {
        return ESPL_ERR_LIMIT;
    }
    const pthreadpool_t pool = pthreadpool_create(workers);
    // Tests do not exhaust the memory of the machine.
    if (pool == NULL) { // GCOVR_EXCL_BR_LINE
        return ESPL_ERR_NO_MEMORY;
    }

    ESPL_CHECK(pthreadpool_get_threads_count(pool) >= 1);
    ESPL_CHECK(workers == 0 || pthreadpool_get_threads_count(pool) == workers);
    *out = (espl_executor){pool, (uint32_t)pthreadpool_get_threads_count(pool),
                           idle == ESPL_IDLE_SPIN ? parallel_for_eager : parallel_for};
    return ESPL_OK;
}

void espl_executor_destroy(espl_executor *executor)
{
    if (executor == NULL ||
        (executor->parallel_for != parallel_for && executor->parallel_for != parallel_for_eager)) {
        return;
    }
    ESPL_CHECK(executor->context != NULL);
    pthreadpool_destroy(executor->context);
    *executor = (espl_executor){0};
}

#else

static espl_status create_pool(const espl_executor *out, uint32_t workers, espl_idle idle)
{
    (void)out;
    (void)workers;
    (void)idle;
    return ESPL_ERR_UNSUPPORTED;
}

void espl_executor_destroy(espl_executor *executor)
{
    (void)executor;
}

#endif

// There is no log hook that could say that a reserved word is not 0.
espl_status espl_executor_create(const espl_threads_def *def, espl_executor *out)
{
    const espl_threads_def defaults = {0};
    const espl_threads_def *const d = def != NULL ? def : &defaults;

    if (ESPL__ASKS_LATER(d)) {
        return ESPL_ERR_UNSUPPORTED;
    }
    if (out == NULL || (unsigned)d->idle > ESPL_IDLE_SPIN) {
        return ESPL_ERR_ARGUMENT;
    }
    return create_pool(out, d->workers, d->idle);
}
