// SPDX-License-Identifier: MIT
// Known answers. Each operand is volatile, so that the compiler does not compute an answer itself. The
// operation is between plain floats, so that the compiler transforms it as it does in other files of
// the library, which are compiled with the same flags.
#include "lib/math/arithmetic.h"

#include "lib/math/pose.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(
    sizeof 1.0 == sizeof(double),
    "Espalier promises the same bits everywhere: compile it without -fsingle-precision-constant");

// Return the bits of a float. They are compared instead of the float, because a comparison of
// denormals may flush them as well.
static uint32_t float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// --- Modes of the thread ---

// A quarter and three quarters of the distance from 1 to the next float round to different neighbours,
// and mirrored below 0, in every other mode than to nearest.
static bool rounds_to_nearest(void)
{
    static const volatile float units[] = {1, -1}, parts[] = {0.25f, 0.75f};
    bool is_nearest = true;

    for (int i = 0; i < 2; ++i) {
        const float unit = units[i], step = unit * FLT_EPSILON;
        const float near = unit + step * parts[0], far = unit + step * parts[1];

        is_nearest = is_nearest && float_bits(near) == float_bits(unit) &&
                     float_bits(far) == float_bits(unit) + 1;
    }
    return is_nearest;
}

// The first result is denormal, the second has a denormal operand: x86 has a mode for each.
static bool keeps_denormals(void)
{
    static const volatile float least_normal = FLT_MIN, denormal = FLT_MIN / 4, half = 0.5f,
                                four = 4;
    const float result = least_normal * half, back = denormal * four;

    return float_bits(result) == UINT32_C(0x00400000) && float_bits(back) == UINT32_C(0x00800000);
}

// --- Flags of the compiler ---

// A build has these flags or not, so that only one way of each condition is taken in it. tests/fast_math.sh
// compiles with each flag.
// GCOVR_EXCL_BR_START

// -ffinite-math-only, -fno-honor-nans, -fno-honor-infinities
static bool keeps_nonfinite(void)
{
    static const volatile float large = FLT_MAX, infinity = INFINITY, nan = NAN;
    const float x = infinity, difference = x - x, n = nan, product = large * large;

    return difference != difference && n != n && !(difference == 0) && isinf(product) &&
           !(fabsf(x) <= FLT_MAX);
}

// -fassociative-math
static bool keeps_order_of_sums(void)
{
    static const volatile float large = 1e8f, one = 1, huge = 1e30f;
    const float x = large, y = one, sum = x + y, z = huge;

    return float_bits(sum - x) == 0 && isinf(z * 1e30f * 1e-30f);
}

// -freciprocal-math, -mrecip, -fapprox-func
static bool divides_exactly(void)
{
    static const volatile float five = 5, seven = 7;
    const float x = five, y = seven;

    return float_bits(x / 49.0f) == UINT32_C(0x3dd0fac7) &&
           float_bits(1.0f / sqrtf(y)) == UINT32_C(0x3ec18490) &&
           float_bits(sqrtf(y)) == UINT32_C(0x402953fd);
}

// -fno-signed-zeros
static bool keeps_signs_of_zero(void)
{
    static const volatile float plus = 0.0f, minus = -0.0f;
    const float p = plus, m = minus;

    return float_bits(m + 0.0f) == 0 && float_bits(0.0f - p) == 0;
}

// -ffp-contract=fast: a product rounds to the float that is subtracted, a fused one leaves a rest.
static bool rounds_products(void)
{
    static const volatile float factor = 1 + FLT_EPSILON * 2048, square = 1 + FLT_EPSILON * 4096;
    const float f = factor, s = square;

    return float_bits(f * f - s) == 0;
}

// --- Kernels ---

// Kernels are compiled for other instruction sets than the rest, which may have fused products where the
// rest has none. The sums of this pose have other bits where any of their products is fused.
static bool are_exact(const espl__kernels *kernels)
{
    enum { CHILDREN = 2 * ESPL__WIDTH_LIMIT };
    static const espl_pose parent = {
        {0.5506f, -0.6732f, 0.4198f, -0.2598f}, {2.247f, 0.044f, 2.887f}, 1.256f};
    static const espl_pose local = {
        {-0.3543f, 0.7334f, 0.559f, -0.1555f}, {2.612f, 1.405f, -0.668f}, 0.511f};
    static const espl_pose expected = {{-0.67777133f, -0.542375207f, -0.0452118367f, 0.494533122f},
                                       {-0.206857443f, -2.79673934f, 2.18392277f},
                                       0.64181602f};
    espl_pose worlds[1 + CHILDREN] = {parent}, locals[1 + CHILDREN] = {parent};
    uint32_t parents[1 + CHILDREN] = {0}, slots[ESPL__WIDTH_LIMIT];
    bool is_exact = true;

    for (uint32_t i = 1; i <= CHILDREN; ++i) {
        locals[i] = local;
    }
    for (uint32_t i = 0; i < ESPL__WIDTH_LIMIT; ++i) {
        slots[i] = 1 + CHILDREN / 2 + i;
    }
    // All children; one alone; and ranges of one each, where there is such a function.
    is_exact = kernels->compose(worlds, locals, parents, 1, 1 + CHILDREN) == 0;
    for (uint32_t i = 1; i <= CHILDREN; ++i) {
        is_exact = is_exact && memcmp(&worlds[i], &expected, sizeof expected) == 0;
    }
    memset(worlds + 1, 0, CHILDREN * sizeof *worlds);
    is_exact = is_exact && kernels->compose(worlds, locals, parents, 1, 2) == 0 &&
               memcmp(&worlds[1], &expected, sizeof expected) == 0;
    if (kernels->compose_ranges != NULL) {
        is_exact = is_exact && kernels->compose_ranges(worlds, locals, parents, slots, 1) == 0;
        for (uint32_t i = 0; i < kernels->width; ++i) {
            is_exact = is_exact && memcmp(&worlds[slots[i]], &expected, sizeof expected) == 0;
        }
    }
    return is_exact;
}
// GCOVR_EXCL_BR_STOP

const char *espl__arithmetic_fault(const espl__kernels *kernels)
{
    static const struct {
        bool (*holds)(void);
        const char *sentence; // said where it does not hold
    } rules[] = {
        // In this order, because another rounding changes the answers of the flags, and a program that
        // is compiled with some of the flags starts with denormals flushed.
        {rounds_to_nearest,
         "This thread does not round to nearest. Call fesetround(FE_TONEAREST)."},
        {keeps_nonfinite,
         "The library was compiled with -ffinite-math-only or a part of it. Compile "
         "it without."},
        {keeps_order_of_sums,
         "The library was compiled with -fassociative-math. Compile it without."},
        {divides_exactly,
         "The library was compiled with -freciprocal-math or approximate functions. Compile "
         "it without."},
        {keeps_signs_of_zero,
         "The library was compiled with -fno-signed-zeros. Compile it without."},
        {rounds_products, "The library was compiled with fused products and sums. Compile it with "
                          "-ffp-contract=off."},
        {keeps_denormals, "This thread flushes denormal floats to zero. Clear the modes FTZ and "
                          "DAZ of x86, or FZ of "
                          "AArch64. What is linked with -ffast-math sets them when it is loaded."},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
        if (!rules[i].holds()) {
            return rules[i].sentence;
        }
    }
    return are_exact(kernels)
               ? NULL
               : "The kernels were compiled with flags that change their sums. Compile them with "
                 "-ffp-contract=off, and without parts of -ffast-math.";
}
