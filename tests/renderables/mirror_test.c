// SPDX-License-Identifier: MIT
// What readers ask of a mirror, with mirrors of a publisher without a world.
#include "tests/renderables/publishing.h"

#include <espalier/transform.h>

FIXTURE(heap_begin, heap_is_empty);

enum { PASTS = 32 };

static publishing p;
static modelled_mirror pasts[PASTS];

TEST(null_mirror_has_nothing)
{
    const espl_instance_arrays arrays = {0};
    espl_mirror_description description = {.number = 7};
    uint32_t cluster = 9;
    size_t count = 5;

    espl_mirror_describe(NULL, &description);
    ck_assert_uint_eq(description.number, 0);
    ck_assert_ptr_null(description.user);
    espl_mirror_describe(NULL, NULL);
    ck_assert_uint_eq(espl_mirror_changed(NULL, 0, 1, &cluster), 0);
    ck_assert_uint_eq(cluster, 9);
    ck_status(espl_mirror_write(NULL, 0, &arrays, &count), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(count, 5);
}

static bool is_same_cluster(const modelled_cluster *a, const modelled_cluster *b)
{
    return a->values == b->values && a->poses == b->poses && a->before == b->before;
}

// Compare the list of clusters that changed with what both models have.
static void demand_changed(const espl_mirror *mirror, const modelled_mirror *past)
{
    uint32_t listed[PUBLISHED_LIMIT], few[3];
    const size_t count = espl_mirror_changed(mirror, past->number, PUBLISHED_LIMIT, listed);
    size_t at = 0;

    ck_assert_uint_eq(espl_mirror_changed(mirror, past->number, 0, NULL), count);
    for (uint32_t i = 0; i < p.published.count; ++i) {
        const modelled_cluster none = {0};
        const modelled_cluster *const old = i < past->count ? &past->clusters[i] : &none;
        const modelled_cluster *const now = &p.published.clusters[i];

        if (past->number == 0 ? now->values != 0 : now->changed > past->number) {
            ck_assert_uint_lt(at, count);
            ck_assert_uint_eq(listed[at], i);
            at += 1;
        } else {
            ck_assert(is_same_cluster(old, now));
        }
    }
    ck_assert_uint_eq(at, count);
    ck_assert_uint_eq(espl_mirror_changed(mirror, past->number, 3, few), count);
    ck_assert_mem_eq(few, listed, (count < 3 ? count : 3) * sizeof *few);
}

TEST(clusters_that_are_not_listed_are_as_they_were)
{
    publishing_begin(&p, true, 5, 60);
    for (uint32_t i = 0; i < 400; ++i) {
        espl_mirror_description description;

        update_tables(&p, draw_below(&p, PUBLISHED_OPERATIONS), false);
        const espl_mirror *const mirror = espl__tables_acquire(&p.tables);

        espl_mirror_describe(mirror, &description);
        ck_assert_uint_eq(description.number, p.published.number);
        ck_assert_uint_eq(description.renderables, p.published.renderables);
        ck_assert_uint_eq(description.clusters, p.published.count);
        ck_assert_ptr_eq(description.user, mirror->user);
        pasts[i % PASTS] = p.published;
        for (uint32_t back = 0; back < PASTS && back <= i; back += 1 + back / 2) {
            demand_changed(mirror, &pasts[(i - back) % PASTS]);
        }
        demand_changed(mirror, &(modelled_mirror){.number = 0});
        ck_assert_uint_eq(espl_mirror_changed(mirror, description.number + 1, 0, NULL), 0);
    }
    publishing_end(&p);
}

// --- Writing ---

enum { GAP = 20, ROOM = ESPL__CLUSTER_SIZE * (64 + GAP) };

// A copy of a device's memory, with what must not be written around it.
static unsigned char matrices[ROOM + 64], previous[ROOM + 64];

static size_t form_size(int form)
{
    return form == ESPL_INSTANCE_4X4 ? 64 : form == ESPL_INSTANCE_POSE ? 32 : 48;
}

// What a form has of a pose, by the functions of transforms.
static void expect_form(int form, const espl_pose *pose, const float *stretch, float out[16])
{
    const espl_transform t = {
        .rotation = {pose->rotation[0], pose->rotation[1], pose->rotation[2], pose->rotation[3]},
        .position = {pose->position[0], pose->position[1], pose->position[2]},
        .scale = pose->scale,
        .stretch = {stretch[0], stretch[1], stretch[2]},
    };
    float whole[16];

    switch (form) {
    case ESPL_INSTANCE_3X4:
        espl_transform_to_matrix(&t, ESPL_MATRIX_3X4, out);
        break;
    case ESPL_INSTANCE_4X4:
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, out);
        break;
    case ESPL_INSTANCE_4X3:
        espl_transform_to_matrix(&t, ESPL_MATRIX_4X4, whole);
        for (int i = 0; i < 12; ++i) {
            out[i] = whole[i / 3 * 4 + i % 3];
        }
        break;
    default:
        memcpy(out, pose, sizeof *pose);
        break;
    }
}

// Compare what was written of one array, and that nothing was written beside it.
static void demand_written(const unsigned char *bytes, size_t stride, int form,
                           const espl__values *values, const espl__poses *poses)
{
    static const float plain[3] = {1, 1, 1};
    const size_t size = form_size(form);

    for (uint32_t i = 0; i < ESPL__CLUSTER_SIZE; ++i) {
        const unsigned char *const at = bytes + i * stride;
        float expected[16];

        if (i < values->count) {
            expect_form(form, &poses->poses[i],
                        values->stretches != NULL ? values->stretches->stretch[i] : plain,
                        expected);
            ck_assert_mem_eq(at, expected, size);
        }
        for (size_t k = i < values->count ? size : 0; k < stride; ++k) {
            ck_assert_uint_eq(at[k], 0xa5);
        }
    }
}

static void demand_write(const espl_mirror *mirror, uint32_t cluster, int form, size_t gap)
{
    const espl__cluster_entry *const entry = &mirror->entries[cluster];
    const size_t stride = form_size(form) + gap;
    espl_entity entities[ESPL__CLUSTER_SIZE];
    uint32_t user_data[ESPL__CLUSTER_SIZE];
    size_t count = 0;
    const espl_instance_arrays arrays = {.matrices = matrices,
                                         .matrix_stride = stride,
                                         .form = (espl_instance_form)form,
                                         .previous = previous,
                                         .previous_stride = stride,
                                         .entities = entities,
                                         .user_data = user_data};

    memset(matrices, 0xa5, sizeof matrices);
    memset(previous, 0xa5, sizeof previous);
    ck_ok(espl_mirror_write(mirror, cluster, &arrays, &count));
    if (entry->values == NULL) {
        ck_assert_uint_eq(count, 0);
        ck_assert_uint_eq(matrices[0], 0xa5);
        return;
    }
    ck_assert_uint_eq(count, entry->values->count);
    demand_written(matrices, stride, form, entry->values, entry->poses);
    demand_written(previous, stride, form, entry->values, entry->before);
    ck_assert_mem_eq(entities, entry->values->entities, count * sizeof *entities);
    ck_assert_mem_eq(user_data, entry->values->user_data, count * sizeof *user_data);
}

TEST_LOOP(cluster_is_written_in_each_form, 0, ESPL_INSTANCE_FORM_COUNT)
{
    publishing_begin(&p, true, 8, 20);
    for (int i = 0; i < 40; ++i) {
        update_tables(&p, PUBLISHED_OPERATIONS, false);
    }
    const espl_mirror *const mirror = espl__tables_acquire(&p.tables);

    for (uint32_t i = 0; i < mirror->clusters; ++i) {
        demand_write(mirror, i, _i, 0);
        demand_write(mirror, i, _i, GAP);
    }
    publishing_end(&p);
}

TEST(write_of_a_cluster_is_refused_for_each_fault)
{
    publishing_begin(&p, false, 8, 1);
    ck_assert(reserve_changes(&p, 1));
    add_cluster(&p);
    publish_model(&p);
    const espl_mirror *const mirror = espl__tables_acquire(&p.tables);
    const espl_instance_arrays sound = {.matrices = matrices, .form = ESPL_INSTANCE_4X3};
    espl_instance_arrays arrays = sound;
    size_t count = 77;

    ck_status(espl_mirror_write(mirror, 1, &arrays, &count), ESPL_ERR_ARGUMENT);
    ck_status(espl_mirror_write(mirror, 0, NULL, &count), ESPL_ERR_ARGUMENT);
    arrays.form = ESPL_INSTANCE_FORM_COUNT;
    ck_status(espl_mirror_write(mirror, 0, &arrays, &count), ESPL_ERR_ARGUMENT);
    arrays = sound;
    arrays.matrix_stride = 44;
    ck_status(espl_mirror_write(mirror, 0, &arrays, &count), ESPL_ERR_ARGUMENT);
    arrays.matrix_stride = 50;
    ck_status(espl_mirror_write(mirror, 0, &arrays, &count), ESPL_ERR_ARGUMENT);
    arrays = sound;
    arrays.reserved[1] = 1;
    ck_status(espl_mirror_write(mirror, 0, &arrays, &count), ESPL_ERR_UNSUPPORTED);
    ck_assert_uint_eq(count, 77);
    ck_ok(espl_mirror_write(mirror, 0, &sound, NULL));
    // Without arrays a write counts.
    ck_ok(espl_mirror_write(mirror, 0, &(espl_instance_arrays){0}, &count));
    ck_assert_uint_eq(count, members_of(p.published.clusters[0].values));
    publishing_end(&p);
}
