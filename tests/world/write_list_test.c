// SPDX-License-Identifier: MIT
// A list of writes: what a push takes and refuses, and that the list written is one batch.
#include "tests/forms.h"
#include "tests/one_tree.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 8 };

static espl_write room[ROOM];

static espl_write_list new_list(void)
{
    memset(room, 0xA5, sizeof room);
    return (espl_write_list){room, 0, ROOM};
}

static espl_status push(espl_write_list *list, const espl_write *write)
{
    return espl_write_list_push(list, write->entity, write->kind, &write->value);
}

static size_t size_of_value(espl_write_kind kind)
{
    return form_field_of(form_type(kind)).size;
}

FIXTURE(set_up, end);

// The value has a block of its own, so that a checker of addresses sees a push that reads past its end.
TEST_LOOP(a_push_takes_as_many_bytes_as_the_kind_has, 0, ESPL_WRITE_ABSOLUTE_POSITION)
{
    const espl_write_kind kind = (espl_write_kind)_i;
    const size_t size = size_of_value(kind);
    uint64_t random = 1;
    espl_write_list list = new_list();

    node = make_chain(w, 3);
    const espl_write write = write_ordinary(node[1], kind, &random);
    void *const value = test_array(1, size);
    memcpy(value, &write.value, size);
    ck_ok(espl_write_list_push(&list, node[1], kind, value));
    free(value);

    ck_assert_uint_eq(list.count, 1);
    ck_assert(espl_entity_equal(room[0].entity, node[1]) && room[0].kind == kind);
    ck_assert_mem_eq(&room[0].value, &write.value, size);
    for (size_t i = size; i < sizeof room[0].value; ++i) {
        ck_assert_uint_eq(((const unsigned char *)&room[0].value)[i], 0xA5);
    }
}

TEST_LOOP(a_list_of_each_kind_gives_the_bits_of_a_batch, 0, ESPL_WRITE_KIND_COUNT)
{
    const espl_write_kind kind = (espl_write_kind)_i;
    uint64_t random = (uint64_t)_i + 1;
    espl_write_list list = new_list();
    espl_write_report report, expected;
    espl_write writes[4];
    test_world other;

    test_world_begin(&other, 1, NULL);
    node = make_chain(w, 4);
    espl_entity *const same = make_chain(other.world, 4);
    for (int i = 0; i < 4; ++i) {
        writes[i] = write_ordinary(node[3 - i], kind, &random);
        ck_ok(push(&list, &writes[i]));
        writes[i].entity = same[3 - i];
    }
    const espl_status status = espl_write_listed(w, &list, &report);
    ck_status(espl_write_batch(other.world, writes, 4, &expected), status);
    ck_assert_mem_eq(&report, &expected, sizeof report);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(other.world));
    free(same);
    test_world_end(&other);
}

// A batch visits each node of the chain once, whatever the order of the pushes.
TEST(a_list_is_written_as_one_batch_and_then_empty)
{
    espl_write_list list = new_list();
    espl_write_report report;

    node = make_chain(w, ROOM);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < ROOM; ++i) {
            const float step[3] = {(float)(round + 2), 0, 0};
            ck_ok(espl_write_list_push(&list, node[ROOM - 1 - i], ESPL_WRITE_LOCAL_POSITION, step));
        }
        const uint64_t visited = test_stats(w).nodes_visited;
        ck_ok(espl_write_listed(w, &list, &report));
        ck_assert_uint_eq(test_stats(w).nodes_visited - visited, ROOM);
        ck_assert_uint_eq(report.applied, ROOM);
        ck_assert_uint_eq(list.count, 0);
        ck_assert_float_eq(test_world_of(w, node[ROOM - 1]).position[0],
                           (float)(ROOM * (round + 2)));
    }
}

TEST(a_full_list_refuses_a_push_and_keeps_what_it_has)
{
    espl_write_list list = new_list();
    espl_write before[ROOM];
    const float x[3] = {5, 0, 0};

    node = make_chain(w, 2);
    list.capacity = ROOM - 1;
    for (size_t i = 0; i < list.capacity; ++i) {
        ck_ok(espl_write_list_push(&list, node[0], ESPL_WRITE_LOCAL_POSITION, x));
    }
    memcpy(before, room, sizeof before);
    for (int i = 0; i < 2; ++i) {
        ck_status(espl_write_list_push(&list, node[1], ESPL_WRITE_LOCAL_POSITION, x),
                  ESPL_ERR_LIMIT);
        ck_assert_uint_eq(list.count, ROOM - 1);
        ck_assert_mem_eq(room, before, sizeof before);
    }
    ck_ok(espl_write_listed(w, &list, NULL));
    ck_ok(espl_write_list_push(&list, node[1], ESPL_WRITE_LOCAL_POSITION, x));
    ck_assert_uint_eq(list.count, 1);
}

TEST(a_push_without_a_value_a_kind_or_a_list_changes_nothing)
{
    espl_write_list list = new_list();
    const espl_transform value = espl_transform_identity();

    node = make_chain(w, 1);
    ck_ok(espl_write_list_push(&list, node[0], ESPL_WRITE_LOCAL_SCALE, &value.scale));
    const espl_write before = room[1];
    ck_status(espl_write_list_push(&list, node[0], ESPL_WRITE_LOCAL_SCALE, NULL),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_write_list_push(&list, node[0], ESPL_WRITE_KIND_COUNT, &value),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_write_list_push(&list, node[0], (espl_write_kind)-1, &value), ESPL_ERR_ARGUMENT);
    ck_status(espl_write_list_push(NULL, node[0], ESPL_WRITE_LOCAL_SCALE, &value.scale),
              ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_mem_eq(&room[1], &before, sizeof before);
}

TEST(refused_entries_are_named_by_their_places_and_leave_the_list)
{
    espl_write_list list = new_list();
    espl_write_report report;
    const float x[3] = {5, 0, 0};

    node = make_chain(w, 3);
    ck_ok(espl_write_list_push(&list, node[0], ESPL_WRITE_LOCAL_POSITION, x));
    ck_ok(espl_write_list_push(&list, espl_entity_null(), ESPL_WRITE_LOCAL_POSITION, x));
    ck_ok(espl_write_list_push(&list, node[2], ESPL_WRITE_LOCAL_POSITION, x));
    ck_status(espl_write_listed(w, &list, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.applied, 2);
    ck_assert_uint_eq(report.refused, 1);
    ck_assert_uint_eq(report.first_refused, 1);
    ck_status(report.first_status, ESPL_ERR_NULL_ENTITY);
    ck_assert(espl_entity_is_null(room[report.first_refused].entity));
    ck_assert_uint_eq(list.count, 0);
    ck_assert_float_eq(test_world_of(w, node[2]).position[0], 11);
}

// The first stretch of a hierarchy takes memory.
TEST(a_batch_that_is_refused_whole_leaves_the_list_to_be_written_again)
{
    espl_write_list list = new_list();
    const float stretch[3] = {1, 2, 3};

    node = make_chain(w, 2);
    ck_ok(espl_write_list_push(&list, node[0], ESPL_WRITE_STRETCH, stretch));
    const uint64_t hash = test_physical_hash(w);
    test_heap_arm(&test.heap, 1, true);
    ck_status(espl_write_listed(w, &list, NULL), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_uint_eq(test_physical_hash(w), hash);
    test_heap_arm(&test.heap, 0, false);
    ck_ok(espl_write_listed(w, &list, NULL));
    ck_assert_uint_eq(list.count, 0);
    ck_assert_float_eq(test_local_of(w, node[0]).stretch[2], 3);
}

TEST(a_list_without_room_is_full_and_no_list_is_an_argument)
{
    espl_write_list list = ESPL_ZERO;
    espl_write_report report;
    const float scale = 2;

    node = make_chain(w, 1);
    ck_status(espl_write_list_push(&list, node[0], ESPL_WRITE_LOCAL_SCALE, &scale), ESPL_ERR_LIMIT);
    memset(&report, 0xA5, sizeof report);
    ck_ok(espl_write_listed(w, &list, &report));
    ck_assert_uint_eq(report.applied + report.refused, 0);
    memset(&report, 0xA5, sizeof report);
    ck_status(espl_write_listed(w, NULL, &report), ESPL_ERR_ARGUMENT);
    ck_assert_uint_eq(report.applied + report.refused, 0);
    ck_status(espl_write_listed(NULL, &list, NULL), ESPL_ERR_ARGUMENT);
}
