// SPDX-License-Identifier: MIT
// Reads of many entities in one call give the bits of single reads, for any layout of handles in
// memory; a refused entity leaves its output as it was.
#include "tests/fixture.h"
#include "tests/runner.h"

#include "tests/inside.h"

#include <string.h>

enum { NODES = 300, MOST = 700 };

// A struct of a caller's own that holds a handle.
typedef struct record {
    char name[5];
    espl_entity entity;
    float weight;
} record;

typedef struct fixture {
    test_world test;
    espl_entity *nodes; // [count]
    uint32_t count;
    record records[MOST];
    espl_transform transforms[MOST], filled;
    float positions[MOST][3];
} fixture;

static fixture f;

static void begin(void)
{
    static uint32_t parent[NODES];
    const espl_component placement = ESPL_TRANSFORM;

    f.count = test_fitting(NODES, 0);
    f.filled = test_at(12, 34, 56);
    for (uint32_t i = 0; i < f.count; ++i) {
        parent[i] = i % 10 == 0 ? NO_PARENT : i - 1 - i % 3 % (i % 10);
    }
    test_world_cells(1024);
    test_world_begin(&f.test, 0, NULL);
    f.nodes = make_forest(f.test.world, parent, f.count);
    for (uint32_t i = 0; i < f.count; ++i) {
        const espl_transform local = test_at((float)i, 2, 3);
        const float stretch[3] = {1, 2, (float)i};

        ck_ok(espl_set_local_transform(f.test.world, f.nodes[i], &local));
        if (i % 13 == 12) {
            ck_ok(espl_set_stretch(f.test.world, f.nodes[i], stretch));
        }
    }
    // One without a placement, and one that is dead.
    ck_ok(espl_remove_component(f.test.world, f.nodes[f.count - 1], placement));
    ck_ok(espl_destroy(f.test.world, f.nodes[f.count - 2], ESPL_EXTENT_ENTITY));
}

static void end(void)
{
    free(f.nodes);
    test_world_end(&f.test);
}

// Any of the first `of` nodes, some of them twice.
static void draw(size_t count, uint32_t of, uint64_t *random)
{
    for (size_t i = 0; i < MOST; ++i) {
        f.records[i].entity = f.nodes[test_below(random, of)];
        f.transforms[i] = f.filled;
        memcpy(f.positions[i], f.filled.position, sizeof f.positions[i]);
    }
    ck_assert_uint_le(count, MOST);
}

// @return how many are refused by single calls.
static size_t outputs_are_those_of_single_reads(size_t count)
{
    size_t refused = 0;

    for (size_t i = 0; i < MOST; ++i) {
        espl_transform expected = f.filled;

        if (i < count &&
            espl_get_world_transform(f.test.world, f.records[i].entity, &expected) != ESPL_OK) {
            refused += 1;
        }
        ck_assert_msg(test_same(&f.transforms[i], &expected), "transform %zu", i);
        ck_assert_msg(memcmp(f.positions[i], expected.position, sizeof expected.position) == 0,
                      "position %zu", i);
    }
    return refused;
}

static espl_status read_all(size_t count)
{
    const espl_entity *const first = &f.records[0].entity;
    const espl_status status =
        espl_read_strided(f.test.world, ESPL_READ_WORLD_TRANSFORM, first, count, sizeof *f.records,
                          f.transforms, sizeof(espl_transform));

    ck_assert_int_eq(espl_read_strided(f.test.world, ESPL_READ_WORLD_POSITION, first, count,
                                       sizeof *f.records, f.positions, sizeof(float[3])),
                     status);
    return status;
}

TEST(any_number_of_entities_reads_as_one_by_one)
{
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 97, 500, MOST};
    uint64_t random = 1;

    begin();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        draw(counts[i], f.count - 2, &random);
        ck_ok(read_all(counts[i]));
        ck_assert_uint_eq(outputs_are_those_of_single_reads(counts[i]), 0);
    }
    end();
}

TEST(entities_that_are_refused_leave_their_outputs_alone)
{
    uint64_t random = 2;

    begin();
    const espl_entity refused[] = {f.nodes[f.count - 1],
                                   f.nodes[f.count - 2],
                                   espl_entity_null(),
                                   {UINT32_MAX, 1},
                                   {f.nodes[0].index, f.nodes[0].generation + 1}};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        for (size_t at = 0; at < 70; at += 23) {
            draw(70, f.count - 2, &random);
            f.records[at].entity = refused[i];
            ck_status(read_all(70), ESPL_PARTLY);
            ck_assert_uint_eq(outputs_are_those_of_single_reads(70), 1);
        }
    }
    end();
}

// Kinds by the size of their values, in bytes.
static size_t size_of_kind(espl_read_kind kind)
{
    static const size_t sizes[ESPL_READ_KIND_COUNT] = {
        [ESPL_READ_LOCAL_POSITION] = 12,
        [ESPL_READ_LOCAL_ROTATION] = 16,
        [ESPL_READ_LOCAL_SCALE] = 4,
        [ESPL_READ_LOCAL_POSE] = sizeof(espl_pose),
        [ESPL_READ_LOCAL_TRANSFORM] = sizeof(espl_transform),
        [ESPL_READ_STRETCH] = 12,
        [ESPL_READ_USER_DATA] = 4,
        [ESPL_READ_WORLD_POSITION] = 12,
        [ESPL_READ_WORLD_ROTATION] = 16,
        [ESPL_READ_WORLD_SCALE] = 4,
        [ESPL_READ_WORLD_POSE] = sizeof(espl_pose),
        [ESPL_READ_WORLD_TRANSFORM] = sizeof(espl_transform),
        [ESPL_READ_SHOWN_POSITION] = 12,
        [ESPL_READ_SHOWN_ROTATION] = 16,
        [ESPL_READ_SHOWN_SCALE] = 4,
        [ESPL_READ_SHOWN_POSE] = sizeof(espl_pose),
        [ESPL_READ_SHOWN_TRANSFORM] = sizeof(espl_transform),
        [ESPL_READ_PREVIOUS_LOCAL_POSE] = sizeof(espl_pose),
        [ESPL_READ_PREVIOUS_WORLD_POSE] = sizeof(espl_pose),
        [ESPL_READ_BEFORE_LOCAL_POSE] = sizeof(espl_pose),
        [ESPL_READ_BEFORE_WORLD_POSE] = sizeof(espl_pose),
        [ESPL_READ_CELL] = 12,
        [ESPL_READ_ABSOLUTE_POSITION] = 24,
    };

    ck_assert_uint_ne(sizes[kind], 0);
    return sizes[kind];
}

// A world of more than a megabyte is read in blocks, so that memory is asked for in time. Entities of
// neighbouring rows, and far apart; counts around the size of a block.
TEST(a_large_world_reads_as_one_by_one)
{
    enum { SOLOS = 24000, READ = 161 };
    static const size_t counts[] = {1, 31, 32, 33, 95, 96, 97, READ};
    static espl_entity solos[SOLOS];
    static espl_transform many[READ];
    const espl_component transform = ESPL_TRANSFORM;

    if (test_lacks_room(NODES + SOLOS, "a large world")) {
        return;
    }
    begin();
    ck_ok(espl_create(f.test.world, &transform, 1, SOLOS, solos));
    for (uint32_t i = 0; i < SOLOS; i += 7) {
        const float position[3] = {(float)i, 1, 2}, stretch[3] = {1, 2, (float)i};

        ck_ok(espl_write_one(f.test.world, solos[i], ESPL_WRITE_LOCAL_POSITION, position));
        if (i % 3 == 0) {
            ck_ok(espl_write_one(f.test.world, solos[i], ESPL_WRITE_STRETCH, stretch));
        }
    }
    for (size_t k = 0; k < 2 * sizeof counts / sizeof *counts; ++k) {
        const size_t count = counts[k / 2], step = k % 2 == 0 ? 1 : SOLOS / READ;
        espl_entity read[READ];

        for (size_t i = 0; i < count; ++i) {
            read[i] = i % 5 == 4 ? f.nodes[i] : solos[i * step];
        }
        for (espl_read_kind kind = 0; kind < ESPL_READ_KIND_COUNT; ++kind) {
            const size_t size = size_of_kind(kind);

            ck_ok(espl_read_strided(f.test.world, kind, read, count, sizeof *read, many, size));
            for (size_t i = 0; i < count; ++i) {
                espl_transform one;

                ck_ok(espl_read_one(f.test.world, read[i], kind, &one));
                ck_assert_msg(memcmp((const char *)many + i * size, &one, size) == 0,
                              "kind %d, entity %zu of %zu", (int)kind, i, count);
            }
        }
    }
    end();
}

TEST(strides_are_checked)
{
    float position[1][3] = {{7, 7, 7}};

    begin();
    static const size_t strides[] = {0, 4, 7, 9, 10, SIZE_MAX};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; ++i) {
        ck_status(espl_read_strided(f.test.world, ESPL_READ_WORLD_POSITION, f.nodes, 1, strides[i],
                                    position, sizeof(float[3])),
                  ESPL_ERR_ARGUMENT);
    }
    ck_assert(position[0][0] == 7 && position[0][1] == 7 && position[0][2] == 7);
    end();
}
