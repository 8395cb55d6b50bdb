// SPDX-License-Identifier: MIT
/// @file
/// Where parallel work runs. An engine can provide its own executor; the library has two.
///
/// Thread rule: executors may be created and destroyed from any thread, each by one thread at a time,
/// and not while a world that uses it is inside a call. An espl_executor says which threads its jobs run
/// on.
#ifndef ESPALIER_JOBS_H
#define ESPALIER_JOBS_H

#include <espalier/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A job of a range: called once for each index in [0, count).
typedef void (*espl_job)(void *argument, size_t index);

/// A way to run jobs. All zero means serial: on the calling thread, in order. Never grows.
///
/// The library checks the executor. A second call of a job and an index out of range do nothing. A
/// call that has only read so far is refused with ESPL_ERR_EXECUTOR if a job was not called, called
/// twice or out of range; once a change is under way the calling thread runs the missing jobs.
/// Checked builds call the trap hook for each of these faults, and also if parallel_for returns too
/// early: the library then waits for running jobs, a few seconds at most, and later calls do nothing.
///
/// A job runs in the modes in which a program starts: it rounds to nearest and keeps denormals, whatever
/// modes its thread has, and leaves them as they were. So all threads compute the same bits, those of a
/// pool too that was made while its maker flushed denormals to zero. On x86 and AArch64; elsewhere the
/// threads must have these modes.
///
/// Threads that wait inside parallel_for may help with other work of the program. While a call works
/// on a world, every other change of it is refused with ESPL_ERR_BUSY, and a read may see the middle
/// of a change. Such threads may call anything for another world on the same executor, if the
/// executor can run several ranges at once. A job must not: its range then runs on the calling
/// thread, and the trap hook is called.
typedef struct espl_executor {
    /// Passed to parallel_for.
    void *context;
    /// How many jobs may run at once; 0 counts as 1.
    uint32_t worker_count;
    /// Call function(argument, i) exactly once for each i in [0, count), on any threads in any
    /// order, and return when all have returned. Jobs do not wait for each other. Never called from
    /// inside one of its own jobs. NULL means serial.
    void (*parallel_for)(void *context, espl_job function, void *argument, size_t count);
} espl_executor;

/// Most workers that espl_executor_create() starts.
#define ESPL_WORKER_LIMIT 1024

/// What a worker does while it has no job.
typedef enum espl_idle {
    /// Sleep at once, and leave the core to others. Waking a worker takes some 25 microseconds.
    ESPL_IDLE_SLEEP = 0,
    /// Look for work for some milliseconds before it sleeps, and start a new job within one or two
    /// microseconds. For small worlds, on cores that no other work needs: each of them is busy while
    /// calls follow each other.
    ESPL_IDLE_SPIN = 1,
} espl_idle;

/// How to start worker threads. {0}: one for each processor, which sleep while they are idle. Grows
/// into `reserved`.
typedef struct espl_threads_def {
    uint32_t workers; ///< The calling thread included, at most ESPL_WORKER_LIMIT; 0: one for each
                      ///< processor.
    espl_idle idle;
    uintptr_t reserved[4]; ///< Must be 0 (GROWTH in espalier(3)).
} espl_threads_def;

/// Start worker threads with pthreadpool, and make an executor of them.
///
/// @param out  the executor; unchanged when refused.
/// @param def  NULL means {0}; not kept.
/// @return ESPL_OK; ESPL_ERR_ARGUMENT (out is NULL; no such espl_idle); ESPL_ERR_UNSUPPORTED (the library
///         was built without pthreadpool); ESPL_ERR_LIMIT (more than ESPL_WORKER_LIMIT workers);
///         ESPL_ERR_NO_MEMORY (the threads could not be started).
///
/// One executor may serve several worlds, but not two calls at once. Destroy it after them.
ESPL_API ESPL_NODISCARD espl_status espl_executor_create(const espl_threads_def *def,
                                                         espl_executor *out);

/// Stop the workers of espl_executor_create() and make the executor serial. For any other executor,
/// and NULL, it does nothing. A copy of the executor must not be used any more.
ESPL_API void espl_executor_destroy(espl_executor *executor);

#ifdef __cplusplus
}
#endif

#endif
