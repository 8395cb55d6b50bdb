// SPDX-License-Identifier: MIT
// Recent leaves: which newcomers get some, and when their members are filed in the tree.
//
// A leaf of the tree that gets a member is written whole. Therefore runs of few arrivals go into recent
// leaves, unless their leaf is written anyway. A recent leaf stays as it is for some updates, because much of
// what comes in large numbers goes soon. Then its members are filed together with all others of such leaves
// that have about the same codes, so that leaves of the tree are written for many at a time. Where there are
// too few of them for that, and they are in several recent leaves, they are sorted into as many that lie
// beside each other.
#include "lib/renderables/renderables.h"

enum {
    FEW_LEAVES = 2,     // so many are written for few arrivals, because recent leaves cost as much
    FEW_ARRIVALS = 64,  // they go into the last recent leaf
    VAIN_LOOKS = 16,    // at leaves that stay, in one update
    OVERLAPPING = 4,    // recent leaves that are worth being sorted
    YOUNG_FOR = 32,     // updates in which a recent leaf stays as it is
    LEAST_BUDGET = 256, // two leaves, because those of one alone would be filed as they are
};

// --- Arrivals ---

// Tell whether a run goes into a leaf that is written for few arrivals, and for them alone.
static bool is_small_run(const espl_renderables *r, const espl__run *run)
{
    return run->leaf != ESPL__NO_CLUSTER && run->count < ESPL__WORTH_WRITING &&
           (r->states[r->leaves[ESPL__STILL][run->leaf].cluster] & ESPL__WRITE_MEMBERS) == 0;
}

// Return the recent leaf that so many arrivals go into; ESPL__NO_CLUSTER: new ones.
static uint32_t find_recent_leaf(const espl_renderables *r, size_t arrivals)
{
    const size_t count = espl__array_length(r->leaves[ESPL__RECENT]);

    if (count == 0 || arrivals >= FEW_ARRIVALS) {
        return ESPL__NO_CLUSTER;
    }
    const uint32_t last = r->leaves[ESPL__RECENT][count - 1].cluster;
    const bool has_room =
        espl__cluster_members(espl__cluster_at(r, last)) + arrivals <= ESPL__CLUSTER_SIZE;

    return has_room ? (uint32_t)count - 1 : ESPL__NO_CLUSTER;
}

bool espl__divert_runs(espl_renderables *r)
{
    espl__heap *const heap = &r->world->heap;
    espl__run *const runs = r->runs[ESPL__STILL];
    const uint32_t *const order = r->orders[ESPL__STILL];
    const size_t run_count = espl__array_length(runs);
    size_t small = 0, arrivals = 0, kept = 0;

    for (size_t i = 0; i < run_count; ++i) {
        const bool is_small = is_small_run(r, &runs[i]);

        small += is_small ? 1 : 0;
        arrivals += is_small ? runs[i].count : 0;
    }
    if (small <= FEW_LEAVES) {
        return true;
    }
    if (!ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->orders[ESPL__RECENT], arrivals) ||
        !ESPL_ARRAY_RESERVE(heap, ESPL__FOR_CHANGES, r->runs[ESPL__RECENT], 1)) {
        return false;
    }
    for (size_t i = 0; i < run_count; ++i) {
        if (!is_small_run(r, &runs[i])) {
            runs[kept++] = runs[i];
            continue;
        }
        for (uint32_t k = 0; k < runs[i].count; ++k) {
            ESPL_ARRAY_PUSH(r->orders[ESPL__RECENT], order[runs[i].begin + k]);
        }
    }
    espl__array_set_length(runs, kept);
    ESPL_ARRAY_PUSH(r->runs[ESPL__RECENT], (espl__run){.leaf = find_recent_leaf(r, arrivals),
                                                       .count = (uint32_t)arrivals});
    r->settled = 0;
    return true;
}

// --- Filing ---

// Recent leaves that begin in a range of codes.
typedef struct recent_range {
    uint64_t low, high;
    size_t leaves, members;
} recent_range;

static bool is_young(const espl_renderables *r, const espl__leaf *leaf)
{
    return (uint32_t)r->tables.number - leaf->since < YOUNG_FOR;
}

// Tell whether a leaf begins in a range, and its members may be filed and are not filed already.
static bool is_fileable(const espl_renderables *r, const recent_range *range,
                        const espl__leaf *leaf)
{
    return leaf->low >= range->low && leaf->low <= range->high && !is_young(r, leaf) &&
           !espl__has_bits(&espl__cluster_at(r, leaf->cluster)->leaving);
}

// Find the range of a recent leaf.
static recent_range find_range(const espl_renderables *r, const espl__leaf *first)
{
    const espl__leaf *const leaves = r->leaves[ESPL__RECENT];
    const espl__cluster *const cluster = espl__cluster_at(r, first->cluster);
    recent_range range = {.low = first->low, .high = first->low};

    for (uint32_t place = 0; place < cluster->count; ++place) {
        range.high = cluster->codes[place] > range.high ? cluster->codes[place] : range.high;
    }
    for (size_t i = 0; i < espl__array_length(leaves); ++i) {
        if (is_fileable(r, &range, &leaves[i])) {
            range.leaves += 1;
            range.members += espl__cluster_members(espl__cluster_at(r, leaves[i].cluster));
        }
    }
    return range;
}

// Tell whether it is worth the leaves that are written to file the members of a range.
static bool is_worth_filing(const espl_renderables *r, const recent_range *range)
{
    const espl__leaf *const leaves = r->leaves[ESPL__STILL];
    const size_t written =
        espl__find_leaf(leaves, range->high) - espl__find_leaf(leaves, range->low) + 1;

    return range->leaves >= OVERLAPPING || range->members >= written * ESPL__WORTH_WRITING;
}

// List the members of the leaves of a range, as long as the budget lasts. @return false: no memory.
static bool list_recent(espl_renderables *r, espl__update *u, const recent_range *range,
                        size_t *budget)
{
    const espl__leaf *const leaves = r->leaves[ESPL__RECENT];

    for (size_t i = 0; i < espl__array_length(leaves); ++i) {
        const uint32_t number = leaves[i].cluster;
        const espl__cluster *const cluster = espl__cluster_at(r, number);

        const uint32_t members = espl__cluster_members(cluster);

        if (members > *budget || !is_fileable(r, range, &leaves[i])) {
            continue;
        }
        for (uint32_t place = 0; place < cluster->count; ++place) {
            if (!espl__has_bit(&cluster->holes, place) &&
                !espl__add_mover(r, espl__member(number, place), ESPL__STILL,
                                 cluster->codes[place])) {
                return false;
            }
        }
        *budget -= members;
        u->report.refiled += members;
    }
    return true;
}

bool espl__collect_recent(espl_renderables *r, espl__update *u)
{
    const espl__leaf *const leaves = r->leaves[ESPL__RECENT];
    const size_t count = espl__array_length(leaves);
    // In the long run, as many are filed as come.
    const size_t least = r->budget > LEAST_BUDGET ? r->budget : LEAST_BUDGET;
    size_t budget = u->added < SIZE_MAX - least ? least + u->added : SIZE_MAX;
    size_t looks = 0, vain = 0;
    bool is_done = true;

    // Each update looks at some leaves, in turn, and at more while there is something to file.
    for (; is_done && looks < count && vain < VAIN_LOOKS && r->settled < count; ++looks) {
        const espl__leaf *const leaf = &leaves[(u->number * VAIN_LOOKS + looks) % count];

        if (is_young(r, leaf)) {
            r->settled = 0; // it is looked at later
            continue;
        }
        const recent_range range = find_range(r, leaf);
        const bool is_worth = is_worth_filing(r, &range) &&
                              espl__cluster_members(espl__cluster_at(r, leaf->cluster)) <= budget;
        r->settled = is_worth ? 0 : r->settled + 1;
        vain += is_worth ? 0 : 1;
        is_done = !is_worth || list_recent(r, u, &range, &budget);
    }
    return is_done;
}
