// SPDX-License-Identifier: MIT
#include "lib/base/heap.h"

#include "lib/base/array.h"
#include "tests/base/abort.h"
#include "tests/base/heap_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

FIXTURE(heap_begin, heap_is_empty);

TEST(bytes_are_counted_by_purpose)
{
    void *const store = espl__heap_take(&heap, ESPL__FOR_STORE, 3, 20, 16);
    void *const tree = espl__heap_take(&heap, ESPL__FOR_TREE, 1, 7, 1);

    ck_assert_ptr_nonnull(store);
    ck_assert_ptr_nonnull(tree);
    ck_assert_uint_eq(heap.bytes[ESPL__FOR_WORLD], 0);
    ck_assert_uint_eq(heap.bytes[ESPL__FOR_STORE], 60);
    ck_assert_uint_eq(heap.bytes[ESPL__FOR_TREE], 7);
    ck_assert_uint_eq(espl__heap_bytes(&heap), 67);
    ck_assert_uint_eq(under.bytes, 67);

    espl__heap_give(&heap, ESPL__FOR_STORE, store, 3, 20, 16);
    ck_assert_uint_eq(espl__heap_bytes(&heap), 7);
    espl__heap_give(&heap, ESPL__FOR_TREE, tree, 1, 7, 1);
}

TEST(product_that_wraps_is_refused_before_the_allocator_is_asked)
{
    ck_assert_ptr_null(espl__heap_take(&heap, ESPL__FOR_TREE, SIZE_MAX, 2, 16));
    ck_assert_ptr_null(espl__heap_take(&heap, ESPL__FOR_TREE, SIZE_MAX / 3 + 1, 3, 16));
    ck_assert_ptr_null(espl__heap_take(&heap, ESPL__FOR_TREE, SIZE_MAX / 2 + 1, 1, 16));
    ck_assert_uint_eq(under.calls, 0);
}

TEST(nothing_is_taken_for_a_product_of_zero)
{
    ck_assert_ptr_null(espl__heap_take(&heap, ESPL__FOR_TREE, 0, 8, 8));
    ck_assert_ptr_null(espl__heap_take(&heap, ESPL__FOR_TREE, 8, 0, 8));
    espl__heap_give(&heap, ESPL__FOR_TREE, NULL, 1, 8, 8);
    ck_assert_uint_eq(under.calls, 0);
}

TEST(refused_block_is_not_counted)
{
    test_heap_arm(&under, 1, false);
    ck_assert_ptr_null(espl__heap_take(&heap, ESPL__FOR_WORLD, 1, 64, 16));
    ck_assert_uint_eq(under.failures, 1);
}

TEST(null_allocator_aligns_blocks_of_any_size)
{
    const espl_allocator none = {0};

    espl__heap_init(&heap, &none);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (size_t size = 1; size <= 100; size += 33) {
            void *const block = espl__heap_take(&heap, ESPL__FOR_WORLD, 1, size, alignment);

            ck_assert_ptr_nonnull(block);
            ck_assert_uint_eq((uintptr_t)block % alignment, 0);
            memset(block, 1, size);
            espl__heap_give(&heap, ESPL__FOR_WORLD, block, 1, size, alignment);
        }
    }
    ck_assert_uint_eq(espl__heap_bytes(&heap), 0);
}

// --- Huge pages ---

static void set_up_huge(void)
{
    const espl_allocator none = {0};

    espl__heap_init(&heap, &none);
    espl__heap_use_huge_pages(&heap);
}

// Whether the system was told to lay a place of memory out in huge pages: 1 or 0, and -1 where it
// tells nobody.
static int is_advised(const void *place)
{
    FILE *const maps = fopen("/proc/self/smaps", "r");
    FILE *const setting = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[4096];
    bool is_here = false;
    int answer = -1;

    while (maps != NULL && setting != NULL && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t begin = 0, end = 0;

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            is_here = begin <= (uintptr_t)place && (uintptr_t)place < end;
        } else if (is_here && strncmp(line, "VmFlags:", 8) == 0) {
            answer = strstr(line, " hg") != NULL;
        }
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    if (setting != NULL) {
        (void)fclose(setting);
    }
    return answer;
}

FIXTURE(set_up_huge, NULL);

// First, because in one process small blocks may come to lie where huge ones were.
TEST(block_below_a_huge_page_and_a_heap_not_told_ask_for_none)
{
    const espl_allocator none = {0};
    const size_t small = ESPL__HUGE_PAGE - 1, large = 40 * (size_t)ESPL__HUGE_PAGE;
    unsigned char *const block = espl__heap_take(&heap, ESPL__FOR_TREE, 1, small, 64);

    ck_assert_ptr_nonnull(block);
    ck_assert_int_le(is_advised(block + small / 2), 0);
    espl__heap_give(&heap, ESPL__FOR_TREE, block, 1, small, 64);

    espl__heap_init(&heap, &none);
    unsigned char *const plain = espl__heap_take(&heap, ESPL__FOR_TREE, 1, large, 64);
    ck_assert_ptr_nonnull(plain);
    ck_assert_int_le(is_advised(plain + large / 2), 0);
    espl__heap_give(&heap, ESPL__FOR_TREE, plain, 1, large, 64);
}

TEST(large_blocks_begin_with_a_huge_page_and_are_counted_as_asked_for)
{
    const size_t sizes[] = {ESPL__HUGE_PAGE, ESPL__HUGE_PAGE + 1, 5 * (size_t)ESPL__HUGE_PAGE / 2};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        unsigned char *const block = espl__heap_take(&heap, ESPL__FOR_TREE, 1, sizes[i], 64);

        ck_assert_ptr_nonnull(block);
#ifdef __linux__
        ck_assert_uint_eq((uintptr_t)block % ESPL__HUGE_PAGE, 0);
#endif
        memset(block, 1, sizes[i]);
        ck_assert_uint_eq(espl__heap_bytes_for(&heap, ESPL__FOR_TREE), sizes[i]);
        espl__heap_give(&heap, ESPL__FOR_TREE, block, 1, sizes[i], 64);
        ck_assert_uint_eq(espl__heap_bytes(&heap), 0);
    }
}

// The C library may put blocks of up to 32 MiB where others were; a larger one comes fresh.
TEST(whole_pages_of_a_block_are_huge_and_its_end_is_not)
{
    enum { PAGES = 20 };
    const size_t size = PAGES * (size_t)ESPL__HUGE_PAGE + ESPL__HUGE_PAGE / 2;
    unsigned char *const block = espl__heap_take(&heap, ESPL__FOR_TREE, 1, size, 64);

    ck_assert_ptr_nonnull(block);
    if (is_advised(block) >= 0) {
        ck_assert_int_eq(is_advised(block), 1);
        ck_assert_int_eq(is_advised(block + PAGES * (size_t)ESPL__HUGE_PAGE - 1), 1);
        ck_assert_int_eq(is_advised(block + PAGES * (size_t)ESPL__HUGE_PAGE), 0);
        ck_assert_int_eq(is_advised(block + size - 1), 0);
    }
    espl__heap_give(&heap, ESPL__FOR_TREE, block, 1, size, 64);
}

// Where arrays always move, one comes to huge pages in half a million moves: a few items have to do.
TEST(array_keeps_its_items_from_small_to_huge_pages_and_back)
{
#ifdef ESPL_HARD_MOVE
    enum { COUNT = 1 << 12 };
#else
    enum { COUNT = ESPL__HUGE_PAGE };
#endif
    uint32_t *items = NULL;

    for (uint32_t i = 0; i < COUNT; ++i) {
        if (espl__array_length(items) == espl__array_capacity(items)) {
            ck_assert(ESPL_ARRAY_RESERVE(&heap, ESPL__FOR_TREE, items, 1));
        }
        ESPL_ARRAY_PUSH(items, i * 2654435761u);
    }
    for (uint32_t length = COUNT; length > 0; length /= 2) {
        espl__array_set_length(items, length);
        ck_assert(ESPL_ARRAY_SHRINK(&heap, ESPL__FOR_TREE, items, 0));
        for (uint32_t i = 0; i < length; ++i) {
            ck_assert(items[i] == i * 2654435761u);
        }
        ck_assert_uint_eq(espl__heap_bytes(&heap), espl__array_bytes(items, sizeof *items));
    }
    ESPL_ARRAY_FREE(&heap, ESPL__FOR_TREE, items);
    ck_assert_uint_eq(espl__heap_bytes(&heap), 0);
}

FIXTURE(heap_begin, heap_is_empty);

TEST(allocator_of_the_user_is_asked_as_ever)
{
    const espl_allocator before = test_heap_allocator(&under);

    espl__heap_init(&heap, &before);
    espl__heap_use_huge_pages(&heap);
    void *const block = espl__heap_take(&heap, ESPL__FOR_TREE, 1, 3 * ESPL__HUGE_PAGE, 64);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq(under.bytes, 3 * ESPL__HUGE_PAGE);
    espl__heap_give(&heap, ESPL__FOR_TREE, block, 1, 3 * ESPL__HUGE_PAGE, 64);
}

static void *take_and_give(void *unused)
{
    (void)unused;
    for (size_t i = 1; i <= 2000; ++i) {
        unsigned char *const block = espl__heap_take(&heap, ESPL__FOR_COMMANDS, i % 7 + 1, 8, 8);

        if (block != NULL) {
            memset(block, (int)i, (i % 7 + 1) * 8);
        }
        espl__heap_give(&heap, ESPL__FOR_COMMANDS, block, i % 7 + 1, 8, 8);
    }
    return NULL;
}

TEST(threads_take_turns_at_the_allocator)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
    }
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_eq(under.calls, 8000);
}

static void take_while_forbidden(void)
{
    heap.is_forbidden = true;
    (void)espl__heap_take(&heap, ESPL__FOR_TREE, 1, 1, 1);
}

static void give_more_than_was_taken(void)
{
    char nothing[8];

    espl__heap_give(&heap, ESPL__FOR_TREE, nothing, 1, sizeof nothing, 1);
}

TEST(faults_of_the_library_are_caught_by_checked_builds)
{
    char said[256];

    if (ESPL_CHECKS >= 1) {
        expect_abort(take_while_forbidden, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "is_forbidden"));
        expect_abort(give_more_than_was_taken, said, sizeof said);
    }
}

TEST(sizes_refuse_to_wrap)
{
    size_t out = 7;

    ck_assert(!espl__size_add(&out, SIZE_MAX, 1));
    ck_assert(!espl__size_add(&out, SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1));
    ck_assert(!espl__size_multiply(&out, SIZE_MAX / 2 + 1, 2));
    ck_assert(!espl__size_multiply(&out, 2, SIZE_MAX / 2 + 1));
    ck_assert(!espl__size_multiply(&out, SIZE_MAX, SIZE_MAX));
    ck_assert_uint_eq(out, 7);

    ck_assert(espl__size_add(&out, SIZE_MAX - 1, 1));
    ck_assert_uint_eq(out, SIZE_MAX);
    ck_assert(espl__size_multiply(&out, SIZE_MAX / 2, 2));
    ck_assert_uint_eq(out, SIZE_MAX - 1);
    ck_assert(espl__size_multiply(&out, SIZE_MAX, 0));
    ck_assert_uint_eq(out, 0);
    ck_assert(espl__size_multiply(&out, 0, SIZE_MAX));
    ck_assert_uint_eq(out, 0);
}
