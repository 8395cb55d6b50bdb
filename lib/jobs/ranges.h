// SPDX-License-Identifier: MIT
// Runs a function over [0, count) on an executor and checks that each job ran exactly once. Sees a
// range, a function and a context, never a world.
#ifndef ESPALIER_LIB_JOBS_RANGES_H
#define ESPALIER_LIB_JOBS_RANGES_H

#include "lib/base/trap.h"

#include <espalier/jobs.h>

/// Work on indices [begin, end).
typedef void (*espl__range_function)(void *context, size_t begin, size_t end);

/// Most jobs of one run.
#define ESPL__JOB_LIMIT 4096

/// Tell whether an executor, NULL included, runs everything on the calling thread.
static inline bool espl__executor_is_serial(const espl_executor *executor)
{
    return executor == NULL || executor->parallel_for == NULL || executor->worker_count <= 1;
}

/// Call a function for each of [0, jobs), at most ESPL__JOB_LIMIT. A serial executor, and a single
/// job, run on the calling thread in order. Allocates nothing; uses 4 KiB of stack.
///
/// What the function wrote is visible to the caller on return, and what the caller wrote before is
/// visible to the function, even where the executor itself orders nothing.
///
/// A run from inside a job of the same executor is done on the calling thread, and the trap hears
/// of it. A job that is under way when the executor returns is waited for, and one that comes later
/// does nothing.
///
/// @return ESPL_OK, or ESPL_ERR_EXECUTOR: a job ran twice (its second run was suppressed), never
///         (it is not made up for), out of range (suppressed), or had not returned when the
///         executor did. The hooks' trap hears of it in checked builds, on the calling thread.
espl_status espl__run_jobs(const espl_executor *executor, const espl_hooks *hooks,
                           espl_job function, void *argument, size_t jobs);

/// Cut [0, count) into jobs of nearly equal length, at least `grain` indices each (0 counts as 1)
/// and at most ESPL__JOB_LIMIT jobs, and run them like espl__run_jobs(). The cut depends on count
/// and grain alone, not on the worker count.
espl_status espl__run_ranges(const espl_executor *executor, const espl_hooks *hooks,
                             espl__range_function function, void *context, size_t count,
                             size_t grain);

#endif
