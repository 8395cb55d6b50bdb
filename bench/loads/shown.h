// SPDX-License-Identifier: MIT
// What the shown worlds of the load `motion` must be near to: blends in double, one node at a time.
#ifndef ESPALIER_BENCH_SHOWN_H
#define ESPALIER_BENCH_SHOWN_H

#include "bench/forest.h"

/// Return the largest error of the shown worlds of a forest, in units of position or of a rotation.
/// @param previous  [forest->count] locals at time 0; at time 1 they are the forest's.
/// @param shown     [forest->count]
double shown_error(const struct forest *forest, const struct pose *previous, float at,
                   const struct pose *shown);

#endif
