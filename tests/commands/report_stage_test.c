// SPDX-License-Identifier: MIT
// The report stage by itself: verdicts of all sorts are written to entries, and what becomes of
// them is counted again one by one.
#include "tests/commands/stages.h"
#include "tests/runner.h"

// One in `rarity` is no plain success.
static espl_status draw_verdict(uint64_t *random, uint32_t rarity)
{
    if (!test_one_in(random, rarity)) {
        return ESPL_OK;
    }
    return test_one_in(random, 3)
               ? ESPL_LOSSY
               : (espl_status) - (int)(1 + test_below(random, ESPL_REASON_COUNT - 1));
}

static void account_one_by_one(const espl__playback *playback, espl_report *report)
{
    for (size_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const int reason = -(int)entry->status;

        report->accepted += 1;
        report->applied += reason <= 0;
        report->lossy += entry->status == ESPL_LOSSY;
        if (reason > 0) {
            report->refused += 1;
            if (report->refused_by[reason] == 0) {
                report->first_refused[reason] = (espl_command_place){entry->lane, entry->index};
            }
            report->refused_by[reason] += 1;
        }
    }
}

static void counts_agree(const espl_report *a, const espl_report *b)
{
    ck_assert_uint_eq(a->accepted, b->accepted);
    ck_assert_uint_eq(a->applied, b->applied);
    ck_assert_uint_eq(a->refused, b->refused);
    ck_assert_uint_eq(a->lossy, b->lossy);
    ck_assert_uint_eq(a->accepted, a->applied + a->refused);
    for (size_t i = 0; i < ESPL_REASON_COUNT; ++i) {
        ck_assert_uint_eq(a->refused_by[i], b->refused_by[i]);
        ck_assert_uint_eq(a->first_refused[i].lane, b->first_refused[i].lane);
        ck_assert_uint_eq(a->first_refused[i].index, b->first_refused[i].index);
    }
}

// Every command's answer stands in its lane, whatever its place in the order was.
static void answers_stand_in_lanes(const stage_bed *bed)
{
    for (size_t i = 0; i < bed->playback->entry_count; ++i) {
        const espl__entry *const entry = &bed->playback->entries[i];

        if (bed->lanes[entry->lane].results[entry->index] != entry->status) {
            ck_abort_msg("command %u of lane %u: %d, not %d", entry->index, entry->lane,
                         bed->lanes[entry->lane].results[entry->index], entry->status);
        }
    }
}

static void reports(stage_bed *bed, uint32_t rarity, uint64_t *random)
{
    espl__playback *const playback = bed->playback;
    espl_report expected = {0}, report = {0};

    bed_open(bed);
    ck_assert_int_eq(bed_run_to(bed, espl__stage_order), ESPL_OK);
    for (size_t i = 0; i < playback->entry_count; ++i) {
        playback->entries[i].status = draw_verdict(random, rarity);
    }
    playback->make_count = 3;
    playback->removal_count = 5;
    playback->move_count = 7;
    account_one_by_one(playback, &expected);
    espl__stage_report(playback, &report);
    counts_agree(&report, &expected);
    answers_stand_in_lanes(bed);
    ck_assert_uint_eq(report.created, 3);
    ck_assert_uint_eq(report.destroyed, 5);
    ck_assert_uint_eq(report.row_moves, 7);
    ck_assert_uint_eq(report.groups + report.visited_nodes + report.rebuilt_nodes, 0);
    bed_close(bed);
}

static void record(stage_bed *bed, uint32_t count, uint64_t *random)
{
    bed->actors[0] = test_solo(bed->world);
    for (uint32_t i = 0; i < count; ++i) {
        espl_recorder *const lane =
            espl_commands_recorder(bed->commands, test_below(random, bed->lane_count));

        ck_assert_int_eq(espl_record_destroy(lane, test_below(random, 9), bed->actors[0]), ESPL_OK);
    }
}

START_TEST(verdicts_are_counted_and_the_first_of_each_reason_is_told)
{
    const uint32_t counts[] = {
        0, 1, 10, 4095, 4096, 8191, 8192, 12288, (uint32_t)test_scaled(200000)};
    const uint32_t rarities[] = {1, 2, 50, 100000};
    static stage_bed bed;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        uint64_t random = i;

        bed_begin(&bed, 3);
        record(&bed, counts[i], &random);
        for (size_t k = 0; k < 4 * STAGE_WORKERS; ++k) {
            bed_run_on(&bed, stage_workers[k / 4], TEST_SHUFFLED);
            reports(&bed, rarities[k % 4], &random);
        }
        bed_end(&bed);
    }
}
END_TEST

// The world has changed by then, so that nothing may be lost.
START_TEST(jobs_that_an_executor_left_out_are_made_up_for)
{
    const test_manner manners[] = {TEST_SKIPS_ONE, TEST_RUNS_TWICE, TEST_OUT_OF_RANGE};
    static stage_bed bed;
    uint64_t random = 3;

    bed_begin(&bed, 4);
    record(&bed, 10000, &random);
    for (int i = 0; i < 3; ++i) {
        espl__playback *const playback = bed.playback;
        espl_report expected = {0}, report = {0};

        bed_open(&bed);
        ck_assert_int_eq(bed_run_to(&bed, espl__stage_order), ESPL_OK);
        for (size_t k = 0; k < playback->entry_count; ++k) {
            playback->entries[k].status = draw_verdict(&random, 4);
        }
        account_one_by_one(playback, &expected);
        bed.test.hooks.traps = 0;
        bed_run_on(&bed, 4, manners[i]);
        espl__stage_report(playback, &report);
        ck_assert_uint_eq(bed.test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
        counts_agree(&report, &expected);
        answers_stand_in_lanes(&bed);
        bed_close(&bed);
    }
    bed_end(&bed);
}
END_TEST

START_TEST(it_takes_no_memory)
{
    static stage_bed bed;
    uint64_t random = 3;

    bed_begin(&bed, 4);
    record(&bed, 10000, &random);
    bed_run_on(&bed, 4, TEST_REVERSED);
    bed_open(&bed);
    ck_assert_int_eq(bed_run_to(&bed, espl__stage_order), ESPL_OK);
    for (size_t k = 0; k < bed.playback->entry_count; ++k) {
        bed.playback->entries[k].status = draw_verdict(&random, 4);
    }
    espl_report report = {0};
    test_heap_arm(&bed.test.heap, 1, true);
    espl__stage_report(bed.playback, &report);
    ck_assert_uint_eq(bed.test.heap.calls, 0);
    test_heap_arm(&bed.test.heap, 0, false);
    ck_assert_uint_eq(report.accepted, 10000);
    bed_close(&bed);
    bed_end(&bed);
}
END_TEST

static Suite *report_stage_suite(void)
{
    Suite *const suite = suite_create("report_stage");
    TCase *const tests = tcase_create("report");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, verdicts_are_counted_and_the_first_of_each_reason_is_told);
    tcase_add_test(tests, jobs_that_an_executor_left_out_are_made_up_for);
    tcase_add_test(tests, it_takes_no_memory);
    suite_add_tcase(suite, tests);
    return suite;
}

RUN_SUITE(report_stage_suite)
