// SPDX-License-Identifier: MIT
// Inherit flags as a formula of values: the rules of bits, and mixed rotations against axes made of
// cross products in double.
#include "lib/math/inherit.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <float.h>

enum { ROUNDS = 200, FLAG_SETS = 129, BAD_BITS = 0x7fc0beef };

// Every legal byte: 0 to 127, and ESPL_COPY_PARENT alone at the end.
static uint32_t legal_flags(uint32_t i)
{
    return i < ESPL_COPY_PARENT ? i : (uint32_t)ESPL_COPY_PARENT;
}

static bool same_bits(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

// --- The documented formula ---

static void cross(double out[static 3], const double a[static 3], const double b[static 3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

static double length3(const double v[static 3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void column(double out[static 3], const float q[static 4], int axis)
{
    double m[3][3];

    oracle_matrix(m, q);
    for (int row = 0; row < 3; ++row) {
        out[row] = m[row][axis];
    }
}

// Axes of a mixed rotation, as axes[axis][component]. Returns the length of up x forward.
static double oracle_axes(double axes[static 3][3], const float kept[static 4],
                          const float composed[static 4], uint32_t flags)
{
    double *const right = axes[0], *const up = axes[1], *const forward = axes[2];

    column(forward, (flags & ESPL_ABSOLUTE_FORWARD) != 0 ? kept : composed, 2);
    column(up, (flags & ESPL_ABSOLUTE_UP) != 0 ? kept : composed, 1);
    cross(right, up, forward);
    const double span = length3(right);
    for (int i = 0; i < 3; ++i) {
        right[i] /= span;
    }
    if ((flags & ESPL_STRICT_UP) != 0) {
        cross(forward, right, up);
    } else {
        cross(up, forward, right);
    }
    return span;
}

// What the rules say of a rotation with one direction kept, the other composed.
static void mixed_is_right(const float result[static 4], const float kept[static 4],
                           const float composed[static 4], uint32_t flags)
{
    double axes[3][3], m[3][3], worst = 0;

    ck_assert_double_gt(oracle_axes(axes, kept, composed, flags), 1.1e-5);
    oracle_matrix(m, result);
    for (int axis = 0; axis < 3; ++axis) {
        for (int row = 0; row < 3; ++row) {
            const double off = fabs(m[row][axis] - axes[axis][row]);

            worst = off > worst ? off : worst;
        }
    }
    ck_assert_double_le(worst, 1e-6);
}

// As espl_transform_normalize() sums it.
static float off_unit(const float q[static 4])
{
    return fabsf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1);
}

static bool is_mixed(uint32_t flags)
{
    const uint32_t both = flags & ESPL_ABSOLUTE_ROTATION;

    return both != 0 && both != ESPL_ABSOLUTE_ROTATION;
}

// --- Every byte of flags ---

// All parts but a mixed rotation are the bits of one of the two.
static bool whole_parts_agree(const espl_transform *result, const espl_transform *composed,
                              const espl_transform *kept, uint32_t flags)
{
    const uint32_t rotation = flags & ESPL_ABSOLUTE_ROTATION;
    bool agree = true;

    for (int i = 0; i < 3; ++i) {
        const bool keeps = (flags & ((unsigned)ESPL_ABSOLUTE_X << i)) != 0;
        const float *const from = keeps ? kept->position : composed->position;

        agree = agree && same_bits(&result->position[i], &from[i], 1);
    }
    const bool keeps_scale = (flags & ESPL_ABSOLUTE_SCALE) != 0;
    agree = agree && same_bits(&result->scale, keeps_scale ? &kept->scale : &composed->scale, 1);
    if (!is_mixed(flags)) {
        const float *const from = rotation != 0 ? kept->rotation : composed->rotation;

        agree = agree && same_bits(result->rotation, from, 4);
    }
    return agree;
}

TEST(parts_are_kept_or_composed_bit_for_bit)
{
    uint64_t random = 1;

    for (uint32_t i = 0; i < FLAG_SETS * ROUNDS; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        const espl_transform kept = any_transform(&random);
        const espl_transform composed = espl_transform_compose(&parent, &local);
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);

        if (flags == ESPL_COPY_PARENT) {
            ck_assert(test_same(&result, &parent));
            continue;
        }
        ck_assert_msg(whole_parts_agree(&result, &composed, &kept, flags), "flags %u", flags);
        ck_assert(same_bits(result.stretch, local.stretch, 3));
        ck_assert_uint_eq(result.user_data, local.user_data);
        if (flags == 0) {
            ck_assert(test_same(&result, &composed));
        }
    }
}

TEST(mixed_rotation_agrees_with_axes_by_cross_products)
{
    uint64_t random = 2;
    size_t mixed = 0;

    for (uint32_t i = 0; i < FLAG_SETS * ROUNDS; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        const espl_transform kept = any_transform(&random);
        const espl_transform composed = espl_transform_compose(&parent, &local);
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);

        if (is_mixed(flags)) {
            mixed_is_right(result.rotation, kept.rotation, composed.rotation, flags);
            ck_assert_float_le(off_unit(result.rotation), 4e-7f);
            mixed += 1;
        }
    }
    ck_assert_uint_eq(mixed, 64 * ROUNDS);
}

// --- Rules of bits ---

TEST(equal_rotations_are_kept_bit_for_bit)
{
    const espl_transform identity = espl_transform_identity();
    uint64_t random = 4;

    for (uint32_t i = 0; i < FLAG_SETS * 20; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        espl_transform parent = any_transform(&random), local = any_transform(&random);

        // Off unit length, as below a long chain, so that it shows when it is made anew.
        for (int k = 0; k < 4; ++k) {
            parent.rotation[k] *= 1.01f;
        }
        local = i % 3 == 0 ? identity : local;
        const espl_transform composed = espl_transform_compose(&parent, &local);
        espl_transform kept = any_transform(&random);

        memcpy(kept.rotation, composed.rotation, sizeof kept.rotation);
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);
        const espl_transform *const from = flags == ESPL_COPY_PARENT ? &parent : &composed;
        ck_assert_msg(same_bits(result.rotation, from->rotation, 4), "flags %u", flags);
    }
}

TEST(rotation_that_is_equal_but_for_the_sign_of_a_zero_is_mixed)
{
    const espl_transform identity = espl_transform_identity();
    espl_transform kept = identity;
    const float unit[] = {0, 0, 0, 1};

    kept.rotation[1] = -0.0f;
    for (uint32_t flags = 0; flags < ESPL_COPY_PARENT; ++flags) {
        const espl_transform result = espl_transform_inherit(&identity, &identity, &kept, flags);

        turns_like(result.rotation, unit, 1e-12);
        if ((flags & ESPL_ABSOLUTE_ROTATION) == ESPL_ABSOLUTE_ROTATION) {
            ck_assert(same_bits(result.rotation, kept.rotation, 4));
        }
    }
}

TEST(both_signs_of_a_quaternion_keep_the_same_directions)
{
    uint64_t random = 5;

    for (uint32_t i = 0; i < 64 * ROUNDS; ++i) {
        const uint32_t flags = i % ESPL_COPY_PARENT;
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        espl_transform kept = any_transform(&random);
        const espl_transform one = espl_transform_inherit(&parent, &local, &kept, flags);

        for (int k = 0; k < 4; ++k) {
            kept.rotation[k] = -kept.rotation[k];
        }
        const espl_transform other = espl_transform_inherit(&parent, &local, &kept, flags);
        if (is_mixed(flags)) {
            ck_assert(same_bits(one.rotation, other.rotation, 4));
        }
    }
}

// Write a number that shows wherever it is read.
static void spoil(float *values, size_t count)
{
    const uint32_t bits = BAD_BITS;

    for (size_t i = 0; i < count; ++i) {
        memcpy(&values[i], &bits, sizeof bits);
    }
}

TEST(parts_that_the_flags_do_not_name_are_not_read)
{
    uint64_t random = 6;

    for (uint32_t i = 0; i < FLAG_SETS * 20; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        espl_transform kept = any_transform(&random);
        const espl_transform clean = espl_transform_inherit(&parent, &local, &kept, flags);

        for (int k = 0; k < 3; ++k) {
            spoil(&kept.position[k], (flags & ((unsigned)ESPL_ABSOLUTE_X << k)) == 0);
        }
        spoil(&kept.scale, (flags & ESPL_ABSOLUTE_SCALE) == 0);
        spoil(kept.rotation, (flags & ESPL_ABSOLUTE_ROTATION) == 0 ? 4 : 0);
        spoil(kept.stretch, 3);
        kept.user_data = BAD_BITS;
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);
        ck_assert_msg(test_same(&result, &clean), "flags %u", flags);
    }
}

TEST(copy_reads_nothing_but_the_parent)
{
    uint64_t random = 7;
    espl_transform bad;

    spoil((float *)(void *)&bad, sizeof bad / sizeof(float));
    for (uint32_t i = 0; i < 1000; ++i) {
        espl_transform parent = any_transform(&random);

        parent.rotation[i % 4] *= 3; // whatever it is
        parent.position[i % 3] = any_finite(&random);
        const espl_transform result = espl_transform_inherit(&parent, &bad, &bad, ESPL_COPY_PARENT);
        ck_assert(test_same(&result, &parent));
    }
}

// --- Rotations that are not of unit length, or far from it ---

TEST(rotations_of_any_length_mix_by_their_directions)
{
    const float lengths[] = {1 + 1e-6f, 1 - 1e-3f, 1e-3f, 1e3f, 1e-38f, 1e-42f, 1e18f};
    uint64_t random = 9;

    for (uint32_t i = 0; i < 64 * ROUNDS; ++i) {
        const float length = lengths[i % 7];
        const uint32_t flags = (i / 7 % 2 == 0 ? ESPL_ABSOLUTE_UP : ESPL_ABSOLUTE_FORWARD) |
                               (i / 14 % 2 == 0 ? (uint32_t)ESPL_STRICT_UP : 0);
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        const espl_transform composed = espl_transform_compose(&parent, &local);
        espl_transform kept = any_transform(&random);

        for (int k = 0; k < 4; ++k) {
            kept.rotation[k] *= length;
        }
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);
        mixed_is_right(result.rotation, kept.rotation, composed.rotation, flags);
        ck_assert_float_le(off_unit(result.rotation), 4e-7f);
    }
}

// Turn `from` about its own right axis by an angle.
static void tilt(float out[static 4], const float from[static 4], double angle)
{
    const float by[4] = {(float)sin(angle / 2), 0, 0, (float)cos(angle / 2)};

    espl__rotation_multiply(out, from, by);
}

TEST(half_turns_are_found_as_well_as_others)
{
    uint64_t random = 13;

    for (uint32_t i = 0; i < 8000; ++i) {
        const uint32_t flags =
            i % 2 == 0 ? ESPL_ABSOLUTE_UP | ESPL_STRICT_UP : ESPL_ABSOLUTE_FORWARD;
        espl_transform parent = espl_transform_identity(), kept = parent;
        const float little = ldexpf(test_between(&random, -1, 1), -(int)(i % 39));
        const float off = i % 40 < 39 ? little : 0;
        const uint32_t axis = test_below(&random, 4);

        // A half turn but for a little or nothing, about an axis at random or one of the three.
        any_rotation(kept.rotation, &random);
        for (int k = 0; k < 3; ++k) {
            kept.rotation[k] *= axis == 3 || axis == (uint32_t)k ? 1 : off * 0x1p-20f;
        }
        kept.rotation[3] = off;
        ck_ok(espl_transform_normalize(&kept));

        // The parent leans about what is right to the kept rotation, and nothing of that is left.
        tilt(parent.rotation, kept.rotation, (double)test_between(&random, 0.1f, 1));
        const espl_transform identity = espl_transform_identity();
        const espl_transform result = espl_transform_inherit(&parent, &identity, &kept, flags);
        mixed_is_right(result.rotation, kept.rotation, parent.rotation, flags);
        turns_like(result.rotation, kept.rotation, 1e-12);
    }
}

// --- Directions that do not span a rotation ---

// A kept rotation that brings f and u, by the flags, to an angle of each other.
static void meet(float kept[static 4], const float composed[static 4], uint32_t flags, double angle,
                 bool is_opposite)
{
    // About +X, up comes to forward at a right angle, forward to up at one the other way round.
    const double quarter = (flags & ESPL_ABSOLUTE_UP) != 0 ? acos(0) : -acos(0);

    tilt(kept, composed, (is_opposite ? -quarter : quarter) + angle);
}

TEST(parallel_directions_give_the_rotation_that_holds_the_exact_one)
{
    uint64_t random = 10;

    for (uint32_t i = 0; i < 8000; ++i) {
        const uint32_t direction = i % 2 == 0 ? ESPL_ABSOLUTE_UP : ESPL_ABSOLUTE_FORWARD;
        const bool is_strict = i / 2 % 2 == 0, is_opposite = i / 4 % 2 == 0;
        const uint32_t flags = direction | (is_strict ? (uint32_t)ESPL_STRICT_UP : 0);
        const uint32_t exact = is_strict ? ESPL_ABSOLUTE_UP : ESPL_ABSOLUTE_FORWARD;
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        const espl_transform composed = espl_transform_compose(&parent, &local);
        espl_transform kept = any_transform(&random);
        double axes[3][3];

        meet(kept.rotation, composed.rotation, flags, (double)test_between(&random, -8e-6f, 8e-6f),
             is_opposite);
        ck_assert_double_lt(oracle_axes(axes, kept.rotation, composed.rotation, flags), 9e-6);
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);
        const espl_transform *const whole = direction == exact ? &kept : &composed;
        ck_assert(same_bits(result.rotation, whole->rotation, 4));
    }
}

TEST(directions_that_are_nearly_parallel_still_mix)
{
    uint64_t random = 11;

    for (uint32_t i = 0; i < 8000; ++i) {
        const uint32_t flags = (i % 2 == 0 ? ESPL_ABSOLUTE_UP : ESPL_ABSOLUTE_FORWARD) |
                               (i / 2 % 2 == 0 ? (uint32_t)ESPL_STRICT_UP : 0);
        const double angle = (double)test_between(&random, 1.3e-5f, 1e-3f);
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        const espl_transform composed = espl_transform_compose(&parent, &local);
        espl_transform kept = any_transform(&random);

        meet(kept.rotation, composed.rotation, flags, i / 8 % 2 == 0 ? angle : -angle,
             i / 4 % 2 == 0);
        const espl_transform result = espl_transform_inherit(&parent, &local, &kept, flags);
        mixed_is_right(result.rotation, kept.rotation, composed.rotation, flags);
        ck_assert_float_le(off_unit(result.rotation), 4e-7f);
    }
}

TEST(mixed_rotation_by_hand)
{
    const float half = (float)sqrt(0.5);
    const espl_transform identity = espl_transform_identity();
    espl_transform parent = identity, kept = identity;

    // The parent leans over by 30 degrees about +X; up stays up, and forward comes down as far as
    // it must: nothing is left of the lean.
    parent.rotation[0] = (float)sin(acos(-1) / 12);
    parent.rotation[3] = (float)cos(acos(-1) / 12);
    espl_transform result =
        espl_transform_inherit(&parent, &identity, &kept, ESPL_ABSOLUTE_UP | ESPL_STRICT_UP);
    turns_like(result.rotation, identity.rotation, 1e-12);
    // Without it forward goes with the parent, and up follows.
    result = espl_transform_inherit(&parent, &identity, &kept, ESPL_ABSOLUTE_UP);
    turns_like(result.rotation, parent.rotation, 1e-12);

    // The parent turns about +Y by 90 degrees: who keeps up alone turns with it.
    parent.rotation[0] = 0;
    parent.rotation[1] = parent.rotation[3] = half;
    result = espl_transform_inherit(&parent, &identity, &kept, ESPL_ABSOLUTE_UP | ESPL_STRICT_UP);
    turns_like(result.rotation, parent.rotation, 1e-12);
    // Who keeps forward alone does not: up is the same in both.
    result = espl_transform_inherit(&parent, &identity, &kept, ESPL_ABSOLUTE_FORWARD);
    turns_like(result.rotation, identity.rotation, 1e-12);
}

// --- What is stored of kept parts ---

TEST(kept_parts_are_masked_to_the_identity)
{
    uint64_t random = 12;

    for (uint32_t i = 0; i < FLAG_SETS * 20; ++i) {
        const uint32_t flags = legal_flags(i % FLAG_SETS);
        const espl_transform value = any_transform(&random);
        const espl_pose world = espl__pose_of(&value), identity = espl__pose_identity();
        const espl__kept kept = espl__kept_of(&world, flags);
        const espl__kept again = espl__kept_of(&kept.pose, flags);
        const bool turns = (flags & ESPL_ABSOLUTE_ROTATION) != 0;
        const bool scales = (flags & ESPL_ABSOLUTE_SCALE) != 0;

        ck_assert_uint_eq(kept.flags, flags);
        for (int k = 0; k < 3; ++k) {
            const bool keeps = (flags & ((unsigned)ESPL_ABSOLUTE_X << k)) != 0;

            ck_assert(same_bits(&kept.pose.position[k],
                                keeps ? &world.position[k] : &identity.position[k], 1));
        }
        ck_assert(same_bits(kept.pose.rotation, turns ? world.rotation : identity.rotation, 4));
        ck_assert(same_bits(&kept.pose.scale, scales ? &world.scale : &identity.scale, 1));
        ck_assert_mem_eq(&again, &kept, sizeof kept);
    }
}

TEST(copy_has_no_parts_to_put_in_place)
{
    uint64_t random = 14;
    const espl_transform value = any_transform(&random), other = any_transform(&random);
    const espl__kept kept = {espl__pose_of(&other), ESPL_COPY_PARENT};
    const espl_pose before = espl__pose_of(&value);
    espl_pose pose = before;

    espl__keep_parts(&pose, &kept);
    ck_assert_mem_eq(&pose, &before, sizeof pose);
}

TEST(legal_bytes_are_told_from_others)
{
    size_t legal = 0;

    for (uint32_t flags = 0; flags < 4096; ++flags) {
        legal += espl__flags_are_valid(flags);
        ck_assert_int_eq(espl__flags_are_valid(flags), flags <= ESPL_COPY_PARENT);
    }
    ck_assert_uint_eq(legal, FLAG_SETS);
    ck_assert(!espl__flags_are_valid(UINT32_MAX));
}
