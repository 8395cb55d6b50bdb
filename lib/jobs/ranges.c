// SPDX-License-Identifier: MIT
// One run is a struct on the caller's stack: what to call, and a state for each job by which a
// second run, a missing one and an index out of range are noticed without running work twice.
#include "lib/jobs/ranges.h"

#include <stdatomic.h>

enum { STATE_WAITING, STATE_CLAIMED, STATE_DONE };

typedef struct job_run {
    espl_job function;
    void *argument;
    size_t jobs;
    atomic_bool is_open; // stored last by the caller, loaded first by each job: orders the two
    atomic_bool ran_twice, ran_out_of_range;
    atomic_uchar state[ESPL__JOB_LIMIT]; // [jobs]
} job_run;

_Static_assert(sizeof(job_run) <= 4096 + 64, "a run is a small part of a 64 KiB stack");

static void run_job(void *argument, size_t index)
{
    job_run *const run = argument;

    (void)atomic_load_explicit(&run->is_open, memory_order_acquire);
    if (index >= run->jobs) {
        atomic_store_explicit(&run->ran_out_of_range, true, memory_order_relaxed);
        return;
    }
    unsigned char state = STATE_WAITING;
    if (!atomic_compare_exchange_strong_explicit(&run->state[index], &state, STATE_CLAIMED,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        atomic_store_explicit(&run->ran_twice, true, memory_order_relaxed);
        return;
    }

    run->function(run->argument, index);
    atomic_store_explicit(&run->state[index], STATE_DONE, memory_order_release);
}

static void open_run(job_run *run)
{
    atomic_init(&run->ran_twice, false);
    atomic_init(&run->ran_out_of_range, false);
    for (size_t job = 0; job < run->jobs; ++job) {
        atomic_init(&run->state[job], STATE_WAITING);
    }
    atomic_init(&run->is_open, false);
    atomic_store_explicit(&run->is_open, true, memory_order_release);
}

static bool all_done(job_run *run)
{
    for (size_t job = 0; job < run->jobs; ++job) {
        if (atomic_load_explicit(&run->state[job], memory_order_acquire) != STATE_DONE) {
            return false;
        }
    }
    return true;
}

espl_status espl__run_jobs(const espl_executor *executor, const espl_hooks *hooks,
                           espl_job function, void *argument, size_t jobs)
{
    ESPL_CHECK(jobs <= ESPL__JOB_LIMIT);
    if (jobs <= 1 || espl__executor_is_serial(executor)) {
        for (size_t job = 0; job < jobs; ++job) {
            function(argument, job);
        }
        return ESPL_OK;
    }

    job_run run = {.function = function, .argument = argument, .jobs = jobs};
    open_run(&run);
    executor->parallel_for(executor->context, run_job, &run, jobs);

    const bool every_job_returned = all_done(&run);
    const bool no_job_ran_twice = !atomic_load(&run.ran_twice);
    const bool no_index_past_the_count = !atomic_load(&run.ran_out_of_range);
    if (!ESPL_DEMAND(hooks, every_job_returned) || !ESPL_DEMAND(hooks, no_job_ran_twice) ||
        !ESPL_DEMAND(hooks, no_index_past_the_count)) {
        return ESPL_ERR_EXECUTOR;
    }
    return ESPL_OK;
}

// --- Ranges ---

typedef struct range_run {
    espl__range_function function;
    void *context;
    size_t count, jobs;
} range_run;

static size_t count_jobs(size_t count, size_t grain)
{
    const size_t most = count / (grain > 0 ? grain : 1);

    if (most > ESPL__JOB_LIMIT) {
        return ESPL__JOB_LIMIT;
    }
    return most > 0 ? most : 1;
}

// The first count % jobs jobs have one index more than the others.
static size_t job_begin(const range_run *run, size_t job)
{
    const size_t longer = run->count % run->jobs;

    return run->count / run->jobs * job + (job < longer ? job : longer);
}

static void run_range(void *argument, size_t job)
{
    const range_run *const run = argument;

    run->function(run->context, job_begin(run, job), job_begin(run, job + 1));
}

espl_status espl__run_ranges(const espl_executor *executor, const espl_hooks *hooks,
                             espl__range_function function, void *context, size_t count,
                             size_t grain)
{
    range_run run = {function, context, count, count_jobs(count, grain)};

    return count == 0 ? ESPL_OK : espl__run_jobs(executor, hooks, run_range, &run, run.jobs);
}
