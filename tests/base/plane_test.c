// SPDX-License-Identifier: MIT
// Planes against a list of the moments of all changes: at any moment, also where stamps and blocks wrap.
#include "tests/runner.h"
#include "tests/support.h"

#include "lib/base/plane.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 300 };

// A plane, and when each of its items changed last.
typedef struct pair {
    espl__heap heap;
    espl__plane plane;
    uint64_t now;
    uint64_t changed[ITEMS]; // 0: never
    uint64_t random;
} pair;

static test_heap heap;
static pair p;

static void begin_at(uint64_t moment)
{
    const espl__plane closed = {.moment = (uint32_t)moment};
    const espl_allocator allocator = test_heap_allocator(&heap);

    memset(&p, 0, sizeof p);
    p.now = moment;
    espl__heap_init(&p.heap, &allocator);
    ck_assert(espl__plane_make(&p.heap, ESPL__FOR_TREE, &p.plane, ITEMS, &closed, 0));
}

static void set_up_heap(void)
{
    test_heap_init(&heap);
}

static void free_plane(void)
{
    espl__plane_free(&p.heap, ESPL__FOR_TREE, &p.plane);
    ck_assert_uint_eq(espl__heap_bytes(&p.heap), 0);
    ck_assert_uint_eq(heap.bytes, 0);
    ck_assert_uint_eq(heap.faults, 0);
}

FIXTURE(set_up_heap, free_plane);

static void mark(uint32_t begin, uint32_t end)
{
    if (end - begin == 1) {
        espl__plane_mark(&p.plane, begin);
    } else {
        espl__plane_mark_range(&p.plane, begin, end);
    }
    for (uint32_t i = begin; i < end; ++i) {
        p.changed[i] = p.now;
    }
}

static void step(uint64_t moments)
{
    for (; moments != 0; --moments) {
        p.now += 1;
        espl__plane_set_moment(&p.plane, (uint32_t)p.now);
    }
}

// Demand what a walk since a moment says of each item: exact up to ESPL__PLANE_AGE moments ago, and else
// all of a block of which some item changed, and of no other but those that never did.
static void check_since(uint64_t since)
{
    espl__plane_walk walk = {.planes = {&p.plane},
                             .plane_count = 1,
                             .items = ITEMS,
                             .since = espl__plane_since(p.now, since)};
    const bool is_coarse = p.now - since > ESPL__PLANE_AGE;
    unsigned char told[ITEMS] = {0};
    const char *rule = NULL;
    uint32_t at = 0;

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0;) {
        for (uint32_t i = 0; i < ESPL__PLANE_BLOCK; ++i) {
            if ((left >> i & 1) != 0) {
                ck_assert_uint_lt(walk.block * ESPL__PLANE_BLOCK + i, ITEMS);
                told[walk.block * ESPL__PLANE_BLOCK + i] = 1;
            }
        }
    }
    for (uint32_t i = 0; i < ITEMS; ++i) {
        const bool has_changed = p.changed[i] > since;

        ck_assert_msg(told[i] || !has_changed, "item %u is missed at %llu since %llu", i,
                      (unsigned long long)p.now, (unsigned long long)since);
        ck_assert(is_coarse || told[i] == has_changed);
        ck_assert_int_eq(espl__plane_has_changed(&p.plane, i, walk.since), told[i]);
    }
    rule = espl__plane_broken_rule(&p.plane, &at);
    ck_assert_msg(rule == NULL, "item %u: %s", at, rule);
}

TEST(an_item_is_told_apart_from_its_neighbours)
{
    begin_at(1);
    for (uint32_t i = 0; i < ITEMS; ++i) {
        step(1);
        mark(i, i + 1);
        check_since(p.now - 1);
        check_since(p.now);
        check_since(p.now > 5 ? p.now - 5 : 1);
    }
}

TEST(ranges_are_marked_to_their_ends)
{
    begin_at(1);
    for (uint32_t begin = 0; begin < 140; ++begin) {
        for (uint32_t size = 0; size < 140; size += 1 + size / 9) {
            step(1);
            espl__plane_mark_range(&p.plane, begin, begin + size);
            for (uint32_t i = begin; i < begin + size; ++i) {
                p.changed[i] = p.now;
            }
            check_since(p.now - 1);
        }
    }
}

// Where the low 16 bits of a moment wrap, where its low 32 bits do, and far from both.
TEST_LOOP(moments_wrap_without_a_miss, 0, 4)
{
    const uint64_t starts[4] = {1, (UINT64_C(1) << 16) - 5, (UINT64_C(1) << 32) - 5,
                                (UINT64_C(7) << 32) + 12345};

    begin_at(starts[_i]);
    p.random = starts[_i];
    for (int i = 0; i < 60; ++i) {
        const uint32_t at = test_below(&p.random, ITEMS - 20);

        mark(at, at + 1 + test_below(&p.random, 20));
        step(1 + test_below(&p.random, 2));
        check_since(p.now - 1);
        check_since(p.now - 1 - test_below(&p.random, (uint32_t)(p.now - starts[_i])));
    }
}

// An item of which the stamp would come round looks old for ever.
TEST(an_old_change_never_looks_new)
{
    begin_at(1000);
    mark(70, 71);
    for (uint32_t i = 0; i < 40000 + 70000; i += 7) {
        step(7);
        if (i % 700 == 0) {
            mark(5, 6); // of another block
        }
        if (i % 70 == 0) {
            check_since(p.now - 1);
            check_since(p.now - 300);
        }
    }
    check_since(1);
    check_since(999);
}

// A consumer that did not look for a long time learns of blocks.
TEST(a_look_past_the_greatest_age_tells_blocks)
{
    begin_at(1000);
    step(3);
    mark(70, 71);
    step(3 * (uint64_t)ESPL__PLANE_AGE);
    ck_assert(espl__plane_is_coarse(&p.plane, 1000));
    ck_assert(espl__plane_has_changed(&p.plane, 64, 1000));
    ck_assert(!espl__plane_has_changed(&p.plane, 63, 1000));
    check_since(1000);
    check_since(1003);
}

// A moment before the oldest that blocks tell apart is as old as that.
TEST(a_look_of_any_age_misses_nothing)
{
    begin_at(5);
    mark(70, 71);
    // Steps that stamps allow, so that blocks are clamped on the way.
    while (p.now < (UINT64_C(1) << 32) + 1000) {
        p.now += 16000;
        espl__plane_set_moment(&p.plane, (uint32_t)p.now);
    }
    check_since(1);
    mark(200, 201);
    step(1);
    check_since(p.now - 1);
    check_since(2);
}

TEST(a_plane_that_grows_keeps_its_marks)
{
    espl__plane grown = {0};

    begin_at(77);
    mark(3, 9);
    step(2);
    mark(120, 131);
    ck_assert(espl__plane_make(&p.heap, ESPL__FOR_TREE, &grown, 5000, &p.plane, ITEMS));
    ck_assert_uint_ge(grown.capacity, 5000);
    espl__plane_free(&p.heap, ESPL__FOR_TREE, &p.plane);
    ck_assert(!espl__plane_is_open(&p.plane));
    p.plane = grown;
    check_since(76);
    check_since(78);
    ck_assert(!espl__plane_has_changed(&p.plane, 4000, 76));
}

TEST(a_plane_without_memory_is_not_made)
{
    espl__plane none = {0};

    begin_at(1);
    test_heap_arm(&heap, 1, true);
    ck_assert(!espl__plane_make(&p.heap, ESPL__FOR_TREE, &none, 100, &p.plane, 100));
    test_heap_arm(&heap, 0, false);
    ck_assert(!espl__plane_is_open(&none));
    ck_assert_uint_eq(espl__plane_bytes(&none), 0);
}

// No memory is taken: 8 GiB would be needed.
TEST(a_plane_of_more_items_than_32_bits_count_is_not_made)
{
    espl__plane none = {0};

    begin_at(1);
    const size_t bytes = heap.bytes;

    for (uint32_t capacity = UINT32_MAX; capacity > UINT32_MAX - ESPL__PLANE_BLOCK + 1;
         --capacity) {
        ck_assert(!espl__plane_make(&p.heap, ESPL__FOR_TREE, &none, capacity, &p.plane, ITEMS));
        ck_assert(!espl__plane_is_open(&none));
        ck_assert_uint_eq(heap.bytes, bytes);
    }
}

TEST(an_item_newer_than_its_block_breaks_a_rule)
{
    uint32_t item = 0;

    begin_at(1);
    step(9);
    p.plane.stamps[130] = (uint16_t)(p.now - 2);
    ck_assert_str_eq(espl__plane_broken_rule(&p.plane, &item),
                     "a block is not older than its stamps");
    ck_assert_uint_eq(item, 130);
    p.plane.stamps[130] = (uint16_t)(p.now + 1);
    ck_assert_str_eq(espl__plane_broken_rule(&p.plane, &item), "no stamp is newer than the moment");
    p.plane.stamps[130] = p.plane.stamps[131];
    ck_assert_ptr_null(espl__plane_broken_rule(&p.plane, &item));
}

// Walks over several planes meet each block once, in ascending order.
TEST(a_walk_joins_planes)
{
    const espl__plane closed = {.moment = 9};
    espl__plane other = {0};
    uint32_t last = 0, blocks = 0;

    begin_at(9);
    ck_assert(espl__plane_make(&p.heap, ESPL__FOR_TREE, &other, ITEMS, &closed, 0));
    mark(10, 11);
    mark(299, 300);
    espl__plane_mark(&other, 11);
    espl__plane_mark(&other, 140);
    step(1);
    espl__plane_set_moment(&other, (uint32_t)p.now);
    espl__plane_walk walk = {
        .planes = {&p.plane, &other}, .plane_count = 2, .items = ITEMS - 1, .since = 8};

    espl__plane_walk_begin(&walk);
    for (uint64_t left; (left = espl__plane_walk_next(&walk)) != 0; ++blocks) {
        ck_assert(blocks == 0 || walk.block > last);
        last = walk.block;
        ck_assert_uint_eq(left, walk.changed[0] | walk.changed[1]);
    }
    ck_assert_uint_eq(blocks, 2);
    espl__plane_free(&p.heap, ESPL__FOR_TREE, &other);
}
