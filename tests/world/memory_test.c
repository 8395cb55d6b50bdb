// SPDX-License-Identifier: MIT
// The memory that a command buffer holds in each of its states, and destroys without memory. In
// world/sweep_test every allocation of every call fails.
#include "tests/asked.h"
#include "tests/one_world.h"

// --- Worlds and commands objects ---

FIXTURE(set_up, tear_down);

TEST(a_commands_object_leaves_nothing_behind_in_any_state)
{
    const espl_entity source = test_solo(w);
    const size_t before = test.heap.bytes;
    const espl_instance_def def = {.source = source};
    for (int state = 0; state < 5; ++state) {
        espl_command_buffer *const commands = test_commands(w, 3);
        if (state >= 1) {
            ck_ok(espl_record_instantiate(espl_command_buffer_recorder(commands, 2), 0, &def, 2,
                                          NULL));
        }
        if (state == 2) {
            ck_ok(espl_command_buffer_submit(commands));
        }
        if (state == 3) {
            test_heap_arm(&test.heap, 1, true);
            ck_status(espl_play(w, commands, NULL), ESPL_ERR_NO_MEMORY);
            test_heap_arm(&test.heap, 0, false);
        }
        if (state == 4) {
            ck_ok(espl_play(w, commands, NULL));
        }
        espl_command_buffer_destroy(commands);
        if (state < 3) { // playback keeps its scratch for the next one
            ck_assert_uint_eq(test.heap.bytes, before);
        }
    }
    // What was submitted and destroyed is not played.
    espl_report report;
    ck_ok(espl_sync(w, &report));
    ck_assert_uint_eq(report.accepted, 0);
}

// Memory for more entities is taken in steps, and then memory for what a watch marks of them.
TEST(a_create_that_finds_no_memory_beside_a_watch_leaves_a_sound_world)
{
    const size_t count = test_fitting(200, 20);
    const espl_component transform = ESPL_TRANSFORM;
    espl_status status = ESPL_ERR_NO_MEMORY;
    espl_changes changes;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        espl_watch *watch = NULL;
        test_world other;

        test_world_begin(&other, 0, NULL);
        ck_ok(espl_watch_create(other.world, NULL, &watch));
        test_heap_arm(&other.heap, n, true);
        status = espl_create(other.world, &transform, 1, count, NULL);
        test_heap_arm(&other.heap, 0, false);
        test_world_is_valid(other.world);
        ck_ok(status == ESPL_OK ? status : espl_create(other.world, &transform, 1, count, NULL));
        ck_ok(espl_watch_collect(watch, 0, &changes));
        ck_assert_uint_eq(changes.added_count, count);
        espl_watch_destroy(watch);
        test_world_end(&other);
    }
    ck_ok(status);
}

// What would need memory may be put off to the next structural call.
TEST(what_a_destroy_puts_off_is_done_when_there_is_memory)
{
    enum { COUNT = 40 };
    espl_entity child[COUNT];
    espl_world_stats stats;

    const espl_entity root = test_solo_at(w, 1, 0, 0);
    for (int i = 0; i < COUNT; ++i) {
        child[i] = test_solo_at(w, 1, (float)i, 0);
        ck_ok(espl_attach(w, child[i], root, NULL));
    }
    test_heap_arm(&test.heap, 1, true);
    for (int i = 0; i < COUNT; ++i) {
        ck_ok(espl_destroy(w, child[i], ESPL_EXTENT_OWNED));
        ck_assert(!espl_is_alive(w, child[i]));
        ck_assert_uint_eq(test_count_children(w, root), (size_t)(COUNT - 1 - i));
        test_world_is_valid(w);
    }
    test_heap_arm(&test.heap, 0, false);
    const espl_entity other = test_solo(w);
    ck_ok(espl_destroy(w, other, ESPL_EXTENT_OWNED));
    espl_stats(w, &stats);
    ck_assert_uint_eq(stats.hierarchies, 0);
    ck_assert_int_eq(espl_get_role(w, root), ESPL_ROLE_SOLO);
    ck_assert(espl_has_component(w, root, ESPL_SOLO) && !espl_has_component(w, root, ESPL_ROOT));
}

static size_t count_members(void)
{
    const espl_component member = ESPL_MEMBER;
    const espl_query_def def = {.all = &member, .all_count = 1};
    espl_query query;
    size_t count = 0;

    ck_ok(espl_query_begin(w, &def, &query));
    while (espl_query_next(&query)) {
        count += query.count;
    }
    return count;
}

TEST(survivors_of_a_root_destroyed_without_memory_are_roots_at_once)
{
    const espl_entity root = test_solo_at(w, 1, 0, 0);
    const espl_entity child = test_solo_at(w, 2, 0, 0);
    const espl_entity leaf = test_solo_at(w, 3, 0, 0);
    ck_ok(espl_attach(w, child, root, NULL));
    ck_ok(espl_attach(w, leaf, child, NULL));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_destroy(w, root, ESPL_EXTENT_ENTITY));
    ck_assert(espl_entity_is_null(espl_get_parent(w, child)));
    ck_assert(espl_entity_equal(espl_get_root(w, leaf), child));
    ck_assert_uint_eq(espl_get_depth(w, leaf), 1);
    ck_assert_int_eq(espl_get_role(w, child), ESPL_ROLE_ROOT);
    // The components of roles follow.
    ck_assert(espl_has_component(w, child, ESPL_MEMBER));
    ck_assert_uint_eq(count_members(), 2);
    const espl_transform moved = test_at(7, 0, 0);
    ck_ok(espl_set_world_transform(w, child, &moved));
    ck_assert_float_eq(test_world_of(w, leaf).position[0], 8);
    test_world_is_valid(w);
    test_heap_arm(&test.heap, 0, false);
    ck_ok(espl_sync(w, NULL));
    ck_assert(espl_has_component(w, child, ESPL_ROOT));
    ck_assert_uint_eq(count_members(), 1);
    ck_ok(espl_detach(w, leaf, ESPL_KEEP_WORLD));
    ck_assert_int_eq(espl_get_role(w, child), ESPL_ROLE_SOLO);
}
