// SPDX-License-Identifier: MIT
// A hierarchy has room for its next nodes in whatever way it was made: no other node of it moves in
// memory. Beside it what that room costs in bytes.
#include "tests/checks.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/one_world.h"

#include <espalier/commands.h>

#include <stdlib.h>

FIXTURE(set_up, tear_down);

enum { FAN_OUT = 3, LARGEST = 130 };

static espl_entity node[LARGEST + 1]; // of the hierarchy that a test makes
static espl_command_buffer *commands;

static espl_recorder *record(void)
{
    ck_ok(espl_command_buffer_create(w, 1, &commands));
    return espl_command_buffer_recorder(commands, 0);
}

static void play(void)
{
    espl_report report;

    ck_ok(espl_play(w, commands, &report));
    ck_assert_uint_eq(report.refused, 0);
}

// Play, and replace pending handles by the entities that they became.
static void play_for(espl_entity *pending, uint32_t count)
{
    play();
    for (uint32_t i = 0; i < count; ++i) {
        ck_ok(espl_command_buffer_resolve(commands, pending[i], &pending[i]));
    }
    espl_command_buffer_destroy(commands);
}

static espl_entity parent_of(uint32_t i)
{
    return i == 0 ? espl_entity_null() : node[(i - 1) / FAN_OUT];
}

// --- The ways to make a hierarchy ---

static void grow(uint32_t count)
{
    test_solos(w, count, node);
    for (uint32_t i = 1; i < count; ++i) {
        ck_ok(espl_attach(w, node[i], parent_of(i), NULL));
    }
}

static void attach_many(uint32_t count)
{
    espl_entity parents[LARGEST];

    test_solos(w, count, node);
    for (uint32_t i = 1; i < count; ++i) {
        parents[i] = parent_of(i);
    }
    ck_ok(espl_attach_many(w, node + 1, parents + 1, count - 1, NULL, NULL));
}

static void play_attaches(uint32_t count)
{
    espl_recorder *const recorder = record();

    test_solos(w, count, node);
    for (uint32_t i = 1; i < count; ++i) {
        ck_ok(espl_record_attach(recorder, 0, node[i], parent_of(i), NULL));
    }
    play_for(NULL, 0);
}

static void play_creations(uint32_t count)
{
    espl_recorder *const recorder = record();

    for (uint32_t i = 0; i < count; ++i) {
        const espl_transform at = test_at(1, 0, 0);
        const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
        const espl_creation_def def = {
            .values = &value, .value_count = 1, .parent = parent_of(i)};

        ck_ok(espl_record_create(recorder, 0, &def, 1, &node[i]));
    }
    play_for(node, count);
}

// The prefab is behind the nodes of the test, which are those of the last clone.
static espl_entity make_prefab(uint32_t count)
{
    espl_entity *const made = make_trees(w, 1, count, FAN_OUT);
    const espl_entity prefab = made[0];

    free(made);
    return prefab;
}

static void instantiate(uint32_t count)
{
    const espl_instance_def def = {.source = make_prefab(count)};
    espl_entity clones[3];

    ck_ok(espl_instantiate(w, &def, 3, clones));
    node[0] = clones[1];
}

static void spawn(uint32_t count)
{
    ck_ok(espl_spawn(w, make_prefab(count), espl_entity_null(), NULL, &node[0]));
}

static void play_clones(uint32_t count)
{
    const espl_instance_def def = {.source = make_prefab(count)};
    espl_recorder *const recorder = record();
    espl_entity clones[5];

    ck_ok(espl_record_instantiate(recorder, 0, &def, 3, clones));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, clones + 3));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, clones + 4));
    play_for(clones, 5);
    node[0] = clones[test_below(&(uint64_t){count}, 5)];
}

// A source that a command of the same playback edits is cloned as that command leaves it.
static void play_clones_of_edited(uint32_t count)
{
    const espl_entity prefab = make_prefab(count - 1);
    const espl_instance_def def = {.source = prefab};
    espl_recorder *const recorder = record();
    espl_entity clones[2];

    ck_ok(espl_record_attach(recorder, 0, test_solo(w), prefab, NULL));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 2, clones));
    play_for(clones, 2);
    node[0] = clones[count % 2];
}

static void detach_from_another(uint32_t count)
{
    const espl_entity other = test_solo(w);

    grow(count);
    ck_ok(espl_attach(w, node[0], other, NULL));
    ck_ok(espl_detach(w, node[0], ESPL_KEEP_LOCAL));
}

static void compact(uint32_t count)
{
    grow(count);
    ck_ok(espl_compact(w));
}

// The first child becomes the last one, so that the order is no longer breadth-first.
static void lay_out(uint32_t count)
{
    espl_view view;

    play_attaches(count);
    ck_ok(espl_attach(w, node[1], node[0], NULL));
    ck_ok(espl_view_hierarchy(w, node[0], &view));
    ck_assert_uint_eq(view.count, count);
}

static void clear_and_rebuild(uint32_t count)
{
    instantiate(count);
    ck_ok(espl_world_clear(w));
    instantiate(count);
}

static const struct way {
    const char *name;
    void (*make)(uint32_t count);
} ways[] = {
    {"espl_attach_many", attach_many},
    {"attaches, played", play_attaches},
    {"creations, played", play_creations},
    {"espl_instantiate", instantiate},
    {"espl_spawn", spawn},
    {"clones, played", play_clones},
    {"clones of what is edited, played", play_clones_of_edited},
    {"espl_detach", detach_from_another},
    {"espl_compact", compact},
    {"espl_view_hierarchy", lay_out},
    {"espl_world_clear", clear_and_rebuild},
};

enum { WAYS = sizeof ways / sizeof *ways };

static const uint32_t sizes[] = {2, 3, 20, 31, 32, 47, 48, 100, LARGEST};

enum { SIZES = sizeof sizes / sizeof *sizes };

// --- Room ---

// The nodes that find room in a new hierarchy.
static uint32_t room_of(uint32_t count)
{
    return count < 32 ? 1 : count / 16;
}

static void begin_again(void)
{
    tear_down();
    set_up();
}

// Make a hierarchy of each size in one way, and add nodes to it by `add`.
static void try_way(const struct way *way, void (*add)(espl_entity root, uint32_t more))
{
    for (size_t i = 0; i < SIZES; ++i) {
        begin_again();
        way->make(sizes[i]);
        add(node[0], room_of(sizes[i]));
        test_world_is_valid(w);
    }
}

static void add_nodes(espl_entity root, uint32_t more)
{
    const uint64_t moved = test_count_moved_nodes(w);

    for (uint32_t i = 0; i < more; ++i) {
        ck_ok(espl_create_node(w, root, NULL, NULL, NULL));
    }
    ck_assert_uint_eq(test_count_moved_nodes(w), moved);
}

TEST_LOOP(the_next_nodes_move_no_other, 0, WAYS)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    try_way(&ways[_i], add_nodes);
}

// What is attached moves, and nothing else does.
static void attach_guests(espl_entity root, uint32_t more)
{
    espl_entity guests[LARGEST];

    test_solos(w, more, guests);
    const uint64_t moved = test_count_moved_nodes(w);

    for (uint32_t i = 0; i < more; ++i) {
        ck_ok(espl_attach(w, guests[i], root, NULL));
    }
    ck_assert_uint_eq(test_count_moved_nodes(w), moved + more);
}

TEST_LOOP(the_next_guests_alone_move, 0, WAYS)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    try_way(&ways[_i], attach_guests);
}

static void play_more(espl_entity root, uint32_t more)
{
    espl_recorder *const recorder = record();
    const espl_creation_def def = {.parent = root};
    espl_entity made[LARGEST];
    const uint64_t moved = test_count_moved_nodes(w);

    ck_ok(espl_record_create(recorder, 0, &def, more, made));
    play_for(made, more);
    ck_assert_uint_eq(test_count_moved_nodes(w), moved);
}

TEST_LOOP(the_next_nodes_of_a_playback_move_no_other, 0, WAYS)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    try_way(&ways[_i], play_more);
}

TEST_LOOP(side_arrays_have_room_for_the_next_nodes, 0, WAYS)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    const float stretch[3] = {1, 2, 1};

    for (size_t i = 0; i < SIZES; ++i) {
        begin_again();
        ways[_i].make(sizes[i]);
        ck_ok(espl_set_stretch(w, node[0], stretch));
        add_nodes(node[0], room_of(sizes[i]));
        test_world_is_valid(w);
    }
}

// --- What it costs ---

// Slots in the storage of hierarchies and solos.
static size_t count_slots(void)
{
    const espl_world_stats stats = test_stats(w);

    return stats.slots - stats.free_slots;
}

TEST_LOOP(the_room_of_a_new_hierarchy_is_a_sixteenth, 0, WAYS)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    for (size_t i = 0; i < SIZES; ++i) {
        begin_again();
        ways[_i].make(sizes[i]);
        const espl_world_stats stats = test_stats(w);
        if (stats.hierarchies == 1 && stats.solos == 0) {
            ck_assert_uint_eq(count_slots(), stats.entities + room_of(sizes[i]));
        }
        ck_assert_uint_le(count_slots(), stats.entities * 3 / 2 + 2 * stats.hierarchies);
    }
}

// A hierarchy that gets one node after the other moves now and then, ever more rarely.
TEST_LOOP(a_hierarchy_that_grows_by_single_calls_moves_rarely, 0, 2)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    const uint32_t count = test_fitting(2000, 0);
    const uint64_t moved = test_count_moved_nodes(w);
    const espl_entity root = test_solo(w);

    for (uint32_t i = 1; i < count; ++i) {
        if (_i == 0) {
            ck_ok(espl_create_node(w, root, NULL, NULL, NULL));
        } else {
            ck_ok(espl_attach(w, test_solo(w), root, NULL));
        }
    }
    ck_assert_uint_le(test_count_moved_nodes(w) - moved, 6 * (uint64_t)count);
    ck_assert_uint_le(count_slots(), count * 3 / 2 + 1);
}

TEST(an_entity_by_itself_has_no_room)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    test_solos(w, LARGEST, node);
    ck_assert_uint_eq(count_slots(), LARGEST);
    ck_ok(espl_compact(w));
    ck_assert_uint_eq(count_slots(), LARGEST);
}

// Hierarchies of 20 nodes and more, made by one playback, as the load `memory` of the course has them.
TEST_LOOP(a_node_takes_128_bytes_with_all_that_belongs_to_it, 0, 3)
{
    if (test_lacks_room(2000, "room for the next nodes")) {
        return;
    }
    enum { NODES = 40000, TEST_COLUMNS = ESPL_CHECKS >= 2 ? 2 * sizeof(uint32_t) : 0 };
    static const uint32_t shapes[3] = {20, 100, 40000};

    if (test_lacks_room(2 * NODES, "hierarchies of that size")) {
        return;
    }
    espl_entity *const all = calloc(NODES, sizeof *all);
    espl_recorder *const recorder = record();

    test_solos(w, NODES, all);
    for (uint32_t i = 0; i < NODES; ++i) {
        const uint32_t at = i % shapes[_i];

        if (at != 0) {
            ck_ok(espl_record_attach(recorder, 0, all[i], all[i - at + (at - 1) / FAN_OUT], NULL));
        }
    }
    play_for(NULL, 0);
    const espl_world_stats stats = test_stats(w);

    ck_assert_uint_le(stats.bytes, 128 * (size_t)NODES + TEST_COLUMNS * stats.slots);
    free(all);
}
