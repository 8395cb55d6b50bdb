// SPDX-License-Identifier: MIT
// Measured times of one thing, and what is read off them.
#ifndef ESPALIER_BENCH_SAMPLES_H
#define ESPALIER_BENCH_SAMPLES_H

#include <stddef.h>

/// Zero: none yet. The values stand in the order of their coming until one is read off.
struct samples {
    double *values; ///< [count] nanoseconds.
    size_t count;
};

void samples_add(struct samples *samples, double nanoseconds);
/// Release the memory and begin anew.
void samples_clear(struct samples *samples);

/// Return the middle one, the mean of the middle two; 0 where there are none.
double samples_median(const struct samples *samples);
/// Return the least one that at least `per_mille` in 1000 do not exceed, so the longest for 1000;
/// 0 where there are none.
double samples_quantile(const struct samples *samples, size_t per_mille);

#endif
