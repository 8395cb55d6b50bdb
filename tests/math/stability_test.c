// SPDX-License-Identifier: MIT
// Numbers at their limits: rotations multiplied without end, zero, negative, denormal and huge
// values there and back, values that are not finite, zeros below zero.
#include "lib/math/pose.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <float.h>

enum { ROUNDS = 20000 };

// --- Without end ---

TEST(ten_million_rotations_keep_unit_length_and_the_scale)
{
    const int rounds = (int)test_scaled(10000000);
    uint64_t random = 1;
    espl_transform t = any_transform(&random);
    const espl_transform start = t;
    double worst = 0;
    bool all_turned = true;

    t.scale = -1.37f;
    for (int i = 0; i < rounds; ++i) {
        float by[4], next[4];

        any_rotation(by, &random);
        espl__rotation_multiply(next, by, t.rotation);
        all_turned &= espl__rotation_normalize(next);
        memcpy(t.rotation, next, sizeof next);

        const double off = fabs(length_of(next) - 1);
        worst = off > worst ? off : worst;
    }
    ck_assert(all_turned);
    ck_assert_double_le(worst, 1e-6);
    ck_assert_float_eq(t.scale, -1.37f);
    ck_assert_mem_eq(t.position, start.position, sizeof t.position);
    ck_assert_mem_eq(t.stretch, start.stretch, sizeof t.stretch);
}

// The same through the public call; the position goes round a pivot and stays at its distance.
TEST(turning_about_a_point_for_ever_keeps_length_distance_and_scale)
{
    const int rounds = (int)test_scaled(1000000);
    const float pivot[3] = {1, -2, 3};
    espl_transform t = {{0, 0, 0, 1}, {1, -2, 13}, 0.7f, {-1, 0x1p-149f, -0.0f}, 9};
    const espl_transform start = t;
    uint64_t random = 2;
    int refused = 0;
    double worst = 0;

    for (int i = 0; i < rounds; ++i) {
        float by[4];

        any_rotation(by, &random);
        refused += espl_transform_rotate_about(&t, pivot, by) != ESPL_OK;

        const double off = fabs(length_of(t.rotation) - 1);
        worst = off > worst ? off : worst;
    }
    ck_assert_int_eq(refused, 0);
    ck_assert_double_le(worst, 1e-6);

    double squares = 0;
    for (int i = 0; i < 3; ++i) {
        squares += pow((double)t.position[i] - (double)pivot[i], 2);
    }
    ck_assert_double_eq_tol(sqrt(squares), 10, 1e-2);
    ck_assert_mem_eq(&t.scale, &start.scale, sizeof t.scale);
    ck_assert_mem_eq(t.stretch, start.stretch, sizeof t.stretch);
    ck_assert_uint_eq(t.user_data, 9);
}

// Position and rotation follow one another: a point of the placement at the pivot stays there.
TEST(point_at_the_pivot_stays_there)
{
    const int rounds = (int)test_scaled(100000);
    const float pivot[3] = {1, -2, 3};
    espl_transform t = {{0, 0, 0, 1}, {1, -2, 13}, 2, {1, 1, 1}, 0};
    uint64_t random = 3;
    float local[3], out[3];

    espl_transform_convert(&t, ESPL_POINT_TO_LOCAL, pivot, local);
    for (int i = 0; i < rounds; ++i) {
        float by[4];

        any_rotation(by, &random);
        ck_ok(espl_transform_rotate_about(&t, pivot, by));
    }
    espl_transform_convert(&t, ESPL_POINT_TO_WORLD, local, out);
    is_near(out, (const double[]){1, -2, 3}, 2e-2);
}

// --- There and back at the limits ---

static const float limits[] = {0,      -0.0f,  1,       -1,        0x1p-149f, -0x1p-149f,
                               1e-40f, 1e-30f, -1e-30f, 1e30f,     -1e30f,    0x1p-126f,
                               1e-10f, -1e10f, 0.3f,    -123456.7f};

static float any_limit(uint64_t *random)
{
    return limits[test_below(random, sizeof limits / sizeof *limits)];
}

static espl_transform limit_transform(uint64_t *random)
{
    espl_transform t = {.user_data = (uint32_t)test_random(random)};

    any_rotation(t.rotation, random);
    for (int i = 0; i < 3; ++i) {
        t.position[i] = any_limit(random);
        t.stretch[i] = any_limit(random);
    }
    t.scale = any_limit(random);
    return t;
}

// What a vector meets on its way out of a frame, in double: how far a float may be off at the end,
// and whether one overflows on the way.
typedef struct way {
    double largest; // of all that is met
    double off;     // of each component, at the end
} way;

static way way_out(const espl_transform *frame, const float v[static 3], bool is_point)
{
    way w = {0, 0};
    double reach = 0, lost = 0, start = 0;

    for (int i = 0; i < 3; ++i) {
        const double stretched = (double)v[i] * (double)frame->stretch[i];
        const double scaled = stretched * (double)frame->scale;

        // A product loses half the smallest float where it is a denormal, and the next factor
        // makes that larger or smaller.
        w.largest = fmax(w.largest, fabs(stretched));
        reach += fabs(scaled);
        lost += 0x1p-150 * (1 + fabs((double)frame->scale));
        start = is_point ? fmax(start, fabs((double)frame->position[i])) : 0;
    }
    w.largest = fmax(w.largest, 8 * reach + start);
    w.off = 16 * 0x1p-24 * reach + 2 * 0x1p-24 * start + 8 * lost;
    return w;
}

static void is_off_by_at_most(const float v[static 3], const double expected[static 3], double off)
{
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_le(fabs((double)v[i] - expected[i]), off);
    }
}

static void rotated_and_scaled(double out[static 3], const espl_transform *frame,
                               const float v[static 3])
{
    espl_transform at_origin = *frame;
    double wide[3];

    memset(at_origin.position, 0, sizeof at_origin.position);
    widen(wide, v);
    oracle_point(out, &at_origin, wide);
}

TEST(limits_go_out_as_double_says)
{
    uint64_t random = 4;
    int compared = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform parent = limit_transform(&random), local = limit_transform(&random);
        const espl_transform world = espl_transform_compose(&parent, &local);
        const way to_point = way_out(&parent, local.position, true);
        const way to_vector = way_out(&parent, local.position, false);
        const double scale = (double)parent.scale * (double)local.scale;
        float point[3], vector[3];
        double wide[3], expected[3];

        espl_transform_convert(&parent, ESPL_POINT_TO_WORLD, local.position, point);
        espl_transform_convert(&parent, ESPL_VECTOR_TO_WORLD, local.position, vector);
        widen(wide, local.position);
        if (to_point.largest < (double)FLT_MAX) {
            oracle_point(expected, &parent, wide);
            is_off_by_at_most(world.position, expected, to_point.off);
            ck_assert_mem_eq(point, world.position, sizeof point);
            rotated_and_scaled(expected, &parent, local.position);
            is_off_by_at_most(vector, expected, to_vector.off);
            compared += 1;
        }
        if (fabs(scale) < (double)FLT_MAX) {
            ck_assert_double_le(fabs((double)world.scale - scale),
                                0x1p-24 * fabs(scale) + 0x1p-150);
        } else {
            ck_assert(isinf(world.scale));
        }
        ck_assert_mem_eq(world.stretch, local.stretch, sizeof world.stretch);
    }
    ck_assert_int_gt(compared, ROUNDS / 3);
    ck_assert_int_lt(compared, ROUNDS);
}

// What a vector meets on its way into a frame. infinite: the result may overflow.
static double off_of_way_in(const espl_transform *frame, double reach, double off, int axis)
{
    const double scale = fabs((double)frame->scale), stretch = fabs((double)frame->stretch[axis]);

    // A quotient by the scale loses half the smallest float, and the stretch makes that larger.
    return (off + 16 * 0x1p-24 * reach + 8 * 0x1p-150) / scale / stretch + 0x1p-150 / stretch +
           0x1p-149;
}

TEST(limits_come_back_as_far_as_floats_tell)
{
    uint64_t random = 5;
    int compared = 0, told = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform frame = limit_transform(&random), child = limit_transform(&random);
        const way w = way_out(&frame, child.position, true);
        const espl_transform world = espl_transform_compose(&frame, &child);
        espl_transform local = espl_transform_identity();
        float point[3];

        if (w.largest >= (double)FLT_MAX / 4) {
            continue;
        }
        const espl_status status = espl_transform_relative(&frame, &world, &local);
        espl_transform_convert(&frame, ESPL_POINT_TO_LOCAL, world.position, point);
        // Only the child's way counts: what was added to and taken off the parent's position.
        double reach = 0;
        for (int k = 0; k < 3; ++k) {
            reach += fabs((double)world.position[k] - (double)frame.position[k]);
        }
        for (int k = 0; k < 3; ++k) {
            const bool is_flat = frame.scale == 0 || frame.stretch[k] == 0;
            const double off = off_of_way_in(&frame, reach, w.off * 3, k);

            if (is_flat) {
                ck_assert(local.position[k] == 0 && point[k] == 0);
            } else if (fabs((double)child.position[k]) + off < (double)FLT_MAX &&
                       (w.off * 3 + 2 * reach) / fabs((double)frame.scale) < (double)FLT_MAX) {
                ck_assert_double_le(fabs((double)point[k] - (double)child.position[k]), off);
                ck_assert_mem_eq(&point[k], &local.position[k], sizeof point[k]);
                compared += 1;
                told += off < 1e-5 * fabs((double)child.position[k]);
            }
        }
        ck_assert(status == ESPL_OK || status == ESPL_LOSSY);
        ck_assert(status == ESPL_OK || frame.scale == 0 || frame.stretch[0] == 0 ||
                  frame.stretch[1] == 0 || frame.stretch[2] == 0);
        turns_like(local.rotation, child.rotation, 1e-12);
    }
    ck_assert_int_gt(compared, ROUNDS / 2);
    ck_assert_int_gt(told, ROUNDS / 20);
}

// --- What is not finite ---

static const uint32_t not_finite[] = {
    0x7FC00000, 0xFFC00001, // quiet
    0x7F800001, 0xFFBFFFFF, // signalling
    0x7F800000, 0xFF800000, // infinities
};

enum {
    BAD_COUNT = sizeof not_finite / sizeof *not_finite,
    TRANSFORM_FLOATS = 11, // the first words of a transform; the last one is the context
};

_Static_assert(offsetof(espl_transform, user_data) == TRANSFORM_FLOATS * sizeof(float),
               "the floats of a transform come first");

static void put(void *values, int field, uint32_t bits)
{
    memcpy((char *)values + (size_t)field * sizeof bits, &bits, sizeof bits);
}

TEST(placements_that_are_not_finite_are_refused_field_by_field)
{
    const float target[3] = {1, 2, 3}, by[4] = {0, 0.6f, 0, 0.8f};
    uint64_t random = 7;

    for (int i = 0; i < TRANSFORM_FLOATS * BAD_COUNT; ++i) {
        espl_transform t = any_transform(&random), before;

        put(&t, i / BAD_COUNT, not_finite[i % BAD_COUNT]);
        memcpy(&before, &t, sizeof t);
        ck_status(espl_transform_normalize(&t), ESPL_ERR_NOT_FINITE);
        ck_status(espl_transform_look_at(&t, target, NULL, ESPL_AXIS_FORWARD), ESPL_ERR_NOT_FINITE);
        ck_status(espl_transform_look_at(&t, target, target, ESPL_AXIS_FORWARD),
                  ESPL_ERR_NOT_FINITE);
        ck_status(espl_transform_rotate_about(&t, target, by), ESPL_ERR_NOT_FINITE);
        ck_assert(test_same(&t, &before));
    }
}

TEST(arguments_that_are_not_finite_are_refused_field_by_field)
{
    uint64_t random = 8;

    for (int i = 0; i < 4 * BAD_COUNT; ++i) {
        const uint32_t bad = not_finite[i % BAD_COUNT];
        const int field = i / BAD_COUNT;
        const float by[4] = {0, 0.6f, 0, 0.8f};
        float four[4] = {0, 0.6f, 0, 0.8f}, three[3] = {1, 2, 3}, good[3] = {4, 5, 6};
        espl_transform t = any_transform(&random);
        const espl_transform before = t;

        put(four, field, bad);
        ck_status(espl_transform_rotate_about(&t, good, four), ESPL_ERR_NOT_FINITE);
        ck_status(espl_transform_from_trs(good, four, good, &t), ESPL_ERR_NOT_FINITE);
        if (field < 3) {
            put(three, field, bad);
            ck_status(espl_transform_look_at(&t, three, NULL, ESPL_AXIS_FORWARD),
                      ESPL_ERR_NOT_FINITE);
            ck_status(espl_transform_look_at(&t, three, good, ESPL_AXIS_FORWARD),
                      ESPL_ERR_NOT_FINITE);
            ck_status(espl_transform_look_at(&t, good, three, ESPL_AXIS_FORWARD),
                      ESPL_ERR_NOT_FINITE);
            // Nor does it matter that there is nothing to look at.
            ck_status(espl_transform_look_at(&t, t.position, three, ESPL_AXIS_FORWARD),
                      ESPL_ERR_NOT_FINITE);
            ck_status(espl_transform_rotate_about(&t, three, by), ESPL_ERR_NOT_FINITE);
            ck_status(espl_transform_from_trs(three, by, good, &t), ESPL_ERR_NOT_FINITE);
            ck_status(espl_transform_from_trs(good, by, three, &t), ESPL_ERR_NOT_FINITE);
        }
        ck_assert(test_same(&t, &before));
    }
}

TEST(three_scales_that_are_not_finite_are_refused_together)
{
    const float at[3] = {1, 2, 3}, by[4] = {0, 0, 0, 1};
    espl_transform t = espl_transform_identity();
    const espl_transform before = t;

    for (int i = 0; i < BAD_COUNT; ++i) {
        float scale[3];

        for (int k = 0; k < 3; ++k) {
            put(scale, k, not_finite[i]);
        }
        ck_status(espl_transform_from_trs(at, by, scale, &t), ESPL_ERR_NOT_FINITE);
        ck_assert(test_same(&t, &before));
    }
}

TEST(rotations_of_no_length_are_refused)
{
    const float none[4] = {0, -0.0f, 0, -0.0f}, three[3] = {1, 2, 3}, by[4] = {0, 0, 0, 1};
    uint64_t random = 9;
    espl_transform good = any_transform(&random), empty = good;
    const espl_transform good_before = good;

    memcpy(empty.rotation, none, sizeof none);
    const espl_transform empty_before = empty;
    ck_status(espl_transform_normalize(&empty), ESPL_ERR_NOT_FINITE);
    ck_status(espl_transform_look_at(&empty, three, NULL, ESPL_AXIS_FORWARD), ESPL_ERR_NOT_FINITE);
    ck_status(espl_transform_rotate_about(&empty, three, by), ESPL_ERR_NOT_FINITE);
    ck_assert(test_same(&empty, &empty_before));
    ck_status(espl_transform_rotate_about(&good, three, none), ESPL_ERR_NOT_FINITE);
    ck_status(espl_transform_from_trs(three, none, three, &good), ESPL_ERR_NOT_FINITE);
    ck_assert(test_same(&good, &good_before));
}

TEST(matrices_that_are_not_finite_are_refused_element_by_element)
{
    uint64_t random = 10;

    for (int i = 0; i < 16 * BAD_COUNT; ++i) {
        const espl_transform before = any_transform(&random);
        espl_transform t = before;
        float columns[16], residual = 123;

        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        put(columns, i / BAD_COUNT, not_finite[i % BAD_COUNT]);
        ck_status(espl_transform_from_matrix(columns, &t, &residual), ESPL_ERR_NOT_FINITE);
        ck_status(espl_transform_from_matrix(columns, &t, NULL), ESPL_ERR_NOT_FINITE);
        ck_assert(test_same(&t, &before));
        ck_assert_float_eq(residual, 123);
    }
}

// --- Zeros below zero ---

// Unit, and a zero below zero wherever one can be.
static const espl_transform below_zero = {
    {-0.0f, 0.6f, -0.0f, -0.8f}, {-0.0f, -0.0f, -0.0f}, -0.0f, {-0.0f, -0.0f, -0.0f}, 0x80000000};

TEST(zeros_below_zero_are_kept_where_bits_are)
{
    const float target[3] = {1, 2, 3}, by[4] = {0, 0.6f, 0, 0.8f};
    espl_transform t = below_zero;

    ck_ok(espl_transform_normalize(&t));
    ck_assert(test_same(&t, &below_zero));

    ck_ok(espl_transform_look_at(&t, target, NULL, ESPL_AXIS_FORWARD));
    ck_assert(memcmp(t.rotation, below_zero.rotation, sizeof t.rotation) != 0);
    memcpy(t.rotation, below_zero.rotation, sizeof t.rotation);
    ck_assert(test_same(&t, &below_zero));

    ck_ok(espl_transform_rotate_about(&t, target, by));
    ck_assert_mem_eq(&t.scale, &below_zero.scale, sizeof t.scale);
    ck_assert_mem_eq(t.stretch, below_zero.stretch, sizeof t.stretch);
    ck_assert_uint_eq(t.user_data, below_zero.user_data);
}

TEST(zeros_below_zero_of_parts_and_matrices_are_kept)
{
    const float ones[3] = {1, 1, 1};
    espl_transform t;
    float translation[3], rotation[4], scale[3], columns[16];

    ck_ok(
        espl_transform_from_trs(below_zero.position, below_zero.rotation, below_zero.stretch, &t));
    ck_assert_mem_eq(t.position, below_zero.position, sizeof t.position);
    ck_assert_mem_eq(t.rotation, below_zero.rotation, sizeof t.rotation);
    ck_assert_mem_eq(&t.scale, &below_zero.scale, sizeof t.scale);
    ck_assert_mem_eq(t.stretch, ones, sizeof t.stretch);
    espl_transform_to_trs(&t, translation, rotation, scale);
    ck_assert_mem_eq(translation, below_zero.position, sizeof translation);
    ck_assert_mem_eq(rotation, below_zero.rotation, sizeof rotation);
    ck_assert_mem_eq(scale, below_zero.stretch, sizeof scale);

    espl_transform_to_matrix(&below_zero, ESPL_MATRIX_4X4, columns);
    ck_assert_mem_eq(&columns[12], below_zero.position, sizeof below_zero.position);
    ck_ok(espl_transform_from_matrix(columns, &t, NULL));
    ck_assert_mem_eq(t.position, below_zero.position, sizeof t.position);
}

TEST(stretch_and_context_are_carried_bit_for_bit)
{
    uint64_t random = 11;
    const espl_transform parent = any_transform(&random);
    espl_transform back = any_transform(&random);
    const espl_transform world = espl_transform_compose(&parent, &below_zero);

    ck_assert_mem_eq(world.stretch, below_zero.stretch, sizeof world.stretch);
    ck_assert_uint_eq(world.user_data, below_zero.user_data);
    ck_ok(espl_transform_relative(&parent, &below_zero, &back));
    ck_assert_mem_eq(back.stretch, below_zero.stretch, sizeof back.stretch);
    ck_assert_uint_eq(back.user_data, below_zero.user_data);
}
