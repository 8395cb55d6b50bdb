// SPDX-License-Identifier: MIT
// Runs a function for items of very different weight: the heaviest are begun first, and light ones
// share a job, so that one large item does not hold the others up.
#ifndef ESPALIER_LIB_JOBS_WEIGHTS_H
#define ESPALIER_LIB_JOBS_WEIGHTS_H

#include "lib/jobs/ranges.h"

/// Work on one item.
typedef void (*espl__item_function)(void *context, size_t item);

/// List the items [0, count) by the power of two that their weight reaches, largest first; items of
/// one power keep their order. A weight of 0 counts as 1. Linear.
/// @param order    [count] out.
/// @param weights  [count]
void espl__order_by_weight(uint32_t *order, const uint32_t *weights, size_t count);

/// Call a function once for each of [0, count), in any order and at once where the executor has
/// workers. Jobs hold items of at least `grain` in weight together (0 counts as 1). What they hold
/// depends on the weights alone; an item that is much of the whole has a job of its own, and
/// whichever job starts next takes the heaviest of these first. A serial executor, and items that
/// weigh no more than `grain` together, run on the calling thread in order of the items. Allocates
/// nothing; uses 12 KiB of stack.
///
/// @param weights  [count] what an item costs against the others; 0 counts as 1.
/// @param order    [count] scratch; may be NULL where the executor is serial.
/// @param count    at most UINT32_MAX.
/// @return as espl__run_jobs() does.
espl_status espl__run_weighted(const espl_executor *executor, const espl_hooks *hooks,
                               espl__item_function function, void *context, const uint32_t *weights,
                               uint32_t *order, size_t count, size_t grain);

#endif
