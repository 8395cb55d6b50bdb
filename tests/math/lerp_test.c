// SPDX-License-Identifier: MIT
// Interpolation of rotations and transforms, against long double arithmetic.
#include "tests/math/rotations.h"
#include "tests/runner.h"

enum { ROUNDS = 100000 };

typedef espl_status (*interpolation)(const float a[4], const float b[4], float t, float out[4]);

static const interpolation interpolations[] = {espl_quat_nlerp, espl_quat_slerp};

// --- Rotations ---

// The ends at length 1, b with the sign that brings it nearer to a; return the angle between them.
static long double arc_long(long double a[static 4], long double b[static 4],
                            const float from[static 4], const float to[static 4])
{
    long double difference[4], sum[4];

    unit_long(a, from, 4);
    unit_long(b, to, 4);
    if (dot_long(a, b, 4) < 0) {
        for (int i = 0; i < 4; ++i) {
            b[i] = -b[i];
        }
    }
    for (int i = 0; i < 4; ++i) {
        difference[i] = b[i] - a[i];
        sum[i] = b[i] + a[i];
    }
    return 2 * atan2l(length_long(difference, 4), length_long(sum, 4));
}

static void slerp_long(long double out[static 4], const float from[static 4],
                       const float to[static 4], float t)
{
    long double a[4], b[4];
    const long double angle = arc_long(a, b, from, to);

    for (int i = 0; i < 4; ++i) {
        out[i] = angle == 0 ? a[i]
                            : (a[i] * sinl((1 - (long double)t) * angle) +
                               b[i] * sinl((long double)t * angle)) /
                                  sinl(angle);
    }
}

static void nlerp_long(long double out[static 4], const float from[static 4],
                       const float to[static 4], float t)
{
    long double a[4], b[4];

    (void)arc_long(a, b, from, to);
    for (int i = 0; i < 4; ++i) {
        out[i] = a[i] * (1 - (long double)t) + b[i] * (long double)t;
    }
    const long double length = length_long(out, 4);

    for (int i = 0; i < 4; ++i) {
        out[i] /= length;
    }
}

// Two rotations, any angle or a small one apart.
static void any_ends(float a[static 4], float b[static 4], uint64_t *random)
{
    const int power = (int)test_below(random, 30);
    float step[4];

    any_rotation(a, random);
    any_rotation(b, random);
    if (test_one_in(random, 2)) {
        for (int k = 0; k < 4; ++k) {
            step[k] = a[k] + ldexpf(b[k], -power);
        }
        memcpy(b, step, sizeof step);
    }
    ck_ok(espl_quat_normalize(b));
    // Equal ends would be returned as they are, which differs from the exact result by their rounding.
    if (memcmp(a, b, 4 * sizeof *a) == 0) {
        b[0] = a[0] + 0x1p-20f;
        ck_ok(espl_quat_normalize(b));
    }
}

TEST(interpolated_rotations_are_near)
{
    uint64_t random = 1;

    for (int i = 0; i < ROUNDS; ++i) {
        const float t = test_between(&random, 0, 1);
        long double expected[4];
        float a[4], b[4], q[4];

        any_ends(a, b, &random);
        ck_ok(espl_quat_slerp(a, b, t, q));
        slerp_long(expected, a, b, t);
        is_near_quat(q, expected, COMPONENT_ERROR);
        is_kept_by_normalize(q);
        ck_ok(espl_quat_nlerp(a, b, t, q));
        nlerp_long(expected, a, b, t);
        is_near_quat(q, expected, COMPONENT_ERROR);
        is_kept_by_normalize(q);
    }
}

TEST(ends_come_back_bit_for_bit_but_for_a_common_sign)
{
    uint64_t random = 2;
    int turned = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        const interpolation interpolate = interpolations[i % 2];
        float a[4], b[4], nearer[4], q[4];
        double dot = 0;

        any_rotation(a, &random);
        any_rotation(b, &random);
        for (int k = 0; k < 4; ++k) {
            dot += (double)a[k] * (double)b[k];
        }
        for (int k = 0; k < 4; ++k) {
            nearer[k] = dot < 0 ? -b[k] : b[k];
        }
        turned += dot < 0;
        ck_ok(interpolate(a, b, i % 4 < 2 ? 0 : -0.0f, q));
        ck_assert_mem_eq(q, a, sizeof q);
        ck_ok(interpolate(a, b, 1, q));
        ck_assert_mem_eq(q, nearer, sizeof q);
        // Equal ends give that end for any t.
        ck_ok(interpolate(a, a, test_between(&random, -2, 2), q));
        ck_assert_mem_eq(q, a, sizeof q);
    }
    ck_assert_int_gt(turned, ROUNDS / 3);
}

TEST(ends_of_any_length_are_normalized_first)
{
    uint64_t random = 3;

    for (int i = 0; i < ROUNDS; ++i) {
        const float t = i % 3 == 0 ? 0 : test_between(&random, 0, 1);
        const int power = (int)test_below(&random, 200) - 100;
        float a[4], b[4], long_a[4], long_b[4], q[4], expected[4];

        any_rotation(a, &random);
        any_rotation(b, &random);
        for (int k = 0; k < 4; ++k) {
            long_a[k] = ldexpf(3 * a[k], power);
            long_b[k] = ldexpf(5 * b[k], -power);
        }
        ck_ok(interpolations[i % 2](long_a, long_b, t, q));
        ck_ok(espl_quat_normalize(long_a));
        ck_ok(espl_quat_normalize(long_b));
        ck_ok(interpolations[i % 2](long_a, long_b, t, expected));
        ck_assert_mem_eq(q, expected, sizeof q);
    }
}

// The same rotation within the tolerance of unit length: there is no way between the two.
TEST(ends_that_differ_in_length_alone_are_taken)
{
    const float a[4] = {0, 0, 0, 1}, b[4] = {0, 0, 0, 1 + 0x1p-23f};

    for (int i = 0; i < 2; ++i) {
        for (float t = -1; t <= 2; t += 0.25f) {
            float q[4];

            ck_ok(interpolations[i](a, b, t, q));
            ck_assert_mem_eq(q, t == 1 ? b : a, sizeof q);
        }
    }
}

TEST(output_may_be_an_end)
{
    uint64_t random = 4;

    for (int i = 0; i < 1000; ++i) {
        float a[4], b[4], q[4];

        any_rotation(a, &random);
        any_rotation(b, &random);
        ck_ok(interpolations[i % 2](a, b, 0.3f, q));
        ck_ok(interpolations[i % 2](a, b, 0.3f, i % 4 < 2 ? a : b));
        ck_assert_mem_eq(i % 4 < 2 ? a : b, q, sizeof q);
    }
}

// Half a turn apart both ways are as long: the one of the quaternions as they are is taken.
TEST(half_turn_apart_the_signs_choose_the_way)
{
    const float a[4] = {0, 0, 0, 1}, half = 0.70710678f;

    for (int i = 0; i < 6; ++i) {
        const float sign = i < 3 ? 1 : -1;
        float b[4] = {0, 0, 0, 0}, q[4];

        b[i % 3] = sign;
        for (int k = 0; k < 2; ++k) {
            ck_ok(interpolations[k](a, b, 0.5f, q));
            ck_assert_float_eq(q[i % 3], sign * half);
            ck_assert_float_eq(q[3], half);
        }
    }
}

TEST(slerp_turns_at_constant_speed)
{
    uint64_t random = 5;

    for (int i = 0; i < ROUNDS; ++i) {
        const float t = test_between(&random, -3, 4);
        float axis[3], a[4], b[4], q[4], expected[4], start[4];
        const float angle = test_between(&random, 0.01f, 3.1f);

        any_direction(axis, &random);
        any_rotation(start, &random);
        ck_ok(espl_quat_from_axis_angle(axis, angle, b));
        ck_ok(espl_quat_from_axis_angle(axis, t * angle, expected));
        memcpy(a, start, sizeof a);
        espl_quat_multiply(b, start, b);
        espl_quat_multiply(expected, start, expected);
        ck_ok(espl_quat_slerp(a, b, t, q));
        turns_like(q, expected, 5e-12);
    }
}

TEST(huge_t_still_gives_a_rotation)
{
    const float huge[] = {1e6f, -1e12f, 1e30f, FLT_MAX, -FLT_MAX};
    uint64_t random = 6;

    for (int i = 0; i < 1000; ++i) {
        float a[4], b[4], q[4];

        any_rotation(a, &random);
        any_rotation(b, &random);
        ck_ok(interpolations[i % 2](a, b, huge[i % 5], q));
        is_kept_by_normalize(q);
    }
}

// The figures that the manual page has of the difference, in degrees.
TEST(cheap_form_is_as_far_off_as_is_said)
{
    static const double bounds[][2] = {{45, 0.12}, {90, 0.92}, {180, 8.2}};

    for (int i = 0; i < 3; ++i) {
        const double angle = bounds[i][0] / 180 * (double)PI_LONG;
        const float a[4] = {0, 0, 0, 1}, axis[3] = {0, 0, 1};
        double worst = 0;
        float b[4];

        ck_ok(espl_quat_from_axis_angle(axis, (float)angle, b));
        b[3] = i == 2 ? 0 : b[3]; // no float is pi: the half turn itself
        for (int step = 0; step <= 1000; ++step) {
            const float t = (float)step / 1000;
            float cheap[4], exact[4];

            ck_ok(espl_quat_nlerp(a, b, t, cheap));
            ck_ok(espl_quat_slerp(a, b, t, exact));
            const double off = fabs(2 * atan2((double)cheap[2], (double)cheap[3]) -
                                    2 * atan2((double)exact[2], (double)exact[3]));

            worst = off > worst ? off : worst;
            if (step == 500) {
                ck_assert_double_le(off, 2e-7);
            }
        }
        worst *= 180 / (double)PI_LONG;
        ck_assert_double_le(worst, bounds[i][1]);
        ck_assert_double_ge(worst, bounds[i][1] * 0.9);
    }
}

TEST(bad_ends_and_times_are_refused)
{
    const float fine[4] = {0, 0.6f, 0, 0.8f}, numbers[] = {NAN, INFINITY, -INFINITY};
    float q[4];

    memcpy(q, mark, sizeof q);
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < BAD_QUATS; ++k) {
            ck_status(interpolations[i](bad_quats[k], fine, 0, q), ESPL_ERR_NOT_FINITE);
            ck_status(interpolations[i](fine, bad_quats[k], 0, q), ESPL_ERR_NOT_FINITE);
        }
        for (int k = 0; k < 3; ++k) {
            ck_status(interpolations[i](fine, fine, numbers[k], q), ESPL_ERR_NOT_FINITE);
        }
    }
    ck_assert_mem_eq(q, mark, sizeof q);
}

// --- Transforms ---

static float number_between(float a, float b, float t)
{
    return (float)((1 - (long double)t) * (long double)a + (long double)t * (long double)b);
}

TEST(each_part_of_a_transform_is_interpolated)
{
    uint64_t random = 7;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform a = any_transform(&random), b = any_transform(&random);
        const float t = test_between(&random, -1, 2);
        espl_transform out;
        float rotation[4];

        ck_ok(espl_transform_lerp(&a, &b, t, &out));
        ck_ok(espl_quat_slerp(a.rotation, b.rotation, t, rotation));
        ck_assert_mem_eq(out.rotation, rotation, sizeof rotation);
        for (int k = 0; k < 3; ++k) {
            const float position = number_between(a.position[k], b.position[k], t);
            const float stretch = number_between(a.stretch[k], b.stretch[k], t);

            ck_assert_float_eq_tol(out.position[k], position, 1.6e-5f);
            ck_assert_float_eq_tol(out.stretch[k], stretch, 1e-6f);
        }
        ck_assert_float_eq_tol(out.scale, number_between(a.scale, b.scale, t), 1e-6f);
        ck_assert_uint_eq(out.user_data, t < 1 ? a.user_data : b.user_data);
    }
}

static espl_transform any_finite_transform(uint64_t *random)
{
    espl_transform t = any_transform(random);

    for (int k = 0; k < 3; ++k) {
        t.position[k] = any_finite(random);
        t.stretch[k] = test_one_in(random, 8) ? -0.0f : any_finite(random);
    }
    t.scale = any_finite(random);
    return t;
}

TEST(transforms_at_the_ends_come_back_bit_for_bit)
{
    uint64_t random = 8;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_transform a = any_finite_transform(&random), b = any_finite_transform(&random), out;
        float turned[4];

        ck_ok(espl_transform_lerp(&a, &b, 0, &out));
        ck_assert(test_same(&out, &a));
        ck_ok(espl_quat_slerp(a.rotation, b.rotation, 1, turned));
        ck_ok(espl_transform_lerp(&a, &b, 1, &out));
        for (int k = 0; k < 4; ++k) {
            ck_assert_float_eq(fabsf(turned[k]), fabsf(b.rotation[k]));
        }
        memcpy(b.rotation, turned, sizeof turned);
        ck_assert(test_same(&out, &b));
    }
}

// Nothing overflows, or moves where both ends agree, between ends of any finite numbers.
TEST(any_finite_transforms_have_one_between)
{
    uint64_t random = 9;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform a = any_finite_transform(&random);
        espl_transform b = any_finite_transform(&random), out;

        b.position[0] = a.position[0];
        b.scale = a.scale;
        ck_ok(espl_transform_lerp(&a, &b, test_between(&random, 0, 1), &out));
        ck_assert_float_eq(out.position[0], a.position[0]);
        ck_assert_float_eq(out.scale, a.scale);
    }
}

TEST(rotation_of_a_transform_is_normalized)
{
    espl_transform a = espl_transform_identity(), b = a, out;

    a.rotation[3] = 3;
    b.rotation[0] = b.rotation[3] = 2;
    ck_ok(espl_transform_lerp(&a, &b, 0, &out));
    ck_assert_float_eq(out.rotation[3], 1);
    ck_ok(espl_transform_lerp(&a, &b, 1, &out));
    ck_assert_float_eq(out.rotation[0], 0.70710678f);
    ck_assert_float_eq(out.rotation[3], 0.70710678f);
}

TEST(transform_may_be_written_in_place)
{
    uint64_t random = 10;

    for (int i = 0; i < 1000; ++i) {
        espl_transform a = any_transform(&random), b = any_transform(&random), out;

        ck_ok(espl_transform_lerp(&a, &b, 0.7f, &out));
        ck_ok(espl_transform_lerp(&a, &b, 0.7f, i % 2 == 0 ? &a : &b));
        ck_assert(test_same(i % 2 == 0 ? &a : &b, &out));
    }
}

static float *field_of(espl_transform *t, int field)
{
    if (field < 4) {
        return &t->rotation[field];
    }
    if (field < 7) {
        return &t->position[field - 4];
    }
    return field == 7 ? &t->scale : &t->stretch[field - 8];
}

TEST(bad_transforms_are_refused)
{
    const float numbers[] = {NAN, INFINITY, -INFINITY};
    const espl_transform fine = espl_transform_identity();
    espl_transform out = {{1, 2, 3, 4}, {5, 6, 7}, 8, {9, 10, 11}, 12}, empty = fine;
    const espl_transform before = out;

    empty.rotation[3] = 0;
    for (int i = 0; i < 3; ++i) {
        for (int field = 0; field < 11; ++field) {
            espl_transform bad = fine;

            *field_of(&bad, field) = numbers[i];
            ck_status(espl_transform_lerp(&bad, &fine, 1, &out), ESPL_ERR_NOT_FINITE);
            ck_status(espl_transform_lerp(&fine, &bad, 0, &out), ESPL_ERR_NOT_FINITE);
        }
        ck_status(espl_transform_lerp(&fine, &fine, numbers[i], &out), ESPL_ERR_NOT_FINITE);
    }
    ck_status(espl_transform_lerp(&empty, &fine, 0.5f, &out), ESPL_ERR_NOT_FINITE);
    ck_status(espl_transform_lerp(&fine, &empty, 0.5f, &out), ESPL_ERR_NOT_FINITE);
    ck_assert(test_same(&out, &before));
}

TEST(overflow_beyond_the_ends_is_refused)
{
    espl_transform out = {{1, 2, 3, 4}, {5, 6, 7}, 8, {9, 10, 11}, 12};
    const espl_transform before = out;

    for (int field = 4; field < 11; ++field) {
        const espl_transform a = espl_transform_identity();
        espl_transform b = a;

        *field_of(&b, field) = 3e38f;
        ck_status(espl_transform_lerp(&a, &b, 1.25f, &out), ESPL_ERR_RANGE);
        ck_status(espl_transform_lerp(&b, &a, -1.25f, &out), ESPL_ERR_RANGE);
        ck_status(espl_transform_lerp(&a, &b, FLT_MAX, &out), ESPL_ERR_RANGE);
    }
    ck_assert(test_same(&out, &before));
}
