// SPDX-License-Identifier: MIT
// Transforms found in matrices: the matrix of a transform gives the transform back, and any other
// matrix has a residual.
#include "tools/affine.h"

#include "tools/random.h"

#include "tests/runner.h"

#include <math.h>

#define TRIALS 2000

static tool_placement random_placement(random_stream *stream)
{
    tool_placement out = placement_identity();

    for (int i = 0; i < 4; ++i) {
        out.rotation[i] = random_unit(stream) - 0.5;
    }
    quaternion_normalize(out.rotation);
    for (int i = 0; i < 3; ++i) {
        out.position[i] = 200 * random_unit(stream) - 100;
    }
    return out;
}

static double difference(const tool_affine *a, const tool_affine *b)
{
    double largest = 0;

    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            largest = fmax(largest, fabs(a->m[i][j] - b->m[i][j]));
        }
    }
    return largest;
}

/// Take the matrix apart and put it together again.
static double lost_by_decomposing(const tool_placement *placement, tool_placement *found)
{
    const tool_affine matrix = affine_of_placement(placement);
    const double defect = placement_of_affine(found, &matrix);
    const tool_affine again = affine_of_placement(found);

    ck_assert_double_lt(defect, 1e-12);
    return difference(&matrix, &again);
}

TEST(even_scale_of_either_sign_comes_back_as_scale)
{
    random_stream stream = {11};

    for (int trial = 0; trial < TRIALS; ++trial) {
        tool_placement in = random_placement(&stream), out;

        in.scale = (trial & 1 ? -1 : 1) * (0.01 + 10 * random_unit(&stream));
        ck_assert_double_lt(lost_by_decomposing(&in, &out), 1e-11);
        ck_assert_double_eq_tol(out.scale, in.scale, 1e-11);
        ck_assert(placement_is_even(&out));
    }
}

TEST(uneven_scale_comes_back_as_stretch_under_a_scale_of_one)
{
    random_stream stream = {12};

    for (int trial = 0; trial < TRIALS; ++trial) {
        tool_placement in = random_placement(&stream), out;

        in.scale = trial & 1 ? -1 : 1;
        for (int i = 0; i < 3; ++i) {
            in.stretch[i] = 0.1 + (double)i + 0.5 * random_unit(&stream);
        }
        ck_assert_double_lt(lost_by_decomposing(&in, &out), 1e-11);
        ck_assert_double_eq(out.scale, in.scale);
        ck_assert(!placement_is_even(&out));
    }
}

TEST(collapsed_axes_leave_a_finite_rotation)
{
    random_stream stream = {13};

    for (unsigned lost = 1; lost < 8; ++lost) {
        tool_placement in = random_placement(&stream), out;
        double square = 0;

        for (int i = 0; i < 3; ++i) {
            in.stretch[i] = lost >> i & 1 ? 0 : 2 + i;
        }
        ck_assert_double_lt(lost_by_decomposing(&in, &out), 1e-12);
        for (int i = 0; i < 4; ++i) {
            square += out.rotation[i] * out.rotation[i];
        }
        ck_assert_double_eq_tol(square, 1, 1e-12);
    }
}

TEST(shear_is_told_as_a_defect)
{
    tool_affine matrix = affine_identity();
    tool_placement out;

    matrix.m[0][1] = 0.1;
    ck_assert_double_gt(placement_of_affine(&out, &matrix), 0.01);
}

TEST(product_of_matrices_is_one_after_the_other)
{
    random_stream stream = {14};

    for (int trial = 0; trial < TRIALS; ++trial) {
        const tool_placement a = random_placement(&stream), b = random_placement(&stream);
        const tool_affine ma = affine_of_placement(&a), mb = affine_of_placement(&b);
        const tool_affine product = affine_multiply(&ma, &mb);
        tool_placement both = placement_identity();

        quaternion_multiply(both.rotation, a.rotation, b.rotation);
        quaternion_rotate(both.position, a.rotation, b.position);
        for (int i = 0; i < 3; ++i) {
            both.position[i] += a.position[i];
        }
        const tool_affine expected = affine_of_placement(&both);
        ck_assert_double_lt(difference(&product, &expected), 1e-11);
    }
}

TEST(numbers_no_float_holds_are_found)
{
    tool_affine matrix = affine_identity();

    ck_assert(affine_fits_float(&matrix));
    matrix.m[1][3] = 1e39;
    ck_assert(!affine_fits_float(&matrix));
    matrix.m[1][3] = NAN;
    ck_assert(!affine_fits_float(&matrix));
}
