// SPDX-License-Identifier: MIT
// Renderables in a world with cells: what cameras see is compared with formulas for each renderable by itself,
// and what is drawn between two updates makes no step that is larger than the steady one, wherever cells change.
#include "tests/one_world.h"

#include <espalier/far.h>
#include <espalier/history.h>
#include <espalier/renderables.h>

#include <math.h>
#include <string.h>

enum { SIZE = 2048, DRAWN_LIMIT = 2048 };

static espl_renderables *renderables;
static espl_visible *visible;
static espl_component bounds, renderable;
static espl_entity seen[DRAWN_LIMIT];
static espl_pose poses[DRAWN_LIMIT], previous[DRAWN_LIMIT]; // of `seen`
static float sizes[DRAWN_LIMIT];
static int32_t cells[DRAWN_LIMIT][3];

static void begin_drawn(void)
{
    ck_ok(espl_renderables_create(w, NULL, &renderables));
    ck_ok(espl_visible_create(NULL, &visible));
    bounds = espl_component_find(w, "bounds");
    renderable = espl_component_find(w, "renderable");
}

static void set_up_cells(void)
{
    test_world_cells(SIZE);
    set_up();
    begin_drawn();
}

static void tear_down_cells(void)
{
    test_world_is_valid(w);
    espl_visible_destroy(visible);
    espl_renderables_destroy(renderables);
    tear_down();
}

FIXTURE(set_up_cells, tear_down_cells);

// --- Helpers ---

static void set_cell(espl_entity entity, int32_t x, int32_t y, int32_t z)
{
    ck_ok(espl_write_one(w, entity, ESPL_WRITE_CELL, (int32_t[3]){x, y, z}));
}

static void dress(espl_entity entity, uint32_t flags)
{
    const espl_bounds box = {.half = {1, 1, 1}};
    const espl_renderable value = {.key = 1, .flags = flags};

    ck_ok(espl_add_component(w, entity, bounds, &box, sizeof box));
    ck_ok(espl_add_component(w, entity, renderable, &value, sizeof value));
}

// Make a renderable, a cube with edges of 2.
static espl_entity make_drawn(espl_entity parent, float x, float y)
{
    const espl_transform at = test_at(x, y, 0);
    espl_entity made;

    ck_ok(espl_create_node(w, parent, &at, NULL, &made));
    dress(made, 0);
    return made;
}

static espl_entity make_in(int32_t x, int32_t y, int32_t z, float position)
{
    const espl_entity made = make_drawn(espl_entity_null(), position, 0);

    set_cell(made, x, y, z);
    return made;
}

static espl_renderables_report update(void)
{
    espl_renderables_report report;

    ck_ok(espl_renderables_update(renderables, NULL, &report));
    return report;
}

static size_t count_all(size_t camera)
{
    size_t groups = 0, count = 0;
    const espl_group *const all = espl_visible_groups(visible, camera, &groups);

    for (size_t i = 0; i < groups; ++i) {
        count += all[i].count;
    }
    ck_assert_uint_le(count, DRAWN_LIMIT);
    return count;
}

static void write_all(size_t camera)
{
    const espl_instance_arrays arrays = {.matrices = poses,
                                         .form = ESPL_INSTANCE_POSE,
                                         .previous = previous,
                                         .entities = seen,
                                         .sizes = sizes,
                                         .cells = cells};

    ck_ok(espl_visible_write(visible, camera, &arrays));
}

// Count what a camera sees, and write it.
static size_t look(const espl_camera *camera, const espl_cull_def *def)
{
    ck_ok(espl_cull(visible, espl_renderables_acquire(renderables), camera, 1, def));
    const size_t count = count_all(0);

    write_all(0);
    return count;
}

// A camera in a cell that sees 100 m of x to both sides.
static espl_camera camera_in(int32_t x, int32_t y, int32_t z)
{
    return (espl_camera){.planes = {{1, 0, 0, 100}, {-1, 0, 0, 100}},
                         .plane_count = 2,
                         .layers = 1,
                         .cell = {x, y, z}};
}

static void demand_cell(const int32_t cell[3], int32_t x, int32_t y, int32_t z)
{
    ck_assert_int_eq(cell[0], x);
    ck_assert_int_eq(cell[1], y);
    ck_assert_int_eq(cell[2], z);
}

// --- Places ---

TEST(what_is_near_a_camera_at_1e9_m_is_seen_where_it_is)
{
    const int32_t far = 488281; // 10^9 m
    const espl_entity near = make_in(far, -far, 0, 2.7001953125f);

    make_in(far, -far, 1, 2.75f);
    make_in(far + 1, -far, 0, 2.75f);
    make_in(0, 0, 0, 2.75f);
    update();
    espl_camera camera = camera_in(far, -far, 0);

    // Of the cell above, too: the planes do not look at z.
    ck_assert_uint_eq(look(&camera, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 2);
    ck_assert(espl_entity_equal(seen[0], near));
    ck_assert_float_eq(poses[0].position[0], 2.7001953125f);
    demand_cell(cells[0], far, -far, 0);
    ck_assert_float_eq(poses[1].position[2], SIZE);
    camera.origin[0] = 2.5;
    ck_assert_uint_eq(look(&camera, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 2);
    ck_assert_float_eq(poses[0].position[0], 0.2001953125f);
}

TEST(a_camera_sees_across_the_border_of_its_cell)
{
    make_in(1, 0, 0, -1020);
    make_in(0, 0, 0, 1020);
    update();
    espl_camera camera = camera_in(0, 0, 0);

    camera.planes[0][3] = -1000;
    camera.planes[1][3] = 1030;
    ck_assert_uint_eq(look(&camera, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 2);
    ck_assert_float_eq(poses[0].position[0], SIZE - 1020);
    ck_assert_float_eq(poses[1].position[0], 1020);
    // The same from the other cell.
    camera.cell[0] = 1;
    camera.planes[0][3] = -1000 + SIZE;
    camera.planes[1][3] = 1030 - SIZE;
    ck_assert_uint_eq(look(&camera, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 2);
    ck_assert_float_eq(poses[1].position[0], 1020 - SIZE);
}

TEST(cells_reach_to_the_ends_of_their_range)
{
    const int32_t ends[] = {INT32_MIN, INT32_MAX, 0};

    for (int i = 0; i < 3; ++i) {
        make_in(ends[i], ends[(i + 1) % 3], 0, 5);
    }
    update();
    for (int i = 0; i < 3; ++i) {
        const espl_camera camera = camera_in(ends[i], ends[(i + 1) % 3], 0);

        ck_assert_uint_eq(look(&camera, NULL), 1);
        ck_assert_float_eq(poses[0].position[0], 5);
        demand_cell(cells[0], ends[i], ends[(i + 1) % 3], 0);
    }
    const espl_camera all = {.layers = 1, .cell = {INT32_MAX, 0, 0}};

    ck_assert_uint_eq(look(&all, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 3);
    ck_assert_float_eq(poses[0].position[0], (float)(-4294967295.0 * SIZE + 5));
}

TEST(a_camera_far_from_all_cells_sees_nothing)
{
    make_in(0, 0, 0, 5);
    make_in(7, 0, 0, 5);
    update();
    for (int32_t x = 1; x > 0 && x < INT32_MAX / 7; x *= 7) {
        const espl_camera camera = camera_in(x + 1, 3, 0);

        ck_assert_uint_eq(look(&camera, NULL), 0);
    }
}

TEST(sizes_are_those_seen_from_the_cell_of_the_camera)
{
    make_in(1000, 0, 0, 10);
    update();
    espl_camera camera = {.layers = 1, .pixels = 100, .eye = {-10, 0, 0}, .cell = {1000, 0, 0}};

    ck_assert_uint_eq(look(&camera, NULL), 1);
    const float near = sizes[0];

    camera.cell[0] = 999;
    ck_assert_uint_eq(look(&camera, NULL), 1);
    ck_assert_float_eq_tol(sizes[0] * (SIZE + 20) / 20, near, near * 1e-6f);
    camera.least_size = near * 0.99f;
    ck_assert_uint_eq(look(&camera, NULL), 0);
    camera.cell[0] = 1000;
    ck_assert_uint_eq(look(&camera, NULL), 1);
}

TEST(a_world_with_a_tree_in_each_cell_has_full_clusters)
{
    enum { TREES = 900 };

    if (test_lacks_room(TREES, "full clusters")) {
        return;
    }
    for (int32_t i = 0; i < TREES; ++i) {
        make_in(i * 11, 0, i, 0);
    }
    const espl_renderables_report report = update();

    ck_assert_uint_le(report.clusters, TREES / 96);
    for (int32_t i = 0; i < TREES; i += 37) {
        const espl_camera camera = camera_in(i * 11, 0, 0);

        ck_assert_uint_eq(look(&camera, NULL), 1);
        demand_cell(cells[0], i * 11, 0, i);
    }
}

TEST(a_union_and_what_is_always_visible_are_seen_across_cells)
{
    const espl_entity hull = make_in(40, 0, 0, 0);
    const espl_renderable all = {.key = 1, .flags = ESPL_RENDERABLE_UNION};
    const espl_renderable always = {.key = 1, .flags = ESPL_RENDERABLE_ALWAYS};

    make_drawn(hull, 3000, 0);
    const espl_entity sky = make_in(-40, 0, 0, 0);

    ck_ok(espl_set_component(w, hull, renderable, &all, sizeof all));
    ck_ok(espl_set_component(w, sky, renderable, &always, sizeof always));
    update();
    espl_camera camera = camera_in(41, 0, 0);

    // The mast is 952 m into the next cell; the hull reaches there.
    ck_assert_uint_eq(look(&camera, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 2);
    ck_assert(espl_entity_equal(seen[0], hull) && espl_entity_equal(seen[1], sky));
    camera.planes[1][3] = 1000;
    ck_assert_uint_eq(look(&camera, NULL), 3);
    camera.cell[0] = 43;
    ck_assert_uint_eq(look(&camera, NULL), 1);
}

// --- What changes cells ---

TEST(a_rebase_by_cells_changes_no_pose_block)
{
    const int32_t by[3] = {-250, 3, 77};
    uint32_t clusters[8];

    make_in(250, 0, 0, 5);
    make_in(250, 0, 1, 5);
    update();
    update();
    ck_ok(espl_rebase(w, by, NULL));
    const espl_renderables_report report = update();

    ck_assert_uint_eq(report.rewritten, 0);
    ck_assert_uint_eq(report.moved, 0);
    // All cells are others, so that all clusters are to be uploaded.
    ck_assert_uint_eq(espl_mirror_changed(espl_renderables_acquire(renderables), 2, 8, clusters),
                      report.clusters);
    const espl_camera camera = camera_in(0, 3, 77);

    ck_assert_uint_eq(look(&camera, NULL), 2);
    ck_assert_float_eq(poses[0].position[0], 5);
    demand_cell(cells[0], 0, 3, 77);
    ck_assert_uint_eq(update().rewritten, 0);
}

TEST(a_prefab_that_a_rebase_leaves_where_it_is_keeps_its_cell)
{
    const int32_t by[3] = {9, 0, 0};
    const espl_entity prefab = make_in(2, 0, 0, 5), other = make_in(2, 0, 0, 6);
    const espl_camera camera = camera_in(2, 0, 0), moved = camera_in(11, 0, 0);

    ck_ok(espl_add_component(w, prefab, ESPL_PREFAB, NULL, 0));
    update();
    ck_ok(espl_rebase(w, by, NULL));
    update();
    ck_ok(espl_remove_component(w, prefab, ESPL_PREFAB));
    update();
    ck_assert_uint_eq(look(&camera, NULL), 1);
    ck_assert(espl_entity_equal(seen[0], prefab));
    ck_assert_uint_eq(look(&moved, NULL), 1);
    ck_assert(espl_entity_equal(seen[0], other));
}

TEST(a_tree_at_rest_that_is_recentred_did_not_move)
{
    const espl_entity root = make_in(0, 0, 0, 4096 + 12);

    make_drawn(root, 2, 0);
    update();
    update();
    ck_ok(espl_recenter(w, 0, NULL));
    espl_renderables_report report = update();

    ck_assert_uint_eq(report.moved, 0);
    ck_assert_uint_eq(report.moving, 0);
    const espl_camera camera = camera_in(2, 0, 0);
    const espl_cull_def half_way = {.alpha = 0.5f, .flags = ESPL_CULL_INTERPOLATE};

    ck_assert_uint_eq(look(&camera, &half_way), 2);
    ck_assert_float_eq(poses[0].position[0], 12);
    ck_assert_float_eq(previous[0].position[0], 12);
    demand_cell(cells[1], 2, 0, 0);
}

TEST(a_write_of_a_cell_is_a_flight_over_whole_cells)
{
    const espl_entity ship = make_in(5, 0, 0, 8);
    const espl_camera camera = {.layers = 1, .cell = {5, 0, 0}};
    const espl_cull_def half_way = {.alpha = 0.5f, .flags = ESPL_CULL_INTERPOLATE};

    update();
    set_cell(ship, 7, 0, 0);
    ck_assert_uint_eq(update().moved, 1);
    ck_assert_uint_eq(look(&camera, &half_way), 1);
    ck_assert_float_eq(poses[0].position[0], SIZE + 8);
    ck_assert_float_eq(previous[0].position[0], 8);
    ck_assert_uint_eq(update().moved, 0);
}

TEST(a_teleport_to_another_cell_is_no_flight)
{
    const espl_entity ship = make_in(5, 0, 0, 8);
    const espl_camera camera = {.layers = 1, .cell = {500, 0, 0}};
    const espl_cull_def half_way = {.alpha = 0.5f, .flags = ESPL_CULL_INTERPOLATE};
    const double there[3] = {500.0 * SIZE + 3, 0, 0};
    float position[3];

    make_drawn(ship, 1, 0);
    update();
    ck_ok(espl_write_one(w, ship, ESPL_WRITE_ABSOLUTE_POSITION, there));
    ck_ok(espl_get_local_position(w, ship, position));
    ck_ok(espl_write_one(w, ship, (espl_write_kind)(ESPL_WRITE_LOCAL_POSITION | ESPL_TELEPORT),
                         position));
    update();
    ck_assert_uint_eq(look(&camera, &half_way), 2);
    for (int i = 0; i < 2; ++i) {
        const float x = espl_entity_equal(seen[i], ship) ? 3 : 4;

        ck_assert_float_eq(poses[i].position[0], x);
        ck_assert_float_eq(previous[i].position[0], x);
    }
}

// The worlds of a group that is attached to an equal place in another cell are the same, bit for bit, and no mark
// says that its members changed.
TEST(what_comes_into_a_tree_of_another_cell_has_its_cell)
{
    const espl_entity here = make_in(1, 0, 0, 0), there = make_in(600, 0, 0, 0);
    const espl_transform at = test_at(0, 0, 0);
    espl_entity group;

    ck_ok(espl_create_node(w, here, &at, NULL, &group));
    const espl_entity leaf = make_drawn(group, 3, 0);
    const espl_camera camera = camera_in(600, 0, 0);

    update();
    ck_assert_uint_eq(look(&camera, NULL), 1);
    ck_ok(espl_attach(w, group, there, &test_keep_local));
    update();
    ck_assert_uint_eq(look(&camera, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY}), 2);
    ck_assert(espl_entity_equal(seen[1], leaf));
    demand_cell(cells[1], 600, 0, 0);
    // It was 599 cells away.
    ck_assert_float_eq(previous[1].position[0], 3 - 599.0f * SIZE);
}

TEST(a_rewind_goes_back_to_cells)
{
    const espl_entity ship = make_in(5, 0, 0, 8);
    const espl_camera before = camera_in(5, 0, 0), after = camera_in(6, 0, 0);
    espl_history *history = NULL;

    ck_ok(espl_history_create(w, NULL, &history));
    ck_ok(espl_history_mark(history, 1));
    set_cell(ship, 6, 0, 0);
    update();
    ck_assert_uint_eq(look(&after, NULL), 1);
    ck_ok(espl_history_rewind(history, 1, 0, NULL));
    update();
    ck_assert_uint_eq(look(&after, NULL), 0);
    ck_assert_uint_eq(look(&before, NULL), 1);
    espl_history_destroy(history);
}

TEST(a_cleared_world_has_the_cells_of_what_is_new)
{
    const int32_t by[3] = {9, 0, 0};
    const espl_camera camera = camera_in(5, 0, 0);

    make_in(5, 0, 0, 8);
    update();
    ck_ok(espl_rebase(w, by, NULL));
    update();
    ck_assert_uint_eq(look(&camera, NULL), 0);
    ck_ok(espl_world_clear(w));
    update();
    make_in(5, 0, 0, 8);
    update();
    ck_assert_uint_eq(look(&camera, NULL), 1);
    demand_cell(cells[0], 5, 0, 0);
}

// The box of a cluster is relative to the cell of its first place, which may have no member any more.
TEST(a_cluster_whose_first_member_went_stays_where_it_is)
{
    enum { OTHERS = 57 };
    espl_entity others[OTHERS];

    // Of a low code, and with another x than the others, which are in one cluster with it.
    const espl_entity first = make_in(400, 0, 0, 0);

    for (int32_t i = 0; i < OTHERS; ++i) {
        others[i] = make_in(i, 600, 0, 0);
    }
    ck_assert_uint_eq(update().clusters, 1);
    ck_ok(espl_destroy(w, first, ESPL_EXTENT_ENTITY));
    ck_assert_uint_eq(update().rewritten, 0);
    for (int32_t i = 0; i < OTHERS; ++i) {
        const espl_renderable value = {.key = 1, .user_data = 5};
        const espl_camera camera = camera_in(i, 0, 0);

        ck_ok(espl_set_component(w, others[i], renderable, &value, sizeof value));
        update();
        ck_assert_uint_eq(look(&camera, NULL), 1);
        demand_cell(cells[0], i, 600, 0);
    }
}

TEST(a_cluster_is_written_with_its_cells)
{
    int32_t written[ESPL_CLUSTER_SIZE][3];
    float matrices[ESPL_CLUSTER_SIZE][12];
    espl_entity entities[ESPL_CLUSTER_SIZE];
    const espl_instance_arrays arrays = {
        .matrices = matrices, .entities = entities, .cells = written};
    const int32_t by[3] = {1000, 0, 0};
    size_t count;

    for (int32_t i = 0; i < 5; ++i) {
        make_in(3 * i, -i, 0, (float)i);
    }
    update();
    ck_ok(espl_rebase(w, by, NULL));
    update();
    ck_ok(espl_mirror_write(espl_renderables_acquire(renderables), 0, &arrays, &count));
    ck_assert_uint_eq(count, 5);
    for (size_t i = 0; i < count; ++i) {
        int32_t cell[3];
        float position[3];

        ck_ok(espl_read_one(w, entities[i], ESPL_READ_CELL, cell));
        ck_ok(espl_get_world_position(w, entities[i], position));
        ck_assert_mem_eq(written[i], cell, sizeof cell);
        ck_assert_float_eq(matrices[i][3], position[0]);
    }
}

// --- Steps ---

// A ship flies at a steady speed. It is drawn at four times between two updates, relative to where the camera was
// at first.
typedef struct flight {
    espl_entity ship, mast;
    int32_t moved[3]; // by all rebases
    double last[2];   // where ship and mast were drawn
    bool has_last;
    double largest, least; // steps
} flight;

static void draw_flight(flight *f, double speed)
{
    const espl_camera camera = {
        .layers = 1, .cell = {f->moved[0], f->moved[1], f->moved[2]}, .origin = {0, 0, 0}};

    for (int i = 1; i <= 4; ++i) {
        const espl_cull_def def = {.alpha = (float)i * 0.25f,
                                   .flags = ESPL_CULL_INTERPOLATE | ESPL_CULL_BY_ENTITY};

        ck_assert_uint_eq(look(&camera, &def), 2);
        for (int k = 0; k < 2; ++k) {
            const double at = (double)poses[k].position[0];

            if (f->has_last) {
                f->largest = fmax(f->largest, fabs(at - f->last[k]));
                f->least = fmin(f->least, fabs(at - f->last[k]));
                ck_assert_double_eq_tol((double)poses[k].position[0] -
                                            (double)previous[k].position[0],
                                        speed * i / 4, 0.02);
            }
            f->last[k] = at;
        }
        f->has_last = true;
    }
}

static void fly(flight *f, int recenters_every, int rebases_every)
{
    const float speed = 100;

    *f = (flight){.least = INFINITY};
    f->ship = make_in(0, 0, 0, 0);
    f->mast = make_drawn(f->ship, 1, 2);
    update();
    for (int i = 1; i <= 200; ++i) {
        float position[3];

        ck_ok(espl_get_local_position(w, f->ship, position));
        position[0] += speed;
        ck_ok(espl_set_local_position(w, f->ship, position));
        if (recenters_every != 0 && i % recenters_every == 0) {
            ck_ok(espl_recenter(w, 0.5f, NULL));
        }
        if (rebases_every != 0 && i % rebases_every == 0) {
            const int32_t by[3] = {1000 - 13 * i, i, -i};

            ck_ok(espl_rebase(w, by, NULL));
            for (int k = 0; k < 3; ++k) {
                f->moved[k] += by[k];
            }
        }
        update();
        draw_flight(f, (double)speed);
    }
    ck_assert_double_le(f->largest, (double)speed / 4 + 0.02);
    ck_assert_double_ge(f->least, (double)speed / 4 - 0.02);
}

TEST(no_step_is_larger_than_the_steady_one_across_a_recenter)
{
    flight f;
    int32_t cell[3];

    fly(&f, 7, 0);
    ck_ok(espl_read_one(w, f.ship, ESPL_READ_CELL, cell));
    ck_assert_int_ge(cell[0], 8);
}

TEST(no_step_is_larger_than_the_steady_one_across_a_rebase)
{
    flight f;

    fly(&f, 0, 5);
}

TEST(no_step_is_larger_than_the_steady_one_across_both_in_one_update)
{
    flight f;

    fly(&f, 3, 6);
}

// Without a recenter between, and far from the middle of a cell, the steps are those of floats.
TEST(no_step_is_larger_than_the_steady_one_without_either)
{
    flight f;

    fly(&f, 0, 0);
}
