// SPDX-License-Identifier: MIT
#include "lib/value/checksum.h"

#include "tests/runner.h"
#include "tests/support.h"

#include <string.h>

enum { MOST = 5000 };

// What XXH3_64bits() of Debian's libxxhash 0.8.1 returns for the first bytes of fill(). The sizes lie around
// those at which xxHash changes its method or a checksum empties its state.
static const struct {
    size_t size;
    uint64_t expected;
} answers[] = {
    {0, UINT64_C(0x2d06800538d394c2)},    {1, UINT64_C(0xe12ef9d2eb86ceeb)},
    {3, UINT64_C(0x5c83885a0fb5d516)},    {4, UINT64_C(0x244f36de481e7522)},
    {8, UINT64_C(0x96cc97a6768fd7a9)},    {9, UINT64_C(0x4781d83b8e99d495)},
    {16, UINT64_C(0x913bd4a8038027a7)},   {17, UINT64_C(0x2bf6f66973a6179d)},
    {128, UINT64_C(0xc4399c7829d0628f)},  {129, UINT64_C(0x8433489056750b32)},
    {240, UINT64_C(0x3c0bb96864e543a1)},  {241, UINT64_C(0xbff7215089202d8f)},
    {256, UINT64_C(0xc03402b5dce3dbfa)},  {257, UINT64_C(0xff91d34061444094)},
    {512, UINT64_C(0xf25f9ccb460bc87e)},  {1024, UINT64_C(0x33ba39360ec01521)},
    {1025, UINT64_C(0xa786915585c6bf1b)}, {4096, UINT64_C(0x871faaa2f1da7546)},
    {MOST, UINT64_C(0x36fa60da341c25b2)},
};
enum { ANSWER_COUNT = sizeof answers / sizeof *answers };

static void fill(unsigned char bytes[MOST])
{
    for (size_t i = 0; i < MOST; ++i) {
        bytes[i] = (unsigned char)(i * 7 + (i >> 8) * 13 + 1);
    }
}

TEST(checksums_are_those_of_xxhash_at_any_address)
{
    static unsigned char room[MOST + 8], bytes[MOST];

    fill(bytes);
    for (size_t i = 0; i < ANSWER_COUNT; ++i) {
        for (size_t skew = 0; skew < 8; ++skew) {
            espl__checksum checksum;

            memcpy(room + skew, bytes, MOST);
            espl__checksum_begin(&checksum);
            espl__checksum_add(&checksum, room + skew, answers[i].size);
            ck_assert_uint_eq(espl__checksum_of(&checksum), answers[i].expected);
        }
    }
}

TEST(pieces_of_any_size_give_the_checksum_of_all_bytes)
{
    static unsigned char bytes[MOST];
    uint64_t seed = 1;

    fill(bytes);
    for (size_t i = 0; i < ANSWER_COUNT * 8; ++i) {
        const size_t size = answers[i / 8].size, longest = (size_t)1 << (i % 8 + 3);
        espl__checksum checksum;

        espl__checksum_begin(&checksum);
        for (size_t at = 0; at < size;) {
            const size_t piece = (size_t)(test_random(&seed) % longest);
            const size_t taken = piece < size - at ? piece : size - at;

            espl__checksum_add(&checksum, bytes + at, taken);
            at += taken;
        }
        ck_assert_uint_eq(espl__checksum_of(&checksum), answers[i / 8].expected);
        // To ask changes nothing.
        ck_assert_uint_eq(espl__checksum_of(&checksum), answers[i / 8].expected);
    }
}

TEST(pieces_give_the_seeded_checksum_of_all_bytes)
{
    static unsigned char bytes[MOST];

    fill(bytes);
    for (size_t size = 0; size <= MOST; size += size < 300 ? 1 : 211) {
        for (uint64_t seed = 0; seed < 3; ++seed) {
            const uint64_t expected = espl__checksum_seeded(seed << 40, bytes, size);

            for (size_t piece = 3; piece < 4096; piece = piece * 7 + 1) {
                espl__checksum checksum;

                espl__checksum_begin_seeded(&checksum, seed << 40);
                for (size_t at = 0; at < size; at += piece) {
                    espl__checksum_add(&checksum, bytes + at,
                                       piece < size - at ? piece : size - at);
                }
                ck_assert_uint_eq(espl__checksum_of(&checksum), expected);
            }
        }
    }
}

// Copy bytes to another place, some of them past the cache, and compare all that is around.
static void check_copy(const unsigned char *bytes, size_t size, size_t skew, bool passes_cache)
{
    enum { AROUND = 64 };
    static unsigned char room[MOST + 2 * AROUND + 64], other[sizeof room];
    unsigned char *const to = room + AROUND + skew;
    const espl__copying copying = {to, bytes, size, skew % 2 == 0 ? bytes : NULL, passes_cache};
    espl__checksum checksum;

    memset(room, 3, sizeof room);
    memset(other, 3, sizeof other);
    memcpy(other + AROUND + skew, bytes, size);
    espl__copy(&copying);
    espl__copied();
    ck_assert_mem_eq(room, other, sizeof room);
    memset(room, 3, sizeof room);
    espl__checksum_begin(&checksum);
    espl__checksum_copy(&checksum, &copying);
    espl__copied();
    ck_assert_mem_eq(room, other, sizeof room);
    espl__checksum_add(&checksum, bytes + size, MOST - size);
    ck_assert_uint_eq(espl__checksum_of(&checksum), answers[ANSWER_COUNT - 1].expected);
}

TEST(bytes_are_added_while_they_are_copied)
{
    static unsigned char bytes[MOST];

    fill(bytes);
    for (size_t size = 0; size <= MOST; size += size < 1200 ? 7 : 311) {
        for (size_t skew = 0; skew < 64; skew += 5) {
            check_copy(bytes, size, skew, false);
            check_copy(bytes, size, skew, true);
        }
        check_copy(bytes, size, 16, true);
    }
}

TEST(one_bit_of_the_bytes_changes_the_checksum)
{
    static unsigned char bytes[MOST];

    fill(bytes);
    for (size_t bit = 0; bit < (size_t)MOST * 8; bit += 97) {
        espl__checksum checksum;

        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ 1U << bit % 8);
        espl__checksum_begin(&checksum);
        espl__checksum_add(&checksum, bytes, MOST);
        ck_assert_uint_ne(espl__checksum_of(&checksum), answers[ANSWER_COUNT - 1].expected);
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ 1U << bit % 8);
    }
}
