// SPDX-License-Identifier: MIT
#include "lib/math/wide.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

enum { ROUNDS = 10000 };

static bool same_pose(const espl_pose *a, const espl_pose *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static espl_pose any_pose(uint64_t *random)
{
    const espl_transform t = any_transform(random);

    return espl__pose_of(&t);
}

// --- Compose ---

TEST(quarter_turn_about_up_takes_forward_to_right)
{
    const float half = sqrtf(0.5f);
    const espl_transform parent = {{0, half, 0, half}, {10, 0, 0}, 1, {1, 1, 1}, 0};
    const espl_transform forward = {{0, 0, 0, 1}, {0, 0, 5}, 1, {1, 1, 1}, 0};
    const espl_transform world = espl_transform_compose(&parent, &forward);

    is_near(world.position, (const double[]){15, 0, 0}, 1e-5);
    ck_assert_mem_eq(world.rotation, parent.rotation, sizeof world.rotation);
}

// Demand that a rotation takes a direction to where the inner and then the outer one take it.
static void turns_like_both(const float whole[4], const float outer[4], const float inner[4])
{
    const double direction[3] = {1, -2, 3};
    double a[3][3], b[3][3], c[3][3];

    oracle_matrix(a, whole);
    oracle_matrix(b, outer);
    oracle_matrix(c, inner);
    for (int row = 0; row < 3; ++row) {
        double once = 0, twice = 0;

        for (int i = 0; i < 3; ++i) {
            once += a[row][i] * direction[i];
            for (int k = 0; k < 3; ++k) {
                twice += b[row][i] * c[i][k] * direction[k];
            }
        }
        ck_assert_double_eq_tol(once, twice, 4e-6);
    }
}

TEST(compose_agrees_with_double_oracle)
{
    uint64_t random = 1;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform parent = any_transform(&random), local = any_transform(&random);
        const espl_transform world = espl_transform_compose(&parent, &local);
        double probe[3], expected[3];

        widen(probe, local.position);
        oracle_point(expected, &parent, probe);
        is_near(world.position, expected, 8 * 0x1p-24 * (173 * 16 + 173));
        ck_assert_double_eq_tol((double)world.scale, (double)parent.scale * (double)local.scale,
                                16 * 0x1p-24);

        turns_like_both(world.rotation, parent.rotation, local.rotation);
    }
}

static espl_pose wild_pose(uint64_t *random)
{
    espl_pose pose = any_pose(random);

    for (int i = 0; i < 3; ++i) {
        pose.position[i] = test_one_in(random, 4) ? -0.0f : any_finite(random);
    }
    pose.scale = test_one_in(random, 4) ? -0.0f : any_finite(random);
    for (int i = 0; i < 4; ++i) {
        pose.rotation[i] = test_one_in(random, 3) ? -0.0f : pose.rotation[i];
    }
    return pose;
}

TEST(stretch_of_ones_is_no_stretch_bit_for_bit)
{
    const float ones[3] = {1, 1, 1};
    uint64_t random = 2;
    int finite = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_pose parent = wild_pose(&random), local = wild_pose(&random);
        const espl_pose with = espl__pose_compose(&parent, ones, &local);
        const espl_pose without = espl__pose_compose(&parent, NULL, &local);
        espl_pose back_with, back_without;

        ck_assert(same_pose(&with, &without));
        ck_assert_uint_eq(espl__pose_relative(&back_with, &parent, ones, &local, &parent),
                          espl__pose_relative(&back_without, &parent, NULL, &local, &parent));
        ck_assert(same_pose(&back_with, &back_without));
        finite += espl__pose_is_finite(&with);
    }
    ck_assert_int_gt(finite, ROUNDS / 20);
}

TEST(identity_parent_changes_nothing)
{
    const espl_pose identity = espl__pose_identity();
    uint64_t random = 3;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_pose local = any_pose(&random);
        const espl_pose world = espl__pose_compose(&identity, NULL, &local);
        espl_pose back;

        ck_assert(same_pose(&world, &local));
        ck_assert_uint_eq(espl__pose_relative(&back, &identity, NULL, &world, &identity), 0);
        ck_assert(same_pose(&back, &local));
    }
}

// Poses of any floats, denormals and both zeros among them. What is not finite is told, and has no
// bits to keep.
TEST(wide_poses_give_the_same_bits)
{
    uint64_t random = 41;
    int finite = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_pose parent = any_pose(&random), local = any_pose(&random), world;

        for (int k = 0; i % 4 != 0 && k < 4; ++k) {
            parent.rotation[k] = any_finite(&random);
            parent.position[k % 3] = test_one_in(&random, 3) ? -0.0f : any_finite(&random);
            local.rotation[k] = test_one_in(&random, 3) ? 0 : any_finite(&random);
            local.position[k % 3] = any_finite(&random);
            local.scale = test_one_in(&random, 3) ? -0.0f : any_finite(&random);
        }
        const espl_pose expected = espl__pose_compose(&parent, NULL, &local);
        const espl__wide_pose wide =
            espl__wide_compose(espl__wide_load(&parent), espl__wide_load(&local));

        espl__wide_store(&world, wide);
        const bool is_placed = espl__all_finite(expected.position, 3) && isfinite(expected.scale);

        ck_assert(espl__wide_found_nothing(espl__wide_nonfinite(wide)) == is_placed);
        ck_assert(espl__wide_is_finite(wide) == espl__pose_is_finite(&expected));
        ck_assert(!espl__pose_is_finite(&expected) || same_pose(&world, &expected));
        finite += espl__pose_is_finite(&expected) ? 1 : 0;
    }
    ck_assert_int_gt(finite, ROUNDS / 4);
    ck_assert_int_lt(finite, ROUNDS);
}

// --- Relative ---

TEST(relative_agrees_with_double_oracle)
{
    uint64_t random = 4;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform parent = any_transform(&random), world = any_transform(&random);
        espl_transform local = espl_transform_identity();
        double probe[3], expected[3];

        ck_ok(espl_transform_relative(&parent, &world, &local));
        widen(probe, world.position);
        oracle_point_inverse(expected, &parent, probe);
        is_near(local.position, expected, 8 * 0x1p-24 * 16 * 350);
        ck_assert_double_eq_tol((double)local.scale, (double)world.scale / (double)parent.scale,
                                16 * 0x1p-24);
    }
}

TEST(compose_undoes_relative)
{
    uint64_t random = 5;

    for (int i = 0; i < ROUNDS; ++i) {
        const espl_transform parent = any_transform(&random), world = any_transform(&random);
        espl_transform local = espl_transform_identity();
        double expected[3];

        ck_ok(espl_transform_relative(&parent, &world, &local));
        const espl_transform again = espl_transform_compose(&parent, &local);
        widen(expected, world.position);
        is_near(again.position, expected, 16 * 0x1p-24 * 350);
        turns_like(again.rotation, world.rotation, 1e-12);
        ck_assert_double_eq_tol((double)again.scale, (double)world.scale, 8 * 0x1p-24);
        ck_assert_mem_eq(again.stretch, world.stretch, sizeof again.stretch);
        ck_assert_uint_eq(again.user_data, world.user_data);
    }
}

TEST(relative_rotation_is_of_unit_length)
{
    uint64_t random = 8;

    for (int i = 0; i < ROUNDS; ++i) {
        espl_pose parent = any_pose(&random), world = any_pose(&random), local;

        // As far off as worlds below long chains may come.
        for (int k = 0; k < 4; ++k) {
            parent.rotation[k] *= 1.0002f;
        }
        ck_assert_uint_eq(espl__pose_relative(&local, &parent, NULL, &world, &world), 0);
        const espl_pose before = local;
        ck_assert_double_eq_tol(length_of(local.rotation), 1, 4e-7);
        ck_assert(espl__rotation_normalize(local.rotation));
        ck_assert(same_pose(&local, &before));
    }
}

TEST(only_parts_out_of_reach_and_asked_for_are_lost)
{
    const espl_pose fallback = {{0, 0, 0, 1}, {5, 6, 7}, 8};

    for (unsigned flat = 0; flat < 16; ++flat) {
        for (unsigned asked = 0; asked < 16; ++asked) {
            espl_pose parent = espl__pose_identity(), world = espl__pose_identity(), local;
            float stretch[3];

            parent.position[0] = 1;
            parent.scale = (flat & ESPL__LOST_SCALE) != 0 ? -0.0f : 2;
            world.scale = (asked & ESPL__LOST_SCALE) != 0 ? 4.0f : 0;
            for (int i = 0; i < 3; ++i) {
                stretch[i] = (flat >> i & 1) != 0 ? 0 : 0.5f;
                world.position[i] = parent.position[i] + ((asked >> i & 1) != 0 ? 3 : 0);
            }
            const unsigned reach_lost = (flat & ESPL__LOST_SCALE) != 0 ? 15 : flat;
            const unsigned lost = espl__pose_relative(&local, &parent, stretch, &world, &fallback);

            ck_assert_uint_eq(lost, reach_lost & asked);
            for (int i = 0; i < 3; ++i) {
                const float reached = (asked >> i & 1) != 0 ? 3 : 0;
                const float kept = fallback.position[i];
                ck_assert(local.position[i] == ((reach_lost >> i & 1) != 0 ? kept : reached));
            }
            const float reached = (asked & ESPL__LOST_SCALE) != 0 ? 2.0f : 0;
            ck_assert(local.scale == ((flat & ESPL__LOST_SCALE) != 0 ? 8 : reached));

            // What is not lost composes to what was asked for.
            const espl_pose again = espl__pose_compose(&parent, stretch, &local);
            for (int i = 0; i < 3; ++i) {
                ck_assert((lost >> i & 1) != 0 || again.position[i] == world.position[i]);
            }
            ck_assert((lost & ESPL__LOST_SCALE) != 0 || again.scale == world.scale);
        }
    }
}

TEST(lost_axes_are_those_of_the_parent)
{
    const float half = sqrtf(0.5f);
    const espl_pose parent = {{0, half, 0, half}, {0, 0, 0}, 1}; // forward points right
    const float stretch[3] = {1, 1, 0};
    const espl_pose fallback = {{0, 0, 0, 1}, {5, 6, 7}, 8};
    espl_pose world = espl__pose_identity(), local;

    world.position[0] = 3;
    ck_assert_uint_eq(espl__pose_relative(&local, &parent, stretch, &world, &fallback),
                      ESPL__LOST_Z);
    ck_assert(local.position[2] == 7);
    ck_assert_float_eq_tol(local.position[0], 0, 1e-6f);
}

TEST(result_may_stand_in_any_input)
{
    uint64_t random = 10;

    for (int i = 0; i < 1000; ++i) {
        const float stretch[3] = {1, i % 2 == 0 ? 0.0f : 2, 3};
        const espl_pose parent = any_pose(&random), world = any_pose(&random);
        const espl_pose fallback = any_pose(&random);
        espl_pose apart, at_parent = parent, at_world = world, at_fallback = fallback;

        espl__pose_relative(&apart, &parent, stretch, &world, &fallback);
        espl__pose_relative(&at_parent, &at_parent, stretch, &world, &fallback);
        espl__pose_relative(&at_world, &parent, stretch, &at_world, &fallback);
        espl__pose_relative(&at_fallback, &parent, stretch, &world, &at_fallback);
        ck_assert(same_pose(&at_parent, &apart));
        ck_assert(same_pose(&at_world, &apart));
        ck_assert(same_pose(&at_fallback, &apart));
    }
}

// --- Rotations and fields ---

TEST(unit_rotation_is_left_bit_for_bit)
{
    uint64_t random = 12;
    int kept = 0;

    for (int i = 0; i < ROUNDS; ++i) {
        float q[4], before[4];

        any_rotation(q, &random);
        const float factor = 1 + (float)((int)test_below(&random, 13) - 6) * 0x1p-24f;
        for (int k = 0; k < 4; ++k) {
            q[k] *= factor;
        }
        memcpy(before, q, sizeof q);
        const volatile float xx = q[0] * q[0], yy = q[1] * q[1], zz = q[2] * q[2];
        const volatile float ww = q[3] * q[3], two = xx + yy, three = two + zz, four = three + ww;
        ck_assert(espl__rotation_normalize(q));
        if (fabs((double)four - 1) <= 4e-7) {
            ck_assert_mem_eq(q, before, sizeof q);
            kept += 1;
        } else {
            ck_assert_double_eq_tol(length_of(q), 1, 1e-7);
        }
    }
    ck_assert_int_gt(kept, ROUNDS / 4);
    ck_assert_int_lt(kept, ROUNDS - ROUNDS / 4);
}

TEST(bound_of_unit_length_is_where_it_is_said_to_be)
{
    for (int ulp = -16; ulp <= 16; ++ulp) {
        const float w = 1 + (float)ulp * (ulp > 0 ? 0x1p-23f : 0x1p-24f);
        const volatile float square = w * w;
        const bool is_unit = fabs((double)square - 1) <= 4e-7;
        float q[4] = {0, 0, 0, w};

        ck_assert(espl__rotation_normalize(q));
        ck_assert_float_eq(q[3], is_unit ? w : 1.0f);
    }
}

TEST(normalising_twice_is_normalising_once)
{
    const int rounds = (int)test_scaled(1000000);
    uint64_t random = 13;
    int normalised = 0, moved = 0, off_length = 0;

    for (int i = 0; i < rounds; ++i) {
        float q[4], once[4];

        for (int k = 0; k < 4; ++k) {
            q[k] = i % 2 == 0 ? test_between(&random, -2, 2) : any_finite(&random);
        }
        normalised += espl__rotation_normalize(q);
        memcpy(once, q, sizeof q);
        off_length += fabs(length_of(q) - 1) > 2e-7;
        moved += !espl__rotation_normalize(q) || memcmp(q, once, sizeof q) != 0;
    }
    ck_assert_int_eq(normalised, rounds);
    ck_assert_int_eq(off_length, 0);
    ck_assert_int_eq(moved, 0);
}

TEST(rotation_of_any_magnitude_has_a_direction)
{
    const float magnitudes[] = {0x1p-149f, 1e-40f, 1e-38f, 1e-30f, 1e-3f, 1e3f, 1e30f, 3e38f};

    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; ++i) {
        const float m = magnitudes[i];
        float one[4] = {0, 0, -m, 0}, two[4] = {m, 0, 0, m}, four[4] = {m, -m, m, -m};

        ck_assert(espl__rotation_normalize(one));
        ck_assert(one[2] == -1 && one[0] == 0 && one[1] == 0 && one[3] == 0);
        ck_assert(espl__rotation_normalize(two));
        ck_assert(two[0] == sqrtf(0.5f) && two[3] == sqrtf(0.5f));
        ck_assert(espl__rotation_normalize(four));
        ck_assert(four[0] == 0.5f && four[1] == -0.5f && four[2] == 0.5f && four[3] == -0.5f);
    }
}

enum { FLOAT_FIELDS = 11 };

static float *field_of(espl_transform *t, int field)
{
    float *const fields[FLOAT_FIELDS] = {&t->rotation[0], &t->rotation[1], &t->rotation[2],
                                         &t->rotation[3], &t->position[0], &t->position[1],
                                         &t->position[2], &t->scale,       &t->stretch[0],
                                         &t->stretch[1],  &t->stretch[2]};

    return fields[field];
}

TEST(each_field_takes_what_is_finite)
{
    const float good[] = {0x1p-149f, -1e-40f, -0.0f, 0, 1e30f, -3.4e38f};
    uint64_t random = 15;

    for (int field = 0; field < FLOAT_FIELDS; ++field) {
        for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
            espl_transform t = any_transform(&random);

            t.user_data = 0x7F800001; // not a number of ours
            *field_of(&t, field) = good[i];
            ck_assert(espl__transform_is_finite(&t));
            ck_ok(espl_transform_normalize(&t));
            ck_assert(field < 4 || memcmp(field_of(&t, field), &good[i], sizeof good[i]) == 0);
            ck_assert_double_eq_tol(length_of(t.rotation), 1, 4e-7);
            ck_assert_uint_eq(t.user_data, 0x7F800001);
        }
    }
}
