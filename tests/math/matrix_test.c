// SPDX-License-Identifier: MIT
// Transforms of matrices, compared by the matrices that they give, not by their fields: a matrix
// has more than one transform. And transforms of glTF's parts.
#include "tests/checks.h"
#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <float.h>

enum { ROUNDS = 5000 };

// --- From a matrix ---

static double column_length(const float columns[static 16], int column)
{
    double squares = 0;

    for (int row = 0; row < 3; ++row) {
        squares += (double)columns[4 * column + row] * (double)columns[4 * column + row];
    }
    return sqrt(squares);
}

static double largest_length(const float columns[static 16])
{
    double largest = 0;

    for (int column = 0; column < 3; ++column) {
        largest = fmax(largest, column_length(columns, column));
    }
    return largest;
}

// The largest difference between two columns.
static double column_difference(const float a[static 16], const float b[static 16], int column)
{
    double worst = 0;

    for (int row = 0; row < 3; ++row) {
        const int k = 4 * column + row;

        worst = fmax(worst, fabs((double)a[k] - (double)b[k]));
    }
    return worst;
}

static double largest_difference(const float a[static 16], const float b[static 16])
{
    return fmax(column_difference(a, b, 0),
                fmax(column_difference(a, b, 1), column_difference(a, b, 2)));
}

static void residual_is_right(float residual, const float columns[static 16],
                              const float again[static 16])
{
    const double largest = largest_length(columns);
    const double off = fabs((double)residual * largest - largest_difference(columns, again));

    ck_assert_double_le(off, (1e-7 * (double)residual + 0x1p-149) * largest);
}

// Demand that the matrix of a placement comes back: every column to a millionth of its own length,
// the position bit for bit.
static espl_transform comes_back(const espl_transform *placed)
{
    espl_transform found = *placed;
    float columns[16], again[16], residual = -1;

    espl_transform_to_matrix(placed, ESPL_MATRIX_4X4, columns);
    ck_ok(espl_transform_from_matrix(columns, &found, &residual));
    espl_transform_to_matrix(&found, ESPL_MATRIX_4X4, again);
    for (int column = 0; column < 3; ++column) {
        const double length = column_length(columns, column);

        ck_assert_double_le(column_difference(columns, again, column), 1e-6 * length);
    }
    residual_is_right(residual, columns, again);
    ck_assert_mem_eq(found.position, placed->position, sizeof found.position);
    ck_assert_uint_eq(found.user_data, 0);
    ck_assert_int_eq(espl_transform_is_mirrored(&found), espl_transform_is_mirrored(placed));
    ck_assert_double_eq_tol(length_of(found.rotation), 1, 2e-7);
    return found;
}

static bool has_plain_stretch(const espl_transform *t)
{
    return t->stretch[0] == 1 && t->stretch[1] == 1 && t->stretch[2] == 1;
}

TEST(matrix_with_stretch_comes_back_as_stretch)
{
    uint64_t random = 17;

    for (int i = 0; i < 4 * ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        const espl_transform found = comes_back(&t);

        ck_assert(found.scale == (espl_transform_is_mirrored(&t) ? -1.0f : 1.0f));
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_eq_tol((double)found.stretch[k],
                                    fabs((double)t.scale * (double)t.stretch[k]), 16 * 5e-7);
        }
    }
}

TEST(matrix_without_stretch_comes_back_as_scale)
{
    uint64_t random = 18;

    for (int i = 0; i < 4 * ROUNDS; ++i) {
        espl_transform t = any_transform(&random);

        t.stretch[0] = t.stretch[1] = t.stretch[2] = 1;
        t.scale = ldexpf(t.scale, (int)test_below(&random, 200) - 100);
        const espl_transform found = comes_back(&t);
        ck_assert(has_plain_stretch(&found));
        ck_assert_double_eq_tol((double)found.scale / (double)t.scale, 1, 5e-7);
        turns_like(found.rotation, t.rotation, 1e-12);
    }
}

TEST(matrix_of_any_magnitudes_comes_back)
{
    uint64_t random = 19;

    for (int i = 0; i < 4 * ROUNDS; ++i) {
        espl_transform t = any_transform(&random);

        t.scale = ldexpf(t.scale, (int)test_below(&random, 120) - 60);
        for (int k = 0; k < 3; ++k) {
            t.stretch[k] = ldexpf(t.stretch[k], (int)test_below(&random, 60) - 30);
            t.position[k] = any_finite(&random);
        }
        (void)comes_back(&t);
    }
}

TEST(axes_of_zero_stay_zero_and_the_others_come_back)
{
    uint64_t random = 20;

    for (int i = 0; i < 8 * ROUNDS; ++i) {
        espl_transform t = any_transform(&random);

        for (int k = 0; k < 3; ++k) {
            if ((i >> k & 1) != 0) {
                t.stretch[k] = test_one_in(&random, 2) ? 0 : -0.0f;
            }
        }
        const espl_transform found = comes_back(&t);
        ck_assert(!espl_transform_is_mirrored(&found) || i % 8 == 0);
        for (int k = 0; k < 3; ++k) {
            ck_assert(i % 8 == 7 || (found.stretch[k] == 0) == ((i >> k & 1) != 0));
        }
        ck_assert(i % 8 != 7 || (found.scale == 0 && has_plain_stretch(&found)));
    }
}

TEST(rotation_follows_from_the_two_columns_that_are_left)
{
    uint64_t random = 21;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform t = any_transform(&random);

        t.scale = fabsf(t.scale);
        for (int k = 0; k < 3; ++k) {
            t.stretch[k] = k == i % 3 ? 0 : fabsf(t.stretch[k]);
        }
        const espl_transform found = comes_back(&t);
        turns_like(found.rotation, t.rotation, 1e-12);
    }
}

static void write_columns(float columns[static 16], const float upper[static 3][3])
{
    for (int k = 0; k < 16; ++k) {
        const bool is_upper = k / 4 < 3 && k % 4 < 3;

        columns[k] = is_upper ? upper[k / 4][k % 4] : 0;
    }
    columns[15] = 1;
}

// Near an axis, and within what counts as parallel to one, too.
TEST(lone_column_keeps_its_direction)
{
    const float asides[] = {0, 1e-7f, 4e-6f, 9e-6f, 2e-5f, 1e-3f, 1};
    const int count = sizeof asides / sizeof *asides;

    for (int i = 0; i < 18 * count * count; ++i) {
        const int column = i % 3, axis = i / 3 % 3;
        const float first = asides[i / 18 % count], second = -asides[i / 18 / count];
        float upper[3][3] = {{0}}, columns[16], again[16], residual = -1;
        espl_transform found;

        upper[column][axis] = i / 9 % 2 == 0 ? 2 : -2;
        upper[column][(axis + 1) % 3] = first;
        upper[column][(axis + 2) % 3] = second;
        write_columns(columns, upper);
        ck_ok(espl_transform_from_matrix(columns, &found, &residual));
        ck_assert_float_le(residual, 3e-7f);
        espl_transform_to_matrix(&found, ESPL_MATRIX_4X4, again);
        residual_is_right(residual, columns, again);
        ck_assert_double_eq_tol(length_of(found.rotation), 1, 2e-7);
        ck_assert(found.scale == 1 && found.stretch[(column + 1) % 3] == 0 &&
                  found.stretch[(column + 2) % 3] == 0);
    }
}

// A matrix worked out by hand, by its columns, and the placement that it is.
typedef struct worked {
    float columns[3][3];
    espl_transform expected;
} worked;

#define HALF 0.70710678f

static const worked by_hand[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 0, 0, 1}, {0}, 1, {1, 1, 1}, 0}},
    {{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, {{0, 0, 0, 1}, {0}, 2, {1, 1, 1}, 0}},
    {{{2, 0, 0}, {0, 3, 0}, {0, 0, 4}}, {{0, 0, 0, 1}, {0}, 1, {2, 3, 4}, 0}},
    // Mirrored through the origin, then, with half a turn, through a plane.
    {{{-3, 0, 0}, {0, -3, 0}, {0, 0, -3}}, {{0, 0, 0, 1}, {0}, -3, {1, 1, 1}, 0}},
    {{{-1, 0, 0}, {0, -2, 0}, {0, 0, -3}}, {{0, 0, 0, 1}, {0}, -1, {1, 2, 3}, 0}},
    {{{-2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, {{1, 0, 0, 0}, {0}, -2, {1, 1, 1}, 0}},
    {{{2, 0, 0}, {0, -3, 0}, {0, 0, 4}}, {{0, 1, 0, 0}, {0}, -1, {2, 3, 4}, 0}},
    {{{2, 0, 0}, {0, 3, 0}, {0, 0, -4}}, {{0, 0, 1, 0}, {0}, -1, {2, 3, 4}, 0}},
    // Half turns and quarter turns.
    {{{-5, 0, 0}, {0, -5, 0}, {0, 0, 5}}, {{0, 0, 1, 0}, {0}, 5, {1, 1, 1}, 0}},
    {{{0, 0, -3}, {0, 3, 0}, {3, 0, 0}}, {{0, HALF, 0, HALF}, {0}, 3, {1, 1, 1}, 0}},
    {{{1, 0, 0}, {0, 0, 2}, {0, -3, 0}}, {{HALF, 0, 0, HALF}, {0}, 1, {1, 2, 3}, 0}},
    {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {{0.5f, 0.5f, 0.5f, 0.5f}, {0}, 1, {1, 1, 1}, 0}},
    // One, two and three columns of zeros.
    {{{0, 0, 0}, {0, 2, 0}, {0, 0, 3}}, {{0, 0, 0, 1}, {0}, 1, {0, 2, 3}, 0}},
    {{{0, 3, 0}, {-2, 0, 0}, {0, 0, 0}}, {{0, 0, HALF, HALF}, {0}, 1, {3, 2, 0}, 0}},
    {{{0, 0, 0}, {0, 2, 0}, {0, 0, 0}}, {{0, 0, 0, 1}, {0}, 1, {0, 2, 0}, 0}},
    {{{0, 0, 0}, {0, 0, 0}, {4, 0, 0}}, {{0, HALF, 0, HALF}, {0}, 1, {0, 0, 4}, 0}},
    {{{-4, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 1, 0, 0}, {0}, 1, {4, 0, 0}, 0}},
    {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 0, 0, 1}, {0}, 0, {1, 1, 1}, 0}},
};

TEST(matrices_worked_by_hand_come_out_as_they_must)
{
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; ++i) {
        const espl_transform *const expected = &by_hand[i].expected;
        espl_transform found;
        float columns[16], residual = -1;

        write_columns(columns, by_hand[i].columns);
        columns[12] = 7;
        columns[13] = -0.0f;
        columns[14] = -9;
        ck_ok(espl_transform_from_matrix(columns, &found, &residual));
        ck_assert_mem_eq(found.position, &columns[12], sizeof found.position);
        ck_assert_msg(found.scale == expected->scale, "case %zu: scale %g", i, (double)found.scale);
        for (int k = 0; k < 4; ++k) {
            ck_assert_msg(fabsf(found.rotation[k] - expected->rotation[k]) <= 6e-8f,
                          "case %zu: rotation[%d] is %g", i, k, (double)found.rotation[k]);
        }
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq(found.stretch[k], expected->stretch[k]);
        }
        ck_assert_float_ge(residual, 0);
        ck_assert_float_le(residual, 2e-7f);
    }
}

TEST(lengths_are_one_scale_up_to_a_millionth)
{
    for (int ulps = -20; ulps <= 20; ++ulps) {
        for (int axis = 0; axis < 3; ++axis) {
            espl_transform t = espl_transform_identity(), found;
            float columns[16];

            t.stretch[axis] = 1 + (float)ulps * 0x1p-23f;
            espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
            ck_ok(espl_transform_from_matrix(columns, &found, NULL));

            const double length = (double)t.stretch[axis];
            const bool is_uniform = fabs(length - 1) <= 1e-6 * fmax(length, 1);
            ck_assert_int_eq(has_plain_stretch(&found), is_uniform || ulps == 0);
            if (is_uniform) {
                ck_assert_double_eq_tol((double)found.scale, (1 + length) / 2, 0x1.1p-24);
            } else {
                ck_assert_mem_eq(&found, &t, sizeof t);
            }
        }
    }
}

// Columns x, y + k x, z: the longer y keeps its direction, and x is turned upright to it.
TEST(shear_is_refused_with_its_residual)
{
    const double shears[] = {2e-7, 1e-5, 0.9e-4, 1.1e-4, 2e-4, 0.01, 0.5, 1, 100, -0.01, -1};

    for (size_t i = 0; i < sizeof shears / sizeof *shears; ++i) {
        const double k = shears[i], expected = fabs(k) / (1 + k * k);
        const float upper[3][3] = {{1, 0, 0}, {(float)k, 1, 0}, {0, 0, 1}};
        espl_transform found = {.user_data = 99};
        const espl_transform before = found;
        float columns[16], residual = -1;

        write_columns(columns, upper);
        const espl_status status = espl_transform_from_matrix(columns, &found, &residual);
        ck_assert_double_eq_tol((double)residual, expected, 2e-7);
        ck_status(status, expected < 1e-4 ? ESPL_OK : ESPL_ERR_SHEAR);
        ck_assert(status == ESPL_OK || memcmp(&found, &before, sizeof found) == 0);
        ck_assert_int_eq(espl_transform_from_matrix(columns, &found, NULL), status);
    }
}

// Matrices of placements with each element pushed, most of them to one or the other side of the
// limit.
TEST(refusal_is_decided_by_the_residual_that_is_written)
{
    uint64_t random = 22;
    int refused = 0;

    for (int i = 0; i < 4 * ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        const float push = test_between(&random, 0, 2e-4f);
        espl_transform found = t;
        float columns[16], again[16], residual = -1;

        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        const float largest = (float)largest_length(columns);
        for (int k = 0; k < 12; ++k) {
            columns[k] += k % 4 == 3 ? 0 : test_between(&random, -push, push) * largest;
        }
        const espl_status status = espl_transform_from_matrix(columns, &found, &residual);
        ck_status(status, residual > 1e-4f ? ESPL_ERR_SHEAR : ESPL_OK);
        refused += status != ESPL_OK;
        if (status == ESPL_OK) {
            espl_transform_to_matrix(&found, ESPL_MATRIX_4X4, again);
            residual_is_right(residual, columns, again);
        } else {
            ck_assert_mem_eq(&found, &t, sizeof t);
        }
    }
    ck_assert_int_gt(refused, ROUNDS);
    ck_assert_int_lt(refused, 3 * ROUNDS);
}

TEST(columns_that_are_parallel_are_refused)
{
    uint64_t random = 23;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        espl_transform found = t;
        float columns[16], residual = -1;

        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        memcpy(&columns[i % 3 * 4], &columns[(i + 1) % 3 * 4], 3 * sizeof *columns);
        if (i % 2 == 0) {
            memcpy(&columns[(i + 2) % 3 * 4], &columns[(i + 1) % 3 * 4], 3 * sizeof *columns);
        }
        ck_status(espl_transform_from_matrix(columns, &found, &residual), ESPL_ERR_SHEAR);
        ck_assert(isfinite(residual) && residual > 1e-4f);
        ck_assert_mem_eq(&found, &t, sizeof t);
    }
}

TEST(last_row_must_be_that_of_a_placement)
{
    const float wrong[4][2] = {{0x1p-149f, 1}, {-1e-3f, 5}, {1e30f, -1}, {0, 0.99999994f}};
    uint64_t random = 24;

    for (int row = 0; row < 4; ++row) {
        for (int i = 0; i < 2; ++i) {
            const espl_transform t = any_transform(&random);
            espl_transform found = t;
            float columns[16], residual = -1;

            espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
            columns[4 * row + 3] = wrong[row][i];
            ck_status(espl_transform_from_matrix(columns, &found, &residual), ESPL_ERR_SHEAR);
            ck_assert(residual >= 0 && residual < 1e-6f);
            ck_assert_mem_eq(&found, &t, sizeof t);
            columns[4 * row + 3] = row < 3 ? -0.0f : 1;
            ck_ok(espl_transform_from_matrix(columns, &found, NULL));
        }
    }
}

TEST(length_that_overflows_is_refused)
{
    const float m = FLT_MAX;
    const float too_long[2][3][3] = {{{m, m, 0}, {-m, m, 0}, {0, 0, m}},
                                     {{m, m, 0}, {0, 0, 0}, {0, 0, 0}}};
    const float sheared[3][3] = {{m, m, m}, {0, m, 0}, {0, 0, m}};
    espl_transform found = {.user_data = 99};
    const espl_transform before = found;
    float columns[16], residual;

    for (int i = 0; i < 2; ++i) {
        residual = -1;
        write_columns(columns, too_long[i]);
        ck_status(espl_transform_from_matrix(columns, &found, &residual), ESPL_ERR_RANGE);
        ck_assert(residual >= 0 && residual < 1e-6f);
        ck_assert_mem_eq(&found, &before, sizeof found);
    }
    write_columns(columns, sheared);
    ck_status(espl_transform_from_matrix(columns, &found, &residual), ESPL_ERR_SHEAR);
    ck_assert(isfinite(residual) && residual > 0.1f);
}

TEST(largest_and_smallest_matrices_come_back)
{
    const float factors[] = {FLT_MAX, -FLT_MAX, 0x1p120f, 0x1.8p120f, 0x1p-126f, 0x1p-149f};
    uint64_t random = 25;

    for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i) {
        espl_transform t = espl_transform_identity();

        t.scale = factors[i];
        const espl_transform found = comes_back(&t);
        ck_assert_mem_eq(&found, &t, sizeof t);
    }
    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform t = any_transform(&random);

        // Up to 2^127, beyond where a sum of squares in float overflows.
        t.scale = ldexpf(test_between(&random, 0.5f, 1), 123 + i % 2);
        (void)comes_back(&t);
    }
}

// A short column of denormals says little of its direction; the long ones decide.
TEST(coarse_columns_do_not_spoil_the_others)
{
    uint64_t random = 26;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform t = any_transform(&random), found;
        float columns[16], again[16], residual;

        t.scale = 1;
        t.stretch[i % 3] = 0x1p-149f;
        if (i % 2 == 0) {
            t.stretch[(i + 1) % 3] = -0x1p-148f;
        }
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        ck_ok(espl_transform_from_matrix(columns, &found, &residual));
        espl_transform_to_matrix(&found, ESPL_MATRIX_4X4, again);
        ck_assert_double_le(largest_difference(columns, again), 1e-6 * largest_length(columns));
        ck_assert_double_eq_tol(length_of(found.rotation), 1, 2e-7);
    }
}

// Elements of any magnitude, denormals and zeros among them; some columns are turned axes.
static void any_columns(float columns[static 16], uint64_t *random)
{
    const espl_transform t = any_transform(random);

    espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
    for (int k = 0; k < 12; ++k) {
        const int power = test_one_in(random, 2) ? 0 : (int)test_below(random, 270) - 145;

        columns[k] = ldexpf(columns[k], k % 4 == 3 || k / 4 > 2 ? 0 : power);
        if (k % 4 != 3 && test_one_in(random, 4)) {
            columns[k] = test_one_in(random, 2) ? 0 : any_finite(random);
        }
    }
}

TEST(any_finite_matrix_is_taken_whole_or_refused_whole)
{
    const int rounds = (int)test_scaled(50000);
    uint64_t random = 30;
    int taken = 0;

    for (int i = 0; i < rounds; ++i) {
        const espl_transform before = any_transform(&random);
        espl_transform found = before;
        float columns[16], again[16], residual = -1;

        any_columns(columns, &random);
        const espl_status status = espl_transform_from_matrix(columns, &found, &residual);
        ck_assert(residual >= 0 && residual <= 2);
        if (status == ESPL_OK) {
            const espl_transform as_found = found;

            espl_transform_to_matrix(&found, ESPL_MATRIX_4X4, again);
            residual_is_right(residual, columns, again);
            ck_assert_float_le(residual, 1e-4f);
            ck_ok(espl_transform_normalize(&found));
            ck_assert(test_same(&found, &as_found));
            taken += 1;
        } else {
            ck_assert(status == ESPL_ERR_SHEAR || status == ESPL_ERR_RANGE);
            ck_assert(test_same(&found, &before));
        }
    }
    ck_assert_int_gt(taken, rounds / 20);
    ck_assert_int_lt(taken, rounds - rounds / 20);
}

// --- glTF ---

static float any_scale(uint64_t *random)
{
    const float special[] = {0, -0.0f, 1, -1, 0x1p-149f, -0x1p-149f, 1e30f, -1e30f, FLT_MAX};
    const uint32_t count = sizeof special / sizeof *special;

    return test_one_in(random, 2) ? any_factor(random) : special[test_below(random, count)];
}

TEST(parts_come_back_bit_for_bit)
{
    uint64_t random = 27;

    for (int i = 0; i < 4 * ROUNDS; ++i) {
        espl_transform made = {.user_data = 99};
        float translation[3], rotation[4], scale[3], moved[3], turned[4], scaled[3];

        any_rotation(rotation, &random);
        for (int k = 0; k < 3; ++k) {
            translation[k] = test_one_in(&random, 4) ? -0.0f : any_finite(&random);
            scale[k] = k > 0 && i % 2 == 0 ? scale[0] : any_scale(&random);
        }
        rotation[i % 4] = test_one_in(&random, 4) ? -0.0f : rotation[i % 4];
        ck_ok(espl_transform_from_trs(translation, rotation, scale, &made));

        // What was not of unit length is now, and then stays.
        memcpy(turned, made.rotation, sizeof turned);
        turns_like(turned, rotation, 1e-12);
        ck_ok(espl_transform_from_trs(translation, turned, scale, &made));
        espl_transform_to_trs(&made, moved, rotation, scaled);
        ck_assert_mem_eq(moved, translation, sizeof moved);
        ck_assert_mem_eq(rotation, turned, sizeof turned);
        ck_assert_uint_eq(made.user_data, 0);

        const bool is_zero = scale[0] == 0 && scale[1] == 0 && scale[2] == 0;
        for (int k = 0; k < 3; ++k) {
            // Zeros of both signs are equal, and one of the signs is the scale's.
            ck_assert(is_zero ? scaled[k] == 0 : memcmp(&scaled[k], &scale[k], 4) == 0);
        }
    }
}

TEST(unit_rotation_of_parts_is_kept_bit_for_bit)
{
    const float rotation[4] = {-0.0f, 0.6f, -0.0f, -0.8f}, zeros[3] = {-0.0f, -0.0f, -0.0f};
    espl_transform made;
    float moved[3], turned[4], scaled[3];

    ck_ok(espl_transform_from_trs(zeros, rotation, zeros, &made));
    ck_assert_mem_eq(made.rotation, rotation, sizeof rotation);
    espl_transform_to_trs(&made, moved, turned, scaled);
    ck_assert_mem_eq(moved, zeros, sizeof zeros);
    ck_assert_mem_eq(turned, rotation, sizeof rotation);
    ck_assert_mem_eq(scaled, zeros, sizeof zeros);
}

TEST(three_equal_scales_are_the_scale_and_others_the_stretch)
{
    const float at[3] = {1, 2, 3}, rotation[4] = {0, 0, 0, -5};
    const float even[3] = {-2, -2, -2}, uneven[3] = {-2, -2, 2};
    const espl_transform as_scale = {{0, 0, 0, -1}, {1, 2, 3}, -2, {1, 1, 1}, 0};
    const espl_transform as_stretch = {{0, 0, 0, -1}, {1, 2, 3}, 1, {-2, -2, 2}, 0};
    espl_transform made;

    ck_ok(espl_transform_from_trs(at, rotation, even, &made));
    ck_assert_mem_eq(&made, &as_scale, sizeof made);
    ck_ok(espl_transform_from_trs(at, rotation, uneven, &made));
    ck_assert_mem_eq(&made, &as_stretch, sizeof made);
}

// A scale of about 100 that is uneven by some steps of a float: by the parts and by the matrix alike it
// is a scale up to a millionth, and a stretch past that.
TEST(scales_and_columns_are_equal_up_to_one_tolerance)
{
    const float at[3] = {1, 2, 3}, rotation[4] = {0, 0, 0, 1};

    for (int i = 0; i < 3 * 2 * 40; ++i) {
        const int axis = i % 3, sign = i % 2 == 0 ? 1 : -1, steps = i / 6;
        const double more = ldexp(steps, -17); // of 100: a step is 2^-17
        float scale[3] = {100, 100, 100},
              columns[16] = {[0] = 100, [5] = 100, [10] = 100, [15] = 1};
        espl_transform by_parts, by_matrix;

        scale[axis] = columns[5 * axis] = (float)(100 + sign * more);
        const bool is_even = more <= 1e-6 * fmax(100, 100 + sign * more);
        ck_ok(espl_transform_from_trs(at, rotation, scale, &by_parts));
        ck_ok(espl_transform_from_matrix(columns, &by_matrix, NULL));
        ck_assert(has_plain_stretch(&by_parts) == is_even);
        ck_assert_mem_eq(by_parts.stretch, by_matrix.stretch, sizeof by_parts.stretch);
        ck_assert(by_parts.scale == by_matrix.scale);
        ck_assert(!is_even || fabsf(by_parts.scale - 100) <= 0.00005f);
        for (int k = 0; k < 3; ++k) {
            scale[k] *= -1;
        }
        ck_ok(espl_transform_from_trs(at, rotation, scale, &by_parts));
        ck_assert(has_plain_stretch(&by_parts) == is_even);
        ck_assert(by_parts.scale == (is_even ? -by_matrix.scale : 1));
    }
}

TEST(parts_are_those_of_the_placement)
{
    uint64_t random = 28;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        float translation[3], rotation[4], scale[3];

        espl_transform_to_trs(&t, translation, rotation, scale);
        ck_assert_mem_eq(translation, t.position, sizeof translation);
        ck_assert_mem_eq(rotation, t.rotation, sizeof rotation);
        for (int k = 0; k < 3; ++k) {
            ck_assert_float_eq(scale[k], t.scale * t.stretch[k]);
        }
    }
}

// T * R * S multiplied out in double.
TEST(placement_of_parts_has_the_matrix_of_gltf)
{
    uint64_t random = 29;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        const float uniform[3] = {t.scale, t.scale, t.scale};
        const float *const scale = i % 2 == 0 ? t.stretch : uniform;
        espl_transform made;
        float rotation[4], columns[16];
        double m[3][3];

        for (int k = 0; k < 4; ++k) {
            rotation[k] = t.rotation[k] * 3;
        }
        ck_ok(espl_transform_from_trs(t.position, rotation, scale, &made));
        espl_transform_to_matrix(&made, ESPL_MATRIX_4X4, columns);
        oracle_matrix(m, rotation);
        for (int k = 0; k < 9; ++k) {
            const int row = k % 3, column = k / 3;

            ck_assert_double_eq_tol((double)columns[4 * column + row],
                                    m[row][column] * (double)scale[column], 4 * 5e-7);
        }
        ck_assert_mem_eq(&columns[12], t.position, sizeof t.position);
        ck_assert(columns[3] == 0 && columns[7] == 0 && columns[11] == 0 && columns[15] == 1);
    }
}
