// SPDX-License-Identifier: MIT
// Cameras of matrices: points inside of the clip space are inside of all planes, and no others.
#include "lib/math/boxes.h"
#include "tests/math/numbers.h"
#include "tests/runner.h"

#include <espalier/renderables.h>

enum { ROUNDS = 300, POINTS = 200 };

// A matrix of 4 columns of 4, in double.
typedef struct mat4 {
    double at[16];
} mat4;

static mat4 multiply(const mat4 *a, const mat4 *b)
{
    mat4 out = {{0}};

    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 4; ++k) {
            for (int j = 0; j < 4; ++j) {
                out.at[4 * i + k] += a->at[4 * j + k] * b->at[4 * i + j];
            }
        }
    }
    return out;
}

// Ways to project. `far` 0: infinite.
typedef struct projection {
    espl_clip clip;
    bool is_reversed, is_orthographic;
    double near, far;
} projection;

// Depth d of a point at -z, as (a * z + b) / w.
static void set_depths(mat4 *m, const projection *p)
{
    const double low = p->clip == ESPL_CLIP_MINUS_ONE_TO_ONE ? -1 : 0;
    const double at_near = p->is_reversed ? 1 : low, at_far = p->is_reversed ? low : 1;

    if (p->is_orthographic) {
        m->at[10] = (at_near - at_far) / (p->far - p->near);
        m->at[14] = at_near + m->at[10] * p->near;
        m->at[15] = 1;
        return;
    }
    m->at[11] = -1;
    if (p->far == 0) {
        m->at[10] = -at_far;
        m->at[14] = p->near * (at_near - at_far);
        return;
    }
    m->at[10] = (at_near * p->near - at_far * p->far) / (p->far - p->near);
    m->at[14] = p->near * (at_near + m->at[10]);
}

static mat4 project(const projection *p, double x, double y)
{
    mat4 m = {{0}};

    m.at[0] = x;
    m.at[5] = y;
    set_depths(&m, p);
    return m;
}

// The inverse of a frame.
static mat4 look_from(const espl_transform *frame)
{
    float columns[16];
    mat4 m;

    espl_transform_to_matrix(frame, ESPL_MATRIX_4X4_INVERSE, columns);
    for (int i = 0; i < 16; ++i) {
        m.at[i] = (double)columns[i];
    }
    return m;
}

static void narrow(float out[static 16], const mat4 *m)
{
    for (int i = 0; i < 16; ++i) {
        out[i] = (float)m->at[i];
    }
}

// Return how far a point is inside of the clip space, in units of w; negative: outside.
static double depth_in_clip(const mat4 *m, const projection *p, const float point[static 3])
{
    double clip[4];

    for (int k = 0; k < 4; ++k) {
        clip[k] = m->at[k] * (double)point[0] + m->at[4 + k] * (double)point[1] +
                  m->at[8 + k] * (double)point[2] + m->at[12 + k];
    }
    const double near = p->clip == ESPL_CLIP_MINUS_ONE_TO_ONE ? clip[3] + clip[2] : clip[2];

    return fmin(fmin(fmin(clip[3] + clip[0], clip[3] - clip[0]),
                     fmin(clip[3] + clip[1], clip[3] - clip[1])),
                fmin(near, clip[3] - clip[2]));
}

static void points_agree(const projection *p, uint64_t *random)
{
    espl_transform frame = any_transform(random);
    const mat4 lens = project(p, p->is_orthographic ? 0.02 : 1.2, p->is_orthographic ? 0.03 : 1.7);
    float given[16];
    espl_camera camera;
    espl__planes planes;
    size_t inside = 0;

    frame.scale = 1;
    frame.stretch[0] = frame.stretch[1] = frame.stretch[2] = 1;
    const mat4 view = look_from(&frame), both = multiply(&lens, &view);

    narrow(given, &both);
    ck_ok(espl_camera_from_matrix(given, p->clip, &camera));
    ck_assert_uint_eq(camera.layers, UINT32_MAX);
    ck_assert_uint_eq(camera.plane_count, p->far == 0 ? 5 : 6);
    espl__planes_init(&planes, (const float(*)[4])camera.planes, camera.plane_count);
    for (uint32_t i = 0; i < camera.plane_count; ++i) {
        const float *const n = camera.planes[i];

        ck_assert_float_eq_tol(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-6f);
    }
    for (int i = 0; i < POINTS; ++i) {
        const float reach = p->far == 0 ? 300 : (float)p->far;
        const float ahead[3] = {test_between(random, -1, 1) * reach,
                                test_between(random, -1, 1) * reach,
                                test_between(random, -1.2f, 0.2f) * reach};
        float point[6] = {0};

        espl_transform_convert(&frame, ESPL_POINT_TO_WORLD, ahead, point);
        const double depth = depth_in_clip(&both, p, point);
        const bool is_inside = espl__box_is_inside(point, &planes, (1U << planes.count) - 1);

        ck_assert(depth < 1e-3 || is_inside);
        ck_assert(depth > -1e-3 || !is_inside);
        inside += is_inside;
    }
    ck_assert_uint_gt(inside, 0);
}

static void all_agree(espl_clip clip, bool is_reversed)
{
    const projection kinds[] = {{clip, is_reversed, false, 0.5, 200},
                                {clip, is_reversed, true, 0.5, 200},
                                {clip, is_reversed, false, 0.5, 0}};
    uint64_t random = 1;

    for (int round = 0; round < ROUNDS; ++round) {
        points_agree(&kinds[round % 3], &random);
    }
}

TEST(planes_of_opengl)
{
    all_agree(ESPL_CLIP_MINUS_ONE_TO_ONE, false);
}

TEST(planes_of_vulkan_and_webgpu)
{
    all_agree(ESPL_CLIP_ZERO_TO_ONE, false);
}

// The far plane of a reversed depth is where depth is 0: of an infinite one it has no normal.
TEST(planes_of_reversed_depth)
{
    all_agree(ESPL_CLIP_ZERO_TO_ONE, true);
}

TEST(a_matrix_without_perspective_sees_a_cube)
{
    const float given[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const float expected[6][4] = {{1, 0, 0, 1},  {-1, 0, 0, 1}, {0, 1, 0, 1},
                                  {0, -1, 0, 1}, {0, 0, 1, 1},  {0, 0, -1, 1}};
    espl_camera camera;

    ck_ok(espl_camera_from_matrix(given, ESPL_CLIP_MINUS_ONE_TO_ONE, &camera));
    ck_assert_uint_eq(camera.plane_count, 6);
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 4; ++k) {
            ck_assert_float_eq(camera.planes[i][k], expected[i][k]);
        }
    }
    ck_ok(espl_camera_from_matrix(given, ESPL_CLIP_ZERO_TO_ONE, &camera));
    ck_assert_float_eq(camera.planes[4][3], 0);
}

// A matrix of zeros has no planes, and one of huge numbers finite ones.
TEST(planes_are_finite)
{
    float given[16] = {0};
    espl_camera camera;

    ck_ok(espl_camera_from_matrix(given, ESPL_CLIP_ZERO_TO_ONE, &camera));
    ck_assert_uint_eq(camera.plane_count, 0);
    for (int i = 0; i < 16; ++i) {
        given[i] = i % 5 == 0 ? 1e-30f : 3e38f;
    }
    ck_ok(espl_camera_from_matrix(given, ESPL_CLIP_ZERO_TO_ONE, &camera));
    for (uint32_t i = 0; i < camera.plane_count; ++i) {
        ck_assert(espl__all_finite(camera.planes[i], 4));
    }
    for (int i = 0; i < 16; ++i) {
        given[i] = i / 4 == 3 ? 3e38f : 1e-38f * (float)(i % 3);
    }
    ck_ok(espl_camera_from_matrix(given, ESPL_CLIP_ZERO_TO_ONE, &camera));
    for (uint32_t i = 0; i < camera.plane_count; ++i) {
        ck_assert(espl__all_finite(camera.planes[i], 4));
    }
}

TEST(a_matrix_that_is_not_finite_is_refused)
{
    espl_camera camera = {.plane_count = 3};

    for (int i = 0; i < 16; ++i) {
        float given[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

        given[i] = i % 2 != 0 ? NAN : INFINITY;
        ck_assert_int_eq(espl_camera_from_matrix(given, ESPL_CLIP_ZERO_TO_ONE, &camera),
                         ESPL_ERR_NOT_FINITE);
        ck_assert_uint_eq(camera.plane_count, 3);
    }
}

TEST(bad_arguments_are_refused)
{
    const float given[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    espl_camera camera = {.plane_count = 3};

    ck_assert_int_eq(espl_camera_from_matrix(NULL, ESPL_CLIP_ZERO_TO_ONE, &camera),
                     ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_camera_from_matrix(given, ESPL_CLIP_COUNT, &camera), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_camera_from_matrix(given, ESPL_CLIP_ZERO_TO_ONE, NULL),
                     ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(camera.plane_count, 3);
}
