// SPDX-License-Identifier: MIT
#include "lib/jobs/ranges.h"

#include "tests/asked.h"
#include "tests/base/abort.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { MOST = 20000 };

// What a run left behind: how often each index ran, and where pieces began. The marks are plain
// memory on purpose: a race or a missing order between threads is for ThreadSanitizer to find.
typedef struct record {
    unsigned char ran[MOST];
    unsigned char begins[MOST];
    atomic_size_t pieces;
    size_t count, grain;
    atomic_bool has_short_piece;
} record;

static record now;

static void mark(void *context, size_t begin, size_t end)
{
    record *const r = context;

    r->begins[begin] += 1;
    for (size_t i = begin; i < end; ++i) {
        r->ran[i] += 1;
    }
    if (end - begin < r->grain && end - begin < r->count) {
        atomic_store(&r->has_short_piece, true);
    }
    atomic_fetch_add(&r->pieces, 1);
}

static espl_status run_marked(const espl_executor *executor, const espl_hooks *hooks, size_t count,
                              size_t grain)
{
    memset(&now, 0, sizeof now);
    now.count = count;
    now.grain = grain;
    return espl__run_ranges(executor, hooks, mark, &now, count, grain);
}

static size_t count_other_than_once(size_t count)
{
    size_t others = 0;

    for (size_t i = 0; i < count; ++i) {
        others += now.ran[i] != 1;
    }
    return others;
}

static const size_t counts[] = {0, 1, 2, 3, 7, 63, 64, 65, 128, 4095, 4096, 4097, 8191, MOST};
static const size_t grains[] = {0, 1, 2, 3, 64, 1000, MOST, SIZE_MAX};

enum { COUNTS = sizeof counts / sizeof *counts, GRAINS = sizeof grains / sizeof *grains };

// Runs all counts and grains on an executor and compares with the cut of the serial run.
static void runs_like_serial(const espl_executor *executor)
{
    static unsigned char serial_begins[MOST];

    for (int i = 0; i < COUNTS * GRAINS; ++i) {
        const size_t count = counts[i / GRAINS], grain = grains[i % GRAINS];

        ck_ok(run_marked(NULL, NULL, count, grain));
        const size_t serial_pieces = atomic_load(&now.pieces);
        memcpy(serial_begins, now.begins, sizeof serial_begins);

        ck_ok(run_marked(executor, NULL, count, grain));
        ck_assert_uint_eq(count_other_than_once(count), 0);
        ck_assert_uint_eq(atomic_load(&now.pieces), serial_pieces);
        ck_assert_mem_eq(now.begins, serial_begins, sizeof serial_begins);
    }
}

TEST(serial_run_covers_every_index_once_in_legal_pieces)
{
    for (int i = 0; i < COUNTS * GRAINS; ++i) {
        const size_t count = counts[i / GRAINS], grain = grains[i % GRAINS];

        ck_ok(run_marked(NULL, NULL, count, grain));
        ck_assert_uint_eq(count_other_than_once(count), 0);
        ck_assert(!atomic_load(&now.has_short_piece));
        ck_assert_uint_le(atomic_load(&now.pieces), ESPL__JOB_LIMIT);
        ck_assert_uint_le(atomic_load(&now.pieces), count);
        ck_assert(count < 2 || grain > count / 2 || atomic_load(&now.pieces) > 1);
    }
}

TEST(any_order_of_jobs_gives_the_same_cut)
{
    const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED};

    for (size_t i = 0; i < 3; ++i) {
        for (uint32_t workers = 0; workers <= 8; ++workers) {
            test_executor hostile = {.manner = manners[i], .workers = workers, .random = workers};
            const espl_executor executor = test_executor_of(&hostile);

            runs_like_serial(&executor);
            ck_assert_int_eq(hostile.calls > 0, workers > 1);
        }
    }
}

TEST(any_number_of_threads_gives_the_same_cut)
{
    for (uint32_t workers = 1; workers <= 8 && test_has_threads(); ++workers) {
        espl_executor executor;

        ck_ok(espl_executor_create(&(espl_threads_def){.workers = workers}, &executor));
        runs_like_serial(&executor);
        espl_executor_destroy(&executor);
    }
}

TEST(null_and_empty_executors_are_serial)
{
    const espl_executor empty = {0}, serial = (espl_executor){0};

    runs_like_serial(&empty);
    runs_like_serial(&serial);
}

typedef struct cover {
    size_t next, pieces, shortest, longest;
} cover;

static void follow(void *context, size_t begin, size_t end)
{
    cover *const c = context;

    ck_assert_uint_eq(begin, c->next);
    ck_assert_uint_gt(end, begin);
    c->next = end;
    c->pieces += 1;
    c->shortest = end - begin < c->shortest ? end - begin : c->shortest;
    c->longest = end - begin > c->longest ? end - begin : c->longest;
}

TEST(pieces_follow_each_other_up_to_the_largest_count)
{
    const size_t large[] = {1, 4097, 1000003, SIZE_MAX / 2 + 1, SIZE_MAX - 1, SIZE_MAX};

    for (size_t i = 0; i < sizeof large / sizeof *large; ++i) {
        for (size_t k = 0; k < GRAINS; ++k) {
            cover c = {.shortest = SIZE_MAX};

            ck_ok(espl__run_ranges(NULL, NULL, follow, &c, large[i], grains[k]));
            ck_assert_uint_eq(c.next, large[i]);
            ck_assert_uint_le(c.pieces, ESPL__JOB_LIMIT);
            ck_assert_uint_le(c.longest - c.shortest, 1);
            ck_assert(c.pieces == 1 || c.shortest >= grains[k]);
        }
    }
}

TEST(single_job_stays_on_the_calling_thread)
{
    test_executor hostile = {.manner = TEST_SKIPS_ONE, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);

    ck_ok(run_marked(&executor, NULL, 100, 100));
    ck_ok(run_marked(&executor, NULL, 199, 100));
    ck_ok(run_marked(&executor, NULL, 0, 1));
    ck_assert_uint_eq(hostile.calls, 0);
}

// --- Executors that break the rule ---

// Runs on a faulty executor: refused, heard once on this thread, and no index ran twice.
static void is_refused(const espl_executor *executor, const char *condition, size_t missing)
{
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);
    size_t never = 0;

    ck_status(run_marked(executor, &hooks, 1000, 10), ESPL_ERR_EXECUTOR);
    for (size_t i = 0; i < 1000; ++i) {
        ck_assert_uint_le(now.ran[i], 1);
        never += now.ran[i] == 0;
    }
    ck_assert_uint_eq(never, missing);
    ck_assert_uint_eq(heard.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    ck_assert(ESPL_CHECKS == 0 || strstr(heard.last_line, condition) != NULL);
}

TEST(skipped_job_is_reported_and_not_made_up_for)
{
    test_executor hostile = {.manner = TEST_SKIPS_ONE, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);

    is_refused(&executor, "returned before each job had run and returned", 10);
}

TEST(second_run_of_a_job_is_suppressed)
{
    test_executor hostile = {.manner = TEST_RUNS_TWICE, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);

    is_refused(&executor, "ran a job twice", 0);
}

TEST(index_out_of_range_is_suppressed)
{
    test_executor hostile = {.manner = TEST_OUT_OF_RANGE, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);

    is_refused(&executor, "whose index is not below the count", 0);
}

static void call_first_past_the_end(void *context, espl_job function, void *argument, size_t count)
{
    const size_t *const past = context;

    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
    function(argument, *past == 0 ? count : *past);
}

TEST(every_index_past_the_count_is_out_of_range)
{
    size_t pasts[] = {0, ESPL__JOB_LIMIT - 1, ESPL__JOB_LIMIT, SIZE_MAX / 2, SIZE_MAX};

    for (size_t i = 0; i < sizeof pasts / sizeof *pasts; ++i) {
        const espl_executor executor = {&pasts[i], 2, call_first_past_the_end};

        is_refused(&executor, "whose index is not below the count", 0);
    }
}

typedef struct whole_run {
    espl_job function;
    void *argument;
    size_t count;
} whole_run;

static void *run_whole(void *argument)
{
    const whole_run *const run = argument;

    for (size_t i = 0; i < run->count; ++i) {
        run->function(run->argument, i);
    }
    return NULL;
}

static void run_all_on_two_threads(void *context, espl_job function, void *argument, size_t count)
{
    whole_run run = {function, argument, count};
    pthread_t threads[2];

    (void)context;
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_whole, &run), 0);
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
}

TEST(two_threads_racing_for_a_job_run_it_once)
{
    const espl_executor executor = {NULL, 2, run_all_on_two_threads};

    for (size_t i = 0; i < test_scaled(100); ++i) {
        is_refused(&executor, "ran a job twice", 0);
    }
}

static void leave_in_mid_job(void *context, size_t begin, size_t end)
{
    mark(context, begin, end);
    if (begin == 0) {
        pthread_exit(NULL);
    }
}

static void run_on_a_thread_each(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; ++i) {
        whole_run run = {function, argument, 1};
        pthread_t thread;

        if (i > 0) {
            function(argument, i);
            continue;
        }
        ck_assert_int_eq(pthread_create(&thread, NULL, run_whole, &run), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
}

TEST(job_that_has_not_returned_is_reported)
{
    const espl_executor executor = {NULL, 2, run_on_a_thread_each};
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    memset(&now, 0, sizeof now);
    ck_status(espl__run_ranges(&executor, &hooks, leave_in_mid_job, &now, 100, 10),
              ESPL_ERR_EXECUTOR);
    ck_assert_uint_eq(count_other_than_once(100), 0);
    ck_ok(espl__run_ranges(&executor, &hooks, mark, &now, 100, 10));
}

// --- Executors that return too early ---

// A job that waits until it is let go, and what was called when.
typedef struct early {
    atomic_bool has_begun, may_end;
    whole_run late;     // what the executor was handed
    pthread_t thread;   // runs the first job
    pthread_t releaser; // lets the first job go
} early;

static early now_early;

static void wait_in_first_job(void *context, size_t begin, size_t end)
{
    if (begin == 0) {
        atomic_store(&now_early.has_begun, true);
        while (!atomic_load(&now_early.may_end)) {
            sched_yield();
        }
    }
    mark(context, begin, end);
}

static void *run_first(void *argument)
{
    const whole_run *const run = argument;

    run->function(run->argument, 0);
    return NULL;
}

static void *let_go_later(void *argument)
{
    const struct timespec a_while = {0, 200000000};

    (void)argument;
    (void)nanosleep(&a_while, NULL);
    atomic_store(&now_early.may_end, true);
    return NULL;
}

// The first job is under way on another thread when this returns. The time until it is let go begins last:
// on a busy machine it must be longer than the time until the library looks at the jobs.
static void return_in_mid_job(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    now_early.late = (whole_run){function, argument, count};
    ck_assert_int_eq(pthread_create(&now_early.thread, NULL, run_first, &now_early.late), 0);
    for (size_t i = 1; i < count; ++i) {
        function(argument, i);
    }
    while (!atomic_load(&now_early.has_begun)) {
        sched_yield();
    }
    ck_assert_int_eq(pthread_create(&now_early.releaser, NULL, let_go_later, NULL), 0);
}

TEST(job_that_is_under_way_is_waited_for_and_reported)
{
    const espl_executor executor = {NULL, 2, return_in_mid_job};
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    memset(&now, 0, sizeof now);
    ck_status(espl__run_ranges(&executor, &hooks, wait_in_first_job, &now, 100, 10),
              ESPL_ERR_EXECUTOR);
    // Nothing runs any more, and all that was called was done.
    ck_assert_uint_eq(count_other_than_once(100), 0);
    ck_assert_uint_eq(heard.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    ck_assert(ESPL_CHECKS == 0 ||
              strstr(heard.last_line, "returned before each job had run and returned") != NULL);
    ck_assert_int_eq(pthread_join(now_early.releaser, NULL), 0);
    ck_assert_int_eq(pthread_join(now_early.thread, NULL), 0);
}

// Leaves the first job to somebody who does not come in time.
static void leave_first(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    now_early.late = (whole_run){function, argument, count};
    for (size_t i = 1; i < count; ++i) {
        function(argument, i);
    }
}

TEST(job_that_comes_when_all_is_over_does_nothing)
{
    const espl_executor executor = {NULL, 2, leave_first};
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    for (size_t i = 0; i < 200; ++i) {
        ck_status(run_marked(&executor, &hooks, 1000, 10), ESPL_ERR_EXECUTOR);
        ck_assert_uint_eq(count_other_than_once(1000), 10);
        ck_assert_ptr_null(run_first(&now_early.late));
        ck_assert_uint_eq(count_other_than_once(1000), 10);
    }
    ck_assert_uint_eq(heard.traps, ESPL_CHECKS >= 1 ? 200 : 0);
}

// Somebody of a run that is over comes while others are under way.
static void call_late_in_between(void *context, espl_job function, void *argument, size_t count)
{
    size_t *const met = context;

    for (size_t i = 0; i < count; ++i) {
        if (i == count / 2) {
            *met += now_early.late.argument == argument;
            now_early.late.function(now_early.late.argument, count - 1);
        }
        function(argument, i);
    }
}

TEST(job_that_comes_in_another_run_does_no_work_twice)
{
    size_t met = 0, told = 0;
    const espl_executor hasty = {NULL, 2, leave_first}, executor = {&met, 2, call_late_in_between};
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    ck_status(run_marked(&hasty, &hooks, 1000, 10), ESPL_ERR_EXECUTOR);
    for (size_t i = 0; i < 200; ++i) {
        told += run_marked(&executor, &hooks, 1000, 10) == ESPL_ERR_EXECUTOR;
        ck_assert_uint_eq(count_other_than_once(1000), 0);
    }
    // It met another run now and then, and each of these was told.
    ck_assert_uint_gt(met, 0);
    ck_assert_uint_lt(met, 20);
    ck_assert_uint_eq(told, met);
}

// --- Runs inside jobs ---

static const espl_executor *nesting;
static const espl_hooks *nesting_hooks;

static void run_another(void *context, size_t begin, size_t end)
{
    if (begin == 0) {
        ck_ok(espl__run_ranges(nesting, nesting_hooks, mark, &now, 1000, 10));
    }
    (void)context;
    (void)end;
}

TEST(run_inside_a_job_of_its_executor_is_told_and_done_here)
{
    test_executor legal = {.manner = TEST_SHUFFLED, .workers = 4},
                  other = {.manner = TEST_SHUFFLED, .workers = 4};
    const espl_executor outer = test_executor_of(&legal), inner = test_executor_of(&other);
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    memset(&now, 0, sizeof now);
    nesting = &outer;
    nesting_hooks = &hooks;
    ck_ok(espl__run_ranges(&outer, &hooks, run_another, NULL, 100, 10));
    ck_assert_uint_eq(count_other_than_once(1000), 0);
    ck_assert_uint_eq(legal.calls, 1);
    ck_assert_uint_eq(heard.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    ck_assert(ESPL_CHECKS == 0 ||
              strstr(heard.last_line, "runs jobs on the same executor") != NULL);

    // That of another one is none of its business.
    memset(&now, 0, sizeof now);
    nesting = &inner;
    heard.traps = 0;
    ck_ok(espl__run_ranges(&outer, &hooks, run_another, NULL, 100, 10));
    ck_assert_uint_eq(count_other_than_once(1000), 0);
    ck_assert_uint_eq(other.calls, 1);
    ck_assert_uint_eq(heard.traps, 0);
}

static const espl_executor *middle;

// Between the run of run_another() and the outermost one.
static void run_the_middle(void *context, size_t begin, size_t end)
{
    if (begin == 0) {
        ck_ok(espl__run_ranges(middle, NULL, run_another, NULL, 100, 10));
    }
    (void)context;
    (void)end;
}

static void run_in_order(void *context, espl_job function, void *argument, size_t count)
{
    size_t *const calls = context;

    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
    *calls += 1;
}

static void run_backwards(void *context, espl_job function, void *argument, size_t count)
{
    size_t *const calls = context;

    for (size_t i = count; i > 0; --i) {
        function(argument, i - 1);
    }
    *calls += 1;
}

TEST(run_inside_any_job_around_it_is_told)
{
    size_t calls = 0, middle_calls = 0;
    const espl_executor outer = {&calls, 2, run_in_order}, other = {&middle_calls, 2, run_in_order};
    const espl_executor *const nested[] = {&outer, &other};
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    middle = &other;
    nesting_hooks = &hooks;
    for (size_t i = 0; i < 2; ++i) {
        memset(&now, 0, sizeof now);
        nesting = nested[i];
        ck_ok(espl__run_ranges(&outer, &hooks, run_the_middle, NULL, 100, 10));
        ck_assert_uint_eq(count_other_than_once(1000), 0);
        ck_assert_uint_eq(calls, i + 1);
        ck_assert_uint_eq(middle_calls, i + 1);
        ck_assert_uint_eq(heard.traps, ESPL_CHECKS >= 1 ? i + 1 : 0);
    }
    middle = nesting = NULL;
    nesting_hooks = NULL;
}

TEST(executors_that_share_a_context_are_two)
{
    size_t calls = 0;
    const espl_executor outer = {&calls, 2, run_in_order}, inner = {&calls, 2, run_backwards};
    test_hooks heard = {0};
    const espl_hooks hooks = test_hooks_of(&heard);

    memset(&now, 0, sizeof now);
    nesting = &inner;
    nesting_hooks = &hooks;
    ck_ok(espl__run_ranges(&outer, &hooks, run_another, NULL, 100, 10));
    ck_assert_uint_eq(count_other_than_once(1000), 0);
    ck_assert_uint_eq(calls, 2);
    ck_assert_uint_eq(heard.traps, 0);
    nesting = NULL;
    nesting_hooks = NULL;
}

static void skip_without_hooks(void)
{
    test_executor hostile = {.manner = TEST_SKIPS_ONE, .workers = 4};
    const espl_executor executor = test_executor_of(&hostile);

    (void)run_marked(&executor, NULL, 1000, 10);
}

TEST(fault_without_a_hook_aborts_checked_builds)
{
    char said[256];

    if (ESPL_CHECKS >= 1) {
        expect_abort(skip_without_hooks, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "returned before each job had run and returned"));
    }
}

// --- Runs within runs ---

enum { DEEP = 80 };

// Executors that differ by their context alone, each with a run inside a job of the one before.
typedef struct nest {
    espl_executor executors[DEEP];
    int depth;
    size_t ran;
} nest;

static void run_in_turn(void *context, espl_job function, void *argument, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
}

static void go_deeper(void *argument, size_t job)
{
    nest *const n = argument;

    n->ran += 1;
    if (job == 0 && n->depth < DEEP) {
        const espl_executor *const next = &n->executors[n->depth++];

        ck_ok(espl__run_jobs(next, NULL, go_deeper, n, 2));
    }
}

TEST(runs_within_runs_need_no_more_gates_than_there_are)
{
    nest n = {.depth = 1};

    for (int i = 0; i < DEEP; ++i) {
        n.executors[i] = (espl_executor){&n.executors[i], 2, run_in_turn};
    }
    ck_ok(espl__run_jobs(&n.executors[0], NULL, go_deeper, &n, 2));
    ck_assert_int_eq(n.depth, DEEP);
    ck_assert_uint_eq(n.ran, 2 * DEEP);
}
