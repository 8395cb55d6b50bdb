// SPDX-License-Identifier: MIT
// The order stage by itself, against qsort by key, lane and index.
#include "tests/inside.h"
#include "tests/commands/stages.h"
#include "tests/runner.h"

typedef struct place {
    uint32_t key, lane, index;
} place;

enum { KEY_KINDS = 11 };

// Keys that need no sort, and keys that differ in one byte, in some, in all.
static uint32_t key_of(int kind, uint64_t *random, uint32_t number, uint32_t lane)
{
    const uint32_t any = (uint32_t)test_random(random);
    const uint32_t keys[KEY_KINDS] = {77,
                                      number,
                                      lane,
                                      UINT32_MAX - number,
                                      any % 3,
                                      any % 65536,
                                      any & 0xff00ff00,
                                      any & 0x80402010,
                                      any,
                                      lane % 2 == 0 ? UINT32_MAX : 0,
                                      number == 5 ? 0 : UINT32_MAX};

    return keys[kind];
}

static int compare(const void *a, const void *b)
{
    const place *const x = a, *const y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

// Record `count` commands, most of them in few lanes, and list them as they should come.
static place *record(stage_bed *bed, int kind, uint32_t count, uint64_t *random)
{
    place *const places = malloc((count + 1) * sizeof *places);
    uint32_t at = 0;

    ck_assert_ptr_nonnull(places);
    espl_commands_reset(bed->commands);
    for (uint32_t lane = 0; lane < bed->lane_count; ++lane) {
        const uint32_t left = count - at;
        const bool is_last = lane + 1 == bed->lane_count;
        const uint32_t here = is_last                      ? left
                              : test_one_in(random, 4)     ? 0
                              : bed->lane_count - lane > 3 ? left / 2
                                                           : left / 3;

        for (uint32_t i = 0; i < here; ++i) {
            places[at] = (place){key_of(kind, random, at, lane), lane, i};
            ck_assert_int_eq(espl_record_destroy(espl_commands_recorder(bed->commands, lane),
                                                 places[at].key, bed->actors[0]),
                             ESPL_OK);
            at += 1;
        }
    }
    ck_assert_uint_eq(at, count);
    qsort(places, count, sizeof *places, compare);
    return places;
}

static void entries_are(const stage_bed *bed, const place *places, uint32_t count)
{
    const espl__playback *const playback = bed->playback;

    ck_assert_uint_eq(playback->entry_count, count);
    for (uint32_t i = 0; i < count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const espl__lane_view *const lane = &playback->lanes[places[i].lane];

        if (entry->lane != places[i].lane || entry->index != places[i].index) {
            ck_abort_msg("entry %u is %u of lane %u, not %u of lane %u", i, entry->index,
                         entry->lane, places[i].index, places[i].lane);
        }
        if (entry->command != &lane->commands[entry->index] || entry->clone_count != 0 ||
            entry->clone_bound != 0 || entry->is_out_of_range) {
            ck_abort_msg("entry %u is not as good as new", i);
        }
    }
}

static void orders_alike_for_all_workers(stage_bed *bed, const place *places, uint32_t count)
{
    for (int i = 0; i < STAGE_WORKERS; ++i) {
        bed_run_on(bed, stage_workers[i], i % 2 == 0 ? TEST_REVERSED : TEST_SHUFFLED);
        bed_open(bed);
        ck_assert_int_eq(bed_run_to(bed, espl__stage_order), ESPL_OK);
        entries_are(bed, places, count);
        bed_close(bed);
    }
}

static void orders_like_qsort(uint32_t lane_count, const uint32_t *counts, size_t count)
{
    static stage_bed bed;
    uint64_t random = lane_count;

    bed_begin(&bed, lane_count);
    bed.actors[0] = test_solo(bed.world);
    for (size_t i = 0; i < count * KEY_KINDS; ++i) {
        place *const places = record(&bed, (int)(i % KEY_KINDS), counts[i / KEY_KINDS], &random);

        orders_alike_for_all_workers(&bed, places, counts[i / KEY_KINDS]);
        free(places);
    }
    bed_end(&bed);
}

START_TEST(few_commands_come_by_key_lane_and_index)
{
    const uint32_t counts[] = {0, 1, 2, 3, 7, 100};
    const uint32_t lanes[] = {1, 2, 3, 5, 64, ESPL_LANE_LIMIT};

    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; ++i) {
        orders_like_qsort(lanes[i], counts, sizeof counts / sizeof *counts);
    }
}
END_TEST

START_TEST(many_commands_come_by_key_lane_and_index)
{
    // Around the sizes at which listing and sorting are cut.
    const uint32_t counts[] = {2047, 8191, 8192, 8193, (uint32_t)test_scaled(50000)};
    const uint32_t lanes[] = {7, ESPL_LANE_LIMIT};

    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; ++i) {
        orders_like_qsort(lanes[i], counts, sizeof counts / sizeof *counts);
    }
}
END_TEST

START_TEST(as_many_blocks_as_there_may_be_give_the_same_order)
{
    const uint32_t count = (uint32_t)test_scaled(64 * 8192 + 4097);
    static stage_bed bed;
    uint64_t random = 4;

    bed_begin(&bed, 3);
    bed.actors[0] = test_solo(bed.world);
    place *const places = record(&bed, 8, count, &random);
    bed_run_on(&bed, 7, TEST_SHUFFLED);
    bed_open(&bed);
    ck_assert_int_eq(bed_run_to(&bed, espl__stage_order), ESPL_OK);
    entries_are(&bed, places, count);
    bed_close(&bed);
    free(places);
    bed_end(&bed);
}
END_TEST

START_TEST(lanes_know_where_theirs_begin)
{
    static stage_bed bed;
    uint64_t random = 2;

    bed_begin(&bed, 5);
    bed_plant(&bed, &random);
    for (uint32_t i = 0; i < 200; ++i) {
        bed_record_one(&bed, &random, 3);
    }
    bed_open(&bed);
    ck_assert_int_eq(bed_run_to(&bed, espl__stage_order), ESPL_OK);
    uint32_t commands = 0, pendings = 0;
    for (uint32_t i = 0; i < 5; ++i) {
        ck_assert_uint_eq(bed.lanes[i].command_base, commands);
        ck_assert_uint_eq(bed.lanes[i].pending_base, pendings);
        commands += (uint32_t)bed.lanes[i].count;
        pendings += bed.lanes[i].pending_count;
    }
    ck_assert_uint_eq(bed.playback->entry_count, commands);
    ck_assert_uint_eq(bed.playback->pending_count, pendings);
    bed_close(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(more_commands_or_pendings_than_numbers_are_refused)
{
    static stage_bed bed;

    bed_begin(&bed, 2);
    bed_open(&bed);
    bed.lanes[1].pending_count = UINT32_MAX / 2;
    ck_assert_int_eq(espl__stage_order(bed.playback), ESPL_ERR_LIMIT);
    bed.lanes[1].pending_count = 0;
    bed.lanes[0].count = UINT32_MAX / 8;
    ck_assert_int_eq(espl__stage_order(bed.playback), ESPL_ERR_LIMIT);
    bed_close(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(failures_are_answered)
{
    const uint32_t count = test_moves_always() ? 9000 : 20000;
    static stage_bed bed;
    uint64_t random = 1;

    bed_begin(&bed, 4);
    bed.actors[0] = test_solo(bed.world);
    for (int kind = 0; kind < KEY_KINDS; ++kind) {
        free(record(&bed, kind, count, &random));
        bed_fails_at_every_allocation(&bed, espl__stage_order);
        bed.test.hooks.traps = 0;
        bed_is_refused_by_a_lazy_executor(&bed, espl__stage_order);
    }
    bed_end(&bed);
}
END_TEST

// Pieces of scratch in turn are the one that there is no room for; nothing is played in any order.
START_TEST(without_scratch_to_sort_in_nothing_is_played)
{
    static stage_bed bed;
    espl_status status = ESPL_ERR_NO_MEMORY;
    espl_transform local;
    size_t refused = 0;

    bed_begin(&bed, 1);
    const espl_entity solo = test_solo(bed.world);
    espl_recorder *const lane = espl_commands_recorder(bed.commands, 0);

    for (uint32_t i = 0; i < 40; ++i) {
        const espl_transform value = test_at((float)i + 1, 0, 0);

        ck_assert_int_eq(espl_record_set_local(lane, 50 - i, solo, &value), ESPL_OK);
    }
    const uint64_t hash = test_physical_hash(bed.world);

    for (size_t room = 0; status == ESPL_ERR_NO_MEMORY; room += TEST_SCRATCH_STEP) {
        status = test_play_in(bed.world, bed.commands, room, NULL);
        ck_assert_int_eq(test_physical_hash(bed.world) == hash, status != ESPL_OK);
        refused += status != ESPL_OK;
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_gt(refused, 40);
    ck_assert_int_eq(espl_get_local(bed.world, solo, &local), ESPL_OK);
    ck_assert(local.position[0] == 1);
    bed_end(&bed);
}
END_TEST

static Suite *order_stage_suite(void)
{
    Suite *const suite = suite_create("order_stage");
    TCase *const tests = tcase_create("order");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, few_commands_come_by_key_lane_and_index);
    tcase_add_test(tests, many_commands_come_by_key_lane_and_index);
    tcase_add_test(tests, as_many_blocks_as_there_may_be_give_the_same_order);
    tcase_add_test(tests, lanes_know_where_theirs_begin);
    tcase_add_test(tests, more_commands_or_pendings_than_numbers_are_refused);
    tcase_add_test(tests, failures_are_answered);
    tcase_add_test(tests, without_scratch_to_sort_in_nothing_is_played);
    suite_add_tcase(suite, tests);
    return suite;
}

RUN_SUITE(order_stage_suite)
