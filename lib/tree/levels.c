// SPDX-License-Identifier: MIT
// The parallel propagation of levels.h. Consecutive levels of similar width form a group, which is
// cut into jobs once, at its widest level. Narrow levels are composed by the calling thread,
// because a job of a few nodes costs more than it saves. Jobs write disjoint slots, and each result
// depends on the inputs alone, so that any number of workers gives the same bits.
#include "lib/tree/levels.h"

#include "lib/jobs/ranges.h"
#include "lib/tree/worlds.h"

#include <stdatomic.h>

enum {
    LEVEL_JOBS = 64, // upper bound of the jobs of a group
    // Each level of a job has on average at least 1 / SHARE of the grain: a job that continues with
    // the next level after a few nodes waits for memory longer than another worker saves.
    SHARE = 16,
    // A level that is wider or narrower than the first one by more than this factor begins another
    // group, because jobs are cut by the widest level and would be uneven.
    GROWTH = 8,
};

// Consecutive levels that are cut into jobs.
typedef struct level_group {
    espl__forest *forest;
    const espl__tree *tree;
    uint32_t begin, end;               // first level
    uint32_t widest_begin, widest_end; // widest level
    uint32_t height;                   // levels from the first one down to the widest one
    uint32_t limit;                    // end of the last level
    uint32_t next_begin, next_end;     // level after the last one
    uint32_t jobs;
    _Atomic bool has_alarm; // a world may not be finite
    bool is_done[LEVEL_JOBS];
} level_group;

// --- Levels ---

// Children are in the order of their parents, so that the result is the first child of the next
// slot that has one. A few slots are tried first, because most inner nodes are near one with
// children; then the search is binary, because parents ascend.
uint32_t espl__first_below(const espl__forest *forest, const espl__tree *tree, uint32_t slot)
{
    enum { NEAR = 4 };
    const uint32_t *const parent = forest->parent;
    uint32_t low = slot + 1, high = tree->base + tree->used;

    if (low >= high || parent[high - 1] < slot) {
        return high;
    }
    ESPL_CHECK_FULL((tree->flags & ESPL__TREE_IN_ORDER) != 0 && slot >= tree->base);
    // A slot from `slot` on has a child, so that slots up to the last used one are read at most.
    for (uint32_t i = slot; i < slot + NEAR; ++i) {
        if (forest->links[i].first_child != ESPL__NO_SLOT) {
            return forest->links[i].first_child;
        }
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (parent[middle] < slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    ESPL_CHECK_FULL(parent[low] >= slot && parent[low - 1] < slot);
    return low;
}

// Compose the worlds of slots [begin, end) of one level. @return 0 or NaN, as
// espl__compose_parallel().
static float compose_level(espl__forest *forest, uint32_t begin, uint32_t end)
{
    ESPL_CHECK(begin <= end && forest->parent[begin] < begin);
    espl__clear_stale(forest, begin, end);
    return espl__worlds_compose(forest, begin, end);
}

// --- Groups of levels ---

// Find the levels of a group from its first one on, its widest level and the level after it.
// @param levels  out: number of levels.
// @return the number of their nodes.
static uint64_t collect_levels(level_group *group, uint32_t *levels)
{
    const uint64_t first = group->end - group->begin;
    uint32_t begin = group->begin, end = group->end;
    uint64_t nodes = 0, most = 0, width = first;

    *levels = 0;
    while (width != 0 && width * GROWTH >= first && width <= first * GROWTH) {
        if (width > most) {
            most = width;
            group->widest_begin = begin;
            group->widest_end = end;
            group->height = *levels;
        }
        nodes += width;
        *levels += 1;
        group->limit = end;
        begin = espl__first_below(group->forest, group->tree, begin);
        end = espl__first_below(group->forest, group->tree, end);
        width = end - begin;
    }
    group->next_begin = begin;
    group->next_end = end;
    return nodes;
}

// Form a group that begins with the level [begin, end), and choose the number of its jobs.
// @return the number of its nodes, or 0 where the levels are too few or too narrow for two jobs.
static uint64_t group_levels(level_group *group, uint32_t begin, uint32_t end)
{
    const uint32_t grain = group->forest->grain, least = grain / SHARE + 1;
    uint32_t levels = 0;

    group->begin = begin;
    group->end = end;
    group->limit = end;
    if (end - begin < least) {
        return 0;
    }
    const uint64_t nodes = collect_levels(group, &levels);
    ESPL_CHECK(levels != 0 && group->height < levels && group->limit >= end);
    const uint64_t by_all = nodes / grain, by_width = nodes / levels / least;
    const uint64_t jobs = by_all < by_width ? by_all : by_width;

    group->jobs = (uint32_t)(jobs < LEVEL_JOBS ? jobs : LEVEL_JOBS);
    return group->jobs >= 2 ? nodes : 0;
}

// Return the slot of the first level at which a job begins. The widest level is cut into equal
// parts. The parents of a cut lead to the first level, because parents ascend with their children.
static uint32_t level_job_begin(const level_group *group, size_t job)
{
    const uint64_t width = group->widest_end - group->widest_begin;
    uint32_t slot = group->widest_begin + (uint32_t)(width * job / group->jobs);

    if (job == 0 || job == group->jobs) {
        return job == 0 ? group->begin : group->end;
    }
    for (uint32_t i = 0; i < group->height; ++i) {
        slot = group->forest->parent[slot];
    }
    ESPL_CHECK(slot >= group->begin && slot < group->end);
    return slot;
}

// Run one job: its part of the first level, then the children of that part, level after level. A
// second call has no effect, because the caller repeats jobs that the executor did not run.
static void run_level_job(void *context, size_t job)
{
    level_group *const group = context;
    espl__forest *const forest = group->forest;
    uint32_t begin = level_job_begin(group, job), end = level_job_begin(group, job + 1);
    float alarm = 0;

    if (group->is_done[job]) {
        return;
    }
    while (begin < end && begin < group->limit) {
        alarm += compose_level(forest, begin, end);
        begin = espl__first_below(forest, group->tree, begin);
        end = espl__first_below(forest, group->tree, end);
    }
    if (alarm != 0) {
        group->has_alarm = true;
    }
    group->is_done[job] = true;
}

// Run all jobs of a group. Structural calls are refused while they run.
static void run_level_group(level_group *group, const espl__workers *workers)
{
    bool own = false;
    bool *const is_closed = workers->is_closed != NULL ? workers->is_closed : &own;
    const bool was_closed = *is_closed;

    ESPL_CHECK(group->jobs >= 2 && group->jobs <= LEVEL_JOBS);
    memset(group->is_done, 0, sizeof group->is_done);
    *is_closed = true;
    (void)espl__run_jobs(workers->executor, workers->hooks, run_level_job, group, group->jobs);
    *is_closed = was_closed;
    for (size_t job = 0; job < group->jobs; ++job) {
        run_level_job(group, job); // where the executor did not
    }
}

// --- All levels ---

// Compose levels that are not worth a group, on this thread, and find the level after them.
static float compose_serially(level_group *group, uint64_t *visited)
{
    uint32_t begin = group->begin, end = group->end;
    float alarm = 0;

    while (begin < end && begin < group->limit) {
        alarm += compose_level(group->forest, begin, end);
        *visited += end - begin;
        begin = espl__first_below(group->forest, group->tree, begin);
        end = espl__first_below(group->forest, group->tree, end);
    }
    group->next_begin = begin;
    group->next_end = end;
    return alarm;
}

// Compose as compose_serially(), where the levels are all slots from `begin` on. At least a grain of slots is composed by
// one call, across levels, because levels may be narrow and parents are below their children. The
// next level may then begin at any slot, because no slot of a level is an ancestor of another one.
static float compose_suffix(level_group *group, uint64_t *visited)
{
    const uint32_t end = group->tree->base + group->tree->used,
                   least = group->begin + group->forest->grain;
    const uint32_t limit = group->limit > least ? group->limit : least < end ? least : end;
    ESPL_CHECK(limit > group->begin && limit <= end);
    const float alarm = compose_level(group->forest, group->begin, limit);

    *visited += limit - group->begin;
    group->next_begin = limit;
    group->next_end = limit < end ? espl__first_below(group->forest, group->tree, limit) : limit;
    return alarm;
}

// Groups alternate with levels that are not worth one. Which levels form a group depends on the
// tree and the grain alone, so that the order of operations does not depend on the workers.
float espl__compose_parallel(espl__forest *forest, const espl__workers *workers,
                             const espl__tree *tree, uint32_t begin, uint32_t end, bool is_suffix,
                             uint64_t *visited)
{
    level_group group = {.forest = forest, .tree = tree, .next_begin = begin, .next_end = end};
    float alarm = 0;

    ESPL_CHECK(espl__tree_is_parallel(forest, tree) && begin > tree->base && begin <= end);
    while (group.next_begin < group.next_end) {
        const uint64_t nodes = group_levels(&group, group.next_begin, group.next_end);

        if (nodes != 0) {
            run_level_group(&group, workers);
            *visited += nodes;
        } else {
            alarm +=
                is_suffix ? compose_suffix(&group, visited) : compose_serially(&group, visited);
        }
    }
    return group.has_alarm ? NAN : alarm;
}
