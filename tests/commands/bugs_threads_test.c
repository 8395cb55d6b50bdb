// SPDX-License-Identifier: MIT
// Races and uninitialised bytes that other systems of this kind had. Each test would have found its
// fault here. The letters name the entry in tests/BUGS.md. Most useful under ThreadSanitizer and
// under valgrind.
#include "tests/asked.h"
#include "tests/runner.h"
#include "tests/script.h"
#include "tools/aligned.h"

#include <pthread.h>
#include <string.h>

// Windows has no fork().
#ifndef _WIN32
#define HAS_FORK 1
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { CLERKS = 64, ROUNDS = 20, ENTITIES = 60 };

// --- One commands object, many threads ---

typedef struct clerk {
    pthread_t thread;
    espl_recorder *recorder;
    const espl_entity *entities; // [count]
    espl_component component;
    uint32_t count, number;
    size_t refused;
} clerk;

static void *record_payloads(void *argument)
{
    clerk *const c = argument;

    for (uint32_t round = 0; round < ROUNDS; ++round) {
        const espl_entity entity = c->entities[(c->number * 7 + round) % c->count];
        const uint32_t value[4] = {c->number, round, c->number * round, 1};
        const float at[3] = {(float)c->number, (float)round, 0};

        c->refused += espl_record_add_component(c->recorder, round, entity, c->component, value,
                                                sizeof value) < 0;
        c->refused +=
            espl_record_write(c->recorder, round, entity, ESPL_WRITE_LOCAL_POSITION, at) < 0;
        c->refused += espl_record_set_component(c->recorder, round, entity, c->component, value,
                                                sizeof value) < 0;
    }
    return NULL;
}

// @return the physical hash of a world that played what 64 clerks recorded.
static uint64_t play_clerks(bool is_threaded)
{
    const uint32_t count = test_fitting(ENTITIES, 4);
    espl_entity entities[ENTITIES];
    clerk clerks[CLERKS];
    espl_component component = 0;
    test_world test;

    test_world_begin(&test, 3, NULL);
    component = test_component(test.world, "words", 16, 4);
    for (uint32_t i = 0; i < count; ++i) {
        entities[i] = test_solo(test.world);
    }
    espl_command_buffer *const commands = test_commands(test.world, CLERKS);
    for (uint32_t i = 0; i < CLERKS; ++i) {
        clerks[i] = (clerk){.recorder = espl_command_buffer_recorder(commands, i),
                            .entities = entities,
                            .component = component,
                            .count = count,
                            .number = i};
        if (is_threaded) {
            ck_assert_int_eq(pthread_create(&clerks[i].thread, NULL, record_payloads, &clerks[i]),
                             0);
        } else {
            (void)record_payloads(&clerks[i]);
        }
    }
    for (uint32_t i = 0; i < CLERKS; ++i) {
        ck_assert_int_eq(is_threaded ? pthread_join(clerks[i].thread, NULL) : 0, 0);
        ck_assert_uint_eq(clerks[i].refused, 0);
    }
    espl_report report;

    ck_ok(espl_play(test.world, commands, &report));
    ck_assert_uint_eq(report.applied, 3 * CLERKS * ROUNDS);
    const uint64_t hash = test_physical_hash(test.world);

    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    return hash;
}

TEST(g5_sixty_four_threads_record_payloads_into_one_commands_object)
{
    ck_assert_uint_eq(play_clerks(true), play_clerks(false));
}

// --- Each read beside each other one ---

typedef struct scene {
    test_world test;
    script_world script;
    espl_entity entities[ENTITIES];
    uint32_t count;
} scene;

static uint64_t add(uint64_t hash, const void *bytes, size_t size)
{
    return test_hash_bytes(hash, bytes, size);
}

static uint64_t read_placements(const scene *s, espl_entity entity, uint64_t hash)
{
    espl_transform seen = espl_transform_identity();
    float at[3] = {0};

    (void)!espl_get_world_transform(s->test.world, entity, &seen);
    hash = add(hash, &seen, sizeof seen);
    (void)!espl_get_local_transform(s->test.world, entity, &seen);
    hash = add(hash, &seen, sizeof seen);
    (void)!espl_get_relative_transform(s->test.world, s->entities[0], entity, &seen);
    hash = add(hash, &seen, sizeof seen);
    (void)!espl_convert(s->test.world, entity, ESPL_POINT_TO_WORLD, at, at);
    return add(hash, at, sizeof at);
}

static uint64_t read_links(const scene *s, espl_entity entity, uint64_t hash)
{
    const espl_world *const world = s->test.world;
    const espl_entity peer[] = {
        espl_get_parent(world, entity),       espl_get_root(world, entity),
        espl_get_first_child(world, entity),  espl_get_last_child(world, entity),
        espl_get_next_sibling(world, entity), espl_get_previous_sibling(world, entity),
        test_child(world, entity, 1)};
    const size_t counts[] = {test_count_children(world, entity),
                             test_count_descendants(world, entity), espl_get_depth(world, entity),
                             test_rank(world, entity),
                             espl_is_ancestor(world, s->entities[0], entity)};

    return add(add(hash, peer, sizeof peer), counts, sizeof counts);
}

static uint64_t read_components(const scene *s, espl_entity entity, uint64_t hash)
{
    for (size_t i = 0; i < SCRIPT_COMPONENTS; ++i) {
        const bool has = espl_has_component(s->test.world, entity, s->script.number[i]);

        hash = add(hash, &has, sizeof has);
    }
    const bool facts[] = {espl_is_alive(s->test.world, entity),
                          espl_is_enabled(s->test.world, entity),
                          test_is_mirrored(s->test.world, entity)};
    const uint32_t flags = espl_get_inherit(s->test.world, entity);

    return add(add(hash, facts, sizeof facts), &flags, sizeof flags);
}

static uint64_t read_subtree(const scene *s, espl_entity entity, uint64_t hash)
{
    espl_subtree below;

    if (espl_subtree_begin(s->test.world, entity, &below) != ESPL_OK) {
        return hash;
    }
    while (espl_subtree_next(&below)) {
        hash = add(hash, &below.entity, sizeof below.entity);
    }
    return hash;
}

static uint64_t read_query(const scene *s, espl_entity entity, uint64_t hash)
{
    espl_query query;

    (void)entity;
    ck_ok(espl_query_begin(s->test.world, NULL, &query));
    while (espl_query_next(&query)) {
        hash = add(hash, query.entities, query.count * sizeof *query.entities);
    }
    return hash;
}

static uint64_t read_whole(const scene *s, espl_entity entity, uint64_t hash)
{
    espl_world_stats stats;

    (void)entity;
    espl_stats(s->test.world, &stats);
    const uint64_t facts[] = {stats.entities,
                              stats.bytes,
                              stats.nodes_visited,
                              stats.writes,
                              test_physical_hash(s->test.world),
                              test_logical_hash(s->test.world),
                              espl_get_version(s->test.world)};

    return add(hash, facts, sizeof facts);
}

typedef uint64_t (*reading)(const scene *s, espl_entity entity, uint64_t hash);

static const reading readings[] = {read_placements, read_links, read_components,
                                   read_subtree,    read_query, read_whole};
enum { READINGS = sizeof readings / sizeof *readings };

typedef struct reader {
    pthread_t thread;
    const scene *scene;
    reading read;
    uint64_t seen;
} reader;

static void *read_all(void *argument)
{
    reader *const r = argument;

    r->seen = TEST_HASH_START;
    for (uint32_t i = 0; i < r->scene->count; ++i) {
        r->seen = r->read(r->scene, r->scene->entities[i], r->seen);
    }
    return NULL;
}

static void scene_begin(scene *s, const espl_executor *executor)
{
    espl_query query;

    s->count = 0;
    test_world_begin(&s->test, 5, executor);
    script_world_begin(&s->script, s->test.world, script_population(ENTITIES), 11);
    ck_ok(espl_query_begin(s->test.world, NULL, &query));
    while (espl_query_next(&query)) {
        for (size_t row = 0; row < query.count && s->count < ENTITIES; ++row) {
            s->entities[s->count++] = query.entities[row];
        }
    }
    ck_assert_uint_gt(s->count, 4);
}

TEST(g6_each_read_runs_beside_each_other_one)
{
    uint64_t alone[READINGS];
    scene s;

    scene_begin(&s, NULL);
    for (size_t i = 0; i < READINGS; ++i) {
        reader r = {.scene = &s, .read = readings[i]};

        (void)read_all(&r);
        alone[i] = r.seen;
    }
    for (size_t pair = 0; pair < READINGS * READINGS; ++pair) {
        const size_t which[2] = {pair / READINGS, pair % READINGS};
        reader r[2];

        for (size_t i = 0; i < 2; ++i) {
            r[i] = (reader){.scene = &s, .read = readings[which[i]]};
            ck_assert_int_eq(pthread_create(&r[i].thread, NULL, read_all, &r[i]), 0);
        }
        for (size_t i = 0; i < 2; ++i) {
            ck_assert_int_eq(pthread_join(r[i].thread, NULL), 0);
            ck_assert_uint_eq(r[i].seen, alone[which[i]]);
        }
    }
    test_world_end(&s.test);
}

// --- Counters ---

static uint64_t count_frames(const espl_executor *executor)
{
    scene s;

    scene_begin(&s, executor);
    for (uint32_t frame = 0; frame < ROUNDS; ++frame) {
        espl_write writes[ENTITIES];

        for (uint32_t i = 0; i < s.count; ++i) {
            writes[i] =
                (espl_write){.entity = s.entities[i], .kind = ESPL_WRITE_TRANSLATE_IN_PARENT};
            writes[i].value.position[0] = frame % 3 == 0 ? 0 : 1;
        }
        (void)!espl_write_batch(s.test.world, writes, s.count, NULL);
    }
    espl_world_stats stats;

    espl_stats(s.test.world, &stats);
    const uint64_t counts[] = {stats.nodes_visited, stats.nodes_skipped, stats.writes,
                               stats.writes_skipped};
    test_world_end(&s.test);
    return test_hash_bytes(TEST_HASH_START, counts, sizeof counts);
}

TEST(g10_counters_that_many_threads_write_come_to_the_same)
{
    espl_executor executor = {0};
    const uint64_t alone = count_frames(NULL);

    if (test_has_threads()) {
        ck_ok(espl_executor_create(&(espl_threads_def){.workers = 4}, &executor));
    }
    ck_assert_uint_eq(count_frames(&executor), alone);
    espl_executor_destroy(&executor);
}

// --- Bytes that nobody wrote ---

#ifdef HAS_FORK

static void *take_filled(void *user, size_t size, size_t alignment)
{
    void *const block = aligned_take(size, alignment);

    if (block == NULL) {
        return NULL;
    }
    memset(block, *(const int *)user, size);
    return block;
}

typedef struct written {
    uint64_t tape, logical, physical;
    size_t bytes;
} written;

static void hear_tape(void *user, const void *bytes, size_t size)
{
    written *const w = user;

    w->tape = test_hash_bytes(w->tape, bytes, size);
    w->bytes += size;
}

// Frames of commands of every kind in a world whose fresh memory holds some byte everywhere.
static written play_filled(int fill)
{
    written w = {.tape = TEST_HASH_START};
    const espl_world_def def = {
        .allocator = {&fill, take_filled, test_give_block}, .tape = {&w, hear_tape}, .tag = 21};
    script_world s = {0};
    espl_world *world = NULL;

    ck_ok(espl_world_create(&def, &world));
    script_world_begin(&s, world, script_population(300), 4);
    espl_command_buffer *const commands = test_commands(world, 3);
    for (uint64_t frame = 0; frame < 6; ++frame) {
        script lines = script_write(&s, frame + 70, script_lines(120, 300), 0, false);
        script_recording recording;

        script_record(&s, &recording, commands, 3, &lines, frame + 1);
        (void)!espl_play(world, commands, NULL);
        script_recording_free(&recording);
        script_free(&lines);
        espl_command_buffer_reset(commands);
        script_disturb(&s, frame);
        ck_ok(espl_tape_frame(world));
    }
    w.logical = test_logical_hash(world);
    w.physical = test_physical_hash(world);
    espl_command_buffer_destroy(commands);
    espl_world_destroy(world);
    return w;
}

// The same in a process that made no commands before: their tag, which counts them, is on the tape.
static written play_apart(int fill)
{
    written w = {0};
    int ends[2], status = 0;

    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        w = play_filled(fill);
        _exit(write(ends[1], &w, sizeof w) == (ssize_t)sizeof w ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(ends[0], &w, sizeof w), (ssize_t)sizeof w);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return w;
}

TEST(g11_j11_bytes_that_nobody_wrote_show_in_no_hash_and_no_tape)
{
    const written zeros = play_apart(0), others[] = {play_apart(0xa5), play_apart(0xff)};

    ck_assert_uint_gt(zeros.bytes, 1000);
    for (size_t i = 0; i < 2; ++i) {
        ck_assert_uint_eq(others[i].logical, zeros.logical);
        ck_assert_uint_eq(others[i].physical, zeros.physical);
        ck_assert_uint_eq(others[i].bytes, zeros.bytes);
        ck_assert_uint_eq(others[i].tape, zeros.tape);
    }
}

#endif
