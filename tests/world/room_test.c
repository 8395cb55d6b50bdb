// SPDX-License-Identifier: MIT
// Memory of writes: none, except for the side arrays of the first stretch, user data or inherit
// flags of a hierarchy and the scratch of batches. Both can be reserved in advance. Without memory
// a write changes nothing, and unused side arrays are freed.
#include "tests/forms.h"
#include "tests/fixture.h"
#include "tests/runner.h"
#include "tools/aligned.h"

#include <stdlib.h>

enum { COUNT = 20 };

// --- What needs a side array ---

static espl_transform stretched(float stretch)
{
    espl_transform value = test_at(1, 0, 0);

    value.stretch[1] = stretch;
    return value;
}

// Each way to have the first of something in a hierarchy, and each way back. Number n of the first
// is undone by number n of the second.
enum { WAYS = 9 };

static espl_status go(espl_world *world, espl_entity entity, int way)
{
    static const float stretch[3] = {1, 2, 1};
    const espl_transform value = stretched(2);

    switch (way) {
    case 0:
        return espl_set_stretch(world, entity, stretch);
    case 1:
        return espl_write_one(world, entity, ESPL_WRITE_MULTIPLY_STRETCH, stretch);
    case 2:
        return espl_set_user_data(world, entity, 5);
    case 3:
        return espl_set_local_transform(world, entity, &value);
    case 4:
        return espl_set_inherit(world, entity, ESPL_ABSOLUTE_Y);
    case 5:
        return espl_set_inherit(world, entity, ESPL_COPY_PARENT);
    case 6:
        return espl_set_inherit(world, entity, ESPL_STRICT_UP);
    case 7: {
        const espl_write write = write_vector(entity, ESPL_WRITE_STRETCH, 1, 2, 1);
        return espl_write_batch(world, &write, 1, NULL);
    }
    default: {
        const espl_write write = {
            .entity = entity, .kind = ESPL_WRITE_WORLD_TRANSFORM, .value.transform = stretched(3)};
        return espl_write_batch(world, &write, 1, NULL);
    }
    }
}

static espl_status go_back(espl_world *world, espl_entity entity, int way)
{
    static const float stretch[3] = {1, 1, 1}, half[3] = {1, 0.5f, 1};
    const espl_transform value = stretched(1);

    switch (way) {
    case 0:
        return espl_set_stretch(world, entity, stretch);
    case 1:
        return espl_write_one(world, entity, ESPL_WRITE_MULTIPLY_STRETCH, half);
    case 2:
        return espl_set_user_data(world, entity, 0);
    case 3:
        return espl_set_local_transform(world, entity, &value);
    case 4:
    case 5:
    case 6:
        return espl_set_inherit(world, entity, 0);
    case 7: {
        const espl_write write = write_vector(entity, ESPL_WRITE_STRETCH, 1, 1, 1);
        return espl_write_batch(world, &write, 1, NULL);
    }
    default: {
        const espl_write write = {
            .entity = entity, .kind = ESPL_WRITE_WORLD_TRANSFORM, .value.transform = stretched(1)};
        return espl_write_batch(world, &write, 1, NULL);
    }
    }
}

// Batches keep their scratch, which is paid before anything is counted.
static espl_entity *begin(test_world *test, uint32_t tag)
{
    test_world_begin(test, tag, NULL);
    espl_entity *const node = make_chain(test->world, COUNT);
    ck_assert_int_eq(espl_reserve(test->world, &(espl_reserve_def){.writes = COUNT}), ESPL_OK);
    return node;
}

TEST_LOOP(what_needs_a_side_array_no_longer_gives_it_back, 0, WAYS)
{
    test_world test;
    espl_entity *const node = begin(&test, 0);
    const size_t bytes = test.heap.bytes, blocks = test.heap.blocks;

    ck_assert_int_eq(go(test.world, node[COUNT - 1], _i), ESPL_OK);
    ck_assert_uint_gt(test.heap.bytes, bytes);
    test_world_is_valid(test.world);
    ck_assert_int_eq(go_back(test.world, node[COUNT - 1], _i), ESPL_OK);
    ck_assert_uint_eq(test.heap.bytes, bytes);
    ck_assert_uint_eq(test.heap.blocks, blocks);
    ck_assert_uint_eq(test_stats(test.world).bytes, bytes);
    test_world_is_valid(test.world);
    free(node);
    test_world_end(&test);
}

TEST_LOOP(a_side_array_stays_until_the_last_one_that_needs_it, 0, WAYS)
{
    test_world test;
    espl_entity *const node = begin(&test, 0);
    const size_t bytes = test.heap.bytes;

    ck_assert_int_eq(go(test.world, node[3], _i), ESPL_OK);
    const size_t taken = test.heap.bytes;
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(go(test.world, node[7], _i), ESPL_OK);
    ck_assert_int_eq(go_back(test.world, node[3], _i), ESPL_OK);
    ck_assert_uint_eq(test.heap.bytes, taken);
    ck_assert_int_eq(go(test.world, node[3], _i), ESPL_OK);
    ck_assert_int_eq(go_back(test.world, node[3], _i), ESPL_OK);
    ck_assert_int_eq(go_back(test.world, node[7], _i), ESPL_OK);
    ck_assert_uint_eq(test.heap.calls, 0);
    ck_assert_uint_eq(test.heap.bytes, bytes);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    test_world_end(&test);
}

// --- During iteration ---

TEST_LOOP(during_iteration_a_write_is_refused_where_it_needs_a_side_array, 0, WAYS)
{
    const espl_query_def all = {0};
    espl_query query;
    test_world test;
    espl_entity *const node = begin(&test, 0);

    ck_assert_int_eq(espl_query_begin(test.world, &all, &query), ESPL_OK);
    const uint64_t before = test_physical_hash(test.world);
    ck_assert_int_eq(go(test.world, node[4], _i), ESPL_ERR_BUSY);
    ck_assert_uint_eq(test_physical_hash(test.world), before);
    // The way back asks for the default, but for a multiplication of what is not there.
    ck_assert_int_eq(go_back(test.world, node[4], _i), _i == 1 ? ESPL_ERR_BUSY : ESPL_OK);
    espl_query_end(&query);

    ck_assert_int_eq(go(test.world, node[4], _i), ESPL_OK);
    ck_assert_int_eq(espl_query_begin(test.world, &all, &query), ESPL_OK);
    ck_assert_int_eq(go(test.world, node[5], _i), ESPL_OK);
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.side_of = node[5]}),
                     ESPL_ERR_BUSY);
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.writes = 5000}), ESPL_ERR_BUSY);
    espl_query_end(&query);
    free(node);
    test_world_end(&test);
}

TEST(writes_of_every_kind_are_carried_out_during_iteration)
{
    const espl_query_def all = {0};
    uint64_t random = 4;
    espl_query query;
    test_world test;
    espl_entity *const node = begin(&test, 0);

    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.side_of = node[0]}), ESPL_OK);
    ck_assert_int_eq(espl_query_begin(test.world, &all, &query), ESPL_OK);
    for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
        for (int form = 0; form < FORM_COUNT; ++form) {
            const espl_write write =
                write_ordinary(node[kind % COUNT], (espl_write_kind)kind, &random);
            ck_assert_int_eq(form_write(test.world, &write, (write_form)form), ESPL_OK);
        }
    }
    espl_query_end(&query);
    free(node);
    test_world_end(&test);
}

// --- Ahead of time ---

TEST_LOOP(a_hierarchy_with_reserved_sides_takes_and_gives_nothing, 0, WAYS)
{
    test_world test;
    espl_entity *const node = begin(&test, 0);

    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.side_of = node[11]}), ESPL_OK);
    const size_t bytes = test.heap.bytes;
    test_heap_arm(&test.heap, 1, true);
    for (uint32_t i = 1; i < COUNT; ++i) {
        ck_assert_int_eq(go(test.world, node[i], _i), ESPL_OK);
    }
    for (uint32_t i = 1; i < COUNT; ++i) {
        ck_assert_int_eq(go_back(test.world, node[i], _i), ESPL_OK);
    }
    ck_assert_uint_eq(test.heap.calls, 0);
    ck_assert_uint_eq(test.heap.bytes, bytes);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    test_world_end(&test);
}

// A change of structure lays the hierarchy out anew, with what it needs.
TEST_LOOP(reserved_sides_stay_through_a_playback_of_writes, 0, WAYS)
{
    espl_transform value = espl_transform_identity();
    espl_command_buffer *commands = NULL;
    espl_report report;
    test_world test;
    espl_entity *const node = begin(&test, 0);

    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.side_of = node[0]}), ESPL_OK);
    ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
    value.position[0] = 7;
    ck_assert_int_eq(espl_record_set_local_transform(espl_command_buffer_recorder(commands, 0), 0,
                                                     node[0], &value),
                     ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, &report), ESPL_OK);
    espl_command_buffer_destroy(commands);
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(go(test.world, node[4], _i), ESPL_OK);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    test_world_end(&test);
}

// They go when everything is laid out anew, and only then.
TEST(reserved_sides_go_with_a_compaction_that_does_not_need_them)
{
    espl_command_buffer *commands = NULL;
    test_world test;
    espl_entity *const node = begin(&test, 0);

    ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
    const size_t bytes = test_stats(test.world).bytes_tree;

    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.side_of = node[1]}), ESPL_OK);
    ck_assert_uint_gt(test_stats(test.world).bytes_tree, bytes);
    ck_assert_int_eq(espl_command_buffer_create(test.world, 1, &commands), ESPL_OK);
    ck_assert_int_eq(espl_record_detach(espl_command_buffer_recorder(commands, 0), 0,
                                        node[COUNT - 1], ESPL_KEEP_WORLD),
                     ESPL_OK);
    ck_assert_int_eq(espl_play(test.world, commands, NULL), ESPL_OK);
    ck_assert_int_eq(espl_attach(test.world, node[COUNT - 1], node[0], NULL), ESPL_OK);
    ck_assert_int_eq(espl_compact(test.world), ESPL_OK);
    ck_assert_uint_le(test_stats(test.world).bytes_tree, bytes);
    test_world_is_valid(test.world);
    espl_command_buffer_destroy(commands);
    free(node);
    test_world_end(&test);
}

TEST(a_solo_has_sides_of_its_own)
{
    test_world test;

    test_world_begin(&test, 0, NULL);
    const espl_entity one = test_solo(test.world), other = test_solo(test.world);
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.writes = 4}), ESPL_OK);
    const size_t bytes = test.heap.bytes;
    for (int way = 0; way < WAYS; ++way) {
        const bool sets_flags = way >= 4 && way <= 6;
        ck_assert_int_eq(go(test.world, one, way), sets_flags ? ESPL_ERR_NOT_CHILD : ESPL_OK);
        ck_assert(sets_flags || test.heap.bytes > bytes);
        ck_assert_int_eq(go_back(test.world, one, way), ESPL_OK);
        ck_assert_uint_eq(test.heap.bytes, bytes);
    }
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.side_of = other}), ESPL_OK);
    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(go(test.world, other, 0), ESPL_OK);
    ck_assert_int_eq(go(test.world, one, 0), ESPL_ERR_NO_MEMORY);
    test_heap_arm(&test.heap, 0, false);
    test_world_end(&test);
}

// --- Writes that need none ---

// Kinds whose value says nothing about stretch and context, or says the default.
TEST(plain_writes_take_no_memory)
{
    uint64_t random = 6;
    test_world test;
    espl_entity *const node = begin(&test, 0);

    test_heap_arm(&test.heap, 1, true);
    for (int round = 0; round < 10; ++round) {
        for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
            espl_write write = write_ordinary(node[kind % COUNT], (espl_write_kind)kind, &random);
            if (form_type(write.kind) == VALUE_STRETCH) {
                write = write_vector(write.entity, write.kind, 1, 1, 1);
            } else if (form_type(write.kind) == VALUE_CONTEXT) {
                write.value.user_data = 0;
            } else if (form_type(write.kind) == VALUE_TRANSFORM) {
                write.value.transform.stretch[2] = 1;
            }
            for (int form = 0; form < FORM_COUNT; ++form) {
                ck_assert_int_eq(form_write(test.world, &write, (write_form)form), ESPL_OK);
            }
        }
    }
    ck_assert_uint_eq(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    test_world_end(&test);
}

TEST(no_write_takes_memory_where_there_are_side_arrays)
{
    static const float point[3] = {1, 2, 3}, turn[4] = {0.6f, 0, 0, 0.8f};
    uint64_t random = 7;
    test_world test;
    espl_entity *const node = begin(&test, 0);

    ck_assert_int_eq(go(test.world, node[COUNT - 1], 0), ESPL_OK);
    ck_assert_int_eq(go(test.world, node[COUNT - 2], 4), ESPL_OK);
    test_heap_arm(&test.heap, 1, true);
    for (uint32_t i = 0; i < COUNT - 2; ++i) {
        for (int kind = 0; kind < ESPL_WRITE_KIND_COUNT; ++kind) {
            const espl_write write = write_ordinary(node[i], (espl_write_kind)kind, &random);
            ck_assert_int_ge(form_write(test.world, &write, (write_form)(kind % FORM_COUNT)), 0);
        }
        ck_assert_int_ge(espl_look_at(test.world, node[i], point, NULL, ESPL_AXIS_FORWARD), 0);
        ck_assert_int_ge(espl_rotate_about(test.world, node[i], point, turn), 0);
        ck_assert_int_ge(espl_set_inherit(test.world, node[i], i == 0 ? 0 : ESPL_ABSOLUTE_SCALE),
                         0);
    }
    ck_assert_uint_eq(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    test_world_end(&test);
}

// --- Batches ---

TEST(a_batch_with_reserved_room_takes_no_memory)
{
    const uint32_t nodes = test_fitting(500, 0), count = 2 * nodes;
    espl_write *const writes = malloc(count * sizeof *writes);
    uint64_t random = 2;
    test_world test;

    ck_assert_ptr_nonnull(writes);
    test_world_begin(&test, 0, NULL);
    espl_entity *const node = make_chain(test.world, nodes);
    for (uint32_t i = 0; i < count; ++i) {
        writes[i] = write_vector(node[i / 2], ESPL_WRITE_TRANSLATE_WORLD, 1, 1, 1);
    }
    shuffle_writes(writes, count, &random);
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.writes = count}), ESPL_OK);
    const size_t bytes = test.heap.bytes;
    ck_assert_int_eq(espl_reserve(test.world, &(espl_reserve_def){.writes = nodes}), ESPL_OK);
    ck_assert_uint_eq(test.heap.bytes, bytes);

    test_heap_arm(&test.heap, 1, true);
    ck_assert_int_eq(espl_write_batch(test.world, writes, count, NULL), ESPL_OK);
    ck_assert_int_eq(espl_write_batch(test.world, writes, 3, NULL), ESPL_OK);
    ck_assert_uint_eq(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    free(node);
    free(writes);
    test_world_end(&test);
}

// Gives blocks of up to 16 MiB.
static void *take_little(void *user, size_t size, size_t alignment)
{
    (void)user;
    return size <= (size_t)1 << 24 ? aligned_take(size, alignment) : NULL;
}

// Where a size_t has 32 bits, one of these counts takes it just once round, however many bytes
// each of the things asked for takes.
TEST(a_reserve_of_more_than_memory_holds_is_refused)
{
    const espl_world_def def = {.allocator = {NULL, take_little, test_give_block}};
    espl_world *world = NULL;

    ck_assert_int_eq(espl_world_create(&world, &def), ESPL_OK);
    for (size_t bytes = 16; bytes <= 512; ++bytes) {
        const size_t count = UINT32_MAX / bytes + 1;

        ck_assert_int_lt(espl_reserve(world, &(espl_reserve_def){.entities = count}), 0);
        ck_assert_int_lt(espl_reserve(world, &(espl_reserve_def){.writes = count}), 0);
        ck_assert_int_lt(espl_reserve(world, &(espl_reserve_def){.parallel_rows = count}), 0);
    }
    ck_assert(espl_validate(world, NULL));
    espl_world_destroy(world);
}
