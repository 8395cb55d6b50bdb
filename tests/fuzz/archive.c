// SPDX-License-Identifier: MIT
// Bytes of an archive: refused, with the world as it was, or read as a valid world, whose archive is read as
// the same world again. Applied to another world, where handles may name any of its entities, and to the world that
// read them and changed then, they are refused as well, or make what the read made.
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

static bool is_refusal_of_bytes(espl_status status)
{
    return status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION || status == ESPL_ERR_LIMIT;
}

static espl_status read_bytes(espl_world *world, const unsigned char *bytes, size_t size)
{
    const espl_archive_read_def def = {.node_limit = NODES, .flags = ESPL_ARCHIVE_SKIP_UNKNOWN};
    unsigned char *const copy = seal_copy(bytes, size);
    espl_format_fault fault;
    const espl_status status = espl_archive_read(world, copy, size, &def, &fault);

    seal_free(copy);
    ck_assert((fault.sentence == NULL) == (status >= 0));
    ck_assert_uint_le(fault.offset, size);
    return status;
}

// --- Applies ---

// What an apply is given, and what came of it.
typedef struct appliance {
    espl_entity entities[NODES], tops[NODES];
    size_t count, top_count;
} appliance;

// @param known  the bytes are their own known archive, with the entities of `a`
static espl_status apply_bytes(espl_world *world, const unsigned char *bytes, size_t size,
                               espl_entity parent, bool known, appliance *a)
{
    const espl_archive_read_def def = {.parent = parent,
                                       .entities = a->entities,
                                       .capacity = NODES,
                                       .tops = a->tops,
                                       .top_capacity = NODES,
                                       .node_limit = NODES,
                                       .flags = ESPL_ARCHIVE_SKIP_UNKNOWN};
    const uint64_t before = test_physical_hash(world);
    unsigned char *const copy = seal_copy(bytes, size);
    const espl_archive_known of = {copy, size, a->entities, a->count};
    espl_format_fault fault;
    espl_archive_info info;
    const espl_status status =
        espl_archive_apply(world, copy, size, &def, known ? &of : NULL, &fault);

    if (fuzz_tells_steps) {
        printf("# applied: %s\n", espl_status_name(status));
    }

    ck_assert(status != ESPL_OK || fault.sentence == NULL);
    (void)test_count_overflowed(world);
    if (status >= 0) {
        ck_ok(espl_archive_inspect(copy, size, &info, NULL));
        a->count = info.nodes;
        a->top_count = info.tops;
    } else {
        ck_assert_msg(is_refusal_of_bytes(status) ||
                          (status == ESPL_ERR_CYCLE && !espl_entity_is_null(parent)),
                      "%s", espl_status_name(status));
        ck_assert_uint_eq(test_physical_hash(world), before);
    }
    seal_free(copy);
    return status;
}

// Archive what an apply left, and compare it with the archive of the same bytes read.
static void check_applied(const espl_world *world, const appliance *a, const test_archive *read)
{
    if (test_count_overflowed(world) == 0) {
        const espl_archive_def def = {
            .tops = a->tops, .top_count = a->top_count, .extent = ESPL_EXTENT_SUBTREE};
        test_archive applied = test_archive_of(world, &def);

        ck_assert_uint_eq(applied.size, read->size);
        ck_assert_mem_eq(applied.bytes, read->bytes, read->size);
        test_archive_end(&applied);
    }
}

// Apply bytes to a herd of another seed, twice: all nodes survive the second time, unless there is a parent, which
// may be one of them.
static void apply_to_others(const unsigned char *bytes, size_t size, const test_archive *read)
{
    static appliance a;
    uint64_t random = size;
    test_herd herd;

    test_herd_begin(&herd, test_below(&random, 16));
    for (int round = 0; round < 3; ++round) {
        const espl_entity node = herd.nodes[test_below(&random, TEST_HERD)];
        const bool has_parent = round == 2 && espl_is_alive(herd.world, node);
        const espl_status status =
            apply_bytes(herd.world, bytes, size, has_parent ? node : test_null, round == 1, &a);

        if (status == ESPL_ERR_CYCLE) {
            continue;
        }
        ck_assert(status < 0 || read != NULL);
        if (status < 0) {
            break;
        }
        if (!has_parent) {
            check_applied(herd.world, &a, read);
        }
        // Next time something else is in their places.
        for (size_t i = 0, k = 0; i < TEST_HERD && k < a.count; ++i) {
            if (!espl_is_alive(herd.world, herd.nodes[i])) {
                herd.nodes[i] = a.entities[k++];
            }
        }
        for (uint32_t i = test_below(&random, 12); i > 0; --i) {
            test_herd_change(&herd);
        }
    }
    test_herd_end(&herd);
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
        ck_assert_msg(is_refusal_of_bytes(status), "%s", espl_status_name(status));
        ck_assert_uint_eq(test_stats(test.world).entities, 0);
    }
    if (test_count_overflowed(test.world) == 0) {
        test_archive archive = test_archive_of(test.world, NULL);

        begin_world(&again);
        ck_ok(test_archive_read(again.world, &archive, NULL));
        ck_assert_uint_eq(test_logical_hash(test.world), test_logical_hash(again.world));
        apply_to_others(bytes, size, status < 0 ? NULL : &archive);
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
                                  .flags = test_one_in(&random, 4) ? 0 : ESPL_ARCHIVE_HANDLES,
                                  .user = "of the program",
                                  .user_size = test_one_in(&random, 2) ? 14 : 0};
    const bool is_one = espl_is_alive(herd.world, herd.nodes[0]) && test_one_in(&random, 2);
    const test_archive archive = test_archive_of(herd.world, is_one ? &one : NULL);

    test_herd_end(&herd);
    return seal_input(archive.bytes, archive.size, order, seal_change_archive, &random);
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
