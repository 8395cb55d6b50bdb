// SPDX-License-Identifier: MIT
// espl_copy_world_transforms(): entities of one world follow those of another one.
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <espalier/writers.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static test_world other;
static espl_world *from; // other.world

static void set_up_two(void)
{
    set_up();
    test_world_begin(&other, 2, NULL);
    from = other.world;
}

static void tear_down_two(void)
{
    test_world_end(&other);
    tear_down();
}

FIXTURE(set_up_two, tear_down_two);

static void ck_follows(espl_entity to, espl_entity source)
{
    const espl_transform got = test_world_of(w, to), is = test_world_of(from, source);

    ck_assert_mem_eq(&got, &is, sizeof is);
}

TEST(roots_of_one_world_get_the_world_transforms_of_members_of_another)
{
    enum { COUNT = 12 };
    espl_entity *const chain = make_chain(from, COUNT);
    espl_entity solos[COUNT];
    espl_copy copies[COUNT];
    espl_write_report report;

    test_solos(w, COUNT, solos);
    for (uint32_t i = 0; i < COUNT; ++i) {
        copies[i] = (espl_copy){solos[i], chain[COUNT - 1 - i]};
        ck_ok(espl_set_user_data(from, chain[i], 100 + i));
        ck_ok(espl_set_stretch(from, chain[i], (float[3]){1, 2, (float)i}));
    }
    ck_ok(espl_copy_world_transforms(w, from, copies, COUNT, &report));
    ck_assert_uint_eq(report.applied, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        ck_follows(copies[i].to, copies[i].from);
    }
    ck_assert_uint_eq(test_world_of(w, solos[0]).user_data, 100 + COUNT - 1);
    free(chain);
}

// A parent is written before its child, whatever the order, as in any batch.
TEST_LOOP(members_of_a_hierarchy_follow_too, 0, 2)
{
    espl_entity *const sources = make_chain(from, 2), *const chain = make_chain(w, 2);
    const espl_copy copies[2] = {{chain[_i], sources[_i]}, {chain[1 - _i], sources[1 - _i]}};

    ck_ok(espl_set_local_position(from, sources[0], (float[3]){3, 4, 5}));
    ck_ok(espl_copy_world_transforms(w, from, copies, 2, NULL));
    ck_follows(chain[0], sources[0]);
    ck_follows(chain[1], sources[1]);
    free(sources);
    free(chain);
}

TEST(a_copy_within_one_world_reads_all_before_it_writes)
{
    const espl_entity a = test_solo_at(w, 1, 0, 0), b = test_solo_at(w, 2, 0, 0);
    const espl_copy swap[2] = {{a, b}, {b, a}};

    ck_ok(espl_copy_world_transforms(w, w, swap, 2, NULL));
    ck_assert_float_eq(test_world_of(w, a).position[0], 2);
    ck_assert_float_eq(test_world_of(w, b).position[0], 1);
}

// The source that is refused comes first in a line of the log with its handle.
TEST(what_cannot_be_read_or_written_is_refused_alone)
{
    enum { COUNT = 6 };
    espl_entity to[COUNT], source[COUNT], bare;
    espl_copy copies[COUNT];
    espl_write_report report;

    test_solos(w, COUNT, to);
    test_solos(from, COUNT, source);
    for (int i = 0; i < COUNT; ++i) {
        copies[i] = (espl_copy){to[i], source[i]};
        ck_ok(espl_set_local_position(from, source[i], (float[3]){(float)i + 1, 0, 0}));
    }
    ck_ok(espl_create(from, NULL, 0, 1, &bare));
    ck_ok(espl_destroy(from, source[1], ESPL_EXTENT_OWNED));
    copies[2].from = bare;
    copies[3].from = to[3]; // of the other world
    ck_ok(espl_destroy(w, to[4], ESPL_EXTENT_OWNED));
    copies[5].from = espl_entity_null();
    copies[5].to = source[5];

    static const struct {
        espl_status status;
        size_t first;
    } expected[COUNT] = {{ESPL_ERR_DEAD, 1},    {ESPL_ERR_DEAD, 1}, {ESPL_ERR_NO_TRANSFORM, 2},
                         {ESPL_ERR_FOREIGN, 3}, {ESPL_ERR_DEAD, 4}, {ESPL_ERR_NULL_ENTITY, 5}};

    for (size_t begin = 0; begin < COUNT; ++begin) {
        ck_status(espl_copy_world_transforms(w, from, copies + begin, COUNT - begin, &report),
                  ESPL_PARTLY);
        ck_assert_uint_eq(report.refused, COUNT - (begin == 0 ? 1 : begin));
        ck_assert_uint_eq(report.first_refused, expected[begin].first - begin);
        ck_status(report.first_status, expected[begin].status);
    }
    ck_assert_float_eq(test_world_of(w, to[0]).position[0], 1);
    for (int i = 1; i < 4; ++i) {
        ck_assert_float_eq(test_world_of(w, to[i]).position[0], 0);
    }
}

// More than one window of a batch, and more than one part of its jobs.
TEST(many_copies_by_workers_are_those_of_one_worker)
{
    const uint32_t count = test_fitting(test_scaled(20000), 0);
    espl_entity *const to = test_array(count, sizeof *to), *const source =
                                                               test_array(count, sizeof *source);
    espl_copy *const copies = test_array(count, sizeof *copies);
    uint64_t random = 3;
    test_executor workers = {.workers = 3};
    test_world parallel;
    espl_write_report report, others;
    const espl_executor executor = test_executor_of(&workers);

    test_world_begin(&parallel, 1, &executor);
    test_solos(w, count, to);
    test_solos(parallel.world, count, to);
    test_solos(from, count, source);
    for (uint32_t i = 0; i < count; ++i) {
        const float at[3] = {(float)i, test_between(&random, -9, 9), 0};

        ck_ok(espl_set_local_position(from, source[i], at));
        copies[i] = (espl_copy){to[test_below(&random, count)], source[i]};
        if (i % 97 == 5) {
            copies[i].from = espl_entity_null();
        }
    }
    ck_status(espl_copy_world_transforms(w, from, copies, count, &report), ESPL_PARTLY);
    ck_status(espl_copy_world_transforms(parallel.world, from, copies, count, &others),
              ESPL_PARTLY);
    ck_assert_uint_eq(report.applied, others.applied);
    ck_assert_uint_eq(report.first_refused, others.first_refused);
    ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(parallel.world));
    test_world_end(&parallel);
    free(copies);
    free(source);
    free(to);
}

TEST(a_copy_of_nothing_is_done_and_one_without_memory_changes_nothing)
{
    const espl_copy copy = {test_solo(w), test_solo_at(from, 1, 2, 3)};
    espl_write_report report;

    memset(&report, 0xA5, sizeof report);
    ck_ok(espl_copy_world_transforms(w, from, NULL, 0, &report));
    ck_assert_uint_eq(report.applied, 0);
    test_heap_arm(&test.heap, 1, true);
    memset(&report, 0xA5, sizeof report);
    ck_status(espl_copy_world_transforms(w, from, &copy, 1, &report), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(report.applied + report.refused, 0);
    ck_assert_float_eq(test_world_of(w, copy.to).position[0], 0);
    test_heap_arm(&test.heap, 0, false);
    ck_ok(espl_copy_world_transforms(w, from, &copy, 1, NULL));

    // The memory is kept, so that the next copy takes none.
    const size_t calls = test.heap.calls;

    ck_ok(espl_set_local_position(from, copy.from, (float[3]){7, 8, 9}));
    ck_ok(espl_copy_world_transforms(w, from, &copy, 1, NULL));
    ck_assert_uint_eq(test.heap.calls, calls);
    ck_follows(copy.to, copy.from);
}

TEST(more_copies_than_a_batch_may_have_are_refused)
{
    const espl_copy copy = {test_solo(w), test_solo(from)};

    ck_status(espl_copy_world_transforms(w, from, &copy, SIZE_MAX / 2, NULL), ESPL_ERR_LIMIT);
}

// A world that is not finite is read as it is, and refused as a value.
TEST(a_source_that_is_not_finite_is_refused)
{
    espl_entity *const chain = make_chain(from, 2);
    const espl_copy copy = {test_solo(w), chain[1]};
    espl_write_report report;

    ck_status(espl_set_local_scale(from, chain[0], 1e38f), ESPL_OK);
    ck_status(espl_set_local_position(from, chain[1], (float[3]){1e38f, 0, 0}), ESPL_OVERFLOW);
    ck_status(espl_copy_world_transforms(w, from, &copy, 1, &report), ESPL_PARTLY);
    ck_status(report.first_status, ESPL_ERR_NOT_FINITE);
    free(chain);
}

static void copy_in_a_job(espl_writer *writer, const espl_query *rows, void *context)
{
    const espl_copy copy = {rows->entities[0], rows->entities[0]};
    espl_write_report report = {.refused = 7};

    (void)writer;
    ck_status(espl_copy_world_transforms(w, w, &copy, 1, &report), ESPL_ERR_BUSY);
    ck_assert_uint_eq(report.refused, 0);
    *(int *)context += 1;
}

TEST(a_job_may_not_copy)
{
    int jobs = 0;
    const espl_parallel_def def = {.function = copy_in_a_job, .context = &jobs};

    (void)test_solo(w);
    ck_ok(espl_write_parallel(w, &def, NULL));
    ck_assert_int_eq(jobs, 1);
}
