// SPDX-License-Identifier: MIT
// Histories, a rule each: frames and their range, room, memory, and calls that are refused. What comes back is in
// history_values_test.c, what a world does after a rewind in history_futures_test.c.
#include "tests/images.h"
#include "tests/value/one_history.h"

#include <espalier/writers.h>

#include <stdlib.h>
#include <string.h>

FIXTURE(begin, end);

// --- Frames ---

TEST(a_world_goes_back_to_each_frame_that_it_has)
{
    uint64_t logical[5], physical[5];

    demand_no_frame();
    for (uint64_t i = 0; i < 5; ++i) {
        move((float)i);
        logical[i] = test_logical_hash(w);
        physical[i] = test_physical_hash(w);
        ck_ok(espl_history_mark(h, 10 + 3 * i));
    }
    demand_range(10, 22);
    move(99);
    for (int i = 4; i >= 0; --i) {
        ck_ok(espl_history_rewind(h, 10 + 3 * (uint64_t)i, 0, NULL));
        ck_assert_uint_eq(test_logical_hash(w), logical[i]);
        ck_assert_uint_eq(test_physical_hash(w), physical[i]);
        ck_assert_float_eq(place(), (float)i);
        demand_range(10, 10 + 3 * (uint64_t)i);
        test_world_is_valid(w);
    }
}

TEST(a_rewind_to_the_newest_frame_undoes_what_came_after_it_again_and_again)
{
    ck_ok(espl_history_mark(h, 1));
    const uint64_t physical = test_physical_hash(w);

    for (int i = 0; i < 3; ++i) {
        ck_ok(espl_history_rewind(h, 1, 0, NULL));
        ck_assert_uint_eq(test_physical_hash(w), physical);
        ck_ok(espl_destroy(w, nodes[0], ESPL_EXTENT_SUBTREE));
        ck_ok(espl_history_rewind(h, 1, 0, NULL));
        ck_assert_uint_eq(test_physical_hash(w), physical);
        move((float)i + 50);
    }
    demand_range(1, 1);
}

TEST(frames_that_were_never_marked_or_are_gone_are_too_old)
{
    ck_status(espl_history_rewind(h, 0, 0, NULL), ESPL_ERR_TOO_OLD);
    for (uint64_t i = 1; i <= 20; ++i) {
        move((float)i);
        ck_ok(espl_history_mark(h, 2 * i));
    }
    demand_range(10, 40); // the last 16
    const uint64_t physical = test_physical_hash(w);
    static const uint64_t bad[] = {0, 2, 8, 11, 39, 41, UINT64_MAX};
    uint64_t hash = 5;
    espl_rewind report;

    memset(&report, 0xA5, sizeof report);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_status(espl_history_rewind(h, bad[i], 0, &report), ESPL_ERR_TOO_OLD);
        ck_status(espl_history_hash(h, bad[i], &hash), ESPL_ERR_TOO_OLD);
    }
    for (size_t i = 0; i < sizeof report; ++i) {
        ck_assert_uint_eq(((const unsigned char *)&report)[i], 0xA5);
    }
    ck_assert_uint_eq(hash, 5);
    ck_assert_uint_eq(test_physical_hash(w), physical);
    ck_assert_uint_eq(espl_world_timeline(w), 0);
    // Frames that a rewind abandoned are too old, also where later frames get their numbers.
    ck_ok(espl_history_rewind(h, 20, 0, NULL));
    ck_status(espl_history_rewind(h, 22, 0, NULL), ESPL_ERR_TOO_OLD);
    move(500);
    ck_ok(espl_history_mark(h, 23));
    ck_status(espl_history_rewind(h, 22, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_status(espl_history_rewind(h, 24, 0, NULL), ESPL_ERR_TOO_OLD);
    ck_ok(espl_history_mark(h, 24));
    move(3);
    ck_ok(espl_history_rewind(h, 24, 0, NULL));
    ck_assert_float_eq(place(), 500);
    demand_range(10, 24);
}

TEST(frames_ascend)
{
    ck_ok(espl_history_mark(h, 0));
    ck_status(espl_history_mark(h, 0), ESPL_ERR_ARGUMENT);
    ck_ok(espl_history_mark(h, UINT64_MAX));
    ck_status(espl_history_mark(h, UINT64_MAX), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_mark(h, 7), ESPL_ERR_ARGUMENT);
    demand_range(0, UINT64_MAX);
    ck_ok(espl_history_rewind(h, 0, 0, NULL));
    ck_ok(espl_history_mark(h, 7));
    demand_range(0, 7);
}

TEST(what_changes_a_world_as_a_whole_empties_its_history)
{
    test_image saved = test_image_of(w);

    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_world_clear(w)); // which does not
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert(espl_is_alive(w, nodes[3]));
    for (int i = 0; i < 4; ++i) {
        move((float)i);
        ck_ok(espl_history_mark(h, 10));
        switch (i) {
        case 0:
            ck_ok(espl_compact(w));
            break;
        case 1:
            test_image_load(w, &saved, 0);
            break;
        case 2:
            ck_ok(espl_motion_start(w, NULL));
            break;
        default:
            ck_ok(espl_motion_stop(w));
        }
        demand_no_frame();
        ck_status(espl_history_rewind(h, 10, 0, NULL), ESPL_ERR_TOO_OLD);
        // A frame may have any number again.
        ck_ok(espl_history_mark(h, 4));
        const uint64_t physical = test_physical_hash(w);

        move(8);
        ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
        ck_ok(espl_history_rewind(h, 4, 0, NULL));
        ck_assert_uint_eq(test_physical_hash(w), physical);
        demand_range(4, 4);
    }
    test_image_end(&saved);
}

FIXTURE(NULL, NULL);

TEST(a_history_has_eight_frames_where_it_is_not_said)
{
    begin_with(NULL);
    for (uint64_t i = 1; i < 30; ++i) {
        ck_ok(espl_history_mark(h, i));
        demand_range(i < 8 ? 1 : i - 7, i);
    }
    end();
}

TEST(a_history_of_one_frame_has_the_last_one)
{
    begin_with(&(espl_history_def){.frames = 1, .byte_limit = 4096});
    for (uint64_t i = 1; i < 9; ++i) {
        move((float)i);
        ck_ok(espl_history_mark(h, i));
        demand_range(i, i);
        move(70);
        ck_ok(espl_history_rewind(h, i, 0, NULL));
        ck_assert_float_eq(place(), (float)i);
    }
    end();
}

TEST(frames_without_changes_are_frames)
{
    begin_with(&(espl_history_def){.frames = 1024, .flags = ESPL_HISTORY_HASH, .byte_limit = 4096});
    const size_t bytes = test_stats(w).bytes;

    for (uint64_t i = 1; i <= 1024; ++i) {
        ck_ok(espl_history_mark(h, i));
    }
    demand_range(1, 1024);
    ck_assert_uint_eq(hash_of(1), hash_of(1024));
    ck_assert_uint_eq(test_stats(w).bytes, bytes);
    ck_ok(espl_history_mark(h, 1025));
    demand_range(2, 1025);
    const uint64_t physical = test_physical_hash(w);

    move(30);
    ck_ok(espl_history_rewind(h, 2, 0, NULL));
    ck_assert_uint_eq(test_physical_hash(w), physical);
    demand_range(2, 2);
    end();
}

// --- Room ---

// Two frames with a change of some size between them.
static espl_status mark_twice(size_t byte_limit, int way)
{
    begin_with(&(espl_history_def){.frames = 4, .byte_limit = byte_limit});
    ck_ok(espl_history_mark(h, 1));
    if (way == 0) {
        move(9);
    } else if (way == 1) {
        test_solos(w, test_fitting(30, 5), NULL);
    } else {
        ck_ok(espl_destroy(w, nodes[0], ESPL_EXTENT_SUBTREE));
        ck_ok(espl_set_name(w, nodes[3], "a name"));
    }
    return espl_history_mark(h, 2);
}

TEST_LOOP(a_byte_too_little_leaves_the_newest_frame_alone, 0, 3)
{
    size_t below = 1, enough = 1 << 16;

    ck_ok(mark_twice(enough, _i));
    end();
    while (enough - below > 1) {
        const size_t limit = below + (enough - below) / 2;

        if (mark_twice(limit, _i) == ESPL_OK) {
            enough = limit;
        } else {
            below = limit;
        }
        end();
    }
    ck_ok(mark_twice(enough, _i));
    demand_range(1, 2);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_float_eq(place(), 1);
    ck_assert(espl_is_alive(w, nodes[0]) && espl_get_name(w, nodes[3])[0] == '\0');
    ck_assert_uint_eq(test_stats(w).entities, 4);
    end();
    ck_status(mark_twice(below, _i), ESPL_PARTLY);
    demand_range(2, 2);
    ck_status(espl_history_rewind(h, 1, 0, NULL), ESPL_ERR_TOO_OLD);
    const uint64_t physical = test_physical_hash(w);

    // It goes on from there.
    ck_ok(espl_set_name(w, nodes[3], "another name"));
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_rewind(h, 2, 0, NULL));
    ck_assert_uint_eq(test_physical_hash(w), physical);
    ck_ok(espl_history_mark(h, 3));
    demand_range(2, 3);
    end();
}

TEST(old_frames_make_room_for_new_ones)
{
    uint64_t oldest = 0, newest = 0;

    begin_with(&(espl_history_def){.frames = 64, .byte_limit = 2000});
    for (uint64_t i = 1; i < 60; ++i) {
        move((float)i);
        ck_ok(espl_history_mark(h, i));
    }
    ck_assert(espl_history_range(h, &oldest, &newest));
    ck_assert_uint_eq(newest, 59);
    ck_assert_uint_gt(oldest, 1);
    ck_assert_uint_lt(oldest, 58);
    for (uint64_t i = 59; i >= oldest; --i) {
        ck_ok(espl_history_rewind(h, i, 0, NULL));
        ck_assert_float_eq(place(), (float)i);
    }
    end();
}

FIXTURE(begin, end);

// --- Memory ---

TEST(a_rewind_and_a_mark_take_no_memory)
{
    const uint32_t count = test_fitting(200, 10);

    ck_ok(espl_history_mark(h, 1));
    test_solos(w, count, NULL);
    ck_ok(espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_Y));
    ck_ok(espl_history_mark(h, 2));
    ck_ok(espl_world_clear(w));
    ck_ok(espl_history_mark(h, 3));
    test_solos(w, 5, NULL);
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_history_mark(h, 4));
    ck_ok(espl_history_rewind(h, 3, 0, NULL));
    ck_ok(espl_history_rewind(h, 2, 0, NULL));
    ck_assert_uint_eq(test_stats(w).entities, count + 4);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_uint_eq(test.heap.failures, 0);
    test_heap_arm(&test.heap, 0, false);
    ck_assert_uint_eq(test_stats(w).entities, 4);
}

TEST(a_history_without_memory_is_not_made)
{
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t calls = 0;

    espl_history_destroy(h);
    h = NULL;
    const uint64_t physical = test_physical_hash(w);

    for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
        const size_t bytes = test_stats(w).bytes;

        test_heap_arm(&test.heap, at, at % 2 == 0);
        status = espl_history_create(w, &usual, &h);
        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(w);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_ptr_null(h);
            ck_assert_uint_eq(test_stats(w).bytes, bytes);
            ck_assert_uint_eq(test_physical_hash(w), physical);
            calls += 1;
        }
    }
    ck_ok(status);
    ck_assert_uint_gt(calls, 3);
}

// Calls that make a world grow, each without its n-th allocation: refused or done, and a rewind undoes it.
static espl_status grow(int way)
{
    switch (way) {
    case 0:
        return espl_create(w, &number, 1, test_fitting(300, 10), NULL);
    case 1:
        return espl_create(w, (espl_component[]){ESPL_TRANSFORM, number}, 2, test_fitting(300, 10),
                           NULL);
    case 2:
        return espl_instantiate(w, &(espl_instance_def){.source = nodes[0]}, 12, NULL);
    case 3:
        return espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_Y);
    case 4:
        return espl_set_name(w, nodes[1], "a name");
    case 5:
        return espl_add_component(w, nodes[1], number, &(uint64_t){4}, 8);
    default:
        return espl_reserve(w, &(espl_reserve_def){.entities = 50});
    }
}

TEST_LOOP(a_world_with_a_history_that_lacks_memory_changes_nothing, 0, 14)
{
    const int way = _i % 7;
    espl_status status = ESPL_ERR_NO_MEMORY;

    if (_i >= 7) { // with room that ends inside of a block of 64 slots, most of which is used
        if (test_lacks_room(400, "slots of more than one block")) {
            return;
        }
        ck_ok(espl_motion_start(w, NULL));
        ck_ok(espl_create(w, (espl_component[]){ESPL_TRANSFORM}, 1, 68, NULL));
    }
    ck_ok(espl_history_mark(h, 1));
    const uint64_t physical = test_physical_hash(w);

    for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
        test_heap_arm(&test.heap, at, at % 2 == 0);
        status = grow(way);
        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(w);
        if (status == ESPL_ERR_NO_MEMORY) {
            ck_assert_uint_eq(test_physical_hash(w), physical);
        }
        move(9);
        ck_ok(espl_history_mark(h, 2));
        ck_ok(espl_history_rewind(h, 1, 0, NULL));
        ck_assert_uint_eq(test_physical_hash(w), physical);
    }
    ck_ok(status);
}

// A trusted load reads to the slots of the world when nothing can refuse it any more: not the history either.
TEST_LOOP(a_load_for_which_the_history_lacks_memory_changes_nothing, 0, 2)
{
    const uint32_t flags = _i == 0 ? 0 : ESPL_IMAGE_TRUSTED;
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t lacks = 0;

    // So many slots that more than half of the pool is used.
    for (uint32_t i = 0; i < test_fitting(300, 30); ++i) {
        const espl_transform at = test_at((float)i, 0, 0);

        ck_ok(espl_create_node(w, test_null, &at, NULL, NULL));
    }
    test_image saved = test_image_of(w);

    move(4);
    ck_ok(espl_history_mark(h, 1));
    const uint64_t physical = test_physical_hash(w);

    for (size_t at = 1; status == ESPL_ERR_NO_MEMORY; ++at) {
        test_heap_arm(&test.heap, at, at % 2 == 0);
        status = espl_image_load(w, saved.bytes, saved.size, flags, NULL);
        test_heap_arm(&test.heap, 0, false);
        test_world_is_valid(w);
        if (status == ESPL_ERR_NO_MEMORY) {
            lacks += 1;
            ck_assert_uint_eq(test_physical_hash(w), physical);
            move(9);
            ck_ok(espl_history_rewind(h, 1, 0, NULL));
            ck_assert_uint_eq(test_physical_hash(w), physical);
        }
    }
    ck_ok(status);
    ck_assert_uint_gt(lacks, 10);
    ck_assert_float_eq(place(), 1);
    demand_no_frame();
    test_image_end(&saved);
}

// What a history takes is given back with it.
TEST(a_world_without_its_history_is_as_before)
{
    test_solos(w, 20, NULL);
    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_world_clear(w));
    ck_ok(espl_history_mark(h, 2));
    const size_t with = test_stats(w).bytes;

    espl_history_destroy(h);
    h = NULL;
    ck_assert_uint_lt(test_stats(w).bytes, with);
    test_world_is_valid(w);
    ck_ok(espl_history_create(w, &usual, &h));
    ck_ok(espl_history_mark(h, 1));
}

// --- Layouts ---

// A view lays out a tree that the next structural call was to lay out. That call then changes nothing else.
TEST(a_layout_that_is_due_no_more_is_part_of_a_frame)
{
    enum { COUNT = 40 };
    espl_entity few[COUNT];
    espl_view view;

    for (uint32_t i = 0; i < COUNT; ++i) {
        ck_ok(espl_create_node(w, i < 2 ? nodes[0] : few[i * 7 % i], NULL, NULL, &few[i]));
    }
    ck_ok(espl_destroy(w, few[COUNT - 1], ESPL_EXTENT_OWNED));
    ck_ok(espl_create_node(w, few[0], NULL, NULL, &few[COUNT - 1]));
    for (uint32_t i = 0; i < 2000; ++i) {
        ck_ok(espl_set_local_position(w, i % 2 == 0 ? nodes[0] : few[i % (COUNT - 1)],
                                      (float[3]){(float)i, 0, 0}));
    }
    ck_ok(espl_view_hierarchy(w, few[0], &view));
    ck_ok(espl_history_mark(h, 1));
    const uint64_t physical = test_physical_hash(w);

    ck_ok(espl_sync(w, NULL));
    ck_assert_uint_ne(test_physical_hash(w), physical);
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_ne(hash_of(2), hash_of(1));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_uint_eq(test_physical_hash(w), physical);
}

// --- Refused calls ---

TEST(a_world_is_not_destroyed_before_its_history)
{
    ck_ok(espl_history_mark(h, 1));
    ck_assert_uint_eq(test.hooks.lines + test.hooks.traps, 0);
    espl_world_destroy(w); // which says so, and does nothing
    ck_assert_uint_ge(test.hooks.lines + test.hooks.traps, 1);
    move(4);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_float_eq(place(), 1);
}

TEST(a_world_has_one_history)
{
    espl_history *other = NULL;

    ck_status(espl_history_create(w, NULL, &other), ESPL_ERR_EXISTS);
    ck_assert_ptr_null(other);
}

TEST(arguments_that_are_wrong_are_refused)
{
    espl_history *other = NULL;
    uint64_t hash = 5;

    ck_ok(espl_history_mark(h, 1));
    ck_status(espl_history_mark(NULL, 1), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_rewind(NULL, 1, 0, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_rewind(h, 1, 2, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_hash(NULL, 1, &hash), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_hash(h, 1, NULL), ESPL_ERR_ARGUMENT);
    ck_assert(!espl_history_range(NULL, NULL, NULL));
    ck_assert(espl_history_range(h, NULL, NULL));
    espl_history_destroy(NULL);
    espl_history_destroy(h);
    ck_status(espl_history_create(NULL, NULL, &other), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_create(w, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_create(w, &(espl_history_def){.flags = 2}, &other), ESPL_ERR_ARGUMENT);
    ck_status(espl_history_create(w, &(espl_history_def){.frames = 65537}, &other),
              ESPL_ERR_ARGUMENT);
    ck_status(espl_history_create(w, &(espl_history_def){.reserved = {0, 1}}, &other),
              ESPL_ERR_UNSUPPORTED);
    ck_assert_ptr_null(other);
    ck_ok(espl_history_create(w, &(espl_history_def){.frames = 2, .byte_limit = 100}, &h));
    ck_ok(espl_history_mark(h, 1));
    ck_status(espl_history_hash(h, 1, &hash), ESPL_ERR_UNSUPPORTED);
    ck_assert_uint_eq(hash, 5);
}

typedef struct inside {
    size_t calls;
} inside;

static void refuse_all(espl_world *world)
{
    espl_history *other = NULL;

    ck_status(espl_history_mark(h, 2), ESPL_ERR_BUSY);
    ck_status(espl_history_rewind(h, 1, 0, NULL), ESPL_ERR_BUSY);
    ck_status(espl_history_create(world, NULL, &other), ESPL_ERR_BUSY);
    ck_assert_ptr_null(other);
    demand_range(1, 1); // reads work
    (void)hash_of(1);
}

static void refuse_in_command(void *user, const espl_custom_calls *given)
{
    refuse_all(given->world);
    ((inside *)user)->calls += 1;
}

static void refuse_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    (void)writer;
    (void)rows;
    refuse_all(w);
    ((inside *)context)->calls += 1;
}

TEST(marks_and_rewinds_are_refused_in_a_world_in_use)
{
    inside in = {0};
    const espl_custom_command_def custom = {
        .name = "refuse", .user = &in, .function = refuse_in_command};
    const espl_parallel_def parallel = {.function = refuse_in_job, .context = &in};
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_custom_command command;
    espl_query query;

    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_query_begin(w, &(espl_query_def){0}, &query));
    refuse_all(w);
    espl_query_end(&query);
    ck_ok(espl_command_register(w, &custom, &command));
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, command, NULL, 0, 0));
    ck_ok(espl_play(w, commands, NULL));
    ck_assert_uint_eq(in.calls, 1);
    ck_ok(espl_write_parallel(w, &parallel, NULL));
    ck_assert_uint_gt(in.calls, 1);
    espl_command_buffer_destroy(commands);
    ck_ok(espl_history_mark(h, 2));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
}

FIXTURE(NULL, NULL);

// --- Size ---

// Hashes alone: a deep chain, and a root of many children.
// A root of many children, and a long chain: a million with ESPL_FACTOR=25.
TEST_LOOP(a_large_hierarchy_goes_back, 0, 2)
{
    const uint32_t count = (uint32_t)(test_scaled(40000) * test_factor());

    if (test_lacks_room(count + 10, "a large hierarchy")) {
        return;
    }
    begin_with(&(espl_history_def){.frames = 4});
    espl_entity *const all = make_trees(w, 1, count, _i == 0 ? 1 : 0);

    ck_ok(espl_history_mark(h, 1));
    const uint64_t physical = test_physical_hash(w);

    for (int turn = 0; turn < 4; ++turn) {
        switch (turn) {
        case 0:
            ck_ok(espl_set_local_position(w, all[0], (float[3]){0, 3, 0}));
            break;
        case 1:
            ck_ok(espl_detach(w, all[count / 2], ESPL_KEEP_WORLD));
            break;
        case 2:
            ck_ok(espl_destroy(w, all[count / 2], ESPL_EXTENT_ENTITY));
            break;
        default:
            ck_ok(espl_destroy(w, all[0], ESPL_EXTENT_SUBTREE));
        }
        ck_ok(espl_history_rewind(h, 1, 0, NULL));
        test_world_is_valid(w);
        ck_assert_uint_eq(test_physical_hash(w), physical);
    }
    free(all);
    end();
}
