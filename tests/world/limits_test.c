// SPDX-License-Identifier: MIT
// Limits of a world: its indices, the generations of each, and the rows of a chunk, one below, at,
// and one above each. A build with tiny limits reaches all of them, other builds those that fit
// into memory.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/support.h"

#include "tests/inside.h"

#include <stdlib.h>
#include <string.h>

// What fits this many is filled to the brim.
enum { ENTITY_LIMIT = 64 };

static bool is_tiny(void)
{
    return test_limits_of_build().entities <= ENTITY_LIMIT;
}

// --- A world and its indices ---

typedef struct scene {
    test_world test;
    espl_world *world;
    espl_component number;
    espl_entity entities[ENTITY_LIMIT + 1];
} scene;

static scene s;

static void set_up(void)
{
    memset(&s, 0, sizeof s);
    test_world_begin(&s.test, 5, NULL);
    s.world = s.test.world;
    s.number = test_component(s.world, "number", sizeof(uint32_t), 4);
}

static void tear_down(void)
{
    test_world_end(&s.test);
}

static espl_status create(size_t count, espl_entity *out)
{
    const espl_component set[2] = {s.number, ESPL_TRANSFORM};

    return espl_create(s.world, set, 2, count, out);
}

static void fill(size_t count)
{
    ck_ok(create(count, s.entities));
}

static espl_world_stats stats_of(void)
{
    espl_world_stats stats;

    espl_stats(s.world, &stats);
    return stats;
}

static size_t retired(void)
{
    return stats_of().retired;
}

// A refused call leaves everything as it was, and says so.
static void is_left_alone(espl_status status, uint64_t hash, size_t lines)
{
    ck_status(status, ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(s.world), hash);
    ck_assert_uint_eq(s.test.hooks.lines, lines + 1);
    ck_assert_ptr_nonnull(strstr(s.test.hooks.last_line, "ESPL_ERR_LIMIT"));
    test_world_is_valid(s.world);
}

// Calls, once the hash and what was said so far are known.
#define is_refused(call)                                          \
    do {                                                          \
        const uint64_t hash_before = test_physical_hash(s.world); \
        const size_t lines_before = s.test.hooks.lines;           \
        const espl_status answer = (call);                        \
                                                                  \
        is_left_alone(answer, hash_before, lines_before);         \
    } while (0)

FIXTURE(set_up, tear_down);

TEST(k2_more_entities_than_indices_are_refused_at_once)
{
    const size_t limit = test_limits_of_build().entities;
    const size_t counts[] = {limit - 2, limit - 1, limit, limit + 1, SIZE_MAX / 2, SIZE_MAX};
    espl_entity out = {7, 7};

    fill(3);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        const size_t bytes = s.test.heap.bytes;

        is_refused(create(counts[i], &out));
        is_refused(espl_reserve(s.world, &(espl_reserve_def){.entities = counts[i]}));
        ck_assert(out.index == 7 && out.generation == 7);
        ck_assert_uint_eq(s.test.heap.bytes, bytes);
    }
    // Rows are counted by chunks, of which there are as many as numbers.
    is_refused(test_reserve_rows(s.world, &s.number, 1, SIZE_MAX));
    is_refused(test_reserve_rows(s.world, &s.number, 1, SIZE_MAX / 2 + 1));
    ck_ok(create(1, &out));
    ck_assert_uint_eq(out.index, 3);
}

TEST_IF(the_last_index_serves_like_any_other, is_tiny())
{
    for (uint32_t i = 0; i < ENTITY_LIMIT; ++i) {
        const espl_transform value = test_at((float)i, 1, 2);

        ck_ok(create(1, &s.entities[i]));
        ck_assert_uint_eq(s.entities[i].index, i);
        ck_ok(espl_set_component(s.world, s.entities[i], s.number, &i, sizeof i));
        ck_ok(espl_set_local_transform(s.world, s.entities[i], &value));
    }
    is_refused(create(1, NULL));

    // All below the last one, and the last one below the first.
    const espl_entity last = s.entities[ENTITY_LIMIT - 1];
    ck_ok(espl_attach(s.world, s.entities[0], last, NULL));
    for (uint32_t i = 1; i + 1 < ENTITY_LIMIT; ++i) {
        ck_ok(espl_attach(s.world, s.entities[i], s.entities[i - 1], NULL));
    }
    test_world_is_valid(s.world);
    ck_assert_uint_eq(espl_get_depth(s.world, s.entities[ENTITY_LIMIT - 2]), ENTITY_LIMIT - 1);
    for (uint32_t i = 0; i < ENTITY_LIMIT; ++i) {
        uint32_t number = 99;

        ck_ok(espl_get_component(s.world, s.entities[i], s.number, &number, 4));
        ck_assert_uint_eq(number, i);
        ck_assert_float_eq(test_world_of(s.world, s.entities[i]).position[0], (float)i);
    }
}

TEST_IF(a_creation_makes_all_or_none, is_tiny())
{
    enum { FIRST = 20, REST = ENTITY_LIMIT - FIRST };
    espl_entity rest[REST];

    fill(FIRST);
    memset(rest, 0xA5, sizeof rest);
    is_refused(create(REST + 1, rest));
    ck_assert_uint_eq(rest[0].index, 0xA5A5A5A5);
    ck_ok(create(REST, rest));
    ck_assert_uint_eq(rest[REST - 1].index, ENTITY_LIMIT - 1);
    is_refused(create(1, NULL));
}

// A tree of three and what is left over: twenty clones fill the world but for one index.
TEST_IF(an_instantiation_makes_all_or_none, is_tiny())
{
    enum { CLONES = (ENTITY_LIMIT - 4) / 3 };
    espl_entity out[CLONES + 1];

    fill(3);
    ck_ok(espl_attach(s.world, s.entities[1], s.entities[0], NULL));
    ck_ok(espl_attach(s.world, s.entities[2], s.entities[1], NULL));
    memset(out, 0xA5, sizeof out);
    is_refused(
        espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[0]}, CLONES + 1, out));
    ck_assert_uint_eq(out[0].index, 0xA5A5A5A5);
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[0]}, CLONES, out));
    test_world_is_valid(s.world);

    is_refused(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[1]}, 1, out));
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[2]}, 1, out));
    ck_assert_uint_eq(out[0].index, ENTITY_LIMIT - 1);
    is_refused(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[2]}, 1, out));
}

// --- Playbacks ---

// Clones of the second entity below the first one, and other work before and behind.
static espl_command_buffer *record_clones(size_t count, espl_entity *pending)
{
    const espl_instance_def def = {.source = s.entities[1], .parent = s.entities[0]};
    const espl_transform moved = test_at(5, 6, 7);
    espl_command_buffer *const commands = test_commands(s.world, 2);
    espl_recorder *const first = espl_command_buffer_recorder(commands, 0);
    espl_recorder *const second = espl_command_buffer_recorder(commands, 1);

    ck_ok(espl_record_write(first, 0, s.entities[0], ESPL_WRITE_LOCAL_TRANSFORM, &moved));
    ck_ok(espl_record_attach(first, 1, s.entities[2], s.entities[1], NULL));
    ck_ok(espl_record_instantiate(second, 0, &def, count, pending));
    ck_ok(espl_record_attach(second, 2, s.entities[1], pending[0], NULL));
    return commands;
}

TEST_IF(a_playback_fills_a_world_to_the_last_index, is_tiny())
{
    enum { FIRST = 10, CLONES = ENTITY_LIMIT - FIRST };
    espl_entity pending[CLONES], clone;
    espl_report report;

    fill(FIRST);
    espl_command_buffer *const commands = record_clones(CLONES, pending);
    ck_ok(espl_play(s.world, commands, &report));
    ck_assert(report.applied == 4 && report.created == CLONES);
    ck_ok(espl_command_buffer_resolve(commands, pending[CLONES - 1], &clone));
    ck_assert_uint_eq(clone.index, ENTITY_LIMIT - 1);
    ck_assert_uint_eq(test_count_children(s.world, s.entities[0]), CLONES);
    is_refused(create(1, NULL));
    espl_command_buffer_destroy(commands);
}

static bool is_zero(const espl_report *report)
{
    static const espl_report none = {0};

    return report->accepted == none.accepted && report->applied == none.applied &&
           report->refused == none.refused && report->created == none.created;
}

// And comes to the same once there is room as if there had been room from the start.
TEST_IF(a_playback_that_lacks_one_index_changes_nothing_and_can_be_played_later, is_tiny())
{
    enum { FIRST = 10, CLONES = ENTITY_LIMIT - FIRST + 1 };
    espl_entity pending[CLONES];
    espl_report report;
    uint64_t hashes[2];

    for (int lacks_room = 0; lacks_room < 2; ++lacks_room) {
        fill(FIRST);
        espl_command_buffer *const commands = record_clones(CLONES, pending);
        for (int i = 0; i < 3 * lacks_room; ++i) {
            memset(&report, 0xA5, sizeof report);
            is_refused(espl_play(s.world, commands, &report));
            ck_assert(is_zero(&report));
            ck_assert_uint_eq(espl_command_buffer_count(commands), 4);
            ck_assert_uint_eq(stats_of().commands_accepted, 0);
        }
        ck_ok(espl_destroy(s.world, s.entities[5], ESPL_EXTENT_OWNED));
        ck_ok(espl_play(s.world, commands, &report));
        ck_assert(report.applied == 4 && report.created == CLONES);
        hashes[lacks_room] = test_physical_hash(s.world);
        espl_command_buffer_destroy(commands);
        tear_down();
        set_up();
    }
    ck_assert_uint_eq(hashes[1], hashes[0]);
}

TEST_IF(what_is_submitted_stays_in_line_until_there_is_room, is_tiny())
{
    enum { FIRST = 10, CLONES = ENTITY_LIMIT - FIRST + 1 };
    espl_entity pending[CLONES];
    espl_report report;

    fill(FIRST);
    espl_command_buffer *const commands = record_clones(CLONES, pending);
    ck_ok(espl_command_buffer_submit(commands));
    const uint64_t hash = test_physical_hash(s.world);
    ck_status(espl_sync(s.world, &report), ESPL_ERR_LIMIT);
    ck_assert_uint_eq(test_physical_hash(s.world), hash);
    ck_ok(espl_destroy(s.world, s.entities[FIRST - 1], ESPL_EXTENT_OWNED));
    ck_ok(espl_sync(s.world, &report));
    ck_assert_uint_eq(report.created, CLONES);
    espl_command_buffer_destroy(commands);
}

// The clones take their indices before the dead give theirs back.
TEST_IF(what_a_playback_destroys_makes_room_for_the_next_one, is_tiny())
{
    fill(ENTITY_LIMIT);
    const espl_instance_def def = {.source = s.entities[1]};
    espl_command_buffer *const commands = test_commands(s.world, 2);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    ck_ok(espl_record_destroy(recorder, 0, s.entities[0], ESPL_EXTENT_OWNED));
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, NULL));
    is_refused(espl_play(s.world, commands, NULL));

    espl_command_buffer_reset(commands);
    ck_ok(espl_record_destroy(recorder, 0, s.entities[0], ESPL_EXTENT_OWNED));
    ck_ok(espl_play(s.world, commands, NULL));
    espl_command_buffer_reset(commands);
    ck_ok(espl_record_instantiate(recorder, 0, &def, 1, NULL));
    ck_ok(espl_play(s.world, commands, NULL));
    ck_ok(espl_command_buffer_result(commands, 0, 0));
    espl_command_buffer_destroy(commands);
}

TEST_IF(clones_that_die_in_their_own_playback_need_no_index, is_tiny())
{
    espl_entity pending[2], clone;
    espl_report report;

    fill(ENTITY_LIMIT - 1);
    const espl_instance_def def = {.source = s.entities[1]};
    espl_command_buffer *const commands = test_commands(s.world, 2);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    ck_ok(espl_record_instantiate(recorder, 0, &def, 2, pending));
    ck_ok(espl_record_destroy(recorder, 0, pending[0], ESPL_EXTENT_OWNED));
    ck_ok(espl_play(s.world, commands, &report));
    ck_assert(report.applied == 2 && report.created == 1);
    ck_ok(espl_command_buffer_resolve(commands, pending[1], &clone));
    ck_assert_uint_eq(clone.index, ENTITY_LIMIT - 1);
    espl_command_buffer_destroy(commands);
}

// --- Lives ---

// Let the index that is free next have one life left: by living the others, or where there are
// millions of them, by setting its generation.
static void age(uint32_t index)
{
    const uint32_t lives = (uint32_t)test_limits_of_build().lives;
    espl_entity entity = {0};

    if (!is_tiny()) {
        test_age_index(s.world, index, 1);
        return;
    }
    while ((entity.generation & lives) != lives - 1) {
        ck_ok(create(1, &entity));
        ck_assert_uint_eq(entity.index, index);
        ck_ok(espl_destroy(s.world, entity, ESPL_EXTENT_OWNED));
    }
}

static void is_dead(espl_entity entity)
{
    espl_transform out;

    ck_assert(!espl_is_alive(s.world, entity));
    ck_status(espl_get_world_transform(s.world, entity, &out), ESPL_ERR_DEAD);
    ck_assert_int_eq(espl_get_role(s.world, entity), ESPL_ROLE_NONE);
    ck_status(espl_destroy(s.world, entity, ESPL_EXTENT_OWNED), ESPL_ERR_DEAD);
}

TEST(k1_k6_an_index_retires_after_its_last_life_and_no_handle_of_it_revives)
{
    fill(3);
    const espl_entity first = s.entities[1];
    ck_ok(espl_destroy(s.world, first, ESPL_EXTENT_OWNED));
    age(first.index);
    ck_assert_uint_eq(retired(), 0);

    espl_entity last, next;
    ck_ok(create(1, &last));
    ck_assert_uint_eq(last.index, first.index);
    ck_assert(espl_is_alive(s.world, last));
    // A count of lives does not reach the tag of the world, which is above it.
    const uint32_t counted = (uint32_t)test_limits_of_build().lives;
    ck_assert_uint_eq(last.generation & ~counted, first.generation & ~counted);
    ck_assert_uint_eq(last.generation & counted, counted);
    is_dead(first);
    ck_ok(espl_attach(s.world, last, s.entities[0], NULL));
    ck_ok(espl_destroy(s.world, last, ESPL_EXTENT_OWNED));
    ck_assert_uint_eq(retired(), 1);
    test_world_is_valid(s.world);

    // Creation goes on with another one; not one word of a generation names the retired again.
    ck_ok(create(1, &next));
    ck_assert_uint_eq(next.index, 3);
    const size_t lives = test_limits_of_build().lives;
    for (size_t life = 0; life <= lives + 1; life += is_tiny() ? 1 : lives / 999) {
        const uint32_t word = (last.generation & ~(uint32_t)lives) | (uint32_t)(life & lives);

        ck_assert(!espl_is_alive(s.world, (espl_entity){first.index, word}));
    }
    is_dead(last);
    is_dead(first);
}

// Each way to die on the last life: alone, with the closure, with all below, as the root of
// survivors, and by a playback.
enum { WAYS = 5 };

static void die(espl_entity entity, int way)
{
    espl_command_buffer *const commands = test_commands(s.world, 2);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);

    switch (way) {
    case 0:
        ck_ok(espl_destroy(s.world, entity, ESPL_EXTENT_OWNED));
        break;
    case 1:
        ck_ok(espl_attach(s.world, entity, s.entities[0], NULL));
        ck_ok(espl_destroy(s.world, s.entities[0], ESPL_EXTENT_OWNED));
        break;
    case 2:
        ck_ok(espl_attach(s.world, entity, s.entities[0],
                          &(espl_attach_options){.link = ESPL_LINK_FREE}));
        ck_ok(espl_destroy(s.world, s.entities[0], ESPL_EXTENT_SUBTREE));
        break;
    case 3:
        ck_ok(espl_attach(s.world, s.entities[0], entity, NULL));
        ck_ok(espl_destroy(s.world, entity, ESPL_EXTENT_ENTITY));
        break;
    default:
        ck_ok(espl_record_destroy(recorder, 0, entity, ESPL_EXTENT_OWNED));
        ck_ok(espl_play(s.world, commands, NULL));
        break;
    }
    espl_command_buffer_destroy(commands);
}

TEST_LOOP(each_death_may_be_the_last_of_an_index, 0, 2 * WAYS)
{
    const bool is_clone = _i >= WAYS;
    espl_entity last;

    fill(4);
    const uint32_t index = s.entities[2].index;
    ck_ok(espl_destroy(s.world, s.entities[2], ESPL_EXTENT_OWNED));
    age(index);
    ck_ok(is_clone
              ? espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[3]}, 1, &last)
              : create(1, &last));
    ck_assert_uint_eq(last.index, index);
    die(last, _i % WAYS);
    is_dead(last);
    ck_assert_uint_eq(retired(), 1);
    test_world_is_valid(s.world);
}

// Every index serves all its lives, while some entities stay; then nothing can be made any more.
TEST_IF(a_world_lives_until_all_its_indices_are_retired, is_tiny())
{
    const size_t lives = test_limits_of_build().lives, total = ENTITY_LIMIT * lives;
    espl_entity *const known = test_array(total, sizeof *known);
    uint64_t random = 3;
    size_t made = 0, living = 0;

    while (made < total) {
        if (create(1, &s.entities[living]) == ESPL_OK) {
            known[made++] = s.entities[living++];
        } else {
            ck_assert_uint_eq(living + retired(), ENTITY_LIMIT);
        }
        for (size_t deaths = test_below(&random, 3); deaths > 0 && living > 0; --deaths) {
            const size_t at = test_below(&random, (uint32_t)living);

            ck_ok(espl_destroy(s.world, s.entities[at], ESPL_EXTENT_OWNED));
            s.entities[at] = s.entities[--living];
        }
        test_world_is_valid(s.world);
    }
    while (living > 0) {
        ck_status(create(1, NULL), ESPL_ERR_LIMIT);
        ck_ok(espl_destroy(s.world, s.entities[--living], ESPL_EXTENT_OWNED));
    }
    ck_assert_uint_eq(retired(), ENTITY_LIMIT);
    ck_status(create(1, NULL), ESPL_ERR_LIMIT);
    ck_status(espl_reserve(s.world, &(espl_reserve_def){.entities = 1}), ESPL_ERR_LIMIT);
    ck_ok(create(0, NULL));
    for (size_t i = 0; i < total; ++i) {
        is_dead(known[i]);
        for (size_t k = 0; k < i; ++k) {
            ck_assert(!espl_entity_equal(known[i], known[k]));
        }
    }
    free(known);
}

TEST_IF(the_retired_are_not_counted_on, is_tiny())
{
    enum { GONE = 3, LEFT = ENTITY_LIMIT - GONE };

    for (uint32_t i = 0; i < GONE; ++i) {
        fill(1);
        ck_ok(espl_destroy(s.world, s.entities[0], ESPL_EXTENT_OWNED));
        age(i);
        fill(1);
        ck_ok(espl_destroy(s.world, s.entities[0], ESPL_EXTENT_OWNED));
        ck_assert_uint_eq(retired(), i + 1);
    }
    is_refused(create(LEFT + 1, NULL));
    fill(LEFT - 1);

    const espl_instance_def def = {.source = s.entities[4]};
    espl_command_buffer *const commands = test_commands(s.world, 2);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    ck_ok(espl_record_instantiate(recorder, 0, &def, 2, NULL));
    is_refused(espl_play(s.world, commands, NULL));
    is_refused(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[4]}, 2, NULL));
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[4]}, 1, NULL));
    espl_command_buffer_destroy(commands);
}

// --- Rows of a chunk ---

// Only the last chunk is partly filled, and each row has the number of its entity.
static void rows_are(size_t count)
{
    const size_t capacity = test_limits_of_build().rows;
    const espl_query_def def = {.all = &s.number, .all_count = 1};
    espl_query query;
    size_t seen = 0;

    ck_ok(espl_query_begin(s.world, &def, &query));
    while (espl_query_next(&query)) {
        const uint32_t *const numbers = espl_query_read(&query, s.number, sizeof *numbers);
        const size_t left = count - seen;

        ck_assert_uint_eq(query.count, left < capacity ? left : capacity);
        for (size_t row = 0; row < query.count; ++row) {
            ck_assert_uint_eq(numbers[row], query.entities[row].index);
        }
        seen += query.count;
    }
    ck_assert_uint_eq(seen, count);
    test_world_is_valid(s.world);
}

static void number(espl_entity entity)
{
    ck_ok(espl_set_component(s.world, entity, s.number, &entity.index, sizeof entity.index));
}

// One less than a chunk, one chunk, and so on to one more than two.
static size_t rows_around(int which)
{
    const size_t rows = test_limits_of_build().rows;
    const size_t counts[] = {rows - 1, rows, rows + 1, 2 * rows, 2 * rows + 1};

    return counts[which];
}

TEST_LOOP(k8_k10_chunks_fill_and_empty_around_their_size, 0, 5 * 3)
{
    const size_t count = rows_around(_i / 3);
    espl_entity *const entities = test_array(count, sizeof *entities);

    for (int is_single = 0; is_single < 2; ++is_single) {
        for (size_t i = 0; i < count && is_single != 0; ++i) {
            ck_ok(create(1, &entities[i]));
        }
        ck_ok(create(is_single != 0 ? 0 : count, entities));
        for (size_t i = 0; i < count; ++i) {
            number(entities[i]);
        }
        rows_are(count);

        // From the front, from the back, and from the middle.
        for (size_t left = count; left > 0; --left) {
            const size_t at = _i % 3 == 0 ? 0 : _i % 3 == 1 ? left - 1 : left / 2;

            ck_ok(espl_destroy(s.world, entities[at], ESPL_EXTENT_OWNED));
            memmove(entities + at, entities + at + 1, (left - 1 - at) * sizeof *entities);
            rows_are(left - 1);
        }
    }
    free(entities);
}

// All rows change their archetype in one playback, and come back one by one.
TEST_LOOP(chunks_are_left_and_entered_around_their_size, 0, 5)
{
    const size_t count = rows_around(_i);
    espl_entity *const entities = test_array(count + 1, sizeof *entities);

    ck_ok(create(count, entities));
    for (size_t i = 0; i < count; ++i) {
        number(entities[i]);
    }
    const espl_entity root = test_solo(s.world);
    espl_command_buffer *const commands = test_commands(s.world, 2);
    for (size_t i = 0; i < count; ++i) {
        ck_ok(espl_record_attach(espl_command_buffer_recorder(commands, 0), 0, entities[i], root,
                                 NULL));
    }
    ck_ok(espl_play(s.world, commands, NULL));
    rows_are(count);
    for (size_t i = 0; i < count; ++i) {
        ck_ok(espl_remove_component(s.world, entities[i], ESPL_TRANSFORM));
        ck_ok(
            espl_add_component(s.world, entities[i], ESPL_TRANSFORM, NULL, sizeof(espl_transform)));
    }
    for (size_t i = 0; i < count; ++i) {
        ck_ok(espl_detach(s.world, entities[i], ESPL_KEEP_WORLD));
    }
    rows_are(count);
    espl_command_buffer_destroy(commands);
    free(entities);
}

// What is clones stands in neighbouring rows, across the edges of chunks.
TEST_LOOP(clones_fill_chunks_around_their_size, 0, 5)
{
    const size_t count = rows_around(_i);
    espl_entity *const clones = test_array(count, sizeof *clones);

    fill(1);
    ck_ok(espl_instantiate(s.world, &(espl_instance_def){.source = s.entities[0]}, count - 1,
                           clones));
    number(s.entities[0]);
    for (size_t i = 0; i + 1 < count; ++i) {
        ck_assert_uint_eq(clones[i].index, i + 1);
        number(clones[i]);
    }
    rows_are(count);
    free(clones);
}
