// SPDX-License-Identifier: MIT
// Culling, case by case, on mirrors made by hand.
#include "lib/renderables/visible.h"
#include "tests/checks.h"
#include "tests/renderables/cull_model.h"
#include "tests/runner.h"

#include <espalier/renderables.h>

enum { MOST = 400, SLACK = 64 };

// Renderables along the x axis: number i is at x = i, with a box of half 0.25.
typedef struct row_scene {
    made_member members[MOST];
    uint32_t count;
} row_scene;

static row_scene row;
static made_mirror made;
static espl_visible *visible;
static uint64_t random_state;

static made_member member_at(uint32_t i)
{
    made_member m = {.entity = {i, 1 + i},
                     .value = {5, 1000 + i, 0},
                     .layers = UINT32_MAX,
                     .local = {0, 0, 0, 0.25f, 0.25f, 0.25f},
                     .stretch = {1, 1, 1}};

    m.now = espl__pose_identity();
    m.now.position[0] = (float)i;
    m.before = m.now;
    return m;
}

static void set_up(void)
{
    random_state = 9;
    row.count = MOST;
    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i] = member_at(i);
    }
    ck_ok(espl_visible_create(NULL, &visible));
    visible->wake_cost = 0; // each step runs on the executor, however small it is
}

static void tear_down(void)
{
    espl_visible_destroy(visible);
}

FIXTURE(set_up, tear_down);

static void make_row(uint32_t most)
{
    made_mirror_init(&made, row.members, row.count, most, &random_state);
}

// Sees x from `low` to `high`.
static espl_camera slab(float low, float high)
{
    return (espl_camera){
        .planes = {{1, 0, 0, -low}, {-1, 0, 0, high}}, .plane_count = 2, .layers = UINT32_MAX};
}

static uint32_t count_of(size_t camera)
{
    size_t count;
    const espl_group *const groups = espl_visible_groups(visible, camera, &count);

    return count != 0 ? groups[count - 1].first + groups[count - 1].count : 0;
}

static void cull(const espl_camera *cameras, size_t count, const espl_cull_def *def)
{
    const espl_cull_def plain = {0};

    ck_ok(espl_cull(visible, &made.mirror, cameras, count, def));
    for (size_t i = 0; i < count; ++i) {
        model_agrees(&made, visible, i, &cameras[i], def != NULL ? def : &plain);
    }
}

TEST(a_plane_through_the_side_of_a_box_sees_it)
{
    const espl_camera camera = slab(10.25f, 11.75f);

    make_row(128);
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), 3); // 10 and 12 touch
    made_mirror_free(&made);
}

TEST(many_cameras_are_served_by_one_call)
{
    espl_camera cameras[ESPL_CAMERA_LIMIT + 1];

    for (int i = 0; i <= ESPL_CAMERA_LIMIT; ++i) {
        cameras[i] = slab((float)i - 0.5f, (float)(i * i) / 9);
    }
    make_row(128);
    cull(cameras, ESPL_CAMERA_LIMIT, NULL);
    ck_assert_int_eq(espl_cull(visible, &made.mirror, cameras, ESPL_CAMERA_LIMIT + 1, NULL),
                     ESPL_ERR_ARGUMENT);
    ck_assert_uint_gt(count_of(ESPL_CAMERA_LIMIT - 1), 0);
    cull(cameras, 0, NULL);
    ck_assert_uint_eq(count_of(0), 0);
    made_mirror_free(&made);
}

TEST(a_mirror_without_renderables_shows_nothing)
{
    const espl_camera camera = {.layers = UINT32_MAX};

    row.count = 0;
    make_row(1);
    cull(&camera, 1, NULL);
    made.mirror.clusters = 0;
    cull(&camera, 1, NULL);
    made.mirror.clusters = 8; // what made_mirror_init() took
    made_mirror_free(&made);
}

TEST(keys_ascend_up_to_the_largest_ones)
{
    const espl_camera camera = {.layers = UINT32_MAX};
    size_t count;

    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i].value.key = i % 2 != 0 ? UINT32_C(0x7fffffff) - i % 6 : i % 5;
        row.members[i].value.key = i % 7 == 0 ? ESPL_NO_KEY : row.members[i].value.key;
    }
    make_row(128);
    cull(&camera, 1, NULL);
    const espl_group *const groups = espl_visible_groups(visible, 0, &count);

    ck_assert_uint_eq(count, 8);
    ck_assert_uint_eq(groups[0].key, 0);
    ck_assert_uint_eq(groups[7].key, UINT32_C(0x7ffffffe));
    made_mirror_free(&made);
}

// The cluster of whole ones in one step, in part, and with keys that are counted, sorted, or one.
TEST(each_way_to_put_keys_into_order_gives_the_same)
{
    const uint32_t factors[] = {0, 1, 3, 163, 165, 1000, 70000};
    const espl_camera cameras[] = {slab(-1, 500), slab(17, 301.6f), slab(100, 100)};

    for (size_t f = 0; f < sizeof factors / sizeof *factors; ++f) {
        for (uint32_t i = 0; i < MOST; ++i) {
            row.members[i].value.key = i * 31 % MOST * factors[f];
        }
        make_row(128);
        cull(cameras, 3, NULL);
        cull(cameras, 3, &(espl_cull_def){.flags = ESPL_CULL_BY_ENTITY});
        made_mirror_free(&made);
    }
}

TEST(by_entity_the_order_does_not_depend_on_clusters)
{
    const espl_camera camera = {.layers = UINT32_MAX};
    const espl_cull_def def = {.flags = ESPL_CULL_BY_ENTITY};
    static espl_entity first[MOST], second[MOST];

    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i].entity.index = i * 7 % MOST;
        row.members[i].value.key = i % 3;
    }
    for (int round = 0; round < 10; ++round) {
        const espl_instance_arrays arrays = {.entities = round == 0 ? first : second};

        make_row(1 + test_below(&random_state, 128));
        cull(&camera, 1, &def);
        ck_ok(espl_visible_write(visible, 0, &arrays));
        ck_assert(round == 0 || memcmp(first, second, sizeof first) == 0);
        made_mirror_free(&made);
    }
}

// --- Layers ---

TEST(a_layer_must_match)
{
    espl_camera camera = {.layers = 0};

    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i].layers = i % 3 == 0 ? 0 : 1U << i % 32;
    }
    make_row(50);
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), 0);
    camera.layers = UINT32_C(0x80000001);
    cull(&camera, 1, NULL);
    ck_assert_uint_gt(count_of(0), 0);
    camera.layers = UINT32_MAX;
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), MOST - (MOST + 2) / 3);
    made_mirror_free(&made);
}

TEST(what_is_always_visible_is_so_outside_of_all_planes)
{
    espl_camera camera = slab(1e6f, 2e6f);

    row.members[77].value.flags = ESPL_RENDERABLE_ALWAYS;
    row.members[78].value.flags = ESPL_RENDERABLE_ALWAYS;
    row.members[78].layers = 2;
    camera.layers = 1;
    camera.pixels = 100;
    camera.least_size = 1000;
    make_row(128);
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), 1);
    made_mirror_free(&made);
}

// --- Sizes ---

TEST(small_ones_are_left_out_by_size)
{
    espl_camera camera = {.layers = UINT32_MAX, .pixels = 100, .least_size = 1};

    make_row(128);
    cull(&camera, 1, NULL);
    const uint32_t near_ones = count_of(0);

    // Size: 100 * 2 * 0.433 / distance.
    ck_assert_uint_eq(near_ones, 87);
    camera.flags = ESPL_CAMERA_ORTHOGRAPHIC;
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), MOST);
    camera.least_size = 100;
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), 0);
    // Without an image there are no sizes.
    camera.pixels = 0;
    cull(&camera, 1, NULL);
    ck_assert_uint_eq(count_of(0), MOST);
    made_mirror_free(&made);
}

TEST(levels_follow_the_size)
{
    espl_camera camera = {.layers = UINT32_MAX, .pixels = 100};
    size_t count;

    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i].value.key = UINT32_C(0x80000000);
    }
    make_row(128);
    made.mirror.lod_count = 1;
    made.lods[0] = (espl_lods){.keys = {9, 8, 70000}, .sizes = {20, 2, 0.5f}, .count = 3};
    cull(&camera, 1, NULL);
    const espl_group *groups = espl_visible_groups(visible, 0, &count);

    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(groups[0].key, 8);
    ck_assert_uint_eq(groups[1].key, 9);
    ck_assert_uint_eq(groups[1].count, 5);
    ck_assert_uint_eq(groups[2].key, 70000);
    ck_assert_uint_lt(count_of(0), MOST);
    camera.pixels = 0;
    cull(&camera, 1, NULL);
    groups = espl_visible_groups(visible, 0, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(groups[0].key, 9);
    made_mirror_free(&made);
}

// --- Between two mirrors ---

// A bar of length 2 turns by 90 degrees: half way its box reaches x = 1.41, at both ends less.
TEST(a_corner_that_is_inside_only_between_is_seen_then)
{
    const espl_camera camera = {
        .planes = {{1, 0, 0, -1.3f}}, .plane_count = 1, .layers = UINT32_MAX};
    espl_cull_def def = {.flags = ESPL_CULL_INTERPOLATE};

    row.count = 1;
    row.members[0].local[3] = row.members[0].local[4] = 1;
    row.members[0].local[5] = 0;
    row.members[0].now.rotation[2] = row.members[0].now.rotation[3] = sqrtf(0.5f);
    make_row(1);
    for (int i = 0; i <= 8; ++i) {
        def.alpha = (float)i / 8;
        cull(&camera, 1, &def);
        ck_assert_uint_eq(count_of(0), i > 1 && i < 7);
    }
    made_mirror_free(&made);
}

TEST(the_ends_of_a_time_are_the_mirrors_bit_for_bit)
{
    const espl_camera camera = slab(20, 350);
    espl_cull_def def = {.flags = ESPL_CULL_INTERPOLATE};
    static float matrices[2][MOST][12];
    espl_instance_arrays arrays = {.matrices = matrices[0], .previous = matrices[1]};

    for (uint32_t i = 0; i < MOST; i += 1 + i % 3) {
        espl_pose *const now = &row.members[i].now;

        any_rotation(now->rotation, &random_state);
        now->position[1] += 2;
        now->position[0] -= 3;
    }
    make_row(40);
    for (int end = 0; end < 2; ++end) {
        def.alpha = (float)end;
        cull(&camera, 1, &def);
        ck_ok(espl_visible_write(visible, 0, &arrays));
        // At its begin a time has the matrices of the mirror before.
        ck_assert((memcmp(matrices[0], matrices[1], 48 * count_of(0)) == 0) == (end == 0));
    }
    made_mirror_free(&made);
}

// The box of a member with ESPL_RENDERABLE_UNION does not follow from its pose: between two mirrors it is that
// of both.
TEST(a_union_has_the_box_of_both_ends_between_them)
{
    espl_camera camera = slab(107, 108);
    espl_cull_def def = {.flags = ESPL_CULL_INTERPOLATE, .alpha = 0.5f};
    float size;
    const espl_instance_arrays arrays = {.sizes = &size};

    row.count = 1;
    row.members[0].value.flags = ESPL_RENDERABLE_UNION;
    row.members[0].now.position[0] = 100;
    row.members[0].before.position[0] = 110;
    make_row(1);
    camera.pixels = 1;
    camera.flags = ESPL_CAMERA_ORTHOGRAPHIC;
    ck_ok(espl_cull(visible, &made.mirror, &camera, 1, &def));
    ck_assert_uint_eq(count_of(0), 1);
    ck_ok(espl_visible_write(visible, 0, &arrays));
    ck_assert_float_ge(size, 10.5f);
    ck_assert_float_le(size, 10.6f);
    def.alpha = 0;
    ck_ok(espl_cull(visible, &made.mirror, &camera, 1, &def));
    ck_assert_uint_eq(count_of(0), 0);
    made_mirror_free(&made);
}

// A union that rests while another member of its cluster moves has its size at every time.
TEST(a_union_far_from_the_origin_has_its_size_between_mirrors)
{
    espl_camera camera = {.layers = UINT32_MAX, .pixels = 1, .flags = ESPL_CAMERA_ORTHOGRAPHIC};
    const espl_cull_def def = {.flags = ESPL_CULL_INTERPOLATE, .alpha = 0.5f};
    float sizes[2];
    const espl_instance_arrays arrays = {.sizes = sizes};

    row.count = 2;
    row.members[0].value.flags = ESPL_RENDERABLE_UNION;
    row.members[0].now.position[0] = row.members[0].before.position[0] = 1.2e6f;
    row.members[0].now.scale = row.members[0].before.scale = 0.01f;
    row.members[1].now.position[0] = 2;
    make_row(2);
    ck_ok(espl_cull(visible, &made.mirror, &camera, 1, &def));
    ck_assert_uint_eq(count_of(0), 2);
    ck_ok(espl_visible_write(visible, 0, &arrays));
    ck_assert_float_ge(fminf(sizes[0], sizes[1]), 0.008f);
    ck_assert_float_le(fminf(sizes[0], sizes[1]), 0.009f);
    made_mirror_free(&made);
}

// --- Instances ---

// Write with a form and a stride, and compare with the matrix of the transform.
static void write_form(espl_instance_form form, size_t stride, const double origin[static 3])
{
    static const size_t lengths[] = {12, 16, 12, 8};
    static float floats[MOST * 24];
    const size_t step = stride != 0 ? stride / 4 : lengths[form];
    const espl_instance_arrays arrays = {.matrices = floats, .matrix_stride = stride, .form = form};

    for (size_t i = 0; i < sizeof floats / sizeof *floats; ++i) {
        floats[i] = 12345;
    }
    ck_ok(espl_visible_write(visible, 0, &arrays));
    for (uint32_t i = 0; i < MOST; ++i) {
        const made_member *const m = made.members[i];
        const float *const got = floats + step * i;
        espl_transform t = {.scale = m->now.scale};
        float rows[12], columns[16];

        memcpy(t.rotation, m->now.rotation, sizeof t.rotation);
        memcpy(t.stretch, m->stretch, sizeof t.stretch);
        for (int k = 0; k < 3; ++k) {
            t.position[k] = (float)((double)m->now.position[k] - origin[k]);
        }
        espl_transform_to_matrix(&t, ESPL_MATRIX_3X4, rows);
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, columns);
        if (form == ESPL_INSTANCE_3X4) {
            ck_assert(memcmp(got, rows, sizeof rows) == 0);
        } else if (form == ESPL_INSTANCE_4X4) {
            ck_assert(memcmp(got, columns, sizeof columns) == 0);
        } else if (form == ESPL_INSTANCE_POSE) {
            ck_assert(memcmp(got, &t, sizeof(espl_pose)) == 0);
        }
        for (int k = 0; k < 12 && form == ESPL_INSTANCE_4X3; ++k) {
            ck_assert(memcmp(&got[k], &columns[k / 3 * 4 + k % 3], 4) == 0);
        }
        // What lies between two instances is not written.
        for (size_t k = lengths[form]; k < step; ++k) {
            ck_assert_float_eq(got[k], 12345);
        }
    }
}

TEST(instances_have_each_form_and_stride)
{
    espl_camera camera = {.layers = UINT32_MAX};

    for (uint32_t i = 0; i < MOST; ++i) {
        const espl_transform t = any_transform(&random_state);

        row.members[i].now = espl__pose_of(&t);
        if (i % 3 == 0) { // zeros of either sign
            row.members[i].now.rotation[0] = i % 2 != 0 ? 0 : -0.0f;
            row.members[i].now.rotation[1] = i % 4 > 1 ? 0 : -0.0f;
            row.members[i].now.rotation[2] = i % 8 > 3 ? 0 : -0.0f;
            row.members[i].now.rotation[3] = i % 16 > 7 ? 1 : -1;
            row.members[i].now.scale = i % 32 > 15 ? 1 : -1;
        }
        row.members[i].before = row.members[i].now;
        memcpy(row.members[i].stretch, t.stretch, i > 100 ? sizeof t.stretch : 0);
    }
    make_row(128);
    for (int far = 0; far < 2; ++far) {
        for (int k = 0; k < 3; ++k) {
            camera.origin[k] = far * (1e5 + k / 3.0);
        }
        cull(&camera, 1, NULL);
        for (int form = 0; form < ESPL_INSTANCE_FORM_COUNT; ++form) {
            write_form((espl_instance_form)form, 0, camera.origin);
            write_form((espl_instance_form)form, 64, camera.origin);
            write_form((espl_instance_form)form, 92, camera.origin);
        }
    }
    made_mirror_free(&made);
}

TEST(bad_strides_and_forms_are_refused)
{
    const espl_camera camera = {.layers = UINT32_MAX};
    static float floats[MOST * 24];
    espl_instance_arrays arrays = {.matrices = floats};

    make_row(128);
    cull(&camera, 1, NULL);
    for (size_t stride = 1; stride < 70; ++stride) {
        for (int form = 0; form <= ESPL_INSTANCE_FORM_COUNT; ++form) {
            const size_t least[] = {48, 64, 48, 32, SIZE_MAX};
            const bool is_good = stride % 4 == 0 && stride >= least[form];

            arrays.form = (espl_instance_form)form;
            arrays.matrix_stride = stride;
            ck_assert_int_eq(espl_visible_write(visible, 0, &arrays),
                             is_good ? ESPL_OK : ESPL_ERR_ARGUMENT);
        }
    }
    arrays = (espl_instance_arrays){.previous = floats, .previous_stride = 3};
    ck_assert_int_eq(espl_visible_write(visible, 0, &arrays), ESPL_ERR_ARGUMENT);
    arrays.previous_stride = 0;
    ck_ok(espl_visible_write(visible, 0, &arrays));
    arrays.reserved[2] = 1;
    ck_assert_int_eq(espl_visible_write(visible, 0, &arrays), ESPL_ERR_UNSUPPORTED);
    arrays.reserved[2] = 0;
    ck_assert_int_eq(espl_visible_write(visible, 1, &arrays), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_visible_write(visible, 0, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_visible_write(NULL, 0, &arrays), ESPL_ERR_ARGUMENT);
    made_mirror_free(&made);
}

// --- Refusals ---

// The result before stays where a cull is refused.
static void is_refused(const espl_camera *camera, const espl_cull_def *def, espl_status status)
{
    ck_assert_int_eq(espl_cull(visible, &made.mirror, camera, 1, def), status);
    ck_assert_uint_eq(count_of(0), 3);
}

TEST(numbers_that_are_not_finite_are_refused)
{
    const espl_camera good = slab(10.25f, 11.75f);
    const float bad[] = {NAN, INFINITY, -INFINITY};

    make_row(128);
    cull(&good, 1, NULL);
    for (int b = 0; b < 3; ++b) {
        for (int i = 0; i < 8; ++i) {
            espl_camera camera = good;

            camera.planes[i / 4][i % 4] = bad[b];
            is_refused(&camera, NULL, ESPL_ERR_NOT_FINITE);
        }
        for (int k = 0; k < 3; ++k) {
            espl_camera camera = good;

            camera.eye[k] = bad[b];
            is_refused(&camera, NULL, ESPL_ERR_NOT_FINITE);
            camera = good;
            camera.origin[k] = (double)bad[b];
            is_refused(&camera, NULL, ESPL_ERR_NOT_FINITE);
        }
        espl_camera camera = good;

        camera.pixels = bad[b];
        is_refused(&camera, NULL, ESPL_ERR_NOT_FINITE);
        camera = good;
        camera.least_size = bad[b];
        is_refused(&camera, NULL, ESPL_ERR_NOT_FINITE);
        camera = good;
        camera.planes[2][0] = bad[b]; // behind the last plane
        ck_ok(espl_cull(visible, &made.mirror, &camera, 1, NULL));
        is_refused(&good, &(espl_cull_def){.alpha = bad[b]}, ESPL_ERR_ARGUMENT);
    }
    made_mirror_free(&made);
}

TEST(bad_arguments_are_refused)
{
    const espl_camera good = slab(10.25f, 11.75f);
    espl_camera camera = good;

    make_row(128);
    cull(&good, 1, NULL);
    camera.plane_count = ESPL_PLANE_LIMIT + 1;
    is_refused(&camera, NULL, ESPL_ERR_ARGUMENT);
    camera = good;
    camera.flags = 2;
    is_refused(&camera, NULL, ESPL_ERR_ARGUMENT);
    camera = good;
    camera.pixels = -1;
    is_refused(&camera, NULL, ESPL_ERR_ARGUMENT);
    camera = good;
    camera.least_size = -1;
    is_refused(&camera, NULL, ESPL_ERR_ARGUMENT);
    camera = good;
    camera.reserved[3] = 1;
    is_refused(&camera, NULL, ESPL_ERR_UNSUPPORTED);
    is_refused(&good, &(espl_cull_def){.flags = 4}, ESPL_ERR_ARGUMENT);
    is_refused(&good, &(espl_cull_def){.alpha = -0.1f}, ESPL_ERR_ARGUMENT);
    is_refused(&good, &(espl_cull_def){.alpha = 1.1f}, ESPL_ERR_ARGUMENT);
    is_refused(&good, &(espl_cull_def){.reserved = {1}}, ESPL_ERR_UNSUPPORTED);
    is_refused(NULL, NULL, ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_cull(visible, NULL, &good, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_int_eq(espl_cull(NULL, &made.mirror, &good, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(count_of(0), 3);
    ck_assert_ptr_null(espl_visible_groups(visible, 0, NULL));
    made_mirror_free(&made);
}

TEST(a_result_is_empty_before_the_first_cull)
{
    size_t count = 1;

    ck_assert_ptr_null(espl_visible_groups(visible, 0, &count));
    ck_assert_uint_eq(count, 0);
    count = 1;
    ck_assert_ptr_null(espl_visible_groups(NULL, 0, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(espl_visible_create(NULL, NULL), ESPL_ERR_ARGUMENT);
    espl_visible_destroy(NULL);
}

// No hook belongs to a result, so that builds with assertions do not trap.
TEST(illegal_executors_leave_the_result_before)
{
    const espl_camera good = slab(10.25f, 11.75f), all = {.layers = UINT32_MAX};
    static const test_manner manners[] = {TEST_SKIPS_ONE, TEST_RUNS_TWICE, TEST_OUT_OF_RANGE};

    make_row(1);
    cull(&good, 1, NULL);
    for (int m = 0; m < 3; ++m) {
        // Each of the steps in turn.
        for (size_t decency = 0; decency < 8; ++decency) {
            test_executor bad = {
                .manner = manners[m], .workers = 4, .random = 1, .decency = decency};
            const espl_executor executor = test_executor_of(&bad);
            const espl_cull_def def = {.executor = &executor};
            const espl_camera cameras[2] = {all, all};
            const espl_status status = espl_cull(visible, &made.mirror, cameras, 2, &def);

            if (status == ESPL_OK) {
                ck_assert_uint_ge(decency, 3);
                ck_assert_uint_eq(count_of(0), MOST);
                cull(&good, 1, NULL);
            } else {
                ck_assert_int_eq(status, ESPL_ERR_EXECUTOR);
                ck_assert_uint_eq(count_of(0), 3);
            }
        }
    }
    made_mirror_free(&made);
}

// What workers write has the bytes of what one thread writes, and an executor that is illegal is said.
TEST(workers_write_the_same)
{
    static espl_pose poses[2][MOST], before[2][MOST];
    static espl_entity entities[2][MOST];
    static float sizes[2][MOST];
    const espl_camera all = {.layers = UINT32_MAX, .pixels = 100, .origin = {3, 4, 5}};
    static const test_manner manners[] = {TEST_SHUFFLED, TEST_SKIPS_ONE, TEST_RUNS_TWICE,
                                          TEST_OUT_OF_RANGE};

    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i].before.position[1] = (float)i;
    }
    make_row(20);
    cull(&all, 1, &(espl_cull_def){.flags = ESPL_CULL_INTERPOLATE, .alpha = 0.25f});
    for (int m = -1; m < 4; ++m) {
        test_executor made_of = {.manner = manners[m < 0 ? 0 : m], .workers = 4, .random = 1};
        const espl_executor executor = test_executor_of(&made_of);
        const int k = m < 0 ? 0 : 1;
        const espl_instance_arrays arrays = {.matrices = poses[k],
                                             .form = ESPL_INSTANCE_POSE,
                                             .previous = before[k],
                                             .entities = entities[k],
                                             .sizes = sizes[k],
                                             .executor = m < 0 ? NULL : &executor};
        const espl_status status = espl_visible_write(visible, 0, &arrays);

        ck_assert_int_eq(status, m <= 0 ? ESPL_OK : ESPL_ERR_EXECUTOR);
        if (m == 0) {
            ck_assert_int_eq(memcmp(poses[0], poses[1], sizeof poses[0]), 0);
            ck_assert_int_eq(memcmp(before[0], before[1], sizeof before[0]), 0);
            ck_assert_int_eq(memcmp(entities[0], entities[1], sizeof entities[0]), 0);
            ck_assert_int_eq(memcmp(sizes[0], sizes[1], sizeof sizes[0]), 0);
            ck_assert(poses[0][MOST - 1].position[1] != before[0][MOST - 1].position[1]);
        }
    }
    made_mirror_free(&made);
}

// A step of microseconds runs on the calling thread, because to wake workers takes longer.
TEST(workers_are_not_woken_for_little)
{
    const espl_camera all = {.layers = UINT32_MAX};
    test_executor bad = {.manner = TEST_SKIPS_ONE, .workers = 4, .random = 1};
    const espl_executor executor = test_executor_of(&bad);
    const espl_cull_def def = {.executor = &executor};
    static float sizes[MOST];

    make_row(1);
    ck_assert_int_eq(espl_cull(visible, &made.mirror, &all, 1, &def), ESPL_ERR_EXECUTOR);
    visible->wake_cost = ESPL__CULL_WAKE_COST;
    ck_ok(espl_cull(visible, &made.mirror, &all, 1, &def));
    ck_assert_uint_eq(count_of(0), MOST);
    ck_ok(espl_visible_write(visible, 0,
                             &(espl_instance_arrays){.sizes = sizes, .executor = &executor}));
    made_mirror_free(&made);
}

// --- Memory ---

TEST(each_allocation_may_fail)
{
    const espl_camera good = slab(10.25f, 11.75f), all = {.layers = UINT32_MAX};
    test_heap heap;
    espl_visible *result = NULL;
    size_t count;

    test_heap_init(&heap);
    const espl_allocator allocator = test_heap_allocator(&heap);

    test_heap_arm(&heap, 1, false);
    ck_assert_int_eq(espl_visible_create(&allocator, &result), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&heap, 0, false);
    ck_ok(espl_visible_create(&allocator, &result));
    for (uint32_t i = 0; i < MOST; ++i) {
        row.members[i].value.key = i % 4 == 0 ? i : 100000 + i;
    }
    make_row(20);
    ck_ok(espl_cull(result, &made.mirror, &good, 1, NULL));
    for (int flags = 0; flags < 2; ++flags) {
        for (size_t fail = 1;; ++fail) {
            const espl_camera cameras[3] = {all, good, all};
            const espl_cull_def def = {.flags = flags != 0 ? ESPL_CULL_BY_ENTITY : 0};

            test_heap_arm(&heap, fail, true);
            const espl_status status =
                espl_cull(result, &made.mirror, cameras, (size_t)flags + 2, &def);

            test_heap_arm(&heap, 0, false);
            if (status == ESPL_OK) {
                break;
            }
            ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
            ck_assert_ptr_nonnull(espl_visible_groups(result, 0, &count));
            ck_assert_uint_eq(count, flags == 0 ? 3 : MOST);
        }
    }
    espl_visible_destroy(result);
    ck_assert_uint_eq(heap.bytes, 0);
    ck_assert_uint_eq(heap.faults, 0);
    made_mirror_free(&made);
}

// A second cull of the same needs no more memory.
TEST(memory_is_kept)
{
    const espl_camera all = {.layers = UINT32_MAX};
    test_heap heap;
    espl_visible *result = NULL;

    test_heap_init(&heap);
    const espl_allocator allocator = test_heap_allocator(&heap);

    ck_ok(espl_visible_create(&allocator, &result));
    make_row(20);
    ck_ok(espl_cull(result, &made.mirror, &all, 1, NULL));
    ck_ok(espl_cull(result, &made.mirror, &all, 1, NULL));
    test_heap_arm(&heap, 1, true);
    for (int i = 0; i < 5; ++i) {
        ck_ok(espl_cull(result, &made.mirror, &all, 1, NULL));
    }
    espl_visible_destroy(result);
    made_mirror_free(&made);
}
