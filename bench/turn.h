// SPDX-License-Identifier: MIT
// Points on a circle, the same bits on every machine: libm's own differ between systems.
#ifndef ESPALIER_BENCH_TURN_H
#define ESPALIER_BENCH_TURN_H

/// Write the cosine and the sine of an angle within [-3, 3] radians, true to 1e-12: their series up
/// to the 25th power, in double and in one order.
static inline void turn(double angle, double *cosine, double *sine)
{
    const double square = angle * angle;
    double even = 1, odd = 1;

    for (int power = 24; power > 0; power -= 2) {
        even = 1 - square / ((power - 1) * power) * even;
        odd = 1 - square / (power * (power + 1)) * odd;
    }
    *cosine = even;
    *sine = angle * odd;
}

#endif
