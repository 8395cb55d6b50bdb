// SPDX-License-Identifier: MIT
// The queue of espl_sync(): which command buffers are played, in which order, which wait, and which
// calls the functions of custom commands may make on the queue. A frame like the last one takes no
// memory.
#include "tests/runner.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 6 };

// Says which object was played: its number is the payload.
typedef struct line {
    test_world test;
    espl_command_buffer *objects[OBJECTS];
    espl_custom_command callback;
    espl_entity solo;
    uint32_t played[256];
    size_t count;
    void (*act)(uint32_t number); // from inside the callback; may be NULL
} line;

static line l;

static void note_played(void *user, const espl_custom_calls *calls)
{
    uint32_t number = 0;

    (void)user;
    memcpy(&number, calls->payloads[0].data, sizeof number);
    ck_assert_uint_lt(l.count, 256);
    l.played[l.count++] = number;
    if (l.act != NULL) {
        l.act(number);
    }
}

static void record_number(uint32_t number)
{
    ck_ok(ESPL_RECORD_CUSTOM(espl_command_buffer_recorder(l.objects[number], 0), 0, l.callback,
                             &number));
}

static void set_up(void)
{
    const espl_custom_command_def def = {.name = "played", .function = note_played};

    memset(&l, 0, sizeof l);
    test_world_begin(&l.test, 0, NULL);
    ck_ok(espl_command_register(l.test.world, &def, &l.callback));
    l.solo = test_solo(l.test.world);
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        ck_ok(espl_command_buffer_create(l.test.world, 1, &l.objects[i]));
        record_number(i);
    }
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        espl_command_buffer_destroy(l.objects[i]);
    }
    test_world_end(&l.test);
}

static void submit(uint32_t number)
{
    ck_ok(espl_command_buffer_submit(l.objects[number]));
}

static void sync_plays(const uint32_t *numbers, size_t count)
{
    espl_report report;

    l.count = 0;
    ck_ok(espl_sync(l.test.world, &report));
    ck_assert_uint_eq(l.count, count);
    ck_assert_uint_eq(report.calls, count);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(l.played[i], numbers[i]);
    }
}

// --- The line ---

FIXTURE(set_up, tear_down);

TEST(the_line_is_played_in_order_of_submission)
{
    submit(3);
    submit(0);
    submit(5);
    ck_status(espl_command_buffer_submit(l.objects[0]), ESPL_ERR_ARGUMENT);
    sync_plays((const uint32_t[]){3, 0, 5}, 3);
    ck_status(espl_command_buffer_submit(l.objects[0]), ESPL_ERR_PLAYED);
    sync_plays(NULL, 0);
    espl_command_buffer_reset(l.objects[0]);
    record_number(0);
    submit(0);
    sync_plays((const uint32_t[]){0}, 1);
}

TEST(what_is_withdrawn_is_not_played)
{
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        submit(i);
    }
    espl_command_buffer_reset(l.objects[5]); // the last
    espl_command_buffer_reset(l.objects[0]); // the first
    espl_command_buffer_destroy(l.objects[3]);
    l.objects[3] = NULL;
    ck_ok(espl_play(l.test.world, l.objects[2], NULL));
    record_number(0);
    submit(0);
    sync_plays((const uint32_t[]){1, 4, 0}, 3);
}

// Against an array of numbers.
TEST_LOOP(the_line_is_a_list_whatever_is_done_to_it, 0, 10)
{
    uint64_t random = (uint64_t)_i + 1;
    uint32_t waiting[OBJECTS];
    size_t count = 0;

    for (int step = 0; step < 400; ++step) {
        const uint32_t number = test_below(&random, OBJECTS), action = test_below(&random, 8);
        size_t at = 0;

        while (at < count && waiting[at] != number) {
            at += 1;
        }
        const bool is_waiting = at < count;
        if (action == 0) {
            sync_plays(waiting, count);
            for (size_t i = 0; i < count; ++i) {
                espl_command_buffer_reset(l.objects[waiting[i]]);
                record_number(waiting[i]);
            }
            count = 0;
        } else if (action < 5) {
            ck_status(espl_command_buffer_submit(l.objects[number]),
                      is_waiting ? ESPL_ERR_ARGUMENT : ESPL_OK);
            if (!is_waiting) {
                waiting[count++] = number;
            }
        } else {
            if (action == 5) {
                espl_command_buffer_destroy(l.objects[number]);
                ck_ok(espl_command_buffer_create(l.test.world, 1, &l.objects[number]));
            } else {
                if (action == 6) {
                    ck_ok(espl_play(l.test.world, l.objects[number], NULL));
                }
                espl_command_buffer_reset(l.objects[number]);
            }
            record_number(number);
            if (is_waiting) {
                memmove(&waiting[at], &waiting[at + 1], (count - at - 1) * sizeof *waiting);
                count -= 1;
            }
        }
    }
}

// --- Callbacks between them ---

static void look_at_the_solo(uint32_t number)
{
    const espl_transform local = test_local_of(l.test.world, l.solo);

    // What those before and this one did is done; nothing of those behind is.
    ck_assert_float_eq(local.position[0], (float)number);
}

TEST(callbacks_of_one_run_before_the_next_is_played)
{
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        const espl_transform at = test_at((float)i, 0, 0);
        ck_ok(espl_record_write(espl_command_buffer_recorder(l.objects[i], 0), 7, l.solo,
                                ESPL_WRITE_LOCAL_TRANSFORM, &at));
        submit(i);
    }
    l.act = look_at_the_solo;
    sync_plays((const uint32_t[]){0, 1, 2, 3, 4, 5}, OBJECTS);
}

// Each asks for the next one, for ever.
static void submit_the_next(uint32_t number)
{
    const uint32_t next = (number + 1) % OBJECTS;

    espl_command_buffer_reset(l.objects[next]);
    record_number(next);
    submit(next);
}

TEST(what_a_callback_submits_waits_for_the_next_sync)
{
    l.act = submit_the_next;
    submit(0);
    for (uint32_t round = 0; round < 20; ++round) {
        sync_plays((const uint32_t[]){round % OBJECTS}, 1);
    }
}

// 0 records into 2, which stands in line; takes 1 out of it; and lets 3 go to its end.
static void meddle(uint32_t number)
{
    if (number == 0) {
        const espl_transform at = test_at(42, 0, 0);

        ck_ok(espl_record_write(espl_command_buffer_recorder(l.objects[2], 0), 0, l.solo,
                                ESPL_WRITE_LOCAL_TRANSFORM, &at));
        espl_command_buffer_destroy(l.objects[1]);
        l.objects[1] = NULL;
        espl_command_buffer_reset(l.objects[3]);
        record_number(3);
        submit(3);
    }
}

TEST(a_callback_may_change_the_line_behind_its_commands)
{
    l.act = meddle;
    for (uint32_t i = 0; i < 5; ++i) {
        submit(i);
    }
    sync_plays((const uint32_t[]){0, 2, 4}, 3);
    ck_assert_float_eq(test_local_of(l.test.world, l.solo).position[0], 42);
    sync_plays((const uint32_t[]){3}, 1);
}

// --- Refusals ---

TEST(what_was_refused_and_those_behind_stay_in_line)
{
    const uint32_t clones = test_fitting(300 * OBJECTS, 5) / OBJECTS;
    espl_status status = ESPL_ERR_NO_MEMORY;
    size_t in_middle = 0;

    for (uint32_t i = 0; i < OBJECTS; ++i) {
        const espl_instance_def def = {.source = l.solo};
        ck_ok(espl_record_instantiate(espl_command_buffer_recorder(l.objects[i], 0), 0, &def,
                                      clones, NULL));
        submit(i);
    }
    for (size_t n = 1; status != ESPL_OK; ++n) {
        const size_t before = l.count;
        espl_report report;

        test_heap_arm(&l.test.heap, n, true);
        status = espl_sync(l.test.world, &report);
        test_heap_arm(&l.test.heap, 0, false);
        ck_assert_msg(status == ESPL_OK || status == ESPL_ERR_NO_MEMORY, "%d %zu", status, l.count);
        ck_assert_uint_eq(report.calls, l.count - before);
        ck_assert_uint_eq(report.created, clones * (l.count - before));
        ck_assert_uint_eq(report.accepted, 2 * (l.count - before));
        in_middle += l.count > before && status != ESPL_OK;
        test_world_is_valid(l.test.world);
    }
    ck_assert_uint_ge(in_middle, 1);
    ck_assert_uint_eq(l.count, OBJECTS);
    for (uint32_t i = 0; i < OBJECTS; ++i) {
        ck_assert_uint_eq(l.played[i], i);
    }
    sync_plays(NULL, 0);
}

TEST(during_iteration_nothing_is_played)
{
    const espl_query_def everything = {0};
    espl_query query;
    espl_report report;

    submit(1);
    ck_ok(espl_query_begin(l.test.world, &everything, &query));
    memset(&report, 0xA5, sizeof report);
    ck_status(espl_sync(l.test.world, &report), ESPL_ERR_BUSY);
    ck_assert_uint_eq(report.accepted + report.calls, 0);
    espl_query_end(&query);
    ck_assert_uint_eq(l.count, 0);
    sync_plays((const uint32_t[]){1}, 1);
}

// --- The sum ---

static uint64_t tick(void *user)
{
    return *(uint64_t *)user += 10;
}

TEST(accounts_are_summed_up)
{
    enum { COUNT = 3 };
    uint64_t now = 0;
    const espl_world_def def = {.hooks = {.user = &now, .clock = tick}};
    espl_command_buffer *commands[COUNT];
    espl_world *world = NULL;
    espl_report sum;

    ck_ok(espl_world_create(&def, &world));
    const espl_entity prefab = test_solo(world), parent = test_solo(world);
    for (uint32_t i = 0; i < COUNT; ++i) {
        ck_ok(espl_command_buffer_create(world, 1, &commands[i]));
        espl_recorder *const recorder = espl_command_buffer_recorder(commands[i], 0);
        for (uint32_t k = 0; k < 10 * (3 - i); ++k) {
            ck_ok(espl_record_spawn(recorder, 0, prefab, parent, NULL, NULL));
        }
        ck_ok(espl_record_attach(recorder, 0, parent, parent, NULL));
        ck_ok(espl_command_buffer_submit(commands[i]));
    }
    ck_ok(espl_sync(world, &sum));
    ck_assert_uint_eq(sum.accepted, 63);
    ck_assert_uint_eq(sum.applied, 60);
    ck_assert_uint_eq(sum.refused, 3);
    ck_assert_uint_eq(sum.refused_by[-ESPL_ERR_CYCLE], 3);
    ck_assert_uint_eq(sum.first_refused[-ESPL_ERR_CYCLE].index, 30);
    ck_assert_uint_eq(sum.created, 60);
    ck_assert_uint_eq(sum.pendings, 60);
    ck_assert_uint_eq(sum.largest_group, 31);
    // Clones of one source at once, three times; and the parent becomes a root.
    ck_assert_uint_eq(sum.row_batches, 4);
    ck_assert_uint_ge(sum.moved_nodes, 60);
    ck_assert_uint_le(sum.moved_nodes, 4 * 61);
    for (int stage = 0; stage < ESPL_STAGE_COUNT; ++stage) {
        ck_assert_uint_eq(sum.stage_ns[stage], 10 * COUNT);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        espl_command_buffer_destroy(commands[i]);
    }
    espl_world_destroy(world);
}

// --- The steady state ---

enum { MOUNTS = 10, FRAMES = 40, KNOWN_FRAMES = 20 };

static void record_spawns(const espl_entity *mount, uint32_t count)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(l.objects[0], 0);

    for (uint32_t i = 0; i < count; ++i) {
        const espl_transform at = test_at((float)i, 0, 1);
        espl_entity clone;

        ck_ok(espl_record_spawn(recorder, i, l.solo, mount[i % MOUNTS], &at, &clone));
        ck_ok(espl_record_destroy(recorder, i + 5, clone, ESPL_EXTENT_OWNED));
    }
}

static void record_moves(const espl_entity *mount, uint32_t count)
{
    espl_recorder *const recorder = espl_command_buffer_recorder(l.objects[0], 0);

    for (uint32_t i = 0; i < count; ++i) {
        const espl_entity one = mount[i % MOUNTS], other = mount[(i + 1) % MOUNTS];

        ck_ok(ESPL_RECORD_CUSTOM(recorder, 3, l.callback, &i));
        ck_ok(espl_record_write(recorder, 3, one, ESPL_WRITE_LOCAL_SCALE, &(const float){2}));
        ck_ok(espl_record_attach(recorder, 4, one, other, NULL));
        ck_ok(espl_record_detach(recorder, 4, one, ESPL_KEEP_LOCAL));
    }
}

// All that a frame takes of the heap in recording and in playback.
static void run_frame(const espl_entity *mount, uint32_t count, bool spawns, size_t taken[2])
{
    espl_command_buffer_reset(l.objects[0]);
    test_heap_arm(&l.test.heap, 0, false);
    record_moves(mount, 200);
    if (spawns) {
        record_spawns(mount, count);
    }
    taken[0] = l.test.heap.calls;
    submit(0);
    l.count = 0;
    ck_ok(espl_sync(l.test.world, NULL));
    ck_assert_uint_eq(l.count, 1);
    taken[1] = l.test.heap.calls - taken[0];
}

TEST_LOOP(a_frame_like_the_last_one_takes_no_memory, 0, 2)
{
    const bool spawns = _i != 0;
    const uint32_t count = test_fitting(FRAMES * 200, 2 * MOUNTS) / FRAMES;
    espl_entity mount[MOUNTS];

    for (int i = 0; i < MOUNTS; ++i) {
        mount[i] = test_solo(l.test.world);
    }
    for (int frame = 0; frame < FRAMES; ++frame) {
        size_t taken[2];

        run_frame(mount, count, spawns, taken);
        if (frame >= KNOWN_FRAMES && !test_moves_always()) {
            ck_assert_uint_eq(taken[0], 0);
            ck_assert_uint_eq(taken[1], 0);
        }
    }
}
