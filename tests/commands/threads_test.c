// SPDX-License-Identifier: MIT
// Real threads record at once, each in a lane of its own, also while the world plays other
// commands, and read at once between playbacks. The result is that of one thread with the same
// lanes. Run it under ThreadSanitizer as well.
#include "tests/asked.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/script.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 8, FRAMES = 6, ENTITIES = 1200, LINES = 90 };

// --- A world whose refusals are told to nobody, for reads at once may be refused ---

typedef struct quiet_world {
    test_heap heap;
    espl_executor executor;
    script_world s;
} quiet_world;

static uint32_t line_count(void)
{
    return script_lines((uint32_t)test_scaled(LINES), ENTITIES);
}

static void quiet_begin(quiet_world *q, uint32_t tag, uint32_t workers)
{
    espl_world *world = NULL;

    memset(q, 0, sizeof *q);
    test_heap_init(&q->heap);
    if (workers > 1) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = workers}, &q->executor));
    }
    const espl_world_def def = {
        .allocator = test_heap_allocator(&q->heap), .executor = q->executor, .tag = tag};
    ck_ok(espl_world_create(&def, &world));
    test_cut_jobs(world, 8); // threads share hierarchies too
    script_world_begin(&q->s, world, script_population((uint32_t)test_scaled(ENTITIES)), tag);
}

static void quiet_end(quiet_world *q)
{
    test_world_is_valid(q->s.world);
    espl_world_destroy(q->s.world);
    espl_executor_destroy(&q->executor);
    ck_assert_uint_eq(q->heap.bytes, 0);
    ck_assert_uint_eq(q->heap.faults, 0);
}

static espl_command_buffer *commands_of(espl_world *world)
{
    espl_command_buffer *commands = NULL;

    ck_ok(espl_command_buffer_create(world, THREADS + 1, &commands));
    return commands;
}

// --- What one thread does ---

typedef struct worker {
    pthread_t thread;
    const script_world *s;
    espl_command_buffer *commands;
    uint32_t lane;
    uint64_t seed;
    script lines;
    script_recording recording;
    uint64_t seen;
} worker;

static void *write_lines(void *argument)
{
    worker *const w = argument;

    w->lines = script_write(w->s, w->seed, line_count(), 0, true);
    return NULL;
}

static void *record_lines(void *argument)
{
    worker *const w = argument;

    script_recording_begin(&w->recording, w->commands, &w->lines);
    for (size_t i = 0; i < w->lines.count; ++i) {
        (void)!script_record_line(w->s, &w->recording, &w->lines, i, w->lane);
    }
    return NULL;
}

static void *write_and_record(void *argument)
{
    (void)write_lines(argument);
    return record_lines(argument);
}

static void *read_all(void *argument)
{
    worker *const w = argument;
    const uint64_t answers = script_results(&w->recording);

    w->seen = test_hash_bytes(script_logical_hash(w->s), &answers, sizeof answers);
    return NULL;
}

typedef void *(*duty)(void *);

// All at once, or one after the other.
static void start(worker *workers, duty function, bool is_threaded)
{
    for (size_t i = 0; i < THREADS; ++i) {
        if (is_threaded) {
            ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, function, &workers[i]), 0);
        } else {
            (void)function(&workers[i]);
        }
    }
}

static void join(worker *workers, bool is_threaded)
{
    for (size_t i = 0; is_threaded && i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    }
}

static void each(worker *workers, duty function, bool is_threaded)
{
    start(workers, function, is_threaded);
    join(workers, is_threaded);
}

static void employ(worker *workers, const script_world *s, espl_command_buffer *commands,
                   uint32_t frame)
{
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i] = (worker){
            .s = s, .commands = commands, .lane = i, .seed = frame * (uint64_t)THREADS + i + 500};
    }
}

static void dismiss(worker *workers)
{
    for (uint32_t i = 0; i < THREADS; ++i) {
        script_recording_free(&workers[i].recording);
        script_free(&workers[i].lines);
    }
}

static void play(espl_world *world, espl_command_buffer *commands)
{
    espl_report report;
    const espl_status status = espl_play(world, commands, &report);

    // A small world may have no room for all of the clones.
    ck_assert(status == ESPL_OK ||
              (status == ESPL_ERR_LIMIT && test_limits_of_build().entities < 10 * ENTITIES));
    ck_assert_uint_eq(report.accepted, report.applied + report.refused);
}

// --- Frame by frame ---

static uint64_t run_frame(quiet_world *q, espl_command_buffer *commands, uint32_t frame,
                          bool is_threaded)
{
    worker workers[THREADS];
    uint64_t hash = TEST_HASH_START;

    employ(workers, &q->s, commands, frame);
    each(workers, write_and_record, is_threaded);
    play(q->s.world, commands);
    each(workers, read_all, is_threaded);
    for (size_t i = 0; i < THREADS; ++i) {
        hash = test_hash_bytes(hash, &workers[i].seen, sizeof workers[i].seen);
    }
    dismiss(workers);
    espl_command_buffer_reset(commands);
    script_disturb(&q->s, frame);
    return hash;
}

TEST_IF(eight_threads_record_what_one_would, test_has_threads())
{
    quiet_world threaded, alone;

    quiet_begin(&threaded, 7, THREADS);
    quiet_begin(&alone, 7, 1);
    espl_command_buffer *const some = commands_of(threaded.s.world);
    espl_command_buffer *const others = commands_of(alone.s.world);
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        const uint64_t together = run_frame(&threaded, some, frame, true);

        ck_assert_uint_eq(together, run_frame(&alone, others, frame, false));
        ck_assert_uint_eq(script_hash(&threaded.s), script_hash(&alone.s));
        test_world_is_valid(threaded.s.world);
    }
    espl_command_buffer_destroy(some);
    espl_command_buffer_destroy(others);
    quiet_end(&threaded);
    quiet_end(&alone);
}

// --- While the world plays ---

// Two commands objects in turn: one is played while threads record in the other, and so do the
// callbacks of the playback, in a lane of their own.
static void run_in_turn(quiet_world *q, bool is_threaded, uint64_t *hashes)
{
    espl_command_buffer *const two[2] = {commands_of(q->s.world), commands_of(q->s.world)};
    worker workers[2][THREADS];

    employ(workers[0], &q->s, two[0], 0);
    each(workers[0], write_and_record, is_threaded);
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        worker *const played = workers[frame % 2], *const next = workers[(frame + 1) % 2];

        employ(next, &q->s, two[(frame + 1) % 2], frame + 1);
        each(next, write_lines, is_threaded);
        q->s.follow = espl_command_buffer_recorder(two[(frame + 1) % 2], THREADS);
        start(next, record_lines, is_threaded);
        play(q->s.world, two[frame % 2]);
        join(next, is_threaded);
        each(played, read_all, is_threaded);
        hashes[frame] = script_hash(&q->s);
        for (size_t i = 0; i < THREADS; ++i) {
            hashes[frame] = test_hash_bytes(hashes[frame], &played[i].seen, 8);
        }
        dismiss(played);
        espl_command_buffer_reset(two[frame % 2]);
    }
    // Of the first frame, and of every other one again.
    ck_assert_uint_gt(q->s.calls, FRAMES / 2);
    dismiss(workers[FRAMES % 2]);
    espl_command_buffer_destroy(two[0]);
    espl_command_buffer_destroy(two[1]);
}

TEST_IF(threads_record_while_the_world_plays_other_commands, test_has_threads())
{
    uint64_t threaded_hashes[FRAMES], alone_hashes[FRAMES];
    quiet_world threaded, alone;

    quiet_begin(&threaded, 8, THREADS);
    quiet_begin(&alone, 8, 1);
    run_in_turn(&threaded, true, threaded_hashes);
    run_in_turn(&alone, false, alone_hashes);
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        ck_assert_uint_eq(threaded_hashes[frame], alone_hashes[frame]);
    }
    quiet_end(&threaded);
    quiet_end(&alone);
}

// --- Several worlds ---

enum { WORLDS = 4 };

typedef struct life {
    pthread_t thread;
    uint32_t tag, workers;
    uint64_t hash;
} life;

static void *live(void *argument)
{
    life *const l = argument;
    quiet_world q;

    quiet_begin(&q, l->tag, l->workers);
    espl_command_buffer *const commands = commands_of(q.s.world);
    for (uint32_t frame = 0; frame < FRAMES / 2; ++frame) {
        l->hash = run_frame(&q, commands, frame, false);
    }
    const uint64_t whole = script_hash(&q.s);
    l->hash = test_hash_bytes(l->hash, &whole, sizeof whole);
    espl_command_buffer_destroy(commands);
    quiet_end(&q);
    return NULL;
}

TEST_IF(worlds_that_play_at_once_do_not_know_of_each_other, test_has_threads())
{
    life at_once[WORLDS], alone[WORLDS];

    for (uint32_t i = 0; i < WORLDS; ++i) {
        at_once[i] = alone[i] = (life){.tag = 20 + i, .workers = 1 + i % 2};
        ck_assert_int_eq(pthread_create(&at_once[i].thread, NULL, live, &at_once[i]), 0);
    }
    for (uint32_t i = 0; i < WORLDS; ++i) {
        ck_assert_int_eq(pthread_join(at_once[i].thread, NULL), 0);
        (void)live(&alone[i]);
        ck_assert_uint_eq(at_once[i].hash, alone[i].hash);
    }
}

// --- Many allocations at once ---

typedef struct hoarder {
    pthread_t thread;
    espl_recorder *recorder;
    espl_entity source;
    size_t refused;
} hoarder;

static void *hoard(void *argument)
{
    hoarder *const h = argument;
    const espl_instance_def def = {.source = h->source};

    for (size_t i = 0; i < test_scaled(20000); ++i) {
        const espl_transform at = test_at((float)i, 0, 0);

        h->refused += espl_record_write(h->recorder, 0, h->source, ESPL_WRITE_LOCAL_TRANSFORM,
                                        &at) != ESPL_OK;
        h->refused +=
            i % 64 == 0 && espl_record_instantiate(h->recorder, 0, &def, 1, NULL) != ESPL_OK;
    }
    return NULL;
}

// Lanes grow all the time, and commands that others recorded are played meanwhile.
TEST_IF(lanes_that_grow_at_once_share_one_allocator, test_has_threads())
{
    hoarder hoarders[THREADS];
    quiet_world q;

    quiet_begin(&q, 9, 2);
    const espl_entity source = test_solo(q.s.world);
    espl_command_buffer *const held = commands_of(q.s.world), *const played =
                                                                  commands_of(q.s.world);
    for (uint32_t i = 0; i < THREADS; ++i) {
        hoarders[i] =
            (hoarder){.recorder = espl_command_buffer_recorder(held, i), .source = source};
        ck_assert_int_eq(pthread_create(&hoarders[i].thread, NULL, hoard, &hoarders[i]), 0);
    }
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        (void)run_frame(&q, played, frame, false);
    }
    for (uint32_t i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(hoarders[i].thread, NULL), 0);
        ck_assert_uint_eq(hoarders[i].refused, 0);
    }
    const size_t each_one = test_scaled(20000) + (test_scaled(20000) + 63) / 64;
    ck_assert_uint_eq(espl_command_buffer_count(held), THREADS * each_one);
    if (THREADS * each_one / 64 < test_limits_of_build().entities / 2) {
        espl_report report;

        ck_ok(espl_play(q.s.world, held, &report));
        ck_assert_uint_eq(report.accepted, THREADS * each_one);
    }
    espl_command_buffer_destroy(held);
    espl_command_buffer_destroy(played);
    quiet_end(&q);
}
