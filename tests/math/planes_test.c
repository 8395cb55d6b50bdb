// SPDX-License-Identifier: MIT
// Tests of boxes against planes: every kernel against the formula of one box, and that what is decided
// for a cluster is what the test of each member decides.
#include "lib/math/kernels.h"

#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <fenv.h>

enum { PAIRS = 1000000, CLUSTERS = 64, MEMBERS = 4 };

// Clusters of a few members, and planes near one of them.
typedef struct scene {
    _Alignas(64) float around[6][CLUSTERS];
    float members[CLUSTERS][MEMBERS][6];
    espl__planes planes;
    uint32_t count;
} scene;

static float any_spread(uint64_t *random)
{
    return powf(10, test_between(random, -3, 6));
}

static void draw_direction(float out[static 3], uint64_t *random)
{
    if (test_one_in(random, 4)) { // along an axis, of either zero
        out[0] = out[1] = out[2] = test_one_in(random, 2) ? 0 : -0.0f;
        out[test_below(random, 3)] = test_one_in(random, 2) ? 1 : -1;
        return;
    }
    for (int k = 0; k < 3; ++k) {
        out[k] = test_between(random, -1, 1);
    }
}

static void draw_cluster(scene *s, uint32_t i, uint64_t *random)
{
    const float spread = any_spread(random), about = any_spread(random);
    _Alignas(64) espl__box_rows boxes = {{0}};
    const uint64_t members[2] = {(UINT64_C(1) << MEMBERS) - 1, 0};
    float box[6];

    for (uint32_t m = 0; m < MEMBERS; ++m) {
        for (int k = 0; k < 3; ++k) {
            boxes[k][m] = s->members[i][m][k] =
                about * (float)(k - 1) + spread * test_between(random, -1, 1);
            boxes[3 + k][m] = s->members[i][m][3 + k] =
                test_one_in(random, 4) ? 0 : spread * test_between(random, 0, 1);
        }
    }
    espl__box_kernels_scalar.around(box, boxes, members);
    for (int k = 0; k < 6; ++k) {
        s->around[k][i] = box[k];
    }
}

// Return an offset for which a cluster is at the edge of being outside or inside, give or take a few
// margins.
static float offset_near(const scene *s, uint32_t i, const float n[static 3], uint64_t *random)
{
    double d = 0, r = 0, terms = 0;

    for (int k = 0; k < 3; ++k) {
        const double center = (double)s->around[k][i], half = (double)s->around[3 + k][i];

        d += (double)n[k] * center;
        r += fabs((double)n[k]) * half;
        terms += fabs((double)n[k]) * (fabs(center) + half);
    }
    const double edge = test_one_in(random, 2) ? -d - r : -d + r;
    const double margin = (terms + fabs(edge)) * 0x1p-20;

    return (float)(edge + (double)test_between(random, -3, 3) * margin);
}

static void draw_scene(scene *s, uint64_t *random)
{
    float planes[ESPL__PLANE_LIMIT][4];
    const uint32_t count = 1 + test_below(random, ESPL__PLANE_LIMIT);

    s->count = 1 + test_below(random, CLUSTERS);
    for (uint32_t i = 0; i < CLUSTERS; ++i) {
        draw_cluster(s, i, random);
    }
    for (uint32_t p = 0; p < count; ++p) {
        draw_direction(planes[p], random);
        planes[p][3] = offset_near(s, test_below(random, s->count), planes[p], random);
    }
    espl__planes_init(&s->planes, (const float(*)[4])planes, count);
}

// What each kernel lists for clusters [begin, s->count).
static uint32_t meet_alike(espl__met_cluster out[static CLUSTERS], const scene *s, uint32_t begin)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    const float *const rows[6] = {s->around[0], s->around[1], s->around[2],
                                  s->around[3], s->around[4], s->around[5]};
    const uint32_t met = espl__box_kernels_scalar.meet(out, &s->planes, rows, begin, s->count);

    for (size_t n = 0; n < count; ++n) {
        espl__met_cluster list[CLUSTERS];
        const uint32_t found = all[n]->boxes->meet(list, &s->planes, rows, begin, s->count);

        ck_assert_msg(found == met, "%s: %u clusters and not %u", all[n]->name, found, met);
        ck_assert_msg(memcmp(list, out, met * sizeof *list) == 0, "%s: differs", all[n]->name);
    }
    return met;
}

// Count decisions of each kind, so that the test shows that it met them.
typedef struct decisions {
    size_t pairs, outside, inside, cut;
} decisions;

static void members_agree(const scene *s, decisions *d)
{
    espl__met_cluster met[CLUSTERS];
    const uint32_t count = meet_alike(met, s, 0), planes = (1U << s->planes.count) - 1;
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->count; ++i) {
        const bool is_met = at < count && met[at].cluster == i;
        const uint32_t cut = is_met ? met[at].cut : 0;

        at += is_met;
        d->pairs += s->planes.count;
        d->outside += !is_met;
        d->inside += is_met && cut != planes;
        d->cut += is_met && cut != 0;
        for (uint32_t m = 0; m < MEMBERS; ++m) {
            const float *const box = s->members[i][m];

            if (!is_met) {
                ck_assert(!espl__box_is_inside(box, &s->planes, planes));
            } else {
                ck_assert(espl__box_is_inside(box, &s->planes, planes & ~cut));
            }
        }
    }
    ck_assert_uint_eq(at, count);
}

TEST(what_is_decided_for_a_cluster_holds_for_its_members)
{
    static scene s;
    uint64_t random = 1;
    decisions d = {0};

    while (d.pairs < PAIRS) {
        draw_scene(&s, &random);
        members_agree(&s, &d);
    }
    ck_assert_uint_gt(d.outside, PAIRS / 100);
    ck_assert_uint_gt(d.inside, PAIRS / 100);
    ck_assert_uint_gt(d.cut, PAIRS / 100);
}

// One plane and one box near the margin: nothing else decides.
TEST(a_pair_near_the_margin_is_decided_as_its_members_are)
{
    static scene s;
    uint64_t random = 2;
    decisions d = {0};

    for (uint32_t round = 0; round < PAIRS / 4; ++round) {
        float plane[1][4];

        s.count = 1;
        draw_cluster(&s, 0, &random);
        draw_direction(plane[0], &random);
        plane[0][3] = offset_near(&s, 0, plane[0], &random);
        espl__planes_init(&s.planes, (const float(*)[4])plane, 1);
        members_agree(&s, &d);
    }
    ck_assert_uint_gt(d.outside, PAIRS / 40);
    ck_assert_uint_gt(d.inside, PAIRS / 40);
    ck_assert_uint_gt(d.cut, PAIRS / 40);
}

TEST(a_list_begins_and_ends_anywhere)
{
    static scene s;
    uint64_t random = 3;
    espl__met_cluster met[CLUSTERS];

    for (int round = 0; round < 2000; ++round) {
        draw_scene(&s, &random);
        s.count = CLUSTERS;
        for (uint32_t begin = 0; begin < CLUSTERS; begin += ESPL__BOX_PADDING) {
            s.count = begin + test_below(&random, CLUSTERS + 1 - begin);
            (void)meet_alike(met, &s, begin);
        }
    }
}

// --- Members ---

static float wild_float(uint64_t *random)
{
    static const float values[] = {0,       -0.0f, 1e30f,    -1e30f,   1e-40f,
                                   -1e-40f, NAN,   INFINITY, -INFINITY};

    return test_one_in(random, 4) ? values[test_below(random, sizeof values / sizeof *values)]
                                  : test_between(random, -2, 2);
}

TEST(every_kernel_tests_members_as_the_formula_does)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    uint64_t random = 4;

    for (int round = 0; round < 10000; ++round) {
        _Alignas(64) espl__box_rows boxes;
        float raw[ESPL__PLANE_LIMIT][4];
        espl__planes planes;
        const uint64_t wanted[2] = {test_random(&random), test_random(&random)};
        const uint32_t plane_count = 1 + test_below(&random, ESPL__PLANE_LIMIT);
        const uint32_t cut = test_below(&random, 1U << plane_count);

        for (int k = 0; k < 6; ++k) {
            for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
                boxes[k][i] =
                    test_one_in(&random, 4) ? wild_float(&random) : test_between(&random, -2, 2);
            }
        }
        for (uint32_t i = 0; i < plane_count * 4; ++i) {
            raw[i / 4][i % 4] = round % 4 == 0 ? wild_float(&random) : test_between(&random, -2, 2);
        }
        espl__planes_init(&planes, (const float(*)[4])raw, plane_count);
        for (size_t n = 0; n < count; ++n) {
            uint64_t bits[2] = {wanted[0], wanted[1]};

            all[n]->boxes->inside(bits, &planes, cut, boxes);
            for (uint32_t i = 0; i < ESPL__BOXES; ++i) {
                const float box[6] = {boxes[0][i], boxes[1][i], boxes[2][i],
                                      boxes[3][i], boxes[4][i], boxes[5][i]};
                const bool was = (wanted[i / 64] >> i % 64 & 1) != 0;
                const bool is = (bits[i / 64] >> i % 64 & 1) != 0;

                ck_assert_msg(is == (was && espl__box_is_inside(box, &planes, cut)),
                              "%s: member %u", all[n]->name, i);
            }
        }
    }
}

// Boxes that a plane passes through the vertices of are inside: the sum is zero of either sign.
TEST(a_plane_through_a_vertex_touches)
{
    const float box[6] = {1, 2, 3, 1, 2, 3}, point[6] = {0};
    const float touching[4][4] = {{1, 0, 0, 0}, {-1, 0, 0, 0}, {0, -1, 0, 0}, {-0.0f, 0, -1, 0}};
    const float apart[1][4] = {{-1, 0, 0, -0x1p-126f}};
    const float negative_zero[1][4] = {{-0.0f, -0.0f, -0.0f, -0.0f}};
    espl__planes planes;

    espl__planes_init(&planes, touching, 4);
    ck_assert(espl__box_is_inside(box, &planes, 15));
    ck_assert(espl__box_is_inside(point, &planes, 15));
    espl__planes_init(&planes, apart, 1);
    ck_assert(!espl__box_is_inside(point, &planes, 1));
    espl__planes_init(&planes, negative_zero, 1);
    ck_assert(espl__box_is_inside(point, &planes, 1));
}

// Of a cluster whose sums overflow or are no numbers nothing is decided.
TEST(what_overflows_is_left_to_the_members)
{
    static scene s;
    espl__met_cluster met[CLUSTERS];
    const float planes[2][4] = {{1, 0, 0, 1e30f}, {0, 3e38f, 0, 1}};
    const float bad[3][6] = {
        {NAN, 0, 0, 1, 1, 1}, {0, 0, 0, INFINITY, 1, 1}, {1e38f, 3e38f, 0, 1, 3e38f, 1}};

    espl__planes_init(&s.planes, planes, 2);
    s.count = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        for (int k = 0; k < 6; ++k) {
            s.around[k][i] = bad[i][k];
        }
    }
    ck_assert_uint_eq(meet_alike(met, &s, 0), 3);
    ck_assert_uint_eq(met[0].cut & 1, 1);
    ck_assert_uint_eq(met[1].cut & 1, 1);
    ck_assert_uint_eq(met[2].cut & 2, 2);
}

TEST(no_plane_leaves_all_clusters_inside)
{
    static scene s;
    espl__met_cluster met[CLUSTERS];

    espl__planes_init(&s.planes, NULL, 0);
    s.count = 33;
    s.around[0][5] = NAN;
    ck_assert_uint_eq(meet_alike(met, &s, 0), 33);
    for (uint32_t i = 0; i < 33; ++i) {
        ck_assert_uint_eq(met[i].cluster, i);
        ck_assert_uint_eq(met[i].cut, 0);
    }
}

// Memory past the last member, rounded up to ESPL__BOX_PADDING, need not hold numbers: a signalling NaN there raises
// no exception.
TEST(boxes_after_the_last_member_are_not_read)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t kernel_count = espl__kernels_all(all);
    const float plane[1][4] = {{1, 0, 0, 0}};
    const uint32_t signalling = 0x7fa00001;
    _Alignas(64) espl__box_rows boxes;
    espl__planes planes;

    espl__planes_init(&planes, plane, 1);
    for (uint32_t count = 1; count <= ESPL__BOXES; ++count) {
        const uint32_t end =
            (count + ESPL__BOX_PADDING - 1) / ESPL__BOX_PADDING * ESPL__BOX_PADDING;

        memset(boxes, 0, sizeof boxes);
        for (uint32_t i = end; i < ESPL__BOXES; ++i) {
            for (int k = 0; k < 6; ++k) {
                memcpy(&boxes[k][i], &signalling, sizeof signalling);
            }
        }
        for (size_t n = 0; n < kernel_count; ++n) {
            uint64_t bits[2] = {count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX,
                                count <= 64    ? 0
                                : count == 128 ? UINT64_MAX
                                               : (UINT64_C(1) << (count - 64)) - 1};
            const uint64_t low = bits[0], high = bits[1];

            feclearexcept(FE_ALL_EXCEPT);
            all[n]->boxes->inside(bits, &planes, 1, boxes);
            ck_assert_msg(fetestexcept(FE_INVALID) == 0, "%s: %u members", all[n]->name, count);
            ck_assert(bits[0] == low && bits[1] == high);
        }
    }
}
