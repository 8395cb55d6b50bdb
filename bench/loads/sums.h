// SPDX-License-Identifier: MIT
// Whether positions were added up right, in whatever order.
#ifndef ESPALIER_BENCH_SUMS_H
#define ESPALIER_BENCH_SUMS_H

#include "bench/schemes/compose.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/// Tell whether a sum is that of the worlds, up to the rounding that another order brings.
static inline bool is_sum_of(const double sum[3], const struct pose *worlds, size_t count)
{
    double expected[3] = {0, 0, 0}, size[3] = {0, 0, 0};

    for (size_t i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            expected[axis] += (double)worlds[i].position[axis];
            size[axis] += fabs((double)worlds[i].position[axis]);
        }
    }
    return fabs(sum[0] - expected[0]) <= 1e-9 * size[0] &&
           fabs(sum[1] - expected[1]) <= 1e-9 * size[1] &&
           fabs(sum[2] - expected[2]) <= 1e-9 * size[2];
}

#endif
