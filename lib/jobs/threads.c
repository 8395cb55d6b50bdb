// SPDX-License-Identifier: MIT
// The supplied executor, over pthreadpool where configure found it.
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <espalier/jobs.h>

#ifdef HAVE_PTHREADPOOL

#include <pthreadpool.h>

static void parallel_for(void *context, espl_job function, void *argument, size_t count)
{
    // Yield: between two runs an engine has other work for the cores.
    pthreadpool_parallelize_1d(context, function, argument, count, PTHREADPOOL_FLAG_YIELD_WORKERS);
}

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
