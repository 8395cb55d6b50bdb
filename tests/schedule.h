// SPDX-License-Identifier: MIT
// An executor that runs the jobs of each call on one thread, in an order that is chosen: all orders
// of one call's jobs, one after the other, or a random one for every call.
#ifndef ESPALIER_TESTS_SCHEDULE_H
#define ESPALIER_TESTS_SCHEDULE_H

#include "tests/support.h"

enum {
    SCHEDULE_PHASES = 1024, // calls of which the number of jobs is kept
    SCHEDULE_FEW = 6,       // jobs of which all orders are gone through
};

#define SCHEDULE_NO_PHASE SIZE_MAX

/// How jobs are run, and what was asked for. A phase is a call of the executor; the library makes
/// none for a single job.
typedef struct test_schedule {
    size_t chosen;   // phase whose jobs run in order number `order`; SCHEDULE_NO_PHASE: none
    uint32_t order;  // less than schedule_orders() of its jobs; 0 is the order of their indices
    uint64_t random; // not 0: the jobs of every phase run by priorities drawn from it
    size_t drops;    // with `random`: so often in each phase the job in front becomes the last
    size_t phases;   // so far
    size_t jobs[SCHEDULE_PHASES]; // [phases] jobs of each
} test_schedule;

/// All phases in the order of indices, and none so far.
void schedule_begin(test_schedule *schedule);
espl_executor schedule_executor(test_schedule *schedule);
/// Count the orders in which so many jobs can run; at most SCHEDULE_FEW.
uint32_t schedule_orders(size_t jobs);

#endif
