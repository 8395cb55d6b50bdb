// SPDX-License-Identifier: MIT
// The library's own sine, cosine and arctangent against those of the mathematical library in long double.
#include "lib/math/angles.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <float.h>

enum { ROUNDS = 1000000 };

// What the documents state. Where long double is double, its own error is about as large.
#define SINE_ERROR (LDBL_MANT_DIG > DBL_MANT_DIG ? 2.2e-16 : 3.4e-16)
#define ARCTANGENT_ERROR (LDBL_MANT_DIG > DBL_MANT_DIG ? 5e-16 : 1e-15)

static double any_double(uint64_t *random, double bound)
{
    return ((double)(test_random(random) >> 11) * 0x1p-52 - 1) * bound;
}

static void is_sine_and_cosine(double angle, bool is_float)
{
    const long double sine = sinl((long double)angle), cosine = cosl((long double)angle);
    double s = 2, c = 2;

    espl__sin_cos(&s, &c, angle);
    const double off_sine = (double)fabsl((long double)s - sine);
    const double off_cosine = (double)fabsl((long double)c - cosine);

    ck_assert_msg(off_sine <= SINE_ERROR, "sine of %a is %a, %g off", angle, s, off_sine);
    ck_assert_msg(off_cosine <= SINE_ERROR, "cosine of %a is %a, %g off", angle, c, off_cosine);
    if (is_float) {
        ck_assert_double_le(off_sine, 1.5e-10 * (double)fabsl(sine));
        ck_assert_double_le(off_cosine, 1.5e-10 * (double)fabsl(cosine));
    }
}

TEST(sine_and_cosine_of_any_float_are_near)
{
    uint64_t random = 1;

    for (int i = 0; i < ROUNDS; ++i) {
        const double angle = (double)any_finite(&random);

        is_sine_and_cosine(angle, true);
        is_sine_and_cosine(angle / 2, true);
    }
}

TEST(sine_and_cosine_of_small_angles_are_near)
{
    uint64_t random = 2;

    for (int i = 0; i < ROUNDS; ++i) {
        is_sine_and_cosine(any_double(&random, 2), false);
        is_sine_and_cosine(any_double(&random, 1000), false);
        is_sine_and_cosine(any_double(&random, 0x1p129), false);
    }
}

// Around each multiple of an eighth of a turn, where the series are exchanged and the signs change.
TEST(sine_and_cosine_are_near_where_pieces_meet)
{
    for (int eighth = -100; eighth <= 100; ++eighth) {
        double angle = eighth * (ESPL__PI / 4);

        for (int i = 0; i < 50; ++i) {
            angle = nextafter(angle, -1e9);
        }
        for (int i = 0; i < 100; ++i) {
            is_sine_and_cosine(angle, false);
            angle = nextafter(angle, 1e9);
        }
        is_sine_and_cosine((double)(float)angle, true);
    }
}

// Floats that come closest to multiples of a quarter turn, found by continued fractions of 2 / pi. Their
// distance is down to 1.6e-9, so the reduction loses the leading 30 bits and more.
TEST(angles_close_to_quarter_turns_keep_their_digits)
{
    const float close[] = {0x1.f37c8ap+95f, 0x1.47d0fep+34f, 0x1.f9cbe2p+7f, 0x1.32ede2p+85f};

    for (size_t i = 0; i < sizeof close / sizeof *close; ++i) {
        for (int power = -1; power <= 2; ++power) {
            is_sine_and_cosine(ldexp((double)close[i], power), true);
        }
    }
}

TEST(angles_by_hand)
{
    double s = 2, c = 2;

    espl__sin_cos(&s, &c, 0);
    ck_assert(s == 0 && c == 1);
    espl__sin_cos(&s, &c, -0.0);
    ck_assert(s == 0 && c == 1);
    espl__sin_cos(&s, &c, DBL_TRUE_MIN);
    ck_assert(s == DBL_TRUE_MIN && c == 1);
    ck_assert_double_eq(espl__angle_of(0, 0), 0);
    ck_assert_double_eq(espl__angle_of(0, 3), 0);
    ck_assert_double_eq(espl__angle_of(3, 0), ESPL__PI / 2);
    ck_assert_double_eq(espl__angle_of(-3, 0), -ESPL__PI / 2);
    ck_assert_double_eq(espl__angle_of(0, -3), ESPL__PI);
    ck_assert_double_eq(espl__angle_of(-0.0, -3), ESPL__PI);
    ck_assert_double_eq(espl__angle_of(3, 3), ESPL__PI / 4);
    ck_assert_double_eq(espl__angle_of(-3, -3), -3 * ESPL__PI / 4);
}

static void is_angle(double y, double x)
{
    const long double exact = atan2l((long double)y, (long double)x);
    const double angle = espl__angle_of(y, x);
    const double off = (double)fabsl((long double)angle - exact);

    ck_assert_msg(off <= ARCTANGENT_ERROR, "angle of %a, %a is %a, %g off", y, x, angle, off);
    ck_assert_double_le(off, ARCTANGENT_ERROR * (double)fabsl(exact));
}

TEST(angle_of_any_direction_is_near)
{
    uint64_t random = 3;

    for (int i = 0; i < ROUNDS; ++i) {
        const int power = (int)test_below(&random, 200) - 100;

        is_angle(any_double(&random, 1), any_double(&random, 1));
        is_angle(ldexp(any_double(&random, 1), power), any_double(&random, 1));
    }
}

// The direction turns all around; the quarters from which the series start are met on both sides.
TEST(angle_is_near_where_pieces_meet)
{
    for (int i = 0; i <= 16; ++i) {
        double y = i / 16.0;

        for (int step = 0; step < 20; ++step) {
            y = nextafter(y, -2);
        }
        for (int step = 0; step < 40; ++step) {
            for (int sign = 0; sign < 4; ++sign) {
                const double sy = (sign & 1) != 0 ? -1 : 1, sx = (sign & 2) != 0 ? -1 : 1;

                is_angle(sy * y + 0.0, sx);
                is_angle(sx, sy * y);
            }
            y = nextafter(y, 2);
        }
    }
}
