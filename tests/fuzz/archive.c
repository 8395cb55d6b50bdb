// SPDX-License-Identifier: MIT
// Bytes of an archive: refused, with the world as it was, or read as a valid world, whose archive is read as
// the same world again.
#include "tests/archives.h"
#include "tests/asserts.h"
#include "tests/fixture.h"
#include "tests/fuzz/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_SIZE = 64, NODES = 4096 };

// --- Runs ---

static void begin_world(test_world *test)
{
    test_world_begin(test, 9, NULL);
    test_herd_register(test->world);
}

static espl_status read_bytes(espl_world *world, const unsigned char *bytes, size_t size)
{
    const espl_archive_read_def def = {.node_limit = NODES, .flags = ESPL_ARCHIVE_SKIP_UNKNOWN};
    unsigned char *const copy = malloc(size + 1);
    espl_format_fault fault;

    // At an odd address, with nothing behind it.
    ck_assert_ptr_nonnull(copy);
    if (size != 0) {
        memcpy(copy + 1, bytes, size);
    }
    const espl_status status = espl_archive_read(world, copy + 1, size, &def, &fault);

    free(copy);
    ck_assert((fault.sentence == NULL) == (status >= 0));
    ck_assert_uint_le(fault.offset, size);
    return status;
}

static void run(const unsigned char *bytes, size_t size)
{
    test_world test, again;

    begin_world(&test);
    const espl_status status = read_bytes(test.world, bytes, size);

    if (fuzz_tells_steps) {
        printf("# %s\n", espl_status_name(status));
    }
    if (status < 0) {
        ck_assert_msg(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION ||
                          status == ESPL_ERR_LIMIT,
                      "%s", espl_status_name(status));
        ck_assert_uint_eq(test_stats(test.world).entities, 0);
    }
    if (test_count_overflowed(test.world) == 0) {
        test_archive archive = test_archive_of(test.world, NULL);

        begin_world(&again);
        ck_ok(test_archive_read(again.world, &archive, NULL));
        ck_assert_uint_eq(test_logical_hash(test.world), test_logical_hash(again.world));
        test_archive_end(&archive);
        test_world_end(&again);
    }
    test_world_end(&test);
}

// --- Archives ---

static fuzz_input make(const fuzz_order *order)
{
    uint64_t random = order->seed;
    test_herd herd;

    test_herd_begin(&herd, order->seed);
    for (size_t i = order->length; i > 0; --i) {
        test_herd_change(&herd);
    }
    const espl_archive_def one = {.tops = herd.nodes,
                                  .top_count = 1,
                                  .extent = ESPL_EXTENT_SUBTREE,
                                  .flags = test_one_in(&random, 2) ? ESPL_ARCHIVE_HANDLES : 0,
                                  .user = "of the program",
                                  .user_size = test_one_in(&random, 2) ? 14 : 0};
    const bool is_one = espl_is_alive(herd.world, herd.nodes[0]) && test_one_in(&random, 2);
    test_archive archive = test_archive_of(herd.world, is_one ? &one : NULL);

    test_herd_end(&herd);
    const size_t room = 2 * archive.size;

    archive.bytes = realloc(archive.bytes, room);
    ck_assert_ptr_nonnull(archive.bytes);
    for (uint32_t i = order->length == 0 ? test_below(&random, 4) : 0; i > 0; --i) {
        archive.size = seal_change_archive(archive.bytes, archive.size, room, &random);
    }
    return (fuzz_input){archive.bytes, archive.size};
}

static size_t part(const unsigned char *bytes, size_t size, size_t at)
{
    (void)bytes;
    return seal_part(HEAD_SIZE, size, at);
}

const fuzz_target fuzz_archive = {.name = "archive",
                                  .what = "bytes of an archive are refused or give a valid world",
                                  .usual = 600,
                                  .make = make,
                                  .run = run,
                                  .mutate = seal_change_archive,
                                  .part = part};
