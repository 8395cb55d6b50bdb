// SPDX-License-Identifier: MIT
// The classify stage by itself: every answer is looked up again in the slowest way.
#include "tests/commands/stages.h"
#include "tests/runner.h"

enum { COMMANDS = 3000 };

// --- Naive answers ---

static uint32_t pending_number(const stage_bed *bed, espl_entity pending)
{
    uint32_t number = pending.index;

    for (uint32_t lane = 0; lane < espl__pending_lane(pending); ++lane) {
        number += bed->lanes[lane].pending_count;
    }
    return number;
}

static bool is_handed_out(const stage_bed *bed, espl_entity pending)
{
    return pending.index < bed->lanes[espl__pending_lane(pending)].pending_count;
}

static espl_status status_of(const stage_bed *bed, espl_entity entity)
{
    if (espl_entity_is_null(entity)) {
        return ESPL_ERR_NULL_ENTITY;
    }
    if (espl__is_pending(entity)) {
        return is_handed_out(bed, entity) ? ESPL_OK : ESPL_ERR_FOREIGN;
    }
    return espl__check_living(bed->world, entity);
}

static void operand_is(const stage_bed *bed, const espl__operand *operand, espl_entity entity)
{
    const espl_status status = status_of(bed, entity);

    ck_assert_int_eq(espl__operand_is_known(operand), status == ESPL_OK);
    if (status != ESPL_OK) {
        ck_assert_int_eq(operand->state, status);
    } else if (espl__is_pending(entity)) {
        ck_assert(espl__operand_is_pending(operand));
        ck_assert_uint_eq(operand->number, pending_number(bed, entity));
    } else {
        ck_assert(espl__operand_is_living(operand));
        ck_assert_uint_eq(operand->number, slot_of(bed->world, entity));
    }
}

// Ghosts included: a bound.
static uint32_t below_and_self(const espl__forest *forest, uint32_t top)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < forest->end; ++slot) {
        const bool is_here =
            forest->run[slot] == forest->run[top] &&
            forest->rank[slot] < espl__run_of(forest, slot)->size &&
            forest->order[espl__run_of(forest, slot)->base + forest->rank[slot]] == slot;
        uint32_t at = is_here ? slot : ESPL__NO_SLOT;

        while (at != ESPL__NO_SLOT && at != top) {
            at = espl__parent_slot(forest, at);
        }
        count += at == top;
    }
    return count;
}

static uint32_t run_of(const stage_bed *bed, espl_entity entity)
{
    const bool is_living = !espl__is_pending(entity) && status_of(bed, entity) == ESPL_OK;

    return is_living ? bed->world->forest.run[slot_of(bed->world, entity)] : ESPL__NO_RUN;
}

static bool is_made_later_or_before(const stage_bed *bed, espl_entity entity)
{
    return espl__is_pending(entity) && is_handed_out(bed, entity);
}

static void ties_are(const stage_bed *bed, uint32_t number)
{
    const espl__ties *const ties = &bed->playback->ties;
    const espl__command *const command = bed->playback->entries[number].command;
    const bool clones = command->kind == ESPL__COMMAND_INSTANTIATE;
    const espl_entity named[3] = {command->target, command->parent, command->before};
    uint32_t home = ESPL__NO_RUN;
    bool is_linking = false;

    for (int i = 0; i < 3; ++i) {
        const uint32_t run = clones && i == 0 ? ESPL__NO_RUN : run_of(bed, named[i]);

        home = home == ESPL__NO_RUN ? run : home;
        is_linking |= run != ESPL__NO_RUN && run != home;
        is_linking |= is_made_later_or_before(bed, named[i]);
    }
    ck_assert_uint_eq(ties->homes[number], home);
    ck_assert_int_eq(ties->are_linking[number], is_linking);
    ck_assert_uint_eq(ties->sources[number], clones ? run_of(bed, named[0]) : ESPL__NO_RUN);
}

static void makers_are_right(const stage_bed *bed)
{
    const espl__playback *const playback = bed->playback;
    uint32_t named = 0;

    for (uint32_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        for (uint32_t k = 0; k < entry->command->count; ++k) {
            const espl_entity pending =
                espl__pending_handle(bed->commands->tag, entry->lane, entry->command->pending + k);

            ck_assert_uint_eq(playback->pending_entries[pending_number(bed, pending)], i);
            named += 1;
        }
    }
    ck_assert_uint_eq(named, playback->pending_count);
}

static void entries_are_right(const stage_bed *bed)
{
    const espl__playback *const playback = bed->playback;

    for (uint32_t i = 0; i < playback->entry_count; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const espl__command *const command = entry->command;
        const bool clones = command->kind == ESPL__COMMAND_INSTANTIATE;
        const bool has_source = clones && run_of(bed, command->target) != ESPL__NO_RUN;

        operand_is(bed, &entry->target, command->target);
        operand_is(bed, &entry->parent, command->parent);
        operand_is(bed, &entry->before, command->before);
        ck_assert_uint_eq(
            entry->clone_bound,
            has_source ? below_and_self(&bed->world->forest, slot_of(bed->world, command->target))
                       : 0);
        ties_are(bed, i);
    }
    makers_are_right(bed);
}

// --- Tests ---

START_TEST(every_answer_agrees_with_a_look_up_by_hand)
{
    static stage_bed bed;

    for (uint64_t seed = 1; seed <= test_scaled(20) + 2; ++seed) {
        uint64_t random = seed;

        bed_begin(&bed, 1 + (uint32_t)seed % 5);
        bed_plant(&bed, &random);
        const uint32_t count = seed % 4 == 0 ? COMMANDS : test_below(&random, 60);
        for (uint32_t i = 0; i < count; ++i) {
            bed_record_one(&bed, &random, seed % 3 == 0 ? 1 : 50);
        }
        for (int i = 0; i < STAGE_WORKERS; ++i) {
            bed_run_on(&bed, stage_workers[i], TEST_SHUFFLED);
            bed_open(&bed);
            ck_assert_int_eq(bed_run_to(&bed, espl__stage_classify), ESPL_OK);
            if (i == 0 || count == COMMANDS) {
                entries_are_right(&bed);
            }
            bed_close(&bed);
        }
        bed_end(&bed);
    }
}
END_TEST

START_TEST(failures_are_answered)
{
    bed_answers_failures(COMMANDS, espl__stage_classify);
}
END_TEST

static Suite *classify_stage_suite(void)
{
    Suite *const suite = suite_create("classify_stage");
    TCase *const tests = tcase_create("classify");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_answer_agrees_with_a_look_up_by_hand);
    tcase_add_test(tests, failures_are_answered);
    suite_add_tcase(suite, tests);
    return suite;
}

RUN_SUITE(classify_stage_suite)
