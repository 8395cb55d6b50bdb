// SPDX-License-Identifier: MIT
// Numbers of keys: first appearance decides, for few keys and for many, and a failure loses none.
#include "lib/base/key_numbers.h"

#include "tests/base/heap_fixture.h"

enum { MANY = 2000 };

static espl__arena arena;
static espl__key_numbers numbers;

static void set_up(void)
{
    heap_begin();
    espl__arena_init(&arena, &heap, ESPL__FOR_COMMANDS);
    espl__key_numbers_begin(&numbers);
}

static void tear_down(void)
{
    espl__arena_free(&arena);
    heap_is_empty();
}

FIXTURE(set_up, tear_down);

// A key for each of [0, 2^32), none like another: neighbours differ in high bits, low bits or both.
static uint64_t key_of(uint32_t i)
{
    return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 32 : (uint64_t)i << 32 | i;
}

TEST_LOOP(keys_are_numbered_by_first_appearance, 0, 4)
{
    static const uint32_t counts[] = {1, ESPL__FEW_KEYS, ESPL__FEW_KEYS + 1, MANY};
    const uint32_t count = counts[_i];
    uint64_t random = 11;

    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__key_number(&numbers, &arena, key_of(i)), i);
        // Keys that were numbered before keep their numbers.
        const uint32_t earlier = test_below(&random, i + 1);

        ck_assert_uint_eq(espl__key_number(&numbers, &arena, key_of(earlier)), earlier);
        ck_assert_uint_eq(numbers.count, i + 1);
    }
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(espl__key_number(&numbers, &arena, key_of(i)), i);
    }
}

TEST(few_keys_take_no_memory)
{
    for (uint32_t i = 0; i < ESPL__FEW_KEYS; ++i) {
        (void)espl__key_number(&numbers, &arena, key_of(i));
    }
    ck_assert_uint_eq(under.calls, 0);
}

TEST(key_that_finds_no_memory_leaves_the_others_numbered)
{
    uint32_t failures = 0;

    for (uint32_t i = 0; i < MANY; ++i) {
        test_heap_arm(&under, 1, false);
        uint32_t number = espl__key_number(&numbers, &arena, key_of(i));
        test_heap_arm(&under, 0, false);

        if (number == UINT32_MAX) {
            failures += 1;
            ck_assert_uint_eq(numbers.count, i);
            for (uint32_t k = 0; k < i && i <= ESPL__FEW_KEYS; ++k) {
                ck_assert_uint_eq(espl__key_number(&numbers, &arena, key_of(k)), k);
            }
            number = espl__key_number(&numbers, &arena, key_of(i));
        }
        ck_assert_uint_eq(number, i);
    }
    ck_assert_uint_ge(failures, 2);
}
