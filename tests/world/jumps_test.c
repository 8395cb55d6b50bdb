// SPDX-License-Identifier: MIT
// The plane of jumps: each way to write marks the node that a write with ESPL_TELEPORT places, with what is below
// it then, and no other write marks any.
#include "lib/tree/jumps.h"
#include "lib/world/moment.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "tests/one_tree.h"
#include "tests/world/ways.h"

#include <string.h>

enum { NODES = 5, WRITTEN = 2, JUMPS = 1 << ESPL__PLANE_JUMP | 1 << ESPL__PLANE_JUMP_TOP };

FIXTURE(set_up, end);

static espl_write_kind with_flag(int kind, unsigned flag)
{
    return (espl_write_kind)((unsigned)kind | flag);
}

static bool has_jumped(espl_entity entity, uint32_t since)
{
    const uint32_t slot = w->store.records[entity.index].slot;

    espl__jumps_spread(&w->forest);
    return espl__plane_has_changed(&w->forest.tracks.planes[ESPL__PLANE_JUMP], slot, since);
}

// Make a write of a kind, and demand which of the nodes it marks.
static void demand_marks(write_way way, espl_write_kind kind, bool is_jump, espl_status status)
{
    const uint32_t since = (uint32_t)espl__world_next_moment(w);
    uint64_t random = 7;
    espl_write write = write_ordinary(
        node[WRITTEN], (espl_write_kind)((unsigned)kind & ~(unsigned)(ESPL_TELEPORT | ESPL_CARRY)),
        &random);

    write.kind = kind;
    const espl_status answer = way_write(way, w, &write);

    ck_assert_msg(status < 0 ? answer == status : answer >= 0, "%s", way_name(way));
    for (int i = 0; i < NODES; ++i) {
        ck_assert_msg(has_jumped(node[i], since) == (is_jump && i >= WRITTEN),
                      "node %d of kind %d by %s", i, (int)kind, way_name(way));
    }
}

static bool moves_poses(int kind)
{
    return kind != ESPL_WRITE_STRETCH && kind != ESPL_WRITE_MULTIPLY_STRETCH &&
           kind != ESPL_WRITE_USER_DATA;
}

// 0: without motion. 1: with it, which keeps the previous pose as well.
TEST_LOOP(each_way_to_write_marks_a_teleport_and_nothing_else, 0, 2)
{
    node = make_chain(w, NODES);
    ck_assert(espl__planes_acquire(w, JUMPS));
    if (_i == 1) {
        ck_ok(espl_motion_start(w, NULL));
    }
    for (write_way way = 0; way < WAY_COUNT; ++way) {
        for (int kind = 0; kind < ESPL_WRITE_PREVIOUS_LOCAL_POSE; ++kind) {
            demand_marks(way, with_flag(kind, 0), false, ESPL_OK);
            demand_marks(way, with_flag(kind, ESPL_CARRY), false, ESPL_OK);
            demand_marks(way, with_flag(kind, ESPL_TELEPORT), moves_poses(kind), ESPL_OK);
        }
    }
    espl__planes_release(w, JUMPS);
}

TEST(refused_write_marks_no_jump)
{
    node = make_chain(w, NODES);
    ck_assert(espl__planes_acquire(w, JUMPS));
    const uint32_t since = (uint32_t)espl__world_next_moment(w);
    const float bad[3] = {0, 1.0f / 0.0f, 0};

    ck_status(espl_write_one(w, node[1], with_flag(ESPL_WRITE_LOCAL_POSITION, ESPL_TELEPORT), bad),
              ESPL_ERR_NOT_FINITE);
    ck_assert(!has_jumped(node[1], since));
    espl__planes_release(w, JUMPS);
}

// A write that leaves the transform as it is ends the motion that is shown as well.
TEST(teleport_to_where_the_node_is_is_marked)
{
    node = make_chain(w, NODES);
    ck_assert(espl__planes_acquire(w, JUMPS));
    const uint32_t since = (uint32_t)espl__world_next_moment(w);
    const espl_transform same = test_local_of(w, node[1]);

    ck_ok(espl_write_one(w, node[1], with_flag(ESPL_WRITE_LOCAL_POSITION, ESPL_TELEPORT),
                         same.position));
    ck_assert(has_jumped(node[1], since));
    espl__planes_release(w, JUMPS);
}

// Nodes change their slots when they are detached, and when the world is compacted.
TEST(mark_of_a_jump_moves_with_its_node)
{
    node = make_chain(w, NODES);
    ck_assert(espl__planes_acquire(w, JUMPS));
    const uint32_t since = (uint32_t)espl__world_next_moment(w);
    const float far[3] = {100, 0, 0};

    ck_ok(espl_write_one(w, node[3], with_flag(ESPL_WRITE_LOCAL_POSITION, ESPL_TELEPORT), far));
    ck_ok(espl_detach(w, node[3], ESPL_KEEP_WORLD));
    ck_ok(espl_destroy(w, node[1], ESPL_EXTENT_SUBTREE));
    ck_ok(espl_compact(w));
    ck_assert(has_jumped(node[3], since));
    ck_assert(has_jumped(node[4], since));
    ck_assert(!has_jumped(node[0], since));
    espl__planes_release(w, JUMPS);
}

// What was below the node is marked where it goes, and what comes below it later is not: by an attach, and by a
// destroy that others survive.
TEST_LOOP(mark_is_of_what_was_below, 0, 2)
{
    node = make_chain(w, NODES);
    ck_assert(espl__planes_acquire(w, JUMPS));
    const uint32_t since = (uint32_t)espl__world_next_moment(w);
    const espl_entity other = test_solo(w);
    const float far[3] = {100, 0, 0};

    ck_ok(espl_write_one(w, node[3], with_flag(ESPL_WRITE_LOCAL_POSITION, ESPL_TELEPORT), far));
    if (_i == 0) {
        ck_ok(espl_attach(w, node[4], other, NULL));
    } else {
        ck_ok(espl_attach(w, other, node[3], NULL));
        ck_ok(espl_destroy(w, node[3], ESPL_EXTENT_ENTITY));
    }
    ck_assert(has_jumped(node[4], since));
    ck_assert(!has_jumped(other, since));
    ck_assert(!has_jumped(node[2], since));
    espl__planes_release(w, JUMPS);
}

TEST(without_a_consumer_nothing_is_stored)
{
    node = make_chain(w, NODES);
    const float far[3] = {100, 0, 0};

    ck_ok(espl_write_one(w, node[3], with_flag(ESPL_WRITE_LOCAL_POSITION, ESPL_TELEPORT), far));
    ck_assert_uint_eq(espl__planes_bytes(w), 0);
}
