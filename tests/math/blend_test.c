// SPDX-License-Identifier: MIT
// The blend of two poses: every kernel against the formula, the formula against a spherical
// interpolation in long double, and what keeps its bits.
#include "lib/math/kernels.h"

#include "tests/math/rotations.h"
#include "tests/runner.h"

#include <stdlib.h>

enum { NODES = 100, LISTS = 3000 };

// Poses by slot, and the slots of a list.
typedef struct nodes {
    espl_pose from[NODES], to[NODES];
    uint32_t slots[NODES], count;
} nodes;

static espl_pose some_pose(uint64_t *random)
{
    const espl_transform t = any_transform(random);

    return espl__pose_of(&t);
}

// A rotation about any axis, in degrees. The sign is any.
static void turn_of(float q[static 4], double degrees, uint64_t *random)
{
    double axis[4] = {0};
    float direction[4];

    any_rotation(direction, random);
    const double length = sqrt((double)direction[0] * (double)direction[0] +
                               (double)direction[1] * (double)direction[1] +
                               (double)direction[2] * (double)direction[2]);
    const double half = degrees * (double)(PI_LONG / 360);
    const double sign = test_one_in(random, 2) ? -1 : 1;

    for (int i = 0; i < 3; ++i) {
        axis[i] = (double)direction[i] / length * sin(half);
    }
    axis[3] = cos(half);
    for (int i = 0; i < 4; ++i) {
        q[i] = (float)(sign * axis[i]);
    }
    ck_assert(espl__rotation_normalize(q));
}

// Turn a rotation by so many degrees about any axis.
static void turn_by(float out[static 4], const float q[static 4], double degrees, uint64_t *random)
{
    float turn[4];

    turn_of(turn, degrees, random);
    espl__rotation_multiply(out, q, turn);
    ck_assert(espl__rotation_normalize(out));
}

// Both ends of a node: any, or one of the cases that a formula may miss.
static void draw_ends(espl_pose *from, espl_pose *to, uint64_t *random)
{
    *from = some_pose(random);
    *to = some_pose(random);
    switch (test_below(random, 12)) {
    case 0: // the same rotation, with the other sign
        for (int i = 0; i < 4; ++i) {
            to->rotation[i] = -from->rotation[i];
        }
        break;
    case 1:
        turn_by(to->rotation, from->rotation, 180, random);
        break;
    case 2:
        turn_by(to->rotation, from->rotation, 179.9, random);
        break;
    case 3:
        turn_by(to->rotation, from->rotation, 1e-6, random);
        break;
    case 4: // equal parts
        memcpy(to->rotation, from->rotation, sizeof to->rotation);
        to->position[test_below(random, 3)] = 1;
        break;
    case 5:
        memcpy(to->position, from->position, sizeof to->position);
        to->scale = from->scale;
        break;
    case 6: // any numbers: denormals, zeros, large ones
        for (int i = 0; i < 3; ++i) {
            from->position[i] = any_finite(random);
            to->position[i] = test_one_in(random, 2) ? -from->position[i] : any_finite(random);
        }
        from->scale = 0;
        to->scale = -0.0f;
        break;
    case 7: // none at the start
        from->scale = NAN;
        from->position[0] = INFINITY;
        break;
    case 8: // across an axis: the product is 0
        memcpy(from->rotation, (float[]){1, 0, 0, 0}, sizeof from->rotation);
        memcpy(to->rotation, (float[]){0, 0, -0.0f, -1}, sizeof to->rotation);
        break;
    default:
        turn_by(to->rotation, from->rotation, (double)test_between(random, 0, 180), random);
        break;
    }
}

static void draw_nodes(nodes *n, uint64_t *random)
{
    n->count = 0;
    for (uint32_t i = 0; i < NODES; ++i) {
        draw_ends(&n->from[i], &n->to[i], random);
        if (!test_one_in(random, 3)) {
            n->slots[n->count++] = i;
        }
    }
    // In any order, as a list of a batch is not.
    for (uint32_t i = 0; i + 1 < n->count && test_one_in(random, 2); ++i) {
        const uint32_t other = i + test_below(random, n->count - i), slot = n->slots[i];

        n->slots[i] = n->slots[other];
        n->slots[other] = slot;
    }
    n->count = test_below(random, n->count + 1);
}

static float any_time(uint64_t *random)
{
    static const float times[] = {0x1p-149f, 0x1p-20f, 0.5f, 0.25f, 0x1.fffffep-1f};

    return test_one_in(random, 4) ? times[test_below(random, 5)]
                                  : test_between(random, 0x1p-24f, 0x1.fffffep-1f);
}

static bool is_same_pose(const espl_pose *a, const espl_pose *b)
{
    return espl__pose_is_same(a, b);
}

TEST(every_kernel_blends_to_the_bits_of_the_formula)
{
    static nodes before, after;
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 1;

    for (uint32_t list = 0; list < test_scaled(LISTS); ++list) {
        const espl__blend blend = espl__blend_at(any_time(&random));

        draw_nodes(&before, &random);
        for (size_t k = 0; k < count; ++k) {
            espl_pose saved[NODES + 1], expected[NODES];

            after = before;
            memcpy(expected, before.to, sizeof expected);
            saved[before.count].scale = 77;
            all[k]->blend(after.to, saved, after.from, after.slots, after.count, &blend);
            for (uint32_t i = 0; i < before.count; ++i) {
                const uint32_t slot = before.slots[i];

                expected[slot] = espl__pose_blend(&blend, &before.from[slot], &before.to[slot]);
                ck_assert_msg(is_same_pose(&saved[i], &before.to[slot]), "%s: saved %u",
                              all[k]->name, i);
            }
            for (uint32_t i = 0; i < NODES; ++i) {
                ck_assert_msg(is_same_pose(&expected[i], &after.to[i]), "%s: node %u at %a",
                              all[k]->name, i, (double)blend.at);
            }
            ck_assert(saved[before.count].scale == 77);
            ck_assert_mem_eq(after.from, before.from, sizeof after.from);
        }
    }
}

// --- How near it is ---

// The angle between two rotations, in degrees. By the sine, because the cosine of a small one is 1.
static double degrees_between(const long double *a, const long double *b)
{
    long double apart[4], together[4];

    for (int i = 0; i < 4; ++i) {
        apart[i] = a[i] - b[i];
        together[i] = a[i] + b[i];
    }
    const long double p = length_long(apart, 4), q = length_long(together, 4);
    const long double sine = p < q ? p : q, cosine = p < q ? q : p;

    return (double)(4 * atan2l(sine, cosine) * 180 / PI_LONG);
}

static void slerp_long(long double out[static 4], const float a[static 4], const float b[static 4],
                       long double t)
{
    long double x[4], y[4];

    unit_long(x, a, 4);
    unit_long(y, b, 4);
    const long double sign = dot_long(x, y, 4) < 0 ? -1 : 1;
    long double apart[4], together[4];

    for (int i = 0; i < 4; ++i) {
        apart[i] = y[i] - sign * x[i];
        together[i] = y[i] + sign * x[i];
    }
    const long double angle = 2 * atan2l(length_long(apart, 4), length_long(together, 4));

    for (int i = 0; i < 4; ++i) {
        out[i] = angle == 0
                     ? y[i]
                     : (sign * x[i] * sinl((1 - t) * angle) + y[i] * sinl(t * angle)) / sinl(angle);
    }
}

static double worst_of_turns(double degrees, uint64_t *random)
{
    double worst = 0;

    for (int i = 0; i < 40000; ++i) {
        const float at = any_time(random);
        const espl__blend blend = espl__blend_at(at);
        espl_pose from = some_pose(random), to = from;
        long double exact[4], is[4];

        turn_by(to.rotation, from.rotation,
                test_one_in(random, 3) ? degrees : (double)test_between(random, 0, (float)degrees),
                random);
        const espl_pose now = espl__pose_blend(&blend, &from, &to);

        slerp_long(exact, from.rotation, to.rotation, (long double)at);
        unit_long(is, now.rotation, 4);
        const double off = degrees_between(exact, is);

        worst = off > worst ? off : worst;
        ck_assert(espl__rotation_is_unit(now.rotation));
        ck_assert(dot_long(exact, is, 4) > 0); // the sign of the local
    }
    return worst;
}

TEST(a_blend_is_near_the_spherical_interpolation)
{
    uint64_t random = 2;

    ck_assert_double_le(worst_of_turns(179.99, &random), 0.0043);
    ck_assert_double_le(worst_of_turns(30, &random), 0.00085);
}

// Some formulas take the middle of a small turn at any time, because they would divide by its sine.
TEST(small_turns_are_blended_evenly_and_go_on)
{
    static const double degrees[] = {0.2, 0.1, 0.01, 0.001};
    uint64_t random = 8;

    for (int i = 0; i < 8000; ++i) {
        const float at = i % 4 == 0 ? test_between(&random, -1, 2) : any_time(&random);
        const espl__blend blend = espl__blend_at(at);
        espl_pose from = some_pose(&random), to = from;
        long double exact[4], is[4];

        turn_by(to.rotation, from.rotation, degrees[test_below(&random, 4)], &random);
        const espl_pose now = espl__pose_blend(&blend, &from, &to);

        slerp_long(exact, from.rotation, to.rotation, (long double)at);
        unit_long(is, now.rotation, 4);
        ck_assert_double_le(degrees_between(exact, is), 2e-5);
    }
}

// --- What keeps its bits ---

static const float times[] = {-1e6f, -1.5f, -0.0f, 0, 0x1p-149f, 0.3f, 0.5f, 0.9f, 1, 1.25f, 1e6f};

TEST(equal_parts_keep_their_bits_at_any_time)
{
    uint64_t random = 3;

    for (int i = 0; i < 2000; ++i) {
        const espl_pose from = some_pose(&random);
        espl_pose to = some_pose(&random);
        const uint32_t kept = test_below(&random, 3);

        memcpy(to.rotation, from.rotation, sizeof to.rotation);
        to.position[kept] = from.position[kept];
        for (size_t t = 0; t < sizeof times / sizeof *times; ++t) {
            const espl__blend blend = espl__blend_at(times[t]);
            const espl_pose same = espl__pose_blend(&blend, &from, &from);
            const espl_pose now = espl__pose_blend(&blend, &from, &to);

            ck_assert(is_same_pose(&same, &from));
            ck_assert_mem_eq(now.rotation, from.rotation, sizeof now.rotation);
            ck_assert_mem_eq(&now.position[kept], &from.position[kept], sizeof(float));
        }
    }
}

TEST(the_ends_are_taken_as_they_are)
{
    const espl__blend start = espl__blend_at(0), end = espl__blend_at(1),
                      negative = espl__blend_at(-0.0f);
    uint64_t random = 4;

    for (int i = 0; i < 5000; ++i) {
        espl_pose from, to;

        draw_ends(&from, &to, &random);
        const espl_pose first = espl__pose_blend(&start, &from, &to);
        const espl_pose same = espl__pose_blend(&negative, &from, &to);
        const espl_pose last = espl__pose_blend(&end, &from, &to);
        const bool is_new = isnan(from.scale);

        ck_assert(is_same_pose(&first, is_new ? &to : &from));
        ck_assert(is_same_pose(&same, &first));
        ck_assert(is_same_pose(&last, &to));
    }
}

TEST(a_pose_without_an_earlier_one_stays)
{
    uint64_t random = 5;

    for (size_t t = 0; t < sizeof times / sizeof *times; ++t) {
        const espl__blend blend = espl__blend_at(times[t]);
        const espl_pose none = {{NAN, 0, INFINITY, 7}, {NAN, NAN, 1}, NAN};
        const espl_pose to = some_pose(&random), now = espl__pose_blend(&blend, &none, &to);

        ck_assert(is_same_pose(&now, &to));
    }
}

TEST(numbers_are_interpolated_in_float)
{
    uint64_t random = 6;

    for (int i = 0; i < 5000; ++i) {
        const float at = test_between(&random, -2, 3);
        const espl__blend blend = espl__blend_at(at);
        const espl_pose from = some_pose(&random), to = some_pose(&random);
        const espl_pose now = espl__pose_blend(&blend, &from, &to);

        for (int k = 0; k < 3; ++k) {
            const float expected = from.position[k] * (1 - at) + to.position[k] * at;

            ck_assert_float_eq(now.position[k], expected);
        }
        ck_assert_float_eq(now.scale, from.scale * (1 - at) + to.scale * at);
    }
}

// --- Outside ---

TEST(a_turn_goes_on_outside)
{
    uint64_t random = 7;

    for (int i = 0; i < 5000; ++i) {
        const bool is_before = test_one_in(&random, 2);
        const float at =
            is_before ? test_between(&random, -2, -0.01f) : test_between(&random, 1.01f, 3);
        const espl__blend blend = espl__blend_at(at);
        espl_pose from = some_pose(&random), to = from;
        long double exact[4], is[4];

        turn_by(to.rotation, from.rotation, (double)test_between(&random, 0.5f, 179), &random);
        const espl_pose now = espl__pose_blend(&blend, &from, &to);

        slerp_long(exact, from.rotation, to.rotation, (long double)at);
        widen_long(is, now.rotation, 4);
        for (int k = 0; k < 4; ++k) {
            ck_assert_ldouble_eq_tol(is[k], exact[k], 2e-6L);
        }
    }
}
