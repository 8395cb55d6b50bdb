// SPDX-License-Identifier: MIT
#include "lib/base/array.h"

#include "tests/base/abort.h"
#include "tests/base/heap_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#ifdef ESPL_HARD_MOVE
enum { MOVES_HARD = 1 };
#else
enum { MOVES_HARD = 0 };
#endif

static const espl__purpose purpose = ESPL__FOR_STORE;

typedef struct item {
    uint64_t a, b, c;
} item;

FIXTURE(heap_begin, heap_is_empty);

TEST(items_survive_growth)
{
    item *items = NULL;
    const uint64_t count = MOVES_HARD ? 1000 : 10000;

    for (uint64_t i = 0; i < count; ++i) {
        ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 1));
        ck_assert_uint_eq((uintptr_t)items % 16, 0);
        ESPL_ARRAY_PUSH(items, (item){i, i * i, ~i});
        ck_assert_uint_eq(espl__array_length(items), i + 1);
        ck_assert_uint_ge(espl__array_capacity(items), i + 1);
    }
    for (uint64_t i = 0; i < count; ++i) {
        ck_assert(items[i].a == i && items[i].b == i * i && items[i].c == ~i);
    }

    ESPL_ARRAY_FREE(&heap, purpose, items);
    ck_assert_ptr_null(items);
}

TEST(empty_array_is_null)
{
    uint32_t *items = NULL;

    ck_assert_uint_eq(espl__array_length(items), 0);
    ck_assert_uint_eq(espl__array_capacity(items), 0);
    espl__array_set_length(items, 0);
    ESPL_ARRAY_FREE(&heap, purpose, items);
    ck_assert_uint_eq(under.calls, 0);
}

TEST(reserved_room_takes_pushes_without_memory)
{
    uint32_t *items = NULL;

    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 100));
    const uint32_t *const before = items;
    const size_t calls = under.calls;
    for (uint32_t i = 0; i < 100; ++i) {
        ESPL_ARRAY_PUSH(items, i);
    }
    ck_assert_ptr_eq(items, before);
    ck_assert_uint_eq(under.calls, calls);

    ESPL_ARRAY_FREE(&heap, purpose, items);
}

TEST(reserve_moves_where_there_is_room_only_in_hard_move_builds)
{
    uint32_t *items = NULL;

    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 4));
    ESPL_ARRAY_PUSH(items, 11);
    const uintptr_t before = (uintptr_t)items;
    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 1));
    ck_assert_int_eq((uintptr_t)items != before, MOVES_HARD);
    ck_assert_uint_eq(items[0], 11);

    ESPL_ARRAY_FREE(&heap, purpose, items);
}

TEST(only_a_long_array_keeps_room_in_hard_move_builds)
{
    enum { SHORT = 2048 };
    uint32_t *items = NULL;
    uint32_t moves = 0;

    if (!MOVES_HARD) {
        return;
    }
    for (uint32_t i = 0; i < 2 * SHORT; ++i) {
        const uint32_t *const before = items;

        ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 1));
        ESPL_ARRAY_PUSH(items, i);
        moves += items != before;
        ck_assert(i >= SHORT || moves == i + 1);
    }
    ck_assert_uint_ge(moves, SHORT + 16);
    ck_assert_uint_le(moves, SHORT + 32);
    ESPL_ARRAY_FREE(&heap, purpose, items);
}

TEST(growth_asks_for_memory_a_logarithmic_number_of_times)
{
    uint32_t *items = NULL;

    for (uint32_t i = 0; i < 100000 && !MOVES_HARD; ++i) {
        ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 1));
        ESPL_ARRAY_PUSH(items, i);
    }
    ck_assert_uint_le(under.calls, 30); // 8 times 1.5 to the 24th is past 100,000

    ESPL_ARRAY_FREE(&heap, purpose, items);
}

TEST(refused_growth_changes_nothing)
{
    uint64_t *items = NULL;

    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 2));
    ESPL_ARRAY_PUSH(items, 5);
    ESPL_ARRAY_PUSH(items, 6);
    const uint64_t *const before = items;
    const size_t capacity = espl__array_capacity(items);

    ck_assert(!ESPL_ARRAY_RESERVE(&heap, purpose, items, SIZE_MAX));
    ck_assert(!ESPL_ARRAY_RESERVE(&heap, purpose, items, SIZE_MAX / 8));
    ck_assert(!ESPL_ARRAY_RESERVE(&heap, purpose, items, SIZE_MAX / 8 - 3));
    ck_assert_uint_eq(under.failures, 0);
    test_heap_arm(&under, 1, false);
    ck_assert(!ESPL_ARRAY_RESERVE(&heap, purpose, items, 1000));
    ck_assert_uint_eq(under.failures, 1);

    ck_assert_ptr_eq(items, before);
    ck_assert_uint_eq(espl__array_length(items), 2);
    ck_assert_uint_eq(espl__array_capacity(items), capacity);
    ck_assert(items[0] == 5 && items[1] == 6);
    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 1000));
    ck_assert(items[0] == 5 && items[1] == 6);

    ESPL_ARRAY_FREE(&heap, purpose, items);
}

TEST(shrunk_array_has_the_room_that_is_left_to_it)
{
    uint32_t *items = NULL;

    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 0));
    ck_assert_ptr_null(items);
    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 100));
    for (uint32_t i = 0; i < 20; ++i) {
        ESPL_ARRAY_PUSH(items, i * i);
    }
    ck_assert_uint_eq(ESPL_ARRAY_BYTES(items), under.bytes);

    // To a room, to the length, to nothing.
    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 50));
    ck_assert_uint_eq(espl__array_capacity(items), 50);
    ck_assert_uint_eq(ESPL_ARRAY_BYTES(items), under.bytes);
    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 3));
    ck_assert_uint_eq(espl__array_capacity(items), 20);
    ck_assert_uint_eq(espl__array_length(items), 20);
    ck_assert_uint_eq(ESPL_ARRAY_BYTES(items), under.bytes);
    for (uint32_t i = 0; i < 20; ++i) {
        ck_assert_uint_eq(items[i], i * i);
    }
    espl__array_set_length(items, 0);
    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 0));
    ck_assert_ptr_null(items);
    ck_assert_uint_eq(ESPL_ARRAY_BYTES(items), 0);
}

TEST(shrinking_without_memory_changes_nothing)
{
    uint32_t *items = NULL;

    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 10));
    ESPL_ARRAY_PUSH(items, 4);
    const uint32_t *const before = items;

    test_heap_arm(&under, 1, true);
    ck_assert(!ESPL_ARRAY_SHRINK(&heap, purpose, items, 0));
    ck_assert_ptr_eq(items, before);
    ck_assert_uint_eq(espl__array_capacity(items), 10);
    ck_assert_uint_eq(items[0], 4);
    // What is as small as asked for, and what goes altogether, needs none.
    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 10));
    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 1000));
    espl__array_set_length(items, 0);
    ck_assert(ESPL_ARRAY_SHRINK(&heap, purpose, items, 0));
    ck_assert_uint_eq(under.calls, 1);
}

TEST(array_can_be_cut_and_filled_again)
{
    uint32_t *items = NULL;

    ck_assert(ESPL_ARRAY_RESERVE(&heap, purpose, items, 10));
    espl__array_set_length(items, 10);
    items[9] = 9;
    espl__array_set_length(items, 3);
    ESPL_ARRAY_PUSH(items, 33);
    ck_assert_uint_eq(items[3], 33);
    ck_assert_uint_eq(items[9], 9);
    ck_assert_uint_eq(espl__array_length(items), 4);

    ESPL_ARRAY_FREE(&heap, purpose, items);
}

static void push_without_room(void)
{
    uint32_t *items = NULL;

    ESPL_ARRAY_PUSH(items, 1);
}

static void set_length_past_the_capacity(void)
{
    espl__array_set_length(NULL, 1);
}

TEST(use_without_room_is_caught_by_checked_builds)
{
    char said[256];

    if (ESPL_CHECKS >= 1) {
        expect_abort(push_without_room, said, sizeof said);
        expect_abort(set_length_past_the_capacity, said, sizeof said);
    }
}

// A bijection on 32-bit numbers, so that keys are distinct and use all bits.
static uint32_t key_of(uint32_t i)
{
    return (i * 2654435761u) ^ (i << 31);
}

TEST(map_finds_thousands_of_keys)
{
    const uint32_t count = (uint32_t)test_scaled(10000);
    espl__map map = {0};
    uint32_t with_bit_31 = 0;

    for (uint32_t i = 0; i < count; ++i) {
        ck_assert(espl__map_reserve(&heap, purpose, &map));
        espl__map_put(&heap, purpose, &map, key_of(i), i);
        with_bit_31 += key_of(i) >> 31;
    }
    ck_assert_uint_gt(with_bit_31, count / 10);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__map_get(&map, key_of(i), UINT32_MAX), i);
        ck_assert_uint_eq(espl__map_get(&map, key_of(i + count), 77), 77);
    }

    espl__map_free(&heap, purpose, &map);
}

// stb_ds shifts key bytes into a sign bit; a sanitizer would stop here.
TEST(map_takes_keys_at_the_ends_of_the_range)
{
    const uint32_t keys[] = {0,           1,          0x7FFFFFFF, 0x80000000, 0x80000001,
                             0xFF000000u, 0xFFFFFFFE, 0xFFFFFFFF, 0x00008000, 0x0000FFFF};
    const uint32_t count = sizeof keys / sizeof *keys;
    espl__map map = {0};

    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__map_get(&map, keys[i], 99), 99);
        ck_assert(espl__map_reserve(&heap, purpose, &map));
        espl__map_put(&heap, purpose, &map, keys[i], i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__map_get(&map, keys[i], 99), i);
    }

    espl__map_free(&heap, purpose, &map);
}

TEST(putting_a_key_again_replaces_its_value)
{
    espl__map map = {0};

    for (uint32_t i = 0; i < 1000; ++i) {
        ck_assert(espl__map_reserve(&heap, purpose, &map));
        espl__map_put(&heap, purpose, &map, i % 10, i);
    }
    for (uint32_t key = 0; key < 10; ++key) {
        ck_assert_uint_eq(espl__map_get(&map, key, 0), 990 + key);
    }

    espl__map_free(&heap, purpose, &map);
}

TEST(free_map_is_empty)
{
    espl__map map = {0};

    espl__map_free(&heap, purpose, &map);
    ck_assert(espl__map_reserve(&heap, purpose, &map));
    espl__map_put(&heap, purpose, &map, 3, 4);
    espl__map_free(&heap, purpose, &map);
    ck_assert_uint_eq(espl__map_get(&map, 3, 5), 5);
    ck_assert(espl__map_reserve(&heap, purpose, &map));
    espl__map_free(&heap, purpose, &map);
}

TEST(put_after_reserve_takes_no_memory)
{
    const uint32_t count = (uint32_t)test_scaled(3000);
    espl__map map = {0};

    for (uint32_t i = 0; i < count; ++i) {
        ck_assert(espl__map_reserve(&heap, purpose, &map));
        const size_t calls = under.calls;
        heap.is_forbidden = true;
        espl__map_put(&heap, purpose, &map, key_of(i), i);
        heap.is_forbidden = false;
        ck_assert_uint_eq(under.calls, calls);
    }

    espl__map_free(&heap, purpose, &map);
}

// Fills a map whose n-th allocation fails, once or for good, and tries again when it does.
// Returns false when the allocations came to an end before.
static bool fill_with_failure(size_t fail_at, bool fails_after)
{
    espl__map map = {0};
    const uint32_t count = 200;

    test_heap_arm(&under, fail_at, fails_after);
    for (uint32_t i = 0; i < count; ++i) {
        if (!espl__map_reserve(&heap, purpose, &map)) {
            for (uint32_t before = 0; before < count; ++before) {
                ck_assert_uint_eq(espl__map_get(&map, key_of(before), 999),
                                  before < i ? before : 999);
            }
            under.fail_at = 0;
            ck_assert(espl__map_reserve(&heap, purpose, &map));
        }
        espl__map_put(&heap, purpose, &map, key_of(i), i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__map_get(&map, key_of(i), 999), i);
    }
    espl__map_free(&heap, purpose, &map);
    heap_is_empty();
    return under.failures > 0;
}

TEST(map_survives_a_failure_of_any_allocation)
{
    size_t points = 1;

    while (fill_with_failure(points, false)) {
        ck_assert(fill_with_failure(points, true));
        points += 1;
    }
    ck_assert_uint_gt(points, 6);
}

static void *fill_a_map_of_its_own(void *wrong)
{
    espl__heap own;
    espl__map map = {0};
    const espl_allocator none = {0};

    espl__heap_init(&own, &none);
    for (uint32_t i = 0; i < 2000; ++i) {
        if (!espl__map_reserve(&own, purpose, &map)) {
            *(bool *)wrong = true;
            break;
        }
        espl__map_put(&own, purpose, &map, key_of(i), i);
        *(bool *)wrong |= espl__map_get(&map, key_of(i / 2), 0) != i / 2;
    }
    espl__map_free(&own, purpose, &map);
    *(bool *)wrong |= espl__heap_bytes(&own) != 0;
    return NULL;
}

TEST(map_tells_its_bytes_and_gives_back_what_is_reserved)
{
    const uint32_t count = (uint32_t)test_scaled(3000);
    espl__map map = {0};

    ck_assert_uint_eq(espl__map_bytes(&map), 0);
    espl__map_trim(&heap, purpose, &map);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert(espl__map_reserve(&heap, purpose, &map));
        ck_assert_uint_eq(espl__map_bytes(&map), under.bytes);
        espl__map_put(&heap, purpose, &map, i * 7, i);
        ck_assert_uint_eq(espl__map_bytes(&map), under.bytes);
        if (i % 400 == 0) {
            espl__map_trim(&heap, purpose, &map);
            ck_assert_uint_eq(espl__map_bytes(&map), under.bytes);
            // The entries and their index are left.
            ck_assert_uint_eq(under.blocks, 2);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__map_get(&map, i * 7, 5000), i);
    }
    espl__map_free(&heap, purpose, &map);
}

TEST(two_threads_fill_maps_at_once)
{
    pthread_t threads[2];
    bool wrong[2] = {false, false};

    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fill_a_map_of_its_own, &wrong[i]), 0);
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert(!wrong[i]);
    }
}

// Another thread, which puts a key into a map of its own.
typedef struct visitor {
    pthread_t thread;
    bool is_due, is_wrong;
    atomic_bool is_putting, is_done;
} visitor;

static void *put_one_key(void *user)
{
    visitor *const v = user;
    espl__heap own;
    espl__map map = {0};
    const espl_allocator none = {0};

    espl__heap_init(&own, &none);
    (void)espl__map_reserve(&own, purpose, &map);
    atomic_store(&v->is_putting, true);
    espl__map_put(&own, purpose, &map, 7, 77);
    atomic_store(&v->is_done, true);
    v->is_wrong |= espl__map_get(&map, 7, 0) != 77;
    espl__map_free(&own, purpose, &map);
    return NULL;
}

static void *allocate_below(void *user, size_t size, size_t alignment)
{
    const espl_allocator below = test_heap_allocator(&under);

    (void)user;
    return below.allocate(below.user, size, alignment);
}

// Called in the middle of a put, which gives its old block back: let the visitor put meanwhile.
static void release_beside_a_visitor(void *user, void *block, size_t size, size_t alignment)
{
    visitor *const v = user;
    const espl_allocator below = test_heap_allocator(&under);

    below.release(below.user, block, size, alignment);
    if (!v->is_due) {
        return;
    }
    v->is_due = false;
    ck_assert_int_eq(pthread_create(&v->thread, NULL, put_one_key, v), 0);
    while (!atomic_load(&v->is_putting)) {
        (void)sched_yield();
    }
    for (int i = 0; i < 100; ++i) {
        ck_assert_msg(!atomic_load(&v->is_done), "two threads are in stb_ds at once");
        (void)sched_yield();
    }
}

TEST(put_waits_while_another_thread_puts)
{
    visitor v = {.is_due = false};
    const espl_allocator allocator = {&v, allocate_below, release_beside_a_visitor};
    espl__map map = {0};
    uint32_t count = 0;

    espl__heap_init(&heap, &allocator);
    for (; !atomic_load(&v.is_putting); ++count) {
        ck_assert(espl__map_reserve(&heap, purpose, &map));
        v.is_due = true;
        espl__map_put(&heap, purpose, &map, key_of(count), count);
        v.is_due = false;
    }
    ck_assert_int_eq(pthread_join(v.thread, NULL), 0);
    ck_assert(atomic_load(&v.is_done) && !v.is_wrong);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__map_get(&map, key_of(i), 999), i);
    }
    espl__map_free(&heap, purpose, &map);
}

TEST(hash_is_fnv_1a)
{
    ck_assert_uint_eq(espl__hash_bytes("", 0), 0x811C9DC5u);
    ck_assert_uint_eq(espl__hash_bytes("a", 1), 0xE40C292Cu);
    ck_assert_uint_eq(espl__hash_bytes("foobar", 6), 0xBF9CF968u);
}
