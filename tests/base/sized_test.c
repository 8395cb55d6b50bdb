// SPDX-License-Identifier: MIT
#include "lib/base/sized.h"

#include "tests/runner.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct grown {
    uint32_t a, b, c;
} grown;

static const grown given = {1, 2, 3};

TEST(a_struct_of_the_same_size_is_not_copied)
{
    grown room = {7, 7, 7};

    ck_assert_ptr_eq(espl__sized_read(&given, sizeof given, &room, sizeof room), &given);
    ck_assert_uint_eq(room.a, 7);
    ck_assert(espl__sized_is_known(&given, sizeof given, sizeof given));
}

// Whatever the size: there is nothing to copy, and nothing that is not known.
TEST(null_is_passed_on)
{
    for (size_t size = 0; size < 2 * sizeof given; ++size) {
        grown room;

        ck_assert_ptr_null(espl__sized_read(NULL, size, &room, sizeof room));
        ck_assert(espl__sized_is_known(NULL, size, sizeof room));
        espl__sized_write(NULL, size, &given, sizeof given);
    }
}

TEST(fields_that_a_shorter_struct_lacks_are_0)
{
    for (size_t size = 0; size < sizeof given; ++size) {
        unsigned char *const bytes =
            malloc(size + 1); // of its own, so that a sanitizer knows its end
        grown room = {7, 7, 7};

        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, &given, size);
        bytes[size] = 0xff;
        ck_assert(espl__sized_is_known(bytes, size, sizeof room));
        ck_assert_ptr_eq(espl__sized_read(bytes, size, &room, sizeof room), &room);
        ck_assert_mem_eq(&room, &given, size);
        for (size_t i = size; i < sizeof room; ++i) {
            ck_assert_uint_eq(((const unsigned char *)&room)[i], 0);
        }
        free(bytes);
    }
}

TEST(a_longer_struct_is_known_where_its_end_is_0)
{
    unsigned char bytes[sizeof given + 9] = {0};
    grown room;

    memcpy(bytes, &given, sizeof given);
    for (size_t size = sizeof given; size <= sizeof bytes; ++size) {
        ck_assert(espl__sized_is_known(bytes, size, sizeof given));
        const void *const read = espl__sized_read(bytes, size, &room, sizeof room);
        ck_assert_mem_eq(read, &given, sizeof given);
        for (size_t at = sizeof given; at < sizeof bytes; ++at) {
            bytes[at] = 1;
            ck_assert_int_eq(espl__sized_is_known(bytes, size, sizeof given), at >= size);
            bytes[at] = 0;
        }
    }
}

TEST(a_write_fills_the_struct_of_the_caller_and_no_more)
{
    for (size_t size = 0; size <= sizeof given + 9; ++size) {
        const size_t both = size < sizeof given ? size : sizeof given;
        unsigned char bytes[sizeof given + 17];

        memset(bytes, 0xaa, sizeof bytes);
        espl__sized_write(bytes, size, &given, sizeof given);
        ck_assert_mem_eq(bytes, &given, both);
        for (size_t i = both; i < sizeof bytes; ++i) {
            ck_assert_uint_eq(bytes[i], i < size ? 0 : 0xaa);
        }
    }
}
