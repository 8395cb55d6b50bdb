// SPDX-License-Identifier: MIT
// An archive, and a delta or another archive. A delta is refused before a byte is written, or makes an archive
// to which another delta leads again; and a delta between any two archives that have right checksums makes the
// second one.
#include "tests/archives.h"
#include "tests/asserts.h"
#include "tests/fuzz/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An input has the size of the first bytes before them.
enum { SIZE = 4 };

static size_t first_size(const unsigned char *bytes, size_t size)
{
    const size_t left = size < SIZE ? 0 : size - SIZE;
    size_t first = 0;

    for (unsigned i = SIZE; left != 0 && i-- > 0;) {
        first = first << 8 | bytes[i];
    }
    return first < left ? first : left;
}

// --- Runs ---

static test_archive copy_out(const unsigned char *bytes, size_t size)
{
    return (test_archive){seal_copy(bytes, size), size, size};
}

// A patch that succeeds gives what a reader takes for an archive.
static void check_archive(const test_archive *archive)
{
    espl_archive_info info;
    const espl_status status = espl_archive_inspect(archive->bytes, archive->size, &info, NULL);

    ck_assert(status == ESPL_OK || status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION);
}

static void check_between(const test_archive *before, const test_archive *after)
{
    test_archive delta = {0}, again;
    const espl_sink sink = test_archive_sink(&delta);
    espl_format_fault fault;
    const espl_status status =
        espl_archive_delta(before->bytes, before->size, after->bytes, after->size, &sink, &fault);

    ck_assert((fault.sentence == NULL) == (status == ESPL_OK));
    if (status == ESPL_OK) {
        ck_ok(test_patch(before, &delta, &again, NULL));
        ck_assert_uint_eq(again.size, after->size);
        ck_assert_mem_eq(again.bytes, after->bytes, after->size);
        test_archive_end(&again);
    } else {
        ck_assert(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION);
        ck_assert_uint_eq(delta.size, 0);
    }
    test_archive_end(&delta);
}

static void check_patch(const test_archive *before, const test_archive *delta)
{
    test_archive after;
    espl_format_fault fault;
    const espl_status status = test_patch(before, delta, &after, &fault);

    if (fuzz_tells_steps) {
        printf("# %s: %s\n", espl_status_name(status), fault.sentence);
    }
    ck_assert((fault.sentence == NULL) == (status == ESPL_OK));
    if (status == ESPL_OK) {
        check_archive(&after);
        check_between(before, &after);
    } else {
        ck_assert(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION ||
                  status == ESPL_ERR_GAP);
        ck_assert_uint_eq(after.size, 0);
    }
    test_archive_end(&after);
}

static void run(const unsigned char *bytes, size_t size)
{
    const size_t first = first_size(bytes, size), at = size < SIZE ? size : SIZE;
    const test_archive one = copy_out(bytes + at, first),
                       other = copy_out(bytes + at + first, size - at - first);

    check_patch(&one, &other);
    check_between(&one, &other);
    seal_free(one.bytes);
    seal_free(other.bytes);
}

// --- Inputs ---

// @param is_on_grid  the locals are rounded
static test_archive archive_of_part(const test_herd *herd, espl_entity top, uint32_t flags,
                                    bool is_on_grid)
{
    const espl_archive_def def = {.tops = &top,
                                  .top_count = 1,
                                  .extent = ESPL_EXTENT_SUBTREE,
                                  .flags = flags,
                                  .position_step = is_on_grid ? 0.01F : 0,
                                  .rotation_bits = is_on_grid ? 10 : 0};

    return test_archive_of(herd->world, &def);
}

static espl_entity any_alive(test_herd *herd)
{
    espl_entity node = herd->nodes[0];

    for (int i = 1; !espl_is_alive(herd->world, node) && i < TEST_HERD; ++i) {
        node = herd->nodes[i];
    }
    ck_assert(espl_is_alive(herd->world, node));
    return node;
}

static size_t mutate(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    size_t first = first_size(bytes, size);

    if (size < SIZE || room < SIZE || test_one_in(random, 64)) {
        return seal_change(bytes, size, room, random);
    }
    if (test_one_in(random, 4)) {
        // The first one keeps its length, because the other one follows. A delta of it is then for another one,
        // unless it is told.
        (void)seal_change_archive(bytes + SIZE, first, first, random);
    } else {
        size = SIZE + first +
               seal_change_archive(bytes + SIZE + first, size - SIZE - first, room - SIZE - first,
                                   random);
    }
    if (first >= 64 && size - SIZE - first >= 88 && bytes[SIZE + first + 12] == 2 &&
        !test_one_in(random, 16)) {
        memcpy(bytes + SIZE + first + 72, bytes + SIZE + 56, 8);
        seal_archive(bytes + SIZE + first, size - SIZE - first);
    }
    return size;
}

static fuzz_input make(const fuzz_order *order)
{
    uint64_t random = order->seed;
    test_herd herd;

    test_herd_begin(&herd, order->seed);
    const uint32_t flags = test_one_in(&random, 2) ? ESPL_ARCHIVE_HANDLES : 0;
    const bool is_on_grid = test_one_in(&random, 2);
    const espl_entity top = any_alive(&herd);
    test_archive before = archive_of_part(&herd, top, flags, is_on_grid);

    test_herd_animate(&herd);
    for (size_t i = order->length != 0 ? order->length : test_below(&random, 8); i > 0; --i) {
        test_herd_change(&herd);
    }
    test_archive after = archive_of_part(
        &herd, espl_is_alive(herd.world, top) ? top : any_alive(&herd), flags, is_on_grid);
    test_archive second = after;

    if (!test_one_in(&random, 3)) {
        second = test_delta_of(&before, &after);
        test_archive_end(&after);
    }
    test_herd_end(&herd);
    fuzz_input out = {NULL, SIZE + before.size + second.size};

    out.bytes = malloc(out.size);
    ck_assert_ptr_nonnull(out.bytes);
    for (unsigned i = 0; i < SIZE; ++i) {
        out.bytes[i] = (unsigned char)(before.size >> 8 * i);
    }
    memcpy(out.bytes + SIZE, before.bytes, before.size);
    memcpy(out.bytes + SIZE + before.size, second.bytes, second.size);
    test_archive_end(&before);
    test_archive_end(&second);
    return seal_input(out.bytes, out.size, order, mutate, &random);
}

static size_t part(const unsigned char *bytes, size_t size, size_t at)
{
    (void)bytes;
    return seal_part(SIZE, size, at);
}

const fuzz_target fuzz_delta = {.name = "delta",
                                .what = "a delta is refused or leads to an archive, and back",
                                .usual = 1000,
                                .make = make,
                                .run = run,
                                .mutate = mutate,
                                .part = part};
