// SPDX-License-Identifier: MIT
// The jobs of present_jobs.h. Trees are divided among jobs as those of a batch of writes. Large trees come
// first, each on all workers. Jobs change locals and shown worlds of different trees.
#include "lib/tree/present_jobs.h"

#include "lib/jobs/ranges.h"
#include "lib/tree/levels.h"
#include "lib/tree/present_blocks.h"
#include "lib/tree/present_list.h"

enum {
    PRESENT_JOBS = 256, // upper bound of jobs
    SPLIT_JOBS = 64,    // upper bound of jobs that blend one tree
    SLOT_COST = 4,      // cost of a listed slot, in world transforms recomputed
};

// Run jobs while structural calls are refused. The caller runs those that the executor did not.
static void run_closed(const espl__present *present, espl_job function, void *context, size_t jobs)
{
    const espl__workers *const workers = &present->forest->context.workers;
    bool own = false;
    bool *const is_closed = workers->is_closed != NULL ? workers->is_closed : &own;
    const bool was_closed = *is_closed;

    *is_closed = true;
    (void)espl__run_jobs(workers->executor, workers->hooks, function, context, jobs);
    *is_closed = was_closed;
}

// Locals of one tree that are blended, or restored, by several jobs.
typedef struct split {
    const espl__present *present;
    const uint32_t *slots;
    espl_pose *saved;
    size_t count, jobs;
    bool is_restore;
    bool is_done[SPLIT_JOBS];
} split;

// Run one job. A second call has no effect.
static void run_split_job(void *context, size_t job)
{
    split *const s = context;
    const size_t begin = s->count * job / s->jobs, end = s->count * (job + 1) / s->jobs;

    if (s->is_done[job]) {
        return;
    }
    if (s->is_restore) {
        espl__present_restore(s->present, s->saved + begin, s->slots + begin, end - begin);
    } else {
        espl__present_blend(s->present, s->saved + begin, s->slots + begin, end - begin);
    }
    s->is_done[job] = true;
}

static void run_split(const espl__present *present, espl_pose *saved, const uint32_t *slots,
                      size_t count, bool is_restore)
{
    const size_t jobs = count / present->forest->grain + 1;
    split s = {.present = present,
               .slots = slots,
               .saved = saved,
               .count = count,
               .jobs = jobs < SPLIT_JOBS ? jobs : SPLIT_JOBS,
               .is_restore = is_restore};

    run_closed(present, run_split_job, &s, s.jobs);
    for (size_t job = 0; job < s.jobs; ++job) {
        run_split_job(&s, job); // where the executor did not
    }
}

// Present the listed slots of one tree on all workers. Such a tree has no exceptional nodes, so that none
// of its nodes has kept parts.
static void present_large(espl__present *present, size_t begin, size_t end)
{
    espl__forest *const forest = present->forest;
    espl__present_part part;

    espl__present_part_begin(&part, present, begin, 0);
    part.context.workers = forest->context.workers;
    const uint32_t *const slots = present->slots + begin;
    const size_t count =
        espl__present_clean(present, present->slots + begin, end - begin, false, NULL);

    if (count != 0) {
        part.blended = count;
        run_split(present, part.saved, slots, count, false);
        espl__present_follow(&part, slots, count);
        run_split(present, part.saved, slots, count, true);
    }
    espl__present_part_end(&part, present);
}

// A list that is divided among jobs at boundaries of trees.
typedef struct present_jobs {
    const espl__present *present;
    size_t count;                     // of jobs
    uint32_t cuts[PRESENT_JOBS + 1];  // index of the first slot of each
    uint32_t kepts[PRESENT_JOBS + 1]; // listed slots with kept parts before it
    bool skips_large;
    bool is_done[PRESENT_JOBS];
    uint32_t blended[PRESENT_JOBS];
    uint64_t visited[PRESENT_JOBS];
    bool has_overflowed[PRESENT_JOBS];
} present_jobs;

// Run one job. A second call has no effect.
static void run_present_job(void *context, size_t job)
{
    present_jobs *const run = context;
    espl__present_part part;

    if (run->is_done[job]) {
        return;
    }
    espl__present_part_begin(&part, run->present, run->cuts[job], run->kepts[job]);
    espl__present_slots(&part, run->cuts[job], run->cuts[job + 1], run->skips_large);
    run->blended[job] = (uint32_t)part.blended;
    run->visited[job] = part.context.counts.nodes_visited;
    run->has_overflowed[job] = part.context.has_overflowed;
    run->is_done[job] = true;
}

// The cost of a list.
typedef struct list_cost {
    uint64_t all;
    size_t large_count; // trees that are large enough to be divided among workers
} list_cost;

// Return the index behind the slots of the tree at an index.
static size_t next_tree(const espl__present *present, size_t at, const espl__tree **tree)
{
    *tree = espl__tree_at(present->forest, present->slots[at]);
    return *tree != NULL ? espl__listed_end(present->slots, at, present->count, *tree) : at + 1;
}

// Return the cost of the listed slots of a tree: its nodes, because a slot may be followed by all of them.
static inline uint64_t cost_of(const espl__tree *t, size_t count)
{
    return (t != NULL ? t->live : 0) + SLOT_COST * (uint64_t)count;
}

static list_cost cost_of_list(const espl__present *present)
{
    list_cost cost = {0};

    for (size_t at = 0; at < present->count;) {
        const espl__tree *t = NULL;
        const size_t next = next_tree(present, at, &t);

        cost.all += cost_of(t, next - at);
        cost.large_count += t != NULL && espl__tree_is_parallel(present->forest, t) ? 1 : 0;
        at = next;
    }
    return cost;
}

// Cut the list into jobs of at least a cost. @param kept  of the slots of a job.
static void cut_list(present_jobs *run, uint64_t least)
{
    const espl__present *const present = run->present;
    const espl__forest *const forest = present->forest;
    uint64_t cost = 0;
    size_t kept = 0;

    run->count = 0;
    run->cuts[0] = run->kepts[0] = 0;
    for (size_t at = 0; at < present->count;) {
        const espl__tree *t = NULL;
        const size_t next = next_tree(present, at, &t);

        if (cost >= least) {
            run->count += 1;
            run->cuts[run->count] = (uint32_t)at;
            run->kepts[run->count] = (uint32_t)kept;
            cost = 0;
        }
        cost += cost_of(t, next - at);
        for (; present->kept_count != 0 && at < next; ++at) {
            kept += espl__slot_is(forest, present->slots[at], ESPL__SLOT_KEEPS) ? 1 : 0;
        }
        at = next;
    }
    run->count += 1;
    run->cuts[run->count] = (uint32_t)present->count;
    ESPL_CHECK(run->count <= PRESENT_JOBS && kept <= present->kept_count);
}

// Present the large trees of the list, one after the other.
static void present_large_trees(espl__present *present)
{
    for (size_t at = 0; at < present->count;) {
        const espl__tree *t = NULL;
        const size_t next = next_tree(present, at, &t);

        if (t != NULL && espl__tree_is_parallel(present->forest, t)) {
            present_large(present, at, next);
        }
        at = next;
    }
}

// Present on the workers of the forest. Large trees come first, unless they are so many that they keep all
// workers busy by themselves.
void espl__present_on_workers(espl__present *present)
{
    const espl_executor *const executor = present->forest->context.workers.executor;
    const list_cost cost = cost_of_list(present);
    present_jobs run = {.present = present,
                        .skips_large =
                            cost.large_count != 0 && cost.large_count / 2 < executor->worker_count};
    const uint64_t share = cost.all / PRESENT_JOBS + 1;

    if (run.skips_large) {
        present_large_trees(present);
    }
    cut_list(&run, cost.all < present->wake_cost ? UINT64_MAX
                   : present->job_cost > share   ? present->job_cost
                                                 : share);
    run_closed(present, run_present_job, &run, run.count);
    for (size_t job = 0; job < run.count; ++job) {
        run_present_job(&run, job); // where the executor did not
        present->blended += run.blended[job];
        present->visited += (size_t)run.visited[job];
        present->has_overflowed = present->has_overflowed || run.has_overflowed[job];
    }
}
