// SPDX-License-Identifier: MIT
// Sibling moves: every entity of a list of up to six to every position, recorded and immediate,
// with destroyed entities between them; and nothing else changes.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/runner.h"

#include <string.h>

enum { LIST = 6, NODES = 2 * LIST + 2 };

// A parent with children, each with a child of its own, some placed with a stretch.
typedef struct scene {
    test_world test;
    espl_world *world;
    espl_entity parent, children[LIST], below[LIST];
    uint32_t count;
} scene;

static scene s;

static espl_entity attached(espl_entity parent, uint32_t i)
{
    const espl_transform value = {{0, 0, 0.6f, 0.8f}, {(float)i, 2, -1}, 1.5f, {1, 2, 1}, i};
    const espl_attach_options options = {.link = i % 2 == 0 ? ESPL_LINK_OWNED : ESPL_LINK_FREE,
                                         .inherit = i % 3 == 2 ? ESPL_ABSOLUTE_SCALE : 0};
    const espl_entity child = test_solo(s.world);

    ck_ok(espl_set_local_transform(s.world, child, &value));
    ck_ok(espl_attach(s.world, child, parent, &options));
    return child;
}

static void scene_begin(uint32_t count)
{
    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 4, NULL);
    s.world = s.test.world;
    const espl_entity root = test_solo_at(s.world, 1, 2, 3);
    s.parent = attached(root, 4);
    for (s.count = 0; s.count < count; ++s.count) {
        s.children[s.count] = attached(s.parent, s.count);
        s.below[s.count] = attached(s.children[s.count], s.count);
    }
}

static void scene_end(void)
{
    test_world_end(&s.test);
}

static espl_status move(espl_entity child, espl_entity before, bool is_recorded)
{
    espl_report report = {0};

    if (!is_recorded) {
        return espl_move_before(s.world, child, before);
    }
    espl_command_buffer *const commands = test_commands(s.world, 1);
    ck_ok(espl_record_move_before(espl_command_buffer_recorder(commands, 0), 0, child, before));
    ck_ok(espl_play(s.world, commands, &report));
    const espl_status status = espl_command_buffer_result(commands, 0, 0);
    ck_assert_uint_eq(report.visited_nodes, 0);
    ck_assert_uint_eq(report.row_moves, 0);
    espl_command_buffer_destroy(commands);
    return status;
}

// All that a move leaves alone, bit for bit.
typedef struct picture {
    espl_transform local, world;
    espl_entity parent;
    espl_link link;
    uint32_t inherit;
} picture;

static picture picture_of(espl_entity entity)
{
    picture p;

    memset(&p, 0, sizeof p);
    p.local = test_local_of(s.world, entity);
    p.world = test_world_of(s.world, entity);
    p.parent = espl_get_parent(s.world, entity);
    p.link = espl_get_link(s.world, entity);
    p.inherit = espl_get_inherit(s.world, entity);
    return p;
}

static void take_pictures(picture *out)
{
    out[0] = picture_of(s.parent);
    for (uint32_t i = 0; i < s.count; ++i) {
        out[1 + 2 * i] = picture_of(s.children[i]);
        out[2 + 2 * i] = picture_of(s.below[i]);
    }
}

// Move the i-th before the k-th (or last) in a plain array.
static void move_plainly(espl_entity *list, uint32_t count, uint32_t i, uint32_t k)
{
    const espl_entity moved = list[i];
    uint32_t to = k > i ? k - 1 : k;

    memmove(list + i, list + i + 1, (count - i - 1) * sizeof *list);
    memmove(list + to + 1, list + to, (count - 1 - to) * sizeof *list);
    list[to] = moved;
}

static void order_is(const espl_entity *list, uint32_t count)
{
    espl_entity at = espl_get_first_child(s.world, s.parent);

    for (uint32_t i = 0; i < count; ++i) {
        ck_assert(espl_entity_equal(at, list[i]));
        at = espl_get_next_sibling(s.world, at);
    }
    ck_assert(espl_entity_is_null(at));
}

static uint64_t visited(void)
{
    return test_stats(s.world).nodes_visited;
}

static void move_and_check(uint32_t count, uint32_t i, uint32_t k, bool is_recorded)
{
    picture before[NODES], after[NODES];
    espl_entity list[LIST];

    scene_begin(count);
    memcpy(list, s.children, sizeof list);
    take_pictures(before);
    const uint64_t visits = visited();
    const espl_entity sibling = k < count ? s.children[k] : espl_entity_null();
    ck_ok(move(s.children[i], sibling, is_recorded));
    test_world_is_valid(s.world);
    if (k != i) {
        move_plainly(list, count, i, k);
    }
    order_is(list, count);
    take_pictures(after);
    ck_assert_int_eq(memcmp(before, after, (1 + 2 * count) * sizeof *before), 0);
    ck_assert_uint_eq(visited(), visits);
    scene_end();
}

TEST_LOOP(each_of_six_comes_to_every_place, 0, 2)
{
    for (uint32_t count = 1; count <= LIST; ++count) {
        for (uint32_t i = 0; i < count; ++i) {
            for (uint32_t k = 0; k <= count; ++k) {
                move_and_check(count, i, k, _i != 0);
            }
        }
    }
}

static void is_refused(espl_entity child, espl_entity before, espl_status status)
{
    const uint64_t hash = test_physical_hash(s.world);

    ck_assert_int_eq(espl_move_before(s.world, child, before), status);
    ck_assert_uint_eq(test_physical_hash(s.world), hash);
    ck_assert_ptr_nonnull(strstr(s.test.hooks.last_line, "espl_move_before: "));
    if (!espl_entity_is_null(child) && status != ESPL_ERR_FOREIGN) {
        ck_assert_int_eq(move(child, before, true), status);
    }
}

TEST(what_is_no_sibling_is_refused)
{
    scene_begin(3);
    const espl_entity null = espl_entity_null(), solo = test_solo(s.world);
    const espl_entity root = espl_get_root(s.world, s.parent), dead = test_solo(s.world);
    ck_ok(espl_destroy(s.world, dead, ESPL_EXTENT_OWNED));
    is_refused(solo, null, ESPL_ERR_NOT_CHILD);
    is_refused(solo, solo, ESPL_ERR_NOT_CHILD);
    is_refused(root, null, ESPL_ERR_NOT_CHILD);
    is_refused(root, s.parent, ESPL_ERR_NOT_CHILD);
    is_refused(s.children[0], s.parent, ESPL_ERR_NOT_CHILD);
    is_refused(s.children[0], s.below[0], ESPL_ERR_NOT_CHILD);
    is_refused(s.children[0], solo, ESPL_ERR_NOT_CHILD);
    is_refused(s.children[0], root, ESPL_ERR_NOT_CHILD);
    is_refused(null, s.children[0], ESPL_ERR_NULL_ENTITY);
    is_refused(dead, s.children[0], ESPL_ERR_DEAD);
    is_refused(s.children[0], dead, ESPL_ERR_DEAD);
    const espl_entity foreign = {s.children[0].index, s.children[0].generation ^ (3u << 24)};
    is_refused(s.children[0], foreign, ESPL_ERR_FOREIGN);
    is_refused(foreign, s.children[0], ESPL_ERR_FOREIGN);
    scene_end();
}

TEST(recording_refuses_what_is_known_by_then)
{
    espl_command_buffer *commands = NULL, *others = NULL;
    espl_entity pending;

    scene_begin(2);
    ck_ok(espl_command_buffer_create(s.world, 1, &commands));
    ck_ok(espl_command_buffer_create(s.world, 1, &others));
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    const espl_instance_def def = {.source = s.children[0], .parent = s.parent};
    ck_ok(espl_record_instantiate(espl_command_buffer_recorder(others, 0), 0, &def, 1, &pending));
    const espl_entity null = espl_entity_null(), child = s.children[0];
    ck_status(espl_record_move_before(lane, 0, null, child), ESPL_ERR_NULL_ENTITY);
    ck_status(espl_record_move_before(lane, 0, pending, null), ESPL_ERR_FOREIGN);
    ck_status(espl_record_move_before(lane, 0, child, pending), ESPL_ERR_FOREIGN);
    ck_assert_uint_eq(espl_command_buffer_count(commands), 0);
    ck_ok(espl_play(s.world, commands, NULL));
    ck_status(espl_record_move_before(lane, 0, child, null), ESPL_ERR_PLAYED);
    espl_command_buffer_destroy(others);
    espl_command_buffer_destroy(commands);
    scene_end();
}

// A clone stands before an original, and an original before a clone, in one playback.
TEST(pending_entities_take_part)
{
    espl_entity pending[2], made[2];
    espl_report report;

    scene_begin(3);
    espl_command_buffer *const commands = test_commands(s.world, 1);
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    const espl_instance_def def = {.source = s.below[1], .parent = s.parent};
    ck_ok(espl_record_instantiate(lane, 0, &def, 2, pending));
    ck_ok(espl_record_move_before(lane, 0, pending[1], s.children[0]));
    ck_ok(espl_record_move_before(lane, 0, s.children[0], pending[1]));
    ck_ok(espl_record_move_before(lane, 0, s.children[2], pending[1]));
    ck_ok(espl_record_move_before(lane, 0, s.children[1], espl_entity_null()));
    ck_ok(espl_record_destroy(lane, 0, pending[0], ESPL_EXTENT_OWNED));
    ck_ok(espl_record_move_before(lane, 0, s.children[2], pending[0]));
    ck_ok(espl_play(s.world, commands, &report));
    ck_assert_uint_eq(report.refused, 1);
    ck_assert_uint_eq(report.refused_by[-ESPL_ERR_DEAD], 1);
    ck_ok(espl_command_buffer_resolve(commands, pending[1], &made[1]));
    const espl_entity wanted[] = {s.children[0], s.children[2], made[1], s.children[1]};
    order_is(wanted, 4);
    espl_command_buffer_destroy(commands);
    scene_end();
}
