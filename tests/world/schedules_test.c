// SPDX-License-Identifier: MIT
// Controlled schedules: the jobs of every parallel call run on one thread in chosen orders: all
// orders of a call that makes few jobs, random ones with priorities for the others. Each schedule
// gives the same world, bit for bit, and the same account.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/schedule.h"
#include "tests/script.h"
#include "tests/steps.h"
#include "tests/ticks.h"
#include "tests/world/parallel.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Of a scene: random schedules. What is promised of all scenes together.
enum { RANDOM = 12, PROMISED = 1000 };
enum { TAG = 5, SEED = 9, MOVED_TREE = 8 };

// --- A play: a scene, and what is done in it ---

typedef struct play {
    test_world test;
    espl_world *world;
    espl_entity *entities; // [count] of a forest
    uint32_t count;
    uint64_t random;
    script_world actors;
    script *lines; // of a scripted scene
    test_ticks ticks;
} play;

typedef struct scene {
    const char *name;
    uint32_t trees, nodes;         // a forest of so many trees of so many nodes
    uint32_t actors, lines, kinds; // or what a script says
    uint32_t cost;                 // of a job, as test_cut_jobs(); 0: as ever
    uint64_t (*act)(play *p);      // what it came to but for the world
    uint64_t ticks;                // seed of its motion; 0: none
    float cells;                   // their size; 0: none
} scene;

static uint64_t hash_report(espl_report *report)
{
    memset(report->stage_ns, 0, sizeof report->stage_ns);
    return test_hash_bytes(TEST_HASH_START, report, sizeof *report);
}

static espl_entity any_of(play *p)
{
    return p->entities[test_below(&p->random, p->count)];
}

static espl_write any_write(play *p)
{
    const espl_write_kind kind = (espl_write_kind)test_below(&p->random, TEST_KINDS);

    espl_write write = write_ordinary(any_of(p), form_any_flag(kind, &p->random), &p->random);

    place_sometimes(p->world, &write, &p->random);
    return write;
}

static espl_command_buffer *commands_of(play *p, espl_recorder **recorder)
{
    espl_command_buffer *const commands = test_commands(p->world, 1);
    *recorder = espl_command_buffer_recorder(commands, 0);
    return commands;
}

static uint64_t play_all(play *p, espl_command_buffer *commands)
{
    espl_report report;

    const espl_status status = espl_play(p->world, commands, &report);
    // A small world may have no room for all that is made.
    ck_assert(status == ESPL_OK || status == ESPL_ERR_LIMIT);
    espl_command_buffer_destroy(commands);
    return hash_report(&report) ^ (uint64_t)(uint32_t)status;
}

static uint64_t act_script(play *p)
{
    script_recording r;
    espl_report report;

    espl_command_buffer *const commands = test_commands(p->world, 3);
    script_record(&p->actors, &r, commands, 3, p->lines, 8);
    const espl_status status = espl_play(p->world, commands, &report);
    ck_assert(status == ESPL_OK || status == ESPL_ERR_LIMIT);
    const uint64_t parts[3] = {script_results(&r), hash_report(&report), p->actors.heard};
    script_recording_free(&r);
    espl_command_buffer_destroy(commands);
    return test_hash_bytes(TEST_HASH_START, parts, sizeof parts);
}

// From each tree one leaf moves under a node of another, so that none is left alone.
static uint64_t act_moves(play *p)
{
    espl_recorder *recorder = NULL;
    espl_command_buffer *const commands = commands_of(p, &recorder);

    for (uint32_t root = 0; root + MOVED_TREE <= p->count; root += MOVED_TREE) {
        const espl_entity leaf = p->entities[root + MOVED_TREE - 1];
        const uint32_t to = test_below(&p->random, p->count / MOVED_TREE) * MOVED_TREE +
                            test_below(&p->random, MOVED_TREE / 2);

        ck_ok(espl_record_attach(recorder, root, leaf, p->entities[to], &test_keep_local));
    }
    return play_all(p, commands);
}

// Small prefabs come under some, and others go.
static uint64_t act_spawns(play *p)
{
    espl_recorder *recorder = NULL;
    espl_command_buffer *const commands = commands_of(p, &recorder);
    espl_entity made;

    for (uint32_t i = 0; i < p->count / 6; ++i) {
        const espl_instance_def def = {.source = p->entities[p->count - 1],
                                       .parent = any_of(p),
                                       .place = ESPL_PLACE_LOCAL,
                                       .transform = test_at(1, 2, (float)i)};

        ck_ok(espl_record_instantiate(recorder, i, &def, 1, &made));
        ck_ok(espl_record_destroy(recorder, i, any_of(p), ESPL_EXTENT_OWNED));
    }
    return play_all(p, commands);
}

static uint64_t act_recorded_writes(play *p)
{
    espl_recorder *recorder = NULL;
    espl_command_buffer *const commands = commands_of(p, &recorder);

    for (uint32_t i = 0; i < p->count; ++i) {
        const espl_write write = any_write(p);

        // One with both flags is not recorded.
        (void)!espl_record_write(recorder, i, write.entity, write.kind, &write.value);
    }
    return play_all(p, commands);
}

static uint64_t act_batch(play *p)
{
    espl_write *const writes = test_array(p->count + 1, sizeof *writes);
    espl_write_report report = {0};

    for (uint32_t i = 0; i < p->count; ++i) {
        writes[i] = any_write(p);
    }
    const espl_status status = espl_write_batch(p->world, writes, p->count, &report);
    ck_assert_int_ge(status, 0);
    free(writes);
    return test_hash_bytes((uint64_t)status, &report.applied, sizeof report.applied);
}

// What hangs below a root and below those next to it follows.
static uint64_t act_giant_writes(play *p)
{
    for (uint32_t i = 0; i < 3; ++i) {
        const espl_transform value = test_at((float)i, 2, 3);

        ck_assert_int_ge(espl_set_local_transform(p->world, p->entities[i], &value), 0);
    }
    return test_stats(p->world).nodes_visited;
}

// Steps behind what was done in a tick, until the world was presented several times.
static uint64_t take_steps(play *p)
{
    uint64_t hash = TEST_HASH_START;

    for (int i = 0; i < 6; ++i) {
        const uint64_t step = test_ticks_step(&p->ticks, test_random(&p->random));

        hash = test_hash_bytes(hash, &step, sizeof step);
    }
    return hash;
}

static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    espl_world *const world = test_rows_world(rows);

    (void)context;
    for (size_t row = 0; row < rows->count; ++row) {
        const espl_entity entity = rows->entities[row];
        const espl_entity parent = espl_get_parent(world, entity);
        float at[3] = {1, 2, (float)entity.index};

        (void)!espl_get_world_position(world, parent, at);
        (void)!espl_writer_write(writer, entity, ESPL_WRITE_TRANSLATE_WORLD, at, ESPL_SITE);
    }
}

static uint64_t write_by_jobs(play *p, const espl_parallel_def *asked)
{
    espl_parallel_def def = *asked;
    espl_parallel_report report = {0};

    cut_small(p->world);
    def.function = write_rows;
    ck_ok(espl_write_parallel(p->world, &def, &report));
    report.group_ns = report.run_ns = 0;
    return test_hash_bytes(TEST_HASH_START, &report, offsetof(espl_parallel_report, first_status)) ^
           (uint64_t)report.first_status;
}

static uint64_t act_rows(play *p)
{
    return write_by_jobs(p, &(espl_parallel_def){.job_limit = SCHEDULE_FEW});
}

static uint64_t act_rows_top_down(play *p)
{
    return write_by_jobs(p, &(espl_parallel_def){.flags = ESPL_PARALLEL_TOP_DOWN});
}

static const scene scenes[] = {
    {"mixed", 0, 0, 900, 2600, 0, 0, act_script, 0, 0},
    {"cut", 0, 0, 900, 1600, 0, 64, act_script, 0, 0},
    {"many", 0, 0, 900, 8400, 0, 0, act_script, 0, 0},
    {"moves", 150, MOVED_TREE, 0, 0, 0, 128, act_moves, 0, 0},
    {"spawns", 400, 3, 0, 0, 0, 256, act_spawns, 0, 0},
    {"recorded writes", 100, 8, 0, 0, 0, 512, act_recorded_writes, 0, 0},
    {"recorded writes to few", 2, 700, 0, 0, 0, 128, act_recorded_writes, 0, 0},
    {"batch", 300, 8, 0, 0, 0, 512, act_batch, 0, 0},
    {"batch to few", 2, 1200, 0, 0, 0, 256, act_batch, 0, 0},
    {"giant", 1, 1500, 0, 0, 0, 128, act_giant_writes, 0, 0},
    {"ticking script", 0, 0, 900, 1600, 0, 64, act_script, 3, 0},
    {"ticking batch", 300, 8, 0, 0, 0, 256, act_batch, 7, 0},
    {"ticking giant", 1, 1500, 0, 0, 0, 128, act_giant_writes, 1, 0},
    {"ticking moves", 150, MOVED_TREE, 0, 0, 0, 128, act_moves, 5, 0},
    {"rows", 60, 8, 0, 0, 0, 0, act_rows, 0, 0},
    {"rows, parents first", 90, 3, 0, 0, 0, 0, act_rows_top_down, 0, 0},
    {"script in cells", 0, 0, 900, 1600, 0, 64, act_script, 3, 64},
    {"batch in cells", 300, 8, 0, 0, 0, 512, act_batch, 0, 64},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

// --- One schedule ---

// Built in the order of indices, then played as the schedule says.
static uint64_t run(const scene *sc, script *lines, test_schedule *schedule)
{
    const test_schedule wanted = *schedule;
    const espl_executor executor = schedule_executor(schedule);
    play p = {.random = SEED, .lines = lines};

    schedule_begin(schedule);
    test_world_cells(sc->cells);
    test_world_begin(&p.test, TAG, &executor);
    p.world = p.test.world;
    if (sc->cost != 0) {
        test_cut_jobs(p.world, sc->cost);
    }
    if (sc->trees != 0) {
        const uint32_t trees = test_fitting(sc->trees * sc->nodes, 32) / sc->nodes;

        p.count = trees > 0 ? trees * sc->nodes : test_fitting(sc->nodes, 32);
        p.entities = trees > 0 ? make_trees(p.world, trees, sc->nodes, 3)
                               : make_trees(p.world, 1, p.count, 3);
    } else {
        script_world_begin(&p.actors, p.world, script_population(sc->actors), SEED);
    }
    if (lines != NULL && lines->lines == NULL) {
        *lines =
            script_write(&p.actors, SEED, script_lines(sc->lines, sc->actors), sc->kinds, true);
    }
    *schedule = wanted;
    schedule->phases = 0;
    test_ticks_begin(&p.ticks, p.world, sc->ticks);
    (void)!espl_tick_begin(p.world);
    const uint64_t outcome = sc->act(&p);
    const uint64_t steps = take_steps(&p);
    const uint64_t parts[3] = {outcome, test_physical_hash(p.world), steps};
    schedule->chosen = SCHEDULE_NO_PHASE;
    schedule->random = 0;
    free(p.entities);
    test_ticks_end(&p.ticks);
    test_world_end(&p.test);
    return test_hash_bytes(TEST_HASH_START, parts, sizeof parts);
}

// What a scene comes to by itself, and each way to play it.
typedef struct rehearsal {
    const scene *scene;
    script lines;
    test_schedule plain; // its phases
    uint64_t hash;
    size_t schedules;
} rehearsal;

static void rehearse(rehearsal *r, const scene *sc)
{
    *r = (rehearsal){.scene = sc};
    schedule_begin(&r->plain);
    r->hash = run(sc, sc->trees == 0 ? &r->lines : NULL, &r->plain);
}

static void try_schedule(rehearsal *r, test_schedule *schedule)
{
    const size_t phase = schedule->chosen;
    const uint64_t random = schedule->random;
    const uint64_t hash = run(r->scene, r->scene->trees == 0 ? &r->lines : NULL, schedule);

    r->schedules += 1;
    ck_assert_msg(hash == r->hash, "%s: order %u of phase %zu, seed 0x%llx", r->scene->name,
                  schedule->order, phase, (unsigned long long)random);
    ck_assert_msg(
        schedule->phases == r->plain.phases &&
            memcmp(schedule->jobs, r->plain.jobs, r->plain.phases * sizeof *r->plain.jobs) == 0,
        "%s: other jobs", r->scene->name);
}

// --- All orders, and random ones ---

// Few entities make few jobs; and where arrays always move all is slow.
static bool is_whole(void)
{
    return test_limits_of_build().entities > 100000 && !test_moves_always();
}

// Each phase by itself, the others in the order of indices.
static void try_all_orders(rehearsal *r)
{
    const uint32_t stride = test_stride(11);
    test_schedule schedule;

    for (size_t phase = 0; phase < r->plain.phases; ++phase) {
        if (r->plain.jobs[phase] > SCHEDULE_FEW) {
            continue;
        }
        for (uint32_t order = 1; order < schedule_orders(r->plain.jobs[phase]); order += stride) {
            schedule_begin(&schedule);
            schedule.chosen = phase;
            schedule.order = order;
            try_schedule(r, &schedule);
        }
    }
}

TEST(every_order_of_few_jobs_comes_to_the_same_world)
{
    size_t schedules = 0;

    for (size_t i = 0; i < SCENES; ++i) {
        rehearsal r;

        rehearse(&r, &scenes[i]);
        ck_assert_msg(!is_whole() || r.plain.phases > 0, "%s: nothing is shared out",
                      scenes[i].name);
        try_all_orders(&r);
        schedules += r.schedules;
        script_free(&r.lines);
    }
    test_tell_figure(schedules, "schedules, all orders of few jobs");
    ck_assert_msg(!is_whole() || test_stride(11) != 1 || schedules >= PROMISED, "%zu schedules",
                  schedules);
}

// Long calls, short ones and all of them together, each with its own share of workers held up.
TEST(random_priorities_come_to_the_same_world)
{
    const size_t count = test_scaled(RANDOM) * test_factor();
    uint64_t state = test_environment("ESPL_SEED", 17);
    size_t schedules = 0;

    for (size_t i = 0; i < SCENES; ++i) {
        rehearsal r;

        rehearse(&r, &scenes[i]);
        for (size_t k = 0; k < count && r.plain.phases > 0; ++k) {
            test_schedule schedule;

            schedule_begin(&schedule);
            schedule.random = test_random(&state) | 1;
            schedule.drops = k % 4;
            try_schedule(&r, &schedule);
        }
        schedules += r.schedules;
        script_free(&r.lines);
    }
    test_tell_figure(schedules, "schedules by random priorities");
    ck_assert(schedules >= count * SCENES || !is_whole());
}

// --- The schedules themselves ---

enum { LISTED = 5 };

typedef struct sheet {
    uint8_t at[SCHEDULE_FEW];
    size_t count;
} sheet;

static void note(void *argument, size_t index)
{
    sheet *const s = argument;

    s->at[s->count++] = (uint8_t)index;
}

TEST(each_number_is_an_order_of_its_own)
{
    static bool is_met[1 << (3 * LISTED)];
    test_schedule schedule;

    schedule_begin(&schedule);
    const espl_executor executor = schedule_executor(&schedule);
    ck_assert_uint_eq(schedule_orders(LISTED), 120);
    ck_assert_uint_eq(schedule_orders(SCHEDULE_FEW), 720);
    for (uint32_t order = 0; order < 120; ++order) {
        sheet s = {.count = 0};
        uint32_t number = 0, seen = 0;

        schedule.chosen = schedule.phases;
        schedule.order = order;
        executor.parallel_for(executor.context, note, &s, LISTED);
        ck_assert_uint_eq(s.count, LISTED);
        for (size_t i = 0; i < LISTED; ++i) {
            number = number * 8 + s.at[i];
            seen |= 1u << s.at[i];
        }
        ck_assert_uint_eq(seen, (1u << LISTED) - 1);
        ck_assert(!is_met[number]);
        is_met[number] = true;
    }
}
