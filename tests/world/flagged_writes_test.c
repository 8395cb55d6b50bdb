// SPDX-License-Identifier: MIT
// Writes with a flag, and writes of the previous pose, in every form of a write.
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/one_tree.h"
#include "tests/told.h"
#include "tests/world/ways.h"

#include <string.h>

enum { NODES = 5, WRITTEN = 2 };

static const espl_write_flag flags[2] = {ESPL_TELEPORT, ESPL_CARRY};

static espl_write_kind with(espl_write_kind kind, unsigned flag)
{
    return (espl_write_kind)((unsigned)kind | flag);
}

FIXTURE(set_up, end);

// What a write answers in a form, and the hash of the world after it.
typedef struct outcome {
    espl_status status;
    uint64_t hash;
} outcome;

// Make a write in a new world with a chain whose nodes lie askew, one of them with inherit flags.
static outcome write_in_new(write_way way, espl_write_kind kind, unsigned flag)
{
    const espl_transform askew = {{0, 0.6f, 0, 0.8f}, {1, 2, 3}, 1.5f, {1, 1, 1}, 0};
    uint64_t random = 7;
    test_world other;

    test_world_begin(&other, 1, NULL);
    espl_entity *const chain = make_chain(other.world, NODES);
    for (int i = 0; i < NODES; ++i) {
        ck_ok(espl_set_local_transform(other.world, chain[i], &askew));
    }
    ck_ok(espl_set_inherit(other.world, chain[3], ESPL_ABSOLUTE_ROTATION));
    espl_write write = write_ordinary(chain[WRITTEN], kind, &random);

    write.kind = with(kind, flag);
    const espl_status status = way_write(way, other.world, &write);
    const outcome out = {status, test_physical_hash(other.world)};

    free(chain);
    test_world_end(&other);
    return out;
}

TEST_LOOP(without_motion_a_flag_does_nothing, 0, TEST_KINDS)
{
    for (write_way way = 0; way < WAY_COUNT; ++way) {
        const outcome plain = write_in_new(way, (espl_write_kind)_i, 0);

        ck_assert_int_ge(plain.status, ESPL_OK);
        for (int i = 0; i < 2; ++i) {
            const outcome flagged = write_in_new(way, (espl_write_kind)_i, flags[i]);

            ck_assert_msg(flagged.status == plain.status && flagged.hash == plain.hash,
                          "%s with flag %d by %s", form_name((espl_write_kind)_i), i,
                          way_name(way));
        }
    }
}

TEST_LOOP(without_motion_there_is_no_previous_pose_to_write, 0, WAY_COUNT)
{
    for (int kind = ESPL_WRITE_PREVIOUS_LOCAL_POSE; kind < ESPL_WRITE_CELL; ++kind) {
        uint64_t random = 1;

        free(node);
        node = make_chain(w, NODES);
        const espl_write write = write_ordinary(node[WRITTEN], (espl_write_kind)kind, &random);
        const uint64_t before = test_logical_hash(w);

        ck_status(way_write((write_way)_i, w, &write), ESPL_ERR_UNSUPPORTED);
        ck_assert_uint_eq(test_logical_hash(w), before);
    }
}

TEST_LOOP(a_kind_takes_one_flag_at_most_and_one_of_the_previous_pose_takes_none, 0, WAY_COUNT)
{
    static const unsigned wrong[] = {
        ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT | ESPL_CARRY,
        ESPL_WRITE_USER_DATA | ESPL_TELEPORT | ESPL_CARRY,
        ESPL_WRITE_PREVIOUS_LOCAL_POSE | ESPL_TELEPORT,
        ESPL_WRITE_PREVIOUS_WORLD_POSE | ESPL_CARRY,
        ESPL_WRITE_KIND_COUNT | ESPL_TELEPORT,
        0x3f | ESPL_CARRY,
        ESPL_WRITE_LOCAL_POSE | 0x20,
        ESPL_WRITE_LOCAL_POSE | 0x100,
        ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT | 0x100,
        0xff,
    };
    node = make_chain(w, NODES);
    const uint64_t before = test_logical_hash(w);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const espl_write write = {node[WRITTEN],
                                  (espl_write_kind)wrong[i],
                                  {.transform = {{0, 0, 0, 1}, {4, 5, 6}, 2, {1, 1, 1}, 0}}};

        ck_assert_msg(way_write((write_way)_i, w, &write) == ESPL_ERR_ARGUMENT, "kind %u by %s",
                      wrong[i], way_name((write_way)_i));
    }
    ck_assert_uint_eq(test_logical_hash(w), before);
}

// Each entry is refused alone, for a reason of its own.
TEST(a_batch_refuses_wrong_flags_entry_by_entry)
{
    static const unsigned kinds[] = {
        ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT,
        ESPL_WRITE_LOCAL_POSE | ESPL_TELEPORT | ESPL_CARRY,
        ESPL_WRITE_PREVIOUS_LOCAL_POSE,
        ESPL_WRITE_TRANSLATE_OWN | ESPL_CARRY,
        ESPL_WRITE_PREVIOUS_WORLD_POSE | ESPL_CARRY,
    };
    enum { COUNT = sizeof kinds / sizeof *kinds };
    espl_write writes[COUNT];
    espl_write_report report;

    node = make_chain(w, NODES);
    for (size_t i = 0; i < COUNT; ++i) {
        writes[i] = (espl_write){node[i % NODES],
                                 (espl_write_kind)kinds[i],
                                 {.transform = {{0, 0, 0, 1}, {4, 5, 6}, 2, {1, 1, 1}, 0}}};
    }
    ck_status(espl_write_batch(w, writes, COUNT, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.applied, 2);
    ck_assert_uint_eq(report.refused, 3);
    ck_assert_uint_eq(report.first_refused, 1);
    ck_assert_int_eq(report.first_status, ESPL_ERR_ARGUMENT);
    ck_assert_float_eq(test_local_of(w, node[0]).position[0], 4);

    ck_status(espl_write_batch(w, writes + 2, 2, &report), ESPL_PARTLY);
    ck_assert_uint_eq(report.applied, 1);
    ck_assert_uint_eq(report.first_refused, 0);
    ck_assert_int_eq(report.first_status, ESPL_ERR_UNSUPPORTED);
}

FIXTURE(NULL, NULL);

TEST(a_refusal_names_the_kind_and_its_flag)
{
    const espl_component transform = ESPL_TRANSFORM;
    const float nan3[3] = {0, NAN, 0};
    const espl_pose pose = {{0, 0, 0, 1}, {1, 2, 3}, 1};
    espl_entity entity;
    told t;

    told_begin(&t, NULL);
    ck_ok(espl_create(t.world, &transform, 1, 1, &entity));
    const espl_write writes[2] = {
        {entity, with(ESPL_WRITE_LOCAL_POSITION, ESPL_TELEPORT), {{0, NAN, 0}}},
        {entity, with(ESPL_WRITE_WORLD_POSE, ESPL_TELEPORT | ESPL_CARRY), {.pose = pose}}};

    REFUSED(&t, ESPL_ERR_NOT_FINITE,
            espl_write_one(t.world, entity, with(ESPL_WRITE_STRETCH, ESPL_CARRY), nan3),
            "espl_write_one: ESPL_ERR_NOT_FINITE: entity %s: stretch[1] is NaN.", told_id(entity));
    REFUSED(&t, ESPL_ERR_ARGUMENT, espl_write_one(t.world, entity, writes[1].kind, &pose),
            "espl_write_one: ESPL_ERR_ARGUMENT: entity %s: The kind has ESPL_TELEPORT and "
            "ESPL_CARRY; a "
            "write has one flag at most.",
            told_id(entity));
    REFUSED(
        &t, ESPL_ERR_ARGUMENT,
        espl_write_one(t.world, entity, with(ESPL_WRITE_PREVIOUS_LOCAL_POSE, ESPL_CARRY), &pose),
        "espl_write_one: ESPL_ERR_ARGUMENT: entity %s: The kind sets the previous pose, and takes "
        "no "
        "flag.",
        told_id(entity));
    REFUSED(&t, ESPL_ERR_UNSUPPORTED,
            espl_write_one(t.world, entity, ESPL_WRITE_PREVIOUS_LOCAL_POSE, &pose),
            "espl_write_one: ESPL_ERR_UNSUPPORTED: entity %s: The kind needs motion; call "
            "espl_motion_start() first.",
            told_id(entity));
    REFUSED(&t, ESPL_PARTLY, espl_write_batch(t.world, writes, 2, NULL),
            "espl_write_batch: ESPL_ERR_NOT_FINITE: entry 0 of 2, entity %s, "
            "ESPL_WRITE_LOCAL_POSITION | "
            "ESPL_TELEPORT, first of 2 refused: position[1] is NaN.",
            told_id(entity));
    told_end(&t);
}
