// SPDX-License-Identifier: MIT
// What differs between operating systems: aligned blocks, and a clock.
#include "lib/base/system.h"

#include "tests/runner.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

static const size_t sizes[] = {1, 3, 63, 64, 65, 4095, 4097, 100001};

enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST_ALIGNMENT = 4096 };

TEST(blocks_have_their_alignment_and_their_size)
{
    for (size_t alignment = 1; alignment <= LARGEST_ALIGNMENT; alignment *= 2) {
        unsigned char *blocks[SIZES];

        for (size_t i = 0; i < SIZES; ++i) {
            blocks[i] = espl__system_allocate(NULL, sizes[i], alignment);
            ck_assert_ptr_nonnull(blocks[i]);
            ck_assert_uint_eq((uintptr_t)blocks[i] % alignment, 0);
            memset(blocks[i], (int)i, sizes[i]);
        }
        for (size_t i = 0; i < SIZES; ++i) {
            ck_assert_uint_eq(blocks[i][0], i);
            ck_assert_uint_eq(blocks[i][sizes[i] - 1], i);
            espl__system_release(NULL, blocks[i], sizes[i], alignment);
        }
    }
}

TEST(large_blocks_have_their_size)
{
    const size_t large[] = {ESPL__HUGE_PAGE - 1, ESPL__HUGE_PAGE, 3 * (size_t)ESPL__HUGE_PAGE + 5};

    for (size_t i = 0; i < sizeof large / sizeof *large; ++i) {
        unsigned char *const block = espl__system_allocate_huge(NULL, large[i], 64);

        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % 64, 0);
        memset(block, 7, large[i]);
        espl__system_release(NULL, block, large[i], 64);
    }
}

// Rounded up to its alignment, each of the sizes would be 0.
TEST(a_size_that_no_block_has_is_refused)
{
    for (size_t alignment = 1; alignment <= LARGEST_ALIGNMENT; alignment *= 2) {
        ck_assert_ptr_null(espl__system_allocate(NULL, SIZE_MAX, alignment));
        ck_assert_ptr_null(espl__system_allocate(NULL, SIZE_MAX - alignment + 1, alignment));
        ck_assert_ptr_null(espl__system_allocate_huge(NULL, SIZE_MAX, alignment));
    }
}

static time_t wait_for_the_next_second(time_t last, uint64_t *clock_time)
{
    time_t now = last;

    for (*clock_time = espl__system_time(); now == last; now = time(NULL)) {
        const uint64_t next = espl__system_time();

        ck_assert_uint_ge(next, *clock_time);
        *clock_time = next;
        espl__system_yield();
    }
    return now;
}

// The machine may be busy, and its date may be set: so the bounds are wide.
TEST(the_clock_never_goes_back_and_counts_nanoseconds)
{
    uint64_t begin = 0, end = 0;
    const time_t first = wait_for_the_next_second(time(NULL), &begin);

    (void)wait_for_the_next_second(first, &end);
    ck_assert_uint_ge(end - begin, UINT64_C(100000000));
    ck_assert_uint_le(end - begin, UINT64_C(60000000000));
}
