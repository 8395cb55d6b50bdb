// SPDX-License-Identifier: MIT
// Random mirrors and cameras: every result is that of brute force over all renderables, in the same floats, for
// every kernel, any workers and any clusters; and in double within a band.
#include "lib/renderables/visible.h"
#include "tests/renderables/cull_model.h"
#include "tests/runner.h"

#include <espalier/renderables.h>

enum { MOST_MEMBERS = 700, MOST_CAMERAS = 5, LISTS = 3, SCENES = 150 };

typedef struct cull_scene {
    made_member members[MOST_MEMBERS];
    uint32_t count;
    espl_camera cameras[MOST_CAMERAS];
    uint32_t camera_count;
    espl_cull_def def;
    espl_lods lods[LISTS];
    uint32_t lod_count;
} cull_scene;

// How the renderables of a scene get their keys, and what may be among them.
typedef struct scene_kind {
    uint32_t key_kind;
    bool is_wild, has_stretch, has_layers, has_always, moves;
} scene_kind;

static scene_kind any_kind(uint64_t *random)
{
    return (scene_kind){.key_kind = test_below(random, 5),
                        .is_wild = test_one_in(random, 4),
                        .has_stretch = test_one_in(random, 3),
                        .has_layers = test_one_in(random, 2),
                        .has_always = test_one_in(random, 4),
                        .moves = test_one_in(random, 2)};
}

static uint32_t any_key(cull_scene *s, const scene_kind *kind, uint32_t i, uint64_t *random)
{
    switch (kind->key_kind) {
    case 0:
        return 7;
    case 1: // runs of one key
        return i / 150;
    case 2:
        return test_one_in(random, 20) ? ESPL_NO_KEY : test_below(random, 40);
    case 3:
        return test_one_in(random, 3) ? UINT32_C(0x7fffffff) - test_below(random, 3)
                                      : test_below(random, 70000);
    default:
        s->lod_count = LISTS;
        return test_one_in(random, 2) ? UINT32_C(0x80000000) | test_below(random, LISTS)
                                      : test_below(random, 9);
    }
}

static void draw_pose(espl_pose *pose, const float about[static 3], uint64_t *random)
{
    const espl_transform t = any_transform(random);

    *pose = espl__pose_of(&t);
    pose->scale *= test_one_in(random, 20) ? 0 : 0.5f;
    for (int k = 0; k < 3; ++k) {
        pose->position[k] = about[k] + 0.05f * pose->position[k];
    }
}

static void draw_member(cull_scene *s, const scene_kind *kind, uint32_t i,
                        const float about[static 3], uint64_t *random)
{
    made_member *const m = &s->members[i];

    *m = (made_member){.entity = {i * 7919 % 100003, 1 + i}, .layers = UINT32_MAX};
    m->value = (espl_renderable){any_key(s, kind, i, random), (uint32_t)test_random(random), 0};
    m->value.flags = kind->has_always && test_one_in(random, 30) ? ESPL_RENDERABLE_ALWAYS : 0;
    if (kind->has_layers && test_one_in(random, 2)) {
        m->layers = test_one_in(random, 3) ? 0 : 1U << test_below(random, 4);
    }
    for (int k = 0; k < 3; ++k) {
        m->local[k] = test_one_in(random, 2) ? 0 : test_between(random, -1, 1);
        m->local[3 + k] = test_one_in(random, 6) ? 0 : test_between(random, 0, 1);
        m->stretch[k] = kind->has_stretch && test_one_in(random, 3) ? any_factor(random) : 1;
    }
    draw_pose(&m->now, about, random);
    m->before = m->now;
    if (kind->moves && i / 64 % 2 != 0) {
        draw_pose(&m->before, about, random);
    }
    if (kind->is_wild && test_one_in(random, 30)) {
        espl_pose *const pose = test_one_in(random, 2) ? &m->now : &m->before;

        pose->position[test_below(random, 3)] = test_one_in(random, 2) ? NAN : 1e30f;
        pose->scale = test_one_in(random, 4) ? 3e38f : pose->scale;
    }
}

// A camera with planes around a point, a few of them through members.
static void draw_camera(cull_scene *s, espl_camera *camera, uint64_t *random)
{
    *camera = (espl_camera){.plane_count = test_below(random, ESPL_PLANE_LIMIT + 1),
                            .layers = test_one_in(random, 3) ? 5 : UINT32_MAX};
    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        const made_member *const m = &s->members[test_below(random, s->count)];
        float *const plane = camera->planes[i];

        test_direction(plane, random);
        plane[3] = test_between(random, 0, 60);
        if (test_one_in(random, 2) && espl__all_finite(m->now.position, 3)) {
            plane[3] = -(plane[0] * m->now.position[0] + plane[1] * m->now.position[1] +
                         plane[2] * m->now.position[2]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        camera->eye[k] = test_between(random, -50, 50);
        camera->origin[k] = test_one_in(random, 2) ? 0 : (double)test_between(random, -1e6f, 1e6f);
    }
    camera->pixels = test_one_in(random, 2) ? 0 : 500;
    camera->least_size = test_one_in(random, 2) ? 0 : test_between(random, 0, 30);
    camera->flags = test_one_in(random, 4) ? ESPL_CAMERA_ORTHOGRAPHIC : 0;
}

static void draw_scene(cull_scene *s, uint64_t *random)
{
    const scene_kind kind = any_kind(random);
    float about[3] = {0};

    memset(s, 0, sizeof *s);
    s->count =
        test_one_in(random, 10) ? 1 + test_below(random, 3) : 1 + test_below(random, MOST_MEMBERS);
    for (uint32_t i = 0; i < s->count; ++i) {
        for (int k = 0; k < 3 && i % 50 == 0; ++k) {
            about[k] = test_between(random, -60, 60);
        }
        draw_member(s, &kind, i, about, random);
    }
    for (uint32_t i = 0; i < LISTS; ++i) {
        s->lods[i] = (espl_lods){.keys = {100 + 10 * i, 3, ESPL_NO_KEY, 70001},
                                 .sizes = {60, 30, 20, (float)i},
                                 .count = 1 + i + i % 2};
    }
    s->camera_count = 1 + test_below(random, MOST_CAMERAS);
    for (uint32_t i = 0; i < s->camera_count; ++i) {
        draw_camera(s, &s->cameras[i], random);
    }
    s->def.flags = test_one_in(random, 3) ? ESPL_CULL_BY_ENTITY : 0;
    if (test_one_in(random, 2)) {
        s->def.flags |= ESPL_CULL_INTERPOLATE;
        s->def.alpha =
            test_one_in(random, 4) ? (float)test_below(random, 2) : test_between(random, 0, 1);
    }
}

static void make_mirror(made_mirror *made, const cull_scene *s, uint64_t *random)
{
    made_mirror_init(made, s->members, s->count, 1 + test_below(random, 128), random);
    made->mirror.lod_count = s->lod_count;
    memcpy(made->lods, s->lods, sizeof s->lods);
}

static void all_agree(const cull_scene *s, const made_mirror *made, espl_visible *visible,
                      const espl_executor *executor)
{
    espl_cull_def def = s->def;

    def.executor = executor;
    ck_ok(espl_cull(visible, &made->mirror, s->cameras, s->camera_count, &def));
    for (uint32_t i = 0; i < s->camera_count; ++i) {
        model_agrees(made, visible, i, &s->cameras[i], &def);
    }
}

TEST(every_kernel_sees_what_brute_force_sees)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);
    static cull_scene s;
    uint64_t random = 1;
    espl_visible *visible[ESPL__KERNELS_LIMIT];

    for (size_t i = 0; i < count; ++i) {
        setenv("ESPALIER_KERNELS", all[i]->name, 1);
        ck_ok(espl_visible_create(NULL, &visible[i]));
    }
    for (int scene = 0; scene < SCENES; ++scene) {
        made_mirror made;

        draw_scene(&s, &random);
        make_mirror(&made, &s, &random);
        for (size_t i = 0; i < count; ++i) {
            all_agree(&s, &made, visible[i], NULL);
        }
        made_mirror_free(&made);
    }
    for (size_t i = 0; i < count; ++i) {
        espl_visible_destroy(visible[i]);
    }
    unsetenv("ESPALIER_KERNELS");
}

TEST(any_workers_and_any_clusters_see_the_same)
{
    static cull_scene s;
    uint64_t random = 2;
    espl_visible *visible = NULL;

    ck_ok(espl_visible_create(NULL, &visible));
    visible->wake_cost = 0;
    for (int scene = 0; scene < SCENES; ++scene) {
        test_executor shuffled = {.manner = TEST_SHUFFLED,
                                  .workers = 2 + test_below(&random, 63),
                                  .random = test_random(&random)};
        const espl_executor executor = test_executor_of(&shuffled);
        made_mirror made;

        draw_scene(&s, &random);
        make_mirror(&made, &s, &random);
        all_agree(&s, &made, visible, &executor);
        made_mirror_free(&made);
    }
    espl_visible_destroy(visible);
}

// Threads of the library, where it has some.
TEST(threads_see_the_same)
{
    static cull_scene s;
    uint64_t random = 4;
    espl_visible *visible = NULL;
    espl_executor executor = {0};
    const espl_status status = espl_executor_create(&(espl_threads_def){.workers = 4}, &executor);

    ck_assert(status == ESPL_OK || status == ESPL_ERR_UNSUPPORTED);
    ck_ok(espl_visible_create(NULL, &visible));
    visible->wake_cost = 0;
    for (int scene = 0; scene < SCENES / 5; ++scene) {
        made_mirror made;

        draw_scene(&s, &random);
        // Of one member each, so that there are several chunks.
        made_mirror_init(&made, s.members, s.count, 1, &random);
        made.mirror.lod_count = s.lod_count;
        memcpy(made.lods, s.lods, sizeof s.lods);
        all_agree(&s, &made, visible, &executor);
        made_mirror_free(&made);
    }
    espl_visible_destroy(visible);
    espl_executor_destroy(&executor);
}

// Compute the box of a pose from its corners, in double.
static void double_box(double center[static 3], double half[static 3], const made_member *m)
{
    const espl_transform t = {
        .rotation = {m->now.rotation[0], m->now.rotation[1], m->now.rotation[2],
                     m->now.rotation[3]},
        .position = {m->now.position[0], m->now.position[1], m->now.position[2]},
        .scale = m->now.scale,
        .stretch = {m->stretch[0], m->stretch[1], m->stretch[2]}};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (int corner = 0; corner < 8; ++corner) {
        double point[3], world[3];

        for (int k = 0; k < 3; ++k) {
            const double away = (double)m->local[3 + k];

            point[k] = (double)m->local[k] + ((corner >> k & 1) != 0 ? away : -away);
        }
        oracle_point(world, &t, point);
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], world[k]);
            high[k] = fmax(high[k], world[k]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        center[k] = (low[k] + high[k]) / 2;
        half[k] = (high[k] - low[k]) / 2;
    }
}

// Return how far the box of a member is inside of the planes of a camera.
static double depth_inside(const espl_camera *camera, const made_member *m)
{
    double center[3], half[3], depth = INFINITY;

    double_box(center, half, m);
    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        double sum = (double)camera->planes[i][3];

        for (int k = 0; k < 3; ++k) {
            const double n = (double)camera->planes[i][k];

            sum += n * center[k] + fabs(n) * half[k];
        }
        depth = fmin(depth, sum);
    }
    return depth;
}

TEST(no_box_is_missing_that_is_inside_by_more_than_rounding)
{
    static cull_scene s;
    uint64_t random = 3;
    espl_visible *visible = NULL;
    size_t inside = 0, outside = 0;

    ck_ok(espl_visible_create(NULL, &visible));
    for (int scene = 0; scene < SCENES; ++scene) {
        const scene_kind kind = {.key_kind = 0, .has_stretch = scene % 2 != 0};
        const float about[3] = {0};
        static espl_entity seen[MOST_MEMBERS];
        const espl_instance_arrays arrays = {.entities = seen};
        made_mirror made;
        size_t groups;

        s.count = MOST_MEMBERS;
        for (uint32_t i = 0; i < s.count; ++i) {
            draw_member(&s, &kind, i, about, &random);
        }
        draw_camera(&s, &s.cameras[0], &random);
        s.cameras[0].layers = UINT32_MAX;
        s.cameras[0].least_size = 0;
        make_mirror(&made, &s, &random);
        ck_ok(espl_cull(visible, &made.mirror, s.cameras, 1, NULL));
        const espl_group *const group = espl_visible_groups(visible, 0, &groups);
        const uint32_t count = groups != 0 ? group->count : 0;

        ck_ok(espl_visible_write(visible, 0, &arrays));
        for (uint32_t i = 0, at = 0; i < s.count; ++i) {
            const double depth = depth_inside(&s.cameras[0], &s.members[i]);
            const bool is_seen = at < count && espl_entity_equal(seen[at], s.members[i].entity);

            at += is_seen;
            ck_assert(depth < 1e-4 || is_seen);
            ck_assert(depth > -1e-4 || !is_seen);
            inside += depth >= 1e-4;
            outside += depth <= -1e-4;
        }
        made_mirror_free(&made);
    }
    ck_assert_uint_gt(inside, 1000);
    ck_assert_uint_gt(outside, 1000);
    espl_visible_destroy(visible);
}
