// SPDX-License-Identifier: MIT
// Bytes of an image: refused, with the world as it was, or loaded as a valid world, which goes on, and whose
// image is loaded as the same world again.
#include "tests/archives.h"
#include "tests/asserts.h"
#include "tests/fixture.h"
#include "tests/fuzz/seal.h"
#include "tests/images.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_SIZE = 152, TAG = 7 };

// --- Runs ---

static espl_status load_bytes(espl_world *world, const unsigned char *bytes, size_t size)
{
    unsigned char *const copy = seal_copy(bytes, size);
    espl_format_fault fault;
    const espl_status status = espl_image_load(world, copy, size, 0, &fault);

    seal_free(copy);
    ck_assert((fault.sentence == NULL) == (status >= 0) || status == ESPL_ERR_FOREIGN ||
              status == ESPL_ERR_LIMIT);
    ck_assert_uint_le(fault.offset, size);
    return status;
}

// Change the structure of a world that may be any, so that what is wrong in it shows.
static void stir(espl_world *world)
{
    espl_entity made[4];

    for (int i = 0; i < 4; ++i) {
        const espl_transform at = test_at(1, 2, 3);

        ck_assert(espl_create_node(world, i == 0 ? test_null : made[i - 1], &at, "stirred",
                                   &made[i]) >= 0);
    }
    ck_assert(espl_destroy(world, made[1], ESPL_EXTENT_ENTITY) >= 0);
    ck_assert(espl_compact(world) >= 0);
    (void)test_count_overflowed(world);
}

static void run(const unsigned char *bytes, size_t size)
{
    test_world test;

    test_world_begin(&test, TAG, NULL);
    test_herd_register(test.world);
    const uint64_t before = test_physical_hash(test.world);
    const espl_status status = load_bytes(test.world, bytes, size);

    if (fuzz_tells_steps) {
        printf("# %s\n", espl_status_name(status));
    }
    (void)test_count_overflowed(test.world);
    if (status >= 0) {
        test_image image = test_image_of(test.world);
        const uint64_t hash = test_physical_hash(test.world);

        stir(test.world);
        ck_ok(espl_image_load(test.world, image.bytes, image.size, 0, NULL));
        ck_assert_uint_eq(test_physical_hash(test.world), hash);
        test_image_end(&image);
    } else {
        ck_assert_msg(status == ESPL_ERR_FORMAT || status == ESPL_ERR_VERSION ||
                          status == ESPL_ERR_FOREIGN || status == ESPL_ERR_LIMIT,
                      "%s", espl_status_name(status));
        ck_assert_uint_eq(test_physical_hash(test.world), before);
    }
    test_world_end(&test);
}

// --- Images ---

static size_t mutate(unsigned char *bytes, size_t size, size_t room, uint64_t *random)
{
    enum { LAYOUT_END = 16 };
    unsigned char head[LAYOUT_END] = {0};
    const bool keeps_head = size >= LAYOUT_END && !test_one_in(random, 32);

    if (keeps_head) {
        memcpy(head, bytes, sizeof head);
    }
    size = seal_change(bytes, size, room, random);
    if (keeps_head && size >= LAYOUT_END) {
        memcpy(bytes, head, sizeof head);
    }
    seal_image(bytes, size);
    return size;
}

static fuzz_input make(const fuzz_order *order)
{
    uint64_t random = order->seed;
    test_herd herd;

    test_herd_begin(&herd, order->seed);
    for (int i = 1; i < TEST_HERD; ++i) {
        if (espl_is_alive(herd.world, herd.nodes[i]) && i > 8) {
            ck_assert(espl_destroy(herd.world, herd.nodes[i], ESPL_EXTENT_ENTITY) >= 0);
        }
    }
    for (size_t i = order->length; i > 0; --i) {
        test_herd_change(&herd);
    }
    const test_image image = test_image_of(herd.world);

    test_herd_end(&herd);
    return seal_input(image.bytes, image.size, order, mutate, &random);
}

static size_t part(const unsigned char *bytes, size_t size, size_t at)
{
    (void)bytes;
    return seal_part(HEAD_SIZE, size, at);
}

const fuzz_target fuzz_image = {.name = "image",
                                .what = "bytes of an image are refused or give a valid world",
                                .usual = 600,
                                .make = make,
                                .run = run,
                                .mutate = mutate,
                                .part = part};
