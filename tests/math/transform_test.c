// SPDX-License-Identifier: MIT
// Conversions and matrices, against the double oracle and against cglm, which shares no formula
// with the library.
#include "tests/checks.h"
#include "tests/math/numbers.h"
#include "tests/runner.h"

#ifdef HAVE_CGLM
#include <cglm/cglm.h>
#endif

enum { ROUNDS = 5000 };

static const double point_tolerance = 8 * 0x1p-24 * 16 * 350;

static void any_point(float out[static 3], uint64_t *random)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = test_between(random, -100, 100);
    }
}

static double length_of_vector(const float v[static 3])
{
    return hypot(hypot((double)v[0], (double)v[1]), (double)v[2]);
}

// --- Conversions ---

TEST(point_agrees_with_double_oracle)
{
    uint64_t random = 1;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = any_transform(&random);
        float point[3], out[3];
        double probe[3], expected[3];

        any_point(point, &random);
        widen(probe, point);
        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, point, out);
        oracle_point(expected, &frame, probe);
        is_near(out, expected, point_tolerance);
        espl_transform_convert(&frame, ESPL_POINT_TO_LOCAL, point, out);
        oracle_point_inverse(expected, &frame, probe);
        is_near(out, expected, point_tolerance);
    }
}

TEST(point_goes_where_a_child_would_stand)
{
    uint64_t random = 2;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = any_transform(&random), child = any_transform(&random);
        const espl_transform world = espl_transform_compose(&frame, &child);
        espl_transform local = espl_transform_identity();
        float out[3];

        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, child.position, out);
        ck_assert_mem_eq(out, world.position, sizeof out);
        ck_ok(espl_transform_relative(&frame, &child, &local));
        espl_transform_convert(&frame, ESPL_POINT_TO_LOCAL, child.position, out);
        ck_assert_mem_eq(out, local.position, sizeof out);
    }
}

TEST(inverses_undo)
{
    uint64_t random = 3;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = any_transform(&random);
        float start[3], out[3];
        double expected[3];

        any_point(start, &random);
        widen(expected, start);
        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, start, out);
        espl_transform_convert(&frame, ESPL_POINT_TO_LOCAL, out, out);
        is_near(out, expected, 16 * point_tolerance);
        espl_transform_convert(&frame, ESPL_VECTOR_TO_WORLD, start, out);
        espl_transform_convert(&frame, ESPL_VECTOR_TO_LOCAL, out, out);
        is_near(out, expected, 16 * point_tolerance);
        espl_transform_convert(&frame, ESPL_DIRECTION_TO_WORLD, start, out);
        espl_transform_convert(&frame, ESPL_DIRECTION_TO_LOCAL, out, out);
        is_near(out, expected, 1e-4);
    }
}

TEST(vector_is_an_offset_between_points)
{
    uint64_t random = 4;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = any_transform(&random);
        float a[3], b[3], offset[3], out[3];

        any_point(a, &random);
        any_point(b, &random);
        for (int k = 0; k < 3; ++k) {
            offset[k] = b[k] - a[k];
        }
        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, a, a);
        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, b, b);
        espl_transform_convert(&frame, ESPL_VECTOR_TO_WORLD, offset, out);
        is_near(out,
                (const double[]){(double)b[0] - (double)a[0], (double)b[1] - (double)a[1],
                                 (double)b[2] - (double)a[2]},
                point_tolerance);
    }
}

TEST(direction_keeps_its_length)
{
    uint64_t random = 5;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = any_transform(&random);
        espl_transform rigid = frame;
        float in[3], out[3], as_rigid[3];

        rigid.scale = 1;
        rigid.stretch[0] = rigid.stretch[1] = rigid.stretch[2] = 1;
        any_point(in, &random);
        espl_transform_convert(&frame, ESPL_DIRECTION_TO_WORLD, in, out);
        espl_transform_convert(&rigid, ESPL_VECTOR_TO_WORLD, in, as_rigid);
        ck_assert_mem_eq(out, as_rigid, sizeof out);
        ck_assert_double_eq_tol(length_of_vector(out), length_of_vector(in), 1e-4);
    }
}

TEST(flat_axes_give_zero)
{
    const float point[3] = {3, 4, 5};

    for (int flat = 0; flat < 16; ++flat) {
        espl_transform frame = {{0, 0, 0, 1}, {1, 1, 1}, 2, {2, 2, 2}, 0};
        float out[3], turned[3];

        for (int i = 0; i < 3; ++i) {
            frame.stretch[i] = (flat >> i & 1) != 0 ? -0.0f : 2;
        }
        frame.scale = flat >> 3 != 0 ? 0 : 2;
        espl_transform_convert(&frame, ESPL_POINT_TO_LOCAL, point, out);
        espl_transform_convert(&frame, ESPL_VECTOR_TO_LOCAL, point, turned);
        for (int i = 0; i < 3; ++i) {
            const bool is_flat = flat >> 3 != 0 || (flat >> i & 1) != 0;

            ck_assert(out[i] == (is_flat ? 0 : (point[i] - 1) / 4));
            ck_assert(turned[i] == (is_flat ? 0 : point[i] / 4));
        }
    }
}

TEST(result_may_stand_in_the_input)
{
    uint64_t random = 6;

    for (int i = 0; i < 100 * ESPL_CONVERSION_COUNT; ++i) {
        const espl_conversion conversion = (espl_conversion)(i % ESPL_CONVERSION_COUNT);
        const espl_transform frame = any_transform(&random);
        float in[3], out[3];

        any_point(in, &random);
        espl_transform_convert(&frame, conversion, in, out);
        espl_transform_convert(&frame, conversion, in, in);
        ck_assert_mem_eq(in, out, sizeof out);
    }
}

TEST(extreme_frames_stay_finite)
{
    const float scales[] = {1e30f, -1e30f, 1e-30f, 0x1p-149f, 0};
    uint64_t random = 7;

    for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i) {
        espl_transform frame = any_transform(&random);
        const float tiny[3] = {1e-30f, -0x1p-149f, 0};
        float out[16];

        frame.scale = scales[i];
        frame.stretch[1] = 0x1p-149f;
        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, tiny, out);
        ck_assert(isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]));
        espl_transform_to_matrix(&frame, ESPL_MATRIX_4X4, out);
        for (int k = 0; k < 16; ++k) {
            ck_assert(isfinite(out[k]));
        }
    }
}

TEST(matrix_of_the_largest_scale_does_not_overflow_on_the_way)
{
    uint64_t random = 8;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform frame = any_transform(&random);
        float out[16];

        frame.scale = 3.3e38f;
        frame.stretch[0] = frame.stretch[1] = frame.stretch[2] = 1;
        espl_transform_to_matrix(&frame, ESPL_MATRIX_4X4, out);
        for (int k = 0; k < 16; ++k) {
            ck_assert(isfinite(out[k]));
        }
    }
}

TEST(rows_are_the_columns_turned_over)
{
    uint64_t random = 12;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        float rows[13], columns[16];

        rows[12] = 123;
        espl_transform_to_matrix(&t, ESPL_MATRIX_3X4, rows);
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 4; ++column) {
                ck_assert_mem_eq(&rows[4 * row + column], &columns[4 * column + row], sizeof *rows);
            }
        }
        ck_assert_float_eq(rows[12], 123);
    }
}

// --- cglm ---

#ifdef HAVE_CGLM

static void to_versor(versor out, const espl_transform *t)
{
    memcpy(out, t->rotation, sizeof t->rotation);
}

static void cglm_matrix(mat4 out, const espl_transform *t)
{
    vec3 position, factors;
    versor rotation;

    memcpy(position, t->position, sizeof position);
    for (int i = 0; i < 3; ++i) {
        factors[i] = t->stretch[i] * t->scale;
    }
    to_versor(rotation, t);
    glm_translate_make(out, position);
    glm_quat_rotate(out, rotation, out);
    glm_scale(out, factors);
}

TEST(matrix_agrees_with_cglm)
{
    uint64_t random = 10;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        mat4 expected;
        float columns[16];

        cglm_matrix(expected, &t);
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        for (int k = 0; k < 16; ++k) {
            ck_assert_float_eq_tol(columns[k], expected[k / 4][k % 4], 16 * 8 * 0x1p-24f);
        }
        // The position and the last row are not computed at all.
        ck_assert_mem_eq(&columns[12], t.position, sizeof t.position);
        ck_assert(columns[3] == 0 && columns[7] == 0 && columns[11] == 0 && columns[15] == 1);
    }
}

TEST(inverse_matrix_agrees_with_cglm_and_undoes)
{
    uint64_t random = 13;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform t = any_transform(&random);
        mat4 matrix, expected, inverse, product, identity = GLM_MAT4_IDENTITY_INIT;
        float columns[16];

        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        memcpy(matrix, columns, sizeof matrix);
        glm_mat4_inv_precise(matrix, expected);
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4_INVERSE, columns);
        memcpy(inverse, columns, sizeof inverse);
        glm_mat4_mul(inverse, matrix, product);
        for (int k = 0; k < 16; ++k) {
            const bool is_position = k / 4 == 3;

            ck_assert_float_eq_tol(columns[k], expected[k / 4][k % 4], is_position ? 0.1f : 1e-3f);
            ck_assert_float_eq_tol(product[k / 4][k % 4], identity[k / 4][k % 4],
                                   is_position ? 0.02f : 1e-4f);
        }
    }
}

#endif

TEST(flat_axes_become_rows_of_zeros)
{
    uint64_t random = 15;

    for (int flat = 0; flat < 4; ++flat) {
        espl_transform t = any_transform(&random);
        float columns[16];

        *(flat == 3 ? &t.scale : &t.stretch[flat]) = 0;
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4_INVERSE, columns);
        for (int k = 0; k < 16; ++k) {
            const int row = k % 4;
            const bool is_flat = row < 3 && (flat == 3 || flat == row);

            ck_assert(isfinite(columns[k]));
            ck_assert(!is_flat || columns[k] == 0);
        }
        ck_assert(columns[3] == 0 && columns[7] == 0 && columns[11] == 0 && columns[15] == 1);
    }
}
