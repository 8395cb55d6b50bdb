// SPDX-License-Identifier: MIT
// The group stage by itself, against labels that spread over commands and runs until none changes;
// and the same numbers for any number of workers.
#include "tests/commands/stages.h"
#include "tests/runner.h"

enum { COMMANDS = 4000 };

// --- Naive groups ---

// Labels of commands, then of runs by number. The smallest spreads.
typedef struct labels {
    const stage_bed *bed;
    uint32_t *of;                           // [commands + runs]
    uint32_t *touched;                      // [touched_count] runs in the order they are touched
    uint32_t commands, runs, touched_count; // runs there are
    bool has_changed;
} labels;

static bool is_touched(const labels *l, uint32_t run)
{
    for (uint32_t i = 0; i < l->touched_count; ++i) {
        if (l->touched[i] == run) {
            return true;
        }
    }
    return false;
}

static void touch(labels *l, uint32_t run)
{
    if (run != ESPL__NO_RUN && !is_touched(l, run)) {
        l->touched[l->touched_count++] = run;
    }
}

static uint32_t run_of(const labels *l, const espl__operand *operand)
{
    return espl__operand_is_living(operand) ? l->bed->world->forest.run[operand->number]
                                            : ESPL__NO_RUN;
}

static bool clones(const espl__entry *entry)
{
    return entry->command->kind == ESPL__COMMAND_INSTANTIATE;
}

static void touch_all(labels *l)
{
    const espl__playback *const playback = l->bed->playback;
    const espl__forest *const forest = &l->bed->world->forest;

    for (uint32_t i = 0; i < l->commands; ++i) {
        const espl__entry *const entry = &playback->entries[i];

        touch(l, clones(entry) ? ESPL__NO_RUN : run_of(l, &entry->target));
        touch(l, run_of(l, &entry->parent));
        touch(l, run_of(l, &entry->before));
    }
    for (uint32_t run = forest->unsettled; run != ESPL__NO_RUN; run = forest->runs[run].next) {
        touch(l, run);
    }
    for (uint32_t i = 0; i < l->commands; ++i) {
        const espl__entry *const entry = &playback->entries[i];
        const uint32_t run = clones(entry) ? run_of(l, &entry->target) : ESPL__NO_RUN;

        if (run != ESPL__NO_RUN && forest->runs[run].ghosts > 0) {
            touch(l, run);
        }
    }
}

static void level(labels *l, uint32_t a, uint32_t b)
{
    const uint32_t least = l->of[a] < l->of[b] ? l->of[a] : l->of[b];

    l->has_changed |= l->of[a] != l->of[b];
    l->of[a] = l->of[b] = least;
}

static void spread(labels *l, uint32_t number, const espl__operand *operand)
{
    const uint32_t run = run_of(l, operand);

    if (run != ESPL__NO_RUN && is_touched(l, run)) {
        level(l, number, l->commands + run);
    } else if (espl__operand_is_pending(operand)) {
        level(l, number, l->bed->playback->pending_entries[operand->number]);
    }
}

static void label_all(labels *l)
{
    const espl__playback *const playback = l->bed->playback;

    touch_all(l);
    for (uint32_t i = 0; i < l->commands + l->runs; ++i) {
        l->of[i] = i;
    }
    do {
        l->has_changed = false;
        for (uint32_t i = 0; i < l->commands; ++i) {
            spread(l, i, &playback->entries[i].target);
            spread(l, i, &playback->entries[i].parent);
            spread(l, i, &playback->entries[i].before);
        }
    } while (l->has_changed);
}

// --- Comparing ---

// Groups count up with their first command, then with the runs that no command names; each has its
// commands and runs in order.
static void groups_are(const labels *l)
{
    const espl__playback *const playback = l->bed->playback;
    uint32_t *const number = calloc(l->commands + l->runs + 1, sizeof *number);
    uint32_t count = 0, entries = 0, runs = 0;

    for (uint32_t i = 0; i < l->commands; ++i) {
        number[i] = l->of[i] == i ? count++ : number[l->of[i]];
        ck_assert_uint_eq(playback->entries[i].group, number[i]);
    }
    for (uint32_t i = 0; i < l->touched_count; ++i) {
        const uint32_t at = l->commands + l->touched[i];

        number[at] = l->of[at] == at ? count++ : number[l->of[at]];
        ck_assert_uint_eq(playback->touched[i].run, l->touched[i]);
        ck_assert_uint_eq(playback->touched[i].group, number[at]);
    }
    ck_assert_uint_eq(playback->group_count, count);
    for (uint32_t g = 0; g < count; ++g) {
        const espl__group *const group = &playback->groups[g];

        ck_assert_uint_eq(group->entry_begin, entries);
        for (uint32_t i = 0; i < l->commands; ++i) {
            if (number[i] == g) {
                ck_assert_uint_eq(playback->grouped_entries[entries++], i);
            }
        }
        ck_assert_uint_eq(group->entry_end, entries);
        ck_assert_uint_eq(group->run_begin, runs);
        for (uint32_t i = 0; i < l->touched_count; ++i) {
            if (number[l->commands + l->touched[i]] == g) {
                ck_assert_uint_eq(playback->grouped_runs[runs++], i);
            }
        }
        ck_assert_uint_eq(group->run_end, runs);
        ck_assert(group->work->status == ESPL_OK && group->work->sets.set_count == 0 &&
                  group->clones == 0);
        ck_assert_ptr_null(group->work->sketch.known.items);
    }
    free(number);
}

static void marks_are(const labels *l)
{
    const espl__playback *const playback = l->bed->playback;
    size_t marked = 0;

    for (size_t i = 0; i < espl__array_length(playback->run_marks); ++i) {
        marked += playback->run_marks[i] != 0;
    }
    ck_assert_uint_eq(marked, l->touched_count);
    for (uint32_t i = 0; i < l->touched_count; ++i) {
        ck_assert_uint_eq(playback->run_marks[l->touched[i]], i + 1);
    }
}

static void agrees_with_labels(const stage_bed *bed)
{
    labels l = {.bed = bed,
                .commands = (uint32_t)bed->playback->entry_count,
                .runs = bed->world->forest.run_end};

    l.of = calloc(l.commands + l.runs + 1, sizeof *l.of);
    l.touched = calloc(l.runs + 1, sizeof *l.touched);
    ck_assert(l.of != NULL && l.touched != NULL);
    label_all(&l);
    ck_assert_uint_eq(bed->playback->touched_count, l.touched_count);
    groups_are(&l);
    marks_are(&l);
    free(l.of);
    free(l.touched);
}

// --- Tests ---

START_TEST(groups_agree_with_labels_that_spread)
{
    static stage_bed bed;

    for (uint64_t seed = 1; seed <= test_scaled(150) + 10; ++seed) {
        uint64_t random = seed;

        bed_begin(&bed, 1 + (uint32_t)seed % 4);
        bed_plant(&bed, &random);
        // Few commands leave many groups, many leave few.
        const uint32_t count = test_below(&random, seed % 10 == 0 ? 300 : 25);
        for (uint32_t i = 0; i < count; ++i) {
            bed_record_one(&bed, &random, seed % 3 == 0 ? 1 : 9);
        }
        for (int i = 0; i < STAGE_WORKERS; ++i) {
            bed_run_on(&bed, stage_workers[i], TEST_SHUFFLED);
            bed_open(&bed);
            ck_assert_int_eq(bed_run_to(&bed, espl__stage_group), ESPL_OK);
            agrees_with_labels(&bed);
            bed_close(&bed);
        }
        bed_end(&bed);
    }
}
END_TEST

static uint64_t hash_of_groups(const espl__playback *playback)
{
    uint64_t hash = TEST_HASH_START;

    for (size_t i = 0; i < playback->entry_count; ++i) {
        hash = test_hash_bytes(hash, &playback->entries[i].group, sizeof(uint32_t));
    }
    hash =
        test_hash_bytes(hash, playback->grouped_entries, playback->entry_count * sizeof(uint32_t));
    hash =
        test_hash_bytes(hash, playback->grouped_runs, playback->touched_count * sizeof(uint32_t));
    for (size_t i = 0; i < playback->group_count; ++i) {
        const espl__group *const group = &playback->groups[i];

        hash = test_hash_bytes(hash, &group->entry_end, sizeof group->entry_end);
        hash = test_hash_bytes(hash, &group->run_end, sizeof group->run_end);
    }
    for (size_t i = 0; i < playback->touched_count; ++i) {
        const espl__touched_run *const touched = &playback->touched[i];

        hash = test_hash_bytes(hash, &touched->run, sizeof touched->run);
        hash = test_hash_bytes(hash, &touched->group, sizeof touched->group);
    }
    return hash;
}

// Solos: half of the commands are about one, some attach one to another.
static void record_many(stage_bed *bed, uint32_t solos, uint32_t links, uint64_t *random)
{
    espl_entity *const entities = malloc(solos * sizeof *entities);

    ck_assert_ptr_nonnull(entities);
    for (uint32_t i = 0; i < solos; ++i) {
        entities[i] = test_solo(bed->world);
    }
    for (uint32_t i = 0; i < COMMANDS; ++i) {
        espl_recorder *const lane = espl_commands_recorder(bed->commands, i % bed->lane_count);
        const espl_entity one = entities[test_below(random, solos)];
        const espl_entity other = entities[test_below(random, solos)];

        ck_assert_int_eq(test_below(random, COMMANDS) < links
                             ? espl_record_attach(lane, 0, one, other, NULL)
                             : espl_record_detach(lane, 0, one, ESPL_STAY_WORLD),
                         ESPL_OK);
    }
    free(entities);
}

START_TEST(any_number_of_workers_gives_the_same_numbers)
{
    const uint32_t links[] = {0, 10, COMMANDS / 4, COMMANDS};
    static stage_bed bed;

    for (int k = 0; k < 4; ++k) {
        uint64_t random = 5, hash = 0;

        bed_begin(&bed, 3);
        record_many(&bed, test_fitting(2000, 0), links[k], &random);
        for (int i = 0; i < STAGE_WORKERS; ++i) {
            bed_run_on(&bed, stage_workers[i], TEST_REVERSED);
            bed_open(&bed);
            ck_assert_int_eq(bed_run_to(&bed, espl__stage_group), ESPL_OK);
            ck_assert(i == 0 || hash == hash_of_groups(bed.playback));
            hash = hash_of_groups(bed.playback);
            bed_close(&bed);
        }
        bed_end(&bed);
    }
}
END_TEST

START_TEST(instances_of_one_prefab_stay_apart_until_somebody_writes_to_it)
{
    static stage_bed bed;

    bed_begin(&bed, 1);
    espl_recorder *const lane = espl_commands_recorder(bed.commands, 0);
    const espl_entity prefab = test_solo(bed.world);
    for (int i = 0; i < 10; ++i) {
        const espl_instance_def def = {.source = prefab,
                                       .parent = i < 5 ? test_solo(bed.world) : espl_entity_null()};

        ck_assert_int_eq(espl_record_instantiate(lane, 0, &def, 1, NULL), ESPL_OK);
    }
    bed_open(&bed);
    ck_assert_int_eq(bed_run_to(&bed, espl__stage_group), ESPL_OK);
    ck_assert_uint_eq(bed.playback->group_count, 10);
    ck_assert_uint_eq(bed.playback->touched_count, 5);
    bed_close(&bed);

    ck_assert_int_eq(espl_record_destroy(lane, 0, prefab), ESPL_OK);
    bed_open(&bed);
    ck_assert_int_eq(bed_run_to(&bed, espl__stage_group), ESPL_OK);
    ck_assert_uint_eq(bed.playback->group_count, 1);
    ck_assert_uint_eq(bed.playback->touched_count, 6);
    bed_close(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(failures_are_answered)
{
    bed_answers_failures(COMMANDS, espl__stage_group);
}
END_TEST

// Orders and classifies, then groups on an executor that leaves a job out.
START_TEST(grouping_too_notes_jobs_left_out)
{
    static stage_bed bed;
    uint64_t random = 8;

    bed_begin(&bed, 3);
    record_many(&bed, test_fitting(2000, 1), 5, &random);
    record_many(&bed, 1, 0, &random);
    bed_open(&bed);
    ck_assert_int_eq(bed_run_to(&bed, espl__stage_classify), ESPL_OK);
    bed_run_on(&bed, 2, TEST_SKIPS_ONE);
    ck_assert_int_eq(espl__stage_group(bed.playback), ESPL_ERR_EXECUTOR);
    ck_assert_uint_eq(bed.test.hooks.traps, ESPL_CHECKS >= 1 ? 1 : 0);
    bed_close(&bed);
    bed_end(&bed);
}
END_TEST

static Suite *group_stage_suite(void)
{
    Suite *const suite = suite_create("group_stage");
    TCase *const tests = tcase_create("group");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, groups_agree_with_labels_that_spread);
    tcase_add_test(tests, any_number_of_workers_gives_the_same_numbers);
    tcase_add_test(tests, instances_of_one_prefab_stay_apart_until_somebody_writes_to_it);
    tcase_add_test(tests, failures_are_answered);
    tcase_add_test(tests, grouping_too_notes_jobs_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}

RUN_SUITE(group_stage_suite)
