// SPDX-License-Identifier: MIT
#include "lib/base/key_sort.h"

#include "tests/runner.h"
#include "tests/support.h"

enum { MOST = 3000 };

static espl__sort_key first[MOST], second[MOST];

// Sort keys made of `bits` random bits above `shift`, and expect each item after all of smaller keys,
// and after those of its key that came before it.
static void expect_sorted(size_t count, unsigned bits, unsigned shift)
{
    espl__sort_key *items = first, *spare = second;
    uint64_t seed = count * 64 + bits, sum = 0;

    for (size_t i = 0; i < count; ++i) {
        const uint32_t value = (uint32_t)(test_random(&seed) & ((UINT64_C(1) << bits) - 1));

        // The bits below are equal in all keys.
        items[i] = (espl__sort_key){value << shift | ((UINT32_C(1) << shift) - 1), (uint32_t)i};
        sum += items[i].key * (uint64_t)(i + 1);
    }
    espl__sort_by_key(&items, &spare, count);
    ck_assert((items == first && spare == second) || (items == second && spare == first));
    for (size_t i = 0; i < count; ++i) {
        if (i != 0) {
            ck_assert(items[i - 1].key < items[i].key ||
                      (items[i - 1].key == items[i].key && items[i - 1].number < items[i].number));
        }
        sum -= items[i].key * (uint64_t)(items[i].number + 1);
    }
    // Each number still has its key.
    ck_assert_uint_eq(sum, 0);
}

TEST(items_are_sorted_by_all_bits_and_stay_in_order_within_a_key)
{
    static const size_t counts[] = {0, 1, 2, 3, 15, 16, 17, 100, 511, 512, MOST};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        for (unsigned bits = 0; bits <= 32; ++bits) {
            expect_sorted(counts[i], bits, 0);
        }
        for (unsigned shift = 1; shift < 32; ++shift) {
            expect_sorted(counts[i], 32 - shift < 5 ? 32 - shift : 5, shift);
        }
    }
}
