// SPDX-License-Identifier: MIT
// Single stages of playback, called on lanes that were made by recording; nothing is carried out.
#ifndef ESPALIER_TESTS_COMMANDS_STAGES_H
#define ESPALIER_TESTS_COMMANDS_STAGES_H

#include "tests/commands/shadows.h"

#include <stdlib.h>

enum { STAGE_LANES = ESPL_LANE_LIMIT, STAGE_ACTORS = 48, STAGE_PENDINGS = 512 };

/// A world, and commands about some of its entities, recorded and not played.
typedef struct stage_bed {
    test_world test;
    espl_world *world;
    espl__playback *playback; // the world's
    espl_commands *commands;
    uint32_t lane_count;
    espl__lane_view lanes[STAGE_LANES];
    espl_status *results; // [commands in all lanes] room for what the report stage answers
    espl_entity actors[STAGE_ACTORS]; // living, dead, and one of another world
    uint32_t actor_count;
    espl_entity pendings[STAGE_PENDINGS];
    uint32_t pending_count;
    test_executor hostile;
    espl_executor executor;
} stage_bed;

static inline void bed_begin(stage_bed *bed, uint32_t lane_count)
{
    memset(bed, 0, sizeof *bed);
    test_world_begin(&bed->test, 5, NULL);
    bed->world = bed->test.world;
    bed->playback = &bed->world->playback;
    bed->lane_count = lane_count;
    ck_assert_int_eq(espl_commands_create(bed->world, lane_count, &bed->commands), ESPL_OK);
}

static inline void bed_end(stage_bed *bed)
{
    free(bed->results);
    espl_commands_destroy(bed->commands);
    test_world_end(&bed->test);
}

/// Let stages run on an executor that deals jobs out in some order; at most one worker is serial.
static inline void bed_run_on(stage_bed *bed, uint32_t workers, test_manner manner)
{
    bed->hostile = (test_executor){.manner = manner, .workers = workers, .random = workers};
    bed->executor = test_executor_of(&bed->hostile);
    bed->playback->executor = &bed->executor;
}

static const uint32_t stage_workers[] = {1, 2, 3, 7, 16, 64};

enum { STAGE_WORKERS = sizeof stage_workers / sizeof *stage_workers };

// --- Playback by hand ---

/// What espl__playback_run() does before the first stage.
static inline void bed_open(stage_bed *bed)
{
    espl__playback *const playback = bed->playback;
    size_t count = 0;

    free(bed->results);
    bed->results = calloc(espl_commands_count(bed->commands) + 1, sizeof *bed->results);
    ck_assert_ptr_nonnull(bed->results);
    for (uint32_t i = 0; i < bed->lane_count; ++i) {
        const espl__lane *const lane = &bed->commands->recorders[i].lane;

        bed->lanes[i] = (espl__lane_view){.commands = lane->commands,
                                          .results = bed->results + count,
                                          .count = espl__array_length(lane->commands),
                                          .pending_count = lane->pending_count};
        count += bed->lanes[i].count;
    }
    playback->lanes = bed->lanes;
    playback->lane_count = bed->lane_count;
    playback->tag = bed->commands->tag;
    playback->touched_count = playback->group_count = playback->plot_count = 0;
    playback->make_count = playback->move_count = playback->removal_count = 0;
}

/// What it does behind the last one.
static inline void bed_close(stage_bed *bed)
{
    espl__playback *const playback = bed->playback;

    for (size_t i = 0; i < playback->touched_count; ++i) {
        playback->run_marks[playback->touched[i].run] = 0;
    }
    playback->touched_count = playback->group_count = 0;
    espl__arena_reset(&playback->arena);
    playback->executor = &bed->world->executor;
}

/// Run the first stages up to one. Open and close around it.
static inline espl_status bed_run_to(stage_bed *bed, espl_status (*last)(espl__playback *))
{
    espl_status (*const stages[])(espl__playback *) = {espl__stage_order, espl__stage_classify,
                                                       espl__stage_group};
    espl_status status = ESPL_OK;

    for (size_t i = 0; status == ESPL_OK; ++i) {
        status = stages[i](bed->playback);
        if (stages[i] == last) {
            break;
        }
    }
    return status;
}

/// Let the n-th allocation of the stages up to one fail, for every n there is: each failure is
/// answered and leaves the world what it was, and the run after the last one is let through.
static inline void bed_fails_at_every_allocation(stage_bed *bed,
                                                 espl_status (*last)(espl__playback *))
{
    const uint64_t hash = test_physical_hash(bed->world);
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t failures = 0;

    for (size_t n = 1; status == ESPL_ERR_NO_MEMORY; ++n) {
        espl__playback_trim(bed->playback);
        bed_open(bed);
        test_heap_arm(&bed->test.heap, n, n % 2 == 0);
        status = bed_run_to(bed, last);
        failures += bed->test.heap.failures > 0;
        ck_assert_int_eq(status, bed->test.heap.failures > 0 ? ESPL_ERR_NO_MEMORY : ESPL_OK);
        test_heap_arm(&bed->test.heap, 0, false);
        bed_close(bed);
        ck_assert_uint_eq(test_physical_hash(bed->world), hash);
    }
    ck_assert_int_eq(status, ESPL_OK);
    ck_assert_uint_ge(failures, 1);
}

/// An executor that leaves a job out, of the first call or of a later one: the stage says so, and
/// nothing is changed.
static inline void bed_is_refused_by_a_lazy_executor(stage_bed *bed,
                                                     espl_status (*last)(espl__playback *))
{
    const uint64_t hash = test_physical_hash(bed->world);
    espl_status status = ESPL_ERR_EXECUTOR;

    for (size_t decency = 0; status == ESPL_ERR_EXECUTOR; ++decency) {
        bed->test.hooks.traps = 0;
        bed_run_on(bed, 2, TEST_SKIPS_ONE);
        bed->hostile.decency = decency;
        bed_open(bed);
        status = bed_run_to(bed, last);
        bed_close(bed);
        ck_assert(status == ESPL_ERR_EXECUTOR || (status == ESPL_OK && decency > 0));
        ck_assert_uint_eq(bed->test.hooks.traps,
                          status == ESPL_ERR_EXECUTOR && ESPL_CHECKS >= 1 ? 1 : 0);
        ck_assert_uint_eq(test_physical_hash(bed->world), hash);
    }
}

// --- Random commands ---

/// Plant hierarchies and destroy some of them: what is left has ghosts here and there.
static inline void bed_plant(stage_bed *bed, uint64_t *random)
{
    const uint32_t living = STAGE_ACTORS - 1;
    test_world other;

    plant(bed->world, random, bed->actors, living, true);
    for (uint32_t i = 0; i < living / 6; ++i) {
        const espl_entity doomed = bed->actors[test_below(random, living)];

        if (espl_is_alive(bed->world, doomed)) {
            ck_assert_int_eq(espl_destroy_only(bed->world, doomed), ESPL_OK);
        }
    }
    test_world_begin(&other, 9, NULL);
    bed->actors[living] = test_solo(other.world);
    bed->actor_count = STAGE_ACTORS;
    test_world_end(&other);
}

static inline espl_entity bed_pick(const stage_bed *bed, uint64_t *random)
{
    const uint32_t choice = test_below(random, 20);

    if (choice == 0) {
        // Of a lane that never gave out so many.
        return espl__pending_handle(bed->commands->tag, test_below(random, bed->lane_count),
                                    1u << 30);
    }
    return choice < 5 && bed->pending_count > 0
               ? bed->pendings[test_below(random, bed->pending_count)]
               : bed->actors[test_below(random, bed->actor_count)];
}

static inline espl_status bed_record_instance(stage_bed *bed, uint64_t *random, espl_recorder *lane,
                                              uint32_t key)
{
    const size_t count = 1 + test_below(random, 3);
    const bool has_parent = !test_one_in(random, 3);
    const espl_instance_def def = {
        .source = bed_pick(bed, random),
        .parent = has_parent ? bed_pick(bed, random) : espl_entity_null(),
        .before =
            has_parent && test_one_in(random, 4) ? bed_pick(bed, random) : espl_entity_null()};

    if (bed->pending_count + count > STAGE_PENDINGS) {
        return espl_record_instantiate(lane, key, &def, count, NULL);
    }
    espl_entity *const made = bed->pendings + bed->pending_count;
    const espl_status status = espl_record_instantiate(lane, key, &def, count, made);

    bed->pending_count += status == ESPL_OK ? (uint32_t)count : 0;
    return status;
}

/// Record one command of any kind in a random lane.
static inline void bed_record_one(stage_bed *bed, uint64_t *random, uint32_t keys)
{
    espl_recorder *const lane =
        espl_commands_recorder(bed->commands, test_below(random, bed->lane_count));
    const uint32_t key = test_below(random, keys);
    const espl_entity target = bed_pick(bed, random), other = bed_pick(bed, random);
    const espl_transform value = test_at(1, 2, 3);
    const espl_attach_options options = {.before = test_one_in(random, 3) ? bed_pick(bed, random)
                                                                          : espl_entity_null()};
    espl_status status = ESPL_OK;

    switch (test_below(random, 7)) {
    case 0:
        status = espl_record_destroy(lane, key, target);
        break;
    case 1:
        status = espl_record_attach(lane, key, target, other, &options);
        break;
    case 2:
        status = espl_record_detach(lane, key, target, ESPL_STAY_WORLD);
        break;
    case 3:
        status = espl_record_set_sibling(lane, key, target, options.before);
        break;
    case 4:
        status = espl_record_set_local(lane, key, target, &value);
        break;
    default:
        status = bed_record_instance(bed, random, lane, key);
        break;
    }
    ck_assert_int_eq(status, ESPL_OK);
}

/// Fail unless a stage that allocates and runs jobs answers for both, over random commands.
static inline void bed_answers_failures(uint32_t commands, espl_status (*last)(espl__playback *))
{
    static stage_bed bed;
    uint64_t random = 8;

    bed_begin(&bed, 3);
    bed_plant(&bed, &random);
    for (uint32_t i = 0; i < commands; ++i) {
        bed_record_one(&bed, &random, 1);
    }
    bed_fails_at_every_allocation(&bed, last);
    bed_is_refused_by_a_lazy_executor(&bed, last);
    bed_end(&bed);
}

#endif
