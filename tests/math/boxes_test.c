// SPDX-License-Identifier: MIT
// World boxes: every kernel against the formula of one box, the formula against the matrix of the
// transform and against corners in double, boxes around boxes, and how far boxes reach between two
// poses.
#include "lib/math/kernels.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

enum { ROUNDS = 400 };

// The poses of a cluster, and what their boxes follow from.
typedef struct members {
    uint32_t count;
    espl_pose poses[ESPL__BOXES];
    float stretches[ESPL__BOXES][3];
    _Alignas(64) espl__box_rows local;
} members;

static float any_size(uint64_t *random)
{
    return test_one_in(random, 8) ? 0 : test_between(random, 0, 3);
}

static void draw_members(members *m, uint64_t *random, bool is_wild)
{
    m->count = 1 + test_below(random, ESPL__BOXES);
    for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
        const espl_transform t = any_transform(random);

        m->poses[i] = espl__pose_of(&t);
        memcpy(m->stretches[i], t.stretch, sizeof t.stretch);
        for (int k = 0; k < 3; ++k) {
            m->local[k][i] = test_one_in(random, 3) ? 0 : test_between(random, -2, 2);
            m->local[3 + k][i] = any_size(random);
        }
        if (is_wild && test_one_in(random, 4)) {
            m->poses[i].position[test_below(random, 3)] = any_finite(random);
            m->poses[i].scale = any_finite(random);
            m->local[test_below(random, 3)][i] = any_finite(random);
            m->local[3 + test_below(random, 3)][i] = fabsf(any_finite(random));
        }
        if (is_wild && test_one_in(random, 20)) {
            m->local[test_below(random, 6)][i] = test_one_in(random, 2) ? NAN : INFINITY;
        }
    }
}

static void copy_row(float out[static 6], const espl__box_rows boxes, uint32_t i)
{
    for (int k = 0; k < 6; ++k) {
        out[k] = boxes[k][i];
    }
}

static bool is_same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void are_same_boxes(const float a[static 6], const float b[static 6], const char *kernels)
{
    for (int k = 0; k < 6; ++k) {
        ck_assert_msg(is_same_float(a[k], b[k]), "%s: number %d is %a and not %a", kernels, k,
                      (double)a[k], (double)b[k]);
    }
}

static void every_kernel_makes_the_boxes(const members *m, bool has_stretch)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);

    for (size_t n = 0; n < count; ++n) {
        _Alignas(64) espl__box_rows boxes;
        uint64_t finite[2] = {7, 7};

        all[n]->boxes->of_poses(boxes, finite, m->poses, m->local,
                                has_stretch ? m->stretches : NULL, m->count);
        for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
            float local[6], expected[6], box[6];
            const bool is_finite = (finite[i / 64] >> i % 64 & 1) != 0;

            if (i >= m->count) {
                ck_assert(!is_finite);
                continue;
            }
            copy_row(local, m->local, i);
            copy_row(box, boxes, i);
            espl__box_of_pose(expected, &m->poses[i], has_stretch ? m->stretches[i] : NULL, local);
            are_same_boxes(box, expected, all[n]->name);
            ck_assert_msg(is_finite == espl__all_finite(expected, 6), "%s: finite", all[n]->name);
        }
    }
}

TEST(every_kernel_makes_the_boxes_of_the_formula)
{
    static members m;
    uint64_t random = 1;

    for (int round = 0; round < ROUNDS; ++round) {
        draw_members(&m, &random, round % 2 != 0);
        every_kernel_makes_the_boxes(&m, round % 3 == 0);
    }
}

// A box that is not finite is found although the numbers of its pose are.
TEST(an_overflow_is_not_finite)
{
    static members m;
    uint64_t random = 2;

    draw_members(&m, &random, false);
    m.count = 128;
    m.poses[77].scale = 3e38f;
    m.local[3][77] = m.local[4][77] = m.local[5][77] = 100;
    every_kernel_makes_the_boxes(&m, false);
}

TEST(a_box_is_that_of_the_matrix_of_the_transform)
{
    uint64_t random = 3;

    for (int round = 0; round < 100 * ROUNDS; ++round) {
        const espl_transform t = any_transform(&random);
        const espl_pose pose = espl__pose_of(&t);
        float rows[12], box[6];
        const float local[6] = {test_between(&random, -2, 2),
                                test_between(&random, -2, 2),
                                0,
                                any_size(&random),
                                any_size(&random),
                                1};

        espl_transform_to_matrix(&t, ESPL_MATRIX_3X4, rows);
        espl__box_of_pose(box, &pose, t.stretch, local);
        for (int k = 0; k < 3; ++k) {
            const float *const e = rows + 4 * k;
            const float center = e[3] + ((e[0] * local[0] + e[1] * local[1]) + e[2] * local[2]);
            const float half =
                (fabsf(e[0]) * local[3] + fabsf(e[1]) * local[4]) + fabsf(e[2]) * local[5];

            ck_assert_float_eq(box[k], center);
            ck_assert_float_eq(box[3 + k], half);
        }
    }
}

TEST(a_box_touches_its_outermost_corners)
{
    uint64_t random = 4;

    for (int round = 0; round < 10 * ROUNDS; ++round) {
        const espl_transform t = any_transform(&random);
        const espl_pose pose = espl__pose_of(&t);
        const float local[6] = {test_between(&random, -2, 2),
                                1,
                                test_between(&random, -2, 2),
                                any_size(&random),
                                any_size(&random),
                                any_size(&random)};
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        float box[6];

        for (int corner = 0; corner < 8; ++corner) {
            double point[3], world[3];

            for (int k = 0; k < 3; ++k) {
                const double half = (double)local[3 + k];

                point[k] = (double)local[k] + ((corner >> k & 1) != 0 ? half : -half);
            }
            oracle_point(world, &t, point);
            for (int k = 0; k < 3; ++k) {
                low[k] = fmin(low[k], world[k]);
                high[k] = fmax(high[k], world[k]);
            }
        }
        espl__box_of_pose(box, &pose, t.stretch, local);
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_eq_tol((double)box[k] - (double)box[3 + k], low[k], 2e-4);
            ck_assert_double_eq_tol((double)box[k] + (double)box[3 + k], high[k], 2e-4);
        }
    }
}

// --- Boxes around boxes ---

static void draw_boxes(espl__box_rows boxes, uint64_t *random)
{
    const float spread = powf(10, test_between(random, -6, 9));
    const float about = test_one_in(random, 2) ? 0 : test_between(random, -1, 1) * 1e6f;

    for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
        for (int k = 0; k < 3; ++k) {
            boxes[k][i] =
                test_one_in(random, 9) ? -0.0f : about + spread * test_between(random, -1, 1);
            boxes[3 + k][i] = test_one_in(random, 4) ? 0 : spread * test_between(random, 0, 0.5f);
        }
    }
}

static void draw_bits(uint64_t bits[static 2], uint64_t *random)
{
    for (int i = 0; i < 2; ++i) {
        bits[i] = test_random(random);
        bits[i] =
            test_one_in(random, 3) ? bits[i] & test_random(random) & test_random(random) : bits[i];
        bits[i] = test_one_in(random, 5) ? 0 : bits[i];
    }
}

static void contains_members(const float around[static 6], const espl__box_rows boxes,
                             const uint64_t bits[static 2])
{
    for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
        for (int k = 0; k < 3 && (bits[i / 64] >> i % 64 & 1) != 0; ++k) {
            const double center = (double)boxes[k][i], half = (double)boxes[3 + k][i];

            ck_assert_double_ge(center - half, (double)around[k] - (double)around[3 + k]);
            ck_assert_double_le(center + half, (double)around[k] + (double)around[3 + k]);
        }
    }
}

TEST(the_box_of_a_cluster_contains_its_members)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 5;

    for (int round = 0; round < 10 * ROUNDS; ++round) {
        _Alignas(64) espl__box_rows boxes;
        uint64_t bits[2];
        float first[6];

        draw_boxes(boxes, &random);
        draw_bits(bits, &random);
        espl__box_kernels_scalar.around(first, boxes, bits);
        contains_members(first, boxes, bits);
        ck_assert((bits[0] | bits[1]) != 0 || first[3] < 0);
        for (size_t n = 0; n < count; ++n) {
            float box[6];

            all[n]->boxes->around(box, boxes, bits);
            ck_assert_msg(memcmp(box, first, sizeof box) == 0, "%s: differs", all[n]->name);
        }
    }
}

// --- Between two poses ---

// Another pose near or far, with a rotation that is a little off unit length now and then.
static espl_pose later_pose(const espl_pose *pose, uint64_t *random)
{
    const espl_transform t = any_transform(random);
    espl_pose later = *pose;

    if (!test_one_in(random, 4)) {
        memcpy(later.rotation, t.rotation, sizeof later.rotation);
    }
    if (!test_one_in(random, 4)) {
        memcpy(later.position, t.position, sizeof later.position);
    }
    if (test_one_in(random, 3)) {
        later.scale = t.scale;
    }
    for (int k = 0; k < 4 && test_one_in(random, 5); ++k) {
        later.rotation[k] *= 1.00002f;
    }
    return later;
}

static void is_swept_over(const float swept[static 6], const members *m, const espl_pose *now,
                          float at)
{
    const espl__blend blend = espl__blend_at(at);

    for (uint32_t i = 0; i < m->count; ++i) {
        const espl_pose pose = espl__pose_blend(&blend, &m->poses[i], &now[i]);
        float local[6], box[6];

        copy_row(local, m->local, i);
        espl__box_of_pose(box, &pose, m->stretches[i], local);
        for (int k = 0; k < 3; ++k) {
            const double center = (double)box[k], half = (double)box[3 + k];

            ck_assert_double_ge(center - half, (double)swept[k] - (double)swept[3 + k]);
            ck_assert_double_le(center + half, (double)swept[k] + (double)swept[3 + k]);
        }
    }
}

TEST(a_swept_box_contains_members_at_all_times)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    static members m;
    uint64_t random = 6;

    for (int round = 0; round < 4 * ROUNDS; ++round) {
        static espl_pose now[ESPL__BOXES];
        _Alignas(64) espl__box_rows before_rows, now_rows;
        uint64_t finite[2];
        float before_box[6], now_box[6], swept[6];

        draw_members(&m, &random, false);
        m.count = 1 + m.count % 3;
        for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
            now[i] = later_pose(&m.poses[i], &random);
        }
        espl__box_kernels_scalar.of_poses(before_rows, finite, m.poses, m.local, m.stretches, 128);
        espl__box_kernels_scalar.of_poses(now_rows, finite, now, m.local, m.stretches, 128);
        finite[0] = (UINT64_C(1) << m.count) - 1;
        finite[1] = 0;
        espl__box_kernels_scalar.around(before_box, before_rows, finite);
        espl__box_kernels_scalar.around(now_box, now_rows, finite);
        const float reach =
            espl__box_kernels_scalar.reach(m.poses, now, before_rows, now_rows, finite);

        for (size_t n = 0; n < count; ++n) {
            const float same = all[n]->boxes->reach(m.poses, now, before_rows, now_rows, finite);

            ck_assert_msg(is_same_float(same, reach), "%s: reach", all[n]->name);
        }
        espl__boxes_swept(swept, before_box, now_box, reach);
        for (int i = 0; i < 20; ++i) {
            is_swept_over(swept, &m, now, test_between(&random, 0, 1));
        }
        is_swept_over(swept, &m, now, 0);
        is_swept_over(swept, &m, now, 1);
    }
}

// The box of a turning rod is largest half way, outside of both ends.
TEST(a_turn_reaches_outside_of_both_ends)
{
    static members m;
    static espl_pose now[ESPL__BOXES];
    _Alignas(64) espl__box_rows before_rows, now_rows;
    uint64_t members_bits[2] = {1, 0}, finite[2];
    const float root = sqrtf(0.5f);

    m.poses[0] = now[0] = espl__pose_identity();
    now[0].rotation[2] = now[0].rotation[3] = root;
    m.local[3][0] = m.local[4][0] = 1;
    espl__box_kernels_scalar.of_poses(before_rows, finite, m.poses, m.local, NULL, 1);
    espl__box_kernels_scalar.of_poses(now_rows, finite, now, m.local, NULL, 1);
    const float reach =
        espl__box_kernels_scalar.reach(m.poses, now, before_rows, now_rows, members_bits);

    ck_assert_float_ge(reach, sqrtf(2) - 1);
    ck_assert_float_le(reach, 1);
    now[0].position[1] = NAN;
    ck_assert(
        isnan(espl__box_kernels_scalar.reach(m.poses, now, before_rows, now_rows, members_bits)));
}

TEST(a_swept_box_that_is_not_finite_is_no_number)
{
    const float box[6] = {0, 0, 0, 1, 1, 1}, bad[6] = {0, NAN, 0, 1, 1, 1};
    float swept[6];

    espl__boxes_swept(swept, box, box, NAN);
    ck_assert(isnan(swept[0]) && isnan(swept[5]));
    espl__boxes_swept(swept, bad, box, 0);
    ck_assert(isnan(swept[0]) && isnan(swept[5]));
    espl__boxes_swept(swept, box, bad, 0);
    ck_assert(isnan(swept[0]) && isnan(swept[5]));
    espl__boxes_swept(swept, box, box, 0);
    ck_assert_float_ge(swept[3], 1);
    ck_assert_float_le(swept[3], 1.00001f);
}

// --- Unions ---

static void get_union(float out[static 6], const float (*boxes)[6], size_t count, size_t first)
{
    espl__box_union all;

    espl__box_union_clear(&all);
    for (size_t i = 0; i < count; ++i) {
        espl__box_union_add(&all, boxes[(first + i) % count]);
    }
    espl__box_union_get(out, &all);
}

TEST(a_union_contains_its_boxes_in_any_order)
{
    uint64_t random = 44;

    for (int round = 0; round < 20000; ++round) {
        const size_t count = 1 + test_below(&random, 5);
        const bool is_wild = test_one_in(&random, 4);
        float boxes[5][6], out[6], other[6];

        for (size_t i = 0; i < count; ++i) {
            for (int k = 0; k < 3; ++k) {
                boxes[i][k] = is_wild ? any_finite(&random) : test_between(&random, -1, 1) + 1e6f;
                boxes[i][3 + k] = is_wild ? fabsf(any_finite(&random)) : any_size(&random) / 100;
            }
        }
        get_union(out, (const float(*)[6])boxes, count, 0);
        get_union(other, (const float(*)[6])boxes, count, 1);
        ck_assert(count == 1 || memcmp(out, other, sizeof out) == 0);
        for (size_t i = 0; i < count; ++i) {
            for (int k = 0; k < 3; ++k) {
                const double low = (double)boxes[i][k] - (double)boxes[i][3 + k];
                const double high = (double)boxes[i][k] + (double)boxes[i][3 + k];

                // What doubles are rounded by where a center is far above a half.
                const double slack = (fabs((double)out[k]) + (double)out[3 + k]) * 0x1p-50;

                ck_assert(out[3 + k] == FLT_MAX ||
                          ((double)out[k] - (double)out[3 + k] <= low + slack &&
                           (double)out[k] + (double)out[3 + k] >= high - slack));
            }
        }
    }
}

TEST(a_union_grows_by_no_more_than_its_center_is_rounded)
{
    const float far[2][6] = {{1.2e6f, 0, -0.0f, 0.01f, 1, 0}, {1.2e6f + 0.125f, 0, 0, 0.01f, 1, 0}};
    float out[6];

    get_union(out, far, 1, 0);
    ck_assert_mem_eq(out, far[0], sizeof out);
    get_union(out, far, 2, 0);
    ck_assert_float_le(out[3], 0.0725f + 0.0625f + 1e-6f);
    ck_assert(out[1] == 0 && out[4] == 1);
    ck_assert(out[2] == 0 && !signbit(out[2]) && out[5] == 0);
    get_union(out, far, 0, 0);
    ck_assert_float_lt(out[3], 0);
}
