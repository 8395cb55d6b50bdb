// SPDX-License-Identifier: MIT
// What cameras see in a world with cells, against each renderable by itself: random writes, edits, recenters and
// rebases, memory that runs out, any kernels and executors. The visible set, positions, the poses of the mirror
// before and sizes are compared bit for bit. ESPL_FACTOR makes the runs so many times as many.
#include "lib/math/blend.h"
#include "lib/renderables/camera_cells.h"
#include "lib/world/world_internal.h"
#include "tests/runner.h"
#include "tests/support.h"

#include <espalier/far.h>
#include <espalier/renderables.h>

#include <math.h>
#include <string.h>

enum { SIZE = 2048, ENTITIES = 300, CAMERAS = 3, KEYS = 3 };

// What is known of an entity.
typedef struct known {
    espl_entity entity; // null: none
    // Of the newest mirror, and of the one before. Cells are those after the last rebase.
    bool has_before, was_shown;
    espl_pose now, before;
    int32_t cell[3], old_cell[3];
    bool has_jumped;
} known;

typedef struct celled {
    uint64_t random;
    known all[ENTITIES];
    uint32_t count;
    espl_renderables *renderables;
    espl_visible *visible;
    espl_component bounds, renderable;
    test_executor executor;
    uint64_t compared, drawn, seed;
    int round;
} celled;

static celled c;
static test_world test;
static espl_world *w; // test.world

// A change may be refused: the mirror is compared with what came of it.
static void take(espl_status status)
{
    ck_assert_int_ne(status, ESPL_ERR_BUSY);
}

// --- The world ---

static void begin_world(uint64_t seed)
{
    memset(&c, 0, sizeof c);
    c.random = c.seed = seed;
    c.executor = (test_executor){.manner = TEST_SHUFFLED, .workers = 3, .random = seed};
    const espl_executor executor = test_executor_of(&c.executor);
    const espl_renderables_def def = {.cell_size = seed % 3 == 0 ? (float)(1 << seed % 9) : 0,
                                      .refile_budget = (uint32_t)(seed % 4)};

    test_world_cells(SIZE);
    test_world_begin(&test, 1, seed % 2 == 0 ? &executor : NULL);
    w = test.world;
    w->job_cost = 64;
    ck_ok(espl_renderables_create(w, &def, &c.renderables));
    ck_ok(espl_visible_create(NULL, &c.visible));
    c.visible->wake_cost = 0;
    c.bounds = espl_component_find(w, "bounds");
    c.renderable = espl_component_find(w, "renderable");
}

static void end_world(void)
{
    test_world_is_valid(w);
    espl_visible_destroy(c.visible);
    espl_renderables_destroy(c.renderables);
    test_world_end(&test);
}

// Draw a cell: a few places, each with a few cells, and the ends of the range.
static void draw_cell(int32_t cell[3])
{
    static const int32_t places[] = {0, 488281, -70000, INT32_MAX - 2, INT32_MIN + 2, 3};
    const int32_t place = places[test_below(&c.random, 6)];

    for (int k = 0; k < 3; ++k) {
        cell[k] = (k == 0 ? place : 0) + (int32_t)test_below(&c.random, 3) - 1;
    }
}

static espl_transform draw_transform(float reach)
{
    espl_transform t =
        test_at(test_between(&c.random, -reach, reach), test_between(&c.random, -reach, reach),
                test_between(&c.random, -reach, reach));
    float length = 0;

    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = test_between(&c.random, -1, 1);
        length += t.rotation[i] * t.rotation[i];
    }
    length = sqrtf(length);
    for (int i = 0; i < 4; ++i) {
        t.rotation[i] = length > 0.1f ? t.rotation[i] / length : i == 3 ? 1 : 0;
    }
    t.scale = test_between(&c.random, 0.5f, 2);
    return t;
}

static known *draw_known(void)
{
    return c.count != 0 ? &c.all[test_below(&c.random, c.count)] : NULL;
}

static void make_one(void)
{
    const known *const above = test_one_in(&c.random, 2) ? draw_known() : NULL;
    const espl_transform t = draw_transform(above != NULL ? 20 : 1500);
    espl_bounds box = {{0, 0, 0}, {0, 0, 0}};
    const espl_renderable value = {.key = test_below(&c.random, KEYS),
                                   .flags =
                                       test_one_in(&c.random, 30) ? ESPL_RENDERABLE_ALWAYS : 0u};
    espl_entity made;
    int32_t cell[3];

    if (c.count == ENTITIES || test_is_worn(c.count, c.count)) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        box.center[k] = test_between(&c.random, -2, 2);
        box.half[k] = test_between(&c.random, 0, 5);
    }
    if (espl_create_node(w, above != NULL ? above->entity : espl_entity_null(), &t, NULL, &made) <
        0) {
        return;
    }
    ck_ok(espl_add_component(w, made, c.bounds, &box, sizeof box));
    ck_ok(espl_add_component(w, made, c.renderable, &value, sizeof value));
    if (above == NULL) {
        draw_cell(cell);
        ck_ok(espl_write_one(w, made, ESPL_WRITE_CELL, cell));
    }
    c.all[c.count++] = (known){.entity = made};
}

// Tell whether an entity is another one, or below it.
static bool is_at_or_below(espl_entity entity, espl_entity top)
{
    while (!espl_entity_is_null(entity) && !espl_entity_equal(entity, top)) {
        entity = espl_get_parent(w, entity);
    }
    return !espl_entity_is_null(entity);
}

// Note that a teleport placed an entity, and all that is below it then.
static void note_jump(const known *one)
{
    for (uint32_t i = 0; i < c.count; ++i) {
        c.all[i].has_jumped = c.all[i].has_jumped || is_at_or_below(c.all[i].entity, one->entity);
    }
}

static void write_one(void)
{
    const known *const one = draw_known();
    const espl_transform t = draw_transform(test_one_in(&c.random, 4) ? 6000 : 1200);
    const bool jumps = test_one_in(&c.random, 4);
    const uint32_t flag = jumps ? ESPL_TELEPORT : 0;
    espl_status status = ESPL_ERR_ARGUMENT;
    int32_t cell[3];
    double place[3];

    if (one == NULL) {
        return;
    }
    draw_cell(cell);
    for (int k = 0; k < 3; ++k) {
        place[k] = (double)cell[k] * SIZE + (double)t.position[k];
    }
    switch (test_below(&c.random, 4)) {
    case 0:
        take(espl_write_one(w, one->entity, ESPL_WRITE_ABSOLUTE_POSITION, place));
        break;
    case 1:
        // A cell is written to a root alone.
        take(espl_write_one(w, one->entity, ESPL_WRITE_CELL, cell));
        break;
    default:
        status = espl_write_one(w, one->entity,
                                (espl_write_kind)(ESPL_WRITE_LOCAL_TRANSFORM | flag), &t);
        break;
    }
    if (jumps && status >= 0) {
        note_jump(one);
    }
}

static void destroy_one(void)
{
    const known *const one = draw_known();

    if (one == NULL || espl_destroy(w, one->entity, ESPL_EXTENT_SUBTREE) < 0) {
        return;
    }
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c.count; ++i) {
        if (espl_is_alive(w, c.all[i].entity)) {
            c.all[kept++] = c.all[i];
        }
    }
    c.count = kept;
}

static void rebase_all(void)
{
    int32_t by[3];

    for (int k = 0; k < 3; ++k) {
        by[k] = (int32_t)test_below(&c.random, 9) - 4;
    }
    if (espl_rebase(w, by, NULL) != ESPL_OK) {
        return;
    }
    for (uint32_t i = 0; i < c.count; ++i) {
        for (int k = 0; k < 3; ++k) {
            // A cell that was left since may be at an end of the integers.
            c.all[i].cell[k] = (int32_t)((uint32_t)c.all[i].cell[k] + (uint32_t)by[k]);
        }
    }
}

static void change_world(void)
{
    const known *const one = draw_known(), *const other = draw_known();
    const espl_keep keeps[] = {ESPL_KEEP_WORLD, ESPL_KEEP_LOCAL, ESPL_SNAP};
    const espl_keep keep = keeps[test_below(&c.random, 3)];
    const espl_attach_options options = {.position = keep, .rotation = keep, .scale = keep};

    switch (test_below(&c.random, 12)) {
    case 0:
        take(espl_recenter(w, test_one_in(&c.random, 2) ? 0.5f : 1, NULL));
        break;
    case 1:
        rebase_all();
        break;
    case 2:
        if (one != NULL) {
            take(espl_attach(w, one->entity, other->entity, &options));
        }
        break;
    case 3:
        if (one != NULL) {
            take(espl_detach(w, one->entity, keep));
        }
        break;
    case 4:
        if (test_one_in(&c.random, 3)) {
            destroy_one();
        }
        break;
    case 5:
    case 6:
    case 7:
        make_one();
        break;
    default:
        write_one();
        break;
    }
}

// --- Updates ---

// Bring a position to another cell, as a reader of two mirrors would.
static void bring(float position[3], const int32_t from[3], const int32_t to[3])
{
    for (int k = 0; k < 3; ++k) {
        const int64_t way = (int64_t)from[k] - to[k];

        if (way != 0) {
            position[k] = (float)((double)position[k] + (double)way * SIZE);
        }
    }
}

static void world_box(const known *one, const espl_pose *pose, float box[6])
{
    espl_bounds value;

    ck_ok(espl_get_component(w, one->entity, c.bounds, &value, sizeof value));
    const float local[6] = {value.center[0], value.center[1], value.center[2],
                            value.half[0],   value.half[1],   value.half[2]};

    espl__box_of_pose(box, pose, NULL, local);
}

// Note what the newest mirror must have.
static void note_mirror(void)
{
    for (uint32_t i = 0; i < c.count; ++i) {
        known *const one = &c.all[i];
        espl_transform world;
        float box[6];

        memcpy(one->old_cell, one->cell, sizeof one->cell);
        one->before = one->now;
        ck_ok(espl_get_world_transform(w, one->entity, &world));
        ck_ok(espl_read_one(w, one->entity, ESPL_READ_CELL, one->cell));
        one->now = espl__pose_of(&world);
        if (!one->has_before || one->has_jumped || !one->was_shown) {
            one->before = one->now;
        } else {
            bring(one->before.position, one->old_cell, one->cell);
        }
        world_box(one, &one->now, box);
        one->was_shown = espl__all_finite(box, 6);
        one->has_before = true;
    }
    for (uint32_t i = 0; i < c.count; ++i) {
        c.all[i].has_jumped = false;
    }
}

static const espl__kernels *draw_kernels(void)
{
    const espl__kernels *all[ESPL__KERNELS_LIMIT];
    const size_t count = espl__kernels_all(all);

    return all[test_below(&c.random, (uint32_t)count)];
}

static void update_vexed(void)
{
    espl_status status = ESPL_ERR_NO_MEMORY;

    w->forest.kernels = draw_kernels();
    for (int i = 0; i < 2 && status == ESPL_ERR_NO_MEMORY; ++i) {
        test_heap_arm(&test.heap, test_one_in(&c.random, 3) ? 1 + test_below(&c.random, 9) : 0,
                      test_one_in(&c.random, 2));
        status = espl_renderables_update(c.renderables, NULL, NULL);
        test_heap_arm(&test.heap, 0, false);
    }
    if (status == ESPL_ERR_NO_MEMORY) {
        status = espl_renderables_update(c.renderables, NULL, NULL);
    }
    ck_assert_int_ge(status, 0);
    note_mirror();
}

// --- Cameras ---

static void way_to(double way[3], const known *one, const espl_camera *camera)
{
    for (int k = 0; k < 3; ++k) {
        way[k] = (double)((int64_t)one->cell[k] - camera->cell[k]) * SIZE;
    }
}

// Let a plane touch the box of a renderable, or nearly so.
static void touch(float plane[4], const espl_camera *camera)
{
    const known *const one = draw_known();
    double way[3], distance = 0, radius = 0;
    float box[6];

    if (one == NULL) {
        return;
    }
    way_to(way, one, camera);
    world_box(one, test_one_in(&c.random, 2) ? &one->now : &one->before, box);
    for (int k = 0; k < 3; ++k) {
        distance += (double)plane[k] * ((double)box[k] + way[k]);
        radius += fabs((double)plane[k]) * (double)box[3 + k];
    }
    plane[3] = (float)(test_one_in(&c.random, 4) ? radius - distance : -radius - distance);
}

// Draw a camera, mostly one near a renderable.
static espl_camera draw_camera(void)
{
    espl_camera camera = {.plane_count = test_below(&c.random, 5), .layers = UINT32_MAX};
    const known *const near = draw_known();
    const float reach = test_one_in(&c.random, 3) ? 4000 : 60;

    draw_cell(camera.cell);
    for (int k = 0; k < 3; ++k) {
        if (near != NULL && !test_one_in(&c.random, 4)) {
            camera.cell[k] = near->cell[k];
            camera.eye[k] = near->now.position[k] + test_between(&c.random, -reach, reach);
        }
        camera.origin[k] = test_one_in(&c.random, 2) ? (double)camera.eye[k] : 0;
    }
    for (uint32_t i = 0; i < camera.plane_count; ++i) {
        const espl_transform t = draw_transform(reach);
        float *const p = camera.planes[i];

        memcpy(p, t.rotation, 3 * sizeof *p);
        p[3] = -((p[0] * camera.eye[0] + p[1] * camera.eye[1]) + p[2] * camera.eye[2]) + reach / 2;
        if (test_one_in(&c.random, 3)) {
            touch(p, &camera);
        }
    }
    camera.pixels = test_one_in(&c.random, 2) ? 500 : 0;
    camera.least_size = test_one_in(&c.random, 2) ? 2 : 0;
    return camera;
}

// What is known to be visible.
typedef struct visible_one {
    const known *one;
    uint32_t key;
    float position[3], previous[3], size;
} visible_one;

static void write_position(float out[3], const float position[3], const double way[3],
                           const espl_camera *camera)
{
    for (int k = 0; k < 3; ++k) {
        const double at = (double)position[k] - camera->origin[k];

        out[k] = (float)(way[k] == 0 ? at : way[k] + at);
    }
}

static float size_from(const float box[6], const double way[3], const espl_camera *camera)
{
    double r = 0, d = 0;

    for (int k = 0; k < 3; ++k) {
        const double away = (double)box[k] - ((double)camera->eye[k] - way[k]);

        r += (double)box[3 + k] * (double)box[3 + k];
        d += away * away;
    }
    r = sqrt(r);
    d = sqrt(d);
    const double size = (double)camera->pixels * 2 * r;

    return (float)(r == 0 ? size : size / fmax(d, r));
}

static bool is_inside(const float box[6], const double way[3], const espl_camera *camera)
{
    bool is_in = true;

    for (uint32_t i = 0; i < camera->plane_count; ++i) {
        const float *const p = camera->planes[i];
        const float offset =
            (float)((double)p[3] +
                    (((double)p[0] * way[0] + (double)p[1] * way[1]) + (double)p[2] * way[2]));
        const float distance = ((p[0] * box[0] + p[1] * box[1]) + p[2] * box[2]) + offset;
        const float radius = (fabsf(p[0]) * box[3] + fabsf(p[1]) * box[4]) + fabsf(p[2]) * box[5];

        is_in = is_in && distance + radius >= 0;
    }
    return is_in;
}

static bool is_visible(const known *one, const espl_camera *camera, const espl_cull_def *def,
                       visible_one *out)
{
    const bool is_between = (def->flags & ESPL_CULL_INTERPOLATE) != 0;
    const espl__blend blend = espl__blend_at(def->alpha);
    const espl_pose pose =
        is_between ? espl__pose_blend(&blend, &one->before, &one->now) : one->now;
    espl_renderable value;
    float box[6], ends[2][6];
    double way[3];

    ck_ok(espl_get_component(w, one->entity, c.renderable, &value, sizeof value));
    world_box(one, &pose, box);
    world_box(one, &one->before, ends[0]);
    world_box(one, &one->now, ends[1]);
    way_to(way, one, camera);
    *out = (visible_one){.one = one, .key = value.key, .size = size_from(box, way, camera)};
    write_position(out->position, pose.position, way, camera);
    write_position(out->previous, one->before.position, way, camera);
    if (!espl__all_finite(ends[1], 6) ||
        (is_between && def->alpha != 1 && !espl__all_finite(ends[0], 6))) {
        return false;
    }
    return (value.flags & ESPL_RENDERABLE_ALWAYS) != 0 ||
           (is_inside(box, way, camera) &&
            (camera->pixels == 0 || out->size >= camera->least_size));
}

static void compare_one(const visible_one *wanted, size_t i, const espl_pose *poses,
                        const espl_pose *previous, const float *sizes, const int32_t (*cells)[3])
{
    ck_assert_msg(memcmp(poses[i].position, wanted->position, sizeof wanted->position) == 0,
                  "seed %llu round %d entity %u: %.9g %.9g %.9g, wanted %.9g %.9g %.9g, jumped %d",
                  (unsigned long long)c.seed, c.round, wanted->one->entity.index,
                  (double)poses[i].position[0], (double)poses[i].position[1],
                  (double)poses[i].position[2], (double)wanted->position[0],
                  (double)wanted->position[1], (double)wanted->position[2],
                  wanted->one->has_before);
    ck_assert_mem_eq(previous[i].position, wanted->previous, sizeof wanted->previous);
    ck_assert_mem_eq(&sizes[i], &wanted->size, sizeof wanted->size);
    ck_assert_mem_eq(cells[i], wanted->one->cell, sizeof wanted->one->cell);
}

// Compare what a camera sees with what is known, which is in the order of keys and indices.
static void compare_sight(size_t number, const espl_camera *camera, const espl_cull_def *def)
{
    static espl_pose poses[ENTITIES], previous[ENTITIES];
    static espl_entity entities[ENTITIES];
    static float sizes[ENTITIES];
    static int32_t cells[ENTITIES][3];
    const espl_instance_arrays arrays = {.matrices = poses,
                                         .form = ESPL_INSTANCE_POSE,
                                         .previous = previous,
                                         .entities = entities,
                                         .sizes = sizes,
                                         .cells = cells};
    size_t groups = 0, count = 0, found = 0;
    const espl_group *const all = espl_visible_groups(c.visible, number, &groups);

    for (size_t i = 0; i < groups; ++i) {
        count += all[i].count;
    }
    ck_assert_uint_le(count, c.count);
    ck_ok(espl_visible_write(c.visible, number, &arrays));
    for (uint32_t i = 0; i < c.count; ++i) {
        visible_one wanted;
        size_t at = 0;

        if (!is_visible(&c.all[i], camera, def, &wanted)) {
            continue;
        }
        while (at < count && !espl_entity_equal(entities[at], c.all[i].entity)) {
            at += 1;
        }
        ck_assert_msg(at < count, "%u.%u is visible", c.all[i].entity.index,
                      c.all[i].entity.generation);
        compare_one(&wanted, at, poses, previous, sizes, (const int32_t(*)[3])cells);
        found += 1;
    }
    ck_assert_uint_eq(found, count);
    c.compared += c.count;
    c.drawn += count;
}

static void compare_cameras(void)
{
    const float alphas[] = {0, 1, 0.3f, 0.75f};
    const espl_executor executor = test_executor_of(&c.executor);
    const espl_cull_def def = {.alpha = alphas[test_below(&c.random, 4)],
                               .flags = ESPL_CULL_BY_ENTITY |
                                        (test_one_in(&c.random, 4) ? 0u : ESPL_CULL_INTERPOLATE),
                               .executor = test_one_in(&c.random, 2) ? &executor : NULL};
    espl_camera cameras[CAMERAS];

    for (int i = 0; i < CAMERAS; ++i) {
        cameras[i] = draw_camera();
    }
    c.visible->kernels = draw_kernels();
    ck_ok(espl_cull(c.visible, espl_renderables_acquire(c.renderables), cameras, CAMERAS, &def));
    for (size_t i = 0; i < CAMERAS; ++i) {
        compare_sight(i, &cameras[i], &def);
    }
}

TEST_LOOP(cameras_see_what_formulas_say, 0, 6)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t state = 40 + (uint64_t)_i, compared = 0, drawn = 0;
    const size_t runs = chosen != 0 ? 1 : 4 * test_factor();

    for (size_t run = 0; run < runs; ++run) {
        begin_world(chosen != 0 ? chosen : test_random(&state));
        for (uint32_t i = test_below(&c.random, ENTITIES); i != 0; --i) {
            make_one();
        }
        for (int round = 0; round < 60; ++round) {
            for (uint32_t i = test_below(&c.random, 10); i != 0; --i) {
                change_world();
            }
            c.round = round;
            update_vexed();
            compare_cameras();
            if (round % 10 == 0) {
                test_world_is_valid(w);
            }
        }
        compared += c.compared;
        drawn += c.drawn;
        end_world();
    }
    test_tell_figure(compared, "renderables compared with formulas");
    test_tell_figure(drawn, "of them visible");
}
