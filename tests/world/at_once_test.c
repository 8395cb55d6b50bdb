// SPDX-License-Identifier: MIT
// Structural calls at once: what they need of memory, and that they do what recorded commands do.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/one_world.h"

#include <stdlib.h>

FIXTURE(set_up, tear_down);

enum { TREES = 6, SIZE = 40, FAN = 3 };

static espl_attach_options keep_local(void)
{
    return (espl_attach_options){
        .position = ESPL_KEEP_LOCAL, .rotation = ESPL_KEEP_LOCAL, .scale = ESPL_KEEP_LOCAL};
}

// Nothing is asked for where the hierarchy has a free slot: here that of a leaf which was destroyed.
TEST_LOOP(a_leaf_moves_into_a_free_slot_without_memory, 0, 2)
{
    if (test_lacks_room(TREES * SIZE + 8, "several hierarchies")) {
        return;
    }
    const espl_attach_options local = keep_local(), *const options = _i == 0 ? &local : NULL;
    espl_entity *const nodes = make_trees(w, 2, SIZE, FAN);

    ck_ok(espl_destroy(w, nodes[2 * SIZE - 1], ESPL_EXTENT_ENTITY));
    const espl_transform local_before = test_local_of(w, nodes[SIZE - 1]);
    const espl_transform world_before = test_world_of(w, nodes[SIZE - 1]);

    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_attach(w, nodes[SIZE - 1], nodes[SIZE + 1], options));
    ck_ok(espl_move_before(w, nodes[SIZE - 1], test_child(w, nodes[SIZE + 1], 0)));
    ck_assert_uint_eq(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    ck_assert(espl_entity_equal(test_child(w, nodes[SIZE + 1], 0), nodes[SIZE - 1]));
    if (_i == 0) {
        const espl_transform after = test_local_of(w, nodes[SIZE - 1]);

        ck_assert_mem_eq(&after, &local_before, sizeof after);
    } else {
        const espl_transform after = test_world_of(w, nodes[SIZE - 1]);

        ck_assert_float_eq_tol(after.position[0], world_before.position[0], 1e-4f);
    }
    test_world_is_valid(w);
    free(nodes);
}

// Attach by one command of a buffer.
static espl_status attach_played(espl_world *world, espl_command_buffer *commands,
                                 espl_entity child, espl_entity parent,
                                 const espl_attach_options *options)
{
    espl_report report;

    espl_command_buffer_reset(commands);
    ck_ok(espl_record_attach(espl_command_buffer_recorder(commands, 0), 0, child, parent, options));
    ck_ok(espl_play(world, commands, &report));
    return espl_command_buffer_result(commands, 0, 0);
}

// Nodes with all that is below them, in full hierarchies and in ones with room; also parents below their child.
TEST_LOOP(moves_at_once_are_those_of_commands, 0, 6)
{
    if (test_lacks_room(TREES * SIZE + 8, "several hierarchies")) {
        return;
    }
    static const espl_keep rules[3] = {ESPL_KEEP_LOCAL, ESPL_KEEP_WORLD, ESPL_SNAP};
    const espl_keep rule = rules[_i % 3];
    const espl_attach_options options = {.position = rule, .rotation = rule, .scale = rule};
    const bool has_bare = _i >= 3;
    const espl_component none[1] = {ESPL_DISABLED};
    test_world other;
    espl_command_buffer *commands = NULL;
    uint64_t random = (uint64_t)_i;

    test_world_begin(&other, 2, NULL);
    ck_ok(espl_command_buffer_create(other.world, 1, &commands));
    espl_entity *const ours = make_trees(w, TREES, SIZE, FAN);
    espl_entity *const theirs = make_trees(other.world, TREES, SIZE, FAN);

    for (int i = 0; has_bare && i < TREES; ++i) {
        ck_ok(espl_remove_component(w, ours[i * SIZE + 2], ESPL_TRANSFORM));
        ck_ok(espl_remove_component(other.world, theirs[i * SIZE + 2], ESPL_TRANSFORM));
        ck_ok(espl_add_component(w, ours[i * SIZE + 2], none[0], NULL, 0));
        ck_ok(espl_add_component(other.world, theirs[i * SIZE + 2], none[0], NULL, 0));
    }
    for (int step = 0; step < 300; ++step) {
        const uint32_t child = test_below(&random, TREES * SIZE);
        const uint32_t parent = test_below(&random, TREES * SIZE);
        const espl_status played =
            attach_played(other.world, commands, theirs[child], theirs[parent], &options);

        ck_status(espl_attach(w, ours[child], ours[parent], &options), played);
        if (step % 10 == 0) {
            ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(other.world));
            test_world_is_valid(w);
        }
    }
    ck_assert_uint_eq(test_logical_hash(w), test_logical_hash(other.world));
    espl_command_buffer_destroy(commands);
    test_world_end(&other);
    free(ours);
    free(theirs);
}

// A prefab of three nodes below a node of a hierarchy, with and without room, until no allocation fails.
TEST_LOOP(a_clone_that_finds_no_memory_leaves_no_trace, 0, 2)
{
    if (test_lacks_room(TREES * SIZE + 8, "several hierarchies")) {
        return;
    }
    espl_entity *const nodes = make_trees(w, 2, SIZE, FAN);
    espl_entity *const prefab = make_trees(w, 1, 3, 2);
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t tries = 0;

    if (_i == 1) {
        for (int i = 1; i < 9; ++i) {
            ck_ok(espl_destroy(w, nodes[SIZE - i], ESPL_EXTENT_ENTITY));
        }
    }
    for (size_t fail_at = 1; status == ESPL_ERR_NO_MEMORY; ++fail_at, ++tries) {
        const uint64_t hash = test_physical_hash(w);
        espl_entity made = espl_entity_null();

        test_heap_arm(&test.heap, fail_at, true);
        status = espl_spawn(w, prefab[0], nodes[1], NULL, &made);
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
        ck_assert(espl_entity_is_null(made) == (status != ESPL_OK));
        ck_assert(status == ESPL_OK || test_physical_hash(w) == hash);
        test_world_is_valid(w);
    }
    ck_assert_uint_ge(tries, 1);
    ck_assert(espl_is_alive(w, nodes[1]));
    free(nodes);
    free(prefab);
}

// What a long call leaves for the next one is freed again: lists of 60,000 nodes would be megabytes.
TEST(a_long_call_keeps_no_memory)
{
    const uint32_t count = test_fitting(60000, 8);
    const espl_entity prefab = test_solo(w), parent = test_solo(w);
    const espl_instance_def def = {.source = prefab, .parent = parent};

    ck_ok(espl_spawn(w, prefab, parent, NULL, NULL));
    const size_t before = test_stats(w).bytes_commands;

    ck_ok(espl_instantiate(w, &def, count, NULL));
    ck_ok(espl_spawn(w, prefab, parent, NULL, NULL));
    ck_assert_uint_le(test_stats(w).bytes_commands, before + 262144);
}

// --- Large pools ---

enum { LARGE = 20000, ACTS = 160 };

// A world with a few hierarchies, with free slots and side arrays in some.
static espl_entity *begin_trees(espl_world *world, size_t others)
{
    const float stretch[3] = {1, 2, 1};

    test_solos(world, others, NULL);
    espl_entity *const nodes = make_trees(world, TREES, SIZE, FAN);

    for (uint32_t tree = 0; tree < TREES; tree += 2) {
        ck_ok(espl_destroy(world, nodes[tree * SIZE + SIZE - 2], ESPL_EXTENT_ENTITY));
        ck_ok(espl_destroy(world, nodes[tree * SIZE + SIZE - 5], ESPL_EXTENT_ENTITY));
        ck_ok(espl_set_stretch(world, nodes[tree * SIZE + 1], stretch));
    }
    return nodes;
}

// Record one change of a kind; some are refused when they are played.
static void record_act(espl_recorder *recorder, const espl_entity *nodes, uint32_t act)
{
    const espl_entity node = nodes[act * 7 % (TREES * SIZE)];
    const espl_entity other = nodes[act * 31 % (TREES * SIZE)];
    const espl_instance_def clone = {.source = nodes[1], .parent = act % 3 != 0 ? other : node};
    const espl_instance_def root = {.source = nodes[SIZE + 4]};
    const espl_creation_def bare = {.parent = other};
    const float position[3] = {(float)act, 1, 2}, stretch[3] = {1, 3, 1};

    switch (act % 8) {
    case 0:
        ck_ok(espl_record_instantiate(recorder, 0, &clone, 1 + act % 2, NULL));
        break;
    case 1:
        ck_ok(espl_record_attach(recorder, 0, node, other, NULL));
        break;
    case 2:
        ck_ok(espl_record_write(recorder, 0, node, ESPL_WRITE_LOCAL_POSITION, position));
        break;
    case 3:
        ck_ok(espl_record_destroy(recorder, 0, node, ESPL_EXTENT_OWNED));
        break;
    case 4:
        ck_ok(espl_record_detach(recorder, 0, node, ESPL_KEEP_WORLD));
        break;
    case 5:
        ck_ok(espl_record_write(recorder, 0, node, ESPL_WRITE_STRETCH, stretch));
        break;
    case 6:
        ck_ok(espl_record_create(recorder, 0, &bare, 1, NULL));
        break;
    default:
        ck_ok(espl_record_instantiate(recorder, 0, &root, 1, NULL));
        break;
    }
}

static void play_acts(espl_world *world, espl_command_buffer *commands, const espl_entity *nodes)
{
    espl_report report;

    for (uint32_t act = 0; act < ACTS; ++act) {
        record_act(espl_command_buffer_recorder(commands, 0), nodes, act);
    }
    ck_ok(espl_play(world, commands, &report));
    test_world_is_valid(world);
}

// A playback in a pool that is larger than a cache asks for memory before it needs it, which changes nothing.
TEST(a_playback_in_a_large_pool_is_that_in_a_small_one)
{
    if (test_lacks_room(LARGE + TREES * SIZE * 8, "a large pool")) {
        return;
    }
    test_world other;
    espl_command_buffer *small = NULL, *large = NULL;

    test_world_begin(&other, 2, NULL);
    espl_entity *const ours = begin_trees(w, 0), *const theirs = begin_trees(other.world, LARGE);

    ck_ok(espl_command_buffer_create(w, 1, &small));
    ck_ok(espl_command_buffer_create(other.world, 1, &large));
    play_acts(w, small, ours);
    play_acts(other.world, large, theirs);
    for (uint32_t act = 0; act < ACTS; ++act) {
        ck_status(espl_command_buffer_result(large, 0, act),
                  espl_command_buffer_result(small, 0, act));
    }
    for (uint32_t i = 0; i < TREES * SIZE; ++i) {
        ck_assert(espl_is_alive(w, ours[i]) == espl_is_alive(other.world, theirs[i]));
        if (espl_is_alive(w, ours[i])) {
            const espl_transform a = test_world_of(w, ours[i]);
            const espl_transform b = test_world_of(other.world, theirs[i]);

            ck_assert_mem_eq(&a, &b, sizeof a);
        }
    }
    espl_command_buffer_destroy(small);
    espl_command_buffer_destroy(large);
    test_world_end(&other);
    free(ours);
    free(theirs);
}
