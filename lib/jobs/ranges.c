// SPDX-License-Identifier: MIT
// One run is a struct on the caller's stack: what to call, and a state for each job by which a
// second run, a missing one and an index out of range are noticed without running work twice.
//
// Executors are handed a gate instead, which lives for ever: a call that comes when the run is over
// finds it shut, or works for whoever has it then, whose own call of that job is the second one.
#include "lib/jobs/ranges.h"

#include <stdatomic.h>
#include <time.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#endif

enum { STATE_WAITING, STATE_CLAIMED, STATE_DONE };
// Runs at once, of all worlds; one that finds no gate works on the calling thread.
enum { GATES = 64 };
// Seconds that the calling thread waits for jobs which are under way though their executor has
// returned: they are done soon, but for those whose thread was ended in the middle.
enum { PATIENCE = 2 };

typedef struct job_run {
    espl_job function;
    void *argument;
    size_t jobs;
    const espl_executor *executor;
    atomic_bool ran_twice, ran_out_of_range;
    atomic_uchar state[ESPL__JOB_LIMIT]; // [jobs]
} job_run;

_Static_assert(sizeof(job_run) <= 4096 + 64, "a run is a small part of a 64 KiB stack");

typedef struct gate {
    _Alignas(64) _Atomic(job_run *) run; // NULL: shut
    atomic_uint inside;                  // calls that are under way
    atomic_bool is_taken;
} gate;

static gate gates[GATES];
static atomic_uint next_gate; // in turns, so that a late call hardly ever finds a run

// Jobs that are under way on a thread, the innermost first.
typedef struct work {
    const job_run *run;
    const struct work *outer;
} work;

static _Thread_local const work *work_here;

// --- A job ---

static void do_job(job_run *run, size_t index)
{
    const work here = {run, work_here};
    unsigned char state = STATE_WAITING;

    if (index >= run->jobs) {
        atomic_store_explicit(&run->ran_out_of_range, true, memory_order_relaxed);
        return;
    }
    if (!atomic_compare_exchange_strong_explicit(&run->state[index], &state, STATE_CLAIMED,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        atomic_store_explicit(&run->ran_twice, true, memory_order_relaxed);
        return;
    }

    work_here = &here;
    run->function(run->argument, index);
    work_here = here.outer;
    atomic_store_explicit(&run->state[index], STATE_DONE, memory_order_release);
}

// Whoever is counted first and then finds the gate open is waited for when it is shut.
static void enter(void *argument, size_t index)
{
    gate *const g = argument;

    (void)atomic_fetch_add(&g->inside, 1);
    job_run *const run = atomic_load(&g->run);

    if (run != NULL) {
        do_job(run, index);
    }
    (void)atomic_fetch_sub(&g->inside, 1);
}

// --- Gates ---

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

static void let_others_run(void)
{
#if defined(__unix__) || defined(__APPLE__)
    (void)sched_yield();
#endif
}

// Wait until nobody is inside, as long as that may take. Tells whether nobody is.
static bool wait_outside(gate *g)
{
    struct timespec begin, now;

    if (atomic_load(&g->inside) == 0) {
        return true;
    }
    (void)timespec_get(&begin, TIME_UTC);
    do {
        let_others_run();
        (void)timespec_get(&now, TIME_UTC);
    } while (atomic_load(&g->inside) != 0 && now.tv_sec <= begin.tv_sec + PATIENCE);
    return atomic_load(&g->inside) == 0;
}

// Shut a gate behind its run. One that somebody stays in for ever is not taken again.
static bool shut_gate(gate *g)
{
    atomic_store(&g->run, NULL);
    const bool is_empty = wait_outside(g);

    if (is_empty) {
        atomic_store_explicit(&g->is_taken, false, memory_order_release);
    }
    return is_empty;
}

// --- A run ---

static void open_run(job_run *run)
{
    atomic_init(&run->ran_twice, false);
    atomic_init(&run->ran_out_of_range, false);
    for (size_t job = 0; job < run->jobs; ++job) {
        atomic_init(&run->state[job], STATE_WAITING);
    }
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

// Tell whether a job of this executor is under way on this thread.
static bool is_inside(const espl_executor *executor)
{
    bool is_same = false;

    for (const work *w = work_here; w != NULL && !is_same; w = w->outer) {
        is_same = w->run->executor->parallel_for == executor->parallel_for &&
                  w->run->executor->context == executor->context;
    }
    return is_same;
}

static void run_here(espl_job function, void *argument, size_t jobs)
{
    for (size_t job = 0; job < jobs; ++job) {
        function(argument, job);
    }
}

static espl_status run_through(gate *g, job_run *run, const espl_hooks *hooks)
{
    const espl_executor *const executor = run->executor;

    open_run(run);
    atomic_store(&g->run, run);
    executor->parallel_for(executor->context, enter, g, run->jobs);

    // Jobs that are under way still are no fault of the work, which must not be done beside them.
    const bool is_done = all_done(run);
    const bool is_empty = shut_gate(g);
    // Done and not empty is one whose thread is held up for seconds between the end of its job and
    // the gate, which no executor can see to.
    const bool every_job_returned = is_done && is_empty; // GCOVR_EXCL_BR_LINE
    const bool no_job_ran_twice = !atomic_load(&run->ran_twice);
    const bool no_index_past_the_count = !atomic_load(&run->ran_out_of_range);
    if (!ESPL_DEMAND(hooks, every_job_returned) || !ESPL_DEMAND(hooks, no_job_ran_twice) ||
        !ESPL_DEMAND(hooks, no_index_past_the_count)) {
        return ESPL_ERR_EXECUTOR;
    }
    return ESPL_OK;
}

espl_status espl__run_jobs(const espl_executor *executor, const espl_hooks *hooks,
                           espl_job function, void *argument, size_t jobs)
{
    ESPL_CHECK(jobs <= ESPL__JOB_LIMIT);
    if (jobs <= 1 || espl__executor_is_serial(executor)) {
        run_here(function, argument, jobs);
        return ESPL_OK;
    }
    // Executors need not be able to wait for themselves.
    const bool no_run_inside_a_job = !is_inside(executor);
    gate *const g = ESPL_DEMAND(hooks, no_run_inside_a_job) ? take_gate() : NULL;

    if (g == NULL) {
        run_here(function, argument, jobs);
        return ESPL_OK;
    }
    job_run run = {.function = function, .argument = argument, .jobs = jobs, .executor = executor};

    return run_through(g, &run, hooks);
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

    if (run.jobs > 1) {
        return espl__run_jobs(executor, hooks, run_range, &run, run.jobs);
    }
    if (count != 0) {
        function(context, 0, count);
    }
    return ESPL_OK;
}
