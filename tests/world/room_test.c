// SPDX-License-Identifier: MIT
// Memory of writes: none, except for the side arrays of the first stretch, user data or inherit
// flags of a hierarchy and the scratch of batches. Both can be reserved in advance. Without memory
// a write changes nothing, and unused side arrays are freed.
#include "tests/forms.h"
#include "tests/one_tree.h"
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

// Each way to have the first of something in a hierarchy, and back to the default.
enum { WAYS = 9 };

static espl_status set_way(espl_world *world, espl_entity entity, int way, bool is_default)
{
    static const uint32_t flags[3] = {ESPL_ABSOLUTE_Y, ESPL_COPY_PARENT, ESPL_STRICT_UP};
    const float y = is_default ? 1 : 2, stretch[3] = {1, y, 1};
    const float factor[3] = {1, is_default ? 0.5f : 2, 1};
    const espl_transform value = stretched(y);
    espl_write write = write_vector(entity, ESPL_WRITE_STRETCH, 1, y, 1);

    switch (way) {
    case 0:
        return espl_set_stretch(world, entity, stretch);
    case 1:
        return espl_write_one(world, entity, ESPL_WRITE_MULTIPLY_STRETCH, factor);
    case 2:
        return espl_set_user_data(world, entity, is_default ? 0 : 5);
    case 3:
        return espl_set_local_transform(world, entity, &value);
    case 4:
    case 5:
    case 6:
        return espl_set_inherit(world, entity, is_default ? 0 : flags[way - 4]);
    case 7:
        return espl_write_batch(world, &write, 1, NULL);
    default:
        write.kind = ESPL_WRITE_WORLD_TRANSFORM;
        write.value.transform = stretched(is_default ? 1 : 3);
        return espl_write_batch(world, &write, 1, NULL);
    }
}

static espl_status go(espl_world *world, espl_entity entity, int way)
{
    return set_way(world, entity, way, false);
}

static espl_status go_back(espl_world *world, espl_entity entity, int way)
{
    return set_way(world, entity, way, true);
}

// Batches keep their scratch, which is paid before anything is counted.
static void begin(void)
{
    set_up();
    node = make_chain(w, COUNT);
    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = COUNT}));
}

FIXTURE(begin, end);

TEST_LOOP(what_needs_a_side_array_no_longer_gives_it_back, 0, WAYS)
{
    const size_t bytes = test.heap.bytes, blocks = test.heap.blocks;

    ck_ok(go(w, node[COUNT - 1], _i));
    ck_assert_uint_gt(test.heap.bytes, bytes);
    test_world_is_valid(w);
    ck_ok(go_back(w, node[COUNT - 1], _i));
    ck_assert_uint_eq(test.heap.bytes, bytes);
    ck_assert_uint_eq(test.heap.blocks, blocks);
    ck_assert_uint_eq(test_stats(w).bytes, bytes);
    test_world_is_valid(w);
}

TEST_LOOP(a_side_array_stays_until_the_last_one_that_needs_it, 0, WAYS)
{
    const size_t bytes = test.heap.bytes;

    ck_ok(go(w, node[3], _i));
    const size_t taken = test.heap.bytes;
    test_heap_arm(&test.heap, 1, true);
    ck_ok(go(w, node[7], _i));
    ck_ok(go_back(w, node[3], _i));
    ck_assert_uint_eq(test.heap.bytes, taken);
    ck_ok(go(w, node[3], _i));
    ck_ok(go_back(w, node[3], _i));
    ck_ok(go_back(w, node[7], _i));
    ck_assert_uint_eq(test.heap.calls, 0);
    ck_assert_uint_eq(test.heap.bytes, bytes);
}

// --- During iteration ---

TEST_LOOP(during_iteration_a_write_is_refused_where_it_needs_a_side_array, 0, WAYS)
{
    const espl_query_def all = {0};
    espl_query query;

    ck_ok(espl_query_begin(w, &all, &query));
    const uint64_t before = test_physical_hash(w);
    ck_status(go(w, node[4], _i), ESPL_ERR_BUSY);
    ck_assert_uint_eq(test_physical_hash(w), before);
    // The way back asks for the default, but for a multiplication of what is not there.
    ck_status(go_back(w, node[4], _i), _i == 1 ? ESPL_ERR_BUSY : ESPL_OK);
    espl_query_end(&query);

    ck_ok(go(w, node[4], _i));
    ck_ok(espl_query_begin(w, &all, &query));
    ck_ok(go(w, node[5], _i));
    ck_status(espl_reserve(w, &(espl_reserve_def){.side_of = node[5]}), ESPL_ERR_BUSY);
    ck_status(espl_reserve(w, &(espl_reserve_def){.writes = 5000}), ESPL_ERR_BUSY);
    espl_query_end(&query);
}

TEST(writes_of_every_kind_are_carried_out_during_iteration)
{
    const espl_query_def all = {0};
    uint64_t random = 4;
    espl_query query;

    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = node[0]}));
    ck_ok(espl_query_begin(w, &all, &query));
    for (int kind = 0; kind < TEST_KINDS; ++kind) {
        for (int form = 0; form < FORM_COUNT; ++form) {
            const espl_write write =
                write_ordinary(node[kind % COUNT], (espl_write_kind)kind, &random);
            ck_ok(form_write(w, &write, (write_form)form));
        }
    }
    espl_query_end(&query);
}

// --- Ahead of time ---

TEST_LOOP(a_hierarchy_with_reserved_sides_takes_and_gives_nothing, 0, WAYS)
{
    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = node[11]}));
    const size_t bytes = test.heap.bytes;
    test_heap_arm(&test.heap, 1, true);
    for (uint32_t i = 1; i < COUNT; ++i) {
        ck_ok(go(w, node[i], _i));
    }
    for (uint32_t i = 1; i < COUNT; ++i) {
        ck_ok(go_back(w, node[i], _i));
    }
    ck_assert_uint_eq(test.heap.calls, 0);
    ck_assert_uint_eq(test.heap.bytes, bytes);
}

// A change of structure lays the hierarchy out anew, with what it needs.
TEST_LOOP(reserved_sides_stay_through_a_playback_of_writes, 0, WAYS)
{
    espl_transform value = espl_transform_identity();
    espl_report report;

    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = node[0]}));
    espl_command_buffer *const commands = test_commands(w, 1);
    value.position[0] = 7;
    ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, node[0],
                            ESPL_WRITE_LOCAL_TRANSFORM, &value));
    ck_ok(espl_play(w, commands, &report));
    espl_command_buffer_destroy(commands);
    test_heap_arm(&test.heap, 1, true);
    ck_ok(go(w, node[4], _i));
}

// They go when everything is laid out anew, and only then.
TEST(reserved_sides_go_with_a_compaction_that_does_not_need_them)
{
    ck_ok(espl_compact(w));
    const size_t bytes = test_stats(w).bytes_tree;

    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = node[1]}));
    ck_assert_uint_gt(test_stats(w).bytes_tree, bytes);
    espl_command_buffer *const commands = test_commands(w, 1);
    ck_ok(espl_record_detach(espl_command_buffer_recorder(commands, 0), 0, node[COUNT - 1],
                             ESPL_KEEP_WORLD));
    ck_ok(espl_play(w, commands, NULL));
    ck_ok(espl_attach(w, node[COUNT - 1], node[0], NULL));
    ck_ok(espl_compact(w));
    ck_assert_uint_le(test_stats(w).bytes_tree, bytes);
    test_world_is_valid(w);
    espl_command_buffer_destroy(commands);
}

FIXTURE(set_up, end);

FIXTURE(set_up, end);

TEST(a_solo_has_sides_of_its_own)
{
    const espl_entity one = test_solo(w), other = test_solo(w);
    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = 4}));
    const size_t bytes = test.heap.bytes;
    for (int way = 0; way < WAYS; ++way) {
        const bool sets_flags = way >= 4 && way <= 6;
        ck_status(go(w, one, way), sets_flags ? ESPL_ERR_NOT_CHILD : ESPL_OK);
        ck_assert(sets_flags || test.heap.bytes > bytes);
        ck_ok(go_back(w, one, way));
        ck_assert_uint_eq(test.heap.bytes, bytes);
    }
    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = other}));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(go(w, other, 0));
    ck_status(go(w, one, 0), ESPL_ERR_NO_MEMORY);
}

// --- Writes that need none ---

FIXTURE(begin, end);

// Kinds whose value says nothing about stretch and context, or says the default.
TEST(plain_writes_take_no_memory)
{
    uint64_t random = 6;

    test_heap_arm(&test.heap, 1, true);
    for (int round = 0; round < 10; ++round) {
        for (int kind = 0; kind < TEST_KINDS; ++kind) {
            espl_write write = write_ordinary(node[kind % COUNT], (espl_write_kind)kind, &random);
            if (form_type(write.kind) == VALUE_STRETCH) {
                write = write_vector(write.entity, write.kind, 1, 1, 1);
            } else if (form_type(write.kind) == VALUE_CONTEXT) {
                write.value.user_data = 0;
            } else if (form_type(write.kind) == VALUE_TRANSFORM) {
                write.value.transform.stretch[2] = 1;
            }
            for (int form = 0; form < FORM_COUNT; ++form) {
                ck_ok(form_write(w, &write, (write_form)form));
            }
        }
    }
    ck_assert_uint_eq(test.heap.calls, 0);
}

TEST(no_write_takes_memory_where_there_are_side_arrays)
{
    static const float point[3] = {1, 2, 3}, turn[4] = {0.6f, 0, 0, 0.8f};
    uint64_t random = 7;

    ck_ok(go(w, node[COUNT - 1], 0));
    ck_ok(go(w, node[COUNT - 2], 4));
    test_heap_arm(&test.heap, 1, true);
    for (uint32_t i = 0; i < COUNT - 2; ++i) {
        for (int kind = 0; kind < TEST_KINDS; ++kind) {
            const espl_write write = write_ordinary(node[i], (espl_write_kind)kind, &random);
            ck_assert_int_ge(form_write(w, &write, (write_form)(kind % FORM_COUNT)), 0);
        }
        ck_assert_int_ge(espl_look_at(w, node[i], point, NULL, ESPL_AXIS_FORWARD), 0);
        ck_assert_int_ge(espl_rotate_about(w, node[i], point, turn), 0);
        ck_assert_int_ge(espl_set_inherit(w, node[i], i == 0 ? 0 : ESPL_ABSOLUTE_SCALE), 0);
    }
    ck_assert_uint_eq(test.heap.calls, 0);
}

// --- Batches ---

FIXTURE(set_up, end);

TEST(a_batch_with_reserved_room_takes_no_memory)
{
    const uint32_t nodes = test_fitting(500, 0), count = 2 * nodes;
    espl_write *const writes = test_array(count, sizeof *writes);
    uint64_t random = 2;

    node = make_chain(w, nodes);
    for (uint32_t i = 0; i < count; ++i) {
        writes[i] = write_vector(node[i / 2], ESPL_WRITE_TRANSLATE_WORLD, 1, 1, 1);
    }
    shuffle_writes(writes, count, &random);
    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = count}));
    const size_t bytes = test.heap.bytes;
    ck_ok(espl_reserve(w, &(espl_reserve_def){.writes = nodes}));
    ck_assert_uint_eq(test.heap.bytes, bytes);

    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_write_batch(w, writes, count, NULL));
    ck_ok(espl_write_batch(w, writes, 3, NULL));
    ck_assert_uint_eq(test.heap.calls, 0);
    free(writes);
}

FIXTURE(NULL, NULL);

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

    ck_ok(espl_world_create(&def, &world));
    for (size_t bytes = 16; bytes <= 512; ++bytes) {
        const size_t count = UINT32_MAX / bytes + 1;

        ck_assert_int_lt(espl_reserve(world, &(espl_reserve_def){.entities = count}), 0);
        ck_assert_int_lt(espl_reserve(world, &(espl_reserve_def){.writes = count}), 0);
        ck_assert_int_lt(espl_reserve(world, &(espl_reserve_def){.parallel_rows = count}), 0);
    }
    ck_assert(espl_validate(world, NULL));
    espl_world_destroy(world);
}
