// SPDX-License-Identifier: MIT
// What a rewind brings back, reports and leaves alone: handles, values, names, command buffers, watches, motion;
// and checksums of frames.
#include "tests/value/one_history.h"
#include "tests/watching.h"

#include <string.h>

FIXTURE(begin, end);

// --- Handles ---

TEST(b14_handles_of_a_frame_live_again_and_later_ones_do_not)
{
    espl_entity later[3], again[3];
    espl_rewind report;

    ck_ok(espl_destroy(w, nodes[2], ESPL_EXTENT_ENTITY)); // there is a free index
    ck_ok(espl_history_mark(h, 1));
    test_solos(w, 3, later);
    ck_assert_uint_eq(later[0].index, nodes[2].index);
    ck_ok(espl_destroy(w, nodes[0], ESPL_EXTENT_SUBTREE));
    memset(&report, 0xA5, sizeof report);
    ck_ok(espl_history_rewind(h, 1, 0, &report));
    ck_assert_uint_eq(report.unborn_count, 3);
    ck_assert_uint_eq(report.revived_count, 2);
    ck_assert_mem_eq(report.unborn, later, sizeof later);
    ck_assert(espl_entity_equal(report.revived[0], nodes[0]));
    ck_assert(espl_entity_equal(report.revived[1], nodes[1]));
    for (size_t i = 0; i < sizeof report.reserved / sizeof *report.reserved; ++i) {
        ck_assert_uint_eq(report.reserved[i], 0);
    }
    for (int i = 0; i < 3; ++i) {
        ck_assert(!espl_is_alive(w, later[i]));
        ck_assert_int_eq(espl_get_role(w, later[i]), ESPL_ROLE_NONE);
        // As if they had never been made, also where the index had never been taken.
        ck_status(espl_set_local_position(w, later[i], (float[3]){1, 1, 1}),
                  i == 0 ? ESPL_ERR_DEAD : ESPL_ERR_FOREIGN);
    }
    ck_assert(espl_is_alive(w, nodes[0]) && espl_is_alive(w, nodes[1]));
    ck_assert(!espl_is_alive(w, nodes[2]));
    ck_assert(espl_entity_equal(espl_get_parent(w, nodes[1]), nodes[0]));
    // The same calls make the same handles.
    test_solos(w, 3, again);
    ck_assert_mem_eq(again, later, sizeof later);
}

TEST(an_entity_that_came_and_went_between_is_in_no_report)
{
    espl_entity later;
    espl_rewind report;

    ck_ok(espl_history_mark(h, 1));
    later = test_solo(w);
    ck_ok(espl_destroy(w, later, ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_rewind(h, 1, 0, &report));
    ck_assert_uint_eq(report.unborn_count, 0);
    ck_assert_uint_eq(report.revived_count, 0);
    // At one index one that is not born, and one that lives again.
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    later = test_solo(w);
    ck_assert_uint_eq(later.index, nodes[3].index);
    ck_ok(espl_history_rewind(h, 1, 0, &report));
    ck_assert_uint_eq(report.unborn_count, 1);
    ck_assert(espl_entity_equal(report.unborn[0], later));
    ck_assert_uint_eq(report.revived_count, 1);
    ck_assert(espl_entity_equal(report.revived[0], nodes[3]));
}

TEST(the_timeline_counts_rewinds)
{
    ck_ok(espl_history_mark(h, 1));
    ck_assert_uint_eq(espl_world_timeline(w), 0);
    for (uint64_t i = 1; i < 4; ++i) {
        ck_ok(espl_history_rewind(h, 1, 0, NULL));
        ck_assert_uint_eq(espl_world_timeline(w), i);
    }
}

// Whatever the future made, and whatever was destroyed there, no later entity has its handle.
TEST(a_fresh_rewind_gives_no_handle_of_an_abandoned_future_again)
{
    enum { TURNS = 4, MADE = 3 };
    espl_entity known[TURNS * MADE * 2];
    size_t count = 0;

    ck_ok(espl_destroy(w, nodes[2], ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_mark(h, 1));
    for (int turn = 0; turn < TURNS; ++turn) {
        espl_entity *const made = known + count;

        test_solos(w, MADE, made);
        ck_ok(espl_destroy(w, made[1], ESPL_EXTENT_ENTITY));
        ck_ok(espl_destroy(w, made[0], ESPL_EXTENT_ENTITY));
        test_solos(w, MADE, made + MADE);
        count += MADE * (size_t)2;
        ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
        test_world_is_valid(w);
        for (size_t i = 0; i < count; ++i) {
            ck_assert(!espl_is_alive(w, known[i]));
            for (size_t k = 0; k < i; ++k) {
                ck_assert(!espl_entity_equal(known[i], known[k]));
            }
        }
        for (int i = 0; i < 4; ++i) {
            ck_assert_int_eq(espl_is_alive(w, nodes[i]), i != 2);
        }
    }
    // Over a mark that is abandoned as well, and with later frames.
    ck_ok(espl_history_mark(h, 2));
    known[0] = test_solo(w);
    ck_ok(espl_history_mark(h, 3));
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
    ck_ok(espl_history_mark(h, 4));
    known[1] = test_solo(w);
    ck_assert(!espl_entity_equal(known[0], known[1]));
    ck_ok(espl_history_rewind(h, 4, ESPL_REWIND_FRESH, NULL));
    known[2] = test_solo(w);
    ck_assert(!espl_entity_equal(known[0], known[2]) && !espl_entity_equal(known[1], known[2]));
}

// Destroy a node that a frame revives, let others have its index, and destroy all of them.
static size_t reuse_index(espl_entity revived, size_t times, espl_entity *out)
{
    ck_ok(espl_destroy(w, revived, ESPL_EXTENT_ENTITY));
    for (size_t i = 0; i < times; ++i) {
        out[i] = test_solo(w);
        ck_assert_uint_eq(out[i].index, revived.index);
        ck_ok(espl_destroy(w, out[i], ESPL_EXTENT_ENTITY));
    }
    return times;
}

static void check_all_dead_and_different(const espl_entity *known, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ck_assert(!espl_is_alive(w, known[i]));
        for (size_t k = 0; k < i; ++k) {
            ck_assert(!espl_entity_equal(known[i], known[k]));
        }
    }
}

TEST(a_fresh_rewind_keeps_handles_of_reused_indices_from_coming_again)
{
    espl_entity known[16];
    size_t count = 0;

    ck_ok(espl_history_mark(h, 1));
    // Twice to the same frame: the second future is shorter than the first.
    count += reuse_index(nodes[3], 3, known + count);
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
    ck_assert(espl_is_alive(w, nodes[3]));
    count += reuse_index(nodes[3], 1, known + count);
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
    // Nothing of the third future is at that index, and a later frame is abandoned.
    ck_ok(espl_history_mark(h, 2));
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
    ck_ok(espl_history_mark(h, 3));
    count += reuse_index(nodes[3], 1, known + count);
    // To a frame of a future that a rewind began, without the flag: the same handles.
    ck_ok(espl_history_rewind(h, 3, 0, NULL));
    (void)reuse_index(nodes[3], 1, known + count);
    ck_assert(espl_entity_equal(known[count], known[count - 1]));
    check_all_dead_and_different(known, count);
    test_world_is_valid(w);
}

// The entity has the index of a node of the frame when the rewind comes.
TEST(a_fresh_rewind_takes_an_index_from_a_living_entity)
{
    espl_entity known[2];
    espl_rewind report;

    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    known[0] = test_solo(w);
    ck_assert_uint_eq(known[0].index, nodes[3].index);
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, &report));
    ck_assert_uint_eq(report.unborn_count, 1);
    ck_assert_uint_eq(report.revived_count, 1);
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    known[1] = test_solo(w);
    ck_assert_uint_eq(known[1].index, nodes[3].index);
    ck_assert(!espl_entity_equal(known[0], known[1]));
    ck_assert(!espl_is_alive(w, known[0]));
}

// Any creates, destroys, marks and rewinds: no call that makes an entity returns a handle for the second time.
TEST(no_handle_is_given_twice_while_all_rewinds_are_fresh)
{
    enum { STEPS = 3000, ROOM = 4096 };
    static espl_entity given[ROOM];
    uint64_t random = 41, newest = 0, oldest = 0;
    size_t count = 0, living = 0;
    const size_t most = test_fitting(24, 8), steps = test_is_worn(STEPS, most + 8) ? 80 : STEPS;

    for (size_t step = 0; step < steps; ++step) {
        const uint32_t kind = test_below(&random, 16);
        const size_t pick = count == 0 ? 0 : test_below(&random, (uint32_t)count);

        if (kind < 6 && living < most) {
            given[count] = test_solo(w);
            for (size_t k = 0; k < count; ++k) {
                ck_assert(!espl_entity_equal(given[count], given[k]));
            }
            count += 1;
        } else if (kind < 13 && count != 0) {
            const espl_status status = espl_destroy(w, given[pick], ESPL_EXTENT_ENTITY);

            ck_assert(status == ESPL_OK || status == ESPL_ERR_DEAD || status == ESPL_ERR_FOREIGN);
        } else if (kind < 15 || !espl_history_range(h, &oldest, &newest)) {
            newest += 1;
            ck_ok(espl_history_mark(h, newest));
        } else {
            newest = oldest + test_below(&random, (uint32_t)(newest - oldest + 1));
            ck_ok(espl_history_rewind(h, newest, ESPL_REWIND_FRESH, NULL));
        }
        living = 0;
        for (size_t k = 0; k < count; ++k) {
            living += espl_is_alive(w, given[k]) ? 1 : 0;
        }
    }
    test_world_is_valid(w);
}

// Each generation of an index was given when its first entity is revived.
TEST(an_index_that_was_used_up_is_retired_once_its_revived_entity_is_destroyed)
{
    const size_t lives = test_limits_of_build().lives;
    espl_entity made = nodes[3];

    if (lives > 100) {
        return; // 2^24 of them take too long
    }
    ck_ok(espl_history_mark(h, 1));
    for (size_t i = 1; i < lives; ++i) {
        ck_ok(espl_destroy(w, made, ESPL_EXTENT_ENTITY));
        made = test_solo(w);
        ck_assert_uint_eq(made.index, nodes[3].index);
    }
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    made = test_solo(w);
    ck_assert_uint_ne(made.index, nodes[3].index);
    test_world_is_valid(w);
}

// The same calls come to the same handles on a world that was loaded.
TEST(an_image_has_what_a_fresh_rewind_left)
{
    espl_entity known[2];
    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_history_mark(h, 2));
    const uint64_t checksum = hash_of(2), hash = test_physical_hash(w);

    (void)reuse_index(nodes[3], 1, known);
    ck_ok(espl_history_rewind(h, 1, ESPL_REWIND_FRESH, NULL));
    // Another future, so other hashes.
    ck_assert_uint_ne(test_physical_hash(w), hash);
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_ne(hash_of(2), checksum);

    const size_t size = espl_image_size(w);
    unsigned char *const bytes = malloc(size);

    ck_ok(espl_image_save(w, bytes, size));
    (void)reuse_index(nodes[3], 1, known);
    ck_ok(espl_image_load(w, bytes, size, 0, NULL));
    (void)reuse_index(nodes[3], 1, known + 1);
    ck_assert(espl_entity_equal(known[0], known[1]));
    free(bytes);
}

// --- What is and is not part of a frame ---

TEST(transient_values_are_left_alone_in_rows_that_stay_and_zero_elsewhere)
{
    const espl_component both[] = {number, passing};
    espl_entity stays, leaves, returns;
    uint64_t value = 1;

    ck_ok(espl_create(w, both, 2, 1, &stays));
    ck_ok(espl_create(w, both, 2, 1, &leaves));
    ck_ok(espl_create(w, both, 2, 1, &returns));
    ck_ok(espl_set_component(w, stays, passing, &value, 8));
    ck_ok(espl_set_component(w, leaves, passing, &value, 8));
    ck_ok(espl_set_component(w, returns, passing, &value, 8));
    ck_ok(espl_history_mark(h, 1));
    const uint64_t hash = hash_of(1);

    value = 2;
    ck_ok(espl_set_component(w, stays, passing, &value, 8));
    ck_ok(espl_set_component(w, stays, number, &value, 8));
    ck_ok(espl_destroy(w, returns, ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_ok(espl_get_component(w, stays, passing, &value, 8));
    ck_assert_uint_eq(value, 2);
    ck_ok(espl_get_component(w, stays, number, &value, 8));
    ck_assert_uint_eq(value, 0);
    ck_ok(espl_get_component(w, returns, passing, &value, 8));
    ck_assert_uint_eq(value, 0);
    value = 3;
    ck_ok(espl_set_component(w, stays, passing, &value, 8));
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_eq(hash_of(2), hash);
}

TEST(names_come_back)
{
    espl_entity found;
    char long_name[256];

    memset(long_name, 'n', sizeof long_name - 1);
    long_name[255] = '\0';
    ck_ok(espl_set_name(w, nodes[0], "root"));
    ck_ok(espl_set_name(w, nodes[1], "left"));
    ck_ok(espl_set_name(w, nodes[2], "left")); // the text is shared
    ck_ok(espl_set_name(w, nodes[3], long_name));
    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_set_name(w, nodes[0], "another"));
    ck_ok(espl_set_name(w, nodes[1], NULL));
    ck_ok(espl_history_mark(h, 2));
    ck_ok(espl_set_name(w, nodes[2], NULL));
    ck_ok(espl_set_name(w, nodes[3], "short"));
    ck_ok(espl_destroy(w, nodes[0], ESPL_EXTENT_SUBTREE));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_str_eq(espl_get_name(w, nodes[0]), "root");
    ck_assert_str_eq(espl_get_name(w, nodes[1]), "left");
    ck_assert_str_eq(espl_get_name(w, nodes[2]), "left");
    ck_assert_str_eq(espl_get_name(w, nodes[3]), long_name);
    ck_ok(espl_find_descendant(w, test_null, "root", &found));
    ck_assert(espl_entity_equal(found, nodes[0]));
    ck_ok(espl_find_descendant(w, test_null, "another", &found));
    ck_assert(espl_entity_is_null(found));
}

TEST(columns_that_a_rewind_changes_count_as_written)
{
    const espl_query_def changed = {.changed = &number, .changed_count = 1};
    espl_query_def asks = changed;
    espl_query query;
    size_t rows = 0;

    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_set_component(w, nodes[3], number, &(uint64_t){8}, 8));
    asks.since = espl_get_version(w);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_uint_gt(espl_get_version(w), asks.since);
    ck_ok(espl_query_begin(w, &asks, &query));
    while (espl_query_next(&query)) {
        rows += query.count;
    }
    ck_assert_uint_eq(rows, 1);
}

TEST(components_and_custom_commands_that_were_registered_since_stay)
{
    espl_entity made;

    ck_ok(espl_history_mark(h, 1));
    const espl_component late = test_component(w, "late", 4, 4);

    ck_ok(espl_add_component(w, nodes[3], late, &(uint32_t){3}, 4));
    ck_ok(espl_create(w, &late, 1, 1, &made));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_uint_eq(espl_component_find(w, "late"), late);
    ck_assert(!espl_has_component(w, nodes[3], late));
    ck_ok(espl_add_component(w, nodes[3], late, &(uint32_t){3}, 4));
    ck_ok(espl_history_mark(h, 2));
    ck_ok(espl_remove_component(w, nodes[3], late));
    ck_ok(espl_history_rewind(h, 2, 0, NULL));
    ck_assert(espl_has_component(w, nodes[3], late));
}

// --- Command buffers ---

TEST(commands_that_were_recorded_before_a_rewind_are_judged_when_they_are_played)
{
    espl_command_buffer *const commands = test_commands(w, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_instance_def def = {.source = nodes[0]};
    espl_entity pending, made, again, later;

    ck_ok(espl_destroy(w, nodes[2], ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_mark(h, 1));
    later = test_solo(w);
    ck_ok(espl_record_write(recorder, 0, nodes[1], ESPL_WRITE_LOCAL_POSITION, (float[3]){5, 5, 5}));
    ck_ok(espl_record_destroy(recorder, 0, later, ESPL_EXTENT_ENTITY));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, &pending));
    ck_ok(espl_command_buffer_submit(commands)); // in line, over the rewind
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_status(espl_command_buffer_resolve(commands, pending, &made), ESPL_ERR_PENDING);
    ck_ok(espl_sync(w, NULL));
    ck_ok(espl_command_buffer_result(commands, 0, 0));
    ck_status(espl_command_buffer_result(commands, 0, 1), ESPL_ERR_DEAD);
    ck_ok(espl_command_buffer_result(commands, 0, 2));
    ck_ok(espl_command_buffer_resolve(commands, pending, &made));
    ck_assert(espl_is_alive(w, made));
    ck_assert_float_eq(place(), 5);
    // What a playback made is gone after a rewind, and the buffer still says what it was.
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_float_eq(place(), 1);
    ck_ok(espl_command_buffer_resolve(commands, pending, &again));
    ck_assert(espl_entity_equal(again, made));
    ck_assert(!espl_is_alive(w, made));
    espl_command_buffer_destroy(commands);
}

// --- Watches ---

TEST(a_watch_finds_the_difference_of_the_two_states)
{
    const espl_watch_def def = {.flags = ESPL_WATCH_WORLD | ESPL_WATCH_BEFORE};
    espl_watch *watch;
    espl_changes changes;
    espl_entity seen, unseen;

    ck_ok(espl_watch_create(w, &def, &watch));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_history_mark(h, 1));
    seen = test_solo(w);
    ck_ok(espl_destroy(w, nodes[3], ESPL_EXTENT_ENTITY));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert(changes.added_count == 1 && changes.removed_count == 1);
    unseen = test_solo(w);
    move(6);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert(!espl_is_alive(w, unseen));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.removed_count, 1);
    ck_assert(espl_entity_equal(changes.removed[0], seen));
    ck_assert_uint_eq(changes.added_count, 1);
    ck_assert(espl_entity_equal(changes.added[0], nodes[3]));
    ck_assert_uint_eq(changes.changed_count, 0); // the move was not seen
    move(7);
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_ok(espl_watch_collect(watch, 0, &changes));
    ck_assert_uint_eq(changes.changed_count, 1);
    ck_assert(espl_entity_equal(changes.changed[0], nodes[1]));
    ck_assert_float_eq(changes.changed_before[0].position[0], 7);
    espl_watch_destroy(watch);
}

TEST_LOOP(watches_of_each_kind_are_right_across_rewinds, 0, TEST_WATCH_FLAGS_UNSHOWN)
{
    test_watcher watcher;
    uint64_t random = 6;

    test_watcher_begin(&watcher, w, test_watch_flags[_i], NULL);
    for (uint64_t turn = 0; turn < 20; ++turn) {
        ck_ok(espl_history_mark(h, 100 + turn % 4));
        for (int i = 0; i < 3; ++i) {
            const espl_entity made = test_solo(w);

            ck_ok(espl_attach(w, made, nodes[test_below(&random, 4)], NULL));
            move((float)turn);
        }
        if (test_one_in(&random, 2)) {
            ck_ok(espl_destroy(w, nodes[2], ESPL_EXTENT_SUBTREE));
        }
        if (test_one_in(&random, 2)) {
            test_watcher_check(&watcher, NULL);
        }
        if (turn % 4 == 3) {
            ck_ok(espl_history_rewind(h, 100, 0, NULL));
            test_watcher_check(&watcher, NULL);
            ck_ok(espl_compact(w)); // so that frames count from 100 again
        } else if (!espl_is_alive(w, nodes[2])) {
            ck_ok(espl_history_rewind(h, 100 + turn % 4, 0, NULL));
        }
    }
    test_watcher_end(&watcher);
}

// --- Motion ---

TEST(previous_locals_come_back)
{
    espl_pose before, after;

    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    for (int i = 0; i < 3; ++i) {
        ck_ok(espl_tick_begin(w));
        move((float)i * (float)i);
    }
    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_present(w, 0.5f, NULL));
    ck_ok(espl_read_one(w, nodes[1], ESPL_READ_SHOWN_POSE, &before));
    ck_assert_float_eq(before.position[0], 2.5f);
    for (int i = 0; i < 3; ++i) {
        ck_ok(espl_tick_begin(w));
        move(70);
    }
    ck_ok(espl_tick_end(w));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_ok(espl_present(w, 0.5f, NULL));
    ck_ok(espl_read_one(w, nodes[1], ESPL_READ_SHOWN_POSE, &after));
    ck_assert_mem_eq(&before, &after, sizeof before);
    ck_ok(espl_read_one(w, nodes[1], ESPL_READ_BEFORE_LOCAL_POSE, &after));
    ck_assert_float_eq(after.position[0], 0);
    // The tick is under way again: a write is blended.
    move(5);
    ck_ok(espl_present(w, 0, NULL));
    ck_ok(espl_read_one(w, nodes[1], ESPL_READ_SHOWN_POSE, &after));
    ck_assert_float_eq(after.position[0], 1);
}

// The present part is the same at the mark and at the rewind.
TEST(previous_kept_parts_come_back)
{
    ck_ok(espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_X));
    ck_ok(espl_motion_start(w, &(espl_motion_def){.history = 2}));
    for (int i = 0; i < 3; ++i) {
        ck_ok(espl_tick_begin(w));
        ck_ok(espl_set_world_position(w, nodes[1], (float[3]){(float)i, 1, 2}));
    }
    ck_ok(espl_history_mark(h, 1));
    const uint64_t hash = test_physical_hash(w);

    for (int i = 0; i < 2; ++i) {
        ck_ok(espl_tick_begin(w));
    }
    ck_assert_uint_ne(test_physical_hash(w), hash);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_assert_uint_eq(test_physical_hash(w), hash);
}

// --- What is reserved ---

// The first stretch of a hierarchy takes memory unless side arrays were reserved for it.
static void demand_stretch(bool is_reserved)
{
    test_heap_arm(&test.heap, 1, true);
    ck_status(espl_set_stretch(w, nodes[1], (float[3]){1, 2, 1}),
              is_reserved ? ESPL_OK : ESPL_ERR_NO_MEMORY);
    test_heap_arm(&test.heap, 0, false);
}

TEST(side_arrays_that_were_reserved_at_a_mark_come_back)
{
    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = nodes[0]}));
    ck_ok(espl_history_mark(h, 2));
    demand_stretch(true);
    ck_ok(espl_destroy(w, nodes[0], ESPL_EXTENT_SUBTREE));
    ck_ok(espl_history_rewind(h, 2, 0, NULL));
    test_world_is_valid(w);
    demand_stretch(true);
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    test_world_is_valid(w);
    demand_stretch(false);
}

// --- Checksums ---

TEST(a_checksum_says_what_differs_and_not_how_it_came_about)
{
    ck_ok(espl_history_mark(h, 1));
    const uint64_t hash = hash_of(1);

    move(4);
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_ne(hash_of(2), hash);
    move(1);
    ck_ok(espl_set_local_transform(w, nodes[1],
                                   &(espl_transform){{0, 0, 0, 1}, {1, 1, 2}, 1, {1, 1, 1}, 0}));
    ck_ok(espl_history_mark(h, 3));
    ck_assert_uint_eq(hash_of(3), hash);
    ck_ok(espl_set_component(w, nodes[3], number, &(uint64_t){8}, 8));
    ck_ok(espl_history_mark(h, 4));
    ck_assert_uint_ne(hash_of(4), hash);
    ck_ok(espl_set_component(w, nodes[3], number, &(uint64_t){7}, 8));
    ck_ok(espl_set_name(w, nodes[3], "n"));
    ck_ok(espl_history_mark(h, 5));
    ck_assert_uint_ne(hash_of(5), hash);
    ck_ok(espl_set_name(w, nodes[3], NULL));
    ck_ok(espl_history_mark(h, 6));
    ck_assert_uint_eq(hash_of(6), hash);
    // A free index with another generation is another future.
    ck_ok(espl_destroy(w, test_solo(w), ESPL_EXTENT_ENTITY));
    ck_ok(espl_history_mark(h, 7));
    ck_assert_uint_ne(hash_of(7), hash);
    ck_ok(espl_history_rewind(h, 6, 0, NULL));
    ck_ok(espl_history_mark(h, 7));
    ck_assert_uint_eq(hash_of(7), hash);
    // A history that is made now finds the same.
    espl_history_destroy(h);
    ck_ok(espl_history_create(w, &usual, &h));
    ck_ok(espl_history_mark(h, 1));
    ck_assert_uint_eq(hash_of(1), hash);
}

// It could not be that of the frame after a rewind otherwise, because components stay registered.
TEST(a_checksum_does_not_depend_on_components_that_no_entity_has)
{
    ck_ok(espl_history_mark(h, 1));
    const espl_component later = test_component(w, "later", 8, 8);

    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_eq(hash_of(2), hash_of(1));
    ck_ok(espl_add_component(w, nodes[3], later, NULL, 8));
    ck_ok(espl_history_mark(h, 3));
    const uint64_t hash = hash_of(3);

    ck_assert_uint_ne(hash, hash_of(1));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_ok(espl_add_component(w, nodes[3], later, NULL, 8));
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_eq(hash_of(2), hash);
}

// Side arrays that no node needs, and room in them for inherit flags, change no later result.
TEST(a_checksum_does_not_depend_on_which_side_arrays_there_are)
{
    ck_ok(espl_history_mark(h, 1));
    ck_ok(espl_reserve(w, &(espl_reserve_def){.side_of = nodes[0]}));
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_eq(hash_of(2), hash_of(1));
    ck_ok(espl_history_rewind(h, 1, 0, NULL));
    ck_ok(espl_set_user_data(w, nodes[1], 5));
    ck_ok(espl_history_mark(h, 2));
    ck_assert_uint_ne(hash_of(2), hash_of(1));
    const uint64_t physical = test_physical_hash(w);

    ck_ok(espl_set_inherit(w, nodes[1], ESPL_ABSOLUTE_ROTATION));
    ck_ok(espl_history_mark(h, 3));
    ck_assert_uint_ne(hash_of(3), hash_of(2));
    ck_ok(espl_set_inherit(w, nodes[1], 0));
    ck_assert_uint_eq(test_physical_hash(w), physical);
    ck_ok(espl_history_mark(h, 4));
    ck_assert_uint_eq(hash_of(4), hash_of(2));
}

TEST(negative_zeros_and_denormals_are_other_values)
{
    const float values[] = {0, -0.0f, 1e-42f, -1e-42f};
    uint64_t hashes[4];

    for (uint64_t i = 0; i < 4; ++i) {
        move(values[i]);
        ck_ok(espl_history_mark(h, i));
        hashes[i] = hash_of(i);
        for (uint64_t k = 0; k < i; ++k) {
            ck_assert_uint_ne(hashes[i], hashes[k]);
        }
    }
    for (uint64_t i = 4; i-- > 0;) {
        ck_ok(espl_history_rewind(h, i, 0, NULL));
        const float x = place();

        ck_assert_mem_eq(&x, &values[i], sizeof x);
    }
}

// Make a root with so many children.
static espl_entity family(uint32_t children)
{
    const espl_entity root = test_solo(w);

    for (uint32_t i = 0; i < children; ++i) {
        const espl_transform at = test_at((float)i, 0, 0);

        ck_ok(espl_create_node(w, root, &at, NULL, NULL));
    }
    return root;
}

// A slot behind the end of a frame was left as an end of a free range, and was one inside of a larger free range
// after a rewind to an earlier frame.
TEST(free_ranges_behind_the_end_of_a_frame_are_none_of_earlier_ones)
{
    const uint32_t many = test_fitting(20, 52);
    const espl_entity first = family(many), last = family(2 * many);
    uint64_t frame = 0;

    ck_ok(espl_destroy(w, first, ESPL_EXTENT_SUBTREE));
    for (uint32_t size = 1; size < many; ++size) {
        const uint64_t earlier = ++frame, shorter = ++frame;

        ck_ok(espl_history_mark(h, earlier));
        const uint64_t checksum = hash_of(earlier);

        ck_ok(espl_destroy(w, last, ESPL_EXTENT_SUBTREE));
        ck_ok(espl_history_mark(h, shorter));
        const espl_entity one = family(size);

        (void)family(7);
        ck_ok(espl_destroy(w, one, ESPL_EXTENT_SUBTREE));
        ck_ok(espl_history_rewind(h, shorter, 0, NULL));
        ck_ok(espl_history_rewind(h, earlier, 0, NULL));
        test_world_is_valid(w);
        espl_history_destroy(h);
        ck_ok(espl_history_create(w, &usual, &h));
        ck_ok(espl_history_mark(h, frame));
        ck_assert_uint_eq(hash_of(frame), checksum);
    }
}
