// SPDX-License-Identifier: MIT
// Parallel loops: a function runs for each index below a count on an executor. The library checks
// that the executor runs each job exactly once. A loop knows its function and a context, no world.
#ifndef ESPALIER_LIB_JOBS_RANGES_H
#define ESPALIER_LIB_JOBS_RANGES_H

#include "lib/base/trap.h"

#include <espalier/jobs.h>

/// Work on indices [begin, end).
typedef void (*espl__range_function)(void *context, size_t begin, size_t end);

/// The largest number of jobs of one loop.
#define ESPL__JOB_LIMIT 4096

/// Tell whether an executor runs all jobs on the calling thread. NULL is the serial executor.
static inline bool espl__executor_is_serial(const espl_executor *executor)
{
    return executor == NULL || executor->parallel_for == NULL || executor->worker_count <= 1;
}

/// The number of jobs that `count` indices are worth, at least 1. It does not depend on the number of
/// workers, so that results do not either.
/// @param least  fewer indices are one job, because waking workers costs more than they save.
/// @param grain  the least number of indices of a job; 0 counts as 1.
/// @param most   the largest number of jobs.
static inline size_t espl__count_jobs(size_t count, size_t least, size_t grain, size_t most)
{
    const size_t jobs = count / (grain > 0 ? grain : 1);

    if (count < least || jobs <= 1) {
        return 1;
    }
    return jobs < most ? jobs : most;
}

/// The slow path of espl__run_jobs().
espl_status espl__run_many_jobs(const espl_executor *executor, const espl_hooks *hooks,
                                espl_job function, void *argument, size_t jobs);

/// The slow path of espl__run_ranges().
espl_status espl__run_many_ranges(const espl_executor *executor, const espl_hooks *hooks,
                                  espl__range_function function, void *context, size_t count,
                                  size_t grain);

/// Call a function for each of [0, jobs). A serial executor and a single job run on the calling
/// thread in order. Allocates nothing; uses 4 KiB of stack.
///
/// What the caller wrote before is visible to the function, and what the function wrote is visible
/// to the caller on return, even where the executor itself orders nothing.
///
/// A loop inside a job of the same executor runs on the calling thread, and calls the trap hook.
/// The call waits for jobs that still run when the executor returns. A job that starts later does
/// nothing.
///
/// @param jobs  at most ESPL__JOB_LIMIT.
/// @return ESPL_OK, or ESPL_ERR_EXECUTOR: the executor started a job twice (the second start did
///         nothing), or never, or with an index out of range (that start did nothing), or a job did
///         not return. Builds with assertions then call the trap hook on the calling thread.
static inline espl_status espl__run_jobs(const espl_executor *executor, const espl_hooks *hooks,
                                         espl_job function, void *argument, size_t jobs)
{
    if (jobs > 1) {
        return espl__run_many_jobs(executor, hooks, function, argument, jobs);
    }
    if (jobs == 1) {
        function(argument, 0);
    }
    return ESPL_OK;
}

/// Cut [0, count) into jobs of nearly equal length and run them like espl__run_jobs(). The cut
/// depends on count and grain alone, not on the number of workers, so that results do not either.
///
/// @param grain  the least number of indices of a job; 0 counts as 1. Jobs are longer where there
///               would be more than ESPL__JOB_LIMIT of them.
static inline espl_status espl__run_ranges(const espl_executor *executor, const espl_hooks *hooks,
                                           espl__range_function function, void *context,
                                           size_t count, size_t grain)
{
    if (count / 2 >= (grain > 0 ? grain : 1)) {
        return espl__run_many_ranges(executor, hooks, function, context, count, grain);
    }
    if (count != 0) {
        function(context, 0, count);
    }
    return ESPL_OK;
}

#endif
