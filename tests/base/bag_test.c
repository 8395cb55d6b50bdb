// SPDX-License-Identifier: MIT
// Growable arrays that begin in a slice of somebody else's memory.
#include "lib/base/bag.h"

#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

enum { SLICE = 8 };

static test_heap under;
static espl__heap heap;
static espl__bag bag;
static uint32_t slice[SLICE];

static void set_up(void)
{
    test_heap_init(&under);
    const espl_allocator allocator = test_heap_allocator(&under);

    espl__heap_init(&heap, &allocator);
    memset(slice, 0, sizeof slice);
    espl__bag_begin(&bag, slice, SLICE);
}

static void tear_down(void)
{
    espl__bag_drop(&bag, &heap, sizeof(uint32_t));
    ck_assert_uint_eq(espl__heap_bytes(&heap), 0);
    ck_assert_uint_eq(under.bytes, 0);
    ck_assert_uint_eq(under.blocks, 0);
    ck_assert_uint_eq(under.faults, 0);
}

static bool reserve(size_t more)
{
    return espl__bag_reserve(&bag, &heap, sizeof(uint32_t), more);
}

static uint32_t *items(void)
{
    return bag.items;
}

static void push(uint32_t value)
{
    ck_assert_uint_lt(bag.count, bag.capacity);
    items()[bag.count++] = value;
}

// Item i holds 7 i.
static void fill_to(uint32_t count)
{
    while (bag.count < count) {
        ck_assert(reserve(1));
        push(7 * bag.count);
    }
}

static void holds(uint32_t count)
{
    ck_assert_uint_eq(bag.count, count);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(items()[i], 7 * i);
    }
}

// --- In the slice ---

START_TEST(a_bag_begins_empty_in_its_slice)
{
    ck_assert_ptr_eq(bag.items, slice);
    ck_assert_uint_eq(bag.count, 0);
    ck_assert_uint_eq(bag.capacity, SLICE);
    ck_assert_uint_eq(bag.is_own, 0);
    ck_assert_uint_eq(under.calls, 0);
}
END_TEST

START_TEST(what_fits_stays_in_the_slice_and_asks_nobody)
{
    for (size_t more = 0; more <= SLICE; ++more) {
        ck_assert(reserve(more));
    }
    fill_to(SLICE);
    ck_assert(reserve(0));
    holds(SLICE);
    ck_assert_ptr_eq(bag.items, slice);
    ck_assert_uint_eq(bag.is_own, 0);
    ck_assert_uint_eq(under.calls, 0);
}
END_TEST

START_TEST(a_bag_without_a_slice_grows_too)
{
    espl__bag_begin(&bag, NULL, 0);
    ck_assert(reserve(0));
    ck_assert_ptr_null(bag.items);
    ck_assert_uint_eq(under.calls, 0);
    fill_to(30);
    holds(30);
}
END_TEST

START_TEST(a_drop_leaves_the_slice_to_its_owner)
{
    fill_to(SLICE);
    espl__bag_drop(&bag, &heap, sizeof(uint32_t));
    ck_assert_ptr_null(bag.items);
    ck_assert_uint_eq(bag.count + bag.capacity + bag.is_own, 0);
    ck_assert_uint_eq(under.calls, 0);
    for (uint32_t i = 0; i < SLICE; ++i) {
        ck_assert_uint_eq(slice[i], 7 * i);
    }
}
END_TEST

START_TEST(a_slice_larger_than_any_bag_is_used_in_part)
{
    espl__bag_begin(&bag, slice, SIZE_MAX);
    ck_assert_uint_eq(bag.capacity, INT32_MAX);
    ck_assert_uint_eq(bag.is_own, 0);
    espl__bag_begin(&bag, slice, SLICE);
}
END_TEST

// --- In a block of its own ---

START_TEST(growth_moves_everything_to_an_aligned_block)
{
    fill_to(SLICE);
    ck_assert(reserve(1));
    ck_assert_ptr_ne(bag.items, slice);
    ck_assert_uint_eq(bag.is_own, 1);
    ck_assert_uint_eq((uintptr_t)bag.items % 64, 0);
    ck_assert_uint_gt(bag.capacity, SLICE);
    ck_assert_uint_eq(under.blocks, 1);
    ck_assert_uint_eq(espl__heap_bytes_for(&heap, ESPL__FOR_COMMANDS),
                      bag.capacity * sizeof(uint32_t));
    holds(SLICE);
    // The slice holds what it held: nobody else's memory is written to.
    ck_assert_uint_eq(slice[SLICE - 1], 7 * (SLICE - 1));
}
END_TEST

START_TEST(growth_is_geometric)
{
    const uint32_t count = 100000;

    fill_to(count);
    ck_assert_uint_eq(under.blocks, 1);
    ck_assert_uint_lt(under.calls, 40);
    ck_assert_uint_le(bag.capacity, 2 * count);
    holds(count);
}
END_TEST

START_TEST(room_for_many_is_there_at_once)
{
    fill_to(3);
    ck_assert(reserve(1000));
    ck_assert_uint_ge(bag.capacity, 1003);
    const void *const block = bag.items;

    fill_to(1003);
    ck_assert_ptr_eq(bag.items, block);
    ck_assert_uint_eq(under.calls, 1);
    holds(1003);
}
END_TEST

START_TEST(what_was_emptied_keeps_its_block)
{
    fill_to(100);
    const void *const block = bag.items;
    const size_t calls = under.calls;

    bag.count = 0;
    fill_to(100);
    ck_assert_ptr_eq(bag.items, block);
    ck_assert_uint_eq(under.calls, calls);
    holds(100);
}
END_TEST

START_TEST(a_drop_gives_the_block_back)
{
    fill_to(100);
    ck_assert_uint_gt(under.bytes, 0);
    espl__bag_drop(&bag, &heap, sizeof(uint32_t));
    ck_assert_uint_eq(under.bytes, 0);
    ck_assert_ptr_null(bag.items);
    espl__bag_drop(&bag, &heap, sizeof(uint32_t));
    ck_assert_uint_eq(under.faults, 0);
}
END_TEST

// --- Without memory ---

START_TEST(growth_without_memory_changes_nothing)
{
    for (uint32_t count = 0; count < 200; count += 25) {
        espl__bag_drop(&bag, &heap, sizeof(uint32_t));
        espl__bag_begin(&bag, slice, SLICE);
        fill_to(count);
        const espl__bag before = bag;
        const size_t bytes = under.bytes;

        test_heap_arm(&under, 1, true);
        ck_assert(!reserve(bag.capacity - bag.count + 1));
        ck_assert_uint_eq(under.failures, 1);
        test_heap_arm(&under, 0, false);
        ck_assert_int_eq(memcmp(&before, &bag, sizeof bag), 0);
        ck_assert_uint_eq(under.bytes, bytes);
        holds(count);
        fill_to(count + 300);
        holds(count + 300);
    }
}
END_TEST

START_TEST(sizes_past_all_bounds_are_refused_before_the_allocator_is_asked)
{
    fill_to(3);
    ck_assert(!reserve(SIZE_MAX));
    ck_assert(!reserve(SIZE_MAX - 2));
    ck_assert(!reserve(UINT32_MAX));
    ck_assert(!reserve(UINT32_MAX / 4 - 2));
    ck_assert(!espl__bag_reserve(&bag, &heap, SIZE_MAX / 16, 100));
    ck_assert_uint_eq(under.calls, 0);
    ck_assert_ptr_eq(bag.items, slice);
    holds(3);
}
END_TEST

// --- Against an array that is large enough ---

START_TEST(items_of_any_size_are_what_was_put_in)
{
    static unsigned char expected[1 << 16];
    uint64_t random = 3;

    for (size_t size = 1; size <= 130; size += 1 + size / 3) {
        const size_t room = test_below(&random, 5);
        unsigned char few[5 * 130];
        espl__bag b;

        espl__bag_begin(&b, few, room);
        for (uint32_t count = 0; count < 200;) {
            const uint32_t more = test_below(&random, 40);

            ck_assert(espl__bag_reserve(&b, &heap, size, more));
            ck_assert_uint_ge(b.capacity - b.count, more);
            for (size_t i = 0; i < more * size; ++i) {
                const unsigned char byte = (unsigned char)test_random(&random);

                expected[count * size + i] = byte;
                ((unsigned char *)b.items)[count * size + i] = byte;
            }
            b.count = count += more;
            ck_assert_int_eq(count == 0 ? 0 : memcmp(b.items, expected, count * size), 0);
        }
        espl__bag_drop(&b, &heap, size);
        ck_assert_uint_eq(under.bytes, 0);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *const suite = suite_create("base/bag");
    TCase *const slices = tcase_create("slice");
    TCase *const blocks = tcase_create("block");
    TCase *const failures = tcase_create("failures");

    tcase_add_checked_fixture(slices, set_up, tear_down);
    tcase_add_test(slices, a_bag_begins_empty_in_its_slice);
    tcase_add_test(slices, what_fits_stays_in_the_slice_and_asks_nobody);
    tcase_add_test(slices, a_bag_without_a_slice_grows_too);
    tcase_add_test(slices, a_drop_leaves_the_slice_to_its_owner);
    tcase_add_test(slices, a_slice_larger_than_any_bag_is_used_in_part);
    suite_add_tcase(suite, slices);

    tcase_add_checked_fixture(blocks, set_up, tear_down);
    tcase_add_test(blocks, growth_moves_everything_to_an_aligned_block);
    tcase_add_test(blocks, growth_is_geometric);
    tcase_add_test(blocks, room_for_many_is_there_at_once);
    tcase_add_test(blocks, what_was_emptied_keeps_its_block);
    tcase_add_test(blocks, a_drop_gives_the_block_back);
    tcase_add_test(blocks, items_of_any_size_are_what_was_put_in);
    suite_add_tcase(suite, blocks);

    tcase_add_checked_fixture(failures, set_up, tear_down);
    tcase_add_test(failures, growth_without_memory_changes_nothing);
    tcase_add_test(failures, sizes_past_all_bounds_are_refused_before_the_allocator_is_asked);
    suite_add_tcase(suite, failures);
    return suite;
}

RUN_SUITE(make_suite)
