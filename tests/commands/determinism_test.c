// SPDX-License-Identifier: MIT
// The same frames of commands, played in many ways. The number of workers, the order and the
// threads of jobs, the lanes of commands, and the place and content of memory differ; the world,
// the answers and the account have the same bits.
#include "tests/asked.h"
#include "tests/fixture.h"
#include "tests/inside.h"
#include "tests/runner.h"
#include "tests/script.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 5, ENTITIES = 2400, LINES = 1500 };

// --- Allocators with manners of their own ---

typedef enum manner {
    PLAIN,
    ALWAYS_ELSEWHERE, // an address comes back only after many others
    SCATTERED,        // at random offsets of blocks taken in random order
    ZEROS,            // memory is full of zeros when taken, and full of ones when given back
    ONES,             // the other way round
    NOISE             // full of random bytes both times
} manner;

enum { PARKED = 1024, CANDIDATES = 4 };

typedef struct moody {
    manner mood;
    uint64_t random;
    void *parked[PARKED]; // given back, but not yet to malloc
    size_t at;
    size_t bytes;
    atomic_flag is_busy;
    size_t meetings; // of two threads
} moody;

typedef struct tail_note {
    void *base;
    size_t size;
} tail_note;

static void fill(moody *m, unsigned char *block, size_t size, bool is_taken)
{
    if (m->mood == NOISE) {
        for (size_t i = 0; i < size; ++i) {
            block[i] = (unsigned char)test_random(&m->random);
        }
    } else if (m->mood == ZEROS || m->mood == ONES) {
        memset(block, (m->mood == ZEROS) == is_taken ? 0 : 0xff, size);
    }
}

static unsigned char *some_block(moody *m, size_t size)
{
    unsigned char *candidate[CANDIDATES] = {NULL};
    const size_t count = m->mood == SCATTERED ? CANDIDATES : 1;
    const size_t chosen = test_below(&m->random, (uint32_t)count);

    for (size_t i = 0; i < count; ++i) {
        candidate[i] = malloc(size);
        ck_assert_ptr_nonnull(candidate[i]);
    }
    for (size_t i = 0; i < count; ++i) {
        if (i != chosen) {
            free(candidate[i]);
        }
    }
    return candidate[chosen];
}

static void *take(void *user, size_t size, size_t alignment)
{
    moody *const m = user;
    const bool was_busy = atomic_flag_test_and_set(&m->is_busy);
    const size_t steps = m->mood == SCATTERED ? test_below(&m->random, 64) : 0;
    const size_t room = size + alignment * (steps + 1) + sizeof(tail_note);
    unsigned char *const base = some_block(m, room);
    const uintptr_t first = (uintptr_t)base + alignment * steps;
    unsigned char *const block =
        base + alignment * steps + (alignment - first % alignment) % alignment;
    const tail_note note = {base, size};

    m->meetings += was_busy;
    memcpy(block + size, &note, sizeof note);
    fill(m, block, size, true);
    m->bytes += size;
    atomic_flag_clear(&m->is_busy);
    return block;
}

static void give(void *user, void *block, size_t size, size_t alignment)
{
    moody *const m = user;
    const bool was_busy = atomic_flag_test_and_set(&m->is_busy);
    tail_note note;

    (void)alignment;
    m->meetings += was_busy;
    memcpy(&note, (unsigned char *)block + size, sizeof note);
    ck_assert_uint_eq(note.size, size);
    fill(m, block, size, false);
    m->bytes -= size;
    if (m->mood == ALWAYS_ELSEWHERE) {
        free(m->parked[m->at % PARKED]);
        m->parked[m->at++ % PARKED] = note.base;
    } else {
        free(note.base);
    }
    atomic_flag_clear(&m->is_busy);
}

static void moody_begin(moody *m, manner mood)
{
    memset(m, 0, sizeof *m);
    atomic_flag_clear(&m->is_busy);
    m->mood = mood;
    m->random = 77 + (uint64_t)mood;
}

static void moody_end(moody *m)
{
    for (size_t i = 0; i < PARKED; ++i) {
        free(m->parked[i]);
    }
    ck_assert_uint_eq(m->bytes, 0);
    ck_assert_uint_eq(m->meetings, 0);
}

// --- Threads that come and go ---

enum { ODD_THREADS = 3 };

typedef struct odd_thread {
    espl_job function;
    void *argument;
    size_t count, first;
} odd_thread;

static void *run_some(void *argument)
{
    const odd_thread *const t = argument;

    for (size_t i = t->first; i < t->count; i += ODD_THREADS) {
        t->function(t->argument, t->count - 1 - i);
    }
    return NULL;
}

// New threads for each range; the calling thread runs none of its jobs.
static void run_elsewhere(void *context, espl_job function, void *argument, size_t count)
{
    odd_thread threads[ODD_THREADS];
    pthread_t started[ODD_THREADS];

    *(size_t *)context += 1;
    for (size_t i = 0; i < ODD_THREADS; ++i) {
        threads[i] = (odd_thread){function, argument, count, i};
        ck_assert_int_eq(pthread_create(&started[i], NULL, run_some, &threads[i]), 0);
    }
    for (size_t i = 0; i < ODD_THREADS; ++i) {
        ck_assert_int_eq(pthread_join(started[i], NULL), 0);
    }
}

// --- A way to play ---

// Few where steps are slow, but frames as large as ever: small ones are not cut into jobs.
static uint32_t frame_count(void)
{
    return test_pace_of_build() == TEST_SWIFT ? FRAMES : 2;
}

typedef struct way {
    espl_executor executor; // {0}: serial
    manner mood;
    uint32_t lanes;   // 0 counts as 1
    uint64_t shuffle; // of lanes and of the order of recording; 0: none
    bool has_equal_keys;
    bool is_trimmed; // before each frame
    uint32_t wide;   // hierarchies are cut between workers from so many ranks on; 0: as ever
} way;

// What one way came to.
typedef struct trail {
    uint64_t world[FRAMES], logical[FRAMES], results[FRAMES], account[FRAMES];
    uint64_t stats[FRAMES];
    size_t created, destroyed, groups, refused, applied, calls;
} trail;

static void add_report(trail *t, const espl_report *report)
{
    t->created += report->created;
    t->destroyed += report->destroyed;
    t->groups += report->groups;
    t->refused += report->refused;
    t->applied += report->applied;
    t->calls += report->calls;
}

static uint64_t hash_stats(const espl_world *world)
{
    espl_world_stats stats;

    espl_stats(world, &stats);
    // Scratch is no part of what was played.
    stats.bytes = stats.bytes_commands = 0;
    const uint64_t counts[] = {stats.archetypes,
                               stats.chunks,
                               stats.nodes_visited,
                               stats.row_capacity,
                               stats.slots,
                               stats.free_slots,
                               test_count_moved_nodes(world),
                               stats.commands_accepted,
                               stats.commands_applied,
                               stats.commands_refused,
                               stats.retired};
    return test_hash_bytes(TEST_HASH_START, counts, sizeof counts);
}

static bool is_small(void)
{
    return test_limits_of_build().entities < 10 * ENTITIES;
}

// Plant a hierarchy that workers share, for it is laid out and nothing in it is odd, and write its root.
// It stays among those that commands name.
static void write_at_once(espl_world *world, uint32_t frame)
{
    enum { COUNT = 64 };
    const float to[3] = {(float)frame, 1, 2};
    espl_entity entity[COUNT];
    espl_view view;

    if (is_small()) {
        return;
    }
    test_solos(world, COUNT, entity);
    for (uint32_t i = 1; i < COUNT; ++i) {
        ck_ok(espl_set_local_position(world, entity[i], (float[3]){1, 0, (float)i}));
        ck_ok(espl_attach(world, entity[i], entity[(i - 1) / 8], &test_keep_local));
    }
    ck_ok(espl_view_hierarchy(world, entity[0], &view));
    ck_ok(espl_set_local_position(world, entity[0], to));
    ck_assert_float_eq(test_world_of(world, entity[COUNT - 1]).position[0], to[0] + 2);
}

static void run_frame(script_world *s, espl_command_buffer *commands, const way *w, uint32_t frame,
                      trail *t)
{
    script lines =
        script_write(s, 1000 + frame, script_lines(LINES, ENTITIES), 0, w->has_equal_keys);
    const uint64_t shuffle = w->shuffle != 0 ? w->shuffle * 64 + frame + 1 : 0;
    script_recording r;
    espl_report report;

    if (w->is_trimmed) {
        ck_ok(espl_compact(s->world));
    }
    script_record(s, &r, commands, w->lanes > 0 ? w->lanes : 1, &lines, shuffle);
    const espl_status status = espl_play(s->world, commands, &report);
    // A small world may have no room for all of the clones.
    ck_assert(status == ESPL_OK || (status == ESPL_ERR_LIMIT && is_small()));
    write_at_once(s->world, frame);
    t->world[frame] = script_hash(s);
    t->logical[frame] = script_logical_hash(s);
    t->results[frame] = script_results(&r);
    t->account[frame] = script_account(&r, &report);
    t->stats[frame] = hash_stats(s->world);
    add_report(t, &report);
    espl_command_buffer_reset(commands);
    script_recording_free(&r);
    script_free(&lines);
    script_disturb(s, 2000 + frame);
}

static trail run(const way *w)
{
    static moody memory;
    trail t = {.created = 0};
    script_world s;
    espl_world *world = NULL;
    espl_command_buffer *commands = NULL;

    moody_begin(&memory, w->mood);
    const espl_world_def def = {
        .allocator = {&memory, take, give}, .executor = w->executor, .tag = 5};
    ck_ok(espl_world_create(&def, &world));
    if (w->wide != 0) {
        test_cut_jobs(world, w->wide);
    }
    script_world_begin(&s, world, script_population(ENTITIES), 9);
    ck_ok(espl_command_buffer_create(world, w->lanes > 0 ? w->lanes : 1, &commands));
    for (uint32_t frame = 0; frame < frame_count(); ++frame) {
        run_frame(&s, commands, w, frame, &t);
    }
    test_world_is_valid(world);
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    moody_end(&memory);
    return t;
}

static void agree(const uint64_t *a, const uint64_t *b, const char *what, const char *name)
{
    for (uint32_t frame = 0; frame < frame_count(); ++frame) {
        ck_assert_msg(a[frame] == b[frame], "%s: the %s of frame %u differs", name, what, frame);
    }
}

static void same_trails(const trail *a, const trail *b, const char *name)
{
    agree(a->results, b->results, "answers", name);
    agree(a->account, b->account, "account", name);
    agree(a->logical, b->logical, "entities", name);
    agree(a->world, b->world, "world", name);
    agree(a->stats, b->stats, "statistics", name);
}

static const way plain = {.lanes = 1};

// --- The ways ---

TEST(frames_are_rich)
{
    const trail t = run(&plain), again = run(&plain);
    const size_t lines = (size_t)frame_count() * script_lines(LINES, ENTITIES);

    same_trails(&t, &again, "twice");
    // Of every outcome there is some, and much where there is room for many lines.
    ck_assert(t.applied > 0 && t.refused > 0 && t.created > 0 && t.destroyed > 0 && t.calls > 0);
    if (lines < 1000) {
        return;
    }
    ck_assert_uint_gt(t.applied, lines / 3);
    ck_assert_uint_gt(t.refused, lines / 50);
    ck_assert_uint_gt(t.created, lines / 10);
    ck_assert_uint_gt(t.destroyed, lines / 20);
    ck_assert_uint_gt(t.groups, lines / 20);
    ck_assert_uint_gt(t.calls, lines / 50);
}

TEST_IF(any_number_of_workers_gives_the_same_bits, test_has_threads())
{
    static const uint32_t workers[] = {1, 2, 3, 7, 16, 64};

    for (int equal = 0; equal < 2; ++equal) {
        way w = {.lanes = 4, .shuffle = 3, .has_equal_keys = equal != 0};
        const trail serial = run(&w);

        for (size_t i = 0; i < sizeof workers / sizeof *workers; ++i) {
            char name[32];

            snprintf(name, sizeof name, "%u workers", (unsigned)workers[i]);
            ck_ok(espl_executor_create(&(espl_threads_def){.workers = workers[i]}, &w.executor));
            const trail t = run(&w);
            espl_executor_destroy(&w.executor);
            same_trails(&serial, &t, name);
        }
    }
}

TEST(any_cut_of_hierarchies_gives_the_same_bits)
{
    static const uint32_t workers[] = {2, 3, 7};
    const trail serial = run(&plain);
    size_t uncut = 0;

    for (uint32_t i = 0; i < 6; ++i) {
        test_executor hostile = {.manner = i % 3 == 1   ? TEST_REVERSED
                                           : i % 3 == 2 ? TEST_SHUFFLED
                                                        : TEST_IN_ORDER,
                                 .workers = workers[i % 3],
                                 .random = i};
        const way w = {.executor = test_executor_of(&hostile), .wide = i < 1 ? 0 : 1 + i % 2 * 7};
        const trail t = run(&w);
        char name[32];

        snprintf(name, sizeof name, "cut from %u on", (unsigned)w.wide);
        same_trails(&serial, &t, name);
        uncut = i == 0 ? hostile.calls : uncut;
        // Where worlds are small there may be nothing to cut.
        ck_assert(i == 0 || hostile.calls > uncut || is_small());
    }
}

TEST(any_order_of_jobs_gives_the_same_bits)
{
    static const test_manner manners[] = {TEST_IN_ORDER, TEST_REVERSED, TEST_SHUFFLED,
                                          TEST_SHUFFLED, TEST_SHUFFLED};
    way w = {.lanes = 3, .shuffle = 8, .has_equal_keys = true, .wide = 64};
    const trail serial = run(&w);

    for (size_t i = 0; i < sizeof manners / sizeof *manners; ++i) {
        test_executor executor = {.manner = manners[i], .workers = 4, .random = i};

        w.executor = test_executor_of(&executor);
        const trail t = run(&w);
        same_trails(&serial, &t, "jobs in another order");
        ck_assert(executor.calls > frame_count() || is_small());
    }
}

TEST(any_threads_give_the_same_bits)
{
    size_t calls = 0;
    way w = {.lanes = 3, .shuffle = 8, .wide = 64};
    const trail serial = run(&w);

    w.executor = (espl_executor){&calls, 3, run_elsewhere};
    const trail t = run(&w);
    same_trails(&serial, &t, "new threads");
    ck_assert(calls > frame_count() || is_small());
}

// Two long playbacks with the thresholds of every world, so many commands that they are cut: entities are
// made below trees, and most of them are destroyed. @return the physical hash.
static uint64_t play_long(const espl_executor *executor)
{
    enum { TREES = 50, NODES = 10, PARENTS = TREES * NODES, EACH = 19, MADE = PARENTS * EACH };
    test_world test;

    test_world_begin(&test, 3, executor);
    espl_world *const world = test.world;
    espl_command_buffer *const commands = test_commands(world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    espl_entity *const parents = make_trees(world, TREES, NODES, 2);
    espl_entity *const made = test_array(MADE, sizeof *made);

    for (uint32_t i = 0; i < MADE; ++i) {
        made[i] = test_solo(world);
    }
    for (uint32_t i = 0; i < MADE; ++i) {
        ck_ok(espl_record_attach(recorder, 0, made[i], parents[i * 7 % PARENTS], NULL));
    }
    ck_ok(espl_play(world, commands, NULL));
    espl_command_buffer_reset(commands);
    for (uint32_t i = 0; i < MADE; ++i) {
        if (i % 10 != 0) {
            ck_ok(espl_record_destroy(recorder, 0, made[i], ESPL_EXTENT_OWNED));
        }
    }
    ck_ok(espl_play(world, commands, NULL));
    const uint64_t hash = test_physical_hash(world);

    test_world_is_valid(world);
    free(made);
    free(parents);
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    return hash;
}

TEST(long_playbacks_are_cut_and_give_the_same_bits)
{
    if (is_small() || test_moves_always()) {
        return;
    }
    const uint64_t serial = play_long(NULL);
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = 5};
    const espl_executor executor = test_executor_of(&hostile);

    ck_assert_uint_eq(play_long(&executor), serial);
    ck_assert_uint_gt(hostile.calls, 2);
}

// Keys come first, so that where all of them differ, lanes and the order of recording tell nothing.
TEST(any_split_over_lanes_gives_the_same_bits)
{
    const trail whole = run(&plain);

    for (uint32_t lanes = 1; lanes <= 8; ++lanes) {
        char name[32];
        const way w = {.lanes = lanes, .shuffle = lanes};

        snprintf(name, sizeof name, "%u lanes", (unsigned)lanes);
        const trail t = run(&w);
        same_trails(&whole, &t, name);
    }
}

TEST(all_lanes_that_there_can_be_give_the_same_bits)
{
    const way w = {.lanes = ESPL_LANE_LIMIT, .shuffle = 99};
    const trail whole = run(&plain), t = run(&w);

    same_trails(&whole, &t, "all lanes");
}

TEST(any_allocator_gives_the_same_bits)
{
    static const char *const names[] = {"plain", "elsewhere", "scattered",
                                        "zeros", "ones",      "noise"};
    test_executor executor = {.manner = TEST_SHUFFLED, .workers = 4, .random = 5};
    const way calm = {.lanes = 2, .shuffle = 4};
    const trail whole = run(&calm);

    for (int i = ALWAYS_ELSEWHERE; i <= NOISE; ++i) {
        way w = calm;

        w.mood = (manner)i;
        const trail serial = run(&w);
        same_trails(&whole, &serial, names[i]);
        w.executor = test_executor_of(&executor);
        const trail parallel = run(&w);
        same_trails(&whole, &parallel, names[i]);
    }
}

// Ranks, slots and rows may differ after a trim; nothing else that can be read does, nor do the answers.
TEST(a_trim_before_each_frame_changes_nothing_but_where_things_stand)
{
    way w = {.lanes = 2, .shuffle = 4};
    test_executor executor = {.manner = TEST_REVERSED, .workers = 4};
    const trail kept = run(&w);

    w.is_trimmed = true;
    const trail trimmed = run(&w);
    agree(kept.results, trimmed.results, "answers", "trimmed");
    agree(kept.logical, trimmed.logical, "entities", "trimmed");
    // Trimmed worlds are the same among themselves.
    w.executor = test_executor_of(&executor);
    w.mood = SCATTERED;
    const trail again = run(&w);
    same_trails(&trimmed, &again, "trimmed again");
}

// --- Layout debts that come due in one playback ---

enum { TREES = 24, TURNS = 400, CHILDREN = 4 };

typedef struct debtor {
    test_world test;
    espl_command_buffer *commands;
    espl_entity root[TREES], inner[TREES][CHILDREN];
} debtor;

static void debtor_begin(debtor *d, const espl_executor *executor)
{
    test_world_begin(&d->test, 5, executor);
    test_cut_jobs(d->test.world, 1);
    for (uint32_t t = 0; t < TREES; ++t) {
        d->root[t] = test_solo(d->test.world);
        for (uint32_t c = 0; c < CHILDREN; ++c) {
            d->inner[t][c] = test_solo(d->test.world);
            ck_ok(espl_attach(d->test.world, d->inner[t][c], d->root[t], NULL));
        }
    }
    ck_ok(espl_command_buffer_create(d->test.world, 1, &d->commands));
}

// Give each inner node a leaf more, or take its first one: then slots are out of order.
static void debtor_scramble(debtor *d, uint64_t *random)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(d->commands, 0);

    for (uint32_t t = 0; t < TREES; ++t) {
        for (uint32_t c = 0; c < CHILDREN; ++c) {
            const espl_transform at = test_at(test_between(random, -1, 1), 1, 2);
            const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
            const espl_creation_def leaf = {
                .parent = d->inner[t][c], .values = &value, .value_count = 1};
            const espl_entity first = espl_get_first_child(d->test.world, d->inner[t][c]);

            ck_ok(espl_entity_is_null(first) || test_one_in(random, 2)
                      ? espl_record_create(recorder, 0, &leaf, 2, NULL)
                      : espl_record_destroy(recorder, 0, first, ESPL_EXTENT_OWNED));
        }
    }
}

// Writes to inner nodes, the trees with high slots first. They add the same debt to all trees.
static void debtor_write(debtor *d, uint64_t *random)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(d->commands, 0);

    for (uint32_t t = TREES; t-- > 0;) {
        for (uint32_t c = 0; c < CHILDREN; ++c) {
            const espl_transform at = test_at(test_between(random, -1, 1), 1, 2);

            ck_ok(espl_record_write(recorder, 0, d->inner[t][c], ESPL_WRITE_LOCAL_TRANSFORM, &at));
        }
    }
}

static void debtor_play(debtor *d, uint32_t turn)
{
    enum { PERIOD = 40 };
    uint64_t random = turn;

    if (turn % PERIOD == 0) {
        debtor_scramble(d, &random);
    } else {
        debtor_write(d, &random);
    }
    ck_ok(espl_play(d->test.world, d->commands, NULL));
    espl_command_buffer_reset(d->commands);
}

static void debtor_end(debtor *d)
{
    espl_command_buffer_destroy(d->commands);
    test_world_end(&d->test);
}

TEST(debts_that_come_due_in_one_playback_are_paid_in_one_order)
{
    static debtor serial, parallel;
    espl_world_stats stats;
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 4, .random = 3};
    const espl_executor executor = test_executor_of(&shuffled);

    if (is_small()) {
        return; // tiny limits have no room for the trees
    }
    debtor_begin(&serial, NULL);
    debtor_begin(&parallel, &executor);
    for (uint32_t turn = 0; turn < TURNS; ++turn) {
        debtor_play(&serial, turn);
        debtor_play(&parallel, turn);
        ck_assert_msg(test_physical_hash(serial.test.world) ==
                          test_physical_hash(parallel.test.world),
                      "turn %u", turn);
    }
    espl_stats(serial.test.world, &stats);
    ck_assert_uint_gt(stats.layouts, TREES);
    debtor_end(&serial);
    debtor_end(&parallel);
}

// Commands are resolved in jobs of 4096 and more. The number of these divides into no number of jobs
// evenly, and each command is the last one of its entity somewhere near the end.
TEST(each_command_of_a_playback_that_is_cut_into_jobs_is_done)
{
    enum { COMMANDS = 3 * 4096 + 2, TARGETS = 37 };
    test_executor shuffled = {.manner = TEST_SHUFFLED, .workers = 3, .random = 8};
    const espl_executor executor = test_executor_of(&shuffled);
    espl_entity entities[TARGETS];
    espl_report report;
    test_world test;

    test_world_begin(&test, 0, &executor);
    for (uint32_t i = 0; i < TARGETS; ++i) {
        entities[i] = test_solo(test.world);
    }
    espl_command_buffer *const commands = test_commands(test.world, 1);
    espl_recorder *const lane = espl_command_buffer_recorder(commands, 0);
    for (uint32_t i = 0; i < COMMANDS; ++i) {
        const float position[3] = {(float)i, 0, 0};

        ck_ok(
            espl_record_write(lane, 0, entities[i % TARGETS], ESPL_WRITE_LOCAL_POSITION, position));
    }
    ck_ok(espl_play(test.world, commands, &report));
    ck_assert_uint_eq(report.applied, COMMANDS);
    for (uint32_t i = COMMANDS - TARGETS; i < COMMANDS; ++i) {
        ck_assert_float_eq(test_world_of(test.world, entities[i % TARGETS]).position[0], (float)i);
    }
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
}
