// SPDX-License-Identifier: MIT
#include "lib/base/arena.h"

#include "tests/base/heap_fixture.h"

#include <string.h>

enum { KIB = 1024, LINE = 64 };

static espl__arena arena;

static void set_up(void)
{
    heap_begin();
    espl__arena_init(&arena, &heap, ESPL__FOR_COMMANDS);
}

static void tear_down(void)
{
    espl__arena_free(&arena);
    heap_is_empty();
}

// One round of pieces, each filled to its end.
static void use(size_t pieces, size_t size)
{
    for (size_t i = 0; i < pieces; ++i) {
        unsigned char *const piece = espl__arena_take(&arena, 1, size);

        ck_assert_ptr_nonnull(piece);
        memset(piece, (int)i, size);
    }
}

// The same, and back to the start; tells how often the allocator was asked.
static size_t calls_of_round(size_t pieces, size_t size)
{
    test_heap_arm(&under, 0, false);
    use(pieces, size);
    espl__arena_reset(&arena);
    return under.calls;
}

static bool is_all(const unsigned char *bytes, size_t size, int value)
{
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

FIXTURE(set_up, tear_down);

TEST(every_piece_is_aligned_to_a_line)
{
    for (size_t size = 0; size < 300; ++size) {
        const void *const piece = espl__arena_take(&arena, size, 1);

        ck_assert_ptr_nonnull(piece);
        ck_assert_uint_eq((uintptr_t)piece % LINE, 0);
    }
    for (size_t size = 10 * KIB; size < 80 * KIB; size += 7001) {
        ck_assert_uint_eq((uintptr_t)espl__arena_take(&arena, 1, size) % LINE, 0);
    }
}

TEST(pieces_of_one_round_do_not_overlap)
{
    enum { PIECES = 400 };
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    uint64_t random = 1;

    for (size_t round = 0; round < 5; ++round) {
        for (size_t i = 0; i < PIECES; ++i) {
            size[i] = test_below(&random, test_one_in(&random, 20) ? 40 * KIB : 200);
            piece[i] = espl__arena_take(&arena, size[i], 1);
            ck_assert_ptr_nonnull(piece[i]);
            memset(piece[i], (int)(i % 251), size[i]);
        }
        for (size_t i = 0; i < PIECES; ++i) {
            ck_assert_msg(is_all(piece[i], size[i], (int)(i % 251)), "piece %zu", i);
        }
        espl__arena_reset(&arena);
    }
}

TEST(count_and_size_multiply)
{
    unsigned char *const piece = espl__arena_take(&arena, 100, 48);
    const unsigned char *const next = espl__arena_take(&arena, 1, 1);

    memset(piece, 1, 4800);
    ck_assert(next >= piece + 4800 || next < piece);
    ck_assert_uint_eq(espl__arena_taken(&arena), 4800 + LINE);
}

TEST(zeroed_piece_is_zero_to_its_end_also_where_another_round_wrote)
{
    for (size_t round = 0; round < 4; ++round) {
        unsigned char *const piece = espl__arena_take_zeroed(&arena, 1001, 7);

        ck_assert_ptr_nonnull(piece);
        ck_assert(is_all(piece, 7007, 0));
        memset(piece, 0xff, 7007);
        espl__arena_reset(&arena);
    }
    ck_assert_ptr_nonnull(espl__arena_take_zeroed(&arena, 0, 7));
}

TEST(asking_for_nothing_gives_a_pointer_inside_the_arena)
{
    ck_assert_ptr_nonnull(espl__arena_take(&arena, 0, 48));
    ck_assert_ptr_nonnull(espl__arena_take(&arena, 48, 0));
    ck_assert_uint_eq(espl__arena_taken(&arena), 0);
}

TEST(sizes_that_wrap_are_refused_before_the_allocator_is_asked)
{
    ck_assert_ptr_null(espl__arena_take(&arena, SIZE_MAX, 2));
    ck_assert_ptr_null(espl__arena_take(&arena, SIZE_MAX / 3 + 1, 3));
    ck_assert_ptr_null(espl__arena_take(&arena, 1, SIZE_MAX));
    ck_assert_ptr_null(espl__arena_take(&arena, 1, SIZE_MAX - LINE + 1));
    ck_assert_ptr_null(espl__arena_take_zeroed(&arena, SIZE_MAX, SIZE_MAX));
    ck_assert_uint_eq(under.calls, 0);
    ck_assert_ptr_nonnull(espl__arena_take(&arena, 1, 1));
}

TEST(nothing_is_taken_before_it_is_needed)
{
    espl__arena_reset(&arena);
    espl__arena_reset(&arena);
    ck_assert_uint_eq(under.calls, 0);
}

TEST(small_rounds_share_one_block)
{
    for (size_t round = 0; round < 50; ++round) {
        ck_assert_uint_eq(calls_of_round(10, 100), round == 0 ? 1 : 0);
        ck_assert_uint_eq(under.blocks, 1);
    }
}

TEST(rounds_alike_find_one_block_as_large_as_a_round)
{
    for (size_t round = 0; round < 10; ++round) {
        (void)calls_of_round(30, 10 * KIB);
    }
    ck_assert_uint_eq(under.blocks, 1);
    // And a quarter more, for rounds are alike but not equal.
    ck_assert_uint_eq(under.bytes, (30 * 10 * KIB + LINE) / 4 * 5);
    for (size_t round = 0; round < 100; ++round) {
        ck_assert_uint_eq(calls_of_round(30, 10 * KIB), 0);
    }
}

TEST(rounds_that_swing_by_a_half_ask_for_nothing)
{
    uint64_t random = 2;
    size_t calls = 0;

    for (size_t round = 0; round < 50; ++round) {
        (void)calls_of_round(round % 2 == 0 ? 60 : 40, 4 * KIB);
    }
    for (size_t round = 0; round < 200; ++round) {
        calls += calls_of_round(40 + test_below(&random, 20), 4 * KIB);
    }
    ck_assert_uint_eq(calls, 0);
}

TEST(one_big_round_does_not_keep_its_memory)
{
    for (size_t round = 0; round < 20; ++round) {
        (void)calls_of_round(10, KIB);
    }
    const size_t usual = under.bytes;

    (void)calls_of_round(1000, 10 * KIB);
    ck_assert_uint_le(under.bytes, usual);
    for (size_t round = 0; round < 20; ++round) {
        (void)calls_of_round(10, KIB);
        ck_assert_uint_le(under.bytes, usual);
    }
}

TEST(first_round_of_all_does_not_keep_much)
{
    (void)calls_of_round(1000, 10 * KIB);
    ck_assert_uint_le(under.bytes, 16 * KIB);
}

TEST(rounds_that_shrink_give_their_memory_back)
{
    for (size_t round = 0; round < 10; ++round) {
        (void)calls_of_round(1000, KIB);
    }
    ck_assert_uint_ge(under.bytes, 1000 * KIB);
    for (size_t round = 0; round < 10; ++round) {
        (void)calls_of_round(10, KIB);
    }
    ck_assert_uint_le(under.bytes, 64 * KIB);
}

TEST(tiny_rounds_between_large_ones_leave_these_their_memory)
{
    for (size_t round = 0; round < 10; ++round) {
        (void)calls_of_round(1000, KIB);
    }
    for (size_t round = 0; round < 100; ++round) {
        ck_assert_uint_eq(calls_of_round(2, KIB), 0);
        ck_assert_uint_eq(calls_of_round(round % 10 == 9 ? 1000 : 1, KIB), 0);
    }
}

TEST(refused_piece_leaves_those_before_it_as_they_are)
{
    unsigned char *const before = espl__arena_take(&arena, 1, KIB);

    ck_assert_ptr_nonnull(before);
    memset(before, 7, KIB);
    const espl__arena whole = arena;

    test_heap_arm(&under, 1, false);
    ck_assert_ptr_null(espl__arena_take(&arena, 1, 100 * KIB));
    ck_assert_uint_eq(under.failures, 1);
    ck_assert_int_eq(memcmp(&whole, &arena, sizeof whole), 0);
    ck_assert_ptr_nonnull(espl__arena_take(&arena, 1, 100 * KIB));
    ck_assert(is_all(before, KIB, 7));
}

TEST(first_piece_may_be_refused_and_asked_for_again)
{
    test_heap_arm(&under, 1, false);
    ck_assert_ptr_null(espl__arena_take_zeroed(&arena, 1, 1));
    ck_assert_uint_eq(under.bytes, 0);
    ck_assert_ptr_nonnull(espl__arena_take_zeroed(&arena, 1, 1));
}

TEST(reset_without_memory_is_no_failure)
{
    use(20, 4 * KIB);
    test_heap_arm(&under, 1, true);
    espl__arena_reset(&arena);
    ck_assert_uint_eq(under.failures, 1);
    ck_assert_uint_eq(under.bytes, 0);
    test_heap_arm(&under, 0, false);
    use(20, 4 * KIB);
}

TEST(bytes_are_counted_for_the_purpose)
{
    ck_assert_ptr_nonnull(espl__arena_take(&arena, 1, 1));
    ck_assert_uint_eq(heap.bytes[ESPL__FOR_COMMANDS], under.bytes);
    ck_assert_uint_gt(under.bytes, 0);
    espl__arena_free(&arena);
    ck_assert_uint_eq(under.bytes, 0);
    ck_assert_ptr_nonnull(espl__arena_take(&arena, 1, 1));
}
