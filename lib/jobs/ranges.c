// SPDX-License-Identifier: MIT
// A loop is a struct on the stack of its caller: the function, and a state for each job, by which
// second starts, missing jobs and indices out of range are found without running work twice.
//
// The executor does not get the address of the loop but that of a gate, which has static storage,
// because a faulty executor may start a job after the loop has returned. Such a late start finds
// the gate closed and does nothing. Where another loop has opened the gate since, the late start
// runs a job of that loop, and the own start of that job is then the second one.
#include "lib/jobs/ranges.h"

#include "lib/base/float_modes.h"
#include "lib/base/system.h"

#include <stdatomic.h>

enum { STATE_WAITING, STATE_CLAIMED, STATE_DONE };
// The largest number of parallel loops at a time, of all worlds. A further loop is serial.
enum { GATES = 64 };
// Seconds to wait for jobs that still run after the executor has returned. Jobs end soon; the limit
// is for a job whose thread was killed.
enum { WAIT_SECONDS = 2 };

typedef struct job_loop {
    espl_job function;
    void *argument;
    size_t jobs;
    const espl_executor *executor;
    atomic_bool ran_twice, ran_out_of_range;
    atomic_uchar state[ESPL__JOB_LIMIT]; // [jobs]
} job_loop;

_Static_assert(sizeof(job_loop) <= 4096 + 64, "a loop is a small part of a 64 KiB stack");

typedef struct gate {
    _Alignas(64) _Atomic(job_loop *) loop; // NULL: closed
    atomic_uint calls_inside;              // calls of run_through_gate() that have not returned
    atomic_bool is_taken;
} gate;

static gate gates[GATES];
// Gates are taken in turn, so that a gate stays closed for long before its next loop: a late start
// then rarely finds a loop that it does not belong to.
static atomic_uint next_gate;

// A job that runs on this thread, and the job that started its loop.
typedef struct running_job {
    const job_loop *loop;
    const struct running_job *outer;
} running_job;

static ESPL__THREAD_LOCAL const running_job *innermost_job; // NULL: no job runs on this thread

// --- A job ---

// Run a job unless its index is out of range or it was claimed before. The exchange makes one
// caller the owner of the job. It needs no order, because the gate and the states of the jobs order
// memory.
static void run_once(job_loop *loop, size_t index)
{
    const running_job here = {loop, innermost_job};
    unsigned char state = STATE_WAITING;

    if (index >= loop->jobs) {
        atomic_store_explicit(&loop->ran_out_of_range, true, memory_order_relaxed);
        return;
    }
    if (!atomic_compare_exchange_strong_explicit(&loop->state[index], &state, STATE_CLAIMED,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        atomic_store_explicit(&loop->ran_twice, true, memory_order_relaxed);
        return;
    }

    innermost_job = &here;
    // The thread may be one of a pool, with modes that the pool was created in.
    const uint32_t modes = espl__float_modes_begin();

    loop->function(loop->argument, index);
    espl__float_modes_end(modes);
    ESPL_CHECK(innermost_job == &here);
    innermost_job = here.outer;
    atomic_store_explicit(&loop->state[index], STATE_DONE, memory_order_release);
}

// What the executor calls. The call counts itself before it reads the loop, so that close_gate()
// waits for each call that found the gate open.
static void run_through_gate(void *argument, size_t index)
{
    gate *const g = argument;

    (void)atomic_fetch_add(&g->calls_inside, 1);
    job_loop *const loop = atomic_load(&g->loop);

    if (loop != NULL) {
        run_once(loop, index);
    }
    const unsigned before = atomic_fetch_sub(&g->calls_inside, 1);

    ESPL_CHECK(before > 0);
    (void)before;
}

// --- Gates ---

// Return a gate that no loop uses, or NULL where all are in use.
static gate *take_gate(void)
{
    for (unsigned i = 0; i < GATES; ++i) {
        gate *const g =
            &gates[atomic_fetch_add_explicit(&next_gate, 1, memory_order_relaxed) % GATES];

        if (!atomic_exchange_explicit(&g->is_taken, true, memory_order_acquire)) {
            return g;
        }
    }
    return NULL;
}

// Wait until no call is inside, for at most WAIT_SECONDS. Returns whether no call is inside.
static bool wait_until_empty(gate *g)
{
    if (atomic_load(&g->calls_inside) == 0) {
        return true;
    }
    const uint64_t end = espl__system_time() + WAIT_SECONDS * UINT64_C(1000000000);

    do {
        espl__system_yield();
    } while (atomic_load(&g->calls_inside) != 0 && espl__system_time() < end);
    return atomic_load(&g->calls_inside) == 0;
}

// Close a gate after its loop. A gate that a call does not leave stays taken, because that call may
// still read the loop. Returns whether no call is inside.
static bool close_gate(gate *g)
{
    ESPL_CHECK(atomic_load(&g->is_taken));
    atomic_store(&g->loop, NULL);
    const bool is_empty = wait_until_empty(g);

    if (is_empty) {
        atomic_store_explicit(&g->is_taken, false, memory_order_release);
    }
    return is_empty;
}

// --- A loop ---

static void init_states(job_loop *loop)
{
    atomic_init(&loop->ran_twice, false);
    atomic_init(&loop->ran_out_of_range, false);
    for (size_t job = 0; job < loop->jobs; ++job) {
        atomic_init(&loop->state[job], STATE_WAITING);
    }
}

// Reads with acquire, so that the caller sees what the jobs wrote.
static bool are_all_done(job_loop *loop)
{
    for (size_t job = 0; job < loop->jobs; ++job) {
        if (atomic_load_explicit(&loop->state[job], memory_order_acquire) != STATE_DONE) {
            return false;
        }
    }
    return true;
}

// Tell whether a job of this executor runs on this thread.
static bool is_inside_job(const espl_executor *executor)
{
    bool is_same = false;

    for (const running_job *job = innermost_job; job != NULL && !is_same; job = job->outer) {
        is_same = job->loop->executor->parallel_for == executor->parallel_for &&
                  job->loop->executor->context == executor->context;
    }
    return is_same;
}

static void run_serially(espl_job function, void *argument, size_t jobs)
{
    for (size_t job = 0; job < jobs; ++job) {
        function(argument, job);
    }
}

static espl_status run_on_executor(gate *g, job_loop *loop, const espl_hooks *hooks)
{
    const espl_executor *const executor = loop->executor;

    ESPL_CHECK(atomic_load(&g->loop) == NULL);
    init_states(loop);
    atomic_store(&g->loop, loop);
    executor->parallel_for(executor->context, run_through_gate, g, loop->jobs);

    // The states are read before the wait: a job that still runs is a fault of the executor. The
    // wait keeps the job from running concurrently with what the caller does next.
    const bool is_done = are_all_done(loop);
    const bool is_empty = close_gate(g);
    // A thread may be suspended for seconds between the end of its job and the gate. No executor
    // can prevent that, and no test can provoke it.
    const bool have_returned = is_done && is_empty; // GCOVR_EXCL_BR_LINE
    const bool is_valid =
        ESPL_DEMAND(
            hooks, have_returned,
            "parallel_for of the executor returned before each job had run and returned.") &&
        ESPL_DEMAND(hooks, !atomic_load(&loop->ran_twice),
                    "parallel_for of the executor ran a job twice.") &&
        ESPL_DEMAND(hooks, !atomic_load(&loop->ran_out_of_range),
                    "parallel_for of the executor ran a job whose index is not below the count.");

    return is_valid ? ESPL_OK : ESPL_ERR_EXECUTOR;
}

espl_status espl__run_many_jobs(const espl_executor *executor, const espl_hooks *hooks,
                                espl_job function, void *argument, size_t jobs)
{
    ESPL_CHECK(jobs > 1 && jobs <= ESPL__JOB_LIMIT && function != NULL);
    if (espl__executor_is_serial(executor)) {
        run_serially(function, argument, jobs);
        return ESPL_OK;
    }
    // A nested loop is serial, because an executor may deadlock when a job waits for other jobs.
    const bool may_run = ESPL_DEMAND(hooks, !is_inside_job(executor),
                                     "A job of an executor made a call that runs jobs on the same "
                                     "executor; they run on the calling thread.");
    gate *const g = may_run ? take_gate() : NULL;

    if (g == NULL) {
        run_serially(function, argument, jobs);
        return ESPL_OK;
    }
    job_loop loop = {
        .function = function, .argument = argument, .jobs = jobs, .executor = executor};

    return run_on_executor(g, &loop, hooks);
}

// --- Ranges ---

typedef struct range_loop {
    espl__range_function function;
    void *context;
    size_t count, jobs;
} range_loop;

// The first count % jobs jobs have one index more than the others.
static size_t job_begin(const range_loop *loop, size_t job)
{
    const size_t longer = loop->count % loop->jobs;

    ESPL_CHECK(job <= loop->jobs);
    return loop->count / loop->jobs * job + (job < longer ? job : longer);
}

static void run_range(void *argument, size_t job)
{
    const range_loop *const loop = argument;
    const size_t begin = job_begin(loop, job), end = job_begin(loop, job + 1);

    ESPL_CHECK(begin < end && end <= loop->count);
    loop->function(loop->context, begin, end);
}

espl_status espl__run_many_ranges(const espl_executor *executor, const espl_hooks *hooks,
                                  espl__range_function function, void *context, size_t count,
                                  size_t grain)
{
    const size_t most = count / (grain > 0 ? grain : 1);
    const size_t jobs = most < ESPL__JOB_LIMIT ? most : ESPL__JOB_LIMIT;
    range_loop loop = {function, context, count, jobs};

    return espl__run_jobs(executor, hooks, run_range, &loop, jobs);
}
