// SPDX-License-Identifier: MIT
// Checksums of frames are the same numbers on every machine, whatever the order of its bytes: golden values,
// which builds for machines of both orders compare (.ci/run s390x).
#include "tests/fixture.h"
#include "tests/runner.h"

#include <espalier/history.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 24 };

// A value of each type that has bytes in an order, with bytes between them that no field describes.
typedef struct mixed {
    uint8_t small;
    unsigned char between;
    int16_t shorts[3];
    uint32_t word;
    espl_entity other;
    unsigned char middle[4];
    double wide;
    uint64_t longs[2];
    bool is_set;
    unsigned char rest[7];
} mixed;

_Static_assert(sizeof(mixed) == 1 + 1 + 6 + 4 + 8 + 4 + 8 + 16 + 1 + 7,
               "no padding, which would have any bytes");

static const espl_component_field mixed_fields[] = {
    {"small", ESPL_FIELD_U8, offsetof(mixed, small), 1},
    {"shorts", ESPL_FIELD_I16, offsetof(mixed, shorts), 3},
    {"word", ESPL_FIELD_U32, offsetof(mixed, word), 1},
    {"other", ESPL_FIELD_ENTITY, offsetof(mixed, other), 1},
    {"wide", ESPL_FIELD_F64, offsetof(mixed, wide), 1},
    {"longs", ESPL_FIELD_U64, offsetof(mixed, longs), 2},
    {"is_set", ESPL_FIELD_BOOL, offsetof(mixed, is_set), 1},
};

static espl_world *w;
static espl_entity nodes[NODES];
static espl_component of_fields, of_references, of_bytes;

// --- What each frame adds ---

static void make_nodes(void)
{
    for (int i = 0; i < NODES; ++i) {
        const espl_transform at = test_at((float)i, 0.5F * (float)i, -3);
        const espl_entity parent = i % 8 == 0 ? test_null : nodes[(i - 1) / 2];

        ck_ok(espl_create_node(w, parent, &at, i % 5 == 0 ? "a name" : NULL, &nodes[i]));
    }
}

static void write_sides(void)
{
    ck_ok(espl_set_stretch(w, nodes[3], (float[3]){1, 2, 0.25F}));
    ck_ok(espl_set_user_data(w, nodes[4], 0x01020304));
    ck_ok(espl_set_inherit(w, nodes[5], ESPL_ABSOLUTE_X | ESPL_ABSOLUTE_ROTATION));
    ck_ok(espl_set_inherit(w, nodes[6], ESPL_COPY_PARENT));
}

static void register_components(void)
{
    const uint32_t references[] = {0, 16};

    ck_ok(espl_component_register(
        w,
        &(espl_component_def){.name = "mixed",
                              .size = sizeof(mixed),
                              .alignment = 8,
                              .fields = mixed_fields,
                              .field_count = sizeof mixed_fields / sizeof *mixed_fields,
                              .references = (uint32_t[]){offsetof(mixed, other)},
                              .reference_count = 1},
        &of_fields));
    ck_ok(espl_component_register(w,
                                  &(espl_component_def){.name = "pair",
                                                        .size = 24,
                                                        .alignment = 4,
                                                        .references = references,
                                                        .reference_count = 2},
                                  &of_references));
    of_bytes = test_component(w, "text", 3, 1);
}

static void add_values(void)
{
    register_components();
    for (int i = 0; i < NODES; i += 3) {
        const espl_entity pair[3] = {nodes[i], {0x61616161, 0x62626262}, nodes[1]};
        const mixed value = {.small = 9,
                             .between = 8,
                             .shorts = {-2, 300, (int16_t)i},
                             .word = 0x0a0b0c0d,
                             .other = nodes[i],
                             .wide = 0.1 * i,
                             .longs = {UINT64_C(0x0102030405060708), (uint64_t)i << 40},
                             .is_set = i % 2 == 0,
                             .rest = "seventh"};

        ck_ok(espl_add_component(w, nodes[i], of_fields, &value, sizeof value));
        ck_ok(espl_add_component(w, nodes[i], of_references, pair, sizeof pair));
        ck_ok(espl_add_component(w, nodes[i], of_bytes, "abc", 3));
    }
}

static void start_motion(void)
{
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    for (int tick = 0; tick < 3; ++tick) {
        ck_ok(espl_tick_begin(w));
        ck_ok(espl_set_local_position(w, nodes[tick], (float[3]){1, (float)tick, 2}));
        ck_ok(espl_set_world_position(w, nodes[5], (float[3]){4, (float)tick, 2}));
        ck_ok(espl_tick_end(w));
    }
}

static void change_structure(void)
{
    ck_ok(espl_attach(w, nodes[8], nodes[2], NULL));
    ck_ok(espl_detach(w, nodes[9], ESPL_KEEP_LOCAL));
    ck_ok(espl_destroy(w, nodes[16], ESPL_EXTENT_SUBTREE));
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    ck_ok(espl_set_enabled(w, nodes[2], ESPL_EXTENT_SUBTREE, false));
    ck_ok(espl_create_node(w, nodes[0], NULL, "late", &nodes[3]));
}

static const struct {
    void (*change)(void);
    uint64_t checksum;
} frames[] = {
    {make_nodes, UINT64_C(0xa8460943c32318c4)},       {write_sides, UINT64_C(0xffdf2ebd4bffcf88)},
    {add_values, UINT64_C(0x57cff9c200ab3c43)},       {start_motion, UINT64_C(0xd9e6d368c7853139)},
    {change_structure, UINT64_C(0x0ed2fc3f120b48b8)},
};
enum { FRAMES = sizeof frames / sizeof *frames };

TEST(checksums_are_equal_on_all_machines)
{
    const espl_history_def def = {.flags = ESPL_HISTORY_HASH};
    char found[FRAMES * 64] = "";
    bool is_equal = true;
    test_world test;
    espl_history *history;

    if (test_lacks_room(1000, "handles with as many bits as golden checksums need")) {
        return;
    }
    test_world_begin(&test, 1, NULL);
    w = test.world;
    ck_ok(espl_history_create(w, &def, &history));
    for (uint64_t i = 0; i < FRAMES; ++i) {
        uint64_t checksum = 0;

        frames[i].change();
        ck_ok(espl_history_mark(history, i));
        ck_ok(espl_history_hash(history, i, &checksum));
        is_equal = is_equal && checksum == frames[i].checksum;
        (void)snprintf(found + strlen(found), sizeof found - strlen(found),
                       " UINT64_C(0x%016" PRIx64 ")", checksum);
    }
    espl_history_destroy(history);
    test_world_end(&test);
    ck_assert_msg(is_equal, "the checksums are%s", found);
}
