// SPDX-License-Identifier: MIT
// Sine, cosine and arctangent by the series of Taylor, after exact reduction of the argument. Their
// coefficients and remainders are known, so that the error follows from the text; shorter minimax
// polynomials would save two multiplications.
#include "lib/math/angles.h"

#include "lib/base/trap.h"

#include <math.h>
#include <string.h>

// Terms [0] + [1] z + [2] z^2 + ..., by Horner's rule.
static double sum_of(const double *terms, size_t count, double z)
{
    double sum = 0;

    for (size_t i = count; i > 0; --i) {
        sum = sum * z + terms[i - 1];
    }
    return sum;
}

// --- Sine and cosine ---

// The bits of 2 / pi, behind 64 zeros.
static const uint64_t two_over_pi[] = {0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                       0xdb6295993c439041, 0xfe5163abdebbc561};

// The 64 bits of the table from a position on.
static uint64_t bits_from(unsigned position)
{
    const unsigned word = position / 64, shift = position % 64;

    return shift == 0 ? two_over_pi[word]
                      : two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

// The upper half of the product of 128 bits.
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a_low = a & 0xffffffff, b_low = b & 0xffffffff;
    const uint64_t middle = (a >> 32) * b_low + (a_low * b_low >> 32);

    return (a >> 32) * (b >> 32) + (middle >> 32) +
           ((a_low * (b >> 32) + (middle & 0xffffffff)) >> 32);
}

// Split an angle into quarter turns and a rest of at most an eighth of a turn; return the number of
// quarter turns modulo 4. This is the reduction of Payne and Hanek ("Radian reduction for
// trigonometric functions", SIGNUM Newsletter 18, 1983): the angle is an integer of 53 bits times
// 2^e, so the bits of 2 / pi that stand for multiples of 4 quarter turns can be skipped, and 128 bits
// behind these are enough. The product is exact to two units of 2^-62 quarter turns.
static unsigned reduce(double *rest, double angle)
{
    const uint64_t hidden = UINT64_C(1) << 52, eighth = UINT64_C(1) << 61;
    uint64_t bits;

    memcpy(&bits, &angle, sizeof bits);
    const unsigned position = (unsigned)(bits >> 52) - 1075 + 62;
    const uint64_t integer = (bits & (hidden - 1)) | hidden;
    const uint64_t quarters =
        integer * bits_from(position) + multiply_high(integer, bits_from(position + 64));
    const uint64_t rounded = quarters + eighth;
    const int64_t fraction = (int64_t)(rounded & (2 * eighth - 1)) - (int64_t)eighth;

    *rest = (double)fraction * (ESPL__PI / 2 * 0x1p-62);
    return (unsigned)(rounded >> 62);
}

// x - x^3 / 3! + ..., by z = x^2. The remainder is below x^17 / 17!, 5e-17 for pi / 4.
static double sine_of(double x)
{
    static const double terms[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
    const double z = x * x;

    return x + x * (z * sum_of(terms, sizeof terms / sizeof *terms, z));
}

// 1 - x^2 / 2! + ..., by z = x^2. The remainder is below x^18 / 18!, 3e-18 for pi / 4.
static double cosine_of(double x)
{
    static const double terms[] = {
        -1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
        -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
    const double z = x * x;

    return 1 + z * sum_of(terms, sizeof terms / sizeof *terms, z);
}

void espl__sin_cos(double *sine, double *cosine, double angle)
{
    const double size = fabs(angle);
    unsigned quarters = 0;
    double rest = size;

    ESPL_CHECK(size < 0x1p129);
    if (size > ESPL__PI / 4) {
        quarters = reduce(&rest, size);
    }
    const double s = sine_of(rest), c = cosine_of(rest);
    const double turned[] = {s, c, -s, -c, s};

    *sine = angle < 0 ? -turned[quarters] : turned[quarters];
    *cosine = turned[quarters + 1];
}

// --- Arctangent ---

// atan(0), atan(1/4), atan(1/2), atan(3/4), atan(1).
static const double arctangents[] = {0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844,
                                     ESPL__PI / 4};

// x - x^3 / 3 + ..., by z = x^2. The remainder is below x^19 / 19, 3e-18 times x for 1 / 8.
static double arctangent_of(double x)
{
    static const double terms[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,
                                   -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17};
    const double z = x * x;

    return x + x * (z * sum_of(terms, sizeof terms / sizeof *terms, z));
}

// Arctangent of low / high in [0, 1], by atan(x) = atan(c) + atan((x - c) / (1 + x c)) with the
// quarter c that is nearest to x. The rest is at most 1/8.
static double angle_below_diagonal(double low, double high)
{
    const int quarter = (int)(low / high * 4 + 0.5);
    const double c = quarter * 0.25;

    return arctangents[quarter] + arctangent_of((low - c * high) / (high + c * low));
}

double espl__angle_of(double y, double x)
{
    const double across = fabs(y), along = fabs(x);

    if (across == 0 && along == 0) {
        return 0;
    }
    const double steep = across > along ? ESPL__PI / 2 - angle_below_diagonal(along, across)
                                        : angle_below_diagonal(across, along);
    const double angle = x < 0 ? ESPL__PI - steep : steep;

    return y < 0 ? -angle : angle;
}
