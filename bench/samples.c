// SPDX-License-Identifier: MIT
// Quantiles by rank: each is a time that was measured, never one in between, but for the median.
#include "bench/samples.h"

#include "bench/blocks.h"

void samples_add(struct samples *samples, double nanoseconds)
{
    samples->values = block_grown(samples->values, samples->count, sizeof *samples->values);
    samples->values[samples->count++] = nanoseconds;
}

void samples_clear(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){0};
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

static void sort(const struct samples *samples)
{
    qsort(samples->values, samples->count, sizeof *samples->values, compare);
}

double samples_median(const struct samples *samples)
{
    const size_t count = samples->count;

    if (count == 0) {
        return 0;
    }
    sort(samples);
    return (samples->values[(count - 1) / 2] + samples->values[count / 2]) / 2;
}

double samples_quantile(const struct samples *samples, size_t per_mille)
{
    const size_t rank = (samples->count * per_mille + 999) / 1000;

    if (rank == 0) {
        return 0;
    }
    sort(samples);
    return samples->values[rank - 1];
}
