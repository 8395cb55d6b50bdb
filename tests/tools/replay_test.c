// SPDX-License-Identifier: MIT
// Replays of recorded tapes: every answer and every hash is the same for any number of workers.
// Damaged tapes and other bytes are refused, or replayed within bounds.
#include "tests/tools/recorded_frames.h"

#include "tests/runner.h"

#include "tests/inside.h"
#include "tests/script.h"
#include "tests/memory_tape.h"
#include "tests/tape.h"

#include <stdio.h>
#include <string.h>

enum { TAG = 9, FRAME_OPS = 40, HEAD_SIZE = 32 };

// --- A tape in memory ---

static memory_tape s; // what was recorded last
static recorded_frames noted;
static replay_result result;

static espl_tape tape_to(void)
{
    free(s.bytes);
    s = (memory_tape){NULL, 0, 0};
    noted.count = 0;
    return (espl_tape){&s, memory_tape_append};
}

static void free_tape(void)
{
    free(s.bytes);
    s.bytes = NULL;
}

FIXTURE(NULL, free_tape);

static replay_verdict replay_with(const espl_executor *executor)
{
    const replay_def def = {.executor = executor};

    return replay_run(&def, s.bytes, s.size, &result);
}

static void end_frame(espl_world *world)
{
    end_recorded_frame(&noted, world, &s);
}

// Play the tape with several executors. @return the frames.
static uint64_t replay_all(void)
{
    test_executor hostile[2] = {{.manner = TEST_REVERSED, .workers = 2},
                                {.manner = TEST_SHUFFLED, .workers = 7, .random = 5}};

    for (int i = 0; i < 3; ++i) {
        const espl_executor executor =
            i == 0 ? (espl_executor){0} : test_executor_of(&hostile[i - 1]);
        const replay_verdict verdict =
            replay_frames(&noted, &(replay_def){.executor = &executor}, &s, &result);

        ck_assert_msg(verdict == REPLAY_AGREED, "executor %d: %s", i, result.fault.text);
        ck_assert(!result.is_cut);
    }
    return result.frames;
}

// --- What is recorded ---

static void run_operation(test_tape *tape, test_side *side)
{
    const operation op = tape_next(tape);
    const espl_status status = side_run(side, tape, &op);
    side_follow(side, tape, &op, status);
}

static size_t record_operations(uint64_t seed, uint32_t population, size_t count)
{
    test_tape tape;
    test_side side;
    size_t frames = 0;

    tape_begin(&tape, seed, population);
    tape_take_cells(&tape);
    test_world_record(tape_to());
    side_begin(&side, &tape, 1, NULL);
    for (tape.at = 0; tape.at < count && !tape_is_worn(&tape); ++tape.at) {
        run_operation(&tape, &side);
        if (tape.at % FRAME_OPS == 0) {
            end_frame(side.world);
            frames += 1;
        }
    }
    side_end(&side);
    tape_end(&tape);
    return frames;
}

TEST(operations_at_once_come_to_the_same)
{
    for (uint64_t seed = 1; seed <= 24; ++seed) {
        const size_t frames = record_operations(seed, seed % 3 == 0 ? 200 : 12, test_scaled(1500));

        ck_assert_uint_eq(replay_all(), frames);
    }
}

// Callbacks write, set and record follow-ups; what they did is on the tape, not they.
TEST(playbacks_come_to_the_same)
{
    enum { LANES = 5, FRAMES = 4, ENTITIES = 300, LINES = 400 };

    for (uint64_t seed = 1; seed <= 6; ++seed) {
        test_world test;
        script_world w;

        test_world_record(tape_to());
        test_world_begin(&test, TAG, NULL);
        script_world_begin(&w, test.world, script_population(ENTITIES), seed);
        espl_command_buffer *const commands = test_commands(test.world, LANES);
        for (uint64_t frame = 0; frame < FRAMES; ++frame) {
            const uint32_t lines = script_lines((uint32_t)test_scaled(LINES), ENTITIES);
            script lines_of = script_write(&w, seed * 100 + frame, lines, 0, seed % 2 == 0);
            script_recording r;

            script_record(&w, &r, commands, LANES, &lines_of, seed);
            ck_ok(espl_play(test.world, commands, NULL));
            script_disturb(&w, seed + frame);
            end_frame(test.world);
            script_recording_free(&r);
            script_free(&lines_of);
            espl_command_buffer_reset(commands);
        }
        espl_command_buffer_destroy(commands);
        test_world_end(&test);
        ck_assert_uint_eq(replay_all(), FRAMES);
    }
}

// --- Columns and writers ---

typedef struct field {
    test_world test;
    espl_world *world;
    espl_component number, mark;
    espl_entity e[40];
} field;

static field f;

static void field_begin(const espl_executor *executor)
{
    f.world = NULL;
    test_world_record(tape_to());
    test_world_begin(&f.test, TAG, executor);
    f.world = f.test.world;
    f.number = test_component(f.world, "number", 4, 4);
    f.mark = test_component(f.world, "mark", 0, 0);
    const espl_component set[] = {ESPL_TRANSFORM, f.number};

    ck_ok(espl_create(f.world, set, 2, 40, f.e));
    for (int i = 0; i < 30; ++i) {
        ck_ok(espl_attach(f.world, f.e[i + 10], f.e[i % 10], NULL));
    }
}

static void field_end(uint64_t frames)
{
    end_frame(f.world);
    test_world_end(&f.test);
    ck_assert_uint_eq(replay_all(), frames + 1);
}

static void write_column(const espl_query *query, uint32_t first)
{
    uint32_t *const numbers = espl_query_write(query, f.number, sizeof *numbers);

    ck_assert_ptr_nonnull(numbers);
    for (size_t row = 0; row < query->count; ++row) {
        numbers[row] = first + (uint32_t)row;
    }
}

// To its end, ended early, and one within another that shows the same chunks.
TEST(columns_that_are_written_come_to_the_same)
{
    espl_query outer, inner;
    const espl_query_def def = {.all = &f.number, .all_count = 1};

    field_begin(NULL);
    ck_ok(espl_query_begin(f.world, &def, &outer));
    while (espl_query_next(&outer)) {
        write_column(&outer, 100);
    }
    end_frame(f.world);
    ck_ok(espl_query_begin(f.world, &def, &outer));
    ck_assert(espl_query_next(&outer));
    uint32_t *const kept = espl_query_write(&outer, f.number, sizeof *kept);

    ck_ok(espl_query_begin(f.world, &def, &inner));
    while (espl_query_next(&inner)) {
        write_column(&inner, 200);
    }
    kept[0] = 300;
    espl_query_end(&outer);
    field_end(1);
}

static void write_rows(espl_writer *writer, const espl_query *rows, void *context)
{
    uint32_t *const numbers = espl_query_write(rows, f.number, sizeof *numbers);

    (void)context;
    for (size_t row = 0; row < rows->count; ++row) {
        const float offset[3] = {(float)row, 1, 0.5f};
        const float turn[4] = {0.6f, 0, 0, 0.8f};

        numbers[row] += 7;
        (void)!ESPL_WRITER_WRITE(writer, rows->entities[row], ESPL_WRITE_TRANSLATE_WORLD, offset);
        (void)!espl_writer_rotate_about(writer, rows->entities[row], offset, turn, ESPL_SITE);
        (void)!espl_writer_look_at(writer, rows->entities[row], offset, NULL,
                                   (espl_axis)(row % (ESPL_AXIS_BACK + 1)), ESPL_SITE);
        (void)!espl_writer_set_inherit(writer, rows->entities[row],
                                       row % 3 == 0 ? ESPL_ABSOLUTE_Y : 0, ESPL_SITE);
    }
}

TEST(parallel_writes_come_to_the_same)
{
    test_executor hostile = {.manner = TEST_SHUFFLED, .workers = 4, .random = 3};
    const espl_executor executor = test_executor_of(&hostile);

    field_begin(&executor);
    for (int i = 0; i < 10; ++i) {
        ck_ok(espl_reserve(f.world, &(espl_reserve_def){.side_of = f.e[i]}));
    }
    const espl_query_def query = {.all = &f.number, .all_count = 1};
    const espl_parallel_def def = {.query = &query,
                                   .function = write_rows,
                                   .columns = &f.number,
                                   .column_count = 1,
                                   .flags = ESPL_PARALLEL_TOP_DOWN};

    for (int i = 0; i < 3; ++i) {
        ck_assert_int_ge(espl_write_parallel(f.world, &def, NULL), 0);
        end_frame(f.world);
    }
    field_end(3);
}

// Since a version, which is another one in the replay.
TEST(changes_of_what_answers_a_query_come_to_the_same)
{
    size_t count = 0;

    field_begin(NULL);
    const espl_component_value mark = {.component = f.mark};
    const espl_change_def change = {.add = &mark, .add_count = 1};
    const uint64_t since = espl_get_version(f.world);
    const espl_query_def def = {.changed = &f.number, .changed_count = 1, .since = since};
    const uint32_t value = 5;

    ck_ok(espl_set_component(f.world, f.e[3], f.number, &value, sizeof value));
    ck_ok(espl_change_components_query(f.world, &def, &change, &count));
    ck_assert_uint_ne(count, 0);
    field_end(0);
}

// --- What does not agree ---

TEST(another_answer_or_hash_is_told_with_its_place)
{
    field_begin(NULL);
    end_frame(f.world);
    test_world_end(&f.test);
    ck_assert_int_eq(replay_with(NULL), REPLAY_AGREED);
    s.bytes[s.size - 2] ^= 1;
    ck_assert_int_eq(replay_with(NULL), REPLAY_DISAGREED);
    ck_assert_ptr_nonnull(strstr(result.fault.text, "frame 0 has another checksum: "));
    s.bytes[s.size - 2] ^= 1;
    s.bytes[s.size - FRAME_RECORD + FRAME_KIND] = 1;
    ck_assert_int_eq(replay_with(NULL), REPLAY_DISAGREED);
    ck_assert_ptr_nonnull(strstr(result.fault.text, "frame 0 has another logical hash: "));
    s.bytes[s.size - FRAME_RECORD + FRAME_KIND] = 2;
    ck_assert_int_eq(replay_with(NULL), REPLAY_BAD);
    ck_assert_ptr_nonnull(strstr(result.fault.text, "2 for a checksum or a hash, more than 1"));
    s.bytes[s.size - FRAME_RECORD + FRAME_KIND] = 0;
    s.bytes[s.size - 1] = ESPL_PARTLY;
    ck_assert_int_eq(replay_with(NULL), REPLAY_DISAGREED);
    ck_assert_ptr_nonnull(strstr(result.fault.text, "answers ESPL_OK, not ESPL_PARTLY"));
}

TEST(frames_asked_for_are_played_and_no_more)
{
    const replay_def def = {.frames = 2};

    (void)record_operations(5, 12, 5 * FRAME_OPS);
    ck_assert_int_eq(replay_run(&def, s.bytes, s.size, &result), REPLAY_AGREED);
    ck_assert_uint_eq(result.frames, 2);
}

// A record comes before its call: where the call never ended, it is the last thing there is.
static void end_anywhere(size_t step)
{
    for (size_t size = HEAD_SIZE; size < s.size; size += step) {
        unsigned char *const bytes = malloc(size); // so that a byte too far is seen
        const replay_def def = {0};

        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, s.bytes, size);
        ck_assert_msg(replay_run(&def, bytes, size, &result) == REPLAY_AGREED, "at %zu: %s", size,
                      result.fault.text);
        free(bytes);
    }
}

TEST(a_tape_may_end_anywhere)
{
    (void)record_operations(7, 12, 60);
    end_anywhere(s.size / test_scaled_alone(400) + 1);
}

// Commands that are carried out at once, and played.
TEST(a_tape_may_end_within_a_command)
{
    const espl_transform at = test_at(1, 2, 3);
    const espl_component_value value = {ESPL_TRANSFORM, sizeof at, &at};
    const espl_creation_def def = {.values = &value, .value_count = 1};
    espl_entity made;
    test_world test;

    test_world_record(tape_to());
    test_world_begin(&test, TAG, NULL);
    ck_ok(espl_create_at(test.world, &def, 1, &made));
    espl_command_buffer *const commands = test_commands(test.world, 1);
    espl_recorder *const recorder = espl_command_buffer_recorder(commands, 0);
    const espl_instance_def clone = {.source = made};

    ck_ok(espl_record_instantiate(recorder, 0, &clone, 1, NULL));
    ck_ok(espl_record_write(recorder, 0, made, ESPL_WRITE_LOCAL_TRANSFORM, &at));
    ck_ok(espl_play(test.world, commands, NULL));
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    end_anywhere(1);
}

TEST(a_file_of_another_kind_is_refused)
{
    (void)record_operations(7, 12, 10);
    for (size_t at = 0; at < 20; ++at) {
        const bool is_tag = at >= 12 && at < 16;

        s.bytes[at] ^= 0x80;
        ck_assert_msg(is_tag || replay_with(NULL) == REPLAY_BAD, "byte %zu", at);
        ck_assert(is_tag || strlen(result.fault.text) != 0);
        s.bytes[at] ^= 0x80;
    }
    for (size_t size = 0; size < HEAD_SIZE; ++size) {
        const replay_def def = {0};

        ck_assert_int_eq(replay_run(&def, s.bytes, size, &result), REPLAY_BAD);
    }
}

// Record a hierarchy that goes far away and is recentred.
static void record_cells(float cell_size)
{
    test_world_cells(cell_size);
    field_begin(NULL);
    ck_ok(espl_write_one(f.world, f.e[0], ESPL_WRITE_ABSOLUTE_POSITION, (double[3]){1e6, 0, 3}));
    ck_ok(espl_set_world_position(f.world, f.e[1], (float[3]){1e5f, 0, 0}));
    if (cell_size != 0) {
        ck_ok(espl_recenter(f.world, 0, NULL));
        ck_ok(espl_write_one(f.world, f.e[0], ESPL_WRITE_CELL, (int32_t[3]){7, 8, 9}));
    }
    ck_ok(espl_rebase(f.world, cell_size != 0 ? (int32_t[3]){1, 0, 0} : NULL, NULL));
    field_end(0);
}

// What a replay computes depends on the size of the cells, which the head of the tape has.
TEST(a_tape_of_another_size_of_cells_is_told)
{
    enum { CELLS_AT = 23, SIZE = 16, CODE_OF_SIZE = 5 };

    record_cells(SIZE);
    ck_assert_uint_eq(s.bytes[CELLS_AT], CODE_OF_SIZE);
    for (unsigned code = 0; code < 256; ++code) {
        const replay_verdict verdict = code == CODE_OF_SIZE ? REPLAY_AGREED
                                       : code <= 31         ? REPLAY_DISAGREED
                                                            : REPLAY_BAD;

        s.bytes[CELLS_AT] = (unsigned char)code;
        ck_assert_msg(replay_with(NULL) == verdict, "%u: %s", code, result.fault.text);
        if (code == 0) {
            ck_assert_ptr_nonnull(strstr(result.fault.text, "ESPL_ERR_UNSUPPORTED"));
        } else if (code == 32) {
            ck_assert_ptr_nonnull(
                strstr(result.fault.text, "32 for a size of cells, more than 31"));
        }
    }
    record_cells(0);
    ck_assert_uint_eq(s.bytes[CELLS_AT], 0);
    s.bytes[CELLS_AT] = CODE_OF_SIZE;
    ck_assert_int_eq(replay_with(NULL), REPLAY_DISAGREED);
}

// Netcode goes back and plays on like this. All answers and hashes are compared again. Operations that start or
// stop motion, or compact, empty the history, and then nothing is played again.
TEST(frames_that_are_played_again_come_to_the_same)
{
    uint64_t rollbacks = 0;

    for (uint32_t back = 1; back < 4; ++back) {
        for (uint64_t seed = 1; seed < 4 + test_scaled(8); ++seed) {
            const size_t frames = record_operations(seed, 12, 20 * FRAME_OPS);
            const replay_def def = {.rollback = back};

            ck_assert_msg(replay_run(&def, s.bytes, s.size, &result) == REPLAY_AGREED,
                          "seed %u, back %u: %s", (unsigned)seed, back, result.fault.text);
            ck_assert_uint_eq(result.frames, frames);
            rollbacks += result.rollbacks;
        }
    }
    ck_assert_uint_gt(rollbacks, 20);
    printf("# figure: %u times back\n", (unsigned)rollbacks);
}

// --- Bytes that are wrong ---

// A few bytes are other ones, or the end of one tape is put behind the beginning of another.
static void spoil(unsigned char *bytes, size_t size, uint64_t *random)
{
    static const unsigned char edges[] = {0, 1, 0x7f, 0x80, 0xff};
    const uint32_t count = 1 + test_below(random, 6);

    for (uint32_t i = 0; i < count; ++i) {
        unsigned char *const at =
            bytes + HEAD_SIZE + test_below(random, (uint32_t)size - HEAD_SIZE);

        *at = test_one_in(random, 2) ? edges[test_below(random, 5)]
                                     : (unsigned char)test_below(random, 256);
    }
    if (test_one_in(random, 4)) {
        const size_t to = HEAD_SIZE + test_below(random, (uint32_t)size - HEAD_SIZE);
        const size_t from = HEAD_SIZE + test_below(random, (uint32_t)size - HEAD_SIZE);

        memmove(bytes + to, bytes + from, size - (from > to ? from : to));
    }
}

static void replay_spoiled(uint64_t *random, size_t count)
{
    const replay_def def = {.memory = 16u << 20};

    for (size_t i = 0; i < count; ++i) {
        unsigned char *const bytes = malloc(s.size);

        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, s.bytes, s.size);
        spoil(bytes, s.size, random);
        const replay_verdict verdict = replay_run(&def, bytes, s.size, &result);

        ck_assert_int_eq(verdict == REPLAY_AGREED, result.fault.text[0] == '\0');
        free(bytes);
    }
}

TEST(tapes_with_wrong_bytes_are_refused_or_played_within_bounds)
{
    const uint64_t chosen = test_environment("ESPL_SEED", 0);
    uint64_t random = chosen != 0 ? chosen : 11;

    for (uint64_t seed = 1; seed <= 12; ++seed) {
        (void)record_operations(seed, 8, 70);
        replay_spoiled(&random, test_scaled(2000));
    }
}

// A command of sixteen million clones is a few bytes of tape, and no more may come of them.
TEST(a_command_that_makes_millions_is_refused_for_want_of_memory)
{
    enum { COUNT_AT = 1 + 4 + 4 + 8 + 4 + 1 + 4 + 3 * 8 };

    test_world test;
    espl_entity pending = {0};
    const replay_def def = {.memory = 16u << 20};

    test_world_record(tape_to());
    test_world_begin(&test, TAG, NULL);
    const espl_instance_def clone = {.source = test_solo(test.world)};

    espl_command_buffer *const commands = test_commands(test.world, 1);
    ck_ok(
        espl_record_instantiate(espl_command_buffer_recorder(commands, 0), 0, &clone, 1, &pending));
    const size_t record = s.size;

    ck_ok(espl_play(test.world, commands, NULL));
    espl_command_buffer_destroy(commands);
    test_world_end(&test);
    ck_assert_int_eq(replay_run(&def, s.bytes, s.size, &result), REPLAY_AGREED);

    ck_assert_uint_eq(s.bytes[record], ESPL_TAPE_PLAY);
    ck_assert_uint_eq(s.bytes[record + COUNT_AT], 1);
    memset(s.bytes + record + COUNT_AT, 0xff, 3);
    ck_assert_int_eq(replay_run(&def, s.bytes, s.size, &result), REPLAY_BAD);
    ck_assert_ptr_nonnull(strstr(result.fault.text, "cannot be recorded: ESPL_ERR_NO_MEMORY"));
}

// --- The call ---

TEST(frame_without_a_tape_does_nothing)
{
    test_world test;
    espl_query query;

    test_world_begin(&test, TAG, NULL);
    (void)test_solo(test.world);
    ck_ok(espl_tape_frame(test.world));
    ck_ok(espl_query_begin(test.world, NULL, &query));
    ck_status(espl_tape_frame(test.world), ESPL_ERR_BUSY);
    espl_query_end(&query);
    test_world_end(&test);
}

// An executor that calls back while the jobs of a call are under way, and tells the size of the tape
// then.
static void run_and_return(void *context, espl_job function, void *argument, size_t count)
{
    size_t *const size = context;

    for (size_t i = 0; i < count; ++i) {
        function(argument, i);
    }
    if (f.world != NULL && count > 1) {
        *size = s.size;
        ck_status(espl_attach(f.world, f.e[1], f.e[2], NULL), ESPL_ERR_BUSY);
        ck_ok(espl_write_batch(f.world, NULL, 0, NULL));
        ck_assert_uint_eq(s.size, *size);
    }
}

TEST(a_record_comes_before_its_call_and_calls_from_jobs_leave_it_alone)
{
    enum { WRITES = 4000 };
    static espl_write writes[WRITES];
    size_t size = 0;
    const espl_executor executor = {&size, 3, run_and_return};

    field_begin(&executor);
    for (int i = 0; i < WRITES; ++i) {
        writes[i] = (espl_write){.entity = f.e[i % 40], .kind = ESPL_WRITE_TRANSLATE_IN_PARENT};
        writes[i].value.position[0] = 1;
    }
    const size_t before = s.size;

    test_cut_jobs(f.world, 8);
    ck_ok(espl_write_batch(f.world, writes, WRITES, NULL));
    // Each write has a byte of its handle, one of sizes, and four of the 1.
    ck_assert_uint_ge(size, before + 1 + 8 + WRITES * (1 + 1 + 4));
    ck_assert_uint_eq(s.size, size + 1);
    field_end(0);
}

// Handles that no command hands out, or only a later one: they are somebody's guess, and refused.
TEST(commands_that_name_what_nobody_made_come_to_the_same)
{
    espl_entity made;
    espl_report report;

    field_begin(NULL);
    espl_command_buffer *const commands = test_commands(f.world, 2);
    espl_recorder *const first = espl_command_buffer_recorder(commands, 0);
    espl_recorder *const second = espl_command_buffer_recorder(commands, 1);
    const espl_instance_def def = {.source = f.e[0]};

    ck_ok(espl_record_instantiate(first, 1, &def, 1, &made));
    const espl_entity guess = {made.index + 1, made.generation};

    ck_ok(espl_record_destroy(first, 2, guess, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_attach(first, 3, made, guess, NULL));
    ck_ok(espl_record_destroy(second, 4, guess, ESPL_EXTENT_OWNED));
    ck_ok(espl_record_attach(second, 5, made, f.e[1], NULL));
    ck_ok(espl_play(f.world, commands, &report));
    ck_assert_uint_eq(report.refused, 3);
    ck_assert_uint_eq(report.applied, 2);
    end_frame(f.world);
    espl_command_buffer_destroy(commands);
    field_end(1);
}

// A record with nothing in it, and a view that carries out what was put off.
TEST(empty_sets_and_views_come_to_the_same)
{
    espl_entity bare[2];
    espl_view view;

    field_begin(NULL);
    ck_ok(espl_create(f.world, NULL, 0, 2, bare));
    ck_ok(espl_reserve(f.world,
                       &(espl_reserve_def){.components = NULL, .component_count = 0, .rows = 9}));
    ck_ok(espl_attach(f.world, bare[1], f.e[0], NULL));
    ck_ok(espl_destroy(f.world, f.e[10], ESPL_EXTENT_ENTITY));
    end_frame(f.world);

    const size_t before = s.size;
    ck_ok(espl_view_hierarchy(f.world, f.e[0], &view));
    ck_assert_uint_gt(s.size, before);
    end_frame(f.world);

    // It lays out nothing more, and leaves no record.
    const size_t behind = s.size;
    ck_ok(espl_view_hierarchy(f.world, f.e[0], &view));
    ck_assert_uint_eq(s.size, behind);
    field_end(2);
}

static void name_in_callback(void *user, const espl_custom_calls *calls)
{
    const espl_entity *const entity = user;

    ck_ok(espl_set_name(calls->world, *entity, "called"));
}

// What a callback names stands behind its playback, and a clone has its name by the replay itself.
TEST(names_and_calls_on_many_come_to_the_same)
{
    espl_custom_command number = 0;
    size_t refused = 0;

    field_begin(NULL);
    const espl_custom_command_def def = {
        .name = "name", .user = &f.e[1], .function = name_in_callback};

    ck_ok(espl_set_name(f.world, f.e[0], "zero"));
    ck_ok(espl_set_name(f.world, f.e[10], ""));
    ck_status(espl_set_name(f.world, f.e[20], "a/b"), ESPL_ERR_ARGUMENT);
    ck_ok(espl_instantiate(f.world, &(espl_instance_def){.source = f.e[0]}, 2, NULL));
    ck_ok(espl_command_register(f.world, &def, &number));
    espl_command_buffer *const commands = test_commands(f.world, 1);
    ck_ok(espl_record_custom(espl_command_buffer_recorder(commands, 0), 0, number, NULL, 0, 0));
    ck_ok(espl_play(f.world, commands, NULL));
    espl_command_buffer_destroy(commands);
    end_frame(f.world);
    ck_ok(espl_attach_many(f.world, f.e + 2, f.e + 3, 5, NULL, NULL));
    ck_status(espl_attach_many(f.world, f.e + 3, f.e + 2, 5, NULL, &refused), ESPL_ERR_CYCLE);
    end_frame(f.world);
    ck_ok(espl_destroy_many(f.world, f.e + 5, 3, ESPL_EXTENT_ENTITY, NULL));
    ck_status(espl_destroy_many(f.world, f.e + 5, 3, ESPL_EXTENT_OWNED, &refused), ESPL_ERR_DEAD);
    end_frame(f.world);
    ck_ok(espl_world_clear(f.world));
    ck_ok(espl_create(f.world, NULL, 0, 7, f.e));
    ck_ok(espl_set_name(f.world, f.e[6], "behind"));
    field_end(3);
}

// Where memory lacks, the call is on the tape with its refusal, and is left out of the replay.
TEST(what_memory_refused_is_left_out)
{
    field_begin(NULL);
    for (size_t fail = 1; fail < 12; ++fail) {
        test_heap_arm(&f.test.heap, fail, true);
        (void)!espl_instantiate(f.world, &(espl_instance_def){.source = f.e[0]}, 40, NULL);
        (void)!espl_add_component(f.world, f.e[fail], f.mark, NULL, 0);
        (void)!espl_attach(f.world, f.e[fail], f.e[fail + 1], NULL);
        test_heap_arm(&f.test.heap, 0, false);
        end_frame(f.world);
    }
    field_end(11);
}

// A destroy needs no memory. Where it finds none, survivors get ranges of their own later, so that slots
// are others than in the replay.
TEST(what_is_put_off_for_want_of_memory_comes_to_the_same)
{
    const espl_attach_options options = {.link = ESPL_LINK_FREE};

    field_begin(NULL);
    for (int i = 30; i < 39; ++i) {
        ck_ok(espl_attach(f.world, f.e[i], f.e[20], &options));
    }
    ck_ok(espl_detach(f.world, f.e[20], ESPL_KEEP_WORLD));
    end_frame(f.world);
    ck_assert(frame_has_checksum(&s));
    test_free_scratch(f.world);
    test_heap_arm(&f.test.heap, 1, true);
    ck_ok(espl_destroy(f.world, f.e[20], ESPL_EXTENT_ENTITY));
    ck_assert_uint_gt(f.test.heap.failures, 0);
    test_heap_arm(&f.test.heap, 0, false);
    end_frame(f.world);
    ck_assert(!frame_has_checksum(&s));
    ck_assert_uint_eq(frame_number_of(&s), test_logical_hash(f.world));
    ck_ok(espl_attach(f.world, f.e[33], f.e[1], NULL));
    end_frame(f.world);
    field_end(3);
    s.bytes[s.size - 2] ^= 1;
    ck_assert_int_eq(replay_with(NULL), REPLAY_DISAGREED);
    ck_assert_ptr_nonnull(strstr(result.fault.text, "frame 3 has another logical hash: "));
}

// A due layout has memory, and the rest has none: it answers ESPL_PARTLY. The replay does all of it.
TEST(a_compaction_that_lacked_memory_comes_to_the_same)
{
    size_t parts = 0;

    field_begin(NULL);
    for (size_t fail = 1; fail < 6; ++fail) {
        ck_ok(espl_destroy(f.world, f.e[10 + fail], ESPL_EXTENT_SUBTREE));
        for (size_t i = 0; i < 100; ++i) {
            const float at[3] = {(float)i, 0, 0};

            ck_ok(espl_set_local_position(f.world, f.e[fail], at));
        }
        test_heap_arm(&f.test.heap, fail, true);
        parts += espl_compact(f.world) == ESPL_PARTLY;
        test_heap_arm(&f.test.heap, 0, false);
        end_frame(f.world);
    }
    ck_assert_uint_gt(parts, 0);
    field_end(5);
}

TEST(batch_of_more_than_can_be_counted_is_refused_and_left_out)
{
    field_begin(NULL);
    const espl_write write = {.entity = f.e[0], .kind = ESPL_WRITE_TRANSLATE_IN_PARENT};
    const float by[3] = {1, 0, 0};
    const size_t before = s.size;

    ck_status(espl_write_batch(f.world, &write, SIZE_MAX, NULL), ESPL_ERR_LIMIT);
    ck_status(espl_write_strided(f.world, ESPL_WRITE_TRANSLATE_IN_PARENT, f.e, SIZE_MAX,
                                 sizeof(espl_entity), &by, sizeof(float[3]), NULL),
              ESPL_ERR_LIMIT);
    ck_assert_uint_eq(s.size, before);
    field_end(0);
}

// Where a size_t has 32 bits, a count of a larger machine is none of the small ones.
TEST(a_count_past_a_size_is_not_cut_short)
{
    const unsigned char past[8] = {5, 0, 0, 0, 1, 0, 0, 0};
    test_world test;

    test_world_record(tape_to());
    test_world_begin(&test, TAG, NULL);
    ck_status(espl_reserve(test.world, &(espl_reserve_def){.entities = SIZE_MAX}), ESPL_ERR_LIMIT);
    // Behind the count of entities: an empty list, three counts, an entity, the answer.
    memcpy(s.bytes + s.size - 1 - 8 - 3 * 8 - 4 - sizeof past, past, sizeof past);
    test_world_end(&test);
    ck_assert_msg(replay_with(NULL) == REPLAY_AGREED, "%s", result.fault.text);
    ck_assert_uint_eq(result.calls, 1);
}
