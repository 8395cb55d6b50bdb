// SPDX-License-Identifier: MIT
// Parallel loops over items of unequal cost. The heaviest items start first, and light items share
// a job, so that one large item does not prolong the loop.
#ifndef ESPALIER_LIB_JOBS_WEIGHTS_H
#define ESPALIER_LIB_JOBS_WEIGHTS_H

#include "lib/jobs/ranges.h"

/// Work on one item.
typedef void (*espl__item_function)(void *context, size_t item);

/// Sort the items [0, count) by the binary logarithm of their weights, rounded down, in descending
/// order. The sort is stable and linear. A weight of 0 counts as 1.
/// @param order    [count] out: item numbers.
/// @param weights  [count]
void espl__order_by_weight(uint32_t *order, const uint32_t *weights, size_t count);

/// Call a function once for each of [0, count). A serial executor runs the items on the calling
/// thread in order, and so does every executor where all weights together are at most `grain`.
/// Allocates nothing; uses 12 KiB of stack.
///
/// On several workers the order is unspecified. A job has a weight of at least `grain`. Which items
/// share a job depends on the weights alone. An item that is a large part of the whole is not
/// bound to a job: each job begins with the heaviest of these that no job has claimed.
///
/// @param weights  [count] cost of an item relative to the others; 0 counts as 1.
/// @param order    [count] scratch; may be NULL where the executor is serial.
/// @param count    at most UINT32_MAX.
/// @param grain    the least weight of a job; 0 counts as 1.
/// @return as espl__run_jobs().
espl_status espl__run_weighted(const espl_executor *executor, const espl_hooks *hooks,
                               espl__item_function function, void *context, const uint32_t *weights,
                               uint32_t *order, size_t count, size_t grain);

#endif
