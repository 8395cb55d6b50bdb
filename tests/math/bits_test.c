// SPDX-License-Identifier: MIT
// Rotations as values, bit for bit: known answers, which were the same from gcc and clang, at -O0 and -O3,
// with and without -mavx2 -mfma, on x86-64, on i686 and on aarch64. Another machine that differs fails here.
#include "tests/math/rotations.h"
#include "tests/runner.h"

#include <inttypes.h>

// --- Single answers ---

typedef enum answer_of {
    FROM_AXIS_ANGLE, // axis, angle
    TO_AXIS_ANGLE,   // quaternion
    FROM_EULER,      // angles, order
    TO_EULER,        // quaternion, order
    BETWEEN,         // two directions
    NLERP,           // two quaternions, t
    SLERP,
} answer_of;

typedef struct answer {
    answer_of of;
    float in[9];
    uint32_t bits[4];
} answer;

static const answer answers[] = {
    {FROM_AXIS_ANGLE, {0, 1, 0, 0.5f}, {0x00000000, 0x3e7d5777, 0x00000000, 0x3f780aa5}},
    {FROM_AXIS_ANGLE, {1, 2, 3, -2.75f}, {0xbe863924, 0xbf063924, 0xbf4955b6, 0x3e473784}},
    {FROM_AXIS_ANGLE, {0, 0, 5, 0x1.921fb6p+0f}, {0x00000000, 0x00000000, 0x3f3504f3, 0x3f3504f3}},
    {FROM_AXIS_ANGLE, {0, 0, 5, 0x1.921fb6p+1f}, {0x00000000, 0x00000000, 0x3f800000, 0xb33bbd2e}},
    {FROM_AXIS_ANGLE, {-1, 0.25f, 0, 1e-20f}, {0x9db74136, 0x1cb74136, 0x00000000, 0x3f800000}},
    {FROM_AXIS_ANGLE, {1, 1, 1, 100}, {0xbe1b1e26, 0xbe1b1e26, 0xbe1b1e26, 0x3f770803}},
    {FROM_AXIS_ANGLE, {1, 0, 0, 0x1.f37c8ap+96f}, {0x3f800000, 0x00000000, 0x00000000, 0xb0ddeea9}},
    {FROM_AXIS_ANGLE,
     {0x1p-149f, 0, 0x1p-148f, 1e30f},
     {0xbecd8a97, 0x80000000, 0xbf4d8a97, 0x3ee1a09f}},
    {TO_AXIS_ANGLE, {0.1f, -0.2f, 0.3f, 0.9f}, {0x3e88d677, 0xbf08d677, 0x3f4d41b3, 0x3f49ba81}},
    {TO_AXIS_ANGLE, {0.1f, -0.2f, 0.3f, -0.9f}, {0xbe88d677, 0x3f08d677, 0xbf4d41b3, 0x3f49ba81}},
    {TO_AXIS_ANGLE, {1, 2, 3, 1e-5f}, {0x3e88d677, 0x3f08d677, 0x3f4d41b3, 0x40490fc4}},
    {TO_AXIS_ANGLE, {1e-9f, 0, 2e-9f, 1}, {0x3ee4f92e, 0x00000000, 0x3f64f92e, 0x3199a953}},
    {FROM_EULER,
     {0.1f, 0.2f, 0.3f, ESPL_EULER_XYZ},
     {0x3d8337d7, 0x3dbab0cf, 0x3e1d1f32, 0x3f7b5aed}},
    {FROM_EULER,
     {0.1f, 0.2f, 0.3f, ESPL_EULER_XZY},
     {0x3d0c5f89, 0x3dbab0cf, 0x3e1d1f32, 0x3f7bbca8}},
    {FROM_EULER,
     {0.1f, 0.2f, 0.3f, ESPL_EULER_YXZ},
     {0x3d8337d7, 0x3dbab0cf, 0x3e130496, 0x3f7bbca8}},
    {FROM_EULER,
     {-1.1f, 2.2f, -3, ESPL_EULER_YZX},
     {0xbf464f10, 0x3e949a43, 0xbeb49fdb, 0xbedfe600}},
    {FROM_EULER,
     {-1.1f, 2.2f, -3, ESPL_EULER_ZXY},
     {0x3f3db8da, 0x3e949a43, 0xbed65dc3, 0xbedfe600}},
    {FROM_EULER,
     {-1.1f, 2.2f, -3, ESPL_EULER_ZYX},
     {0x3f3db8da, 0x3e949a43, 0xbeb49fdb, 0x3efbe8bd}},
    {FROM_EULER,
     {1e6f, -1e7f, 1e8f, ESPL_EULER_ZYX},
     {0x3f459646, 0xbf12e3ae, 0x3d9da37e, 0x3e869e9c}},
    {TO_EULER,
     {0.1f, -0.2f, 0.3f, 0.9f, ESPL_EULER_XYZ},
     {0x3eadb7c4, 0xbea47ff0, 0x3f32f1a4, 0x00000000}},
    {TO_EULER,
     {0.1f, -0.2f, 0.3f, 0.9f, ESPL_EULER_XZY},
     {0x3da37de6, 0xbed1fc37, 0x3f281f21, 0x00000000}},
    {TO_EULER,
     {0.1f, -0.2f, 0.3f, 0.9f, ESPL_EULER_YXZ},
     {0x3ea47ff1, 0xbeadb7c3, 0x3f168757, 0x00000000}},
    {TO_EULER, {-7, 1, 5, -3, ESPL_EULER_YZX}, {0x402b6374, 0x3f8db70d, 0xbf0d231c, 0x00000000}},
    {TO_EULER, {-7, 1, 5, -3, ESPL_EULER_ZXY}, {0x3f2ae336, 0x3fe86b51, 0xc0396220, 0x00000000}},
    {TO_EULER, {-7, 1, 5, -3, ESPL_EULER_ZYX}, {0x3fef4511, 0x3f5dc27d, 0xbf7126ea, 0x00000000}},
    {TO_EULER,
     {0.5f, 0.5f, -0.5f, 0.5f, ESPL_EULER_XYZ},
     {0x3fc90fdb, 0x00000000, 0xbfc90fdb, 0x00000000}},
    {TO_EULER,
     {0.5f, 0.5f, 0.5f, 0.5f, ESPL_EULER_XYZ},
     {0x3fc90fdb, 0x3fc90fdb, 0x00000000, 0x00000000}},
    {TO_EULER,
     {0.1f, 0.7f, 0.1f, -0.7f, ESPL_EULER_ZYX},
     {0x00000000, 0xbfc90fdb, 0xbe914d76, 0x00000000}},
    {BETWEEN, {1, 2, 3, 3, -2, 1}, {0x3ec1848f, 0x3ec1848f, 0xbec1848f, 0x3f41848f}},
    {BETWEEN, {1, 2, 3, -1, -2, -3.001f}, {0xbf64f92e, 0x3ee4f92e, 0x00000000, 0x38a76dfd}},
    {BETWEEN, {1, 2, 3, -2, -4, -6}, {0xbe2d166c, 0x3f585c07, 0xbf01d0d1, 0x00000000}},
    {BETWEEN, {1e-30f, 0, 1e-30f, 0, 1e30f, 0}, {0xbf000000, 0x00000000, 0x3f000000, 0x3f3504f3}},
    {NLERP,
     {0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0.25f},
     {0x3e1fb4a7, 0x00000000, 0x00000000, 0x3f7cde09}},
    {NLERP,
     {0.1f, -0.2f, 0.3f, 0.9f, -0.4f, 0.5f, -0.6f, -0.7f, 0.75f},
     {0x3e99d0f8, 0xbeca5f51, 0x3efaedaa, 0x3f376a5d}},
    {SLERP,
     {0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0.25f},
     {0x3e2406d1, 0x00000000, 0x00000000, 0x3f7cb1c3}},
    {SLERP,
     {0.1f, -0.2f, 0.3f, 0.9f, -0.4f, 0.5f, -0.6f, -0.7f, 0.75f},
     {0x3e994b3d, 0xbec9e4f5, 0x3efa7eac, 0x3f37cde3}},
    {SLERP,
     {0.1f, -0.2f, 0.3f, 0.9f, 0.1f, -0.2f, 0.3f, 0.900001f, 0.5f},
     {0x3dd21eca, 0xbe521eca, 0x3e9d9718, 0x3f6c62ab}},
    {SLERP, {0, 0, 0, 1, 0, 1, 0, 0, 1.75f}, {0x00000000, 0x3ec3ef15, 0x00000000, 0xbf6c835e}},
};

static espl_status compute(float out[static 4], const answer *a)
{
    const float *const in = a->in;

    switch (a->of) {
    case FROM_AXIS_ANGLE:
        return espl_quat_from_axis_angle(out, in, in[3]);
    case TO_AXIS_ANGLE:
        return espl_quat_to_axis_angle(out, &out[3], in);
    case FROM_EULER:
        return espl_quat_from_euler(out, in, (espl_euler_order)(int)in[3]);
    case TO_EULER:
        return espl_quat_to_euler(out, in, (espl_euler_order)(int)in[4]);
    case BETWEEN:
        return espl_quat_between(out, in, &in[3]);
    case NLERP:
        return espl_quat_nlerp(out, in, &in[4], in[8]);
    case SLERP:
        return espl_quat_slerp(out, in, &in[4], in[8]);
    }
    return ESPL_ERR_ARGUMENT;
}

START_TEST(known_answers_are_the_same_bits)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
        const uint32_t *const expected = answers[i].bits;
        float out[4] = {0};
        uint32_t bits[4];

        ck_assert_int_eq(compute(out, &answers[i]), ESPL_OK);
        memcpy(bits, out, sizeof bits);
        ck_assert_msg(memcmp(bits, expected, sizeof bits) == 0,
                      "answer %zu is 0x%08" PRIx32 ", 0x%08" PRIx32 ", 0x%08" PRIx32
                      ", 0x%08" PRIx32,
                      i, bits[0], bits[1], bits[2], bits[3]);
    }
}
END_TEST

// --- Many answers in one number ---

enum { ROUNDS = 20000 };

static uint64_t hash_floats(uint64_t hash, const float *values, size_t count)
{
    return test_hash_bytes(hash, values, count * sizeof *values);
}

static uint64_t hash_angles(uint64_t hash, uint64_t *random)
{
    const espl_euler_order order = (espl_euler_order)test_below(random, 6);
    float axis[3], angles[3], q[4], angle = 0;

    for (int i = 0; i < 3; ++i) {
        angles[i] = test_one_in(random, 4) ? any_finite(random) : test_between(random, -4, 4);
    }
    any_direction(axis, random);
    hash = hash * 3 + (uint64_t)espl_quat_from_axis_angle(q, axis, angles[0]);
    hash = hash_floats(hash, q, 4);
    hash = hash * 3 + (uint64_t)espl_quat_from_euler(q, angles, order);
    hash = hash_floats(hash, q, 4);
    hash = hash * 3 + (uint64_t)espl_quat_to_euler(angles, q, order);
    hash = hash_floats(hash, angles, 3);
    hash = hash * 3 + (uint64_t)espl_quat_to_axis_angle(axis, &angle, q);
    hash = hash_floats(hash, axis, 3);
    return hash_floats(hash, &angle, 1);
}

static uint64_t hash_ways(uint64_t hash, uint64_t *random)
{
    const float t = test_between(random, -0.5f, 1.5f);
    espl_transform a = any_transform(random), b = any_transform(random), out;
    float from[3], to[3], q[4];

    any_direction(from, random);
    any_direction(to, random);
    hash = hash * 3 + (uint64_t)espl_quat_between(q, from, to);
    hash = hash_floats(hash, q, 4);
    hash = hash * 3 + (uint64_t)espl_quat_nlerp(q, a.rotation, b.rotation, t);
    hash = hash_floats(hash, q, 4);
    hash = hash * 3 + (uint64_t)espl_quat_slerp(q, a.rotation, q, t);
    hash = hash_floats(hash, q, 4);
    hash = hash * 3 + (uint64_t)espl_transform_lerp(&out, &a, &b, t);
    hash = test_hash_transform(hash, &out);
    for (int axis = 0; axis <= ESPL_AXIS_BACK; ++axis) {
        hash = hash * 3 + (uint64_t)espl_transform_look_at(&a, to, NULL, (espl_axis)axis);
        hash = test_hash_transform(hash, &a);
    }
    return hash;
}

START_TEST(many_answers_are_the_same_bits)
{
    uint64_t random = 2027, angles = TEST_HASH_START, ways = TEST_HASH_START;

    for (int i = 0; i < ROUNDS; ++i) {
        angles = hash_angles(angles, &random);
        ways = hash_ways(ways, &random);
    }
    ck_assert_msg(angles == UINT64_C(0x518135c7a2968602) && ways == UINT64_C(0x3980eca1b68463f1),
                  "angles 0x%016" PRIx64 ", ways 0x%016" PRIx64, angles, ways);
}
END_TEST

static Suite *bits_suite(void)
{
    Suite *const suite = suite_create("bits");
    TCase *const bits = tcase_create("bits");

    tcase_add_test(bits, known_answers_are_the_same_bits);
    tcase_add_test(bits, many_answers_are_the_same_bits);
    suite_add_tcase(suite, bits);
    return suite;
}

RUN_SUITE(bits_suite)
