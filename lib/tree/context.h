// SPDX-License-Identifier: MIT
// The context of a propagation: what it counts, the workers that it may use, and the batch of small trees
// that it adds to. The forest has one for immediate calls, and each job and each edit has its own.
#ifndef ESPALIER_LIB_TREE_CONTEXT_H
#define ESPALIER_LIB_TREE_CONTEXT_H

#include <espalier/base.h>
#include <espalier/jobs.h>

#include <stdbool.h>
#include <stdint.h>

/// Statistics of writes and edits.
typedef struct espl__counts {
    uint64_t nodes_visited, writes, writes_skipped;
    uint64_t nodes_skipped; // nodes whose world stayed bit-equal, so that no node below was visited
    uint64_t worlds_kept;   // of these: the nodes that a write stored to
    uint64_t debt;          // layout debt added to trees
} espl__counts;

/// Add counts to others. `worlds_kept` is local to one write and is not added.
static inline void espl__counts_add(espl__counts *to, const espl__counts *more)
{
    to->nodes_visited += more->nodes_visited;
    to->nodes_skipped += more->nodes_skipped;
    to->writes += more->writes;
    to->writes_skipped += more->writes_skipped;
    to->debt += more->debt;
}

/// Workers among which one large propagation is divided. {0}: the calling thread runs all of it.
typedef struct espl__workers {
    const espl_executor *executor;
    const espl_hooks *hooks;
    bool *is_closed; // set while jobs run, because callbacks must not change the structure then
} espl__workers;

/// Parallel execution context of writes: their counts, and the workers that they may use. Each job
/// that writes has its own context, without workers, so that jobs share no counter.
typedef struct espl__context {
    espl__counts counts;
    espl__workers workers;
    struct espl__tree_batch *batch; // small trees recomputed together; NULL: each at once
    bool has_overflowed;    // a recomputed world may be not finite; see espl__finds_overflow()
    bool is_present;        // of a present: adds no debt, because slots must not depend on frames
    bool is_job;            // several jobs run: no memory is allocated or freed, no list changes
    bool has_sides_to_drop; // of a job: side arrays of a tree may be unneeded now
    bool has_due;           // of a job: the layout debt of a tree is due (ESPL__TREE_DUE)
} espl__context;

/// Add the counts of a context to those of another one, and its note of worlds that are not finite.
static inline void espl__context_add(espl__context *to, const espl__context *more)
{
    espl__counts_add(&to->counts, &more->counts);
    to->has_overflowed = to->has_overflowed || more->has_overflowed;
}

#endif
