// SPDX-License-Identifier: MIT
// The clock of the course.
#ifndef ESPALIER_BENCH_CLOCK_H
#define ESPALIER_BENCH_CLOCK_H

#include <time.h>

/// Return nanoseconds on a clock that only goes forward.
static inline double clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#endif
