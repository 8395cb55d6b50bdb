// SPDX-License-Identifier: MIT
// How far worlds can reach, without computing them: a world is made of one local of each level above
// it, so that its scale is at most the product of theirs, and its position at most the sum of what
// they reach, so enlarged. Products are added up as logarithms.
#ifndef ESPALIER_LIB_MATH_RANGE_H
#define ESPALIER_LIB_MATH_RANGE_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

/// Powers of two by which a factor enlarges: at least log2(|factor|), by less than 0.03 more, and
/// exact for powers of two; 0 where it enlarges nothing.
static inline double espl__growth_by(float factor)
{
    int exponent = 0;

    if (fabsf(factor) <= 1) {
        return 0;
    }
    const double part = 2 * (double)frexpf(fabsf(factor), &exponent); // in [1, 2)
    // Tangents at 1, at the root of 2 and at 2 lie above the curve.
    const double low = 1.4426951 * (part - 1);
    const double middle = 0.50000001 + 1.02013946 * (part - 1.4142135);
    const double high = 1 + 0.7213475 * (part - 2);
    const double lower = low < middle ? low : middle;

    return exponent - 1 + (lower < high ? lower : high);
}

/// The same for the children of what is stretched.
static inline double espl__growth_of_stretch(const float stretch[static 3])
{
    const float x = fabsf(stretch[0]), y = fabsf(stretch[1]), z = fabsf(stretch[2]);
    const float most = x > y ? x : y;

    return espl__growth_by(most > z ? most : z);
}

/// No shorter than a vector.
static inline double espl__reach_of(const float v[static 3])
{
    return fabs((double)v[0]) + fabs((double)v[1]) + fabs((double)v[2]);
}

/// Tell whether worlds whose positions are at most `reach` times two to the power of `growth` are
/// finite, and so are scales of that power: with eight powers to spare, for rotations off unit length
/// and for rounding.
static inline bool espl__is_in_range(double growth, double reach)
{
    int exponent = 0;

    (void)frexp(reach, &exponent);
    return growth < 110 && growth + exponent + 8 < FLT_MAX_EXP;
}

#endif
