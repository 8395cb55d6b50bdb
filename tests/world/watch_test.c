// SPDX-License-Identifier: MIT
// Watches: presence, filters, order, looks back, memory, and calls at wrong times.
#include "tests/asked.h"
#include "tests/checks.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/one_world.h"
#include "tests/schedule.h"
#include "tests/watching.h"

#include <stdlib.h>
#include <string.h>

FIXTURE(set_up, tear_down);

static espl_watch *watch_of(uint32_t flags, const espl_query_def *filter)
{
    const espl_watch_def def = {.filter = filter, .flags = flags};
    espl_watch *watch = NULL;

    ck_ok(espl_watch_create(w, &def, &watch));
    return watch;
}

static espl_changes collect(espl_watch *watch)
{
    espl_changes changes;

    ck_ok(espl_watch_collect(watch, 0, &changes));
    return changes;
}

// Demand how many came, went and changed.
static espl_changes demand(espl_watch *watch, size_t removed, size_t added, size_t changed)
{
    const espl_changes changes = collect(watch);

    ck_assert_uint_eq(changes.removed_count, removed);
    ck_assert_uint_eq(changes.added_count, added);
    ck_assert_uint_eq(changes.changed_count, changed);
    return changes;
}

static void move(espl_entity entity, float x)
{
    ck_ok(espl_set_local_position(w, entity, (float[3]){x, 0, 0}));
}

// --- Presence ---

TEST(the_first_collect_adds_all_and_the_next_none)
{
    espl_entity made[5];
    espl_watch *const watch = watch_of(0, NULL);

    test_solos(w, 5, made);
    const espl_changes first = demand(watch, 0, 5, 0);

    for (int i = 0; i < 5; ++i) {
        ck_assert(espl_entity_equal(first.added[i], made[i]));
    }
    ck_assert_ptr_null(first.added_locals);
    ck_assert_ptr_null(first.changed_before);
    ck_assert(!first.is_coarse);
    demand(watch, 0, 0, 0);
    espl_watch_destroy(watch);
}

TEST(what_came_and_went_between_two_collects_is_in_neither_list)
{
    espl_watch *const watch = watch_of(0, NULL);
    const espl_entity stays = test_solo(w);

    demand(watch, 0, 1, 0);
    for (int i = 0; i < 10; ++i) {
        ck_ok(espl_destroy(w, test_solo(w), ESPL_EXTENT_ENTITY));
    }
    demand(watch, 0, 0, 0);
    ck_ok(espl_destroy(w, stays, ESPL_EXTENT_ENTITY));
    const espl_entity other = test_solo(w);

    // The index is used again: the old handle went, the new one came.
    const espl_changes changes = demand(watch, 1, 1, 0);

    ck_assert(espl_entity_equal(changes.removed[0], stays));
    ck_assert(espl_entity_equal(changes.added[0], other));
    espl_watch_destroy(watch);
}

TEST(a_cleared_world_removes_all_that_was_known)
{
    espl_watch *const watch = watch_of(ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL, NULL);
    const espl_entity parent = test_solo(w), child = test_solo(w);

    ck_ok(espl_attach(w, child, parent, NULL));
    demand(watch, 0, 2, 0);
    ck_ok(espl_world_clear(w));
    demand(watch, 2, 0, 0);
    (void)test_solo(w);
    demand(watch, 0, 1, 0);
    test_world_is_valid(w);
    espl_watch_destroy(watch);
}

// A component comes and goes, an entity is disabled and enabled, and becomes a prefab: once each.
TEST(a_filter_says_who_comes_and_goes)
{
    const espl_component tag = test_component(w, "tag", 0, 0);
    const espl_query_def tagged = {.all = &tag, .all_count = 1};
    espl_watch *const watch = watch_of(0, &tagged);
    const espl_entity one = test_solo(w), two = test_solo(w);
    const espl_component prefab = ESPL_PREFAB;

    ck_ok(espl_add_component(w, one, tag, NULL, 0));
    demand(watch, 0, 1, 0);
    ck_ok(espl_add_component(w, two, tag, NULL, 0));
    move(one, 3);
    demand(watch, 0, 1, 1);
    ck_ok(espl_set_enabled(w, two, ESPL_EXTENT_ENTITY, false));
    demand(watch, 1, 0, 0);
    move(two, 5);
    demand(watch, 0, 0, 0);
    ck_ok(espl_set_enabled(w, two, ESPL_EXTENT_ENTITY, true));
    const espl_changes again = demand(watch, 0, 1, 0);

    ck_assert_float_eq(again.added_worlds[0].position[0], 5);
    ck_ok(espl_add_component(w, two, prefab, NULL, 0));
    demand(watch, 1, 0, 0);
    ck_ok(espl_remove_component(w, two, prefab));
    ck_ok(espl_remove_component(w, one, tag));
    demand(watch, 1, 1, 0);
    ck_ok(espl_remove_component(w, two, ESPL_TRANSFORM));
    demand(watch, 1, 0, 0);
    // Taken away and given back between two collects.
    ck_ok(espl_add_component(w, one, tag, NULL, 0));
    demand(watch, 0, 1, 0);
    ck_ok(espl_remove_component(w, one, tag));
    ck_ok(espl_add_component(w, one, tag, NULL, 0));
    demand(watch, 0, 0, 0);
    espl_watch_destroy(watch);
}

TEST(a_filter_is_copied)
{
    espl_component parts[2] = {0, 0};

    parts[0] = test_component(w, "first", 4, 4);
    parts[1] = test_component(w, "second", 4, 4);
    espl_query_def filter = {.all = parts, .all_count = 1, .none = parts + 1, .none_count = 1};
    espl_watch *const watch = watch_of(0, &filter);
    const espl_entity entity = test_solo(w);

    ck_ok(espl_add_component(w, entity, parts[0], NULL, 4));
    memset(&filter, 0xff, sizeof filter);
    const espl_component second = parts[1];

    memset(parts, 0xff, sizeof parts);
    demand(watch, 0, 1, 0);
    ck_ok(espl_add_component(w, entity, second, NULL, 4));
    demand(watch, 1, 0, 0);
    espl_watch_destroy(watch);
}

// --- Changes ---

TEST(a_write_names_the_entity_and_all_below_it)
{
    espl_entity nodes[4];

    test_solos(w, 4, nodes);
    for (int i = 1; i < 3; ++i) {
        ck_ok(espl_attach(w, nodes[i], nodes[i - 1], NULL));
    }
    espl_watch *const watch = watch_of(ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL, NULL);

    demand(watch, 0, 4, 0);
    move(nodes[1], 2);
    const espl_changes changes = demand(watch, 0, 0, 2);

    ck_assert(espl_entity_equal(changes.changed[0], nodes[1]));
    ck_assert(espl_entity_equal(changes.changed[1], nodes[2]));
    ck_assert_uint_eq(changes.kinds[0], ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL);
    ck_assert_uint_eq(changes.kinds[1], ESPL_WATCH_WORLD);
    ck_assert_float_eq(changes.changed_worlds[1].position[0], 2);
    ck_assert_float_eq(changes.changed_locals[1].position[0], 0);
    // An equal write changes nothing.
    move(nodes[1], 2);
    demand(watch, 0, 0, 0);
    espl_watch_destroy(watch);
}

// What inherit flags keep is seen from the parent. Its move changes how that reads, and no own data.
TEST(locals_are_reported_as_they_read)
{
    espl_entity nodes[2];

    test_solos(w, 2, nodes);
    ck_ok(espl_attach(w, nodes[1], nodes[0], NULL));
    ck_ok(espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_POSITION));
    espl_watch *const watch = watch_of(ESPL_WATCH_LOCAL, NULL);

    demand(watch, 0, 2, 0);
    move(nodes[0], 5);
    espl_changes changes = demand(watch, 0, 0, 1);

    ck_assert(espl_entity_equal(changes.changed[0], nodes[0]));
    ck_assert_float_eq(test_local_of(w, nodes[1]).position[0], -5);
    ck_ok(espl_set_user_data(w, nodes[1], 7));
    changes = demand(watch, 0, 0, 1);
    ck_assert(espl_entity_equal(changes.changed[0], nodes[1]));
    ck_assert_float_eq(changes.changed_locals[0].position[0], -5);
    ck_assert_uint_eq(changes.changed_locals[0].user_data, 7);
    espl_watch_destroy(watch);
}

// Many transforms are stored in another way than a few.
TEST(a_change_of_very_many_is_reported_as_one_of_a_few)
{
    if (test_lacks_room(1 << 17, "very many changes")) {
        return;
    }
    enum { VERY_MANY = (1 << 16) + 70 };
    const espl_component placed = ESPL_TRANSFORM;
    espl_watch *const watch = watch_of(0, NULL);
    espl_entity *const made = test_array(VERY_MANY, sizeof *made);

    ck_ok(espl_create(w, &placed, 1, VERY_MANY, made));
    ck_ok(espl_set_stretch(w, made[77], (float[3]){1, 2, 3}));
    demand(watch, 0, VERY_MANY, 0);
    for (uint32_t i = 0; i < VERY_MANY; ++i) {
        move(made[i], (float)i + 1);
    }
    const espl_changes changes = demand(watch, 0, 0, VERY_MANY);

    for (uint32_t i = 0; i < VERY_MANY; ++i) {
        espl_transform now;

        ck_ok(espl_get_world_transform(w, changes.changed[i], &now));
        ck_assert(memcmp(&now, &changes.changed_worlds[i], sizeof now) == 0);
    }
    free(made);
    espl_watch_destroy(watch);
}

TEST(stretch_user_data_flags_and_links_are_changes)
{
    espl_entity nodes[4];

    test_solos(w, 4, nodes);
    for (int i = 1; i < 4; ++i) {
        ck_ok(espl_attach(w, nodes[i], nodes[0], NULL));
    }
    espl_watch *const watch = watch_of(ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL, NULL);

    demand(watch, 0, 4, 0);
    ck_ok(espl_set_user_data(w, nodes[1], 9));
    ck_assert_uint_eq(demand(watch, 0, 0, 1).changed_worlds[0].user_data, 9);
    ck_ok(espl_set_stretch(w, nodes[1], (float[3]){1, 2, 1}));
    ck_assert_float_eq(demand(watch, 0, 0, 1).changed_worlds[0].stretch[1], 2);
    ck_ok(espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_X));
    ck_assert_uint_ne(demand(watch, 0, 0, 1).kinds[0] & ESPL_WATCH_LOCAL, 0);
    // A sibling moves; its transform stays.
    ck_ok(espl_move_before(w, nodes[3], nodes[1]));
    const espl_changes moved = collect(watch);

    ck_assert_uint_ge(moved.changed_count, 1);
    bool is_named = false;

    for (size_t i = 0; i < moved.changed_count; ++i) {
        is_named = is_named || (espl_entity_equal(moved.changed[i], nodes[3]) &&
                                (moved.kinds[i] & ESPL_WATCH_LOCAL) != 0);
    }
    ck_assert(is_named);
    espl_watch_destroy(watch);
}

// User data of a node alone: nodes that copy it show it, and their poses stay.
TEST(copies_of_user_data_are_changes)
{
    espl_entity nodes[4];
    test_watcher watcher;

    test_solos(w, 4, nodes);
    for (int i = 1; i < 4; ++i) {
        ck_ok(espl_attach(w, nodes[i], nodes[i - 1], NULL));
        ck_ok(espl_set_inherit(w, nodes[i], i < 3 ? ESPL_COPY_PARENT : 0));
    }
    ck_ok(espl_set_user_data(w, nodes[0], 3));
    test_watcher_begin(&watcher, w, ESPL_WATCH_WORLD | ESPL_WATCH_BEFORE, NULL);
    test_watcher_check(&watcher, NULL);
    for (uint32_t i = 0; i < 5; ++i) {
        espl_changes changes;

        ck_ok(espl_set_user_data(w, nodes[0], i));
        test_watcher_check(&watcher, &changes);
        ck_assert_uint_eq(changes.changed_count, 3);
    }
    test_watcher_end(&watcher);
}

// Small trees are computed several at a time.
TEST_LOOP(a_batch_of_roots_names_all_below_them, 0, 4)
{
    enum { TREES = 50 };
    static const uint32_t sizes[4] = {2, 4, 9, 30};
    const uint32_t size = sizes[_i];
    espl_write writes[TREES];

    if (test_lacks_room((size_t)TREES * size, "many hierarchies")) {
        return;
    }
    espl_entity *const nodes = make_trees(w, TREES, size, 2);
    espl_watch *const watch = watch_of(ESPL_WATCH_BEFORE, NULL);

    ck_ok(espl_compact(w));
    demand(watch, 0, (size_t)TREES * size, 0);
    for (int round = 1; round < 4; ++round) {
        for (uint32_t i = 0; i < TREES; ++i) {
            writes[i] = (espl_write){.entity = nodes[i * size], .kind = ESPL_WRITE_LOCAL_POSITION};
            writes[i].value.position[0] = 100 + (float)round;
        }
        ck_ok(espl_write_batch(w, writes, TREES, NULL));
        demand(watch, 0, 0, (size_t)TREES * size);
    }
    espl_watch_destroy(watch);
    free(nodes);
}

// A world that is not finite is a change, and so is the local that led to it.
TEST(a_write_that_overflows_is_named)
{
    const espl_entity parent = test_solo(w), child = test_solo(w);
    const espl_watch_def def = {.flags = ESPL_WATCH_LOCAL};
    espl_watch *watch = NULL;

    ck_ok(espl_attach(w, child, parent, NULL));
    ck_ok(espl_set_local_scale(w, parent, 10));
    ck_ok(espl_watch_create(w, &def, &watch));
    demand(watch, 0, 2, 0);
    ck_status(espl_set_local_position(w, child, (float[3]){3e38f, 0, 0}), ESPL_OVERFLOW);
    const espl_changes changes = demand(watch, 0, 0, 1);

    ck_assert(espl_entity_equal(changes.changed[0], child));
    ck_assert_float_eq(changes.changed_locals[0].position[0], 3e38f);
    espl_watch_destroy(watch);
}

TEST(before_names_only_what_differs)
{
    espl_watch *const exact = watch_of(ESPL_WATCH_BEFORE, NULL);
    espl_watch *const near = watch_of(0, NULL);
    const espl_entity one = test_solo(w);

    move(one, 1);
    demand(exact, 0, 1, 0);
    demand(near, 0, 1, 0);
    move(one, 2);
    move(one, 1);
    demand(exact, 0, 0, 0);
    demand(near, 0, 0, 1);
    move(one, 4);
    const espl_changes changes = demand(exact, 0, 0, 1);

    ck_assert_float_eq(changes.changed_before[0].position[0], 1);
    ck_assert_float_eq(changes.changed_worlds[0].position[0], 4);
    espl_watch_destroy(exact);
    espl_watch_destroy(near);
}

// Written and written back is no change of any transform that is asked for.
TEST(before_compares_each_transform_that_is_asked_for)
{
    static const uint32_t asked[4] = {ESPL_WATCH_WORLD, ESPL_WATCH_SHOWN,
                                      ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN,
                                      ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL};
    const espl_entity one = test_solo(w);
    espl_watch *watches[4];

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_present(w, 1, NULL));
    for (int i = 0; i < 4; ++i) {
        watches[i] = watch_of(asked[i] | ESPL_WATCH_BEFORE, NULL);
        demand(watches[i], 0, 1, 0);
    }
    move(one, 2);
    move(one, 0);
    for (int i = 0; i < 3; ++i) {
        demand(watches[i], 0, 0, 0);
    }
    // Own data are not compared, because a place among siblings has no copy.
    ck_assert_uint_eq(demand(watches[3], 0, 0, 1).kinds[0], ESPL_WATCH_LOCAL);
    for (int i = 0; i < 4; ++i) {
        espl_watch_destroy(watches[i]);
    }
}

// A tick moves the world, and the next present what is shown: each is said once, by its kind.
TEST(before_tells_a_change_of_the_world_from_one_of_what_is_shown)
{
    const espl_entity one = test_solo(w);

    ck_ok(espl_motion_start(w, NULL));
    ck_ok(espl_present(w, 1, NULL));
    espl_watch *const watch =
        watch_of(ESPL_WATCH_WORLD | ESPL_WATCH_SHOWN | ESPL_WATCH_BEFORE, NULL);

    demand(watch, 0, 1, 0);
    ck_ok(espl_tick_begin(w));
    move(one, 4);
    ck_ok(espl_tick_end(w));
    espl_changes changes = demand(watch, 0, 0, 1);

    ck_assert_uint_eq(changes.kinds[0], ESPL_WATCH_WORLD);
    ck_assert_float_eq(changes.changed_before[0].position[0], 0);
    ck_assert_float_eq(changes.changed_worlds[0].position[0], 0);
    ck_ok(espl_present(w, 0.5F, NULL));
    changes = demand(watch, 0, 0, 1);
    ck_assert_uint_eq(changes.kinds[0], ESPL_WATCH_SHOWN);
    ck_assert_float_eq(changes.changed_before[0].position[0], 0);
    ck_assert_float_eq(changes.changed_worlds[0].position[0], 2);
    espl_watch_destroy(watch);
}

TEST(an_undone_playback_changes_nothing)
{
    espl_watch *const watch = watch_of(ESPL_WATCH_BEFORE, NULL);
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_entity nodes[8];
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t failures = 0;

    test_solos(w, 8, nodes);
    demand(watch, 0, 8, 0);
    for (int i = 1; i < 8; ++i) {
        const espl_transform at = test_at((float)i, 2, 3);

        ck_ok(espl_record_attach(espl_command_buffer_recorder(commands, 0), 0, nodes[i],
                                 nodes[i / 2], &test_keep_local));
        ck_ok(espl_record_write(espl_command_buffer_recorder(commands, 0), 0, nodes[i],
                                ESPL_WRITE_LOCAL_TRANSFORM, &at));
    }
    for (size_t n = 1; status != ESPL_OK; ++n) {
        test_heap_arm(&test.heap, n, true);
        status = espl_play(w, commands, NULL);
        test_heap_arm(&test.heap, 0, false);
        if (status != ESPL_OK) {
            ck_status(status, ESPL_ERR_NO_MEMORY);
            failures += 1;
            demand(watch, 0, 0, 0);
        }
    }
    ck_assert_uint_gt(failures, 0);
    demand(watch, 0, 0, 7);
    espl_command_buffer_destroy(commands);
    espl_watch_destroy(watch);
}

// --- How much a collect looks at ---

// Count the blocks of 64 slots in which an entity changed.
static size_t count_blocks(const espl_changes *changes)
{
    static bool is_marked[4096];
    const size_t most = sizeof is_marked / sizeof *is_marked;
    size_t blocks = 0;
    espl_query query;

    memset(is_marked, 0, sizeof is_marked);
    ck_ok(espl_query_begin_read(w, NULL, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count; ++row) {
            const uint32_t block = query.slots[row] / 64;

            ck_assert_uint_lt(block, most);
            for (size_t i = 0; i < changes->changed_count && !is_marked[block]; ++i) {
                is_marked[block] = espl_entity_equal(changes->changed[i], query.entities[row]);
                blocks += is_marked[block] ? 1 : 0;
            }
        }
    }
    return blocks;
}

// A change marks one block of each plane that is asked for, and stamps of others are not compared.
TEST(a_collect_compares_stamps_of_marked_blocks_alone)
{
    enum { MANY = 20000, SIZE = 10 };
    espl_entity *const nodes = test_array(MANY, sizeof *nodes);
    uint64_t random = 5;

    if (!test_lacks_room(MANY, "thousands of blocks of slots")) {
        for (uint32_t i = 0; i < MANY; ++i) {
            ck_ok(espl_create_node(w, i % SIZE == 0 ? test_null : nodes[i - i % SIZE], NULL, NULL,
                                   &nodes[i]));
        }
        espl_watch *const world = watch_of(0, NULL);
        espl_watch *const both = watch_of(ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL, NULL);

        demand(world, 0, MANY, 0);
        demand(both, 0, MANY, 0);
        for (uint32_t written = 0; written < 200; written = written * 2 + 1) {
            for (uint32_t i = 0; i < written; ++i) {
                move(nodes[test_below(&random, MANY)], (float)(written + i));
            }
            const espl_changes changes = collect(world);
            const size_t blocks = count_blocks(&changes);

            (void)collect(both);
            ck_assert_uint_le(changes.changed_count, test_scanned_slots(world));
            ck_assert_uint_le(test_scanned_slots(world), 64 * blocks);
            ck_assert_uint_le(test_scanned_slots(both), 2 * 64 * blocks);
        }
        espl_watch_destroy(world);
        espl_watch_destroy(both);
    }
    free(nodes);
}

// --- Looks back, and moments ---

TEST(a_look_back_names_what_changed_since)
{
    espl_watch *const watch = watch_of(0, NULL);
    espl_entity nodes[3];
    espl_changes changes;

    test_solos(w, 3, nodes);
    const uint64_t first = collect(watch).moment;

    move(nodes[0], 1);
    const uint64_t second = demand(watch, 0, 0, 1).moment;

    move(nodes[1], 1);
    demand(watch, 0, 0, 1);
    ck_ok(espl_watch_collect(watch, second, &changes));
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_assert(espl_entity_equal(changes.changed[0], nodes[1]));
    ck_ok(espl_watch_collect(watch, first, &changes));
    ck_assert_uint_eq(changes.changed_count, 2);
    demand(watch, 0, 0, 0);
    espl_watch_destroy(watch);
}

TEST(a_moment_that_is_none_of_the_watch_is_refused)
{
    espl_watch *const watch = watch_of(0, NULL);
    espl_watch *const other = watch_of(0, NULL);
    espl_changes changes;

    memset(&changes, 7, sizeof changes);
    const espl_changes untouched = changes;
    const uint64_t early = collect(other).moment;

    ck_status(espl_watch_collect(watch, early, &changes), ESPL_ERR_ARGUMENT);
    ck_assert_mem_eq(&changes, &untouched, sizeof changes);
    const uint64_t first = collect(watch).moment;

    ck_status(espl_watch_collect(watch, early, &changes), ESPL_ERR_ARGUMENT);
    ck_status(espl_watch_collect(watch, first + 1, &changes), ESPL_ERR_ARGUMENT);
    ck_status(espl_watch_collect(watch, UINT64_MAX, &changes), ESPL_ERR_ARGUMENT);
    ck_assert_mem_eq(&changes, &untouched, sizeof changes);
    ck_ok(espl_watch_collect(watch, first, &changes));
    espl_watch_destroy(other);
    espl_watch_destroy(watch);
}

// One watch lets others collect for a long time.
TEST(a_look_past_many_moments_is_coarse_and_misses_nothing)
{
    test_watcher rare;
    espl_watch *const often = watch_of(0, NULL);
    espl_entity nodes[3];
    espl_changes changes;

    test_solos(w, 3, nodes);
    test_watcher_begin(&rare, w, ESPL_WATCH_WORLD, NULL);
    test_watcher_check(&rare, NULL);
    move(nodes[1], 8);
    for (int i = 0; i < 16500; ++i) {
        (void)collect(often);
    }
    test_watcher_check(&rare, &changes);
    ck_assert(changes.is_coarse);
    ck_assert_uint_ge(changes.changed_count, 1);
    (void)collect(often);
    test_watcher_check(&rare, &changes);
    ck_assert(!changes.is_coarse);
    ck_assert_uint_eq(changes.changed_count, 0);
    ck_assert_uint_eq(collect(often).changed_count, 0);
    test_world_is_valid(w);
    test_watcher_end(&rare);
    espl_watch_destroy(often);
}

// Where the low bits of moments wrap, and at several rates.
TEST_LOOP(watches_at_several_rates_miss_nothing, 0, 3)
{
    static const uint64_t starts[3] = {1, (1 << 16) - 5, (UINT64_C(1) << 32) - 5};
    static const uint32_t rates[4] = {1, 3, 7, 1000};
    test_watcher watchers[4];
    espl_entity nodes[20];
    uint64_t random = starts[_i];

    test_set_moment(w, starts[_i]);
    test_solos(w, 20, nodes);
    for (int i = 1; i < 20; ++i) {
        ck_ok(espl_attach(w, nodes[i], nodes[i / 2], NULL));
    }
    for (int i = 0; i < 4; ++i) {
        test_watcher_begin(&watchers[i], w, ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL, NULL);
        test_watcher_check(&watchers[i], NULL);
    }
    for (uint32_t round = 1; round <= 2000; ++round) {
        move(nodes[test_below(&random, 20)], test_between(&random, -9, 9));
        for (int i = 0; i < 4; ++i) {
            if (round % rates[i] == 0) {
                test_watcher_check(&watchers[i], NULL);
            }
        }
    }
    test_world_is_valid(w);
    for (int i = 0; i < 4; ++i) {
        test_watcher_end(&watchers[i]);
    }
}

// --- The same in every way ---

// The entries have as many slots as they are, but one of them comes twice, and one between them is not written.
TEST(a_node_between_those_that_a_batch_writes_is_not_reported)
{
    enum { CHILDREN = 40, LEFT_OUT = 20 };
    espl_entity *const nodes = make_trees(w, 1, CHILDREN + 1, 0);
    espl_watch *const watch = watch_of(ESPL_WATCH_LOCAL, NULL);
    espl_write writes[CHILDREN];

    (void)collect(watch);
    for (uint32_t i = 0; i < CHILDREN; ++i) {
        writes[i] = write_vector(nodes[i + 1 == LEFT_OUT ? i : i + 1], ESPL_WRITE_LOCAL_POSITION,
                                 (float)i, 1, 2);
    }
    ck_ok(espl_write_batch(w, writes, CHILDREN, NULL));
    const espl_changes changes = demand(watch, 0, 0, CHILDREN - 1);

    for (size_t i = 0; i < changes.changed_count; ++i) {
        ck_assert(!espl_entity_equal(changes.changed[i], nodes[LEFT_OUT]));
    }
    espl_watch_destroy(watch);
    free(nodes);
}

// One set for each way of running: 1 to 64 workers, jobs in any order, all kernels.
TEST(the_sets_are_equal_for_all_workers_and_kernels)
{
    static const char *const kernels[] = {"scalar", "sse2", "avx2", "avx512", "neon", "simd128"};
    enum { TREES_OF_FIVE = 60, FIVE = 5, ROUNDS = 4 };
    uint64_t hashes[ROUNDS] = {0};
    size_t worlds = 0;

    if (test_lacks_room(TREES_OF_FIVE * FIVE, "many hierarchies")) {
        return;
    }
    for (uint32_t way = 0; way < 16; ++way) {
        test_executor jobs = {.manner = way % 2 == 0 ? TEST_IN_ORDER : TEST_SHUFFLED,
                              .workers = way < 7 ? 1u << way : 3,
                              .random = way};
        const espl_world_def def = {.executor = test_executor_of(&jobs),
                                    .tag = 1,
                                    .kernels = way < 10 ? NULL : kernels[way - 10]};
        uint64_t random = 5;
        espl_world *world = NULL;
        espl_watch *watch = NULL;

        if (espl_world_create(&def, &world) != ESPL_OK) {
            continue; // kernels of another machine
        }
        espl_entity *const nodes = make_trees(world, TREES_OF_FIVE, FIVE, 2);
        espl_write *const writes = test_array(TREES_OF_FIVE * FIVE, sizeof *writes);

        test_cut_jobs(world, 4);
        ck_ok(espl_watch_create(world, &(espl_watch_def){.flags = 3}, &watch));
        for (int round = 0; round < ROUNDS; ++round) {
            espl_changes changes;

            for (uint32_t i = 0; i < TREES_OF_FIVE * FIVE; ++i) {
                writes[i] = (espl_write){.entity = nodes[test_below(&random, 299)],
                                         .kind = ESPL_WRITE_LOCAL_POSITION};
                writes[i].value.position[0] = test_between(&random, 0, 9);
            }
            ck_ok(espl_write_batch(world, writes, test_below(&random, 300), NULL));
            ck_ok(espl_watch_collect(watch, 0, &changes));
            uint64_t hash = test_hash_bytes(TEST_HASH_START, changes.changed,
                                            changes.changed_count * sizeof *changes.changed);

            hash = test_hash_bytes(hash, changes.kinds, changes.changed_count);
            hash = test_hash_bytes(hash, changes.changed_worlds,
                                   changes.changed_count * sizeof *changes.changed_worlds);
            ck_assert(worlds == 0 || hash == hashes[round]);
            hashes[round] = hash;
        }
        worlds += 1;
        free(writes);
        free(nodes);
        espl_watch_destroy(watch);
        espl_world_destroy(world);
    }
    ck_assert_uint_ge(worlds, 10);
}

// --- Memory ---

TEST(a_collect_without_memory_consumes_nothing)
{
    espl_watch *const watch =
        watch_of(ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL | ESPL_WATCH_BEFORE, NULL);
    espl_changes changes;
    size_t failures = 0;
    const uint32_t count = test_fitting(500, 0);

    test_solos(w, count, NULL);
    memset(&changes, 7, sizeof changes);
    const espl_changes untouched = changes;

    for (size_t n = 1;; ++n) {
        test_heap_arm(&test.heap, n, true);
        const espl_status status = espl_watch_collect(watch, 0, &changes);

        test_heap_arm(&test.heap, 0, false);
        if (status == ESPL_OK) {
            break;
        }
        ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
        ck_assert_mem_eq(&changes, &untouched, sizeof changes);
        test_world_is_valid(w);
        failures += 1;
    }
    ck_assert_uint_ge(failures, 2);
    ck_assert_uint_eq(changes.added_count, count);
    demand(watch, 0, 0, 0);
    espl_watch_destroy(watch);
}

TEST(a_watch_without_memory_is_not_created)
{
    const espl_watch_def def = {.flags = ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL};
    espl_watch *watch = NULL;
    espl_world_stats stats;
    size_t failures = 0;

    test_solos(w, 20, NULL);
    for (size_t n = 1;; ++n) {
        test_heap_arm(&test.heap, n, true);
        const espl_status status = espl_watch_create(w, &def, &watch);

        test_heap_arm(&test.heap, 0, false);
        if (status == ESPL_OK) {
            break;
        }
        ck_assert_int_eq(status, ESPL_ERR_NO_MEMORY);
        ck_assert_ptr_null(watch);
        espl_stats(w, &stats);
        ck_assert_uint_eq(stats.watches + stats.planes + stats.bytes_changes, 0);
        failures += 1;
    }
    ck_assert_uint_ge(failures, 3);
    espl_stats(w, &stats);
    ck_assert_uint_eq(stats.watches, 1);
    ck_assert_uint_eq(stats.planes, 3);
    ck_assert_uint_gt(stats.bytes_changes, 0);
    espl_watch_destroy(watch);
    espl_stats(w, &stats);
    ck_assert_uint_eq(stats.watches + stats.planes + stats.bytes_changes, 0);
}

TEST(a_reserve_prepays_collects)
{
    espl_watch *const watch =
        watch_of(ESPL_WATCH_LOCAL | ESPL_WATCH_WORLD | ESPL_WATCH_BEFORE, NULL);
    const uint32_t count = test_fitting(200, 0) / 2;
    const espl_component placed = ESPL_TRANSFORM;
    const espl_reserve_def def = {.entities = count,
                                  .components = &placed,
                                  .component_count = 1,
                                  .rows = count,
                                  .watch_entities = count};
    espl_entity *const made = test_array(count, sizeof *made);

    if (test_moves_always()) {
        free(made);
        espl_watch_destroy(watch);
        return;
    }
    (void)collect(watch);
    ck_ok(espl_reserve(w, &def));
    test_heap_arm(&test.heap, 1, true);
    ck_ok(espl_create(w, &placed, 1, count, made));
    demand(watch, 0, count, 0);
    for (uint32_t i = 0; i < count; ++i) {
        move(made[i], 2);
    }
    demand(watch, 0, 0, count);
    ck_ok(espl_destroy_many(w, made, count, ESPL_EXTENT_ENTITY, NULL));
    demand(watch, count, 0, 0);
    ck_assert_uint_eq(test.heap.calls, 0);
    test_heap_arm(&test.heap, 0, false);
    free(made);
    espl_watch_destroy(watch);
}

// Return the bytes of all watches and marks of the world.
static size_t bytes_of_changes(void)
{
    espl_world_stats stats;

    espl_stats(w, &stats);
    return stats.bytes_changes;
}

enum {
    CROWD = 1000,
    COLLECTS_UNTIL_SMALL = 128, // of which each one may be the first that is looked at
};

// Return a watch that has collected entities of a crowd, and was told of their coming once.
static espl_watch *watch_of_crowd(espl_entity *crowd)
{
    espl_watch *const watch = watch_of(0, NULL);

    test_solos(w, CROWD, crowd);
    demand(watch, 0, CROWD, 0);
    return watch;
}

TEST(what_the_first_collect_took_is_given_back_by_the_next)
{
    if (test_lacks_room(4000, "many changes")) {
        return;
    }
    espl_entity crowd[CROWD];
    espl_watch *const watch = watch_of_crowd(crowd);
    const size_t before = bytes_of_changes();

    demand(watch, 0, 0, 0);
    ck_assert_uint_le(bytes_of_changes() + (size_t)CROWD * 50, before);
    espl_watch_destroy(watch);
}

// A large collect every few frames does not take its memory anew.
TEST(a_watch_that_reports_little_for_long_gives_memory_back)
{
    if (test_lacks_room(4000, "many changes")) {
        return;
    }
    espl_entity crowd[CROWD];
    espl_watch *const watch = watch_of_crowd(crowd);

    for (int large = 0; large < 3; ++large) {
        for (int i = 0; i < CROWD; ++i) {
            move(crowd[i], (float)(large + 1));
        }
        demand(watch, 0, 0, CROWD);
        const size_t calls = test.heap.calls, bytes = bytes_of_changes();

        for (int i = 0; i < 20; ++i) {
            move(crowd[i], -1);
            demand(watch, 0, 0, 1);
        }
        ck_assert_uint_eq(test.heap.calls, calls);
        ck_assert_uint_eq(bytes_of_changes(), bytes);
    }
    const size_t before = bytes_of_changes();

    for (int i = 0; i < COLLECTS_UNTIL_SMALL; ++i) {
        move(crowd[7], (float)i);
        demand(watch, 0, 0, 1);
    }
    ck_assert_uint_le(bytes_of_changes() + (size_t)CROWD * 50, before);
    espl_watch_destroy(watch);
}

TEST(a_watch_that_finds_no_memory_for_less_keeps_what_it_has)
{
    if (test_lacks_room(4000, "many changes")) {
        return;
    }
    espl_entity crowd[CROWD];
    espl_watch *const watch = watch_of_crowd(crowd);
    const size_t before = bytes_of_changes();

    test_heap_arm(&test.heap, 1, true);
    demand(watch, 0, 0, 0);
    move(crowd[3], 1);
    demand(watch, 0, 0, 1);
    test_heap_arm(&test.heap, 0, false);
    ck_assert_uint_eq(bytes_of_changes(), before);
    ck_assert_int_ge(espl_compact(w), 0);
    demand(watch, 0, 0, 0);
    ck_assert_uint_le(bytes_of_changes() + (size_t)CROWD * 50, before);
    espl_watch_destroy(watch);
}

TEST(what_was_reserved_for_a_watch_is_kept_until_compaction)
{
    if (test_lacks_room(4000, "many changes")) {
        return;
    }
    const espl_reserve_def def = {.watch_entities = CROWD};
    espl_entity crowd[CROWD];
    espl_watch *const watch = watch_of_crowd(crowd);

    ck_ok(espl_reserve(w, &def));
    for (int i = 0; i < COLLECTS_UNTIL_SMALL; ++i) {
        demand(watch, 0, 0, 0);
    }
    const size_t reserved = bytes_of_changes();

    ck_assert_uint_ge(reserved, (size_t)CROWD * (56 + 57 + 8));
    ck_assert_int_ge(espl_compact(w), 0);
    demand(watch, 0, 0, 0);
    ck_assert_uint_le(bytes_of_changes() + (size_t)CROWD * 100, reserved);

    // Before a collect has used it, compaction frees it at once.
    ck_ok(espl_reserve(w, &def));
    ck_assert_int_ge(espl_compact(w), 0);
    ck_assert_uint_le(bytes_of_changes() + (size_t)CROWD * 100, reserved);
    espl_watch_destroy(watch);
}

// The arrays of a collect stay as they are while the world goes on, until the next collect.
TEST(arrays_stay_while_the_world_goes_on)
{
    espl_watch *const watch = watch_of(0, NULL);
    espl_watch *const other = watch_of(0, NULL);
    espl_entity nodes[3];

    test_solos(w, 3, nodes);
    const espl_changes changes = collect(watch);

    for (int i = 0; i < 20; ++i) {
        move(nodes[0], (float)i);
        (void)test_solo(w);
        (void)collect(other);
        ck_ok(espl_reserve(w, &(espl_reserve_def){.watch_entities = 100 * (size_t)(i + 1)}));
        ck_assert_int_ge(espl_compact(w), 0);
    }
    for (int i = 0; i < 3; ++i) {
        ck_assert(espl_entity_equal(changes.added[i], nodes[i]));
        ck_assert_float_eq(changes.added_worlds[i].position[0], 0);
    }
    espl_watch_destroy(watch);
    espl_watch_destroy(other);
}

// --- Calls at wrong times, and hostile ones ---

TEST(wrong_definitions_are_refused)
{
    const espl_component changed = ESPL_TRANSFORM, unknown = 900;
    const espl_query_def asks = {.changed = &changed, .changed_count = 1};
    const espl_query_def wrong = {.all = &unknown, .all_count = 1};
    espl_watch *watch = NULL;
    espl_changes changes;
    const espl_watch_def defs[] = {
        {.flags = 16},
        {.flags = ESPL_WATCH_SHOWN},
        {.flags = ESPL_WATCH_LOCAL | ESPL_WATCH_BEFORE},
        {.filter = &asks},
        {.filter = &wrong},
    };

    for (size_t i = 0; i < sizeof defs / sizeof *defs; ++i) {
        ck_status(espl_watch_create(w, &defs[i], &watch), ESPL_ERR_ARGUMENT);
    }
    ck_status(espl_watch_create(w, NULL, NULL), ESPL_ERR_ARGUMENT);
    ck_status(espl_watch_create(NULL, NULL, &watch), ESPL_ERR_ARGUMENT);
    ck_status(espl_watch_collect(NULL, 0, &changes), ESPL_ERR_ARGUMENT);
    ck_assert_ptr_null(watch);
    espl_watch_destroy(NULL);
    ck_ok(espl_watch_create(w, NULL, &watch));
    ck_status(espl_watch_collect(watch, 0, NULL), ESPL_ERR_ARGUMENT);
    espl_watch_destroy(watch);
}

TEST(a_filter_may_have_as_many_terms_as_a_query)
{
    espl_component terms[ESPL_TERM_LIMIT + 1];
    espl_query_def filter = {.none = terms, .none_count = ESPL_TERM_LIMIT};
    espl_watch *watch = NULL;

    for (size_t i = 0; i <= ESPL_TERM_LIMIT; ++i) {
        terms[i] = ESPL_ROOT;
    }
    watch = watch_of(0, &filter);
    (void)test_solo(w);
    demand(watch, 0, 1, 0);
    espl_watch_destroy(watch);
    filter.none_count += 1;
    ck_status(espl_watch_create(w, &(espl_watch_def){.filter = &filter}, &watch), ESPL_ERR_LIMIT);
}

TEST(a_query_that_is_open_lets_watches_collect_and_creates_none)
{
    espl_watch *const watch = watch_of(0, NULL);
    espl_watch *other = NULL;
    espl_query query;

    (void)test_solo(w);
    ck_ok(espl_query_begin(w, NULL, &query));
    ck_assert(espl_query_next(&query));
    demand(watch, 0, 1, 0);
    ck_status(espl_watch_create(w, NULL, &other), ESPL_ERR_BUSY);
    espl_query_end(&query);
    ck_assert_ptr_null(other);
    espl_watch_destroy(watch);
}

static void collect_in_job(espl_writer *writer, const espl_query *rows, void *context)
{
    espl_changes changes;
    espl_watch *other = NULL;

    (void)writer;
    (void)rows;
    ck_status(espl_watch_collect(context, 0, &changes), ESPL_ERR_BUSY);
    ck_status(espl_watch_create(w, NULL, &other), ESPL_ERR_BUSY);
    espl_watch_destroy(context);
}

TEST(a_job_neither_collects_nor_destroys_a_watch)
{
    espl_watch *const watch = watch_of(0, NULL);
    const espl_parallel_def def = {.function = collect_in_job, .context = watch};

    (void)test_solo(w);
    ck_ok(espl_write_parallel(w, &def, NULL));
    ck_assert_uint_eq(test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    test.hooks.traps = 0;
    demand(watch, 0, 1, 0);
    espl_watch_destroy(watch);
}

// What the function of a custom command does with a watch.
typedef struct collecting {
    test_watcher *watcher;
    espl_entity written; // by the function, after the collect
    size_t calls, added, changed;
    size_t allocations; // that succeed after it; 0: all
} collecting;

static void collect_in_custom(void *user, const espl_custom_calls *custom)
{
    collecting *const c = user;
    espl_changes changes;
    espl_watch *other = NULL;

    ck_assert_uint_eq(custom->count, 1);
    test_heap_arm(&test.heap, 0, false);
    test_watcher_check(c->watcher, &changes);
    c->calls += 1;
    c->added += changes.added_count;
    c->changed += changes.changed_count;
    move(c->written, (float)c->calls);
    ck_status(espl_watch_create(w, NULL, &other), ESPL_ERR_BUSY);
    test_heap_arm(&test.heap, c->allocations, true);
}

// Record an entity below another one, a move of that one, and the custom command, which is called last.
static void record_change(espl_command_buffer *commands, espl_entity parent, float x,
                          espl_custom_command custom)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_transform at = test_at(x, 2, 3);
    const espl_component_value placed = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_creation_def def = {.values = &placed, .value_count = 1, .parent = parent};
    espl_entity made;

    ck_ok(espl_record_custom(recorder, 0, custom, NULL, 0, 0));
    ck_ok(espl_record_create(recorder, 0, &def, 1, &made));
    ck_ok(espl_record_write(recorder, 0, parent, ESPL_WRITE_LOCAL_TRANSFORM, &at));
    ck_ok(espl_command_buffer_submit(commands));
}

// The playback is complete by then, and none that fails calls the function: what is collected there is final,
// also where a later buffer of the same sync finds no memory and is undone.
TEST(a_custom_command_collects_what_its_playback_changed)
{
    espl_entity nodes[3];
    test_watcher watcher;
    espl_custom_command custom;
    espl_command_buffer *const first = test_commands(w, 1), *const second = test_commands(w, 1);

    test_solos(w, 3, nodes);
    test_watcher_begin(&watcher, w, ESPL_WATCH_WORLD | ESPL_WATCH_LOCAL | ESPL_WATCH_BEFORE, NULL);
    collecting c = {.watcher = &watcher, .written = nodes[2]};
    const espl_custom_command_def def = {
        .name = "collect", .function = collect_in_custom, .user = &c};

    ck_ok(espl_command_register(w, &def, &custom));
    test_watcher_check(&watcher, NULL);
    record_change(first, nodes[0], 5, custom);
    record_change(second, nodes[1], 6, custom);
    // The first buffer is played; the second finds no memory at first.
    c.allocations = 1;
    ck_status(espl_sync(w, NULL), ESPL_ERR_NO_MEMORY);
    ck_assert_uint_eq(c.calls, 1);
    test_heap_arm(&test.heap, 0, false);
    test_watcher_check(&watcher, NULL);
    for (espl_status status = ESPL_ERR_NO_MEMORY; status != ESPL_OK;) {
        c.allocations += 1;
        test_heap_arm(&test.heap, c.allocations, true);
        status = espl_sync(w, NULL);
        test_heap_arm(&test.heap, 0, false);
        ck_assert(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY);
    }
    ck_assert_uint_gt(c.allocations, 2);
    ck_assert_uint_eq(c.calls, 2);
    ck_assert_uint_eq(c.added, 2);
    ck_assert_uint_eq(c.changed, 2);
    // What the function wrote after the collect is in the next one.
    espl_changes changes;

    test_watcher_check(&watcher, &changes);
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_assert(espl_entity_equal(changes.changed[0], nodes[2]));
    espl_command_buffer_destroy(first);
    espl_command_buffer_destroy(second);
    test_watcher_end(&watcher);
}

TEST(a_world_with_watches_is_not_destroyed)
{
    espl_watch *const watch = watch_of(0, NULL);

    espl_world_destroy(w);
    ck_assert(strstr(test.hooks.last_line, "1 watch of the world still lives; call "
                                           "espl_watch_destroy() for each") != NULL);
    test.hooks.traps = 0;
    (void)test_solo(w);
    demand(watch, 0, 1, 0);
    espl_watch_destroy(watch);
}

TEST(a_thousand_watches_see_the_same)
{
    enum { MANY = 1000 };
    espl_watch **const watches = test_array(MANY, sizeof(espl_watch *));
    const espl_entity one = test_solo(w);

    for (int i = 0; i < MANY; ++i) {
        watches[i] = watch_of(i % 2 == 0 ? ESPL_WATCH_WORLD : ESPL_WATCH_LOCAL, NULL);
    }
    for (int i = 0; i < MANY; ++i) {
        demand(watches[i], 0, 1, 0);
    }
    move(one, 4);
    for (int i = 0; i < MANY; ++i) {
        demand(watches[i], 0, 0, 1);
    }
    test_world_is_valid(w);
    // In another order than they were made.
    for (int i = 0; i < MANY; ++i) {
        espl_watch_destroy(watches[i * 7 % MANY]);
    }
    free(watches);
}

TEST(many_lives_of_few_indices_leave_no_trace)
{
    espl_watch *const watch = watch_of(0, NULL);
    const size_t lives = test_limits_of_build().lives < 1000 ? 100 : (size_t)1 << 18;

    demand(watch, 0, 0, 0);
    for (size_t i = 0; i < test_scaled_alone(lives); ++i) {
        ck_ok(espl_destroy(w, test_solo(w), ESPL_EXTENT_ENTITY));
    }
    demand(watch, 0, 0, 0);
    espl_watch_destroy(watch);
}

// --- Shown worlds ---

enum { SHOWN_TREES = 40, SHOWN_MOST = 40 };

// Trees of 1 to SHOWN_MOST nodes, each node below an earlier one. @return how many nodes there are.
static size_t grow_trees(espl_entity *out)
{
    size_t count = 0;

    for (size_t tree = 0; tree < SHOWN_TREES; ++tree) {
        const size_t top = count;

        for (size_t i = 0; i < 1 + tree % SHOWN_MOST; ++i) {
            out[count] = test_solo_at(w, (float)i, 1, 0);
            if (i > 0) {
                ck_ok(espl_attach(w, out[count], out[top + i * 3 / 4 * (i % 2)], NULL));
            }
            count += 1;
        }
    }
    return count;
}

static bool has_changed(const espl_changes *changes, espl_entity entity)
{
    for (size_t i = 0; i < changes->changed_count; ++i) {
        if (espl_entity_equal(changes->changed[i], entity)) {
            return true;
        }
    }
    return false;
}

// Present, and demand that the watch reports each entity that is shown elsewhere than before.
static void demand_shown(espl_watch *watch, float at, const espl_entity *nodes, size_t count)
{
    static espl_pose before[SHOWN_TREES * SHOWN_MOST], after[SHOWN_TREES * SHOWN_MOST];
    size_t differing = 0;

    ck_ok(espl_read_strided(w, ESPL_READ_SHOWN_POSE, nodes, count, sizeof *nodes, before,
                            sizeof *before));
    ck_ok(espl_present(w, at, NULL));
    ck_ok(espl_read_strided(w, ESPL_READ_SHOWN_POSE, nodes, count, sizeof *nodes, after,
                            sizeof *after));
    const espl_changes changes = collect(watch);

    for (size_t i = 0; i < count; ++i) {
        if (memcmp(&before[i], &after[i], sizeof before[i]) != 0) {
            differing += 1;
            ck_assert_msg(has_changed(&changes, nodes[i]), "node %zu is shown elsewhere", i);
        }
    }
    ck_assert_uint_gt(differing, 0);
}

// Roots, inner nodes and all nodes are written, so that trees are shown in batches, by sweeps, and by links.
TEST(each_entity_that_is_shown_elsewhere_is_reported)
{
    static espl_entity nodes[SHOWN_TREES * SHOWN_MOST];

    if (test_lacks_room(SHOWN_TREES * SHOWN_MOST, "hierarchies of many sizes")) {
        return;
    }
    const size_t count = grow_trees(nodes);

    ck_ok(espl_motion_start(w, NULL));
    espl_watch *const watch = watch_of(ESPL_WATCH_SHOWN, NULL);

    (void)collect(watch);
    for (size_t step = 1; step < 8; ++step) {
        ck_ok(espl_tick_begin(w));
        for (size_t i = 0; i < count; ++i) {
            const bool is_root = espl_entity_equal(espl_get_root(w, nodes[i]), nodes[i]);

            if (step < 3 ? is_root : i % step == 0) {
                move(nodes[i], (float)(i + 7 * step));
            }
        }
        ck_ok(espl_tick_end(w));
        demand_shown(watch, 0.5F, nodes, count);
        demand_shown(watch, 1, nodes, count);
    }
    test_world_is_valid(w);
    espl_watch_destroy(watch);
}

// A world that lets nothing be allocated refuses collects for ever, and loses nothing.
TEST(an_allocator_that_always_fails_loses_nothing)
{
    espl_watch *const watch = watch_of(0, NULL);
    espl_changes changes;
    const espl_entity one = test_solo(w);

    test_heap_arm(&test.heap, 1, true);
    for (int i = 0; i < 100; ++i) {
        move(one, (float)i);
        ck_status(espl_watch_collect(watch, 0, &changes), ESPL_ERR_NO_MEMORY);
    }
    test_heap_arm(&test.heap, 0, false);
    ck_assert_float_eq(demand(watch, 0, 1, 0).added_worlds[0].position[0], 99);
    espl_watch_destroy(watch);
}
